# SPDX-License-Identifier: Apache-2.0
"""Networks that Keras makes, with seeded weights: a block of each well-known kind, and
keras.applications at small sizes. NETWORKS maps a name to the function that makes one."""
import keras
from keras import layers as L
from keras import ops

APPLICATIONS = {
    "mobilenet": lambda a: a.MobileNet(input_shape=(64, 64, 3), alpha=0.25, weights=None),
    "mobilenet_v2": lambda a: a.MobileNetV2(input_shape=(64, 64, 3), alpha=0.35, weights=None),
    "mobilenet_v3_small": lambda a: a.MobileNetV3Small(
        input_shape=(64, 64, 3), weights=None, include_preprocessing=False),
    "mobilenet_v3_large": lambda a: a.MobileNetV3Large(
        input_shape=(64, 64, 3), alpha=0.75, minimalistic=True, weights=None),
    "efficientnet_b0": lambda a: a.EfficientNetB0(input_shape=(64, 64, 3), weights=None),
    "efficientnet_v2_b0": lambda a: a.EfficientNetV2B0(input_shape=(64, 64, 3), weights=None),
    "densenet121": lambda a: a.DenseNet121(input_shape=(64, 64, 3), weights=None, classes=10),
    "resnet50": lambda a: a.ResNet50(input_shape=(64, 64, 3), weights=None, classes=10),
    "resnet50_v2": lambda a: a.ResNet50V2(input_shape=(64, 64, 3), weights=None, classes=10),
    "nasnet_mobile": lambda a: a.NASNetMobile(input_shape=(64, 64, 3), weights=None,
                                              classes=10),
    "xception": lambda a: a.Xception(input_shape=(96, 96, 3), weights=None, classes=10),
    "inception_v3": lambda a: a.InceptionV3(input_shape=(96, 96, 3), weights=None, classes=10),
    "convnext_tiny": lambda a: a.ConvNeXtTiny(input_shape=(64, 64, 3), weights=None,
                                              classes=10),
}


def conv(x, channels, kernel=3, stride=1, activation="relu", norm=True, **more):
    x = L.Conv2D(channels, kernel, stride, padding="same", use_bias=not norm, **more)(x)
    x = L.BatchNormalization()(x) if norm else x
    return L.Activation(activation)(x) if activation else x


def separable(x, channels, stride=1, activation="relu"):
    x = L.DepthwiseConv2D(3, stride, padding="same")(x)
    x = L.Activation(activation)(L.BatchNormalization()(x))
    return conv(x, channels, 1, activation=activation)


def classified(x, classes=10):
    return L.Dense(classes, activation="softmax")(L.GlobalAveragePooling2D()(x))


def image(size=32, channels=3):
    return keras.Input((size, size, channels), batch_size=1)


def sequence(steps=16, width=12):
    return keras.Input((steps, width), batch_size=1)


def of_image(verb, size=32, channels=3):
    x = image(size, channels)
    return keras.Model(x, verb(x))


def of_sequence(verb, steps=16, width=12):
    x = sequence(steps, width)
    return keras.Model(x, verb(x))


def lenet(x):
    x = L.MaxPooling2D(2)(L.Conv2D(6, 5, activation="tanh")(x))
    x = L.AveragePooling2D(2)(L.Conv2D(16, 5, activation="tanh")(x))
    return L.Dense(10)(L.Dense(84, activation="sigmoid")(L.Flatten()(x)))


def squeezed(x):
    x = conv(x, 16, 3, 2)
    for width in (8, 12):
        s = conv(x, width, 1, norm=False)
        x = L.Concatenate()([conv(s, width * 2, 1), conv(s, width * 2, 3)])
    return classified(x)


def excited(x):
    x = conv(x, 16, 3, 2, "swish")
    s = L.GlobalAveragePooling2D(keepdims=True)(x)
    s = L.Conv2D(16, 1, activation="hard_sigmoid")(L.Conv2D(4, 1, activation="relu")(s))
    return classified(conv(L.Multiply()([x, s]), 24, activation="hard_swish"))


def shuffled(x):
    x = conv(x, 16, 3, 2)
    a, b = ops.split(x, 2, axis=-1)
    x = L.Concatenate()([a, separable(b, 8)])
    x = ops.reshape(x, (1, 16, 16, 2, 8))
    x = ops.reshape(ops.transpose(x, (0, 1, 2, 4, 3)), (1, 16, 16, 16))
    return classified(x)


def unet(x):
    a = conv(x, 8)
    b = conv(L.MaxPooling2D(2)(a), 16)
    c = conv(L.MaxPooling2D(2)(b), 24)
    y = L.Conv2DTranspose(16, 2, 2)(c)
    y = conv(L.Concatenate()([y, b]), 16)
    y = L.UpSampling2D(interpolation="bilinear")(y)
    y = conv(L.Concatenate()([y, a]), 8)
    return L.Conv2D(4, 1, activation="softmax")(y)


