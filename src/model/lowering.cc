// SPDX-License-Identifier: Apache-2.0
#include "model/lowering.h"

#include <string.h>

#include "base/checked.h"
#include "base/first_fit.h"
#include "model/off_chip.h"

namespace sluice {

namespace {

constexpr int64_t kTensorAlignment = 64;  // of each root in its region, bytes

void DenseStrides(const Tensor& t, uint32_t stride[kAxes]) {
  uint64_t step = t.element_bytes;
  for (int a = kAxes - 1; a >= 0; --a) {
    stride[a] = static_cast<uint32_t>(step);
    step *= static_cast<uint64_t>(t.extent[a]);
  }
}

// Strides of a tensor with the elements of another one in the same row-major order.
// False if an axis runs over axes of the other whose elements are not evenly spaced.
bool StridesOfReshape(const Tensor& other, const uint32_t other_stride[kAxes],
                      const Tensor& t, uint32_t stride[kAxes]) {
  int at = kAxes;  // axes of the other one from here on are used up
  uint64_t step = t.element_bytes;
  int64_t left = 1;  // elements of evenly spaced axes of the other one
  for (int a = kAxes - 1; a >= 0; --a) {
    if (left == 1 && t.extent[a] > 1) {
      do {
        --at;
      } while (other.extent[at] == 1);
      step = other_stride[at];
      left = other.extent[at];
      while (at > 0 && (other.extent[at - 1] == 1 ||
                        other_stride[at - 1] == step * static_cast<uint64_t>(left))) {
        left *= other.extent[--at];
      }
    }
    if (left % t.extent[a] != 0) return false;
    stride[a] = static_cast<uint32_t>(step);
    step *= static_cast<uint64_t>(t.extent[a]);
    left /= t.extent[a];
  }
  return true;
}

// Where tensors lie according to the views decided so far.
class ViewPlaces {
 public:
  ViewPlaces(const Graph& graph, const Hardware& hardware, const Lowering& lowering)
      : graph_(graph), granule_(hardware.dram_granule_bytes), lowering_(&lowering) {}

  bool IsRoot(uint32_t t) const { return lowering_->views[t].parent == kNone; }

  // True when strides exist for `out`, a reshape of `in` where that lies.
  bool HasStrides(uint32_t in, uint32_t out) const {
    uint32_t stride[kAxes], reshaped[kAxes];
    int64_t offset = 0;
    return Resolve(in, stride, &offset) &&
           StridesOfReshape(graph_.tensors[in], stride, graph_.tensors[out], reshaped);
  }

  // Strides and byte offset within the root, following the parents. False if a reshape
  // has no strides there.
  bool Resolve(uint32_t t, uint32_t stride[kAxes], int64_t* offset) const {
    const View& view = lowering_->views[t];
    if (view.parent == kNone) {
      DenseStrides(graph_.tensors[t], stride);
      *offset = 0;
      return true;
    }
    uint32_t parent[kAxes];
    if (!Resolve(view.parent, parent, offset)) return false;
    if (view.reshape) {
      return StridesOfReshape(graph_.tensors[view.parent], parent, graph_.tensors[t],
                              stride);
    }
    for (int a = 0; a < kAxes; ++a) {
      stride[a] = parent[a];
      *offset += int64_t{view.begin[a]} * stride[a];
    }
    return true;
  }

  // Byte offset and strides of a box at `begin` are multiples of the DRAM granule.
  bool OnGranule(uint32_t parent, const int32_t begin[kAxes]) const {
    uint32_t stride[kAxes];
    int64_t offset = 0;
    Resolve(parent, stride, &offset);
    for (int a = 0; a < kAxes; ++a) {
      offset += int64_t{begin[a]} * stride[a];
      if (a < kAxes - 1 && graph_.tensors[parent].extent[a] > 1 &&
          stride[a] % granule_ != 0) {
        return granule_ == 1;
      }
    }
    return offset % granule_ == 0;
  }

  // Whether a tensor lies in the view's parent at the view's place.
  bool LiesAt(uint32_t t, const View& view) const {
    int32_t begin[kAxes] = {};
    for (; t != view.parent; t = lowering_->views[t].parent) {
      const View& step = lowering_->views[t];
      if (step.parent == kNone || step.reshape) return false;
      for (int a = 0; a < kAxes; ++a) begin[a] += step.begin[a];
    }
    return memcmp(begin, view.begin, sizeof begin) == 0;
  }

