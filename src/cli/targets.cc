// SPDX-License-Identifier: Apache-2.0
#include "cli/targets.h"

namespace sluice::cli {
namespace {

constexpr Target kTargets[] = {
    {"gemmini", LowerToGemmini},
    {"vta", LowerToVta},
};

}  // namespace

const Target* FindTarget(const std::string& name) {
  for (const Target& target : kTargets) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) names.push_back(target.name);
  return names;
}

}  // namespace sluice::cli
