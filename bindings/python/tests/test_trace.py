# SPDX-License-Identifier: Apache-2.0
"""Traces keep the rules of the trace-event format, and say what the plan's frames say."""
import collections
import json
import subprocess
from decimal import Decimal

import pytest

import sluice


@pytest.fixture(scope="module", params=["mcu-256k", "gemmini-16x16", "kapla-4x4", "vta-1x16x16"])
def traced(request, graph):
    plan = sluice.schedule(graph, request.param)
    return plan, json.loads(plan.trace(), parse_float=Decimal)


def of(trace, *phases):
    return [e for e in trace["traceEvents"] if e["ph"] in phases]


def test_events_have_the_fields_of_their_phase(traced):
    _, trace = traced
    needed = {"M": {"name", "args"}, "X": {"tid", "ts", "dur", "name", "cat", "args"},
              "C": {"ts", "name", "args"}, "s": {"tid", "ts", "id", "cat", "name"},
              "f": {"tid", "ts", "id", "cat", "name", "bp"}}
    for event in trace["traceEvents"]:
        assert needed[event["ph"]] <= set(event) and event["pid"] > 0
        assert event.get("ts", 0) >= 0 and event.get("dur", 1) > 0


def test_slices_are_the_plan_s_instructions_in_microseconds(traced):
    plan, trace = traced
    slices, events = of(trace, "X"), plan.events
    assert len(slices) == len(events)
    clock = plan.machine.clock_hz
    for event, row in zip(slices, events.itertuples()):
        late = row.start * 1e6 / clock - float(event["ts"])
        assert -1e-9 < late < 1e-3  # whole nanoseconds: a viewer that rounds changes nothing
        assert 1000 * event["ts"] % 1 == 1000 * event["dur"] % 1 == 0
        assert event["args"]["cycles"] == row.end - row.start
        assert row.layer < 0 or row.name in event["name"]
    end = max(e["ts"] + e["dur"] for e in slices)
    assert float(end) == pytest.approx(plan.report.latency_cycles * 1e6 / clock, abs=1e-3)
    tiles = [e["name"] for e in slices if e["cat"] == "compute"]
    assert len(set(tiles)) == len(tiles) and all(" tile " in name for name in tiles)


def test_slices_of_a_thread_do_not_overlap_and_threads_have_names(traced):
    _, trace = traced
    threads = collections.defaultdict(list)
    for event in of(trace, "X"):
        threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in threads.values():
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))
    named = {(e["pid"], e["tid"]) for e in of(trace, "M") if e["name"] == "thread_name"}
    assert named == set(threads)
    processes = {e["pid"] for e in of(trace, "M") if e["name"] == "process_name"}
    assert processes == {pid for pid, _ in threads}


def test_arrows_come_in_pairs_and_end_in_slices(traced):
    _, trace = traced
    slices = of(trace, "X")

    def inside(event):
        return any(e["pid"] == event["pid"] and e["tid"] == event["tid"]
                   and e["ts"] <= event["ts"] < e["ts"] + e["dur"] for e in slices)

    starts = {e["id"]: e for e in of(trace, "s")}
    ends = {e["id"]: e for e in of(trace, "f")}
    assert starts and set(starts) == set(ends) and len(starts) == len(of(trace, "s"))
    for key, start in starts.items():
        assert start["ts"] < ends[key]["ts"] and ends[key]["bp"] == "e"
        assert (start["pid"], start["tid"]) != (ends[key]["pid"], ends[key]["tid"])
    for event in list(starts.values())[:40] + list(ends.values())[:40]:
        assert inside(event)


def test_counters_begin_and_end_empty_and_add_up(traced):
    plan, trace = traced
    counters = collections.defaultdict(list)
    for event in of(trace, "C"):
        counters[event["pid"], event["name"]].append((event["ts"], event["args"]["value"]))
    assert {name for _, name in counters} == {"scratchpad bytes", "DRAM bytes per cycle"}
    for (_, name), values in counters.items():
        assert values == sorted(values, key=lambda v: v[0]) and min(v for _, v in values) >= 0
        assert values[-1][1] == 0
        if name == "scratchpad bytes":
            assert 0 < max(v for _, v in values) <= plan.report.peak_buffer_bytes
        else:
            cycles = [float(t) * plan.machine.clock_hz / 1e6 for t, _ in values]
            moved = sum(float(v) * (b - a)
                        for a, b, (_, v) in zip(cycles, cycles[1:], values))
            whole = plan.report.dram_read_bytes + plan.report.dram_write_bytes
            assert moved == pytest.approx(whole, rel=0.01)


def test_a_run_with_busy_links_stands_beside_the_predicted_one(graph, tool, tmp_path):
    plan = sluice.schedule(graph, "kapla-16x16")
    run = plan.simulate(functional=False, contention=True)
    both = json.loads(plan.trace(contention=True), parse_float=Decimal)
    plain = json.loads(plan.trace(), parse_float=Decimal)
    names = {e["pid"]: e["args"]["name"] for e in of(both, "M") if e["name"] == "process_name"}
    clock = plan.machine.clock_hz
    ends = collections.defaultdict(Decimal)
    for e in of(both, "X"):
        kind = names[e["pid"]].split(": ")[0]
        ends[kind] = max(ends[kind], e["ts"] + e["dur"])
    assert {kind: round(end * clock / 1000000) for kind, end in ends.items()} == {
        "as predicted": run.cycles, "with busy links": run.contended_cycles}
    assert run.contended_cycles > run.cycles == run.predicted_cycles
    slices = [(e["tid"], e["ts"], e["dur"]) for e in of(plain, "X")]
    assert slices == [(e["tid"], e["ts"], e["dur"]) for e in of(both, "X")
                      if names[e["pid"]].startswith("as predicted")]
    arrows = [e["id"] for e in of(both, "s")]
    assert len(set(arrows)) == len(arrows) > len(of(plain, "s"))
    plan.save(tmp_path / "p.slp")
    subprocess.run([tool, "simulate", tmp_path / "p.slp", "--contention", "--trace",
                    tmp_path / "t.json"], check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "t.json").read_text() == plan.trace(contention=True)


def test_the_tool_writes_the_same(plan, tool, tmp_path):
    plan.save(tmp_path / "p.slp")
    subprocess.run([tool, "simulate", tmp_path / "p.slp", "--trace", tmp_path / "t.json"],
                   check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "t.json").read_text() == plan.trace()
