// SPDX-License-Identifier: Apache-2.0
// Plans rescheduled after edits: verified by the library, executed by the simulator.
#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "firmware-sim/sim.h"
#include "io/read.h"
#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "sluice/plan_generated.h"
#include "support/graph_edit.h"
#include "support/library.h"
#include "support/malloc_allocator.h"
#include "support/simulation.h"
#include "zoo/zoo.h"

namespace {

using sluice_test::Bytes;
using sluice_test::GraphSpec;
using sluice_test::Library;
using sluice_test::PlanPtr;

Bytes PlanBytesOf(const PlanPtr& plan) {
  const void* bytes = nullptr;
  size_t size = 0;
  REQUIRE(sluice_plan_bytes(plan.get(), &bytes, &size) == SLUICE_OK);
  const uint8_t* first = static_cast<const uint8_t*>(bytes);
  return Bytes(first, first + size);
}

double EnergyOf(const PlanPtr& plan) { return ReportOf(plan).energy_pj; }

double Product(const PlanPtr& plan) {
  return EnergyOf(plan) * static_cast<double>(ReportOf(plan).latency_cycles);
}

struct Result {
  PlanPtr plan;
  sluice_change_t change = {};
};

sluice_schedule_options_t Options() {
  sluice_schedule_options_t schedule = {};
  schedule.struct_size = sizeof schedule;
  return schedule;
}

Result RescheduleWith(Library* library, const PlanPtr& before, const Bytes& graph,
                      const Bytes& hardware, const sluice_schedule_options_t& schedule,
                      bool minimise = false) {
  const auto g = library->Graph(graph);
  REQUIRE(library->status == SLUICE_OK);
  const auto h = library->Hardware(hardware);
  REQUIRE(library->status == SLUICE_OK);
  sluice_reschedule_options_t options = {};
  options.struct_size = sizeof options;
  options.previous = before.get();
  options.schedule = &schedule;
  options.minimise_changes = minimise ? 1 : 0;
  Result result;
  result.change.struct_size = sizeof result.change;
  options.change = &result.change;
  sluice_plan_t* plan = nullptr;
  const sluice_status_t status = sluice_reschedule(
      library->context.get(), g.get(), h.get(), &options, &plan, &library->diagnostic);
  INFO(library->diagnostic.message);
  REQUIRE(status == SLUICE_OK);
  result.plan.reset(plan);
  CHECK(library->Verify(g, h, result.plan) == SLUICE_OK);
  return result;
}

Result Reschedule(Library* library, const PlanPtr& before, const Bytes& graph,
                  const Bytes& hardware, uint64_t scratchpad_bytes = 0,
                  bool minimise = false, uint64_t block_cycles = 0,
                  uint64_t deadline_ns = 0) {
  sluice_schedule_options_t schedule = Options();
  schedule.scratchpad_bytes = scratchpad_bytes;
  schedule.max_block_cycles = block_cycles;
  schedule.deadline_ns = deadline_ns;
  schedule.solver = SLUICE_SOLVER_FUSION;
  return RescheduleWith(library, before, graph, hardware, schedule, minimise);
}

// functional: the simulator computes data. Without it, for networks that take long, only
// waits, addresses and cycles are checked.
void CheckExecutes(const PlanPtr& plan, const Bytes& graph, const Bytes& hardware,
                   bool functional = true) {
  const Bytes bytes = PlanBytesOf(plan);
  sluice_sim::SimulateOptions o = sluice_test::SimulationOf(graph, hardware, bytes);
  o.functional = functional;
  const sluice_sim::SimulateResult run = sluice_sim::Simulate(o);
  INFO(run.error);
  CHECK(run.ok);
  CHECK(run.mismatches == 0);
  CHECK(run.cycles == run.predicted_cycles);
}

PlanPtr FirstPlan(Library* library, const Bytes& graph, const Bytes& hardware,
                  uint64_t max_iterations = 0, uint32_t solver = SLUICE_SOLVER_FUSION) {
  const auto g = library->Graph(graph);
  const auto h = library->Hardware(hardware);
  PlanPtr plan = library->Schedule(g, h, 0, solver, max_iterations);
  INFO(library->diagnostic.message);
  REQUIRE(library->status == SLUICE_OK);
  return plan;
}

Bytes ScaledHardware(const Bytes& hardware, const char* field, int factor) {
  using Json = nlohmann::json;
  Json json = Json::parse(sluice::presets::HardwareAsJson(hardware));
  Json* dram = &json["levels"].back();
  Json* value = dram->contains(field) ? &(*dram)[field] : &json[field];
  *value = value->get<int64_t>() * factor;
  std::string error;
  return sluice::presets::HardwareFromJson(json.dump(), &error);
}

}  // namespace

