// SPDX-License-Identifier: Apache-2.0
#include "model/notation.h"

#include "model/notation_parts.h"

namespace sluice {

void LinkConsumers(Span<FusionLayer> layers, Span<const FusionInput> inputs,
                   Span<uint32_t> consumers) {
  for (FusionLayer& l : layers) l.consumers = 0;
  for (const FusionInput& i : inputs) {
    if (i.source < layers.size()) ++layers[i.source].consumers;
  }
  uint32_t first = 0;
  for (FusionLayer& l : layers) {
    l.first_consumer = first;
    first += l.consumers;
    l.consumers = 0;
  }
  for (uint32_t reader = 0; reader < layers.size(); ++reader) {
    for (uint32_t i = 0; i < layers[reader].inputs; ++i) {
      const uint32_t source = inputs[layers[reader].first_input + i].source;
      if (source >= layers.size()) continue;
      FusionLayer& l = layers[source];
      consumers[l.first_consumer + l.consumers++] = reader;
    }
  }
}

Status InitParser(Parser* parser, Arena* arena, const FusionProblem* problem,
                  TileMemo* memo, const TileRoom& room, TileList* list) {
  parser->problem = problem;
  parser->memo = memo;
  parser->memory = arena->memory();
  const size_t n = problem->layers.size();
  const size_t sources = n + problem->externals.size();
  SLUICE_TRY(arena->Allocate(n, &parser->groups));
  SLUICE_TRY(arena->Allocate(n, &parser->position));
  SLUICE_TRY(arena->Allocate(n, &parser->group_of));
  SLUICE_TRY(arena->Allocate(n, &parser->reach));
  SLUICE_TRY(arena->Allocate(n, &parser->box));
  SLUICE_TRY(arena->Allocate(n, &parser->has_box));
  SLUICE_TRY(arena->Allocate(n, &parser->cost));
  SLUICE_TRY(arena->Allocate(4 * n, &parser->counts));
  SLUICE_TRY(parser->groups_memo.Init(arena, 4 * n, 2 * size_t{room.tiles}));
  SLUICE_TRY(arena->Allocate(n, &parser->fusion_end));
  SLUICE_TRY(arena->Allocate(problem->inputs.size(), &parser->last_load));
  SLUICE_TRY(arena->Allocate(n, &parser->last_store));
  SLUICE_TRY(arena->Allocate(n, &parser->last_weight));
  SLUICE_TRY(arena->Allocate(sources, &parser->sharer));
  SLUICE_TRY(arena->Allocate(sources, &parser->shared_at));
  SLUICE_TRY(arena->Allocate(problem->externals.size(), &parser->resident_end));
  SLUICE_TRY(arena->Allocate(problem->externals.size(), &list->resident));
  SLUICE_TRY(arena->Allocate(room.tiles, &list->layer));
  SLUICE_TRY(arena->Allocate(room.tiles, &list->tile));
  SLUICE_TRY(arena->Allocate(room.tiles, &list->cycles));
  SLUICE_TRY(arena->Allocate(room.tiles, &list->box));
  SLUICE_TRY(arena->Allocate(room.tiles, &list->ofmap_bytes));
  SLUICE_TRY(arena->Allocate(room.tiles, &list->ofmap_end));
  SLUICE_TRY(arena->Allocate(room.tiles, &list->store));
  if (!problem->reserve.empty()) {
    SLUICE_TRY(arena->Allocate(room.tiles, &list->reserve));
  }
  SLUICE_TRY(arena->Allocate(room.transfers, &list->transfer_box));
  return arena->Allocate(room.transfers, &list->transfer);
}

static ParseResult MakeGroups(Parser* parser, const GroupNotation& notation) {
  const uint32_t n = static_cast<uint32_t>(notation.order.size());
  parser->group_count = parser->fusion_count = 0;
  int64_t base = 0;
  for (uint32_t i = 0; i < n; ++i) parser->position[notation.order[i]] = i;
  for (uint32_t i = 0; i < n; ++i) {
    if (notation.cut[i] != kCutNone) {
      if (notation.cut[i] == kCutDram) ++parser->fusion_count;
      if (notation.tiles[i] < 1) return ParseResult::kCut;
      parser->groups[parser->group_count++] = Parser::Group{i,
                                                            i,
                                                            notation.tiles[i],
                                                            static_cast<int32_t>(base),
                                                            parser->fusion_count - 1,
                                                            1,
                                                            false};
    }
    Parser::Group& group = parser->groups[parser->group_count - 1];
    group.last = i + 1;
    base += group.tiles;
    if (base > INT32_MAX / 2) return ParseResult::kTooMany;
    parser->fusion_end[group.fusion] = static_cast<int32_t>(base);
    const uint32_t layer = notation.order[i];
    parser->group_of[layer] = parser->group_count - 1;
    const FusionLayer& l = parser->problem->layers[layer];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      const uint32_t source = parser->problem->inputs[e].source;
      if (source < n && parser->position[source] >= i) return ParseResult::kOrder;
    }
  }
  return ParseResult::kOk;
}

