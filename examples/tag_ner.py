"""Find names in text: train, measure, explain and save a tagger.

With no file, the project's news corpus. Yours may be columns (the first is the word, the last the
label, in any scheme: IOB, BIOES, BILOU, ...), JSON lines, CSV or the export of an annotation tool
(spaCy, Prodigy, doccano, Label Studio): the format is found by looking.

    python examples/tag_ner.py
    python examples/tag_ner.py train.conll dev.conll test.conll --text "Ada Low left Lyon."
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from seqpa import SequenceTagger
from seqpa.data import Corpus
from seqpa.data.pairs import labelled
from seqpa.data.sentences import split_sentences
from seqpa.data.tokenizer import tokenize
from seqpa.errors import SeqpaError
from seqpa.evaluate import evaluate
from seqpa.schemes import convert, spans

NEWS = Path(__file__).parents[1] / "corpora" / "news"
TEXT = "Anna Norvell flew from Lyon to the Norvell works in Ohio."
FORM = argparse.RawDescriptionHelpFormatter
parser = argparse.ArgumentParser(description=__doc__, formatter_class=FORM)
parser.add_argument("train", nargs="?", default=NEWS / "train.conll", help="to learn from")
parser.add_argument("dev", nargs="?", help="others, whose score chooses the best epoch")
parser.add_argument("test", nargs="?", help="others, for the scores at the end")
parser.add_argument("--text", default=TEXT, help="to be tagged")
parser.add_argument("--model", help="write the tagger to this file")


def names_in(file: str | Path) -> Corpus:
    """The sentences of a file; whatever scheme its labels are in, IOB2 from here on."""
    corpus = labelled(file)
    try:
        corpus.labels = [label for labels in corpus.y for label in convert(labels, "iob2")]
    except SeqpaError as error:
        raise SeqpaError(f"{file}: {error}") from None
    return corpus


def main(arguments: argparse.Namespace) -> None:
    """Read, train, score, tag, explain, save."""
    files = [arguments.train, arguments.dev, arguments.test]
    if arguments.train == NEWS / "train.conll":
        files[1:] = NEWS / "dev.conll", NEWS / "test.conll"
    train, dev, test = (None if file is None else names_in(file) for file in files)
    tagger = SequenceTagger(features="ner", constraints="bio", epochs=15, random_state=1)
    for epoch in tagger.training(train, dev=dev):
        if epoch.dev_score is not None:
            print(f"epoch {epoch.number:2d}: F1 on the dev set {epoch.dev_score:.4f}")
    if test is not None:
        print(evaluate(test.y, tagger.predict(test)))

    for text in split_sentences(arguments.text):
        tokens = tokenize(text)
        labels = tagger.predict_one(tokens)
        reasons = tagger.explain(tokens)
        for kind, start, end in spans(labels):
            print(f"{' '.join(tokens[start:end])}: {kind}")
            print(reasons[start])  # why its first word got its label

    with tempfile.TemporaryDirectory() as folder:  # what is saved tags as what was trained
        path = Path(arguments.model or Path(folder) / "ner.safetensors")
        tagger.save(path)
        same = SequenceTagger.load(path)
        assert same.predict_one(tokens) == tagger.predict_one(tokens)
    if arguments.model is not None:
        print(f"written to {arguments.model}; now: seqpa tag {arguments.model} TEXT")


if __name__ == "__main__":
    try:
        main(parser.parse_args())
    except SeqpaError as error:  # a mistake in a file: one line that says where
        sys.exit(f"{parser.prog}: {error}")
