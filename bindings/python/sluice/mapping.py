# SPDX-License-Identifier: Apache-2.0
"""Loop nests: of one GEMM, and of layers of a graph."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

from ._library import Cancel, _value, check, choose, context, diagnostic, exponents, ffi
from ._library import flags, interruptible, lib, listed, nanoseconds, struct, text
from ._library import whole
from .graph import NO_INDEX, Graph, Path, graph_of
from .machine import machine_of


def _fields(kind: str, found: Any) -> Dict[str, Any]:
    return {name: _value(getattr(found, name)) for name, _ in ffi.typeof(kind).fields
            if name not in ("struct_size", "reserved")}


def map_gemm(machine: Any, m: int, n: int, k: int, *, solver: str = "exact",
             objective: str = "energy", at_most: bool = False, paper_form: bool = False,
             certify: bool = False, from_level: int = 0, deadline: Optional[float] = None,
             cancel: Optional[Cancel] = None) -> Dict[str, Any]:
    """The best loop nest of a GEMM, proved: the fields of sluice_gemm_mapping_t. Infeasible if
    no nest uses all PEs, as for most extents that do not divide; with at_most=True it may use
    fewer."""
    m, n, k = (whole(extent, name, 1, (1 << 63) - 1)
               for name, extent in (("m", m), ("n", n), ("k", k)))
    options = struct("sluice_gemm_options_t", solver=choose(solver, "GEMM", "solver"),
                     objective=choose(objective, "GEMM", "objective"), from_level=from_level,
                     deadline_ns=nanoseconds(deadline),
                     **flags(at_most=at_most, paper_form=paper_form, certify=certify))
    out, why = struct("sluice_gemm_mapping_t"), diagnostic()
    with interruptible(cancel) as word:
        options.cancel = word
        status = lib.sluice_map_gemm(context(), machine_of(machine)._handle,
                                     ffi.new("sluice_gemm_t*", (m, n, k)), options, out, why)
    check(status, why)
    return _fields("sluice_gemm_mapping_t", out)


class LayerMapping:
    """A loop nest of a layer: fields of sluice_layer_mapping_t, as attributes."""

    def __init__(self, struct: Any, keep: Any, machine: Any, tile_only: bool) -> None:
        self._struct, self._keep, self._machine, self._tile_only = (struct, keep, machine,
                                                                    tile_only)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _value(getattr(self._struct, name))

    def __reduce__(self) -> Any:
        raw = bytes(ffi.buffer(self._struct, ffi.sizeof("sluice_layer_mapping_t")))
        return _mapping_of, (raw, self._machine, self._tile_only)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, LayerMapping) and self._tile_only == other._tile_only
                and self.to_dict() == other.to_dict())

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> Dict[str, Any]:
        """All fields."""
        return _fields("sluice_layer_mapping_t", self._struct)

    @property
    def directives(self) -> str:
        """KAPLA's tensor, stack and update directives."""
        found, why = struct("sluice_directives_t", tile_only=int(self._tile_only)), diagnostic()
        arguments = (context(), self._machine._handle, self._struct, found, why)
        lib.sluice_mapping_directives(*arguments)
        found.text = room = ffi.new("char[]", max(found.text_bytes, 1))
        check(lib.sluice_mapping_directives(*arguments), why)
        return text(room)

    def __repr__(self) -> str:
        return (f"<sluice.LayerMapping of layer {self.layer}: {self.cycles} cycles, "
                f"{self.energy_pj:.4g} pJ>")


def _mapping_of(raw: bytes, machine: Any, tile_only: bool) -> LayerMapping:
    """A mapping that was copied or pickled."""
    made = ffi.new("sluice_layer_mapping_t*")
    ffi.memmove(made, raw, len(raw))
    return LayerMapping(made, made, machine, tile_only)


def map_layers(graph: Union[Graph, Path], machine: Any, layers: Optional[Sequence[int]] = None, *,
               solver: str = "best", objective: Any = None, bypass: bool = False,
               wide: bool = False, row_stationary: bool = False, tile_only: bool = False,
               certify: bool = False, tile: Sequence[int] = (), tile_channels: int = 0, resident: int = 0,
               top_tile: Sequence[int] = (), deadline: Optional[float] = None,
               cancel: Optional[Cancel] = None) -> List[LayerMapping]:
    """Loop nests of layers (None: all), each by itself. With several, one that has none has
    its status in `status`. certify=True has separate code judge the nests of solver best."""
    graph, machine = graph_of(graph), machine_of(machine)
    chosen = list(range(len(graph.layers))) if layers is None else [
        whole(layer, "layers", 0, NO_INDEX)
        for layer in listed(layers, "layers", "a list of indices")]
    n, m = (0, 0) if objective is None else exponents(objective)
    options = struct("sluice_map_options_t", solver=choose(solver, "MAP", "solver"),
                     energy_exponent=n, delay_exponent=m, tile_channels=tile_channels,
                     resident=resident, deadline_ns=nanoseconds(deadline),
                     **flags(bypass=bypass, wide=wide, row_stationary=row_stationary,
                             tile_only=tile_only, certify=certify))
    for name, given in (("tile", tile), ("top_tile", top_tile)):
        values = [whole(value, name, 0, (1 << 31) - 1)
                  for value in listed(given, name, "a list of extents")]
        room = getattr(options, name)
        if len(values) > len(room):
            raise ValueError(f"{name}: {len(values)} values; there are {len(room)} at most")
        for i, value in enumerate(values):
            room[i] = value
    if not chosen:
        return []
    out, why = ffi.new("sluice_layer_mapping_t[]", len(chosen)), diagnostic()
    out[0].struct_size = ffi.sizeof("sluice_layer_mapping_t")
    indices = ffi.new("uint32_t[]", chosen)
    asked = struct("sluice_mapping_list_t", count=len(chosen), layers=indices, mappings=out)
    with interruptible(cancel) as word:
        options.cancel = word
        status = lib.sluice_map_layers(context(), graph._handle, machine._handle, options,
                                       asked, why)
    check(status, why)
    return [LayerMapping(ffi.addressof(out, i), out, machine, tile_only)
            for i in range(len(chosen))]
