"""Text for tests: names of two kinds that often only another sentence tells apart."""

from __future__ import annotations

import random


def text(
    seed: int, n_sentences: int, share: float = 0.2
) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences in which the same names come again, and their labels; other seeds, other names.

    share : how many sentences tell themselves which kind their name is
    """
    draw = random.Random(seed)
    names = [f"N{draw.randrange(10**6)}x" for _ in range(60)]
    X, y = [], []
    for s in range(n_sentences):
        k = (s // 40 + draw.randrange(3)) % len(names)
        name, kind = names[k], "PL"[k % 2]
        clear = draw.random() < share
        X.append([("Mr." if kind == "P" else "in") if clear else "so", name, "was", "there", "."])
        y.append(["O", f"B-{kind}", "O", "O", "O"])
    return X, y
