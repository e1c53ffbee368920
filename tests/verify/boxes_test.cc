// SPDX-License-Identifier: Apache-2.0
#include "verify/boxes.h"

#include <set>
#include <vector>

#include "base/rng.h"
#include "box_bytes.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::judge::Box;
using sluice::judge::Rows;

// A box of up to three dims in any order; strides may touch, repeat or be zero.
Box RandomBox(sluice::Rng* rng) {
  Box box = Box::At(rng->Below(60), 0, 1 << rng->Below(3));
  int64_t stride = box.width;
  std::vector<std::pair<int64_t, int64_t>> dims;  // count, stride
  for (uint32_t n = rng->Below(4); n > 0; --n) {
    const int64_t count = 1 + rng->Below(4);
    stride += rng->Below(2) == 0 ? 0 : rng->Below(9);
    dims.push_back({count, rng->Below(10) == 0 ? 0 : stride});
    stride *= count;
  }
  for (size_t i = dims.size(); i-- > 0;) box.Add(dims[i].first, dims[i].second, 0);
  return box;
}

TEST_CASE("verify: overlap of boxes and of their rows is exact") {
  OwnJudge own;
  sluice::judge::Judge& judge = own.judge;
  sluice::Rng rng(11);
  int overlaps = 0, with_rows = 0;
  for (int round = 0; round < 20000; ++round) {
    const Box a = RandomBox(&rng), b = RandomBox(&rng);
    const std::set<int64_t> bytes = BytesOf(a);
    bool want = false;
    for (const int64_t byte : BytesOf(b)) want = want || bytes.count(byte) != 0;
    bool found = false;
    REQUIRE(Overlap(&judge, a, b, &found) == sluice::Status::kOk);
    REQUIRE(found == want);
    const Rows rows_a = RowsOf(a), rows_b = RowsOf(b);
    REQUIRE(Overlap(&judge, a, rows_a, b, rows_b, &found) == sluice::Status::kOk);
    REQUIRE(found == want);
    overlaps += want;
    if (rows_a.count == 0) continue;
    ++with_rows;
    std::set<int64_t> of_rows;
    for (int64_t i = 0; i < rows_a.count * rows_a.length; ++i) {
      of_rows.insert(a.base + i / rows_a.length * rows_a.stride + i % rows_a.length);
    }
    REQUIRE(of_rows == bytes);
  }
  CHECK(overlaps > 4000);
  CHECK(overlaps < 16000);
  CHECK(with_rows > 10000);
}

TEST_CASE("boxes: rows of equal length at equal distances are known as such") {
  Box box = Box::At(5, 0, 4);
  CHECK(RowsOf(box).count == 1);
  box.Add(3, 10, 0);
  CHECK(RowsOf(box).length == 4);
  CHECK(RowsOf(box).count == 3);
  CHECK(RowsOf(box).stride == 10);
  Box merged = Box::At(5, 0, 1);
  merged.Add(2, 30, 0);  // rows of rows, all ten apart
  merged.Add(3, 10, 0);
  merged.Add(4, 1, 0);
  CHECK(RowsOf(merged).length == 4);
  CHECK(RowsOf(merged).count == 6);
  CHECK(RowsOf(merged).stride == 10);
  Box apart = Box::At(5, 0, 4);
  apart.Add(2, 40, 0);
  apart.Add(3, 10, 0);
  CHECK(RowsOf(apart).count == 0);
}

TEST_CASE("boxes: a frame sorts its axes, and holds what has all bytes in it") {
  using sluice::judge::Frame;
  sluice::Rng rng(13);
  int inside = 0, outside = 0;
  for (int round = 0; round < 20000; ++round) {
    // Nested strides, with a gap here and there, on axes in any order.
    const int64_t width = 1 << rng.Below(3);
    int64_t outer_extent[4], inner_extent[4], stride[4], next = width;
    int order[4] = {0, 1, 2, 3};
    for (uint32_t i = 4; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    int64_t base = 100, inner_base = 100;
    bool part = true;
    for (const int a : order) {
      outer_extent[a] = 1 + rng.Below(4);
      stride[a] = next + (rng.Below(2) == 0 ? 0 : width * rng.Below(3));
      next = stride[a] * outer_extent[a];
      // Most often a part of the outer box, else one that sticks out.
      inner_extent[a] = 1 + rng.Below(static_cast<uint32_t>(outer_extent[a]));
      const int64_t room = outer_extent[a] - inner_extent[a];
      const int64_t at = rng.Below(static_cast<uint32_t>(room + 1));
      const bool moves = rng.Below(12) == 0;
      inner_base += stride[a] * (moves ? at + 1 : at);
      part = part && !moves;
    }
    if (rng.Below(10) == 0) {
      inner_base += rng.Below(2) == 0 ? 1 : -1;
      part = false;
    }
    Frame outer, inner;
    REQUIRE(MakeFrame(base, width, outer_extent, stride, &outer));
    REQUIRE(MakeFrame(inner_base, width, inner_extent, stride, &inner));
    const Box box = BoxOf(outer);
    const std::set<int64_t> bytes = BytesOf(box), of_inner = BytesOf(BoxOf(inner));
    REQUIRE(outer.end == *bytes.rbegin() + 1);
    int64_t elements = 1;
    for (int a = 0; a < 4; ++a) elements *= outer_extent[a];
    REQUIRE(static_cast<int64_t>(bytes.size()) == elements * width);
    for (uint32_t d = 0; d < outer.dims; ++d) {
      REQUIRE(outer.count[d] == outer_extent[outer.axis[d]]);
      REQUIRE(outer.stride[d] == stride[outer.axis[d]]);
      if (d > 0) REQUIRE(outer.stride[d] <= outer.stride[d - 1]);
    }
    bool all = true;
    for (const int64_t byte : of_inner) all = all && bytes.count(byte) != 0;
    // Whatever is found is there, and a part with the same strides is found.
    const bool found = Contains(outer, inner);
    if (!all) REQUIRE(!found);
    if (part) REQUIRE(found);
    (all ? inside : outside) += 1;
  }
  CHECK(inside > 5000);
  CHECK(outside > 2000);
}

TEST_CASE("boxes: strides that are not nested make no frame") {
  sluice::judge::Frame frame;
  const int64_t extent[4] = {1, 2, 3, 4};
  const int64_t touching[4] = {0, 12, 4, 1}, meeting[4] = {0, 11, 4, 1};
  CHECK(MakeFrame(0, 1, extent, touching, &frame));
  CHECK(frame.end == 24);
  CHECK(!MakeFrame(0, 1, extent, meeting, &frame));
  CHECK(!MakeFrame(0, 2, extent, touching, &frame));
}

}  // namespace
}  // namespace sluice_test
