// SPDX-License-Identifier: Apache-2.0
// Checks what is claimed of a loop nest on any hierarchy of a descriptor, by code of its own:
// that it is legal, that it costs what is claimed, and that no nest of its space costs less
// than the claimed bound.
//
// Input    the problem, the freedom, the nest and its worth, as plain numbers; the
//          descriptor. None of the claim is trusted
// Output   kOk: all of it is so (1e-12 relative, for rounding). A claim whose bound is its
//          objective says that the nest is a best one
// Errors   kRejected with the rule: "nest" (not legal here), "value" (energy, cycles or
//          objective are others), "bound" (a nest costs less, or the bound is above the
//          nest's own objective). kBadInput: the problem is out of range; kStopped: a limit
//          ended the check before its end; kOutOfMemory
// Cost     that of nest_refute.h: 0.05 ms to 0.4 s
// Source   the rules of nest_counts.h; the search of nest_refute.h
#ifndef SLUICE_VERIFY_NEST_NEST_CLAIM_H_
#define SLUICE_VERIFY_NEST_NEST_CLAIM_H_

#include <stdint.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/hardware.h"

namespace sluice {

namespace nest_claims {
// Dims in the order N K C P Q R S G; operands input, weight, output; levels nearest the MACs
// first. As in experimental.h.
enum : uint32_t { kN, kK, kC, kP, kQ, kR, kS, kG, kDimCount };
enum : uint32_t { kIn, kWeights, kOut, kOperandCount };
constexpr uint32_t kLevelsMost = 6;
constexpr uint32_t kAxesMost = 3;
}  // namespace nest_claims

struct ClaimedNest {
  // The problem.
  int64_t extent[nest_claims::kDimCount];
  int32_t stride[2];    // along P and Q
  int32_t dilation[2];  // along R and S
  uint32_t operands;    // bits 1 2 4
  bool vector;
  uint32_t element_bytes[nest_claims::kOperandCount];
  uint32_t partial_bytes;
  // How free nests are, and what counts: energy^n x cycles^m.
  uint32_t resident;
  uint32_t energy_exponent, delay_exponent;
  bool bypass;  // operands may bypass memories that must not hold them
  bool ragged;  // tiles need not divide the extents
  int64_t top_tile[nest_claims::kDimCount];  // of the scratchpad; 0: free
  // The nest.
  uint32_t levels;
  int64_t temporal[nest_claims::kLevelsMost][nest_claims::kDimCount];
  int64_t spatial[nest_claims::kLevelsMost][nest_claims::kAxesMost]
                 [nest_claims::kDimCount];
  uint8_t order[nest_claims::kLevelsMost][nest_claims::kDimCount];  // innermost first
  uint8_t hold[nest_claims::kLevelsMost];
  // What it is worth.
  double energy_pj;
  int64_t cycles;
  double objective;
  double bound;  // no nest of the space is below
};

Status CheckNestClaim(const ClaimedNest& claim, const Hardware& hardware, Arena* arena,
                      Budget* budget, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_VERIFY_NEST_NEST_CLAIM_H_
