// SPDX-License-Identifier: Apache-2.0
// The builders in C: what they make is what the builders in C++ make.
#include "sluice/build.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "bindings/cpp/sluice.hpp"
#include "sluice/graph_generated.h"
#include "sluice/presets.h"
#include "support/recording_allocator.h"

namespace {

using List = std::vector<uint8_t>;

template <typename T>
T Sized() {
  T made;
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.struct_size = sizeof made;
  return made;
}

const List& Weights() {
  static const List weights = [] {
    List w(8 * 3 * 3 * 4);
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<uint8_t>(i * 37);
    return w;
  }();
  return weights;
}

List Parameters() {
  std::vector<int32_t> rows;
  for (int32_t k = 0; k < 8; ++k) rows.insert(rows.end(), {k * 5, 1 << 30, -8});
  List bytes(rows.size() * 4);
  std::memcpy(bytes.data(), rows.data(), bytes.size());
  return bytes;
}

std::vector<int32_t> ConvAttributes() {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = 1;
  for (int i = SLUICE_CONV_PAD_TOP; i <= SLUICE_CONV_PAD_RIGHT; ++i) a[i] = 1;
  a[SLUICE_CONV_ACT_MIN] = -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  return a;
}

uint32_t AddTensor(sluice_graph_builder_t* b, const char* name, uint32_t kind,
                   std::vector<int32_t> dims) {
  sluice_tensor_t t = Sized<sluice_tensor_t>();
  t.name = name;
  t.kind = kind;
  t.dtype = SLUICE_DTYPE_INT8;
  t.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), t.dims);
  return sluice_graph_builder_tensor(b, &t);
}

uint32_t AddInline(sluice_graph_builder_t* b, const char* name, uint32_t dtype,
                   std::vector<int32_t> dims, const List& bytes) {
  sluice_tensor_t t = Sized<sluice_tensor_t>();
  t.name = name;
  t.kind = SLUICE_TENSOR_CONSTANT;
  t.dtype = dtype;
  t.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), t.dims);
  t.source = SLUICE_SOURCE_INLINE;
  t.bytes = bytes.data();
  t.byte_count = bytes.size();
  return sluice_graph_builder_tensor(b, &t);
}

void AddLayer(sluice_graph_builder_t* b, const char* name, uint32_t op,
              const std::vector<uint32_t>& inputs, uint32_t output,
              const std::vector<int32_t>& attributes) {
  sluice_layer_t l = Sized<sluice_layer_t>();
  l.name = name;
  l.op = op;
  l.inputs = inputs.data();
  l.input_count = static_cast<uint32_t>(inputs.size());
  l.outputs = &output;
  l.output_count = 1;
  l.attributes = attributes.data();
  l.attribute_count = static_cast<uint32_t>(attributes.size());
  sluice_graph_builder_layer(b, &l);
}

// A convolution and a maximum, in C.
sluice_graph_builder_t* SmallGraph() {
  sluice_graph_builder_t* b = sluice_graph_builder_create("small");
  const uint32_t x = AddTensor(b, "x", SLUICE_TENSOR_INPUT, {1, 16, 16, 4});
  const uint32_t w = AddInline(b, "w", SLUICE_DTYPE_INT8, {8, 3, 3, 4}, Weights());
  const uint32_t p = AddInline(b, "p", SLUICE_DTYPE_INT32, {8, 3}, Parameters());
  const uint32_t c = AddTensor(b, "c", SLUICE_TENSOR_INTERMEDIATE, {1, 16, 16, 8});
  const uint32_t z = AddTensor(b, "z", SLUICE_TENSOR_INPUT, {1, 16, 16, 8});
  const uint32_t y = AddTensor(b, "y", SLUICE_TENSOR_OUTPUT, {1, 16, 16, 8});
  AddLayer(b, "conv", SLUICE_OP_CONV, {x, w, p}, c, ConvAttributes());
  AddLayer(b, "max", SLUICE_OP_MAXIMUM, {c, z}, y, {});
  return b;
}

List SmallGraphInCpp() {
  sluice::GraphBuilder b("small");
  const uint32_t x = b.Input("x", {1, 16, 16, 4});
  const uint32_t w = b.Constant("w", {8, 3, 3, 4}, SLUICE_DTYPE_INT8, Weights());
  const uint32_t p = b.Constant("p", {8, 3}, SLUICE_DTYPE_INT32, Parameters());
  const uint32_t c = b.Intermediate("c", {1, 16, 16, 8});
  const uint32_t z = b.Input("z", {1, 16, 16, 8});
  const uint32_t y = b.Output("y", {1, 16, 16, 8});
  b.Layer("conv", SLUICE_OP_CONV, {x, w, p}, {c}, ConvAttributes());
  b.Layer("max", SLUICE_OP_MAXIMUM, {c, z}, {y});
  return b.Bytes();
}

