// SPDX-License-Identifier: Apache-2.0
// Places of maxima and regions of pictures, by hand.
#include "firmware-sim/host_onnx.h"
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

// A picture of 2 x 3 pixels.
HostCase Picture(int32_t image, int32_t ratio, int32_t half, int32_t largest) {
  HostCase c;
  c.Floats({0, 1, 2, 3, 4, 5});
  c.Floats({0, 0, 2, 1});
  c.Ints({1, 1, 1, 1}, {image});
  c.Options({1, 1, 2, 3, 1, 1, 2, ratio, Bits(1), half, largest});
  c.WantedFloats(2);
  return c;
}

TEST_CASE("host onnx regions: samples lie between four pixels") {
  // Corners (0, 0) and (2, 1): two cells of 1 x 1, one sample in the middle of each.
  HostCase c = Picture(0, 1, 0, 0);
  REQUIRE(c.Run("onnx.RoiAlign") == "");
  CHECK(c.Result<float>() == std::vector<float>{2, 3});
  HostCase shifted =
      Picture(0, 1, 1, 0);  // by half a pixel: outside counts as the border
  REQUIRE(shifted.Run("onnx.RoiAlign") == "");
  CHECK(shifted.Result<float>() == std::vector<float>{0, 1});
  HostCase most = Picture(0, 1, 0, 1);  // the largest weighted pixel
  REQUIRE(most.Run("onnx.RoiAlign") == "");
  CHECK(most.Result<float>() == std::vector<float>{1, 1.25f});
  HostCase absent = Picture(1, 1, 0, 0);
  CHECK(absent.Run("onnx.RoiAlign") == "a region of a picture that is not there");
}

TEST_CASE("host onnx regions: places of maxima, and back") {
  HostCase c;
  c.Floats({1, 7, 7, 2});
  // One plane of 1 x 4, windows of 1 x 3 with a pad in front.
  c.Options({1, 1, 1, 1, 1, 1, 0, 4, 3, 3, 1, 1, 1, 0});
  c.Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, 3}, 12);
  REQUIRE(c.Run("onnx.MaxPoolIndices") == "");
  CHECK(c.Result<int32_t>() == std::vector<int32_t>{1, 1, 1});  // the first of two
  HostCase back;
  back.Floats({5, 6});
  back.Ints({1, 1, 1, 2}, {3, 0});
  back.Options({0});
  back.WantedFloats(4);
  REQUIRE(back.Run("onnx.MaxUnpool") == "");
  CHECK(back.Result<float>() == std::vector<float>{6, 0, 0, 5});
  ResultOf<int32_t>(back.in[1])[0] = 4;
  CHECK(back.Run("onnx.MaxUnpool") == "an index outside the output");
}

}  // namespace
}  // namespace sluice_sim
