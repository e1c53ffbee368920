// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_fit.h"

#include "base/checked.h"
#include "model/granules.h"
#include "model/tile_cycles.h"

namespace sluice {

namespace {

constexpr int64_t kMaxTiles = 1 << 20;   // of a layer, on all nodes
constexpr double kPieceToll = 1.0 / 32;  // as kTileToll of solve/baseline/tiling.cc
constexpr int64_t kFewPieces = 32;       // of a part that is stored, to be called whole
constexpr int kMostCuts = 64;  // of a node's part that are tried, the quickest first

// Alignment of all buffers in the scratchpad.
int64_t BufferAlignment(const NodeLayer& self) {
  return Max<int64_t>(self.context->hardware.scratchpad().alignment_bytes,
                      sizeof(int64_t));
}

// The largest boxes of all tiles of a slice.
struct MostElements {
  int64_t elements[kTileRoles] = {};
  int64_t outputs = 0;
};

// True if the first link of a sum would begin a slice whose landing buffer still holds
// what the last link reads: neither could go on.
bool Outruns(const NodeLayer& self, int64_t skew) {
  if (self.slices == 1) return false;
  for (const NodeRole& role : self.roles) {
    if (role.producer != nullptr && skew > (role.count - 1) * self.per_slice)
      return true;
  }
  return false;
}

// Counts tiles for the tiling, and the time that they take.
Status CountTiles(NodeLayer* self) {
  for (int v = 0; v < kNodeLoops; ++v) {
    const int32_t chunk = v == kLoopC ? self->tiling.c_chunk : self->tiling.chunk[v];
    self->trips[v] = v == kLoopC && self->channels == 0
                         ? 1
                         : static_cast<int32_t>(CeilDivide(self->share[v], chunk));
  }
  self->per_slice = 1;
  for (int v = 0; v < kNodeLoops; ++v) {
    self->shown[v] = self->trips[v];
    self->per_slice *= self->trips[v];
    if (self->per_slice * self->nodes * self->slices > kMaxTiles)
      return Status::kInfeasible;
  }
  self->sums = self->trips[kLoopC] > 1 || self->links > 1;
  const int64_t skew = int64_t{self->links - 1} * self->trips[kLoopC];
  self->drains = self->turns_taken || Outruns(*self, skew);
  self->end_time = self->drains ? self->slices * (self->per_slice + skew)
                                : self->slices * self->per_slice + skew;
  return Status::kOk;
}

// Sets the buffers of every role for the boxes seen so far; returns their bytes.
int64_t SetBuffers(NodeLayer* self, const MostElements& most) {
  const int64_t alignment = BufferAlignment(*self);
  int64_t bytes = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    NodeRole* role = &self->roles[r];
    if (role->tensor == kNone || role->producer != nullptr) continue;
    role->count = role->many && self->tiling.doubled ? 2 : 1;
    role->bytes = RoundUpTo(
        most.elements[r] * self->context->graph.tensors[role->tensor].element_bytes,
        alignment);
    bytes += role->bytes * role->count;
  }
  self->accumulators = !self->sums                               ? 0
                       : self->links > 1 && self->tiling.doubled ? 2
                                                                 : 1;
  self->accumulator_bytes =
      RoundUpTo(most.outputs * self->context->hardware.accumulator_bytes, alignment);
  return bytes + self->accumulator_bytes * self->accumulators;
}

// Adds the tiles of a slice of node i, and marks the roles that are loaded more than
// once. Ends where the buffers take more than the room: they only grow.
void MeasureNode(NodeLayer* self, uint32_t i, int64_t room, MostElements* most,
                 int64_t* bytes) {
  TileBoxes before = {};
  bool any = false;
  const int64_t begin = int64_t{self->shares[i].link} * self->trips[kLoopC];
  for (int64_t t = begin; t <= begin + self->per_slice && *bytes <= room; ++t) {
    NodeTile tile;
    if (!TileAt(*self, i, t, &tile)) continue;  // at the end: of the next slice
    const TileBoxes boxes = BoxesAt(*self, tile.box, tile.c_begin, tile.c_end);
    bool grows = tile.box.elements() > most->outputs;
    most->outputs = Max(most->outputs, tile.box.elements());
    for (int r = 0; r < kTileRoles; ++r) {
      const bool again = any && !(before.box[r] == boxes.box[r]);
      const int64_t elements = boxes.box[r].elements();
      grows = grows || elements > most->elements[r] || (again && !self->roles[r].many);
      if (again) self->roles[r].many = true;
      most->elements[r] = Max(most->elements[r], elements);
    }
    if (grows) *bytes = SetBuffers(self, *most);
    before = boxes;
    any = true;
  }
}

// Buffers of every role, from all tiles of a slice. Where *bytes is above
// the room it is only a lower bound: measuring ends there.
Status Measure(NodeLayer* self, int64_t room, int64_t* bytes) {
  SLUICE_TRY(CountTiles(self));
  MostElements most;
  for (NodeRole& role : self->roles) role.many = false;
  *bytes = SetBuffers(self, most);
  for (uint32_t i = 0; i < self->nodes; ++i) MeasureNode(self, i, room, &most, bytes);
  return Status::kOk;
}

// About half of a range of more than one unit, in whole units.
int32_t HalfOf(int32_t range, int32_t unit) {
  const int64_t half = RoundUpTo(CeilDivide(range, 2), unit);
  return static_cast<int32_t>(half < range ? half : unit);
}

// The next smaller tiles along the first `axes` of the output (and C, if these are
// all); false when there are none.
bool Shrink(NodeLayer* self, int axes) {
  const CutRule rule =
      CutsOn(self->context->hardware.array, self->context->graph, *self->layer);
  for (int v = 0; v < axes; ++v) {
    if (!rule.cuttable[v] || self->tiling.chunk[v] <= self->unit[v]) continue;
    self->tiling.chunk[v] = static_cast<int32_t>(
        RoundUpTo(CeilDivide(self->tiling.chunk[v], 2), self->unit[v]));
    return true;
  }
  if (axes < kAxes || !CanSplitC(*self->layer, self->channels) ||
      self->tiling.c_chunk <= self->unit[kLoopC]) {
    return false;
  }
  self->tiling.c_chunk = HalfOf(self->tiling.c_chunk, self->unit[kLoopC]);
  return true;
}

// Chunks of K and C that a node's part may be cut into.
struct PartCut {
  int32_t k, c;
  double cycles;  // estimated
};

// A sum over nodes begins on a later link when the link before it has ended its first
// piece of K. Inputs that do not stay are loaded again for every piece of K.
double CyclesOfCut(const NodeLayer& self, const PartCut& cut) {
  const NodeContext& at = *self.context;
  Box box = self.shares[0].box;
  for (int v = 0; v < kAxes; ++v) box.extent[v] = self.share[v];
  box.extent[3] = cut.k;
  const bool whole = cut.c == self.share[kLoopC] && self.links == 1;
  const TileBoxes tile =
      BoxesAt(self, box, 0, self.channels == 0 ? 0 : Min(cut.c, self.channels));
  const int64_t cycles =
      TileCycles(at.hardware, at.graph, *self.layer, tile,
                 TileSum{self.channels == 0 ? 0 : cut.c, whole, whole});
  const double pieces = static_cast<double>(CeilDivide(self.share[3], cut.k));
  const double chunks = static_cast<double>(CeilDivide(self.share[kLoopC], cut.c));
  double sum = static_cast<double>(cycles) * chunks *
               (pieces + static_cast<double>(self.links - 1));
  const Rational bandwidth = at.hardware.dram().bandwidth;
  if (chunks > 1 && bandwidth.numerator > 0) {
    for (int r = 0; r < kRoleWeight; ++r) {
      const NodeRole& role = self.roles[r];
      if (role.tensor == kNone || role.producer != nullptr) continue;
      sum += (pieces - 1) * chunks * static_cast<double>(tile.box[r].elements()) *
             at.graph.tensors[role.tensor].element_bytes * self.nodes *
             static_cast<double>(bandwidth.denominator) /
             static_cast<double>(bandwidth.numerator);
    }
  }
  return sum * (1 + chunks * pieces * kPieceToll);
}

// Takes one tile for each node's part, or pieces of K and C that take the least time
// among those that fit.
Status TakeWholeParts(NodeLayer* self, int64_t room) {
  for (int v = 0; v < kAxes; ++v) self->tiling.chunk[v] = self->share[v];
  self->tiling.k_outer = false;
  const CutRule rule =
      CutsOn(self->context->hardware.array, self->context->graph, *self->layer);
  const bool can_split = CanSplitC(*self->layer, self->channels);
  PartCut cuts[kMostCuts];
  int count = 0;
  for (int32_t k = self->share[3];; k = HalfOf(k, self->unit[3])) {
    for (int32_t c = self->share[kLoopC];; c = HalfOf(c, self->unit[kLoopC])) {
      PartCut cut = {k, c, 0};
      cut.cycles = CyclesOfCut(*self, cut);
      int at = count < kMostCuts ? count++ : kMostCuts - 1;
      for (; at > 0 && cuts[at - 1].cycles > cut.cycles; --at) cuts[at] = cuts[at - 1];
      cuts[at] = cut;
      if (!can_split || c <= self->unit[kLoopC]) break;
    }
    if (!rule.cuttable[3] || k <= self->unit[3]) break;
  }
  for (self->tiling.doubled = true;; self->tiling.doubled = false) {
    for (int i = 0; i < count; ++i) {
      self->tiling.chunk[3] = cuts[i].k;
      self->tiling.c_chunk = cuts[i].c;
      int64_t bytes = 0;
      const Status status = Measure(self, room, &bytes);
      if (status == Status::kOk && bytes <= room) return status;
      if (status != Status::kOk && status != Status::kInfeasible) return status;
    }
    if (!self->tiling.doubled) return Status::kInfeasible;
  }
}

Status ShrinkTo(NodeLayer* self, int64_t room, int axes) {
  for (const Tiling begin = self->tiling;;) {
    int64_t bytes = 0;
    SLUICE_TRY(Measure(self, room, &bytes));
    if (bytes <= room) return Status::kOk;
    if (self->tiling.doubled && axes == kAxes) {
      self->tiling.doubled = false;
    } else if (!Shrink(self, axes)) {
      if (!self->tiling.doubled) return Status::kInfeasible;
      self->tiling = begin;
      self->tiling.doubled = false;
    }
  }
}

void StartTurns(NodeLayer* self) {
  self->time = 0;
  for (NodeTurn& turn : self->turns) {
    turn = NodeTurn{};
    for (int32_t& current : turn.current) current = -1;
  }
}

// Gives addresses from *base on and moves *base past the last buffer.
void SetAddresses(NodeLayer* self, int64_t* base) {
  for (NodeRole& role : self->roles) {
    if (role.producer != nullptr) continue;
    role.begin = *base;
    *base += role.bytes * role.count;
  }
  self->accumulator_begin = *base;
  *base += self->accumulator_bytes * self->accumulators;
  StartTurns(self);
}
}  // namespace

