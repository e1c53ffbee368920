// SPDX-License-Identifier: Apache-2.0
#include "solve/space/boxes.h"

#include "base/checked.h"

namespace sluice {
namespace {

bool IsStraight(const RootAxes& axes) {
  for (int a = 0; a < kAxes; ++a) {
    if (axes.axis[a] != a || axes.step[a] != 1 || axes.begin[a] != 0) return false;
  }
  return true;
}

__attribute__((cold)) BoxPlace PlaceOf(const Lowering& lowering, const RootMap& roots,
                                       uint32_t tensor) {
  BoxPlace place;
  place.root = RootOf(lowering, tensor);
  place.axes = FindRootAxes(roots, tensor);
  place.plain = place.root == tensor && place.axes.nested && IsStraight(place.axes);
  return place;
}

__attribute__((cold)) BoxFacts FactsOf(const Graph& graph, const MacArray& array,
                                       const Layer& layer) {
  BoxFacts facts = {};
  const LayerKind kind = KindOf(layer.op);
  facts.append = kind == LayerKind::kAppend;
  if (facts.append) facts.out = layer.inputs[1];  // the rows
  if (kind != LayerKind::kCompute) return facts;
  facts.out = layer.outputs[0];
  facts.rule = CutsOn(array, graph, layer);
  facts.channels = AccumulatedChannels(graph, layer);
  const TileOperands operands = OperandsOf(layer);
  for (int r = 0; r < kTileRoles; ++r) facts.tensor[r] = operands.tensor[r];
  return facts;
}

// Grows the box to one that tiles of the layer may have: whole along axes that cannot
// be cut, whole units along the others.
void KeepToCuts(const CutRule& rule, const Tensor& out, Box* box) {
  for (int a = 0; a < kAxes; ++a) {
    if (!rule.cuttable[a]) {
      box->begin[a] = 0;
      box->extent[a] = out.extent[a];
    } else if (rule.unit[a] > 1) {
      const int32_t unit = rule.unit[a];
      const int32_t end =
          Min((box->begin[a] + box->extent[a] + unit - 1) / unit * unit, out.extent[a]);
      box->begin[a] = box->begin[a] / unit * unit;
      box->extent[a] = end - box->begin[a];
    }
  }
}

// The part of the tensor that lies in a box of its root; false where there is none.
bool PartInTensor(const Graph& graph, const RootMap& roots, const BoxPlace& place,
                  uint32_t tensor, const Box& in_root, Box* box) {
  if (place.plain) {
    *box = in_root;
    return true;
  }
  return place.axes.nested
             ? BoxInTensor(place.axes, graph.tensors[tensor], in_root, box)
             : BoxInTensor(roots, tensor, in_root, box);
}

}  // namespace

__attribute__((cold)) Status SpaceBoxes::Init(Arena* arena) {
  SLUICE_TRY(arena->Allocate(plan_.loops.size(), &trip_));
  SLUICE_TRY(arena->Allocate(plan_.layers.size(), &made_));
  SLUICE_TRY(arena->Allocate(plan_.layers.size(), &whole_));
  SLUICE_TRY(arena->Allocate(plan_.layers.size(), &sum_));
  SLUICE_TRY(arena->Allocate(plan_.layers.size(), &tile_));
  SLUICE_TRY(arena->Allocate(graph_.tensors.size(), &need_));
  SLUICE_TRY(arena->Allocate(graph_.tensors.size(), &place_));
  SLUICE_TRY(arena->Allocate(plan_.layers.size(), &known_));
  SLUICE_TRY(MakeRootMap(graph_, lowering_, arena, &roots_));
  for (int32_t& trip : trip_) trip = kAllTrips;
  for (uint32_t t = 0; t < place_.size(); ++t) {
    place_[t] = PlaceOf(lowering_, roots_, t);
  }
  for (uint32_t p = 0; p < known_.size(); ++p) {
    const Layer& layer = lowering_.executed[plan_.layers[p].layer];
    known_[p] = FactsOf(graph_, array_, layer);
    known_[p].alone = plan_.layers[p].alone;
  }
  return Status::kOk;
}

SpaceBoxes::Range SpaceBoxes::Cut(uint32_t position, int cut, int32_t extent) const {
  const auto& c = plan_.layers[position].cut[cut];
  if (c.loop == kNone || trip_[c.loop] == kAllTrips) return {0, extent};
  const int64_t begin = int64_t{trip_[c.loop]} * c.step;
  return {static_cast<int32_t>(Min<int64_t>(begin, extent)),
          static_cast<int32_t>(Min<int64_t>(begin + c.step, extent))};
}

Box SpaceBoxes::Asked(uint32_t position) const {
  const Tensor& out = graph_.tensors[known_[position].out];
  Box box = {};
  for (int a = 0; a < kAxes; ++a) {
    const Range range = Cut(position, a, out.extent[a]);
    if (range.begin >= range.end) return Box{};
    box.begin[a] = range.begin;
    box.extent[a] = range.end - range.begin;
  }
  return box;
}

// Adds the boxes that the layer reads to need_. A layer whose range of the sum is empty
// makes nothing.
void SpaceBoxes::AskFor(uint32_t position) {
  const BoxFacts& known = known_[position];
  const int32_t channels = known.channels;
  const Range range = channels == 0 ? Range{0, 0} : Cut(position, kSumCut, channels);
  if (channels != 0 && range.begin >= range.end) {
    made_[position] = Box{};
    return;
  }
  Range* sum = &sum_[position];
  TileBoxes& t = tile_[position];
  const bool same = range.begin == sum->begin && range.end == sum->end &&
                    t.box[kRoleOutput] == made_[position];
  if (!same) {
    const Layer& layer = lowering_.executed[plan_.layers[position].layer];
    *sum = range;
    SetBoxes(graph_, layer, made_[position], range.begin, range.end, &t);
  }
  for (int r = 0; r < kTileRoles; ++r) {
    if (known.tensor[r] != kNone && r != kRoleOutput) Need(known.tensor[r], t.box[r]);
  }
}

void SpaceBoxes::Derive(uint32_t first, uint32_t last) {
  for (uint32_t p = first; p < last; ++p) {
    const Layer& layer = lowering_.executed[plan_.layers[p].layer];
    for (uint32_t t : layer.inputs) {
      if (t != kNone) need_[place_[t].root] = Box{};
    }
    for (uint32_t t : layer.outputs) need_[place_[t].root] = Box{};
  }
  for (uint32_t p = last; p-- > first;) {
    const BoxFacts& known = known_[p];
    if (known.alone) continue;
    if (known.append) {
      made_[p] = Asked(p);
      if (made_[p].extent[0] != 0) Need(known.out, made_[p]);
      continue;
    }
    const SpaceLayer& at = plan_.layers[p];
    if (at.sliced && trip_[at.cut[3].loop] != kAllTrips) {
      Slice(p);
      continue;
    }
    if (at.summed && trip_[at.cut[kSumCut].loop] != kAllTrips) {
      made_[p] = whole_[p];
    } else {
      made_[p] = WholeOf(p, known);
    }
    if (made_[p].extent[0] == 0) continue;
    AskFor(p);
    if (made_[p].extent[0] != 0) Need(known.out, made_[p]);
  }
}

// The box that the layer must make: by its own cuts if its output leaves the loops, and
// what its readers need. Kept in whole_ for loops over slices or over parts of its sum.
Box SpaceBoxes::WholeOf(uint32_t position, const BoxFacts& known) {
  const Box& need = need_[place_[known.out].root];
  Box* whole = &whole_[position];
  *whole = plan_.layers[position].leaves ? Asked(position) : Box{};
  Box box;
  if (need.extent[0] != 0 &&
      PartInTensor(graph_, roots_, place_[known.out], known.out, need, &box))
    GrowBox(whole, box);
  if (whole->extent[0] != 0) KeepToCuts(known.rule, graph_.tensors[known.out], whole);
  return *whole;
}

// Derives one slice of channels of the box in whole_.
void SpaceBoxes::Slice(uint32_t position) {
  const uint32_t tensor = known_[position].out;
  const Range range = Cut(position, 3, graph_.tensors[tensor].extent[3]);
  Box box = whole_[position];
  const int32_t begin = Max(box.begin[3], range.begin);
  const int32_t end = Min(box.begin[3] + box.extent[3], range.end);
  if (box.extent[0] == 0 || begin >= end) {
    made_[position] = Box{};
    return;
  }
  box.begin[3] = begin;
  box.extent[3] = end - begin;
  made_[position] = box;
  AskFor(position);
  if (made_[position].extent[0] != 0) Need(tensor, box);
}

}  // namespace sluice
