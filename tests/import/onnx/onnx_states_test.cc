// SPDX-License-Identifier: Apache-2.0
// Inputs of ONNX models that hold what an output was: three runs in a row.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

// y = past_1 + x; present_1 = x, in the steps of `scale`.
Bytes Cached(float scale, int64_t extent) {
  TinyOnnx model;
  model.Input("past_1", {1, 4});
  model.Input("x", {1, 4});
  model.Quantised("past_1", "p", 0.5f, 10);
  model.Quantised("x", "xq", 0.5f, 0);
  model.Node("Add", {"p", "xq"}, {"sum"});
  model.Quantised("sum", "y", 0.5f, 0);
  model.Integers("begin", {0});
  model.Integers("end", {extent});
  model.Integers("axis", {1});
  model.Node("Slice", {"xq", "begin", "end", "axis"}, {"cut"});
  model.Quantised("cut", "present_1", scale, 0);
  model.Output("y");
  model.Output("present_1");
  return model.Finish();
}

OnnxImportOptions Found() {
  OnnxImportOptions options;
  options.states.find = true;
  return options;
}

TEST_CASE("onnx states: a run reads what the one before has written, zeros at first") {
  const ImportAndGraph import = Import(Cached(0.5f, 4), Found());
  CHECK(import.inputs == 1);
  CHECK(import.outputs == 1);
  CHECK(Count(import, SLUICE_OP_STATE_APPEND) == 1);
  CHECK(import.interface.back().find("output y") == 0);
  std::vector<Bytes> states;
  const auto next = [&](const Bytes& x) {
    const std::vector<Bytes> inputs = {x};
    sluice_sim::SimulateOptions options;
    options.graph = import.graph.data();
    options.graph_size = import.graph.size();
    options.inputs = &inputs;
    options.state_tensors = &states;
    const auto result = sluice_sim::RunReference(options);
    REQUIRE_MESSAGE(result.ok, result.error);
    return result.outputs.at(0);
  };
  CHECK(next({1, 2, 3, 4}) == Bytes{1, 2, 3, 4});
  CHECK(next({1, 1, 1, 1}) == Bytes{2, 3, 4, 5});
  CHECK(next({0, 0, 0, 0}) == Bytes{1, 1, 1, 1});
}

TEST_CASE("onnx states: unasked, inputs stay inputs, and extents must be equal") {
  CHECK(Import(Cached(0.5f, 4)).inputs == 2);
  CHECK(Says(Complaint(Cached(0.5f, 3), Found()), "caches of a fixed length"));
  OnnxImportOptions named;
  named.states.given = {{"x", "nothing"}};
  CHECK(Says(Complaint(Cached(0.5f, 4), named), "no output called nothing"));
}

}  // namespace
}  // namespace sluice_test
