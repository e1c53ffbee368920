// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "io/read.h"
#include "io/write.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

// A plan with a value in every field, and an arena to write it to. It has three
// tensors, so that no vector is aligned by chance.
struct Written {
  TensorPlace places[3] = {{1, 5, {1, 2, 3, 4}},
                           {kRegionNowhere, 0, {0, 0, 0, 0}},
                           {3, uint64_t{1} << 40, {9, 8, 7, 6}}};
  PlanSection section[1] = {{7, 1, 0, 2}};
  uint32_t order[3] = {2, 1, 0};
  uint8_t cut[3] = {2, 1, 0};
  int32_t tiling[3] = {3, -4, 5};
  PlanDramTensor dram[2] = {{1, -1}, {0, 6}};
  uint32_t section_buffer[1] = {0}, buffer[2] = {64, 128};
  PlanSegment segment[2] = {{2, 1, 4096, 0}, {1, 1, 0, 512}};
  PlanLoop loop[2] = {{1, 7}, {4, 3}};
  uint32_t leave[3] = {0, 64, 0};
  PlanLayerHash layer_hash[2] = {{1, 2}, {3, 4}};
  sluice_layer_least_t least[2] = {{7, 1, 2, 3, 0.5}, {8, 4, 5, 6, 0.25}};
  Plan plan = {};
  Memory memory;
  Arena arena{&memory};
  PlanBytes out = {};
  Diagnostic diagnostic = {};

  explicit Written(uint64_t max_bytes = 0)
      : memory(sluice_test::Nouns::Allocator(), max_bytes) {
    plan.graph_hash = 0x1122334455667788;
    plan.hardware_hash = 99;
    plan.tensors = {places, 3};
    plan.notation = {{section, 1},
                     {order, 3},
                     {cut, 3},
                     {tiling, 3},
                     {dram, 2},
                     {section_buffer, 1},
                     {buffer, 2},
                     {segment, 0},
                     {loop, 0},
                     {leave, 0},
                     0};
    plan.layer_hash = {layer_hash, 2};
    plan.certificate.count = 2;
    plan.certificate.layers = least;
    plan.certificate.all = {15, 5, 7, 9, 0.75};
    plan.certificate.port_cycles = 44;
    plan.certificate.again_pj = 1.5;
    plan.report.latency_cycles = 1000;
    plan.report.energy_pj = 2.5;
    plan.report.stop_reason = SLUICE_STOP_DEADLINE;
    plan.report.iterations = 3;
    plan.report.groups = 4;
    plan.report.energy_noc_pj = 0.125;
  }
  Status Write(size_t stream_bytes) {
    return WritePlan(plan, stream_bytes, 5, &arena, &out, &diagnostic);
  }
};

TEST_CASE("write plan: the generated verifier takes it, the reader reads it back") {
  Written w;
  REQUIRE(w.Write(48) == Status::kOk);
  REQUIRE(w.out.stream.size() == 48);
  CHECK(reinterpret_cast<uintptr_t>(w.out.stream.data()) % 16 == 0);
  for (const uint8_t byte : w.out.stream) CHECK(byte == 0);
  REQUIRE(w.out.debug_layer.size() == 5);
  for (const uint32_t layer : w.out.debug_layer) CHECK(layer == 0);
  w.out.stream[47] = 200;
  w.out.debug_layer[4] = 31;
  ::flatbuffers::Verifier verifier(w.out.all.data(), w.out.all.size());
  CHECK(wire::VerifyPlanBuffer(verifier));
  CHECK(wire::GetPlan(w.out.all.data())->library_version() == SLUICE_ABI_VERSION);

  Plan back = {};
  REQUIRE(ReadPlan(w.out.all.data(), w.out.all.size(), &w.arena, &back,
                   &w.diagnostic) == Status::kOk);
  CHECK(back.graph_hash == w.plan.graph_hash);
  CHECK(back.hardware_hash == 99);
  REQUIRE(back.stream.size() == 48);
  CHECK(back.stream[47] == 200);
  CHECK(back.debug_layer[4] == 31);
  REQUIRE(back.tensors.size() == 3);
  for (size_t t = 0; t < 3; ++t) {
    CHECK(back.tensors[t].region == w.places[t].region);
    CHECK(back.tensors[t].offset == w.places[t].offset);
    CHECK(back.tensors[t].stride[3] == w.places[t].stride[3]);
  }
  const PlanNotation& n = back.notation;
  REQUIRE(n.section.size() == 1);
  CHECK(n.section[0].layer == 7);
  CHECK(memcmp(n.order.data(), w.order, sizeof w.order) == 0);
  CHECK(memcmp(n.cut.data(), w.cut, sizeof w.cut) == 0);
  CHECK(memcmp(n.tiling.data(), w.tiling, sizeof w.tiling) == 0);
  CHECK(memcmp(n.dram.data(), w.dram, sizeof w.dram) == 0);
  CHECK(n.section_buffer.size() == 1);
  CHECK(memcmp(n.buffer.data(), w.buffer, sizeof w.buffer) == 0);
  REQUIRE(back.layer_hash.size() == 2);
  CHECK(back.layer_hash[1] == w.layer_hash[1]);
  const sluice_certificate_t& certificate = back.certificate;
  REQUIRE(certificate.count == 2);
  CHECK(reinterpret_cast<uintptr_t>(certificate.layers) % 8 == 0);
  CHECK(memcmp(certificate.layers, w.least, sizeof w.least) == 0);
  CHECK(certificate.all.stored_bytes == 9);
  CHECK(certificate.all.energy_pj == 0.75);
  CHECK(certificate.port_cycles == 44);
  CHECK(certificate.again_pj == 1.5);
  CHECK(certificate.caller_cycles == 0);
  CHECK(back.report.latency_cycles == 1000);
  CHECK(back.report.energy_pj == 2.5);
  CHECK(back.report.iterations == 3);
  CHECK(back.report.groups == 4);
  CHECK(back.report.energy_noc_pj == 0.125);
}

