// SPDX-License-Identifier: Apache-2.0
#include "model/stream_cuts.h"

#include "base/checked.h"
#include "base/sequence.h"
#include "model/engines.h"
#include "model/graph.h"
#include "model/host.h"
#include "model/off_chip.h"
#include "model/ops/traits.h"

namespace sluice {

namespace {

constexpr uint32_t kMostEngines = kMaxQueues + 2;  // of one node: host and compute

int64_t Join(uint32_t low, uint32_t high) {
  return static_cast<int64_t>(low | uint64_t{high} << 32);
}

// The tables of one visit. The image has been verified: indices are in range. Loops
// change neither scratchpad addresses nor the bytes of a transfer, so the iteration of
// the visit does not matter here.
struct Window {
  Window(const StreamVisits& visits, uint32_t visit) : bytes(visits.image.data()) {
    const auto* header = Table<sluice_stream_header_t>(0);
    engines = header->engine_count;
    const auto& use = Table<sluice_instance_t>(
        header->instance_offset)[visits.visits[visit].instance];
    block = Table<sluice_block_t>(header->block_offset) + use.block;
    binding = Table<sluice_binding_t>(header->binding_offset) + use.first_binding;
    kernels = Table<sluice_kernel_t>(header->kernel_offset) + use.first_kernel;
    lists = Table<uint32_t>(block->list_offset);
    instructions = Table<sluice_instruction_t>(block->instruction_offset);
    waits = Table<sluice_wait_t>(block->wait_offset);
  }
  template <typename T>
  const T* Table(uint32_t offset) const {
    return reinterpret_cast<const T*>(bytes + offset);
  }
  const uint8_t* bytes;
  const sluice_block_t* block;
  const sluice_binding_t* binding;
  const sluice_kernel_t* kernels;
  const uint32_t* lists;
  const sluice_instruction_t* instructions;
  const sluice_wait_t* waits;
  uint32_t engines;
};

// Sorts a visit's instructions into an order that its waits allow.
Status PutInOrder(const Window& w, Arena* scratch, Span<uint32_t>* order) {
  SLUICE_TRY(scratch->Allocate(w.block->instruction_count, order));
  uint32_t next[kMostEngines];
  SLUICE_ASSERT(w.engines <= kMostEngines);
  for (uint32_t e = 0; e < w.engines; ++e) next[e] = w.lists[e];
  const auto holds = [&](uint32_t i) {
    const sluice_wait_t* wait = w.waits + w.instructions[i].first_wait;
    for (uint32_t n = w.instructions[i].wait_count; n-- > 0; ++wait) {
      if (wait->before == 0 &&
          next[wait->engine] < w.lists[wait->engine] + wait->count) {
        return false;
      }
    }
    return true;
  };
  for (uint32_t n = 0; n < order->size();) {
    for (uint32_t e = 0; e < w.engines; ++e) {
      while (next[e] < w.lists[e + 1] && holds(next[e])) (*order)[n++] = next[e]++;
    }
  }
  return Status::kOk;
}

// Bytes that a transfer counts for on its queue.
int64_t PortBytes(const Queue& queue, const Window& w, const sluice_transfer_t& t) {
  const auto* operands = w.Table<sluice_operand_t>(w.block->operand_offset);
  const auto* shapes = w.Table<sluice_shape_t>(w.block->shape_offset);
  const sluice_shape_t& to = shapes[operands[t.dst].shape];
  const sluice_shape_t& from = shapes[operands[t.src].shape];
  int32_t extent[kAxes];
  for (int a = 0; a < kAxes; ++a) extent[a] = static_cast<int32_t>(to.extent[a]);
  return WorkOf(queue, {extent, from.stride, to.stride,
                        static_cast<uint32_t>(DtypeBytes(operands[t.dst].dtype)),
                        t.index != SLUICE_NONE, int64_t{t.moved_bytes}})
      .bytes;
}

// Bytes that a call reads and writes: its operands are whole tensors, but a GATHER reads
// as much of its table, which comes first, as it writes.
int64_t OperandBytes(const Window& w, const sluice_host_call_t& call) {
  const auto* shapes = w.Table<sluice_shape_t>(w.block->shape_offset);
  const auto* operand =
      w.Table<sluice_operand_t>(w.block->operand_offset) + call.first_operand;
  int64_t bytes = 0, first = 0, written = 0;
  for (uint32_t n = 0; n < uint32_t{call.inputs} + call.outputs; ++n, ++operand) {
    int64_t tensor = DtypeBytes(operand->dtype);
    for (const auto extent : shapes[operand->shape].extent) tensor *= extent;
    bytes += tensor;
    if (n == 0) first = tensor;
    if (n >= call.inputs) written += tensor;
  }
  const uint16_t op = w.kernels[call.kernel].op;
  return KindOf(op) == LayerKind::kGather ? bytes - first + written : bytes;
}

int64_t Cycles(const Hardware& hardware, const Queue& queue, const Window& w,
               const sluice_instruction_t& i) {
  if (i.opcode == SLUICE_OPCODE_COMPUTE) {
    return w.Table<sluice_tile_t>(w.block->tile_offset)[i.descriptor].cycles;
  }
  if (i.opcode == SLUICE_OPCODE_HOST) {
    const auto& call =
        w.Table<sluice_host_call_t>(w.block->host_call_offset)[i.descriptor];
    return Join(call.cycles_lo, call.cycles_hi) +
           HostHold(hardware, OperandBytes(w, call));
  }
  const auto& t = w.Table<sluice_transfer_t>(w.block->transfer_offset)[i.descriptor];
  const bool load = i.opcode == SLUICE_OPCODE_LOAD;
  const auto* operands = w.Table<sluice_operand_t>(w.block->operand_offset);
  const uint32_t region = w.binding[operands[load ? t.src : t.dst].slot].region;
  return CyclesToPort(queue, t.descriptors) + HomeLatency(hardware, region) +
         HoldCycles(hardware, region, PortBytes(queue, w, t));
}

// A bit per scratchpad byte.
class ByteMap {
 public:
  ByteMap(Span<uint64_t> words, int64_t capacity) : words_(words), size_(capacity) {}

