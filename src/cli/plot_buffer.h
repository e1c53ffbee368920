// SPDX-License-Identifier: Apache-2.0
// Which layer holds which scratchpad bytes at what time, from an executed stream.
//
// Input    the stream image of a plan that the simulator has accepted, and its trace
// Output   per node: pieces, disjoint at any time. A piece begins when its first writer
//          starts and ends when its last user does. Strided boxes count as the hull of
//          their bytes; a piece overwritten in part is cut there.
// Errors   Failure(kBadInput) when the stream's tables do not hold what they index
// Cost     O(operands x log pieces)
#ifndef SLUICE_CLI_PLOT_BUFFER_H_
#define SLUICE_CLI_PLOT_BUFFER_H_

#include <cstddef>
#include <vector>

#include "cli/plot.h"
#include "firmware-sim/sim.h"

namespace sluice::cli {

// Facts about an event that its trace does not hold.
struct PlotMove {
  bool constants = false;  // a LOAD from the region of constants
  uint32_t region = 0;     // of a LOAD or STORE: SLUICE_REGION_ of the bytes in DRAM
};

struct BufferHistory {
  std::vector<std::vector<PlotPiece>> nodes;
  std::vector<PlotMove> moves;  // per event
  uint64_t capacity = 0;        // of each node, as the stream was made for
};

// events by ascending start, ties by engine.
BufferHistory FollowBuffers(const void* stream, size_t size,
                            const std::vector<sluice_sim::TraceEvent>& events);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLOT_BUFFER_H_
