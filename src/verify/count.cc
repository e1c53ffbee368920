// SPDX-License-Identifier: Apache-2.0
// What the instructions take and move, for the report.
#include "base/checked.h"
#include "verify/ability.h"
#include "verify/follow.h"

namespace sluice {
namespace judge {
namespace {

// Links along one axis from a node to the nearest and to the farthest of a range of
// nodes.
struct Hops {
  int64_t nearest, farthest;
};
Hops HopsAlong(int64_t from, int64_t first, int64_t nodes) {
  const int64_t before = first - from, behind = from - (first + nodes - 1);
  return {Max<int64_t>(0, Max(before, behind)),
          Max(Max(before, -before), Max(behind, -behind))};
}

uint64_t BytesOf(const BlockView& block, uint32_t operand) {
  if (operand == SLUICE_NONE) return 0;
  const sluice_operand_t& o = block.operands[operand];
  uint64_t bytes = DtypeBytes(o.dtype);
  for (const uint32_t extent : block.shapes[o.shape].extent) bytes *= extent;
  return bytes;
}

}  // namespace

void TakeTime(const Follower& f, int64_t before, int64_t hold) {
  const Step& step = f.judge->step;
  const StreamView& s = f.judge->stream;
  s.time[s.visits[step.visit].first_number + size_t{step.index}] = {before, hold};
}

static void CountLayer(Follower* f, uint32_t layer, bool host) {
  const uint8_t had = f->worked_for[layer];
  const uint8_t has = had | (host ? 3 : 1);
  f->counts->layers += static_cast<uint32_t>(has & 1) - (had & 1);
  f->counts->host_layers += static_cast<uint32_t>(has >> 1) - (had >> 1);
  f->worked_for[layer] = has;
}

static LayerCounts* CountsOf(const Follower& f, uint32_t layer) {
  if (f.counts->by_layer.empty()) return nullptr;
  LayerCounts* counts = &f.counts->by_layer[layer];
  const bool first =
      counts->tiles == 0 && counts->port_cycles == 0 && counts->host_cycles == 0;
  if (first) {
    counts->first_instance = f.judge->stream.visits[f.judge->step.visit].instance;
  }
  return counts;
}

void CountForward(Follower* f, const sluice_transfer_t& t, int64_t bytes) {
  const Hardware& hardware = f->judge->hardware;
  const uint32_t cols = hardware.node_cols;
  const Hops x = HopsAlong(t.src_node % cols, t.dst_node % cols, t.dst_cols);
  const Hops y = HopsAlong(t.src_node / cols, t.dst_node / cols, t.dst_rows);
  const int64_t nodes = int64_t{t.dst_cols} * t.dst_rows;
  const Rational bandwidth = hardware.link_bandwidth;
  int64_t cycles;
  if (!CheckedMultiply(hardware.hop_latency_cycles, x.farthest + y.farthest, &cycles) ||
      (bandwidth.numerator != 0 &&
       !CheckedAdd(cycles,
                   TransferCycles(bytes, bandwidth.numerator, bandwidth.denominator),
                   &cycles))) {
    cycles = INT64_MAX;
  }
  TakeTime(*f, Max<int64_t>(cycles, 1), -1);
  f->counts->pad_read_bytes += static_cast<uint64_t>(bytes);
  f->counts->pad_write_bytes += static_cast<uint64_t>(bytes * nodes);
  f->counts->link_bytes += static_cast<double>(bytes) *
                           static_cast<double>(nodes - 1 + x.nearest + y.nearest);
}

void CountPort(Follower* f, const sluice_transfer_t& t, uint8_t opcode, int64_t bytes,
               uint32_t region) {
  const StreamView& s = f->judge->stream;
  const bool load = opcode == SLUICE_OPCODE_LOAD;
  const uint32_t node = load ? t.dst_node : t.src_node;
  const int64_t cols = load ? t.dst_cols : 1, rows = load ? t.dst_rows : 1;
  const uint32_t layer =
      s.kernels[InstanceOf(s, f->judge->step.visit).first_kernel + t.kernel].layer;
  CountLayer(f, layer, false);
  const uint64_t written = static_cast<uint64_t>(load ? bytes * cols * rows : 0);
  const uint64_t read = load ? BytesOf(BlockOf(s, f->judge->step.visit), t.index)
                             : static_cast<uint64_t>(bytes);
  const bool spills = !load && region == SLUICE_REGION_WORKSPACE;
  const int64_t off_chip = t.moved_bytes == 0 ? bytes : int64_t{t.moved_bytes};
  (load ? f->counts->dram_read_bytes : f->counts->dram_write_bytes) += off_chip;
  f->counts->moved_bytes[region][load ? 0 : 1] += static_cast<uint64_t>(off_chip);
  if (spills) f->counts->spill_bytes += bytes;
  f->counts->pad_write_bytes += written;
  f->counts->pad_read_bytes += read;
  if (LayerCounts* l = CountsOf(*f, layer)) {
    const uint64_t moved = static_cast<uint64_t>(off_chip);
    l->moved_bytes[region][load ? 0 : 1] += moved;
    const StepTime& time = s.time[s.visits[f->judge->step.visit].first_number +
                                  size_t{f->judge->step.index}];
    l->port_cycles += static_cast<uint64_t>(Max<int64_t>(time.hold, 0));
    (load ? l->dram_read_bytes : l->dram_write_bytes) += moved;
    if (spills) l->spill_bytes += moved;
    l->pad_write_bytes += written;
    l->pad_read_bytes += read;
  }
  // DRAM is at the mesh's corners.
  const int64_t width = f->judge->hardware.node_cols,
                height = f->judge->hardware.node_rows;
  const int64_t x = node % width, y = node / width;
  const int64_t links =
      cols * rows - 1 + Min(x, width - x - cols) + Min(y, height - y - rows);
  f->counts->link_bytes += static_cast<double>(bytes) * static_cast<double>(links);
}

void CountTile(Follower* f, const sluice_tile_t& tile, uint8_t flags,
               const TileNeeds& needs) {
  const StreamView& s = f->judge->stream;
  const BlockView& block = BlockOf(s, f->judge->step.visit);
  TakeTime(*f, tile.cycles, -1);
  const uint32_t layer =
      s.kernels[InstanceOf(s, f->judge->step.visit).first_kernel + tile.kernel].layer;
  CountLayer(f, layer, false);
  ++f->counts->tiles;
  (needs.macs ? f->counts->macs : f->counts->vector_ops) +=
      static_cast<uint64_t>(needs.work);
  const uint64_t read = BytesOf(block, tile.input0) + BytesOf(block, tile.input1) +
                        BytesOf(block, tile.weight) + BytesOf(block, tile.parameters);
  const uint64_t sums = BytesOf(block, tile.accumulator);
  const uint64_t sums_read = (flags & SLUICE_FLAG_FIRST) == 0 ? sums : 0;
  const uint64_t written =
      BytesOf(block, tile.output) + ((flags & SLUICE_FLAG_LAST) == 0 ? sums : 0);
  f->counts->tile_read_bytes += read;
  f->counts->tile_write_bytes += written;
  f->counts->pad_read_bytes += sums_read;
  LayerCounts* l = CountsOf(*f, layer);
  if (l == nullptr) return;
  l->cycles += tile.cycles;
  ++l->tiles;
  (needs.macs ? l->macs : l->vector_ops) += static_cast<uint64_t>(needs.work);
  l->tile_read_bytes += read;
  l->tile_write_bytes += written;
  l->pad_read_bytes += sums_read;
  const uint32_t result = tile.output != SLUICE_NONE ? tile.output : tile.accumulator;
  const auto& shape = block.shapes[block.operands[result].shape].extent;
  uint64_t size = 1, largest = 1;
  for (int a = 0; a < kAxes; ++a) {
    size *= shape[a];
    largest *= l->extent[a];
  }
  for (int a = 0; size > largest && a < kAxes; ++a) l->extent[a] = shape[a];
}

void CountHost(Follower* f, const sluice_host_call_t& call, uint32_t index) {
  const Layer& layer = f->judge->graph.layers[index];
  const HostCost cost = CostOnHost(*f->judge, layer);
  CountLayer(f, index, true);
  f->counts->host_read_bytes += cost.read;
  f->counts->host_write_bytes += cost.written;
  const uint64_t cycles = Join(call.cycles_lo, call.cycles_hi);
  f->counts->host_cycles += cycles;
  f->counts->host_macs += MacsOnHost(*f->judge, layer);
  const uint64_t hold = static_cast<uint64_t>(Max<int64_t>(cost.hold, 0));
  f->counts->host_hold += hold;
  if (LayerCounts* l = CountsOf(*f, index)) {
    l->host_cycles += cycles;
    l->port_cycles += hold;
  }
  TakeTime(*f, static_cast<int64_t>(Min<uint64_t>(cycles, INT64_MAX)), cost.hold);
}

}  // namespace judge
}  // namespace sluice
