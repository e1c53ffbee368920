// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_runs.h"

#include "base/checked.h"
#include "model/granules.h"
#include "model/tile_cycles.h"

namespace sluice {

namespace {

constexpr uint32_t kMostLayers = 24;  // of a run
// Parts of rows or channels that are tried, where they are no more than the nodes.
constexpr int32_t kParts[] = {1, 2, 3, 4, 5, 7, 8, 14, 16, 28, 32};
constexpr double kRoomForGaps = 0.97;  // of a scratchpad
constexpr double kFewerSlices = 0.99;  // what more slices must cost at most
constexpr double kNever = 1e300;
constexpr int kLoops[] = {3, 0, 1, 2};  // K N H W, in the order of their preference

// A deal of all layers, and parts per loop.
struct Grid {
  NodeDeal deal;
  int32_t parts[kAxes];
  int64_t stretches[2];  // of nodes with the same channels; with the same pixels
};

// Parts along one axis of the mesh: of up to two loops.
struct AxisDeal {
  int loop[2];
  int32_t parts[2];
};

// A layer dealt out by a grid, one image per node.
struct Piece {
  bool possible;
  int64_t cycles;
  int64_t bytes[kTileRoles];      // of a node's part
  int64_t loads[kTileRoles];      // of all nodes, each box once
  int64_t stretches[kTileRoles];  // that are loaded one by one
  int64_t sends[kTileRoles];      // of a node, to make the part of others
};

// A layer in the order.
struct Place {
  uint32_t layer;
  bool computes;
  TileOperands operands;
  uint32_t maker[kTileRoles];  // position that makes the operand, kNone: none does
  uint32_t after;              // runs with this layer begin behind this position
  uint32_t last_reader;        // position; kNone: it must be stored
  double pj;                   // of its work, wherever it is done
};

// What a run costs, layer after layer.
struct Sums {
  double busy, port, once;    // cycles per image of a node; of constants
  double dram, sent;          // bytes per image of a node
  double pj;                  // for the whole batch, without transfers
  int64_t kept;               // bytes of constants
  int64_t inputs;             // bytes of inputs from DRAM, per image
  int64_t live[kMostLayers];  // bytes at each layer, per image
  double before, first;       // cycles to load the first layer's constants; its inputs
};

struct Best {
  double cost;
  uint32_t grid;
  int32_t images;  // per node and slice
};

struct State {
  State(const RunSearch& s, Arena* a) : search(s), arena(a), grids(a) {}
  const RunSearch& search;
  Arena* arena;
  Vector<Grid> grids;
  Span<Place> places;
  Span<Piece> pieces;           // by place and grid
  Span<Best> best;              // by first place and length
  Span<double> room;            // of a scratchpad, by the same
  double port_rate, link_rate;  // bytes per cycle
  double dram_pj[2];            // of a byte: read, written, with its way over links
  double link_pj;               // of a byte sent to a neighbour
};

double RateOf(const Rational& rate) {
  if (rate.numerator == 0) return 1e18;
  return static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator);
}

void SetRates(State* self) {
  const Hardware& h = self->search.hardware;
  const MemoryLevel& pad = h.scratchpad();
  self->port_rate = RateOf(h.dram().bandwidth);
  self->link_rate = RateOf(h.link_bandwidth);
  const double hops = static_cast<double>(h.node_cols + h.node_rows) / 4;
  const double way = hops * h.hop_pj_per_bit;
  self->dram_pj[0] = 8 * (h.dram().read_pj_per_bit + way + pad.write_pj_per_bit);
  self->dram_pj[1] = 8 * (h.dram().write_pj_per_bit + way + pad.read_pj_per_bit);
  self->link_pj = 8 * (h.hop_pj_per_bit + pad.read_pj_per_bit + pad.write_pj_per_bit);
}

// ---- the layers ----

// The last position that makes a part of tensor t through views; kNone: none.
uint32_t LastMaker(const RunSearch& search, Span<const uint32_t> position, uint32_t t,
                   bool viewed) {
  if (t == kNone) return kNone;
  const uint32_t p = search.graph.tensors[t].producer;
  if (p == kNone) return kNone;
  if (search.lowering.is_view[p] == 0) return viewed ? position[p] : kNone;
  uint32_t last = kNone;
  for (const uint32_t input : search.lowering.executed[p].inputs) {
    const uint32_t at = LastMaker(search, position, input, true);
    if (at != kNone && (last == kNone || at > last)) last = at;
  }
  return last;
}

void SetReaders(State* self, Span<const uint32_t> position) {
  const RunSearch& s = self->search;
  for (Place& place : self->places) place.last_reader = kNone;
  for (uint32_t l = 0; l < s.graph.layers.size(); ++l) {
    if (IsFolded(s.graph.layers[l].op, s.lowering.is_view[l])) continue;
    for (const uint32_t t : s.lowering.executed[l].inputs) {
      if (t == kNone || s.graph.tensors[t].producer == kNone) continue;
      const uint32_t maker = position[s.graph.tensors[t].producer];
      if (maker == kNone) continue;
      Place* place = &self->places[maker];
      const uint32_t reader = position[l] == kNone ? kNone - 1 : position[l];
      if (place->last_reader == kNone || reader > place->last_reader) {
        place->last_reader = reader;
      }
    }
  }
  for (Place& place : self->places) {
    const uint32_t out = s.lowering.executed[place.layer].outputs[0];
    if (s.graph.tensors[out].kind != TensorKind::kIntermediate) {
      place.last_reader = kNone;
    }
  }
}

Status SetPlaces(State* self) {
  const RunSearch& s = self->search;
  Span<uint32_t> position;
  SLUICE_TRY(self->arena->Allocate(s.graph.layers.size(), &position));
  SLUICE_TRY(self->arena->Allocate(s.order.size(), &self->places));
  for (uint32_t& at : position) at = kNone;
  for (uint32_t i = 0; i < s.order.size(); ++i) position[s.order[i]] = i;
  for (uint32_t i = 0; i < s.order.size(); ++i) {
    Place* place = &self->places[i];
    const Layer& layer = s.lowering.executed[s.order[i]];
    place->layer = s.order[i];
    // A run takes some images at a time. A pad of images, for one, cannot be cut there.
    place->computes =
        KindOf(layer.op) == LayerKind::kCompute && CutsOf(s.graph, layer).cuttable[0];
    place->after = kNone;
    if (!place->computes) continue;
    place->operands = OperandsOf(layer);
    for (int r = 0; r < kRoleOutput; ++r) {
      place->maker[r] = kNone;
      const uint32_t t = place->operands.tensor[r];
      if (t == kNone) continue;
      const uint32_t p = s.graph.tensors[t].producer;
      if (p != kNone && s.lowering.is_view[p] == 0) place->maker[r] = position[p];
      const uint32_t after = LastMaker(s, position, t, false);
      if (after != kNone && (place->after == kNone || after > place->after)) {
        place->after = after;
      }
    }
  }
  SetReaders(self, position);
  return Status::kOk;
}

// ---- the grids ----

int ListAxis(int32_t nodes, AxisDeal* deals, int most) {
  int n = 0;
  const auto add = [&](int a, int32_t pa, int b, int32_t pb) {
    if (n < most) deals[n++] = AxisDeal{{a, b}, {pa, pb}};
  };
  add(3, 1, 0, 1);
  for (const int v : kLoops) {
    for (const int32_t p : kParts) {
      if (p > 1 && p < nodes) add(v, p, v == 0 ? 1 : 0, 1);
    }
    if (nodes > 1) add(v, nodes, v == 0 ? 1 : 0, 1);
  }
  for (int a = 0; a < kAxes; ++a) {
    for (int b = a + 1; b < kAxes; ++b) {
      for (const int32_t p : kParts) {
        for (const int32_t q : kParts) {
          if (p > 1 && q > 1 && 2 * p * q > nodes && p * q <= nodes) {
            add(kLoops[a], p, kLoops[b], q);
            if (a == 0) add(kLoops[b], q, kLoops[a], p);
          }
        }
      }
    }
  }
  return n;
}

Grid GridOf(const AxisDeal& columns, const AxisDeal& rows) {
  Grid grid = {};
  for (int32_t& parts : grid.parts) parts = 1;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    const AxisDeal& from = axis == kColumns ? columns : rows;
    uint8_t next = 0;
    for (int v = 0; v < kNodeLoops; ++v) grid.deal.parts[axis][v] = 1;
    for (int i = 0; i < 2; ++i) {
      const int v = from.loop[i];
      grid.deal.parts[axis][v] = from.parts[i];
      grid.parts[v] *= from.parts[i];
      grid.deal.order[axis][next++] = static_cast<uint8_t>(v);
    }
    for (uint8_t v = 0; v < kNodeLoops; ++v) {
      if (v != from.loop[0] && v != from.loop[1]) grid.deal.order[axis][next++] = v;
    }
  }
  for (int i = 0; i < 2; ++i) {
    const bool k = i == 0;
    const SharedRole role = {{!k, !k, !k, k, false}, 0};
    grid.stretches[i] =
        StretchesOf(role, grid.deal, kColumns) * StretchesOf(role, grid.deal, kRows);
  }
  return grid;
}

