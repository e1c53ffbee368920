// SPDX-License-Identifier: Apache-2.0
// Chooses the scratchpad sizes that each of several models is planned for, and which
// one it gets.
//
// Input    graphs with weights, the free ranges, how many sizes of each to look at, the
//          options of each plan.
// Output   a planned size for each model and its place: the least weighted sum of
//          latencies; proved when no other considered size can lower it.
// Errors   those of MakePlan for the whole scratchpad; kInfeasible when the models do
//          not fit side by side; kStopped when that is not known in time. Other sizes
//          that cannot be planned are left out.
// Cost     two schedules for each size that matters: from scratch and from the plan of
//          the next larger size; with a deadline only the first.
//
// Latencies of sizes between planned ones are guessed. The best division by guesses is
// planned, until all sizes in it are planned; then the same by lower bounds (less
// scratchpad is never faster), which proves the division. Unused bytes return to the
// pool: sizes that could use them, or make room for a faster neighbour, become
// candidates.
#ifndef SLUICE_PLAN_TOGETHER_SHARES_H_
#define SLUICE_PLAN_TOGETHER_SHARES_H_

#include "plan/together/model_sizes.h"

namespace sluice {

struct Division {
  bool proved;
  uint32_t size[kMaxModels];  // of each model's sizes
  int64_t offset[kMaxModels];
};

struct Shares {
  Shares(const ShareRequest& the_request, Budget* the_budget, Arena* the_arena,
         Arena* the_scratch, Diagnostic* the_diagnostic)
      : request(the_request),
        budget(the_budget),
        arena(the_arena),
        scratch(the_scratch),
        diagnostic(the_diagnostic),
        models{ModelSizes(arena), ModelSizes(arena), ModelSizes(arena),
               ModelSizes(arena), ModelSizes(arena), ModelSizes(arena),
               ModelSizes(arena), ModelSizes(arena)} {}
  const ShareRequest request;
  Budget* budget;
  Arena* arena;
  Arena* scratch;
  Diagnostic* diagnostic;
  uint32_t count = 0;
  uint32_t planned = 0;
  bool cut = false;  // the deadline ended the search of some plan
  ModelSizes models[kMaxModels];
};

// Plans the whole largest range, or the model's own.
Status AddModel(Shares* shares, const Graph& graph, uint32_t weight,
                int64_t reserved_bytes);
// Divides the free ranges among the models without a reservation.
Status DivideShares(Shares* shares, Division* out);
// The smallest turn limit, cycles, that some plan of every model keeps.
int64_t LeastTurn(const Shares& shares);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_SHARES_H_
