# SPDX-License-Identifier: Apache-2.0
"""Results of a sweep on disk: a line of JSON for each, written as soon as it is there."""
from __future__ import annotations

import json
import os
import pathlib
import warnings
import weakref
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple


_BEGIN = b'{"key": "'


def _entry(line: bytes) -> Optional[Tuple[str, Dict[str, Any]]]:
    """(key, result) of a line; None: it is none that a sweep has written."""
    try:
        entry = json.loads(line)
        key, result = entry["key"], entry["result"]
        good = isinstance(key, str) and (
            result["status"] == "infeasible"
            or result["status"] == "ok" and isinstance(result["latency_cycles"], int))
    except (ValueError, KeyError, TypeError):
        return None
    return (key, result) if good else None


def read(path: pathlib.Path) -> Tuple[Dict[str, Dict[str, Any]], int]:
    """{key: result} of the complete lines of a journal, and their bytes. An incomplete last line
    is left by a run that was killed. Damaged lines, as a failing disk leaves them, are told and
    passed over; a file without one good line is somebody else's."""
    found: Dict[str, Dict[str, Any]] = {}
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    damaged = []
    for number, line in enumerate(data[:whole].splitlines(), 1):
        entry = _entry(line)
        if entry is None:
            damaged.append(number)
        else:
            found[entry[0]] = entry[1]
    tail = data[whole:]
    if not found and (damaged or tail[:len(_BEGIN)] != _BEGIN[:len(tail)]):
        raise ValueError(f"{path}, line {(damaged or [1])[0]}: this is no result of a sweep")
    if damaged:
        warnings.warn(f"{path}: {len(damaged)} damaged lines (the first is line {damaged[0]}); "
                      "their points are planned again", stacklevel=5)
    return found, whole


# A worker that was forked while a journal was open would keep it locked when its parent is gone.
_open: "weakref.WeakSet[Journal]" = weakref.WeakSet()


def _forked() -> None:
    for journal in list(_open):
        journal.forget()


os.register_at_fork(after_in_child=_forked)


class Journal:
    """Writes the first path, only reads further ones. Without a path nothing is stored. Of two
    results for one point (shards plan equal points each) the smaller line stays, so that the
    order of the paths means nothing."""

    def __init__(self, paths: Sequence[Any]) -> None:
        self.known: Dict[str, Dict[str, Any]] = {}
        self._file: Optional[int] = None
        for path in paths[1:]:
            self._take(read(pathlib.Path(path))[0])
        if paths:
            self._open(pathlib.Path(paths[0]))

    def _open(self, path: pathlib.Path) -> None:
        import fcntl

        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found, whole = read(path)  # nobody else writes it any more
            self._take(found)
            os.ftruncate(self._file, whole)
        except (OSError, ValueError) as error:
            self.close()
            if isinstance(error, BlockingIOError):
                raise BlockingIOError(f"{path} is in use by another sweep") from None
            raise
        _open.add(self)

    def _take(self, found: Mapping[str, Dict[str, Any]]) -> None:
        for key, result in found.items():
            other = self.known.setdefault(key, result)
            if json.dumps(result) < json.dumps(other):
                self.known[key] = result

    def add(self, results: Iterable[Tuple[str, Dict[str, Any]]]) -> None:
        """Writes results, in one piece."""
        lines: List[str] = []
        for key, result in results:
            self.known[key] = result
            lines.append(json.dumps({"key": key, "result": result}) + "\n")
        if self._file is None or not lines:
            return
        data = memoryview("".join(lines).encode())
        while data:
            data = data[os.write(self._file, data):]

    def close(self) -> None:
        """Releases the lock on the file."""
        self.forget()
        _open.discard(self)

    def forget(self) -> None:
        """Closes the file of this process."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
