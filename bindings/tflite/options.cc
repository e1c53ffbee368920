// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "sluice/presets.h"

namespace sluice::delegate {
namespace {

// Reads a decimal integer; a suffix K or M is allowed if `bytes`.
bool ReadNumber(const std::string& text, bool bytes, uint64_t most, uint64_t* out) {
  uint64_t value = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    value = value * 10 + static_cast<uint64_t>(text[i] - '0');
    if (value > most) return false;
  }
  if (i == 0) return false;
  if (bytes && i + 1 == text.size() && (text[i] == 'K' || text[i] == 'M')) {
    value <<= text[i] == 'K' ? 10 : 20;
    ++i;
  }
  if (i != text.size() || value > most) return false;
  *out = value;
  return true;
}

constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr uint64_t kMostMilliseconds = 86'400'000;

bool SetBytes(uint64_t* to, const std::string& value) {
  return ReadNumber(value, true, kMostBytes, to);
}

bool SetMilliseconds(uint64_t* to_ns, const std::string& value) {
  uint64_t milliseconds = 0;
  if (!ReadNumber(value, false, kMostMilliseconds, &milliseconds)) return false;
  *to_ns = milliseconds * 1'000'000;
  return true;
}

bool SetObjective(Options* o, const std::string& value) {
  if (value != "edp" && value != "latency" && value != "energy") return false;
  o->energy_exponent = value == "latency" ? 0 : 1;
  o->delay_exponent = value == "energy" ? 0 : 1;
  return true;
}

bool SetShare(Options* o, const std::string& value) {
  if (value == "time") o->share = Share::kTime;
  if (value == "partition") o->share = Share::kPartition;
  if (value == "together") o->share = Share::kTogether;
  return value == "time" || value == "partition" || value == "together";
}

bool SetVerbosity(Options* o, const std::string& value) {
  uint64_t level = 0;
  if (!ReadNumber(value, false, 2, &level)) return false;
  o->verbosity = static_cast<int>(level);
  return true;
}

bool SetFlag(bool* to, const std::string& value) {
  *to = value == "1";
  return value == "0" || value == "1";
}

bool SetHost(Options* o, const std::string& value) {
  o->host_if_nothing_else = value == "auto";
  return value == "auto" || SetFlag(&o->host, value);
}

bool SetCache(Options* o, const std::string& value) {
  struct stat about = {};
  o->cache = value;
  return value.empty() || (stat(value.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
                           access(value.c_str(), R_OK | W_OK | X_OK) == 0);
}

bool SetText(std::string* to, const std::string& value) {
  *to = value;
  return true;
}

using Value = const std::string&;
struct Row {
  const char* key;
  const char* allowed;
  bool (*set)(Options*, Value);
};
constexpr Row kRows[] = {
    {"machine", "a preset's name or a descriptor file (.slh, .json)",
     [](Options* o, Value v) { return SetText(&o->machine, v); }},
    {"deadline_ms", "milliseconds, 0 for none",
     [](Options* o, Value v) { return SetMilliseconds(&o->deadline_ns, v); }},
    {"budget", "bytes of scratchpad, such as 65536 or 64K",
     [](Options* o, Value v) { return SetBytes(&o->budget, v); }},
    {"cache", "a folder that is there and can be written", SetCache},
    {"objective", "edp, latency or energy", SetObjective},
    {"device_library", "a shared library with npu_device_table",
     [](Options* o, Value v) { return SetText(&o->device_library, v); }},
    {"device_options", "what the device library says",
     [](Options* o, Value v) { return SetText(&o->device_options, v); }},
    {"device", "a name that delegates of one device share",
     [](Options* o, Value v) { return SetText(&o->device, v); }},
    {"device_memory", "bytes, such as 64M",
     [](Options* o, Value v) {
       return SetBytes(&o->device_memory, v) && o->device_memory != 0;
     }},
    {"timeout_ms", "milliseconds of one run, 0 for none",
     [](Options* o, Value v) { return SetMilliseconds(&o->timeout_ns, v); }},
    {"share", "time, partition or together", SetShare},
    {"share_begin", "bytes, a multiple of 64",
     [](Options* o, Value v) {
       return SetBytes(&o->share_begin, v) && o->share_begin % 64 == 0;
     }},
    {"dynamic", "0 or 1", [](Options* o, Value v) { return SetFlag(&o->dynamic, v); }},
    {"host", "0, 1 or auto", SetHost},
    {"verbosity", "0, 1 or 2", SetVerbosity},
};

bool ReadFile(const std::string& path, std::vector<uint8_t>* bytes) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                   std::fclose);
  if (file == nullptr) return false;
  uint8_t piece[4096];
  while (const size_t got = std::fread(piece, 1, sizeof piece, file.get())) {
    bytes->insert(bytes->end(), piece, piece + got);
  }
  return std::ferror(file.get()) == 0;
}

bool EndsIn(const std::string& text, const char* end) {
  const size_t length = std::strlen(end);
  return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

}  // namespace

bool ReadOptions(const char* const* keys, const char* const* values, size_t count,
                 Options* options, std::string* error) {
  for (size_t i = 0; i < count; ++i) {
    if (keys[i] == nullptr || values[i] == nullptr) {
      *error = "an option without key or value";
      return false;
    }
    const Row* row = nullptr;
    std::string known;
    for (const Row& r : kRows) {
      known += std::string(known.empty() ? "" : ", ") + r.key;
      if (std::strcmp(r.key, keys[i]) == 0) row = &r;
    }
    if (row == nullptr) {
      *error = std::string("no option \"") + keys[i] + "\"; there are " + known;
      return false;
    }
    if (!row->set(options, values[i])) {
      *error = std::string("option ") + keys[i] + " is \"" + values[i] +
               "\" instead of " + row->allowed;
      return false;
    }
  }
  if (options->share == Share::kPartition && options->budget == 0) {
    *error = "share=partition needs a budget: how many bytes from share_begin on";
    return false;
  }
  if (options->share != Share::kPartition && options->share_begin != 0) {
    *error = "share_begin goes with share=partition only";
    return false;
  }
  return true;
}

bool ReadMachine(const std::string& machine, std::vector<uint8_t>* hardware,
                 std::string* error) {
  sluice_diagnostic_t d = {};
  d.struct_size = sizeof d;
  if (!EndsIn(machine, ".slh") && !EndsIn(machine, ".json")) {
    const void* bytes = nullptr;
    size_t size = 0;
    if (sluice_preset_find(machine.c_str(), &bytes, &size, &d) != SLUICE_OK) {
      *error = std::string("option machine: ") + d.message;
      return false;
    }
    const auto* first = static_cast<const uint8_t*>(bytes);
    hardware->assign(first, first + size);
    return true;
  }
  if (!ReadFile(machine, hardware) || hardware->empty()) {
    *error = "option machine: " + machine + " is empty or cannot be read";
    return false;
  }
  if (EndsIn(machine, ".slh")) return true;
  sluice_bytes_t made = {};
  if (sluice_hardware_from_json(reinterpret_cast<const char*>(hardware->data()),
                                hardware->size(), nullptr, &made, &d) != SLUICE_OK) {
    *error = "option machine: " + machine + ": " + d.message;
    return false;
  }
  const auto* first = static_cast<const uint8_t*>(made.data);
  hardware->assign(first, first + made.size);
  sluice_bytes_release(nullptr, &made);
  return true;
}

}  // namespace sluice::delegate
