# SPDX-License-Identifier: Apache-2.0
"""Planning: schedule, reschedule, curve, and the options that they share."""
from __future__ import annotations

import dataclasses
import numbers
import threading
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple
from typing import TypedDict, Union

from ._library import Cancel, check, choose, context, diagnostic, exponents, ffi, interruptible
from ._library import expect, flag, flags, lib, listed, nanoseconds, own, record, same_length, unfit
from ._library import struct, whole
from .graph import NO_INDEX, Graph, Path, graph_of
from .machine import Machine, machine_of
from .plan import Plan

Objective = Union[str, Tuple[int, int]]
# Output box N H W K and input channels of a tile of a layer -> cycles, or (cycles, energy_pj),
# or (cycles, energy_pj, scratchpad_pj); None: not known.
TileCost = Callable[[int, Tuple[int, int, int, int], int], Any]
Progress = Callable[[int, Optional[float]], Any]  # iterations, cost of the best plan so far
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .cache import PlanCache


class ScheduleOptions(TypedDict, total=False):
    """The options that the planning functions share; schedule() explains them."""

    solver: Union[str, int]
    scratchpad_bytes: Optional[int]
    deadline: Optional[float]
    max_iterations: Optional[int]
    seed: int
    objective: Optional[Objective]
    granularity: str
    max_block_cycles: Optional[int]
    resume: Optional[Plan]
    tile_cost: Optional[TileCost]
    tile_rows: Optional[Mapping[Tuple[Any, ...], Any]]
    tile_bound: Optional[TileCost]
    progress: Union[bool, Progress, None]
    executor: Optional[Executor]


def known_options(given: Mapping[str, Any]) -> None:
    """Refuses options that there are not."""
    unknown = [name for name in given if name not in ScheduleOptions.__annotations__]
    if unknown:
        raise TypeError(f"there is no option {', '.join(map(repr, unknown))}; there are "
                        f"{', '.join(ScheduleOptions.__annotations__)}")


