#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each library source has its test where the path says: src/a/b.cc, tests/a/b_test.cc.
A file there without a TEST_CASE is no test. For the simulator: firmware-sim/b.cc (or .c),
tests/sim/b_test.cc, or the test that ELSEWHERE names with a reason.

  mirrors.py --root .            lists the sources without a test and fails when there are any
  mirrors.py --self-test         shows that a source without a test is found
"""
import argparse
import pathlib
import re
import sys
import tempfile

from sources import without_noise

OUTSIDE = ("cli/",)  # the tool is tested as a whole

KERNELS = "its formulas are compared with a second implementation, those of all kernels together"
RUNS = "it is a part of whole runs: streams that are broken on purpose must be caught"
HOST = "functions of the host are called by name, all through one table"
RUNTIME = "every operator and type is compared with the runtime's own bytes"
ELSEWHERE = {  # source of firmware-sim: (its test below tests, why it stands there)
    "check_tile.cc": ("sim/tile_parts_test.cc", "checks are heard of parts of random layers"),
    "execution.cc": ("sim/broken_test.cc", RUNS),
    "fixed_point.cc": ("sim/kernels_test.cc", KERNELS),
    "host_onnx_elementwise.cc": ("sim/host_onnx_test.cc", HOST),
    "host_onnx_images.cc": ("sim/host_onnx_test.cc", HOST),
    "host_onnx_products.cc": ("sim/host_onnx_test.cc", HOST),
    "host_onnx_rows.cc": ("sim/host_onnx_test.cc", HOST),
    "host_tflite_curves.cc": ("sim/host_tflite_test.cc", HOST),
    "host_tflite_elements.cc": ("sim/host_tflite_test.cc", HOST),
    "host_tflite_moves.cc": ("models/tflite_operators.py", RUNTIME),
    "host_tflite_rows.cc": ("models/tflite_operators.py", RUNTIME),
    "host_tflite_windows.cc": ("models/tflite_operators.py", RUNTIME),
    "kernel_convolution.cc": ("sim/kernels_test.cc", KERNELS),
    "kernel_elementwise.cc": ("sim/kernels_test.cc", KERNELS),
    "kernel_rows.cc": ("sim/kernels_test.cc", KERNELS),
    "kernel_window.cc": ("sim/kernels_test.cc", KERNELS),
    "machine.cc": ("sim/broken_test.cc", RUNS),
    "machine_host.cc": ("sim/broken_test.cc", RUNS),
    "ops.cc": ("sim/kernels_test.cc", KERNELS),
    "order.cc": ("sim/broken_test.cc", RUNS),
    "placed.cc": ("sim/device_test.cc", "only the device runs placed streams"),
    "walker_check.c": ("sim/walker_test.cc", "the walker opens no image that it has not checked"),
}


def has_cases(path):
    return path.exists() and re.search(
        r"^TEST_CASE\w*\(", without_noise(path.read_text(encoding="utf-8")), re.M)


def without_test(root):
    for path in sorted((root / "src").rglob("*.cc")):
        source = path.relative_to(root / "src")
        if source.as_posix().startswith(OUTSIDE):
            continue
        if not has_cases(root / "tests" / source.parent / f"{source.stem}_test.cc"):
            yield source.as_posix()


def test_of(source):
    return f"tests/{source[:-3]}_test.cc"


def simulator_without_test(root, elsewhere):
    """Sentences, one for each source of the simulator or row of the list that breaks the rule."""
    found = {path.name: path.stem for path in sorted((root / "firmware-sim").glob("*.c*"))
             if path.suffix in (".c", ".cc")}
    for source, stem in found.items():
        has_own = has_cases(root / "tests/sim" / f"{stem}_test.cc")
        if source not in elsewhere and not has_own:
            yield f"firmware-sim/{source} has no test: tests/sim/{stem}_test.cc"
        elif source in elsewhere and has_own:
            yield f"firmware-sim/{source} has a test of its own, and a row in ELSEWHERE"
    for source, (test, why) in elsewhere.items():
        path = root / "tests" / test
        is_test = path.exists() if path.suffix == ".py" else has_cases(path)
        if source not in found or not is_test or not why:
            yield f"ELSEWHERE: {source}: no such source, no test in tests/{test}, or no reason"


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        case = 'TEST_CASE("it works") { CHECK(Works()); }\n'
        for path, text in (("src/a/tested.cc", ""), ("tests/a/tested_test.cc", case),
                           ("src/a/lone.cc", ""), ("tests/b/lone_test.cc", case),
                           ("src/a/idle.cc", ""), ("tests/a/idle_test.cc", "int a;"),
                           ("src/a/dead.cc", ""), ("tests/a/dead_test.cc", "// " + case),
                           ("src/cli/main.cc", "")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        want, found = ["a/dead.cc", "a/idle.cc", "a/lone.cc"], list(without_test(root))
        if found != want:
            sys.exit(f"self-test: expected {want}, found {found}")
        for path, text in (("firmware-sim/tested.c", ""), ("tests/sim/tested_test.cc", case),
                           ("firmware-sim/lone.cc", ""), ("firmware-sim/part.cc", ""),
                           ("firmware-sim/part.h", ""), ("tests/sim/idle_test.cc", "int a;")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        good = ("sim/tested_test.cc", "a part of it")
        for rows, want in (({"lone.cc": good, "part.cc": good}, 0), ({"part.cc": good}, 1),
                           ({"lone.cc": good, "part.cc": ("sim/idle_test.cc", "so")}, 1),
                           ({"lone.cc": good, "part.cc": (good[0], "")}, 1),
                           ({"lone.cc": good, "part.cc": good, "gone.cc": good}, 1),
                           ({"lone.cc": good, "part.cc": good, "tested.c": good}, 1)):
            found = list(simulator_without_test(root, rows))
            if len(found) != want:
                sys.exit(f"self-test: {want} expected, found {found} for {rows}")
    print("3 sources of 4 judged to lack a test; 6 lists of the simulator's judged as expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    missing = list(without_test(arguments.root))
    for source in missing:
        print(f"src/{source} has no test, or one without a TEST_CASE: {test_of(source)}")
    simulator = list(simulator_without_test(arguments.root, ELSEWHERE))
    print("\n".join(simulator + [f"{len(missing) + len(simulator)} sources without a test"]))
    return 1 if missing or simulator else 0


if __name__ == "__main__":
    sys.exit(main())
