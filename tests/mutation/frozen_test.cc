// SPDX-License-Identifier: Apache-2.0
// What both judges say of stored plans and of their changed fields, to the last word and
// number, is what they said before. Other tests of this folder compare the judges with
// each other; this one notices a small change of either.
//
// Input    tests/mutation/frozen: graphs, machines and plans of a scheduler of the past
//          (they stay valid when plans change), and the hand-made cases
// Output   tests/mutation/frozen/runs.txt: for each plan, the numbers of its runs;
//          verdicts.txt and few.txt: for each of its tables, how many changes each judge
//          accepts, and a hash of all that the judges say
// SLUICE_FREEZE=1 writes these files anew; with SLUICE_FREEZE=plans the plans, too, which a
// new version of the stream or of plan.fbs needs. SLUICE_VERDICTS=FILE writes each verdict
// by itself, to compare those of two commits.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "mutation/changed_fields.h"
#include "mutation/small_machine.h"
#include "plan/mesh/mesh_run.h"
#include "support/files.h"
#include "support/frozen_lines.h"
#include "support/library.h"
#include "support/malloc_allocator.h"
#include "support/random_graph.h"
#include "support/simulation.h"
#include "verify/cases.h"
#include "verify/verify.h"

namespace sluice_test {
namespace {

constexpr int kPlans = 30;
constexpr int kValues = 6;
constexpr int kEach = 3 * kValues;  // changes of a field, of each plan

struct Stored {
  std::string name;
  Bytes graph, hardware, plan;
  std::vector<int32_t> parameters;
};

std::string Numbered(const char* what, uint64_t n) {
  return " " + std::string(what) + " " + std::to_string(n);
}

std::string Decimal(double x) {
  char text[40];
  std::snprintf(text, sizeof text, " %.9g", x);
  return text;
}

// The judges' words on one plan.
class Pair {
 public:
  explicit Pair(const Stored& stored)
      : stored_(stored), memory_(Malloc(), 0), arena_(&memory_) {
    sluice::Diagnostic d = EmptyDiagnostic();
    const auto ok = sluice::Status::kOk;
    REQUIRE(sluice::ReadGraph(stored.graph.data(), stored.graph.size(), &arena_,
                              &graph_, &d) == ok);
    REQUIRE(sluice::ReadHardware(stored.hardware.data(), stored.hardware.size(),
                                 &arena_, &hardware_, &d) == ok);
    REQUIRE(sluice::ReadPlan(stored.plan.data(), stored.plan.size(), &arena_, &plan_,
                             &d) == ok);
    image_.assign(plan_.stream.begin(), plan_.stream.end());
    const auto* wire = sluice::wire::GetPlan(stored.plan.data());
    at_ = static_cast<size_t>(reinterpret_cast<const uint8_t*>(wire->stream()->data()) -
                              stored.plan.data());
    places_.assign(plan_.tensors.begin(), plan_.tensors.end());
    plan_.tensors = {places_.data(), places_.size()};
  }

  const Bytes& image() const { return image_; }
  sluice_report_t& report() { return plan_.report; }
  std::vector<sluice::TensorPlace>& places() { return places_; }

