// SPDX-License-Identifier: Apache-2.0
#include "verify/needed.h"

#include "base/checked.h"
#include "base/gcd.h"
#include "verify/ability.h"
#include "verify/bound.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

constexpr Places kNowhere = {0, 1, 0, 0, nullptr};

bool Leaves(const Tensor& t) {
  return t.kind == TensorKind::kOutput || t.kind == TensorKind::kState;
}

int64_t Count(const Needed& n) {
  return int64_t{n.at[0].many} * n.at[1].many * n.at[2].many * n.at[3].many;
}

// Those of first, first + step, ... that lie in [0, end). In several places of a cold source: as
// functions, these take fewer bytes.
__attribute__((noinline)) Places Within(int64_t first, int64_t step, int64_t end) {
  if (first < 0) first += CeilDivide(-first, step) * step;
  if (first >= end) return kNowhere;
  const int32_t count = static_cast<int32_t>((end - 1 - first) / step + 1);
  return {static_cast<int32_t>(first), static_cast<int32_t>(step), count, count,
          nullptr};
}

// Axes with gaps are marked place by place up to this length. Of longer ones all between the
// first and the last place counts as needed.
constexpr int32_t kMostMarked = 1 << 12;

using Marks = Span<uint64_t>;

uint64_t Bit(int64_t i) { return uint64_t{1} << (i % 64); }

// Marks a place that there is.
void Mark(int64_t place, Marks marks) {
  const uint64_t word = static_cast<uint64_t>(place) / 64;
  if (place >= 0 && word < marks.size()) marks[word] |= Bit(place);
}

// The places of an axis one after the other.
struct Each {
  const Places& at;
  int64_t place = -1;

  bool Next() {
    do {
      place = place < 0 ? at.first : place + at.step;
    } while (at.marks != nullptr && place < at.end() &&
             (at.marks[place / 64] & Bit(place)) == 0);
    return place < at.end();
  }
};

void MarkAll(const Places& at, int64_t by, Marks marks) {
  for (Each i{at}; i.Next();) Mark(i.place + by, marks);
}

// The marked places.
__attribute__((noinline)) Places Take(Marks marks) {
  int64_t first = -1, last = 0, step = 0;
  int32_t count = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(marks.size()) * 64; ++i) {
    if ((marks[static_cast<size_t>(i / 64)] & Bit(i)) == 0) continue;
    if (count++ == 0) first = last = i;
    step = Gcd(step, i - last);
    last = i;
  }
  if (count == 0) return kNowhere;
  const Places even = Within(first, Max<int64_t>(step, 1), last + 1);
  if (even.count == count) return even;
  Places at = Within(first, 1, last + 1);
  at.many = count;
  at.marks = marks.data();
  return at;
}

Status AllocateMarks(const Judge& judge, int64_t extent, Marks* marks) {
  return judge.arena->Allocate(static_cast<size_t>(extent / 64 + 1), marks);
}

// Adds places of an axis of so many. Marks of `to` are no other set's.
Status Unite(const Judge& judge, const Places& more, int64_t extent, Places* to) {
  if (to->count == 0 && more.marks == nullptr) {
    *to = more;
    return Status::kOk;
  }
  const int64_t first = Min(to->first, more.first), end = Max(to->end(), more.end());
  const bool known = to->known() && more.known();
  const bool plain = to->marks == nullptr && more.marks == nullptr;
  const bool fit = to->step == more.step && (to->first - more.first) % more.step == 0;
  const bool touch =
      fit && Max(to->first, more.first) < Min(to->end(), more.end()) + more.step;
  if (known && extent <= kMostMarked && !(plain && touch)) {
    Marks marks = {to->marks, static_cast<size_t>(extent / 64 + 1)};
    if (to->marks == nullptr) {
      SLUICE_TRY(AllocateMarks(judge, extent, &marks));
      MarkAll(*to, 0, marks);
    }
    MarkAll(more, 0, marks);
    *to = Take(marks);
    return Status::kOk;
  }
  const int64_t many = int64_t{to->many} + more.many;
  *to = Within(first, fit ? more.step : 1, end);
  if (!known || !touch) to->many = static_cast<int32_t>(Min<int64_t>(many, to->many));
  return Status::kOk;
}

