// SPDX-License-Identifier: Apache-2.0
// Several models in one scratchpad: curves, a partition or shared time, turns, judges.
#include <new>

#include "api/arguments.h"
#include "api/objects.h"
#include "base/checked.h"
#include "io/read.h"
#include "model/stream_cuts.h"
#include "plan/together/relocate.h"
#include "plan/together/shares.h"
#include "verify/together.h"
#include "verify/verify.h"

struct sluice_cohort {
  explicit sluice_cohort(sluice::Memory* memory) : arena(memory) {}
  ~sluice_cohort() {
    for (sluice_member_t& member : members) {
      sluice_plan_destroy(const_cast<sluice_plan_t*>(member.plan));
    }
  }
  sluice::Arena arena;
  sluice_cohort_summary_t summary = {};
  sluice_member_t members[SLUICE_MODELS_MAX] = {};
  sluice::Span<const sluice_turn_t> turns;
};

namespace sluice {
namespace {

static_assert(SLUICE_MODELS_MAX == kMaxModels, "as many as the header says");

constexpr char kStage[] = "coschedule";
constexpr uint32_t kDefaultPoints = 12;

uint64_t SaturatedSum(uint64_t sum, uint64_t weight, uint64_t cycles) {
  int64_t product = 0;
  if (!CheckedMultiply(static_cast<int64_t>(weight), static_cast<int64_t>(cycles),
                       &product)) {
    return UINT64_MAX;
  }
  const uint64_t added = sum + static_cast<uint64_t>(product);
  return added < sum ? UINT64_MAX : added;
}

// One way to run all models: which plan each has, where, and the turns.
struct Arrangement {
  explicit Arrangement(Arena* arena) : turns(arena) {}
  Span<const uint8_t> plan[kMaxModels];  // as scheduled, at byte 0
  int64_t offset[kMaxModels] = {};
  int64_t bytes[kMaxModels] = {};
  int64_t latency[kMaxModels] = {};
  bool shares[kMaxModels] = {};  // its range is another's too
  uint64_t finish[kMaxModels] = {};
  uint64_t wait[kMaxModels] = {};
  uint64_t total = 0;
  Vector<sluice_turn_t> turns;
};

struct Scheduler {
  const Hardware& hardware;
  Span<const sluice_model_t> models;
  const sluice_coschedule_options_t& options;
  Arena* arena;  // of plans and arrangements
  Arena* scratch;
  Diagnostic* diagnostic;
  Budget budget;
  int64_t capacity;
  uint32_t free_models;
  FreeRange ranges[kMaxModels + 1];  // that are nobody's by reservation
  uint32_t range_count;
  uint32_t largest;  // of them

