// SPDX-License-Identifier: Apache-2.0
// The networks of reference/kapla/networks as mapping problems.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_NETWORKS_H_
#define SLUICE_TESTS_SOLVE_MAPPING_NETWORKS_H_

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/mapping_problem.h"
#include "support/shared_data.h"

namespace sluice {

struct NetworkLayer {
  std::string name;
  std::string type;
  MappingProblem problem;
  std::vector<std::string> prev = {};  // producers; or inputs of the network
};

// Empty when the file is absent. Words of 16 bits, channels of pooling are groups.
inline std::vector<NetworkLayer> ReadNetwork(const std::string& name, int64_t batch) {
  std::vector<NetworkLayer> layers;
  std::ifstream file(
      sluice_test::SharedPath("reference/kapla/networks/" + name + ".json"));
  if (!file) return layers;
  const nlohmann::json network = nlohmann::json::parse(file);
  for (const nlohmann::json& in : network["layers"]) {
    const std::string type = in["type"];
    const auto number = [&](const char* key) { return in.at(key).get<int64_t>(); };
    MappingProblem problem = ConvProblem(
        {batch, number("K"), number("C"), number("H_out"), number("W_out"), number("R"),
         number("S"), static_cast<int32_t>(number("stride")), 2});
    if (type == "dwconv" || type == "pool" || type == "eltwise") {
      problem.extent[kDimG] = number("K");
      problem.extent[kDimK] = 1;
      problem.extent[kDimC] = type == "eltwise" ? number("C") / number("K") : 1;
    }
    if (type == "pool" || type == "eltwise") {
      problem.operands = OperandBit(kInput) | OperandBit(kOutput);
      problem.vector = true;
    }
    layers.push_back({in["name"], type, problem, in["prev"]});
  }
  return layers;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_NETWORKS_H_
