// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite files that are cut off, or contradict themselves.
#include "import/tflite/tflite_model.h"

#include <algorithm>
#include <limits>

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

// Every length below `limit` (and below the whole) is refused.
void CheckTruncations(const Bytes& whole, size_t limit) {
  for (size_t size = 0; size < std::min(limit, whole.size()); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    REQUIRE_MESSAGE(Outcome(part) == kBadInput, "length " << size);
  }
}

TEST_CASE("tflite model: every truncation of a model is an error") {
  const Bytes tiny = TinyConvolution();
  CheckTruncations(tiny, tiny.size());
  const std::string path = SharedPath("models/tflite/kws_ref_model_int8.tflite");
  if (!Absent(path)) CheckTruncations(ReadFile(path), 8192);
}

TEST_CASE("tflite model: a wrong identifier is named") {
  Bytes bytes = TinyConvolution();
  bytes[4] = 'X';
  CHECK(MessageOf(bytes).find("TFL3") != std::string::npos);
}

constexpr auto kInt8 = tflite::TensorType::INT8;

// What is wrong with a model of a -> b -> c by two RELUs after a change.
template <typename Change>
std::string Wrong(Change change) {
  struct Parts {
    TinyModel model;
    std::vector<int32_t> first = {0, 1}, second = {1, 2};  // reads, writes
    std::vector<int32_t> inputs = {0}, outputs = {2};
  } p;
  for (const char* name : {"a", "b", "c"})
    p.model.AddTensor(name, {1, 8}, kInt8, 0.5f, 0);
  change(&p);
  p.model.AddOperator(tflite::BuiltinOperator::RELU, {p.first[0]}, {p.first[1]});
  p.model.AddOperator(tflite::BuiltinOperator::RELU, {p.second[0]}, {p.second[1]});
  const std::string why = MessageOf(p.model.Finish(p.inputs, p.outputs));
  const std::string prefix = "not a usable TensorFlow Lite model: ";
  return why.rfind(prefix, 0) == 0 ? why.substr(prefix.size()) : why;
}

TEST_CASE("tflite model: every tensor is written once, before it is read") {
  CHECK(Wrong([](auto*) {}) == "");
  CHECK(Wrong([](auto* p) { p->first[0] = 1; }) ==
        "operator 0 (RELU) reads b before anything writes it");
  CHECK(Wrong([](auto* p) { p->second[1] = 1; }) ==
        "operator 1 (RELU) writes b, which has its value already");
  CHECK(Wrong([](auto* p) { p->second[1] = 0; }) ==
        "operator 1 (RELU) writes a, which has its value already");
  CHECK(Wrong([](auto* p) {
          p->inputs = {0, 0};
        }) == "input a is a constant or listed twice");
  CHECK(Wrong([](auto* p) { p->outputs = {2, 2}; }) == "output c is listed twice");
}

TEST_CASE("tflite model: an operator code outside the schema is named by its number") {
  TinyModel model;
  for (const char* name : {"a", "b"}) model.AddTensor(name, {1, 8}, kInt8, 0.5f, 0);
  model.AddOperator(static_cast<tflite::BuiltinOperator>(4711), {0}, {1});
  CHECK(MessageOf(model.Finish({0}, {1})).find("operator code 4711") !=
        std::string::npos);
}

TEST_CASE("tflite model: indices name tensors that are there") {
  CHECK(Wrong([](auto* p) { p->first[0] = 3; }) ==
        "operator 0 (RELU) names tensor 3, which does not exist");
  CHECK(Wrong([](auto* p) { p->second[1] = -1; }) ==
        "operator 1 (RELU) names tensor -1, which does not exist");
  CHECK(Wrong([](auto* p) { p->inputs = {-1}; }) ==
        "the input list names tensor -1, which does not exist");
  CHECK(Wrong([](auto* p) { p->outputs = {}; }) == "it has no outputs");
}

TEST_CASE("tflite model: constants have the bytes that their shape says") {
  const std::vector<uint8_t> eleven(11, 1);
  CHECK(Wrong([&](auto* p) {
          p->model.AddTensor("w", {3}, tflite::TensorType::INT32, 0, 0, eleven);
        }) == "constant w has 11 bytes; its shape needs 12");
  CHECK(Wrong([&](auto* p) { p->model.AddTensor("w", {-11}, kInt8, 0, 0, eleven); }) ==
        "constant w has a negative extent");
  CHECK(Wrong([&](auto* p) {
          p->model.AddTensor("s", {1}, kInt8, std::numeric_limits<float>::infinity(),
                             0);
        }) == "tensor s has a scale that is not a finite number >= 0");
  CHECK(Wrong([&](auto* p) {
          p->model.AddTensor("z", {1}, kInt8, 1, int64_t{1} << 31);
        }) == "tensor z has a zero point beyond 32 bits");
}

TEST_CASE("tflite model: types have their bytes and their names") {
  const auto bytes = [](tflite::TensorType type) {
    return TfliteTypeBytes(static_cast<int>(type));
  };
  CHECK(bytes(tflite::TensorType::BOOL) == 1);
  CHECK(bytes(tflite::TensorType::FLOAT16) == 2);
  CHECK(bytes(tflite::TensorType::FLOAT32) == 4);
  CHECK(bytes(tflite::TensorType::COMPLEX64) == 8);
  CHECK(bytes(tflite::TensorType::STRING) == 0);
  CHECK(TfliteTypeName(static_cast<int>(kInt8)) == "int8");
  CHECK(TfliteTypeName(99) == "type 99");
}

}  // namespace
}  // namespace sluice::import
