# SPDX-License-Identifier: Apache-2.0
"""Sweeps: the grid, equal results on every executor, lost workers, journals, tables."""
import concurrent.futures
import csv
import json
import math
import multiprocessing.pool
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import sluice
from sluice import _running, _work

GRID = {"networks": ["alexnet"], "hardware": "soma-edge", "solver": "baseline",
        "buffer_bytes": ["1M", 1 << 21, 64], "dram_bytes_per_cycle": [8, "25/2"],
        "set": {"vector_ops_per_cycle": [64, 512]}}


def same(rows):
    """What must not depend on who computed it."""
    return [{k: v for k, v in row.items() if k != "plan_seconds"} for row in rows]


class Serial(concurrent.futures.Executor):
    """Computes at once, in this thread."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(scope="module")
def serial():
    return sluice.sweep(GRID, Serial())


def test_a_grid_is_every_combination_and_each_row_is_its_plan(serial):
    assert len(serial) == 12 == serial.computed
    assert [row["buffer_bytes"] for row in serial.rows[:6]] == [1 << 20] * 2 + [1 << 21] * 2 + [
        64] * 2
    assert {row["dram_bytes_per_cycle"] for row in serial.rows} == {8, 12.5}
    for row in serial.rows:
        machine = sluice.Machine.preset("soma-edge").to_dict()
        machine["vector_ops_per_cycle"] = row["vector_ops_per_cycle"]
        machine["levels"][machine["scratchpad_level"]]["capacity_bytes"] = row["buffer_bytes"]
        dram, exact = machine["levels"][-1], {8: (8, 1), 12.5: (25, 2)}
        dram["bytes_per_cycle_numerator"], dram["bytes_per_cycle_denominator"] = exact[
            row["dram_bytes_per_cycle"]]
        graph = sluice.Graph.zoo("alexnet")
        if row["buffer_bytes"] == 64:
            assert row["status"] == "infeasible" and row["smallest_scratchpad_bytes"] > 64
            assert row["latency_cycles"] is None and str(64) in row["message"]
            continue
        report = sluice.schedule(graph, machine, solver="baseline").report
        assert row["status"] == "ok"
        assert (row["latency_cycles"], row["energy_pj"]) == (report.latency_cycles,
                                                             report.energy_pj)
        assert row["edp"] == report.edp and 0 < row["utilisation"] <= 1


def process_pool(workers):
    """Of new processes: a copy of this one, whose libraries have threads, may hang."""
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("executor", [
    None, lambda: ThreadPoolExecutor(3), lambda: process_pool(1)])
def test_every_executor_gives_the_same(serial, executor):
    found = sluice.sweep(GRID, executor, workers=2, chunk=5)
    assert same(found.rows) == same(serial.rows)


def test_pools_of_multiprocessing_and_ray_s_form_serve(serial):
    with multiprocessing.pool.ThreadPool(2) as pool:
        assert same(sluice.sweep(GRID, pool).rows) == same(serial.rows)
        assert same(sluice.sweep(GRID, sluice.PoolExecutor(pool, 2)).rows) == same(serial.rows)


def test_the_tool_s_sweep_has_the_same_rows(serial, tool, tmp_path):
    (tmp_path / "grid.json").write_text(json.dumps(GRID))
    subprocess.run([tool, "dse", tmp_path / "grid.json", "-o", tmp_path / "t.csv"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(tmp_path / "t.csv", newline="") as file:
        theirs = {(int(r["buffer_bytes"]), r["dram_bytes_per_cycle"], r["set"]): r
                  for r in csv.DictReader(file)}
    assert len(theirs) == 12
    for row in sluice.sweep(tmp_path / "grid.json", Serial()).rows:
        name = {8: "8", 12.5: "25/2"}[row["dram_bytes_per_cycle"]]
        other = theirs[row["buffer_bytes"], name,
                       f"vector_ops_per_cycle={row['vector_ops_per_cycle']}"]
        assert other["status"] == row["status"]
        if row["status"] == "ok":
            assert int(other["latency_cycles"]) == row["latency_cycles"]
            assert float(other["energy_pj"]) == row["energy_pj"]
        else:
            assert int(other["smallest_scratchpad_bytes"]) == row["smallest_scratchpad_bytes"]


def test_equal_points_are_planned_once_whatever_they_are_called():
    graph, machine = sluice.Graph.zoo("alexnet"), sluice.Machine.preset("soma-edge")
    size = machine.scratchpad_bytes
    grid = {"networks": {"a": graph, "b": sluice.Graph.from_bytes(graph.to_bytes())},
            "hardware": {"x": machine, "y": machine.to_dict()}, "solver": "baseline",
            "buffer_bytes": [size, str(size), {"bytes": size}]}
    found = sluice.sweep(grid, Serial())
    assert len(found) == 12 and found.computed == 1
    assert len({row["latency_cycles"] for row in found.rows}) == 1
    assert {(r["network"], r["hardware"]) for r in found.rows} == {
        ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")}
    other = sluice.sweep({**grid, "seed": 1}, Serial())
    assert {r["key"] for r in other.rows}.isdisjoint(r["key"] for r in found.rows)


def test_points_of_one_s_own(serial):
    point = sluice.Point(sluice.Graph.zoo("alexnet"), sluice.Machine.preset("soma-edge"),
                         {"solver": "baseline", "scratchpad_bytes": 1 << 20}, {"which": "mine"})
    found = sluice.sweep([point], Serial())
    assert found.rows[0]["which"] == "mine" and found.rows[0]["key"] == point.key
    assert found.rows[0]["status"] == "ok"


@pytest.mark.parametrize("change, words", [
    ({"networks": "alexnot"}, "alexnot"), ({"buffers": [1]}, "buffers"),
    ({"batch": []}, "batch"), ({"buffer_bytes": ["8X"]}, "8X"),
    ({"buffer_bytes": [{"read_pj_per_bit": 1}]}, "None"),
    ({"dram_bytes_per_cycle": ["1/0"]}, "1/0"), ({"set": {"mac_speed": 1}}, "mac_speed"),
    ({"set": {"HBM.read_pj_per_bit": 1}}, "HBM"), ({"set": [1]}, "set"),
    ({"deadline": "1s"}, "iterations"), ({"set": {"macs_per_cycle": [-4]}}, "macs_per_cycle"),
    ({"solver": ["baseline", "nosuch"]}, "nosuch"), ({"objective": "speed"}, "speed"),
    ({"iterations": [1.5]}, "iterations 1.5"), ({"seed": True}, "seed True"),
    ({"dram_bytes_per_cycle": [math.inf]}, "inf"), ({"networks": [5]}, "5 is no network"),
    ({"networks": "tests"}, "no file")])
def test_a_wrong_grid_is_refused_before_any_work(change, words):
    with pytest.raises(ValueError, match=words):
        sluice.sweep({**GRID, **change}, Never())


class Never(concurrent.futures.Executor):
    def submit(self, *_):
        raise AssertionError("work")


@pytest.mark.parametrize("options, words", [
    ({"nosuch": 1}, "nosuch"), ({"solver": "nosuch"}, "nosuch"), ({"seed": "x"}, "seed"),
    ({"tile_cost": lambda *_: 1}, "numbers and texts")])
def test_wrong_options_of_a_point_are_refused_before_any_work(options, words):
    point = sluice.Point(sluice.Graph.zoo("alexnet"), sluice.Machine.preset("soma-edge"), options)
    with pytest.raises((TypeError, ValueError), match=words):
        sluice.sweep([point], Never())


def test_lengths_of_texts_are_axes_and_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    found = sluice.sweep({"networks": "gpt2_small_prefill", "hardware": "soma-edge",
                          "solver": "baseline", "blocks": 1, "seq": [16, numpy.int64(32)],
                          "seed": [numpy.int64(3)]}, Serial())
    assert [(r["seq"], r["blocks"], r["seed"]) for r in found.rows] == [(16, 1, 3), (32, 1, 3)]
    for row in found.rows:
        graph = sluice.Graph.zoo("gpt2_small_prefill", seq=row["seq"], blocks=1)
        assert row["latency_cycles"] == sluice.schedule(graph, "soma-edge", solver="baseline",
                                                        seed=3).report.latency_cycles


def test_points_without_names_have_their_pictures():
    pytest.importorskip("pandas")
    point = sluice.Point(sluice.Graph.zoo("alexnet"), sluice.Machine.preset("soma-edge"),
                         {"solver": "baseline"})
    found = sluice.sweep([point], Serial())
    assert len(found.best()) == 1 and str(found.rows[0]["latency_cycles"]) in found._repr_html_()


def test_a_shard_without_points_has_the_columns_of_the_grid(serial, tmp_path):
    pytest.importorskip("pandas")
    empty = sluice.sweep(GRID, Never(), shard="20/24")
    assert len(empty) == 0 and list(empty.frame.columns) == list(serial.frame.columns)
    assert empty.ok.empty and empty.pareto().empty and empty.best().empty
    empty.to_csv(tmp_path / "t.csv")
    serial.to_csv(tmp_path / "s.csv")
    assert (tmp_path / "t.csv").read_text() == (tmp_path / "s.csv").read_text().splitlines(
        keepends=True)[0]
    assert "0 points" in empty._repr_html_()


def test_what_cannot_be_planned_is_a_row_with_words(tmp_path):
    point = sluice.Point(sluice.Graph.zoo("alexnet"), sluice.Machine.preset("soma-edge"),
                         {"memory_bytes": 4096})
    for _ in range(2):  # another worker may have better luck: it is tried again
        found = sluice.sweep([point], Serial(), journal=tmp_path / "j")
        assert found.rows[0]["status"] == "failed" and found.computed == 1
        assert "OutOfMemory" in found.rows[0]["message"]


# ---- journals

def test_a_sweep_goes_on_where_it_was_killed(serial, tmp_path):
    path = tmp_path / "journal"
    whole = sluice.sweep(GRID, Serial(), journal=path, chunk=1)
    assert whole.computed == 12
    assert sluice.sweep(GRID, None, journal=path).computed == 0
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:7]) + lines[7][:25])  # half of a line: killed in between
    again = sluice.sweep(GRID, Serial(), journal=path)
    assert again.computed == 5 and same(again.rows) == same(serial.rows)
    assert len(path.read_bytes().splitlines()) == 12
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="line 1"):
        sluice.sweep(GRID, Serial(), journal=path)
    assert path.read_bytes() == b"a,b\n1,2\n"  # a foreign file stays as it is


def test_an_interrupt_keeps_what_is_done(tmp_path):
    def stop(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sluice.sweep(GRID, workers=2, journal=tmp_path / "j", chunk=1, progress=stop)
    assert sluice.sweep(GRID, Serial(), journal=tmp_path / "j").computed <= 8


def lives(pid):
    """Whether a process runs; one that has ended may wait for its parent to notice."""
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_sweep_whose_process_is_killed_goes_on(serial, tmp_path):
    """Its workers may live longer than it, but not long, and do not keep the journal locked."""
    code = (f"import sluice, os, multiprocessing; sluice.sweep({GRID!r}, workers=2, chunk=1, "
            f"journal={str(tmp_path / 'j')!r}, progress=lambda done, total: done == 5 and "
            "(print(*(p.pid for p in multiprocessing.active_children()), flush=True), "
            "os.kill(os.getpid(), 9)))")
    told = tmp_path / "workers"
    with told.open("w") as out:
        run = subprocess.run([sys.executable, "-c", code], stdout=out)
    assert run.returncode == -signal.SIGKILL
    workers = [int(pid) for pid in told.read_text().split()]
    assert len(workers) == 2
    for _ in range(100):
        if not any(map(lives, workers)):
            break
        time.sleep(0.1)
    assert not any(map(lives, workers))
    again = sluice.sweep(GRID, Serial(), journal=tmp_path / "j")
    assert again.computed <= 7 and same(again.rows) == same(serial.rows)


def test_a_journal_serves_one_sweep_at_a_time(tmp_path):
    def second(done, total):
        with pytest.raises(BlockingIOError, match="in use"):
            sluice.sweep(GRID, Serial(), journal=tmp_path / "j")

    sluice.sweep(GRID, Serial(), journal=tmp_path / "j", progress=second)


def test_shards_have_every_point_once_and_join(serial, tmp_path):
    journals = [tmp_path / str(i) for i in range(1, 6)]
    parts = [sluice.sweep(GRID, Serial(), shard=f"{i}/5", journal=path)
             for i, path in enumerate(journals, 1)]
    assert sum(len(part) for part in parts) == 12
    whole = sluice.sweep(GRID, Serial(), journal=[tmp_path / "all", *journals])
    assert whole.computed == 0 and same(whole.rows) == same(serial.rows)
    for wrong in ("0/5", "6/5", "5", "a/b"):
        with pytest.raises(ValueError, match="shard"):
            sluice.sweep(GRID, Serial(), shard=wrong)


def test_the_order_of_journals_means_nothing(tmp_path):
    """Equal points are planned by two shards, which take different times."""
    graph = sluice.Graph.zoo("alexnet")
    grid = {"networks": {"a": graph, "b": graph}, "hardware": "soma-edge", "solver": "baseline"}
    parts = [tmp_path / "1", tmp_path / "2"]
    seconds = {sluice.sweep(grid, Serial(), shard=(i, 2), journal=part).rows[0]["plan_seconds"]
               for i, part in enumerate(parts, 1)}
    tables = []
    for order in (parts, parts[::-1]):
        found = sluice.sweep(grid, Never(), journal=order)
        found.to_csv(tmp_path / "t.csv")
        tables.append((tmp_path / "t.csv").read_bytes())
    assert len(seconds) == 2 and tables[0] == tables[1]


@pytest.mark.parametrize("damage", [
    lambda line: line[:40] + b"\0" * 20 + line[60:], lambda line: b"", lambda line: b"\xff\xfe",
    lambda line: b'{"key": "k", "result": null}', lambda line: b'{"key": "k", "result": {}}',
    lambda line: line.replace(b'"latency_cycles": ', b'"latency_cyc1es": ')])
def test_a_damaged_line_of_a_journal_costs_its_point_alone(serial, tmp_path, damage):
    path = tmp_path / "journal"
    sluice.sweep(GRID, Serial(), journal=path, chunk=1)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(lines[:3] + [damage(lines[3])] + lines[4:]) + b"\n")
    with pytest.warns(UserWarning, match="line 4"):
        again = sluice.sweep(GRID, Serial(), journal=path)
    assert again.computed == 1 and same(again.rows) == same(serial.rows)


@pytest.mark.parametrize("text", [b'{"networks": "alexnet"}', b"abc", b"\0" * 9,
                                  b'{"key": "k", "result": null}\n'])
def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path, text):
    (tmp_path / "j").write_bytes(text)
    for journal in (tmp_path / "j", [tmp_path / "new", tmp_path / "j"]):
        with pytest.raises(ValueError, match="no result of a sweep"):
            sluice.sweep(GRID, Never(), journal=journal)
    assert (tmp_path / "j").read_bytes() == text
    with pytest.raises(FileNotFoundError):
        sluice.sweep(GRID, Never(), journal=[tmp_path / "new", tmp_path / "none"])


# ---- workers that go

@pytest.mark.parametrize("how", ["no guard", "no file"])
def test_processes_that_cannot_begin_are_told_at_once(tmp_path, how):
    code = f"import sluice; sluice.sweep({GRID!r}, workers=2)"
    (tmp_path / "p.py").write_text(code)
    command = [sys.executable] + ([tmp_path / "p.py"] if how == "no guard" else ["-"])
    ran = subprocess.run(command, input=code, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1 and "end before their first job" in ran.stderr


def test_an_interrupt_ends_the_workers(tmp_path):
    """At once: they would plan what nobody reads."""
    code = ("import sluice, multiprocessing as m, time\n"
            "def stop(done, total):\n"
            "    for child in m.active_children(): print(child.pid, flush=True)\n"
            "    raise KeyboardInterrupt\n"
            "if __name__ == '__main__':\n"
            "    sluice.sweep({'networks': ['alexnet', 'resnet50'], 'hardware': 'soma-edge',\n"
            "                  'solver': ['baseline', 'soma'], 'iterations': [1, 1 << 34]},\n"
            "                 workers=2, chunk=1, progress=stop)\n")
    (tmp_path / "p.py").write_text(code)
    ran = subprocess.run([sys.executable, tmp_path / "p.py"], capture_output=True, text=True,
                         timeout=60)
    assert "KeyboardInterrupt" in ran.stderr
    pids = [int(line) for line in ran.stdout.split()]
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_large_graphs_are_handed_to_a_cluster_a_few_at_a_time(serial, monkeypatch):
    monkeypatch.setattr(_running, "_FLYING_BYTES", 0)
    most = []

    class Cluster(concurrent.futures.Executor):
        """Does not say how many workers it has, and begins when it has enough."""

        def __init__(self):
            self.waiting = []

        def submit(self, fn, /, *args):
            self.waiting.append((Future(), fn, args))
            most.append(len(self.waiting))
            if len(self.waiting) == 3:
                threading.Timer(0.05, self.work).start()
            return self.waiting[-1][0]

        def work(self):
            taken, self.waiting = self.waiting, []
            for future, fn, args in taken:
                future.set_result(fn(*args))

    monkeypatch.setattr(_running, "_LEAST_FLYING", 3)
    assert same(sluice.sweep(GRID, Cluster(), chunk=1).rows) == same(serial.rows)
    assert max(most) == 3 and len(most) == 12


def die_once(mark, graphs, tasks):
    """What a worker does that is killed at its first job, by anybody's hand."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return _work.plan_points(graphs, tasks)
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(key, graphs, tasks):
    """A point that no worker survives."""
    if any(task[0] == key for task in tasks):
        os.kill(os.getpid(), signal.SIGKILL)
    return _work.plan_points(graphs, tasks)


