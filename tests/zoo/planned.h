// SPDX-License-Identifier: Apache-2.0
// A graph scheduled on a preset through the C interface, and both judges' verdicts.
#ifndef SLUICE_TESTS_ZOO_PLANNED_H_
#define SLUICE_TESTS_ZOO_PLANNED_H_

#include <doctest/doctest.h>

#include <cstring>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "presets/presets.h"
#include "sluice/sluice.h"
#include "sluice/stream.h"
#include "support/bytes.h"
#include "support/simulation.h"

namespace sluice_test {

inline double CpuMs(clock_t from) {
  return 1e3 * static_cast<double>(clock() - from) / CLOCKS_PER_SEC;
}

class Planned {
 public:
  Planned(const Bytes& graph, const std::string& preset,
          uint32_t solver = SLUICE_SOLVER_DEFAULT)
      : graph_bytes_(graph), hardware_bytes_(sluice::presets::LoadPreset(preset)) {
    diagnostic_.struct_size = sizeof diagnostic_;
    REQUIRE(sluice_context_create(nullptr, &context_, &diagnostic_) == SLUICE_OK);
    Require(sluice_graph_create(context_, graph.data(), graph.size(), &graph_,
                                &diagnostic_));
    Require(sluice_hardware_create(context_, hardware_bytes_.data(),
                                   hardware_bytes_.size(), &hardware_, &diagnostic_));
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = solver;
    const clock_t start = clock();
    Require(
        sluice_schedule(context_, graph_, hardware_, &options, &plan_, &diagnostic_));
    schedule_ms = CpuMs(start);
    report.struct_size = sizeof report;
    Require(sluice_plan_report(plan_, &report));
    const void* bytes = nullptr;
    size_t size = 0;
    Require(sluice_plan_bytes(plan_, &bytes, &size));
    plan.assign(static_cast<const uint8_t*>(bytes),
                static_cast<const uint8_t*>(bytes) + size);
    const void* stream = nullptr;
    Require(sluice_plan_stream(plan_, &stream, &stream_size));
    stream_at = static_cast<size_t>(static_cast<const uint8_t*>(stream) -
                                    static_cast<const uint8_t*>(bytes));
  }
  ~Planned() {
    sluice_plan_destroy(plan_);
    sluice_hardware_destroy(hardware_);
    sluice_graph_destroy(graph_);
    sluice_context_destroy(context_);
  }
  Planned(const Planned&) = delete;

  // The rule that refuses the plan bytes; empty when they are accepted.
  std::string RefusedBy(const Bytes& bytes) {
    sluice_plan_t* other = nullptr;
    Require(
        sluice_plan_create(context_, bytes.data(), bytes.size(), &other, &diagnostic_));
    const clock_t start = clock();
    const sluice_status_t status =
        sluice_verify(context_, graph_, hardware_, other, &diagnostic_);
    verify_ms = CpuMs(start);
    sluice_plan_destroy(other);
    if (status == SLUICE_OK) return "";
    CHECK(status == SLUICE_REJECTED);
    return diagnostic_.rule;
  }

  sluice_sim::SimulateOptions Options() const {
    sluice_sim::SimulateOptions options =
        SimulationOf(graph_bytes_, hardware_bytes_, plan);
    options.functional = true;
    return options;
  }
  // Runs the stream and the untiled graph; both must agree in every byte and cycle.
  sluice_sim::SimulateResult Run(const sluice_sim::SimulateOptions& options) {
    const clock_t start = clock();
    sluice_sim::SimulateResult result = sluice_sim::Simulate(options);
    simulate_ms = CpuMs(start);
    INFO(result.error_code << ": " << result.error);
    CHECK(result.ok);
    CHECK(result.mismatches == 0);
    CHECK(result.cycles == result.predicted_cycles);
    return result;
  }

  Bytes plan;
  size_t stream_at = 0, stream_size = 0;
  sluice_report_t report = {};
  double schedule_ms = 0, verify_ms = 0, simulate_ms = 0;

 private:
  void Require(sluice_status_t status) {
    INFO(diagnostic_.message);
    REQUIRE(status == SLUICE_OK);
  }

  Bytes graph_bytes_, hardware_bytes_;
  sluice_diagnostic_t diagnostic_ = {};
  sluice_context_t* context_ = nullptr;
  sluice_graph_t* graph_ = nullptr;
  sluice_hardware_t* hardware_ = nullptr;
  sluice_plan_t* plan_ = nullptr;
};

// Checks for many different values, few of them saturated.
inline void CheckSpread(const Bytes& output) {
  size_t ends = 0;
  for (const uint8_t v : output) ends += v == 0x7f || v == 0x80;
  CHECK(std::set<uint8_t>(output.begin(), output.end()).size() > 60);
  CHECK(ends < output.size() / 20);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_ZOO_PLANNED_H_
