// SPDX-License-Identifier: Apache-2.0
// The search for a fusion scheme, in networks that come with the tests.
#include "solve/fusion/fusion.h"

#include "tests/bench/growing_network.h"
#include "tests/solve/fusion/searched.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {
namespace {

struct Solved {
  template <typename Network>
  Solved(const Network& network, const FusionOptions& options, Budget budget = {}) {
    status = SolveFusion(network.problem, network.model, options,
                         Workspace{&budget, &arena, &diagnostic}, &result);
  }
  Memory memory{sluice_test::Malloc(), 0};
  Arena arena{&memory};
  Diagnostic diagnostic = {};
  FusionResult result;
  Status status;
};

TEST_CASE(
    "fusion: every solver's scheme is legal, fits, and comes out the same twice") {
  const auto network = MakeGrowingNetwork("residual", 30);
  for (const FusionSolver solver : {kFusionOurs, kFusionSoma, kFusionCocco}) {
    CAPTURE(int{solver});
    FusionOptions options;
    options.solver = solver;
    options.rounds = 1000;
    options.seed = 3;
    Solved first(*network, options), second(*network, options);
    REQUIRE(first.status == Status::kOk);
    REQUIRE(second.status == Status::kOk);
    const FusionResult& r = first.result;
    CHECK(r.rounds == 1000);
    CHECK(IsNotation(Copy(r.notation)));
    CHECK(Copy(r.notation) == Copy(second.result.notation));
    CHECK(r.score.cost == second.result.score.cost);
    CHECK(r.score.minimum_bytes <= network->problem.buffer_bytes);
    Span<int32_t> scratch;
    REQUIRE(first.arena.Allocate(r.list.tiles + r.list.transfers + 2, &scratch) ==
            Status::kOk);
    CHECK(CheckDma(r.list, r.dma, scratch) == DmaFault::kLegal);
  }
}

TEST_CASE(
    "fusion: annealing is never worse than the construction that it starts from") {
  for (const char* kind : {"chain", "dag", "residual"}) {
    CAPTURE(std::string(kind));
    const auto network = MakeGrowingNetwork(kind, 24);
    FusionOptions options;
    options.anneal = false;
    const Solved constructed(*network, options);
    options.anneal = true;
    options.rounds = 2000;
    const Solved annealed(*network, options);
    REQUIRE(constructed.status == Status::kOk);
    REQUIRE(annealed.status == Status::kOk);
    CHECK(annealed.result.score.cost <= constructed.result.score.cost);
    // Starting from the scheme found, without a search, gives the same cost.
    options.anneal = false;
    options.start = &constructed.result.notation;
    const Solved started(*network, options);
    REQUIRE(started.status == Status::kOk);
    CHECK(started.result.score.cost <= constructed.result.score.cost);
  }
}

TEST_CASE(
    "fusion: a smaller buffer is kept to, by Tighten too, or refused with numbers") {
  Small small;
  FusionOptions options;
  options.rounds = 200;
  Solved roomy(small, options);
  REQUIRE(roomy.status == Status::kOk);
  const int64_t used = roomy.result.score.minimum_bytes;
  small.problem.buffer_bytes = used * 3 / 4;
  Budget budget;
  REQUIRE(Tighten(small.problem, Workspace{&budget, &roomy.arena, &roomy.diagnostic},
                  &roomy.result) == Status::kOk);
  CHECK(roomy.result.score.minimum_bytes <= small.problem.buffer_bytes);
  const Solved tight(small, options);
  REQUIRE(tight.status == Status::kOk);
  CHECK(tight.result.score.minimum_bytes <= small.problem.buffer_bytes);
  small.problem.buffer_bytes = 64;
  const Solved none(small, options);
  CHECK(none.status == Status::kInfeasible);
  CHECK(none.diagnostic.required_bytes > 64);
  CHECK(none.diagnostic.available_bytes == 64);
}

TEST_CASE("fusion: cancelled, it has a scheme or says that it stopped") {
  const Small small;
  const uint32_t cancel = 1;
  const Solved s(small, FusionOptions(), Budget({}, 0, 0, &cancel));
  CHECK((s.status == Status::kOk || s.status == Status::kStopped));
}

}  // namespace
}  // namespace sluice
