#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The delegate in the interpreter from PyPI, beside the interpreter's reference kernels.

    delegate_test.py PART --delegate FILE --goldens FOLDER [--device FILE] [--shared FOLDER]
                     [--table FILE] [--descriptor FILE] [--work FOLDER] MODEL

PART is one of the functions below whose names begin with test_, without that. MODEL is a
quantised model that comes with the project; with --shared there are more.
"""
import argparse
import ctypes
import functools
import gc
import glob
import json
import os
import re
import shutil
import sys
import tempfile
import threading

import numpy
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

# The table of delegated nodes is of this machine, on which nothing is too large.
MACHINE = {"machine": "soma-edge"}
# Models of floats alone, of which no node is for the machine.
FLOATS = ("pretrainedResnet",)


class Run:
    """What the parts of the test need: models, options, the delegate's file."""

    def __init__(self, arguments):
        self.arguments = arguments
        sys.path.insert(0, arguments.goldens)
        import make_goldens

        self.goldens = make_goldens
        self.model = self.read(arguments.model)

    def read(self, path):
        return self.goldens.readable(path)

    @functools.lru_cache(maxsize=None)
    def meaning(self, content):
        """Which inputs and outputs stand for real numbers, and which inputs are shapes."""
        return self.goldens.float_borders(content), self.goldens.shape_inputs(content)

    def load(self, **options):
        return load_delegate(self.arguments.delegate, {**MACHINE, **options})

    def delegated(self, content, delegate):
        return make(content, [delegate])

    def report(self, delegate):
        function = delegate._library.sluice_delegate_report
        function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        function.restype = ctypes.c_size_t
        text = ctypes.create_string_buffer(4096)
        pointer = delegate._get_native_delegate_pointer()
        assert function(pointer, text, 1) == function(pointer, text, 4096)
        return json.loads(text.value)

    def outputs(self, content, interpreter, seed):
        """Bytes of all outputs for the seed's inputs, which are those of the goldens."""
        goldens = self.goldens
        borders, shapes = self.meaning(content)
        for i, detail in enumerate(interpreter.get_input_details()):
            border = borders.get(detail["index"])
            kind = numpy.dtype(detail["dtype"] if border is None else border[0])
            size = int(numpy.prod(detail["shape"])) * kind.itemsize
            # Random bits of a float may mean no number: small numbers instead.
            real = kind.kind == "f"
            data = goldens.split_mix(seed * 256 + i, size)
            raw = numpy.frombuffer(data, numpy.int8 if real else kind)
            raw = raw[: int(numpy.prod(detail["shape"]))].reshape(detail["shape"])
            raw = shapes.get(detail["index"], raw)
            value = goldens.meant(raw, border) if not real else raw / 64
            interpreter.set_tensor(detail["index"], value.astype(detail["dtype"]))
        interpreter.invoke()
        return b"".join(interpreter.get_tensor(detail["index"]).tobytes()
                        for detail in interpreter.get_output_details())


