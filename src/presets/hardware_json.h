// SPDX-License-Identifier: Apache-2.0
// Hardware descriptors between JSON and hardware.fbs bytes.
//
// Input    JSON text in the field names of hardware.fbs, // comments allowed; or bytes
//          that have passed the verifier
// Errors   HardwareFromJson: empty result and a sentence with line and column
// Note     includes no other header of the library: the compiled JSON parser uses
//          flatbuffers' original namespace, which the rest of the library renames
#ifndef SLUICE_PRESETS_HARDWARE_JSON_H_
#define SLUICE_PRESETS_HARDWARE_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::presets {

std::vector<uint8_t> HardwareFromJson(const std::string& text, std::string* error);
std::string HardwareToJson(const uint8_t* bytes);

}  // namespace sluice::presets

#endif  // SLUICE_PRESETS_HARDWARE_JSON_H_
