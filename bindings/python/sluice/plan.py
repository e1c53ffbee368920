# SPDX-License-Identifier: Apache-2.0
"""Plans: what they cost, layer by layer and transfer by transfer, and their pictures."""
from __future__ import annotations

import dataclasses
import html
from functools import cached_property
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from ._library import bytes_of, check, context, diagnostic, enum, expect, ffi, lib, make
from ._library import flag, needing, path_of, record, struct, whole
from ._plan_file import joined, named, read, split
from .graph import NO_INDEX, Graph, Path, graph_of
from .machine import Machine, machine_of

if TYPE_CHECKING:
    import pandas

    from .simulate import Simulation

_STOPS = {value: name for name, value in enum("STOP").items()}
_LIMITS = {value: name for name, value in enum("LIMIT").items()}


@dataclasses.dataclass(frozen=True)
class Report:
    """What a plan costs and how it was found: sluice_report_t. Energies in pJ."""

    stop_reason: str  # "complete", "deadline", "iterations", "cancelled", "proved"
    latency_cycles: int
    energy_pj: float
    energy_dram_pj: float
    energy_scratchpad_pj: float
    energy_compute_pj: float
    energy_leakage_pj: float
    energy_noc_pj: float
    energy_host_pj: float
    dram_read_bytes: int
    dram_write_bytes: int
    spill_bytes: int
    peak_buffer_bytes: int
    bound_latency_cycles: int
    bound_energy_pj: float
    macs: int
    vector_ops: int
    iterations: int
    layers: int
    groups: int
    tiles: int
    instructions: int
    host_layers: int
    host_macs: int
    host_bytes: int
    missing_components: int
    phase_peak_bytes: Tuple[int, ...]

    @property
    def edp(self) -> float:
        """Energy (pJ) times delay (cycles)."""
        return self.energy_pj * self.latency_cycles

    @property
    def gap(self) -> float:
        """Energy times delay over the product of their bounds: 1 is proved to be the best.
        Infinite where the bound is 0 and the plan's cost is not."""
        bound = self.bound_energy_pj * self.bound_latency_cycles
        if bound > 0:
            return self.edp / bound
        return 1.0 if self.edp == 0 else float("inf")


@dataclasses.dataclass(frozen=True)
class LayerLeast:
    """The least that any plan takes of a layer: sluice_layer_least_t."""

    cycles: int
    constant_bytes: int
    loaded_bytes: int
    stored_bytes: int
    energy_pj: float


@dataclasses.dataclass(frozen=True)
class Certificate:
    """What the bounds of a report are made of, which verify() counts again:
    sluice_certificate_t. Without layers for a plan of an earlier version."""

    layers: Tuple[LayerLeast, ...]  # by layer of the graph
    all: LayerLeast  # their sums
    host_cycles: int
    compute_cycles: int
    port_cycles: int
    room_cycles: int
    again_pj: float
    caller_cycles: int  # of tiles, by the word of tile_bound
    caller_pj: float


@dataclasses.dataclass(frozen=True)
class TensorPlace:
    """Where a tensor lies in DRAM: sluice_tensor_place_t. Region None: it never leaves the
    scratchpad."""

    region: Optional[int]
    offset: int
    stride: Tuple[int, ...]


