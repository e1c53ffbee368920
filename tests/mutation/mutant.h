// SPDX-License-Identifier: Apache-2.0
// A stream to be changed, and where its instructions are.
#ifndef SLUICE_TESTS_MUTATION_MUTANT_H_
#define SLUICE_TESTS_MUTATION_MUTANT_H_

#include "base/rng.h"
#include "support/stream_builder.h"

namespace sluice_test {

struct Mutant {
  StreamBuilder stream;
  std::vector<Place> places;
};

struct Site {  // an instruction of a body
  BlockBuilder* block = nullptr;
  uint32_t engine = 0;
  size_t index = 0;
  ListedInstruction& entry() const { return block->lists[engine][index]; }
  sluice_tile_t& tile() const { return block->tiles[entry().record.descriptor]; }
  sluice_transfer_t& transfer() const {
    return block->transfers[entry().record.descriptor];
  }
};

class Chance {
 public:
  explicit Chance(uint64_t seed) : rng_(seed) {}
  uint32_t Below(size_t n) { return rng_.Below(static_cast<uint32_t>(n)); }
  bool Half() { return Below(2) == 0; }

  // A random instruction for which `fits`.
  template <typename F>
  bool Pick(Mutant* m, Site* site, F&& fits) {
    std::vector<Site> all;
    for (BlockBuilder& b : m->stream.blocks) {
      for (uint32_t e = 0; e < b.lists.size(); ++e) {
        for (size_t i = 0; i < b.lists[e].size(); ++i) {
          const Site s = {&b, e, i};
          if (fits(s)) all.push_back(s);
        }
      }
    }
    if (all.empty()) return false;
    *site = all[Below(all.size())];
    return true;
  }

 private:
  sluice::Rng rng_;
};

inline bool Is(const Site& s, uint8_t opcode) {
  return s.entry().record.opcode == opcode;
}
inline bool IsTransfer(const Site& s) {
  return Is(s, SLUICE_OPCODE_LOAD) || Is(s, SLUICE_OPCODE_STORE) ||
         Is(s, SLUICE_OPCODE_FORWARD);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_MUTANT_H_
