// SPDX-License-Identifier: Apache-2.0
// Hand-made bad input and what is said about it.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

constexpr uint8_t kI8 = SLUICE_DTYPE_INT8;

// A convolution and a requantisation behind it, both right.
GraphSpec GoodGraph() {
  GraphSpec g;
  g.tensors.push_back({{1, 8, 4, 8}, kI8, 1, 0, 0});
  g.tensors.push_back({{8, 3, 3, 8}, kI8, 3, 3, 11});
  g.tensors.push_back(g.Inline({8, 3}, SLUICE_DTYPE_INT32, ChannelParameters(8)));
  g.tensors.push_back({{1, 8, 4, 8}, kI8, 0, 0, 0});
  g.tensors.push_back({{1, 8, 4, 8}, kI8, 2, 0, 0});
  g.layers.push_back({SLUICE_OP_CONV,
                      {0, 1, 2},
                      {3},
                      {1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 0, -5, -128, 127}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {3}, {4}, {0, 1 << 30, 1, 0, -128, 127}});
  return g;
}

struct BadGraph {
  const char* name;
  std::function<void(GraphSpec*)> spoil;
  sluice_status_t status;
  const char* message;
};

TEST_CASE("each kind of bad graph gets its own sentence") {
  const std::vector<BadGraph> cases = {
      {"a cycle", [](GraphSpec* g) { g->layers[0].inputs[0] = 4; }, SLUICE_BAD_INPUT,
       "layer 0 reads a tensor that no earlier layer produces: a cycle, a missing "
       "layer or wrong order"},
      {"a missing tensor", [](GraphSpec* g) { g->layers[1].inputs[0] = 99; },
       SLUICE_BAD_INPUT, "layer 1 reads a tensor that does not exist"},
      {"an output that does not exist",
       [](GraphSpec* g) { g->layers[1].outputs[0] = 5; }, SLUICE_BAD_INPUT,
       "layer 1 writes a tensor that does not exist"},
      {"two writers", [](GraphSpec* g) { g->layers[1].outputs[0] = 3; },
       SLUICE_BAD_INPUT, "layer 1 writes a tensor a second time"},
      {"an overflowing shape",
       [](GraphSpec* g) {
         g->tensors[0].dims = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
       },
       SLUICE_BAD_INPUT, "the shape of tensor 0 overflows: more than 2^46 bytes"},
      {"an empty extent", [](GraphSpec* g) { g->tensors[0].dims[1] = 0; },
       SLUICE_BAD_INPUT, "tensor 0 has extent 0; every extent must be at least 1"},
      {"five axes",
       [](GraphSpec* g) {
         g->tensors[0].dims = {1, 1, 8, 4, 8};
       },
       SLUICE_UNSUPPORTED, "tensor 0 has 5 axes; this version takes up to 4"},
      {"an absurd stride", [](GraphSpec* g) { g->layers[0].attributes[0] = INT32_MAX; },
       SLUICE_BAD_INPUT,
       "layer 0 (conv): output extents do not follow from filter, stride, dilation and "
       "pads"},
      {"a negative stride", [](GraphSpec* g) { g->layers[0].attributes[1] = -1; },
       SLUICE_BAD_INPUT,
       "layer 0 (conv): output extents do not follow from filter, stride, dilation and "
       "pads"},
      {"an unknown op", [](GraphSpec* g) { g->layers[0].op = 999; }, SLUICE_BAD_INPUT,
       "layer 0 has unknown op 999"},
      {"an unknown dtype", [](GraphSpec* g) { g->tensors[3].dtype = 77; },
       SLUICE_BAD_INPUT, "tensor 3 has unknown dtype 77 or kind 0"},
      {"a constant without bytes", [](GraphSpec* g) { g->tensors[1].source = 0; },
       SLUICE_BAD_INPUT, "tensor 1 is constant but has no valid source"},
      {"inline bytes beyond the data",
       [](GraphSpec* g) { g->tensors[2].source_offset = 1; }, SLUICE_BAD_INPUT,
       "constant tensor 2 lies outside the inline data"},
      {"weights of another layer",
       [](GraphSpec* g) {
         g->tensors[1].dims = {8, 3, 3, 7};
       },
       SLUICE_BAD_INPUT, "layer 0 (conv): weight must be [K, R, S, C / groups]"},
      {"no output", [](GraphSpec* g) { g->tensors[4].kind = 0; }, SLUICE_BAD_INPUT,
       "the graph has no output tensor"},
      {"an output nobody writes", [](GraphSpec* g) { g->layers.pop_back(); },
       SLUICE_BAD_INPUT, "graph output 4 is produced by no layer"},
      {"nothing at all", [](GraphSpec* g) { *g = GraphSpec(); }, SLUICE_BAD_INPUT,
       "the graph has no tensors"},
  };
  for (const BadGraph& c : cases) {
    GraphSpec spec = GoodGraph();
    c.spoil(&spec);
    Library library;
    const GraphPtr graph = library.Graph(GraphBytes(spec));
    const std::string message = library.diagnostic.message;
    INFO(std::string(c.name) << ": " << message);
    CHECK(library.status == c.status);
    CHECK(library.diagnostic.status == c.status);
    CHECK(std::string(library.diagnostic.stage) == "graph");
    CHECK(message == c.message);
    CHECK(graph == nullptr);
  }
  Library library;
  CHECK(library.Graph(GraphBytes(GoodGraph())) != nullptr);
}

