// SPDX-License-Identifier: Apache-2.0
// Buffers to place, in minimalloc's format: CSV with a header.
//
// Input    columns in any order: id (buffer, buffer_id), lower (begin, start), upper
//          (half-open; `end` is the last moment instead), size; optional: alignment,
//          offset (fixed there), gaps ("lo-hi", "lo-hi@w0:w1" = only bytes [w0, w1) are
//          used then; separated by blanks), banks (mask), single_bank (0 or 1), hint
//          (kept, not used); other columns are kept
// Output   the problem of sluice_place; the same rows with offsets
// Errors   Failure(kBadInput) naming file, line and column
// Cost     linear in the text
#ifndef SLUICE_CLI_PLACEMENT_CSV_H_
#define SLUICE_CLI_PLACEMENT_CSV_H_

#include <string>
#include <string_view>
#include <vector>

#include "sluice/experimental.h"

namespace sluice::cli {

struct PlacementTable {
  std::string path, text;              // rows point into text
  std::vector<std::string_view> rows;  // without line ends; 0 is the header
  std::vector<uint32_t> lines;         // of each row, from 1
  std::vector<std::string_view> ids;   // of each buffer; row i + 1 is buffer i
  std::vector<sluice_buffer_t> buffers;
  std::vector<sluice_buffer_gap_t> gaps;
  size_t columns = 0;
  size_t offset_column = SIZE_MAX;
};

PlacementTable ReadPlacement(const std::string& path);
// `path` is only named in messages.
PlacementTable PlacementFromText(const std::string& path, std::string text);

// The same rows with a column `offset`: the existing one, or a new last one.
std::string WithOffsets(const PlacementTable& table,
                        const std::vector<int64_t>& offsets);

// Lifetimes to the right, addresses upwards, one rectangle per buffer and gap.
std::string PlacementSvg(const PlacementTable& table,
                         const std::vector<int64_t>& offsets, int64_t capacity,
                         int64_t peak);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLACEMENT_CSV_H_
