// SPDX-License-Identifier: Apache-2.0
#include "plan/together/model_sizes.h"

#include "base/checked.h"

namespace sluice {

Status AddSize(ModelSizes* model, int64_t bytes) {
  if (bytes <= 0) return Status::kOk;
  SharedSize size = {};
  size.point.bytes = bytes;
  for (const SharedSize& other : model->sizes) {
    if (other.point.bytes == bytes) return Status::kOk;
    // A larger size whose plan needs no more than `bytes` has the same plan.
    if (other.state == SharedSize::kPlanned && !other.point.cut &&
        other.point.bytes >= bytes && other.point.need <= bytes) {
      return Status::kOk;
    }
  }
  return model->sizes.Push(size);
}

Status AddSizes(const ShareRequest& request, ModelSizes* model) {
  SLUICE_TRY(AddSize(model, request.equal));
  const int64_t alignment = RangeAlignment(request.hardware);
  // Sizes below an eighth of a fair share are not tried.
  const int64_t first = RoundUpTo(Max<int64_t>(request.equal / 8, 1), alignment);
  if (first >= request.whole) return Status::kOk;
  SLUICE_TRY(AddSize(model, first));
  const uint32_t steps = request.points - 1;
  const double ratio = GeometricRatio(static_cast<double>(first),
                                      static_cast<double>(request.whole), steps);
  double bytes = static_cast<double>(first);
  for (uint32_t i = 1; i < steps; ++i) {
    bytes *= ratio;
    const int64_t aligned = RoundUpTo(static_cast<int64_t>(bytes), alignment);
    if (aligned < request.whole) SLUICE_TRY(AddSize(model, aligned));
  }
  return Status::kOk;
}

Span<const uint8_t> LargerPlan(const ModelSizes& model, int64_t bytes) {
  const CurvePoint* best = nullptr;
  for (const SharedSize& size : model.sizes) {
    if (!size.known() || size.point.bytes <= bytes) continue;
    if (best == nullptr || size.point.bytes < best->bytes) best = &size.point;
  }
  return best == nullptr ? Span<const uint8_t>() : best->plan;
}

Status TakePoint(const ShareRequest& request, const CurvePoint& point,
                 ModelSizes* model, SharedSize* size) {
  const bool too_long =
      !model->reserved && request.models > 1 &&
      static_cast<uint64_t>(point.longest) > request.options.max_block_cycles;
  const SharedSize::State state =
      too_long ? SharedSize::kTooLong : SharedSize::kPlanned;
  const bool first = !size->known();
  if (!first && (state > size->state ||
                 (state == size->state && point.latency >= size->point.latency))) {
    return Status::kOk;
  }
  size->point = point;
  size->state = state;
  for (SharedSize& other : model->sizes) {
    if (!too_long && !point.cut && other.state == SharedSize::kOpen &&
        other.point.bytes >= point.need && other.point.bytes <= point.bytes) {
      other.state = SharedSize::kUseless;
    }
  }
  if (!too_long || !first) return Status::kOk;
  // A plan for less scratchpad has shorter transfers and tiles.
  const int64_t alignment = RangeAlignment(request.hardware);
  return AddSize(model, point.bytes / 8 * 7 / alignment * alignment);
}

Status RaiseLeast(const ShareRequest& request, uint64_t bytes, ModelSizes* model) {
  const int64_t least =
      RoundUpTo(static_cast<int64_t>(Min<uint64_t>(bytes, INT64_MAX / 2)),
                RangeAlignment(request.hardware));
  bool known = least == 0 || least >= request.whole;
  for (SharedSize& size : model->sizes) {
    if (size.point.bytes < least) size.state = SharedSize::kUseless;
    known = known || (size.state == SharedSize::kOpen && size.point.bytes == least);
  }
  return known ? Status::kOk : AddSize(model, least);
}

const CurvePoint& Fastest(const ModelSizes& model) {
  const CurvePoint* best = &Whole(model);
  for (const SharedSize& size : model.sizes) {
    const bool planned = size.state == SharedSize::kPlanned;
    if (planned && size.point.latency < best->latency) best = &size.point;
  }
  return *best;
}

int64_t LatencyWithin(const ModelSizes& model, int64_t bytes) {
  int64_t best = 0;
  for (const SharedSize& size : model.sizes) {
    if (size.state != SharedSize::kPlanned || size.point.need > bytes) continue;
    if (best == 0 || size.point.latency < best) best = size.point.latency;
  }
  return best;
}

namespace {

int64_t Scaled(int64_t value, int64_t numerator, int64_t denominator) {
  return static_cast<int64_t>(static_cast<__int128>(value) * numerator / denominator);
}

// The least latency of the plans that need at most so many bytes, and of `best`.
int64_t BestWithin(const ModelSizes& model, int64_t bytes, int64_t best) {
  for (const SharedSize& size : model.sizes) {
    if (!size.known() || size.point.need > bytes) continue;
    best = Min(best, size.point.latency);
  }
  return best;
}

}  // namespace

int64_t ExpectedLatency(const ModelSizes& model, const SharedSize& open, Known known) {
  const int64_t bytes = open.point.bytes;
  const CurvePoint* above = &model.sizes[0].point;
  const CurvePoint* below = nullptr;
  for (const SharedSize& size : model.sizes) {
    if (!size.known()) continue;
    const CurvePoint& p = size.point;
    if (p.bytes >= bytes) {
      if (p.bytes < above->bytes) above = &p;
    } else if (below == nullptr || p.latency < below->latency) {
      below = &p;
    }
  }
  const int64_t bound = BestWithin(model, above->bytes, above->latency);
  if (known == Known::kBounds) return bound;
  if (above->need <= bytes) return bound;
  // No smaller size is planned: guess that latency grows by half the share of bytes
  // taken away.
  if (below == nullptr) return bound + Scaled(bound, above->need - bytes, 2 * bytes);
  return bound + Scaled(Max<int64_t>(below->latency - bound, 0), above->need - bytes,
                        2 * (above->need - below->need));
}

uint32_t LargestAlike(const ModelSizes& model, uint32_t size) {
  const int64_t bound = ExpectedLatency(model, model.sizes[size], Known::kBounds);
  for (uint32_t o = 0; o < model.sizes.size(); ++o) {
    const SharedSize& other = model.sizes[o];
    if (other.state == SharedSize::kOpen &&
        other.point.bytes > model.sizes[size].point.bytes &&
        ExpectedLatency(model, other, Known::kBounds) == bound) {
      size = o;
    }
  }
  return size;
}

Status MakePoints(const ModelSizes& model, const PointsWanted& wanted, Arena* scratch,
                  Span<uint32_t>* sizes, Span<PartitionPoint>* points) {
  const uint32_t n = static_cast<uint32_t>(model.sizes.size());
  SLUICE_TRY(scratch->Allocate(n, sizes));
  SLUICE_TRY(scratch->Allocate(n, points));
  size_t used = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const SharedSize& size = model.sizes[i];
    const bool planned = size.state == SharedSize::kPlanned;
    const bool open = size.state == SharedSize::kOpen && wanted.known != Known::kPlans;
    if (!planned && !open) continue;
    const PartitionPoint point = {
        planned ? RoundUpTo(size.point.need, wanted.alignment) : size.point.bytes,
        planned ? size.point.latency : ExpectedLatency(model, size, wanted.known)};
    size_t at = used++;
    for (; at > 0; --at) {
      const PartitionPoint& other = (*points)[at - 1];
      if (other.bytes < point.bytes ||
          (other.bytes == point.bytes && other.latency <= point.latency)) {
        break;
      }
      (*points)[at] = other;
      (*sizes)[at] = (*sizes)[at - 1];
    }
    (*points)[at] = point;
    (*sizes)[at] = i;
  }
  size_t kept = 0;
  for (size_t i = 0; i < used; ++i) {
    if (kept != 0 && (*points)[i].latency >= (*points)[kept - 1].latency) continue;
    (*points)[kept] = (*points)[i];
    (*sizes)[kept++] = (*sizes)[i];
  }
  *points = points->Slice(0, kept);
  *sizes = sizes->Slice(0, kept);
  return Status::kOk;
}

}  // namespace sluice
