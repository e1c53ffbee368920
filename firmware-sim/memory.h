// SPDX-License-Identifier: Apache-2.0
// The machine's memories: one scratchpad per node and the DRAM regions. A shadow of
// each byte tells whether it is defined, that is, has been written.
//
// Input    sizes; accesses that Check() has accepted
// Output   bytes, boxes into them, Traps
// Errors   Trap: code and sentence; empty code = none
// Cost     linear in the bytes touched
#ifndef SLUICE_FIRMWARE_SIM_MEMORY_H_
#define SLUICE_FIRMWARE_SIM_MEMORY_H_

#include <string>
#include <vector>

#include "box.h"
#include "sluice/stream.h"
#include "walker.h"

namespace sluice_sim {

struct Trap {
  std::string code, text;
  explicit operator bool() const { return !code.empty(); }
};

// One box that an instruction reads or writes.
struct Access {
  uint32_t space = 0;  // Space() of region and node
  bool write = false;
  const char* role = "";
  bool patched = false;  // through a slot that a parameter moves
  sluice_walk_operand_t operand{};
};

class Memory {
 public:
  // region_bytes: SLUICE_REGION_COUNT sizes; that of GBUF is the size of each node's.
  Memory(uint32_t nodes, const uint64_t* region_bytes, bool functional);

  uint32_t Space(uint32_t region, uint32_t node) const {
    return region == SLUICE_REGION_GBUF ? node : nodes_ + region - 1;
  }
  std::string SpaceName(uint32_t space) const;
  uint64_t size(uint32_t space) const { return sizes_[space]; }
  // Sets the base address of each region, for relocated streams.
  void SetBases(const uint64_t* base) {
    bases_.assign(base, base + SLUICE_REGION_COUNT);
  }
  // Offset within the space; UINT64_MAX if the address is below the base.
  uint64_t Offset(uint32_t region, uint64_t address) const {
    return address < bases_[region] ? UINT64_MAX : address - bases_[region];
  }
  uint8_t* bytes(uint32_t space) { return bytes_[space].data(); }
  std::vector<uint8_t>* storage(uint32_t space) { return &bytes_[space]; }

  // Checks bounds, element alignment, read-only regions, and writes that overlap
  // themselves.
  Trap Check(const Access& access) const;
  // Checks that all bytes are defined. This and all functions below require a
  // functional memory.
  Trap CheckDefined(const Access& access);
  Box At(const Access& access);
  void Define(uint32_t space, uint64_t begin, uint64_t end);
  void Define(const Access& access);

  // Moves node 0's scratchpad bytes to another stream's memory of the same size. Each
  // memory keeps its own shadow, except that bytes written here since the last HandOver
  // become undefined in all others.
  void HandOver(Memory* next, const std::vector<Memory*>& others);

 private:
  uint32_t nodes_;
  std::vector<uint64_t> bases_ = std::vector<uint64_t>(SLUICE_REGION_COUNT, 0);
  std::vector<uint64_t> sizes_;               // per space
  std::vector<std::vector<uint8_t>> bytes_;   // per space
  std::vector<std::vector<uint8_t>> shadow_;  // 0 = undefined
};

// True if two accesses share a byte. Exact.
bool Overlap(const Access& a, const Access& b);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_MEMORY_H_
