// SPDX-License-Identifier: Apache-2.0
#include "model/gemm_cost.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "solve/mapping/gemm/reference.h"

namespace sluice {
namespace {

using sluice_tests::Int;
using sluice_tests::Mask;
using sluice_tests::Order;
using sluice_tests::Real;
using sluice_tests::Row;

GemmMapping MappingOf(const Row& row) {
  GemmMapping m = {};
  const char* letters[] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d) {
    m.middle_tile[d] = Int(row, std::string("L1") + letters[d]);
    m.inner_tile[d] = Int(row, std::string("L3") + letters[d]);
    m.spatial[d] = Int(row, std::string("L2") + letters[d]) / m.inner_tile[d];
  }
  m.outer_order = Order(row.at("perm01_in_to_out"));
  m.middle_order = Order(row.at("perm12_in_to_out"));
  m.middle_holds = Mask(row.at("B1xyz"));
  m.inner_holds = Mask(row.at("B3xyz"));
  return m;
}

TEST_CASE("gemm_cost equals timeloop-model and the paper's formula on every vector") {
  const std::vector<Row> rows =
      sluice_tests::ReadCsv("reference/goma/timeloop_energy_vectors.csv");
  if (rows.empty()) {
    MESSAGE("skipped: no reference/goma/timeloop_energy_vectors.csv");
    return;
  }
  CHECK(rows.size() == 200);
  double worst_reuse = 0;
  double worst_paper = 0;
  for (const Row& row : rows) {
    GemmMachine machine = {};
    machine.middle_words = machine.inner_words = int64_t{1} << 40;
    machine.pe_count = 1 << 20;
    sluice_tests::ReadEnergies(row, &machine);
    const GemmShape shape = sluice_tests::ShapeOf(row);
    const GemmMapping mapping = MappingOf(row);
    Diagnostic diagnostic = {};
    REQUIRE(CheckGemmMapping(shape, machine, mapping, &diagnostic) == Status::kOk);
    const double timeloop = Real(row, "timeloop_total_pJ");
    const double paper = Real(row, "goma_formula_pJ");
    const GemmCost reuse = EvaluateGemm(shape, machine, mapping, GemmForm::kReuse);
    const GemmCost text = EvaluateGemm(shape, machine, mapping, GemmForm::kPaper);
    worst_reuse =
        std::fmax(worst_reuse, std::fabs(reuse.energy_pj - timeloop) / timeloop);
    worst_paper = std::fmax(worst_paper, std::fabs(text.energy_pj - paper) / paper);
  }
  MESSAGE("worst relative error: reuse ", worst_reuse, ", paper ", worst_paper);
  CHECK(worst_reuse < 1e-9);
  CHECK(worst_paper < 1e-9);
}

// Walks the nest itself, one step per temporal iteration. A memory fetches a datum
// again when it needs another block of the datum than the one it has.
struct Walker {
  const GemmShape& shape;
  const GemmMapping& m;
  GemmAccess access = {};
  int64_t middle_block[3] = {-1, -1, -1};
  int64_t inner_block[3] = {-1, -1, -1};
  // Blocks of P already seen by the middle memory, the inner memory and the MACs.
  std::vector<char> seen_blocks[3] = {};

  int64_t Face(const int64_t tile[3], int d) const {
    return tile[(d + 1) % 3] * tile[(d + 2) % 3];
  }

