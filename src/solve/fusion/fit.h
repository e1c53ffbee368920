// SPDX-License-Identifier: Apache-2.0
// Makes a scheme fit the buffer.
//
// Input    Scheme; its target_bytes.
// Output   the scheme, changed and kept; its Bound().
// Errors   FitAlone: kInfeasible with the smallest buffer met, kStopped. FitBuffer:
//          fits is false when nothing helps or the looks (tiles evaluated) are spent.
// Cost     FitAlone: a dozen parses as a rule. FitBuffer: per peak, the windows around
//          it times tiling numbers, each a parse of the stretch they lie in.
// Source   own: windows around the highest peak are cut into tiles, or at DRAM, by cost
//          plus a penalty for bytes over the buffer.
#ifndef SLUICE_SOLVE_FUSION_FIT_H_
#define SLUICE_SOLVE_FUSION_FIT_H_

#include "base/workspace.h"
#include "solve/fusion/stretch.h"

namespace sluice {

// Starts afresh: every layer in a fusion group of its own, with as few tiles as fit.
Status FitAlone(Scheme* scheme, Budget* budget, Diagnostic* diagnostic,
                SchemeScore* out);

// Starts from the present scheme.
Status FitBuffer(Scheme* scheme, uint64_t looks, WindowIndex* index,
                 const Workspace& work, SchemeScore* out, bool* fits);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_FIT_H_