def pyramid(x):
    a = conv(x, 8, 3, 2)
    b = conv(a, 16, 3, 2)
    c = conv(b, 24, 3, 2)
    p3 = L.Conv2D(16, 1)(c)
    p2 = L.Add()([L.Conv2D(16, 1)(b), L.UpSampling2D()(p3)])
    p1 = L.Add()([L.Conv2D(16, 1)(a), L.UpSampling2D()(p2)])
    return [conv(p, 16, activation="relu6") for p in (p1, p2, p3)]


def detector(x):
    x = conv(x, 16, 3, 2, "relu6")
    boxes, scores = [], []
    for width in (24, 32):
        x = separable(x, width, 2, "relu6")
        boxes.append(L.Reshape((-1, 4))(L.Conv2D(12, 3, padding="same")(x)))
        scores.append(L.Reshape((-1, 5))(L.Conv2D(15, 3, padding="same")(x)))
    return [L.Concatenate(axis=1)(boxes), L.Activation("sigmoid")(L.Concatenate(axis=1)(scores))]


def yolo(x):
    x = conv(x, 16, 3, 2, "swish")
    a, b = ops.split(conv(x, 32, 1, activation="swish"), 2, axis=-1)
    x = conv(L.Concatenate()([a, b, L.Add()([b, conv(b, 16, activation="swish")])]), 32)
    y = [x]
    for _ in range(3):
        y.append(L.MaxPooling2D(5, 1, "same")(y[-1]))
    x = L.Conv2D(21, 1)(L.Concatenate()(y))
    x = L.Reshape((16 * 16, 21))(x)
    centre = ops.sigmoid(x[:, :, 0:2]) * 2.0 - 0.5
    size = ops.square(ops.sigmoid(x[:, :, 2:4]) * 2.0)
    return L.Concatenate()([centre, size, ops.sigmoid(x[:, :, 4:])])


def dilated(x):
    x = conv(x, 16, 3, 2)
    y = [conv(x, 12, 1)] + [conv(x, 12, 3, dilation_rate=r) for r in (2, 3)]
    p = L.Conv2D(12, 1)(L.GlobalAveragePooling2D(keepdims=True)(x))
    y.append(L.UpSampling2D(16, interpolation="bilinear")(p))
    y = L.Conv2D(4, 1)(L.Concatenate()(y))
    return ops.argmax(L.Resizing(32, 32)(y), axis=-1)


def super_resolution(x):
    import tensorflow as tf
    x = L.PReLU(shared_axes=[1, 2])(conv(x, 16, 5, activation=None, norm=False))
    x = L.Conv2D(12, 3, padding="same")(x)
    return L.Lambda(lambda v: tf.nn.depth_to_space(v, 2))(x)


def autoencoder(x):
    x = L.Conv2D(8, 3, 2, "same", activation="leaky_relu")(x)
    x = L.Dense(24, activation="elu")(L.Flatten()(x))
    x = L.Reshape((16, 16, 4))(L.Dense(16 * 16 * 4, activation="selu")(x))
    return L.Conv2DTranspose(3, 3, 2, "same", activation="sigmoid")(x)


def mixed_pads(x):
    x = L.ZeroPadding2D(((1, 2), (0, 3)))(x)
    x = L.Conv2D(12, 4, 3, activation="softplus")(x)
    x = L.Cropping2D(((1, 0), (0, 2)))(x)
    x = L.Conv2D(12, 3, groups=3, activation="softsign")(x)
    return L.Dense(5)(L.GlobalMaxPooling2D()(x))


def keyword(x):
    x = L.Conv2D(16, (10, 4), 2, "same", activation="relu")(L.Reshape((48, 16, 1))(x))
    for _ in range(2):
        x = separable(x, 16)
    return classified(x, 12)


def recurrent_head(cell):
    def verb(x):
        x = L.Conv1D(12, 3, padding="causal", activation="relu")(x)
        return L.Dense(6, activation="softmax")(cell()(x))
    return verb


def temporal(x):
    for rate in (1, 2, 4):
        y = L.Conv1D(12, 3, padding="causal", dilation_rate=rate, activation="relu")(x)
        x = L.Add()([x, L.Conv1D(12, 1)(y)])
    return L.Dense(4)(L.GlobalAveragePooling1D()(x))


def gated(x):
    for rate in (1, 2):
        a = L.Conv1D(12, 2, padding="causal", dilation_rate=rate, activation="tanh")(x)
        b = L.Conv1D(12, 2, padding="causal", dilation_rate=rate, activation="sigmoid")(x)
        x = L.Add()([x, L.Conv1D(12, 1)(L.Multiply()([a, b]))])
    return L.Conv1D(8, 1)(x)


