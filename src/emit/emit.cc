// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.h"

#include <string.h>

#include "emit/emitter.h"

namespace sluice {

namespace {

Status CountBack(Arena* scratch, Emitter* e) {
  Span<uint32_t> before;  // of each engine: steps so far
  SLUICE_TRY(scratch->Allocate(e->engines, &before));
  for (uint32_t i = 0; i < e->program.size(); ++i) {
    if (i % 256 == 255 && scratch->memory()->Stop()) return Status::kStopped;
    for (uint32_t w = e->waits.begin[i]; w < e->waits.begin[i + 1]; ++w) {
      const ProgramWait& wait = e->waits.waits[w];
      SLUICE_TRY(e->back.Push(before[wait.engine] - wait.count));
    }
    ++before[EngineOf(e->program, e->program.step(i))];
  }
  return Status::kOk;
}

// Cuts the program into pieces, each of which becomes one instance of the stream: a
// whole block or, with loops, one iteration of a part of a block that repeats.
Status FindPieces(const StreamCall& call, Arena* scratch, Emitter* e) {
  for (size_t b = 0; b < e->program.block_count(); ++b) {
    const uint32_t begin = e->program.block_begin(b);
    const uint32_t end = e->program.block_begin(b + 1);
    if (call.loops) {
      SLUICE_TRY(FindLoops({e->program, e->waits, e->back}, b, scratch, &e->pieces));
    } else {
      SLUICE_TRY(e->pieces.pieces.Push(Piece{begin, end, kNone}));
    }
  }
  return Status::kOk;
}

Status PushStep(int64_t by, StreamParts* parts) {
  SLUICE_TRY(parts->steps.Push(static_cast<int32_t>(by)));
  return parts->steps.Push(static_cast<int32_t>(by >> 32));
}

// Writes how far each loop around an instance moves its slots and its kernels' tiles.
Status EmitSteps(const Emitter& e, uint32_t inner, const Body& body,
                 StreamParts* parts) {
  uint32_t depth = 0;
  for (uint32_t l = inner; l != kNone; l = e.pieces.loops[l].parent) ++depth;
  SLUICE_TRY(parts->steps.Push(static_cast<int32_t>(inner)));
  for (uint32_t d = 0; d < depth; ++d) {
    SLUICE_TRY(PushStep(0, parts));  // the scratchpad
    for (const Slot& slot : body.slots) SLUICE_TRY(PushStep(slot.by[d], parts));
    for (const KernelUse& kernel : body.kernels) {
      for (const int32_t by : kernel.by[d]) SLUICE_TRY(parts->steps.Push(by));
    }
  }
  return Status::kOk;
}

Status EmitInstance(const Emitter& e, uint32_t loop, const Body& body, uint32_t block,
                    StreamParts* parts) {
  sluice_instance_t instance = {};
  instance.block = block;
  instance.first_binding = static_cast<uint32_t>(parts->bindings.size());
  instance.first_kernel = static_cast<uint32_t>(parts->kernels.size());
  instance.first_step = SLUICE_NONE;
  if (loop != kNone) {
    instance.first_step = static_cast<uint32_t>(parts->steps.size());
    SLUICE_TRY(EmitSteps(e, loop, body, parts));
  }
  SLUICE_TRY(parts->instances.Push(instance));
  SLUICE_TRY(parts->bindings.Push(sluice_binding_t{SLUICE_REGION_GBUF, 0, 0, 0}));
  for (const Slot& slot : body.slots) {
    const TensorPlace& place = e.lowering.places[slot.tensor];
    if (slot.moves != 0) {
      SLUICE_TRY(parts->patches.Push(
          sluice_patch_t{static_cast<uint32_t>(parts->bindings.size()), slot.parameter,
                         slot.step, 0}));
    }
    SLUICE_TRY(parts->bindings.Push(
        sluice_binding_t{place.region, static_cast<uint32_t>(place.offset),
                         static_cast<uint32_t>(place.offset >> 32), 0}));
  }
  for (const KernelUse& use : body.kernels) {
    const uint32_t l = use.layer;
    // The kernel of a HOST call is that of the graph's layer; others have the pads of a
    // folded PAD.
    const Layer& layer =
        e.graph.is_moved(l) ? e.graph.given[l] : e.lowering.executed[l];
    sluice_kernel_t kernel = {};
    kernel.op = layer.op;
    kernel.attribute_count = static_cast<uint16_t>(layer.attributes.size());
    kernel.first_attribute = static_cast<uint32_t>(parts->attributes.size());
    kernel.layer = l;
    SLUICE_TRY(parts->kernels.Push(kernel));
    for (int32_t value : layer.attributes) SLUICE_TRY(parts->attributes.Push(value));
  }
  for (const uint32_t layer : body.layers) {
    SLUICE_TRY(parts->debug_layer.Push(layer));
  }
  return Status::kOk;
}

}  // namespace

Status EmitStream(const StreamCall& call, Arena* scratch, StreamParts* parts,
                  Diagnostic* diagnostic) {
  const Program& program = call.program;
  ArenaScope scope(scratch);
  Emitter e = {call.graph,
               call.lowering,
               program,
               call.waits,
               diagnostic,
               program.engines().count(),
               Sequence<uint32_t>(scratch),
               Pieces(scratch),
               {}};
  for (uint32_t engine = 0; engine < e.engines; ++engine) {
    SLUICE_TRY(parts->engines.Push(program.engines().Describe(engine)));
  }
  SLUICE_TRY(CountBack(scratch, &e));
  Arena search(scratch->memory());
  SLUICE_TRY(FindPieces(call, &search, &e));
  for (size_t l = 0; l < e.pieces.loops.size(); ++l) {
    const PieceLoop& loop = e.pieces.loops[l];
    SLUICE_TRY(parts->loops.Push(
        sluice_loop_t{loop.first, loop.last, loop.count, loop.parent}));
  }
  SLUICE_TRY(scratch->Allocate(program.box_count(), &e.known));
  for (KnownOperand& known : e.known) known.piece = kNone;
  // A body's tables are copied into the parts, so the next body can reuse their memory.
  Arena body_memory(scratch->memory());
  if (body_memory.AllocateBytes(1, 1) == nullptr) return Status::kOutOfMemory;
  for (size_t p = 0; p < e.pieces.pieces.size(); ++p) {
    ArenaScope body_scope(&body_memory);
    Body body(&body_memory);
    SLUICE_TRY(FillBody(&e, p, &body_memory, &body));
    uint32_t block = 0;
    SLUICE_TRY(PlaceBody(body, parts, &block));
    SLUICE_TRY(EmitInstance(e, e.pieces.pieces[p].loop, body, block, parts));
  }
  return LayOutStream(call, parts, diagnostic);
}

}  // namespace sluice
