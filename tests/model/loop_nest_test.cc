// SPDX-License-Identifier: Apache-2.0
#include "model/loop_nest.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

// A GEMM of 4 rows x 6 columns with sums over 5. Level 0: two units side by side along
// K, each computes the whole sums of 2 rows. Level 1: 3 steps along K, 2 along rows.
struct Nested {
  Machine machine;
  MappingProblem problem = GemmProblem(1, 4, 6, 5, 1);
  LoopNest nest;
  Scratch scratch;

  Nested() {
    machine.AddLevel(0, 1, 1);
    machine.AddLevel(0, 1, 1);
    machine.AddFanout(0, 4, DimBit(kDimK));
    machine.Finish();
    nest = EmptyNest(machine.hardware, problem);
    nest.spatial[0][0][kDimK] = 2;
    nest.temporal[0][kDimC] = 5;
    nest.temporal[0][kDimP] = 2;
    nest.temporal[1][kDimK] = 3;
    nest.temporal[1][kDimP] = 2;
  }
  Status Check() {
    machine.Finish();
    return CheckNest(problem, machine.hardware, nest, 0, &scratch.diagnostic);
  }
};

TEST_CASE("loop nest: an empty one has factors of 1 and holds what the levels may") {
  Machine m;
  m.AddLevel(0, 1, 1);
  m.AddLevel(0, 1, 1);
  m.levels[0].may_hold = 6;
  m.levels[1].may_hold = 1;
  m.Finish();
  MappingProblem problem = GemmProblem(1, 4, 6, 5, 1);
  problem.operands = OperandBit(kInput) | OperandBit(kOutput);
  const LoopNest nest = EmptyNest(m.hardware, problem);
  CHECK(nest.levels == 2);
  CHECK(nest.hold[0] == OperandBit(kOutput));
  CHECK(nest.hold[1] == problem.operands);  // the outermost level holds all
  for (uint32_t d = 0; d < kDims; ++d) {
    CHECK(nest.temporal[1][d] == 1);
    CHECK(SpatialFactor(nest, 0, d) == 1);
  }
  CHECK(nest.order[0][0] == kDimS);
  CHECK(nest.order[0][7] == kDimG);
}

TEST_CASE(
    "loop nest: tiles grow level by level, bytes are those of the operands held") {
  Nested n;
  int64_t tile[kDims];
  TileExtents(n.nest, -1, tile);
  CHECK(tile[kDimK] == 1);
  CHECK(tile[kDimC] == 1);
  TileExtents(n.nest, 0, tile);
  CHECK(tile[kDimK] == 2);
  CHECK(tile[kDimC] == 5);
  CHECK(tile[kDimP] == 2);
  TileExtents(n.nest, 1, tile);
  CHECK(tile[kDimK] == 6);
  CHECK(tile[kDimP] == 4);
  n.nest.spatial[0][1][kDimK] = 3;
  CHECK(SpatialFactor(n.nest, 0, kDimK) == 6);
  n.nest.spatial[0][1][kDimK] = 1;

  n.problem.partial_bytes = 4;
  int64_t bytes[kOperands];
  const auto level_bytes = [&](uint32_t resident) {
    return LevelBytes(n.problem, n.nest, 0, resident, bytes, &n.scratch.diagnostic);
  };
  REQUIRE(level_bytes(0) == Status::kOk);
  CHECK(bytes[kInput] == 2 * 5);
  CHECK(bytes[kWeight] == 2 * 5);
  CHECK(bytes[kOutput] == 2 * 2 * 4);
  REQUIRE(level_bytes(OperandBit(kOutput)) == Status::kOk);
  CHECK(bytes[kOutput] == 4 * 6 * 4);
  n.nest.hold[0] = OperandBit(kWeight);
  REQUIRE(level_bytes(0) == Status::kOk);
  CHECK(bytes[kInput] == 0);
  // A tile is never larger than the problem.
  n.nest.temporal[0][kDimK] = 100;
  REQUIRE(level_bytes(0) == Status::kOk);
  CHECK(bytes[kWeight] == 6 * 5);
}

TEST_CASE("loop nest: fanouts by level and axis, groups go where K goes") {
  Machine m;
  for (int l = 0; l < 3; ++l) m.AddLevel(0, 1, 1);
  m.AddFanout(1, 5, DimBit(kDimK));
  m.AddFanout(0, 6, DimBit(kDimC));
  m.AddFanout(1, 7, DimBit(kDimP));
  m.Finish();
  REQUIRE(FanoutAt(m.hardware, 1, 1) != nullptr);
  CHECK(FanoutAt(m.hardware, 1, 0)->extent == 5);
  CHECK(FanoutAt(m.hardware, 1, 1)->extent == 7);
  CHECK(FanoutAt(m.hardware, 1, 2) == nullptr);
  CHECK(FanoutAt(m.hardware, 2, 0) == nullptr);
  CHECK(MayUnroll(m.fanouts[0], kDimG));
  CHECK(MayUnroll(m.fanouts[0], kDimK));
  CHECK_FALSE(MayUnroll(m.fanouts[0], kDimC));
  CHECK_FALSE(MayUnroll(m.fanouts[1], kDimG));
}

