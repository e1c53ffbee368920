// SPDX-License-Identifier: Apache-2.0
// Bytes -> Graph, Hardware, Plan. The core's only user of generated wire code.
//
// Input    untrusted bytes, at most 2 GiB - 1; any alignment (copied when not of 8).
// Output   nouns that live in `arena`; every invariant of model/ headers holds.
// Errors   kBadInput with what is wrong, where, and what would be right; kUnsupported
//          for valid features this version does not have, by name; kOutOfMemory.
// Cost     linear in the number of bytes; nothing is read before it is checked.
#ifndef SLUICE_IO_READ_H_
#define SLUICE_IO_READ_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"

namespace sluice {

Status ReadGraph(const void* bytes, size_t size, Arena* arena, Graph* graph,
                 Diagnostic* diagnostic);
Status ReadHardware(const void* bytes, size_t size, Arena* arena, Hardware* hardware,
                    Diagnostic* diagnostic);
// Structure only; the stream inside stays untrusted until verify has seen it. The
// plan's spans point into `bytes`, which must be 8-byte aligned and outlive the plan.
Status ReadPlan(const void* bytes, size_t size, Arena* arena, Plan* plan,
                Diagnostic* diagnostic);

// The shape and attribute rules of one layer (ops.h); called by ReadGraph.
Status CheckLayer(const Graph& graph, uint32_t layer, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_IO_READ_H_
