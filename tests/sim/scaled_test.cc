// SPDX-License-Identifier: Apache-2.0
// Boxes of sums that a machine makes bytes of by one float, in the untiled run.
#include "firmware-sim/scaled.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "firmware-sim/reference.h"
#include "firmware-sim/sim.h"
#include "targets/layers.h"

namespace sluice_sim {
namespace {

// 1 x 1 x 6 x 20 outputs of one scale; the same again behind it.
sluice_test::Bytes TwoProducts() {
  target_test::Conv c = {
      SLUICE_OP_FULLY_CONNECTED, {1, 1, 6, 20}, {20, 20}, {1, 1, 6, 20}, 0, 0, 0, 0, 7};
  c.one_scale = true;
  return target_test::Chain({c, c});
}

SimulateOptions OptionsOf(const sluice_test::Bytes& graph) {
  SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.seed = 5;
  return options;
}

// The bytes of the untiled run.
Bytes Exact(const sluice_test::Bytes& bytes, uint32_t layer) {
  Graph graph;
  REQUIRE(ReadGraph(bytes.data(), bytes.size(), &graph) == "");
  Values values(graph.tensors.size());
  REQUIRE(FillConstants(graph, ".", &values) == "");
  REQUIRE(FillInputs(graph, 5, nullptr, &values) == "");
  REQUIRE(RunLayers(graph, {}, &values) == "");
  return values[graph.layers[layer].outputs[0]];
}

ScaledBox BoxOf(float scale, bool relu) {
  return {1, {0, 0, 2, 16}, {1, 1, 3, 4}, scale, relu, {1, 1, 1, 1}};
}

}  // namespace

TEST_CASE("scaled: without boxes nothing differs") {
  const sluice_test::Bytes graph = TwoProducts();
  ScaledRun run(OptionsOf(graph));
  CHECK(run.error() == "");
  const ScaledDifference d = run.Compare();
  CHECK(d.compared_bytes == 6 * 20);
  CHECK(d.mismatches == 0);
  CHECK(d.most == 0);
}

TEST_CASE("scaled: a box has sums times its scale, saturated, all else as before") {
  const sluice_test::Bytes graph = TwoProducts();
  const Bytes exact = Exact(graph, 1);
  for (const float scale : {1e-30F, 1e30F}) {
    for (const bool relu : {false, true}) {
      CAPTURE(scale);
      CAPTURE(relu);
      int64_t differ = 0, most = 0, rounded = 0;
      for (size_t w = 2; w < 5; ++w) {
        for (size_t k = 16; k < 20; ++k) {
          const int byte = static_cast<int8_t>(exact[w * 20 + k]);
          // -3 is the zero point: a sum has the sign of what is above it, or is lost in it.
          if (byte == -3 && scale > 1) {
            ++rounded;
            continue;
          }
          const int wanted = scale < 1 ? 0 : byte > -3 ? 127 : relu ? 0 : -128;
          differ += byte != wanted;
          most = std::max<int64_t>(most, std::abs(byte - wanted));
        }
      }
      ScaledRun run(OptionsOf(graph));
      ScaledBox box = BoxOf(scale, relu);
      // All that is added before: the biases.
      for (size_t k = 0; k < 4; ++k) {
        box.biases[k] = run.Parameters(1, static_cast<int64_t>(16 + k))[0][0];
      }
      run.Add(box);
      const ScaledDifference d = run.Compare();
      CHECK(d.mismatches == differ + rounded);
      CHECK(d.most >= most);
      CHECK(d.most <= std::max<int64_t>(most, rounded > 0 ? 130 : 0));
    }
  }
}

// What a later layer makes of it differs too.
TEST_CASE("scaled: a box has what a function makes of sums and biases") {
  const sluice_test::Bytes graph = TwoProducts();
  std::vector<std::pair<int64_t, int32_t>> asked;
  for (const int32_t bias : {0, 1000}) {
    ScaledRun run(OptionsOf(graph));
    ScaledBox box = BoxOf(1, false);
    box.biases.assign(4, bias);
    box.make = [&](int64_t channel, int32_t sum) {
      asked.emplace_back(channel, sum - bias);
      return 101;
    };
    run.Add(box);
    const ScaledDifference d = run.Compare();
    CHECK(d.mismatches == 12);  // no byte was 101
  }
  REQUIRE(asked.size() == 24);
  for (size_t i = 0; i < 12; ++i) {
    CHECK(asked[i].first == int64_t(i % 4));
    CHECK(asked[i] == asked[i + 12]);
  }
}

TEST_CASE("scaled: the next layers read what a box has become") {
  const sluice_test::Bytes graph = TwoProducts();
  ScaledRun run(OptionsOf(graph));
  ScaledBox box = BoxOf(1e30F, false);
  box.layer = 0;
  run.Add(box);
  CHECK(run.Compare().mismatches > 20);
}

TEST_CASE(
    "scaled: parameters are those of the graph, and a graph that is none is an error") {
  const sluice_test::Bytes graph = TwoProducts();
  const ScaledRun run(OptionsOf(graph));
  CHECK(run.Parameters(1, 3)[0][0] == 3 * 777 - 4000);
  CHECK(run.Parameters(1, 3)[0][1] == 1 << 30);
  CHECK(run.Parameters(1, 3)[1][0] == 4 * 777 - 4000);
  CHECK(run.Parameters(1, 3)[0][2] == -9);
  const sluice_test::Bytes none = {1, 2, 3};
  CHECK(ScaledRun(OptionsOf(none)).error() != "");
}

}  // namespace sluice_sim
