# SPDX-License-Identifier: Apache-2.0
"""A sweep on Dask distributed: a scheduler and two workers as processes of their own, of which
one is killed while it works."""
import os
import signal
import subprocess
import sys
import threading

import pytest

import sluice
from test_sweep import GRID, Serial, same

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
MORE = {**GRID, "buffer_bytes": ["1M", "2M", "4M"], "dram_bytes_per_cycle": [4, 8, 16]}


# Who asks a worker that was killed meanwhile gives up after so long, in place of half a minute.
GIVE_UP = "3s"


def started(command, work, log):
    settings = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": GIVE_UP}
    return subprocess.Popen([sys.executable, "-m", *command], cwd=work, env=settings,
                            stdout=subprocess.DEVNULL, stderr=log)


def address_of(scheduler):
    """What the scheduler says, up to the line with its address, is read; the rest is dropped."""
    said = []
    for line in scheduler.stderr:
        said.append(line.decode())
        if "Scheduler at:" in said[-1]:
            threading.Thread(target=scheduler.stderr.read, daemon=True).start()
            return said[-1].split()[-1]
    raise AssertionError("".join(said))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """(client, workers): what two command lines start."""
    work = tmp_path_factory.mktemp("dask")
    scheduler = started(["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
                         "--no-dashboard"], work, subprocess.PIPE)
    programs, client = [scheduler], None
    try:
        address = address_of(scheduler)
        workers = [started(["distributed.cli.dask_worker", address, "--nthreads", "1",
                            "--no-nanny", "--no-dashboard", "--memory-limit", "0"], work,
                           subprocess.DEVNULL) for _ in range(2)]
        programs += workers
        with dask.config.set({"distributed.comm.timeouts.connect": GIVE_UP}):
            client = distributed.Client(address, timeout=60)
            client.wait_for_workers(2, timeout=60)
            yield client, workers
    finally:
        if client is not None:
            client.close()
        for program in programs:
            program.kill()
        for program in programs:
            program.wait()


def test_a_worker_is_killed_in_the_middle_and_all_points_are_there(cluster, tmp_path):
    client, workers = cluster
    told = []

    def kill_one(done, total):
        told.append(done)
        if len(told) == 3:
            os.kill(workers[0].pid, signal.SIGKILL)
            workers[0].wait()

    serial = sluice.sweep(MORE, Serial())
    found = sluice.sweep(MORE, client, chunk=1, progress=kill_one, journal=tmp_path / "j")
    assert workers[0].poll() == -signal.SIGKILL and workers[1].poll() is None
    assert told[2] < len(serial) == told[-1] == len(found) == 18
    assert same(found.rows) == same(serial.rows)
    # What is left of the cluster serves on, also by its executor.
    again = sluice.sweep(GRID, client.get_executor(pure=False))
    assert again.computed == 12 and len(client.scheduler_info()["workers"]) == 1
