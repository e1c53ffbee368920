// SPDX-License-Identifier: Apache-2.0
// Hand-made bad input, and the message about it.
#include <doctest/doctest.h>

#include <string>

#include "support/library.h"
#include "support/random_graph.h"
#include "tests/io/good_graph.h"

namespace sluice_test {
namespace {

TEST_CASE("a scratchpad below one element or below a budget's need says how much") {
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(GoodGraph()));
  MachineSpec spec = MakeRandomMachine(1);
  spec.base.scratchpad_bytes = 1;
  const HardwarePtr hardware = library.Hardware(MachineBytes(spec));
  CHECK(library.Schedule(graph, hardware) == nullptr);
  CHECK(library.status == SLUICE_INFEASIBLE);
  CHECK(library.diagnostic.layer == 0);
  CHECK(library.diagnostic.available_bytes == 1);
  CHECK(library.diagnostic.required_bytes > 1);
  CHECK(library.diagnostic.smallest_scratchpad_bytes ==
        library.diagnostic.required_bytes);
  const std::string message = library.diagnostic.message;
  CHECK(message ==
        "layer 0 (conv): its smallest tile needs 320 bytes of scratchpad, 1 are "
        "available, 319 too few; the graph needs 320");
  const uint64_t needed = library.diagnostic.required_bytes;
  // The chip has enough scratchpad; the call's budget is one byte too small.
  spec.base.scratchpad_bytes = 32768;
  const HardwarePtr enough = library.Hardware(MachineBytes(spec));
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.scratchpad_bytes = needed - 1;
  sluice_plan_t* plan = nullptr;
  CHECK(sluice_schedule(library.context.get(), graph.get(), enough.get(), &options,
                        &plan, &library.diagnostic) == SLUICE_INFEASIBLE);
  CHECK(plan == nullptr);
  CHECK(library.diagnostic.available_bytes == needed - 1);
  CHECK(library.diagnostic.required_bytes == needed);
}

TEST_CASE("a deadline of zero is none, one that has passed stops without a plan") {
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(GoodGraph()));
  MachineSpec spec = MakeRandomMachine(1);
  spec.base.scratchpad_bytes = 32768;
  const HardwarePtr hardware = library.Hardware(MachineBytes(spec));
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  sluice_plan_t* plan = nullptr;
  CHECK(sluice_schedule(library.context.get(), graph.get(), hardware.get(), &options,
                        &plan, &library.diagnostic) == SLUICE_OK);
  sluice_plan_destroy(plan);
  options.deadline_ns = 1;
  CHECK(sluice_schedule(library.context.get(), graph.get(), hardware.get(), &options,
                        &plan, &library.diagnostic) == SLUICE_STOPPED);
  CHECK(plan == nullptr);
  const std::string message = library.diagnostic.message;
  CHECK(message.find("the deadline passed, ") == 0);
  CHECK(message.find(" us after the start, before there was a plan") !=
        std::string::npos);
}

TEST_CASE("files of another kind, too short or from another address are told apart") {
  const Bytes good = GraphBytes(GoodGraph());
  Library library;
  Bytes bytes = good;
  bytes[4] = 'X';
  (void)library.Graph(bytes);
  CHECK(library.status == SLUICE_BAD_INPUT);
  CHECK(std::string(library.diagnostic.message) ==
        "wrong file identifier at byte 4; expected SLG1");
  (void)library.Hardware(good);
  CHECK(std::string(library.diagnostic.message) ==
        "wrong file identifier at byte 4; expected SLH1");
  (void)library.Plan(good);
  CHECK(std::string(library.diagnostic.message) ==
        "wrong file identifier at byte 4; expected SLP1");
  (void)library.Graph(Bytes(good.begin(), good.begin() + 11));
  CHECK(std::string(library.diagnostic.message) ==
        "the buffer has 11 bytes; the smallest valid one has 12");
  (void)library.Graph(Bytes(good.begin(), good.begin() + 100));
  CHECK(std::string(library.diagnostic.message) ==
        "the buffer is truncated or corrupt: an offset or length is out of range");
  // A misaligned pointer is no mistake: the bytes are copied.
  for (size_t shift = 1; shift < 8; ++shift) {
    Bytes shifted(shift);
    shifted.insert(shifted.end(), good.begin(), good.end());
    sluice_graph_t* graph = nullptr;
    CHECK(sluice_graph_create(library.context.get(), shifted.data() + shift,
                              good.size(), &graph, &library.diagnostic) == SLUICE_OK);
    sluice_graph_destroy(graph);
  }
}

TEST_CASE("a longer struct is accepted when its unknown tail is zero, else refused") {
  struct Longer {
    sluice_context_options_t options;
    uint64_t unknown;
  } longer;
  std::memset(static_cast<void*>(&longer), 0, sizeof longer);
  longer.options.struct_size = sizeof longer;
  {
    Library library(&longer.options);
    CHECK(library.status == SLUICE_OK);
  }
  longer.unknown = 1;
  {
    Library library(&longer.options);
    CHECK(library.status == SLUICE_BAD_ARGUMENT);
    CHECK(std::string(library.diagnostic.message) ==
          "struct_size is too small or an unknown field is set");
  }
  longer.options.struct_size = 3;
  Library library(&longer.options);
  CHECK(library.status == SLUICE_BAD_ARGUMENT);
}

TEST_CASE(
    "a bounded DRAM that cannot hold the tensors is named, not an internal error") {
  // DRAM, the descriptor's last level, gets a capacity.
  MachineSpec spec = MakeRandomMachine(1);
  spec.base.scratchpad_bytes = 32768;
  spec.dram_bytes = 1000;  // weights and fmaps take more
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(GoodGraph()));
  const HardwarePtr hardware = library.Hardware(MachineBytes(spec));
  REQUIRE(hardware != nullptr);
  CHECK(library.Schedule(graph, hardware) == nullptr);
  CHECK(library.status == SLUICE_INFEASIBLE);
  CHECK(library.diagnostic.available_bytes == 1000);
  CHECK(library.diagnostic.required_bytes > 1000);
  spec.dram_bytes = 1000000;
  const HardwarePtr enough = library.Hardware(MachineBytes(spec));
  CHECK(library.Schedule(graph, enough) != nullptr);
}

}  // namespace
}  // namespace sluice_test
