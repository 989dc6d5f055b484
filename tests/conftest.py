"""The same examples in every run, on any machine, however busy it is; and no time that is lost."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# Most laws are drawn for several settings each; SEQPA_EXAMPLES=1000 draws more for all of them.
DRAWS = int(os.environ.get("SEQPA_EXAMPLES", "50"))
settings.register_profile(
    "seqpa",
    derandomize=True,
    deadline=None,
    max_examples=DRAWS,
    suppress_health_check=[HealthCheck.too_slow],  # of which a busy machine decides
)
settings.load_profile("seqpa")

# Hundreds of processes are started: what one of them has compiled, the next need not compile again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Whether there is colour, and how wide a screen is, is what tests say; not what a user's shell or a
# machine that builds says, to which the libraries of the command line listen.
for name in (
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE"),
    *("TTY_INTERACTIVE", "GITHUB_ACTIONS", "TERMINAL_WIDTH", "COLUMNS", "LINES"),
    *("JUPYTER_COLUMNS", "JUPYTER_LINES", "PYTHONUNBUFFERED", "SEQPA_TOKEN"),
):
    os.environ.pop(name, None)
os.environ["TERM"] = "xterm"

# A shell that runs the tests in the background, and nohup, have signals ignored. Processes that are
# started here would inherit that, and they are to be ended by these signals.
if threading.current_thread() is threading.main_thread():
    for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One more than there are cores: there is always a test that waits for a process or a page."""
    found = yield
    return found if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else found + 1


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the garbage collector the modules and tests, which it would go through every time."""
    gc.collect()
    gc.freeze()
