// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_layer.h"

#include "base/checked.h"
#include "model/tile_cycles.h"

namespace sluice {

namespace {

constexpr int kLoopC = kAxes;
constexpr int64_t kMaxTiles = 1 << 20;
// Of a program, and times the engines of the region: what judges still take in
// sensible time and memory.
constexpr uint64_t kMaxSteps = 1 << 19, kMaxClocks = 1 << 25;

bool Intersect(const Box& a, const Box& b, Box* out) {
  for (int x = 0; x < kAxes; ++x) {
    const int32_t begin = Max(a.begin[x], b.begin[x]);
    const int32_t end = Min(a.begin[x] + a.extent[x], b.begin[x] + b.extent[x]);
    if (begin >= end) return false;
    out->begin[x] = begin;
    out->extent[x] = end - begin;
  }
  return true;
}

// The box `part` of what lies as `whole` in `box`.
BufferBox PartOfBuffer(const BufferBox& box, const Box& whole, const Box& part) {
  BufferBox out = box;
  for (int a = 0; a < kAxes; ++a) {
    out.offset += static_cast<uint32_t>(part.begin[a] - whole.begin[a]) * box.stride[a];
    out.extent[a] = part.extent[a];
  }
  return out;
}

}  // namespace

NodeLayer::NodeLayer(const NodeContext& context, uint32_t layer,
                     const NodeRegion& region, const NodeDeal& deal, int32_t slices)
    : context_(context),
      layer_(context.lowering.executed[layer]),
      index_(layer),
      region_(region),
      cols_(region.extent[kColumns]),
      nodes_(static_cast<uint32_t>(NodesOf(region))),
      deal_(deal),
      slices_(slices),
      channels_(AccumulatedChannels(context.graph, layer_)) {
  const TileOperands operands = OperandsOf(layer_);
  for (int r = 0; r < kTileRoles; ++r) {
    roles_[r] = Role{operands.tensor[r], nullptr, false, 0, 0, 0};
  }
}

Status NodeLayer::Init(Arena* arena) {
  SLUICE_TRY(arena->Allocate(nodes_, &shares_));
  SLUICE_TRY(arena->Allocate(nodes_, &turns_));
  SLUICE_TRY(arena->Allocate(nodes_, &covered_));
  RestrictDeal(context_.graph, layer_, &deal_);
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    int64_t nodes = region_.extent[axis];
    for (const uint8_t v : deal_.order[axis]) {
      int32_t* parts = &deal_.parts[axis][v];
      if (*parts > nodes) *parts = 1;  // more parts than nodes: whole on each
      nodes /= *parts;
    }
  }
  const CutRule rule = CutsOf(context_.graph, layer_);
  const Tensor& out = context_.graph.tensors[layer_.outputs[0]];
  for (int v = 0; v < kNodeLoops; ++v) {
    extent_[v] = v == kLoopC ? Max(channels_, 1) : out.extent[v];
    unit_[v] = v == kLoopC ? rule.sum_unit : rule.unit[v];
  }
  extent_[0] /= slices_;
  DealOut();
  return Status::kOk;
}

// Which part of every loop node i has; what is left is not 0 for a node without work.
uint32_t NodeLayer::Digits(uint32_t i, int32_t index[kNodeLoops]) const {
  uint32_t left[kMeshAxes] = {i % cols_, i / cols_};
  for (int v = 0; v < kNodeLoops; ++v) index[v] = 0;
  for (uint32_t axis = kMeshAxes; axis-- > 0;) {
    for (const uint8_t v : deal_.order[axis]) {
      const uint32_t parts = static_cast<uint32_t>(deal_.parts[axis][v]);
      index[v] = index[v] * (axis == kColumns ? deal_.parts[axis][v] : 1) +
                 static_cast<int32_t>(left[axis] % parts);
      left[axis] /= parts;
    }
  }
  return left[0] + left[1];
}

