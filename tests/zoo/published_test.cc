// SPDX-License-Identifier: Apache-2.0
// Networks against what was published of them: layers, and weights to within 2 % (norms
// and biases are folded away).
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sluice/graph_generated.h"
#include "sluice/ops.h"
#include "tests/zoo/planned.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

namespace wire = sluice::wire;

struct Published {
  const char* name;
  double parameters;                     // millions; 0: not of this size
  int convolutions, matrices, products;  // products: of two activations
};

double Weights(const wire::Graph& graph) {
  double sum = 0;
  for (uint32_t t = 0; t < graph.tensor_dtype()->size(); ++t) {
    if (graph.tensor_source()->Get(t) != 3) continue;
    double elements = 1;
    for (uint32_t i = graph.tensor_dim_begin()->Get(t);
         i < graph.tensor_dim_begin()->Get(t + 1); ++i) {
      elements *= graph.tensor_dims()->Get(i);
    }
    sum += elements;
  }
  return sum;
}

TEST_CASE("zoo: COSMA's networks have the layers and weights that were published") {
  // Depthwise and pointwise convolutions count one by one; auxiliary heads are left
  // out.
  const Published networks[] = {
      {"resnext50", 25.03, 53, 1, 0},   {"densenet121", 7.98, 182, 1, 0},
      {"r2plus1d_18", 31.51, 37, 1, 0}, {"s3d", 8.32, 77, 1, 0},
      {"fcn", 32.95, 55, 0, 0},         {"lraspp", 3.22, 66, 0, 0},
      {"deeplabv3", 39.63, 61, 0, 0},   {"transformer", 44.14, 0, 96, 36},
      {"vit_b_16", 86.57, 1, 73, 24},   {"pnasnet5", 5.1, 0, 1, 0},
      {"nasnet_a", 5.29, 0, 1, 0},      {"darts", 4.72, 0, 1, 0},
      {"amoebanet_d", 0, 0, 1, 0}};
  for (const Published& network : networks) {
    const std::string name = network.name;
    CAPTURE(name);
    const Bytes bytes = sluice::zoo::MakeZooGraph(name, sluice::zoo::ZooOptions());
    const wire::Graph& graph = *wire::GetGraph(bytes.data());
    std::map<int, int> count;
    for (const uint16_t op : *graph.layer_op()) ++count[op];
    const int convolutions = count[SLUICE_OP_CONV] + count[SLUICE_OP_DEPTHWISE_CONV];
    if (network.convolutions != 0) CHECK(convolutions == network.convolutions);
    CHECK(count[SLUICE_OP_FULLY_CONNECTED] == network.matrices);
    CHECK(count[SLUICE_OP_BATCH_MATMUL] == network.products);
    if (network.parameters == 0) continue;
    CHECK(std::fabs(Weights(graph) / 1e6 / network.parameters - 1) < 0.02);
  }
}

TEST_CASE("zoo: COSMA's networks are scheduled and verified; short ones run") {
  for (const char* name :
       {"densenet121", "resnext50", "r2plus1d_18", "s3d", "fcn", "lraspp", "deeplabv3",
        "transformer", "vit_b_16", "pnasnet5", "amoebanet_d", "nasnet_a", "darts"}) {
    CAPTURE(std::string(name));
    sluice::zoo::ZooOptions options;
    const bool runs =
        std::string(name) == "lraspp" || std::string(name) == "transformer";
    if (std::string(name) == "transformer") options.blocks = 1;
    Planned p(sluice::zoo::MakeZooGraph(name, options), "soma-edge");
    CHECK(p.RefusedBy(p.plan) == "");
    if (runs) CheckSpread(p.Run(p.Options()).outputs.at(0));
  }
}

}  // namespace
}  // namespace sluice_test
