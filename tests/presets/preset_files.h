// SPDX-License-Identifier: Apache-2.0
// The names that presets must have: those of the files in src/presets, in order. A new
// file is found here without a change of any test.
#ifndef SLUICE_TESTS_PRESETS_PRESET_FILES_H_
#define SLUICE_TESTS_PRESETS_PRESET_FILES_H_

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice_test {

inline std::vector<std::string> PresetFiles() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_PRESETS_FOLDER)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PRESETS_PRESET_FILES_H_
