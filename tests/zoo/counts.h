// SPDX-License-Identifier: Apache-2.0
// Layers, MACs and weights of a network of the zoo, to be compared with those that its
// authors published.
//
// Input    a name of the zoo, sizes
// Output   counts over the graph's layers; depthwise convolutions among the convolutions
// Errors   those of MakeZooGraph
#ifndef SLUICE_TESTS_ZOO_COUNTS_H_
#define SLUICE_TESTS_ZOO_COUNTS_H_

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "graph_reader.h"
#include "sluice/ops.h"
#include "zoo/zoo.h"

namespace sluice_test {

struct NetworkCounts {
  int convolutions = 0, depthwise = 0, matrices = 0;
  int products = 0;  // of two activations
  int additions = 0, pools = 0;
  int64_t macs = 0;
  int64_t weights = 0;  // elements of all constants that are seeded, each tensor once
};

inline int64_t ElementsOf(const std::array<int64_t, 4>& dims) {
  return dims[0] * dims[1] * dims[2] * dims[3];
}

inline NetworkCounts CountLayers(const Bytes& bytes) {
  const GraphReader graph(bytes);
  NetworkCounts c;
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    const uint16_t op = graph.Op(l);
    const auto out = graph.Dims(graph.Output(l));
    const int64_t outputs = ElementsOf(out);
    c.depthwise += op == SLUICE_OP_DEPTHWISE_CONV;
    c.convolutions += op == SLUICE_OP_CONV || op == SLUICE_OP_DEPTHWISE_CONV;
    c.matrices += op == SLUICE_OP_FULLY_CONNECTED;
    c.products += op == SLUICE_OP_BATCH_MATMUL;
    c.additions += op == SLUICE_OP_ADD;
    c.pools += op == SLUICE_OP_MAX_POOL || op == SLUICE_OP_AVERAGE_POOL;
    if (op == SLUICE_OP_BATCH_MATMUL) {
      c.macs += outputs * graph.Dims(graph.Input(l, 0))[3];
    } else if (op == SLUICE_OP_CONV || op == SLUICE_OP_DEPTHWISE_CONV ||
               op == SLUICE_OP_FULLY_CONNECTED) {
      c.macs += outputs * (ElementsOf(graph.Dims(graph.Input(l, 1))) / out[3]);
    }
  }
  const sluice::wire::Graph& wire = *sluice::wire::GetGraph(bytes.data());
  for (uint32_t t = 0; t < wire.tensor_source()->size(); ++t) {
    if (wire.tensor_source()->Get(t) == 3) c.weights += ElementsOf(graph.Dims(t));
  }
  return c;
}

inline NetworkCounts CountsOf(const char* name, const sluice::zoo::ZooOptions& options =
                                                    sluice::zoo::ZooOptions()) {
  return CountLayers(sluice::zoo::MakeZooGraph(name, options));
}

// Compares within a relative error, since norms and biases are folded away.
inline void CheckNear(int64_t ours, double published, double part) {
  CHECK(static_cast<double>(ours) == doctest::Approx(published).epsilon(part));
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_ZOO_COUNTS_H_
