// SPDX-License-Identifier: Apache-2.0
// Networks of any number of layers, for work that must not grow faster than the network.
#ifndef SLUICE_TESTS_BENCH_GROWING_NETWORK_H_
#define SLUICE_TESTS_BENCH_GROWING_NETWORK_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "model/notation.h"

namespace sluice {

// Must not be moved: the problem points into it.
struct GrowingNetwork {
  GrowingNetwork() = default;
  GrowingNetwork(const GrowingNetwork&) = delete;
  GrowingNetwork& operator=(const GrowingNetwork&) = delete;

  uint32_t Add(int32_t h, int32_t w, int32_t k, int32_t window, bool weights,
               const std::vector<uint32_t>& sources) {
    FusionLayer l = {};
    const int32_t extent[4] = {1, h, w, k};
    std::copy(extent, extent + 4, l.extent);
    l.element_bytes = 1;
    l.first_input = static_cast<uint32_t>(inputs.size());
    l.inputs = static_cast<uint32_t>(sources.size());
    l.axes = 7;
    int64_t depth = 0;
    for (uint32_t s : sources) {
      inputs.push_back({s, 7});
      depth += s == kNone ? external.extent[3] : layers[s].extent[3];
    }
    if (weights) l.weight_bytes = depth * k * window * window;
    macs_per_element.push_back(weights ? depth * window * window : 0);
    windows.push_back(window);
    l.signature = static_cast<uint64_t>(window) * 2 + weights + 16;
    layers.push_back(l);
    return static_cast<uint32_t>(layers.size()) - 1;
  }

  void Finish(int64_t buffer_bytes) {
    for (FusionInput& i : inputs) {
      if (i.source == kNone) i.source = static_cast<uint32_t>(layers.size());
    }
    consumers.resize(inputs.size());
    problem.inputs = {inputs.data(), inputs.size()};
    LinkConsumers({layers.data(), layers.size()}, problem.inputs,
                  {consumers.data(), consumers.size()});
    problem.layers = {layers.data(), layers.size()};
    problem.consumers = {consumers.data(), consumers.size()};
    problem.externals = {&external, 1};
    problem.dram_bandwidth = {16, 1};
    problem.dram_pj_per_byte = 84;
    problem.buffer_bytes = buffer_bytes;
    model = {this, CutGrid, Need, Cost, kTileShareLoads | kTileWholeOfmaps};
  }

  static void Need(void* user, uint32_t layer, uint32_t input, const CutBox& box,
                   CutBox* out) {
    const GrowingNetwork& g = *static_cast<GrowingNetwork*>(user);
    const uint32_t source = g.inputs[g.layers[layer].first_input + input].source;
    const int32_t* extent =
        source < g.layers.size() ? g.layers[source].extent : g.external.extent;
    const int32_t pad = g.windows[layer] / 2;
    *out = box;
    for (int a = 1; a <= 2; ++a) {
      out->begin[a] = std::max(0, box.begin[a] - pad);
      out->end[a] = std::min(extent[a], box.end[a] + pad);
    }
    out->begin[3] = 0;
    out->end[3] = extent[3];
  }
  static bool Cost(void* user, uint32_t layer, const int32_t extent[4], TileCost* out) {
    const GrowingNetwork& g = *static_cast<GrowingNetwork*>(user);
    int64_t elements = 1;
    for (int a = 0; a < 4; ++a) elements *= extent[a];
    const int64_t macs = elements * g.macs_per_element[layer];
    *out = {1 + macs / 8192 + elements / 512,
            static_cast<double>(macs) * 0.018 + static_cast<double>(elements) * 4};
    return true;
  }

  std::vector<FusionLayer> layers;
  std::vector<FusionInput> inputs;
  std::vector<uint32_t> consumers;
  std::vector<int64_t> macs_per_element;
  std::vector<int32_t> windows;
  FusionExternal external = {{1, 64, 64, 64}, 1};
  FusionProblem problem = {};
  TileModel model = {};
};

// "chain": convolutions; "dag": each layer reads one to three of the sixteen before;
// "transformer": blocks of 14 layers, 64 tokens by 64, nothing else; "residual": stages
// of three-layer bottlenecks.
inline std::unique_ptr<GrowingNetwork> MakeGrowingNetwork(const std::string& kind,
                                                          size_t layers) {
  auto g = std::make_unique<GrowingNetwork>();
  Rng rng(layers);
  uint32_t last = kNone;
  while (g->layers.size() < layers) {
    const uint32_t n = static_cast<uint32_t>(g->layers.size());
    if (kind == "chain") {
      last = g->Add(64, 64, 64, n % 2 == 0 ? 3 : 1, true, {last});
    } else if (kind == "dag") {
      std::vector<uint32_t> sources;
      for (uint32_t i = 0; i <= rng.Below(3) && n > 0; ++i) {
        sources.push_back(n - 1 - rng.Below(std::min(n, i == 0 ? 2u : 16u)));
      }
      std::sort(sources.begin(), sources.end());
      sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
      if (sources.empty()) sources.push_back(kNone);
      const bool weights = rng.Below(3) != 0;
      last = g->Add(64, 64, 64, weights && rng.Below(2) != 0 ? 3 : 1, weights, sources);
    } else if (kind == "transformer") {
      const int32_t d = 768;
      const uint32_t x = last;
      const uint32_t norm = g->Add(512, 1, d, 1, false, {x});
      const uint32_t q = g->Add(512, 1, d, 1, true, {norm});
      const uint32_t k = g->Add(512, 1, d, 1, true, {norm});
      const uint32_t v = g->Add(512, 1, d, 1, true, {norm});
      const uint32_t score = g->Add(512, 1, 512, 1, false, {q, k});
      const uint32_t softmax = g->Add(512, 1, 512, 1, false, {score});
      const uint32_t mix = g->Add(512, 1, d, 1, false, {softmax, v});
      const uint32_t project = g->Add(512, 1, d, 1, true, {mix});
      const uint32_t add = g->Add(512, 1, d, 1, false, {project, x});
      const uint32_t norm2 = g->Add(512, 1, d, 1, false, {add});
      const uint32_t up = g->Add(512, 1, 4 * d, 1, true, {norm2});
      const uint32_t gelu = g->Add(512, 1, 4 * d, 1, false, {up});
      const uint32_t down = g->Add(512, 1, d, 1, true, {gelu});
      last = g->Add(512, 1, d, 1, false, {down, add});
    } else {
      const uint32_t a = g->Add(56, 56, 64, 1, true, {last});
      const uint32_t b = g->Add(56, 56, 64, 3, true, {a});
      const uint32_t c = g->Add(56, 56, 256, 1, true, {b});
      last = last == kNone ? c : g->Add(56, 56, 256, 1, false, {c, last});
    }
  }
  if (kind == "transformer") {
    const FusionExternal tokens = {{1, 512, 1, 768}, 1};
    g->external = tokens;
  }
  g->Finish(kind == "transformer" ? int64_t{8} << 20 : int64_t{1} << 20);
  return g;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCH_GROWING_NETWORK_H_
