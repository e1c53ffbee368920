// SPDX-License-Identifier: Apache-2.0
// A mapped GEMM as a problem, an architecture and a mapping for timeloop-model 3.
//
// Input    the descriptor's memories and the library's mapping
// Output   problem.yaml, arch.yaml, mapping.yaml in a folder, which is made
// Errors   Failure(kIo)
// Source   Timeloop's YAML, version 0.3: permutations innermost first, factors are trip
//          counts, bypass per memory. Energies of reads and writes stand in a table ERT,
//          since a memory's attributes have one for both. Timeloop reads the energy of a
//          MAC as an integer, so all energies are in a unit that makes it one; a comment
//          in arch.yaml says which.
#ifndef SLUICE_CLI_TIMELOOP_H_
#define SLUICE_CLI_TIMELOOP_H_

#include <array>
#include <string>
#include <vector>

#include "cli/files.h"
#include "sluice/experimental.h"

namespace sluice::cli {

// The dims of a layer's loops, in the order of the C interface.
enum TimeloopDim { kN, kK, kC, kP, kQ, kR, kS, kG, kDimCount };

// The energy unit 10^-digits pJ in which `mac_pj` is an integer, as far as nine digits
// allow.
struct EnergyUnit {
  int digits;
  double per_pj;  // 10 to the power of digits
};
EnergyUnit UnitOf(double mac_pj);
std::string UnitComment(const EnergyUnit& unit);  // empty for pJ
std::string WholeEnergy(double mac_pj, const EnergyUnit& unit);

// What a word of a memory costs, in the unit of the file; and the table of all memories.
struct WordEnergy {
  std::string memory;
  double read, write;
};
std::string EnergyTable(const std::vector<WordEnergy>& words);

struct GemmMemory {
  std::string name;
  uint64_t words = 0;                // 0 = unbounded, or absent
  double read_pj = 0, write_pj = 0;  // per word of 8 bits
};

struct GemmMemories {
  GemmMemory outer, middle, inner;
  bool has_middle = true, has_inner = false;
  uint64_t pes = 0;
  double mac_pj = 0;
};

GemmMemories MemoriesOf(const Bytes& hardware, const sluice_gemm_mapping_t& mapping);

// A name of letters and digits; "_" stands for other characters.
std::string PlainName(std::string name);

// The three files of a problem. The folder is created if it does not exist.
struct TimeloopTexts {
  std::string problem, architecture, mapping;
};
void WriteTimeloopTexts(const std::string& folder, const TimeloopTexts& texts);

void WriteTimeloop(const std::string& folder, const std::array<int64_t, 3>& extent,
                   const GemmMemories& memories, const sluice_gemm_mapping_t& mapping);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_TIMELOOP_H_
