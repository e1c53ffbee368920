// SPDX-License-Identifier: Apache-2.0
// Reads the reference tables that lie beside the tree: GEMM templates, workloads,
// optima.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_GEMM_REFERENCE_H_
#define SLUICE_TESTS_SOLVE_MAPPING_GEMM_REFERENCE_H_

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/gemm_cost.h"
#include "support/shared_data.h"

namespace sluice_tests {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> SplitFields(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

// Rows of a CSV file with a header; empty when the file is absent.
inline std::vector<Row> ReadCsv(const std::string& path) {
  std::ifstream file(sluice_test::SharedPath(path));
  std::vector<Row> rows;
  std::string line;
  if (!std::getline(file, line)) return rows;
  const std::vector<std::string> names = SplitFields(line);
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = SplitFields(line);
    Row row;
    for (size_t i = 0; i < names.size() && i < fields.size(); ++i) {
      row[names[i]] = fields[i];
    }
    rows.push_back(row);
  }
  return rows;
}

inline nlohmann::json ReadJson(const std::string& path) {
  std::ifstream file(sluice_test::SharedPath(path));
  if (!file) return nlohmann::json();
  return nlohmann::json::parse(file, nullptr, false);
}

inline int64_t Int(const Row& row, const std::string& name) {
  return std::atoll(row.at(name).c_str());
}
inline double Real(const Row& row, const std::string& name) {
  return std::atof(row.at(name).c_str());
}
// "110" -> bits 0 and 1.
inline uint8_t Mask(const std::string& digits) {
  uint8_t mask = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '1') mask = static_cast<uint8_t>(mask | 1u << i);
  }
  return mask;
}
// "zxy" -> axes, innermost first.
inline sluice::GemmOrder Order(const std::string& letters) {
  sluice::GemmOrder order = {{0, 1, 2}};
  for (int i = 0; i < 3; ++i) order.axis[i] = static_cast<uint8_t>(letters[i] - 'x');
  return order;
}
inline sluice::GemmShape ShapeOf(const Row& row) {
  return {{Int(row, "X"), Int(row, "Y"), Int(row, "Z")}};
}

// The template named in hardware.json.
inline std::map<std::string, sluice::GemmMachine> GemmTemplates() {
  std::map<std::string, sluice::GemmMachine> templates;
  const nlohmann::json file = ReadJson("reference/goma/hardware.json");
  if (!file.is_object()) return templates;
  for (const nlohmann::json& t : file["templates"]) {
    sluice::GemmMachine m = {};
    m.middle_words = t["C1"];
    m.inner_words = t["C3"];
    m.pe_count = t["num_pe"];
    m.outer_read_pj = t["dram_r"];
    m.outer_write_pj = t["dram_w"];
    m.middle_read_pj = t["sram_r"];
    m.middle_write_pj = t["sram_w"];
    m.inner_read_pj = t["rf_r"];
    m.inner_write_pj = t["rf_w"];
    m.mac_pj = t["mac"];
    m.middle_leak_pj = t["leak_sram"];
    m.inner_leak_pj = t["leak_rf"];
    templates[t["name"]] = m;
  }
  return templates;
}

struct LlmGemm {
  std::string workload;
  std::string type;
  sluice::GemmShape shape;
  int64_t occurrences;
};

// 4 models x 3 lengths x 8 GEMMs.
inline std::vector<LlmGemm> LlmGemms() {
  std::vector<LlmGemm> gemms;
  const nlohmann::json file = ReadJson("reference/goma/workloads.json");
  if (!file.is_object()) return gemms;
  for (const nlohmann::json& w : file["workloads"]) {
    for (const nlohmann::json& g : w["gemms"]) {
      gemms.push_back({w["name"], g["type"], {{g["X"], g["Y"], g["Z"]}}, g["w"]});
    }
  }
  return gemms;
}

// Energies of a row of timeloop_energy_vectors.csv or tiny_vectors.csv.
inline void ReadEnergies(const Row& row, sluice::GemmMachine* m) {
  m->outer_read_pj = Real(row, "dr");
  m->outer_write_pj = Real(row, "dw");
  m->middle_read_pj = Real(row, "sr");
  m->middle_write_pj = Real(row, "sw");
  m->inner_read_pj = Real(row, "rr");
  m->inner_write_pj = Real(row, "rw");
  m->mac_pj = Real(row, "mac");
}

}  // namespace sluice_tests

#endif  // SLUICE_TESTS_SOLVE_MAPPING_GEMM_REFERENCE_H_
