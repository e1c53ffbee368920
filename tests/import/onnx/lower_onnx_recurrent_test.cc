// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN step by step: the same numbers as the host's function of a whole sequence.
#include <algorithm>
#include <cmath>

#include "firmware-sim/host_functions.h"
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

Reals Some(int64_t count, int64_t first) {
  Reals reals;
  for (int64_t i = 0; i < count; ++i)
    reals.push_back(static_cast<float>((first + i * 37) % 101 - 50) * 0.011f);
  return reals;
}

struct Kind {
  const char* op;
  int64_t gates;
  bool linear;
  const char* direction;
};

constexpr int64_t kSteps = 4, kBatch = 2, kInputs = 3, kState = 5;

TinyOnnx Model(const Kind& kind, const std::vector<std::string>& functions = {},
               const std::vector<int64_t>& lengths = {}) {
  const int64_t d = std::string(kind.direction) == "bidirectional" ? 2 : 1;
  TinyOnnx model;
  model.Input("x", {kSteps, kBatch, kInputs});
  model.Quantised("x", "xq", 0.0625f, 0);
  model.Reals("w", {d, kind.gates * kState, kInputs},
              Some(d * kind.gates * kState * kInputs, 1));
  model.Reals("r", {d, kind.gates * kState, kState},
              Some(d * kind.gates * kState * kState, 2));
  model.Reals("b", {d, 2 * kind.gates * kState}, Some(d * 2 * kind.gates * kState, 3));
  std::vector<std::string> inputs = {"xq", "w", "r", "b"};
  if (!lengths.empty()) {
    inputs.push_back("lengths");
    model.Integers("lengths", lengths);
  }
  onnx::NodeProto* node = model.Node(kind.op, inputs, {"y", "last"});
  TinyOnnx::Int(node, "hidden_size", kState);
  if (kind.linear) TinyOnnx::Int(node, "linear_before_reset", 1);
  Text(node, "direction", kind.direction);
  if (!functions.empty()) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name("activations");
    attribute->set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& function : functions) attribute->add_strings(function);
  }
  model.Output("y");
  return model;
}

Bytes Steps() {
  Bytes x;
  for (int i = 0; i < kSteps * kBatch * kInputs; ++i)
    x.push_back(static_cast<uint8_t>(i * 29));
  return x;
}

// By the host's function of the whole sequence.
Reals Whole(const Kind& kind) {
  const int64_t d = std::string(kind.direction) == "bidirectional" ? 2 : 1;
  const int64_t g = kind.gates * kState, state = d * kBatch * kState;
  std::vector<Bytes> bytes;
  sluice_sim::HostOperands in, out;
  const auto add = [&](sluice_sim::HostOperands* list, Bytes* data) {
    const int64_t count = static_cast<int64_t>(data->size()) / 4;
    list->push_back({SLUICE_DTYPE_INT32, {1, 1, 1, count}, data});
  };
  Reals x;
  for (const uint8_t byte : Steps())
    x.push_back(static_cast<float>(static_cast<int8_t>(byte)) * 0.0625f);
  std::vector<Reals> operands = {x, Some(d * g * kInputs, 1), Some(d * g * kState, 2),
                                 Some(d * 2 * g, 3), Reals(static_cast<size_t>(state))};
  if (kind.gates == 4) operands.push_back(Reals(static_cast<size_t>(state)));
  for (const Reals& reals : operands) bytes.push_back(BitsOfReals(reals));
  const bool backwards = std::string(kind.direction) == "reverse";
  const std::vector<int32_t> options = {
      kSteps, kBatch, kInputs, kState, static_cast<int32_t>(d), backwards, kind.linear};
  Bytes last(options.size() * 4);
  std::memcpy(last.data(), options.data(), last.size());
  bytes.push_back(last);
  const size_t inputs = bytes.size();
  bytes.emplace_back(static_cast<size_t>(kSteps * state * 4));
  for (int i = 0; i < (kind.gates == 4 ? 2 : 1); ++i)
    bytes.emplace_back(static_cast<size_t>(state * 4));
  for (size_t i = 0; i < bytes.size(); ++i) add(i < inputs ? &in : &out, &bytes[i]);
  const auto* function = sluice_sim::FindHostFunction(std::string("onnx.") + kind.op);
  REQUIRE(function != nullptr);
  REQUIRE((*function)(in, out) == "");
  return RealsOf(bytes[inputs]);
}

