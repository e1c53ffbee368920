#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models, plans and seeds on the models of both targets, and tells commands per plan.

Each model has five plans: default, baseline, three smaller budgets. Outputs must be those of
the untiled run. The tests of every build run TFLite models and what is small; this is all of
it, which takes some minutes of a processor for each network and target.

Input    a build tree with test_targets_gemmini and test_targets_vta; SEEDS, 6 where it is
         not given; networks of the zoo (of a transformer some blocks alone: vit_b_16:1),
         which --alone runs without the models of the shared data.
         With --foreign and a folder that tests/targets/foreign/build.sh made: on the models
         of the machines' makers, too
Output   a line for each model, plan and target; 1 if a run failed, or if none was made
Usage    tests/targets/list.py build/release [--seeds N] [--alone] [--foreign FOLDER]
         [NETWORK ...]
"""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["resnet50", "mobilenet_v1", "vit_b_16"]
# By target: its test cases of the shared data's models, of networks, of the makers' model.
CASES = {
    "gemmini": ("targets: resnet8*,targets: keyword*,targets: person*,targets: anomaly*,"
                "targets: mobilenet_v1*", "targets: whole networks*", "targets: the list on*"),
    "vta": ("resnet8 on VTA,keyword*,person*,anomaly*,mobilenet_v1*", "vta: networks*",
            "vta: the list on*"),
}


def run(program: pathlib.Path, cases: str, environment: dict[str, str]) -> bool:
    """Runs these cases; what they say goes on as it comes."""
    with subprocess.Popen([str(program), f"-tc={cases}"], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as tests:
        plans, rest = 0, []
        for line in tests.stdout:
            if "plan of the list: " in line:
                plans += 1
                print("  " + line.split("plan of the list: ")[1].rstrip(), flush=True)
            else:
                rest.append(line)
    if tests.returncode != 0 or plans == 0:
        print("".join(rest))
    return tests.returncode == 0 and plans > 0


def main() -> int:
    """Runs the list."""
    parse = argparse.ArgumentParser()
    parse.add_argument("build", type=pathlib.Path)
    parse.add_argument("networks", nargs="*", default=NETWORKS)
    parse.add_argument("--seeds", type=int, default=6)
    parse.add_argument("--alone", action="store_true")
    parse.add_argument("--foreign", type=pathlib.Path)
    given = parse.parse_intermixed_args()
    environment = dict(os.environ, SLUICE_TARGET_NETWORKS=" ".join(given.networks),
                       SLUICE_TARGET_SEEDS=str(given.seeds), SLUICE_TARGET_SAY="1")
    good = True
    for target, (models, networks, theirs) in CASES.items():
        program = given.build.resolve() / "tests" / f"test_targets_{target}"
        environment[f"SLUICE_FOREIGN_{target.upper()}"] = ""
        print(f"{target}, the project's model", flush=True)
        good &= run(program, networks if given.alone else f"{models},{networks}",
                    environment)
        if given.foreign is None:
            continue
        build = given.foreign.resolve() / f"{target}.so"
        print(f"{target}, the makers' model", flush=True)
        good &= run(program, theirs, dict(environment,
                                          **{f"SLUICE_FOREIGN_{target.upper()}": str(build)}))
    print("all outputs are those of the untiled run" if good else "NOT all")
    return not good


if __name__ == "__main__":
    sys.exit(main())
