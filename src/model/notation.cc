// SPDX-License-Identifier: Apache-2.0
#include "model/notation.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr uint32_t kAxisK = 8;

int64_t Volume(const int32_t extent[4]) {
  return int64_t{extent[0]} * extent[1] * extent[2] * extent[3];
}

// Lexicographic.
bool Less(const int64_t a[3], const int64_t b[3]) {
  for (int i = 0; i < 3; ++i) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}

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

void Unite(const CutBox& x, CutBox* out) {
  for (int a = 0; a < 4; ++a) {
    out->begin[a] = Min(out->begin[a], x.begin[a]);
    out->end[a] = Max(out->end[a], x.end[a]);
  }
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

int64_t DramCycles(const FusionProblem& p, int64_t bytes) {
  if (p.dram_bandwidth.denominator == 1) {
    return p.dram_latency_cycles + CeilDivide(bytes, p.dram_bandwidth.numerator);
  }
  return p.dram_latency_cycles + TransferCycles(bytes, p.dram_bandwidth.numerator,
                                                p.dram_bandwidth.denominator);
}

}  // namespace

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

Status Parser::Init(Arena* arena, const FusionProblem* problem, TileMemo* memo,
                    uint32_t max_tiles, uint32_t max_transfers, TileList* list) {
  problem_ = problem;
  memo_ = memo;
  memory_ = arena->memory();
  const size_t n = problem->layers.size();
  const size_t sources = n + problem->externals.size();
  SLUICE_TRY(arena->Allocate(n, &groups_));
  SLUICE_TRY(arena->Allocate(n, &position_));
  SLUICE_TRY(arena->Allocate(n, &group_of_));
  SLUICE_TRY(arena->Allocate(n, &reach_));
  SLUICE_TRY(arena->Allocate(n, &box_));
  SLUICE_TRY(arena->Allocate(n, &has_box_));
  SLUICE_TRY(arena->Allocate(n, &cost_));
  SLUICE_TRY(arena->Allocate(4 * n, &counts_));
  SLUICE_TRY(groups_memo_.Init(arena, 4 * n, 2 * size_t{max_tiles}));
  SLUICE_TRY(arena->Allocate(n, &fusion_end_));
  SLUICE_TRY(arena->Allocate(problem->inputs.size(), &last_load_));
  SLUICE_TRY(arena->Allocate(n, &last_store_));
  SLUICE_TRY(arena->Allocate(n, &last_weight_));
  SLUICE_TRY(arena->Allocate(sources, &sharer_));
  SLUICE_TRY(arena->Allocate(sources, &shared_at_));
  SLUICE_TRY(arena->Allocate(problem->externals.size(), &resident_end_));
  SLUICE_TRY(arena->Allocate(problem->externals.size(), &list->resident));
  SLUICE_TRY(arena->Allocate(max_tiles, &list->layer));
  SLUICE_TRY(arena->Allocate(max_tiles, &list->tile));
  SLUICE_TRY(arena->Allocate(max_tiles, &list->cycles));
  SLUICE_TRY(arena->Allocate(max_tiles, &list->box));
  SLUICE_TRY(arena->Allocate(max_tiles, &list->ofmap_bytes));
  SLUICE_TRY(arena->Allocate(max_tiles, &list->ofmap_end));
  SLUICE_TRY(arena->Allocate(max_tiles, &list->store));
  if (!problem->reserve.empty()) {
    SLUICE_TRY(arena->Allocate(max_tiles, &list->reserve));
  }
  SLUICE_TRY(arena->Allocate(max_transfers, &list->transfer_box));
  return arena->Allocate(max_transfers, &list->transfer);
}

ParseResult Parser::Parse(const GroupNotation& notation, TileList* list) {
  ParseResult result = MakeGroups(notation);
  if (result != ParseResult::kOk) return result;
  const Group& last = groups_[group_count_ - 1];
  const int64_t tiles = last.base + int64_t{last.tiles} * (last.last - last.first);
  if (tiles > static_cast<int64_t>(list->layer.size())) return ParseResult::kTooMany;
  total_ = static_cast<int32_t>(tiles);
  list->tiles = static_cast<uint32_t>(tiles);
  list->transfers = 0;
  list->groups = fusion_count_;
  list->fine_groups = group_count_;
  list->compute_cycles = list->dram_cycles = 0;
  list->load_bytes = list->store_bytes = 0;
  list->core_pj = 0;
  for (int32_t& end : resident_end_) end = 0;
  for (uint32_t g = 0; g < group_count_; ++g) {
    result = ParseGroup(notation, &groups_[g], list);
    if (result != ParseResult::kOk) return result;
  }
  AddResidents(list);
  return ParseResult::kOk;
}

