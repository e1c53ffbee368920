# SPDX-License-Identifier: Apache-2.0
"""One model of each operator of TensorFlow Lite that has a quantised or integer kernel.

CASES: operator, what makes its model, the types to try. The runtime decides which of
these types it runs."""
import numpy as np

BYTES = ("int8", "uint8", "int16", "float")
ALL = BYTES + ("int32",)
CASES = []


def case(operators, types=BYTES, variants=("",)):
    def add(make):
        for operator in operators if isinstance(operators, (list, tuple)) else [operators]:
            for variant in variants:
                CASES.append((operator, variant, types, make))
        return make
    return add


# ---- one operand

RANGES = {"ABS": (-2, 2, 0, 2), "SQRT": (0, 4, 0, 2), "RSQRT": (0.02, 4, 0, 6),
          "EXP": (-3, 1, 0, 2.7), "LOG": (0.05, 4, -3, 1.5), "SQUARE": (-2, 2, 0, 4),
          "SIN": (-3, 3, -1, 1), "COS": (-3, 3, -1, 1), "NEG": (-2, 2, -2, 2),
          "LOGISTIC": (-6, 6, 0, 1), "TANH": (-3, 3, -1, 1), "ELU": (-3, 3, -1, 3),
          "GELU": (-3, 3, -0.2, 3), "RELU": (-3, 3, 0, 3), "RELU6": (-8, 8, 0, 6),
          "RELU_N1_TO_1": (-2, 2, -1, 1), "RELU_0_TO_1": (-2, 2, 0, 1),
          "HARD_SWISH": (-4, 4, -0.4, 4), "CEIL": (-3, 3, -3, 3), "FLOOR": (-3, 3, -3, 3),
          "ROUND": (-3, 3, -3, 3), "SIGN": (-3, 3, -1, 1), "ZEROS_LIKE": (-1, 1, -1, 1)}
