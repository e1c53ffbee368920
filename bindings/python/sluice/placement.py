# SPDX-License-Identifier: Apache-2.0
"""Static placement: buffers with known lifetimes -> offsets within a capacity."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

from ._library import Cancel, check, context, diagnostic, ffi, interruptible, lib, nanoseconds
from ._library import expect, flag, flags, listed, same_length, struct, whole

if TYPE_CHECKING:
    import numpy


@dataclasses.dataclass(frozen=True)
class Buffer:
    """A buffer that lives during [begin, end): sluice_buffer_t."""

    begin: int
    end: int
    bytes: int
    alignment: int = 0
    offset: Optional[int] = None  # where it must lie
    banks: int = 0  # bit i: may touch bank i; 0: any
    single_bank: bool = False
    # (begin, end, first byte, last byte): only these bytes are in use then
    gaps: Tuple[Tuple[int, int, int, int], ...] = ()


@dataclasses.dataclass
class Placement:
    """Offsets of buffers. If not feasible, conflict lists buffers that do not fit together."""

    feasible: bool
    offsets: "numpy.ndarray"
    peak_bytes: int
    lower_bound_bytes: int
    proved: bool
    conflict: List[int]
    nodes: int


def _check(buffer: Any, what: str) -> None:
    expect(buffer, Buffer, what, "sluice.Buffer(begin, end, bytes)")
    most = (1 << 63) - 1
    for name in ("begin", "end"):
        whole(getattr(buffer, name), f"{what}.{name}", -most - 1, most)
    for name in ("bytes", "alignment"):
        whole(getattr(buffer, name), f"{what}.{name}", 0, most)
    whole(buffer.banks, f"{what}.banks")
    if buffer.offset is not None:
        whole(buffer.offset, f"{what}.offset", 0, most)
    flag(buffer.single_bank, f"{what}.single_bank")
    right = "(begin, end, first byte, last byte)"
    for gap in listed(buffer.gaps, f"{what}.gaps", f"a list of {right}"):
        values = listed(gap, f"{what}.gaps", right)
        same_length(4, gaps=values)
        for value in values:
            whole(value, f"{what}.gaps", -most - 1, most)


def place(buffers: Sequence[Buffer], capacity_bytes: int, *, smallest: bool = False,
          fast: bool = False, bank_bytes: int = 0,
          reserved: Sequence[Tuple[int, int, int, int]] = (), max_nodes: int = 0,
          deadline: Optional[float] = None, cancel: Optional[Cancel] = None) -> Placement:
    """Places buffers, or proves that they do not fit (feasible False).

    reserved: (begin, end, offset, bytes) that no buffer may use. Stopped: a limit came first.
    """
    import numpy

    buffers = listed(buffers, "buffers", "a list of sluice.Buffer")
    regions = []
    most = (1 << 63) - 1
    for number, region in enumerate(listed(reserved, "reserved",
                                           "a list of (begin, end, offset, bytes)")):
        what = f"reserved[{number}]"
        values = listed(region, what, "(begin, end, offset, bytes)")
        same_length(4, **{what: values})
        regions.append(tuple(whole(value, what, -most - 1, most) for value in values))
    whole(capacity_bytes, "capacity_bytes", 0, most)
    whole(bank_bytes, "bank_bytes", 0, most)
    whole(max_nodes, "max_nodes")
    for number, buffer in enumerate(buffers):
        _check(buffer, f"buffers[{number}]")
    gaps = [tuple(gap) for buffer in buffers for gap in buffer.gaps]
    made = ffi.new("sluice_buffer_t[]", len(buffers))
    at = 0
    for out, b in zip(made, buffers):
        out.begin, out.end, out.bytes, out.alignment = b.begin, b.end, b.bytes, b.alignment
        out.banks, out.gap_begin, out.gap_count = b.banks, at, len(b.gaps)
        at += len(b.gaps)
        if b.offset is not None:
            out.fixed_offset, out.flags = b.offset, lib.SLUICE_BUFFER_FIXED
        if b.single_bank:
            out.flags |= lib.SLUICE_BUFFER_SINGLE_BANK
    keep = [ffi.new("sluice_buffer_gap_t[]", gaps),
            ffi.new("sluice_reserved_region_t[]", regions)]
    problem = struct("sluice_placement_problem_t", buffer_count=len(buffers),
                     gap_count=len(gaps), region_count=len(regions), buffers=made,
                     gaps=keep[0], regions=keep[1], capacity_bytes=capacity_bytes,
                     bank_bytes=bank_bytes)
    options = struct("sluice_placement_options_t", max_nodes=max_nodes,
                     deadline_ns=nanoseconds(deadline), **flags(smallest=smallest, fast=fast))
    offsets = numpy.zeros(len(buffers), "int64")
    conflict = ffi.new("uint32_t[]", max(len(buffers), 1))
    result = struct("sluice_placement_t", conflict=conflict,
                    offsets=ffi.cast("int64_t*", ffi.from_buffer(offsets)))
    why = diagnostic()
    with interruptible(cancel) as word:
        options.cancel = word
        status = lib.sluice_place(context(), problem, options, result, why)
    if status != lib.SLUICE_INFEASIBLE:
        check(status, why)
    return Placement(feasible=status == 0, offsets=offsets, peak_bytes=result.peak_bytes,
                     lower_bound_bytes=result.lower_bound_bytes, proved=bool(result.proved),
                     conflict=ffi.unpack(conflict, result.conflict_count)
                     if result.conflict_count else [], nodes=result.nodes)
