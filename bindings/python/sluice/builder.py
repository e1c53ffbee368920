# SPDX-License-Identifier: Apache-2.0
"""Graphs built piece by piece. Operators and their attributes are those of ops.h."""
from __future__ import annotations

import math
import numbers
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._library import check, choose, diagnostic, enum, expect, ffi, lib, listed, struct, take, unfit
from ._library import whole
from .errors import OutOfMemory
from .graph import NO_INDEX, Graph

# The enum of ops.h with an operator's attributes, where its name differs from the operator's.
_FAMILIES = {
    "depthwise_conv": "CONV", "transposed_conv": "CONV", "fully_connected": "CONV",
    "batch_matmul": "MATMUL", "max_pool": "POOL", "average_pool": "POOL", "add": "BINARY",
    "sub": "BINARY", "mul": "BINARY", "minimum": "BINARY", "maximum": "BINARY",
    "layer_norm": "NORM", "rms_norm": "NORM", "resize_bilinear": "RESIZE",
    "resize_nearest": "RESIZE", "state_append": "APPEND", "max_pool_gradient": "POOL",
}


def _name(name: Any) -> bytes:
    """A name as C reads it, up to the first zero."""
    expect(name, str, "name", "a text")
    if "\0" in name:
        raise ValueError(f"name: {name!r} holds a zero, which ends a name")
    return bytes(name.encode())


def attribute_names(op: str) -> Dict[str, int]:
    """{"stride_h": 0, ...} of an operator."""
    expect(op, str, "op", "an operator's name")
    choose(op, "OP", "op")
    family = _FAMILIES.get(op, op.upper())
    return {name: index for name, index in enum(family).items()
            if name not in ("attributes", "inputs")}


class GraphBuilder:
    """Collects tensors and layers. Each adding method returns an index; finish() makes the
    graph, or raises with the first fault."""

    def __init__(self, name: str = "") -> None:
        handle = lib.sluice_graph_builder_create(_name(name))
        if handle == ffi.NULL:
            raise OutOfMemory("no memory for a builder")
        self._handle = ffi.gc(handle, lib.sluice_graph_builder_destroy)

    def _added(self, index: int) -> int:
        if index == NO_INDEX:
            raise OutOfMemory("no memory for a piece of a graph")
        return index

    def tensor(self, shape: Sequence[int], dtype: str = "int8", *, kind: str = "intermediate",
               name: Optional[str] = None, data: Any = None, seed: Optional[int] = None,
               scale: float = 0.0, zero_point: int = 0, encoded_bytes: int = 0) -> int:
        """A tensor; data: the numpy array of a constant, or seed: of seeded values.
        encoded_bytes: of weights, what they take off chip if a LOAD decodes them."""
        keep: List[Any] = []
        shape = [whole(extent, "shape", 1, (1 << 31) - 1)
                 for extent in listed(shape, "shape", "a tuple of extents, as (1, 8, 8, 3)")]
        if len(shape) > 4:
            raise ValueError(f"shape: {len(shape)} axes; a tensor has at most four axes")
        expect(scale, numbers.Real, "scale", "a number")
        if not math.isfinite(scale):
            raise ValueError(f"scale: {scale!r} is no finite number")
        made = struct("sluice_tensor_t", kind=choose(kind, "TENSOR", "kind"),
                      dtype=choose(dtype, "DTYPE", "dtype"), rank=len(shape), scale=scale,
                      zero_point=zero_point, encoded_bytes=encoded_bytes)
        made.dims = shape + [0] * (4 - len(shape))
        if name is not None:
            keep.append(ffi.new("char[]", _name(name)))
            made.name = keep[-1]
        if data is not None:
            raw = _dense(data, dtype, shape)
            keep.append(ffi.from_buffer(raw))
            made.source, made.bytes, made.byte_count = (
                lib.SLUICE_SOURCE_INLINE, keep[-1], len(raw))
        elif seed is not None:
            made.source, made.offset = lib.SLUICE_SOURCE_SEEDED, whole(seed, "seed")
        return self._added(lib.sluice_graph_builder_tensor(self._handle, made))

    def input(self, shape: Sequence[int], dtype: str = "int8", **options: Any) -> int:
        """An input tensor."""
        return self.tensor(shape, dtype, kind="input", **options)

    def output(self, shape: Sequence[int], dtype: str = "int8", **options: Any) -> int:
        """An output tensor."""
        return self.tensor(shape, dtype, kind="output", **options)

    def constant(self, data: Any, **options: Any) -> int:
        """Weights, parameters or tables: a numpy array."""
        if not hasattr(data, "shape") or not hasattr(data, "dtype"):
            unfit(data, "data", "a numpy array")
        return self.tensor(data.shape, str(data.dtype), kind="constant", data=data, **options)

    def parameter(self, name: str, min: int, max: int) -> int:
        """A parameter, whose value each run provides."""
        low, high = (whole(value, what, -(1 << 31), (1 << 31) - 1)
                     for what, value in (("min", min), ("max", max)))
        return self._added(lib.sluice_graph_builder_parameter(self._handle, _name(name), low,
                                                              high))

    def layer(self, op: str, inputs: Sequence[Optional[int]], outputs: Sequence[int],
              attributes: Union[Sequence[int], Mapping[str, int]] = (),
              name: Optional[str] = None) -> int:
        """A layer: attributes as a list in the order of ops.h, or by name
        ({"stride_h": 2}); attribute_names(op) lists them."""
        code = choose(op, "OP", "op")
        lists = [ffi.new("uint32_t[]", [
            NO_INDEX if i is None else whole(i, what, 0, NO_INDEX)
            for i in listed(tensors, what, "a list of what tensor(), input() ... returned")])
            for what, tensors in (("inputs", inputs), ("outputs", outputs))]
        lists.append(ffi.new("int32_t[]", _attributes(op, attributes)))
        made = struct("sluice_layer_t", op=code, inputs=lists[0],
                      outputs=lists[1], attributes=lists[2], input_count=len(lists[0]),
                      output_count=len(lists[1]), attribute_count=len(lists[2]))
        held = None if name is None else ffi.new("char[]", _name(name))
        if held is not None:
            made.name = held
        return self._added(lib.sluice_graph_builder_layer(self._handle, made))

    def finish(self) -> Graph:
        """The graph of what was added so far."""
        out, why = ffi.new("sluice_bytes_t*"), diagnostic()
        check(lib.sluice_graph_builder_finish(self._handle, ffi.NULL, out, why), why)
        return Graph(take(out))


def _dense(data: Any, dtype: str, shape: Sequence[int]) -> bytes:
    import numpy

    array = numpy.asarray(data)
    if str(array.dtype) != dtype or array.shape != tuple(shape):
        raise ValueError(f"data is {array.dtype} {array.shape}, not {dtype} {tuple(shape)}")
    little = numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    return bytes(little.tobytes())


def _attributes(op: str, given: Union[Sequence[int], Mapping[str, int]]) -> List[int]:
    least, most = -(1 << 31), (1 << 31) - 1
    if not isinstance(given, Mapping):
        return [whole(value, "attributes", least, most) for value in listed(
            given, "attributes", 'a list, or a dictionary {"stride_h": 2}')]
    known = attribute_names(op)
    unknown = set(given) - set(known)
    if unknown:
        raise ValueError(f"{op} has no attributes {sorted(map(str, unknown))}; it has "
                         f"{sorted(known)}")
    values = [0] * (max((known[name] for name in given), default=-1) + 1)
    for name, value in given.items():
        values[known[name]] = whole(value, f"attributes: {name}", least, most)
    return values
