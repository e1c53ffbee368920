// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/checked.h"
#include "solve/placement/offsets/fixed_overlap.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 60;  // of all buffers together
constexpr int64_t kMaxBanks = 64;                // bits of a buffer's banks

Fail Blame(Diagnostic* diagnostic, uint32_t buffer) {
  Fail fail(diagnostic, Status::kBadInput, "placement");
  fail.Tensor(buffer).Say("buffer #", buffer);
  return fail;
}

Status CheckGaps(const LiveRangeSet& set, uint32_t i, Diagnostic* diagnostic) {
  const LiveRange& range = set.buffers[i];
  if (range.first_gap > set.gaps.size() ||
      range.gap_count > set.gaps.size() - range.first_gap) {
    return Blame(diagnostic, i).Text(" names gaps that do not exist");
  }
  int64_t from = range.begin;
  for (uint32_t g = 0; g < range.gap_count; ++g) {
    const LiveGap& gap = set.gaps[range.first_gap + g];
    if (gap.begin >= gap.end) {
      return Blame(diagnostic, i).Say(" has an inverted gap at #", gap.begin);
    }
    if (gap.begin < from || gap.end > range.end) {
      return Blame(diagnostic, i)
          .Say(" has a gap outside its life or over another gap, at #", gap.begin);
    }
    if (gap.first_byte < 0 || gap.first_byte > gap.last_byte ||
        gap.last_byte > range.bytes) {
      return Blame(diagnostic, i)
          .Say(" uses bytes it does not have in its gap at #", gap.begin);
    }
    from = gap.end;
  }
  return Status::kOk;
}

Status CheckBanks(const LiveRangeSet& set, uint32_t i, Diagnostic* diagnostic) {
  const LiveRange& range = set.buffers[i];
  if (range.banks == 0 && !range.single_bank) return Status::kOk;
  if (set.bank_bytes == 0) {
    return Blame(diagnostic, i).Text(" asks for banks, but none are declared");
  }
  if (range.fixed_offset == kFreeOffset) return Status::kOk;
  const int64_t first = range.fixed_offset / set.bank_bytes;
  const int64_t last = (range.fixed_offset + range.bytes - 1) / set.bank_bytes;
  bool allowed = !range.single_bank || first == last;
  for (int64_t bank = first; range.banks != 0 && bank <= last && allowed; ++bank) {
    allowed = bank < kMaxBanks && (range.banks >> bank & 1) != 0;
  }
  if (allowed) return Status::kOk;
  return Blame(diagnostic, i).Text(" is fixed in a bank that is closed to it");
}

Status CheckBuffer(const LiveRangeSet& set, uint32_t i, int64_t* total,
                   Diagnostic* diagnostic) {
  const LiveRange& range = set.buffers[i];
  if (range.begin >= range.end) {
    return Blame(diagnostic, i)
        .Say(" has an inverted or empty lifetime #..#", range.begin, range.end);
  }
  if (range.bytes <= 0) {
    return Blame(diagnostic, i).Say(" has size #", range.bytes);
  }
  if (range.alignment <= 0 || !IsPowerOfTwo(static_cast<uint64_t>(range.alignment))) {
    return Blame(diagnostic, i)
        .Say(" has alignment #, which is no power of two", range.alignment);
  }
  const bool fixed = range.fixed_offset != kFreeOffset;
  if (fixed && (range.fixed_offset < 0 || range.fixed_offset % range.alignment != 0)) {
    return Blame(diagnostic, i)
        .Say(" is fixed at #, which its alignment forbids", range.fixed_offset);
  }
  int64_t reach = 0;
  if (!CheckedAdd(range.bytes, range.alignment, &reach) ||
      !CheckedAdd(*total, reach, total) || *total > kMaxBytes ||
      (fixed && range.fixed_offset > kMaxBytes)) {
    return Blame(diagnostic, i).Text(" brings the sizes beyond 2^60 bytes");
  }
  SLUICE_TRY(CheckGaps(set, i, diagnostic));
  return CheckBanks(set, i, diagnostic);
}

