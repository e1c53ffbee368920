// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/rng.h"
#include "solve/mapping/gemm/arena_memory.h"
#include "solve/mapping/gemm/random_gemm.h"
#include "solve/mapping/gemm/reference.h"

namespace sluice {
namespace {

using sluice_tests::ArenaMemory;
using sluice_tests::Int;
using sluice_tests::Real;
using sluice_tests::Row;

constexpr double kInfinity = __builtin_huge_val();

Status Solve(const GemmShape& shape, const GemmMachine& machine,
             const GemmExactOptions& options, GemmSolution* solution) {
  ArenaMemory memory;
  Diagnostic diagnostic;
  Budget budget;
  return SolveGemmExact({shape, machine, options}, &memory.arena, &budget, solution,
                        &diagnostic);
}

GemmExactOptions OptionsOf(GemmForm form, const std::string& variant) {
  GemmExactOptions options;
  options.form = form;
  options.pe_use = variant == "eq" ? GemmPeUse::kExact : GemmPeUse::kAtMost;
  options.objective =
      variant == "le_edp" ? GemmObjective::kEnergyDelay : GemmObjective::kEnergy;
  return options;
}

bool IsLegal(const GemmShape& shape, const GemmMachine& machine,
             const GemmMapping& mapping) {
  Diagnostic diagnostic;
  return CheckGemmMapping(shape, machine, mapping, &diagnostic) == Status::kOk;
}

double RelativeError(double got, double want) { return std::fabs(got - want) / want; }

TEST_CASE("gemm_exact with the paper's form equals every row of the reference optima") {
  const std::vector<Row> rows = sluice_tests::ReadCsv("reference/goma/optima.csv");
  const auto templates = sluice_tests::GemmTemplates();
  if (rows.empty() || templates.empty()) {
    MESSAGE("skipped: no reference/goma/optima.csv");
    return;
  }
  CHECK(rows.size() == 96);
  for (const Row& row : rows) {
    const GemmShape shape = sluice_tests::ShapeOf(row);
    const GemmMachine& machine = templates.at(row.at("hw"));
    const std::string variant = row.at("variant");
    GemmSolution paper;
    REQUIRE(Solve(shape, machine, OptionsOf(GemmForm::kPaper, variant), &paper) ==
            Status::kOk);
    CAPTURE(row.at("workload"));
    CAPTURE(row.at("hw"));
    CAPTURE(row.at("gemm"));
    CAPTURE(variant);
    CHECK(paper.proved);
    CHECK(IsLegal(shape, machine, paper.mapping));
    // The table has nine digits.
    const double edp = paper.cost.energy_pj * static_cast<double>(paper.cost.cycles);
    if (variant == "le_edp") {
      CHECK(RelativeError(edp, Real(row, "EDP_pJcycles")) < 1e-8);
    } else {
      CHECK(RelativeError(paper.cost.energy_pj_per_mac,
                          Real(row, "E_norm_pJ_per_MAC")) < 1e-8);
    }
    if (variant == "eq") CHECK(paper.cost.pe_used == machine.pe_count);
    // For these GEMMs both forms are known to have the same optimum.
    GemmSolution reuse;
    REQUIRE(Solve(shape, machine, OptionsOf(GemmForm::kReuse, variant), &reuse) ==
            Status::kOk);
    CHECK(RelativeError(reuse.objective, paper.objective) < 1e-11);
  }
}

TEST_CASE("gemm_exact equals full enumeration on the tiny reference instances") {
  const std::vector<Row> rows =
      sluice_tests::ReadCsv("reference/goma/tiny_vectors.csv");
  if (rows.empty()) {
    MESSAGE("skipped: no reference/goma/tiny_vectors.csv");
    return;
  }
  CHECK(rows.size() == 40);
  int reuse_is_better = 0;
  int infeasible = 0;
  for (const Row& row : rows) {
    const GemmShape shape = sluice_tests::ShapeOf(row);
    GemmMachine machine = {};
    machine.middle_words = Int(row, "C1");
    machine.inner_words = Int(row, "C3");
    machine.pe_count = Int(row, "num_pe");
    sluice_tests::ReadEnergies(row, &machine);
    GemmSolution eq;
    GemmSolution le;
    GemmSolution reuse;
    REQUIRE(Solve(shape, machine, OptionsOf(GemmForm::kPaper, "le_energy"), &le) ==
            Status::kOk);
    CHECK(RelativeError(le.objective, Real(row, "le_opt_E_norm")) < 1e-10);
    const Status status = Solve(shape, machine, OptionsOf(GemmForm::kPaper, "eq"), &eq);
    const Status again =
        Solve(shape, machine, OptionsOf(GemmForm::kReuse, "eq"), &reuse);
    if (Int(row, "eq_feasible_points") == 0) {
      CHECK(status == Status::kInfeasible);
      CHECK(again == Status::kInfeasible);
      ++infeasible;
      continue;
    }
    REQUIRE(status == Status::kOk);
    REQUIRE(again == Status::kOk);
    CHECK(RelativeError(eq.objective, Real(row, "eq_opt_E_norm")) < 1e-10);
    CHECK(RelativeError(reuse.objective, Real(row, "eq_opt_reuse_aware_E_norm")) <
          1e-10);
    reuse_is_better += reuse.objective < eq.objective * (1 - 1e-9) ? 1 : 0;
  }
  CHECK(reuse_is_better > 0);
  CHECK(infeasible > 0);
}

// The best of all mappings and loop orders, which the solver must equal.
struct BruteForce {
  const GemmShape& shape;
  const GemmMachine& machine;
  const GemmExactOptions& options;
  double best = kInfinity;
  int64_t most_pes = 0;

