# SPDX-License-Identifier: Apache-2.0
import numpy
import pytest

import sluice


def test_buffers_are_placed_or_the_conflict_named():
    buffers = [sluice.Buffer(0, 2, 64), sluice.Buffer(1, 3, 64), sluice.Buffer(2, 4, 64)]
    found = sluice.place(buffers, 128)
    assert found.feasible and found.peak_bytes == 128
    assert isinstance(found.offsets, numpy.ndarray) and found.offsets[0] != found.offsets[1]
    tight = sluice.place(buffers, 100)
    assert not tight.feasible and len(tight.conflict) == 2
    assert sluice.place(buffers, 1000, smallest=True).proved


def test_fixed_offsets_gaps_and_reserved_bytes_hold():
    fixed = sluice.Buffer(0, 4, 32, offset=32)
    gap = sluice.Buffer(0, 4, 64, gaps=((1, 2, 0, 16),))
    found = sluice.place([fixed, gap, sluice.Buffer(0, 4, 8, alignment=16)], 256,
                         reserved=[(0, 4, 0, 16)])
    assert found.offsets[0] == 32 and found.offsets[2] % 16 == 0 and found.offsets.min() >= 16


def test_a_gemm_is_mapped_with_a_proof():
    found = sluice.map_gemm("eyeriss-like", 256, 256, 256, certify=True, at_most=True)
    assert found["proved"] and found["certificate"] == 1 and found["macs"] == 256**3


def test_layers_are_mapped(graph):
    found = sluice.map_layers(graph, "kapla-edge", [0, 3])
    assert [m.layer for m in found] == [0, 3] and found[0].cycles > 0
    assert "tensor" in found[0].directives and found[0].to_dict()["energy_pj"] > 0


def test_layers_are_dealt_to_a_mesh():
    found = sluice.segments(sluice.Graph.zoo("alexnet"), "kapla-4x4", max_prices=20)
    assert found.objective > 0 and len(found.segments) and len(found.layers)
    assert found.cost["energy_pj"] > 0 and "tensor" in found.directives
    assert set(found.segments.kind) <= {"single", "spatial", "temporal"}
    assert list(found.layers.name[:2]) == ["conv1_a", "pool1_a"] and found.layers.op[0] == "conv"
    assert found.layers.producer.min() == -1
    said = repr(found)
    assert len(said) < 300 and "\n" not in said
    assert f"{len(found.segments)} segments" in said and f"{found.cost['cycles']} cycles" in said


def test_models_share_a_machine(graph):
    both = sluice.coschedule([graph, graph], "mcu-256k", points=3, max_iterations=10)
    assert len(both.members) == 2 and both.total_cycles >= both.members[0].finish_cycles
    assert both.turns.cycles.sum() == both.total_cycles
    both.members[0].plan.report
    assert len(repr(both)) < 200 and f"{both.total_cycles} cycles" in repr(both)
    sluice.verify_together([graph, graph], both, "mcu-256k")
    with pytest.raises(ValueError, match="graphs: 1 values instead of 2"):
        sluice.verify_together([graph], both, "mcu-256k")


def test_a_plan_is_plotted(plan):
    pytest.importorskip("matplotlib")
    assert plan.plot().get_title().startswith("mcu-256k")
