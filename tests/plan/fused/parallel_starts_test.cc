// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/parallel_starts.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/placed_run.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::SearchedRun;

// Runs the starts in a row, on the thread of the test, from the last to the first if
// `backwards`.
struct Row {
  explicit Row(bool backwards = false) : last_first(backwards) {
    runner.struct_size = sizeof runner;
    runner.user = this;
    runner.run = [](void* user, void (*job)(void*, uint32_t), void* argument,
                    uint32_t count) {
      Row* row = static_cast<Row*>(user);
      for (uint32_t i = 0; i < count; ++i) {
        job(argument, row->last_first ? count - 1 - i : i);
        ++row->jobs;
      }
    };
  }
  bool last_first;
  uint32_t jobs = 0;
  sluice_runner_t runner = {};
};

FusionSearch Rounds() {
  FusionSearch search;
  search.rounds = 40;
  search.seed = 3;
  return search;
}

Status Start(SearchedRun* s, Row* row, uint64_t bytes, ParallelStarts* starts,
             FusionResult* out, Budget* budget) {
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.runner = &row->runner;
  return starts->Run(s->section.run, options, Rounds(), bytes, budget, out);
}

TEST_CASE("parallel starts: the cheapest of four seeds, whichever ends first") {
  SearchedRun s(Chain(8, 16), 1536);
  double best = 0;
  for (uint64_t i = 0; i < ParallelStarts::kStarts; ++i) {
    FusionSearch search = Rounds();
    search.seed += i << 32;
    FusionResult alone;
    REQUIRE(SearchFusion(s.section.run.problem, s.model, search,
                         {&s.budget, &s.n.arena, &s.n.diagnostic},
                         &alone) == Status::kOk);
    if (i == 0 || alone.score.cost < best) best = alone.score.cost;
  }
  std::vector<uint32_t> order;
  for (const bool backwards : {false, true}) {
    Row row(backwards);
    ParallelStarts starts(&s.n.memory);
    FusionResult out;
    Budget budget;
    REQUIRE(Start(&s, &row, 1 << 20, &starts, &out, &budget) == Status::kOk);
    CHECK(row.jobs == ParallelStarts::kStarts);
    CHECK(out.score.cost == best);
    CHECK(budget.iterations() > 0);
    const std::vector<uint32_t> found(out.notation.order.begin(),
                                      out.notation.order.end());
    if (backwards) CHECK(found == order);
    order = found;
  }
}

TEST_CASE("parallel starts: without memory for all of them none is started") {
  SearchedRun s(Chain(4));
  Memory little(sluice_test::Nouns::Allocator(), 100000);
  Row row;
  ParallelStarts starts(&little);
  FusionResult out;
  Budget budget;
  CHECK(Start(&s, &row, 65536, &starts, &out, &budget) == Status::kOutOfMemory);
  CHECK(row.jobs == 0);
}

TEST_CASE("parallel starts: the error of a search when no start has a result") {
  SearchedRun s(Chain(4));
  Row row;
  ParallelStarts starts(&s.n.memory);
  FusionResult out;
  Budget budget;
  CHECK(Start(&s, &row, 4096, &starts, &out, &budget) == Status::kOutOfMemory);
  CHECK(row.jobs == ParallelStarts::kStarts);
}

}  // namespace
}  // namespace sluice