TEST_CASE("hard_swish and prelu: what keeps the kernels exact is checked") {
  GraphSpec good;
  good.tensors.push_back({{1, 4, 4, 8}, kI8, 1, 0, 0});
  good.tensors.push_back({{1, 1, 1, 8}, kI8, 3, 3, 11});
  good.tensors.push_back({{1, 4, 4, 8}, kI8, 0, 0, 0});
  good.tensors.push_back({{1, 4, 4, 8}, kI8, 2, 0, 0});
  good.layers.push_back({SLUICE_OP_HARD_SWISH, {0}, {2}, {3, -4, 16384, -6, 16384, 1}});
  good.layers.push_back(
      {SLUICE_OP_PRELU, {2, 1}, {3}, {-4, 0, 5, 1 << 30, 1, 1 << 30, -6, -128, 127}});
  const auto message = [](const GraphSpec& spec) {
    Library library;
    const GraphPtr graph = library.Graph(GraphBytes(spec));
    CHECK((graph == nullptr) == (library.status == SLUICE_BAD_INPUT));
    return std::string(library.diagnostic.message);
  };
  CHECK(message(good) == "");
  const auto with = [&](const std::function<void(GraphSpec*)>& spoil) {
    GraphSpec spec = good;
    spoil(&spec);
    return message(spec);
  };
  const std::string swish = "layer 0 (hard_swish): ", prelu = "layer 1 (prelu): ";
  const std::string zeros = swish + "zeros must lie in the dtype's range";
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[0] = 128; }) == zeros);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[1] = -129; }) == zeros);
  const std::string multipliers = swish + "multipliers must lie in 0 to 32767";
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[2] = 32768; }) == multipliers);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[4] = -1; }) == multipliers);
  const std::string shifts =
      swish + "shift must lie in -15 to 0, gate_shift in -15 to 15";
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[3] = 1; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[3] = -16; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[5] = 16; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[5] = -16; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->tensors[2].dtype = SLUICE_DTYPE_UINT8; }) ==
        swish + "dtype differs");
  CHECK(with([](GraphSpec* g) {
          g->tensors[1].dims = {1, 1, 1, 4};
        }) == prelu + "slopes do not fit");
  CHECK(with([](GraphSpec* g) { g->tensors[1].dtype = SLUICE_DTYPE_INT16; }) ==
        prelu + "operands must be 8 bit");
  CHECK(with([](GraphSpec* g) { g->layers[1].inputs.pop_back(); }) ==
        prelu + "wrong number of inputs");
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes.push_back(0); }) ==
        swish + "more attributes than the operator has");
}

TEST_CASE("each kind of bad machine gets its own sentence") {
  struct BadMachine {
    const char* name;
    std::function<void(MachineSpec*)> spoil;
    sluice_status_t status;
    const char* message;
  };
  const std::vector<BadMachine> cases = {
      {"zero bandwidth", [](MachineSpec* m) { m->base.dram_numerator = 0; },
       SLUICE_BAD_INPUT,
       "the DRAM level has bandwidth zero; it must be at least 1 byte per some cycles"},
      {"bandwidth over zero", [](MachineSpec* m) { m->base.dram_denominator = 0; },
       SLUICE_BAD_INPUT,
       "a level's bandwidth must be a rational of values up to 2^40 with a denominator "
       "of at least 1"},
      {"no scratchpad", [](MachineSpec* m) { m->base.scratchpad_bytes = 0; },
       SLUICE_BAD_INPUT, "the scratchpad has no capacity"},
      {"a huge scratchpad",
       [](MachineSpec* m) { m->base.scratchpad_bytes = uint64_t{1} << 33; },
       SLUICE_UNSUPPORTED, "scratchpads above 4 GiB are not supported"},
      {"odd alignment", [](MachineSpec* m) { m->base.alignment_bytes = 12; },
       SLUICE_BAD_INPUT, "level 0: alignment must be a power of two up to 4096"},
      {"no MACs", [](MachineSpec* m) { m->base.macs_per_cycle = 0; }, SLUICE_BAD_INPUT,
       "macs_per_cycle and vector_ops_per_cycle must be 1 to 2^40"},
      {"absurd latency",
       [](MachineSpec* m) { m->base.dma_latency_cycles = uint64_t{1} << 40; },
       SLUICE_BAD_INPUT, "latencies must be at most 2^30 cycles"},
      {"energy that is no number", [](MachineSpec* m) { m->dram_pj = -1; },
       SLUICE_BAD_INPUT, "level 1: energies must be finite and not negative"},
      {"a granule of three", [](MachineSpec* m) { m->dram_granule_bytes = 3; },
       SLUICE_BAD_INPUT,
       "dram_granule_bytes and dma_burst_bytes must be powers of two up to 4096"},
  };
  for (const BadMachine& c : cases) {
    MachineSpec spec = MakeRandomMachine(1);
    c.spoil(&spec);
    Library library;
    const HardwarePtr hardware = library.Hardware(MachineBytes(spec));
    const std::string message = library.diagnostic.message;
    INFO(std::string(c.name) << ": " << message);
    CHECK(library.status == c.status);
    CHECK(message == c.message);
    CHECK(hardware == nullptr);
  }
}

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
  // The same as a budget on a chip that has enough.
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
  // The descriptor's last level gets a capacity.
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
