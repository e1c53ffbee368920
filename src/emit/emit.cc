// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.h"

#include <string.h>

#include "emit/emitter.h"

namespace sluice {

namespace {

Status CountSteps(Arena* scratch, Emitter* e) {
  SLUICE_TRY(scratch->Allocate((e->blocks + 1) * e->engines, &e->first));
  uint32_t* first = e->first.data();
  for (size_t b = 0; b < e->blocks; ++b, first += e->engines) {
    if (b % 64 == 63 && scratch->memory()->Stop()) return Status::kStopped;
    memcpy(first + e->engines, first, e->engines * sizeof *first);
    for (uint32_t i = e->program.block_begin(b); i < e->program.block_begin(b + 1);
         ++i) {
      ++first[e->engines + e->program.EngineOf(e->program.step(i))];
    }
  }
  return Status::kOk;
}

// Adds an export to the source block for every wait on a step of another block.
Status CollectExports(Arena* scratch, Emitter* e) {
  SLUICE_TRY(scratch->Allocate(e->blocks, &e->exports));
  for (ExportList& list : e->exports) list = ExportList{};
  for (size_t b = 0; b < e->blocks; ++b) {
    for (uint32_t w = e->waits.begin[e->program.block_begin(b)];
         w < e->waits.begin[e->program.block_begin(b + 1)]; ++w) {
      if (w % 256 == 255 && scratch->memory()->Stop()) return Status::kStopped;
      const ProgramWait& wait = e->waits.waits[w];
      const size_t source = BlockOf(*e, wait.engine, wait.count, b);
      if (source == b) continue;
      const uint32_t count = wait.count - e->first[source * e->engines + wait.engine];
      const Export wanted = {static_cast<uint32_t>(source), wait.engine, count};
      uint32_t x = 0;
      SLUICE_TRY(e->all_exports.Intern(wanted, &x));
      if (x < e->export_links.size()) continue;
      ExportList* list = &e->exports[source];
      SLUICE_TRY(e->export_links.Push(ExportLink{list->count++, kNone}));
      (list->first == kNone ? list->first : e->export_links[list->last].next) = x;
      list->last = x;
    }
  }
  return Status::kOk;
}

Status EmitInstance(const Emitter& e, Body* body, uint32_t block, StreamParts* parts) {
  sluice_instance_t instance = {};
  instance.block = block;
  instance.first_binding = static_cast<uint32_t>(parts->bindings.size());
  instance.first_kernel = static_cast<uint32_t>(parts->kernels.size());
  SLUICE_TRY(parts->instances.Push(instance));
  SLUICE_TRY(parts->bindings.Push(sluice_binding_t{SLUICE_REGION_GBUF, 0, 0, 0}));
  for (const Slot& slot : body->slots) {
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
  for (uint32_t l : body->kernel_layers) {
    const Layer& layer = e.lowering.executed[l];  // includes the pads of a folded PAD
    sluice_kernel_t kernel = {};
    kernel.op = layer.op;
    kernel.attribute_count = static_cast<uint16_t>(layer.attributes.size());
    kernel.first_attribute = static_cast<uint32_t>(parts->attributes.size());
    kernel.layer = l;
    SLUICE_TRY(parts->kernels.Push(kernel));
    for (int32_t value : layer.attributes) SLUICE_TRY(parts->attributes.Push(value));
  }
  for (const uint32_t layer : body->layers) {
    SLUICE_TRY(parts->debug_layer.Push(layer));
  }
  return Status::kOk;
}

}  // namespace

size_t BlockOf(const Emitter& e, uint32_t engine, uint32_t count, size_t high) {
  if (e.first[high * e.engines + engine] < count) return high;
  size_t low = 0;  // loop invariant: first[low] < count <= first[high]
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (e.first[middle * e.engines + engine] < count ? low : high) = middle;
  }
  return low;
}

Status EmitStream(const StreamCall& call, Arena* scratch, StreamParts* parts,
                  Diagnostic* diagnostic) {
  const Program& program = call.program;
  ArenaScope scope(scratch);
  Emitter e = {call.graph,
               call.lowering,
               program,
               call.waits,
               diagnostic,
               program.block_count(),
               program.engines().count(),
               {},
               {},
               InternTable<Export>(scratch),
               Sequence<ExportLink>(scratch),
               {}};
  for (uint32_t engine = 0; engine < e.engines; ++engine) {
    SLUICE_TRY(parts->engines.Push(program.engines().Describe(engine)));
  }
  SLUICE_TRY(CountSteps(scratch, &e));
  SLUICE_TRY(CollectExports(scratch, &e));
  SLUICE_TRY(scratch->Allocate(program.box_count(), &e.known));
  for (KnownOperand& known : e.known) known.block = kNone;
  // A body's tables are copied into the parts, so the next body can reuse their memory.
  Arena body_memory(scratch->memory());
  if (body_memory.AllocateBytes(1, 1) == nullptr) return Status::kOutOfMemory;
  for (size_t b = 0; b < e.blocks; ++b) {
    ArenaScope body_scope(&body_memory);
    Body body(&body_memory);
    SLUICE_TRY(FillBody(&e, b, &body_memory, &body));
    uint32_t block = 0;
    SLUICE_TRY(PlaceBody(e, e.exports[b], body, parts, &block));
    SLUICE_TRY(EmitInstance(e, &body, block, parts));
  }
  return LayOutStream(call, parts, diagnostic);
}

}  // namespace sluice
