// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"
#include "base/hash.h"
#include "verify/needed.h"
#include "verify/op_rules.h"
#include "verify/stream_view.h"

namespace sluice {
namespace judge {
namespace {

static_assert(sizeof(sluice_stream_header_t) == 176 && sizeof(sluice_block_t) == 96 &&
                  sizeof(sluice_instance_t) == 16 && sizeof(sluice_binding_t) == 16 &&
                  sizeof(sluice_kernel_t) == 16 && sizeof(sluice_instruction_t) == 16 &&
                  sizeof(sluice_wait_t) == 8 && sizeof(sluice_loop_t) == 16 &&
                  sizeof(sluice_shape_t) == 32 && sizeof(sluice_operand_t) == 16 &&
                  sizeof(sluice_transfer_t) == 32 && sizeof(sluice_tile_t) == 64 &&
                  sizeof(sluice_host_call_t) == 32 && sizeof(sluice_patch_t) == 16 &&
                  sizeof(sluice_engine_t) == 8,
              "layout of stream.h");

// More than any machine or operator has; they keep products of counts in range.
constexpr uint32_t kMaxNodes = 4096;
constexpr uint32_t kMaxAttributes = 64;

bool AllZero(const uint32_t* words, size_t n) {
  uint32_t any = 0;
  for (size_t i = 0; i < n; ++i) any |= words[i];
  return any == 0;
}

// Where tables may lie, one behind the other: [from, to) of the image.
struct Room {
  Span<const uint8_t> image;
  uint64_t from, to;
};

// Returns the table of `count` records at `offset` and shortens the room to the bytes
// behind it; null where the table does not lie in the room. An empty table may have any
// offset.
const void* TakeRoom(Room* room, uint32_t offset, uint64_t count, size_t size) {
  if (count == 0) return room->image.data();
  if (offset % 4 != 0 || offset < room->from || offset > room->to ||
      count > (room->to - offset) / size) {
    return nullptr;
  }
  room->from = offset + count * size;
  return room->image.data() + offset;
}

template <typename T>
bool Table(Room* room, uint32_t offset, uint64_t count, Span<const T>* out) {
  const void* at = TakeRoom(room, offset, count, sizeof(T));
  *out = Span<const T>(static_cast<const T*>(at), static_cast<size_t>(count));
  return at != nullptr;
}

Status CheckHeader(Judge* judge) {
  const Span<const uint8_t> image = judge->plan.stream;
  if (image.size() < sizeof(sluice_stream_header_t) ||
      reinterpret_cast<uintptr_t>(image.data()) % 4 != 0) {
    return Reject(*judge, "structure")
        .Text("image shorter than a header or misaligned");
  }
  const auto* header = reinterpret_cast<const sluice_stream_header_t*>(image.data());
  judge->stream.header = header;
  if (header->magic != SLUICE_STREAM_MAGIC ||
      header->version != SLUICE_STREAM_VERSION) {
    return Reject(*judge, "structure").Text("wrong magic or version");
  }
  if (header->size_bytes != image.size() || header->size_bytes % 16 != 0) {
    return Reject(*judge, "structure").Text("size_bytes is not the image's size");
  }
  if (header->flags != 0 || header->reserved0 != 0 || !AllZero(header->reserved, 2)) {
    return Reject(*judge, "structure").Text("a reserved field of the header is not 0");
  }
  uint64_t hash = 0;
  SLUICE_TRY(HashWords(image.data() + sizeof *header, image.size() - sizeof *header,
                       *judge->arena->memory(), &hash));
  if (hash != Join(header->hash_lo, header->hash_hi)) {
    return Reject(*judge, "structure").Text("the image's hash does not fit its bytes");
  }
  if (header->node_cols != judge->hardware.node_cols ||
      header->node_rows != judge->hardware.node_rows || header->node_cols == 0 ||
      header->node_rows == 0 || header->node_cols > kMaxNodes ||
      header->node_rows > kMaxNodes / header->node_cols) {
    return Reject(*judge, "structure").Text("nodes differ from the hardware's");
  }
  judge->stream.nodes = header->node_cols * header->node_rows;
  return Status::kOk;
}

// One engine more of the machine: must be the next one of the stream.
Status ExpectEngine(Judge* judge, const sluice_engine_t& expected) {
  StreamView& s = judge->stream;
  if (s.engines == s.engine.size()) {
    return Reject(*judge, "structure").Text("the hardware has more engines");
  }
  const sluice_engine_t& found = s.engine[s.engines];
  if (found.does != expected.does || found.node != expected.node ||
      found.queue != expected.queue || found.roles != expected.roles ||
      found.reserved != 0) {
    return Reject(*judge, "structure")
        .Say("engine # is not what the hardware has there", s.engines);
  }
  ++s.engines;
  return Status::kOk;
}

// Engines are the machine's: its queues, the host, and what nodes have besides.
Status CheckEngines(Judge* judge, Room* room) {
  StreamView& s = judge->stream;
  const sluice_stream_header_t& h = *s.header;
  if (!Table(room, h.engine_offset, h.engine_count, &s.engine)) {
    return Reject(*judge, "structure").Text("a table lies outside the image");
  }
  s.engines = 0;
  uint32_t done = 0;  // by queues
  const auto node_of = [](bool each, uint32_t node) {
    return static_cast<uint16_t>(each ? node : SLUICE_ALL_NODES);
  };
  if (judge->hardware.queues.empty()) {
    constexpr uint16_t kBoth = SLUICE_DOES_LOAD | SLUICE_DOES_STORE;
    SLUICE_TRY(ExpectEngine(judge, {kBoth, SLUICE_ALL_NODES, 0, SLUICE_ROLES, 0}));
  }
  for (uint32_t q = 0; q < judge->hardware.queues.size(); ++q) {
    const Queue& queue = judge->hardware.queues[q];
    const bool moves = (queue.does & (SLUICE_DOES_LOAD | SLUICE_DOES_STORE)) != 0;
    for (uint32_t node = 0; node < (queue.per_node ? s.nodes : 1); ++node) {
      SLUICE_TRY(
          ExpectEngine(judge, {static_cast<uint16_t>(queue.does),
                               node_of(queue.per_node, node), static_cast<uint16_t>(q),
                               static_cast<uint8_t>(moves ? queue.roles : 0), 0}));
    }
    done |= queue.does;
  }
  SLUICE_TRY(
      ExpectEngine(judge, {SLUICE_DOES_HOST, SLUICE_ALL_NODES, SLUICE_NO_QUEUE, 0, 0}));
  for (uint32_t node = 0; node < s.nodes; ++node) {
    if ((done & SLUICE_DOES_COMPUTE) == 0) {
      SLUICE_TRY(ExpectEngine(
          judge, {SLUICE_DOES_COMPUTE, node_of(true, node), SLUICE_NO_QUEUE, 0, 0}));
    }
    if ((done & SLUICE_DOES_FORWARD) == 0 && s.nodes > 1) {
      SLUICE_TRY(ExpectEngine(
          judge, {SLUICE_DOES_FORWARD, node_of(true, node), SLUICE_NO_QUEUE, 0, 0}));
    }
  }
  if (s.engines == s.engine.size()) return Status::kOk;
  return Reject(*judge, "structure").Text("the hardware has fewer engines");
}

// Bytes that encoded constants leave free of their region.
uint64_t FreeByEncoding(const Graph& graph) {
  uint64_t bytes = 0;
  for (const Tensor& t : graph.tensors) {
    if (t.encoded_bytes != 0) bytes += static_cast<uint64_t>(t.bytes - t.encoded_bytes);
  }
  return bytes;
}

// Each memory off chip has room for its regions.
Status CheckHomes(const Judge& judge) {
  const Hardware& h = judge.hardware;
  for (size_t m = 0; m <= h.memories.size(); ++m) {
    const OffChip* memory = m < h.memories.size() ? &h.memories[m] : nullptr;
    uint64_t used = 0;
    for (uint32_t r = SLUICE_REGION_CONST; r < SLUICE_REGION_COUNT; ++r) {
      if (h.MemoryOf(r) != memory) continue;
      const uint64_t bytes = judge.stream.region_limit[r];
      const uint64_t less = r == SLUICE_REGION_CONST ? FreeByEncoding(judge.graph) : 0;
      used += bytes - Min(bytes, less);
    }
    const MemoryLevel& level = memory == nullptr ? h.dram() : memory->level;
    const uint64_t capacity = static_cast<uint64_t>(level.capacity_bytes);
    if (capacity == 0 || used <= capacity) continue;
    Fail fail = Reject(judge, "bounds").Bytes(used, capacity);
    if (memory == nullptr) return fail.Text("regions exceed the DRAM");
    return fail.Text("regions exceed memory ").Text(level.name.data, level.name.size);
  }
  return Status::kOk;
}

Status CheckRegions(Judge* judge) {
  const sluice_stream_header_t& header = *judge->stream.header;
  if (!IsPowerOfTwo(header.region_alignment)) {
    return Reject(*judge, "alignment").Text("region_alignment is not a power of two");
  }
  const uint64_t gbuf = Join(header.gbuf_bytes_lo, header.gbuf_bytes_hi);
  const int64_t capacity = judge->hardware.scratchpad().capacity_bytes;
  if (gbuf > static_cast<uint64_t>(capacity)) {
    return Reject(*judge, "bounds")
        .Bytes(gbuf, static_cast<uint64_t>(capacity))
        .Text("made for a larger scratchpad than the hardware's");
  }
  judge->stream.share = static_cast<int64_t>(gbuf);
  for (int r = 0; r < SLUICE_REGION_COUNT; ++r) {
    const uint64_t bytes = Join(header.region_bytes[r][0], header.region_bytes[r][1]);
    if (bytes > kAddressLimit) {
      return Reject(*judge, "bounds").Text("a region larger than 2^48 bytes");
    }
    judge->stream.region_limit[r] = bytes;
  }
  if (judge->stream.region_limit[SLUICE_REGION_GBUF] > gbuf) {
    return Reject(*judge, "bounds")
        .Bytes(judge->stream.region_limit[SLUICE_REGION_GBUF], gbuf)
        .Text("needs more scratchpad than it was made for");
  }
  return CheckHomes(*judge);
}

Status CheckShapesAndOperands(Judge* judge, const BlockView& block) {
  constexpr uint64_t kMost = uint64_t{1} << 59;  // elements, and bytes along an axis
  for (const sluice_shape_t& shape : block.shapes) {
    uint64_t elements = 1;
    for (int a = 0; a < kAxes; ++a) {
      const uint64_t extent = shape.extent[a];
      if (extent == 0) {
        return Reject(*judge, "structure").Text("a shape with an extent of 0");
      }
      if (extent > INT32_MAX || elements > kMost / extent ||
          (extent - 1) * shape.stride[a] > kMost) {
        return Reject(*judge, "structure").Text("a shape larger than any memory");
      }
      elements *= extent;
    }
  }
  for (const sluice_operand_t& operand : block.operands) {
    if (operand.slot >= block.slot_count || operand.shape >= block.shapes.size() ||
        operand.reserved != 0 || DtypeBytes(operand.dtype) == 0) {
      return Reject(*judge, "structure").Text("an operand with a field out of range");
    }
    if (operand.offset_hi > 1u << 30) {
      return Reject(*judge, "bounds").Text("an operand beyond every region");
    }
  }
  return Status::kOk;
}

Status Look(const Judge& judge) {
  return judge.arena->memory()->Stop() ? Status::kStopped : Status::kOk;
}

bool OperandFits(const BlockView& block, uint32_t operand, bool optional) {
  return operand < block.operands.size() || (optional && operand == SLUICE_NONE);
}

Status CheckDescriptors(Judge* judge, const BlockView& block) {
  for (const sluice_tile_t& tile : block.tiles) {
    const uint32_t operands[] = {tile.input0,     tile.input1,      tile.weight,
                                 tile.parameters, tile.accumulator, tile.output};
    bool fits = tile.kernel < block.kernel_count && tile.cycles >= 1;
    for (const uint32_t operand : operands) {
      fits = fits && OperandFits(block, operand, true);
    }
    if (!fits)
      return Reject(*judge, "structure").Text("a tile's field is out of range");
  }
  for (const sluice_transfer_t& t : block.transfers) {
    const bool fits =
        OperandFits(block, t.src, false) && OperandFits(block, t.dst, false) &&
        OperandFits(block, t.index, true) && t.src_node < judge->stream.nodes &&
        t.dst_node < judge->stream.nodes && t.kernel < block.kernel_count &&
        t.reserved0 == 0;
    if (!fits) {
      return Reject(*judge, "structure").Text("a transfer's field is out of range");
    }
  }
  for (const sluice_host_call_t& call : block.host_calls) {
    const uint64_t end = uint64_t{call.first_operand} + call.inputs + call.outputs;
    if (call.kernel >= block.kernel_count || end > block.operands.size() ||
        Join(call.cycles_lo, call.cycles_hi) == 0 || call.why >= SLUICE_WHY_COUNT ||
        call.reserved != 0) {
      return Reject(*judge, "structure").Text("a host call's field is out of range");
    }
  }
  return Status::kOk;
}

bool RectangleFits(const Judge& judge, const sluice_transfer_t& t) {
  const sluice_stream_header_t& header = *judge.stream.header;
  return t.dst_cols >= 1 && t.dst_rows >= 1 &&
         t.dst_node % header.node_cols + t.dst_cols <= header.node_cols &&
         t.dst_node / header.node_cols + t.dst_rows <= header.node_rows;
}

// A LOAD or STORE of a role that the engine moves, for a node that it serves.
bool MoveFits(const sluice_engine_t& engine, const sluice_transfer_t& t, bool load) {
  const uint32_t possible = load ? SLUICE_ROLE_INPUT | SLUICE_ROLE_WEIGHT |
                                       SLUICE_ROLE_PARAMETERS | SLUICE_ROLE_PARTIAL_SUM
                                 : SLUICE_ROLE_OUTPUT | SLUICE_ROLE_PARTIAL_SUM;
  if (!IsPowerOfTwo(t.role) || (t.role & possible & engine.roles) == 0) return false;
  if (t.descriptors == 0) return false;
  if (t.moved_bytes != 0 && (!load || t.index != SLUICE_NONE)) return false;
  if (engine.node == SLUICE_ALL_NODES) return true;
  return load ? engine.node == t.dst_node && t.dst_cols == 1 && t.dst_rows == 1
              : engine.node == t.src_node;
}

bool ForwardFits(const sluice_engine_t& engine, const sluice_transfer_t& t) {
  return t.index == SLUICE_NONE && t.src_node == engine.node && t.descriptors == 0 &&
         t.moved_bytes == 0 && IsPowerOfTwo(t.role) &&
         (t.role & (SLUICE_ROLE_OUTPUT | SLUICE_ROLE_PARTIAL_SUM)) != 0;
}

// What the opcode asks of engine, flags and descriptor.
bool OpcodeFits(const Judge& judge, const BlockView& block, uint32_t engine,
                const sluice_instruction_t& instruction) {
  const uint32_t d = instruction.descriptor;
  const uint8_t known = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST;
  if (instruction.reserved != 0) return false;
  if (instruction.opcode != SLUICE_OPCODE_COMPUTE && instruction.flags != 0)
    return false;
  const sluice_engine_t& e = judge.stream.engine[engine];
  switch (instruction.opcode) {
    case SLUICE_OPCODE_LOAD:
      return (e.does & SLUICE_DOES_LOAD) != 0 && d < block.transfers.size() &&
             RectangleFits(judge, block.transfers[d]) &&
             MoveFits(e, block.transfers[d], true);
    case SLUICE_OPCODE_STORE:
      return (e.does & SLUICE_DOES_STORE) != 0 && d < block.transfers.size() &&
             block.transfers[d].index == SLUICE_NONE &&
             MoveFits(e, block.transfers[d], false);
    case SLUICE_OPCODE_FORWARD:
      return (e.does & SLUICE_DOES_FORWARD) != 0 && d < block.transfers.size() &&
             ForwardFits(e, block.transfers[d]) &&
             RectangleFits(judge, block.transfers[d]);
    case SLUICE_OPCODE_COMPUTE:
      return (e.does & SLUICE_DOES_COMPUTE) != 0 && d < block.tiles.size() &&
             (instruction.flags & ~known) == 0;
    case SLUICE_OPCODE_HOST:
      return (e.does & SLUICE_DOES_HOST) != 0 && d < block.host_calls.size();
    default:
      return false;
  }
}

Status CheckInstructions(Judge* judge, const BlockView& block) {
  const uint32_t engines = judge->stream.engines;
  if (block.list[0] != 0 || block.list[engines] != block.instructions.size()) {
    return Reject(*judge, "structure").Text("lists do not cover the instructions");
  }
  for (uint32_t e = 0; e < engines; ++e) {
    // Lists ascend from 0 to the count, so every entry is in range.
    if (block.list[e] > block.list[e + 1]) {
      return Reject(*judge, "structure").Text("lists are not in order");
    }
  }
  for (uint32_t e = 0; e < engines; ++e) {
    for (uint32_t i = block.list[e]; i < block.list[e + 1]; ++i) {
      if (i % 1024 == 1023) SLUICE_TRY(Look(*judge));
      const sluice_instruction_t& instruction = block.instructions[i];
      const uint64_t last = uint64_t{instruction.first_wait} + instruction.wait_count;
      if (last > block.waits.size() || !OpcodeFits(*judge, block, e, instruction)) {
        return Reject(*judge, "structure")
            .Say(
                "instruction # of engine #: opcode, flags, descriptor or waits out of "
                "range",
                i, e);
      }
      const uint8_t opcode = instruction.opcode;
      if (opcode == SLUICE_OPCODE_STORE) judge->stream.stores[e] = 1;
      if (opcode == SLUICE_OPCODE_LOAD || opcode == SLUICE_OPCODE_STORE ||
          opcode == SLUICE_OPCODE_HOST) {
        judge->stream.reaches_dram[e] = 1;
      }
    }
  }
  for (const sluice_wait_t& wait : block.waits) {
    const bool fits = wait.engine < engines && wait.before <= 1 &&
                      (wait.before == 1 ||
                       (wait.count >= 1 && wait.count <= block.list[wait.engine + 1] -
                                                             block.list[wait.engine]));
    if (!fits)
      return Reject(*judge, "structure").Text("a wait names steps that do not exist");
  }
  return Status::kOk;
}

// `room`: the bytes in which bodies may lie, one behind the other.
Status ReadBlock(Judge* judge, const sluice_block_t& entry, Room* room,
                 BlockView* block) {
  const Span<const uint8_t> image = judge->plan.stream;
  const uint64_t begin = entry.body_offset;
  const uint64_t end = begin + entry.body_bytes;
  if (begin % 16 != 0 || entry.body_bytes % 16 != 0 || begin < room->from ||
      end > room->to || entry.flags != 0 || !AllZero(entry.reserved, 2)) {
    return Reject(*judge, "structure").Text("a block's entry is out of range");
  }
  room->from = end;
  const auto table = [&](uint32_t offset, uint64_t count, auto* out) {
    Room body = {image, begin, end};
    return Table(&body, offset, count, out);
  };
  const bool fits =
      table(entry.list_offset, uint64_t{judge->stream.engines} + 1, &block->list) &&
      table(entry.instruction_offset, entry.instruction_count, &block->instructions) &&
      table(entry.wait_offset, entry.wait_count, &block->waits) &&
      table(entry.tile_offset, entry.tile_count, &block->tiles) &&
      table(entry.transfer_offset, entry.transfer_count, &block->transfers) &&
      table(entry.host_call_offset, entry.host_call_count, &block->host_calls) &&
      table(entry.operand_offset, entry.operand_count, &block->operands) &&
      table(entry.shape_offset, entry.shape_count, &block->shapes);
  if (!fits) return Reject(*judge, "structure").Text("a table lies outside its body");
  uint64_t hash = 0;
  SLUICE_TRY(HashWords(image.data() + begin, entry.body_bytes, *judge->arena->memory(),
                       &hash));
  if (hash != Join(entry.hash_lo, entry.hash_hi)) {
    return Reject(*judge, "structure").Text("a body's hash does not fit its bytes");
  }
  block->slot_count = entry.slot_count;
  block->kernel_count = entry.kernel_count;
  SLUICE_TRY(CheckShapesAndOperands(judge, *block));
  SLUICE_TRY(Look(*judge));
  SLUICE_TRY(CheckDescriptors(judge, *block));
  SLUICE_TRY(Look(*judge));
  return CheckInstructions(judge, *block);
}

// True if the kernel's attributes equal the layer's. Those that are missing are 0.
bool SameAttributes(const StreamView& s, const sluice_kernel_t& kernel,
                    const Layer& layer) {
  const size_t n = Max<size_t>(kernel.attribute_count, layer.attributes.size());
  for (size_t a = 0; a < n; ++a) {
    const int32_t mine =
        a < kernel.attribute_count ? s.attributes[kernel.first_attribute + a] : 0;
    if (mine != layer.attribute(a)) return false;
  }
  return true;
}

// Fills `folded` with the layer that TakesPads speaks of.
Status FoldPad(Judge* judge, const Layer& layer, Layer* folded, bool* possible) {
  const Graph& graph = judge->graph;
  *possible = TakesPads(graph, layer);
  if (!*possible) return Status::kOk;
  const Tensor& padded = graph.tensors[layer.inputs[0]];
  const Layer& pad = graph.layers[padded.producer];
  Span<uint32_t> inputs;
  Span<int32_t> attributes;
  SLUICE_TRY(judge->arena->Allocate(layer.inputs.size(), &inputs));
  SLUICE_TRY(judge->arena->Allocate(SLUICE_CONV_ATTRIBUTES, &attributes));
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = layer.inputs[i];
  for (size_t i = 0; i < attributes.size(); ++i) attributes[i] = layer.attribute(i);
  inputs[0] = pad.inputs[0];
  for (size_t side = 0; side < 2; ++side) {
    // The reader of graphs has seen that pads of all layers lie in [0, 2^16).
    const int32_t before = pad.attribute(side + 1);
    attributes[SLUICE_CONV_PAD_TOP + side] += before;
    attributes[SLUICE_CONV_PAD_BOTTOM + side] +=
        padded.extent[side + 1] - graph.tensors[inputs[0]].extent[side + 1] - before;
  }
  *folded = layer;
  folded->inputs = inputs;
  folded->attributes = attributes;
  return Status::kOk;
}

Status CheckKernels(Judge* judge) {
  StreamView& s = judge->stream;
  SLUICE_TRY(judge->arena->Allocate(s.kernels.size(), &s.executed));
  for (size_t i = 0; i < s.kernels.size(); ++i) {
    const sluice_kernel_t& kernel = s.kernels[i];
    const uint64_t end = uint64_t{kernel.first_attribute} + kernel.attribute_count;
    if (kernel.reserved != 0 || kernel.layer >= judge->graph.layers.size() ||
        kernel.attribute_count > kMaxAttributes || end > s.attributes.size()) {
      return Reject(*judge, "structure").Text("a kernel's field is out of range");
    }
    const Layer& layer = judge->graph.layers[kernel.layer];
    s.executed[i] = layer;
    bool same = kernel.op == layer.op;
    if (same && !SameAttributes(s, kernel, layer)) {
      SLUICE_TRY(FoldPad(judge, layer, &s.executed[i], &same));
      same = same && SameAttributes(s, kernel, s.executed[i]);
    }
    if (!same) {
      return Reject(*judge, "tile")
          .Layer(kernel.layer)
          .Say("kernel # differs from its layer in op or attributes", i);
    }
  }
  return Status::kOk;
}

Status CheckPatches(Judge* judge) {
  StreamView& s = judge->stream;
  if (s.patches.size() == 0) return Status::kOk;
  SLUICE_TRY(judge->arena->Allocate(s.bindings.size(), &s.patch_of));
  for (uint32_t& patch : s.patch_of) patch = kNone;
  for (uint32_t i = 0; i < s.patches.size(); ++i) {
    const sluice_patch_t& patch = s.patches[i];
    if (patch.binding >= s.bindings.size() ||
        patch.parameter >= judge->graph.parameters.size() || patch.step_hi != 0 ||
        (i > 0 && patch.binding <= s.patches[i - 1].binding)) {
      return Reject(*judge, "structure").Text("a patch's field is out of range");
    }
    if (s.bindings[patch.binding].region != SLUICE_REGION_STATE) {
      return Reject(*judge, "patch").Text("a patched slot outside the state region");
    }
    s.patch_of[patch.binding] = i;
  }
  return Status::kOk;
}

Status CheckInstances(Judge* judge) {
  StreamView& s = judge->stream;
  for (const sluice_binding_t& binding : s.bindings) {
    const uint64_t base = Join(binding.base_lo, binding.base_hi);
    if (binding.region >= SLUICE_REGION_COUNT || binding.reserved != 0) {
      return Reject(*judge, "structure").Text("a binding's field is out of range");
    }
    if (base > kAddressLimit) {
      return Reject(*judge, "bounds").Text("a slot's base is beyond its region");
    }
    if (binding.region == SLUICE_REGION_GBUF &&
        base % Max<uint32_t>(judge->hardware.scratchpad().alignment_bytes, 1) != 0) {
      return Reject(*judge, "alignment")
          .Text("a scratchpad slot's base is not aligned");
    }
  }
  SLUICE_TRY(judge->arena->Allocate(s.instances.size(), &s.first_debug));
  uint64_t stored = 0;
  for (size_t i = 0; i < s.instances.size(); ++i) {
    const sluice_instance_t& instance = s.instances[i];
    if (instance.block >= s.blocks.size()) {
      return Reject(*judge, "structure")
          .Text("an instance names a block that does not exist");
    }
    const BlockView& block = s.blocks[instance.block];
    if (uint64_t{instance.first_binding} + block.slot_count > s.bindings.size() ||
        uint64_t{instance.first_kernel} + block.kernel_count > s.kernels.size()) {
      return Reject(*judge, "structure")
          .Text("an instance's slots or kernels are missing");
    }
    s.first_debug[i] = static_cast<uint32_t>(stored);
    stored += block.instructions.size();
    if (stored > UINT32_MAX) return Status::kUnsupported;
  }
  s.stored = static_cast<uint32_t>(stored);
  return Status::kOk;
}

}  // namespace

Status ReadStream(Judge* judge) {
  SLUICE_TRY(CheckHeader(judge));
  Room room = {judge->plan.stream, sizeof(sluice_stream_header_t),
               judge->plan.stream.size()};
  SLUICE_TRY(CheckEngines(judge, &room));
  SLUICE_TRY(CheckRegions(judge));
  StreamView& s = judge->stream;
  const sluice_stream_header_t& h = *s.header;
  Span<const sluice_block_t> directory;
  if (!Table(&room, h.block_offset, h.block_count, &directory) ||
      !Table(&room, h.instance_offset, h.instance_count, &s.instances) ||
      !Table(&room, h.loop_offset, h.loop_count, &s.loops) ||
      !Table(&room, h.step_offset, h.step_count, &s.steps) ||
      !Table(&room, h.binding_offset, h.binding_count, &s.bindings) ||
      !Table(&room, h.kernel_offset, h.kernel_count, &s.kernels) ||
      !Table(&room, h.attribute_offset, h.attribute_count, &s.attributes) ||
      !Table(&room, h.patch_offset, h.patch_count, &s.patches)) {
    return Reject(*judge, "structure").Text("a table lies outside the image");
  }
  SLUICE_TRY(judge->arena->Allocate(directory.size(), &s.blocks));
  SLUICE_TRY(judge->arena->Allocate(s.engines, &s.reaches_dram));
  SLUICE_TRY(judge->arena->Allocate(s.engines, &s.stores));
  for (size_t b = 0; b < directory.size(); ++b) {
    SLUICE_TRY(Look(*judge));
    SLUICE_TRY(ReadBlock(judge, directory[b], &room, &s.blocks[b]));
  }
  for (const uint8_t reaches : s.reaches_dram) s.dram_engines += reaches;
  for (const uint8_t stores : s.stores) s.storers += stores;
  SLUICE_TRY(CheckKernels(judge));
  SLUICE_TRY(CheckPatches(judge));
  SLUICE_TRY(Look(*judge));
  SLUICE_TRY(CheckInstances(judge));
  return ReadLoops(judge);
}

}  // namespace judge
}  // namespace sluice
