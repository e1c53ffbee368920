# SPDX-License-Identifier: Apache-2.0
"""Engines of a plan over time, and the results of sweeps, by matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._library import needing, unfit

if TYPE_CHECKING:
    from .plan import Plan
    from .sweep import Sweep


def _axes(ax: Any, size: Any, pyplot: Any) -> Any:
    """The caller's axes, or new ones."""
    if ax is None:
        return pyplot.subplots(figsize=size)[1]
    if not hasattr(ax, "imshow"):
        unfit(ax, "ax", "axes of matplotlib, as plt.subplots()[1]")
    return ax


def plot(plan: "Plan", ax: Any = None) -> Any:
    """A row for each engine, a bar for each instruction, a colour for each layer."""
    with needing("plan.plot"):
        from matplotlib import pyplot
        from matplotlib.collections import PolyCollection

    events = plan.events
    ax = _axes(ax, (12, 3), pyplot)
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


def fronts(sweep: "Sweep", x: str, y: str, by: Any, ax: Any = None) -> Any:
    """A sweep's rows as points, its fronts as lines."""
    with needing("plot_pareto"):
        from matplotlib import pyplot

    ax = _axes(ax, (7, 4.5), pyplot)
    rows = sweep.ok
    parts = list(rows.groupby(list(by), sort=False)) if by else [((), rows)]
    for number, (name, part) in enumerate(parts):
        colour = f"C{number % 10}"
        ax.scatter(part[x], part[y], s=10, alpha=0.35, color=colour, linewidths=0)
        front = sweep.pareto(x, y) if not by else part.loc[
            part.index.intersection(sweep.pareto(x, y, by=by).index)].sort_values(x)
        ax.plot(front[x], front[y], drawstyle="steps-post", marker="o", ms=4, color=colour,
                label=", ".join(str(n) for n in name) or "front")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if parts:
        ax.legend()
    return ax


def heat_map(sweep: "Sweep", value: str, x: str, y: str, ax: Any = None) -> Any:
    """The least value of the rows of each pair (x, y)."""
    with needing("heat_map"):
        import numpy
        from matplotlib import pyplot

    ax = _axes(ax, (7, 4.5), pyplot)
    # Every pair of the grid has its cell, also where no row has a plan.
    columns, rows = (sorted(sweep.frame[name].unique()) for name in (x, y))
    least = sweep.ok.groupby([y, x])[value].min()
    cells = numpy.full((len(rows), len(columns)), numpy.nan)
    for pair, found in least.items():
        place: Any = pair
        cells[rows.index(place[0]), columns.index(place[1])] = found
    image = ax.imshow(cells, aspect="auto", origin="lower", cmap="viridis_r")
    ax.set_xticks(range(len(columns)), [f"{c:g}" for c in columns], rotation=45)
    ax.set_yticks(range(len(rows)), [f"{r:g}" for r in rows])
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.figure.colorbar(image, ax=ax, label=value)
    return ax
