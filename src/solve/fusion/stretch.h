// SPDX-License-Identifier: Apache-2.0
// Searching a large scheme piece by piece: a stretch is opened as a scheme of its own,
// changed, and written back.
//
// Input    the whole Scheme; positions.
// Output   a Scheme over the stretch, scored as if the rest stayed as it is.
// Errors   kOutOfMemory.
// Cost     opening: the layers of the stretch, and one step per layer of the whole.
// Source   own.
#ifndef SLUICE_SOLVE_FUSION_STRETCH_H_
#define SLUICE_SOLVE_FUSION_STRETCH_H_

#include "solve/fusion/scheme.h"
#include "solve/fusion/window.h"

namespace sluice {

struct Stretch {
  uint32_t first, last;  // positions of the whole
  SchemeWindow window;
  TileMemo memo;
  Scheme scheme;
};

// Widens [first, last) to where fine-grained groups start and end.
void AlignToGroups(const Scheme& whole, uint32_t* first, uint32_t* last);

// The caller rewinds the arena after use. The stretch must not move in memory.
Status OpenStretch(const Scheme& whole, uint32_t first, uint32_t last,
                   WindowIndex* index, Arena* arena, Stretch* out);

// Energy and cycles of the whole outside the part, from the scores and lists of both.
SchemeRest RestOf(const Scheme& whole, const SchemeScore& whole_score,
                  const Scheme& part, const SchemeScore& part_score);

// Copies the stretch's scheme into the whole, which logs the changes.
void WriteBack(const Stretch& stretch, Scheme* whole);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_STRETCH_H_
