// SPDX-License-Identifier: Apache-2.0
#include "plan/candidate.h"

#include "model/report.h"

namespace sluice {

Status CompleteCandidate(const PlannedGraph& of, Arena* scratch, Candidate* candidate,
                         Span<int64_t> block_cycles) {
  const auto& [graph, hardware, bound] = of;
  Candidate* c = candidate;
  int64_t cycles = 0;
  SLUICE_TRY(DeriveWaits({graph, hardware, c->program}, c->lowering.places, scratch,
                         &c->waits));
  SLUICE_TRY(PredictCycles({graph, hardware, c->program}, c->waits, scratch, &cycles,
                           block_cycles));
  SLUICE_TRY(
      FillReport({graph, hardware, c->program}, cycles, bound, scratch, &c->report));
  c->report.groups = c->groups == 0 ? c->report.layers : c->groups;
  return Status::kOk;
}

}  // namespace sluice
