// SPDX-License-Identifier: Apache-2.0
// The judge of streams that take turns in one scratchpad.
//
// Valid: each plan is valid by itself; the turns cover every stream's instances once
// and in order; and every scratchpad byte that an instruction reads was last written by
// its own stream. All engines drain between turns, so each stream then computes what it
// computes alone.
//
// Input    graphs, hardware, untrusted plans and turns.
// Output   kOk, or kRejected with rule and message; the model at fault in the
//          diagnostic.
// Errors   kUnsupported for several nodes; kOutOfMemory.
// Cost     Verify of each, and the bytes that all instructions touch; scratch one byte
//          per byte of scratchpad.
// Source   shares no code with the scheduler, which finds live bytes by a backward
//          walk.
#ifndef SLUICE_VERIFY_TOGETHER_H_
#define SLUICE_VERIFY_TOGETHER_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "sluice/experimental.h"

namespace sluice {

struct JudgedStream {
  const Graph* graph;
  const Plan* plan;
};

Status VerifyTogether(Span<const JudgedStream> streams, const Hardware& hardware,
                      Span<const sluice_turn_t> turns, Arena* scratch,
                      Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_VERIFY_TOGETHER_H_