static void FindReach(Parser* parser, const GroupNotation& notation,
                      const Parser::Group& group) {
  for (uint32_t i = group.first; i < group.last; ++i) {
    const uint32_t layer = notation.order[i];
    const FusionLayer& l = parser->problem->layers[layer];
    Parser::Reach reach = {0, 0, l.output || (l.consumers == 0 && !l.kept)};
    if (l.kept && group.fusion + 1 == parser->fusion_count) {
      reach.later = parser->total;
    } else if (l.kept) {
      reach.store = true;
    }
    for (uint32_t c = l.first_consumer; c < l.first_consumer + l.consumers; ++c) {
      const uint32_t reader = parser->problem->consumers[c];
      const Parser::Group& other = parser->groups[parser->group_of[reader]];
      const uint32_t at = parser->position[reader];
      if (&other == &group) {
        reach.inner = Max(reach.inner, static_cast<int32_t>(at - i));
      } else if (other.fusion == group.fusion) {
        const int32_t length = static_cast<int32_t>(other.last - other.first);
        reach.later = Max(reach.later, other.base + (other.tiles - 1) * length +
                                           static_cast<int32_t>(at - other.first) + 1);
      } else {
        reach.store = true;
      }
    }
    parser->reach[layer] = reach;
  }
}

// Hash of everything that boxes and costs of a group's tiles depend on.
static uint64_t KeyOf(const Parser& parser, const GroupNotation& notation,
                      const Parser::Group& group) {
  const auto mix = [](uint64_t h, uint64_t v) {
    h = (h << 23 | h >> 41) ^ v;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
  };
  uint64_t h = mix(0x6a09e667f3bcc909u, static_cast<uint64_t>(group.tiles));
  h = mix(h, static_cast<uint64_t>(group.slices) * 2 + group.slices_outer);
  for (uint32_t i = group.first; i < group.last; ++i) {
    const uint32_t layer = notation.order[i];
    const bool leaves = parser.reach[layer].store || parser.reach[layer].later != 0;
    h = mix(h, uint64_t{layer} * 2 + leaves);
  }
  return h;
}

static ParseResult Costs(Parser* parser, const GroupNotation& notation,
                         const Parser::Group& group) {
  for (uint32_t i = group.first; i < group.last; ++i) {
    const uint32_t layer = notation.order[i];
    int32_t extent[4];
    for (int a = 0; a < 4; ++a)
      extent[a] = parser->box[layer].end[a] - parser->box[layer].begin[a];
    if (!parser->memo->Cost(layer, extent, &parser->cost[layer]))
      return ParseResult::kMapping;
  }
  return ParseResult::kOk;
}

static void AddCosts(const Parser& parser, const GroupNotation& notation,
                     const Parser::Group& group, int32_t repeat, TileList* list) {
  for (uint32_t i = group.first; i < group.last; ++i) {
    const TileCost& cost = parser.cost[notation.order[i]];
    list->compute_cycles += cost.cycles * repeat;
    list->core_pj += cost.energy_pj * repeat;
  }
}

