# SPDX-License-Identifier: Apache-2.0
"""Models of one operator each, for onnx_operators.py.

A case is an operator between DequantizeLinear and QuantizeLinear, as quantisers for QDQ write
it; scales of the results come from a run on floats. Forms with quantised operands of their own
(QLinear..., ...Integer, MatMulNBits) stand below it.
"""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

MS = "com.microsoft"
TYPES = {"int8": T.INT8, "uint8": T.UINT8, "int16": T.INT16, "uint16": T.UINT16}


class Case:
    """One operator. `ins`: shapes of activations; `consts`: further inputs by position;
    `weight`: the position of the constant that quantisers store as int8."""

    def __init__(self, op, ins, consts=None, opset=17, outs=1, domain="", weight=None,
                 label="", positive=False, integers=False, **attributes):
        self.op, self.ins, self.consts, self.opset = op, ins, consts or {}, opset
        self.outs, self.domain, self.weight = outs, domain, weight
        self.label, self.positive, self.integers = label, positive, integers
        self.attributes = attributes

    def name(self):
        return self.op + ("." + self.label if self.label else "")


def rand(*shape):
    return np.random.default_rng(sum(shape) + 7).standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def constant(name, array):
    return numpy_helper.from_array(array, name)


def curves():
    x = [[2, 3, 4, 5]]
    for op in ("Abs", "Neg", "Ceil", "Floor", "Exp", "Erf", "Sin", "Cos", "Tanh", "Sigmoid",
               "Softsign", "Softplus", "Relu", "Elu", "Selu", "LeakyRelu", "HardSigmoid",
               "HardSwish", "Round", "Sign", "Atan", "Tan", "Sinh", "Cosh", "Celu",
               "ThresholdedRelu", "Identity", "Asinh"):
        yield Case(op, x)
    for op in ("Log", "Sqrt", "Reciprocal"):
        yield Case(op, x, positive=True)
    yield Case("Mish", x, opset=18)
    yield Case("Gelu", x, opset=20)
    yield Case("Gelu", x, opset=20, label="tanh", approximate="tanh")
    yield Case("Gelu", x, domain=MS, label="ms")
    yield Case("QuickGelu", x, domain=MS)
    yield Case("FastGelu", x, domain=MS)
    yield Case("BiasGelu", x, {1: rand(5)}, domain=MS)
    yield Case("Swish", x, opset=24)
    yield Case("Shrink", x, lambd=0.4, bias=0.1)
    yield Case("Clip", x, {1: np.float32(-0.5), 2: np.float32(0.9)})
    yield Case("Clip", x, opset=9, label="v9", min=-0.5, max=0.9)
    yield Case("PRelu", x, {1: rand(3, 1, 1)})
    yield Case("Hardmax", x)


def binaries():
    x = [2, 3, 4, 5]
    for op in ("Add", "Sub", "Mul", "Min", "Max", "Mean", "Sum"):
        yield Case(op, [x, x])
        yield Case(op, [x, [3, 1, 1]], label="broadcast")
    for op in ("Add", "Mul", "Sub"):
        yield Case(op, [x], {1: rand(5)}, label="constant")
        yield Case(op, [[2, 3, 2, 2, 3], [2, 3, 2, 2, 3]], label="rank5")
    yield Case("Add", [x, x], opset=7, label="v7")
    yield Case("Max", [x, x, x], label="three")
    yield Case("Sum", [x, x, x], label="three")
    yield Case("Div", [x], {1: np.float32(2.5)}, label="constant")
    yield Case("Div", [x, x], positive=True)
    yield Case("Pow", [x], {1: np.float32(2)}, label="square")
    yield Case("Pow", [x], {1: np.float32(0.5)}, label="root", positive=True)
    yield Case("Mod", [x, x], fmod=1, positive=True)


