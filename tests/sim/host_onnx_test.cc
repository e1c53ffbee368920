// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX on floats, by hand.
#include "firmware-sim/host_onnx.h"

#include <cmath>

#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

void AddInts(HostCase* c, const Ints& ints) {
  c->Ints({1, 1, 1, static_cast<int64_t>(ints.size())}, ints);
}

// The one output of a function. Also checks that too few or too short operands are
// refused.
Floats Answer(const std::string& function, const std::vector<Floats>& operands,
              const Ints& options, int64_t count) {
  HostCase c;
  for (const Floats& operand : operands) c.Floats(operand);
  c.Options(options);
  c.WantedFloats(count);
  const std::string wrong = c.Run("onnx." + function);
  INFO(wrong);
  CHECK(wrong == "");
  HostCase less = c;
  less.in.pop_back();
  CHECK(less.Run("onnx." + function) == kOnnxOperands);
  HostCase short_output = c;
  short_output.out[0].extent[3] = count + 1;
  CHECK(short_output.Run("onnx." + function) == kOnnxOperands);
  return c.Result<float>();
}

TEST_CASE("host onnx: functions of one and two elements") {
  const Ints none = {0, 0, 0};
  CHECK(Answer("Relu", {{-1, 2}}, none, 2) == Floats{0, 2});
  CHECK(Answer("Clip", {{-5, 2, 9}}, {Bits(-1), Bits(6), 0}, 3) == Floats{-1, 2, 6});
  CHECK(Answer("LeakyRelu", {{-4, 2}}, {Bits(0.25f), 0, 0}, 2) == Floats{-1, 2});
  CHECK(Answer("HardSwish", {{-3, 0, 3}}, none, 3) == Floats{0, 0, 3});
  CHECK(Answer("Trunc", {{-1.75f, 1.75f}}, none, 2) == Floats{-1, 1});
  // Shapes [2,1] and [1,2], broadcast to [2,2].
  const Ints shapes = {2, 2, 2, 2, 2, 1, 2, 1, 2};
  CHECK(Answer("Sub", {{5, 7}, {1, 2}}, shapes, 4) == Floats{4, 3, 6, 5});
  CHECK(Answer("Pow", {{2, 3}, {2, 1}}, shapes, 4) == Floats{4, 2, 9, 3});
  CHECK(Answer("PRelu", {{-2, 3}, {0.5f, 2}}, shapes, 4) == Floats{-1, -4, 3, 3});
}

TEST_CASE("host onnx: pixels between others, cubic and by a grid") {
  const Ints cubic = {1, 1, 1, 4, 2, 2, 3, 0, Bits(1), Bits(0.5f), Bits(-0.75f), 0};
  CHECK(Answer("Resize", {{1, 2, 3, 4}}, cubic, 2) == Floats{1, 3});
  // Corners, the middle, and what lies outside; zeros around.
  const Ints grid = {1, 1, 2, 2, 1, 4, 1, 0, 1};
  CHECK(Answer("GridSample", {{1, 2, 3, 4}, {-1, -1, 1, 1, 0, 0, -3, 0}}, grid, 4) ==
        Floats{1, 4, 2.5f, 0});
  const Ints border = {1, 1, 2, 2, 1, 2, 0, 1, 1};
  CHECK(Answer("GridSample", {{1, 2, 3, 4}, {-3, -1, 9, 1}}, border, 2) ==
        Floats{1, 4});
}

TEST_CASE("host onnx: a network without gates keeps the last state") {
  // h = tanh(x + h) of two steps; the second output is the state behind the last.
  HostCase c;
  for (const Floats& operand :
       {Floats{0.5f, -1}, Floats{1}, Floats{1}, Floats{0, 0}, Floats{0}}) {
    c.Floats(operand);
  }
  c.Options({2, 1, 1, 1, 1, 0, 0});
  c.WantedFloats(2);
  c.WantedFloats(1);
  CHECK(c.Run("onnx.RNN") == "");
  const float first = std::tanh(0.5f), second = std::tanh(first - 1);
  CHECK(c.Result<float>() == Floats{first, second});
  CHECK(c.Result<float>(1) == Floats{second});
}

TEST_CASE("host onnx: floats lose their fraction") {
  HostCase cast;
  cast.Floats({-1.75f, 1.75f, 3e9f, NAN});
  cast.Options({0});
  cast.WantedFloats(4);
  CHECK(cast.Run("onnx.CastToInt32") == "");
  CHECK(cast.Result<int32_t>() == Ints{-1, 1, INT32_MIN, INT32_MIN});
  cast.out[0].extent[3] = 3;
  CHECK(cast.Run("onnx.CastToInt32") == kOnnxOperands);
}

