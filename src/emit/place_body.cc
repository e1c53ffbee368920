// SPDX-License-Identifier: Apache-2.0
// Bodies of blocks as bytes; equal bodies are stored once.
#include "base/checked.h"
#include "base/hash.h"
#include "emit/emitter.h"
#include "emit/table_writer.h"

namespace sluice {

namespace {

// Offsets in *entry are relative to the body until the body is placed.
void WriteBody(const Body& body, TableWriter* out, sluice_block_t* entry) {
  const auto table = [&](const auto& items, uint32_t* count, uint32_t* offset) {
    *count = static_cast<uint32_t>(items.size());
    *offset = static_cast<uint32_t>(out->size());
    out->Put(items);
  };
  out->Put(body.list.data(), body.list.size());
  entry->instruction_count = static_cast<uint32_t>(body.instructions.size());
  entry->instruction_offset = static_cast<uint32_t>(out->size());
  out->Put(body.instructions.data(), body.instructions.size());
  table(body.waits, &entry->wait_count, &entry->wait_offset);
  table(body.tiles, &entry->tile_count, &entry->tile_offset);
  table(body.transfers, &entry->transfer_count, &entry->transfer_offset);
  table(body.host_calls, &entry->host_call_count, &entry->host_call_offset);
  table(body.operands.items(), &entry->operand_count, &entry->operand_offset);
  out->Put(body.host_operands);
  entry->operand_count += static_cast<uint32_t>(body.host_operands.size());
  table(body.shapes.items(), &entry->shape_count, &entry->shape_offset);
  out->Align();
  entry->body_bytes = static_cast<uint32_t>(out->size());
  entry->slot_count = static_cast<uint32_t>(1 + body.slots.size());
  entry->kernel_count = static_cast<uint32_t>(body.kernels.size());
}

uint32_t* SlotOf(const sluice_block_t& entry, StreamParts* parts, size_t step) {
  return &parts->slots[(entry.hash_lo + step) & (parts->slots.size() - 1)];
}

// Room for one entry more, half of which stays empty.
Status GrowSlots(StreamParts* parts) {
  if (parts->entries.size() * 2 < parts->slots.size()) return Status::kOk;
  const size_t size = Max<size_t>(64, 2 * parts->slots.size());
  SLUICE_TRY(parts->arena->Allocate(size, &parts->slots));
  for (uint32_t b = 0; b < parts->entries.size(); ++b) {
    size_t step = 0;
    while (*SlotOf(parts->entries[b], parts, step) != 0) ++step;
    *SlotOf(parts->entries[b], parts, step) = b + 1;
  }
  return Status::kOk;
}

}  // namespace

Status PlaceBody(const Body& body, StreamParts* parts, uint32_t* block) {
  SLUICE_TRY(GrowSlots(parts));
  sluice_block_t entry = {};
  TableWriter count(nullptr);
  WriteBody(body, &count, &entry);
  if (count.size() > kMaxImage) return Status::kUnsupported;
  const Arena::Mark before = parts->arena->mark();
  Span<uint32_t> words;  // zeroed
  SLUICE_TRY(parts->arena->Allocate(count.size() / 4, &words));
  uint8_t* bytes = reinterpret_cast<uint8_t*>(words.data());
  TableWriter out(bytes);
  WriteBody(body, &out, &entry);
  uint64_t hash = 0;
  SLUICE_TRY(HashWords(bytes, out.size(), *parts->arena->memory(), &hash));
  entry.hash_lo = static_cast<uint32_t>(hash);
  entry.hash_hi = static_cast<uint32_t>(hash >> 32);
  size_t step = 0;
  for (; *SlotOf(entry, parts, step) != 0; ++step) {
    const uint32_t b = *SlotOf(entry, parts, step) - 1;
    const sluice_block_t& other = parts->entries[b];
    if (other.hash_lo == entry.hash_lo && other.hash_hi == entry.hash_hi &&
        other.body_bytes == entry.body_bytes && other.slot_count == entry.slot_count &&
        other.kernel_count == entry.kernel_count &&
        memcmp(parts->bodies[b], bytes, entry.body_bytes) == 0) {
      *block = b;
      parts->arena->Rewind(before);
      return Status::kOk;
    }
  }
  *block = static_cast<uint32_t>(parts->entries.size());
  *SlotOf(entry, parts, step) = *block + 1;
  SLUICE_TRY(parts->bodies.Push(bytes));
  return parts->entries.Push(entry);
}

}  // namespace sluice
