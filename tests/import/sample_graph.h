// SPDX-License-Identifier: Apache-2.0
// A graph of one layer with two constants, for tests of what graphs are written from.
#ifndef SLUICE_TESTS_IMPORT_SAMPLE_GRAPH_H_
#define SLUICE_TESTS_IMPORT_SAMPLE_GRAPH_H_

#include "import/graph_writer.h"

namespace sluice::import {

inline GraphWriter SampleGraph() {
  GraphWriter graph("sample");
  const uint32_t x = graph.AddTensor("x", SLUICE_DTYPE_INT8, Kind::kInput, {2, 3}, -4);
  const uint8_t bytes[5] = {1, 2, 3, 4, 5};
  graph.AddConstant("c", SLUICE_DTYPE_INT8, {5}, bytes, 5);
  graph.AddConstant("d", SLUICE_DTYPE_INT8, {3}, bytes, 3);
  const uint32_t y = graph.AddTensor("y", SLUICE_DTYPE_INT8, Kind::kOutput, {6});
  graph.AddLayer("reshape", SLUICE_OP_RESHAPE, {x}, {y}, {});
  return graph;
}

}  // namespace sluice::import

#endif  // SLUICE_TESTS_IMPORT_SAMPLE_GRAPH_H_