TEST_CASE("a plan of nothing new is the plan before, byte for byte of its stream") {
  for (const char* machine : {"soma-edge", "mcu-256k"}) {
    for (const char* name : {"mobilenet_v1", "gpt2_small_decode"}) {
      CAPTURE(name);
      CAPTURE(machine);
      const Bytes graph = sluice::zoo::MakeZooGraph(name, {});
      const Bytes hardware = sluice::presets::LoadPreset(machine);
      Library library;
      const PlanPtr before = FirstPlan(&library, graph, hardware);
      const Result r = Reschedule(&library, before, graph, hardware);
      CHECK(r.change.from_scratch == 0);
      CHECK(r.change.changed == 0);
      CHECK(r.change.layers_changed + r.change.layers_inserted +
                r.change.layers_removed ==
            0);
      CHECK(r.change.blocks_changed == 0);
      CHECK(r.change.patch_bytes == 0);
      CHECK(Product(r.plan) == Product(before));
    }
  }
}

TEST_CASE(
    "a default plan of nothing new is kept, and with another objective improved") {
  const Bytes graph = sluice::zoo::MakeZooGraph("squeezenet", {});
  const Bytes hardware = sluice::presets::LoadPreset("mcu-256k");
  Library library;
  const auto g = library.Graph(graph);
  const auto h = library.Hardware(hardware);
  const PlanPtr before = library.Schedule(g, h, 0, SLUICE_SOLVER_DEFAULT);
  REQUIRE(library.status == SLUICE_OK);
  const Result same = RescheduleWith(&library, before, graph, hardware, Options());
  CHECK(same.change.from_scratch == 0);
  CHECK(same.change.blocks_changed == 0);
  CHECK(PlanBytesOf(same.plan) == PlanBytesOf(before));
  sluice_schedule_options_t energy = Options();
  energy.energy_exponent = 1;
  sluice_plan_t* made = nullptr;
  REQUIRE(sluice_schedule(library.context.get(), g.get(), h.get(), &energy, &made,
                          &library.diagnostic) == SLUICE_OK);
  const PlanPtr fresh(made);
  REQUIRE(EnergyOf(fresh) < 0.99 * EnergyOf(before));
  const Result other = RescheduleWith(&library, before, graph, hardware, energy);
  CHECK(other.change.from_scratch == 1);
  CHECK(EnergyOf(other.plan) == EnergyOf(fresh));
  // With minimise_changes the earlier plan is kept as it is.
  const Result few = RescheduleWith(&library, before, graph, hardware, energy, true);
  CHECK(few.change.from_scratch == 0);
  CHECK(EnergyOf(few.plan) == EnergyOf(before));
}

void CheckEdits(uint32_t solver) {
  const Bytes graph = sluice::zoo::MakeZooGraph("mobilenet_v1", {});
  const Bytes hardware = sluice::presets::LoadPreset("soma-edge");
  Library library;
  const PlanPtr before = FirstPlan(&library, graph, hardware, 0, solver);
  sluice_schedule_options_t schedule = Options();
  schedule.solver = solver;
  const auto check = [&](const char* what, const GraphSpec& spec, uint32_t changed,
                         uint32_t inserted, uint32_t removed) {
    CAPTURE(what);
    const Bytes edited = sluice_test::GraphBytes(spec);
    const Result r = RescheduleWith(&library, before, edited, hardware, schedule);
    CHECK(r.change.from_scratch == 0);
    CHECK(r.change.changed == SLUICE_CHANGED_GRAPH);
    CHECK(r.change.layers_changed == changed);
    CHECK(r.change.layers_inserted == inserted);
    CHECK(r.change.layers_removed == removed);
    CheckExecutes(r.plan, edited, hardware);
    Library other;
    const PlanPtr fresh = FirstPlan(&other, edited, hardware, 0, solver);
    CHECK(Product(r.plan) < 1.02 * Product(fresh));
  };
  GraphSpec spec = sluice_test::SpecOf(graph);
  size_t conv = 6;
  while (!sluice_test::ChangeWindow(&spec, conv)) ++conv;
  check("window", spec, 1, 0, 0);
  spec = sluice_test::SpecOf(graph);
  REQUIRE(sluice_test::InsertLayer(&spec, 12));
  check("inserted", spec, 1, 1, 0);
  spec = sluice_test::SpecOf(graph);
  size_t layer = 8;
  while (!sluice_test::RemoveLayer(&spec, layer)) ++layer;
  check("removed", spec, 1, 0, 1);
}

