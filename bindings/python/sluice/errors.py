# SPDX-License-Identifier: Apache-2.0
"""Statuses of the C library as exceptions that carry its diagnostic."""
from __future__ import annotations

import dataclasses
from typing import Any, Dict, Optional, Tuple, Type

_NO_INDEX = 0xFFFFFFFF


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What went wrong, where, and how much is missing: sluice_diagnostic_t."""

    status: int
    layer: int = _NO_INDEX
    tensor: int = _NO_INDEX
    instruction: int = _NO_INDEX
    model: int = 0
    required_bytes: int = 0
    available_bytes: int = 0
    smallest_scratchpad_bytes: int = 0
    stage: str = ""
    rule: str = ""
    message: str = ""


class SluiceError(Exception):
    """A call of the library that failed."""

    def __init__(self, message: str, diagnostic: Optional[Diagnostic] = None) -> None:
        super().__init__(message)
        self.diagnostic = diagnostic or Diagnostic(status=0, message=message)

    def __reduce__(self) -> Tuple[Any, ...]:  # for workers of a sweep
        return type(self), (self.args[0], self.diagnostic)

    def _index(self, name: str) -> Optional[int]:
        value = getattr(self.diagnostic, name)
        return None if value == _NO_INDEX else value

    @property
    def layer(self) -> Optional[int]:
        """Index in the graph, where the failure is of a layer."""
        return self._index("layer")

    @property
    def tensor(self) -> Optional[int]:
        """Index in the graph, where the failure is of a tensor."""
        return self._index("tensor")


class Infeasible(SluiceError):
    """Proved: no legal plan exists. The diagnostic has the numbers."""


class Stopped(SluiceError):
    """A limit was reached before there was anything to give back."""


class Rejected(SluiceError):
    """Verification found the plan wrong; the diagnostic names the rule."""


class BadArgument(SluiceError, ValueError):
    """A value out of range."""


class BadInput(SluiceError, ValueError):
    """Bytes that are no valid graph, machine, plan or model."""


class Unsupported(SluiceError):
    """Valid, but this library cannot do it."""


class OutOfMemory(SluiceError, MemoryError):
    """The cap would be exceeded, or there is no memory."""


class InternalError(SluiceError):
    """A defect of the library."""


_KINDS: Dict[int, Type[SluiceError]] = {
    1: Infeasible, 2: Stopped, 3: Rejected, -1: BadArgument, -2: BadInput, -3: Unsupported,
    -4: OutOfMemory, -6: InternalError,
}


def error_of(name: str, diagnostic: Diagnostic) -> SluiceError:
    """Makes the exception of a diagnostic; `name` is its text if the diagnostic has none."""
    kind = _KINDS.get(diagnostic.status, SluiceError)
    return kind(diagnostic.message or name, diagnostic)