void NodeLayer::DealOut() {
  for (int v = 0; v < kNodeLoops; ++v) {
    share_[v] = PartExtent(extent_[v], deal_.parts[kColumns][v] * deal_.parts[kRows][v],
                           unit_[v]);
  }
  links_ = static_cast<int32_t>(CeilDivide(extent_[kLoopC], share_[kLoopC]));
  for (uint32_t i = 0; i < nodes_; ++i) {
    Share* share = &shares_[i];
    int32_t index[kNodeLoops];
    share->used = Digits(i, index) == 0;
    share->next = kNone;
    for (int v = 0; v < kNodeLoops; ++v) {
      const int64_t begin = int64_t{index[v]} * share_[v];
      if (begin >= extent_[v]) share->used = false;
      if (!share->used) break;
      const int32_t at = static_cast<int32_t>(begin);
      const int32_t n = Min(share_[v], extent_[v] - at);
      if (v < kAxes) {
        share->box.begin[v] = at;
        share->box.extent[v] = n;
      } else {
        share->c_begin = channels_ == 0 ? 0 : at;
        share->c_end = channels_ == 0 ? 0 : at + n;
        share->link = index[v];
      }
    }
  }
  for (uint32_t i = 0; links_ > 1 && i < nodes_; ++i) {
    for (uint32_t j = 0; shares_[i].used && j < nodes_; ++j) {
      if (shares_[j].used && shares_[j].link == shares_[i].link + 1 &&
          shares_[j].box == shares_[i].box) {
        shares_[i].next = j;
      }
    }
  }
}

bool NodeLayer::Take(int role, NodeLayer* producer) {
  if (producer->sink_count_ == sizeof sinks_ / sizeof sinks_[0]) return false;
  roles_[role].producer = producer;
  producer->sinks_[producer->sink_count_++] = Sink{this, role};
  return true;
}

TileBoxes NodeLayer::BoxesAt(const Box& box, int32_t c_begin, int32_t c_end) const {
  return BoxesOf(context_.graph, layer_, box, c_begin, c_end);
}

bool NodeLayer::TileAt(uint32_t i, int64_t time, Tile* tile) const {
  const Share& share = shares_[i];
  const int64_t skew = int64_t{share.link} * trips_[kLoopC];
  int64_t at = time - skew;
  if (drains_) {
    const int64_t period = end_time_ / slices_;
    const int64_t local = time % period - skew;
    if (local < 0 || local >= per_slice_) return false;
    at = time / period * per_slice_ + local;
  }
  if (!share.used || at < 0 || at >= per_slice_ * slices_) return false;
  static constexpr int kOuterK[] = {4, 2, 1, 0, 3};
  static constexpr int kInnerK[] = {4, 3, 2, 1, 0};
  tile->slice = at / per_slice_;
  tile->number = at / trips_[kLoopC];
  int64_t left = at % per_slice_;
  for (int k = 0; k < kNodeLoops; ++k) {
    const int v = tiling_.k_outer ? kOuterK[k] : kInnerK[k];
    const int32_t step = static_cast<int32_t>(left % trips_[v]);
    left /= trips_[v];
    if (v == kLoopC) {
      tile->c_begin = tile->c_end = 0;
      tile->starts = tile->ends = true;
      if (channels_ == 0) continue;
      const int64_t begin = share.c_begin + int64_t{step} * tiling_.c_chunk;
      if (begin >= share.c_end) return false;
      tile->c_begin = static_cast<int32_t>(begin);
      tile->c_end = Min(tile->c_begin + tiling_.c_chunk, share.c_end);
      tile->starts = step == 0;
      tile->ends = tile->c_end == share.c_end;
      continue;
    }
    const int64_t begin = int64_t{step} * tiling_.chunk[v];
    if (begin >= share.box.extent[v]) return false;
    tile->box.begin[v] = share.box.begin[v] + static_cast<int32_t>(begin);
    tile->box.extent[v] =
        Min(tiling_.chunk[v], share.box.extent[v] - static_cast<int32_t>(begin));
  }
  tile->box.begin[0] += static_cast<int32_t>(tile->slice) * extent_[0];
  return true;
}

// What lands at node i of a slice: all that its part reads.
Box NodeLayer::Landing(uint32_t i, int role, int64_t slice) const {
  Box part = shares_[i].box;
  part.begin[0] += static_cast<int32_t>(slice) * extent_[0];
  return BoxesAt(part, shares_[i].c_begin, shares_[i].c_end).box[role];
}

