# SPDX-License-Identifier: Apache-2.0
"""Runs jobs on any executor, which may lose workers.

A task whose worker is gone is given out again. Where all that was under way goes with one
worker, as in a process pool, nobody knows which task was the cause: after a second loss its
points run one at a time and alone, so that a point that ends its worker is found, and no other
pays for it.
"""
from __future__ import annotations

import dataclasses
import os
import queue
import sys
import threading
import time
from collections import deque
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence

from ._library import expect, shown, unfit

_LOOK_SECONDS = 1.0  # how often a sweep that waits looks whether its pool still lives
# Of an executor whose workers nobody counts: bytes of graphs in jobs, and jobs in any case.
_FLYING_BYTES = 1 << 28
_LEAST_FLYING = 256


@dataclasses.dataclass
class Job:
    """Points for one worker, and how often their worker was lost."""

    points: List[Any]
    losses: int = 0


def processes(workers: Optional[int]) -> Callable[[], Executor]:
    """Makes process pools. Workers are started anew: a copy of a process that has threads, of
    a library's among them, may hang."""

    def make() -> Executor:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise RuntimeError('a worker has begun this program anew: what starts a sweep stands '
                               'below if __name__ == "__main__":')
        return ProcessPoolExecutor(workers or cores(),
                                   mp_context=multiprocessing.get_context("spawn"),
                                   initializer=leave_with, initargs=(os.getpid(),))

    return make


