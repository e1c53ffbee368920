// SPDX-License-Identifier: Apache-2.0
#include "model/needs.h"

#include "base/checked.h"

namespace sluice {
namespace {

// True when the windows along an axis cover every input row.
bool CoversAxis(const Window& w, int64_t in, int64_t out) {
  const int64_t window = int64_t{w.filter - 1} * w.dilation + 1;
  const bool dense = w.dilation == 1 || w.filter == 1
                         ? w.stride <= window
                         : w.stride == 1 && out >= w.dilation;
  return dense && (out - 1) * w.stride - w.pad_before + window >= in;
}

bool WindowsCover(const Graph& graph, const Layer& layer) {
  const bool taps = TraitsOf(layer).window == WindowRule::kTaps;
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Tensor& out = graph.tensors[taps ? layer.inputs[1] : layer.outputs[0]];
  return CoversAxis(WindowOf(graph, layer, 1), in.extent[1], out.extent[1]) &&
         CoversAxis(WindowOf(graph, layer, 2), in.extent[2], out.extent[2]);
}

// True when the whole output needs every element of that input.
bool ReadsWhole(const Graph& graph, const Layer& layer, size_t input) {
  switch (TraitsOf(layer).needs) {
    case NeedRule::kAll:
      return true;
    case NeedRule::kNothing:
      return false;
    case NeedRule::kFirst:
      return input == 0;
    case NeedRule::kSecond:
      return input == 1;
    case NeedRule::kByWindows:
      return input != 0 || WindowsCover(graph, layer);
  }
  return false;
}

// What every plan must do with a tensor. The host reads and writes DRAM itself, so the
// DMA never moves a tensor that only the host touches.
enum : uint8_t {
  kWhole = 1,     // some output depends on each element
  kMoved = 2,     // each element passes the DMA: loaded, or stored for an output
  kHostMade = 4,  // the host writes at least a part of it
};

bool IsOutputOrState(const Tensor& t) {
  return t.kind == TensorKind::kOutput || t.kind == TensorKind::kState;
}

bool IsNeededWhole(const Graph& graph, const Layer& layer, Span<const uint8_t> needs) {
  for (uint32_t t : layer.outputs) {
    if (IsOutputOrState(graph.tensors[t]) || (needs[t] & kWhole) != 0) return true;
  }
  return false;
}

// True when the layer's inputs must pass the DMA. A copy may be a view instead, unless
// its output has to pass the DMA itself.
bool MovesInputs(const Graph& graph, const Layer& layer, Span<const uint8_t> needs) {
  const LayerKind kind = KindOf(layer.op);
  if (kind != LayerKind::kCopy) return kind != LayerKind::kHost;
  const uint32_t out = layer.outputs[0];
  return IsOutputOrState(graph.tensors[out]) || (needs[out] & kMoved) != 0;
}

NeededPositions AllPositions(const Tensor& tensor) {
  NeededPositions all;
  for (int a = 0; a < 3; ++a) {
    all.first[a] = 0;
    all.step[a] = 1;
    all.count[a] = tensor.extent[a];
  }
  return all;
}

// Input positions along axis a (1 or 2) under the windows of the output positions. If
// the windows skip rows, only the row of each window's middle tap is counted.
void ThroughWindow(const Window& w, int a, int64_t in, const NeededPositions& out,
                   NeededPositions* needed) {
  int64_t count = out.count[a];
  int64_t step = int64_t{out.step[a]} * w.stride;
  int64_t first = int64_t{out.first[a]} * w.stride - w.pad_before;
  const bool dense =
      (w.dilation == 1 || w.filter == 1) && (count == 1 || step <= w.filter);
  if (dense) {
    const int64_t end = Min(in, first + (count - 1) * step + w.filter);
    first = Max<int64_t>(first, 0);
    count = end - first;
    step = 1;
  } else {
    first += int64_t{w.filter / 2} * w.dilation;
    for (; first < 0 && count > 0; --count) first += step;
    while (count > 0 && first + (count - 1) * step >= in) --count;
  }
  needed->first[a] = static_cast<int32_t>(first);
  needed->step[a] = static_cast<int32_t>(step);
  needed->count[a] = static_cast<int32_t>(Max<int64_t>(count, 0));
}

bool SameExtents(const Tensor& x, const Tensor& y) {
  for (int a = 0; a < kAxes; ++a) {
    if (x.extent[a] != y.extent[a]) return false;
  }
  return true;
}

// The traits' Reach; kUnknown if this layer's shapes do not keep channels together.
Reach ReachOf(const Graph& graph, const Layer& layer) {
  const OpTraits& traits = TraitsOf(layer);
  if (traits.view == ViewRule::kConcat && layer.attribute(SLUICE_CONCAT_AXIS) != 3) {
    return Reach::kUnknown;
  }
  if (traits.reach == Reach::kShifted &&
      graph.tensors[layer.inputs[0]].extent[3] !=
          graph.tensors[layer.outputs[0]].extent[3]) {
    return Reach::kUnknown;
  }
  return traits.reach;
}

// True when any position of the output needs the whole of that input.
bool AnyNeedsWhole(const Layer& layer, size_t input) {
  if (input >= kMaxRoles) return false;
  const TileRole role = TraitsOf(layer).role[input];
  return role == kRoleWeight || role == kRoleParameters;
}

void NeedPositions(const Graph& graph, const Layer& layer, Reach reach, size_t input,
                   const NeededPositions& out, const Needs& needs) {
  const uint32_t t = layer.inputs[input];
  const Tensor& in = graph.tensors[t];
  NeededPositions needed = out;
  if (reach == Reach::kWindow) {
    ThroughWindow(WindowOf(graph, layer, 1), 1, in.extent[1], out, &needed);
    ThroughWindow(WindowOf(graph, layer, 2), 2, in.extent[2], out, &needed);
  } else if (reach == Reach::kShifted) {
    for (int a = 0; a < 3; ++a) {
      needed.first[a] += layer.attribute(static_cast<size_t>(SLUICE_SLICE_BEGIN_N + a));
    }
  } else if (reach == Reach::kElement &&
             !SameExtents(in, graph.tensors[layer.outputs[0]])) {
    return;  // broadcast
  }
  if (needed.total() > needs.part[t].total()) needs.part[t] = needed;
}

// Marks the inputs of a layer whose output is needed at `out`. `whole`: at all
// positions; inputs with ReadsWhole are marked already.
void NeedInputs(const Graph& graph, const Layer& layer, const NeededPositions& out,
                bool whole, const Needs& needs) {
  const Reach reach = ReachOf(graph, layer);
  if (reach == Reach::kUnknown || out.total() == 0) return;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const uint32_t t = layer.inputs[i];
    if (t == kNone || (whole && ReadsWhole(graph, layer, i))) continue;
    if (AnyNeedsWhole(layer, i)) {
      if (graph.tensors[t].kind == TensorKind::kConstant) {
        needs.flags[t] |= kWhole | kMoved;
      }
    } else if (i == 0 || reach == Reach::kElement || reach == Reach::kRow) {
      NeedPositions(graph, layer, reach, i, out, needs);
    }
  }
}

}  // namespace

