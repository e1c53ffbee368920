# SPDX-License-Identifier: Apache-2.0
"""Wrong values: every public function says what is wrong, and what would be right."""
import inspect
import re
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy
import pandas
import pytest

import sluice


class Unfit:
    """A value that no function takes."""

    def __repr__(self):
        return "<unfit>"


WRONG = (None, Unfit(), 7, -1, 2.5, float("nan"), 1 << 80, True, "", "\u00fc\U0001f600\x00", b"",
         b"junk", [], [1], {}, {"a": 1}, (), (1, 2), numpy.zeros(3), numpy.zeros((2, 2), "float32"),
         pandas.DataFrame({"a": [1]}), object, len)
# What a wrong value may raise, beside the package's own exceptions.
SAID = (TypeError, ValueError, OSError, IndexError, OverflowError, MemoryError)
INTERNAL = re.compile(r"has no attribute '|_handle|_word|cdata|ctype|NoneType' object|initializer "
                      r"for|unsupported operand|subscriptable|not iterable|object has no len|"
                      r"cannot be interpreted|can only concatenate|must be a string or a real|"
                      r"must not be null|is not callable|not supported between|an integer is "
                      r"required|int\(\) argument|embedded null|ambiguous|must be integers or|"
                      r"expected str, bytes|Value after|negative number to")


def built(method):
    """A method of a new builder that has two tensors."""

    def call(**arguments):
        builder = sluice.GraphBuilder()
        builder.input((1, 4))
        builder.output((1, 4))
        return getattr(builder, method)(**arguments)

    return call


def methods(graph, plan):
    """As good_calls, of objects; functions of classes that are only data are within."""
    machine, cache = plan.machine, sluice.PlanCache("cache")
    key = cache.key_of(graph, machine, sluice.planning.Options())
    swept = sluice.sweep([sluice.Point(graph, machine, {"solver": "baseline"})],
                         ThreadPoolExecutor(1))
    return {
        "GraphBuilder": (sluice.GraphBuilder, dict(name="")),
        "builder.tensor": (built("tensor"), dict(shape=(1, 2), dtype="int8", kind="input", name="",
                                                 data=None, seed=0, scale=1.0, zero_point=0,
                                                 encoded_bytes=0)),
        "builder.constant": (built("constant"), dict(data=numpy.zeros((1, 2), "int8"))),
        "builder.parameter": (built("parameter"), dict(name="p", min=0, max=3)),
        "builder.layer": (built("layer"), dict(op="hard_swish", inputs=[0], outputs=[1],
                                               attributes={}, name="")),
        "Graph.layer_name": (graph.layer_name, dict(index=0)),
        "Plan.load": (sluice.Plan.load, dict(path="none", graph=None, machine=None)),
        "Plan.save": (plan.save, dict(path="p.slp", plan_only=False)),
        "Plan.plot": (plan.plot, dict(ax=None)),
        "Plan.trace": (plan.trace, dict(path=None, contention=False)),
        "Sweep.best": (swept.best, dict(column="edp", by=None)),
        "Sweep.pareto": (lambda columns, by: swept.pareto(columns, by=by),
                         dict(columns="edp", by=())),
        "Sweep.plot_pareto": (swept.plot_pareto, dict(x="edp", y="energy_pj", by=(), ax=None)),
        "Sweep.heat_map": (swept.heat_map, dict(value="edp", x="dram_bytes_per_cycle",
                                                y="buffer_bytes", ax=None)),
        "Sweep.to_csv": (swept.to_csv, dict(path="t.csv")),
        "Sweep.to_parquet": (swept.to_parquet, dict(path="t.parquet")),
        "PlanCache.key_of": (cache.key_of, dict(graph=graph, machine=machine,
                                                options=sluice.planning.Options())),
        "PlanCache.get": (cache.get, dict(key=key, graph=graph, machine=machine)),
        "PlanCache.put": (cache.put, dict(key=key, plan=plan)),
        "Buffer": (lambda **fields: sluice.place([sluice.Buffer(**fields)], 64),
                   dict(begin=0, end=2, bytes=8, alignment=0, offset=None, banks=0,
                        single_bank=False, gaps=())),
        "Point": (lambda **fields: sluice.sweep([sluice.Point(**fields)], ThreadPoolExecutor(1)),
                  dict(graph=graph, machine=machine, options={"solver": "baseline"}, axes={})),
    }