  bool IsAncestor(uint32_t ancestor, uint32_t t) const {
    for (; t != kNone; t = lowering_->views[t].parent) {
      if (t == ancestor) return true;
    }
    return false;
  }

 private:
  const Graph& graph_;
  uint32_t granule_;
  const Lowering* lowering_;
};

// Decides which tensors are views of others. Layers are visited in topological order,
// so a tensor's parent is final before a later layer builds on it.
class ViewPlanner {
 public:
  ViewPlanner(const Graph& graph, const Hardware& hardware, Lowering* lowering,
              Span<uint32_t> needs_dense)
      : graph_(graph),
        at_(graph, hardware, *lowering),
        lowering_(lowering),
        needs_dense_(needs_dense) {}

  // True when the whole layer is a view.
  bool TryLayer(uint32_t l) {
    const Layer& layer = graph_.layers[l];
    switch (TraitsOf(layer).view) {
      case ViewRule::kReshape:
        return TryReshape(l, layer.inputs[0], layer.outputs[0]);
      case ViewRule::kSlice:
        return TrySlice(l, layer);
      case ViewRule::kConcat:
        return TryConcat(layer);
      case ViewRule::kNever:
      case ViewRule::kFolds:
        return false;
    }
    return false;
  }

 private:
  bool MayMove(uint32_t t) const {
    return at_.IsRoot(t) && graph_.tensors[t].kind == TensorKind::kIntermediate;
  }

  // A view of a state shows appended rows too. A layer that reads the state before its
  // append must therefore get a copy.
  bool ShowsOldState(uint32_t t, uint32_t layer) const {
    while (!at_.IsRoot(t)) t = lowering_->views[t].parent;
    const Tensor& root = graph_.tensors[t];
    return root.kind == TensorKind::kState && root.producer != kNone &&
           layer < root.producer;
  }

  bool TryReshape(uint32_t l, uint32_t in, uint32_t out) {
    if (MayMove(out) && at_.HasStrides(in, out) && !ShowsOldState(in, l)) {
      lowering_->views[out] = View{in, true, {}};
      // From now on no ancestor may get other strides.
      NeedDense(in);
      return true;
    }
    // The output has a region of its own: let the input's producer write there.
    if (MayMove(in) && CanMoveWriter(in) && needs_dense_[in] == 0) {
      lowering_->views[in] = View{out, true, {}};
      return true;
    }
    NeedDense(out);  // the copy writes it in the order of the input
    return false;
  }

  void NeedDense(uint32_t t) {
    for (; t != kNone; t = lowering_->views[t].parent) ++needs_dense_[t];
  }

  bool TrySlice(uint32_t l, const Layer& layer) {
    const uint32_t in = layer.inputs[0];
    const uint32_t out = layer.outputs[0];
    View view = {in, false, {}};
    for (int a = 0; a < kAxes; ++a)
      view.begin[a] = layer.attribute(static_cast<size_t>(a));
    if (!MayMove(out) || !at_.OnGranule(in, view.begin) || ShowsOldState(in, l)) {
      return false;
    }
    lowering_->views[out] = view;
    return true;
  }

  bool CanMoveWriter(uint32_t t) const {
    const uint32_t producer = graph_.tensors[t].producer;
    if (producer == kNone) return false;
    // CONCAT's inputs, which the tensor consists of, move along with it. Gather and
    // host layers can only write dense rows.
    const Layer& layer = graph_.layers[producer];
    const OpTraits& traits = TraitsOf(layer);
    return traits.kind == LayerKind::kCompute || traits.view == ViewRule::kConcat ||
           (traits.kind == LayerKind::kCopy && lowering_->is_view[producer] == 0);
  }

