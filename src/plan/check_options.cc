// SPDX-License-Identifier: Apache-2.0
#include "plan/check_options.h"

#include "base/components.h"
#include "solve/mapping/tile_mapper.h"

namespace sluice {

Status CheckOptions(const sluice_schedule_options_t& options, Diagnostic* diagnostic) {
  if (options.solver > SLUICE_SOLVER_SOMA) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Say("unknown solver #", options.solver);
  }
  if (options.granularity > SLUICE_GRANULARITY_RECOMPUTE) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Say("unknown granularity #", options.granularity);
  }
  if (options.granularity != SLUICE_GRANULARITY_TILE &&
      !Has(SLUICE_COMPONENT_OPERATORS)) {
    return Absent(diagnostic, SLUICE_COMPONENT_OPERATORS);
  }
  const bool fuses = options.solver >= SLUICE_SOLVER_FUSION;
  if (fuses && !Has(SLUICE_COMPONENT_FUSION)) {
    return Absent(diagnostic, SLUICE_COMPONENT_FUSION);
  }
  if (options.energy_exponent > 16 || options.delay_exponent > 16) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("objective exponents must be at most 16");
  }
  const bool prices = options.tile_cost != nullptr || options.tile_row_count != 0;
  if (options.tile_bound != nullptr && !prices) {
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text("tile_bound goes with tile_cost or tile_rows");
  }
  return Status::kOk;
}

// Streams address one scratchpad that holds every operand.
Status CheckMachine(const Hardware& hardware, Diagnostic* diagnostic) {
  if (hardware.node_cols * hardware.node_rows > 1 && !Has(SLUICE_COMPONENT_MESH)) {
    return Absent(diagnostic, SLUICE_COMPONENT_MESH);
  }
  if (hardware.scratchpad().may_hold == 7) return Status::kOk;
  return Fail(diagnostic, Status::kUnsupported, "hardware")
      .Text("the scratchpad may not hold ")
      .Text((hardware.scratchpad().may_hold & 1) == 0   ? "inputs"
            : (hardware.scratchpad().may_hold & 2) == 0 ? "weights"
                                                        : "outputs")
      .Text(": such a machine can be mapped on (sluice_map_layers), not scheduled");
}

uint32_t MissingComponents(const Hardware& hardware) {
  return NeedsMappers(hardware) ? SLUICE_COMPONENT_MAPPERS & ~Components() : 0;
}

}  // namespace sluice
