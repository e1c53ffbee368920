// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/graph_operators.h"

#include <doctest/doctest.h>

#include <vector>

#include "sluice/ops.h"
#include "tests/solve/placement/judge.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::View;

namespace {

using Indices = std::vector<uint32_t>;

// A graph by hand; tensors of four axes and one byte per element.
struct HandGraph {
  std::vector<Tensor> tensors;
  std::vector<Indices> reads, writes;
  std::vector<Layer> layers;
  Ground ground;
  GraphOperators out;

  uint32_t AddTensor(TensorKind kind, int32_t rows, int32_t channels) {
    Tensor t = {};
    t.extent[0] = t.extent[1] = 1;
    t.extent[2] = rows;
    t.extent[3] = channels;
    t.kind = kind;
    t.element_bytes = 1;
    t.bytes = int64_t{rows} * channels;
    tensors.push_back(t);
    return static_cast<uint32_t>(tensors.size() - 1);
  }
  void AddLayer(uint16_t op, const Indices& in, const Indices& written) {
    reads.push_back(in);
    writes.push_back(written);
    layers.push_back(Layer{});
    layers.back().op = op;
  }
  Graph Finish() {
    for (size_t l = 0; l < layers.size(); ++l) {
      layers[l].inputs = View(reads[l]);
      layers[l].outputs = View(writes[l]);
    }
    Graph graph = {};
    graph.tensors = View(tensors);
    graph.layers = View(layers);
    return graph;
  }
  void Make(const GraphOperatorOptions& options) {
    REQUIRE(OperatorsOf(Finish(), options, &ground.arena, &out) == Status::kOk);
    REQUIRE(CheckOperatorGraph(out.operators, &ground.arena, &ground.diagnostic) ==
            Status::kOk);
  }
  // Graph tensors that operator o takes.
  Indices Reads(uint32_t o) const {
    Indices all;
    for (uint32_t a : out.operators.InputsOf(out.operators.operators[o])) {
      all.push_back(out.tensor_of[a]);
    }
    return all;
  }
  Indices Writes(uint32_t o) const {
    Indices all;
    for (uint32_t a : out.operators.OutputsOf(out.operators.operators[o])) {
      all.push_back(out.tensor_of[a]);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("layers as operators: constants are tensors where asked for") {
  HandGraph g;
  const uint32_t input = g.AddTensor(TensorKind::kInput, 4, 8);
  const uint32_t weight = g.AddTensor(TensorKind::kConstant, 8, 8);
  const uint32_t middle = g.AddTensor(TensorKind::kIntermediate, 4, 8);
  const uint32_t output = g.AddTensor(TensorKind::kOutput, 4, 8);
  g.AddLayer(SLUICE_OP_CONV, {input, weight, kNone}, {middle});
  g.AddLayer(SLUICE_OP_ADD, {input, middle}, {output});
  g.Make({});
  CHECK(g.Reads(0) == Indices{input});
  CHECK(g.Writes(0) == Indices{middle});
  CHECK(g.Reads(1) == Indices{input, middle});
  CHECK(g.out.operand_of[weight] == kNoOperand);
  CHECK(g.out.operators.tensors[g.out.operand_of[input]].role == TensorRole::kInput);
  CHECK(g.out.operators.tensors[g.out.operand_of[middle]].role ==
        TensorRole::kIntermediate);
  CHECK(g.out.operators.tensors[g.out.operand_of[output]].role == TensorRole::kOutput);
  CHECK(g.out.operators.tensors[g.out.operand_of[output]].bytes == 32);
  GraphOperatorOptions options;
  options.parameters = true;
  g.Make(options);
  CHECK(g.Reads(0) == Indices{input, weight});
  CHECK(g.out.operators.tensors[g.out.operand_of[weight]].role == TensorRole::kInput);
  CHECK(g.out.operators.operators[1].in_place == kNoOperand);
  options.in_place = true;
  g.Make(options);
  CHECK(g.out.operators.operators[0].in_place == kNoOperand);  // a convolution
  CHECK(g.out.operators.operators[1].in_place == 0);
}

TEST_CASE("layers as operators: which input an output may take over") {
  HandGraph g;
  const uint32_t wide = g.AddTensor(TensorKind::kIntermediate, 4, 8);
  const uint32_t narrow = g.AddTensor(TensorKind::kIntermediate, 4, 1);
  const uint32_t turned = g.AddTensor(TensorKind::kIntermediate, 8, 4);
  const uint32_t constant = g.AddTensor(TensorKind::kConstant, 4, 8);
  const uint32_t sum = g.AddTensor(TensorKind::kIntermediate, 4, 8);
  g.AddLayer(SLUICE_OP_ADD, {narrow, wide}, {sum});
  g.AddLayer(SLUICE_OP_ADD, {constant, wide}, {sum});
  g.AddLayer(SLUICE_OP_ADD, {turned, narrow}, {sum});  // other extents, as many bytes
  g.AddLayer(SLUICE_OP_RESHAPE, {turned}, {sum});
  g.AddLayer(SLUICE_OP_CONV, {wide, constant, kNone}, {sum});
  const Graph graph = g.Finish();
  const uint32_t expected[] = {1, 1, kNoOperand, 0, kNoOperand};
  for (size_t l = 0; l < 5; ++l) {
    CAPTURE(l);
    CHECK(InPlaceInput(graph, graph.layers[l]) == expected[l]);
  }
}

TEST_CASE("layers as operators: a state's readers stay on their side of its append") {
  HandGraph g;
  const uint32_t state = g.AddTensor(TensorKind::kState, 16, 8);
  const uint32_t row = g.AddTensor(TensorKind::kInput, 1, 8);
  const uint32_t before = g.AddTensor(TensorKind::kOutput, 16, 8);
  const uint32_t after = g.AddTensor(TensorKind::kOutput, 16, 8);
  g.AddLayer(SLUICE_OP_ADD, {state, state}, {before});
  g.AddLayer(SLUICE_OP_STATE_APPEND, {state, row}, {state});
  g.AddLayer(SLUICE_OP_ADD, {state, state}, {after});
  g.Make({});
  CHECK(g.Reads(1) == Indices{row});
  CHECK(g.Writes(1).empty());
  CHECK(g.out.operators.tensors[g.out.operand_of[state]].role == TensorRole::kInput);
  REQUIRE(g.out.operators.edges.size() == 2);
  CHECK(g.out.operators.edges[0].before == 0);
  CHECK(g.out.operators.edges[0].after == 1);
  CHECK(g.out.operators.edges[1].before == 1);
  CHECK(g.out.operators.edges[1].after == 2);
}