// Each product of parts by the layouts that need the fewest loads.
Status ListGrids(State* self) {
  constexpr int kMostDeals = 160;  // of an axis of the mesh; later ones are left out
  AxisDeal deals[kMeshAxes][kMostDeals];
  int count[kMeshAxes];
  const NodeRegion& region = self->search.region;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    count[axis] =
        ListAxis(static_cast<int32_t>(region.extent[axis]), deals[axis], kMostDeals);
  }
  int32_t most[kAxes] = {};  // of any layer
  for (const Place& place : self->places) {
    const uint32_t out = self->search.lowering.executed[place.layer].outputs[0];
    for (int v = 0; v < kAxes; ++v) {
      most[v] = Max(most[v], self->search.graph.tensors[out].extent[v]);
    }
  }
  for (int c = 0; c < count[kColumns]; ++c) {
    for (int r = 0; r < count[kRows]; ++r) {
      const Grid grid = GridOf(deals[kColumns][c], deals[kRows][r]);
      bool fresh = true;
      int64_t nodes = 1;
      for (int v = 0; v < kAxes; ++v) {
        nodes *= grid.parts[v];
        fresh = fresh && grid.parts[v] <= most[v];
      }
      if (4 * nodes < NodesOf(region) || most[0] % grid.parts[0] != 0) continue;
      for (const Grid& other : self->grids) {
        fresh = fresh && !(memcmp(other.parts, grid.parts, sizeof grid.parts) == 0 &&
                           other.stretches[0] <= grid.stretches[0] &&
                           other.stretches[1] <= grid.stretches[1]);
      }
      if (fresh) SLUICE_TRY(self->grids.Push(grid));
    }
  }
  return Status::kOk;
}

