"""A wheel in one minute: the kernel is compiled; train, save, load, tag. Run outside the tree."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from seqpa import PAClassifier, SequenceTagger, __version__, _kernel

assert _kernel.COMPILED, "the kernel is not compiled"

X = [["the", "dog", "saw", "rain"], ["a", "saw", "cut", "the", "rain"]]
y = [["D", "N", "V", "N"], ["D", "N", "V", "D", "N"]]
tagger = SequenceTagger(features=["word[0]", "word[-1]"], random_state=1).fit(X, y)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.safetensors"
    tagger.save(path)
    loaded = SequenceTagger.load(path)
    assert loaded.predict([["the", "saw"]]) == [["D", "N"]]
    del loaded  # lets go of the file, which Windows wants before it is deleted

points = np.array([[2.0, 0.5], [-1.0, 0.25], [1.5, -0.5], [-2.0, 1.0]])
assert PAClassifier(random_state=1).fit(points, [1, 0, 1, 0]).score(points, [1, 0, 1, 0]) == 1.0
print(f"seqpa {__version__}: fine")
