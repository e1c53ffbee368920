// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way in.
#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)sluice_test::FuzzTflite(data, size);
  return 0;
}
