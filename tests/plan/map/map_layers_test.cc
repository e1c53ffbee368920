// SPDX-License-Identifier: Apache-2.0
// Loop nests of the layers of a small graph.
#include "plan/map/map_layers.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/read_graph.h"
#include "support/stream_builder.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

using sluice_test::kI8;

// Two equal additions, an addition of another size, and a reshape.
sluice_test::GraphSpec Layers() {
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 4, 4, 8}, kI8, 1}, {{1, 4, 4, 8}, kI8, 2},
                  {{1, 4, 4, 8}, kI8, 2}, {{1, 2, 4, 8}, kI8, 1},
                  {{1, 2, 4, 8}, kI8, 2}, {{1, 1, 8, 8}, kI8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_REQUANTIZE, {0}, {2}, same},
                 {SLUICE_OP_REQUANTIZE, {3}, {4}, same},
                 {SLUICE_OP_RESHAPE, {3}, {5}, {}}};
  return spec;
}

// Four processing elements with registers, a scratchpad, and DRAM.
struct Mapper : Machine {
  explicit Mapper(const sluice_test::GraphSpec& spec) : n(spec) {
    AddLevel(64, 0.0625, 0.0625);
    levels.back().instances = 4;
    AddLevel(16384, 0.5, 0.5);
    AddLevel(0, 8, 8);
    levels.back().bandwidth = Rational{16, 1};
    AddFanout(1, 4, 127);
    hardware.macs_per_cycle = hardware.vector_ops_per_cycle = 4;
    hardware.mac_pj = hardware.vector_op_pj = 0.25;
    hardware.accumulator_bytes = 4;
    Finish();
  }
  Status Map(const std::vector<uint32_t>& layers) {
    return MapGraphLayers({n.graph, hardware, {layers.data(), layers.size()}, options},
                          &n.arena, &made, &n.diagnostic);
  }
  std::string why() const { return n.diagnostic.message; }
  sluice_test::Nouns n;
  sluice_map_options_t options = {};
  Span<sluice_layer_mapping_t> made;
};

TEST_CASE("map layers: equal loops are mapped once, and say whose answer they are") {
  Mapper m(Layers());
  REQUIRE(m.Map({2, 0, 1, 2}) == Status::kOk);
  REQUIRE(m.made.size() == 4);
  const uint32_t same_as[] = {0, 1, 1, 0}, layer[] = {2, 0, 1, 2};
  for (uint32_t i = 0; i < 4; ++i) {
    CHECK(m.made[i].struct_size == sizeof(sluice_layer_mapping_t));
    CHECK(m.made[i].status == SLUICE_OK);
    CHECK(m.made[i].same_as == same_as[i]);
    CHECK(m.made[i].layer == layer[i]);
  }
  CHECK(m.made[2].energy_pj == m.made[1].energy_pj);
  CHECK(m.made[0].operations == 2 * 4 * 8);
  CHECK(m.made[1].operations == 4 * 4 * 8);
  CHECK(m.made[1].vector == 1);
}

TEST_CASE("map layers: the judge accepts what is known of a nest, where it is asked") {
  Mapper m(sluice_test::ConvCase().graph);
  REQUIRE(m.Map({0}) == Status::kOk);
  CHECK(m.made[0].certificate == SLUICE_CERTIFICATE_NONE);
  CHECK(m.made[0].certified_bound == 0);
  m.options.certify = 1;
  for (const uint32_t delay : {0u, 1u}) {
    CAPTURE(delay);
    m.options.energy_exponent = 1;
    m.options.delay_exponent = delay;
    REQUIRE(m.Map({0}) == Status::kOk);
    CHECK(m.made[0].certificate == SLUICE_CERTIFICATE_ACCEPTED);
    CHECK(m.made[0].certified_bound > 0);
    CHECK(m.made[0].certified_bound <= m.made[0].objective);
    CHECK(m.made[0].certified_bound >= m.made[0].bound * 0.999);
  }
  m.options.solver = SLUICE_MAP_SEARCH;  // has no proof over all levels
  REQUIRE(m.Map({0}) == Status::kOk);
  CHECK(m.made[0].certificate == SLUICE_CERTIFICATE_NONE);
}

TEST_CASE("map layers: a small layer is certified for tiles that do not divide, too") {
  Mapper m(Layers());
  m.options.certify = 1;
  REQUIRE(m.Map({2}) == Status::kOk);
  CHECK(m.made[0].certificate == SLUICE_CERTIFICATE_ACCEPTED);
}

TEST_CASE("map layers: the costs of a nest are those of its parts") {
  Mapper m(sluice_test::ConvCase().graph);
  REQUIRE(m.Map({0}) == Status::kOk);
  const sluice_layer_mapping_t& made = m.made[0];
  CHECK(made.levels == 3);
  CHECK(made.operations == 8 * 4 * 8 * 72);
  CHECK(made.operations_pj == doctest::Approx(0.25 * 8 * 4 * 8 * 72));
  double energy_pj = made.operations_pj + made.transfer_pj + made.leakage_pj;
  for (const double level : made.level_pj) energy_pj += level;
  CHECK(made.energy_pj == doctest::Approx(energy_pj));
  CHECK(made.utilisation == doctest::Approx(static_cast<double>(made.operations) /
                                            (4.0 * static_cast<double>(made.cycles))));
  // Trips times units cover each extent, and exceed it where they do not divide it.
  for (uint32_t d = 0; d < SLUICE_MAP_DIMS; ++d) {
    int64_t trips = 1;
    for (uint32_t l = 0; l < made.levels; ++l) {
      trips *= made.temporal[l][d];
      for (uint32_t a = 0; a < SLUICE_MAP_AXES; ++a) trips *= made.spatial[l][a][d];
    }
    CHECK(trips >= made.extent[d]);
  }
}

