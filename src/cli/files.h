// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
//
// Input    paths as the user gave them
// Output   bytes; a written file appears complete under its name or not at all: it is
//          written under a temporary name in the same folder, flushed to disk and
//          renamed
// Errors   Failure(kIo) naming file and reason (a full disk included)
#ifndef SLUICE_CLI_FILES_H_
#define SLUICE_CLI_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::cli {

using Bytes = std::vector<uint8_t>;

Bytes ReadFile(const std::string& path);

// A file's bytes, mapped where the system can; else read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  // Gives back the pages that lie wholly in this range of the file's bytes. They may still be
  // read.
  void GiveBack(const void* bytes, size_t size) const;

 private:
  Bytes own_;  // where the file is not mapped
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};
// The bytes of a graph file. Where the file is one of the tool's other kinds, the failure
// says which, and that `taker` (a command or an option) takes a graph.
Bytes ReadGraph(const std::string& path, const std::string& taker);
// "graph", "machine" or "plan file", by the identifier at byte 4; "": something else.
std::string KindOf(const Bytes& file);
void WriteFile(const std::string& path, const void* bytes, size_t size);

// "dir/kws.tflite" -> "kws"
std::string FileStem(const std::string& path);
// "dir/kws.tflite" -> ".tflite", in lower case
std::string FileExtension(const std::string& path);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_FILES_H_
