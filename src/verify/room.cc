// SPDX-License-Identifier: Apache-2.0
#include "verify/room.h"

#include "base/checked.h"
#include "verify/ability.h"
#include "verify/op_rules.h"
#include "verify/reuse.h"

namespace sluice {
namespace judge {
namespace {

// So many elements along each axis; 0 along one: none.
struct Part {
  int32_t of[kAxes];

  bool none() const { return elements() == 0; }
  int64_t elements() const { return int64_t{of[0]} * of[1] * of[2] * of[3]; }
};
constexpr Part kNoPart = {{0, 0, 0, 0}};
constexpr Part kOne = {{1, 1, 1, 1}};

Part WholeOf(const Tensor& t) {
  return {{t.extent[0], t.extent[1], t.extent[2], t.extent[3]}};
}

bool IsWhole(const Part& part, const Tensor& t) {
  bool whole = true;
  for (int a = 0; a < kAxes; ++a) whole = whole && part.of[a] == t.extent[a];
  return whole;
}

// What a part of one side of a reshape is on its other side. Of axes that are not whole, a
// row of elements stays one if the other side has one axis for it.
Part Regroup(const int32_t* from, const int32_t* to, const Part& part) {
  Part other = kOne;
  for (AxisGroup g; g.Next(from, to);) {
    int64_t row = 1;
    bool whole = true;
    for (int a = g.from_end; a-- > g.from;) {
      if (whole) row *= part.of[a];
      whole = whole && part.of[a] == from[a];
    }
    for (int a = g.to; a < g.to_end; ++a) {
      if (whole) other.of[a] = to[a];
      if (!whole && g.to_end - g.to == 1) other.of[a] = static_cast<int32_t>(row);
    }
  }
  return other;
}

// The least number of outputs whose windows read one of `row` neighbours, wherever they
// lie. Of dilated windows only the middle tap counts, and nothing if they have a stride.
int32_t ReadersOf(const Slide& s, int32_t row) {
  if (s.apart > 1 && s.stride > 1) return 0;
  const int64_t low_tap = s.apart > 1 ? s.filter / 2 * s.apart : 0;
  const int64_t high_tap = s.apart > 1 ? low_tap : s.filter - 1;
  int64_t least = s.out;
  // How many depends on the stride, and on what lies near a border.
  const int64_t places = int64_t{s.in} - row + 1;
  const int64_t near = Min(s.filter + s.stride, places);
  for (int64_t p = 0; p < places; ++p) {
    if (p == near) p = Max(near, places - near);
    if (p == places) break;
    const int64_t low = p + s.before - high_tap,
                  high = p + row - 1 + s.before - low_tap;
    const int64_t begin = low <= 0 ? 0 : CeilDivide(low, s.stride);
    const int64_t end = high < 0 ? 0 : Min<int64_t>(high / s.stride + 1, s.out);
    least = Min(least, Max<int64_t>(end - begin, 0));
  }
  return static_cast<int32_t>(least);
}

// Taps that lie on the input for one of `row` neighbouring outputs at least.
int64_t TapsOf(const Slide& s, int32_t row) {
  const int64_t span = (s.filter - 1) * s.apart;
  const int64_t behind = (int64_t{s.out} - 1) * s.stride - s.before + span - (s.in - 1);
  if (s.in <= span || s.before + behind > span) return 0;
  const int64_t off = Max(s.before, behind) - (int64_t{row} - 1) * s.stride;
  return Max<int64_t>(s.filter - (off <= 0 ? 0 : CeilDivide(off, s.apart)), 0);
}

// Of a convolution the channels that depend on channels of a part.
int32_t ChannelsOf(const Judge& judge, const Layer& layer, const Part& part) {
  const int32_t in = judge.graph.tensors[layer.inputs[0]].extent[3];
  if (!Has(layer, kProduct) || Has(layer, kChannelwise)) return part.of[3];
  TileNeeds needs;
  NeedsOfLayer(judge.graph, layer, &needs);
  const bool all = needs.sum_channels == in || part.of[3] == in;
  return all ? judge.graph.tensors[layer.outputs[0]].extent[3] : 1;
}

// What depends on a part of an input, wherever it lies.
Part Dependent(const Judge& judge, const Layer& layer, size_t input, const Part& part) {
  const Tensor& in = judge.graph.tensors[layer.inputs[input]];
  const Tensor& out = judge.graph.tensors[layer.outputs[0]];
  const bool image = part.of[1] == in.extent[1] && part.of[2] == in.extent[2];
  Part to = part;
  switch (RuleOf(layer).reach) {
    case Reach::kNothing:
      return kNoPart;
    case Reach::kSecond:
      return input == 1 ? to : kNoPart;
    case Reach::kSame:
      return to;
    case Reach::kPlaces:
      if (input != 0 && Has(layer, kPlainSecond)) return kNoPart;
      for (int a = 0; a < kAxes; ++a) {
        if (in.extent[a] != out.extent[a]) to.of[a] = out.extent[a];
      }
      return to;
    case Reach::kRows:
      to.of[3] = out.extent[3];
      return input == 0 ? to : kNoPart;
    case Reach::kWindows:
      if (input != 0) return kNoPart;
      for (int a = 1; a <= 2; ++a) {
        to.of[a] = ReadersOf(SlideOf(judge.graph, layer, a), part.of[a]);
      }
      to.of[3] = ChannelsOf(judge, layer, part);
      return to;
    case Reach::kProducts:
      to.of[3] = out.extent[3];
      if (input == 0) return to;
      to.of[3] = part.of[layer.attribute(SLUICE_MATMUL_TRANSPOSE_B) != 0 ? 2 : 3];
      to.of[2] = out.extent[2];
      return to;
    case Reach::kCut:
      for (int a = 0; a < kAxes; ++a) {
        to.of[a] = Max(to.of[a] - (in.extent[a] - out.extent[a]), 0);
      }
      return to;
    case Reach::kRegroup:
      return Regroup(in.extent, out.extent, part);
    case Reach::kPermute:
      for (size_t a = 0; a < kAxes; ++a) to.of[a] = part.of[layer.attribute(a)];
      return to;
    case Reach::kScale:
      to.of[1] = out.extent[1];
      to.of[2] = out.extent[2];
      return image ? to : kNoPart;
  }
  return kNoPart;
}

// Bytes of a layer's weights that tiles need which depend on part `in` of input 0, which
// are those of part `out`.
double WeightsOf(const Judge& judge, const Layer& layer, const Part& in,
                 const Part& out) {
  const Reach reach = RuleOf(layer).reach;
  const bool windows = reach == Reach::kWindows;
  if (!Has(layer, kProduct) || (!windows && reach != Reach::kRows)) return 0;
  const Graph& graph = judge.graph;
  const Tensor& weights = graph.tensors[layer.inputs[1]];
  if (out.of[3] != graph.tensors[layer.outputs[0]].extent[3]) return 0;
  int64_t taps = 1, all = 1;
  for (int a = 1; a <= 2 && windows; ++a) {
    const Slide s = SlideOf(graph, layer, a);
    taps *= TapsOf(s, out.of[a]);
    all *= s.filter;
  }
  int64_t elements = weights.bytes / weights.element_bytes / all * taps;
  if (!Has(layer, kChannelwise)) {
    elements = elements / graph.tensors[layer.inputs[0]].extent[3] * in.of[3];
  }
  return static_cast<double>(elements * weights.element_bytes);
}

// Marks of a tensor, for one layer `of`: the tensor depends on it; a layer that depends on
// it reads it; another layer reads it.
enum : uint8_t { kWaits = 1, kUsedByWaiting = 2, kUsedByOthers = 4 };

// A concatenation depends on `of` only if each of its inputs does: a reader may look at
// the other inputs alone.
bool Waits(Span<const uint8_t> marks, const Layer& layer) {
  size_t waiting = 0, inputs = 0;
  for (const uint32_t t : layer.inputs) {
    if (t == kNone) continue;
    ++inputs;
    waiting += (marks[t] & kWaits) != 0 ? 1 : 0;
  }
  return DeedOf(layer) == Deed::kConcat ? waiting == inputs : waiting > 0;
}

class Room {
 public:
  Room(const Judge& judge, const RoomOfAll& of) : judge_(judge), of_(of) {}

