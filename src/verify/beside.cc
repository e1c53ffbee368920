// SPDX-License-Identifier: Apache-2.0
#include "verify/beside.h"

namespace sluice {
namespace judge {
namespace {

// A driver allocates each region in full, so a region may not be larger than its use.
Status CheckRegionSizes(const Judge& judge) {
  const StreamView& s = judge.stream;
  const uint64_t last = s.header->region_alignment - uint64_t{1};
  for (uint32_t r = SLUICE_REGION_CONST; r < SLUICE_REGION_COUNT; ++r) {
    const uint64_t used = (s.region_end[r] + last) & ~last;
    if (s.region_limit[r] <= used) continue;
    return Reject(judge, "bounds")
        .Bytes(s.region_limit[r], used)
        .Say("region # is larger than what is used of it", r);
  }
  return Status::kOk;
}

// The kernel that an instruction works for, as its block numbers it.
uint32_t KernelOf(const BlockView& block, const sluice_instruction_t& instruction) {
  const uint32_t d = instruction.descriptor;
  switch (instruction.opcode) {
    case SLUICE_OPCODE_COMPUTE:
      return block.tiles[d].kernel;
    case SLUICE_OPCODE_HOST:
      return block.host_calls[d].kernel;
    default:
      return block.transfers[d].kernel;
  }
}

// The map from instructions to layers says what their kernels say.
Status CheckDebug(const Judge& judge) {
  const StreamView& s = judge.stream;
  const Span<const uint32_t> debug = judge.plan.debug_layer;
  if (debug.empty()) return Status::kOk;
  if (debug.size() != s.stored) {
    return Reject(judge, "structure").Text("debug map of another length");
  }
  const uint32_t* layer = debug.data();
  for (const sluice_instance_t& instance : s.instances) {
    const BlockView& block = s.blocks[instance.block];
    if (judge.arena->memory()->Stop()) return Status::kStopped;
    for (const sluice_instruction_t& instruction : block.instructions) {
      const uint32_t kernel = instance.first_kernel + KernelOf(block, instruction);
      if (*layer == s.kernels[kernel].layer) {
        ++layer;
        continue;
      }
      return Reject(judge, "structure")
          .Instruction(static_cast<uint32_t>(layer - debug.data()))
          .Say("the debug map names layer # where the kernel is of layer #", *layer,
               s.kernels[kernel].layer);
    }
  }
  return Status::kOk;
}

// The schedule beside the stream names each layer at most once, and its segments contain
// every layer that it names.
Status CheckNotation(const Judge& judge) {
  const PlanNotation& notation = judge.plan.notation;
  ArenaScope scope(judge.arena);
  Span<uint8_t> seen;
  SLUICE_TRY(judge.arena->Allocate(judge.graph.layers.size(), &seen));
  for (const uint32_t layer : notation.order) {
    if (layer >= seen.size() || seen[layer]++ != 0) {
      return Reject(judge, "structure")
          .Say("the order of layers names #", layer)
          .Text(layer < seen.size() ? " twice" : ", which is none");
    }
  }
  if (notation.segment.empty()) return Status::kOk;
  uint64_t layers = 0, loops = 0;
  for (const PlanSegment& segment : notation.segment) {
    layers += segment.layers;
    loops += segment.loops;
  }
  if (layers == notation.order.size() && loops == notation.loop.size()) {
    return Status::kOk;
  }
  return Reject(judge, "structure")
      .Say("segments have # layers and # loops, the plan # and #", layers, loops,
           notation.order.size(), notation.loop.size());
}

}  // namespace

Status CheckBeside(const Judge& judge) {
  SLUICE_TRY(CheckRegionSizes(judge));
  SLUICE_TRY(CheckDebug(judge));
  return CheckNotation(judge);
}

}  // namespace judge
}  // namespace sluice
