// SPDX-License-Identifier: Apache-2.0
// The network that the choice of segments gets for a graph, compared with one made by hand.
#include "plan/mesh/segment_network.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

struct Network {
  explicit Network(const sluice_test::GraphSpec& spec, uint32_t word_bytes = 0)
      : n(spec) {
    Lowering lowering = {};
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            Status::kOk);
    REQUIRE(NetworkOfGraph({n.graph, n.hardware, lowering, word_bytes}, &n.arena,
                           &layers, &n.diagnostic) == Status::kOk);
  }
  sluice_test::Nouns n;
  Span<SegmentLayer> layers;
};

TEST_CASE("segment network: a concatenation without copies is looked through") {
  // input -> a -> b; concat {a, b} -> last.
  const Network net(sluice_test::JoinedGraph());
  REQUIRE(net.layers.size() == 3);
  const SegmentLayer& last = net.layers[2];
  CHECK(last.layer == 3);
  CHECK(last.stored);
  CHECK(!net.layers[0].stored);
  REQUIRE(last.producers.size() == 2);
  CHECK(last.producers[0] == 0);
  CHECK(last.producers[1] == 1);
  // Layers a and b make one half of the 512 words each.
  CHECK(last.share[0] == 256);
  CHECK(last.share[1] == 256);
  CHECK(last.input_words == 512);
  CHECK(net.layers[0].producers.empty());
}

TEST_CASE("segment network: elementwise layers do not lead and count operations") {
  const Network net(sluice_test::JoinedGraph());
  for (const SegmentLayer& l : net.layers) {
    CHECK(!l.leads);
    CHECK(l.problem.vector);
  }
}

TEST_CASE("segment network: words are the tensors', or as wide as they are asked for") {
  const Network own(sluice_test::JoinedGraph()), wide(sluice_test::JoinedGraph(), 2);
  CHECK(own.layers[0].problem.element_bytes[kOutput] == 1);
  CHECK(wide.layers[0].problem.element_bytes[kOutput] == 2);
  CHECK(wide.layers[0].problem.partial_bytes == 2);
}

TEST_CASE("segment network: a graph with a state is refused, and the state is named") {
  // Input 0 goes into state 1, at a position that each run chooses.
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 1, 1, 8}, SLUICE_DTYPE_INT8, 1},
                  {{1, 4, 1, 8}, SLUICE_DTYPE_INT8, 4},
                  {{1, 4, 1, 8}, SLUICE_DTYPE_INT8, 2}};
  spec.parameters = {{0, 3}};
  spec.layers = {{SLUICE_OP_STATE_APPEND, {1, 0}, {1}, {1, 0}},
                 {SLUICE_OP_REQUANTIZE, {1}, {2}, {0, 1 << 30, 1, 0, -128, 127}}};
  sluice_test::Nouns n(spec);
  Lowering lowering = {};
  REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
          Status::kOk);
  Span<SegmentLayer> layers;
  CHECK(NetworkOfGraph({n.graph, n.hardware, lowering, 0}, &n.arena, &layers,
                       &n.diagnostic) == Status::kUnsupported);
  CHECK(n.diagnostic.tensor == 1);
}

}  // namespace
}  // namespace sluice
