// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// The bytes 0, 1, 2, ... after the operator.
Bytes Moved(const char* op, int64_t channels, const char* mode) {
  TinyOnnx model;
  const int64_t large = channels == 8 ? 1 : 2;
  model.Input("x", {1, channels, large, large}, onnx::TensorProto::UINT8);
  onnx::NodeProto* node = model.Node(op, {"x"}, {"y"});
  TinyOnnx::Int(node, "blocksize", 2);
  if (mode != nullptr) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name("mode");
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(mode);
  }
  model.Output("y", {}, onnx::TensorProto::UINT8);
  Bytes input(8);
  std::iota(input.begin(), input.end(), uint8_t{0});
  return OutputFor(Import(model.Finish()), input);
}

TEST_CASE("onnx permutation: blocks of depth become space, and back") {
  // Outputs by row, column, channel c. DCR takes input channel (row * 2 + column) * 2 +
  // c, CRD takes c * 4 + row * 2 + column.
  CHECK(Moved("DepthToSpace", 8, "DCR") == Bytes{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(Moved("DepthToSpace", 8, "CRD") == Bytes{0, 4, 1, 5, 2, 6, 3, 7});
  // The input has two channels of 2 x 2, stored one after the other as in ONNX.
  CHECK(Moved("SpaceToDepth", 2, nullptr) == Bytes{0, 4, 1, 5, 2, 6, 3, 7});
}

TEST_CASE("onnx permutation: five axes in any order") {
  TinyOnnx model;
  model.Input("x", {2, 1, 2, 2, 2, 2}, onnx::TensorProto::UINT8);
  TinyOnnx::Ints(model.Node("Transpose", {"x"}, {"t"}), "perm", {5, 3, 0, 2, 4, 1});
  model.Integers("flat", {32});
  model.Node("Reshape", {"t", "flat"}, {"y"});
  model.Output("y", {}, onnx::TensorProto::UINT8);
  Bytes input(32);
  std::iota(input.begin(), input.end(), uint8_t{0});
  const Bytes got = OutputFor(Import(model.Finish()), input);
  REQUIRE(got.size() == 32);
  for (int i = 0; i < 32; ++i) {
    // i's bits from the highest: axes 5 3 0 2 4, whose strides in x are 1 4 16 8 2.
    const int want = (i >> 4 & 1) * 1 + (i >> 3 & 1) * 4 + (i >> 2 & 1) * 16 +
                     (i >> 1 & 1) * 8 + (i & 1) * 2;
    CHECK(got[static_cast<size_t>(i)] == want);
  }
}

}  // namespace
}  // namespace sluice_test