sluice_hardware_builder_t* SmallMachine() {
  sluice_machine_t machine = Sized<sluice_machine_t>();
  machine.name = "small";
  machine.scratchpad_level = 0;
  machine.macs_per_cycle = 64;
  machine.vector_ops_per_cycle = 16;
  machine.mac_pj = 0.5;
  sluice_hardware_builder_t* b = sluice_hardware_builder_create(&machine);
  sluice_level_t sram = Sized<sluice_level_t>();
  sram.name = "sram";
  sram.capacity_bytes = 4096;
  sram.read_pj_per_bit = sram.write_pj_per_bit = 0.1;
  sram.alignment_bytes = 16;
  CHECK(sluice_hardware_builder_level(b, &sram) == 0);
  sluice_level_t dram = Sized<sluice_level_t>();
  dram.name = "dram";
  dram.read_pj_per_bit = dram.write_pj_per_bit = 4;
  dram.bytes_per_cycle_numerator = 8;
  CHECK(sluice_hardware_builder_level(b, &dram) == 1);
  sluice_fanout_t array = Sized<sluice_fanout_t>();
  array.name = "array";
  array.extent = 64;
  CHECK(sluice_hardware_builder_fanout(b, &array) == 0);
  return b;
}

List SmallMachineInCpp() {
  sluice::HardwareBuilder b;
  b.name = "small";
  b.macs_per_cycle = 64;
  b.vector_ops_per_cycle = 16;
  b.mac_pj = 0.5;
  b.levels.resize(2);
  b.levels[0].name = "sram";
  b.levels[0].capacity_bytes = 4096;
  b.levels[0].read_pj_per_bit = b.levels[0].write_pj_per_bit = 0.1;
  b.levels[0].alignment_bytes = 16;
  b.levels[1].name = "dram";
  b.levels[1].read_pj_per_bit = b.levels[1].write_pj_per_bit = 4;
  b.levels[1].bytes_per_cycle_numerator = 8;
  b.fanouts.resize(1);
  b.fanouts[0].name = "array";
  b.fanouts[0].extent = 64;
  return b.Bytes();
}

template <typename Builder>
List Finished(Builder* builder,
              sluice_status_t (*finish)(const Builder*, const sluice_allocator_t*,
                                        sluice_bytes_t*, sluice_diagnostic_t*)) {
  sluice_test::RecordingAllocator memory;
  sluice_bytes_t bytes = {};
  sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
  const sluice_status_t status = finish(builder, memory.interface(), &bytes, &why);
  INFO(std::string(why.message));
  REQUIRE(status == SLUICE_OK);
  CHECK(memory.live_bytes() == bytes.size);
  const auto* first = static_cast<const uint8_t*>(bytes.data);
  const List copy(first, first + bytes.size);
  sluice_bytes_release(memory.interface(), &bytes);
  CHECK(memory.live_blocks() == 0);
  CHECK(memory.sound());
  return copy;
}

std::string AsJson(const List& hardware) {
  sluice_bytes_t text = {};
  REQUIRE(sluice_hardware_to_json(hardware.data(), hardware.size(), nullptr, &text,
                                  nullptr) == SLUICE_OK);
  const std::string json(static_cast<const char*>(text.data), text.size);
  sluice_bytes_release(nullptr, &text);
  return json;
}

template <typename Vector>
auto Items(const Vector* vector) {
  using Item = std::decay_t<decltype(vector->Get(0))>;
  return std::vector<Item>(vector->begin(), vector->end());
}

void CheckSameGraph(const List& a, const List& b) {
  const sluice::wire::Graph &x = *sluice::wire::GetGraph(a.data()),
                            &y = *sluice::wire::GetGraph(b.data());
  CHECK(Items(x.tensor_dtype()) == Items(y.tensor_dtype()));
  CHECK(Items(x.tensor_kind()) == Items(y.tensor_kind()));
  CHECK(Items(x.tensor_dim_begin()) == Items(y.tensor_dim_begin()));
  CHECK(Items(x.tensor_dims()) == Items(y.tensor_dims()));
  CHECK(Items(x.tensor_source()) == Items(y.tensor_source()));
  CHECK(Items(x.tensor_source_offset()) == Items(y.tensor_source_offset()));
  CHECK(Items(x.data()) == Items(y.data()));
  CHECK(Items(x.layer_op()) == Items(y.layer_op()));
  CHECK(Items(x.layer_inputs()) == Items(y.layer_inputs()));
  CHECK(Items(x.layer_outputs()) == Items(y.layer_outputs()));
  CHECK(Items(x.layer_attribute_begin()) == Items(y.layer_attribute_begin()));
  CHECK(Items(x.layer_attributes()) == Items(y.layer_attributes()));
}