  std::string Verify(const Bytes& image, bool* accepts) {
    plan_.stream = {image.data(), image.size()};
    sluice::ArenaScope scope(&arena_);
    sluice::VerifiedCounts c = {};
    std::vector<sluice::LayerCounts> layers(graph_.layers.size());
    c.by_layer = {layers.data(), layers.size()};
    sluice::Diagnostic d = EmptyDiagnostic();
    const sluice::Status status =
        sluice::Verify(graph_, hardware_, plan_, &arena_, &c, &d);
    const std::string rule = d.rule;
    std::string text = std::to_string(static_cast<int>(status)) + " " + rule + ": " +
                       d.message + Numbered("at", d.instruction);
    *accepts = status == sluice::Status::kOk;
    if (!*accepts && rule != "report" && rule != "traffic") return text;
    const int64_t bytes[] = {c.dram_read_bytes, c.dram_write_bytes, c.spill_bytes,
                             c.peak_buffer_bytes};
    for (const int64_t n : bytes) text += Numbered("", static_cast<uint64_t>(n));
    const uint64_t numbers[] = {c.latency_cycles,
                                c.macs,
                                c.vector_ops,
                                c.pad_read_bytes,
                                c.pad_write_bytes,
                                c.tile_read_bytes,
                                c.tile_write_bytes,
                                c.host_cycles,
                                c.host_read_bytes,
                                c.host_write_bytes,
                                c.host_hold,
                                c.host_macs,
                                c.tiles,
                                c.instructions,
                                c.layers,
                                c.host_layers};
    for (const uint64_t n : numbers) text += Numbered("", n);
    text += Decimal(c.link_bytes);
    for (const sluice::LayerCounts& layer : layers) {
      static_assert(sizeof layer % sizeof(uint64_t) == 0);
      uint64_t words[sizeof layer / sizeof(uint64_t)];
      std::memcpy(words, &layer, sizeof layer);
      for (const uint64_t n : words) text += Numbered("", n);
    }
    return text;
  }

  std::string Simulate(const Bytes& image, uint64_t run, bool contention,
                       bool* accepts) const {
    Bytes plan = stored_.plan;
    std::memcpy(plan.data() + at_, image.data(), image.size());
    sluice_sim::SimulateOptions o = SimulationOf(stored_.graph, stored_.hardware, plan);
    o.functional = stored_.name != "host";  // an OPAQUE layer
    o.seed = run;
    o.interleaving = run == 3 ? 5 : 0;
    o.contention = contention;
    o.parameters = stored_.parameters;
    o.max_memory_bytes = 1 << 23;
    const sluice_sim::SimulateResult r = sluice_sim::Simulate(o);
    *accepts = r.ok;
    std::string text = r.error_code + ": " + r.error;
    const uint64_t numbers[] = {r.error_instruction,
                                r.error_instance,
                                r.error_engine,
                                r.cycles,
                                r.predicted_cycles,
                                r.dram_read_bytes,
                                r.dram_write_bytes,
                                r.forward_bytes,
                                r.instructions,
                                r.tiles,
                                r.macs,
                                r.vector_ops,
                                r.host_bytes,
                                r.peak_buffer_bytes,
                                r.contended_cycles,
                                r.link_waits,
                                r.link_wait_cycles,
                                r.busiest_link_cycles,
                                r.compared_bytes,
                                r.mismatches,
                                r.output_fnv1a};
    for (const uint64_t n : numbers) text += Numbered("", n);
    for (const sluice_sim::Claim& claim : r.claims) {
      text += Numbered(claim.field, claim.claimed) + Numbered("", claim.measured);
    }
    return text;
  }