  void Step(const int64_t outer[3], const int64_t middle[3]) {
    int64_t array[3];
    int64_t trips[3];
    int64_t pes = 1;
    for (int d = 0; d < 3; ++d) {
      array[d] = m.spatial[d] * m.inner_tile[d];
      trips[d] = m.middle_tile[d] / array[d];
      pes *= m.spatial[d];
    }
    for (int d = 0; d < 3; ++d) {
      const int e = (d + 1) % 3;
      const int f = (d + 2) % 3;
      const bool in_middle = (m.middle_holds >> d & 1) != 0;
      const bool in_inner = (m.inner_holds >> d & 1) != 0;
      const int source = in_middle ? 1 : 0;
      const int64_t block1 = outer[e] * (shape.extent[f] / m.middle_tile[f]) + outer[f];
      const int64_t at_e = outer[e] * trips[e] + middle[e];
      const int64_t at_f = outer[f] * trips[f] + middle[f];
      const int64_t block3 = at_e * (shape.extent[f] / array[f]) + at_f;
      if (in_middle && middle_block[d] != block1) {
        middle_block[d] = block1;
        Move(0, block1, Face(m.middle_tile, d), Face(m.middle_tile, d), d, 0, 1);
      }
      const int64_t distinct = Face(array, d);  // each word once
      const int64_t copies = Face(m.inner_tile, d) * pes;
      if (in_inner && inner_block[d] != block3) {
        inner_block[d] = block3;
        Move(1, block3, copies, distinct, d, source, 2);
      }
      Operands(block3, d, in_inner ? 2 : source, in_inner, pes);
    }
  }

  // Counts the operands of all multiplications of one array tile.
  void Operands(int64_t block, int d, int source, bool in_inner, int64_t pes) {
    const int64_t macs = m.inner_tile[0] * m.inner_tile[1] * m.inner_tile[2] * pes;
    const int64_t sharers = in_inner ? 1 : m.spatial[d];
    if (d != 2) {
      access.reads[source][d] += macs / sharers;
      return;
    }
    access.writes[source][2] += macs / sharers;
    // The first partial sum of each word reads nothing.
    std::vector<char>& seen = seen_blocks[2];
    if (static_cast<size_t>(block) >= seen.size()) seen.resize(block + 1);
    int64_t fresh = 0;
    if (!seen[block]) {
      fresh = m.inner_tile[0] * m.inner_tile[1] * pes / sharers;
      seen[block] = 1;
    }
    access.reads[source][2] += macs / sharers - fresh;
  }

  // copies: words written into the receivers; distinct: words the source sees.
  void Move(int level, int64_t block, int64_t copies, int64_t distinct, int d,
            int source, int receiver) {
    if (d != 2) {
      access.reads[source][d] += distinct;
      access.writes[receiver][d] += copies;
      return;
    }
    // A block is written back once per stay, and read back unless the stay is its
    // first.
    access.writes[source][2] += distinct;
    std::vector<char>& seen = seen_blocks[level];
    if (static_cast<size_t>(block) >= seen.size()) seen.resize(block + 1);
    if (seen[block]) {
      access.reads[source][2] += distinct;
      access.writes[receiver][2] += copies;
    }
    seen[block] = 1;
  }
};

void Walk(const GemmOrder& order, const int64_t trips[3], int64_t at[3], int depth,
          const std::function<void()>& body) {
  if (depth < 0) {
    body();
    return;
  }
  const int axis = order.axis[depth];
  for (at[axis] = 0; at[axis] < trips[axis]; ++at[axis]) {
    Walk(order, trips, at, depth - 1, body);
  }
}

int64_t RandomDivisor(int64_t n, uint64_t* state) {
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i <= n; ++i) {
    if (n % i == 0) divisors.push_back(i);
  }
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return divisors[(*state >> 33) % divisors.size()];
}

