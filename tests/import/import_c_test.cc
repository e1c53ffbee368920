// SPDX-License-Identifier: Apache-2.0
// The C functions that import: limits, memory, reports.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sluice/graph_generated.h"
#include "sluice/import.h"
#include "support/files.h"
#include "support/recording_allocator.h"
#include "tests/import/tiny_model.h"

namespace {

namespace tflite = sluice::tflite;

std::vector<uint8_t> Model() {
  return sluice_test::ReadFile(SLUICE_TESTS "/models/residual_cnn_int8.tflite");
}

template <typename T>
T Sized() {
  T made;
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.struct_size = sizeof made;
  return made;
}

struct Outcome {
  sluice_status_t status = SLUICE_OK;
  sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
  sluice_bytes_t graph = {};
  sluice_import_report_t* report = nullptr;
  Outcome() = default;
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;
  ~Outcome() { sluice_import_report_destroy(report); }
  void Import(const std::vector<uint8_t>& model,
              const sluice_import_options_t& options) {
    status = sluice_import_model(model.data(), model.size(), &options, &graph, &report,
                                 &why);
  }
};

TEST_CASE("import in C: the graph lies in the caller's memory, whatever fails") {
  sluice_test::RecordingAllocator memory;
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  options.allocator = memory.interface();
  {
    Outcome good;
    good.Import(Model(), options);
    REQUIRE(good.status == SLUICE_OK);
    CHECK(memory.live_bytes() == good.graph.size);
    sluice_bytes_release(memory.interface(), &good.graph);
    CHECK(memory.live_blocks() == 0);
    CHECK(memory.sound());
  }
  memory.FailAt(1);
  Outcome refused;
  refused.Import(Model(), options);
  CHECK(refused.status == SLUICE_OUT_OF_MEMORY);
  CHECK(refused.graph.data == nullptr);
  CHECK(memory.live_blocks() == 0);
}

TEST_CASE(
    "import in C: more constants than the limit are out of memory, with a sentence") {
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  Outcome good;
  good.Import(Model(), options);
  REQUIRE(good.status == SLUICE_OK);
  sluice_import_summary_t summary = Sized<sluice_import_summary_t>();
  REQUIRE(sluice_import_report_summary(good.report, &summary) == SLUICE_OK);
  CHECK(summary.format == SLUICE_MODEL_TFLITE);
  CHECK(summary.graph_bytes == good.graph.size);
  sluice_bytes_release(nullptr, &good.graph);
  options.max_constant_bytes = summary.constant_bytes;
  Outcome exact;
  exact.Import(Model(), options);
  CHECK(exact.status == SLUICE_OK);
  sluice_bytes_release(nullptr, &exact.graph);
  --options.max_constant_bytes;
  Outcome less;
  less.Import(Model(), options);
  CHECK(less.status == SLUICE_OUT_OF_MEMORY);
  CHECK(std::string(less.why.message).find("exceeds the limit") != std::string::npos);
}

TEST_CASE("import in C: the caller hears which bytes of the model are done with") {
  struct Heard {
    const uint8_t* model;
    size_t size, bytes = 0, outside = 0;
  };
  const std::vector<uint8_t> model = Model();
  Heard heard = {model.data(), model.size()};
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  options.model_user = &heard;
  options.model_done = [](void* user, const void* bytes, size_t size) {
    Heard* to = static_cast<Heard*>(user);
    const auto* first = static_cast<const uint8_t*>(bytes);
    to->bytes += size;
    to->outside += first < to->model || first + size > to->model + to->size;
  };
  Outcome told, untold;
  told.Import(model, options);
  untold.Import(model, Sized<sluice_import_options_t>());
  REQUIRE(told.status == SLUICE_OK);
  CHECK(heard.outside == 0);
  CHECK(heard.bytes > model.size() / 2);  // its weights
  REQUIRE(told.graph.size == untold.graph.size);
  CHECK(std::memcmp(told.graph.data, untold.graph.data, told.graph.size) == 0);
  sluice_bytes_release(nullptr, &told.graph);
  sluice_bytes_release(nullptr, &untold.graph);
}

TEST_CASE("import in C: refused operators are listed, with leave they are the host's") {
  sluice::import::TinyModel tiny;
  const auto tensor = [&](const char* name) {
    return tiny.AddTensor(name, {1, 8}, tflite::TensorType::INT8, 0.5f, 0);
  };
  const int a = tensor("a"), b = tensor("b"), c = tensor("c");
  tiny.AddOperator(tflite::BuiltinOperator::CUSTOM, {a}, {b},
                   tflite::BuiltinOptions::NONE, 0, "Foo");
  tiny.AddOperator(tflite::BuiltinOperator::CUSTOM, {b}, {c},
                   tflite::BuiltinOptions::NONE, 0, "Foo");
  const std::vector<uint8_t> model = tiny.Finish({a}, {c});
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  Outcome refused;
  refused.Import(model, options);
  CHECK(refused.status == SLUICE_UNSUPPORTED);
  REQUIRE(refused.report != nullptr);
  sluice_import_entry_t entry = Sized<sluice_import_entry_t>();
  REQUIRE(sluice_import_report_entry(refused.report, SLUICE_IMPORT_REFUSED, 0,
                                     &entry) == SLUICE_OK);
  CHECK(std::string(entry.name) == "CUSTOM:Foo");
  CHECK(entry.count == 2);
  CHECK(sluice_import_report_entry(refused.report, SLUICE_IMPORT_REFUSED, 1, &entry) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(std::string(sluice_import_report_message(refused.report)).find("2 x CUSTOM") !=
        std::string::npos);
  options.allow_opaque = 1;
  Outcome left;
  left.Import(model, options);
  REQUIRE(left.status == SLUICE_OK);
  REQUIRE(sluice_import_report_entry(left.report, SLUICE_IMPORT_OPAQUE, 0, &entry) ==
          SLUICE_OK);
  CHECK(entry.count == 2);
  sluice_bytes_release(nullptr, &left.graph);
}

TEST_CASE("import in C: operators that left no layer are listed, others are not") {
  sluice::import::TinyModel tiny;
  const auto tensor = [&](const char* name, std::vector<int32_t> shape, float scale) {
    return tiny.AddTensor(name, std::move(shape), tflite::TensorType::INT8, scale, 0);
  };
  const int a = tensor("a", {1, 8}, 0.5f), b = tensor("b", {1, 8}, 0.25f),
            c = tensor("c", {1, 8}, 0.25f), d = tensor("d", {1, 8}, 0.5f);
  tiny.AddOperator(tflite::BuiltinOperator::QUANTIZE, {a}, {b});
  tiny.AddOperator(tflite::BuiltinOperator::CUSTOM, {b}, {c},
                   tflite::BuiltinOptions::NONE, 0, "Foo");
  tiny.AddOperator(tflite::BuiltinOperator::QUANTIZE, {c}, {d});
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  options.allow_opaque = 1;
  Outcome kept;
  kept.Import(tiny.Finish({a}, {d}), options);
  REQUIRE(kept.status == SLUICE_OK);
  sluice_import_summary_t summary = Sized<sluice_import_summary_t>();
  REQUIRE(sluice_import_report_summary(kept.report, &summary) == SLUICE_OK);
  CHECK(summary.operators == 3);
  CHECK(summary.layers == 3);
  CHECK(summary.lists[SLUICE_IMPORT_FOLDED] == 0);
  CHECK(summary.lists[SLUICE_IMPORT_OPAQUE] == 1);
  sluice_bytes_release(nullptr, &kept.graph);
}

TEST_CASE(
    "import in C: a failed import has a report, and arguments that are wrong, too") {
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  options.struct_size = 2;
  Outcome size;
  size.Import(Model(), options);
  CHECK(size.status == SLUICE_BAD_ARGUMENT);
  REQUIRE(size.report != nullptr);
  CHECK(std::string(sluice_import_report_message(size.report)).find("struct_size") !=
        std::string::npos);
  sluice::import::TinyModel tiny;
  const int in = tiny.AddTensor("words", {1, 8}, tflite::TensorType::STRING, 0, 0);
  const int out = tiny.AddTensor("out", {1, 8}, tflite::TensorType::INT8, 0.5f, 0);
  tiny.AddOperator(tflite::BuiltinOperator::CUSTOM, {in}, {out},
                   tflite::BuiltinOptions::NONE, 0, "Tokenise");
  Outcome words;
  words.Import(tiny.Finish({in}, {out}), Sized<sluice_import_options_t>());
  CHECK(words.status == SLUICE_UNSUPPORTED);
  REQUIRE(words.report != nullptr);
  CHECK(std::string(sluice_import_report_message(words.report)) ==
        "tensor words: tensors of type string");
}

TEST_CASE("import in C: wrong arguments are refused, each with a sentence") {
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  options.format = 77;
  Outcome format;
  format.Import(Model(), options);
  CHECK(format.status == SLUICE_BAD_ARGUMENT);
  options.format = SLUICE_MODEL_ONNX;
  options.model_file = "model.onnx";
  Outcome file;
  file.Import(Model(), options);
  CHECK(file.status == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(file.why.message).find("model_file") != std::string::npos);
  options.model_file = nullptr;
  options.format = SLUICE_MODEL_TFLITE;
  const sluice_import_dim_t dim = {"batch", 1};
  options.dims = &dim;
  options.dim_count = 1;
  Outcome dims;
  dims.Import(Model(), options);
  CHECK(dims.status == SLUICE_BAD_ARGUMENT);
  CHECK(dims.why.message[0] != '\0');
  sluice_bytes_t graph = {};
  sluice_diagnostic_t why = Sized<sluice_diagnostic_t>();
  CHECK(sluice_import_model(nullptr, 0, nullptr, &graph, nullptr, &why) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(sluice_import_model("", 0, nullptr, nullptr, nullptr, &why) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(sluice_import_model("not a model", 11, nullptr, &graph, nullptr, &why) < 0);
  CHECK(sluice_import_training_step("damaged bytes", 13, nullptr, &graph, &why) ==
        SLUICE_BAD_INPUT);
  CHECK(graph.data == nullptr);
  CHECK(sluice_import_reads(SLUICE_MODEL_TFLITE) == 1);
  CHECK(sluice_import_reads(99) == 0);
  sluice_bytes_release(nullptr, nullptr);
  sluice_import_report_destroy(nullptr);
}

TEST_CASE("import in C: a model at any address and its training step are read") {
  const std::vector<uint8_t> model = Model();
  std::vector<uint8_t> shifted(1, 0);
  shifted.insert(shifted.end(), model.begin(), model.end());
  sluice_bytes_t graph = {}, again = {}, step = {};
  REQUIRE(sluice_import_model(model.data(), model.size(), nullptr, &graph, nullptr,
                              nullptr) == SLUICE_OK);
  REQUIRE(sluice_import_model(shifted.data() + 1, model.size(), nullptr, &again,
                              nullptr, nullptr) == SLUICE_OK);
  REQUIRE(graph.size == again.size);
  CHECK(std::memcmp(graph.data, again.data, graph.size) == 0);
  REQUIRE(sluice_import_training_step(graph.data, graph.size, nullptr, &step,
                                      nullptr) == SLUICE_OK);
  sluice_import_options_t options = Sized<sluice_import_options_t>();
  options.training = 1;
  Outcome trained;
  trained.Import(model, options);
  REQUIRE(trained.status == SLUICE_OK);
  REQUIRE(trained.graph.size == step.size);
  CHECK(std::memcmp(trained.graph.data, step.data, step.size) == 0);
  // The summary describes the training step, whose inputs include the incoming error.
  const sluice::wire::Graph& wire = *sluice::wire::GetGraph(step.data);
  uint32_t inputs = 0, outputs = 0;
  for (const uint8_t kind : *wire.tensor_kind()) {
    inputs += kind == 1 ? 1 : 0;
    outputs += kind == 2 ? 1 : 0;
  }
  sluice_import_summary_t summary = Sized<sluice_import_summary_t>();
  REQUIRE(sluice_import_report_summary(trained.report, &summary) == SLUICE_OK);
  CHECK(inputs > 1);
  CHECK(summary.inputs == inputs);
  CHECK(outputs > 1);
  CHECK(summary.outputs == outputs);
  CHECK(summary.layers == wire.layer_op()->size());
  CHECK(summary.tensors == wire.tensor_kind()->size());
  for (sluice_bytes_t* bytes : {&graph, &again, &step, &trained.graph}) {
    sluice_bytes_release(nullptr, bytes);
  }
}

// A 3x3 convolution of 8 x 8 pixels, and a 1x1 convolution that reads every second of them.
std::vector<uint8_t> EverySecond() {
  using namespace sluice::import;
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  int tensor = model.AddTensor("x", {1, 8, 8, 2}, int8, 0.5f, -3);
  const int x = tensor;
  for (const int32_t size : {3, 1}) {
    std::vector<uint8_t> filter(static_cast<size_t>(size * size * 4));
    for (size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<uint8_t>(i * 37);
    const int32_t stride = size == 1 ? 2 : 1, out = size == 1 ? 4 : 8;
    const int w = model.AddTensor("w", {2, size, size, 2}, int8, 0.01f, 0, filter);
    const int b = model.AddTensor("b", {2}, tflite::TensorType::INT32, 0.005f, 0,
                                  std::vector<uint8_t>(8));
    const int y = model.AddTensor("y", {1, out, out, 2}, int8, 0.25f, 7);
    const auto options =
        tflite::CreateConv2DOptions(model.builder(), tflite::Padding::SAME, stride,
                                    stride, tflite::Activation::NONE);
    model.AddOperator(tflite::BuiltinOperator::CONV_2D, {tensor, w, b}, {y},
                      tflite::BuiltinOptions::Conv2DOptions, options.Union());
    tensor = y;
  }
  return model.Finish({x}, {tensor});
}

TEST_CASE("import in C: pixels that no layer reads are left out, unless asked for") {
  const std::vector<uint8_t> model = EverySecond();
  sluice_import_options_t keep = Sized<sluice_import_options_t>();
  keep.keep_unread = 1;
  sluice_import_options_t training = Sized<sluice_import_options_t>();
  training.training = 1;
  for (const auto& options : {Sized<sluice_import_options_t>(), keep, training}) {
    Outcome outcome;
    outcome.Import(model, options);
    REQUIRE(outcome.status == SLUICE_OK);
    const bool skips = options.keep_unread == 0 && options.training == 0;
    sluice_import_summary_t summary = Sized<sluice_import_summary_t>();
    REQUIRE(sluice_import_report_summary(outcome.report, &summary) == SLUICE_OK);
    CHECK(summary.lists[SLUICE_IMPORT_SKIPPED] == (skips ? 1 : 0));
    if (skips) {
      sluice_import_entry_t entry = Sized<sluice_import_entry_t>();
      REQUIRE(sluice_import_report_entry(outcome.report, SLUICE_IMPORT_SKIPPED, 0,
                                         &entry) == SLUICE_OK);
      CHECK(entry.count == 1);
      CHECK(std::string(entry.name) == "conv");
    }
    sluice_bytes_release(nullptr, &outcome.graph);
  }
}

}  // namespace