Status Add(const Judge& judge, uint32_t tensor, const Needed& more, Span<Needed> all) {
  const int64_t elements = more.elements();
  if (elements == 0) return Status::kOk;
  Needed* to = &all[tensor];
  for (int a = 0; a < kAxes; ++a) {
    SLUICE_TRY(
        Unite(judge, more.at[a], judge.graph.tensors[tensor].extent[a], &to->at[a]));
  }
  to->most = Min(to->most + elements, int64_t{1} << 60);
  return Status::kOk;
}

// Moves the places of an axis, and leaves out those that then lie outside [0, extent).
__attribute__((noinline)) Status Move(const Judge& judge, int64_t by, int64_t extent,
                                      Places* at) {
  if (at->marks != nullptr) {
    Marks marks;
    SLUICE_TRY(AllocateMarks(judge, extent, &marks));
    MarkAll(*at, by, marks);
    *at = Take(marks);
    return Status::kOk;
  }
  const int32_t many = at->many;
  *at = Within(at->first + by, at->step, Min<int64_t>(at->end() + by, extent));
  at->many = Min(many, at->many);
  return Status::kOk;
}

// Of a reshape: axes that both sides have, and as many elements. Others are taken whole.
void Reshaped(const int32_t* from, const int32_t* to, const Needed& part,
              Needed* need) {
  need->most = part.elements();
  for (AxisGroup g; g.Next(from, to);) {
    const bool alone = g.from_end - g.from == 1 && g.to_end - g.to == 1;
    for (int a = g.to; a < g.to_end; ++a) {
      need->at[a] = alone ? part.at[g.from] : Within(0, 1, to[a]);
    }
  }
}

Status AddView(const Judge& judge, const Layer& layer, const Needed& made,
               Span<Needed> to) {
  if (made.elements() == 0) return Status::kOk;
  const Graph& graph = judge.graph;
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const Deed deed = DeedOf(layer);
  const int joined =
      deed == Deed::kConcat ? layer.attribute(SLUICE_CONCAT_AXIS) : kAxes;
  int64_t before = 0;  // of a concatenation: extents of the inputs in front
  for (const uint32_t t : layer.inputs) {
    const int32_t* in = graph.tensors[t].extent;
    Needed need = made;
    if (deed == Deed::kReshape) Reshaped(out.extent, in, made, &need);
    for (int a = 0; a < kAxes && deed != Deed::kReshape; ++a) {
      const int64_t cut = layer.attribute(static_cast<size_t>(a));
      const int64_t by = a == joined ? -before : joined == kAxes ? cut : 0;
      if (a == joined) before += in[a];
      SLUICE_TRY(Move(judge, by, in[a], &need.at[a]));
    }
    SLUICE_TRY(Add(judge, t, need, to));
  }
  return Status::kOk;
}

// Input 1 is read like input 0.
bool HasTwoAlike(const Layer& layer) {
  return RuleOf(layer).reach == Reach::kPlaces && !Has(layer, kPlainSecond);
}

bool HasWindows(const Layer& layer) { return RuleOf(layer).reach == Reach::kWindows; }

bool HasErrors(const Layer& layer) { return RuleOf(layer).windows == Windows::kErrors; }

// Elements of an input go to several of the output.
bool Scatters(const Layer& layer) {
  return Has(layer, kVaries) && RuleOf(layer).reach == Reach::kNothing;
}

// Rows or columns under so many windows, however they lie.
int64_t Under(const Slide& s, int64_t windows) {
  return Min((windows - 1) * s.stride + (s.filter - 1) * s.apart + 1,
             windows * s.filter);
}

