# SPDX-License-Identifier: Apache-2.0
"""sluice: plans a quantised network on an accelerator.

    import sluice
    graph = sluice.Graph.load("model.tflite")
    plan = sluice.schedule(graph, "mcu-256k")
    print(plan.report.latency_cycles, plan.layers)

The reference of what lies below is include/sluice; the names are the same.
"""
from ._library import Cancel, enum, lib, text
from ._running import PoolExecutor
from .builder import GraphBuilder, attribute_names
from .cache import PlanCache
from .errors import (BadArgument, BadInput, Diagnostic, Infeasible, InternalError, OutOfMemory,
                     Rejected, SluiceError, Stopped, Unsupported)
from .family import Family, family
from .graph import Graph, ImportReport, Layer, Parameter, Port, Tensor, reads, zoo_names
from .grid import Point
from .machine import Engine, Machine, MachineFacts, presets
from .mapping import LayerMapping, map_gemm, map_layers
from .mesh import SegmentSchedule, segments
from .placement import Buffer, Placement, place
from .plan import Certificate, LayerLeast, Plan, Report, TensorPlace
from .planning import Change, CurvePoint, curve, evaluate, memory_bound, reschedule, schedule
from .replacement import (Footprint, Operator, OperatorGraph, Replacement, Residence,
                          minimum_footprint, replace)
from .simulate import Simulation, reference, simulate
from .sweep import Sweep, area_of, sweep
from .timed import TimedTile, TimedTransfer, evaluate_timed
from .together import Cohort, Member, coschedule, verify_together
from .tokens import TokenChannel, TokenRelay, TokenUse, Tokens, tokens

__version__: str = text(lib.sluice_version())


def components() -> "frozenset[str]":
    """Parts of the library that this build has: "mesh", "mappers", ..."""
    bits = lib.sluice_components()
    return frozenset(name for name, bit in enum("COMPONENT").items() if bits & bit)


__all__ = [
    "BadArgument", "BadInput", "Buffer", "Cancel", "Certificate", "Change", "Cohort",
    "CurvePoint", "Diagnostic", "Engine", "Family", "Footprint", "Graph", "GraphBuilder",
    "ImportReport", "Infeasible", "InternalError", "Layer", "LayerLeast", "LayerMapping",
    "Machine", "MachineFacts", "Member", "Operator", "OperatorGraph", "OutOfMemory",
    "Parameter", "Placement", "Plan", "PlanCache", "Point", "PoolExecutor", "Port",
    "Rejected", "Replacement", "Report", "Residence", "SegmentSchedule", "Simulation",
    "SluiceError", "Stopped", "Sweep", "Tensor", "TensorPlace", "TimedTile",
    "TimedTransfer", "TokenChannel", "TokenRelay", "TokenUse", "Tokens", "Unsupported",
    "area_of", "attribute_names", "components", "coschedule", "curve", "evaluate",
    "evaluate_timed", "family", "map_gemm", "map_layers", "memory_bound",
    "minimum_footprint", "place", "presets", "reads", "reference", "replace", "reschedule",
    "schedule", "segments", "simulate", "sweep", "tokens", "verify_together", "zoo_names",
    "__version__"]
