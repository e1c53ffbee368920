// SPDX-License-Identifier: Apache-2.0
// Contexts, and the names that the library has for things.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "objects.h"
#include "support/recording_allocator.h"

namespace sluice_test {
namespace {

TEST_CASE(
    "context: a context in a caller's block works and refuses when the block is full") {
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
  CHECK(o.Schedule(nullptr, &plan) == SLUICE_OK);  // the plans gave all memory back
  sluice_plan_destroy(plan);
}

std::string Refusal(const sluice_context_options_t* options) {
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  sluice_context_t* context = nullptr;
  CHECK(sluice_context_create(options, &context, &why) < 0);
  CHECK(context == nullptr);
  return why.message;
}

TEST_CASE("context: options that contradict each other are refused with a sentence") {
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  CHECK(sluice_context_create(nullptr, nullptr, &why) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(why.message) == "out_context must not be null");
  RecordingAllocator memory;
  sluice_context_options_t options = memory.Options();
  options.struct_size = 0;
  CHECK(Refusal(&options) == "struct_size is too small or an unknown field is set");
  char block[64];
  options = memory.Options();
  options.block = block;
  options.block_bytes = sizeof block;
  CHECK(Refusal(&options) == "give an allocator or a block, not both");
  options.allocator = nullptr;
  CHECK(Refusal(&options) == "the block is too small to hold a context");
  sluice_allocator_t half = *memory.interface();
  half.release = nullptr;
  options = memory.Options();
  options.allocator = &half;
  CHECK(Refusal(&options) == "the allocator lacks a function");
  memory.FailAt(1);
  options = memory.Options();
  CHECK(Refusal(&options) == "the allocator refused or max_bytes would be exceeded");
}

TEST_CASE("context: memory is counted from the first object to the last") {
  sluice_memory_stats_t stats = {};
  stats.struct_size = sizeof stats;
  CHECK(sluice_context_memory(nullptr, &stats) == SLUICE_BAD_ARGUMENT);
  sluice_context_t* context = nullptr;
  REQUIRE(sluice_context_create(nullptr, &context, nullptr) == SLUICE_OK);
  REQUIRE(sluice_context_memory(context, &stats) == SLUICE_OK);
  CHECK(stats.live_bytes == 0);
  CHECK(stats.allocations == 0);
  const Bytes bytes = ConvCase().Graph();
  sluice_graph_t* graph = nullptr;
  REQUIRE(sluice_graph_create(context, bytes.data(), bytes.size(), &graph, nullptr) ==
          SLUICE_OK);
  REQUIRE(sluice_context_memory(context, &stats) == SLUICE_OK);
  CHECK(stats.live_bytes > 0);
  CHECK(stats.peak_bytes >= stats.live_bytes);
  CHECK(stats.allocations > 0);
  sluice_graph_destroy(graph);
  REQUIRE(sluice_context_memory(context, &stats) == SLUICE_OK);
  CHECK(stats.live_bytes == 0);
  CHECK(stats.peak_bytes > 0);
  sluice_context_destroy(context);
}

TEST_CASE("context: what is reserved must be zero") {
  sluice_context_options_t options = {};
  options.struct_size = sizeof options;
  options.reserved = 1;
  sluice_context_t* context = nullptr;
  CHECK(sluice_context_create(&options, &context, nullptr) == SLUICE_BAD_ARGUMENT);
  options.reserved = 0;
  sluice_allocator_t allocator = {};
  allocator.struct_size = sizeof allocator;
  allocator.reserved = 1;
  options.allocator = &allocator;
  CHECK(sluice_context_create(&options, &context, nullptr) == SLUICE_BAD_ARGUMENT);
  CHECK(context == nullptr);
  Objects o;
  sluice_schedule_options_t chosen = {};
  chosen.struct_size = sizeof chosen;
  chosen.reserved = 1;
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(&chosen, &plan) == SLUICE_BAD_ARGUMENT);
}

TEST_CASE("context: a second call meanwhile, of another thread too, is answered") {
  Objects o;
  struct Second {
    Objects* o;
    sluice_status_t here, there;
    std::string message;
  } second = {&o, SLUICE_OK, SLUICE_OK, ""};
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.progress_user = &second;
  options.progress = [](void* user, uint64_t, double) {
    Second* s = static_cast<Second*>(user);
    const Bytes bytes = ConvCase().Graph();
    sluice_graph_t* graph = nullptr;
    sluice_diagnostic_t why = {};
    why.struct_size = sizeof why;
    s->here =
        sluice_graph_create(s->o->context, bytes.data(), bytes.size(), &graph, &why);
    s->message = why.message;
    std::thread other([&] {
      s->there = sluice_graph_create(s->o->context, bytes.data(), bytes.size(), &graph,
                                     nullptr);
    });
    other.join();
    return int32_t{0};
  };
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(&options, &plan) == SLUICE_OK);
  CHECK(second.here == SLUICE_BAD_ARGUMENT);
  CHECK(second.there == SLUICE_BAD_ARGUMENT);
  CHECK(second.message ==
        "the context is in use by another call; it serves one at a time");
  sluice_plan_destroy(plan);
  CHECK(o.Schedule(nullptr, &plan) == SLUICE_OK);  // the context is free again
  sluice_plan_destroy(plan);
}

TEST_CASE("context: every status has its name") {
  const struct {
    sluice_status_t status;
    const char* name;
  } names[] = {{SLUICE_OK, "ok"},
               {SLUICE_INFEASIBLE, "infeasible"},
               {SLUICE_STOPPED, "stopped"},
               {SLUICE_REJECTED, "rejected"},
               {SLUICE_BAD_ARGUMENT, "bad argument"},
               {SLUICE_BAD_INPUT, "bad input"},
               {SLUICE_UNSUPPORTED, "unsupported"},
               {SLUICE_OUT_OF_MEMORY, "out of memory"},
               {SLUICE_BUFFER_TOO_SMALL, "buffer too small"},
               {SLUICE_INTERNAL, "internal error"},
               {77, "unknown"}};
  for (const auto& entry : names) {
    CHECK(std::string(sluice_status_name(entry.status)) == entry.name);
  }
}

}  // namespace
}  // namespace sluice_test
