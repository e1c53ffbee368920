// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of simulated runs as files of floats or of stored elements.
#include "cli/tensor_files.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "cli/failure.h"
#include "import/graph_writer.h"

namespace sluice::cli {
namespace {

using import::GraphWriter;
using import::Kind;

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("sluice_tensors_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string File(const char* name) const { return (path / name).string(); }
  std::string Floats(const char* name, const std::vector<float>& values) const {
    WriteFile(File(name), values.data(), values.size() * 4);
    return File(name);
  }
};

Bytes Graph(uint8_t dtype, float scale) {
  GraphWriter graph("");
  const uint32_t x = graph.AddTensor("x", dtype, Kind::kInput, {1, 4}, -3, scale);
  const uint32_t y = graph.AddTensor("y", dtype, Kind::kOutput, {1, 4}, -3, scale);
  graph.AddLayer("copy", SLUICE_OP_RESHAPE, {x}, {y});
  return graph.Finish();
}

TEST_CASE("tensor files: floats are rounded to the input's steps and clamped") {
  const Folder folder;
  const std::string path = folder.Floats("in.f32", {0.0f, 0.74f, -0.75f, 1000.0f});
  const Bytes int8 = Graph(SLUICE_DTYPE_INT8, 0.5f);
  CHECK(ReadInputs({path}, int8).at(0) == Bytes{0xfd, 0xfe, 0xfb, 0x7f});
  const Bytes int16 = Graph(SLUICE_DTYPE_INT16, 0.5f);
  CHECK(ReadInputs({path}, int16).at(0) ==
        Bytes{0xfd, 0xff, 0xfe, 0xff, 0xfb, 0xff, 0xcd, 0x07});
  CHECK(ReadInputs({}, int8).empty());
}

TEST_CASE("tensor files: outputs are written as elements, or as what they mean") {
  const Folder folder;
  const Bytes graph = Graph(SLUICE_DTYPE_INT8, 0.5f);
  const Bytes stored = {0xfd, 0xfe, 0xfb, 0x7f};
  WriteOutputs({folder.File("out.f32")}, graph, {stored});
  const Bytes file = ReadFile(folder.File("out.f32"));
  float floats[4];
  REQUIRE(file.size() == sizeof floats);
  std::memcpy(floats, file.data(), sizeof floats);
  CHECK(floats[0] == 0.0f);
  CHECK(floats[1] == 0.5f);
  CHECK(floats[2] == -1.0f);
  CHECK(floats[3] == 65.0f);
  WriteOutputs({folder.File("out.bin")}, graph, {stored});
  CHECK(ReadFile(folder.File("out.bin")) == stored);
}

TEST_CASE("tensor files: one for each, and floats for what has a scale") {
  const Folder folder;
  const std::string path = folder.Floats("in.f32", {0, 0, 0, 0});
  CHECK_THROWS_AS(ReadInputs({path, path}, Graph(SLUICE_DTYPE_INT8, 0.5f)), Failure);
  CHECK_THROWS_AS(ReadInputs({path}, Graph(SLUICE_DTYPE_INT8, 0)), Failure);
  CHECK_THROWS_AS(ReadInputs({path}, Graph(SLUICE_DTYPE_INT64, 0.5f)), Failure);
  CHECK_THROWS_AS(WriteOutputs({path}, Graph(SLUICE_DTYPE_INT8, 0.5f), {}), Failure);
}

}  // namespace
}  // namespace sluice::cli
