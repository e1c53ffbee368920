// SPDX-License-Identifier: Apache-2.0
#include "quality_cases.h"

#include <nlohmann/json.hpp>

#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "zoo/network.h"

namespace sluice_bench {

using sluice::import::Bytes;
using sluice::zoo::Fmap;
using sluice::zoo::Network;
using sluice::zoo::Padding;

namespace {

Bytes TwoProducts() {
  constexpr int32_t kHeads = 12, kTokens = 512, kDepth = 64;
  Network net("qk_av");
  const auto input = [&](const char* name) {
    return net.Input(name, {1, kHeads, kTokens, kDepth});
  };
  const Fmap q = input("q"), k = input("k"), v = input("v");
  const Fmap scores =
      Matmul(&net, "scores", {q, k, true, 0, 1e-3}, {1, kHeads, kTokens, kTokens}, 32);
  return net.Finish(Matmul(&net, "mix", {scores, v, false, 0, 1e-3},
                           {1, kHeads, kTokens, kDepth}, 32));
}

Bytes Projections(const std::string& name, int32_t in, bool hidden) {
  Network net(name);
  Fmap x = net.Input("x", {512, 1, 1, in});
  if (hidden) x = FullyConnected(&net, "up", x, 3072, false);
  return net.Finish(FullyConnected(&net, "down", x, 768, false));
}

Bytes InvertedResidual() {
  Network net("inverted_residual");
  Fmap x = net.Input("x", {1, 30, 30, 24});
  x = Convolution(&net, "expand", x, 192, {1, 1}, true);
  x = Depthwise(&net, "depthwise", x, {3, 1, Padding::kValid}, true);
  return net.Finish(Convolution(&net, "project", x, 24, {1, 1}, false));
}

Bytes Joined(const std::string& name) {
  Network net(name);
  Fmap x = net.Input("x", {1, 56, 56, 64});
  x = Convolution(&net, "first", x, 16, {1, 1}, true);
  const int32_t channels = name == "concat" ? 64 : 128;
  const Fmap one = Convolution(&net, "one", x, channels, {1, 1}, true);
  const Fmap three = Convolution(&net, "three", x, channels, {3, 1}, true);
  x = name == "concat" ? Concat(&net, "join", {one, three})
                       : Add(&net, "join", one, three, 0.5, true);
  return net.Finish(Convolution(&net, "last", x, 16, {1, 1}, true));
}

}  // namespace

Bytes MakeCase(const std::string& name) {
  if (name == "qk_av") return TwoProducts();
  if (name == "ffn") return Projections(name, 768, true);
  if (name == "down_projection") return Projections(name, 3072, false);
  if (name == "inverted_residual") return InvertedResidual();
  if (name == "concat" || name == "add") return Joined(name);
  return {};
}

Bytes OnlyTraffic() {
  using Json = nlohmann::ordered_json;
  const Bytes preset = sluice::presets::LoadPreset("soma-edge");
  Json machine = Json::parse(sluice::presets::HardwareAsJson(preset));
  machine.erase("core_array");
  for (Json& level : machine["levels"]) {
    const double bit = level["name"] == "DRAM" ? 1 : 0;
    level["read_pj_per_bit"] = level["write_pj_per_bit"] = bit;
  }
  machine["mac_pj"] = machine["vector_op_pj"] = 0;
  machine["leakage_pj_per_cycle"] = 0;
  std::string error;
  return sluice::presets::HardwareFromJson(machine.dump(), &error);
}

}  // namespace sluice_bench