  Status Init() {
    SLUICE_TRY(judge_.arena->Allocate(judge_.graph.tensors.size(), &marks_));
    return judge_.arena->Allocate(judge_.graph.tensors.size(), &part_);
  }

  // Bytes that are loaded or stored for a layer and for layers that depend on it, and for
  // no others.
  double MovedBehind(uint32_t of);

  // Cycles of tiles that a layer's first one waits for.
  double CyclesBefore(uint32_t of) {
    Forget();
    const Layer& layer = judge_.graph.layers[of];
    AddNeeds(layer, kOne);
    const bool window = DeedOf(layer) == Deed::kConvolution;
    const bool sum = Has(layer, kProduct) || RuleOf(layer).windows == Windows::kErrors;
    for (const uint32_t t : layer.inputs) {
      if (t == kNone || !sum || Has(layer, kChannelwise) || part_[t].none()) continue;
      const Part all = part_[t];
      part_[t] = kOne;
      for (int a = 1; a <= 2 && window; ++a) part_[t].of[a] = all.of[a];
    }
    return CyclesOf(of);
  }

  // Cycles of tiles that make all of a tensor that somebody needs, for `of`.
  double CyclesUntil(uint32_t of, uint32_t tensor) {
    Forget();
    const Needed made = of_.needed.Made(judge_.graph, tensor);
    if (made.elements() == 0) return 0;
    for (int a = 0; a < kAxes; ++a) part_[tensor].of[a] = made.at[a].length();
    return CyclesOf(of);
  }

