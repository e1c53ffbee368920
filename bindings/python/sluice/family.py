# SPDX-License-Identifier: Apache-2.0
"""Families: plans for one dimension of a graph (KV length, batch, tokens) over a range."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._library import Cancel, check, context, diagnostic, expect, ffi, interruptible, lib, listed
from ._library import own, struct, whole
from .graph import NO_INDEX, Graph
from .machine import Machine, machine_of
from .plan import Plan
from .planning import Options, ScheduleOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MOST = (1 << 63) - 1


class Family:
    """Plans for a range of values, cut into buckets; each has one plan, made for its top, in
    which smaller values run padded or masked. Threads may select at a time."""

    def __init__(self, handle: Any, graphs: Dict[int, Graph], machine: Machine, first: int,
                 last: int) -> None:
        self.first, self.last = first, last
        self._handle = handle
        self._plans: Dict[int, Plan] = {}
        top, data, size = ffi.new("int64_t*"), ffi.new("const void**"), ffi.new("size_t*")
        while True:
            plan = lib.sluice_family_bucket(handle, len(self._plans), top)
            if plan == ffi.NULL:
                break
            check(lib.sluice_plan_bytes(plan, data, size))  # a copy: the family may go
            self._plans[top[0]] = Plan(bytes(ffi.buffer(data[0], size[0])), graphs.get(top[0]),
                                       machine)

    @property
    def buckets(self) -> List[Tuple[int, Plan]]:
        """(top, plan) of each bucket, ascending."""
        return list(self._plans.items())

    def select(self, value: int) -> Tuple[Plan, int]:
        """The plan for a value, and the top of its bucket: the value that the plan is for."""
        top = ffi.new("int64_t*")
        value = whole(value, "value", -_MOST - 1, _MOST)
        if lib.sluice_family_select(self._handle, value, top) == ffi.NULL:
            raise ValueError(f"value: {value} is outside the range {self.first} to {self.last}")
        return self._plans[top[0]], int(top[0])

    def __repr__(self) -> str:
        return (f"<sluice.Family: {len(self._plans)} plans for {self.first} to {self.last}, tops "
                f"{', '.join(map(str, self._plans))}>")


def family(graph: Callable[[int], Graph], machine: Any, first: int, last: int, *,
           tops: Optional[Sequence[int]] = None, most: int = 0, tolerance_percent: int = 0,
           cancel: Optional[Cancel] = None, memory_bytes: int = 0,
           **options: "Unpack[ScheduleOptions]") -> Family:
    """Plans a family of graphs: sluice_family_create.

    graph              f(value) -> Graph, for values from first to last
    tops               of the buckets, ascending, the last one is `last`; without, they are
                       chosen: the bucket whose cost has the largest ratio to its lower
                       neighbour's is halved, as long as that is above the tolerance
    most               buckets, where tops are chosen; 0: 16
    tolerance_percent  a bucket may cost this more than its lower neighbour; 0: 10
    options            those of schedule, for every plan
    """
    expect(graph, Callable, "graph", "a function f(value) that gives a sluice.Graph")
    machine = machine_of(machine)
    first, last = whole(first, "first", 1, _MOST), whole(last, "last", 1, _MOST)
    wanted = [whole(top, "tops", first, last)
              for top in listed(() if tops is None else tops, "tops", "a list of values")]
    if first > last or tops is not None and (
            not wanted or wanted[-1] != last or sorted(set(wanted)) != wanted):
        raise ValueError(f"tops: {wanted} for {first} to {last}; values that ascend from first "
                         "on, the last one `last`, would be right")
    graphs: Dict[int, Graph] = {}
    lent: List[Any] = []

    def give(_user: Any, value: int, data: Any, size: Any) -> int:
        made = graph(value)
        expect(made, Graph, "graph: what the function gives", "a sluice.Graph")
        graphs[value] = made
        given = made.to_bytes()
        lent[:] = [given, ffi.from_buffer(given)]
        data[0], size[0] = lent[1], len(given)
        return 0

    with Options(**options) as asked:
        array = ffi.new("int64_t[]", wanted)
        how = struct(
            "sluice_family_options_t", tops=len(wanted), top=array if wanted else ffi.NULL,
            first=first, last=last, most=whole(most, "most", 0, NO_INDEX),
            tolerance_percent=whole(tolerance_percent, "tolerance_percent", 0, NO_INDEX),
            schedule=asked.struct,
            graph=asked._callback("int32_t(void*, int64_t, const void**, size_t*)", give, 1))
        out, why = ffi.new("sluice_family_t**"), diagnostic()
        with interruptible(cancel) as word:
            asked.struct.cancel = word
            status = asked.call(lib.sluice_family_create, context(memory_bytes),
                                machine._handle, how, out, why)
        if asked.raised is None:
            check(status, why)
    return Family(own("family", out[0]), graphs, machine, first, last)
