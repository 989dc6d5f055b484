"""Placeholder."""
from __future__ import annotations
from typing import Any
class Team:
    def __init__(self, users, share=0.1, seed=0) -> None:
        self._lent: dict[int, tuple[str, float]] = {}
    def lend(self, sentence, user, now): self._lent[sentence] = (user, now + 300)
    def holder(self, sentence, now):
        user, end = self._lent.get(sentence, (None, 0.0))
        return user if now < end else None
    def release(self, sentence, user):
        if self._lent.get(sentence, (None, 0))[0] == user: self._lent.pop(sentence, None)
    def wants_second(self, sentence): return False
    def agreement(self, state, sentences, kind): return {"agreement": None, "pairs": []}
    def differences(self, state, kind=None): return []
