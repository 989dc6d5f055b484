"""How ``evaluate`` and ``score`` print an evaluation: the headline first, the rest as asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.errors import SeqpaError, did_you_mean

if TYPE_CHECKING:
    from seqpa.evaluate import Evaluation, Score

BY = ("label", "span", "confusion", "sentence")
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="|".join(BY),
        help="Print all scores by label, by span (also as conlleval does), the confusions of "
        "labels, or the sentences with mistakes; may be repeated.",
    ),
]
Top = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="So many confusions and sentences at most, the most frequent or worst first; 0: all.",
    ),
]
# A table of more rows shows only the worst of them, unless it is asked for.
_ROWS = 25
_MISTAKES = 10


def check_by(by: Sequence[str] | None) -> Sequence[str]:
    """What was asked for with ``--by``.

    Parameters
    ----------
    by : sequence of str or None
        As given.

    Returns
    -------
    sequence of str

    Raises
    ------
    SeqpaError
        If one is not known.
    """
    for name in by or ():
        if name not in BY:
            hint = did_you_mean(name, BY, listed=False)
            raise SeqpaError(f"--by {name}: is none of {', '.join(BY)}{hint}")
    return by or ()


def tables(
    evaluation: Evaluation, by: Sequence[str], top: int, sentences: Sequence[dict[str, Any]]
) -> str:
    """An evaluation as text.

    Parameters
    ----------
    evaluation : Evaluation
        What was counted.
    by : sequence of str
        Which tables are asked for; none for those that matter.
    top : int
        How many confusions and sentences there are at most; 0 is all.
    sentences : sequence of dict
        Those with mistakes, as `wrong_sentences` gives them.

    Returns
    -------
    str
    """
    from seqpa.evaluate.summary import details, headline

    blocks = [f"{headline(evaluation)}\n{details(evaluation)}"]
    if not by:
        blocks += [_in_short(evaluation), "more: --by label|span|confusion|sentence, --json"]
    for name in by:
        if name == "label":
            blocks.append(_scores("label", evaluation.labels.items(), evaluation.label_macro))
        elif name == "span":
            blocks += _spans(evaluation, top)
        elif name == "confusion":
            blocks.append(_confusions(evaluation, top))
        else:
            blocks.append(_sentences(evaluation, sentences, top))
    return "\n\n".join(block for block in blocks if block)


def _in_short(evaluation: Evaluation) -> str:
    from seqpa.evaluate.summary import count_table, mistakes, score_table, units, worst

    what = "label" if evaluation.spans is None else "span"
    scores = units(evaluation)
    blocks = []
    if len(scores) <= _ROWS:
        macro = evaluation.label_macro if evaluation.spans is None else evaluation.span_macro
        blocks.append(_scores(what, scores.items(), macro))
    elif low := worst(evaluation, _ROWS):
        head = f"the {len(low)} worst of {len(scores):,} {what}s, rare ones left out"
        blocks.append(f"{head}\n{score_table(what, low)}")
    wrong = mistakes(evaluation, _MISTAKES)
    if wrong:
        blocks.append(f"most frequent mistakes\n{count_table(wrong)}")
    return "\n\n".join(blocks)


def _scores(what: str, scores: Any, macro: tuple[float, float, float] | None) -> str:
    from seqpa.evaluate.summary import score_table

    rows: list[tuple[str, Score]] = sorted(scores)
    text = score_table(what, rows)
    if macro is None:
        return text
    precision, recall, f1 = (100 * value for value in macro)
    width = max([12, *(len(name) for name, _ in rows)])
    total = sum(score.gold for _, score in rows)
    return f"{text}\n{'macro mean':<{width}}  {precision:9.2f} {recall:7.2f} {f1:7.2f} {total:7d}"


def _spans(evaluation: Evaluation, top: int) -> list[str]:
    from seqpa.evaluate import conlleval_text
    from seqpa.evaluate.summary import count_table, mistakes

    if evaluation.spans is None or evaluation.span_mistakes is None:
        raise SeqpaError("--by span: these labels mark no spans; say --by label")
    kinds = len(evaluation.span_mistakes)
    wrong = count_table(mistakes(evaluation, top or kinds))
    return [
        _scores("span", evaluation.spans.items(), evaluation.span_macro),
        f"as conlleval prints it\n{conlleval_text(evaluation)}",
        f"mistakes\n{wrong}{_left_out(kinds - (top or kinds), 'kind')}" if wrong else "",
    ]


def _confusions(evaluation: Evaluation, top: int) -> str:
    wrong = sum(gold != found for gold, found in evaluation.confusion)
    most = top or wrong
    if not wrong:
        return "no label is wrong"
    return f"{evaluation.confusion_table(most)}{_left_out(wrong - most, 'pair')}"


def _left_out(n: int, what: str) -> str:
    return f"\n... and {n:,} {what}{'s' * (n != 1)} more: --top 0" if n > 0 else ""


def _sentences(evaluation: Evaluation, sentences: Sequence[dict[str, Any]], top: int) -> str:
    if not sentences:
        return "no sentence has a mistake"
    lines = [f"{len(sentences):,} of {evaluation.sentences:,} sentences have mistakes"]
    for one in sentences[: top or None]:
        lines.append(
            f"sentence {one['sentence']:,}, {one['wrong']} of {len(one['gold'])} wrong: "
            f"{_printable(' '.join(one['words']), 160)}"
        )
        width = max(len(word) for word, _, _ in _wrong(one))
        lines += [
            f"  {_printable(word, 60):<{min(width, 60)}}  {gold}, predicted {found}"
            for word, gold, found in _wrong(one)
        ]
    return "\n".join(lines) + _left_out(len(sentences) - (top or len(sentences)), "sentence")


def _wrong(one: dict[str, Any]) -> list[tuple[str, str, str]]:
    tokens = zip(one["words"], one["gold"], one["predicted"], strict=True)
    return [(word, gold, found) for word, gold, found in tokens if gold != found]


def _printable(text: str, most: int) -> str:
    """Text that a terminal does not obey, and that is not too long."""
    plain = "".join(sign if sign.isprintable() else "?" for sign in text)
    return plain if len(plain) <= most else f"{plain[: most - 3]}..."


def wrong_sentences(
    words: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    """The sentences with mistakes, those with most first.

    Parameters
    ----------
    words, gold, found : sequences of sequences of str
        The words of each sentence, their right labels and the predicted ones.

    Returns
    -------
    list of dict
        Number (from 1), words, labels, and how many are wrong.
    """
    told = []
    for number, (tokens, right, guessed) in enumerate(zip(words, gold, found, strict=True), 1):
        wrong = sum(g != p for g, p in zip(right, guessed, strict=True))
        if wrong:
            told.append(
                {
                    "sentence": number,
                    "wrong": wrong,
                    "words": list(tokens),
                    "gold": list(right),
                    "predicted": list(guessed),
                }
            )
    return sorted(told, key=lambda one: (-one["wrong"], one["sentence"]))