FIXED = {"LOGISTIC": {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)},
         "TANH": {"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)}}


@case(list(RANGES), ALL)
def unary(m, operator, variant):
    low, high, least, most = RANGES[operator]
    x = m.x([2, 5, 6, 8], low, high)
    y = m.y([2, 5, 6, 8], least, most, affine=FIXED.get(operator, {}).get(m.kind))
    options = dict(options="GeluOptions") if operator == "GELU" else {}
    m.op(operator, [x], [y], **options)


@case("RSQRT", ("int16",), ("of_absolute",))
def rsqrt16(m, operator, variant):
    x, size = m.x([3, 400], -2, 2), m.tensor([3, 400], "int16", m.affine("int16", 0, 2))
    m.op("ABS", [x], [size])
    m.op(operator, [size], [m.y([3, 400], 0, 6)])


@case("DIV", ("int8", "uint8"), ("coarse",))
def coarse_quotient(m, operator, variant):
    """Divided by so much that small dividends are shifted out."""
    x, y = m.x([4, 200], -1, 2), m.y([4, 200], -20, 40)
    numbers = (np.arange(200) % 120 + 1).astype(m.kind)
    z = m.tensor([200], m.kind, (np.float32(0.02), 0), numbers)
    m.op(operator, [x, z], [y], options="DivOptions")


@case("CONV_3D", ("float",), ("", "dilated_same", "strided_biased"))
def conv3d(m, operator, variant):
    wide = variant == "dilated_same"
    stride, dilation = (2 if variant == "strided_biased" else 1), (2 if wide else 1)
    out = [5, 6, 6] if wide else [2, 3, 3] if stride == 2 else [4, 5, 5]
    inputs = [m.x([1, 5, 6, 6, 3]), m.weight([2, 2, 2, 3, 4], 0.5)]
    if stride == 2:
        inputs.append(m.bias(4, *inputs))
    m.op(operator, inputs, [m.y([1] + out + [4], -3, 3)], options="Conv3DOptions",
         padding=0 if wide else 1, strideD=stride, strideH=stride, strideW=stride,
         dilationDFactor=dilation, dilationHFactor=dilation, dilationWFactor=dilation,
         fusedActivationFunction=0)


@case(("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"), ("float",))
def suppression(m, operator, variant):
    soft = operator.endswith("5")
    inputs = [m.x([40, 4], 0, 1), m.x([40], 0, 1), m.scalar(10),
              m.scalar(0.5, "float32"), m.scalar(0.2, "float32")]
    outputs = [m.tensor([10], "int32"), m.tensor([], "int32")]
    if soft:
        inputs.append(m.scalar(0.3, "float32"))
        outputs.insert(1, m.tensor([10], "float32"))
    m.outputs += outputs
    m.op(operator, inputs, outputs, options=operator.title().replace("_", "") + "Options")


@case("GELU", ("int8", "float"), ("approximate",))
def gelu(m, operator, variant):
    m.op("GELU", [m.x([1, 40], -3, 3)], [m.y([1, 40], -0.2, 3)], options="GeluOptions",
         approximate=True)


@case("LEAKY_RELU")
def leaky(m, operator, variant):
    m.op(operator, [m.x([1, 5, 6, 8], -2, 2)], [m.y([1, 5, 6, 8], -0.6, 2)],
         options="LeakyReluOptions", alpha=0.3)


@case("PRELU")
def prelu(m, operator, variant):
    m.op(operator, [m.x([1, 5, 6, 8], -2, 2), m.weight([1, 1, 8], 0.5)],
         [m.y([1, 5, 6, 8], -1, 2)])


@case("QUANTIZE", BYTES, ("int8", "uint8", "int16"))
def quantize(m, operator, variant):
    if m.kind == "float":
        return m.op(operator, [m.x([3, 40], -2, 2)], [m.y([3, 40], -2, 2, kind=variant)])
    m.op(operator, [m.x([3, 40], -2, 2)], [m.y([3, 40], -2, 2, kind=variant)])


@case("QUANTIZE", ("int8", "int16"), ("from_int32", "to_int32"))
def quantize_wide(m, operator, variant):
    wide, out = m.tensor([3, 40], "int32", (np.float32(0.043), 0)), variant == "to_int32"
    if out:
        m.outputs.append(wide)
        return m.op(operator, [m.x([3, 40], -2, 2)], [wide])
    m.inputs.append(wide)
    m.op(operator, [wide], [m.y([3, 40], -1.5, 2)])


@case("BATCH_MATMUL", ("int16",), ("int8", "int8_adj_y"))
def batch_matmul_by_bytes(m, operator, variant):
    adj = variant == "int8_adj_y"
    z = m.weight([4, 7] if adj else [7, 4], kind="int8")
    m.op(operator, [m.x([2, 5, 7]), z], [m.y([2, 5, 4], -3, 3)],
         options="BatchMatMulOptions", adjY=adj)


@case("CAST", ("int8", "uint8", "int16", "int32", "int64", "bool", "float"),
      ("int8", "uint8", "int16", "int32", "int64", "bool", "float"))
def cast(m, operator, variant):
    types = {"float": 0, "int8": 9, "uint8": 3, "int16": 7, "int32": 2, "int64": 4, "bool": 6}
    m.op(operator, [m.x([3, 40], -9, 9)], [m.y([3, 40], -9, 9, kind=variant)],
         options="CastOptions", inDataType=types[m.kind], outDataType=types[variant])


@case("LOGICAL_NOT", ("bool",))
def logical_not(m, operator, variant):
    m.op(operator, [m.x([3, 40])], [m.y([3, 40])])


# ---- two operands

BINARY = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions",
          "MAXIMUM": None, "MINIMUM": None, "SQUARED_DIFFERENCE": None, "POW": None,
          "FLOOR_DIV": None, "FLOOR_MOD": None, "ATAN2": None}
SHAPES = {"": ([2, 4, 5, 6], [2, 4, 5, 6]), "row": ([2, 4, 5, 6], [6]),
          "column": ([2, 4, 1, 6], [1, 1, 5, 1])}


@case(list(BINARY), ALL + ("int64",), tuple(SHAPES))
def binary(m, operator, variant):
    a, b = SHAPES[variant]
    if operator == "ATAN2":  # does not broadcast
        a = b
    low = 0.2 if operator in ("DIV", "POW", "FLOOR_DIV", "FLOOR_MOD") else -1
    x = m.x(a, low, 2)
    whole = operator in ("DIV", "FLOOR_DIV", "FLOOR_MOD", "POW") and m.kind in (
        "int32", "int64", "int8", "uint8", "int16")
    if whole:  # no zeros among divisors
        array = m.rng.integers(1, 4, b).astype(m.kind)
        z = m.tensor(b, m.kind, m.affine(m.kind, -1, 2) and (np.float32(0.02), 0), array)
    else:
        z = m.x(b, low, 2, like=x if operator in ("MAXIMUM", "MINIMUM") else None)
    options = dict(options=BINARY[operator]) if BINARY[operator] else {}
    shape = list(np.broadcast_shapes(a, b))
    like = x if operator in ("MAXIMUM", "MINIMUM") else None
    m.op(operator, [x, z], [m.y(shape, -2, 4, like=like)], **options)


