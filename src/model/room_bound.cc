// SPDX-License-Identifier: Apache-2.0
#include "model/room_bound.h"

#include <algorithm>

#include "base/checked.h"
#include "model/spread.h"
#include "model/tile_cycles.h"

namespace sluice {
namespace {

// A lattice of count[a] elements along each axis a, step[a] apart, anywhere in the
// tensor; count 0 = no elements.
struct Piece {
  int32_t count[kAxes];
  int32_t step[kAxes];

  int64_t elements() const {
    return int64_t{count[0]} * count[1] * count[2] * count[3];
  }
  bool Is(const Piece& other) const {
    bool same = true;
    for (int a = 0; a < kAxes; ++a) {
      same = same && count[a] == other.count[a] && step[a] == other.step[a];
    }
    return same;
  }
};

constexpr Piece kOneElement = {{1, 1, 1, 1}, {1, 1, 1, 1}};

// The piece at the begin of the tensor or, with `end`, at its end.
Lattice At(const Tensor& tensor, const Piece& piece, bool end) {
  Lattice lattice;
  for (int a = 0; a < kAxes; ++a) {
    const int32_t length = (piece.count[a] - 1) * piece.step[a] + 1;
    lattice.axis[a] = {end ? tensor.extent[a] - length : 0, piece.step[a],
                       piece.count[a]};
  }
  return lattice;
}

// What a piece of a reshape's output needs of its input. Of several axes that the
// reshape regroups, a run of elements is certain if the input has one axis for them;
// else one element.
Piece BehindReshape(const Tensor& in, const Tensor& out, const Piece& piece) {
  AxisGroup groups[2 * kAxes];
  const uint32_t count = GroupsOfReshape(in.extent, out.extent, groups);
  Piece need = kOneElement;
  for (uint32_t g = 0; g < count; ++g) {
    const AxisGroup& group = groups[g];
    int64_t range = 1;  // elements in a row
    bool whole = true;  // of all axes so far, from the innermost
    for (int a = group.out_end; a-- > group.out_begin;) {
      if (whole && piece.step[a] == 1) range *= piece.count[a];
      whole = whole && piece.count[a] == out.extent[a];
    }
    const bool alone = group.in_end - group.in_begin == 1;
    if (alone && group.out_end - group.out_begin == 1) {
      need.count[group.in_begin] = piece.count[group.out_begin];
      need.step[group.in_begin] = piece.step[group.out_begin];
      continue;
    }
    for (int a = group.in_begin; a < group.in_end; ++a) {
      if (whole) {
        need.count[a] = in.extent[a];
      } else if (alone) {
        need.count[a] = static_cast<int32_t>(range);
      }
    }
  }
  return need;
}

Piece NeededPiece(const Graph& graph, const Layer& layer, size_t input,
                  const Piece& piece) {
  const Tensor& in = graph.tensors[layer.inputs[input]];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const OpTraits& traits = TraitsOf(layer);
  const Form form = traits.form;
  if (form == Form::kReshape) return BehindReshape(in, out, piece);
  const bool whole = piece.elements() == WholeLattice(out).elements();
  // What a part of a gradient needs is not known.
  const bool scattered = traits.scatters && traits.work == Work::kVectorOps;
  if (!whole && (scattered || traits.sum == SumRule::kErrorRows)) return {};
  Piece need = {};
  if (form == Form::kConcat) {
    const int axis = layer.attribute(SLUICE_CONCAT_AXIS);
    need = piece;
    need.count[axis] -= out.extent[axis] - in.extent[axis];
    return need.count[axis] > 0 && need.step[axis] == 1 ? need : Piece{};
  }
  // Pieces at the borders need the least. Between the borders, a resize or a transposed
  // convolution may need one row or column less.
  const Lattice low = NeededOfInput(graph, layer, input, At(out, piece, false));
  const Lattice high = NeededOfInput(graph, layer, input, At(out, piece, true));
  const bool varies = form == Form::kResize || traits.scatters;
  for (int a = 0; a < kAxes; ++a) {
    const bool fewer = low.axis[a].count < high.axis[a].count;
    need.count[a] = fewer ? low.axis[a].count : high.axis[a].count;
    need.step[a] = fewer ? low.axis[a].step : high.axis[a].step;
    const bool image = a == 1 || a == 2;
    if (varies && image && piece.count[a] != out.extent[a]) --need.count[a];
    if (need.count[a] <= 0) return {};
  }
  return need;
}

int64_t Elements(const Spread& s) {
  return int64_t{s.count[0]} * s.count[1] * s.count[2] * s.count[3];
}

// The first input that a layer of the graph makes, or their number.
uint32_t FirstMade(const Graph& graph, const Layer& layer) {
  uint32_t i = 0;
  while (
      i < layer.inputs.size() &&
      (layer.inputs[i] == kNone || graph.tensors[layer.inputs[i]].producer == kNone)) {
    ++i;
  }
  return i;
}

constexpr uint32_t kMostLooks = 24;  // layers that are looked at

// Uses of a tensor: made behind the layer in question, read behind it, read by others.
enum : uint8_t { kMadeBehind = 1, kReadBehind = 2, kReadBefore = 4 };

// True if the layer depends on the layer in question, because each tile reads something of
// every input. An element of a concatenation reads one input, so all of them must depend
// on it.
bool IsBehind(Span<const uint8_t> uses, const Layer& layer) {
  size_t made = 0;
  for (const uint32_t t : layer.inputs) {
    if (t != kNone && (uses[t] & kMadeBehind) != 0) ++made;
  }
  if (made == 0 || made == layer.inputs.size()) return made != 0;
  return TraitsOf(layer).view != ViewRule::kConcat;
}

class Rooms {
 public:
  Rooms(const Graph& graph, const Hardware& hardware, const Needs& needs,
        PricedBy prices)
      : graph_(graph), hardware_(hardware), needs_(needs), prices_(prices) {}

