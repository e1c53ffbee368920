// SPDX-License-Identifier: Apache-2.0
#include "api/map.h"

namespace sluice {
namespace {

constexpr char kStage[] = "mapping";
constexpr double kBitsPerWord = 8;
// Dims N K C P Q R S as bits; an axis of a GEMM may lie along any of its dims.
constexpr uint32_t kAxisDims[kGemmAxes] = {1u << 0 | 1u << 3 | 1u << 4, 1u << 1,
                                           1u << 2};

Fail Unsupported(Diagnostic* diagnostic) {
  return Fail(diagnostic, Status::kUnsupported, kStage);
}

uint32_t AxesOf(const Fanout& fanout) {
  uint32_t axes = 0;
  for (int d = 0; d < kGemmAxes; ++d) {
    if ((fanout.may_unroll & kAxisDims[d]) != 0) axes |= 1u << d;
  }
  return axes;
}

// PEs and the most of them along each axis.
Status ReadArray(const Hardware& hardware, GemmMachine* machine,
                 Diagnostic* diagnostic) {
  machine->pe_count = 1;
  uint32_t taken = 0;  // axes
  for (size_t i = 0; i < hardware.fanouts.size(); ++i) {
    const Fanout& fanout = hardware.fanouts[i];
    if (!fanout.multicast || !fanout.reduction || fanout.transfer_pj_per_bit != 0 ||
        fanout.forward_pj_per_bit != 0) {
      return Unsupported(diagnostic)
          .Text("fanout ")
          .Number(static_cast<int64_t>(i))
          .Text(": a GEMM's array multicasts and adds, and its wires cost nothing");
    }
    const uint32_t axes = AxesOf(fanout);
    const bool all_alone = axes == 7 && hardware.fanouts.size() == 1;
    const bool one = axes == 1 || axes == 2 || axes == 4;
    if (!all_alone && (!one || (taken & axes) != 0)) {
      return Unsupported(diagnostic)
          .Text("fanout ")
          .Number(static_cast<int64_t>(i))
          .Text(
              ": a GEMM needs one fanout for all of M, N and K, or one for each of "
              "some "
              "of them");
    }
    taken |= axes;
    machine->pe_count *= fanout.extent;
    for (int d = 0; d < kGemmAxes; ++d) {
      if (one && (axes >> d & 1) != 0) machine->fanout_limit[d] = fanout.extent;
    }
  }
  if (taken == 0) {
    return Unsupported(diagnostic).Text("the hardware has no fanout, hence no array");
  }
  for (int d = 0; d < kGemmAxes; ++d) {
    if ((taken >> d & 1) == 0) machine->fanout_limit[d] = 1;
  }
  return Status::kOk;
}

// A memory that all three data may or may not use, as they like.
Status CheckLevel(const Hardware& hardware, uint32_t index, Diagnostic* diagnostic) {
  const MemoryLevel& level = hardware.levels[index];
  const bool shared = level.share_percent[0] == 0 && level.share_percent[1] == 0 &&
                      level.share_percent[2] == 0;
  if (level.may_hold != 7 || level.must_hold != 0 || !shared) {
    return Unsupported(diagnostic)
        .Text("level ")
        .Number(index)
        .Text(": a GEMM's memories hold all operands, none must be held, no shares");
  }
  return Status::kOk;
}

}  // namespace

Status GemmMachineOf(const Hardware& hardware, GemmMachine* machine, GemmLevels* levels,
                     Diagnostic* diagnostic) {
  *machine = GemmMachine{};
  const uint32_t count = static_cast<uint32_t>(hardware.levels.size());
  const uint32_t pad = hardware.scratchpad_level;
  if (count - pad != 2 || pad > 1 || hardware.node_cols * hardware.node_rows != 1) {
    return Unsupported(diagnostic)
        .Text("a GEMM is mapped on DRAM, one scratchpad and at most one level below; ")
        .Number(count)
        .Text(" levels with the scratchpad at ")
        .Number(pad)
        .Text(" on ")
        .Number(int64_t{hardware.node_cols} * hardware.node_rows)
        .Text(" nodes are not that");
  }
  *levels = {count - 1, pad, pad == 0 ? SLUICE_NO_INDEX : 0};
  SLUICE_TRY(ReadArray(hardware, machine, diagnostic));
  for (uint32_t i = 0; i <= pad; ++i) {
    SLUICE_TRY(CheckLevel(hardware, i, diagnostic));
    const int64_t instances = i == pad ? 1 : machine->pe_count;
    if (hardware.levels[i].instances != instances) {
      return Unsupported(diagnostic)
          .Text("level ")
          .Number(i)
          .Text(" has ")
          .Number(hardware.levels[i].instances)
          .Text(" instances; a GEMM needs ")
          .Number(instances);
    }
  }
  const auto words = [](const MemoryLevel& level) {  // 0 bytes = unbounded
    return level.capacity_bytes == 0 ? INT64_MAX / 8 : level.capacity_bytes;
  };
  machine->middle_words = words(hardware.scratchpad());
  machine->outer_read_pj = hardware.dram().read_pj_per_bit * kBitsPerWord;
  machine->outer_write_pj = hardware.dram().write_pj_per_bit * kBitsPerWord;
  machine->middle_read_pj = hardware.scratchpad().read_pj_per_bit * kBitsPerWord;
  machine->middle_write_pj = hardware.scratchpad().write_pj_per_bit * kBitsPerWord;
  if (pad == 1) {
    machine->inner_words = words(hardware.levels[0]);
    machine->inner_read_pj = hardware.levels[0].read_pj_per_bit * kBitsPerWord;
    machine->inner_write_pj = hardware.levels[0].write_pj_per_bit * kBitsPerWord;
  }
  machine->mac_pj = hardware.mac_pj;
  machine->middle_leak_pj = hardware.leakage_pj_per_cycle;  // the whole chip's
  return Status::kOk;
}

}  // namespace sluice
