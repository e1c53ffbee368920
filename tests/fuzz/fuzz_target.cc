// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry point; SLUICE_FUZZ_TARGET names the target that it runs.
#include "fuzz/fuzz_functions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)sluice_test::kFuzzFunctions.SLUICE_FUZZ_TARGET(data, size);
  return 0;
}
