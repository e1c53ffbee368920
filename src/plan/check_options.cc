// SPDX-License-Identifier: Apache-2.0
#include "plan/check_options.h"

namespace sluice {

Status CheckOptions(const sluice_schedule_options_t& options, Diagnostic* diagnostic) {
  if (options.solver > SLUICE_SOLVER_SOMA) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("unknown solver ")
        .Number(options.solver);
  }
  if (options.granularity > SLUICE_GRANULARITY_OPERATOR) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("unknown granularity ")
        .Number(options.granularity);
  }
  if (options.energy_exponent > 16 || options.delay_exponent > 16) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("objective exponents must be at most 16");
  }
  return Status::kOk;
}

// Streams address one scratchpad that holds every operand.
Status CheckMachine(const Hardware& hardware, Diagnostic* diagnostic) {
  if (hardware.scratchpad().may_hold == 7) return Status::kOk;
  return Fail(diagnostic, Status::kUnsupported, "hardware")
      .Text("the scratchpad may not hold ")
      .Text((hardware.scratchpad().may_hold & 1) == 0   ? "inputs"
            : (hardware.scratchpad().may_hold & 2) == 0 ? "weights"
                                                        : "outputs")
      .Text(": such a machine can be mapped on (sluice_map_layer), not scheduled");
}

}  // namespace sluice
