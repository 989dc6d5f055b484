"""The loops that must be fast: Python with C types, compiled by Cython when seqpa is built.

The same sources run uncompiled: where no C compiler was there at the install, under a debugger, or
with SEQPA_PURE=1 in the environment (so the tests run both ways and one form proves the other).

steps    how far to move: one line for each algorithm
weights  vectors as examples and as weights, and the constraint of an example
vectors  whole passes over vectors: binary, regression, uniclass, multiclass, cost-sensitive
single   one example at a time: a dict, a row
prototypes, multiplicative, hinge, ellipsoid
         passes with other steps and geometries over the same vectors
descent  passes of one vector whose intercept is in no norm, with penalties
quadratic, budget, blocks
         kernels and mini-batches: passes over blocks of examples with known inner products
sequences
         encoded sentences, and the buffers for decoding them
store    the weights of their features
compose  sums of features' weights
chain    first-order chains: Viterbi
nbest    the n best label sequences of a chain
marginals
         probabilities of labels, spans and sequences of a chain: forward-backward
max_loss the label sequence of the highest score + √cost
competitor
         which wrong sequence a sentence's constraint names
ahead    blocks of sentences decoded by several threads
trainer  the epoch loop of chains
strings  words to numbers
given_features
         tokens that already are features, lists or dicts, to numbers
template_features
         templates over tokens: attribute values to feature ids
tag_counts
         which labels words have in a text, and which words are alike in it
documents
         where else in a document a word stands, and what it was labelled there
column_text
         columns of text as bytes: cells, words, labels
runner   all of these in turn, to tag runs of sentences
word_classes
         words by the words beside them: exchange, and a tree over the classes
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_HERE = Path(__file__).parent
# What the compiled modules share: Cython's own code for memoryviews.
_SHARED = "_cython"
# In the order of their imports: a later one may use an earlier one.
_MODULES = (
    "weights",
    "steps",
    "vectors",
    "single",
    "prototypes",
    "multiplicative",
    "hinge",
    "descent",
    "ellipsoid",
    "quadratic",
    "budget",
    "blocks",
    "sequences",
    "store",
    "compose",
    "chain",
    "nbest",
    "marginals",
    "max_loss",
    "competitor",
    "ahead",
    "trainer",
    "strings",
    "given_features",
    "template_features",
    "tag_counts",
    "documents",
    "column_text",
    "runner",
    "word_classes",
)


def _load_sources() -> None:
    """Import the .py sources although compiled modules of the same names stand beside them."""
    for name in _MODULES:
        full = f"{__name__}.{name}"
        spec = spec_from_file_location(full, _HERE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
        globals()[name] = module


def _is_compiled(name: str) -> bool:
    return any((_HERE / f"{name}{suffix}").exists() for suffix in EXTENSION_SUFFIXES)


if os.environ.get("SEQPA_PURE") == "1":
    _load_sources()
    COMPILED = False
else:
    # Modules are imported where they are needed: all of them would take time and memory.
    _compiled = [_is_compiled(name) for name in (_SHARED, *_MODULES)]
    COMPILED = all(_compiled)
    if not COMPILED:
        if any(_compiled):  # the compiled ones need those that are missing
            _load_sources()
        warnings.warn(
            "seqpa's kernel runs uncompiled, a hundred times slower or more. Install a C compiler "
            "(Debian: apt install gcc python3-dev; macOS: xcode-select --install; Windows: the "
            "Visual Studio Build Tools), then: pip install --force-reinstall --no-deps "
            "--no-cache-dir seqpa (or the project's folder in place of the name)",
            RuntimeWarning,
            stacklevel=2,
        )