def rows():
    x, y = [[2, 3, 4, 6]], [[2, 5, 8]]
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
               "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"):
        yield Case(op, x, {1: ints(2, 3)} if op == "ReduceSum" else {}, opset=13,
                   label="spatial", **({} if op == "ReduceSum" else {"axes": [2, 3]}))
        yield Case(op, x, {1: ints(-1)}, opset=18, label="last", keepdims=0)
    yield Case("ReduceMean", x, opset=13, label="channels", axes=[1])
    yield Case("ReduceMean", x, opset=7, label="v7", axes=[2, 3])
    for axis in (-1, 1):
        yield Case("Softmax", y, opset=13, label=f"axis{axis}", axis=axis)
        yield Case("LogSoftmax", y, opset=13, label=f"axis{axis}", axis=axis)
    yield Case("Softmax", y, opset=11, label="v11", axis=1)
    norm = {1: rand(8), 2: rand(8) * np.float32(0.1)}
    yield Case("LayerNormalization", y, norm, axis=-1)
    yield Case("RMSNormalization", y, {1: rand(8)}, opset=23, axis=-1)
    yield Case("SimplifiedLayerNormalization", y, {1: rand(8)}, axis=-1)
    yield Case("SkipLayerNormalization", y * 2, {2: rand(8), 3: rand(8)}, domain=MS)
    yield Case("SkipSimplifiedLayerNormalization", y * 2, {2: rand(8)}, domain=MS)
    yield Case("InstanceNormalization", x, {1: rand(3), 2: rand(3)})
    yield Case("GroupNormalization", [[2, 4, 3, 3]], {1: rand(4), 2: rand(4)}, opset=21,
               num_groups=2)
    yield Case("BatchNormalization", x,
               {1: rand(3), 2: rand(3), 3: rand(3), 4: np.abs(rand(3)) + 1}, opset=15)
    yield Case("MeanVarianceNormalization", x)
    yield Case("LpNormalization", y, axis=-1, p=2)
    yield Case("LRN", x, size=3)
    yield Case("CumSum", y, {1: np.array(2, np.int64)})
    yield Case("ArgMax", x, label="last", axis=3, integers=True)
    yield Case("ArgMax", x, label="channels", axis=1, keepdims=0, integers=True)
    yield Case("ArgMin", x, axis=1, integers=True)
    yield Case("TopK", y, {1: ints(3)}, axis=-1, outs=2)


def moves():
    x = [[2, 4, 4, 6]]
    yield Case("Reshape", x, {1: ints(2, -1)})
    yield Case("Flatten", x)
    yield Case("Squeeze", [[2, 1, 5]], {1: ints(1)})
    yield Case("Unsqueeze", [[2, 5]], {1: ints(0)})
    yield Case("Transpose", x, perm=[0, 2, 3, 1])
    yield Case("Transpose", [[2, 2, 3, 2, 3]], label="rank5", perm=[0, 3, 1, 4, 2])
    yield Case("Transpose", [[1, 2, 2, 3, 2, 3]], label="rank6", perm=[0, 1, 4, 2, 5, 3])
    yield Case("Concat", x * 2, axis=1)
    yield Case("Concat", [[2, 2, 2, 2, 3]] * 2, label="rank5", axis=2)
    yield Case("Split", x, {1: ints(1, 3)}, axis=1, outs=2)
    yield Case("Split", x, opset=11, label="v11", axis=1, outs=2, split=[1, 3])
    yield Case("Slice", x, {1: ints(1), 2: ints(3), 3: ints(1)})
    yield Case("Slice", x, {1: ints(0), 2: ints(6), 3: ints(3), 4: ints(2)}, label="steps")
    yield Case("Slice", x, {1: ints(-1), 2: ints(-9), 3: ints(3), 4: ints(-1)},
               label="backwards")
    yield Case("Slice", x, opset=9, label="v9", starts=[1], ends=[3], axes=[1])
    pads = {1: ints(0, 0, 1, 2, 0, 0, 1, 0)}
    yield Case("Pad", x, pads)
    yield Case("Pad", x, {**pads, 2: np.float32(0.5)}, label="value")
    yield Case("Pad", x, {1: ints(0, 1, 0, 0, 0, 1, 0, 0)}, label="channels")
    for mode in ("reflect", "edge"):
        yield Case("Pad", x, pads, label=mode, mode=mode)
    yield Case("Pad", x, pads, opset=19, label="wrap", mode="wrap")
    yield Case("Pad", x, opset=10, label="v10", pads=[0, 0, 1, 2, 0, 0, 1, 0])
    yield Case("Gather", x, {1: ints(2, 0)}, axis=1)
    yield Case("Gather", x, {1: np.array(1, np.int64)}, label="scalar", axis=2)
    yield Case("GatherElements", [[3, 4]], {1: ints(0, 1, 2, 0).reshape(1, 4)}, axis=0)
    yield Case("GatherND", [[3, 4]], {1: ints(0, 1, 2, 0).reshape(2, 2)})
    yield Case("ScatterND", [[4, 3], [2, 3]], {1: ints(0, 2).reshape(2, 1)}, label="rows")
    yield Case("ScatterElements", [[4, 3], [1, 3]], {1: ints(0, 2, 1).reshape(1, 3)})
    yield Case("Tile", [[2, 3]], {1: ints(2, 3)})
    yield Case("Expand", [[2, 1, 4]], {1: ints(2, 3, 4)})
    yield Case("DepthToSpace", x, blocksize=2)
    yield Case("DepthToSpace", x, label="crd", blocksize=2, mode="CRD")
    yield Case("SpaceToDepth", x, blocksize=2)
    yield Case("ReverseSequence", [[4, 2, 3]], {1: ints(3, 4)}, time_axis=0, batch_axis=1)
    yield Case("Trilu", [[4, 4]])
    yield Case("Where", x * 2, {0: np.arange(6) % 2 == 0})
    for mode, position in (("nearest", "asymmetric"), ("linear", "half_pixel"),
                           ("linear", "align_corners"), ("cubic", "half_pixel")):
        yield Case("Resize", x, {1: np.zeros(0, np.float32),
                                 2: np.array([1, 1, 2, 2], np.float32)},
                   label=f"{mode}_{position}", mode=mode,
                   coordinate_transformation_mode=position)
    yield Case("Resize", x, {3: ints(2, 4, 7, 5)}, label="sizes", mode="linear")
    yield Case("Upsample", x, {1: np.array([1, 1, 2, 2], np.float32)}, opset=9)
    yield Case("GridSample", [[1, 2, 4, 4]], {1: rand(1, 3, 3, 2)}, opset=20,
               mode="linear")
    yield Case("Dropout", x, opset=12)


