// SPDX-License-Identifier: Apache-2.0
#include "plan/together/coschedule.h"

#include "io/read.h"
#include "plan/together/arrange.h"
#include "plan/together/relocate.h"
#include "plan/together/shares.h"
#include "plan/together/turns.h"
#include "verify/together.h"

namespace sluice {
namespace {

static_assert(SLUICE_MODELS_MAX == kMaxModels, "as many as the header says");

constexpr char kStage[] = "coschedule";
constexpr uint32_t kDefaultPoints = 12;  // of a curve, where the caller gives none

// The result of one way to share the scratchpad.
struct Attempt {
  explicit Attempt(Arena* arena) : arrangement(arena) {}
  Arrangement arrangement;
  Status status = Status::kInfeasible;
  int64_t least =
      0;  // a turn limit that suffices; 0: the given one does, or none is known
  bool proved = false;
};

Status TurnsTooLong(const CohortProblem& s, int64_t least) {
  return Fail(s.diagnostic, Status::kInfeasible, kStage)
      .Say("no turns as short as # cycles: at least # are needed",
           s.options.max_turn_cycles, least);
}

Status BindPlan(const CohortProblem& s, uint32_t m, const Arrangement& a,
                const MemberPlan& out) {
  SLUICE_TRY(RelocatePlan({a.plan[m], a.offset[m], a.bytes[m]}, out.arena, s.scratch,
                          out.bytes, s.diagnostic));
  return ReadPlan(out.bytes->data(), out.bytes->size(), out.arena, out.plan,
                  s.diagnostic);
}

void DescribeMember(const Arrangement& a, uint32_t m, int64_t equal,
                    sluice_member_t* member) {
  member->struct_size = sizeof *member;
  member->offset = static_cast<uint64_t>(a.offset[m]);
  member->bytes = static_cast<uint64_t>(a.bytes[m]);
  member->latency_cycles = static_cast<uint64_t>(a.latency[m]);
  member->finish_cycles = a.finish[m];
  member->longest_wait_cycles = a.wait[m];
  member->equal_cycles = static_cast<uint64_t>(equal);
}

void Summarize(const CohortProblem& s, const Arrangement& a, Cohort* out) {
  sluice_cohort_summary_t* sum = &out->summary;
  bool equal = true;
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    const sluice_member_t& member = out->members[m];
    const uint64_t w = s.weight(m);
    equal = equal && member.equal_cycles != 0;
    sum->latency_sum = SaturatedSum(sum->latency_sum, w, member.latency_cycles);
    sum->finish_sum = SaturatedSum(sum->finish_sum, w, member.finish_cycles);
    sum->equal_latency_sum =
        SaturatedSum(sum->equal_latency_sum, w, member.equal_cycles);
  }
  if (!equal) sum->equal_latency_sum = 0;
  sum->struct_size = sizeof *sum;
  sum->models = static_cast<uint32_t>(s.models.size());
  sum->turns = static_cast<uint32_t>(out->turns.size());
  sum->total_cycles = a.total;
}

// Binds the plans to their ranges, fills the answer and judges it.
Status FillCohort(const CohortProblem& s, const Shares& shares, const Arrangement& a,
                  Arena* arena, Span<const MemberPlan> plans, Cohort* out) {
  const uint32_t n = static_cast<uint32_t>(s.models.size());
  Span<sluice_turn_t> turns;
  SLUICE_TRY(arena->Allocate(a.turns.size(), &turns));
  for (size_t t = 0; t < turns.size(); ++t) {
    turns[t] = a.turns[t];
    ++out->members[turns[t].model].turns;
  }
  out->turns = turns;
  JudgedStream streams[kMaxModels];
  const int64_t share = EqualShare(s);
  for (uint32_t m = 0; m < n; ++m) {
    SLUICE_TRY(BindPlan(s, m, a, plans[m]));
    streams[m] = JudgedStream{s.graphs[m], plans[m].plan};
    const int64_t room = s.reserved(m) ? s.capacity : share;
    DescribeMember(a, m, LatencyWithin(shares.models[m], room), &out->members[m]);
  }
  Summarize(s, a, out);
  return VerifyTogether(Span<const JudgedStream>(streams, n), s.hardware, turns,
                        s.scratch, s.diagnostic);
}

// A range for each model. attempt->status: the outcome, if it is no error.
Status TryPartition(const CohortProblem& s, Shares* shares, Attempt* attempt) {
  uint32_t who = 0;
  Arrangement* a = &attempt->arrangement;
  attempt->status = ArrangePartition(s, shares, a, &attempt->proved);
  if (attempt->status == Status::kOk) {
    SLUICE_TRY(MakeTurns(s, a, &attempt->least, &who));
  }
  if (attempt->status == Status::kInfeasible) attempt->least = LeastTurn(*shares);
  if (static_cast<uint64_t>(attempt->least) <= s.options.max_turn_cycles) {
    attempt->least = 0;
  }
  const bool expected = attempt->status == Status::kOk ||
                        attempt->status == Status::kInfeasible ||
                        attempt->status == Status::kStopped;
  return expected ? Status::kOk : attempt->status;
}

Status PlanShares(const CohortProblem& s, Shares* shares) {
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    SLUICE_TRY(AddModel(shares, *s.graphs[m], s.weight(m),
                        static_cast<int64_t>(s.models[m].reserved_bytes)));
  }
  return Status::kOk;
}