// Rows or columns of an input that the price of a tile of that extent counts, wherever the tile
// lies.
int64_t PricedAlong(const Graph& graph, const Layer& layer, uint32_t input, int axis,
                    int64_t extent, const Need& need) {
  const int64_t in = graph.tensors[need.tensor].extent[axis];
  const int64_t first = graph.tensors[layer.inputs[0]].extent[axis];
  if (input == 0 && DeedOf(layer) == Deed::kPad) return Min(extent, in);
  if (input == 0 && RuleOf(layer).reach == Reach::kScale) {
    const int64_t whole = graph.tensors[layer.outputs[0]].extent[axis];
    return Min(CeilDivide(extent * in, whole) + 1, Min(in, 2 * extent));
  }
  const bool scatters = Scatters(layer);
  if (scatters || (input == 0 && HasWindows(layer))) {
    const Slide s = SlideOf(graph, layer, axis);
    const int64_t reached = Min((extent + s.filter - 2) / s.stride + 1, first);
    if (!scatters) return Min(Under(s, extent), in);
    if (input == 0) return reached;
    if (DeedOf(layer) == Deed::kPoolGradient) return Min(Under(s, reached), in);
  }
  return need.extent[axis];
}

struct Part {
  int64_t origin[kAxes], length[kAxes];
};

// Rows or columns under one window, which may leave out rows between its taps.
void MarkWindow(const Slide& s, int64_t window, Marks marks) {
  for (int64_t tap = 0; tap < s.filter; ++tap) {
    const int64_t place = window * s.stride - s.before + tap * s.apart;
    if (place < s.in) Mark(place, marks);
  }
}

// Whether rows or columns of the output next to each other may leave out some of an input.
bool LeaveOut(const Graph& graph, const Layer& layer, int axis) {
  if (RuleOf(layer).reach == Reach::kScale) {
    return ResizeStep(layer, graph.tensors[layer.inputs[0]].extent[axis],
                      graph.tensors[layer.outputs[0]].extent[axis]) > kTwoRows;
  }
  if (!HasWindows(layer) && !Scatters(layer)) return false;
  const Slide s = SlideOf(graph, layer, axis);
  return s.stride > (s.filter - 1) * s.apart + 1 || (s.apart > 1 && s.filter > 1);
}

// The axis of an input along which one place of the output reads less than all of them
// together; kAxes: none.
int Differs(const Need& one, const Need& all) {
  int a = 0;
  while (a < kAxes && one.origin[a] == all.origin[a] &&
         one.extent[a] == all.extent[a]) {
    ++a;
  }
  return a;
}

// What the places of a part along an axis read one by one, where that is less than all between
// the first and the last.
Status Follow(const Judge& judge, const Layer& layer, int axis, const Places& at,
              Part part, Reads* reads) {
  const bool rows = axis == 1 || axis == 2;
  const bool gaps = at.many != at.length();
  if (!gaps && !(rows && LeaveOut(judge.graph, layer, axis))) return Status::kOk;
  if (!at.known() || at.many > kMostMarked) return Status::kOk;
  const bool windows = rows && HasWindows(layer), scatters = rows && Scatters(layer);
  const Slide s = windows || scatters ? SlideOf(judge.graph, layer, axis) : Slide{};
  TileNeeds one,
      all;  // what a place reads, and all of them together as one box of each input
  NeedsOfPart(judge.graph, layer, part.origin, part.length, &all);
  part.length[axis] = 1;
  const bool sure = windows || scatters || DeedOf(layer) == Deed::kPad;
  for (uint32_t n = 0; n < reads->tile.count; ++n) {
    part.origin[axis] = at.first;
    NeedsOfPart(judge.graph, layer, part.origin, part.length, &one);
    // If the first place reads as much as all together, there is nothing to follow.
    const int to = n == 0 && sure ? axis : Differs(one.need[n], all.need[n]);
    if (to == kAxes) continue;
    const int32_t extent = judge.graph.tensors[reads->tile.need[n].tensor].extent[to];
    if (extent > kMostMarked) continue;
    if (judge.arena->memory()->Stop()) return Status::kStopped;
    Marks marks;
    SLUICE_TRY(AllocateMarks(judge, extent, &marks));
    for (Each i{at}; i.Next();) {
      if (n == 0 && windows) {
        MarkWindow(s, i.place, marks);
        continue;
      }
      part.origin[axis] = i.place;
      NeedsOfPart(judge.graph, layer, part.origin, part.length, &one);
      // A row of a PAD that lies among its pads reads nothing, and a tile reads a row of errors
      // even if none reaches it.
      const int64_t from = one.need[0].origin[axis] * s.stride - s.before;
      const bool missed = scatters && from + (s.filter - 1) * s.apart < i.place;
      if (one.wrong != nullptr || missed) continue;
      for (int64_t j = 0; j < one.need[n].extent[to]; ++j) {
        Mark(one.need[n].origin[to] + j, marks);
      }
    }
    reads->input[n].at[to] = Take(marks);
  }
  return Status::kOk;
}

