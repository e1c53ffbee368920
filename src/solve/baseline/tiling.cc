// SPDX-License-Identifier: Apache-2.0
#include "solve/baseline/tiling.h"

#include <string.h>

#include "base/checked.h"
#include "model/granules.h"
#include "model/off_chip.h"
#include "model/tile_cycles.h"

namespace sluice {

namespace {

constexpr int kLoops = kAxes + 1;  // N H W K and C
constexpr int kLoopC = kAxes;
constexpr int kMaxChunks = 40;  // candidates per axis: halvings of a 31-bit extent
// How many coarser-to-finer spatial cuts are tried below the largest that fits: more
// tiles overlap better, but each costs halo and latency.
constexpr int kFinerCuts = 6;

// Every tile costs instructions, stream bytes, scheduling time, and a border where
// engines wait for each other that the estimate does not see: one tile more must pay
// for itself by this share of the layer's time. Over the zoo this share gives the least
// energy x delay and a third of the steps that 1 / 1024 gives.
constexpr double kTileToll = 1.0 / 32;

// C is cut where nothing else helps, and where a layer takes kDear times its least cycles or more
// without. Tiles of one sum wait for each other, so they are taken to last kSplitToll times as
// long. On 256 KiB this gives FCN's plan a fifth of the steps, and a thirteenth of the energy x
// delay; it makes no plan of the zoo dearer.
constexpr double kDear = 4, kSplitToll = 5.0 / 4;

struct ChunkList {
  int32_t chunk[kMaxChunks];
  int size = 0;

