// SPDX-License-Identifier: Apache-2.0
// Which completed instructions an instruction may rely on: those that its waits and its
// engine's order imply, whatever the timing. Accesses that meet without such an order
// are races, also when this machine's timing happens to keep them apart.
//
// Input    instructions in the order in which they start
// Output   Trap "race"
// Cost     per instruction: waits * engines, and accesses that nothing orders yet
// Memory   one vector clock of `engines` counts per instruction
#ifndef SLUICE_FIRMWARE_SIM_ORDER_H_
#define SLUICE_FIRMWARE_SIM_ORDER_H_

#include <vector>

#include "machine.h"

namespace sluice_sim {

class Order {
 public:
  explicit Order(const sluice_walker_t& walker);

  // The instruction that starts now, its waits holding.
  Trap Start(const sluice_instruction_t& instruction, const Flight& flight);
  // The engine has no instruction left: nothing has to be kept for its sake.
  void End(uint32_t engine) { ended_[engine] = true; }

 private:
  struct Past {
    Access access;
    uint32_t engine;
    uint32_t number;  // 1-based, of its engine
    uint32_t instruction;
  };
  void Join(const sluice_instruction_t& instruction, const Flight& flight);
  Trap Compare(const Flight& flight, uint32_t number);
  void Forget(std::vector<Past>* list) const;

  const sluice_walker_t& walker_;
  const uint32_t engines_;
  std::vector<std::vector<uint32_t>> first_;   // [engine][instance]: number before it
  std::vector<std::vector<uint32_t>> clocks_;  // [engine]: engines_ counts each
  std::vector<uint32_t> now_;                  // the clock being made
  std::vector<bool> ended_;
  std::vector<std::vector<Past>> past_;  // per space
};

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_ORDER_H_
