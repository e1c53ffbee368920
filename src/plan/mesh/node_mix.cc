// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_mix.h"

#include "base/sort.h"

namespace sluice {

namespace {

constexpr double kNever = 1e300;

struct Cover {
  Span<double> cost;         // of the layers before a position
  Span<const NodeItem*> by;  // the item that ends there
};

void FindCover(const NodeMix& mix, Cover* cover) {
  for (uint32_t i = 1; i <= mix.layers; ++i) cover->cost[i] = kNever;
  for (const NodeItem& item : mix.items) {
    if (cover->cost[item.first] >= kNever || item.cost >= kNever) continue;
    const uint32_t end = item.first + item.layers;
    const double sum = cover->cost[item.first] + item.cost;
    if (sum >= cover->cost[end]) continue;
    cover->cost[end] = sum;
    cover->by[end] = &item;
  }
}

// Leaves out the item of the cover with the most steps, of items that are shorter
// otherwise; false: there is none.
bool LeaveOut(const NodeMix& mix, const Cover& cover) {
  NodeItem* longest = nullptr;
  for (uint32_t at = mix.layers; at > 0; at = cover.by[at]->first) {
    NodeItem* item = mix.items.data() + (cover.by[at] - mix.items.data());
    if (item->way.run == nullptr && !item->way.together) continue;
    if (longest == nullptr || item->steps > longest->steps) longest = item;
  }
  if (longest == nullptr) return false;
  longest->cost = kNever;
  return true;
}

}  // namespace

Status MixItems(const NodeMix& mix, Arena* arena, Span<const NodeItem*>* found) {
  Sort(mix.items.begin(), mix.items.end(), [](const NodeItem& a, const NodeItem& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.layers != b.layers) return a.layers < b.layers;
    return a.cost < b.cost;
  });
  Cover cover;
  SLUICE_TRY(arena->Allocate(size_t{mix.layers} + 1, &cover.cost));
  SLUICE_TRY(arena->Allocate(size_t{mix.layers} + 1, &cover.by));
  uint32_t count = 0;
  for (size_t steps = 0;; steps = count = 0) {
    FindCover(mix, &cover);
    if (cover.cost[mix.layers] >= kNever) return Status::kInfeasible;
    for (uint32_t at = mix.layers; at > 0; at = cover.by[at]->first, ++count) {
      steps += cover.by[at]->steps;
    }
    if (steps <= mix.most_steps || !LeaveOut(mix, cover)) break;
  }
  SLUICE_TRY(arena->Allocate(count, found));
  for (uint32_t at = mix.layers; at > 0; at = cover.by[at]->first) {
    (*found)[--count] = cover.by[at];
  }
  return Status::kOk;
}

}  // namespace sluice