// A gradient of weights reads rows under the windows of all errors.
__attribute__((noinline)) Status FollowErrors(const Judge& judge, const Layer& layer,
                                              int axis, Reads* reads) {
  const Slide s = SlideOf(judge.graph, layer, axis);
  if (s.in > kMostMarked) return Status::kOk;
  Marks marks;
  SLUICE_TRY(AllocateMarks(judge, s.in, &marks));
  const int32_t errors = judge.graph.tensors[layer.inputs[1]].extent[axis];
  for (int32_t e = 0; e < errors; ++e) MarkWindow(s, e, marks);
  reads->input[0].at[axis] = Take(marks);
  return Status::kOk;
}

// The work of a pool's gradient. A tile reads errors also where none reaches what it makes.
void FindWork(const Graph& graph, const Layer& layer, Reads* reads) {
  reads->tile.work = SlideOf(graph, layer, 1).filter * SlideOf(graph, layer, 2).filter;
  for (const Places& at : reads->input[0].at) {
    reads->tile.work *= Max<int64_t>(at.many, 1);
  }
}

}  // namespace

double PricedBytes(const Graph& graph, const Layer& layer, const TileNeeds& tile,
                   const int64_t* extent) {
  double all = 0;
  for (uint32_t i = 0; i < tile.count; ++i) {
    const Need& need = tile.need[i];
    const Tensor& in = graph.tensors[need.tensor];
    double bytes = in.element_bytes;
    for (int a = 0; a < kAxes; ++a) {
      const bool placed = a == 1 || a == 2;
      bytes *= static_cast<double>(
          placed ? PricedAlong(graph, layer, i, a, extent[a], need) : need.extent[a]);
    }
    all += bytes;
  }
  return all;
}

bool AxisGroup::Next(const int32_t* extents, const int32_t* others) {
  from_end = from;
  to_end = to;
  if (from == 0 && to == 0) return false;
  int64_t left = 1, right = 1;
  do {
    const bool more = from > 0 && (left <= right || to == 0);
    if (more) left *= extents[--from];
    if (!more) right *= others[--to];
  } while (left != right || (from == 0) != (to == 0));
  return true;
}

int64_t Needed::elements() const { return Min(Count(*this), most); }

Needed AllOf(const Tensor& tensor) {
  Needed all;
  for (int a = 0; a < kAxes; ++a) {
    all.at[a] = Within(0, 1, tensor.extent[a]);
  }
  all.most = Count(all);
  return all;
}

Slide SlideOf(const Graph& graph, const Layer& layer, int axis) {
  const size_t a = static_cast<size_t>(axis) - 1;
  const bool pool = RuleOf(layer).windows == Windows::kPool;
  const auto attribute = [&](size_t of_pool, size_t of_filters) {
    return Max<int64_t>(layer.attribute((pool ? of_pool : of_filters) + a), 1);
  };
  Slide s;
  s.stride = attribute(SLUICE_POOL_STRIDE_H, SLUICE_CONV_STRIDE_H);
  s.apart = pool ? 1 : attribute(SLUICE_CONV_DILATION_H, SLUICE_CONV_DILATION_H);
  constexpr size_t kPoolPad = SLUICE_POOL_PAD_TOP, kPad = SLUICE_CONV_PAD_TOP;
  s.before = layer.attribute((pool ? kPoolPad : kPad) + a);
  s.in = graph.tensors[layer.inputs[0]].extent[axis];
  s.out = graph.tensors[layer.outputs[0]].extent[axis];
  const bool errors = RuleOf(layer).windows == Windows::kErrors;
  s.filter = pool     ? attribute(SLUICE_POOL_WINDOW_H, SLUICE_POOL_WINDOW_H)
             : errors ? s.out
                      : graph.tensors[layer.inputs[1]].extent[axis];
  return s;
}

