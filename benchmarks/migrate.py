"""What a script gains by its one changed line: the same calls with the peer, and with seqpa.

python benchmarks/migrate.py                 all tables, some minutes; a missing peer is left out
python benchmarks/migrate.py --quick         a part of the data
python benchmarks/migrate.py --only nltk     one tool
python benchmarks/migrate.py --data DIR      CoNLL-2000 from there, in place of the embedded corpus
python benchmarks/migrate.py --write         puts the tables into docs/migrating-from-*.md

Each side runs in this process on one thread, in turn; times are CPU seconds, the best of three
where a run takes less than five. Features are made before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time as clock
from typing import Any

from results import machine, table

HERE = Path(__file__).parents[1]
HEAD = ["", "training", "seqpa", "ratio", "predicting", "seqpa", "ratio", "score", "seqpa"]
Side = tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], float]]


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(3):
        begun = clock()
        result = action()
        best = min(best, clock() - begun)
        if best > 5:
            break
    return best, result


def measured(side: Side) -> tuple[float, float, float]:
    """Seconds of training and of predicting, and the score."""
    train, predict, score = side
    training, model = seconds(train)
    predict(model)
    predicting, found = seconds(lambda: predict(model))
    return training, predicting, score(found)


def row(title: str, theirs: Side, ours: Side) -> list[str]:
    return cells_of(title, measured(theirs), measured(ours))


def cells_of(title: str, a: tuple[float, ...], b: tuple[float, ...]) -> list[str]:
    """A row, of what was measured of the peer and of seqpa."""
    print(f"  {title}: {a} {b}", flush=True)
    cells = [title]
    for place in range(2):
        cells += [f"{a[place]:.3g} s", f"{b[place]:.3g} s", f"{a[place] / b[place]:.1f} ×"]
    return [*cells, f"{a[2]:.2f}", f"{b[2]:.2f}"]


# The text: sentences with parts of speech and chunks or names


def corpora(data: Path | None, quick: bool) -> tuple[str, Any, Any]:
    from seqpa.data import read

    folder = None if data is None else data / "conll2000"
    if folder is not None and folder.is_dir():
        name, files = "CoNLL-2000", [folder / "train.txt", folder / "test.txt"]
    else:
        name, news = "the embedded news corpus", HERE / "corpora" / "news"
        files = [news / "train.conll", news / "test.conll"]
    train, test = (read(file, columns=["word", "pos", "label"]) for file in files)
    return name, (train[: len(train) // 8] if quick else train), test


def word2features(sentence: list[tuple[str, str]], i: int) -> dict[str, Any]:
    """As in the tutorial of sklearn-crfsuite."""
    word, pos = sentence[i]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": pos,
        "postag[:2]": pos[:2],
    }
    for shift, name in ((-1, "-1:"), (1, "+1:")):
        if 0 <= i + shift < len(sentence):
            word, pos = sentence[i + shift]
            features |= {
                f"{name}word.lower()": word.lower(),
                f"{name}word.istitle()": word.istitle(),
                f"{name}word.isupper()": word.isupper(),
                f"{name}postag": pos,
                f"{name}postag[:2]": pos[:2],
            }
        else:
            features["BOS" if shift < 0 else "EOS"] = True
    return features


def seen(corpus: Any) -> list[list[dict[str, Any]]]:
    return [[word2features(s, i) for i in range(len(s))] for s in corpus.X]


def span_f1(gold: list[list[str]]) -> Callable[[Any], float]:
    from seqpa.evaluate import evaluate

    def score(found: Any) -> float:
        result = evaluate(gold, [list(labels) for labels in found])
        return 100 * (result.accuracy if result.span_micro is None else result.span_micro.f1)

    return score


# The tools


def sklearn_crfsuite(data: Path | None, quick: bool) -> tuple[str, list[list[str]]]:
    import sklearn_crfsuite as theirs

    import seqpa.sklearn_crfsuite as ours

    name, train, test = corpora(data, quick)
    X, y, text, score = seen(train), train.y, seen(test), span_f1(test.y)

    def side(module: Any, **arguments: Any) -> Side:
        return (
            lambda: module.CRF(**arguments).fit(X, y),
            lambda crf: crf.predict(text),
            score,
        )

    rows = [
        row(title, side(theirs, **arguments), side(ours, **arguments))
        for title, arguments in (
            ("`lbfgs`, c1 = c2 = 0.1", {"c1": 0.1, "c2": 0.1, "max_iterations": 100}),
            ("`pa`", {"algorithm": "pa", "max_iterations": 10}),
            ("`ap`", {"algorithm": "ap", "max_iterations": 10}),
        )
    ]
    return f"The tutorial's features on {name}, span F1.", rows


def crfsuite(data: Path | None, quick: bool) -> tuple[str, list[list[str]]]:
    import pycrfsuite as theirs

    import seqpa.pycrfsuite as ours

    name, train, test = corpora(data, quick)
    X, y, text, score = seen(train), train.y, seen(test), span_f1(test.y)

    def side(module: Any, algorithm: str, **params: Any) -> Side:
        def fit() -> Any:
            trainer = module.Trainer(algorithm, params, verbose=False)
            for xseq, yseq in zip(X, y, strict=True):
                trainer.append(xseq, yseq)
            with tempfile.TemporaryDirectory() as folder:
                trainer.train(f"{folder}/model")
                tagger = module.Tagger()
                tagger.open(f"{folder}/model")
            return tagger

        return fit, lambda tagger: [tagger.tag(xseq) for xseq in text], score

    rows = [
        row(f"`{algorithm}`", side(theirs, algorithm, **params), side(ours, algorithm, **params))
        for algorithm, params in (
            ("lbfgs", {"c1": 0.1, "c2": 0.1, "max_iterations": 100}),
            ("pa", {"max_iterations": 10}),
        )
    ]
    rows.append(imported(X, y, text, score))
    told = "A call for each sentence, as python-crfsuite has it"
    return f"The same features on {name}, span F1. {told}.", rows


def imported(X: Any, y: Any, text: Any, score: Callable[[Any], float]) -> list[str]:
    """A model of CRFsuite's own, there and here; trained once."""
    import pycrfsuite

    from seqpa.pycrfsuite.crfsuite_file import read_crfsuite_file, to_trained

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model"
        trainer = pycrfsuite.Trainer("ap", {"max_iterations": 10}, verbose=False)
        for xseq, yseq in zip(X, y, strict=True):
            trainer.append(xseq, yseq)
        trainer.train(path)

        def theirs() -> Any:
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            return tagger

        cells = row(
            "a model of CRFsuite",
            (theirs, lambda tagger: [tagger.tag(xseq) for xseq in text], score),
            (
                lambda: to_trained(read_crfsuite_file(path)).tagging,
                lambda tagging: tagging.predict(text),
                score,
            ),
        )
        return [cells[0], "", "", "", *cells[4:]]


