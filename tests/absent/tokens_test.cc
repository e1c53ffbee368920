// SPDX-License-Identifier: Apache-2.0
// Tokens in place of waits, in a library without them.
#include "bare.h"
#include "sluice/lowering.h"

namespace sluice_test {
namespace {

TEST_CASE("tokens: they are refused by name, and the stream is there") {
  Bare bare;
  const PlanPtr plan = bare.library.Schedule(bare.graph, bare.plain);
  REQUIRE(plan != nullptr);
  const void* stream = nullptr;
  size_t size = 0;
  REQUIRE(sluice_plan_stream(plan.get(), &stream, &size) == SLUICE_OK);
  sluice_token_lists_t* lists = nullptr;
  bare.CheckAbsent(
      sluice_tokens(bare.context(), stream, size, nullptr, &lists, bare.why()),
      "this library was built without tokens in place of waits (CMake option "
      "SLUICE_WITH_TOKENS)");
  CHECK(lists == nullptr);
}

}  // namespace
}  // namespace sluice_test