class Replaced(concurrent.futures.Executor):
    """A pool whose workers do something else."""

    def __init__(self, function, *first, workers=2):
        self._first = (function, *first)
        self._pool = process_pool(workers)
        self._max_workers = workers

    def submit(self, fn, /, *args):
        return self._pool.submit(*self._first, *args)

    def shutdown(self, wait=True, **_):
        _running.let_go(self._pool)


def test_a_pool_that_has_ended_by_itself_is_let_go():
    """Its own thread has closed the pipe that shutdown writes to."""

    class Ended(concurrent.futures.Executor):
        told = False

        def shutdown(self, wait=True, **_):
            self.told = not wait
            raise BrokenPipeError

    pool = Ended()
    _running.let_go(pool)
    assert pool.told


def test_the_pipe_of_a_pool_is_closed_once(monkeypatch):
    """By its own thread, from Python 3.11.5 on; before, by nobody else."""

    class Reader:
        closed = 0

        def close(self):
            self.closed += 1

    class Queue:
        _reader = Reader()

    class Pool(concurrent.futures.Executor):
        _call_queue = Queue()

    for version, times in (((3, 12, 0), 0), ((3, 11, 5), 0), ((3, 11, 4), 1)):
        monkeypatch.setattr(_running.sys, "version_info", version)
        _running.let_go(Pool())
        assert Queue._reader.closed == times