def products():
    x, w = [[2, 4, 6, 6]], rand(8, 4, 3, 3) * np.float32(0.2)
    bias = rand(8) * np.float32(0.1)
    one = dict(weight=1)
    yield Case("Conv", x, {1: w}, pads=[1] * 4, **one)
    yield Case("Conv", x, {1: w, 2: bias}, label="bias", strides=[2, 2], **one)
    yield Case("Conv", x, {1: rand(4, 1, 3, 3)}, label="depthwise", group=4, **one)
    yield Case("Conv", x, {1: rand(8, 2, 3, 3)}, label="groups", group=2, **one)
    yield Case("Conv", x, {1: w}, label="dilated", dilations=[2, 2], **one)
    for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        yield Case("Conv", x, {1: w}, label=mode.lower(), auto_pad=mode, strides=[2, 2],
                   **one)
    yield Case("Conv", [[2, 4, 9]], {1: rand(5, 4, 3)}, label="one_axis", **one)
    yield Case("Conv", [[1, 2, 4, 4, 4]], {1: rand(3, 2, 2, 2, 2)}, label="three_axes",
               **one)
    yield Case("Conv", [[2, 4, 6, 6], [8, 4, 3, 3]], label="computed")
    yield Case("ConvTranspose", x, {1: rand(4, 3, 2, 2)}, strides=[2, 2], **one)
    yield Case("ConvTranspose", x, {1: rand(4, 3, 3, 3)}, label="pads", strides=[2, 2],
               pads=[1] * 4, output_padding=[1, 1], **one)
    yield Case("Gemm", [[3, 8]], {1: rand(5, 8), 2: rand(5)}, transB=1, **one)
    yield Case("Gemm", [[8, 3]], {1: rand(8, 5)}, label="transA", transA=1, **one)
    yield Case("Gemm", [[3, 8]], {1: rand(8, 5), 2: rand(5)}, label="factors", alpha=0.5,
               beta=2.0, **one)
    yield Case("MatMul", [[2, 3, 8]], {1: rand(8, 5)}, **one)
    yield Case("MatMul", [[2, 3, 8], [2, 8, 5]], label="computed")
    yield Case("MatMul", [[2, 4, 3, 8], [8, 5]], label="shared")
    yield Case("MatMul", [[8], [8, 5]], label="vector")
    yield Case("MatMul", [[3, 8], [8]], label="by_vector")
    for equation, a, b in (("bij,bjk->bik", [2, 3, 4], [2, 4, 5]),
                           ("bhid,bhjd->bhij", [2, 2, 3, 4], [2, 2, 5, 4]),
                           ("ij,jk->ik", [3, 4], [4, 5]),
                           ("bihd,bjhd->bhij", [2, 3, 2, 4], [2, 5, 2, 4])):
        label = equation.replace(",", "_").replace("->", "_")
        yield Case("Einsum", [a, b], label=label, equation=equation)
    yield Case("Einsum", [[2, 3, 4]], {1: rand(4, 5)}, label="weight",
               equation="bij,jk->bik")
    yield Case("FusedMatMul", [[2, 3, 8], [2, 5, 8]], domain=MS, transB=1, alpha=0.5)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        r = {1: rand(1, gates * 4, 6), 2: rand(1, gates * 4, 4), 3: rand(1, gates * 8)}
        yield Case(op, [[5, 2, 6]], r, opset=14, hidden_size=4)
        two = {1: rand(2, gates * 4, 6), 2: rand(2, gates * 4, 4), 3: rand(2, gates * 8)}
        yield Case(op, [[5, 2, 6]], two, opset=14, label="both", hidden_size=4,
                   direction="bidirectional")
        yield Case(op, [[5, 2, 6]], r, opset=14, label="reverse", hidden_size=4,
                   direction="reverse")
        yield Case(op, [[5, 2, 6]], {**r, 4: np.array([5, 3], np.int32)}, opset=14,
                   label="lengths", hidden_size=4)
    yield Case("GRU", [[5, 2, 6]], {1: rand(1, 12, 6), 2: rand(1, 12, 4)}, opset=14,
               label="linear", hidden_size=4, linear_before_reset=1)
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield Case(op, x, kernel_shape=[2, 2], strides=[2, 2])
        yield Case(op, x, label="pads", kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
        yield Case(op, x, label="same", kernel_shape=[3, 3], auto_pad="SAME_UPPER")
        yield Case(op, [[2, 4, 9]], label="one_axis", kernel_shape=[3])
    for op in ("MaxPool", "AveragePool"):
        yield Case(op, x, label="ceil", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    yield Case("AveragePool", x, label="included", kernel_shape=[3, 3], pads=[1] * 4,
               count_include_pad=1)
    yield Case("MaxPool", x, label="dilated", kernel_shape=[2, 2], dilations=[2, 2])
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield Case(op, x)


def cases():
    for group in (curves, binaries, rows, moves, products):
        yield from group()


# ---- models

def model_of(nodes, inputs, outputs, initialisers, opset):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initialisers)
    made = helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)])
    return onnx.shape_inference.infer_shapes(made)


