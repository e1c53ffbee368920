# SPDX-License-Identifier: Apache-2.0
"""Small TensorFlow Lite files for delegate_test.py, one for each operator and more: each has a
RESHAPE whose shape is computed at run time from images, height and width, and the operator
behind it. The shapes that the files declare behind it are wrong on purpose.
"""
import tflite

from small_models import Small

LIE = (1, 1, 1, 1)  # declared, and never so


class Behind(Small):
    """x is the RESHAPE's output, of the input's extents."""

    def __init__(self):
        super().__init__((-1, -1, -1, 8))
        shape = self.shape(self.body, 4)
        self.images, self.high, self.wide = [self.extent(shape, axis) for axis in range(3)]
        self.x = self.reshaped(self.body, [self.images, self.high, self.wide, ~8], LIE)

    def make(self, name, *inputs, kind="int8", options=None, **fields):
        return self.operator(name, list(inputs), LIE, kind, options, **fields)

    def list(self, *rows):
        """An int32 constant of one or two axes."""
        shape = (len(rows), 2) if isinstance(rows[0], tuple) else (len(rows),)
        return self.tensor(shape, "int32", rows)

    def weight(self, *shape):
        count = 1
        for extent in shape:
            count *= extent
        return self.tensor(shape, "int8", [(7 * i) % 23 - 11 for i in range(count)])

    def bias(self, channels):
        return self.tensor((channels,), "sum", [9 * i - 20 for i in range(channels)])

    def packed(self, *extents):
        return self.operator("PACK", list(extents), LIE, "int32", "PackOptions",
                             ValuesCount=len(extents))

    def minus(self, a, b):
        return self.operator("SUB", [a, b], LIE, "int32", "SubOptions")

    def half(self, a):
        return self.operator("FLOOR_DIV", [a, self.scalar(2)], LIE, "int32",
                             "FloorDivOptions")


def elementwise():
    """Operator -> function of a Behind that appends it behind x, as all below."""
    made = {}
    for name in ("RELU", "RELU6", "RELU_N1_TO_1", "HARD_SWISH"):
        made[name] = lambda m, name=name: m.make(name, m.x)
    made["LEAKY_RELU"] = lambda m: m.make("LEAKY_RELU", m.x, options="LeakyReluOptions",
                                          Alpha=0.5)
    made["LOGISTIC"] = lambda m: m.make("LOGISTIC", m.x, kind="unit")
    made["SOFTMAX"] = lambda m: m.make("SOFTMAX", m.x, kind="unit",
                                       options="SoftmaxOptions", Beta=1.0)
    made["TANH"] = lambda m: m.make("TANH", m.x, kind="both signs")
    made["QUANTIZE"] = lambda m: m.make("QUANTIZE", m.x, kind="uint8")
    made["PRELU"] = lambda m: m.make("PRELU", m.x, m.weight(1, 1, 8))
    made["REVERSE_V2"] = lambda m: m.make("REVERSE_V2", m.x, m.list(1))
    for name, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"),
                          ("MUL", "MulOptions"), ("MINIMUM", None), ("MAXIMUM", None)):
        made[name] = lambda m, name=name, options=options: m.make(
            name, m.weight(8), m.x, options=options)
    return made


