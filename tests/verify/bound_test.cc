// SPDX-License-Identifier: Apache-2.0
// The judge's own bounds, compared with values worked out by hand.
#include "verify/bound.h"

#include <doctest/doctest.h>

#include <vector>

#include "cases.h"
#include "judged_case.h"
#include "own_needed.h"
#include "support/host_case.h"
#include "verify/reuse.h"

namespace sluice_test {
namespace {

sluice::judge::LeastCosts LeastOf(const OwnJudge& own,
                                  const sluice::VerifiedCounts& counts = {}) {
  sluice::judge::LeastCosts least = {};
  REQUIRE(FindLeastCosts(own.judge, counts, &least) == sluice::Status::kOk);
  return least;
}

TEST_CASE(
    "bound: a convolution takes its work, its bytes, and its first and last move") {
  OwnJudge own{ConvCase()};
  const sluice::Hardware& h = own.judged.hardware;
  const double work = 256.0 * 3 * 3 * 8;  // 8x4 pixels of 8 channels
  const double read = 256 + 576 + 96, written = 256;
  const double bytes = read + written;
  const double rate = static_cast<double>(h.dram().bandwidth.numerator) /
                      static_cast<double>(h.dram().bandwidth.denominator);
  const double wait = static_cast<double>(h.dma_latency_cycles);
  const double compute = work / static_cast<double>(h.macs_per_cycle) + 2 * (wait + 1);
  const double port = bytes / rate + 4 * wait;  // three loads, a store
  const sluice::judge::LeastCosts least = LeastOf(own);
  const double cycles = compute > port ? compute : port;
  CHECK(static_cast<double>(least.cycles) >= cycles);
  CHECK(static_cast<double>(least.cycles) < cycles + 1);
  const double pad = h.scratchpad().read_pj_per_bit + h.scratchpad().write_pj_per_bit;
  CHECK(least.energy_pj >= work * h.mac_pj);
  CHECK(least.energy_pj <=
        work * h.mac_pj +
            8 * bytes * (pad + h.dram().read_pj_per_bit + h.dram().write_pj_per_bit) +
            1e-6);
}

// In a scratchpad of 64 bytes the convolution's other bytes pass the port behind its first
// tile.
TEST_CASE("bound: room counts where a certificate needs it, and whole where refused") {
  OwnJudge own{ConvCase()};
  sluice::Hardware& h = own.judged.hardware;
  std::vector<sluice::MemoryLevel> levels(h.levels.begin(), h.levels.end());
  levels[h.scratchpad_level].capacity_bytes = 64;
  h.levels = {levels.data(), levels.size()};
  const auto asked = [&](double enough, uint64_t room_cycles) {
    own.judged.plan.certificate.room_cycles = room_cycles;
    sluice::judge::LeastCosts least = {};
    least.enough = enough;
    REQUIRE(FindLeastCosts(own.judge, {}, &least) == sluice::Status::kOk);
    return least;
  };
  const sluice::judge::LeastCosts all = LeastOf(own);
  const double cycles = static_cast<double>(all.cycles), beyond = all.beyond;
  REQUIRE(beyond > 0);
  REQUIRE(beyond < cycles);
  // Other times reach the bound.
  CHECK(asked(cycles, 0).cycles == all.cycles);
  CHECK(asked(cycles, 0).beyond < beyond);
  // Nothing reaches it, so that all is in the message.
  CHECK(asked(cycles + 1, 0).beyond == beyond);
  // The certificate says that room alone does.
  const uint64_t room = all.cycles + 1;  // more than other times
  CHECK(asked(beyond, room).beyond == beyond);
  CHECK(asked(cycles, room).beyond == beyond);
  CHECK(asked(cycles, room).cycles == all.cycles);
  // It says so, but loads one after the other take as long.
  CHECK(asked(cycles, 1).beyond < beyond);
  CHECK(asked(cycles, 1).cycles == all.cycles);
}

TEST_CASE("bound: the host's calls take what the stream's do") {
  OwnJudge own{GatherHostCase()};
  sluice::VerifiedCounts counts = {};
  counts.host_cycles = 1000000;
  CHECK(LeastOf(own, counts).cycles == 1000000);
  counts.host_hold = 50;
  CHECK(LeastOf(own, counts).cycles == 1000050);
}

// A graph of one layer, and a machine whose levels and rates a test sets: a scratchpad
// and a DRAM; three buffers of cores before them.
struct OneLayer {
  explicit OneLayer(const GraphSpec& graph)
      : own(CaseOf(graph)), h(own.judged.hardware) {
    for (size_t i = 0; i < 5; ++i) levels[i] = h.dram();
    levels[3] = h.scratchpad();
    levels[3].bandwidth = {0, 1};
    h.macs_per_cycle = 1000000;
    h.mac_pj = 3;
    h.vector_ops_per_cycle = 1000000;
    h.vector_op_pj = 7;
    h.levels = {levels + 3, 2};
    h.scratchpad_level = 0;
    SetEnergy(3, 11, 13);
  }
  void SetEnergy(size_t level, double read, double write) {
    levels[level].read_pj_per_bit = read;
    levels[level].write_pj_per_bit = write;
  }
  void GiveCores(uint32_t vector, uint32_t lane) {
    h.levels = {levels, 5};
    h.scratchpad_level = 3;
    h.cores = {2, 2, vector, lane, 0, 1, 2, 31, 37};
    levels[2].capacity_bytes = 30;
    SetEnergy(0, 17, 19);
    SetEnergy(1, 23, 29);
    SetEnergy(2, 41, 43);
  }
  double Cycles(const std::vector<int32_t>& extent) const {
    return CyclesOfBox(own.judge, own.judge.graph.layers[0], extent.data());
  }
  sluice::judge::LeastOfLayer Least() const { return LeastOf(own).layers[0]; }

