// SPDX-License-Identifier: Apache-2.0
#include "model/program.h"

#include <doctest/doctest.h>

#include "support/read_graph.h"

namespace sluice {
namespace {

BufferBox Buffer(uint32_t begin, uint32_t end) {
  const int32_t extent[kAxes] = {1, 1, 1, static_cast<int32_t>(end - begin)};
  return DenseBuffer(BufferRange{begin, end}, extent, SLUICE_DTYPE_INT8, 1);
}

TEST_CASE("program: cycles are those of engines that wait and run in order") {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  sluice_test::Nouns n(g);
  n.hardware.dma_latency_cycles = 3;
  Span<MemoryLevel> levels(const_cast<MemoryLevel*>(n.hardware.levels.data()),
                           n.hardware.levels.size());
  levels[levels.size() - 1].bandwidth = Rational{2, 1};
  Program p(&n.arena, n.hardware);
  Transfer t = {};
  t.role = SLUICE_ROLE_INPUT;
  t.buffer = Buffer(0, 5);  // 3 + ceil(5 / 2) = 6 cycles
  REQUIRE(p.AddTransfer(StepKind::kLoad, 0, t) == Status::kOk);
  TileStep tile = {};
  tile.present[kRoleInput0] = tile.present[kRoleOutput] = true;
  tile.operand[kRoleInput0] = Buffer(0, 5);
  tile.operand[kRoleOutput] = Buffer(8, 12);
  tile.cycles = 10;
  REQUIRE(p.AddTile(0, tile) == Status::kOk);
  Transfer s = {};
  s.role = SLUICE_ROLE_OUTPUT;
  s.buffer = Buffer(8, 12);  // 5 cycles
  REQUIRE(p.AddTransfer(StepKind::kStore, 0, s) == Status::kOk);
  ProgramWaits w(&n.arena);
  REQUIRE(DeriveWaits({n.graph, n.hardware, p}, {}, &n.arena, &w) == Status::kOk);
  CHECK(w.waits.size() == 2);
  int64_t cycles = 0;
  REQUIRE(PredictCycles({n.graph, n.hardware, p}, w, &n.arena, &cycles) == Status::kOk);
  CHECK(cycles == 6 + 10 + 5);
}

}  // namespace
}  // namespace sluice
