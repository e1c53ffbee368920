// SPDX-License-Identifier: Apache-2.0
#include "plan/space/measure_images.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

TEST_CASE("measure images: a frame has room for the largest iteration") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  SpaceLayer layers[3] = {};
  CutRows(c, layers);
  SpaceLoop loops[] = {{kNone, 3}};
  SpaceSegment segments[] = {{0, 3, 0, 0}};
  SpaceImage images[2] = {};
  images[0].root = 0;
  images[1].root = 3;
  SpacePlan plan;
  plan.layers = Span<const SpaceLayer>(layers, 3);
  plan.loops = Span<const SpaceLoop>(loops, 1);
  plan.images = Span<SpaceImage>(images, 2);
  plan.segments = Span<const SpaceSegment>(segments, 1);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  REQUIRE(MeasureImages({c.nouns.graph, c.nouns.hardware.array, c.lowering, 64, 4},
                        plan, &arena) == Status::kOk);
  CHECK(images[0].bytes == 128);  // three rows of 32 bytes, aligned
  CHECK(images[1].bytes == 192);
}

}  // namespace
}  // namespace sluice