// Buffers of every role, from all tiles of a slice.
Status NodeLayer::Measure(int64_t* bytes) {
  for (int v = 0; v < kNodeLoops; ++v) {
    const int32_t chunk = v == kLoopC ? tiling_.c_chunk : tiling_.chunk[v];
    trips_[v] = v == kLoopC && channels_ == 0
                    ? 1
                    : static_cast<int32_t>(CeilDivide(share_[v], chunk));
  }
  per_slice_ = 1;
  for (const int32_t trips : trips_) {
    per_slice_ *= trips;
    if (per_slice_ * nodes_ * slices_ > kMaxTiles) return Status::kInfeasible;
  }
  sums_ = trips_[kLoopC] > 1 || links_ > 1;
  const int64_t skew = int64_t{links_ - 1} * trips_[kLoopC];
  end_time_ = drains_ ? slices_ * (per_slice_ + skew) : slices_ * per_slice_ + skew;
  int64_t most[kTileRoles] = {}, most_outputs = 0;
  for (Role& role : roles_) role.many = false;
  for (uint32_t i = 0; i < nodes_; ++i) {
    TileBoxes before = {};
    bool any = false;
    const int64_t begin = int64_t{shares_[i].link} * trips_[kLoopC];
    for (int64_t t = begin; t <= begin + per_slice_; ++t) {
      Tile tile;
      if (!TileAt(i, t, &tile)) continue;  // the last one: of the next slice
      const TileBoxes boxes = BoxesAt(tile.box, tile.c_begin, tile.c_end);
      for (int r = 0; r < kTileRoles; ++r) {
        if (any && !(before.box[r] == boxes.box[r])) roles_[r].many = true;
        most[r] = Max(most[r], boxes.box[r].elements());
      }
      most_outputs = Max(most_outputs, tile.box.elements());
      before = boxes;
      any = true;
    }
  }
  const int64_t alignment = Alignment();
  *bytes = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    Role* role = &roles_[r];
    if (role->tensor == kNone || role->producer != nullptr) continue;
    role->count = role->many && tiling_.doubled ? 2 : 1;
    role->bytes = RoundUpTo(
        most[r] * context_.graph.tensors[role->tensor].element_bytes, alignment);
    *bytes += role->bytes * role->count;
  }
  accumulators_ = !sums_ ? 0 : links_ > 1 && tiling_.doubled ? 2 : 1;
  accumulator_bytes_ =
      RoundUpTo(most_outputs * context_.hardware.accumulator_bytes, alignment);
  *bytes += accumulator_bytes_ * accumulators_;
  return Status::kOk;
}

// The next smaller tiles along the first `axes` of the output (and C, if these are
// all); false when there are none.
bool NodeLayer::Shrink(int axes) {
  const CutRule rule = CutsOf(context_.graph, layer_);
  for (int v = 0; v < axes; ++v) {
    if (!rule.cuttable[v] || tiling_.chunk[v] <= unit_[v]) continue;
    tiling_.chunk[v] =
        static_cast<int32_t>(RoundUpTo(CeilDivide(tiling_.chunk[v], 2), unit_[v]));
    return true;
  }
  if (axes < kAxes || !CanSplitC(layer_, channels_) || tiling_.c_chunk <= 1) {
    return false;
  }
  tiling_.c_chunk = static_cast<int32_t>(CeilDivide(tiling_.c_chunk, 2));
  return true;
}

// Of whatever lies in the scratchpad.
int64_t NodeLayer::Alignment() const {
  return Max<int64_t>(context_.hardware.scratchpad().alignment_bytes, sizeof(int64_t));
}

int64_t NodeLayer::SetSlots(int role, int32_t slots) {
  Role* to = &roles_[role];
  if (to->producer == nullptr) return 0;
  int64_t most = 0;
  const int32_t made = to->producer->extent_[0];  // of a slice
  for (uint32_t i = 0; i < nodes_; ++i) {
    if (!shares_[i].used) continue;
    const int32_t ends[] = {0, slices_ - 1};
    for (const int32_t slice : ends) {
      const Box box = Landing(i, role, slice);
      if (box.begin[0] < slice * made ||
          box.begin[0] + box.extent[0] > (slice + 1) * made) {
        return -1;
      }
      most = Max(most, box.elements());
    }
  }
  to->count = slots;
  to->bytes =
      RoundUpTo(most * context_.graph.tensors[to->tensor].element_bytes, Alignment());
  return to->bytes * slots;
}

