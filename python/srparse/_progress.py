"""Progress of batches on standard error."""

import sys
import time
from typing import Callable, Optional, Union

Progress = Callable[[int, Optional[int]], object]

INTERVAL = 0.2


def callback(given: Union[bool, Progress, None]) -> Optional[Progress]:
    """The function that `progress` stands for."""
    if given is True:
        return line()
    if given is None or given is False:
        return None
    if not callable(given):
        raise TypeError(f"progress is {given!r}: give True, False or a function of two numbers")
    return given


def line() -> Progress:
    """A line that is written over until all is done."""
    start = last = time.monotonic()

    def report(done: int, total: Optional[int]) -> None:
        nonlocal last
        now = time.monotonic()
        if done != total and now - last < INTERVAL:
            return
        last = now
        of = "" if total is None else f" of {total}"
        end = "\n" if done == total else ""
        rate = done / max(now - start, 1e-9)
        sys.stderr.write(f"\r{done}{of} sentences, {rate:.0f}/s{end}")
        sys.stderr.flush()

    return report
