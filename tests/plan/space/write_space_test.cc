// SPDX-License-Identifier: Apache-2.0
#include "plan/space/write_space.h"

#include <doctest/doctest.h>

#include "support/joined_graph.h"
#include "tests/support/whole_steps.h"

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
  sluice_test::PutUnder(kNone, c, 3, layers);
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
  const TileStep second = TileOf(program, program.step(2).item);
  CHECK(second.operand[kRoleInput0].offset == 256);
  CHECK(second.operand[kRoleInput0].stride[2] == 8);
  CHECK(second.operand[kRoleOutput].offset == 256 + 4);
  const TileStep third = TileOf(program, program.step(3).item);
  CHECK(third.operand[kRoleInput0].extent[3] == 8);

  // An image that is too small for its box is refused.
  images[2].bytes = 256;
  Program again(&arena, c.nouns.hardware);
  CHECK(WriteSpace(setting, plan, &arena, &again) == Status::kInfeasible);
}

// How often the pooled tensor is loaded in three iterations of four rows. Its rows in the
// last one, which have no window, need the same windows' rows as those before.
int LoadsOfPooled(bool shares) {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 2, 6, 2}, SLUICE_DTYPE_INT8, 1});    // 0: the error
  g.tensors.push_back({{1, 11, 12, 2}, SLUICE_DTYPE_INT8, 1});  // 1: what was pooled
  g.tensors.push_back({{1, 11, 12, 2}, SLUICE_DTYPE_INT8, 0});
  g.tensors.push_back({{1, 11, 12, 2}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_MAX_POOL_GRADIENT,
                      {0, 1},
                      {2},
                      {4, 2, 4, 2, 0, 0, 0, 1, -128, 127, 0}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {2}, {3}, {0, 1 << 30, 1, 0, -128, 127}});
  const sluice_test::SpaceCase c(g);
  SpaceLoop loops[] = {{kNone, 3}};
  SpaceLayer layers[2] = {};
  sluice_test::PutUnder(0, c, 2, layers);
  for (SpaceLayer& layer : layers) layer.cut[1] = {0, 4};
  SpaceImage images[] = {Image(0, 24, 0), Image(1, 96, 128), Image(2, 96, 256),
                         Image(3, 96, shares ? 128 : 384)};
  images[0].load = images[1].load = true;
  images[3].store = SpaceStore::kMade;
  for (SpaceImage& image : images) image.last = image.used = 1;
  for (int i = 1; i < 4; ++i) images[i].loop = 0;
  if (shares) {
    images[1].last = images[1].used = 0;
    images[3].first = 1;
  }
  SpaceSegment segments[] = {{0, 2, 0, 0}};
  SpacePlan plan;
  plan.loops = Span<const SpaceLoop>(loops, 1);
  plan.layers = Span<const SpaceLayer>(layers, 2);
  plan.images = Span<SpaceImage>(images, 4);
  plan.segments = Span<const SpaceSegment>(segments, 1);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  Program program(&arena, c.nouns.hardware);
  Budget budget;
  REQUIRE(WriteSpace({c.nouns.graph, c.nouns.hardware, c.lowering, c.coster, &budget},
                     plan, &arena, &program) == Status::kOk);
  int loads = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    const Step step = program.step(i);
    loads +=
        step.kind == StepKind::kLoad && TransferOf(program, step.item).dram.tensor == 1;
  }
  return loads;
}

TEST_CASE("write space: a frame that another one overwrites is loaded again") {
  CHECK(LoadsOfPooled(false) == 2);
  CHECK(LoadsOfPooled(true) == 3);
}

}  // namespace
}  // namespace sluice