class Breaking(Serial):
    """Breaks at its second job, as a process pool does while the job is submitted."""

    def __init__(self, how):
        self._how, self._count, self._broken = how, 0, False
        self._executor_manager_thread = threading.Thread(target=lambda: None)
        self._executor_manager_thread.start()
        self._executor_manager_thread.join()

    def submit(self, fn, /, *args, **kwargs):
        if self._broken:
            raise concurrent.futures.BrokenExecutor("broken")
        self._count += 1
        if self._how == "works" or self._count != 2:
            return super().submit(fn, *args, **kwargs)
        self._broken = True
        if self._how == "pipe":
            raise OSError("handle is closed")
        return Future()  # nobody will ever end it


@pytest.mark.parametrize("how", ["pipe", "forgotten"])
def test_a_pool_that_breaks_while_a_job_is_submitted_loses_nothing(serial, monkeypatch, how):
    monkeypatch.setattr(_running, "_LOOK_SECONDS", 0.05)
    pools = []

    def make():
        pools.append(Breaking("works" if pools else how))
        return pools[-1]

    assert same(sluice.sweep(GRID, make, chunk=2).rows) == same(serial.rows)
    assert len(pools) == 2


def test_a_pipe_that_fails_while_the_pool_works_is_told():
    class Failing(Serial):
        def submit(self, *_):
            raise OSError("no more pipes")

    with pytest.raises(OSError, match="no more pipes"):
        sluice.sweep(GRID, Failing())


