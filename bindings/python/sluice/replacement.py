# SPDX-License-Identifier: Apache-2.0
"""Replacement: operators on whole tensors; in which order they run, which tensors leave the
scratchpad and return, and where everything lies."""
from __future__ import annotations

import dataclasses
from typing import Any, List, Optional, Sequence, Tuple, Union

from ._library import Cancel, check, choose, context, diagnostic, expect, ffi, flags
from ._library import interruptible, lib, listed, make, nanoseconds, record, same_length, struct
from ._library import whole
from .graph import NO_INDEX, Graph, Path, graph_of

_MOST = (1 << 63) - 1


@dataclasses.dataclass(frozen=True)
class Operator:
    """Reads and writes tensors, which are named by their index. in_place: the number of the
    input whose bytes its first output may take over. again_bytes: what one more run of it
    costs, in bytes moved; None: it runs once."""

    inputs: Sequence[int]
    outputs: Sequence[int]
    in_place: Optional[int] = None
    again_bytes: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class OperatorGraph:
    """Operators in any order: sluice_operator_graph_t. inputs and outputs: the tensors that
    lie in DRAM before and after; every other one is written by one operator. edges: pairs of
    operators, the first before the second."""

    tensor_bytes: Sequence[int]
    operators: Sequence[Operator]
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    edges: Sequence[Tuple[int, int]] = ()


@dataclasses.dataclass(frozen=True)
class Residence:
    """A tensor's stay in the scratchpad during the steps [begin, end): sluice_residence_t.
    retrieved: it begins with a counted read; spilled: it ends with a counted write;
    takes_over: the index of the residence whose bytes it takes over."""

    tensor: int
    begin: int
    end: int
    retrieved: bool
    spilled: bool
    takes_over: Optional[int]
    offset: int


@dataclasses.dataclass(frozen=True, repr=False)
class Replacement:
    """An order and residences, and what they cost: sluice_replacement_summary_t."""

    order: List[int]  # the operator of each step
    residences: List[Residence]  # in order of begin
    proved: bool  # spill_bytes + retrieve_bytes are the fewest possible
    spill_bytes: int
    retrieve_bytes: int
    lower_bound_bytes: int
    peak_bytes: int
    largest_operator_bytes: int
    again_bytes: int
    states: int

    def __repr__(self) -> str:
        return (f"<sluice.Replacement: {len(self.order)} steps, {self.spill_bytes} bytes "
                f"spilled, {self.retrieve_bytes} retrieved, at least {self.lower_bound_bytes} in "
                f"all, peak {self.peak_bytes} bytes>")


@dataclasses.dataclass(frozen=True)
class Footprint:
    """An order of operators and the room that it needs: sluice_footprint_t."""

    order: List[int]
    peak_bytes: int
    proved: bool  # no order has a lower peak


def _lists(graph: OperatorGraph, what: str) -> Tuple[Any, List[Any]]:
    """sluice_operator_graph_t, and the arrays that it points to."""
    right = "a list of indices"
    sizes = [whole(size, f"{what}.tensor_bytes", 1, _MOST)
             for size in listed(graph.tensor_bytes, f"{what}.tensor_bytes", "a list of bytes")]
    operators = listed(graph.operators, f"{what}.operators", "a list of sluice.Operator")

    def tensors(values: Any, name: str) -> List[int]:
        return [whole(value, name, 0, len(sizes) - 1) for value in listed(values, name, right)]

    roles = [lib.SLUICE_PLACED_INTERMEDIATE] * len(sizes)
    for name, role in (("inputs", lib.SLUICE_PLACED_INPUT), ("outputs", lib.SLUICE_PLACED_OUTPUT)):
        for tensor in tensors(getattr(graph, name), f"{what}.{name}"):
            roles[tensor] = role
    begins: Tuple[List[int], List[int]] = ([0], [0])
    lists: Tuple[List[int], List[int]] = ([], [])
    in_place = []
    for number, operator in enumerate(operators):
        name = f"{what}.operators[{number}]"
        expect(operator, Operator, name, "sluice.Operator(inputs, outputs)")
        for side, begin, found in zip(("inputs", "outputs"), begins, lists):
            found += tensors(getattr(operator, side), f"{name}.{side}")
            begin.append(len(found))
        in_place.append(NO_INDEX if operator.in_place is None else whole(
            operator.in_place, f"{name}.in_place", 0, max(0, len(operator.inputs) - 1)))
    edges = []
    for edge in listed(graph.edges, f"{what}.edges", "a list of pairs of operators"):
        pair = listed(edge, f"{what}.edges", "a pair of operators")
        same_length(2, **{f"{what}.edges": pair})
        edges += [whole(end, f"{what}.edges", 0, len(operators) - 1) for end in pair]
    keep = [ffi.new("int64_t[]", sizes), ffi.new("uint8_t[]", roles),
            ffi.new("uint32_t[]", begins[0]), ffi.new("uint32_t[]", lists[0]),
            ffi.new("uint32_t[]", begins[1]), ffi.new("uint32_t[]", lists[1]),
            ffi.new("uint32_t[]", in_place), ffi.new("uint32_t[]", edges)]
    made = struct("sluice_operator_graph_t", tensor_count=len(sizes),
                  operator_count=len(operators), edge_count=len(edges) // 2,
                  tensor_bytes=keep[0], tensor_role=keep[1], input_begin=keep[2],
                  inputs=keep[3], output_begin=keep[4], outputs=keep[5], in_place=keep[6],
                  edges=keep[7])
    return made, keep


