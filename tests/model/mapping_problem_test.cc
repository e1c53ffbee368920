// SPDX-License-Identifier: Apache-2.0
#include "model/mapping_problem.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

// One layer over hand-made tensors: input, weight (or second input), output.
struct OneLayer {
  std::vector<Tensor> tensors;
  std::vector<uint32_t> inputs = {0, 1};
  std::vector<uint32_t> outputs = {2};
  std::vector<int32_t> attributes = std::vector<int32_t>(SLUICE_CONV_ATTRIBUTES);
  Layer layer = {};
  Diagnostic diagnostic;

  void Add(int n, int h, int w, int c) {
    Tensor tensor = {};
    const int extent[kAxes] = {n, h, w, c};
    for (int i = 0; i < kAxes; ++i) tensor.extent[i] = extent[i];
    tensor.element_bytes = 1;
    tensors.push_back(tensor);
  }
  Status Lower(uint16_t op, MappingProblem* problem) {
    layer.op = op;
    layer.inputs = Span<const uint32_t>(inputs.data(), inputs.size());
    layer.outputs = Span<const uint32_t>(outputs.data(), outputs.size());
    layer.attributes = Span<const int32_t>(attributes.data(), attributes.size());
    Graph graph = {};
    graph.tensors = Span<const Tensor>(tensors.data(), tensors.size());
    graph.layers = Span<const Layer>(&layer, 1);
    return ProblemOfLayer(graph, 0, 4, problem, &diagnostic);
  }
};

void CheckExtents(const MappingProblem& problem, std::vector<int64_t> nkcpqrsg) {
  for (uint32_t d = 0; d < kDims; ++d) CHECK(problem.extent[d] == nkcpqrsg[d]);
}

TEST_CASE("mapping problem: each operator becomes its loops") {
  MappingProblem problem;
  OneLayer one;
  SUBCASE("grouped, strided, dilated convolution") {
    one.Add(2, 30, 30, 8);
    one.Add(16, 3, 5, 2);
    one.Add(2, 14, 26, 16);
    one.attributes[SLUICE_CONV_STRIDE_H] = 2;
    one.attributes[SLUICE_CONV_DILATION_W] = 2;
    one.attributes[SLUICE_CONV_GROUPS] = 4;
    REQUIRE(one.Lower(SLUICE_OP_CONV, &problem) == Status::kOk);
    CheckExtents(problem, {2, 4, 2, 14, 26, 3, 5, 4});
    CHECK(problem.stride[0] == 2);
    CHECK(problem.stride[1] == 1);
    CHECK(problem.dilation[1] == 2);
    CHECK(problem.partial_bytes == 4);
    CHECK(OperationCount(problem) == int64_t{2} * 14 * 26 * 16 * 3 * 5 * 2);
  }
  SUBCASE("depthwise convolution with a multiplier") {
    one.Add(1, 9, 9, 6);
    one.Add(1, 3, 3, 12);
    one.Add(1, 7, 7, 12);
    REQUIRE(one.Lower(SLUICE_OP_DEPTHWISE_CONV, &problem) == Status::kOk);
    CheckExtents(problem, {1, 2, 1, 7, 7, 3, 3, 6});
  }
  SUBCASE("fully connected") {
    one.Add(1, 1, 5, 64);
    one.Add(1, 1, 10, 64);
    one.Add(1, 1, 5, 10);
    REQUIRE(one.Lower(SLUICE_OP_FULLY_CONNECTED, &problem) == Status::kOk);
    CheckExtents(problem, {1, 10, 64, 1, 5, 1, 1, 1});
  }
  SUBCASE("batched matmul") {
    one.Add(2, 3, 8, 16);
    one.Add(2, 3, 16, 4);
    one.Add(2, 3, 8, 4);
    REQUIRE(one.Lower(SLUICE_OP_BATCH_MATMUL, &problem) == Status::kOk);
    CheckExtents(problem, {1, 4, 16, 1, 8, 1, 1, 6});  // rows as those of FC layers
  }
  SUBCASE("pooling has no weights") {
    one.inputs = {0};
    one.Add(1, 8, 8, 6);
    one.Add(1, 1, 1, 1);
    one.Add(1, 4, 4, 6);
    one.attributes.assign(SLUICE_POOL_ATTRIBUTES, 0);
    one.attributes[SLUICE_POOL_WINDOW_H] = one.attributes[SLUICE_POOL_WINDOW_W] = 2;
    one.attributes[SLUICE_POOL_STRIDE_H] = one.attributes[SLUICE_POOL_STRIDE_W] = 2;
    REQUIRE(one.Lower(SLUICE_OP_MAX_POOL, &problem) == Status::kOk);
    CheckExtents(problem, {1, 1, 1, 4, 4, 2, 2, 6});
    CHECK(problem.vector);
    CHECK_FALSE(Has(problem, kWeight));
  }
  SUBCASE("elementwise reads as many operands as it has inputs") {
    for (int i = 0; i < 3; ++i) one.Add(1, 4, 4, 6);
    REQUIRE(one.Lower(SLUICE_OP_ADD, &problem) == Status::kOk);
    CheckExtents(problem, {1, 1, 2, 4, 4, 1, 1, 6});
    CHECK(TileWords(problem, kInput, problem.extent) == 2 * 4 * 4 * 6);
  }
  SUBCASE("others are named as unsupported") {
    for (int i = 0; i < 3; ++i) one.Add(1, 4, 4, 6);
    CHECK(one.Lower(SLUICE_OP_SOFTMAX, &problem) == Status::kUnsupported);
    CHECK(std::string(one.diagnostic.message) == "no loop nest for op softmax");
    CHECK(one.diagnostic.layer == 0);
  }
}

