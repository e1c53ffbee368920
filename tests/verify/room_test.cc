// SPDX-License-Identifier: Apache-2.0
// The judge's own bound by room: for one convolution, and beside the planner's, which
// shares no code with it.
#include "verify/room.h"

#include <doctest/doctest.h>

#include <vector>

#include "cases.h"
#include "judged_case.h"
#include "model/room_bound.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

// Nothing is made before the only layer's first tile, so all bytes of the layer pass the
// port behind it, but those that fit.
TEST_CASE("room: what does not fit passes the port behind the first tile") {
  OwnJudge own(ConvCase());
  const sluice::judge::Judge& judge = own.judge;
  sluice::judge::LeastCosts least = {};
  REQUIRE(FindLeastCosts(judge, {}, &least) == sluice::Status::kOk);
  sluice::judge::LeastOfLayer all;
  for (const auto& layer : least.layers) Add(layer, &all);
  const double bytes = all.constants + all.loaded + all.stored;
  std::vector<uint8_t> uses(judge.graph.tensors.size(), sluice::judge::kLoaded);
  for (const double fits : {1.0, bytes / 2, bytes}) {
    CAPTURE(fits);
    double cycles = 0;
    REQUIRE(LeastByRoom(judge, {least.layers, {uses.data(), uses.size()}, 7, fits},
                        &cycles) == sluice::Status::kOk);
    const double port =
        sluice::judge::CyclesAt(judge.hardware.dram().bandwidth, bytes - fits);
    CHECK(cycles == (fits < bytes ? 7 + port : 0));
    // Where zero cycles are enough, no layer is looked at.
    cycles = 0;
    REQUIRE(LeastByRoom(judge, {least.layers, {uses.data(), uses.size()}, 7, fits, 0},
                        &cycles) == sluice::Status::kOk);
    CHECK(cycles == 0);
  }
}

// Both bounds of a random graph in a scratchpad of so many bytes.
struct Both {
  Both(uint64_t seed, int64_t room, uint32_t macs) : own(CaseOf(seed)) {
    sluice::Hardware& h = own.judged.hardware;
    levels.assign(h.levels.begin(), h.levels.end());
    levels[h.scratchpad_level].capacity_bytes = room;
    h.levels = {levels.data(), levels.size()};
    h.macs_per_cycle = macs;
    h.vector_ops_per_cycle = 1;
    const sluice::Graph& graph = own.judged.graph;
    std::vector<uint8_t> uses(graph.tensors.size());
    for (const sluice::Layer& layer : graph.layers) {
      const bool rows =
          layer.op == SLUICE_OP_GATHER || layer.op == SLUICE_OP_STATE_APPEND;
      for (size_t i = rows ? 1 : 0; i < layer.inputs.size(); ++i) {
        const uint32_t t = layer.inputs[i];
        if (t != sluice::kNone) uses[t] = sluice::judge::kLoaded;
      }
    }
    sluice::judge::LeastCosts least = {};
    REQUIRE(FindLeastCosts(own.judge, {}, &least) == sluice::Status::kOk);
    REQUIRE(
        LeastByRoom(
            own.judge,
            {least.layers, {uses.data(), uses.size()}, 11, static_cast<double>(room)},
            &judges) == sluice::Status::kOk);
    sluice::Needs needs(&own.arena);
    REQUIRE(FindNeeds(graph, &own.arena, &needs) == sluice::Status::kOk);
    REQUIRE(BoundByRoom({graph, h, needs, sluice::PricedBy::kMachine, 11, 1 << 30},
                        &own.arena, &planners) == sluice::Status::kOk);
    for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const sluice::Tensor& tensor = graph.tensors[t];
      const int64_t bytes = tensor.element_bytes;
      if (tensor.producer != sluice::kNone) {
        const sluice::Parts parts = PartsMade(graph, needs, t);
        whole = whole && parts.count == 1 &&
                parts.lattice[0].elements() * bytes == tensor.bytes;
      } else if (uses[t] != 0) {
        whole =
            whole && PartsOnChip(graph, needs, t).elements() * bytes == tensor.bytes;
      }
    }
  }

  OwnJudge own;
  std::vector<sluice::MemoryLevel> levels;
  double judges = 0;
  int64_t planners = 0;
  bool whole = true;  // all of each tensor is needed

 private:
  static Case CaseOf(uint64_t seed) {
    Case c = ConvCase();
    c.graph = MakeRandomGraph(seed, {});
    return c;
  }
};

// The planner leaves out what no layer needs, the judge does not. Where all is needed the
// two say the same of nearly all graphs; the counts are those of the day of writing, and a
// change that moves them changes one of the two bounds.
TEST_CASE("room: of random graphs the judge's bound is the planner's, or above it") {
  int same = 0, above = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    for (const int64_t room : {16, 256}) {
      const Both both(seed, room, 1 + seed % 3);
      const double planners = static_cast<double>(both.planners);
      CHECK(both.judges >= planners);
      if (planners > 0 && both.judges == planners) ++same;
      if (both.judges > planners && both.whole) ++above;
    }
  }
  CHECK(same >= 1639);
  CHECK(above <= 15);
}

}  // namespace
}  // namespace sluice_test
