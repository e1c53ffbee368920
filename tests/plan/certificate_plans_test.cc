// SPDX-License-Identifier: Apache-2.0
// The judge takes the certificates of all plans, and none in which any field is changed.
// Random graphs on random machines and presets, with tile costs of the machine and of a
// caller; and networks, of whose layers some are changed.
//
// Environment: SLUICE_CERTIFICATE_CASES, the number of cases; SLUICE_CERTIFICATE_SEED, the
// first seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "sluice/plan_generated.h"
#include "support/library.h"
#include "support/seeded_case.h"
#include "support/setting.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

namespace wire = sluice::wire;

int32_t OneCycle(void*, uint32_t, const int32_t*, int32_t, sluice_tile_cost_t* cost) {
  cost->cycles = 1;
  cost->energy_pj = 0;
  return 1;
}

// A number in the bytes of a plan.
struct Place {
  std::string name;
  size_t at;
  bool energy;
};

void AddRow(const Bytes& plan, const wire::LayerLeast* row,
            std::vector<Place>* places) {
  const auto add = [&](const char* name, size_t at, bool energy) {
    const uint8_t* begin = reinterpret_cast<const uint8_t*>(row);
    places->push_back({name, static_cast<size_t>(begin - plan.data()) + at, energy});
  };
  add("cycles", 0, false);
  add("constant_bytes", 8, false);
  add("loaded_bytes", 16, false);
  add("stored_bytes", 24, false);
  add("energy_pj", 32, true);
}

// All numbers of the certificate; of more layers than `most` some.
std::vector<Place> PlacesOf(const Bytes& plan, uint32_t most) {
  using Of = wire::Certificate;
  const Of* certificate = wire::GetPlan(plan.data())->certificate();
  REQUIRE(certificate != nullptr);
  const auto* rows = certificate->layer();
  std::vector<Place> places;
  const uint32_t step = std::max(1u, rows->size() / most);
  for (uint32_t r = 0; r < rows->size(); r += step) AddRow(plan, rows->Get(r), &places);
  AddRow(plan, rows->Get(rows->size() - 1), &places);
  const auto add = [&](const char* name, uint16_t field, bool energy) {
    const uint8_t* at =
        reinterpret_cast<const flatbuffers::Table*>(certificate)->GetAddressOf(field);
    REQUIRE(at != nullptr);
    places.push_back({name, static_cast<size_t>(at - plan.data()), energy});
  };
  add("host_cycles", Of::VT_HOST_CYCLES, false);
  add("compute_cycles", Of::VT_COMPUTE_CYCLES, false);
  add("port_cycles", Of::VT_PORT_CYCLES, false);
  add("room_cycles", Of::VT_ROOM_CYCLES, false);
  add("again_pj", Of::VT_AGAIN_PJ, true);
  return places;
}

struct Tally {
  int plans = 0, changes = 0, accepted = 0;
  int room = 0, raised = 0;  // bounds by room; those that may be higher by one cycle
};

// Rows that were raised with all sums. The judge takes those of which it proves as much: of
// some tiles it counts more energy than the planner.
struct Raised {
  int tried = 0, accepted = 0;
};

struct Judged {
  Library* library;
  const GraphPtr& graph;
  const HardwarePtr& hardware;
};

// Sets the number to `value` and judges the plan.
template <typename T>
void Refuse(const Judged& of, const Place& place, T value, Bytes bytes, Tally* tally) {
  std::memcpy(bytes.data() + place.at, &value, sizeof value);
  const PlanPtr plan = of.library->Plan(bytes);
  REQUIRE(plan != nullptr);
  CAPTURE(place.name);
  CAPTURE(value);
  const sluice_status_t status = of.library->Verify(of.graph, of.hardware, plan);
  const std::string rule = of.library->diagnostic.rule;
  const std::string message = of.library->diagnostic.message;
  CAPTURE(message);
  CHECK(status == SLUICE_REJECTED);
  CHECK(rule == "certificate");
  CHECK(message.find(place.name) != std::string::npos);
  ++tally->changes;
  tally->accepted += status == SLUICE_OK ? 1 : 0;
}

