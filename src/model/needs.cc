// SPDX-License-Identifier: Apache-2.0
#include "model/needs.h"

#include "base/checked.h"
#include "model/off_chip.h"

namespace sluice {
namespace {

enum : uint8_t {
  kWhole = 1,      // all of it must be in a scratchpad
  kHostReads = 2,  // the host reads all of it, in DRAM
  kHostMade = 4,   // the host writes at least a part of it
  kLeaves = 8,     // its elements are elements of one of the graph's outputs too
  kTaken = 16,     // a layer that reads it may take over a PAD in front of it
};

constexpr Progression kNothing = {0, 1, 0};
constexpr Lattice kNoElements = {{kNothing, kNothing, kNothing, kNothing}};

Progression AllOf(int64_t extent) { return {0, 1, static_cast<int32_t>(extent)}; }

// The part of first, first + step, ... that lies in [0, extent).
Progression Clip(int64_t first, int64_t step, int64_t count, int64_t extent) {
  if (count > 0 && first < 0) {
    const int64_t out = Min(count, CeilDivide(-first, step));
    first += out * step;
    count -= out;
  }
  if (count > 0 && first + (count - 1) * step >= extent) {
    count = first >= extent ? 0 : (extent - 1 - first) / step + 1;
  }
  if (count <= 0) return kNothing;
  return {static_cast<int32_t>(first), static_cast<int32_t>(count == 1 ? 1 : step),
          static_cast<int32_t>(count)};
}

Progression Range(int64_t first, int64_t end, int64_t extent) {
  return Clip(first, 1, end - first, extent);
}

bool SameProgression(const Progression& a, const Progression& b) {
  return a.first == b.first && a.step == b.step && a.count == b.count;
}

bool Contains(const Progression& a, const Progression& b) {
  return b.first >= a.first && b.last() <= a.last() &&
         (b.first - a.first) % a.step == 0 && (b.count == 1 || b.step % a.step == 0);
}

bool Contains(const Lattice& a, const Lattice& b) {
  bool inside = true;
  for (int i = 0; i < kAxes; ++i) inside = inside && Contains(a.axis[i], b.axis[i]);
  return inside;
}

// True if they may have elements in common.
bool Meet(const Lattice& a, const Lattice& b) {
  bool meet = true;
  for (int i = 0; i < kAxes; ++i) {
    meet = meet && a.axis[i].first <= b.axis[i].last() &&
           b.axis[i].first <= a.axis[i].last();
  }
  return meet;
}

// Whether both together are one progression.
bool Joined(const Progression& a, const Progression& b, Progression* both) {
  if (a.first > b.first) return Joined(b, a, both);
  const int32_t step = a.count > 1 ? a.step : b.step;
  if (a.count > 1 && b.count > 1 && a.step != b.step) return false;
  if (b.first > a.last() + step || (b.first - a.first) % step != 0) return false;
  const int32_t last = Max(a.last(), b.last());
  *both = {a.first, step, (last - a.first) / step + 1};
  return true;
}

bool Joined(const Lattice& a, const Lattice& b, Lattice* both) {
  int other = kAxes;  // the axis on which they differ
  for (int i = 0; i < kAxes; ++i) {
    if (SameProgression(a.axis[i], b.axis[i])) continue;
    if (other != kAxes) return false;
    other = i;
  }
  if (other == kAxes) return false;
  *both = a;
  return Joined(a.axis[other], b.axis[other], &both->axis[other]);
}

void Remove(Parts* parts, uint32_t i) {
  parts->lattice[i] = parts->lattice[--parts->count];
}

// Adds a lattice. Where two lattices overlap and their union is no lattice, the larger
// one stays. Where there are too many, the largest ones stay.
void AddPart(Parts* parts, Lattice lattice) {
  for (uint32_t i = 0; i < parts->count;) {
    const Lattice& known = parts->lattice[i];
    if (Contains(known, lattice)) return;
    Lattice both;
    if (Joined(known, lattice, &both)) {
      lattice = both;
    } else if (!Meet(known, lattice)) {
      ++i;
      continue;
    } else if (!Contains(lattice, known) && known.elements() >= lattice.elements()) {
      return;
    }
    Remove(parts, i);
    i = 0;
  }
  if (parts->count < kMostParts) {
    parts->lattice[parts->count++] = lattice;
    return;
  }
  uint32_t least = 0;
  for (uint32_t i = 1; i < kMostParts; ++i) {
    if (parts->lattice[i].elements() < parts->lattice[least].elements()) least = i;
  }
  if (parts->lattice[least].elements() < lattice.elements()) {
    parts->lattice[least] = lattice;
  }
}

Status AddAt(uint32_t* index, const Lattice& lattice, Needs* needs) {
  if (*index == 0) {
    SLUICE_TRY(needs->parts.Push(Parts{}));
    *index = static_cast<uint32_t>(needs->parts.size());
  }
  AddPart(&needs->parts[*index - 1], lattice);
  return Status::kOk;
}

Status Add(const Graph& graph, uint32_t t, const Lattice& lattice, Needs* needs) {
  if ((needs->flags[t] & kWhole) != 0 || lattice.elements() == 0) return Status::kOk;
  const Lattice whole = WholeLattice(graph.tensors[t]);
  if (!Contains(lattice, whole)) {
    SLUICE_TRY(AddAt(&needs->index[t], lattice, needs));
    const Parts* parts = &needs->parts[needs->index[t] - 1];
    if (parts->count != 1 || !Contains(parts->lattice[0], whole)) return Status::kOk;
  }
  needs->flags[t] |= kWhole;
  return Status::kOk;
}

// Input positions under the windows of the output positions.
Progression UnderWindows(const Window& w, const Progression& out, int64_t in) {
  const int64_t step = int64_t{out.step} * w.stride;
  const int64_t first = int64_t{out.first} * w.stride - w.pad_before;
  const int64_t last = first + (out.count - 1) * step;
  const int64_t reach = int64_t{w.filter - 1} * w.dilation;
  const bool apart = out.count > 1 && step > 1;  // of neighbouring windows
  if (w.dilation == 1 || w.filter == 1) {
    if (!apart || step <= w.filter) return Range(first, last + reach + 1, in);
  } else if (!apart && out.count >= w.dilation) {
    return Range(first, last + reach + 1, in);
  } else if (apart && w.dilation % step == 0 && out.count * step >= w.dilation) {
    return Clip(first, step, (last + reach - first) / step + 1, in);
  }
  // The windows skip rows. Counts the rows under one tap of each window, for the tap
  // that reads the most.
  Progression most = kNothing;
  for (int32_t f = 0; f < Min(w.filter, 64); ++f) {
    const Progression tap = Clip(first + int64_t{f} * w.dilation, step, out.count, in);
    if (tap.count > most.count) most = tap;
  }
  return most;
}

// Input positions whose windows over the output reach the positions.
Progression Scattering(const Window& w, Progression out, int64_t in) {
  if (out.step > w.filter) out.count = 1;  // windows between them reach nothing
  const int64_t low = int64_t{out.first} + w.pad_before - w.filter + 1;
  const int64_t high = int64_t{out.last()} + w.pad_before;
  return Range(low <= 0 ? 0 : CeilDivide(low, w.stride), high / w.stride + 1, in);
}

Progression UnderResize(const Layer& layer, int64_t in, int64_t whole,
                        const Progression& out) {
  int64_t first = 0, end = 0, ignored = 0;
  ResizeNeeds(layer, in, whole, out.first, &first, &ignored);
  ResizeNeeds(layer, in, whole, out.last(), &ignored, &end);
  // Each position reads two rows, so steps of at most two leave none out.
  const int64_t corner =
      layer.attribute(SLUICE_RESIZE_ALIGN_CORNERS) != 0 && whole > 1 ? 1 : 0;
  const int64_t span = whole - corner;
  const int64_t step = (((in - corner) << 10) + span / 2) / span;
  const bool dense = out.count == 1 || step * out.step <= 2 << 10;
  if (dense) return Range(first, end + 1, in);
  ResizeNeeds(layer, in, whole, out.first, &ignored, &end);
  return Range(first, end + 1, in);
}

// Channels of the input that channels of a grouped or channelwise output read.
Progression OfGroups(const Progression& out, int64_t group_k, int64_t group_c,
                     int64_t in) {
  const int64_t first = out.first / group_k;
  const bool dense = out.step <= group_k;
  const int64_t last = dense ? out.last() / group_k : first;
  return Range(first * group_c, (last + 1) * group_c, in);
}

Lattice ConvNeeds(const Graph& graph, const Layer& layer, size_t input,
                  const Lattice& out) {
  const Tensor& t = graph.tensors[layer.inputs[input]];
  Lattice need = WholeLattice(t);
  const OpTraits& traits = TraitsOf(layer);
  if (input == 2) {
    need.axis[2] = out.axis[3];
    return need;
  }
  if (input == 1) {
    const bool last =
        IsChannelwise(layer) || WeightLayoutOf(layer) != SLUICE_WEIGHT_LAYOUT_OWN;
    int axis = last ? 3 : 0;
    if (traits.form == Form::kFullyConnected) axis = 2;
    need.axis[axis] = out.axis[3];
    return need;
  }
  for (int a = 0; a < 3; ++a) need.axis[a] = out.axis[a];
  if (traits.form == Form::kFullyConnected) return need;
  for (int a = 1; a <= 2; ++a) {
    const Window w = WindowOf(graph, layer, a);
    need.axis[a] = traits.scatters ? Scattering(w, out.axis[a], t.extent[a])
                                   : UnderWindows(w, out.axis[a], t.extent[a]);
  }
  const int64_t made = graph.tensors[layer.outputs[0]].extent[3];
  if (IsChannelwise(layer)) {
    need.axis[3] = OfGroups(out.axis[3], made / t.extent[3], 1, t.extent[3]);
  } else if (GroupsOf(layer) > 1) {
    need.axis[3] = OfGroups(out.axis[3], made / GroupsOf(layer),
                            t.extent[3] / GroupsOf(layer), t.extent[3]);
  }
  return need;
}

Lattice MatmulNeeds(const Graph& graph, const Layer& layer, size_t input,
                    const Lattice& out) {
  Lattice need = out;
  const Tensor& t = graph.tensors[layer.inputs[input]];
  if (input == 0) {
    need.axis[3] = AllOf(t.extent[3]);
    return need;
  }
  const bool transposed = layer.attribute(SLUICE_MATMUL_TRANSPOSE_B) != 0;
  need.axis[transposed ? 2 : 3] = out.axis[3];
  need.axis[transposed ? 3 : 2] = AllOf(t.extent[transposed ? 3 : 2]);
  return need;
}

Lattice WeightGradientNeeds(const Graph& graph, const Layer& layer, size_t input,
                            const Lattice& out) {
  const Tensor& t = graph.tensors[layer.inputs[input]];
  const Tensor& error = graph.tensors[layer.inputs[1]];
  Lattice need = WholeLattice(t);
  if (input == 1) {
    need.axis[3] = out.axis[0];
    return need;
  }
  for (int a = 1; a <= 2; ++a) {
    need.axis[a] =
        UnderWindows(WindowOf(graph, layer, a), AllOf(error.extent[a]), t.extent[a]);
  }
  const int32_t groups = GroupsOf(layer);
  if (groups == 1) {
    need.axis[3] = out.axis[3];
  } else if (!Contains(out, WholeLattice(graph.tensors[layer.outputs[0]]))) {
    return kNoElements;
  }
  return need;
}

Lattice PoolGradientNeeds(const Graph& graph, const Layer& layer, size_t input,
                          const Lattice& out) {
  Lattice need = out;
  for (int a = 1; a <= 2; ++a) {
    const Window w = WindowOf(graph, layer, a);
    need.axis[a] = Scattering(w, out.axis[a], graph.tensors[layer.inputs[0]].extent[a]);
    if (input == 0 || need.axis[a].count == 0) continue;
    need.axis[a] =
        UnderWindows(w, need.axis[a], graph.tensors[layer.inputs[1]].extent[a]);
  }
  return need;
}

// Elements [begin, end) of axes [from, to) in row-major order as a box. Where they form
// no box, a large box inside of them.
void BoxOfRange(const int32_t* extent, int from, int to, int64_t begin, int64_t end,
                Lattice* box) {
  int64_t inner = 1;
  for (int a = from; a < to; ++a) inner *= extent[a];
  for (int a = from; a < to; ++a) {
    inner /= extent[a];
    const int64_t row = CeilDivide(begin, inner), stop = end / inner;
    if (row < stop) {
      box->axis[a] = {static_cast<int32_t>(row), 1, static_cast<int32_t>(stop - row)};
      for (int b = a + 1; b < to; ++b) box->axis[b] = AllOf(extent[b]);
      return;
    }
    // No whole row: the longer piece of the two.
    const int64_t border = row * inner;
    if (border > begin && border < end) {
      (border - begin >= end - border ? end : begin) = border;
    }
    const int64_t at = begin / inner;
    box->axis[a] = {static_cast<int32_t>(at), 1, 1};
    begin -= at * inner;
    end -= at * inner;
  }
}

// The axes [from, to) of a lattice as a range of elements in row-major order; if they
// are none, the first of the ranges.
void RangeOfLattice(const int32_t* extent, int from, int to, Lattice lattice,
                    int64_t* begin, int64_t* end) {
  int inner = to - 1;  // the innermost axis that is not whole
  while (inner > from && lattice.axis[inner].count == extent[inner]) --inner;
  for (int a = from; a < inner; ++a) lattice.axis[a].count = 1;
  if (lattice.axis[inner].step != 1) lattice.axis[inner].count = 1;
  *begin = *end = 0;
  for (int a = from; a < to; ++a) {
    *begin = *begin * extent[a] + lattice.axis[a].first;
    *end = *end * extent[a] + lattice.axis[a].last();
  }
  ++*end;
}

Lattice ReshapeNeeds(const int32_t* in, const int32_t* of, const Lattice& out) {
  Lattice need = out;
  AxisGroup groups[2 * kAxes];
  const uint32_t count = GroupsOfReshape(in, of, groups);
  for (uint32_t g = 0; g < count; ++g) {
    const auto [i, in_end, o, out_end] = groups[g];
    if (in_end - i == 1 && out_end - o == 1) {
      need.axis[i] = out.axis[o];
      continue;
    }
    if (in_end == i) continue;  // axes of extent 1 in the output alone
    int64_t begin = 0, end = 1;
    if (out_end != o) RangeOfLattice(of, o, out_end, out, &begin, &end);
    BoxOfRange(in, i, in_end, begin, end, &need);
  }
  return need;
}

Lattice ConcatNeeds(const Graph& graph, const Layer& layer, size_t input,
                    const Lattice& out) {
  const int axis = layer.attribute(SLUICE_CONCAT_AXIS);
  int64_t before = 0;
  for (size_t i = 0; i < input; ++i) {
    before += graph.tensors[layer.inputs[i]].extent[axis];
  }
  Lattice need = out;
  const Progression& o = out.axis[axis];
  need.axis[axis] = Clip(o.first - before, o.step, o.count,
                         graph.tensors[layer.inputs[input]].extent[axis]);
  return need;
}

// Input 0 of operators whose axes H and W follow the output's through windows of some
//       kind.
Lattice WindowNeeds(const Graph& graph, const Layer& layer, const Lattice& out) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Tensor& made = graph.tensors[layer.outputs[0]];
  const Form form = TraitsOf(layer).form;
  Lattice need = out;
  for (int a = 0; a < kAxes; ++a) {
    if (form == Form::kPad) {
      need.axis[a] =
          Clip(int64_t{out.axis[a].first} - layer.attribute(static_cast<size_t>(a)),
               out.axis[a].step, out.axis[a].count, in.extent[a]);
    } else if (a == 1 || a == 2) {
      need.axis[a] =
          form == Form::kResize
              ? UnderResize(layer, in.extent[a], made.extent[a], out.axis[a])
              : UnderWindows(WindowOf(graph, layer, a), out.axis[a], in.extent[a]);
    }
  }
  return need;
}

// Element by element or row by row; axes of extent 1 broadcast.
Lattice ElementNeeds(const Graph& graph, const Layer& layer, size_t input,
                     const Lattice& out) {
  const OpTraits& traits = TraitsOf(layer);
  const Tensor& in = graph.tensors[layer.inputs[input]];
  const TileRole role = input < kMaxRoles ? traits.role[input] : kNoRole;
  if (role == kRoleWeight || role == kRoleParameters) return WholeLattice(in);
  Lattice need = out;
  const uint32_t whole =
      traits.cuts == CutLimit::kWholeRows ? 1u << 3 : ReducedAxes(layer);
  for (int a = 0; a < kAxes; ++a) {
    if (in.extent[a] == 1 || (whole >> a & 1) != 0) need.axis[a] = AllOf(in.extent[a]);
  }
  return need;
}

bool IsOutputOrState(const Tensor& t) {
  return t.kind == TensorKind::kOutput || t.kind == TensorKind::kState;
}

// The host reads tensors whole, and computes layers whole.
Status NeedOfHost(const Graph& graph, const Layer& layer, Needs* needs) {
  bool wanted = false;
  for (const uint32_t t : layer.outputs) {
    wanted = wanted || PartsMade(graph, *needs, t).count != 0 || needs->host[t] != 0;
  }
  for (const uint32_t t : layer.inputs) {
    if (wanted && t != kNone) needs->flags[t] |= kHostReads;
  }
  return Status::kOk;
}

// The host reads these elements of a view of the tensor. Tiles that make them make them on chip.
Status AddHost(const Graph& graph, uint32_t t, const Lattice& lattice, Needs* needs) {
  const uint32_t producer = graph.tensors[t].producer;
  if (producer == kNone || lattice.elements() == 0) return Status::kOk;
  if (KindOf(graph.layers[producer].op) == LayerKind::kCompute) {
    SLUICE_TRY(Add(graph, t, lattice, needs));
  }
  return AddAt(&needs->host[t], lattice, needs);
}

// What the host reads of a view.
Parts PartsOfHost(const Graph& graph, const Needs& needs, uint32_t t) {
  if ((needs.flags[t] & kHostReads) != 0) return PartsMade(graph, needs, t);
  return needs.host[t] == 0 ? Parts{} : needs.parts[needs.host[t] - 1];
}

// A copy may be a view. So bytes that only the host reads from its output need no
// scratchpad, unless the output is one of the graph's outputs or states.
Status NeedOfCopy(const Graph& graph, const Layer& layer, Needs* needs) {
  const uint32_t out = layer.outputs[0];
  const bool whole = IsOutputOrState(graph.tensors[out]);
  const Parts parts =
      whole ? PartsMade(graph, *needs, out) : PartsOnChip(graph, *needs, out);
  const bool all = TraitsOf(layer).view != ViewRule::kSlice;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    for (uint32_t p = 0; p < parts.count; ++p) {
      SLUICE_TRY(Add(graph, layer.inputs[i],
                     NeededOfInput(graph, layer, i, parts.lattice[p]), needs));
    }
    const Parts host = PartsOfHost(graph, *needs, out);
    const bool flagged = all && (needs->flags[out] & kHostReads) != 0;
    if (flagged) needs->flags[layer.inputs[i]] |= kHostReads;
    for (uint32_t p = 0; p < host.count && !flagged; ++p) {
      SLUICE_TRY(AddHost(graph, layer.inputs[i],
                         NeededOfInput(graph, layer, i, host.lattice[p]), needs));
    }
    const bool leaves = graph.tensors[out].kind == TensorKind::kOutput ||
                        (needs->flags[out] & kLeaves) != 0;
    if (leaves) needs->flags[layer.inputs[i]] |= kLeaves;
  }
  return Status::kOk;
}

