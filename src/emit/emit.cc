// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.h"

#include <new>

#include "base/checked.h"
#include "emit/body.h"

namespace sluice {

namespace {

constexpr char kStage[] = "emit";
constexpr uint32_t kImageAlignment = 16;
constexpr uint32_t kRegionAlignment = 64;

struct Export {
  uint32_t engine;
  uint32_t count;  // within the block
};

// What emitting needs everywhere.
struct Emitter {
  const Graph& graph;
  const Lowering& lowering;
  const Program& program;
  const ProgramWaits& waits;
  Arena* scratch;
  Diagnostic* diagnostic;
  size_t blocks;
  // first[b * kEngines + e]: steps of engine e before block b; one more block at the
  // end.
  Span<uint32_t> first;
  Span<Vector<Export>*> exports;  // per block

  uint32_t BlockBegin(size_t b) const {
    return b < blocks ? program.block_begin[b]
                      : static_cast<uint32_t>(program.steps.size());
  }
};

Status CountSteps(Emitter* e) {
  SLUICE_TRY(e->scratch->Allocate((e->blocks + 1) * kEngines, &e->first));
  uint32_t done[kEngines] = {};
  for (size_t b = 0; b <= e->blocks; ++b) {
    for (size_t engine = 0; engine < kEngines; ++engine) {
      e->first[b * kEngines + engine] = done[engine];
    }
    if (b == e->blocks) break;
    for (uint32_t i = e->BlockBegin(b); i < e->BlockBegin(b + 1); ++i) {
      ++done[EngineOf(e->program.steps[i].kind)];
    }
  }
  return Status::kOk;
}

// Block of the count-th step of an engine.
size_t BlockOf(const Emitter& e, uint32_t engine, uint32_t count) {
  size_t low = 0;
  size_t high = e.blocks;  // first[low] < count <= first[high]
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (e.first[middle * kEngines + engine] < count ? low : high) = middle;
  }
  return low;
}

// Every wait across blocks becomes an export of the block it looks at.
Status CollectExports(Emitter* e) {
  SLUICE_TRY(e->scratch->Allocate(e->blocks, &e->exports));
  for (size_t b = 0; b < e->blocks; ++b) {
    void* at =
        e->scratch->AllocateBytes(sizeof(Vector<Export>), alignof(Vector<Export>));
    if (at == nullptr) return Status::kOutOfMemory;
    e->exports[b] = new (at) Vector<Export>(e->scratch);
  }
  for (size_t b = 0; b < e->blocks; ++b) {
    for (uint32_t w = e->waits.begin[e->BlockBegin(b)];
         w < e->waits.begin[e->BlockBegin(b + 1)]; ++w) {
      const ProgramWait& wait = e->waits.waits[w];
      const size_t source = BlockOf(*e, wait.engine, wait.count);
      if (source == b) continue;
      const Export wanted = {wait.engine,
                             wait.count - e->first[source * kEngines + wait.engine]};
      bool known = false;
      for (const Export& x : *e->exports[source]) {
        known = known || (x.engine == wanted.engine && x.count == wanted.count);
      }
      if (!known) SLUICE_TRY(e->exports[source]->Push(wanted));
    }
  }
  return Status::kOk;
}

Status EmitWaits(const Emitter& e, size_t block, uint32_t step, Body* body,
                 sluice_instruction_t* instruction) {
  instruction->first_wait = static_cast<uint32_t>(body->waits.size());
  for (uint32_t w = e.waits.begin[step]; w < e.waits.begin[step + 1]; ++w) {
    const ProgramWait& wait = e.waits.waits[w];
    const size_t source = BlockOf(e, wait.engine, wait.count);
    const uint32_t count = wait.count - e.first[source * kEngines + wait.engine];
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
      const Vector<Export>& exports = *e.exports[source];
      for (uint32_t x = 0; x < exports.size(); ++x) {
        if (exports[x].engine == wait.engine && exports[x].count == count)
          out.count = x;
      }
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

Status MakeOperand(uint16_t slot, uint8_t dtype, int64_t offset, const int32_t* extent,
                   const uint32_t* stride, Body* body, sluice_operand_t* out) {
  sluice_shape_t shape = {};
  for (int a = 0; a < kAxes; ++a) {
    shape.extent[a] = static_cast<uint32_t>(extent[a]);
    // The stride of a single element says nothing; one spelling shares more shapes.
    shape.stride[a] = extent[a] == 1 ? 0 : stride[a];
  }
  *out = sluice_operand_t{};
  SLUICE_TRY(body->shapes.Intern(shape, &out->shape));
  out->slot = slot;
  out->dtype = dtype;
  out->offset_lo = static_cast<uint32_t>(offset);
  out->offset_hi = static_cast<uint32_t>(static_cast<uint64_t>(offset) >> 32);
  return Status::kOk;
}

Status BufferOperand(const BufferBox& box, Body* body, uint32_t* index) {
  sluice_operand_t operand;
  SLUICE_TRY(
      MakeOperand(0, box.dtype, box.offset, box.extent, box.stride, body, &operand));
  return body->operands.Intern(operand, index);
}

Status DramOperand(const DramBox& box, uint8_t dtype, Body* body, uint32_t* index) {
  uint16_t slot = 0;
  SLUICE_TRY(SlotOf(Slot{box.tensor, box.moves, box.parameter, box.step}, body, &slot));
  sluice_operand_t operand;
  SLUICE_TRY(
      MakeOperand(slot, dtype, box.offset, box.extent, box.stride, body, &operand));
  return body->operands.Intern(operand, index);
}

Status EmitTransfer(const Emitter& e, const Step& step, Body* body,
                    sluice_instruction_t* instruction) {
  const Transfer& t = e.program.transfers[step.item];
  const bool load = step.kind == StepKind::kLoad;
  uint32_t dram = 0;
  uint32_t buffer = 0;
  SLUICE_TRY(DramOperand(t.dram, t.buffer.dtype, body, &dram));
  SLUICE_TRY(BufferOperand(t.buffer, body, &buffer));
  sluice_transfer_t out = {};
  out.src = load ? dram : buffer;
  out.dst = load ? buffer : dram;
  out.index = SLUICE_NONE;
  if (t.indexed) SLUICE_TRY(BufferOperand(t.index, body, &out.index));
  out.dst_cols = load ? 1 : 0;
  out.dst_rows = load ? 1 : 0;
  instruction->opcode = load ? SLUICE_OPCODE_LOAD : SLUICE_OPCODE_STORE;
  instruction->descriptor = static_cast<uint32_t>(body->transfers.size());
  return body->transfers.Push(out);
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

Status EmitTile(const Emitter& e, const Step& step, Body* body,
                sluice_instruction_t* instruction) {
  const TileStep& t = e.program.tiles[step.item];
  sluice_tile_t out = {};
  SLUICE_TRY(KernelOf(step.layer, body, &out.kernel));
  out.cycles = static_cast<uint32_t>(t.cycles);
  uint32_t* role[kTileRoles] = {&out.input0, &out.input1, &out.weight, &out.parameters,
                                &out.output};
  for (int r = 0; r < kTileRoles; ++r) {
    *role[r] = SLUICE_NONE;
    if (t.present[r]) SLUICE_TRY(BufferOperand(t.operand[r], body, role[r]));
  }
  out.accumulator = SLUICE_NONE;
  if (t.has_accumulator)
    SLUICE_TRY(BufferOperand(t.accumulator, body, &out.accumulator));
  for (int a = 0; a < kAxes; ++a) out.origin[a] = static_cast<uint32_t>(t.origin[a]);
  out.c_begin = static_cast<uint32_t>(t.c_begin);
  out.c_end = static_cast<uint32_t>(t.c_end);
  for (int i = 0; i < 4; ++i) out.pad[i] = t.pad[i];
  instruction->opcode = SLUICE_OPCODE_COMPUTE;
  instruction->flags = static_cast<uint8_t>((t.first ? SLUICE_FLAG_FIRST : 0) |
                                            (t.last ? SLUICE_FLAG_LAST : 0));
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
    SLUICE_TRY(SlotOf(Slot{tensor, false, 0, 0}, body, &slot));
    sluice_operand_t operand;
    SLUICE_TRY(MakeOperand(slot, e.graph.tensors[tensor].dtype, box.offset, box.extent,
                           box.stride, body, &operand));
    SLUICE_TRY(body->host_operands.Push(operand));
  }
  instruction->opcode = SLUICE_OPCODE_HOST;
  instruction->descriptor = static_cast<uint32_t>(body->host_calls.size());
  return body->host_calls.Push(call);
}

Status FillBody(const Emitter& e, size_t block, Body* body) {
  for (uint32_t i = e.BlockBegin(block); i < e.BlockBegin(block + 1); ++i) {
    const Step& step = e.program.steps[i];
    sluice_instruction_t instruction = {};
    switch (step.kind) {
      case StepKind::kCompute:
        SLUICE_TRY(EmitTile(e, step, body, &instruction));
        break;
      case StepKind::kHost:
        SLUICE_TRY(EmitHost(e, step, body, &instruction));
        break;
      default:
        SLUICE_TRY(EmitTransfer(e, step, body, &instruction));
        break;
    }
    SLUICE_TRY(EmitWaits(e, block, i, body, &instruction));
    const ProgramEngine engine = EngineOf(step.kind);
    SLUICE_TRY(body->instructions[engine].Push(instruction));
    SLUICE_TRY(body->layers[engine].Push(step.layer));
  }
  // Host calls name runs of operands; they go behind the interned ones.
  const uint32_t base = static_cast<uint32_t>(body->operands.items().size());
  for (sluice_host_call_t& call : body->host_calls) call.first_operand += base;
  return Status::kOk;
}

// Appends n items to the image, 4-byte aligned; *offset is where they start.
template <typename T>
Status Append(Vector<uint8_t>* image, const T* items, size_t n, uint32_t* offset) {
  static_assert(alignof(T) <= 4, "stream structs have fields of at most four bytes");
  *offset = static_cast<uint32_t>(image->size());
  const size_t bytes = n * sizeof(T);
  if (image->size() + bytes > 0x7fffff00u) return Status::kUnsupported;
  SLUICE_TRY(image->Extend(bytes));
  if (bytes != 0) memcpy(image->data() + *offset, items, bytes);
  return Status::kOk;
}

Status Pad(Vector<uint8_t>* image) {
  const size_t size = image->size();
  return image->Extend((kImageAlignment - size % kImageAlignment) % kImageAlignment);
}

// Writes a body; offsets in *entry are relative to the body's start until it is placed.
Status WriteBody(Body* body, const Vector<Export>& exports, uint32_t engines,
                 Vector<uint8_t>* out, sluice_block_t* entry) {
  uint32_t lists[64] = {};  // one node: four engines and the end
  uint32_t total = 0;
  for (uint32_t e = 0; e < engines; ++e) {
    lists[e] = total;
    if (e < kEngines) total += static_cast<uint32_t>(body->instructions[e].size());
  }
  lists[engines] = total;
  SLUICE_TRY(Append(out, lists, engines + 1, &entry->list_offset));
  entry->instruction_count = total;
  entry->instruction_offset = static_cast<uint32_t>(out->size());
  uint32_t unused = 0;
  for (Vector<sluice_instruction_t>& list : body->instructions) {
    SLUICE_TRY(Append(out, list.data(), list.size(), &unused));
  }
  const auto table = [&](auto items, uint32_t* count, uint32_t* offset) {
    *count = static_cast<uint32_t>(items.size());
    return Append(out, items.data(), items.size(), offset);
  };
  SLUICE_TRY(table(body->waits.span(), &entry->wait_count, &entry->wait_offset));
  SLUICE_TRY(table(body->tiles.span(), &entry->tile_count, &entry->tile_offset));
  SLUICE_TRY(
      table(body->transfers.span(), &entry->transfer_count, &entry->transfer_offset));
  SLUICE_TRY(table(body->host_calls.span(), &entry->host_call_count,
                   &entry->host_call_offset));
  SLUICE_TRY(
      table(body->operands.items(), &entry->operand_count, &entry->operand_offset));
  SLUICE_TRY(
      Append(out, body->host_operands.data(), body->host_operands.size(), &unused));
  entry->operand_count += static_cast<uint32_t>(body->host_operands.size());
  SLUICE_TRY(table(body->shapes.items(), &entry->shape_count, &entry->shape_offset));
  entry->export_count = static_cast<uint32_t>(exports.size());
  entry->export_offset = static_cast<uint32_t>(out->size());
  for (const Export& x : exports) {
    const sluice_export_t item = {x.engine, x.count};
    SLUICE_TRY(Append(out, &item, 1, &unused));
  }
  SLUICE_TRY(Pad(out));
  entry->body_bytes = static_cast<uint32_t>(out->size());
  entry->slot_count = static_cast<uint32_t>(1 + body->slots.size());
  entry->kernel_count = static_cast<uint32_t>(body->kernel_layers.size());
  const uint64_t hash = Fnv1a(out->data(), out->size());
  entry->hash_lo = static_cast<uint32_t>(hash);
  entry->hash_hi = static_cast<uint32_t>(hash >> 32);
  return Status::kOk;
}

// The parts of the image that grow block by block.
struct Image {
  explicit Image(Arena* arena)
      : entries(arena),
        instances(arena),
        bindings(arena),
        kernels(arena),
        attributes(arena),
        patches(arena),
        bodies(arena),
        debug(arena) {}
  Vector<sluice_block_t> entries;
  Vector<sluice_instance_t> instances;
  Vector<sluice_binding_t> bindings;
  Vector<sluice_kernel_t> kernels;
  Vector<int32_t> attributes;
  Vector<sluice_patch_t> patches;
  Vector<uint8_t> bodies;  // one after the other; entry offsets relative to this
  Vector<uint32_t> debug;
};

// Index of the entry whose body is the same, or a new one.
Status PlaceBody(const Vector<uint8_t>& bytes, sluice_block_t entry, Image* image,
                 uint32_t* block) {
  for (uint32_t b = 0; b < image->entries.size(); ++b) {
    const sluice_block_t& other = image->entries[b];
    if (other.hash_lo == entry.hash_lo && other.hash_hi == entry.hash_hi &&
        other.body_bytes == entry.body_bytes && other.slot_count == entry.slot_count &&
        other.kernel_count == entry.kernel_count &&
        memcmp(image->bodies.data() + other.body_offset, bytes.data(), bytes.size()) ==
            0) {
      *block = b;
      return Status::kOk;
    }
  }
  *block = static_cast<uint32_t>(image->entries.size());
  SLUICE_TRY(Append(&image->bodies, bytes.data(), bytes.size(), &entry.body_offset));
  return image->entries.Push(entry);
}

Status EmitInstance(const Emitter& e, Body* body, uint32_t block, Image* image) {
  sluice_instance_t instance = {};
  instance.block = block;
  instance.first_binding = static_cast<uint32_t>(image->bindings.size());
  instance.first_kernel = static_cast<uint32_t>(image->kernels.size());
  SLUICE_TRY(image->instances.Push(instance));
  SLUICE_TRY(image->bindings.Push(sluice_binding_t{SLUICE_REGION_GBUF, 0, 0, 0}));
  for (const Slot& slot : body->slots) {
    const TensorPlace& place = e.lowering.places[slot.tensor];
    if (slot.moves) {
      SLUICE_TRY(image->patches.Push(
          sluice_patch_t{static_cast<uint32_t>(image->bindings.size()), slot.parameter,
                         slot.step, 0}));
    }
    SLUICE_TRY(image->bindings.Push(
        sluice_binding_t{place.region, static_cast<uint32_t>(place.offset),
                         static_cast<uint32_t>(place.offset >> 32), 0}));
  }
  for (uint32_t l : body->kernel_layers) {
    const Layer& layer = e.lowering.executed[l];  // a folded PAD is in its pads
    sluice_kernel_t kernel = {};
    kernel.op = layer.op;
    kernel.attribute_count = static_cast<uint16_t>(layer.attributes.size());
    kernel.first_attribute = static_cast<uint32_t>(image->attributes.size());
    kernel.layer = l;
    SLUICE_TRY(image->kernels.Push(kernel));
    for (int32_t value : layer.attributes) SLUICE_TRY(image->attributes.Push(value));
  }
  for (Vector<uint32_t>& layers : body->layers) {
    for (uint32_t layer : layers) SLUICE_TRY(image->debug.Push(layer));
  }
  return Status::kOk;
}

void PlaceOffsets(sluice_block_t* entry, uint32_t base) {
  const uint32_t at = base + entry->body_offset;
  entry->body_offset = at;
  entry->list_offset += at;
  entry->instruction_offset += at;
  entry->wait_offset += at;
  entry->tile_offset += at;
  entry->transfer_offset += at;
  entry->host_call_offset += at;
  entry->operand_offset += at;
  entry->shape_offset += at;
  entry->export_offset += at;
}

// Header and tables in front, bodies behind.
Status Assemble(const Emitter& e, const Hardware& hardware, int64_t scratchpad_bytes,
                Image* image, Arena* arena, Span<const uint8_t>* stream) {
  const auto rounded = [](uint64_t bytes) { return (bytes + 15) / 16 * 16; };
  const uint64_t blocks_at = sizeof(sluice_stream_header_t);
  const uint64_t instances_at =
      rounded(blocks_at + image->entries.size() * sizeof(sluice_block_t));
  const uint64_t bindings_at =
      rounded(instances_at + image->instances.size() * sizeof(sluice_instance_t));
  const uint64_t kernels_at =
      rounded(bindings_at + image->bindings.size() * sizeof(sluice_binding_t));
  const uint64_t attributes_at =
      rounded(kernels_at + image->kernels.size() * sizeof(sluice_kernel_t));
  const uint64_t patches_at =
      rounded(attributes_at + image->attributes.size() * sizeof(int32_t));
  const uint64_t bodies_at =
      rounded(patches_at + image->patches.size() * sizeof(sluice_patch_t));
  const uint64_t size = bodies_at + image->bodies.size();
  if (size > 0x7fffff00u) {
    return Fail(e.diagnostic, Status::kUnsupported, kStage)
        .Text("the stream exceeds 2 GiB")
        .Bytes(size, 0x7fffff00u);
  }
  uint8_t* out = static_cast<uint8_t*>(arena->AllocateBytes(size, kImageAlignment));
  if (out == nullptr) return Status::kOutOfMemory;
  memset(out, 0, size);
  for (sluice_block_t& entry : image->entries) {
    PlaceOffsets(&entry, static_cast<uint32_t>(bodies_at));
  }
  const auto copy = [&](uint64_t at, auto items) {
    if (items.size() != 0)
      memcpy(out + at, items.data(), items.size() * sizeof(items[0]));
  };
  copy(blocks_at, image->entries.span());
  copy(instances_at, image->instances.span());
  copy(bindings_at, image->bindings.span());
  copy(kernels_at, image->kernels.span());
  copy(attributes_at, image->attributes.span());
  copy(patches_at, image->patches.span());
  copy(bodies_at, image->bodies.span());

  sluice_stream_header_t header = {};
  header.magic = SLUICE_STREAM_MAGIC;
  header.version = SLUICE_STREAM_VERSION;
  header.size_bytes = static_cast<uint32_t>(size);
  header.node_cols = hardware.node_cols;
  header.node_rows = hardware.node_rows;
  header.block_count = static_cast<uint32_t>(image->entries.size());
  header.block_offset = static_cast<uint32_t>(blocks_at);
  header.instance_count = static_cast<uint32_t>(image->instances.size());
  header.instance_offset = static_cast<uint32_t>(instances_at);
  header.binding_count = static_cast<uint32_t>(image->bindings.size());
  header.binding_offset = static_cast<uint32_t>(bindings_at);
  header.kernel_count = static_cast<uint32_t>(image->kernels.size());
  header.kernel_offset = static_cast<uint32_t>(kernels_at);
  header.attribute_count = static_cast<uint32_t>(image->attributes.size());
  header.attribute_offset = static_cast<uint32_t>(attributes_at);
  header.patch_count = static_cast<uint32_t>(image->patches.size());
  header.patch_offset = static_cast<uint32_t>(patches_at);
  header.region_alignment = kRegionAlignment;
  header.gbuf_bytes_lo = static_cast<uint32_t>(scratchpad_bytes);
  header.gbuf_bytes_hi =
      static_cast<uint32_t>(static_cast<uint64_t>(scratchpad_bytes) >> 32);
  for (int r = 0; r < SLUICE_REGION_COUNT; ++r) {
    const uint64_t bytes = r == SLUICE_REGION_GBUF
                               ? static_cast<uint64_t>(scratchpad_bytes)
                               : e.lowering.region_bytes[r];
    header.region_bytes[r][0] = static_cast<uint32_t>(bytes);
    header.region_bytes[r][1] = static_cast<uint32_t>(bytes >> 32);
  }
  const uint64_t hash = Fnv1a(out + sizeof header, size - sizeof header);
  header.hash_lo = static_cast<uint32_t>(hash);
  header.hash_hi = static_cast<uint32_t>(hash >> 32);
  memcpy(out, &header, sizeof header);
  *stream = Span<const uint8_t>(out, size);
  return Status::kOk;
}

}  // namespace

Status EmitStream(const Graph& graph, const Hardware& hardware,
                  const Lowering& lowering, const Program& program,
                  const ProgramWaits& waits, int64_t scratchpad_bytes, Arena* arena,
                  Arena* scratch, Span<const uint8_t>* stream,
                  Span<const uint32_t>* debug_layer, Diagnostic* diagnostic) {
  ArenaScope scope(scratch);
  Emitter e = {
      graph, lowering, program, waits, scratch, diagnostic, program.block_begin.size(),
      {},    {}};
  if (hardware.node_cols * hardware.node_rows != 1) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Text("streams for several nodes are not emitted by this version");
  }
  const uint32_t engines = SLUICE_ENGINE_NODE0 + 2;
  SLUICE_TRY(CountSteps(&e));
  SLUICE_TRY(CollectExports(&e));
  Image image(scratch);
  // A body's tables are copied into the image, so the next body may have their memory.
  Arena body_memory(scratch->memory());
  if (body_memory.AllocateBytes(1, 1) == nullptr) return Status::kOutOfMemory;
  for (size_t b = 0; b < e.blocks; ++b) {
    ArenaScope body_scope(&body_memory);
    Body body(&body_memory);
    SLUICE_TRY(FillBody(e, b, &body));
    Vector<uint8_t> bytes(&body_memory);
    sluice_block_t entry = {};
    SLUICE_TRY(WriteBody(&body, *e.exports[b], engines, &bytes, &entry));
    uint32_t block = 0;
    SLUICE_TRY(PlaceBody(bytes, entry, &image, &block));
    SLUICE_TRY(EmitInstance(e, &body, block, &image));
  }
  SLUICE_TRY(Assemble(e, hardware, scratchpad_bytes, &image, arena, stream));
  Span<uint32_t> debug;
  SLUICE_TRY(arena->Allocate(image.debug.size(), &debug));
  for (size_t i = 0; i < debug.size(); ++i) debug[i] = image.debug[i];
  *debug_layer = debug;
  return Status::kOk;
}

}  // namespace sluice
