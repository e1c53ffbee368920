// SPDX-License-Identifier: Apache-2.0
// Programs that run one layer after the other, compared with programs made by hand.
#include "solve/baseline/layer_by_layer.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::kI8;

// Two layers, a view between them, and a layer of the host.
sluice_test::GraphSpec Layers() {
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 4, 4, 8}, kI8, 1},
                  {{1, 4, 4, 8}, kI8, 0},
                  {{1, 1, 16, 8}, kI8, 0},
                  {{1, 1, 16, 8}, kI8, 0},
                  {{1, 1, 16, 8}, kI8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_RESHAPE, {1}, {2}, {}},
                 {SLUICE_OP_REQUANTIZE, {2}, {3}, same},
                 {SLUICE_OP_OPAQUE, {3}, {4}, {1000, 0, 0}}};
  return spec;
}

struct Scheduled {
  Scheduled() {
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            Status::kOk);
  }
  LayerCall Call(int64_t bytes) {
    return {n.graph, n.hardware, lowering, bytes, TileCoster{}, &budget};
  }
  Status Run(int64_t bytes) {
    return ScheduleLayerByLayer(Call(bytes), &n.arena, &program, &n.diagnostic);
  }
  sluice_test::Nouns n{Layers()};
  Lowering lowering = {};
  Budget budget;
  Arena written{&n.memory};
  Program program{&written, n.hardware};
};

TEST_CASE("layer by layer: a block for each layer, in tiles that fit") {
  Scheduled whole;
  REQUIRE(whole.Run(4096) == Status::kOk);
  CHECK(whole.program.block_count() == 3);
  CHECK(whole.program.tile_count() == 2);
  CHECK(whole.program.size() == 3 + 3 + 1);
  Scheduled cut;
  REQUIRE(cut.Run(128) == Status::kOk);  // half a layer at a time, or less
  CHECK(cut.program.block_count() == 3);
  CHECK(cut.program.tile_count() >= 4);
}

TEST_CASE("layer by layer: a layer is appended by itself, views are nothing") {
  Scheduled s;
  REQUIRE(AppendLayer(s.Call(4096), 2, &s.n.arena, &s.program) == Status::kOk);
  CHECK(s.program.block_count() == 1);
  CHECK(s.program.size() == 3);
}

TEST_CASE("layer by layer: what does not fit is named with the least that does") {
  Scheduled s;
  CHECK(s.Run(16) == Status::kInfeasible);
  CHECK(s.n.diagnostic.layer == 0);
  CHECK(s.n.diagnostic.available_bytes == 16);
  const uint64_t least = s.n.diagnostic.smallest_scratchpad_bytes;
  CHECK(s.n.diagnostic.required_bytes > 16);
  Scheduled enough;
  CHECK(enough.Run(static_cast<int64_t>(least)) == Status::kOk);
  Scheduled less;
  CHECK(less.Run(static_cast<int64_t>(least) - 1) == Status::kInfeasible);
}

TEST_CASE("layer by layer: an exhausted budget stops it") {
  Scheduled s;
  const uint32_t stop = 1;
  s.budget = Budget({}, 0, 0, &stop);
  (void)s.budget.Exhausted();
  CHECK(s.Run(4096) == Status::kStopped);
}

}  // namespace
}  // namespace sluice
