// SPDX-License-Identifier: Apache-2.0
#include "solve/space/tile_prices.h"

#include <string.h>

#include "base/hash.h"

namespace sluice {
namespace {

constexpr size_t kKnown = 2048;  // a power of two

uint64_t HashOfLayer(const Graph& graph, const Layer& layer) {
  uint64_t hash = Fnv1a(layer.attributes.data(),
                        layer.attributes.size() * sizeof(int32_t), layer.op);
  const auto add = [&](uint32_t tensor) {
    const Tensor none = {};
    const Tensor& t = tensor == kNone ? none : graph.tensors[tensor];
    hash = Fnv1a(t.extent, sizeof t.extent, hash * 256 + t.dtype);
  };
  for (const uint32_t t : layer.inputs) add(t);
  for (const uint32_t t : layer.outputs) add(t);
  return hash | 1;
}

}  // namespace

__attribute__((cold)) Status TilePrices::Init(Arena* arena) {
  SLUICE_TRY(arena->Allocate(kKnown, &known_));
  SLUICE_TRY(arena->Allocate(p_.layer.size(), &alike_));
  for (uint32_t i = 0; i < alike_.size(); ++i) {
    alike_[i] = HashOfLayer(*p_.graph, p_.at(i));
  }
  return Status::kOk;
}

TileCost TilePrices::Of(uint32_t position, const TileBoxes& boxes, TileSum sum) {
  const int32_t* extent = boxes.box[kRoleOutput].extent;
  const uint64_t like = p_.coster.by_layer ? position + 1 : alike_[position];
  uint32_t hash = static_cast<uint32_t>(like ^ like >> 32);
  for (int a = 0; a < kAxes; ++a) {
    hash = (hash ^ static_cast<uint32_t>(extent[a])) * 0x9e3779b1u;
  }
  const uint32_t part =
      4 * static_cast<uint32_t>(sum.channels) + 2 * sum.first + sum.last;
  hash = (hash ^ part) * 0x9e3779b1u;
  Known* known = &known_[hash >> 16 & (known_.size() - 1)];
  if (known->like != like || known->sum.channels != sum.channels ||
      known->sum.first != sum.first || known->sum.last != sum.last ||
      memcmp(known->extent, extent, sizeof known->extent) != 0) {
    known->like = like;
    known->sum = sum;
    memcpy(known->extent, extent, sizeof known->extent);
    known->cost = DeclaredCost(
        {p_.coster, *p_.hardware, *p_.graph, p_.at(position), p_.layer[position]},
        boxes, sum);
  }
  return known->cost;
}

}  // namespace sluice
