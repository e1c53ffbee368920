// SPDX-License-Identifier: Apache-2.0
#include "solve/space/tile_estimate.h"

#include "base/checked.h"
#include "model/granules.h"
#include "model/tile_cycles.h"
#include "solve/space/boxes.h"

namespace sluice {
namespace {

constexpr double kPerTile = 1e-6;  // of the cost: of equals, fewer tiles

Box Part(const Tensor& out, int axis, int32_t begin, int32_t extent) {
  Box box = WholeBox(out);
  box.begin[axis] = begin;
  box.extent[axis] = extent;
  return box;
}

// Finds what all tilings move and compute at least. all: the operands' whole boxes.
void FindLeast(const TileBoxes& all, TileFacts* f) {
  const auto peak = [](int64_t work, int64_t rate) {
    return static_cast<double>(work) / static_cast<double>(Max<int64_t>(rate, 1));
  };
  f->peak = Max(peak(all.macs, f->problem->hardware->macs_per_cycle),
                peak(all.vector_ops, f->problem->hardware->vector_ops_per_cycle));
  // Windows that leave out rows or columns read less in parts than as a whole.
  bool skips = false;
  for (int a = 1; a < 3; ++a) {
    const Window w = WindowOf(*f->problem->graph, *f->layer, a);
    skips = skips || w.filter < w.stride;
  }
  for (int r = 0; r < kTileRoles; ++r) {
    if (f->operands.tensor[r] == kNone || (f->whole >> r & 1) != 0) continue;
    if (skips && r != kRoleOutput) continue;
    f->moved[r] = static_cast<double>(
        BytesOfBox(all.box[r], f->problem->graph->tensors[f->operands.tensor[r]]));
  }
  const MemoryLevel& dram = f->problem->hardware->dram();
  const Rational& b = dram.bandwidth;
  f->per_byte =
      8 * (dram.read_pj_per_bit + f->problem->hardware->scratchpad().write_pj_per_bit) *
      f->goal.per_pj;
  f->dma_per_byte = b.numerator == 0 ? 0
                                     : static_cast<double>(b.denominator) /
                                           static_cast<double>(b.numerator);
}

// A tile in the middle, if there is a whole one there: it has its halo on both sides.
struct Tile {
  Box box;
  int32_t c_begin, c_end;
  double count;  // of tiles like it
  TileBoxes boxes;
};

Tile TileOf(const TileFacts& f, const LoopChoice& loops) {
  Tile tile = {};
  tile.box = WholeBox(f.problem->graph->tensors[f.layer->outputs[0]]);
  tile.c_end = f.channels;
  tile.count = 1;
  for (int i = 0; i < loops.count; ++i) {
    const int a = loops.cut[i];
    const int32_t extent = a == kSumCut ? f.channels : tile.box.extent[a];
    const int32_t unit = a == kSumCut ? f.rule.sum_unit : f.rule.unit[a];
    int32_t step = static_cast<int32_t>(
        RoundUpTo(CeilDivide(extent, loops.trips[i]), int64_t{unit}));
    if (a != kSumCut) step = StepOfRows(f.problem->map, f.axes, a, step);
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
  tile.boxes = BoxesOf(*f.problem->graph, *f.layer, tile.box, tile.c_begin, tile.c_end);
  return tile;
}

// How often the box of a role changes during the loops.
double LoadsOf(const TileFacts& f, const LoopChoice& loops, int role) {
  const Tensor& out = f.problem->graph->tensors[f.layer->outputs[0]];
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
class Moving {
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

}  // namespace

bool Crosses(const SpaceProblem& problem, const Layer& layer) {
  const TileOperands operands = OperandsOf(layer);
  for (int r = 0; r < kRoleOutput; ++r) {
    const uint32_t t = operands.tensor[r];
    if (t != kNone && !FindRootAxes(problem.map, t).nested) return true;
  }
  return false;
}

TileFacts FactsOfTiles(const TileSetting& of, uint32_t position, uint32_t whole) {
  const Graph& graph = *of.problem.graph;
  const Layer& layer = of.problem.at(position);
  const Tensor& out = graph.tensors[layer.outputs[0]];
  TileFacts f = {};
  f.problem = &of.problem;
  f.prices = of.prices;
  f.goal = of.goal;
  f.position = position;
  f.layer = &layer;
  f.operands = OperandsOf(layer);
  f.axes = FindRootAxes(of.problem.map, layer.outputs[0]);
  f.rule = CutsOn(of.problem.hardware->array, graph, layer);
  f.whole = whole;
  f.extent[kSumCut] = AccumulatedChannels(graph, layer);
  if (TraitsOf(layer).sum == SumRule::kErrorRows || !MaySplitSum(layer)) {
    f.extent[kSumCut] = Min(f.extent[kSumCut], 1);
  }
  if (Crosses(of.problem, layer)) f.extent[kSumCut] = 1;
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
  f.room = of.problem.capacity;
  for (int r = 0; r < kTileRoles; ++r) {
    if (f.operands.tensor[r] == kNone || (whole >> r & 1) == 0) continue;
    f.room -= of.problem.roots[of.problem.root_of[f.operands.tensor[r]]].bytes;
  }
  return f;
}

TileBound LeastOf(const TileFacts& f, const LoopChoice& loops) {
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
  return {moved * f.per_byte + Max(moved * f.dma_per_byte, f.peak) * f.goal.per_cycle,
          bytes};
}

bool EstimateTiles(const TileFacts& f, const LoopChoice& loops, double most,
                   double* cost) {
  const TileBound bound = LeastOf(f, loops);
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
                        f.problem->graph->tensors[f.operands.tensor[r]].element_bytes;
    pad_bytes += one;
    if ((f.whole >> r & 1) != 0) continue;
    const double loads = LoadsOf(f, loops, r);
    bytes += f.problem->Aligned(one);
    if (loads > 1)
      moving.Add(f.problem->Aligned(one), loads, loads * static_cast<double>(one));
    moved += loads * static_cast<double>(one);
    if (r != kRoleOutput) first += static_cast<double>(one);
  }
  if (t.c_end - t.c_begin < f.channels) {
    const int64_t sums = t.box.elements() * f.problem->hardware->accumulator_bytes;
    bytes += f.problem->Aligned(sums);
    pad_bytes += sums;
  }
  if (bytes > f.room) return false;
  const MemoryLevel& dram = f.problem->hardware->dram();
  const MemoryLevel& pad = f.problem->hardware->scratchpad();
  double energy = moved * 8 * (dram.read_pj_per_bit + pad.write_pj_per_bit);
  const double per_byte = f.dma_per_byte;
  const double latency = static_cast<double>(f.problem->hardware->dma_latency_cycles);
  const double dma = moved * per_byte + 3 * t.count * latency;
  const double peak = static_cast<double>(Max(
      t.boxes.macs / Max<int64_t>(f.problem->hardware->macs_per_cycle, 1),
      t.boxes.vector_ops / Max<int64_t>(f.problem->hardware->vector_ops_per_cycle, 1)));
  const double least =
      energy * f.goal.per_pj + Max(dma, t.count * peak) * f.goal.per_cycle;
  *cost = least;
  if (least >= most) return true;
  const TileCost tile =
      f.prices->Of(f.position, t.boxes,
                   {t.c_end - t.c_begin, t.c_begin == 0, t.c_end == f.channels});
  energy += t.count * (tile.energy_pj > 0
                           ? tile.energy_pj
                           : static_cast<double>(pad_bytes) * 8 * pad.read_pj_per_bit);
  const double compute = t.count * static_cast<double>(tile.cycles);
  const double exposed = moving.Exposed(f.room - bytes) * per_byte;
  const double time = Max(dma, compute + exposed) + first * per_byte;
  energy += time * f.problem->hardware->leakage_pj_per_cycle;
  // Of tilings that cost about the same, the one with fewer tiles.
  *cost = (energy * f.goal.per_pj + time * f.goal.per_cycle) * (1 + kPerTile * t.count);
  return true;
}

bool Reloads(const TileFacts& f, const LoopChoice& loops) {
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

}  // namespace sluice
