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
struct Reach {
  int64_t nearest, farthest;
};
Reach ReachAlong(int64_t from, int64_t first, int64_t nodes) {
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

void Follower::TakeTime(int64_t before, int64_t hold) const {
  const Step& step = judge_->step;
  const StreamView& s = judge_->stream;
  s.time[s.visits[step.visit].first_number + size_t{step.index}] = {before, hold};
}

void Follower::CountLayer(uint32_t layer, bool host) {
  const uint8_t had = worked_for_[layer];
  const uint8_t has = had | (host ? 3 : 1);
  counts_->layers += static_cast<uint32_t>(has & 1) - (had & 1);
  counts_->host_layers += static_cast<uint32_t>(has >> 1) - (had >> 1);
  worked_for_[layer] = has;
}

LayerCounts* Follower::CountsOf(uint32_t layer) const {
  if (counts_->by_layer.empty()) return nullptr;
  LayerCounts* counts = &counts_->by_layer[layer];
  const bool first =
      counts->tiles == 0 && counts->port_cycles == 0 && counts->host_cycles == 0;
  if (first) {
    counts->first_instance = judge_->stream.visits[judge_->step.visit].instance;
  }
  return counts;
}

void Follower::CountForward(const sluice_transfer_t& t, int64_t bytes) {
  const Hardware& hardware = judge_->hardware;
  const uint32_t cols = hardware.node_cols;
  const Reach x = ReachAlong(t.src_node % cols, t.dst_node % cols, t.dst_cols);
  const Reach y = ReachAlong(t.src_node / cols, t.dst_node / cols, t.dst_rows);
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
  TakeTime(Max<int64_t>(cycles, 1), -1);
  counts_->pad_read_bytes += static_cast<uint64_t>(bytes);
  counts_->pad_write_bytes += static_cast<uint64_t>(bytes * nodes);
  counts_->link_bytes += static_cast<double>(bytes) *
                         static_cast<double>(nodes - 1 + x.nearest + y.nearest);
}

void Follower::CountPort(const sluice_transfer_t& t, uint8_t opcode, int64_t bytes,
                         uint32_t region) {
  const StreamView& s = judge_->stream;
  const bool load = opcode == SLUICE_OPCODE_LOAD;
  const uint32_t node = load ? t.dst_node : t.src_node;
  const int64_t cols = load ? t.dst_cols : 1, rows = load ? t.dst_rows : 1;
  const uint32_t layer =
      s.kernels[InstanceOf(s, judge_->step.visit).first_kernel + t.kernel].layer;
  CountLayer(layer, false);
  const uint64_t written = static_cast<uint64_t>(load ? bytes * cols * rows : 0);
  const uint64_t read = load ? BytesOf(BlockOf(s, judge_->step.visit), t.index)
                             : static_cast<uint64_t>(bytes);
  const bool spills = !load && region == SLUICE_REGION_WORKSPACE;
  const int64_t off_chip = t.moved_bytes == 0 ? bytes : int64_t{t.moved_bytes};
  (load ? counts_->dram_read_bytes : counts_->dram_write_bytes) += off_chip;
  counts_->moved_bytes[region][load ? 0 : 1] += static_cast<uint64_t>(off_chip);
  if (spills) counts_->spill_bytes += bytes;
  counts_->pad_write_bytes += written;
  counts_->pad_read_bytes += read;
  if (LayerCounts* l = CountsOf(layer)) {
    const uint64_t moved = static_cast<uint64_t>(off_chip);
    l->moved_bytes[region][load ? 0 : 1] += moved;
    const StepTime& time =
        s.time[s.visits[judge_->step.visit].first_number + size_t{judge_->step.index}];
    l->port_cycles += static_cast<uint64_t>(Max<int64_t>(time.hold, 0));
    (load ? l->dram_read_bytes : l->dram_write_bytes) += moved;
    if (spills) l->spill_bytes += moved;
    l->pad_write_bytes += written;
    l->pad_read_bytes += read;
  }
  // DRAM is at the mesh's corners.
  const int64_t width = judge_->hardware.node_cols, height = judge_->hardware.node_rows;
  const int64_t x = node % width, y = node / width;
  const int64_t links =
      cols * rows - 1 + Min(x, width - x - cols) + Min(y, height - y - rows);
  counts_->link_bytes += static_cast<double>(bytes) * static_cast<double>(links);
}

void Follower::CountTile(const sluice_tile_t& tile, uint8_t flags,
                         const TileNeeds& needs) {
  const StreamView& s = judge_->stream;
  const BlockView& block = BlockOf(s, judge_->step.visit);
  TakeTime(tile.cycles, -1);
  const uint32_t layer =
      s.kernels[InstanceOf(s, judge_->step.visit).first_kernel + tile.kernel].layer;
  CountLayer(layer, false);
  ++counts_->tiles;
  (needs.macs ? counts_->macs : counts_->vector_ops) +=
      static_cast<uint64_t>(needs.work);
  const uint64_t read = BytesOf(block, tile.input0) + BytesOf(block, tile.input1) +
                        BytesOf(block, tile.weight) + BytesOf(block, tile.parameters);
  const uint64_t sums = BytesOf(block, tile.accumulator);
  const uint64_t sums_read = (flags & SLUICE_FLAG_FIRST) == 0 ? sums : 0;
  const uint64_t written =
      BytesOf(block, tile.output) + ((flags & SLUICE_FLAG_LAST) == 0 ? sums : 0);
  counts_->tile_read_bytes += read;
  counts_->tile_write_bytes += written;
  counts_->pad_read_bytes += sums_read;
  LayerCounts* l = CountsOf(layer);
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

void Follower::CountHost(const sluice_host_call_t& call, uint32_t index) {
  const Layer& layer = judge_->graph.layers[index];
  const HostCost cost = CostOnHost(*judge_, layer);
  CountLayer(index, true);
  counts_->host_read_bytes += cost.read;
  counts_->host_write_bytes += cost.written;
  const uint64_t cycles = Join(call.cycles_lo, call.cycles_hi);
  counts_->host_cycles += cycles;
  counts_->host_macs += MacsOnHost(*judge_, layer);
  const uint64_t hold = static_cast<uint64_t>(Max<int64_t>(cost.hold, 0));
  counts_->host_hold += hold;
  if (LayerCounts* l = CountsOf(index)) {
    l->host_cycles += cycles;
    l->port_cycles += hold;
  }
  TakeTime(static_cast<int64_t>(Min<uint64_t>(cycles, INT64_MAX)), cost.hold);
}

}  // namespace judge
}  // namespace sluice
