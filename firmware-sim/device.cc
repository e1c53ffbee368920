// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "execution.h"
#include "machine.h"
#include "memory.h"
#include "sim.h"
#include "wire.h"

namespace sluice_sim {
namespace {

// The device's DRAM. Bytes that were never written read as 0xa5. A block is filled when
// it is first touched: most runs use a small part of the memory, so opening a device
// neither waits for the rest nor evicts the caches.
class Dram {
 public:
  explicit Dram(uint64_t bytes) : size_(bytes) {
    if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
    bytes_.reset(static_cast<uint8_t*>(std::malloc(std::max<size_t>(size_, 1))));
    if (bytes_ == nullptr) throw std::bad_alloc();
    filled_.resize((size_ + kBlock - 1) / kBlock);
    // The system maps pages at the first touch. Touches the pages of a first model now,
    // outside of its run.
    for (size_t at = 0; at < std::min(size_, kFirst); at += kPage) bytes_.get()[at] = 0;
  }
  uint64_t size() const { return size_; }
  const uint8_t* ToRead(uint64_t begin, uint64_t bytes) {
    Fill(begin, begin + bytes, false);
    return bytes_.get() + begin;
  }
  // Memory that the caller overwrites completely, so it is not filled.
  uint8_t* ToWrite(uint64_t begin, uint64_t bytes) {
    Fill(begin, begin + bytes, true);
    return bytes_.get() + begin;
  }

 private:
  // Small, since a block that a write covers in part is filled first.
  static constexpr size_t kBlock = size_t{4} << 10, kPage = 4096;
  static constexpr size_t kFirst = size_t{8} << 20;

  void Fill(uint64_t begin, uint64_t end, bool written) {
    if (begin == end) return;
    for (size_t b = begin / kBlock; b <= (end - 1) / kBlock; ++b) {
      if (filled_[b]) continue;
      filled_[b] = true;
      const size_t first = b * kBlock, last = std::min(first + kBlock, size_);
      if (written && begin <= first && last <= end) continue;
      std::memset(bytes_.get() + first, 0xa5, last - first);
    }
  }

  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  size_t size_;
  std::unique_ptr<uint8_t, Free> bytes_;
  std::vector<bool> filled_;
};

}  // namespace
}  // namespace sluice_sim

struct sluice_device {
  sluice_sim::Hardware hardware;
  sluice_sim::Dram dram;
};

namespace sluice_sim {
namespace {

bool IsInside(const sluice_device_window_t& w, uint64_t size) {
  return w.begin <= w.end && w.end <= size;
}

bool IsWritten(uint32_t region) {
  return region != SLUICE_REGION_CONST && region != SLUICE_REGION_INPUT;
}

Trap CheckWindows(const sluice_device& device, const sluice_device_submission_t& s) {
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    const uint64_t size =
        r == SLUICE_REGION_GBUF ? device.hardware.scratchpad_bytes : device.dram.size();
    if (!IsInside(s.window[r], size))
      return {"bounds", "a window lies outside the device's memory"};
    for (uint32_t o = SLUICE_REGION_GBUF + 1; o < r; ++o) {
      if (!IsWritten(r) && !IsWritten(o)) continue;
      if (s.window[r].begin < s.window[o].end && s.window[o].begin < s.window[r].end) {
        return {"bounds", "a written window overlaps another"};
      }
    }
  }
  return {};
}

// One submission, with copies of the windows it may access.
struct Job {
  std::vector<uint64_t> stream_words, graph_words;
  Graph graph;
  Plan plan;  // without tensor places: only the stream is used
  sluice_walker_t walker{};

  const void* Copy(const void* bytes, size_t size, std::vector<uint64_t>* words) {
    words->resize((size + 7) / 8);
    if (size != 0) std::memcpy(words->data(), bytes, size);
    return words->data();
  }

  Trap Open(const sluice_device& device, const sluice_device_submission_t& s) {
    const std::string error =
        ReadGraph(Copy(s.graph, s.graph_bytes, &graph_words), s.graph_bytes, &graph);
    if (!error.empty()) return {"graph", error};
    sluice_walk_error_t where;
    if (sluice_walk_open(&walker, Copy(s.stream, s.stream_bytes, &stream_words),
                         s.stream_bytes, &where) != SLUICE_WALK_OK) {
      return {"stream", sluice_walk_status_name(where.status)};
    }
    if (walker.header.node_cols != device.hardware.node_cols ||
        walker.header.node_rows != device.hardware.node_rows) {
      return {"stream", "another number of nodes than the device's"};
    }
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      if (sluice_walk_region_bytes(&walker, r) > s.window[r].end - s.window[r].begin) {
        return {"stream", "a window is smaller than the stream's region"};
      }
    }
    return {};
  }
};

Trap CheckParameters(const Graph& graph, const sluice_device_submission_t& s) {
  if (s.parameter_count != graph.parameter_min.size()) {
    return {"input", "another number of parameters than the graph's"};
  }
  for (uint32_t i = 0; i < s.parameter_count; ++i) {
    if (s.parameters[i] < graph.parameter_min[i] ||
        s.parameters[i] > graph.parameter_max[i]) {
      return {"input", "a parameter is out of its range"};
    }
  }
  return {};
}

int Refuse(const Trap& trap, int code, sluice_device_submission_t* s) {
  const std::string text = trap.code + ": " + trap.text;
  std::strncpy(s->fault, text.c_str(), sizeof s->fault - 1);
  return code;
}

