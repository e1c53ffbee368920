#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of models through the whole tool: imported, planned, verified, executed, equal.

Each .tflite and .onnx file under the given files and folders is imported, scheduled on each
machine, verified and executed on seeded inputs. Outputs are compared with those of its own
runtime: the interpreter's reference kernels, or onnxruntime without optimisations. A model
with a state runs --runs times in a row. Models whose numbers are "shapes only" are executed,
not compared. With --states, inputs of ONNX models that their names tell are states (caches)
are kept over the runs. Dimensions that a model leaves open, and --dim does not give, are 1.

Needs: pip install ai-edge-litert tflite onnx onnxruntime numpy.

    every_model.py --sluice build/release/src/cli/sluice FILE_OR_FOLDER... [--seeds 3]
                   [--hw soma-edge,mcu-256k,gemmini-16x16] [--runs 10] [--json FILE]
                   [--least-through PERCENT] [--least-equal PERCENT] [--digits 5]

Prints a line for each model, then three tables. The first has a row for each front end and kind of
model (quantised, weights alone in integers, floats). "their runtime runs" leaves out files made
for one device only, and damaged ones: the shares below are of the others. "go" are executed on
every machine; "on units" have at most 5 % of their MACs on the host. The second table has a row
for each machine, for which the model is imported (--hw). The third has what stops models: an
operator with its reason, or a message, and how many models have it.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HOST_SHARE = 0.05


# Operators of an ONNX model that say that it is quantised; QLinear* is another.
QUANTISED = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
             "ConvInteger", "QGemm", "QAttention", "MatMulNBits", "MatMulIntegerToFloat",
             "DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "GatherBlockQuantized"}


class Failed(Exception):
    def __init__(self, step, text, why=None):
        super().__init__(f"{step}: {text}")
        self.step, self.why = step, why or {}


def kind_of_tflite(content):
    import tflite
    model, kind = tflite.Model.GetRootAs(content, 0), "floats"
    integers = {tflite.TensorType.INT8, tflite.TensorType.UINT8, tflite.TensorType.INT16,
                tflite.TensorType.INT4}
    for graph in (model.Subgraphs(i) for i in range(model.SubgraphsLength())):
        operators = [graph.Operators(i) for i in range(graph.OperatorsLength())]
        written = {int(o.Outputs(i)) for o in operators for i in range(o.OutputsLength())}
        for i in range(graph.TensorsLength()):
            tensor = graph.Tensors(i)
            scales = tensor.Quantization()
            if tensor.Type() in integers and scales is not None and scales.ScaleLength():
                if i in written:
                    return "quantised"
                kind = "weights alone"
    return kind


def kind_of_onnx(path):
    import onnx

    def operators(graph):
        for node in graph.node:
            yield node.op_type
            for attribute in node.attribute:
                for inner in [attribute.g, *attribute.graphs]:
                    yield from operators(inner)
    model = onnx.load(path, load_external_data=False)
    names = set(operators(model.graph)) | {n.op_type for f in model.functions for n in f.node}
    if any(name in QUANTISED or name.startswith("QLinear") for name in names):
        return "quantised"
    return "floats"


def kind_of(path):
    try:
        if path.endswith(".onnx"):
            return kind_of_onnx(path)
        with open(path, "rb") as file:
            return kind_of_tflite(file.read())
    except Exception:  # whatever the parsers throw
        return "unreadable"


def tool(*arguments, seconds=900):
    try:
        run = subprocess.run(arguments, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(arguments[1], f"took more than {seconds} s") from None
    if run.returncode != 0:
        text, why = run.stderr or run.stdout, {}
        try:
            why = json.loads(text)["error"]
            text = why["message"]
        except (ValueError, KeyError, TypeError):
            pass  # not a JSON answer
        raise Failed(arguments[1], f"exit {run.returncode}: {' '.join(text.split())[:400]}",
                     why)
    return run.stdout


def random_array(kind, shape, rng):
    kind = np.dtype(kind)
    if kind == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    if kind.itemsize >= 4:
        return rng.integers(0, 8, shape).astype(kind)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape).astype(kind)


def older(content, name, version):
    """The model with the operator's version lowered: the reference kernels list fewer
    versions than they compute."""
    import tflite
    number, data = getattr(tflite.BuiltinOperator, name), bytearray(content)
    model = tflite.Model.GetRootAs(data, 0)
    for i in range(model.OperatorCodesLength()):
        code = model.OperatorCodes(i)
        field = code._tab.Offset(4 + 2 * 2)
        kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        if kind == number and field and code.Version() == version:
            at = code._tab.Pos + field
            data[at:at + 4] = (version - 1).to_bytes(4, "little")
    return bytes(data)


