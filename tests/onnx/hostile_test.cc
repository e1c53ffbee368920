// SPDX-License-Identifier: Apache-2.0
// ONNX models of a few hundred bytes that ask for gigabytes, or for a division by zero.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>

#include "sluice/import.h"
#include "tests/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

constexpr int64_t kHuge = int64_t{1} << 27;
constexpr int kInt64 = onnx::TensorProto::INT64;

// Imports in a process of its own that may have 512 MiB; the status, or 100 more than the
// signal that ended it.
int StatusOf(const std::vector<uint8_t>& model) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {rlim_t{512} << 20, rlim_t{512} << 20};
    setrlimit(RLIMIT_AS, &limit);
    sluice_import_options_t options;
    std::memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.allow_opaque = 1;
    sluice_bytes_t graph;
    const sluice_status_t status = sluice_import_model(
        model.data(), model.size(), &options, &graph, nullptr, nullptr);
    _exit(-status);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  return WIFEXITED(ended) ? -WEXITSTATUS(ended) : 100 + WTERMSIG(ended);
}

struct Hostile {
  const char* name;
  std::function<void(TinyOnnx*)> make;
  sluice_status_t status;
};

void CheckEach(const std::vector<Hostile>& models) {
  for (const Hostile& hostile : models) {
    CAPTURE(std::string(hostile.name));
    TinyOnnx model;
    hostile.make(&model);
    model.Output("y");
    CHECK(StatusOf(model.Finish()) == hostile.status);
  }
}

TEST_CASE(
    "onnx: sizes that the file does not hold are refused before memory is taken") {
  const auto wide_weight = [](TinyOnnx* m) {
    m->Integers("shape", {kHuge, 4});
    m->Node("ConstantOfShape", {"shape"}, {"w"});
    m->Input("x", {1, 4});
    TinyOnnx::Int(m->Node("Gemm", {"x", "w"}, {"y"}), "transB", 1);
  };
  const auto wide_norm = [](TinyOnnx* m) {
    m->Input("x", {1, kHuge, 1, 1});
    m->Floats("s", {1});
    m->Node("BatchNormalization", {"x", "s", "s", "s", "s"}, {"y"});
  };
  CheckEach({{"a weight whose shape is computed", wide_weight, SLUICE_OUT_OF_MEMORY},
             {"factors of many channels", wide_norm, SLUICE_OUT_OF_MEMORY}});
}

TEST_CASE("onnx: a shape of many numbers gives no tensor of many axes") {
  const auto of_input = [](const char* op) {
    return [op](TinyOnnx* m) {
      m->Input("x", {1, 4});
      m->Input("s", {kHuge}, kInt64);
      if (std::string(op) == "Expand") {
        m->Node(op, {"x", "s"}, {"y"});
      } else {
        m->Node(op, {"s"}, {"y"});
      }
    };
  };
  const auto of_constant = [](TinyOnnx* m) {
    m->Integers("n", {kHuge});
    m->Node("ConstantOfShape", {"n"}, {"s"});
    m->Node("ConstantOfShape", {"s"}, {"y"});
  };
  const auto in_branch = [](TinyOnnx* m) {
    m->Input("c", {1}, onnx::TensorProto::BOOL);
    m->Input("s", {kHuge}, kInt64);
    onnx::NodeProto* branch = m->Node("If", {"c"}, {"y"});
    for (const char* name : {"then_branch", "else_branch"}) {
      TinyOnnx inner;
      inner.Node("ConstantOfShape", {"s"}, {"z"});
      inner.Output("z");
      onnx::AttributeProto* attribute = branch->add_attribute();
      attribute->set_name(name);
      attribute->set_type(onnx::AttributeProto::GRAPH);
      *attribute->mutable_g() = *inner.graph;
    }
  };
  CheckEach({{"Expand", of_input("Expand"), SLUICE_BAD_INPUT},
             {"ConstantOfShape", of_input("ConstantOfShape"), SLUICE_BAD_INPUT},
             {"of a constant", of_constant, SLUICE_BAD_INPUT},
             {"in a branch", in_branch, SLUICE_BAD_INPUT}});
}

TEST_CASE("onnx: attributes that inference divides by are looked at first") {
  const auto pool = [](const char* attribute, std::vector<int64_t> values) {
    return [=](TinyOnnx* m) {
      m->Input("x", {1, 4, 8, 8});
      onnx::NodeProto* node = m->Node("MaxPool", {"x"}, {"y"});
      if (std::string(attribute) != "kernel_shape") {
        TinyOnnx::Ints(node, "kernel_shape", {2, 2});
      }
      TinyOnnx::Ints(node, attribute, values);
    };
  };
  const auto space = [](TinyOnnx* m) {
    m->Input("x", {1, 4, 8, 8});
    TinyOnnx::Int(m->Node("SpaceToDepth", {"x"}, {"y"}), "blocksize", 0);
  };
  CheckEach({{"strides", pool("strides", {0, 1}), SLUICE_BAD_INPUT},
             {"dilations", pool("dilations", {1, -1}), SLUICE_BAD_INPUT},
             {"kernel", pool("kernel_shape", {0, 2}), SLUICE_BAD_INPUT},
             {"pads", pool("pads", {INT64_MAX, 0, 0, 1}), SLUICE_BAD_INPUT},
             {"blocksize", space, SLUICE_BAD_INPUT}});
}

}  // namespace
}  // namespace sluice_test
