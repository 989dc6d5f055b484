"""What went wrong with a request, as RFC 9457 writes it: one clear sentence, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from seqpa.errors import did_you_mean

MEDIA_TYPE = "application/problem+json"
# So much of what a user sent is repeated in a message.
_SHOWN = 80


class Problem(Exception):
    """An answer that is an error.

    Parameters
    ----------
    status : int
        Of HTTP.
    detail : str
        One sentence: what is wrong, and what would be right.
    retry_after : int or None
        Seconds after which it is worth another try.
    headers : dict of str to str
        Further headers.

    Examples
    --------
    >>> Problem(413, "the body is too long").record()["title"]
    'Content Too Large'
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        retry_after: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["retry-after"] = str(retry_after)

    def record(self) -> dict[str, Any]:
        """The members of the JSON object.

        Returns
        -------
        dict
        """
        return {
            "type": "about:blank",
            "title": title(self.status),
            "status": self.status,
            "detail": self.detail,
        }

    def body(self) -> bytes:
        """The JSON itself.

        Returns
        -------
        bytes
        """
        return as_json(self.record())


class Fault(Problem):
    """A mistake of the service's own, with where it happened, for the log.

    Parameters
    ----------
    error : Exception
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(500, "the service made a mistake, which is in its log")
        self.error = error


def title(status: int) -> str:
    """What a status is called, by its newest name.

    Parameters
    ----------
    status : int

    Returns
    -------
    str
    """
    newer = {413: "Content Too Large", 422: "Unprocessable Content"}
    return newer.get(status) or HTTPStatus(status).phrase


def as_json(value: Any) -> bytes:
    """Any plain value as JSON, infinite numbers as null.

    Parameters
    ----------
    value : object

    Returns
    -------
    bytes

    Examples
    --------
    >>> as_json({"margin": float("inf"), "word": "Fährt"}).decode()
    '{"margin":null,"word":"Fährt"}'
    """
    try:
        return to_json(value, inf_nan_mode="null")
    except ValueError:  # a half character, which a damaged model's labels may have
        import json

        return json.dumps(value).encode()


def invalid(error: ValidationError, members: Iterable[str] = ()) -> Problem:
    """The first thing that is wrong with a body, in words.

    Parameters
    ----------
    error : ValidationError
    members : iterable of str
        What the body may have, for "did you mean".

    Returns
    -------
    Problem
    """
    first = error.errors(include_url=False, include_context=True)[0]
    kind, place = first["type"], _place(first["loc"])
    context = first.get("ctx", {})
    if kind == "json_invalid":
        return Problem(400, f"the body is no JSON: {shortened(str(context.get('error')))}")
    if kind == "extra_forbidden":
        hint = did_you_mean(place, members) if len(first["loc"]) == 1 else ""
        return Problem(422, f"{shortened(place)}: there is no such member{hint}")
    if kind == "value_error":
        told = str(context.get("error"))
        return Problem(422, f"{place}: {told}" if place else told)
    if kind == "model_type":
        return Problem(422, f"{place or 'the body'}: must be a JSON object")
    told = first["msg"].replace("Input should", "should").replace("Field required", "is missing")
    return Problem(422, f"{shortened(place) or 'the body'}: {told[:1].lower()}{told[1:]}")


def _place(loc: tuple[int | str, ...]) -> str:
    """Where in the body: ``sentences[3][0]``; the names of union members are left out."""
    told = ""
    for step in loc:
        if isinstance(step, int):
            told += f"[{step}]"
        elif step not in ("str", "list[str]") and not step.startswith(("list[", "function-")):
            told += f".{step}" if told else step
    return told


def shortened(text: str) -> str:
    """The beginning of a text that somebody else wrote, for a message.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> len(shortened("a" * 1000))
    81
    """
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