  // Each input that can be written in place becomes a view of the output; the layer is
  // a view if all inputs are. An input that appears twice is placed once. Inputs that
  // an earlier concat has joined in this order move along with its output.
  bool TryConcat(const Layer& layer) {
    const uint32_t out = layer.outputs[0];
    const int axis = layer.attribute(SLUICE_CONCAT_AXIS);
    int32_t at = 0;
    bool all = true;
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const uint32_t in = layer.inputs[i];
      View view = {out, false, {}};
      view.begin[axis] = at;
      at += graph_.tensors[in].extent[axis];
      if (at_.LiesAt(in, view)) continue;
      const uint32_t joined = JoinedAlike(layer, i);
      const uint32_t moved = joined != kNone ? joined : in;
      if (MayMove(moved) && CanMoveWriter(moved) && needs_dense_[moved] == 0 &&
          moved != out && at_.OnGranule(out, view.begin) &&
          !at_.IsAncestor(moved, out)) {
        lowering_->views[moved] = view;
      } else if (!MoveReshaped(moved, view)) {
        all = false;
      }
    }
    return all;
  }

  // Moves a reshape of a tensor to a view's place, and the tensor with it: the tensor
  // becomes a reshape of what was a reshape of it. False if that is not possible.
  bool MoveReshaped(uint32_t t, const View& view) {
    const View before = lowering_->views[t];
    const uint32_t made = before.parent;
    if (made == kNone || !before.reshape || made == view.parent ||
        graph_.tensors[t].kind != TensorKind::kIntermediate || !MayMove(made) ||
        !CanMoveWriter(made) || needs_dense_[t] != 0 || needs_dense_[made] != 1 ||
        !at_.OnGranule(view.parent, view.begin) || at_.IsAncestor(made, view.parent)) {
      return false;
    }
    lowering_->views[t] = view;
    lowering_->views[made] = {t, true, {}};
    uint32_t stride[kAxes];
    int64_t offset = 0;
    if (at_.Resolve(made, stride, &offset)) {
      NeedDense(view.parent);
      return true;
    }
    lowering_->views[t] = before;
    lowering_->views[made].parent = kNone;
    return false;
  }

  // The output of an earlier concat along the same axis whose inputs are those of
  // `layer` from number `first` on, and lie in it; or kNone.
  uint32_t JoinedAlike(const Layer& layer, size_t first) const {
    uint32_t joined = layer.inputs[first];
    while (!at_.IsRoot(joined)) joined = lowering_->views[joined].parent;
    if (graph_.tensors[joined].producer == kNone) return kNone;
    const uint32_t producer = graph_.tensors[joined].producer;
    const Layer& other = graph_.layers[producer];
    const size_t n = other.inputs.size();
    if (TraitsOf(other).view != ViewRule::kConcat ||
        lowering_->is_view[producer] == 0 ||
        other.attribute(SLUICE_CONCAT_AXIS) != layer.attribute(SLUICE_CONCAT_AXIS) ||
        n > layer.inputs.size() - first) {
      return kNone;
    }
    for (size_t i = 0; i < n; ++i) {
      if (other.inputs[i] != layer.inputs[first + i]) return kNone;
    }
    return joined;
  }

  const Graph& graph_;
  const ViewPlaces at_;
  Lowering* lowering_;
  // How many reshapes rely on the tensor's strides as they are.
  Span<uint32_t> needs_dense_;
};

uint32_t RootOf(const Lowering& lowering, uint32_t t) {
  while (lowering.views[t].parent != kNone) t = lowering.views[t].parent;
  return t;
}

// Times (of layers) at which a root's memory holds live bytes, both ends included.
struct Lifetime {
  uint32_t first = kNone;
  uint32_t last = 0;
};

Status FindLifetimes(const Graph& graph, const Lowering& lowering,
                     Span<const uint32_t> when, Arena* arena, Span<Lifetime>* out) {
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), out));
  for (Lifetime& life : *out) life = Lifetime{};
  const auto touch = [&](uint32_t t, uint32_t l) {
    Lifetime& life = (*out)[RootOf(lowering, t)];
    const uint32_t time = when.empty() ? l : when[l];
    life.first = Min(life.first, time);
    life.last = Max(life.last, time);
  };
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    const Layer& layer = lowering.executed[l];
    // A folded PAD's output has no memory; its reader reads the PAD's input.
    if (IsFolded(layer.op, lowering.is_view[l])) continue;
    for (uint32_t t : layer.inputs) {
      if (t != kNone) touch(t, l);
    }
    for (uint32_t t : layer.outputs) touch(t, l);
  }
  return Status::kOk;
}