  Status Init(Arena* scratch) {
    SLUICE_TRY(scratch->Allocate(graph_.tensors.size(), &piece_));
    SLUICE_TRY(scratch->Allocate(graph_.layers.size(), &known_));
    return scratch->Allocate(graph_.tensors.size(), &uses_);
  }

  // Cycles of tiles that end before the first tile of a layer starts.
  int64_t CyclesBefore(uint32_t layer) {
    for (Piece& piece : piece_) piece = Piece{};
    const Layer& first = graph_.layers[layer];
    NeedInputs(first, kOneElement);
    const Form form = TraitsOf(first).form;
    const bool channelwise = form == Form::kDepthwiseConv;
    if (TraitsOf(first).sum == SumRule::kNoSum || channelwise) return CyclesOf(layer);
    // A tile that begins a sum needs no more than one channel of it, of all its window.
    const bool window = form == Form::kConv;
    for (const uint32_t t : first.inputs) {
      if (t == kNone || piece_[t].elements() == 0) continue;
      const Piece all = piece_[t];
      piece_[t] = kOneElement;
      for (int a = 1; a < 3 && window; ++a) {
        piece_[t].count[a] = all.count[a];
        piece_[t].step[a] = all.step[a];
      }
    }
    return CyclesOf(layer);
  }

  // Cycles of tiles that end before the last needed element of a tensor is made; 0 if
  // the graph needs more than one lattice of them.
  int64_t CyclesUntil(uint32_t tensor) {
    const Parts parts = PartsMade(graph_, needs_, tensor);
    if (parts.count != 1) return 0;
    for (Piece& piece : piece_) piece = Piece{};
    for (int a = 0; a < kAxes; ++a) {
      piece_[tensor].count[a] = parts.lattice[0].axis[a].count;
      piece_[tensor].step[a] = parts.lattice[0].axis[a].step;
    }
    return CyclesOf(graph_.tensors[tensor].producer + 1);
  }

  // Bytes that pass the port for a layer and those that depend on it.
  int64_t BytesBehind(uint32_t layer) {
    for (uint8_t& uses : uses_) uses = 0;
    int64_t bytes = 0;
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      const Layer& at = graph_.layers[l];
      const bool behind = l == layer || (l > layer && IsBehind(uses_, at));
      for (const uint32_t t : at.inputs) {
        if (t != kNone) uses_[t] |= behind ? kReadBehind : kReadBefore;
      }
      if (behind) bytes += MadeBytes(at);
    }
    for (uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      const bool given =
          tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kConstant;
      if (given && (uses_[t] & (kReadBehind | kReadBefore)) == kReadBehind) {
        bytes += PartsOnChip(graph_, needs_, t).elements() * tensor.element_bytes;
      }
    }
    return bytes;
  }