def with_reference(content):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    for _ in range(64):
        try:
            Interpreter(model_content=content,
                        experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
            return content
        except ValueError as error:
            lacks = re.search(r"builtin opcode '(\w+)' version '(\d+)'", str(error))
            if lacks is None or int(lacks[2]) < 2:
                return content
            content = older(content, lacks[1], int(lacks[2]))
    return content


class TfliteRuntime:
    """The interpreter with its reference kernels."""

    def __init__(self, path):
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "goldens"))
        from make_goldens import readable, shape_inputs
        from tflite_operators import interpreter_of
        self.content, self.make = with_reference(readable(path)), interpreter_of
        self.shapes = shape_inputs(self.content)
        import tflite
        graph = tflite.Model.GetRootAs(self.content, 0).Subgraphs(0)
        tensors = [graph.Tensors(i) for i in range(graph.TensorsLength())]
        self.has_state = any(t.IsVariable() or t.Type() == tflite.TensorType.RESOURCE
                             for t in tensors)

    def feeds(self, rng):
        details = self.make(self.content).get_input_details()
        return [self.shapes.get(d["index"], random_array(d["dtype"], d["shape"], rng))
                for d in details]

    def lies(self, array, port):
        return array

    def answers(self, feeds, runs):
        runtime = self.make(self.content)
        for _ in range(runs):
            for detail, array in zip(runtime.get_input_details(), feeds):
                runtime.set_tensor(detail["index"], array)
            runtime.invoke()
        return [runtime.get_tensor(d["index"]) for d in runtime.get_output_details()]


# Where integer products of ONNX have weights and their zero points, and that of what they
# multiply (None: it is always uint8).
WEIGHTS = {"QLinearConv": ([(3, 5)], 2), "QLinearMatMul": ([(3, 5)], 2), "QGemm": ([(3, 5)], 2),
           "MatMulInteger": ([(1, 3)], 2), "ConvInteger": ([(1, 3)], 2),
           "DynamicQuantizeLSTM": ([(1, 9), (2, 11)], None)}


def without_saturation(path):
    """The model, as a file or as bytes. On x86 without VNNI, onnxruntime adds two products of
    uint8 by int8 in 16 bits, where they saturate: its answers depend on the processor. The same
    weights as uint8, with zero points 128 higher, have sums that are exact everywhere."""
    import onnx
    from onnx import numpy_helper
    model = onnx.load(path, load_external_data=False)
    constants = {t.name: t for t in model.graph.initializer}
    readers = collections.Counter(n for node in model.graph.node for n in node.input)
    counted = {o for node in model.graph.node if node.op_type == "DynamicQuantizeLinear"
               for o in node.output}
    pairs = []
    for node in model.graph.node:
        places, zero = WEIGHTS.get(node.op_type, ((), None))
        given = list(node.input) + [""] * 16
        kind = constants[given[zero]].data_type if zero and given[zero] in constants else (
            onnx.TensorProto.UINT8 if zero is None or given[zero] in counted else None)
        if kind == onnx.TensorProto.UINT8:
            pairs += [(given[w], given[z]) for w, z in places]
    changed = set()
    for name in {n for pair in pairs for n in pair}:
        tensor = constants.get(name)
        if tensor is not None and tensor.data_type == onnx.TensorProto.INT8:
            changed.add(name)
            readers[name] -= sum(name in pair for pair in pairs)
    external = any(t.data_location == onnx.TensorProto.EXTERNAL for t in constants.values())
    # Elsewhere a constant keeps its type; a weight alone would lose its zero point.
    whole = all((w in changed) == (z in changed) for w, z in pairs)
    if external or not changed or not whole or any(readers[name] for name in changed):
        return path
    for name in changed:
        stored = numpy_helper.to_array(constants[name]).astype(np.int16) + 128
        constants[name].CopyFrom(numpy_helper.from_array(stored.astype(np.uint8), name))
    return model.SerializeToString()


