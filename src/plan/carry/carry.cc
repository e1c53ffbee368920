// SPDX-License-Identifier: Apache-2.0
#include "plan/carry/carry.h"

#include "base/checked.h"

namespace sluice {
namespace {

Status Bad(Diagnostic* diagnostic, const char* what) {
  return Fail(diagnostic, Status::kBadInput, "repair").Text(what);
}

// The earlier notation, by layer of the earlier graph.
struct Before {
  Span<uint32_t> section;
  Span<uint32_t> position;       // or kNone: a view, or what appends to a state
  Span<uint32_t> group, fusion;  // by position
  Span<int32_t> tiles;           // by position
  Span<uint32_t> first;          // by section, and the end: positions
};

Status ReadBefore(const PlanNotation& n, size_t layers, Arena* arena, Before* out,
                  Diagnostic* diagnostic) {
  const size_t positions = n.order.size();
  if (n.cut.size() != positions) {
    return Bad(diagnostic, "the plan's notation is not that of fused layers");
  }
  SLUICE_TRY(arena->Allocate(layers, &out->section));
  SLUICE_TRY(arena->Allocate(layers, &out->position));
  SLUICE_TRY(arena->Allocate(positions, &out->group));
  SLUICE_TRY(arena->Allocate(positions, &out->fusion));
  SLUICE_TRY(arena->Allocate(positions, &out->tiles));
  SLUICE_TRY(arena->Allocate(n.section.size() + 1, &out->first));
  for (size_t s = 0; s < n.section.size(); ++s) {
    const size_t end =
        s + 1 < n.section.size() ? size_t{n.section[s + 1].layer} : layers;
    if (n.section[s].layer >= end || end > layers) {
      return Bad(diagnostic, "the plan's sections do not ascend with its layers");
    }
    for (size_t l = n.section[s].layer; l < end; ++l) {
      out->section[l] = static_cast<uint32_t>(s);
    }
  }
  for (uint32_t& p : out->position) p = kNone;
  uint32_t group = 0;
  uint32_t fusion = 0;
  int32_t tiles = 1;
  uint32_t section = 0;
  for (uint32_t p = 0; p < positions; ++p) {
    const uint32_t l = n.order[p];
    if (l >= layers || out->position[l] != kNone || n.cut[p] > 2) {
      return Bad(diagnostic, "the plan's order or cuts are not those of its layers");
    }
    if (out->section[l] < section) {
      return Bad(diagnostic, "the plan's order does not keep its sections");
    }
    if (n.cut[p] != 0 || out->section[l] != section) {
      ++group;
      tiles = TilesOfGroup(n.tiling[p]);
    }
    if (n.cut[p] == 2 || out->section[l] != section) ++fusion;
    while (section < out->section[l]) out->first[++section] = p;
    out->position[l] = p;
    out->group[p] = group;
    out->fusion[p] = fusion;
    out->tiles[p] = tiles;
  }
  while (section < n.section.size()) {
    out->first[++section] = static_cast<uint32_t>(positions);
  }
  return Status::kOk;
}

// The highest rank of a layer's producers: the layer cannot come before it.
uint32_t LeastRank(const Graph& graph, const Layer& layer,
                   Span<const CarriedLayer> carried, uint32_t least) {
  for (uint32_t t : layer.inputs) {
    if (t == kNone || graph.tensors[t].producer == kNone) continue;
    least = Max(least, carried[graph.tensors[t].producer].rank);
  }
  return least;
}

// Layers by rank, equal ranks by layer: counting sort.
Status SortByRank(Span<const CarriedLayer> layers, size_t ranks, Arena* arena,
                  Span<uint32_t>* order) {
  Span<uint32_t> begin;
  SLUICE_TRY(arena->Allocate(layers.size(), order));
  SLUICE_TRY(arena->Allocate(ranks + 1, &begin));
  for (const CarriedLayer& l : layers) ++begin[l.rank + 1];
  for (size_t r = 0; r < ranks; ++r) begin[r + 1] += begin[r];
  for (uint32_t l = 0; l < layers.size(); ++l) {
    (*order)[begin[layers[l].rank]++] = l;
  }
  return Status::kOk;
}

}  // namespace

Status Carry(const PlanNotation& before, const Alignment& alignment, const Graph& graph,
             Arena* arena, CarriedSchedule* out, Diagnostic* diagnostic) {
  if (before.section.empty() || before.order.empty() ||
      before.section[0].layer >= alignment.after_of.size()) {
    return Bad(diagnostic, "the plan carries no notation of its schedule");
  }
  Before b;
  Span<CarriedLayer> layers;
  Span<uint8_t> whole;
  Span<uint32_t> order;
  SLUICE_TRY(ReadBefore(before, alignment.after_of.size(), arena, &b, diagnostic));
  SLUICE_TRY(arena->Allocate(graph.layers.size(), &layers));
  SLUICE_TRY(arena->Allocate(before.section.size(), &whole));
  for (uint8_t& w : whole) w = 1;
  uint32_t section = 0;
  uint32_t rank = 0;  // of the layer in front, for layers that read no other
  for (uint32_t l = 0; l < layers.size(); ++l) {
    const uint32_t old = alignment.before_of[l];
    const uint32_t position = old == kNone ? kNone : b.position[old];
    const bool placed = position != kNone;
    if (old != kNone) section = b.section[old];
    if (old == kNone) whole[section] = 0;
    CarriedLayer* c = &layers[l];
    c->before = old;
    rank = LeastRank(graph, graph.layers[l], layers, placed ? position : 0);
    c->rank = rank;
    c->section = section;
    const uint32_t model = placed ? position : rank;
    c->group = b.group[model];
    c->fusion = b.fusion[model];
    c->tiles = b.tiles[model];
    c->touched = alignment.same[l] == 0;
    out->touched += c->touched;
  }
  for (uint32_t l = 0; l < b.section.size(); ++l) {
    if (alignment.after_of[l] == kNone) whole[b.section[l]] = 0;
  }
  SLUICE_TRY(SortByRank(layers, before.order.size(), arena, &order));
  out->layer = layers;
  out->order = order;
  out->whole = whole;
  out->first = b.first;
  out->after_of = alignment.after_of;
  out->before = &before;
  return Status::kOk;
}

}  // namespace sluice
