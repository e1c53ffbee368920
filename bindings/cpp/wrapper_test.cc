// SPDX-License-Identifier: Apache-2.0
// The C++ wrapper: what it builds is what the library reads; owners release everything,
// in any order; errors carry the diagnostic.
#include <doctest/doctest.h>

#include <cstdlib>

#include "sluice/sluice.hpp"

namespace {

std::vector<uint8_t> Machine(uint64_t scratchpad = 4096) {
  sluice::HardwareBuilder machine;
  machine.name = "small";
  machine.levels.resize(2);
  machine.levels[0].name = "SRAM";
  machine.levels[0].capacity_bytes = scratchpad;
  machine.levels[0].bytes_per_cycle_numerator = 16;
  machine.levels[1].name = "DRAM";
  machine.levels[1].read_pj_per_bit = 20;
  machine.levels[1].write_pj_per_bit = 20;
  machine.levels[1].bytes_per_cycle_numerator = 1;
  machine.fanouts.push_back({"macs", 0, 8, 2, true, true, false, 0.5, 0.25});
  machine.macs_per_cycle = 8;
  machine.mac_pj = 0.3;
  machine.vector_ops_per_cycle = 8;
  machine.vector_op_pj = 0.1;
  return machine.Bytes();
}

// Two fully connected layers, the second with its constants inline.
std::vector<uint8_t> Network() {
  sluice::GraphBuilder g("two layers");
  const std::vector<uint8_t> weight(10 * 32, 3);
  const std::vector<uint8_t> parameters(10 * 3 * 4, 0);
  const uint32_t in = g.Input("in", {1, 64});
  const uint32_t w0 = g.Seeded("w0", {32, 64}, SLUICE_DTYPE_INT8, 1);
  const uint32_t p0 = g.Seeded("", {32, 3}, SLUICE_DTYPE_INT32, 2);
  const uint32_t mid = g.Intermediate("mid", {1, 32});
  const uint32_t w1 = g.Constant("w1", {10, 32}, SLUICE_DTYPE_INT8, weight);
  const uint32_t p1 = g.Constant("p1", {10, 3}, SLUICE_DTYPE_INT32, parameters);
  const uint32_t out = g.Output("out", {1, 10});
  std::vector<int32_t> attributes(SLUICE_CONV_ATTRIBUTES);
  attributes[SLUICE_CONV_ACT_MIN] = -128;
  attributes[SLUICE_CONV_ACT_MAX] = 127;
  g.Layer("first", SLUICE_OP_FULLY_CONNECTED, {in, w0, p0}, {mid}, attributes);
  g.Layer("second", SLUICE_OP_FULLY_CONNECTED, {mid, w1, p1}, {out}, attributes);
  return g.Bytes();
}

struct Heap {
  int64_t live = 0, calls = 0;
  sluice_allocator_t allocator = {sizeof(sluice_allocator_t), 0, this, &Allocate,
                                  &Release};
  static void* Allocate(void* user, size_t bytes, size_t alignment) {
    void* p = nullptr;
    if (posix_memalign(&p, alignment < 16 ? 16 : alignment, bytes) != 0) return nullptr;
    static_cast<Heap*>(user)->live += static_cast<int64_t>(bytes);
    ++static_cast<Heap*>(user)->calls;
    return p;
  }
  static void Release(void* user, void* p, size_t bytes, size_t) {
    static_cast<Heap*>(user)->live -= static_cast<int64_t>(bytes);
    free(p);
  }
};

}  // namespace

TEST_CASE("what the builders write is read, scheduled and verified") {
  auto context = sluice::Context::Create();
  REQUIRE(context);
  auto graph = context->ReadGraph(Network());
  if (!graph) FAIL(graph.error().message());
  auto hardware = context->ReadHardware(Machine());
  if (!hardware) FAIL(hardware.error().message());
  CHECK(graph->counts().tensors == 7);
  CHECK(graph->counts().layers == 2);
  sluice_tensor_info_t info = {};
  info.struct_size = sizeof info;
  REQUIRE(sluice_graph_tensor(graph->get(), 1, &info) == SLUICE_OK);
  CHECK(std::string(info.name, info.name_size) == "w0");
  CHECK(info.extent[2] == 32);
  CHECK(info.extent[3] == 64);
  CHECK(info.source == SLUICE_SOURCE_SEEDED);
  CHECK(info.source_offset == 1);

  auto plan = context->Schedule(*graph, *hardware);
  if (!plan) FAIL(plan.error().message());
  CHECK(plan->report().macs == 64 * 32 + 32 * 10);
  CHECK(plan->report().latency_cycles > 0);
  const sluice_certificate_t certificate = plan->certificate();
  CHECK(certificate.count == 2);
  CHECK(certificate.all.cycles ==
        certificate.layers[0].cycles + certificate.layers[1].cycles);
  CHECK(context->Verify(*graph, *hardware, *plan));
  auto again = context->ReadPlan(plan->bytes());
  REQUIRE(again);
  CHECK(again->stream().size() == plan->stream().size());
  CHECK(std::equal(again->stream().begin(), again->stream().end(),
                   plan->stream().begin()));
}

