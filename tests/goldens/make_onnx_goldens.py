#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small quantised ONNX models, and the outputs of ONNX's own reference on seeded inputs.

Needs: pip install onnx numpy. Writes NAME.onnx into a folder and prints, as JSON, the
FNV-1a hash of each model's stored output bytes for some seeds, as `sluice simulate
--functional --seed N` prints it.

    make_onnx_goldens.py FOLDER > onnx.json
"""
import json
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from seeded_bytes import fnv1a, split_mix


class Model:
    def __init__(self, name, seed):
        self.name, self.nodes, self.constants = name, [], []
        self.random = np.random.default_rng(seed)

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, inputs, out, **attributes):
        self.nodes.append(
            helper.make_node(op, inputs, [out], name=out, **attributes))
        return out

    def quantisation(self, name, scale, zero, dtype):
        return [self.constant(name + ".scale", np.float32(scale)),
                self.constant(name + ".zero", np.array(zero, dtype))]

    def through(self, x, scale, zero, dtype=np.int8):
        """QuantizeLinear and DequantizeLinear."""
        q = self.quantisation(x, scale, zero, dtype)
        self.add("QuantizeLinear", [x] + q, x + ".q")
        return self.add("DequantizeLinear", [x + ".q"] + q, x + ".dq")

    def weight(self, name, shape, axis, scale=None):
        values = self.random.integers(-127, 128, shape).astype(np.int8)
        count = shape[axis]
        scales = (self.random.uniform(0.002, 0.004, count)
                  if scale is None else np.full(count, scale)).astype(np.float32)
        inputs = [self.constant(name + ".w", values),
                  self.constant(name + ".w.scale", scales),
                  self.constant(name + ".w.zero", np.zeros(count, np.int8))]
        self.add("DequantizeLinear", inputs, name + ".w.dq", axis=axis)
        return name + ".w.dq", scales

    def bias(self, name, scales, in_scale):
        values = self.random.integers(-2000, 2000, len(scales)).astype(np.int32)
        inputs = [self.constant(name + ".b", values),
                  self.constant(name + ".b.scale", (scales * np.float32(in_scale))),
                  self.constant(name + ".b.zero", np.zeros(len(scales), np.int32))]
        self.add("DequantizeLinear", inputs, name + ".b.dq", axis=0)
        return name + ".b.dq"

    def finish(self, x, shape, out, out_shape, x_type, out_type):
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info(x, x_type, shape)],
            [helper.make_tensor_value_info(out, out_type, out_shape)],
            self.constants)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        onnx.checker.check_model(model)
        return model


def conv(m, name, x, in_scale, cin, cout, size, relu=True, **attributes):
    w, scales = m.weight(name, (cout, cin // attributes.get("group", 1), size, size), 0)
    b = m.bias(name, scales, in_scale)
    y = m.add("Conv", [x, w, b], name, kernel_shape=[size, size], **attributes)
    return m.add("Relu", [y], name + ".relu") if relu else y


def qdq_cnn():
    """Convolutions, a shortcut, pools and a classifier between Q and DQ."""
    m = Model("qdq_cnn", 1)
    x = m.through("image", 0.02, 3)
    a = m.through(conv(m, "stem", x, 0.02, 3, 8, 3, pads=[1, 1, 1, 1], strides=[2, 2]),
                  0.031, -128)
    b = m.through(conv(m, "depth", a, 0.031, 8, 8, 3, pads=[1, 1, 1, 1], group=8),
                  0.017, -128)
    c = m.through(conv(m, "point", b, 0.017, 8, 8, 1, relu=False), 0.013, 7)
    d = m.through(m.add("MaxPool", [c], "pool", kernel_shape=[2, 2], strides=[2, 2]),
                  0.013, 7)
    e = m.through(m.add("Sigmoid", [d], "sigmoid"), 1 / 256, -128)
    f = m.add("Flatten", [e], "flat")
    w, scales = m.weight("fc", (10, 8 * 4 * 4), 0)
    b = m.bias("fc", scales, 1 / 256)
    g = m.add("Gemm", [f, w, b], "fc", transB=1)
    out = m.through(g, 0.05, -3)
    return m.finish("image", [1, 3, 16, 16], out, [1, 10], TensorProto.FLOAT,
                    TensorProto.FLOAT), 0.02, 3, 0.05, -3, np.int8


def qlinear():
    """QLinear operators on uint8, with a channel shuffle between them."""
    m = Model("qlinear", 2)
    xq = m.quantisation("x", 0.03, 120, np.uint8)
    aq = m.quantisation("a", 0.06, 90, np.uint8)
    yq = m.quantisation("y", 0.08, 130, np.uint8)
    w1 = m.random.integers(-127, 128, (8, 4, 3, 3)).astype(np.int8)
    s1 = m.random.uniform(0.002, 0.004, 8).astype(np.float32)
    m.add("QLinearConv",
          ["x"] + xq + [m.constant("w1", w1), m.constant("s1", s1),
                        m.constant("z1", np.zeros(8, np.int8))] + aq +
          [m.constant("b1", m.random.integers(-900, 900, 8).astype(np.int32))],
          "a", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    m.add("Reshape", ["a", m.constant("s5", np.array([1, 2, 4, 6, 6], np.int64))], "five")
    m.add("Transpose", ["five"], "shuffled", perm=[0, 2, 1, 3, 4])
    m.add("Reshape", ["shuffled", m.constant("s2", np.array([8, 36], np.int64))], "rows")
    w2 = m.random.integers(0, 256, (36, 5)).astype(np.uint8)
    m.add("QLinearMatMul",
          ["rows"] + aq + [m.constant("w2", w2), m.constant("s2.scale", np.float32(0.003)),
                           m.constant("z2", np.array(127, np.uint8))] + yq, "y")
    return m.finish("x", [1, 4, 6, 6], "y", [8, 5], TensorProto.UINT8,
                    TensorProto.UINT8), None, None, None, None, np.uint8


def run(built, seed):
    model, in_scale, in_zero, out_scale, out_zero, dtype = built
    info = model.graph.input[0]
    shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
    n, c, h, w = shape
    stored = np.frombuffer(split_mix(seed * 256, int(np.prod(shape))), dtype)
    x = stored.reshape(n, h, w, c).transpose(0, 3, 1, 2)  # lies channels last
    if in_scale is not None:
        x = ((x.astype(np.float32) - np.float32(in_zero)) * np.float32(in_scale))
    # The evaluator knows QuantizeLinear from opset 19 on; nothing else differs here.
    newer = helper.make_model(model.graph, opset_imports=[helper.make_opsetid("", 19)])
    y = ReferenceEvaluator(newer).run(None, {info.name: np.ascontiguousarray(x)})[0]
    if out_scale is not None:
        y = np.rint(y / np.float32(out_scale) + out_zero).astype(dtype)
    return "%016x" % fnv1a(y.tobytes()), y


def main():
    folder, result = sys.argv[1], {}
    for make in (qdq_cnn, qlinear):
        built = make()
        onnx.save(built[0], f"{folder}/{make.__name__}.onnx")
        result[make.__name__] = [{"seed": seed, "output_fnv1a": run(built, seed)[0]}
                                 for seed in (1, 2, 3)]
    print(json.dumps({"models": result}, indent=1))


if __name__ == "__main__":
    main()
