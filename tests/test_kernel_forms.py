"""Compiled and uncompiled kernels learn the same weights and tag the same labels, bit for bit.

What decides between label sequences adds up in the order in which it is written, so ties, of which
PA-I with its steps of one size makes many, are broken alike.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seqpa import SequenceTagger
from seqpa._kernel import COMPILED

TEMPLATES = ["word[0]", "word[-1]", "suffix(1)[0]", "word[-1]|word[0]"]
SETTINGS: dict[str, dict[str, Any]] = {
    "pa-i": {},
    "last weights": {"average": False},
    "pairs": {"features": [*TEMPLATES, "pair:word[0]"]},
    "pa-ii": {"algorithm": "pa-ii", "C": 0.3},
    "arow": {"algorithm": "arow", "C": 0.7},
    "perceptron": {"algorithm": "perceptron"},
    "rules": {"constraints": {"forbidden": [["A", "B"]]}, "C": 0.1},
    "n-best": {"update": "n-best", "n_best": 3, "cost": "zero-one"},
    "dicts": {"features": None, "C": 0.07},
    "ahead": {"lookahead": 4},
    "ahead by updates": {"lookahead": "auto", "update": "max-loss", "n_jobs": 2},
}


def digests() -> dict[str, str]:
    """For each setting: of all weights, labels and scores."""
    rng = random.Random(0)
    X = [[f"w{rng.randint(0, 20)}" for _ in range(rng.randint(1, 8))] for _ in range(25)]
    y = [[rng.choice("ABCD") for _ in sentence] for sentence in X]
    found = {}
    for name, setting in SETTINGS.items():
        given: Any = X
        if name == "dicts":
            given = [[{"w": w, "size": len(w) / 3} for w in sentence] for sentence in X]
        tagger = SequenceTagger(
            **{"features": TEMPLATES, "epochs": 3, "random_state": 0, **setting}
        )
        tagger.fit(given, [_obeying(labels) for labels in y] if name == "rules" else y)
        told: list[Any] = [tagger.predict(given), tagger.predict_nbest(given[:5], 3)]
        told += [tagger.predict_marginals(given[:5]), tagger.select(given, 5, "entropy")]
        weights = sorted((*key, value.hex()) for key, value in tagger.state_features_.items())
        steps = sorted((*key, value.hex()) for key, value in tagger.transition_features_.items())
        found[name] = hashlib.sha256(repr((told, weights, steps)).encode()).hexdigest()
    return found


def _obeying(labels: list[str]) -> list[str]:
    """No B behind an A."""
    return [
        "C" if label == "B" and before == "A" else label
        for before, label in zip(["", *labels], labels, strict=False)
    ]


@pytest.mark.skipif(not COMPILED, reason="compares the compiled kernel with its source")
def test_compiled_and_uncompiled_kernels_agree_bit_for_bit() -> None:
    here = Path(__file__)
    command = (
        f"import json, sys; sys.path.insert(0, {str(here.parent)!r}); "
        f"import {here.stem} as t; assert not t.COMPILED; print(json.dumps(t.digests()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "SEQPA_PURE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == digests()
