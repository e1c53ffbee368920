// SPDX-License-Identifier: Apache-2.0
// ONNX files read into checked structs: contradictory models, open dimensions,
// constants in other files.
#include <filesystem>
#include <fstream>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

TEST_CASE("onnx model: models that lie are refused by naming the node or tensor") {
  const Bytes garbage = {1, 2, 3, 4, 5, 6, 7};
  CHECK(Says(Complaint(garbage), "not an ONNX model"));
  CHECK(Says(Complaint({}), "not an ONNX model"));
  const auto chain = [](const std::vector<std::string>& reads) {
    TinyOnnx model;
    model.Input("x", {1, 4});
    for (size_t i = 0; i < reads.size(); ++i) {
      model.Node("Add", {"x", reads[i]}, {"n" + std::to_string(i)});
    }
    model.Output("n" + std::to_string(reads.size() - 1));
    return model;
  };
  CHECK(Complaint(chain({"n1", "n2", "x"}).Finish()) == "");  // nodes in any order
  CHECK(Says(Complaint(chain({"n2", "n0", "n1"}).Finish()), "a cycle of nodes, n0"));
  CHECK(Says(Complaint(chain({"ghost"}).Finish()),
             "node n0 reads ghost, which nobody writes"));
  TinyOnnx twice = chain({"x", "x"});
  twice.graph->mutable_node(1)->set_output(0, "n0");
  CHECK(Says(Complaint(twice.Finish()), "tensor n0 is written twice"));
  TinyOnnx nothing = chain({"x"});
  nothing.Output("ghost");
  CHECK(Says(Complaint(nothing.Finish()), "output ghost: nobody writes it"));
  TinyOnnx strings;
  strings.Input("x", {1, 4}, onnx::TensorProto::STRING);
  strings.Node("Identity", {"x"}, {"y"});
  strings.Output("y");
  CHECK(Says(Complaint(strings.Finish()), "input x has elements of type STRING"));
  TinyOnnx shapeless = chain({"x"});
  shapeless.graph->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  CHECK(Says(Complaint(shapeless.Finish()), "input x has no shape"));
  TinyOnnx unknown;  // no inference finds m's shape
  unknown.Input("x", {1, 4});
  unknown.Node("Mystery", {"x"}, {"m"})->set_domain("acme");
  unknown.Node("Relu", {"m"}, {"y"});
  unknown.Output("y");
  CHECK(Says(Complaint(unknown.Finish()), "acme.Mystery"));
  OnnxImportOptions opaque;
  opaque.allow_opaque = true;
  CHECK(Says(Complaint(unknown.Finish(), opaque), "tensor m"));
}

TEST_CASE("onnx model: dynamic dimensions are fixed by name or place, or named") {
  TinyOnnx model;
  model.Input("x", {-1, 3, 8, 8});
  model.Floats("w", {6, 3, 3, 3});
  model.Node("Conv", {"x", "w"}, {"c"});
  model.Node("Shape", {"c"}, {"shape"});
  model.Integers("zero", {0});
  model.Node("Gather", {"shape", "zero"}, {"n"});
  model.Integers("rest", {-1});
  TinyOnnx::Int(model.Node("Concat", {"n", "rest"}, {"to"}), "axis", 0);
  model.Node("Reshape", {"c", "to"}, {"y"});
  model.Output("y", {-1, 216});
  CHECK(Says(Complaint(model.Finish()), "\n  batch (input x, axis 0)"));
  OnnxImportOptions options;
  options.dims = {{"bach", 2}};
  CHECK(Says(Complaint(model.Finish(), options), "bach"));
  options.dims = {{"batch", 2}};
  const ImportAndGraph import = Import(model.Finish(), options);
  CHECK(Count(import, SLUICE_OP_CONV) == 1);
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  uint32_t output = 0;
  while (graph.tensor_kind()->Get(output) != 2) ++output;
  const uint32_t begin = graph.tensor_dim_begin()->Get(output);
  CHECK(graph.tensor_dims()->Get(begin) == 2);
  CHECK(graph.tensor_dims()->Get(begin + 1) == 216);
  options.dims = {{"x:0", 3}};
  CHECK(Complaint(model.Finish(), options) == "");
}