def outputs_of(case):
    return [f"y{i}" for i in range(case.outs)]


def operator(case, arrays):
    """The node, its inputs named a0, a1, ... in the order of the case."""
    count = len(case.ins) + len(case.consts)
    places, names, left = sorted(case.consts), [], list(range(len(case.ins)))
    last = max(places + [count - 1])
    for i in range(last + 1):
        if i in case.consts:
            names.append(f"c{i}")
        else:
            names.append(f"a{left.pop(0)}" if left else "")
    return helper.make_node(case.op, names, outputs_of(case), name="it",
                            domain=case.domain, **case.attributes), [
        constant(f"c{i}", a) for i, a in arrays.items()]


def ranges(case):
    """What the operator answers to floats, and their shapes."""
    from onnx_models import quiet, reference
    node, consts = operator(case, case.consts)
    infos = [helper.make_tensor_value_info(f"a{i}", T.FLOAT, s)
             for i, s in enumerate(case.ins)]
    outs = [helper.make_empty_tensor_value_info(n) for n in outputs_of(case)]
    session = quiet(reference, model_of([node], infos, outs, consts, case.opset))
    rng = np.random.default_rng(3)
    feeds = {i.name: rng.uniform(0.05 if case.positive else -1, 1, s).astype(np.float32)
             for i, s in zip(infos, case.ins)}
    return session.run(None, feeds)


def quantiser(kind, low, high, name):
    """Scale and zero point of a range that holds 0."""
    low, high = min(low, 0.0), max(high, low + 1e-3, 0.0)
    info = np.iinfo(kind)
    if info.min < 0 and info.bits == 16:  # as onnxruntime does, symmetric
        scale, zero = max(-low, high) / info.max, 0
    else:
        scale = (high - low) / (info.max - info.min)
        zero = int(np.clip(np.rint(info.min - low / scale), info.min, info.max))
    return [constant(name + ".s", np.float32(scale)), constant(name + ".z",
                                                              np.array(zero, kind))]