// A known group's boxes and costs come from the memo. With uniform tiles, the first
// tile's stand for all.
ParseResult Parser::ParseGroup(const GroupNotation& notation, Group* group,
                               TileList* list) {
  const bool once = (memo_->model().flags & kTileUniform) != 0 || group->tiles == 1;
  FindReach(notation, *group);
  if (!once) {
    const uint32_t axes = Axes(notation, *group);
    if ((axes & kAxisK) != 0) ChooseSlices(notation, axes, group);
  }
  const uint32_t length = group->last - group->first;
  const uint32_t computed =
      once ? length : length * static_cast<uint32_t>(group->tiles);
  const uint64_t key = KeyOf(notation, *group);
  const KnownTile* known = groups_memo_.Find(key, computed);
  KnownTile* fresh = nullptr;
  if (known == nullptr) {
    fresh = groups_memo_.Reserve(computed);
    const ParseResult result = CutOwn(notation, *group, Axes(notation, *group));
    if (result != ParseResult::kOk) return result;
  }
  for (int32_t k = 0; k < group->tiles; ++k) {
    if (k % 16 == 0 && (total_ > 64 || known == nullptr) && memory_->Stop()) {
      return ParseResult::kTooMany;
    }
    if (known != nullptr && (k == 0 || !once)) {
      for (uint32_t i = group->first; i < group->last; ++i, ++known) {
        box_[notation.order[i]] = known->box;
        cost_[notation.order[i]] = known->cost;
      }
    } else if (k == 0 || !once) {
      Boxes(notation, *group, k);
      const ParseResult result = Costs(notation, *group);
      if (result != ParseResult::kOk) return result;
      for (uint32_t i = group->first; i < group->last && fresh != nullptr; ++i) {
        *fresh++ = KnownTile{box_[notation.order[i]], cost_[notation.order[i]]};
      }
    }
    if (k == 0 || !once) AddCosts(notation, *group, once ? group->tiles : 1, list);
    const ParseResult result = Emit(notation, *group, k, list);
    if (result != ParseResult::kOk) return result;
  }
  if (fresh != nullptr) groups_memo_.Keep(key, computed);
  return ParseResult::kOk;
}

// Hash of everything that boxes and costs of a group's tiles depend on.
uint64_t Parser::KeyOf(const GroupNotation& notation, const Group& group) const {
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
    const bool leaves = reach_[layer].store || reach_[layer].later != 0;
    h = mix(h, uint64_t{layer} * 2 + leaves);
  }
  return h;
}

// Adds tensors that are on chip before the first tile.
void Parser::AddResidents(TileList* list) {
  list->residents = 0;
  for (uint32_t x = 0; x < problem_->externals.size(); ++x) {
    const FusionExternal& e = problem_->externals[x];
    if (!e.resident) continue;
    const int64_t bytes = Held(Volume(e.extent) * e.element_bytes, e.element_bytes);
    const int32_t end = e.kept && fusion_count_ == 1 ? total_ : resident_end_[x];
    list->resident[list->residents++] = Resident{bytes, end};
  }
}

