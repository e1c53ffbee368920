// SPDX-License-Identifier: Apache-2.0
// What the walker looks up for an instruction: patched bases, attributes, waits on
// earlier visits, nodes of a FORWARD.
#include <doctest/doctest.h>

#include "firmware-sim/walker.h"
#include "support/changed_image.h"
#include "verify/cases.h"

namespace sluice_test {
namespace {

struct Opened {
  explicit Opened(const Case& c) : image(c.stream.Image()) {
    status = sluice_walk_open(&w, image.data(), image.size(), nullptr);
  }
  Bytes image;
  sluice_walker_t w;
  sluice_walk_status_t status;
};

TEST_CASE(
    "walker: each patched base moves by its own parameter, a missing one by none") {
  Case c;
  c.hardware = ConvCase().hardware;
  BlockBuilder& b = OneBlock(&c, 64, 0, 0, 0, 0);
  c.stream.region_bytes[SLUICE_REGION_STATE] = 4096;
  c.stream.AddKernel(SLUICE_OP_ADD, 0, {});
  for (uint32_t slot = 0; slot < 6; ++slot) {
    c.stream.bindings[slot] = {SLUICE_REGION_STATE, 64 * slot, 0, 0};
    b.Dense(static_cast<uint16_t>(slot), SLUICE_DTYPE_INT8, {1, 1, 1, 4}, 0);
  }
  c.stream.patches = {{0, 0, 3, 0}, {2, 1, 16, 0}, {3, 0, 8, 0}, {5, 1, 1, 0}};
  Opened o(c);
  REQUIRE(o.status == SLUICE_WALK_OK);
  const auto offset = [&](uint32_t slot) {
    sluice_walk_visit_t visit = {};
    sluice_walk_operand_t operand;
    sluice_walk_operand(&o.w, &visit, slot, &operand);
    return operand.offset;
  };
  const int32_t values[] = {5, 7, 1000};
  sluice_walk_set_parameters(&o.w, values, 2);
  CHECK(offset(0) == 0 + 5 * 3);
  CHECK(offset(1) == 64);
  CHECK(offset(2) == 128 + 7 * 16);
  CHECK(offset(3) == 192 + 5 * 8);
  CHECK(offset(4) == 256);
  CHECK(offset(5) == 320 + 7);
  sluice_walk_set_parameters(&o.w, values, 1);  // the second value is not given
  CHECK(offset(2) == 128);
  CHECK(offset(3) == 192 + 5 * 8);
}

TEST_CASE(
    "walker: attributes behind a kernel's own are zero, also where others follow") {
  Case c = ConvCase();
  const uint32_t own = c.stream.kernels[0].attribute_count;
  c.stream.AddKernel(SLUICE_OP_CONV, 0, {77, 78});
  Opened o(c);
  REQUIRE(o.status == SLUICE_WALK_OK);
  sluice_kernel_t kernel;
  sluice_walk_kernel(&o.w, 0, 0, &kernel);
  CHECK(sluice_walk_attribute(&o.w, &kernel, own - 1) ==
        c.stream.attributes[c.stream.kernels[0].first_attribute + own - 1]);
  CHECK(sluice_walk_attribute(&o.w, &kernel, own) == 0);
}

TEST_CASE("walker: a wait on visits before counts what has not completed") {
  // The second instance's tile starts when at most `left` of the first one's three
  // transfers are unfinished.
  for (uint32_t left = 0; left < 4; ++left) {
    Case c = AddCase();
    At(&c, kCompute, 1, 1).waits = {AfterAllBut(left, kDma)};
    Opened o(c);
    REQUIRE(o.status == SLUICE_WALK_OK);
    sluice_walk_cursor_t at[4];
    sluice_walk_start(&o.w, at);
    sluice_walk_complete(&o.w, at, kCompute);
    REQUIRE(at[kCompute].visit.number == 1);
    for (uint32_t done = 0; done <= 3; ++done) {
      CAPTURE(left);
      CAPTURE(done);
      CHECK((sluice_walk_waits_hold(&o.w, at, kCompute, nullptr) != 0) ==
            (3 - done <= left));
      sluice_walk_complete(&o.w, at, kDma);
    }
  }
}

TEST_CASE("walker: a FORWARD is of its engine's node and of no other") {
  Case c = NodesCase();
  CHECK(Opened(c).status == SLUICE_WALK_OK);
  for (sluice_transfer_t& t : c.stream.blocks[0].transfers) {
    if (t.descriptors == 0) t.src_node = 1;
  }
  CHECK(Opened(c).status == SLUICE_WALK_TRANSFER);
}

TEST_CASE("walker: a region may be placed at the limit of addresses") {
  Bytes image = ConvCase().stream.Image();
  uint64_t base[SLUICE_REGION_COUNT] = {};
  base[SLUICE_REGION_WORKSPACE] = uint64_t{1} << 62;
  CHECK(sluice_walk_relocate(image.data(), base) == SLUICE_WALK_OK);
  base[SLUICE_REGION_WORKSPACE] += uint64_t{1} << 20;
  CHECK(sluice_walk_relocate(image.data(), base) == SLUICE_WALK_CAPACITY);
}

TEST_CASE("walker: limits themselves are within the limits") {
  Case c = ConvCase();
  c.stream.region_bytes[SLUICE_REGION_WORKSPACE] = uint64_t{1} << 62;
  CHECK(Opened(c).status == SLUICE_WALK_OK);
  c.stream.region_bytes[SLUICE_REGION_WORKSPACE] += 1;
  CHECK(Opened(c).status == SLUICE_WALK_CAPACITY);
  c = ConvCase();
  BlockBuilder& b = c.stream.blocks[0];
  const auto with = [&](const sluice_shape_t& shape) {
    Case changed = c;
    changed.stream.blocks[0].shapes.push_back(shape);
    return Opened(changed).status;
  };
  REQUIRE(!b.shapes.empty());
  CHECK(with({{0x7fffffff, 1, 1, 1}, {1, 1, 1, 1}}) == SLUICE_WALK_OK);
  CHECK(with({{0x80000000u, 1, 1, 1}, {1, 1, 1, 1}}) == SLUICE_WALK_SHAPE);
  CHECK(with({{1 << 30, 1 << 29, 1, 1}, {0, 0, 0, 0}}) == SLUICE_WALK_OK);
  CHECK(with({{1 << 30, 1 << 30, 1, 1}, {0, 0, 0, 0}}) == SLUICE_WALK_SHAPE);
  // 2^28 steps of 2^31: elements up to 2^59 bytes apart along one axis.
  CHECK(with({{(1 << 28) + 1, 1, 1, 1}, {0x80000000u, 1, 1, 1}}) == SLUICE_WALK_OK);
  CHECK(with({{(1 << 28) + 2, 1, 1, 1}, {0x80000000u, 1, 1, 1}}) == SLUICE_WALK_SHAPE);
}

}  // namespace
}  // namespace sluice_test
