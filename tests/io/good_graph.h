// SPDX-License-Identifier: Apache-2.0
// A small correct graph, which tests then break.
#ifndef SLUICE_TESTS_IO_GOOD_GRAPH_H_
#define SLUICE_TESTS_IO_GOOD_GRAPH_H_

#include "support/stream_builder.h"

namespace sluice_test {

// A convolution followed by a requantisation, both correct.
inline GraphSpec GoodGraph() {
  GraphSpec g;
  g.tensors.push_back({{1, 8, 4, 8}, kI8, 1, 0, 0});
  g.tensors.push_back({{8, 3, 3, 8}, kI8, 3, 3, 11});
  g.tensors.push_back(g.Inline({8, 3}, SLUICE_DTYPE_INT32, ChannelParameters(8)));
  g.tensors.push_back({{1, 8, 4, 8}, kI8, 0, 0, 0});
  g.tensors.push_back({{1, 8, 4, 8}, kI8, 2, 0, 0});
  g.layers.push_back({SLUICE_OP_CONV,
                      {0, 1, 2},
                      {3},
                      {1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 0, -5, -128, 127}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {3}, {4}, {0, 1 << 30, 1, 0, -128, 127}});
  return g;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IO_GOOD_GRAPH_H_
