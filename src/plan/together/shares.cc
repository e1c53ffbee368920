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

// How one more plan of a size is made. kMust: as kSearch, and a refusal ends the call.
enum class Way { kPlain, kAgain, kSearch, kMust };

// Whether the call has a deadline.
bool InTime(const Shares& shares) { return shares.budget->left_ns() != UINT64_MAX; }

struct Choice {  // of one division
  Partition partition;
  uint32_t model[kMaxModels];       // of the partition's
  Span<uint32_t> size[kMaxModels];  // of the partition's points
  Span<PartitionPoint> point[kMaxModels];
  uint32_t SizeOf(uint32_t i) const { return size[i][partition.point[i]]; }
  int64_t BytesOf(uint32_t i) const { return point[i][partition.point[i]].bytes; }
};

// Makes one more plan of a size, in a part of the time left.
Status PlanSize(Shares* shares, uint32_t m, uint32_t i, uint32_t part, Way way) {
  ModelSizes* model = &shares->models[m];
  SharedSize* size = &model->sizes[i];
  sluice_schedule_options_t options = shares->request.options;
  options.scratchpad_bytes = static_cast<uint64_t>(size->point.bytes);
  if (InTime(*shares)) {
    options.deadline_ns = PartOfTime(shares->budget->left_ns(), part);
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
  ++shares->planned;
  const Status status =
      PlanPoint({*model->graph, shares->request.hardware, options}, before,
                shares->arena, shares->scratch, &point, shares->diagnostic);
  if (status == Status::kOk) {
    point.cut = point.cut || way == Way::kPlain;
    shares->cut = shares->cut || point.cut;
    return TakePoint(shares->request, point, model, size);
  }
  const bool must = way == Way::kMust;
  if (!size->known()) size->state = SharedSize::kUseless;
  if (!must && status == Status::kInfeasible) {
    return RaiseLeast(shares->request, shares->diagnostic->smallest_scratchpad_bytes,
                      model);
  }
  if (!must && (status == Status::kUnsupported || status == Status::kStopped)) {
    return Status::kOk;
  }
  shares->diagnostic->model = m;
  return status;
}

// Plans from scratch; without a deadline also from the plan of the next larger size,
// which is sometimes far better.
Status PlanWell(Shares* shares, uint32_t m, uint32_t i, uint32_t part) {
  SLUICE_TRY(PlanSize(shares, m, i, part, Way::kSearch));
  return InTime(*shares) ? Status::kOk : PlanSize(shares, m, i, part, Way::kAgain);
}

}  // namespace

Status AddModel(Shares* shares, const Graph& graph, uint32_t weight,
                int64_t reserved_bytes) {
  ModelSizes* model = &shares->models[shares->count];
  model->graph = &graph;
  model->weight = weight;
  model->reserved = reserved_bytes != 0;
  SLUICE_TRY(AddSize(model, model->reserved ? reserved_bytes : shares->request.whole));
  const uint64_t parts = PartsForModel(shares->request.models - shares->count,
                                       shares->request.points != 1);
  return PlanSize(shares, shares->count++, 0, static_cast<uint32_t>(parts), Way::kMust);
}

int64_t LeastTurn(const Shares& shares) {
  int64_t most = 0;
  for (uint32_t m = 0; m < shares.count; ++m) {
    int64_t least = INT64_MAX;
    for (const SharedSize& size : shares.models[m].sizes) {
      if (size.point.need != 0) least = Min(least, size.point.longest);
    }
    most = Max(most, least);
  }
  return most;
}

