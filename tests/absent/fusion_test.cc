// SPDX-License-Identifier: Apache-2.0
// Fused layers as published, in a library without them.
#include "bare.h"

namespace sluice_test {
namespace {

const char kAbsent[] =
    "this library was built without the published searches over fused layers (CMake "
    "option SLUICE_WITH_FUSION)";

TEST_CASE("fusion: the default plans without it, with a deadline too") {
  Bare bare;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  for (const uint64_t deadline_ns : {uint64_t{0}, uint64_t{1000000000}}) {
    options.deadline_ns = deadline_ns;
    sluice_plan_t* plan = nullptr;
    CHECK(sluice_schedule(bare.context(), bare.graph.get(), bare.plain.get(), &options,
                          &plan, bare.why()) == SLUICE_OK);
    CHECK(plan != nullptr);
    sluice_plan_destroy(plan);
  }
}

TEST_CASE("fusion: its solvers are refused, the plain one is not") {
  Bare bare;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  sluice_plan_t* plan = nullptr;
  for (const uint32_t solver :
       {SLUICE_SOLVER_FUSION, SLUICE_SOLVER_COCCO, SLUICE_SOLVER_SOMA}) {
    options.solver = solver;
    bare.CheckAbsent(sluice_schedule(bare.context(), bare.graph.get(), bare.plain.get(),
                                     &options, &plan, bare.why()),
                     kAbsent);
    CHECK(plan == nullptr);
  }
  options.solver = SLUICE_SOLVER_BASELINE;
  CHECK(sluice_schedule(bare.context(), bare.graph.get(), bare.plain.get(), &options,
                        &plan, bare.why()) == SLUICE_OK);
  sluice_plan_destroy(plan);
}

TEST_CASE("fusion: evaluations are refused") {
  Bare bare;
  sluice_notation_t notation = {};
  notation.struct_size = sizeof notation;
  sluice_timed_schedule_t timed = {};
  timed.struct_size = sizeof timed;
  sluice_evaluation_t evaluation = {};
  evaluation.struct_size = sizeof evaluation;
  bare.CheckAbsent(sluice_evaluate(bare.context(), bare.graph.get(), bare.plain.get(),
                                   &notation, &evaluation, bare.why()),
                   kAbsent);
  bare.CheckAbsent(
      sluice_evaluate_timed(bare.context(), &timed, &evaluation, bare.why()), kAbsent);
}

}  // namespace
}  // namespace sluice_test
