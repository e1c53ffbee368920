// SPDX-License-Identifier: Apache-2.0
#include "cli/timeloop_mapping.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "cli/failure.h"
#include "cli/timeloop.h"
#include "sluice/hardware_generated.h"

namespace sluice::cli {
namespace {

struct Value {
  std::string text;
  size_t line = 0;
};
using Entry = std::map<std::string, Value>;
using Factors = std::array<int64_t, kDimCount>;

[[noreturn]] void ThrowAt(const std::string& path, size_t line,
                          const std::string& what) {
  throw Failure(kBadInput, path + ":" + std::to_string(line) + ": " + what);
}

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The entries of the list `mapping`, each a few lines of "key: value".
std::vector<Entry> ReadEntries(const std::string& path, const std::string& text) {
  std::vector<Entry> entries;
  bool inside = false;
  size_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string row = text.substr(at, end - at);
    at = end + 1;
    ++line;
    row = row.substr(0, row.find('#'));
    const bool outermost = !row.empty() && row[0] != ' ' && row[0] != '-';
    row = Trimmed(row);
    if (row.empty()) continue;
    if (outermost) {
      inside = row == "mapping:";
      continue;
    }
    if (!inside) continue;
    if (row[0] == '-') {
      entries.emplace_back();
      row = Trimmed(row.substr(1));
    }
    const size_t colon = row.find(':');
    if (entries.empty() || colon == std::string::npos) {
      ThrowAt(path, line, "a line \"key: value\" of a list of loops is expected");
    }
    entries.back()[row.substr(0, colon)] = {Trimmed(row.substr(colon + 1)), line};
  }
  if (entries.empty()) ThrowAt(path, line, "there is no list \"mapping\" of loops");
  return entries;
}

class MappingReader {
 public:
  MappingReader(std::string path, const wire::Hardware& hardware)
      : path_(std::move(path)), hardware_(hardware) {
    mapping_.struct_size = sizeof mapping_;
    mapping_.levels = hardware.levels()->size();
  }
  sluice_layer_mapping_t Read(const std::string& text) {
    entries_ = ReadEntries(path_, text);
    for (const Entry& entry : entries_) {
      const auto found = entry.find("factors");
      const bool has = found != entry.end();
      product_ = product_ || (has && found->second.text.find('M') != std::string::npos);
    }
    Clear();
    for (const Entry& entry : entries_) Take(entry);
    return mapping_;
  }

