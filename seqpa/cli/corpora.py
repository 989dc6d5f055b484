"""``seqpa corpora``: which corpora are here, and how to get others."""

from __future__ import annotations

_FORMATS = """\
formats of your own files (data.format, or --format)
  conll    a token a line, its columns between tabs or spaces, a blank line between sentences
  conllu   CoNLL-U of Universal Dependencies
  jsonl    a JSON object a line: {"tokens": ["Rain", "fell"], "labels": ["NN", "VBD"]}
  csv      a header, then a row a token: sentence,word,label (also tabs, semicolons)
  slash    a sentence a line: Rain/NN fell/VBD
  spans    texts with character spans: spaCy, Prodigy, doccano, Label Studio
  parquet  one row a sentence, with lists, or one row a token (needs pyarrow)
  teach    a project of seqpa teach: the sentences that are labelled in it
  text     plain text, to be tagged only
  gzip files of all of these are read as they are"""

_ELSEWHERE = """\
from elsewhere
  Universal Dependencies   universaldependencies.org, as conllu
  CoNLL-2003, OntoNotes    from their publishers, as conll"""


def corpora() -> None:
    """List the corpora that are here, and how to get the rest."""
    print(_embedded())
    print(f"\n{_nltk()}")
    print(f"\n{_ELSEWHERE}")
    print(f"\n{_FORMATS}")


def _embedded() -> str:
    from seqpa.data import read
    from seqpa.data.embedded import find_embedded

    folder = find_embedded()
    if folder is None:
        return (
            "the project's own corpora (news: names and parts of speech) are not here: they come "
            "with the source, in its folder corpora"
        )
    lines = [f"the project's own corpora, in {folder}"]
    for file in sorted((folder / "news").glob("*.conll")):
        corpus = read(file, columns=["word", "pos", "label"])
        lines.append(
            f"  news/{file.name:<13} {len(corpus):5,} sentences  {corpus.n_tokens:6,} tokens  "
            "columns word, pos, label (names)"
        )
    lines.append(
        "  news/entities.yaml, news/pos.yaml: trees of its labels, for cost.kind: hierarchy"
    )
    lines.append("  generate.py: grows larger ones; python corpora/generate.py --help")
    return "\n".join(lines)


def _nltk() -> str:
    from seqpa.data.nltk_corpora import CORPORA, installed

    lines = ["NLTK's corpora (data.format: nltk, data.train: treebank[:3000], brown:news, ...)"]
    for name, there in installed().items():
        state = "installed" if there else f"not here: python -m nltk.downloader {name}"
        lines.append(f"  {name:<10} columns {', '.join(CORPORA[name]):<17} {state}")
    return "\n".join(lines)
