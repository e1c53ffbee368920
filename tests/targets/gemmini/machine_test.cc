// SPDX-License-Identifier: Apache-2.0
// The model by itself: what each command does, what is refused, what is kept back.
#include "targets/gemmini/machine.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

namespace gemmini_model {
namespace {

constexpr uint64_t kOne = uint64_t{0x3f800000u} << 32;
constexpr uint64_t kStrideC = uint64_t{1} << 48;  // of config_ex
constexpr uint32_t kSums = 0x80000000u, kAdd = 0x40000000u, kWide = 0x20000000u;

uint64_t Local(uint32_t address, uint64_t columns, uint64_t rows) {
  return address | columns << 32 | rows << 48;
}

// A machine whose three kinds of transfers are configured; DRAM holds 0, 1, 2, ...
Machine Configured(Late late, uint64_t stride = 16) {
  Machine m(4096, late);
  for (size_t i = 0; i < 512; ++i) m.dram()[i] = static_cast<uint8_t>(i % 100);
  CHECK(m.Step(0, 4 | 1 << 16 | kOne, kStrideC).empty());
  for (uint64_t which = 0; which < 3; ++which) {
    CHECK(m.Step(0, 1 | which << 3 | 16 << 16 | kOne, stride).empty());
  }
  CHECK(m.Step(0, 2, 64 | kOne).empty());
  return m;
}

// A (2 x 3) at row 0 times B (3 x 2) at row 16 into sums 0.
std::string Multiply(Machine* m, uint32_t flags) {
  std::string error = m->Step(2, 200, Local(0, 3, 2));
  if (error.empty()) error = m->Step(1, 64, Local(16, 2, 3));
  if (error.empty()) error = m->Step(6, Local(16, 2, 3), Local(kSums | flags, 2, 2));
  if (error.empty()) error = m->Step(4, Local(0, 3, 2), Local(0xffffffffu, 2, 2));
  return error;
}

int32_t Int(Machine* m, size_t at) {
  int32_t value;
  std::memcpy(&value, &m->dram()[at], 4);
  return value;
}

}  // namespace

TEST_CASE("targets: a product is what it is by hand, and adds") {
  Machine m = Configured(Late::kNothing);
  REQUIRE(Multiply(&m, 0) == "");
  REQUIRE(Multiply(&m, kAdd) == "");
  REQUIRE(m.Step(3, 1024, Local(kSums | kWide, 2, 2)) == "");
  // Rows of A: 0 1 2, 16 17 18; of B: 64 65, 80 81, 96 97.
  CHECK(Int(&m, 1024) == 2 * (80 + 2 * 96));
  CHECK(Int(&m, 1028) == 2 * (81 + 2 * 97));
  CHECK(Int(&m, 1088) == 2 * (16 * 64 + 17 * 80 + 18 * -4 + 18 * 100));
}

// B has a row per output channel; the preload tells its extents as the product has them.
TEST_CASE("targets: a product with transposed weights is what it is by hand") {
  Machine m = Configured(Late::kNothing);
  REQUIRE(m.Step(0, 4 | 1 << 9 | 1 << 16 | kOne, kStrideC) == "");
  REQUIRE(m.Step(2, 200, Local(0, 3, 2)) == "");
  REQUIRE(m.Step(1, 64, Local(16, 3, 2)) == "");
  REQUIRE(m.Step(6, Local(16, 2, 3), Local(kSums, 2, 2)) == "");
  REQUIRE(m.Step(4, Local(0, 3, 2), Local(0xffffffffu, 2, 2)) == "");
  REQUIRE(m.Step(3, 1024, Local(kSums | kWide, 2, 2)) == "");
  CHECK(Int(&m, 1024) == 65 + 2 * 66);
  CHECK(Int(&m, 1028) == 81 + 2 * 82);
  REQUIRE(m.Step(6, Local(16, 3, 2), Local(kSums, 2, 2)) == "");
  CHECK(m.Step(4, Local(0, 3, 2), Local(0xffffffffu, 2, 2)) ==
        "preload: a cell that nothing wrote");
}

TEST_CASE("targets: sums leave as bytes, scaled, to nearest even") {
  Machine m = Configured(Late::kNothing);
  REQUIRE(Multiply(&m, 0) == "");  // 272 275 6880 - 6880 ...
  const auto scaled = [&](uint64_t relu, float scale, uint32_t row) {
    uint32_t bits;
    std::memcpy(&bits, &scale, 4);
    CHECK(m.Step(0, 2 | relu << 2, uint64_t{bits} << 32 | 64) == "");
    CHECK(m.Step(3, 1024, Local(kSums | row, 2, 1)) == "");
    return std::array<int, 2>{static_cast<int8_t>(m.dram()[1024]),
                              static_cast<int8_t>(m.dram()[1025])};
  };
  CHECK(scaled(0, 1.0f / 64, 0) == std::array<int, 2>{4, 4});  // 4.25, 4.30
  CHECK(scaled(0, 1.0f / 32, 0) == std::array<int, 2>{8, 9});  // 8.5, 8.59
  CHECK(scaled(0, 1.0f, 0) == std::array<int, 2>{127, 127});   // no room
  CHECK(m.Step(0, 2, 64) == "config_mvout: the scale is not above 0");
}

TEST_CASE("targets: what nothing wrote cannot be read") {
  Machine m = Configured(Late::kNothing);
  CHECK(Multiply(&m, kAdd) == "compute: adds to a cell that nothing wrote");
  m = Configured(Late::kNothing);
  REQUIRE(Multiply(&m, 0) == "");
  CHECK(m.Step(3, 1024, Local(kSums | kWide, 3, 2)) ==
        "mvout: a cell that nothing wrote");
  CHECK(m.Step(3, 1024, Local(kSums | kWide, 2, 3)) ==
        "mvout: a cell that nothing wrote");
  CHECK(m.Step(3, 1024, Local(7, 2, 1)) == "mvout: a cell that nothing wrote");
  CHECK(m.Step(4, Local(0, 3, 2), Local(0xffffffffu, 2, 2)) ==
        "compute: nothing was preloaded");
  REQUIRE(m.Step(6, Local(16, 2, 3), Local(kSums, 2, 2)) == "");
  CHECK(m.Step(4, Local(0, 4, 2), Local(0xffffffffu, 2, 2)) ==
        "compute: a cell of A that nothing wrote");
}

TEST_CASE("targets: illegal addresses, strides and sizes are refused") {
  const struct {
    uint32_t funct;
    uint64_t rs1, rs2;
  } bad[] = {{2, 64, Local(0, 16, 17)},
             {2, 0, Local(0, 16, 1)},
             {2, 64, Local(0, 65, 1)},
             {2, 64, Local(kRows - 1, 16, 2)},
             {2, 4090, Local(0, 16, 1)},
             {2, 64, Local(kSums, 17, 1)},
             {2, 64, Local(kSums | 1023, 4, 2)},
             {2, 66, Local(kSums, 4, 1)},
             {2, 64, Local(0, 0, 1)},
             {3, 64, Local(0, 17, 1)},
             {6, Local(0, 17, 1), 0},
             {9, 0, 0},
             {0, 4 | kOne, kStrideC},
             {0, 4 | 1 << 16, kStrideC},
             {0, 4 | 1 << 16 | kOne, 0},
             {0, 1 | 3 << 3 | kOne, 0},
             {0, 3, 0}};
  for (const auto& b : bad) {
    Machine m = Configured(Late::kNothing);
    CHECK(m.Step(b.funct, b.rs1, b.rs2) != "");
  }
  Machine fresh(64, Late::kNothing);
  CHECK(fresh.Step(2, 64, Local(0, 1, 1)) == "mvin: not configured");
  CHECK(fresh.Step(3, 0, Local(0, 1, 1)) == "mvout: not configured");
}

TEST_CASE("targets: loads and stores happen late where only a fence orders them") {
  // A store that is kept back has not happened when a load reads its bytes.
  Machine m = Configured(Late::kStores);
  REQUIRE(Multiply(&m, 0) == "");
  REQUIRE(m.Step(3, 1024, Local(kSums | kWide, 2, 2)) == "");
  CHECK(Int(&m, 1024) == 0);
  REQUIRE(m.Step(2, 1024, Local(100, 1, 1)) == "");
  REQUIRE(m.Fence() == "");
  CHECK(Int(&m, 1024) != 0);
  // A load that is kept back reads what was stored behind it; a product orders it.
  m = Configured(Late::kLoads);
  REQUIRE(m.Step(2, 64, Local(200, 1, 1)) == "");
  m.dram()[64] = 77;
  REQUIRE(m.Step(3, 2048, Local(200, 1, 1)) == "");
  CHECK(m.dram()[2048] == 77);
}

}  // namespace gemmini_model
