// SPDX-License-Identifier: Apache-2.0
// What is written for its price alone costs what all of it costs, in fewer steps.
#include "plan/mesh/node_price.h"

#include <doctest/doctest.h>

#include "model/report.h"
#include "plan/mesh/node_layers.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::GraphSpec;
using sluice_test::HardwareSpec;
using sluice_test::OnNodes;
using sluice_test::SplitOf;

struct Total {
  Status status = Status::kOk;
  double cycles = 0, pj = 0, steps = 0;
  size_t written = 0;
};

struct Way {
  int64_t capacity;
  bool whole = false;
  Span<Segment> segments = {};
  Span<uint32_t> order = {};
  Span<const LayerWay> ways = {};
};

Total TotalOf(const GraphSpec& spec, const Way& way, bool priced) {
  sluice_test::NodeLayers n(spec, 4, 4);
  Arena places{&n.n.memory}, scratch{&n.n.memory};
  Vector<double> weights(&n.memory);
  SegmentSchedule schedule = {};
  schedule.segments = way.segments;
  schedule.order = way.order;
  NodeCall call{n.n.graph,    n.n.hardware, n.lowering,
                way.capacity, schedule,     WholeMesh(n.n.hardware),
                way.whole,    n.coster,     &n.budget,
                &places,      &scratch,     way.ways};
  if (priced) call.weights = &weights;
  NodeProgram out;
  Total total;
  total.status = ScheduleOnNodes(call, &n.program, &out, &n.n.diagnostic);
  if (total.status != Status::kOk) return total;
  const ProgramRun run = {n.n.graph, n.n.hardware, n.program};
  ProgramWaits waits(&n.memory);
  int64_t cycles = 0;
  std::vector<int64_t> ends(n.program.block_count());
  std::vector<BlockCost> blocks(ends.size());
  REQUIRE(DeriveWaits(run, out.lowering.places, &scratch, &waits) == Status::kOk);
  REQUIRE(PredictCycles(run, waits, &scratch, &cycles, {ends.data(), ends.size()}) ==
          Status::kOk);
  REQUIRE(FillBlockCosts(run, {ends.data(), ends.size()}, n.n.memory,
                         {blocks.data(), blocks.size()}) == Status::kOk);
  for (size_t b = 0; b < blocks.size(); ++b) {
    const double weight = b < weights.size() ? weights[b] : 1;
    total.cycles += weight * static_cast<double>(blocks[b].cycles);
    total.pj += weight * blocks[b].energy_pj;
    total.steps += weight * static_cast<double>(blocks[b].steps);
  }
  total.written = n.program.size();
  return total;
}

// Fewer than `part` of the steps are written, and all figures are within `error`.
void CheckPrice(const GraphSpec& spec, const Way& way, double part, double error) {
  const Total all = TotalOf(spec, way, false), few = TotalOf(spec, way, true);
  REQUIRE(all.status == Status::kOk);
  REQUIRE(few.status == Status::kOk);
  CHECK(static_cast<double>(few.written) <= part * static_cast<double>(all.written));
  CHECK(few.steps == doctest::Approx(all.steps).epsilon(error));
  CHECK(few.pj == doctest::Approx(all.pj).epsilon(error));
  CHECK(few.cycles == doctest::Approx(all.cycles).epsilon(error));
}

TEST_CASE("node price: even loops of tiles, each by its first steps") {
  CheckPrice(Chain(16, 32, 32, 8).Conv(64, 1).Done(), {1024}, 0.5, 0.01);
  CheckPrice(Chain(16, 32, 32, 8).Conv(64, 3).Done(), {1024}, 0.5, 0.03);
  CheckPrice(Chain(64, 16, 16, 16).Pool(2).Done(), {512}, 0.5, 0.01);
}

TEST_CASE("node price: last tiles that are smaller count as they are") {
  CheckPrice(Chain(9, 37, 29, 8).Conv(44, 1).Done(), {1024}, 0.5, 0.05);
}

TEST_CASE("node price: sums that go from node to node") {
  Segment segment = {};
  LayerOnNodes at[] = {OnNodes(0, {{0, 0}, {4, 4}}, SplitOf(kDimC, 4, kDimN, 4))};
  uint32_t order[] = {0};
  segment.top_batch = 1;
  segment.layers = {at, 1};
  for (const int64_t capacity : {600, 2000}) {
    CAPTURE(capacity);
    CheckPrice(Chain(64, 4, 4, 32).Conv(64, 1).Done(),
               {capacity, false, {&segment, 1}, {order, 1}}, 0.7, 0.05);
  }
  // The last piece of the output is shorter.
  at[0].split = SplitOf(kDimC, 4);
  CheckPrice(Chain(4, 1, 1, 256).Conv(16 * 15 + 2, 1).Done(),
             {1300, false, {&segment, 1}, {order, 1}}, 0.9, 0.005);
}

TEST_CASE("node price: slices of layers that take turns, and of a pipeline") {
  for (const bool turns : {true, false}) {
    CAPTURE(turns);
    const NodeRegion left = {{0, 0}, {2, 4}}, right = {{2, 0}, {2, 4}};
    LayerOnNodes at[] = {OnNodes(0, left, SplitOf(kDimK, 2, kDimP, 4)),
                         OnNodes(1, turns ? left : right, SplitOf(kDimK, 2, kDimP, 4))};
    Segment segment = {};
    uint32_t order[] = {0, 1};
    segment.top_batch = 64;
    segment.layers = {at, 2};
    CheckPrice(Chain(64, 8, 8, 8).Conv(16, 1).Conv(16, 3).Done(),
               {1 << 14, turns, {&segment, 1}, {order, 2}}, 0.3, 0.02);
  }
}

TEST_CASE("node price: a run by its first and last slices") {
  NodeDeal deal = {};
  for (uint8_t v = 0; v < kNodeLoops; ++v) {
    deal.parts[kColumns][v] = v == 3 ? 4 : 1;
    deal.parts[kRows][v] = v == 1 ? 4 : 1;
    deal.order[kColumns][v] = deal.order[kRows][v] = v;
  }
  NodeRun run = {0, 2, 64, {{0, 0}, {4, 4}}, deal};
  const LayerWay alone = {false, false, {{0, 0}, {4, 4}}};
  LayerWay ways[] = {alone, alone};
  ways[0].run = &run;
  CheckPrice(Chain(64, 8, 8, 8).Conv(16, 1).Conv(16, 1).Done(),
             {1 << 14, true, {}, {}, {ways, 2}}, 0.2, 0.02);
}

}  // namespace
}  // namespace sluice
