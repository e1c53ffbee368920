// SPDX-License-Identifier: Apache-2.0
// What the host does in front of and behind sums of a unit.
#include <cmath>
#include <limits>

#include "firmware-sim/host_onnx.h"
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

template <typename T>
void Add(HostCase* c, int dtype, const std::vector<T>& numbers) {
  c->Given(dtype, {1, 1, 1, static_cast<int64_t>(numbers.size())}, numbers);
}
void Want(HostCase* c, int dtype, int64_t count) {
  c->Wanted(dtype, {1, 1, 1, count},
            static_cast<size_t>(count * (dtype == SLUICE_DTYPE_INT32 ? 4 : 1)));
}

// Also with one operand less and one option more.
void Succeeds(HostCase* c, const std::string& name) {
  CHECK(c->Run(name) == "");
  HostCase less = *c;
  less.in.erase(less.in.begin());
  CHECK(less.Run(name) == kOnnxOperands);
  HostCase longer = *c;
  longer.out[0].extent[3] += 1;
  CHECK(longer.Run(name) == kOnnxOperands);
}

TEST_CASE("host onnx sums: scaled, with a bias, channels in front") {
  HostCase c;
  Add<int32_t>(&c, SLUICE_DTYPE_INT32, {1, 2, 3, 4});      // pixels of two channels
  Add<int32_t>(&c, SLUICE_DTYPE_INT32, {10, 20, 30, 40});  // twice as much
  Add<float>(&c, SLUICE_DTYPE_INT32, {1});
  Add<float>(&c, SLUICE_DTYPE_INT32, {1, 10});
  Add<float>(&c, SLUICE_DTYPE_INT32, {0.5f});
  c.Options({1, 2, 2, 1, 0, 0, 2, Bits(0.5f), Bits(1), Bits(2)});
  Want(&c, SLUICE_DTYPE_INT32, 4);
  Succeeds(&c, "onnx.ScaleSums");
  CHECK(c.Result<float>() == std::vector<float>{11, 32, 210.5f, 420.5f});
}

TEST_CASE(
    "host onnx sums: parts count less and less, rows have scales, batches are added "
    "up") {
  HostCase c;
  // Two batches of two parts of a row with two columns.
  Add<int32_t>(&c, SLUICE_DTYPE_INT32, {1, 2, 256, 512, 3, 4, 0, -256});
  Add<float>(&c, SLUICE_DTYPE_INT32, {2, 10});       // a row of each batch
  Add<float>(&c, SLUICE_DTYPE_INT32, {1, 1, 1, 3});  // columns of each batch
  Add<float>(&c, SLUICE_DTYPE_INT32, {0.5f, 0.25f});
  c.Options({2, 1, 2, 0, 1, 3, 3, Bits(1), Bits(1)});
  Want(&c, SLUICE_DTYPE_INT32, 2);
  Succeeds(&c, "onnx.ScaleSums");
  CHECK(c.Result<float>() ==
        std::vector<float>{2 * 2 + 10 * 3 + 0.5f, 2 * 4 + 10 * 3 * 3 + 0.25f});
}

