// SPDX-License-Identifier: Apache-2.0
// Files that the build turns into byte arrays.
#ifndef SLUICE_PRESETS_EMBEDDED_H_
#define SLUICE_PRESETS_EMBEDDED_H_

#include <cstddef>

namespace sluice::presets {

struct EmbeddedFile {
  const char* name;
  const unsigned char* data;  // 16-byte aligned
  size_t size;
};

struct EmbeddedFiles {
  const EmbeddedFile* data;
  size_t size;
  const EmbeddedFile* begin() const { return data; }
  const EmbeddedFile* end() const { return data + size; }
};

EmbeddedFiles HardwarePresets();  // hardware.fbs, by preset name
EmbeddedFiles Schemas();          // "hardware", compiled

}  // namespace sluice::presets

#endif  // SLUICE_PRESETS_EMBEDDED_H_
