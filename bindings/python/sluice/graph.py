# SPDX-License-Identifier: Apache-2.0
"""Graphs: from models, bytes, known networks, or built piece by piece (builder.py)."""
from __future__ import annotations

import dataclasses
import os
from functools import cached_property
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from ._library import check, choose, diagnostic, enum, ffi, lib, make, record, struct
from ._library import bytes_of, expect, flag, path_of, take, text, unfit, whole
from ._plan_file import named, read
from .errors import BadArgument

Path = Union[str, "os.PathLike[str]"]
NO_INDEX = 0xFFFFFFFF


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor of a graph: sluice_tensor_info_t."""

    name: str
    kind: str  # "intermediate", "input", "output", "constant", "state"
    dtype: str  # "int8", ...
    shape: Tuple[int, ...]
    bytes: int
    source: str  # of a constant's bytes: "none", "inline", "external", "seeded"
    source_offset: int
    file: str


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer of a graph: sluice_layer_info_t."""

    name: str
    op: str  # "conv", ...
    inputs: Tuple[Optional[int], ...]  # indices of tensors
    outputs: Tuple[int, ...]
    attributes: Tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter, whose value each run provides: sluice_parameter_info_t."""

    name: str
    min: int
    max: int


@dataclasses.dataclass(frozen=True)
class Port:
    """What the elements of an input or output mean: real = scale * (stored - zero_point)."""

    tensor: int
    name: str
    dtype: str
    shape: Tuple[int, ...]
    scale: float
    zero_point: int


@dataclasses.dataclass(frozen=True)
class ImportReport:
    """The report of an import: figures, lists of operators, lines about inputs and outputs."""

    format: str
    numbers: str  # "exact", "shapes_only", "rounded"
    operators: int
    layers: int
    constant_bytes: int
    lists: Dict[str, List[Tuple[str, int, str]]]  # name -> (operator, count, reason)
    interface: List[str]


def _names(prefix: str) -> Dict[int, str]:
    return {value: name for name, value in enum(prefix).items()}


_KINDS, _DTYPES, _OPS = _names("TENSOR"), _names("DTYPE"), _names("OP")
_SOURCES = _names("SOURCE")
_FORMATS, _NUMBERS, _LISTS = _names("MODEL"), _names("NUMBERS"), _names("IMPORT")


class Graph:
    """A network that the library has checked. It does not change, and threads may share it."""

    def __init__(self, data: bytes, report: Optional[ImportReport] = None,
                 folder: str = ".") -> None:
        self._bytes = bytes_of(data, "graph")
        self._handle = make("graph", lib.sluice_graph_create, ffi.from_buffer(self._bytes),
                            len(self._bytes))
        self.import_report = report
        self.folder = folder  # of external constants

    # ---- where graphs come from

    @classmethod
    def from_bytes(cls, data: bytes) -> "Graph":
        """Reads a graph from graph.fbs bytes."""
        return cls(data)

    @classmethod
    def load(cls, path: Path, **options: Any) -> "Graph":
        """Reads a file: FILE.tflite, FILE.onnx, or a graph (any other name)."""
        path = path_of(path)
        kind = path.suffix.lower()
        if kind == ".tflite":
            return cls.from_tflite(path, **options)
        if kind == ".onnx":
            return cls.from_onnx(path, **options)
        data = read(path, b"SLG1")
        with named(str(path)):
            return cls(data, folder=str(path.parent))

    @classmethod
    def from_tflite(cls, model: Union[Path, bytes], **options: Any) -> "Graph":
        """Imports a TensorFlow Lite model, a path or bytes. Options: those of from_model."""
        return cls.from_model(model, format="tflite", **options)

    @classmethod
    def from_onnx(cls, model: Union[Path, bytes], *, dims: Optional[Mapping[str, int]] = None,
                  **options: Any) -> "Graph":
        """Imports an ONNX model, a path or bytes; dims: extents of its dynamic dimensions."""
        return cls.from_model(model, format="onnx", dims=dims, **options)

    @classmethod
    def from_model(cls, model: Union[Path, bytes], *, format: str = "detect",
                   dims: Optional[Mapping[str, int]] = None, name: Optional[str] = None,
                   allow_opaque: bool = False, opaque_cycles: int = 0, training: bool = False,
                   max_constant_bytes: int = 0, keep_unread: bool = False,
                   states: Optional[Mapping[str, str]] = None, find_states: bool = False,
                   ranges: Optional[Mapping[str, Tuple[float, float]]] = None) -> "Graph":
        """Imports a model in any format that this build reads.

        allow_opaque leaves operators that cannot be expressed to the host, as if each took
        opaque_cycles; training makes the graph of one training step. Rows and columns that no
        layer reads are left out (import_report.lists["skipped"]), unless keep_unread is true.

        states: {input: output} names inputs that hold in each run what an output was in the run
        before, as caches of keys and values; find_states adds those whose names tell it
        (past.../present..., ..._in/..._out, prev.../next..., old.../new...). ranges: {tensor:
        (least, most)} quantises a model of floats to int8 with its own weights; the exception
        of a list that is too short names the tensors that lack one.
        """
        from ._importing import Named, import_model

        made: Graph = import_model(cls, model, format, Named(
            dims={} if dims is None else dims, states={} if states is None else states,
            ranges={} if ranges is None else ranges), name, dict(
            allow_opaque=flag(allow_opaque, "allow_opaque"), opaque_cycles=opaque_cycles,
            training=flag(training, "training"), max_constant_bytes=max_constant_bytes,
            keep_unread=flag(keep_unread, "keep_unread"),
            find_states=flag(find_states, "find_states")))
        return made

    @classmethod
    def zoo(cls, name: str, *, batch: Optional[int] = None, seq: Optional[int] = None,
            context: Optional[int] = None, blocks: Optional[int] = None,
            training: bool = False, skip_unread: bool = False) -> "Graph":
        """A known network with seeded weights; zoo_names() lists them. Sizes of None are the
        network's own: a batch of one, GPT-2's 12 blocks. skip_unread leaves out rows and columns
        that no layer reads, as imports do."""
        expect(name, str, "name", "one of sluice.zoo_names()")
        if name not in zoo_names():
            raise BadArgument(f"no network is called {name}; there are {', '.join(zoo_names())}")
        sizes = {"batch": batch, "seq": seq, "context": context, "blocks": blocks}
        sizes = {of: whole(size, of, 1, (1 << 31) - 1) for of, size in sizes.items()
                 if size is not None}
        options = struct("sluice_zoo_options_t", **sizes, training=flag(training, "training"),
                         skip_unread=flag(skip_unread, "skip_unread"))
        out, why = ffi.new("sluice_bytes_t*"), diagnostic()
        check(lib.sluice_zoo_graph(name.encode(), options, out, why), why)
        return cls(take(out))

    # ---- contents of a graph

    @cached_property
    def _counts(self) -> Any:
        counts = struct("sluice_graph_counts_t")
        check(lib.sluice_graph_count(self._handle, counts))
        return counts

    @cached_property
    def tensors(self) -> List[Tensor]:
        """All tensors, by index."""
        found = []
        for i in range(self._counts.tensors):
            t = struct("sluice_tensor_info_t")
            check(lib.sluice_graph_tensor(self._handle, i, t))
            found.append(Tensor(
                name=text(t.name, t.name_size), kind=_KINDS[t.kind], dtype=_DTYPES[t.dtype],
                shape=tuple(t.extent)[4 - t.rank:], bytes=t.bytes, source=_SOURCES[t.source],
                source_offset=t.source_offset, file=text(t.file, t.file_size)))
        return found

    @cached_property
    def layers(self) -> List[Layer]:
        """All layers, by index."""
        found = []
        for i in range(self._counts.layers):
            x = struct("sluice_layer_info_t")
            check(lib.sluice_graph_layer(self._handle, i, x))
            found.append(Layer(
                name=text(x.name, x.name_size), op=_OPS[x.op],
                inputs=tuple(None if t == NO_INDEX else t
                             for t in ffi.unpack(x.inputs, x.input_count)
                             ) if x.input_count else (),
                outputs=tuple(ffi.unpack(x.outputs, x.output_count)),
                attributes=tuple(ffi.unpack(x.attributes, x.attribute_count)
                                 ) if x.attribute_count else ()))
        return found

    @cached_property
    def parameters(self) -> List[Parameter]:
        """The parameters, whose values each run provides."""
        found = []
        for i in range(self._counts.parameters):
            p = struct("sluice_parameter_info_t")
            check(lib.sluice_graph_parameter(self._handle, i, p))
            found.append(Parameter(text(p.name, p.name_size), p.min, p.max))
        return found

    def _ports(self, call: Any, kind: str) -> List[Port]:
        found = []
        held = ffi.from_buffer(self._bytes)
        for i in range(sum(t.kind == kind for t in self.tensors)):
            p = struct("sluice_graph_port_t")
            check(call(held, len(self._bytes), i, p))
            found.append(Port(p.tensor, text(p.name), _DTYPES[p.dtype],
                              tuple(p.extent)[:p.rank], p.scale, p.zero_point))
        return found

    @cached_property
    def inputs(self) -> List[Port]:
        """The inputs, which each run provides."""
        return self._ports(lib.sluice_graph_input, "input")

    @cached_property
    def outputs(self) -> List[Port]:
        """The outputs, which each run computes."""
        return self._ports(lib.sluice_graph_output, "output")

    @property
    def hash(self) -> int:
        """A hash of the bytes without inline constants: a key for caches."""
        return int(lib.sluice_graph_hash(self._handle))

    def to_bytes(self) -> bytes:
        """graph.fbs bytes."""
        return self._bytes

    def save(self, path: Path) -> None:
        """Writes the graph's bytes."""
        path_of(path).write_bytes(self._bytes)

    def training_step(self) -> "Graph":
        """The graph of one training step: forward, errors, gradients of the weights."""
        out, why = ffi.new("sluice_bytes_t*"), diagnostic()
        check(lib.sluice_import_training_step(ffi.from_buffer(self._bytes), len(self._bytes),
                                              ffi.NULL, out, why), why)
        return Graph(take(out), folder=self.folder)

    def layer_name(self, index: int) -> str:
        """ "conv1 (conv)", or "layer 7 (add)" where it has no name."""
        layer = self.layers[whole(index, "index", 0, max(len(self.layers) - 1, 0))]
        return f"{layer.name or f'layer {index}'} ({layer.op})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Graph, (self._bytes, self.import_report, self.folder)

    def __repr__(self) -> str:
        return (f"<sluice.Graph of {self._counts.layers} layers, {self._counts.tensors} "
                f"tensors, hash {self.hash:016x}>")


def zoo_names() -> Dict[str, str]:
    """{name: a line about it} of the known networks."""
    return {text(lib.sluice_zoo_name(i)): text(lib.sluice_zoo_text(i))
            for i in range(lib.sluice_zoo_count())}


def graph_of(value: Union[Graph, Path]) -> Graph:
    """The graph; of a file's name, what Graph.load makes of it."""
    if isinstance(value, Graph):
        return value
    if isinstance(value, (str, os.PathLike)):
        if value in zoo_names() and not os.path.exists(value):
            raise FileNotFoundError(f"no file is called {value}; the known network of this name "
                                    f"is Graph.zoo({value!r})")
        return Graph.load(value)
    unfit(value, "graph", "a sluice.Graph or a model's file")


def reads(format: str) -> bool:
    """Whether this build reads models of a format ("tflite", "onnx")."""
    return bool(lib.sluice_import_reads(choose(format, "MODEL", "format")))
