// SPDX-License-Identifier: Apache-2.0
// 16-bit convolutions and products against numbers by hand.
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

using Shorts = std::vector<int16_t>;

// Stride 1, dilation 1, no pads, one group, zero point 0, no clamping.
std::vector<int32_t> Plain(int32_t bias_bits = 64) {
  return {1, 1, 1, 1, 0, 0, 1, 0, INT16_MIN, INT16_MAX, bias_bits};
}

// One input channel, two output channels: 3 * x and -1 * x, plus a bias.
HostCase Pointwise(int32_t bias_bits) {
  HostCase c;
  c.Shorts({1, 1, 2, 1}, {100, -20000});
  c.Bytes({2, 1, 1, 1}, {3, -1});
  c.Given<int64_t>(SLUICE_DTYPE_INT64, {1, 1, 1, 2}, {10, 0});
  c.Ints({1, 1, 2, 2}, {kOne, 1, kOne, 1});
  c.Options(Plain(bias_bits));
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 2, 2}, 8);
  return c;
}

TEST_CASE("host products: a convolution sums, adds the bias, scales and clamps") {
  for (const int32_t bits : {32, 64}) {
    HostCase c = Pointwise(bits);
    CHECK(c.Run("conv_int16") == "");
    CHECK(c.Result<int16_t>() == Shorts{310, -100, INT16_MIN, 20000});
  }
}

TEST_CASE("host products: windows are padded, also where channels stay apart") {
  HostCase c;
  c.Shorts({1, 1, 3, 1}, {1, 10, 100});
  c.Bytes({1, 1, 3, 1}, {1, 2, 3});
  c.Given<int64_t>(SLUICE_DTYPE_INT64, {1, 1, 1, 1}, {0});
  c.Ints({1, 1, 1, 2}, {kOne, 1});
  std::vector<int32_t> options = Plain();
  options[kPadLeft] = 1;
  c.Options(options);
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 3, 1}, 6);
  const Shorts want = {2 * 1 + 3 * 10, 1 + 20 + 300, 10 + 200};
  CHECK(c.Run("conv_int16") == "");
  CHECK(c.Result<int16_t>() == want);
  CHECK(c.Run("depthwise_conv_int16") == "");
  CHECK(c.Result<int16_t>() == want);
}

TEST_CASE("host products: a transposed convolution spreads its input") {
  HostCase c;
  c.Shorts({1, 1, 2, 1}, {1, 10});
  c.Bytes({1, 1, 2, 1}, {3, 4});
  c.Given<int64_t>(SLUICE_DTYPE_INT64, {1, 1, 1, 1}, {0});
  c.Ints({1, 1, 1, 2}, {kOne, 1});
  std::vector<int32_t> options = Plain();
  options[kStrideW] = 2;
  c.Options(options);
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 4, 1}, 8);
  CHECK(c.Run("transposed_conv_int16") == "");
  CHECK(c.Result<int16_t>() == Shorts{3, 4, 30, 40});
}

TEST_CASE("host products: rows times columns, with a zero point of the weight") {
  HostCase c;
  c.Shorts({1, 1, 2, 2}, {1, 2, 3, 4});
  c.Bytes({1, 1, 1, 2}, {6, 7});
  c.Given<int64_t>(SLUICE_DTYPE_INT64, {1, 1, 1, 1}, {0});
  c.Ints({1, 1, 1, 2}, {kOne, 1});
  std::vector<int32_t> options = Plain();
  options[kWeightZero] = 5;
  c.Options(options);
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 2, 1}, 4);
  CHECK(c.Run("fully_connected_int16") == "");
  CHECK(c.Result<int16_t>() == Shorts{1 + 4, 3 + 8});
}

TEST_CASE("host products: operands that do not fit are a sentence") {
  HostCase c = Pointwise(64);
  c.in[0].dtype = SLUICE_DTYPE_INT8;
  CHECK(c.Run("conv_int16") == "operands of a 16-bit product");
  HostCase d = Pointwise(64);
  d.out[0].extent[3] = 3;
  CHECK(d.Run("conv_int16") == "channels of a 16-bit product");
  HostCase e = Pointwise(64);
  ResultOf<int32_t>(e.in[3])[1] = 8;
  CHECK(e.Run("conv_int16") == "a shift outside of -31 to 7");
}

