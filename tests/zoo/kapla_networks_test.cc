// SPDX-License-Identifier: Apache-2.0
// KAPLA's seven networks: every layer's dims and work against the networks' reference
// files (reference/kapla/networks), which charge padding as data and give work per
// sample.
#include <map>

#include "graph_reader.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

using sluice::zoo::MakeZooGraph;
using sluice::zoo::ZooOptions;

// C, K, H, W of the output, R, S, stride; groups.
using Shape = std::array<int64_t, 8>;
using Shapes = std::map<Shape, int>;  // how many layers have it

// Layers that compute, by KAPLA's kinds. KAPLA writes a fully connected layer behind a
// flattening one as a convolution over its whole input, so only C is compared.
Shapes Windows(const GraphReader& graph, int64_t* macs) {
  Shapes shapes;
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    const uint16_t op = graph.Op(l);
    const auto out = graph.Dims(graph.Output(l)), in = graph.Dims(graph.Input(l, 0));
    Shape s = {in[3], out[3], out[1], out[2], 1, 1, 1, 1};
    switch (op) {
      case SLUICE_OP_CONV:
      case SLUICE_OP_DEPTHWISE_CONV: {
        const auto weight = graph.Dims(graph.Input(l, 1));
        s[4] = weight[1];
        s[5] = weight[2];
        s[6] = graph.Attribute(l, SLUICE_CONV_STRIDE_H);
        s[7] = op == SLUICE_OP_CONV ? 1 : in[3];
        break;
      }
      case SLUICE_OP_MAX_POOL:
      case SLUICE_OP_AVERAGE_POOL:
        s[4] = graph.Attribute(l, SLUICE_POOL_WINDOW_H);
        s[5] = graph.Attribute(l, SLUICE_POOL_WINDOW_W);
        s[6] = graph.Attribute(l, SLUICE_POOL_STRIDE_H);
        s[7] = 0;
        break;
      case SLUICE_OP_FULLY_CONNECTED:
        s[2] = s[3] = 1;
        break;
      default:
        continue;
    }
    ++shapes[s];
    if (s[7] != 0) {
      const int64_t outputs = out[0] * out[1] * out[2] * out[3];
      *macs += outputs * s[4] * s[5] * (s[0] / s[7]);
    }
  }
  return shapes;
}

int Additions(const GraphReader& graph) {
  int count = 0;
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    count += graph.Op(l) == SLUICE_OP_ADD || graph.Op(l) == SLUICE_OP_MUL;
  }
  return count;
}

void CheckNetwork(const char* name, const char* peer_name) {
  CAPTURE(std::string(name));
  nlohmann::json peer;
  if (!ReadPeer(peer_name, &peer)) return;
  ZooOptions options;
  options.batch = 2;
  int64_t macs = 0, peer_macs = 0;
  int additions = 0;
  Shapes shapes;
  for (const auto& l : peer["layers"]) {
    const std::string type = l["type"];
    const auto at = [&](const char* key) { return l[key].get<int64_t>(); };
    if (type == "eltwise") {
      additions += l.contains("nreg") ? at("C") / at("K") - 1 : 0;
      continue;
    }
    Shape s = {at("C"), at("K"), at("H_out"),  at("W_out"),
               at("R"), at("S"), at("stride"), type == "pool" ? 0 : at("groups")};
    if (type == "fc") s = {at("C") * at("R") * at("S"), at("K"), 1, 1, 1, 1, 1, 1};
    ++shapes[s];
    if (type != "pool") peer_macs += at("ops");
  }
  const Bytes graph = MakeZooGraph(name, options);
  const GraphReader reader(graph);
  CHECK(Windows(reader, &macs) == shapes);
  CHECK(macs == 2 * peer_macs);
  CHECK(Additions(reader) == additions);
}

TEST_CASE("KAPLA's networks have the layers of its evaluation, dim by dim") {
  CheckNetwork("alexnet", "alex_net");
  CheckNetwork("mobilenet_v1", "mobilenet");
  CheckNetwork("vgg16", "vgg_net");
  CheckNetwork("googlenet", "googlenet");
  CheckNetwork("resnet50", "resnet50");
  CheckNetwork("mlp_l", "mlp_l");
  CheckNetwork("lstm_gnmt", "lstm_gnmt");
}

void CheckRuns(const char* name) {
  CAPTURE(std::string(name));
  Planned p(MakeZooGraph(name, ZooOptions()), "soma-edge");
  CHECK(p.RefusedBy(p.plan) == "");
  const sluice_sim::SimulateResult result = p.Run(p.Options());
  REQUIRE(result.outputs.size() == 1);
}

TEST_CASE("GoogLeNet, AlexNet, MLP-L and an LSTM step equal their untiled runs") {
  CheckRuns("alexnet");
  CheckRuns("googlenet");
  CheckRuns("mlp_l");
  CheckRuns("lstm_gnmt");
}

}  // namespace
}  // namespace sluice_test
