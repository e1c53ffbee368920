// SPDX-License-Identifier: Apache-2.0
#include "scaled.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "reference.h"
#include "sim.h"

namespace sluice_sim {

struct ScaledRun::Parts {
  std::string error;
  Graph graph;
  std::vector<int32_t> parameters;
  Values given;  // what is known before a run
  std::vector<ScaledBox> boxes;

  bool Is(const std::string& what) {
    if (error.empty()) error = what;
    return error.empty();
  }
  bool IsSigned(uint32_t tensor) const {
    return graph.tensors[tensor].dtype == SLUICE_DTYPE_INT8;
  }
  // Writes the boxes of a layer whose other bytes are there.
  void Scale(const Layer& layer, const std::vector<const ScaledBox*>& scaled,
             Values* values) const;
};

void ScaledRun::Parts::Scale(const Layer& layer,
                             const std::vector<const ScaledBox*>& scaled,
                             Values* values) const {
  Tile tile = CroppedTile(graph, layer, values);
  const Extent extent = tile.output.extent;
  Bytes sums(static_cast<size_t>(extent[0] * extent[1] * extent[2] * extent[3] * 4));
  const Box out = tile.output;
  tile.last = false;
  tile.accumulator = DenseBox(sums.data(), SLUICE_DTYPE_INT32, extent);
  tile.output = {};
  RunTile(tile);
  for (const ScaledBox* box : scaled) {
    const auto& b = box->begin;
    const Extent part = {box->extent[0], box->extent[1], box->extent[2],
                         box->extent[3]};
    ForEachElement(part, nullptr, [&](int64_t n, int64_t h, int64_t w, int64_t k) {
      int32_t sum = 0;
      std::memcpy(&sum, tile.accumulator.at(b[0] + n, b[1] + h, b[2] + w, b[3] + k), 4);
      const auto all = static_cast<int32_t>(
          static_cast<uint32_t>(sum) +
          static_cast<uint32_t>(box->biases[static_cast<size_t>(k)]));
      int8_t* const to =
          reinterpret_cast<int8_t*>(out.at(b[0] + n, b[1] + h, b[2] + w, b[3] + k));
      if (box->make) {
        *to = static_cast<int8_t>(box->make(k, all));
        return;
      }
      float y = std::nearbyintf(static_cast<float>(all) * box->scale);
      if (box->relu) y = std::max(y, 0.0F);
      *to = static_cast<int8_t>(std::min(127.0F, std::max(-128.0F, y)));
    });
  }
}

ScaledRun::ScaledRun(const SimulateOptions& options)
    : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  if (!p.Is(ReadGraph(options.graph, options.graph_size, &p.graph))) return;
  p.graph.host_functions = options.host_functions;
  p.parameters = p.graph.parameter_min;
  p.given.resize(p.graph.tensors.size());
  p.Is(FillConstants(p.graph, options.data_dir, &p.given));
  p.Is(FillInputs(p.graph, options.seed, options.inputs, &p.given));
  for (size_t t = 0; p.error.empty() && t < p.given.size(); ++t) {
    if (p.graph.tensors[t].kind != kState) continue;
    p.Is(FillFromSource(p.graph, t, options.data_dir, &p.given[t]));
  }
}

ScaledRun::~ScaledRun() = default;

const std::string& ScaledRun::error() const { return parts_->error; }

const int32_t (*ScaledRun::Parameters(uint32_t layer, int64_t channel) const)[3] {
  const uint32_t tensor = parts_->graph.layers[layer].input(2);
  if (tensor == kAbsent || parts_->given[tensor].empty()) return nullptr;
  return reinterpret_cast<const int32_t(*)[3]>(parts_->given[tensor].data()) + channel;
}

void ScaledRun::Add(ScaledBox box) { parts_->boxes.push_back(std::move(box)); }

ScaledDifference ScaledRun::Compare() {
  Parts& p = *parts_;
  ScaledDifference difference;
  Values exact = p.given, values = p.given;
  if (!p.Is(RunLayers(p.graph, p.parameters, &exact))) return difference;
  for (uint32_t i = 0; i < p.graph.layers.size(); ++i) {
    std::vector<const ScaledBox*> scaled;
    for (const ScaledBox& box : p.boxes) {
      if (box.layer == i) scaled.push_back(&box);
    }
    if (!p.Is(RunLayer(p.graph, p.graph.layers[i], &values, p.parameters)))
      return difference;
    if (!scaled.empty()) p.Scale(p.graph.layers[i], scaled, &values);
  }
  for (uint32_t t = 0; t < p.graph.tensors.size(); ++t) {
    if (p.graph.tensors[t].kind != kOutput) continue;
    for (size_t i = 0; i < exact[t].size(); ++i) {
      const uint8_t a = exact[t][i], b = values[t][i];
      const int apart = p.IsSigned(t) ? static_cast<int8_t>(a) - static_cast<int8_t>(b)
                                      : int{a} - int{b};
      ++difference.compared_bytes;
      difference.mismatches += apart != 0;
      difference.most = std::max<int64_t>(difference.most, std::abs(apart));
    }
  }
  return difference;
}

}  // namespace sluice_sim
