// SPDX-License-Identifier: Apache-2.0
// Programs for several nodes: which segments are kept, what is stored, who runs what.
#include "plan/mesh/node_program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "plan/mesh/node_layers.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::GraphSpec;
using sluice_test::OnNodes;

constexpr NodeRegion kLeft = {{0, 0}, {1, 2}}, kRight = {{1, 0}, {1, 2}};

struct Scheduled : sluice_test::NodeLayers {
  Scheduled(const GraphSpec& spec, int64_t capacity, bool segmented,
            Span<const LayerWay> ways = {})
      : NodeLayers(spec) {
    LayerOnNodes at[] = {OnNodes(0, kLeft, WholeOnEach()),
                         OnNodes(1, kRight, WholeOnEach())};
    uint32_t order[] = {0, 1};
    Segment segment = {};
    segment.top_batch = 1;
    segment.layers = {at, 2};
    SegmentSchedule schedule = {};
    if (segmented) {
      schedule.segments = {&segment, 1};
      schedule.order = {order, 2};
    }
    status = ScheduleOnNodes(
        {n.graph, n.hardware, lowering, capacity, schedule, WholeMesh(n.hardware),
         false, coster, &budget, &places, &scratch, ways},
        &program, &out, &n.diagnostic);
  }
  Arena places{&n.memory}, scratch{&n.memory};
  NodeProgram out;
  Status status;
};

GraphSpec TwoLayers() { return Chain(2, 4, 4, 4).Conv(4, 1).Conv(4, 1).Done(); }

TEST_CASE(
    "node program: a segment that fits is one group, and what it keeps has no place") {
  const Scheduled s(TwoLayers(), 4096, true);
  REQUIRE(s.status == Status::kOk);
  CHECK(s.out.groups == 1);
  CHECK(s.out.pipelined == 1);
  CHECK(s.Steps().find('F') != std::string::npos);
  const uint32_t between = s.n.graph.layers[0].outputs[0];
  CHECK(s.out.lowering.places[between].region == kRegionNowhere);
}

TEST_CASE("node program: a segment that does not fit is written layer by layer") {
  // All of the tensor between the layers, 128 bytes, would land on a node.
  const Scheduled s(TwoLayers(), 128, true);
  REQUIRE(s.status == Status::kOk);
  CHECK(s.out.groups == 2);
  CHECK(s.out.pipelined == 0);
  CHECK(s.Steps().find('F') == std::string::npos);
  const uint32_t between = s.n.graph.layers[0].outputs[0];
  CHECK(s.out.lowering.places[between].region != kRegionNowhere);
}

// Layers of the group that begins at each position, of a segment or of a run.
std::vector<uint32_t> Sizes(const GraphSpec& spec, int64_t capacity, bool as_run,
                            size_t most_steps = kJudgedSteps) {
  sluice_test::NodeLayers m(spec);
  const uint32_t layers = static_cast<uint32_t>(m.n.graph.layers.size());
  const NodeRegion all = WholeMesh(m.n.hardware);
  std::vector<LayerOnNodes> at;
  std::vector<uint32_t> order, sizes(layers);
  for (uint32_t l = 0; l < layers; ++l) {
    at.push_back(OnNodes(l, all, WholeOnEach()));
    order.push_back(l);
  }
  Segment segment = {};
  segment.kind = SegmentKind::kTemporal;
  segment.top_batch = 1;
  segment.layers = {at.data(), layers};
  const NodeRun run = {0, layers, 1, all,
                       DealOf(m.n.graph, m.n.graph.layers[0], WholeOnEach())};
  std::vector<LayerWay> ways(layers, {true, false, all, as_run ? &run : nullptr});
  SegmentSchedule schedule = {};
  if (!as_run) schedule.segments = {&segment, 1};
  schedule.order = {order.data(), layers};
  Arena places(&m.n.memory), scratch(&m.n.memory);
  NodeCall call = {m.n.graph, m.n.hardware, m.lowering, capacity, schedule, all,
                   false,     m.coster,     &m.budget,  &places,  &scratch};
  call.ways = {ways.data(), layers};
  call.sizes = {sizes.data(), layers};
  call.most_steps = most_steps;
  Program program(&scratch, m.n.hardware);
  NodeProgram out;
  REQUIRE(ScheduleOnNodes(call, &program, &out, &m.n.diagnostic) == Status::kOk);
  CHECK(out.groups ==
        sizes.size() - static_cast<size_t>(std::count(sizes.begin(), sizes.end(), 0u)));
  return sizes;
}

TEST_CASE("node program: of layers that take turns as many are together as fit") {
  // The second tensor between layers is eight times as large as the first.
  const GraphSpec spec = Chain(1, 8, 8, 4).Conv(4, 1).Conv(32, 1).Conv(4, 1).Done();
  using Groups = std::vector<uint32_t>;
  CHECK(Sizes(spec, 1 << 14, false) == Groups{3, 0, 0});
  CHECK(Sizes(spec, 2048, false) == Groups{2, 0, 1});
  CHECK(Sizes(spec, 256, false) == Groups{1, 1, 1});
}

TEST_CASE("node program: a segment takes no more than an eighth of the steps") {
  // Three layers on four nodes, in one tile each.
  const GraphSpec spec = Chain(1, 8, 8, 4).Conv(4, 1).Conv(4, 1).Conv(4, 1).Done();
  using Groups = std::vector<uint32_t>;
  const auto tiles = [&](size_t steps) { return Sizes(spec, 1 << 14, false, steps); };
  CHECK(tiles(1000) == Groups{3, 0, 0});
  CHECK(tiles(70).size() == 3);
  CHECK(tiles(70) != Groups{3, 0, 0});
}

TEST_CASE("node program: a run whose buffers do not fit is no run") {
  using Groups = std::vector<uint32_t>;
  CHECK(Sizes(TwoLayers(), 4096, true) == Groups{2, 0});
  CHECK(Sizes(TwoLayers(), 192, true) == Groups{1, 1});
}

TEST_CASE("node program: the way of its first layer says whether a segment is kept") {
  const LayerWay apart[] = {{false, false, kLeft}, {true, false, kRight}};
  const Scheduled s(TwoLayers(), 4096, true, {apart, 2});
  REQUIRE(s.status == Status::kOk);
  CHECK(s.out.groups == 2);
  // Layer 0 on nodes 0 and 2, layer 1 on 1 and 3.
  for (size_t i = 0; i < s.program.size(); ++i) {
    const Step step = s.program.step(i);
    if (step.kind == StepKind::kCompute) CHECK(step.node % 2 == step.layer);
  }
  const LayerWay together[] = {{true, false, kLeft}, {false, false, kRight}};
  CHECK(Scheduled(TwoLayers(), 4096, true, {together, 2}).out.groups == 1);
}

TEST_CASE("node program: without segments each layer is a group on all nodes") {
  const Scheduled s(TwoLayers(), 4096, false);
  REQUIRE(s.status == Status::kOk);
  CHECK(s.out.groups == 2);
  const std::string steps = s.Steps();
  for (const char* computed : {"C0", "C1", "C2", "C3"}) {
    CHECK(steps.find(computed) != std::string::npos);
  }
}

TEST_CASE("node program: a layer that fits no node is infeasible, with a sentence") {
  const Scheduled s(TwoLayers(), 32, false);
  CHECK(s.status == Status::kInfeasible);
  CHECK(std::string(s.n.diagnostic.message).size() > 10);
}

}  // namespace
}  // namespace sluice