  OwnJudge own;
  sluice::Hardware& h;
  sluice::MemoryLevel levels[5];

 private:
  static Case CaseOf(const GraphSpec& graph) {
    Case c = ConvCase();
    c.graph = graph;
    return c;
  }
};

// What one group's MACs and moves on cores take, in pJ: of the machine of OneLayer.
struct Group {
  double pixels, taps, c, k;
  double vectors, lanes;  // of channels and filters
  double refills;         // of the weight registers
  double Energy() const {
    const double words = taps * c * k, made = pixels * k, read = pixels * c;
    const double sums = made * taps * vectors;
    return 3 * words * pixels +
           8 * (11 * (read + words) + 13 * made + 17 * read * taps * lanes + 19 * read +
                29 * words + 23 * words * refills + 43 * sums + 41 * (sums + made) +
                (31 + 37) * made);
  }
};

GraphSpec Conv(uint16_t op, const std::vector<int32_t>& weight) {
  GraphSpec g = ConvCase().graph;
  g.tensors[1].dims = weight;
  g.layers[0].op = op;
  return g;
}

TEST_CASE("bound: a convolution on cores, in whole vectors and lanes of each core") {
  const OneLayer plain(ConvCase().graph);
  CHECK(plain.Cycles({1, 8, 4, 8}) == 1);
  OneLayer on(ConvCase().graph);
  on.GiveCores(3, 3);
  // 3 vectors of 8 channels, 3 lanes of 8 filters, 32 pixels of 9 taps, 4 cores.
  CHECK(on.Cycles({1, 8, 4, 8}) == 3 * 3 * 32 * 9 / 4);
  // Ten words of the output's buffer: weights are read again for each ten pixels.
  const double pj = Group{32, 9, 8, 8, 3, 3, 4}.Energy();
  CHECK(on.Least().energy == doctest::Approx(pj).epsilon(1e-12));
  on.h.mac_pj = 1e6;
  CHECK(on.Least().energy > 1e6 * 32 * 9 * 64);
}

TEST_CASE("bound: groups of few channels share a core as far as both sides fit") {
  OneLayer wide(Conv(SLUICE_OP_DEPTHWISE_CONV, {1, 3, 3, 8}));
  wide.GiveCores(4, 8);
  CHECK(wide.Cycles({1, 8, 4, 8}) == 2 * 32 * 9 / 4);  // 4 of 8 groups at a time
  CHECK(wide.Least().energy ==
        doctest::Approx(8 * Group{32, 9, 1, 1, 1, 1, 11}.Energy()).epsilon(1e-12));
  OneLayer high(Conv(SLUICE_OP_DEPTHWISE_CONV, {1, 3, 3, 8}));
  high.GiveCores(8, 2);
  CHECK(high.Cycles({1, 8, 4, 8}) == 4 * 32 * 9 / 4);
  // Two groups of 4 channels and 4 filters: no two fit.
  GraphSpec halves = Conv(SLUICE_OP_CONV, {8, 3, 3, 4});
  halves.layers[0].attributes[SLUICE_CONV_GROUPS] = 2;
  OneLayer two(halves);
  two.GiveCores(3, 3);
  CHECK(two.Cycles({1, 8, 4, 8}) == 2 * 2 * 2 * 32 * 9 / 4);
  CHECK(two.Least().energy ==
        doctest::Approx(2 * Group{32, 9, 4, 4, 2, 2, 4}.Energy()).epsilon(1e-12));
}

GraphSpec Matmul(int32_t batch, int32_t groups) {
  GraphSpec g;
  g.tensors = {{{batch, groups, 5, 4}, SLUICE_DTYPE_INT8, 1},
               {{batch, groups, 4, 7}, SLUICE_DTYPE_INT8, 1},
               {{batch, groups, 5, 7}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {
      {SLUICE_OP_BATCH_MATMUL, {0, 1}, {2}, {0, 0, 0, 0, 1 << 30, 1, -128, 127}}};
  return g;
}

TEST_CASE("bound: on cores each product of a batch has operands of its own") {
  const double each = Group{5, 1, 4, 7, 2, 3, 1}.Energy();
  OneLayer one(Matmul(1, 1));
  one.GiveCores(3, 3);
  CHECK(one.Cycles({1, 1, 5, 7}) == 8);  // 2 * 3 * 5 on four cores
  CHECK(one.Least().energy == doctest::Approx(each).epsilon(1e-12));
  OneLayer many(Matmul(2, 3));
  many.GiveCores(3, 3);
  // Filters of several products may share a lane: only the MACs count.
  CHECK(many.Cycles({2, 3, 5, 7}) == 1);
  CHECK(many.Least().energy == doctest::Approx(6 * each).epsilon(1e-12));
}

TEST_CASE("bound: the gradient of a pool takes two steps of each element on cores") {
  GraphSpec g;
  g.tensors = {{{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1},
               {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1},
               {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_MAX_POOL_GRADIENT,
               {0, 1},
               {2},
               {1, 1, 1, 1, 0, 0, 0, 0, -128, 127, 0}}};
  OneLayer on(g);
  on.GiveCores(3, 3);
  on.h.vector_ops_per_cycle = 10;
  CHECK(on.Cycles({1, 4, 4, 8}) == 26);  // 256 by 10
  CHECK(on.Least().energy == 2 * 128 * 7);
}

TEST_CASE("bound: passes of an array, with rows crossed and taps packed or not") {
  OneLayer on(ConvCase().graph);
  on.h.macs_per_cycle = 10;
  on.h.array.k = 3;
  on.h.array.c = on.h.array.p = 5;
  on.h.array.fill_cycles = 7;
  on.h.array.drain_cycles = 6;
  // A pass takes 75 MACs at 10 a cycle, and to fill and to drain.
  const double pass = 8 + 7 + 6;
  on.h.array.crosses_rows = true;
  on.h.array.packs_filter = true;
  CHECK(on.Cycles({1, 8, 4, 8}) == 3 * 7 * 15 * pass);
  on.h.array.packs_filter = false;
  CHECK(on.Cycles({1, 8, 4, 8}) == 3 * 7 * 18 * pass);
  on.h.array.crosses_rows = false;
  CHECK(on.Cycles({1, 8, 4, 8}) == 3 * 8 * 18 * pass);
  // What is read and written passes the scratchpad.
  const double read = 256 + 576 + 96, written = 256;
  CHECK(on.Least().energy == 3 * 18432 + 8 * (11 * read + 13 * written));
  CHECK(on.Least().macs == 18432);
  on.levels[3].bandwidth = {1, 100};
  CHECK(on.Cycles({1, 8, 4, 8}) == 100 * (read + written));
  // With levels below the scratchpad, tiles still read each operand there and write what
  // they make; a nest has no parameters.
  on.levels[3].bandwidth = {0, 1};
  on.h.levels = {on.levels + 2, 3};
  on.h.scratchpad_level = 1;
  CHECK(on.Least().energy == 3 * 18432 + 8 * (11 * (256 + 576) + 13 * written));
  CHECK(on.Cycles({1, 8, 4, 8}) == 1844);  // the MACs, by 10
}

TEST_CASE("bound: loads of more bytes than the scratchpad has come in several") {
  OneLayer on(ConvCase().graph);
  on.levels[3].capacity_bytes = 100;
  CHECK(on.Least().loads == 10);  // of 928 bytes
  on.levels[3].capacity_bytes = 4096;
  CHECK(on.Least().loads == 3);  // one of each tensor
  on.levels[3].capacity_bytes = 0;
  CHECK(on.Least().loads == 3);
}

TEST_CASE("bound: what a view shows is stored by the engines that made it") {
  const OwnJudge own{ConcatCase()};
  const sluice::judge::LeastCosts least = LeastOf(own);
  CHECK(least.layers[2].stored == 256);
  CHECK(least.layers[5].stored == 32);
  CHECK(least.layers[0].stored + least.layers[1].stored == 0);
}

TEST_CASE("bound: times of so many cycles, bytes and loads on one queue and on two") {
  OneLayer on(ConvCase().graph);
  on.levels[4].bandwidth = {4, 1};
  on.h.dma_latency_cycles = 10;
  sluice::judge::LeastOfLayer all;
  const auto times = [&](double hold = 0) { return TimesOf(on.own.judge, all, hold); };
  CHECK(times().compute == 0);
  CHECK(times().port == 0);
  CHECK(times().serial == 0);
  all.constants = 40;
  all.loaded = 60;
  all.loads = 3;
  CHECK(times().serial == 3 * 10 + 25);  // nothing is stored
  all.stored = 20;
  all.cycles = 101;
  CHECK(times().compute == 10 + 1 + 101 + 10 + 1);
  CHECK(times().port == 10 + 30);
  CHECK(times(7).port == 7 + 30);
  CHECK(times().serial == 3 * 10 + 30 + 10);
  sluice::Queue queues[2];
  queues[0].does = SLUICE_DOES_LOAD;
  queues[0].latency_cycles = 12;
  queues[1].does = SLUICE_DOES_STORE;
  queues[1].latency_cycles = 5;
  on.h.queues = {queues, 2};
  CHECK(times().compute == 12 + 1 + 101 + 5 + 1);
  CHECK(times().port == 12 + 25);  // the loads alone
  CHECK(times().serial == 3 * 12 + 25 + 5 + 1);
  all.stored = 90;
  CHECK(times().port == 5 + 48);  // 190 bytes
  queues[1].latency_cycles = 40;
  CHECK(times().port == 40 + 23);  // the stores alone
  queues[1].latency_cycles = 5;
  all.stored = 20;
  // Each descriptor but the first costs what one takes, or a latency where that is less.
  queues[0].max_rows = 2;
  queues[0].max_row_bytes = 8;
  queues[0].descriptor_cycles = 3;
  CHECK(times().port == 12 + 25 + 6 * 3);
  queues[0].descriptor_cycles = 30;
  CHECK(times().port == 12 + 25 + 6 * 12);
  // A queue of each node loads beside the others.
  on.h.node_cols = 2;
  queues[0].per_node = true;
  CHECK(times().compute == 51 + 12 + 1 + 5 + 1);
  CHECK(times().port == 5 + 30);
  CHECK(times().serial == 31 + 5 + 1);
  // Of two queues that load, the faster one counts.
  on.h.node_cols = 1;
  queues[0].max_rows = 0;
  queues[1].does = SLUICE_DOES_LOAD | SLUICE_DOES_STORE;
  CHECK(times().compute == 101 + 2 * (5 + 1));
  CHECK(times().serial == 20 + 5 + 1);  // 3 * 5 + 25 by two
}

TEST_CASE("bound: memories beside the DRAM, each at its best") {
  OneLayer on(ConvCase().graph);
  on.levels[4].bandwidth = {4, 1};
  on.SetEnergy(4, 5, 6);
  sluice::OffChip memories[2] = {};
  memories[0].level = memories[1].level = on.levels[4];
  memories[0].regions = 1u << SLUICE_REGION_CONST;
  memories[0].read_only = true;
  memories[0].level.bandwidth = {2, 1};
  memories[0].level.read_pj_per_bit = 3;
  memories[0].level.write_pj_per_bit = 1;
  memories[1].level.bandwidth = {6, 1};
  memories[1].level.read_pj_per_bit = 7;
  memories[1].level.write_pj_per_bit = 2;
  on.h.memories = {memories, 2};
  on.h.dma_latency_cycles = 10;
  sluice::judge::LeastOfLayer all;
  all.constants = 40;
  all.loaded = 60;
  all.stored = 20;
  all.energy = 1000;
  // 80 bytes by 6, 40 by 2.
  CHECK(TimesOf(on.own.judge, all, 0).port == 10 + 14 + 20);
  // Constants are read where they lie, other bytes where a bit costs least; nothing is
  // written to what is read only.
  CHECK(EnergyOf(on.own.judge, all) ==
        1000 + 8 * (40 * 3 + 60 * 3 + (40 + 60) * 13 + 20 * (2 + 11)));
}

// Layers of one input and one output each, in a row, on [1,4,4,8]. The bytes that each
// must store, by hand: only an output, or what the host reads of what an engine makes.
TEST_CASE("bound: what is stored, where hosts and views stand between engines") {
  struct Row {
    std::vector<uint16_t> ops;
    std::vector<double> stored;
  };
  const uint16_t host = SLUICE_OP_OPAQUE, view = SLUICE_OP_RESHAPE,
                 engine = SLUICE_OP_REQUANTIZE;
  const Row rows[] = {
      {{engine, engine}, {0, 128}},        {{engine, engine, host}, {0, 128, 0}},
      {{engine, view, host}, {128, 0, 0}}, {{host, view}, {0, 0}},
      {{host, engine}, {0, 128}},          {{host, host}, {0, 0}}};
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    Case c = ConvCase();
    c.graph = {};
    c.graph.tensors.push_back({{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1});
    for (size_t l = 0; l < row.ops.size(); ++l) {
      const uint16_t op = row.ops[l];
      const uint32_t t = static_cast<uint32_t>(l);
      std::vector<int32_t> attributes;
      if (op == engine) attributes = {1, 1 << 30, 1, 2, -128, 127};
      if (op == host) attributes = {100, 0, 0};
      c.graph.layers.push_back({op, {t}, {t + 1}, attributes});
      const bool last = l + 1 == row.ops.size();
      c.graph.tensors.push_back(
          {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, static_cast<uint8_t>(last ? 2 : 0)});
    }
    const OwnJudge own{c};
    const sluice::judge::LeastCosts least = LeastOf(own);
    for (size_t l = 0; l < row.ops.size(); ++l) {
      CHECK(least.layers[l].stored == row.stored[l]);
    }
  }
}

TEST_CASE("bound: of a table only the gathered rows are loaded") {
  const OwnJudge own{GatherHostCase()};
  const sluice::judge::LeastCosts least = LeastOf(own);
  CHECK(least.layers[0].loaded == 12 + 24);  // the indices and three rows
  CHECK(least.layers[0].constants == 0);
  CHECK(least.layers[1].constants == 0);
}

// A weight gradient [K,1,1,C] of an error [1,1,5,K]: its columns are the weight's taps
// and channels for each of the error's columns.
TEST_CASE("bound: passes of an array for gradients, and none without MACs") {
  GraphSpec g = ConvCase().graph;
  g.tensors = {{{1, 8, 4, 8}, SLUICE_DTYPE_INT8, 1},
               {{1, 8, 4, 6}, SLUICE_DTYPE_INT8, 1},
               {{6, 3, 3, 8}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_WEIGHT_GRADIENT,
               {0, 1},
               {2},
               {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, -128, 127, 1 << 30, 1}}};
  OneLayer on(g);
  on.h.array.k = 5;
  on.h.array.c = 3;
  on.h.array.p = 7;
  on.h.array.crosses_rows = true;
  on.h.array.packs_filter = true;
  on.h.macs_per_cycle = 105;
  // 6 filters by 5; 72 weights for each of the error's 4 columns by 7; its 8 rows by 3.
  CHECK(on.Cycles({6, 3, 3, 8}) == 2 * 42 * 3);
  GraphSpec plain = HostAddCase().graph;
  OneLayer off(plain);
  off.h.array = on.h.array;
  off.h.array.fill_cycles = 1000;
  off.h.vector_ops_per_cycle = 10;
  CHECK(off.Cycles({1, 2, 4, 8}) == 13);  // 128 by 10
}

// A product whose operands do not fit loads again; shares of the port and of the MACs, each
// by its rate, bound the cycles.
TEST_CASE("bound: what a product loads again costs energy, and cycles with the MACs") {
  GraphSpec g = ConvCase().graph;
  g.tensors[0].dims = g.tensors[3].dims = {1, 12, 8, 96};
  g.tensors[1].dims = {96, 1, 1, 96};
  g.tensors[2] = {{96, 3}, SLUICE_DTYPE_INT32, 3, 3, 2};
  g.layers[0].attributes = {1, 1, 1, 1};
  OneLayer on(g);
  on.levels[3].capacity_bytes = 1024;
  on.levels[4].bandwidth = {4, 3};
  on.SetEnergy(4, 5, 6);
  on.h.macs_per_cycle = 10;
  on.h.node_cols = 2;
  sluice::judge::Price prices[5];
  prices[0].byte = 8 * (5 + 13);
  prices[0].mac = 3;
  for (int i = 1; i <= 4; ++i) {
    prices[i].byte = i / 4.0 * 3 / 4;
    prices[i].mac = (1 - i / 4.0) / (2 * 10);
  }
  double more[5];
  REQUIRE(FindReuse(on.own.judge, OwnNeeded(on.own.judge).of_all, {prices, 5}, more) ==
          sluice::Status::kOk);
  REQUIRE(more[0] > 0);
  sluice::judge::LeastCosts least = {};
  least.enough = 0;  // not by room
  REQUIRE(FindLeastCosts(on.own.judge, {}, &least) == sluice::Status::kOk);
  CHECK(least.again_pj == doctest::Approx(more[0]).epsilon(1e-12));
  const sluice::judge::LeastOfLayer& all = least.layers[0];
  CHECK(least.energy_pj ==
        doctest::Approx(EnergyOf(on.own.judge, all) + more[0]).epsilon(1e-12));
  double cycles = 0;
  for (int i = 1; i <= 4; ++i) {
    const double once = (all.constants + all.loaded + all.stored) * prices[i].byte +
                        all.macs * prices[i].mac;
    if (more[i] > 0 && once + more[i] > cycles) cycles = once + more[i];
  }
  CHECK(cycles > 0);
  CHECK(least.beyond == doctest::Approx(cycles).epsilon(1e-12));
}

TEST_CASE("bound: sums of layers, and whole units") {
  sluice::judge::LeastOfLayer all, layer;
  layer.cycles = 1;
  layer.energy = 2;
  layer.macs = 3;
  layer.constants = 4;
  layer.loaded = 5;
  layer.stored = 6;
  layer.loads = 7;
  Add(layer, &all);
  Add(layer, &all);
  CHECK(all.cycles == 2);
  CHECK(all.energy == 4);
  CHECK(all.macs == 6);
  CHECK(all.constants == 8);
  CHECK(all.loaded == 10);
  CHECK(all.stored == 12);
  CHECK(all.loads == 14);
  CHECK(sluice::judge::Up(0, 3) == 0);
  CHECK(sluice::judge::Up(5, 3) == 2);
  CHECK(sluice::judge::Up(6, 3) == 2);
  CHECK(sluice::judge::Up(7, 3) == 3);
}

}  // namespace
}  // namespace sluice_test