  bool reserved(uint32_t m) const { return models[m].reserved_bytes != 0; }
  uint32_t weight(uint32_t m) const { return Max(models[m].weight, 1u); }
};

// Ranges between the reservations, which are sorted on the way.
Status FindRanges(Scheduler* s) {
  uint32_t order[kMaxModels];
  uint32_t n = 0;
  for (uint32_t m = 0; m < s->models.size(); ++m) {
    const sluice_model_t& model = s->models[m];
    if (!s->reserved(m)) continue;
    const uint64_t room = static_cast<uint64_t>(s->capacity);
    if (model.reserved_offset > room ||
        model.reserved_bytes > room - model.reserved_offset ||
        model.reserved_offset % static_cast<uint64_t>(RangeAlignment(s->hardware)) !=
            0) {
      return Fail(s->diagnostic, Status::kBadArgument, kStage)
          .Text("the reservation of model ")
          .Number(m)
          .Text(" lies outside the scratchpad or at no multiple of ")
          .Number(RangeAlignment(s->hardware));
    }
    uint32_t at = n++;
    for (; at > 0 && s->models[order[at - 1]].reserved_offset > model.reserved_offset;
         --at) {
      order[at] = order[at - 1];
    }
    order[at] = m;
  }
  int64_t begin = 0;
  for (uint32_t i = 0; i <= n; ++i) {
    const int64_t end = i == n
                            ? s->capacity
                            : static_cast<int64_t>(s->models[order[i]].reserved_offset);
    if (end < begin && i < n) {
      return Fail(s->diagnostic, Status::kBadArgument, kStage)
          .Text("the reservations of models ")
          .Number(order[i - 1])
          .Text(" and ")
          .Number(order[i])
          .Text(" overlap");
    }
    const int64_t aligned = Min(RoundUpTo(begin, RangeAlignment(s->hardware)), end);
    s->ranges[s->range_count++] = FreeRange{aligned, end - aligned};
    if (i < n) {
      begin = end + static_cast<int64_t>(s->models[order[i]].reserved_bytes);
    }
  }
  for (uint32_t r = 0; r < s->range_count; ++r) {
    if (s->ranges[r].bytes > s->ranges[s->largest].bytes) s->largest = r;
  }
  s->free_models = static_cast<uint32_t>(s->models.size()) - n;
  return Status::kOk;
}

sluice_schedule_options_t PlanOptions(const Scheduler& s) {
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.max_iterations = s.options.max_iterations;
  options.seed = s.options.seed;
  options.cancel = s.options.cancel;
  options.delay_exponent = 1;
  options.max_block_cycles = s.options.max_turn_cycles;
  return options;
}

int64_t EqualShare(const Scheduler& s) {
  int64_t total = 0;
  for (uint32_t r = 0; r < s.range_count; ++r) total += s.ranges[r].bytes;
  const int64_t alignment = RangeAlignment(s.hardware);
  const int64_t share = total / Max(s.free_models, 1u) / alignment * alignment;
  return Min(share, s.ranges[s.largest].bytes);
}

void Take(const CurvePoint& point, uint32_t m, int64_t offset, int64_t bytes,
          Arrangement* a) {
  a->plan[m] = point.plan;
  a->latency[m] = point.latency;
  a->offset[m] = offset;
  a->bytes[m] = bytes;
}

Status ArrangeReserved(const Scheduler& s, const Shares& shares, Arrangement* a) {
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    if (!s.reserved(m)) continue;
    Take(shares.whole(m), m, static_cast<int64_t>(s.models[m].reserved_offset),
         static_cast<int64_t>(s.models[m].reserved_bytes), a);
  }
  return Status::kOk;
}

Status ArrangePartition(const Scheduler& s, Shares* shares, Arrangement* a,
                        bool* proved) {
  Division division = {};
  SLUICE_TRY(shares->Divide(&division));
  *proved = division.proved;
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    if (s.reserved(m)) continue;
    const CurvePoint& point = shares->size(m, division.size[m]).point;
    Take(point, m, division.offset[m],
         RoundUpTo(point.need, RangeAlignment(s.hardware)), a);
  }
  return ArrangeReserved(s, *shares, a);
}

// Everybody not reserved in the largest range, one after the other.
Status ArrangeTime(const Scheduler& s, const Shares& shares, Arrangement* a) {
  const FreeRange& range = s.ranges[s.largest];
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    if (s.reserved(m)) continue;
    Take(shares.fastest(m), m, range.begin, range.bytes, a);
    a->shares[m] = s.free_models > 1;
  }
  return ArrangeReserved(s, shares, a);
}

struct Lane {
  Span<const uint8_t> image;
  Span<DeadBytes> dead;  // empty: any border will do
  uint32_t instances;
  uint32_t next;
};

// The last border within the limit where the stream may be left; 0 = there is none, and
// *least says what would do.
Status EndOfTurn(const Scheduler& s, const Lane& lane, int64_t limit, uint32_t* end,
                 int64_t* cycles, int64_t* least) {
  ArenaScope scope(s.scratch);
  Span<int64_t> after;
  SLUICE_TRY(s.scratch->Allocate(lane.instances, &after));
  *end = 0;
  for (int64_t within = limit;; within = INT64_MAX) {
    SLUICE_TRY(
        DrainedCycles(s.hardware, lane.image, lane.next, within, s.scratch, after));
    for (uint32_t i = lane.next; i < lane.instances; ++i) {
      if (lane.dead.size() != 0 && lane.dead[i + 1].live != 0) continue;
      if (limit == INT64_MAX && i + 1 < lane.instances) continue;
      if (after[i] > limit) {
        if (*end != 0) break;
        *least = after[i];
        if (within != INT64_MAX) break;  // perhaps not known: look again
        return Status::kOk;
      }
      *end = i + 1;
      *cycles = after[i];
    }
    if (*end != 0 || within == INT64_MAX) return Status::kOk;
  }
}

