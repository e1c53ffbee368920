// SPDX-License-Identifier: Apache-2.0
// Energy and cycles of counts written by hand.
#include "model/layer_cost.h"

#include <doctest/doctest.h>

#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// A buffer and DRAM; partial sums are four times as wide as finished outputs.
struct Costed {
  Machine machine;
  MappingProblem problem = GemmProblem(1, 2, 2, 2, 1);
  AccessCounts counts = {};
  LayerCost cost = {};

  Costed() {
    machine.AddLevel(0, 0.5, 0.25);
    machine.AddLevel(0, 2, 3);
    machine.levels[1].bandwidth = Rational{2, 1};
    machine.hardware.macs_per_cycle = 4;
    machine.hardware.mac_pj = 1.5;
    machine.hardware.leakage_pj_per_cycle = 0.5;
    problem.partial_bytes = 4;
    counts.operations = counts.cycles = 8;
    counts.instances[0] = counts.instances[1] = 1;
    for (int v = 0; v < 2; ++v) {
      counts.reads[0][v] = counts.writes[0][v] = counts.reads[1][v] = 4;
    }
    counts.reads[0][kOutput] = counts.writes[0][kOutput] = 2;
    counts.writes[1][kOutput] = counts.final_writes = 4;
  }
  void Run() {
    machine.Finish();
    CostOfCounts(problem, machine.hardware, counts, &cost);
  }
};

TEST_CASE("layer cost: words cost their bits, finished outputs their own width") {
  Costed c;
  c.Run();
  CHECK(ReadPj(c.machine.levels[0], 4) == 16);
  CHECK(WritePj(c.machine.levels[0], 4) == 8);
  CHECK(c.cost.operations_pj == 12);
  // Inputs and weights: 4 words each, 4 + 2 pJ a word. Partial sums: 2 words of 16 + 8.
  CHECK(c.cost.level_pj[0] == 2 * 4 * 6 + 2 * 24);
  // Inputs and weights: 8 words of 16 pJ. Outputs: 4 words of one byte, 24 pJ each.
  CHECK(c.cost.level_pj[1] == 8 * 16 + 4 * 24);
  CHECK(c.cost.transfer_pj == 0);
  CHECK(c.cost.cycles == 8);
  CHECK(c.cost.compute_cycles == 8);
  CHECK(c.cost.level_cycles[0] == 0);  // no bandwidth given
  CHECK(c.cost.level_cycles[1] == 6);  // 12 bytes
  CHECK(c.cost.leakage_pj == 4);
  CHECK(c.cost.energy_pj == 12 + 96 + 224 + 4);
  CHECK(c.cost.utilization == 0.25);
}

TEST_CASE("layer cost: the slowest of steps, peak and each level's share decides") {
  Costed c;
  c.machine.levels[1].bandwidth = Rational{1, 1};
  c.Run();
  CHECK(c.cost.cycles == 12);
  CHECK(c.cost.leakage_pj == 6);
  c.counts.instances[1] = 5;
  c.Run();
  CHECK(c.cost.level_cycles[1] == 3);  // 12 bytes over 5 instances
  CHECK(c.cost.cycles == 8);
  c.machine.hardware.macs_per_cycle = 0;  // counts as one
  c.counts.cycles = 2;
  c.Run();
  CHECK(PeakOperations(c.problem, c.machine.hardware) == 1);
  CHECK(c.cost.compute_cycles == 8);
  c.problem.vector = true;
  c.machine.hardware.vector_ops_per_cycle = 3;
  c.machine.hardware.vector_op_pj = 7;
  c.Run();
  CHECK(c.cost.compute_cycles == 3);
  CHECK(c.cost.operations_pj == 56);
}

TEST_CASE("layer cost: wires cost what goes through and what neighbours hand on") {
  Costed c;
  c.machine.AddFanout(1, 4, 127);
  c.machine.fanouts[0].transfer_pj_per_bit = 0.25;
  c.machine.fanouts[0].forward_pj_per_bit = 0.125;
  c.counts.transfers[1][kInput] = 4;
  c.counts.forwards[1][kOutput] = 2;
  c.counts.transfers[0][kInput] = 1000;  // through no fanout
  c.Run();
  CHECK(c.cost.transfer_pj == 4 * 2 + 2 * 4);
  CHECK(c.cost.energy_pj == 336 + 16);
}

TEST_CASE("layer cost: a nest is checked, counted and costed") {
  Costed c;
  c.machine.Finish();
  Scratch scratch;
  LoopNest nest = EmptyNest(c.machine.hardware, c.problem);
  CHECK(EvaluateNest(c.problem, c.machine.hardware, nest, CostOptions{}, &c.cost,
                     &scratch.diagnostic) == Status::kBadInput);
  for (const uint32_t d : {kDimP, kDimK, kDimC}) nest.temporal[0][d] = 2;
  REQUIRE(EvaluateNest(c.problem, c.machine.hardware, nest, CostOptions{}, &c.cost,
                       &scratch.diagnostic) == Status::kOk);
  // Every word crosses the border of DRAM once: 8 bytes in, 4 out.
  CHECK(c.cost.level_pj[1] == 8 * 16 + 4 * 24);
  CHECK(c.cost.cycles == 8);
  CostOptions resident;
  resident.resident = OperandBit(kInput);
  REQUIRE(EvaluateNest(c.problem, c.machine.hardware, nest, resident, &c.cost,
                       &scratch.diagnostic) == Status::kOk);
  CHECK(c.cost.level_pj[1] == 4 * 16 + 4 * 24);
}

}  // namespace
}  // namespace sluice
