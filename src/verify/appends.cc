// SPDX-License-Identifier: Apache-2.0
// STATE_APPEND: rows stored through patched slots, proved for every value at once.
//
// The parameter moves a patched address exactly as it moves the rows within the state.
// So a store that is right for value 0 (which need not be in the range) is right for
// all. While rows are missing, everything that the append can reach counts as lost;
// once the last row is stored, it counts as the state after the append.
#include <new>

#include "base/checked.h"
#include "verify/follow.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {

Status InitAppends(Follower* f) {
  const Graph& graph = f->judge->graph;
  size_t count = 0;
  for (const Layer& layer : graph.layers) count += DeedOf(layer) == Deed::kAppend;
  SLUICE_TRY(f->judge->arena->Allocate(count, &f->appends));
  count = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (DeedOf(graph.layers[l]) != Deed::kAppend) continue;
    void* raw =
        f->judge->arena->AllocateBytes(sizeof(AppendProgress), alignof(AppendProgress));
    if (raw == nullptr) return Status::kOutOfMemory;
    AppendProgress* progress = new (raw) AppendProgress(f->judge->arena);
    const Tensor& rows = graph.tensors[graph.layers[l].inputs[1]];
    progress->layer = l;
    progress->missing = rows.bytes / rows.element_bytes;
    f->appends[count++] = progress;
  }
  return Status::kOk;
}

// Finds the append whose state the store goes to, by the store's patch and the state's
// place.
static Status FindAppend(Follower* f, const Access& dst, AppendProgress** out) {
  const Graph& graph = f->judge->graph;
  const sluice_patch_t& patch = f->judge->stream.patches[dst.patch];
  for (AppendProgress* progress : f->appends) {
    const Layer& layer = graph.layers[progress->layer];
    const TensorPlace& place = f->judge->plan.tensors[layer.outputs[0]];
    const Tensor& state = graph.tensors[layer.outputs[0]];
    int64_t end = static_cast<int64_t>(place.offset) + state.element_bytes;
    for (int a = 0; a < kAxes; ++a) {
      end += (state.extent[a] - int64_t{1}) * place.stride[a];
    }
    if (place.region != SLUICE_REGION_STATE ||
        dst.base < static_cast<int64_t>(place.offset) || dst.base >= end) {
      continue;
    }
    const int axis = layer.attribute(SLUICE_APPEND_AXIS);
    const uint32_t parameter =
        static_cast<uint32_t>(layer.attribute(SLUICE_APPEND_PARAMETER));
    if (patch.parameter != parameter || patch.step_lo != place.stride[axis]) {
      return Reject(*f->judge, "patch")
          .Layer(progress->layer)
          .Text("the patch moves differently from this state's rows");
    }
    *out = progress;
    return Status::kOk;
  }
  return Reject(*f->judge, "append")
      .Text("stores outside the states that have an append");
}

// Takes one part of a store. found.at: its index in the frame of rows. Its twin is the
// address that it comes from in the scratchpad `memory`, which must hold exactly these
// rows.
static Status TakeRows(Follower* f, AppendProgress* progress, const Inside& found,
                       const Frame& frame, uint32_t memory) {
  const Graph& graph = f->judge->graph;
  const uint32_t t = graph.layers[progress->layer].inputs[1];
  const Tensor& rows = graph.tensors[t];
  int64_t dense[kAxes];
  DenseElements(rows.extent, dense);
  AppendProgress::Part part = {{}, {1, 1, 1, 1}};
  Box box = Box::At(found.part.twin, 0, rows.element_bytes);
  for (uint32_t j = 0; j < frame.dims; ++j) {
    part.begin[frame.axis[j]] = found.at[j];
    box.twin += found.at[j] * dense[frame.axis[j]];
  }
  for (uint32_t d = 0; d < found.part.dims; ++d) {
    const Dim& dim = found.part.dim[d];
    const uint8_t axis = frame.axis[found.along[d]];
    part.extent[axis] = dim.count;
    box.Add(dim.count, dim.twin, dense[axis]);
  }
  SLUICE_TRY(Take(f, memory, box, {t, progress->layer, "content", "appended rows"}));
  int64_t elements = 1;
  for (int a = 0; a < kAxes; ++a) elements *= part.extent[a];
  for (const AppendProgress::Part& other : progress->parts) {
    SLUICE_TRY(Spend(f->judge, 1));
    bool apart = false;
    for (int a = 0; a < kAxes; ++a) {
      apart = apart || part.begin[a] >= other.begin[a] + other.extent[a] ||
              other.begin[a] >= part.begin[a] + part.extent[a];
    }
    if (apart) continue;
    return Reject(*f->judge, "append")
        .Layer(progress->layer)
        .Text("appends rows twice");
  }
  progress->missing -= elements;
  return progress->parts.Push(part);
}

Status StoreRows(Follower* f, const sluice_transfer_t& transfer, const Access& src,
                 const Access& dst) {
  AppendProgress* progress = nullptr;
  SLUICE_TRY(FindAppend(f, dst, &progress));
  const Graph& graph = f->judge->graph;
  const Layer& layer = graph.layers[progress->layer];
  const uint32_t t = layer.outputs[0];
  const Tensor& state = graph.tensors[t];
  const Tensor& rows = graph.tensors[layer.inputs[1]];
  const TensorPlace& place = f->judge->plan.tensors[t];
  int64_t extent[kAxes], stride[kAxes];
  for (int a = 0; a < kAxes; ++a) {
    extent[a] = rows.extent[a];
    stride[a] = place.stride[a];
  }
  Frame frame;
  f->inside.Truncate(0);
  f->outside.Truncate(0);
  bool aligned =
      dst.width == rows.element_bytes && dst.dtype == rows.dtype &&
      MakeFrame(static_cast<int64_t>(place.offset), dst.width, extent, stride, &frame);
  if (aligned) {
    SLUICE_TRY(Cut(dst.BoxWith(src.base, src.stride), frame,
                   {f->judge, &f->todo, &f->inside, &f->outside, &aligned}));
  }
  if (!aligned || f->outside.size() != 0) {
    return Reject(*f->judge, "append")
        .Layer(progress->layer)
        .Text("stores outside this layer's rows");
  }
  const uint32_t source = MemoryOf(f->contents, src.region, transfer.src_node);
  for (size_t i = 0; i < f->inside.size(); ++i) {
    const Inside found = f->inside[i];
    SLUICE_TRY(TakeRows(f, progress, found, frame, source));
  }
  // All bytes that the rows may occupy, for any value of the parameter.
  const AppendReach reach = ReachOf(graph, layer);
  Access all = dst;
  int64_t origin[kAxes] = {};
  all.base = static_cast<int64_t>(place.offset) + reach.begin * stride[reach.axis];
  for (int a = 0; a < kAxes; ++a) {
    all.extent[a] = state.extent[a];
    all.stride[a] = stride[a];
  }
  all.extent[reach.axis] = reach.end - reach.begin;
  origin[reach.axis] = reach.begin;
  const uint32_t after = static_cast<uint32_t>(graph.tensors.size()) + t;
  return LayDown(f, MemoryOf(f->contents, dst.region, 0),
                 progress->missing == 0 ? after : kNone, all, origin, false);
}

}  // namespace judge
}  // namespace sluice
