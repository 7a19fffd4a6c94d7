"""The `srparse` command, also as `python -m srparse`."""

import signal
import sys
from typing import NoReturn

from ._srparse import _run


def main() -> NoReturn:
    """Runs the command with the arguments of the process, and ends it."""
    # The command handles Ctrl-C itself; Python would only take note of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_run(["srparse", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
