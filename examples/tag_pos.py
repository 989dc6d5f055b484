"""Train a part-of-speech tagger on the project's news corpus, and tag a sentence.

python examples/tag_pos.py
"""

from __future__ import annotations

from pathlib import Path

from seqpa import SequenceTagger
from seqpa.data import read

NEWS = Path(__file__).parents[1] / "corpora" / "news"

# Columns: the word, the part of speech (here the label), the entity (here ignored).
train, dev, test = (
    read(NEWS / f"{part}.conll", columns=["word", "label", "_"])
    for part in ("train", "dev", "test")
)
tagger = SequenceTagger(features="pos", epochs=15, random_state=1)
tagger.fit(train, dev=dev)

print(f"accuracy on {len(test)} new sentences: {tagger.score(test):.4f}")
sentence = ["May", "may", "open", "the", "old", "saw", "mill", "in", "May", "."]
print(" ".join(f"{word}_{tag}" for word, tag in tagger.tag(sentence)))
