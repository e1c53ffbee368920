# SPDX-License-Identifier: Apache-2.0
"""Plan files: a plan, and behind it the graph and the machine it was made for (plan.fbs)."""
from __future__ import annotations

import struct as packing
from typing import Optional, Tuple

from .errors import BadInput

_FOOTER = packing.Struct("<3Q8s")  # bytes of plan, graph and machine; the mark
_MARK = b"SLPFILE1"


def _padded(size: int) -> int:
    return (size + 7) // 8 * 8


def joined(plan: bytes, graph: bytes, machine: bytes) -> bytes:
    """A plan file."""
    parts = (plan, graph, machine)
    return (b"".join(part.ljust(_padded(len(part)), b"\0") for part in parts)
            + _FOOTER.pack(*map(len, parts), _MARK))


def split(data: bytes) -> Tuple[bytes, Optional[bytes], Optional[bytes]]:
    """Plan, graph and machine; the last two are None where the bytes are a plan alone."""
    if len(data) < _FOOTER.size or data[-8:] != _MARK:
        return data, None, None
    *sizes, _ = _FOOTER.unpack(data[-_FOOTER.size:])
    if sum(map(_padded, sizes)) + _FOOTER.size != len(data):
        raise BadInput("the sizes at the end of the plan file do not add up to the file's")
    parts, at = [], 0
    for size in sizes:
        parts.append(data[at:at + size])
        at += _padded(size)
    return parts[0], parts[1], parts[2]