int64_t SetSlots(NodeLayer* self, int role, int32_t slots) {
  NodeRole* to = &self->roles[role];
  if (to->producer == nullptr) return 0;
  int64_t most = 0;
  const int32_t made = to->producer->extent[0];  // of a slice
  for (uint32_t i = 0; i < self->nodes; ++i) {
    if (!self->shares[i].used) continue;
    const int32_t ends[] = {0, self->slices - 1};
    for (const int32_t slice : ends) {
      const Box box = LandingBox(*self, i, role, slice);
      if (box.begin[0] < slice * made ||
          box.begin[0] + box.extent[0] > (slice + 1) * made) {
        return -1;
      }
      most = Max(most, box.elements());
    }
  }
  to->count = slots;
  to->bytes = RoundUpTo(most * self->context->graph.tensors[to->tensor].element_bytes,
                        BufferAlignment(*self));
  return to->bytes * slots;
}

Status FitTiles(NodeLayer* self, int64_t end, Arena* scratch, int64_t* base) {
  const int64_t room = end - *base;
  TiledLayer tiled = {self->context->graph, self->context->hardware, *self->layer,
                      OperandsOf(*self->layer), self->channels};
  tiled.coster = self->context->coster;
  tiled.index = self->index;
  for (int v = 0; v < kNodeLoops; ++v) {
    tiled.parts[v] = self->deal.parts[kColumns][v] * self->deal.parts[kRows][v];
  }
  tiled.parts[0] *= self->slices;
  int64_t smallest = 0;
  SLUICE_TRY(ChooseTiling(tiled, room, scratch, &self->tiling, &smallest));
  const Tiling chosen = self->tiling;
  // Where no consumer waits for a part of the output, it is best sent in one piece: one
  // tile per node, if that fits.
  Status status = Status::kInfeasible;
  if (self->whole) {
    status = TakeWholeParts(self, room);
    const bool few = self->sink_count > 0 || self->per_slice <= kFewPieces;
    if (status == Status::kOk && !few) status = Status::kInfeasible;
  }
  // Weights that are loaded in pieces are loaded again for every slice, so whole
  // weights are tried first.
  if (status == Status::kInfeasible && self->slices > 1 &&
      self->roles[kRoleWeight].tensor != kNone) {
    for (int v = 0; v < kAxes; ++v) self->tiling.chunk[v] = self->share[v];
    self->tiling.c_chunk = self->share[kLoopC];
    self->tiling.doubled = true;
    status = ShrinkTo(self, room, kAxes - 1);
  }
  if (status == Status::kInfeasible) {
    self->tiling = chosen;
    status = ShrinkTo(self, room, kAxes);
  }
  SLUICE_TRY(status);
  SetAddresses(self, base);
  return Status::kOk;
}

Status FitWholeParts(NodeLayer* self, int64_t end, int64_t* base) {
  if (self->sink_count == 0) return Status::kInfeasible;
  SLUICE_TRY(TakeWholeParts(self, end - *base));
  SetAddresses(self, base);
  return Status::kOk;
}

Status MeasureParts(NodeLayer* self) {
  for (int v = 0; v < kAxes; ++v) self->tiling.chunk[v] = self->share[v];
  self->tiling.c_chunk = self->share[kLoopC];
  self->tiling.k_outer = false;
  self->tiling.doubled = true;
  int64_t bytes = 0;
  SLUICE_TRY(Measure(self, INT64_MAX, &bytes));
  StartTurns(self);
  return Status::kOk;
}

}  // namespace sluice
