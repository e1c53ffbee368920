// SPDX-License-Identifier: Apache-2.0
// Schemes that are constructed without random moves.
#include "solve/fusion/construct.h"

#include "tests/bench/growing_network.h"
#include "tests/solve/fusion/searched.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

TEST_CASE("construct: every layer alone, double buffered, within the buffer") {
  Small small;
  Searched s(small.problem, small.model);
  s.scheme.double_buffer = true;
  SchemeScore score;
  REQUIRE(ConstructAlone(&s.scheme, &s.budget, &s.diagnostic, &score) == Status::kOk);
  CHECK(score.cost < kAnnealRejected);
  CHECK(score.minimum_bytes <= small.problem.buffer_bytes);
  for (const uint8_t cut : s.scheme.notation().cut) CHECK(cut == kCutDram);
}

TEST_CASE("construct: fused it is cheaper than alone, and more looks are no worse") {
  for (const char* kind : {"chain", "dag", "residual"}) {
    CAPTURE(std::string(kind));
    const auto network = MakeGrowingNetwork(kind, 16);
    Searched s(network->problem, network->model);
    SchemeScore alone, few, many;
    REQUIRE(ConstructAlone(&s.scheme, &s.budget, &s.diagnostic, &alone) == Status::kOk);
    REQUIRE(Construct(&s.scheme, 20, true, s.work(), &few) == Status::kOk);
    CHECK(few.cost < alone.cost);
    CHECK(few.minimum_bytes <= network->problem.buffer_bytes);
    REQUIRE(Construct(&s.scheme, 2000, true, s.work(), &many) == Status::kOk);
    CHECK(many.cost <= few.cost);
    CHECK(IsNotation(Copy(s.scheme.notation())));
    // The score returned is that of the state that the scheme has saved.
    RestoreDraft(&s.scheme.draft);
    CHECK(s.scheme.Score(kAnnealRejected).cost == many.cost);
    SchemeScore again;
    REQUIRE(Refit(&s.scheme, 500, false, s.work(), &again) == Status::kOk);
    CHECK(again.cost < alone.cost);
    CHECK(again.minimum_bytes <= network->problem.buffer_bytes);
  }
}

TEST_CASE(
    "construct: what cannot fit is refused with numbers, what is stopped says so") {
  Small small;
  small.problem.buffer_bytes = 64;
  Searched s(small.problem, small.model);
  SchemeScore score;
  CHECK(Construct(&s.scheme, 100, true, s.work(), &score) == Status::kInfeasible);
  CHECK(s.diagnostic.required_bytes > s.diagnostic.available_bytes);
  const uint32_t cancel = 1;
  s.budget = Budget({}, 0, 0, &cancel);
  small.problem.buffer_bytes = s.scheme.target_bytes = 4000;
  CHECK(Construct(&s.scheme, 100, true, s.work(), &score) == Status::kStopped);
}

TEST_CASE("construct: a layer that is wrong is mended, the others stay") {
  const auto network = MakeGrowingNetwork("chain", 16);
  Searched s(network->problem, network->model);
  SchemeScore score, mended;
  REQUIRE(Construct(&s.scheme, 500, true, s.work(), &score) == Status::kOk);
  const Copy good(s.scheme.notation());
  std::vector<uint8_t> touched(16, 0);
  touched[8] = 1;
  REQUIRE(Rework(&s.scheme, {touched.data(), touched.size()}, 200, s.work(), &mended) ==
          Status::kOk);
  CHECK(mended.cost <= score.cost);
  const Copy after(s.scheme.notation());
  CHECK(IsNotation(after));
  CHECK(after.order[0] == good.order[0]);
}

}  // namespace
}  // namespace sluice
