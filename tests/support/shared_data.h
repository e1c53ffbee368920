// SPDX-License-Identifier: Apache-2.0
// The reference data, which do not come with the project: the folder that the environment's
// SLUICE_SHARED names, else ../shared beside the project.
//
// Every test that looks for them does so here, and says so in its output: tests that did not
// look need no second run without them (tests/support/differing.py).
#ifndef SLUICE_TESTS_SUPPORT_SHARED_DATA_H_
#define SLUICE_TESTS_SUPPORT_SHARED_DATA_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice_test {

// `path` is relative to the folder.
inline std::string SharedPath(const std::string& path) {
  std::fputs("looks for the reference data\n", stderr);
  const char* given = std::getenv("SLUICE_SHARED");
  return std::string(given != nullptr ? given : SLUICE_SHARED_DEFAULT) + "/" + path;
}

// The TFLite models of the reference data; empty when they are not there.
inline std::vector<std::string> TfliteModels() {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(SharedPath("models/tflite"), error)) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_SHARED_DATA_H_
