# SPDX-License-Identifier: Apache-2.0
"""Sweeps: many networks on many machines, on any executor."""
from __future__ import annotations

import csv
import html
import math
import numbers
import os
import pathlib
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple
from typing import Union

from ._journal import Journal
from ._library import expect, listed, needing, path_of, whole
from ._running import Running, cores
from ._work import RESULTS, Task, plan_points
from .graph import Path
from .grid import Point, digest, key_of, points_of, shard_of
from .machine import Machine

if TYPE_CHECKING:
    import pandas

# What an accelerator's area is: a function of the machine, or coefficients (area_of).
Area = Union[Callable[[Machine], float], Mapping[str, Any]]


def area_of(machine: Machine, area: Area) -> float:
    """The area by a function, or by coefficients in one unit of yours: "fixed", "per_mac",
    "per_vector_op" (of one node, per operation of a cycle), "per_byte" (of the scratchpad, or a
    dictionary by names of levels, which counts all their instances)."""
    expect(machine, Machine, "machine", "a sluice.Machine")
    if callable(area):
        found = area(machine)
        expect(found, numbers.Real, "area: what the function gives", "a number")
        return _finite(found, machine)
    expect(area, Mapping, "area", 'a function f(machine), or coefficients {"per_mac": 1.5}')
    unknown = set(area) - {"fixed", "per_mac", "per_vector_op", "per_byte"}
    if unknown:
        raise ValueError(f"area: there is no coefficient {', '.join(map(str, unknown))}; there "
                         "are fixed, per_mac, per_vector_op and per_byte")
    for name, cost in area.items():
        levels = cost if isinstance(cost, Mapping) and name == "per_byte" else {"": cost}
        for level, value in levels.items():
            expect(value, numbers.Real, f"area: {name} {level}".strip(), "a number")
    total = (area.get("per_mac", 0) * machine.macs_per_cycle
             + area.get("per_vector_op", 0) * machine.vector_ops_per_cycle)
    per_byte = area.get("per_byte", 0)
    if isinstance(per_byte, Mapping):
        sizes = {level["name"]: level["capacity_bytes"] * level["instances"]
                 for level in machine.to_dict()["levels"]}
        for name in per_byte:
            if name not in sizes:
                raise ValueError(f"area: per_byte: the machine {machine.name} has no level {name}; "
                                 f"there are {', '.join(sizes)}")
        total += sum(cost * sizes[name] for name, cost in per_byte.items())
    else:
        total += per_byte * machine.scratchpad_bytes
    return _finite(area.get("fixed", 0) + total * machine.nodes, machine)


def _finite(area: Any, machine: Machine) -> float:
    """Refuses an area that no front could hold."""
    if not math.isfinite(area):
        raise ValueError(f"area: {area!r} of the machine {machine.name} is no finite number")
    return float(area)


