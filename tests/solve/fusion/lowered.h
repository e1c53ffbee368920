// SPDX-License-Identifier: Apache-2.0
// Small graphs of unary layers, lowered, for tests of fusion runs.
#ifndef SLUICE_TESTS_SOLVE_FUSION_LOWERED_H_
#define SLUICE_TESTS_SOLVE_FUSION_LOWERED_H_

#include <vector>

#include "model/lowering.h"
#include "support/read_graph.h"

namespace sluice_test {

// Layer l, a REQUANTIZE, reads tensor l and writes tensor l + 1. The first tensor is the
// input of the graph, the last one its output.
inline GraphSpec Chain(size_t layers, int32_t channels = 4) {
  GraphSpec g;
  g.tensors.push_back({{1, 8, 8, channels}, SLUICE_DTYPE_INT8, 1});
  for (uint32_t l = 0; l < layers; ++l) {
    const uint8_t kind = l + 1 == layers ? 2 : 0;
    g.tensors.push_back({{1, 8, 8, channels}, SLUICE_DTYPE_INT8, kind});
    g.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {l}, {l + 1}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  return g;
}

struct Lowered {
  explicit Lowered(const GraphSpec& spec) : n(spec) {
    REQUIRE(sluice::Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            sluice::Status::kOk);
  }
  Nouns n;
  sluice::Lowering lowering = {};
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_FUSION_LOWERED_H_