Status NodeLayer::Fit(int64_t end, Arena* scratch, int64_t* base) {
  const int64_t room = end - *base;
  TiledLayer tiled = {context_.graph, context_.hardware, layer_, OperandsOf(layer_),
                      channels_};
  for (int v = 0; v < kNodeLoops; ++v) {
    tiled.parts[v] = deal_.parts[kColumns][v] * deal_.parts[kRows][v];
  }
  tiled.parts[0] *= slices_;
  int64_t smallest = 0;
  SLUICE_TRY(ChooseTiling(tiled, room, scratch, &tiling_, &smallest));
  const Tiling chosen = tiling_;
  // Where nobody waits for a part of it, what is sent on is best sent at once: one tile
  // per node, if it fits.
  Status status = Status::kInfeasible;
  if (whole_ && sink_count_ > 0) status = WholeParts(room);
  // Weights that come in pieces come again with every slice: whole ones first.
  if (status == Status::kInfeasible && slices_ > 1 &&
      roles_[kRoleWeight].tensor != kNone) {
    for (int v = 0; v < kAxes; ++v) tiling_.chunk[v] = share_[v];
    tiling_.c_chunk = share_[kLoopC];
    tiling_.doubled = true;
    status = ShrinkTo(room, kAxes - 1);
  }
  if (status == Status::kInfeasible) {
    tiling_ = chosen;
    status = ShrinkTo(room, kAxes);
  }
  SLUICE_TRY(status);
  Place(base);
  return Status::kOk;
}

Status NodeLayer::FitWhole(int64_t end, int64_t* base) {
  if (sink_count_ == 0) return Status::kInfeasible;
  SLUICE_TRY(WholeParts(end - *base));
  Place(base);
  return Status::kOk;
}

// Parts in one tile, in as few pieces of C as fit.
Status NodeLayer::WholeParts(int64_t room) {
  for (int v = 0; v < kAxes; ++v) tiling_.chunk[v] = share_[v];
  const bool can_split = CanSplitC(layer_, channels_);
  for (tiling_.doubled = true;; tiling_.doubled = false) {
    for (int32_t c = share_[kLoopC];; c = static_cast<int32_t>(CeilDivide(c, 2))) {
      tiling_.c_chunk = c;
      int64_t bytes = 0;
      const Status status = Measure(&bytes);
      if (status != Status::kOk || bytes <= room) return status;
      if (!can_split || c == 1) break;
    }
    if (!tiling_.doubled) return Status::kInfeasible;
  }
}

Status NodeLayer::ShrinkTo(int64_t room, int axes) {
  for (const Tiling begin = tiling_;;) {
    int64_t bytes = 0;
    SLUICE_TRY(Measure(&bytes));
    if (bytes <= room) return Status::kOk;
    if (tiling_.doubled && axes == kAxes) {
      tiling_.doubled = false;
    } else if (!Shrink(axes)) {
      if (!tiling_.doubled) return Status::kInfeasible;
      tiling_ = begin;
      tiling_.doubled = false;
    }
  }
}

// From *base on, which moves behind the last.
void NodeLayer::Place(int64_t* base) {
  for (Role& role : roles_) {
    if (role.producer != nullptr) continue;
    role.begin = *base;
    *base += role.bytes * role.count;
  }
  accumulator_begin_ = *base;
  *base += accumulator_bytes_ * accumulators_;
  time_ = 0;
  for (Turn& turn : turns_) {
    turn = Turn{};
    for (int32_t& current : turn.current) current = -1;
  }
}

BufferRange NodeLayer::RangeOf(int role, int32_t number) const {
  const int64_t begin = roles_[role].begin + number * roles_[role].bytes;
  return BufferRange{static_cast<uint32_t>(begin),
                     static_cast<uint32_t>(begin + roles_[role].bytes)};
}

