# SPDX-License-Identifier: Apache-2.0
"""Model bytes to a graph, with the files that an ONNX model keeps constants in."""
from __future__ import annotations

import dataclasses
import pathlib
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._library import check, choose, diagnostic, expect, ffi, lib, path_of, record, struct, take
from ._library import text, whole
from .errors import BadArgument, Diagnostic, error_of
from .graph import _FORMATS, _LISTS, _NUMBERS, ImportReport


def _external(folder: pathlib.Path) -> Tuple[Any, List[Any]]:
    """Functions that read files of the model's folder, and the objects that they keep alive."""

    def size(_user: Any, file: Any, out: Any) -> int:
        out[0] = (folder / text(file)).stat().st_size
        return 0

    def read(_user: Any, file: Any, offset: int, count: int, into: Any) -> int:
        with open(folder / text(file), "rb") as opened:
            opened.seek(offset)
            return int(opened.readinto(ffi.buffer(into, count)) != count)

    keep = [ffi.callback("int32_t(void*, const char*, uint64_t*)", size, error=1),
            ffi.callback("int32_t(void*, const char*, uint64_t, uint64_t, void*)", read, error=1)]
    return struct("sluice_external_files_t", size=keep[0], read=keep[1]), keep


def _report(handle: Any) -> ImportReport:
    summary = struct("sluice_import_summary_t")
    check(lib.sluice_import_report_summary(handle, summary))
    lists: Dict[str, List[Tuple[str, int, str]]] = {}
    for number in range(lib.SLUICE_IMPORT_LISTS):
        entries = lists[_LISTS[number]] = []
        for i in range(summary.lists[number]):
            entry = struct("sluice_import_entry_t")
            check(lib.sluice_import_report_entry(handle, number, i, entry))
            entries.append((text(entry.name), entry.count, text(entry.reason)))
    return ImportReport(
        format=_FORMATS[summary.format], numbers=_NUMBERS[summary.numbers],
        operators=summary.operators, layers=summary.layers,
        constant_bytes=summary.constant_bytes, lists=lists,
        interface=[text(lib.sluice_import_report_interface(handle, i))
                   for i in range(summary.interface_lines)])


@dataclasses.dataclass
class Named:
    """What is given by the names of a model's dimensions and tensors."""
    dims: Mapping[str, int]
    states: Mapping[str, str]
    ranges: Mapping[str, Tuple[float, float]]


def _c_text(value: Any, of: str, what: str, keep: List[Any]) -> Any:
    expect(value, str, of, what)
    keep.append(ffi.new("char[]", value.encode()))
    return keep[-1]


def _give(options: Any, field: str, rows: List[Dict[str, Any]], keep: List[Any]) -> None:
    """Sets the list `field`s of the options and its count."""
    if not rows:
        return
    keep.append(ffi.new(f"sluice_import_{field}_t[]", rows))
    setattr(options, f"{field}s", keep[-1])
    setattr(options, f"{field}_count", len(rows))


def _give_named(options: Any, named: Named, keep: List[Any]) -> None:
    expect(named.dims, Mapping, "dims", 'a dictionary {"batch": 1}')
    expect(named.states, Mapping, "states", 'a dictionary {"past": "present"}')
    expect(named.ranges, Mapping, "ranges", 'a dictionary {"tensor": (-1.0, 1.0)}')
    _give(options, "dim", [
        {"name": _c_text(key, "dims", "a dimension's name", keep),
         "extent": whole(extent, f"dims: {key}", 1, (1 << 31) - 1)}
        for key, extent in named.dims.items()], keep)
    _give(options, "state", [
        {"input": _c_text(key, "states", "an input's name", keep),
         "output": _c_text(output, f"states: {key}", "an output's name", keep)}
        for key, output in named.states.items()], keep)
    rows = []
    for key, bounds in named.ranges.items():
        expect(bounds, (tuple, list), f"ranges: {key}", "(least, most)")
        if len(bounds) != 2:
            raise BadArgument(f"ranges: {key} must be (least, most), not {bounds!r}")
        for bound in bounds:
            expect(bound, (int, float), f"ranges: {key}", "two numbers")
        rows.append({"name": _c_text(key, "ranges", "a tensor's name", keep),
                     "min": bounds[0], "max": bounds[1]})
    _give(options, "range", rows, keep)


def import_model(cls: Any, model: Any, format: str, named: Named,
                 name: Optional[str], fields: Dict[str, int]) -> Any:
    """Imports a model as a graph; on failure the exception has the importer's whole message."""
    folder = None
    keep: List[Any] = []
    if not isinstance(model, (bytes, bytearray, memoryview)):
        path = path_of(model, "model")
        folder, model = path.parent, path.read_bytes()
        name = path.stem if name is None else name  # as `sluice import` names it
    options = struct("sluice_import_options_t",
                     format=choose(format, "MODEL", "format"), **fields)
    expect(name, (str, type(None)), "name", "a text")
    _give_named(options, named, keep)
    if name is not None:
        keep.append(ffi.new("char[]", name.encode()))
        options.name = keep[-1]
    if folder is not None:
        files, functions = _external(folder)
        keep += [files, functions]
        options.external = files
    out, report = ffi.new("sluice_bytes_t*"), ffi.new("sluice_import_report_t**")
    why = diagnostic()
    status = lib.sluice_import_model(ffi.from_buffer(model), len(model), options, out, report,
                                     why)
    handle = report[0]
    if handle != ffi.NULL:
        handle = ffi.gc(handle, lib.sluice_import_report_destroy)
    if status != 0:
        entire = text(lib.sluice_import_report_message(handle)) if handle != ffi.NULL else ""
        found = record(Diagnostic, why, status=status)
        error = error_of(text(lib.sluice_status_name(status)), found)
        raise type(error)(entire or str(error), found)
    return cls(take(out), _report(handle), str(folder or "."))