class Options:
    """sluice_schedule_options_t, with the objects that its callbacks use during a call."""

    def __init__(self, solver: Union[str, int] = "default",
                 scratchpad_bytes: Optional[int] = None, deadline: Optional[float] = None,
                 max_iterations: Optional[int] = None, seed: int = 0,
                 objective: Optional[Objective] = "edp", granularity: str = "tile",
                 max_block_cycles: Optional[int] = None, resume: Optional[Plan] = None,
                 tile_cost: Optional[TileCost] = None,
                 tile_rows: Optional[Mapping[Tuple[Any, ...], Any]] = None,
                 tile_bound: Optional[TileCost] = None,
                 progress: Union[bool, Progress, None] = None,
                 executor: Optional[Executor] = None, **unknown: Any) -> None:
        known_options(unknown)
        n, m = (0, 0) if objective is None else exponents(objective)
        for name, number in (("scratchpad_bytes", scratchpad_bytes), ("seed", seed),
                             ("max_iterations", max_iterations),
                             ("max_block_cycles", max_block_cycles)):
            if number is not None:
                whole(number, name)
        self.struct = struct(
            "sluice_schedule_options_t", solver=choose(solver, "SOLVER", "solver"),
            scratchpad_bytes=scratchpad_bytes or 0, deadline_ns=nanoseconds(deadline),
            max_iterations=max_iterations or 0, seed=seed, energy_exponent=n,
            delay_exponent=m, max_block_cycles=max_block_cycles or 0,
            granularity=choose(granularity, "GRANULARITY", "granularity"))
        # The options that decide on the plan, for caches; None: one of them has no stable name.
        self.key: Optional[Tuple[Any, ...]] = (
            self.struct.solver, scratchpad_bytes or 0, max_iterations or 0, seed, n, m,
            max_block_cycles or 0, self.struct.granularity)
        if (tile_cost is not None or tile_rows is not None or tile_bound is not None
                or resume is not None
                or deadline is not None):
            self.key = None
        self.raised: Optional[BaseException] = None
        self._keep: List[Any] = []
        self._close: Optional[Callable[[], None]] = None
        self._threads = False
        if resume is not None:
            expect(resume, Plan, "resume", "a sluice.Plan")
            self.struct.resume = resume._handle
        if tile_rows is not None:
            expect(tile_rows, Mapping, "tile_rows",
                   "a dictionary {(layer, (n, h, w, k), channels): cycles}")
            self._set_rows(tile_rows)
        if tile_cost is not None:
            expect(tile_cost, Callable, "tile_cost", "a function f(layer, extent, channels)")
            self.struct.tile_cost = self._asked(tile_cost)
        if tile_bound is not None:
            expect(tile_bound, Callable, "tile_bound", "a function f(layer, extent, channels)")
            self.struct.tile_bound = self._asked(tile_bound)
        if progress is not None and progress is not False:
            expect(progress, (bool, Callable), "progress",
                   "True or a function f(iterations, cost)")
            self._set_progress(progress, max_iterations, deadline)
        if executor is not None:
            if not callable(getattr(executor, "map", None)) or isinstance(executor, type):
                unfit(executor, "executor", "a concurrent.futures.ThreadPoolExecutor(4)")
            self._set_runner(executor)

    def __enter__(self) -> "Options":
        return self

    def __exit__(self, *_: Any) -> None:
        if self._close is not None:
            self._close()
        if self.raised is not None:
            raise self.raised

    def _callback(self, kind: str, function: Callable[..., Any], error: Optional[int]) -> Any:
        """Makes a C callback. An exception in it ends the call, and is raised after the call; an
        interrupt, too, that comes before the first line of `function`."""

        def failed(_kind: Any, raised: BaseException, _trace: Any) -> None:
            self.raised = raised

        made = ffi.callback(kind, function, error=error, onerror=failed)
        self._keep.append(made)
        return made

    def _asked(self, tile_cost: TileCost) -> Any:
        def cost(_user: Any, layer: int, extent: Any, channels: int, out: Any) -> int:
            answer = tile_cost(layer, tuple(ffi.unpack(extent, 4)), channels)
            if answer is None:
                return 0
            _fill(out, answer)
            return 1

        return self._callback(
            "int32_t(void*, uint32_t, const int32_t*, int32_t, sluice_tile_cost_t*)", cost, -1)

    def _set_rows(self, rows: Mapping[Tuple[Any, ...], Any]) -> None:
        array = ffi.new("sluice_tile_row_t[]", len(rows))
        for row, (key, answer) in zip(array, rows.items()):
            try:
                layer, (n, h, w, k), channels = key
                row.layer = whole(layer, "layer", 0, NO_INDEX)
                row.extent = [whole(e, "extent", 0, (1 << 31) - 1) for e in (n, h, w, k)]
                row.channels = whole(channels, "channels", 0, (1 << 31) - 1)
            except (TypeError, ValueError) as error:
                raise type(error)(f"tile_rows: {key!r} is not of the form "
                                  f"(layer, (n, h, w, k), channels): {error}") from None
            _fill(ffi.addressof(row, "cost"), answer)
        self._keep.append(array)
        self.struct.tile_rows, self.struct.tile_row_count = array, len(rows)

    def _set_progress(self, progress: Union[bool, Progress], most: Optional[int],
                      deadline: Optional[float]) -> None:
        if progress is True:
            from ._progress import bar

            progress, self._close = bar(
                most, deadline, (self.struct.energy_exponent, self.struct.delay_exponent))
        told: Any = progress

        def tell(_user: Any, iterations: int, cost: float) -> int:
            return int(bool(told(iterations, cost if cost > 0 else None)))

        self.struct.progress = self._callback("int32_t(void*, uint64_t, double)", tell, 1)

    def _set_runner(self, executor: Executor) -> None:
        def run(_user: Any, job: Any, argument: Any, jobs: int) -> None:
            _run_all(executor, job, argument, jobs)

        kind = "void(void*, void(*)(void*, uint32_t), void*, uint32_t)"
        made = self._callback(kind, run, None)
        runner = struct("sluice_runner_t", run=made)
        self._keep.append(runner)
        self.struct.runner = runner
        self._threads = True

    def call(self, function: Callable[..., int], *arguments: Any) -> int:
        """Calls the library. A call that runs jobs on threads gets a thread of its own: Ctrl-C
        raises on the main thread alone, and there it would end the wait for jobs that still
        use the call's memory."""
        if not self._threads:
            return function(*arguments)
        answers: List[int] = []
        helper = threading.Thread(target=lambda: answers.append(function(*arguments)))
        helper.start()
        interrupt: Optional[BaseException] = None
        while helper.is_alive():
            try:
                helper.join()
            except BaseException as raised:
                interrupt = raised
                self.struct.cancel[0] = 1
        if interrupt is not None:
            raise interrupt
        return answers[0]


