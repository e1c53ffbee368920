// SPDX-License-Identifier: Apache-2.0
// Boxes of bytes as parts of what was written there.
//
// Input    a box that is read, and a piece of a memory.
// Output   which elements of the piece's root the box shows.
// Errors   none; a box that does not lie along the piece's axes is for Cut (boxes.h).
// Cost     constant.
#ifndef SLUICE_VERIFY_PARTS_H_
#define SLUICE_VERIFY_PARTS_H_

#include "verify/memory_map.h"

namespace sluice {
namespace judge {

struct Part {
  uint32_t root;
  int64_t width;
  int64_t origin[kAxes];  // first element, in the root's coordinates
  int64_t extent[kAxes];
  // Twin position of the first element, and its step along each axis of the root.
  int64_t twin;
  int64_t twin_stride[kAxes];
};

// True if each element of the part lies at its place in a dense tensor with these steps.
// *index is the place of the first one.
bool LiesDensely(const Part& part, const int64_t* dense, int64_t* index);

// The part of a piece that was found inside it, in the coordinates of its root.
Part PartOf(const Piece& piece, const Inside& in);
// True if the box lies in the piece along the piece's axes, as most reads do. `part` is
// then the result that Cut would have, with no elements outside.
bool Within(const Box& box, const Piece& piece, Part* part);
// True if each dim of the box runs along a dim of the frame, so that Joined changes
// nothing.
bool RunsAlong(const Box& box, const Frame& frame);
// Joins each dim that runs along no dim of the frame with the next dim, where the next
// dim continues it in memory and in the tensor. Contiguous rows of any tensor then
// become one run.
Box Joined(const Box& box, const Frame& frame);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_PARTS_H_
