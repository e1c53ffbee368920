# SPDX-License-Identifier: Apache-2.0
"""Makes TensorFlow Lite models of one operator, with seeded scales and zero points.

A model is made for a type: int8, uint8, int16 (quantised), int32, int64, bool (plain), or
float: int8 inputs behind DEQUANTIZE, the operator on floats, and QUANTIZE in front of the
output."""
import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s

TYPES = {"int8": s.TensorType.INT8, "uint8": s.TensorType.UINT8,
         "int16": s.TensorType.INT16, "int32": s.TensorType.INT32,
         "int64": s.TensorType.INT64, "bool": s.TensorType.BOOL,
         "float32": s.TensorType.FLOAT32, "float16": s.TensorType.FLOAT16}
QUANTISED = ("int8", "uint8", "int16")


class Model:
    def __init__(self, kind, seed):
        self.kind, self.rng = kind, np.random.default_rng(seed)
        self.tensors, self.operators, self.codes = [], [], []
        self.buffers = [s.BufferT()]
        self.inputs, self.outputs, self.after = [], [], []

    # ---- tensors

    def tensor(self, shape, kind, affine=None, data=None, axis=0, variable=False):
        t = s.TensorT()
        t.shape, t.type, t.name = list(shape), TYPES[kind], f"t{len(self.tensors)}".encode()
        t.shapeSignature, t.isVariable, t.buffer = None, variable, 0
        if affine is not None:
            q = s.QuantizationParametersT()
            q.scale = np.atleast_1d(np.asarray(affine[0], np.float32))
            q.zeroPoint = np.broadcast_to(np.asarray(affine[1], np.int64), q.scale.shape)
            q.quantizedDimension = axis
            t.quantization = q
        if data is not None:
            b = s.BufferT()
            b.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            t.buffer = len(self.buffers)
            self.buffers.append(b)
        self.tensors.append(t)
        return len(self.tensors) - 1

    def affine(self, kind, low, high):
        """A scale and zero point whose numbers cover about [low, high]."""
        if kind not in QUANTISED:
            return None
        info = np.iinfo(np.dtype(kind))
        stretch = self.rng.uniform(0.9, 1.3)
        if kind == "int16":
            return np.float32(max(-low, high) * stretch / 32768), 0
        scale = np.float32((high - low) * stretch / 255)
        zero = int(np.clip(np.rint(info.min - low * stretch / scale), info.min, info.max))
        return scale, zero

    def x(self, shape, low=-1.0, high=1.0, kind=None, like=None):
        """An operand given at run time."""
        kind = kind or self.kind
        if kind == "float":
            stored = self.tensor(shape, "int8", self.affine("int8", low, high))
            self.inputs.append(stored)
            real = self.tensor(shape, "float32")
            self.op("DEQUANTIZE", [stored], [real])
            return real
        given = self.affine_of(like) if like is not None else self.affine(kind, low, high)
        self.inputs.append(self.tensor(shape, kind, given))
        return self.inputs[-1]

    def affine_of(self, tensor):
        q = self.tensors[tensor].quantization
        return None if q is None else (q.scale[0], int(q.zeroPoint[0]))

    def y(self, shape, low=-1.0, high=1.0, kind=None, like=None, affine=None):
        kind = kind or self.kind
        if kind == "float":
            real = self.tensor(shape, "float32")
            stored = self.tensor(shape, "int8", self.affine("int8", low, high))
            self.after.append(("QUANTIZE", [real], [stored]))
            self.outputs.append(stored)
            return real
        given = (affine if affine is not None and kind in QUANTISED else
                 self.affine_of(like) if like is not None else self.affine(kind, low, high))
        self.outputs.append(self.tensor(shape, kind, given))
        return self.outputs[-1]

    def ints(self, *values, kind="int32"):
        array = np.array(values[0] if len(values) == 1 and np.ndim(values[0]) else values)
        return self.tensor(array.shape, kind, None, array.astype(kind))

    def scalar(self, value, kind="int32"):
        return self.tensor([], kind, None, np.array(value, kind))

    def weight(self, shape, spread=1.0, axis=None, kind=None, like=None):
        """A constant operand of the model's type; per axis only for int8."""
        kind = kind or self.kind
        if kind == "float":
            data = self.rng.uniform(-spread, spread, shape).astype(np.float32)
            return self.tensor(shape, "float32", None, data)
        if kind in ("int32", "int64", "bool"):
            top = 2 if kind == "bool" else 100
            return self.tensor(shape, kind, None,
                               self.rng.integers(-top if top > 2 else 0, top, shape)
                               .astype(kind))
        info = np.iinfo(np.dtype(kind))
        data = self.rng.integers(max(info.min, -127), min(info.max, 255) + 1, shape)
        if kind == "uint8":
            affine = (np.float32(spread / 127), 120)
        elif axis is None:
            affine = self.affine_of(like) if like is not None else (
                np.float32(spread / 127), 0)
        else:
            affine = (self.rng.uniform(0.3, 1.0, shape[axis]).astype(np.float32) *
                      np.float32(spread / 127), 0)
        return self.tensor(shape, kind, affine, data.astype(kind), axis or 0)

    def bias(self, count, x, w):
        """A bias in the scale of products of the two; int64 for 16-bit activations."""
        if self.kind == "float":
            return self.tensor([count], "float32", None,
                               self.rng.uniform(-1, 1, count).astype(np.float32))
        kind = "int64" if self.kind == "int16" else "int32"
        scales = self.tensors[x].quantization.scale[0] * self.tensors[w].quantization.scale
        data = self.rng.uniform(-0.5, 0.5, count) / scales
        return self.tensor([count], kind, (scales.astype(np.float32), 0),
                           np.rint(data).astype(kind))

    # ---- operators

    def op(self, name, inputs, outputs, version=None, **options):
        o = s.OperatorT()
        o.inputs, o.outputs = list(inputs), list(outputs)
        kind = options.pop("options", None)
        o.builtinOptionsType, o.builtinOptions = 0, None
        o.customOptions, o.mutatingVariableInputs = options.pop("custom", None), None
        if kind is not None:
            o.builtinOptionsType = getattr(s.BuiltinOptions, kind)
            o.builtinOptions = getattr(s, kind + "T")()
            for key, value in options.items():
                assert hasattr(o.builtinOptions, key), (kind, key)
                setattr(o.builtinOptions, key, value)
        code = s.OperatorCodeT()
        custom = name.startswith("CUSTOM:")
        code.builtinCode = s.BuiltinOperator.CUSTOM if custom else getattr(
            s.BuiltinOperator, name)
        code.customCode = name[7:].encode() if custom else None
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = version or 1
        o.opcodeIndex = len(self.codes)
        self.codes.append(code)
        self.operators.append(o)

    def bytes(self):
        for name, inputs, outputs in self.after:
            self.op(name, inputs, outputs)
        self.after = []
        graph = s.SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs, graph.name = self.inputs, self.outputs, b"main"
        model = s.ModelT()
        model.version, model.operatorCodes, model.subgraphs = 3, self.codes, [graph]
        model.buffers, model.description = self.buffers, b""
        builder = flatbuffers.Builder(4096)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
