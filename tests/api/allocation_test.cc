// SPDX-License-Identifier: Apache-2.0
// The n-th allocation of a whole run fails.
#include <doctest/doctest.h>

#include "support/library.h"
#include "support/random_graph.h"
#include "support/recording_allocator.h"
#include "support/sanitized.h"

namespace sluice_test {
namespace {

struct Files {
  Bytes graph, hardware;
};

Files FilesOf(uint64_t seed) {
  MachineSpec machine = MakeRandomMachine(seed);
  machine.base.scratchpad_bytes = 16384;
  return {GraphBytes(MakeRandomGraph(seed)), MachineBytes(machine)};
}

// The next allocation to fail: each of the first ones, then one in ever more.
uint64_t After(uint64_t n) {
  constexpr uint64_t kEach = kSanitized ? 8 : 64;
  return n + (n < kEach ? 1 : 2 * n / kEach);
}

// Everything from context to verdict; stops at the first failure.
sluice_status_t RunAll(const RecordingAllocator& memory, const Files& files,
                       Bytes* plan_bytes, uint32_t solver = SLUICE_SOLVER_DEFAULT) {
  const sluice_context_options_t options = memory.Options();
  Library library(&options);
  if (library.status != SLUICE_OK) return library.status;
  const GraphPtr graph = library.Graph(files.graph);
  if (graph == nullptr) return library.status;
  const HardwarePtr hardware = library.Hardware(files.hardware);
  if (hardware == nullptr) return library.status;
  const PlanPtr plan = library.Schedule(graph, hardware, 0, solver);
  if (plan == nullptr) return library.status;
  *plan_bytes = BytesOf(plan);
  const PlanPtr again = library.Plan(*plan_bytes);
  if (again == nullptr) return library.status;
  return library.Verify(graph, hardware, again);
}

TEST_CASE(
    "whichever allocation of a run fails: out of memory or a plan that is right, no "
    "leak") {
  for (uint64_t seed : {3, 5, 8, 13}) {
    const Files files = FilesOf(seed);
    RecordingAllocator memory, other_memory;
    Bytes plan, plain;
    REQUIRE(RunAll(memory, files, &plan) == SLUICE_OK);
    REQUIRE(RunAll(other_memory, files, &plain, SLUICE_SOLVER_BASELINE) == SLUICE_OK);
    int as_ever = 0, runs = 0;
    CHECK(memory.live_blocks() == 0);
    const uint64_t count = memory.allocations();
    CHECK(count > 8);
    for (uint64_t n = 1; n <= count; n = After(n)) {
      CAPTURE(n);
      RecordingAllocator failing;
      failing.FailAt(n);
      Bytes none;
      // After a refused block the library may ask for a smaller one. A search that
      // finds no memory leaves a plainer plan, which RunAll has verified.
      const sluice_status_t status = RunAll(failing, files, &none);
      const bool right = status == SLUICE_OUT_OF_MEMORY || status == SLUICE_OK;
      REQUIRE(right);
      ++runs;
      as_ever += status == SLUICE_OK && (none == plan || none == plain) ? 1 : 0;
      RecordingAllocator dry;
      dry.FailAt(n, true);
      REQUIRE(RunAll(dry, files, &none) == SLUICE_OUT_OF_MEMORY);
      REQUIRE(dry.live_blocks() == 0);
      REQUIRE(dry.sound());
      REQUIRE(failing.live_blocks() == 0);
      REQUIRE(failing.sound());
    }
    CHECK(memory.sound());
    MESSAGE(as_ever << " of " << runs << " runs end with the plan of all or no memory");
  }
}

TEST_CASE("after any failed allocation every object does its work as before") {
  const Files files = FilesOf(5);
  RecordingAllocator memory;
  const sluice_context_options_t options = memory.Options();
  Library library(&options);
  const GraphPtr graph = library.Graph(files.graph);
  const HardwarePtr hardware = library.Hardware(files.hardware);
  const uint64_t before = memory.allocations();
  const PlanPtr first = library.Schedule(graph, hardware);
  REQUIRE(library.status == SLUICE_OK);
  const uint64_t count = memory.allocations() - before;
  const Bytes bytes = BytesOf(first);
  for (bool all : {false, true}) {
    for (uint64_t n = 1; n <= count; n = After(n)) {
      CAPTURE(n);
      const uint64_t live = memory.live_blocks();
      memory.FailAt(n, all);
      PlanPtr none = library.Schedule(graph, hardware);
      // If memory ends after a first plan was found, that plan is returned.
      if (none == nullptr) {
        REQUIRE(library.status == SLUICE_OUT_OF_MEMORY);
        REQUIRE(library.diagnostic.status == SLUICE_OUT_OF_MEMORY);
        REQUIRE(library.diagnostic.message[0] != '\0');
      }
      none.reset();
      REQUIRE(memory.live_blocks() == live);
      memory.FailAt(0);
      const PlanPtr plan = library.Schedule(graph, hardware);
      REQUIRE(library.status == SLUICE_OK);
      REQUIRE(BytesOf(plan) == bytes);
      REQUIRE(library.Verify(graph, hardware, first) == SLUICE_OK);
    }
  }
  CHECK(memory.sound());
}

TEST_CASE("a cap on memory is kept to the byte and says so") {
  const Files files = FilesOf(5);
  RecordingAllocator free_memory;
  Bytes plan;
  REQUIRE(RunAll(free_memory, files, &plan) == SLUICE_OK);
  const uint64_t peak = free_memory.peak_bytes();
  int refused = 0;
  int exact = 0;
  for (uint64_t cap = 1024; cap < 2 * peak; cap += cap / 4) {
    RecordingAllocator memory;
    const sluice_context_options_t options = memory.Options(cap);
    Library library(&options);
    const GraphPtr graph = library.Graph(files.graph);
    if (graph == nullptr) {
      CHECK(library.status == SLUICE_OUT_OF_MEMORY);
      ++refused;
      continue;
    }
    const HardwarePtr hardware = library.Hardware(files.hardware);
    if (hardware == nullptr) {
      CHECK(library.status == SLUICE_OUT_OF_MEMORY);
      ++refused;
      continue;
    }
    const PlanPtr same = library.Schedule(graph, hardware);
    if (same == nullptr) {
      CHECK(library.status == SLUICE_OUT_OF_MEMORY);
      ++refused;
    } else {
      // Less memory may leave a plainer plan.
      CHECK(library.Verify(graph, hardware, same) == SLUICE_OK);
      exact += BytesOf(same) == plan ? 1 : 0;
    }
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    REQUIRE(sluice_context_memory(library.context.get(), &stats) == SLUICE_OK);
    CHECK(stats.peak_bytes <= cap);
  }
  CHECK(refused > 0);
  CHECK(exact > 0);
}

TEST_CASE("the report says how much memory was live in each phase") {
  const Files files = FilesOf(5);
  for (uint32_t solver : {SLUICE_SOLVER_BASELINE, SLUICE_SOLVER_FUSION}) {
    RecordingAllocator memory;
    const sluice_context_options_t options = memory.Options();
    Library library(&options);
    const GraphPtr graph = library.Graph(files.graph);
    const HardwarePtr hardware = library.Hardware(files.hardware);
    sluice_schedule_options_t how = {};
    how.struct_size = sizeof how;
    how.solver = solver;
    sluice_plan_t* made = nullptr;
    REQUIRE(sluice_schedule(library.context.get(), graph.get(), hardware.get(), &how,
                            &made, nullptr) == SLUICE_OK);
    const PlanPtr plan(made);
    const sluice_report_t report = ReportOf(plan);
    const uint64_t* peak = report.phase_peak_bytes;
    uint64_t highest = 0;
    for (uint32_t p = 0; p < SLUICE_PHASE_COUNT; ++p) {
      CAPTURE(p);
      highest = std::max(highest, peak[p]);
      if (p == SLUICE_PHASE_PLACE && solver == SLUICE_SOLVER_BASELINE) {
        CHECK(peak[p] == 0);                 // addresses follow from the tiles
      } else if (p != SLUICE_PHASE_PLACE) {  // fusion may find no group to place
        CHECK(peak[p] > 0);
      }
    }
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    REQUIRE(sluice_context_memory(library.context.get(), &stats) == SLUICE_OK);
    CHECK(highest == stats.peak_bytes);
    CHECK(peak[SLUICE_PHASE_READ] < peak[SLUICE_PHASE_SCHEDULE]);
    // The memory peaks belong to making a plan; a plan that is read has none.
    const PlanPtr read = library.Plan(BytesOf(plan));
    for (uint64_t bytes : ReportOf(read).phase_peak_bytes) CHECK(bytes == 0);
    // A caller with an older struct gets the fields that it knows.
    sluice_report_t older = {};
    older.struct_size = offsetof(sluice_report_t, phase_peak_bytes);
    REQUIRE(sluice_plan_report(plan.get(), &older) == SLUICE_OK);
    CHECK(older.struct_size == offsetof(sluice_report_t, phase_peak_bytes));
    CHECK(older.phase_peak_bytes[SLUICE_PHASE_EMIT] == 0);
    CHECK(older.latency_cycles == report.latency_cycles);
  }
}

}  // namespace
}  // namespace sluice_test