def encoder(x, heads=2, width=12, activation="gelu", causal=False):
    y = L.LayerNormalization()(x)
    y = L.MultiHeadAttention(heads, width // heads)(y, y, use_causal_mask=causal)
    x = L.Add()([x, y])
    y = L.Dense(width * 2, activation=activation)(L.LayerNormalization()(x))
    return L.Add()([x, L.Dense(width)(y)])


def vision_transformer(x):
    x = L.Conv2D(16, 8, 8)(x)
    x = L.Reshape((16, 16))(x)
    for _ in range(2):
        x = encoder(x, 2, 16)
    return L.Dense(10)(L.GlobalAveragePooling1D()(L.LayerNormalization()(x)))


def mixer(x):
    x = L.Reshape((16, 16))(L.Conv2D(16, 8, 8)(x))
    y = L.Permute((2, 1))(L.LayerNormalization()(x))
    y = L.Dense(16)(L.Dense(24, activation="gelu")(y))
    x = L.Add()([x, L.Permute((2, 1))(y)])
    return L.Dense(10)(L.GlobalAveragePooling1D()(x))


def decoder(x):
    return L.Dense(20)(encoder(encoder(x, causal=True, activation="silu"), causal=True))


def normed(x):
    x = L.GroupNormalization(4)(conv(x, 16, 3, 2, None, False))
    x = L.UnitNormalization()(L.GlobalAveragePooling2D()(ops.relu(x)))
    return L.Dense(8)(x)


def text():
    x = keras.Input((24,), batch_size=1, dtype="int32")
    y = L.Embedding(50, 12)(x)
    y = L.Conv1D(16, 3, activation="relu")(y)
    return keras.Model(x, L.Dense(2, activation="sigmoid")(L.GlobalMaxPooling1D()(y)))


def twins():
    a, b = image(), image()
    body = of_image(lambda x: L.GlobalAveragePooling2D()(conv(conv(x, 8, 3, 2), 16, 3, 2)))
    p, q = body(a), body(b)
    d = L.Concatenate()([ops.abs(p - q), p * q, ops.maximum(p, q), ops.minimum(p, q)])
    return keras.Model([a, b], L.Dense(1, activation="sigmoid")(d))


def similar():
    a, b = sequence(), sequence()
    p, q = L.Dense(8)(a), L.Dense(8)(b)
    return keras.Model([a, b], L.Softmax()(ops.matmul(p, ops.transpose(q, (0, 2, 1))) / 3.0))


def cached():
    """One token, with keys and values of those before it as inputs and outputs."""
    x = keras.Input((1, 16), batch_size=1)
    keys, values = keras.Input((15, 16), batch_size=1), keras.Input((15, 16), batch_size=1)
    q = L.Dense(16)(x)
    k = ops.concatenate([keys, L.Dense(16)(x)], axis=1)
    v = ops.concatenate([values, L.Dense(16)(x)], axis=1)

    def split(t, n):
        return ops.transpose(ops.reshape(t, (1, n, 2, 8)), (0, 2, 1, 3))
    a = ops.softmax(ops.matmul(split(q, 1), ops.transpose(split(k, 16), (0, 1, 3, 2))) * 0.35)
    y = ops.reshape(ops.transpose(ops.matmul(a, split(v, 16)), (0, 2, 1, 3)), (1, 1, 16))
    return keras.Model([x, keys, values], [L.Dense(16)(y), k[:, 1:], v[:, 1:]])


def volume():
    x = keras.Input((8, 16, 16, 2), batch_size=1)
    y = L.Conv3D(8, 3, 2, padding="same", activation="relu")(x)
    return keras.Model(x, L.Dense(4)(L.GlobalAveragePooling3D()(y)))


IMAGES = [lenet, squeezed, excited, shuffled, unet, pyramid, detector, yolo, dilated,
          super_resolution, autoencoder, mixed_pads, vision_transformer, mixer, normed]
SEQUENCES = [temporal, gated, decoder]
RECURRENT = {
    "lstm": lambda: L.LSTM(10),
    "lstm_sequence": lambda: L.Bidirectional(L.LSTM(8, return_sequences=True)),
    "gru_unrolled": lambda: L.GRU(10, unroll=True),
    "simple_rnn_unrolled": lambda: L.SimpleRNN(10, unroll=True),
}
NETWORKS = {verb.__name__: lambda v=verb: of_image(v) for verb in IMAGES}
NETWORKS.update({verb.__name__: lambda v=verb: of_sequence(v) for verb in SEQUENCES})
NETWORKS.update({name: lambda c=cell: of_sequence(recurrent_head(c))
                 for name, cell in RECURRENT.items()})
NETWORKS["keyword"] = lambda: of_sequence(keyword, 48, 16)
NETWORKS.update(text=text, twins=twins, similar=similar, cached=cached, volume=volume)
NETWORKS.update({"app_" + name: lambda m=make: m(keras.applications)
                 for name, make in APPLICATIONS.items()})
