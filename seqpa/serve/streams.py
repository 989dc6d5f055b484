"""``POST /tag/stream``: JSON lines in and out, of any length, in constant memory.

What has come is answered before more is read, and an answer is sent before the next one is made: a
client that reads slowly is read slowly. A line with a mistake gets a problem as its line, and the
others go on.
"""

from __future__ import annotations

from seqpa.serve.answers import Outcome
from seqpa.serve.bodies import Bodies, Receive, Scope, Send
from seqpa.serve.deadlines import Deadline
from seqpa.serve.lanes import Lanes
from seqpa.serve.problems import Problem, as_json
from seqpa.serve.settings import Limits

MEDIA_TYPE = "application/x-ndjson"
# So many lines are answered at a time.
_BLOCK = 256


class TagStream:
    """An answer that is made while the request is read, as ASGI has it.

    Parameters
    ----------
    lanes : Lanes
    bodies : Bodies
    limits : Limits
    model : str or None
        The model of lines that name none.
    """

    def __init__(self, lanes: Lanes, bodies: Bodies, limits: Limits, model: str | None) -> None:
        self._lanes = lanes
        self._bodies = bodies
        self._limits = limits
        self._model = model
        self.sentences = self.tokens = self.problems = 0
        self.lines = 0

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer all lines.

        Parameters
        ----------
        scope, receive, send
            Of ASGI.
        """
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            async for lines in self._bodies.lines(receive):
                for first in range(0, len(lines), _BLOCK):
                    text = await self._answered(lines[first : first + _BLOCK])
                    if text:
                        await self._sent(text, send)
        except TimeoutError:
            late = Problem(408, f"nothing came for {self._limits.idle_seconds:g} seconds")
            await self._sent(as_json({**late.record(), "line": self.lines + 1}) + b"\n", send)
        await send({"type": "http.response.body", "body": b""})

    async def _sent(self, text: bytes, send: Send) -> None:
        with Deadline(self._limits.idle_seconds):
            await send({"type": "http.response.body", "body": text, "more_body": True})

    async def _answered(self, lines: list[bytes | None]) -> bytes:
        """The answers to some lines; empty lines have none."""
        numbers, bodies = [], []
        found: dict[int, Outcome] = {}
        for line in lines:
            self.lines += 1
            if line is None:
                found[self.lines] = Problem(
                    413, f"the line is longer than {self._limits.body_bytes:,} bytes"
                )
            elif line.strip():
                numbers.append(self.lines)
                bodies.append(line)
        if bodies:
            answers = await self._lanes.answer_all(bodies, self._model)
            found.update(zip(numbers, answers, strict=True))
        return b"".join(self._line(number, found[number]) for number in sorted(found))

    def _line(self, number: int, outcome: Outcome) -> bytes:
        if isinstance(outcome, Problem):
            self.problems += 1
            return as_json({**outcome.record(), "line": number}) + b"\n"
        self.sentences += outcome.sentences
        self.tokens += outcome.tokens
        return outcome.body + b"\n"