namespace {

Status Choose(const Shares& shares, Known known, Choice* choice) {
  const PointsWanted wanted = {known, RangeAlignment(shares.request.hardware)};
  PartitionModel models[kMaxModels];
  uint32_t n = 0;
  for (uint32_t m = 0; m < shares.count; ++m) {
    const ModelSizes& model = shares.models[m];
    if (model.reserved) continue;
    SLUICE_TRY(
        MakePoints(model, wanted, shares.scratch, &choice->size[n], &choice->point[n]));
    if (choice->point[n].empty()) return Status::kInfeasible;
    models[n] = PartitionModel{choice->point[n], model.weight};
    choice->model[n++] = m;
  }
  // After the deadline, the division among the plans made so far is still searched for.
  Budget last({}, 0, kLastDivisions, nullptr);
  return DividePartition(Span<const PartitionModel>(models, n), shares.request.ranges,
                         shares.budget->Exhausted() ? &last : shares.budget,
                         &choice->partition);
}

// Plans the smallest open size of each model.
Status PlanSmallest(Shares* shares, bool* planned) {
  *planned = false;
  for (uint32_t m = 0; m < shares->count; ++m) {
    const Vector<SharedSize>& sizes = shares->models[m].sizes;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].state != SharedSize::kOpen) continue;
      if (least == UINT32_MAX || sizes[i].point.bytes < sizes[least].point.bytes) {
        least = i;
      }
    }
    if (least == UINT32_MAX) continue;
    *planned = true;
    SLUICE_TRY(PlanWell(shares, m, least, 2));
  }
  return Status::kOk;
}

// Plans the open sizes of a choice. By bounds it plans the largest size with the same
// bound instead: that is the cheapest to plan and raises the bounds of smaller sizes.
Status PlanOpen(Shares* shares, const Choice& choice, Known known, bool* planned) {
  *planned = false;
  for (uint32_t i = 0, m = 0; m < shares->count; ++m) {
    const ModelSizes& model = shares->models[m];
    if (model.reserved) continue;
    const uint32_t size = choice.SizeOf(i++);
    if (model.sizes[size].state != SharedSize::kOpen) continue;
    *planned = true;
    SLUICE_TRY(PlanWell(shares, m,
                        known == Known::kBounds ? LargestAlike(model, size) : size, 2));
  }
  return Status::kOk;
}

Status AddLeftover(Shares* shares, const Choice& choice, uint32_t i, int64_t left) {
  ModelSizes* model = &shares->models[choice.model[i]];
  const CurvePoint& point = model->sizes[choice.SizeOf(i)].point;
  const int64_t alignment = RangeAlignment(shares->request.hardware);
  const int64_t bytes = (choice.BytesOf(i) + left) / alignment * alignment;
  if (left < choice.BytesOf(i) / kLeftoverShare || point.bytes >= bytes ||
      point.latency <= model->sizes[0].point.latency) {
    return Status::kOk;
  }
  return AddSize(model, bytes);
}

// Adds the size that remains for j when i takes a faster one, if the guessed latencies
// gain.
Status AddExchanges(Shares* shares, const Choice& choice, uint32_t i, uint32_t j,
                    int64_t left) {
  const ModelSizes& gains = shares->models[choice.model[i]];
  ModelSizes* loses = &shares->models[choice.model[j]];
  const int64_t alignment = RangeAlignment(shares->request.hardware);
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
    const int64_t loss = ExpectedLatency(*loses, open, Known::kGuesses) - now;
    if (static_cast<__int128>(loss) * loses->weight <
        static_cast<__int128>(gain) * gains.weight) {
      SLUICE_TRY(AddSize(loses, open.point.bytes));
    }
  }
  return Status::kOk;
}

// Unused bytes of a range return to the pool: sizes that could use them become
// candidates, and so do sizes that make room for a faster size of a neighbour.
Status AddNeighbours(Shares* shares, const Choice& choice, bool* added) {
  uint32_t n = 0;
  size_t before = 0, after = 0;
  for (uint32_t m = 0; m < shares->count; ++m) {
    if (!shares->models[m].reserved) ++n;
    before += shares->models[m].sizes.size();
  }
  for (const FreeRange& range : shares->request.ranges) {
    int64_t left = range.bytes;
    const auto inside = [&](uint32_t i) {
      const int64_t offset = choice.partition.offset[i] - range.begin;
      return offset >= 0 && offset < range.bytes;
    };
    for (uint32_t i = 0; i < n; ++i) left -= inside(i) ? choice.BytesOf(i) : 0;
    for (uint32_t i = 0; i < n; ++i) {
      if (!inside(i)) continue;
      SLUICE_TRY(AddLeftover(shares, choice, i, left));
      for (uint32_t j = 0; j < n; ++j) {
        if (j != i && inside(j)) SLUICE_TRY(AddExchanges(shares, choice, i, j, left));
      }
    }
  }
  for (uint32_t m = 0; m < shares->count; ++m) after += shares->models[m].sizes.size();
  *added = after != before;
  return Status::kOk;
}

