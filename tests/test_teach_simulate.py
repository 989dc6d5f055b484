"""Sessions that are played: what is counted, by whom, and that nothing is left to chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from seqpa import SeqpaError
from seqpa.cli import app
from seqpa.experiments.setup import Setup
from seqpa.sequence.training import dev_score
from seqpa.teach import simulate as played
from seqpa.teach.annotator import asked
from seqpa.teach.keystrokes import by_hand
from seqpa.teach.model import Proposal, TaughtModel
from seqpa.teach.simulate import (
    Gold,
    Trial,
    correct,
    divided,
    noisy,
    play,
    read_gold,
    settled_tagger,
    strategies,
)
from seqpa.teach.simulation import (
    Wanted,
    not_reached,
    outcome,
    reached,
    simulate,
    summaries,
)

NEWS = Path(__file__).parents[1] / "corpora" / "news"


@pytest.fixture(scope="module")
def news() -> tuple[Gold, Gold]:
    both = [read_gold([NEWS / f"{part}.conll"]) for part in ("train", "test")]
    return both[0].part(range(120)), both[1].part(range(60))


def spans(*found: Any) -> dict[str, Any]:
    return {"spans": [list(span) for span in found]}


class Scripted:
    """A model whose proposals are given, by how much is confirmed."""

    kind = "spans"
    clock = 1
    labels = ("PER", "LOC", "ORG")
    sure: list[float] | None = None

    def __init__(self, *proposals: dict[str, Any]) -> None:
        self.proposals = proposals
        self.asked: list[Any] = []

    def propose(self, tokens: list[str], confirmed: Any = (), columns: Any = None) -> Proposal:
        self.asked.append([list(one) for one in confirmed])
        return Proposal(self.proposals[len(self.asked[-1])], self.sure or [1.0] * len(tokens), 1.0)


def test_keys_by_hand_and_by_corrections() -> None:
    # Ada Lovelace saw Rome and Paris. By hand: extend and label, two arrows and label, End and
    # label, and one key to accept.
    final = spans((0, 2, "PER"), (3, 4, "LOC"), (5, 6, "LOC"))
    first = spans((0, 1, "PER"), (3, 4, "PER"), (5, 6, "PER"))
    # The first correction brings nothing; the second also puts Paris right.
    second = spans((0, 2, "PER"), (3, 4, "PER"), (5, 6, "PER"))
    model: Any = Scripted(first, second, final)
    work = correct(model, ["Ada", "Lovelace", "saw", "Rome", "and", "Paris"], final, None)
    assert work[:3] == ((2 + 3 + 1, 2 + 2 + 1), (2 + 3 + 2 + 1, 7), (2 + 3 + 2 + 1, 7))
    assert work[3:] == (6, 3, [])
    assert model.asked == [[], [[0, 2, "PER"]], [[0, 2, "PER"], [3, 4, "LOC"]]]


def test_what_should_not_be_there_is_cleared() -> None:
    model: Any = Scripted(spans((0, 1, "PER")), spans())
    work = correct(model, ["He", "left"], spans(), None)
    assert work == ((2, 2), (2, 2), (1, 1), 2, 1, [])


def test_only_what_the_model_is_unsure_of_is_asked_for() -> None:
    """Right words before a mistake are confirmed one by one, those after it by the last key; a
    mistake that the model is sure of stays."""
    words = ["Ada", "Lovelace", "saw", "Rome", "and", "Paris", "in", "May"]
    final = spans((0, 2, "PER"), (3, 4, "LOC"), (5, 6, "LOC"))
    first = spans((0, 2, "PER"), (3, 4, "PER"), (7, 8, "LOC"))
    model: Any = Scripted(first, first, spans((0, 2, "PER"), (3, 4, "LOC"), (7, 8, "LOC")))
    model.sure = [0.5, 0.95, 0.95, 0.5, 0.95, 0.95, 0.5, 0.95]
    work = asked(model, words, final, None)
    assert work.confirmed == [[0, 2, "PER"], [3, 4, "LOC"], [6, 7, None]]
    assert (work.tokens, work.corrected) == (4, 1)
    assert work.keys == (3, 3)  # y, the label, Enter
    assert work.by_hand == by_hand(final, "spans", 8)


def test_a_span_in_the_wrong_place_is_moved() -> None:
    words = ["the", "Bank", "of", "Rome"]
    final = spans((1, 4, "ORG"))
    model: Any = Scripted(spans((0, 2, "ORG")), final)
    model.sure = [0.5, 0.95, 0.95, 0.95]
    work = asked(model, words, final, None)
    assert work.confirmed == [[0, 1, None], [1, 4, "ORG"]]
    assert work.keys == (1 + 2 + 1 + 1, 5)


def test_unsure_words_alone_teach(news: tuple[Gold, Gold]) -> None:
    gold, test = news
    trial = Trial("coverage", 3, budget=600, confirm="unsure")
    points = list(play(gold, test, trial))
    assert list(play(gold, test, trial)) == points
    for point in points:
        assert point.corrected <= point.tokens < point.read
        assert point.keys_held <= point.keys <= point.by_hand
    assert points[-1].settled > points[0].settled


def test_without_a_model_all_is_by_hand(news: tuple[Gold, Gold]) -> None:
    gold, test = news
    points = list(play(gold, test, Trial("random", 0, prelabel=False, budget=400)))
    assert all(point.keys == point.keys_once == point.by_hand for point in points)
    assert all(point.keys_held == point.by_hand_held for point in points)
    first = TaughtModel(gold.kind, gold.labels)
    for tokens, annotation in zip(gold.tokens[:20], gold.annotations[:20], strict=True):
        work = correct(first, tokens, annotation, None)
        assert work.keys == work.by_hand
        assert work.keys == by_hand(annotation, gold.kind, len(tokens), gold.labels)


@pytest.mark.parametrize("strategy", ["coverage", "random"])
def test_a_session_adds_up_and_is_the_same_each_time(
    news: tuple[Gold, Gold], strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, test = news
    seen: list[int] = []
    monkeypatch.setattr(played, "correct", watched(seen, gold))
    trial = Trial(strategy, 3, budget=900)
    points = list(play(gold, test, trial))
    order, seen[:] = list(seen), []
    assert list(play(gold, test, trial)) == points
    assert seen == order
    assert len(set(order)) == len(order) == points[-1].sentences
    lengths = [len(gold.tokens[i]) for i in order]
    assert [point.tokens for point in points] == [
        sum(lengths[: point.sentences]) for point in points
    ]
    assert points[-1].tokens >= 900 > sum(lengths[:-1])
    for point in points:
        assert point.sentences <= point.keys <= point.by_hand  # it learned something
        assert point.keys_held <= point.keys
        assert point.read == point.tokens
        assert 0 <= point.updates <= point.sentences
        assert 0 <= point.corrected <= point.tokens
        assert 0.0 <= min(point.live, point.settled) <= max(point.live, point.settled) <= 1.0
    hand = [
        by_hand(gold.annotations[i], gold.kind, len(gold.tokens[i]), gold.labels) for i in order
    ]
    assert points[-1].by_hand == sum(keys.pressed for keys in hand)
    assert points[-1].by_hand_held == sum(keys.held for keys in hand)


def watched(seen: list[int], gold: Gold) -> Any:
    numbers = {id(tokens): i for i, tokens in enumerate(gold.tokens)}

    def own(model: TaughtModel, tokens: list[str], *rest: Any) -> Any:
        seen.append(numbers[id(tokens)])
        return correct(model, tokens, *rest)

    return own


def test_random_is_no_selection(news: tuple[Gold, Gold], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the model knows has no influence on what comes."""
    gold, test = news
    orders = []
    for noise in (0.0, 0.9):
        seen: list[int] = []
        monkeypatch.setattr(played, "correct", watched(seen, gold))
        list(play(gold, test, Trial("random", 5, budget=500, noise=noise)))
        orders.append(seen)
    assert orders[0] == orders[1]


