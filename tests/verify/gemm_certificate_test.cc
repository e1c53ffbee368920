// SPDX-License-Identifier: Apache-2.0
#include "verify/gemm_certificate.h"

#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/rng.h"
#include "solve/mapping/gemm/arena_memory.h"
#include "solve/mapping/gemm/gemm_claim.h"
#include "solve/mapping/gemm/reference.h"

namespace sluice {
namespace {

using sluice_tests::ArenaMemory;
using sluice_tests::ClaimOf;
using sluice_tests::GemmClaim;

constexpr GemmMachine kSmallMachine = {
    // 600 words, 12 words per PE, 16 PEs
    600, 12, 16, {0, 0, 0}, 64, 70, 5, 6, 1, 0.5, 0.25, 0, 0};

GemmClaim Claim(const GemmShape& shape, const GemmMachine& machine,
                const GemmExactOptions& options) {
  ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  GemmSolution solution;
  GemmCertificate certificate;
  REQUIRE(SolveGemmExact({shape, machine, options}, &memory.arena, &budget, &solution,
                         &diagnostic) == Status::kOk);
  REQUIRE(CertifyGemm({shape, machine, options}, solution, &memory.arena, &budget,
                      &certificate, &diagnostic) == Status::kOk);
  return ClaimOf(shape, machine, options, solution, certificate);
}

// The rule that a claim breaks; "" when it is accepted.
std::string Verdict(GemmClaim claim) {
  ArenaMemory memory;
  Diagnostic diagnostic = {};
  const Status status = claim.Check(&memory.arena, &diagnostic);
  if (status == Status::kOk) return "";
  if (status != Status::kRejected) return "status";
  return diagnostic.rule;
}

GemmExactOptions Variant(int i) {
  GemmExactOptions options;
  options.form = i % 2 == 0 ? GemmForm::kReuse : GemmForm::kPaper;
  options.pe_use = i / 2 % 2 == 0 ? GemmPeUse::kExact : GemmPeUse::kAtMost;
  options.objective = static_cast<GemmObjective>(i / 4 % 3);
  return options;
}

TEST_CASE("gemm_certificate accepts the proofs of random problems, all options") {
  Rng rng(5);
  const int64_t extents[] = {1, 7, 12, 16, 30, 36, 48, 64, 100};
  int tiles = 0;
  for (int i = 0; i < 240; ++i) {
    GemmShape shape;
    GemmMachine machine = kSmallMachine;
    for (int64_t& extent : shape.extent) extent = extents[rng.Below(9)];
    machine.middle_words = rng.Below(4000);
    machine.inner_words = rng.Below(40);
    machine.pe_count = 1 + rng.Below(3);
    machine.inner_read_pj = 0.125 * rng.Below(8);
    machine.inner_write_pj = 0.125 * rng.Below(8);
    machine.middle_leak_pj = rng.Below(3);
    if (rng.Below(2) == 0) machine.fanout_limit[rng.Below(3)] = 1 + rng.Below(3);
    ArenaMemory memory;
    Budget budget;
    Diagnostic diagnostic = {};
    GemmSolution solution;
    const Status status = SolveGemmExact({shape, machine, Variant(i)}, &memory.arena,
                                         &budget, &solution, &diagnostic);
    if (status == Status::kInfeasible) continue;
    GemmClaim claim = Claim(shape, machine, Variant(i));
    tiles += claim.tiles.empty() ? 0 : 1;
    CAPTURE(i);
    CHECK(Verdict(claim) == "");
  }
  CHECK(tiles > 20);
}

TEST_CASE("gemm_certificate accepts proofs on memories that cost nothing") {
  for (uint32_t free = 0; free < 128; ++free) {
    CAPTURE(free);
    GemmMachine machine = {165888, 424,   256,   {0, 0, 0}, 64, 64, 4.56,
                           4.56,   0.498, 0.498, 0.25,      0,  0};
    double* const pj[] = {&machine.outer_read_pj,  &machine.outer_write_pj,
                          &machine.middle_read_pj, &machine.middle_write_pj,
                          &machine.inner_read_pj,  &machine.inner_write_pj,
                          &machine.mac_pj};
    for (uint32_t i = 0; i < 7; ++i) {
      if ((free >> i & 1) != 0) *pj[i] = 0;
    }
    GemmExactOptions options;
    options.pe_use = GemmPeUse::kAtMost;
    options.objective =
        free % 3 == 0 ? GemmObjective::kEnergyDelay : GemmObjective::kEnergy;
    CHECK(Verdict(Claim({{64, 32, 48}}, machine, options)) == "");
  }
}

TEST_CASE("gemm_certificate rejects another mapping, legal or not") {
  const GemmShape shape = {{48, 36, 64}};
  for (int i = 0; i < 12; ++i) {
    CAPTURE(i);
    const GemmClaim good = Claim(shape, kSmallMachine, Variant(i));
    REQUIRE(Verdict(good) == "");
    GemmClaim bad = good;
    bad.gemm.middle_tile[0] = 5;
    CHECK(Verdict(bad) == "mapping");
    bad = good;
    bad.gemm.middle_holds = 7;
    bad.gemm.middle_tile[0] = 48;
    bad.gemm.middle_tile[1] = 36;
    bad.gemm.middle_tile[2] = 64;
    CHECK(Verdict(bad) == "mapping");
    bad = good;
    bad.gemm.pe_count = 15;
    CHECK(Verdict(bad) == "mapping");
    bad = good;
    bad.gemm.inner_holds = 0;  // legal, costs something else
    CHECK(Verdict(bad) == "value");
    bad = good;
    bad.gemm.value *= 0.999;
    CHECK(Verdict(bad) == "value");
  }
}

// A legal mapping that is not the best, claimed with its true cost.
TEST_CASE("gemm_certificate rejects the proof of a mapping that is not optimal") {
  const GemmShape shape = {{48, 36, 64}};
  for (int i = 0; i < 12; ++i) {
    CAPTURE(i);
    const GemmExactOptions options = Variant(i);
    GemmMachine half = kSmallMachine;
    half.middle_words = 150;
    GemmClaim claim = Claim(shape, half, options);
    REQUIRE(Verdict(claim) == "");
    // The same mapping and proof on the machine with more words: the bounds are too
    // high.
    claim.gemm.middle_words = kSmallMachine.middle_words;
    CHECK(Verdict(claim) != "");
    // The larger machine's proof with the worse mapping: its bounds do not reach the
    // cost.
    GemmClaim real = Claim(shape, kSmallMachine, options);
    REQUIRE(real.gemm.value < claim.gemm.value * 0.999);
    std::swap(real.gemm, claim.gemm);
    CHECK(Verdict(real) != "");
  }
}

TEST_CASE("gemm_certificate rejects every single bound raised and every line removed") {
  const GemmShape shape = {{48, 36, 64}};
  for (int i = 0; i < 12; ++i) {
    CAPTURE(i);
    const GemmClaim good = Claim(shape, kSmallMachine, Variant(i));
    for (size_t b = 0; b < good.branches.size(); ++b) {
      GemmClaim bad = good;
      bad.branches.erase(bad.branches.begin() + static_cast<long>(b));
      CHECK(Verdict(bad) == "branch");
      if (good.branches[b].bound == __builtin_huge_val()) continue;
      bad = good;
      bad.branches[b].bound *= 10;  // above the least sum over all splits
      CHECK(Verdict(bad) == "bound");
    }
    for (size_t s = 0; s < good.splits.size(); ++s) {
      if (good.splits[s].bound == __builtin_huge_val()) continue;
      GemmClaim bad = good;
      bad.splits[s].bound *= 1.001;
      CHECK(Verdict(bad) == "bound");
    }
    for (size_t t = 0; t < good.tiles.size(); ++t) {
      if (good.tiles[t].bound == __builtin_huge_val()) continue;
      GemmClaim bad = good;
      bad.tiles[t].bound *= 1.001;
      CHECK(Verdict(bad) == "bound");
      bad = good;
      bad.tiles[t].bound = good.gemm.value * 0.99;
      CHECK(Verdict(bad) == "tile");
      bad = good;
      bad.tiles[t].inner_tile[0] += 1;
      CHECK(Verdict(bad) == "tile");
    }
  }
}

TEST_CASE("gemm_certificate rejects missing splits and left-over lines") {
  const GemmShape shape = {{48, 36, 64}};
  for (int i = 0; i < 12; ++i) {
    CAPTURE(i);
    const GemmClaim good = Claim(shape, kSmallMachine, Variant(i));
    size_t split = 0;
    size_t tile = 0;
    for (size_t b = 0; b < good.branches.size(); ++b) {
      for (uint32_t n = 0; n < good.branches[b].split_count; ++n, ++split) {
        GemmClaim bad = good;
        --bad.branches[b].split_count;
        bad.splits.erase(bad.splits.begin() + static_cast<long>(split));
        const long first = static_cast<long>(tile);
        const uint32_t count = good.splits[split].tile_count;
        bad.tiles.erase(bad.tiles.begin() + first, bad.tiles.begin() + first + count);
        CHECK(Verdict(bad) == "split");
        tile += count;
      }
    }
    REQUIRE(split == good.splits.size());
    GemmClaim bad = good;
    bad.splits.push_back(ClaimedSplit{{1, 1, 1}, 0, 0});
    CHECK(Verdict(bad) == "excess");
    bad = good;
    bad.branches.push_back(bad.branches[0]);
    CHECK(Verdict(bad) == "excess");
    bad = good;
    bad.branches[0].split_count = 0xffffffffu;
    CHECK(Verdict(bad) != "");
    // One line more than there are, behind the last ones that there are.
    for (bad = good; !bad.splits.empty() && bad.splits.back().tile_count == 0;) {
      bad.splits.pop_back();
    }
    if (!bad.splits.empty()) {
      const size_t last = bad.splits.size() - 1;
      bad = good;
      ++bad.splits[last].tile_count;
      CHECK(Verdict(bad) == "tile");
    }
    for (size_t b = good.branches.size(); b-- > 0;) {
      if (good.branches[b].split_count == 0) continue;
      bad = good;
      ++bad.branches[b].split_count;
      CHECK(Verdict(bad) == "split");
      break;
    }
  }
}

TEST_CASE("gemm_certificate accepts the language model layers on all templates") {
  const auto templates = sluice_tests::GemmTemplates();
  const auto gemms = sluice_tests::LlmGemms();
  if (templates.empty() || gemms.empty()) {
    MESSAGE("skipped: no reference/goma/workloads.json");
    return;
  }
  CHECK(gemms.size() == 96);
  int accepted = 0;
  for (const auto& t : templates) {
    for (size_t g = 0; g < gemms.size(); ++g) {
      for (int form = 0; form < 2; ++form) {
        GemmExactOptions options;
        options.form = static_cast<GemmForm>(form);
        accepted += Verdict(Claim(gemms[g].shape, t.second, options)).empty() ? 1 : 0;
      }
    }
  }
  CHECK(accepted == 768);
}

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) +
         1e-6 * static_cast<double>(now.tv_nsec);
}