@case(["ADD", "MUL", "SUB"], BYTES, ("RELU6", "RELU"))
def fused(m, operator, variant):
    m.op(operator, [m.x([2, 30]), m.x([2, 30])], [m.y([2, 30], -2, 2)],
         options=BINARY[operator], fusedActivationFunction=3 if variant == "RELU6" else 1)


@case(["EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"],
      ALL + ("int64", "bool"), tuple(SHAPES))
def compare(m, operator, variant):
    a, b = SHAPES[variant]
    m.op(operator, [m.x(a), m.x(b)], [m.y(list(np.broadcast_shapes(a, b)), kind="bool")])


@case(["LOGICAL_AND", "LOGICAL_OR"], ("bool",), tuple(SHAPES))
def logical(m, operator, variant):
    a, b = SHAPES[variant]
    m.op(operator, [m.x(a), m.x(b)], [m.y(list(np.broadcast_shapes(a, b)))])


@case(["BITWISE_XOR", "RIGHT_SHIFT"], ("int8", "uint8", "int16", "int32", "bool"))
def bits(m, operator, variant):
    b = m.weight([2, 4, 5, 6]) if operator == "BITWISE_XOR" else m.tensor(
        [2, 4, 5, 6], m.kind, None, m.rng.integers(0, 6, [2, 4, 5, 6]).astype(m.kind))
    m.op(operator, [m.x([2, 4, 5, 6]), b], [m.y([2, 4, 5, 6])])


@case(["SELECT", "SELECT_V2"], ALL + ("int64", "bool"), ("", "row"))
def select(m, operator, variant):
    x = m.x([3, 4, 8])
    c = m.x([3, 4, 8] if not variant else [3] if operator == "SELECT" else [8], kind="bool")
    z = m.x([3, 4, 8], like=x if m.kind != "float" else None)
    m.op(operator, [c, x, z], [m.y([3, 4, 8], like=x if m.kind != "float" else None)])


@case("ADD_N", ("float", "int32"))
def add_n(m, operator, variant):
    m.op(operator, [m.x([3, 8]), m.x([3, 8]), m.x([3, 8])], [m.y([3, 8], -3, 3)],
         options="AddNOptions")


# ---- windows and products

