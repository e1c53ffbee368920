// SPDX-License-Identifier: Apache-2.0
// What the simulator reads of graphs, machines and plans: each limit at it and beyond it,
// lists that do not belong together, and what is in the lists.
#include "firmware-sim/wire.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/stream_builder.h"
#include "support/wire_builder.h"

namespace sluice_test {
namespace {

namespace fb = ::flatbuffers;
using sluice::wire::CreateLevel;

std::string GraphError(const Bytes& bytes) {
  sluice_sim::Graph graph;
  return ReadGraph(bytes.data(), bytes.size(), &graph);
}

std::string HardwareError(const Bytes& bytes) {
  sluice_sim::Hardware hardware;
  return ReadHardware(bytes.data(), bytes.size(), &hardware);
}

std::string HardwareError(const HardwareSpec& spec) {
  return HardwareError(HardwareBytes(spec));
}

// Tensors of one axis each, whose lists may be wrong.
struct Lists {
  size_t tensors = 2;
  std::vector<uint32_t> begin = {0, 1, 2};
  std::vector<int32_t> dims = {3, 4};
  std::vector<int32_t> least, most;  // of parameters
  bool has_begin = true;

  Bytes Graph() const {
    fb::FlatBufferBuilder b;
    const auto dtype = b.CreateVector(std::vector<uint8_t>(tensors, SLUICE_DTYPE_INT8));
    const auto kind = b.CreateVector(std::vector<uint8_t>(tensors, 1));
    const auto v_begin = b.CreateVector(begin);
    const auto v_dims = b.CreateVector(dims);
    const auto v_least = b.CreateVector(least), v_most = b.CreateVector(most);
    sluice::wire::GraphBuilder g(b);
    g.add_tensor_dtype(dtype);
    g.add_tensor_kind(kind);
    if (has_begin) g.add_tensor_dim_begin(v_begin);
    g.add_tensor_dims(v_dims);
    if (!least.empty()) g.add_parameter_min(v_least);
    if (!most.empty()) g.add_parameter_max(v_most);
    b.Finish(g.Finish(), sluice::wire::GraphIdentifier());
    return Finished(b);
  }
};

TEST_CASE("wire: a graph without anything, and one without optional lists") {
  fb::FlatBufferBuilder b;
  sluice::wire::GraphBuilder g(b);
  b.Finish(g.Finish(), sluice::wire::GraphIdentifier());
  CHECK(GraphError(Finished(b)) == "");
  sluice_sim::Graph graph;
  const Bytes bytes = Lists().Graph();
  REQUIRE(ReadGraph(bytes.data(), bytes.size(), &graph) == "");
  REQUIRE(graph.tensors.size() == 2);
  CHECK(graph.tensors[1].extent == sluice_sim::Extent{1, 1, 1, 4});
  CHECK(graph.tensors[1].source_offset == 0);
  CHECK(graph.data == nullptr);
  CHECK(graph.hash == sluice_sim::Fnv1a64(bytes.data(), bytes.size()));
}

TEST_CASE("wire: lists of other lengths than they say") {
  const std::string wrong = "lists of different lengths";
  const auto with = [](const std::vector<uint32_t>& begin, size_t tensors = 2) {
    Lists lists;
    lists.begin = begin;
    lists.tensors = tensors;
    return GraphError(lists.Graph());
  };
  CHECK(with({0, 1, 2}) == "");
  CHECK(with({0, 2, 2}) == "");
  CHECK(with({1, 2, 2}) == wrong);
  CHECK(with({0, 2, 1}) == wrong);
  CHECK(with({0, 3, 2}) == wrong);
  CHECK(with({0, 1, 1}) == wrong);
  CHECK(with({0, 1, 2, 2}) == wrong);
  CHECK(with({0, 2}) == wrong);
  CHECK(with({}, 0) == wrong);
  Lists none;
  none.has_begin = false;
  none.dims = {};
  CHECK(GraphError(none.Graph()) == wrong);
  Lists named;
  named.least = {1};
  CHECK(GraphError(named.Graph()) == "parameter ranges of different lengths");
  named.most = {1};
  CHECK(GraphError(named.Graph()) == "");
  named.most = {0};
  CHECK(GraphError(named.Graph()) == "parameter 0 has an empty or negative range");
}

// A buffer at an address that is a multiple of 4, not of 8.
TEST_CASE("wire: numbers of 8 bytes stand at addresses of 8") {
  Case c = ConvCase();
  const Bytes graph = c.Graph(), plan = c.Plan();
  for (const size_t shift : {size_t{0}, size_t{4}}) {
    const auto moved = [&](const Bytes& bytes) {
      std::vector<uint64_t> words(bytes.size() / 8 + 2);
      std::memcpy(reinterpret_cast<uint8_t*>(words.data()) + shift, bytes.data(),
                  bytes.size());
      return words;
    };
    const auto words = moved(graph), plan_words = moved(plan);
    sluice_sim::Graph read;
    const std::string want = shift == 0 ? "" : "misaligned offsets";
    CHECK(ReadGraph(reinterpret_cast<const uint8_t*>(words.data()) + shift,
                    graph.size(), &read) == want);
    sluice_sim::Plan read_plan;
    CHECK(ReadPlan(reinterpret_cast<const uint8_t*>(plan_words.data()) + shift,
                   plan.size(), c.graph.tensors.size(), &read_plan) == want);
  }
}

TEST_CASE("wire: encoded bytes are at most the tensor's, and at most 2^31 - 1") {
  const auto error = [](int32_t rows, uint64_t encoded) {
    GraphSpec g;
    g.tensors.push_back({{rows, 65536}, SLUICE_DTYPE_INT8, 3, 3, 0, encoded});
    return GraphError(GraphBytes(g));
  };
  const std::string wrong =
      "tensor 0: more encoded bytes than there are, or than 2^31 - 1";
  CHECK(error(1, 65536) == "");
  CHECK(error(1, 65537) == wrong);
  CHECK(error(65536, INT32_MAX) == "");
  CHECK(error(65536, uint64_t{INT32_MAX} + 1) == wrong);
}

TEST_CASE("wire: a tensor has up to four axes and 2^50 bytes") {
  const auto error = [](const std::vector<int32_t>& dims, uint8_t dtype) {
    GraphSpec g;
    g.tensors.push_back({dims, dtype, 1, 0, 0});
    return GraphError(GraphBytes(g));
  };
  const int32_t k = 1 << 10;
  CHECK(error({k, k, k, 1 << 20}, SLUICE_DTYPE_INT8) == "");
  CHECK(error({k, k, k, (1 << 20) + 1}, SLUICE_DTYPE_INT8) == "tensor 0: too large");
  CHECK(error({k, k, k, 1 << 18}, SLUICE_DTYPE_INT32) == "");
  CHECK(error({k, k, k, (1 << 18) + 1}, SLUICE_DTYPE_INT32) == "tensor 0: too large");
  CHECK(error({1, 1, 1, 1, 1}, SLUICE_DTYPE_INT8) == "tensor 0: more than four axes");
  CHECK(error({0}, SLUICE_DTYPE_INT8) == "tensor 0: an extent below 1");
}

TEST_CASE("wire: a layer has an output and a first input") {
  const auto error = [](const std::vector<uint32_t>& in,
                        const std::vector<uint32_t>& out) {
    GraphSpec g;
    g.tensors.push_back({{4}, SLUICE_DTYPE_INT8, 1, 0, 0});
    g.tensors.push_back({{4}, SLUICE_DTYPE_INT8, 2, 0, 0});
    g.layers.push_back({SLUICE_OP_MAXIMUM, in, out, {}});
    return GraphError(GraphBytes(g));
  };
  CHECK(error({0, 0}, {1}) == "");
  CHECK(error({0, SLUICE_NONE}, {1}) == "");
  const std::string none = "layer 0: no input or no output";
  CHECK(error({0, 0}, {}) == none);
  CHECK(error({SLUICE_NONE, 0}, {1}) == none);
  CHECK(error({}, {1}) == none);
  CHECK(error({0, 2}, {1}) == "layer 0: input out of range");
  CHECK(error({0, 0}, {2}) == "layer 0: output out of range");
}

// Levels and the array of a machine that is right otherwise.
Bytes Machine(size_t levels, uint32_t scratchpad,
              std::array<uint32_t, 3> kcp = {1, 1, 1}, uint32_t demands = 7) {
  fb::FlatBufferBuilder b;
  std::vector<fb::Offset<sluice::wire::Level>> list;
  for (size_t l = 0; l < levels; ++l) list.push_back(CreateLevel(b, 0, 100 + l));
  const auto v_levels = b.CreateVector(list);
  const auto array =
      sluice::wire::CreateArray(b, kcp[0], kcp[1], kcp[2], true, false, demands);
  sluice::wire::HardwareBuilder h(b);
  h.add_levels(v_levels);
  h.add_scratchpad_level(scratchpad);
  h.add_array(array);
  h.add_macs_per_cycle(1);
  h.add_vector_ops_per_cycle(1);
  h.add_dma_latency_cycles(1);
  b.Finish(h.Finish(), sluice::wire::HardwareIdentifier());
  return Finished(b);
}

TEST_CASE("wire: a machine has a scratchpad among two levels or more") {
  const std::string none = "no scratchpad or no DRAM level";
  CHECK(HardwareError(Machine(2, 0)) == "");
  CHECK(HardwareError(Machine(3, 1)) == "");
  CHECK(HardwareError(Machine(3, 2)) == "");
  CHECK(HardwareError(Machine(1, 0)) == none);
  CHECK(HardwareError(Machine(0, 0)) == none);
  CHECK(HardwareError(Machine(2, 2)) == none);
  sluice_sim::Hardware hardware;
  const Bytes bytes = Machine(3, 1, {4, 5, 6}, 5);
  REQUIRE(ReadHardware(bytes.data(), bytes.size(), &hardware) == "");
  CHECK(hardware.scratchpad_bytes == 101);
  CHECK(hardware.home[SLUICE_REGION_CONST].capacity == 102);
  CHECK(hardware.granules.k == 4);
  CHECK(hardware.granules.c == 1);
  CHECK(hardware.granules.p == 6);
  CHECK(HardwareError(Machine(2, 0, {0, 1, 1})) == "a granule of 0");
  CHECK(HardwareError(Machine(2, 0, {1, 0, 1})) == "a granule of 0");
  CHECK(HardwareError(Machine(2, 0, {1, 1, 0})) == "a granule of 0");
  CHECK(HardwareError(Machine(2, 0, {0, 0, 0}, 0)) == "");
}

TEST_CASE("wire: which regions memories off chip hold") {
  const auto error = [](uint32_t regions, bool read_only) {
    HardwareSpec spec;
    spec.memories = {MemorySpec{}};
    spec.memories[0].regions = regions;
    spec.memories[0].read_only = read_only;
    return HardwareError(spec);
  };
  const uint32_t constants = 1u << SLUICE_REGION_CONST,
                 input = 1u << SLUICE_REGION_INPUT;
  CHECK(error(constants, false) == "");
  CHECK(error(constants, true) == "");
  CHECK(error(constants | input, false) == "");
  CHECK(error(constants | input, true) ==
        "memory 0: read only, but holds more than constants");
  CHECK(error(input, true) == "memory 0: read only, but holds more than constants");
  const std::string wrong =
      "memory 0: no region, an unknown one, or one of another memory";
  CHECK(error(0, false) == wrong);
  CHECK(error(1u << SLUICE_REGION_GBUF, false) == wrong);
  CHECK(error(1u << SLUICE_REGION_COUNT, false) == wrong);
}

TEST_CASE("wire: latencies and rates reach 2^40, a memory's latency 2^30") {
  const uint64_t limit = uint64_t{1} << 40;
  const auto with = [](auto change) {
    HardwareSpec spec;
    spec.memories = {MemorySpec{}};
    spec.host = HostSpec();
    change(&spec);
    return HardwareError(spec);
  };
  const std::string general = "a latency or bandwidth out of range";
  const std::string memory = "memory 0: latency or bandwidth out of range";
  const std::string host = "the host's cycles or rates are out of range";
  for (const uint64_t over : {0, 1}) {
    const uint64_t at = limit + over;
    const auto expect = [&](const std::string& found, const std::string& error) {
      CHECK(found == (over != 0 ? error : ""));
    };
    expect(with([&](auto* s) { s->dma_latency_cycles = at; }), general);
    expect(with([&](auto* s) { s->hop_latency_cycles = at; }), general);
    expect(with([&](auto* s) { s->dram_denominator = at; }), general);
    expect(with([&](auto* s) { s->link_denominator = at; }), general);
    expect(with([&](auto* s) { s->memories[0].numerator = at; }), memory);
    expect(with([&](auto* s) { s->memories[0].denominator = at; }), memory);
    expect(with([&](auto* s) {
             s->memories[0].latency_cycles = (uint64_t{1} << 30) + over;
           }),
           memory);
    expect(with([&](auto* s) { s->host->call_cycles = at; }), host);
    expect(with([&](auto* s) { s->host->bytes_denominator = at; }), host);
    expect(with([&](auto* s) { s->host->ops_denominator = at; }), host);
    expect(with([&](auto* s) { s->node_cols = 1024 + static_cast<uint32_t>(over); }),
           "node count");
    expect(with([&](auto* s) { s->node_rows = 1024 + static_cast<uint32_t>(over); }),
           "node count");
  }
  CHECK(with([](auto* s) { s->memories[0].numerator = 0; }) == memory);
  CHECK(with([](auto* s) { s->memories[0].denominator = 0; }) == memory);
  CHECK(with([](auto* s) { s->node_rows = 0; }) == "node count");
  CHECK(with([](auto* s) { s->macs_per_cycle = 0; }) == "a peak of 0");
}

TEST_CASE("wire: each tensor of a plan has its own place and strides") {
  Case c = AddCase();
  const size_t tensors = c.graph.tensors.size();
  for (size_t t = 0; t < tensors; ++t) {
    const uint32_t n = 100 * static_cast<uint32_t>(t + 1);
    c.places[t] = {static_cast<uint8_t>(t), n, {n + 1, n + 2, n + 3, n + 4}};
  }
  const Bytes bytes = c.Plan();
  sluice_sim::Plan plan;
  REQUIRE(ReadPlan(bytes.data(), bytes.size(), tensors, &plan) == "");
  REQUIRE(plan.places.size() == tensors);
  for (size_t t = 0; t < tensors; ++t) {
    const int64_t n = 100 * static_cast<int64_t>(t + 1);
    CHECK(plan.places[t].region == static_cast<int>(t));
    CHECK(plan.places[t].offset == static_cast<uint64_t>(n));
    CHECK(plan.places[t].stride == sluice_sim::Extent{n + 1, n + 2, n + 3, n + 4});
  }
  const std::string wrong = "places of other tensors than the graph's";
  CHECK(ReadPlan(bytes.data(), bytes.size(), tensors + 1, &plan) == wrong);
  CHECK(ReadPlan(bytes.data(), bytes.size(), tensors - 1, &plan) == wrong);
}

}  // namespace
}  // namespace sluice_test