TEST_CASE("a plan for less scratchpad comes from the one before") {
  auto context = sluice::Context::Create();
  auto graph = context->ReadGraph(Network());
  auto hardware = context->ReadHardware(Machine());
  REQUIRE(graph);
  REQUIRE(hardware);
  auto plan = context->Schedule(*graph, *hardware);
  REQUIRE(plan);
  auto smaller = context->Reschedule(*plan, *graph, *hardware,
                                     sluice::ScheduleOptions().Scratchpad(2048));
  if (!smaller) FAIL(smaller.error().message());
  CHECK((smaller->change.changed & SLUICE_CHANGED_SCRATCHPAD) != 0);
  CHECK(smaller->change.layers_kept == 2);
  CHECK(smaller->plan.report().peak_buffer_bytes <= 2048);
  CHECK(context->Verify(*graph, *hardware, smaller->plan));
}

TEST_CASE("errors say what, where and how much, and nothing is left behind") {
  Heap heap;
  {
    auto context =
        sluice::Context::Create(sluice::ContextOptions().Allocator(&heap.allocator));
    REQUIRE(context);
    auto bad = context->ReadGraph(std::string_view("no graph at all"));
    REQUIRE_FALSE(bad);
    CHECK(bad.error().status() == SLUICE_BAD_INPUT);
    CHECK(std::string(bad.error().message()) != "");
    auto graph = context->ReadGraph(Network());
    auto hardware = context->ReadHardware(Machine());
    REQUIRE(graph);
    REQUIRE(hardware);
    auto plan =
        context->Schedule(*graph, *hardware, sluice::ScheduleOptions().Scratchpad(16));
    REQUIRE_FALSE(plan);
    CHECK(plan.error().infeasible());
    CHECK(plan.error().diagnostic.required_bytes > 16);
    CHECK(plan.error().diagnostic.available_bytes <= 16);
    // A cancelled call returns no plan, or the baseline plan.
    std::atomic<uint32_t> cancel{1};
    auto stopped =
        context->Schedule(*graph, *hardware, sluice::ScheduleOptions().Cancel(&cancel));
    if (!stopped) CHECK(stopped.error().stopped());
    auto chained = sluice::Context::Create().and_then(
        [](sluice::Context c) { return c.ReadHardware(std::string_view("none")); });
    CHECK(chained.error().status() == SLUICE_BAD_INPUT);
  }
  CHECK(heap.calls > 0);
  CHECK(heap.live == 0);
}

TEST_CASE("a plan outlives the names of its context, graph and hardware") {
  Heap heap;
  {
    std::vector<sluice::Plan> plans;
    {
      auto context =
          sluice::Context::Create(sluice::ContextOptions().Allocator(&heap.allocator));
      auto graph = context->ReadGraph(Network());
      auto hardware = context->ReadHardware(Machine());
      for (uint64_t seed = 0; seed < 3; ++seed) {
        auto plan =
            context->Schedule(*graph, *hardware, sluice::ScheduleOptions().Seed(seed));
        REQUIRE(plan);
        plans.push_back(*std::move(plan));
      }
    }
    plans.erase(plans.begin());
    std::swap(plans[0], plans[1]);
    plans[0] = std::move(plans[1]);
    CHECK(heap.live > 0);
    CHECK(plans[0].report().layers == 2);
    CHECK(plans[0].stream().size() > 0);
  }
  CHECK(heap.live == 0);
}

