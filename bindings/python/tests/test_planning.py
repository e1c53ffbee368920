# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import sluice


def test_a_plan_is_what_the_tool_makes(plan, graph, tool, tmp_path):
    graph.save(tmp_path / "g.slg")
    subprocess.run([tool, "schedule", tmp_path / "g.slg", "--hw", "mcu-256k", "-o",
                    tmp_path / "p.slp"], check=True, stdout=subprocess.DEVNULL)
    plan.save(tmp_path / "ours.slp")
    assert (tmp_path / "p.slp").read_bytes() == (tmp_path / "ours.slp").read_bytes()
    plan.save(tmp_path / "ours.slp", plan_only=True)
    assert (tmp_path / "ours.slp").read_bytes() == plan.to_bytes()
    with pytest.raises(ValueError, match="the plan came alone"):
        sluice.Plan.load(tmp_path / "ours.slp").verify()


def test_a_plan_is_judged_saved_and_pickled(plan, graph, tmp_path):
    plan.verify()
    plan.save(tmp_path / "p.slp")
    for again in (sluice.Plan.load(tmp_path / "p.slp"),
                  sluice.Plan.load(tmp_path / "p.slp", graph, "mcu-256k")):
        again.verify()
        assert again.hashes == plan.hashes
        assert again.graph.hash == graph.hash and again.machine.name == "mcu-256k"
    assert sluice.Plan.load(tmp_path / "p.slp", machine="soma-edge").machine.name == "soma-edge"
    (tmp_path / "p.slp").write_bytes(b"????SLP1" + (tmp_path / "p.slp").read_bytes())
    with pytest.raises(sluice.BadInput, match="do not add up"):
        sluice.Plan.load(tmp_path / "p.slp")
    assert pickle.loads(pickle.dumps(plan)).to_bytes() == plan.to_bytes()
    other = sluice.Plan(plan.to_bytes(), graph, "soma-edge")
    with pytest.raises(sluice.SluiceError):
        other.verify()
    with pytest.raises(ValueError, match="graph and machine"):
        sluice.Plan(plan.to_bytes()).verify()


def test_layers_that_move_rows_are_not_charged_for_what_other_layers_need():
    layers = sluice.schedule(sluice.Graph.zoo("gpt2_small_decode", blocks=1), "mcu-256k").layers
    table = 50257 * 768  # of the embedding, with which the logits are computed too
    assert layers.bound_dram_bytes[layers.op == "gather"].max() < 1000
    assert (layers.bound_dram_bytes > table).sum() == 1
    assert (layers.bound_dram_bytes <= layers.dram_read_bytes + layers.dram_write_bytes).all()


def test_the_report_and_the_frames_agree(plan):
    report = plan.report
    assert report.stop_reason in ("complete", "proved") and report.gap >= 1
    certificate = plan.certificate
    assert certificate.all.cycles == sum(layer.cycles for layer in certificate.layers)
    assert report.bound_latency_cycles == max(
        certificate.host_cycles, certificate.compute_cycles, certificate.port_cycles,
        certificate.room_cycles)
    free = dataclasses.replace(report, bound_energy_pj=0)  # as where the host does everything
    assert free.gap == float("inf") and dataclasses.replace(free, energy_pj=0).gap == 1
    layers = plan.layers
    assert layers.macs.sum() == report.macs
    assert layers.dram_read_bytes.sum() == report.dram_read_bytes
    transfers = plan.transfers
    assert transfers[transfers.kind == "load"].bytes.sum() == report.dram_read_bytes
    assert transfers.end.max() <= report.latency_cycles == plan.events.end.max()
    assert "cycles" in plan._repr_html_() and str(report.latency_cycles) in repr(plan)


def test_layers_have_the_same_names_in_every_frame(plan):
    for frame in (plan.transfers, plan.events):
        rows = frame[frame.layer >= 0]
        assert len(rows)
        layers = plan.layers.loc[rows.layer]
        assert list(rows.name) == list(layers.name) and list(rows.op) == list(layers.op)


