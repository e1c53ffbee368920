// SPDX-License-Identifier: Apache-2.0
// Assigns offsets to the tables and bodies of a stream, and writes its image.
#include <string.h>

#include "base/hash.h"
#include "emit/emitter.h"
#include "emit/table_writer.h"

namespace sluice {

namespace {

constexpr char kStage[] = "emit";
constexpr uint32_t kRegionAlignment = 64;  // of regions in DRAM, as the stream says

void PlaceOffsets(sluice_block_t* entry, uint32_t at) {
  entry->body_offset = at;
  entry->list_offset += at;
  entry->instruction_offset += at;
  entry->wait_offset += at;
  entry->tile_offset += at;
  entry->transfer_offset += at;
  entry->host_call_offset += at;
  entry->operand_offset += at;
  entry->shape_offset += at;
}

// Offsets of tables and bodies in the stream that the device has; not trusted.
class Before {
 public:
  explicit Before(Span<const uint8_t> stream) : stream_(stream) {
    if (stream.size() >= sizeof header_) {
      memcpy(&header_, stream.data(), sizeof header_);
    }
  }
  const sluice_stream_header_t& header() const { return header_; }

  // Offset for `bytes` that had offset `old` in that stream (0: absent), at least
  // `free`.
  uint64_t Place(uint64_t free, uint32_t old, uint64_t bytes) {
    if (stream_.empty()) return free;
    // Keep the old place unless the gap before it is too large.
    if (old >= free && old % 16 == 0 && old - free <= Slack(bytes) + lost_) {
      lost_ = 0;
      return old;
    }
    lost_ += Slack(bytes);
    return free + Slack(bytes);
  }

  // Offset of the body of entry b in that stream, or 0.
  uint32_t BodyOf(uint32_t b, const sluice_block_t& entry) const {
    const uint64_t at = header_.block_offset + uint64_t{b} * sizeof entry;
    if (b >= header_.block_count || at + sizeof entry > stream_.size()) return 0;
    sluice_block_t old;
    memcpy(&old, stream_.data() + at, sizeof old);
    return old.body_offset;
  }

 private:
  static uint64_t Slack(uint64_t bytes) { return (bytes / 8 + 64) / 16 * 16; }

  Span<const uint8_t> stream_;
  sluice_stream_header_t header_ = {};
  uint64_t lost_ = 0;  // slack added since a part last kept its place
};

}  // namespace

Status LayOutStream(const StreamCall& call, StreamParts* parts,
                    Diagnostic* diagnostic) {
  const Hardware& hardware = call.hardware;
  const uint64_t scratchpad_bytes = static_cast<uint64_t>(call.scratchpad_bytes);
  sluice_stream_header_t& header = parts->header;
  uint64_t size = sizeof header;
  Before before(parts->before);
  const sluice_stream_header_t& old = before.header();
  const auto place = [&](const auto& items, uint32_t* count, uint32_t* offset,
                         uint32_t was) {
    const uint64_t bytes = (items.size() * sizeof(items[0]) + 15) / 16 * 16;
    if (bytes != 0) size = before.Place(size, was, bytes);
    *count = static_cast<uint32_t>(items.size());
    *offset = static_cast<uint32_t>(size);
    size += bytes;
  };
  header.magic = SLUICE_STREAM_MAGIC;
  header.version = SLUICE_STREAM_VERSION;
  header.node_cols = hardware.node_cols;
  header.node_rows = hardware.node_rows;
  place(parts->engines, &header.engine_count, &header.engine_offset, old.engine_offset);
  place(parts->entries, &header.block_count, &header.block_offset, old.block_offset);
  place(parts->instances, &header.instance_count, &header.instance_offset,
        old.instance_offset);
  place(parts->loops, &header.loop_count, &header.loop_offset, old.loop_offset);
  place(parts->steps, &header.step_count, &header.step_offset, old.step_offset);
  place(parts->bindings, &header.binding_count, &header.binding_offset,
        old.binding_offset);
  place(parts->kernels, &header.kernel_count, &header.kernel_offset, old.kernel_offset);
  place(parts->attributes, &header.attribute_count, &header.attribute_offset,
        old.attribute_offset);
  place(parts->patches, &header.patch_count, &header.patch_offset, old.patch_offset);
  for (size_t b = 0; b < parts->entries.size(); ++b) {
    sluice_block_t* entry = &parts->entries[b];
    size = before.Place(size, before.BodyOf(static_cast<uint32_t>(b), *entry),
                        entry->body_bytes);
    PlaceOffsets(entry, static_cast<uint32_t>(size));
    size += entry->body_bytes;
  }
  if (size > kMaxImage) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Text("the stream exceeds 2 GiB")
        .Bytes(size, kMaxImage);
  }
  header.size_bytes = static_cast<uint32_t>(size);
  header.region_alignment = kRegionAlignment;
  header.gbuf_bytes_lo = static_cast<uint32_t>(scratchpad_bytes);
  header.gbuf_bytes_hi = static_cast<uint32_t>(scratchpad_bytes >> 32);
  for (int r = 0; r < SLUICE_REGION_COUNT; ++r) {
    const uint64_t bytes =
        r == SLUICE_REGION_GBUF ? scratchpad_bytes : call.lowering.region_bytes[r];
    header.region_bytes[r][0] = static_cast<uint32_t>(bytes);
    header.region_bytes[r][1] = static_cast<uint32_t>(bytes >> 32);
  }
  return Status::kOk;
}

Status WriteStream(const StreamParts& parts, uint8_t* image) {
  TableWriter out(image);
  const auto put = [&](const auto& items, uint32_t offset) {
    out.Seek(offset);
    out.Put(items);
    out.Align();
  };
  out.Put(&parts.header, 1);
  put(parts.engines, parts.header.engine_offset);
  put(parts.entries, parts.header.block_offset);
  put(parts.instances, parts.header.instance_offset);
  put(parts.loops, parts.header.loop_offset);
  put(parts.steps, parts.header.step_offset);
  put(parts.bindings, parts.header.binding_offset);
  put(parts.kernels, parts.header.kernel_offset);
  put(parts.attributes, parts.header.attribute_offset);
  put(parts.patches, parts.header.patch_offset);
  for (size_t b = 0; b < parts.entries.size(); ++b) {
    if (b % 16 == 15 && parts.arena->memory()->Stop()) return Status::kStopped;
    out.Seek(parts.entries[b].body_offset);
    out.Put(parts.bodies[b], parts.entries[b].body_bytes);
  }
  SLUICE_ASSERT(out.size() == parts.header.size_bytes);
  sluice_stream_header_t header = parts.header;
  uint64_t hash = 0;
  SLUICE_TRY(HashWords(image + sizeof header, out.size() - sizeof header,
                       *parts.arena->memory(), &hash));
  header.hash_lo = static_cast<uint32_t>(hash);
  header.hash_hi = static_cast<uint32_t>(hash >> 32);
  memcpy(image, &header, sizeof header);
  return Status::kOk;
}

}  // namespace sluice
