// SPDX-License-Identifier: Apache-2.0
// Functions for TensorFlow Lite's operators by hand. tests/models/tflite_operators.py
// compares each of them with the runtime, byte for byte.
#include "firmware-sim/host_tflite.h"

#include <cmath>

#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

// Operands of one row each: type, scale, zero point, elements.
struct Operand {
  int type;
  float scale;
  int32_t zero;
  std::vector<int32_t> numbers;
};

class LiteCase {
 public:
  LiteCase(const std::vector<Operand>& inputs, const Operand& output,
           const std::vector<int32_t>& numbers = {}) {
    options_ = {static_cast<int32_t>(inputs.size()), 1,
                static_cast<int32_t>(numbers.size())};
    for (const Operand& o : inputs) {
      Describe(o, o.numbers.size());
      Give(o);
    }
    const size_t count = static_cast<size_t>(output.numbers.at(0));
    Describe(output, count);
    options_.insert(options_.end(), numbers.begin(), numbers.end());
    case_.Options(options_);
    case_.Wanted(0, {1, 1, 1, static_cast<int64_t>(count)},
                 count * static_cast<size_t>(LiteTypeBytes(output.type)));
  }
  HostCase& of() { return case_; }
  template <typename T>
  std::vector<T> Result(const char* name) {
    const std::string wrong = case_.Run(name);
    REQUIRE_MESSAGE(wrong == "", wrong);
    return case_.Result<T>();
  }

 private:
  void Describe(const Operand& o, size_t count) {
    options_.insert(options_.end(),
                    {o.type, Bits(o.scale), o.zero, 1, static_cast<int32_t>(count)});
  }
  void Give(const Operand& o) {
    const std::array<int64_t, 4> extent = {1, 1, 1,
                                           static_cast<int64_t>(o.numbers.size())};
    if (LiteTypeBytes(o.type) == 1) {
      case_.Bytes(extent, std::vector<int8_t>(o.numbers.begin(), o.numbers.end()));
    } else if (LiteTypeBytes(o.type) == 2) {
      case_.Shorts(extent, std::vector<int16_t>(o.numbers.begin(), o.numbers.end()));
    } else {
      case_.Ints(extent, o.numbers);
    }
  }
  HostCase case_;
  std::vector<int32_t> options_;
};

TEST_CASE("host tflite: floats become steps of bytes, and back") {
  LiteCase in({{kLiteFloat, 0, 0, {Bits(0.5f), Bits(-1.26f), Bits(1e9f)}}},
              {kLiteInt8, 0.5f, 3, {3}});
  CHECK(in.Result<int8_t>("tflite.QUANTIZE") == std::vector<int8_t>{4, 0, 127});
  LiteCase out({{kLiteInt8, 0.5f, 3, {4, -3}}}, {kLiteFloat, 0, 0, {2}});
  CHECK(out.Result<float>("tflite.DEQUANTIZE") == std::vector<float>{0.5f, -3.0f});
}

TEST_CASE("host tflite: quotients of floors follow the divisor's sign") {
  const std::vector<Operand> in = {{kLiteInt32, 0, 0, {7, -7, 7, -7}},
                                   {kLiteInt32, 0, 0, {3, 3, -3, -3}}};
  CHECK(LiteCase(in, {kLiteInt32, 0, 0, {4}}).Result<int32_t>("tflite.FLOOR_DIV") ==
        std::vector<int32_t>{2, -3, -3, 2});
  CHECK(LiteCase(in, {kLiteInt32, 0, 0, {4}}).Result<int32_t>("tflite.FLOOR_MOD") ==
        std::vector<int32_t>{1, 2, -2, -1});
  CHECK(LiteCase(in, {kLiteInt32, 0, 0, {4}}, {0}).Result<int32_t>("tflite.DIV") ==
        std::vector<int32_t>{2, -2, -2, 2});
}

TEST_CASE("host tflite: 16-bit curves are close to what they stand for") {
  std::vector<int32_t> x;
  for (int32_t v = -32768; v < 32768; v += 331) x.push_back(v);
  const Operand in = {kLiteInt16, 1.0f / 4096, 0, x};
  const Operand out = {kLiteInt16, 1.0f / 32768, 0, {static_cast<int32_t>(x.size())}};
  const auto logistic = LiteCase({in}, out).Result<int16_t>("tflite.LOGISTIC");
  const auto tanh = LiteCase({in}, out).Result<int16_t>("tflite.TANH");
  for (size_t i = 0; i < x.size(); ++i) {
    const double real = x[i] / 4096.0;
    CHECK(std::abs(logistic[i] / 32768.0 - 1 / (1 + std::exp(-real))) < 1e-3);
    CHECK(std::abs(tanh[i] / 32768.0 - std::tanh(real)) < 1e-3);
  }
}