@case("CONV_2D", BYTES, ("", "per_axis", "groups", "relu6"))
def conv(m, operator, variant):
    kind = "int8" if m.kind == "int16" else m.kind
    x = m.x([1, 7, 6, 8])
    groups = 2 if variant == "groups" else 1
    per_axis = variant == "per_axis" and kind == "int8"
    w = m.weight([6, 3, 3, 8 // groups], 0.3, 0 if per_axis else None, kind)
    m.op(operator, [x, w, m.bias(6, x, w)], [m.y([1, 4, 3, 6], -2, 2)], options="Conv2DOptions",
         strideW=2, strideH=2, padding=0, dilationWFactor=1, dilationHFactor=1,
         fusedActivationFunction=3 if variant == "relu6" else 0)


@case("DEPTHWISE_CONV_2D", BYTES, ("", "per_axis", "multiplier", "dilated"))
def depthwise(m, operator, variant):
    kind = "int8" if m.kind == "int16" else m.kind
    times, dilation = (2 if variant == "multiplier" else 1), (2 if variant == "dilated" else 1)
    x = m.x([1, 7, 6, 8])
    w = m.weight([1, 3, 3, 8 * times], 0.5, 3 if variant and kind == "int8" else None, kind)
    m.op(operator, [x, w, m.bias(8 * times, x, w)], [m.y([1, 7, 6, 8 * times], -2, 2)],
         options="DepthwiseConv2DOptions", strideW=1, strideH=1, padding=0,
         depthMultiplier=times, dilationWFactor=dilation, dilationHFactor=dilation)


@case("TRANSPOSE_CONV", BYTES, ("", "bias"))
def transpose_conv(m, operator, variant):
    kind = "int8" if m.kind == "int16" else m.kind
    x = m.x([1, 4, 5, 8])
    w = m.weight([6, 3, 3, 8], 0.3, None, kind)
    shape = m.ints(1, 8, 10, 6)
    m.op(operator, [shape, w, x] + ([m.bias(6, x, w)] if variant else []),
         [m.y([1, 8, 10, 6], -2, 2)], version=3 if variant else 2,
         options="TransposeConvOptions", strideW=2, strideH=2, padding=0)


@case("FULLY_CONNECTED", BYTES, ("", "keep", "no_bias", "per_axis", "computed"))
def fully_connected(m, operator, variant):
    kind = "int8" if m.kind == "int16" else m.kind
    x = m.x([3, 4, 20] if variant == "keep" else [12, 20])
    if variant == "computed":
        w = m.x([9, 20], kind=kind) if kind != "int8" else m.x([9, 20])
    else:
        w = m.weight([9, 20], 0.4, 0 if variant == "per_axis" and kind == "int8" else None,
                     kind)
    b = -1 if variant in ("no_bias", "computed") else m.bias(9, x, w)
    shape = [3, 4, 9] if variant == "keep" else [12, 9]
    m.op(operator, [x, w, b], [m.y(shape, -2, 2)], version=5, options="FullyConnectedOptions",
         keepNumDims=variant == "keep")


@case("BATCH_MATMUL", BYTES, ("", "adj_y", "adj_x", "broadcast", "constant"))
def batch_matmul(m, operator, variant):
    x = m.x([2, 3, 7, 5] if variant == "adj_x" else [2, 3, 5, 7])
    right = [2, 3, 4, 7] if variant == "adj_y" else [2, 3, 7, 4]
    right = [1, 1, 7, 4] if variant == "broadcast" else right
    z = m.weight(right) if variant == "constant" else m.x(right)
    m.op(operator, [x, z], [m.y([2, 3, 5, 4], -3, 3)], options="BatchMatMulOptions",
         adjX=variant == "adj_x", adjY=variant == "adj_y")


@case(["AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"], BYTES, ("", "same"))
def pool(m, operator, variant):
    x = m.x([1, 9, 8, 6])
    same = variant == "same"
    m.op(operator, [x], [m.y([1, 5, 4, 6] if same else [1, 4, 3, 6],
                             like=x if m.kind != "float" else None)],
         options="Pool2DOptions", strideW=2, strideH=2, filterWidth=3, filterHeight=3,
         padding=0 if same else 1)


@case(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"], BYTES, ("", "corners", "half"))
def resize(m, operator, variant):
    x = m.x([1, 5, 4, 6])
    options = ("ResizeBilinearOptions" if operator == "RESIZE_BILINEAR" else
               "ResizeNearestNeighborOptions")
    m.op(operator, [x, m.ints(9, 7)], [m.y([1, 9, 7, 6], like=x if m.kind != "float" else None)],
         version=3, options=options, alignCorners=variant == "corners",
         halfPixelCenters=variant == "half")


# ---- rows

@case(["SOFTMAX", "LOG_SOFTMAX"], BYTES)
def softmax(m, operator, variant):
    x = m.x([4, 20], -4, 4)
    log = operator == "LOG_SOFTMAX"
    fixed = ({"int8": (16 / 256, 127), "uint8": (16 / 256, 255)} if log else
             {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)})
    m.op(operator, [x], [m.y([4, 20], -9 if log else 0, 0 if log else 1,
                             affine=fixed.get(m.kind))],
         options="LogSoftmaxOptions" if log else "SoftmaxOptions",
         **({} if log else {"beta": 1.0}))


@case("SOFTMAX", ("int8",), ("int16 output",))
def softmax16(m, operator, variant):
    m.op(operator, [m.x([4, 20], -4, 4)],
         [m.y([4, 20], kind="int16", affine=(1 / 65536, -32768))],
         options="SoftmaxOptions", beta=1.0)


@case("L2_NORMALIZATION", BYTES)
def l2_normalization(m, operator, variant):
    fixed = {"int8": (1 / 128, 0), "uint8": (1 / 128, 128)}
    m.op(operator, [m.x([2, 3, 4, 9])], [m.y([2, 3, 4, 9], affine=fixed.get(m.kind))],
         options="L2NormOptions")


@case("LOCAL_RESPONSE_NORMALIZATION")
def lrn(m, operator, variant):
    m.op(operator, [m.x([1, 3, 4, 9])], [m.y([1, 3, 4, 9])], radius=2, bias=1.0, alpha=0.5,
         beta=0.75, options="LocalResponseNormalizationOptions")


REDUCERS = ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"]


@case(REDUCERS, ALL + ("int64",), ("rows", "spatial", "all", "same affine"))
def reduce(m, operator, variant):
    shape = [2, 3, 2, 5] if operator == "REDUCE_PROD" else [2, 5, 6, 7]
    axes = {"rows": [-1], "spatial": [1, 2], "all": [0, 1, 2, 3], "same affine": [1]}[variant]
    keep = variant == "spatial"
    out = [1 if i in [a % 4 for a in axes] else e for i, e in enumerate(shape)]
    if not keep:
        out = [e for i, e in enumerate(shape) if i not in [a % 4 for a in axes]]
    x = m.x(shape, -1, 1.2)
    same = variant == "same affine" or operator in ("REDUCE_MAX", "REDUCE_MIN")
    y = m.y(out, -1, 1.2, like=x if same and m.kind != "float" else None)
    m.op(operator, [x, m.ints(*axes)], [y], options="ReducerOptions", keepDims=keep)


@case(["REDUCE_ANY", "REDUCE_ALL"], ("bool",))
def reduce_bool(m, operator, variant):
    m.op(operator, [m.x([4, 5, 3]), m.ints(2)], [m.y([4, 5])], options="ReducerOptions",
         keepDims=False)


@case("CUMSUM", ALL, ("", "exclusive", "reverse"))
def cumsum(m, operator, variant):
    m.op(operator, [m.x([3, 4, 6]), m.scalar(1)], [m.y([3, 4, 6], -4, 4)],
         options="CumsumOptions", exclusive=variant == "exclusive",
         reverse=variant == "reverse")


@case(["ARG_MAX", "ARG_MIN"], ALL + ("bool",), ("", "axis"))
def arg(m, operator, variant):
    axis = 1 if variant else -1
    out = [3, 6] if variant else [3, 4]
    m.op(operator, [m.x([3, 4, 6]), m.scalar(axis)], [m.y(out, kind="int32")],
         options="ArgMaxOptions" if operator == "ARG_MAX" else "ArgMinOptions", outputType=2)


@case("TOPK_V2", ALL)
def topk(m, operator, variant):
    x = m.x([3, 20])
    m.op(operator, [x, m.scalar(4)],
         [m.y([3, 4], like=x if m.kind != "float" else None), m.y([3, 4], kind="int32")],
         options="TopKV2Options")


# ---- movers

@case(["RESHAPE", "SQUEEZE", "EXPAND_DIMS"], ALL)
def reshape(m, operator, variant):
    x = m.x([1, 4, 6])
    out = {"RESHAPE": [8, 3], "SQUEEZE": [4, 6], "EXPAND_DIMS": [1, 4, 1, 6]}[operator]
    y = m.y(out, like=x if m.kind != "float" else None)
    if operator == "RESHAPE":
        m.op(operator, [x, m.ints(8, 3)], [y], options="ReshapeOptions", newShape=[8, 3])
    elif operator == "SQUEEZE":
        m.op(operator, [x], [y], options="SqueezeOptions", squeezeDims=[0])
    else:
        m.op(operator, [x, m.scalar(2)], [y], options="ExpandDimsOptions")


@case(["CONCATENATION", "PACK"], ALL + ("int64", "bool"))
def join(m, operator, variant):
    x = m.x([2, 4, 6])
    like = x if m.kind != "float" else None
    if operator == "PACK":
        m.op(operator, [x, m.x([2, 4, 6], like=like)], [m.y([2, 2, 4, 6], like=like)],
             options="PackOptions", axis=1, valuesCount=2)
    else:
        m.op(operator, [x, m.x([2, 3, 6], like=like)], [m.y([2, 7, 6], like=like)],
             options="ConcatenationOptions", axis=1)


@case("CONCATENATION", ("uint8",), ("finer", "coarser"))
def join_rescaled(m, operator, variant):
    low = -0.4 if variant == "finer" else -2.6
    m.op(operator, [m.x([2, 400, 6]), m.x([2, 300, 6], low, -low), m.x([2, 9, 6])],
         [m.y([2, 709, 6])], options="ConcatenationOptions", axis=1)


@case(["SPLIT", "SPLIT_V", "UNPACK"], ALL)
def split(m, operator, variant):
    x = m.x([2, 4, 6])
    like = x if m.kind != "float" else None
    if operator == "SPLIT":
        m.op(operator, [m.scalar(1), x], [m.y([2, 2, 6], like=like) for _ in range(2)],
             options="SplitOptions", numSplits=2)
    elif operator == "SPLIT_V":
        m.op(operator, [x, m.ints(1, 3), m.scalar(1)],
             [m.y([2, n, 6], like=like) for n in (1, 3)], options="SplitVOptions", numSplits=2)
    else:
        m.op(operator, [x], [m.y([2, 6], like=like) for _ in range(4)],
             options="UnpackOptions", num=4, axis=1)


@case(["SLICE", "STRIDED_SLICE"], ALL + ("int64", "bool"))
def cut(m, operator, variant):
    x = m.x([4, 5, 6])
    y = m.y([2, 5, 3] if operator == "SLICE" else [2, 5, 2], like=x if m.kind != "float" else None)
    if operator == "SLICE":
        m.op(operator, [x, m.ints(1, 0, 2), m.ints(2, 5, 3)], [y], options="SliceOptions")
    else:
        m.op(operator, [x, m.ints(1, 0, 0), m.ints(3, 5, 5), m.ints(1, 1, 3)], [y],
             options="StridedSliceOptions")


@case(["PAD", "PADV2", "MIRROR_PAD"], ALL + ("int64",))
def pad(m, operator, variant):
    x = m.x([1, 5, 6, 4])
    like = x if m.kind != "float" else None
    inputs = [x, m.ints([[0, 0], [1, 2], [2, 1], [0, 0]])]
    if operator == "PADV2":
        inputs.append(m.weight([1], like=like))
    options = dict(PAD="PadOptions", PADV2="PadV2Options", MIRROR_PAD="MirrorPadOptions")
    m.op(operator, inputs, [m.y([1, 8, 9, 4], like=like)], options=options[operator])


@case("TRANSPOSE", ALL + ("int64", "bool"), ("", "five axes"))
def transpose(m, operator, variant):
    if variant:
        x = m.x([2, 3, 4, 2, 5])
        like = x if m.kind != "float" else None
        m.op(operator, [x, m.ints(0, 3, 1, 4, 2)], [m.y([2, 2, 3, 5, 4], like=like)],
             options="TransposeOptions")
        return
    x = m.x([2, 4, 5, 6])
    m.op(operator, [x, m.ints(0, 3, 1, 2)], [m.y([2, 6, 4, 5], like=x if m.kind != "float" else None)],
         options="TransposeOptions")


@case("GATHER", ALL + ("int64", "bool"), ("", "computed", "axis", "batch"))
def gather(m, operator, variant):
    x = m.x([6, 5, 4])
    like = x if m.kind != "float" else None
    if variant == "computed":  # an index in range, made of a comparison
        c = m.x([3], kind="bool")
        index = m.tensor([3], "int32")
        m.op("CAST", [c], [index], options="CastOptions", inDataType=6, outDataType=2)
        return m.op(operator, [x, index], [m.y([3, 5, 4], like=like)],
                    options="GatherOptions", axis=0)
    if variant == "batch":
        return m.op(operator, [x, m.ints(m.rng.integers(0, 5, [6, 2]))],
                    [m.y([6, 2, 4], like=like)], options="GatherOptions", axis=1, batchDims=1,
                    version=5)
    axis = 1 if variant else 0
    m.op(operator, [x, m.ints(3, 0, 4)], [m.y([6, 3, 4] if axis else [3, 5, 4], like=like)],
         options="GatherOptions", axis=axis)


@case("GATHER_ND", ALL + ("int64", "bool"))
def gather_nd(m, operator, variant):
    x = m.x([4, 5, 6])
    index = np.stack([m.rng.integers(0, 4, 3), m.rng.integers(0, 5, 3)], -1)
    m.op(operator, [x, m.ints(index)], [m.y([3, 6], like=x if m.kind != "float" else None)],
         options="GatherNdOptions")


@case("SCATTER_ND", ALL + ("int64", "bool"))
def scatter_nd(m, operator, variant):
    x = m.x([3, 6])
    m.op(operator, [m.ints([[4], [1], [0]]), x, m.ints(5, 6)],
         [m.y([5, 6], like=x if m.kind != "float" else None)], options="ScatterNdOptions")


@case("ONE_HOT", ALL + ("int64", "bool"))
def one_hot(m, operator, variant):
    c = m.x([7], kind="bool")
    index = m.tensor([7], "int32")
    m.op("CAST", [c], [index], options="CastOptions", inDataType=6, outDataType=2)
    on, off = m.weight([]), m.weight([])
    m.op(operator, [index, m.scalar(3), on, off],
         [m.y([7, 3], like=on if m.kind != "float" else None)], options="OneHotOptions", axis=-1)


@case("EMBEDDING_LOOKUP", ALL)
def embedding(m, operator, variant):
    c = m.x([7], kind="bool")
    index = m.tensor([7], "int32")
    m.op("CAST", [c], [index], options="CastOptions", inDataType=6, outDataType=2)
    table = m.weight([9, 12])
    m.op(operator, [index, table], [m.y([7, 12], like=table if m.kind != "float" else None)])


@case(["TILE", "BROADCAST_TO"], ALL + ("int64", "bool"))
def tile(m, operator, variant):
    x = m.x([2, 1, 5])
    like = x if m.kind != "float" else None
    if operator == "TILE":
        m.op(operator, [x, m.ints(1, 3, 2)], [m.y([2, 3, 10], like=like)], options="TileOptions")
    else:
        m.op(operator, [x, m.ints(2, 3, 5)], [m.y([2, 3, 5], like=like)], version=3,
             options="BroadcastToOptions")


@case("REVERSE_V2", ALL + ("int64", "bool"))
def reverse(m, operator, variant):
    x = m.x([2, 4, 5])
    m.op(operator, [x, m.ints(1)], [m.y([2, 4, 5], like=x if m.kind != "float" else None)],
         options="ReverseV2Options")


@case("REVERSE_SEQUENCE", ALL + ("int64",))
def reverse_sequence(m, operator, variant):
    x = m.x([2, 5, 4])
    m.op(operator, [x, m.ints(3, 5)], [m.y([2, 5, 4], like=x if m.kind != "float" else None)],
         options="ReverseSequenceOptions", seqDim=1, batchDim=0)


@case(["SPACE_TO_DEPTH", "DEPTH_TO_SPACE"], ALL + ("int64",))
def depth(m, operator, variant):
    to_depth = operator == "SPACE_TO_DEPTH"
    x = m.x([1, 4, 6, 8])
    m.op(operator, [x], [m.y([1, 2, 3, 32] if to_depth else [1, 8, 12, 2],
                             like=x if m.kind != "float" else None)],
         options="SpaceToDepthOptions" if to_depth else "DepthToSpaceOptions", blockSize=2)


@case(["SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"], ALL + ("int64",))
def batch(m, operator, variant):
    to_batch = operator == "SPACE_TO_BATCH_ND"
    x = m.x([1, 4, 6, 3] if to_batch else [4, 2, 3, 3])
    m.op(operator, [x, m.ints(2, 2), m.ints([[0, 0], [0, 0]])],
         [m.y([4, 2, 3, 3] if to_batch else [1, 4, 6, 3], like=x if m.kind != "float" else None)],
         options="SpaceToBatchNDOptions" if to_batch else "BatchToSpaceNDOptions")


@case("MATRIX_DIAG", ALL)
def matrix_diag(m, operator, variant):
    x = m.x([2, 5])
    m.op(operator, [x], [m.y([2, 5, 5], like=x if m.kind != "float" else None)],
         options="MatrixDiagOptions")


@case("MATRIX_SET_DIAG", ALL)
def matrix_set_diag(m, operator, variant):
    x = m.x([2, 4, 5])
    like = x if m.kind != "float" else None
    m.op(operator, [x, m.x([2, 4], like=like)], [m.y([2, 4, 5], like=like)],
         options="MatrixSetDiagOptions")


@case("DYNAMIC_UPDATE_SLICE", ALL + ("int64", "bool"))
def dynamic_update(m, operator, variant):
    x = m.x([6, 5])
    like = x if m.kind != "float" else None
    m.op(operator, [x, m.x([2, 5], like=like), m.ints(3, 0)], [m.y([6, 5], like=like)],
         options="DynamicUpdateSliceOptions")


@case("SPARSE_TO_DENSE", ("int8", "uint8", "int32", "int64", "float"))
def sparse_to_dense(m, operator, variant):
    x = m.x([3])
    like = x if m.kind != "float" else None
    m.op(operator, [m.ints([[0, 1], [2, 0], [3, 3]]), m.ints(4, 4), x, m.weight([], like=like)],
         [m.y([4, 4], like=like)], options="SparseToDenseOptions", validateIndices=False)


@case(["UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_MIN",
       "UNSORTED_SEGMENT_PROD", "SEGMENT_SUM"], ("int32", "float"))
def segments(m, operator, variant):
    if operator == "SEGMENT_SUM":
        return m.op(operator, [m.x([5, 4]), m.ints(0, 0, 1, 2, 2)], [m.y([3, 4], -3, 3)],
                    options="SegmentSumOptions")
    kind = {"UNSORTED_SEGMENT_" + n.upper(): f"UnsortedSegment{n}Options"
            for n in ("Max", "Sum", "Min", "Prod")}[operator]
    m.op(operator, [m.x([5, 4]), m.ints(2, 0, 1, 2, 0), m.scalar(3)], [m.y([3, 4], -3, 3)],
         options=kind)


# ---- states

@case("SVDF", ("int8", "float"))
def svdf(m, operator, variant):
    batch, units, memory, rank, size = 2, 6, 5, 1, 8
    x = m.x([batch, size])
    wide = "int16" if m.kind == "int8" else "float"
    feature = m.weight([units * rank, size], 0.5)
    time = m.weight([units * rank, memory], 0.9, kind=wide)
    bias = (m.tensor([units], "int32", (np.float32(1e-4), 0),
                     m.rng.integers(-900, 900, units).astype(np.int32))
            if m.kind == "int8" else m.bias(units, x, feature))
    state = m.tensor([batch, memory * units * rank],
                     "int16" if m.kind == "int8" else "float32",
                     (np.float32(1 / 4096), 0) if m.kind == "int8" else None, variable=True)
    m.op(operator, [x, feature, time, bias, state], [m.y([batch, units], 0, 2)], version=3,
         options="SVDFOptions", rank=rank, fusedActivationFunction=1)


@case("UNIDIRECTIONAL_SEQUENCE_LSTM", ("int8", "float"),
      ("", "time major", "projection", "peephole", "norm", "no input gate"))
def lstm(m, operator, variant):
    batch, steps, size, cells = 2, 3, 6, 5
    out = 4 if variant == "projection" else cells
    wide = m.kind == "float"
    major = variant == "time major"
    x = m.x([steps, batch, size] if major else [batch, steps, size])
    cifg = variant == "no input gate"

    def weight(shape, spread=0.6):
        return m.weight(shape, spread)

    def gates(shape):
        return [-1 if cifg and g == 0 else weight(shape) for g in range(4)]

    def whole(count, scale, spread):
        if wide:
            return m.tensor([count], "float32", None,
                            m.rng.uniform(-spread, spread, count).astype(np.float32))
        return m.tensor([count], "int32", (np.float32(scale), 0),
                        np.rint(m.rng.uniform(-spread, spread, count) / scale).astype(np.int32))

    inputs = [x] + gates([cells, size]) + gates([cells, out])
    if variant == "peephole":
        inputs += [m.weight([cells], 0.3, kind="float" if wide else "int16")
                   for _ in range(3)]
    else:
        inputs += [-1] * 3
    norm_scale = 1 / 4096
    for g in range(4):
        inputs.append(-1 if cifg and g == 0 else whole(cells, 0.6 / 127 / 128, 0.5))
    if variant == "projection":
        inputs += [weight([out, cells]), whole(out, 0.6 / 127 / 32768, 0.3)]
    else:
        inputs += [-1, -1]
    hidden = None if wide else m.affine("int8", -1, 1)
    inputs.append(m.tensor([batch, out], "float32" if wide else "int8", hidden, variable=True))
    inputs.append(m.tensor([batch, cells], "float32" if wide else "int16",
                           None if wide else (np.float32(2.0 ** -11), 0), variable=True))
    if variant == "norm":
        inputs += [m.weight([cells], 0.9, kind="float" if wide else "int16")
                   for _ in range(4)]
    else:
        inputs += [-1] * 4
    shape = [steps, batch, out] if major else [batch, steps, out]
    y = m.y(shape, -1, 1, affine=hidden)
    m.op(operator, inputs, [y], version=3,
         options="UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4,
         cellClip=0.0, projClip=0.0, timeMajor=major)
    if not wide:  # scales of sums inside: four gates and the hidden state
        last = m.operators[-1]
        last.intermediates = [
            m.tensor([], "int16", (np.float32(norm_scale), 0)) for _ in range(4)]
        last.intermediates.append(m.tensor([], "int8", m.affine("int8", -1, 1)
                                           if variant == "projection" else hidden))