TEST_CASE("host onnx: reductions, softmax and norms") {
  const Floats x = {1, 2, 3, 4, 5, 12};
  CHECK(Answer("ReduceMean", {x}, {2, 2, 3, 2}, 2) == Floats{2, 7});
  CHECK(Answer("ReduceMax", {x}, {2, 2, 3, 1}, 3) == Floats{4, 5, 12});
  CHECK(Answer("ReduceL2", {{3, 4}}, {1, 2, 1}, 1) == Floats{5});
  // Softmax along the first of two axes.
  const Floats soft = Answer("Softmax", {{0, 1, std::log(3.0f), 1}}, {1, 2, 2}, 4);
  CHECK(soft[0] == doctest::Approx(0.25));
  CHECK(soft[2] == doctest::Approx(0.75));
  CHECK(soft[1] == 0.5f);
  const Floats normal =
      Answer("LayerNormalization", {{1, 3}, {2, 2}, {10, 20}}, {1, 2, 0, Bits(0)}, 2);
  CHECK(normal == Floats{8, 22});
  const Floats root =
      Answer("RMSNormalization", {{3, 4, 3, 4}, {5}, {0}}, {1, 4, 1, Bits(0)}, 4);
  CHECK(root[0] == doctest::Approx(3 * 5 / std::sqrt(12.5)));
  CHECK(Answer("BatchNormalization", {{5, 7}, {2, 3}, {1, 0}, {3, 4}, {4, 9}},
               {1, 2, 1, Bits(0)}, 2) == Floats{3, 3});
  // The sum runs over both channels: 1 + 1/2 * (9 + 16) = 13.5.
  const Floats lrn =
      Answer("LRN", {{3, 4}}, {1, 2, 1, 2, Bits(1), Bits(0.5f), Bits(1)}, 2);
  CHECK(lrn[0] == doctest::Approx(3 / std::sqrt(13.5)));
  CHECK(lrn[1] == doctest::Approx(4 / std::sqrt(9.0)));  // the window is channel 1
}

TEST_CASE("host onnx: sums of other kinds") {
  const Floats x = {1, -2, 3, 4};
  CHECK(Answer("ReduceL1", {x}, {1, 4, 1}, 1) == Floats{10});
  CHECK(Answer("ReduceProd", {x}, {2, 2, 2, 2}, 2) == Floats{-2, 12});
  CHECK(Answer("ReduceSumSquare", {x}, {1, 4, 1}, 1) == Floats{30});
  CHECK(Answer("ReduceLogSum", {x}, {1, 4, 1}, 1)[0] == doctest::Approx(std::log(6.0)));
  CHECK(Answer("ReduceLogSumExp", {{0, 0}}, {1, 2, 1}, 1)[0] ==
        doctest::Approx(std::log(2.0)));
}

TEST_CASE("host onnx: steps, and elements that are picked") {
  // 0.5, 1.5 and 2.5 steps are ties.
  CHECK(Answer("RoundToSteps", {{1, 3, 5, 99, -99}}, {Bits(2), -3, 4}, 5) ==
        Floats{0, 4, 4, 8, -6});
  CHECK(Answer("Pick", {{1, 2}, {3}}, {2, 0, -1, 1, Bits(7)}, 4) == Floats{3, 1, 7, 2});
  HostCase c;
  c.Floats({1, 2});
  c.Options({2, 0});
  c.WantedFloats(1);
  CHECK(c.Run("onnx.Pick") == kOnnxOperands);  // there is no element 2
  CHECK(Answer("Shrink", {{-2, 0.25f, 2}}, {Bits(0.5f), Bits(1), 0}, 3) ==
        Floats{-1.5f, 0, 1.5f});
  CHECK(Answer("Celu", {{-100, 1}}, {Bits(2), 0, 0}, 2) == Floats{-2, 1});
}

TEST_CASE("host onnx: matrices and convolutions") {
  // Both batches of a are multiplied by the same b.
  const Ints shapes = {3, 2, 1, 1, 3, 2, 1, 2, 3, 1, 2, 1};
  CHECK(Answer("MatMul", {{1, 2, 3, 4}, {5, 6}}, shapes, 2) == Floats{17, 39});
  // One channel: 1 x 3 elements, a window of two, one of padding in front.
  const Ints window = {1, 1, 1, 3, 1, 1, 3, 1, 2, 1, 1, 1, 1, 1, 0, 1};
  CHECK(Answer("Conv", {{1, 2, 3}, {10, 1}, {100}}, window, 3) ==
        Floats{101, 112, 123});
  // Each input element spreads over two output columns.
  CHECK(Answer("ConvTranspose", {{1, 2}, {10, 1}, {0.5f}},
               {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 4, 2, 2, 1, 0},
               4) == Floats{10.5f, 1.5f, 20.5f, 2.5f});
}