class Plan:
    """An instruction stream with its report. It does not change; threads may share it.

    graph and machine are what it was made for. save() writes them too; a plan that was read
    from its bytes alone has a report and a stream, and no layers, transfers or pictures.
    """

    _handle: Any
    graph: Optional[Graph]
    machine: Optional[Machine]

    def __init__(self, data: bytes, graph: "Union[Graph, Path, None]" = None,
                 machine: Any = None) -> None:
        plan, of, on = split(bytes(bytes_of(data, "plan")))
        with named("the plan is damaged"):
            self._handle = make("plan", lib.sluice_plan_create, ffi.from_buffer(plan), len(plan))
        with named("the plan's graph is damaged"):
            self.graph = None if of is None or graph is not None else Graph(of)
        with named("the plan's machine is damaged"):
            self.machine = None if on is None or machine is not None else Machine(on)
        if graph is not None:
            self.graph = graph_of(graph)
        if machine is not None:
            self.machine = machine_of(machine)

    @classmethod
    def _of(cls, handle: Any, graph: Optional[Graph], machine: Optional[Machine]) -> "Plan":
        plan = cls.__new__(cls)
        plan._handle, plan.graph, plan.machine = handle, graph, machine
        return plan

    @classmethod
    def load(cls, path: Path, graph: "Union[Graph, Path, None]" = None,
             machine: Any = None) -> "Plan":
        """Reads a plan from a file, which may hold the graph and the machine; others are taken
        where they are given. verify() checks the plan against them."""
        data = read(path, b"SLP1")
        with named(str(path)):
            return cls(data, graph, machine)

    def _made_for(self) -> Tuple[Graph, Machine]:
        if self.graph is None or self.machine is None:
            raise ValueError("the plan came alone, or from a file that ends too early, and this "
                             "needs its graph and machine: Plan.load(path, graph, machine)")
        return self.graph, self.machine

    # ---- contents of a plan

    @cached_property
    def report(self) -> Report:
        """The report: costs, and how the plan was found."""
        found = struct("sluice_report_t")
        check(lib.sluice_plan_report(self._handle, found))
        return record(Report, found, stop_reason=_STOPS.get(found.stop_reason, "unknown"))

    @cached_property
    def certificate(self) -> Certificate:
        """What the report's bounds are made of."""
        found = struct("sluice_certificate_t")
        check(lib.sluice_plan_certificate(self._handle, found))
        layers = tuple(record(LayerLeast, found.layers[i]) for i in range(found.count))
        return record(Certificate, found, layers=layers, all=record(LayerLeast, found.all))

    def to_bytes(self) -> bytes:
        """plan.fbs bytes."""
        data, size = ffi.new("const void**"), ffi.new("size_t*")
        check(lib.sluice_plan_bytes(self._handle, data, size))
        return bytes(ffi.buffer(data[0], size[0]))

    def save(self, path: Path, *, plan_only: bool = False) -> None:
        """Writes a plan file with the graph and the machine, from which Plan.load, `sluice
        report` and others need nothing else; with plan_only, and where they are not known,
        the plan's bytes alone."""
        data = self.to_bytes()
        if not flag(plan_only, "plan_only") and self.graph is not None and self.machine is not None:
            data = joined(data, self.graph.to_bytes(), self.machine.to_bytes())
        path_of(path).write_bytes(data)

    @property
    def stream(self) -> bytes:
        """The instruction stream (stream.h)."""
        data, size = ffi.new("const void**"), ffi.new("size_t*")
        check(lib.sluice_plan_stream(self._handle, data, size))
        return bytes(ffi.buffer(data[0], size[0]))

    @property
    def hashes(self) -> Dict[str, int]:
        """Hashes of the plan, its graph and its machine: sluice_plan_hashes_t."""
        found = struct("sluice_plan_hashes_t")
        check(lib.sluice_plan_hash(self._handle, found))
        return {name: getattr(found, name)
                for name in ("plan", "made_for_graph", "made_for_hardware",
                             "scratchpad_bytes")}

    def tensor(self, index: int) -> TensorPlace:
        """Where tensor `index` of the graph lies in DRAM."""
        place = struct("sluice_tensor_place_t")
        if whole(index, "index", -1) < 0 or lib.sluice_plan_tensor(self._handle, index, place) != 0:
            raise IndexError(f"the plan has no tensor {index}")
        return TensorPlace(None if place.region == 255 else place.region, place.offset,
                           tuple(place.stride))

    def patch(self, after: "Plan", gap_bytes: int = 0) -> List[Tuple[int, int]]:
        """(offset, bytes) of the ranges that a device with this stream copies from `after`."""
        expect(after, Plan, "after", "a sluice.Plan")
        gap_bytes = whole(gap_bytes, "gap_bytes")
        count = ffi.new("size_t*")
        ranges: Any = ffi.NULL
        status = lib.sluice_plan_patch(self._handle, after._handle, gap_bytes, ranges, count)
        if status == lib.SLUICE_BUFFER_TOO_SMALL:
            ranges = ffi.new("sluice_patch_range_t[]", count[0])
            status = lib.sluice_plan_patch(self._handle, after._handle, gap_bytes, ranges,
                                           count)
        check(status)
        return [(ranges[i].offset, ranges[i].bytes) for i in range(count[0])]

    def verify(self) -> None:
        """Verifies the plan for its graph and machine; raises Rejected if it is wrong."""
        graph, machine = self._made_for()
        why = diagnostic()
        check(lib.sluice_verify(context(), graph._handle, machine._handle, self._handle, why),
              why)

    def preemption_points(self) -> List[Dict[str, int]]:
        """Borders between blocks at which another stream may take over the machine."""
        graph, machine = self._made_for()
        found, why = struct("sluice_preemption_list_t"), diagnostic()
        call = lib.sluice_preemption_points
        arguments = (context(), graph._handle, machine._handle, self._handle, found, why)
        status = call(*arguments)
        if status == lib.SLUICE_BUFFER_TOO_SMALL:
            found.points = points = ffi.new("sluice_preemption_point_t[]", found.count)
            status = call(*arguments)
        check(status, why)
        return [{name: getattr(points[i], name)
                 for name in ("cycles", "dead_offset", "dead_bytes", "live_bytes")}
                for i in range(found.count)]

    # ---- tables

    @cached_property
    def layers(self) -> "pandas.DataFrame":
        """Each layer's cost, what limits it, and its lower bound: a pandas frame by layer.
        segment: which one it belongs to, as `sluice schedule --explain` counts them, or none in
        plans that are not made of segments; block: the first block of the stream for it."""
        with needing("plan.layers"):
            import pandas

        graph, machine = self._made_for()
        count = len(graph.layers)
        costs, why = ffi.new("sluice_layer_cost_t[]", max(count, 1)), diagnostic()
        for cost in costs:
            cost.struct_size = ffi.sizeof("sluice_layer_cost_t")
        found = struct("sluice_layer_list_t", capacity=count, costs=costs)
        check(lib.sluice_plan_layers(context(), graph._handle, machine._handle, self._handle,
                                     found, why), why)
        segments = self._segments(count)
        rows = []
        for cost in ffi.unpack(costs, count):
            layer = graph.layers[cost.layer]
            row = {"name": layer.name, "op": layer.op, "segment": segments[cost.layer],
                   "block": cost.block, "limit": _LIMITS[cost.limit], "tiles": cost.tiles,
                   "tile": "x".join(str(e) for e in cost.extent) if cost.tiles else ""}
            row.update({name: getattr(cost, name) for name in (
                "cycles", "port_cycles", "host_cycles", "dram_read_bytes",
                "dram_write_bytes", "spill_bytes", "macs", "vector_ops", "energy_pj",
                "bound_cycles", "bound_dram_bytes", "bound_energy_pj")})
            rows.append(row)
        frame = pandas.DataFrame(rows, index=pandas.RangeIndex(count, name="layer"))
        frame["segment"] = frame["segment"].astype("Int64")  # which has room for none
        return frame

    def _segments(self, count: int) -> List[Optional[int]]:
        """The number of each layer's segment, or None."""
        plan, found = self.to_bytes(), ffi.new("uint32_t[]", max(count, 1))
        if not lib.sluice_native_segments(ffi.from_buffer(plan), len(plan), found, count):
            raise ValueError("the plan's segments cannot be read")
        return [None if s == NO_INDEX else s for s in ffi.unpack(found, count)] if count else []

    @cached_property
    def events(self) -> "pandas.DataFrame":
        """Every executed instruction with its cycles, as the simulator makes them."""
        from .simulate import events_of

        return events_of(self)

    @cached_property
    def transfers(self) -> "pandas.DataFrame":
        """The loads, stores and forwards of `events`."""
        found = self.events
        return found[found.kind.isin(("load", "store", "forward"))].reset_index(drop=True)

    # ---- runs and pictures

    def simulate(self, inputs: Any = None, **options: Any) -> "Simulation":
        """Executes the plan on data: sluice.simulate."""
        from .simulate import simulate

        return simulate(self, inputs, **options)

    def plot(self, ax: Any = None) -> Any:
        """Engines over time, the DMA queues among them, by matplotlib; the axes."""
        from ._plot import plot

        return plot(self, ax)

    def to_html(self, path: Optional[Path] = None, *,
                against: Optional["Plan"] = None) -> str:
        """An HTML page, as `sluice report` writes it: one self-contained file.
        With `against` another plan beside this one."""
        from ._report import page

        if against is not None:
            expect(against, Plan, "against", "a sluice.Plan")
        to = None if path is None else path_of(path)
        found = page([self] if against is None else [self, against])
        if to is not None:
            to.write_text(found, encoding="utf-8")
        return found

    def trace(self, path: Optional[Path] = None, *, contention: bool = False) -> str:
        """The plan's run as JSON that ui.perfetto.dev and chrome://tracing show, as
        `sluice simulate --trace` writes it. A run takes what was predicted; with contention a
        second one, in which busy links make transfers wait, stands below it."""
        from ._report import trace

        to = None if path is None else path_of(path)
        found = trace(self, contention)
        if to is not None:
            to.write_text(found, encoding="utf-8")
        return found

    def __reduce__(self) -> Tuple[Any, ...]:
        return Plan, (self.to_bytes(), self.graph, self.machine)

    def __repr__(self) -> str:
        r = self.report
        return (f"<sluice.Plan: {r.latency_cycles} cycles, {r.energy_pj:.4g} pJ, "
                f"{r.dram_read_bytes + r.dram_write_bytes} bytes of DRAM traffic, "
                + (f"at most {r.gap:.3f} x the best energy x delay>" if r.gap < float("inf")
                   else "without a bound on energy x delay>"))

    def _repr_html_(self) -> str:
        r = self.report
        seconds = "" if self.machine is None else (
            f" ({1e3 * r.latency_cycles / self.machine.clock_hz:.4g} ms)")
        lines = [
            ("latency", f"{r.latency_cycles:,} cycles{seconds}"),
            ("no plan is below", f"{r.bound_latency_cycles:,} cycles"),
            ("energy", f"{r.energy_pj / 1e6:,.4g} uJ (bound {r.bound_energy_pj / 1e6:,.4g})"),
            ("energy x delay over bound", f"{r.gap:.3f}"),
            ("DRAM", f"{r.dram_read_bytes:,} bytes read, {r.dram_write_bytes:,} written"),
            ("scratchpad", f"{r.peak_buffer_bytes:,} bytes at most"),
            ("layers, tiles", f"{r.layers}, {r.tiles:,}"),
            ("search ended", html.escape(r.stop_reason)),
        ]
        rows = "".join(f"<tr><th style='text-align:left'>{k}</th><td>{v}</td></tr>"
                       for k, v in lines)
        return f"<table><caption>sluice plan</caption>{rows}</table>"
