// SPDX-License-Identifier: Apache-2.0
// Plans several models for one scratchpad.
//
//   free ranges -> plans by size -> a partition, or shared time -> turns -> judge
//
// Input    models with weights and reservations; options
// Output   a plan for each model, bound to its range; turns; summary. Where both ways
//          to share are allowed, the one with the smaller weighted sum of finish times.
// Errors   kUnsupported for machines of several nodes or queues; kBadArgument for
//          reservations; what planning says; kInfeasible when the
//          models do not fit or no turns are as short as asked; kStopped; kInternal
//          when the judge of the whole refuses it
// Cost     the schedules that shares.h names, and VerifyTogether
#ifndef SLUICE_PLAN_TOGETHER_COSCHEDULE_H_
#define SLUICE_PLAN_TOGETHER_COSCHEDULE_H_

#include "plan/together/cohort.h"

namespace sluice {

// Turns are allocated from `turns`, plan m from plans[m].arena.
Status CoSchedule(CohortProblem* problem, Arena* turns, Span<const MemberPlan> plans,
                  Cohort* out);

}  // namespace sluice

#endif  // SLUICE_PLAN_TOGETHER_COSCHEDULE_H_
