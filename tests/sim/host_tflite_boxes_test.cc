// SPDX-License-Identifier: Apache-2.0
// Boxes that overlap better ones, recorded from the runtime's reference kernel, and
// convolutions over three axes by hand.
#include "firmware-sim/host_tflite.h"
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

class FloatCase {
 public:
  FloatCase(int32_t inputs, int32_t outputs, int32_t numbers)
      : options_{inputs, outputs, numbers} {}

  void Floats(const std::vector<int32_t>& shape, const std::vector<float>& numbers) {
    std::vector<int32_t> bits;
    for (const float number : numbers) bits.push_back(Bits(number));
    Describe(kLiteFloat, shape);
    case_.Ints({1, 1, 1, static_cast<int64_t>(bits.size())}, bits);
  }
  void Whole(int32_t number) {
    Describe(kLiteInt32, {});
    case_.Ints({1, 1, 1, 1}, {number});
  }
  void Wanted(int type, const std::vector<int32_t>& shape, size_t count) {
    Describe(type, shape);
    case_.Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, static_cast<int64_t>(count)}, count * 4);
  }
  std::string Run(const char* name, const std::vector<int32_t>& numbers) {
    options_.insert(options_.end(), numbers.begin(), numbers.end());
    case_.Options(options_);
    return case_.Run(name);
  }
  HostCase& of() { return case_; }

 private:
  void Describe(int type, const std::vector<int32_t>& shape) {
    options_.insert(options_.end(), {type, 0, 0, static_cast<int32_t>(shape.size())});
    options_.insert(options_.end(), shape.begin(), shape.end());
  }
  HostCase case_;
  std::vector<int32_t> options_;
};

// The second box covers most of the first, the fourth three quarters; the last has too small a
// score.
void FiveBoxes(FloatCase* to) {
  to->Floats({5, 4},
             {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 2, 2, 3, 3, 1, 1, 0.75f, 0, 5, 5, 5, 6});
  to->Floats({5}, {0.9f, 0.8f, 0.7f, 0.6f, 0.1f});
  to->Whole(4);
  to->Floats({}, {0.5f});
  to->Floats({}, {0.2f});
}

TEST_CASE("host tflite boxes: those that overlap better ones too much are left out") {
  FloatCase soft(6, 3, 0);
  FiveBoxes(&soft);
  soft.Floats({}, {0.5f});
  soft.Wanted(kLiteInt32, {4}, 4);
  soft.Wanted(kLiteFloat, {4}, 4);
  soft.Wanted(kLiteInt32, {}, 1);
  REQUIRE(soft.Run("tflite.NON_MAX_SUPPRESSION_V5", {}) == "");
  CHECK(soft.of().Result<int32_t>(0) == std::vector<int32_t>{0, 2, 3, 0});
  CHECK(soft.of().Result<int32_t>(1) ==
        std::vector<int32_t>{1063675494, 1060320051, 1058032442, 0});
  CHECK(soft.of().Result<int32_t>(2) == std::vector<int32_t>{3});
  FloatCase hard(5, 2, 0);
  FiveBoxes(&hard);
  hard.Wanted(kLiteInt32, {4}, 4);
  hard.Wanted(kLiteInt32, {}, 1);
  REQUIRE(hard.Run("tflite.NON_MAX_SUPPRESSION_V4", {}) == "");
  CHECK(hard.of().Result<int32_t>(0) == std::vector<int32_t>{0, 2, 3, 0});
  CHECK(hard.of().Result<int32_t>(1) == std::vector<int32_t>{3});
}

// Two frames of 2 x 1 pixels, each the sum of a frame and the one behind it, the second one
// tenfold.
TEST_CASE("host tflite boxes: a convolution over frames, rows and columns") {
  FloatCase sum(3, 1, 8);
  sum.Floats({1, 2, 2, 1, 1}, {1, 2, 3, 4});
  sum.Floats({2, 1, 1, 1, 1}, {1, 10});
  sum.Floats({1}, {-13});
  sum.Wanted(kLiteFloat, {1, 2, 2, 1, 1}, 4);
  REQUIRE(sum.Run("tflite.CONV_3D", {0, 1, 1, 1, 1, 1, 1, 1}) == "");  // SAME, RELU
  CHECK(sum.of().Result<float>() == std::vector<float>{18, 29, 0, 0});
  FloatCase flat(2, 1, 8);
  flat.Floats({1, 2, 2, 1}, {1, 2, 3, 4});
  flat.Floats({2, 1, 1, 1, 1}, {1, 10});
  flat.Wanted(kLiteFloat, {1, 2, 2, 1, 1}, 4);
  CHECK(flat.Run("tflite.CONV_3D", {0, 1, 1, 1, 1, 1, 1, 0}) == kLiteOperands);
}

// The products of two channels by a matrix for each of two columns.
TEST_CASE("host tflite boxes: a convolution over three axes mixes channels") {
  FloatCase sum(2, 1, 8);
  sum.Floats({1, 1, 1, 2, 2}, {1, 2, 3, 4});
  sum.Floats({1, 1, 2, 2, 2}, {1, 10, 100, 1000, 5, 50, 500, 5000});
  sum.Wanted(kLiteFloat, {1, 1, 1, 1, 2}, 2);
  REQUIRE(sum.Run("tflite.CONV_3D", {1, 1, 1, 1, 1, 1, 1, 0}) == "");  // VALID
  CHECK(sum.of().Result<float>() ==
        std::vector<float>{1 + 200 + 15 + 2000, 10 + 2000 + 150 + 20000});
}

}  // namespace
}  // namespace sluice_sim