int Submit(sluice_device* device, sluice_device_submission_t* s) {
  s->fault_engine = s->fault_instance = s->fault_instruction = SLUICE_NONE;
  s->cycles = s->instructions = 0;
  std::memset(s->fault, 0, sizeof s->fault);
  if (s->stream == nullptr || s->graph == nullptr ||
      (s->parameters == nullptr && s->parameter_count != 0)) {
    return Refuse({"input", "stream and graph must be given"}, SLUICE_DEVICE_INVALID,
                  s);
  }
  Job job;
  if (Trap t = CheckWindows(*device, *s)) return Refuse(t, SLUICE_DEVICE_INVALID, s);
  if (Trap t = job.Open(*device, *s)) return Refuse(t, SLUICE_DEVICE_INVALID, s);
  if (Trap t = CheckParameters(job.graph, *s)) {
    return Refuse(t, SLUICE_DEVICE_INVALID, s);
  }
  sluice_walk_set_parameters(&job.walker, s->parameters, s->parameter_count);
  uint64_t bytes[SLUICE_REGION_COUNT], base[SLUICE_REGION_COUNT];
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    base[r] = s->window[r].begin;
    bytes[r] = sluice_walk_region_bytes(&job.walker, r);
  }
  const uint32_t nodes = device->hardware.node_cols * device->hardware.node_rows;
  Memory memory(nodes, bytes, true);
  memory.SetBases(base);
  for (uint32_t r : {SLUICE_REGION_CONST, SLUICE_REGION_INPUT, SLUICE_REGION_STATE}) {
    const uint32_t space = memory.Space(r, 0);
    const uint8_t* from = device->dram.ToRead(base[r], bytes[r]);
    memory.storage(space)->assign(from, from + bytes[r]);
    memory.Define(space, 0, bytes[r]);
  }
  Machine machine(job.walker, job.graph, device->hardware, &memory, true);
  SimulateOptions options;
  SimulateResult result;
  Execution execution(options, job.walker, job.plan, &machine, &result);
  const bool done = Execute(&execution);
  for (uint32_t r :
       {SLUICE_REGION_OUTPUT, SLUICE_REGION_STATE, SLUICE_REGION_WORKSPACE}) {
    const std::vector<uint8_t>& from = *memory.storage(memory.Space(r, 0));
    std::copy(from.begin(), from.end(), device->dram.ToWrite(base[r], from.size()));
  }
  s->cycles = result.cycles;
  s->instructions = result.instructions;
  s->fault_engine = result.error_engine;
  s->fault_instance = result.error_instance;
  s->fault_instruction = result.error_instruction;
  if (done) return SLUICE_DEVICE_OK;
  return Refuse({result.error_code, result.error}, SLUICE_DEVICE_FAULT, s);
}

int Copy(sluice_device* device, const sluice_device_copy_t& c, bool to_device) {
  if (c.bytes > device->dram.size() || c.address > device->dram.size() - c.bytes) {
    return SLUICE_DEVICE_INVALID;
  }
  if (c.bytes == 0) return SLUICE_DEVICE_OK;
  if (c.host == nullptr) return SLUICE_DEVICE_INVALID;
  const auto bytes = static_cast<size_t>(c.bytes);
  if (to_device) {
    std::memcpy(device->dram.ToWrite(c.address, bytes), c.host, bytes);
  } else {
    std::memcpy(c.host, device->dram.ToRead(c.address, bytes), bytes);
  }
  return SLUICE_DEVICE_OK;
}

int Control(sluice_device* device, uint32_t request, void* argument) {
  switch (request) {
    case SLUICE_DEVICE_GET_INFO:
      *static_cast<sluice_device_info_t*>(argument) = {
          device->dram.size(), device->hardware.scratchpad_bytes,
          device->hardware.node_cols, device->hardware.node_rows};
      return SLUICE_DEVICE_OK;
    case SLUICE_DEVICE_WRITE_DRAM:
    case SLUICE_DEVICE_READ_DRAM:
      return Copy(device, *static_cast<sluice_device_copy_t*>(argument),
                  request == SLUICE_DEVICE_WRITE_DRAM);
    case SLUICE_DEVICE_SUBMIT:
      return Submit(device, static_cast<sluice_device_submission_t*>(argument));
    default:
      return SLUICE_DEVICE_INVALID;
  }
}

// Turns exceptions into a code for C callers.
template <typename F>
int Guarded(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return SLUICE_DEVICE_MEMORY;
  } catch (const std::length_error&) {
    return SLUICE_DEVICE_MEMORY;
  }
}

}  // namespace
}  // namespace sluice_sim

int sluice_device_open(const void* hardware, size_t hardware_bytes, uint64_t dram_bytes,
                       sluice_device_t** out) {
  if (out == nullptr) return SLUICE_DEVICE_INVALID;
  *out = nullptr;
  if (hardware == nullptr) return SLUICE_DEVICE_INVALID;
  return sluice_sim::Guarded([&] {
    std::vector<uint64_t> words((hardware_bytes + 7) / 8);
    if (hardware_bytes != 0) std::memcpy(words.data(), hardware, hardware_bytes);
    sluice_sim::Hardware read;
    if (!sluice_sim::ReadHardware(words.data(), hardware_bytes, &read).empty()) {
      return SLUICE_DEVICE_INVALID;
    }
    *out = new sluice_device{std::move(read), sluice_sim::Dram(dram_bytes)};
    return SLUICE_DEVICE_OK;
  });
}

void sluice_device_close(sluice_device_t* device) { delete device; }

int sluice_device_control(sluice_device_t* device, uint32_t request, void* argument) {
  if (device == nullptr || argument == nullptr) return SLUICE_DEVICE_INVALID;
  return sluice_sim::Guarded(
      [&] { return sluice_sim::Control(device, request, argument); });
}
