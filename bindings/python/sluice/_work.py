# SPDX-License-Identifier: Apache-2.0
"""What a worker of a sweep does: plans points, and says what each costs."""
from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from .errors import Infeasible
from .graph import Graph
from .machine import Machine
from .planning import schedule

# (key, hash of the graph, bytes of the machine, options of schedule)
Task = Tuple[str, str, bytes, Mapping[str, Any]]

_COSTS = ("latency_cycles", "energy_pj", "edp", "energy_dram_pj", "energy_scratchpad_pj",
          "energy_compute_pj", "energy_leakage_pj", "energy_noc_pj", "energy_host_pj",
          "dram_read_bytes", "dram_write_bytes", "spill_bytes", "peak_buffer_bytes",
          "bound_latency_cycles", "bound_energy_pj", "gap", "groups", "tiles")
RESULTS = ("status", *_COSTS[:1], "latency_s", *_COSTS[1:], "utilisation",
           "smallest_scratchpad_bytes", "message", "plan_seconds")

_graphs: "OrderedDict[str, Graph]" = OrderedDict()  # of this process, the last few
_KEPT = 4


def _graph(key: str, data: bytes) -> Graph:
    found = _graphs.pop(key, None) or Graph(data)
    _graphs[key] = found
    while len(_graphs) > _KEPT:
        _graphs.popitem(last=False)
    return found


def _plan(graph: Graph, machine: Machine, options: Mapping[str, Any]) -> Dict[str, Any]:
    begin = time.thread_time()
    asked: Dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v
                             for k, v in options.items()}
    report = schedule(graph, machine, **asked).report
    row: Dict[str, Any] = {"status": "ok"}
    row.update((name, getattr(report, name)) for name in _COSTS)
    row["latency_s"] = report.latency_cycles / machine.clock_hz if machine.clock_hz else None
    busy = report.latency_cycles * machine.macs_per_cycle
    row["utilisation"] = report.macs / busy if busy else None
    row["plan_seconds"] = time.thread_time() - begin
    return row


def plan_points(graphs: Mapping[str, bytes], tasks: Sequence[Task]) -> List[Dict[str, Any]]:
    """A result for each task, in their order. A point without a plan is a result too."""
    found = []
    for _key, graph, machine, options in tasks:
        begin = time.thread_time()
        try:
            row = _plan(_graph(graph, graphs[graph]), Machine(machine), options)
        except Infeasible as why:
            row = {"status": "infeasible", "message": str(why), "smallest_scratchpad_bytes":
                   why.diagnostic.smallest_scratchpad_bytes or None,
                   "plan_seconds": time.thread_time() - begin}
        except Exception as why:  # another worker would fail as this one does
            row = {"status": "failed", "message": f"{type(why).__name__}: {why}",
                   "plan_seconds": time.thread_time() - begin}
        found.append({name: row.get(name) for name in RESULTS})
    return found