class Sweep:
    """The results of a sweep: a row for each point of the grid, in its order."""

    def __init__(self, rows: List[Dict[str, Any]], axes: Sequence[str], computed: int,
                 seconds: float) -> None:
        self.rows = rows
        self.columns = _columns(axes)
        self.axes = tuple(axes)  # columns that differ from point to point or name it
        self.computed = computed  # points planned by this call; the others were known
        self.seconds = seconds

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def frame(self) -> "pandas.DataFrame":
        """All rows as a pandas frame."""
        with needing("the frame of a sweep"):
            import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    @property
    def ok(self) -> "pandas.DataFrame":
        """The rows that have a plan."""
        return self.frame[self.frame.status == "ok"]

    def to_csv(self, path: Path) -> None:
        """A CSV file; numbers keep every digit."""
        with open(path_of(path), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)

    def to_parquet(self, path: Path) -> None:
        """A Parquet file, by pyarrow."""
        with needing("to_parquet"):
            import pyarrow
            from pyarrow import parquet

        path = path_of(path)
        columns = {name: pyarrow.array([row[name] for row in self.rows])
                   for name in self.columns}
        parquet.write_table(pyarrow.table(columns), str(path))

    def pareto(self, *columns: str, by: Sequence[str] = ()) -> "pandas.DataFrame":
        """The Pareto front: the rows that no other row dominates in these columns
        (latency_cycles and energy_pj where none are named), sorted by the first. `by` makes
        a front for each of its values."""
        wanted = self._known(columns or ("latency_cycles", "energy_pj"))
        by = self._known(by, "by")
        found = self.ok.dropna(subset=wanted)
        if by:
            import pandas

            fronts = [_front(part, wanted) for _, part in found.groupby(list(by), sort=False)]
            return pandas.concat(fronts) if fronts else found
        return _front(found, wanted)

    def _known(self, columns: Any, what: str = "columns") -> List[str]:
        """These columns; refuses those that there are not."""
        columns = listed(columns, what, 'a list of columns, as ["network"]')
        there = list(self.frame.columns)  # a program may have added some
        for name in columns:
            if not isinstance(name, str) or name not in there:
                raise ValueError(f"no column {name!r}; there are {', '.join(there)}")
        return list(columns)

    def plot_pareto(self, x: str = "latency_cycles", y: str = "energy_pj", *,
                    by: Sequence[str] = (), ax: Any = None) -> Any:
        """All rows as points and the front as a line, by matplotlib; the axes."""
        from ._plot import fronts

        by = self._known(by, "by")
        self._known((x, y))
        return fronts(self, x, y, by, ax)

    def heat_map(self, value: str = "edp", *, x: str = "dram_bytes_per_cycle",
                 y: str = "buffer_bytes", ax: Any = None) -> Any:
        """A cell for each pair of x and y, by matplotlib, with the least value of all rows
        that have the pair; cells without a plan stay empty. The axes."""
        from ._plot import heat_map

        self._known((value, x, y))
        return heat_map(self, value, x, y, ax)

    def best(self, column: str = "edp", by: Optional[Sequence[str]] = None
             ) -> "pandas.DataFrame":
        """The row with the least of a column, for each network and batch where points are named
        by these."""
        found = self.ok.dropna(subset=self._known([column]))
        if by is not None:
            by = self._known(by, "by")
        else:
            by = [name for name in ("network", "batch") if name in self.axes]
        if not by or found.empty:
            return found.sort_values(column, kind="stable").head(1)
        return found.loc[found.groupby(list(by), sort=False)[column].idxmin()]

    def _counts(self) -> str:
        kinds: Dict[str, int] = {}
        for row in self.rows:
            kinds[row["status"]] = kinds.get(row["status"], 0) + 1
        return ", ".join(f"{count} {kind}" for kind, count in kinds.items())

    def __repr__(self) -> str:
        return (f"<sluice.Sweep: {len(self.rows)} points ({self._counts()}), {self.computed} of "
                f"them planned in {self.seconds:.2f} s>")

    def _repr_html_(self) -> str:
        caption = f"<p>{html.escape(repr(self)[1:-1])}</p>"
        try:
            table: str = (self.best() if self.ok.size else self.frame).to_html(max_rows=20)
        except ModuleNotFoundError:  # of pandas: a notebook shows what there is
            return caption
        return caption + table


def _front(rows: "pandas.DataFrame", columns: Sequence[str]) -> "pandas.DataFrame":
    """Rows that no row dominates, that is, is at most equal in all columns and lower in one."""
    import numpy

    rows = rows.sort_values(list(columns), kind="stable")
    values = rows[list(columns)].to_numpy(dtype=float)
    kept: List[int] = []
    for i, value in enumerate(values):  # sorted: only earlier rows can dominate
        front = values[kept]
        better = (front <= value).all(axis=1) & (front < value).any(axis=1)
        if not numpy.any(better):
            kept.append(i)
    return rows.iloc[kept]


