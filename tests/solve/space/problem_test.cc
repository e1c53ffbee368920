// SPDX-License-Identifier: Apache-2.0
#include "solve/space/problem.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space problem: positions, roots and when they are read") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  const SpaceProblem& p = c.problem;
  REQUIRE(p.layer.size() == 3);  // the concat is a view
  CHECK(p.layer[2] == 3);
  CHECK(p.root_of[1] == 3);
  const SpaceRoot& joined = p.roots[3];
  CHECK(joined.first_maker == 0);
  CHECK(joined.last_maker == 1);
  CHECK(joined.last_reader == 2);
  CHECK(joined.bytes == 512);
  CHECK_FALSE(joined.output);
  CHECK(p.roots[4].output);
  CHECK(p.roots[0].first_maker == kNone);
  CHECK(p.NextUse(3, 0) == 1);
  CHECK(p.NextUse(3, 2) == 2);
  CHECK(p.NextUse(3, 3) == kNone);
  CHECK(p.Lives(3, 2));
  CHECK_FALSE(p.Lives(3, 3));
  CHECK_FALSE(p.Lives(0, 1));
}

// Whether the joined graph's layers may run so: a, b, (their concat, a view), the output.
bool MayRun(const sluice_test::SpaceCase& c, std::vector<uint32_t> order) {
  sluice::Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena(&memory);
  return IsOrder(c.nouns.graph, c.lowering, {order.data(), order.size()}, &arena);
}

TEST_CASE("space problem: each layer once, behind those that it reads, through views") {
  sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  CHECK(MayRun(c, {0, 1, 3}));
  CHECK_FALSE(MayRun(c, {1, 0, 3}));
  CHECK_FALSE(MayRun(c, {0, 3, 1}));
  CHECK_FALSE(MayRun(c, {0, 1}));
  CHECK_FALSE(MayRun(c, {0, 1, 1}));
  CHECK_FALSE(MayRun(c, {0, 1, 2, 3}));
  CHECK_FALSE(MayRun(c, {0, 1, 9}));
  std::vector<Tensor> tensors(c.nouns.graph.tensors.begin(),
                              c.nouns.graph.tensors.end());
  tensors[4].kind = TensorKind::kState;
  c.nouns.graph.tensors = {tensors.data(), tensors.size()};
  CHECK_FALSE(MayRun(c, {0, 1, 3}));
}

TEST_CASE("space problem: positions follow the order that is given") {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  g.layers[1].inputs = {0};  // b does not read a
  sluice_test::SpaceCase c(g);
  const uint32_t order[] = {1, 0, 3};
  REQUIRE(MayRun(c, {1, 0, 3}));
  SpaceInput input = {c.nouns.graph, c.nouns.hardware, c.lowering, c.coster, 1 << 16};
  input.order = {order, 3};
  REQUIRE(MakeSpaceProblem(input, &c.nouns.arena, &c.problem) == Status::kOk);
  REQUIRE(c.problem.layer.size() == 3);
  CHECK(c.problem.layer[0] == 1);
  CHECK(c.problem.layer[1] == 0);
  CHECK(c.problem.roots[0].last_reader == 1);
}

// A box of four rows of four pixels of the joined tensor, of half its channels.
constexpr Box kQuarter = {{0, 0, 0, 0}, {1, 4, 4, 4}};

TEST_CASE("space problem: boxes of short rows leave bursts unfilled") {
  sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  SpaceProblem& p = c.problem;
  CHECK(p.LostBytes(kQuarter, 3, false) == 0);  // no queue has bursts
  Queue queues[3];
  queues[0].does = SLUICE_DOES_LOAD;
  queues[0].roles = SLUICE_ROLE_WEIGHT;
  queues[1].does = SLUICE_DOES_LOAD;
  queues[1].burst_bytes = 16;
  queues[2].does = SLUICE_DOES_STORE;
  queues[2].burst_bytes = 128;
  c.nouns.hardware.queues = {queues, 3};
  REQUIRE(MakeSpaceProblem(
              {c.nouns.graph, c.nouns.hardware, c.lowering, c.coster, p.capacity},
              &c.nouns.arena, &p) == Status::kOk);
  // 16 rows of 4 bytes, each of which takes a burst.
  CHECK(p.LostBytes(kQuarter, 3, false) == 16 * (16 - 4));
  CHECK(p.LostBytes(kQuarter, 3, true) == 16 * (128 - 4));
  // The whole tensor is one row of 512 bytes.
  CHECK(p.LostBytes(WholeBox(p.graph->tensors[3]), 3, true) == 0);
  CHECK(p.LostBytes({{0, 0, 0, 0}, {1, 0, 4, 4}}, 3, true) == 0);
  p.roots[3].constant = true;  // the queue of weights has no bursts
  CHECK(p.LostBytes(kQuarter, 3, false) == 0);
}

TEST_CASE("space problem: further descriptors take time in which bytes could move") {
  sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  SpaceProblem& p = c.problem;
  Queue queue;
  queue.max_rows = 4;
  queue.descriptor_cycles = 3;
  c.nouns.hardware.queues = {&queue, 1};
  REQUIRE(MakeSpaceProblem(
              {c.nouns.graph, c.nouns.hardware, c.lowering, c.coster, p.capacity},
              &c.nouns.arena, &p) == Status::kOk);
  const Rational& b = c.nouns.hardware.dram().bandwidth;
  CHECK(p.LostBytes(kQuarter, 3, false) == 3 * 3 * b.numerator / b.denominator);
}

}  // namespace
}  // namespace sluice
