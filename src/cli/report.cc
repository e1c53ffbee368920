// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "cli/terminal.h"

namespace sluice::cli {
namespace {

// Formats with three significant digits and the largest unit that keeps the number at 1
// or above.
std::string Scaled(double value, double step, const std::vector<const char*>& units) {
  size_t unit = 0;
  while (unit + 1 < units.size() && value >= step) {
    value /= step;
    ++unit;
  }
  const int decimals = unit == 0 && value == static_cast<int64_t>(value) ? 0
                       : value < 10                                      ? 2
                       : value < 100                                     ? 1
                                                                         : 0;
  return Fixed(value, decimals) + " " + units[unit];
}

}  // namespace

std::string Fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string Grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string BytesText(uint64_t bytes) {
  return Scaled(static_cast<double>(bytes), 1024, {"B", "KiB", "MiB", "GiB"});
}

std::string EnergyText(double picojoules) {
  return Scaled(picojoules, 1000, {"pJ", "nJ", "uJ", "mJ", "J"});
}

std::string TimeText(double seconds) {
  return Scaled(seconds * 1e9, 1000, {"ns", "us", "ms", "s"});
}

std::string Hex64(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, value);
  return text;
}

void Report::Line(std::string label, std::string value, std::string remark) {
  rows_.push_back({std::move(label), std::move(value), std::move(remark)});
}

std::string Report::Text() const {
  size_t label_width = 0, value_width = 0;
  for (const Row& row : rows_) {
    label_width = std::max(label_width, row.label.size());
    if (!row.remark.empty()) value_width = std::max(value_width, row.value.size());
  }
  std::string text = Coloured(heading_, kBold, STDOUT_FILENO) + "\n";
  for (const Row& row : rows_) {
    std::string line = "  " + row.label;
    line.resize(2 + label_width + 2, ' ');
    line += row.value;
    if (!row.remark.empty()) {
      line.resize(std::max(line.size(), 2 + label_width + 2 + value_width) + 2, ' ');
      line += row.remark;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace sluice::cli
