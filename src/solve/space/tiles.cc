// SPDX-License-Identifier: Apache-2.0
#include "solve/space/tiles.h"

#include <float.h>

#include "base/checked.h"
#include "model/tile_cycles.h"

namespace sluice {

// What does not change from choice to choice.
struct TileChooser::Facts {
  uint32_t position;
  const Layer* layer;
  TileOperands operands;
  CutRule rule;
  RootAxes axes;              // of the output
  int32_t extent[kAxes + 1];  // of the output; kSumCut: channels summed over
  int32_t channels;           // summed over, also where the sum must not be cut
  uint32_t whole;             // bits of roles
  bool depends[kTileRoles][kAxes + 1];
  int64_t room;              // bytes
  double moved[kTileRoles];  // least bytes, if each is moved once; 0: whole on chip
  double peak;               // least cycles of the whole layer
  double per_byte;           // cost of the energy of a byte that moves
  double dma_per_byte;       // cycles
};

namespace {

Box Part(const Tensor& out, int axis, int32_t begin, int32_t extent) {
  Box box = WholeBox(out);
  box.begin[axis] = begin;
  box.extent[axis] = extent;
  return box;
}

constexpr double kPerTile = 1e-6;        // of the cost: of equals, fewer tiles
constexpr int32_t kAllUpTo = 8;          // parts of channels
constexpr uint32_t kCrossed = 1u << 31;  // beside the bits of roles: see Crosses

// Parts of an extent after the part size is rounded up to whole passes of the array;
// sizes of at most half a pass stay as they are.
int32_t InPasses(int32_t extent, int32_t parts, int64_t pass) {
  const int64_t step = CeilDivide(extent, parts);
  return static_cast<int32_t>(
      CeilDivide(extent, 2 * step > pass ? RoundUpTo(step, pass) : step));
}

bool OverlapAlong(const Graph& graph, const Layer& layer, int axis) {
  const Window w = WindowOf(graph, layer, axis);
  return w.filter > w.stride;
}

}  // namespace

TripList TripsOf(int32_t extent, int32_t all_up_to) {
  TripList list;
  int32_t last = extent;
  for (int32_t n = 2; n < extent && list.size < 22;) {
    const int32_t step = (extent + n - 1) / n;
    if (step < last) list.trips[list.size++] = (extent + step - 1) / step;
    last = step;
    n = n < all_up_to ? n + 1 : n % 3 == 0 ? n / 3 * 4 : n / 2 * 3;
  }
  if (extent > 1 && (list.size == 0 || list.trips[list.size - 1] != extent)) {
    list.trips[list.size++] = extent;
  }
  return list;
}

OuterCuts::OuterCuts(const Graph& graph, const Layer& layer,
                     const int32_t extent[kAxes], int32_t all_up_to) {
  if (OverlapAlong(graph, layer, 1) && !OverlapAlong(graph, layer, 2)) {
    axis_[1] = 2;
    axis_[2] = 1;
  }
  for (int i = 0; i < 3; ++i) {
    extent_[i] = extent[axis_[i]];
    trips_[i] = TripsOf(extent_[i], all_up_to);
  }
}

LoopChoice OuterCuts::at(int i) const {
  LoopChoice loops;
  int n = 0;
  for (; i >= trips_[n].size; ++n) {
    i -= trips_[n].size;
    loops.Add(axis_[n], extent_[n]);
  }
  loops.Add(axis_[n], trips_[n].trips[i]);
  return loops;
}

bool Overlap(const Graph& graph, const Layer& layer) {
  return OverlapAlong(graph, layer, 1) && OverlapAlong(graph, layer, 2);
}

SquareCuts::SquareCuts(const Graph& graph, const Layer& layer,
                       const int32_t extent[kAxes])
    : images_(extent[0]) {
  const TripList rows = TripsOf(extent[1]), columns = TripsOf(extent[2]);
  if (!Overlap(graph, layer) || columns.size == 0) return;
  for (int r = 0; r < rows.size; ++r) {
    const int64_t height = CeilDivide(extent[1], rows.trips[r]);
    for (int c = 0, last = -1, wide = 2; wide > 0 && size_ < kMost; --wide) {
      while (c + 1 < columns.size &&
             CeilDivide(extent[2], columns.trips[c]) > wide * height) {
        ++c;
      }
      if (c == last) break;
      last = c;
      rows_[size_] = rows.trips[r];
      columns_[size_++] = columns.trips[c];
    }
  }
}

LoopChoice SquareCuts::at(int i) const {
  LoopChoice loops;
  loops.Add(0, images_);
  loops.Add(1, rows_[i]);
  loops.Add(2, columns_[i]);
  return loops;
}

Status TileChooser::Choose(uint32_t position, uint32_t whole, const TileChoices** out) {
  if (Crosses(p_.at(position))) whole |= kCrossed;
  const uint64_t like = prices_->alike(position);
  for (size_t i = 0; i < known_.size(); ++i) {
    const Known& known = known_[i];
    if (known.like == like && known.whole == whole) {
      *out = &known.choices;
      return Status::kOk;
    }
  }
  Known fresh = {like, whole, {}};
  Fill(position, whole, &fresh.choices);
  SLUICE_TRY(known_.Push(fresh));
  *out = &known_[known_.size() - 1].choices;
  return Status::kOk;
}

// Whether an axis of an input runs over several axes of its root: pieces of a sum along
// such an axis do not lie in one frame.
bool TileChooser::Crosses(const Layer& layer) const {
  const TileOperands operands = OperandsOf(layer);
  for (int r = 0; r < kRoleOutput; ++r) {
    const uint32_t t = operands.tensor[r];
    if (t != kNone && !FindRootAxes(p_.map, t).nested) return true;
  }
  return false;
}

TileChooser::Facts TileChooser::FactsOf(uint32_t position, uint32_t whole) const {
  const Graph& graph = *p_.graph;
  const Layer& layer = p_.at(position);
  const Tensor& out = graph.tensors[layer.outputs[0]];
  Facts f = {};
  f.position = position;
  f.layer = &layer;
  f.operands = OperandsOf(layer);
  f.axes = FindRootAxes(p_.map, layer.outputs[0]);
  f.rule = CutsOn(p_.hardware->array, graph, layer);
  f.whole = whole;
  f.extent[kSumCut] = AccumulatedChannels(graph, layer);
  if (TraitsOf(layer).sum == SumRule::kErrorRows || !MaySplitSum(layer)) {
    f.extent[kSumCut] = Min(f.extent[kSumCut], 1);
  }
  if ((whole & kCrossed) != 0) f.extent[kSumCut] = 1;
  const int32_t channels = f.channels = AccumulatedChannels(graph, layer);
  const TileBoxes all = BoxesOf(graph, layer, WholeBox(out), 0, channels);
  for (int a = 0; a < kAxes; ++a) {
    f.extent[a] = f.rule.cuttable[a] ? out.extent[a] : 1;
    if (f.extent[a] <= f.rule.unit[a]) continue;
    const int32_t unit = f.rule.unit[a];
    const TileBoxes first = BoxesOf(graph, layer, Part(out, a, 0, unit), 0, channels);
    const TileBoxes last =
        BoxesOf(graph, layer, Part(out, a, out.extent[a] - unit, unit), 0, channels);
    for (int r = 0; r < kTileRoles; ++r) {
      if (f.operands.tensor[r] == kNone) continue;
      f.depends[r][a] = !(first.box[r] == all.box[r]) || !(last.box[r] == all.box[r]);
    }
  }
  if (f.extent[kSumCut] > 1) {
    const TileBoxes one = BoxesOf(graph, layer, WholeBox(out), 0, 1);
    for (int r = 0; r < kTileRoles; ++r) {
      if (f.operands.tensor[r] == kNone) continue;
      f.depends[r][kSumCut] = !(one.box[r] == all.box[r]);
    }
  }
  FindLeast(all, &f);
  f.room = p_.capacity;
  for (int r = 0; r < kTileRoles; ++r) {
    if (f.operands.tensor[r] == kNone || (whole >> r & 1) == 0) continue;
    f.room -= p_.roots[p_.root_of[f.operands.tensor[r]]].bytes;
  }
  return f;
}

// Finds what all tilings move and compute at least. all: the operands' whole boxes.
void TileChooser::FindLeast(const TileBoxes& all, Facts* f) const {
  const auto peak = [](int64_t work, int64_t rate) {
    return static_cast<double>(work) / static_cast<double>(Max<int64_t>(rate, 1));
  };
  f->peak = Max(peak(all.macs, p_.hardware->macs_per_cycle),
                peak(all.vector_ops, p_.hardware->vector_ops_per_cycle));
  // Windows that leave out rows or columns read less in parts than as a whole.
  bool skips = false;
  for (int a = 1; a < 3; ++a) {
    const Window w = WindowOf(*p_.graph, *f->layer, a);
    skips = skips || w.filter < w.stride;
  }
  for (int r = 0; r < kTileRoles; ++r) {
    if (f->operands.tensor[r] == kNone || (f->whole >> r & 1) != 0) continue;
    if (skips && r != kRoleOutput) continue;
    f->moved[r] = static_cast<double>(
        BytesOfBox(all.box[r], p_.graph->tensors[f->operands.tensor[r]]));
  }
  const MemoryLevel& dram = p_.hardware->dram();
  const Rational& b = dram.bandwidth;
  f->per_byte = 8 *
                (dram.read_pj_per_bit + p_.hardware->scratchpad().write_pj_per_bit) *
                goal_.per_pj;
  f->dma_per_byte = b.numerator == 0 ? 0
                                     : static_cast<double>(b.denominator) /
                                           static_cast<double>(b.numerator);
}

// A tile in the middle, if there is a whole one there: it has its halo on both sides.
struct TileChooser::Tile {
  Box box;
  int32_t c_begin, c_end;
  double count;  // of tiles like it
  TileBoxes boxes;
};

TileChooser::Tile TileChooser::TileOf(const Facts& f, const LoopChoice& loops) const {
  Tile tile = {};
  tile.box = WholeBox(p_.graph->tensors[f.layer->outputs[0]]);
  tile.c_end = f.channels;
  tile.count = 1;
  for (int i = 0; i < loops.count; ++i) {
    const int a = loops.cut[i];
    const int32_t extent = a == kSumCut ? f.channels : tile.box.extent[a];
    const int32_t unit = a == kSumCut ? f.rule.sum_unit : f.rule.unit[a];
    int32_t step = static_cast<int32_t>(
        RoundUpTo(CeilDivide(extent, loops.trips[i]), int64_t{unit}));
    if (a != kSumCut) step = StepOfRows(p_.map, f.axes, a, step);
    const int32_t begin = 2 * int64_t{step} <= extent ? step : 0;
    tile.count *= static_cast<double>(extent) / step;
    if (a == kSumCut) {
      tile.c_begin = begin;
      tile.c_end = begin + step;
    } else {
      tile.box.begin[a] = begin;
      tile.box.extent[a] = step;
    }
  }
  tile.boxes = BoxesOf(*p_.graph, *f.layer, tile.box, tile.c_begin, tile.c_end);
  return tile;
}

// How often the box of a role changes during the loops.
double TileChooser::LoadsOf(const Facts& f, const LoopChoice& loops, int role) const {
  const Tensor& out = p_.graph->tensors[f.layer->outputs[0]];
  double loads = 1, outside = 1;
  for (int i = 0; i < loops.count; ++i) {
    const int a = loops.cut[i];
    const int32_t extent = a == kSumCut ? f.channels : out.extent[a];
    outside *= static_cast<double>(extent) /
               static_cast<double>(CeilDivide(extent, loops.trips[i]));
    if (f.depends[role][a]) loads = outside;
  }
  return loads;
}

// Frames that are filled or emptied again and again. Those that change most often come
// first: in this order they get a second frame where there is room.
class TileChooser::Moving {
 public:
  void Add(int64_t bytes, double times, double moved) {
    int to = count_++;
    for (; to > 0 && frame_[to - 1].times < times; --to) frame_[to] = frame_[to - 1];
    frame_[to] = {bytes, times, moved};
  }
  // Bytes that move through frames for which `room` has no second one: these bytes move
  // while no tile runs.
  double Exposed(int64_t room) const {
    double bytes = 0;
    for (int i = 0; i < count_; ++i) {
      room -= frame_[i].bytes;
      if (room < 0) bytes += frame_[i].moved;
    }
    return bytes;
  }

