// SPDX-License-Identifier: Apache-2.0
// The contents of one memory: pieces found by their bytes, and pieces that merge.
#include "verify/memory_map.h"

#include <set>
#include <vector>

#include "base/rng.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::judge::Box;
using sluice::judge::Piece;

TEST_CASE("memory map: it finds what shows, after any clipping") {
  OwnJudge own;
  sluice::judge::Judge& judge = own.judge;
  sluice::judge::MemoryMap map(&own.arena);
  sluice::judge::PiecePool pool(&own.arena);
  sluice::Vector<sluice::judge::Piece*> found(&own.arena);
  std::vector<uint32_t> shows(400, 0);  // piece number of each byte, 0 = none
  sluice::Rng rng(5);
  for (uint32_t number = 1; number < 3000; ++number) {
    const int64_t begin = rng.Below(380);
    const int64_t end = begin + 1 + rng.Below(20);
    found.Truncate(0);
    REQUIRE(map.Collect(&judge, begin, end, &found) == sluice::Status::kOk);
    std::set<uint32_t> want, got;
    for (int64_t i = begin; i < end; ++i) want.insert(shows[static_cast<size_t>(i)]);
    want.erase(0);
    for (const sluice::judge::Piece* piece : found) got.insert(piece->root);
    REQUIRE(want == got);
    for (sluice::judge::Piece* piece : found) {
      bool gone = false;
      REQUIRE(map.Clip(&judge, piece, begin, end, &pool, &gone) == sluice::Status::kOk);
      if (gone) pool.Give(piece);
    }
    sluice::judge::Piece* piece = nullptr;
    REQUIRE(pool.Take(&piece) == sluice::Status::kOk);
    piece->box = Box::At(begin, 0, end - begin);
    piece->begin = begin;
    piece->end = end;
    piece->root = number;
    REQUIRE(map.Insert(piece) == sluice::Status::kOk);
    for (int64_t i = begin; i < end; ++i) shows[static_cast<size_t>(i)] = number;
  }
}

// Rows [first, first + rows) of a tensor [1, 8, 4, 8] of bytes that starts at address
// 0.
Piece Rows(uint32_t root, int64_t first, int64_t rows) {
  const int64_t extent[4] = {1, rows, 4, 8}, stride[4] = {256, 32, 8, 1};
  Piece piece = {};
  REQUIRE(MakeFrame(32 * first, 1, extent, stride, &piece.frame));
  piece.box = BoxOf(piece.frame);
  piece.rows = RowsOf(piece.box);
  piece.begin = piece.box.base;
  piece.end = piece.box.end();
  piece.root = root;
  piece.origin[1] = first;
  piece.engine = 2;
  return piece;
}

TEST_CASE("memory map: tiles that continue each other are one, in either order") {
  for (const bool forward : {true, false}) {
    CAPTURE(forward);
    Piece older = Rows(1, forward ? 2 : 5, forward ? 3 : 1);
    Piece newer = Rows(1, forward ? 5 : 2, forward ? 1 : 3);
    REQUIRE(TryMerge(older, &newer));
    CHECK(newer.origin[1] == 2);
    CHECK(newer.begin == 64);
    CHECK(newer.end == 6 * 32);
    REQUIRE(newer.frame.dims == 3);
    CHECK(newer.frame.count[0] == 4);
    CHECK(newer.frame.stride[0] == 32);
    CHECK(newer.rows.count == 1);  // all rows are one run of bytes
  }
}

TEST_CASE("memory map: what is no single box stays in two pieces") {
  const auto merges = [](auto change) {
    Piece older = Rows(1, 0, 2), newer = Rows(1, 2, 2);
    change(&older, &newer);
    return TryMerge(older, &newer);
  };
  CHECK(merges([](Piece*, Piece*) {}));
  CHECK(!merges([](Piece* older, Piece*) { older->root = 2; }));
  CHECK(!merges([](Piece* older, Piece*) { older->engine = 3; }));
  CHECK(!merges([](Piece* older, Piece*) { older->covered = true; }));
  CHECK(!merges([](Piece*, Piece* newer) { *newer = Rows(1, 3, 2); }));  // a gap
  CHECK(!merges([](Piece*, Piece* newer) { newer->origin[0] = 1; }));
  CHECK(!merges([](Piece*, Piece* newer) {  // its frame contradicts its rows
    const int64_t extent[4] = {1, 2, 4, 8}, stride[4] = {256, 32, 8, 1};
    REQUIRE(MakeFrame(96, 1, extent, stride, &newer->frame));
  }));
}

TEST_CASE("memory map: recent pieces are few, and the newest stands first") {
  OwnJudge own;
  sluice::judge::RecentPieces recent;
  REQUIRE(recent.Init(&own.arena, 2) == sluice::Status::kOk);
  Piece a = {}, b = {}, c = {};
  recent.Add(&a);
  recent.Add(&b);
  CHECK(recent.At(0) == &b);
  CHECK(recent.At(1) == &a);
  recent.Add(&c);  // a has to leave
  CHECK(recent.At(1) == &b);
  recent.Add(&b);
  CHECK(recent.At(0) == &b);
  CHECK(recent.At(1) == &c);
  recent.Forget(&b);
  CHECK(recent.At(0) == &c);
  CHECK(recent.At(1) == nullptr);
}

}  // namespace
}  // namespace sluice_test
