// SPDX-License-Identifier: Apache-2.0
// The tables of one block.
#include "emit/emitter.h"

namespace sluice {

namespace {

constexpr char kStage[] = "emit";
constexpr size_t kMostSlots = UINT16_MAX;  // numbered from 1; slot 0 is the scratchpad

// The piece that is being written.
struct Writing {
  Emitter* e;
  size_t piece;
  Body* body;
  uint32_t depth;  // loops around it
  uint32_t period[SLUICE_MAX_LOOPS] =
      {};               // steps of an iteration, the outermost's first
  Span<uint32_t> done;  // of each engine: steps of the piece so far
};

Status EmitWaits(const Writing& w, uint32_t step, sluice_instruction_t* instruction) {
  const Emitter& e = *w.e;
  Body* body = w.body;
  instruction->first_wait = static_cast<uint32_t>(body->waits.size());
  for (uint32_t i = e.waits.begin[step]; i < e.waits.begin[step + 1]; ++i) {
    const uint32_t engine = e.waits.waits[i].engine;
    sluice_wait_t out = {};
    out.engine = static_cast<uint16_t>(engine);
    out.before = e.back[i] >= w.done[engine];
    out.count =
        out.before != 0 ? e.back[i] - w.done[engine] : w.done[engine] - e.back[i];
    SLUICE_TRY(body->waits.Push(out));
  }
  instruction->wait_count =
      static_cast<uint16_t>(body->waits.size() - instruction->first_wait);
  if (instruction->wait_count == 0) instruction->first_wait = 0;
  return Status::kOk;
}

Status SlotOf(const Writing& w, const Slot& wanted, uint16_t* slot) {
  Body* body = w.body;
  for (size_t i = 0; i < body->slots.size(); ++i) {
    const Slot& known = body->slots[i];
    bool same = known.tensor == wanted.tensor && known.moves == wanted.moves &&
                known.parameter == wanted.parameter && known.step == wanted.step;
    for (uint32_t d = 0; d < w.depth; ++d) same = same && known.by[d] == wanted.by[d];
    if (same) {
      *slot = static_cast<uint16_t>(i + 1);
      return Status::kOk;
    }
  }
  if (body->slots.size() >= kMostSlots) return Status::kUnsupported;
  SLUICE_TRY(body->slots.Push(wanted));
  *slot = static_cast<uint16_t>(body->slots.size());
  return Status::kOk;
}

struct OperandBox {
  uint16_t slot;
  uint8_t dtype;
  int64_t offset;
  const int32_t* extent;
  const uint32_t* stride;
};

Status MakeOperand(const OperandBox& box, Body* body, sluice_operand_t* out) {
  sluice_shape_t shape = {};
  for (int a = 0; a < kAxes; ++a) {
    shape.extent[a] = static_cast<uint32_t>(box.extent[a]);
    // The stride of a single element has no meaning; 0 lets more boxes share a shape.
    shape.stride[a] = box.extent[a] == 1 ? 0 : box.stride[a];
  }
  *out = sluice_operand_t{};
  SLUICE_TRY(body->shapes.Intern(shape, &out->shape));
  out->slot = box.slot;
  out->dtype = box.dtype;
  out->offset_lo = static_cast<uint32_t>(box.offset);
  out->offset_hi = static_cast<uint32_t>(static_cast<uint64_t>(box.offset) >> 32);
  return Status::kOk;
}

Status BufferOperand(const Writing& w, uint32_t box_index, uint32_t* index) {
  *index = SLUICE_NONE;
  if (box_index == kNoBox) return Status::kOk;
  KnownOperand* known = &w.e->known[box_index];
  if (known->piece != w.piece) {
    const BufferBox& box = w.e->program.box(box_index);
    sluice_operand_t operand;
    SLUICE_TRY(MakeOperand({0, box.dtype, box.offset, box.extent, box.stride}, w.body,
                           &operand));
    SLUICE_TRY(w.body->operands.Intern(operand, &known->index));
    known->piece = static_cast<uint32_t>(w.piece);
  }
  *index = known->index;
  return Status::kOk;
}

// Index of the kernel of a layer. tile: kernels of tiles differ by how the loops move
// the tile; a transfer needs the layer alone.
Status KernelOf(const Writing& w, uint32_t layer, bool tile, uint32_t step,
                uint32_t* kernel) {
  KernelUse use = {layer, tile, {}};
  for (uint32_t d = 0; tile && d < w.depth; ++d) {
    const StepMove move = MoveBetween(w.e->program, step, step + w.period[d]);
    for (int i = 0; i <= kAxes; ++i) use.by[d][i] = move.place[i];
  }
  for (size_t i = w.body->kernels.size(); i-- > 0;) {
    KernelUse& known = w.body->kernels[i];
    if (known.layer != layer) continue;
    if (tile && !known.placed) known = use;
    if (tile && memcmp(known.by, use.by, sizeof use.by) != 0) continue;
    *kernel = static_cast<uint32_t>(i);
    return Status::kOk;
  }
  *kernel = static_cast<uint32_t>(w.body->kernels.size());
  return w.body->kernels.Push(use);
}

// What the transfer says of its queue's work.
Status FillWork(const Emitter& e, const TransferForm& t, sluice_transfer_t* out) {
  const TransferWork work = WorkOf(e.graph, e.program, t);
  if (work.queue.descriptors > UINT16_MAX) {
    return Fail(e.diagnostic, Status::kUnsupported, kStage)
        .Say("a transfer takes # descriptors of queue #; 65535 are the most",
             work.queue.descriptors, t.queue);
  }
  out->descriptors = static_cast<uint16_t>(work.queue.descriptors);
  out->moved_bytes = static_cast<uint32_t>(work.encoded);
  return Status::kOk;
}

Status EmitTransfer(const Writing& w, uint32_t i, sluice_instruction_t* instruction) {
  Emitter* e = w.e;
  Body* body = w.body;
  const Step step = e->program.step(i);
  const TransferForm& t = e->program.transfer_form(step.item);
  const bool load = step.kind == StepKind::kLoad;
  const bool forward = step.kind == StepKind::kForward;
  uint32_t far = 0;  // the DRAM side, or the destination of a FORWARD
  uint32_t buffer = 0;
  sluice_transfer_t out = {};
  out.index = SLUICE_NONE;
  if (forward) {
    SLUICE_TRY(BufferOperand(w, t.other, &far));
  } else {
    uint16_t slot = 0;
    Slot wanted = {t.tensor, t.moves, t.parameter, t.step, {}};
    for (uint32_t d = 0; d < w.depth; ++d) {
      wanted.by[d] = MoveBetween(e->program, i, i + w.period[d]).bytes;
    }
    SLUICE_TRY(SlotOf(w, wanted, &slot));
    sluice_operand_t operand;
    SLUICE_TRY(MakeOperand({slot, e->program.box(t.buffer).dtype,
                            e->program.dram_offset(step.item), t.extent, t.stride},
                           body, &operand));
    SLUICE_TRY(body->operands.Intern(operand, &far));
  }
  SLUICE_TRY(BufferOperand(w, t.buffer, &buffer));
  out.src = load ? far : buffer;
  out.dst = load ? buffer : far;
  if (load) SLUICE_TRY(BufferOperand(w, t.other, &out.index));
  if (load || forward) {
    out.dst_node = static_cast<uint16_t>(forward ? t.to : step.node);
    out.dst_cols = static_cast<uint16_t>(t.cols);
    out.dst_rows = static_cast<uint16_t>(t.rows);
  }
  if (!load) out.src_node = static_cast<uint16_t>(step.node);
  out.role = static_cast<uint8_t>(t.role);
  SLUICE_TRY(KernelOf(w, step.layer, false, i, &out.kernel));
  if (!forward) SLUICE_TRY(FillWork(*e, t, &out));
  instruction->opcode = load      ? SLUICE_OPCODE_LOAD
                        : forward ? SLUICE_OPCODE_FORWARD
                                  : SLUICE_OPCODE_STORE;
  instruction->descriptor = static_cast<uint32_t>(body->transfers.size());
  return body->transfers.Push(out);
}

Status EmitTile(const Writing& w, uint32_t i, sluice_instruction_t* instruction) {
  Emitter* e = w.e;
  Body* body = w.body;
  const Step step = e->program.step(i);
  const TileForm& form = e->program.tile_form(step.item);
  const TilePlace& place = e->program.tile_place(step.item);
  sluice_tile_t out = {};
  SLUICE_TRY(KernelOf(w, step.layer, true, i, &out.kernel));
  out.cycles = static_cast<uint32_t>(form.cycles);
  uint32_t* role[kTileRoles] = {&out.input0, &out.input1, &out.weight, &out.parameters,
                                &out.output};
  for (int r = 0; r < kTileRoles; ++r) {
    SLUICE_TRY(BufferOperand(w, form.operand[r], role[r]));
  }
  SLUICE_TRY(BufferOperand(w, form.accumulator, &out.accumulator));
  for (int a = 0; a < kAxes; ++a) {
    out.origin[a] = static_cast<uint32_t>(place.origin[a]);
  }
  out.c_begin = static_cast<uint32_t>(place.c_begin);
  out.c_end = static_cast<uint32_t>(place.c_end);
  for (int p = 0; p < 4; ++p) out.pad[p] = form.pad[p];
  instruction->opcode = SLUICE_OPCODE_COMPUTE;
  instruction->flags = static_cast<uint8_t>((form.first != 0 ? SLUICE_FLAG_FIRST : 0) |
                                            (form.last != 0 ? SLUICE_FLAG_LAST : 0));
  instruction->descriptor = static_cast<uint32_t>(body->tiles.size());
  return body->tiles.Push(out);
}

Status EmitHost(const Writing& w, uint32_t at, sluice_instruction_t* instruction) {
  const Emitter& e = *w.e;
  Body* body = w.body;
  const Step step = e.program.step(at);
  const Layer& layer = e.graph.layers[step.layer];
  sluice_host_call_t call = {};
  SLUICE_TRY(KernelOf(w, step.layer, false, at, &call.kernel));
  call.first_operand = static_cast<uint32_t>(body->host_operands.size());
  call.inputs = static_cast<uint32_t>(layer.inputs.size());
  call.outputs = static_cast<uint32_t>(layer.outputs.size());
  call.why = e.graph.why.empty() ? 0u : e.graph.why[step.layer];
  call.cycles_lo = static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_LO));
  call.cycles_hi = static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_HI));
  for (size_t i = 0; i < layer.inputs.size() + layer.outputs.size(); ++i) {
    const uint32_t tensor = i < layer.inputs.size()
                                ? layer.inputs[i]
                                : layer.outputs[i - layer.inputs.size()];
    const DramBox box =
        TensorBox(tensor, e.lowering.places[tensor], WholeBox(e.graph.tensors[tensor]));
    uint16_t slot = 0;
    SLUICE_TRY(SlotOf(w, Slot{tensor, 0, 0, 0, {}}, &slot));
    sluice_operand_t operand;
    SLUICE_TRY(MakeOperand(
        {slot, e.graph.tensors[tensor].dtype, box.offset, box.extent, box.stride}, body,
        &operand));
    SLUICE_TRY(body->host_operands.Push(operand));
  }
  instruction->opcode = SLUICE_OPCODE_HOST;
  instruction->descriptor = static_cast<uint32_t>(body->host_calls.size());
  return body->host_calls.Push(call);
}

}  // namespace

