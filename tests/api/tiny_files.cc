// SPDX-License-Identifier: Apache-2.0
// Writes a graph of one convolution and its hardware: tiny_files GRAPH HARDWARE
#include <fstream>

#include "support/stream_builder.h"

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  const sluice_test::Case c = sluice_test::ConvCase();
  const auto write = [](const char* path, const sluice_test::Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return file.good();
  };
  return write(argv[1], c.Graph()) && write(argv[2], c.Hardware()) ? 0 : 6;
}
