// SPDX-License-Identifier: Apache-2.0
// A run as a whole: memory that it may take, limits to the byte, a second run with
// contention, states, and streams that take turns.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "judge_case.h"
#include "support/malloc_allocator.h"
#include "support/simulation.h"
#include "verify/cases.h"

namespace sluice_test {
namespace {

using sluice_sim::SimulateOptions;
using sluice_sim::SimulateResult;

// A case's bytes and the options of a functional run of them.
struct Ready {
  explicit Ready(const Case& c)
      : graph(c.Graph()), hardware(c.Hardware()), plan(c.Plan()) {
    options = SimulationOf(graph, hardware, plan);
    options.functional = true;
    options.max_memory_bytes = 1 << 20;
  }
  Ready(const Ready&) = delete;

  Bytes graph, hardware, plan;
  SimulateOptions options;
};

// All regions and their shadows, the scratchpad on each node, and each tensor once more.
TEST_CASE("simulate: memory is refused from one byte below what the run takes") {
  for (const Case& c : {ConvCase(), NodesCase(), AppendCase()}) {
    Ready ready(c);
    const uint64_t nodes = c.hardware.node_cols * c.hardware.node_rows;
    uint64_t need = 2 * (nodes - 1) * c.stream.region_bytes[SLUICE_REGION_GBUF];
    for (const uint64_t bytes : c.stream.region_bytes) need += 2 * bytes;
    for (const TensorSpec& t : c.graph.tensors) {
      uint64_t bytes = t.dtype == SLUICE_DTYPE_INT32 ? 4 : 1;
      for (const int32_t d : t.dims) bytes *= static_cast<uint64_t>(d);
      need += bytes;
    }
    ready.options.parameters = {1};
    ready.options.max_memory_bytes = need;
    const SimulateResult enough = Simulate(ready.options);
    INFO(enough.error);
    CHECK(enough.ok);
    ready.options.max_memory_bytes = need - 1;
    CHECK(Simulate(ready.options).error_code == "memory");
  }
}

TEST_CASE("simulate: what just reaches a limit is not beyond it") {
  const auto error = [](auto change) {
    Case c = ConvCase();
    change(&c);
    return Judge(c).error;
  };
  const auto region = [&](uint64_t bytes) {
    return error(
        [&](Case* c) { c->stream.region_bytes[SLUICE_REGION_WORKSPACE] = bytes; });
  };
  CHECK(region((uint64_t{1} << 48) + 1) == "region 5 beyond every address");
  CHECK(region(uint64_t{1} << 48) == "needs more than max_memory_bytes");
  const auto base = [&](uint32_t low) {
    return error([&](Case* c) {
      c->stream.bindings[2].base_hi = 1u << 16;
      c->stream.bindings[2].base_lo = low;
    });
  };
  CHECK(base(1) == "slot 2 beyond every region");
  CHECK(base(0) != "slot 2 beyond every region");
  const auto attributes = [&](uint32_t count) {
    return error([&](Case* c) {
      c->stream.kernels[0].attribute_count = static_cast<uint16_t>(count);
      c->stream.attributes.resize(c->stream.kernels[0].first_attribute + count);
    });
  };
  CHECK(attributes(65) == "kernel 0 has more than 64 attributes");
  CHECK(attributes(64) == "");
}

TEST_CASE("simulate: a memory off chip has room for its regions, to the byte") {
  const auto exceeds = [](uint64_t capacity, uint64_t encoded_bytes) {
    Case c = ConvCase();
    c.hardware.memories = {MemorySpec{}};
    c.hardware.memories[0].capacity_bytes = capacity;
    c.graph.tensors[1].encoded_bytes = encoded_bytes;
    return Judge(c).error.find("exceed its capacity") != std::string::npos;
  };
  CHECK_FALSE(exceeds(672, 0));
  CHECK(exceeds(671, 0));
  // 500 of the weights' 576 bytes leave 76 free.
  CHECK_FALSE(exceeds(596, 500));
  CHECK(exceeds(595, 500));
}

TEST_CASE("simulate: the run with contention is a second one") {
  for (const bool asked : {false, true}) {
    Ready ready(NodesCase());
    ready.options.contention = asked;
    int events = 0, contended = 0;
    ready.options.trace = [&](const auto&) { ++events; };
    ready.options.contended_trace = [&](const auto&) { ++contended; };
    const SimulateResult r = Simulate(ready.options);
    CHECK(r.ok);
    CHECK(events == 5);
    CHECK(contended == (asked ? 5 : 0));
    CHECK(r.contended_cycles == (asked ? r.cycles : 0));
    // The link to the right: 64 bytes of the second load at 4 per cycle, and 64 that are
    // forwarded at 8.
    CHECK(r.busiest_link_cycles == (asked ? 16 + 8 : 0));
  }
}

TEST_CASE("simulate: a graph's states go in and come out") {
  Ready ready(AppendCase());
  std::vector<std::vector<uint8_t>> states = {std::vector<uint8_t>(32)};
  std::iota(states[0].begin(), states[0].end(), uint8_t{100});
  const std::vector<uint8_t> before = states[0];
  const std::vector<std::vector<uint8_t>> inputs = {{1, 2, 3, 4, 5, 6, 7, 8}};
  SimulateOptions options = ready.options;
  options.state_tensors = &states;
  options.inputs = &inputs;
  options.parameters = {3};
  const SimulateResult r = RunReference(options);
  INFO(r.error);
  REQUIRE(r.ok);
  REQUIRE(states.size() == 1);
  std::vector<uint8_t> want = before;
  std::copy(inputs[0].begin(), inputs[0].end(), want.begin() + 3 * 4);
  CHECK(states[0] == want);
  // A state that is not given begins with its initial bytes.
  states.clear();
  CHECK(RunReference(options).ok);
  REQUIRE(states.size() == 1);
  CHECK(states[0].size() == 32);
  states = {std::vector<uint8_t>(31)};
  CHECK(RunReference(options).error == "state 0 needs 32 bytes");
  states = {std::vector<uint8_t>(32), std::vector<uint8_t>(32)};
  CHECK(RunReference(options).ok);
  options.parameters = {0};
  CHECK(RunReference(options).error_code == "input");
  options.parameters = {7};
  CHECK(RunReference(options).error_code == "input");
  for (const int32_t position : {1, 6}) {
    options.parameters = {position};
    CHECK(RunReference(options).ok);
  }
  options.max_memory_bytes = 32 + 8 + 8;
  CHECK(RunReference(options).ok);
  --options.max_memory_bytes;
  CHECK(RunReference(options).error_code == "memory");
}

// The bytes of a stream's STATE region, of a run of the stream.
TEST_CASE("simulate: a stream's states go in and come out") {
  Ready ready(AppendCase());
  std::vector<uint8_t> state(32, 9);
  const std::vector<std::vector<uint8_t>> inputs = {{1, 2, 3, 4, 5, 6, 7, 8}};
  ready.options.state = &state;
  ready.options.inputs = &inputs;
  ready.options.parameters = {2};
  const SimulateResult r = Simulate(ready.options);
  INFO(r.error);
  CHECK(r.ok);
  std::vector<uint8_t> want(32, 9);
  std::copy(inputs[0].begin(), inputs[0].end(), want.begin() + 2 * 4);
  CHECK(state == want);
  state.resize(31);
  CHECK(Simulate(ready.options).error_code == "input");
  state.clear();
  CHECK(Simulate(ready.options).ok);
  CHECK(state.size() == 32);
}

sluice_sim::TogetherResult Together(const std::vector<Case>& cases,
                                    const std::vector<sluice_sim::Turn>& turns,
                                    bool functional = true) {
  std::vector<Ready*> ready;
  std::vector<SimulateOptions> options;
  for (const Case& c : cases) {
    ready.push_back(new Ready(c));
    options.push_back(ready.back()->options);
    options.back().functional = functional;
  }
  sluice_sim::TogetherResult r = SimulateTogether(options, turns);
  for (const Ready* each : ready) delete each;
  return r;
}

TEST_CASE("simulate: streams take turns in one scratchpad") {
  const std::vector<Case> both = {InTwoInstances(), ConvCase()};
  for (const bool functional : {false, true}) {
    CAPTURE(functional);
    const auto r = Together(both, {{0, 0, 2}, {1, 0, 1}}, functional);
    INFO(r.error);
    REQUIRE(r.ok);
    CHECK(r.error_stream == sluice_sim::kNowhere);
    CHECK(r.error == "");
    REQUIRE(r.turn_cycles.size() == 2);
    CHECK(r.turn_cycles[0] == Judge(both[0]).cycles);
    CHECK(r.turn_cycles[1] == Judge(both[1]).cycles);
    CHECK(r.cycles == r.turn_cycles[0] + r.turn_cycles[1]);
    CHECK(r.streams[0].cycles == r.turn_cycles[0]);
    CHECK(r.streams[1].cycles == r.cycles);
    for (const SimulateResult& stream : r.streams) {
      CHECK(stream.ok);
      CHECK((stream.compared_bytes > 0) == functional);
    }
  }
  const auto apart = Together(both, {{1, 0, 1}, {0, 0, 1}, {0, 1, 2}});
  CHECK(apart.ok);
  CHECK(apart.turn_cycles.size() == 3);
  // The convolution overwrites what the first stream has loaded.
  const auto foreign = Together(both, {{0, 0, 1}, {1, 0, 1}, {0, 1, 2}});
  CHECK_FALSE(foreign.ok);
  CHECK(foreign.error_stream == 0);
  CHECK(foreign.streams[0].error_code == "undefined");
  CHECK(foreign.error == foreign.streams[0].error);
  CHECK(foreign.error != "");
}

TEST_CASE("simulate: turns that are none, and streams that cannot take any") {
  const std::vector<Case> both = {InTwoInstances(), ConvCase()};
  const auto says = [&](const std::vector<sluice_sim::Turn>& turns, uint32_t stream,
                        const std::string& error) {
    const auto r = Together(both, turns);
    CHECK_FALSE(r.ok);
    CHECK(r.error == error);
    if (stream != 9) CHECK(r.error_stream == stream);
  };
  says({{2, 0, 1}}, 9, "a turn names a stream that does not exist");
  const std::string next = "a turn does not start at its stream's next visit";
  says({{0, 1, 2}}, 0, next);
  says({{0, 0, 3}}, 0, next);
  says({{1, 0, 1}, {1, 0, 1}}, 1, next);
  says({{0, 0, 2}}, 1, "the turns end before the stream");
  says({{0, 0, 1}, {1, 0, 1}}, 0, "the turns end before the stream");
  CHECK_FALSE(Together({}, {}).ok);
  const auto mesh = Together({ConvCase(), NodesCase()}, {{0, 0, 1}, {1, 0, 1}});
  CHECK(mesh.error == "streams take turns on one node only");
  CHECK(mesh.error_stream == 1);
  Case broken = ConvCase();
  broken.stream.bindings[2].base_hi = 1u << 17;
  CHECK(Together({broken, ConvCase()}, {}).error_stream == 0);
}

TEST_CASE("simulate: given states are all of a graph's") {
  Case c = AppendCase();
  c.graph.tensors.push_back({{4}, SLUICE_DTYPE_INT8, 4, 0, 0});
  const Bytes graph = c.Graph();
  SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.parameters = {1};
  std::vector<std::vector<uint8_t>> states = {std::vector<uint8_t>(32)};
  options.state_tensors = &states;
  CHECK(RunReference(options).error == "state 1 needs 4 bytes");
  states.emplace_back(4, uint8_t{7});
  states.pop_back();  // its bytes are still there, behind the list's end
  CHECK(RunReference(options).error == "state 1 needs 4 bytes");
  states.emplace_back(4, uint8_t{7});
  CHECK(RunReference(options).ok);
  REQUIRE(states.size() == 2);
  CHECK(states[1] == std::vector<uint8_t>(4, 7));
}

TEST_CASE("simulate: hand-made streams give right bytes, in time and in any order") {
  for (const Case& c : {ConvCase(), AccumulateCase(), AddCase(), LoopCase(),
                        ConcatCase(), NodesCase(), AppendCase()}) {
    Ready ready(c);
    ready.options.parameters = {3};
    for (uint64_t order = 0; order <= 6; ++order) {
      CAPTURE(order);
      ready.options.interleaving = order;
      const SimulateResult r = Simulate(ready.options);
      INFO(r.error);
      CHECK(r.ok);
      CHECK(r.compared_bytes > 0);
      CHECK((r.claims.size() == 9) == (order == 0));
    }
  }
}

TEST_CASE(
    "simulate: without data, states have places and what stays on the chip none") {
  Case c = AppendCase();
  CHECK(Judge(c, false).ok);
  c.places[0].offset = uint64_t{1} << 63;
  CHECK(Judge(c, false).error_code == "plan");
  c = ConcatCase();
  for (const int inner : {3, 4, 6, 7}) c.places[inner].offset = uint64_t{1} << 63;
  CHECK(Judge(c, false).ok);
}

TEST_CASE("simulate: rows are gathered by an index inside the table") {
  Ready ready(GatherHostCase());
  const std::map<std::string, sluice_sim::HostFunction> functions = {
      {"", [](const std::vector<sluice_sim::HostOperand>& in,
              const std::vector<sluice_sim::HostOperand>& out) {
         *out[0].bytes = *in[0].bytes;
         return std::string();
       }}};
  ready.options.host_functions = &functions;
  const auto run = [&](const std::vector<int32_t>& index) {
    std::vector<std::vector<uint8_t>> inputs(1);
    inputs[0].resize(4 * index.size());
    std::memcpy(inputs[0].data(), index.data(), inputs[0].size());
    ready.options.inputs = &inputs;
    return Simulate(ready.options);
  };
  for (const std::vector<int32_t>& index :
       {std::vector<int32_t>{0, 9, 4}, {5, 5, 1}, {9, 0, 8}}) {
    const SimulateResult r = run(index);
    INFO(r.error);
    CHECK(r.ok);
    CHECK(r.compared_bytes == 24);
  }
  for (const int32_t wrong : {-1, 10, 1 << 20}) {
    const SimulateResult r = run({0, wrong, 1});
    CHECK(r.error_code == "index");
    CHECK(r.error == "row " + std::to_string(wrong) + " of 10");
  }
}

}  // namespace
}  // namespace sluice_test
