# SPDX-License-Identifier: Apache-2.0
"""Replacement, footprints, families, tokens and resolved schedules: against the numbers of the
C tests, plain counting, and the simulator."""
import itertools
import random

import pytest

import sluice
from sluice import Operator, OperatorGraph, TimedTile, TimedTransfer, TokenChannel

# As in tests/api/place_test.cc: an input read by two operators in a chain of three.
CHAIN = OperatorGraph([10, 20, 30, 10],
                      [Operator([0], [1]), Operator([1], [2]), Operator([0, 2], [3])],
                      inputs=[0], outputs=[3])


def test_a_replacement_is_that_of_c():
    roomy = sluice.replace(CHAIN, 60)
    assert roomy.proved and roomy.spill_bytes + roomy.retrieve_bytes == 0
    tight = sluice.replace(CHAIN, 50)
    assert (tight.largest_operator_bytes, tight.retrieve_bytes, tight.spill_bytes) == (50, 10, 0)
    assert tight.order == [0, 1, 2] and tight.peak_bytes <= 50
    assert [stay.tensor for stay in tight.residences if stay.retrieved] == [0]
    assert all(stay.offset + CHAIN.tensor_bytes[stay.tensor] <= 50 for stay in tight.residences)
    assert sluice.replace(CHAIN, 50, charge="paper", keep_order=True).spill_bytes == 10
    assert sluice.replace(CHAIN, 50, order=[0, 1, 2]).order == [0, 1, 2]
    with pytest.raises(sluice.Infeasible) as why:
        sluice.replace(CHAIN, 49)
    assert why.value.diagnostic.required_bytes == 50
    with pytest.raises(sluice.BadInput, match="operator 0 is on a cycle"):
        sluice.replace(OperatorGraph(CHAIN.tensor_bytes, CHAIN.operators, [0], [3], [(2, 0)]), 60)


def test_what_may_run_again_or_in_place_costs_less():
    """Tensor 1 is read first and last; in between 2 to 4 fill the scratchpad."""
    def chain(again, in_place=None):
        return OperatorGraph(
            [1, 50, 50, 50, 50, 1],
            [Operator([0], [1], again_bytes=again), Operator([1], [2]),
             Operator([2], [3], in_place), Operator([3], [4]), Operator([1, 4], [5])],
            inputs=[0], outputs=[5])

    moved = sluice.replace(chain(None), 130)
    assert (moved.spill_bytes, moved.retrieve_bytes, moved.again_bytes) == (50, 50, 0)
    again = sluice.replace(chain(7), 130)
    assert again.again_bytes == 7 and again.order.count(0) == 2
    assert again.spill_bytes + again.retrieve_bytes + 7 < 100
    place = sluice.replace(chain(None, in_place=0), 130)
    assert any(stay.takes_over is not None for stay in place.residences)


def test_a_network_s_replacement_is_what_operator_plans_move(graph):
    """Plans of whole tensors move constants, inputs and outputs besides."""
    capacity = 40000
    plan = sluice.schedule(graph, "mcu-256k", granularity="operator", scratchpad_bytes=capacity)
    found = sluice.replace(graph, capacity)
    assert found.proved and found.spill_bytes == plan.report.spill_bytes
    assert found.lower_bound_bytes == found.spill_bytes + found.retrieve_bytes
    with pytest.raises(sluice.Infeasible):
        sluice.replace(graph, 1000)


def _peak(graph, order):
    live, peak = set(graph.inputs), 0
    left = [sum(t in op.inputs for op in graph.operators) for t in range(len(graph.tensor_bytes))]
    for step in order:
        operator = graph.operators[step]
        live.update(operator.outputs)
        peak = max(peak, sum(graph.tensor_bytes[t] for t in live))
        for t in operator.inputs:
            left[t] -= 1
        live -= {t for t in live if left[t] == 0}  # outputs go to DRAM
    return peak