TEST_CASE("edits of one layer: recognised, verified, executed, no worse than 2 %") {
  SUBCASE("fused layers") { CheckEdits(SLUICE_SOLVER_FUSION); }
  SUBCASE("segments") { CheckEdits(SLUICE_SOLVER_DEFAULT); }
}

TEST_CASE(
    "a remade plan is no worse than one from scratch, whichever solver finds it") {
  const Bytes hardware = sluice::presets::LoadPreset("mcu-256k");
  for (const char* name : {"resnet50", "googlenet"}) {
    CAPTURE(name);
    const Bytes graph = sluice::zoo::MakeZooGraph(name, {});
    Library library;
    const PlanPtr before = FirstPlan(&library, graph, hardware);
    const auto g = library.Graph(graph);
    const auto h = library.Hardware(hardware);
    sluice_schedule_options_t schedule = {};
    schedule.struct_size = sizeof schedule;
    schedule.scratchpad_bytes = 60 << 10;
    sluice_reschedule_options_t options = {};
    options.struct_size = sizeof options;
    options.previous = before.get();
    options.schedule = &schedule;
    sluice_plan_t* made = nullptr;
    REQUIRE(sluice_reschedule(library.context.get(), g.get(), h.get(), &options, &made,
                              &library.diagnostic) == SLUICE_OK);
    const PlanPtr remade(made);
    CHECK(library.Verify(g, h, remade) == SLUICE_OK);
    REQUIRE(sluice_schedule(library.context.get(), g.get(), h.get(), &schedule, &made,
                            &library.diagnostic) == SLUICE_OK);
    const PlanPtr fresh(made);
    CHECK(Product(remade) < 1.02 * Product(fresh));
  }
}

// The first transfers of a plan's first section in DRAM order, and the offsets of its first
// buffers.
struct Head {
  std::vector<std::pair<uint32_t, int32_t>> dram;
  std::vector<uint32_t> offsets;
};