Status NeedOfLayer(const Graph& graph, const Layer& layer, Needs* needs) {
  switch (KindOf(layer.op)) {
    case LayerKind::kUnknown:
      return Status::kOk;
    case LayerKind::kHost:
      return NeedOfHost(graph, layer, needs);
    case LayerKind::kCopy:
      return NeedOfCopy(graph, layer, needs);
    case LayerKind::kAppend:
      return Add(graph, layer.inputs[1], WholeLattice(graph.tensors[layer.inputs[1]]),
                 needs);
    case LayerKind::kGather: {
      const Parts rows = PartsMade(graph, *needs, layer.outputs[0]);
      const Tensor& out = graph.tensors[layer.outputs[0]];
      if (rows.count == 0 || !Contains(rows.lattice[0], WholeLattice(out))) {
        return Status::kOk;
      }
      return Add(graph, layer.inputs[1], WholeLattice(graph.tensors[layer.inputs[1]]),
                 needs);
    }
    case LayerKind::kCompute:
      break;
  }
  if (TraitsOf(layer).takes_pads) needs->flags[layer.inputs[0]] |= kTaken;
  const Parts parts = PartsMade(graph, *needs, layer.outputs[0]);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    if (layer.inputs[i] == kNone) continue;
    for (uint32_t p = 0; p < parts.count; ++p) {
      SLUICE_TRY(Add(graph, layer.inputs[i],
                     NeededOfInput(graph, layer, i, parts.lattice[p]), needs));
    }
  }
  return Status::kOk;
}

}  // namespace