 private:
  struct Frame {
    int64_t bytes;
    double times, moved;
  } frame_[kTileRoles] = {};
  int count_ = 0;
};

// Bounds on what Estimate finds: each byte moves as often as loops around those that it
// depends on repeat it, and the largest box of an operand is no smaller than its boxes
// are on average.
TileChooser::Bound TileChooser::Least(const Facts& f, const LoopChoice& loops) const {
  double moved = 0, bytes = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    if (f.moved[r] == 0) continue;
    double again = 1, outside = 1, parts = 1;
    for (int i = 0; i < loops.count; ++i) {
      if (f.depends[r][loops.cut[i]]) {
        again = outside;
        parts *= loops.trips[i];
      } else {
        outside *= loops.trips[i];
      }
    }
    moved += again * f.moved[r];
    bytes += f.moved[r] / parts;
  }
  return {moved * f.per_byte + Max(moved * f.dma_per_byte, f.peak) * goal_.per_cycle,
          bytes};
}

// Estimates the cost of the layer by itself; false if a tile does not fit. If a lower
// bound on the cost is not below `most`, *cost is that bound, and the coster is not
// asked.
bool TileChooser::Estimate(const Facts& f, const LoopChoice& loops, double most,
                           double* cost) const {
  const Bound bound = Least(f, loops);
  if (bound.bytes > static_cast<double>(f.room)) return false;
  *cost = bound.cost;
  if (bound.cost >= most) return true;
  const Tile t = TileOf(f, loops);
  Moving moving;
  int64_t bytes = 0, pad_bytes = 0;
  double moved = 0, first = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    if (f.operands.tensor[r] == kNone) continue;
    const int64_t one = t.boxes.box[r].elements() *
                        p_.graph->tensors[f.operands.tensor[r]].element_bytes;
    pad_bytes += one;
    if ((f.whole >> r & 1) != 0) continue;
    const double loads = LoadsOf(f, loops, r);
    bytes += p_.Aligned(one);
    if (loads > 1) moving.Add(p_.Aligned(one), loads, loads * static_cast<double>(one));
    moved += loads * static_cast<double>(one);
    if (r != kRoleOutput) first += static_cast<double>(one);
  }
  if (t.c_end - t.c_begin < f.channels) {
    const int64_t sums = t.box.elements() * p_.hardware->accumulator_bytes;
    bytes += p_.Aligned(sums);
    pad_bytes += sums;
  }
  if (bytes > f.room) return false;
  const MemoryLevel& dram = p_.hardware->dram();
  const MemoryLevel& pad = p_.hardware->scratchpad();
  double energy = moved * 8 * (dram.read_pj_per_bit + pad.write_pj_per_bit);
  const double per_byte = f.dma_per_byte;
  const double latency = static_cast<double>(p_.hardware->dma_latency_cycles);
  const double dma = moved * per_byte + 3 * t.count * latency;
  const double peak = static_cast<double>(
      Max(t.boxes.macs / Max<int64_t>(p_.hardware->macs_per_cycle, 1),
          t.boxes.vector_ops / Max<int64_t>(p_.hardware->vector_ops_per_cycle, 1)));
  const double least =
      energy * goal_.per_pj + Max(dma, t.count * peak) * goal_.per_cycle;
  *cost = least;
  if (least >= most) return true;
  const TileCost tile =
      prices_->Of(f.position, t.boxes,
                  {t.c_end - t.c_begin, t.c_begin == 0, t.c_end == f.channels});
  energy += t.count * (tile.energy_pj > 0
                           ? tile.energy_pj
                           : static_cast<double>(pad_bytes) * 8 * pad.read_pj_per_bit);
  const double compute = t.count * static_cast<double>(tile.cycles);
  const double exposed = moving.Exposed(f.room - bytes) * per_byte;
  const double time = Max(dma, compute + exposed) + first * per_byte;
  energy += time * p_.hardware->leakage_pj_per_cycle;
  // Of tilings that cost about the same, the one with fewer tiles.
  *cost = (energy * goal_.per_pj + time * goal_.per_cycle) * (1 + kPerTile * t.count);
  return true;
}

