// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/buffer_beam.h"

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/spill/address_beam.h"

namespace sluice {
namespace {

// Buffers as tensors. A step is a time at which a buffer begins: it writes those that
// begin then, and reads those that end before the next step.
struct TimedGraph {
  Span<OperatorTensor> tensors;
  Span<Operator> operators;
  Span<uint32_t> operands;
};

bool IsAlive(const LiveRange& range) {
  return range.begin < range.end && range.bytes > 0;
}

// The largest alignment; 0: buffers of another kind, or larger than the capacity.
int64_t AlignmentOf(const LiveRangeSet& set, int64_t capacity) {
  int64_t alignment = 1;
  if (!set.reserved.empty()) return 0;
  for (const LiveRange& range : set.buffers) {
    if (range.fixed_offset != kFreeOffset || range.banks != 0 || range.single_bank ||
        range.gap_count != 0) {
      return 0;
    }
    alignment = Max(alignment, range.alignment);
  }
  for (const LiveRange& range : set.buffers) {
    if (range.bytes % alignment != 0 || range.bytes > capacity) return 0;
  }
  return alignment;
}

struct Touch {  // of a buffer, by a step
  uint32_t step, buffer;
  bool reads;
  bool operator<(const Touch& b) const {
    if (step != b.step) return step < b.step;
    return reads != b.reads ? reads : buffer < b.buffer;
  }
};

Status MakeGraph(Span<const LiveRange> buffers, Arena* arena, TimedGraph* graph) {
  const size_t n = buffers.size();
  Span<int64_t> begins;
  Span<Touch> touches;
  SLUICE_TRY(arena->Allocate(n, &begins));
  SLUICE_TRY(arena->Allocate(2 * n, &touches));
  SLUICE_TRY(arena->Allocate(n, &graph->tensors));
  size_t count = 0, steps = 0;
  for (const LiveRange& range : buffers) {
    if (IsAlive(range)) begins[count++] = range.begin;
  }
  Sort(begins.begin(), begins.begin() + count,
       [](int64_t a, int64_t b) { return a < b; });
  for (size_t i = 0; i < count; ++i) {
    if (steps == 0 || begins[steps - 1] != begins[i]) begins[steps++] = begins[i];
  }
  const auto steps_before = [&](int64_t time) {
    size_t low = 0, high = steps;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      (begins[middle] < time ? low : high) = middle + (begins[middle] < time ? 1 : 0);
    }
    return static_cast<uint32_t>(low);
  };
  size_t touched = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const LiveRange& range = buffers[i];
    graph->tensors[i] = OperatorTensor{range.bytes, TensorRole::kIntermediate};
    if (!IsAlive(range)) continue;
    const uint32_t first = steps_before(range.begin);
    const uint32_t last = steps_before(range.end) - 1;
    touches[touched++] = Touch{first, i, false};
    if (last != first) touches[touched++] = Touch{last, i, true};
  }
  Sort(touches.begin(), touches.begin() + touched,
       [](const Touch& a, const Touch& b) { return a < b; });
  SLUICE_TRY(arena->Allocate(steps, &graph->operators));
  SLUICE_TRY(arena->Allocate(touched, &graph->operands));
  uint32_t at = 0;
  for (uint32_t s = 0; s < steps; ++s) {
    Operator& op = graph->operators[s];
    op = Operator{at, 0, at, 0, kNoOperand};
    for (; at < touched && touches[at].step == s; ++at) {
      graph->operands[at] = touches[at].buffer;
      ++(touches[at].reads ? op.input_count : op.output_count);
    }
    op.first_output = op.first_input + op.input_count;
  }
  return Status::kOk;
}