 private:
  const Stored& stored_;
  sluice::Memory memory_;
  sluice::Arena arena_;
  sluice::Graph graph_ = {};
  sluice::Hardware hardware_ = {};
  sluice::Plan plan_ = {};
  Bytes image_;
  std::vector<sluice::TensorPlace> places_;
  size_t at_ = 0;
};

std::string FolderOfPlans() { return std::string(SLUICE_TESTS) + "/mutation/frozen"; }

// A small graph on a random machine; each third machine leaves operators to the host,
// each fourth plan runs on a mesh.
bool MakeStored(uint64_t seed, Stored* stored) {
  RandomGraphLimits limits;
  limits.layers = 4;
  limits.elements = 200;
  limits.curves = seed % 2 == 0;
  const GraphSpec graph = MakeRandomGraph(seed, limits);
  stored->graph = GraphBytes(graph);
  if (seed % 4 == 3) {
    sluice::Rng rng(seed);
    const HardwareSpec machine = SmallMesh(&rng, 3);
    stored->hardware = HardwareBytes(machine);
    const MeshRun run = RunOnMesh(graph, machine, RandomSegments(&rng, graph, machine));
    stored->plan = run.plan;
    return run.Good() && run.report.instructions <= 120;
  }
  MachineSpec machine = seed % 3 == 0 ? LimitedMachine(seed) : MakeRandomMachine(seed);
  Library library;
  const GraphPtr g = library.Graph(stored->graph);
  if (!FitScratchpad(g, seed, &library, &machine)) return false;
  stored->hardware = MachineBytes(machine);
  const PlanPtr plan = library.Schedule(g, library.Hardware(stored->hardware));
  if (plan == nullptr || ReportOf(plan).instructions > 120) return false;
  stored->plan = BytesOf(plan);
  return ReportOf(plan).instructions >= 8;
}

void WritePlans() {
  int made = 0;
  for (uint64_t seed = 1; made < kPlans; ++seed) {
    Stored stored;
    if (!MakeStored(seed, &stored)) continue;
    const std::string base = FolderOfPlans() + "/" + std::to_string(++made);
    const std::pair<const char*, const Bytes*> files[] = {
        {".slg", &stored.graph}, {".slh", &stored.hardware}, {".slp", &stored.plan}};
    for (const auto& [end, bytes] : files) {
      std::ofstream(base + end, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes->data()),
                 static_cast<std::streamsize>(bytes->size()));
    }
  }
}

std::vector<Stored> StoredPlans() {
  std::vector<Stored> all;
  const std::pair<const char*, Case> cases[] = {
      {"conv", ConvCase()},     {"accumulate", AccumulateCase()},
      {"add", AddCase()},       {"loop", LoopCase()},
      {"concat", ConcatCase()}, {"host", GatherHostCase()},
      {"nodes", NodesCase()},   {"append", AppendCase()}};
  for (const auto& [name, c] : cases) {
    all.push_back({name, c.Graph(), c.Hardware(), c.Plan(), {3}});
  }
  for (int i = 1; i <= kPlans; ++i) {
    const std::string base = FolderOfPlans() + "/" + std::to_string(i);
    all.push_back({std::to_string(i),
                   ReadFile(base + ".slg"),
                   ReadFile(base + ".slh"),
                   ReadFile(base + ".slp"),
                   {}});
  }
  return all;
}

// Counts and hashes verdicts; writes them where SLUICE_VERDICTS says.
class Tally {
 public:
  void Add(const std::string& what, const std::string& verdict, bool accepts) {
    ++made_;
    accepted_ += accepts ? 1 : 0;
    hash_.Add(verdict);
    static const char* const path = std::getenv("SLUICE_VERDICTS");
    if (path == nullptr) return;
    std::ofstream(path, std::ios::app) << what << " | " << verdict << "\n";
  }
  std::string Text() const {
    return std::to_string(accepted_) + " of " + std::to_string(made_) + " " +
           hash_.Text();
  }

 private:
  int made_ = 0, accepted_ = 0;
  TextHash hash_;
};

uint32_t Changed(uint32_t old, uint32_t other, int n) {
  const uint32_t values[kValues] = {old + 1, old - 1, old ^ 8, 0, 0xffffffffu, other};
  return values[n % kValues];
}

// Makes so many changes of each field of a table, in records that differ from change to
// change. A few changes are of other kinds from field to field.
void ChangeTable(const Table& table, const std::string& key, int each, Pair* pair,
                 FrozenLines* lines) {
  Tally verify, simulate;
  sluice::Rng rng(table.count * 31 + table.bytes);
  const auto record = [&] { return rng.Below(static_cast<uint32_t>(table.count)); };
  size_t in_record = 0;
  for (const uint8_t width : table.fields) {
    const int first = each < kValues ? static_cast<int>(5 * in_record) : 0;
    for (int n = first; n < first + each; ++n) {
      const size_t at = table.offset + record() * table.bytes + in_record;
      const size_t from = table.offset + record() * table.bytes + in_record;
      Bytes image = pair->image();
      const uint32_t old = Get(image, at, width);
      const uint32_t value = Changed(old, Get(image, from, width), n);
      std::memcpy(image.data() + at, &value, width);
      if (image == pair->image()) continue;
      RehashAll(&image);
      const std::string what = key + " " + std::to_string(at) + ": " +
                               std::to_string(old) + " -> " + std::to_string(value);
      bool accepts = false;
      const std::string said = pair->Verify(image, &accepts);
      verify.Add("verify " + what, said, accepts);
      const std::string measured = pair->Simulate(image, 1, false, &accepts);
      simulate.Add("simulate " + what, measured, accepts);
    }
    in_record += width;
  }
  lines->Add(key + ": verify " + verify.Text() + ", simulator " + simulate.Text());
}

// A report whose numbers are changed one by one: only verify reads them.
void ChangeReport(const std::string& key, Pair* pair, FrozenLines* lines) {
  Tally tally;
  const sluice_report_t right = pair->report();
  bool accepts = false;
  for (size_t at = 8; at + 8 <= sizeof right; at += 8) {
    for (int n = 0; n < 3; ++n) {
      uint64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(&right) + at, 8);
      word = n == 0 ? word + 1 : n == 1 ? word - 1 : word + (uint64_t{1} << 42);
      std::memcpy(reinterpret_cast<char*>(&pair->report()) + at, &word, 8);
      const std::string said = pair->Verify(pair->image(), &accepts);
      tally.Add("verify " + key + " " + std::to_string(at), said, accepts);
      pair->report() = right;
    }
  }
  lines->Add(key + ": verify " + tally.Text());
}

