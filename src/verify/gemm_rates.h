// SPDX-License-Identifier: Apache-2.0
// Checks that a GEMM mapping is optimal on memories whose bandwidth may limit.
//
// Input    the claim of gemm_certificate.h without a proof (its value is not read);
//          words per cycle of each memory; the energy and the cycles that are claimed
// Output   kOk: the mapping is legal, costs what is claimed, and no mapping is better:
//          none has less energy; less energy x cycles; or fewer cycles, or as many and
//          less energy (1e-12 relative, for rounding)
// Errors   kRejected with the rule: "mapping", "value", "better" (one is). kBadInput,
//          kStopped, kOutOfMemory
// Cost     less than the search: all ways, splits and tiles, but those whose parts at
//          their best are no better than the claim
// Source   gemm_certificate.h; words through a memory are its energy with 1 pJ per
//          word. Every fact there holds for each memory's words as for the energy
#ifndef SLUICE_VERIFY_GEMM_RATES_H_
#define SLUICE_VERIFY_GEMM_RATES_H_

#include "verify/gemm_certificate.h"

namespace sluice {

struct ClaimedRates {
  int64_t words[3];   // per `cycles` cycles, of the outer, middle and one inner memory;
  int64_t cycles[3];  // words 0: never limits
  double energy_pj;
  int64_t time;  // cycles
};

Status CheckGemmRates(const ClaimedGemm& claim, const ClaimedRates& rates, Arena* arena,
                      Budget* budget, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_VERIFY_GEMM_RATES_H_