// First fit by address among the roots that are live at the same time; `taken` has room for
// all of them.
int64_t OffsetAmong(const Graph& graph, const Lowering& lowering,
                    Span<const Lifetime> lives, Span<const uint32_t> placed, uint32_t t,
                    Span<TakenRange> taken) {
  size_t count = 0;
  for (uint32_t other : placed) {
    if (lives[other].last < lives[t].first || lives[t].last < lives[other].first) {
      continue;
    }
    const int64_t begin = static_cast<int64_t>(lowering.places[other].offset);
    taken[count++] = TakenRange{begin, begin + graph.tensors[other].bytes};
  }
  return FirstFit(graph.tensors[t].bytes, kTensorAlignment, taken.Slice(0, count));
}

// Checks against 2^48: far beyond the size of any machine, and far below overflow of
// 64-bit addresses.
Status PlaceRoots(const Graph& graph, Span<const uint32_t> when,
                  Span<const uint8_t> on_chip, Arena* arena, Lowering* lowering,
                  Diagnostic* diagnostic) {
  ArenaScope scope(arena);
  Span<Lifetime> lives;
  Span<uint32_t> placed;
  SLUICE_TRY(FindLifetimes(graph, *lowering, when, arena, &lives));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &placed));
  Span<TakenRange> taken;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &taken));
  Span<uint32_t> soonest;  // first uses of this tensor and all behind it
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &soonest));
  for (size_t t = graph.tensors.size(); t-- > 0;) {
    soonest[t] = t + 1 < soonest.size() ? soonest[t + 1] : kNone;
    soonest[t] = Min(soonest[t], lives[t].first);
  }
  size_t workspace = 0;  // tensors that may share a life with this or a later one
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    if (lowering->views[t].parent != kNone) continue;
    if (arena->memory()->Stop()) return Status::kStopped;
    const Tensor& tensor = graph.tensors[t];
    TensorPlace* place = &lowering->places[t];
    place->region = RegionOf(tensor.kind);
    DenseStrides(tensor, place->stride);
    uint64_t* size = &lowering->region_bytes[place->region];
    if (tensor.kind == TensorKind::kIntermediate) {
      // No layer writes or reads it, or only on chip.
      if (lives[t].first == kNone || (!on_chip.empty() && on_chip[t] != 0)) {
        *place = TensorPlace{kRegionNowhere, 0, {}};
        DenseStrides(tensor, place->stride);
        continue;
      }
      size_t kept = 0;
      for (size_t i = 0; i < workspace; ++i) {
        if (lives[placed[i]].last >= soonest[t]) placed[kept++] = placed[i];
      }
      workspace = kept;
      place->offset = static_cast<uint64_t>(
          OffsetAmong(graph, *lowering, lives, placed.Slice(0, workspace), t, taken));
      placed[workspace++] = t;
      *size = Max(*size, place->offset + static_cast<uint64_t>(tensor.bytes));
    } else {
      place->offset = static_cast<uint64_t>(
          RoundUpTo(static_cast<int64_t>(*size), kTensorAlignment));
      *size = place->offset + static_cast<uint64_t>(tensor.bytes);
    }
    if (*size > uint64_t{1} << 48) {
      return Fail(diagnostic, Status::kUnsupported, "lowering")
          .Tensor(t)
          .Text("a DRAM region exceeds 2^48 bytes");
    }
  }
  return Status::kOk;
}

