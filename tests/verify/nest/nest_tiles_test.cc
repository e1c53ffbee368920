// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_tiles.h"

#include <doctest/doctest.h>

#include "tests/solve/mapping/scratch.h"
#include "tests/solve/mapping/small_claim.h"

namespace sluice {
namespace {

TEST_CASE("nest tiles: lengths are the divisors, or all below two extents") {
  Scratch scratch;
  nest_claims::Lengths lengths;
  REQUIRE(nest_claims::ListLengths(12, true, &scratch.arena, &lengths) == Status::kOk);
  const int64_t divisors[] = {1, 2, 3, 4, 6, 12};
  REQUIRE(lengths.size() == 6);
  for (size_t i = 0; i < 6; ++i) CHECK(lengths[i] == divisors[i]);
  REQUIRE(nest_claims::ListLengths(5, false, &scratch.arena, &lengths) == Status::kOk);
  CHECK(lengths.size() == 9);
}

TEST_CASE("nest tiles: units are all products of factors within the fanout") {
  const sluice_tests::SmallClaim small;  // K 6, C 4, P 6, Q 4, R 3 on four units
  const nest_claims::Case one = small.Case();
  Scratch scratch;
  Span<const nest_claims::Units> list;
  bool too_many = false;
  REQUIRE(nest_claims::ListUnits(one, 1, &scratch.arena, &list, &too_many) ==
          Status::kOk);
  CHECK(!too_many);
  // 1; 2 of K C P Q; 3 of K P R; 4 of C Q; 2 x 2 of two of K C P Q.
  CHECK(list.size() == 1 + 4 + 3 + 2 + 6);
  REQUIRE(nest_claims::ListUnits(one, 0, &scratch.arena, &list, &too_many) ==
          Status::kOk);
  CHECK(list.size() == 1);
}

TEST_CASE("nest tiles: every tile that fits is visited once") {
  const sluice_tests::SmallClaim small;
  const nest_claims::Case one = small.Case();
  Scratch scratch;
  nest_claims::Lengths lengths[nest_claims::kDimCount];
  for (uint32_t d = 0; d < 8; ++d) {
    REQUIRE(nest_claims::ListLengths(small.claim.extent[d], true, &scratch.arena,
                                     &lengths[d]) == Status::kOk);
  }
  int64_t tile[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  int visited = 0, fitting = 0;
  const nest_claims::TileRange range = {one, lengths, 0, small.claim.extent, true};
  CHECK(nest_claims::VisitTiles(range, tile, 0, [&](const int64_t* at) {
    CHECK(nest_claims::Fit(one, 0, at));
    return ++visited > 0;
  }));
  int64_t at[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (const int64_t k : lengths[1]) {
    for (const int64_t c : lengths[2]) {
      for (const int64_t p : lengths[3]) {
        for (const int64_t q : lengths[4]) {
          for (const int64_t r : lengths[5]) {
            at[1] = k, at[2] = c, at[3] = p, at[4] = q, at[5] = r;
            fitting += nest_claims::Fit(one, 0, at) ? 1 : 0;
          }
        }
      }
    }
  }
  CHECK(visited == fitting);
  CHECK(visited > 20);
}

}  // namespace
}  // namespace sluice
