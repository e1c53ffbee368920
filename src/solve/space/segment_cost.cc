// SPDX-License-Identifier: Apache-2.0
// What the tiles and transfers of a segment cost.
#include "base/checked.h"
#include "model/tile_cycles.h"
#include "solve/space/segment.h"

namespace sluice {

void SegmentMaker::AddTile(uint32_t position, int64_t times, bool first, bool last) {
  Box box = boxes_.made(position);
  if (first) first_cycles_[position] = 0;
  if (box.extent[0] == 0) return;
  const Layer& layer = p_.at(position);
  if (KindOf(layer.op) == LayerKind::kAppend) {
    cost_.store += BytesOfBox(box, p_.graph->tensors[layer.inputs[1]]) * times;
    cost_.transfers += times;
    return;
  }
  const SpaceLayer& at = layers_[position];
  const int32_t end = box.begin[3] + box.extent[3];
  while (box.begin[3] < end) {
    const int32_t left = end - box.begin[3], step = at.sliced ? at.cut[3].step : left;
    box.extent[3] = Min(left, step - box.begin[3] % step);
    const int32_t alike = box.extent[3] == step ? left / step : 1;
    AddPart(position, box, times * alike, first, last);
    box.begin[3] += box.extent[3] * alike;
  }
}

// The energy of a tile's work and of its operands in the scratchpad.
double SegmentMaker::EnergyOf(uint32_t position, const TileBoxes& t) const {
  const MemoryLevel& pad = p_.hardware->scratchpad();
  const uint32_t* const tensors = boxes_.tensors(position);
  double energy = static_cast<double>(t.macs) * p_.hardware->mac_pj +
                  static_cast<double>(t.vector_ops) * p_.hardware->vector_op_pj;
  for (int r = 0; r < kTileRoles; ++r) {
    if (tensors[r] == kNone) continue;
    const Tensor& tensor = p_.graph->tensors[tensors[r]];
    energy += static_cast<double>(BytesOfBox(t.box[r], tensor)) * 8 *
              (r == kRoleOutput ? pad.write_pj_per_bit : pad.read_pj_per_bit);
  }
  return energy;
}

// Adds the cost of `times` equal tiles of a layer.
void SegmentMaker::AddPart(uint32_t position, const Box& box, int64_t times, bool first,
                           bool last) {
  const Layer& layer = p_.at(position);
  const Graph& graph = *p_.graph;
  const int32_t begin = boxes_.sum_begin(position), end = boxes_.sum_end(position);
  const TileBoxes& made = boxes_.tile(position);
  const bool all = made.box[kRoleOutput] == box;
  TileBoxes part;
  if (!all) SetBoxes(graph, layer, box, begin, end, &part);
  const TileBoxes& t = all ? made : part;
  const bool ends = end == boxes_.channels(position);
  const TileCost cost = prices_.Of(position, t, {end - begin, begin == 0, ends});
  cost_.cycles += cost.cycles * times;
  if (first) cost_.first_cycles += cost.cycles;
  if (last) cost_.last_cycles += cost.cycles;
  if (first) first_cycles_[position] += cost.cycles;
  double energy = cost.energy_pj;
  const MemoryLevel& pad = p_.hardware->scratchpad();
  const Tensor& out = graph.tensors[layer.outputs[0]];
  if (energy <= 0) energy = EnergyOf(position, t);
  if (layers_[position].summed) {
    const int64_t bytes = box.elements() * p_.hardware->accumulator_bytes;
    sum_bytes_ = Max(sum_bytes_, p_.Aligned(bytes));
    energy += static_cast<double>(bytes) * 8 * pad.read_pj_per_bit;
  }
  cost_.energy_pj += energy * static_cast<double>(times);
  if (!ends) return;
  Use* use = &uses_[use_of_[p_.root_of[layer.outputs[0]]] - 1];
  use->made_bytes += box.elements() * out.element_bytes * times;
  use->made_lost += p_.LostBytes(box, use->root, true) * times;
}

// Adds the box that is needed of a root in `times` iterations.
void SegmentMaker::AddBox(int64_t times, bool first, Use* use) {
  const Box& box = boxes_.need(use->root);
  const int64_t bytes = BytesOfBox(box, p_.graph->tensors[use->root]);
  use->frame = Max(use->frame, bytes);
  if (first) use->first_frame = bytes;
  use->moved += bytes * times;
  use->lost += p_.LostBytes(box, use->root, false) * times;
}

void SegmentMaker::AddIteration(int64_t times, bool first, bool last) {
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    if (use->form != Form::kUnused && !use->inner) AddBox(times, first, use);
  }
  for (uint32_t p = first_; p < last_ && !Ends(); ++p) {
    if (!InBlock(p)) AddTile(p, times, first, last);
  }
  if (block_.loop != kNone) AddBlock(times, first, last);
}

