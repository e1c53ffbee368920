// SPDX-License-Identifier: Apache-2.0
// What a schedule can be asked for.
//
// Input    the caller's options; the machine.
// Output   nothing.
// Errors   kBadArgument with the option; kUnsupported for machines whose scratchpad may
//          not hold every operand.
// Cost     constant.
#ifndef SLUICE_PLAN_CHECK_OPTIONS_H_
#define SLUICE_PLAN_CHECK_OPTIONS_H_

#include "base/status.h"
#include "model/hardware.h"

namespace sluice {

Status CheckOptions(const sluice_schedule_options_t& options, Diagnostic* diagnostic);
Status CheckMachine(const Hardware& hardware, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_CHECK_OPTIONS_H_
