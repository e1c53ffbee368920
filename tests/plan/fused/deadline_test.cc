// SPDX-License-Identifier: Apache-2.0
// Limits of a call: which plan the call returns when a limit is reached, and what the
// progress callback is told.
#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/memory.h"
#include "io/read.h"
#include "support/malloc_allocator.h"
#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

constexpr uint64_t kMs = 1000000;

// Sets a lambda with captures as the progress callback.
template <typename F>
void OnProgress(NetworkPlan* n, F* f) {
  n->progress_user = f;
  n->progress = [](void* user, uint64_t iterations, double cost) {
    return (*static_cast<F*>(user))(iterations, cost);
  };
}

TEST_CASE(
    "progress is told of plans as they get better, and time does not change them") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("resnet50", {}), "soma-edge");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  const Bytes alone = n.PlanBytes();
  uint64_t calls = 0, last_iterations = 0;
  double last = 0;
  bool falling = true;
  auto watch = [&](uint64_t iterations, double cost) {
    ++calls;
    falling = falling && iterations >= last_iterations && (last == 0 || cost <= last);
    last_iterations = iterations;
    last = cost;
    return 0;
  };
  OnProgress(&n, &watch);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(calls >= 2);  // the plain plan and a better one
  CHECK(falling);
  CHECK(last == n.Product());
  CHECK(n.PlanBytes() == alone);
}

TEST_CASE("a progress callback that stops ends the call with the plan it was told of") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("mobilenet_v1", {}), "soma-edge");
  REQUIRE(n.ok);
  double told = 0;
  auto stop = [&](uint64_t, double cost) {
    told = cost;
    return cost > 0 ? 1 : 0;
  };
  OnProgress(&n, &stop);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.report.stop_reason == SLUICE_STOP_CANCELLED);
  CHECK(n.Product() == told);
  CHECK(n.Verify() == SLUICE_OK);
  auto at_once = [](uint64_t, double) { return 1; };
  OnProgress(&n, &at_once);
  CHECK(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_STOPPED);
}

// The other thread does not wait for a time, but until the call has a plan and has reported
// progress several times after that.
TEST_CASE("cancelled from another thread, the call ends with the best plan it has") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("resnet50", {}), "soma-edge");
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  const double plain = n.Product();
  uint32_t cancel = 0;
  std::mutex mutex;
  std::condition_variable changed;
  int told_since = 0;
  bool over = false;
  auto told = [&](uint64_t, double cost) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (cost > 0) ++told_since;
    changed.notify_one();
    return 0;
  };
  OnProgress(&n, &told);
  n.cancel = &cancel;
  std::thread other([&] {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return told_since >= 10 || over; });
    __atomic_store_n(&cancel, 1u, __ATOMIC_RELAXED);
  });
  const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0, 60000 * kMs);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    over = true;
    changed.notify_one();
  }
  other.join();
  REQUIRE(status == SLUICE_OK);
  CHECK(n.report.stop_reason == SLUICE_STOP_CANCELLED);
  CHECK(n.Product() <= plain);
  CHECK(n.Verify() == SLUICE_OK);
  CHECK(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_STOPPED);  // cancelled before
}

// The cancel word is set by the allocator, at the n-th allocation of a call.
uint32_t g_cancel;
int g_allocations_to_go;

TEST_CASE("cancelled at whichever allocation, the call ends well and leaves no trace") {
  for (const char* network : {"mobilenet_v1", "gpt2_small_decode"}) {
    CAPTURE(network);
    NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), "soma-edge");
    REQUIRE(n.ok);
    n.max_iterations = 200;
    n.cancel = &g_cancel;
    n.OnAllocation([] { g_cancel = --g_allocations_to_go <= 0 ? 1 : 0; });
    g_allocations_to_go = 1 << 20;
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const Bytes undisturbed = n.PlanBytes();
    const double product = n.Product();
    const int allocations = (1 << 20) - g_allocations_to_go;
    REQUIRE(allocations > 20);
    n.Forget();
    const uint64_t live = n.memory().live;
    int plans = 0, stopped = 0;
    for (int at = 1; at <= allocations; at += 1 + allocations / 40) {
      CAPTURE(at);
      g_cancel = 0;
      g_allocations_to_go = at;
      const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0);
      n.cancel = nullptr;
      if (status == SLUICE_OK) {
        ++plans;
        CHECK((n.report.stop_reason == SLUICE_STOP_CANCELLED ||
               n.PlanBytes() == undisturbed));
        CHECK(n.Product() >= product);
        CHECK(n.Verify() == SLUICE_OK);
      } else {
        ++stopped;
        REQUIRE(status == SLUICE_STOPPED);
      }
      n.Forget();
      // A call that stops without a plan leaves its memory for the next call to free.
      if (status == SLUICE_OK) CHECK(n.memory().live == live);
      n.cancel = &g_cancel;
    }
    CHECK(plans > 0);
    CHECK(stopped > 0);
    g_cancel = 0;
    g_allocations_to_go = 1 << 20;
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(n.PlanBytes() == undisturbed);
    n.Forget();
    CHECK(n.memory().live == live);
  }
}

TEST_CASE("an iteration bound gives the same bytes, whoever watches") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("mobilenet_v1", {}), "soma-edge");
  REQUIRE(n.ok);
  n.max_iterations = 300;
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  const Bytes alone = n.PlanBytes();
  auto watch = [](uint64_t, double) { return 0; };
  OnProgress(&n, &watch);
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.PlanBytes() == alone);
  CHECK(n.report.iterations <= 300);
}

TEST_CASE("a plan carries its notation: every layer once, tiles as counted") {
  for (const char* network : {"resnet50", "gpt2_small_decode", "lraspp"}) {
    CAPTURE(network);
    NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), "soma-edge");
    REQUIRE(n.ok);
    for (const uint32_t solver : {SLUICE_SOLVER_BASELINE, SLUICE_SOLVER_FUSION}) {
      REQUIRE(n.Schedule(solver, 0) == SLUICE_OK);
      const Bytes bytes = n.PlanBytes();
      sluice::Memory memory(sluice_test::Malloc(), 0);
      sluice::Arena arena(&memory);
      sluice::Plan plan = {};
      sluice::Diagnostic diagnostic = {};
      REQUIRE(sluice::ReadPlan(bytes.data(), bytes.size(), &arena, &plan,
                               &diagnostic) == sluice::Status::kOk);
      const sluice::PlanNotation& notation = plan.notation;
      REQUIRE(!notation.section.empty());
      std::vector<uint32_t> layers(notation.order.begin(), notation.order.end());
      std::sort(layers.begin(), layers.end());
      CHECK(std::adjacent_find(layers.begin(), layers.end()) == layers.end());
      CHECK(layers.size() > n.report.layers / 2);
      uint32_t groups = 0, fused = 0;
      for (const uint8_t cut : notation.cut) groups += cut == 2 ? 1 : 0;
      for (const sluice::PlanSection& s : notation.section) fused += s.kind;
      CHECK(groups == n.report.groups);
      CHECK((fused != 0) == (solver == SLUICE_SOLVER_FUSION));
    }
  }
}

}  // namespace
}  // namespace sluice_test
