// SPDX-License-Identifier: Apache-2.0
// Plans of the space, in a library without them: the default is what fusion finds.
#include "bare.h"

namespace sluice_test {
namespace {

TEST_CASE("space: a schedule is made without it") {
  Bare bare;
  sluice_plan_t* plan = nullptr;
  CHECK(sluice_schedule(bare.context(), bare.graph.get(), bare.plain.get(), nullptr,
                        &plan, bare.why()) == SLUICE_OK);
  CHECK(plan != nullptr);
  sluice_plan_destroy(plan);
}

}  // namespace
}  // namespace sluice_test