  void Add(int32_t value) {
    if (size < kMaxChunks && (size == 0 || chunk[size - 1] != value)) {
      chunk[size++] = value;
    }
  }
};

// extent, then halves rounded up to the unit, down to one unit.
ChunkList Halvings(int32_t extent, int32_t unit, bool cuttable) {
  ChunkList list;
  list.Add(extent);
  if (!cuttable) return list;
  for (int64_t c = extent; c > unit;) {
    c = RoundUpTo(CeilDivide(c, 2), unit);
    if (c >= list.chunk[list.size - 1]) c = unit;
    list.Add(static_cast<int32_t>(c));
  }
  return list;
}

// Whole images, then equal parts of one image.
ChunkList RowChunks(int32_t images, int32_t rows) {
  ChunkList list;
  const ChunkList whole = Halvings(images, 1, true);
  for (int i = 0; i < whole.size; ++i) list.Add(whole.chunk[i] * rows);
  for (int32_t part = rows / 2; part >= 1; --part) {
    if (rows % part == 0 && part * 2 <= list.chunk[list.size - 1]) list.Add(part);
  }
  return list;
}

struct SpatialCut {
  int32_t chunk[3];  // N H W
};

// Cuts of N, then H, then W, coarse to fine.
struct SpatialList {
  SpatialCut cut[3 * kMaxChunks];
  int size = 0;
};

// The largest part along an axis of the output.
int32_t PartAlong(const TiledLayer& layer, const CutRule& rule, int axis) {
  const Tensor& out = layer.graph.tensors[layer.layer.outputs[0]];
  return PartExtent(out.extent[axis], layer.parts[axis], rule.unit[axis]);
}

SpatialList SpatialCuts(const TiledLayer& layer, const CutRule& rule) {
  SpatialList list;
  SpatialCut cut = {};
  for (int a = 0; a < 3; ++a) cut.chunk[a] = PartAlong(layer, rule, a);
  list.cut[list.size++] = cut;
  for (int a = 0; a < 3; ++a) {
    const ChunkList chunks = Halvings(cut.chunk[a], rule.unit[a], rule.cuttable[a]);
    for (int i = 1; i < chunks.size; ++i) {
      cut.chunk[a] = chunks.chunk[i];
      list.cut[list.size++] = cut;
    }
  }
  return list;
}

// What does not change from candidate to candidate.
struct LayerFacts {
  TileBoxes whole;
  bool depends[kTileRoles][kLoops];
  double least_share;  // of input 0 that tiles read at least, however H and W are cut
};

Box RestrictedBox(const Tensor& out, int axis, int32_t begin, int32_t extent) {
  Box box = WholeBox(out);
  box.begin[axis] = begin;
  box.extent[axis] = extent;
  return box;
}

LayerFacts FactsOf(const TiledLayer& layer) {
  const Tensor& out = layer.graph.tensors[layer.layer.outputs[0]];
  const CutRule rule = CutsOn(layer.hardware.array, layer.graph, layer.layer);
  LayerFacts facts = {};
  facts.whole = BoxesOf(layer.graph, layer.layer, WholeBox(out), 0, layer.channels);
  facts.least_share = 1;
  for (int v = 0; v < kLoops; ++v) {
    // The first unit and the last: a window may cover its whole input at one end, where
    // it is clipped least, and not at the other. So may the windows of the rows that a
    // weight gradient sums over.
    TileBoxes part = facts.whole;
    TileBoxes end = facts.whole;
    if (v == kLoopC) {
      if (layer.channels <= 1) continue;
      part = BoxesOf(layer.graph, layer.layer, WholeBox(out), 0, 1);
      end = BoxesOf(layer.graph, layer.layer, WholeBox(out), layer.channels - 1,
                    layer.channels);
    } else {
      const int32_t unit = rule.unit[v];
      if (!rule.cuttable[v] || out.extent[v] <= unit) continue;
      part = BoxesOf(layer.graph, layer.layer, RestrictedBox(out, v, 0, unit), 0,
                     layer.channels);
      // The last tile begins at a multiple of the unit and may be shorter than one.
      const int32_t last = (out.extent[v] - 1) / unit * unit;
      end =
          BoxesOf(layer.graph, layer.layer,
                  RestrictedBox(out, v, last, out.extent[v] - last), 0, layer.channels);
    }
    for (int r = 0; r < kTileRoles; ++r) {
      if (layer.operands.tensor[r] == kNone) continue;
      facts.depends[r][v] =
          !(part.box[r] == facts.whole.box[r]) || !(end.box[r] == facts.whole.box[r]);
    }
    if ((v == 1 || v == 2) && facts.depends[kRoleInput0][v]) {
      // The finest cut reads least, because strides skip rows between its tiles.
      const int axis = InputAxisOf(layer.layer, v);
      const int64_t least =
          Min(part.box[kRoleInput0].extent[axis], end.box[kRoleInput0].extent[axis]);
      const double share = static_cast<double>(least) * out.extent[v] / rule.unit[v] /
                           facts.whole.box[kRoleInput0].extent[axis];
      facts.least_share *= Min(share, 1.0);
    }
  }
  return facts;
}

// Range [begin, begin + chunk) of a cut axis whose input-0 extent is largest, and the
// sum of those extents over all ranges. Long axes with fine cuts take long; stopped by
// the clock, the result is incomplete.
void AxisHalo(const TiledLayer& layer, int axis, int32_t chunk, const Memory* clock,
              int32_t* widest, int64_t* sum) {
  const Tensor& out = layer.graph.tensors[layer.layer.outputs[0]];
  int32_t most = 0;
  *widest = 0;
  *sum = 0;
  int turn = 0;
  for (int64_t begin = 0; begin < out.extent[axis]; begin += chunk) {
    if (++turn % 64 == 0 && clock != nullptr && clock->Stop()) return;
    const int32_t extent =
        static_cast<int32_t>(Min<int64_t>(chunk, out.extent[axis] - begin));
    const Box box = RestrictedBox(out, axis, static_cast<int32_t>(begin), extent);
    const TileBoxes t = BoxesOf(layer.graph, layer.layer, box, 0, layer.channels);
    const int32_t input = t.box[kRoleInput0].extent[InputAxisOf(layer.layer, axis)];
    *sum += input;
    if (input > most) {
      most = input;
      *widest = static_cast<int32_t>(begin);
    }
  }
}

int LoopAt(const Tiling& tiling, int depth) {
  static constexpr int kOuterK[kLoops] = {3, 0, 1, 2, kLoopC};
  static constexpr int kInnerK[kLoops] = {0, 1, 2, 3, kLoopC};
  return tiling.k_outer ? kOuterK[depth] : kInnerK[depth];
}

void TripsOf(const TiledLayer& layer, const Tiling& tiling, int32_t trips[kLoops]) {
  const Tensor& out = layer.graph.tensors[layer.layer.outputs[0]];
  for (int a = 0; a < kAxes; ++a) {
    trips[a] = static_cast<int32_t>(
        CeilDivide(CeilDivide(out.extent[a], layer.parts[a]), tiling.chunk[a]));
  }
  trips[kLoopC] =
      layer.channels == 0
          ? 1
          : static_cast<int32_t>(CeilDivide(
                CeilDivide(layer.channels, layer.parts[kLoopC]), tiling.c_chunk));
}

double TilesOf(const int32_t trips[kLoops]) {
  double tiles = 1;
  for (int v = 0; v < kLoops; ++v) tiles *= trips[v];
  return tiles;
}

// How often a role's box changes: the trips of all loops down to the innermost one that
// it depends on.
int64_t LoadsOf(const LayerFacts& facts, const Tiling& tiling,
                const int32_t trips[kLoops], int role) {
  int64_t loads = 1;
  int64_t outside = 1;
  for (int depth = 0; depth < kLoops; ++depth) {
    const int v = LoopAt(tiling, depth);
    outside *= trips[v];
    if (trips[v] > 1 && facts.depends[role][v]) loads = outside;
  }
  return loads;
}

// Buffers lie one after the other, so each ends where the next may start: at the
// scratchpad's alignment and at a multiple of every element's size.
int64_t BufferAlignment(const TiledLayer& layer, bool accumulates) {
  int64_t alignment = layer.hardware.scratchpad().alignment_bytes;
  if (accumulates) {
    alignment = Max(alignment, int64_t{layer.hardware.accumulator_bytes});
  }
  for (uint32_t t : layer.operands.tensor) {
    if (t == kNone) continue;
    alignment = Max(alignment, int64_t{layer.graph.tensors[t].element_bytes});
  }
  return alignment;
}

// What a tiling's chunks determine, whatever the order of its loops: the largest tiles,
// the buffers that hold them, the number of tiles and their cycles.
struct LargestTiles {
  TileBoxes first;
  int64_t elements[kTileRoles];  // of the larger of the first tile and the widest
  TileBuffers buffers;           // one of each role
  double tiles;                  // number of tiles
  TileSum sum;                   // the part of the sum in most tiles
  double compute;                // cycles of all tiles; 0: not known yet
  bool priced;                   // else `compute` is a lower bound
};

// Elements of input 1 in the largest tile of a max pool's gradient: the ifmap under the
// windows. Padding clips this box, so it may be largest in a tile whose input 0 is not
// the largest.
int64_t WidestUnderWindows(const TiledLayer& layer, const Tiling& tiling,
                           const Box& first) {
  const Tensor& out = layer.graph.tensors[layer.layer.outputs[0]];
  int64_t elements = int64_t{first.extent[0]} * first.extent[3];
  for (int a = 1; a <= 2; ++a) {
    int32_t most = 0;
    for (int64_t begin = 0; begin < out.extent[a]; begin += tiling.chunk[a]) {
      Box box = first;
      box.begin[a] = static_cast<int32_t>(begin);
      box.extent[a] =
          static_cast<int32_t>(Min<int64_t>(tiling.chunk[a], out.extent[a] - begin));
      const TileBoxes t = BoxesOf(layer.graph, layer.layer, box, 0, 0);
      most = Max(most, t.box[kRoleInput1].extent[a]);
    }
    elements *= most;
  }
  return elements;
}

LargestTiles LargestOf(const TiledLayer& layer, const Tiling& tiling,
                       const int32_t widest[2]) {
  const Tensor& out = layer.graph.tensors[layer.layer.outputs[0]];
  const int32_t c = layer.channels == 0 ? 0 : Min(tiling.c_chunk, layer.channels);
  Box first = WholeBox(out);
  for (int a = 0; a < kAxes; ++a) first.extent[a] = Min(tiling.chunk[a], out.extent[a]);
  LargestTiles tiles = {};
  tiles.first = BoxesOf(layer.graph, layer.layer, first, 0, c);
  for (int r = 0; r < kTileRoles; ++r) {
    tiles.elements[r] = tiles.first.box[r].elements();
  }
  if (TraitsOf(layer.layer).sum == SumRule::kErrorRows) {
    // At the first rows of an image padding makes the ifmap's box smaller.
    const int32_t rows = layer.graph.tensors[layer.layer.inputs[1]].extent[1];
    for (int32_t at = c; at < rows; at += c) {
      const TileBoxes next = BoxesOf(layer.graph, layer.layer, first, at, at + c);
      tiles.elements[kRoleInput0] =
          Max(tiles.elements[kRoleInput0], next.box[kRoleInput0].elements());
    }
    return tiles;
  }
  if (TraitsOf(layer.layer).form == Form::kPoolGradient) {
    tiles.elements[kRoleInput1] = WidestUnderWindows(layer, tiling, first);
  }
  if (widest[0] == 0 && widest[1] == 0) return tiles;
  Box wide = first;
  for (int a = 1; a <= 2; ++a) {
    wide.begin[a] = widest[a - 1];
    wide.extent[a] = Min(tiling.chunk[a], out.extent[a] - widest[a - 1]);
  }
  const TileBoxes w = BoxesOf(layer.graph, layer.layer, wide, 0, c);
  for (int r = 0; r < kTileRoles; ++r) {
    tiles.elements[r] = Max(tiles.elements[r], w.box[r].elements());
  }
  return tiles;
}

// Finds the buffers' bytes from the tiles and their trips, which are set already.
void SizeBuffers(const TiledLayer& layer, LargestTiles* tiles) {
  TileBuffers& b = tiles->buffers;
  const int64_t alignment = BufferAlignment(layer, b.trips[kLoopC] > 1);
  for (int r = 0; r < kTileRoles; ++r) {
    if (layer.operands.tensor[r] == kNone) continue;
    const Tensor& tensor = layer.graph.tensors[layer.operands.tensor[r]];
    b.role_bytes[r] = RoundUpTo(tiles->elements[r] * tensor.element_bytes, alignment);
    b.total_bytes += b.role_bytes[r];
  }
  if (b.trips[kLoopC] > 1) {
    b.accumulator_bytes = RoundUpTo(
        tiles->first.box[kRoleOutput].elements() * layer.hardware.accumulator_bytes,
        alignment);
    b.total_bytes += b.accumulator_bytes;
  }
}

// The number of tiles, and their cycles where the caller does not price them.
void EstimateTiles(const TiledLayer& layer, const Tiling& tiling, LargestTiles* tiles) {
  const TileBuffers& b = tiles->buffers;
  tiles->tiles = TilesOf(b.trips);
  const int32_t c = Min(tiling.c_chunk, layer.channels);
  const bool whole = b.trips[kLoopC] == 1;  // else most tiles are inside the sum
  tiles->sum = TileSum{c, whole, whole};
  tiles->priced = layer.coster.cost == nullptr;
  const int64_t cycles = tiles->priced
                             ? TileCycles(layer.hardware, layer.graph, layer.layer,
                                          tiles->first, tiles->sum)
                             : LeastTileCycles(layer.hardware, layer.graph, layer.layer,
                                               tiles->first, tiles->sum);
  tiles->compute = tiles->tiles * static_cast<double>(cycles);
}

void Price(const TiledLayer& layer, LargestTiles* tiles) {
  const TileCost cost = DeclaredCost(
      {layer.coster, layer.hardware, layer.graph, layer.layer, layer.index},
      tiles->first, tiles->sum);
  tiles->compute = tiles->tiles * static_cast<double>(cost.cycles);
  tiles->priced = true;
}

// loads: how often each role is loaded.
TileBuffers Buffers(const TiledLayer& layer, const LayerFacts& facts,
                    const Tiling& tiling, const LargestTiles& tiles,
                    int64_t loads[kTileRoles]) {
  TileBuffers b = tiles.buffers;
  for (int r = 0; r < kTileRoles; ++r) {
    if (layer.operands.tensor[r] == kNone) continue;
    loads[r] = LoadsOf(facts, tiling, b.trips, r);
    b.role_buffers[r] = loads[r] > 1 && tiling.doubled ? 2 : 1;
    b.total_bytes += b.role_bytes[r] * (b.role_buffers[r] - 1);
  }
  return b;
}

// Estimated cycles of a whole layer. Doubles, but only +, *, / of exact inputs: the
// same on every machine.
double EstimateCycles(const TiledLayer& layer, const LayerFacts& facts,
                      const Tiling& tiling, const LargestTiles& largest,
                      const int64_t loads[kTileRoles], const double halo_ratio) {
  const Graph& graph = layer.graph;
  const Hardware& hw = layer.hardware;
  const double tiles = largest.tiles, compute = largest.compute;
  double bytes = 0;
  double transfers = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    if (layer.operands.tensor[r] == kNone) continue;
    const Tensor& tensor = graph.tensors[layer.operands.tensor[r]];
    double share = static_cast<double>(loads[r]);
    transfers += share;
    // One load brings only a part of each axis that the role depends on and that is
    // cut.
    for (int v = 0; v < kLoops; ++v) {
      const int32_t trips = largest.buffers.trips[v];
      if (trips != 1 && facts.depends[r][v]) share /= trips;
    }
    if (r == kRoleInput0) share *= halo_ratio;
    bytes += share * static_cast<double>(facts.whole.box[r].elements()) *
             tensor.element_bytes * PortShare(hw, tensor);
  }
  const Rational bandwidth = hw.dram().bandwidth;
  const double dma = bytes * static_cast<double>(bandwidth.denominator) /
                         static_cast<double>(bandwidth.numerator) +
                     transfers * static_cast<double>(hw.dma_latency_cycles);
  const double overlapped =
      tiling.doubled ? Max(dma, compute) + Min(dma, compute) / tiles : dma + compute;
  const bool split = largest.buffers.trips[kLoopC] > 1;
  return overlapped * (1 + tiles * kTileToll) * (split ? kSplitToll : 1);
}

// Cycles that no tiling is estimated below: everything is computed and moved once, and
// of the input only the share that tiles read (strides may skip rows).
double LeastLayerCycles(const TiledLayer& layer, const TileBoxes& whole, double share) {
  const Rational bandwidth = layer.hardware.dram().bandwidth;
  double bytes = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    if (layer.operands.tensor[r] == kNone) continue;
    const Tensor& tensor = layer.graph.tensors[layer.operands.tensor[r]];
    bytes += static_cast<double>(whole.box[r].elements()) * tensor.element_bytes *
             (r == kRoleInput0 ? share : 1) * PortShare(layer.hardware, tensor);
  }
  int64_t parts = 1;
  for (const int32_t n : layer.parts) parts *= n;
  const int64_t compute =
      layer.coster.cost == nullptr
          ? ArrayCycles(layer.hardware, layer.layer, whole, layer.channels)
          : LeastCycles(layer.hardware, whole);
  return Max(bytes * static_cast<double>(bandwidth.denominator) /
                 static_cast<double>(bandwidth.numerator),
             static_cast<double>(compute)) /
         static_cast<double>(parts);
}

