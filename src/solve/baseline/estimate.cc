// SPDX-License-Identifier: Apache-2.0
#include "solve/baseline/estimate.h"

#include "base/checked.h"
#include "model/host.h"
#include "model/tile_cycles.h"

namespace sluice {
namespace {

constexpr int64_t kMore = 10;   // percent: halos, repeated loads, fill and drain
constexpr uint32_t kSteps = 8;  // of a layer

// Bytes that a copying layer writes: the new rows of a state, the inputs of a
// concatenation that are not in place yet.
int64_t CopiedBytes(const Graph& graph, const Lowering& lowering, uint32_t l) {
  const Layer& layer = graph.layers[l];
  const uint32_t out = layer.outputs[0];
  if (KindOf(layer.op) == LayerKind::kAppend) {
    return 2 * graph.tensors[layer.inputs[1]].bytes;
  }
  int64_t bytes = graph.tensors[out].bytes;
  if (TraitsOf(layer).view != ViewRule::kConcat) return 2 * bytes;
  for (const uint32_t in : layer.inputs) {
    if (lowering.views[in].parent == out) bytes -= graph.tensors[in].bytes;
  }
  return 2 * bytes;
}

BlockCost EstimateLayer(const Graph& graph, const Hardware& hardware,
                        const Lowering& lowering, const TileCoster& coster,
                        uint32_t l) {
  const Layer& layer = lowering.executed[l];
  if (KindOf(layer.op) == LayerKind::kHost) {
    const int64_t cycles = HostCycles(layer);
    return {static_cast<double>(cycles) * hardware.host.pj_per_cycle +
                HostTrafficEnergy(hardware, HostTrafficOf(graph, layer)),
            cycles + HostHold(graph, hardware, layer), 1};
  }
  int64_t bytes = 0;
  int64_t cycles = 0;
  double work_pj = 0;
  if (KindOf(layer.op) == LayerKind::kCompute) {
    const int32_t channels = AccumulatedChannels(graph, layer);
    const TileBoxes boxes =
        BoxesOf(graph, layer, WholeBox(graph.tensors[layer.outputs[0]]), 0, channels);
    const TileOperands operands = OperandsOf(layer);
    for (int r = 0; r < kTileRoles; ++r) {
      if (operands.tensor[r] == kNone) continue;
      int64_t n = graph.tensors[operands.tensor[r]].element_bytes;
      for (int a = 0; a < kAxes; ++a) n *= boxes.box[r].extent[a];
      bytes += n;
    }
    const TileCost cost =
        DeclaredCost({coster, hardware, graph, layer, l}, boxes, TileSum{channels});
    cycles = cost.cycles;
    work_pj = cost.energy_pj;
    if (work_pj <= 0) {
      work_pj = static_cast<double>(boxes.macs) * hardware.mac_pj +
                static_cast<double>(boxes.vector_ops) * hardware.vector_op_pj +
                static_cast<double>(bytes) * 8 * hardware.scratchpad().read_pj_per_bit;
    }
  } else {
    bytes = CopiedBytes(graph, lowering, l);
  }
  const MemoryLevel& dram = hardware.dram();
  const MemoryLevel& pad = hardware.scratchpad();
  bytes += bytes / 100 * kMore;
  cycles = Max(cycles, TransferCycles(bytes, dram.bandwidth.numerator,
                                      dram.bandwidth.denominator));
  cycles += cycles / 100 * kMore;
  const double bit_pj = Min(dram.read_pj_per_bit, dram.write_pj_per_bit) +
                        Min(pad.read_pj_per_bit, pad.write_pj_per_bit);
  return {static_cast<double>(bytes) * 8 * bit_pj + work_pj +
              static_cast<double>(cycles) * hardware.leakage_pj_per_cycle,
          cycles, kSteps};
}

}  // namespace

Status EstimateAlone(const Graph& graph, const Hardware& hardware,
                     const Lowering& lowering, const TileCoster& coster,
                     const Memory& memory, Span<BlockCost> costs) {
  size_t at = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (lowering.is_view[l] != 0) continue;
    if (memory.Stop()) return Status::kStopped;
    costs[at++] = EstimateLayer(graph, hardware, lowering, coster, l);
  }
  return Status::kOk;
}

}  // namespace sluice
