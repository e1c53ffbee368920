# SPDX-License-Identifier: Apache-2.0
"""Networks of many kinds whose depths, widths, windows and strides are drawn by a seed, as
floating-point ONNX models. KINDS maps a name to a function of a Net and its generator of
numbers that returns the outputs."""
import numpy as np

from onnx_networks import (INT64, Net, attention, norm, old_gelu, old_norm)


def one(rng, *choices):
    return choices[rng.integers(len(choices))]


def sigmoid_times(n, x):
    return n.op("Mul", x, n.op("Sigmoid", x))


def leaky(n, x):
    return n.op("LeakyRelu", x, alpha=0.1)


def hard_swish(n, x):
    return n.op("Mul", x, n.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))


def curve(n, rng):
    return one(rng, n.relu, n.relu6, lambda x: sigmoid_times(n, x), lambda x: leaky(n, x),
               lambda x: hard_swish(n, x))


def picture(n, rng, channels=3):
    side = int(one(rng, 20, 24, 28, 32))
    return n.input("image", [1, channels, side, side]), side


def stem(n, rng, act):
    x, side = picture(n, rng)
    width = int(one(rng, 8, 12, 16, 20))
    return act(n.conv(x, 3, width, int(one(rng, 3, 5)), 2)), width, (side + 1) // 2