  double ValueOf(const GemmCost& cost) const {
    return options.objective == GemmObjective::kEnergyDelay
               ? cost.energy_pj_per_mac / static_cast<double>(cost.pe_used)
               : cost.energy_pj_per_mac;
  }

  bool Allowed(int64_t pes) {
    if (options.objective == GemmObjective::kDelay) {
      if (pes < most_pes) return false;
      if (pes > most_pes) best = kInfinity;
      most_pes = pes;
      return true;
    }
    return options.pe_use == GemmPeUse::kAtMost || pes == machine.pe_count;
  }

  void TryAll(GemmMapping* m) {
    if (!Allowed(m->spatial[0] * m->spatial[1] * m->spatial[2])) return;
    static const uint8_t kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (m->middle_holds = 0; m->middle_holds < 8; ++m->middle_holds) {
      if (GemmFootprint(m->middle_tile, m->middle_holds) > machine.middle_words)
        continue;
      for (m->inner_holds = 0; m->inner_holds < 8; ++m->inner_holds) {
        if (GemmFootprint(m->inner_tile, m->inner_holds) > machine.inner_words)
          continue;
        for (const auto& outer : kOrders) {
          for (const auto& middle : kOrders) {
            for (int i = 0; i < 3; ++i) {
              m->outer_order.axis[i] = outer[i];
              m->middle_order.axis[i] = middle[i];
            }
            const double value =
                ValueOf(EvaluateGemm(shape, machine, *m, options.form));
            best = value < best ? value : best;
          }
        }
      }
    }
  }

