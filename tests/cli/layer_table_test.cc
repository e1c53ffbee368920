// SPDX-License-Identifier: Apache-2.0
// The table of layers, and the sentence about a plan's gap.
#include "cli/layer_table.h"

#include <doctest/doctest.h>

#include "cli/graph_names.h"
#include "cli/report.h"
#include "cli/segment_notation.h"

namespace sluice::cli {
namespace {

struct Example {
  Bytes graph;
  HardwareFacts hardware = {"chip", 1000000, 64, 16, 4096, 4};
  sluice_report_t report = {};
  std::vector<uint32_t> segments = {};
  bool of_energy = false, of_latency = true;
  LayerTable Of(std::vector<sluice_layer_cost_t> rows) const {
    return {graph,     hardware,   report,          1,
            of_energy, of_latency, std::move(rows), segments};
  }
};

sluice_layer_cost_t Row(uint32_t layer, uint64_t cycles, uint64_t bytes) {
  sluice_layer_cost_t row = {};
  row.layer = layer;
  row.tiles = 2;
  row.extent[0] = row.extent[1] = 1;
  row.extent[2] = 5;
  row.extent[3] = 8;
  row.cycles = cycles;
  row.macs = 64 * cycles / 2;
  row.dram_read_bytes = bytes;
  row.port_cycles = bytes / 4;
  row.bound_cycles = cycles;
  row.bound_dram_bytes = bytes / 2;
  row.limit = cycles >= bytes / 4 ? SLUICE_LIMIT_TILES : SLUICE_LIMIT_DRAM;
  return row;
}

TEST_CASE("layer table: long names keep begin and end, and characters are not cut") {
  CHECK(Shortened("conv1 (conv)") == "conv1 (conv)");
  CHECK(Shortened(std::string(32, 'a')) == std::string(32, 'a'));
  const std::string letters(60, 'a');
  CHECK(Shortened("begin" + letters + "end") ==
        "begin" + std::string(7, 'a') + ".." + std::string(15, 'a') + "end");
  std::string wide;
  for (int i = 0; i < 30; ++i) wide += "\u00e9";
  CHECK(Shortened("x" + wide) == ("x" + wide).substr(0, 11) + ".." + wide.substr(42));
}

TEST_CASE("layer table: a line for each layer that takes something") {
  const Example example;
  const LayerTable table = example.Of({Row(0, 100, 80), {}, Row(2, 10, 800)});
  const Json rows = LayersAsJson(table);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["limit"] == "tiles");
  CHECK(rows[0]["utilisation"] == 0.5);
  CHECK(rows[0]["gap"] == 1.0);
  CHECK(rows[1]["layer"] == 2);
  CHECK(rows[1]["tile"] == "1x1x5x8");
  CHECK(rows[1]["limit"] == "DRAM");
  CHECK(rows[1]["gap"] == 2.0);
  const std::string csv = LayersAsCsv(table);
  CHECK(csv.substr(0, 25) == "layer,name,segment,block,");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  CHECK(csv.find("\"1x1x5x8\"") != std::string::npos);
}

TEST_CASE("layer table: a segment is the plan's, a block is the stream's") {
  Example example;
  sluice_layer_cost_t third = Row(2, 10, 800);
  third.block = 7;
  CHECK(LayersAsJson(example.Of({third}))[0]["segment"].is_null());
  CHECK(LayersAsCsv(example.Of({third})).find("\n2,\"layer 2\",,7,") !=
        std::string::npos);
  example.segments = {0, kNoSegment, 1};
  CHECK(LayersAsJson(example.Of({third}))[0]["segment"] == 1);
  CHECK(LayersAsJson(example.Of({third}))[0]["block"] == 7);
  CHECK(LayersAsJson(example.Of({Row(1, 10, 800)}))[0]["segment"].is_null());
}

TEST_CASE("layer table: the gap in words") {
  Example example;
  CHECK(!GapNeedsRows(example.Of({})));
  example.report.latency_cycles = 300;
  example.report.bound_latency_cycles = 299;
  CHECK(!GapNeedsRows(example.Of({})));
  CHECK(GapSentence(example.Of({Row(0, 100, 80)})) == "no plan is more than 2% faster");
  example.report.bound_latency_cycles = 150;
  CHECK(GapNeedsRows(example.Of({})));
  const std::string text = GapSentence(example.Of({Row(0, 100, 80), Row(1, 10, 800)}));
  CHECK(
      text.find("tiles work 37% of the time (x1.00 their least), DRAM moves 73% (x2.00 "
                "the least bytes)") == 0);
  CHECK(text.find("100 cycles of DRAM") != std::string::npos);
  CHECK(text.find("else they wait for each other and for latencies") !=
        std::string::npos);
  example.report.latency_cycles = 230;  // DRAM moves 96% of them
  CHECK(GapSentence(example.Of({Row(0, 100, 80), Row(1, 10, 800)})).find("else they") ==
        std::string::npos);
}

TEST_CASE("layer table: on a mesh the tiles of all nodes run beside each other") {
  Example example;
  LayerTable table = example.Of({Row(0, 400, 800)});
  table.rows[0].bound_cycles = 200;
  CHECK(LayersAsJson(table)[0]["gap"] == 2.0);
  table.nodes = 4;  // 100 cycles of tiles, 200 of DRAM, of which 100 are needed
  CHECK(LayersAsJson(table)[0]["gap"] == 2.0);
  table.rows[0].bound_dram_bytes = 800;
  CHECK(LayersAsJson(table)[0]["gap"] == 1.0);
}

TEST_CASE("layer table: DRAM's least cycles follow from those of the port") {
  Example example;
  sluice_layer_cost_t row = Row(0, 10, 800);
  row.port_cycles = 50;  // of a memory that is faster than the last level
  row.bound_dram_bytes = 800;
  CHECK(LayersAsJson(example.Of({row}))[0]["gap"] == 1.0);
  row.bound_dram_bytes = 0;
  CHECK(LayersAsJson(example.Of({row}))[0]["gap"] == 5.0);
}

TEST_CASE("layer table: the gap is that of what the objective counts") {
  Example example;
  example.report.latency_cycles = 300;
  example.report.bound_latency_cycles = 150;
  example.report.energy_pj = 1e6;
  example.report.energy_dram_pj = 4e5;
  example.report.bound_energy_pj = 999e3;
  example.of_energy = true;
  sluice_layer_cost_t row = Row(0, 100, 80);
  row.energy_pj = 9e5;
  row.bound_energy_pj = 6e5;
  CHECK(GapSentence(example.Of({row})).find("; no plan takes 2% less energy") !=
        std::string::npos);
  example.of_latency = false;
  CHECK(!GapNeedsRows(example.Of({})));
  CHECK(GapSentence(example.Of({row})) == "no plan takes 2% less energy");
  example.report.bound_energy_pj = 5e5;
  CHECK(GapNeedsRows(example.Of({})));
  const std::string text = GapSentence(example.Of({row}));
  CHECK(
      text.find("DRAM takes 40% of the energy (x2.00 the least bytes), most above its "
                "own bound: ") == 0);
  CHECK(text.find(EnergyText(3e5)) != std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