def pair(source, name, target):
    both = [name + ".s", name + ".z"]
    return [helper.make_node("QuantizeLinear", [source] + both, [name + ".q"],
                             name=name + "/Q"),
            helper.make_node("DequantizeLinear", [name + ".q"] + both, [target],
                             name=name + "/DQ")]


def stored_weight(name, array, kind):
    """As int8, or int4, symmetric, one scale."""
    most = 7 if kind == T.INT4 else 127
    scale = np.float32(np.abs(array).max() / most)
    values = np.clip(np.rint(array / scale), -most, most).astype(np.int8)
    tensor = (helper.make_tensor(name + ".q", T.INT4, array.shape, values.ravel().tolist())
              if kind == T.INT4 else constant(name + ".q", values))
    zero = helper.make_tensor(name + ".z", kind, [], [0])
    return [helper.make_node("DequantizeLinear", [name + ".q", name + ".s", name + ".z"],
                             [name], name=name + "/DQ")], [
        tensor, constant(name + ".s", scale), zero]


def qdq(case, kind_name, weights=T.INT8):
    kind = np.dtype(kind_name)
    real = ranges(case)
    consts = {i: a for i, a in case.consts.items() if i != case.weight}
    node, initialisers = operator(case, consts)
    nodes, infos, outs = [], [], []
    if case.weight is not None:
        more, stored = stored_weight(f"c{case.weight}", case.consts[case.weight], weights)
        nodes += more
        initialisers += stored
    for i, shape in enumerate(case.ins):
        initialisers += quantiser(kind, 0.0 if case.positive else -1.0, 1.0, f"x{i}")
        infos.append(helper.make_tensor_value_info(f"x{i}", T.FLOAT, shape))
        nodes += pair(f"x{i}", f"x{i}", f"a{i}")
    nodes.append(node)
    for name, y in zip(outputs_of(case), real):
        if y.dtype != np.float32:
            outs.append(helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(y.dtype), y.shape))
            continue
        initialisers += quantiser(kind, float(y.min()), float(y.max()), name)
        nodes += pair(name, name, name + ".out")
        outs.append(helper.make_tensor_value_info(name + ".out", T.FLOAT, y.shape))
    wide = kind.itemsize == 2 or weights == T.INT4
    return model_of(nodes, infos, outs, initialisers, max(case.opset, 21 if wide else 10))


# ---- operators with quantised operands of their own

def plain(nodes, inputs, constants, opset=21):
    """A model of such nodes that ends in the float y; inputs are (name, type, extents)."""
    infos = [helper.make_tensor_value_info(*i) for i in inputs]
    outs = [helper.make_tensor_value_info("y", T.FLOAT, None)]
    return model_of(nodes, infos, outs, [constant(*c) for c in constants.items()], opset)


def node(op, inputs, outputs, domain="", **attributes):
    return helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes)


def dynamic(source, names):
    return node("DynamicQuantizeLinear", [source], names)


def integers(*shape, kind=np.int8):
    info = np.iinfo(kind)
    return np.random.default_rng(sum(shape)).integers(info.min, info.max + 1, shape).astype(kind)


def integer_products():
    q, x = dynamic("x", ["q", "qs", "qz"]), [("x", T.FLOAT, [2, 5, 20])]
    real = node("Cast", ["i"], ["y"], to=T.FLOAT)
    for label, weight, zero in (("int8", integers(20, 9), np.int8(0)),
                                ("uint8", integers(20, 9, kind=np.uint8), np.uint8(130)),
                                ("channels", integers(20, 9), integers(9))):
        constants = {"w": weight, "z": np.array(zero), "b": rand(9),
                     "s": np.full(np.shape(zero), 0.01, np.float32)}
        yield f"MatMulInteger.{label}", plain(
            [q, node("MatMulInteger", ["q", "w", "qz", "z"], ["i"]), real], x, constants)
        yield f"DynamicQuantizeMatMul.{label}", plain(
            [node("DynamicQuantizeMatMul", ["x", "w", "s", "z", "b"], ["y"], MS)], x, constants)
        yield f"MatMulIntegerToFloat.{label}", plain(
            [q, node("MatMulIntegerToFloat", ["q", "w", "qs", "s", "qz", "z", "b"], ["y"], MS)],
            x, constants)
    yield "MatMulInteger.computed", plain(
        [q, dynamic("u", ["p", "ps", "pz"]),
         node("MatMulInteger", ["q", "p", "qz", "pz"], ["i"]), real],
        [("x", T.FLOAT, [2, 1, 5, 20]), ("u", T.FLOAT, [3, 20, 7])], {})
    for label, weight, attributes in (
            ("pads", (6, 4, 3, 3), dict(pads=[1, 2, 0, 1], strides=[2, 1])),
            ("groups", (6, 2, 3, 3), dict(pads=[1] * 4, group=2)),
            ("depthwise", (4, 1, 3, 3), dict(pads=[1] * 4, group=4, dilations=[2, 1])),
            ("same", (5, 4, 3, 2), dict(auto_pad="SAME_UPPER", strides=[2, 2])),
            ("one_axis", (5, 4, 3), dict(pads=[1, 1]))):
        yield f"ConvInteger.{label}", plain(
            [q, node("ConvInteger", ["q", "w", "qz", "z"], ["i"], **attributes), real],
            [("x", T.FLOAT, [2, 4, 9, 8][:len(weight)])],
            {"w": integers(*weight, kind=np.uint8), "z": np.uint8(120)})


