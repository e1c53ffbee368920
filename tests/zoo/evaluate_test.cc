// SPDX-License-Identifier: Apache-2.0
// sluice_evaluate on a real network: it agrees with the search and the emitted program,
// and it refuses everything that is no schedule with a clear message.
#include "model/evaluate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "io/read.h"
#include "model/report.h"
#include "plan/tile_costs.h"
#include "presets/presets.h"
#include "sluice/experimental.h"
#include "solve/fusion/fused_program.h"
#include "solve/placement/offsets/offsets.h"
#include "support/library.h"
#include "support/read_graph.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

using sluice::Span;
using sluice::Status;

// A network on a preset, by the C interface.
struct Subject {
  explicit Subject(const char* network, const char* preset = "soma-edge",
                   int32_t batch = 1)
      : hardware_bytes(sluice::presets::LoadPreset(preset)) {
    sluice::zoo::ZooOptions options;
    options.batch = batch;
    graph_bytes = sluice::zoo::MakeZooGraph(network, options);
    graph = library.Graph(graph_bytes);
    hardware = library.Hardware(hardware_bytes);
  }

  sluice_status_t Evaluate(const sluice_notation_t& notation, uint64_t bytes = 0) {
    e.struct_size = sizeof e;
    library.diagnostic = EmptyDiagnostic();
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.scratchpad_bytes = bytes;
    e.options = &options;
    library.status = sluice_evaluate(library.context.get(), graph.get(), hardware.get(),
                                     &notation, &e, &library.diagnostic);
    e.options = nullptr;
    return library.status;
  }
  // The rule in the diagnostic of a refused notation.
  std::string RuleOf(const sluice_notation_t& notation, uint64_t bytes = 0) {
    CHECK(Evaluate(notation, bytes) == SLUICE_REJECTED);
    CHECK(e.fault != SLUICE_SCHEDULE_LEGAL);
    return library.diagnostic.rule;
  }

  Library library;
  Bytes graph_bytes, hardware_bytes;
  GraphPtr graph;
  HardwarePtr hardware;
  sluice_evaluation_t e = {};
};

// Groups of a notation by hand.
struct Groups {
  std::vector<uint32_t> order;
  std::vector<uint8_t> cuts;
  std::vector<int32_t> tiles;
  std::vector<sluice_dram_tensor_t> dram;

  void Add(uint8_t cut, int32_t count, std::initializer_list<uint32_t> layers) {
    for (const uint32_t layer : layers) {
      order.push_back(layer);
      cuts.push_back(cut);
      tiles.push_back(count);
      cut = SLUICE_CUT_NONE;
    }
  }
  sluice_notation_t Struct() const {
    sluice_notation_t n = {};
    n.struct_size = sizeof n;
    n.layers = static_cast<uint32_t>(order.size());
    n.order = order.data();
    n.cuts = cuts.data();
    n.tiles = tiles.data();
    n.transfers = static_cast<uint32_t>(dram.size());
    n.dram = dram.data();
    return n;
  }
};

// ResNet-50: conv1, pool1, then a, b, c, shortcut, add of the first block.
constexpr uint32_t kConv1 = 0, kPool1 = 1, kA = 2, kB = 3, kC = 4, kShortcut = 5,
                   kAdd = 6;

Groups FirstBlock() {
  Groups g;
  g.Add(SLUICE_CUT_DRAM, 8, {kConv1, kPool1});
  g.Add(SLUICE_CUT_DRAM, 4, {kA, kB, kC, kShortcut, kAdd});
  return g;
}

void Fill(Subject* s, Groups* g) {
  REQUIRE(s->Evaluate(g->Struct()) == SLUICE_OK);
  g->dram.resize(s->e.transfers);
  s->e.dram = g->dram.data();
  sluice_notation_t n = g->Struct();
  n.transfers = 0;
  REQUIRE(s->Evaluate(n) == SLUICE_OK);
  s->e.dram = nullptr;
}

