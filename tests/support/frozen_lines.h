// SPDX-License-Identifier: Apache-2.0
// Lines that a test makes, compared with those that it made before.
//
// Input    a file of tests/, and lines that each begin with a key of their own
// Output   a failed check for each line that differs. SLUICE_FREEZE=1 in the environment
//          writes the file anew; the change is then read in the diff.
// Users define SLUICE_TESTS, the folder of tests.
#ifndef SLUICE_TESTS_SUPPORT_FROZEN_LINES_H_
#define SLUICE_TESTS_SUPPORT_FROZEN_LINES_H_

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace sluice_test {

// A hash of texts, for lines that would be too many.
class TextHash {
 public:
  void Add(const std::string& text) {
    for (const char c : text) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    hash_ = (hash_ ^ 0xff) * 0x100000001b3u;
  }
  std::string Text() const {
    const char* const digits = "0123456789abcdef";
    std::string text;
    for (int bit = 60; bit >= 0; bit -= 4) text += digits[hash_ >> bit & 15];
    return text;
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

class FrozenLines {
 public:
  explicit FrozenLines(const std::string& name)
      : path_(std::string(SLUICE_TESTS) + "/" + name) {}

  void Add(const std::string& line) { lines_.push_back(line); }

  void Check() const {
    if (std::getenv("SLUICE_FREEZE") != nullptr) {
      std::ofstream file(path_);
      for (const std::string& line : lines_) file << line << "\n";
      return;
    }
    std::ifstream file(path_);
    size_t at = 0;
    for (std::string line; std::getline(file, line); ++at) {
      CAPTURE(path_);
      REQUIRE(at < lines_.size());
      CHECK(lines_[at] == line);
    }
    CHECK(at == lines_.size());
    CHECK(at > 0);
  }

 private:
  std::string path_;
  std::vector<std::string> lines_;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_FROZEN_LINES_H_
