// SPDX-License-Identifier: Apache-2.0
// The simulator's memory: which boxes share bytes, beside sets of bytes; ends of spaces.
#include "firmware-sim/memory.h"

#include <doctest/doctest.h>

#include <set>

#include "base/rng.h"

namespace sluice_test {
namespace {

using sluice_sim::Access;

// A box of int8 or int32 elements whose strides may be nested, equal or too small.
Access RandomBox(sluice::Rng* rng) {
  Access access = {};
  sluice_walk_operand_t& o = access.operand;
  o.dtype = rng->Below(2) == 0 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_INT32;
  const uint32_t width = o.dtype == SLUICE_DTYPE_INT8 ? 1 : 4;
  o.offset = width * rng->Below(40);
  o.bytes = o.span = width;
  uint32_t dense = width;
  for (int a = 3; a >= 0; --a) {
    o.extent[a] = rng->Below(2) == 0 ? 1 : 1 + rng->Below(4);
    o.stride[a] = rng->Below(3) == 0 ? width * rng->Below(12) : dense;
    dense = o.stride[a] * o.extent[a];
    o.bytes *= o.extent[a];
    o.span += static_cast<uint64_t>(o.extent[a] - 1) * o.stride[a];
  }
  return access;
}

std::set<uint64_t> BytesOf(const Access& access) {
  const sluice_walk_operand_t& o = access.operand;
  const uint64_t width = o.dtype == SLUICE_DTYPE_INT8 ? 1 : 4;
  std::set<uint64_t> bytes;
  for (uint64_t n = 0; n < o.extent[0]; ++n) {
    for (uint64_t h = 0; h < o.extent[1]; ++h) {
      for (uint64_t w = 0; w < o.extent[2]; ++w) {
        for (uint64_t c = 0; c < o.extent[3]; ++c) {
          const uint64_t at = o.offset + n * o.stride[0] + h * o.stride[1] +
                              w * o.stride[2] + c * o.stride[3];
          for (uint64_t b = 0; b < width; ++b) bytes.insert(at + b);
        }
      }
    }
  }
  return bytes;
}

TEST_CASE("memory: two boxes overlap if they share a byte") {
  sluice::Rng rng(11);
  int shared = 0, apart = 0;
  for (int round = 0; round < 20000; ++round) {
    CAPTURE(round);
    Access a = RandomBox(&rng), b = RandomBox(&rng);
    const std::set<uint64_t> mine = BytesOf(a);
    bool want = false;
    for (const uint64_t byte : BytesOf(b)) want = want || mine.count(byte) != 0;
    CHECK(Overlap(a, b) == want);
    (want ? shared : apart) += 1;
    b.space = 1;
    CHECK_FALSE(Overlap(a, b));
  }
  CHECK(shared > 4000);
  CHECK(apart > 4000);
}

TEST_CASE("memory: a box ends where its space does, and begins inside of it") {
  uint64_t regions[SLUICE_REGION_COUNT] = {};
  regions[SLUICE_REGION_GBUF] = 64;
  regions[SLUICE_REGION_CONST] = 32;
  const sluice_sim::Memory memory(2, regions, false);
  const auto says = [&](uint32_t space, uint64_t offset, uint64_t bytes) {
    Access access = {};
    access.role = "box";
    access.space = space;
    access.operand.dtype = SLUICE_DTYPE_INT8;
    access.operand.offset = offset;
    access.operand.bytes = access.operand.span = bytes;
    for (int a = 0; a < 4; ++a) access.operand.extent[a] = access.operand.stride[a] = 1;
    access.operand.extent[3] = static_cast<uint32_t>(bytes);
    return memory.Check(access).text;
  };
  CHECK(says(0, 0, 64) == "");
  CHECK(says(0, 63, 1) == "");
  CHECK(says(1, 1, 64) == "box in gbuf of node 1: bytes [1, 65) of 64");
  CHECK(says(0, 65, 1) == "box in gbuf of node 0: bytes [65, 66) of 64");
  CHECK(says(2, 0, 33) == "box in const: bytes [0, 33) of 32");
  CHECK(says(2, 0, 32) == "");
}

TEST_CASE("memory: a box with holes that has as many bytes as it spans") {
  Access box = {}, hole = {};
  sluice_walk_operand_t& o = box.operand;
  o.dtype = hole.operand.dtype = SLUICE_DTYPE_INT8;
  const uint32_t extent[] = {1, 2, 2, 2}, stride[] = {8, 3, 3, 1};
  for (int a = 0; a < 4; ++a) {
    o.extent[a] = extent[a];
    o.stride[a] = stride[a];
    hole.operand.extent[a] = hole.operand.stride[a] = 1;
  }
  o.bytes = o.span = 8;  // bytes 0, 1, 3, 4, 6 and 7, two of them twice
  hole.operand.bytes = hole.operand.span = 1;
  for (const uint64_t at : {2, 5}) {
    hole.operand.offset = at;
    CHECK_FALSE(Overlap(box, hole));
    CHECK_FALSE(Overlap(hole, box));
    hole.operand.offset = at + 1;
    CHECK(Overlap(box, hole));
  }
}

}  // namespace
}  // namespace sluice_test
