// SPDX-License-Identifier: Apache-2.0
// A network of five layers with halos, several readers and an inner result.
#ifndef SLUICE_TESTS_SOLVE_FUSION_SMALL_NETWORK_H_
#define SLUICE_TESTS_SOLVE_FUSION_SMALL_NETWORK_H_

#include <algorithm>
#include <vector>

#include "model/notation.h"

namespace sluice {

struct Window {
  int32_t size, stride, pad;
};

// input -> 0 (3x3) -> 1 (3x3, stride 2) -> 3 (add) -> 4 (3x3 over the channels of 3, 1)
//                 \-> 2 (1x1, stride 2) -> 3             and 0 is a result too
struct Small {
  std::vector<FusionLayer> layers;
  std::vector<FusionInput> inputs;
  std::vector<Window> windows;  // by input
  std::vector<uint32_t> consumers;
  FusionExternal external = {{2, 16, 12, 8}, 1};
  FusionProblem problem = {};
  TileModel model = {};

  void Add(int32_t h, int32_t w, int32_t k, std::vector<uint32_t> sources,
           Window window) {
    FusionLayer l = {};
    const int32_t extent[4] = {2, h, w, k};
    std::copy(extent, extent + 4, l.extent);
    l.element_bytes = 1;
    l.weight_bytes = 100;
    l.first_input = static_cast<uint32_t>(inputs.size());
    l.inputs = static_cast<uint32_t>(sources.size());
    l.axes = 7;
    for (uint32_t s : sources) {
      inputs.push_back({s, 15});
      windows.push_back(window);
    }
    layers.push_back(l);
  }

  Small() {
    Add(16, 12, 16, {5}, {3, 1, 1});
    Add(8, 6, 16, {0}, {3, 2, 1});
    Add(8, 6, 16, {0}, {1, 2, 0});
    Add(8, 6, 16, {1, 2}, {1, 1, 0});
    Add(8, 6, 8, {3, 1}, {3, 1, 1});
    layers[0].output = true;
    consumers.resize(inputs.size());
    problem.inputs = {inputs.data(), inputs.size()};
    LinkConsumers({layers.data(), layers.size()}, problem.inputs,
                  {consumers.data(), consumers.size()});
    problem.layers = {layers.data(), layers.size()};
    problem.consumers = {consumers.data(), consumers.size()};
    problem.externals = {&external, 1};
    problem.dram_bandwidth = {4, 1};
    problem.dram_latency_cycles = 3;
    problem.dram_pj_per_byte = 1;
    problem.buffer_bytes = 1 << 20;
    model = {this, CutGrid, Need, Cost, kTileShareLoads};
  }
  Small(const Small&) = delete;

  const int32_t* Extent(uint32_t source) const {
    return source < layers.size() ? layers[source].extent : external.extent;
  }

  static void Need(void* user, uint32_t layer, uint32_t input, const CutBox& box,
                   CutBox* out) {
    const Small& s = *static_cast<Small*>(user);
    const uint32_t edge = s.layers[layer].first_input + input;
    const Window& w = s.windows[edge];
    const int32_t* extent = s.Extent(s.inputs[edge].source);
    *out = box;
    for (int a = 1; a <= 2; ++a) {
      out->begin[a] = std::max(0, box.begin[a] * w.stride - w.pad);
      out->end[a] = std::min(extent[a], (box.end[a] - 1) * w.stride - w.pad + w.size);
    }
    out->begin[3] = 0;
    out->end[3] = extent[3];
  }
  static bool Cost(void*, uint32_t, const int32_t extent[4], TileCost* out) {
    *out = {extent[0] * extent[1] * extent[2] * extent[3], 1.0};
    return true;
  }
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_FUSION_SMALL_NETWORK_H_
