// SPDX-License-Identifier: Apache-2.0
// GEMM mappings on a three-level template against totals of timeloop-model v3.0.3.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "model/layer_cost.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/networks.h"

namespace sluice {
namespace {

std::vector<std::string> Columns(const std::string& line) {
  std::vector<std::string> columns;
  std::stringstream stream(line);
  std::string column;
  while (std::getline(stream, column, ',')) columns.push_back(column);
  return columns;
}

// Axes x, y, z of the file: rows, output features, reduction; the datum of an axis is
// the one that it does not move.
constexpr uint32_t kAxisDim[3] = {kDimP, kDimK, kDimC};
constexpr uint32_t kAxisDatum[3] = {kWeight, kInput, kOutput};

void SetOrder(const std::string& axes, uint8_t order[kDims]) {
  int n = 0;
  for (char axis : axes) order[n++] = static_cast<uint8_t>(kAxisDim[axis - 'x']);
  for (uint32_t d : {kDimN, kDimQ, kDimR, kDimS, kDimG}) {
    order[n++] = static_cast<uint8_t>(d);
  }
}

uint8_t Held(const std::string& flags) {
  uint32_t hold = 0;
  for (int i = 0; i < 3; ++i) {
    if (flags[i] == '1') hold |= OperandBit(kAxisDatum[i]);
  }
  return static_cast<uint8_t>(hold);
}

TEST_CASE(
    "cost: the reuse form equals timeloop-model, the paper's form its own column") {
  std::ifstream file(
      sluice_test::SharedPath("reference/goma/timeloop_energy_vectors.csv"));
  if (!file) {
    MESSAGE("skipped: no timeloop_energy_vectors.csv");
    return;
  }
  std::string line;
  std::getline(file, line);
  int rows = 0, different = 0;
  while (std::getline(file, line)) {
    const std::vector<std::string> c = Columns(line);
    REQUIRE(c.size() == 27);
    int64_t length[4][3];  // L0 L1 L2 L3
    for (int i = 0; i < 12; ++i) length[i / 3][i % 3] = std::stoll(c[i]);
    Machine machine;
    const auto energy = [&](int column) { return std::stod(c[column]) / 8; };
    machine.AddLevel(0, energy(20), energy(21));
    machine.AddLevel(0, energy(18), energy(19));
    machine.AddLevel(0, energy(16), energy(17));
    machine.AddFanout(1, 1u << 16, 127);
    machine.hardware.mac_pj = std::stod(c[22]);
    machine.Finish();
    const MappingProblem problem =
        GemmProblem(1, length[0][0], length[0][1], length[0][2], 1);
    LoopNest nest = EmptyNest(machine.hardware, problem);
    for (int i = 0; i < 3; ++i) {
      const uint32_t d = kAxisDim[i];
      nest.temporal[0][d] = length[3][i];
      nest.spatial[1][0][d] = length[2][i] / length[3][i];
      nest.temporal[1][d] = length[1][i] / length[2][i];
      nest.temporal[2][d] = length[0][i] / length[1][i];
    }
    SetOrder(c[12], nest.order[2]);
    SetOrder(c[13], nest.order[1]);
    nest.hold[1] = Held(c[14]);
    nest.hold[0] = Held(c[15]);
    Diagnostic diagnostic;
    ClearDiagnostic(&diagnostic);
    LayerCost cost;
    CostOptions options;
    INFO(line);
    REQUIRE(EvaluateNest(problem, machine.hardware, nest, options, &cost,
                         &diagnostic) == Status::kOk);
    const double timeloop = std::stod(c[23]);
    CHECK(std::abs(cost.energy_pj - timeloop) <= 1e-9 * timeloop);
    CHECK(std::abs(cost.energy_pj - std::stod(c[25])) <= 1e-9 * timeloop);
    options.form = ReuseForm::kPaper;
    REQUIRE(EvaluateNest(problem, machine.hardware, nest, options, &cost,
                         &diagnostic) == Status::kOk);
    CHECK(std::abs(cost.energy_pj - std::stod(c[24])) <= 1e-9 * timeloop);
    different += std::abs(cost.energy_pj - timeloop) > 1e-6 * timeloop;
    ++rows;
  }
  CHECK(rows == 200);
  MESSAGE(rows << " rows, on " << different
               << " the paper's form differs from Timeloop");
}

}  // namespace
}  // namespace sluice