Head HeadOf(const PlanPtr& plan, uint32_t transfers, size_t buffers) {
  const Bytes bytes = PlanBytesOf(plan);
  sluice::Memory memory(sluice_test::Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Plan read = {};
  sluice::Diagnostic diagnostic = {};
  REQUIRE(sluice::ReadPlan(bytes.data(), bytes.size(), &arena, &read, &diagnostic) ==
          sluice::Status::kOk);
  const sluice::PlanSection& section = read.notation.section[0];
  REQUIRE(section.kind == sluice::kFusedSection);
  REQUIRE(section.transfers > 2 * transfers);
  Head head;
  for (uint32_t i = section.dram; i < section.dram + section.transfers; ++i) {
    const sluice::PlanDramTensor& t = read.notation.dram[i];
    if (t.tensor < transfers) head.dram.push_back({t.tensor, t.duration});
  }
  const auto offsets = read.notation.buffer;
  REQUIRE(offsets.size() > buffers);
  head.offsets.assign(offsets.begin(), offsets.begin() + buffers);
  return head;
}

TEST_CASE("what stands in front of an edit keeps DRAM order, durations and addresses") {
  const Bytes hardware = sluice::presets::LoadPreset("soma-edge");
  constexpr uint32_t kTransfers = 25;
  for (const char* name : {"mobilenet_v1", "resnet50"}) {
    CAPTURE(name);
    const Bytes graph = sluice::zoo::MakeZooGraph(name, {});
    Library library;
    // An annealed plan, whose DRAM order differs from that of a list schedule.
    const PlanPtr before = FirstPlan(&library, graph, hardware, 3000);
    const Head head = HeadOf(before, kTransfers, kTransfers);
    using Change = bool (*)(GraphSpec*, size_t);
    for (const Change change :
         {Change{sluice_test::InsertLayer}, Change{sluice_test::RemoveLayer}}) {
      GraphSpec spec = sluice_test::SpecOf(graph);
      size_t layer = spec.layers.size() * 3 / 4;
      while (!change(&spec, layer)) ++layer;
      const Bytes edited = sluice_test::GraphBytes(spec);
      // minimise_changes keeps the DRAM order even where a list schedule would be cheaper.
      const Result r = Reschedule(&library, before, edited, hardware, 0, true);
      CHECK(r.change.from_scratch == 0);
      const Head now = HeadOf(r.plan, kTransfers, kTransfers);
      CHECK(now.dram == head.dram);
      CHECK(now.offsets == head.offsets);
    }
  }
}

TEST_CASE("another batch, scratchpad, bandwidth or clock: recognised and verified") {
  const Bytes graph = sluice::zoo::MakeZooGraph("mobilenet_v1", {});
  const Bytes hardware = sluice::presets::LoadPreset("mcu-256k");
  Library library;
  const PlanPtr before = FirstPlan(&library, graph, hardware);
  sluice::zoo::ZooOptions two;
  two.batch = 2;
  const Bytes twice = sluice::zoo::MakeZooGraph("mobilenet_v1", two);
  const Result batch = Reschedule(&library, before, twice, hardware);
  CHECK(batch.change.from_scratch == 0);
  CHECK(batch.change.changed == SLUICE_CHANGED_GRAPH);
  CHECK(batch.change.layers_inserted + batch.change.layers_removed == 0);
  CHECK(batch.change.layers_changed > 20);
  for (const uint64_t bytes : {uint64_t{192} << 10, uint64_t{96} << 10}) {
    CAPTURE(bytes);
    const Result less = Reschedule(&library, before, graph, hardware, bytes);
    CHECK(less.change.changed == SLUICE_CHANGED_SCRATCHPAD);
    sluice_report_t report = {};
    report.struct_size = sizeof report;
    REQUIRE(sluice_plan_report(less.plan.get(), &report) == SLUICE_OK);
    CHECK(report.peak_buffer_bytes <= bytes);
  }
  const Result faster =
      Reschedule(&library, before, graph,
                 ScaledHardware(hardware, "bytes_per_cycle_numerator", 2));
  CHECK(faster.change.changed == SLUICE_CHANGED_HARDWARE);
  CHECK(Product(faster.plan) < Product(before));
  const Result clock =
      Reschedule(&library, before, graph, ScaledHardware(hardware, "clock_hz", 2));
  CHECK(clock.change.changed == SLUICE_CHANGED_HARDWARE);
}

// Making the fused plan fit the smaller scratchpad takes longer than the deadline; the plain
// plan takes a tenth of it.
TEST_CASE(
    "under a deadline, what does not fit any more leaves time for the plain plan") {
  const Bytes hardware = sluice::presets::LoadPreset("mcu-256k");
  for (const char* name : {"mobilenet_v1", "resnet50"}) {
    CAPTURE(name);
    const Bytes graph = sluice::zoo::MakeZooGraph(name, {});
    Library library;
    const PlanPtr before = FirstPlan(&library, graph, hardware);
    Reschedule(&library, before, graph, hardware, 96 << 10, false, 0, 400000000);
  }
}

TEST_CASE("plans that say nothing of this graph lead to a plan from scratch") {
  const Bytes hardware = sluice::presets::LoadPreset("soma-edge");
  const Bytes graph = sluice::zoo::MakeZooGraph("mobilenet_v1", {});
  Library library;
  const PlanPtr other =
      FirstPlan(&library, sluice::zoo::MakeZooGraph("gpt2_small_decode", {}), hardware);
  const Result r = Reschedule(&library, other, graph, hardware);
  CheckExecutes(r.plan, graph, hardware);
  // Damaged notations are never trusted: damages every 97th byte behind the stream.
  const PlanPtr before = FirstPlan(&library, graph, hardware);
  const Bytes bytes = PlanBytesOf(before);
  const void* stream = nullptr;
  size_t stream_bytes = 0;
  REQUIRE(sluice_plan_stream(before.get(), &stream, &stream_bytes) == SLUICE_OK);
  for (size_t at = bytes.size() - 1; at > stream_bytes + 1024; at -= 97) {
    Bytes damaged = bytes;
    damaged[at] ^= static_cast<uint8_t>(1 + at % 255);
    const PlanPtr plan = library.Plan(damaged);
    if (library.status != SLUICE_OK) continue;
    (void)Reschedule(&library, plan, graph, hardware);
  }
}

// Changes numbers in the segments of a plan, but not the total of their layers and of their
// loops, so that a check of the counts alone does not find the damage.
void DamageSegments(Bytes* plan, std::mt19937* random) {
  using sluice::wire::Loop;
  using sluice::wire::Segment;
  const sluice::wire::Plan* of = sluice::wire::GetPlan(plan->data());
  REQUIRE(of->segment() != nullptr);
  const auto any = [&](uint32_t below) { return (*random)() % below; };
  const uint32_t at = any(of->segment()->size() - 1);
  Segment* one = const_cast<Segment*>(of->segment()->Get(at));
  Segment* next = const_cast<Segment*>(of->segment()->Get(at + 1));
  const uint32_t layers = any(one->layers()), loops = any(one->loops() + 1);
  *next = Segment(next->layers() + layers, next->loops() + loops, next->slice(),
                  next->piece());
  *one = Segment(one->layers() - layers, one->loops() - loops,
                 any(2) == 0 ? any(4096) : one->slice(),
                 any(2) == 0 ? any(4096) : one->piece());
  if (of->loop() == nullptr) return;
  for (uint32_t i = 0; i < of->loop()->size(); ++i) {
    Loop* loop = const_cast<Loop*>(of->loop()->Get(i));
    if (any(3) == 0) *loop = Loop(any(5), loop->trips());
    if (any(3) == 0) *loop = Loop(loop->axis(), 2 + static_cast<int32_t>(any(15)));
  }
}

TEST_CASE("segments that the search would not have chosen lead to a valid plan") {
  std::mt19937 random(7);
  const struct {
    const char *network, *machine;
  } cases[] = {{"mobilenet_v1", "mcu-256k"},
               {"gpt2_small_decode", "mcu-256k"},
               {"vit_b_16", "soma-edge"}};
  for (const auto& c : cases) {
    CAPTURE(c.network);
    const Bytes graph = sluice::zoo::MakeZooGraph(c.network, {});
    const Bytes hardware = sluice::presets::LoadPreset(c.machine);
    GraphSpec spec = sluice_test::SpecOf(graph);
    REQUIRE(sluice_test::InsertLayer(&spec, spec.layers.size() - 2));
    const Bytes edited = sluice_test::GraphBytes(spec);
    Library library;
    const Bytes before =
        PlanBytesOf(FirstPlan(&library, graph, hardware, 0, SLUICE_SOLVER_DEFAULT));
    for (int round = 0; round < 16; ++round) {
      CAPTURE(round);
      Bytes damaged = before;
      DamageSegments(&damaged, &random);
      const PlanPtr plan = library.Plan(damaged);
      if (library.status != SLUICE_OK) continue;
      (void)RescheduleWith(&library, plan, edited, hardware, Options(), round % 2 == 0);
    }
  }
}

TEST_CASE("arguments are checked") {
  const Bytes hardware = sluice::presets::LoadPreset("soma-edge");
  const Bytes graph = sluice::zoo::MakeZooGraph("mobilenet_v1", {});
  Library library;
  const PlanPtr before = FirstPlan(&library, graph, hardware);
  sluice_plan_t* plan = nullptr;
  const auto g = library.Graph(graph);
  const auto h = library.Hardware(hardware);
  sluice_reschedule_options_t options = {};
  options.struct_size = sizeof options;
  const auto call = [&](const sluice_graph_t* net, const sluice_hardware_t* machine,
                        const sluice_reschedule_options_t* how) {
    return sluice_reschedule(library.context.get(), net, machine, how, &plan, nullptr);
  };
  CHECK(call(g.get(), h.get(), nullptr) == SLUICE_BAD_ARGUMENT);
  CHECK(call(g.get(), h.get(), &options) == SLUICE_BAD_ARGUMENT);  // no previous plan
  options.previous = before.get();
  CHECK(call(nullptr, h.get(), &options) == SLUICE_BAD_ARGUMENT);
  CHECK(call(g.get(), nullptr, &options) == SLUICE_BAD_ARGUMENT);
  CHECK(plan == nullptr);
}

namespace {

Bytes StreamOf(const PlanPtr& plan) {
  const void* stream = nullptr;
  size_t size = 0;
  REQUIRE(sluice_plan_stream(plan.get(), &stream, &size) == SLUICE_OK);
  const uint8_t* first = static_cast<const uint8_t*>(stream);
  return Bytes(first, first + size);
}

// Returns the number of bytes that sluice_plan_patch names, and checks that copying them
// into the old stream gives the new one.
uint64_t CheckPatch(const PlanPtr& before, const PlanPtr& after) {
  size_t count = 0;
  const sluice_status_t asked =
      sluice_plan_patch(before.get(), after.get(), 0, nullptr, &count);
  CHECK(asked == (count == 0 ? SLUICE_OK : SLUICE_BUFFER_TOO_SMALL));
  std::vector<sluice_patch_range_t> ranges(count);
  REQUIRE(sluice_plan_patch(before.get(), after.get(), 0, ranges.data(), &count) ==
          SLUICE_OK);
  Bytes image = StreamOf(before);
  const Bytes wanted = StreamOf(after);
  image.resize(wanted.size());
  uint64_t bytes = 0;
  for (const sluice_patch_range_t& r : ranges) {
    REQUIRE(r.offset + r.bytes <= wanted.size());
    std::copy_n(wanted.begin() + static_cast<ptrdiff_t>(r.offset), r.bytes,
                image.begin() + static_cast<ptrdiff_t>(r.offset));
    bytes += r.bytes;
  }
  CHECK(image == wanted);
  return bytes;
}

}  // namespace

TEST_CASE(
    "a device that copies the patch has the new stream, and blocks that hold stay") {
  const Bytes graph = sluice::zoo::MakeZooGraph("densenet121", {});
  const Bytes hardware = sluice::presets::LoadPreset("soma-edge");
  Library library;
  const PlanPtr first = FirstPlan(&library, graph, hardware);
  // A stream with room to grow, whose graph is edited twice.
  const Result before = Reschedule(&library, first, graph, hardware, 0, true);
  (void)CheckPatch(first, before.plan);
  GraphSpec spec = sluice_test::SpecOf(graph);
  size_t layer = 60;
  while (!sluice_test::ChangeWindow(&spec, layer)) ++layer;
  const Bytes window = sluice_test::GraphBytes(spec);
  const Result once = Reschedule(&library, before.plan, window, hardware, 0, true);
  CHECK(once.change.blocks_changed <= 3);
  CHECK(CheckPatch(before.plan, once.plan) < once.change.stream_bytes / 5);
  CheckExecutes(once.plan, window, hardware, false);
  layer = 100;
  while (!sluice_test::InsertLayer(&spec, layer)) ++layer;
  const Bytes inserted = sluice_test::GraphBytes(spec);
  const Result twice = Reschedule(&library, once.plan, inserted, hardware, 0, true);
  CHECK(twice.change.from_scratch == 0);
  (void)CheckPatch(once.plan, twice.plan);
  CheckExecutes(twice.plan, inserted, hardware, false);
}

TEST_CASE("hashes name contents: equal inputs, equal hashes") {
  const Bytes graph = sluice::zoo::MakeZooGraph("mobilenet_v1", {});
  const Bytes hardware = sluice::presets::LoadPreset("soma-edge");
  Library library;
  Library other;
  const auto g = library.Graph(graph);
  const auto h = library.Hardware(hardware);
  CHECK(sluice_graph_hash(g.get()) == sluice_graph_hash(other.Graph(graph).get()));
  CHECK(sluice_hardware_hash(h.get()) ==
        sluice_hardware_hash(other.Hardware(hardware).get()));
  sluice::zoo::ZooOptions two;
  two.batch = 2;
  CHECK(sluice_graph_hash(g.get()) !=
        sluice_graph_hash(
            library.Graph(sluice::zoo::MakeZooGraph("mobilenet_v1", two)).get()));
  sluice_plan_hashes_t a = {};
  sluice_plan_hashes_t b = {};
  a.struct_size = b.struct_size = sizeof a;
  CHECK(sluice_plan_hash(library.Schedule(g, h).get(), &a) == SLUICE_OK);
  CHECK(sluice_plan_hash(library.Schedule(g, h).get(), &b) == SLUICE_OK);
  CHECK(a.plan == b.plan);
  CHECK(a.made_for_graph == sluice_graph_hash(g.get()));
  CHECK(a.made_for_hardware == sluice_hardware_hash(h.get()));
  CHECK(a.scratchpad_bytes == sluice::presets::FactsOf(hardware).scratchpad_bytes);
  CHECK(sluice_plan_hash(library.Schedule(g, h, 1 << 20).get(), &b) == SLUICE_OK);
  CHECK(a.plan != b.plan);
}