def make(content, delegates=None):
    interpreter = Interpreter(
        model_content=content, num_threads=1, experimental_delegates=delegates,
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    return interpreter


def reference(run, content, seed=1):
    return run.outputs(content, make(content), seed)


def refused(call):
    """The message of what has to fail."""
    try:
        call()
    except (RuntimeError, ValueError) as error:
        return str(error)
    raise AssertionError("this had to be refused")


def names_of_nodes(interpreter):
    return {operator["op_name"] for operator in interpreter._get_ops_details()}


# Nodes that no unit of a machine computes, as the importer says: of floats, variables, and
# what only a host computes.
NOT_THE_MACHINES = ("QUANTIZE", "DEQUANTIZE", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM",
                    "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE",
                    "TFLite_Detection_PostProcess")


def quantised_nodes(plain):
    """How many nodes of the file read or write small integers, but for those above, and how
    many neither those nor floats (shapes): counted from the interpreter without the delegate,
    which has no part in it."""
    kinds = {d["index"]: numpy.dtype(d["dtype"]) for d in plain.get_tensor_details()}
    small = [numpy.dtype(kind) for kind in ("int8", "uint8", "int16")]
    count = shapes = 0
    for operator in plain._get_ops_details():
        tensors = [t for name in ("inputs", "outputs") for t in operator[name] if t >= 0]
        if (operator["op_name"] in NOT_THE_MACHINES
                or any(kinds.get(t) == numpy.float32 for t in tensors)):
            continue
        quantised = any(kinds.get(t) in small for t in tensors)
        count += quantised
        shapes += not quantised
    return count, shapes


def read_table(path):
    """model -> [nodes, supported, delegated]."""
    table = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, *numbers = line.split()
                table[name] = list(map(int, numbers))
    return table


def test_models(run):
    """Equal bytes for every model, and as many delegated nodes as the table says."""
    table = read_table(run.arguments.table)
    paths = [run.arguments.model]
    for folder in ("models/tflite", "models/people"):
        paths += sorted(glob.glob(os.path.join(run.arguments.shared, folder, "*.tflite")))
    seen, followed = set(), 0
    for path in paths:
        name = os.path.basename(path)[: -len(".tflite")]
        numbers = table[name]
        content = run.read(path)
        delegate = run.load()
        interpreter = run.delegated(content, delegate)
        assert run.outputs(content, interpreter, 1) == reference(run, content), name
        r = run.report(delegate)
        found = [r["nodes"], r["supported"], r["delegated"]]
        print(f"{name:34} {found[2]:4} of {found[0]:4} nodes delegated,"
              f" {found[1]:4} supported, {r['partitions']} parts")
        assert found == numbers, f"{name}: {found} instead of {numbers}"
        assert found[2] >= 0.9 * found[1], name
        assert found[2] > 0 or name in FLOATS, name
        quantised, shapes = quantised_nodes(make(content))
        assert found[2] - shapes >= 0.9 * quantised, (name, found, quantised, shapes)
        seen.add(name)
        plain = make(content)
        if "SHAPE" in names_of_nodes(plain):
            # Shapes that the runtime computes when it is invoked.
            for batch in (2, 1):
                resize(interpreter, batch)
                resize(plain, batch)
                assert (run.outputs(content, interpreter, 2)
                        == run.outputs(content, plain, 2)), (name, batch)
            images, _, _, channels = whole = plain.get_input_details()[0]["shape"]
            for shape in ((images, 64, 64, channels), (images, 160, 96, channels), whole):
                expected = resized(run, content, plain, shape, 3)
                found = resized(run, content, interpreter, shape, 3)
                both_refuse = isinstance(expected, str) and isinstance(found, str)
                assert both_refuse or expected == found, (name, shape, expected, found)
                followed += not both_refuse and shape is not whole
    print(f"{len(seen)} models of {len(table)}: outputs equal to the reference kernels")
    if len(seen) == 1:
        print(f"skipped in part: {run.arguments.shared} is not there")
    else:
        assert seen == set(table), f"not there: {set(table) - seen}"
        assert followed >= 2  # heights and widths: fdmobilenet has an average of all


def resize(interpreter, batch):
    """The first extent of all inputs."""
    for detail in interpreter.get_input_details():
        interpreter.resize_tensor_input(detail["index"], [batch, *detail["shape"][1:]])
    interpreter.allocate_tensors()


def test_use(run):
    """100 invocations; other sizes between them, planned from the plan before."""
    expected = [reference(run, run.model, seed) for seed in (1, 2, 3, 4)]
    count = run.arguments.invocations
    for dynamic in ("0", "1"):
        # Rescheduling has time on a busy machine too.
        delegate = run.load(deadline_ms="2000", dynamic=dynamic)
        interpreter = run.delegated(run.model, delegate)
        for i in range(count):
            assert run.outputs(run.model, interpreter, 1 + i % 4) == expected[i % 4], i
        plain = make(run.model)
        for batch in (3, 1, 2, 1):
            resize(interpreter, batch)
            resize(plain, batch)
            for seed in (1, 2):
                assert (run.outputs(run.model, interpreter, seed)
                        == run.outputs(run.model, plain, seed)), batch
        r = run.report(delegate)
        assert r["plans_rescheduled"] >= 4 and r["delegated"] == r["nodes"] > 0, r
        assert r["invocations"] == count + 8 and r["faults"] == 0 and r["cycles"] > 0, r
        print(r)
    # An open number of images: what computes shapes goes with the nodes that need them, and
    # the shapes follow.
    content = run.read(run.arguments.open_batch)
    delegate = run.load(deadline_ms="2000")
    interpreter, plain = run.delegated(content, delegate), make(content)
    r = run.report(delegate)
    assert r["nodes"] - r["delegated"] == 2 and r["partitions"] == 1, r
    for batch in (1, 3, 2, 5, 1):
        resize(interpreter, batch)
        resize(plain, batch)
        for seed in (1, 2):
            assert (run.outputs(content, interpreter, seed)
                    == run.outputs(content, plain, seed)), batch
    assert run.report(delegate)["plans_rescheduled"] >= 4, run.report(delegate)
    # Applied to an interpreter that has run already: as many nodes, and the shapes follow.
    interpreter, delegate = make(content), run.load(deadline_ms="2000")
    run.outputs(content, interpreter, 1)
    interpreter._interpreter.ModifyGraphWithDelegate(delegate._get_native_delegate_pointer())
    assert run.report(delegate)["delegated"] == r["delegated"], run.report(delegate)
    for batch in (1, 4, 1):
        resize(interpreter, batch)
        resize(plain, batch)
        assert (run.outputs(content, interpreter, 3)
                == run.outputs(content, plain, 3)), batch
    del interpreter
    # Sizes for which there is no room: an error, and others go on.
    delegate = run.load(device_memory="2M")
    interpreter = run.delegated(run.model, delegate)
    message = refused(lambda: resize(interpreter, 1000))
    assert re.search("no plan for the tensors' new sizes.*\\. Node number", message), message
    refused(interpreter.invoke)
    resize(interpreter, 1)
    assert run.outputs(run.model, interpreter, 1) == expected[0]


# Operators that no small model has: of floats and variables, which stay with the runtime.
NOT_SMALL = {"DEQUANTIZE", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"}


def rows_of(path, function):
    """The operators in the rows of a table of functions, whose names match."""
    with open(os.path.join(os.path.dirname(__file__), path), encoding="utf-8") as file:
        return set(re.findall(r"\{Op::(\w+), " + function, file.read()))


def resized(run, content, interpreter, shape, seed):
    """Bytes and extents with the input's shape, or the error."""
    try:
        interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], shape)
        interpreter.allocate_tensors()
        data = run.outputs(content, interpreter, seed)
    except (RuntimeError, ValueError) as error:
        return str(error)
    return data, tuple(interpreter.get_output_details()[0]["shape"])