def _again(operators: Sequence[Operator], keep: List[Any]) -> Any:
    """again_bytes of the options; NULL: each operator runs once."""
    if all(operator.again_bytes is None for operator in operators):
        return ffi.NULL
    keep.append(ffi.new("int64_t[]", [
        -1 if operator.again_bytes is None else whole(
            operator.again_bytes, f"operators[{number}].again_bytes", 0, _MOST)
        for number, operator in enumerate(operators)]))
    return keep[-1]


def replace(what: Union[OperatorGraph, Graph, Path], capacity_bytes: int, *,
            charge: str = "host", alignment: int = 0, parameters: bool = False,
            in_place: bool = False, order: Optional[Sequence[int]] = None,
            keep_order: bool = False, fast: bool = False, max_states: int = 0,
            deadline: Optional[float] = None, cancel: Optional[Cancel] = None) -> Replacement:
    """The fewest bytes that move off chip when operators work on whole tensors in a scratchpad
    of capacity_bytes: sluice_replace, sluice_replace_operators. Infeasible: one operator's
    tensors do not fit together.

    what        an OperatorGraph, or a network: indices are those of its tensors and layers
    charge      "host": the first spill of an intermediate writes it, inputs and outputs lie in
                DRAM; "paper": the first spill of every tensor writes it
    alignment   of sizes and offsets, a power of two; 0: 1
    parameters  of a network: constants take room too
    in_place    of a network: elementwise layers and reshapes may take over an operand
    keep_order  do not change the order: `order`, or as numbered
    fast        no exact search; max_states: limits it (0: 65,536)
    """
    options = struct("sluice_replacement_options_t", charge=choose(charge, "CHARGE", "charge"),
                     capacity_bytes=whole(capacity_bytes, "capacity_bytes", 1, _MOST),
                     alignment=whole(alignment, "alignment", 0, _MOST),
                     max_states=whole(max_states, "max_states"),
                     deadline_ns=nanoseconds(deadline),
                     **flags(parameters=parameters, in_place=in_place, fast=fast,
                             keep_order=keep_order if order is None else True))
    keep: List[Any] = []
    if isinstance(what, OperatorGraph):
        asked, keep = _lists(what, "what")
        count, call = len(what.operators), lib.sluice_replace_operators
        options.again_bytes = _again(what.operators, keep)
    else:
        graph = graph_of(what)
        asked, count, call = graph._handle, len(graph.layers), lib.sluice_replace
    if order is not None:
        steps = [whole(step, "order", 0, NO_INDEX)
                 for step in listed(order, "order", "a list of operators")]
        same_length(count, order=steps)
        keep.append(ffi.new("uint32_t[]", steps))
        options.order = keep[-1]
    with interruptible(cancel) as word:
        options.cancel = word
        found = make("replacement", call, asked, options)
    return _replacement(found)


def _replacement(found: Any) -> Replacement:
    summary = struct("sluice_replacement_summary_t")
    check(lib.sluice_replacement_report(found, summary))
    order, stays = ffi.new("const uint32_t**"), ffi.new("const sluice_residence_t**")
    check(lib.sluice_replacement_plan(found, order, stays))
    residences = []
    for i in range(summary.residence_count):
        stay = stays[0][i]
        residences.append(record(
            Residence, stay, retrieved=bool(stay.retrieved), spilled=bool(stay.spilled),
            takes_over=None if stay.takes_over == NO_INDEX else stay.takes_over))
    steps = ffi.unpack(order[0], summary.operator_count) if summary.operator_count else []
    return record(Replacement, summary, order=steps, residences=residences,
                  proved=bool(summary.proved))


def minimum_footprint(operators: OperatorGraph, *, deadline: Optional[float] = None,
                      cancel: Optional[Cancel] = None) -> Footprint:
    """The order whose peak of live bytes is lowest when no tensor leaves the scratchpad
    (addresses may need more)."""
    expect(operators, OperatorGraph, "operators", "a sluice.OperatorGraph(tensor_bytes, operators)")
    asked, _keep = _lists(operators, "operators")
    count = len(operators.operators)
    order, why = ffi.new("uint32_t[]", max(count, 1)), diagnostic()
    options = struct("sluice_replacement_options_t", deadline_ns=nanoseconds(deadline))
    found = struct("sluice_footprint_t", order=order)
    with interruptible(cancel) as word:
        options.cancel = word
        status = lib.sluice_minimum_footprint(context(), asked, options, found, why)
    check(status, why)
    return Footprint(ffi.unpack(order, count) if count else [], found.peak_bytes,
                     bool(found.proved))