TEST_CASE("all memory lies in a given block, and a block too small is an error") {
  alignas(64) static uint8_t block[1 << 20];
  auto context =
      sluice::Context::Create(sluice::ContextOptions().Block(block, sizeof block));
  REQUIRE(context);
  auto graph = context->ReadGraph(Network());
  auto hardware = context->ReadHardware(Machine());
  REQUIRE(graph);
  REQUIRE(hardware);
  CHECK(context->Schedule(*graph, *hardware));
  CHECK(context->memory().peak_bytes <= sizeof block);
  alignas(64) static uint8_t tiny[64];
  auto small =
      sluice::Context::Create(sluice::ContextOptions().Block(tiny, sizeof tiny));
  REQUIRE_FALSE(small);
  CHECK(small.error().status() == SLUICE_OUT_OF_MEMORY);
}

TEST_CASE("a deadline is counted by the clock that the context was given") {
  uint64_t now = 0;
  const auto step = [](void* user) { return *static_cast<uint64_t*>(user) += 1000; };
  auto context = sluice::Context::Create(sluice::ContextOptions().Clock(step, &now));
  auto graph = context->ReadGraph(Network());
  auto hardware = context->ReadHardware(Machine());
  REQUIRE(graph);
  REQUIRE(hardware);
  CHECK(context->Schedule(*graph, *hardware));
  CHECK(now == 0);
  auto late = context->Schedule(
      *graph, *hardware,
      sluice::ScheduleOptions().Deadline(std::chrono::nanoseconds(2500)));
  REQUIRE_FALSE(late);
  CHECK(late.error().stopped());
}

TEST_CASE("a machine in C++ has rows of operators and a host, with or without queues") {
  for (const bool queues : {false, true}) {
    for (const bool host : {false, true}) {
      sluice::HardwareBuilder machine;
      machine.levels.resize(2);
      machine.levels[0].capacity_bytes = 4096;
      machine.levels[1].bytes_per_cycle_numerator = 1;
      machine.macs_per_cycle = machine.vector_ops_per_cycle = 8;
      if (queues) machine.queues.resize(1);
      machine.ops.resize(1);
      machine.ops[0].op = SLUICE_OP_ADD;
      if (host) machine.host.emplace().call_cycles = 77;
      auto context = sluice::Context::Create();
      REQUIRE(context);
      auto graph = context->ReadGraph(Network());
      auto hardware = context->ReadHardware(machine.Bytes());
      REQUIRE(graph);
      REQUIRE(hardware);
      auto plan = context->Schedule(*graph, *hardware);
      REQUIRE(static_cast<bool>(plan) == host);
      if (host) CHECK(plan->report().host_layers == 2);
      if (host) CHECK(plan->report().latency_cycles == 2 * 77);
    }
  }
}

TEST_CASE("a machine in C++ has memories off chip, a graph in C++ encoded weights") {
  sluice::HardwareBuilder machine;
  machine.levels.resize(2);
  machine.levels[0].capacity_bytes = 4096;
  machine.levels[1].bytes_per_cycle_numerator = 1;
  machine.macs_per_cycle = machine.vector_ops_per_cycle = 8;
  sluice::HardwareBuilder::Memory flash;
  flash.name = "flash";
  flash.regions = 2;
  flash.read_only = true;
  flash.bytes_per_cycle_numerator = 1;
  const auto read_bytes = [&](uint64_t encoded) -> uint64_t {
    sluice::GraphBuilder g;
    const uint32_t x = g.Input("x", {4, 32}), w = g.Seeded("w", {16, 32}, 1, 7);
    const uint32_t p = g.Seeded("p", {16, 3}, 4, 8), y = g.Output("y", {4, 16});
    g.Layer("fc", SLUICE_OP_FULLY_CONNECTED, {x, w, p}, {y});
    if (encoded != 0) g.Encoded(w, encoded);
    auto context = sluice::Context::Create();
    auto graph = context->ReadGraph(g.Bytes());
    auto hardware = context->ReadHardware(machine.Bytes());
    if (!graph || !hardware) return 0;
    auto plan = context->Schedule(*graph, *hardware);
    return plan ? plan->report().dram_read_bytes : 1;
  };
  const uint64_t plain = 4 * 32 + 16 * 32 + 16 * 12;
  CHECK(read_bytes(0) == plain);
  CHECK(read_bytes(100) == plain - 16 * 32 + 100);
  machine.memories = {flash};
  CHECK(read_bytes(100) == plain - 16 * 32 + 100);
  machine.memories[0].capacity_bytes = 100 + 16 * 12;
  CHECK(read_bytes(100) == plain - 16 * 32 + 100);
  CHECK(read_bytes(101) == 1);
}
