// SPDX-License-Identifier: Apache-2.0
// Co-scheduling under a driver's limits: refused memory, deadlines, cancel words, wrong
// arguments.
#include <doctest/doctest.h>

#include <vector>

#include "sluice/experimental.h"
#include "support/library.h"
#include "support/random_graph.h"
#include "support/random_machine.h"
#include "support/recording_allocator.h"

namespace sluice_test {
namespace {

struct Setting {
  explicit Setting(const sluice_context_options_t* context = nullptr)
      : library(context) {
    MachineSpec machine = OneQueueMachine(2);
    machine.base.scratchpad_bytes = 4000;
    hardware = library.Hardware(MachineBytes(machine));
    for (uint64_t seed : {2, 3, 4}) {
      graphs.push_back(library.Graph(GraphBytes(MakeRandomGraph(seed))));
      models.push_back({graphs.back().get(), 0, 0, 0, 0});
    }
    options.struct_size = sizeof options;
    options.points = 3;
  }
  sluice_status_t Schedule() {
    sluice_cohort_t* cohort = nullptr;
    options.models = models.data();
    options.model_count = static_cast<uint32_t>(models.size());
    const sluice_status_t status = sluice_coschedule(
        library.context.get(), hardware.get(), &options, &cohort, &library.diagnostic);
    CHECK((cohort != nullptr) == (status == SLUICE_OK));
    summary = {};
    summary.struct_size = sizeof summary;
    if (cohort != nullptr) sluice_cohort_report(cohort, &summary);
    sluice_cohort_destroy(cohort);
    return status;
  }

  Library library;
  HardwarePtr hardware;
  std::vector<GraphPtr> graphs;
  std::vector<sluice_model_t> models;
  sluice_coschedule_options_t options = {};
  sluice_cohort_summary_t summary = {};  // of the last cohort
};

TEST_CASE(
    "every refused allocation of a cohort is an answer, and nothing is left behind") {
  RecordingAllocator allocator;
  {
    const sluice_context_options_t context = allocator.Options();
    Setting s(&context);
    REQUIRE(s.Schedule() == SLUICE_OK);
    const uint64_t before = allocator.live_bytes();
    const uint64_t first = allocator.allocations();
    REQUIRE(s.Schedule() == SLUICE_OK);
    const uint64_t needed = allocator.allocations() - first;
    int refused = 0;
    for (uint64_t at = 1; at <= needed; at += 1 + needed / 150) {
      CAPTURE(at);
      allocator.FailAt(at, true);
      const sluice_status_t status = s.Schedule();
      // If there is no memory for a better plan, the call may return the plan it has.
      CHECK((status == SLUICE_OUT_OF_MEMORY || status == SLUICE_OK));
      if (status != SLUICE_OK) ++refused;
      CHECK(allocator.live_bytes() == before);
      allocator.FailAt(0);
    }
    CHECK(refused > 20);
    CHECK(allocator.sound());
  }
  CHECK(allocator.live_bytes() == 0);
}

TEST_CASE("deadlines and cancel words end a cohort with plans or with a word") {
  Setting s;
  s.options.points = 64;
  s.options.share = SLUICE_SHARE_PARTITION;
  for (uint64_t ns = 1; ns < 20000000; ns = ns * 3 / 2 + 20000) {
    CAPTURE(ns);
    s.options.deadline_ns = ns;
    const sluice_status_t status = s.Schedule();
    CHECK((status == SLUICE_OK || status == SLUICE_STOPPED));
    // The result is never worse than equal shares, also where the deadline left time for
    // these only.
    if (s.summary.equal_latency_sum == 0) continue;
    CHECK(s.summary.latency_sum <= s.summary.equal_latency_sum);
  }
  s.options.share = SLUICE_SHARE_AUTO;
  s.options.deadline_ns = 0;
  const uint32_t cancelled = 1;
  s.options.cancel = &cancelled;
  const sluice_status_t status = s.Schedule();
  CHECK((status == SLUICE_OK || status == SLUICE_STOPPED));
}

TEST_CASE("a cohort on a machine of several queues is refused by name") {
  Setting s;
  MachineSpec machine = OneQueueMachine(2);
  machine.base.queues = LoadAndStore();
  s.hardware = s.library.Hardware(MachineBytes(machine));
  CHECK(s.Schedule() == SLUICE_UNSUPPORTED);
  CHECK(std::string(s.library.diagnostic.message) ==
        "models share machines of one queue only; this one has 2");
}

}  // namespace
}  // namespace sluice_test
