// SPDX-License-Identifier: Apache-2.0
#include "plan/together/shares.h"

#include "base/checked.h"
#include "plan/deadline.h"

namespace sluice {

namespace {

// Another size is planned when at least 1 / kLeftoverShare of a range is unused.
constexpr int64_t kLeftoverShare = 16;
// The most plans for each point asked for, sizes that are added later included.
constexpr uint32_t kPlansPerPoint = 6;
// Iterations of a plan made from another one: more of them find little more.
constexpr uint64_t kIterationsAgain = 50;
// Iterations of a plan under a deadline, where the caller gives no number.
constexpr uint64_t kIterationsInTime = 400;

int64_t Scaled(int64_t value, int64_t numerator, int64_t denominator) {
  return static_cast<int64_t>(static_cast<__int128>(value) * numerator / denominator);
}

}  // namespace

Shares::Shares(const ShareRequest& request, Budget* budget, Arena* arena,
               Arena* scratch, Diagnostic* diagnostic)
    : request_(request),
      budget_(budget),
      arena_(arena),
      scratch_(scratch),
      diagnostic_(diagnostic),
      models_{Model(arena), Model(arena), Model(arena), Model(arena),
              Model(arena), Model(arena), Model(arena), Model(arena)} {}

Status Shares::Add(const Graph& graph, uint32_t weight, int64_t reserved_bytes) {
  Model* model = &models_[count_];
  model->graph = &graph;
  model->weight = weight;
  model->reserved = reserved_bytes != 0;
  SLUICE_TRY(AddSize(model, model->reserved ? reserved_bytes : request_.whole));
  const uint64_t parts = PartsForModel(request_.models - count_, request_.points != 1);
  return Plan(count_++, 0, static_cast<uint32_t>(parts), true, Way::kSearch);
}

Status Shares::AddSize(Model* model, int64_t bytes) {
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

Status Shares::AddSizes(Model* model) {
  SLUICE_TRY(AddSize(model, request_.equal));
  const int64_t alignment = RangeAlignment(request_.hardware);
  // Sizes below an eighth of a fair share are not tried.
  const int64_t first = RoundUpTo(Max<int64_t>(request_.equal / 8, 1), alignment);
  if (first >= request_.whole) return Status::kOk;
  SLUICE_TRY(AddSize(model, first));
  const uint32_t steps = request_.points - 1;
  const double ratio = GeometricRatio(static_cast<double>(first),
                                      static_cast<double>(request_.whole), steps);
  double bytes = static_cast<double>(first);
  for (uint32_t i = 1; i < steps; ++i) {
    bytes *= ratio;
    const int64_t aligned = RoundUpTo(static_cast<int64_t>(bytes), alignment);
    if (aligned < request_.whole) SLUICE_TRY(AddSize(model, aligned));
  }
  return Status::kOk;
}

// The plan of the next larger size that is planned; empty = there is none.
Span<const uint8_t> Shares::LargerPlan(const Model& model, int64_t bytes) {
  const CurvePoint* best = nullptr;
  for (const SharedSize& size : model.sizes) {
    if (!size.known() || size.point.bytes <= bytes) continue;
    if (best == nullptr || size.point.bytes < best->bytes) best = &size.point;
  }
  return best == nullptr ? Span<const uint8_t>() : best->plan;
}

// Makes one more plan of a size, in a part of the time left.
Status Shares::Plan(uint32_t m, uint32_t i, uint32_t part, bool must, Way way) {
  Model* model = &models_[m];
  SharedSize* size = &model->sizes[i];
  sluice_schedule_options_t options = request_.options;
  options.scratchpad_bytes = static_cast<uint64_t>(size->point.bytes);
  if (InTime()) {
    options.deadline_ns = PartOfTime(budget_->left_ns(), part);
    // A search that never gives up would leave no time for the other models.
    if (options.max_iterations == 0) options.max_iterations = kIterationsInTime;
  }
  if (way == Way::kPlain) options.solver = SLUICE_SOLVER_BASELINE;
  Span<const uint8_t> before;
  if (way == Way::kAgain) {
    before = LargerPlan(*model, size->point.bytes);
    if (before.empty()) return Status::kOk;
    // 0 means no limit.
    const uint64_t most = options.max_iterations;
    options.max_iterations = most == 0 ? kIterationsAgain : Min(most, kIterationsAgain);
  }
  CurvePoint point = {};
  point.bytes = size->point.bytes;
  ++planned_;
  const Status status = PlanPoint({*model->graph, request_.hardware, options}, before,
                                  arena_, scratch_, &point, diagnostic_);
  if (status == Status::kOk) {
    point.cut = point.cut || way == Way::kPlain;
    cut_ = cut_ || point.cut;
    return TakePoint(model, size, point);
  }
  if (!size->known()) size->state = SharedSize::kUseless;
  if (!must && status == Status::kInfeasible) return RaiseLeast(model);
  if (!must && (status == Status::kUnsupported || status == Status::kStopped)) {
    return Status::kOk;
  }
  diagnostic_->model = m;
  return status;
}

// Plans from scratch; without a deadline also from the plan of the next larger size,
// which is sometimes far better.
Status Shares::PlanWell(uint32_t m, uint32_t i, uint32_t part) {
  SLUICE_TRY(Plan(m, i, part, false, Way::kSearch));
  return InTime() ? Status::kOk : Plan(m, i, part, false, Way::kAgain);
}

// Keeps the plan unless this size has a better one.
Status Shares::TakePoint(Model* model, SharedSize* size, const CurvePoint& point) {
  const bool too_long =
      !model->reserved && request_.models > 1 &&
      static_cast<uint64_t>(point.longest) > request_.options.max_block_cycles;
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
  const int64_t alignment = RangeAlignment(request_.hardware);
  return AddSize(model, point.bytes / 8 * 7 / alignment * alignment);
}

// Drops the sizes below the smallest scratchpad that the refusal of a size has named,
// and adds that one.
Status Shares::RaiseLeast(Model* model) {
  const int64_t least =
      RoundUpTo(static_cast<int64_t>(Min<uint64_t>(
                    diagnostic_->smallest_scratchpad_bytes, INT64_MAX / 2)),
                RangeAlignment(request_.hardware));
  bool known = least == 0 || least >= request_.whole;
  for (SharedSize& size : model->sizes) {
    if (size.point.bytes < least) size.state = SharedSize::kUseless;
    known = known || (size.state == SharedSize::kOpen && size.point.bytes == least);
  }
  return known ? Status::kOk : AddSize(model, least);
}

int64_t Shares::LeastTurn() const {
  int64_t most = 0;
  for (uint32_t m = 0; m < count_; ++m) {
    int64_t least = INT64_MAX;
    for (const SharedSize& size : models_[m].sizes) {
      if (size.point.need != 0) least = Min(least, size.point.longest);
    }
    most = Max(most, least);
  }
  return most;
}

const CurvePoint& Shares::fastest(uint32_t m) const {
  const CurvePoint* best = &whole(m);
  for (const SharedSize& size : models_[m].sizes) {
    const bool planned = size.state == SharedSize::kPlanned;
    if (planned && size.point.latency < best->latency) best = &size.point;
  }
  return *best;
}

int64_t Shares::LatencyWithin(uint32_t m, int64_t bytes) const {
  int64_t best = 0;
  for (const SharedSize& size : models_[m].sizes) {
    if (size.state != SharedSize::kPlanned || size.point.need > bytes) continue;
    if (best == 0 || size.point.latency < best) best = size.point.latency;
  }
  return best;
}

// The least latency of the plans that need at most so many bytes, and of `best`.
int64_t Shares::BestWithin(const Model& model, int64_t bytes, int64_t best) {
  for (const SharedSize& size : model.sizes) {
    if (!size.known() || size.point.need > bytes) continue;
    best = Min(best, size.point.latency);
  }
  return best;
}

// Latency of a size that is not planned. A bound from below: the best plan known within
// the next larger size. A guess: half way between that and a straight line from there
// to the best smaller size.
int64_t Shares::Latency(const Model& model, const SharedSize& open, Known known) const {
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

// The sizes of a model as a curve: bytes rising, latencies falling.
Status Shares::MakePoints(const Model& model, Known known, Span<uint32_t>* sizes,
                          Span<PartitionPoint>* points) {
  const uint32_t n = static_cast<uint32_t>(model.sizes.size());
  SLUICE_TRY(scratch_->Allocate(n, sizes));
  SLUICE_TRY(scratch_->Allocate(n, points));
  size_t used = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const SharedSize& size = model.sizes[i];
    const bool planned = size.state == SharedSize::kPlanned;
    const bool open = size.state == SharedSize::kOpen && known != Known::kPlans;
    if (!planned && !open) continue;
    const PartitionPoint point = {
        planned ? RoundUpTo(size.point.need, RangeAlignment(request_.hardware))
                : size.point.bytes,
        planned ? size.point.latency : Latency(model, size, known)};
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

Status Shares::Choose(Known known, Choice* choice) {
  PartitionModel models[kMaxModels];
  uint32_t n = 0;
  for (uint32_t m = 0; m < count_; ++m) {
    const Model& model = models_[m];
    if (model.reserved) continue;
    SLUICE_TRY(MakePoints(model, known, &choice->size[n], &choice->point[n]));
    if (choice->point[n].empty()) return Status::kInfeasible;
    models[n] = PartitionModel{choice->point[n], model.weight};
    choice->model[n++] = m;
  }
  // After the deadline, the division among the plans made so far is still searched for.
  Budget last({}, 0, kLastDivisions, nullptr);
  return DividePartition(Span<const PartitionModel>(models, n), request_.ranges,
                         budget_->Exhausted() ? &last : budget_, &choice->partition);
}

// Plans the smallest open size of each model.
Status Shares::PlanSmallest(bool* planned) {
  *planned = false;
  for (uint32_t m = 0; m < count_; ++m) {
    const Vector<SharedSize>& sizes = models_[m].sizes;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].state != SharedSize::kOpen) continue;
      if (least == UINT32_MAX || sizes[i].point.bytes < sizes[least].point.bytes) {
        least = i;
      }
    }
    if (least == UINT32_MAX) continue;
    *planned = true;
    SLUICE_TRY(PlanWell(m, least, 2));
  }
  return Status::kOk;
}

// Plans the open sizes of a choice. By bounds it plans the largest size with the same
// bound instead: that is the cheapest to plan and raises the bounds of smaller sizes.
Status Shares::PlanOpen(const Choice& choice, Known known, bool* planned) {
  *planned = false;
  for (uint32_t i = 0, m = 0; m < count_; ++m) {
    const Model& model = models_[m];
    if (model.reserved) continue;
    const uint32_t size = choice.SizeOf(i++);
    if (model.sizes[size].state != SharedSize::kOpen) continue;
    *planned = true;
    SLUICE_TRY(
        PlanWell(m, known == Known::kBounds ? LargestAlike(model, size) : size, 2));
  }
  return Status::kOk;
}

uint32_t Shares::LargestAlike(const Model& model, uint32_t size) const {
  const int64_t bound = Latency(model, model.sizes[size], Known::kBounds);
  for (uint32_t o = 0; o < model.sizes.size(); ++o) {
    const SharedSize& other = model.sizes[o];
    if (other.state == SharedSize::kOpen &&
        other.point.bytes > model.sizes[size].point.bytes &&
        Latency(model, other, Known::kBounds) == bound) {
      size = o;
    }
  }
  return size;
}

// Unused bytes of a range return to the pool: sizes that could use them become
// candidates, and so do sizes that make room for a faster size of a neighbour.
Status Shares::AddNeighbours(const Choice& choice, bool* added) {
  uint32_t n = 0;
  size_t before = 0, after = 0;
  for (uint32_t m = 0; m < count_; ++m) {
    if (!models_[m].reserved) ++n;
    before += models_[m].sizes.size();
  }
  for (const FreeRange& range : request_.ranges) {
    int64_t left = range.bytes;
    const auto inside = [&](uint32_t i) {
      const int64_t offset = choice.partition.offset[i] - range.begin;
      return offset >= 0 && offset < range.bytes;
    };
    for (uint32_t i = 0; i < n; ++i) left -= inside(i) ? choice.BytesOf(i) : 0;
    for (uint32_t i = 0; i < n; ++i) {
      if (!inside(i)) continue;
      SLUICE_TRY(AddLeftover(choice, i, left));
      for (uint32_t j = 0; j < n; ++j) {
        if (j != i && inside(j)) SLUICE_TRY(AddExchanges(choice, i, j, left));
      }
    }
  }
  for (uint32_t m = 0; m < count_; ++m) after += models_[m].sizes.size();
  *added = after != before;
  return Status::kOk;
}

Status Shares::AddLeftover(const Choice& choice, uint32_t i, int64_t left) {
  Model* model = &models_[choice.model[i]];
  const CurvePoint& point = model->sizes[choice.SizeOf(i)].point;
  const int64_t alignment = RangeAlignment(request_.hardware);
  const int64_t bytes = (choice.BytesOf(i) + left) / alignment * alignment;
  if (left < choice.BytesOf(i) / kLeftoverShare || point.bytes >= bytes ||
      point.latency <= model->sizes[0].point.latency) {
    return Status::kOk;
  }
  return AddSize(model, bytes);
}

// Adds the size that remains for j when i takes a faster one, if the guessed latencies
// gain.
Status Shares::AddExchanges(const Choice& choice, uint32_t i, uint32_t j,
                            int64_t left) {
  const Model& gains = models_[choice.model[i]];
  Model* loses = &models_[choice.model[j]];
  const int64_t alignment = RangeAlignment(request_.hardware);
  const int64_t now = loses->sizes[choice.SizeOf(j)].point.latency;
  for (const SharedSize& size : gains.sizes) {
    if (size.state != SharedSize::kPlanned) continue;
    const int64_t gain =
        gains.sizes[choice.SizeOf(i)].point.latency - size.point.latency;
    const int64_t grows = RoundUpTo(size.point.need, alignment) - choice.BytesOf(i);
    SharedSize open = {};
    open.point.bytes = (choice.BytesOf(j) + left - grows) / alignment * alignment;
    if (gain <= 0 || open.point.bytes <= 0 || open.point.bytes >= choice.BytesOf(j)) {
      continue;
    }
    const int64_t loss = Latency(*loses, open, Known::kGuesses) - now;
    if (static_cast<__int128>(loss) * loses->weight <
        static_cast<__int128>(gain) * gains.weight) {
      SLUICE_TRY(AddSize(loses, open.point.bytes));
    }
  }
  return Status::kOk;
}

Status Shares::DoNotFit(Status status) {
  if (status != Status::kInfeasible) return status;
  if (budget_->Exhausted()) {
    return Fail(diagnostic_, Status::kStopped, "coschedule")
        .Text("stopped before it was known whether the models fit side by side");
  }
  int64_t required = 0, available = 0;
  for (uint32_t m = 0; m < count_; ++m) {
    if (models_[m].reserved) continue;
    int64_t least = INT64_MAX;
    for (const SharedSize& size : models_[m].sizes) {
      if (size.point.need != 0) least = Min(least, size.point.need);
    }
    required += RoundUpTo(least, RangeAlignment(request_.hardware));
  }
  for (const FreeRange& range : request_.ranges) available += range.bytes;
  return Fail(diagnostic_, status, "coschedule")
      .Bytes(static_cast<uint64_t>(required), static_cast<uint64_t>(available))
      .Text("the models do not fit side by side: the smallest plans need ")
      .Number(required)
      .Text(" bytes of scratchpad, ")
      .Number(available)
      .Text(" are free");
}

// Plans the fair share of each model, so that equal shares are always a candidate.
Status Shares::PlanEqual(bool plain) {
  for (uint32_t m = 0; m < count_; ++m) {
    if (models_[m].reserved) continue;
    const Vector<SharedSize>& sizes = models_[m].sizes;
    uint32_t i = 0;
    while (i < sizes.size() && sizes[i].point.bytes != request_.equal) ++i;
    if (i == sizes.size() || sizes[i].state == SharedSize::kUseless) continue;
    if (sizes[i].known() && !sizes[i].point.cut) continue;
    const uint32_t part = count_ - m;
    SLUICE_TRY(plain ? Plan(m, i, part, false, Way::kPlain) : PlanWell(m, i, part));
  }
  return Status::kOk;
}

Status Shares::Divide(Division* out) {
  for (uint32_t m = 0; m < count_; ++m) {
    if (!models_[m].reserved) SLUICE_TRY(AddSizes(&models_[m]));
  }
  // With a deadline a division is found first, then better ones.
  if (InTime()) SLUICE_TRY(PlanEqual(true));
  SLUICE_TRY(PlanEqual(false));
  Choice choice = {};
  Known known = Known::kGuesses;
  for (;;) {
    ArenaScope scope(scratch_);
    const bool enough = planned_ > kPlansPerPoint * request_.points * count_;
    if (enough || budget_->Exhausted()) known = Known::kPlans;
    bool more = false;
    const Status status = Choose(known, &choice);
    if (status != Status::kOk) {
      if (status == Status::kInfeasible && known != Known::kPlans) {
        SLUICE_TRY(PlanSmallest(&more));
      }
      if (!more) return DoNotFit(status);
      continue;
    }
    SLUICE_TRY(PlanOpen(choice, known, &more));
    if (more) continue;
    if (known != Known::kPlans) SLUICE_TRY(AddNeighbours(choice, &more));
    if (more) continue;
    if (known == Known::kGuesses) {
      known = Known::kBounds;
      continue;
    }
    out->proved = known == Known::kBounds && choice.partition.proved && !cut_;
    for (uint32_t m = 0, i = 0; m < count_; ++m) {
      if (models_[m].reserved) continue;
      out->size[m] = choice.SizeOf(i);
      out->offset[m] = choice.partition.offset[i++];
    }
    return Status::kOk;
  }
}

}  // namespace sluice
