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
  return int64_t{n.at[0].count} * n.at[1].count * n.at[2].count * n.at[3].count;
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
      before += in.extent[axis];
    }
    Add(need, &to[t]);
  }
}

Places Row(const Need& need, int axis) {
  return {static_cast<int32_t>(need.origin[axis]), 1,
          static_cast<int32_t>(need.extent[axis])};
}

// Rows and columns of the output read those of input 0 at their places alone, if as many.
bool StaysInPlace(const Layer& layer) {
  const Reach reach = RuleOf(layer).reach;
  return reach == Reach::kPlaces || reach == Reach::kRows;
}

// Input 1 is read like input 0.
bool HasTwoAlike(const Layer& layer) {
  return RuleOf(layer).reach == Reach::kPlaces && !Has(layer, kPlainSecond);
}

bool HasWindows(const Layer& layer) { return RuleOf(layer).reach == Reach::kWindows; }

// The rows or columns that are read to make those of a part; *taps: how many for one at most.
Places Along(const Graph& graph, const Layer& layer, int axis, const Places& made,
             const Need& need, int64_t* taps) {
  *taps = RuleOf(layer).reach == Reach::kScale ? 2 : INT32_MAX;
  const int64_t begin = need.origin[axis], end = begin + need.extent[axis];
  int64_t first = begin, step = made.step;
  if (HasWindows(layer)) {
    const Slide s = SlideOf(graph, layer, axis);
    first = made.first * s.stride - s.before;
    *taps = s.filter;
    step =
        Gcd<int64_t>(made.count > 1 ? step * s.stride : 0, s.filter > 1 ? s.apart : 0);
  } else if (!StaysInPlace(layer) || begin != made.first ||
             end != made.first + made.length()) {
    step = 1;
  }
  Places at = Within(first, Max<int64_t>(step, 1), begin, end);
  at.first += static_cast<int32_t>(begin);
  return at;
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
      int64_t along = need.extent[a];
      if (a == 1 || a == 2) {
        if (Has(layer, kVaries)) along = in.extent[a];
        // Where the part lies among the pads is not priced.
        if (DeedOf(layer) == Deed::kPad) along = Min(extent[a], int64_t{in.extent[a]});
        if (i == 0 && HasWindows(layer)) {
          const Slide s = SlideOf(graph, layer, a);
          const int64_t reach =
              (extent[a] - 1) * s.stride + (s.filter - 1) * s.apart + 1;
          along = Min<int64_t>(Min(reach, extent[a] * s.filter), in.extent[a]);
        }
      }
      bytes *= static_cast<double>(along);
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
  for (int a = 0; a < kAxes; ++a) all.at[a] = {0, 1, tensor.extent[a]};
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
  s.filter = pool ? attribute(SLUICE_POOL_WINDOW_H, SLUICE_POOL_WINDOW_H)
                  : graph.tensors[layer.inputs[1]].extent[axis];
  s.in = graph.tensors[layer.inputs[0]].extent[axis];
  s.out = graph.tensors[layer.outputs[0]].extent[axis];
  return s;
}

void FindReads(const Graph& graph, const Layer& layer, const Needed& made,
               Reads* reads) {
  const Tensor& out = graph.tensors[layer.outputs[0]];
  int64_t origin[kAxes], length[kAxes];
  for (int a = 0; a < kAxes; ++a) {
    const bool rows = a == 3 && Has(layer, kWholeRows);
    origin[a] = rows ? 0 : made.at[a].first;
    length[a] = rows ? out.extent[3] : made.at[a].length();
    reads->extent[a] = rows ? out.extent[3] : made.at[a].count;
  }
  TileNeeds hull;
  NeedsOfPart(graph, layer, origin, length, &hull);
  NeedsOfPart(graph, layer, origin, reads->extent, &reads->tile);
  const bool followed = hull.wrong == nullptr && reads->tile.wrong == nullptr;
  // Else each input counts whole, as does the layer.
  if (!followed) {
    for (int a = 0; a < kAxes; ++a) reads->extent[a] = out.extent[a];
    NeedsOfLayer(graph, layer, &reads->tile);
  }
  for (uint32_t i = 0; i < reads->tile.count; ++i) {
    Needed* input = &reads->input[i];
    *input = AllOf(graph.tensors[reads->tile.need[i].tensor]);
    if (!followed) continue;
    int64_t most = 1;
    for (int a = 0; a < kAxes; ++a) {
      const bool placed = (a == 1 || a == 2) && (i == 0 || HasTwoAlike(layer));
      int64_t taps = INT32_MAX;
      input->at[a] = placed ? Along(graph, layer, a, made.at[a], hull.need[i], &taps)
                            : Row(hull.need[i], a);
      most *= Min<int64_t>(input->at[a].count, made.at[a].count * taps);
    }
    input->most = most;
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
    const bool able = work != Work::kHost && IsAble(judge, layer);
    if (!able) {
      for (const uint32_t t : layer.inputs) {
        if (t != kNone) Add(AllOf(graph.tensors[t]), &host[t]);
      }
      // A PAD that the engines lack may be part of a convolution, which then loads the PAD's
      // input. If the host runs it, its output is loaded, which is no smaller.
      if (DeedOf(layer) != Deed::kPad || (uses[out] & kTaken) == 0) continue;
    }
    const bool view = work == Work::kView;
    const bool within = !able || (view && !Leaves(graph.tensors[out]));
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
        Add(reads.input[i], &on_chip[reads.tile.need[i].tensor]);
      }
    }
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