TEST_CASE("host tflite: a 16-bit softmax is the exponentials' share") {
  LiteCase c({{kLiteInt16, 1.0f / 1024, 0, {0, 1024, 1024}}},
             {kLiteInt16, 1.0f / 32768, 0, {3}}, {Bits(1.0f)});
  const auto got = c.Result<int16_t>("tflite.SOFTMAX");
  const double sum = 2 + std::exp(-1.0);
  CHECK(std::abs(got[0] - 32768 * std::exp(-1.0) / sum) < 30);
  CHECK(std::abs(got[1] - 32768 / sum) < 30);
}

TEST_CASE("host tflite: a vector of length five is divided by five") {
  LiteCase c({{kLiteInt8, 0.1f, 0, {30, 40}}}, {kLiteInt8, 1.0f / 128, 0, {2}});
  CHECK(c.Result<int8_t>("tflite.L2_NORMALIZATION") == std::vector<int8_t>{77, 102});
}

TEST_CASE("host tflite: factors keep 31 bits, inverse roots their square") {
  for (const double factor : {1.0, 0.3, 1e-3, 700.0}) {
    const LiteFactor f = LiteFactorOf(factor);
    CHECK(std::abs(std::ldexp(f.multiplier / 2147483648.0, f.shift) - factor) <
          factor * 1e-8);
  }
  for (const int32_t value : {2, 9, 1000, 123456789}) {
    const LiteFactor root = LiteInverseRoot(value, -1);
    const double real = std::ldexp(root.multiplier / 2147483648.0, root.shift);
    CHECK(std::abs(real * real * value - 1) < 1e-5);
  }
}

// Recorded from the runtime's reference kernels.
TEST_CASE(
    "host tflite: a dividend of 0 that is shifted by 32 bits and more is one step "
    "off") {
  const Operand a = {kLiteInt8, 0.05f, -3, {-3, -3, 40, -128, 127, -3}};
  const Operand b = {kLiteInt8, 0.04f, 7, {90, 8, 120, -60, 9, -128}};
  LiteCase coarse({a, b}, {kLiteInt8, 0.2f, -20, {6}});
  CHECK(coarse.Result<int8_t>("tflite.DIV") ==
        std::vector<int8_t>{-19, -20, -18, -8, 127, -19});
  LiteCase clamped({a, b}, {kLiteInt8, 0.02f, -20, {6}}, {3});
  CHECK(clamped.Result<int8_t>("tflite.DIV") ==
        std::vector<int8_t>{-20, -20, 4, 97, 127, -19});
}

TEST_CASE("host tflite: inverse roots of 16 bits lie on straight pieces") {
  LiteCase root({{kLiteInt16, 0.0005f, 0, {0, 1, 2, 100, 129, 1000, 20000, 32767}}},
                {kLiteInt16, 0.001f, 0, {8}});
  CHECK(root.Result<int16_t>("tflite.RSQRT") ==
        std::vector<int16_t>{26392, 26216, 26040, 8810, 3878, 1415, 316, 247});
  LiteCase below({{kLiteInt16, 0.5f, 0, {-1}}}, {kLiteInt16, 0.5f, 0, {1}});
  CHECK(below.of().Run("tflite.RSQRT") == "a root of a number below zero");
}

TEST_CASE("host tflite: operands broadcast from the last axis") {
  CHECK(LiteBroadcast({3}, {2, 3}) == std::vector<int64_t>{0, 1, 2, 0, 1, 2});
  CHECK(LiteBroadcast({2, 1}, {2, 3}) == std::vector<int64_t>{0, 0, 0, 1, 1, 1});
  CHECK(LiteBroadcast({2}, {2, 3}).empty());
}

