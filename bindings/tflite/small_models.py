# SPDX-License-Identifier: Apache-2.0
"""Small TensorFlow Lite files for delegate_test.py, whose shapes are computed at run time:
SHAPE, STRIDED_SLICE, PACK and the like in front of a RESHAPE, in ways that converters rarely
leave them. The input is int8 and has 1 x 4 x 4 x 8 elements.
"""
import importlib

import flatbuffers
import numpy
import tflite

# Kind of a tensor -> element type, scale (0: not quantised), zero point. The last two are what
# the runtime asks of the outputs of LOGISTIC and SOFTMAX, and of TANH.
KINDS = {"int8": (tflite.TensorType.INT8, 0.25, 0), "uint8": (tflite.TensorType.UINT8, 0.25, 128),
         "int32": (tflite.TensorType.INT32, 0, 0), "int64": (tflite.TensorType.INT64, 0, 0),
         "sum": (tflite.TensorType.INT32, 0.0625, 0),  # of products of two int8
         "unit": (tflite.TensorType.INT8, 1 / 256, -128),
         "both signs": (tflite.TensorType.INT8, 1 / 128, 0)}


class Small:
    """A graph with one input, to which operators are appended."""

    def __init__(self, signature=(-1, 4, 4, 8)):
        self.builder = flatbuffers.Builder(1024)
        self.buffers, self.tensors, self.operators, self.codes = [b""], [], [], []
        self.image = self.tensor((1, 4, 4, 8), signature=signature)
        self.inputs = [self.image]
        self.body = self.operator("RELU", [self.image], (1, 4, 4, 8))

    def tensor(self, shape, kind="int8", data=None, signature=None):
        element = "int32" if kind == "sum" else kind
        self.buffers += [] if data is None else [numpy.asarray(data, element).tobytes()]
        place = 0 if data is None else len(self.buffers) - 1
        self.tensors.append((shape, kind, place, signature))
        return len(self.tensors) - 1

    def integers(self, *values):
        return self.tensor((len(values),), "int32", values)

    def scalar(self, value):
        return self.tensor((), "int32", value)

    def operator(self, name, inputs, shape, kind="int8", options=None, count=1, **fields):
        """The output; with another count, a list of them."""
        open_ = [-1] * len(shape)  # the runtime's SLICE refuses to change other extents
        outputs = [self.tensor(shape, kind, signature=open_) for _ in range(count)]
        self.operators.append((name, inputs, outputs, options, fields))
        return outputs[0] if count == 1 else outputs

    def shape(self, of, rank):
        return self.operator("SHAPE", [of], (rank,), kind="int32", options="ShapeOptions",
                             OutType=tflite.TensorType.INT32)

    def extent(self, shape, axis):
        """One extent of a shape, as a scalar."""
        places = [self.integers(v) for v in (axis, axis + 1, 1)]
        return self.operator("STRIDED_SLICE", [shape, *places], (), kind="int32",
                             options="StridedSliceOptions", ShrinkAxisMask=1)

    def times(self, a, b):
        return self.operator("MUL", [a, b], (), kind="int32", options="MulOptions")

    def reshaped(self, tensor, extents, shape):
        """A RESHAPE to these scalars; ~n is the constant n."""
        extents = [e if e >= 0 else self.scalar(~e) for e in extents]
        packed = self.operator("PACK", extents, (len(shape),), kind="int32",
                               options="PackOptions", ValuesCount=len(extents))
        return self.operator("RESHAPE", [tensor, packed], shape)

    def table(self, module, **fields):
        b, room = self.builder, importlib.import_module("tflite." + module)
        getattr(room, module + "Start")(b)
        for name, value in fields.items():
            getattr(room, module + "Add" + name)(b, value)
        return getattr(room, module + "End")(b)

    def numbers(self, values):
        return self.builder.CreateNumpyVector(numpy.asarray(values, numpy.int32))

    def tables(self, offsets):
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def add_tensor(self, shape, kind, place, signature):
        b, fields = self.builder, {}
        type_, step, zero_point = KINDS[kind]
        if signature is not None:
            fields["ShapeSignature"] = self.numbers(signature)
        if step:
            scale = b.CreateNumpyVector(numpy.array([step], numpy.float32))
            zero = b.CreateNumpyVector(numpy.array([zero_point], numpy.int64))
            fields["Quantization"] = self.table("QuantizationParameters", Scale=scale,
                                                ZeroPoint=zero)
        return self.table("Tensor", Shape=self.numbers(shape), Type=type_, Buffer=place,
                          **fields)

    def add_operator(self, name, inputs, outputs, options, fields):
        if name not in self.codes:
            self.codes.append(name)
        if options is not None:
            fields = {k: self.numbers(v) if isinstance(v, tuple) else v
                      for k, v in fields.items()}
            fields = {"BuiltinOptionsType": getattr(tflite.BuiltinOptions, options),
                      "BuiltinOptions": self.table(options, **fields)}
        return self.table("Operator", OpcodeIndex=self.codes.index(name),
                          Inputs=self.numbers(inputs), Outputs=self.numbers(outputs),
                          **fields)

    def file(self, output):
        b = self.builder
        buffers = []
        for data in self.buffers:
            bytes_ = b.CreateByteVector(data)
            buffers.append(self.table("Buffer", Data=bytes_))
        tensors = self.tables([self.add_tensor(*t) for t in self.tensors])
        operators = self.tables([self.add_operator(*o) for o in self.operators])
        graph = self.table("SubGraph", Tensors=tensors, Inputs=self.numbers(self.inputs),
                           Outputs=self.numbers([output]), Operators=operators)
        codes = []
        for name in self.codes:
            code = getattr(tflite.BuiltinOperator, name)
            codes.append(self.table("OperatorCode", DeprecatedBuiltinCode=min(code, 127),
                                    BuiltinCode=code,
                                    Version=2 if name == "BROADCAST_TO" else 1))
        parts = [self.tables(p) for p in ([graph], codes, buffers)]
        b.Finish(self.table("Model", Version=3, Subgraphs=parts[0], OperatorCodes=parts[1],
                            Buffers=parts[2]), b"TFL3")
        return bytes(b.Output())