// Round and round, the shortest by its weight first; *least: a turn limit that would
// do, 0 when this one does, and for whom it does not.
Status MakeTurns(const Scheduler& s, Arrangement* a, int64_t* least, uint32_t* who) {
  const uint32_t n = static_cast<uint32_t>(s.models.size());
  Lane lanes[kMaxModels];
  uint32_t order[kMaxModels];
  uint64_t seen[kMaxModels] = {};  // cycle at which the last turn ended
  *least = 0;
  a->turns.Truncate(0);
  a->total = 0;
  uint32_t left = 0;
  for (uint32_t m = 0; m < n; ++m) {
    Plan plan = {};
    SLUICE_TRY(
        ReadPlan(a->plan[m].data(), a->plan[m].size(), s.arena, &plan, s.diagnostic));
    Lane& lane = lanes[m];
    lane = Lane{plan.stream, {}, InstanceCount(plan.stream), 0};
    a->finish[m] = a->wait[m] = 0;
    if (lane.instances != 0) ++left;
    if (a->shares[m] && s.options.max_turn_cycles != 0) {
      SLUICE_TRY(s.arena->Allocate(lane.instances + 1, &lane.dead));
      SLUICE_TRY(FindDead(lane.image, s.capacity, s.scratch, lane.dead));
    }
    uint32_t at = m;
    const auto later = [&](uint32_t other) {
      return static_cast<unsigned __int128>(a->latency[other]) * s.weight(m) >
             static_cast<unsigned __int128>(a->latency[m]) * s.weight(other);
    };
    for (; at > 0 && later(order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = m;
  }
  while (left != 0) {
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t m = order[i];
      Lane& lane = lanes[m];
      if (lane.next == lane.instances) continue;
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
      if (end == lane.instances) --left;
    }
  }
  *least = 0;
  return Status::kOk;
}

uint64_t FinishSum(const Scheduler& s, const Arrangement& a) {
  uint64_t sum = 0;
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    sum = SaturatedSum(sum, s.weight(m), a.finish[m]);
  }
  return sum;
}

// Turns for the plans that share time; *least as of MakeTurns. Fused plans keep bytes
// from layer to layer; plain ones leave the scratchpad empty between layers, so they can
// be left more often, and with less scratchpad their transfers and tiles are shorter.
Status TakeTimeTurns(const Scheduler& s, Arrangement* a, int64_t* least) {
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
    const Status status = PlanPoint({s.models[m].graph->graph, s.hardware, options}, {},
                                    s.arena, s.scratch, &point, s.diagnostic);
    if (status == Status::kInfeasible) return Status::kOk;
    SLUICE_TRY(status);
    a->plan[m] = point.plan;
    a->latency[m] = point.latency;
  }
}

Status TurnsTooLong(const Scheduler& s, int64_t least) {
  return Fail(s.diagnostic, Status::kInfeasible, kStage)
      .Text("no turns as short as ")
      .Number(static_cast<int64_t>(s.options.max_turn_cycles))
      .Text(" cycles: at least ")
      .Number(least)
      .Text(" are needed");
}

Status MakePlanObject(sluice_context_t* context, const Scheduler& s, uint32_t m,
                      const Arrangement& a, sluice_cohort_t* out) {
  void* place = context->memory.Allocate(sizeof(sluice_plan_t), alignof(sluice_plan_t));
  if (place == nullptr) return Status::kOutOfMemory;
  sluice_plan_t* plan = new (place) sluice_plan_t(&context->memory);
  out->members[m].plan = plan;
  SLUICE_TRY(RelocatePlan(a.plan[m], a.offset[m], a.bytes[m], &plan->arena, s.scratch,
                          &plan->bytes, s.diagnostic));
  return ReadPlan(plan->bytes.data(), plan->bytes.size(), &plan->arena, &plan->plan,
                  s.diagnostic);
}

