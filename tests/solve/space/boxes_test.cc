// SPDX-License-Identifier: Apache-2.0
#include "solve/space/boxes.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("space boxes: what readers need, piece by piece of a joined root") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  SpaceLayer layers[3] = {};
  CutRows(c, layers);
  SpaceLoop loops[] = {{kNone, 3}};
  SpacePlan plan;
  plan.layers = Span<const SpaceLayer>(layers, 3);
  plan.loops = Span<const SpaceLoop>(loops, 1);
  SpaceBoxes boxes(c.nouns.graph, c.nouns.hardware.array, c.lowering, plan);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  REQUIRE(boxes.Init(&arena) == Status::kOk);
  boxes.Derive(0, 3);
  CHECK(boxes.made(0) == Box{{0, 0, 0, 0}, {1, 8, 8, 4}});
  boxes.SetTrip(0, 1);
  boxes.Derive(0, 3);
  CHECK(boxes.made(2) == Box{{0, 3, 0, 0}, {1, 3, 8, 8}});
  CHECK(boxes.made(1) == Box{{0, 3, 0, 0}, {1, 3, 8, 4}});
  CHECK(boxes.need(3) == Box{{0, 3, 0, 0}, {1, 3, 8, 8}});
  boxes.SetTrip(0, 2);  // the last one is shorter
  boxes.Derive(0, 3);
  CHECK(boxes.made(0) == Box{{0, 6, 0, 0}, {1, 2, 8, 4}});
}

TEST_CASE("space boxes: slices of channels are parts of what the other loops ask for") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  SpaceLayer layers[3] = {};
  CutRows(c, layers);
  layers[1].sliced = true;
  layers[1].loop = 1;
  layers[1].cut[3] = {1, 3};
  SpaceLoop loops[] = {{kNone, 3}, {0, 2}};
  SpacePlan plan;
  plan.layers = Span<const SpaceLayer>(layers, 3);
  plan.loops = Span<const SpaceLoop>(loops, 2);
  SpaceBoxes boxes(c.nouns.graph, c.nouns.hardware.array, c.lowering, plan);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  REQUIRE(boxes.Init(&arena) == Status::kOk);
  boxes.SetTrip(0, 1);
  boxes.Derive(0, 3);
  CHECK(boxes.made(1) == Box{{0, 3, 0, 0}, {1, 3, 8, 4}});
  boxes.SetTrip(1, 0);
  boxes.Derive(1, 2);
  CHECK(boxes.made(1) == Box{{0, 3, 0, 0}, {1, 3, 8, 3}});
  boxes.SetTrip(1, 1);
  boxes.Derive(1, 2);
  CHECK(boxes.made(1) == Box{{0, 3, 0, 3}, {1, 3, 8, 1}});
  // The boxes of the other layers do not change.
  CHECK(boxes.made(0) == Box{{0, 3, 0, 0}, {1, 3, 8, 4}});
}

}  // namespace
}  // namespace sluice