def test_a_worker_that_is_killed_loses_nothing(serial, tmp_path):
    found = sluice.sweep(GRID, lambda: Replaced(die_once, tmp_path / "mark"), chunk=2)
    assert (tmp_path / "mark").exists()
    assert same(found.rows) == same(serial.rows)


def test_a_point_that_kills_its_workers_is_found_and_the_others_are_there(serial, tmp_path):
    key = serial.rows[5]["key"]
    found = sluice.sweep(GRID, lambda: Replaced(die_at, key), chunk=3, retries=2,
                         journal=tmp_path / "j")
    assert [row["status"] == "lost" for row in found.rows] == [i == 5 for i in range(12)]
    assert "Broken" in found.rows[5]["message"]
    rest = [i for i in range(12) if i != 5]
    assert same([found.rows[i] for i in rest]) == same([serial.rows[i] for i in rest])
    again = sluice.sweep(GRID, Serial(), journal=tmp_path / "j")
    assert again.computed == 1 and same(again.rows) == same(serial.rows)


def test_an_executor_of_the_caller_that_is_broken_says_how_to_go_on(serial, tmp_path):
    broken = Replaced(die_at, serial.rows[5]["key"])
    with pytest.raises(concurrent.futures.BrokenExecutor, match="journal"):
        sluice.sweep(GRID, broken, chunk=1, journal=tmp_path / "j")
    broken.shutdown()
    assert same(sluice.sweep(GRID, journal=tmp_path / "j").rows) == same(serial.rows)


