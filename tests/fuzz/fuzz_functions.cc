// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_functions.h"

#include "fuzz/targets.h"

namespace sluice_test {

const FuzzFunctions kFuzzFunctions = {FuzzGraph,  FuzzHardware, FuzzPlan,
                                      FuzzTflite, FuzzOnnx,     FuzzJson};

}  // namespace sluice_test