class _Plan:
    """Points, their keys, and jobs for the points whose results are not known yet."""

    def __init__(self, points: Sequence[Point], known: Mapping[str, Any]) -> None:
        self.points = points
        self.graphs: Dict[str, bytes] = {}
        self.tasks: Dict[str, Task] = {}
        self.keys: List[str] = []
        of_graph: Dict[int, str] = {}
        for point in points:
            graph = of_graph.get(id(point.graph))
            if graph is None:
                data = point.graph.to_bytes()
                graph = of_graph[id(point.graph)] = digest(data)
                self.graphs[graph] = data
            machine = point.machine.to_bytes()
            key = key_of(graph, digest(machine), point.options)
            self.keys.append(key)
            if key not in known and key not in self.tasks:
                self.tasks[key] = (key, graph, machine, dict(point.options))

    def size_of_a_job(self, size: Optional[int], workers: int) -> int:
        """Few points to a job, so that little is lost with a worker and all end together;
        more where there are many, so that nobody waits for the next."""
        return size or max(1, min(16, len(self.tasks) // (workers * 8)))

    def bytes_of_a_job(self, size: int) -> int:
        """About: a graph, and a machine for each point."""
        some = next(iter(self.tasks.values()))
        return max(map(len, self.graphs.values())) + size * len(some[2])

    def jobs(self, size: int) -> List[List[Task]]:
        """The points that a worker gets at a time."""
        tasks = list(self.tasks.values())
        return [tasks[at:at + size] for at in range(0, len(tasks), size)]

    def submit(self, executor: Any, tasks: Sequence[Task]) -> Any:
        graphs = {graph: self.graphs[graph] for _, graph, _, _ in tasks}
        return executor.submit(plan_points, graphs, list(tasks))


def _columns(axes: Sequence[str]) -> List[str]:
    """The columns of a table, in its order; those of axes first."""
    return list(dict.fromkeys((*axes, "buffer_bytes", "dram_bytes_per_cycle", "macs_per_cycle",
                               "nodes", "area", *RESULTS, "key")))


def _row(point: Point, key: str, result: Mapping[str, Any], axes: Sequence[str],
         area: Optional[float]) -> Dict[str, Any]:
    row: Dict[str, Any] = {name: point.axes.get(name) for name in axes}
    row.setdefault("buffer_bytes", None)
    row.setdefault("dram_bytes_per_cycle", None)
    machine = point.machine
    for name, value in (("buffer_bytes", machine.scratchpad_bytes),
                        ("dram_bytes_per_cycle", machine.dram_bytes_per_cycle)):
        if row[name] is None:
            row[name] = value
    row.update(macs_per_cycle=machine.macs_per_cycle, nodes=machine.nodes, area=area)
    row.update((name, result.get(name)) for name in RESULTS)
    row["key"] = key
    return row


def _axes(points: Sequence[Point]) -> List[str]:
    return list(dict.fromkeys(name for point in points for name in point.axes))


def sweep(grid: Any, executor: Any = None, *, workers: Optional[int] = None,
          journal: Union[Path, Sequence[Path], None] = None, shard: Any = None,
          area: Optional[Area] = None, progress: Union[bool, Callable[..., Any]] = False,
          chunk: Optional[int] = None, retries: int = 3) -> Sweep:
    """Plans every point of a grid. Equal points are planned once; the results, but for
    plan_seconds, are the same on every executor.

    grid      a dictionary with the keys of `sluice dse` (a list is an axis), or its JSON file,
              or a list of Point. "networks": zoo names, files, Graphs, {"name": graph};
              "hardware": presets, files, Machines, {"name": machine}; beside these "batch",
              "seq", "context", "blocks", "buffer_bytes", "dram_bytes_per_cycle", "set"
              ({"macs_per_cycle": [...], "DRAM.read_pj_per_bit": [...]}), "solver",
              "objective", "iterations", "seed", "granularity"
    executor  None: processes of this machine, `workers` of them (all cores); any
              concurrent.futures.Executor; a Dask client; a pool with apply_async (Ray); or a
              function that makes one of the executors, which is called again when all its
              workers were lost
    journal   a file that each result is added to as soon as it is there; started again, the
              sweep goes on from it. Of a list the first is written and all are read
    shard     "2/8": the second of eight equal parts; with a journal for each, a sweep of the
              whole with all journals puts the parts together
    area      f(machine), or coefficients: {"per_mac": .., "per_byte": .., "fixed": ..}
    progress  True: a bar by tqdm where installed; or f(done, total)
    chunk     points that a worker gets at a time
    retries   how often a point is given out again after its worker was lost; beyond that its
              status is "lost"
    """
    for name, number, least in (("workers", workers, 1), ("chunk", chunk, 1),
                                ("retries", retries, 0)):
        if number is not None or name == "retries":
            whole(number, name, least)
    if progress is not None:
        expect(progress, (bool, Callable), "progress", "True or a function f(done, total)")
    begin, points = time.monotonic(), points_of(grid)
    axes, part = _axes(points), shard_of(shard)  # the columns of a shard are the grid's
    if part is not None:
        points = points[part[0] - 1::part[1]]
    areas: Dict[int, Optional[float]] = {}  # by machine; before the work, which would be lost
    for point in points:
        areas[id(point.machine)] = None if area is None else area_of(point.machine, area)
    paths = _files(journal)
    book = Journal(paths)
    try:
        plan = _Plan(points, book.known)
        lost = _run(plan, book, executor, workers, progress, chunk, retries)
    finally:
        book.close()
    known = {**book.known, **lost}
    rows = [_row(point, key, known[key], axes, areas[id(point.machine)])
            for point, key in zip(points, plan.keys)]
    return Sweep(rows, axes, len(plan.tasks), time.monotonic() - begin)


def _files(journal: Any) -> List[str]:
    """The names of journals."""
    right = "a file or a list of files"
    names = [journal] if isinstance(journal, (str, os.PathLike)) else listed(
        [] if journal is None else journal, "journal", right)
    return [os.fspath(path_of(name, "journal", right)) for name in names]


def _run(plan: _Plan, book: Journal, executor: Any, workers: Optional[int],
         progress: Union[bool, Callable[..., Any]], chunk: Optional[int],
         retries: int) -> Dict[str, Dict[str, Any]]:
    """Results that are not stored in the journal, because another run may succeed."""
    others: Dict[str, Dict[str, Any]] = {}
    if not plan.tasks:
        return others
    tell, close = _progress(progress, len(plan.tasks))
    count = [0]

    def done(tasks: Sequence[Task], results: Sequence[Dict[str, Any]]) -> None:
        named: List[Tuple[str, Dict[str, Any]]] = [(t[0], r) for t, r in zip(tasks, results)]
        book.add((k, r) for k, r in named if r["status"] in ("ok", "infeasible"))
        others.update((k, r) for k, r in named if r["status"] not in ("ok", "infeasible"))
        count[0] += len(tasks)
        tell(count[0], len(plan.tasks))

    def lost(task: Task, error: BaseException) -> None:
        found: Dict[str, Any] = dict.fromkeys(RESULTS)
        found.update(status="lost", message=f"{type(error).__name__}: {error}")
        done([task], [found])

    try:
        size = plan.size_of_a_job(chunk, workers or cores())
        running = Running(executor, workers, submit=plan.submit, done=done, lost=lost,
                          retries=retries, job_bytes=plan.bytes_of_a_job(size))
        running.run(plan.jobs(size))
    finally:
        close()
    return others


def _progress(progress: Any, total: int) -> Tuple[Callable[..., Any], Callable[[], Any]]:
    if progress is True:
        from ._progress import points

        return points(total)
    if callable(progress):
        return progress, lambda: None
    return (lambda done, total: None), (lambda: None)