TEST_CASE(
    "write plan: what a caller says of its tiles is there where it said something") {
  Written w;
  w.plan.certificate.caller_cycles = 77;
  w.plan.certificate.caller_pj = 2.5;
  REQUIRE(w.Write(48) == Status::kOk);
  const wire::Certificate* table = wire::GetPlan(w.out.all.data())->certificate();
  CHECK(table->again_pj() == 1.5);
  CHECK(table->caller_cycles() == 77);
  CHECK(table->caller_pj() == 2.5);
  flatbuffers::Verifier verifier(w.out.all.data(), w.out.all.size());
  CHECK(wire::VerifyPlanBuffer(verifier));
}

TEST_CASE("write plan: layers of a certificate off 8 bytes are refused by name") {
  Written w;
  w.least[0].cycles = 1;  // read as the length of a vector that begins 4 bytes later
  REQUIRE(w.Write(16) == Status::kOk);
  const wire::Certificate* certificate = wire::GetPlan(w.out.all.data())->certificate();
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(certificate);
  uint8_t* field =
      const_cast<uint8_t*>(table->GetAddressOf(wire::Certificate::VT_LAYER));
  flatbuffers::WriteScalar(field, flatbuffers::ReadScalar<uint32_t>(field) + 4);
  Plan back = {};
  CHECK(ReadPlan(w.out.all.data(), w.out.all.size(), &w.arena, &back, &w.diagnostic) ==
        Status::kBadInput);
  CHECK(std::string(w.diagnostic.message) ==
        "the certificate's layers are not 8-byte aligned");
}

TEST_CASE("write plan: segments are read back, with cuts they are refused") {
  Written w;
  PlanNotation* n = &w.plan.notation;
  n->segment = {w.segment, 2};
  n->loop = {w.loop, 2};
  n->leave = {w.leave, 3};
  n->placing = 2;
  Plan back = {};
  REQUIRE(w.Write(16) == Status::kOk);
  CHECK(ReadPlan(w.out.all.data(), w.out.all.size(), &w.arena, &back, &w.diagnostic) ==
        Status::kBadInput);
  n->cut = {};
  n->tiling = {};
  REQUIRE(w.Write(16) == Status::kOk);
  REQUIRE(ReadPlan(w.out.all.data(), w.out.all.size(), &w.arena, &back,
                   &w.diagnostic) == Status::kOk);
  REQUIRE(back.notation.segment.size() == 2);
  REQUIRE(back.notation.loop.size() == 2);
  REQUIRE(back.notation.leave.size() == 3);
  CHECK(memcmp(back.notation.segment.data(), w.segment, sizeof w.segment) == 0);
  CHECK(memcmp(back.notation.loop.data(), w.loop, sizeof w.loop) == 0);
  CHECK(memcmp(back.notation.leave.data(), w.leave, sizeof w.leave) == 0);
  CHECK(back.notation.placing == 2);
}

TEST_CASE("write plan: how the search ended is put in afterwards, and nothing else") {
  Written w, same;
  REQUIRE(w.Write(16) == Status::kOk);
  REQUIRE(same.Write(16) == Status::kOk);
  REQUIRE(w.out.all.size() == same.out.all.size());
  CHECK(memcmp(w.out.all.data(), same.out.all.data(), w.out.all.size()) == 0);
  NoteEnd(SLUICE_STOP_PROVED, uint64_t{1} << 50, &w.out);
  const wire::Report* report = wire::GetPlan(w.out.all.data())->report();
  CHECK(report->stop_reason() == SLUICE_STOP_PROVED);
  CHECK(report->iterations() == uint64_t{1} << 50);
  CHECK(report->latency_cycles() == 1000);
  NoteEnd(SLUICE_STOP_DEADLINE, 3, &w.out);
  CHECK(memcmp(w.out.all.data(), same.out.all.data(), w.out.all.size()) == 0);
}

TEST_CASE("write plan: 2 GiB and no memory are refused with their bytes") {
  Written large;
  CHECK(large.Write(size_t{1} << 31) == Status::kUnsupported);
  CHECK(std::string(large.diagnostic.message) == "the plan exceeds 2 GiB");
  CHECK(large.diagnostic.required_bytes > size_t{1} << 31);
  Written none(1000);
  CHECK(none.Write(4096) == Status::kOutOfMemory);
  CHECK(none.diagnostic.required_bytes > 4096);
  CHECK(none.out.all.empty());
}

}  // namespace
}  // namespace sluice