 private:
  [[noreturn]] void Throw(size_t line, const std::string& what) const {
    ThrowAt(path_, line, what);
  }
  // Loops of one step, every operand held where it may be.
  void Clear() {
    for (uint32_t l = 0; l < SLUICE_MAP_LEVELS; ++l) {
      std::fill(mapping_.temporal[l], mapping_.temporal[l] + kDimCount, 1);
      for (auto& axis : mapping_.spatial[l]) std::fill(axis, axis + kDimCount, 1);
      for (uint8_t d = 0; d < kDimCount; ++d) mapping_.order[l][d] = d;
      if (l >= mapping_.levels) continue;
      const bool outermost = l + 1 == mapping_.levels;
      const uint32_t may = outermost ? 7 : hardware_.levels()->Get(l)->may_hold();
      mapping_.hold[l] = static_cast<uint8_t>(may);
    }
  }
  const Value& Get(const Entry& entry, const char* key) const {
    const auto found = entry.find(key);
    if (found != entry.end()) return found->second;
    Throw(entry.begin()->second.line, std::string("the entry has no ") + key);
  }
  uint32_t LevelOf(const Value& target) const {
    std::string known;
    for (uint32_t l = 0; l < mapping_.levels; ++l) {
      const auto* name = hardware_.levels()->Get(l)->name();
      const std::string plain =
          PlainName(name != nullptr ? name->str() : "level" + std::to_string(l));
      if (plain == target.text) return l;
      known += (known.empty() ? "" : ", ") + plain;
    }
    Throw(target.line, "no memory " + target.text + " among " + known);
  }
  uint8_t DimOf(char letter, size_t line) const {
    const std::string dims = product_ ? "?NK" : "NKCPQRSG";
    if (product_ && letter == 'M') return kQ;  // rows of a product
    const size_t at = dims.find(letter);
    if (letter == '?' || at == std::string::npos) {
      Throw(line, std::string("no dim ") + letter);
    }
    return static_cast<uint8_t>(at);  // N and K of a product are K and C
  }
  Factors FactorsOf(const Value& value) const {
    Factors factors;
    factors.fill(1);
    const std::string& text = value.text;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] < 'A' || text[at] > 'Z') continue;
      const uint8_t dim = DimOf(text[at], value.line);
      at = text.find_first_not_of(" =", at + 1);
      char* end = nullptr;
      const long long factor =
          at == std::string::npos ? 0 : std::strtoll(text.c_str() + at, &end, 10);
      if (factor < 1) {
        Throw(value.line, "a factor is a whole number of 1 or more: " + text);
      }
      factors[dim] = factor;
      at = static_cast<size_t>(end - text.c_str()) - 1;
      const size_t next = text.find_first_not_of(" ", at + 1);
      const bool list = next != std::string::npos && text[next] == ',';
      const size_t after = list ? text.find_first_not_of(" ", next + 1) : next;
      if (after != std::string::npos && text[after] >= '0' && text[after] <= '9') {
        Throw(value.line, "factors of several numbers are not read: " + text);
      }
    }
    return factors;
  }
  void TakeOrder(const Entry& entry, uint32_t level) {
    const auto found = entry.find("permutation");
    if (found == entry.end()) return;
    std::vector<uint8_t> order;
    const auto put = [&](uint8_t dim) {
      if (std::count(order.begin(), order.end(), dim) == 0) order.push_back(dim);
    };
    for (const char c : found->second.text) {
      if (c >= 'A' && c <= 'Z') put(DimOf(c, found->second.line));
    }
    for (uint8_t d = 0; d < kDimCount; ++d) put(d);
    std::copy(order.begin(), order.end(), mapping_.order[level]);
  }
  // Deals the units of dims from `dim` on to the axes below the level, the first way
  // that each axis allows.
  bool Deal(uint32_t level, const Factors& factors, int dim, Factors* left) {
    if (dim == kDimCount) return true;
    return DealDim(level, factors, dim, 0, factors[static_cast<size_t>(dim)], left);
  }
  bool DealDim(uint32_t level, const Factors& factors, int dim, uint32_t axis,
               int64_t rest, Factors* left) {
    const wire::Fanout* fanout = FanoutOf(level, axis);
    if (fanout == nullptr) return rest == 1 && Deal(level, factors, dim + 1, left);
    const int bit = dim == kG ? int{kK} : dim;
    const bool may = (fanout->may_unroll() >> bit & 1) != 0;
    int64_t& units = (*left)[axis];
    for (int64_t factor = may ? rest : 1; factor >= 1; --factor) {
      if (rest % factor != 0 || factor > units) continue;
      const int64_t before = units;
      units /= factor;
      mapping_.spatial[level][axis][dim] = factor;
      if (DealDim(level, factors, dim, axis + 1, rest / factor, left)) return true;
      units = before;
    }
    mapping_.spatial[level][axis][dim] = 1;
    return false;
  }
  const wire::Fanout* FanoutOf(uint32_t level, uint32_t axis) const {
    if (axis >= SLUICE_MAP_AXES) return nullptr;
    for (const wire::Fanout* fanout : *hardware_.fanouts()) {
      if (fanout->level() == level && axis-- == 0) return fanout;
    }
    return nullptr;
  }
  void TakeUnits(const Entry& entry, uint32_t level) {
    const Value& value = Get(entry, "factors");
    Factors left = {};
    for (uint32_t axis = 0; axis < SLUICE_MAP_AXES; ++axis) {
      const wire::Fanout* fanout = FanoutOf(level, axis);
      if (fanout != nullptr) left[axis] = fanout->extent();
    }
    if (!Deal(level, FactorsOf(value), 0, &left)) {
      Throw(value.line, "the array has no axes for these units: " + value.text);
    }
  }
  void TakeHold(const Entry& entry, uint32_t level) {
    const char* const names[3] = {product_ ? "A" : "Inputs", product_ ? "B" : "Weights",
                                  product_ ? "P" : "Outputs"};
    const auto found = entry.find("bypass");
    if (found == entry.end()) return;
    std::string name;
    for (const char c : found->second.text + ",") {
      if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
        name += c;
      } else if (!name.empty()) {
        const auto* at = std::find(names, names + 3, name);
        if (at == names + 3) Throw(found->second.line, "no datum " + name);
        const int bit = 1 << (at - names);
        mapping_.hold[level] = static_cast<uint8_t>(mapping_.hold[level] & ~bit);
        name.clear();
      }
    }
  }
  void Take(const Entry& entry) {
    const uint32_t level = LevelOf(Get(entry, "target"));
    const Value& type = Get(entry, "type");
    if (type.text == "temporal") {
      const Factors factors = FactorsOf(Get(entry, "factors"));
      std::copy(factors.begin(), factors.end(), mapping_.temporal[level]);
      TakeOrder(entry, level);
    } else if (type.text == "spatial") {
      TakeUnits(entry, level);
    } else if (type.text == "bypass" || type.text == "datatype") {
      TakeHold(entry, level);
    } else {
      Throw(type.line, "no type " + type.text + " among temporal, spatial, bypass");
    }
  }

  std::string path_;
  const wire::Hardware& hardware_;
  std::vector<Entry> entries_;
  sluice_layer_mapping_t mapping_ = {};
  bool product_ = false;
};

}  // namespace

sluice_layer_mapping_t ReadTimeloopMapping(const std::string& path,
                                           const Bytes& hardware) {
  const Bytes bytes = ReadFile(path);
  // The library has verified the descriptor's bytes.
  return MappingReader(path, *wire::GetHardware(hardware.data()))
      .Read(std::string(bytes.begin(), bytes.end()));
}

}  // namespace sluice::cli
