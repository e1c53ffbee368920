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

constexpr Places kNowhere = {0, 1, 0};

bool Leaves(const Tensor& t) {
  return t.kind == TensorKind::kOutput || t.kind == TensorKind::kState;
}

int64_t Count(const Needed& n) {
  return int64_t{n.many[0]} * n.many[1] * n.many[2] * n.many[3];
}

// Those of first, first + step, ... that lie in [begin, end), counted from `begin`.
Places Within(int64_t first, int64_t step, int64_t begin, int64_t end) {
  if (first < begin) first += CeilDivide(begin - first, step) * step;
  if (first >= end) return kNowhere;
  return {static_cast<int32_t>(first - begin), static_cast<int32_t>(step),
          static_cast<int32_t>((end - 1 - first) / step + 1)};
}

// Places that have those of both.
Places Both(const Places& a, const Places& b) {
  const int32_t first = Min(a.first, b.first);
  const int32_t end = Max(a.first + a.length(), b.first + b.length());
  const bool fit = a.step == b.step && (a.first - b.first) % a.step == 0;
  return Within(first, fit ? a.step : 1, 0, end);
}

void Add(const Needed& more, Needed* to) {
  const int64_t elements = more.elements();
  if (elements == 0) return;
  const bool begins = to->most == 0;
  for (int a = 0; a < kAxes; ++a) {
    to->at[a] = begins ? more.at[a] : Both(to->at[a], more.at[a]);
    const int64_t many = int64_t{more.many[a]} + (begins ? 0 : to->many[a]);
    to->many[a] = static_cast<int32_t>(Min<int64_t>(many, to->at[a].count));
  }
  to->most = Min(to->most + elements, int64_t{1} << 60);
}

// Of a reshape: axes that both sides have, and as many elements. Others are taken whole.
void Reshaped(const int32_t* from, const int32_t* to, const Needed& part,
              Needed* need) {
  need->most = part.elements();
  for (AxisGroup g; g.Next(from, to);) {
    const bool alone = g.from_end - g.from == 1 && g.to_end - g.to == 1;
    for (int a = g.to; a < g.to_end; ++a) {
      need->at[a] = alone ? part.at[g.from] : Places{0, 1, to[a]};
      need->many[a] = alone ? part.many[g.from] : to[a];
    }
  }
}

void AddView(const Graph& graph, const Layer& layer, const Needed& made,
             Span<Needed> to) {
  if (made.elements() == 0) return;
  const Tensor& out = graph.tensors[layer.outputs[0]];
  int64_t before = 0;  // of a concatenation: extents of the inputs in front
  for (const uint32_t t : layer.inputs) {
    const Tensor& in = graph.tensors[t];
    Needed need = made;
    const Deed deed = DeedOf(layer);
    if (deed == Deed::kReshape) Reshaped(out.extent, in.extent, made, &need);
    for (int a = 0; a < kAxes && deed == Deed::kSlice; ++a) {
      need.at[a].first += layer.attribute(static_cast<size_t>(a));
    }
    if (deed == Deed::kConcat) {
      const int axis = layer.attribute(SLUICE_CONCAT_AXIS);
      const Places& at = made.at[axis];
      const int64_t end =
          Min<int64_t>(before + in.extent[axis], at.first + at.length());
      need.at[axis] = Within(at.first, at.step, before, end);
      need.many[axis] = Min(need.many[axis], need.at[axis].count);
      before += in.extent[axis];
    }
    Add(need, &to[t]);
  }
}

