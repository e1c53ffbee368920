// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/rng.h"
#include "import/error.h"
#include "import/tflite/import_tflite.h"
#include "sluice/graph_generated.h"
#include "sluice/ops.h"
#include "support/files.h"
#include "tests/import/tiny_model.h"

namespace sluice::import {
namespace {

std::string Shared(const std::string& path) {
  const char* given = std::getenv("SLUICE_SHARED");
  return std::string(given != nullptr ? given : SLUICE_SHARED_DEFAULT) + "/" + path;
}

bool Absent(const std::string& path) {
  if (std::filesystem::exists(path)) return false;
  MESSAGE("skipped: " << path << " is not there");
  return true;
}

ImportResult Import(const Bytes& bytes, bool allow_opaque = false) {
  TfliteImportOptions options;
  options.name = "test";
  options.allow_opaque = allow_opaque;
  return ImportTflite(bytes.data(), bytes.size(), options);
}

using sluice_test::ReadFile;

constexpr int kDone = -1;
constexpr int kBadInput = static_cast<int>(Fault::kBadInput);
constexpr int kUnsupported = static_cast<int>(Fault::kUnsupported);

// How an import ends that may fail; what is written must be a sound buffer.
int Outcome(const Bytes& bytes) {
  try {
    const ImportResult import = Import(bytes);
    flatbuffers::Verifier verifier(import.graph.data(), import.graph.size());
    CHECK(wire::VerifyGraphBuffer(verifier));
    return kDone;
  } catch (const Error& failure) {
    return static_cast<int>(failure.fault());
  }
}

std::string MessageOf(const Bytes& bytes) {
  try {
    Import(bytes);
  } catch (const Error& failure) {
    return failure.what();
  }
  return {};
}

// Every length below `limit` (and below the whole) is refused.
void CheckTruncations(const Bytes& whole, size_t limit) {
  for (size_t size = 0; size < std::min(limit, whole.size()); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    REQUIRE_MESSAGE(Outcome(part) == kBadInput, "length " << size);
  }
}

void CheckFlips(const Bytes& whole, int flips, uint64_t seed) {
  Rng rng(seed);
  for (int i = 0; i < flips; ++i) {
    Bytes damaged = whole;
    const uint32_t at = rng.Below(static_cast<uint32_t>(whole.size()));
    damaged[at] = static_cast<uint8_t>(damaged[at] ^ (1 + rng.Below(255)));
    const int outcome = Outcome(damaged);
    const bool refused = outcome == kBadInput || outcome == kUnsupported;
    REQUIRE_MESSAGE((outcome == kDone || refused), "byte " << at);
  }
}

TEST_CASE("import: a convolution keeps its shapes, factors and activation") {
  const ImportResult import = Import(TinyConvolution());
  CHECK(import.operators == 2);
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  REQUIRE(graph.layer_op()->size() == 2);
  CHECK(graph.layer_op()->Get(0) == SLUICE_OP_CONV);
  CHECK(graph.layer_op()->Get(1) == SLUICE_OP_RESHAPE);
  const auto& attributes = *graph.layer_attributes();
  CHECK(attributes.Get(SLUICE_CONV_INPUT_ZERO) == -3);
  CHECK(attributes.Get(SLUICE_CONV_OUTPUT_ZERO) == 7);
  CHECK(attributes.Get(SLUICE_CONV_ACT_MIN) == 7);  // ReLU: real 0 is stored 7
  CHECK(attributes.Get(SLUICE_CONV_ACT_MAX) == 127);
  const uint32_t parameters = graph.layer_inputs()->Get(2);
  const uint64_t at = graph.tensor_source_offset()->Get(parameters);
  CHECK(at % 16 == 0);
  int32_t row[3];
  std::copy_n(graph.data()->data() + at + 12, 12, reinterpret_cast<uint8_t*>(row));
  CHECK(row[0] == 11);  // second channel's bias
  // 0.5 * 0.01 / 0.25 = 0.02 = 0.64 * 2^-5
  CHECK(row[1] == static_cast<int32_t>(double(0.01f) * 64 * 2147483648.0 + 0.5));
  CHECK(row[2] == -5);
}

TEST_CASE("import: every truncation of a model is an error") {
  const Bytes tiny = TinyConvolution();
  CheckTruncations(tiny, tiny.size());
  const std::string path = Shared("models/tflite/kws_ref_model_int8.tflite");
  if (!Absent(path)) CheckTruncations(ReadFile(path), 8192);
}

TEST_CASE("import: damaged bytes are an error or another model, never a crash") {
  CheckFlips(TinyConvolution(), 4000, 1);
  for (const char* name : {"kws_ref_model_int8", "micro_speech_int8"}) {
    const std::string path = Shared(std::string("models/tflite/") + name + ".tflite");
    if (!Absent(path)) CheckFlips(ReadFile(path), 1000, 2);
  }
}

TEST_CASE("import: a wrong identifier is named") {
  Bytes bytes = TinyConvolution();
  bytes[4] = 'X';
  CHECK(MessageOf(bytes).find("TFL3") != std::string::npos);
}

Bytes UnknownOperators() {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const auto real = tflite::TensorType::FLOAT32;
  const int x = model.AddTensor("x", {1, 8}, int8, 0.5f, 0);
  const int a = model.AddTensor("a", {1, 8}, int8, 0.5f, 0);
  const int b = model.AddTensor("b", {1, 8}, int8, 0.5f, 0);
  const int c = model.AddTensor("c", {1, 8}, real, 0, 0);
  const int d = model.AddTensor("d", {1, 8}, real, 0, 0);
  using tflite::BuiltinOperator;
  const auto none = tflite::BuiltinOptions::NONE;
  model.AddOperator(BuiltinOperator::CUSTOM, {x}, {a}, none, 0, "Wobble");
  model.AddOperator(BuiltinOperator::CUSTOM, {a}, {b}, none, 0, "Wobble");
  model.AddOperator(BuiltinOperator::DEQUANTIZE, {b}, {c});
  model.AddOperator(BuiltinOperator::RELU, {c}, {d});
  return model.Finish({x}, {d});
}

TEST_CASE("import: every unknown operator is listed with its count") {
  const std::string message = MessageOf(UnknownOperators());
  CHECK(message.find("2 x CUSTOM:Wobble (unknown)") != std::string::npos);
  CHECK(message.find("1 x DEQUANTIZE (unknown)") != std::string::npos);
  CHECK(message.find("1 x RELU (float32 operands)") != std::string::npos);
}

TEST_CASE("import: unknown operators may be left to the host") {
  const ImportResult import = Import(UnknownOperators(), true);
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  REQUIRE(graph.layer_op()->size() == 4);
  for (uint16_t op : *graph.layer_op()) CHECK(op == SLUICE_OP_OPAQUE);
  CHECK(graph.layer_attributes()->Get(SLUICE_OPAQUE_CYCLES_LO) == 16);
  const int32_t name = graph.layer_attributes()->Get(SLUICE_OPAQUE_NAME);
  CHECK(graph.names()->Get(static_cast<uint32_t>(name))->str() == "CUSTOM:Wobble");
  CHECK(import.opaque.size() == 3);
}

TEST_CASE("import: concat inputs of another quantisation are requantised") {
  TinyModel model;
  const auto uint8 = tflite::TensorType::UINT8;
  const int x = model.AddTensor("x", {1, 2, 2, 4}, uint8, 0.5f, 10);
  const int y = model.AddTensor("y", {1, 2, 2, 4}, uint8, 0.25f, 20);
  const int z = model.AddTensor("z", {1, 2, 2, 8}, uint8, 0.25f, 20);
  const auto options = tflite::CreateConcatenationOptions(model.builder(), -1);
  model.AddOperator(tflite::BuiltinOperator::CONCATENATION, {x, y}, {z},
                    tflite::BuiltinOptions::ConcatenationOptions, options.Union());
  const ImportResult import = Import(model.Finish({x, y}, {z}));
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  REQUIRE(graph.layer_op()->size() == 2);
  CHECK(graph.layer_op()->Get(0) == SLUICE_OP_REQUANTIZE);
  CHECK(graph.layer_op()->Get(1) == SLUICE_OP_CONCAT);
  CHECK(graph.layer_attributes()->Get(6) == 3);  // axis, behind six of REQUANTIZE
}

Bytes Resize(tflite::TensorType type, int32_t from, int32_t to) {
  TinyModel model;
  const int x = model.AddTensor("x", {1, from, from, 4}, type, 0.5f, 0);
  const int s = model.AddTensor("s", {2}, tflite::TensorType::INT32, 0, 0,
                                std::vector<uint8_t>(8, 1));
  const int y = model.AddTensor("y", {1, to, to, 4}, type, 0.5f, 0);
  const auto options = tflite::CreateResizeBilinearOptions(model.builder(), true);
  model.AddOperator(tflite::BuiltinOperator::RESIZE_BILINEAR, {x, s}, {y},
                    tflite::BuiltinOptions::ResizeBilinearOptions, options.Union());
  return model.Finish({x}, {y});
}

TEST_CASE(
    "import: uint8 interpolation is refused where float32 would round otherwise") {
  CHECK(Outcome(Resize(tflite::TensorType::UINT8, 33, 513)) == kDone);
  CHECK(Outcome(Resize(tflite::TensorType::INT8, 7, 20)) == kDone);
  CHECK(Outcome(Resize(tflite::TensorType::UINT8, 7, 20)) == kUnsupported);
}

TEST_CASE("import: a fully connected layer rounds once and flattens its rows") {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const int x = model.AddTensor("x", {2, 3, 4}, int8, 0.5f, 0);
  const int w =
      model.AddTensor("w", {5, 4}, int8, 0.25f, 0, std::vector<uint8_t>(20, 1));
  const int y = model.AddTensor("y", {6, 5}, int8, 0.75f, 0);
  const auto options = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(tflite::BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, {y},
                    tflite::BuiltinOptions::FullyConnectedOptions, options.Union());
  const ImportResult import = Import(model.Finish({x}, {y}));
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  REQUIRE(graph.layer_op()->size() == 2);
  CHECK(graph.layer_op()->Get(0) == SLUICE_OP_RESHAPE);
  CHECK(graph.layer_op()->Get(1) == SLUICE_OP_FULLY_CONNECTED);
  CHECK(graph.layer_attributes()->Get(SLUICE_CONV_ROUNDING) == 1);
}

}  // namespace
}  // namespace sluice::import
