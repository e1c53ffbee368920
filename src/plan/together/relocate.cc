// SPDX-License-Identifier: Apache-2.0
#include "plan/together/relocate.h"

#include "base/hash.h"
#include "io/read.h"
#include "io/write.h"
#include "model/plan.h"

namespace sluice {

namespace {

void PutWords(uint64_t value, uint32_t* low, uint32_t* high) {
  *low = static_cast<uint32_t>(value);
  *high = static_cast<uint32_t>(value >> 32);
}

}  // namespace

Status RelocatePlan(const Relocation& relocation, Arena* arena, Arena* scratch,
                    Span<const uint8_t>* out, Diagnostic* diagnostic) {
  const Span<const uint8_t> bytes = relocation.plan;
  ArenaScope scope(scratch);
  Plan plan = {};
  SLUICE_TRY(ReadPlan(bytes.data(), bytes.size(), scratch, &plan, diagnostic));
  const uint64_t by = static_cast<uint64_t>(relocation.offset);
  if (plan.report.peak_buffer_bytes != 0) plan.report.peak_buffer_bytes += by;
  PlanBytes image = {};
  SLUICE_TRY(WritePlan(plan, plan.stream.size(), plan.debug_layer.size(), arena, &image,
                       diagnostic));
  for (size_t i = 0; i < plan.debug_layer.size(); ++i) {
    image.debug_layer[i] = plan.debug_layer[i];
  }
  uint8_t* stream = image.stream.data();
  memcpy(stream, plan.stream.data(), plan.stream.size());
  auto* header = reinterpret_cast<sluice_stream_header_t*>(stream);
  auto* bindings = reinterpret_cast<sluice_binding_t*>(stream + header->binding_offset);
  for (uint32_t b = 0; b < header->binding_count; ++b) {
    sluice_binding_t* slot = &bindings[b];
    if (slot->region != SLUICE_REGION_GBUF) continue;
    PutWords((slot->base_lo | uint64_t{slot->base_hi} << 32) + by, &slot->base_lo,
             &slot->base_hi);
  }
  const uint64_t end = by + static_cast<uint64_t>(relocation.range_bytes);
  uint32_t* region = header->region_bytes[SLUICE_REGION_GBUF];
  PutWords(end, &region[0], &region[1]);
  PutWords(end, &header->gbuf_bytes_lo, &header->gbuf_bytes_hi);
  const size_t size = plan.stream.size() - sizeof *header;
  PutWords(Fnv1aWords(stream + sizeof *header, size), &header->hash_lo,
           &header->hash_hi);
  *out = image.all;
  return Status::kOk;
}

}  // namespace sluice
