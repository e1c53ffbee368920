// SPDX-License-Identifier: Apache-2.0
// Checks what a schedule is asked for.
//
// Input    the caller's options; the machine.
// Output   MissingComponents: parts absent from this build that would improve the plan.
// Errors   kBadArgument names the option. kUnsupported: the scratchpad may not hold
//          every operand, or the call needs a part that this build lacks
//          (base/components.h).
// Cost     constant.
#ifndef SLUICE_PLAN_CHECK_OPTIONS_H_
#define SLUICE_PLAN_CHECK_OPTIONS_H_

#include "base/status.h"
#include "model/hardware.h"

namespace sluice {

Status CheckOptions(const sluice_schedule_options_t& options, Diagnostic* diagnostic);
Status CheckMachine(const Hardware& hardware, Diagnostic* diagnostic);
// SLUICE_COMPONENT_ bits, as sluice_report_t has them.
uint32_t MissingComponents(const Hardware& hardware);

}  // namespace sluice

#endif  // SLUICE_PLAN_CHECK_OPTIONS_H_
