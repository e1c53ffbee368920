// SPDX-License-Identifier: Apache-2.0
#include "solve/baseline/tiling_memo.h"

namespace sluice {

namespace {

bool SameShape(const Graph& graph, uint32_t a, uint32_t b) {
  if (a == kNone || b == kNone) return a == b;
  const Tensor& x = graph.tensors[a];
  const Tensor& y = graph.tensors[b];
  for (int i = 0; i < kAxes; ++i) {
    if (x.extent[i] != y.extent[i]) return false;
  }
  return x.element_bytes == y.element_bytes;
}

}  // namespace

bool SameLayer(const Graph& graph, const Layer& a, const Layer& b) {
  if (a.op != b.op || a.inputs.size() != b.inputs.size()) return false;
  const size_t n = a.attributes.size() > b.attributes.size() ? a.attributes.size()
                                                             : b.attributes.size();
  for (size_t i = 0; i < n; ++i) {
    if (a.attribute(i) != b.attribute(i)) return false;
  }
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (!SameShape(graph, a.inputs[i], b.inputs[i])) return false;
  }
  return SameShape(graph, a.outputs[0], b.outputs[0]);
}

uint64_t HashOfLayer(const Graph& graph, const Layer& layer) {
  uint64_t hash = layer.op;
  const auto mix = [&](uint32_t tensor) {
    if (tensor == kNone) return;
    for (int32_t extent : graph.tensors[tensor].extent) {
      hash = (hash ^ static_cast<uint32_t>(extent)) * 0x9e3779b97f4a7c15u;
    }
  };
  for (uint32_t tensor : layer.inputs) mix(tensor);
  mix(layer.outputs[0]);
  return hash;
}

Status TilingMemo::Choose(const TiledLayer& layer, int64_t scratchpad_bytes,
                          Arena* scratch, Tiling* tiling, TileBuffers* buffers,
                          int64_t* smallest) {
  const uint64_t hash = HashOfLayer(layer.graph, layer.layer);
  uint32_t* const head = &head_[hash >> 58];
  for (uint32_t e = *head; e != 0; e = entries_[e - 1].next) {
    const Entry& entry = entries_[e - 1];
    if (entry.hash != hash || !SameLayer(layer.graph, entry.layer, layer.layer) ||
        (layer.coster.by_layer && entry.index != layer.index)) {
      continue;
    }
    *tiling = entry.tiling;
    *buffers = entry.buffers;
    *smallest = 0;
    return Status::kOk;
  }
  SLUICE_TRY(ChooseTiling(layer, scratchpad_bytes, scratch, tiling, smallest, buffers));
  SLUICE_TRY(
      entries_.Push(Entry{hash, layer.layer, layer.index, *head, *tiling, *buffers}));
  *head = static_cast<uint32_t>(entries_.size());
  return Status::kOk;
}

}  // namespace sluice
