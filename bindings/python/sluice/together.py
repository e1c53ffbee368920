# SPDX-License-Identifier: Apache-2.0
"""Several models on one machine, in one scratchpad."""
from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from ._library import Cancel, check, choose, context, diagnostic, enum, ffi, interruptible, lib
from ._library import expect, listed, nanoseconds, needing, own, record, same_length, struct
from ._library import whole
from .graph import NO_INDEX, Graph, Path, graph_of
from .machine import machine_of
from .plan import Plan

if TYPE_CHECKING:
    import pandas


_TURN = ("model", "first_visit", "end_visit", "cycles")


@dataclasses.dataclass(frozen=True)
class Member:
    """A model's plan and share: sluice_member_t."""

    plan: Plan
    turns: int
    offset: int
    bytes: int
    latency_cycles: int
    finish_cycles: int
    equal_cycles: int
    longest_wait_cycles: int


@dataclasses.dataclass(frozen=True, repr=False)
class Cohort:
    """Plans and turns of several models: sluice_cohort_summary_t and what it is of."""

    members: List[Member]
    turn_rows: List[Dict[str, int]]  # what `turns` has, without pandas
    share: str
    proved: bool
    total_cycles: int
    latency_sum: int
    finish_sum: int
    equal_latency_sum: int
    partition_finish_sum: int
    time_finish_sum: int

    @cached_property
    def turns(self) -> "pandas.DataFrame":
        """The turns in order, a pandas frame."""
        with needing("Cohort.turns"):
            import pandas

        return pandas.DataFrame(self.turn_rows, columns=_TURN)

    def __repr__(self) -> str:
        return (f"<sluice.Cohort: {len(self.members)} models that share by {self.share}, "
                f"{self.total_cycles} cycles, {len(self.turn_rows)} turns>")


def coschedule(graphs: Sequence[Union[Graph, Path]], machine: Any, *, share: str = "auto",
               weights: Sequence[int] = (), reserved: Sequence[Tuple[int, int]] = (),
               scratchpad_bytes: int = 0, max_turn_cycles: int = 0, points: int = 0,
               max_iterations: int = 0, seed: int = 0, deadline: Optional[float] = None,
               cancel: Optional[Cancel] = None) -> Cohort:
    """Plans models together. share: "auto", "partition" or "time"; reserved: (offset, bytes)
    of each model, (0, 0) where the call decides."""
    graphs = listed(graphs, "graphs", "a list of sluice.Graph")
    if not 1 <= len(graphs) <= 8:
        raise ValueError(f"graphs: a list of {len(graphs)}; 1 to 8 models share a machine")
    weights = [whole(weight, "weights", 0, NO_INDEX) for weight in listed(
        weights, "weights", "a list of numbers, one for each graph")]
    reserved = [tuple(listed(pair, "reserved", "(offset, bytes)")) for pair in listed(
        reserved, "reserved", "a list of (offset, bytes), one for each graph")]
    for pair in reserved:
        same_length(2, reserved=pair)
        for number in pair:
            whole(number, "reserved")
    known, machine = [graph_of(graph) for graph in graphs], machine_of(machine)
    same_length(len(known), weights=weights or known, reserved=reserved or known)
    models = ffi.new("sluice_model_t[]", len(known))
    for i, graph in enumerate(known):
        models[i].graph = graph._handle
        models[i].weight = weights[i] if weights else 0
        if reserved:
            models[i].reserved_offset, models[i].reserved_bytes = reserved[i]
    options = struct("sluice_coschedule_options_t", share=choose(share, "SHARE", "share"),
                     scratchpad_bytes=scratchpad_bytes, max_turn_cycles=max_turn_cycles,
                     points=points, max_iterations=max_iterations, seed=seed,
                     model_count=len(known), models=models,
                     deadline_ns=nanoseconds(deadline))
    out, why = ffi.new("sluice_cohort_t**"), diagnostic()
    with interruptible(cancel) as word:
        options.cancel = word
        status = lib.sluice_coschedule(context(), machine._handle, options, out, why)
    check(status, why)
    return _cohort(own("cohort", out[0]), known, machine)


def _cohort(handle: Any, graphs: Sequence[Graph], machine: Any) -> Cohort:
    summary = struct("sluice_cohort_summary_t")
    check(lib.sluice_cohort_report(handle, summary))
    members = []
    for i, graph in enumerate(graphs):
        m = struct("sluice_member_t")
        check(lib.sluice_cohort_member(handle, i, m))
        size, data = ffi.new("size_t*"), ffi.new("const void**")
        check(lib.sluice_plan_bytes(m.plan, data, size))  # a copy: the cohort may go
        plan = Plan(bytes(ffi.buffer(data[0], size[0])), graph, machine)
        members.append(record(Member, m, plan=plan))
    turns, count = ffi.new("const sluice_turn_t**"), ffi.new("uint32_t*")
    check(lib.sluice_cohort_turns(handle, turns, count))
    rows = [{name: getattr(turns[0][i], name) for name in _TURN} for i in range(count[0])]
    shares = {value: name for name, value in enum("SHARE").items()}
    return record(Cohort, summary, members=members, turn_rows=rows, share=shares[summary.share],
                  proved=bool(summary.proved))


def verify_together(graphs: Sequence[Graph], cohort: Cohort, machine: Any) -> None:
    """Verifies streams that take turns; raises Rejected if they conflict."""
    expect(cohort, Cohort, "cohort", "what coschedule returns")
    graphs = listed(graphs, "graphs", "a list of sluice.Graph")
    same_length(len(cohort.members), graphs=graphs)
    turns = ffi.new("sluice_turn_t[]", [
        {name: int(row[name]) for name in _TURN} for row in cohort.turn_rows])
    handles = ffi.new("const sluice_graph_t*[]", [graph_of(g)._handle for g in graphs])
    plans = ffi.new("const sluice_plan_t*[]", [m.plan._handle for m in cohort.members])
    asked = struct("sluice_turn_list_t", model_count=len(graphs), turn_count=len(turns),
                   graphs=handles, plans=plans, turns=turns)
    why = diagnostic()
    check(lib.sluice_verify_together(context(), machine_of(machine)._handle, asked, why), why)
