// SPDX-License-Identifier: Apache-2.0
#include "plan/together/turns.h"

#include "base/checked.h"
#include "io/read.h"
#include "model/stream_cuts.h"

namespace sluice {

namespace {

struct Lane {
  StreamVisits visits;
  Span<DeadBytes> dead;  // empty: the stream may be left at any border
  uint32_t next;
};

// *end: the last border within the limit at which the stream may be left, or 0: then
// *least is a limit that would do.
Status EndOfTurn(const CohortProblem& s, const Lane& lane, int64_t limit, uint32_t* end,
                 int64_t* cycles, int64_t* least) {
  ArenaScope scope(s.scratch);
  Span<int64_t> after;
  SLUICE_TRY(s.scratch->Allocate(lane.visits.count(), &after));
  *end = 0;
  for (int64_t within = limit;; within = INT64_MAX) {
    SLUICE_TRY(
        DrainedCycles(s.hardware, lane.visits, lane.next, within, s.scratch, after));
    for (uint32_t i = lane.next; i < lane.visits.count(); ++i) {
      if (lane.dead.size() != 0 && lane.dead[i + 1].live != 0) continue;
      if (limit == INT64_MAX && i + 1 < lane.visits.count()) continue;
      if (after[i] > limit) {
        if (*end != 0) break;
        *least = after[i];
        if (within != INT64_MAX)
          break;  // cycles beyond the limit are unknown: look again without it
        return Status::kOk;
      }
      *end = i + 1;
      *cycles = after[i];
    }
    if (*end != 0 || within == INT64_MAX) return Status::kOk;
  }
}

// Reads the plans and sorts models by latency per weight, ascending.
Status OpenLanes(const CohortProblem& s, Arrangement* a, Lane lanes[kMaxModels],
                 uint32_t order[kMaxModels]) {
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    Plan plan = {};
    SLUICE_TRY(
        ReadPlan(a->plan[m].data(), a->plan[m].size(), s.arena, &plan, s.diagnostic));
    Lane& lane = lanes[m];
    lane = Lane{{}, {}, 0};
    SLUICE_TRY(FindVisits(plan.stream, s.arena, &lane.visits));
    a->finish[m] = a->wait[m] = 0;
    if (a->shares[m] && s.options.max_turn_cycles != 0) {
      SLUICE_TRY(s.arena->Allocate(lane.visits.count() + 1, &lane.dead));
      SLUICE_TRY(FindDead(lane.visits, s.capacity, s.scratch, lane.dead));
    }
    uint32_t at = m;
    const auto later = [&](uint32_t other) {
      return static_cast<unsigned __int128>(a->latency[other]) * s.weight(m) >
             static_cast<unsigned __int128>(a->latency[m]) * s.weight(other);
    };
    for (; at > 0 && later(order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = m;
  }
  return Status::kOk;
}

}  // namespace

sluice_schedule_options_t PlanOptions(const CohortProblem& s) {
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.max_iterations = s.options.max_iterations;
  options.seed = s.options.seed;
  options.cancel = s.options.cancel;
  options.delay_exponent = 1;
  options.max_block_cycles = s.options.max_turn_cycles;
  return options;
}

Status MakeTurns(const CohortProblem& s, Arrangement* a, int64_t* least,
                 uint32_t* who) {
  const uint32_t n = static_cast<uint32_t>(s.models.size());
  Lane lanes[kMaxModels];
  uint32_t order[kMaxModels];
  uint64_t seen[kMaxModels] = {};  // cycle at which the last turn ended
  *least = 0;
  a->turns.Truncate(0);
  a->total = 0;
  SLUICE_TRY(OpenLanes(s, a, lanes, order));
  uint32_t left = 0;
  for (uint32_t m = 0; m < n; ++m) left += lanes[m].visits.count() != 0 ? 1 : 0;
  while (left != 0) {
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t m = order[i];
      Lane& lane = lanes[m];
      if (lane.next == lane.visits.count()) continue;
      const bool alone = left == 1 || s.options.max_turn_cycles == 0;
      const int64_t limit = alone ? INT64_MAX
                                  : static_cast<int64_t>(Min<uint64_t>(
                                        s.options.max_turn_cycles, INT64_MAX - 1));
      uint32_t end = 0;
      int64_t cycles = 0;
      SLUICE_TRY(EndOfTurn(s, lane, limit, &end, &cycles, least));
      *who = m;
      if (end == 0) return Status::kOk;
      SLUICE_TRY(a->turns.Push(
          sluice_turn_t{m, lane.next, end, 0, static_cast<uint64_t>(cycles)}));
      a->wait[m] = Max(a->wait[m], a->total - seen[m]);
      a->total += static_cast<uint64_t>(cycles);
      seen[m] = a->finish[m] = a->total;
      lane.next = end;
      if (end == lane.visits.count()) --left;
    }
  }
  *least = 0;
  return Status::kOk;
}

Status TakeTimeTurns(const CohortProblem& s, Arrangement* a, int64_t* least) {
  int64_t room[kMaxModels] = {};
  int64_t before[kMaxModels] = {};
  for (int64_t needed = 0;;) {
    uint32_t m = 0;
    SLUICE_TRY(MakeTurns(s, a, &needed, &m));
    *least = needed == 0 || *least == 0 ? needed : Min(*least, needed);
    const bool helps = room[m] == 0 || room[m] == a->bytes[m] || needed < before[m];
    if (needed == 0 || !a->shares[m] || !helps) return Status::kOk;
    before[m] = needed;
    room[m] = room[m] == 0 ? a->bytes[m] : room[m] / 2;
    sluice_schedule_options_t options = PlanOptions(s);
    options.solver = SLUICE_SOLVER_BASELINE;
    options.scratchpad_bytes = static_cast<uint64_t>(room[m]);
    CurvePoint point = {};
    const Status status = PlanPoint({*s.graphs[m], s.hardware, options}, {}, s.arena,
                                    s.scratch, &point, s.diagnostic);
    if (status == Status::kInfeasible) return Status::kOk;
    SLUICE_TRY(status);
    a->plan[m] = point.plan;
    a->latency[m] = point.latency;
  }
}

}  // namespace sluice
