// SPDX-License-Identifier: Apache-2.0
// Bounds counted by hand, and compared with random tilings: however a layer is cut, its
// tiles together take no less than the bound.
#include "model/bounds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "model/core_array.h"
#include "model/tile_cycles.h"
#include "support/random_graph.h"
#include "support/read_graph.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

// The cost of a tile on the machine, as planners compute it.
TileCost CostOf(const Graph& graph, const Hardware& hardware, uint32_t index,
                const TileBoxes& boxes, TileSum sum) {
  const Layer& layer = graph.layers[index];
  TileCost cost = {0, 0};
  MappingProblem tile;
  Diagnostic ignored = {};
  CoreCost core = {};
  if (hardware.cores.rows > 0 &&
      ProblemOfTile(graph,
                    {layer, boxes.box[kRoleOutput].extent,
                     sum.first && sum.last ? 0 : sum.channels},
                    hardware.accumulator_bytes, &tile, &ignored) == Status::kOk &&
      CoreTileCost(CoreArrayOf(hardware), tile, &core)) {
    cost = {Max(core.cycles, LeastTileCycles(hardware, graph, layer, boxes, sum)),
            core.energy_pj};
    if (core.energy_pj > 0) return cost;
  } else {
    cost.cycles = TileCycles(hardware, graph, layer, boxes, sum);
  }
  const MemoryLevel& pad = hardware.scratchpad();
  const TileOperands operands = OperandsOf(layer);
  cost.energy_pj = static_cast<double>(boxes.macs) * hardware.mac_pj +
                   static_cast<double>(boxes.vector_ops) * hardware.vector_op_pj;
  for (int r = 0; r < kTileRoles; ++r) {
    if (operands.tensor[r] == kNone) continue;
    if (!sum.last && (r == kRoleParameters || r == kRoleOutput)) continue;
    const int64_t bytes =
        boxes.box[r].elements() * graph.tensors[operands.tensor[r]].element_bytes;
    cost.energy_pj += static_cast<double>(bytes) * 8 *
                      (r == kRoleOutput ? pad.write_pj_per_bit : pad.read_pj_per_bit);
  }
  return cost;
}

// Random cuts of an axis, at multiples of the unit.
std::vector<int32_t> Cuts(Rng* rng, int32_t extent, int32_t unit, bool cuttable) {
  std::vector<int32_t> at = {0};
  const uint32_t often = rng->Below(4);
  for (int32_t i = unit; cuttable && i < extent; i += unit) {
    if (rng->Below(4) < often) at.push_back(i);
  }
  at.push_back(extent);
  return at;
}

struct Tiled {
  int64_t cycles = 0;
  double energy_pj = 0;
};

// The summed costs of a random grid of tiles over the whole layer, sums over channels
// cut as well.
Tiled RandomTiles(Rng* rng, const Graph& graph, const Hardware& hardware,
                  uint32_t index) {
  const Layer& layer = graph.layers[index];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const CutRule rule = CutsOf(graph, layer);
  std::vector<int32_t> cut[kAxes];
  for (int a = 0; a < kAxes; ++a) {
    cut[a] = Cuts(rng, out.extent[a], rule.unit[a], rule.cuttable[a]);
  }
  const int32_t channels = AccumulatedChannels(graph, layer);
  std::vector<int32_t> sums = {0, channels};
  if (channels > 0 && MaySplitSum(layer)) {
    sums = Cuts(rng, channels, rule.sum_unit, true);
  }
  Tiled all;
  size_t i[kAxes];
  for (i[0] = 1; i[0] < cut[0].size(); ++i[0])
    for (i[1] = 1; i[1] < cut[1].size(); ++i[1])
      for (i[2] = 1; i[2] < cut[2].size(); ++i[2])
        for (i[3] = 1; i[3] < cut[3].size(); ++i[3])
          for (size_t s = 1; s < sums.size(); ++s) {
            Box box;
            for (int a = 0; a < kAxes; ++a) {
              box.begin[a] = cut[a][i[a] - 1];
              box.extent[a] = cut[a][i[a]] - box.begin[a];
            }
            const TileBoxes boxes = BoxesOf(graph, layer, box, sums[s - 1], sums[s]);
            const TileCost cost =
                CostOf(graph, hardware, index, boxes,
                       {sums[s] - sums[s - 1], s == 1, s + 1 == sums.size()});
            all.cycles += cost.cycles;
            all.energy_pj += cost.energy_pj;
          }
  return all;
}

