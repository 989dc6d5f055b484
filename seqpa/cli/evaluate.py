"""``seqpa evaluate``: how good a model is, and whether it is better than another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.cli.inputs import AllowImports, Columns, Encoding, Format, MaxSentence, Model

if TYPE_CHECKING:
    from seqpa.evaluate import Comparison, Evaluation


def evaluate(
    model: Model,
    data: Annotated[str, typer.Argument(help="Labelled data.", metavar="DATA")],
    json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON, scores as fractions.")
    ] = False,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_MODEL", help="Test whether this other model is better or worse."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="Of the comparison: bootstrap or randomisation.")
    ] = "bootstrap",
    rounds: Annotated[int, typer.Option(min=1, help="Of the comparison.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the comparison.")] = 1,
    format: Format = None,
    columns: Columns = None,
    encoding: Encoding = None,
    max_sentence_tokens: MaxSentence = None,
    allow_imports: AllowImports = False,
) -> None:
    """Score a model on labelled data.

    Accuracy with words of the training data and new ones apart, precision, recall and F1 by
    label and by span (as conlleval counts and prints them), the most frequent confusions and the
    cost that the model was trained for.
    """
    from seqpa.cli.inputs import load, reading
    from seqpa.data import read
    from seqpa.data.labels import labelled_tokens
    from seqpa.model import UnloadedFunction
    from seqpa.sequence.costs import sequence_cost
    from seqpa.training_run import evaluate_labels

    tagger, file = load(model, allow_imports)
    corpus = read(
        data, **reading(tagger, file, format, columns, encoding, max_sentence_tokens).arguments()
    )
    unknown_cost = isinstance(tagger.cost, UnloadedFunction)
    cost = None if unknown_cost else tagger.cost
    gold, predicted = corpus.y, tagger.predict(corpus)
    evaluation = evaluate_labels(tagger, corpus, gold, predicted, file.training_words(), cost)
    comparisons: list[Comparison] = []
    if compare is not None:
        other, _ = load(compare, allow_imports)
        named = {label for label in corpus.labels or () if label}
        labels = sorted({*tagger.classes_, *other.classes_, *named})
        gold, predicted, others = labelled_tokens(gold, predicted, other.predict(corpus))
        comparisons = _compared(
            gold,
            predicted,
            others,
            evaluation,
            None if cost is None else sequence_cost(cost, labels),
            {"method": method, "rounds": rounds},
            seed,
        )
    if json:
        _print_json(model, data, evaluation, compare, comparisons)
        return
    _print_text(evaluation)
    if unknown_cost:
        print("\nthe cost is a Python function: say --allow-imports to measure it")
    if comparisons:
        print(f"\n{model} - {compare}")
        for comparison in comparisons:
            print(f"  {comparison}")


def _compared(
    gold: list[list[str]],
    a: list[list[str]],
    b: list[list[str]],
    evaluation: Evaluation,
    cost: Any,
    options: dict[str, Any],
    seed: int,
) -> list[Comparison]:
    import numpy as np

    from seqpa.evaluate import compare

    metrics = ["accuracy", "sentence-accuracy"]
    metrics += ["span-f1"] if evaluation.spans is not None else []
    metrics += ["cost"] if cost is not None else []
    return [
        compare(gold, a, b, np.random.default_rng(seed), metric, cost=cost, **options)
        for metric in metrics
    ]


def _print_text(evaluation: Evaluation) -> None:
    from seqpa.evaluate import conlleval_text

    print(evaluation.table())
    if evaluation.spans is not None:
        print(f"\n{_label_table(evaluation)}")
        print(f"\nas conlleval prints it\n{conlleval_text(evaluation)}")
    if evaluation.correct_tokens < evaluation.tokens:
        print(f"\nmost frequent mistakes\n{evaluation.confusion_table()}")


def _label_table(evaluation: Evaluation) -> str:
    """The scores of each label, for labels whose spans `Evaluation.table` shows."""
    width = max([12, *map(len, evaluation.labels)])
    lines = [f"{'label':<{width}}  precision  recall      F1    gold"]
    for name, score in sorted(evaluation.labels.items()):
        lines.append(
            f"{name:<{width}}  {100 * score.precision:9.2f} {100 * score.recall:7.2f} "
            f"{100 * score.f1:7.2f} {score.gold:7d}"
        )
    precision, recall, f1 = (100 * value for value in evaluation.label_macro)
    lines.append(
        f"{'macro mean':<{width}}  {precision:9.2f} {recall:7.2f} {f1:7.2f} {evaluation.tokens:7d}"
    )
    return "\n".join(lines)


def _print_json(
    model: Path,
    data: str,
    evaluation: Evaluation,
    compare: Path | None,
    comparisons: list[Comparison],
) -> None:
    import json
    from dataclasses import asdict

    content: dict[str, Any] = {"model": str(model), "data": data, **evaluation.to_dict()}
    if compare is not None:
        content["compared_with"] = str(compare)
        content["comparisons"] = [asdict(comparison) for comparison in comparisons]
    print(json.dumps(content, ensure_ascii=False, indent=1))
