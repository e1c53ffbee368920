// SPDX-License-Identifier: Apache-2.0
// The networks that KAPLA's evaluation calls AlexNet, GoogLeNet, MLP-L and LSTM:
// layers, MACs and weights as published.
#include <doctest/doctest.h>

#include "counts.h"

namespace sluice_test {
namespace {

// Krizhevsky et al.: conv2, conv4 and conv5 see one tower each. Here every convolution
// is two layers, one per tower. Without biases, 60,965,224 parameters are 60,954,656
// weights.
TEST_CASE("classic: AlexNet has 724 million MACs and 60,954,656 weights") {
  const NetworkCounts c = CountsOf("alexnet");
  CHECK(c.convolutions == 2 * 5);
  CHECK(c.matrices == 3);
  CHECK(c.weights == 60954656);
  CheckNear(c.macs, 724e6, 0.001);
}

// Szegedy et al.: three convolutions, nine modules of six, one classifier.
TEST_CASE("classic: GoogLeNet has nine modules, 7 million weights, 1.5 billion MACs") {
  const NetworkCounts c = CountsOf("googlenet");
  CHECK(c.convolutions == 3 + 9 * 6);
  CHECK(c.matrices == 1);
  CheckNear(c.weights, 7.0e6, 0.01);
  CheckNear(c.macs, 1.5e9, 0.06);
  const Bytes bytes = sluice::zoo::MakeZooGraph("googlenet", {});
  const GraphReader graph(bytes);
  int64_t concats = 0, channels = 0;  // of the last module: 5b
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    if (graph.Op(l) != SLUICE_OP_CONCAT) continue;
    ++concats;
    channels = graph.Dims(graph.Output(l))[3];
  }
  CHECK(concats == 9);
  CHECK(channels == 384 + 384 + 128 + 128);
}

TEST_CASE("classic: MLP-L multiplies each of its weights once") {
  const NetworkCounts c = CountsOf("mlp_l");
  CHECK(c.matrices == 4);
  CHECK(c.weights == 784 * 1500 + 1500 * 1000 + 1000 * 500 + 500 * 10);
  CHECK(c.macs == c.weights);
  sluice::zoo::ZooOptions options;
  options.batch = 7;
  CHECK(CountsOf("mlp_l", options).macs == 7 * c.weights);
}

TEST_CASE(
    "classic: an LSTM step has four gates of 2000 by 1000 in each of four cells") {
  const NetworkCounts c = CountsOf("lstm_gnmt");
  CHECK(c.matrices == 4 * 4);
  CHECK(c.weights == 16 * 2000 * 1000);
  CHECK(c.macs == c.weights);
  CHECK(c.additions == 4);  // candidate plus old state, per cell
}

}  // namespace
}  // namespace sluice_test