TEST_CASE("host onnx: products of integers keep 32 bits") {
  HostCase c;
  c.Bytes({1, 1, 1, 2}, {3, -4});
  c.Bytes({1, 1, 2, 1}, {100, 50});
  AddInts(&c, {1});
  AddInts(&c, {0});
  c.Options({2, 1, 1, 2, 1, 2, 2, 2, 1});
  c.WantedFloats(1);
  REQUIRE(c.Run("onnx.MatMulInteger") == "");
  CHECK(c.Result<int32_t>() == Ints{-50});
  HostCase conv;
  conv.Bytes({1, 1, 1, 2}, {3, -4});
  conv.Bytes({1, 1, 2, 1}, {100, 50});  // two outputs, one weight each
  AddInts(&conv, {1});
  AddInts(&conv, {0, 10});
  conv.Options({1, 1, 1, 2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  conv.WantedFloats(4);
  REQUIRE(conv.Run("onnx.ConvInteger") == "");
  CHECK(conv.Result<int32_t>() == Ints{200, -500, 80, -200});
}

TEST_CASE("host onnx: quantisation, given and found") {
  HostCase c;
  c.Floats({0.25f, 0.75f, -9});
  c.Floats({0.5f});
  AddInts(&c, {7});
  c.Options({1, 1});
  c.Wanted(SLUICE_DTYPE_UINT8, {1, 1, 1, 3}, 3);
  REQUIRE(c.Run("onnx.QuantizeLinear") == "");
  CHECK(c.Result<uint8_t>() == std::vector<uint8_t>{7, 9, 0});
  ResultOf<int32_t>(c.in[2])[0] = 256;
  CHECK(c.Run("onnx.QuantizeLinear") == "a zero point out of range");
  HostCase back;
  back.Bytes({1, 1, 2, 2}, {1, 2, 3, 4});
  back.Floats({0.5f, 2});
  AddInts(&back, {1, 0});
  back.Options({2, 1});
  back.WantedFloats(4);
  REQUIRE(back.Run("onnx.DequantizeLinear") == "");
  CHECK(back.Result<float>() == Floats{0, 4, 1, 8});
  HostCase dynamic;
  dynamic.Floats({-1, 0, 4.1f});
  dynamic.Options({0});
  dynamic.Wanted(SLUICE_DTYPE_UINT8, {1, 1, 1, 3}, 3);
  dynamic.WantedFloats(1);
  dynamic.Wanted(SLUICE_DTYPE_UINT8, {1, 1, 1, 1}, 1);
  REQUIRE(dynamic.Run("onnx.DynamicQuantizeLinear") == "");
  CHECK(dynamic.Result<uint8_t>() == std::vector<uint8_t>{0, 50, 255});
  CHECK(dynamic.Result<float>(1)[0] == doctest::Approx(0.02));
  CHECK(dynamic.Result<uint8_t>(2) == std::vector<uint8_t>{50});
  dynamic.out[0].dtype = dynamic.out[2].dtype = SLUICE_DTYPE_INT8;
  REQUIRE(dynamic.Run("onnx.DynamicQuantizeLinear") == "");
  CHECK(dynamic.Result<int8_t>() == std::vector<int8_t>{-128, -78, 127});
  CHECK(dynamic.Result<int8_t>(2) == std::vector<int8_t>{-78});
  dynamic.out[2].dtype = SLUICE_DTYPE_UINT8;
  CHECK(dynamic.Run("onnx.DynamicQuantizeLinear") != "");
}

TEST_CASE("host onnx: pools and resizing") {
  const Ints pool = {1, 2, 1, 2, 1, 1, 0, 2, 2, 2, 1, 1, 1};
  Ints axes = pool;
  axes.push_back(0);
  CHECK(Answer("AveragePool", {{1, 2, 3, 6}}, axes, 2) == Floats{2, 3});
  axes.back() = 1;  // the average counts padding
  CHECK(Answer("AveragePool", {{1, 2, 3, 6}}, axes, 2) == Floats{1, 3});
  CHECK(Answer("MaxPool", {{1, 2, 3, 6}}, axes, 2) == Floats{3, 6});
  const auto resize = [](int linear, int positions, int nearest) {
    return Answer("Resize", {{0, 4}},
                  {1, 1, 1, 2, 4, linear, positions, nearest, Bits(1), Bits(2)}, 4);
  };
  CHECK(resize(1, 0, 0) == Floats{0, 1, 3, 4});  // half-pixel positions
  CHECK(resize(1, 3, 0) == Floats{0, 2, 4, 4});  // asymmetric positions
  CHECK(resize(0, 3, 2) == Floats{0, 0, 4, 4});
  CHECK(resize(0, 3, 3) == Floats{0, 4, 4, 4});
}

TEST_CASE("host onnx: the softmax of integers is onnxruntime's") {
  HostCase c;
  c.Bytes({1, 1, 1, 2}, {0, 11});  // in steps of 0.1: 11 steps are e^1.1
  c.Options({1, 2, 1, Bits(0.1f), Bits(1.0f / 256), -128});
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 1, 2}, 2);
  REQUIRE(c.Run("onnx.QLinearSoftmax") == "");
  CHECK(c.Result<int8_t>() == std::vector<int8_t>{-64, 64});
}

