// SPDX-License-Identifier: Apache-2.0
// The model of Gemmini, DRAM and a host that executes the steps of the lowering.
//
// Input    bytes of a graph and of its plan; a seed of the inputs
// Output   bytes of the outputs, counts of the lowering
// Errors   a sentence in `error`
// Cost     the model's
#ifndef SLUICE_TESTS_TARGETS_GEMMINI_BOARD_H_
#define SLUICE_TESTS_TARGETS_GEMMINI_BOARD_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firmware-sim/kernels.h"
#include "firmware-sim/reference.h"
#include "firmware-sim/scaled.h"
#include "firmware-sim/walker.h"
#include "firmware-sim/wire.h"
#include "sluice_gemmini.h"
#include "targets/gemmini/machine.h"

namespace gemmini_model {

using Bytes = std::vector<uint8_t>;

// What a test breaks on purpose between the lowering and the machine.
struct Fault {
  enum Kind { kNone, kDropFence, kDropCommand, kFlipRs1, kFlipRs2 } kind = kNone;
  uint32_t funct = 0;  // the commands that it changes
  uint32_t bit = 0;
  uint64_t every = 1, count = 0;
};

// Who makes bytes of sums: the host, as ops.h says, or the machine where it can; to DRAM, or
// to rows of the scratchpad.
enum class Scaling { kHost, kMachine, kOnChip };

// What commands move and compute for a layer, as the words of the commands say.
struct LayerCounts {
  uint64_t bytes = 0;   // of mvins and mvouts, but for biases
  uint64_t passes = 0;  // computes
};

struct BoardResult {
  std::string error;
  uint64_t output_fnv1a = 0;
  uint64_t commands_fnv1a = 0;  // words of commands, fences and steps as they left
  std::vector<LayerCounts> layers;
  Bytes outputs;                              // one after the other
  std::vector<sluice_sim::ScaledBox> scaled;  // by the machine
  sluice_gemmini_counts counts{};
};

BoardResult RunBoard(const Bytes& graph, const Bytes& plan, uint64_t seed, Late late,
                     const Fault& fault = {}, Scaling scaling = Scaling::kHost);

// The same on another machine, made for so many bytes of DRAM.
using MakeMachine = std::function<std::unique_ptr<Machine>(uint64_t dram_bytes)>;
BoardResult RunBoardOn(const Bytes& graph, const Bytes& plan, uint64_t seed,
                       const MakeMachine& make, Scaling scaling = Scaling::kHost);

}  // namespace gemmini_model

#endif  // SLUICE_TESTS_TARGETS_GEMMINI_BOARD_H_