void RefuseChanges(const Judged& of, const Bytes& plan, uint32_t most, Tally* tally) {
  const auto* rows = wire::GetPlan(plan.data())->certificate()->layer();
  const double all = rows->Get(rows->size() - 1)->energy_pj();
  const double bound = wire::GetPlan(plan.data())->report()->bound_energy_pj();
  for (const Place& place : PlacesOf(plan, most)) {
    if (place.energy) {
      double was = 0;
      std::memcpy(&was, plan.data() + place.at, sizeof was);
      // Less than a part in 1e9 of the energies is lost when they are added up.
      const double whole = place.name == "again_pj" ? bound : all;
      const double by = std::max({was / 1000, whole * 1e-8, 1e-6});
      Refuse(of, place, was + by, plan, tally);
      Refuse(of, place, was - by, plan, tally);
      Refuse(of, place, 0.0 / 0.0, plan, tally);
      Refuse(of, place, std::numeric_limits<double>::infinity(), plan, tally);
    } else {
      uint64_t was = 0;
      std::memcpy(&was, plan.data() + place.at, sizeof was);
      Refuse(of, place, was + 1, plan, tally);
      Refuse(of, place, was - 1, plan, tally);
      if (was > 1) Refuse(of, place, uint64_t{0}, plan, tally);
    }
  }
}

// The bound by room, with all that follows from it, one cycle higher: refused, but where the
// planner knows of elements that no layer needs and the judge does not.
void RaiseRoom(const Judged& of, const Bytes& plan, Tally* tally) {
  using Of = wire::Certificate;
  using Report = wire::Report;
  Bytes bytes = plan;
  const wire::Plan* root = wire::GetPlan(plan.data());
  const auto place = [&](const void* table, uint16_t field) {
    const auto* of_table = reinterpret_cast<const flatbuffers::Table*>(table);
    return bytes.data() + (of_table->GetAddressOf(field) - plan.data());
  };
  uint64_t room = 0, latency = root->report()->bound_latency_cycles();
  uint8_t* at = place(root->certificate(), Of::VT_ROOM_CYCLES);
  std::memcpy(&room, at, sizeof room);
  if (room == 0 || latency >= root->report()->latency_cycles()) return;
  const uint64_t more = latency + 1;
  const double leakage = root->report()->energy_leakage_pj() /
                         static_cast<double>(root->report()->latency_cycles()) *
                         (1 - 1e-9);
  const double energy = root->report()->bound_energy_pj() + leakage;
  std::memcpy(at, &more, sizeof more);
  std::memcpy(place(root->report(), Report::VT_BOUND_LATENCY_CYCLES), &more, 8);
  std::memcpy(place(root->report(), Report::VT_BOUND_ENERGY_PJ), &energy, 8);
  const PlanPtr changed = of.library->Plan(bytes);
  REQUIRE(changed != nullptr);
  ++tally->room;
  tally->raised += of.library->Verify(of.graph, of.hardware, changed) == SLUICE_OK;
}

// A row's energy or cycles somewhat higher, with all sums that follow from it.
void RaiseRow(const Judged& of, const Bytes& plan, uint32_t row, bool energy,
              Raised* raised) {
  using Of = wire::Certificate;
  using Report = wire::Report;
  Bytes bytes = plan;
  const wire::Plan* root = wire::GetPlan(plan.data());
  const auto at = [&](const void* table, uint16_t field) {
    const auto* of_table = reinterpret_cast<const flatbuffers::Table*>(table);
    const uint8_t* place = of_table->GetAddressOf(field);
    return place == nullptr ? nullptr : bytes.data() + (place - plan.data());
  };
  const auto add = [](uint8_t* place, auto by) {
    auto value = by;
    std::memcpy(&value, place, sizeof value);
    value += by;
    std::memcpy(place, &value, sizeof value);
  };
  const Of* certificate = root->certificate();
  const auto* rows = certificate->layer();
  const size_t field = energy ? 32 : 0;
  uint8_t* sums[2];
  for (int i = 0; i < 2; ++i) {
    const auto* place =
        reinterpret_cast<const uint8_t*>(rows->Get(i == 0 ? row : rows->size() - 1));
    sums[i] = bytes.data() + (place - plan.data()) + field;
  }
  uint8_t* compute = at(certificate, Of::VT_COMPUTE_CYCLES);
  uint8_t* bound = at(root->report(), Report::VT_BOUND_LATENCY_CYCLES);
  uint8_t* pj = at(root->report(), Report::VT_BOUND_ENERGY_PJ);
  if (compute == nullptr || bound == nullptr || pj == nullptr) return;
  if (energy) {
    const double more = rows->Get(rows->size() - 1)->energy_pj() * 1e-6 + 1e-3;
    for (uint8_t* sum : sums) add(sum, more);
    add(pj, more);
  } else {
    if (rows->Get(row)->cycles() == 0) return;
    for (uint8_t* sum : sums) add(sum, uint64_t{1});
    add(compute, uint64_t{1});
    const bool largest =
        certificate->compute_cycles() == root->report()->bound_latency_cycles();
    if (largest) add(bound, uint64_t{1});
  }
  const PlanPtr changed = of.library->Plan(bytes);
  REQUIRE(changed != nullptr);
  ++raised->tried;
  raised->accepted += of.library->Verify(of.graph, of.hardware, changed) == SLUICE_OK;
}