TEST_CASE("host onnx: a step of LSTM and of GRU") {
  // One feature, one state; all weights are 0 except that of the cell's candidate.
  HostCase lstm;
  lstm.Floats({2});
  lstm.Floats({0, 0, 0, 1});
  lstm.Floats({0, 0, 0, 0});
  lstm.Floats(Floats(8));
  lstm.Floats({0});
  lstm.Floats({3});
  lstm.Options({1, 1, 1, 1, 1, 0, 0});
  for (int i = 0; i < 3; ++i) lstm.WantedFloats(1);
  REQUIRE(lstm.Run("onnx.LSTM") == "");
  const double cell = 0.5 * 3 + 0.5 * std::tanh(2.0);
  CHECK(lstm.Result<float>(2)[0] == doctest::Approx(cell));
  CHECK(lstm.Result<float>(0)[0] == doctest::Approx(0.5 * std::tanh(cell)));
  CHECK(lstm.Result<float>(1) == lstm.Result<float>(0));
  lstm.in[1].extent[3] = 3;
  CHECK(lstm.Run("onnx.LSTM") == kOnnxOperands);
  HostCase gru;
  gru.Floats({2});
  gru.Floats({0, 0, 1});
  gru.Floats({0, 0, 1});
  gru.Floats(Floats(6));
  gru.Floats({4});
  gru.Options({1, 1, 1, 1, 1, 0, 0});
  for (int i = 0; i < 2; ++i) gru.WantedFloats(1);
  REQUIRE(gru.Run("onnx.GRU") == "");
  // The reset gate halves the state: tanh(2 + 2). The update gate keeps half of the
  // state 4.
  CHECK(gru.Result<float>(1)[0] == doctest::Approx(0.5 * std::tanh(4.0) + 2));
}

TEST_CASE("host onnx: an unknown name is no function") {
  CHECK(FindOnnxFunction("onnx.Wobble") == nullptr);
  CHECK(FindHostFunction("onnx.Conv") != nullptr);
}

TEST_CASE("host onnx: a transposed convolution may end before its last column") {
  // Columns 1, 2 become 1, 11, 2 + 10 and 2 + 10 * 2, of which the last is left out.
  const Ints options = {1, 1, 1, 1, 2, 2, 1, 1, 1, 0, 2, 2, 2, 1, 1, 0};
  CHECK(Answer("ConvTranspose", {{1, 2, 3, 4}, {1, 10}, {0.5f}}, options, 4) ==
        Floats{1.5f, 12.5f, 3.5f, 34.5f});
}

TEST_CASE("host onnx: operands of other ranks, types and numbers are refused") {
  HostCase ranks;  // [1,2] times [2,1]; one operand has an axis more
  ranks.Floats({1, 2});
  ranks.Floats({3, 4});
  ranks.Options({2, 1, 1, 2, 1, 2, 2, 2, 1});
  ranks.WantedFloats(1);
  CHECK(ranks.Run("onnx.MatMul") == "");
  ranks.in.pop_back();
  ranks.Options({2, 1, 1, 3, 1, 1, 2, 2, 2, 1});
  CHECK(ranks.Run("onnx.MatMul") == kOnnxOperands);
  HostCase types;
  for (int i = 0; i < 2; ++i) types.Ints({1, 1, 1, 1}, {3});
  for (int i = 0; i < 2; ++i) types.Bytes({1, 1, 1, 1}, {0});
  types.Options({2, 1, 1, 2, 1, 1, 2, 1, 1});
  types.WantedFloats(1);
  CHECK(types.Run("onnx.MatMulInteger") == kOnnxOperands);
  HostCase norm;
  for (int i = 0; i < 5; ++i) norm.Floats({1});
  norm.Options({1, 1, 1, Bits(0)});
  norm.WantedFloats(1);
  CHECK(norm.Run("onnx.BatchNormalization") == "");
  norm.WantedFloats(1);
  CHECK(norm.Run("onnx.BatchNormalization") == kOnnxOperands);
}

}  // namespace
}  // namespace sluice_sim
