"""``python -m seqpa`` is the command ``seqpa``."""

from __future__ import annotations

import sys

from seqpa.cli import main

if __name__ == "__main__":
    sys.exit(main())
