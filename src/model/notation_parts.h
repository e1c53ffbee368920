// SPDX-License-Identifier: Apache-2.0
// Parts of the parser of notation.h, one source each: how a group's tiles are cut, and
// the tiles and transfers that they become.
//
// Input    a parser whose groups are made; one of these groups
// Output   boxes and costs of a tile's layers; the tile at the end of the list
// Errors   ParseResult
// Cost     O(layers + edges of the group) per call, no allocation
#ifndef SLUICE_MODEL_NOTATION_PARTS_H_
#define SLUICE_MODEL_NOTATION_PARTS_H_

#include "base/checked.h"
#include "model/notation.h"

namespace sluice {

constexpr uint32_t kAxisK = 8;

// ---- notation_cuts.cc

// Axes along which a fine group may be cut.
uint32_t GroupAxes(const Parser& parser, const GroupNotation& notation,
                   const Parser::Group& group);
// Chooses how many of the group's tiles cut output channels, and so weights, rather
// than the map: the choice that fits the buffer best and then moves the fewest bytes.
void ChooseSlices(const Parser& parser, const GroupNotation& notation, uint32_t axes,
                  Parser::Group* group);
// Computes into how many parts each layer's ofmap is cut by its own grid.
ParseResult CutOwn(Parser* parser, const GroupNotation& notation,
                   const Parser::Group& group, uint32_t axes);
// Computes the boxes of tile k of every layer of the group.
void FindBoxes(Parser* parser, const GroupNotation& notation,
               const Parser::Group& group, int32_t k);

// ---- notation_transfers.cc

// Appends tile k of each layer of the group, and what it loads and stores.
ParseResult EmitTile(Parser* parser, const GroupNotation& notation,
                     const Parser::Group& group, int32_t k, TileList* list);

// ---- what both need

inline int64_t VolumeOf(const int32_t extent[4]) {
  return int64_t{extent[0]} * extent[1] * extent[2] * extent[3];
}

inline bool SameFineGroup(const Parser& parser, uint32_t layer,
                          const Parser::Group& group) {
  return layer < parser.problem->layers.size() &&
         parser.position[layer] >= group.first && parser.position[layer] < group.last;
}

inline bool ComesFromDram(const Parser& parser, uint32_t source,
                          const Parser::Group& group) {
  const size_t n = parser.problem->layers.size();
  if (source < n) return parser.groups[parser.group_of[source]].fusion != group.fusion;
  return group.fusion != 0 || !parser.problem->externals[source - n].resident;
}

inline int64_t HeldBytes(const Parser& parser, int64_t bytes, uint32_t element_bytes) {
  const int64_t unit = parser.problem->alignment_bytes;
  return unit == 0 ? bytes : RoundUpTo(bytes, Max(unit, int64_t{element_bytes}));
}

inline void UniteBoxes(const CutBox& x, CutBox* out) {
  for (int a = 0; a < 4; ++a) {
    out->begin[a] = Min(out->begin[a], x.begin[a]);
    out->end[a] = Max(out->end[a], x.end[a]);
  }
}

}  // namespace sluice

#endif  // SLUICE_MODEL_NOTATION_PARTS_H_
