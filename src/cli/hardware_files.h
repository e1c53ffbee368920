// SPDX-License-Identifier: Apache-2.0
// Where hardware descriptors come from: presets by name, JSON files, binary files.
//
// Input    what the user typed; JSON text; hardware.fbs bytes, untrusted
// Output   hardware.fbs bytes, whose content the library checks
// Errors   Failure(kBadInput): unknown preset, JSON error, damaged bytes; Failure(kIo)
#ifndef SLUICE_CLI_HARDWARE_FILES_H_
#define SLUICE_CLI_HARDWARE_FILES_H_

#include <string>

#include "cli/files.h"

namespace sluice::cli {

// NAME of a preset, FILE.json, or any other existing file as binary.
Bytes LoadHardware(const std::string& name);

Bytes HardwareFromJson(const std::string& text);
// The descriptor as JSON, with every field written out.
std::string HardwareAsJson(const Bytes& bytes);

struct HardwareFacts {
  std::string name;
  uint64_t clock_hz;
  uint64_t macs_per_cycle, vector_ops_per_cycle;
  uint64_t scratchpad_bytes;
  double dram_bytes_per_cycle;
};
HardwareFacts FactsOf(const Bytes& bytes);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_HARDWARE_FILES_H_
