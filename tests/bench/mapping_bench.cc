// SPDX-License-Identifier: Apache-2.0
// GEMM and factor mappers: CPU times, nodes, certificates, EDP per model (GOMA eq. 35).
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "solve/mapping/factor/factor_reference.h"
#include "solve/mapping/gemm/arena_memory.h"
#include "solve/mapping/gemm/gemm_claim.h"
#include "solve/mapping/gemm/reference.h"

namespace {

using namespace sluice;
using sluice_tests::ArenaMemory;
using sluice_tests::LlmGemm;

constexpr int kRuns = 3;  // the least of them counts

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Times {
  double sum = 0;
  double max = 0;
  int count = 0;
  void Add(double ms) {
    sum += ms;
    max = std::max(max, ms);
    ++count;
  }
  double mean() const { return count == 0 ? 0 : sum / count; }
};

// Extents with many divisors, or with few: where the search and the check of its proof
// take longest.
std::vector<LlmGemm> HardGemms() {
  std::vector<LlmGemm> gemms;
  for (const GemmShape& shape :
       {GemmShape{{720720, 720720, 720720}}, GemmShape{{5040, 55440, 27720}},
        GemmShape{{131072, 28672, 8192}}, GemmShape{{332640, 4096, 1}},
        GemmShape{{50257, 2047, 8191}}}) {
    LlmGemm gemm = {};
    gemm.shape = shape;
    gemms.push_back(gemm);
  }
  return gemms;
}

struct GemmRow {
  std::string shapes;
  std::string form;
  std::string pe;
  std::string objective;
  Times solve;
  Times certify;
  Times check;
  double nodes = 0;
  int64_t nodes_max = 0;
  int proved = 0;
  int accepted = 0;
  // What the certificate costs: it is written and checked.
  double proof_per_solve() const {
    return solve.sum == 0 ? 0 : (certify.sum + check.sum) / solve.sum;
  }
};

struct ModelEdp {
  std::string workload;
  std::string machine;
  double edp = 0;  // pJ cycles, sum over GEMMs by occurrence
};

// One GEMM: solved, certified, checked.
void RunGemm(const GemmShape& shape, const GemmMachine& machine,
             const GemmExactOptions& options, GemmRow* row, GemmSolution* solution) {
  ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  double best = 1e300;
  for (int run = 0; run < kRuns; ++run) {
    const double start = CpuMs();
    const Status status = SolveGemmExact({shape, machine, options}, &memory.arena,
                                         &budget, solution, &diagnostic);
    best = std::min(best, CpuMs() - start);
    if (status != Status::kOk) return;
  }
  row->solve.Add(best);
  row->proved += solution->proved ? 1 : 0;
  row->nodes += static_cast<double>(solution->nodes);
  row->nodes_max = std::max(row->nodes_max, solution->nodes);
  double start = CpuMs();
  GemmCertificate certificate;
  if (CertifyGemm({shape, machine, options}, *solution, &memory.arena, &budget,
                  &certificate, &diagnostic) != Status::kOk) {
    return;
  }
  row->certify.Add(CpuMs() - start);
  sluice_tests::GemmClaim claim =
      sluice_tests::ClaimOf(shape, machine, options, *solution, certificate);
  start = CpuMs();
  row->accepted += claim.Check(&memory.arena, &diagnostic) == Status::kOk ? 1 : 0;
  row->check.Add(CpuMs() - start);
}

GemmRow RunVariant(const std::map<std::string, GemmMachine>& templates,
                   const std::vector<LlmGemm>& gemms, const GemmExactOptions& options,
                   std::vector<ModelEdp>* edps) {
  GemmRow row;
  row.form = options.form == GemmForm::kReuse ? "reuse" : "paper";
  row.pe = options.pe_use == GemmPeUse::kExact ? "exact" : "atmost";
  row.objective = options.objective == GemmObjective::kEnergy ? "energy" : "edp";
  for (const auto& [name, machine] : templates) {
    for (const LlmGemm& gemm : gemms) {
      GemmSolution solution;
      RunGemm(gemm.shape, machine, options, &row, &solution);
      if (edps == nullptr) continue;
      if (edps->empty() || edps->back().workload != gemm.workload ||
          edps->back().machine != name) {
        edps->push_back({gemm.workload, name, 0});
      }
      edps->back().edp += static_cast<double>(gemm.occurrences) *
                          solution.cost.energy_pj *
                          static_cast<double>(solution.cost.cycles);
    }
  }
  return row;
}

struct FactorRow {
  Times solve;
  double labels = 0;
  int64_t labels_max = 0;
  int proved = 0;
  int listed = 0;
  int equal = 0;  // to the reference optimum, of those listed
  uint64_t peak_bytes = 0;
};

FactorRow RunFactors() {
  FactorRow row;
  ArenaMemory memory;
  const auto solve = [&memory](const FactorLayer& layer, FactorSolution* solution) {
    Budget budget;
    Diagnostic diagnostic = {};
    const double start = CpuMs();
    if (SolveFactorAssign({layer, sluice_tests::SimbaMachine(), FactorWeights()},
                          &memory.arena, &budget, solution,
                          &diagnostic) != Status::kOk) {
      solution->proved = false;
    }
    return CpuMs() - start;
  };
  for (const sluice_tests::NamedLayer& named : sluice_tests::CosaLayers()) {
    FactorSolution solution;
    double best = 1e300;
    for (int run = 0; run < kRuns; ++run) {
      best = std::min(best, solve(named.layer, &solution));
    }
    row.solve.Add(best);
    row.proved += solution.proved ? 1 : 0;
    row.labels += static_cast<double>(solution.labels);
    row.labels_max = std::max(row.labels_max, solution.labels);
  }
  for (const sluice_tests::CosaOptimum& optimum : sluice_tests::CosaOptima()) {
    FactorSolution solution;
    solve(optimum.layer, &solution);
    ++row.listed;
    // The file has four decimals.
    row.equal += std::fabs(solution.value.objective - optimum.objective) < 6e-5 ? 1 : 0;
  }
  row.peak_bytes = memory.memory.peak_bytes();
  return row;
}

void PrintTable(const std::vector<GemmRow>& rows, const std::vector<ModelEdp>& edps,
                const FactorRow& factors) {
  std::printf("GEMM, CPU ms per case (mean / max), least of %d runs\n", kRuns);
  std::printf("%-6s %-6s %-7s %-7s %5s  %17s %17s %17s %12s %7s %9s %12s\n", "shapes",
              "form", "PEs", "goal", "cases", "solve", "certify", "check", "nodes",
              "proved", "accepted", "proof/solve");
  for (const GemmRow& r : rows) {
    std::printf("%-6s %-6s %-7s %-7s %5d  %7.3f / %7.3f %7.3f / %7.3f %7.3f / %7.3f",
                r.shapes.c_str(), r.form.c_str(), r.pe.c_str(), r.objective.c_str(),
                r.solve.count, r.solve.mean(), r.solve.max, r.certify.mean(),
                r.certify.max, r.check.mean(), r.check.max);
    std::printf(" %5.1f /%5lld %7d %9d %12.2f\n", r.nodes / r.solve.count,
                static_cast<long long>(r.nodes_max), r.proved, r.accepted,
                r.proof_per_solve());
  }
  std::printf("\nEDP per model (pJ x cycles, PEs exact, energy, reuse form)\n");
  for (const ModelEdp& e : edps) {
    std::printf("%-22s %-13s %.6e\n", e.workload.c_str(), e.machine.c_str(), e.edp);
  }
  std::printf(
      "\nFactor assignment, %d layers: %.3f / %.3f ms CPU, labels %.0f / %lld, ",
      factors.solve.count, factors.solve.mean(), factors.solve.max,
      factors.labels / std::max(1, factors.solve.count),
      static_cast<long long>(factors.labels_max));
  std::printf("proved %d, equal to the reference %d of %d, peak %llu bytes\n",
              factors.proved, factors.equal, factors.listed,
              static_cast<unsigned long long>(factors.peak_bytes));
}

void PrintJson(const std::vector<GemmRow>& rows, const std::vector<ModelEdp>& edps,
               const FactorRow& factors) {
  nlohmann::json out;
  for (const GemmRow& r : rows) {
    out["gemm"].push_back({{"shapes", r.shapes},
                           {"form", r.form},
                           {"pe", r.pe},
                           {"objective", r.objective},
                           {"cases", r.solve.count},
                           {"solve_ms_mean", r.solve.mean()},
                           {"solve_ms_max", r.solve.max},
                           {"certify_ms_mean", r.certify.mean()},
                           {"certify_ms_max", r.certify.max},
                           {"check_ms_mean", r.check.mean()},
                           {"check_ms_max", r.check.max},
                           {"nodes_mean", r.nodes / std::max(1, r.solve.count)},
                           {"nodes_max", r.nodes_max},
                           {"proved", r.proved},
                           {"proof_per_solve", r.proof_per_solve()},
                           {"certificates_accepted", r.accepted}});
  }
  for (const ModelEdp& e : edps) {
    out["edp"].push_back(
        {{"workload", e.workload}, {"machine", e.machine}, {"edp_pj_cycles", e.edp}});
  }
  out["factor_assign"] = {
      {"layers", factors.solve.count},     {"solve_ms_mean", factors.solve.mean()},
      {"solve_ms_max", factors.solve.max}, {"labels_max", factors.labels_max},
      {"proved", factors.proved},          {"reference_layers", factors.listed},
      {"reference_equal", factors.equal},  {"peak_bytes", factors.peak_bytes}};
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace

int RunMappingBench(bool json) {
  const auto templates = sluice_tests::GemmTemplates();
  const std::vector<LlmGemm> gemms = sluice_tests::LlmGemms();
  if (templates.empty() || gemms.empty()) {
    std::fprintf(stderr, "skipped: no reference data (SLUICE_SHARED)\n");
    return 0;
  }
  const std::vector<LlmGemm> hard = HardGemms();
  std::vector<GemmRow> rows;
  std::vector<ModelEdp> edps;
  for (const GemmForm form : {GemmForm::kReuse, GemmForm::kPaper}) {
    for (int variant = 0; variant < 3; ++variant) {
      GemmExactOptions options;
      options.form = form;
      options.pe_use = variant == 0 ? GemmPeUse::kExact : GemmPeUse::kAtMost;
      options.objective =
          variant == 2 ? GemmObjective::kEnergyDelay : GemmObjective::kEnergy;
      rows.push_back(
          RunVariant(templates, gemms, options, rows.empty() ? &edps : nullptr));
      rows.back().shapes = "models";
      if (form == GemmForm::kPaper) continue;
      rows.push_back(RunVariant(templates, hard, options, nullptr));
      rows.back().shapes = "hard";
    }
  }
  const FactorRow factors = RunFactors();
  if (json) {
    PrintJson(rows, edps, factors);
  } else {
    PrintTable(rows, edps, factors);
  }
  bool good = factors.equal == factors.listed && factors.proved == factors.solve.count;
  for (const GemmRow& row : rows) {
    good = good && row.proved == row.accepted && row.proved == row.solve.count;
    if (row.shapes == "hard") continue;  // no split of some uses all PEs
    good = good && static_cast<size_t>(row.proved) == templates.size() * gemms.size();
  }
  return good ? 0 : 5;
}