TEST_CASE("gemm_cost counts what a walk over 10000 random loop nests counts") {
  uint64_t state = 7;
  const auto below = [&state](int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % static_cast<uint64_t>(n));
  };
  int unequal = 0;
  for (int i = 0; i < 10000; ++i) {
    GemmShape shape;
    GemmMapping m = {};
    int64_t outer_trips[3];
    int64_t middle_trips[3];
    for (int d = 0; d < 3; ++d) {
      shape.extent[d] = 1 + below(12);
      m.middle_tile[d] = RandomDivisor(shape.extent[d], &state);
      const int64_t array = RandomDivisor(m.middle_tile[d], &state);
      m.inner_tile[d] = RandomDivisor(array, &state);
      m.spatial[d] = array / m.inner_tile[d];
      outer_trips[d] = shape.extent[d] / m.middle_tile[d];
      middle_trips[d] = m.middle_tile[d] / array;
    }
    const char* orders[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"};
    m.outer_order = Order(orders[below(6)]);
    m.middle_order = Order(orders[below(6)]);
    m.middle_holds = static_cast<uint8_t>(below(8));
    m.inner_holds = static_cast<uint8_t>(below(8));
    Walker walker{shape, m};
    int64_t outer[3] = {};
    int64_t middle[3] = {};
    Walk(m.outer_order, outer_trips, outer, 2, [&] {
      Walk(m.middle_order, middle_trips, middle, 2,
           [&] { walker.Step(outer, middle); });
    });
    const GemmMachine machine = {};
    const GemmCost cost = EvaluateGemm(shape, machine, m, GemmForm::kReuse);
    bool equal = true;
    for (int level = 0; level < 3; ++level) {
      for (int d = 0; d < 3; ++d) {
        equal = equal && cost.access.reads[level][d] == walker.access.reads[level][d];
        equal = equal && cost.access.writes[level][d] == walker.access.writes[level][d];
      }
    }
    unequal += equal ? 0 : 1;
  }
  CHECK(unequal == 0);
}

TEST_CASE("gemm_cost names what is wrong with a problem or a mapping") {
  const GemmMachine good = {64, 8, 4, {0, 0, 0}, 64, 64, 5, 5, 1, 1, 1, 0, 0};
  Diagnostic diagnostic = {};
  diagnostic.struct_size = sizeof diagnostic;
  const auto says = [&diagnostic](const char* text) {
    return std::string(diagnostic.message).find(text) != std::string::npos;
  };
  const int64_t big = int64_t{1} << 31;
  CHECK(CheckGemm({{0, 4, 4}}, good, &diagnostic) == Status::kBadInput);
  CHECK(says("extent M is 0"));
  CHECK(CheckGemm({{4, big + 1, 4}}, good, &diagnostic) == Status::kBadInput);
  CHECK(says("2147483649"));
  CHECK(CheckGemm({{big, big, big}}, good, &diagnostic) == Status::kBadInput);
  CHECK(says("2^61"));
  CHECK(CheckGemm({{big, 1, 1}}, good, &diagnostic) == Status::kOk);
  GemmMachine bad = good;
  bad.inner_words = -1;
  CHECK(CheckGemm({{4, 4, 4}}, bad, &diagnostic) == Status::kBadInput);
  CHECK(says("-1 inner words"));
  bad = good;
  bad.outer_read_pj = std::nan("");
  CHECK(CheckGemm({{4, 4, 4}}, bad, &diagnostic) == Status::kBadInput);
  bad = good;
  bad.fanout_limit[1] = -1;
  CHECK(CheckGemm({{4, 4, 4}}, bad, &diagnostic) == Status::kBadInput);

  GemmMapping mapping = {{4, 4, 4}, {2, 2, 1}, {1, 1, 1}, {}, {}, 7, 7};
  mapping.outer_order = mapping.middle_order = GemmOrderFrom(1);
  const GemmShape shape = {{8, 8, 8}};
  CHECK(CheckGemmMapping(shape, good, mapping, &diagnostic) == Status::kOk);
  mapping.middle_tile[0] = 3;
  CHECK(CheckGemmMapping(shape, good, mapping, &diagnostic) == Status::kBadInput);
  CHECK(says("do not divide"));
  mapping.middle_tile[0] = 8;
  mapping.middle_tile[1] = 8;
  CHECK(CheckGemmMapping(shape, good, mapping, &diagnostic) == Status::kBadInput);
  CHECK(says("needs 128 words, the memory has 64"));
  mapping.spatial[0] = 4;
  CHECK(CheckGemmMapping(shape, good, mapping, &diagnostic) == Status::kBadInput);
  CHECK(says("more than there are"));
}

}  // namespace
}  // namespace sluice