bool IsHostMade(const Needs& needs, uint32_t tensor) {
  return (needs.flags[tensor] & kHostMade) != 0;
}

bool MayBeTaken(const Graph& graph, const Needs& needs, uint32_t tensor) {
  return (needs.flags[tensor] & (kTaken | kHostReads)) == kTaken &&
         !IsOutputOrState(graph.tensors[tensor]);
}

uint32_t GroupsOfReshape(const int32_t* in, const int32_t* out, AxisGroup* groups) {
  uint32_t count = 0;
  int i = kAxes, o = kAxes;
  while (i > 0 || o > 0) {
    AxisGroup* group = &groups[count++];
    group->in_end = i;
    group->out_end = o;
    int64_t in_size = 1, out_size = 1;
    do {
      if (i > 0 && (in_size <= out_size || o == 0)) {
        in_size *= in[--i];
      } else {
        out_size *= out[--o];
      }
    } while (in_size != out_size || (i == 0) != (o == 0));
    group->in_begin = i;
    group->out_begin = o;
  }
  return count;
}

Lattice WholeLattice(const Tensor& tensor) {
  Lattice whole;
  for (int a = 0; a < kAxes; ++a) whole.axis[a] = AllOf(tensor.extent[a]);
  return whole;
}

Parts PartsOnChip(const Graph& graph, const Needs& needs, uint32_t tensor) {
  Parts parts;
  if ((needs.flags[tensor] & kWhole) != 0) {
    parts.count = 1;
    parts.lattice[0] = WholeLattice(graph.tensors[tensor]);
    return parts;
  }
  return needs.index[tensor] == 0 ? parts : needs.parts[needs.index[tensor] - 1];
}

