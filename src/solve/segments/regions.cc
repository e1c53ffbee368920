// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/regions.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr double kLeastBalance = 0.4;      // of the nodes at work in a full pipeline
constexpr uint32_t kMaxAllocations = 512;  // of one run, where all are wanted

// Cuts rectangles for stages [first, last) of a run off `area`, one by one.
struct Cutter {
  const double* load;
  bool all;
  Vector<NodeRegion>* out;  // `stages` regions per allocation
  NodeRegion part[kMaxStages];
  uint32_t stage[kMaxStages];  // the stage at each place of the order
  uint32_t stages;
  uint32_t found;
  double best;  // most work per node, of the best allocation
  Status status;
  Budget* budget;

  // Nothing more would be kept, or the budget has ended.
  bool IsDone() const {
    return (all && found >= kMaxAllocations) || status != Status::kOk || budget->Tick();
  }
};

double Sum(const double* load, uint32_t first, uint32_t last) {
  double sum = 0;
  for (uint32_t i = first; i < last; ++i) sum += load[i];
  return sum;
}

struct Piece {
  NodeRegion area;
  uint32_t first, last;
};

void Keep(Cutter* cutter) {
  double most = 0;
  for (uint32_t i = 0; i < cutter->stages; ++i) {
    most = Max(most, cutter->load[i] / static_cast<double>(NodesOf(cutter->part[i])));
  }
  if (!cutter->all) {
    if (cutter->found > 0 && most >= cutter->best) return;
    cutter->best = most;
    if (cutter->found > 0) {
      cutter->out->Truncate(cutter->out->size() - cutter->stages);
      cutter->found = 0;
    }
  } else {
    // Cuts in another order may give the same rectangles.
    const size_t begin = cutter->out->size() - size_t{cutter->found} * cutter->stages;
    for (uint32_t k = 0; k < cutter->found; ++k) {
      if (memcmp(cutter->out->data() + begin + size_t{k} * cutter->stages, cutter->part,
                 cutter->stages * sizeof(NodeRegion)) == 0) {
        return;
      }
    }
  }
  ++cutter->found;
  for (uint32_t i = 0; i < cutter->stages; ++i) {
    const Status pushed = cutter->out->Push(cutter->part[i]);
    if (pushed != Status::kOk) cutter->status = pushed;
  }
}

// Pieces still to be cut lie on a stack; a piece of one stage is done.
void Cut(Cutter* cutter, Piece* stack, uint32_t depth) {
  if (cutter->IsDone()) return;
  if (depth == 0) return Keep(cutter);
  const Piece piece = stack[depth - 1];
  if (piece.last - piece.first == 1) {
    cutter->part[cutter->stage[piece.first]] = piece.area;
    Cut(cutter, stack, depth - 1);
    stack[depth - 1] = piece;
    return;
  }
  if (NodesOf(piece.area) < int64_t{piece.last} - piece.first) return;
  const double whole = Sum(cutter->load, piece.first, piece.last);
  for (uint32_t split = piece.first + 1; split < piece.last; ++split) {
    const double share = Sum(cutter->load, piece.first, split) / whole;
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      const uint32_t extent = piece.area.extent[axis];
      if (extent < 2) continue;
      const uint32_t near = static_cast<uint32_t>(share * extent);
      const uint32_t low = cutter->all ? 1 : Min(Max(near, 1u), extent - 1);
      const uint32_t high = cutter->all ? extent - 1 : Min(low + 1, extent - 1);
      for (uint32_t at = low; at <= high; ++at) {
        Piece left = piece, right = piece;
        left.last = right.first = split;
        left.area.extent[axis] = at;
        right.area.begin[axis] += at;
        right.area.extent[axis] -= at;
        stack[depth - 1] = right;
        stack[depth] = left;
        Cut(cutter, stack, depth + 1);
      }
    }
  }
  stack[depth - 1] = piece;
}

// The next order of the stages; false after the last.
bool NextOrder(uint32_t* stage, uint32_t n) {
  uint32_t i = n - 1;
  while (i > 0 && stage[i - 1] > stage[i]) --i;
  if (i == 0) return false;
  uint32_t j = n - 1;
  while (stage[j] < stage[i - 1]) --j;
  const uint32_t moved = stage[j];
  stage[j] = stage[i - 1];
  stage[i - 1] = moved;
  for (uint32_t a = i, b = n - 1; a < b; ++a, --b) {
    const uint32_t swapped = stage[a];
    stage[a] = stage[b];
    stage[b] = swapped;
  }
  return true;
}

}  // namespace

Status AllocateRegions(Space* space, const Run& run, Budget* budget, uint32_t* first,
                       uint32_t* count) {
  *first = static_cast<uint32_t>(space->regions.size());
  const NodeRegion mesh = WholeMesh(space->hardware);
  Cutter cutter = {};
  cutter.load = space->load.data() + run.vertex;
  cutter.all = space->options.proof;
  cutter.out = &space->regions;
  cutter.stages = run.stages;
  cutter.budget = budget;
  for (uint32_t i = 0; i < run.stages; ++i) cutter.stage[i] = i;
  Piece stack[2 * kMaxStages + 2];
  do {
    stack[0] = Piece{mesh, 0, run.stages};
    Cut(&cutter, stack, 1);
  } while (cutter.all && !cutter.IsDone() && NextOrder(cutter.stage, run.stages));
  *count = cutter.found;
  if (!space->options.proof && cutter.found > 0) {
    const double even =
        Sum(cutter.load, 0, run.stages) / static_cast<double>(NodesOf(mesh));
    if (even < kLeastBalance * cutter.best) {
      space->regions.Truncate(*first);
      *count = 0;
    }
  }
  return cutter.status;
}

}  // namespace sluice