// Tries candidates and keeps the best.
class Search {
 public:
  Search(const TiledLayer& layer, int64_t capacity)
      : layer_(layer),
        capacity_(capacity),
        facts_(FactsOf(layer)),
        out_(layer.graph.tensors[layer.layer.outputs[0]]) {}

  void Prepare(const Memory* clock, Span<int32_t> widest, Span<double> ratio,
               Span<LargestTiles> largest) {
    clock_ = clock;
    widest_ = widest;
    ratio_ = ratio;
    largest_ = largest;
    least_ = LeastLayerCycles(layer_, facts_.whole, facts_.least_share);
  }

  // Tries the coarsest spatial cut that fits and up to kFinerCuts finer ones, until the
  // number of tiles alone rules out a better tiling.
  void TryChannels(const SpatialList& cuts, int32_t k, int32_t c, bool doubled) {
    int known = 0;  // cuts with a known entry in largest_
    for (int order = 0; order < 2; ++order) {
      int tried = 0;
      for (int i = 0; i < cuts.size && tried <= kFinerCuts; ++i) {
        Tiling tiling = {
            {cuts.cut[i].chunk[0], cuts.cut[i].chunk[1], cuts.cut[i].chunk[2], k},
            c,
            order == 0,
            doubled};
        LargestTiles* tiles = &largest_[static_cast<size_t>(i)];
        if (i >= known) {
          int32_t trips[kLoops];
          TripsOf(layer_, tiling, trips);
          if (found_ && least_ * (1 + TilesOf(trips) * kTileToll) >= best_cost_) break;
          while (halos_ <= i) AddHalo(cuts);
          *tiles = LargestOf(layer_, tiling, Widest(i));
          memcpy(tiles->buffers.trips, trips, sizeof trips);
          SizeBuffers(layer_, tiles);
          known = i + 1;
        }
        // Where nothing fits, single buffers have been tried for all, and these decide.
        smallest_ = Min(smallest_, tiles->buffers.total_bytes);
        if (tiles->buffers.total_bytes > capacity_) continue;
        int64_t loads[kTileRoles];
        const TileBuffers b = Buffers(layer_, facts_, tiling, *tiles, loads);
        if (b.total_bytes > capacity_) continue;
        ++tried;
        if (tiles->compute == 0) EstimateTiles(layer_, tiling, tiles);
        const double ratio = ratio_[static_cast<size_t>(i)];
        for (;;) {
          const double cycles =
              EstimateCycles(layer_, facts_, tiling, *tiles, loads, ratio);
          if (found_ && cycles >= best_cost_) break;
          if (tiles->priced) {
            Keep(tiling, b, cycles);
            break;
          }
          Price(layer_, tiles);
        }
      }
    }
  }

