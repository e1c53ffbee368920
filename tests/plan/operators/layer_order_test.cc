// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/layer_order.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/plan/operators/small_run.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;
using sluice_test::SmallRun;

// Two branches of x, a small result behind a large one, in turns: layers a, a view of it,
// b, small a, small b, and their sum. x, a and b have 256 bytes, the others 32.
GraphSpec Branches() {
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const std::vector<int32_t> row = {1, 1, 4, 8}, whole = {1, 8, 4, 8};
  GraphSpec spec;
  spec.tensors = {{whole, i8, 1}, {whole, i8, 0}, {{1, 8, 4, 8}, i8, 0}, {whole, i8, 0},
                  {row, i8, 0},   {row, i8, 0},   {row, i8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  const std::vector<int32_t> sum = {0, 0, 1 << 30, 1, 0,    1 << 30,
                                    1, 0, 1 << 30, 1, -128, 127};
  const std::vector<int32_t> rows = {8, 1, 8, 1, 0, 0, 0, 0, -128, 127};
  spec.layers = {
      {SLUICE_OP_REQUANTIZE, {0}, {1}, same}, {SLUICE_OP_RESHAPE, {1}, {2}, {}},
      {SLUICE_OP_REQUANTIZE, {0}, {3}, same}, {SLUICE_OP_MAX_POOL, {2}, {4}, rows},
      {SLUICE_OP_MAX_POOL, {3}, {5}, rows},   {SLUICE_OP_ADD, {4, 5}, {6}, sum}};
  return spec;
}

std::vector<uint32_t> OrderOf(SmallRun* run, int64_t capacity) {
  Span<uint32_t> order;
  Budget budget;
  REQUIRE(OrderLayers({run->n.graph, run->lowering, capacity, &budget}, &run->n.arena,
                      &order) == Status::kOk);
  return {order.begin(), order.end()};
}

TEST_CASE("layer order: a branch is made small before the other one begins") {
  SmallRun run(4096, Branches());
  REQUIRE(run.lowering.is_view[1] != 0);
  const std::vector<uint32_t> order = OrderOf(&run, 544);
  CHECK((order == std::vector<uint32_t>{0, 3, 2, 4, 5} ||
         order == std::vector<uint32_t>{2, 4, 0, 3, 5}));
}

TEST_CASE(
    "layer order: where all fits, or nothing is gained, the graph's order stays") {
  SmallRun run(4096, Branches());
  CHECK(OrderOf(&run, 768).empty());
  SmallRun chain(4096, sluice_test::Residual());
  CHECK(OrderOf(&chain, 544).empty());
}

TEST_CASE("layer order: less room than the largest operator needs is room for it") {
  SmallRun run(4096, Branches());
  CHECK(OrderOf(&run, 128).size() == 5);
}

TEST_CASE("layer order: a graph that keeps state runs in its own order") {
  SmallRun run(4096, Branches());
  std::vector<Tensor> tensors(run.n.graph.tensors.begin(), run.n.graph.tensors.end());
  tensors[0].kind = TensorKind::kState;
  run.n.graph.tensors = {tensors.data(), tensors.size()};
  CHECK(OrderOf(&run, 544).empty());
}

}  // namespace
}  // namespace sluice
