// SPDX-License-Identifier: Apache-2.0
// The best mapping of one GEMM on memories whose bandwidth may limit, proved.
//
// Input    as gemm_exact.h, and GemmMachine::bandwidth
// Output   an optimal mapping; cycles = the largest of compute and each memory's words
//          over its bandwidth; energy with leakage over these cycles. kDelay: fewest
//          cycles, then least energy (kExact: of splits with the most PEs);
//          kEnergyDelay: energy x cycles
// Errors   as SolveGemmExact
// Cost     that of SolveGemmExact where no memory limits its optimum, which is then
//          optimal here too; else a second search, 1 to 100 ms
// Source   Words through a memory have the form of GOMA's energy, with 1 pJ for each of
//          its words and 0 for all others: the bounds of gemm_exact_space.h bound them
//          too
#ifndef SLUICE_SOLVE_MAPPING_GEMM_GEMM_RATE_H_
#define SLUICE_SOLVE_MAPPING_GEMM_GEMM_RATE_H_

#include "solve/mapping/gemm/gemm_exact.h"

namespace sluice {

// The machine with memories that never limit.
GemmMachine WithoutRates(const GemmMachine& machine);

// solution->objective: pJ per MAC; for kEnergyDelay that x cycles / MACs.
// *limited: whether a memory limits the optimum of the machine without bandwidths.
Status SolveGemmRates(const GemmRequest& request, Arena* arena, Budget* budget,
                      GemmSolution* solution, bool* limited, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_GEMM_GEMM_RATE_H_
