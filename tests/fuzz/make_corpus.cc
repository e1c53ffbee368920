// SPDX-License-Identifier: Apache-2.0
// Writes the fuzzers' first inputs: make_corpus FOLDER, which has the subfolders graph,
// hardware, plan and tflite.
#include <fstream>
#include <string>

#include "fuzz/targets.h"
#include "tests/import/tiny_models.h"

namespace {

void Write(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sluice_test;
  if (argc != 2) return 3;
  const std::string folder = argv[1];
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string name = "/" + std::to_string(seed);
    RandomGraphLimits limits;
    limits.opaque = seed % 4 == 0;
    Write(folder + "/graph" + name, GraphBytes(MakeRandomGraph(seed, limits)));
    Write(folder + "/hardware" + name, MachineBytes(MakeRandomMachine(seed)));
  }
  for (uint64_t seed = 1; seed <= 4; ++seed) {  // with rows of operators and a host
    Write(folder + "/hardware/limited" + std::to_string(seed),
          MachineBytes(LimitedMachine(seed)));
  }
  for (size_t i = 0; i < Trios().size(); ++i) {
    Write(folder + "/plan/" + std::to_string(i), Trios()[i].plan);
  }
  Write(folder + "/tflite/1", sluice::import::TinyConvolution());
  for (const auto& model : sluice::import::TinyModels()) {
    if (model.name == "reverse_channels") continue;  // 40 slices: seconds for each run
    Write(folder + "/tflite/" + model.name + ".tflite", model.bytes);
  }
  return 0;
}
