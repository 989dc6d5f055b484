"""``seqpa score``: how good labels are that somebody else predicted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from seqpa.cli.inputs import Encoding, Format

if TYPE_CHECKING:
    from seqpa.evaluate import Evaluation


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
    json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON, scores as fractions.")
    ] = False,
    format: Format = None,
    label: Annotated[
        str | None, typer.Option(help="Which column or key is the label, if not the last.")
    ] = None,
    encoding: Encoding = None,
) -> None:
    """Score labels that are in a file, whoever predicted them.

    Precision, recall and F1 by span, as conlleval counts them, and by label; the most frequent
    confusions. The two files may be in different formats and schemes, but have the same words.
    """
    from seqpa.data.pairs import check_same_words, in_scheme_of, labelled, scorable, two_columns
    from seqpa.evaluate import evaluate

    if predicted is None:
        right, found = two_columns(gold, encoding)
    else:
        first, second = (labelled(path, format, label, encoding) for path in (gold, predicted))
        check_same_words(first, second, gold, predicted)
        right, found = scorable(first.y, second.y)
    if strict is None:
        found, scheme = in_scheme_of(found, right)
        if scheme is not None:
            told = f"the predicted labels are {scheme.upper()}; compared in the scheme of {gold}"
            print(told, file=sys.stderr)
    evaluation = evaluate(right, found, strict=strict)
    if json:
        import json as encoder

        print(encoder.dumps(evaluation.to_dict(), ensure_ascii=False, indent=1))
    else:
        _print(evaluation)


def _print(evaluation: Evaluation) -> None:
    from seqpa.evaluate import conlleval_text

    micro = evaluation.span_micro
    if micro is not None:
        print(
            f"span F1 {100 * micro.f1:.2f} (precision {100 * micro.precision:.2f}, recall "
            f"{100 * micro.recall:.2f}, {micro.gold:,} spans)\n"
        )
    else:
        print(f"accuracy {100 * evaluation.accuracy:.2f} ({evaluation.tokens:,} tokens)\n")
    print(evaluation.table())
    if micro is not None:
        print(f"\nas conlleval prints it\n{conlleval_text(evaluation)}")
    if evaluation.correct_tokens < evaluation.tokens:
        print(f"\nmost frequent mistakes\n{evaluation.confusion_table()}")
