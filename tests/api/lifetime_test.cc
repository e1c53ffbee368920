// SPDX-License-Identifier: Apache-2.0
// What sluice.h says about lifetimes. Sanitizers watch the same tests.
#include <doctest/doctest.h>

#include <vector>

#include "support/library.h"
#include "support/recording_allocator.h"
#include "support/stream_builder.h"

namespace sluice_test {
namespace {

GraphPtr ConvGraph(Library* library) {
  const Bytes bytes = ConvCase().Graph();
  return library->Graph(bytes);  // which are gone when this returns
}

HardwarePtr ConvHardware(Library* library) {
  const Bytes bytes = ConvCase().Hardware();
  return library->Hardware(bytes);
}

std::vector<uint8_t> PlanBytes() {
  Library library;
  const GraphPtr graph = ConvGraph(&library);
  const HardwarePtr hardware = ConvHardware(&library);
  return BytesOf(library.Schedule(graph, hardware));
}

TEST_CASE("destroying nothing does nothing") {
  sluice_graph_destroy(nullptr);
  sluice_hardware_destroy(nullptr);
  sluice_plan_destroy(nullptr);
  sluice_context_destroy(nullptr);
  CHECK(sluice_graph_hash(nullptr) == 0);
  CHECK(sluice_hardware_hash(nullptr) == 0);
}

TEST_CASE("a graph needs the bytes it was made from no longer") {
  Library library;
  const GraphPtr graph = ConvGraph(&library);
  const HardwarePtr hardware = ConvHardware(&library);
  REQUIRE(graph != nullptr);
  REQUIRE(hardware != nullptr);
  CHECK(BytesOf(library.Schedule(graph, hardware)) == PlanBytes());
}

TEST_CASE("a plan outlives its graph, its hardware and the plan it was made from") {
  Library library;
  PlanPtr plan, next;
  sluice_change_t change = {};
  change.struct_size = sizeof change;
  {
    const GraphPtr graph = ConvGraph(&library);
    const HardwarePtr hardware = ConvHardware(&library);
    plan = library.Schedule(graph, hardware);
    REQUIRE(plan != nullptr);
    sluice_reschedule_options_t options = {};
    options.struct_size = sizeof options;
    options.previous = plan.get();
    options.change = &change;
    sluice_plan_t* made = nullptr;
    REQUIRE(sluice_reschedule(library.context.get(), graph.get(), hardware.get(),
                              &options, &made, &library.diagnostic) == SLUICE_OK);
    next.reset(made);
  }
  const std::vector<uint8_t> bytes = BytesOf(plan);
  CHECK(bytes == PlanBytes());
  plan.reset();
  CHECK(ReportOf(next).latency_cycles > 0);
  const GraphPtr graph = ConvGraph(&library);
  CHECK(library.Verify(graph, ConvHardware(&library), next) == SLUICE_OK);
}

TEST_CASE("objects outlive their context, whose memory goes with the last of them") {
  const std::vector<uint8_t> expected = PlanBytes();
  RecordingAllocator memory;
  const sluice_context_options_t options = memory.Options();
  Library library(&options);
  GraphPtr graph = ConvGraph(&library);
  HardwarePtr hardware = ConvHardware(&library);
  PlanPtr plan = library.Schedule(graph, hardware);
  REQUIRE(plan != nullptr);
  library.context.reset();
  CHECK(BytesOf(plan) == expected);
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  CHECK(sluice_graph_count(graph.get(), &counts) == SLUICE_OK);
  CHECK(counts.layers == 1);
  graph.reset();
  plan.reset();
  CHECK(memory.live_blocks() > 0);
  hardware.reset();
  CHECK(memory.live_blocks() == 0);
  CHECK(memory.sound());
}

TEST_CASE("a context without objects is given back at once") {
  RecordingAllocator memory;
  const sluice_context_options_t options = memory.Options();
  Library library(&options);
  CHECK(memory.live_blocks() > 0);
  library.context.reset();
  CHECK(memory.live_blocks() == 0);
  CHECK(memory.sound());
}

TEST_CASE("in a caller's block objects outlive their context as long as the block") {
  std::vector<char> block(512 * 1024);
  sluice_context_options_t options = {};
  options.struct_size = sizeof options;
  options.block = block.data();
  options.block_bytes = block.size();
  Library library(&options);
  const GraphPtr graph = ConvGraph(&library);
  const HardwarePtr hardware = ConvHardware(&library);
  const PlanPtr plan = library.Schedule(graph, hardware);
  REQUIRE(plan != nullptr);
  const std::vector<uint8_t> bytes = BytesOf(plan);
  library.context.reset();
  CHECK(BytesOf(plan) == bytes);
}

TEST_CASE("a call may read objects of another context, even of one that is gone") {
  Library one, other;
  const GraphPtr graph = ConvGraph(&one);
  const HardwarePtr hardware = ConvHardware(&one);
  CHECK(BytesOf(other.Schedule(graph, hardware)) == PlanBytes());
  one.context.reset();
  const PlanPtr plan = other.Schedule(graph, hardware);
  CHECK(BytesOf(plan) == PlanBytes());
  CHECK(other.Verify(graph, hardware, plan) == SLUICE_OK);
}

TEST_CASE("a call that fails leaves a null pointer, whatever stood there") {
  Library library;
  const GraphPtr graph = ConvGraph(&library);
  const HardwarePtr hardware = ConvHardware(&library);
  int something = 0;
  auto* plan = reinterpret_cast<sluice_plan_t*>(&something);
  CHECK(sluice_schedule(nullptr, graph.get(), hardware.get(), nullptr, &plan,
                        nullptr) == SLUICE_BAD_ARGUMENT);
  CHECK(plan == nullptr);
  plan = reinterpret_cast<sluice_plan_t*>(&something);
  CHECK(sluice_plan_create(library.context.get(), "no plan", 7, &plan, nullptr) ==
        SLUICE_BAD_INPUT);
  CHECK(plan == nullptr);
  auto* context = reinterpret_cast<sluice_context_t*>(&something);
  sluice_context_options_t both = {};
  both.struct_size = sizeof both;
  both.block = &something;
  both.block_bytes = sizeof something;
  CHECK(sluice_context_create(&both, &context, nullptr) == SLUICE_OUT_OF_MEMORY);
  CHECK(context == nullptr);
}

TEST_CASE("a diagnostic is written by every call, also when nothing is wrong") {
  Library library;
  library.diagnostic.message[0] = 'x';
  library.diagnostic.status = SLUICE_INTERNAL;
  const GraphPtr graph = ConvGraph(&library);
  REQUIRE(graph != nullptr);
  CHECK(library.diagnostic.status == SLUICE_OK);
}

}  // namespace
}  // namespace sluice_test