// Cores with buffers of their own; random layers do not fill all of them.
void MakeCores(Rng* rng, Machine* m) {
  m->AddLevel(512 << rng->Below(5), 0.03, 0.04);   // outputs
  m->AddLevel(1024 << rng->Below(5), 0.28, 0.04);  // inputs
  m->AddLevel(2048 << rng->Below(5), 0.06, 0.06);  // weights
  m->AddLevel(1 << 23, 0.19, 0.21);
  m->AddLevel(0, 10, 10);
  m->levels[3].bandwidth = Rational{8 << rng->Below(6), 1};
  m->levels[4].bandwidth = Rational{16, 1};
  m->Finish();
  Hardware* h = &m->hardware;
  h->cores.rows = 1 + rng->Below(4);
  h->cores.columns = 1 + rng->Below(4);
  h->cores.vector = 1u << rng->Below(5);
  h->cores.lane = 1u << rng->Below(6);
  h->cores.output_level = 0;
  h->cores.input_level = 1;
  h->cores.weight_level = 2;
  h->cores.slice_read_pj_per_bit = 0.07;
  h->cores.slice_write_pj_per_bit = 0.09;
  h->macs_per_cycle =
      int64_t{h->cores.rows} * h->cores.columns * h->cores.vector * h->cores.lane;
  h->vector_ops_per_cycle = 64;
  h->mac_pj = 0.018;
  h->vector_op_pj = 0.09;
  h->accumulator_bytes = 4;
}

void CheckTilings(const Graph& graph, const Hardware& hardware, Rng* rng, int* layers) {
  Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena(&memory);
  Needs needs(&arena);
  REQUIRE(FindNeeds(graph, &arena, &needs) == Status::kOk);
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (KindOf(graph.layers[l].op) != LayerKind::kCompute) continue;
    ++*layers;
    const LayerBound bound =
        BoundOfLayer(graph, hardware, needs, l, PricedBy::kMachine);
    const LayerBound free = BoundOfLayer(graph, hardware, needs, l, PricedBy::kCaller);
    CAPTURE(l);
    CAPTURE(graph.layers[l].op);
    CHECK(free.cycles <= bound.cycles);
    CHECK(free.energy_pj == 0);
    for (int grid = 0; grid < 12; ++grid) {
      const Tiled tiled = RandomTiles(rng, graph, hardware, l);
      CHECK(tiled.cycles >= bound.cycles);
      CHECK(tiled.energy_pj >= bound.energy_pj * (1 - 1e-12));
    }
  }
}

TEST_CASE("bounds: no way to cut a layer is below its bound") {
  Rng rng(5);
  int layers = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const GraphSpec spec = sluice_test::MakeRandomGraph(seed);
    sluice_test::Nouns n(spec);
    if (seed % 3 == 0) {
      Machine cores;
      MakeCores(&rng, &cores);
      CheckTilings(n.graph, cores.hardware, &rng, &layers);
      continue;
    }
    const std::vector<uint8_t> machine =
        sluice_test::MachineBytes(sluice_test::MakeRandomMachine(seed));
    Hardware hardware = {};
    REQUIRE(ReadHardware(machine.data(), machine.size(), &n.arena, &hardware,
                         &n.diagnostic) == Status::kOk);
    CheckTilings(n.graph, hardware, &rng, &layers);
  }
  CHECK(layers > 300);
}

// A convolution of 4x4 pixels, 16 to 8 channels, 3x3, on a machine with an array.
struct OneLayer {
  OneLayer() {
    GraphSpec g;
    g.tensors = {{{1, 4, 4, 16}, SLUICE_DTYPE_INT8, 1},
                 {{8, 3, 3, 16}, SLUICE_DTYPE_INT8, 3, 3, 1},
                 {{8, 3}, SLUICE_DTYPE_INT32, 3, 3, 2},
                 {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 2}};
    g.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1, 1, 1, 1, 1}});
    sluice_test::MachineSpec m;
    m.base.scratchpad_bytes = 65536;
    m.base.macs_per_cycle = 8 * 32;
    m.base.vector_ops_per_cycle = 16;
    m.base.dram_numerator = 4;
    m.base.dma_latency_cycles = 10;
    m.array.k = 8;
    m.array.c = 32;
    m.mac_pj = 0.5;
    m.gbuf_pj = 0.25;
    m.dram_pj = 10;
    m.leakage_pj = 2;
    graph = sluice_test::GraphBytes(g);
    hardware = sluice_test::MachineBytes(m);
    REQUIRE(ReadGraph(graph.data(), graph.size(), &n.arena, &n.graph, &n.diagnostic) ==
            Status::kOk);
    REQUIRE(ReadHardware(hardware.data(), hardware.size(), &n.arena, &n.hardware,
                         &n.diagnostic) == Status::kOk);
  }
  struct Read {
    Memory memory{sluice_test::Nouns::Allocator(), 0};
    Arena arena{&memory};
    Graph graph = {};
    Hardware hardware = {};
    Diagnostic diagnostic = {};
  };
  PlanBound Bound(PricedBy prices = PricedBy::kMachine) {
    PlanBound bound = {};
    REQUIRE(FindBound(n.graph, n.hardware, prices, &n.arena, &bound) == Status::kOk);
    return bound;
  }
  sluice_test::Bytes graph, hardware;
  Read n;
};

