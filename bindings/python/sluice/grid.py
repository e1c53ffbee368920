# SPDX-License-Identifier: Apache-2.0
"""Grids: what a sweep visits. The keys are those of `sluice dse`, and values may be objects."""
from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
from fractions import Fraction
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ._library import expect, lib, listed, path_of, text
from .graph import Graph, zoo_names
from .machine import Machine, machine_of
from .planning import Options

GRID_KEYS = ("networks", "batch", "hardware", "dram_bytes_per_cycle", "buffer_bytes", "set",
             "solver", "objective", "iterations", "seed", "granularity", "seq", "context",
             "blocks")
_NO_DEADLINE = ('a "deadline" would make points depend on how busy their worker is; limit '
                '"iterations" instead')
_SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclasses.dataclass(frozen=True)
class Point:
    """A graph on a machine with options of schedule; `axes` are the columns that name it.

    Sweeps take lists of points too, where a grid is not the form of what is asked.
    """

    graph: Graph
    machine: Machine
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    axes: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.options, Mapping) and "deadline" in self.options:
            raise ValueError(_NO_DEADLINE)

    @property
    def key(self) -> str:
        """A hash of all that the result depends on: graph, machine, options, version."""
        return key_of(digest(self.graph.to_bytes()), digest(self.machine.to_bytes()),
                      self.options)


