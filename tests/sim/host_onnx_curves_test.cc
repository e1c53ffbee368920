// SPDX-License-Identifier: Apache-2.0
// Curves of onnxruntime, whose bits these are: its CPU kernels computed them.
#include <cmath>
#include <limits>

#include "firmware-sim/host_onnx.h"
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

using Bits = std::vector<uint32_t>;

Bits BitsOf(float (*curve)(float)) {
  Bits bits;
  for (const float x : {-30.0f, -6.25f, -0.921876f, -0.3f, -1e-3f, 0.0f, 2e-4f,
                        0.921875f, 1.7f, 4.5f, 19.0f}) {
    const float y = curve(x);
    bits.emplace_back();
    std::memcpy(&bits.back(), &y, 4);
  }
  return bits;
}

TEST_CASE("host onnx: curves have the runtime's bits") {
  CHECK(BitsOf(OnnxLogistic) == Bits{0, 989629184, 1049736172, 1054466732, 1056956219,
                                     1056964608, 1056965447, 1060578823, 1062761719,
                                     1065168886, 1065353216});
  CHECK(BitsOf(OnnxTanh) == Bits{3212836864, 3212836740, 3208253056, 3197445869,
                                 3129152107, 0, 961656597, 1060769400, 1064269560,
                                 1065349075, 1065353216});
  CHECK(BitsOf(OnnxErf) == Bits{3212836864, 3212836864, 3209610172, 3198697925,
                                3130254876, 0, 963421028, 1062126516, 1065081265,
                                1065353216, 1065353216});
}

TEST_CASE("host onnx: a curve of no number is no number") {
  const float none = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(OnnxLogistic(none)));
  CHECK(std::isnan(OnnxTanh(none)));
  CHECK(std::isnan(OnnxErf(none)));
}

}  // namespace
}  // namespace sluice_sim