def nltk(data: Path | None, quick: bool) -> tuple[str, list[list[str]]]:
    from nltk.tag import PerceptronTagger, UnigramTagger

    from seqpa.nltk import SeqpaTagger

    name, train, test = corpora(data, quick)
    sents = [list(s) for s in train.X]
    text, gold = [[word for word, _ in s] for s in test.X], [[pos for _, pos in s] for s in test.X]

    def accuracy(found: Any) -> float:
        pairs = [
            (a, b)
            for s, own in zip(found, gold, strict=True)
            for (_, a), b in zip(s, own, strict=True)
        ]
        return 100 * sum(a == b for a, b in pairs) / len(pairs)

    def side(make: Callable[[], Any]) -> Side:
        return make, lambda tagger: tagger.tag_sents(text), accuracy

    def perceptron() -> Any:
        tagger = PerceptronTagger(load=False)
        tagger.train([list(s) for s in sents])
        return tagger

    ours = side(lambda: SeqpaTagger(random_state=1).train(sents))
    rows = [
        row("`PerceptronTagger`", side(perceptron), ours),
        row("`UnigramTagger`", side(lambda: UnigramTagger(sents)), ours),
    ]
    return f"Parts of speech on {name}, accuracy.", rows


def scikit_learn(data: Path | None, quick: bool) -> tuple[str, list[list[str]]]:
    from sklearn import linear_model
    from sklearn.datasets import make_classification, make_regression

    import seqpa.sklearn

    n = 4_000 if quick else 40_000
    X, y = make_classification(n, 50, n_informative=20, n_classes=4, random_state=0)
    Z, z = make_regression(n, 50, noise=5.0, random_state=0)
    half = n // 2
    rows = []
    for name, (A, b) in {
        "PassiveAggressiveClassifier": (X, y),
        "Perceptron": (X, y),
        "PassiveAggressiveRegressor": (Z, z),
    }.items():
        if not hasattr(linear_model, name):
            print(f"  {name}: no longer in scikit-learn, left out")
            continue

        def side(module: Any, name: str = name, A: Any = A, b: Any = b) -> Side:
            def fit() -> Any:
                return getattr(module, name)(max_iter=10, tol=None, random_state=0).fit(
                    A[:half], b[:half]
                )

            return fit, lambda model: model, lambda model: 100 * model.score(A[half:], b[half:])

        cells = row(f"`{name}`", side(linear_model), side(seqpa.sklearn))
        rows.append([*cells[:4], "", "", "", *cells[7:]])
    told = f"{half:,} made-up examples of 50 features, ten passes; accuracy or R², in percent"
    return f"{told}.", rows


