"""One epoch of training in one line: for logs, terminals and ``fit(verbose=1)``."""

from __future__ import annotations

from seqpa.sequence.learner import Epoch


def epoch_line(epoch: Epoch, epochs: int) -> str:
    """One epoch in words.

    Parameters
    ----------
    epoch : Epoch
        What was counted and measured.
    epochs : int
        How many there are to be.

    Returns
    -------
    str
        Its number, the loss of a sentence, the share of wrong tokens, the dev score with the name
        of its metric, speed, time.

    Examples
    --------
    >>> epoch_line(Epoch(10, 80, 4, 6, 4, 6.0, 2.5, 2.0, seconds=0.01), 5)
    'epoch 1/5  loss   0.2500  mistakes   7.50 %  8,000 tokens/s  0.01 s'
    """
    width = len(str(epochs))
    dev = "" if epoch.dev_score is None else f"  dev {epoch.dev_metric} {percent(epoch.dev_score)}"
    mark = "  best" if epoch.best and epoch.dev_score is not None else ""
    loss = epoch.loss / max(epoch.sentences, 1)
    return (
        f"epoch {epoch.number:>{width}}/{epochs}  loss {loss:8.4f}  "
        f"mistakes {100 * epoch.wrong_tokens / max(epoch.tokens, 1):6.2f} %{dev}  "
        f"{epoch.tokens_per_second:,.0f} tokens/s  {epoch.seconds:.2f} s{mark}"
    )


def percent(score: float) -> str:
    """A fraction as a percentage of two digits.

    Parameters
    ----------
    score : float

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.90514)
    '90.51'
    """
    return f"{100 * score:.2f}"
