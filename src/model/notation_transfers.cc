// SPDX-License-Identifier: Apache-2.0
#include "model/notation_parts.h"

namespace sluice {
namespace {

// A tile of a layer.
struct TileAt {
  uint32_t layer;
  int32_t k;  // number among the layer's tiles
  int32_t p;  // position among all tiles
};

int64_t Elements(const CutBox& b) {
  int64_t n = 1;
  for (int a = 0; a < 4; ++a) n *= b.end[a] - b.begin[a];
  return n;
}

bool SameBox(const CutBox& x, const CutBox& y) {
  for (int a = 0; a < 4; ++a) {
    if (x.begin[a] != y.begin[a] || x.end[a] != y.end[a]) return false;
  }
  return true;
}

int64_t DramCycles(const FusionProblem& p, int64_t bytes) {
  if (p.dram_bandwidth.denominator == 1) {
    return p.dram_latency_cycles + CeilDivide(bytes, p.dram_bandwidth.numerator);
  }
  return p.dram_latency_cycles + TransferCycles(bytes, p.dram_bandwidth.numerator,
                                                p.dram_bandwidth.denominator);
}

DramTensor* Push(Parser* parser, const Parser::Group& group, const TileAt& at,
                 TransferKind kind, int64_t bytes, TileList* list) {
  if (list->transfers == list->transfer.size()) return nullptr;
  DramTensor* t = &list->transfer[list->transfers++];
  t->bytes = bytes;
  t->held = HeldBytes(*parser, bytes, 1);
  t->cycles = DramCycles(*parser->problem, bytes);
  t->use = at.p;
  t->end = at.p + 1;
  t->group_end = parser->fusion_end[group.fusion];
  t->tile = at.k;
  t->layer = at.layer;
  t->source = kNone;
  t->previous = kNone;
  t->after = kNone;
  t->kind = kind;
  list->dram_cycles += t->cycles;
  (kind == kStore ? list->store_bytes : list->load_bytes) += bytes;
  return t;
}

// Loads a slice of the weights, unless the tile before loaded the same channels.
bool EmitWeights(Parser* parser, const Parser::Group& group, const TileAt& at,
                 TileList* list) {
  const FusionLayer& l = parser->problem->layers[at.layer];
  const CutBox& box = parser->box[at.layer];
  const bool sliced = group.slices > 1;
  if (at.k != 0) {
    const CutBox& before = list->transfer_box[parser->last_weight[at.layer]];
    if (!sliced || (before.begin[3] == box.begin[3] && before.end[3] == box.end[3])) {
      list->transfer[parser->last_weight[at.layer]].end = at.p + 1;
      return true;
    }
  }
  const int64_t part = sliced ? box.end[3] - box.begin[3] : l.extent[3];
  const int64_t parameters = l.parameter_bytes * part / l.extent[3];
  const int64_t bytes = l.weight_bytes * part / l.extent[3];
  DramTensor* t = Push(parser, group, at, kLoadWeight, bytes, list);
  if (t == nullptr) return false;
  if (parameters != 0) {
    t->held = HeldBytes(*parser, parameters, 4);
    if (bytes != parameters) {
      t->held += HeldBytes(*parser, bytes - parameters, 1);
      t->cycles += parser->problem->dram_latency_cycles;
      list->dram_cycles += parser->problem->dram_latency_cycles;
    }
  }
  t->previous = at.k == 0 ? kNone : parser->last_weight[at.layer];
  parser->last_weight[at.layer] = list->transfers - 1;
  CutBox* channels = &list->transfer_box[parser->last_weight[at.layer]];
  *channels = CutBox{{0, 0, 0, 0}, {1, 1, 1, l.extent[3]}};
  if (sliced) {
    channels->begin[3] = box.begin[3];
    channels->end[3] = box.end[3];
  }
  return true;
}

// The box that an input edge loads from DRAM for the current tile; returns bytes per
// element.
uint32_t LoadBox(const Parser& parser, uint32_t edge, uint32_t layer, CutBox* box) {
  const TileModel& model = parser.memo->model();
  const uint32_t source = parser.problem->inputs[edge].source;
  const size_t n = parser.problem->layers.size();
  const int32_t* extent = source < n ? parser.problem->layers[source].extent
                                     : parser.problem->externals[source - n].extent;
  model.need(model.user, layer, edge - parser.problem->layers[layer].first_input,
             parser.box[layer], box);
  for (int a = 0; a < 4; ++a) box->end[a] = Min(box->end[a], extent[a]);
  return source < n ? parser.problem->layers[source].element_bytes
                    : parser.problem->externals[source - n].element_bytes;
}

// True if an existing load also serves this edge: an earlier layer's load in this tile,
// or this layer's in the tile before. The former is widened if that moves fewer bytes
// than two loads.
bool ShareLoad(Parser* parser, uint32_t edge, uint32_t element, const CutBox& box,
               int32_t p, TileList* list) {
  const uint32_t source = parser->problem->inputs[edge].source;
  const bool other = parser->shared_at[source] == parser->stamp;
  const uint32_t load = parser->last_load[other ? parser->sharer[source] : edge];
  parser->shared_at[source] = parser->stamp;
  parser->sharer[source] = edge;
  if (load == kNone) return false;
  DramTensor& t = list->transfer[load];
  CutBox both = list->transfer_box[load];
  UniteBoxes(box, &both);
  if (!SameBox(both, list->transfer_box[load])) {
    const int64_t bytes = Elements(both) * element;
    if (!other || bytes >= t.bytes + Elements(box) * element) {
      return false;
    }
    const int64_t cycles = DramCycles(*parser->problem, bytes);
    list->load_bytes += bytes - t.bytes;
    list->dram_cycles += cycles - t.cycles;
    list->transfer_box[load] = both;
    t.bytes = bytes;
    t.held = HeldBytes(*parser, bytes, element);
    t.cycles = cycles;
  }
  t.end = p + 1;
  parser->last_load[edge] = load;
  return true;
}

bool EmitInput(Parser* parser, const Parser::Group& group, uint32_t edge,
               const TileAt& at, TileList* list) {
  const uint32_t source = parser->problem->inputs[edge].source;
  CutBox box;
  const uint32_t element = LoadBox(*parser, edge, at.layer, &box);
  if (at.k == 0) parser->last_load[edge] = kNone;
  if ((parser->memo->model().flags & kTileShareLoads) != 0 &&
      ShareLoad(parser, edge, element, box, at.p, list)) {
    return true;
  }
  DramTensor* t = Push(parser, group, at, kLoadInput, Elements(box) * element, list);
  if (t == nullptr) return false;
  t->held = HeldBytes(*parser, t->bytes, element);
  t->source = source;
  t->previous = parser->last_load[edge];
  t->after =
      source < parser->problem->layers.size() ? parser->last_store[source] : kNone;
  parser->last_load[edge] = list->transfers - 1;
  list->transfer_box[parser->last_load[edge]] = box;
  return true;
}

bool EmitLoads(Parser* parser, const Parser::Group& group, const TileAt& at,
               TileList* list) {
  const FusionLayer& l = parser->problem->layers[at.layer];
  const size_t n = parser->problem->layers.size();
  if (l.weight_bytes != 0 && !EmitWeights(parser, group, at, list)) return false;
  for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
    const uint32_t source = parser->problem->inputs[e].source;
    if (!ComesFromDram(*parser, source, group)) {
      if (source >= n) parser->resident_end[source - n] = at.p + 1;
      continue;
    }
    if (!EmitInput(parser, group, e, at, list)) return false;
  }
  return true;
}

// With kTileWholeOfmaps, the buffer of the first tile holds the whole ofmap up to the
// tile before the last; from then on the buffer of the last tile, or of its store,
// holds it.
bool EmitOfmap(Parser* parser, const Parser::Group& group, const TileAt& at,
               TileList* list) {
  const Parser::Reach& reach = parser->reach[at.layer];
  const FusionLayer& l = parser->problem->layers[at.layer];
  const bool whole = reach.later != 0 && group.tiles > 1 &&
                     (parser->memo->model().flags & kTileWholeOfmaps) != 0;
  const int64_t bytes = Elements(parser->box[at.layer]) * l.element_bytes;
  const int32_t end = Max(at.p + Max(reach.inner, 0) + 1, reach.later);
  list->ofmap_bytes[at.p] = HeldBytes(*parser, bytes, l.element_bytes);
  list->ofmap_end[at.p] = end;
  list->store[at.p] = kNone;
  if (whole) {
    const CutBox all = {{0, 0, 0, 0},
                        {l.extent[0], l.extent[1], l.extent[2], l.extent[3]}};
    list->ofmap_bytes[at.p] =
        HeldBytes(*parser, Elements(all) * l.element_bytes, l.element_bytes);
    if (at.k == 0) {
      list->ofmap_end[at.p] =
          at.p + (group.tiles - 1) * static_cast<int32_t>(group.last - group.first);
    } else if (at.k + 1 < group.tiles) {
      list->ofmap_bytes[at.p] = 0;
    }
  }
  if (!reach.store) return true;
  DramTensor* t = Push(parser, group, at, kStore, bytes, list);
  if (t == nullptr) return false;
  t->held = whole && at.k + 1 < group.tiles ? 0 : list->ofmap_bytes[at.p];
  t->end = end;
  t->previous = at.k == 0 ? kNone : parser->last_store[at.layer];
  parser->last_store[at.layer] = list->transfers - 1;
  list->transfer_box[list->transfers - 1] = parser->box[at.layer];
  // From here on the store holds the buffer, except where t->held is 0.
  if (t->held != 0) list->ofmap_bytes[at.p] = 0;
  list->store[at.p] = list->transfers - 1;
  return true;
}

}  // namespace

ParseResult EmitTile(Parser* parser, const GroupNotation& notation,
                     const Parser::Group& group, int32_t k, TileList* list) {
  int32_t p = group.base + k * static_cast<int32_t>(group.last - group.first);
  ++parser->stamp;
  for (uint32_t i = group.first; i < group.last; ++i, ++p) {
    const uint32_t layer = notation.order[i];
    list->layer[p] = layer;
    list->tile[p] = k;
    list->cycles[p] = parser->cost[layer].cycles;
    list->box[p] = parser->box[layer];
    if (!list->reserve.empty()) list->reserve[p] = parser->problem->reserve[layer];
    const TileAt at = {layer, k, p};
    if (!EmitLoads(parser, group, at, list)) return ParseResult::kTooMany;
    if (!EmitOfmap(parser, group, at, list)) return ParseResult::kTooMany;
  }
  return ParseResult::kOk;
}

}  // namespace sluice
