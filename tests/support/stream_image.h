// SPDX-License-Identifier: Apache-2.0
// A stream image taken apart into records, to be changed and put together again.
//
// Input    a valid image. Output: a StreamBuilder whose Image() means the same.
#ifndef SLUICE_TESTS_SUPPORT_STREAM_IMAGE_H_
#define SLUICE_TESTS_SUPPORT_STREAM_IMAGE_H_

#include "support/stream_builder.h"

namespace sluice_test {

template <typename T>
std::vector<T> TableAt(const uint8_t* image, uint32_t offset, uint32_t count) {
  std::vector<T> table(count);
  if (count != 0) std::memcpy(table.data(), image + offset, count * sizeof(T));
  return table;
}

inline StreamBuilder TakeApart(const uint8_t* image) {
  sluice_stream_header_t h;
  std::memcpy(&h, image, sizeof h);
  StreamBuilder s;
  s.node_cols = h.node_cols;
  s.node_rows = h.node_rows;
  s.engine_table = TableAt<sluice_engine_t>(image, h.engine_offset, h.engine_count);
  s.region_alignment = h.region_alignment;
  s.gbuf_bytes = h.gbuf_bytes_lo | uint64_t{h.gbuf_bytes_hi} << 32;
  for (int r = 0; r < SLUICE_REGION_COUNT; ++r) {
    s.region_bytes[r] = h.region_bytes[r][0] | uint64_t{h.region_bytes[r][1]} << 32;
  }
  s.instances = TableAt<sluice_instance_t>(image, h.instance_offset, h.instance_count);
  s.loops = TableAt<sluice_loop_t>(image, h.loop_offset, h.loop_count);
  s.steps = TableAt<int32_t>(image, h.step_offset, h.step_count);
  s.bindings = TableAt<sluice_binding_t>(image, h.binding_offset, h.binding_count);
  s.kernels = TableAt<sluice_kernel_t>(image, h.kernel_offset, h.kernel_count);
  s.attributes = TableAt<int32_t>(image, h.attribute_offset, h.attribute_count);
  s.patches = TableAt<sluice_patch_t>(image, h.patch_offset, h.patch_count);
  for (const sluice_block_t& b :
       TableAt<sluice_block_t>(image, h.block_offset, h.block_count)) {
    s.blocks.emplace_back();
    BlockBuilder& to = s.blocks.back();
    to.slot_count = b.slot_count;
    to.kernel_count = b.kernel_count;
    to.tiles = TableAt<sluice_tile_t>(image, b.tile_offset, b.tile_count);
    to.transfers =
        TableAt<sluice_transfer_t>(image, b.transfer_offset, b.transfer_count);
    to.host_calls =
        TableAt<sluice_host_call_t>(image, b.host_call_offset, b.host_call_count);
    to.operands = TableAt<sluice_operand_t>(image, b.operand_offset, b.operand_count);
    to.shapes = TableAt<sluice_shape_t>(image, b.shape_offset, b.shape_count);
    const auto list = TableAt<uint32_t>(image, b.list_offset, s.engines() + 1);
    const auto instructions =
        TableAt<sluice_instruction_t>(image, b.instruction_offset, b.instruction_count);
    const auto waits = TableAt<sluice_wait_t>(image, b.wait_offset, b.wait_count);
    to.lists.resize(s.engines());
    for (uint32_t e = 0; e < s.engines(); ++e) {
      for (uint32_t i = list[e]; i < list[e + 1]; ++i) {
        ListedInstruction entry;
        entry.record = instructions[i];
        const auto first = waits.begin() + instructions[i].first_wait;
        entry.waits.assign(first, first + instructions[i].wait_count);
        to.lists[e].push_back(entry);
      }
    }
  }
  return s;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_STREAM_IMAGE_H_