def follow(run, name, content, sizes, delegated=None):
    """Gives the delegate and the runtime alone these sizes, one after the other: the same
    bytes and extents, or both refuse. Returns how many sizes were taken. delegated: how many
    nodes have to be; None: all."""
    delegate = run.load(deadline_ms="2000")
    interpreter, plain = run.delegated(content, delegate), make(content)
    report = run.report(delegate)
    assert report["delegated"] == (delegated or report["nodes"]), (name, report)
    taken = 0
    for seed, size in enumerate(sizes):
        expected = resized(run, content, plain, size, seed)
        found = resized(run, content, interpreter, size, seed)
        if isinstance(expected, str) and isinstance(found, str):
            # It names an operator and what is wrong with it.
            assert re.search(r"no plan for the tensors' new sizes: \w+: [^.]+\. Node",
                             found), found
        else:
            taken += 1
            assert expected == found, (name, size, expected, found)
    return taken


def test_shapes(run):
    """Every operator that the importer knows has a function for its output's shape, and all
    follow other images, heights and widths behind a shape that is computed at run time."""
    import operator_models
    import small_models

    rows = rows_of("output_shapes.cc", "")
    lowered = rows_of("../../src/import/tflite/import_tflite.cc", "Lower")
    # A loop's outputs have the shapes of its body's, and a delegate is given no bodies.
    assert rows == lowered - {"WHILE"}, rows ^ lowered
    by_operator, operators = operator_models.models()
    assert rows - NOT_SMALL <= operators, rows - NOT_SMALL - operators
    sizes = [(1, 4, 4, 8), (3, 2, 8, 8), (2, 6, 4, 8), (1, 4, 4, 8), (5, 8, 2, 8), (1, 4, 6, 8),
             (2, 4, 4, 8), (1, 4, 4, 8)][:run.arguments.sizes]
    images = [(n, 4, 4, 8) for n in (1, 3, 2, 1)]
    for models, tried in ((by_operator, sizes), (small_models.models(), images)):
        for name, content in models.items():
            taken = follow(run, name, content, tried)
            print(f"{name}: {taken} of {len(tried)} sizes")
            assert (taken < len(tried)) == name.startswith("refused"), (name, taken)
    for name, (content, delegated) in operator_models.parts().items():
        assert follow(run, name, content, sizes, delegated) == len(sizes), name