ParseResult Parser::MakeGroups(const GroupNotation& notation) {
  const uint32_t n = static_cast<uint32_t>(notation.order.size());
  group_count_ = fusion_count_ = 0;
  int64_t base = 0;
  for (uint32_t i = 0; i < n; ++i) position_[notation.order[i]] = i;
  for (uint32_t i = 0; i < n; ++i) {
    if (notation.cut[i] != kCutNone) {
      if (notation.cut[i] == kCutDram) ++fusion_count_;
      if (notation.tiles[i] < 1) return ParseResult::kCut;
      groups_[group_count_++] = Group{
          i, i,    notation.tiles[i], static_cast<int32_t>(base), fusion_count_ - 1,
          1, false};
    }
    Group& group = groups_[group_count_ - 1];
    group.last = i + 1;
    base += group.tiles;
    if (base > INT32_MAX / 2) return ParseResult::kTooMany;
    fusion_end_[group.fusion] = static_cast<int32_t>(base);
    const uint32_t layer = notation.order[i];
    group_of_[layer] = group_count_ - 1;
    const FusionLayer& l = problem_->layers[layer];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      const uint32_t source = problem_->inputs[e].source;
      if (source < n && position_[source] >= i) return ParseResult::kOrder;
    }
  }
  return ParseResult::kOk;
}

bool Parser::SameFineGroup(uint32_t layer, const Group& group) const {
  return layer < problem_->layers.size() && position_[layer] >= group.first &&
         position_[layer] < group.last;
}

bool Parser::OffChip(uint32_t source, const Group& group) const {
  const size_t n = problem_->layers.size();
  if (source < n) return groups_[group_of_[source]].fusion != group.fusion;
  return group.fusion != 0 || !problem_->externals[source - n].resident;
}

uint32_t Parser::Axes(const GroupNotation& notation, const Group& group) const {
  uint32_t axes = 15;
  for (uint32_t i = group.first; i < group.last; ++i) {
    const FusionLayer& l = problem_->layers[notation.order[i]];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      if (SameFineGroup(problem_->inputs[e].source, group)) {
        axes &= problem_->inputs[e].fused_axes;
      }
    }
  }
  return axes;
}

void Parser::FindReach(const GroupNotation& notation, const Group& group) {
  for (uint32_t i = group.first; i < group.last; ++i) {
    const uint32_t layer = notation.order[i];
    const FusionLayer& l = problem_->layers[layer];
    Reach reach = {0, 0, l.output || (l.consumers == 0 && !l.kept)};
    if (l.kept && group.fusion + 1 == fusion_count_) {
      reach.later = total_;
    } else if (l.kept) {
      reach.store = true;
    }
    for (uint32_t c = l.first_consumer; c < l.first_consumer + l.consumers; ++c) {
      const uint32_t reader = problem_->consumers[c];
      const Group& other = groups_[group_of_[reader]];
      const uint32_t at = position_[reader];
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
    reach_[layer] = reach;
  }
}

// Chooses how many of the group's tiles cut output channels, and so weights, rather
// than the map: the choice that fits the buffer best and then moves the fewest bytes.
void Parser::ChooseSlices(const GroupNotation& notation, uint32_t axes,
                          Group* group) const {
  const TileModel& model = memo_->model();
  const size_t n = problem_->layers.size();
  int64_t weights = 0;
  int64_t loads = 0;
  int64_t maps = 0;
  int32_t channels = INT32_MAX;
  for (uint32_t i = group->first; i < group->last; ++i) {
    const FusionLayer& l = problem_->layers[notation.order[i]];
    if ((l.axes & kAxisK) == 0) return;
    channels =
        Min(channels,
            static_cast<int32_t>(CeilDivide(l.extent[3], problem_->channel_granule)));
    weights += l.weight_bytes;
    maps += Volume(l.extent) * l.element_bytes;
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      const uint32_t source = problem_->inputs[e].source;
      if (!OffChip(source, *group)) continue;
      loads += source < n ? Volume(problem_->layers[source].extent) *
                                problem_->layers[source].element_bytes
                          : Volume(problem_->externals[source - n].extent) *
                                problem_->externals[source - n].element_bytes;
    }
  }
  if (weights == 0) return;
  const FusionLayer& last = problem_->layers[notation.order[group->last - 1]];
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
      const int64_t merit[3] = {Max(live - problem_->buffer_bytes, int64_t{0}), moved,
                                live};
      if (!Less(merit, best)) continue;
      for (int i = 0; i < 3; ++i) best[i] = merit[i];
      group->slices = slices;
      group->slices_outer = outer != 0;
    }
  }
}