Status CollectBlocks(const LiveRangeSet& set, Vector<FixedBlock>* blocks) {
  const auto push = [&](uint32_t i, int64_t begin, int64_t end, int64_t lo,
                        int64_t hi) {
    if (begin >= end || lo >= hi) return Status::kOk;
    const int64_t at = set.buffers[i].fixed_offset;
    return blocks->Push(FixedBlock{begin, end, at + lo, at + hi, i, false});
  };
  size_t fixed = 0;
  for (const LiveRange& range : set.buffers) {
    fixed += range.fixed_offset != kFreeOffset ? 1 + 2 * size_t{range.gap_count} : 0;
  }
  SLUICE_TRY(blocks->Reserve(fixed + set.reserved.size()));
  for (uint32_t i = 0; i < set.buffers.size(); ++i) {
    const LiveRange& range = set.buffers[i];
    if (range.fixed_offset == kFreeOffset) continue;
    int64_t from = range.begin;
    for (uint32_t g = 0; g < range.gap_count; ++g) {
      const LiveGap& gap = set.gaps[range.first_gap + g];
      SLUICE_TRY(push(i, from, gap.begin, 0, range.bytes));
      SLUICE_TRY(push(i, gap.begin, gap.end, gap.first_byte, gap.last_byte));
      from = gap.end;
    }
    SLUICE_TRY(push(i, from, range.end, 0, range.bytes));
  }
  for (uint32_t r = 0; r < set.reserved.size(); ++r) {
    const ReservedRegion& region = set.reserved[r];
    SLUICE_TRY(blocks->Push(FixedBlock{region.begin, region.end, region.offset,
                                       region.offset + region.bytes, r, true}));
  }
  return Status::kOk;
}

// Fixed buffers must overlap neither each other nor the reserved regions.
Status CheckFixed(const LiveRangeSet& set, Arena* arena, Diagnostic* diagnostic) {
  Vector<FixedBlock> blocks(arena);
  SLUICE_TRY(CollectBlocks(set, &blocks));
  FixedOverlap overlap;
  SLUICE_TRY(FindFixedOverlap(blocks.span(), arena, &overlap));
  if (!overlap.found) return Status::kOk;
  FixedBlock named = overlap.second, other = overlap.first;
  if (named.reserved || (!other.reserved && named.index < other.index)) {
    std::swap(named, other);
  }
  return Blame(diagnostic, named.index)
      .Text(other.reserved ? " is fixed over reserved region "
                           : " is fixed over fixed buffer ")
      .Number(other.index);
}

}  // namespace

Status CheckLiveRanges(const LiveRangeSet& set, int64_t capacity, Arena* arena,
                       Diagnostic* diagnostic) {
  const struct {
    const char* text;
    int64_t number, most;
  } limits[] = {{"the capacity is # bytes; 0 to # would be right", capacity, kMaxBytes},
                {"a bank has # bytes; 0 (no banks) to # would be right", set.bank_bytes,
                 kMaxBytes / kMaxBanks},
                {"there are # buffers; 0 to # would be right",
                 static_cast<int64_t>(set.buffers.size()), UINT32_MAX / 4}};
  for (const auto& limit : limits) {
    if (limit.number < 0 || limit.number > limit.most) {
      return Fail(diagnostic, Status::kBadInput, "placement")
          .Say(limit.text, limit.number, limit.most);
    }
  }
  int64_t total = 0;
  for (uint32_t i = 0; i < set.buffers.size(); ++i) {
    SLUICE_TRY(CheckBuffer(set, i, &total, diagnostic));
  }
  for (uint32_t r = 0; r < set.reserved.size(); ++r) {
    const ReservedRegion& region = set.reserved[r];
    if (region.begin >= region.end || region.bytes <= 0 || region.offset < 0 ||
        region.bytes > kMaxBytes || region.offset > kMaxBytes) {
      return Fail(diagnostic, Status::kBadInput, "placement")
          .Say("reserved region # has # bytes at # during #..#; a later end, ", r,
               region.bytes, region.offset, region.begin, region.end)
          .Say("an offset from 0 and bytes from 1 to # would be right", kMaxBytes);
    }
  }
  ArenaScope scope(arena);
  return CheckFixed(set, arena, diagnostic);
}

}  // namespace sluice
