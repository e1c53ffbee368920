// SPDX-License-Identifier: Apache-2.0
// The nouns of co-scheduling: what is asked for, one way to run all models, the answer.
//
// A cohort is a set of models that share one scratchpad. Each has a plan, bound to a
// range of scratchpad bytes; ranges are disjoint (a partition) or shared (in time). A
// turn runs some blocks of one model; all engines are idle between two turns.
//
// Input    none: plain structs
// Output   none
// Errors   none
// Cost     an Arrangement takes about 1 KiB, plus its turns
#ifndef SLUICE_PLAN_TOGETHER_COHORT_H_
#define SLUICE_PLAN_TOGETHER_COHORT_H_

#include "base/budget.h"
#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "plan/together/curve.h"
#include "sluice/experimental.h"
#include "solve/partition/partition.h"

namespace sluice {

// One call: the models and what has been found about the scratchpad they share.
struct CohortProblem {
  const Hardware& hardware;
  Span<const Graph* const> graphs;    // by model
  Span<const sluice_model_t> models;  // weights and reservations, in the same order
  const sluice_coschedule_options_t& options;
  Arena* arena;  // of plans and arrangements
  Arena* scratch;
  Diagnostic* diagnostic;
  Budget budget;
  int64_t capacity;  // bytes of scratchpad that the models share
  // Set by FindFreeRanges:
  uint32_t free_models;              // models without a reservation
  FreeRange ranges[kMaxModels + 1];  // bytes that no reservation covers
  uint32_t range_count;
  uint32_t largest;  // index of the largest range

  bool reserved(uint32_t m) const { return models[m].reserved_bytes != 0; }
  uint32_t weight(uint32_t m) const {
    return models[m].weight == 0 ? 1u : models[m].weight;
  }
};

// One way to run all models: the plan of each, its scratchpad range, and the turns.
struct Arrangement {
  explicit Arrangement(Arena* arena) : turns(arena) {}
  Span<const uint8_t> plan[kMaxModels];  // as scheduled, bound to scratchpad byte 0
  int64_t offset[kMaxModels] = {};       // where the range begins
  int64_t bytes[kMaxModels] = {};
  int64_t latency[kMaxModels] = {};  // cycles of the model alone
  bool shares[kMaxModels] = {};      // other models use the same range
  uint64_t finish[kMaxModels] = {};  // cycle at which the last turn ends
  uint64_t wait[kMaxModels] = {};    // longest time between two turns, cycles
  uint64_t total = 0;                // cycles of all turns
  Vector<sluice_turn_t> turns;
};

// Where the plan of one model is written. The caller owns all three.
struct MemberPlan {
  Arena* arena;
  Span<const uint8_t>* bytes;
  Plan* plan;
};

// The answer: all fields but sluice_member_t::plan, which belongs to the C interface.
struct Cohort {
  sluice_cohort_summary_t summary = {};
  sluice_member_t members[kMaxModels] = {};
  Span<const sluice_turn_t> turns;
};

// sum + weight * cycles, or UINT64_MAX.
uint64_t SaturatedSum(uint64_t sum, uint64_t weight, uint64_t cycles);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_COHORT_H_