def plain(n, rng):
    act = curve(n, rng)
    x, width, side = stem(n, rng, act)
    for _ in range(rng.integers(1, 4)):
        wider = int(rng.integers(8, 33))
        x, width = act(n.conv(x, width, wider, int(one(rng, 1, 3)))), wider
    x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    return [n.fc(n.op("Flatten", x), width * (side // 2) ** 2, int(rng.integers(3, 20)))]


def residual(n, rng):
    x, width, _ = stem(n, rng, n.relu)
    for _ in range(rng.integers(2, 4)):
        y = n.conv(n.relu(n.conv(x, width, width)), width, width)
        x = n.relu(n.op("Add", x, y))
        wider = width + int(rng.integers(4, 12))
        x, width = n.relu(n.conv(x, width, wider, 3, int(one(rng, 1, 2)))), wider
    return [n.head(x, width, 7)]


def inverted(n, rng):
    act = curve(n, rng)
    x, width, _ = stem(n, rng, act)
    for _ in range(rng.integers(2, 4)):
        wide, k = width * int(one(rng, 2, 4)), int(one(rng, 3, 5))
        y = act(n.conv(x, width, wide, 1))
        y = act(n.conv(y, wide, wide, k, group=wide))
        x = n.op("Add", x, n.conv(y, wide, width, 1))
    return [n.head(x, width)]


def excited(n, rng):
    act = curve(n, rng)
    x, width, _ = stem(n, rng, act)
    y = act(n.conv(x, width, 3 * width))
    s = act(n.conv(n.gap(y), 3 * width, 8, 1))
    y = n.op("Mul", y, n.op("Sigmoid", n.conv(s, 8, 3 * width, 1)))
    return [n.head(n.op("Add", x, n.conv(y, 3 * width, width, 1)), width)]


def dense(n, rng):
    x, width, _ = stem(n, rng, n.relu)
    grow = int(rng.integers(4, 13))
    for _ in range(rng.integers(2, 5)):
        x = n.op("Concat", x, n.relu(n.conv(x, width, grow)), axis=1)
        width += grow
    x = n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    return [n.head(x, width)]


def branches(n, rng):
    x, width, _ = stem(n, rng, n.relu)
    a = n.relu(n.conv(x, width, 9, 1))
    b = n.relu(n.conv(n.conv(x, width, 6, 1), 6, 11, 3))
    c = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    x = n.op("Concat", a, b, n.conv(c, width, 5, 1), axis=1)
    return [n.op("Softmax", n.head(n.relu(n.conv(x, 25, 16)), 16), axis=1)]


def shuffled(n, rng):
    x, _, side = stem(n, rng, n.relu)
    x = n.relu(n.conv(x, _, 16, 1))
    a, b = n.op("Split", x, n.ints(8, 8), outputs=2, axis=1)
    x = n.op("Concat", a, n.relu(n.conv(b, 8, 8, 3, group=int(one(rng, 1, 2, 8)))), axis=1)
    x = n.op("Transpose", n.op("Reshape", x, n.ints(1, 2, 8, side, side)),
             perm=[0, 2, 1, 3, 4])
    x = n.op("Reshape", x, n.ints(1, 16, side, side))
    return [n.head(n.conv(x, 16, 20, 1), 20)]


def larger(n, rng, x, cin, cout):
    """A transposed convolution that doubles the sides."""
    k, pad, more = one(rng, (2, 0, 0), (3, 1, 1), (4, 1, 0))
    return n.op("ConvTranspose", x, n.weight(cin, cout, k, k, fan=cin * 2),
                n.const(rng.standard_normal(cout) * 0.1), kernel_shape=[k, k],
                strides=[2, 2], pads=[pad] * 4, output_padding=[more] * 2)


def unet(n, rng):
    act = curve(n, rng)
    x, _ = picture(n, rng)
    width = int(one(rng, 8, 12))
    a = act(n.conv(x, 3, width))
    b = act(n.conv(n.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), width, 16))
    x = n.op("Concat", larger(n, rng, b, 16, width), a, axis=1)
    return [n.op("Sigmoid", n.conv(n.relu(n.conv(x, 2 * width, 8)), 8, 2, 1))]


def generator(n, rng):
    side, width = int(one(rng, 4, 5)), int(one(rng, 16, 24))
    x = n.fc(n.input("noise", [1, 24]), 24, width * side * side)
    x = n.relu(n.op("Reshape", x, n.ints(1, width, side, side)))
    for narrower in (width // 2, 8):
        x, width = n.relu(larger(n, rng, x, width, narrower)), narrower
    return [n.op("Tanh", n.conv(x, width, 3))]


def coder(n, rng):
    x, _ = picture(n, rng, 1)
    x = n.relu(n.conv(n.relu(n.conv(x, 1, 12, 3, 2)), 12, 20, 3, 2))
    return [n.op("Sigmoid", larger(n, rng, n.relu(larger(n, rng, x, 20, 12)), 12, 1))]


def segmenter(n, rng):
    x, width, _ = stem(n, rng, n.relu)
    y = [n.relu(n.conv(x, width, 8, 3, dilation=d)) for d in (1, int(one(rng, 2, 3)))]
    y = n.conv(n.op("Concat", *y, axis=1), 16, 4, 1)
    return [n.op("Resize", y, "", n.const([1, 1, 2, 2]), mode="linear",
                 coordinate_transformation_mode="half_pixel")]


def detector(n, rng):
    x, width, side = stem(n, rng, lambda y: leaky(n, y))
    y = leaky(n, n.conv(x, width, 24, 3))
    box = n.op("Reshape", n.conv(y, 24, 4, 1), n.ints(1, 4, side * side))
    kind = n.op("Reshape", n.conv(y, 24, 6, 1), n.ints(1, 6, side * side))
    return [box, n.op("Sigmoid", kind)]


def sharper(n, rng):
    x, _ = picture(n, rng, 1)
    width = int(one(rng, 12, 16, 24))
    y = n.relu(n.conv(x, 1, width, 5))
    y = n.op("Add", y, n.conv(n.relu(n.conv(y, width, width)), width, width))
    return [n.op("DepthToSpace", n.conv(y, width, 4), blocksize=2, mode=one(rng, "CRD", "DCR"))]


def keywords(n, rng):
    bands, width = int(one(rng, 10, 13)), int(one(rng, 16, 24))
    x = n.relu(n.conv(n.input("mfcc", [1, 1, 49, bands]), 1, width, 3, 2))
    for _ in range(rng.integers(1, 4)):
        x = n.relu(n.conv(n.relu(n.conv(x, width, width, 3, group=width)), width, width, 1))
    return [n.op("Softmax", n.head(x, width, 12), axis=1)]


def layers(n, rng):
    width = int(rng.integers(16, 80))
    x = n.input("row", [int(one(rng, 1, 4)), width])
    act = curve(n, rng)
    for _ in range(rng.integers(2, 5)):
        wider = int(rng.integers(16, 96))
        x, width = act(n.fc(x, width, wider)), wider
    return [n.fc(x, width, 5)]


def temporal(n, rng):
    width, length = int(one(rng, 8, 12)), int(one(rng, 32, 50))
    x = n.input("audio", [1, width, length])
    for dilation in (1, 2, 4)[:rng.integers(1, 4)]:
        y = n.relu(n.conv(x, width, width, 3, dilation=dilation, dims=1))
        x = n.op("Add", x, n.conv(y, width, width, 1, dims=1))
    return [n.fc(n.op("Flatten", x), width * length, 4)]


def block(n, rng, x, length, width, heads, mask=None):
    normal = one(rng, norm, old_norm)
    x = n.op("Add", x, attention(n, normal(n, x, width), length, width, heads, mask))
    inner = width * int(one(rng, 2, 3, 4))
    y = n.linear(normal(n, x, width), width, inner)
    return n.op("Add", x, n.linear(one(rng, old_gelu, sigmoid_times)(n, y), inner, width))


def vision(n, rng):
    patch, width = int(one(rng, 4, 8)), int(one(rng, 24, 32, 48))
    x = n.conv(n.input("image", [1, 3, 32, 32]), 3, width, patch, patch, pad=0)
    length = (32 // patch) ** 2
    x = n.op("Transpose", n.op("Reshape", x, n.ints(1, width, length)), perm=[0, 2, 1])
    x = n.op("Add", x, n.const(rng.standard_normal((1, length, width)) * 0.1))
    x = block(n, rng, x, length, width, int(one(rng, 2, 4)))
    return [n.fc(n.op("ReduceMean", norm(n, x, width), axes=[1], keepdims=0), width, 10)]


def reader(n, rng):
    length, width = int(one(rng, 12, 16, 20)), int(one(rng, 24, 32, 48))
    x = n.op("Gather", n.const(rng.standard_normal((80, width))),
             n.input("ids", [1, length], INT64))
    x = n.op("Add", x, n.const(rng.standard_normal((1, length, width)) * 0.2))
    mask = one(rng, None, n.const(np.triu(np.full((length, length), -100.0), 1)[None, None]))
    for _ in range(rng.integers(1, 3)):
        x = block(n, rng, x, length, width, int(one(rng, 2, 4)), mask)
    return [n.linear(norm(n, x, width), width, 12)]


def mixer(n, rng):
    length, width = 16, int(one(rng, 24, 32))
    x = n.input("patches", [1, length, width])
    y = n.op("Transpose", norm(n, x, width), perm=[0, 2, 1])
    y = n.linear(old_gelu(n, n.linear(y, length, 32)), 32, length)
    x = n.op("Add", x, n.op("Transpose", y, perm=[0, 2, 1]))
    y = n.linear(old_gelu(n, n.linear(norm(n, x, width), width, 64)), 64, width)
    return [n.op("Add", x, y)]


def modern(n, rng):
    """ConvNeXt's block."""
    width = int(one(rng, 16, 24))
    x = n.conv(n.input("image", [1, 3, 32, 32]), 3, width, 4, 4, pad=0)
    y = n.op("Transpose", n.conv(x, width, width, int(one(rng, 5, 7)), group=width),
             perm=[0, 2, 3, 1])
    y = n.linear(old_gelu(n, n.linear(norm(n, y, width), width, 64)), 64, width)
    return [n.head(n.op("Add", x, n.op("Transpose", y, perm=[0, 3, 1, 2])), width)]


def recurrent(kind, gates):
    def make(n, rng):
        width, units, steps = int(one(rng, 8, 12)), int(one(rng, 16, 24)), int(one(rng, 5, 9))
        x = n.input("sequence", [steps, 1, width])
        y = n.op(kind, x, n.weight(1, gates * units, width, fan=width),
                 n.weight(1, gates * units, units, fan=units),
                 n.const(rng.standard_normal((1, gates * units * 2)) * 0.1), outputs=2,
                 hidden_size=units)
        return [n.linear(n.op("Squeeze", y[1], n.ints(0)), units, 4)]
    return make


def table(n, rng):
    """Columns of a table: numbers, and words that each have a row of an embedding."""
    given, width = n.input("ids", [1, 3], INT64), int(one(rng, 8, 12))
    words = [n.op("Gather", n.const(rng.standard_normal((20, width))),
                  n.op("Gather", given, n.const(i, np.int64), axis=1)) for i in range(3)]
    x = n.op("Concat", *words, n.input("numbers", [1, 6]), axis=1)
    return [n.fc(n.relu(n.fc(x, 3 * width + 6, 40)), 40, 2)]


def towers(n, rng):
    """How much two sets of rows are alike."""
    width, inner = int(one(rng, 16, 24)), int(one(rng, 16, 32))
    a, b = (n.relu(n.linear(n.input(name, [1, 9, width]), width, inner)) for name in "ab")
    return [n.op("MatMul", a, n.op("Transpose", b, perm=[0, 2, 1]))]


KINDS = {f.__name__: f for f in (
    plain, residual, inverted, excited, dense, branches, shuffled, unet, generator, coder,
    segmenter, detector, sharper, keywords, layers, temporal, vision, reader, mixer, modern,
    table, towers)}
KINDS["lstm"] = recurrent("LSTM", 4)
KINDS["gru"] = recurrent("GRU", 3)


def network(kind, seed):
    n = Net(kind, seed)
    return n.done(*KINDS[kind](n, n.rng))