Places Row(const Need& need, int axis) {
  return {static_cast<int32_t>(need.origin[axis]), 1,
          static_cast<int32_t>(need.extent[axis])};
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

// Strips of rows or columns of an input, so many of them, `step` apart.
struct Strips {
  int64_t first, step, count, length;
  int64_t apart = 1;         // of those in a strip that are read
  int64_t taps = INT32_MAX;  // as many are read of a strip at most
};

// What the strips have in [0, in); false, and nothing is said, where that is nothing.
bool Take(const Strips& s, int64_t in, int axis, int32_t made, Needed* input) {
  int64_t from = s.first, count = s.count;
  if (from + s.length <= 0) {
    const int64_t out = CeilDivide(1 - s.length - from, s.step);
    from += out * s.step;
    count -= out;
  }
  count = Min(count, CeilDivide(in - from, s.step));
  if (count <= 0 || from >= in) return false;
  const int64_t last = from + (count - 1) * s.step, end = Min(last + s.length, in);
  const int64_t each = Gcd<int64_t>(count > 1 ? s.step : 0, s.length > 1 ? s.apart : 0);
  input->at[axis] = Within(from, Max<int64_t>(each, 1), 0, end);
  int64_t many = input->at[axis].count;
  // Strips with gaps between them; the first and the last may be cut.
  if (s.step > s.length) {
    many =
        Min(many, count * s.length - Max<int64_t>(-from, 0) - (last + s.length - end));
  }
  many = Min(many, made * Min(s.length, s.taps));
  input->many[axis] = static_cast<int32_t>(many);
  return true;
}

// Rows (axis 1) or columns (2) of a part are followed one by one where what they read is no
// row of strips; of more than so many of them, only what these read is known to be read.
constexpr int32_t kMostWalked = 256;

void Walk(const Graph& graph, const Layer& layer, int axis, const Needed& made,
          Part part, Reads* reads) {
  const Places& at = made.at[axis];
  const uint32_t count = reads->tile.count;
  int64_t end[5] = {}, longest[5] = {};
  part.length[axis] = 1;
  for (uint32_t n = 0; n < count; ++n) reads->input[n].many[axis] = 0;
  for (int32_t i = 0; i < Min(at.count, kMostWalked); ++i) {
    part.origin[axis] = at.first + int64_t{i} * at.step;
    TileNeeds one;
    NeedsOfPart(graph, layer, part.origin, part.length, &one);
    if (Scatters(layer)) {
      // A tile reads a row of errors even if none reaches it.
      const Slide s = SlideOf(graph, layer, axis);
      const int64_t reach = one.need[0].origin[axis] * s.stride - s.before;
      if (reach + (s.filter - 1) * s.apart < part.origin[axis]) continue;
    }
    for (uint32_t n = 0; n < count; ++n) {
      const int64_t begin = one.need[n].origin[axis], length = one.need[n].extent[axis];
      Needed* input = &reads->input[n];
      if (input->many[axis] == 0) input->at[axis].first = static_cast<int32_t>(begin);
      const int64_t more = begin + length - Max(begin, end[n]);
      input->many[axis] += static_cast<int32_t>(Max<int64_t>(more, 0));
      end[n] = Max(end[n], begin + length);
      longest[n] = Max(longest[n], length);
    }
  }
  for (uint32_t n = 0; n < count; ++n) {
    Needed* input = &reads->input[n];
    if (input->many[axis] == 0) continue;
    input->at[axis].count = static_cast<int32_t>(end[n] - input->at[axis].first);
    input->many[axis] = static_cast<int32_t>(
        Min<int64_t>(input->many[axis], made.many[axis] * longest[n]));
  }
}

// Whether rows or columns of a part leave none out between those that they read together.
bool LeaveNoneOut(const Graph& graph, const Layer& layer, int axis,
                  const Places& made) {
  if (made.count == 1) return true;
  if (Scatters(layer)) {
    const Slide s = SlideOf(graph, layer, axis);
    return made.step <= (s.filter - 1) * s.apart + 1;
  }
  return RuleOf(layer).reach != Reach::kScale ||
         ResizeStep(layer, graph.tensors[layer.inputs[0]].extent[axis],
                    graph.tensors[layer.outputs[0]].extent[axis]) *
                 made.step <=
             kTwoRows;
}

// Whether rows or columns of the output read of input `n` those at their places alone, if
// there are as many.
bool IsAtItsPlace(const Layer& layer, uint32_t n, int axis) {
  const Reach reach = RuleOf(layer).reach;
  if (reach == Reach::kPlaces) return n == 0 || HasTwoAlike(layer);
  if (reach == Reach::kRows) return n == 0 || DeedOf(layer) == Deed::kSoftmax;
  return reach == Reach::kProducts && (n == 0 || axis == 1);
}

// What the rows (axis 1) or columns (2) of a part read, where that is less than all between
// the first and the last.
void Follow(const Graph& graph, const Layer& layer, int axis, const Needed& made,
            const Part& part, Reads* reads) {
  const Places& at = made.at[axis];
  const bool whole = at.step == 1 && made.many[axis] == at.count;
  if (whole && IsAtItsPlace(layer, 0, axis)) return;
  if (!LeaveNoneOut(graph, layer, axis, at)) {
    return Walk(graph, layer, axis, made, part, reads);
  }
  for (uint32_t n = 0; n < reads->tile.count; ++n) {
    Needed* input = &reads->input[n];
    const Places hull = input->at[axis];
    Strips s = {hull.first, 1, hull.count, 1};
    const bool windows = HasWindows(layer),
               gradient = DeedOf(layer) == Deed::kPoolGradient;
    if (n == 0 ? windows : n == 1 && gradient) {
      const Slide slide = SlideOf(graph, layer, axis);
      // A gradient reads what the windows of its errors do.
      const Places over = gradient ? reads->input[0].at[axis] : at;
      s = {over.first * slide.stride - slide.before,
           over.step * slide.stride,
           over.count,
           (slide.filter - 1) * slide.apart + 1,
           slide.apart,
           slide.filter};
    } else if (DeedOf(layer) == Deed::kPad) {
      s = {at.first - int64_t{layer.attribute(static_cast<size_t>(axis))}, at.step,
           at.count, 1};
    } else if (IsAtItsPlace(layer, n, axis) && hull.first == at.first &&
               hull.count == at.length()) {
      s = {at.first, at.step, at.count, 1};
    } else {
      continue;
    }
    const int32_t rows =
        n == 1 && gradient ? reads->input[0].many[axis] : made.many[axis];
    const int64_t in = graph.tensors[reads->tile.need[n].tensor].extent[axis];
    const bool any = Take(s, in, axis, rows, input);
    // Rows that all lie among the pads, on both sides of what is padded, read nothing.
    if (!any && DeedOf(layer) == Deed::kPad) input->many[axis] = 0;
  }
}

// A part of a PAD's output that lies in padding alone reads nothing that is known. It is made
// as part of a tile that does read, which takes no less than one of its extents.
void FindReadsOfPads(const Graph& graph, const Layer& layer, Part part, Reads* reads) {
  for (size_t a = 0; a < kAxes; ++a) part.origin[a] = layer.attribute(a);
  NeedsOfPart(graph, layer, part.origin, reads->extent, &reads->tile);
  reads->input[0] = Needed{};
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
    all.at[a] = {0, 1, tensor.extent[a]};
    all.many[a] = tensor.extent[a];
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

void FindReads(const Graph& graph, const Layer& layer, const Needed& made,
               Reads* reads) {
  const Tensor& out = graph.tensors[layer.outputs[0]];
  Part part;
  bool gaps = false;
  for (int a = 0; a < kAxes; ++a) {
    // Tiles of gradients of weights have all taps.
    const bool rows =
        (a == 3 && Has(layer, kWholeRows)) || ((a == 1 || a == 2) && HasErrors(layer));
    part.origin[a] = rows ? 0 : made.at[a].first;
    part.length[a] = rows ? out.extent[a] : made.at[a].length();
    reads->extent[a] = rows ? out.extent[a] : made.many[a];
    gaps |= reads->extent[a] != part.length[a];
  }
  TileNeeds hull;
  NeedsOfPart(graph, layer, part.origin, part.length, &hull);
  reads->tile = hull;
  if (gaps) NeedsOfPart(graph, layer, part.origin, reads->extent, &reads->tile);
  if (hull.wrong != nullptr && DeedOf(layer) == Deed::kPad) {
    return FindReadsOfPads(graph, layer, part, reads);
  }
  const bool followed = hull.wrong == nullptr && reads->tile.wrong == nullptr;
  // Else each input counts whole, as does the layer.
  if (!followed) {
    for (int a = 0; a < kAxes; ++a) reads->extent[a] = out.extent[a];
    NeedsOfLayer(graph, layer, &reads->tile);
    hull = reads->tile;
  }
  for (uint32_t i = 0; i < reads->tile.count; ++i) {
    Needed* input = &reads->input[i];
    for (int a = 0; a < kAxes; ++a) {
      input->at[a] = Row(hull.need[i], a);
      input->many[a] = input->at[a].count;
      if (HasErrors(layer) && i == 0 && (a == 1 || a == 2)) {
        const int64_t errors = graph.tensors[layer.inputs[1]].extent[a];
        input->many[a] =
            static_cast<int32_t>(Min(int64_t{input->many[a]}, errors * out.extent[a]));
      }
    }
  }
  for (size_t a = 0; a < kAxes && followed && DeedOf(layer) == Deed::kTranspose; ++a) {
    const size_t from = static_cast<size_t>(layer.attribute(a));
    reads->input[0].at[from] = made.at[a];
    reads->input[0].many[from] = made.many[a];
  }
  for (int a = 1; a <= 2 && followed && !HasErrors(layer); ++a) {
    Follow(graph, layer, a, made, part, reads);
  }
  for (uint32_t i = 0; i < reads->tile.count; ++i) {
    reads->input[i].most = Count(reads->input[i]);
  }
  if (Has(layer, kKeepsPlaces) && !Has(layer, kWholeRows)) {
    reads->input[0].most = Min(reads->input[0].most, made.most);
  }
  if (DeedOf(layer) == Deed::kPoolGradient) {
    const int64_t taps =
        SlideOf(graph, layer, 1).filter * SlideOf(graph, layer, 2).filter;
    reads->tile.work = Max<int64_t>(reads->input[0].elements(), 1) * taps;
  }
}

Needed NeededOfAll::Made(const Graph& graph, uint32_t tensor) const {
  if (Leaves(graph.tensors[tensor])) return AllOf(graph.tensors[tensor]);
  Needed made = on_chip[tensor];
  Add(host[tensor], &made);
  return made;
}

bool NeededOfAll::MayBeTaken(const Graph& graph, uint32_t tensor) const {
  return (uses[tensor] & kTaken) != 0 && host[tensor].most == 0 &&
         !Leaves(graph.tensors[tensor]);
}

Status FindNeeded(const Judge& judge, Span<const uint8_t> uses, NeededOfAll* of_all) {
  const Graph& graph = judge.graph;
  of_all->uses = uses;
  const auto& [on_chip, host, ignored] = *of_all;
  SLUICE_TRY(judge.arena->Allocate(graph.tensors.size(), &of_all->on_chip));
  SLUICE_TRY(judge.arena->Allocate(graph.tensors.size(), &of_all->host));
  for (size_t l = graph.layers.size(); l-- > 0;) {
    if (l % 16 == 0 && judge.arena->memory()->Stop()) return Status::kStopped;
    const Layer& layer = graph.layers[l];
    const Work work = WorkOf(layer);
    const uint32_t out = layer.outputs[0];
    if (HostDoes(judge, uses, layer)) {
      for (const uint32_t t : layer.inputs) {
        if (t != kNone) Add(AllOf(graph.tensors[t]), &host[t]);
      }
      continue;
    }
    const bool view = work == Work::kView;
    const bool within = view && !Leaves(graph.tensors[out]);
    const Needed made = within ? on_chip[out] : of_all->Made(graph, out);
    if (view) AddView(graph, layer, host[out], host);
    if (made.elements() == 0) continue;
    if (work == Work::kGather || work == Work::kAppend) {
      const uint32_t rows = layer.inputs[1];
      Add(AllOf(graph.tensors[rows]), &on_chip[rows]);
    } else if (view) {
      AddView(graph, layer, made, on_chip);
    } else {
      Reads reads;
      FindReads(graph, layer, made, &reads);
      for (uint32_t i = 0; i < reads.tile.count; ++i) {
        const uint32_t t = reads.tile.need[i].tensor;
        // A tensor that is read twice, at the same places.
        if (i == 1 && t == reads.tile.need[0].tensor && HasTwoAlike(layer)) continue;
        Add(reads.input[i], &on_chip[t]);
      }
    }
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
