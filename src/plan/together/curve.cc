// SPDX-License-Identifier: Apache-2.0
#include "plan/together/curve.h"

#include "base/checked.h"
#include "io/read.h"
#include "model/stream_cuts.h"
#include "plan/deadline.h"
#include "plan/pipeline.h"

namespace sluice {

namespace {

struct Tracer {
  const Graph& graph;
  const Hardware& hardware;
  const CurveRequest& request;
  Arena* scratch;
  Diagnostic* diagnostic;
  uint32_t left;  // plans still to be made
};

Status PlanFor(Tracer* t, int64_t bytes, uint64_t share, CurvePoint* point) {
  sluice_schedule_options_t options = t->request.options;
  options.scratchpad_bytes = static_cast<uint64_t>(bytes);
  if (t->request.end_ns != 0) {
    const uint64_t now = t->scratch->memory()->time().Now();
    const uint64_t rest = now < t->request.end_ns ? t->request.end_ns - now : 1;
    options.deadline_ns = PartOfTime(rest, share);
  }
  point->bytes = bytes;
  const PlanRequest plan = {t->graph, t->hardware, options, t->request.resume,
                            t->request.resume_bytes};
  return PlanPoint(plan, {}, nullptr, t->scratch, point, t->diagnostic);
}

// The smallest scratchpad that has a plan: the refusal of one byte names it.
int64_t SmallestBytes(const Tracer& t) {
  sluice_schedule_options_t options = t.request.options;
  options.scratchpad_bytes = 1;
  Diagnostic found = {};
  Arena memory(t.scratch->memory());
  Span<const uint8_t> plan;
  const PlanRequest request = {t.graph, t.hardware, options, t.request.resume,
                               t.request.resume_bytes};
  const Status status = MakePlan(request, &memory, t.scratch, &plan, nullptr, &found);
  if (status != Status::kInfeasible) return 1;
  return static_cast<int64_t>(Max<uint64_t>(found.smallest_scratchpad_bytes, 1));
}

// Plans one budget and adds the point, unless the budget is known or has no plan.
Status AddPoint(Tracer* t, int64_t bytes, Vector<CurvePoint>* out) {
  if (t->left > 0) --t->left;
  for (const CurvePoint& known : *out) {
    if (known.bytes == bytes) return Status::kOk;
  }
  const bool first = out->size() == 0;
  if (!first && t->request.end_ns != 0 &&
      t->scratch->memory()->time().Now() >= t->request.end_ns) {
    return Status::kOk;
  }
  CurvePoint point = {};
  const Status status = PlanFor(t, bytes, PartsForPoint(first, t->left), &point);
  if (status == Status::kOk) return out->Push(point);
  const bool fatal =
      first || (status != Status::kInfeasible && status != Status::kUnsupported &&
                status != Status::kStopped);
  return fatal ? status : Status::kOk;
}

// Sorts the points by bytes; a point that is worse than a smaller one takes its plan.
void TakeBest(Vector<CurvePoint>* points) {
  for (size_t i = 1; i < points->size(); ++i) {
    const CurvePoint moved = (*points)[i];
    size_t at = i;
    for (; at > 0 && (*points)[at - 1].bytes > moved.bytes; --at) {
      (*points)[at] = (*points)[at - 1];
    }
    (*points)[at] = moved;
  }
  for (size_t i = 1; i < points->size(); ++i) {
    CurvePoint& point = (*points)[i];
    const CurvePoint& below = (*points)[i - 1];
    if (point.latency < below.latency) continue;
    const int64_t bytes = point.bytes;
    point = below;
    point.bytes = bytes;
  }
}

}  // namespace

int64_t RangeAlignment(const Hardware& hardware) {
  return Max<int64_t>(64, hardware.scratchpad().alignment_bytes);
}

// Bisects with plain products, so that the result is the same on every machine.
double GeometricRatio(double from, double to, uint32_t n) {
  double low = 1, high = to / from;
  for (int i = 0; n > 1 && i < 60; ++i) {
    const double middle = (low + high) / 2;
    double product = from;
    for (uint32_t k = 0; k < n && product < to; ++k) product *= middle;
    (product < to ? low : high) = middle;
  }
  return high;
}

Status PlanPoint(const PlanRequest& request, Span<const uint8_t> before, Arena* arena,
                 Arena* scratch, CurvePoint* point, Diagnostic* diagnostic) {
  const Hardware& hardware = request.hardware;
  Arena memory(scratch->memory());  // the plan's own
  ArenaScope scope(scratch);
  PlanRequest from = request;
  from.is_moved = true;
  Span<const uint8_t> made;
  Plan old = {};
  if (!before.empty()) {
    SLUICE_TRY(ReadPlan(before.data(), before.size(), scratch, &old, diagnostic));
    from.before = &old;
  }
  SLUICE_TRY(MakePlan(from, &memory, scratch, &made, nullptr, diagnostic));
  Plan read = {};
  SLUICE_TRY(ReadPlan(made.data(), made.size(), scratch, &read, diagnostic));
  point->latency = static_cast<int64_t>(read.report.latency_cycles);
  point->energy_pj = read.report.energy_pj;
  if (request.options.max_block_cycles != 0) {
    StreamVisits visits;
    SLUICE_TRY(FindVisits(read.stream, scratch, &visits));
    SLUICE_TRY(LongestVisit(hardware, visits, scratch, &point->longest));
  }
  point->cut = read.report.stop_reason == SLUICE_STOP_DEADLINE;
  point->need = RoundUpTo(static_cast<int64_t>(read.report.peak_buffer_bytes),
                          RangeAlignment(hardware));
  if (point->bytes != 0) point->need = Min(point->need, point->bytes);
  if (arena == nullptr) return Status::kOk;
  void* copy = arena->AllocateBytes(made.size(), 16);
  if (copy == nullptr) return Status::kOutOfMemory;
  memcpy(copy, made.data(), made.size());
  point->plan = Span<const uint8_t>(static_cast<const uint8_t*>(copy), made.size());
  return Status::kOk;
}

Status MakeCurve(const Graph& graph, const Hardware& hardware,
                 const CurveRequest& request, Arena* scratch, Vector<CurvePoint>* out,
                 Diagnostic* diagnostic) {
  Tracer t = {graph, hardware, request, scratch, diagnostic, request.points + 1};
  int64_t capacity = hardware.scratchpad().capacity_bytes;
  if (request.options.scratchpad_bytes != 0) {
    capacity = static_cast<int64_t>(Min<uint64_t>(request.options.scratchpad_bytes,
                                                  static_cast<uint64_t>(capacity)));
  }
  // The whole scratchpad must have a plan and comes first, then the smallest size.
  SLUICE_TRY(AddPoint(&t, capacity, out));
  const int64_t alignment = RangeAlignment(hardware);
  const int64_t smallest = Min(RoundUpTo(SmallestBytes(t), alignment), capacity);
  SLUICE_TRY(AddPoint(&t, smallest, out));
  const uint32_t steps = request.points - 1;
  const double ratio = GeometricRatio(static_cast<double>(smallest),
                                      static_cast<double>(capacity), steps);
  double size = static_cast<double>(smallest);
  for (uint32_t i = 1; i < steps; ++i) {
    size *= ratio;
    const int64_t bytes = RoundUpTo(static_cast<int64_t>(size), alignment);
    if (bytes < capacity) SLUICE_TRY(AddPoint(&t, bytes, out));
  }
  TakeBest(out);
  return Status::kOk;
}

}  // namespace sluice
