# SPDX-License-Identifier: Apache-2.0
"""Results of a sweep on disk: a line of JSON for each, written as soon as it is there."""
from __future__ import annotations

import json
import os
import pathlib
import weakref
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple


def read(path: pathlib.Path) -> Tuple[Dict[str, Dict[str, Any]], int]:
    """{key: result} of the complete lines of a journal, and their bytes. An incomplete last line
    is left by a run that was killed."""
    found: Dict[str, Dict[str, Any]] = {}
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    for number, line in enumerate(data[:whole].splitlines(), 1):
        try:
            entry = json.loads(line)
            found[entry["key"]] = entry["result"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}, line {number}: this is no result of a sweep") from None
    return found, whole


# A worker that was forked while a journal was open would keep it locked when its parent is gone.
_open: "weakref.WeakSet[Journal]" = weakref.WeakSet()


def _forked() -> None:
    for journal in list(_open):
        journal.forget()


os.register_at_fork(after_in_child=_forked)


class Journal:
    """Writes the first path, only reads further ones. Without a path nothing is stored."""

    def __init__(self, paths: Sequence[Any]) -> None:
        self.known: Dict[str, Dict[str, Any]] = {}
        self._file: Optional[int] = None
        for path in reversed([pathlib.Path(p) for p in paths]):
            found, whole = read(path)
            self.known.update(found)
        if paths:
            self._open(pathlib.Path(paths[0]), whole)

    def _open(self, path: pathlib.Path, whole: int) -> None:
        import fcntl

        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._file, whole)
        except OSError as error:
            self.close()
            if isinstance(error, BlockingIOError):
                raise BlockingIOError(f"{path} is in use by another sweep") from None
            raise
        _open.add(self)

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
