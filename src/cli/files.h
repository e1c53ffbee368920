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