TEST_CASE("a schedule that is handed back with its DRAM tensors costs the same") {
  Subject s("resnet50");
  Groups g = FirstBlock();
  Fill(&s, &g);
  const sluice_evaluation_t listed = s.e;
  CHECK(s.Evaluate(g.Struct()) == SLUICE_OK);
  CHECK(s.e.latency_cycles == listed.latency_cycles);
  CHECK(s.e.energy_pj == listed.energy_pj);
  CHECK(s.e.peak_buffer_bytes == listed.peak_buffer_bytes);
  CHECK(s.e.energy_pj ==
        s.e.dram_pj + s.e.scratchpad_pj + s.e.compute_pj + s.e.leakage_pj);
  CHECK(s.e.latency_cycles >= s.e.bound_cycles);
  CHECK(s.e.bound_cycles >= std::max(s.e.compute_cycles, s.e.dram_cycles));
  CHECK(s.e.groups == 2);
  CHECK(s.e.tiles == 8 * 2 + 4 * 5);
}

TEST_CASE("the arrays of an evaluation add up to its numbers") {
  Subject s("resnet50");
  Groups g = FirstBlock();
  REQUIRE(s.Evaluate(g.Struct()) == SLUICE_OK);
  const uint32_t tiles = s.e.tiles, transfers = s.e.transfers;
  std::vector<int64_t> begin(tiles), cycles(tiles), buffer(tiles + 1), moved(transfers),
      at(transfers);
  std::vector<uint32_t> layer(tiles), number(tiles);
  std::vector<int32_t> box(8 * tiles);
  s.e.tile_begin = begin.data();
  s.e.tile_cycles = cycles.data();
  s.e.buffer_bytes = buffer.data();
  s.e.transfer_bytes = moved.data();
  s.e.transfer_begin = at.data();
  s.e.tile_layer = layer.data();
  s.e.tile_number = number.data();
  s.e.tile_box = box.data();
  REQUIRE(s.Evaluate(g.Struct()) == SLUICE_OK);
  CHECK(std::accumulate(cycles.begin(), cycles.end(), int64_t{0}) ==
        s.e.compute_cycles);
  CHECK(std::accumulate(moved.begin(), moved.end(), int64_t{0}) ==
        s.e.load_bytes + s.e.store_bytes);
  CHECK(*std::max_element(buffer.begin(), buffer.end()) == s.e.peak_buffer_bytes);
  for (uint32_t p = 1; p < tiles; ++p) CHECK(begin[p] >= begin[p - 1] + cycles[p - 1]);
  CHECK(std::is_sorted(at.begin(), at.end()));
  // Tiles of the layers alternate; conv1's tiles overlap by their halo and reach the
  // end of its ofmap.
  CHECK(layer[0] == kConv1);
  CHECK(layer[1] == kPool1);
  CHECK(layer[16] == kA);
  CHECK(number[3] == 1);
  int32_t end = 0;
  for (uint32_t p = 0; p < 16; p += 2) end = std::max(end, box[8 * p + 5]);
  CHECK(end == 112);
}

TEST_CASE("what is no schedule is refused with its layer and its rule") {
  Subject s("resnet50");
  const auto layer = [&] { return s.library.diagnostic.layer; };
  const auto says = [&](const char* words) {
    INFO(s.library.diagnostic.message);
    CHECK(std::string(s.library.diagnostic.message).find(words) != std::string::npos);
  };
  Groups g = FirstBlock();
  g.tiles[2] = 100000;
  CHECK(s.RuleOf(g.Struct()) == "tiles");
  CHECK(layer() == kA);
  g.tiles[2] = 0;
  CHECK(s.RuleOf(g.Struct()) == "tiles");
  g = FirstBlock();
  std::swap(g.order[3], g.order[4]);  // b behind c
  CHECK(s.RuleOf(g.Struct()) == "order");
  CHECK(layer() == kC);

  g = FirstBlock();
  CHECK(s.RuleOf(g.Struct(), 100000) == "buffer");
  CHECK(s.library.diagnostic.available_bytes == 100000);
  CHECK(s.library.diagnostic.required_bytes ==
        static_cast<uint64_t>(s.e.peak_buffer_bytes));
  CHECK(s.e.latency_cycles > 0);

  Groups filled = FirstBlock();
  Fill(&s, &filled);
  const auto find = [&](uint32_t kind, uint32_t l, uint32_t tile) {
    return static_cast<size_t>(std::find_if(filled.dram.begin(), filled.dram.end(),
                                            [&](const sluice_dram_tensor_t& t) {
                                              return t.kind == kind && t.layer == l &&
                                                     t.tile == tile;
                                            }) -
                               filled.dram.begin());
  };
  g = filled;
  g.dram[find(SLUICE_DRAM_STORE, kPool1, 3)].end = 1;
  CHECK(s.RuleOf(g.Struct()) == "duration");
  CHECK(layer() == kPool1);
  says("tile 3");
  g = filled;
  g.dram[find(SLUICE_DRAM_WEIGHT, kB, 0)].start = 1000;
  CHECK(s.RuleOf(g.Struct()) == "duration");
  CHECK(layer() == kB);
  g = filled;
  std::rotate(g.dram.begin(),
              g.dram.begin() + static_cast<long>(find(SLUICE_DRAM_INPUT, kA, 0)),
              g.dram.begin() + static_cast<long>(find(SLUICE_DRAM_INPUT, kA, 0)) + 1);
  CHECK(s.RuleOf(g.Struct()) == "source");
  CHECK(layer() == kA);
  g = filled;
  std::rotate(g.dram.begin(),
              g.dram.begin() + static_cast<long>(find(SLUICE_DRAM_STORE, kAdd, 0)),
              g.dram.begin() + static_cast<long>(find(SLUICE_DRAM_STORE, kAdd, 0)) + 1);
  CHECK(s.RuleOf(g.Struct()) == "blocked");
  g = filled;
  std::swap(g.dram[find(SLUICE_DRAM_INPUT, kConv1, 1)],
            g.dram[find(SLUICE_DRAM_INPUT, kConv1, 2)]);
  CHECK(s.RuleOf(g.Struct()) == "order");
  CHECK(layer() == kConv1);
  says("tile 2");
  g = filled;
  g.dram.pop_back();
  CHECK(s.RuleOf(g.Struct()) == "order");
  says("28 of 29");
  g = filled;
  g.dram[3].tile = 77;
  CHECK(s.RuleOf(g.Struct()) == "order");
  says("tile 77");
}