EPOCHS = 10  # of spaCy's loop of `nlp.update`


def spacy(data: Path | None, quick: bool) -> tuple[str, list[list[str]]]:
    import random

    from spacy import blank
    from spacy.scorer import Scorer, get_ner_prf
    from spacy.tokens import Doc
    from spacy.training import Example, biluo_tags_to_spans, iob_to_biluo
    from spacy.util import fix_random_seed, minibatch

    import seqpa.spacy  # noqa: F401  the factories, where seqpa is not installed

    name, train, test = corpora(data, quick)

    def documents(nlp: Any, corpus: Any, bare: bool = False) -> list[Any]:
        made = []
        for tokens, labels in zip(corpus.X, corpus.y, strict=True):
            words, tags = zip(*tokens, strict=True)
            doc = Doc(nlp.vocab, words=words, tags=None if bare else tags)
            if not bare:
                doc.set_ents(biluo_tags_to_spans(doc, iob_to_biluo(labels)), default="outside")
            made.append(doc)
        return made

    def side(pipe: str, epochs: int) -> Side:
        def fit() -> Any:
            fix_random_seed(1)
            nlp = blank("en")
            nlp.add_pipe(pipe, config={"parameters": {"random_state": 1}} if "_" in pipe else {})
            examples = [
                Example(bare, doc)
                for bare, doc in zip(
                    documents(nlp, train, bare=True), documents(nlp, train), strict=True
                )
            ]
            nlp.initialize(lambda: examples)
            order = random.Random(1)
            for _ in range(epochs):
                order.shuffle(examples)
                for batch in minibatch(examples, 32):
                    nlp.update(batch, drop=0.1)
            return nlp

        def score(found: list[Any]) -> float:
            docs = [Example(a, b) for a, b in zip(found, documents(blank("en"), test), strict=True)]
            if pipe.endswith("ner"):
                return 100 * get_ner_prf(docs)["ents_f"]
            return 100 * Scorer.score_token_attr(docs, "tag")["tag_acc"]

        return fit, lambda nlp: list(nlp.pipe(documents(nlp, test, bare=True))), score

    rows = []
    for pipe in ("ner", "tagger"):
        theirs = measured(side(pipe, EPOCHS))
        rows += [
            cells_of(f"`{pipe}`", theirs, measured(side(f"seqpa_{pipe}", EPOCHS))),
            cells_of(
                f"`{pipe}`, seqpa without the loop", theirs, measured(side(f"seqpa_{pipe}", 0))
            ),
        ]
    told = f"From scratch on {name}: `nlp.initialize`, then {EPOCHS} epochs of `nlp.update`"
    return f"{told}; entities' F1, or the accuracy of tags.", rows