TEST_CASE("host onnx sums: floats are a scale times three bytes") {
  HostCase c;
  // Columns of [2, 3] are the rows: {1, -0.75}, {0, 0}, {1e-3, NaN}.
  const float none = std::numeric_limits<float>::quiet_NaN();
  Add<float>(&c, SLUICE_DTYPE_INT32, {1, 0, 1e-3f, -0.75f, 0, none});
  c.Options({1, 3, 2, 0, 2, 2, 2, 3, 1, 0});
  Want(&c, SLUICE_DTYPE_INT8, 12);  // two parts
  Want(&c, SLUICE_DTYPE_INT8, 6);   // the third
  Want(&c, SLUICE_DTYPE_INT32, 3);
  Succeeds(&c, "onnx.SplitFloats");
  CHECK(c.Result<int8_t>(0) ==
        std::vector<int8_t>{32, -24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(c.Result<int8_t>(1) == std::vector<int8_t>(6, 0));
  CHECK(c.Result<float>(2)[0] == 1.0f / 32);
  CHECK(c.Result<float>(2)[1] == 0);
  CHECK(std::isnan(c.Result<float>(2)[2]));
}

TEST_CASE("host onnx sums: three bytes hold 23 bits") {
  std::vector<float> reals;
  for (int i = -500; i < 500; ++i) reals.push_back(static_cast<float>(i) * 0.00371f);
  HostCase c;
  Add<float>(&c, SLUICE_DTYPE_INT32, reals);
  c.Options({1, 1, 1000, 0, 1, 1000, 0});
  Want(&c, SLUICE_DTYPE_INT8, 3000);
  Want(&c, SLUICE_DTYPE_INT32, 1);
  Succeeds(&c, "onnx.SplitFloats");
  const std::vector<int8_t> parts = c.Result<int8_t>(0);
  const double scale = static_cast<double>(c.Result<float>(1)[0]);
  for (size_t i = 0; i < reals.size(); ++i) {
    const double sum = parts[i] + parts[1000 + i] / 256.0 + parts[2000 + i] / 65536.0;
    CHECK(std::abs(scale * sum - static_cast<double>(reals[i])) <= 2.0 / (1 << 23));
  }
}

TEST_CASE("host onnx sums: 16-bit steps as bytes, axes in another order") {
  HostCase c;
  Add<float>(&c, SLUICE_DTYPE_INT32, {-0.5f, 128, 1e9f, -1e9f, 0.25f, 0.75f});
  c.Options({Bits(0.5f), 0, 1, 2, 2, 3, 1, 0});
  Want(&c, SLUICE_DTYPE_INT8, 6);
  Want(&c, SLUICE_DTYPE_UINT8, 6);
  Succeeds(&c, "onnx.SplitSteps");
  // Steps -1, -32768, 256, 0, 32767, 2 in the order of columns.
  CHECK(c.Result<int8_t>(0) == std::vector<int8_t>{-1, -128, 1, 0, 127, 0});
  CHECK(c.Result<uint8_t>(1) == std::vector<uint8_t>{255, 0, 0, 0, 255, 2});
  c.out[1].dtype = SLUICE_DTYPE_INT8;
  Succeeds(&c, "onnx.SplitSteps");
  CHECK(c.Result<int8_t>(0) == std::vector<int8_t>{-1, -128, 1, 0, 127, 0});
  CHECK(c.Result<int8_t>(1) == std::vector<int8_t>{127, -128, -128, -128, 127, -126});
}

TEST_CASE("host onnx sums: both bytes of numbers without sign as int8") {
  HostCase c;
  Add<float>(&c, SLUICE_DTYPE_INT32, {0, 65535, 256});
  c.Options({Bits(1), 0, 0, 1, 3, 0});
  Want(&c, SLUICE_DTYPE_INT8, 3);
  Want(&c, SLUICE_DTYPE_INT8, 3);
  Succeeds(&c, "onnx.SplitSteps");
  CHECK(c.Result<int8_t>(0) == std::vector<int8_t>{-128, 127, -127});
  CHECK(c.Result<int8_t>(1) == std::vector<int8_t>{-128, 127, -128});
}

TEST_CASE("host onnx sums: a zero point counts for what lies inside") {
  HostCase c;
  Add<int32_t>(&c, SLUICE_DTYPE_INT32, {100, 100, 100});
  Add<uint8_t>(&c, SLUICE_DTYPE_UINT8, {2});
  Add<int32_t>(&c, SLUICE_DTYPE_INT32, {1, 10, 100});
  // One row of three pixels, a window of three, one pixel of padding in front.
  c.Options({1, 1, 1, 3, 1, 1, 3, 1, 3, 1, 1, 1, 1, 1, 0, 1});
  Want(&c, SLUICE_DTYPE_INT32, 3);
  Succeeds(&c, "onnx.LessZeroPoint");
  CHECK(c.Result<int32_t>() == std::vector<int32_t>{-120, -122, 78});
}

TEST_CASE("host onnx sums: zero points of both operands") {
  HostCase c;
  Add<int32_t>(&c, SLUICE_DTYPE_INT32, {3 * 7 + 5 * 11});
  Add<uint8_t>(&c, SLUICE_DTYPE_UINT8, {3, 5});
  Add<uint8_t>(&c, SLUICE_DTYPE_UINT8, {7, 11});
  Add<uint8_t>(&c, SLUICE_DTYPE_UINT8, {2});
  Add<uint8_t>(&c, SLUICE_DTYPE_UINT8, {10});
  c.Options({1, 1, 2, 1});
  Want(&c, SLUICE_DTYPE_INT32, 1);
  Succeeds(&c, "onnx.LessZeroPoints");
  CHECK(c.Result<int32_t>() == std::vector<int32_t>{1 * -3 + 3 * 1});
}

TEST_CASE("host onnx sums: scales of rows and columns are those of every batch") {
  HostCase c;
  // Two batches of two rows with two columns.
  Add<int32_t>(&c, SLUICE_DTYPE_INT32, {1, 2, 3, 4, 5, 6, 7, 8});
  c.Floats({1, 10});
  c.Floats({1, 0.5f});
  c.Floats({0});
  c.Options({2, 2, 2, 0, 0, 2, 2, Bits(1), Bits(1)});
  c.WantedFloats(8);
  Succeeds(&c, "onnx.ScaleSums");
  CHECK(c.Result<float>() == std::vector<float>{1, 1, 30, 20, 5, 3, 70, 40});
}

TEST_CASE("host onnx sums: floats that are taken apart have at least one part") {
  HostCase c;
  c.Floats({1, 2});
  c.Options({1, 1, 2, 1, 2, 0});
  c.WantedFloats(1);
  CHECK(c.Run("onnx.SplitFloats") == kOnnxOperands);
}

}  // namespace
}  // namespace sluice_sim