bool TakesPads(const Graph& graph, const Layer& layer) {
  if (!Has(layer, kTakesPads)) return false;
  const Tensor& padded = graph.tensors[layer.inputs[0]];
  if (padded.producer == kNone) return false;
  const Layer& pad = graph.layers[padded.producer];
  if (DeedOf(pad) != Deed::kPad ||
      pad.attribute(SLUICE_PAD_VALUE) != layer.attribute(SLUICE_CONV_INPUT_ZERO)) {
    return false;
  }
  const Tensor& inner = graph.tensors[pad.inputs[0]];
  // The PAD may read a state before its append, and the layer after it.
  if (inner.kind == TensorKind::kState && inner.producer != kNone) return false;
  bool pads = false;
  for (size_t a = 0; a < kAxes; ++a) {
    int64_t before = pad.attribute(a), reach = 0;
    int64_t after = int64_t{padded.extent[a]} - inner.extent[a] - before;
    pads |= before + after != 0;
    if (a == 1 || a == 2) {
      const Slide s = SlideOf(graph, layer, static_cast<int>(a));
      reach = (s.filter - 1) * s.apart;
      before += s.before;
      after += layer.attribute(SLUICE_CONV_PAD_BOTTOM + a - 1);
    }
    if (before > reach || after > reach) return false;  // a tile in padding alone
  }
  return pads && padded.kind == TensorKind::kIntermediate;
}

bool HostDoes(const Judge& judge, Span<const uint8_t> uses, const Layer& layer) {
  if (WorkOf(layer) == Work::kHost) return true;
  if (IsAble(judge, layer)) return false;
  return DeedOf(layer) != Deed::kPad ||
         (uses[layer.outputs[0]] & (kTaken | kKept)) != kTaken;
}

Status FindReads(const Judge& judge, const Layer& layer, const Needed& made,
                 Reads* reads) {
  const Graph& graph = judge.graph;
  const Tensor& out = graph.tensors[layer.outputs[0]];
  TileNeeds hull;
  Part part;
  bool gaps = false, whole[kAxes];
  for (int a = 0; a < kAxes; ++a) {
    // Tiles of gradients of weights have all taps.
    whole[a] =
        (a == 3 && Has(layer, kWholeRows)) || ((a == 1 || a == 2) && HasErrors(layer));
    part.origin[a] = whole[a] ? 0 : made.at[a].first;
    part.length[a] = whole[a] ? out.extent[a] : made.at[a].length();
    reads->extent[a] = whole[a] ? out.extent[a] : made.at[a].many;
    gaps |= reads->extent[a] != part.length[a];
  }
  NeedsOfPart(graph, layer, part.origin, part.length, &hull);
  reads->tile = hull;
  // A part of a PAD's output may lie in padding alone. It is made as part of a tile that does read,
  // which takes no less than one of its extents.
  const bool pads = DeedOf(layer) == Deed::kPad;
  int64_t origin[kAxes];
  for (size_t a = 0; a < kAxes; ++a) {
    origin[a] = pads ? layer.attribute(a) : part.origin[a];
  }
  if (gaps || pads) NeedsOfPart(graph, layer, origin, reads->extent, &reads->tile);
  if (pads && hull.wrong != nullptr) {
    reads->input[0] = Needed{};
    return Status::kOk;
  }
  const bool followed = hull.wrong == nullptr && (reads->tile.wrong == nullptr || pads);
  // Else each input counts whole, as does the layer.
  if (!followed) {
    for (int a = 0; a < kAxes; ++a) reads->extent[a] = out.extent[a];
    NeedsOfLayer(graph, layer, &reads->tile);
    hull = reads->tile;
  }
  for (uint32_t i = 0; i < reads->tile.count; ++i) {
    Needed* input = &reads->input[i];
    for (int a = 0; a < kAxes; ++a) {
      const int64_t first = hull.need[i].origin[a];
      input->at[a] = Within(first, 1, first + hull.need[i].extent[a]);
    }
  }
  for (int a = 0; a < kAxes && followed; ++a) {
    if (!whole[a]) SLUICE_TRY(Follow(judge, layer, a, made.at[a], part, reads));
  }
  for (int a = 1; a <= 2 && HasErrors(layer); ++a) {
    SLUICE_TRY(FollowErrors(judge, layer, a, reads));
  }
  for (uint32_t i = 0; i < reads->tile.count; ++i) {
    reads->input[i].most = Count(reads->input[i]);
  }
  if (Has(layer, kKeepsPlaces) && !Has(layer, kWholeRows)) {
    reads->input[0].most = Min(reads->input[0].most, made.most);
  }
  if (DeedOf(layer) == Deed::kPoolGradient) FindWork(graph, layer, reads);
  return Status::kOk;
}

