// SPDX-License-Identifier: Apache-2.0
#include "sluice/sluice.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "support/stream_builder.h"

namespace {

using sluice_test::Bytes;

struct Objects {
  sluice_context_t* context = nullptr;
  sluice_graph_t* graph = nullptr;
  sluice_hardware_t* hardware = nullptr;
  sluice_diagnostic_t diagnostic = {};
  Bytes graph_bytes = sluice_test::ConvCase().Graph();
  Bytes hardware_bytes = sluice_test::ConvCase().Hardware();

  explicit Objects(const sluice_context_options_t* options = nullptr) {
    diagnostic.struct_size = sizeof diagnostic;
    REQUIRE(sluice_context_create(options, &context, &diagnostic) == SLUICE_OK);
    REQUIRE(sluice_graph_create(context, graph_bytes.data(), graph_bytes.size(), &graph,
                                &diagnostic) == SLUICE_OK);
    REQUIRE(sluice_hardware_create(context, hardware_bytes.data(),
                                   hardware_bytes.size(), &hardware,
                                   &diagnostic) == SLUICE_OK);
  }
  ~Objects() {
    sluice_hardware_destroy(hardware);
    sluice_graph_destroy(graph);
    sluice_context_destroy(context);
  }
  sluice_status_t Schedule(const sluice_schedule_options_t* options,
                           sluice_plan_t** plan) {
    return sluice_schedule(context, graph, hardware, options, plan, &diagnostic);
  }
  uint64_t LiveBytes() const {
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    REQUIRE(sluice_context_memory(context, &stats) == SLUICE_OK);
    return stats.live_bytes;
  }
};

Bytes PlanBytesOf(const sluice_plan_t* plan) {
  size_t size = 0;
  REQUIRE(sluice_plan_write(plan, nullptr, &size) == SLUICE_BUFFER_TOO_SMALL);
  Bytes bytes(size);
  size_t shorter = size - 1;
  REQUIRE(sluice_plan_write(plan, bytes.data(), &shorter) == SLUICE_BUFFER_TOO_SMALL);
  REQUIRE(shorter == size);
  REQUIRE(sluice_plan_write(plan, bytes.data(), &size) == SLUICE_OK);
  return bytes;
}

TEST_CASE("a plan survives a round trip through its bytes and verifies again") {
  Objects o;
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(nullptr, &plan) == SLUICE_OK);
  const Bytes bytes = PlanBytesOf(plan);
  sluice_plan_t* again = nullptr;
  REQUIRE(sluice_plan_create(o.context, bytes.data(), bytes.size(), &again,
                             &o.diagnostic) == SLUICE_OK);
  CHECK(sluice_verify(o.context, o.graph, o.hardware, again, &o.diagnostic) ==
        SLUICE_OK);
  CHECK(PlanBytesOf(again) == bytes);
  sluice_report_t first = {}, second = {};
  first.struct_size = second.struct_size = sizeof first;
  CHECK(sluice_plan_report(plan, &first) == SLUICE_OK);
  CHECK(sluice_plan_report(again, &second) == SLUICE_OK);
  // All but the memory it took to make the plan.
  CHECK(std::memcmp(&first, &second, offsetof(sluice_report_t, phase_peak_bytes)) == 0);
  CHECK(first.latency_cycles >= first.bound_latency_cycles);
  CHECK(first.energy_pj >= first.bound_energy_pj);
  sluice_plan_destroy(again);
  sluice_plan_destroy(plan);
}

TEST_CASE("the same inputs give the same bytes") {
  Objects one, two;
  sluice_plan_t *a = nullptr, *b = nullptr;
  REQUIRE(one.Schedule(nullptr, &a) == SLUICE_OK);
  REQUIRE(two.Schedule(nullptr, &b) == SLUICE_OK);
  CHECK(PlanBytesOf(a) == PlanBytesOf(b));
  sluice_plan_destroy(a);
  sluice_plan_destroy(b);
}

