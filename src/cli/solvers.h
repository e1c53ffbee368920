// SPDX-License-Identifier: Apache-2.0
// The solvers by their names on the command line.
//
// Output   SLUICE_SOLVER_; false for an unknown name
#ifndef SLUICE_CLI_SOLVERS_H_
#define SLUICE_CLI_SOLVERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/sluice.h"

namespace sluice::cli {

struct SolverName {
  const char* name;
  uint32_t solver;
};
constexpr SolverName kSolverNames[] = {{"default", SLUICE_SOLVER_DEFAULT},
                                       {"baseline", SLUICE_SOLVER_BASELINE},
                                       {"fusion", SLUICE_SOLVER_FUSION},
                                       {"cocco", SLUICE_SOLVER_COCCO},
                                       {"soma", SLUICE_SOLVER_SOMA}};

inline bool FindSolver(const std::string& name, uint32_t* solver) {
  for (const SolverName& known : kSolverNames) {
    if (name != known.name) continue;
    *solver = known.solver;
    return true;
  }
  return false;
}

inline std::vector<std::string> SolverNames() {
  std::vector<std::string> names;
  for (const SolverName& known : kSolverNames) names.push_back(known.name);
  return names;
}

}  // namespace sluice::cli

#endif  // SLUICE_CLI_SOLVERS_H_