def test_a_footprint_is_the_least_of_all_orders():
    """Of chains and trees, counted order by order. Only the first operator reads an input."""
    rng = random.Random(4)
    for _ in range(60):
        count = rng.randint(2, 6)
        operators = [Operator([0], [1])]
        for i in range(1, count):
            reads = rng.sample(range(1, i + 1), rng.randint(1, min(2, i)))
            operators.append(Operator(reads, [i + 1]))
        used = {t for op in operators for t in op.inputs}
        graph = OperatorGraph([rng.randint(1, 40) for _ in range(count + 1)], operators, [0],
                              [t for t in range(1, count + 1) if t not in used])
        legal = [order for order in itertools.permutations(range(count))
                 if all(order.index(t - 1) < order.index(i) for i, op in enumerate(operators)
                        for t in op.inputs if t > 0)]
        found = sluice.minimum_footprint(graph)
        assert found.proved and tuple(found.order) in legal
        assert found.peak_bytes == _peak(graph, found.order)
        assert found.peak_bytes == min(_peak(graph, order) for order in legal)


def test_a_family_s_plans_are_made_for_their_tops():
    def of(batch):
        return sluice.Graph.zoo("mlp_l", batch=batch)

    found = sluice.family(of, "soma-edge", 1, 8, tops=[2, 4, 8], solver="baseline")
    assert [top for top, _ in found.buckets] == [2, 4, 8]
    for top, plan in found.buckets:
        plan.verify()
        assert plan.graph.hash == of(top).hash == plan.hashes["made_for_graph"]
        alone = sluice.schedule(of(top), "soma-edge", solver="baseline").report
        assert plan.report.latency_cycles <= 1.01 * alone.latency_cycles
    for value, top in zip(range(1, 9), [2, 2, 4, 4, 8, 8, 8, 8]):
        plan, of_top = found.select(value)
        assert of_top == top and plan is dict(found.buckets)[top]
    for value in (0, 9):
        with pytest.raises(ValueError, match=f"value: {value} is outside the range 1 to 8"):
            found.select(value)
    chosen = sluice.family(of, "soma-edge", 1, 8, most=3, solver="baseline")
    assert 1 <= len(chosen.buckets) <= 3 and chosen.buckets[-1][0] == 8


def test_a_family_s_wrong_values_are_named():
    def fails(value):
        raise KeyError(f"no graph of {value}")

    with pytest.raises(KeyError, match="no graph of"):
        sluice.family(fails, "soma-edge", 1, 8)
    with pytest.raises(TypeError, match="graph: what the function gives: 3 is an int; a "
                                        "sluice.Graph would be right"):
        sluice.family(lambda value: 3, "soma-edge", 1, 8)
    for tops in ([2, 2, 8], [8, 2], [2, 4], []):
        with pytest.raises(ValueError, match="tops: .* for 1 to 8; values that ascend"):
            sluice.family(fails, "soma-edge", 1, 8, tops=tops)


BOTH = [TokenChannel(0, 2), TokenChannel(2, 0)]  # the queue and the compute engine of mcu-256k


def test_tokens_balance_and_their_depths_are_the_least(plan):
    found = sluice.tokens(plan, BOTH)
    assert found.relays == [] and len(found.visits) >= 1
    for c, use in enumerate(found.channels):
        pushed, popped = (sum(int(step) >> c & 1 for step in steps)
                          for steps in (found.pushes, found.pops))
        assert pushed == popped == use.tokens > 0
        assert 1 <= use.least_depth <= use.outstanding
    depth = found.common_depth
    assert depth >= max(use.least_depth for use in found.channels)
    sluice.tokens(plan, [TokenChannel(c.producer, c.consumer, depth) for c in BOTH])
    assert depth > 1
    with pytest.raises(sluice.Infeasible, match=f"has depth 1 and needs {depth}") as why:
        sluice.tokens(plan.stream, [TokenChannel(c.producer, c.consumer, 1) for c in BOTH])
    assert why.value.diagnostic.rule == "depth"
    with pytest.raises(sluice.Infeasible, match="no channels lead there") as why:
        sluice.tokens(plan)
    assert why.value.diagnostic.rule == "path"