def test_a_session_ends_with_the_score_or_the_sentences(news: tuple[Gold, Gold]) -> None:
    gold, test = news
    assert len(list(play(gold, test, Trial("random", 0, until=0.0)))) == 1
    points = list(play(gold.part(range(30)), test, Trial("margin", 0, until=2.0)))
    assert points[-1].sentences == 30


@pytest.mark.parametrize("kind", ["tokens", "spans"])
def test_the_noisy_annotator_errs_as_often_as_told(kind: str) -> None:
    rng = np.random.default_rng(0)
    names = ["A", "B", "C"]
    n = 4000
    if kind == "tokens":
        right: dict[str, Any] = {"labels": [names[i % 3] for i in range(n)]}
        found = noisy(right, kind, names, 0.2, rng)["labels"]
        wrong = sum(a != b for a, b in zip(right["labels"], found, strict=True))
        assert len(found) == n
    else:
        right = {"spans": [[i, i + 1, names[i % 3]] for i in range(n)]}
        given = {(a, b): name for a, b, name in noisy(right, kind, names, 0.2, rng)["spans"]}
        lost = sum((i, i + 1) not in given for i in range(n))
        wrong = lost + sum(name != names[a % 3] for (a, _), name in given.items())
        assert 0.08 < lost / n < 0.12
    assert 0.18 < wrong / n < 0.22
    assert noisy(right, kind, names, 0.0, rng) is right


