"""Probabilities: how far they can be trusted, beside CRFsuite's marginals.

python benchmarks/calibration.py            CoNLL-2000 and the treebank sample, some minutes
python benchmarks/calibration.py --quick    a fifth of the training sentences
python benchmarks/calibration.py --write    puts the table into RESULTS.md

The corpora are found through SEQPA_DATA. All have the same features and the same training
sentences; ours fits its one scale to the last tenth of them, which is left out of its training, or
by cross-validation. Marginals of the labels that each tagger predicts, on the test part.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from time import process_time as clock
from typing import Any, NamedTuple

import numpy as np
import peers
from jobs import score
from results import machine, table, write

from seqpa import SequenceTagger
from seqpa.calibration import (
    expected_calibration_error,
    selective,
    sentence_confidence,
    span_outcomes,
    token_outcomes,
)
from seqpa.data import read
from seqpa.schemes import marks_spans

NOTES = """\
Expected calibration error (ECE) over 15 bins, of the labels' and of the spans' probabilities; the
score (span F1, or accuracy) of all sentences, and of the surest 80 and 50 %; seconds of processor
time for training with the fitting of the scale, and for the probabilities of the test part,
features included. CRFsuite: `pa` with 10 iterations, `lbfgs` with c1 = 0.1, c2 = 0.01 and 100,
through python-crfsuite, whose probabilities come label by label; it has none of spans.
"""


class Task(NamedTuple):
    name: str
    folder: str
    columns: list[str]
    features: str


TASKS = (
    Task("CoNLL-2000, chunks", "conll2000", ["word", "pos", "label"], "chunking"),
    Task("treebank sample, parts of speech", "ptb-sample", ["word", "label"], "words"),
)


def ours(task: Task, train: Any, test: Any, calibration: str) -> list[str]:
    n = 9 * len(train) // 10 if calibration == "dev" else len(train)
    tagger = SequenceTagger(
        peers.FEATURES[task.features][0],
        columns=tuple(task.columns[:-1]),
        random_state=1,
        calibration="none",
    )
    begun = clock()
    tagger.fit(train[:n])
    if calibration == "dev":
        tagger.calibrate(train[n:])
    elif calibration == "cv":
        tagger.calibrate(train, folds=5)
    trained = clock()
    told = tagger.predict_with_probability(test)
    ended = clock()
    spans = None
    if marks_spans(tagger.classes_):
        spans = tagger.predict_proba_spans(test)
    name = {"none": "scale 1", "dev": "dev set", "cv": "cross-validation"}[calibration]
    more = "" if calibration == "none" else f", scale {tagger.probability_scale_:.1f}"
    return [f"seqpa, {name}{more}", *told_of(test.y, told, spans, trained - begun, ended - trained)]


def theirs(task: Task, train: Any, test: Any, algorithm: str) -> list[str]:
    import pycrfsuite

    extract = peers.FEATURES[task.features][1]

    def features(X: list[Any]) -> list[Any]:
        return [extract([t if isinstance(t, tuple) else (t,) for t in tokens]) for tokens in X]

    parameters: dict[str, Any] = {"max_iterations": 10}
    if algorithm == "lbfgs":
        parameters = {"c1": 0.1, "c2": 0.01, "max_iterations": 100}
    begun = clock()
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params=parameters, verbose=False)
    for tokens, labels in zip(features(train.X), train.y, strict=True):
        trainer.append(tokens, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model"))
        trainer.train(path)
        trained = clock()
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        told = []
        for tokens in features(test.X):
            labels = tagger.tag(tokens)
            told.append([(label, tagger.marginal(label, t)) for t, label in enumerate(labels)])
        ended = clock()
    name = "pa" if algorithm == "passive-aggressive" else algorithm
    return [f"CRFsuite, `{name}`", *told_of(test.y, told, None, trained - begun, ended - trained)]


def told_of(gold: Any, told: Any, spans: Any, training: float, telling: float) -> list[str]:
    predicted = [[label for label, _ in own] for own in told]
    probabilities, right = token_outcomes(gold, told)
    # CRFsuite's sums may leave the range a little.
    error = expected_calibration_error(np.clip(probabilities, 0, 1), right)
    of_spans = (
        "" if spans is None else f"{expected_calibration_error(*span_outcomes(gold, spans)):.4f}"
    )
    curve = selective(gold, predicted, sentence_confidence(told), points=10)
    return [
        f"{error:.4f}",
        of_spans,
        f"{score(gold, predicted):.2f}",
        f"{100 * curve[7].score:.2f}",
        f"{100 * curve[4].score:.2f}",
        f"{training:.1f}",
        f"{telling:.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    folder = os.environ.get("SEQPA_DATA")
    if folder is None:
        raise SystemExit("name the folder of the corpora with SEQPA_DATA")
    command = "SEQPA_DATA=DIR python benchmarks/calibration.py"
    parts = [f"`{command}` on {machine('seqpa', 'python-crfsuite')}.", NOTES]
    for task in TASKS:
        if not Path(folder, task.folder).is_dir():
            print(f"{task.name}: left out, there is no {Path(folder, task.folder)}", flush=True)
            continue
        train, test = (
            read(Path(folder, task.folder, f"{part}.txt"), columns=task.columns)
            for part in ("train", "test")
        )
        train = train[::5] if options.quick else train
        lines = [ours(task, train, test, how) for how in ("none", "dev", "cv")]
        lines += [theirs(task, train, test, how) for how in ("passive-aggressive", "lbfgs")]
        head = ["", "ECE", "ECE of spans", "score", "surest 80 %", "50 %", "train, s", "tell, s"]
        parts.append(f"### {task.name}\n\n{table(head, lines)}")
        print(parts[-1], flush=True)
    if options.write:
        write("Probabilities", "\n\n".join(parts))


if __name__ == "__main__":
    main()
