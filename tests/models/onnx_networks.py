# SPDX-License-Identifier: Apache-2.0
"""Small networks as floating-point ONNX models: a block of each well-known kind, with
seeded weights. NETWORKS maps a name to the function that makes the model."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Net:
    def __init__(self, name, seed, opset=17):
        self.name, self.opset = name, opset
        self.nodes, self.constants, self.inputs = [], [], []
        self.rng = np.random.default_rng(seed)
        self.number = 0

    def input(self, name, shape, kind=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def const(self, array, dtype=np.float32):
        self.number += 1
        name = f"c{self.number}"
        self.constants.append(numpy_helper.from_array(np.array(array, dtype), name))
        return name

    def ints(self, *values):
        return self.const(values, np.int64)

    def weight(self, *shape, fan=None):
        fan = fan or int(np.prod(shape[1:]))
        return self.const(self.rng.standard_normal(shape) * np.sqrt(2.0 / fan))

    def op(self, kind, *inputs, outputs=1, **attributes):
        self.number += 1
        names = [f"t{self.number}" if i == 0 else f"t{self.number}_{i}"
                 for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names,
                                           name=f"{kind}_{self.number}", **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, cin, cout, k=3, stride=1, group=1, bias=True, pad=None, dilation=1,
             dims=2):
        pad = (k - 1) * dilation // 2 if pad is None else pad
        w = self.weight(cout, cin // group, *([k] * dims))
        more = [self.const(self.rng.standard_normal(cout) * 0.1)] if bias else []
        return self.op("Conv", x, w, *more, kernel_shape=[k] * dims, strides=[stride] * dims,
                       pads=[pad] * (2 * dims), group=group, dilations=[dilation] * dims)

    def relu(self, x):
        return self.op("Relu", x)

    def relu6(self, x):
        return self.op("Clip", x, self.const(0.0), self.const(6.0))

    def gap(self, x):
        return self.op("GlobalAveragePool", x)

    def fc(self, x, cin, cout, bias=True):
        more = [self.const(self.rng.standard_normal(cout) * 0.1)] if bias else []
        return self.op("Gemm", x, self.weight(cout, cin), *more, transB=1)

    def linear(self, x, cin, cout, bias=True):
        y = self.op("MatMul", x, self.weight(cin, cout, fan=cin))
        return self.op("Add", y, self.const(self.rng.standard_normal(cout) * 0.1)) if bias else y

    def head(self, x, channels, classes=10):
        return self.fc(self.op("Flatten", self.gap(x)), channels, classes)

    def done(self, *outputs):
        import onnx
        graph = helper.make_graph(
            self.nodes, self.name, self.inputs,
            [helper.make_tensor_value_info(y, FLOAT, None) for y in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def lenet():
    n = Net("lenet", 1)
    x = n.input("image", [1, 1, 28, 28])
    x = n.op("MaxPool", n.relu(n.conv(x, 1, 6, 5)), kernel_shape=[2, 2], strides=[2, 2])
    x = n.op("MaxPool", n.relu(n.conv(x, 6, 16, 5, pad=0)), kernel_shape=[2, 2],
             strides=[2, 2])
    x = n.relu(n.fc(n.op("Flatten", x), 400, 120))
    return n.done(n.fc(x, 120, 10))


def resnet():
    n = Net("resnet", 2)
    x = n.relu(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    for cin, cout, stride in [(16, 16, 1), (16, 32, 2), (32, 32, 1)]:
        y = n.conv(n.relu(n.conv(x, cin, cout, 3, stride)), cout, cout)
        side = x if cin == cout else n.conv(x, cin, cout, 1, stride)
        x = n.relu(n.op("Add", y, side))
    return n.done(n.head(x, 32))


def mobilenet_v2():
    n = Net("mobilenet_v2", 3)
    x = n.relu6(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    for cin, cout, stride in [(16, 16, 1), (16, 24, 2), (24, 24, 1)]:
        wide = cin * 4
        y = n.relu6(n.conv(x, cin, wide, 1))
        y = n.relu6(n.conv(y, wide, wide, 3, stride, group=wide))
        y = n.conv(y, wide, cout, 1)
        x = n.op("Add", x, y) if cin == cout and stride == 1 else y
    return n.done(n.head(x, 24))


def mobilenet_v3():
    n = Net("mobilenet_v3", 4)

    def hswish(v):
        return n.op("Mul", v, n.op("HardSigmoid", v, alpha=1 / 6, beta=0.5))
    x = hswish(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    y = hswish(n.conv(x, 16, 48, 1))
    y = hswish(n.conv(y, 48, 48, 5, group=48))
    s = n.relu(n.conv(n.gap(y), 48, 12, 1))
    s = n.op("HardSigmoid", n.conv(s, 12, 48, 1), alpha=1 / 6, beta=0.5)
    y = n.conv(n.op("Mul", y, s), 48, 16, 1)
    return n.done(n.head(n.op("Add", x, y), 16))


def efficientnet():
    n = Net("efficientnet", 5)

    def silu(v):
        return n.op("Mul", v, n.op("Sigmoid", v))
    x = silu(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    y = silu(n.conv(x, 16, 64, 1))
    y = silu(n.conv(y, 64, 64, 3, group=64))
    s = silu(n.conv(n.gap(y), 64, 4, 1))
    y = n.op("Mul", y, n.op("Sigmoid", n.conv(s, 4, 64, 1)))
    y = n.conv(y, 64, 16, 1)
    return n.done(n.head(n.op("Add", x, y), 16))


def squeezenet():
    n = Net("squeezenet", 6)
    x = n.relu(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    for cin in (16, 32):
        s = n.relu(n.conv(x, cin, 8, 1))
        x = n.op("Concat", n.relu(n.conv(s, 8, 16, 1)), n.relu(n.conv(s, 8, 16, 3)), axis=1)
    return n.done(n.op("Softmax", n.op("Flatten", n.gap(n.conv(x, 32, 10, 1))), axis=1))


def densenet():
    n = Net("densenet", 7)
    x = n.relu(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    channels = 16
    for _ in range(3):
        y = n.conv(n.relu(n.conv(x, channels, 32, 1)), 32, 8)
        x, channels = n.op("Concat", x, y, axis=1), channels + 8
    x = n.op("AveragePool", n.relu(n.conv(x, channels, 20, 1)), kernel_shape=[2, 2],
             strides=[2, 2])
    return n.done(n.head(x, 20))


def inception():
    n = Net("inception", 8)
    x = n.relu(n.conv(n.input("image", [1, 3, 24, 24]), 3, 16, 3, 2))
    x = n.op("LRN", x, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    a = n.relu(n.conv(x, 16, 8, 1))
    b = n.relu(n.conv(n.relu(n.conv(x, 16, 8, 1)), 8, 12, 3))
    c = n.relu(n.conv(n.relu(n.conv(x, 16, 4, 1)), 4, 8, 5))
    d = n.op("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1],
             count_include_pad=1)
    x = n.op("Concat", a, b, c, n.relu(n.conv(d, 16, 8, 1)), axis=1)
    return n.done(n.head(x, 36))


def shufflenet():
    n = Net("shufflenet", 9)
    x = n.relu(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    a, b = n.op("Split", x, n.ints(8, 8), outputs=2, axis=1)
    b = n.relu(n.conv(b, 8, 8, 1))
    b = n.conv(b, 8, 8, 3, group=8)
    b = n.relu(n.conv(b, 8, 8, 1))
    x = n.op("Concat", a, b, axis=1)
    x = n.op("Reshape", x, n.ints(1, 2, 8, 16, 16))
    x = n.op("Transpose", x, perm=[0, 2, 1, 3, 4])
    x = n.op("Reshape", x, n.ints(1, 16, 16, 16))
    return n.done(n.head(n.relu(n.conv(x, 16, 24, 1)), 24))


def unet():
    n = Net("unet", 10)
    x = n.input("image", [1, 3, 32, 32])
    a = n.relu(n.conv(x, 3, 8))
    b = n.relu(n.conv(n.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), 8, 16))
    up = n.op("ConvTranspose", b, n.weight(16, 8, 2, 2, fan=16),
              n.const(np.zeros(8)), kernel_shape=[2, 2], strides=[2, 2])
    x = n.relu(n.conv(n.op("Concat", up, a, axis=1), 16, 8))
    return n.done(n.op("Sigmoid", n.conv(x, 8, 1, 1)))


def segmentation():
    n = Net("segmentation", 11)
    x = n.relu(n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2))
    y = n.relu(n.conv(x, 16, 16, 3, dilation=2))
    y = n.conv(y, 16, 5, 1)
    y = n.op("Resize", y, "", n.const([1, 1, 2, 2]), mode="linear",
             coordinate_transformation_mode="half_pixel")
    return n.done(y)


def yolo():
    n = Net("yolo", 12)
    x = n.op("LeakyRelu", n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, 2), alpha=0.1)
    y = n.op("LeakyRelu", n.conv(x, 16, 32, 3, 2), alpha=0.1)
    up = n.op("Resize", n.conv(y, 32, 16, 1), "", n.const([1, 1, 2, 2]), mode="nearest",
              coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = n.conv(n.op("Concat", x, up, axis=1), 32, 18, 1)
    x = n.op("Reshape", x, n.ints(1, 3, 6, 256))
    x = n.op("Transpose", x, perm=[0, 1, 3, 2])
    return n.done(n.op("Sigmoid", x))


def super_resolution():
    n = Net("super_resolution", 13)
    x = n.relu(n.conv(n.input("image", [1, 1, 16, 16]), 1, 16, 5))
    x = n.relu(n.conv(x, 16, 16))
    return n.done(n.op("DepthToSpace", n.conv(x, 16, 4), blocksize=2, mode="CRD"))


def style_transfer():
    n = Net("style_transfer", 14)
    x = n.op("Pad", n.input("image", [1, 3, 16, 16]), n.ints(0, 0, 1, 1, 0, 0, 1, 1),
             mode="reflect")
    x = n.conv(x, 3, 8, 3, pad=0)
    x = n.relu(n.op("InstanceNormalization", x, n.const(np.ones(8)), n.const(np.zeros(8))))
    x = n.op("Resize", x, "", n.const([1, 1, 2, 2]), mode="nearest",
             coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return n.done(n.op("Tanh", n.conv(x, 8, 3)))


def face():
    n = Net("face", 15)
    x = n.op("PRelu", n.conv(n.input("image", [1, 3, 24, 24]), 3, 16, 3, 2),
             n.const(np.full((16, 1, 1), 0.25)))
    x = n.op("PRelu", n.conv(x, 16, 16, 3, 1, group=16),
             n.const(n.rng.uniform(0.1, 0.4, (16, 1, 1))))
    return n.done(n.fc(n.op("Flatten", n.conv(x, 16, 8, 1)), 8 * 144, 16))


def keywords():
    n = Net("keywords", 16)
    x = n.relu(n.conv(n.input("mfcc", [1, 1, 49, 10]), 1, 16, 3, 2))
    for _ in range(2):
        x = n.relu(n.conv(x, 16, 16, 3, group=16))
        x = n.relu(n.conv(x, 16, 16, 1))
    x = n.op("AveragePool", x, kernel_shape=[25, 5])
    return n.done(n.op("Softmax", n.fc(n.op("Flatten", x), 16, 12), axis=1))


def autoencoder():
    n = Net("autoencoder", 17)
    x = n.input("frame", [1, 64])
    for cin, cout in [(64, 32), (32, 8), (8, 32)]:
        x = n.relu(n.fc(x, cin, cout))
    return n.done(n.fc(x, 32, 64))


def temporal():
    n = Net("temporal", 18)
    x = n.input("audio", [1, 8, 64])
    for dilation in (1, 2, 4):
        y = n.relu(n.conv(x, 8, 8, 3, dilation=dilation, dims=1))
        x = n.op("Add", x, n.conv(y, 8, 8, 1, dims=1))
    return n.done(n.fc(n.op("Flatten", x), 512, 4))


def attention(n, x, length, width, heads, mask=None):
    def split(y):
        y = n.op("Reshape", y, n.ints(1, length, heads, width // heads))
        return n.op("Transpose", y, perm=[0, 2, 1, 3])
    q, k, v = (split(n.linear(x, width, width)) for _ in range(3))
    s = n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2]))
    s = n.op("Mul", s, n.const(1 / np.sqrt(width // heads)))
    if mask is not None:
        s = n.op("Add", s, mask)
    y = n.op("MatMul", n.op("Softmax", s, axis=-1), v)
    y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.ints(1, length, width))
    return n.linear(y, width, width)


def norm(n, x, width):
    return n.op("LayerNormalization", x, n.const(np.ones(width)), n.const(np.zeros(width)),
                axis=-1, epsilon=1e-5)


def old_norm(n, x, width):
    d = n.op("Sub", x, n.op("ReduceMean", x, axes=[-1]))
    v = n.op("ReduceMean", n.op("Pow", d, n.const(2.0)), axes=[-1])
    y = n.op("Div", d, n.op("Sqrt", n.op("Add", v, n.const(1e-5))))
    return n.op("Add", n.op("Mul", y, n.const(np.ones(width))), n.const(np.zeros(width)))


def old_gelu(n, x):
    e = n.op("Erf", n.op("Div", x, n.const(np.sqrt(2.0))))
    return n.op("Mul", n.op("Mul", x, n.op("Add", e, n.const(1.0))), n.const(0.5))


def vit():
    n = Net("vit", 19)
    x = n.conv(n.input("image", [1, 3, 32, 32]), 3, 32, 8, 8, pad=0)
    x = n.op("Transpose", n.op("Reshape", x, n.ints(1, 32, 16)), perm=[0, 2, 1])
    x = n.op("Add", x, n.const(n.rng.standard_normal((1, 16, 32)) * 0.1))
    x = n.op("Add", x, attention(n, norm(n, x, 32), 16, 32, 4))
    y = old_gelu(n, n.linear(norm(n, x, 32), 32, 64))
    x = n.op("Add", x, n.linear(y, 64, 32))
    x = n.op("ReduceMean", norm(n, x, 32), axes=[1], keepdims=0)
    return n.done(n.fc(x, 32, 10))


def bert():
    n = Net("bert", 20)
    ids = n.input("ids", [1, 16], INT64)
    x = n.op("Gather", n.const(n.rng.standard_normal((100, 32))), ids)
    x = old_norm(n, n.op("Add", x, n.const(n.rng.standard_normal((1, 16, 32)))), 32)
    mask = n.const(np.triu(np.full((16, 16), -100.0), 1)[None, None])
    x = old_norm(n, n.op("Add", x, attention(n, x, 16, 32, 2, mask)), 32)
    y = n.linear(old_gelu(n, n.linear(x, 32, 64)), 64, 32)
    x = old_norm(n, n.op("Add", x, y), 32)
    return n.done(n.linear(x, 32, 4))


def llama():
    n = Net("llama", 21)
    length, width, heads = 8, 32, 4

    def rms(v):
        m = n.op("ReduceMean", n.op("Mul", v, v), axes=[-1])
        r = n.op("Reciprocal", n.op("Sqrt", n.op("Add", m, n.const(1e-5))))
        return n.op("Mul", n.op("Mul", v, r), n.const(np.ones(width)))

    def rotate(v, heads):
        a = n.op("Slice", v, n.ints(0), n.ints(4), n.ints(3))
        b = n.op("Slice", v, n.ints(4), n.ints(8), n.ints(3))
        turned = n.op("Concat", n.op("Neg", b), a, axis=-1)
        angle = np.outer(np.arange(length), 1 / 10000 ** (np.arange(8) % 4 / 4))
        return n.op("Add", n.op("Mul", v, n.const(np.cos(angle)[None, None])),
                    n.op("Mul", turned, n.const(np.sin(angle)[None, None])))

    def split(y, heads):
        return n.op("Transpose", n.op("Reshape", y, n.ints(1, length, heads, 8)),
                    perm=[0, 2, 1, 3])
    x = n.input("embeddings", [1, length, width])
    y = rms(x)
    q = rotate(split(n.linear(y, width, 32, False), heads), heads)
    k = rotate(split(n.linear(y, width, 16, False), 2), 2)
    v = split(n.linear(y, width, 16, False), 2)

    def repeat(t):
        t = n.op("Unsqueeze", t, n.ints(2))
        t = n.op("Expand", t, n.ints(1, 2, 2, length, 8))
        return n.op("Reshape", t, n.ints(1, 4, length, 8))
    s = n.op("MatMul", q, n.op("Transpose", repeat(k), perm=[0, 1, 3, 2]))
    s = n.op("Add", n.op("Mul", s, n.const(1 / np.sqrt(8.0))),
             n.const(np.triu(np.full((length, length), -100.0), 1)[None, None]))
    y = n.op("MatMul", n.op("Softmax", s, axis=-1), repeat(v))
    y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.ints(1, length, 32))
    x = n.op("Add", x, n.linear(y, 32, width, False))
    y = rms(x)
    gate = n.linear(y, width, 64, False)
    y = n.op("Mul", n.op("Mul", gate, n.op("Sigmoid", gate)), n.linear(y, width, 64, False))
    return n.done(n.op("Add", x, n.linear(y, 64, width, False)))


def recurrent(kind, gates, seed):
    def make():
        n = Net(kind.lower(), seed)
        x = n.input("sequence", [6, 1, 8])
        y = n.op(kind, x, n.weight(1, gates * 16, 8, fan=8), n.weight(1, gates * 16, 16, fan=16),
                 n.const(np.zeros((1, gates * 32))), outputs=2, hidden_size=16)
        return n.done(n.linear(n.op("Squeeze", y[1], n.ints(0)), 16, 4))
    return make


def sums():
    n = Net("sums", 24)
    x, y = n.input("a", [1, 8, 16, 16]), n.input("b", [1, 8, 16, 16])
    s = n.op("Sub", n.op("Add", x, y), n.op("Mul", x, y))
    m = n.op("Min", n.op("Max", s, x), y)
    return n.done(n.op("ReduceMean", n.conv(m, 8, 8), axes=[2, 3], keepdims=0))


def whisper():
    n = Net("whisper", 25)
    x = n.op("Gelu", n.conv(n.input("mel", [1, 8, 32]), 8, 32, 3, dims=1)) if False else \
        old_gelu(n, n.conv(n.input("mel", [1, 8, 32]), 8, 32, 3, dims=1))
    x = old_gelu(n, n.conv(x, 32, 32, 3, 2, dims=1))
    x = n.op("Add", n.op("Transpose", x, perm=[0, 2, 1]),
             n.const(n.rng.standard_normal((1, 16, 32)) * 0.1))
    x = n.op("Add", x, attention(n, norm(n, x, 32), 16, 32, 4))
    x = n.op("Add", x, n.linear(old_gelu(n, n.linear(norm(n, x, 32), 32, 64)), 64, 32))
    return n.done(norm(n, x, 32))


def clipped():
    n = Net("clipped", 26, opset=13)
    x = n.op("HardSigmoid", n.conv(n.input("image", [1, 3, 16, 16]), 3, 8), alpha=0.2, beta=0.5)
    x = n.op("Elu", n.conv(x, 8, 8), alpha=1.0)
    x = n.op("Pad", x, n.ints(0, 0, 1, 1, 0, 0, 1, 1), n.const(0.0), mode="constant")
    x = n.op("MaxPool", n.conv(x, 8, 8, pad=0), kernel_shape=[3, 3], strides=[2, 2],
             ceil_mode=1)
    return n.done(n.op("Softplus", n.op("Flatten", x)))


NETWORKS = {
    f.__name__: f for f in (
        lenet, resnet, mobilenet_v2, mobilenet_v3, efficientnet, squeezenet, densenet,
        inception, shufflenet, unet, segmentation, yolo, super_resolution, style_transfer,
        face, keywords, autoencoder, temporal, vit, bert, llama, sums, whisper, clipped)
}
NETWORKS["lstm"] = recurrent("LSTM", 4, 22)
NETWORKS["gru"] = recurrent("GRU", 3, 23)