def seqeval(data: Path | None, quick: bool) -> tuple[str, list[list[str]]]:
    import random

    from seqeval import metrics, scheme

    import seqpa.evaluate

    name, train, _ = corpora(data, quick)
    gold, rng = list(map(list, train.y)), random.Random(1)
    seen = sorted({label for labels in gold for label in labels})
    found = [[k if rng.random() < 0.9 else rng.choice(seen) for k in labels] for labels in gold]

    def side(module: Any, function: str, **options: Any) -> Side:
        measure = getattr(module, function)
        score: Callable[[Any], float] = (
            (lambda report: 100 * report["micro avg"]["f1-score"])
            if options.get("output_dict")
            else (lambda value: 100 * value)
        )
        return lambda: measure, lambda made: made(gold, found, **options), score

    strict = [
        {"mode": "strict", "scheme": module.IOB2, "output_dict": True}
        for module in (scheme, seqpa.evaluate)
    ]
    rows = [
        row("`f1_score`", side(metrics, "f1_score"), side(seqpa.evaluate, "f1_score")),
        row(
            "`classification_report`, strict",
            side(metrics, "classification_report", **strict[0]),
            side(seqpa.evaluate, "classification_report", **strict[1]),
        ),
    ]
    told = f"The labels of {name}, a tenth of them changed at random; the micro-averaged F1"
    return f"{told}.", [[cells[0], "", "", "", *cells[4:]] for cells in rows]


TOOLS: dict[str, tuple[Callable[[Path | None, bool], tuple[str, list[list[str]]]], list[str]]] = {
    "sklearn-crfsuite": (sklearn_crfsuite, ["sklearn_crfsuite"]),
    "crfsuite": (crfsuite, ["pycrfsuite"]),
    "nltk": (nltk, ["nltk"]),
    "scikit-learn": (scikit_learn, ["sklearn"]),
    "spacy": (spacy, ["spacy"]),
    "seqeval": (seqeval, ["seqeval"]),
}
PACKAGES = {
    "sklearn-crfsuite": "sklearn-crfsuite",
    "crfsuite": "python-crfsuite",
    "nltk": "nltk",
    "scikit-learn": "scikit-learn",
    "spacy": "spacy",
    "seqeval": "seqeval",
}


def write(tool: str, text: str) -> None:
    """Put a table into a page, between its marks."""
    page = HERE / "docs" / f"migrating-from-{tool}.md"
    begin, end = "<!-- measured -->\n", "<!-- end of what is measured -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"{page}: has no place for the table, {begin.strip()} ... {end}")
    after = rest[rest.index(end) :]
    page.write_text(f"{before}{begin}\n{text}\n\n{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("SEQPA_DATA"))
    parser.add_argument("--quick", action="store_true", help="an eighth of the data")
    parser.add_argument("--only", choices=list(TOOLS), help="one tool")
    parser.add_argument("--write", action="store_true", help="put the tables into the pages")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for tool, (measure, needs) in TOOLS.items():
        if given.only not in (None, tool):
            continue
        missing = [name for name in needs if find_spec(name) is None]
        if missing:
            print(f"{tool}: {', '.join(missing)} is not installed, left out")
            continue
        told, rows = measure(None if given.data is None else Path(given.data), given.quick)
        text = "\n\n".join([f"{told} {machine(PACKAGES[tool])}.", table(HEAD, rows)])
        print(f"\n{tool}\n\n{text}\n", flush=True)
        if given.write:
            write(tool, text)


if __name__ == "__main__":
    main()
