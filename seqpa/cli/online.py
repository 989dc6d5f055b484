"""``seqpa train --online``: one pass over a file or standard input, with scores on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqpa.cli.screen import screen
from seqpa.config import Config

if TYPE_CHECKING:
    from seqpa.online_run import Progress


def learn_online(config: Config, force: bool, full: bool = False) -> None:
    """Learn from one sentence after another; Ctrl-C ends it and keeps what was learned.

    Parameters
    ----------
    config : Config
        What is trained, on what, and what is written.
    force : bool
        Replace what another training left.
    full : bool
        Print all scores at the end.
    """
    from seqpa.evaluate.summary import details, headline
    from seqpa.online_run import OnlineRun

    run = OnlineRun(config, force=force)
    try:
        for note in run.notes:
            screen().note(note)
        try:
            for part in run.parts():
                screen().note(progress_line(part))
        except KeyboardInterrupt:
            screen().note("\nstopped; what was learned is kept")
        except SystemExit:  # asked to end: what was learned is kept
            run.finish()
            raise
        outcome = run.finish()
    finally:
        run.close()
    for name, evaluation in (("dev", outcome.dev), ("test", outcome.test)):
        if evaluation is not None:
            print(f"\n{name} {headline(evaluation)}\n{details(evaluation)}")
            if full:
                print(f"\n{evaluation.table()}")
    screen().note(f"\nmodel written to {outcome.model}")


def progress_line(part: Progress) -> str:
    """What was seen so far, in words.

    Parameters
    ----------
    part : Progress

    Returns
    -------
    str
        Sentences, accuracy since the beginning and in the last part, loss of a sentence, speed.
    """
    return (
        f"{part.sentences:>9,} sentences  accuracy {100 * part.accuracy:6.2f} %  "
        f"lately {100 * part.recent_accuracy:6.2f} %  "
        f"loss {part.loss / max(part.sentences, 1):8.4f}  "
        f"{part.labels / max(part.seconds, 1e-9):,.0f} tokens/s"
    )
