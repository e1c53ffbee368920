// SPDX-License-Identifier: Apache-2.0
// What hand-made programs cost.
#include "model/report.h"

#include <doctest/doctest.h>

#include "support/read_graph.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

// `elements` of one byte, or sums of four, from `begin` on.
BufferBox Buffer(uint32_t begin, int32_t elements, uint8_t dtype = SLUICE_DTYPE_INT8) {
  const int32_t extent[kAxes] = {1, 1, 1, elements};
  const uint32_t bytes = DtypeBytes(dtype);
  const uint32_t end = begin + bytes * static_cast<uint32_t>(elements);
  return DenseBuffer(BufferRange{begin, end}, extent, dtype, bytes);
}

Transfer Move(const BufferBox& box) {
  Transfer t = {};
  t.role = SLUICE_ROLE_INPUT;
  t.buffer = box;
  return t;
}

TileStep Tile() {
  TileStep t = {};
  t.present[kRoleInput0] = t.present[kRoleOutput] = true;
  t.operand[kRoleInput0] = Buffer(0, 8);
  t.operand[kRoleOutput] = Buffer(16, 4);
  t.first = t.last = true;
  t.cycles = 1;
  t.macs = 6;
  t.vector_ops = 4;
  return t;
}

// Energy per bit, read and written: scratchpad 0.5 and 0.25 pJ, DRAM 1 and 2 pJ.
struct Costed {
  Machine machine;
  Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena{&memory};
  sluice_report_t report = {};
  const Tensor tensor = {};  // what the transfers move: has no stored size of its own
  Graph graph = {};
  Costed() {
    graph.tensors = Span<const Tensor>(&tensor, 1);
    machine.AddLevel(4096, 0.5, 0.25);
    machine.AddLevel(0, 1, 2);
    machine.levels[1].bandwidth = Rational{4, 1};
    machine.hardware.macs_per_cycle = 8;
    machine.hardware.vector_ops_per_cycle = 2;
    machine.hardware.mac_pj = 2;
    machine.hardware.vector_op_pj = 1;
    machine.hardware.leakage_pj_per_cycle = 3;
    machine.hardware.hop_pj_per_bit = 0.125;
    machine.Finish();
  }
  void Fill(const Program& program, int64_t cycles) {
    REQUIRE(FillCosts({graph, machine.hardware, program}, cycles, memory, &report) ==
            Status::kOk);
  }
};

// A load of 8 bytes, a tile with 4 bytes of output at 16; the store in a second block.
void LoadTileStore(Program* p, uint32_t region = SLUICE_REGION_OUTPUT) {
  REQUIRE(p->BeginBlock() == Status::kOk);
  REQUIRE(p->AddTransfer(StepKind::kLoad, 0, Move(Buffer(0, 8))) == Status::kOk);
  REQUIRE(p->AddTile(0, Tile()) == Status::kOk);
  REQUIRE(p->BeginBlock() == Status::kOk);
  Transfer store = Move(Buffer(16, 4));
  store.dram.region = region;
  REQUIRE(p->AddTransfer(StepKind::kStore, 0, store) == Status::kOk);
}

TEST_CASE("report: bytes, work and energy of a load, a tile and a store") {
  Costed c;
  Program p(&c.arena, c.machine.hardware);
  LoadTileStore(&p);
  c.Fill(p, 21);
  CHECK(c.report.latency_cycles == 21);
  CHECK(c.report.dram_read_bytes == 8);
  CHECK(c.report.dram_write_bytes == 4);
  CHECK(c.report.peak_buffer_bytes == 20);
  CHECK(c.report.macs == 6);
  CHECK(c.report.vector_ops == 4);
  CHECK(c.report.energy_dram_pj == 8 * 8 * 1 + 4 * 8 * 2);
  // Read by the tile (8) and the store (4), written by the load (8) and the tile (4).
  CHECK(c.report.energy_scratchpad_pj == 12 * 8 * 0.5 + 12 * 8 * 0.25);
  CHECK(c.report.energy_compute_pj == 6 * 2 + 4 * 1);
  CHECK(c.report.energy_leakage_pj == 21 * 3);
  CHECK(c.report.energy_noc_pj == 0);
  CHECK(c.report.energy_pj == 128 + 72 + 16 + 63);
}

TEST_CASE("report: sums are written until the last tile, read from the second on") {
  Costed c;
  Program p(&c.arena, c.machine.hardware);
  TileStep t = Tile();
  t.present[kRoleOutput] = t.present[kRoleInput0] = false;
  t.has_accumulator = true;
  t.accumulator = Buffer(32, 4, SLUICE_DTYPE_INT32);
  t.last = false;
  REQUIRE(p.AddTile(0, t) == Status::kOk);
  c.Fill(p, 0);
  CHECK(c.report.energy_scratchpad_pj == 16 * 8 * 0.25);
  CHECK(c.report.peak_buffer_bytes == 48);
  t.first = false;
  t.last = true;
  REQUIRE(p.AddTile(0, t) == Status::kOk);
  c.Fill(p, 0);
  CHECK(c.report.energy_scratchpad_pj == 16 * 8 * 0.25 + 16 * 8 * 0.5);
}

