// SPDX-License-Identifier: Apache-2.0
#include "verify/report.h"

#include <functional>
#include <string>
#include <vector>

#include "cases.h"
#include "judged_case.h"
#include "verify/bound.h"

namespace sluice_test {
namespace {

// A case whose plan has the report that fits its stream.
struct Reported {
  explicit Reported(const Case& c) : judged(c) {
    REQUIRE(judged.AsItIs().rule == "report");  // only traffic and peak are right
    judged.Deserve();
  }
  Verdict Judge() const { return judged.AsItIs(); }
  sluice_report_t& report() { return judged.plan.report; }

  Judged judged;
};

std::vector<Case> AllCases() {
  return {ConvCase(), AccumulateCase(), AddCase(),  ConcatCase(),
          LoopCase(), GatherHostCase(), NodesCase()};
}

TEST_CASE("report: latencies are those that were worked out by hand") {
  CHECK(Reported(ConvCase()).Judge().counts.latency_cycles == 536);
  CHECK(Reported(AccumulateCase()).Judge().counts.latency_cycles == 144);
  CHECK(Reported(AddCase()).Judge().counts.latency_cycles == 172);
}

TEST_CASE("report: each count that is edited is refused by its name") {
  struct Field {
    const char* name;
    std::function<void(sluice_report_t*, uint32_t)> add;
  };
#define FIELD(name)                                                \
  {                                                                \
#name, [](sluice_report_t * r, uint32_t by) { r->name += by; } \
  }
  const Field fields[] = {
      FIELD(latency_cycles),
      FIELD(dram_read_bytes),
      FIELD(dram_write_bytes),
      FIELD(peak_buffer_bytes),
      FIELD(macs),
      FIELD(vector_ops),
      FIELD(tiles),
      FIELD(instructions),
      FIELD(layers),
      FIELD(host_layers),
      FIELD(host_macs),
      FIELD(host_bytes),
  };
#undef FIELD
  for (const Case& c : AllCases()) {
    Reported plan(c);
    CHECK(plan.Judge().message == "");
    const sluice_report_t honest = plan.report();
    for (const Field& field : fields) {
      for (const uint32_t by : {1u, ~0u}) {
        plan.report() = honest;
        field.add(&plan.report(), by);
        const Verdict v = plan.Judge();
        CAPTURE(field.name);
        CHECK(v.status == sluice::Status::kRejected);
        CHECK(v.message.find(field.name) != std::string::npos);
      }
    }
  }
}

TEST_CASE("report: each energy that is edited is refused by its name") {
  struct Field {
    const char* name;
    double sluice_report_t::*energy;
  };
  const Field fields[] = {
      {"energy_dram_pj", &sluice_report_t::energy_dram_pj},
      {"energy_leakage_pj", &sluice_report_t::energy_leakage_pj},
      {"energy_noc_pj", &sluice_report_t::energy_noc_pj},
      {"energy_host_pj", &sluice_report_t::energy_host_pj},
      {"energy_pj", &sluice_report_t::energy_pj},
  };
  for (const Case& c : AllCases()) {
    Reported plan(c);
    const sluice_report_t honest = plan.report();
    for (const Field& field : fields) {
      for (const double factor : {1.001, 0.999}) {
        plan.report() = honest;
        double& energy = plan.report().*field.energy;
        energy = energy == 0 ? factor - 1 : energy * factor;
        const Verdict v = plan.Judge();
        CAPTURE(field.name);
        CHECK(v.status == sluice::Status::kRejected);
        CHECK(v.message.find(field.name) != std::string::npos);
        energy = 0.0 / 0.0;
        CHECK(plan.Judge().message.find(field.name) != std::string::npos);
      }
    }
  }
}

TEST_CASE("report: tiles may take what whoever priced them says, transfers may not") {
  Reported plan(ConvCase());
  const sluice_report_t honest = plan.report();
  const auto verdict_with = [&](double scratchpad, double compute) {
    sluice_report_t& r = plan.report();
    r = honest;
    r.energy_scratchpad_pj = scratchpad;
    r.energy_compute_pj = compute;
    r.energy_pj = r.energy_dram_pj + scratchpad + compute + r.energy_leakage_pj;
    return plan.Judge();
  };
  const sluice::VerifiedCounts counts = plan.Judge().counts;
  const sluice::MemoryLevel& pad = plan.judged.hardware.scratchpad();
  const double least =
      8 * (static_cast<double>(counts.pad_read_bytes) * pad.read_pj_per_bit +
           static_cast<double>(counts.pad_write_bytes) * pad.write_pj_per_bit);
  REQUIRE(least > 0);
  CHECK(verdict_with(2 * honest.energy_scratchpad_pj, 1).message == "");
  CHECK(verdict_with(least, 0).message == "");
  CHECK(verdict_with(0.999 * least, 1).message ==
        "the report's energy_scratchpad_pj is not what the stream takes");
  CHECK(verdict_with(least, -1).message ==
        "the report's energy_compute_pj is not what the stream takes");
}

TEST_CASE("report: bounds are no larger than the judge's own") {
  Reported plan(ConvCase());
  const sluice_report_t honest = plan.report();
  const auto refused_for = [&](const char* field) {
    const Verdict v = plan.Judge();
    CAPTURE(field);
    CHECK(v.status == sluice::Status::kRejected);
    CHECK(v.message.find(field) != std::string::npos);
    plan.report() = honest;
  };
  plan.report().spill_bytes += 1;
  refused_for("spill_bytes");
  OwnJudge own;
  const sluice::judge::Judge& judge = own.judge;
  sluice::judge::LeastCosts least = {};
  REQUIRE(sluice::judge::FindLeastCosts(judge, {}, &least) == sluice::Status::kOk);
  REQUIRE(least.cycles > 0);
  REQUIRE(least.cycles < honest.latency_cycles);
  plan.report().bound_latency_cycles = least.cycles + 1;
  refused_for("bound_latency_cycles");
  plan.report().bound_latency_cycles = honest.latency_cycles + 1;
  refused_for("bound_latency_cycles");
  plan.report().bound_latency_cycles = least.cycles;
  const double energy = least.energy_pj + static_cast<double>(least.cycles) *
                                              judge.hardware.leakage_pj_per_cycle;
  plan.report().bound_energy_pj = energy;
  CHECK(plan.Judge().message == "bounds without a certificate");
  plan.report().bound_energy_pj = 1.001 * energy;
  refused_for("bound_energy_pj");
  for (const double wrong : {-1.0, 1.001 * honest.energy_pj, 0.0 / 0.0}) {
    plan.report().bound_energy_pj = wrong;
    refused_for("bound_energy_pj");
  }
  plan.report().stop_reason = SLUICE_STOP_PROVED + 1;
  refused_for("stop_reason");
  plan.report().groups = honest.layers + 1;
  refused_for("groups");
}

}  // namespace
}  // namespace sluice_test
