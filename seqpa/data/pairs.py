"""Two labellings of the same words, from two files or from two columns of one."""

from __future__ import annotations

from pathlib import Path

from seqpa.data import Corpus, read
from seqpa.data.conversion import source_of
from seqpa.data.labels import labelled_tokens
from seqpa.data.recognise import look_at
from seqpa.errors import SeqpaError
from seqpa.schemes import convert, pairs_of, recognise


def labelled(
    path: str | Path,
    format: str | None = None,
    label: str | None = None,
    encoding: str | None = None,
) -> Corpus:
    """Read the words and labels of a file: the first and the last column, if it has columns.

    Parameters
    ----------
    path : str or Path
        The file.
    format, label, encoding : str, optional
        What is known of it.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.conll"
    >>> _ = file.write_text("Ada NNP B-PER\\nwon VBD O\\n")
    >>> labelled(file).X, labelled(file).y
    ([['Ada', 'won']], [['B-PER', 'O']])
    """
    source = source_of(path, format, None, label, encoding)
    columns = source.columns
    if columns is not None:
        columns = ["word", *["_"] * (len(columns) - 2), "label"]
        label = None
    return read(path, source.format, columns, label, source.encoding)


def two_columns(
    path: str | Path, encoding: str | None = None
) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Words and labels of a file whose last two columns are the right one and the predicted one.

    Parameters
    ----------
    path : str or Path
        The file, as conlleval takes it.
    encoding : str, optional
        Of the file.

    Returns
    -------
    words, right, predicted : list of lists of str
    """
    seen = look_at(path, encoding)
    if seen.format != "conll" or len(seen.columns) < 3:
        raise SeqpaError(
            f"{path}: {seen.reason}; without a second file, columns are needed: the word first, "
            "the right label and the predicted one last"
        )
    names = ["word", *["_"] * (len(seen.columns) - 3), "right", "label"]
    corpus = read(path, "conll", names, encoding=seen.encoding)
    return corpus.split(corpus.columns[0]), corpus.split(corpus.columns[1]), corpus.y


def in_scheme_of(
    predicted: list[list[str]], gold: list[list[str]]
) -> tuple[list[list[str]], str | None]:
    """Predicted labels in the scheme of the right ones, so that equal spans have equal labels.

    Parameters
    ----------
    predicted, gold : list of lists of str
        The labels of each sentence.

    Returns
    -------
    labels : list of lists of str
    scheme : str or None
        The scheme that the predicted labels were in, if it was another.

    Examples
    --------
    >>> in_scheme_of([["U-x"]], [["B-x"]])
    ([['B-x']], 'bilou')
    """
    ours, theirs = recognise(pairs_of(gold)), recognise(pairs_of(predicted))
    if ours is None or theirs is None or ours.scheme == theirs.scheme:
        return predicted, None
    return [convert(labels, ours.scheme) for labels in predicted], theirs.scheme


def scorable(
    gold: list[list[str]], predicted: list[list[str]]
) -> tuple[list[list[str]], list[list[str]]]:
    """The labels that can be compared: those of tokens whose right label is known.

    Parameters
    ----------
    gold, predicted : list of lists of str
        The labels of each sentence, None where one is not known.

    Returns
    -------
    gold, predicted : list of lists of str
        ``_`` for a token that was not given a label.

    Examples
    --------
    >>> scorable([["A", None, "P"]], [["A", "V", None]])
    ([['A', 'P']], [['A', '_']])
    """
    right, found = labelled_tokens(gold, predicted)
    return right, [[label or "_" for label in labels] for labels in found]


def check_same_words(gold: Corpus, predicted: Corpus, first: str, second: str) -> None:
    """Raise an error that names the first place where two files have different words.

    Parameters
    ----------
    gold, predicted : Corpus
        The two labellings.
    first, second : str
        What messages call their files.

    Examples
    --------
    >>> a, b = (Corpus.from_sentences([["Ada", word]]) for word in ("won", "lost"))
    >>> check_same_words(a, b, "a.conll", "b.conll")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: b.conll: sentence 1, word 2 is 'lost', but in a.conll 'won'
    """
    words = [corpus.split(corpus.columns[0]) for corpus in (gold, predicted)]
    for number, (ours, theirs) in enumerate(zip(*words, strict=False), 1):
        for position, (word, other) in enumerate(zip(ours, theirs, strict=False), 1):
            if word != other:
                raise SeqpaError(
                    f"{second}: sentence {number}, word {position} is {other!r}, but in {first} "
                    f"{word!r}"
                )
        if len(ours) != len(theirs):
            raise SeqpaError(
                f"{second}: sentence {number} has {len(theirs)} words, but in {first} {len(ours)}"
            )
    if len(gold) != len(predicted):
        raise SeqpaError(f"{second}: {len(predicted):,} sentences, but {first} has {len(gold):,}")
