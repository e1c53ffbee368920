#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes open_batch_int8.tflite: a small model with an open number of images, as TensorFlow's
converter leaves it. Floats at its borders, and SHAPE, STRIDED_SLICE and PACK in front of a
RESHAPE. Its weights are drawn, not trained.

    make_open_batch.py -o open_batch_int8.tflite            needs tensorflow, 2.18 made the file
"""
import argparse

import keras
import numpy
import tensorflow
from keras import layers


def network():
    image = layers.Input((16, 16, 3))
    x = layers.Conv2D(8, 3, padding="same", activation="relu")(image)
    x = layers.Conv2D(8, 3, strides=2, activation="relu6")(x)
    x = layers.Add()([x, layers.Conv2D(8, 1)(x)])
    x = layers.Dense(10)(layers.Flatten()(x))
    return keras.Model(image, layers.Softmax()(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", required=True)
    arguments = parser.parse_args()
    random = numpy.random.default_rng(0)
    converter = tensorflow.lite.TFLiteConverter.from_keras_model(network())
    converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: (
        [random.standard_normal((1, 16, 16, 3)).astype(numpy.float32)] for _ in range(4))
    converter.target_spec.supported_ops = [tensorflow.lite.OpsSet.TFLITE_BUILTINS_INT8]
    with open(arguments.o, "wb") as file:
        file.write(converter.convert())


if __name__ == "__main__":
    main()
