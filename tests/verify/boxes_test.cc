// SPDX-License-Identifier: Apache-2.0
#include "verify/boxes.h"

#include <set>
#include <vector>

#include "base/rng.h"
#include "judged_case.h"
#include "verify/memory_map.h"

namespace sluice_test {
namespace {

using sluice::judge::Box;
using sluice::judge::Rows;

// Up to three dims of any order; strides may touch, repeat or be zero.
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

std::set<int64_t> BytesOf(const Box& box) {
  std::set<int64_t> starts = {box.base}, bytes;
  for (uint32_t d = 0; d < box.dims; ++d) {
    std::set<int64_t> next;
    for (const int64_t at : starts) {
      for (int64_t i = 0; i < box.dim[d].count; ++i) {
        next.insert(at + i * box.dim[d].stride);
      }
    }
    starts = next;
  }
  for (const int64_t at : starts) {
    for (int64_t i = 0; i < box.width; ++i) bytes.insert(at + i);
  }
  return bytes;
}

TEST_CASE("verify: overlap of boxes and of their rows is exact") {
  Judged judged(ConvCase());
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic d;
  sluice::judge::Judge judge = {judged.graph, judged.hardware,  judged.plan, &arena, &d,
                                {},           int64_t{1} << 40, {},          false};
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

TEST_CASE("verify: a memory map finds what shows, after any clipping") {
  Judged judged(ConvCase());
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic d;
  sluice::judge::Judge judge = {judged.graph, judged.hardware,  judged.plan, &arena, &d,
                                {},           int64_t{1} << 40, {},          false};
  sluice::judge::MemoryMap map(&arena);
  sluice::judge::PiecePool pool(&arena);
  sluice::Vector<sluice::judge::Piece*> found(&arena);
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

}  // namespace
}  // namespace sluice_test
