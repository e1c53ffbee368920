# SPDX-License-Identifier: Apache-2.0
# model.tflite on the simulated device, both beside this program's folder of work.
from ai_edge_litert.interpreter import Interpreter, load_delegate

delegate = load_delegate("./libsluice_delegate.so", {"machine": "mcu-256k", "verbosity": 1})
interpreter = Interpreter("model.tflite", experimental_delegates=[delegate])
interpreter.allocate_tensors()
interpreter.invoke()
