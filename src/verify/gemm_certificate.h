// SPDX-License-Identifier: Apache-2.0
// Checks the proof that a GEMM mapping is optimal, by its own arithmetic.
//
// Input    the problem, the mapping and the proof, all as plain numbers; none trusted.
// Output   kOk: the mapping is legal, costs what is claimed, and no mapping costs less
//          (1e-12 relative, for rounding).
// Errors   kRejected with the rule: "mapping", "value", "branch" (missing or out of
//          order), "split", "tile" (an open one is missing), "bound" (claims more than
//          can be shown), "excess" (lines left over). kBadInput, kStopped,
//          kOutOfMemory.
// Cost     about twice the search, whose order is not trusted: 0.1 ms for layers of
//          language models, 0.6 s at most for extents of 240 divisors.
// Source   GOMA equations (10)-(30), one datum at a time, and four facts:
//   1. Walking along an axis whose datum the level does not hold never costs less.
//   2. Energy falls as a tile grows along an axis that occurs in some term. It does not
//      depend on other axes, which therefore stay as short as they can be.
//   3. Fills of a datum across middle and outer loops merge (reuse form only) when the
//      other two axes have middle loops of trip 1 and the outer loops walk its axis.
//      The merged datum then costs its words once from the outer memory. Holding it in
//      the middle memory too, or another datum in both, only adds cost.
//   4. Energy is a sum over data; the sum of the data's least costs is a lower bound.
#ifndef SLUICE_VERIFY_GEMM_CERTIFICATE_H_
#define SLUICE_VERIFY_GEMM_CERTIFICATE_H_

#include <stdint.h>

#include "base/array.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"

namespace sluice {

// One line of the proof for each way to hold data and to walk, in ascending order of
// (middle_holds, outer_axis, inner_holds, middle_axis). A level that holds nothing
// walks axis 0; ways that do not fit even with single words are left out. In the reuse
// form the merged ways of fact 3 follow: by axis d, then by the memory that holds datum
// d + 1, then by that of datum d + 2 (0 none, 1 middle, 2 inner).
struct ClaimedBranch {
  uint8_t kind;  // 1: merged
  uint8_t middle_holds;
  uint8_t inner_holds;
  uint8_t outer_axis;
  uint8_t middle_axis;
  double bound;          // lower bound on the objective of all its mappings
  uint32_t split_count;  // listed splits that follow, ascending in x, then y, then z
};
struct ClaimedSplit {
  int64_t spatial[3];
  double bound;         // lower bound for all mappings of the branch with this split
  uint32_t tile_count;  // open inner tiles that follow
};
struct ClaimedTile {
  int64_t inner_tile[3];
  double bound;
};

enum : uint8_t { kClaimEnergy = 0, kClaimEnergyDelay = 1, kClaimDelay = 2 };

struct ClaimedGemm {
  // Problem. Axes x y z; memories outer, middle, inner.
  int64_t extent[3];
  int64_t middle_words;
  int64_t inner_words;
  int64_t pe_count;
  int64_t fanout_limit[3];  // 0 = none
  double read_pj[3];
  double write_pj[3];
  double mac_pj;
  double middle_leak_pj;
  double inner_leak_pj;
  bool reuse_form;
  bool at_most;       // uses at most pe_count PEs; false: exactly
  uint8_t objective;  // kClaim...
  // Mapping.
  int64_t middle_tile[3];
  int64_t spatial[3];
  int64_t inner_tile[3];
  uint8_t outer_order[3];  // innermost first
  uint8_t middle_order[3];
  uint8_t middle_holds;
  uint8_t inner_holds;
  double value;  // pJ per MAC; kClaimEnergyDelay: divided by the PEs used
  // Proof.
  Span<const ClaimedBranch> branches;
  Span<const ClaimedSplit> splits;
  Span<const ClaimedTile> tiles;
};

// The numbers of the problem are in range; the mapping is legal on it.
Status CheckGemmProblem(const ClaimedGemm& claim, Diagnostic* diagnostic);
Status CheckGemmLegal(const ClaimedGemm& claim, Diagnostic* diagnostic);

Status CheckGemmCertificate(const ClaimedGemm& claim, Arena* arena, Budget* budget,
                            Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_VERIFY_GEMM_CERTIFICATE_H_