// ---- a layer under a grid ----

// A part of the layer's output for one image, away from the borders.
void PartOfGrid(const State& self, const Place& place, const Grid& grid, Box* part,
                int64_t* used) {
  const RunSearch& s = self.search;
  const Layer& layer = s.lowering.executed[place.layer];
  const CutRule rule = CutsOn(s.hardware.array, s.graph, layer);
  const Tensor& out = s.graph.tensors[layer.outputs[0]];
  *used = grid.parts[0];
  *part = Box{{0, 0, 0, 0}, {1, 1, 1, 1}};
  for (int v = 1; v < kAxes; ++v) {
    const int32_t parts = rule.cuttable[v] ? grid.parts[v] : 1;
    part->extent[v] = PartExtent(out.extent[v], parts, rule.unit[v]);
    *used *= CeilDivide(out.extent[v], part->extent[v]);
    if (2 * part->extent[v] <= out.extent[v]) part->begin[v] = part->extent[v];
  }
}

void SetPiece(const State& self, const Place& place, const Grid& grid, Piece* piece) {
  const RunSearch& s = self.search;
  const Layer& layer = s.lowering.executed[place.layer];
  const int32_t channels = AccumulatedChannels(s.graph, layer);
  const int32_t batch = s.graph.tensors[layer.outputs[0]].extent[0];
  *piece = Piece{};
  piece->possible = batch % grid.parts[0] == 0;
  if (!piece->possible) return;
  Box part;
  int64_t used = 0;
  PartOfGrid(self, place, grid, &part, &used);
  const int64_t by_channel =
      CeilDivide(s.graph.tensors[layer.outputs[0]].extent[3], part.extent[3]);
  for (int64_t& stretches : piece->stretches) stretches = 1;
  const TileBoxes boxes = BoxesOf(s.graph, layer, part, 0, channels);
  piece->cycles = TileCycles(s.hardware, s.graph, layer, boxes, TileSum{channels});
  for (int r = 0; r < kTileRoles; ++r) {
    const uint32_t t = place.operands.tensor[r];
    if (t == kNone) continue;
    const Tensor& tensor = s.graph.tensors[t];
    const Box& box = boxes.box[r];
    const bool constant = tensor.kind == TensorKind::kConstant;
    const bool by_k = constant || r == kRoleOutput || box.extent[3] < tensor.extent[3];
    SharedRole role = {{!constant, !constant, !constant, by_k, false}, 0};
    const int64_t bytes = box.elements() * tensor.element_bytes;
    piece->bytes[r] = RoundUpTo(bytes, 16);
    piece->loads[r] =
        constant ? tensor.bytes : bytes * (by_k ? used : CeilDivide(used, by_channel));
    if (r == kRoleOutput) continue;
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      piece->stretches[r] *= StretchesOf(role, grid.deal, axis);
    }
    piece->sends[r] =
        by_k ? bytes : CeilDivide(bytes, by_channel) * piece->stretches[r];
  }
}

