// SPDX-License-Identifier: Apache-2.0
// Bytes -> Graph, Hardware, Plan. No other code of the core uses the generated wire
// code.
//
// Input    untrusted bytes, at most 2 GiB - 1; any alignment (copied unless 8-byte
//          aligned).
// Output   nouns that live in `arena`; they satisfy all invariants stated in model/
//          headers.
// Errors   kBadInput says what is wrong, where, and what would be right; kUnsupported
//          names the valid feature that this version lacks; kOutOfMemory.
// Cost     linear in the number of bytes; no byte is used before it is checked.
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
// Checks structure only: the stream inside is untrusted until verify has accepted it.
// The plan's spans point into `bytes`, which must be 8-byte aligned and outlive the
// plan.
Status ReadPlan(const void* bytes, size_t size, Arena* arena, Plan* plan,
                Diagnostic* diagnostic);

// The shape and attribute rules of one layer (ops.h); called by ReadGraph.
Status CheckLayer(const Graph& graph, uint32_t layer, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_IO_READ_H_
