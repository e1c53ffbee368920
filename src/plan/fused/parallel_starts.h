// SPDX-License-Identifier: Apache-2.0
// The same fusion problem annealed from several seeds, on the caller's threads.
//
// Each start has memory, clock and tile costs of its own, all set up before; shared
// data are only read. The cheapest result wins, of equals the first, so the result does
// not depend on the threads.
//
// Input    the run, what to search for, the budget of each start; bytes of memory each.
// Output   the result of the best; it lives until the object does.
// Errors   kOutOfMemory before anything is started; else as SearchFusion when no start
//          has a result.
// Cost     as many searches as there are starts.
#ifndef SLUICE_PLAN_FUSED_PARALLEL_STARTS_H_
#define SLUICE_PLAN_FUSED_PARALLEL_STARTS_H_

#include "plan/fused/fusion_search.h"
#include "plan/tile_costs.h"
#include "solve/fusion/problem.h"

namespace sluice {

class ParallelStarts {
 public:
  static constexpr uint32_t kStarts = 4;

  explicit ParallelStarts(Memory* memory) : arena_(memory) {}
  ~ParallelStarts();
  ParallelStarts(const ParallelStarts&) = delete;
  ParallelStarts& operator=(const ParallelStarts&) = delete;

  Status Run(const FusionRun& run, const sluice_schedule_options_t& options,
             const FusionSearch& search, uint64_t bytes, Budget* budget,
             FusionResult* out);

 private:
  struct Start;
  static void Job(void* argument, uint32_t index);

  Arena arena_;
  Start* start_[kStarts] = {};
};

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_PARALLEL_STARTS_H_
