# SPDX-License-Identifier: Apache-2.0
"""Layers of a graph on a mesh of nodes (KAPLA)."""
from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ._library import Cancel, check, choose, context, diagnostic, enum, exponents, ffi
from ._library import flags, interruptible, lib, nanoseconds, needing, struct, text
from .graph import NO_INDEX, Graph, Path, graph_of
from .machine import machine_of
from .mapping import _fields

if TYPE_CHECKING:
    import pandas


_KINDS = {value: name for name, value in enum("SEGMENT").items()}


@dataclasses.dataclass(frozen=True, repr=False)
class SegmentSchedule:
    """Which layers run together, on which nodes: sluice_segment_schedule_t. A segment is
    "single" (one layer), "spatial" (layers at a time, each on nodes of its own) or "temporal"
    (layers in turn on all nodes)."""

    segment_rows: List[Dict[str, Any]]  # what `segments` has, without pandas
    layer_rows: List[Dict[str, Any]]
    cost: Dict[str, Any]
    layers_cost: Dict[str, Any]
    objective: float
    layers_objective: float
    bound: float
    proved: bool
    directives: str

    @cached_property
    def segments(self) -> "pandas.DataFrame":
        """The segments in order, a pandas frame."""
        return _frame(self.segment_rows, "segments")

    @cached_property
    def layers(self) -> "pandas.DataFrame":
        """The layers in the order in which they run, a pandas frame."""
        return _frame(self.layer_rows, "layers")

    def __repr__(self) -> str:
        kinds = [row["kind"] for row in self.segment_rows]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in _KINDS.values()
                           if kind in kinds)
        apart = self.objective / self.layers_objective if self.layers_objective else 1.0
        bound = (f", at most {self.objective / self.bound:.3f} x the best" if self.bound > 0
                 else "")
        return (f"<sluice.SegmentSchedule: {len(self.layer_rows)} layers in "
                f"{len(self.segment_rows)} segments ({counts}), {self.cost['cycles']} cycles, "
                f"{self.cost['energy_pj']:.4g} pJ, {apart:.3f} x layer by layer{bound}>")


def _frame(rows: List[Dict[str, Any]], what: str) -> "pandas.DataFrame":
    with needing(f"SegmentSchedule.{what}"):
        import pandas

    return pandas.DataFrame(rows)


def segments(graph: Union[Graph, Path], machine: Any, *, solver: str = "chain",
             objective: Any = "energy", top_k: int = 0, max_stages: int = 0,
             proof: bool = False, word_bytes: int = 0,
             no_spatial: bool = False, no_temporal: bool = False, max_prices: int = 0,
             deadline: Optional[float] = None,
             cancel: Optional[Cancel] = None) -> SegmentSchedule:
    """Plans a graph on a mesh. solver: "chain", "top_k" or "layers"."""
    graph = graph_of(graph)
    n, m = exponents(objective)
    options = struct("sluice_segment_options_t", solver=choose(solver, "SEGMENTS", "solver"),
                     energy_exponent=n, delay_exponent=m, top_k=top_k, max_stages=max_stages,
                     word_bytes=word_bytes, max_prices=max_prices,
                     deadline_ns=nanoseconds(deadline),
                     **flags(proof=proof, no_spatial=no_spatial, no_temporal=no_temporal))
    room = 1 << 20
    count = max(len(graph.layers), 1)
    arrays = [ffi.new("sluice_segment_t[]", count), ffi.new("sluice_segment_layer_t[]", count),
              ffi.new("char[]", room)]
    found = struct("sluice_segment_schedule_t", capacity=count, segments=arrays[0],
                   layers=arrays[1], text=arrays[2], text_bytes=room)
    why = diagnostic()
    with interruptible(cancel) as word:
        options.cancel = word
        status = lib.sluice_segments(context(), graph._handle, machine_of(machine)._handle,
                                     options, found, why)
    check(status, why)
    rows = []
    for i in range(found.segment_count):
        row = _fields("sluice_segment_t", arrays[0][i])
        row["kind"] = _KINDS[row["kind"]]
        row.update(_fields("sluice_segment_cost_t", row.pop("cost")))
        rows.append(row)
    layers = []
    for i in range(found.layer_count):
        row = _fields("sluice_segment_layer_t", arrays[1][i])
        of = graph.layers[row.pop("layer")]
        row["producer"] = -1 if row["producer"] == NO_INDEX else row["producer"]
        layers.append({"layer": arrays[1][i].layer, "name": of.name, "op": of.op, **row})
    return SegmentSchedule(
        segment_rows=rows, layer_rows=layers,
        cost=_fields("sluice_segment_cost_t", found.cost),
        layers_cost=_fields("sluice_segment_cost_t", found.layers_cost),
        objective=found.objective, layers_objective=found.layers_objective,
        bound=found.bound, proved=bool(found.proved),
        directives=text(arrays[2]) if found.text_bytes <= room else "")