  // Bytes of weights that tiles need which depend on the last element of a tensor that
  // `of` reads. Marks are those of MovedBehind.
  double WeightsBehindLast(uint32_t of, uint32_t tensor);

 private:
  void Forget() {
    for (Part& part : part_) part = kNoPart;
  }
  void Need(uint32_t tensor, const Part& part) {
    if (judge_.graph.tensors[tensor].producer == kNone) return;
    if (part.elements() > part_[tensor].elements()) part_[tensor] = part;
  }
  void AddNeeds(const Layer& layer, const Part& made);
  double CyclesOf(uint32_t end);
  Part DependentOf(const Layer& layer, Part* in) const;

  const Judge& judge_;
  const RoomOfAll& of_;
  Span<uint8_t> marks_;  // by tensor
  Span<Part> part_;      // by tensor
};

double Room::MovedBehind(uint32_t of) {
  const Graph& graph = judge_.graph;
  for (uint8_t& mark : marks_) mark = 0;
  int64_t bytes = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    const Layer& layer = graph.layers[l];
    const bool waits = l == of || Waits(marks_, layer);
    const Deed deed = DeedOf(layer);
    for (const uint32_t t : layer.inputs) {
      if (t != kNone) marks_[t] |= waits ? kUsedByWaiting : kUsedByOthers;
    }
    if (!waits) continue;
    if (deed == Deed::kAppend) {
      bytes += graph.tensors[layer.inputs[1]].bytes;
      continue;
    }
    for (const uint32_t t : layer.outputs) {
      const Tensor& tensor = graph.tensors[t];
      marks_[t] |= kWaits;
      if (tensor.kind == TensorKind::kOutput &&
          (of_.needed.uses[t] & kHostMakes) == 0) {
        bytes += tensor.bytes;
      }
      if (deed == Deed::kGather && IsAble(judge_, layer)) {
        bytes += of_.needed.Made(graph, t).elements() * tensor.element_bytes;
      }
    }
  }
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const bool given =
        tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kConstant;
    const bool only = (marks_[t] & (kUsedByWaiting | kUsedByOthers)) == kUsedByWaiting;
    if (given && only) {
      bytes += of_.needed.on_chip[t].elements() * tensor.element_bytes;
    }
  }
  return static_cast<double>(bytes);
}

void Room::AddNeeds(const Layer& layer, const Part& made) {
  const Graph& graph = judge_.graph;
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const Deed deed = DeedOf(layer);
  if (WorkOf(layer) == Work::kView) {
    for (const uint32_t t : layer.inputs) {
      const Tensor& in = graph.tensors[t];
      Part need = made;
      if (deed == Deed::kReshape) need = Regroup(out.extent, in.extent, made);
      if (deed == Deed::kConcat) {
        const int axis = layer.attribute(SLUICE_CONCAT_AXIS);
        need.of[axis] = Max(need.of[axis] - (out.extent[axis] - in.extent[axis]), 0);
      }
      Need(t, need);
    }
    return;
  }
  const bool whole = IsWhole(made, out);
  // What a part of a gradient needs is not known.
  if (Has(layer, kNoParts) && !whole) return;
  Part box = made;
  if (Has(layer, kWholeRows)) box.of[3] = out.extent[3];
  TileNeeds low, high;
  NeedsOfBox(graph, layer, box.of, false, &low);
  NeedsOfBox(graph, layer, box.of, true, &high);
  if (low.wrong != nullptr || high.wrong != nullptr) return;
  // Between its ends a layer of these may need one row or column less.
  for (uint32_t i = 0; i < low.count; ++i) {
    Part need;
    for (int a = 0; a < kAxes; ++a) {
      const bool image = a == 1 || a == 2;
      const bool fewer = Has(layer, kVaries) && image && made.of[a] != out.extent[a];
      need.of[a] = static_cast<int32_t>(
          Min(low.need[i].extent[a], high.need[i].extent[a]) - (fewer ? 1 : 0));
    }
    Need(low.need[i].tensor, need);
  }
}

// Cycles of tiles of the layers in front of `end` that make what is needed.
double Room::CyclesOf(uint32_t end) {
  const Graph& graph = judge_.graph;
  double cycles = 0;
  for (uint32_t l = end; l-- > 0;) {
    const Layer& layer = graph.layers[l];
    const Work work = WorkOf(layer);
    if (work != Work::kView && !HasTiles(judge_, layer)) continue;
    const uint32_t t = layer.outputs[0];
    Part made = part_[t];
    if (made.none()) continue;
    if (Has(layer, kWholeRows)) made.of[3] = graph.tensors[t].extent[3];
    const double most = of_.layers[l].cycles;  // of all that the layer makes
    if (IsWhole(made, graph.tensors[t])) {
      cycles += most;
    } else if (work == Work::kTiles && DeedOf(layer) != Deed::kPad) {
      // A part of a PAD may lie among the pads.
      cycles += Min(CyclesOfBox(judge_, layer, made.of), most);
    }
    AddNeeds(layer, made);
  }
  return cycles;
}

// What depends on those parts of a layer's inputs that depend on the element. Of a
// concatenation all whose inputs do so whole: all.
Part Room::DependentOf(const Layer& layer, Part* in) const {
  Part most = kNoPart;
  bool all = DeedOf(layer) == Deed::kConcat;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const uint32_t t = layer.inputs[i];
    if (t == kNone) continue;
    const Part part = part_[t];
    if (i == 0) *in = part;
    all = all && IsWhole(part, judge_.graph.tensors[t]);
    if (part.none()) continue;
    const Part to = Dependent(judge_, layer, i, part);
    if (to.elements() > most.elements()) most = to;
  }
  return all ? WholeOf(judge_.graph.tensors[layer.outputs[0]]) : most;
}

