// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.h"

#include "base/checked.h"
#include "base/hash.h"
#include "emit/body.h"

namespace sluice {

namespace {

constexpr char kStage[] = "emit";
constexpr uint32_t kImageAlignment = 16;
constexpr uint32_t kRegionAlignment = 64;
constexpr uint32_t kMaxImage = 0x7fffff00u;

struct Export {
  uint32_t block;
  uint32_t engine;
  uint32_t count;  // within the block
};
struct ExportLink {
  uint32_t number;  // within the block
  uint32_t next;    // of the same block, kNone = the last
};

// Exports of one block: the chain that starts at `first`.
struct ExportList {
  uint32_t first = kNone;
  uint32_t last = kNone;
  uint32_t count = 0;
};

// Index in its body, in the body of block `block`, of a box of the program.
struct KnownOperand {
  uint32_t block;
  uint32_t index;
};

// What emitting needs everywhere.
struct Emitter {
  const Graph& graph;
  const Lowering& lowering;
  const Program& program;
  const ProgramWaits& waits;
  Diagnostic* diagnostic;
  size_t blocks;
  uint32_t engines;
  // first[b * engines + e]: steps of engine e before block b; one more block at the
  // end.
  Span<uint32_t> first;
  Span<ExportList> exports;  // per block
  InternTable<Export> all_exports;
  Sequence<ExportLink> export_links;  // of each
  Span<KnownOperand> known;           // per box of the program
};

Status CountSteps(Arena* scratch, Emitter* e) {
  SLUICE_TRY(scratch->Allocate((e->blocks + 1) * e->engines, &e->first));
  uint32_t* first = e->first.data();
  for (size_t b = 0; b < e->blocks; ++b, first += e->engines) {
    if (b % 64 == 63 && scratch->memory()->Stop()) return Status::kStopped;
    memcpy(first + e->engines, first, e->engines * sizeof *first);
    for (uint32_t i = e->program.block_begin(b); i < e->program.block_begin(b + 1);
         ++i) {
      ++first[e->engines + EngineOf(e->program.step(i))];
    }
  }
  return Status::kOk;
}

// Block of the count-th step of an engine, at most `high`.
size_t BlockOf(const Emitter& e, uint32_t engine, uint32_t count, size_t high) {
  if (e.first[high * e.engines + engine] < count) return high;
  size_t low = 0;  // first[low] < count <= first[high]
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (e.first[middle * e.engines + engine] < count ? low : high) = middle;
  }
  return low;
}

// Every wait across blocks becomes an export of the block it looks at.
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
      SLUICE_TRY(emitter->all_exports.Intern(wanted, &x));  // it is there
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

Status BufferOperand(Emitter* e, size_t block, uint32_t box_index, Body* body,
                     uint32_t* index) {
  *index = SLUICE_NONE;
  if (box_index == kNoBox) return Status::kOk;
  KnownOperand* known = &e->known[box_index];
  if (known->block != block) {
    const BufferBox& box = e->program.box(box_index);
    sluice_operand_t operand;
    SLUICE_TRY(
        MakeOperand(0, box.dtype, box.offset, box.extent, box.stride, body, &operand));
    SLUICE_TRY(body->operands.Intern(operand, &known->index));
    known->block = static_cast<uint32_t>(block);
  }
  *index = known->index;
  return Status::kOk;
}

Status EmitTransfer(Emitter* e, size_t block, const Step& step, Body* body,
                    sluice_instruction_t* instruction) {
  const TransferForm& t = e->program.transfer_form(step.item);
  const bool load = step.kind == StepKind::kLoad;
  const bool forward = step.kind == StepKind::kForward;
  uint32_t far = 0;  // in DRAM, or where a FORWARD goes
  uint32_t buffer = 0;
  sluice_transfer_t out = {};
  out.index = SLUICE_NONE;
  if (forward) {
    SLUICE_TRY(BufferOperand(e, block, t.other, body, &far));
  } else {
    uint16_t slot = 0;
    SLUICE_TRY(SlotOf(Slot{t.tensor, t.moves, t.parameter, t.step}, body, &slot));
    sluice_operand_t operand;
    SLUICE_TRY(MakeOperand(slot, e->program.box(t.buffer).dtype,
                           e->program.dram_offset(step.item), t.extent, t.stride, body,
                           &operand));
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
  instruction->opcode = load      ? SLUICE_OPCODE_LOAD
                        : forward ? SLUICE_OPCODE_FORWARD
                                  : SLUICE_OPCODE_STORE;
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
    SLUICE_TRY(MakeOperand(slot, e.graph.tensors[tensor].dtype, box.offset, box.extent,
                           box.stride, body, &operand));
    SLUICE_TRY(body->host_operands.Push(operand));
  }
  instruction->opcode = SLUICE_OPCODE_HOST;
  instruction->descriptor = static_cast<uint32_t>(body->host_calls.size());
  return body->host_calls.Push(call);
}

// Engines' lists lie one behind the other, each in the order of the program.
Status FillBody(Emitter* e, size_t block, Arena* arena, Body* body) {
  const uint32_t begin = e->program.block_begin(block);
  const uint32_t end = e->program.block_begin(block + 1);
  // Those of a stream: with one node too it has a list for what it sends.
  SLUICE_TRY(
      arena->Allocate(SLUICE_ENGINE_NODE0 + 2 * e->program.nodes() + 1, &body->list));
  SLUICE_TRY(arena->Allocate(end - begin, &body->instructions));
  SLUICE_TRY(arena->Allocate(end - begin, &body->layers));
  Span<uint32_t> next;
  SLUICE_TRY(arena->Allocate(e->engines, &next));
  const uint32_t* first = e->first.data() + block * e->engines;
  for (uint32_t k = 0; k + 1 < body->list.size(); ++k) {
    if (k < e->engines) next[k] = body->list[k];
    body->list[k + 1] =
        body->list[k] + (k < e->engines ? first[e->engines + k] - first[k] : 0);
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
    const uint32_t at = next[EngineOf(step)]++;
    body->instructions[at] = instruction;
    body->layers[at] = step.layer;
  }
  // Host calls name runs of operands; they go behind the interned ones.
  const uint32_t base = static_cast<uint32_t>(body->operands.size());
  for (size_t i = 0; i < body->host_calls.size(); ++i) {
    body->host_calls[i].first_operand += base;
  }
  return Status::kOk;
}

// Writes tables one behind the other; without memory it only counts.
class TableWriter {
 public:
  explicit TableWriter(uint8_t* out) : out_(out) {}
  uint64_t size() const { return size_; }

