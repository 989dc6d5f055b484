"""Train a part-of-speech tagger, and tag a sentence.

With no file, the project's news corpus. Yours may be columns (the first is the word, the last the
tag), CoNLL-U, JSON lines, CSV or word/TAG lines: the format is found by looking.

    python examples/tag_pos.py
    python examples/tag_pos.py train.conllu dev.conllu test.conllu --text "They may."
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from seqpa import SequenceTagger
from seqpa.data import read
from seqpa.data.pairs import labelled
from seqpa.data.sentences import split_sentences
from seqpa.data.tokenizer import tokenize
from seqpa.errors import SeqpaError

NEWS = Path(__file__).parents[1] / "corpora" / "news"
FORM = argparse.RawDescriptionHelpFormatter
parser = argparse.ArgumentParser(description=__doc__, formatter_class=FORM)
parser.add_argument("train", nargs="?", help="labelled sentences to learn from")
parser.add_argument("dev", nargs="?", help="others, whose score chooses the best epoch")
parser.add_argument("test", nargs="?", help="others, for the score at the end")
parser.add_argument("--text", default="May may open the old saw mill in May.", help="to be tagged")
parser.add_argument("--model", help="write the tagger to this file")


def main(arguments: argparse.Namespace) -> None:
    """Read, train, score, tag."""
    if arguments.train is None:
        # Columns: the word, the part of speech (here the label), the entity (here ignored).
        columns = ["word", "label", "_"]
        train, dev, test = (
            read(NEWS / f"{part}.conll", columns=columns) for part in ("train", "dev", "test")
        )
    else:
        files = (arguments.train, arguments.dev, arguments.test)
        train, dev, test = (None if file is None else labelled(file) for file in files)
    tagger = SequenceTagger(features="pos", epochs=15, random_state=1)
    tagger.fit(train, dev=dev)
    if test is not None:
        print(f"accuracy on {len(test):,} new sentences: {tagger.score(test):.4f}")
    for sentence in split_sentences(arguments.text):
        print(" ".join(f"{word}_{tag}" for word, tag in tagger.tag(tokenize(sentence))))
    if arguments.model is not None:
        tagger.save(arguments.model)
        print(f"written to {arguments.model}; now: seqpa tag {arguments.model} TEXT")


if __name__ == "__main__":
    try:
        main(parser.parse_args())
    except SeqpaError as error:  # a mistake in a file: one line that says where
        sys.exit(f"{parser.prog}: {error}")