// ---- a run ----

bool IsKept(const State& self, const Place& place, int r) {
  const Tensor& tensor = self.search.graph.tensors[place.operands.tensor[r]];
  return tensor.kind == TensorKind::kConstant;
}

// Adds the layer at position j to a run that begins at i.
void AddLayer(const State& self, uint32_t i, uint32_t j, const Piece& piece,
              Sums* sums) {
  const Place& place = self.places[j];
  sums->busy += static_cast<double>(piece.cycles);
  sums->live[j - i] = piece.bytes[kRoleOutput];
  for (int r = 0; r < kRoleOutput; ++r) {
    if (place.operands.tensor[r] == kNone) continue;
    const double loads = static_cast<double>(piece.loads[r] * piece.stretches[r]);
    if (IsKept(self, place, r)) {
      sums->kept += piece.bytes[r];
      sums->once += loads;
      if (j == i) sums->before += loads / self.port_rate;
      continue;
    }
    const uint32_t maker = place.maker[r];
    if (maker == kNone || maker < i) {
      sums->inputs += piece.bytes[r];
      sums->dram += loads;
      if (j == i) sums->first += loads / self.port_rate;
      continue;
    }
    for (uint32_t q = maker; q <= j; ++q) sums->live[q - i] += piece.bytes[r];
    sums->busy += static_cast<double>(piece.sends[r]) / self.link_rate;
    sums->sent += static_cast<double>(piece.loads[r]);
  }
}

// Bytes per image of a node that the layers [i, end) store.
double StoresOf(const State& self, uint32_t i, uint32_t end, uint32_t grid) {
  double bytes = 0;
  for (uint32_t q = i; q < end; ++q) {
    const uint32_t reader = self.places[q].last_reader;
    if (reader != kNone && reader < end) continue;
    bytes += static_cast<double>(
        self.pieces[q * self.grids.size() + grid].loads[kRoleOutput]);
  }
  return bytes;
}

// The largest divisor of n that is not above its half; 0: none.
int32_t HalfOf(int32_t n) {
  for (int32_t part = 2; part <= n; ++part) {
    if (n % part == 0) return n / part;
  }
  return 0;
}

