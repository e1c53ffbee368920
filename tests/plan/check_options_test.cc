// SPDX-License-Identifier: Apache-2.0
// Options and machines, each wrong in one place.
#include "plan/check_options.h"

#include <doctest/doctest.h>

#include <string>

#include "support/read_graph.h"

namespace sluice {
namespace {

// The message about wrong options; "" for valid options.
std::string Said(const sluice_schedule_options_t& options) {
  Diagnostic diagnostic = {};
  const Status status = CheckOptions(options, &diagnostic);
  if (status == Status::kOk) return "";
  CHECK(status == Status::kBadArgument);
  CHECK(std::string(diagnostic.stage) == "options");
  return diagnostic.message;
}

TEST_CASE("check options: the last value of each is fine, the next is named") {
  sluice_schedule_options_t options = {};
  CHECK(Said(options) == "");
  options.solver = SLUICE_SOLVER_SOMA;
  options.granularity = SLUICE_GRANULARITY_RECOMPUTE;
  options.energy_exponent = options.delay_exponent = 16;
  CHECK(Said(options) == "");
  sluice_schedule_options_t wrong = options;
  ++wrong.solver;
  CHECK(Said(wrong) == "unknown solver " + std::to_string(SLUICE_SOLVER_SOMA + 1));
  wrong = options;
  ++wrong.granularity;
  CHECK(Said(wrong) == "unknown granularity 3");
  wrong = options;
  ++wrong.energy_exponent;
  CHECK(Said(wrong) == "objective exponents must be at most 16");
  wrong = options;
  ++wrong.delay_exponent;
  CHECK(Said(wrong) == "objective exponents must be at most 16");
}

TEST_CASE("check options: a scratchpad that may not hold an operand is named with it") {
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1},
                  {{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 2}};
  spec.layers = {{SLUICE_OP_RESHAPE, {0}, {1}, {}}};
  sluice_test::Nouns n(spec);
  const auto said = [&](uint32_t may_hold) -> std::string {
    std::vector<MemoryLevel> levels(n.hardware.levels.begin(), n.hardware.levels.end());
    levels[n.hardware.scratchpad_level].may_hold = may_hold;
    Hardware hardware = n.hardware;
    hardware.levels = {levels.data(), levels.size()};
    Diagnostic diagnostic = {};
    const Status status = CheckMachine(hardware, &diagnostic);
    if (status == Status::kOk) return "";
    CHECK(status == Status::kUnsupported);
    return diagnostic.message;
  };
  const std::string tail =
      ": such a machine can be mapped on (sluice_map_layers), not scheduled";
  CHECK(said(7) == "");
  CHECK(said(6) == "the scratchpad may not hold inputs" + tail);
  CHECK(said(5) == "the scratchpad may not hold weights" + tail);
  CHECK(said(3) == "the scratchpad may not hold outputs" + tail);
  CHECK(said(0) == "the scratchpad may not hold inputs" + tail);
  // This build has every part.
  n.hardware.node_cols = 2;
  CHECK(said(7) == "");
  CHECK(MissingComponents(n.hardware) == 0);
}

}  // namespace
}  // namespace sluice