// Whether a part of an input is loaded more than once.
bool TileChooser::Reloads(const Facts& f, const LoopChoice& loops) const {
  for (int r = 0; r < kRoleOutput; ++r) {
    if (f.operands.tensor[r] == kNone || (f.whole >> r & 1) != 0) continue;
    double parts = 1;
    for (int i = 0; i < loops.count; ++i) {
      if (f.depends[r][loops.cut[i]]) parts *= loops.trips[i];
    }
    if (LoadsOf(f, loops, r) > parts) return true;
  }
  return false;
}

// Tries the loops with the whole sum in each tile. Where that does not fit, or where
// operands are loaded again and again, also tries parts of the sum, which leave room
// for larger tiles.
void TileChooser::Consider(const Facts& facts, const LoopChoice& loops,
                           TileChoices* out) const {
  double cost = 0;
  const auto most = [&] {
    return out->count == TileChoices::kMost ? out->cost[out->count - 1] : DBL_MAX;
  };
  // Parts of the sum inside of these loops move no fewer bytes.
  if (loops.count > 0 && Least(facts, loops).cost >= most()) return;
  const bool fits = loops.count > 0 && Estimate(facts, loops, most(), &cost);
  if (fits) Insert(loops, cost, out);
  // A coster's answer takes time and memory for each new shape of tile.
  if (fits && (p_.coster.cost != nullptr || !Reloads(facts, loops))) return;
  int32_t last = 1;
  for (int32_t pieces = 2; pieces <= facts.extent[kSumCut]; pieces *= 2) {
    if (loops.count == kMaxLoops) return;
    // Parts of whole passes of the array, and smaller ones where those are too large.
    const int32_t ways[] = {
        InPasses(facts.channels, pieces, Max<int64_t>(p_.hardware->array.c, 1)),
        pieces};
    for (const int32_t way : ways) {
      const int32_t parts = PartsOfSum(p_, facts.position, way);
      if (parts <= last) continue;
      last = parts;
      LoopChoice choice = loops;
      choice.Add(kSumCut, parts);
      if (Estimate(facts, choice, most(), &cost)) Insert(choice, cost, out);
    }
  }
}