  // Bytes of the weights of all tiles that depend on the input's last element. Call
  // BytesBehind of the layer first.
  int64_t WeightsBehindLast(uint32_t layer, uint32_t input) {
    for (Piece& piece : piece_) piece = Piece{};
    piece_[graph_.layers[layer].inputs[input]] = kOneElement;
    int64_t bytes = 0;
    for (uint32_t l = layer; l < graph_.layers.size(); ++l) {
      const Layer& at = graph_.layers[l];
      if (l != layer && !IsBehind(uses_, at)) continue;
      Spread in = {};
      const Spread out = SpreadTo(at, &in);
      if (l == layer) piece_[at.inputs[input]] = Piece{};  // others may not need it all
      if (out.count[0] == 0) continue;
      const uint32_t made = at.outputs[0];
      for (int a = 0; a < kAxes; ++a) piece_[made].count[a] = out.count[a];
      if (in.count[0] == 0 || at.inputs.size() < 2 || at.inputs[1] == kNone) continue;
      const uint32_t weights = at.inputs[1];
      const Tensor& tensor = graph_.tensors[weights];
      const bool only = (uses_[weights] & kReadBefore) == 0;
      if (tensor.kind != TensorKind::kConstant || !only) continue;
      uses_[weights] |= kReadBefore;  // counts once
      bytes += WeightsBehind(graph_, at, in, out, PartsMade(graph_, needs_, made)) *
               tensor.element_bytes;
    }
    return bytes;
  }

 private:
  void NeedInputs(const Layer& layer, const Piece& made) {
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const uint32_t t = layer.inputs[i];
      if (t == kNone || graph_.tensors[t].producer == kNone) continue;
      const Piece need = NeededPiece(graph_, layer, i, made);
      if (need.elements() > piece_[t].elements()) piece_[t] = need;
    }
  }

  // Cycles of tiles of the layers in front of position `end` that make what is needed.
  int64_t CyclesOf(uint32_t end) {
    int64_t cycles = 0;
    for (uint32_t l = end; l-- > 0;) {
      const Layer& before = graph_.layers[l];
      const LayerKind kind = KindOf(before.op);
      if (kind != LayerKind::kCompute && kind != LayerKind::kCopy) continue;
      const Piece& made = piece_[before.outputs[0]];
      if (made.elements() == 0) continue;
      // Tiles of a weight gradient have all taps, and a part of a PAD may lie among its pads:
      // neither is followed.
      const Tensor& out = graph_.tensors[before.outputs[0]];
      const bool whole = made.elements() == WholeLattice(out).elements();
      const bool taken = TraitsOf(before).view == ViewRule::kFolds &&
                         MayBeTaken(graph_, needs_, before.outputs[0]);
      const bool follows =
          !taken && (whole || (TraitsOf(before).sum != SumRule::kErrorRows &&
                               TraitsOf(before).form != Form::kPad));
      if (kind == LayerKind::kCompute && follows) cycles += CyclesOf(l, made);
      NeedInputs(before, made);
    }
    return cycles;
  }

  // Cycles of tiles of a layer that make the piece. Mostly it is that of the last call.
  int64_t CyclesOf(uint32_t layer, const Piece& made) {
    Known* const known = &known_[layer];
    if (known->piece.Is(made)) return known->cycles;
    const Layer& at = graph_.layers[layer];
    Parts parts;
    parts.count = 1;
    parts.lattice[0] = At(graph_.tensors[at.outputs[0]], made, false);
    *known = {made, BoundOfParts(graph_, hardware_, at, parts, prices_).cycles};
    return known->cycles;
  }