// The certificate of a plan is taken, and it gives the report's bounds.
bool CheckHonest(const Judged& of, const PlanPtr& plan) {
  sluice_certificate_t c;
  std::memset(&c, 0, sizeof c);
  c.struct_size = sizeof c;
  CHECK(sluice_plan_certificate(plan.get(), &c) == SLUICE_OK);
  const bool taken = of.library->Verify(of.graph, of.hardware, plan) == SLUICE_OK;
  INFO(of.library->diagnostic.message);
  CHECK(taken);
  CHECK(c.count != 0);
  CHECK(ReportOf(plan).bound_latency_cycles ==
        std::max(std::max(c.host_cycles, c.compute_cycles),
                 std::max(c.port_cycles, c.room_cycles)));
  uint64_t cycles = 0, stored = 0;
  for (uint32_t l = 0; l < c.count; ++l) {
    cycles += c.layers[l].cycles;
    stored += c.layers[l].stored_bytes;
  }
  CHECK(cycles == c.all.cycles);
  CHECK(stored == c.all.stored_bytes);
  return taken;
}

TEST_CASE("certificates: plans' own are taken, and with any field changed refused") {
  const uint64_t cases = Setting("SLUICE_CERTIFICATE_CASES", 360);
  const uint64_t begin = Setting("SLUICE_CERTIFICATE_SEED", 1);
  Tally tally;
  Raised raised;
  for (uint64_t seed = begin; seed < begin + cases; ++seed) {
    CAPTURE(seed);
    SeededCase c(seed);
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = seed % 3 == 0 ? SLUICE_SOLVER_BASELINE : SLUICE_SOLVER_DEFAULT;
    if (seed % 5 == 0) options.tile_cost = OneCycle;
    sluice_plan_t* raw = nullptr;
    const sluice_status_t status =
        sluice_schedule(c.library.context.get(), c.graph.get(), c.hardware.get(),
                        &options, &raw, &c.library.diagnostic);
    const PlanPtr plan(raw);
    INFO(c.library.diagnostic.message);
    CHECK((status == SLUICE_OK || status == SLUICE_INFEASIBLE ||
           status == SLUICE_UNSUPPORTED));
    if (plan == nullptr) continue;
    ++tally.plans;
    const Judged of = {&c.library, c.graph, c.hardware};
    if (CheckHonest(of, plan)) RefuseChanges(of, BytesOf(plan), 4, &tally);
    const Bytes bytes = BytesOf(plan);
    RaiseRoom(of, bytes, &tally);
    // What the caller's tiles take the judge does not know.
    const uint32_t rows =
        options.tile_cost != nullptr
            ? 0
            : wire::GetPlan(bytes.data())->certificate()->layer()->size();
    for (uint32_t row = 0; row + 1 < rows; ++row) {
      for (const bool of_energy : {false, true}) {
        RaiseRow(of, bytes, row, of_energy, &raised);
      }
    }
  }
  MESSAGE(raised.tried << " rows raised with their sums, of these accepted: "
                       << raised.accepted);
  MESSAGE(tally.plans << " certificates taken; of " << tally.changes
                      << " changes accepted: " << tally.accepted << "; of "
                      << tally.room
                      << " bounds by room may be higher: " << tally.raised);
  CHECK(25 * raised.accepted <= raised.tried);
  CHECK(tally.plans >= static_cast<int>(cases * 5 / 6));
  CHECK(100 * tally.raised <= tally.room);
}

