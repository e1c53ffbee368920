// SPDX-License-Identifier: Apache-2.0
// Plans of whole tensors, in a library without them.
#include "bare.h"

namespace sluice_test {
namespace {

const char kAbsent[] =
    "this library was built without operator granularity and replacement (CMake option "
    "SLUICE_WITH_OPERATORS)";

TEST_CASE("operators: a schedule of whole operators is refused") {
  Bare bare;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.granularity = SLUICE_GRANULARITY_OPERATOR;
  sluice_plan_t* plan = nullptr;
  bare.CheckAbsent(sluice_schedule(bare.context(), bare.graph.get(), bare.plain.get(),
                                   &options, &plan, bare.why()),
                   kAbsent);
  CHECK(plan == nullptr);
}

TEST_CASE("operators: replacement is refused") {
  Bare bare;
  sluice_replacement_options_t options = {};
  options.struct_size = sizeof options;
  options.capacity_bytes = 1 << 20;
  sluice_replacement_t* replacement = nullptr;
  bare.CheckAbsent(sluice_replace(bare.context(), bare.graph.get(), &options,
                                  &replacement, bare.why()),
                   kAbsent);
  CHECK(replacement == nullptr);
}

}  // namespace
}  // namespace sluice_test
