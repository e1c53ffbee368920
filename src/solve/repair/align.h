// SPDX-License-Identifier: Apache-2.0
// Pairs the layers of a graph with those of its edited form.
//
// Input    layer hashes of both, in graph order.
// Output   a monotone pairing: equal hashes first; between these, layers of one kind
//          whose shapes differ. Unpaired layers were removed or inserted.
// Errors   kOutOfMemory.
// Cost     linear where edits are few and local; a gap is searched for the nearest
//          place from which both sides agree again, at most kFarthest layers ahead.
// Source   own; the nearest agreement in place of a longest common subsequence, which
//          would take quadratic time.
#ifndef SLUICE_SOLVE_REPAIR_ALIGN_H_
#define SLUICE_SOLVE_REPAIR_ALIGN_H_

#include <stdint.h>

#include "base/memory.h"
#include "model/plan.h"

namespace sluice {

struct Alignment {
  Span<uint32_t> before_of;  // per layer after the edit: its pair, or none
  Span<uint32_t> after_of;   // per layer before the edit
  Span<uint8_t> same;        // per layer after the edit: it is unchanged
  uint32_t kept = 0, changed = 0, inserted = 0, removed = 0;
};

Status Align(Span<const PlanLayerHash> before, Span<const PlanLayerHash> after,
             Arena* arena, Alignment* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_REPAIR_ALIGN_H_
