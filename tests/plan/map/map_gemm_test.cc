// SPDX-License-Identifier: Apache-2.0
// A matrix product on machines so small that the best memories are known by hand.
#include "plan/map/map_gemm.h"

#include <doctest/doctest.h>

#include <string>

#include "support/read_graph.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

constexpr uint32_t kAll = 127;

// Registers of 16 PEs, two memories of 600 bytes one above the other, DRAM.
struct Chip : Machine {
  Chip(double lower_pj, double upper_pj) {
    AddLevel(8, 0.1, 0.1);
    levels.back().instances = 16;
    AddLevel(600, lower_pj, lower_pj);
    AddLevel(600, upper_pj, upper_pj);
    AddLevel(0, 10, 10);
    AddFanout(1, 16, kAll);
    hardware.mac_pj = 0.5;
    Finish();
  }
  Status Map(const GemmShape& shape, sluice_gemm_mapping_t* out) {
    Finish();
    return MapGemm({hardware, shape, options}, &memory, out, &diagnostic);
  }
  std::string why() const { return diagnostic.message; }
  Memory memory{sluice_test::Nouns::Allocator(), 0};
  sluice_gemm_options_t options = {};
  Diagnostic diagnostic = {};
};

const GemmShape kProduct = {{32, 16, 8}};

TEST_CASE("map gemm: of two middle memories the one that costs less is used") {
  Chip lower(1, 5), upper(5, 1);
  sluice_gemm_mapping_t a = {}, b = {};
  REQUIRE(lower.Map(kProduct, &a) == Status::kOk);
  CHECK(a.outer_level == 3);
  CHECK(a.middle_level == 1);
  CHECK(a.inner_level == 0);
  REQUIRE(upper.Map(kProduct, &b) == Status::kOk);
  CHECK(b.middle_level == 2);
  // Each mapping bypasses the other memory, so both machines give the same energy.
  CHECK(a.energy_pj == b.energy_pj);
  CHECK(a.proved == 1);
  CHECK(b.proved == 1);
  // The bound of the choice tried first is above the cost of the second one.
  CHECK(b.bound == b.objective);
}

TEST_CASE("map gemm: the sum of the parts, and words that are counted by hand") {
  Chip chip(1, 5);
  sluice_gemm_mapping_t m = {};
  chip.options.certify = 1;
  REQUIRE(chip.Map(kProduct, &m) == Status::kOk);
  CHECK(m.struct_size == sizeof m);
  CHECK(m.macs == 32 * 16 * 8);
  CHECK(m.pe_used == 16);
  CHECK(m.cycles == 32 * 16 * 8 / 16);
  CHECK(m.mac_pj == 0.5 * 32 * 16 * 8);
  CHECK(m.energy_pj == doctest::Approx(m.memory_pj[0] + m.memory_pj[1] +
                                       m.memory_pj[2] + m.mac_pj + m.leak_pj));
  CHECK(m.objective == doctest::Approx(m.energy_pj_per_mac));
  // Datum 2, the result, goes to DRAM once and is not read there.
  CHECK(m.writes[0][2] == 32 * 16);
  CHECK(m.reads[0][2] == 0);
  CHECK(m.certificate == SLUICE_CERTIFICATE_ACCEPTED);
  chip.options.certify = 0;
  REQUIRE(chip.Map(kProduct, &m) == Status::kOk);
  CHECK(m.certificate == SLUICE_CERTIFICATE_NONE);
}

TEST_CASE("map gemm: from a level in the middle, the levels above it cost nothing") {
  Chip chip(1, 5);
  sluice_gemm_mapping_t whole = {}, from = {};
  REQUIRE(chip.Map(kProduct, &whole) == Status::kOk);
  chip.options.from_level = 2;
  REQUIRE(chip.Map(kProduct, &from) == Status::kOk);
  CHECK(from.outer_level == 2);
  CHECK(from.middle_level == 1);
  CHECK(from.energy_pj < whole.energy_pj);
  chip.options.from_level = 9;
  CHECK(chip.Map(kProduct, &from) != Status::kOk);
}

TEST_CASE("map gemm: by energy, by time, and by their product") {
  Chip chip(1, 5);
  chip.options.at_most = 1;
  chip.hardware.leakage_pj_per_cycle = 0;
  const uint32_t objectives[] = {SLUICE_GEMM_ENERGY, SLUICE_GEMM_EDP,
                                 SLUICE_GEMM_LATENCY};
  sluice_gemm_mapping_t m[3] = {};
  for (int i = 0; i < 3; ++i) {
    chip.options.objective = objectives[i];
    REQUIRE(chip.Map({{12, 10, 7}}, &m[i]) == Status::kOk);
  }
  const auto product = [](const sluice_gemm_mapping_t& a) {
    return a.energy_pj * static_cast<double>(a.cycles);
  };
  CHECK(m[0].energy_pj <= m[1].energy_pj);
  CHECK(m[0].energy_pj <= m[2].energy_pj);
  CHECK(m[2].cycles <= m[0].cycles);
  CHECK(m[2].cycles <= m[1].cycles);
  CHECK(product(m[1]) <= product(m[0]));
  CHECK(product(m[1]) <= product(m[2]));
  CHECK(m[0].objective == doctest::Approx(m[0].energy_pj_per_mac));
  CHECK(m[1].objective ==
        doctest::Approx(m[1].energy_pj_per_mac / static_cast<double>(m[1].pe_used)));
}

TEST_CASE("map gemm: the assignment of factors is a mapping, and no better one") {
  Chip chip(1, 5);
  sluice_gemm_mapping_t exact = {}, cosa = {};
  chip.options.at_most = 1;
  REQUIRE(chip.Map(kProduct, &exact) == Status::kOk);
  chip.options.solver = SLUICE_GEMM_COSA;
  REQUIRE(chip.Map(kProduct, &cosa) == Status::kOk);
  CHECK(cosa.energy_pj >= exact.energy_pj);
  CHECK(cosa.pe_used <= 16);
  for (int d = 0; d < 3; ++d) {
    CHECK(kProduct.extent[d] % cosa.middle_tile[d] == 0);
    CHECK(cosa.middle_tile[d] % (cosa.spatial[d] * cosa.inner_tile[d]) == 0);
  }
  CHECK(cosa.certificate == SLUICE_CERTIFICATE_NONE);
}

TEST_CASE("map gemm: what no choice of memories can do is said of the last one") {
  Chip chip(1, 5);
  sluice_gemm_mapping_t m = {};
  CHECK(chip.Map({{7, 11, 13}}, &m) == Status::kInfeasible);  // no factor of 16
  CHECK(chip.Map({{0, 1, 1}}, &m) == Status::kBadInput);
  CHECK(chip.why() == "GEMM extent M is 0, must be 1 to 2147483648");
  const uint32_t cancelled = 1;
  chip.options.cancel = &cancelled;
  CHECK(chip.Map(kProduct, &m) == Status::kStopped);
  chip.options.cancel = nullptr;
  chip.options.solver = SLUICE_GEMM_COSA;
  chip.fanouts[0].may_unroll = DimBit(kDimC);
  CHECK(chip.Map(kProduct, &m) == Status::kUnsupported);
  CHECK(chip.why() == "the assignment of factors knows no limit of PEs along one axis");
  chip.fanouts[0].may_unroll = kAll;
  chip.levels[1].capacity_bytes = chip.levels[2].capacity_bytes = 2;
  CHECK(chip.Map(kProduct, &m) == Status::kUnsupported);
  CHECK(chip.why() ==
        "the assignment of factors needs a word per operand in the scratchpad");
}

}  // namespace
}  // namespace sluice
