#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keras networks (keras_networks.py) as TensorFlow Lite files, as its converter quantises
them: int8 throughout, with float, int8 or uint8 inputs and outputs; 16-bit activations;
weights alone; not at all.

Needs: pip install tensorflow-cpu.

    keras_models.py FOLDER [--only PATTERN]

What was made before stays. every_model.py runs the files through the tool.
"""
import argparse
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import keras
import numpy as np
import tensorflow as tf

import keras_networks
from selection import Selection


def samples(model):
    rng = np.random.default_rng(7)
    for _ in range(8):
        made = []
        for x in model.inputs:
            whole = x.dtype == "int32"
            made.append(rng.integers(0, 50, x.shape).astype(np.int32) if whole else
                        rng.standard_normal(x.shape).astype(np.float32))
        yield made


def int8(converter, model, border=None):
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: samples(model)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    if border is not None and all(x.dtype == "float32" for x in model.inputs):
        converter.inference_input_type = converter.inference_output_type = border


def mixed(converter, model):
    """What has no int8 kernel stays float."""
    int8(converter, model)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8,
                                           tf.lite.OpsSet.TFLITE_BUILTINS]


def int16x8(converter, model):
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: samples(model)
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8,
        tf.lite.OpsSet.TFLITE_BUILTINS]


def dynamic(converter, _):
    converter.optimizations = [tf.lite.Optimize.DEFAULT]


WAYS = {
    "int8": int8,
    "int8_io": lambda c, m: int8(c, m, tf.int8),
    "uint8_io": lambda c, m: int8(c, m, tf.uint8),
    "mixed": mixed,
    "int16x8": int16x8,
    "dynamic": dynamic,
    "float": lambda c, m: None,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", default="*")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    only = Selection(options.only)
    for name, make in keras_networks.NETWORKS.items():
        wanted = [w for w in WAYS if only.has(f"{name}.{w}")]
        paths = {w: os.path.join(options.folder, f"keras_{name}.{w}.tflite") for w in wanted}
        if all(os.path.exists(p) for p in paths.values()):
            continue
        keras.utils.set_random_seed(11)
        try:
            model = make()
        except Exception as error:
            print(f"{name}: not made: {str(error)[:200]}")
            continue
        for way, path in paths.items():
            if os.path.exists(path):
                continue
            converter = tf.lite.TFLiteConverter.from_keras_model(model)
            WAYS[way](converter, model)
            try:
                content = converter.convert()
            except Exception as error:  # the converter's own limits
                print(f"{name}.{way}: not converted: {' '.join(str(error).split())[:160]}")
                continue
            with open(path, "wb") as file:
                file.write(content)
            print(f"{name}.{way}: {len(content)} bytes")
            sys.stdout.flush()
    only.require_one()


if __name__ == "__main__":
    main()
