// SPDX-License-Identifier: Apache-2.0
// The delegate's options: pairs of texts, as the runtime hands them over.
//
// Input    keys and values
// Output   options, complete; the machine's descriptor
// Errors   one sentence that names the key, the value and what is allowed
#ifndef SLUICE_BINDINGS_TFLITE_OPTIONS_H_
#define SLUICE_BINDINGS_TFLITE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::delegate {

enum class Share {
  kTime,       // a model has the whole scratchpad while it runs
  kPartition,  // models of this delegate have [share_begin, + budget) for themselves
  kTogether  // all models of the device are planned together, each in a range of its own
};

struct Options {
  std::string machine = "soma-edge";  // a preset's name, or a file: .slh or .json
  uint64_t deadline_ns = 10'000'000;  // of planning a model, all parts of it
  uint64_t budget = 0;                // bytes of scratchpad; 0: all
  std::string cache;                  // a folder; "": none
  uint32_t energy_exponent = 1, delay_exponent = 1;
  std::string device_library;  // "": the simulated device
  std::string device_options;  // for the library
  std::string device;          // name: delegates with the same one share a device
  uint64_t device_memory = uint64_t{64} << 20;
  uint64_t timeout_ns = 10'000'000'000;  // of one run
  Share share = Share::kTime;
  uint64_t share_begin = 0;
  // Accepts graphs with shapes that are known only at run time: when shapes change,
  // parts are planned again. If false, the runtime removes the delegate and applies it
  // again when an input changes its size.
  bool dynamic = true;
  // Also takes nodes that the machine's host computes by a host function.
  bool host = false;
  // As `host`, but only for graphs that would have no delegated node otherwise. For the
  // simulated device only: a vendor device's host is usually the runtime's own
  // processor.
  bool host_if_nothing_else = true;
  // 1: a line for each graph, 2: and why nodes stay with the runtime
  int verbosity = 0;
};

// false: *error says why.
bool ReadOptions(const char* const* keys, const char* const* values, size_t count,
                 Options* options, std::string* error);

// hardware.fbs of the machine that the options name.
bool ReadMachine(const std::string& machine, std::vector<uint8_t>* hardware,
                 std::string* error);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_OPTIONS_H_