// The best number of images per slice for a run.
void PriceRun(const State& self, uint32_t i, uint32_t end, uint32_t g, const Sums& sums,
              Best* best) {
  const RunSearch& s = self.search;
  const uint32_t n = end - i;
  const uint32_t out = s.lowering.executed[self.places[i].layer].outputs[0];
  const int32_t all = s.graph.tensors[out].extent[0] / self.grids[g].parts[0];
  int64_t peak = 0;
  for (uint32_t q = 0; q < n; ++q) peak = Max(peak, sums.live[q]);
  const double stores = StoresOf(self, i, end, g);
  const double room = self.room[i * kMostLayers + n - 1];
  double pj = sums.pj + sums.once * self.dram_pj[0];
  pj += all * (sums.dram * self.dram_pj[0] + stores * self.dram_pj[1] +
               sums.sent * self.link_pj);
  for (int32_t images = all; images > 0; images = HalfOf(images)) {
    const int32_t slices = all / images;
    const double least = static_cast<double>(sums.kept) +
                         images * static_cast<double>(sums.inputs + peak);
    if (least > room) continue;
    const bool ahead =
        slices == 1 || least + images * static_cast<double>(sums.inputs) <= room;
    const double busy = images * sums.busy;
    const double port = images * (sums.dram + stores) / self.port_rate;
    const double first = sums.before + images * sums.first;
    const double last = images * stores / self.port_rate;
    const double once = sums.once / self.port_rate;
    const double slice = ahead ? Max(busy, port) : busy + port;
    const double cycles = slices == 1 ? Max(busy + first + last, port + once)
                                      : slices * slice + once + Min(busy, first + last);
    const double cost = s.per_pj * (pj + cycles * s.hardware.leakage_pj_per_cycle) +
                        s.per_cycle * cycles;
    if (cost < best->cost * kFewerSlices) *best = Best{cost, g, images};
  }
}

// Prices the runs that begin at i.
void PriceRunsAt(State* self, uint32_t i) {
  const uint32_t layers = static_cast<uint32_t>(self->places.size());
  const uint32_t end = Min(layers, i + kMostLayers);
  const RunSearch& s = self->search;
  const auto batch = [&](uint32_t q) {
    return s.graph.tensors[s.lowering.executed[self->places[q].layer].outputs[0]]
        .extent[0];
  };
  for (uint32_t g = 0; g < self->grids.size(); ++g) {
    Sums sums = {};
    for (uint32_t j = i; j < end; ++j) {
      const Place& place = self->places[j];
      const Piece& piece = self->pieces[j * self->grids.size() + g];
      if (!place.computes || !piece.possible || batch(j) != batch(i)) break;
      if (place.after != kNone && place.after >= i) break;
      AddLayer(*self, i, j, piece, &sums);
      sums.pj += place.pj;
      if (static_cast<double>(sums.kept) >
          kRoomForGaps * static_cast<double>(s.capacity))
        break;
      PriceRun(*self, i, j + 1, g, sums, &self->best[i * kMostLayers + j - i]);
    }
  }
}

// Energy of the layer's work on chip, and cycles of its parts: what the tile of the
// quickest part declares, against the array's peak, holds for the others.
void ScaleToDeclared(const State& self, Place* place, Span<Piece> pieces) {
  const RunSearch& s = self.search;
  const Layer& layer = s.lowering.executed[place->layer];
  const Tensor& out = s.graph.tensors[layer.outputs[0]];
  uint32_t quickest = kNone;
  for (uint32_t g = 0; g < pieces.size(); ++g) {
    if (!pieces[g].possible) continue;
    if (quickest == kNone || pieces[g].cycles < pieces[quickest].cycles) quickest = g;
  }
  if (quickest == kNone) return;
  Box part;
  int64_t used = 0;
  PartOfGrid(self, *place, self.grids[quickest], &part, &used);
  const int32_t channels = AccumulatedChannels(s.graph, layer);
  const TileBoxes boxes = BoxesOf(s.graph, layer, part, 0, channels);
  const TileCost cost = DeclaredCost(
      {s.coster, s.hardware, s.graph, layer, place->layer}, boxes, TileSum{channels});
  double bits = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    const uint32_t t = place->operands.tensor[r];
    if (t == kNone) continue;
    bits += 8 * static_cast<double>(boxes.box[r].elements()) *
            s.graph.tensors[t].element_bytes;
  }
  const double tile =
      cost.energy_pj > 0
          ? cost.energy_pj
          : static_cast<double>(boxes.macs) * s.hardware.mac_pj +
                static_cast<double>(boxes.vector_ops) * s.hardware.vector_op_pj +
                bits * s.hardware.scratchpad().read_pj_per_bit;
  const int64_t tiles = used / self.grids[quickest].parts[0] * out.extent[0];
  place->pj = tile * static_cast<double>(tiles);
  const double scale = static_cast<double>(cost.cycles) /
                       static_cast<double>(Max<int64_t>(pieces[quickest].cycles, 1));
  for (Piece& piece : pieces) {
    piece.cycles = static_cast<int64_t>(static_cast<double>(piece.cycles) * scale);
  }
}

