// SPDX-License-Identifier: Apache-2.0
// Executes one instruction: its accesses, its cycles, its effect.
//
// Input    a checked stream, the graph's extents, the memory
// Output   Flight: inputs are read at the start, results written on completion
// Errors   Trap
// Cost     the instruction's bytes and operations
#ifndef SLUICE_FIRMWARE_SIM_MACHINE_H_
#define SLUICE_FIRMWARE_SIM_MACHINE_H_

#include <map>
#include <set>
#include <vector>

#include "ability.h"
#include "kernels.h"
#include "links.h"
#include "memory.h"
#include "wire.h"

namespace sluice_sim {

// An instruction between its start and its completion.
struct Flight {
  uint32_t engine = 0;
  sluice_walk_visit_t visit{};
  uint32_t instruction = 0;  // index in the body
  uint32_t opcode = 0, op = 0, layer = kAbsent;
  uint64_t start = 0, end = 0;
  uint64_t bytes = 0;                 // moved; of a LOAD, those that leave memory
  uint64_t macs = 0, vector_ops = 0;  // of a tile
  // A LOAD, a STORE or a HOST call that uses the DRAM port requests it at `arrival` and
  // ends after occupying it for `hold` cycles. `end` is unknown until the port is
  // granted.
  bool at_port = false;
  uint64_t arrival = 0, hold = 0;
  sluice_transfer_t transfer{};
  std::vector<Access> accesses;
  std::vector<uint8_t> result;  // dense; copied to every written access on completion
  std::vector<std::vector<uint8_t>> results;  // of a HOST call: one per written access
};

class Machine {
 public:
  Machine(const sluice_walker_t& walker, const Graph& graph, const Hardware& hardware,
          Memory* memory, bool functional)
      : walker_(walker),
        graph_(graph),
        hardware_(hardware),
        memory_(*memory),
        functional_(functional),
        padded_(graph.tensors.size(), false) {
    for (uint32_t i = 0; i < walker.header.patch_count; ++i) {
      patched_.insert(PatchedBinding(walker, i));
    }
    for (const Layer& layer : graph.layers) {
      if (OpOf(layer.op).means == Means::kPad) padded_[layer.outputs[0]] = true;
    }
  }

  // Fills accesses, bytes, op, layer, result and end (start + the instruction's
  // cycles). The caller has set engine, visit, instruction and start.
  Trap Start(const sluice_instruction_t& instruction, Flight* flight);
  void Complete(const Flight& flight);
  // Grants the DRAM port to the transfer from cycle `at` on.
  void Serve(uint64_t at, Flight* flight) const;
  const std::vector<Engine>& engines() const { return hardware_.engines; }
  const std::string& name(uint32_t engine) const {
    return hardware_.engines[engine].name;
  }
  // With places set (of each tensor, by the plan), the source of each LOAD tells whether
  // it is encoded; else the stream is believed.
  void set_places(const std::vector<Place>& places);
  // With links set, transfers are delayed by busy links.
  void set_links(Links* links) { links_ = links; }

 private:
  struct TileOperand;
  static constexpr int kTileOperands = 6;

  Access Reach(const Flight& flight, uint32_t operand, uint32_t node, bool write,
               const char* role) const;
  Trap StartTransfer(const sluice_instruction_t& instruction, Flight* flight);
  Trap CheckEncoded(const sluice_transfer_t& transfer, const Access& src,
                    uint64_t landing) const;
  Trap StartTile(const sluice_instruction_t& instruction, Flight* flight);
  void Compute(const TileOperand operands[kTileOperands], Flight* flight, Tile* tile);
  Trap StartHost(const sluice_instruction_t& instruction, Flight* flight);
  Trap Copy(const Access& src, const Access& dst, const Access* index, Flight* flight);
  Trap FillTile(const sluice_tile_t& record, uint8_t flags, Flight* flight, Tile* tile);
  Trap CheckAccesses(Flight* flight);
  Trap TimeTransfer(const sluice_transfer_t& transfer, const Access& src,
                    const Access& dst, Flight* flight) const;
  uint64_t ForwardCycles(const sluice_transfer_t& transfer, const Flight& flight) const;
  const Engine& EngineOf(const Flight& flight) const {
    return hardware_.engines[flight.engine];
  }
  uint64_t LinkDelay(const sluice_transfer_t& transfer, const Flight& flight) const;
  Trap CheckOperands(const Layer& layer, const sluice_tile_t& record,
                     const Tile& tile) const;
  std::string BrokenGranule(const Tile& t) const;
  uint64_t LeastCycles(const Work& work) const;
  Trap CheckHost(const Layer& layer, const sluice_host_call_t& call) const;
  Trap HostOperands(const Layer& layer, const sluice_host_call_t& call, Flight* flight);
  Trap RunOnHost(const Layer& layer, Flight* flight);

  const sluice_walker_t& walker_;
  const Graph& graph_;
  const Hardware& hardware_;
  Memory& memory_;
  bool functional_;
  Links* links_ = nullptr;
  static uint32_t PatchedBinding(const sluice_walker_t& walker, uint32_t patch);
  uint32_t BindingOf(const Flight& flight, uint32_t operand) const;
  std::set<uint32_t> patched_;  // bindings
  std::vector<bool> padded_;    // by tensor: 1 for a PAD's output
  bool placed_ = false;
  std::map<uint64_t, uint32_t> encoded_;  // tensors by where they begin in CONST
};

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_MACHINE_H_