Status FillBody(Emitter* e, size_t piece, Arena* arena, Body* body) {
  const Piece& at = e->pieces.pieces[piece];
  Writing w = {e, piece, body, 0, {}, {}};
  for (uint32_t l = at.loop; l != kNone; l = e->pieces.loops[l].parent) ++w.depth;
  uint32_t d = w.depth;
  for (uint32_t l = at.loop; l != kNone; l = e->pieces.loops[l].parent) {
    w.period[--d] = e->pieces.loops[l].period;
  }
  SLUICE_TRY(arena->Allocate(e->engines + 1, &body->list));
  SLUICE_TRY(arena->Allocate(at.end - at.begin, &body->instructions));
  SLUICE_TRY(arena->Allocate(at.end - at.begin, &body->layers));
  SLUICE_TRY(arena->Allocate(e->engines, &w.done));
  for (uint32_t i = at.begin; i < at.end; ++i) {
    ++body->list[EngineOf(e->program, e->program.step(i)) + 1];
  }
  for (uint32_t k = 0; k < e->engines; ++k) body->list[k + 1] += body->list[k];
  for (uint32_t i = at.begin; i < at.end; ++i) {
    const Step step = e->program.step(i);
    sluice_instruction_t instruction = {};
    switch (step.kind) {
      case StepKind::kCompute:
        SLUICE_TRY(EmitTile(w, i, &instruction));
        break;
      case StepKind::kHost:
        SLUICE_TRY(EmitHost(w, i, &instruction));
        break;
      default:
        SLUICE_TRY(EmitTransfer(w, i, &instruction));
        break;
    }
    SLUICE_TRY(EmitWaits(w, i, &instruction));
    const uint32_t engine = EngineOf(e->program, step);
    const uint32_t place = body->list[engine] + w.done[engine]++;
    body->instructions[place] = instruction;
    body->layers[place] = step.layer;
  }
  // Host calls use contiguous operands, which follow the interned operands.
  const uint32_t base = static_cast<uint32_t>(body->operands.size());
  for (size_t i = 0; i < body->host_calls.size(); ++i) {
    body->host_calls[i].first_operand += base;
  }
  return Status::kOk;
}

}  // namespace sluice
