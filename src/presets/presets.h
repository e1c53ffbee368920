// SPDX-License-Identifier: Apache-2.0
// Machines that come with sluice, by name, and a summary of a descriptor.
//
// Input    the name of a preset; hardware.fbs bytes, which may be damaged
// Output   hardware.fbs bytes; JSON in the field names of hardware.fbs; a few figures
// Errors   Error: an unknown name (kBadArgument), damaged bytes or JSON (kBadInput)
// Cost     linear in the bytes
#ifndef SLUICE_PRESETS_PRESETS_H_
#define SLUICE_PRESETS_PRESETS_H_

#include <cstdint>
#include <string>

#include "import/bytes.h"
#include "presets/embedded.h"

namespace sluice::presets {

using import::Bytes;

const EmbeddedFile& FindPreset(const std::string& name);
Bytes LoadPreset(const std::string& name);

// The descriptor as JSON, with every field written out.
std::string HardwareAsJson(const Bytes& bytes);

struct HardwareFacts {
  std::string name;
  size_t name_at;  // offset of the name in the descriptor; 0: no name
  uint32_t nodes;
  uint64_t clock_hz;
  uint64_t macs_per_cycle, vector_ops_per_cycle;
  uint64_t scratchpad_bytes;
  double dram_bytes_per_cycle;
};
HardwareFacts FactsOf(const Bytes& bytes);

}  // namespace sluice::presets

#endif  // SLUICE_PRESETS_PRESETS_H_
