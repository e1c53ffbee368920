// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "base/budget.h"
#include "emit/emit.h"
#include "solve/baseline/layer_by_layer.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

GraphSpec Pointwise(int32_t side, int32_t channels) {
  GraphSpec g;
  g.tensors.push_back({{1, side, side, channels}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{channels, 1, 1, channels}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{channels, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, side, side, channels}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, 0, 0, 0, 0, 1}});
  return g;
}

// A program with a Memory of its own, so that its bytes are counted separately.
struct Scheduled {
  Scheduled(const GraphSpec& spec, int64_t scratchpad_bytes)
      : n(spec),
        memory(sluice_test::Nouns::Allocator(), 0),
        arena(&memory),
        program(&arena, n.hardware),
        waits(&arena) {
    Budget budget;
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            Status::kOk);
    status = ScheduleLayerByLayer(
        {n.graph, n.hardware, lowering, scratchpad_bytes, TileCoster{}, &budget},
        &n.arena, &program, &n.diagnostic);
  }
  sluice_test::Nouns n;
  Memory memory;
  Arena arena;
  Program program;
  ProgramWaits waits;
  Lowering lowering = {};
  Status status = Status::kOk;
};

TEST_CASE(
    "baseline: a long program takes tens of bytes per step, its stream a fraction of "
    "one") {
  Scheduled s(Pointwise(96, 16), 400);
  REQUIRE(s.status == Status::kOk);
  REQUIRE(s.program.size() > 20000);
  REQUIRE(DeriveWaits({s.n.graph, s.n.hardware, s.program}, s.lowering.places,
                      &s.n.arena, &s.waits) == Status::kOk);
  MESSAGE(s.program.size() << " steps, program and waits " << s.memory.peak_bytes()
                           << " bytes");
  CHECK(s.memory.peak_bytes() < 48 * s.program.size());
  Memory memory(sluice_test::Nouns::Allocator(), 0);
  {
    Arena arena(&memory);
    Arena scratch(&memory);
    StreamParts parts(&arena);
    REQUIRE(EmitStream({s.n.graph, s.n.hardware, s.lowering, s.program, s.waits, 400},
                       &scratch, &parts, &s.n.diagnostic) == Status::kOk);
    MESSAGE("stream of " << parts.header.size_bytes << " bytes, emitted in "
                         << memory.peak_bytes());
    // Equal tiles become loops, so the stream has fewer bytes than the program has steps.
    // The memory holds the stream's parts and the one body under construction.
    CHECK(parts.header.size_bytes < s.program.size());
    CHECK(memory.peak_bytes() < 48 * s.program.size());
  }
  CHECK(memory.live_bytes() == 0);
}

TEST_CASE("baseline: a plan of absurd length is refused before it is written") {
  Scheduled s(Pointwise(2000, 64), 200);
  CHECK(s.status == Status::kUnsupported);
  CHECK(std::string(s.n.diagnostic.message).find("more than 16777216 instructions") !=
        std::string::npos);
  CHECK(s.program.size() == 0);
}

}  // namespace
}  // namespace sluice