Parts PartsMade(const Graph& graph, const Needs& needs, uint32_t tensor) {
  const Tensor& t = graph.tensors[tensor];
  if (!IsOutputOrState(t) && (needs.flags[tensor] & kHostReads) == 0) {
    return PartsOnChip(graph, needs, tensor);
  }
  Parts whole;
  whole.count = 1;
  whole.lattice[0] = WholeLattice(t);
  return whole;
}

Lattice NeededOfInput(const Graph& graph, const Layer& layer, size_t input,
                      const Lattice& out) {
  switch (TraitsOf(layer).form) {
    case Form::kConv:
    case Form::kDepthwiseConv:
    case Form::kTransposedConv:
    case Form::kFullyConnected:
      return ConvNeeds(graph, layer, input, out);
    case Form::kMatmul:
      return MatmulNeeds(graph, layer, input, out);
    case Form::kWeightGradient:
      return WeightGradientNeeds(graph, layer, input, out);
    case Form::kPoolGradient:
      return PoolGradientNeeds(graph, layer, input, out);
    case Form::kPool:
    case Form::kPad:
    case Form::kResize:
      return WindowNeeds(graph, layer, out);
    case Form::kBinary:
    case Form::kUnary:
    case Form::kReluGradient:
    case Form::kHardSwish:
    case Form::kPrelu:
    case Form::kLookup:
    case Form::kSoftmax:
    case Form::kLayerNorm:
    case Form::kRmsNorm:
    case Form::kReduce:
    case Form::kArgmax:
      return ElementNeeds(graph, layer, input, out);
    case Form::kTranspose: {
      Lattice need = out;
      for (int a = 0; a < kAxes; ++a) need.axis[InputAxisOf(layer, a)] = out.axis[a];
      return need;
    }
    case Form::kConcat:
      return ConcatNeeds(graph, layer, input, out);
    case Form::kSlice: {
      Lattice need = out;
      for (int a = 0; a < kAxes; ++a) {
        need.axis[a].first += layer.attribute(static_cast<size_t>(a));
      }
      return need;
    }
    case Form::kReshape:
      return ReshapeNeeds(graph.tensors[layer.inputs[0]].extent,
                          graph.tensors[layer.outputs[0]].extent, out);
    case Form::kUnknown:
    case Form::kGather:
    case Form::kAppend:
    case Form::kOpaque:
      break;
  }
  return kNoElements;
}