  void Set(int64_t begin, int64_t end, bool value) {
    for (int64_t w = begin / 64; w * 64 < end; ++w) {
      uint64_t mask = ~uint64_t{0};
      if (begin > w * 64) mask <<= begin - w * 64;
      if (end < w * 64 + 64) mask &= ~uint64_t{0} >> (w * 64 + 64 - end);
      uint64_t& word = words_[static_cast<size_t>(w)];
      word = value ? word | mask : word & ~mask;
    }
  }
  // Marks all bytes of an operand that lies in the scratchpad.
  void Mark(const Window& w, uint32_t operand, bool value) {
    if (operand == SLUICE_NONE) return;
    const auto& o = w.Table<sluice_operand_t>(w.block->operand_offset)[operand];
    const sluice_binding_t& slot = w.binding[o.slot];
    if (slot.region != SLUICE_REGION_GBUF) return;
    const auto& shape = w.Table<sluice_shape_t>(w.block->shape_offset)[o.shape];
    int64_t at = Join(slot.base_lo, slot.base_hi) + Join(o.offset_lo, o.offset_hi);
    int64_t run = DtypeBytes(o.dtype);
    int64_t count[kAxes];
    int inner = kAxes;  // axes from here on form one contiguous run of bytes
    for (int a = kAxes; a-- > 0;) {
      count[a] = shape.stride[a] == 0 ? 1 : shape.extent[a];
      if (inner != a + 1 || (count[a] != 1 && shape.stride[a] != run)) continue;
      run *= count[a];
      inner = a;
    }
    for (int a = inner; a < kAxes; ++a) count[a] = 1;
    for (int64_t n = 0; n < count[0]; ++n) {
      for (int64_t h = 0; h < count[1]; ++h) {
        for (int64_t i = 0; i < count[2]; ++i) {
          for (int64_t c = 0; c < count[3]; ++c) {
            const int64_t from = at + n * shape.stride[0] + h * shape.stride[1] +
                                 i * shape.stride[2] + c * shape.stride[3];
            Set(from, from + run, value);
          }
        }
      }
    }
  }
  DeadBytes LongestDead() const {
    DeadBytes best = {};
    int64_t run = 0;  // start of the current dead run
    const auto end_run = [&](int64_t at) {
      if (at - run > best.end - best.begin) {
        best.begin = run;
        best.end = at;
      }
      run = at + 1;
    };
    for (size_t w = 0; w < words_.size(); ++w) {
      const int64_t first = static_cast<int64_t>(w) * 64;
      if (words_[w] == 0) continue;
      if (words_[w] == ~uint64_t{0} && run == first) {
        run += 64;
        best.live += 64;
        continue;
      }
      for (int64_t b = 0; b < 64; ++b) {
        if ((words_[w] >> b & 1) == 0) continue;
        end_run(first + b);
        ++best.live;
      }
    }
    end_run(size_);
    return best;
  }

