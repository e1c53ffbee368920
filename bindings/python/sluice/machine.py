# SPDX-License-Identifier: Apache-2.0
"""Machines: from presets, dictionaries, JSON or files."""
from __future__ import annotations

import copy
import dataclasses
import json
import os
import pathlib
from functools import cached_property
from typing import Any, Dict, List, Mapping, Tuple, Union

from ._library import bytes_of, check, diagnostic, enum, expect, ffi, lib, make, record, unfit
from ._library import path_of, struct, take, text
from ._plan_file import named, read
from .graph import Path


@dataclasses.dataclass(frozen=True)
class MachineFacts:
    """Facts that the library derives from a descriptor: sluice_machine_facts_t."""

    nodes: int
    engines: int
    costs_from: int
    fanout_units: int
    array_places: int
    macs_per_cycle: int
    vector_ops_per_cycle: int
    dram_bytes_per_cycle: float
    scratchpad_fill_cycles: float
    macs_per_dram_byte: float


@dataclasses.dataclass(frozen=True)
class Engine:
    """An engine as the machine's streams list it: sluice_engine_t."""

    does: Tuple[str, ...]  # "load", "store", "forward", "compute", "host"
    node: int  # 0xffff: all of them
    queue: int  # 0xffff: none of the descriptor's
    roles: int