def good_calls(graph, plan):
    """{name: (function, good arguments)}: each argument in turn is given wrong values."""
    machine = plan.machine
    return {
        **methods(graph, plan),
        "schedule": (sluice.schedule, dict(graph=graph, machine=machine, cancel=None, cache=None,
                                           memory_bytes=0, solver="baseline", objective="edp",
                                           scratchpad_bytes=None, deadline=None, seed=0,
                                           max_iterations=1, granularity="tile", resume=None,
                                           max_block_cycles=None, tile_rows=None, tile_cost=None,
                                           tile_bound=None, progress=None, executor=None)),
        "reschedule": (sluice.reschedule, dict(previous=plan, graph=graph, machine=machine,
                                               cancel=None, max_iterations=1)),
        "memory_bound": (sluice.memory_bound, dict(graph=graph, machine=machine)),
        "curve": (sluice.curve, dict(graph=graph, machine=machine, points=2, cancel=None,
                                     max_iterations=1)),
        "evaluate": (sluice.evaluate, dict(graph=graph, machine=machine, order=[0], tiles=[1],
                                           cuts=None)),
        "map_gemm": (sluice.map_gemm, dict(machine="soma-edge", m=64, n=64, k=64,
                                           solver="exact", deadline=0.01, cancel=None,
                                           objective="energy", at_most=False, paper_form=False,
                                           certify=False, from_level=0)),
        "map_layers": (sluice.map_layers, dict(graph=graph, machine=machine, layers=[0],
                                               solver="greedy", tile=(), tile_channels=0,
                                               bypass=False, wide=False, row_stationary=False,
                                               tile_only=False, top_tile=(), resident=0,
                                               objective=None, deadline=0.01, cancel=None)),
        "place": (sluice.place, dict(buffers=[sluice.Buffer(0, 2, 64)], capacity_bytes=64,
                                     reserved=(), bank_bytes=0, cancel=None, smallest=False,
                                     fast=False, max_nodes=0, deadline=None)),
        "coschedule": (sluice.coschedule, dict(graphs=[graph], machine=machine, share="auto",
                                               weights=(), reserved=(), max_iterations=1,
                                               cancel=None)),
        "segments": (sluice.segments, dict(graph=graph, machine="kapla-4x4", top_k=0,
                                           solver="chain", deadline=0.01, cancel=None)),
        "simulate": (sluice.simulate, dict(plan=plan, inputs=None, parameters=(), state=b"",
                                           seed=0, interleaving=0, cancel=None,
                                           functional=True, contention=False)),
        "reference": (sluice.reference, dict(graph=graph, inputs=None, seed=0, cancel=None)),
        "Graph.zoo": (sluice.Graph.zoo, dict(name="alexnet", batch=1, seq=None, training=False)),
        "Graph.from_bytes": (sluice.Graph.from_bytes, dict(data=graph.to_bytes())),
        "Graph.from_model": (sluice.Graph.from_model, dict(model=b"", format="detect",
                                                           dims=None, name=None, allow_opaque=False,
                                                 opaque_cycles=0, training=False,
                                                 max_constant_bytes=0, keep_unread=False,
                                                 states=None, find_states=False,
                                                 ranges=None)),
        "Graph.load": (sluice.Graph.load, dict(path="nothing")),
        "Machine.preset": (sluice.Machine.preset, dict(name="simba")),
        "Machine.from_bytes": (sluice.Machine.from_bytes, dict(data=machine.to_bytes())),
        "Machine.from_dict": (sluice.Machine.from_dict, dict(fields=machine.to_dict())),
        "Machine.from_json": (sluice.Machine.from_json, dict(source=machine.to_json())),
        "Machine.replace": (machine.replace, dict(changes={})),
        "Plan": (sluice.Plan, dict(data=plan.to_bytes(), graph=graph, machine=machine)),
        "Plan.patch": (plan.patch, dict(after=plan, gap_bytes=0)),
        "Plan.tensor": (plan.tensor, dict(index=0)),
        "Plan.to_html": (plan.to_html, dict(against=plan)),
        "PlanCache": (sluice.PlanCache, dict(folder="")),
        "attribute_names": (sluice.attribute_names, dict(op="conv")),
        "reads": (sluice.reads, dict(format="onnx")),
        "sweep": (sluice.sweep, dict(grid=[sluice.Point(graph, machine, {"solver": "baseline"})],
                                     executor=ThreadPoolExecutor(1), workers=1, journal=None,
                                     shard=None, area=None, chunk=None, retries=1,
                                     progress=False)),
        "area_of": (sluice.area_of, dict(machine=machine, area={"per_mac": 1})),
        "verify_together": (sluice.verify_together, dict(
            graphs=[graph], cohort=sluice.coschedule([graph], machine), machine=machine)),
    }