def windows():
    sizes = {"StrideH": 2, "StrideW": 1}
    pool = {"options": "Pool2DOptions", "FilterHeight": 2, "FilterWidth": 3, **sizes}
    conv = {"options": "Conv2DOptions", **sizes}
    return {
        "CONV_2D": lambda m: m.make("CONV_2D", m.x, m.weight(5, 3, 3, 8), m.bias(5), **conv),
        "CONV_2D valid": lambda m: m.make("CONV_2D", m.x, m.weight(5, 3, 2, 8), m.bias(5), Padding=1,
                                          **conv),
        "CONV_2D dilated": lambda m: m.make("CONV_2D", m.x, m.weight(4, 2, 2, 8), m.bias(4), Padding=1,
                                            DilationHFactor=3, DilationWFactor=2, **conv),
        "DEPTHWISE_CONV_2D": lambda m: m.make(
            "DEPTHWISE_CONV_2D", m.x, m.weight(1, 3, 3, 16), m.bias(16), DepthMultiplier=2,
            options="DepthwiseConv2DOptions", **sizes),
        "AVERAGE_POOL_2D": lambda m: m.make("AVERAGE_POOL_2D", m.x, **pool),
        "MAX_POOL_2D": lambda m: m.make("MAX_POOL_2D", m.x, Padding=1, **pool),
        "TRANSPOSE_CONV": lambda m: m.make(
            "TRANSPOSE_CONV", m.packed(m.images, m.times(m.high, m.scalar(2)), m.wide,
                                       m.scalar(4)),
            m.weight(4, 3, 3, 8), m.x, options="TransposeConvOptions", **sizes),
        "FULLY_CONNECTED": lambda m: m.make("FULLY_CONNECTED", m.x, m.weight(5, 8),
                                            options="FullyConnectedOptions"),
        "FULLY_CONNECTED kept": lambda m: m.make(
            "FULLY_CONNECTED", m.x, m.weight(5, 8), options="FullyConnectedOptions",
            KeepNumDims=True),
        "BATCH_MATMUL": lambda m: m.make("BATCH_MATMUL", m.x, m.x, AdjY=True,
                                         options="BatchMatMulOptions"),
    }


def reduced(name, kept, *axes):
    def append(m):
        kind = "uint8" if name == "SUM" else "int8"
        x = m.make("QUANTIZE", m.x, kind=kind) if name == "SUM" else m.x
        return m.make(name, x, m.list(*axes), kind=kind, options="ReducerOptions",
                      KeepDims=kept)
    return append


def reductions():
    made = {}
    for name in ("MEAN", "SUM", "REDUCE_MAX"):
        made[name] = reduced(name, False, 1, 2)
        made[name + " kept"] = reduced(name, True, 2, -1)
        made[name + " of images"] = reduced(name, False, 0)
    for name, options in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
        for axis in (-1, 1):
            made[f"{name} {axis}"] = lambda m, name=name, options=options, axis=axis: m.make(
                name, m.x, m.scalar(axis), kind="int64", options=options,
                OutputType=tflite.TensorType.INT64)
    return made


def last(outputs):
    return outputs[-1]


def joined_and_split():
    return {
        "CONCATENATION": lambda m: m.make("CONCATENATION", m.x, m.body, Axis=0,
                                          options="ConcatenationOptions"),
        "PACK": lambda m: m.make("PACK", m.make("MEAN", m.x, m.list(1),
                                                options="ReducerOptions"),
                                 m.make("MEAN", m.x, m.list(1), options="ReducerOptions"),
                                 ValuesCount=2, Axis=1, options="PackOptions"),
        "UNPACK": lambda m: last(m.make("UNPACK", m.x, Num=8, Axis=-1, count=8,
                                        options="UnpackOptions")),
        "SPLIT": lambda m: last(m.make("SPLIT", m.scalar(3), m.x, NumSplits=2, count=2,
                                       options="SplitOptions")),
        "SPLIT_V": lambda m: last(m.make("SPLIT_V", m.x, m.list(1, -1), m.scalar(1),
                                         NumSplits=2, count=2, options="SplitVOptions")),
        "SPLIT_V computed": lambda m: last(m.make(
            "SPLIT_V", m.x, m.packed(m.minus(m.wide, m.scalar(1)), m.scalar(1)), m.scalar(2),
            NumSplits=2, count=2, options="SplitVOptions")),
    }