TEST_CASE("onnx recurrent: products on units, step by step") {
  const Kind kinds[] = {
      {"LSTM", 4, false, "forward"}, {"LSTM", 4, false, "bidirectional"},
      {"GRU", 3, false, "forward"},  {"GRU", 3, true, "bidirectional"},
      {"GRU", 3, false, "reverse"},  {"RNN", 1, false, "reverse"}};
  for (const Kind& kind : kinds) {
    CAPTURE(kind.op);
    CAPTURE(kind.direction);
    const TinyOnnx model = Model(kind);
    CHECK(Count(Import(model.Finish()), SLUICE_OP_FULLY_CONNECTED) > kSteps);
    const Reals steps = RealsFor(model, Steps()), whole = Whole(kind);
    REQUIRE(steps.size() == whole.size());
    for (size_t i = 0; i < steps.size(); ++i)
      CHECK(std::abs(steps[i] - whole[i]) <= 2e-6f);
  }
}

TEST_CASE("onnx recurrent: a sequence that has ended shows zeros and keeps its state") {
  for (const Kind& kind : {Kind{"LSTM", 4, false, "forward"},
                           {"GRU", 3, true, "reverse"},
                           {"LSTM", 4, false, "reverse"}}) {
    CAPTURE(kind.op);
    CAPTURE(kind.direction);
    const Reals whole = RealsFor(Model(kind), Steps()),
                parts = RealsFor(Model(kind, {}, {2, kSteps}), Steps());
    const bool backwards = std::string(kind.direction) == "reverse";
    bool differs = false;
    for (size_t t = 0; t < kSteps; ++t) {
      for (size_t i = 0; i < kBatch * kState; ++i) {
        const float is = parts[t * kBatch * kState + i],
                    was = whole[t * kBatch * kState + i];
        if (i >= kState) CHECK(is == was);  // of the sequence that has every step
        if (i < kState && t >= 2) CHECK(is == 0);
        if (i < kState && t < 2 && !backwards) CHECK(is == was);
        differs |= i < kState && t < 2 && is != was;
      }
    }
    CHECK(differs == backwards);  // it begins later
    CHECK(RealsFor(Model(kind, {}, {kSteps, kSteps}), Steps()) == whole);
  }
  const Kind rnn = {"RNN", 1, false, "forward"};
  CHECK(Says(Complaint(Model(rnn, {}, {1, kSteps + 1}).Finish()), "beyond the steps"));
}

TEST_CASE("onnx recurrent: other functions of the gates") {
  const Kind kind = {"RNN", 1, false, "forward"};
  const Reals bent = RealsFor(Model(kind), Steps()),
              relu = RealsFor(Model(kind, {"Relu"}), Steps());
  // In the first step the state is zero: only the functions differ.
  for (size_t i = 0; i < kBatch * kState; ++i) {
    CHECK(std::abs(std::tanh(relu[i]) - std::max(bent[i], 0.0f)) <= 2e-6f);
  }
  CHECK(Says(Complaint(Model(kind, {"Affine"}).Finish()), "function of a gate"));
  CHECK(Says(Complaint(Model(kind, {"Tanh", "Tanh"}).Finish()),
             "another number of gates"));
}

TEST_CASE("onnx recurrent: an LSTM that quantises its input and state at run time") {
  TinyOnnx model;
  model.Input("x", {3, 1, 2});
  const int64_t columns = 4 * 2;
  model.Int8s("w", {1, 2, columns}, std::vector<int8_t>(2 * columns, 64));
  model.Int8s("r", {1, 2, columns}, std::vector<int8_t>(2 * columns, 0));
  model.Reals("s", {1}, {0.015625f});
  model.Int8s("z", {1}, {0});
  onnx::NodeProto* node =
      Contrib(&model, "DynamicQuantizeLSTM",
              {"x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"}, "y");
  TinyOnnx::Int(node, "hidden_size", 2);
  model.Output("y");
  // Weights are 1; x of 0 to 255 is quantised without a loss.
  const Reals y = RealsFor(model, BitsOfReals({0, 0, 1, 1, 255, 0}));
  const auto logistic = [](float v) { return 1 / (1 + std::exp(-v)); };
  const float second = logistic(2) * std::tanh(logistic(2) * std::tanh(2.0f));
  REQUIRE(y.size() == 6);
  CHECK(y[0] == 0);
  CHECK(std::abs(y[2] - second) <= 1e-6f);
  CHECK(y[2] == y[3]);
  CHECK(y[4] > 0.9f);
}

}  // namespace
}  // namespace sluice_test
