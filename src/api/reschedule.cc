// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "api/arguments.h"
#include "api/objects.h"
#include "base/hash.h"
#include "plan/carry/compare_streams.h"
#include "sluice/sluice.h"

sluice_status_t sluice_plan_patch(const sluice_plan_t* before,
                                  const sluice_plan_t* after, uint64_t gap_bytes,
                                  sluice_patch_range_t* ranges, size_t* count) {
  if (before == nullptr || after == nullptr || count == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  const sluice::Span<const uint8_t> a = before->plan.stream;
  const sluice::Span<const uint8_t> b = after->plan.stream;
  const uint64_t gap = gap_bytes != 0 ? gap_bytes : 64;
  const size_t room = ranges == nullptr ? 0 : *count;
  size_t n = 0;
  sluice_patch_range_t range = {0, 0};
  const auto close = [&] {
    if (range.bytes != 0 && n++ < room) ranges[n - 1] = range;
  };
  // Streams are whole words.
  for (uint64_t i = 0; i < b.size(); i += 4) {
    if (i < a.size() && memcmp(a.data() + i, b.data() + i, 4) == 0) continue;
    if (range.bytes == 0 || i >= range.offset + range.bytes + gap) {
      close();
      range.offset = i;
    }
    range.bytes = i + 4 - range.offset;
  }
  close();
  *count = n;
  return n <= room ? SLUICE_OK : SLUICE_BUFFER_TOO_SMALL;
}

uint64_t sluice_graph_hash(const sluice_graph_t* graph) {
  return graph == nullptr ? 0 : graph->graph.hash;
}

uint64_t sluice_hardware_hash(const sluice_hardware_t* hardware) {
  return hardware == nullptr ? 0 : hardware->hardware.hash;
}

sluice_status_t sluice_plan_hash(const sluice_plan_t* plan,
                                 sluice_plan_hashes_t* out_hashes) {
  if (plan == nullptr) return SLUICE_BAD_ARGUMENT;
  sluice_plan_hashes_t h = {};
  h.struct_size = sizeof h;
  h.plan = sluice::Fnv1a(plan->bytes.data(), plan->bytes.size());
  h.made_for_graph = plan->plan.graph_hash;
  h.made_for_hardware = plan->plan.hardware_hash;
  h.scratchpad_bytes = static_cast<uint64_t>(sluice::BudgetOf(plan->plan));
  return sluice::WriteStruct(h, out_hashes);
}
