// SPDX-License-Identifier: Apache-2.0
// Asks the scheduler's reader whether it accepts a graph or a hardware descriptor.
//
// Input    graph.fbs or hardware.fbs bytes, untrusted
// Errors   the C functions' status and diagnostic; CheckGraph: Error with the sentence
// Cost     linear in the bytes; constants are not read
#ifndef SLUICE_IMPORT_GRAPH_CHECK_H_
#define SLUICE_IMPORT_GRAPH_CHECK_H_

#include "import/bytes.h"
#include "sluice/sluice.h"

namespace sluice::import {

sluice_status_t TryGraph(const void* graph, size_t size,
                         sluice_diagnostic_t* diagnostic);
inline sluice_status_t TryGraph(const Bytes& graph, sluice_diagnostic_t* diagnostic) {
  return TryGraph(graph.data(), graph.size(), diagnostic);
}
sluice_status_t TryHardware(const Bytes& hardware, sluice_diagnostic_t* diagnostic);

void CheckGraph(const void* graph, size_t size);
inline void CheckGraph(const Bytes& graph) { CheckGraph(graph.data(), graph.size()); }

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_GRAPH_CHECK_H_