NAMES = ("schedule reschedule memory_bound curve evaluate map_gemm map_layers place coschedule "
         "segments simulate reference Graph.zoo Graph.from_bytes Graph.from_model Graph.load "
         "Machine.preset Machine.from_bytes Machine.from_dict Machine.from_json Machine.replace "
         "Plan Plan.patch Plan.tensor Plan.to_html PlanCache attribute_names reads sweep area_of "
         "verify_together GraphBuilder builder.tensor builder.constant builder.parameter "
         "builder.layer Graph.layer_name Plan.load Plan.save Plan.plot Plan.trace Sweep.best "
         "Sweep.pareto Sweep.plot_pareto Sweep.heat_map Sweep.to_csv Sweep.to_parquet "
         "PlanCache.key_of PlanCache.get PlanCache.put Buffer Point").split()


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_argument_is_told_by_name_not_by_what_it_broke(name, graph, plan, tmp_path,
                                                               monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, good = good_calls(graph, plan)[name]
    known = inspect.signature(call).parameters
    if not {"arguments", "fields"} & set(known):  # of built() and of classes that are data
        assert set(good) <= set(known) | set(sluice.planning.ScheduleOptions.__annotations__)
    bad = []
    for argument in good:
        for value in WRONG:
            try:
                call(**{**good, argument: value})
            except sluice.SluiceError as error:  # the library's own sentence
                if "must not be null" in str(error):  # which is for those who write C
                    bad.append(f"{argument}={value!r}: {error}")
                continue
            except SAID as error:
                if not INTERNAL.search(str(error)):
                    continue
                bad.append(f"{argument}={value!r}: {type(error).__name__}: {error}")
            except Exception as error:
                bad.append(f"{argument}={value!r}: {type(error).__name__}: {error}")
    assert not bad, "\n".join(bad)


def test_a_wrong_type_says_which_would_be_right(graph, plan):
    for call, sentence in (
            (lambda: sluice.schedule(graph, "mcu-256k", cancel=Unfit()),
             r"cancel: <unfit> is an Unfit; a sluice.Cancel\(\) would be right"),
            (lambda: sluice.reschedule(None, graph, "mcu-256k"),
             "previous: None is a NoneType; the sluice.Plan to start from would be right"),
            (lambda: sluice.schedule(graph, "mcu-256k", tile_rows=[1]),
             r"tile_rows: \[1\] is a list; a dictionary .* would be right"),
            (lambda: sluice.schedule(graph, "mcu-256k", resume=graph), "resume: .*sluice.Plan"),
            (lambda: sluice.Graph.from_bytes("junk"), "graph: 'junk' is a str; bytes"),
            (lambda: sluice.place([(0, 5, 100)], 150), r"buffers\[0\]: .*sluice.Buffer"),
            (lambda: plan.to_html(against=graph), "against: .*sluice.Plan"),
            (lambda: sluice.schedule(graph, "mcu-256k", tile_cost=5), "tile_cost: 5 is an int"),
            (lambda: sluice.schedule(graph, "mcu-256k", progress=5), "progress: 5 is an int"),
            (lambda: sluice.coschedule(graph, "mcu-256k"), "graphs: .* list of sluice.Graph")):
        with pytest.raises(TypeError, match=sentence):
            call()


class Answers(Executor):
    """Whose jobs and maps answer something else, or nothing."""

    def __init__(self, answer):
        self.answer = answer

    def submit(self, *_, **__):
        future = Future()
        future.set_result(self.answer)
        return future

    def map(self, *_, **__):
        return self.answer


class Silent(Answers):
    def submit(self, *_, **__):
        return self.answer


@pytest.mark.parametrize("executor, words", [
    (5, r"executor: 5 is an int; None, a concurrent.futures.Executor, .* would be right"),
    (lambda: 5, "executor: what the function gives: 5 is an int; a concurrent.futures.Executor"),
    (Answers(None), "executor: a job gave None; .* a list of 1 results, would be right"),
    (Answers([{"status": "ok"}] * 2), "executor: a job gave .* a list of 1 results"),
    (Silent(None), "executor: what its submit gives: None is a NoneType; a concurrent.futures.F")])
def test_a_sweep_says_what_is_wrong_with_its_executor(graph, executor, words):
    points = [sluice.Point(graph, sluice.Machine.preset("mcu-256k"), {"solver": "baseline"})]
    with pytest.raises(TypeError, match=words):
        sluice.sweep(points, executor)


def test_a_class_of_executors_makes_them(graph):
    points = [sluice.Point(graph, sluice.Machine.preset("mcu-256k"), {"solver": "baseline"})]
    assert sluice.sweep(points, ThreadPoolExecutor).rows[0]["status"] == "ok"


@pytest.mark.parametrize("executor, words", [
    (5, r"executor: 5 is an int; a concurrent.futures.ThreadPoolExecutor\(4\) would be right"),
    (ThreadPoolExecutor, "executor: <class .* is a type; a concurrent.futures.ThreadPoolExecutor"),
    (Answers(None), "executor: the answer of its map: None is a NoneType; a list of results"),
    (Answers([]), "executor: its map called the function 0 times for [0-9]+ values")])
def test_a_call_says_what_is_wrong_with_its_threads(graph, executor, words):
    with pytest.raises((TypeError, ValueError), match=words):
        sluice.schedule(graph, "mcu-256k", solver="fusion", max_iterations=100, executor=executor)


@pytest.mark.parametrize("area, words", [
    (5, r'area: 5 is an int; a function f\(machine\), or coefficients {"per_mac": 1.5}'),
    (lambda machine: None, "area: what the function gives: None is a NoneType; a number"),
    ({"per_mac": "x"}, "area: per_mac: 'x' is a str; a number"),
    ({"per_byte": {"nope": 1}}, "no level nope; there are .*GBUF, DRAM"),
    ({"per_gate": 1}, "no coefficient per_gate; there are fixed, per_mac, ")])
def test_a_wrong_area_is_told_before_the_work(graph, area, words):
    points = [sluice.Point(graph, sluice.Machine.preset("soma-edge"))]
    with pytest.raises((TypeError, ValueError), match=words):
        sluice.sweep(points, Answers(None), area=area)


def test_a_wrong_number_says_its_name_and_its_limits(graph):
    for call, sentence in (
            (lambda: sluice.schedule(graph, "mcu-256k", memory_bytes=-1),
             "memory_bytes: -1 is out of range, 0 to"),
            (lambda: sluice.schedule(graph, "mcu-256k", objective=(2,)), "no pair"),
            (lambda: sluice.schedule(graph, "mcu-256k", objective=(0, 0)),
             "the same for every plan"),
            (lambda: sluice.schedule(graph, "mcu-256k", objective=(17, 1)), "range, 0 to 16"),
            (lambda: sluice.curve(graph, "mcu-256k", 0), "points: 0 is out of range, 2 to 256"),
            (lambda: sluice.curve(graph, "mcu-256k", 1), "points: 1 is out of range, 2 to 256"),
            (lambda: sluice.coschedule([graph], "mcu-256k", share=7),
             "share: 7 is none of auto, partition, time"),
            (lambda: sluice.coschedule([], "mcu-256k"), "graphs: a list of 0; 1 to 8 models"),
            (lambda: sluice.sweep([], chunk=-1), "chunk: -1 is out of range, 1 to"),
            (lambda: sluice.sweep([], workers=0), "workers: 0 is out of range, 1 to"),
            (lambda: sluice.sweep([], retries="2"), "retries: '2' is no whole number"),
            (lambda: sluice.sweep([], progress=5), "progress: 5 is an int"),
            (lambda: sluice.sweep([5]), r"grid\[0\]: 5 is an int; a sluice.Point"),
            (lambda: sluice.sweep([], journal=[5]), "journal: 5 is an int"),
            (lambda: sluice.sweep(__file__), "grid: .*test_wrong_values.py holds no JSON"),
            (lambda: sluice.segments(graph, "kapla-4x4", top_k=-1),
             "top_k: -1 is out of range, 0 to 4294967295"),
            (lambda: sluice.Graph.zoo("alexnet", batch=0), "batch: 0 is out of range, 1 to"),
            (lambda: sluice.schedule(graph, "mcu-256k", tile_cost=lambda *_: 1000.7),
             "1000.7 cycles are no whole number"),
            (lambda: sluice.schedule(graph, "mcu-256k", tile_rows={(0, 1): 5}), "of the form")):
        with pytest.raises((ValueError, TypeError), match=sentence):
            call()
    whole = sluice.schedule(graph, "mcu-256k", solver="baseline", tile_cost=lambda *_: 1000.0)
    of_numpy = sluice.schedule(graph, "mcu-256k", solver="baseline",
                               tile_cost=lambda *_: (numpy.int32(1000), numpy.float32(0)))
    assert whole.to_bytes() == of_numpy.to_bytes()


def test_a_wrong_machine_says_field_value_and_what_is_right():
    fields = sluice.Machine.preset("soma-edge").to_dict()
    for path, value, sentence in (
            ("levels.1.capacity_bytes", -5,
             r"levels\[1\].capacity_bytes: -5 is no whole number from 0 to 18446744073709551615"),
            ("levels.1.capacity_bytes", "1M", r'levels\[1\].capacity_bytes: "1M" is no whole'),
            ("levels.1.capacity_bytes", 1.5, r"levels\[1\].capacity_bytes: 1.5 is no whole"),
            ("levels.0.read_pj_per_bit", float("nan"), r"levels\[0\].read_pj_per_bit: NaN"),
            ("levels.0", 5, r"levels\[0\]: a {...} with fields is expected"),
            ("name", ["m"], "name: a list stands where a single value")):
        with pytest.raises(sluice.BadInput, match=sentence):
            sluice.Machine.preset("soma-edge").replace({path: value})
    with pytest.raises(sluice.BadInput, match="level: .*did you mean levels?"):
        sluice.Machine.from_dict({**fields, "level": []})
    with pytest.raises(TypeError, match="machine: .*Unfit"):
        sluice.Machine.from_dict({**fields, "name": Unfit()})
    some = sluice.Machine.from_dict({**fields, "name": "\u00fc\U0001f600",
                                     "node_rows": numpy.int64(1)})
    assert some.name == "\u00fc\U0001f600" and some.to_dict()["name"] == some.name


def test_another_graph_or_machine_than_the_plan_s_is_told_with_both_hashes(graph, plan):
    faster = plan.machine.replace({"clock_hz": plan.machine.clock_hz + 1})
    for other, expected, given in (
            (sluice.Plan(plan.to_bytes(), graph, faster), plan.machine.hash, faster.hash),
            (sluice.Plan(plan.to_bytes(), sluice.Graph.zoo("alexnet"), plan.machine), graph.hash,
             sluice.Graph.zoo("alexnet").hash)):
        for call in (other.to_html, other.trace, other.simulate, lambda: other.events):
            with pytest.raises(sluice.BadInput, match=f"{expected:016x}.*{given:016x}"):
                call()


@pytest.mark.parametrize("wrong, named", [
    (dict(reserved=[("a", 1, 2, 3)]), "reserved"),
    (dict(reserved=[(0, 1, 2, 1 << 70)]), "reserved"),
    (dict(capacity_bytes=-20), "capacity_bytes"),
    (dict(bank_bytes=-1), "bank_bytes"),
    (dict(max_nodes=-1), "max_nodes")])
def test_what_place_refuses_is_named(wrong, named):
    with pytest.raises((TypeError, ValueError), match=named):
        sluice.place([sluice.Buffer(0, 1, 8)], **{"capacity_bytes": 64, **wrong})


def test_what_would_be_ignored_is_refused(graph, plan):
    with pytest.raises(ValueError, match="parameters: 3 values; the graph has 0"):
        plan.simulate(parameters=[1, 2, 3])
    with pytest.raises(ValueError, match="scale"):
        sluice.GraphBuilder().tensor((1, 2), scale=float("nan"))
    for make in (lambda: sluice.GraphBuilder("ab\0cd"),
                 lambda: sluice.GraphBuilder().tensor((1, 2), name="ab\0cd")):
        with pytest.raises(ValueError, match="name"):
            make()
    with pytest.raises(ValueError, match="op: 'zzz'"):
        sluice.builder.attribute_names("zzz")
    with pytest.raises(ValueError, match="area"):
        sluice.sweep([sluice.Point(graph, plan.machine)], area=lambda machine: float("nan"))
    with pytest.raises(ValueError, match="deadline"):
        sluice.Point(graph, plan.machine, {"deadline": 1.0})


def test_a_plan_file_that_ends_too_early_is_refused(plan, tmp_path):
    plan.save(tmp_path / "p.slp")
    data = (tmp_path / "p.slp").read_bytes()
    alone = len(plan.to_bytes())
    for size in (alone + 64, (alone + len(data)) // 2, len(data) - 1):
        with pytest.raises(sluice.BadInput, match="ends too early"):
            sluice.Plan(data[:size])
    assert sluice.Plan(data[:alone]).graph is None