TEST_CASE("builders: in C and in C++ they make graphs and machines of one plan") {
  sluice_graph_builder_t* graph = SmallGraph();
  sluice_hardware_builder_t* machine = SmallMachine();
  const List g = Finished(graph, sluice_graph_builder_finish);
  const List h = Finished(machine, sluice_hardware_builder_finish);
  CHECK(g == Finished(graph, sluice_graph_builder_finish));
  sluice_graph_builder_destroy(graph);
  sluice_hardware_builder_destroy(machine);
  CheckSameGraph(g, SmallGraphInCpp());
  CHECK(AsJson(h) == AsJson(SmallMachineInCpp()));
  auto context = sluice::Context::Create();
  const auto stream = [&](const List& graph_bytes, const List& hardware_bytes) {
    auto a = context->ReadGraph(graph_bytes);
    auto b = context->ReadHardware(hardware_bytes);
    REQUIRE(a);
    REQUIRE(b);
    auto plan = context->Schedule(*a, *b);
    REQUIRE(plan);
    const sluice_report_t report = plan->report();
    return std::make_tuple(report.latency_cycles, report.energy_pj,
                           report.dram_read_bytes, plan->stream().size());
  };
  CHECK(stream(g, h) == stream(SmallGraphInCpp(), SmallMachineInCpp()));
}

TEST_CASE("builders: what is wrong is said at the end, the first of it") {
  sluice_graph_builder_t* b = SmallGraph();
  sluice_tensor_t bad = Sized<sluice_tensor_t>();
  bad.name = "short";
  bad.kind = SLUICE_TENSOR_CONSTANT;
  bad.dtype = SLUICE_DTYPE_INT32;
  bad.rank = 1;
  bad.dims[0] = 3;
  bad.source = SLUICE_SOURCE_INLINE;
  bad.bytes = "0123456789a";
  bad.byte_count = 11;
  CHECK(sluice_graph_builder_tensor(b, &bad) == SLUICE_NO_INDEX);
  bad.rank = 5;
  CHECK(sluice_graph_builder_tensor(b, &bad) == SLUICE_NO_INDEX);
  CHECK(sluice_graph_builder_tensor(b, nullptr) == SLUICE_NO_INDEX);
  sluice_bytes_t bytes = {};
  sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
  CHECK(sluice_graph_builder_finish(b, nullptr, &bytes, &why) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(why.message).find("short has 11 bytes") != std::string::npos);
  CHECK(bytes.data == nullptr);
  sluice_graph_builder_destroy(b);

  b = SmallGraph();  // a layer that reads what nobody writes
  const uint32_t lost = AddTensor(b, "lost", SLUICE_TENSOR_INTERMEDIATE, {1, 4});
  const uint32_t out = AddTensor(b, "out", SLUICE_TENSOR_OUTPUT, {1, 4});
  AddLayer(b, "late", SLUICE_OP_MAXIMUM, {lost, lost}, out, {});
  CHECK(sluice_graph_builder_finish(b, nullptr, &bytes, &why) == SLUICE_BAD_INPUT);
  CHECK(why.message[0] != '\0');
  sluice_graph_builder_destroy(b);

  sluice_hardware_builder_t* machine = sluice_hardware_builder_create(nullptr);
  CHECK(sluice_hardware_builder_finish(machine, nullptr, &bytes, &why) ==
        SLUICE_BAD_ARGUMENT);
  sluice_hardware_builder_destroy(machine);
  const sluice_machine_t nothing = Sized<sluice_machine_t>();
  machine = sluice_hardware_builder_create(&nothing);
  CHECK(sluice_hardware_builder_finish(machine, nullptr, &bytes, &why) < 0);
  CHECK(bytes.data == nullptr);
  sluice_hardware_builder_destroy(machine);
}

TEST_CASE("builders: a refused allocation is out of memory and leaves nothing") {
  sluice_graph_builder_t* b = SmallGraph();
  sluice_test::RecordingAllocator memory;
  memory.FailAt(1);
  sluice_bytes_t bytes = {};
  CHECK(sluice_graph_builder_finish(b, memory.interface(), &bytes, nullptr) ==
        SLUICE_OUT_OF_MEMORY);
  CHECK(bytes.data == nullptr);
  CHECK(memory.live_blocks() == 0);
  sluice_graph_builder_destroy(b);
}

}  // namespace
