// SPDX-License-Identifier: Apache-2.0
// What the C interface answers to ONNX models that cannot be expressed: a status for
// the kind of fault, and a report. The report also lists operators that left no layer.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "sluice/import.h"
#include "support/files.h"
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

struct Answer {
  sluice_status_t status = SLUICE_OK;
  std::string message;
  std::vector<std::string> refused, folded;  // "2 x Op: reason"
};

std::vector<std::string> Lines(const sluice_import_report_t* report, uint32_t list) {
  std::vector<std::string> lines;
  sluice_import_entry_t entry;
  std::memset(static_cast<void*>(&entry), 0, sizeof entry);
  entry.struct_size = sizeof entry;
  for (uint32_t i = 0; sluice_import_report_entry(report, list, i, &entry) == SLUICE_OK;
       ++i) {
    lines.push_back(std::to_string(entry.count) + " x " + entry.name + ": " +
                    entry.reason);
  }
  return lines;
}

Answer Ask(const Bytes& model, bool allow_opaque = false) {
  sluice_import_options_t options;
  std::memset(static_cast<void*>(&options), 0, sizeof options);
  options.struct_size = sizeof options;
  options.format = SLUICE_MODEL_ONNX;
  options.allow_opaque = allow_opaque ? 1 : 0;
  sluice_bytes_t graph;
  sluice_import_report_t* report = nullptr;
  Answer answer;
  answer.status = sluice_import_model(model.data(), model.size(), &options, &graph,
                                      &report, nullptr);
  REQUIRE(report != nullptr);  // a failed import has one, too
  answer.message = sluice_import_report_message(report);
  answer.refused = Lines(report, SLUICE_IMPORT_REFUSED);
  answer.folded = Lines(report, SLUICE_IMPORT_FOLDED);
  sluice_import_report_destroy(report);
  sluice_bytes_release(nullptr, &graph);
  return answer;
}

using List = std::vector<std::string>;

// x, quantised by the tensors "s" and "z" that `give` adds, and dequantised again.
Bytes QuantisedInput(const std::function<void(TinyOnnx*)>& give) {
  TinyOnnx model;
  model.Input("x", {1, 4});
  give(&model);
  model.Node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.Node("DequantizeLinear", {"q", "s", "z"}, {"y"});
  model.Output("y", {1, 4});
  return model.Finish();
}

struct Case {
  const char* name;
  std::function<void(TinyOnnx*)> give;
  const char* reason;
};

TEST_CASE(
    "onnx report: an input quantised as no graph can is refused by its operator") {
  const auto wide = [](TinyOnnx* m) {
    m->Reals("s", {}, {0.5f});
    onnx::TensorProto* zero = m->graph->add_initializer();
    zero->set_name("z");
    zero->set_data_type(onnx::TensorProto::INT32);
    zero->add_int32_data(0);
  };
  const auto axes = [](TinyOnnx* m) {
    m->Reals("s", {4}, {0.5f, 0.5f, 0.25f, 0.25f});
    m->Int8s("z", {4}, {0, 0, 0, 0});
  };
  const auto zeros = [](TinyOnnx* m) {
    m->Reals("s", {}, {0.5f});
    m->Int8s("z", {4}, {0, 0, 0, 0});
  };
  const auto given_scale = [](TinyOnnx* m) {
    m->Input("s", {});
    m->Int8s("z", {}, {0});
  };
  const auto given_zero = [](TinyOnnx* m) {
    m->Reals("s", {}, {0.5f});
    m->Input("z", {}, onnx::TensorProto::INT8);
  };
  const Case cases[] = {
      {"32 bits", wide, "quantisation to INT32"},
      {"scales of an axis", axes, "per-axis quantisation of an activation"},
      {"zeros of an axis", zeros, "per-axis quantisation of an activation"},
      {"a scale given later", given_scale, "scale s, which is no float32 constant"},
      {"a zero given later", given_zero, "zero point z, which is no stored constant"}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    const Bytes model = QuantisedInput(c.give);
    const Answer answer = Ask(model);
    CHECK(answer.status == SLUICE_UNSUPPORTED);
    REQUIRE(!answer.refused.empty());
    CHECK(answer.refused[0] == std::string("1 x QuantizeLinear: ") + c.reason);
    CHECK(Says(answer.message, c.reason));
    CHECK(Ask(model, true).status == SLUICE_OK);  // then the host quantises
  }
}

