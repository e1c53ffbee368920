// SPDX-License-Identifier: Apache-2.0
// Weights of 4 and 8 bits in blocks.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

// One column of K weights that are 2, with a scale of 1 in the first block and 10 in the second.
TinyOnnx Bits(int64_t bits, int64_t k, bool zeros) {
  TinyOnnx model;
  model.Input("x", {1, 2, k});
  const int64_t blocks = (k + 15) / 16, bytes = blocks * 16 * bits / 8;
  onnx::TensorProto* weight = model.graph->add_initializer();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::UINT8);
  for (const int64_t dim : {int64_t{1}, blocks, 16 * bits / 8}) weight->add_dims(dim);
  const int number = (zeros ? 5 : bits == 4 ? 8 : 128) + 2;
  weight->set_raw_data(std::string(
      static_cast<size_t>(bytes), static_cast<char>(bits == 4 ? number * 17 : number)));
  Reals scales;
  for (int64_t i = 0; i < blocks; ++i) scales.push_back(i == 0 ? 1.0f : 10.0f);
  model.Reals("s", {blocks}, scales);
  std::vector<std::string> inputs = {"x", "w", "s"};
  if (zeros) {
    onnx::TensorProto* zero = model.graph->add_initializer();
    zero->set_name("z");
    zero->set_data_type(onnx::TensorProto::UINT8);
    const int64_t packed = (blocks * bits + 7) / 8;
    zero->add_dims(packed);
    zero->set_raw_data(std::string(static_cast<size_t>(packed), bits == 4 ? 0x55 : 5));
    inputs.push_back("z");
  }
  onnx::NodeProto* node = Contrib(&model, "MatMulNBits", inputs, "y");
  TinyOnnx::Int(node, "K", k);
  TinyOnnx::Int(node, "N", 1);
  TinyOnnx::Int(node, "bits", bits);
  TinyOnnx::Int(node, "block_size", 16);
  model.Output("y");
  return model;
}

TEST_CASE("onnx bits: blocks are products of a unit, scaled and added up") {
  for (const int64_t bits : {4, 8}) {
    for (const int64_t k : {16, 32, 40}) {
      for (const bool zeros : {false, true}) {
        CAPTURE(bits);
        CAPTURE(k);
        Reals x(static_cast<size_t>(2 * k), 1.0f);
        for (size_t i = static_cast<size_t>(k); i < x.size(); ++i) x[i] = -0.5f;
        const TinyOnnx model = Bits(bits, k, zeros);
        const float first = static_cast<float>(2 * (16 + 10 * (k - 16)));
        CHECK(RealsFor(model, BitsOfReals(x)) == Reals{first, -first / 2});
      }
    }
  }
}

TEST_CASE(
    "onnx bits: weights above a kilobyte, which the importer leaves in the file") {
  TinyOnnx model;
  model.Input("x", {1, 64});
  onnx::TensorProto* weight = model.graph->add_initializer();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::UINT8);
  for (const int64_t dim : {64, 1, 32}) weight->add_dims(dim);
  weight->set_raw_data(std::string(2048, '\x99'));
  model.Reals("s", {64, 1}, Reals(64, 1.0f));
  onnx::NodeProto* node = Contrib(&model, "MatMulNBits", {"x", "w", "s"}, "y");
  TinyOnnx::Int(node, "K", 64);
  TinyOnnx::Int(node, "N", 64);
  TinyOnnx::Int(node, "bits", 4);
  TinyOnnx::Int(node, "block_size", 64);
  model.Output("y");
  CHECK(RealsFor(model, BitsOfReals(Reals(64, 1.0f))) == Reals(64, 64.0f));
  CHECK(Count(Import(model.Finish()), SLUICE_OP_FULLY_CONNECTED) == 1);
}

}  // namespace
}  // namespace sluice_test
