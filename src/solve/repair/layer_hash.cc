// SPDX-License-Identifier: Apache-2.0
#include "solve/repair/layer_hash.h"

#include "base/hash.h"

namespace sluice {
namespace {

uint32_t Fold(uint64_t hash) { return static_cast<uint32_t>(hash ^ hash >> 32); }

uint64_t HashTensor(const Graph& graph, uint32_t t, uint64_t hash) {
  if (t == kNone) return Fnv1a(&t, sizeof t, hash);
  const Tensor& tensor = graph.tensors[t];
  // The kinds of its producers are part of a layer, their positions are not.
  const uint32_t what[] = {
      tensor.dtype, static_cast<uint32_t>(tensor.kind),
      tensor.producer == kNone ? 0u : 1u + graph.layers[tensor.producer].op};
  hash = Fnv1a(tensor.extent, sizeof tensor.extent, hash);
  return Fnv1a(what, sizeof what, hash);
}

}  // namespace

Status HashLayers(const Graph& graph, Arena* arena, Span<PlanLayerHash>* hashes) {
  SLUICE_TRY(arena->Allocate(graph.layers.size(), hashes));
  for (size_t l = 0; l < graph.layers.size(); ++l) {
    if (l % 64 == 63 && arena->memory()->Stop()) return Status::kStopped;
    const Layer& layer = graph.layers[l];
    const uint32_t arity[] = {layer.op, static_cast<uint32_t>(layer.inputs.size()),
                              static_cast<uint32_t>(layer.outputs.size())};
    const uint64_t kind = Fnv1a(arity, sizeof arity);
    uint64_t shape = Fnv1a(layer.attributes.data(), 4 * layer.attributes.size(), kind);
    for (uint32_t t : layer.inputs) shape = HashTensor(graph, t, shape);
    for (uint32_t t : layer.outputs) {
      shape = Fnv1a(graph.tensors[t].extent, sizeof graph.tensors[t].extent, shape);
      shape = Fnv1a(&graph.tensors[t].dtype, 1, shape);
    }
    (*hashes)[l] = PlanLayerHash{Fold(kind), Fold(shape)};
  }
  return Status::kOk;
}

}  // namespace sluice
