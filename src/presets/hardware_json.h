// SPDX-License-Identifier: Apache-2.0
// Hardware descriptors between JSON and hardware.fbs bytes. What fields there are, and of which
// type, the compiled schema says.
//
// Input    JSON text in the field names of hardware.fbs (json_text.h); or bytes that have
//          passed the verifier
// Output   the bytes that flatc makes of the same text; or a text with every field
// Errors   HardwareFromJson: empty result and a sentence: the field's path, what it was given,
//          what would be right, and where it stands
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
