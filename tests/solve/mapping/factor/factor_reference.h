// SPDX-License-Identifier: Apache-2.0
// CoSA's layers and machine, and the reference optima of its formulation.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_FACTOR_FACTOR_REFERENCE_H_
#define SLUICE_TESTS_SOLVE_MAPPING_FACTOR_FACTOR_REFERENCE_H_

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "solve/mapping/factor/factor_assign.h"
#include "solve/mapping/gemm/reference.h"
#include "support/shared_data.h"

namespace sluice_tests {

// Simba as CoSA configures it: register, accumulator, weight, input and global buffers.
inline sluice::FactorMachine SimbaMachine() {
  return {{{1, 0, 0}, {0, 0, 64}, {16384, 0, 0}, {0, 4096, 0}, {0, 32768, 32768}},
          {1, 8, 1, 8, 16}};
}

struct NamedLayer {
  std::string name;
  sluice::FactorLayer layer;
};

inline std::vector<NamedLayer> CosaLayers() {
  std::vector<NamedLayer> layers;
  const nlohmann::json file = ReadJson("reference/cosa/layers.json");
  if (!file.is_object()) return layers;
  for (const auto& [graph, content] : file.items()) {
    for (const nlohmann::json& l : content["layers"]) {
      layers.push_back({graph + std::string(l["name"]),
                        {{l["R"], l["S"], l["P"], l["Q"], l["C"], l["K"], l["N"]},
                         l["Hstride"],
                         l["Wstride"]}});
    }
  }
  return layers;
}

struct CosaOptimum {
  std::string name;
  sluice::FactorLayer layer;
  double objective;
  double utilisation;
  double compute;
  double traffic;
  sluice::FactorAssignment assignment;
};

// "IBuf:K4s" into the table.
inline bool AddFactor(const std::string& word, sluice::FactorAssignment* a) {
  const char* levels[] = {"Reg", "Acc", "WBuf", "IBuf", "GB", "DRAM"};
  const std::string dims = "RSPQCKN";
  const size_t colon = word.find(':');
  if (colon == std::string::npos) return false;
  const size_t dim = dims.find(word[colon + 1]);
  const long factor = std::atol(word.c_str() + colon + 2);
  for (int level = 0; level < 6; ++level) {
    if (word.substr(0, colon) != levels[level]) continue;
    auto& table = word.back() == 's' ? a->spatial : a->temporal;
    table[level][dim] *= factor;
    return dim != std::string::npos && factor > 1;
  }
  return false;
}

// Two lines per layer: figures, then the assignment.
inline std::vector<CosaOptimum> CosaOptima() {
  std::vector<CosaOptimum> optima;
  std::ifstream file(
      sluice_test::SharedPath("reference/cosa/optima_intended_resnet50_alexnet.txt"));
  std::string head;
  std::string body;
  while (std::getline(file, head) && std::getline(file, body)) {
    CosaOptimum o = {};
    long e[7];
    long stride;
    char name[64];
    const int read = std::sscanf(
        head.c_str(), "%63s %ld_%ld_%ld_%ld_%ld_%ld_%ld st %ld obj %lf", name, &e[0],
        &e[1], &e[2], &e[3], &e[4], &e[5], &e[6], &stride, &o.objective);
    const size_t util = head.find("util ");
    if (read != 10 || util == std::string::npos ||
        std::sscanf(head.c_str() + util, "util %lf comp %lf traf %lf", &o.utilisation,
                    &o.compute, &o.traffic) != 3) {
      return {};
    }
    o.name = name;
    for (int d = 0; d < 7; ++d) o.layer.extent[d] = e[d];
    o.layer.stride_p = o.layer.stride_q = stride;
    for (int level = 0; level < 6; ++level) {
      for (int d = 0; d < 7; ++d) {
        o.assignment.temporal[level][d] = o.assignment.spatial[level][d] = 1;
      }
    }
    std::istringstream words(body);
    for (std::string word; words >> word;) {
      if (!AddFactor(word, &o.assignment)) return {};
    }
    optima.push_back(o);
  }
  return optima;
}

}  // namespace sluice_tests

#endif  // SLUICE_TESTS_SOLVE_MAPPING_FACTOR_FACTOR_REFERENCE_H_
