// SPDX-License-Identifier: Apache-2.0
#include "lower/stream_lists.h"

#include "base/stream_visits.h"

namespace sluice {
namespace {

// Most instructions of all visits; the judge has the same limit.
constexpr uint32_t kMaxInstructions = 1u << 24;

Status Bad(Diagnostic* diagnostic, const char* what) {
  return Fail(diagnostic, Status::kBadInput, "tokens").Text(what);
}

// A table of `count` T at byte `offset` of the image.
template <typename T>
bool Table(Span<const uint8_t> image, uint32_t offset, uint64_t count,
           Span<const T>* out) {
  *out = Span<const T>();
  if (offset % 4 != 0 || offset > image.size()) return false;
  if (count > (image.size() - offset) / sizeof(T)) return false;
  *out = Span<const T>(reinterpret_cast<const T*>(image.data() + offset),
                       static_cast<size_t>(count));
  return true;
}

bool ListsAreSound(const ListBlock& block) {
  if (block.list[0] != 0) return false;
  for (size_t e = 0; e + 1 < block.list.size(); ++e) {
    if (block.list[e] > block.list[e + 1]) return false;
  }
  return block.list[block.list.size() - 1] == block.instructions.size();
}

// Whether the first `count` instructions of an engine are in the block.
bool InList(const ListBlock& block, uint32_t engine, uint32_t count) {
  return count != 0 && count <= block.list[engine + 1] - block.list[engine];
}

bool WaitsAreSound(const ListBlock& block) {
  for (const sluice_instruction_t& i : block.instructions) {
    if (i.first_wait > block.waits.size() ||
        i.wait_count > block.waits.size() - i.first_wait) {
      return false;
    }
  }
  for (const sluice_wait_t& w : block.waits) {
    if (w.before > 1 || w.engine >= block.list.size() - 1) return false;
    if (w.before == 0 && !InList(block, w.engine, w.count)) return false;
  }
  return true;
}

Status ReadBlocks(Span<const uint8_t> image, Span<const sluice_block_t> directory,
                  StreamLists* lists, Diagnostic* diagnostic) {
  for (size_t b = 0; b < directory.size(); ++b) {
    const sluice_block_t& from = directory[b];
    ListBlock& to = lists->blocks[b];
    if (!Table(image, from.list_offset, uint64_t{lists->engines} + 1, &to.list) ||
        !Table(image, from.instruction_offset, from.instruction_count,
               &to.instructions) ||
        !Table(image, from.wait_offset, from.wait_count, &to.waits)) {
      return Bad(diagnostic, "a table of the stream lies outside the image");
    }
    if (!ListsAreSound(to)) {
      return Bad(diagnostic, "the lists of a body are not its instructions");
    }
    if (!WaitsAreSound(to)) {
      return Bad(diagnostic, "a wait names what its body does not have");
    }
  }
  return Status::kOk;
}

Status NumberInstructions(Span<const uint8_t> image, Arena* arena, StreamLists* lists,
                          Diagnostic* diagnostic) {
  for (const sluice_instance_t& instance : lists->instances) {
    if (instance.block >= lists->blocks.size()) {
      return Bad(diagnostic, "an instance names a body that is not there");
    }
  }
  const char* what = nullptr;
  const Status status =
      ListVisits(image, kMaxInstructions, arena, &lists->visits, &what);
  if (status != Status::kOk) return Fail(diagnostic, status, "tokens").Text(what);
  SLUICE_TRY(arena->Allocate(lists->visits.size(), &lists->first_number));
  lists->instructions = 0;
  for (uint32_t i = 0; i < lists->visits.size(); ++i) {
    lists->first_number[i] = lists->instructions;
    const size_t more = lists->BlockOf(i).instructions.size();
    if (more > kMaxInstructions - lists->instructions) {
      return Fail(diagnostic, Status::kUnsupported, "tokens")
          .Text("the stream has too many instructions");
    }
    lists->instructions += static_cast<uint32_t>(more);
  }
  return Status::kOk;
}

}  // namespace

Status ReadStreamLists(Span<const uint8_t> image, Arena* arena, StreamLists* lists,
                       Diagnostic* diagnostic) {
  if (image.size() < sizeof(sluice_stream_header_t) ||
      reinterpret_cast<uintptr_t>(image.data()) % 4 != 0) {
    return Bad(diagnostic,
               "the stream is shorter than its header, or not aligned to 4");
  }
  const auto* h = reinterpret_cast<const sluice_stream_header_t*>(image.data());
  if (h->magic != SLUICE_STREAM_MAGIC || h->version != SLUICE_STREAM_VERSION ||
      h->size_bytes != image.size()) {
    return Bad(diagnostic, "the stream has another magic, version or size");
  }
  Span<const sluice_engine_t> engines;
  Span<const sluice_block_t> directory;
  if (!Table(image, h->engine_offset, h->engine_count, &engines) ||
      !Table(image, h->block_offset, h->block_count, &directory) ||
      !Table(image, h->instance_offset, h->instance_count, &lists->instances)) {
    return Bad(diagnostic, "a table of the stream lies outside the image");
  }
  lists->engines = h->engine_count;
  SLUICE_TRY(arena->Allocate(directory.size(), &lists->blocks));
  SLUICE_TRY(ReadBlocks(image, directory, lists, diagnostic));
  return NumberInstructions(image, arena, lists, diagnostic);
}

}  // namespace sluice
