// SPDX-License-Identifier: Apache-2.0
#include "plan/together/arrange.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr char kStage[] = "coschedule";

void Take(const CurvePoint& point, uint32_t m, int64_t offset, int64_t bytes,
          Arrangement* a) {
  a->plan[m] = point.plan;
  a->latency[m] = point.latency;
  a->offset[m] = offset;
  a->bytes[m] = bytes;
}

void ArrangeReserved(const CohortProblem& s, const Shares& shares, Arrangement* a) {
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    if (!s.reserved(m)) continue;
    Take(Whole(shares.models[m]), m, static_cast<int64_t>(s.models[m].reserved_offset),
         static_cast<int64_t>(s.models[m].reserved_bytes), a);
  }
}

// Models with a reservation, by its offset.
Status SortReservations(const CohortProblem& s, uint32_t order[kMaxModels],
                        uint32_t* count) {
  const uint64_t room = static_cast<uint64_t>(s.capacity);
  const int64_t alignment = RangeAlignment(s.hardware);
  *count = 0;
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    const sluice_model_t& model = s.models[m];
    if (!s.reserved(m)) continue;
    if (model.reserved_offset > room ||
        model.reserved_bytes > room - model.reserved_offset ||
        model.reserved_offset % static_cast<uint64_t>(alignment) != 0) {
      return Fail(s.diagnostic, Status::kBadArgument, kStage)
          .Say(
              "the reservation of model # lies outside the scratchpad or at no "
              "multiple of #",
              m, alignment);
    }
    uint32_t at = (*count)++;
    for (; at > 0 && s.models[order[at - 1]].reserved_offset > model.reserved_offset;
         --at) {
      order[at] = order[at - 1];
    }
    order[at] = m;
  }
  return Status::kOk;
}

}  // namespace

uint64_t SaturatedSum(uint64_t sum, uint64_t weight, uint64_t cycles) {
  int64_t product = 0;
  if (!CheckedMultiply(static_cast<int64_t>(weight), static_cast<int64_t>(cycles),
                       &product)) {
    return UINT64_MAX;
  }
  const uint64_t added = sum + static_cast<uint64_t>(product);
  return added < sum ? UINT64_MAX : added;
}

Status FindFreeRanges(CohortProblem* s) {
  uint32_t order[kMaxModels];
  uint32_t n = 0;
  SLUICE_TRY(SortReservations(*s, order, &n));
  int64_t begin = 0;
  for (uint32_t i = 0; i <= n; ++i) {
    const int64_t end = i == n
                            ? s->capacity
                            : static_cast<int64_t>(s->models[order[i]].reserved_offset);
    if (end < begin && i < n) {
      return Fail(s->diagnostic, Status::kBadArgument, kStage)
          .Say("the reservations of models # and # overlap", order[i - 1], order[i]);
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

Status ArrangePartition(const CohortProblem& s, Shares* shares, Arrangement* a,
                        bool* proved) {
  Division division = {};
  SLUICE_TRY(DivideShares(shares, &division));
  *proved = division.proved;
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    if (s.reserved(m)) continue;
    const CurvePoint& point = shares->models[m].sizes[division.size[m]].point;
    Take(point, m, division.offset[m],
         RoundUpTo(point.need, RangeAlignment(s.hardware)), a);
  }
  ArrangeReserved(s, *shares, a);
  return Status::kOk;
}

void ArrangeTime(const CohortProblem& s, const Shares& shares, Arrangement* a) {
  const FreeRange& range = s.ranges[s.largest];
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    if (s.reserved(m)) continue;
    Take(Fastest(shares.models[m]), m, range.begin, range.bytes, a);
    a->shares[m] = s.free_models > 1;
  }
  ArrangeReserved(s, shares, a);
}

int64_t EqualShare(const CohortProblem& s) {
  int64_t total = 0;
  for (uint32_t r = 0; r < s.range_count; ++r) total += s.ranges[r].bytes;
  const int64_t alignment = RangeAlignment(s.hardware);
  const int64_t share = total / Max(s.free_models, 1u) / alignment * alignment;
  return Min(share, s.ranges[s.largest].bytes);
}

uint64_t FinishSum(const CohortProblem& s, const Arrangement& a) {
  uint64_t sum = 0;
  for (uint32_t m = 0; m < s.models.size(); ++m) {
    sum = SaturatedSum(sum, s.weight(m), a.finish[m]);
  }
  return sum;
}

}  // namespace sluice
