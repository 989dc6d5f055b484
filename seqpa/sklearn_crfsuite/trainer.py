"""The trainer that prints a line for each iteration, and a table at the end."""

from __future__ import annotations

from typing import Any

from seqpa.pycrfsuite import Trainer


class LinePerIterationTrainer(Trainer):
    """Prints one line for each iteration, with how well held-out sequences are tagged."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Print the line.

        Parameters
        ----------
        log : str
            The lines of CRFsuite's own log, which are left out.
        info : dict
            What they tell.
        """
        line = f"Iter {info['num']:<3}  time={info['time']:<5.2f}  loss={info['loss']:<8.2f}"
        if "avg_f1" in info:
            line += (
                f"  precision={info['avg_precision']:0.3f}  recall={info['avg_recall']:0.3f}"
                f"  F1={info['avg_f1']:0.3f}  Acc(item/seq)={info['item_accuracy_float']:0.3f}"
                f" {info['instance_accuracy_float']:0.3f}"
            )
        print(line.rstrip())

    def on_optimization_end(self, log: str) -> None:
        """Print the scores of the labels, where sequences were held out.

        Parameters
        ----------
        log : str
            The lines since the last call.
        """
        last = self.logparser.last_iteration if self.logparser is not None else None
        scores = last["scores"] if last else {}
        if scores:
            width = max(len("Label"), *map(len, scores))
            head = f"{'Label':<{width}}  Precision  Recall     F1  Support"
            print("=" * len(head), head, "-" * len(head), sep="\n")
            for label, score in sorted(scores.items()):
                shares = [share or 0.0 for share in (score.precision, score.recall, score.f1)]
                print(
                    f"{label:<{width}}  {shares[0]:>9.3f}  {shares[1]:>6.3f}  {shares[2]:>5.3f}"
                    f"  {score.ref:>7}"
                )
            print("-" * len(head))
        super().on_optimization_end(log)