def test_what_is_no_executor_is_refused():
    with pytest.raises(TypeError, match="executor"):
        sluice.sweep(GRID, 4)


def test_processes_are_no_copies_of_a_process_that_may_have_threads():
    pool = _running.processes(1)()
    assert pool._mp_context.get_start_method() == "spawn"
    assert pool.submit(os.getpid).result() != os.getpid()
    pool.shutdown()


# ---- tables and pictures

def test_csv_and_parquet_have_every_digit(serial, tmp_path):
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    serial.to_csv(tmp_path / "t.csv")
    serial.to_parquet(tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == serial.rows
    with open(tmp_path / "t.csv", newline="") as file:
        for theirs, row in zip(csv.DictReader(file), serial.rows):
            for name, value in row.items():
                kind = str if value is None else type(value)
                assert kind(theirs[name]) == ("" if value is None else value)
    assert list(pandas.read_csv(tmp_path / "t.csv").columns) == list(serial.frame.columns)


def test_the_front_is_what_nobody_dominates(serial):
    pytest.importorskip("pandas")
    for by in ((), ("vector_ops_per_cycle",)):
        front = serial.pareto("latency_cycles", "energy_pj", by=by)
        rows = serial.ok

        def dominated(row):
            peers = rows[(rows[list(by)] == row[list(by)]).all(axis=1)] if by else rows
            below = (peers.latency_cycles <= row.latency_cycles) & (
                peers.energy_pj <= row.energy_pj) & (
                (peers.latency_cycles < row.latency_cycles) | (peers.energy_pj < row.energy_pj))
            return below.any()

        expected = {key for key, row in rows.iterrows() if not dominated(row)}
        assert set(front.index) == expected and expected
    three = serial.pareto("latency_cycles", "energy_pj", "buffer_bytes")
    for use in (lambda: serial.pareto("speed"), lambda: serial.best("speed"),
                lambda: serial.heat_map("speed"), lambda: serial.plot_pareto(by=["speed"])):
        with pytest.raises(ValueError, match="no column 'speed'; there are .*latency_cycles"):
            use()
    assert set(serial.pareto().latency_cycles) <= set(three.latency_cycles)
    assert three.buffer_bytes.min() == 1 << 20  # the smallest with a plan is not dominated


def test_areas_are_of_the_machine():
    machine = sluice.Machine.preset("soma-edge")
    flat = {"fixed": 2.0, "per_mac": 0.5, "per_vector_op": 0.25, "per_byte": 0.125}
    expected = 2 + machine.nodes * (0.5 * machine.macs_per_cycle + 0.125 *
                                    machine.scratchpad_bytes + 0.25 *
                                    machine.vector_ops_per_cycle)
    assert sluice.area_of(machine, flat) == expected
    assert sluice.area_of(machine, {**flat, "per_byte": {"GBUF": 0.125}}) == expected
    assert sluice.area_of(machine, {"per_byte": {"OL1": 1}}) == 16 * 8192  # of each instance
    found = sluice.sweep({**GRID, "buffer_bytes": ["1M", "2M"]}, Serial(),
                         area=lambda m: m.scratchpad_bytes / 2)
    assert {row["area"] for row in found.rows} == {1 << 19, 1 << 20}
    with pytest.raises(ValueError, match="per_gate"):
        sluice.area_of(machine, {"per_gate": 1})


def test_pictures_show_the_rows(serial):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = serial.heat_map("latency_cycles")
    cells = ax.images[0].get_array()
    assert cells.shape == (3, 2)  # sizes by bandwidths, the least first
    assert [bool(math.isnan(c)) for c in cells.filled(math.nan)[:, 0]] == [True, False, False]
    least = min(row["latency_cycles"] for row in serial.rows
                if row["buffer_bytes"] == 1 << 20 and row["dram_bytes_per_cycle"] == 8)
    assert cells[1, 0] == least
    front = serial.plot_pareto(by=["vector_ops_per_cycle"])
    assert len(front.lines) == 2
    pyplot.close("all")
    best = serial.best("latency_cycles")
    assert len(best) == 1 and best.latency_cycles.iloc[0] == serial.ok.latency_cycles.min()
    assert "12 points" in repr(serial) and "alexnet" in serial._repr_html_()


def test_progress_counts_to_the_end(capfd):
    told = []
    sluice.sweep(GRID, Serial(), chunk=5, progress=lambda done, total: told.append((done, total)))
    assert told == [(5, 12), (10, 12), (12, 12)]
    sluice.sweep(GRID, Serial(), progress=True)
    assert capfd.readouterr().out == ""
