# SPDX-License-Identifier: Apache-2.0
"""A first plan: python3 first_plan.py [MODEL.tflite | MODEL.onnx]"""
import sys

import sluice

graph = sluice.Graph.load(sys.argv[1]) if sys.argv[1:] else sluice.Graph.zoo("mobilenet_v1")
plan = sluice.schedule(graph, "soma-edge")
print(plan)
print(f"{plan.report.latency_cycles} cycles; no plan takes fewer than "
      f"{plan.report.bound_latency_cycles}")