// Marks the roots of which a view whose axes are not nested needs a piece that is not
// contiguous.
void SegmentMaker::FindScattered() {
  for (uint32_t i = 0; i < use_count_; ++i) {
    Use* use = &uses_[i];
    use->scattered = use->crossed &&
                     !IsContiguous(boxes_.roots(), use->root, boxes_.need(use->root));
  }
}

// Sums up what each layer costs at least: what it costs as one tile. The parts of a tile
// take no fewer cycles together, and read and write no fewer bytes.
void SegmentMaker::SumLeast() {
  const Graph& graph = *p_.graph;
  for (uint32_t p = 0; p + 1 < least_.size(); ++p) {
    least_[p + 1] = least_[p];
    const Layer& layer = p_.at(p);
    if (KindOf(layer.op) != LayerKind::kCompute) continue;
    const int32_t channels = boxes_.channels(p);
    const TileBoxes t =
        BoxesOf(graph, layer, WholeBox(graph.tensors[layer.outputs[0]]), 0, channels);
    // Of tiles that the caller prices, only the least that they may declare is known.
    TileCost told = {};
    if (p_.coster.cost != nullptr &&
        p_.coster.cost(p_.coster.user, p_.layer[p], t.box[kRoleOutput].extent, channels,
                       &told)) {
      least_[p + 1].cycles +=
          LeastTileCycles(*p_.hardware, graph, layer, t, {channels});
      continue;
    }
    least_[p + 1].cycles += TileCycles(*p_.hardware, graph, layer, t, {channels});
    least_[p + 1].energy_pj += EnergyOf(p, t);
  }
}

// Bytes that the use loads at least, as far as iterations have been derived: all of a
// constant of which iterations need different pieces.
int64_t SegmentMaker::LeastLoad(uint32_t i) const {
  const Use& use = uses_[i];
  const Tensor& root = p_.graph->tensors[use.root];
  int64_t bytes = 0;
  if (use.form == Form::kLoadKeep) {
    bytes = root.bytes;
  } else if (use.form != Form::kLoad) {
    return 0;
  } else if (use.slices != 0) {
    bytes = root.bytes * tiles_;
  } else if (use.inner && !use.travels) {
    // What a loop inside needs piece by piece comes again in each iteration of the loops
    // around it, unless these need other pieces of it.
    bytes = BytesOfBox(first_box_[i], root) * tiles_;
  } else if (use.travels && p_.roots[use.root].constant) {
    bytes = root.bytes;
  } else {
    bytes = outer_ == 1 && use.depends != 0 ? Max(use.frame, use.moved) : use.frame;
  }
  const double share = p_.roots[use.root].share;
  return share >= 1 ? bytes : static_cast<int64_t>(share * static_cast<double>(bytes));
}

// Whether the limit excludes what the segment costs at least, as far as that is known.
// The roots that stay whole by a glance are taken to stay.
bool SegmentMaker::Excludes(const SegmentLimit* limit) {
  const MemoryLevel& dram = p_.hardware->dram();
  const MemoryLevel& pad = p_.hardware->scratchpad();
  SpaceCost least;
  least.squeezed = cost_.squeezed;
  least.cycles = Max(cost_.cycles, least_[last_].cycles - least_[first_].cycles);
  for (uint32_t i = 0; i < use_count_; ++i) {
    const Use& use = uses_[i];
    least.load += LeastLoad(i);
    if (use.gone && !use.stored) least.store += p_.graph->tensors[use.root].bytes;
    if (use.form == Form::kMadeOut) least.store += use.made_bytes;
  }
  least.energy_pj =
      Max(cost_.energy_pj, least_[last_].energy_pj - least_[first_].energy_pj) +
      static_cast<double>(least.load) * 8 *
          (dram.read_pj_per_bit + pad.write_pj_per_bit) +
      static_cast<double>(least.store) * 8 *
          (dram.write_pj_per_bit + pad.read_pj_per_bit);
  excluded_ = limit->excludes(limit->of, least);
  if (excluded_) cost_ = least;
  return excluded_;
}

void SegmentMaker::AddEarly(int64_t bytes, int64_t room) {
  uint8_t& count = cost_.early_count;
  if (count < SpaceCost::kEarly) {
    cost_.early[count] = count == 0 ? EarlyLoads{} : cost_.early[count - 1];
    ++count;
  }
  cost_.early[count - 1].bytes += bytes;
  cost_.early[count - 1].room += room;
}