// Computes into how many parts each layer's ofmap is cut by its own grid.
ParseResult Parser::CutOwn(const GroupNotation& notation, const Group& group,
                           uint32_t axes) {
  const TileModel& model = memo_->model();
  const bool uniform = (model.flags & kTileUniform) != 0;
  const int32_t parts = group.tiles / group.slices;
  for (uint32_t i = group.first; i < group.last; ++i) {
    const uint32_t layer = notation.order[i];
    const FusionLayer& l = problem_->layers[layer];
    const Reach& reach = reach_[layer];
    const bool leaves = !uniform && (reach.store || reach.later != 0);
    if (reach.inner != 0 && !leaves) continue;  // its readers' needs cut it
    int32_t* counts = &counts_[4 * size_t{layer}];
    for (int a = 0; a < 4; ++a) counts[a] = 1;
    if (parts > 1 && !model.grid(model.user, l.extent, axes & l.axes & ~kAxisK,
                                 static_cast<uint32_t>(parts), counts)) {
      return ParseResult::kCut;
    }
    if (group.slices > 1) counts[3] = group.slices;
  }
  return ParseResult::kOk;
}

void Parser::OwnBox(uint32_t layer, const Group& group, int32_t k, CutBox* box) const {
  if (group.slices > 1 && group.slices_outer) {
    const int32_t parts = group.tiles / group.slices;
    k = k % parts * group.slices + k / parts;
  }
  PartBox(problem_->layers[layer].extent, &counts_[4 * size_t{layer}],
          (memo_->model().flags & kTileUniform) != 0, problem_->channel_granule, k,
          box);
}

// Computes the boxes of tile k of every layer of the group, from the last layer
// backwards.
void Parser::Boxes(const GroupNotation& notation, const Group& group, int32_t k) {
  const TileModel& model = memo_->model();
  const bool uniform = (model.flags & kTileUniform) != 0;
  for (uint32_t i = group.first; i < group.last; ++i) has_box_[notation.order[i]] = 0;
  for (uint32_t i = group.last; i-- > group.first;) {
    const uint32_t layer = notation.order[i];
    const FusionLayer& l = problem_->layers[layer];
    const bool leaves = reach_[layer].store || reach_[layer].later != 0;
    if (has_box_[layer] == 0) {
      OwnBox(layer, group, k, &box_[layer]);
    } else if (!uniform && leaves) {
      // Readers outside the group need the whole own box.
      CutBox own;
      OwnBox(layer, group, k, &own);
      Unite(own, &box_[layer]);
    }
    for (uint32_t e = 0; e < l.inputs; ++e) {
      const uint32_t source = problem_->inputs[l.first_input + e].source;
      if (!SameFineGroup(source, group)) continue;
      CutBox need;
      model.need(model.user, layer, e, box_[layer], &need);
      if (has_box_[source] != 0) {
        Unite(need, &box_[source]);
      } else {
        box_[source] = need;
        has_box_[source] = 1;
      }
    }
  }
}

ParseResult Parser::Costs(const GroupNotation& notation, const Group& group) {
  for (uint32_t i = group.first; i < group.last; ++i) {
    const uint32_t layer = notation.order[i];
    int32_t extent[4];
    for (int a = 0; a < 4; ++a) extent[a] = box_[layer].end[a] - box_[layer].begin[a];
    if (!memo_->Cost(layer, extent, &cost_[layer])) return ParseResult::kMapping;
  }
  return ParseResult::kOk;
}

void Parser::AddCosts(const GroupNotation& notation, const Group& group, int32_t repeat,
                      TileList* list) const {
  for (uint32_t i = group.first; i < group.last; ++i) {
    const TileCost& cost = cost_[notation.order[i]];
    list->compute_cycles += cost.cycles * repeat;
    list->core_pj += cost.energy_pj * repeat;
  }
}

ParseResult Parser::Emit(const GroupNotation& notation, const Group& group, int32_t k,
                         TileList* list) {
  int32_t p = group.base + k * static_cast<int32_t>(group.last - group.first);
  ++stamp_;
  for (uint32_t i = group.first; i < group.last; ++i, ++p) {
    const uint32_t layer = notation.order[i];
    list->layer[p] = layer;
    list->tile[p] = k;
    list->cycles[p] = cost_[layer].cycles;
    list->box[p] = box_[layer];
    if (!list->reserve.empty()) list->reserve[p] = problem_->reserve[layer];
    if (!EmitLoads(group, layer, k, p, list)) return ParseResult::kTooMany;
    if (!EmitOfmap(group, layer, k, p, list)) return ParseResult::kTooMany;
  }
  return ParseResult::kOk;
}