def attentions():
    x, heads = [("x", T.FLOAT, [2, 6, 24])], dict(num_heads=4)
    mask = [("m", T.INT32, [2, 6])]
    for label, more, attributes in (("plain", [], {}), ("mask", mask, {}),
                                    ("causal", [], dict(unidirectional=1))):
        yield f"QAttention.{label}", plain(
            [dynamic("x", ["q", "qs", "qz"]),
             node("QAttention", ["q", "w", "b", "qs", "s", "m" if more else "", "qz", "z"],
                  ["y"], MS, **heads, **attributes)], x + more,
            {"w": integers(24, 72), "b": rand(72), "s": np.float32(0.01), "z": np.int8(0)})
    q = pair("x", "x0", "q")
    step = {"x0.s": np.float32(0.03), "x0.z": np.int8(5)}
    yield "Attention.ms", plain(q + [node("Attention", ["q", "w", "b", "m"], ["y"], MS, **heads)],
                                x + mask, {**step, "w": rand(24, 72), "b": rand(72)})
    yield "MultiHeadAttention", plain(
        q + [node("MultiHeadAttention", ["q", "q", "q", "b", "", "a"], ["y"], MS, **heads)], x,
        {**step, "b": rand(72), "a": rand(1, 1, 6, 6)})
    yield "Attention.shared", plain(
        q + [node("Attention", ["q", "q", "q"], ["y"], q_num_heads=4, kv_num_heads=4,
                  is_causal=1)], x, step, opset=23)
    table = np.arange(64).reshape(16, 4)
    turns = {**step, "c": np.cos(table).astype(np.float32), "n": np.sin(table).astype(np.float32)}
    x, at = [("x", T.FLOAT, [2, 3, 5, 8])], [("p", T.INT64, [2, 5])]
    for pairs in (0, 1):
        yield f"RotaryEmbedding.{'pairs' if pairs else 'halves'}", plain(
            q + [node("RotaryEmbedding", ["q", "c", "n", "p"], ["y"], interleaved=pairs)],
            x + at, turns, opset=23)
    yield "RotaryEmbedding.ms", plain(
        q + [node("RotaryEmbedding", ["q", "p", "c", "n"], ["y"], MS)], x + at, turns)


def four_bits():
    """As onnxruntime's own quantiser writes them."""
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    for symmetric in (True, False):
        made = plain([node("MatMul", ["x", "w"], ["y"])], [("x", T.FLOAT, [2, 3, 64])],
                     {"w": rand(64, 24)})
        quantiser_4 = MatMulNBitsQuantizer(made, block_size=32, is_symmetric=symmetric)
        quantiser_4.process()
        yield f"MatMulNBits.{'symmetric' if symmetric else 'zeros'}", quantiser_4.model.model


def models():
    """Pairs of a name and a model."""
    for group in (integer_products, attentions, four_bits):
        yield from group()
    for case in cases():
        for kind in TYPES:
            if case.positive and kind == "int16":
                continue  # symmetric: it holds negative numbers, whose roots are none
            try:
                yield f"{case.name()}.{kind}", qdq(case, kind)
            except Exception:  # the runtime does not take the operator
                break
        if case.weight is not None:
            for kind in ("uint8", "uint16"):
                yield f"{case.name()}.{kind}_int4", qdq(case, kind, T.INT4)
