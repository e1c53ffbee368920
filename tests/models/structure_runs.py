#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changed models through both importers, added up over runs.

The tests "onnx structure" and "tflite structure" change models in their structure, import
them and execute what is accepted. This repeats them with new seeds and keeps the sum in a
file, so that runs on many days add up.

    structure_runs.py --tests build/release/tests --state FILE
                      [--executions 10000000] [--seconds 600] [--round 2000]

It stops when both importers have had --executions changed models over all runs, when
--seconds are over, or, with exit code 1, at the first finding, whose seed it says.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

TARGETS = {"tflite": "test_import", "onnx": "test_import_onnx"}


def once(options, name, seed):
    """(models, accepted) of one round; None: it has found something."""
    environment = dict(os.environ, SLUICE_STRUCTURE_SEED=str(seed),
                       SLUICE_STRUCTURE_EXECUTIONS=str(options.round))
    run = subprocess.run([os.path.join(options.tests, TARGETS[name]), f"-tc={name} structure*"],
                         capture_output=True, text=True, env=environment)
    said = re.search(r"(\d+) models, (\d+) accepted", run.stdout)
    if run.returncode != 0 or said is None:
        print(run.stdout[-2000:] + run.stderr[-2000:])
        return None
    return int(said[1]), int(said[2])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", required=True)
    parser.add_argument("--state", required=True)
    parser.add_argument("--executions", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--round", type=int, default=2000)
    options = parser.parse_args()
    state = {name: {"seed": 1000, "executions": 0, "accepted": 0} for name in TARGETS}
    if os.path.exists(options.state):
        with open(options.state) as file:
            state.update(json.load(file))
    end, found = time.monotonic() + options.seconds, False
    while time.monotonic() < end and not found:
        left = [n for n in TARGETS if state[n]["executions"] < options.executions]
        if not left:
            break
        name = min(left, key=lambda n: state[n]["executions"])
        sums = state[name]
        counts = once(options, name, sums["seed"])
        if counts is None:
            print(f"{name}: seed {sums['seed']} with {options.round} models finds something")
            found = True
        else:
            sums["executions"] += counts[0]
            sums["accepted"] += counts[1]
        sums["seed"] += 1
        with open(options.state + ".new", "w") as file:
            json.dump(state, file, indent=1)
            file.write("\n")
        os.replace(options.state + ".new", options.state)
    for name, sums in state.items():
        print(f"{name}: {sums['executions']} changed models, {sums['accepted']} accepted, "
              f"next seed {sums['seed']}")
    return found


if __name__ == "__main__":
    sys.exit(main())