DramTensor* Parser::Push(const Group& group, const TileAt& at, TransferKind kind,
                         int64_t bytes, TileList* list) {
  if (list->transfers == list->transfer.size()) return nullptr;
  DramTensor* t = &list->transfer[list->transfers++];
  t->bytes = bytes;
  t->held = Held(bytes, 1);
  t->cycles = DramCycles(*problem_, bytes);
  t->use = at.p;
  t->end = at.p + 1;
  t->group_end = fusion_end_[group.fusion];
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
bool Parser::EmitWeights(const Group& group, uint32_t layer, int32_t k, int32_t p,
                         TileList* list) {
  const FusionLayer& l = problem_->layers[layer];
  const CutBox& box = box_[layer];
  const bool sliced = group.slices > 1;
  if (k != 0) {
    const CutBox& before = list->transfer_box[last_weight_[layer]];
    if (!sliced || (before.begin[3] == box.begin[3] && before.end[3] == box.end[3])) {
      list->transfer[last_weight_[layer]].end = p + 1;
      return true;
    }
  }
  const int64_t part = sliced ? box.end[3] - box.begin[3] : l.extent[3];
  const int64_t parameters = l.parameter_bytes * part / l.extent[3];
  const int64_t bytes = l.weight_bytes * part / l.extent[3];
  DramTensor* t = Push(group, {layer, k, p}, kLoadWeight, bytes, list);
  if (t == nullptr) return false;
  if (parameters != 0) {
    t->held = Held(parameters, 4);
    if (bytes != parameters) {
      t->held += Held(bytes - parameters, 1);
      t->cycles += problem_->dram_latency_cycles;
      list->dram_cycles += problem_->dram_latency_cycles;
    }
  }
  t->previous = k == 0 ? kNone : last_weight_[layer];
  last_weight_[layer] = list->transfers - 1;
  CutBox* channels = &list->transfer_box[last_weight_[layer]];
  *channels = CutBox{{0, 0, 0, 0}, {1, 1, 1, l.extent[3]}};
  if (sliced) {
    channels->begin[3] = box.begin[3];
    channels->end[3] = box.end[3];
  }
  return true;
}

bool Parser::EmitLoads(const Group& group, uint32_t layer, int32_t k, int32_t p,
                       TileList* list) {
  const FusionLayer& l = problem_->layers[layer];
  const size_t n = problem_->layers.size();
  if (l.weight_bytes != 0 && !EmitWeights(group, layer, k, p, list)) return false;
  for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
    const uint32_t source = problem_->inputs[e].source;
    if (!OffChip(source, group)) {
      if (source >= n) resident_end_[source - n] = p + 1;
      continue;
    }
    if (!EmitInput(group, e, layer, k, p, list)) return false;
  }
  return true;
}

// The box that an input edge loads from DRAM for the current tile; returns bytes per
// element.
uint32_t Parser::LoadBox(uint32_t edge, uint32_t layer, CutBox* box) const {
  const TileModel& model = memo_->model();
  const uint32_t source = problem_->inputs[edge].source;
  const size_t n = problem_->layers.size();
  const int32_t* extent = source < n ? problem_->layers[source].extent
                                     : problem_->externals[source - n].extent;
  model.need(model.user, layer, edge - problem_->layers[layer].first_input, box_[layer],
             box);
  for (int a = 0; a < 4; ++a) box->end[a] = Min(box->end[a], extent[a]);
  return source < n ? problem_->layers[source].element_bytes
                    : problem_->externals[source - n].element_bytes;
}

