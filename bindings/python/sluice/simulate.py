# SPDX-License-Identifier: Apache-2.0
"""Running plans in the simulator, with numpy arrays in and out."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NoReturn, Optional, Sequence, Tuple
from typing import Union

from ._library import Cancel, bytes_of, expect, ffi, interruptible, lib, listed, needing, text
from ._library import flags, whole
from .errors import BadInput, Diagnostic, OutOfMemory, Rejected, Stopped
from .graph import NO_INDEX, Graph, Path, graph_of

if TYPE_CHECKING:
    import numpy
    import pandas

    from .machine import Machine
    from .plan import Plan

_KINDS = {1: "load", 2: "store", 3: "forward", 4: "compute", 5: "host"}


@dataclasses.dataclass(repr=False)
class Simulation:
    """The result of a run."""

    outputs: List["numpy.ndarray"]  # in the graph's order; of functional runs
    cycles: int
    predicted_cycles: int
    contended_cycles: int  # of runs with contention
    dram_read_bytes: int
    dram_write_bytes: int
    instructions: int
    tiles: int
    macs: int
    compared_bytes: int  # with an untiled run of the graph
    mismatches: int  # of these
    output_hash: int
    state: bytes  # of the region STATE, for the next run

    def __repr__(self) -> str:
        compared = (f", {self.mismatches} of {self.compared_bytes} bytes differ from the untiled "
                    "graph's" if self.compared_bytes else "")
        return (f"<sluice.Simulation: {self.cycles} cycles ({self.predicted_cycles} predicted), "
                f"{self.instructions} instructions, {len(self.outputs)} outputs, "
                f"{len(self.state)} bytes of state{compared}>")


def _arrays(graph: Graph, inputs: Any) -> Optional[List[bytes]]:
    """Dense bytes of the inputs, which are arrays in order or by name."""
    import numpy

    if inputs is None:
        return None
    if isinstance(inputs, Mapping):
        names = {port.name for port in graph.inputs}
        for kind, wrong in (("no inputs", set(inputs) - names),
                            ("further inputs", names - set(inputs))):
            if wrong:
                raise ValueError(f"the graph has {kind} {sorted(wrong)}")
        inputs = [inputs[port.name] for port in graph.inputs]
    elif isinstance(inputs, numpy.ndarray):
        inputs = [inputs]
    expect(inputs, (list, tuple), "inputs",
           "a list of numpy arrays, or a dictionary of them by name")
    if len(inputs) != len(graph.inputs):
        raise ValueError(f"{len(inputs)} inputs for {len(graph.inputs)}")
    found = []
    for port, given in zip(graph.inputs, inputs):
        array = numpy.asarray(given)
        if array.dtype != port.dtype or array.shape != port.shape:
            raise ValueError(f"input {port.name!r} is {port.dtype} {port.shape}, not "
                             f"{array.dtype} {array.shape}")
        found.append(numpy.ascontiguousarray(array).tobytes())
    return found


def made_for(plan: "Plan") -> Tuple[Graph, "Machine"]:
    """The plan's graph and machine; refuses others than the plan was made for, with both
    hashes."""
    graph, machine = plan._made_for()
    hashes = plan.hashes
    for kind, expected, given in (("graph", hashes["made_for_graph"], graph.hash),
                                  ("machine", hashes["made_for_hardware"], machine.hash)):
        if expected != given:
            refuse("plan", f"the plan was made for the {kind} with hash {expected:016x}; the one "
                           f"that is given has {given:016x}")
    return graph, machine


def _run(graph: Graph, plan: Optional["Plan"], inputs: Optional[List[bytes]],
         cancel: Optional[Cancel] = None, **fields: Any) -> Any:
    """The C result of a run, and the objects that its pointers refer to."""
    run, keep = ffi.new("sluice_native_run_t*", fields), []

    def lend(name: str, data: bytes) -> None:
        keep.append(ffi.from_buffer(data))
        setattr(run, name, keep[-1])
        setattr(run, name + "_size", len(data))

    lend("graph", graph.to_bytes())
    if plan is not None:
        lend("hardware", made_for(plan)[1].to_bytes())
        lend("plan", plan.to_bytes())
    folder = ffi.new("char[]", graph.folder.encode())
    keep.append(folder)
    run.data_dir = folder
    if inputs is not None:
        buffers = [ffi.from_buffer(data) for data in inputs]
        keep += [buffers, ffi.new("const void*[]", buffers),
                 ffi.new("size_t[]", [len(data) for data in inputs])]
        run.inputs, run.input_sizes, run.input_count = keep[-2], keep[-1], len(inputs)
    with interruptible(cancel) as word:
        run.cancel = word
        result = lib.sluice_native_simulate(run)
    if result == ffi.NULL:
        raise OutOfMemory("the simulator has no memory")
    return ffi.gc(result, lib.sluice_native_simulate_destroy)


def _check(result: Any) -> None:
    if not result.ok:
        refuse(text(result.error_code), "the simulator says no: " + text(result.error))


def refuse(code: str, sentence: str) -> NoReturn:
    """Raises what an answer of the simulator means."""
    kind, status = ((BadInput, -2) if code in ("graph", "hardware", "plan", "input")
                    else (OutOfMemory, -4) if code == "memory"
                    else (Stopped, 2) if code == "cancelled" else (Rejected, 3))
    raise kind(sentence, Diagnostic(status=status, stage="simulate", rule=code,
                                    message=sentence))


def simulate(plan: "Plan", inputs: Union[Sequence[Any], Mapping[str, Any], None] = None, *,
             functional: bool = True, seed: int = 0, parameters: Sequence[int] = (),
             state: bytes = b"", contention: bool = False, interleaving: int = 0,
             cancel: Optional[Cancel] = None) -> Simulation:
    """Executes a plan cycle by cycle and, when functional, byte by byte.

    inputs       arrays of the stored types, in the graph's order or by name; None: seeded
    parameters   values of the graph's parameters (a KV position)
    state        of the run before; b"": as before the first
    contention   also says what busy links add
    interleaving not 0: the seed of an order that only the waits bind
    cancel       a Cancel, for other threads; Ctrl-C stops the run too

    Rejected: the plan breaks a rule, or computes other bytes than the untiled graph.
    """
    from .plan import Plan

    expect(plan, Plan, "plan", "a sluice.Plan")
    graph, _ = plan._made_for()
    state = bytes_of(state, "state")
    values = [whole(value, "parameters", -(1 << 31), (1 << 31) - 1)
              for value in listed(parameters, "parameters", "a list of numbers")]
    if len(values) > len(graph.parameters):
        raise ValueError(f"parameters: {len(values)} values; the graph has "
                         f"{len(graph.parameters)} parameters")
    keep = [ffi.new("int32_t[]", values), ffi.from_buffer(state)]
    result = _run(graph, plan, _arrays(graph, inputs), cancel,
                  interleaving=whole(interleaving, "interleaving"), seed=whole(seed, "seed"),
                  parameters=keep[0], parameter_count=len(values), state=keep[1],
                  state_size=len(state), **flags(functional=functional, contention=contention))
    _check(result)
    return _simulation(graph, result)


def reference(graph: Union[Graph, Path], inputs: Any = None, *, seed: int = 0,
              cancel: Optional[Cancel] = None) -> List["numpy.ndarray"]:
    """The outputs of the graph, computed layer by layer without a machine."""
    graph = graph_of(graph)
    result = _run(graph, None, _arrays(graph, inputs), cancel, functional=1,
                  seed=whole(seed, "seed"))
    _check(result)
    return _outputs(graph, result)


def _outputs(graph: Graph, result: Any) -> List["numpy.ndarray"]:
    import numpy

    found = []
    for i in range(result.output_count):
        tensor = graph.tensors[result.output_tensors[i]]
        if tensor.kind != "output":  # states are compared, too
            continue
        raw = bytes(ffi.buffer(result.outputs[i], result.output_sizes[i]))
        found.append(numpy.frombuffer(raw, tensor.dtype).reshape(tensor.shape).copy())
    return found


def _simulation(graph: Graph, result: Any) -> Simulation:
    names = ("cycles", "predicted_cycles", "contended_cycles", "dram_read_bytes",
             "dram_write_bytes", "instructions", "tiles", "macs", "compared_bytes",
             "mismatches")
    numbers: Dict[str, int] = {name: getattr(result, name) for name in names}
    state = bytes(ffi.buffer(result.state, result.state_size)) if result.state_size else b""
    return Simulation(outputs=_outputs(graph, result), output_hash=result.output_fnv1a,
                      state=state, **numbers)


def events_of(plan: "Plan") -> "pandas.DataFrame":
    """The instructions of a run by start, with engines, layers and kinds by name; name and op
    are those of plan.layers."""
    with needing("plan.events"):
        import numpy
        import pandas

    graph, _ = plan._made_for()
    result = _run(graph, plan, None, trace=1)
    _check(result)
    fields = ffi.typeof("sluice_native_event_t").fields
    kind = numpy.dtype([(name, field.type.cname.replace("_t", "")) for name, field in fields])
    raw = bytes(ffi.buffer(result.events, result.event_count * kind.itemsize)) \
        if result.event_count else b""
    frame = pandas.DataFrame(numpy.frombuffer(raw, kind))
    frame = frame.sort_values(["start", "engine"], kind="stable", ignore_index=True)
    engines = [text(result.engines[i]) for i in range(result.engine_count)]
    names = {i: layer.name for i, layer in enumerate(graph.layers)}
    ops = {i: layer.op for i, layer in enumerate(graph.layers)}
    frame["engine"] = frame.engine.map(dict(enumerate(engines)))
    frame["kind"] = frame.opcode.map(_KINDS)
    frame["name"] = frame.layer.map(names).fillna("")
    frame["op"] = frame.layer.map(ops).fillna("")
    frame["node"] = frame.node.astype("int64").replace(NO_INDEX, -1)
    frame["layer"] = frame.layer.astype("int64").replace(NO_INDEX, -1)
    return frame[["engine", "node", "kind", "layer", "name", "op", "start", "end", "bytes",
                  "instance", "visit", "instruction"]]