BufferBox NodeLayer::BoxIn(int role, int32_t number, const Box& box) const {
  const Tensor& tensor = context_.graph.tensors[roles_[role].tensor];
  return DenseBuffer(RangeOf(role, number), box.extent, tensor.dtype,
                     tensor.element_bytes);
}

// `box` in what lands at node i. Layers at work together wait for parts of a landing
// buffer; those that take turns for all of it.
BufferBox NodeLayer::InLanding(uint32_t i, int role, int64_t slice,
                               const Box& box) const {
  constexpr uint32_t kRanges = 16;
  const Box whole = Landing(i, role, slice);
  const int32_t number = static_cast<int32_t>(slice % roles_[role].count);
  BufferBox out = PartOfBuffer(BoxIn(role, number, whole), whole, box);
  if (drains_) return out;
  const uint32_t begin = out.range.begin;
  const uint32_t step = (out.range.end - begin + kRanges - 1) / kRanges;
  uint32_t last = out.offset - begin + DtypeBytes(out.dtype) - 1;
  for (int a = 0; a < kAxes; ++a) {
    last += static_cast<uint32_t>(out.extent[a] - 1) * out.stride[a];
  }
  out.range.begin += (out.offset - begin) / step * step;
  out.range.end = Min(out.range.end, begin + (last / step + 1) * step);
  return out;
}

BufferBox NodeLayer::Accumulator(const Tile& tile) const {
  const int64_t begin =
      accumulator_begin_ + tile.number % accumulators_ * accumulator_bytes_;
  const BufferRange range = {static_cast<uint32_t>(begin),
                             static_cast<uint32_t>(begin + accumulator_bytes_)};
  return DenseBuffer(range, tile.box.extent, SLUICE_DTYPE_INT32,
                     context_.hardware.accumulator_bytes);
}

// Whether a tile that is still to come makes any of the box.
bool NodeLayer::Unfinished(int64_t slice, const Box& box) const {
  Box unused;
  for (uint32_t i = 0; i < nodes_; ++i) {
    if (!shares_[i].used || shares_[i].next != kNone) continue;
    if (turns_[i].pending && Intersect(turns_[i].tile.box, box, &unused)) return true;
    const int64_t skew = int64_t{shares_[i].link} * trips_[kLoopC];
    const int64_t end = (slice + 1) * per_slice_ + skew;
    for (int64_t t = Max(time_, skew); t < end; ++t) {
      Tile tile;
      if (TileAt(i, t, &tile) && Intersect(tile.box, box, &unused)) return true;
    }
  }
  return false;
}

// Of which nothing is left to do.
int64_t NodeLayer::FinishedSlices() const {
  if (done()) return slices_;
  const int64_t skew = int64_t{links_ - 1} * trips_[kLoopC];
  return Max<int64_t>(0, time_ - skew - (pending_ ? 1 : 0)) / per_slice_;
}

bool NodeLayer::Ready() const {
  if (time_ == end_time_) return false;
  for (uint32_t i = 0; i < nodes_; ++i) {
    Tile tile;
    if (!TileAt(i, time_, &tile)) continue;
    const TileBoxes boxes = BoxesAt(tile.box, tile.c_begin, tile.c_end);
    for (int r = 0; r < kTileRoles; ++r) {
      const NodeLayer* producer = roles_[r].producer;
      if (producer != nullptr && producer->Unfinished(tile.slice, boxes.box[r])) {
        return false;
      }
    }
    for (uint32_t s = 0; s < sink_count_; ++s) {
      const NodeLayer& consumer = *sinks_[s].consumer;
      if (tile.slice >=
          consumer.FinishedSlices() + consumer.roles_[sinks_[s].role].count) {
        return false;
      }
    }
  }
  return true;
}

