// SPDX-License-Identifier: Apache-2.0
// RoiAlign and MaxUnpool through the whole import.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

TEST_CASE("onnx regions: maxima go back to where they were") {
  TinyOnnx model;
  model.Input("x", {1, 1, 2, 4});
  model.Quantised("x", "xq", 1, 0);
  onnx::NodeProto* pool = model.Node("MaxPool", {"xq"}, {"m", "at"});
  TinyOnnx::Ints(pool, "kernel_shape", {2, 2});
  TinyOnnx::Ints(pool, "strides", {2, 2});
  onnx::NodeProto* back = model.Node("MaxUnpool", {"m", "at"}, {"y"});
  TinyOnnx::Ints(back, "kernel_shape", {2, 2});
  TinyOnnx::Ints(back, "strides", {2, 2});
  model.Output("y");
  CHECK(RealsFor(model, {1, 2, 3, 4, 9, 5, 6, 7}) == Reals{0, 0, 0, 0, 9, 0, 0, 7});
}

TEST_CASE("onnx regions: a region is averaged between pixels") {
  TinyOnnx model;
  model.proto.mutable_opset_import(0)->set_version(16);
  model.Input("x", {1, 1, 2, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("region", {1, 4}, {0.5f, 0.5f, 1.5f, 1.5f});
  model.Integers("which", {0});
  onnx::NodeProto* node = model.Node("RoiAlign", {"xq", "region", "which"}, {"y"});
  TinyOnnx::Int(node, "output_height", 1);
  TinyOnnx::Int(node, "output_width", 1);
  TinyOnnx::Int(node, "sampling_ratio", 1);
  model.Output("y");
  CHECK(RealsFor(model, {2, 4, 6, 8}) == Reals{5});
}

TEST_CASE("onnx regions: places of columns first are refused by name") {
  TinyOnnx model;
  model.Input("x", {1, 1, 2, 4});
  model.Quantised("x", "xq", 1, 0);
  onnx::NodeProto* pool = model.Node("MaxPool", {"xq"}, {"m", "at"});
  TinyOnnx::Ints(pool, "kernel_shape", {2, 2});
  TinyOnnx::Int(pool, "storage_order", 1);
  model.Node("MaxUnpool", {"m", "at"}, {"y"});
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "1 x MaxPool (indices of the maxima"));
}

}  // namespace
}  // namespace sluice_test