def slices():
    strided = {"options": "StridedSliceOptions"}
    return {
        "SLICE": lambda m: m.make("SLICE", m.x, m.list(0, 0, 1, 2), m.list(1, 2, -1, 3)),
        "SLICE computed": lambda m: m.make("SLICE", m.x, m.list(0, 0, 0, 0), m.packed(
            m.images, m.half(m.high), m.scalar(-1), m.scalar(8))),
        "STRIDED_SLICE": lambda m: m.make("STRIDED_SLICE", m.x, m.list(0, 1, -1, 0),
                                          m.list(1, 9, -9, 8), m.list(1, 2, -1, 3), **strided),
        "STRIDED_SLICE of an image": lambda m: m.make(
            "STRIDED_SLICE", m.x, m.list(-1, 1), m.list(0, 2), m.list(1, 1),
            ShrinkAxisMask=1, BeginMask=2, **strided),
        "STRIDED_SLICE computed": lambda m: m.make(
            "STRIDED_SLICE", m.x, m.list(0, 0), m.packed(
                m.images, m.minus(m.high, m.scalar(1))), m.list(1, 1), BeginMask=3,
            **strided),
        "GATHER": lambda m: m.make("GATHER", m.x, m.list(0), options="GatherOptions"),
        "GATHER of rows": lambda m: m.make(
            "GATHER", m.x, m.tensor((2, 2), "int32", (1, 0, 0, 1)), Axis=1,
            options="GatherOptions"),
        "GATHER computed": lambda m: m.make(
            "GATHER", m.x, m.packed(m.minus(m.images, m.scalar(1))),
            options="GatherOptions"),
        "EMBEDDING_LOOKUP": lambda m: m.make("EMBEDDING_LOOKUP", m.list(0, 0, 0), m.x),
    }


def repeated():
    return {
        "PAD": lambda m: m.make("PAD", m.x, m.list((1, 0), (0, 2), (1, 1), (0, 0))),
        "PADV2": lambda m: m.make("PADV2", m.x, m.list((0, 0), (1, 0), (0, 3), (2, 0)),
                                  m.tensor((), "int8", 5)),
        "MIRROR_PAD": lambda m: m.make("MIRROR_PAD", m.x, m.list((0, 0), (1, 1), (0, 1),
                                                                 (0, 0)),
                                       options="MirrorPadOptions"),
        "TILE": lambda m: m.make("TILE", m.x, m.list(2, 1, 3, 1)),
        "TILE computed": lambda m: m.make("TILE", m.x, m.packed(
            m.scalar(1), m.images, m.scalar(1), m.scalar(1))),
        "BROADCAST_TO": lambda m: m.make("ADD", m.x, m.make(
            "BROADCAST_TO", m.weight(1, 1, 1, 8), m.packed(m.images, m.high, m.wide,
                                                           m.scalar(8))),
                                         options="AddOptions"),
        "RESIZE_BILINEAR": lambda m: m.make("RESIZE_BILINEAR", m.x, m.list(8, 5),
                                            options="ResizeBilinearOptions"),
        "RESIZE_NEAREST_NEIGHBOR": lambda m: m.make(
            "RESIZE_NEAREST_NEIGHBOR", m.x, m.packed(
                m.times(m.high, m.scalar(2)), m.times(m.wide, m.scalar(3))),
            options="ResizeNearestNeighborOptions"),
    }


