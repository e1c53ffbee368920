// SPDX-License-Identifier: Apache-2.0
// Networks of the zoo as COSMA sees them: one operator per layer, whole tensors.
//
// Input   graph.fbs bytes; whether parameters count, whether outputs take over operands
// Output  operators and tensors in graph order. Views (reshape, slice) are no operators:
//         their readers read the tensor viewed. With parameters, the constants of each
//         operator are one more tensor, which no other operator reads.
// Source  COSMA V-A; parameters as the reference's resolution 9
#ifndef SLUICE_TESTS_BENCH_COSMA_NETWORKS_H_
#define SLUICE_TESTS_BENCH_COSMA_NETWORKS_H_

#include <cstdint>
#include <vector>

#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_bench {

struct NetOptions {
  bool parameters = false;
  bool in_place = false;  // where operators allow it; COSMA's model has none
  bool folded = false;    // readers apply elementwise operators of one operand
  bool split = false;     // layers with constants end with an operator of their own, as
                          // convolutions whose normalization has not been folded
};

sluice_test::Net NetOf(const std::vector<uint8_t>& graph, NetOptions options);

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_COSMA_NETWORKS_H_