TEST_CASE("host tflite: options that do not describe the operands are a sentence") {
  const std::vector<Operand> in = {{kLiteInt32, 0, 0, {1, 2}}};
  LiteCase good(in, {kLiteInt32, 0, 0, {2}});
  CHECK(good.of().Run("tflite.NEG") == "");
  LiteCase types(in, {kLiteFloat, 0, 0, {2}});
  CHECK(types.of().Run("tflite.NEG") == kLiteOperands);
  LiteCase missing(in, {kLiteInt32, 0, 0, {2}});
  missing.of().in.erase(missing.of().in.begin());
  CHECK(missing.of().Run("tflite.NEG") == kLiteOperands);
  LiteCase zero({{kLiteInt8, 1, 0, {4}}, {kLiteInt8, 1, 0, {0}}},
                {kLiteInt8, 1, 0, {1}});
  CHECK(zero.of().Run("tflite.DIV") == "a division by zero");
  CHECK(FindHostFunction("tflite.NOTHING") == nullptr);
}

// 2 times -3, 1, 2 and 5, in steps of 1 around -10.
TEST_CASE("host tflite: bounds of a fused activation lie around the zero point") {
  const std::vector<std::vector<int8_t>> want = {
      {-16, -8, -6, 0}, {-10, -8, -6, 0}, {-11, -9, -9, -9}, {-10, -8, -6, -4}};
  for (const int32_t activation : {0, 1, 2, 3}) {
    HostCase c;
    c.Bytes({1, 1, 1, 1}, {2});
    c.Bytes({1, 1, 1, 4}, {-3, 1, 2, 5});
    c.Options({2,         1,       8,             //
               kLiteInt8, Bits(1), 0,   2, 1, 1,  // [1, 1]
               kLiteInt8, Bits(1), 0,   2, 4, 1,  // [4, 1]
               kLiteInt8, Bits(1), -10, 2, 1, 4,  // [1, 4]
               0,         0,       0,   0, 0, 0, 0, activation});
    c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 1, 4}, 4);
    CHECK(c.Run("tflite.FULLY_CONNECTED") == "");
    CHECK(c.Result<int8_t>() == want[static_cast<size_t>(activation)]);
  }
}

TEST_CASE("host tflite: factors' shifts reach from -31 to 30") {
  const auto is = [](double factor, int32_t multiplier, int shift) {
    const LiteFactor f = LiteFactorOf(factor);
    return f.multiplier == multiplier && f.shift == shift;
  };
  CHECK(is(std::ldexp(0.5, 30), 1 << 30, 30));
  CHECK(is(std::ldexp(0.5, 31), INT32_MAX, 30));
  CHECK(is(std::ldexp(0.5, -31), 1 << 30, -31));
  CHECK(is(std::ldexp(0.5, -32), 0, 0));
}

TEST_CASE("host tflite: one operand of another type is refused") {
  const Operand reals = {kLiteFloat, 0, 0, {Bits(1), Bits(2)}},
                whole = {kLiteInt32, 0, 0, {0, 1}};
  const Operand some = {kLiteFloat, 0, 0, {2}}, others = {kLiteInt32, 0, 0, {2}};
  const auto says = [](LiteCase c, const char* name) { return c.of().Run(name); };
  CHECK(says({{reals}, some, {Bits(1)}}, "tflite.SOFTMAX") == "");
  CHECK(says({{reals}, others, {Bits(1)}}, "tflite.SOFTMAX") == kLiteOperands);
  CHECK(says({{reals, reals}, some}, "tflite.PRELU") == "");
  CHECK(says({{whole, reals}, some}, "tflite.PRELU") == kLiteOperands);
  CHECK(says({{reals, whole}, some}, "tflite.PRELU") == kLiteOperands);
  CHECK(says({{reals, whole}, some, {0, 0}}, "tflite.GATHER") == "");
  CHECK(says({{reals, whole}, others, {0, 0}}, "tflite.GATHER") == kLiteOperands);
}

TEST_CASE("host tflite: a mirror shows no more than lies before it") {
  const Operand x = {kLiteInt32, 0, 0, {7, 8}};
  LiteCase once({x, {kLiteInt32, 0, 0, {1, 1}}}, {kLiteInt32, 0, 0, {4}}, {0});
  CHECK(once.Result<int32_t>("tflite.MIRROR_PAD") == std::vector<int32_t>{8, 7, 8, 7});
  LiteCase twice({x, {kLiteInt32, 0, 0, {5, 0}}}, {kLiteInt32, 0, 0, {7}}, {0});
  CHECK(twice.of().Run("tflite.MIRROR_PAD") == kLiteOperands);
}

}  // namespace
}  // namespace sluice_sim