def rearranged():
    return {
        "RESHAPE": lambda m: m.make("RESHAPE", m.x, m.list(-1, 32)),
        "RESHAPE by options": lambda m: m.make("RESHAPE", m.x, options="ReshapeOptions",
                                               NewShape=(2, -1, 4)),
        "RESHAPE twice": lambda m: m.make("RELU", m.reshaped(
            m.make("MAX_POOL_2D", m.x, options="Pool2DOptions", FilterHeight=2,
                   FilterWidth=2, StrideH=2, StrideW=2),
            [m.images, m.scalar(-1), ~8], LIE)),
        "SQUEEZE": lambda m: m.make("SQUEEZE", reduced("MEAN", True, 1, 2)(m),
                                    options="SqueezeOptions", SqueezeDims=(1, -2)),
        "SQUEEZE all": lambda m: m.make("SQUEEZE", reduced("MEAN", True, 1, 2)(m),
                                        options="SqueezeOptions"),
        "EXPAND_DIMS": lambda m: m.make("EXPAND_DIMS", reduced("MEAN", False, 1)(m),
                                        m.scalar(0)),
        "EXPAND_DIMS at the end": lambda m: m.make(
            "EXPAND_DIMS", reduced("MEAN", False, 1)(m), m.scalar(-1)),
        "TRANSPOSE": lambda m: m.make("TRANSPOSE", m.x, m.list(1, 3, 0, 2)),
        "DEPTH_TO_SPACE": lambda m: m.make("DEPTH_TO_SPACE", m.x, BlockSize=2,
                                           options="DepthToSpaceOptions"),
        "SPACE_TO_DEPTH": lambda m: m.make("SPACE_TO_DEPTH", m.x, BlockSize=2,
                                           options="SpaceToDepthOptions"),
        "SPACE_TO_BATCH_ND": lambda m: m.make("SPACE_TO_BATCH_ND", m.x, m.list(2, 1),
                                              m.list((0, 0), (1, 0))),
        "BATCH_TO_SPACE_ND": lambda m: m.make(
            "BATCH_TO_SPACE_ND", m.make("SPACE_TO_BATCH_ND", m.x, m.list(2, 2),
                                        m.list((0, 0), (0, 0))),
            m.list(2, 2), m.list((1, 0), (0, 1))),
    }


def others():
    """What the runtime refuses for some sizes, and tensors without elements."""
    return {
        "refused: UNPACK of images": lambda m: m.make("UNPACK", m.x, Num=1,
                                                      options="UnpackOptions"),
        "refused: RESHAPE to a constant": lambda m: m.make("RESHAPE", m.x, m.list(16, 8)),
        "refused: SPACE_TO_DEPTH of rows": lambda m: m.make(
            "SPACE_TO_DEPTH", m.x, BlockSize=4, options="SpaceToDepthOptions"),
        "refused: SPLIT_V of rows": lambda m: last(m.make(
            "SPLIT_V", m.x, m.list(1, 3), m.scalar(1), NumSplits=2, count=2,
            options="SplitVOptions")),
        "nothing left": lambda m: m.make("AVERAGE_POOL_2D", m.x, Padding=1, FilterHeight=4,
                                         FilterWidth=4, StrideH=4, StrideW=4,
                                         options="Pool2DOptions"),
    }


def parts():
    """Models with an operator that no machine computes -> bytes and how many nodes can be
    delegated."""
    inner, split = Behind(), Behind()
    last_of = inner.make("RELU", inner.make("ABS", inner.x))
    # A shape does not cross the border of a part: the runtime computes it and what reads it,
    # but not the RELUs.
    whole = split.packed(split.images, split.high, split.wide, split.scalar(8))
    split.make("RELU", split.x)
    same = split.operator("ABS", [split.body], (1, 4, 4, 8))
    made = split.make("RELU", split.make("RESHAPE", same, whole))
    # Ranks that are declared wrong: no shape follows from them, and the runtime reshapes.
    flat = Behind()
    one = flat.operator("RELU", [flat.x], (1,))
    rows = flat.operator("PACK", [flat.extent(flat.shape(one, 4), -2), flat.scalar(-1)], (),
                         "int32", "PackOptions", ValuesCount=2)
    return {"ABS": (inner.file(last_of), 8),
            "ABS in front of RESHAPE": (split.file(split.make("RELU", made)), 4),
            "ranks declared wrong": (flat.file(flat.make("RESHAPE", one, rows)), 8)}


def models():
    """Name -> bytes, and the operators that the names begin with."""
    made = {}
    for group in (elementwise, windows, reductions, joined_and_split, slices, repeated,
                  rearranged, others):
        for name, append in group().items():
            small = Behind()
            made[name] = small.file(append(small))
    return made, {name.split()[0] for name in made}