// Checks that all regions that lie in a memory (null: the last level) fit it if it is
// bounded. Inputs, outputs, constants and states must lie there in every plan; the
// workspace is the choice of this lowering.
Status CheckHome(const Graph& graph, const Hardware& hardware, const Lowering& lowering,
                 const OffChip* memory, Diagnostic* diagnostic) {
  const MemoryLevel& level = memory == nullptr ? hardware.dram() : memory->level;
  const uint64_t capacity = static_cast<uint64_t>(level.capacity_bytes);
  if (capacity == 0) return Status::kOk;
  uint64_t need = 0, workspace = 0;
  const OffChip* read_only = nullptr;
  for (uint32_t r = SLUICE_REGION_CONST; r < SLUICE_REGION_COUNT; ++r) {
    const OffChip* home = hardware.MemoryOf(r);
    if (home != nullptr && home->read_only) read_only = home;
    if (home != memory) continue;
    need += lowering.region_bytes[r];
    if (r == SLUICE_REGION_WORKSPACE) workspace = lowering.region_bytes[r];
    for (const Tensor& t : graph.tensors) {
      if (r != SLUICE_REGION_CONST || t.encoded_bytes == 0) continue;
      need -= static_cast<uint64_t>(t.bytes - t.encoded_bytes);
    }
  }
  if (need <= capacity) return Status::kOk;
  const bool proved = need - workspace > capacity;
  const auto name = [](Fail fail, const OffChip* of) {
    return of == nullptr ? fail.Text("DRAM")
                         : fail.Text(of->level.name.data, of->level.name.size);
  };
  Fail fail = name(
      Fail(diagnostic, proved ? Status::kInfeasible : Status::kUnsupported, "lowering")
          .Bytes(need, capacity)
          .Say("the graph's tensors take # bytes of ", need),
      memory);
  fail = fail.Say(", # of them for intermediates; it has #", workspace, capacity);
  if (workspace == 0 || read_only == nullptr) return fail;
  return name(fail.Text(", and nothing is spilled to "), read_only)
      .Text(", which is read only");
}

Status CheckCapacities(const Graph& graph, const Hardware& hardware,
                       const Lowering& lowering, Diagnostic* diagnostic) {
  for (const OffChip& memory : hardware.memories) {
    SLUICE_TRY(CheckHome(graph, hardware, lowering, &memory, diagnostic));
  }
  return CheckHome(graph, hardware, lowering, nullptr, diagnostic);
}

void PlaceView(const Graph& graph, Lowering* lowering, uint32_t t) {
  const View& view = lowering->views[t];
  if (view.parent == kNone) return;
  PlaceView(graph, lowering, view.parent);
  TensorPlace* place = &lowering->places[t];
  const TensorPlace& parent = lowering->places[view.parent];
  *place = parent;
  if (view.reshape) {
    StridesOfReshape(graph.tensors[view.parent], parent.stride, graph.tensors[t],
                     place->stride);
    return;
  }
  for (int a = 0; a < kAxes; ++a) {
    place->offset += uint64_t{static_cast<uint32_t>(view.begin[a])} * parent.stride[a];
  }
}

// `reader` with the PAD's input as its input and the PAD's pads added to its own.
Status FoldInto(const Graph& graph, const Layer& pad, Arena* arena, Layer* reader) {
  Span<uint32_t> inputs;
  Span<int32_t> attributes;
  SLUICE_TRY(arena->Allocate(reader->inputs.size(), &inputs));
  SLUICE_TRY(arena->Allocate(SLUICE_CONV_ATTRIBUTES, &attributes));
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = reader->inputs[i];
  for (size_t i = 0; i < attributes.size(); ++i) attributes[i] = reader->attribute(i);
  inputs[0] = pad.inputs[0];
  const Tensor& padded = graph.tensors[pad.outputs[0]];
  const Tensor& inner = graph.tensors[pad.inputs[0]];
  for (size_t side = 0; side < 2; ++side) {
    const int32_t before = pad.attribute(SLUICE_PAD_BEFORE_H + side);
    attributes[SLUICE_CONV_PAD_TOP + side] += before;
    attributes[SLUICE_CONV_PAD_BOTTOM + side] +=
        padded.extent[side + 1] - inner.extent[side + 1] - before;
  }
  reader->inputs = inputs;
  reader->attributes = attributes;
  return Status::kOk;
}

Status FoldPads(const Graph& graph, Arena* arena, Lowering* lowering) {
  for (uint32_t p = 0; p < graph.layers.size(); ++p) {
    if (!MayFoldPad(graph, p)) continue;
    const Layer& pad = graph.layers[p];
    lowering->is_view[p] = 1;
    for (uint32_t l = p + 1; l < graph.layers.size(); ++l) {
      if (graph.layers[l].input(0) == pad.outputs[0]) {
        SLUICE_TRY(FoldInto(graph, pad, arena, &lowering->executed[l]));
      }
    }
  }
  return Status::kOk;
}

}  // namespace