TEST_CASE("mapping problem: gradients and transposed convolutions too") {
  MappingProblem problem;
  OneLayer one;
  SUBCASE("weight gradient: images are summed over, the error is the filter") {
    one.Add(4, 30, 30, 8);   // ifmap
    one.Add(4, 14, 14, 16);  // error
    one.Add(16, 3, 3, 8);
    one.attributes[SLUICE_CONV_STRIDE_H] = one.attributes[SLUICE_CONV_STRIDE_W] = 2;
    REQUIRE(one.Lower(SLUICE_OP_WEIGHT_GRADIENT, &problem) == Status::kOk);
    CheckExtents(problem, {8, 16, 4, 3, 3, 14, 14, 1});
    CHECK(problem.dilation[0] == 2);
    CHECK(problem.stride[0] == 1);
    CHECK(OperationCount(problem) == int64_t{4} * 14 * 14 * 16 * 8 * 9);
    CHECK(TileWords(problem, kInput, problem.extent) == 4 * 29 * 29 * 8);
    CHECK(TileWords(problem, kWeight, problem.extent) == 4 * 14 * 14 * 16);
    CHECK(TileWords(problem, kOutput, problem.extent) == 16 * 3 * 3 * 8);
  }
  SUBCASE("weight gradient of a depthwise convolution: one group per channel") {
    one.Add(2, 9, 9, 6);
    one.Add(2, 7, 7, 12);
    one.Add(12, 3, 3, 1);
    one.attributes[SLUICE_CONV_GROUPS] = 6;
    REQUIRE(one.Lower(SLUICE_OP_WEIGHT_GRADIENT, &problem) == Status::kOk);
    CheckExtents(problem, {1, 2, 2, 3, 3, 7, 7, 6});
    CHECK(OperationCount(problem) == int64_t{2} * 7 * 7 * 12 * 9);
  }
  SUBCASE("transposed convolution: a channel per phase of the stride") {
    one.Add(2, 14, 14, 16);
    one.Add(8, 4, 4, 16);
    one.Add(2, 28, 28, 8);
    one.attributes[SLUICE_CONV_STRIDE_H] = one.attributes[SLUICE_CONV_STRIDE_W] = 2;
    REQUIRE(one.Lower(SLUICE_OP_TRANSPOSED_CONV, &problem) == Status::kOk);
    CheckExtents(problem, {2, 4 * 8, 16, 14, 14, 2, 2, 1});
    CHECK(OperationCount(problem) == int64_t{2} * 14 * 14 * 16 * 8 * 16);
    CHECK(TileWords(problem, kOutput, problem.extent) == 2 * 28 * 28 * 8);
  }
  SUBCASE("activations read one operand, PRELU its slopes too") {
    one.Add(1, 4, 4, 6);
    one.Add(1, 1, 1, 6);
    one.Add(1, 4, 4, 6);
    REQUIRE(one.Lower(SLUICE_OP_PRELU, &problem) == Status::kOk);
    CheckExtents(problem, {1, 1, 2, 4, 4, 1, 1, 6});
    REQUIRE(one.Lower(SLUICE_OP_HARD_SWISH, &problem) == Status::kOk);
    CheckExtents(problem, {1, 1, 1, 4, 4, 1, 1, 6});
  }
  SUBCASE("ReLU and pool gradients are elementwise") {
    for (int i = 0; i < 3; ++i) one.Add(1, 4, 4, 6);
    REQUIRE(one.Lower(SLUICE_OP_RELU_GRADIENT, &problem) == Status::kOk);
    CheckExtents(problem, {1, 1, 2, 4, 4, 1, 1, 6});
    CHECK(problem.vector);
  }
}

TEST_CASE("mapping problem: rows between windows that do not touch are left out") {
  MappingProblem problem = ConvProblem({1, 8, 8, 28, 28, 1, 1, 2, 1});
  CHECK(WindowSpan(problem, 0, 28, 1) == 28);
  problem.extent[kDimR] = 3;  // touching windows keep the stride
  CHECK(WindowSpan(problem, 0, 28, 3) == 27 * 2 + 3);
}

}  // namespace
}  // namespace sluice
