"""What a training ends with on the screen: the score, what went wrong, what to try next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from seqpa.config.build import data_name
from seqpa.evaluate.summary import details, headline, mistakes, units, worst
from seqpa.sequence.epoch_line import percent

if TYPE_CHECKING:
    from seqpa.evaluate import Evaluation
    from seqpa.training_run import TrainingOutcome, TrainingRun

# The block is this wide at most, and gives so much advice at most.
_WIDTH = 100
_ADVICE = 3
# A label that is seen fewer times in training is rare.
_RARE = 5


def closing(run: TrainingRun, outcome: TrainingOutcome, *, full: bool, brief: bool) -> str:
    """The block that ``seqpa train`` prints at the end.

    Parameters
    ----------
    run : TrainingRun
        What was trained, and on what.
    outcome : TrainingOutcome
        What came of it.
    full : bool
        With every label and many mistakes.
    brief : bool
        Only the score.

    Returns
    -------
    str
    """
    part = "dev" if outcome.test is None else "test"
    found = outcome.dev if outcome.test is None else outcome.test
    score = f"model {outcome.model}" if found is None else f"{part} {headline(found)}"
    if brief:
        return score
    lines = [""]
    if outcome.dev is not None:
        lines.append(
            f"kept epoch {outcome.best_epoch} of {outcome.epochs}, the best on the dev set"
        )
    if found is not None:
        where = data_name(run.config, part)
        lines += [score, details(found), *_what_went_wrong(found)]
        if full:
            lines += ["", f"all scores on {where}", found.table(), "", found.confusion_table()]
            lines.append("")
    tried = advice(run, outcome)
    lines += [f"{'try next' if not i else '':<10}{text}" for i, text in enumerate(tried)]
    if outcome.certificate is not None:
        lines += ["", str(outcome.certificate), ""]
    more = "" if full or found is None else "; all scores: --full"
    lines.append(f"model written to {outcome.model}{more}")
    return "\n".join(lines)


def _what_went_wrong(found: Evaluation) -> list[str]:
    low = [f"{name} {percent(score.f1)} of {score.gold:,}" for name, score in worst(found)]
    wrong = [f"{what} {n:,} ×" for what, n in mistakes(found)]
    rows = [("worst", low), ("mistakes", wrong)]
    return [f"{name:<10}{_joined(parts, _WIDTH - 10)}" for name, parts in rows if parts]


def _joined(parts: list[str], width: int) -> str:
    """As many of the parts as there is room for, one at least."""
    text = parts[0]
    for part in parts[1:]:
        if len(text) + len(part) + 2 > width:
            break
        text += f", {part}"
    return text


def advice(run: TrainingRun, outcome: TrainingOutcome) -> list[str]:
    """What the data suggest to try next, the most useful first.

    Parameters
    ----------
    run : TrainingRun
        What was trained, and on what.
    outcome : TrainingOutcome
        What came of it.

    Returns
    -------
    list of str
        Three lines at most; none where nothing stands out.
    """
    found = outcome.dev if outcome.test is None else outcome.test
    told = [
        _without_dev(run, outcome),
        _still_rising(run, outcome),
        None if found is None else _unlearned(run, found),
        None if found is None else _new_words(run, found),
        None if found is None else _overlooked(run, found),
        _rare_labels(run),
        None if found is None else _learned_by_heart(run, found),
    ]
    return [text for text in told if text is not None][:_ADVICE]


def _without_dev(run: TrainingRun, outcome: TrainingOutcome) -> str | None:
    if run.dev is not None:
        return None
    if outcome.test is None:
        return "nothing was scored: name labelled files as data.dev and data.test"
    return "a dev set (data.dev), so that the best epoch is kept instead of the last"


def _still_rising(run: TrainingRun, outcome: TrainingOutcome) -> str | None:
    epochs = run.config.learner.epochs
    if run.dev is None or not outcome.best_epoch == outcome.epochs == epochs or epochs < 2:
        return None
    more = f"--set learner.epochs={2 * epochs}"
    return f"more epochs ({more}): the dev score was still rising at the last"


def _unlearned(run: TrainingRun, found: Evaluation) -> str | None:
    new = found.labels.keys() - set(run.tagger.classes_)
    tokens = sum(found.labels[label].gold for label in new)
    if not tokens or tokens < 0.05 * (found.tokens - found.correct_tokens):
        return None
    what = "a label that is" if len(new) == 1 else f"{len(new):,} labels that are"
    return f"examples of {what} not in the training data, such as {min(new)} ({tokens:,} tokens)"


def _new_words(run: TrainingRun, found: Evaluation) -> str | None:
    if found.unseen is None or found.tokens == found.correct_tokens:
        return None
    right, there = found.unseen
    share = (there - right) / (found.tokens - found.correct_tokens)
    if share < 0.3 or there < 20:
        return None
    features = run.config.features
    more = "more " if features.lexicons or features.clusters else ""
    return (
        f"{more}word lists or clusters (features.lexicons, .clusters): "
        f"{100 * share:.0f} % of mistakes are in new words"
    )


def _overlooked(run: TrainingRun, found: Evaluation) -> str | None:
    micro = found.span_micro
    if micro is None or micro.gold < 20 or micro.recall > micro.precision - 0.1:
        return None
    cost = run.config.cost
    if cost.kind not in ("auto", "hamming"):
        return None
    times = cost.missed or (run.tagger.missed_cost_ if cost.kind == "auto" else 1.0)
    return (
        f"a higher cost of missed spans (cost.missed: {2 * times:g}): recall is far below precision"
    )


def _rare_labels(run: TrainingRun) -> str | None:
    counts = Counter(run.train.labels or ())
    rare = sum(n < _RARE for n in counts.values())
    if 5 * rare < max(len(counts), 1):
        return None
    return (
        f"fewer labels, or more examples: {rare:,} of {len(counts):,} labels occur fewer than "
        f"{_RARE} times in training"
    )


def _learned_by_heart(run: TrainingRun, found: Evaluation) -> str | None:
    last = run.history[-1]
    wrong = last.wrong_tokens / max(last.tokens, 1)
    if wrong > 0.01 or 1 - found.accuracy < 4 * wrong or len(units(found)) < 2:
        return None
    return (
        f"more labelled text: {100 * wrong:.2f} % of tokens wrong in the last epoch of training, "
        f"{100 * (1 - found.accuracy):.2f} % here"
    )