TEST_CASE("report: a tile that declares its energy is not counted by bytes and work") {
  Costed c;
  Program p(&c.arena, c.machine.hardware);
  TileStep t = Tile();
  t.energy_pj = 50;
  t.scratchpad_pj = 20;
  REQUIRE(p.AddTile(0, t) == Status::kOk);
  c.Fill(p, 0);
  CHECK(c.report.energy_scratchpad_pj == 20);
  CHECK(c.report.energy_compute_pj == 30);
  CHECK(c.report.macs == 6);
  CHECK(c.report.peak_buffer_bytes == 20);
}

TEST_CASE("report: on a mesh each link that bytes cross, from the nearest corner") {
  Costed c;
  c.machine.hardware.node_cols = c.machine.hardware.node_rows = 3;
  Program p(&c.arena, c.machine.hardware);
  Transfer load = Move(Buffer(0, 8));
  load.to = NodeRect{4, 1, 1};  // the middle: two links from any corner
  REQUIRE(p.AddTransfer(StepKind::kLoad, 0, load) == Status::kOk);
  c.Fill(p, 0);
  CHECK(c.report.energy_noc_pj == 8 * 2 * 8 * 0.125);
  CHECK(c.report.energy_scratchpad_pj == 8 * 8 * 0.25);
  load.to = NodeRect{4, 2, 2};  // it reaches a corner: three links to the other nodes
  REQUIRE(p.AddTransfer(StepKind::kLoad, 0, load) == Status::kOk);
  c.Fill(p, 0);
  CHECK(c.report.dram_read_bytes == 16);
  CHECK(c.report.energy_noc_pj == 8 * (2 + 3) * 8 * 0.125);
  CHECK(c.report.energy_scratchpad_pj == (1 + 4) * 8 * 8 * 0.25);
  Transfer forward = Move(Buffer(0, 4));
  forward.landing = Buffer(100, 4);
  forward.to = NodeRect{8, 1, 1};
  REQUIRE(p.AddTransfer(StepKind::kForward, 0, forward) == Status::kOk);
  c.Fill(p, 0);
  CHECK(c.report.dram_read_bytes == 16);
  CHECK(c.report.energy_noc_pj == (8 * 5 + 4 * 4) * 8 * 0.125);
  CHECK(c.report.peak_buffer_bytes == 104);
}

TEST_CASE("report: blocks cost their own steps and the cycles they add") {
  Costed c;
  Program p(&c.arena, c.machine.hardware);
  LoadTileStore(&p);
  const int64_t cycles[2] = {10, 21};
  BlockCost costs[2] = {};
  REQUIRE(FillBlockCosts({c.graph, c.machine.hardware, p},
                         Span<const int64_t>(cycles, 2), c.memory,
                         Span<BlockCost>(costs, 2)) == Status::kOk);
  CHECK(costs[0].steps == 2);
  CHECK(costs[0].cycles == 10);
  CHECK(costs[0].energy_pj == 64 + (8 * 8 * 0.5 + 12 * 8 * 0.25) + 16 + 30);
  CHECK(costs[1].steps == 1);
  CHECK(costs[1].cycles == 11);
  CHECK(costs[1].energy_pj == 64 + 4 * 8 * 0.5 + 33);
}

TEST_CASE("report: layers, work, bytes of intermediate tensors, and the given bounds") {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 0});
  g.tensors.push_back({{4}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  g.layers.push_back({SLUICE_OP_RESHAPE, {1}, {2}, {}});
  sluice_test::Nouns n(g);
  Costed c;
  Program p(&c.arena, c.machine.hardware);
  LoadTileStore(&p, SLUICE_REGION_WORKSPACE);
  PlanBound bound = {};
  bound.cycles = 2;
  bound.energy_pj = 7;
  REQUIRE(FillReport({n.graph, c.machine.hardware, p}, 21, bound, &c.arena,
                     &c.report) == Status::kOk);
  CHECK(c.report.latency_cycles == 21);
  CHECK(c.report.layers == 1);
  CHECK(c.report.tiles == 1);
  CHECK(c.report.instructions == 3);
  CHECK(c.report.spill_bytes == 4);
  CHECK(c.report.spill_bytes == c.report.dram_write_bytes);
  CHECK(c.report.bound_latency_cycles == 2);
  CHECK(c.report.bound_energy_pj == 7);
  Program stores(&c.arena, c.machine.hardware);
  LoadTileStore(&stores);
  REQUIRE(FillReport({n.graph, c.machine.hardware, stores}, 21, bound, &c.arena,
                     &c.report) == Status::kOk);
  CHECK(c.report.dram_write_bytes == 4);
  CHECK(c.report.spill_bytes == 0);
}

}  // namespace
}  // namespace sluice