Needed NeededOfAll::Made(const Graph& graph, uint32_t tensor) const {
  const Needed all = AllOf(graph.tensors[tensor]);
  const bool whole = host[tensor].elements() == all.most;
  if (whole || Leaves(graph.tensors[tensor])) return all;
  return on_chip[tensor].most == 0 ? host[tensor] : on_chip[tensor];
}

bool NeededOfAll::MayBeTaken(const Graph& graph, uint32_t tensor) const {
  return (uses[tensor] & kTaken) != 0 && host[tensor].most == 0 &&
         !Leaves(graph.tensors[tensor]);
}

Status FindNeeded(const Judge& judge, Span<const uint8_t> uses, NeededOfAll* of_all) {
  const Graph& graph = judge.graph;
  of_all->uses = uses;
  SLUICE_TRY(judge.arena->Allocate(graph.tensors.size(), &of_all->on_chip));
  SLUICE_TRY(judge.arena->Allocate(graph.tensors.size(), &of_all->host));
  const Span<Needed> on_chip = of_all->on_chip, host = of_all->host;
  for (size_t l = graph.layers.size(); l-- > 0;) {
    if (l % 16 == 0 && judge.arena->memory()->Stop()) return Status::kStopped;
    const Layer& layer = graph.layers[l];
    const Work work = WorkOf(layer);
    const uint32_t out = layer.outputs[0];
    if (HostDoes(judge, uses, layer)) {
      for (const uint32_t t : layer.inputs) {
        if (t != kNone) SLUICE_TRY(Add(judge, t, AllOf(graph.tensors[t]), host));
      }
      continue;
    }
    const bool view = work == Work::kView;
    const bool within = view && !Leaves(graph.tensors[out]);
    const Needed made = within ? on_chip[out] : of_all->Made(graph, out);
    if (view) SLUICE_TRY(AddView(judge, layer, host[out], host));
    if (made.elements() == 0) continue;
    if (work == Work::kGather || work == Work::kAppend) {
      const uint32_t rows = layer.inputs[1];
      SLUICE_TRY(Add(judge, rows, AllOf(graph.tensors[rows]), on_chip));
    } else if (view) {
      SLUICE_TRY(AddView(judge, layer, made, on_chip));
    } else {
      Reads reads;
      SLUICE_TRY(FindReads(judge, layer, made, &reads));
      for (uint32_t i = 0; i < reads.tile.count; ++i) {
        const uint32_t t = reads.tile.need[i].tensor;
        // A tensor that is read twice, at the same places.
        if (i == 1 && t == reads.tile.need[0].tensor && HasTwoAlike(layer)) continue;
        SLUICE_TRY(Add(judge, t, reads.input[i], on_chip));
      }
    }
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
