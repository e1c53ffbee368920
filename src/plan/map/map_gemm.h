// SPDX-License-Identifier: Apache-2.0
// The best mapping of a GEMM over every choice of a middle and an inner memory.
//
// Input    M, N, K; hardware; solver, objective and limits as the caller gave them
// Output   the mapping with its costs, a bound that holds for every choice, and on
//          request the verdict of the certificate's checker (src/verify)
// Errors   kUnsupported when no choice of memories fits the solver, kInfeasible when no
//          choice has room; kStopped, kOutOfMemory
// Cost     one SolveGemmExact or SolveFactorAssign for each choice of memories
#ifndef SLUICE_PLAN_MAP_MAP_GEMM_H_
#define SLUICE_PLAN_MAP_MAP_GEMM_H_

#include "base/memory.h"
#include "model/gemm_cost.h"
#include "model/hardware.h"
#include "sluice/experimental.h"

namespace sluice {

struct GemmCall {
  const Hardware& hardware;
  GemmShape shape;
  const sluice_gemm_options_t& options;
};

Status MapGemm(const GemmCall& call, Memory* memory, sluice_gemm_mapping_t* out,
               Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MAP_MAP_GEMM_H_
