"""``seqpa inspect``: what is inside a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.cli.inputs import Model

if TYPE_CHECKING:
    from seqpa.model import ModelFile
    from seqpa.sequence.tagger import SequenceTagger


def inspect(
    model: Model,
    top: Annotated[
        int, typer.Option(min=0, help="How many features of each label, and transitions, to show.")
    ] = 5,
    header: Annotated[
        bool, typer.Option("--header", help="Print only the file's header, as JSON.")
    ] = False,
) -> None:
    """Show what a model is made of.

    Sizes, parameters, and the strongest features of each label and transitions.
    """
    from seqpa.cli.inputs import load
    from seqpa.model import model_header

    if header:
        import json

        text = json.dumps(model_header(model), ensure_ascii=False, indent=1)
        print("\n".join(map(_harmless, text.split("\n"))))
        return
    tagger, file = load(model, allow_imports=False)
    states = tagger.state_features_
    print(_summary(file, tagger, len({name for name, _ in states}), len(states)))
    if top:
        print(f"\n{_strongest_features(tagger.classes_, states, top)}")
        print(f"\n{_strongest_transitions(tagger.transition_features_, top)}")


def _reach(tagger: SequenceTagger) -> list[tuple[str, str]]:
    """How many stages there are and how far they look, where that is more than a sentence."""
    rows = [("stages", "2: the features and weights are those of the second")]
    looks = [("context", f"{tagger.reach_:,} tokens before and behind a sentence")]
    return (rows if tagger.stages > 1 else []) + (looks if tagger.reach_ else [])


def _summary(file: ModelFile, tagger: SequenceTagger, features: int, weights: int) -> str:
    templates = file.header["encoder"].get("templates", [])
    parameters = file.header.get("parameters", {})
    learner = ", ".join(
        f"{name} {parameters.get(name)}" for name in ("algorithm", "C", "update", "average")
    )
    rows: list[tuple[str, Any]] = [
        ("model", file.path),
        ("size", f"{file.path.stat().st_size:,} bytes"),
        ("labels", f"{len(tagger.classes_):,}: {_listed(tagger.classes_)}"),
        ("columns", ", ".join(tagger.columns)),
        *_taggers(tagger),
        ("templates", f"{len(templates):,}: {_listed(templates)}"),
        ("features", f"{features:,} with {weights:,} weights"),
        ("transitions", f"{len(tagger.transition_features_):,} of {len(tagger.classes_) ** 2:,}"),
        ("learner", learner),
        *_reach(tagger),
        ("cost", _cost_name(parameters.get("cost"))),
        ("constraints", _constraints_name(parameters.get("constraints"))),
        ("epoch", tagger.n_iter_),
        ("scale", _scale(tagger)),
    ]
    if file.config is not None:
        data = file.config.get("data")
        rows.append(("trained on", data.get("train") if isinstance(data, dict) else None))
    words = file.training_words()
    if words is not None:
        rows.append(("known words", f"{len(words):,}"))
    return "\n".join(f"{name:<12} {_harmless(str(value))}" for name, value in rows)


def _scale(tagger: SequenceTagger) -> str:
    """Whether the size of probabilities says something."""
    scale = tagger.trained_.scale
    return f"of probabilities: {'never fitted to data' if scale is None else f'{scale:g}'}"


def _taggers(tagger: SequenceTagger) -> list[tuple[str, str]]:
    """A row for each column that a tagger inside the model predicts."""
    return [
        (
            "predicted" if not i else "",
            f"{name}, by a tagger with {len(inner.classes_):,} labels: {_listed(inner.classes_)}",
        )
        for i, (name, inner) in enumerate((tagger.taggers or {}).items())
    ]


# Words of a model may hold what a terminal would obey: escapes, as JSON writes them.
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


def _harmless(text: str) -> str:
    return text.translate(_CONTROLS)


def _listed(names: list[str], most: int = 12) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _cost_name(cost: Any) -> str:
    if not isinstance(cost, dict):
        return str(cost)
    ((kind, content),) = cost.items()
    if kind == "function":
        return f"Python function {content}"
    if kind == "mapping" and isinstance(content.get("missed"), int | float):
        return f"wrong tokens, those of missed spans {content['missed']:g} times"
    return "hierarchy" if kind == "hierarchy" else "matrix"


def _constraints_name(constraints: Any) -> str:
    if isinstance(constraints, dict):
        return "forbidden and required transitions"
    return "none" if constraints is None else str(constraints)


def _strongest_features(labels: list[str], weights: dict[tuple[str, str], float], top: int) -> str:
    by_label: dict[str, list[tuple[float, str]]] = {label: [] for label in labels}
    for (feature, label), weight in weights.items():
        by_label[label].append((weight, feature))
    lines = ["strongest features of each label, for and against it"]
    for label, found in by_label.items():
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        chosen = [pair for pair in found[:top] if pair[0] > 0]
        chosen += [pair for pair in found[-top:] if pair[0] < 0]
        lines.append(label)
        lines += [f"  {weight:+9.4f}  {_harmless(feature)}" for weight, feature in chosen]
    return "\n".join(lines)


def _strongest_transitions(weights: dict[tuple[str, str], float], top: int) -> str:
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    chosen = [item for item in ordered[:top] if item[1] > 0]
    chosen += [item for item in ordered[-top:] if item[1] < 0]
    lines = ["strongest transitions"]
    lines += [f"  {weight:+9.4f}  {before} -> {after}" for (before, after), weight in chosen]
    return "\n".join(lines)