// The time from which on the most bytes are alive.
Status FindPeak(Span<const LiveRange> buffers, Arena* arena, int64_t* peak) {
  struct Change {
    int64_t time, bytes;
  };
  ArenaScope scope(arena);
  Span<Change> changes;
  SLUICE_TRY(arena->Allocate(2 * buffers.size(), &changes));
  size_t count = 0;
  for (const LiveRange& range : buffers) {
    if (!IsAlive(range)) continue;
    changes[count++] = {range.begin, range.bytes};
    changes[count++] = {range.end, -range.bytes};
  }
  Sort(changes.begin(), changes.begin() + count, [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
  });
  int64_t alive = 0, most = -1;
  for (size_t i = 0; i < count; ++i) {
    alive += changes[i].bytes;
    if (alive <= most) continue;
    most = alive;
    *peak = changes[i].time;
  }
  return Status::kOk;
}

// Places the buffers in order of time. Those that have an offset already keep it; they
// begin with the first ones.
Status PlaceForward(Span<const LiveRange> buffers, AddressBeamOptions options,
                    const Workspace& work, Span<int64_t> offsets, bool* placed) {
  ArenaScope scope(work.arena);
  TimedGraph timed;
  SLUICE_TRY(MakeGraph(buffers, work.arena, &timed));
  SpillDecisions decisions;
  SLUICE_TRY(work.arena->Allocate(timed.operators.size(), &decisions.order));
  SLUICE_TRY(work.arena->Allocate(timed.operands.size(), &decisions.fetch));
  for (uint32_t s = 0; s < decisions.order.size(); ++s) decisions.order[s] = s;
  options.give_up = 1;  // nothing may leave
  options.given = offsets;
  SpillPlan plan;
  SLUICE_TRY(PlaceDecisions({timed.tensors, timed.operators, timed.operands, {}},
                            options, decisions, work, &plan));
  *placed = plan.placed;
  if (!plan.placed) return Status::kOk;
  for (const Residence& stay : plan.residences) offsets[stay.tensor] = stay.offset;
  return Status::kOk;
}

struct Start {
  int64_t peak;     // time
  bool back_first;  // from there to the first buffer, then to the last one
};

// Places the buffers from the peak on in one direction of time, then in the other.
Status PlaceFrom(Span<const LiveRange> buffers, Start start,
                 const AddressBeamOptions& options, const Workspace& work,
                 Span<int64_t> offsets, bool* placed) {
  ArenaScope scope(work.arena);
  Span<LiveRange> part;
  SLUICE_TRY(work.arena->Allocate(buffers.size(), &part));
  for (int64_t& offset : offsets) offset = kFreeOffset;
  *placed = true;
  for (int turn = 0; turn < 2 && *placed; ++turn) {
    const bool back = (turn == 0) == start.back_first;
    for (size_t i = 0; i < part.size(); ++i) {
      const LiveRange& whole = buffers[i];
      part[i].bytes = whole.bytes;
      part[i].begin =
          back ? -Min(whole.end, start.peak + 1) : Max(whole.begin, start.peak);
      part[i].end = back ? -whole.begin : whole.end;
    }
    SLUICE_TRY(PlaceForward(part, options, work, offsets, placed));
  }
  return Status::kOk;
}

}  // namespace

Status PlaceByTime(const LiveRangeSet& set, int64_t capacity, uint32_t width,
                   const Workspace& work, Span<int64_t> offsets, bool* placed) {
  *placed = false;
  const int64_t alignment = AlignmentOf(set, capacity);
  if (alignment == 0) return Status::kOk;
  AddressBeamOptions options;
  options.capacity = capacity / alignment * alignment;
  options.width = width;
  int64_t peak = 0, first = INT64_MAX;
  SLUICE_TRY(FindPeak(set.buffers, work.arena, &peak));
  for (const LiveRange& range : set.buffers) first = Min(first, range.begin);
  const Start starts[] = {{peak, true}, {peak, false}, {first, false}};
  for (const Start& start : starts) {
    SLUICE_TRY(PlaceFrom(set.buffers, start, options, work, offsets, placed));
    if (*placed || work.budget->Exhausted()) break;
  }
  if (!*placed) return Status::kOk;
  for (int64_t& offset : offsets) offset = Max<int64_t>(offset, 0);
  return Status::kOk;
}

}  // namespace sluice
