// SPDX-License-Identifier: Apache-2.0
// Models of floats alone, read without the bytes of their weights.
#include "import/onnx/onnx_wire.h"

#include <algorithm>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

using sluice::import::ReadSlim;
using sluice::import::SlimModel;

// x * w + b, with a weight of 128 * 128 floats as raw bytes.
TinyOnnx Product() {
  TinyOnnx model;
  model.Input("x", {1, 128});
  onnx::TensorProto* w = model.graph->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT);
  w->add_dims(128);
  w->add_dims(128);
  w->set_raw_data(std::string(128 * 128 * 4, 'w'));
  model.Floats("b", {128});
  model.Node("MatMul", {"x", "w"}, {"m"});
  model.Node("Add", {"m", "b"}, {"y"});
  model.Output("y");
  return model;
}

TEST_CASE("onnx wire: what is left is the model without its weights' bytes") {
  const TinyOnnx model = Product();
  const Bytes bytes = model.Finish();
  SlimModel slim;
  REQUIRE(ReadSlim(bytes.data(), bytes.size(), &slim));
  CHECK(slim.file.size() < 2000);
  CHECK(slim.floats_alone);
  REQUIRE(slim.constants.size() == 2);
  CHECK(slim.constants[1].data == nullptr);
  REQUIRE(slim.constants[0].size == 128 * 128 * 4);
  CHECK(slim.constants[0].floats);
  CHECK(std::all_of(slim.constants[0].data, slim.constants[0].data + 128 * 128 * 4,
                    [](uint8_t byte) { return byte == 'w'; }));
  onnx::ModelProto want = model.proto, got;
  want.mutable_graph()->mutable_initializer(0)->clear_raw_data();
  REQUIRE(got.ParseFromString(slim.file));
  CHECK(got.SerializeAsString() == want.SerializeAsString());
  const ImportAndGraph import = Import(bytes);
  CHECK(import.shapes_only.size() == 2);
  CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == 1);
  // Seeded weights do not depend on the bytes.
  TinyOnnx other = Product();
  other.graph->mutable_initializer(0)->set_raw_data(std::string(128 * 128 * 4, 'v'));
  CHECK(Import(other.Finish()).graph == import.graph);
}

TEST_CASE("onnx wire: a model that quantises is said to, and damaged ones are none") {
  TinyOnnx model = Product();
  model.Quantised("y", "z", 0.5f, 0);
  model.Output("z");
  Bytes bytes = model.Finish();
  SlimModel slim;
  REQUIRE(ReadSlim(bytes.data(), bytes.size(), &slim));
  CHECK(!slim.floats_alone);
  CHECK(slim.constants[0].data != nullptr);
  bytes = Product().Finish();
  int readable = 0;
  for (size_t size = 0; size < bytes.size(); size += 97) {
    readable += ReadSlim(bytes.data(), size, &slim) ? 1 : 0;
  }
  CHECK(readable <= 8);  // lengths at which a field of the model ends
}

TEST_CASE(
    "onnx wire: weights in files that are not there are seeded, large and small ones") {
  const auto outside = [](TinyOnnx* model, int initializer) {
    auto* tensor = model->graph->mutable_initializer(initializer);
    tensor->clear_raw_data();
    tensor->clear_float_data();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = tensor->add_external_data();
    entry->set_key("location");
    entry->set_value("weights.bin");
  };
  TinyOnnx model = Product();
  outside(&model, 0);
  CHECK(Import(model.Finish()).graph == Import(Product().Finish()).graph);
  outside(&model, 1);
  CHECK(Complaint(model.Finish()) == "");
  TinyOnnx quantised = Product();
  outside(&quantised, 0);
  quantised.Quantised("y", "z", 0.5f, 0);
  quantised.Output("z");
  CHECK(Says(Complaint(quantised.Finish()), "external data are absent"));
}

}  // namespace
}  // namespace sluice_test
