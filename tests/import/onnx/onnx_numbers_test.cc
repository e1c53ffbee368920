// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_numbers.h"

#include <doctest/doctest.h>

#include "sluice/ops.h"

namespace sluice::import {
namespace {

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8, kUint8 = SLUICE_DTYPE_UINT8;

TEST_CASE("onnx numbers: ties go to the even step, bounds hold, no number is zero") {
  const Range range = DtypeRange(kInt8);
  CHECK(OnnxStored(1.25f, {0.5f, 0}, range) == 2);
  CHECK(OnnxStored(1.75f, {0.5f, 0}, range) == 4);
  CHECK(OnnxStored(-1.25f, {0.5f, 1}, range) == -1);
  CHECK(OnnxStored(1e30f, {0.5f, 1}, range) == 127);
  CHECK(OnnxStored(-1e30f, {0.5f, 1}, range) == -128);
  CHECK(OnnxStored(0.0f / 0.0f, {0.5f, 5}, range) == -128);
}

TEST_CASE("onnx numbers: a table has an answer for each byte of its type") {
  const auto twice = [](float x) { return 2 * x; };
  const std::vector<uint8_t> table =
      OnnxTable({kInt8, {0.5f, 1}}, {kUint8, {0.5f, 3}}, twice);
  CHECK(table[1] == 3);
  CHECK(table[3] == 7);
  CHECK(table[255] == 0);  // -1 is 2 steps: 4 below the zero point 3
}

TEST_CASE("onnx numbers: a factor that is rounded once has no right shift") {
  const Factor small = FactorRoundedOnce(0.4009);
  CHECK(small.shift == 0);
  CHECK(small.multiplier == 860926194);
  CHECK(FactorRoundedOnce(1).multiplier == 1 << 30);
  CHECK(FactorRoundedOnce(1).shift == 1);
  CHECK(FactorRoundedOnce(0).multiplier == 0);
}

TEST_CASE("onnx numbers: requantisation equals the runtime's for all bytes") {
  // Rounding twice would change 75 of the 256 bytes.
  CHECK(ChooseRequantise({kInt8, {0.4009f, 3}}, {kInt8, {1.0f, -7}}).unlike == 0);
  // Every other byte is a tie. The layer rounds ties upwards, the runtime to even.
  CHECK(ChooseRequantise({kInt8, {0.5f, 0}}, {kInt8, {1.0f, 0}}).unlike == 64);
}

TEST_CASE(
    "onnx numbers: sums and products equal the runtime's, or it is said how many "
    "do not") {
  const Stored8 a = {kInt8, {0.0371f, 3}}, b = {kUint8, {0.0192f, 120}};
  for (const Arithmetic kind :
       {Arithmetic::kSum, Arithmetic::kDifference, Arithmetic::kProduct}) {
    const Chosen chosen = ChooseBinary(kind, a, b, {kInt8, {0.0413f, -9}});
    CHECK(chosen.unlike == 0);
    CHECK(chosen.attributes.size() == SLUICE_BINARY_ATTRIBUTES);
  }
  // Half of the sums of two such numbers are ties.
  const Stored8 half = {kInt8, {0.5f, 0}};
  CHECK(ChooseBinary(Arithmetic::kSum, half, half, {kInt8, {1.0f, 0}}).unlike > 1000);
}

}  // namespace
}  // namespace sluice::import
