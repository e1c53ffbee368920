// SPDX-License-Identifier: Apache-2.0
// What of a schedule holds for the edited graph, layer by layer.
//
// Input    the notation of a plan (untrusted); the graph; which layer was which.
// Output   per layer of the graph: its section, its place in the computing order, its
//          groups, its tiling number, whether anything about it has changed. Inserted
//          layers stand behind what they read, in its groups; groups of removed layers
//          are closed up.
// Errors   kBadInput when the notation does not describe a graph with these layers;
//          kOutOfMemory.
// Cost     linear.
#ifndef SLUICE_SOLVE_REPAIR_CARRY_H_
#define SLUICE_SOLVE_REPAIR_CARRY_H_

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
  // By section of the plan before: its layers are those it had.
  Span<const uint8_t> whole;
  Span<const uint32_t> first;     // by section, and the end: positions of the notation
  Span<const uint32_t> after_of;  // by layer of the graph before: layer now, or none
  const PlanNotation* before = nullptr;
  bool same_machine = false;  // nothing about it is new, but perhaps more scratchpad
  bool minimise = false;      // nothing changes that can stay
  uint32_t touched = 0;       // layers
};

// As the notation says it, kept within what searches ask for.
constexpr int32_t TilesOfGroup(int32_t tiling) {
  constexpr int32_t kMost = 1 << 16;
  return tiling < 1 ? 1 : tiling > kMost ? kMost : tiling;
}

Status Carry(const PlanNotation& before, const Alignment& alignment, const Graph& graph,
             Arena* arena, CarriedSchedule* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_REPAIR_CARRY_H_
