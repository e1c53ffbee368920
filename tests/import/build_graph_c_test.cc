// SPDX-License-Identifier: Apache-2.0
// The C builder of graphs: indices, the first fault is kept, the reader's errors.
#include <functional>

#include "presets/presets.h"
#include "support/library.h"
#include "support/recording_allocator.h"
#include "tests/import/builders.h"

namespace sluice_test {
namespace {

// What finishing a small graph answers after a change to its builder.
struct Ended {
  sluice_status_t status;
  std::string why;
};
Ended EndOf(const std::function<void(sluice_graph_builder_t*)>& change) {
  sluice_graph_builder_t* b = SmallGraph();
  change(b);
  sluice_bytes_t bytes = {};
  sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
  const Ended ended = {sluice_graph_builder_finish(b, nullptr, &bytes, &why),
                       why.message};
  CHECK((bytes.data != nullptr) == (ended.status == SLUICE_OK));
  sluice_bytes_release(nullptr, &bytes);
  sluice_graph_builder_destroy(b);
  return ended;
}

TEST_CASE("graph builder: indices count what was added") {
  sluice_graph_builder_t* b = SmallGraph();  // six tensors, two layers
  CHECK(AddTensor(b, "t", SLUICE_TENSOR_INPUT, {1, 16, 16, 8}) == 6);
  CHECK(sluice_graph_builder_parameter(b, "position", 0, 9) == 0);
  CHECK(sluice_graph_builder_parameter(b, nullptr, 0, 9) == 1);
  const uint32_t inputs[] = {3, 4},
                 output = AddTensor(b, "u", SLUICE_TENSOR_OUTPUT, {1, 16, 16, 8});
  sluice_layer_t layer = Sized<sluice_layer_t>();
  layer.op = SLUICE_OP_MINIMUM;
  layer.inputs = inputs;
  layer.input_count = 2;
  layer.outputs = &output;
  layer.output_count = 1;
  CHECK(sluice_graph_builder_layer(b, &layer) == 2);
  CHECK(sluice_graph_builder_layer(nullptr, &layer) == SLUICE_NO_INDEX);
  CHECK(sluice_graph_builder_tensor(nullptr, nullptr) == SLUICE_NO_INDEX);
  CHECK(sluice_graph_builder_parameter(nullptr, "p", 0, 1) == SLUICE_NO_INDEX);
  sluice_graph_builder_destroy(b);
}

TEST_CASE("graph builder: the first fault is kept until the end") {
  const Ended ended = EndOf([](sluice_graph_builder_t* b) {
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
  });
  CHECK(ended.status == SLUICE_BAD_ARGUMENT);
  CHECK(ended.why == "constant short has 11 bytes; its extents need 12");
}

TEST_CASE("graph builder: each fault of a tensor or a layer has its sentence") {
  const auto of_tensor = [](auto change) {
    return EndOf([&](sluice_graph_builder_t* b) {
             sluice_tensor_t t = Sized<sluice_tensor_t>();
             t.name = "t";
             t.kind = SLUICE_TENSOR_CONSTANT;
             t.dtype = SLUICE_DTYPE_INT8;
             t.rank = 1;
             t.dims[0] = 3;
             change(&t);
             sluice_graph_builder_tensor(b, &t);
           })
        .why;
  };
  using Tensor = sluice_tensor_t;
  CHECK(of_tensor([](Tensor* t) { t->rank = 5; }) ==
        "a tensor has more than four axes");
  CHECK(of_tensor([](Tensor* t) { t->kind = 5; }) == "there is no kind 5");
  CHECK(of_tensor([](Tensor* t) { t->dtype = 77; }) == "there is no dtype 77");
  CHECK(of_tensor([](Tensor* t) { t->dims[0] = 0; }) == "a tensor has extent 0");
  CHECK(of_tensor([](Tensor* t) {
          t->rank = 3;
          t->dims[0] = t->dims[1] = t->dims[2] = 1 << 16;
        }) == "a tensor exceeds 2^46 bytes");
  CHECK(of_tensor([](Tensor*) {}) == "constant t has no source");
  CHECK(of_tensor([](Tensor* t) { t->source = SLUICE_SOURCE_INLINE; }) ==
        "tensor.bytes is NULL");
  CHECK(of_tensor([](Tensor* t) { t->source = SLUICE_SOURCE_EXTERNAL; }) ==
        "tensor.file is NULL");
  CHECK(of_tensor([](Tensor* t) { t->struct_size = 1; }) ==
        "tensor.struct_size is not that of a known version");
  const auto of_layer = [](auto change) {
    return EndOf([&](sluice_graph_builder_t* b) {
             sluice_layer_t l = Sized<sluice_layer_t>();
             l.op = SLUICE_OP_MAXIMUM;
             change(&l);
             sluice_graph_builder_layer(b, &l);
           })
        .why;
  };
  // 0x10008 is ADD in its lower 16 bits.
  for (const uint32_t op : {0u, uint32_t{SLUICE_OP_COUNT}, 0x10008u}) {
    CHECK(of_layer([op](sluice_layer_t* l) { l->op = op; }) ==
          "there is no operator " + std::to_string(op));
  }
  CHECK(of_layer([](sluice_layer_t* l) { l->input_count = 2; }) ==
        "layer.inputs is NULL");
}

TEST_CASE("graph builder: what the reader refuses is its status and sentence") {
  const Ended ended = EndOf([](sluice_graph_builder_t* b) {
    const uint32_t lost = AddTensor(b, "lost", SLUICE_TENSOR_INTERMEDIATE, {1, 4});
    const uint32_t out = AddTensor(b, "out", SLUICE_TENSOR_OUTPUT, {1, 4});
    AddLayer(b, "late", SLUICE_OP_MAXIMUM, {lost, lost}, out, {});
  });
  CHECK(ended.status == SLUICE_BAD_INPUT);
  CHECK(ended.why.find("reads a tensor that no earlier layer produces") !=
        std::string::npos);
}

TEST_CASE("graph builder: a refused allocation is out of memory and leaves nothing") {
  sluice_graph_builder_t* b = SmallGraph();
  RecordingAllocator memory;
  memory.FailAt(1);
  sluice_bytes_t bytes = {};
  CHECK(sluice_graph_builder_finish(b, memory.interface(), &bytes, nullptr) ==
        SLUICE_OUT_OF_MEMORY);
  CHECK(bytes.data == nullptr);
  CHECK(memory.live_blocks() == 0);
  sluice_graph_builder_destroy(b);
}

// emb(c[:, i]): an index that is a part of another tensor; and a table that is computed.
TEST_CASE(
    "graph builder: rows by a part of an index, and of a table that is computed") {
  for (const bool computed : {false, true}) {
    CAPTURE(computed);
    sluice_graph_builder_t* b = sluice_graph_builder_create("picks");
    const auto tensor = [&](uint32_t kind, uint32_t dtype, std::vector<int32_t> dims) {
      sluice_tensor_t t = Sized<sluice_tensor_t>();
      t.kind = kind;
      t.dtype = dtype;
      t.rank = static_cast<uint32_t>(dims.size());
      std::copy(dims.begin(), dims.end(), t.dims);
      t.source = kind == SLUICE_TENSOR_CONSTANT ? SLUICE_SOURCE_SEEDED : 0;
      t.offset = 5;
      return sluice_graph_builder_tensor(b, &t);
    };
    const auto layer = [&](uint32_t op, std::vector<uint32_t> in, uint32_t out,
                           std::vector<int32_t> attributes) {
      sluice_layer_t l = Sized<sluice_layer_t>();
      l.op = op;
      l.inputs = in.data();
      l.input_count = static_cast<uint32_t>(in.size());
      l.outputs = &out;
      l.output_count = 1;
      l.attributes = attributes.data();
      l.attribute_count = static_cast<uint32_t>(attributes.size());
      return sluice_graph_builder_layer(b, &l);
    };
    const uint32_t in = SLUICE_TENSOR_INPUT, between = SLUICE_TENSOR_INTERMEDIATE,
                   i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
    const uint32_t columns = tensor(in, i32, {4, 3}),
                   column = tensor(between, i32, {4, 1}),
                   flat = tensor(between, i32, {4}),
                   out = tensor(SLUICE_TENSOR_OUTPUT, i8, {4, 16});
    uint32_t table = tensor(SLUICE_TENSOR_CONSTANT, i8, {8, 16});
    layer(SLUICE_OP_SLICE, {columns}, column, {0, 0, 0, 1});
    layer(SLUICE_OP_RESHAPE, {column}, flat, {});
    if (computed) {
      const uint32_t given = tensor(in, i8, {8, 16}),
                     made = tensor(between, i8, {8, 16});
      layer(SLUICE_OP_MINIMUM, {table, given}, made, {});
      table = made;
    }
    layer(SLUICE_OP_GATHER, {table, flat}, out, {});
    sluice_bytes_t graph = {};
    sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
    REQUIRE_MESSAGE(sluice_graph_builder_finish(b, nullptr, &graph, &why) == SLUICE_OK,
                    why.message);
    sluice_graph_builder_destroy(b);
    const uint8_t* const first = static_cast<const uint8_t*>(graph.data);
    const List bytes(first, first + graph.size);
    sluice_bytes_release(nullptr, &graph);
    for (const char* chip : {"soma-edge", "mcu-256k", "gemmini-16x16"}) {
      CAPTURE(chip);
      Library library;
      const auto plan = library.Schedule(
          library.Graph(bytes), library.Hardware(sluice::presets::LoadPreset(chip)));
      CHECK_MESSAGE(plan != nullptr, library.diagnostic.message);
    }
  }
}

}  // namespace
}  // namespace sluice_test
