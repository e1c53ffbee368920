// SPDX-License-Identifier: Apache-2.0
#include "model/off_chip.h"

#include "base/checked.h"

namespace sluice {
namespace {

double CyclesPerByte(const MemoryLevel& level) {
  return static_cast<double>(level.bandwidth.denominator) /
         static_cast<double>(level.bandwidth.numerator);
}

int64_t CyclesOf(const MemoryLevel& level, int64_t bytes) {
  const Rational rate = level.bandwidth;
  if (rate.numerator == 0) return 0;
  return TransferCycles(bytes, rate.numerator, rate.denominator);
}

}  // namespace

uint8_t RegionOf(TensorKind kind) {
  constexpr uint8_t kRegions[] = {SLUICE_REGION_WORKSPACE, SLUICE_REGION_INPUT,
                                  SLUICE_REGION_OUTPUT, SLUICE_REGION_CONST,
                                  SLUICE_REGION_STATE};
  return kRegions[static_cast<uint32_t>(kind)];
}

int64_t MovedBytes(const Tensor& tensor, int64_t bytes) {
  if (tensor.encoded_bytes == 0) return bytes;
  return TransferCycles(bytes, tensor.bytes,
                        tensor.encoded_bytes);  // the same quotient
}

int64_t HomeLatency(const Hardware& hardware, uint32_t region) {
  const OffChip* memory = hardware.MemoryOf(region);
  return memory == nullptr ? 0 : memory->latency_cycles;
}

int64_t HoldCycles(const Hardware& hardware, uint32_t region, int64_t bytes) {
  return CyclesOf(hardware.HomeOf(region), bytes);
}

MemoryLevel CheapestHome(const Hardware& hardware) {
  MemoryLevel best = hardware.dram();
  for (const OffChip& memory : hardware.memories) {
    const MemoryLevel& level = memory.level;
    if (CyclesPerByte(level) < CyclesPerByte(best)) best.bandwidth = level.bandwidth;
    best.read_pj_per_bit = Min(best.read_pj_per_bit, level.read_pj_per_bit);
    if (memory.read_only) continue;
    best.write_pj_per_bit = Min(best.write_pj_per_bit, level.write_pj_per_bit);
  }
  return best;
}

int64_t LeastHold(const Hardware& hardware, int64_t bytes, int64_t constants) {
  if (hardware.memories.empty()) return CyclesOf(hardware.dram(), bytes);
  return HoldCycles(hardware, SLUICE_REGION_CONST, constants) +
         CyclesOf(CheapestHome(hardware), bytes - constants);
}

double PortShare(const Hardware& hardware, const Tensor& tensor) {
  double share = 1;
  if (tensor.encoded_bytes != 0) {
    share =
        static_cast<double>(tensor.encoded_bytes) / static_cast<double>(tensor.bytes);
  }
  if (hardware.memories.empty()) return share;
  return share * CyclesPerByte(hardware.HomeOf(RegionOf(tensor.kind))) /
         CyclesPerByte(hardware.dram());
}

bool AllAlike(const Graph& graph, const Hardware& hardware) {
  if (!hardware.memories.empty()) return false;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.encoded_bytes != 0) return false;
  }
  return true;
}

}  // namespace sluice
