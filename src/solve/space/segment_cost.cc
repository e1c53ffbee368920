// SPDX-License-Identifier: Apache-2.0
// What the tiles and transfers of a segment cost.
#include "base/checked.h"
#include "model/tile_cycles.h"
#include "solve/space/segment_draft.h"

namespace sluice {
namespace {

// The energy of a tile's work and of its operands in the scratchpad.
double EnergyOf(const SegmentDraft& s, uint32_t position, const TileBoxes& t) {
  const MemoryLevel& pad = s.problem.hardware->scratchpad();
  const uint32_t* const tensors = s.boxes.tensors(position);
  double energy = static_cast<double>(t.macs) * s.problem.hardware->mac_pj +
                  static_cast<double>(t.vector_ops) * s.problem.hardware->vector_op_pj;
  for (int r = 0; r < kTileRoles; ++r) {
    if (tensors[r] == kNone) continue;
    const Tensor& tensor = s.problem.graph->tensors[tensors[r]];
    energy += static_cast<double>(BytesOfBox(t.box[r], tensor)) * 8 *
              (r == kRoleOutput ? pad.write_pj_per_bit : pad.read_pj_per_bit);
  }
  return energy;
}

// Adds the cost of `times` equal tiles of a layer.
void AddPart(SegmentDraft* s, uint32_t position, const Box& box, int64_t times,
             bool first, bool last) {
  const Layer& layer = s->problem.at(position);
  const Graph& graph = *s->problem.graph;
  const int32_t begin = s->boxes.sum_begin(position), end = s->boxes.sum_end(position);
  const TileBoxes& made = s->boxes.tile(position);
  const bool all = made.box[kRoleOutput] == box;
  TileBoxes part;
  if (!all) SetBoxes(graph, layer, box, begin, end, &part);
  const TileBoxes& t = all ? made : part;
  const bool ends = end == s->boxes.channels(position);
  const TileCost cost = s->prices.Of(position, t, {end - begin, begin == 0, ends});
  s->cost.cycles += cost.cycles * times;
  if (first) s->cost.first_cycles += cost.cycles;
  if (last) s->cost.last_cycles += cost.cycles;
  if (first) s->first_cycles[position] += cost.cycles;
  double energy = cost.energy_pj;
  const MemoryLevel& pad = s->problem.hardware->scratchpad();
  const Tensor& out = graph.tensors[layer.outputs[0]];
  if (energy <= 0) energy = EnergyOf(*s, position, t);
  if (s->layers[position].summed) {
    const int64_t bytes = box.elements() * s->problem.hardware->accumulator_bytes;
    s->nest.sum_bytes = Max(s->nest.sum_bytes, s->problem.Aligned(bytes));
    energy += static_cast<double>(bytes) * 8 * pad.read_pj_per_bit;
  }
  s->cost.energy_pj += energy * static_cast<double>(times);
  if (!ends) return;
  RootUse* use = &s->uses.Of(s->problem.root_of[layer.outputs[0]]);
  use->made_bytes += box.elements() * out.element_bytes * times;
  use->made_lost += s->problem.LostBytes(box, use->root, true) * times;
}

void AddTile(SegmentDraft* s, uint32_t position, int64_t times, bool first, bool last) {
  Box box = s->boxes.made(position);
  if (first) s->first_cycles[position] = 0;
  if (box.extent[0] == 0) return;
  const Layer& layer = s->problem.at(position);
  if (KindOf(layer.op) == LayerKind::kAppend) {
    s->cost.store +=
        BytesOfBox(box, s->problem.graph->tensors[layer.inputs[1]]) * times;
    s->cost.transfers += times;
    return;
  }
  const SpaceLayer& at = s->layers[position];
  const int32_t end = box.begin[3] + box.extent[3];
  while (box.begin[3] < end) {
    const int32_t left = end - box.begin[3], step = at.sliced ? at.cut[3].step : left;
    box.extent[3] = Min(left, step - box.begin[3] % step);
    const int32_t alike = box.extent[3] == step ? left / step : 1;
    AddPart(s, position, box, times * alike, first, last);
    box.begin[3] += box.extent[3] * alike;
  }
}

// Adds the box that is needed of a root in `times` iterations.
void AddBox(SegmentDraft* s, int64_t times, bool first, RootUse* use) {
  const Box& box = s->boxes.need(use->root);
  const int64_t bytes = BytesOfBox(box, s->problem.graph->tensors[use->root]);
  use->frame = Max(use->frame, bytes);
  if (first) use->first_frame = bytes;
  use->moved += bytes * times;
  use->lost += s->problem.LostBytes(box, use->root, false) * times;
}

// Adds the iterations of the block's loop: the first, the last, those between.
void AddBlock(SegmentDraft* s, int64_t times, bool first, bool last) {
  const int32_t trips = s->nest.block_trips();
  const int64_t cycles = s->cost.cycles, first_cycles = s->cost.first_cycles;
  for (int look = 0; look < Min(trips, 3); ++look) {
    const int64_t alike = look == 2 ? times * (trips - 2) : times;
    s->boxes.SetTrip(s->nest.block.loop, look == 0 ? 0 : look == 1 ? trips - 1 : 1);
    s->boxes.Derive(s->nest.block.first, s->nest.block.last);
    for (RootUse& use : s->uses) {
      if (use.inner) AddBox(s, alike, first && look == 0, &use);
    }
    for (uint32_t p = s->nest.block.first; p < s->nest.block.last && !s->Ends(); ++p) {
      AddTile(s, p, alike, first && look == 0, last && look == 1);
    }
  }
  // What the block makes can be stored after its last iteration.
  if (first) s->cost.first_cycles = first_cycles + (s->cost.cycles - cycles) / times;
  s->boxes.SetTrip(s->nest.block.loop, kAllTrips);
}

// Bytes that the use loads at least, as far as iterations have been derived: all of a
// constant of which iterations need different pieces.
int64_t LeastLoad(const SegmentDraft& s, uint32_t i) {
  const RootUse& use = s.uses.all[i];
  const Tensor& root = s.problem.graph->tensors[use.root];
  int64_t bytes = 0;
  if (use.form == UseForm::kLoadKeep) {
    bytes = root.bytes;
  } else if (use.form != UseForm::kLoad) {
    return 0;
  } else if (use.slices != 0) {
    bytes = root.bytes * s.nest.tiles;
  } else if (use.inner && !use.travels) {
    // What a loop inside needs piece by piece comes again in each iteration of the loops
    // around it, unless these need other pieces of it.
    bytes = BytesOfBox(s.uses.first_box[i], root) * s.nest.tiles;
  } else if (use.travels && s.problem.roots[use.root].constant) {
    bytes = root.bytes;
  } else {
    bytes =
        s.nest.outer == 1 && use.depends != 0 ? Max(use.frame, use.moved) : use.frame;
  }
  const double share = s.problem.roots[use.root].share;
  return share >= 1 ? bytes : static_cast<int64_t>(share * static_cast<double>(bytes));
}

void AddEarly(SegmentDraft* s, int64_t bytes, int64_t room) {
  uint8_t& count = s->cost.early_count;
  if (count < SpaceCost::kEarly) {
    s->cost.early[count] = count == 0 ? EarlyLoads{} : s->cost.early[count - 1];
    ++count;
  }
  s->cost.early[count - 1].bytes += bytes;
  s->cost.early[count - 1].room += room;
}

// How long the tiles of the first iteration wait for their loads, which come in the
// order in which they are needed.
void ChargeFirst(SegmentDraft* s) {
  if (s->alone()) {
    s->cost.first_wait =
        s->problem.DmaCycles(Min<int64_t>(s->cost.load, s->problem.capacity / 16), 1);
    AddEarly(s, s->cost.load, s->cost.load);
    return;
  }
  for (uint32_t p = s->first; p < s->last; ++p) s->level[p] = 0;
  for (const RootUse& use : s->uses) {
    if (use.form != UseForm::kLoad && use.form != UseForm::kLoadKeep) continue;
    const int64_t bytes = use.form == UseForm::kLoad
                              ? use.first_frame
                              : s->problem.graph->tensors[use.root].bytes;
    s->level[use.from] += bytes;
    AddEarly(s, bytes, BytesOf(*s, use));
  }
  int64_t computed = 0, loaded = 0;
  for (uint32_t p = s->first; p < s->last; ++p) {
    if (s->level[p] != 0) {
      loaded += s->level[p];
      s->cost.first_wait =
          Max(s->cost.first_wait, s->problem.DmaCycles(loaded, 1) - computed);
    }
    computed += s->first_cycles[p];
  }
}

// Bytes that a layer that is alone reads of a root. A gather reads as many bytes of its
// table as it writes.
int64_t ReadAlone(const SegmentDraft& s, uint32_t root) {
  const Layer& layer = s.problem.at(s.first);
  const int64_t whole = s.problem.graph->tensors[root].bytes;
  if (KindOf(layer.op) != LayerKind::kGather) return whole;
  return Min(whole, s.problem.graph->tensors[layer.outputs[0]].bytes);
}

// The parts that earlier segments made come from DRAM.
void ChargeBegun(SegmentDraft* s, const RootUse& use) {
  const int64_t bytes = Max<int64_t>(use.moved - use.made_bytes, 0);
  const int64_t frames = Max<int64_t>(use.count, 1);
  s->cost.load += bytes;
  s->cost.transfers += frames;
  s->cost.ahead += Min(bytes, bytes / frames * use.slots);
  if (InPlace(use)) s->cost.exposed += bytes - bytes / frames;
}

}  // namespace

void AddIteration(SegmentDraft* s, int64_t times, bool first, bool last) {
  for (RootUse& use : s->uses) {
    if (use.form != UseForm::kUnused && !use.inner) AddBox(s, times, first, &use);
  }
  for (uint32_t p = s->first; p < s->last && !s->Ends(); ++p) {
    if (!InBlock(*s, p)) AddTile(s, p, times, first, last);
  }
  if (s->nest.block.loop != kNone) AddBlock(s, times, first, last);
}

void SumLeastCosts(SegmentDraft* s) {
  const Graph& graph = *s->problem.graph;
  for (uint32_t p = 0; p + 1 < s->least.size(); ++p) {
    s->least[p + 1] = s->least[p];
    const Layer& layer = s->problem.at(p);
    if (KindOf(layer.op) != LayerKind::kCompute) continue;
    const int32_t channels = s->boxes.channels(p);
    const TileBoxes t =
        BoxesOf(graph, layer, WholeBox(graph.tensors[layer.outputs[0]]), 0, channels);
    // Of tiles that the caller prices, only the least that they may declare is known.
    TileCost told = {};
    if (s->problem.coster.cost != nullptr &&
        s->problem.coster.cost(s->problem.coster.user, s->problem.layer[p],
                               t.box[kRoleOutput].extent, channels, &told)) {
      s->least[p + 1].cycles +=
          LeastTileCycles(*s->problem.hardware, graph, layer, t, {channels});
      continue;
    }
    s->least[p + 1].cycles +=
        TileCycles(*s->problem.hardware, graph, layer, t, {channels});
    s->least[p + 1].energy_pj += EnergyOf(*s, p, t);
  }
}

bool Excludes(SegmentDraft* s, const SegmentLimit& limit) {
  const MemoryLevel& dram = s->problem.hardware->dram();
  const MemoryLevel& pad = s->problem.hardware->scratchpad();
  SpaceCost least;
  least.squeezed = s->cost.squeezed;
  least.cycles =
      Max(s->cost.cycles, s->least[s->last].cycles - s->least[s->first].cycles);
  for (uint32_t i = 0; i < s->uses.count; ++i) {
    const RootUse& use = s->uses.all[i];
    least.load += LeastLoad(*s, i);
    if (use.gone && !use.stored)
      least.store += s->problem.graph->tensors[use.root].bytes;
    if (use.form == UseForm::kMadeOut) least.store += use.made_bytes;
  }
  least.energy_pj = Max(s->cost.energy_pj,
                        s->least[s->last].energy_pj - s->least[s->first].energy_pj) +
                    static_cast<double>(least.load) * 8 *
                        (dram.read_pj_per_bit + pad.write_pj_per_bit) +
                    static_cast<double>(least.store) * 8 *
                        (dram.write_pj_per_bit + pad.read_pj_per_bit);
  s->excluded = limit.excludes(limit.of, least);
  if (s->excluded) s->cost = least;
  return s->excluded;
}

void ChargeTransfers(SegmentDraft* s) {
  const MemoryLevel& dram = s->problem.hardware->dram();
  const MemoryLevel& pad = s->problem.hardware->scratchpad();
  int64_t lost_load = 0, lost_store = 0;
  for (const RootUse& use : s->uses) {
    const SpaceRoot& root = s->problem.roots[use.root];
    const int64_t whole = s->problem.graph->tensors[use.root].bytes;
    if (use.gone && !use.stored) {
      s->cost.spill += whole;
      s->cost.store += whole;
      ++s->cost.transfers;
    }
    switch (use.form) {
      case UseForm::kLoad:
        s->cost.load += s->alone() ? ReadAlone(*s, use.root) : use.moved;
        s->cost.transfers += Max<int64_t>(use.count, 1);
        lost_load += use.lost;
        if (InPlace(use))
          s->cost.exposed += Max<int64_t>(use.moved - use.first_frame, 0);
        s->cost.ahead += Min(use.moved, BytesOf(*s, use));
        break;
      case UseForm::kLoadKeep:
        s->cost.load += whole;
        s->cost.ahead += whole;
        ++s->cost.transfers;
        break;
      case UseForm::kMadeOut: {
        const int64_t bytes = s->alone() ? whole : use.made_bytes;
        s->cost.store += bytes;
        s->cost.transfers += s->nest.tiles;
        s->cost.last_store += bytes / s->nest.tiles;
        lost_store += use.made_lost;
        if (InPlace(use)) s->cost.exposed += bytes - bytes / s->nest.tiles;
        break;
      }
      case UseForm::kHeld:
      case UseForm::kMadeKeep:
        if (!use.made || !root.output) break;
        s->cost.store += use.made_bytes;
        s->cost.transfers += s->nest.tiles;
        s->cost.last_store += use.made_bytes / s->nest.tiles;
        lost_store += use.made_lost;
        break;
      default:
        break;
    }
    const bool made = use.form == UseForm::kMade || use.form == UseForm::kMadeOut;
    if (made && use.begun) ChargeBegun(s, use);
  }
  ChargeFirst(s);
  s->cost.energy_pj += static_cast<double>(s->cost.load) * 8 *
                           (dram.read_pj_per_bit + pad.write_pj_per_bit) +
                       static_cast<double>(s->cost.store) * 8 *
                           (dram.write_pj_per_bit + pad.read_pj_per_bit);
  s->cost.load += lost_load;
  s->cost.store += lost_store;
}

}  // namespace sluice
