// SPDX-License-Identifier: Apache-2.0
// Plans on machines with memories of their own off chip, and of graphs whose weights lie
// there encoded: what they cost, what both judges refuse, and which machine is too small.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "firmware-sim/sim.h"
#include "sluice/plan_generated.h"
#include "support/library.h"
#include "support/simulation.h"
#include "support/wire_builder.h"

namespace sluice_test {
namespace {

// Two products of 32 x 64 x 128; the first one's 8,192 bytes of weights take `encoded`.
GraphSpec Products(uint64_t encoded) {
  GraphSpec g;
  const std::vector<int32_t> attributes = {1, 1, 1, 1, 0, 0,    0,
                                           0, 1, 0, 0, 0, -128, 127};
  g.tensors = {{{32, 64}, SLUICE_DTYPE_INT8, 1},
               {{128, 64}, SLUICE_DTYPE_INT8, 3, 3, 1, encoded},
               {{128, 3}, SLUICE_DTYPE_INT32, 3, 3, 2},
               {{32, 128}, SLUICE_DTYPE_INT8, 0},
               {{64, 128}, SLUICE_DTYPE_INT8, 3, 3, 3},
               {{64, 3}, SLUICE_DTYPE_INT32, 3, 3, 4},
               {{32, 64}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, attributes},
              {SLUICE_OP_FULLY_CONNECTED, {3, 4, 5}, {6}, attributes}};
  return g;
}

HardwareSpec Machine(uint64_t scratchpad) {
  HardwareSpec h;
  h.scratchpad_bytes = scratchpad;
  h.macs_per_cycle = 4096;
  return h;
}

struct Made {
  Bytes graph, hardware, plan;
  sluice_report_t report = {};
  sluice_diagnostic_t why = {};
  sluice_status_t status = SLUICE_OK;
};

// Plans, judges and executes.
Made Make(const GraphSpec& g, const HardwareSpec& h, uint32_t solver = 0) {
  Made made;
  made.graph = GraphBytes(g);
  made.hardware = HardwareBytes(h);
  Library library;
  const GraphPtr graph = library.Graph(made.graph);
  const HardwarePtr hardware = library.Hardware(made.hardware);
  INFO(library.diagnostic.message);
  REQUIRE(graph != nullptr);
  REQUIRE(hardware != nullptr);
  const PlanPtr plan = library.Schedule(graph, hardware, 0, solver);
  made.status = library.status;
  made.why = library.diagnostic;
  if (plan == nullptr) return made;
  CHECK(library.Verify(graph, hardware, plan) == SLUICE_OK);
  made.report = ReportOf(plan);
  made.plan = BytesOf(plan);
  const auto run = Execute(made.graph, made.hardware, made.plan);
  INFO(run.error);
  CHECK(run.ok);
  CHECK(run.mismatches == 0);
  CHECK(run.cycles == made.report.latency_cycles);
  return made;
}

TEST_CASE("off chip: encoded weights take fewer bytes, cycles and energy") {
  // All 22,528 bytes of inputs, weights and parameters are loaded once, at 4 bytes a cycle.
  for (const uint32_t solver : {SLUICE_SOLVER_DEFAULT, SLUICE_SOLVER_BASELINE}) {
    CAPTURE(solver);
    const Made plain = Make(Products(0), Machine(65536), solver);
    const Made packed = Make(Products(2048), Machine(65536), solver);
    CHECK(plain.report.dram_read_bytes - packed.report.dram_read_bytes == 8192 - 2048);
    CHECK(plain.report.latency_cycles - packed.report.latency_cycles ==
          (8192 - 2048) / 4);
    CHECK(plain.report.energy_dram_pj - packed.report.energy_dram_pj ==
          doctest::Approx((8192 - 2048) * 8 * 10));
    CHECK(plain.report.energy_scratchpad_pj ==
          doctest::Approx(packed.report.energy_scratchpad_pj));
    CHECK(packed.report.bound_latency_cycles < plain.report.bound_latency_cycles);
  }
}

TEST_CASE(
    "off chip: a flash's bandwidth, latency and energy count for its loads alone") {
  HardwareSpec h = Machine(65536);
  const Made plain = Make(Products(0), h, SLUICE_SOLVER_BASELINE);
  MemorySpec flash;
  flash.read_only = true;
  flash.numerator = 1;
  flash.read_pj = 25;
  h.memories = {flash};
  const Made slow = Make(Products(0), h, SLUICE_SOLVER_BASELINE);
  const uint64_t constants = 128 * 64 + 128 * 12 + 64 * 128 + 64 * 12;
  CHECK(slow.report.dram_read_bytes == plain.report.dram_read_bytes);
  CHECK(slow.report.energy_dram_pj - plain.report.energy_dram_pj ==
        doctest::Approx(static_cast<double>(constants) * 8 * 15));
  CHECK(slow.report.latency_cycles > plain.report.latency_cycles);
  CHECK(slow.report.latency_cycles <=
        plain.report.latency_cycles + constants * 3 / 4 + 8);
  CHECK(slow.report.bound_latency_cycles >= constants);
  h.memories[0].latency_cycles = 100;
  const Made late = Make(Products(0), h, SLUICE_SOLVER_BASELINE);
  CHECK(late.report.latency_cycles >= slow.report.latency_cycles + 100);
}

TEST_CASE(
    "off chip: a memory that is too small is named, a flash is no place for spills") {
  HardwareSpec h = Machine(16384);
  MemorySpec flash, ram;
  flash.read_only = true;
  flash.capacity_bytes = 18000;  // the constants take 18,688 bytes
  ram.regions = 1u << SLUICE_REGION_WORKSPACE;
  ram.capacity_bytes = 4096;
  h.memories = {flash, ram};
  const Made small = Make(Products(0), h);
  CHECK(small.status == SLUICE_INFEASIBLE);
  CHECK(small.why.required_bytes == 18688);
  CHECK(std::string(small.why.message).find("of memory 0, 0 of them") !=
        std::string::npos);
  CHECK(Make(Products(4096), h).status == SLUICE_OK);  // encoded, they fit
  h.memories[0].capacity_bytes = 0;
  CHECK(Make(Products(0), h).status == SLUICE_OK);
  h.memories[1].capacity_bytes = 4000;
  const Made spills = Make(Products(0), h, SLUICE_SOLVER_BASELINE);
  CHECK(spills.status == SLUICE_UNSUPPORTED);
  CHECK(std::string(spills.why.message) ==
        "the graph's tensors take 4096 bytes of memory 1, 4096 of them for "
        "intermediates; "
        "it has 4000, and nothing is spilled to memory 0, which is read only");
}

// Changes moved_bytes of each LOAD that has some, one after the other.
TEST_CASE("off chip: both judges refuse other encoded bytes than the tensor's share") {
  const Made made = Make(Products(2048), Machine(8192), SLUICE_SOLVER_BASELINE);
  REQUIRE(made.status == SLUICE_OK);
  Library library;
  const GraphPtr graph = library.Graph(made.graph);
  const HardwarePtr hardware = library.Hardware(made.hardware);
  int changed = 0;
  const auto* stream = sluice::wire::GetPlan(made.plan.data())->stream();
  const size_t begin = static_cast<size_t>(
      reinterpret_cast<const uint8_t*>(stream->Data()) - made.plan.data());
  sluice_stream_header_t header;
  std::memcpy(&header, made.plan.data() + begin, sizeof header);
  for (uint32_t b = 0; b < header.block_count; ++b) {
    sluice_block_t block;
    std::memcpy(&block,
                made.plan.data() + begin + header.block_offset + b * sizeof block,
                sizeof block);
    for (uint32_t t = 0; t < block.transfer_count; ++t) {
      const size_t at = begin + block.transfer_offset + t * sizeof(sluice_transfer_t);
      sluice_transfer_t transfer;
      std::memcpy(&transfer, made.plan.data() + at, sizeof transfer);
      const bool encoded = transfer.moved_bytes != 0;
      for (const uint32_t moved :
           {0u, transfer.moved_bytes - 1, transfer.moved_bytes + 1}) {
        if (moved == transfer.moved_bytes || moved == UINT32_MAX) continue;
        Bytes wrong = made.plan;
        transfer.moved_bytes = moved;
        std::memcpy(wrong.data() + at, &transfer, sizeof transfer);
        const PlanPtr plan = library.Plan(wrong);
        CHECK((plan == nullptr ||
               library.Verify(graph, hardware, plan) == SLUICE_REJECTED));
        CHECK_FALSE(Execute(made.graph, made.hardware, wrong).ok);
        std::memcpy(&transfer, made.plan.data() + at, sizeof transfer);
        changed += encoded ? 1 : 0;
      }
    }
  }
  CHECK(changed >= 3);
}

}  // namespace
}  // namespace sluice_test