def run_told(interpreter, extents, told):
    """Bytes and extents for an image of ones, 8 channels, and a shape that the program
    gives."""
    image, shape = [detail["index"] for detail in interpreter.get_input_details()]
    interpreter.resize_tensor_input(image, [*extents, 8])
    interpreter.allocate_tensors()
    interpreter.set_tensor(image, numpy.ones([*extents, 8], numpy.int8))
    interpreter.set_tensor(shape, numpy.array(told, numpy.int32))
    interpreter.invoke()
    output = interpreter.get_output_details()[0]
    return interpreter.get_tensor(output["index"]).tobytes(), tuple(output["shape"])


def test_told(run):
    """A shape that the program gives, at each run: the part is planned for it then."""
    import small_models

    content = small_models.shape_of_the_program()
    delegate = run.load(deadline_ms="2000")
    interpreter, plain = run.delegated(content, delegate), make(content)
    assert run.report(delegate)["delegated"] == 3, run.report(delegate)
    for extents, told in (((1, 4, 4), (1, 8, 8, 4)), ((1, 4, 4), (1, 7, 8, 4)),
                          ((2, 3, 5), (2, 5, 10, 4)), ((1, 4, 4), (1, 8, 8, 4))):
        assert (run_told(interpreter, extents, told)
                == run_told(plain, extents, told)), (extents, told)
    planned = run.report(delegate)["lowered"]
    run_told(interpreter, (1, 4, 4), (1, 8, 8, 4))
    assert run.report(delegate)["lowered"] == planned
    message = refused(lambda: run_told(interpreter, (1, 4, 4), (1, 3, 3, 4)))
    assert "no plan for the tensors' new sizes" in message, message
    assert (run_told(interpreter, (1, 4, 4), (1, 8, 8, 4))
            == run_told(plain, (1, 4, 4), (1, 8, 8, 4)))


def test_threads(run):
    """Two interpreters in two threads, each with its own device and with one for both."""
    expected = [reference(run, run.model, seed) for seed in (1, 2)]
    for device in ({}, {"device": "shared by threads"}):
        wrong = []

        def work(seed, given):
            delegate = run.load(**given)
            interpreter = run.delegated(run.model, delegate)
            for _ in range(10):
                if run.outputs(run.model, interpreter, seed) != expected[seed - 1]:
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed, device)) for seed in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong
    one, other = run.load(), run.load()
    delegates = [run.load(device="any order"), run.load(device="any order")]
    interpreters = [run.delegated(run.model, d) for d in delegates]
    assert run.outputs(run.model, interpreters[1], 1) == expected[0]
    # Destroyed by hand, in front of the interpreter that uses it.
    first = delegates[0]
    first._library.tflite_plugin_destroy_delegate.argtypes = [ctypes.c_void_p]
    first._library.tflite_plugin_destroy_delegate(first._delegate_ptr)
    first._library = None
    del interpreters[0]
    gc.collect()
    assert run.outputs(run.model, interpreters[0], 2) == expected[1]
    del delegates, first
    gc.collect()
    assert run.outputs(run.model, interpreters[0], 1) == expected[0]
    del interpreters, other, one
    gc.collect()


def test_faults(run):
    """A device that fails once: the interpreter reports it, and later invocations work."""
    expected = reference(run, run.model)
    said = {"timeout@2": "in time", "fault@2": "an engine has stopped",
            "submit@2": "stopped the stream", "read@2": "did not move a tensor whole",
            "write@20": "did not move a tensor whole"}  # an input; weights are the first 18
    for fault, text in said.items():
        delegate = run.load(device_library=run.arguments.device, device_options=fault)
        interpreter = run.delegated(run.model, delegate)
        failures = []
        for _ in range(4):
            try:
                assert run.outputs(run.model, interpreter, 1) == expected, fault
            except RuntimeError as error:
                failures.append(str(error))
        assert len(failures) == 1 and text in failures[0], (fault, failures)
        assert run.report(delegate)["faults"] == 1
        print(f"{fault}: {failures[0].strip()}")
    # An upload that fails, of weights: the nodes stay with the runtime's kernels.
    delegate = run.load(device_library=run.arguments.device, device_options="write@1")
    interpreter = run.delegated(run.model, delegate)
    assert run.outputs(run.model, interpreter, 1) == expected
    assert run.report(delegate)["delegated"] == 0


