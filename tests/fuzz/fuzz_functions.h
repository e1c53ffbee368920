// SPDX-License-Identifier: Apache-2.0
// The fuzz targets by name. targets.h says what they do; it takes seconds to compile, so the
// entry points of libFuzzer include this header instead.
#ifndef SLUICE_TESTS_FUZZ_FUZZ_FUNCTIONS_H_
#define SLUICE_TESTS_FUZZ_FUZZ_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

#include "sluice/sluice.h"

namespace sluice_test {

using FuzzFunction = sluice_status_t (*)(const uint8_t* data, size_t size);

struct FuzzFunctions {
  FuzzFunction graph;
  FuzzFunction hardware;
  FuzzFunction plan;
  FuzzFunction tflite;
  FuzzFunction onnx;
  FuzzFunction json;
  FuzzFunction notation;
  FuzzFunction csv;
};

extern const FuzzFunctions kFuzzFunctions;

}  // namespace sluice_test

#endif  // SLUICE_TESTS_FUZZ_FUZZ_FUNCTIONS_H_