class OnnxRuntime:
    """onnxruntime, all of whose optimisations are off."""

    def __init__(self, path, dims):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        for name, extent in dims.items():
            options.add_free_dimension_override_by_name(name, extent)
        self.session = ort.InferenceSession(without_saturation(path), options,
                                            providers=["CPUExecutionProvider"])
        self.dims, self.has_state, self.states = dims, False, {}

    def keep(self, states):
        """Inputs that hold what an output was in the run before: {input: output}."""
        self.states, self.has_state = states, bool(states)

    def feeds(self, rng, inputs=None):
        kinds = {"float": np.float32, "double": np.float64}
        arrays = []
        for info in inputs or self.session.get_inputs():
            if inputs is None and info.name in self.states:
                continue
            kind = info.type[len("tensor("):-1]
            shape = [d if isinstance(d, int) else self.dims.get(d, 1) for d in info.shape]
            arrays.append(random_array(kinds.get(kind, kind), shape, rng))
        return arrays

    def lies(self, array, port):
        return array.transpose(port["order"]) if port.get("order") else array

    def answers(self, feeds, runs):
        inputs = self.session.get_inputs()
        given = dict(zip([i.name for i in inputs if i.name not in self.states], feeds))
        states = [i for i in inputs if i.name in self.states]
        for info, array in zip(states, self.feeds(np.random.default_rng(0), states)):
            given[info.name] = np.zeros_like(array)
        names = [o.name for o in self.session.get_outputs()]
        for _ in range(runs):
            answers = dict(zip(names, self.session.run(None, given)))
            given.update({i: answers[o] for i, o in self.states.items()})
        return [a for name, a in answers.items() if name not in self.states.values()]


def on_the_grid(array, port):
    """Floats that the port's type stores without loss, and how they are stored."""
    if port["scale"] == 0 or array.dtype.kind != "f":
        return array, array
    info = np.iinfo(port["type"])
    scale, zero = np.float32(port["scale"]), port["zero_point"]
    stored = np.clip(np.rint(array / scale) + zero, info.min, info.max).astype(port["type"])
    return (stored.astype(np.float32) - np.float32(zero)) * scale, stored


def compared(port, got, want, digits):
    """Elements that differ, of how many, by at most how many steps."""
    if want.dtype.kind == "f" and port["scale"] != 0:
        want = on_the_grid(want, port)[1]
    if want.dtype.kind == "f":
        got = np.frombuffer(got, want.dtype).reshape(want.shape)
        apart = ~(np.abs(got - want) <= 10.0 ** -digits * max(1.0, np.abs(want).max(initial=0)))
        apart &= ~((got == want) | (np.isnan(got) & np.isnan(want)))
        return int(apart.sum()), apart.size, int(apart.any())
    kind = want.dtype
    if len(got) != want.nbytes and want.size and len(got) % want.size == 0:
        kind = np.dtype(f"i{len(got) // want.size}")
    if len(got) != want.size * kind.itemsize:
        return want.size, want.size, -1  # of another size altogether
    apart = np.abs(np.frombuffer(got, kind).astype(np.int64) -
                   want.ravel().astype(np.int64))
    return int((apart != 0).sum()), apart.size, int(apart.max(initial=0))


def executed(base, hw, options, said, runtime, seed, runs):
    """One seed on one machine: (differ, count, most)."""
    rng = np.random.default_rng(seed)
    feeds, files = [], []
    for i, (array, port) in enumerate(zip(runtime.feeds(rng), said["input_ports"])):
        real, stored = on_the_grid(array, port)
        feeds.append(real)
        files += ["--input", f"{base}.in{i}"]
        if stored.dtype.kind in "iub" and np.dtype(port["type"]) != stored.dtype:
            stored = stored.astype(port["type"])
        with open(f"{base}.in{i}", "wb") as file:
            file.write(np.ascontiguousarray(runtime.lies(stored, port)).tobytes())
    wanted = runtime.answers(feeds, runs)
    for i in range(len(wanted)):
        files += ["--output", f"{base}.out{i}"]
    tool(options.sluice, "simulate", base + ".slp", "--graph", base + ".slg", "--hw", hw,
         "--functional", "--runs", str(runs), *files)
    differ = count = most = 0
    for i, (want, port) in enumerate(zip(wanted, said["output_ports"])):
        with open(f"{base}.out{i}", "rb") as file:
            d, n, m = compared(port, file.read(), runtime.lies(want, port), options.digits)
        differ, count, most = differ + d, count + n, max(most, m)
    return differ, count, most