def leave_with(parent: int) -> None:
    """Ends this worker soon after the process that began it, which may have been killed: a
    pool's workers wait for more work for ever, since they hold the end that feeds them."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def let_go(executor: Any) -> None:
    """Ends an executor without waiting for it. Before Python 3.11.5 a pool whose workers were
    killed waits for ever to hand on what they had not read (CPython's issue 94777): closing
    the end that they read from lets it end. Later ones close it in a thread of their own: a
    second close at the same time fails there or here, or closes a pipe of the next pool, which
    was given the same number. That thread may also have closed the pipe that wakes it already,
    and then shutdown fails."""
    reader = getattr(getattr(executor, "_call_queue", None), "_reader", None)
    if reader is not None and sys.version_info < (3, 11, 5):
        reader.close()
    try:
        executor.shutdown(wait=False)
    except OSError:  # the pool has ended by itself
        pass


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class PoolExecutor(Executor):
    """A pool with the interface of multiprocessing.Pool (Ray's, for one) as an executor."""

    def __init__(self, pool: Any, workers: Optional[int] = None) -> None:
        self._pool = pool
        if workers is not None:
            self._max_workers = workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submits a job through apply_async."""
        future: "Future[Any]" = Future()
        future.set_running_or_notify_cancel()
        self._pool.apply_async(fn, args, kwargs, callback=future.set_result,
                               error_callback=future.set_exception)
        return future


def _made(make: Callable[[], Any]) -> Any:
    """What a function that makes executors gives."""
    executor = make()
    if not hasattr(executor, "submit") or not hasattr(executor, "shutdown"):
        expect(executor, Executor, "executor: what the function gives",
               "a concurrent.futures.Executor")
    return executor


def executor_of(given: Any, workers: Optional[int]) -> "tuple[Executor, Any, bool]":
    """(executor, function that makes another one or None, whether to shut it down)."""
    if given is None:
        given = processes(workers)
    if isinstance(given, type):  # ThreadPoolExecutor makes one as a function does
        return _made(given), given, True
    if isinstance(given, Executor) or hasattr(given, "submit") and not hasattr(
            given, "get_executor"):
        return given, None, False
    if hasattr(given, "get_executor"):  # a client of Dask distributed
        return given.get_executor(pure=False), None, True
    if hasattr(given, "apply_async"):
        return PoolExecutor(given), None, False
    if not callable(given):
        unfit(given, "executor", "None, a concurrent.futures.Executor, a Dask client, a pool "
               "with apply_async or a function that makes an executor")
    return _made(given), given, True


def _answers(found: Any, count: int) -> List[Any]:
    """What a job gives, if that is what plan_points gives."""
    if (not isinstance(found, list) or len(found) != count
            or not all(isinstance(row, dict) and "status" in row for row in found)):
        raise TypeError(f"executor: a job gave {shown(found)}; what the submitted function "
                        f"returns, a list of {count} results, would be right")
    return found


class Running:
    """Gives out jobs until each point has a result.

    submit(executor, points) -> future of a list of results, dictionaries that have a status;
                             a job has about job_bytes
    done(points, results)    is called for each finished job
    lost(point, error)       is called for a point whose worker was lost too often
    """

    def __init__(self, executor: Any, workers: Optional[int], *, submit: Callable[..., Any],
                 done: Callable[..., Any], lost: Callable[..., Any], retries: int,
                 job_bytes: int = 1) -> None:
        self._submit, self._done, self._lost, self._retries = submit, done, lost, retries
        self._executor, self._make, self._ours = executor_of(executor, workers)
        self._processes = executor is None  # of this machine, started by us
        self._began = False  # whether a job has ever come back
        self._most = max(_LEAST_FLYING, _FLYING_BYTES // max(job_bytes, 1))
        self._window = self._window_of_executor()
        self._alone: Deque[Job] = deque()
        self._flying: Dict[Any, Job] = {}
        self._back: "queue.SimpleQueue[Any]" = queue.SimpleQueue()

    def _window_of_executor(self) -> int:
        """Two jobs per worker keep all busy. If the number of workers is unknown, all jobs are
        submitted at once, as clusters expect, but for graphs so large that they would fill the
        memory of those who hand them on."""
        known = getattr(self._executor, "_max_workers", None)
        return 2 * known if isinstance(known, int) else self._most

    def run(self, jobs: Sequence[Sequence[Any]]) -> None:
        """Runs until all jobs are done. An interrupt cancels the pending ones."""
        waiting = deque(Job(list(points)) for points in jobs)
        ended = False
        try:
            while waiting or self._alone or self._flying:
                self._fill(waiting)
                self._take(self._next(), waiting)
            ended = True
        finally:
            for future in list(self._flying):
                future.cancel()
            if self._processes and not ended:  # nobody will read what they compute
                for process in list((getattr(self._executor, "_processes", None) or {}).values()):
                    process.terminate()
            if self._ours:
                if ended and not getattr(self._executor, "_broken", False):
                    self._executor.shutdown(wait=True)
                else:
                    let_go(self._executor)

    def _fill(self, waiting: Deque[Job]) -> None:
        while waiting and len(self._flying) < self._window:
            self._give(waiting.popleft(), waiting)
        if not self._flying and self._alone:
            self._give(self._alone.popleft(), self._alone)

    def _next(self) -> Any:
        """The next future that has ended. A process pool that breaks while a job is submitted
        may forget this job: if the thread that hands on its results is gone, nothing comes."""
        while True:
            try:
                return self._back.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                thread = getattr(self._executor, "_executor_manager_thread", None)
                if thread is None or thread.is_alive():
                    continue
            for future in list(self._flying):
                if not future.done():
                    future.set_exception(BrokenExecutor("the pool has ended without its result"))

    def _give(self, job: Job, source: Deque[Job]) -> None:
        try:
            future = self._submit(self._executor, job.points)
        except (BrokenExecutor, OSError) as error:
            # A pool that breaks in between closes the pipe that submit writes to.
            if isinstance(error, OSError) and not getattr(self._executor, "_broken", False):
                raise
            source.appendleft(job)
            if self._flying:  # these fail too, one by one
                self._window = max(1, len(self._flying))
                return
            self._renew()
            return
        if not hasattr(future, "add_done_callback"):
            expect(future, Future, "executor: what its submit gives", "a concurrent.futures.Future")
        self._flying[future] = job
        future.add_done_callback(self._back.put)

    def _renew(self) -> None:
        if self._make is None:
            raise BrokenExecutor("the executor has lost its workers and takes no more work; "
                                 "with a journal the sweep goes on when it is started again")
        let_go(self._executor)
        self._executor = _made(self._make)
        self._window = self._window_of_executor()
        if self._processes and not self._began:
            self._try_out()

    def _try_out(self) -> None:
        """Tells processes that end before they begin from points that end them."""
        try:
            self._executor.submit(os.getpid).result()
        except (BrokenExecutor, OSError) as error:
            raise RuntimeError(
                "the worker processes end before their first job; what they print says why. "
                "They begin by reading the program again: it must be a file, and what starts a "
                'sweep stands below if __name__ == "__main__":') from error
        self._began = True

    def _take(self, future: Any, waiting: Deque[Job]) -> None:
        job = self._flying.pop(future)
        error = None
        if future.cancelled():
            error = RuntimeError("the executor has cancelled it")
        else:
            error = future.exception()
        if error is None:
            self._began = True
            self._done(job.points, _answers(future.result(), len(job.points)))
            return
        if isinstance(error, KeyboardInterrupt):
            raise error
        self._again(job, error, waiting)
        if isinstance(error, BrokenExecutor) and not self._flying:
            self._renew()

    def _again(self, job: Job, error: BaseException, waiting: Deque[Job]) -> None:
        job.losses += 1
        if len(job.points) > 1 and job.losses > 1:
            self._alone.extend(Job([point], 1) for point in job.points)
        elif job.losses == 1:
            waiting.append(job)
        elif job.losses <= self._retries:
            self._alone.append(job)
        else:
            self._lost(job.points[0], error)
