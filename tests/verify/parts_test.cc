// SPDX-License-Identifier: Apache-2.0
// Boxes of bytes as parts of what was written there, element by element.
#include "verify/parts.h"

#include <array>
#include <functional>
#include <map>

#include "base/rng.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::kAxes;
using sluice::judge::Box;
using sluice::judge::Part;
using sluice::judge::Piece;
using Coordinates = std::array<int64_t, kAxes>;

// Calls `visit` for each index below the extents.
void ForEach(const int64_t* extent,
             const std::function<void(const Coordinates&)>& visit) {
  Coordinates at = {};
  for (at[0] = 0; at[0] < extent[0]; ++at[0]) {
    for (at[1] = 0; at[1] < extent[1]; ++at[1]) {
      for (at[2] = 0; at[2] < extent[2]; ++at[2]) {
        for (at[3] = 0; at[3] < extent[3]; ++at[3]) visit(at);
      }
    }
  }
}

// A piece of random extents, and where each of its elements lies.
struct Written {
  explicit Written(sluice::Rng* rng) {
    int64_t next = 2;
    for (int a = kAxes - 1; a >= 0; --a) {
      extent[a] = 1 + rng->Below(4);
      stride[a] = next + rng->Below(3);
      next = stride[a] * extent[a];
      piece.origin[a] = rng->Below(50);
    }
    piece.root = 7;
    REQUIRE(MakeFrame(1000, 2, extent, stride, &piece.frame));
    piece.box = BoxOf(piece.frame);
    ForEach(extent, [&](const Coordinates& at) {
      int64_t address = 1000;
      Coordinates element;
      for (int a = 0; a < kAxes; ++a) {
        address += at[static_cast<size_t>(a)] * stride[a];
        element[static_cast<size_t>(a)] = piece.origin[a] + at[static_cast<size_t>(a)];
      }
      lies[address] = element;
    });
  }
  Piece piece = {};
  int64_t extent[kAxes], stride[kAxes];
  std::map<int64_t, Coordinates> lies;  // by address
};

// By twin, the element that the part shows there.
std::map<int64_t, Coordinates> Shown(const Part& part) {
  std::map<int64_t, Coordinates> shown;
  ForEach(part.extent, [&](const Coordinates& at) {
    int64_t twin = part.twin;
    Coordinates element;
    for (size_t a = 0; a < kAxes; ++a) {
      twin += at[a] * part.twin_stride[a];
      element[a] = part.origin[a] + at[a];
    }
    shown[twin] = element;
  });
  return shown;
}

TEST_CASE("parts: a box within a piece shows the elements that lie there") {
  sluice::Rng rng(11);
  int found = 0;
  for (int i = 0; i < 4000; ++i) {
    const Written w(&rng);
    int64_t from = 1000, count[kAxes];
    const bool inside = rng.Below(3) != 0;
    for (int a = 0; a < kAxes; ++a) {
      const int64_t at = rng.Below(static_cast<uint32_t>(w.extent[a]));
      from += at * w.stride[a];
      count[a] = 1 + rng.Below(static_cast<uint32_t>(w.extent[a] - at));
      if (!inside) count[a] += rng.Below(2);
    }
    if (!inside) from += rng.Below(2);
    const int64_t twin_stride[kAxes] = {1000, 100, 10, 1};
    Box box = Box::At(from, 5, 2);
    for (int a = 0; a < kAxes; ++a) box.Add(count[a], w.stride[a], twin_stride[a]);
    Part part;
    const bool within = Within(box, w.piece, &part);
    if (inside) REQUIRE(within);
    if (!within) continue;
    ++found;
    CHECK(RunsAlong(box, w.piece.frame));
    CHECK(part.root == 7);
    std::map<int64_t, Coordinates> want;
    ForEach(count, [&](const Coordinates& at) {
      int64_t address = from, twin = 5;
      for (int a = 0; a < kAxes; ++a) {
        address += at[static_cast<size_t>(a)] * w.stride[a];
        twin += at[static_cast<size_t>(a)] * twin_stride[a];
      }
      REQUIRE(w.lies.count(address) == 1);
      want[twin] = w.lies.at(address);
    });
    CHECK(Shown(part) == want);
  }
  CHECK(found > 2500);
}

TEST_CASE("parts: rows that no dim of the frame runs along become one run") {
  const sluice::judge::Frame bytes = {0, 64, 1, 1, {64}, {1}, {3}};
  Box rows = Box::At(0, 0, 1);
  rows.Add(4, 16, 16);
  rows.Add(16, 1, 1);
  CHECK(!RunsAlong(rows, bytes));
  const Box joined = Joined(rows, bytes);
  REQUIRE(joined.dims == 1);
  CHECK(joined.dim[0].count == 64);
  CHECK(joined.dim[0].stride == 1);
  rows.dim[0].twin = 17;  // continues in memory, not in the tensor
  CHECK(Joined(rows, bytes).dims == 2);
  rows.dim[0].twin = 16;
  const sluice::judge::Frame alike = {0, 64, 1, 2, {4, 16}, {16, 1}, {2, 3}};
  CHECK(RunsAlong(rows, alike));
  CHECK(Joined(rows, alike).dims == 2);
}

}  // namespace
}  // namespace sluice_test
