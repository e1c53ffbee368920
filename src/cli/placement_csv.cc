// SPDX-License-Identifier: Apache-2.0
#include "cli/placement_csv.h"

#include <charconv>
#include <cstring>
#include <utility>

#include "cli/failure.h"
#include "cli/files.h"

namespace sluice::cli {
namespace {

constexpr size_t kAbsent = SIZE_MAX;

std::string_view Trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '"'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Calls f(field, index) for every comma-separated field; returns how many.
template <typename F>
size_t ForFields(std::string_view row, F f) {
  size_t count = 0;
  for (size_t from = 0;; ++count) {
    const size_t comma = row.find(',', from);
    const size_t end = comma == std::string_view::npos ? row.size() : comma;
    f(row.substr(from, end - from), count);
    if (comma == std::string_view::npos) return count + 1;
    from = comma + 1;
  }
}

// Which column is which.
struct Header {
  size_t id = kAbsent, lower = kAbsent, upper = kAbsent, size = kAbsent;
  size_t alignment = kAbsent, offset = kAbsent, gaps = kAbsent, hint = kAbsent;
  size_t banks = kAbsent, single_bank = kAbsent;
  int64_t last_is_inside = 0;  // 1: `end` is inclusive
};

class Reader {
 public:
  explicit Reader(PlacementTable* table) : t_(*table) {}

  void Run() {
    SplitRows();
    if (t_.rows.empty()) Fail(0, "is empty: a header line is missing");
    ReadHeader();
    const size_t count = t_.rows.size() - 1;
    if (count >= uint32_t{1} << 30) Fail(0, "has more than 2^30 rows");
    t_.buffers.resize(count);
    t_.ids.resize(count);
    for (size_t i = 0; i < count; ++i) ReadRow(i + 1);
  }

 private:
  [[noreturn]] void Fail(size_t row, const std::string& what) const {
    const uint32_t line = t_.lines.empty() ? 1 : t_.lines[row];
    throw Failure(kBadInput, t_.path + ":" + std::to_string(line) + ": " + what,
                  {{"file", t_.path}, {"line", line}});
  }

  void SplitRows() {
    uint32_t line = 1;
    const std::string_view text = t_.text;
    for (size_t from = 0; from < text.size(); ++line) {
      size_t end = text.find('\n', from);
      if (end == std::string_view::npos) end = text.size();
      std::string_view row = text.substr(from, end - from);
      if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
      from = end + 1;
      if (Trimmed(row).empty()) continue;
      t_.rows.push_back(row);
      t_.lines.push_back(line);
    }
  }

  void Take(size_t* column, size_t index, std::string_view name) {
    if (*column != kAbsent) {
      Fail(0, "column '" + std::string(name) + "' says what another one says");
    }
    *column = index;
  }

  void ReadHeader() {
    t_.columns = ForFields(t_.rows[0], [&](std::string_view field, size_t i) {
      const std::string_view name = Trimmed(field);
      const auto is = [&](const char* word) { return name == word; };
      if (is("id") || is("buffer") || is("buffer_id")) Take(&h_.id, i, name);
      if (is("lower") || is("begin") || is("start")) Take(&h_.lower, i, name);
      if (is("upper") || is("end")) Take(&h_.upper, i, name);
      if (is("end")) h_.last_is_inside = 1;
      if (is("size")) Take(&h_.size, i, name);
      if (is("alignment")) Take(&h_.alignment, i, name);
      if (is("offset")) Take(&h_.offset, i, name);
      if (is("gaps")) Take(&h_.gaps, i, name);
      if (is("hint")) Take(&h_.hint, i, name);
      if (is("banks")) Take(&h_.banks, i, name);
      if (is("single_bank")) Take(&h_.single_bank, i, name);
    });
    t_.offset_column = h_.offset;
    const std::pair<size_t, const char*> needed[] = {
        {h_.id, "id"}, {h_.lower, "lower"}, {h_.upper, "upper"}, {h_.size, "size"}};
    for (const auto& [column, name] : needed) {
      if (column == kAbsent) Fail(0, std::string("no column '") + name + "'");
    }
  }

  int64_t Number(size_t row, std::string_view text, const char* what) const {
    text = Trimmed(text);
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    const bool huge = error == std::errc::result_out_of_range;
    Fail(row, std::string(what) + " '" + std::string(text.substr(0, 40)) +
                  (huge ? "' does not fit 64 bits" : "' is no integer"));
  }