def imported(path, base, dims, options, hw):
    """The tool's answer. Dimensions that it asks for are added to dims with extent 1."""
    for _ in range(2):
        more = [a for name, extent in dims.items() for a in ("--dim", f"{name}={extent}")]
        try:
            return json.loads(tool(options.sluice, "import", path, "-o", base + ".slg",
                                   "--hw", hw, "--json", *more,
                                   *["--states"] * options.states))
        except Failed as failure:
            if not failure.why.get("open_dims"):
                raise
            left = failure
            dims.update({name: 1 for name in failure.why["open_dims"]})
    raise left


def runtime_of(path, dims, row):
    """The model's own runtime, or None: row then says why it does not run the model."""
    def tried():
        runtime = TfliteRuntime(path) if path.endswith(".tflite") else OnnxRuntime(path, dims)
        runtime.answers(runtime.feeds(np.random.default_rng(0)), 1)
        return runtime

    # In a process of its own first: some files end their runtime.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            tried()
        except Exception as error:  # whatever the runtimes throw
            os.write(writer, " ".join(str(error).split())[:200].encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, errors="replace") as file:
        text = file.read()
    status = os.waitpid(child, 0)[1]
    if text or status:
        row["no_runtime"] = text or f"ends by signal {os.WTERMSIG(status)}"
        return None
    return tried()


def on_machine(path, base, dims, hw, options, said, runtime, here):
    imported(path, base, dims, options, hw)  # each machine has a graph of its own
    plan = json.loads(tool(options.sluice, "schedule", base + ".slg", "--hw", hw, "-o",
                           base + ".slp", "--json"))
    here["host_share"] = plan["host"]["share"]["macs"]
    tool(options.sluice, "verify", base + ".slp", "--graph", base + ".slg", "--hw", hw)
    if runtime is None:
        tool(options.sluice, "simulate", base + ".slp", "--graph", base + ".slg",
             "--hw", hw, "--functional")
        return
    totals = [executed(base, hw, options, said, runtime, seed,
                       options.runs if runtime.has_state else 1)
              for seed in range(1, options.seeds + 1)]
    here["differ"] = sum(t[0] for t in totals)
    here["count"] = sum(t[1] for t in totals)
    here["most"] = max(t[2] for t in totals)


def through(path, base, options):
    """One model: its row of the table."""
    row = {"front_end": path.rsplit(".", 1)[1], "kind": kind_of(path), "machines": {}}
    dims = {}
    if path.endswith(".onnx"):
        dims = {n: int(e) for n, e in (d.split("=") for d in options.dim)}
    try:
        said = imported(path, base, dims, options, options.hw.split(",")[0])
    except Failed as failure:
        row["failed"], row["refused"] = str(failure), failure.why.get("unsupported", [])
        runtime_of(path, dims, row)
        return row
    row["numbers"], row["dims"] = said["numbers"], dims
    row["host"] = [f"{e['count']} {e['op']}" for e in said["opaque"]]
    row["rounded"] = [f"{e['count']} {e['op']}" for e in said["rounded"]]
    for port, line in zip(said["input_ports"] + said["output_ports"], said["interface"]):
        order = re.search(r"axes in the order([ \d]+)", line)
        port["order"] = [int(a) for a in order[1].split()] if order else None
    runtime = runtime_of(path, dims, row)
    states = [line[len("state "):].split(" <- ") for line in said["interface"]
              if line.startswith("state ")]
    if runtime is not None and states:
        runtime.keep(dict(states))
    if said["numbers"] == "shapes only":
        runtime = None  # nothing to compare
    for hw in options.hw.split(","):
        here = row["machines"][hw] = {}
        try:
            on_machine(path, base, dims, hw, options, said, runtime, here)
        except Failed as failure:
            here["failed"] = str(failure)
    return row