  // Tries all tiles of axes d to 2.
  void Axis(int d, GemmMapping* m, int64_t pes) {
    if (d == 3) {
      TryAll(m);
      return;
    }
    for (int64_t l1 = 1; l1 <= shape.extent[d]; ++l1) {
      if (shape.extent[d] % l1 != 0) continue;
      for (int64_t s = 1; s * pes <= machine.pe_count && s <= l1; ++s) {
        if (machine.fanout_limit[d] != 0 && s > machine.fanout_limit[d]) break;
        for (int64_t l3 = 1; s * l3 <= l1; ++l3) {
          if (l1 % (s * l3) != 0) continue;
          m->middle_tile[d] = l1;
          m->spatial[d] = s;
          m->inner_tile[d] = l3;
          Axis(d + 1, m, pes * s);
        }
      }
    }
  }
};

TEST_CASE("gemm_exact equals brute force over all mappings of random tiny problems") {
  Rng rng(11);
  int infeasible = 0;
  int limited = 0;
  for (int i = 0; i < 300; ++i) {
    GemmShape shape;
    GemmMachine machine = {};
    RandomGemm(&rng, &shape, &machine);
    for (const int64_t limit : machine.fanout_limit) limited += limit != 0 ? 1 : 0;
    GemmExactOptions options;
    options.form = i % 2 == 0 ? GemmForm::kReuse : GemmForm::kPaper;
    options.pe_use = rng.Below(2) == 0 ? GemmPeUse::kExact : GemmPeUse::kAtMost;
    options.objective = static_cast<GemmObjective>(rng.Below(3));
    BruteForce brute{shape, machine, options};
    GemmMapping scratch = {};
    brute.Axis(0, &scratch, 1);
    GemmSolution solution;
    const Status status = Solve(shape, machine, options, &solution);
    CAPTURE(i);
    if (brute.best == kInfinity) {
      ++infeasible;
      CHECK(status == Status::kInfeasible);
      continue;
    }
    REQUIRE(status == Status::kOk);
    CHECK(solution.proved);
    CHECK(IsLegal(shape, machine, solution.mapping));
    CHECK(std::fabs(solution.objective - brute.best) <= 1e-11 * brute.best);
  }
  CHECK(infeasible > 10);
  CHECK(limited > 100);
}

TEST_CASE("gemm_exact certifies what it has proved: open lines below closed ones") {
  Rng rng(12);
  int open_splits = 0;
  for (int i = 0; i < 100; ++i) {
    GemmShape shape;
    GemmMachine machine = {};
    RandomGemm(&rng, &shape, &machine);
    GemmExactOptions options;
    options.form = i % 2 == 0 ? GemmForm::kReuse : GemmForm::kPaper;
    options.pe_use = GemmPeUse::kAtMost;
    GemmSolution solution;
    REQUIRE(Solve(shape, machine, options, &solution) == Status::kOk);
    ArenaMemory memory;
    Budget budget;
    Diagnostic diagnostic = {};
    GemmCertificate proof;
    REQUIRE(CertifyGemm({shape, machine, options}, solution, &memory.arena, &budget,
                        &proof, &diagnostic) == Status::kOk);
    CHECK(proof.objective == solution.objective);
    CHECK(proof.branches.size() > 0);
    const double closed = solution.objective * (1 - 1e-12);
    size_t splits = 0, tiles = 0;
    for (const GemmProofBranch& branch : proof.branches) {
      CHECK((branch.bound < closed) == (branch.split_count > 0));
      for (uint32_t k = 0; k < branch.split_count; ++k) {
        REQUIRE(splits < proof.splits.size());
        const GemmProofSplit& split = proof.splits[splits++];
        CHECK((branch.kind == 0 || split.tile_count == 0));
        CHECK((split.bound >= closed || split.tile_count > 0));
        for (uint32_t t = 0; t < split.tile_count; ++t) {
          REQUIRE(tiles < proof.tiles.size());
          CHECK(proof.tiles[tiles++].bound >= closed);
        }
      }
    }
    CHECK(splits == proof.splits.size());
    CHECK(tiles == proof.tiles.size());
    open_splits += splits > 0;
    solution.proved = false;
    CHECK(CertifyGemm({shape, machine, options}, solution, &memory.arena, &budget,
                      &proof, &diagnostic) == Status::kBadArgument);
  }
  CHECK(open_splits > 10);
}

TEST_CASE("gemm_exact answers bad, extreme and infeasible problems with the numbers") {
  ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  GemmSolution solution;
  const GemmMachine good = {6000, 8, 16, {0, 0, 0}, 64, 64, 5, 5, 1, 1, 1, 0, 0};
  const auto solve = [&](const GemmShape& shape, const GemmMachine& machine,
                         GemmPeUse pe_use) {
    GemmExactOptions options;
    options.pe_use = pe_use;
    return SolveGemmExact({shape, machine, options}, &memory.arena, &budget, &solution,
                          &diagnostic);
  };
  const auto says = [&diagnostic](const char* text) {
    return std::string(diagnostic.message).find(text) != std::string::npos;
  };
  CHECK(solve({{0, 8, 8}}, good, GemmPeUse::kExact) == Status::kBadInput);
  CHECK(says("extent M is 0"));
  CHECK(solve({{8, 8, -3}}, good, GemmPeUse::kExact) == Status::kBadInput);
  CHECK(says("extent K is -3"));
  GemmMachine machine = good;
  machine.middle_words = -1;
  CHECK(solve({{8, 8, 8}}, machine, GemmPeUse::kExact) == Status::kBadInput);
  CHECK(says("-1 middle words"));
  machine = good;
  machine.pe_count = 0;
  CHECK(solve({{8, 8, 8}}, machine, GemmPeUse::kExact) == Status::kBadInput);

  // Memories too small for one word of each datum: data that do not fit bypass them.
  machine = good;
  machine.middle_words = machine.inner_words = 0;
  CHECK(solve({{8, 8, 8}}, machine, GemmPeUse::kExact) == Status::kOk);
  CHECK(solution.mapping.middle_holds == 0);
  CHECK(solution.mapping.inner_holds == 0);

  CHECK(solve({{1, 1, 1}}, good, GemmPeUse::kExact) == Status::kInfeasible);
  CHECK(says("exactly 16 PEs"));
  CHECK(solve({{1, 1, 1}}, good, GemmPeUse::kAtMost) == Status::kOk);
  CHECK(solution.cost.pe_used == 1);
  CHECK(solve({{7, 11, 13}}, good, GemmPeUse::kExact) == Status::kInfeasible);
  CHECK(solve({{7, 11, 13}}, good, GemmPeUse::kAtMost) == Status::kOk);
  CHECK(solution.proved);
  machine = good;
  for (int64_t& limit : machine.fanout_limit) limit = 1;
  CHECK(solve({{8, 8, 8}}, machine, GemmPeUse::kExact) == Status::kInfeasible);
  CHECK(solve({{8, 8, 8}}, machine, GemmPeUse::kAtMost) == Status::kOk);
  CHECK(solution.cost.pe_used == 1);

  const int64_t big = int64_t{1} << 31;
  CHECK(solve({{big, 1, 4}}, good, GemmPeUse::kExact) == Status::kOk);
  CHECK(solve({{2147483647, 1, 16}}, good, GemmPeUse::kExact) == Status::kOk);
  CHECK(solve({{big, big, 2}}, good, GemmPeUse::kExact) == Status::kBadInput);
  CHECK(says("2147483648 x 2147483648 x 2"));
}

TEST_CASE("gemm_exact obeys its budget and its memory, and repeats itself") {
  const GemmShape shape = {{3600, 5040, 2520}};
  const GemmMachine machine = {200000, 200, 240, {0, 0, 0}, 64, 60, 5,
                               6,      1,   1,   1,         0,  0};
  GemmExactOptions options;
  options.pe_use = GemmPeUse::kAtMost;
  Diagnostic diagnostic = {};
  ArenaMemory memory;
  GemmSolution full;
  Budget unlimited;
  REQUIRE(SolveGemmExact({shape, machine, options}, &memory.arena, &unlimited, &full,
                         &diagnostic) == Status::kOk);
  CHECK(full.proved);
  CHECK(full.lower_bound == full.objective);
  GemmSolution again;
  REQUIRE(SolveGemmExact({shape, machine, options}, &memory.arena, &unlimited, &again,
                         &diagnostic) == Status::kOk);
  CHECK(again.nodes == full.nodes);
  CHECK(again.objective == full.objective);

  const uint32_t cancelled = 1;
  Budget cancel({}, 0, 0, &cancelled);
  GemmSolution none;
  CHECK(SolveGemmExact({shape, machine, options}, &memory.arena, &cancel, &none,
                       &diagnostic) == Status::kStopped);
  // Wherever the search is stopped, its result is legal and has a bound.
  int early = 0;
  for (uint64_t ns = 2000; ns < 2000000; ns = ns * 3 / 2) {
    Budget budget({}, ns, 0, nullptr);
    GemmSolution some;
    const Status status = SolveGemmExact({shape, machine, options}, &memory.arena,
                                         &budget, &some, &diagnostic);
    if (status == Status::kStopped) continue;
    REQUIRE(status == Status::kOk);
    CHECK(IsLegal(shape, machine, some.mapping));
    CHECK(some.lower_bound <= full.objective * (1 + 1e-12));
    CHECK(some.objective >= full.objective * (1 - 1e-12));
    early += some.proved ? 0 : 1;
  }
  MESSAGE("stopped early with a mapping: ", early);

  for (uint64_t cap = 1000; cap < 300000; cap *= 2) {
    ArenaMemory small(cap);
    GemmSolution some;
    const Status status = SolveGemmExact({shape, machine, options}, &small.arena,
                                         &unlimited, &some, &diagnostic);
    CHECK((status == Status::kOk || status == Status::kOutOfMemory));
    CHECK(small.memory.peak_bytes() <= cap);
  }
}

}  // namespace
}  // namespace sluice
