// SPDX-License-Identifier: Apache-2.0
#include "plan/compare_streams.h"

#include <string.h>

#include "base/hash.h"
#include "sluice/stream.h"

namespace sluice {
namespace {

// Reads the header of a stream image. False: the image is shorter than a header.
bool ReadHeader(Span<const uint8_t> stream, sluice_stream_header_t* out) {
  if (stream.size() < sizeof *out) return false;
  memcpy(out, stream.data(), sizeof *out);
  return out->magic == SLUICE_STREAM_MAGIC;
}

// Directory entry i, or false when it does not lie in the image.
bool ReadBlock(Span<const uint8_t> stream, const sluice_stream_header_t& header,
               uint32_t i, sluice_block_t* out) {
  const uint64_t at = header.block_offset + uint64_t{i} * sizeof *out;
  if (i >= header.block_count || at + sizeof *out > stream.size()) return false;
  memcpy(out, stream.data() + at, sizeof *out);
  return uint64_t{out->body_offset} + out->body_bytes <= stream.size();
}

bool SameBody(Span<const uint8_t> a, const sluice_block_t& x, Span<const uint8_t> b,
              const sluice_block_t& y) {
  return x.body_bytes == y.body_bytes && x.hash_lo == y.hash_lo &&
         x.hash_hi == y.hash_hi &&
         memcmp(a.data() + x.body_offset, b.data() + y.body_offset, x.body_bytes) == 0;
}

}  // namespace

int64_t BudgetOf(const Plan& plan) {
  sluice_stream_header_t h;
  if (!ReadHeader(plan.stream, &h)) return 0;
  return static_cast<int64_t>(h.gbuf_bytes_lo | uint64_t{h.gbuf_bytes_hi} << 32);
}

void CompareStreams(const Plan& before, const Plan& after, sluice_change_t* change) {
  sluice_stream_header_t old_header;
  sluice_stream_header_t header;
  const Span<const uint8_t> a = before.stream;
  const Span<const uint8_t> b = after.stream;
  if (before.graph_hash != after.graph_hash) change->changed |= SLUICE_CHANGED_GRAPH;
  if (before.hardware_hash != after.hardware_hash) {
    change->changed |= SLUICE_CHANGED_HARDWARE;
  }
  if (BudgetOf(before) != BudgetOf(after)) change->changed |= SLUICE_CHANGED_SCRATCHPAD;
  change->stream_bytes = b.size();
  change->patch_bytes = b.size();
  if (!ReadHeader(b, &header)) return;
  change->blocks = change->blocks_changed = header.block_count;
  if (!ReadHeader(a, &old_header)) return;
  for (uint32_t i = 0; i < header.block_count; ++i) {
    sluice_block_t x;
    sluice_block_t y;
    if (ReadBlock(a, old_header, i, &x) && ReadBlock(b, header, i, &y) &&
        SameBody(a, x, b, y)) {
      --change->blocks_changed;
    }
  }
  for (size_t i = 0; i + 4 <= b.size() && i + 4 <= a.size(); i += 4) {
    if (memcmp(a.data() + i, b.data() + i, 4) == 0) change->patch_bytes -= 4;
  }
}

}  // namespace sluice
