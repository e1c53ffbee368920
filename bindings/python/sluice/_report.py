# SPDX-License-Identifier: Apache-2.0
"""Pages about plans, written by the tool's own code."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Sequence

from ._library import ffi, flag, lib, text
from .errors import OutOfMemory
from .simulate import made_for, refuse

if TYPE_CHECKING:
    from .plan import Plan


def _files(plans: Sequence["Plan"]) -> List[Any]:
    """An array of sluice_native_files_t, then what it points to."""
    files = ffi.new("sluice_native_files_t[]", len(plans))
    keep: List[Any] = [files]
    for row, plan in zip(files, plans):
        graph, machine = made_for(plan)
        for name, data in (("graph", graph.to_bytes()), ("hardware", machine.to_bytes()),
                           ("plan", plan.to_bytes())):
            keep.append(ffi.from_buffer(data))
            setattr(row, name, keep[-1])
            setattr(row, name + "_size", len(data))
        keep.append(ffi.new("char[]", (machine.name or "machine").encode()))
        row.hardware_name = keep[-1]
    return keep


def _text(made: Any) -> str:
    if made == ffi.NULL:
        raise OutOfMemory("no memory for the text")
    held = ffi.gc(made, lib.sluice_native_text_destroy)
    if held.text == ffi.NULL:
        refuse(text(held.error_code), text(held.error))
    return text(held.text, held.size)


def page(plans: Sequence["Plan"]) -> str:
    """HTML of one plan, or of two side by side."""
    files = _files(plans)
    return _text(lib.sluice_native_report(files[0], len(plans)))


def trace(plan: "Plan", contention: bool) -> str:
    """JSON of the trace-event format."""
    files = _files([plan])
    return _text(lib.sluice_native_trace(files[0], flag(contention, "contention")))
