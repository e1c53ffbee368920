// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>

#include "io/read.h"
#include "support/read_graph.h"

namespace sluice_test {
namespace {

// The vectors of a valid plan.
struct PlanColumns {
  uint32_t version = 0;
  bool has_stream = true, has_report = true;
  std::vector<uint8_t> region = {2, 255};
  std::vector<uint64_t> offset = {uint64_t{1} << 33, 0};
  std::vector<uint32_t> strides = {64, 32, 8, 1, 5, 6, 7, 8};
  std::vector<uint32_t> debug_layer = {4, 5};
  std::vector<sluice::wire::Section> section = {{0, 0, 0, 0}, {1, 1, 0, 2}};
  std::vector<uint32_t> order = {0, 1, 2};
  std::vector<uint8_t> cut = {2, 0, 1};
  std::vector<int32_t> tiling = {1, 0, 4};
  std::vector<sluice::wire::DramTensor> dram = {{3, -1}, {4, 2}};
  std::vector<uint32_t> section_buffer = {0, 1}, buffer = {16, 32};

  Bytes Plan() const {
    ::flatbuffers::FlatBufferBuilder b;
    const std::vector<sluice::wire::Words> words = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    const auto v_stream = b.CreateVectorOfStructs(words);
    const auto v_region = b.CreateVector(region);
    const auto v_offset = b.CreateVector(offset);
    const auto v_strides = b.CreateVector(strides);
    const auto v_debug = b.CreateVector(debug_layer);
    const auto v_section = b.CreateVectorOfStructs(section);
    const auto v_order = b.CreateVector(order);
    const auto v_cut = b.CreateVector(cut);
    const auto v_tiling = b.CreateVector(tiling);
    const auto v_dram = b.CreateVectorOfStructs(dram);
    const auto v_section_buffer = b.CreateVector(section_buffer);
    const auto v_buffer = b.CreateVector(buffer);
    sluice::wire::ReportBuilder r(b);
    r.add_latency_cycles(77);
    r.add_energy_noc_pj(1.5);
    r.add_stop_reason(SLUICE_STOP_ITERATIONS);
    const auto report = r.Finish();
    sluice::wire::PlanBuilder p(b);
    p.add_version(version);
    p.add_graph_hash(11);
    p.add_hardware_hash(12);
    if (has_stream) p.add_stream(v_stream);
    if (has_report) p.add_report(report);
    p.add_tensor_region(v_region);
    p.add_tensor_offset(v_offset);
    p.add_tensor_strides(v_strides);
    p.add_debug_layer(v_debug);
    p.add_section(v_section);
    p.add_order(v_order);
    p.add_cut(v_cut);
    p.add_tiling(v_tiling);
    p.add_dram(v_dram);
    p.add_section_buffer(v_section_buffer);
    p.add_buffer(v_buffer);
    b.Finish(p.Finish(), sluice::wire::PlanIdentifier());
    return Finished(b);
  }
};

struct Reading {
  explicit Reading(const PlanColumns& columns) : bytes(columns.Plan()) {
    status = sluice::ReadPlan(bytes.data(), bytes.size(), &arena, &plan, &diagnostic);
  }
  Bytes bytes;
  sluice::Memory memory{Nouns::Allocator(), 0};
  sluice::Arena arena{&memory};
  sluice::Plan plan = {};
  sluice::Diagnostic diagnostic = {};
  sluice::Status status;
};

TEST_CASE("read plan: what was written is what is read") {
  const Reading r{PlanColumns()};
  REQUIRE(r.status == sluice::Status::kOk);
  CHECK(r.plan.graph_hash == 11);
  CHECK(r.plan.hardware_hash == 12);
  REQUIRE(r.plan.stream.size() == 32);
  CHECK(r.plan.stream[4] == 2);
  CHECK(r.plan.stream[16] == 5);
  REQUIRE(r.plan.tensors.size() == 2);
  CHECK(r.plan.tensors[0].region == 2);
  CHECK(r.plan.tensors[0].offset == uint64_t{1} << 33);
  CHECK(r.plan.tensors[0].stride[1] == 32);
  CHECK(r.plan.tensors[1].region == sluice::kRegionNowhere);
  CHECK(r.plan.tensors[1].stride[0] == 5);
  CHECK(r.plan.debug_layer[1] == 5);
  const sluice::PlanNotation& n = r.plan.notation;
  REQUIRE(n.section.size() == 2);
  CHECK(n.section[1].layer == 1);
  CHECK(n.section[1].kind == sluice::kFusedSection);
  CHECK(n.section[1].transfers == 2);
  CHECK(n.cut[2] == 1);
  CHECK(n.tiling[2] == 4);
  CHECK(n.dram[0].duration == -1);
  CHECK(n.dram[1].tensor == 4);
  CHECK(n.section_buffer[1] == 1);
  CHECK(n.buffer[1] == 32);
  CHECK(r.plan.report.struct_size == sizeof r.plan.report);
  CHECK(r.plan.report.latency_cycles == 77);
  CHECK(r.plan.report.energy_noc_pj == 1.5);
  CHECK(r.plan.report.stop_reason == SLUICE_STOP_ITERATIONS);
  CHECK(r.plan.report.macs == 0);
}

TEST_CASE("read plan: offsets of buffers that are not per section count as none") {
  PlanColumns columns;
  columns.section_buffer = {0};
  const Reading r{columns};
  REQUIRE(r.status == sluice::Status::kOk);
  CHECK(r.plan.notation.section_buffer.empty());
  CHECK(r.plan.notation.buffer.size() == 2);
}

TEST_CASE("read plan: vectors that contradict each other are refused") {
  using Spoil = std::function<void(PlanColumns*)>;
  const std::string places =
      "tensor_region, tensor_offset and tensor_strides differ in length";
  const std::string notation =
      "order, cut and tiling differ in length, or a section exceeds dram";
  const std::vector<std::pair<Spoil, std::string>> cases = {
      {[](PlanColumns* p) { p->version = 3; },
       "plan version 3; this library reads version 0"},
      {[](PlanColumns* p) { p->has_stream = false; },
       "the plan has no stream or no report"},
      {[](PlanColumns* p) { p->has_report = false; },
       "the plan has no stream or no report"},
      {[](PlanColumns* p) { p->offset.pop_back(); }, places},
      {[](PlanColumns* p) { p->strides.pop_back(); }, places},
      {[](PlanColumns* p) { p->cut.pop_back(); }, notation},
      {[](PlanColumns* p) { p->tiling.push_back(1); }, notation},
      {[](PlanColumns* p) {
         p->section[1] = {1, 1, 1, 2};
       },
       notation},
      {[](PlanColumns* p) {
         p->section[1] = {1, 1, 3, 0};
       },
       notation},
      {[](PlanColumns* p) {
         p->section[1] = {1, 1, 2, 0xffffffff};
       },
       notation},
  };
  for (const auto& c : cases) {
    PlanColumns columns;
    c.first(&columns);
    const Reading r{columns};
    CHECK(r.status == (columns.version == 0 ? sluice::Status::kBadInput
                                            : sluice::Status::kUnsupported));
    CHECK(std::string(r.diagnostic.message) == c.second);
    CHECK(std::string(r.diagnostic.stage) == "plan");
  }
}

}  // namespace
}  // namespace sluice_test
