// SPDX-License-Identifier: Apache-2.0
// Determines which instructions have completed in every possible timing when an
// instruction starts: those that its waits and the order of its engine imply. Two
// conflicting accesses without such an order are a race, even if the timing of this
// machine keeps them apart.
//
// Input    instructions in the order in which they start
// Output   whether each may access what it accesses
// Errors   Trap "race"
// Cost     per instruction: waits * engines, plus the accesses not yet known to be done
//          by every engine; memory: a vector clock of `engines` counts
#ifndef SLUICE_FIRMWARE_SIM_ORDER_H_
#define SLUICE_FIRMWARE_SIM_ORDER_H_

#include <vector>

#include "machine.h"

namespace sluice_sim {

class Order {
 public:
  Order(const sluice_walker_t& walker, const std::vector<Engine>& engines);

  // Records an instruction that starts now, its waits satisfied, and checks it for
  // races.
  Trap Start(const sluice_instruction_t& instruction, const Flight& flight);
  // The engine has no instructions left, so accesses need not be kept for it.
  void End(uint32_t engine) { ended_[engine] = true; }

 private:
  struct Past {
    Access access;
    uint32_t engine;
    uint32_t number;  // 1-based number in its engine's order
    uint32_t instruction;
  };
  void Join(const sluice_instruction_t& instruction, const Flight& flight);
  Trap Compare(const Flight& flight, uint32_t number);
  void Forget(std::vector<Past>* list) const;
  // Returns, by engine, its number of instructions in the visits before this one.
  const uint32_t* Before(uint32_t visit);

  const sluice_walker_t& walker_;
  const std::vector<Engine>& table_;
  const uint32_t engines_;
  std::vector<uint32_t> before_;  // engines_ counts per visit up to ahead_
  sluice_walk_visit_t ahead_{};
  // [engine]: engines_ counts per instruction.
  std::vector<std::vector<uint32_t>> clocks_;
  std::vector<uint32_t> now_;  // clock of the starting instruction
  std::vector<bool> ended_;
  std::vector<std::vector<Past>> past_;  // per space
};

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_ORDER_H_