Status PriceAll(State* self) {
  const size_t layers = self->places.size();
  SLUICE_TRY(self->arena->Allocate(layers * self->grids.size(), &self->pieces));
  SLUICE_TRY(self->arena->Allocate(layers * kMostLayers, &self->best));
  SLUICE_TRY(self->arena->Allocate(layers * kMostLayers, &self->room));
  for (Best& best : self->best) best.cost = kNever;
  for (double& room : self->room) {
    room = kRoomForGaps * static_cast<double>(self->search.capacity);
  }
  for (uint32_t i = 0; i < layers; ++i) {
    if (self->search.budget->Exhausted()) return Status::kStopped;
    Place* place = &self->places[i];
    if (!place->computes) continue;
    for (uint32_t g = 0; g < self->grids.size(); ++g) {
      SetPiece(*self, *place, self->grids[g],
               &self->pieces[i * self->grids.size() + g]);
    }
    const size_t at = i * self->grids.size();
    ScaleToDeclared(*self, place, self->pieces.Slice(at, at + self->grids.size()));
  }
  for (uint32_t i = 0; i < layers; ++i) {
    if (self->search.budget->Exhausted()) return Status::kStopped;
    PriceRunsAt(self, i);
  }
  return Status::kOk;
}

// The cheapest chain: its runs, in the order of their first layers.
Status FindChain(const State& self, Arena* arena, Span<NodeRun>* runs) {
  const uint32_t layers = static_cast<uint32_t>(self.places.size());
  Span<double> cost;
  Span<uint32_t> length;  // of the run that begins there; 0: a layer by itself
  SLUICE_TRY(self.arena->Allocate(size_t{layers} + 1, &cost));
  SLUICE_TRY(self.arena->Allocate(layers, &length));
  uint32_t count = 0;
  for (uint32_t i = layers; i-- > 0;) {
    cost[i] = cost[i + 1] + self.search.alone[self.places[i].layer];
    length[i] = 0;
    for (uint32_t n = 1; n <= kMostLayers && i + n <= layers; ++n) {
      const double run = self.best[i * kMostLayers + n - 1].cost;
      if (run >= kNever || run + cost[i + n] >= cost[i]) continue;
      cost[i] = run + cost[i + n];
      length[i] = n;
    }
  }
  for (uint32_t i = 0; i < layers; i += Max(length[i], 1u)) count += length[i] > 0;
  SLUICE_TRY(arena->Allocate(count, runs));
  count = 0;
  for (uint32_t i = 0; i < layers; i += Max(length[i], 1u)) {
    if (length[i] == 0) continue;
    const Best& best = self.best[i * kMostLayers + length[i] - 1];
    const Grid& grid = self.grids[best.grid];
    const uint32_t out = self.search.lowering.executed[self.places[i].layer].outputs[0];
    const int32_t batch = self.search.graph.tensors[out].extent[0];
    (*runs)[count++] = NodeRun{i, length[i], batch / (grid.parts[0] * best.images),
                               self.search.region, grid.deal};
  }
  return Status::kOk;
}

}  // namespace

Status FindRuns(const RunSearch& search, Arena* arena, Span<NodeRun>* runs) {
  Arena memory(arena->memory());
  State state(search, &memory);
  SetRates(&state);
  SLUICE_TRY(SetPlaces(&state));
  SLUICE_TRY(ListGrids(&state));
  SLUICE_TRY(PriceAll(&state));
  return FindChain(state, arena, runs);
}

}  // namespace sluice