def _run_all(executor: Executor, job: Any, argument: Any, jobs: int) -> None:
    """Runs each job on the executor's threads; when it returns, none runs or will run, also
    where the executor fails in between."""
    changed, begun, working, closed = threading.Condition(), 0, 0, False

    def one(i: int) -> None:
        nonlocal begun, working
        with changed:
            if closed:
                return
            begun, working = begun + 1, working + 1
        try:
            job(argument, i)
        finally:
            with changed:
                working -= 1
                changed.notify()

    try:
        list(listed(executor.map(one, range(jobs)), "executor: the answer of its map",
                    "a list of results, as a concurrent.futures.ThreadPoolExecutor gives"))
    finally:
        with changed:
            closed = True
            changed.wait_for(lambda: working == 0)
    if begun != jobs:
        raise ValueError(f"executor: its map called the function {begun} times for {jobs} values; "
                         "threads that run each of them would be right")


def _fill(out: Any, answer: Any) -> None:
    cost = answer if isinstance(answer, (tuple, list)) else (answer,)
    if not 1 <= len(cost) <= 3:
        raise ValueError(f"tile cost: {answer!r} is neither cycles nor (cycles, energy_pj) nor "
                         "(cycles, energy_pj, scratchpad_pj)")
    cycles = cost[0]
    if isinstance(cycles, numbers.Real) and not isinstance(cycles, numbers.Integral):
        if cycles % 1 != 0:  # to round it is for who knows the machine
            raise ValueError(f"tile cost: {cycles!r} cycles are no whole number; round them")
        cycles = int(float(cycles))
    out.cycles = whole(cycles, "tile cost: cycles", -(1 << 63), (1 << 63) - 1)
    for name, energy in zip(("energy_pj", "scratchpad_pj"), (*cost[1:], 0.0, 0.0)):
        expect(energy, numbers.Real, f"tile cost: {name}", "a number of picojoules")
        setattr(out, name, float(energy))