// A known group's boxes and costs come from the memo. With uniform tiles, the first
// tile's stand for all.
static ParseResult ParseGroup(Parser* parser, const GroupNotation& notation,
                              Parser::Group* group, TileList* list) {
  const bool once =
      (parser->memo->model().flags & kTileUniform) != 0 || group->tiles == 1;
  FindReach(parser, notation, *group);
  if (!once) {
    const uint32_t axes = GroupAxes(*parser, notation, *group);
    if ((axes & kAxisK) != 0) ChooseSlices(*parser, notation, axes, group);
  }
  const uint32_t length = group->last - group->first;
  const uint32_t computed =
      once ? length : length * static_cast<uint32_t>(group->tiles);
  const uint64_t key = KeyOf(*parser, notation, *group);
  const KnownTile* known = parser->groups_memo.Find(key, computed);
  KnownTile* fresh = nullptr;
  if (known == nullptr) {
    fresh = parser->groups_memo.Reserve(computed);
    const ParseResult result =
        CutOwn(parser, notation, *group, GroupAxes(*parser, notation, *group));
    if (result != ParseResult::kOk) return result;
  }
  for (int32_t k = 0; k < group->tiles; ++k) {
    if (k % 16 == 0 && (parser->total > 64 || known == nullptr) &&
        parser->memory->Stop()) {
      return ParseResult::kTooMany;
    }
    if (known != nullptr && (k == 0 || !once)) {
      for (uint32_t i = group->first; i < group->last; ++i, ++known) {
        parser->box[notation.order[i]] = known->box;
        parser->cost[notation.order[i]] = known->cost;
      }
    } else if (k == 0 || !once) {
      FindBoxes(parser, notation, *group, k);
      const ParseResult result = Costs(parser, notation, *group);
      if (result != ParseResult::kOk) return result;
      for (uint32_t i = group->first; i < group->last && fresh != nullptr; ++i) {
        *fresh++ =
            KnownTile{parser->box[notation.order[i]], parser->cost[notation.order[i]]};
      }
    }
    if (k == 0 || !once)
      AddCosts(*parser, notation, *group, once ? group->tiles : 1, list);
    const ParseResult result = EmitTile(parser, notation, *group, k, list);
    if (result != ParseResult::kOk) return result;
  }
  if (fresh != nullptr) parser->groups_memo.Keep(key, computed);
  return ParseResult::kOk;
}

// Adds tensors that are on chip before the first tile.
static void AddResidents(Parser* parser, TileList* list) {
  list->residents = 0;
  for (uint32_t x = 0; x < parser->problem->externals.size(); ++x) {
    const FusionExternal& e = parser->problem->externals[x];
    if (!e.resident) continue;
    const int64_t bytes =
        HeldBytes(*parser, VolumeOf(e.extent) * e.element_bytes, e.element_bytes);
    const int32_t end =
        e.kept && parser->fusion_count == 1 ? parser->total : parser->resident_end[x];
    list->resident[list->residents++] = Resident{bytes, end};
  }
}

ParseResult ParseNotation(Parser* parser, const GroupNotation& notation,
                          TileList* list) {
  ParseResult result = MakeGroups(parser, notation);
  if (result != ParseResult::kOk) return result;
  const Parser::Group& last = parser->groups[parser->group_count - 1];
  const int64_t tiles = last.base + int64_t{last.tiles} * (last.last - last.first);
  if (tiles > static_cast<int64_t>(list->layer.size())) return ParseResult::kTooMany;
  parser->total = static_cast<int32_t>(tiles);
  list->tiles = static_cast<uint32_t>(tiles);
  list->transfers = 0;
  list->groups = parser->fusion_count;
  list->fine_groups = parser->group_count;
  list->compute_cycles = list->dram_cycles = 0;
  list->load_bytes = list->store_bytes = 0;
  list->core_pj = 0;
  for (int32_t& end : parser->resident_end) end = 0;
  for (uint32_t g = 0; g < parser->group_count; ++g) {
    result = ParseGroup(parser, notation, &parser->groups[g], list);
    if (result != ParseResult::kOk) return result;
  }
  AddResidents(parser, list);
  return ParseResult::kOk;
}

}  // namespace sluice
