// SPDX-License-Identifier: Apache-2.0
// Schemes made to fit the buffer: every layer alone, and groups cut around their peak use.
#include "solve/fusion/fit.h"

#include "tests/bench/growing_network.h"
#include "tests/solve/fusion/searched.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

TEST_CASE("fit: alone, each layer has a DRAM group and as few tiles as fit") {
  Small small;
  Searched s(small.problem, small.model);
  SchemeScore score;
  REQUIRE(FitAlone(&s.scheme, &s.budget, &s.diagnostic, &score) == Status::kOk);
  CHECK(score.minimum_bytes <= small.problem.buffer_bytes);
  for (const uint8_t cut : s.scheme.notation().cut) CHECK(cut == kCutDram);
  for (const int32_t tiles : s.scheme.notation().tiles) CHECK(tiles == 1);
  // The buffer is smaller than the largest whole layer, so some layer has several tiles.
  const int64_t whole = score.minimum_bytes;
  small.problem.buffer_bytes = s.scheme.target_bytes = whole / 2;
  REQUIRE(FitAlone(&s.scheme, &s.budget, &s.diagnostic, &score) == Status::kOk);
  CHECK(score.minimum_bytes <= whole / 2);
  int32_t most = 0;
  for (const int32_t tiles : s.scheme.notation().tiles) most = std::max(most, tiles);
  CHECK(most > 1);
}

TEST_CASE("fit: a buffer that no tile fits is refused with the smallest one met") {
  Small small;
  small.problem.buffer_bytes = 64;
  Searched s(small.problem, small.model);
  SchemeScore score;
  CHECK(FitAlone(&s.scheme, &s.budget, &s.diagnostic, &score) == Status::kInfeasible);
  CHECK(s.diagnostic.available_bytes == 64);
  CHECK(s.diagnostic.required_bytes > 64);
}

TEST_CASE("fit: a group that is too large is cut until it fits, or nothing helps") {
  const auto network = MakeGrowingNetwork("chain", 12);
  Searched s(network->problem, network->model);
  WindowIndex index;
  REQUIRE(index.Init(&s.arena, network->problem) == Status::kOk);
  const SchemeScore whole = s.scheme.Bound();
  REQUIRE(whole.parsed == ParseResult::kOk);
  SchemeScore score;
  bool fits = false;
  // The scheme fits already: nothing changes.
  const Copy before(s.scheme.notation());
  s.scheme.target_bytes = whole.minimum_bytes;
  REQUIRE(FitBuffer(&s.scheme, 1 << 20, &index, s.work(), &score, &fits) ==
          Status::kOk);
  CHECK(fits);
  CHECK(Copy(s.scheme.notation()) == before);
  s.scheme.target_bytes = whole.minimum_bytes / 2;
  REQUIRE(FitBuffer(&s.scheme, 1 << 20, &index, s.work(), &score, &fits) ==
          Status::kOk);
  CHECK(fits);
  CHECK(score.minimum_bytes <= whole.minimum_bytes / 2);
  CHECK(!(Copy(s.scheme.notation()) == before));
  CHECK(IsNotation(Copy(s.scheme.notation())));
  ResetDraft(&s.scheme.draft);
  s.scheme.target_bytes = 16;
  REQUIRE(FitBuffer(&s.scheme, 1 << 20, &index, s.work(), &score, &fits) ==
          Status::kOk);
  CHECK(!fits);
}

}  // namespace
}  // namespace sluice