def test_options(run):
    """The effect of options, and the messages for wrong ones."""
    for key, value, text in (
            ("colour", "red", 'no option "colour"; there are machine'),
            ("machine", "no-such", "no-such"), ("machine", "/no/file.slh", "cannot be read"),
            ("machine", "simba", "mapped on, not scheduled"),
            ("deadline_ms", "-1", "milliseconds"), ("budget", "64KB", "bytes of scratchpad"),
            ("objective", "speed", "edp, latency or energy"), ("verbosity", "3", "0, 1 or 2"),
            ("device_library", "/no/library.so", "/no/library.so"),
            ("device_library", run.arguments.delegate, "npu_device_table"),
            ("device_memory", "12X", "such as 64M"),
            ("device_memory", "0", "such as 64M"), ("host", "2", "0, 1 or auto"),
            ("cache", "/no/folder", "folder that is there"),
            ("cache", run.arguments.descriptor, "folder that is there"),
            ("share_begin", "1", "a multiple of 64"),
            ("share_begin", "64", "share=partition only"),
            ("share", "partition", "needs a budget")):
        message = refused(lambda k=key, v=value: run.load(**{k: v}))
        assert text in message, (key, value, message)
    message = refused(lambda: run.load(share="partition", budget="4K", share_begin="64M"))
    assert "beyond the scratchpad, which has 8388608 bytes" in message, message
    keep = run.load(device="one machine")
    message = refused(lambda: run.load(device="one machine", machine="mcu-256k"))
    assert "another machine" in message, message
    expected = reference(run, run.model)
    cycles = {}
    named = {"machine": "mcu-256k", "deadline_ms": "0"}
    described = {"machine": run.arguments.descriptor, "deadline_ms": "0"}
    for given in ({}, {"budget": "4K"}, {"objective": "latency"}, {"objective": "energy"},
                  named, described, {"deadline_ms": "1"}, {"deadline_ms": "0"}):
        delegate = run.load(**given)
        interpreter = run.delegated(run.model, delegate)
        assert run.outputs(run.model, interpreter, 1) == expected, given
        r = run.report(delegate)
        assert r["delegated"] == r["nodes"], (given, r)
        cycles[str(given)] = r["cycles"]
    assert cycles[str(named)] == cycles[str(described)], cycles
    assert cycles["{'budget': '4K'}"] > cycles["{}"], cycles
    # A machine that has convolutions and sums only: the rest stays with the runtime, or is
    # its host's.
    limited = os.path.join(run.arguments.work, "limited.json")
    with open(run.arguments.descriptor, encoding="utf-8") as file:
        whole = file.read()
    for machine_host, host in (("", "0"), ('"host": {}, ', "0"), ('"host": {}, ', "1")):
        ops = '"ops": [{ "op": 1 }, { "op": 8 }], ' + machine_host
        with open(limited, "w", encoding="utf-8") as file:
            file.write(whole.replace('"mac_pj"', ops + '"mac_pj"'))
        delegate = run.load(machine=limited, host=host)
        interpreter = run.delegated(run.model, delegate)
        assert run.outputs(run.model, interpreter, 1) == expected
        r = run.report(delegate)
        print("limited machine:", r)
        assert r["delegated"] == r["supported"] > 0, r
        assert (r["delegated"] == r["nodes"]) == (host == "1"), r
    # Too little for any layer: all nodes stay with the runtime.
    delegate = run.load(budget="64")
    interpreter = run.delegated(run.model, delegate)
    assert run.outputs(run.model, interpreter, 1) == expected
    assert run.report(delegate)["delegated"] < run.report(delegate)["nodes"]
    del keep


def test_install(run):
    """The installed delegate takes a vendor's library, whose device is not there."""
    message = refused(lambda: run.load(device_library=run.arguments.device))
    assert "the device does not open" in message, message
    interpreter = run.delegated(run.model, run.load())
    assert run.outputs(run.model, interpreter, 1) == reference(run, run.model)