  void ReadRow(size_t row) {
    sluice_buffer_t& b = t_.buffers[row - 1];
    b = {};
    b.alignment = 1;
    const size_t count = ForFields(t_.rows[row], [&](std::string_view field, size_t i) {
      if (i == h_.id) t_.ids[row - 1] = Trimmed(field);
      if (i == h_.lower) b.begin = Number(row, field, "lower");
      if (i == h_.upper) b.end = Number(row, field, "upper");
      if (i == h_.size) b.bytes = Number(row, field, "size");
      if (Trimmed(field).empty()) return;  // optional columns may be empty
      if (i == h_.alignment) b.alignment = Number(row, field, "alignment");
      if (i == h_.hint) (void)Number(row, field, "hint");
      if (i == h_.banks) {
        b.banks = static_cast<uint64_t>(Number(row, field, "banks"));
      }
      if (i == h_.single_bank && Number(row, field, "single_bank") != 0) {
        b.flags |= SLUICE_BUFFER_SINGLE_BANK;
      }
      if (i == h_.offset) {
        b.fixed_offset = Number(row, field, "offset");
        b.flags |= SLUICE_BUFFER_FIXED;
      }
      if (i == h_.gaps) ReadGaps(row, field, &b);
    });
    if (count != t_.columns) {
      Fail(row, "has " + std::to_string(count) + " fields, the header has " +
                    std::to_string(t_.columns));
    }
    if (b.alignment == 0) Fail(row, "alignment 0 is no power of two");
    if (b.end > INT64_MAX - h_.last_is_inside) Fail(row, "end does not fit 64 bits");
    b.end += h_.last_is_inside;
  }

  void ReadGaps(size_t row, std::string_view text, sluice_buffer_t* b) {
    b->gap_begin = static_cast<uint32_t>(t_.gaps.size());
    text = Trimmed(text);
    while (!text.empty()) {
      const size_t blank = text.find(' ');
      const std::string_view gap = text.substr(0, blank);
      text = blank == std::string_view::npos ? "" : Trimmed(text.substr(blank));
      const size_t at = gap.find('@');
      const size_t dash = gap.find('-', 1);  // a first '-' is a sign
      const size_t colon = at == std::string_view::npos ? at : gap.find(':', at);
      if (dash == std::string_view::npos || dash > at ||
          (at != std::string_view::npos && colon == std::string_view::npos)) {
        Fail(row, "gap '" + std::string(gap.substr(0, 40)) +
                      "' is not of the form lo-hi or lo-hi@w0:w1");
      }
      sluice_buffer_gap_t g = {};
      g.begin = Number(row, gap.substr(0, dash), "gap");
      g.end = Number(
          row, gap.substr(dash + 1, at == std::string_view::npos ? at : at - dash - 1),
          "gap");
      if (g.end > INT64_MAX - h_.last_is_inside) Fail(row, "gap does not fit 64 bits");
      g.end += h_.last_is_inside;
      if (at != std::string_view::npos) {
        g.first_byte = Number(row, gap.substr(at + 1, colon - at - 1), "gap");
        g.last_byte = Number(row, gap.substr(colon + 1), "gap");
      }
      t_.gaps.push_back(g);
    }
    b->gap_count = static_cast<uint32_t>(t_.gaps.size()) - b->gap_begin;
  }

  PlacementTable& t_;
  Header h_;
};

}  // namespace

PlacementTable PlacementFromText(const std::string& path, std::string text) {
  PlacementTable table;
  table.path = path;
  table.text = std::move(text);
  Reader(&table).Run();
  return table;
}

PlacementTable ReadPlacement(const std::string& path) {
  const Bytes bytes = ReadFile(path);
  return PlacementFromText(path, std::string(bytes.begin(), bytes.end()));
}

std::string WithOffsets(const PlacementTable& table,
                        const std::vector<int64_t>& offsets) {
  std::string out;
  out.reserve(table.text.size() + 12 * table.rows.size());
  const bool replace = table.offset_column != SIZE_MAX;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string value = row == 0 ? "offset" : std::to_string(offsets[row - 1]);
    if (!replace) {
      out.append(table.rows[row]);
      out += "," + value;
    } else {
      ForFields(table.rows[row], [&](std::string_view field, size_t i) {
        if (i != 0) out += ',';
        out.append(i == table.offset_column ? std::string_view(value) : field);
      });
    }
    out += '\n';
  }
  return out;
}

}  // namespace sluice::cli