Status DoNotFit(const Shares& shares, Status status) {
  if (status != Status::kInfeasible) return status;
  if (shares.budget->Exhausted()) {
    return Fail(shares.diagnostic, Status::kStopped, "coschedule")
        .Text("stopped before it was known whether the models fit side by side");
  }
  int64_t required = 0, available = 0;
  for (uint32_t m = 0; m < shares.count; ++m) {
    if (shares.models[m].reserved) continue;
    int64_t least = INT64_MAX;
    for (const SharedSize& size : shares.models[m].sizes) {
      if (size.point.need != 0) least = Min(least, size.point.need);
    }
    required += RoundUpTo(least, RangeAlignment(shares.request.hardware));
  }
  for (const FreeRange& range : shares.request.ranges) available += range.bytes;
  return Fail(shares.diagnostic, status, "coschedule")
      .Bytes(static_cast<uint64_t>(required), static_cast<uint64_t>(available))
      .Say(
          "the models do not fit side by side: the smallest plans need # bytes of "
          "scratchpad, # are free",
          required, available);
}

// Plans the fair share of each model, so that equal shares are always a candidate.
Status PlanEqual(Shares* shares, bool plain) {
  for (uint32_t m = 0; m < shares->count; ++m) {
    if (shares->models[m].reserved) continue;
    const Vector<SharedSize>& sizes = shares->models[m].sizes;
    uint32_t i = 0;
    while (i < sizes.size() && sizes[i].point.bytes != shares->request.equal) ++i;
    if (i == sizes.size() || sizes[i].state == SharedSize::kUseless) continue;
    if (sizes[i].known() && !sizes[i].point.cut) continue;
    const uint32_t part = shares->count - m;
    SLUICE_TRY(plain ? PlanSize(shares, m, i, part, Way::kPlain)
                     : PlanWell(shares, m, i, part));
  }
  return Status::kOk;
}

}  // namespace

Status DivideShares(Shares* shares, Division* out) {
  for (uint32_t m = 0; m < shares->count; ++m) {
    if (!shares->models[m].reserved)
      SLUICE_TRY(AddSizes(shares->request, &shares->models[m]));
  }
  // With a deadline a division is found first, then better ones.
  if (InTime(*shares)) SLUICE_TRY(PlanEqual(shares, true));
  SLUICE_TRY(PlanEqual(shares, false));
  Choice choice = {};
  Known known = Known::kGuesses;
  for (;;) {
    ArenaScope scope(shares->scratch);
    const bool enough =
        shares->planned > kPlansPerPoint * shares->request.points * shares->count;
    if (enough || shares->budget->Exhausted()) known = Known::kPlans;
    bool more = false;
    const Status status = Choose(*shares, known, &choice);
    if (status != Status::kOk) {
      if (status == Status::kInfeasible && known != Known::kPlans) {
        SLUICE_TRY(PlanSmallest(shares, &more));
      }
      if (!more) return DoNotFit(*shares, status);
      continue;
    }
    SLUICE_TRY(PlanOpen(shares, choice, known, &more));
    if (more) continue;
    if (known != Known::kPlans) SLUICE_TRY(AddNeighbours(shares, choice, &more));
    if (more) continue;
    if (known == Known::kGuesses) {
      known = Known::kBounds;
      continue;
    }
    out->proved = known == Known::kBounds && choice.partition.proved && !shares->cut;
    for (uint32_t m = 0, i = 0; m < shares->count; ++m) {
      if (shares->models[m].reserved) continue;
      out->size[m] = choice.SizeOf(i);
      out->offset[m] = choice.partition.offset[i++];
    }
    return Status::kOk;
  }
}

}  // namespace sluice