def images_inside():
    """The number of images goes into the second extent."""
    m = Small()
    images = m.extent(m.shape(m.body, 4), 0)
    wide = m.times(images, m.scalar(32))
    r = m.reshaped(m.body, [~4, wide], (4, 32))
    return m.file(m.operator("RELU", [r], (4, 32)))


def product_of_extents():
    """A shape made of the shape behind another computed one, by REDUCE_PROD."""
    m = Small()
    images = m.extent(m.shape(m.body, 4), 0)
    r = m.operator("RELU", [m.reshaped(m.body, [images, ~16, ~8], (1, 16, 8))], (1, 16, 8))
    two = m.operator("SLICE", [m.shape(r, 3), m.integers(0), m.integers(2)], (2,),
                     kind="int32")
    product = m.operator("REDUCE_PROD", [two, m.integers(0)], (1,), kind="int32",
                         options="ReducerOptions", KeepDims=True)
    whole = m.operator("CONCATENATION", [product, m.integers(8)], (2,), kind="int32",
                       options="ConcatenationOptions", Axis=0)
    r = m.operator("RESHAPE", [r, whole], (16, 8))
    return m.file(m.operator("RELU", [r], (16, 8)))


def open_size():
    """Height and width are open, too."""
    m = Small((-1, -1, -1, 8))
    shape = m.shape(m.body, 4)
    images, high, wide = [m.extent(shape, axis) for axis in range(3)]
    r = m.reshaped(m.body, [images, m.times(high, wide), ~8], (1, 16, 8))
    return m.file(m.operator("RELU", [r], (1, 16, 8)))


def shape_of_the_program():
    """A second input holds the shape of TRANSPOSE_CONV's output, 4 channels."""
    m = Small((-1, -1, -1, 8))
    m.inputs.append(m.tensor((4,), "int32"))
    weight = m.tensor((4, 3, 3, 8), "int8", [(7 * i) % 23 - 11 for i in range(288)])
    made = m.operator("TRANSPOSE_CONV", [m.inputs[1], weight, m.body], (1, 8, 8, 4),
                      options="TransposeConvOptions", StrideH=2, StrideW=2)
    return m.file(m.operator("RELU", [made], (1, 8, 8, 4)))


def models():
    """Name -> bytes."""
    return {"images inside": images_inside(), "product of extents": product_of_extents(),
            "open size": open_size()}
