// SPDX-License-Identifier: Apache-2.0
#include "model/granules.h"

#include <doctest/doctest.h>

#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

// A pointwise convolution of `groups` groups; its output is added to itself.
GraphSpec ConvAndAdd(int32_t w, int32_t c, int32_t k, int32_t groups) {
  GraphSpec g;
  g.tensors.push_back({{1, 6, w, c}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{k, 1, 1, c / groups}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{k, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, 6, w, k}, SLUICE_DTYPE_INT8, 0});
  g.tensors.push_back({{1, 6, w, k}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back(
      {SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, 0, 0, 0, 0, groups}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {3}, {4}, {0, 1 << 30, 1, 0, -128, 127}});
  return g;
}

MacArray Demanding(uint32_t demands) {
  MacArray array;
  array.k = 8;
  array.c = 4;
  array.p = 16;
  array.demands = demands;
  return array;
}

TEST_CASE("cuts keep to demanded granules and to the operator's units") {
  sluice_test::Nouns n(ConvAndAdd(10, 12, 40, 1));
  const Layer& conv = n.graph.layers[0];
  CHECK(CutsOn(Demanding(0), n.graph, conv).unit[3] == 1);
  CutRule rule = CutsOn(Demanding(3), n.graph, conv);
  CHECK(rule.unit[3] == 8);
  CHECK(rule.sum_unit == 4);
  CHECK(rule.unit[1] == 1);
  CHECK(rule.unit[2] == 1);
  // 8 rows of 10 would fill 5 passes of 16, but there are only 6 rows: they are not
  // cut.
  rule = CutsOn(Demanding(4), n.graph, conv);
  CHECK(rule.unit[2] == 10);
  CHECK(rule.unit[1] == 6);
  MacArray array = Demanding(4);
  array.crosses_rows = false;
  rule = CutsOn(array, n.graph, conv);
  CHECK(rule.unit[2] == 10);  // a row of 10 is a single part
  CHECK(rule.unit[1] == 1);
  array.p = 4;
  CHECK(CutsOn(array, n.graph, conv).unit[2] == 4);
  array.crosses_rows = true;
  rule = CutsOn(array, n.graph, conv);
  CHECK(rule.unit[2] == 10);
  CHECK(rule.unit[1] == 2);
  CHECK(DemandedOf(Demanding(7), n.graph, n.graph.layers[1]).unit[3] == 1);  // no MACs
}

TEST_CASE("groups of channels and granules: multiples of both") {
  sluice_test::Nouns n(ConvAndAdd(2, 24, 48, 4));
  CHECK(CutsOn(Demanding(1), n.graph, n.graph.layers[0]).unit[3] == 24);
}

}  // namespace
}  // namespace sluice
