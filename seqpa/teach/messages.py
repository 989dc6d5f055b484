"""What the page's requests hold; what else is in them is refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Number = Annotated[int, Field(ge=0, le=2**31)]
Request = Annotated[str, Field(min_length=1, max_length=100)]
Seconds = Annotated[float, Field(ge=0.0, le=1e7, allow_inf_nan=False)]
Confirmed = Annotated[list[Any], Field(max_length=10_000)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Asking(_Message):
    """A request that says no more than its name: next, undo, train."""

    request: Request


class Proposing(_Message):
    """Which tokens are confirmed; whether all others are to be, or those alone that are marked."""

    sentence: Number
    confirmed: Confirmed
    whole: bool = True


class Accepting(_Message):
    """The labels of a sentence, and what it took to give them."""

    request: Request
    sentence: Number
    annotation: dict[str, JsonValue]
    seconds: Seconds | None = None
    keys: Number | None = None
    proposed: dict[str, JsonValue] | None = None
    clock: Number | None = None


class Leaving(_Message):
    """The tokens that are confirmed of a sentence that is left; or, where it is done, of one whose
    other tokens are left to the model."""

    request: Request
    sentence: Number
    confirmed: Confirmed
    seconds: Seconds | None = None
    keys: Number | None = None
    done: bool = False
    clock: Number | None = None


class Naming(_Message):
    """A request about one sentence."""

    request: Request
    sentence: Number


class Flagging(Naming):
    """A note, or None to take it off."""

    note: str | None = None


class Settling(Naming):
    """The labels that readers who differed have agreed on."""

    annotation: dict[str, JsonValue]


class Releasing(_Message):
    """The sentence that is given back."""

    sentence: Number
    loan: Number | None = None
    request: Request | None = None


class Relabelling(_Message):
    """A change of the labels."""

    request: Request
    action: str
    name: str | None = None
    key: str | None = None
    colour: str | None = None
    old: str | None = None
    new: str | None = None
    into: str | None = None


class Guiding(_Message):
    """The guidelines."""

    request: Request
    text: str


class Choosing(_Message):
    """How the next sentence is chosen."""

    strategy: str
    request: Request | None = None


class Confirming(_Message):
    """Whether sentences are confirmed whole."""

    confirm: str
    request: Request | None = None


class Change(_Message):
    """One label in another's place, or none."""

    old: Annotated[str, Field(alias="from")]
    new: Annotated[str | None, Field(alias="to")]


class Repairing(_Message):
    """Many labelled sentences that are changed at once."""

    request: Request
    sentences: Annotated[list[Number], Field(min_length=1, max_length=100_000)]
    change: Change | Literal["model"]


class Looking(BaseModel):
    """Which sentences are looked for: the query of an address, so that numbers come as text."""

    model_config = ConfigDict(extra="forbid")

    search: Annotated[str, Field(max_length=1_000)] = ""
    filter: str = "all"
    label: str = ""
    user: str = ""
    offset: Number = 0
    limit: Annotated[int, Field(ge=1, le=200)] = 50