  // What spreads to a layer's output from what has spread to its inputs; *in: to input 0.
  // Of a concatenation of what has spread to all inputs whole: all.
  Spread SpreadTo(const Layer& layer, Spread* in) {
    Spread widest = {};
    bool all = TraitsOf(layer).form == Form::kConcat;
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const uint32_t t = layer.inputs[i];
      if (t == kNone) continue;
      Spread to = {};
      for (int a = 0; a < kAxes; ++a) to.count[a] = piece_[t].count[a];
      if (i == 0) *in = to;
      all = all && Elements(to) == WholeLattice(graph_.tensors[t]).elements();
      if (to.count[0] == 0) continue;
      const Spread through = SpreadThrough(graph_, layer, i, to);
      if (Elements(through) > Elements(widest)) widest = through;
    }
    const Tensor& out = graph_.tensors[layer.outputs[0]];
    for (int a = 0; a < kAxes && all; ++a) widest.count[a] = out.extent[a];
    return widest;
  }

  // Outputs and appended rows, which are stored, and rows that a gather loads.
  int64_t MadeBytes(const Layer& layer) {
    const LayerKind kind = KindOf(layer.op);
    int64_t bytes = 0;
    for (const uint32_t t : layer.outputs) {
      // The rows of a state from before the append do not depend on it.
      if (kind != LayerKind::kAppend) uses_[t] |= kMadeBehind;
      const Tensor& tensor = graph_.tensors[t];
      if (kind == LayerKind::kGather) {
        bytes += PartsMade(graph_, needs_, t).elements() * tensor.element_bytes;
      }
      if (tensor.kind == TensorKind::kOutput && !IsHostMade(needs_, t)) {
        bytes += tensor.bytes;
      }
    }
    return kind == LayerKind::kAppend ? bytes + graph_.tensors[layer.inputs[1]].bytes
                                      : bytes;
  }

  const Graph& graph_;
  const Hardware& hardware_;
  const Needs& needs_;
  const PricedBy prices_;
  struct Known {
    Piece piece;
    int64_t cycles;
  };
  Span<Piece> piece_;   // by tensor: what the first tile needs
  Span<Known> known_;   // by layer: what CyclesOf found last
  Span<uint8_t> uses_;  // by tensor
};

}  // namespace

Status BoundByRoom(const RoomQuestion& question, Arena* scratch, int64_t* cycles) {
  const Graph& graph = question.graph;
  const Hardware& hardware = question.hardware;
  const Needs& needs = question.needs;
  ArenaScope scope(scratch);
  const int64_t nodes =
      Max<int64_t>(int64_t{hardware.node_cols} * hardware.node_rows, 1);
  const int64_t room = question.room;
  if (room == 0) return Status::kOk;
  Rooms rooms(graph, hardware, needs, question.prices);
  SLUICE_TRY(rooms.Init(scratch));
  const Rational bandwidth = hardware.dram().bandwidth;
  const auto until = [&](int64_t tiles, int64_t bytes) {
    return question.first_load + CeilDivide(tiles, nodes) +
           TransferCycles(bytes, bandwidth.numerator, bandwidth.denominator);
  };
  // What a layer gives is no more than if its first tile waited for all tiles of layers in
  // front of it, and all bytes from it on for the tile. What may give most is looked at first.
  Span<int64_t> promise;
  SLUICE_TRY(scratch->Allocate(question.layers.size(), &promise));
  int64_t tiles = 0, bytes = question.bytes - room;
  for (uint32_t l = 0; l < promise.size(); ++l) {
    const sluice_layer_least_t& least = question.layers[l];
    const bool looked = least.cycles != 0 && bytes > 0 &&
                        KindOf(graph.layers[l].op) == LayerKind::kCompute;
    if (looked) promise[l] = until(tiles, bytes);
    tiles = Min(tiles + static_cast<int64_t>(least.cycles), kManyCycles);
    bytes -= static_cast<int64_t>(least.constant_bytes + least.loaded_bytes +
                                  least.stored_bytes);
  }
  for (uint32_t looks = 0; looks < kMostLooks; ++looks) {
    if (scratch->memory()->Stop()) return Status::kStopped;
    int64_t* const most = std::max_element(promise.begin(), promise.end());
    if (most == promise.end() || *most <= *cycles) return Status::kOk;
    *most = 0;
    const uint32_t layer = static_cast<uint32_t>(most - promise.begin());
    const int64_t behind = rooms.BytesBehind(layer) - room;
    if (behind > 0) *cycles = Max(*cycles, until(rooms.CyclesBefore(layer), behind));
    const Layer& at = graph.layers[layer];
    const uint32_t input = FirstMade(graph, at);
    if (input == at.inputs.size()) continue;
    const int64_t weights = rooms.WeightsBehindLast(layer, input) - room;
    if (weights <= 0) continue;
    *cycles = Max(*cycles, until(rooms.CyclesUntil(at.inputs[input]), weights));
  }
  return Status::kOk;
}

}  // namespace sluice
