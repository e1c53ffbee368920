// SPDX-License-Identifier: Apache-2.0
// Products whose axes an equation names, on the host and on a unit.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

// x is [[1, 2], [3, 4]], w is [[1, 10], [100, 1000]].
Reals Einsum(const std::string& equation) {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("w", {2, 2}, {1, 10, 100, 1000});
  Text(model.Node("Einsum", {"xq", "w"}, {"y"}), "equation", equation);
  model.Output("y", {2, 2});
  return RealsFor(model, {1, 2, 3, 4});
}

TEST_CASE("onnx contraction: an equation is a product of matrices, however axes lie") {
  CHECK(Einsum("ij,jk->ik") == Reals{201, 2010, 403, 4030});
  CHECK(Einsum("ij,kj->ik") == Reals{21, 2100, 43, 4300});
  CHECK(Einsum("ji,jk->ik") == Reals{301, 3010, 402, 4020});
}

TEST_CASE("onnx contraction: one operand changes the order of its axes alone") {
  for (const bool diagonal : {false, true}) {
    TinyOnnx model;
    model.Input("x", {2, 2});
    model.Quantised("x", "xq", 1, 0);
    Text(model.Node("Einsum", {"xq"}, {"t"}), "equation",
         diagonal ? "ii->i" : "ij->ji");
    model.Quantised("t", "y", 1, 0);
    model.Output("y", diagonal ? std::vector<int64_t>{2} : std::vector<int64_t>{2, 2});
    if (diagonal) {
      CHECK(Says(Complaint(model.Finish()), "one letter each"));
    } else {
      const ImportAndGraph import = Import(model.Finish());
      CHECK(OutputFor(import, {1, 2, 3, 4}) == Bytes{1, 2, 3, 4});
      CHECK(Says(import.interface.back(), "axes in the order 1 0"));
    }
  }
}

// a [2,1,2] by b [3,2] or [2,3,2,1], both quantised; the result in steps of 1.
TEST_CASE("onnx contraction: quantised operands are a unit's, also with batches") {
  TinyOnnx model;
  model.Input("x", {2, 1, 1, 2});
  model.Quantised("x", "a", 1, 0);
  model.Stored("b", {3, 2, 1}, {1, 0, 0, 1, 2, -1}, 1, 0);
  model.Node("MatMul", {"a", "b"}, {"p"});
  model.Quantised("p", "y", 1, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.hosted.empty());
  // Rows (1, 2) and (3, 4) by columns (1, 0), (0, 1) and (2, -1).
  CHECK(OutputFor(import, {1, 2, 3, 4}) == Bytes{1, 2, 0, 3, 4, 2});
}

TEST_CASE("onnx contraction: a vector by a weight with a scale for each column") {
  TinyOnnx model;
  model.Input("x", {2});
  model.Quantised("x", "a", 0.5f, 1);
  model.Int8s("wq", {2, 2}, {1, 2, 3, 4});
  model.Int8s("wz", {2}, {0, 0});
  model.Reals("ws", {2}, {1, 0.5f});
  TinyOnnx::Int(model.Node("DequantizeLinear", {"wq", "ws", "wz"}, {"w"}), "axis", 1);
  model.Node("MatMul", {"a", "w"}, {"p"});
  model.Quantised("p", "y", 0.5f, 0);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == 1);
  CHECK(import.hosted.empty());
  // x is 1, 2 -> 7 and 5, in steps of 0.5.
  CHECK(OutputFor(import, {3, 5}) == Bytes{14, 10});
}

TEST_CASE("onnx contraction: Gemm with a transposed operand, factors and a bias") {
  TinyOnnx model;
  model.Input("x", {2, 2});
  model.Quantised("x", "a", 1, 0);
  model.Reals("w", {2, 2}, {1, 10, 100, 1000});
  model.Reals("c", {1, 2}, {1, 2});
  onnx::NodeProto* gemm = model.Node("Gemm", {"a", "w", "c"}, {"y"});
  TinyOnnx::Int(gemm, "transA", 1);
  for (const char* name : {"alpha", "beta"}) {
    onnx::AttributeProto* factor = gemm->add_attribute();
    factor->set_name(name);
    factor->set_type(onnx::AttributeProto::FLOAT);
    factor->set_f(name[0] == 'a' ? 0.5f : 3);
  }
  model.Output("y");
  CHECK(RealsFor(model, {1, 2, 3, 4}) == Reals{153.5f, 1511, 204, 2016});
}

TEST_CASE("onnx contraction: two operands that are quantised at run time") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  model.Node("Transpose", {"q"}, {"t"});
  model.Node("MatMulInteger", {"q", "t", "z", "z"}, {"i"});
  TinyOnnx::Int(model.Node("Cast", {"i"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  model.Output("y");
  CHECK(RealsFor(model, BitsOfReals({-55, 200})) == Reals{55 * 55 + 200 * 200});
  CHECK(Count(Import(model.Finish()), SLUICE_OP_BATCH_MATMUL) == 1);
}

}  // namespace
}  // namespace sluice_test
