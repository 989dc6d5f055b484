"""Where the work is done: threads beside the event loop, in two lanes.

Short requests are gathered: while one call of the tagger runs, those that come in wait and make the
next call together. Nothing waits for company, so that one request alone is answered at once. Long
or detailed requests have threads of their own, and hold up no short one. The tagger's loops run
with the interpreter's lock released.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from seqpa.serve.answers import (
    Find,
    Outcome,
    Question,
    answer_detailed,
    answer_plain,
    understood,
)
from seqpa.serve.deadlines import Deadline
from seqpa.serve.problems import Fault, Problem
from seqpa.serve.settings import Limits

# Bodies up to this length are gathered; so many of them, or so many bytes, make one call.
SHORT = 4096
_GATHERED = 64
_GATHERED_BYTES = 2**16


@dataclass(slots=True)
class _Waiting:
    body: bytes
    future: asyncio.Future[Outcome | Question]


class Lanes:
    """Answers bodies of requests in threads.

    Parameters
    ----------
    find : function
        From a model's name, or None, to the model.
    language : str
        For text, where a request names none.
    limits : Limits
    threads : int
        For long and detailed requests.
    """

    def __init__(self, find: Find, language: str, limits: Limits, threads: int = 2) -> None:
        self._find = find
        self._language = language
        self._limits = limits
        self._short = ThreadPoolExecutor(1, "seqpa-short")
        self._long = ThreadPoolExecutor(threads, "seqpa-long")
        self._waiting: deque[_Waiting] = deque()
        self._gathering: asyncio.Task[None] | None = None
        self.on_call: Callable[[int], None] = lambda requests: None

    async def answer(self, body: bytes) -> Outcome:
        """Answer one request.

        Parameters
        ----------
        body : bytes

        Returns
        -------
        Answer or Problem
        """
        try:
            with Deadline(self._limits.request_seconds):
                return await self._answer(body)
        except TimeoutError:
            return Problem(
                503,
                f"the answer was not there after {self._limits.request_seconds:g} seconds",
                retry_after=5,
            )

    async def _answer(self, body: bytes) -> Outcome:
        loop = asyncio.get_running_loop()
        if len(body) > SHORT:
            return (await self.answer_all([body]))[0]
        one = _Waiting(body, loop.create_future())
        self._waiting.append(one)
        if self._gathering is None:
            self._gathering = loop.create_task(self._gather())
        found = await one.future
        if isinstance(found, Question):
            return await loop.run_in_executor(self._long, _caught, answer_detailed, found)
        return found

    async def answer_all(self, bodies: Sequence[bytes], model: str | None = None) -> list[Outcome]:
        """Answer several requests of one client, in their order.

        Parameters
        ----------
        bodies : sequence of bytes
        model : str or None
            The model of those that name none.

        Returns
        -------
        list of Answer or Problem
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._long, self._all, bodies, model)

    def close(self) -> None:
        """End the threads when they are done."""
        self._short.shutdown()
        self._long.shutdown()

    async def _gather(self) -> None:
        """Answer what is waiting, call by call, until nothing is."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                taken: list[_Waiting] = []
                size = 0
                while self._waiting and len(taken) < _GATHERED and size < _GATHERED_BYTES:
                    one = self._waiting.popleft()
                    if not one.future.done():  # the client may have gone
                        taken.append(one)
                        size += len(one.body)
                if not taken:
                    continue
                self.on_call(len(taken))
                bodies = [one.body for one in taken]
                found = await loop.run_in_executor(self._short, self._together, bodies)
                for one, outcome in zip(taken, found, strict=True):
                    if not one.future.done():
                        one.future.set_result(outcome)
        finally:
            self._gathering = None

    # In threads

    def _all(self, bodies: Sequence[bytes], model: str | None) -> list[Outcome]:
        return [
            _caught(answer_detailed, found) if isinstance(found, Question) else found
            for found in self._together(bodies, model)
        ]

    def _together(
        self, bodies: Sequence[bytes], model: str | None = None
    ) -> list[Outcome | Question]:
        """Answer what wants labels alone, model by model; other questions come back as they are."""
        found: list[Outcome | Question] = [
            _caught(self._understand, body, model) for body in bodies
        ]
        by_model: dict[int, list[int]] = {}
        for i, one in enumerate(found):
            if isinstance(one, Question) and one.request.is_plain:
                by_model.setdefault(id(one.model), []).append(i)
        for numbers in by_model.values():
            questions = [one for i in numbers if isinstance(one := found[i], Question)]
            try:
                answers = answer_plain(questions)
            except Exception:
                answers = [_caught(_alone, one) for one in questions]
            for i, answer in zip(numbers, answers, strict=True):
                found[i] = answer
        return found

    def _understand(self, body: bytes, model: str | None) -> Question | Problem:
        try:
            return understood(
                body, lambda name: self._find(name or model), self._language, self._limits
            )
        except Problem as problem:
            return problem


def _caught(work: Callable, *arguments: object) -> Any:
    try:
        return work(*arguments)
    except Exception as error:
        return Fault(error)


def _alone(question: Question) -> Outcome:
    return answer_plain([question])[0]
