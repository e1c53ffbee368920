// SPDX-License-Identifier: Apache-2.0
#include "model/notation_parts.h"

namespace sluice {
namespace {

// Lexicographic.
bool Less(const int64_t a[3], const int64_t b[3]) {
  for (int i = 0; i < 3; ++i) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}

// The k-th of `counts` parts of an extent. uniform: all parts but the last are the
// quotient rounded up. Otherwise parts are balanced, so that every part has elements.
void PartBox(const int32_t extent[4], const int32_t counts[4], bool uniform,
             int32_t channel_granule, int32_t k, CutBox* box) {
  int32_t index[4];
  index[3] = k % counts[3];
  k /= counts[3];
  index[2] = k % counts[2];
  k /= counts[2];
  index[1] = k % counts[1];
  index[0] = k / counts[1];
  for (int a = 0; a < 4; ++a) {
    if (uniform) {
      box->begin[a] = 0;
      box->end[a] = static_cast<int32_t>(CeilDivide(extent[a], counts[a]));
      continue;
    }
    const int64_t unit = a == 3 && counts[a] > 1 ? channel_granule : 1;
    const int64_t e = CeilDivide(extent[a], unit);
    box->begin[a] = static_cast<int32_t>(e * index[a] / counts[a] * unit);
    box->end[a] = static_cast<int32_t>(
        Min<int64_t>(e * (index[a] + 1) / counts[a] * unit, extent[a]));
  }
}

void OwnBox(const Parser& parser, uint32_t layer, const Parser::Group& group, int32_t k,
            CutBox* box) {
  if (group.slices > 1 && group.slices_outer) {
    const int32_t parts = group.tiles / group.slices;
    k = k % parts * group.slices + k / parts;
  }
  PartBox(parser.problem->layers[layer].extent, &parser.counts[4 * size_t{layer}],
          (parser.memo->model().flags & kTileUniform) != 0,
          parser.problem->channel_granule, k, box);
}

}  // namespace

uint32_t GroupAxes(const Parser& parser, const GroupNotation& notation,
                   const Parser::Group& group) {
  uint32_t axes = 15;
  for (uint32_t i = group.first; i < group.last; ++i) {
    const FusionLayer& l = parser.problem->layers[notation.order[i]];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      if (SameFineGroup(parser, parser.problem->inputs[e].source, group)) {
        axes &= parser.problem->inputs[e].fused_axes;
      }
    }
  }
  return axes;
}

void ChooseSlices(const Parser& parser, const GroupNotation& notation, uint32_t axes,
                  Parser::Group* group) {
  const TileModel& model = parser.memo->model();
  const size_t n = parser.problem->layers.size();
  int64_t weights = 0;
  int64_t loads = 0;
  int64_t maps = 0;
  int32_t channels = INT32_MAX;
  for (uint32_t i = group->first; i < group->last; ++i) {
    const FusionLayer& l = parser.problem->layers[notation.order[i]];
    if ((l.axes & kAxisK) == 0) return;
    channels = Min(channels, static_cast<int32_t>(CeilDivide(
                                 l.extent[3], parser.problem->channel_granule)));
    weights += l.weight_bytes;
    maps += VolumeOf(l.extent) * l.element_bytes;
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      const uint32_t source = parser.problem->inputs[e].source;
      if (!ComesFromDram(parser, source, *group)) continue;
      loads += source < n ? VolumeOf(parser.problem->layers[source].extent) *
                                parser.problem->layers[source].element_bytes
                          : VolumeOf(parser.problem->externals[source - n].extent) *
                                parser.problem->externals[source - n].element_bytes;
    }
  }
  if (weights == 0) return;
  const FusionLayer& last = parser.problem->layers[notation.order[group->last - 1]];
  int64_t best[3] = {INT64_MAX, 0, 0};
  for (int32_t slices = 1; slices <= group->tiles && slices <= channels; ++slices) {
    const int32_t parts = group->tiles / slices;
    int32_t counts[4];
    if (parts * slices != group->tiles ||
        (parts > 1 && !model.grid(model.user, last.extent, axes & last.axes & ~kAxisK,
                                  static_cast<uint32_t>(parts), counts))) {
      continue;
    }
    for (int outer = 0; outer <= (slices > 1 && parts > 1 ? 1 : 0); ++outer) {
      const int64_t live = 2 * weights / slices + 2 * (loads + maps) / parts;
      const int64_t moved = outer != 0 ? weights + loads * slices
                                       : weights * (slices > 1 ? parts : 1) + loads;
      const int64_t merit[3] = {Max(live - parser.problem->buffer_bytes, int64_t{0}),
                                moved, live};
      if (!Less(merit, best)) continue;
      for (int i = 0; i < 3; ++i) best[i] = merit[i];
      group->slices = slices;
      group->slices_outer = outer != 0;
    }
  }
}

ParseResult CutOwn(Parser* parser, const GroupNotation& notation,
                   const Parser::Group& group, uint32_t axes) {
  const TileModel& model = parser->memo->model();
  const bool uniform = (model.flags & kTileUniform) != 0;
  const int32_t parts = group.tiles / group.slices;
  for (uint32_t i = group.first; i < group.last; ++i) {
    const uint32_t layer = notation.order[i];
    const FusionLayer& l = parser->problem->layers[layer];
    const Parser::Reach& reach = parser->reach[layer];
    const bool leaves = !uniform && (reach.store || reach.later != 0);
    if (reach.inner != 0 && !leaves) continue;  // its readers' needs cut it
    int32_t* counts = &parser->counts[4 * size_t{layer}];
    for (int a = 0; a < 4; ++a) counts[a] = 1;
    if (parts > 1 && !model.grid(model.user, l.extent, axes & l.axes & ~kAxisK,
                                 static_cast<uint32_t>(parts), counts)) {
      return ParseResult::kCut;
    }
    if (group.slices > 1) counts[3] = group.slices;
  }
  return ParseResult::kOk;
}

// Computes the boxes of tile k of every layer of the group, from the last layer
// backwards.
void FindBoxes(Parser* parser, const GroupNotation& notation,
               const Parser::Group& group, int32_t k) {
  const TileModel& model = parser->memo->model();
  const bool uniform = (model.flags & kTileUniform) != 0;
  for (uint32_t i = group.first; i < group.last; ++i)
    parser->has_box[notation.order[i]] = 0;
  for (uint32_t i = group.last; i-- > group.first;) {
    const uint32_t layer = notation.order[i];
    const FusionLayer& l = parser->problem->layers[layer];
    const bool leaves = parser->reach[layer].store || parser->reach[layer].later != 0;
    if (parser->has_box[layer] == 0) {
      OwnBox(*parser, layer, group, k, &parser->box[layer]);
    } else if (!uniform && leaves) {
      // Readers outside the group need the whole own box.
      CutBox own;
      OwnBox(*parser, layer, group, k, &own);
      UniteBoxes(own, &parser->box[layer]);
    }
    for (uint32_t e = 0; e < l.inputs; ++e) {
      const uint32_t source = parser->problem->inputs[l.first_input + e].source;
      if (!SameFineGroup(*parser, source, group)) continue;
      CutBox need;
      model.need(model.user, layer, e, parser->box[layer], &need);
      if (parser->has_box[source] != 0) {
        UniteBoxes(need, &parser->box[source]);
      } else {
        parser->box[source] = need;
        parser->has_box[source] = 1;
      }
    }
  }
}

}  // namespace sluice