  bool found() const { return found_; }
  // Whether even the best takes several times what the layer takes at least.
  bool IsDear() const { return best_cost_ >= kDear * least_; }
  const Tiling& best() const { return best_; }
  const TileBuffers& best_buffers() const { return best_buffers_; }
  int64_t smallest() const { return smallest_; }

 private:
  // Computes the halo of the next cut.
  void AddHalo(const SpatialList& cuts) {
    const int i = halos_++;
    ratio_[static_cast<size_t>(i)] = 1;
    for (int a = 1; a <= 2; ++a) {
      const int32_t chunk = cuts.cut[i].chunk[a];
      int64_t sum = 0;
      int32_t* at = &widest_[static_cast<size_t>(2 * i + a - 1)];
      if (chunk == out_.extent[a]) {
        *at = 0;
        axis_ratio_[a - 1] = 1;
      } else if (i > 0 && chunk == cuts.cut[i - 1].chunk[a]) {
        *at = Widest(i - 1)[a - 1];
      } else {
        AxisHalo(layer_, a, chunk, clock_, at, &sum);
        axis_ratio_[a - 1] =
            facts_.depends[kRoleInput0][a]
                ? static_cast<double>(sum) /
                      facts_.whole.box[kRoleInput0].extent[InputAxisOf(layer_.layer, a)]
                : 1;
      }
      ratio_[static_cast<size_t>(i)] *= axis_ratio_[a - 1];
    }
  }
  const int32_t* Widest(int i) const { return &widest_[static_cast<size_t>(2 * i)]; }
  void Keep(const Tiling& tiling, const TileBuffers& buffers, double cost) {
    found_ = true;
    best_ = tiling;
    best_buffers_ = buffers;
    best_.cycles = best_cost_ = cost;
  }