// Tries both ways to share, as far as allowed; *best: the better one.
Status Choose(CohortProblem* s, Shares* shares, Attempt* partition, Attempt* time,
              sluice_cohort_summary_t* sum, const Attempt** best) {
  const uint32_t share = s->options.share;
  if (share != SLUICE_SHARE_TIME) {
    SLUICE_TRY(TryPartition(*s, shares, partition));
    if (partition->status == Status::kOk && partition->least == 0) {
      sum->partition_finish_sum = FinishSum(*s, partition->arrangement);
    }
  }
  int64_t least = partition->least;
  if (share != SLUICE_SHARE_PARTITION) {
    ArrangeTime(*s, *shares, &time->arrangement);
    SLUICE_TRY(TakeTimeTurns(*s, &time->arrangement, &time->least));
    if (time->least == 0) sum->time_finish_sum = FinishSum(*s, time->arrangement);
    if (least == 0 || (time->least != 0 && time->least < least)) least = time->least;
  }
  const bool takes_time =
      sum->time_finish_sum != 0 && (sum->partition_finish_sum == 0 ||
                                    sum->time_finish_sum < sum->partition_finish_sum);
  if (!takes_time && sum->partition_finish_sum == 0) {
    return least != 0 ? TurnsTooLong(*s, least) : partition->status;
  }
  *best = takes_time ? time : partition;
  sum->share = takes_time ? SLUICE_SHARE_TIME : SLUICE_SHARE_PARTITION;
  sum->proved = (*best)->proved ? 1 : 0;
  if (s->budget.Exhausted()) sum->stop_reason = s->budget.stop_reason();
  return Status::kOk;
}

Status CheckMachine(const Hardware& hardware, Diagnostic* diagnostic) {
  if (hardware.node_cols * hardware.node_rows != 1) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Text("models share machines of one node only");
  }
  // A turn's cycles are those on an idle machine. Where several queues compete for
  // DRAM, they would also depend on the turn that follows.
  if (hardware.queues.size() > 1) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Say("models share machines of one queue only; this one has #",
             hardware.queues.size());
  }
  return Status::kOk;
}

}  // namespace

Status CoSchedule(CohortProblem* s, Arena* turns, Span<const MemberPlan> plans,
                  Cohort* out) {
  SLUICE_TRY(CheckMachine(s->hardware, s->diagnostic));
  SLUICE_TRY(FindFreeRanges(s));
  const uint32_t points = s->options.points == 0 ? kDefaultPoints : s->options.points;
  const ShareRequest request = {s->hardware,
                                PlanOptions(*s),
                                Span<const FreeRange>(s->ranges, s->range_count),
                                s->ranges[s->largest].bytes,
                                EqualShare(*s),
                                s->options.share == SLUICE_SHARE_TIME ? 1 : points,
                                static_cast<uint32_t>(s->models.size())};
  Shares shares(request, &s->budget, s->arena, s->scratch, s->diagnostic);
  SLUICE_TRY(PlanShares(*s, &shares));
  Attempt partition(s->arena), time(s->arena);
  const Attempt* best = nullptr;
  SLUICE_TRY(Choose(s, &shares, &partition, &time, &out->summary, &best));
  const Status judged = FillCohort(*s, shares, best->arrangement, turns, plans, out);
  if (judged != Status::kRejected) return judged;
  s->diagnostic->status = SLUICE_INTERNAL;
  return Status::kInternal;
}

}  // namespace sluice
