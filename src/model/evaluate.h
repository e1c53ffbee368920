// SPDX-License-Identifier: Apache-2.0
// What a given schedule costs, and whether it is legal: nothing is searched.
//
// Input    sluice_timed_schedule_t (resolved), or a FusionProblem with its TileModel
//          and a sluice_notation_t whose layers and sources are those of the problem.
// Output   sluice_evaluation_t; its arrays where the caller gave some.
// Errors   kOutOfMemory; kBadArgument with a sentence when an array is missing or an
//          index is out of range. Illegal schedules are kOk with `fault` set.
// Cost     O(layers + edges + tiles + transfers); scratch the same.
// Source   SoMa sections III to IV-C. Written as a recurrence over start times, unlike
//          the two-pointer walk of timeline.h that searches use; tests compare the two.
#ifndef SLUICE_MODEL_EVALUATE_H_
#define SLUICE_MODEL_EVALUATE_H_

#include "model/timeline.h"
#include "sluice/schedule.h"

namespace sluice {

Status EvaluateTimed(const sluice_timed_schedule_t& schedule, Arena* scratch,
                     sluice_evaluation_t* out, Diagnostic* diagnostic);

Status EvaluateNotation(const FusionProblem& problem, const TileModel& model,
                        const sluice_notation_t& notation, Arena* scratch,
                        sluice_evaluation_t* out, Diagnostic* diagnostic);

// The same; tiles and transfers stay in `arena`. list.transfers and dma are empty if an
// earlier `fault` leaves them unknown.
struct ResolvedSchedule {
  TileList list;
  DmaNotation dma;
};
struct NotationCall {
  const FusionProblem& problem;
  const TileModel& model;
  const sluice_notation_t& notation;
};
Status ResolveNotation(const NotationCall& call, Arena* arena,
                       ResolvedSchedule* resolved, sluice_evaluation_t* out,
                       Diagnostic* diagnostic);

// Writes the notation of a schedule found by a search; arrays in `arena`.
Status ExportNotation(const GroupNotation& groups, const TileList& list,
                      const DmaNotation& dma, Arena* arena, sluice_notation_t* out);

}  // namespace sluice

#endif  // SLUICE_MODEL_EVALUATE_H_
