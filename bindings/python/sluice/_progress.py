# SPDX-License-Identifier: Apache-2.0
"""progress=True: a bar by tqdm where it is installed, a line on a terminal where it is not."""
from __future__ import annotations

import sys
import time
from typing import Any, Callable, Tuple


def bar() -> Tuple[Callable[[int, float], Any], Callable[[], Any]]:
    """The progress callback, and the function that ends the display."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _line()
    shown = tqdm(unit=" iterations", leave=False)

    def tell(iterations: int, cost: float) -> None:
        shown.set_postfix_str(f"cost {cost:.4g}", refresh=False)
        shown.update(iterations - shown.n)

    return tell, shown.close


def _line() -> Tuple[Callable[[int, float], Any], Callable[[], Any]]:
    if not sys.stderr.isatty():
        return (lambda iterations, cost: None), (lambda: None)
    last = [time.monotonic()]

    def tell(iterations: int, cost: float) -> None:
        if time.monotonic() - last[0] > 0.2:
            last[0] = time.monotonic()
            sys.stderr.write(f"\r{iterations} iterations, cost {cost:.4g} ")

    return tell, lambda: sys.stderr.write("\r\033[K")


def points(total: int) -> Tuple[Callable[[int, int], Any], Callable[[], Any]]:
    """The progress callback of a sweep's points, and the function that ends the display."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if not sys.stderr.isatty():
            return (lambda done, total: None), (lambda: None)
        begin = time.monotonic()

        def line(done: int, total: int) -> None:
            left = (time.monotonic() - begin) / done * (total - done)
            sys.stderr.write(f"\r\033[K{done}/{total} points, {left:.0f} s left")

        return line, lambda: sys.stderr.write("\r\033[K")
    shown = tqdm(total=total, unit=" points", leave=False)
    return (lambda done, total: shown.update(done - shown.n)), shown.close
