// SPDX-License-Identifier: Apache-2.0
// A graph of whole-tensor operators with a copy among them, lowered for a small machine.
#ifndef SLUICE_TESTS_PLAN_OPERATORS_SMALL_RUN_H_
#define SLUICE_TESTS_PLAN_OPERATORS_SMALL_RUN_H_

#include <vector>

#include "plan/operators/operator_sections.h"
#include "support/read_graph.h"

namespace sluice_test {

// Two layers with a reshape between them, a copy (the result joined with itself), and a last
// layer. Tensors 0 to 3 have 128 bytes, 4 and 5 have 256.
inline GraphSpec RunAndCopy() {
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  GraphSpec spec;
  spec.tensors = {{{1, 4, 4, 8}, i8, 1},  {{1, 4, 4, 8}, i8, 0},
                  {{1, 1, 16, 8}, i8, 0}, {{1, 1, 16, 8}, i8, 0},
                  {{1, 2, 16, 8}, i8, 0}, {{1, 2, 16, 8}, i8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_RESHAPE, {1}, {2}, {}},
                 {SLUICE_OP_REQUANTIZE, {2}, {3}, same},
                 {SLUICE_OP_CONCAT, {3, 3}, {4}, {1}},
                 {SLUICE_OP_REQUANTIZE, {4}, {5}, same}};
  return spec;
}

struct SmallRun {
  explicit SmallRun(int64_t capacity = 4096, const GraphSpec& spec = RunAndCopy())
      : n(spec), bytes(capacity) {
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            sluice::Status::kOk);
  }
  sluice::OperatorCall Call() {
    return {n.graph, n.hardware, lowering, bytes, coster, &budget, &n.arena, &n.arena};
  }
  Nouns n;
  int64_t bytes;  // of scratchpad
  sluice::Lowering lowering = {};
  sluice::TileCoster coster;
  sluice::Budget budget;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_OPERATORS_SMALL_RUN_H_