TEST_CASE("bad arguments are named, nothing is written") {
  Subject s("gpt2_small_decode");
  s.e.tiles = 12345;
  const auto refused = [&](const Groups& g, sluice_status_t want, const char* words) {
    INFO(s.library.diagnostic.message);
    CHECK(s.Evaluate(g.Struct()) == want);
    CHECK(std::string(s.library.diagnostic.message).find(words) != std::string::npos);
    CHECK(s.e.tiles == 12345);
  };
  Groups g;
  refused(g, SLUICE_BAD_ARGUMENT, "empty");
  g.Add(SLUICE_CUT_DRAM, 1, {100000});
  refused(g, SLUICE_BAD_ARGUMENT, "position 0");
  g = Groups();
  g.Add(SLUICE_CUT_DRAM, 1, {3, 3});
  refused(g, SLUICE_BAD_ARGUMENT, "position 1");
  g = Groups();
  g.Add(SLUICE_CUT_FINE, 1, {3});
  refused(g, SLUICE_BAD_ARGUMENT, "cut");
  g = Groups();
  g.Add(SLUICE_CUT_DRAM, 1, {0});  // an embedding is a DMA transfer
  refused(g, SLUICE_UNSUPPORTED, "does not compute");
  CHECK(s.library.diagnostic.layer == 0);
  CHECK(sluice_evaluate(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(sluice_evaluate_timed(s.library.context.get(), nullptr, &s.e, nullptr) ==
        SLUICE_BAD_ARGUMENT);
}

// The groups that the search found, with layer numbers of the graph.
Groups GroupsOf(const sluice::FusionRun& run, const sluice::FusionResult& result,
                const std::vector<uint32_t>& layers, sluice::Arena* arena) {
  sluice_notation_t n = {};
  REQUIRE(sluice::ExportNotation(result.notation, result.list, result.dma, arena, &n) ==
          Status::kOk);
  Groups g;
  g.cuts.assign(n.cuts, n.cuts + n.layers);
  g.tiles.assign(n.tiles, n.tiles + n.layers);
  for (uint32_t i = 0; i < n.layers; ++i) g.order.push_back(layers[n.order[i]]);
  for (uint32_t i = 0; i < n.transfers; ++i) {
    sluice_dram_tensor_t t = n.dram[i];
    if (t.kind == SLUICE_DRAM_INPUT) {
      uint32_t edge = run.problem.layers[t.layer].first_input;
      while (run.problem.inputs[edge].source != t.source) {
        REQUIRE(++edge < run.problem.layers[t.layer].first_input +
                             run.problem.layers[t.layer].inputs);
      }
      t.source = run.edge_tensor[edge];
    }
    t.layer = layers[t.layer];
    g.dram.push_back(t);
  }
  return g;
}

void CheckEnergy(const sluice_report_t& report, const sluice_evaluation_t& e) {
  CHECK(report.energy_dram_pj == e.dram_pj);
  CHECK(report.energy_scratchpad_pj == e.scratchpad_pj);
  CHECK(report.energy_compute_pj == e.compute_pj);
  CHECK(report.energy_leakage_pj == e.leakage_pj);
  CHECK(report.energy_pj == e.energy_pj);
}

// A network through all steps: searched, evaluated, placed, emitted. The program may
// start transfers earlier, since its waits follow from addresses, not from durations.
TEST_CASE("the emitted program takes the evaluated energy, and no longer") {
  for (const char* network : {"resnet50", "mobilenet_v1", "randwire"}) {
    CAPTURE(std::string(network));
    Subject s(network);
    sluice::Memory memory(Nouns::Allocator(), 0);
    sluice::Arena arena(&memory);
    sluice::Graph graph = {};
    sluice::Hardware hardware = {};
    sluice::Lowering lowering = {};
    sluice::Diagnostic d = {};
    REQUIRE(sluice::ReadGraph(s.graph_bytes.data(), s.graph_bytes.size(), &arena,
                              &graph, &d) == Status::kOk);
    REQUIRE(sluice::ReadHardware(s.hardware_bytes.data(), s.hardware_bytes.size(),
                                 &arena, &hardware, &d) == Status::kOk);
    REQUIRE(sluice::Lower(graph, hardware, &arena, &lowering, &d) == Status::kOk);
    const int64_t capacity = hardware.scratchpad().capacity_bytes;
    std::vector<uint32_t> layers;
    for (uint32_t l = 0; l < graph.layers.size(); ++l) {
      if (sluice::MayFuse(graph, hardware, lowering, l, capacity)) layers.push_back(l);
    }
    sluice::FusionRun run = {};
    REQUIRE(sluice::MakeFusionRun({graph, hardware, lowering, capacity},
                                  {layers.data(), layers.size()}, &arena,
                                  &run) == Status::kOk);
    sluice::Arena tile_memory(&memory);
    sluice_schedule_options_t defaults = {};
    sluice::TileCosts costs(graph, hardware, lowering, defaults, &tile_memory);
    REQUIRE(costs.Init(&d) == Status::kOk);
    run.coster = costs.coster();
    run.problem.buffer_bytes = capacity / 10 * 8;  // leaves room for placement
    sluice::FusionOptions options;
    options.anneal = false;
    sluice::Budget budget;
    sluice::FusionResult result;
    REQUIRE(sluice::SolveFusion(run.problem, sluice::ModelOf(&run), options,
                                {&budget, &arena, &d}, &result) == Status::kOk);
    const Groups g = GroupsOf(run, result, layers, &arena);
    REQUIRE(s.Evaluate(g.Struct()) == SLUICE_OK);
    CHECK(s.e.latency_cycles == result.score.latency_cycles);

    sluice::FusedBuffers buffers;
    REQUIRE(sluice::BuffersOfFused(run, result, &arena, &buffers) == Status::kOk);
    sluice::LiveRangeSet set;
    set.buffers = buffers.ranges;
    sluice::OffsetPlan plan;
    REQUIRE(sluice::PlaceOffsets(set, capacity, sluice::OffsetOptions(),
                                 {&budget, &arena, &d}, &plan) == Status::kOk);
    sluice::Arena kept(&memory);
    sluice::Program program(&kept, hardware);
    REQUIRE(sluice::AppendFused(run, lowering, {result, buffers, plan.offsets}, &arena,
                                &program) == Status::kOk);
    sluice::ProgramWaits waits(&kept);
    int64_t cycles = 0;
    REQUIRE(sluice::DeriveWaits({graph, hardware, program}, lowering.places, &arena,
                                &waits) == Status::kOk);
    REQUIRE(sluice::PredictCycles({graph, hardware, program}, waits, &arena, &cycles) ==
            Status::kOk);
    sluice_report_t report = {};
    REQUIRE(sluice::FillCosts({graph, hardware, program}, cycles, memory, &report) ==
            sluice::Status::kOk);
    CHECK(cycles <= s.e.latency_cycles);
    CHECK(cycles > s.e.latency_cycles / 1000 * 999);
    CheckEnergy(report, s.e);
  }
}

}  // namespace
}  // namespace sluice_test