// A caller whose tiles take 64 cycles for each output and channel, and 2 pJ for each cycle:
// tiles of a layer together take what the layer does in one. `*user` says how much of that
// the caller vouches for; below 0 it fails.
int32_t ByElements(void*, uint32_t, const int32_t extent[4], int32_t channels,
                   sluice_tile_cost_t* out) {
  out->cycles = 64 * std::max(channels, 1);
  for (int i = 0; i < 4; ++i) out->cycles *= extent[i];
  out->energy_pj = 2 * static_cast<double>(out->cycles);
  return out->cycles < int64_t{1} << 32 ? 1 : 0;
}

struct Vouched {
  double share;
  int calls;
};

int32_t Vouch(void* user, uint32_t layer, const int32_t extent[4], int32_t channels,
              sluice_tile_cost_t* out) {
  Vouched* vouched = static_cast<Vouched*>(user);
  ++vouched->calls;
  if (ByElements(nullptr, layer, extent, channels, out) == 0) return 0;
  out->cycles = static_cast<int64_t>(static_cast<double>(out->cycles) * vouched->share);
  out->energy_pj *= vouched->share;
  return vouched->share < 0 ? -1 : 1;
}

PlanPtr PlanVouched(const Judged& of, Vouched* vouched) {
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.solver = SLUICE_SOLVER_BASELINE;
  options.tile_cost = ByElements;
  options.tile_cost_user = vouched;
  options.tile_bound = vouched == nullptr ? nullptr : Vouch;
  sluice_plan_t* plan = nullptr;
  of.library->status =
      sluice_schedule(of.library->context.get(), of.graph.get(), of.hardware.get(),
                      &options, &plan, &of.library->diagnostic);
  return PlanPtr(plan);
}

// What the judge says of the plan with another number of cycles that the caller vouches for.
void RefuseOthers(const Judged& of, const Bytes& plan) {
  using Of = wire::Certificate;
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(
      wire::GetPlan(plan.data())->certificate());
  const uint8_t* cycles = table->GetAddressOf(Of::VT_CALLER_CYCLES);
  const uint8_t* energy = table->GetAddressOf(Of::VT_CALLER_PJ);
  REQUIRE(cycles != nullptr);
  const auto rule = [&](const uint8_t* at, auto by) {
    Bytes bytes = plan;
    uint8_t* place = bytes.data() + (at - plan.data());
    auto value = by;
    std::memcpy(&value, place, sizeof value);
    value += by;
    std::memcpy(place, &value, sizeof value);
    const PlanPtr changed = of.library->Plan(bytes);
    REQUIRE(changed != nullptr);
    CHECK(of.library->Verify(of.graph, of.hardware, changed) == SLUICE_REJECTED);
    return std::string(of.library->diagnostic.rule);
  };
  CHECK(rule(cycles, uint64_t{1}) == "certificate");
  CHECK(rule(cycles, ~uint64_t{0}) == "certificate");
  CHECK(rule(energy, 1000.0) == "certificate");
  CHECK(rule(energy, -1000.0) != "");
}

TEST_CASE("certificates: what a caller says of its tiles raises the report's bounds") {
  int raised = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    SeededCase c(seed);
    const Judged of = {&c.library, c.graph, c.hardware};
    const PlanPtr without = PlanVouched(of, nullptr);
    if (without == nullptr) continue;
    Vouched all = {1, 0}, nothing = {0, 0}, more = {8, 0}, fails = {-1, 0};
    const PlanPtr plan = PlanVouched(of, &all);
    INFO(c.library.diagnostic.message);
    REQUIRE(plan != nullptr);
    REQUIRE(CheckHonest(of, plan));
    const sluice_report_t was = ReportOf(without), is = ReportOf(plan);
    CHECK(is.latency_cycles == was.latency_cycles);
    CHECK(is.bound_latency_cycles >= was.bound_latency_cycles);
    CHECK(is.bound_latency_cycles <= is.latency_cycles);
    CHECK(is.bound_energy_pj <= is.energy_pj);
    CHECK(BytesOf(PlanVouched(of, &nothing)) == BytesOf(without));
    if (all.calls == 0) continue;
    CHECK(is.bound_energy_pj > was.bound_energy_pj);
    CHECK(PlanVouched(of, &fails) == nullptr);
    CHECK(c.library.status == SLUICE_BAD_ARGUMENT);
    const bool tight = 4 * is.bound_latency_cycles > is.latency_cycles;
    if (is.bound_latency_cycles == was.bound_latency_cycles || !tight) continue;
    ++raised;
    // Where tiles take most of the time, eight times as much is more than the plan takes.
    CHECK(PlanVouched(of, &more) == nullptr);
    CHECK(c.library.status == SLUICE_BAD_ARGUMENT);
    CHECK(std::string(c.library.diagnostic.message) ==
          "tile_bound: there is a plan that takes less");
    sluice_certificate_t certificate = {};
    certificate.struct_size = sizeof certificate;
    CHECK(sluice_plan_certificate(plan.get(), &certificate) == SLUICE_OK);
    if (certificate.compute_cycles == is.bound_latency_cycles && seed % 18 != 7) {
      RefuseOthers(of, BytesOf(plan));
    }
  }
  MESSAGE(raised << " bounds on latency raised");
  CHECK(raised >= 20);
}