def schedule(graph: Union[Graph, Path], machine: Any, *, cancel: Optional[Cancel] = None,
             cache: "Union[PlanCache, Path, None]" = None, memory_bytes: int = 0,
             **options: "Unpack[ScheduleOptions]") -> Plan:
    """Plans a graph on a machine; the plan has been judged valid. The GIL is released.

    graph        a Graph, or a model's file
    machine      a Machine, or a preset's name, a file, a dictionary
    solver       "default", "baseline", "fusion", "cocco", "soma"
    objective    "edp", "energy", "latency", or (n, m) of energy^n * delay^m
    scratchpad_bytes, max_iterations, seed, max_block_cycles
    granularity  "tile", "operator" (whole tensors, spilled and retrieved), or "recompute" (the
                 same, and a layer may run again instead)
    deadline     seconds, after which the best plan so far is given
    cancel       a Cancel, for other threads; Ctrl-C stops the call too
    progress     True: a bar by tqdm where installed; or f(iterations, cost) -> true to stop;
                 cost: energy^n * delay^m, in pJ and cycles, of the best plan so far; None:
                 there is none yet
    resume       a plan of the same graph and machine to go on from
    tile_cost    f(layer, (n, h, w, k), channels) -> cycles, or (cycles, energy_pj), or None
    tile_rows    the same as a dictionary: {(layer, (n, h, w, k), channels): cost}
    tile_bound   with one of these: the least that the tiles of a layer take together, asked as
                 tile_cost is for its whole output; raises the report's bounds
    cache        a PlanCache, or its folder; calls with tile costs, resume or a deadline pass
                 it by
    memory_bytes cap of the call's memory; 0: none
    executor     a thread pool that anneals from several starts at a time; the call, and what it
                 calls, then runs on a thread of its own
    """
    from .cache import PlanCache

    graph, machine = graph_of(graph), machine_of(machine)
    store = cache if cache is None or isinstance(cache, PlanCache) else PlanCache(cache)
    with Options(**options) as asked:
        key = store.key_of(graph, machine, asked) if store is not None else None
        if store is not None and key is not None:
            found = store.get(key, graph, machine)
            if found is not None:
                return found
        out, why = ffi.new("sluice_plan_t**"), diagnostic()
        with interruptible(cancel) as word:
            asked.struct.cancel = word
            status = asked.call(lib.sluice_schedule, context(memory_bytes), graph._handle,
                                machine._handle, asked.struct, out, why)
        plan = _plan(asked, status, why, out, graph, machine)
        if store is not None and key is not None and plan.report.stop_reason in (
                "complete", "iterations", "proved"):
            store.put(key, plan)
        return plan


def _plan(asked: Options, status: int, why: Any, out: Any, graph: Graph,
          machine: Machine) -> Plan:
    if status != 0 and asked.raised is None:
        check(status, why)
    handle = own("plan", out[0]) if out[0] != ffi.NULL else None
    return Plan._of(handle, graph, machine)


@dataclasses.dataclass(frozen=True)
class Change:
    """What a new plan kept of the previous one: sluice_change_t."""

    changed: int
    from_scratch: int
    layers_kept: int
    layers_changed: int
    layers_inserted: int
    layers_removed: int
    blocks: int
    blocks_changed: int
    stream_bytes: int
    patch_bytes: int


def reschedule(previous: Plan, graph: Union[Graph, Path], machine: Any, *,
               minimise_changes: bool = False, cancel: Optional[Cancel] = None,
               memory_bytes: int = 0, **options: "Unpack[ScheduleOptions]"
               ) -> Tuple[Plan, Change]:
    """Plans a changed graph, machine or scratchpad, starting from an earlier plan.
    Options: those of schedule, without cache."""
    expect(previous, Plan, "previous", "the sluice.Plan to start from")
    graph, machine = graph_of(graph), machine_of(machine)
    with Options(**options) as asked:
        change = struct("sluice_change_t")
        how = struct("sluice_reschedule_options_t", previous=previous._handle,
                     schedule=asked.struct, change=change,
                     **flags(minimise_changes=minimise_changes))
        out, why = ffi.new("sluice_plan_t**"), diagnostic()
        with interruptible(cancel) as word:
            asked.struct.cancel = word
            status = asked.call(lib.sluice_reschedule, context(memory_bytes), graph._handle,
                                machine._handle, how, out, why)
        return _plan(asked, status, why, out, graph, machine), record(Change, change)


def memory_bound(graph: Union[Graph, Path], machine: Any,
                 **options: "Unpack[ScheduleOptions]") -> int:
    """The most memory that schedule with these options takes."""
    bound, why = ffi.new("uint64_t*"), diagnostic()
    with Options(**options) as asked:
        check(lib.sluice_schedule_memory_bound(context(), graph_of(graph)._handle,
                                               machine_of(machine)._handle, asked.struct,
                                               bound, why), why)
    return int(bound[0])


@dataclasses.dataclass(frozen=True)
class CurvePoint:
    """A point of a curve: sluice_curve_point_t."""

    scratchpad_bytes: int
    plan_bytes: int
    latency_cycles: int
    energy_pj: float