bool MayFoldPad(const Graph& graph, uint32_t pad_layer) {
  const Layer& pad = graph.layers[pad_layer];
  const uint32_t out = pad.outputs[0];
  if (TraitsOf(pad).view != ViewRule::kFolds ||
      graph.tensors[out].kind != TensorKind::kIntermediate) {
    return false;
  }
  const Tensor& padded = graph.tensors[out];
  const Tensor& inner = graph.tensors[pad.inputs[0]];
  // If the PAD adds nothing, a tile's attributes cannot tell which of the two tensors
  // the convolution reads.
  if (padded.bytes == inner.bytes) return false;
  // Convolutions cannot pad batch or channels.
  if (padded.extent[0] != inner.extent[0] || padded.extent[3] != inner.extent[3]) {
    return false;
  }
  // A reader may come after the state's append, the PAD before it.
  if (inner.kind == TensorKind::kState && inner.producer != kNone) return false;
  bool used = false;
  for (uint32_t l = pad_layer + 1; l < graph.layers.size(); ++l) {
    const Layer& reader = graph.layers[l];
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      if (reader.inputs[i] != out) continue;
      used = true;
      if (!TraitsOf(reader).takes_pads || i != 0 ||
          reader.attribute(SLUICE_CONV_INPUT_ZERO) != pad.attribute(SLUICE_PAD_VALUE)) {
        return false;
      }
      for (int a = 1; a <= 2; ++a) {
        const Window w = WindowOf(graph, reader, a);
        const int64_t window = int64_t{w.filter - 1} * w.dilation + 1;
        const size_t side = static_cast<size_t>(a);
        const int64_t before = pad.attribute(side);
        const int64_t after = padded.extent[a] - inner.extent[a] - before;
        const int64_t own_after = reader.attribute(SLUICE_CONV_PAD_BOTTOM + side - 1);
        if (before + w.pad_before >= window || after + own_after >= window)
          return false;
      }
    }
  }
  return used;
}

Status Lower(const Graph& graph, const Hardware& hardware, Arena* arena,
             Lowering* lowering, Diagnostic* diagnostic) {
  const size_t tensors = graph.tensors.size();
  const size_t layers = graph.layers.size();
  SLUICE_TRY(arena->Allocate(tensors, &lowering->places));
  SLUICE_TRY(arena->Allocate(tensors, &lowering->views));
  SLUICE_TRY(arena->Allocate(layers, &lowering->is_view));
  SLUICE_TRY(arena->Allocate(layers, &lowering->executed));
  for (View& view : lowering->views) view.parent = kNone;
  for (size_t l = 0; l < layers; ++l) lowering->executed[l] = graph.layers[l];
  SLUICE_TRY(FoldPads(graph, arena, lowering));
  {
    ArenaScope scope(arena);
    Span<uint32_t> needs_dense;
    SLUICE_TRY(arena->Allocate(tensors, &needs_dense));
    ViewPlanner planner(graph, hardware, lowering, needs_dense);
    for (uint32_t l = 0; l < layers; ++l) {
      if (l % 8 == 7 && arena->memory()->Stop()) return Status::kStopped;
      if (planner.TryLayer(l)) lowering->is_view[l] = 1;
    }
  }
  SLUICE_TRY(PlaceInDram(graph, {}, {}, arena, lowering, diagnostic));
  return CheckCapacities(graph, hardware, *lowering, diagnostic);
}

void TimeViews(const Graph& graph, const Lowering& lowering, Span<uint32_t> when) {
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (lowering.is_view[l] == 0) continue;
    when[l] = 0;
    for (const uint32_t t : lowering.executed[l].inputs) {
      if (t == kNone || graph.tensors[t].producer == kNone) continue;
      when[l] = Max(when[l], when[graph.tensors[t].producer]);
    }
  }
}

Status PlaceInDram(const Graph& graph, Span<const uint32_t> when,
                   Span<const uint8_t> on_chip, Arena* scratch, Lowering* lowering,
                   Diagnostic* diagnostic) {
  for (uint64_t& bytes : lowering->region_bytes) bytes = 0;
  for (TensorPlace& place : lowering->places) place = TensorPlace{};
  SLUICE_TRY(PlaceRoots(graph, when, on_chip, scratch, lowering, diagnostic));
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) PlaceView(graph, lowering, t);
  return Status::kOk;
}

}  // namespace sluice
