// SPDX-License-Identifier: Apache-2.0
// KAPLA's seven networks: every layer's dims and work against the networks' reference
// files (reference/kapla/networks), which charge padding as data and give work per
// sample.
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/zoo/zoo.h"
#include "planned.h"
#include "sluice/graph_generated.h"
#include "sluice/ops.h"

namespace sluice_test {
namespace {

using sluice::cli::MakeZooGraph;
using sluice::cli::ZooOptions;
namespace wire = sluice::wire;

// C, K, H, W of the output, R, S, stride; groups.
using Shape = std::array<int64_t, 8>;
using Shapes = std::map<Shape, int>;  // how many layers have it

class Reader {
 public:
  explicit Reader(const Bytes& bytes) : graph_(*wire::GetGraph(bytes.data())) {}

  std::array<int64_t, 4> Dims(uint32_t tensor) const {
    std::array<int64_t, 4> dims = {1, 1, 1, 1};
    const uint32_t begin = graph_.tensor_dim_begin()->Get(tensor);
    const uint32_t end = graph_.tensor_dim_begin()->Get(tensor + 1);
    for (uint32_t i = begin; i < end; ++i) {
      dims[4 - (end - i)] = graph_.tensor_dims()->Get(i);
    }
    return dims;
  }
  uint32_t Input(uint32_t layer, uint32_t i) const {
    return graph_.layer_inputs()->Get(graph_.layer_input_begin()->Get(layer) + i);
  }
  uint32_t Output(uint32_t layer) const {
    return graph_.layer_outputs()->Get(graph_.layer_output_begin()->Get(layer));
  }
  int32_t Attribute(uint32_t layer, uint32_t i) const {
    return graph_.layer_attributes()->Get(graph_.layer_attribute_begin()->Get(layer) +
                                          i);
  }

  // What computes, by KAPLA's kinds; a fully connected layer behind a flattening one
  // is a convolution over the whole of its input there, so only C is compared.
  Shapes Windows(int64_t* macs) const {
    Shapes shapes;
    for (uint32_t l = 0; l < graph_.layer_op()->size(); ++l) {
      const uint16_t op = graph_.layer_op()->Get(l);
      const auto out = Dims(Output(l)), in = Dims(Input(l, 0));
      Shape s = {in[3], out[3], out[1], out[2], 1, 1, 1, 1};
      switch (op) {
        case SLUICE_OP_CONV:
        case SLUICE_OP_DEPTHWISE_CONV: {
          const auto weight = Dims(Input(l, 1));
          s[4] = weight[1];
          s[5] = weight[2];
          s[6] = Attribute(l, SLUICE_CONV_STRIDE_H);
          s[7] = op == SLUICE_OP_CONV ? 1 : in[3];
          break;
        }
        case SLUICE_OP_MAX_POOL:
        case SLUICE_OP_AVERAGE_POOL:
          s[4] = Attribute(l, SLUICE_POOL_WINDOW_H);
          s[5] = Attribute(l, SLUICE_POOL_WINDOW_W);
          s[6] = Attribute(l, SLUICE_POOL_STRIDE_H);
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

  int Additions() const {
    int count = 0;
    for (const uint16_t op : *graph_.layer_op()) {
      count += op == SLUICE_OP_ADD || op == SLUICE_OP_MUL;
    }
    return count;
  }

 private:
  const wire::Graph& graph_;
};

bool ReadPeer(const char* name, nlohmann::json* out) {
  const char* shared = std::getenv("SLUICE_SHARED");
  std::ifstream file(std::string(shared ? shared : SLUICE_SHARED_DEFAULT) +
                     "/reference/kapla/networks/" + name + ".json");
  if (!file) {
    MESSAGE("skipped: no reference networks");
    return false;
  }
  *out = nlohmann::json::parse(file);
  return true;
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
  const Reader reader(graph);
  CHECK(reader.Windows(&macs) == shapes);
  CHECK(macs == 2 * peer_macs);
  CHECK(reader.Additions() == additions);
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
