// SPDX-License-Identifier: Apache-2.0
#include "model/program.h"

#include "base/checked.h"
#include "model/off_chip.h"

namespace sluice {

uint32_t EngineOf(const Program& program, const Step& step) {
  const Engines& engines = program.engines();
  switch (step.kind) {
    case StepKind::kCompute:
      return engines.compute(step.node);
    case StepKind::kForward:
      return engines.send(step.node);
    case StepKind::kHost:
      return engines.host();
    default:
      return engines.of_queue(program.transfer_form(step.item).queue, step.node);
  }
}

namespace {

// A node's place on one axis of the mesh, and the places [first, last] of a rectangle.
struct OnAxis {
  OnAxis(uint32_t cols, uint32_t node, const NodeRect& to, int axis)
      : from(axis == 0 ? node % cols : node / cols),
        first(axis == 0 ? to.node % cols : to.node / cols),
        last(first + (axis == 0 ? to.cols : to.rows) - 1) {}
  int64_t from, first, last;
};

}  // namespace

int64_t FarthestHops(uint32_t cols, uint32_t node, const NodeRect& to) {
  int64_t hops = 0;
  for (int axis = 0; axis < 2; ++axis) {
    const OnAxis at(cols, node, to, axis);
    hops += Max(at.last - at.from, at.from - at.first);
  }
  return hops;
}

int64_t LinksTo(uint32_t cols, uint32_t node, const NodeRect& to) {
  int64_t links = int64_t{to.cols} * to.rows - 1;
  for (int axis = 0; axis < 2; ++axis) {
    const OnAxis at(cols, node, to, axis);
    links += Max<int64_t>(0, Max(at.first - at.from, at.from - at.last));
  }
  return links;
}

uint8_t WireRole(int tile_role) {
  switch (tile_role) {
    case kRoleWeight:
      return SLUICE_ROLE_WEIGHT;
    case kRoleParameters:
      return SLUICE_ROLE_PARAMETERS;
    case kRoleOutput:
      return SLUICE_ROLE_OUTPUT;
    default:
      return SLUICE_ROLE_INPUT;
  }
}

BufferBox DenseBuffer(BufferRange range, const int32_t extent[kAxes], uint8_t dtype,
                      uint32_t element_bytes) {
  BufferBox box = {};
  box.range = range;
  box.offset = range.begin;
  box.dtype = dtype;
  uint32_t stride = element_bytes;
  for (int a = kAxes - 1; a >= 0; --a) {
    box.extent[a] = extent[a];
    box.stride[a] = stride;
    stride *= static_cast<uint32_t>(extent[a]);
  }
  return box;
}

DramBox TensorBox(uint32_t tensor, const TensorPlace& place, const Box& box) {
  DramBox dram = {};
  dram.tensor = tensor;
  dram.region = place.region;
  for (int a = 0; a < kAxes; ++a) {
    dram.offset += int64_t{box.begin[a]} * place.stride[a];
    dram.extent[a] = box.extent[a];
    dram.stride[a] = place.stride[a];
  }
  return dram;
}

TransferWork WorkOf(const Graph& graph, const Program& program, const TransferForm& t) {
  const BufferBox& box = program.box(t.buffer);
  const Tensor& tensor = graph.tensors[t.tensor];
  const int64_t encoded =
      tensor.encoded_bytes == 0 ? 0 : MovedBytes(tensor, BoxBytes(box));
  return {WorkOf(program.engines().queue(t.queue),
                 {box.extent, t.stride, box.stride,
                  static_cast<uint32_t>(DtypeBytes(box.dtype)), t.other != kNoBox,
                  encoded}),
          encoded};
}

int64_t BoxBytes(const BufferBox& box) {
  const int32_t* const n = box.extent;
  return int64_t{DtypeBytes(box.dtype)} * n[0] * n[1] * n[2] * n[3];
}

Status Program::Push(StepKind kind, uint32_t node, uint32_t layer, size_t item) {
  if (item >> kItemBits != 0 || size() >> kItemBits != 0 || layer >> kLayerBits != 0) {
    return Status::kUnsupported;
  }
  SLUICE_ASSERT(node < nodes_);
  return steps_.Push(PackedStep{
      layer | node << kLayerBits,
      static_cast<uint32_t>(item) | static_cast<uint32_t>(kind) << kItemBits});
}

namespace {

// The queue that may run the transfer and was given the fewest bytes so far: given[queue].
uint32_t ChooseQueue(const Engines& engines, const int64_t* given, StepKind kind,
                     const Transfer& t) {
  const uint32_t does = kind == StepKind::kLoad ? SLUICE_DOES_LOAD : SLUICE_DOES_STORE;
  uint32_t best = kNone;
  for (uint32_t q = 0; q < engines.queues(); ++q) {
    const Queue& queue = engines.queue(q);
    if ((queue.does & does) == 0 || (queue.roles & t.role) == 0) continue;
    if (best == kNone || given[q] < given[best]) best = q;
  }
  return best;
}

TransferForm FormOf(const Transfer& t, bool forward, uint32_t queue) {
  TransferForm form = {t.dram.tensor,
                       t.dram.moves,
                       t.dram.parameter,
                       t.dram.step,
                       {},
                       {},
                       kNoBox,
                       kNoBox,
                       forward ? t.to.node : 0,
                       Max(t.to.cols, 1u),
                       Max(t.to.rows, 1u),
                       t.role,
                       queue,
                       t.dram.region};
  for (int a = 0; a < kAxes; ++a) {
    form.extent[a] = t.dram.extent[a];
    form.stride[a] = t.dram.stride[a];
  }
  return form;
}

TileForm FormOf(const TileStep& t) {
  TileForm form = {{},
                   kNoBox,
                   t.first,
                   t.last,
                   {},
                   t.cycles,
                   t.macs,
                   t.vector_ops,
                   TileForm::ToBits(t.energy_pj),
                   TileForm::ToBits(t.scratchpad_pj)};
  for (int i = 0; i < 4; ++i) form.pad[i] = t.pad[i];
  return form;
}

}  // namespace

Status Program::AddTransfer(StepKind kind, uint32_t layer, const Transfer& t) {
  if (kind == StepKind::kForward) return PushTransfer(kind, layer, t, 0);
  const uint32_t queue = ChooseQueue(engines_, queue_bytes_, kind, t);
  if (queue == kNone) return Status::kUnsupported;
  queue_bytes_[queue] += BoxBytes(t.buffer);
  if (kind == StepKind::kStore || !engines_.queue(queue).per_node) {
    return PushTransfer(kind, layer, t, queue);
  }
  // A queue of a node loads for that node alone.
  for (uint32_t i = 0; i < Max(t.to.cols, 1u) * Max(t.to.rows, 1u); ++i) {
    Transfer one = t;
    one.to.node = t.to.node + i / Max(t.to.cols, 1u) * cols_ + i % Max(t.to.cols, 1u);
    one.to.cols = one.to.rows = 1;
    SLUICE_TRY(PushTransfer(kind, layer, one, queue));
  }
  return Status::kOk;
}

Status Program::PushTransfer(StepKind kind, uint32_t layer, const Transfer& t,
                             uint32_t queue) {
  const bool forward = kind == StepKind::kForward;
  TransferForm form = FormOf(t, forward, queue);
  SLUICE_TRY(boxes_.Intern(t.buffer, &form.buffer));
  if (t.indexed || forward) {
    SLUICE_TRY(boxes_.Intern(forward ? t.landing : t.index, &form.other));
  }
  const uint64_t offset = static_cast<uint64_t>(t.dram.offset);
  PackedTransfer packed = {0, static_cast<uint32_t>(offset),
                           static_cast<uint32_t>(offset >> 32)};
  SLUICE_TRY(transfer_forms_.Intern(form, &packed.form));
  SLUICE_TRY(Push(kind, kind == StepKind::kLoad ? t.to.node : t.node, layer,
                  transfers_.size()));
  return transfers_.Push(packed);
}

Status Program::AddTile(uint32_t layer, const TileStep& t) {
  TileForm form = FormOf(t);
  for (int r = 0; r < kTileRoles; ++r) {
    form.operand[r] = kNoBox;
    if (t.present[r]) SLUICE_TRY(boxes_.Intern(t.operand[r], &form.operand[r]));
  }
  if (t.has_accumulator) SLUICE_TRY(boxes_.Intern(t.accumulator, &form.accumulator));
  PackedTile packed = {0, {{}, t.c_begin, t.c_end}};
  for (int a = 0; a < kAxes; ++a) packed.place.origin[a] = t.origin[a];
  SLUICE_TRY(tile_forms_.Intern(form, &packed.form));
  SLUICE_TRY(Push(StepKind::kCompute, t.node, layer, tiles_.size()));
  return tiles_.Push(packed);
}

Status Program::Reorder(Span<const uint32_t> order, Span<const uint32_t> blocks,
                        Arena* scratch) {
  ArenaScope scope(scratch);
  Span<PackedStep> before;
  SLUICE_TRY(scratch->Allocate(steps_.size(), &before));
  for (size_t i = 0; i < before.size(); ++i) before[i] = steps_[i];
  for (size_t i = 0; i < before.size(); ++i) steps_[i] = before[order[i]];
  DropBlocks();
  for (const uint32_t begin : blocks) SLUICE_TRY(BeginBlock(begin));
  return Status::kOk;
}

}  // namespace sluice
