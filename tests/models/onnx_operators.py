#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each operator of ONNX that quantised models have, through the whole tool.

Models of one operator (onnx_cases.py), with its activations quantised in several types, are
imported, scheduled, verified and executed on seeded inputs. The results are compared with what
onnxruntime answers with all of its optimisations off.

Needs: pip install onnx onnxruntime numpy.

    onnx_operators.py --sluice build/release/src/cli/sluice [--hw mcu-256k] [--seeds 2]
                      [--only PATTERN] [--keep FOLDER] [--table]

Prints a line for each model that is not equal and, at the end, how many are. --least N fails
where there are fewer equal models; a model that differs although its report says "exact" fails
always.
"""
import argparse
import collections
import os
import sys
import tempfile

import onnx_cases
from onnx_models import Failed, quiet, through
from selection import Selection


def runs(model):
    """Whether the runtime takes the model."""
    from onnx_models import reference
    try:
        quiet(reference, model)
        return True
    except Exception:  # its own classes of errors have no common name
        return False


def verdict(model, path, options):
    """("equal" | "close" | "differs" | "shapes" | "refused", what there is to say)."""
    try:
        row = through(model, path, options.sluice, options.hw, options.seeds)
    except Failed as error:
        return "refused", " ".join(str(error).split())
    if row["numbers"] == "shapes only":
        said = row["said"]["shapes_only"]
        return "shapes", ", ".join(f"{e['op']}: {e['reason']}" for e in said)
    if row["differ"] == 0:
        return "equal", ""
    text = f"{row['numbers']}, {row['differ']} of {row['count']}, most {row['most']}"
    if row["numbers"] != "exact" and row["most"] <= 1:
        return "close", text
    return "differs", text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--hw", default="mcu-256k")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", default=None)
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    counts, operators, untaken, false = collections.Counter(), {}, 0, 0
    only = Selection(options.only)
    for name, model in onnx_cases.models():
        if not only.has(name):
            continue
        if not runs(model):
            untaken += 1
            continue
        what, text = verdict(model, os.path.join(folder, name), options)
        counts[what] += 1
        false += what == "differs" and text.startswith("exact")
        operators.setdefault(name.split(".")[0], collections.Counter())[what] += 1
        if what != "equal":
            print(f"{name}: {what}: {text[:230]}", flush=True)
    only.require_one()
    if options.table:
        for name, row in operators.items():
            print(name, dict(row))
    whole = sum(all(what in ("equal", "close") for what in row)
                for row in operators.values())
    print(f"{sum(counts.values())} models: {counts['equal']} equal, {counts['close']} within "
          f"one step, {counts['differs']} differ, {counts['shapes']} shapes only, "
          f"{counts['refused']} refused; {untaken} the runtime does not take; "
          f"{whole} of {len(operators)} operators in every form")
    return counts["equal"] < options.least or false != 0


if __name__ == "__main__":
    sys.exit(main())
