// SPDX-License-Identifier: Apache-2.0
#include "plan/space/write_space.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"

namespace sluice {
namespace {

SpaceImage Image(uint32_t root, int64_t bytes, int64_t offset) {
  SpaceImage image = {};
  image.root = root;
  image.loop = kNone;
  image.last = image.used = 2;
  image.slots = 1;
  image.bytes = bytes;
  image.offset = offset;
  return image;
}

TEST_CASE(
    "write space: joined branches lie in one image, and nothing is stored between") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  SpaceLayer layers[3] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    layers[i].layer = c.problem.layer[i];
    layers[i].loop = kNone;
    for (auto& cut : layers[i].cut) cut = {kNone, 0};
  }
  layers[2].leaves = true;
  SpaceImage images[] = {Image(0, 256, 0), Image(3, 512, 256), Image(4, 512, 768)};
  images[0].load = true;
  images[1].whole = true;
  images[2].store = SpaceStore::kMade;
  SpaceSegment segments[] = {{0, 3, 0, 0}};
  SpacePlan plan;
  plan.layers = Span<const SpaceLayer>(layers, 3);
  plan.images = Span<SpaceImage>(images, 3);
  plan.segments = Span<const SpaceSegment>(segments, 1);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  Program program(&arena, c.nouns.hardware);
  Budget budget;
  const SpaceSetting setting = {c.nouns.graph, c.nouns.hardware, c.lowering, c.coster,
                                &budget};
  REQUIRE(WriteSpace(setting, plan, &arena, &program) == Status::kOk);
  REQUIRE(program.size() == 5);
  CHECK(program.step(0).kind == StepKind::kLoad);
  CHECK(program.step(4).kind == StepKind::kStore);
  const TileStep second = program.tile(program.step(2).item);
  CHECK(second.operand[kRoleInput0].offset == 256);
  CHECK(second.operand[kRoleInput0].stride[2] == 8);
  CHECK(second.operand[kRoleOutput].offset == 256 + 4);
  const TileStep third = program.tile(program.step(3).item);
  CHECK(third.operand[kRoleInput0].extent[3] == 8);

  // An image that is too small for its box is refused.
  images[2].bytes = 256;
  Program again(&arena, c.nouns.hardware);
  CHECK(WriteSpace(setting, plan, &arena, &again) == Status::kInfeasible);
}

}  // namespace
}  // namespace sluice