TEST_CASE("map layers: each solver's nest, none below the exact one's") {
  Mapper m(sluice_test::ConvCase().graph);
  m.options.solver = SLUICE_MAP_EXACT;
  m.options.wide = 1;
  REQUIRE(m.Map({0}) == Status::kOk);
  const sluice_layer_mapping_t exact = m.made[0];
  CHECK(exact.proved == 1);
  CHECK(exact.objective == exact.bound);
  m.options.wide = 0;
  for (const uint32_t solver :
       {SLUICE_MAP_KAPLA, SLUICE_MAP_GREEDY, SLUICE_MAP_COSA, SLUICE_MAP_SEARCH}) {
    CAPTURE(solver);
    m.options.solver = solver;
    REQUIRE(m.Map({0}) == Status::kOk);
    CHECK(m.made[0].energy_pj >= exact.energy_pj * (1 - 1e-9));
    CHECK(m.made[0].operations == exact.operations);
  }
}

TEST_CASE("map layers: an operand that is resident is not fetched") {
  Mapper m(sluice_test::ConvCase().graph);
  REQUIRE(m.Map({0}) == Status::kOk);
  CHECK(m.made[0].reads[2][1] > 0);  // weights, from DRAM
  const double energy_pj = m.made[0].energy_pj;
  m.options.resident = 2;
  REQUIRE(m.Map({0}) == Status::kOk);
  CHECK(m.made[0].reads[2][1] == 0);
  CHECK(m.made[0].energy_pj < energy_pj);
  CHECK(m.made[0].reads[2][0] > 0);
}

TEST_CASE(
    "map layers: a tile is mapped from the scratchpad down, as plans declare it") {
  Mapper m(sluice_test::ConvCase().graph);
  m.options.tile_only = 1;
  m.options.tile[1] = 2;  // rows
  REQUIRE(m.Map({0}) == Status::kOk);
  CHECK(m.made[0].operations == 2 * 4 * 8 * 72);
  CHECK(m.made[0].reads[2][0] == 0);  // a tile does not use DRAM
  CHECK(m.made[0].level_pj[2] == 0);
  // An array of cores has a cost but no loops. A tile that does not fit its buffers has
  // neither.
  m.hardware.cores = {2, 2, 1, 1, 0, 0, 0, 0.1, 0.1};
  m.levels[0].capacity_bytes = 4096;
  m.Finish();
  REQUIRE(m.Map({0}) == Status::kOk);
  CHECK(m.made[0].levels == 0);
  CHECK(m.made[0].cycles >= 2 * 4 * 8 * 72 / 4);
  CHECK(m.made[0].operations_pj == doctest::Approx(0.25 * 2 * 4 * 8 * 72));
  m.levels[0].capacity_bytes = 1;
  CHECK(m.Map({0}) == Status::kInfeasible);
  CHECK(m.why() == "no partitioning of the tile fits the core buffers");
}

TEST_CASE("map layers: the failure of one is the call's, of several the layer's") {
  Mapper m(Layers());
  CHECK(m.Map({3}) == Status::kUnsupported);
  CHECK(m.n.diagnostic.layer == 3);
  CHECK(m.Map({9}) == Status::kBadArgument);
  CHECK(m.why() == "there is no layer 9");
  REQUIRE(m.Map({3, 0, 3}) == Status::kOk);
  CHECK(m.n.diagnostic.message[0] == '\0');
  CHECK(m.made[0].status == SLUICE_UNSUPPORTED);
  CHECK(m.made[0].operations == 0);
  CHECK(m.made[1].status == SLUICE_OK);
  // A failure is not reused for an equal layer.
  CHECK(m.made[2].status == SLUICE_UNSUPPORTED);
  CHECK(m.made[2].same_as == 2);
  const uint32_t cancelled = 1;
  m.options.cancel = &cancelled;
  m.options.solver = SLUICE_MAP_EXACT;
  CHECK(m.Map({0, 2}) == Status::kStopped);
}

TEST_CASE("map layers: options out of range are named") {
  const auto said = [](void (*spoil)(sluice_map_options_t*)) {
    Mapper m(Layers());
    spoil(&m.options);
    CHECK(m.Map({0}) == Status::kBadArgument);
    return m.why();
  };
  CHECK(said([](auto* o) { o->solver = SLUICE_MAP_GIVEN + 1; }) == "unknown solver");
  CHECK(said([](auto* o) { o->solver = SLUICE_MAP_GIVEN; }) == "no mapping is given");
  CHECK(said([](auto* o) { o->energy_exponent = 17; }) ==
        "objective exponents must be at most 16");
  CHECK(said([](auto* o) { o->delay_exponent = 17; }) ==
        "objective exponents must be at most 16");
  CHECK(said([](auto* o) { o->resident = 8; }) == "resident has bits 1, 2 and 4 only");
  CHECK(said([](auto* o) { o->cosa_traffic = -1; }) ==
        "cosa_traffic must not be negative");
  CHECK(said([](auto* o) { o->tile[1] = 2; }) ==
        "a tile of 2 along axis 1, where the output has 4; tiles need tile_only");
  CHECK(said([](auto* o) {
          o->tile_only = 1;
          o->tile[3] = 9;
        }) == "a tile of 9 along axis 3, where the output has 8");
}

}  // namespace
}  // namespace sluice
