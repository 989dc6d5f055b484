"""How good predictions are: accuracy, spans, confusions, cost, and whether a difference is real.

Pure functions of label lists. `evaluate` counts everything once; `compare` tests whether two
predictions really differ; `span_f1_scorer` and its kin go into scikit-learn's searches;
`classification_report`, `f1_score` and the others with scikit-learn's names are seqeval's, to the
digit.
"""

from __future__ import annotations

from seqpa.evaluate.comparison import METRICS, Comparison, compare, compare_all
from seqpa.evaluate.resampling import Interval, intervals
from seqpa.evaluate.scorers import label_f1_scorer, sentence_accuracy_scorer, span_f1_scorer
from seqpa.evaluate.scores import (
    Cost,
    Evaluation,
    LabelLists,
    Score,
    conlleval_text,
    evaluate,
    span_scores,
    spans_apart,
)
from seqpa.evaluate.seqeval import (
    BILOU,
    IOB1,
    IOB2,
    IOBES,
    IOE1,
    IOE2,
    accuracy_score,
    classification_report,
    f1_score,
    performance_measure,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
)

__all__ = [
    "BILOU",
    "IOB1",
    "IOB2",
    "IOBES",
    "IOE1",
    "IOE2",
    "METRICS",
    "Comparison",
    "Cost",
    "Evaluation",
    "Interval",
    "LabelLists",
    "Score",
    "accuracy_score",
    "classification_report",
    "compare",
    "compare_all",
    "conlleval_text",
    "evaluate",
    "f1_score",
    "intervals",
    "label_f1_scorer",
    "performance_measure",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "sentence_accuracy_scorer",
    "span_f1_scorer",
    "span_scores",
    "spans_apart",
]