TEST_CASE("loop nest: a level is full by its bytes, or by an operand's share") {
  MemoryLevel level = {};
  const int64_t huge[kOperands] = {INT64_MAX, INT64_MAX, 1};
  CHECK(FitsLevel(level, huge));  // no capacity limit
  level.capacity_bytes = 102;
  CHECK_FALSE(FitsLevel(level, huge));
  const int64_t all[kOperands] = {100, 1, 1}, more[kOperands] = {100, 1, 2};
  CHECK(FitsLevel(level, all));
  CHECK_FALSE(FitsLevel(level, more));
  level.share_percent[0] = 25;  // 25.5 bytes
  level.share_percent[1] = 50;
  level.share_percent[2] = 25;
  const int64_t shares[kOperands] = {25, 51, 25}, beyond[kOperands] = {26, 1, 1};
  CHECK(FitsLevel(level, shares));
  CHECK_FALSE(FitsLevel(level, beyond));
}

TEST_CASE("loop nest: hierarchies of 2 to 6 levels with up to 3 fanouts each") {
  Diagnostic diagnostic = {};
  for (uint32_t levels = 1; levels <= 7; ++levels) {
    Machine m;
    for (uint32_t l = 0; l < levels; ++l) m.AddLevel(0, 1, 1);
    m.hardware.levels = Span<const MemoryLevel>(m.levels.data(), m.levels.size());
    CHECK((CheckHierarchy(m.hardware, &diagnostic) == Status::kOk) ==
          (levels >= 2 && levels <= 6));
  }
  CHECK(std::string(diagnostic.message) ==
        "hierarchy has 7 levels, mapping takes 2 to 6");
  Nested n;
  for (int i = 0; i < 2; ++i) n.machine.AddFanout(0, 1, 127);
  CHECK(n.Check() == Status::kOk);
  n.machine.AddFanout(0, 1, 127);
  CHECK(n.Check() == Status::kUnsupported);
  CHECK(std::string(n.scratch.diagnostic.message) == "level 0 has more than 3 fanouts");
}

TEST_CASE("loop nest: what does not cover, fit or is not allowed is said by number") {
  CHECK(Nested().Check() == Status::kOk);
  using Spoil = std::function<void(Nested*)>;
  const std::vector<std::pair<Spoil, const char*>> cases = {
      {[](Nested* n) { n->nest.levels = 1; }, "nest has 1 levels, the hardware 2"},
      {[](Nested* n) { n->nest.order[0][1] = kDimS; },
       "level 0: order is not a permutation"},
      {[](Nested* n) { n->machine.levels[0].may_hold = 5; },
       "level 0 holds an operand it may not hold"},
      {[](Nested* n) {
         n->machine.levels[0].must_hold = 2;
         n->nest.hold[0] = 5;
       },
       "level 0 bypasses an operand it must hold"},
      {[](Nested* n) { n->nest.hold[1] = 6; },
       "level 1 bypasses an operand it must hold"},
      {[](Nested* n) { n->nest.spatial[0][0][kDimP] = 2; },
       "level 0 axis 0 may not unroll P"},
      {[](Nested* n) { n->nest.spatial[0][1][kDimK] = 2; },
       "level 0 axis 1 may not unroll K"},
      {[](Nested* n) { n->nest.spatial[0][0][kDimK] = 5; },
       "level 0 axis 0 unrolls 5 of 4 units"},
      {[](Nested* n) { n->nest.temporal[1][kDimK] = 2; }, "loops over K cover 4 of 6"},
      {[](Nested* n) { n->nest.temporal[1][kDimK] = 4; },
       "level 1: K runs 4 steps of 2 in an extent of 6"},
      {[](Nested* n) { n->nest.temporal[0][kDimC] = 0; },
       "level 0: C runs 0 steps of 1 in an extent of 5"},
      {[](Nested* n) { n->machine.levels[0].capacity_bytes = 23; },
       "tiles of 10 + 10 + 4 bytes do not fit level 0 of 23 bytes"},
  };
  for (const auto& c : cases) {
    Nested n;
    c.first(&n);
    CHECK(n.Check() != Status::kOk);
    CHECK(std::string(n.scratch.diagnostic.message) == c.second);
  }
  Nested full;
  full.machine.levels[0].capacity_bytes = 24;
  CHECK(full.Check() == Status::kOk);
  full.machine.levels[0].capacity_bytes = 23;
  CHECK(full.Check() == Status::kInfeasible);
  CHECK(full.scratch.diagnostic.required_bytes == 24);
  CHECK(full.scratch.diagnostic.available_bytes == 23);
}

}  // namespace
}  // namespace sluice
