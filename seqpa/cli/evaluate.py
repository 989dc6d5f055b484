"""``seqpa evaluate``: how good a model is, and whether it is better than another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.cli.inputs import AllowImports, Columns, Encoding, Format, MaxSentence, Model
from seqpa.cli.tables import By, Top, check_by, tables, wrong_sentences
from seqpa.errors import SeqpaError, SeqpaWarning

if TYPE_CHECKING:
    from seqpa.evaluate import Comparison, Evaluation


def evaluate(
    model: Model,
    data: Annotated[str, typer.Argument(help="Labelled data.", metavar="DATA")],
    by: By = None,
    top: Top = 50,
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
        str | None,
        typer.Option(help="Of the comparison: bootstrap (by default) or randomisation."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Of the comparison; 10,000 unless told.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the comparison; 1 unless told.")
    ] = None,
    format: Format = None,
    columns: Columns = None,
    encoding: Encoding = None,
    max_sentence_tokens: MaxSentence = None,
    allow_imports: AllowImports = False,
) -> None:
    """Score a model on labelled data.

    The headline first: F1 of spans as conlleval counts them, where labels mark spans, else
    accuracy; then words of the training data and new ones apart, the cost that the model was
    trained for, the scores of each span or label and the most frequent mistakes. --by prints whole
    tables; --json everything, with the sentences if --by sentence asks for them.
    """
    from seqpa.cli.inputs import load, reading
    from seqpa.data.labels import labelled_tokens
    from seqpa.evaluate import compare_all
    from seqpa.sequence.costs import sequence_cost
    from seqpa.stored_parameters import UnloadedFunction
    from seqpa.training_run import evaluate_labels

    asked = check_by(by)
    if compare is None and (method, rounds, seed) != (None, None, None):
        raise SeqpaError("--method, --rounds and --seed go with --compare OTHER_MODEL")
    tagger, file = load(model, allow_imports)
    how = reading(tagger, file, format, columns, encoding, max_sentence_tokens)
    corpus = how.labelled(data)
    unknown_cost = isinstance(tagger.cost, UnloadedFunction)
    cost = None if unknown_cost else tagger.cost
    named = {label for label in corpus.labels or () if label}
    warn_of_labels(tagger.classes_, named, model, data)
    gold, predicted = corpus.y, tagger.predict(corpus)
    evaluation = evaluate_labels(tagger, corpus, gold, predicted, file.training_words(), cost)
    comparisons: list[Comparison] = []
    if compare is not None:
        other, _ = load(compare, allow_imports)
        warn_of_tasks(tagger.classes_, other.classes_, model, compare)
        labels = sorted({*tagger.classes_, *other.classes_, *named})
        right, ours, theirs = labelled_tokens(gold, predicted, other.predict(corpus))
        comparisons = compare_all(
            right,
            ours,
            theirs,
            1 if seed is None else seed,
            of_spans=evaluation.spans is not None,
            cost=None if cost is None else sequence_cost(cost, labels),
            method="bootstrap" if method is None else method,
            rounds=10_000 if rounds is None else rounds,
        )
    sentences = []
    if "sentence" in asked:
        words = corpus.split(corpus.columns[0])
        right, words, found = labelled_tokens(gold, words, predicted)
        sentences = wrong_sentences(words, right, found)
    if json:
        _print_json(model, data, evaluation, compare, comparisons, asked, sentences)
        return
    print(tables(evaluation, asked, top, sentences))
    if unknown_cost:
        print("\nthe cost is a Python function: say --allow-imports to measure it")
    if comparisons:
        print(f"\n{model} - {compare}")
        for comparison in comparisons:
            print(f"  {comparison}")


def warn_of_labels(known: list[str], given: set[str], model: Path, data: str) -> None:
    """Warn of data of another task, or of labels that the model never saw.

    Parameters
    ----------
    known : list of str
        The model's labels.
    given : set of str
        The data's.
    model : Path
    data : str
        Its name.
    """
    import warnings

    new = sorted(given - set(known))
    if not new:
        return
    if len(new) == len(given):
        told = f"knows none of the labels of {data}, such as {new[0]}: is it the right column?"
    else:
        told = f"does not know {len(new):,} of the {len(given):,} labels of {data}: {new[0]}, ..."
    warnings.warn(f"{model}: {told}", SeqpaWarning, stacklevel=2)


def warn_of_tasks(a: list[str], b: list[str], model: Path, other: Path) -> None:
    """Warn where two models are compared that do not have the same labels.

    Parameters
    ----------
    a, b : lists of str
        The labels of the two.
    model, other : Path
    """
    import warnings

    from seqpa.schemes import OUTSIDE

    only_a, only_b = sorted(set(a) - set(b)), sorted(set(b) - set(a))
    if not only_a and not only_b:
        return
    common = len((set(a) & set(b)) - {OUTSIDE})
    kind = "are of different tasks" if 2 * common < min(len(a), len(b)) else "differ in labels"
    parts = [
        f"{len(only):,} only {where}, such as {only[0]}"
        for only, where in ((only_a, "of the first"), (only_b, "of the second"))
        if only
    ]
    told = f"{model} and {other} {kind}: {', '.join(parts)}"
    warnings.warn(told, SeqpaWarning, stacklevel=2)


def _print_json(
    model: Path,
    data: str,
    evaluation: Evaluation,
    compare: Path | None,
    comparisons: list[Comparison],
    asked: Sequence[str],
    sentences: list[dict[str, Any]],
) -> None:
    import json
    from dataclasses import asdict

    content: dict[str, Any] = {"model": str(model), "data": data, **evaluation.to_dict()}
    if compare is not None:
        content["compared_with"] = str(compare)
        content["comparisons"] = [asdict(comparison) for comparison in comparisons]
    if "sentence" in asked:
        content["wrong_sentences"] = sentences
    print(json.dumps(content, ensure_ascii=False, indent=1))