def curve(graph: Union[Graph, Path], machine: Any, points: int = 16, *,
          cancel: Optional[Cancel] = None, objective: Optional[Objective] = None,
          **options: Any) -> List[CurvePoint]:
    """Latency over scratchpad, from the smallest that has a plan up. Without an objective the
    latency is minimised. points: how many scratchpads are tried, 2 to 256. Options: those of
    schedule."""
    graph, machine = graph_of(graph), machine_of(machine)
    points = whole(points, "points", 2, 256)
    array, why = ffi.new("sluice_curve_point_t[]", points), diagnostic()
    found = struct("sluice_curve_list_t", count=points, points=array)
    with Options(objective=objective, **options) as asked:
        with interruptible(cancel) as word:
            asked.struct.cancel = word
            status = asked.call(lib.sluice_curve, context(), graph._handle, machine._handle,
                                asked.struct, found, why)
        if asked.raised is None:
            check(status, why)
    return [record(CurvePoint, array[i]) for i in range(found.count)]


def evaluate(graph: Union[Graph, Path], machine: Any, order: Sequence[int], tiles: Sequence[int],
             cuts: Optional[Sequence[str]] = None, *, double_buffer: bool = False,
             **options: Any) -> Dict[str, Any]:
    """Evaluates the cost of a given schedule, without a search.

    order   layers of the graph that compute, by index, in computing order
    tiles   by position: the number of tiles of the group that starts there
    cuts    by position: "dram", "fine" or "none" (schedule.h); without, every layer is a group

    Numbers of sluice_evaluation_t, with tile_begin, tile_layer, tile_cycles and
    transfer_begin, transfer_bytes as numpy arrays. Rejected: not a legal schedule.
    """
    import numpy

    order = [whole(i, "order", 0, NO_INDEX) for i in listed(order, "order", "a list of layers")]
    tiles = [whole(n, "tiles", -(1 << 31), (1 << 31) - 1)
             for n in listed(tiles, "tiles", "a list of numbers of tiles")]
    cuts = None if cuts is None else listed(cuts, "cuts", 'a list of "dram", "fine" or "none"')
    count = len(order)
    same_length(count, tiles=tiles, cuts=cuts or tiles)
    kinds = [choose(cut, "CUT", "cut") for cut in (cuts or ["dram"] * count)]
    arrays = [ffi.new("uint32_t[]", list(order)), ffi.new("uint8_t[]", kinds),
              ffi.new("int32_t[]", list(tiles))]
    notation = struct("sluice_notation_t", layers=count, order=arrays[0], cuts=arrays[1],
                      tiles=arrays[2], double_buffer=flag(double_buffer, "double_buffer"))
    handles = (graph_of(graph)._handle, machine_of(machine)._handle, notation)
    result = struct("sluice_evaluation_t")
    with Options(**options) as asked:
        _evaluate(handles, asked, result)  # without arrays it gives their lengths
        found = {name: numpy.zeros(getattr(result, of), kind) for name, (kind, of) in {
            "tile_begin": ("int64", "tiles"), "tile_layer": ("uint32", "tiles"),
            "tile_cycles": ("int64", "tiles"), "transfer_begin": ("int64", "transfers"),
            "transfer_bytes": ("int64", "transfers")}.items()}
        for name, array in found.items():
            setattr(result, name, ffi.cast(f"{array.dtype}_t*", ffi.from_buffer(array)))
        _evaluate(handles, asked, result)
    return {**evaluation_of(result), **found}


def evaluation_of(result: Any) -> Dict[str, Any]:
    """The numbers of sluice_evaluation_t."""
    return {name: getattr(result, name) for name, field in
            ffi.typeof("sluice_evaluation_t").fields
            if field.type.kind == "primitive" and name not in ("struct_size", "reserved")}


def _evaluate(handles: Tuple[Any, ...], asked: Options, result: Any) -> None:
    why = diagnostic()
    result.options = asked.struct
    check(lib.sluice_evaluate(context(), *handles, result, why), why)