// Calls `send` once for each of few rectangles of nodes that cover those with a true
// same(i, i), with all nodes of a rectangle the same.
template <typename Same, typename Send>
Status NodeLayer::ForRectangles(Same same, Send send) {
  memset(covered_.data(), 0, covered_.size());
  const auto free = [&](uint32_t i, uint32_t j) {
    return covered_[j] == 0 && same(j, j) && same(i, j);
  };
  for (uint32_t i = 0; i < nodes_; ++i) {
    if (!free(i, i)) continue;
    uint32_t cols = 1, rows = 1;
    while (i % cols_ + cols < cols_ && free(i, i + cols)) ++cols;
    for (bool whole = true; whole && i + rows * cols_ < nodes_;) {
      for (uint32_t c = 0; whole && c < cols; ++c)
        whole = free(i, i + rows * cols_ + c);
      if (whole) ++rows;
    }
    for (uint32_t k = 0; k < rows * cols; ++k) {
      covered_[i + k / cols * cols_ + k % cols] = 1;
    }
    SLUICE_TRY(send(i, NodeRect{NodeAt(i), cols, rows}));
  }
  return Status::kOk;
}

// Loads what the next tiles need of a role and do not have.
Status NodeLayer::Load(int r) {
  const Role& role = roles_[r];
  for (Turn& turn : turns_) {
    turn.loads =
        turn.comes && (turn.current[r] < 0 || !(turn.loaded[r] == turn.boxes.box[r]));
    if (!turn.loads) continue;
    turn.current[r] = (turn.current[r] + 1) % role.count;
    turn.loaded[r] = turn.boxes.box[r];
  }
  return ForRectangles(
      [&](uint32_t i, uint32_t j) {
        return turns_[j].loads && turns_[i].current[r] == turns_[j].current[r] &&
               turns_[i].loaded[r] == turns_[j].loaded[r];
      },
      [&](uint32_t i, const NodeRect& rect) {
        Transfer load = {};
        load.dram = TensorBox(role.tensor, context_.lowering.places[role.tensor],
                              turns_[i].loaded[r]);
        load.buffer = BoxIn(r, turns_[i].current[r], turns_[i].loaded[r]);
        load.to = rect;
        return context_.program->AddTransfer(StepKind::kLoad, index_, load);
      });
}

// Loads of the next tiles are issued before the tiles at hand compute, where there are
// buffers for both.
Status NodeLayer::Step() {
  if (context_.budget->Exhausted()) return Status::kStopped;
  const uint64_t steps = context_.program->size();
  if (steps > kMaxSteps || steps * 2 * context_.nodes > kMaxClocks) {
    return Status::kUnsupported;
  }
  if (!tiling_.doubled) SLUICE_TRY(Finish());
  for (uint32_t i = 0; i < nodes_; ++i) {
    Turn* turn = &turns_[i];
    turn->comes = TileAt(i, time_, &turn->next);
    if (!turn->comes) continue;
    turn->boxes = BoxesAt(turn->next.box, turn->next.c_begin, turn->next.c_end);
  }
  for (int r = 0; r < kRoleOutput; ++r) {
    if (roles_[r].tensor == kNone || roles_[r].producer != nullptr) continue;
    SLUICE_TRY(Load(r));
  }
  SLUICE_TRY(Finish());
  for (uint32_t i = 0; i < nodes_; ++i) {
    if (turns_[i].comes) SLUICE_TRY(Describe(i));
  }
  ++time_;
  pending_ = true;
  return Status::kOk;
}

Status NodeLayer::RunSlice() {
  for (Turn& turn : turns_) {
    for (int32_t& current : turn.current) current = -1;
  }
  for (int64_t left = end_time_ / slices_; left > 0; --left) SLUICE_TRY(Step());
  return Finish();
}