// How long the tiles of the first iteration wait for their loads, which come in the
// order in which they are needed.
void SegmentMaker::ChargeFirst() {
  if (p_.alone[first_] != 0) {
    cost_.first_wait = p_.DmaCycles(Min<int64_t>(cost_.load, p_.capacity / 16), 1);
    AddEarly(cost_.load, cost_.load);
    return;
  }
  for (uint32_t p = first_; p < last_; ++p) level_[p] = 0;
  for (uint32_t i = 0; i < use_count_; ++i) {
    const Use& use = uses_[i];
    if (use.form != Form::kLoad && use.form != Form::kLoadKeep) continue;
    const int64_t bytes =
        use.form == Form::kLoad ? use.first_frame : p_.graph->tensors[use.root].bytes;
    level_[use.from] += bytes;
    AddEarly(bytes, BytesOf(use));
  }
  int64_t computed = 0, loaded = 0;
  for (uint32_t p = first_; p < last_; ++p) {
    if (level_[p] != 0) {
      loaded += level_[p];
      cost_.first_wait = Max(cost_.first_wait, p_.DmaCycles(loaded, 1) - computed);
    }
    computed += first_cycles_[p];
  }
}

// Bytes that a layer that is alone reads of a root. A gather reads as many bytes of its
// table as it writes.
int64_t SegmentMaker::ReadAlone(uint32_t root) const {
  const Layer& layer = p_.at(first_);
  const int64_t whole = p_.graph->tensors[root].bytes;
  if (KindOf(layer.op) != LayerKind::kGather) return whole;
  return Min(whole, p_.graph->tensors[layer.outputs[0]].bytes);
}

// The parts that earlier segments made come from DRAM.
void SegmentMaker::ChargeBegun(const Use& use) {
  const int64_t bytes = Max<int64_t>(use.moved - use.made_bytes, 0);
  const int64_t frames = Max<int64_t>(use.count, 1);
  cost_.load += bytes;
  cost_.transfers += frames;
  cost_.ahead += Min(bytes, bytes / frames * use.slots);
  if (InPlace(use)) cost_.exposed += bytes - bytes / frames;
}

void SegmentMaker::Charge() {
  const MemoryLevel& dram = p_.hardware->dram();
  const MemoryLevel& pad = p_.hardware->scratchpad();
  int64_t lost_load = 0, lost_store = 0;
  for (uint32_t i = 0; i < use_count_; ++i) {
    const Use& use = uses_[i];
    const SpaceRoot& root = p_.roots[use.root];
    const int64_t whole = p_.graph->tensors[use.root].bytes;
    if (use.gone && !use.stored) {
      cost_.spill += whole;
      cost_.store += whole;
      ++cost_.transfers;
    }
    switch (use.form) {
      case Form::kLoad:
        cost_.load += p_.alone[first_] != 0 ? ReadAlone(use.root) : use.moved;
        cost_.transfers += Max<int64_t>(use.count, 1);
        lost_load += use.lost;
        if (InPlace(use)) cost_.exposed += Max<int64_t>(use.moved - use.first_frame, 0);
        cost_.ahead += Min(use.moved, BytesOf(use));
        break;
      case Form::kLoadKeep:
        cost_.load += whole;
        cost_.ahead += whole;
        ++cost_.transfers;
        break;
      case Form::kMadeOut: {
        const int64_t bytes = p_.alone[first_] != 0 ? whole : use.made_bytes;
        cost_.store += bytes;
        cost_.transfers += tiles_;
        cost_.last_store += bytes / tiles_;
        lost_store += use.made_lost;
        if (InPlace(use)) cost_.exposed += bytes - bytes / tiles_;
        break;
      }
      case Form::kHeld:
      case Form::kMadeKeep:
        if (!use.made || !root.output) break;
        cost_.store += use.made_bytes;
        cost_.transfers += tiles_;
        cost_.last_store += use.made_bytes / tiles_;
        lost_store += use.made_lost;
        break;
      default:
        break;
    }
    const bool made = use.form == Form::kMade || use.form == Form::kMadeOut;
    if (made && use.begun) ChargeBegun(use);
  }
  ChargeFirst();
  cost_.energy_pj += static_cast<double>(cost_.load) * 8 *
                         (dram.read_pj_per_bit + pad.write_pj_per_bit) +
                     static_cast<double>(cost_.store) * 8 *
                         (dram.write_pj_per_bit + pad.read_pj_per_bit);
  cost_.load += lost_load;
  cost_.store += lost_store;
}

}  // namespace sluice