def digest(data: bytes) -> str:
    """A hash of bytes, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def key_of(graph: str, machine: str, options: Mapping[str, Any]) -> str:
    """The key from hashes of a graph and a machine, and options of schedule."""
    try:
        said = json.dumps([text(lib.sluice_version()), graph, machine,
                           sorted((k, v) for k, v in options.items() if v is not None)])
    except TypeError as error:
        raise TypeError(f"options of points are numbers and texts: {error}") from None
    return digest(said.encode())


def check_options(options: Mapping[str, Any]) -> None:
    """Refuses what schedule would refuse, before there is any work."""
    asked: Dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                             for name, value in options.items() if name != "memory_bytes"}
    Options(**asked)


def _listed(grid: Mapping[str, Any], key: str) -> List[Any]:
    """One value, or a list of them."""
    if key not in grid:
        return []
    value = grid[key]
    if hasattr(value, "tolist"):  # of numpy and pandas
        value = value.tolist()
    if not isinstance(value, (list, range)):
        return [value]
    found: List[Any] = list(value)
    found = [item.item() if hasattr(item, "dtype") else item for item in found]
    if not found:
        raise ValueError(f"grid: {key!r} is an empty list; a value or several would be right")
    return found


def _bytes(value: Any) -> int:
    """65536, "64K", "1.5M"."""
    try:
        if isinstance(value, str) and value[-1:].upper() in _SUFFIXES:
            exact = Fraction(value[:-1]) * _SUFFIXES[value[-1].upper()]
        else:
            exact = Fraction(value)
        if exact > 0 and exact.denominator == 1:
            return int(exact)
    except (ValueError, TypeError, ArithmeticError):
        pass
    raise ValueError(f"grid: buffer_bytes {value!r} is no size; a whole number above 0, or a text "
                     'like "64K" (K, M, G), would be right')


def _bandwidth(value: Any) -> Fraction:
    """8, 12.5, "25/2"."""
    try:
        exact = Fraction(value).limit_denominator(1 << 16)
        if exact > 0:
            return exact
    except (ValueError, TypeError, ArithmeticError):
        pass
    raise ValueError(f"grid: dram_bytes_per_cycle {value!r} is neither a number above 0 nor a "
                     'fraction like "25/2"')


def _assign(fields: Dict[str, Any], path: str, value: Any) -> None:
    """`macs_per_cycle`, `levels.1.capacity_bytes`, or by a level's name, as in `sluice dse`:
    `DRAM.read_pj_per_bit`."""
    *steps, last = path.split(".")
    at: Any = fields
    if steps and steps[0] not in fields:
        named = [level for level in fields["levels"] if level["name"] == steps[0]]
        if not named:
            raise ValueError(f"grid: {path}: the machine has no field or level {steps[0]}; there "
                             f"are {', '.join(fields)}, and the levels "
                             f"{', '.join(level['name'] for level in fields['levels'])}")
        at, steps = named[0], steps[1:]
    try:
        for step in steps:
            at = at[int(step)] if isinstance(at, list) else at[step]
        place: Any = int(last) if isinstance(at, list) else last
        at[place]  # a path that the machine does not have is a mistake
    except (KeyError, IndexError, TypeError, ValueError):
        there = ", ".join(at) if isinstance(at, dict) else f"numbers below {len(at)}" \
            if isinstance(at, list) else "none"
        raise ValueError(f"grid: the machine has no field {path}; there are {there}") from None
    at[place] = value


# A value of a machine axis: its columns, and the fields that it changes.
_Choice = Tuple[Dict[str, Any], Dict[str, Any]]


def _buffers(grid: Mapping[str, Any], level: int) -> List[_Choice]:
    found = []
    for value in _listed(grid, "buffer_bytes"):
        more: Dict[str, Any] = {}
        if isinstance(value, Mapping):
            more = {k: v for k, v in value.items() if k != "bytes"}
            value = value.get("bytes")
        size = _bytes(value)
        changes = {f"levels.{level}.{k}": v for k, v in more.items()}
        found.append(({"buffer_bytes": size, **{f"buffer.{k}": v for k, v in more.items()}},
                      {f"levels.{level}.capacity_bytes": size, **changes}))
    return found or [({}, {})]


def _bandwidths(grid: Mapping[str, Any], dram: int) -> List[_Choice]:
    found: List[_Choice] = []
    for value in _listed(grid, "dram_bytes_per_cycle"):
        exact = _bandwidth(value)
        at = f"levels.{dram}.bytes_per_cycle_"
        found.append(({"dram_bytes_per_cycle": float(exact)},
                      {at + "numerator": exact.numerator, at + "denominator":
                       exact.denominator}))
    return found or [({}, {})]


def _sets(grid: Mapping[str, Any]) -> List[_Choice]:
    fields = grid.get("set", {})
    if not isinstance(fields, Mapping):
        raise ValueError(f'grid: "set" {fields!r} is no dictionary of fields; '
                         '{"macs_per_cycle": [256, 512]} would be right')
    axes = [[(path, value) for value in _listed(fields, path)] for path in fields]
    return [({path: value if isinstance(value, (int, float, str)) else json.dumps(value)
              for path, value in chosen}, dict(chosen)) for chosen in itertools.product(*axes)]


def _named(values: Sequence[Any], known: Callable[[Any], bool]) -> Iterator[Tuple[str, Any]]:
    """(name, value): of a mapping its keys, of text itself, of objects their own names."""
    for value in values:
        if isinstance(value, Mapping) and not known(value):
            for name, item in value.items():
                yield str(name), item
        elif isinstance(value, (str, pathlib.Path)):
            yield str(value), value
        else:
            fields = value if isinstance(value, Mapping) else {}
            yield str(fields.get("name", getattr(value, "name", ""))), value


def _machines(grid: Mapping[str, Any]) -> Iterator[Tuple[Dict[str, Any], Machine]]:
    for name, value in _named(_listed(grid, "hardware"), lambda m: "levels" in m):
        base = machine_of(value)
        plain = base.to_json()
        fields = json.loads(plain)
        level, dram = fields["scratchpad_level"], len(fields["levels"]) - 1
        for chosen in itertools.product(_sets(grid), _buffers(grid, level),
                                        _bandwidths(grid, dram)):
            axes: Dict[str, Any] = {"hardware": name}
            fields, changed = json.loads(plain), False
            for columns, changes in chosen:
                axes.update(columns)
                for path, to in changes.items():
                    _assign(fields, path, to)
                    changed = True
            try:
                yield axes, Machine.from_dict(fields) if changed else base
            except ValueError as wrong:
                raise type(wrong)(f"{axes}: {wrong}", *wrong.args[1:]) from None


def _networks(grid: Mapping[str, Any]) -> Iterator[Tuple[Dict[str, Any], Graph]]:
    sizes = {key: [_whole(key, size) for size in _listed(grid, key) or [0]]
             for key in ("seq", "context", "blocks") if key in grid}
    sizes = {"batch": [_whole("batch", size) for size in _listed(grid, "batch") or [1]], **sizes}
    for name, value in _named(_listed(grid, "networks"), lambda _: False):
        if isinstance(value, Graph):
            yield {"network": name or f"{value.hash:016x}", "batch": 1}, value
        elif not isinstance(value, (str, os.PathLike)):
            raise ValueError(f"grid: networks: {value!r} is no network; a sluice.Graph, a name of "
                             "the zoo or a file would be right")
        elif value in zoo_names():
            for chosen in itertools.product(*sizes.values()):
                more: Dict[str, Any] = dict(zip(sizes, chosen))
                yield {"network": name, **more}, Graph.zoo(str(value), **more)
        elif pathlib.Path(value).is_file():
            yield {"network": name, "batch": 1}, Graph.load(value)
        else:
            raise ValueError(f"grid: no network is called {value}, and no file; sluice.zoo_names() "
                             "lists networks")


def _whole(key: str, value: Any) -> int:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value % 1 == 0:
        return int(value)
    raise ValueError(f"grid: {key} {value!r} is no whole number")


def _options(grid: Mapping[str, Any]) -> Iterator[Tuple[Dict[str, Any], Dict[str, Any]]]:
    """(columns, options of schedule)."""
    names = {"solver": "solver", "objective": "objective", "iterations": "max_iterations",
             "seed": "seed", "granularity": "granularity"}
    usual = {"solver": "default", "objective": "edp", "iterations": 0, "seed": 0}
    axes = []
    for key in names:
        values = _listed(grid, key) or ([usual[key]] if key in usual else [])
        if key in ("iterations", "seed"):
            values = [_whole(key, value) for value in values]
        if values:
            axes.append([(key, value) for value in values])
    for chosen in itertools.product(*axes):
        columns = {key: value if isinstance(value, (int, str)) else json.dumps(list(value))
                   for key, value in chosen}
        yield columns, {names[key]: list(value) if isinstance(value, tuple) else value
                        for key, value in chosen}


def points_of(grid: Any) -> List[Point]:
    """The points of a grid, in its order: networks outermost, then batch, machines, options.
    Wrong options are refused."""
    found = _points_of(grid)
    for options in {id(point.options): point.options for point in found}.values():
        check_options(options)
    return found


def _points_of(grid: Any) -> List[Point]:
    if isinstance(grid, (str, os.PathLike)):
        path = path_of(grid, "grid")
        try:
            grid = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:  # no JSON, or no text
            raise ValueError(f"grid: {path} holds no JSON: {error}") from None
    if not isinstance(grid, Mapping):
        found = listed(grid, "grid", "a dictionary, a JSON file, or a list of sluice.Point")
        for number, point in enumerate(found):
            expect(point, Point, f"grid[{number}]", "a sluice.Point(graph, machine)")
            expect(point.graph, Graph, f"grid[{number}].graph", "a sluice.Graph")
            expect(point.machine, Machine, f"grid[{number}].machine", "a sluice.Machine")
            for name, right in (("options", '{"solver": "baseline"}'), ("axes", '{"name": 1}')):
                expect(getattr(point, name), Mapping, f"grid[{number}].{name}",
                       f"a dictionary, as {right}")
                for key in getattr(point, name):
                    expect(key, str, f"grid[{number}].{name}", f"a dictionary, as {right}")
        return found
    for key in grid:
        if key == "deadline":
            raise ValueError(f"grid: {_NO_DEADLINE}")
        if key not in GRID_KEYS:
            raise ValueError(f"grid: there is no key {key!r}; there are {', '.join(GRID_KEYS)}")
    for key in ("networks", "hardware"):
        if key not in grid:
            right = "names of the zoo, files or Graphs" if key == "networks" else (
                "presets, files or Machines")
            raise ValueError(f"grid: {key!r} is missing; {right} would be right")
    machines, options = list(_machines(grid)), list(_options(grid))
    return [Point(graph, machine, chosen, {**network, **hardware, **said})
            for network, graph in _networks(grid)
            for hardware, machine in machines for said, chosen in options]


def shard_of(shard: Any) -> Optional[Tuple[int, int]]:
    """(i, n) of "i/n" or a pair, i from 1; None of None."""
    if shard is None:
        return None
    pair = shard.split("/") if isinstance(shard, str) else shard
    try:
        i, n = (int(part) for part in pair)
    except (TypeError, ValueError):
        raise ValueError(f"shard: {shard!r} is not of the form \"2/8\", the second of eight "
                         "parts") from None
    if not 1 <= i <= n:
        raise ValueError(f"shard: {i} is not from 1 to {n}")
    return i, n