Status FillCohort(sluice_context_t* context, const Scheduler& s, const Shares& shares,
                  const Arrangement& a, sluice_cohort_t* out) {
  const uint32_t n = static_cast<uint32_t>(s.models.size());
  Span<sluice_turn_t> turns;
  SLUICE_TRY(out->arena.Allocate(a.turns.size(), &turns));
  JudgedStream streams[kMaxModels];
  sluice_cohort_summary_t* sum = &out->summary;
  const int64_t share = EqualShare(s);
  bool equal = true;
  for (size_t t = 0; t < turns.size(); ++t) {
    turns[t] = a.turns[t];
    ++out->members[turns[t].model].turns;
  }
  out->turns = turns;
  for (uint32_t m = 0; m < n; ++m) {
    SLUICE_TRY(MakePlanObject(context, s, m, a, out));
    sluice_member_t* member = &out->members[m];
    streams[m] = JudgedStream{&s.models[m].graph->graph, &member->plan->plan};
    member->struct_size = sizeof *member;
    member->offset = static_cast<uint64_t>(a.offset[m]);
    member->bytes = static_cast<uint64_t>(a.bytes[m]);
    member->latency_cycles = static_cast<uint64_t>(a.latency[m]);
    member->finish_cycles = a.finish[m];
    member->longest_wait_cycles = a.wait[m];
    member->equal_cycles = static_cast<uint64_t>(
        shares.LatencyWithin(m, s.reserved(m) ? s.capacity : share));
    equal = equal && member->equal_cycles != 0;
    const uint64_t w = s.weight(m);
    sum->latency_sum = SaturatedSum(sum->latency_sum, w, member->latency_cycles);
    sum->finish_sum = SaturatedSum(sum->finish_sum, w, member->finish_cycles);
    sum->equal_latency_sum =
        SaturatedSum(sum->equal_latency_sum, w, member->equal_cycles);
  }
  if (!equal) sum->equal_latency_sum = 0;
  sum->struct_size = sizeof *sum;
  sum->models = n;
  sum->turns = static_cast<uint32_t>(turns.size());
  sum->total_cycles = a.total;
  return VerifyTogether(Span<const JudgedStream>(streams, n), s.hardware, turns,
                        s.scratch, s.diagnostic);
}

Status CoSchedule(sluice_context_t* context, Scheduler* s, sluice_cohort_t* out) {
  SLUICE_TRY(FindRanges(s));
  const uint32_t share = s->options.share;
  const uint32_t points = s->options.points == 0 ? kDefaultPoints : s->options.points;
  const ShareRequest request = {s->hardware,
                                PlanOptions(*s),
                                Span<const FreeRange>(s->ranges, s->range_count),
                                s->ranges[s->largest].bytes,
                                EqualShare(*s),
                                share == SLUICE_SHARE_TIME ? 1 : points,
                                static_cast<uint32_t>(s->models.size())};
  Shares shares(request, &s->budget, s->arena, s->scratch, s->diagnostic);
  for (uint32_t m = 0; m < s->models.size(); ++m) {
    SLUICE_TRY(shares.Add(s->models[m].graph->graph, s->weight(m),
                          static_cast<int64_t>(s->models[m].reserved_bytes)));
  }
  Arrangement time(s->arena), partition(s->arena);
  sluice_cohort_summary_t* sum = &out->summary;
  Status reason = Status::kInfeasible;
  int64_t least = 0, time_least = 0;
  uint32_t who = 0;
  bool proved = false;
  if (share != SLUICE_SHARE_TIME) {
    reason = ArrangePartition(*s, &shares, &partition, &proved);
    if (reason == Status::kOk) SLUICE_TRY(MakeTurns(*s, &partition, &least, &who));
    if (reason == Status::kInfeasible) least = shares.LeastTurn();
    if (static_cast<uint64_t>(least) <= s->options.max_turn_cycles) least = 0;
    if (reason == Status::kOk && least == 0) {
      sum->partition_finish_sum = FinishSum(*s, partition);
    } else if (reason != Status::kOk && reason != Status::kInfeasible &&
               reason != Status::kStopped) {
      return reason;
    }
  }
  if (share != SLUICE_SHARE_PARTITION) {
    SLUICE_TRY(ArrangeTime(*s, shares, &time));
    SLUICE_TRY(TakeTimeTurns(*s, &time, &time_least));
    if (time_least == 0) sum->time_finish_sum = FinishSum(*s, time);
    if (least == 0 || (time_least != 0 && time_least < least)) least = time_least;
  }
  const bool takes_time =
      sum->time_finish_sum != 0 && (sum->partition_finish_sum == 0 ||
                                    sum->time_finish_sum < sum->partition_finish_sum);
  if (!takes_time && sum->partition_finish_sum == 0) {
    return least != 0 ? TurnsTooLong(*s, least) : reason;
  }
  sum->share = takes_time ? SLUICE_SHARE_TIME : SLUICE_SHARE_PARTITION;
  sum->proved = proved && !takes_time ? 1 : 0;
  if (s->budget.Exhausted()) sum->stop_reason = s->budget.stop_reason();
  const Status judged =
      FillCohort(context, *s, shares, takes_time ? time : partition, out);
  if (judged != Status::kRejected) return judged;
  s->diagnostic->status = SLUICE_INTERNAL;
  return Status::kInternal;
}

