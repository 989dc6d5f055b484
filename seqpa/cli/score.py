"""``seqpa score``: how good labels are that somebody else predicted."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from seqpa.cli.tables import By, Top, check_by, tables, wrong_sentences


def score(
    gold: Annotated[str, typer.Argument(help="The right labels.", metavar="GOLD")],
    predicted: Annotated[
        str | None,
        typer.Argument(
            help="The predicted ones, of the same words. Without: the last two columns of GOLD "
            "are the right label and the predicted one.",
            metavar="PREDICTED",
        ),
    ] = None,
    strict: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME",
            help="Count only spans that are legal in a scheme (iob2, bioes, ...), as seqeval's "
            "strict mode does.",
        ),
    ] = None,
    by: By = None,
    top: Top = 50,
    json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON, scores as fractions.")
    ] = False,
    format: Annotated[
        str | None, typer.Option(help="Format of the files, if looking is not enough.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Which column or key is the label, if not the last.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of the files, if looking is not enough.")
    ] = None,
) -> None:
    """Score labels that are in a file, whoever predicted them.

    The headline first: F1 of spans as conlleval counts them, where labels mark spans, else
    accuracy; then each span or label and the most frequent mistakes. The two files may be in
    different formats and schemes, but have the same words.
    """
    from seqpa.data.labels import labelled_tokens
    from seqpa.data.pairs import check_same_words, in_scheme_of, labelled, scorable, two_columns
    from seqpa.evaluate import evaluate

    asked = check_by(by)
    if predicted is None:
        words, right, found = two_columns(gold, encoding)
    else:
        first, second = (labelled(path, format, label, encoding) for path in (gold, predicted))
        check_same_words(first, second, gold, predicted)
        right, found = scorable(first.y, second.y)
        _, words = labelled_tokens(first.y, first.split(first.columns[0]))
    if strict is None:
        found, scheme = in_scheme_of(found, right)
        if scheme is not None:
            told = f"the predicted labels are {scheme.upper()}; compared in the scheme of {gold}"
            print(told, file=sys.stderr)
    evaluation = evaluate(right, found, strict=strict)
    sentences = wrong_sentences(words, right, found) if "sentence" in asked else []
    if json:
        import json as encoder

        content = evaluation.to_dict()
        if "sentence" in asked:
            content["wrong_sentences"] = sentences
        print(encoder.dumps(content, ensure_ascii=False, indent=1))
    else:
        print(tables(evaluation, asked, top, sentences))