void ChangePlaces(const std::string& key, Pair* pair, FrozenLines* lines) {
  Tally tally;
  const auto judge = [&](const std::string& what) {
    bool accepts = false;
    const std::string said = pair->Verify(pair->image(), &accepts);
    tally.Add("verify " + key + " " + what, said, accepts);
  };
  for (sluice::TensorPlace& place : pair->places()) {
    const sluice::TensorPlace right = place;
    for (const int64_t step : {1, -1, 8, 64}) {
      place.offset = right.offset + static_cast<uint64_t>(step);
      judge("offset");
      place = right;
      for (uint32_t& stride : place.stride) {
        stride += static_cast<uint32_t>(step);
        judge("stride");
        place = right;
      }
      place.region = static_cast<uint8_t>(right.region + step);
      judge("region");
      place = right;
    }
  }
  lines->Add(key + ": verify " + tally.Text());
}

void RunStored(const Stored& stored, FrozenLines* lines) {
  Pair pair(stored);
  bool accepts = false;
  lines->Add(stored.name + " is" + " " + pair.Verify(pair.image(), &accepts));
  for (uint64_t run = 1; run <= 3; ++run) {
    lines->Add(stored.name + " run " + std::to_string(run) + " is " +
               pair.Simulate(pair.image(), run, true, &accepts));
    CHECK(accepts);
  }
}

void ChangeStored(const Stored& stored, int each, FrozenLines* lines) {
  Pair pair(stored);
  std::map<std::string, int> seen;
  for (const Table& table : TablesOf(pair.image())) {
    std::string key = stored.name + " " + table.name;
    const int number = seen[table.name]++;
    if (number > 3) continue;  // of many bodies the first ones
    if (number != 0) key += " " + std::to_string(number);
    ChangeTable(table, key, each, &pair, lines);
  }
}

// The first two cases take a twentieth of what the last one takes.
TEST_CASE("frozen: the judges say of stored plans what they said") {
  const char* freeze = std::getenv("SLUICE_FREEZE");
  if (freeze != nullptr && std::string(freeze) == "plans") WritePlans();
  FrozenLines lines("mutation/frozen/runs.txt");
  for (const Stored& stored : StoredPlans()) RunStored(stored, &lines);
  lines.Check();
}

TEST_CASE("frozen: the judges say of a few changes of stored plans what they said") {
  FrozenLines lines("mutation/frozen/few.txt");
  for (const Stored& stored : StoredPlans()) ChangeStored(stored, 1, &lines);
  lines.Check();
}

TEST_CASE("frozen: the judges say of changes of stored plans what they said") {
  FrozenLines lines("mutation/frozen/verdicts.txt");
  for (const Stored& stored : StoredPlans()) {
    Pair pair(stored);
    ChangeReport(stored.name + " report", &pair, &lines);
    ChangePlaces(stored.name + " places", &pair, &lines);
    ChangeStored(stored, kEach, &lines);
  }
  lines.Check();
}

}  // namespace
}  // namespace sluice_test
