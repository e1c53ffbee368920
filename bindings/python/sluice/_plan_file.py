# SPDX-License-Identifier: Apache-2.0
"""Files of graphs, machines and plans: what is in them, and which is damaged. A plan file holds
a plan, and behind it the graph and the machine it was made for (plan.fbs)."""
from __future__ import annotations

import os
import struct as packing
from contextlib import contextmanager
from typing import Iterator, Optional, Tuple, Union

from ._library import path_of
from .errors import BadInput

_FOOTER = packing.Struct("<3Q8s")  # bytes of plan, graph and machine; the mark
_MARK = b"SLPFILE1"
_KINDS = {  # by identifier: what the file is, who reads it, where such files come from
    b"SLG1": ("graph", "Graph.load", "graph.save and `sluice import` write one; names of models "
              "end with .tflite or .onnx"),
    b"SLH1": ("machine", "Machine.load", "`sluice hw NAME -o FILE.slh` writes one; names of "
              "machines in JSON end with .json"),
    b"SLP1": ("plan file", "Plan.load", "plan.save and `sluice schedule` write one"),
}


@contextmanager
def named(what: str) -> Iterator[None]:
    """Says of bytes that are refused what they are: a file, or a part of it."""
    try:
        yield
    except BadInput as error:
        raise type(error)(f"{what}: {error}", error.diagnostic) from None


def read(path: "Union[str, os.PathLike[str]]", identifier: bytes) -> bytes:
    """The bytes of a file of this kind; of another one, what would read it."""
    data = path_of(path).read_bytes()
    if data[4:8] == identifier:
        return data
    if data[4:8] in _KINDS:
        kind, reader, _ = _KINDS[data[4:8]]
        raise BadInput(f"{path} is a {kind}, which {reader} reads")
    kind, _, source = _KINDS[identifier]
    raise BadInput(f"{path} is no {kind}: {source}" if data else f"{path} is empty")


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
        at = data.find(b"SLG1")
        if at >= 0 and at % 8 == 4:  # a graph begins behind the plan, and nothing says how long
            raise BadInput("the plan file ends too early: the end of its graph, or its machine, "
                           "is missing")
        return data, None, None
    *sizes, _ = _FOOTER.unpack(data[-_FOOTER.size:])
    if sum(map(_padded, sizes)) + _FOOTER.size != len(data):
        raise BadInput("the sizes at the end of the plan file do not add up to the file's")
    parts, at = [], 0
    for size in sizes:
        parts.append(data[at:at + size])
        at += _padded(size)
    return parts[0], parts[1], parts[2]