void TileChooser::Insert(const LoopChoice& loops, double cost, TileChoices* out) {
  int to = out->count;
  while (to > 0 && out->cost[to - 1] > cost) --to;
  if (to == TileChoices::kMost) return;
  out->count = Min(out->count + 1, TileChoices::kMost);
  for (int k = out->count - 1; k > to; --k) {
    out->cost[k] = out->cost[k - 1];
    out->loops[k] = out->loops[k - 1];
  }
  out->cost[to] = cost;
  out->loops[to] = loops;
}

// Tries channels in parts and images, rows or columns in parts, in both loop orders.
void TileChooser::Fill(uint32_t position, uint32_t whole, TileChoices* out) const {
  const Facts facts = FactsOf(position, whole);
  const TripList channels = TripsOf(facts.extent[3], kAllUpTo);
  const OuterCuts outer_cuts(*p_.graph, *facts.layer, facts.extent);
  for (int k = -1; k < channels.size && !budget_->Exhausted(); ++k) {
    const int32_t parts = k < 0 ? 1 : channels.trips[k];
    if (lean_ && k >= 0 && (channels.size - k) % 2 == 0) continue;
    for (int s = -1; s < outer_cuts.size(); ++s) {
      if (lean_ && s >= 0 && (outer_cuts.size() - s) % 2 == 0) continue;
      const LoopChoice space = s < 0 ? LoopChoice{} : outer_cuts.at(s);
      LoopChoice inner = space;
      inner.Add(3, parts);
      Consider(facts, inner, out);
      if (parts == 1 || space.count == 0) continue;
      LoopChoice outer;
      outer.Add(3, parts);
      for (int i = 0; i < space.count; ++i) outer.Add(space.cut[i], space.trips[i]);
      Consider(facts, outer, out);
    }
  }
}

}  // namespace sluice