TEST_CASE("certificates: what a caller says of its tiles needs its prices of tiles") {
  SeededCase c(1);
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.tile_bound = Vouch;
  sluice_plan_t* plan = nullptr;
  CHECK(sluice_schedule(c.library.context.get(), c.graph.get(), c.hardware.get(),
                        &options, &plan, &c.library.diagnostic) == SLUICE_BAD_ARGUMENT);
  CHECK(plan == nullptr);
  CHECK(std::string(c.library.diagnostic.message) ==
        "tile_bound goes with tile_cost or tile_rows");
}

// A bound by room that let the first tile wait for all channels was above plans that
// could be had: this call ended with SLUICE_INTERNAL.
TEST_CASE("certificates: mobilenet with a narrow DRAM has a plan above its bound") {
  nlohmann::json machine = nlohmann::json::parse(
      sluice::presets::HardwareAsJson(sluice::presets::LoadPreset("mcu-256k")));
  machine["levels"].back()["bytes_per_cycle_numerator"] = 8;
  machine["levels"].back()["bytes_per_cycle_denominator"] = 1;
  std::string error;
  const Bytes bytes = sluice::presets::HardwareFromJson(machine.dump(), &error);
  REQUIRE(error == "");
  Library library;
  const GraphPtr graph = library.Graph(sluice::zoo::MakeZooGraph("mobilenet_v1", {}));
  const HardwarePtr hardware = library.Hardware(bytes);
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.delay_exponent = 1;
  sluice_plan_t* raw = nullptr;
  const sluice_status_t status =
      sluice_schedule(library.context.get(), graph.get(), hardware.get(), &options,
                      &raw, &library.diagnostic);
  const PlanPtr plan(raw);
  INFO(library.diagnostic.message);
  REQUIRE(status == SLUICE_OK);
  const sluice_report_t report = ReportOf(plan);
  CHECK(report.bound_latency_cycles <= report.latency_cycles);
  CHECK(report.latency_cycles < 7000000);
}

TEST_CASE("certificates: those of networks, with any of some fields changed") {
  Tally tally;
  for (const char* name :
       {"resnet50", "mobilenet_v1", "gpt2_small_decode", "lstm_gnmt"}) {
    CAPTURE(name);
    const Bytes network = sluice::zoo::MakeZooGraph(name, {});
    for (const char* preset : {"soma-edge", "mcu-256k", "gemmini-16x16"}) {
      CAPTURE(preset);
      Library library;
      const GraphPtr graph = library.Graph(network);
      const HardwarePtr hardware =
          library.Hardware(sluice::presets::LoadPreset(preset));
      const PlanPtr plan = library.Schedule(graph, hardware, 0, SLUICE_SOLVER_BASELINE);
      if (plan == nullptr) continue;
      ++tally.plans;
      const Judged of = {&library, graph, hardware};
      if (CheckHonest(of, plan)) RefuseChanges(of, BytesOf(plan), 2, &tally);
      RaiseRoom(of, BytesOf(plan), &tally);
    }
  }
  MESSAGE(tally.plans << " certificates taken; of " << tally.changes
                      << " changes accepted: " << tally.accepted << "; of "
                      << tally.room
                      << " bounds by room may be higher: " << tally.raised);
  CHECK(tally.plans >= 9);
  // resnet50 as published has pixels that no layer reads.
  CHECK(tally.room >= 3);
  CHECK(tally.raised <= 1);
}

}  // namespace
}  // namespace sluice_test
