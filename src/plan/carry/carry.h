// SPDX-License-Identifier: Apache-2.0
// Which parts of a schedule are valid for the edited graph, layer by layer.
//
// Input    the notation of a plan (untrusted); the graph; how its layers pair with the
//          earlier ones.
// Output   per layer of the graph: its section, its place in the computing order, its
//          groups, its tiling number, whether anything about it has changed. Inserted
//          layers follow their producers and join their groups; groups close over
//          removed layers.
// Errors   kBadInput when the notation does not describe a graph with these layers;
//          kOutOfMemory.
// Cost     linear.
#ifndef SLUICE_PLAN_CARRY_CARRY_H_
#define SLUICE_PLAN_CARRY_CARRY_H_

#include "model/plan.h"
#include "solve/repair/align.h"

namespace sluice {

struct CarriedLayer {
  uint32_t before;   // layer of the graph before, or none
  uint32_t section;  // of the plan before
  uint32_t rank;     // ascending ranks, then layers, are a computing order
  uint32_t group;    // fine-grained; numbered over the whole notation
  uint32_t fusion;   // layer-fusion group, likewise
  int32_t tiles;     // of the fine-grained group
  uint8_t touched;   // inserted or changed
};

struct CarriedSchedule {
  Span<const CarriedLayer> layer;  // by graph layer
  Span<const uint32_t> order;      // graph layers by rank, views and all
  // By section of the earlier plan: it has the same layers as before.
  Span<const uint8_t> whole;
  Span<const uint32_t> first;     // by section, and the end: positions of the notation
  Span<const uint32_t> after_of;  // by layer of the graph before: layer now, or none
  const PlanNotation* before = nullptr;
  bool same_machine = false;  // as before, perhaps with more scratchpad
  bool minimise = false;      // change as little as possible
  uint32_t touched = 0;       // layers
};

// The notation's tiling number, within the limits of the searches.
constexpr int32_t TilesOfGroup(int32_t tiling) {
  constexpr int32_t kMost = 1 << 16;
  return tiling < 1 ? 1 : tiling > kMost ? kMost : tiling;
}

Status Carry(const PlanNotation& before, const Alignment& alignment, const Graph& graph,
             Arena* arena, CarriedSchedule* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_CARRY_CARRY_H_
