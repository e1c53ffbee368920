// SPDX-License-Identifier: Apache-2.0
// Moves transfers to where the DRAM queue should run them: loads as early as the bytes
// they overwrite are free, stores between them before those bytes are needed again.
//
// The order among tiles, among loads and among stores stays. Of the next load and the
// next store, the queue takes the one that can start sooner, and if both can, the one
// that is needed first. The DRAM queue and the compute engine advance by their cycles.
// Nothing moves across a host call.
//
// Input    a program that is right when executed step by step; each tensor's root (the
//          tensor in whose DRAM memory it lies) and place. Different roots share no
//          DRAM bytes that are written; transfers of one root are ordered where their
//          boxes may share bytes.
// Output   the same steps in another order that is right as well. A block begins with
//          the first tile of its layers.
// Errors   kOutOfMemory, kStopped.
// Cost     linear in steps times the live buffers between two of them.
// Source   list scheduling by due time; own.
#ifndef SLUICE_MODEL_PROGRAM_ORDER_H_
#define SLUICE_MODEL_PROGRAM_ORDER_H_

#include "model/program.h"

namespace sluice {

// Where each tensor lies in DRAM; indexed by tensor.
struct DramOfTensors {
  Span<const uint32_t> root;
  Span<const TensorPlace> places;
};

Status OrderTransfers(const Graph& graph, const Hardware& hardware,
                      const DramOfTensors& of, Arena* scratch, Program* program);

}  // namespace sluice

#endif  // SLUICE_MODEL_PROGRAM_ORDER_H_