  const TiledLayer& layer_;
  int64_t capacity_;
  LayerFacts facts_;
  const Tensor& out_;
  double least_ = 0;  // cycles
  const Memory* clock_ = nullptr;
  int halos_ = 0;  // cuts whose halo is known
  Span<int32_t> widest_;
  Span<LargestTiles> largest_;  // per cut, for the channels that are tried
  Span<double> ratio_;
  double axis_ratio_[2] = {1, 1};
  bool found_ = false;
  Tiling best_ = {};
  TileBuffers best_buffers_ = {};
  double best_cost_ = 0;
  int64_t smallest_ = INT64_MAX;
};

}  // namespace

TileBuffers BuffersOf(const TiledLayer& layer, const Tiling& tiling) {
  int32_t widest[2];
  for (int a = 1; a <= 2; ++a) {
    int64_t sum = 0;
    AxisHalo(layer, a, tiling.chunk[a], nullptr, &widest[a - 1], &sum);
  }
  LargestTiles tiles = LargestOf(layer, tiling, widest);
  TripsOf(layer, tiling, tiles.buffers.trips);
  SizeBuffers(layer, &tiles);
  int64_t loads[kTileRoles];
  return Buffers(layer, FactsOf(layer), tiling, tiles, loads);
}

Status ChooseTiling(const TiledLayer& layer, int64_t scratchpad_bytes, Arena* scratch,
                    Tiling* tiling, int64_t* smallest, TileBuffers* buffers) {
  ArenaScope scope(scratch);
  const CutRule rule = CutsOn(layer.hardware.array, layer.graph, layer.layer);
  const SpatialList cuts = SpatialCuts(layer, rule);
  const ChunkList ks =
      Halvings(PartAlong(layer, rule, 3), rule.unit[3], rule.cuttable[3]);
  const bool gradient = TraitsOf(layer.layer).sum == SumRule::kErrorRows;
  const int32_t summed = PartExtent(layer.channels, layer.parts[kLoopC], rule.sum_unit);
  const ChunkList cs = gradient
                           ? RowChunks(summed / rule.sum_unit, rule.sum_unit)
                           : Halvings(summed, rule.sum_unit,
                                      layer.channels > 1 && MaySplitSum(layer.layer));
  Span<int32_t> widest;
  Span<double> ratio;
  Span<LargestTiles> largest;
  SLUICE_TRY(scratch->Allocate(static_cast<size_t>(2 * cuts.size), &widest));
  SLUICE_TRY(scratch->Allocate(static_cast<size_t>(cuts.size), &ratio));
  SLUICE_TRY(scratch->Allocate(static_cast<size_t>(cuts.size), &largest));
  Search search(layer, scratchpad_bytes);
  search.Prepare(scratch->memory(), widest, ratio, largest);
  // The many rows of a weight gradient are always cut. Double buffers are tried before
  // single ones.
  for (int doubled = 1; doubled >= 0 && !search.found(); --doubled) {
    for (int c = 0; c < cs.size && (gradient || !search.found() || search.IsDear());
         ++c) {
      for (int k = 0; k < ks.size; ++k) {
        if (scratch->memory()->Stop()) return Status::kStopped;
        search.TryChannels(cuts, ks.chunk[k], cs.chunk[c], doubled != 0);
      }
    }
  }
  *smallest = search.smallest();
  if (!search.found()) return Status::kInfeasible;
  *tiling = search.best();
  if (buffers != nullptr) *buffers = search.best_buffers();
  return Status::kOk;
}

}  // namespace sluice
