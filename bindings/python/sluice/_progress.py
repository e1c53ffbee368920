# SPDX-License-Identifier: Apache-2.0
"""progress=True: a bar by tqdm where it is installed, a line on a terminal where it is not."""
from __future__ import annotations

import sys
import time
from typing import Any, Callable, List, Optional, Tuple


def _unit(exponents: Tuple[int, int]) -> str:
    """Of energy^n * delay^m: "pJ x cycles"."""
    n, m = exponents if exponents != (0, 0) else (1, 1)
    return " x ".join(name if power == 1 else f"{name}^{power}"
                      for name, power in (("pJ", n), ("cycles", m)) if power)


def bar(most: Optional[int], deadline: Optional[float], exponents: Tuple[int, int]
        ) -> Tuple[Callable[[int, Optional[float]], Any], Callable[[], Any]]:
    """The progress callback, and the function that ends the display. It goes to its end with
    `most` iterations, else with the deadline's seconds; without both there is no end to show."""
    unit = _unit(exponents)

    def said(cost: Optional[float]) -> str:
        return "no plan yet" if cost is None else f"best {cost:.4g} {unit}"

    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _line(most, said)
    begin = time.monotonic()
    first: List[bool] = []

    def write(display: Any, text: str, cost: Optional[float]) -> None:
        # tqdm draws ten times a second; the first plan is shown at once.
        display.set_postfix_str(text, refresh=cost is not None and not first)
        if cost is not None and not first:
            first.append(True)

    if deadline is not None and not most:
        timed = tqdm(total=round(deadline, 2), leave=False,
                     bar_format="{l_bar}{bar}| {n:.1f}/{total_fmt} s{postfix}")

        def tell_time(iterations: int, cost: Optional[float]) -> None:
            write(timed, f"{iterations} iterations, {said(cost)}", cost)
            timed.update(min(time.monotonic() - begin, timed.total) - timed.n)

        return tell_time, timed.close
    shown = tqdm(total=most or None, unit=" iterations", leave=False)

    def tell(iterations: int, cost: Optional[float]) -> None:
        write(shown, said(cost), cost)
        shown.update(iterations - shown.n)

    return tell, shown.close


def _line(most: Optional[int], said: Callable[[Optional[float]], str]
          ) -> Tuple[Callable[[int, Optional[float]], Any], Callable[[], Any]]:
    if not sys.stderr.isatty():
        return (lambda iterations, cost: None), (lambda: None)
    last = [time.monotonic()]
    of = f" of {most}" if most else ""

    def tell(iterations: int, cost: Optional[float]) -> None:
        if time.monotonic() - last[0] > 0.2:
            last[0] = time.monotonic()
            sys.stderr.write(f"\r\033[K{iterations}{of} iterations, {said(cost)} ")

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