TEST_CASE("bounds: one convolution by hand") {
  OneLayer one;
  const PlanBound bound = one.Bound();
  const int64_t in = 256, weights = 8 * 9 * 16, parameters = 96, out = 128;
  CHECK(bound.traffic.read == in + weights + parameters);
  CHECK(bound.traffic.written == out);
  // 16 pixels by nine taps use half of the array's 32 channels; before them comes a
  // first load, behind them a last store.
  CHECK(bound.certificate.compute_cycles == 16 * 9 + 2 * (10 + 1));
  // All bytes pass the port after a latency.
  CHECK(bound.certificate.port_cycles == (in + weights + parameters + out) / 4 + 10);
  // Three tensors are loaded and one is stored, each after the queue's latency.
  CHECK(bound.cycles == bound.certificate.port_cycles + 3 * 10);
  CHECK(bound.certificate.room_cycles == static_cast<uint64_t>(bound.cycles));
  const double moved = static_cast<double>(in + weights + parameters + out);
  const double energy = 16 * 9 * 16 * 8 * 0.5 + moved * 8 * 0.25 +  // the tile
                        moved * 8 * (10 + 0.25) + 2 * static_cast<double>(bound.cycles);
  CHECK(bound.energy_pj <= energy);
  CHECK(bound.energy_pj >= energy * (1 - 1e-8));
  // A caller's tile costs may be as low as the work at the peak rate, without energy.
  CHECK(one.Bound(PricedBy::kCaller).certificate.compute_cycles ==
        16 * 9 * 16 / 32 + 2 * (10 + 1));
}

// Two queues load: each has half of the latencies. One of them stores what is made last.
TEST_CASE("bounds: loads that wait for their latencies on two queues") {
  OneLayer one;
  Queue queues[2];
  queues[0].latency_cycles = queues[1].latency_cycles = 1000;
  queues[1].does = SLUICE_DOES_LOAD;
  one.n.hardware.queues = {queues, 2};
  const PlanBound bound = one.Bound();
  const int64_t read = (256 + 8 * 9 * 16 + 96) / 4;
  CHECK(bound.cycles == (3 * 1000 + read) / 2 + 1000 + 1);
}

// A matrix product that a small scratchpad makes load again, on a machine with many MACs.
TEST_CASE(
    "bounds: bytes that come again take the port longer than those that come once") {
  constexpr int32_t kSide = 256;
  GraphSpec g;
  g.tensors = {{{1, 1, kSide, kSide}, SLUICE_DTYPE_INT8, 1},
               {{kSide, kSide}, SLUICE_DTYPE_INT8, 3, 3, 1},
               {{kSide, 3}, SLUICE_DTYPE_INT32, 3, 3, 2},
               {{1, 1, kSide, kSide}, SLUICE_DTYPE_INT8, 2}};
  g.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, {}});
  for (const int64_t macs : {1 << 20, 64}) {
    sluice_test::HardwareSpec h;
    h.scratchpad_bytes = 1024;
    sluice_test::Nouns n(g, h);
    n.hardware.macs_per_cycle = macs;
    const double rate = static_cast<double>(n.hardware.dram().bandwidth.numerator) /
                        static_cast<double>(n.hardware.dram().bandwidth.denominator);
    PlanBound bound = {};
    REQUIRE(FindBound(n.graph, n.hardware, PricedBy::kMachine, &n.arena, &bound) ==
            Status::kOk);
    const double side = kSide, matrix = side * side, room = 1024 + 16;
    const double again = 2 * matrix * side / std::sqrt(room) - 2 * room - 3 * matrix;
    REQUIRE(again > 3 * matrix);
    const double port = (3 * matrix + 12 * side + again) / rate;
    const double tiles = matrix * side / static_cast<double>(macs);
    double most = 0;
    for (const double share : {0.0, 0.25, 0.5, 0.75}) {
      most = std::max(most, (1 - share) * port + share * tiles);
    }
    // Both operands are given: no MACs make them again.
    CHECK(static_cast<double>(bound.cycles) >= most - 1);
    if (macs > 64) CHECK(static_cast<double>(bound.cycles) <= most + 1);
  }
}

}  // namespace
}  // namespace sluice
