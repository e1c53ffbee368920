// SPDX-License-Identifier: Apache-2.0
// Which layers the compute engines of a machine do, and what the host takes for the
// others.
//
// A graph is fitted to a machine before it is planned: a layer that the machine's rows
// of operators lack becomes an OPAQUE one with the cycles of its HOST call. No planner
// asks about operators again.
//
// Input    a checked graph; the machine's rows and its host
// Output   why a layer is the host's; the fitted graph
// Errors   kUnsupported for a layer that neither rows nor host can do; kOutOfMemory
// Cost     layers times rows; a copy of the layers. Nothing for a machine without rows
// Source   OpSupport and Host of hardware.fbs
#ifndef SLUICE_MODEL_HOST_H_
#define SLUICE_MODEL_HOST_H_

#include "base/memory.h"
#include "model/hardware.h"

namespace sluice {

// 0: the compute engines do the layer, or it is not for them. Else SLUICE_WHY_.
uint8_t WhyOnHost(const Graph& graph, const Hardware& hardware, const Layer& layer);

Status FitToMachine(const Graph& graph, const Hardware& hardware, Arena* arena,
                    Graph* fitted, Diagnostic* diagnostic);

// MACs or vector operations of a whole layer.
int64_t WorkOfLayer(const Graph& graph, const Layer& layer);

// Cycles that an OPAQUE layer declares.
int64_t HostCycles(const Layer& layer);

// Bytes that a HOST call of the layer reads and writes: all of its tensors, but of a
// GATHER's table the rows that its output has.
struct HostTraffic {
  int64_t read, written;

  int64_t bytes() const { return read + written; }
};
HostTraffic HostTrafficOf(const Graph& graph, const Layer& layer);

// pJ of the traffic at DRAM's port; 0 = calls do not use it.
double HostTrafficEnergy(const Hardware& hardware, const HostTraffic& traffic);

// Cycles that a HOST call holds DRAM's port after its own cycles, for the bytes of its
// operands; 0 = it does not use the port.
int64_t HostHold(const Hardware& hardware, int64_t bytes);

}  // namespace sluice

#endif  // SLUICE_MODEL_HOST_H_