def test_a_run_in_the_simulator_never_pops_what_was_not_pushed(plan):
    """The simulator knows waits alone: in its run each pop finds a token that was pushed before,
    and no channel holds more than `outstanding`."""
    found, events = sluice.tokens(plan, BOTH), plan.events
    assert len(events) == len(found.pops)
    sizes = events.groupby("visit").size().sort_index()
    assert len(sizes) == len(found.visits)
    before = sizes.cumsum() - sizes
    for c, use in enumerate(found.channels):
        steps = []  # at equal times tokens come before they go
        for event in events.itertuples():
            number = int(before[event.visit]) + event.instruction
            if int(found.pushes[number]) >> c & 1:
                steps.append((event.end, 0, 1))
            if int(found.pops[number]) >> c & 1:
                steps.append((event.start, 1, -1))
        tokens = list(itertools.accumulate(change for _, _, change in sorted(steps)))
        assert min(tokens) >= 0 and tokens[-1] == 0 and max(tokens) <= use.outstanding


def test_channels_that_lead_alike_are_refused(plan):
    with pytest.raises(sluice.BadArgument, match="channel 1 leads where another one leads"):
        sluice.tokens(plan, [TokenChannel(0, 2), TokenChannel(0, 2, 4)])


def test_a_resolved_schedule_costs_what_c_says():
    """The numbers of tests/api/evaluate_test.cc: two tiles, a load for each, a store."""
    tiles = [TimedTile(10, 1.5, 4, 2), TimedTile(10, 2.5, 0, 2, store=2)]
    transfers = [TimedTransfer(8, "input", 0, -1, 1), TimedTransfer(8, "input", 1, 0, 2),
                 TimedTransfer(4, "store", 1, 1, 2)]

    def cost(transfers=transfers, buffer_bytes=20):
        return sluice.evaluate_timed(tiles, transfers, buffer_bytes=buffer_bytes,
                                     bytes_per_cycle=2, latency_cycles=1, dram_pj_per_byte=10)

    found = cost()
    assert found["latency_cycles"] == 5 + 10 + 10 + 3 and found["energy_pj"] == 4.0 + 10 * 20
    assert found["tile_begin"][1] == 15 and list(found["buffer_profile"][1:]) == [20, 16]
    with pytest.raises(sluice.Rejected) as why:
        cost(buffer_bytes=19)
    assert why.value.diagnostic.rule == "buffer"
    with pytest.raises(sluice.BadArgument):
        cost([transfers[0], TimedTransfer(8, "input", 1, 2, 2), transfers[2]])
    with pytest.raises(ValueError, match=r"transfers\[0\].kind: 'load' is none of input, store, weight"):
        cost([TimedTransfer(8, "load", 0, -1, 1)])
    with pytest.raises(TypeError, match=r"tiles\[0\]: 3 is an int; sluice.TimedTile\(cycles\)"):
        sluice.evaluate_timed([3], [], buffer_bytes=1, bytes_per_cycle=1)


def test_wrong_lists_are_named():
    with pytest.raises(TypeError, match=r"what.operators\[1\]: 5 is an int; sluice.Operator"):
        sluice.replace(OperatorGraph([1, 1], [Operator([0], [1]), 5]), 9)
    with pytest.raises(ValueError, match=r"what.operators\[0\].inputs: 7 is out of range, 0 to 1"):
        sluice.replace(OperatorGraph([1, 1], [Operator([7], [1])]), 9)
    with pytest.raises(ValueError, match="order: 1 values instead of 3"):
        sluice.replace(CHAIN, 60, order=[0])
    with pytest.raises(ValueError, match="charge: 'free' is none of host, paper"):
        sluice.replace(CHAIN, 60, charge="free")
    with pytest.raises(TypeError, match="operators: 3 is an int; a sluice.OperatorGraph"):
        sluice.minimum_footprint(3)
    with pytest.raises(TypeError, match=r"channels\[0\]: \(0, 2\) is a tuple"):
        sluice.tokens(b"", [(0, 2)])
    with pytest.raises(TypeError, match="stream: 3 is an int; a sluice.Plan, or plan.stream"):
        sluice.tokens(3)
    with pytest.raises(sluice.BadInput):
        sluice.tokens(b"no stream", BOTH)
