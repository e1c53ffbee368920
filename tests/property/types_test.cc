// SPDX-License-Identifier: Apache-2.0
// Which element types an operator takes is written in ops.h and read three times: by the
// reader of graphs, by the static judge and by the simulator. All three must give one
// answer for every combination of types.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "support/read_graph.h"
#include "verify/stream_view.h"
#include "verify/views.h"

namespace sluice_test {
namespace {

// A layer whose shapes and attributes are right.
struct Form {
  uint16_t op;
  std::vector<std::vector<int32_t>> inputs;
  std::vector<int32_t> output;
  std::vector<int32_t> attributes;
  // Of the 5 types in each operand, how many combinations ops.h allows.
  int allowed;
};

const std::vector<int32_t> kMap = {1, 2, 2, 4}, kOne = {1, 2, 2, 1}, kRows = {2, 4},
                           kPerChannel = {4, 3}, kFilter = {4, 1, 1, 4};

std::vector<Form> Forms() {
  return {
      {SLUICE_OP_CONV, {kMap, kFilter, kPerChannel}, kMap, {}, 4 * 5},
      {SLUICE_OP_DEPTHWISE_CONV, {kMap, {1, 1, 1, 4}, kPerChannel}, kMap, {}, 4 * 5},
      {SLUICE_OP_TRANSPOSED_CONV, {kMap, kFilter, kPerChannel}, kMap, {}, 4 * 5},
      {SLUICE_OP_FULLY_CONNECTED, {kRows, {4, 4}, kPerChannel}, kRows, {}, 4 * 5},
      {SLUICE_OP_BATCH_MATMUL, {{1, 1, 2, 4}, {1, 1, 4, 4}}, {1, 1, 2, 4}, {}, 4 * 5},
      {SLUICE_OP_MAX_POOL, {kMap}, kMap, {1, 1}, 5},
      {SLUICE_OP_AVERAGE_POOL, {kMap}, kMap, {1, 1}, 5},
      {SLUICE_OP_ADD, {kMap, kMap}, kMap, {}, 25},
      {SLUICE_OP_SUB, {kMap, kMap}, kMap, {}, 25},
      {SLUICE_OP_MUL, {kMap, kMap}, kMap, {}, 25},
      {SLUICE_OP_MINIMUM, {kMap, kMap}, kMap, {}, 25},
      {SLUICE_OP_MAXIMUM, {kMap, kMap}, kMap, {}, 25},
      {SLUICE_OP_REQUANTIZE, {kMap}, kMap, {}, 25},
      {SLUICE_OP_LOOKUP, {kMap, {256}}, kMap, {}, 8},
      {SLUICE_OP_SOFTMAX, {kMap}, kMap, {}, 2},
      {SLUICE_OP_SOFTMAX, {kMap, kMap}, kMap, {}, 2},
      {SLUICE_OP_LAYER_NORM, {kMap, kPerChannel}, kMap, {}, 4},
      {SLUICE_OP_RMS_NORM, {kMap, kPerChannel}, kMap, {}, 4},
      {SLUICE_OP_REDUCE, {kMap}, kOne, {8, SLUICE_REDUCE_KIND_SUM}, 25},
      {SLUICE_OP_REDUCE, {kMap}, kOne, {8, SLUICE_REDUCE_KIND_MAX}, 25},
      {SLUICE_OP_ARGMAX, {kMap}, kOne, {}, 10},
      {SLUICE_OP_CONCAT, {kMap, kMap}, {2, 2, 2, 4}, {}, 5},
      {SLUICE_OP_SLICE, {kMap}, kMap, {}, 5},
      {SLUICE_OP_PAD, {kMap}, kMap, {}, 5},
      {SLUICE_OP_RESHAPE, {kMap}, {4, 4}, {}, 5},
      {SLUICE_OP_TRANSPOSE, {kMap}, kMap, {0, 1, 2, 3}, 5},
      {SLUICE_OP_GATHER, {{4, 4}, {2}}, kRows, {}, 5},
      {SLUICE_OP_RESIZE_BILINEAR, {kMap}, kMap, {}, 5},
      {SLUICE_OP_RESIZE_NEAREST, {kMap}, kMap, {}, 5},
      {SLUICE_OP_STATE_APPEND, {kMap, {1, 1, 2, 4}}, {}, {1, 0}, 5},
      {SLUICE_OP_WEIGHT_GRADIENT, {kMap, kMap}, kFilter, {}, 8},
      {SLUICE_OP_RELU_GRADIENT, {kMap, kMap}, kMap, {}, 125},
      {SLUICE_OP_MAX_POOL_GRADIENT, {kMap, kMap}, kMap, {1, 1}, 4},
      {SLUICE_OP_HARD_SWISH, {kMap}, kMap, {}, 2},
      {SLUICE_OP_PRELU, {kMap, kMap}, kMap, {}, 8},
  };
}

// The form as a graph with these types: of the inputs, then of the output. Inputs behind
// the first one are zeros.
GraphSpec Typed(const Form& form, const std::vector<uint8_t>& types) {
  GraphSpec spec;
  LayerSpec layer = {form.op, {}, {}, form.attributes};
  for (size_t i = 0; i < form.inputs.size(); ++i) {
    layer.inputs.push_back(static_cast<uint32_t>(i));
    if (i == 0) {
      const bool appends = form.op == SLUICE_OP_STATE_APPEND;
      spec.tensors.push_back(
          {form.inputs[i], types[i], static_cast<uint8_t>(appends ? 4 : 1)});
      continue;
    }
    uint32_t bytes = DtypeSize(types[i]);
    for (const int32_t extent : form.inputs[i]) bytes *= static_cast<uint32_t>(extent);
    spec.tensors.push_back(
        spec.Inline(form.inputs[i], types[i], std::vector<uint8_t>(bytes)));
  }
  layer.outputs = {0};
  if (!form.output.empty()) {
    layer.outputs = {static_cast<uint32_t>(spec.tensors.size())};
    spec.tensors.push_back({form.output, types.back(), 2});
  }
  spec.layers = {layer};
  if (form.op == SLUICE_OP_STATE_APPEND) {
    spec.parameters = {{0, 1}};
    // A graph must have an output.
    const uint32_t more = static_cast<uint32_t>(spec.tensors.size());
    spec.tensors.push_back({kRows, SLUICE_DTYPE_INT8, 1});
    spec.tensors.push_back({kRows, SLUICE_DTYPE_INT8, 2});
    spec.layers.push_back({SLUICE_OP_RESHAPE, {more}, {more + 1}, {}});
  }
  return spec;
}

bool ReaderTakes(const Bytes& bytes) {
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Graph graph = {};
  sluice::Diagnostic said = {};
  return sluice::ReadGraph(bytes.data(), bytes.size(), &arena, &graph, &said) ==
         sluice::Status::kOk;
}

// The judge only ever sees graphs that the reader took. So that its answer is its own, it
// is asked about a graph that was read with right types and was given others later.
bool JudgeTakes(const Nouns& right, const std::vector<uint8_t>& types) {
  std::vector<sluice::Tensor> tensors(right.graph.tensors.begin(),
                                      right.graph.tensors.end());
  for (size_t i = 0; i < types.size(); ++i) {
    sluice::Tensor& t = tensors[i];
    t.bytes = t.bytes / t.element_bytes * sluice::DtypeBytes(types[i]);
    t.dtype = types[i];
    t.element_bytes = sluice::DtypeBytes(types[i]);
  }
  sluice::Graph graph = right.graph;
  graph.tensors = {tensors.data(), tensors.size()};
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic said = {};
  const sluice::Plan plan = {};
  sluice::judge::Judge judge = {graph, right.hardware, plan, &arena, &said,
                                {},    1 << 20,        {},   false};
  const sluice::Status status = sluice::judge::CheckViews(&judge);
  if (status == sluice::Status::kOk) return true;
  CHECK(status == sluice::Status::kBadInput);
  CHECK(std::string(said.message).find("the ") != std::string::npos);
  return false;
}

bool SimulatorTakes(const Bytes& bytes) {
  sluice_sim::SimulateOptions options;
  options.graph = bytes.data();
  options.graph_size = bytes.size();
  return sluice_sim::RunReference(options).ok;
}

// The next combination of the five types, as a number counts; false after the last.
bool Next(std::vector<uint8_t>* types) {
  for (uint8_t& type : *types) {
    if (++type < SLUICE_DTYPE_COUNT) return true;
    type = SLUICE_DTYPE_INT8;
  }
  return false;
}

TEST_CASE("types: reader, judge and simulator agree on every combination") {
  std::vector<int> tried(SLUICE_OP_COUNT);
  for (const Form& form : Forms()) {
    ++tried[form.op];
    const size_t operands = form.inputs.size() + (form.output.empty() ? 0 : 1);
    std::vector<uint8_t> types(operands, SLUICE_DTYPE_INT8);
    std::vector<std::vector<uint8_t>> taken;
    do {
      if (ReaderTakes(GraphBytes(Typed(form, types)))) taken.push_back(types);
    } while (Next(&types));
    CAPTURE(form.op);
    CHECK(static_cast<int>(taken.size()) == form.allowed);
    REQUIRE(!taken.empty());
    const Nouns right(Typed(form, taken.front()));
    size_t at = 0;
    do {
      const bool reader = at < taken.size() && types == taken[at];
      if (reader) ++at;
      CAPTURE(types);
      CHECK(JudgeTakes(right, types) == reader);
      CHECK(SimulatorTakes(GraphBytes(Typed(form, types))) == reader);
    } while (Next(&types));
  }
  // OPAQUE is the host's: its operands may have any type.
  for (int op = 1; op < SLUICE_OP_COUNT; ++op) {
    CAPTURE(op);
    CHECK((tried[static_cast<size_t>(op)] != 0) == (op != SLUICE_OP_OPAQUE));
  }
}

}  // namespace
}  // namespace sluice_test
