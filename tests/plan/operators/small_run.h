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

// a = f(x), b = y + a, c = b + z, d = pool(c), e = d + a. Tensors x, a, d and e have 32
// bytes, the others 256; a is read again after c, the layer that needs most room.
inline GraphSpec Residual() {
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const std::vector<int32_t> row = {1, 1, 4, 8}, whole = {1, 8, 4, 8};
  GraphSpec spec;
  spec.tensors = {{row, i8, 1},   {row, i8, 0},   {whole, i8, 1}, {whole, i8, 0},
                  {whole, i8, 1}, {whole, i8, 0}, {row, i8, 0},   {row, i8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  const std::vector<int32_t> sum = {0, 0, 1 << 30, 1, 0,    1 << 30,
                                    1, 0, 1 << 30, 1, -128, 127};
  const std::vector<int32_t> rows = {8, 1, 8, 1, 0, 0, 0, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_ADD, {2, 1}, {3}, sum},
                 {SLUICE_OP_ADD, {3, 4}, {5}, sum},
                 {SLUICE_OP_MAX_POOL, {5}, {6}, rows},
                 {SLUICE_OP_ADD, {6, 1}, {7}, sum}};
  return spec;
}

struct SmallRun {
  explicit SmallRun(int64_t capacity = 4096, const GraphSpec& spec = RunAndCopy())
      : n(spec), bytes(capacity) {
    REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            sluice::Status::kOk);
  }
  sluice::OperatorCall Call() {
    return {n.graph, n.hardware, lowering, bytes,   repeats,
            coster,  &budget,    &n.arena, &n.arena};
  }
  Nouns n;
  int64_t bytes;  // of scratchpad
  bool repeats = false;
  sluice::Lowering lowering = {};
  sluice::TileCoster coster;
  sluice::Budget budget;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_OPERATORS_SMALL_RUN_H_