Status FindNeeds(const Graph& graph, Arena* arena, Needs* needs) {
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &needs->flags));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &needs->index));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &needs->host));
  for (size_t l = graph.layers.size(); l-- > 0;) {
    if (l % 64 == 63 && arena->memory()->Stop()) return Status::kStopped;
    SLUICE_TRY(NeedOfLayer(graph, graph.layers[l], needs));
  }
  for (const Layer& layer : graph.layers) {
    const LayerKind kind = KindOf(layer.op);
    bool host = kind == LayerKind::kHost;
    for (const uint32_t t : layer.inputs) {
      host = host || (kind == LayerKind::kCopy && (needs->flags[t] & kHostMade) != 0);
    }
    for (const uint32_t t : layer.outputs) {
      if (host) needs->flags[t] |= kHostMade;
    }
  }
  return Status::kOk;
}

namespace {

// Rows that the run itself appends to a state need not be loaded with it.
int64_t AppendedBytes(const Graph& graph, uint32_t state) {
  int64_t bytes = 0;
  for (const Layer& layer : graph.layers) {
    if (KindOf(layer.op) != LayerKind::kAppend || layer.inputs[0] != state) continue;
    bytes += graph.tensors[layer.inputs[1]].bytes;
  }
  return bytes;
}

int64_t LoadedBytes(const Graph& graph, const Needs& needs, uint32_t t) {
  const Tensor& tensor = graph.tensors[t];
  const bool state = tensor.kind == TensorKind::kState;
  const bool host = tensor.producer != kNone &&
                    KindOf(graph.layers[tensor.producer].op) == LayerKind::kHost;
  const bool given =
      tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kConstant;
  if (!given && !state && !host) return 0;
  const int64_t bytes = MovedBytes(
      tensor, PartsOnChip(graph, needs, t).elements() * int64_t{tensor.element_bytes});
  return state ? Max<int64_t>(bytes - AppendedBytes(graph, t), 0) : bytes;
}

// What tiles make of a tensor and the host reads is stored to DRAM. If it is a view of an
// output, it is counted there.
int64_t StoredBytes(const Graph& graph, const Needs& needs, const Layer& maker,
                    uint32_t t) {
  const Tensor& made = graph.tensors[t];
  if (made.kind == TensorKind::kOutput) return IsHostMade(needs, t) ? 0 : made.bytes;
  const bool counted = made.kind == TensorKind::kIntermediate &&
                       KindOf(maker.op) == LayerKind::kCompute &&
                       (needs.flags[t] & kLeaves) == 0;
  const int64_t elements = PartsOfHost(graph, needs, t).elements();
  return counted ? elements * made.element_bytes : 0;
}

}  // namespace

