// SPDX-License-Identifier: Apache-2.0
// The steps of layers on few nodes, one by one.
#include "plan/mesh/node_steps.h"

#include <doctest/doctest.h>

#include "plan/mesh/node_fit.h"
#include "plan/mesh/node_layers.h"
#include "tests/support/whole_steps.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::NodeLayers;
using sluice_test::SplitOf;

constexpr NodeRegion kLeft = {{0, 0}, {1, 1}}, kRight = {{1, 0}, {1, 1}};
constexpr NodeRegion kRow = {{0, 0}, {2, 1}}, kColumn = {{0, 0}, {1, 2}};

// Fits and writes a layer by itself.
void WriteAll(NodeLayers* m, NodeLayer* l, int64_t end = 1 << 16) {
  int64_t base = 64;
  REQUIRE(FitTiles(l, end, &m->n.arena, &base) == Status::kOk);
  while (MayStep(*l)) REQUIRE(WriteStep(l) == Status::kOk);
  REQUIRE(WritePending(l) == Status::kOk);
  CHECK(IsDone(*l));
}

TEST_CASE("node steps: what nodes share is loaded once, for a rectangle of them") {
  NodeLayers m(Chain(1, 1, 1, 16).Dense(8).Done());
  NodeLayer* l = m.Make(0, kRow, SplitOf(kDimK, 2));
  WriteAll(&m, l);
  REQUIRE(l->per_slice == 1);
  // The input for both; weights and parameters for each; then both compute and store.
  CHECK(m.Steps() == "L0 L0 L1 L0 L1 C0 S0 C1 S1 ");
  const uint32_t input = m.program.step(0).item;
  CHECK(m.program.transfer_form(input).cols == 2);
  CHECK(m.program.transfer_form(input).tensor == 0);
  const uint32_t weight = m.program.step(2).item;
  CHECK(m.program.transfer_form(weight).cols == 1);
  CHECK(m.program.transfer_form(weight).role == SLUICE_ROLE_WEIGHT);
  CHECK(m.program.dram_offset(weight) == 4 * 16);  // rows 4 to 7 of the weights
}

TEST_CASE(
    "node steps: a partial sum goes to the next node of the chain, which ends it") {
  NodeLayers m(Chain(1, 1, 1, 16).Dense(8).Done());
  NodeLayer* l = m.Make(0, kColumn, SplitOf(kDimN, 1, kDimC, 2));
  WriteAll(&m, l);
  const std::string steps = m.Steps();
  // Node 2 is the second one of the column.
  CHECK(steps.find("C0 F0 ") != std::string::npos);
  CHECK(steps.find("C2 S2 ") != std::string::npos);
  CHECK(steps.find("F0 ") < steps.find("C2 "));
  CHECK(steps.find("S0 ") == std::string::npos);
  for (size_t i = 0; i < m.program.size(); ++i) {
    const Step s = m.program.step(i);
    if (s.kind == StepKind::kForward) {
      CHECK(m.program.transfer_form(s.item).role == SLUICE_ROLE_PARTIAL_SUM);
      CHECK(m.program.transfer_form(s.item).to == 2);
    }
    if (s.kind != StepKind::kCompute) continue;
    const TileStep tile = TileOf(m.program, s.item);
    CHECK(tile.first == (s.node == 0));
    CHECK(tile.last == (s.node == 2));
    CHECK(tile.has_accumulator);
  }
}

TEST_CASE("node steps: the next tile is loaded before the current one computes") {
  NodeLayers m(Chain(1, 8, 8, 16).Conv(32, 3).Done(), 1, 1);
  NodeLayer* l = m.Make(0, kLeft);
  int64_t base = 64;
  REQUIRE(FitTiles(l, 4096, &m.n.arena, &base) == Status::kOk);
  REQUIRE(l->tiling.doubled);
  REQUIRE(l->end_time > 2);
  REQUIRE(WriteStep(l) == Status::kOk);
  CHECK(m.Steps().find('C') == std::string::npos);
  const size_t first = m.program.size();
  REQUIRE(WriteStep(l) == Status::kOk);
  const std::string second = m.Steps(first);
  CHECK(second[0] == 'L');
  CHECK(second.find("L0 C0") != std::string::npos);
}

// Two layers of two slices on a node each.
struct Pair : NodeLayers {
  explicit Pair(int32_t slots)
      : NodeLayers(Chain(2, 4, 4, 4).Conv(4, 1).Conv(4, 1).Done()) {
    producer = Make(0, kLeft, WholeOnEach(), 2);
    consumer = Make(1, kRight, WholeOnEach(), 2);
    producer->stores = false;
    REQUIRE(Connect(consumer, kRoleInput0, producer));
    REQUIRE(SetSlots(consumer, kRoleInput0, slots) == slots * 64);
    consumer->roles[kRoleInput0].begin = 32768;
    for (NodeLayer* l : {producer, consumer}) {
      int64_t base = 64;
      REQUIRE(FitTiles(l, 16384, &n.arena, &base) == Status::kOk);
      REQUIRE(l->per_slice == 1);
    }
  }
  NodeLayer *producer, *consumer;
};

TEST_CASE(
    "node steps: a consumer waits for its operand, a producer for a free buffer") {
  Pair p(1);
  CHECK(MayStep(*p.producer));
  CHECK(!MayStep(*p.consumer));
  REQUIRE(WriteStep(p.producer) == Status::kOk);
  CHECK(!MayStep(*p.consumer));  // loaded, not yet computed
  REQUIRE(WritePending(p.producer) == Status::kOk);
  CHECK(p.Steps() == "L0 L0 L0 C0 F0 ");
  CHECK(MayStep(*p.consumer));
  CHECK(!MayStep(*p.producer));  // the only buffer holds slice 0
  REQUIRE(WriteStep(p.consumer) == Status::kOk);
  CHECK(!MayStep(*p.producer));
  REQUIRE(WritePending(p.consumer) == Status::kOk);
  CHECK(MayStep(*p.producer));
  Pair two(2);
  REQUIRE(WriteStep(two.producer) == Status::kOk);
  CHECK(MayStep(*two.producer));
}

TEST_CASE("node steps: layers that drain write a whole slice at a time") {
  Pair p(1);
  p.producer->drains = p.consumer->drains = true;
  REQUIRE(WriteSlice(p.producer) == Status::kOk);
  REQUIRE(WriteSlice(p.consumer) == Status::kOk);
  const size_t half = p.program.size();
  CHECK(!IsDone(*p.producer));
  REQUIRE(WriteSlice(p.producer) == Status::kOk);
  REQUIRE(WriteSlice(p.consumer) == Status::kOk);
  CHECK(IsDone(*p.producer));
  CHECK(IsDone(*p.consumer));
  CHECK(p.Steps(half) == p.Steps().substr(0, p.Steps(half).size()));
}

TEST_CASE("node steps: an exhausted budget ends the writing") {
  Pair p(1);
  uint32_t cancel = 1;
  p.budget = Budget({}, 0, 0, &cancel);
  CHECK(WriteStep(p.producer) == Status::kStopped);
  CHECK(p.program.size() == 0);
}

}  // namespace
}  // namespace sluice
