// SPDX-License-Identifier: Apache-2.0
// Resuming from a plan never gives a worse one, and a better one where there is time.
// Annealing from several starts on the caller's threads gives the same bytes on any number
// of threads.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

TEST_CASE("resumed from the plain plan, from a constructed and from an annealed one") {
  for (const char* network : {"resnet50", "gpt2_small_decode", "lraspp"}) {
    CAPTURE(network);
    const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
    NetworkPlan n(graph, "soma-edge");
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
    const Bytes plain = n.PlanBytes();
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const Bytes constructed = n.PlanBytes();
    n.max_iterations = 500;
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const Bytes annealed = n.PlanBytes();
    double before = 0;
    for (const Bytes* bytes : {&plain, &constructed, &annealed}) {
      REQUIRE(n.Adopt(*bytes) == SLUICE_OK);
      before = n.Product();
      n.max_iterations = 400;
      REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
      CHECK(n.Product() <= before);
      CHECK(n.Verify() == SLUICE_OK);
      // The result can be resumed again.
      const Bytes once = n.PlanBytes();
      REQUIRE(n.Adopt(once) == SLUICE_OK);
      n.seed = 7;
      before = n.Product();
      REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
      n.seed = 0;
      CHECK(n.Product() <= before);
      const auto run = n.Simulate(false);
      CHECK(run.ok);
      CHECK(run.cycles == n.report.latency_cycles);
    }
  }
}

TEST_CASE("a resumed plan is found again from its notation, without search") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("resnet50", {}), "soma-edge");
  REQUIRE(n.ok);
  n.max_iterations = 2000;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  const Bytes annealed = n.PlanBytes();
  const double product = n.Product();
  // With one iteration there is no time to search: the resumed plan is returned.
  REQUIRE(n.Adopt(annealed) == SLUICE_OK);
  n.max_iterations = 1;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.Product() <= product);
  // A plan that needs more scratchpad than the budget is only a start for the search.
  REQUIRE(n.Adopt(annealed) == SLUICE_OK);
  const uint64_t budget = n.report.peak_buffer_bytes / 2;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, budget) == SLUICE_OK);
  CHECK(n.report.peak_buffer_bytes <= budget);
  CHECK(n.Verify() == SLUICE_OK);
}

TEST_CASE("a plan of another graph is refused by the judge, not resumed") {
  NetworkPlan other(sluice::zoo::MakeZooGraph("vgg16", {}), "soma-edge");
  REQUIRE(other.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  NetworkPlan n(sluice::zoo::MakeZooGraph("mobilenet_v1", {}), "soma-edge");
  REQUIRE(n.Adopt(other.PlanBytes()) == SLUICE_OK);
  CHECK(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_REJECTED);
  CHECK(std::string(n.diagnostic.message).find("another graph") != std::string::npos);
}

struct Workers {
  uint32_t count;
  std::atomic<uint32_t> calls{0};
};

void RunOnWorkers(void* user, void (*job)(void*, uint32_t), void* argument,
                  uint32_t jobs) {
  Workers* workers = static_cast<Workers*>(user);
  ++workers->calls;
  std::atomic<uint32_t> next{0};
  std::vector<std::thread> threads;
  for (uint32_t w = 0; w < workers->count; ++w) {
    threads.emplace_back([&] {
      for (uint32_t i = next++; i < jobs; i = next++) job(argument, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("the runner gives the same bytes with 1, 2 and 8 workers") {
  for (const char* network : {"resnet50", "lraspp"}) {
    CAPTURE(network);
    NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), "soma-edge");
    REQUIRE(n.ok);
    n.max_iterations = 300;
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    Bytes first;
    for (const uint32_t count : {1u, 2u, 8u}) {
      CAPTURE(count);
      Workers workers;
      workers.count = count;
      sluice_runner_t runner = {};
      runner.struct_size = sizeof runner;
      runner.user = &workers;
      runner.run = RunOnWorkers;
      n.runner = &runner;
      REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
      CHECK(workers.calls > 0);
      CHECK(n.Verify() == SLUICE_OK);
      if (first.empty()) first = n.PlanBytes();
      CHECK(n.PlanBytes() == first);
    }
    n.runner = nullptr;
  }
}

TEST_CASE("the runner with a deadline: starts keep what tiles cost while they search") {
  constexpr uint64_t kFar = 3600 * uint64_t{1000000000};  // ns: nothing is cut
  NetworkPlan n(sluice::zoo::MakeZooGraph("mobilenet_v1", {}), "soma-edge");
  REQUIRE(n.ok);
  Bytes first;
  for (const uint32_t count : {1u, 2u}) {
    Workers workers;
    workers.count = count;
    sluice_runner_t runner = {};
    runner.struct_size = sizeof runner;
    runner.user = &workers;
    runner.run = RunOnWorkers;
    n.runner = &runner;
    REQUIRE(n.Schedule(SLUICE_SOLVER_FUSION, 0, kFar) == SLUICE_OK);
    CHECK(workers.calls > 0);
    CHECK(n.Verify() == SLUICE_OK);
    if (first.empty()) first = n.PlanBytes();
    CHECK(n.PlanBytes() == first);
  }
  n.runner = nullptr;
}

}  // namespace
}  // namespace sluice_test