def models_under(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
            continue
        for folder, _, names in sorted(os.walk(path)):
            for name in sorted(names):
                if name.endswith((".tflite", ".onnx")):
                    yield os.path.join(folder, name)


def verdict(row):
    """Whether the model went end to end, is equal where it is compared, and a line."""
    if "failed" in row:
        runtime = f" (its runtime: {row['no_runtime']})" if "no_runtime" in row else ""
        return False, None, row["failed"] + runtime
    parts, whole, equal = [], True, None
    for hw, here in row["machines"].items():
        if "failed" in here:
            parts.append(f"{hw} {here['failed']}")
            whole = False
            continue
        share = here["host_share"]
        whole = whole and share <= HOST_SHARE
        text = hw + (f" host {share:.1%}" if share > 0 else "")
        if "count" in here:
            same = here["differ"] == 0
            equal = same if equal is None else equal and same
            text += " equal" if same else (
                f" {here['differ']} of {here['count']} differ, most {here['most']}")
        parts.append(text)
    head = row["numbers"] + (f" [{', '.join(row['rounded'])}]" if row["rounded"] else "")
    if row["host"]:
        head += f" (host: {', '.join(row['host'])})"
    if "no_runtime" in row:
        head += f" (its runtime: {row['no_runtime']})"
    return whole, equal, f"{head}: " + "; ".join(parts)


def is_executed(row):
    return "failed" not in row and not any("failed" in m for m in row["machines"].values())


def blockers(row):
    """What stops a model: operators with their reasons, or one message without numbers."""
    if row.get("refused"):
        return {f"{e['op']}: {e['reason'] or 'unknown'}" for e in row["refused"]}
    texts = [row["failed"]] if "failed" in row else [
        m["failed"] for m in row["machines"].values() if "failed" in m]
    return {re.sub(r"/\S+: ", "", re.sub(r"\d+", "N", text))[:120] for text in texts[:1]}


def print_tables(rows):
    groups = collections.defaultdict(list)
    for row in rows.values():
        groups[row["front_end"], row["kind"]].append(row)
    print("\nmodels  their runtime runs      go        on units  compared  equal   host's MACs")
    for group, members in sorted(groups.items()):
        run = [r for r in members if "no_runtime" not in r]
        go = [r for r in run if is_executed(r)]
        answers = [verdict(r)[:2] for r in go]
        units = sum(whole for whole, _ in answers)
        compared_rows = [equal for _, equal in answers if equal is not None]
        shares = [m["host_share"] for r in go for m in r["machines"].values()]
        n = max(len(run), 1)
        print(f"{len(members):6}  {len(run):18}  {len(go):5} {len(go) / n:4.0%}  {units:8} "
              f"{units / n:4.0%}  {len(compared_rows):8}  {sum(compared_rows):5}  "
              f"{sum(shares) / max(len(shares), 1):12.1%}  {group[0]}, {group[1]}")
    print("\n   models      go  at most 5 % host   equal  within one step")
    for hw in sorted({name for r in rows.values() for name in r["machines"]}):
        run = [r["machines"].get(hw, {"failed": ""}) for r in rows.values()
               if "no_runtime" not in r]
        go = [m for m in run if "failed" not in m]
        n, steps = max(len(run), 1), [m["most"] for m in go if "count" in m]
        units = sum(m["host_share"] <= HOST_SHARE for m in go)
        print(f"{len(run):9} {len(go):7} {units:11} {units / n:5.0%} {steps.count(0):7} "
              f"{sum(0 <= s <= 1 for s in steps):16}  {hw}")
    stops = collections.Counter(
        (row["front_end"], stop) for row in rows.values()
        if "no_runtime" not in row and not is_executed(row) for stop in blockers(row))
    if stops:
        print("\nmodels that it stops")
    for (front_end, stop), count in stops.most_common():
        print(f"{count:6}  {front_end}  {stop}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--hw", default="soma-edge,mcu-256k,gemmini-16x16")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--digits", type=int, default=5)
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--states", action="store_true")
    parser.add_argument("--json", default=None)
    parser.add_argument("--least-through", type=float, default=0)
    parser.add_argument("--least-equal", type=float, default=0)
    options = parser.parse_args()
    rows, whole, compared_models, equal_models = {}, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for path in models_under(options.models):
            row = rows[path] = through(path, os.path.join(folder, "model"), options)
            good, equal, text = verdict(row)
            whole += good
            compared_models += equal is not None
            equal_models += bool(equal)
            print(f"{os.path.basename(path)}: {text}", flush=True)
            if options.json:
                with open(options.json, "w") as file:
                    json.dump(rows, file, indent=1)
    print_tables(rows)
    n, executed_models = max(len(rows), 1), sum(is_executed(r) for r in rows.values())
    print(f"{len(rows)} models: {executed_models} planned and executed on every machine, "
          f"{whole} ({whole / n:.0%}) with at most 5 % of their MACs on the host; "
          f"{compared_models} compared with their runtime, {equal_models} equal in every byte")
    return (100 * whole < options.least_through * len(rows) or
            100 * equal_models < options.least_equal * compared_models)


if __name__ == "__main__":
    sys.exit(main())