TEST_CASE("infeasible names layer, tensor, bytes and the scratchpad that works") {
  Objects o;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.scratchpad_bytes = 1;
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(&options, &plan) == SLUICE_INFEASIBLE);
  CHECK(plan == nullptr);
  CHECK(o.diagnostic.layer == 0);
  CHECK(o.diagnostic.tensor != SLUICE_NO_INDEX);
  CHECK(o.diagnostic.available_bytes == 1);
  CHECK(o.diagnostic.required_bytes > 1);
  CHECK(std::string(o.diagnostic.message).find("bytes of scratchpad") !=
        std::string::npos);
  options.scratchpad_bytes = o.diagnostic.smallest_scratchpad_bytes;
  REQUIRE(o.Schedule(&options, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
  options.scratchpad_bytes -= 1;
  CHECK(o.Schedule(&options, &plan) == SLUICE_INFEASIBLE);
}

TEST_CASE("every object gives its memory back") {
  Objects o;
  const uint64_t before = o.LiveBytes();
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(nullptr, &plan) == SLUICE_OK);
  CHECK(o.LiveBytes() > before);
  sluice_plan_destroy(plan);
  CHECK(o.LiveBytes() == before);
}

TEST_CASE("null pointers, short structs and unknown tails are bad arguments") {
  Objects o;
  sluice_plan_t* plan = nullptr;
  CHECK(sluice_schedule(o.context, nullptr, o.hardware, nullptr, &plan,
                        &o.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_schedule(o.context, o.graph, o.hardware, nullptr, nullptr,
                        &o.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_context_create(nullptr, nullptr, nullptr) == SLUICE_BAD_ARGUMENT);
  sluice_schedule_options_t zero = {};  // struct_size 0
  CHECK(o.Schedule(&zero, &plan) == SLUICE_BAD_ARGUMENT);

  struct Newer {  // of a library to come
    sluice_schedule_options_t known;
    uint64_t unknown;
  } newer = {};
  newer.known.struct_size = sizeof newer;
  CHECK(o.Schedule(&newer.known, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
  newer.unknown = 1;
  CHECK(o.Schedule(&newer.known, &plan) == SLUICE_BAD_ARGUMENT);

  sluice_schedule_options_t solver = {};
  solver.struct_size = sizeof solver;
  solver.solver = 99;
  CHECK(o.Schedule(&solver, &plan) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(o.diagnostic.message).find("99") != std::string::npos);
  sluice_schedule_options_t progress = {};
  progress.struct_size = sizeof progress;
  progress.progress = [](void*, uint64_t, double) { return int32_t{0}; };
  CHECK(o.Schedule(&progress, &plan) == SLUICE_OK);
  sluice_plan_destroy(plan);
  sluice_report_t report = {};
  CHECK(sluice_plan_report(nullptr, &report) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(sluice_status_name(SLUICE_INFEASIBLE)) == "infeasible");
  CHECK(std::string(sluice_status_name(77)) == "unknown");
}

TEST_CASE("a context in a caller's block works and refuses when the block is full") {
  std::vector<char> block(512 * 1024);
  sluice_context_options_t options = {};
  options.struct_size = sizeof options;
  options.block = block.data();
  options.block_bytes = block.size();
  Objects o(&options);
  CHECK(reinterpret_cast<char*>(o.context) >= block.data());
  CHECK(reinterpret_cast<char*>(o.context) < block.data() + block.size());
  std::vector<sluice_plan_t*> plans;
  sluice_status_t status = SLUICE_OK;
  while (status == SLUICE_OK && plans.size() < 10000) {
    sluice_plan_t* plan = nullptr;
    status = o.Schedule(nullptr, &plan);
    if (status == SLUICE_OK) plans.push_back(plan);
  }
  CHECK(status == SLUICE_OUT_OF_MEMORY);
  REQUIRE(!plans.empty());
  for (sluice_plan_t* plan : plans) sluice_plan_destroy(plan);
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(nullptr, &plan) == SLUICE_OK);  // all of it came back
  sluice_plan_destroy(plan);
}

TEST_CASE(
    "a cancelled or expired call before the first plan is stopped, not infeasible") {
  Objects o;
  const uint32_t cancel = 1;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.cancel = &cancel;
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(&options, &plan) == SLUICE_STOPPED);
  options.cancel = nullptr;
  options.deadline_ns = 1;
  CHECK(o.Schedule(&options, &plan) == SLUICE_STOPPED);
}

}  // namespace
