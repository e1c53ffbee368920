// SPDX-License-Identifier: Apache-2.0
// Finds repetition: where a sequence equals itself some places later.
//
//   a b c a b c a b d   period 3: the run [0, 5) equals [3, 8), so "a b c" repeats
//
// Its callers differ in what counts as equal and in the run they choose: FindRepeats
// takes the blocks of a fusion problem that save most layers, FindRepetition the
// longest run of a graph's layers.
//
// emit/find_loops.h finds repetition, too, but in steps that are planned already: there
// may be a million of them, their loops are nested, and each iteration moves them by
// equal distances. Here some hundred layers are compared before there are steps, with
// one period at a time.
//
// Input    length of the sequence, period; alike(i): i equals i + period.
// Output   each longest run [first, first + length) whose places are all alike.
// Errors   none.
// Cost     linear.
#ifndef SLUICE_SOLVE_FUSION_ALIKE_RUNS_H_
#define SLUICE_SOLVE_FUSION_ALIKE_RUNS_H_

#include <stdint.h>

namespace sluice {

template <typename Alike, typename Visit>
void EachAlikeRun(uint32_t n, uint32_t period, Alike alike, Visit visit) {
  for (uint32_t i = 0; i + period < n; ++i) {
    const uint32_t first = i;
    while (i + period < n && alike(i)) ++i;
    if (i != first) visit(first, i - first);
  }
}

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_ALIKE_RUNS_H_