// The caller's functions for constants in other files of a folder.
sluice_external_files_t FilesIn(const std::filesystem::path* folder) {
  sluice_external_files_t files = {};
  files.struct_size = sizeof files;
  files.user = const_cast<std::filesystem::path*>(folder);
  files.size = [](void* user, const char* file, uint64_t* bytes) -> int32_t {
    std::error_code error;
    *bytes = std::filesystem::file_size(
        *static_cast<std::filesystem::path*>(user) / file, error);
    return error ? 1 : 0;
  };
  files.read = [](void* user, const char* file, uint64_t offset, uint64_t bytes,
                  void* into) -> int32_t {
    std::ifstream in(*static_cast<std::filesystem::path*>(user) / file);
    in.seekg(static_cast<std::streamoff>(offset));
    in.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
    return in ? 0 : 1;
  };
  return files;
}

TEST_CASE("onnx model: constants that are cut off or outside are refused by name") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  onnx::TensorProto* w = model.Floats("w", {4, 4});
  model.Node("MatMul", {"x", "w"}, {"y"});
  model.Output("y");
  CHECK(Complaint(model.Finish()) == "");
  w->mutable_float_data()->RemoveLast();
  CHECK(Says(Complaint(model.Finish()), "tensor w holds 60 bytes; its shape needs 64"));
  w->set_data_type(onnx::TensorProto::COMPLEX64);
  CHECK(Says(Complaint(model.Finish()), "tensor w has elements of type COMPLEX64"));
  w->set_data_type(onnx::TensorProto::FLOAT);
  w->set_dims(0, -4);
  CHECK(Says(Complaint(model.Finish()), "tensor w has an impossible extent"));
  w->set_dims(0, 4);
  w->clear_float_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto* location = w->add_external_data();
  location->set_key("location");
  location->set_value("weights.bin");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "sluice_onnx_test";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / "weights.bin");
  OnnxImportOptions options;
  const sluice_external_files_t files = FilesIn(&folder);
  options.external = &files;
  CHECK(Complaint(model.Finish(), options) == "");  // floats: for its shapes
  std::ofstream(folder / "weights.bin") << "too short";
  CHECK(
      Says(Complaint(model.Finish(), options), "tensor w: its external data need 64"));
  std::ofstream(folder / "weights.bin") << std::string(64, 'x');
  CHECK(Complaint(model.Finish(), options) == "");
  location->set_value("../weights.bin");
  CHECK(Says(Complaint(model.Finish(), options), "outside the model's folder"));
  std::filesystem::remove_all(folder);
}

// The file is a few hundred bytes; what is read beside it counts as much.
TEST_CASE("onnx model: the limit on constants grows by what is read from other files") {
  TinyOnnx model;
  model.Input("x", {1, 4}, onnx::TensorProto::INT8);
  model.Int8s("w", {4, 64}, std::vector<int8_t>(256, 1));
  onnx::TensorProto* w = model.graph->mutable_initializer(0);
  model.Node("MatMulInteger", {"x", "w"}, {"y"});
  model.Output("y", {1, 64}, onnx::TensorProto::INT32);
  w->clear_int32_data();
  w->clear_raw_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto* location = w->add_external_data();
  location->set_key("location");
  location->set_value("weights.bin");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "sluice_onnx_limit_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "weights.bin") << std::string(256, 'x');
  OnnxImportOptions options;
  const sluice_external_files_t files = FilesIn(&folder);
  options.external = &files;
  options.max_constant_bytes = 64;
  const Bytes bytes = model.Finish();
  CHECK_THROWS_WITH(ImportOnnx(bytes.data(), bytes.size(), options),
                    doctest::Contains("exceeds the limit of 64"));
  options.for_external_byte = 16;
  CHECK(Complaint(model.Finish(), options) == "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sluice_test