TEST_CASE(
    "host products: 16-bit numbers are 256 times their high byte and the low one") {
  HostCase c;
  c.Shorts({1, 1, 1, 4}, {-1, 258, INT16_MIN, INT16_MAX});
  c.Wanted(SLUICE_DTYPE_INT8, {1, 1, 1, 4}, 4);
  c.Wanted(SLUICE_DTYPE_UINT8, {1, 1, 1, 4}, 4);
  CHECK(c.Run("split_int16") == "");
  CHECK(c.Result<int8_t>(0) == std::vector<int8_t>{-1, 1, -128, 127});
  CHECK(c.Result<uint8_t>(1) == std::vector<uint8_t>{255, 2, 0, 255});
  c.out[1].dtype = SLUICE_DTYPE_INT8;
  CHECK(c.Run("split_int16") == "");
  CHECK(c.Result<int8_t>(1) == std::vector<int8_t>{127, -126, -128, 127});
  c.out[1].extent[3] = 3;
  CHECK(c.Run("split_int16") != "");
}

TEST_CASE("host products: sums of both bytes are scaled as the whole product's") {
  for (const int32_t bits : {64, 32}) {
    HostCase whole, parts;
    const std::vector<int64_t> bias = {5, -70000};
    const std::vector<int32_t> scales = {1518500250, -3, 1073741824, -5};
    const Shorts x = {-1234, 777};
    whole.Shorts({1, 1, 1, 2}, x);
    whole.Bytes({2, 1, 1, 2}, {100, -3, 50, 127});
    parts.Ints({1, 1, 1, 2}, {-5 * 100 + 3 * -3, -5 * 50 + 3 * 127});
    parts.Ints({1, 1, 1, 2}, {46 * 100 + 9 * -3, 46 * 50 + 9 * 127});
    for (HostCase* c : {&whole, &parts}) {
      c->Given(SLUICE_DTYPE_INT64, {1, 1, 1, 2}, bias);
      c->Ints({1, 1, 2, 2}, scales);
      c->Wanted(SLUICE_DTYPE_INT16, {1, 1, 1, 2}, 4);
    }
    whole.Options({1, 1, 1, 1, 0, 0, 1, 0, -32768, 32767, bits});
    parts.Options({-32768, 32767, bits, 0});
    CHECK(whole.Run("conv_int16") == "");
    CHECK(parts.Run("scale_sums_int16") == "");
    CHECK(parts.Result<int16_t>() == whole.Result<int16_t>());
    CHECK(parts.Result<int16_t>()[0] != 0);
    HostCase less = parts;
    less.in.erase(less.in.begin());
    CHECK(less.Run("scale_sums_int16") != "");
  }
}

// One half with a shift of 7 is a factor of 64; with a shift of -31 it leaves nothing.
TEST_CASE("host products: shifts of sums reach from -31 to 7, in every channel") {
  HostCase c;
  c.Ints({1, 1, 1, 3}, {1, 0, 2});
  c.Ints({1, 1, 1, 3}, {0, 3, 0});
  c.Given<int64_t>(SLUICE_DTYPE_INT64, {1, 1, 1, 3}, {0, 0, 0});
  c.Ints({1, 1, 3, 2}, {kOne, 7, kOne, -31, kOne, 7});
  c.Options({INT16_MIN, INT16_MAX, 64, 0});
  c.Wanted(SLUICE_DTYPE_INT16, {1, 1, 1, 3}, 6);
  CHECK(c.Run("scale_sums_int16") == "");
  CHECK(c.Result<int16_t>() == Shorts{256 * 64, 0, 512 * 64 - 1});
  for (const size_t channel : {0, 1, 2}) {
    for (const int32_t wrong : {-32, 8}) {
      int32_t* shift = ResultOf<int32_t>(c.in[3]) + 2 * channel + 1;
      const int32_t is = *shift;
      *shift = wrong;
      CHECK(c.Run("scale_sums_int16") == "extents of 16-bit sums");
      *shift = is;
    }
  }
}

// Two images of 2 x 2 pixels; the last row and column of the output lie beyond what they reach.
TEST_CASE("host products: a transposed convolution leaves the rest at its bias") {
  HostCase c;
  c.Shorts({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  c.Bytes({1, 1, 1, 1}, {10});
  c.Given<int64_t>(SLUICE_DTYPE_INT64, {1, 1, 1, 1}, {-1});
  c.Ints({1, 1, 1, 2}, {kOne, 1});
  std::vector<int32_t> options = Plain();
  options[kStrideH] = options[kStrideW] = 2;
  c.Options(options);
  c.Wanted(SLUICE_DTYPE_INT16, {2, 5, 5, 1}, 100);
  Shorts want(50, -1);
  for (const size_t image : {0, 1}) {
    for (const size_t pixel : {0, 1, 2, 3}) {
      want[image * 25 + pixel / 2 * 10 + pixel % 2 * 2] =
          static_cast<int16_t>(10 * (4 * image + pixel + 1) - 1);
    }
  }
  CHECK(c.Run("transposed_conv_int16") == "");
  CHECK(c.Result<int16_t>() == want);
}

}  // namespace
}  // namespace sluice_sim