TEST_CASE(
    "onnx report: an input or output of a sort that no graph has is unsupported") {
  TinyOnnx wide;
  wide.Input("x", {1, int64_t{1} << 31});
  wide.Node("Relu", {"x"}, {"y"});
  wide.Output("y");
  const Answer input = Ask(wide.Finish());
  CHECK(input.status == SLUICE_UNSUPPORTED);
  CHECK(input.message == "an input or output of the model: an extent above 2^31 - 1");
  CHECK(input.refused.empty());
  TinyOnnx mask;  // no layer makes the mask of elements that Dropout kept
  mask.Input("x", {1, 4});
  mask.Node("Dropout", {"x"}, {"y", "kept"});
  mask.Output("y", {1, 4});
  mask.Output("kept", {1, 4}, onnx::TensorProto::BOOL);
  const Answer output = Ask(mask.Finish());
  CHECK(output.status == SLUICE_UNSUPPORTED);
  CHECK(output.message ==
        "an input or output of the model: tensor kept, which was left out");
}

TEST_CASE("onnx report: a scale that is not above zero is the model's fault") {
  for (const float scale : {0.0f, -0.5f, -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    CAPTURE(scale);
    const Answer answer = Ask(QuantisedInput([scale](TinyOnnx* m) {
      m->Reals("s", {}, {scale});
      m->Int8s("z", {}, {0});
    }));
    CHECK(answer.status == SLUICE_BAD_INPUT);
    CHECK(answer.message ==
          "node q (QuantizeLinear) has a scale that is not above 0 and finite");
  }
  Bytes golden = ReadFile(std::string(SLUICE_GOLDENS_FOLDER) + "/qdq_cnn.onnx");
  REQUIRE(Ask(golden).status == SLUICE_OK);
  const std::string name = "image.scale";
  auto at = std::find_end(golden.begin(), golden.end(), name.begin(), name.end());
  REQUIRE(at != golden.end());
  at += static_cast<std::ptrdiff_t>(name.size()) + 2;  // past the field's tag and size
  std::fill(at, at + 4, uint8_t{0});
  const Answer damaged = Ask(golden);
  CHECK(damaged.status == SLUICE_BAD_INPUT);
  CHECK(Says(damaged.message, "has a scale that is not above 0"));
}

TEST_CASE("onnx report: bytes of no model at all have a report, too") {
  const Answer answer = Ask({1, 2, 3});
  CHECK(answer.status == SLUICE_BAD_INPUT);
  CHECK(!answer.message.empty());
}

TEST_CASE("onnx report: operators that left no layer are listed with the reason") {
  TinyOnnx model;
  model.Input("x", {1, 2, 3, 4});
  model.Node("Relu", {"x"}, {"r"});       // a layer of its own
  model.Node("Identity", {"r"}, {"i"});   // the same bytes
  model.Node("Identity", {"i"}, {"j"});   // once more
  model.Node("Shape", {"j"}, {"shape"});  // known at import
  model.Node("Reshape", {"j", "shape"}, {"k"});
  model.Node("Sigmoid", {"k"}, {"y"});       // a layer of its own
  model.Node("Sigmoid", {"x"}, {"nobody"});  // read by nothing
  model.Output("y");
  const Answer answer = Ask(model.Finish());
  CHECK(answer.status == SLUICE_OK);
  CHECK(answer.message == "");
  CHECK(answer.refused.empty());
  CHECK(answer.folded == List{"1 x Shape: computed at import",
                              "1 x Reshape: part of another layer, or the same bytes",
                              "1 x Sigmoid: no output needs it"});
}

}  // namespace
}  // namespace sluice_test