def test_share(run):
    """Two models in one scratchpad: in turns, in ranges of theirs, and planned together."""
    expected = [reference(run, run.model, seed) for seed in (1, 2)]
    half = 4096
    for name, options in (
            ("time", ({}, {})),
            ("partition", ({"budget": str(half)}, {"budget": str(half),
                                                   "share_begin": str(half)})),
            ("together", ({}, {}))):
        delegates = [run.load(device=name, share=name, **o) for o in options]
        interpreters = [run.delegated(run.model, d) for d in delegates]
        for i in (0, 1, 1, 0):
            assert run.outputs(run.model, interpreters[i], 1 + i) == expected[i], name
        reports = [run.report(d) for d in delegates]
        assert all(r["delegated"] == r["nodes"] for r in reports), reports
        print(name, [r["cycles"] for r in reports])
        del interpreters[0]
        gc.collect()
        assert run.outputs(run.model, interpreters[0], 2) == expected[1], name


def state_of(folder):
    """The folder's files, with what changes when one is written."""
    return {entry.name: (entry.inode(), entry.stat().st_mtime_ns)
            for entry in os.scandir(folder)}


def test_cache(run):
    """Plans are read from the cache, damaged ones are not; the time of Prepare is measured."""
    folder = tempfile.mkdtemp(dir=run.arguments.work)
    expected = reference(run, run.model)

    def prepared(content):
        delegate = run.load(cache=folder)
        interpreter = run.delegated(content, delegate)
        if content is run.model:
            assert run.outputs(content, interpreter, 1) == expected
        return run.report(delegate)

    r = prepared(run.model)
    assert r["plans_made"] == 1 and r["plans_cached"] == 0, r
    assert prepared(run.model)["plans_cached"] == 1
    files = glob.glob(os.path.join(folder, "*.slp"))
    assert len(files) == 1, files
    with open(files[0], "rb") as file:
        whole = file.read()
    for damaged in (whole[:-1], whole[:40], b"", b"no plan" * 100,
                    whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:]):
        with open(files[0], "wb") as file:
            file.write(damaged)
        r = prepared(run.model)
        assert r["plans_made"] == 1 and r["plans_cached"] == 0, r
    assert prepared(run.model)["plans_cached"] == 1
    # The work of Prepare, which a busy machine does not change: a part is lowered once, with a
    # plan in the cache none is made, and nothing is written.
    mobilenets = ("mobilenet_v1_0.25_128_uint8", "mobilenet_v2_int8_1x3x224x224")
    prepared(run.model)
    for name in mobilenets:
        path = os.path.join(run.arguments.shared, "models/tflite", name + ".tflite")
        if not os.path.exists(path):
            print(f"skipped in part: {path} is not there")
            continue
        content = run.read(path)
        before, first = state_of(folder), prepared(content)
        state = state_of(folder)
        times = [prepared(content) for _ in range(5)]
        later = min(t["prepare_cpu_ns"] for t in times)
        assert len(state) == len(before) + 1 and state_of(folder) == state
        for t, made in [(first, 1), *((t, 0) for t in times)]:
            counts = [t[n] for n in ("lowered", "plans_made", "plans_rescheduled",
                                     "plans_cached", "partitions")]
            assert counts == [1, made, 0, 1 - made, 1], (name, counts)
        print(f"{name}: Prepare takes {first['prepare_ns'] / 1e6:.2f} ms"
              f" ({first['prepare_cpu_ns'] / 1e6:.2f} of CPU) without a plan in the cache,"
              f" {later / 1e6:.2f} of CPU with one")
        if run.arguments.time:
            assert first["prepare_cpu_ns"] <= 20e6 and later <= 2e6
    shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part")
    parser.add_argument("model")
    parser.add_argument("--delegate", required=True)
    parser.add_argument("--goldens", required=True)
    parser.add_argument("--device", default="")
    parser.add_argument("--shared", default="")
    parser.add_argument("--table", default="")
    parser.add_argument("--descriptor", default="", help="mcu-256k as JSON")
    parser.add_argument("--open-batch", default="", help="open_batch_int8.tflite")
    parser.add_argument("--work", default=None)
    parser.add_argument("--invocations", type=int, default=100)
    parser.add_argument("--sizes", type=int, default=8, help="that each operator follows")
    parser.add_argument("--time", action="store_true", help="times are limits")
    arguments = parser.parse_args()
    arguments.shared = os.environ.get("SLUICE_SHARED", arguments.shared)
    globals()["test_" + arguments.part](Run(arguments))
    print("all well")


if __name__ == "__main__":
    main()