Traffic TrafficOfLayer(const Graph& graph, const Needs& needs, const Layer& layer,
                       Span<uint8_t> taken) {
  Traffic traffic = {0, 0, 0, 0};
  // A gather needs rows of its table that are known only when it runs, an append writes rows of
  // its state: if all of either must be loaded, another layer needs it.
  const LayerKind kind = KindOf(layer.op);
  const bool rows = kind == LayerKind::kGather || kind == LayerKind::kAppend;
  for (const uint32_t t : layer.inputs) {
    if (t == kNone || taken[t] != 0 || (rows && t == layer.inputs[0])) continue;
    taken[t] = 1;
    const int64_t bytes = LoadedBytes(graph, needs, t);
    traffic.read += bytes;
    if (graph.tensors[t].kind == TensorKind::kConstant) traffic.constants += bytes;
    // One LOAD may bring several tensors that the host makes.
    const bool given = graph.tensors[t].producer == kNone;
    if (given && graph.tensors[t].kind != TensorKind::kState && bytes != 0) {
      ++traffic.loads;
    }
  }
  for (const uint32_t t : layer.outputs) {
    const Tensor& made = graph.tensors[t];
    traffic.written += StoredBytes(graph, needs, layer, t);
    // Rows of a gather's table come by indexed loads, each into its place of the output.
    if (kind != LayerKind::kGather) continue;
    traffic.read += PartsMade(graph, needs, t).elements() * int64_t{made.element_bytes};
  }
  if (kind == LayerKind::kAppend) {
    traffic.written += graph.tensors[layer.inputs[1]].bytes;
  }
  return traffic;
}

}  // namespace sluice
