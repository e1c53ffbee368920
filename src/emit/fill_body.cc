// SPDX-License-Identifier: Apache-2.0
// The tables of one block.
#include "emit/emitter.h"

namespace sluice {

namespace {

constexpr char kStage[] = "emit";

Status EmitWaits(Emitter* emitter, size_t block, uint32_t step, Body* body,
                 sluice_instruction_t* instruction) {
  const Emitter& e = *emitter;
  instruction->first_wait = static_cast<uint32_t>(body->waits.size());
  for (uint32_t w = e.waits.begin[step]; w < e.waits.begin[step + 1]; ++w) {
    const ProgramWait& wait = e.waits.waits[w];
    const size_t source = BlockOf(e, wait.engine, wait.count, block);
    const uint32_t count = wait.count - e.first[source * e.engines + wait.engine];
    sluice_wait_t out = {};
    if (source == block) {
      out.engine = static_cast<uint16_t>(wait.engine);
      out.count = count;
    } else {
      if (block - source > 32767) {
        return Fail(e.diagnostic, Status::kUnsupported, kStage)
            .Text("a wait reaches back more than 32767 blocks");
      }
      out.instance = static_cast<int16_t>(-static_cast<int>(block - source));
      const Export wanted = {static_cast<uint32_t>(source), wait.engine, count};
      uint32_t x = 0;
      SLUICE_TRY(emitter->all_exports.Intern(wanted,
                                             &x));  // it was interned by CollectExports
      out.count = e.export_links[x].number;
    }
    SLUICE_TRY(body->waits.Push(out));
  }
  instruction->wait_count =
      static_cast<uint16_t>(body->waits.size() - instruction->first_wait);
  if (instruction->wait_count == 0) instruction->first_wait = 0;
  return Status::kOk;
}

Status SlotOf(const Slot& wanted, Body* body, uint16_t* slot) {
  for (size_t i = 0; i < body->slots.size(); ++i) {
    const Slot& known = body->slots[i];
    if (known.tensor == wanted.tensor && known.moves == wanted.moves &&
        known.parameter == wanted.parameter && known.step == wanted.step) {
      *slot = static_cast<uint16_t>(i + 1);
      return Status::kOk;
    }
  }
  if (body->slots.size() >= 65535 - 1) return Status::kUnsupported;
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

Status BufferOperand(Emitter* e, size_t block, uint32_t box_index, Body* body,
                     uint32_t* index) {
  *index = SLUICE_NONE;
  if (box_index == kNoBox) return Status::kOk;
  KnownOperand* known = &e->known[box_index];
  if (known->block != block) {
    const BufferBox& box = e->program.box(box_index);
    sluice_operand_t operand;
    SLUICE_TRY(MakeOperand({0, box.dtype, box.offset, box.extent, box.stride}, body,
                           &operand));
    SLUICE_TRY(body->operands.Intern(operand, &known->index));
    known->block = static_cast<uint32_t>(block);
  }
  *index = known->index;
  return Status::kOk;
}

Status KernelOf(uint32_t layer, Body* body, uint32_t* kernel) {
  for (size_t i = body->kernel_layers.size(); i-- > 0;) {
    if (body->kernel_layers[i] == layer) {
      *kernel = static_cast<uint32_t>(i);
      return Status::kOk;
    }
  }
  *kernel = static_cast<uint32_t>(body->kernel_layers.size());
  return body->kernel_layers.Push(layer);
}

// Descriptors that the transfer's queue takes.
Status CountDescriptors(const Emitter& e, const TransferForm& t, uint16_t* count) {
  const BufferBox& box = e.program.box(t.buffer);
  const QueueWork work =
      WorkOf(e.program.engines().queue(t.queue),
             {box.extent, t.stride, box.stride,
              static_cast<uint32_t>(DtypeBytes(box.dtype)), t.other != kNoBox});
  if (work.descriptors > UINT16_MAX) {
    return Fail(e.diagnostic, Status::kUnsupported, kStage)
        .Text("a transfer takes ")
        .Number(work.descriptors)
        .Text(" descriptors of queue ")
        .Number(t.queue)
        .Text("; 65535 are the most");
  }
  *count = static_cast<uint16_t>(work.descriptors);
  return Status::kOk;
}

Status EmitTransfer(Emitter* e, size_t block, const Step& step, Body* body,
                    sluice_instruction_t* instruction) {
  const TransferForm& t = e->program.transfer_form(step.item);
  const bool load = step.kind == StepKind::kLoad;
  const bool forward = step.kind == StepKind::kForward;
  uint32_t far = 0;  // the DRAM side, or the destination of a FORWARD
  uint32_t buffer = 0;
  sluice_transfer_t out = {};
  out.index = SLUICE_NONE;
  if (forward) {
    SLUICE_TRY(BufferOperand(e, block, t.other, body, &far));
  } else {
    uint16_t slot = 0;
    SLUICE_TRY(SlotOf(Slot{t.tensor, t.moves, t.parameter, t.step}, body, &slot));
    sluice_operand_t operand;
    SLUICE_TRY(MakeOperand({slot, e->program.box(t.buffer).dtype,
                            e->program.dram_offset(step.item), t.extent, t.stride},
                           body, &operand));
    SLUICE_TRY(body->operands.Intern(operand, &far));
  }
  SLUICE_TRY(BufferOperand(e, block, t.buffer, body, &buffer));
  out.src = load ? far : buffer;
  out.dst = load ? buffer : far;
  if (load) SLUICE_TRY(BufferOperand(e, block, t.other, body, &out.index));
  if (load || forward) {
    out.dst_node = static_cast<uint16_t>(forward ? t.to : step.node);
    out.dst_cols = static_cast<uint16_t>(t.cols);
    out.dst_rows = static_cast<uint16_t>(t.rows);
  }
  if (!load) out.src_node = static_cast<uint16_t>(step.node);
  out.role = static_cast<uint8_t>(t.role);
  SLUICE_TRY(KernelOf(step.layer, body, &out.kernel));
  if (!forward) SLUICE_TRY(CountDescriptors(*e, t, &out.descriptors));
  instruction->opcode = load      ? SLUICE_OPCODE_LOAD
                        : forward ? SLUICE_OPCODE_FORWARD
                                  : SLUICE_OPCODE_STORE;
  instruction->descriptor = static_cast<uint32_t>(body->transfers.size());
  return body->transfers.Push(out);
}

Status EmitTile(Emitter* e, size_t block, const Step& step, Body* body,
                sluice_instruction_t* instruction) {
  const TileForm& form = e->program.tile_form(step.item);
  const TilePlace& place = e->program.tile_place(step.item);
  sluice_tile_t out = {};
  SLUICE_TRY(KernelOf(step.layer, body, &out.kernel));
  out.cycles = static_cast<uint32_t>(form.cycles);
  uint32_t* role[kTileRoles] = {&out.input0, &out.input1, &out.weight, &out.parameters,
                                &out.output};
  for (int r = 0; r < kTileRoles; ++r) {
    SLUICE_TRY(BufferOperand(e, block, form.operand[r], body, role[r]));
  }
  SLUICE_TRY(BufferOperand(e, block, form.accumulator, body, &out.accumulator));
  for (int a = 0; a < kAxes; ++a) {
    out.origin[a] = static_cast<uint32_t>(place.origin[a]);
  }
  out.c_begin = static_cast<uint32_t>(place.c_begin);
  out.c_end = static_cast<uint32_t>(place.c_end);
  for (int i = 0; i < 4; ++i) out.pad[i] = form.pad[i];
  instruction->opcode = SLUICE_OPCODE_COMPUTE;
  instruction->flags = static_cast<uint8_t>((form.first != 0 ? SLUICE_FLAG_FIRST : 0) |
                                            (form.last != 0 ? SLUICE_FLAG_LAST : 0));
  instruction->descriptor = static_cast<uint32_t>(body->tiles.size());
  return body->tiles.Push(out);
}

Status EmitHost(const Emitter& e, const Step& step, Body* body,
                sluice_instruction_t* instruction) {
  const Layer& layer = e.graph.layers[step.layer];
  sluice_host_call_t call = {};
  SLUICE_TRY(KernelOf(step.layer, body, &call.kernel));
  call.first_operand = static_cast<uint32_t>(body->host_operands.size());
  call.inputs = static_cast<uint32_t>(layer.inputs.size());
  call.outputs = static_cast<uint32_t>(layer.outputs.size());
  call.cycles_lo = static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_LO));
  call.cycles_hi = static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_HI));
  for (size_t i = 0; i < layer.inputs.size() + layer.outputs.size(); ++i) {
    const uint32_t tensor = i < layer.inputs.size()
                                ? layer.inputs[i]
                                : layer.outputs[i - layer.inputs.size()];
    const DramBox box =
        TensorBox(tensor, e.lowering.places[tensor], WholeBox(e.graph.tensors[tensor]));
    uint16_t slot = 0;
    SLUICE_TRY(SlotOf(Slot{tensor, 0, 0, 0}, body, &slot));
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

Status FillBody(Emitter* e, size_t block, Arena* arena, Body* body) {
  const uint32_t begin = e->program.block_begin(block);
  const uint32_t end = e->program.block_begin(block + 1);
  SLUICE_TRY(arena->Allocate(e->engines + 1, &body->list));
  SLUICE_TRY(arena->Allocate(end - begin, &body->instructions));
  SLUICE_TRY(arena->Allocate(end - begin, &body->layers));
  Span<uint32_t> next;
  SLUICE_TRY(arena->Allocate(e->engines, &next));
  const uint32_t* first = e->first.data() + block * e->engines;
  for (uint32_t k = 0; k < e->engines; ++k) {
    next[k] = body->list[k];
    body->list[k + 1] = body->list[k] + first[e->engines + k] - first[k];
  }
  for (uint32_t i = begin; i < end; ++i) {
    const Step step = e->program.step(i);
    sluice_instruction_t instruction = {};
    switch (step.kind) {
      case StepKind::kCompute:
        SLUICE_TRY(EmitTile(e, block, step, body, &instruction));
        break;
      case StepKind::kHost:
        SLUICE_TRY(EmitHost(*e, step, body, &instruction));
        break;
      default:
        SLUICE_TRY(EmitTransfer(e, block, step, body, &instruction));
        break;
    }
    SLUICE_TRY(EmitWaits(e, block, i, body, &instruction));
    const uint32_t at = next[e->program.EngineOf(step)]++;
    body->instructions[at] = instruction;
    body->layers[at] = step.layer;
  }
  // Host calls use contiguous operands, which follow the interned operands.
  const uint32_t base = static_cast<uint32_t>(body->operands.size());
  for (size_t i = 0; i < body->host_calls.size(); ++i) {
    body->host_calls[i].first_operand += base;
  }
  return Status::kOk;
}

}  // namespace sluice
