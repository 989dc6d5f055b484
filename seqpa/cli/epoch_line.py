"""The line that ``seqpa train`` prints for an epoch, on a terminal and in a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
        Its number, the loss of a sentence, the share of wrong tokens, the dev score, speed, time.
    """
    width = len(str(epochs))
    dev = "" if epoch.dev_score is None else f"  dev {100 * epoch.dev_score:6.2f} %"
    mark = "  best" if epoch.best and epoch.dev_score is not None else ""
    loss = epoch.loss / max(epoch.sentences, 1)
    return (
        f"epoch {epoch.number:>{width}}/{epochs}  loss {loss:8.4f}  "
        f"mistakes {100 * epoch.wrong_tokens / max(epoch.tokens, 1):6.2f} %{dev}  "
        f"{epoch.tokens_per_second:,.0f} tokens/s  {epoch.seconds:.2f} s{mark}"
    )