double Room::WeightsBehindLast(uint32_t of, uint32_t tensor) {
  const Graph& graph = judge_.graph;
  Forget();
  part_[tensor] = kOne;
  double bytes = 0;
  for (uint32_t l = of; l < graph.layers.size(); ++l) {
    const Layer& layer = graph.layers[l];
    if (l != of && !Waits(marks_, layer)) continue;
    Part in = kNoPart;
    const Part out = DependentOf(layer, &in);
    if (l == of) part_[tensor] = kNoPart;  // other layers may not need the element
    if (out.none()) continue;
    part_[layer.outputs[0]] = out;
    if (layer.input(1) == kNone) continue;
    const uint32_t weights = layer.inputs[1];
    if (graph.tensors[weights].kind != TensorKind::kConstant) continue;
    if ((marks_[weights] & kUsedByOthers) != 0) continue;
    marks_[weights] |= kUsedByOthers;  // counts once
    const double most = static_cast<double>(of_.needed.on_chip[weights].elements()) *
                        graph.tensors[weights].element_bytes;
    bytes += Min(WeightsOf(judge_, layer, in, out), most);
  }
  return bytes;
}

}  // namespace

Status LeastByRoom(const Judge& judge, const RoomOfAll& of, double* least) {
  const Graph& graph = judge.graph;
  ArenaScope scope(judge.arena);
  Room room(judge, of);
  SLUICE_TRY(room.Init());
  if (!AllAlike(judge)) return Status::kOk;
  const auto cycles = [&](double tiles, double bytes) {
    const double port = CyclesAt(judge.hardware.dram().bandwidth, bytes);
    return of.first + Up(tiles, NodesOf(judge.hardware)) + port;
  };
  // What a layer gives is no more than if its first tile waited for all tiles of layers in
  // front of it, and all bytes from it on for that tile. What may give most is looked at
  // first: mostly the others are not needed then.
  Span<double> promise;
  SLUICE_TRY(judge.arena->Allocate(graph.layers.size(), &promise));
  double tiles = 0, left = -of.fits;  // of layers in front of one; bytes from one on
  for (const LeastOfLayer& layer : of.layers) {
    left += layer.constants + layer.loaded + layer.stored;
  }
  for (size_t l = 0; l < promise.size(); ++l) {
    const LeastOfLayer& layer = of.layers[l];
    if (left > 0 && layer.cycles > 0) promise[l] = cycles(tiles, left);
    tiles += layer.cycles;
    left -= layer.constants + layer.loaded + layer.stored;
  }
  while (*least < of.enough) {
    if (judge.arena->memory()->Stop()) return Status::kStopped;
    uint32_t at = 0;
    for (uint32_t l = 1; l < promise.size(); ++l) {
      if (promise[l] > promise[at]) at = l;
    }
    if (promise[at] == 0) break;
    promise[at] = 0;
    const double behind = room.MovedBehind(at) - of.fits;
    if (behind > 0) *least = Max(*least, cycles(room.CyclesBefore(at), behind));
    for (const uint32_t t : graph.layers[at].inputs) {
      if (t == kNone || graph.tensors[t].producer == kNone) continue;
      const double weights = room.WeightsBehindLast(at, t) - of.fits;
      if (weights > 0) *least = Max(*least, cycles(room.CyclesUntil(at, t), weights));
      break;
    }
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