def test_noise_is_the_sentences_own(news: tuple[Gold, Gold]) -> None:
    """Whenever a sentence comes, it is labelled in the same way."""
    gold, test = news
    clean, bad = (
        list(play(gold, test, Trial("random", 1, budget=700, noise=noise))) for noise in (0.0, 0.4)
    )
    assert bad[-1].settled < clean[-1].settled
    assert bad == list(play(gold, test, Trial("random", 1, budget=700, noise=0.4)))


def test_what_was_reached_is_on_the_line_between_checkpoints() -> None:
    def row(strategy: str, seed: int, tokens: int, settled: float) -> dict[str, Any]:
        own = {"keys": tokens // 4, "keys_once": tokens // 3, "by_hand": tokens, "updates": 5}
        own |= {"read": tokens, "keys_held": tokens // 5, "by_hand_held": tokens // 2}
        return {"strategy": strategy, "seed": seed, "tokens": tokens, "settled": settled} | {
            **own, "live": 0.1, "sentences": tokens // 10, "corrected": 1,
        }  # fmt: skip

    rows = [
        row("margin", 0, 1000, 0.90), row("margin", 0, 2000, 1.00),
        row("margin", 1, 500, 0.97),
        row("random", 0, 4000, 0.95), row("random", 1, 1000, 0.85), row("random", 1, 3000, 0.97),
    ]  # fmt: skip
    tokens = {(own["strategy"], own["seed"]): own["tokens"] for own in reached(rows, 1.0)}
    assert tokens == pytest.approx(
        {("margin", 0): 1500, ("margin", 1): 500, ("random", 0): 4000, ("random", 1): 2666.7},
        rel=1e-3,
    )
    found = summaries(rows, 1.0)
    assert found["margin"].share == pytest.approx(1000 / 3333.3, rel=1e-3)
    assert found["margin"].saved == pytest.approx(0.75)
    assert found["margin"].saved_order == pytest.approx(1 - 250 / 3333.3, rel=1e-3)
    assert "tokens" not in reached(rows, 2.0)[0]
    assert np.isnan(summaries(rows, 2.0)["margin"].share)


def test_the_report_is_whole(news: tuple[Gold, Gold], tmp_path: Path) -> None:
    ways = ("random", "coverage", "coverage/unsure")
    wanted = Wanted("news", *news, strategies=ways, seeds=2, budget=500)
    played = list(simulate(wanted, Setup()))
    rows = [row for _, _, more in played for row in more]
    full = played[0][1]
    files = {path.name for path in outcome(wanted, full, rows).write(tmp_path)}
    assert files == {"points.csv", "reached.csv", "teach.png", "teach.svg", "report.md"}
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert {row["strategy"] for row in rows} == set(ways)
    # Of what was not reached in 500 tokens nothing is claimed.
    assert "| random | not reached |" in text
    assert "The score was not reached by random" in text
    assert "tokens that random order takes" not in text
    assert "nan" not in text


def test_each_claim_says_of_what_it_is(news: tuple[Gold, Gold]) -> None:
    """And there is none of what did not get there."""
    ways = ("random", "coverage", "coverage/unsure")
    rows = [
        {
            "strategy": name, "seed": seed, "tokens": tokens, "settled": 0.96, "live": 0.9,
            "read": tokens, "sentences": 10, "corrected": 1, "keys": 30, "keys_held": 30,
            "keys_once": 40, "by_hand": 100, "by_hand_held": 100, "updates": 5,
        }
        for name, tokens in zip(ways, (1000, 500, 700), strict=True)
        for seed in (0, 1)
    ]  # fmt: skip
    wanted = Wanted("news", *news, strategies=ways, seeds=2)
    found = {(one.where, one.holds) for one in outcome(wanted, 1.0, rows).checks}
    assert found == {
        ("news, coverage", True), ("news, coverage/unsure", False),  # tokens
        ("news, coverage/unsure", True), ("news, random", True),  # keys
    }  # fmt: skip
    rows[0]["settled"] = 0.5  # one session by chance
    left = outcome(wanted, 1.0, rows).checks
    assert [one.where for one in left] == ["news, coverage", "news, coverage/unsure"]
    assert all("keys" in one.claim for one in left)
    assert not_reached(summaries(rows, 1.0)).startswith("not reached by random, in")


def test_on_the_command_line(tmp_path: Path) -> None:
    gold = tmp_path / "gold.conll"
    lines = (NEWS / "test.conll").read_text(encoding="utf-8").split("\n\n")[:50]
    gold.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    told = ["teach", str(gold), "--simulate", "--strategy", "margin", "--seeds", "1", "--jobs", "1"]
    run = CliRunner().invoke(app, [*told, "-o", str(tmp_path / "out")])
    assert run.exit_code == 0, run.output
    assert "margin  " in run.output
    assert "95 % of the full score: not reached by random" in run.output
    report = tmp_path / "out" / "report.md"
    first = report.read_text(encoding="utf-8")
    assert CliRunner().invoke(app, [*told, "-o", str(tmp_path / "out")]).exit_code == 0
    assert report.read_text(encoding="utf-8") == first  # its own is replaced, by the same
    report.write_text("# Mine", encoding="utf-8")
    run = CliRunner().invoke(app, [*told, "-o", str(tmp_path / "out")])
    assert run.exit_code == 2
    assert report.read_text(encoding="utf-8") == "# Mine"
    run = CliRunner().invoke(app, ["teach", str(gold), "--noise", "0.1"])
    assert run.exit_code == 2


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="strategy 'luck' is unknown"):
        Trial("luck", 0)
    with pytest.raises(SeqpaError, match=r"noise is 1\.5"):
        Trial("random", 0, noise=1.5)
    with pytest.raises(SeqpaError, match="is unknown"):
        strategies(["marginn"])
    with pytest.raises(SeqpaError, match="confirm is 'some': choose all or unsure"):
        strategies(["margin/some"])
    one = Gold("tokens", [["a"]], None, (), [{"labels": ["A"]}], ["A"])
    with pytest.raises(SeqpaError, match="too few to test on"):
        divided(one)
    text = tmp_path / "a.txt"
    text.write_text("Ada won. Bob lost.")
    with pytest.raises(SeqpaError, match="sentence 1 is not labelled"):
        read_gold([text])


@pytest.mark.parametrize("kind", ["spans", "tokens"])
def test_scores_are_those_of_the_evaluation(news: tuple[Gold, Gold], kind: str) -> None:
    gold, test = news
    if kind == "tokens":
        gold, test = (
            Gold("tokens", own.tokens, None, (), [{"labels": own.tags(i)} for i in range(n)], [])
            for own, n in ((gold, len(gold.tokens)), (test, len(test.tokens)))
        )
    tagger = settled_tagger(gold, None, 0).fit(*gold.pairs)
    X, labels = test.pairs
    metric = "F1" if kind == "spans" else "accuracy"
    assert played.tested(tagger, test) == pytest.approx(
        dev_score(labels, tagger.predict(X), metric)
    )
