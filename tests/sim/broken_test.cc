// SPDX-License-Identifier: Apache-2.0
// Streams that run, and each kind of broken stream: the simulator alone must refuse it.
#include <doctest/doctest.h>

#include <numeric>

#include "firmware-sim/kernels.h"
#include "sim/judge_case.h"
#include "support/simulation.h"

namespace sluice_test {
namespace {

constexpr uint32_t kCompute = ComputeEngine(0);

BlockBuilder& Block(Case* c) { return c->stream.blocks[0]; }

ListedInstruction& At(Case* c, uint32_t engine,
                      uint32_t place) {  // 1-based, as in waits
  return Block(c).lists[engine][place - 1];
}

sluice_operand_t& DestinationOf(Case* c, uint32_t dma_place) {
  BlockBuilder& b = Block(c);
  return b.operands[b.transfers[At(c, kDmaEngine, dma_place).record.descriptor].dst];
}

sluice_operand_t& SourceOf(Case* c, uint32_t dma_place) {
  BlockBuilder& b = Block(c);
  return b.operands[b.transfers[At(c, kDmaEngine, dma_place).record.descriptor].src];
}

TEST_CASE("a report stands beside what the run measured") {
  Case c = ConvCase();
  c.report.latency_cycles = 12;
  c.report.dram_read_bytes += 3;
  const auto r = Judge(c);
  CHECK(r.ok);
  REQUIRE(r.claims.size() == 9);
  CHECK(std::string(r.claims[0].field) == "latency_cycles");
  CHECK(r.claims[0].claimed == 12);
  CHECK(r.claims[0].measured == 536);
  CHECK(r.claims[1].claimed == r.claims[1].measured + 3);
  CHECK(r.claims[2].claimed == r.claims[2].measured);
  CHECK(r.macs == 4 * 72 * 64);  // tiles that take 72 cycles at 64 MACs each
  CHECK(r.tiles == 4);
  CHECK(r.peak_buffer_bytes == 1056);
}

TEST_CASE(
    "the three hand-made streams give the untiled bytes in the predicted cycles") {
  for (const Case& c : {ConvCase(), AccumulateCase(), AddCase()}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const auto r = Judge(c, true, seed);
      INFO(r.error_code << ": " << r.error);
      CHECK(r.ok);
      CHECK(r.mismatches == 0);
      CHECK(r.compared_bytes == c.report.dram_write_bytes);
      CHECK(r.cycles == c.report.latency_cycles);
      CHECK(r.predicted_cycles == r.cycles);
      CHECK(r.dram_read_bytes == c.report.dram_read_bytes);
      CHECK(r.dram_write_bytes == c.report.dram_write_bytes);
    }
  }
}

TEST_CASE("a run without data takes the same cycles and compares nothing") {
  const auto r = Judge(ConvCase(), false);
  CHECK(r.ok);
  CHECK(r.cycles == ConvCase().report.latency_cycles);
  CHECK(r.compared_bytes == 0);
  CHECK(r.outputs.empty());
}

TEST_CASE("the output hash is the FNV-1a of the output bytes and depends on the seed") {
  const auto a = Judge(ConvCase(), true, 1), b = Judge(ConvCase(), true, 2);
  CHECK(a.output_fnv1a == Fnv1a64(a.outputs[0].data(), a.outputs[0].size()));
  CHECK(a.output_fnv1a != b.output_fnv1a);
  CHECK(a.output_hashes[0] == a.output_fnv1a);
}

TEST_CASE("a dropped wait of a tile on its input is caught, wherever it is dropped") {
  for (uint32_t tile = 1; tile <= 4; ++tile) {
    Case c = ConvCase();
    At(&c, kCompute, tile).waits.clear();
    const auto r = Judge(c);
    INFO("tile " << tile << ": " << r.error_code << ": " << r.error);
    // On this machine only the first load is late. The others come in time by chance,
    // as nothing orders them.
    CHECK(r.error_code == (tile == 1 ? "undefined" : "race"));
  }
}

TEST_CASE("a dropped wait of a store on its tile is caught") {
  Case c = ConvCase();
  At(&c, kDmaEngine, 10).waits.clear();
  const auto r = Judge(c);
  CHECK_FALSE(r.ok);
  CHECK(r.error_code == "race");
  CHECK(r.error_engine == kDmaEngine);
  CHECK(r.error_instruction == 9);
}

TEST_CASE("a dropped wait of a first load's reader reads undefined bytes") {
  Case c = ConvCase();
  At(&c, kCompute, 1).waits.clear();
  const auto r = Judge(c);
  CHECK(r.error_code == "undefined");
  CHECK(r.error_engine == kCompute);
  CHECK(r.error_instruction == 10);  // the body lists the DMA's ten first
}

TEST_CASE("a dropped wait across instances is caught when the timing shows it") {
  Case c = AddCase();
  // Both instances share their buffers, so only waits keep them apart.
  for (int slot = 0; slot < 3; ++slot) {
    c.stream.bindings[6 + slot] = c.stream.bindings[slot];
  }
  CHECK(Judge(c).ok);
  c.stream.blocks[1].lists[kCompute][0].waits.clear();
  const auto r = Judge(c);
  CHECK_FALSE(r.ok);
  CHECK(r.error_code == "race");
  CHECK(r.error_instance == 1);
}

TEST_CASE("operands that the operator lacks, or of another type, are caught") {
  Case c = ConvCase();
  BlockBuilder& b = Block(&c);
  sluice_tile_t& tile = b.tiles[b.lists[kCompute][0].record.descriptor];
  tile.input1 = tile.input0;
  CHECK(Judge(c).error == "operands: input1 is none of the operator's");
  c = ConvCase();
  BlockBuilder& typed = Block(&c);
  sluice_tile_t& other = typed.tiles[typed.lists[kCompute][0].record.descriptor];
  typed.operands[other.input0].dtype = SLUICE_DTYPE_UINT8;
  CHECK(Judge(c).error == "dtype: input0 has another than its tensor");
}

TEST_CASE("a result over what it is made of is caught, but for elementwise operators") {
  Case c = ConvCase();
  BlockBuilder& b = Block(&c);
  sluice_tile_t& tile = b.tiles[b.lists[kCompute][0].record.descriptor];
  b.operands[tile.output].offset_lo = b.operands[tile.input0].offset_lo;
  b.operands[tile.output].slot = b.operands[tile.input0].slot;
  CHECK(Judge(c).error == "output overwrites input0");
  // A sum may overwrite one of its inputs where both have the same box.
  c = AddCase();
  BlockBuilder& sum = Block(&c);
  sluice_tile_t& added = sum.tiles[sum.lists[kCompute][0].record.descriptor];
  added.output = added.input0;
  CHECK(Judge(c).error != "output overwrites input0");
  sum.operands.push_back(sum.operands[added.input0]);
  added.output = static_cast<uint32_t>(sum.operands.size() - 1);
  sum.operands[added.output].offset_lo += 8;
  CHECK(Judge(c).error == "output overwrites input0");
}

TEST_CASE("slots, kernels and patches suit graph and machine, used or not") {
  Case c = ConvCase();
  c.stream.AddBinding(SLUICE_REGION_GBUF, (uint64_t{1} << 48) + 64);
  CHECK(Judge(c).error_code == "bounds");
  c = ConvCase();
  c.hardware.alignment_bytes = 32;
  CHECK(Judge(c).ok);
  c.stream.AddBinding(SLUICE_REGION_GBUF, 16);
  CHECK(Judge(c).error_code == "alignment");
  c = ConvCase();
  c.stream.AddKernel(SLUICE_OP_CONV, 1, {});
  CHECK(Judge(c).error == "kernel 1 is of no layer or another op");
  c = ConvCase();
  c.stream.AddKernel(SLUICE_OP_ADD, 0, {});
  CHECK(Judge(c).error == "kernel 1 is of no layer or another op");
  c = ConvCase();
  c.stream.AddBinding(SLUICE_REGION_STATE, 0);
  c.stream.patches.push_back(
      {static_cast<uint32_t>(c.stream.bindings.size() - 1), 0, 1, 0});
  CHECK(Judge(c).error == "patch 0 names no parameter");
  c = ConvCase();
  c.stream.gbuf_bytes = c.hardware.scratchpad_bytes + 1;
  CHECK(Judge(c).error == "made for a larger scratchpad than there is");
}

TEST_CASE("a shifted buffer is caught") {
  Case c = ConvCase();
  DestinationOf(&c, 4).offset_lo += 16;
  CHECK_FALSE(Judge(c).ok);
  c = ConvCase();
  DestinationOf(&c, 1).offset_lo = 4096;
  CHECK(Judge(c).error_code == "bounds");
  c = ConvCase();
  DestinationOf(&c, 2).offset_lo += 2;  // int32 parameters at an odd place
  CHECK(Judge(c).error_code == "alignment");
}

TEST_CASE("a wrong slice of the input or the weights is caught") {
  Case c = ConvCase();
  SourceOf(&c, 6).offset_lo += 32;  // rows of another tile
  auto r = Judge(c);
  CHECK_FALSE(r.ok);
  CHECK(r.error_code == "mismatch");
  CHECK(r.mismatches > 0);
  c = AccumulateCase();
  SourceOf(&c, 5).offset_lo = 0;  // the first half of C again
  r = Judge(c);
  CHECK(r.error_code == "mismatch");
}

TEST_CASE("early reuse of a buffer is caught") {
  Case c = ConvCase();
  // The load of in2 comes before the store that waits for tile 0.
  std::swap(At(&c, kDmaEngine, 5), At(&c, kDmaEngine, 6));
  const auto r = Judge(c);
  CHECK_FALSE(r.ok);
  CHECK(r.error_code == "race");
  CHECK(r.error_engine == kDmaEngine);
}

TEST_CASE("a lost store leaves output bytes undefined") {
  Case c = ConvCase();
  Block(&c).lists[kDmaEngine].pop_back();
  const auto r = Judge(c);
  CHECK_FALSE(r.ok);
  CHECK(r.error_code == "output");
}

TEST_CASE("a store to the wrong place is caught") {
  Case c = ConvCase();
  DestinationOf(&c, 10).offset_lo -= 64;
  CHECK_FALSE(Judge(c).ok);
}

TEST_CASE("wrong FIRST and LAST flags are caught") {
  for (uint8_t flags : {0, 2, 3}) {
    Case c = AccumulateCase();
    At(&c, kCompute, 1).record.flags = flags;
    const auto r = Judge(c);
    INFO("first tile, flags " << int{flags} << ": " << r.error_code << ": " << r.error);
    CHECK_FALSE(r.ok);
  }
  for (uint8_t flags : {0, 1, 3}) {
    Case c = AccumulateCase();
    At(&c, kCompute, 2).record.flags = flags;
    const auto r = Judge(c);
    INFO("last tile, flags " << int{flags} << ": " << r.error_code << ": " << r.error);
    CHECK_FALSE(r.ok);
  }
  Case c = AccumulateCase();
  At(&c, kCompute, 1).record.flags = 0;  // adds to what was never cleared
  CHECK(Judge(c).error_code == "undefined");
}

TEST_CASE("a channel range that is not summed over is caught") {
  Case c = AccumulateCase();
  Block(&c).tiles[1].c_end = 15;
  CHECK(Judge(c).error_code == "tile");
  c = AccumulateCase();
  Block(&c).tiles[1].c_end = 17;
  CHECK(Judge(c).error_code == "tile");
}

TEST_CASE("a deadlock is named") {
  Case c = ConvCase();
  // Tile 0 waits for the store of its own result: a deadlock.
  At(&c, kCompute, 1).waits = {After(kDmaEngine, 5)};
  const auto r = Judge(c, false);
  CHECK_FALSE(r.ok);
  CHECK(r.error_code == "deadlock");
  CHECK(
      r.error.find("dma stands at instruction 4 of instance 0, visit 0, waits for 1 of "
                   "compute 0") != std::string::npos);
  CHECK(r.error.find("compute 0 stands at instruction 10 of instance 0, visit 0, waits "
                     "for 5 of dma") != std::string::npos);
}

TEST_CASE("a wait on more of the visits before than there is holds at once") {
  Case c = AddCase();
  c.stream.blocks[0].lists[kCompute][0].waits.push_back(AfterAllBut(0, kDmaEngine));
  c.stream.blocks[1].lists[kCompute][0].waits.push_back(AfterAllBut(9, kDmaEngine));
  CHECK(Judge(c).ok);
}

TEST_CASE("writing a read-only region is caught") {
  Case c = ConvCase();
  c.stream.bindings[3].region = SLUICE_REGION_INPUT;
  CHECK(Judge(c).error_code == "readonly");
}

TEST_CASE("padding and window that do not fit are caught") {
  for (int side = 0; side < 4; ++side) {
    Case c = ConvCase();
    ++Block(&c).tiles[1].pad[side];
    CHECK(Judge(c).error_code == "tile");
  }
  Case c = ConvCase();
  Block(&c).tiles[1].origin[1] = 0;  // would need a row of padding
  CHECK(Judge(c).error_code == "tile");
  c = ConvCase();
  Block(&c).tiles[3].origin[1] = 7;  // beyond the layer's output
  CHECK(Judge(c).error_code == "tile");
}

TEST_CASE("a tile that declares fewer cycles than the peak allows is caught") {
  Case c = ConvCase();
  Block(&c).tiles[0].cycles = 71;
  CHECK(Judge(c).error_code == "tile");
}

TEST_CASE("a stored result is final: storing a stale buffer again gives other bytes") {
  Case c = ConvCase();
  // out3's store reads the other output buffer, which holds the rows of tile 2.
  SourceOf(&c, 10).offset_lo = 928;
  CHECK(Judge(c).error_code == "mismatch");
}

TEST_CASE("unknown operators are refused by the reader, the kernels and the walker") {
  for (const int code : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    CAPTURE(code);
    Case c = AddCase();
    c.graph.layers[0].op = static_cast<uint16_t>(code);
    auto r = Judge(c);
    CHECK_FALSE(r.ok);
    CHECK(r.error_code == "graph");
    CHECK(r.error.find("unknown op") != std::string::npos);
    const Bytes graph = c.Graph();
    sluice_sim::SimulateOptions options;
    options.graph = graph.data();
    options.graph_size = graph.size();
    r = sluice_sim::RunReference(options);
    CHECK_FALSE(r.ok);
    CHECK(r.error.find("unknown op") != std::string::npos);
    c = AddCase();
    c.stream.kernels[0].op = static_cast<uint16_t>(code);
    r = Judge(c);
    CHECK_FALSE(r.ok);
    CHECK(r.error == "kernel, record 0");
    sluice_sim::Tile tile;
    tile.op = code;
    CHECK(sluice_sim::CheckTile(tile) ==
          "op: number " + std::to_string(code) + " is not computed");
  }
}

TEST_CASE("the host executes its own layers alone") {
  Case c = AddCase();
  BlockBuilder& b = Block(&c);
  sluice_host_call_t call{};
  call.cycles_lo = 1;
  b.host_calls.push_back(call);
  ListedInstruction host;
  host.record.opcode = SLUICE_OPCODE_HOST;
  b.lists.resize(std::max<size_t>(b.lists.size(), kHostEngine + 1));
  b.lists[kHostEngine].push_back(host);
  const auto r = Judge(c, false);
  CHECK_FALSE(r.ok);
  CHECK(r.error == "executes a layer that is not the host's");
}

TEST_CASE("a plan for another graph or hardware is refused") {
  Case c = ConvCase();
  const Bytes plan = c.Plan();
  Case other = ConvCase();
  other.hardware.dma_latency_cycles = 11;
  CHECK(Judge(other, plan).error_code == "plan");
  CHECK(Judge(AddCase(), plan).error_code == "plan");
}

TEST_CASE("places outside their region, or in a wrong one, are refused") {
  for (int tensor : {0, 1, 2, 3}) {
    Case c = ConvCase();
    c.places[tensor].offset = uint64_t{1} << 63;
    CHECK(Judge(c).error_code == "plan");
    CHECK(Judge(c, false).error_code == "plan");
    c = ConvCase();
    c.places[tensor].region = 77;
    CHECK(Judge(c).error_code == "plan");
    c = ConvCase();
    c.places[tensor].stride = {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
    CHECK(Judge(c).error_code == "plan");
  }
}

TEST_CASE("a region too large for the memory allowed is refused, not allocated") {
  Case c = ConvCase();
  c.stream.region_bytes[SLUICE_REGION_WORKSPACE] = uint64_t{1} << 40;
  CHECK(Judge(c).error_code == "memory");
  CHECK(Judge(c, false).ok);
}

TEST_CASE("the debug map names a layer of the graph for each instruction") {
  Case c = ConvCase();
  c.debug_layer.assign(14, 0);
  CHECK(Judge(c).ok);
  for (const size_t instruction : {size_t{0}, size_t{13}}) {
    for (const uint32_t none : {1u, 0xffffffffu}) {  // the graph has one layer
      Case wrong = c;
      wrong.debug_layer[instruction] = none;
      const auto r = Judge(wrong);
      CHECK(r.error_code == "plan");
      CHECK(r.error == "debug map names layer " + std::to_string(none) +
                           " for instruction " + std::to_string(instruction) +
                           "; the graph has 1 layers");
    }
  }
  c.debug_layer.pop_back();
  CHECK(Judge(c).error == "debug map of another length");
}

TEST_CASE("a trace has every instruction once") {
  Case c = ConvCase();
  c.debug_layer.assign(14, 0);
  const Bytes graph = c.Graph(), hardware = c.Hardware(), plan = c.Plan();
  std::vector<sluice_sim::TraceEvent> events;
  sluice_sim::SimulateOptions o = SimulationOf(graph, hardware, plan);
  o.trace = [&](const sluice_sim::TraceEvent& e) { events.push_back(e); };
  const auto r = sluice_sim::Simulate(o);
  CHECK(r.ok);
  CHECK(events.size() == 14);
  CHECK(r.instructions == 14);
  uint64_t busy = 0, last = 0;
  for (const auto& e : events) {
    CHECK(e.layer == 0);  // of transfers, the debug map tells
    if (e.engine == kCompute) busy += e.end - e.start;
    last = std::max(last, e.end);
  }
  CHECK(busy == 4 * 72);
  CHECK(last == r.cycles);
}

}  // namespace
}  // namespace sluice_test
