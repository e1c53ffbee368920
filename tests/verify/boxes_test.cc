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

}  // namespace
}  // namespace sluice_test
