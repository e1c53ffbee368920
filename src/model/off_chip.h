// SPDX-License-Identifier: Apache-2.0
// Where bytes lie off chip, and what it takes to move them: memories with names beside the
// last level, and weights that lie there encoded.
//
// Input    a machine; tensors of a checked graph
// Output   bytes and cycles; for bounds the least of them wherever bytes lie
// Errors   none
// Cost     linear in the machine's memories; nothing is allocated
#ifndef SLUICE_MODEL_OFF_CHIP_H_
#define SLUICE_MODEL_OFF_CHIP_H_

#include "model/hardware.h"
#include "sluice/stream.h"

namespace sluice {

// Region of tensors of a kind that have a place of their own.
uint8_t RegionOf(TensorKind kind);

// Bytes off chip that a LOAD of so many of a tensor's bytes moves.
int64_t MovedBytes(const Tensor& tensor, int64_t bytes);

// What the memory of a region adds to the latency of its transfers.
int64_t HomeLatency(const Hardware& hardware, uint32_t region);
// Cycles that so many bytes of a region hold the port.
int64_t HoldCycles(const Hardware& hardware, uint32_t region, int64_t bytes);

// A level that costs at most what each memory off chip costs: for bytes that may lie in
// any of them.
MemoryLevel CheapestHome(const Hardware& hardware);

// Least cycles of the port for so many bytes, some of them constants'.
int64_t LeastHold(const Hardware& hardware, int64_t bytes, int64_t constants);

// The port's time for one byte of this tensor, if it has a memory of its own, over that for
// one byte of the last level.
double PortShare(const Hardware& hardware, const Tensor& tensor);

// Whether bytes off chip take the same for all tensors of the graph.
bool AllAlike(const Graph& graph, const Hardware& hardware);

}  // namespace sluice

#endif  // SLUICE_MODEL_OFF_CHIP_H_
