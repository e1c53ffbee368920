# SPDX-License-Identifier: Apache-2.0
"""Plans on disk, with hashes of their inputs as keys: the cache of drivers and delegates
(bindings/cache), which processes may share."""
from __future__ import annotations

import os
import struct as packing
from typing import TYPE_CHECKING, Any, Optional

from ._library import expect, ffi, lib, path_of, unfit
from .errors import SluiceError
from .graph import Graph, Path
from .machine import Machine

if TYPE_CHECKING:
    from .plan import Plan

_FIRST_HASH = 0xCBF29CE484222325


class PlanCache:
    """A folder with a file for each plan. A plan is verified before it is returned."""

    def __init__(self, folder: Path) -> None:
        self.folder = path_of(folder, "folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._folder = os.fsencode(str(self.folder))
        self.hits = self.misses = 0

    def key_of(self, graph: Graph, machine: Machine, options: Any) -> Optional[Any]:
        """The key of a call of schedule; None: it has tile costs, a deadline or an earlier
        plan. options: sluice.planning.Options(solver="baseline", ...)."""
        expect(graph, Graph, "graph", "a sluice.Graph")
        expect(machine, Machine, "machine", "a sluice.Machine")
        if not hasattr(options, "key"):
            unfit(options, "options", "sluice.planning.Options(solver=..., ...)")
        if options.key is None:
            return None
        raw = packing.pack(f"<{len(options.key)}Q", *options.key)
        return ffi.new("plan_cache_key_t*", {
            "graph": graph.hash, "hardware": machine.hash,
            "options": lib.plan_cache_hash(_FIRST_HASH, raw, len(raw))})

    def get(self, key: Any, graph: Graph, machine: Machine) -> Optional["Plan"]:
        """The verified plan of a key; None: there is no valid one."""
        from .plan import Plan

        expect(key, ffi.CData, "key", "what key_of gives")
        expect(graph, Graph, "graph", "a sluice.Graph")
        expect(machine, Machine, "machine", "a sluice.Machine")
        out, size = ffi.new("void**"), ffi.new("size_t*")
        if not lib.plan_cache_get(self._folder, key, out, size):
            self.misses += 1
            return None
        held = ffi.new("sluice_bytes_t*", {"data": out[0], "size": size[0]})
        data = bytes(ffi.buffer(out[0], size[0]))
        lib.sluice_bytes_release(ffi.NULL, held)
        try:
            plan = Plan(data, graph, machine)
            plan.verify()
        except SluiceError:
            self.misses += 1
            return None
        self.hits += 1
        return plan

    def put(self, key: Any, plan: "Plan") -> bool:
        """Stores a plan; False: it could not be written."""
        from .plan import Plan

        expect(key, ffi.CData, "key", "what key_of gives")
        expect(plan, Plan, "plan", "a sluice.Plan")
        data = plan.to_bytes()
        return bool(lib.plan_cache_put(self._folder, key, data, len(data)))
