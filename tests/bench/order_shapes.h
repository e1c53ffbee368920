// SPDX-License-Identifier: Apache-2.0
// Networks of many shapes, in whose given order much waits, and a depth-first order.
//
// Input   a seed, operators
// Output  nets whose operators are numbered breadth first, cell by cell or row by row
// Source  ours; the search for orders shares nothing with them
#ifndef SLUICE_TESTS_BENCH_ORDER_SHAPES_H_
#define SLUICE_TESTS_BENCH_ORDER_SHAPES_H_

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_bench {

struct OrderShape {
  const char* name;
  sluice_test::Net (*make)(sluice::Rng* rng, uint32_t operators);
};

extern const std::vector<OrderShape> kOrderShapes;

// Operators in the order in which a reader asks for its operands, the last ones first.
std::vector<uint32_t> DepthFirstOrder(const sluice_test::Net& net);

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_ORDER_SHAPES_H_
