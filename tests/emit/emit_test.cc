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
  explicit Emitted(const GraphSpec& spec) : n(spec), out(&n.memory) {
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
    REQUIRE(EmitStream({n.graph, n.hardware, lowering, program, waits, 512}, &n.arena,
                       &parts, &n.diagnostic) == Status::kOk);
    header = parts.header;
    debug = parts.debug_layer.size();
    steps = program.size();
  }
  sluice_test::Nouns n;
  Arena out;
  size_t debug = 0;
  sluice_stream_header_t header = {};
  size_t steps = 0;
};

TEST_CASE("emit: layers that do the same share a body, whatever their attributes") {
  const Emitted e(Chain(40));
  CHECK(e.header.instance_count == 40);
  // The first has nobody to wait for, the last exports nothing; all others are alike.
  CHECK(e.header.block_count <= 4);
  CHECK(e.header.kernel_count == 40);
  CHECK(e.debug == e.steps);
}

}  // namespace
}  // namespace sluice
