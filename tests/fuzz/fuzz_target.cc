// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry point; SLUICE_FUZZ_TARGET names the target that it runs.
#include "fuzz/targets.h"

namespace {

[[maybe_unused]] constexpr auto graph = sluice_test::FuzzGraph;
[[maybe_unused]] constexpr auto hardware = sluice_test::FuzzHardware;
[[maybe_unused]] constexpr auto plan = sluice_test::FuzzPlan;
[[maybe_unused]] constexpr auto tflite = sluice_test::FuzzTflite;
[[maybe_unused]] constexpr auto onnx = sluice_test::FuzzOnnx;
[[maybe_unused]] constexpr auto json = sluice_test::FuzzJson;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)SLUICE_FUZZ_TARGET(data, size);
  return 0;
}