bool HasGraphs(const sluice_model_t* models, uint32_t n) {
  for (uint32_t m = 0; m < n; ++m) {
    if (models[m].graph == nullptr) return false;
  }
  return true;
}

Status Points(sluice_context_t* context, const sluice_graph_t* graph,
              const sluice_hardware_t* hardware, const sluice_plan_t* plan,
              sluice_preemption_point_t* points, uint32_t* count,
              Diagnostic* diagnostic) {
  Arena scratch(&context->memory);
  SLUICE_TRY(Verify(graph->graph, hardware->hardware, plan->plan, &scratch, nullptr,
                    diagnostic));
  const Span<const uint8_t> image = plan->plan.stream;
  const uint32_t n = InstanceCount(image);
  const uint32_t room = points == nullptr ? 0 : *count;
  *count = n + 1;
  if (room <= n) {
    return Fail(diagnostic, Status::kBufferTooSmall, kStage)
        .Text("points: room for ")
        .Number(room)
        .Text(", ")
        .Number(n + 1)
        .Text(" needed");
  }
  Span<DeadBytes> dead;
  Span<int64_t> after;
  SLUICE_TRY(scratch.Allocate(n + 1, &dead));
  SLUICE_TRY(scratch.Allocate(n, &after));
  for (uint32_t k = 0; k <= n; ++k) {
    points[k] = sluice_preemption_point_t{};
    if (k == 0) continue;
    SLUICE_TRY(DrainedCycles(hardware->hardware, image, k - 1, 0, &scratch, after));
    points[k].cycles = static_cast<uint64_t>(after[k - 1]);
  }
  const int64_t capacity = hardware->hardware.scratchpad().capacity_bytes;
  SLUICE_TRY(FindDead(image, capacity, &scratch, dead));
  for (uint32_t k = 0; k <= n; ++k) {
    points[k].dead_offset = static_cast<uint64_t>(dead[k].begin);
    points[k].dead_bytes = static_cast<uint64_t>(dead[k].end - dead[k].begin);
    points[k].live_bytes = static_cast<uint64_t>(dead[k].live);
  }
  return Status::kOk;
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_coschedule(sluice_context_t* context,
                                  const sluice_hardware_t* hardware,
                                  const sluice_model_t* models, uint32_t model_count,
                                  const sluice_coschedule_options_t* options,
                                  sluice_cohort_t** out_cohort,
                                  sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_coschedule_options_t own;
  if (out_cohort != nullptr) *out_cohort = nullptr;
  if (context == nullptr || hardware == nullptr || models == nullptr ||
      out_cohort == nullptr || model_count < 1 || model_count > SLUICE_MODELS_MAX ||
      !sluice::HasGraphs(models, model_count) || !sluice::ReadStruct(options, &own) ||
      own.share > SLUICE_SHARE_TIME || own.points > 256) {
    return report.BadArgument(
        "context, hardware, models and their graphs must not be null, models 1 to 8, "
        "options of a known version, points at most 256");
  }
  const sluice::Hardware& chip = hardware->hardware;
  if (chip.node_cols * chip.node_rows != 1) {
    return report.Done(
        sluice::Fail(report.get(), sluice::Status::kUnsupported, sluice::kStage)
            .Text("models share machines of one node only"));
  }
  void* place = context->memory.Allocate(sizeof(sluice_cohort), alignof(sluice_cohort));
  if (place == nullptr) return report.Done(sluice::Status::kOutOfMemory);
  sluice_cohort_t* cohort = new (place) sluice_cohort(&context->memory);
  sluice::Status status;
  {
    sluice::Arena arena(&context->memory);
    sluice::Arena scratch(&context->memory);
    sluice::Scheduler s = {
        chip,
        sluice::Span<const sluice_model_t>(models, model_count),
        own,
        &arena,
        &scratch,
        report.get(),
        // An eighth is for turns and judges.
        sluice::Budget(own.deadline_ns - own.deadline_ns / 8, 0, own.cancel),
        chip.scratchpad().capacity_bytes,
        0,
        {},
        0,
        0};
    if (own.scratchpad_bytes != 0) {
      s.capacity = static_cast<int64_t>(sluice::Min<uint64_t>(
          own.scratchpad_bytes, static_cast<uint64_t>(s.capacity)));
    }
    status = sluice::CoSchedule(context, &s, cohort);
  }
  if (status == sluice::Status::kOk) {
    *out_cohort = cohort;
  } else {
    sluice_cohort_destroy(cohort);
  }
  return report.Done(status);
}

void sluice_cohort_destroy(sluice_cohort_t* cohort) {
  if (cohort == nullptr) return;
  sluice::Memory* memory = cohort->arena.memory();
  cohort->~sluice_cohort();
  memory->Release(cohort, sizeof(sluice_cohort), alignof(sluice_cohort));
}

sluice_status_t sluice_cohort_report(const sluice_cohort_t* cohort,
                                     sluice_cohort_summary_t* out_summary) {
  return cohort == nullptr ? SLUICE_BAD_ARGUMENT
                           : sluice::WriteStruct(cohort->summary, out_summary);
}

sluice_status_t sluice_cohort_member(const sluice_cohort_t* cohort, uint32_t model,
                                     sluice_member_t* out_member) {
  return cohort == nullptr || model >= cohort->summary.models
             ? SLUICE_BAD_ARGUMENT
             : sluice::WriteStruct(cohort->members[model], out_member);
}

sluice_status_t sluice_cohort_turns(const sluice_cohort_t* cohort,
                                    const sluice_turn_t** out_turns,
                                    uint32_t* out_count) {
  if (cohort == nullptr || out_turns == nullptr || out_count == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  *out_turns = cohort->turns.data();
  *out_count = static_cast<uint32_t>(cohort->turns.size());
  return SLUICE_OK;
}

sluice_status_t sluice_preemption_points(sluice_context_t* context,
                                         const sluice_graph_t* graph,
                                         const sluice_hardware_t* hardware,
                                         const sluice_plan_t* plan,
                                         sluice_preemption_point_t* points,
                                         uint32_t* count,
                                         sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      plan == nullptr || count == nullptr) {
    return report.BadArgument(
        "context, graph, hardware, plan and count must not be null");
  }
  return report.Done(
      sluice::Points(context, graph, hardware, plan, points, count, report.get()));
}

sluice_status_t sluice_verify_together(sluice_context_t* context,
                                       const sluice_hardware_t* hardware,
                                       const sluice_graph_t* const* graphs,
                                       const sluice_plan_t* const* plans,
                                       uint32_t model_count, const sluice_turn_t* turns,
                                       uint32_t turn_count,
                                       sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  bool good = context != nullptr && hardware != nullptr && graphs != nullptr &&
              plans != nullptr && model_count >= 1 &&
              model_count <= SLUICE_MODELS_MAX && (turns != nullptr || turn_count == 0);
  sluice::JudgedStream streams[SLUICE_MODELS_MAX];
  for (uint32_t m = 0; good && m < model_count; ++m) {
    good = graphs[m] != nullptr && plans[m] != nullptr;
    if (good) streams[m] = {&graphs[m]->graph, &plans[m]->plan};
  }
  if (!good) {
    return report.BadArgument(
        "context, hardware, graphs, plans and turns must not be null, models 1 to 8");
  }
  sluice::Arena scratch(&context->memory);
  return report.Done(sluice::VerifyTogether(
      sluice::Span<const sluice::JudgedStream>(streams, model_count),
      hardware->hardware, sluice::Span<const sluice_turn_t>(turns, turn_count),
      &scratch, report.get()));
}
