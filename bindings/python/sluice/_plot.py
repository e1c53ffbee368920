# SPDX-License-Identifier: Apache-2.0
"""Engines of a plan over time, by matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plan import Plan


def plot(plan: "Plan", ax: Any = None) -> Any:
    """A row for each engine, a bar for each instruction, a colour for each layer."""
    from matplotlib import pyplot
    from matplotlib.collections import PolyCollection

    events = plan.events
    if ax is None:
        _, ax = pyplot.subplots(figsize=(12, 3))
    engines = list(dict.fromkeys(events.engine))
    colours = pyplot.get_cmap("tab20")
    for row, engine in enumerate(engines):
        of = events[events.engine == engine]
        boxes = [[(s, row - 0.4), (e, row - 0.4), (e, row + 0.4), (s, row + 0.4)]
                 for s, e in zip(of.start, of.end)]
        ax.add_collection(PolyCollection(boxes, facecolors=[colours(x % 20) for x in of.layer],
                                         linewidths=0))
    ax.set_yticks(range(len(engines)), engines)
    ax.set_ylim(len(engines) - 0.5, -0.5)
    ax.set_xlim(0, plan.report.latency_cycles)
    ax.set_xlabel("cycles")
    graph, machine = plan._made_for()
    ax.set_title(f"{machine.name}: {plan.report.latency_cycles:,} cycles")
    return ax
