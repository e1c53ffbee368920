// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.h"

#include <doctest/doctest.h>

#include "base/budget.h"
#include "solve/baseline/layer_by_layer.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

GraphSpec Chain(uint32_t layers) {
  GraphSpec g;
  g.tensors.push_back({{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1});
  for (uint32_t i = 0; i < layers; ++i) {
    const uint8_t kind = i + 1 == layers ? 2 : 0;
    g.tensors.push_back({{1, 4, 4, 8}, SLUICE_DTYPE_INT8, kind});
    g.layers.push_back({SLUICE_OP_REQUANTIZE,
                        {i},
                        {i + 1},
                        {static_cast<int32_t>(i), 1 << 30, 1, 0, -128, 127}});
  }
  return g;
}

struct Emitted {
  explicit Emitted(const GraphSpec& spec, const uint32_t* cancel = nullptr)
      : n(spec), out(&n.memory) {
    Lowering lowering = {};
    Program program(&n.arena, n.hardware);
    ProgramWaits waits(&n.arena);
    StreamParts parts(&out);
    Budget budget;
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            Status::kOk);
    REQUIRE(ScheduleLayerByLayer(
                {n.graph, n.hardware, lowering, 512, TileCoster{}, &budget}, &n.arena,
                &program, &n.diagnostic) == Status::kOk);
    REQUIRE(DeriveWaits({n.graph, n.hardware, program}, lowering.places, &n.arena,
                        &waits) == Status::kOk);
    Budget clock({}, 0, 0, cancel);
    n.memory.Watch(&clock);
    status = EmitStream({n.graph, n.hardware, lowering, program, waits, 512}, &n.arena,
                        &parts, &n.diagnostic);
    n.memory.Watch(nullptr);
    header = parts.header;
    debug = parts.debug_layer.size();
    steps = program.size();
  }
  sluice_test::Nouns n;
  Arena out;
  Status status = Status::kInternal;
  size_t debug = 0;
  sluice_stream_header_t header = {};
  size_t steps = 0;
};

TEST_CASE("emit: layers that do the same share a body, whatever their attributes") {
  const Emitted e(Chain(40));
  REQUIRE(e.status == Status::kOk);
  CHECK(e.header.instance_count == 40);
  // The first layer waits for nothing; all others wait alike.
  CHECK(e.header.block_count <= 4);
  CHECK(e.header.kernel_count == 40);
  CHECK(e.debug == e.steps);
}

TEST_CASE(
    "emit: a long program is written whole, and stops when the call is cancelled") {
  const uint32_t go_on = 0, stop = 1;
  const Emitted whole(Chain(200), &go_on);
  CHECK(whole.status == Status::kOk);
  CHECK(whole.steps > 512);  // the time is checked every 256 steps
  CHECK(whole.header.instance_count == 200);
  CHECK(whole.debug == whole.steps);
  CHECK(Emitted(Chain(200), &stop).status == Status::kStopped);
}

}  // namespace
}  // namespace sluice
