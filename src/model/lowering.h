// SPDX-License-Identifier: Apache-2.0
// Where tensors lie in DRAM, and which layers need no work because they are views.
//
// CONCAT, SLICE and RESHAPE become views (strided aliases of another tensor's memory)
// where that is legal, and copies elsewhere. Workspace tensors share memory when their
// lifetimes do not overlap.
//
// Input    graph, hardware (dram_granule_bytes).
// Output   one place per tensor, one action per layer, bytes per DRAM region.
// Errors   kUnsupported when a region exceeds what the stream can address.
// Cost     O(layers * inputs + tensors^2 in the worst case of reuse), small scratch.
#ifndef SLUICE_MODEL_LOWERING_H_
#define SLUICE_MODEL_LOWERING_H_

#include "base/memory.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "model/tile_geometry.h"

namespace sluice {

// A candidate or final alias: `tensor` lies inside `parent`.
struct View {
  uint32_t parent;       // kNone: the tensor has memory of its own
  bool reshape;          // same bytes in the same order, other extents
  int32_t begin[kAxes];  // else: the box of the parent that starts at `begin`
};

struct Lowering {
  Span<TensorPlace> places;  // per tensor
  Span<View> views;          // per tensor
  Span<uint8_t> is_view;     // per layer: 1 when the layer needs no work
  // Layers as executed: a convolution that takes over a PAD reads the PAD's input and
  // adds the PAD's pads to its own. The folded PAD itself counts as a view.
  Span<Layer> executed;
  uint64_t region_bytes[SLUICE_REGION_COUNT];
};

// True for a PAD that its convolutions have taken over: it writes nothing, and its
// output has no readers.
inline bool IsFolded(uint16_t op, uint8_t is_view) {
  return is_view != 0 && TraitsOf(op).view == ViewRule::kFolds;
}

// True for a PAD that can be folded: its only readers are convolutions that pad with
// the same value, and the summed pads stay smaller than their windows.
bool MayFoldPad(const Graph& graph, uint32_t pad_layer);

Status Lower(const Graph& graph, const Hardware& hardware, Arena* arena,
             Lowering* lowering, Diagnostic* diagnostic);

// Fills in the times of views, which have no steps: each has the time of its latest
// producer. when: time per layer.
void TimeViews(const Graph& graph, const Lowering& lowering, Span<uint32_t> when);

// Places all tensors again (places, region_bytes) for layers that may overlap in time.
// when: time per layer, equal for overlapping layers; workspace bytes are reused only
// at a later time. on_chip: per tensor, 1 when it never leaves the scratchpad. Empty
// spans: one layer after the other, all tensors in DRAM.
Status PlaceInDram(const Graph& graph, Span<const uint32_t> when,
                   Span<const uint8_t> on_chip, Arena* scratch, Lowering* lowering,
                   Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_LOWERING_H_
