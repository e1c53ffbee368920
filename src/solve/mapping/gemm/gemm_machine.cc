// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_machine.h"

#include "base/checked.h"

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

bool IsPower(uint32_t n) { return (n & (n - 1)) == 0; }

// The number of PEs, and the most along each axis. Fanouts that stand one behind the
// other along the same axes multiply. Where they are powers of two and all PEs are
// used, every split of the product can be had from them.
Status ReadArray(const Hardware& hardware, bool exact, GemmMachine* machine,
                 Diagnostic* diagnostic) {
  machine->pe_count = 1;
  uint32_t seen = 0;      // axes
  uint32_t all_axes = 0;  // fanouts for all three axes
  bool powers = true, repeated = false;
  for (size_t i = 0; i < hardware.fanouts.size(); ++i) {
    const Fanout& fanout = hardware.fanouts[i];
    if (!fanout.multicast || !fanout.reduction || fanout.transfer_pj_per_bit != 0 ||
        fanout.forward_pj_per_bit != 0) {
      return Unsupported(diagnostic)
          .Say(
              "fanout #: a GEMM's array multicasts and adds, and its wires cost "
              "nothing",
              i);
    }
    const uint32_t axes = AxesOf(fanout);
    const bool one = axes == 1 || axes == 2 || axes == 4;
    powers = powers && IsPower(fanout.extent);
    repeated = repeated || (seen & axes) != 0;
    if (axes != 7 && !one) {
      return Unsupported(diagnostic)
          .Say("fanout #: a GEMM's fanout is for all of M, N and K, or for one of them",
               i);
    }
    all_axes += axes == 7 ? 1 : 0;
    seen |= axes;
    machine->pe_count *= fanout.extent;
    for (int d = 0; d < kGemmAxes; ++d) {
      if (!one || (axes >> d & 1) == 0) continue;
      machine->fanout_limit[d] =
          Max(int64_t{1}, machine->fanout_limit[d]) * int64_t{fanout.extent};
    }
  }
  if (seen == 0) {
    return Unsupported(diagnostic).Text("the hardware has no fanout, hence no array");
  }
  const bool mixed = all_axes != 0 && all_axes != hardware.fanouts.size();
  if (mixed || (repeated && !(powers && exact))) {
    return Unsupported(diagnostic)
        .Text(
            "fanouts that share an axis must be powers of two, of the same axes, and "
            "all their PEs in use");
  }
  for (int d = 0; d < kGemmAxes; ++d) {
    if ((seen >> d & 1) == 0) machine->fanout_limit[d] = 1;
  }
  return Status::kOk;
}

// Checks that all three data may use or bypass the memory.
Status CheckLevel(const Hardware& hardware, uint32_t index, Diagnostic* diagnostic) {
  const MemoryLevel& level = hardware.levels[index];
  const bool shared = level.share_percent[0] == 0 && level.share_percent[1] == 0 &&
                      level.share_percent[2] == 0;
  if (level.may_hold != 7 || level.must_hold != 0 || !shared) {
    return Unsupported(diagnostic)
        .Say(
            "level #: a GEMM's memory may hold all operands, must hold none and has no "
            "shares",
            index);
  }
  return Status::kOk;
}

}  // namespace

Status GemmChoicesOf(const Hardware& hardware, uint32_t outer, GemmChoices* choices,
                     Diagnostic* diagnostic) {
  const uint32_t count = static_cast<uint32_t>(hardware.levels.size());
  if (outer == 0 || outer >= count || hardware.node_cols * hardware.node_rows != 1) {
    return Unsupported(diagnostic)
        .Say(
            "a GEMM is mapped on one node, from a level that has one below: not from # "
            "of # levels on # nodes",
            outer, count, int64_t{hardware.node_cols} * hardware.node_rows);
  }
  uint32_t lowest = outer, highest = 0;  // levels that feed several units
  for (const Fanout& fanout : hardware.fanouts) {
    if (fanout.extent == 1) continue;
    lowest = Min(lowest, fanout.level);
    highest = Max(highest, fanout.level);
  }
  if (highest > outer) {
    return Unsupported(diagnostic)
        .Say("level # feeds several units, above the level mapped from", highest);
  }
  *choices = {outer, highest, lowest};
  return Status::kOk;
}

Status GemmMachineOf(const Hardware& hardware, const GemmLevels& levels, bool exact,
                     GemmMachine* machine, Diagnostic* diagnostic) {
  *machine = GemmMachine{};
  SLUICE_TRY(ReadArray(hardware, exact, machine, diagnostic));
  for (uint32_t i = 0; i < levels.outer; ++i) {
    const MemoryLevel& level = hardware.levels[i];
    if (i != levels.middle && i != levels.inner) {  // bypassed
      if (level.must_hold == 0) continue;
      return Unsupported(diagnostic)
          .Say("level # must hold operands; a GEMM uses three memories", i);
    }
    SLUICE_TRY(CheckLevel(hardware, i, diagnostic));
    const int64_t instances = i == levels.middle ? 1 : machine->pe_count;
    if (level.instances != instances) {
      return Unsupported(diagnostic)
          .Say("level # has # instances; a GEMM needs #", i, level.instances,
               instances);
    }
  }
  const auto words = [](const MemoryLevel& level) {  // 0 bytes = unbounded
    return level.capacity_bytes == 0 ? INT64_MAX / 8 : level.capacity_bytes;
  };
  const MemoryLevel& outer = hardware.levels[levels.outer];
  machine->outer_read_pj = outer.read_pj_per_bit * kBitsPerWord;
  machine->outer_write_pj = outer.write_pj_per_bit * kBitsPerWord;
  machine->bandwidth[0] = outer.bandwidth;  // a word is a byte
  if (levels.middle != SLUICE_NO_INDEX) {
    const MemoryLevel& middle = hardware.levels[levels.middle];
    machine->middle_words = words(middle);
    machine->middle_read_pj = middle.read_pj_per_bit * kBitsPerWord;
    machine->middle_write_pj = middle.write_pj_per_bit * kBitsPerWord;
    machine->bandwidth[1] = middle.bandwidth;
  }
  if (levels.inner != SLUICE_NO_INDEX) {
    const MemoryLevel& inner = hardware.levels[levels.inner];
    machine->inner_words = words(inner);
    machine->inner_read_pj = inner.read_pj_per_bit * kBitsPerWord;
    machine->inner_write_pj = inner.write_pj_per_bit * kBitsPerWord;
    machine->bandwidth[2] = inner.bandwidth;
  }
  machine->mac_pj = hardware.mac_pj;
  machine->middle_leak_pj = hardware.leakage_pj_per_cycle;  // the whole chip's
  return Status::kOk;
}

}  // namespace sluice
