// SPDX-License-Identifier: Apache-2.0
// A good fusion scheme without random moves: start, fit, improve.
//
// Input    Scheme over a problem; how many evaluations to spend on improving.
// Output   the scheme, within the buffer, saved as best.
// Errors   kInfeasible with the smallest buffer met; kStopped when the call's limit ended
//          before anything fitted.
// Cost     fitting: O(windows x tiling numbers) parses per step; improving: as asked.
// Source   own: start with one fusion group that stays on chip; while it does not fit,
//          cut windows around the peak into tiles, or cut at DRAM; then try one change
//          at a time, from the first layer to the last.
#ifndef SLUICE_SOLVE_FUSION_CONSTRUCT_H_
#define SLUICE_SOLVE_FUSION_CONSTRUCT_H_

#include "base/workspace.h"
#include "solve/fusion/scheme.h"

namespace sluice {

// The published start: every layer a group of its own, batch entries one by one, cut
// further until the double-buffered scheme fits.
Status ConstructAlone(Scheme* scheme, Budget* budget, Diagnostic* diagnostic,
                      SchemeScore* out);

// alone: if the result is far from ideal, also starts from every layer alone.
Status Construct(Scheme* scheme, uint64_t evaluations, bool alone,
                 const Workspace& work, SchemeScore* out);

// The same, starting from the present scheme.
Status Refit(Scheme* scheme, uint64_t evaluations, bool alone, const Workspace& work,
             SchemeScore* out);

// Mends a scheme of which only some layers are wrong: makes it legal, then tries one
// change at a time around these layers. touched: by layer, 0 or 1; empty = none.
// kInfeasible when most are touched and it does not fit: construct it instead.
Status Rework(Scheme* scheme, Span<const uint8_t> touched, uint64_t evaluations,
              const Workspace& work, SchemeScore* out);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_CONSTRUCT_H_
