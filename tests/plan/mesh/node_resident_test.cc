// SPDX-License-Identifier: Apache-2.0
// Runs of layers that take turns while their constants stay: right bytes, few loads.
#include "plan/mesh/node_resident.h"

#include <doctest/doctest.h>

#include "plan/mesh/node_layers.h"
#include "plan/mesh/node_together.h"
#include "tests/support/whole_steps.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::GraphSpec;
using sluice_test::HardwareSpec;
using sluice_test::MeshOf;

// Parts of N H W K over columns and rows.
NodeDeal Deal(const int32_t (&columns)[kAxes], const int32_t (&rows)[kAxes]) {
  NodeDeal deal = {};
  for (uint8_t v = 0; v < kNodeLoops; ++v) {
    deal.parts[kColumns][v] = v < kAxes ? columns[v] : 1;
    deal.parts[kRows][v] = v < kAxes ? rows[v] : 1;
    deal.order[kColumns][v] = deal.order[kRows][v] = v;
  }
  return deal;
}

struct Resident : sluice_test::NodeLayers {
  explicit Resident(int64_t capacity)
      : NodeLayers(Chain(4, 4, 4, 4).Conv(4, 1).Conv(4, 3).Done()),
        call{n.graph, n.hardware, lowering, capacity, none,    WholeMesh(n.hardware),
             false,   coster,     &budget,  &places,  &scratch},
        schedule(call, &scratch, &program) {
    REQUIRE(StartGroups(&schedule, {}) == Status::kOk);
    MarkGroup(&schedule, group);
  }
  int Count(StepKind kind, int role = -1) const {
    int count = 0;
    for (size_t i = 0; i < program.size(); ++i) {
      const Step s = program.step(i);
      if (s.kind != kind) continue;
      count += role < 0 || TransferOf(program, s.item).role == role;
    }
    return count;
  }
  size_t Place(StepKind kind, int which) const {
    size_t i = 0;
    for (; i < program.size(); ++i) {
      if (program.step(i).kind == kind && which-- == 0) break;
    }
    return i;
  }
  SegmentSchedule none = {};
  Arena places{&n.memory}, scratch{&n.memory};
  NodeCall call;
  NodeSchedule schedule;
  NodeRun run = {0, 2, 4, WholeMesh(n.hardware), Deal({1, 1, 2, 1}, {1, 2, 1, 1})};
  NodeGroup group = {0, 2, nullptr, &run};
};

TEST_CASE("node resident: constants are loaded once, inputs a slice ahead") {
  Resident r(8192);
  REQUIRE(WriteTogether(&r.schedule, r.group, false) == Status::kOk);
  CHECK(r.program.size() == 0);
  REQUIRE(WriteTogether(&r.schedule, r.group, true) == Status::kOk);
  CHECK(r.Count(StepKind::kCompute) == 2 * 4 * 4);  // layers, slices, nodes
  CHECK(r.Count(StepKind::kLoad, SLUICE_ROLE_WEIGHT) == 2);
  CHECK(r.Count(StepKind::kLoad, SLUICE_ROLE_INPUT) == 4 * 4);
  CHECK(r.Count(StepKind::kStore) == 4 * 4);
  // The inputs of the second slice are loaded before the first slice is stored.
  const size_t second = r.Place(StepKind::kLoad, r.Count(StepKind::kLoad) - 12);
  CHECK(second < r.Place(StepKind::kStore, 0));
}

TEST_CASE("node resident: what does not fit is said before anything is written") {
  Resident r(256);
  CHECK(WriteTogether(&r.schedule, r.group, true) == Status::kInfeasible);
  CHECK(r.program.size() == 0);
}

TEST_CASE("node resident: less room is taken from stores, then from loads ahead") {
  int64_t least = 256;
  Status status = Status::kInfeasible;
  for (; status == Status::kInfeasible; least += 16) {
    Resident r(least);
    status = WriteTogether(&r.schedule, r.group, true);
  }
  REQUIRE(status == Status::kOk);
  Resident tight(least - 16), wide(8192);
  for (Resident* r : {&tight, &wide}) {
    REQUIRE(WriteTogether(&r->schedule, r->group, true) == Status::kOk);
  }
  CHECK(tight.program.size() == wide.program.size());
  CHECK(least < 2048);
}

NodeRun RandomRun(Rng* rng, const HardwareSpec& h, uint32_t first, uint32_t layers) {
  NodeRun run = {first, layers, 1 << rng->Below(3), {}, {}};
  int32_t parts[kMeshAxes][kAxes] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
  const uint32_t extent[] = {h.node_cols, h.node_rows};
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    run.region.begin[axis] = rng->Below(extent[axis]);
    run.region.extent[axis] = extent[axis] - run.region.begin[axis];
    parts[axis][rng->Below(kAxes)] =
        1 + static_cast<int32_t>(rng->Below(run.region.extent[axis]));
  }
  run.deal = Deal(parts[0], parts[1]);
  return run;
}

TEST_CASE("node resident: random runs are executed to the right bytes") {
  Rng rng(23);
  int together = 0;
  for (int i = 0; i < 60; ++i) {
    Chain chain(4, 5 + static_cast<int32_t>(rng.Below(6)), 7, 6);
    chain.Conv(8, 3).Conv(8, 3, 1, true).Conv(12, 1).Pool(2).Conv(6, 3, 2);
    HardwareSpec h = MeshOf(2 + rng.Below(3), 1 + rng.Below(4), 4096 << rng.Below(3));
    const uint32_t cut = 1 + rng.Below(4);
    const std::vector<NodeRun> runs = {RandomRun(&rng, h, 0, cut),
                                       RandomRun(&rng, h, cut, 5 - cut)};
    const sluice_test::MeshRun run = RunOnMesh(chain.Done(), h, {}, false, runs);
    CAPTURE(i);
    CHECK_MESSAGE(run.Good(), run.Why());
    together += static_cast<int>(run.nodes.pipelined);
  }
  CHECK(together > 40);
}

}  // namespace
}  // namespace sluice
