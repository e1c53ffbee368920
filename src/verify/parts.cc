// SPDX-License-Identifier: Apache-2.0
#include "verify/parts.h"

namespace sluice {
namespace judge {

bool LiesDensely(const Part& part, const int64_t* dense, int64_t* index) {
  *index = 0;
  bool same = true;
  for (int a = 0; a < kAxes; ++a) {
    *index += part.origin[a] * dense[a];
    same = same && (part.extent[a] == 1 || part.twin_stride[a] == dense[a]);
  }
  return same && *index == part.twin;
}

Part PartOf(const Piece& piece, const Inside& in) {
  Part part = {piece.root, piece.frame.width, {}, {1, 1, 1, 1}, in.part.twin, {}};
  for (int a = 0; a < kAxes; ++a) part.origin[a] = piece.origin[a];
  for (uint32_t j = 0; j < piece.frame.dims; ++j) {
    part.origin[piece.frame.axis[j]] += in.at[j];
  }
  for (uint32_t d = 0; d < in.part.dims; ++d) {
    const uint8_t axis = piece.frame.axis[in.along[d]];
    part.extent[axis] = in.part.dim[d].count;
    part.twin_stride[axis] = in.part.dim[d].twin;
  }
  return part;
}

bool Within(const Box& box, const Piece& piece, Part* part) {
  const Frame& frame = piece.frame;
  if (box.width != frame.width || box.base < frame.base) return false;
  part->root = piece.root;
  part->width = frame.width;
  part->twin = box.twin;
  for (int a = 0; a < kAxes; ++a) {
    part->origin[a] = piece.origin[a];
    part->extent[a] = 1;
    part->twin_stride[a] = 0;
  }
  int64_t rest = box.base - frame.base;
  uint32_t used = 0;  // those in front run along the frame mostly
  for (uint32_t j = 0; j < frame.dims; ++j) {
    int64_t at = 0;
    if (rest >= frame.stride[j]) {
      at = rest / frame.stride[j];
      rest -= at * frame.stride[j];
    }
    uint32_t d = used;
    if (d >= box.dims || box.dim[d].stride != frame.stride[j]) {
      d = 0;
      while (d < box.dims && box.dim[d].stride != frame.stride[j]) ++d;
    }
    const int64_t count = d < box.dims ? box.dim[d].count : 1;
    if (at + count > frame.count[j]) return false;
    const uint8_t axis = frame.axis[j];
    part->origin[axis] += at;
    if (d == box.dims) continue;
    part->extent[axis] = count;
    part->twin_stride[axis] = box.dim[d].twin;
    ++used;
  }
  return rest == 0 && used == box.dims;
}

bool RunsAlong(const Box& box, const Frame& frame) {
  for (uint32_t d = 0; d < box.dims; ++d) {
    uint32_t j = 0;
    while (j < frame.dims && frame.stride[j] != box.dim[d].stride) ++j;
    if (j == frame.dims) return false;
  }
  return true;
}

Box Joined(const Box& box, const Frame& frame) {
  Box out = Box::At(box.base, box.twin, box.width);
  bool may_join = false;  // into the last dim of out
  for (uint32_t d = 0; d < box.dims; ++d) {
    const Dim& dim = box.dim[d];
    Dim* last = out.dims == 0 ? nullptr : &out.dim[out.dims - 1];
    if (may_join && last->stride == dim.count * dim.stride &&
        last->twin == dim.count * dim.twin) {
      *last = Dim{last->count * dim.count, dim.stride, dim.twin};
    } else {
      out.dim[out.dims++] = dim;
    }
    uint32_t j = 0;
    while (j < frame.dims && frame.stride[j] != dim.stride) ++j;
    may_join = j == frame.dims;
  }
  return out;
}

}  // namespace judge
}  // namespace sluice
