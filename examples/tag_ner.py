"""Find names in the project's news corpus; measure, explain and save the tagger.

python examples/tag_ner.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from seqpa import SequenceTagger
from seqpa.data import read
from seqpa.evaluate import evaluate

NEWS = Path(__file__).parents[1] / "corpora" / "news"

train, dev, test = (
    read(NEWS / f"{part}.conll", columns=["word", "pos", "label"])
    for part in ("train", "dev", "test")
)
tagger = SequenceTagger(
    features="ner", columns=("word", "pos"), constraints="bio", epochs=15, random_state=1
)
for epoch in tagger.training(train, dev=dev):
    print(f"epoch {epoch.number:2d}: F1 on the dev set {epoch.dev_score:.4f}")

print(evaluate(test.y, tagger.predict(test)))

sentence = [("Norvell", "NNP"), ("left", "VBD"), ("Lyon", "NNP"), (".", ".")]
print(tagger.tag(sentence))
print(tagger.explain(sentence)[2])  # why Lyon got its label

with tempfile.TemporaryDirectory() as folder:
    tagger.save(Path(folder) / "ner.safetensors")
    same = SequenceTagger.load(Path(folder) / "ner.safetensors")
    assert same.predict(test) == tagger.predict(test)