 private:
  Span<uint64_t> words_;
  int64_t size_;
};

// Steps backwards over one instruction: bytes it writes are dead before it, bytes it
// reads are live.
void StepBack(const Window& w, const sluice_instruction_t& i, ByteMap* live) {
  if (i.opcode == SLUICE_OPCODE_HOST) return;
  if (i.opcode != SLUICE_OPCODE_COMPUTE) {
    const auto& t = w.Table<sluice_transfer_t>(w.block->transfer_offset)[i.descriptor];
    live->Mark(w, t.dst, false);
    live->Mark(w, t.src, true);
    live->Mark(w, t.index, true);
    return;
  }
  const auto& t = w.Table<sluice_tile_t>(w.block->tile_offset)[i.descriptor];
  const bool last = (i.flags & SLUICE_FLAG_LAST) != 0;
  live->Mark(w, last ? t.output : t.accumulator, false);
  if ((i.flags & SLUICE_FLAG_FIRST) == 0) live->Mark(w, t.accumulator, true);
  const uint32_t reads[] = {t.input0, t.input1, t.weight, t.parameters};
  for (uint32_t operand : reads) live->Mark(w, operand, true);
}

}  // namespace

Status FindVisits(Span<const uint8_t> image, Arena* arena, StreamVisits* visits) {
  visits->image = image;
  const char* what;
  return ListVisits(image, UINT32_MAX, arena, &visits->visits, &what);
}

Status DrainedCycles(const Hardware& hardware, const StreamVisits& visits,
                     uint32_t first, int64_t limit, Arena* scratch, Span<int64_t> end) {
  const Engines engines(hardware);
  if (hardware.node_cols * hardware.node_rows != 1 || !engines.one_queue()) {
    return Status::kUnsupported;
  }
  ArenaScope scope(scratch);
  // Of each engine: when each of its instructions since `first` is done.
  constexpr uint32_t kEngines = 3;  // one queue, the host, one node's compute
  Sequence<int64_t> done[kEngines] = {Sequence<int64_t>(scratch),
                                      Sequence<int64_t>(scratch),
                                      Sequence<int64_t>(scratch)};
  int64_t latest = 0;
  for (uint32_t v = first; v < end.size(); ++v) {
    if (latest > limit) {
      end[v] = INT64_MAX;
      continue;
    }
    const Window w(visits, v);
    SLUICE_ASSERT(w.engines <= kEngines);
    size_t before[kEngines] = {};
    for (uint32_t e = 0; e < w.engines; ++e) before[e] = done[e].size();
    Span<uint32_t> order;
    SLUICE_TRY(PutInOrder(w, scratch, &order));
    for (uint32_t index : order) {
      const sluice_instruction_t& instruction = w.instructions[index];
      uint32_t engine = 0;
      while (index >= w.lists[engine + 1]) ++engine;
      const size_t own = done[engine].size();
      int64_t start = own == 0 ? 0 : done[engine][own - 1];
      for (uint32_t n = 0; n < instruction.wait_count; ++n) {
        const sluice_wait_t& wait = w.waits[instruction.first_wait + n];
        size_t needed = before[wait.engine] + wait.count;
        if (wait.before != 0) {
          needed =
              before[wait.engine] > wait.count ? before[wait.engine] - wait.count : 0;
        }
        if (needed != 0) start = Max(start, done[wait.engine][needed - 1]);
      }
      const int64_t ends = start + Cycles(hardware, engines.queue(0), w, instruction);
      SLUICE_TRY(done[engine].Push(ends));
      latest = Max(latest, ends);
    }
    end[v] = latest;
  }
  return Status::kOk;
}

Status LongestVisit(const Hardware& hardware, const StreamVisits& visits,
                    Arena* scratch, int64_t* cycles) {
  ArenaScope scope(scratch);
  Span<int64_t> end;
  SLUICE_TRY(scratch->Allocate(visits.count(), &end));
  *cycles = 0;
  for (uint32_t v = 0; v < end.size(); ++v) {
    SLUICE_TRY(DrainedCycles(hardware, visits, v, 0, scratch, end.Slice(0, v + 1)));
    *cycles = Max(*cycles, end[v]);
  }
  return Status::kOk;
}

Status FindDead(const StreamVisits& visits, int64_t capacity, Arena* scratch,
                Span<DeadBytes> dead) {
  ArenaScope scope(scratch);
  Span<uint64_t> words;
  SLUICE_TRY(scratch->Allocate(static_cast<size_t>(CeilDivide(capacity, 64)), &words));
  ByteMap live(words, capacity);
  dead[visits.count()] = DeadBytes{0, capacity, 0};
  for (uint32_t v = visits.count(); v-- > 0;) {
    const Window w(visits, v);
    ArenaScope inner(scratch);
    Span<uint32_t> order;
    SLUICE_TRY(PutInOrder(w, scratch, &order));
    for (size_t n = order.size(); n-- > 0;)
      StepBack(w, w.instructions[order[n]], &live);
    dead[v] = live.LongestDead();
  }
  return Status::kOk;
}

}  // namespace sluice