Status FindNeeds(const Graph& graph, Arena* arena, Needs* out) {
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &out->flags));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &out->part));
  const Span<uint8_t> needs = out->flags;
  for (size_t l = graph.layers.size(); l-- > 0;) {
    if (l % 64 == 63 && arena->memory()->Stop()) return Status::kStopped;
    const Layer& layer = graph.layers[l];
    if (!IsNeededWhole(graph, layer, needs)) {
      if (layer.outputs.size() == 1) {
        NeedInputs(graph, layer, out->part[layer.outputs[0]], false, *out);
      }
      continue;
    }
    const bool moves = MovesInputs(graph, layer, needs);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      if (layer.inputs[i] == kNone || !ReadsWhole(graph, layer, i)) continue;
      needs[layer.inputs[i]] |= static_cast<uint8_t>(kWhole | (moves ? kMoved : 0));
    }
    if (layer.outputs.size() == 1) {
      NeedInputs(graph, layer, AllPositions(graph.tensors[layer.outputs[0]]), true,
                 *out);
    }
  }
  for (const Layer& layer : graph.layers) {
    const LayerKind kind = KindOf(layer.op);
    bool host = kind == LayerKind::kHost;
    for (uint32_t t : layer.inputs) {
      host = host || (kind == LayerKind::kCopy && (needs[t] & kHostMade) != 0);
    }
    for (uint32_t t : layer.outputs) {
      if (host) needs[t] |= kHostMade;
    }
  }
  return Status::kOk;
}

// DRAM bytes every plan must move once: inputs, constants and states that are needed
// whole, outputs and appended rows. Rows that the run itself appends need not be
// loaded.
int64_t CompulsoryBytes(const Graph& graph, const Needs& found) {
  const Span<const uint8_t> needs = found.flags;
  int64_t bytes = 0;
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const bool given =
        tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kConstant;
    if ((tensor.kind == TensorKind::kOutput && (needs[t] & kHostMade) == 0) ||
        ((given || tensor.kind == TensorKind::kState) && (needs[t] & kMoved) != 0)) {
      bytes += tensor.bytes;
    }
  }
  for (const Layer& layer : graph.layers) {
    if (KindOf(layer.op) != LayerKind::kAppend) continue;
    const bool loaded = (needs[layer.inputs[0]] & kMoved) != 0;
    if (!loaded) bytes += graph.tensors[layer.inputs[1]].bytes;
  }
  return bytes;
}

void CompulsoryWork(const Graph& graph, const Needs& needs, int64_t* macs,
                    int64_t* vector_ops) {
  for (const Layer& layer : graph.layers) {
    const OpTraits& traits = TraitsOf(layer);
    if (traits.kind != LayerKind::kCompute || traits.view != ViewRule::kNever) continue;
    const uint32_t t = layer.outputs[0];
    const Tensor& out = graph.tensors[t];
    const NeededPositions all = AllPositions(out);
    int64_t positions = all.total();
    if (!IsNeededWhole(graph, layer, needs.flags)) {
      positions = ReachOf(graph, layer) == Reach::kUnknown ? 0 : needs.part[t].total();
      if (positions == 0) continue;
    }
    const TileBoxes boxes =
        BoxesOf(graph, layer, WholeBox(out), 0, AccumulatedChannels(graph, layer));
    // All positions take equal work; count the share that is needed.
    *macs +=
        positions == all.total() ? boxes.macs : boxes.macs / all.total() * positions;
    *vector_ops += positions == all.total()
                       ? boxes.vector_ops
                       : boxes.vector_ops / all.total() * positions;
  }
}

}  // namespace sluice