def _plain(value: Any) -> Any:
    """Makes what JSON has of a number or an array of numpy, or of a mapping."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"machine: {value!r} is a {type(value).__name__}; numbers, texts, truths, "
                    "lists and dictionaries would be right")


class Machine:
    """A machine that the library has checked. It does not change, and threads may share it."""

    def __init__(self, data: bytes) -> None:
        self._bytes = bytes_of(data, "machine")
        held = ffi.from_buffer(self._bytes)
        self._handle = make("hardware", lib.sluice_hardware_create, held, len(self._bytes))
        facts, why = struct("sluice_hardware_facts_t"), diagnostic()
        check(lib.sluice_hardware_describe(held, len(self._bytes), facts, why), why)
        self.name: str = text(facts.name)
        self.nodes: int = facts.nodes
        self.clock_hz: int = facts.clock_hz
        self.scratchpad_bytes: int = facts.scratchpad_bytes
        self.macs_per_cycle: int = facts.macs_per_cycle
        self.vector_ops_per_cycle: int = facts.vector_ops_per_cycle
        self.dram_bytes_per_cycle: float = facts.dram_bytes_per_cycle

    @classmethod
    def from_bytes(cls, data: bytes) -> "Machine":
        """Reads a machine from hardware.fbs bytes."""
        return cls(data)

    @classmethod
    def preset(cls, name: str) -> "Machine":
        """A machine that comes with the library; presets() lists them."""
        expect(name, str, "preset", "one of sluice.presets()")
        data, size, why = ffi.new("const void**"), ffi.new("size_t*"), diagnostic()
        check(lib.sluice_preset_find(name.encode(), data, size, why), why)
        return cls(bytes(ffi.buffer(data[0], size[0])))

    @classmethod
    def from_json(cls, source: str) -> "Machine":
        """Reads a descriptor in JSON: fields of hardware.fbs; comments with // are allowed."""
        expect(source, str, "machine", "JSON text")
        raw = source.encode("utf-8", "replace")
        out, why = ffi.new("sluice_bytes_t*"), diagnostic()
        check(lib.sluice_hardware_from_json(ffi.from_buffer(raw), len(raw), ffi.NULL, out, why),
              why)
        return cls(take(out))

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Machine":
        """As from_json, from a dictionary."""
        expect(fields, Mapping, "machine", "a dictionary with the fields of hardware.fbs")
        return cls.from_json(json.dumps(dict(fields), default=_plain, ensure_ascii=False))

    @classmethod
    def load(cls, path: Path) -> "Machine":
        """Reads FILE.json, or a binary descriptor (any other name)."""
        path = path_of(path)
        json_file = path.suffix.lower() == ".json"
        data = path.read_bytes() if json_file else read(path, b"SLH1")
        with named(str(path)):
            return cls.from_json(data.decode("utf-8", "replace")) if json_file else cls(data)

    def replace(self, changes: Mapping[str, Any]) -> "Machine":
        """A copy with changed values, by path: {"levels.1.capacity_bytes": 1 << 20}."""
        fields = self.to_dict()
        expect(changes, Mapping, "changes", 'a dictionary {"levels.1.capacity_bytes": 1 << 20}')
        for path, value in changes.items():
            expect(path, str, "changes", 'a path like "levels.1.capacity_bytes"')
            *steps, last = [int(s) if s.isdigit() else s for s in path.split(".")]
            at: Any = fields
            try:
                for step in steps:
                    at = at[step]
                at[last]  # a path that the machine does not have is a mistake
            except (KeyError, IndexError, TypeError):
                raise ValueError(f"the machine has no field {path}") from None
            at[last] = copy.deepcopy(value)
        return Machine.from_dict(fields)

    def to_json(self) -> str:
        """The descriptor as JSON, with every field written out."""
        out, why = ffi.new("sluice_bytes_t*"), diagnostic()
        check(lib.sluice_hardware_to_json(ffi.from_buffer(self._bytes), len(self._bytes),
                                          ffi.NULL, out, why), why)
        return take(out).decode()

    def to_dict(self) -> Dict[str, Any]:
        """The descriptor as a dictionary."""
        descriptor: Dict[str, Any] = json.loads(self.to_json())
        return descriptor

    def to_bytes(self) -> bytes:
        """hardware.fbs bytes."""
        return self._bytes

    @property
    def hash(self) -> int:
        """A hash of the bytes: a key for caches."""
        return int(lib.sluice_hardware_hash(self._handle))

    @cached_property
    def understood(self) -> MachineFacts:
        """The facts that the library derives from the descriptor."""
        facts = struct("sluice_machine_facts_t")
        check(lib.sluice_hardware_machine(self._handle, facts))
        return record(MachineFacts, facts)

    @cached_property
    def engines(self) -> List[Engine]:
        """The engines, which work in parallel, in the order of the streams."""
        found, bits = [], enum("DOES")
        for i in range(self.understood.engines):
            e = ffi.new("sluice_engine_t*")
            check(lib.sluice_hardware_engine(self._handle, i, e))
            does = tuple(name for name, bit in bits.items() if e.does & bit)
            found.append(Engine(does, e.node, e.queue, e.roles))
        return found

    @cached_property
    def doubts(self) -> List[str]:
        """Combinations of fields that are unlikely for one machine, a sentence each."""
        facts = struct("sluice_machine_facts_t")
        check(lib.sluice_hardware_machine(self._handle, facts))
        found = []
        for i in range(facts.doubts):
            doubt = diagnostic()
            check(lib.sluice_hardware_doubt(self._handle, i, doubt))
            found.append(text(doubt.message))
        return found

    def __reduce__(self) -> Tuple[Any, ...]:
        return Machine, (self._bytes,)

    def __repr__(self) -> str:
        return (f"<sluice.Machine {self.name!r}: {self.nodes} node(s), "
                f"{self.scratchpad_bytes} bytes of scratchpad, hash {self.hash:016x}>")


def presets() -> List[str]:
    """Names of the machines that come with the library."""
    return [text(lib.sluice_preset_name(i)) for i in range(lib.sluice_preset_count())]


def machine_of(value: Union[Machine, str, Path, Mapping[str, Any], bytes]) -> Machine:
    """Makes a machine from a preset's name, a file, a dictionary or bytes."""
    if isinstance(value, Machine):
        return value
    if isinstance(value, bytes):
        return Machine(value)
    if isinstance(value, Mapping):
        return Machine.from_dict(value)
    if not isinstance(value, (str, os.PathLike)):
        unfit(value, "machine", "a sluice.Machine, a preset's name, a file's name, a "
               "dictionary or bytes")
    path = pathlib.Path(value)
    if isinstance(value, str) and value in presets():
        return Machine.preset(value)
    return Machine.load(path) if path.exists() else Machine.preset(str(value))