// Extents with as many divisors as there are: loops over all of them take seconds.
TEST_CASE("gemm_certificate is checked in a few times what the solve takes") {
  const GemmShape shape = {{720720, 720720, 720720}};
  const GemmMachine machine = {165888, 424,   256,   {0, 0, 0}, 64, 64, 4.56,
                               4.56,   0.498, 0.498, 0.25,      0,  0};
  for (int i = 0; i < 2; ++i) {
    GemmExactOptions options;
    options.pe_use = i == 0 ? GemmPeUse::kAtMost : GemmPeUse::kExact;
    ArenaMemory memory;
    Budget budget;
    Diagnostic diagnostic = {};
    GemmSolution solution;
    GemmClaim claim = Claim(shape, machine, options);
    double solve = 1e9, check = 1e9;
    for (int run = 0; run < 5; ++run) {
      const double start = CpuMs();
      CHECK(SolveGemmExact({shape, machine, options}, &memory.arena, &budget, &solution,
                           &diagnostic) == Status::kOk);
      const double solved = CpuMs();
      CHECK(claim.Check(&memory.arena, &diagnostic) == Status::kOk);
      solve = std::min(solve, solved - start);
      check = std::min(check, CpuMs() - solved);
    }
    MESSAGE("solve " << solve << " ms, check " << check << " ms");
#ifdef NDEBUG  // as the library is shipped
    CHECK(check < 4 * solve);
#endif
  }
}

// What closes a line is a bound that reaches the claimed value, less rounding.
TEST_CASE("gemm_certificate accepts bounds that just close their line") {
  const GemmShape shape = {{48, 36, 64}};
  int tiles = 0, splits = 0;
  for (int i = 0; i < 12; ++i) {
    CAPTURE(i);
    const GemmClaim good = Claim(shape, kSmallMachine, Variant(i));
    const double closed = good.gemm.value * (1 - 1e-12);
    const double open = closed * (1 - 1e-12);
    for (size_t t = 0; t < good.tiles.size(); ++t, ++tiles) {
      GemmClaim just = good;
      just.tiles[t].bound = closed;
      CHECK(Verdict(just) == "");
      just.tiles[t].bound = open;
      CHECK(Verdict(just) == "tile");
    }
    for (size_t s = 0; s < good.splits.size(); ++s) {
      if (good.splits[s].tile_count != 0) continue;
      GemmClaim just = good;
      just.splits[s].bound = closed;
      CHECK(Verdict(just) == "");
      ++splits;
    }
  }
  CHECK(tiles > 0);
  CHECK(splits > 0);
}

}  // namespace
}  // namespace sluice
