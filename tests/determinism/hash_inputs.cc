// SPDX-License-Identifier: Apache-2.0
// hash_inputs FOLDER COUNT: writes a machine and COUNT random graphs. They use only
// those operators and fields that existed when golden.txt was made, so its hashes stay.
//
// Output   FOLDER/random_machine.slh, FOLDER/random_1.slg and so on; the same everywhere
#include <cstdlib>
#include <fstream>
#include <string>

#include "support/random_graph.h"
#include "support/random_machine.h"

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  const std::string folder = std::string(argv[1]) + "/random_";
  const auto write = [&](const std::string& name, const sluice_test::Bytes& bytes) {
    std::ofstream file(folder + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return file.good();
  };
  sluice_test::MachineSpec machine = sluice_test::MakeRandomMachine(1);
  machine.base.scratchpad_bytes = 2000;  // room for some tensors, not for all
  // Fields of machines that golden.txt does not cover.
  machine.array.p = 1;
  machine.array.demands = 0;
  machine.array.packs_filter = false;
  machine.array.crosses_rows = true;
  machine.array.fill_cycles = machine.array.drain_cycles = 0;
  machine.gbuf_numerator = 0;
  machine.gbuf_denominator = 1;
  bool good = write("machine.slh", sluice_test::MachineBytes(machine));
  const int count = std::atoi(argv[2]);
  sluice_test::RandomGraphLimits limits;
  limits.curves = false;  // golden.txt does not cover these operators
  for (int i = 1; i <= count; ++i) {
    const auto seed = static_cast<uint64_t>(i);
    good = good &&
           write(std::to_string(i) + ".slg",
                 sluice_test::GraphBytes(sluice_test::MakeRandomGraph(seed, limits)));
  }
  return good ? 0 : 6;
}
