# SPDX-License-Identifier: Apache-2.0
"""Evaluation of resolved schedules: tiles and transfers of any machine, without a graph."""
from __future__ import annotations

import dataclasses
import numbers
from fractions import Fraction
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from ._library import check, choose, context, diagnostic, expect, ffi, lib, listed, struct, whole
from .graph import NO_INDEX
from .planning import evaluation_of

_MOST = (1 << 63) - 1
_POSITION = (1 << 31) - 1


@dataclasses.dataclass(frozen=True)
class TimedTile:
    """A resolved tile: sluice_timed_tile_t. Its output takes ofmap_bytes on chip until the
    position ofmap_end (None: nothing reads it there); store: the index of the transfer that
    stores it."""

    cycles: int
    energy_pj: float = 0.0
    ofmap_bytes: int = 0
    ofmap_end: Optional[int] = None
    store: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class TimedTransfer:
    """A resolved transfer: sluice_timed_transfer_t. kind: "weight", "input" or "store"; use:
    the first position that reads a load, the position that makes what a store writes; its bytes
    take held_bytes (None: as many as it moves) during the positions [start, end); after: the
    index of the transfer that stores what a load reads."""

    bytes: int
    kind: str
    use: int
    start: int
    end: int
    held_bytes: Optional[int] = None
    setup_cycles: int = 0
    after: Optional[int] = None


def _index(value: Optional[int], what: str) -> int:
    return NO_INDEX if value is None else whole(value, what, 0, NO_INDEX - 1)


def _tiles(tiles: Sequence[TimedTile]) -> Any:
    array = ffi.new("sluice_timed_tile_t[]", len(tiles))
    for number, (out, tile) in enumerate(zip(array, tiles)):
        what = f"tiles[{number}]"
        expect(tile, TimedTile, what, "sluice.TimedTile(cycles)")
        expect(tile.energy_pj, numbers.Real, f"{what}.energy_pj", "a number of picojoules")
        out.cycles = whole(tile.cycles, f"{what}.cycles", 1, _MOST)
        out.energy_pj = float(tile.energy_pj)
        out.ofmap_bytes = whole(tile.ofmap_bytes, f"{what}.ofmap_bytes", 0, _MOST)
        end = number + 1 if tile.ofmap_end is None else tile.ofmap_end
        out.ofmap_end = whole(end, f"{what}.ofmap_end", 0, _POSITION)
        out.store = _index(tile.store, f"{what}.store")
    return array


def _transfers(transfers: Sequence[TimedTransfer]) -> Any:
    array = ffi.new("sluice_timed_transfer_t[]", len(transfers))
    for number, (out, moved) in enumerate(zip(array, transfers)):
        what = f"transfers[{number}]"
        expect(moved, TimedTransfer, what, "sluice.TimedTransfer(bytes, kind, use, start, end)")
        out.bytes = whole(moved.bytes, f"{what}.bytes", 1, _MOST)
        held = moved.bytes if moved.held_bytes is None else moved.held_bytes
        out.held_bytes = whole(held, f"{what}.held_bytes", 0, _MOST)
        out.setup_cycles = whole(moved.setup_cycles, f"{what}.setup_cycles", 0, _MOST)
        out.kind = choose(moved.kind, "DRAM", f"{what}.kind")
        out.after = _index(moved.after, f"{what}.after")
        for name in ("use", "start", "end"):
            setattr(out, name, whole(getattr(moved, name), f"{what}.{name}", -1, _POSITION))
    return array


def _ratio(value: Any) -> Tuple[int, int]:
    """Bytes and cycles of 8, 12.5, Fraction(25, 2)."""
    expect(value, numbers.Real, "bytes_per_cycle", "a number")
    exact = Fraction(value).limit_denominator(1 << 16)
    if exact <= 0:
        raise ValueError(f"bytes_per_cycle: {value!r} is not above zero")
    return exact.numerator, exact.denominator


def evaluate_timed(tiles: Sequence[TimedTile], transfers: Sequence[TimedTransfer], *,
                   buffer_bytes: int, bytes_per_cycle: Union[float, Fraction],
                   latency_cycles: int = 0, dram_pj_per_byte: float = 0.0) -> Dict[str, Any]:
    """What a resolved schedule costs on any machine: sluice_evaluate_timed.

    tiles             in computing order; transfers: in DRAM order
    buffer_bytes      of the scratchpad
    bytes_per_cycle   that DRAM moves; latency_cycles: before the first byte of each transfer

    Numbers of sluice_evaluation_t, with tile_begin, transfer_begin and buffer_profile (bytes in
    use before the first tile and during each) as numpy arrays. Rejected: not a legal schedule.
    """
    import numpy

    tiles = listed(tiles, "tiles", "a list of sluice.TimedTile")
    transfers = listed(transfers, "transfers", "a list of sluice.TimedTransfer")
    expect(dram_pj_per_byte, numbers.Real, "dram_pj_per_byte", "a number of picojoules")
    size, cycles = _ratio(bytes_per_cycle)
    keep = (_tiles(tiles), _transfers(transfers))
    schedule = struct("sluice_timed_schedule_t", tiles=len(tiles), transfers=len(transfers),
                      tile=keep[0], transfer=keep[1], bandwidth_bytes=size,
                      bandwidth_cycles=cycles,
                      latency_cycles=whole(latency_cycles, "latency_cycles", 0, _MOST),
                      dram_pj_per_byte=float(dram_pj_per_byte),
                      buffer_bytes=whole(buffer_bytes, "buffer_bytes", 1, _MOST))
    found = {"tile_begin": numpy.zeros(len(tiles), "int64"),
             "transfer_begin": numpy.zeros(len(transfers), "int64"),
             "buffer_bytes": numpy.zeros(len(tiles) + 1, "int64")}
    result, why = struct("sluice_evaluation_t"), diagnostic()
    for name, array in found.items():
        setattr(result, name, ffi.cast("int64_t*", ffi.from_buffer(array)))
    check(lib.sluice_evaluate_timed(context(), schedule, result, why), why)
    found["buffer_profile"] = found.pop("buffer_bytes")
    return {**evaluation_of(result), **found}
