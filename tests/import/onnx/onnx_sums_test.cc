// SPDX-License-Identifier: Apache-2.0
// What is no sum of products of bytes.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

TinyOnnx Rows(int64_t depth) {
  TinyOnnx model;
  model.Input("x", {1, depth});
  model.Quantised("x", "xq", 1, 0);
  model.Stored("w", {depth, 1}, std::vector<int8_t>(static_cast<size_t>(depth), 1), 1,
               0);
  model.Node("MatMul", {"xq", "w"}, {"y"});
  model.Output("y");
  return model;
}

TEST_CASE("onnx sums: the longest sum that cannot overflow is a unit's") {
  CHECK(Count(Import(Rows(32768).Finish()), SLUICE_OP_FULLY_CONNECTED) == 1);
  CHECK(Count(Import(Rows(32769).Finish()), SLUICE_OP_FULLY_CONNECTED) == 0);
  const TinyOnnx longest = Rows(32769);
  CHECK(RealsFor(longest, Bytes(32769, 100)) == Reals{3276900});
}

TEST_CASE("onnx sums: a row by a column of floats is the host's") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Node("Sqrt", {"xq"}, {"root"});
  model.Reals("w", {2, 1}, {0.5f, 3});
  model.Node("MatMul", {"root", "w"}, {"y"});
  model.Output("y");
  CHECK(RealsFor(model, {4, 25}) == Reals{16});
  CHECK(Count(Import(model.Finish()), SLUICE_OP_FULLY_CONNECTED) == 0);
}

}  // namespace
}  // namespace sluice_test