def test_a_segment_is_the_same_in_every_table(plan, graph, tool, tmp_path):
    graph.save(tmp_path / "g.slg")
    told = json.loads(subprocess.run(
        [tool, "schedule", tmp_path / "g.slg", "--hw", "mcu-256k", "--explain", "--layers",
         tmp_path / "l.csv", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    by_segment = [layer for row in told["by_segment"] for layer in row["layers"]]
    assert len(told["by_segment"]) == told["groups"] == plan.report.groups > 1
    for number, row in enumerate(told["by_segment"]):
        of = plan.layers[plan.layers.segment == number]
        assert set(of.name) == set(row["layers"])
    assert len(by_segment) == plan.layers.segment.notna().sum()
    for row in told["by_layer"]:
        assert plan.layers.segment[row["layer"]] == row["segment"]
        assert plan.layers.block[row["layer"]] == row["block"]
    plain = sluice.schedule(graph, "mcu-256k", solver="baseline").layers
    assert plain.segment.isna().all() and plain.block.notna().all()


def test_a_run_takes_what_was_predicted_and_equals_the_reference(plan, graph):
    run = plan.simulate(seed=3)
    assert run.cycles == run.predicted_cycles == plan.report.latency_cycles
    assert run.mismatches == 0 and run.compared_bytes > 0
    assert (run.outputs[0] == sluice.reference(graph, seed=3)[0]).all()
    assert plan.simulate(functional=False, contention=True).contended_cycles >= run.cycles


def test_a_plan_that_was_changed_is_rejected_by_the_simulator(plan, graph):
    damaged = bytearray(plan.to_bytes())
    damaged[len(damaged) // 2] ^= 0x40
    with pytest.raises(sluice.SluiceError):
        sluice.Plan(bytes(damaged), graph, "mcu-256k").simulate()


def test_infeasible_comes_with_its_numbers(graph):
    with pytest.raises(sluice.Infeasible) as caught:
        sluice.schedule(graph, "mcu-256k", scratchpad_bytes=64)
    why = caught.value.diagnostic
    assert why.required_bytes > why.available_bytes
    smallest = why.smallest_scratchpad_bytes
    assert smallest and sluice.schedule(graph, "mcu-256k", scratchpad_bytes=smallest)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.diagnostic == why and str(again) == str(caught.value)


@pytest.mark.parametrize("options, wrong", [
    ({"solver": "annealing"}, "annealing"), ({"objective": "speed"}, "speed"),
    ({"deadline": 0}, "deadline"), ({"granularity": "page"}, "page")])
def test_options_that_are_none_are_refused(graph, options, wrong):
    with pytest.raises(ValueError, match=wrong):
        sluice.schedule(graph, "mcu-256k", **options)


def test_memory_is_capped(graph):
    bound = sluice.memory_bound(graph, "mcu-256k")
    sluice.schedule(graph, "mcu-256k", memory_bytes=bound + 4096)
    with pytest.raises(sluice.OutOfMemory):
        sluice.schedule(graph, "mcu-256k", memory_bytes=4096)


def test_tile_costs_come_from_a_callable(graph, plan):
    asked = {}

    def cost(layer, extent, channels):
        asked[layer, extent, channels] = 10_000
        return 10_000, 5.0

    slow = sluice.schedule(graph, "mcu-256k", tile_cost=cost)
    assert asked and slow.report.latency_cycles > plan.report.latency_cycles
    unknown = sluice.schedule(graph, "mcu-256k", tile_cost=lambda *_: None)
    assert unknown.report.latency_cycles == plan.report.latency_cycles
    rows = sluice.schedule(graph, "mcu-256k", tile_rows={k: (v, 5.0) for k, v in asked.items()})
    assert rows.report.latency_cycles == slow.report.latency_cycles


def test_a_callable_bounds_the_tiles_of_a_layer(graph):
    def cost(_layer, extent, channels):
        cycles = 64 * max(channels, 1) * extent[0] * extent[1] * extent[2] * extent[3]
        return cycles, 2.0 * cycles

    free = sluice.schedule(graph, "mcu-256k", tile_cost=cost)
    bounded = sluice.schedule(graph, "mcu-256k", tile_cost=cost, tile_bound=cost)
    assert free.certificate.caller_cycles == 0 < bounded.certificate.caller_cycles
    assert free.report.bound_latency_cycles < bounded.report.bound_latency_cycles
    assert bounded.report.bound_latency_cycles <= bounded.report.latency_cycles
    with pytest.raises(sluice.BadArgument):
        sluice.schedule(graph, "mcu-256k", tile_cost=cost,
                        tile_bound=lambda *tile: tuple(9 * part for part in cost(*tile)))


def test_what_a_callable_raises_is_raised_by_the_call(graph):
    with pytest.raises(ZeroDivisionError):
        sluice.schedule(graph, "mcu-256k", tile_cost=lambda *_: 1 // 0)
    with pytest.raises(KeyError):
        sluice.schedule(graph, "mcu-256k", deadline=1, progress=lambda *_: {}[1])


LONG = dict(solver="fusion", max_iterations=1 << 40)


@pytest.fixture(scope="module")
def large():
    return sluice.Graph.zoo("resnet50")


@pytest.fixture
def patient_threads():
    """A thread runs again only when another one gives the interpreter's lock back."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


def test_another_thread_cancels_while_python_runs(large, patient_threads):
    cancel, searching = sluice.Cancel(), threading.Event()
    with ThreadPoolExecutor() as pool:
        future = pool.submit(sluice.schedule, large, "soma-edge", cancel=cancel,
                             progress=lambda _, cost: cost and searching.set(), **LONG)
        assert searching.wait(20)  # it ends only because the call does not hold the lock
        cancel.cancel()
        plan = future.result(timeout=20)
    assert plan.report.stop_reason == "cancelled"


def test_ctrl_c_ends_a_call_and_the_next_one_works(large, graph):
    searching, told = threading.Event(), []

    def press():
        told.append(searching.wait(20))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sluice.schedule(large, "soma-edge", **LONG,
                        progress=lambda _, cost: cost and searching.set())
    assert time.monotonic() - begin < 10
    thread.join()
    assert told == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    sluice.schedule(graph, "mcu-256k")
    with pytest.raises(KeyboardInterrupt):  # Python's own handler is in place again
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_before_a_callable_s_first_line_is_raised(graph):
    """Where Ctrl-C comes while Python enters a callback."""
    seen = []

    def enter(frame, event, _):
        if frame.f_code.co_filename.endswith("planning.py") and frame.f_code.co_name in (
                "tell", "guarded"):
            sys.settrace(None)
            seen.append(event)
            raise KeyboardInterrupt

    before = sys.gettrace()
    try:
        with pytest.raises(KeyboardInterrupt):
            sys.settrace(enter)
            sluice.schedule(graph, "mcu-256k", progress=lambda *_: 0, solver="fusion",
                            max_iterations=1 << 14)
    finally:
        sys.settrace(before)
    assert seen == ["call"]


def test_a_run_is_cancelled_and_interrupted(graph, plan):
    cancel = sluice.Cancel()
    assert plan.simulate(cancel=cancel).mismatches == 0
    cancel.cancel()
    for call in (lambda: plan.simulate(cancel=cancel),
                 lambda: sluice.reference(graph, cancel=cancel)):
        with pytest.raises(sluice.Stopped, match="cancelled"):
            call()
    large = sluice.Graph.zoo("resnet50", batch=16)  # a run takes many seconds
    for call in (sluice.schedule(large, "soma-edge", solver="baseline").simulate,
                 lambda: sluice.reference(large)):
        thread = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        begin = time.monotonic()
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - begin < 10
        thread.join()


def test_a_deadline_gives_the_best_so_far_and_progress_is_told(large, capfd):
    told = []
    plan = sluice.schedule(large, "soma-edge", deadline=0.4, **LONG,
                           progress=lambda iterations, cost: told.append((iterations, cost)))
    assert plan.report.stop_reason in ("deadline", "complete") and told and told[-1][1] > 0
    stopped = sluice.schedule(large, "soma-edge", progress=lambda n, cost: cost is not None, **LONG)
    assert stopped.report.stop_reason == "cancelled"
    assert all(cost is None or cost > 0 for _, cost in told)


def test_the_bar_goes_to_an_end_and_names_its_unit(large, capfd):
    pytest.importorskip("tqdm")
    sluice.schedule(large, "soma-edge", max_iterations=400, progress=True, objective=(1, 2))
    shown = capfd.readouterr().err
    assert "/400 [" in shown and "pJ x cycles^2" in shown and "cost 0" not in shown
    sluice.schedule(large, "soma-edge", deadline=0.3, progress=True)
    shown = capfd.readouterr().err
    assert "/0.3 s" in shown and "pJ x cycles" in shown


def test_starts_run_on_the_caller_s_threads(graph):
    options = dict(solver="fusion", max_iterations=200)
    with ThreadPoolExecutor(2) as pool:
        two = sluice.schedule(graph, "mcu-256k", executor=pool, **options)
    with ThreadPoolExecutor(1) as pool:
        one = sluice.schedule(graph, "mcu-256k", executor=pool, **options)
    assert one.to_bytes() == two.to_bytes()


@pytest.mark.parametrize("solver", ["fusion", "default"])
def test_starts_with_a_deadline_run_on_threads(solver):
    """In a process of its own: searches that forgot what tiles cost ended the process."""
    code = ("import sluice; from concurrent.futures import ThreadPoolExecutor as Pool\n"
            "print(sluice.schedule(sluice.Graph.zoo('mobilenet_v1'), 'soma-edge', deadline=0.3,\n"
            f"      solver={solver!r}, executor=Pool(2)).report.stop_reason)")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout in ("complete\n", "deadline\n"), ran.stderr


def test_an_interrupt_waits_for_the_caller_s_threads():
    """They use the call's memory: it must not end before they do. The call that they run for
    is cancelled, so that is soon."""
    code = ("import os, signal, sluice, threading, time\n"
            "from concurrent.futures import ThreadPoolExecutor as Pool\n"
            "graph, begin = sluice.Graph.zoo('mobilenet_v1'), time.monotonic()\n"
            "for after in (0.02, 0.1, 0.3):\n"
            "    threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "    try:\n"
            "        sluice.schedule(graph, 'mcu-256k', solver='fusion', deadline=100,\n"
            "                        max_iterations=1 << 40, executor=Pool(2))\n"
            "    except KeyboardInterrupt:\n"
            "        print('ended')\n"
            "assert time.monotonic() - begin < 60\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "ended\n" * 3), ran.stderr


def test_a_pool_that_fails_in_between_is_waited_for(graph):
    over, answers = threading.Event(), []

    class Fails(ThreadPoolExecutor):
        given = 0

        def submit(self, fn, /, *args, **kwargs):
            Fails.given += 1
            if Fails.given == 3:
                raise RuntimeError("no more")

            def late(*a):
                assert over.wait(60)
                answers.append(fn(*a))

            return super().submit(late, *args, **kwargs)

    with Fails(1) as pool:
        with pytest.raises(RuntimeError, match="no more"):
            sluice.schedule(graph, "mcu-256k", solver="fusion", max_iterations=1000, executor=pool)
        over.set()  # what begins now works in memory of a call that has ended, or not at all
    assert answers == [None, None]
    assert sluice.schedule(graph, "mcu-256k", solver="baseline").report.layers


def test_threads_share_graphs_machines_and_plans(graph, plan):
    machine = sluice.Machine.preset("mcu-256k")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: sluice.schedule(graph, machine).to_bytes(), range(32)))
    assert set(found) == {plan.to_bytes()}


def test_a_cache_gives_the_same_plan_and_no_other(graph, plan, tmp_path):
    cache = sluice.PlanCache(tmp_path / "plans")
    first = sluice.schedule(graph, "mcu-256k", cache=cache)
    assert sluice.schedule(graph, "mcu-256k", cache=cache.folder).to_bytes() == first.to_bytes()
    again = sluice.schedule(graph, "mcu-256k", cache=cache)
    assert first.to_bytes() == again.to_bytes() == plan.to_bytes()
    assert (cache.hits, cache.misses) == (1, 1)
    sluice.schedule(graph, "mcu-256k", cache=cache, objective="latency")
    sluice.schedule(graph, "mcu-256k", cache=cache, tile_cost=lambda *_: None)
    assert (cache.hits, cache.misses) == (1, 2)
    for file in (tmp_path / "plans").iterdir():  # a torn file is as good as none
        file.write_bytes(file.read_bytes()[:-9])
    assert sluice.schedule(graph, "mcu-256k", cache=cache).to_bytes() == plan.to_bytes()


def test_a_change_is_planned_from_the_plan_before(graph, plan):
    new, change = sluice.reschedule(plan, graph, "mcu-256k", scratchpad_bytes=128 << 10)
    new.verify()
    assert new.hashes["scratchpad_bytes"] == 128 << 10 and change.blocks > 0
    assert plan.patch(plan) == [] and plan.patch(new)


def test_resuming_is_never_worse(graph, plan):
    better = sluice.schedule(graph, "mcu-256k", resume=plan)
    assert better.report.edp <= plan.report.edp


def test_a_curve_falls(graph):
    points = sluice.curve(graph, "mcu-256k", 4)
    assert [p.scratchpad_bytes for p in points] == sorted(p.scratchpad_bytes for p in points)
    assert all(a.latency_cycles >= b.latency_cycles for a, b in zip(points, points[1:]))


def test_a_schedule_of_one_s_own_is_priced(graph):
    order = [i for i, layer in enumerate(graph.layers) if layer.op != "reshape"]
    found = sluice.evaluate(graph, "mcu-256k", order, [1] * len(order))
    assert found["latency_cycles"] > 0 and len(found["tile_begin"]) == found["tiles"]
    assert (found["tile_cycles"] > 0).all()
    with pytest.raises(sluice.Rejected):
        sluice.evaluate(graph, "mcu-256k", order[::-1], [1] * len(order))


def test_preemption_points_and_places_are_there(plan):
    points = plan.preemption_points()
    assert points[0]["cycles"] == 0 and len(points) > 1
    assert plan.tensor(0).region is not None


def test_a_model_s_file_stands_for_its_graph(plan, graph):
    from conftest import MODEL

    assert sluice.schedule(MODEL, "mcu-256k").to_bytes() == plan.to_bytes()
    assert sluice.curve(str(MODEL), "mcu-256k", 2)[-1].latency_cycles > 0
    assert sluice.map_layers(str(MODEL), "eyeriss-like", [0])[0].cycles > 0
    assert len(sluice.coschedule([graph, MODEL], "mcu-256k").members) == 2
    order = [i for i, tiles in enumerate(plan.layers.tiles) if tiles]
    assert sluice.evaluate(MODEL, "mcu-256k", order, [1] * len(order))["groups"] == len(order)


@pytest.mark.parametrize("call, words", [
    (lambda g: sluice.schedule(5, "mcu-256k"), "graph: 5 is an int; a sluice.Graph or a model"),
    (lambda g: sluice.schedule(g, 5), "machine: 5 is an int; a sluice.Machine, a preset.s name"),
    (lambda g: sluice.schedule(g, "mcu-256k", scratchpad_bytes=-5), "scratchpad_bytes: -5"),
    (lambda g: sluice.schedule(g, "mcu-256k", seed=1 << 64), "seed: 18446744073709551616"),
    (lambda g: sluice.schedule(g, "vta-1x16x16").preemption_points(), "one queue"),
    (lambda g: sluice.schedule(g, "mcu-256k", scratchpad_bytes="64K"),
     "scratchpad_bytes: .64K. is no whole number"),
    (lambda g: sluice.schedule(g, "mcu-256k", deadline="1s"), "deadline: '1s'"),
    (lambda g: sluice.schedule(g, "mcu-256k", deadline=float("nan")), "deadline: nan"),
    (lambda g: sluice.schedule(g, "mcu-256k", deadline=float("inf")), "deadline: inf"),
    (lambda g: sluice.schedule(g, "mcu-256k", solver=None), "solver: None"),
    (lambda g: sluice.schedule(g, "mcu-256k", scratchpad=1), "'scratchpad'.*scratchpad_bytes"),
    (lambda g: sluice.schedule(g, "mcu-256k", tile_rows={(0, (1, 1), 3): 5}), "tile_rows"),
    (lambda g: sluice.schedule(g, "mcu-256k", tile_rows={(0, (1, 1, 1, 1)): 5}), "tile_rows"),
    (lambda g: sluice.evaluate(g, "mcu-256k", [0, 1], [1]), "tiles: 1 values instead of 2"),
    (lambda g: sluice.evaluate(g, "mcu-256k", [0], [1], ["dram"] * 2), "cuts: 2 values"),
    (lambda g: sluice.coschedule([g, g], "mcu-256k", weights=[1]), "weights: 1 values"),
    (lambda g: sluice.coschedule([g, g], "mcu-256k", reserved=[(0, 0)]), "reserved: 1 values"),
    (lambda g: sluice.map_layers(g, "kapla-edge", [0], tile=range(9)), "tile: 9 values"),
    (lambda g: sluice.map_layers(g, "kapla-edge", [0], solver="levels"), "solver: 'levels'"),
    (lambda g: sluice.map_gemm("eyeriss-like", 8, 8, 8, solver="energy"), "solver: 'energy'"),
    (lambda g: sluice.map_gemm("eyeriss-like", 8, 8, 8, objective="cosa"), "objective: 'cosa'"),
    (lambda g: sluice.GraphBuilder().input([1], "count"), "dtype: 'count'"),
    (lambda g: sluice.schedule(g, "mcu-256k").simulate({}), "further inputs"),
])
def test_a_call_that_cannot_be_says_what_is_wrong(graph, call, words):
    with pytest.raises((TypeError, ValueError, sluice.Unsupported), match=words):
        call(graph)


def test_what_is_not_there_is_named(plan):
    for index in (-1, 9999):
        with pytest.raises(IndexError, match=f"tensor {index}"):
            plan.tensor(index)
    with pytest.raises(FileNotFoundError, match="Graph.zoo"):
        sluice.schedule("resnet50", "mcu-256k")