  template <typename T>
  void Put(const Sequence<T>& items) {
    static_assert(alignof(T) <= 4, "stream structs have fields of at most four bytes");
    items.ForEachRun([&](Span<const T> run) { Put(run.data(), run.size()); });
  }
  template <typename T>
  void Put(const T* items, size_t n) {
    if (out_ != nullptr && n != 0) memcpy(out_ + size_, items, n * sizeof(T));
    size_ += n * sizeof(T);
  }
  // Memory is zero where nothing is put.
  void Seek(uint64_t at) { size_ = at; }
  void Align() {
    size_ = (size_ + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  }

 private:
  uint8_t* out_;
  uint64_t size_ = 0;
};

// Offsets in *entry are relative to the body's start until it is placed.
void WriteBody(const Emitter& e, const ExportList& exports, const Body& body,
               TableWriter* out, sluice_block_t* entry) {
  const auto table = [&](const auto& items, uint32_t* count, uint32_t* offset) {
    *count = static_cast<uint32_t>(items.size());
    *offset = static_cast<uint32_t>(out->size());
    out->Put(items);
  };
  out->Put(body.list.data(), body.list.size());
  entry->instruction_count = static_cast<uint32_t>(body.instructions.size());
  entry->instruction_offset = static_cast<uint32_t>(out->size());
  out->Put(body.instructions.data(), body.instructions.size());
  table(body.waits, &entry->wait_count, &entry->wait_offset);
  table(body.tiles, &entry->tile_count, &entry->tile_offset);
  table(body.transfers, &entry->transfer_count, &entry->transfer_offset);
  table(body.host_calls, &entry->host_call_count, &entry->host_call_offset);
  table(body.operands.items(), &entry->operand_count, &entry->operand_offset);
  out->Put(body.host_operands);
  entry->operand_count += static_cast<uint32_t>(body.host_operands.size());
  table(body.shapes.items(), &entry->shape_count, &entry->shape_offset);
  entry->export_count = exports.count;
  entry->export_offset = static_cast<uint32_t>(out->size());
  for (uint32_t x = exports.first; x != kNone; x = e.export_links[x].next) {
    const sluice_export_t item = {e.all_exports[x].engine, e.all_exports[x].count};
    out->Put(&item, 1);
  }
  out->Align();
  entry->body_bytes = static_cast<uint32_t>(out->size());
  entry->slot_count = static_cast<uint32_t>(1 + body.slots.size());
  entry->kernel_count = static_cast<uint32_t>(body.kernel_layers.size());
}

// Index of the entry whose body is the same, or a new one.
Status PlaceBody(const Emitter& e, const ExportList& exports, const Body& body,
                 StreamParts* parts, uint32_t* block) {
  sluice_block_t entry = {};
  TableWriter count(nullptr);
  WriteBody(e, exports, body, &count, &entry);
  if (count.size() > kMaxImage) return Status::kUnsupported;
  const Arena::Mark before = parts->arena->mark();
  Span<uint32_t> words;  // zeroed
  SLUICE_TRY(parts->arena->Allocate(count.size() / 4, &words));
  uint8_t* bytes = reinterpret_cast<uint8_t*>(words.data());
  TableWriter out(bytes);
  WriteBody(e, exports, body, &out, &entry);
  uint64_t hash = 0;
  SLUICE_TRY(HashWords(bytes, out.size(), *parts->arena->memory(), &hash));
  entry.hash_lo = static_cast<uint32_t>(hash);
  entry.hash_hi = static_cast<uint32_t>(hash >> 32);
  for (uint32_t b = 0; b < parts->entries.size(); ++b) {
    const sluice_block_t& other = parts->entries[b];
    if (other.hash_lo == entry.hash_lo && other.hash_hi == entry.hash_hi &&
        other.body_bytes == entry.body_bytes && other.slot_count == entry.slot_count &&
        other.kernel_count == entry.kernel_count &&
        memcmp(parts->bodies[b], bytes, entry.body_bytes) == 0) {
      *block = b;
      parts->arena->Rewind(before);
      return Status::kOk;
    }
  }
  *block = static_cast<uint32_t>(parts->entries.size());
  SLUICE_TRY(parts->bodies.Push(bytes));
  return parts->entries.Push(entry);
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
    const Layer& layer = e.lowering.executed[l];  // a folded PAD is in its pads
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

void PlaceOffsets(sluice_block_t* entry, uint32_t at) {
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

// Where tables and bodies of the stream before lie; it is not trusted.
class Before {
 public:
  explicit Before(Span<const uint8_t> stream) : stream_(stream) {
    if (stream.size() >= sizeof header_) {
      memcpy(&header_, stream.data(), sizeof header_);
    }
  }
  const sluice_stream_header_t& header() const { return header_; }

  // Next free place for something that lay at `old` (0: nowhere), `bytes` long.
  uint64_t Place(uint64_t free, uint32_t old, uint64_t bytes) {
    if (stream_.empty()) return free;
    // Its place holds, or the gap is too large to be left.
    if (old >= free && old % 16 == 0 && old - free <= Slack(bytes) + lost_) {
      lost_ = 0;
      return old;
    }
    lost_ += Slack(bytes);
    return free + Slack(bytes);
  }

  // Where the body of entry b lay, or 0.
  uint32_t BodyOf(uint32_t b, const sluice_block_t& entry) const {
    const uint64_t at = header_.block_offset + uint64_t{b} * sizeof entry;
    if (b >= header_.block_count || at + sizeof entry > stream_.size()) return 0;
    sluice_block_t old;
    memcpy(&old, stream_.data() + at, sizeof old);
    return old.body_offset;
  }

 private:
  static uint64_t Slack(uint64_t bytes) { return (bytes / 8 + 64) / 16 * 16; }

  Span<const uint8_t> stream_;
  sluice_stream_header_t header_ = {};
  uint64_t lost_ = 0;  // slack given since something stayed in place
};

// Places header and tables in front, bodies behind.
Status LayOut(const Emitter& e, const Hardware& hardware, int64_t scratchpad_bytes,
              StreamParts* parts) {
  sluice_stream_header_t& header = parts->header;
  uint64_t size = sizeof header;
  Before before(parts->before);
  const sluice_stream_header_t& old = before.header();
  const auto place = [&](const auto& items, uint32_t* count, uint32_t* offset,
                         uint32_t was) {
    const uint64_t bytes = (items.size() * sizeof(items[0]) + 15) / 16 * 16;
    size = before.Place(size, was, bytes);
    *count = static_cast<uint32_t>(items.size());
    *offset = static_cast<uint32_t>(size);
    size += bytes;
  };
  header.magic = SLUICE_STREAM_MAGIC;
  header.version = SLUICE_STREAM_VERSION;
  header.node_cols = hardware.node_cols;
  header.node_rows = hardware.node_rows;
  place(parts->entries, &header.block_count, &header.block_offset, old.block_offset);
  place(parts->instances, &header.instance_count, &header.instance_offset,
        old.instance_offset);
  place(parts->bindings, &header.binding_count, &header.binding_offset,
        old.binding_offset);
  place(parts->kernels, &header.kernel_count, &header.kernel_offset, old.kernel_offset);
  place(parts->attributes, &header.attribute_count, &header.attribute_offset,
        old.attribute_offset);
  place(parts->patches, &header.patch_count, &header.patch_offset, old.patch_offset);
  for (size_t b = 0; b < parts->entries.size(); ++b) {
    sluice_block_t* entry = &parts->entries[b];
    size = before.Place(size, before.BodyOf(static_cast<uint32_t>(b), *entry),
                        entry->body_bytes);
    PlaceOffsets(entry, static_cast<uint32_t>(size));
    size += entry->body_bytes;
  }
  if (size > kMaxImage) {
    return Fail(e.diagnostic, Status::kUnsupported, kStage)
        .Text("the stream exceeds 2 GiB")
        .Bytes(size, kMaxImage);
  }
  header.size_bytes = static_cast<uint32_t>(size);
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
  return Status::kOk;
}

}  // namespace

Status EmitStream(const Graph& graph, const Hardware& hardware,
                  const Lowering& lowering, const Program& program,
                  const ProgramWaits& waits, int64_t scratchpad_bytes, Arena* scratch,
                  StreamParts* parts, Diagnostic* diagnostic) {
  ArenaScope scope(scratch);
  Emitter e = {graph,
               lowering,
               program,
               waits,
               diagnostic,
               program.block_count(),
               program.engines(),
               {},
               {},
               InternTable<Export>(scratch),
               Sequence<ExportLink>(scratch),
               {}};
  SLUICE_TRY(CountSteps(scratch, &e));
  SLUICE_TRY(CollectExports(scratch, &e));
  SLUICE_TRY(scratch->Allocate(program.box_count(), &e.known));
  for (KnownOperand& known : e.known) known.block = kNone;
  // A body's tables are copied into the parts, so the next body may have their memory.
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
  return LayOut(e, hardware, scratchpad_bytes, parts);
}

Status WriteStream(const StreamParts& parts, uint8_t* image) {
  TableWriter out(image);
  const auto put = [&](const auto& items, uint32_t offset) {
    out.Seek(offset);
    out.Put(items);
    out.Align();
  };
  out.Put(&parts.header, 1);
  put(parts.entries, parts.header.block_offset);
  put(parts.instances, parts.header.instance_offset);
  put(parts.bindings, parts.header.binding_offset);
  put(parts.kernels, parts.header.kernel_offset);
  put(parts.attributes, parts.header.attribute_offset);
  put(parts.patches, parts.header.patch_offset);
  for (size_t b = 0; b < parts.entries.size(); ++b) {
    if (b % 16 == 15 && parts.arena->memory()->Stop()) return Status::kStopped;
    out.Seek(parts.entries[b].body_offset);
    out.Put(parts.bodies[b], parts.entries[b].body_bytes);
  }
  SLUICE_ASSERT(out.size() == parts.header.size_bytes);
  sluice_stream_header_t header = parts.header;
  uint64_t hash = 0;
  SLUICE_TRY(HashWords(image + sizeof header, out.size() - sizeof header,
                       *parts.arena->memory(), &hash));
  header.hash_lo = static_cast<uint32_t>(hash);
  header.hash_hi = static_cast<uint32_t>(hash >> 32);
  memcpy(image, &header, sizeof header);
  return Status::kOk;
}

}  // namespace sluice
