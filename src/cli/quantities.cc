// SPDX-License-Identifier: Apache-2.0
#include "cli/quantities.h"

#include <cctype>

namespace sluice::cli {
namespace {

// Splits "50.5ms" into 50.5 and "ms" (lower case); false without a leading digit.
bool Split(const std::string& text, double* number, std::string* unit) {
  size_t i = 0;
  double value = 0, place = 1;
  bool point = false, digits = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      value = value * 10 + (c - '0');
      if (point) place *= 10;
    } else {
      break;
    }
  }
  if (!digits) return false;
  unit->clear();
  for (; i < text.size(); ++i) {
    unit->push_back(
        static_cast<char>(std::tolower(static_cast<unsigned char>(text[i]))));
  }
  *number = value / place;
  return true;
}

bool Scale(double number, double factor, uint64_t* out) {
  const double value = number * factor;
  if (value > 9.0e18 || value != static_cast<double>(static_cast<uint64_t>(value))) {
    return false;
  }
  *out = static_cast<uint64_t>(value);
  return true;
}

}  // namespace

bool ParseBytes(const std::string& text, uint64_t* bytes) {
  double number = 0;
  std::string unit;
  if (!Split(text, &number, &unit)) return false;
  if (unit.size() > 1 && unit.back() == 'b') unit.pop_back();
  if (unit.size() > 1 && unit.back() == 'i') unit.pop_back();
  double factor = 0;
  if (unit.empty() || unit == "b") factor = 1;
  if (unit == "k") factor = 1024.0;
  if (unit == "m") factor = 1024.0 * 1024;
  if (unit == "g") factor = 1024.0 * 1024 * 1024;
  return factor != 0 && Scale(number, factor, bytes);
}

bool ParseDuration(const std::string& text, uint64_t* nanoseconds) {
  double number = 0;
  std::string unit;
  if (!Split(text, &number, &unit)) return false;
  double factor = 0;
  if (unit == "ns") factor = 1;
  if (unit == "us") factor = 1e3;
  if (unit.empty() || unit == "ms") factor = 1e6;
  if (unit == "s") factor = 1e9;
  return factor != 0 && Scale(number, factor, nanoseconds);
}

}  // namespace sluice::cli
