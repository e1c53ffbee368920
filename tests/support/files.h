// SPDX-License-Identifier: Apache-2.0
// Whole files, for tests and benches.
//
// Errors   ReadFile and WriteFile: std::runtime_error with the path
#ifndef SLUICE_TESTS_SUPPORT_FILES_H_
#define SLUICE_TESTS_SUPPORT_FILES_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace sluice_test {

inline std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(in), {});
}

inline void WriteFile(const std::string& path, const void* bytes, size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

// "dir/kws.tflite" -> "kws"
inline std::string FileStem(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_FILES_H_
