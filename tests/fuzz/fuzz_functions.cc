// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_functions.h"

#include "fuzz/targets.h"
#include "fuzz/text_targets.h"

namespace sluice_test {

const FuzzFunctions kFuzzFunctions = {FuzzGraph, FuzzHardware, FuzzPlan,     FuzzTflite,
                                      FuzzOnnx,  FuzzJson,     FuzzNotation, FuzzCsv};

}  // namespace sluice_test