// True if an existing load also serves this edge: an earlier layer's load in this tile,
// or this layer's in the tile before. The former is widened if that moves fewer bytes
// than two loads.
bool Parser::ShareLoad(uint32_t edge, uint32_t element, const CutBox& box, int32_t p,
                       TileList* list) {
  const uint32_t source = problem_->inputs[edge].source;
  const bool other = shared_at_[source] == stamp_;
  const uint32_t load = last_load_[other ? sharer_[source] : edge];
  shared_at_[source] = stamp_;
  sharer_[source] = edge;
  if (load == kNone) return false;
  DramTensor& t = list->transfer[load];
  CutBox both = list->transfer_box[load];
  Unite(box, &both);
  if (!SameBox(both, list->transfer_box[load])) {
    const int64_t bytes = Elements(both) * element;
    if (!other || bytes >= t.bytes + Elements(box) * element) {
      return false;
    }
    const int64_t cycles = DramCycles(*problem_, bytes);
    list->load_bytes += bytes - t.bytes;
    list->dram_cycles += cycles - t.cycles;
    list->transfer_box[load] = both;
    t.bytes = bytes;
    t.held = Held(bytes, element);
    t.cycles = cycles;
  }
  t.end = p + 1;
  last_load_[edge] = load;
  return true;
}

bool Parser::EmitInput(const Group& group, uint32_t edge, uint32_t layer, int32_t k,
                       int32_t p, TileList* list) {
  const uint32_t source = problem_->inputs[edge].source;
  CutBox box;
  const uint32_t element = LoadBox(edge, layer, &box);
  if (k == 0) last_load_[edge] = kNone;
  if ((memo_->model().flags & kTileShareLoads) != 0 &&
      ShareLoad(edge, element, box, p, list)) {
    return true;
  }
  DramTensor* t = Push(group, {layer, k, p}, kLoadInput, Elements(box) * element, list);
  if (t == nullptr) return false;
  t->held = Held(t->bytes, element);
  t->source = source;
  t->previous = last_load_[edge];
  t->after = source < problem_->layers.size() ? last_store_[source] : kNone;
  last_load_[edge] = list->transfers - 1;
  list->transfer_box[last_load_[edge]] = box;
  return true;
}

int64_t Parser::Held(int64_t bytes, uint32_t element_bytes) const {
  const int64_t unit = problem_->alignment_bytes;
  return unit == 0 ? bytes : RoundUpTo(bytes, Max(unit, int64_t{element_bytes}));
}

// With kTileWholeOfmaps, the buffer of the first tile holds the whole ofmap up to the
// tile before the last; from then on the buffer of the last tile, or of its store,
// holds it.
bool Parser::EmitOfmap(const Group& group, uint32_t layer, int32_t k, int32_t p,
                       TileList* list) {
  const Reach& reach = reach_[layer];
  const FusionLayer& l = problem_->layers[layer];
  const bool whole = reach.later != 0 && group.tiles > 1 &&
                     (memo_->model().flags & kTileWholeOfmaps) != 0;
  const int64_t bytes = Elements(box_[layer]) * l.element_bytes;
  const int32_t end = Max(p + Max(reach.inner, 0) + 1, reach.later);
  list->ofmap_bytes[p] = Held(bytes, l.element_bytes);
  list->ofmap_end[p] = end;
  list->store[p] = kNone;
  if (whole) {
    const CutBox all = {{0, 0, 0, 0},
                        {l.extent[0], l.extent[1], l.extent[2], l.extent[3]}};
    list->ofmap_bytes[p] = Held(Elements(all) * l.element_bytes, l.element_bytes);
    if (k == 0) {
      list->ofmap_end[p] =
          p + (group.tiles - 1) * static_cast<int32_t>(group.last - group.first);
    } else if (k + 1 < group.tiles) {
      list->ofmap_bytes[p] = 0;
    }
  }
  if (!reach.store) return true;
  DramTensor* t = Push(group, {layer, k, p}, kStore, bytes, list);
  if (t == nullptr) return false;
  t->held = whole && k + 1 < group.tiles ? 0 : list->ofmap_bytes[p];
  t->end = end;
  t->previous = k == 0 ? kNone : last_store_[layer];
  last_store_[layer] = list->transfers - 1;
  list->transfer_box[list->transfers - 1] = box_[layer];
  // From here on the store holds the buffer, except where t->held is 0.
  if (t->held != 0) list->ofmap_bytes[p] = 0;
  list->store[p] = list->transfers - 1;
  return true;
}

}  // namespace sluice