// The next tile of a node becomes the one at hand.
Status NodeLayer::Describe(uint32_t i) {
  Turn* turn = &turns_[i];
  const Tile& tile = turn->next;
  const TileBoxes& boxes = turn->boxes;
  TileStep step = {};
  step.node = NodeAt(i);
  for (int r = 0; r < kRoleOutput; ++r) {
    if (roles_[r].tensor == kNone) continue;
    step.present[r] = true;
    step.operand[r] = roles_[r].producer != nullptr
                          ? InLanding(i, r, tile.slice, boxes.box[r])
                          : BoxIn(r, turn->current[r], boxes.box[r]);
  }
  step.first = tile.starts && shares_[i].link == 0;
  step.last = tile.ends && shares_[i].next == kNone;
  if (sums_) {
    step.has_accumulator = true;
    step.accumulator = Accumulator(tile);
  }
  step.c_begin = tile.c_begin;
  step.c_end = tile.c_end;
  for (int a = 0; a < kAxes; ++a) step.origin[a] = tile.box.begin[a];
  for (int a = 0; a < 4; ++a) step.pad[a] = boxes.pad[a];
  step.macs = boxes.macs;
  step.vector_ops = boxes.vector_ops;
  const TileCost cost = DeclaredCost(context_.coster, context_.hardware, index_, boxes,
                                     tile.c_end - tile.c_begin);
  if (cost.cycles > INT64_C(0xffffffff)) return Status::kUnsupported;
  step.cycles = cost.cycles;
  step.energy_pj = cost.energy_pj;
  step.scratchpad_pj = cost.scratchpad_pj;
  turn->tile = tile;
  turn->step = step;
  turn->pending = true;
  return Status::kOk;
}

// Those who go on with a sum come first: they still work on the tile before.
Status NodeLayer::Finish() {
  for (int32_t link = links_; link-- > 0;) {
    for (uint32_t i = 0; i < nodes_; ++i) {
      if (turns_[i].pending && shares_[i].link == link) SLUICE_TRY(Compute(i));
    }
  }
  pending_ = false;
  return Status::kOk;
}

Status NodeLayer::Compute(uint32_t i) {
  Turn* turn = &turns_[i];
  turn->pending = false;
  if (turn->step.last) {
    int32_t* current = &turn->current[kRoleOutput];
    *current = (*current + 1) % roles_[kRoleOutput].count;
    turn->step.present[kRoleOutput] = true;
    turn->step.operand[kRoleOutput] = BoxIn(kRoleOutput, *current, turn->tile.box);
  }
  SLUICE_TRY(context_.program->AddTile(index_, turn->step));
  if (turn->step.last) return Deliver(i);
  if (!turn->tile.ends) return Status::kOk;
  Transfer sum = {};
  sum.buffer = sum.landing = turn->step.accumulator;
  sum.node = NodeAt(i);
  sum.to.node = NodeAt(shares_[i].next);
  return context_.program->AddTransfer(StepKind::kForward, index_, sum);
}

Status NodeLayer::Deliver(uint32_t i) {
  const Turn& turn = turns_[i];
  if (stores_) {
    const uint32_t out = layer_.outputs[0];
    Transfer store = {};
    store.dram = TensorBox(out, context_.lowering.places[out], turn.tile.box);
    store.buffer = turn.step.operand[kRoleOutput];
    store.node = NodeAt(i);
    SLUICE_TRY(context_.program->AddTransfer(StepKind::kStore, index_, store));
  }
  for (uint32_t s = 0; s < sink_count_; ++s) {
    SLUICE_TRY(sinks_[s].consumer->Land(sinks_[s].role, turn.tile, NodeAt(i),
                                        turn.step.operand[kRoleOutput], index_));
  }
  return Status::kOk;
}

// What node `from` has made goes to all nodes that need any of it.
Status NodeLayer::Land(int role, const Tile& tile, uint32_t from, const BufferBox& out,
                       uint32_t layer) {
  for (uint32_t i = 0; i < nodes_; ++i) {
    Turn* turn = &turns_[i];
    turn->lands = shares_[i].used;
    if (turn->lands) turn->landing = Landing(i, role, tile.slice);
  }
  Box part;
  return ForRectangles(
      [&](uint32_t i, uint32_t j) {
        return turns_[j].lands && turns_[i].landing == turns_[j].landing &&
               Intersect(tile.box, turns_[j].landing, &part);
      },
      [&](uint32_t i, const NodeRect& rect) {
        Intersect(tile.box, turns_[i].landing, &part);
        Transfer forward = {};
        forward.buffer = PartOfBuffer(out, tile.box, part);
        forward.landing = InLanding(i, role, tile.slice, part);
        forward.landing.joins = 1;
        forward.node = from;
        forward.to = rect;
        return context_.program->AddTransfer(StepKind::kForward, layer, forward);
      });
}

}  // namespace sluice
