// SPDX-License-Identifier: Apache-2.0
// The judges refuse what they should: mutants of the scheduler's own streams, by kind.
//
// A mutant is harmless when the oracle (oracle.h) proves that every output byte has the
// same origin, for every timing. At least one judge must catch every other mutant.
// SLUICE_MUTANTS: how many to make.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "firmware-sim/sim.h"
#include "io/read.h"
#include "mutation/mutations.h"
#include "mutation/oracle.h"
#include "mutation/small_machine.h"
#include "plan/mesh/mesh_run.h"
#include "support/library.h"
#include "support/malloc_allocator.h"
#include "support/random_graph.h"
#include "support/setting.h"
#include "support/simulation.h"
#include "support/stream_image.h"
#include "verify/verify.h"

namespace sluice_test {
namespace {

// A graph, a machine and a valid plan, with the plan's stream taken apart.
struct Subject {
  GraphSpec graph;
  Bytes graph_bytes, hardware_bytes, plan_bytes;
  Mutant valid;
  Meaning meaning;
  uint64_t seed = 0;
  bool fused = false;
  bool opaque = false;  // the simulator only keeps time

  bool Make(uint64_t s) {
    seed = s;
    RandomGraphLimits limits;
    limits.layers = 4;
    limits.elements = seed % 3 == 0 ? 60 : 500;
    limits.opaque = seed % 3 == 0;
    graph = MakeRandomGraph(seed, limits);
    for (const LayerSpec& l : graph.layers) {
      opaque = opaque || l.op == SLUICE_OP_OPAQUE;
    }
    graph_bytes = GraphBytes(graph);
    Library library;
    const GraphPtr g = library.Graph(graph_bytes);
    MachineSpec machine = SmallMachine(seed, seed % 8 == 5);
    if (!FitScratchpad(g, seed, &library, &machine)) return false;
    hardware_bytes = MachineBytes(machine);
    const HardwarePtr h = library.Hardware(hardware_bytes);
    const PlanPtr plan = library.Schedule(
        g, h, 0, seed % 3 == 0 ? SLUICE_SOLVER_BASELINE : SLUICE_SOLVER_DEFAULT);
    if (plan == nullptr) return false;
    const sluice_report_t report = ReportOf(plan);
    fused = report.groups < report.layers;
    if (report.instructions > 300) return false;  // the oracle is slow
    plan_bytes = BytesOf(plan);
    TakePlan();
    return true;
  }

  // A plan of pipelines on a mesh.
  bool MakeMesh(uint64_t s) {
    seed = s;
    RandomGraphLimits limits;
    limits.layers = 5;
    limits.elements = 150;
    graph = MakeRandomGraph(seed, limits);
    graph_bytes = GraphBytes(graph);
    sluice::Rng rng(seed);
    const HardwareSpec machine = SmallMesh(&rng, 4);
    hardware_bytes = HardwareBytes(machine);
    const MeshRun run = RunOnMesh(graph, machine, RandomSegments(&rng, graph, machine));
    if (run.status != sluice::Status::kOk || run.report.instructions > 250)
      return false;
    // Three of four plans must forward.
    if (run.sim.forward_bytes == 0 && seed % 4 != 0) return false;
    fused = run.nodes.pipelined > 0;
    plan_bytes = run.plan;
    TakePlan();
    return true;
  }

  void TakePlan() {
    const auto* wire = sluice::wire::GetPlan(plan_bytes.data());
    valid.stream = TakeApart(reinterpret_cast<const uint8_t*>(wire->stream()->data()));
    for (uint32_t t = 0; t < wire->tensor_region()->size(); ++t) {
      Place p;
      p.region = wire->tensor_region()->Get(t);
      p.offset = wire->tensor_offset()->Get(t);
      for (uint32_t a = 0; a < 4; ++a)
        p.stride[a] = wire->tensor_strides()->Get(4 * t + a);
      valid.places.push_back(p);
    }
    if (seed % 2 == 0) CutBlocks(10 + seed * 7 % 80, &valid.stream);
    meaning = MeaningOf(graph, valid.places, valid.stream);
    INFO("seed " << seed << ": " << meaning.fault);
    REQUIRE(meaning.fault.empty());
  }
};

struct Verdicts {
  bool verify = false, simulate = false;  // caught
  std::string why;
};

// Asks both judges about the mutant's bytes. A refusal by the static judge that only
// compares the report's numbers does not count.
Verdicts Judge(const Subject& subject, const Mutant& mutant, int seeds) {
  Verdicts v;
  const Bytes plan_bytes = BytesOfPlan(mutant.stream.Image(), mutant.places,
                                       subject.graph_bytes, subject.hardware_bytes, {});
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic d = EmptyDiagnostic();
  sluice::Graph graph = {};
  sluice::Hardware hardware = {};
  sluice::Plan plan = {};
  const auto ok = sluice::Status::kOk;
  REQUIRE(sluice::ReadGraph(subject.graph_bytes.data(), subject.graph_bytes.size(),
                            &arena, &graph, &d) == ok);
  REQUIRE(sluice::ReadHardware(subject.hardware_bytes.data(),
                               subject.hardware_bytes.size(), &arena, &hardware,
                               &d) == ok);
  REQUIRE(sluice::ReadPlan(plan_bytes.data(), plan_bytes.size(), &arena, &plan, &d) ==
          ok);
  const sluice::Status status =
      sluice::Verify(graph, hardware, plan, &arena, nullptr, &d);
  const std::string rule = d.rule;
  v.verify = status != ok && rule != "traffic" && rule != "report";
  if (v.verify) v.why = rule + ": " + d.message;
  for (int seed = 1; seed <= seeds && !v.simulate; ++seed) {
    sluice_sim::SimulateOptions o =
        SimulationOf(subject.graph_bytes, subject.hardware_bytes, plan_bytes);
    o.functional = !subject.opaque;
    o.seed = static_cast<uint64_t>(seed);
    o.parameters = ParametersOf(subject.graph, seed - 1);
    const auto r = sluice_sim::Simulate(o);
    v.simulate = !r.ok || r.mismatches != 0;
    if (v.simulate) v.why += " | " + r.error_code + ": " + r.error;
  }
  return v;
}

struct Row {
  int made = 0, harmless = 0, meaning = 0, by_verify = 0, by_simulate = 0, missed = 0;
  int strict_verify = 0, strict_simulate = 0;  // harmless ones that are refused
};

// With enough mutants, each kind must include some that change the meaning of the
// stream. Three kinds change no byte: counts of descriptors, and reasons and cycles of
// host calls. Both judges must refuse these.
void CheckSeen(const std::string& name, const Row& row, bool enough) {
  if (name == "wrong descriptors") {
    CHECK((row.strict_verify > 0 && row.strict_simulate > 0));
  } else if (name == "wrong host reason" || name == "short host call") {
    CHECK(row.strict_verify == row.harmless);
    CHECK(row.strict_simulate == row.harmless);
    if (enough) CHECK(row.harmless > 0);
  } else if (enough) {
    CHECK(row.meaning > 0);
  }
}

// Counts waits across visits, and tiles with an accumulator.
void Count(const StreamBuilder& stream, int* across, int* accumulating) {
  for (const BlockBuilder& b : stream.blocks) {
    for (const auto& list : b.lists) {
      for (const ListedInstruction& entry : list) {
        for (const sluice_wait_t& w : entry.waits) *across += w.before;
      }
    }
    for (const sluice_tile_t& t : b.tiles) {
      *accumulating += t.accumulator != SLUICE_NONE ? 1 : 0;
    }
  }
}

// Makes `want` mutants of plans of one node or of a mesh and asks the judges about
// them.
void JudgeMutants(const std::vector<Mutation>& mutations, bool mesh, int want) {
  std::vector<Row> rows(mutations.size());
  int made = 0, subjects = 0, fused = 0, blocks = 0, across = 0, accumulating = 0,
      looped = 0;
  // Continues until a plan has a tile with an accumulator.
  for (uint64_t seed = 1; made < want || (accumulating == 0 && seed < 1000); ++seed) {
    Subject subject;
    if (!(mesh ? subject.MakeMesh(seed) : subject.Make(seed))) continue;
    ++subjects;
    fused += subject.fused ? 1 : 0;
    const Verdicts whole = Judge(subject, subject.valid, 1);
    INFO("seed " << seed << ": " << whole.why);
    REQUIRE_FALSE(whole.verify);
    REQUIRE_FALSE(whole.simulate);
    blocks += static_cast<int>(subject.valid.stream.blocks.size());
    Count(subject.valid.stream, &across, &accumulating);
    looped += subject.valid.stream.loops.empty() ? 0 : 1;
    Chance chance(seed);
    for (size_t kind = 0; kind < mutations.size(); ++kind) {
      for (int repeat = 0; repeat < 2 && made < want; ++repeat) {
        Mutant mutant = subject.valid;
        if (!mutations[kind].apply(&chance, &mutant)) continue;
        ++made;
        Row& row = rows[kind];
        ++row.made;
        const Meaning meaning = MeaningOf(subject.graph, mutant.places, mutant.stream);
        const bool harmless =
            meaning.fault.empty() && meaning.fingerprint == subject.meaning.fingerprint;
        const Verdicts v = Judge(subject, mutant, std::max(2, RunsOf(subject.graph)));
        if (harmless) {
          ++row.harmless;
          row.strict_verify += v.verify;
          row.strict_simulate += v.simulate;
          continue;
        }
        ++row.meaning;
        row.by_verify += v.verify;
        row.by_simulate += v.simulate;
        row.missed += !v.verify && !v.simulate;
        INFO("seed " << seed << ", " << std::string(mutations[kind].name) << " ("
                     << repeat << "): " << meaning.fault);
        // At least one judge refuses a mutant that changes the meaning.
        CHECK((v.verify || v.simulate));
      }
    }
  }
  std::printf("%-26s %6s %8s %8s %8s %9s %7s\n", "mutation", "made", "harmless",
              "changing", "verify", "simulate", "missed");
  Row sum;
  for (size_t kind = 0; kind < rows.size(); ++kind) {
    const Row& r = rows[kind];
    std::printf("%-26s %6d %8d %8d %8d %9d %7d\n", mutations[kind].name, r.made,
                r.harmless, r.meaning, r.by_verify, r.by_simulate, r.missed);
    sum.made += r.made;
    sum.harmless += r.harmless;
    sum.meaning += r.meaning;
    sum.by_verify += r.by_verify;
    sum.by_simulate += r.by_simulate;
    sum.missed += r.missed;
    sum.strict_verify += r.strict_verify;
    sum.strict_simulate += r.strict_simulate;
    CAPTURE(std::string(mutations[kind].name));
    CheckSeen(mutations[kind].name, r, !mesh && want >= 20000);
    if (mesh && want >= 2000 && kind < 6) CHECK(r.meaning > 0);
  }
  std::printf("%-26s %6d %8d %8d %8d %9d %7d\n", "all", sum.made, sum.harmless,
              sum.meaning, sum.by_verify, sum.by_simulate, sum.missed);
  std::printf(
      "%d streams of %d blocks, %d with loops, %d waits across visits, %d accumulating "
      "tiles; of the harmless mutants verify refuses %d, simulate %d\n",
      subjects, blocks, looped, across, accumulating, sum.strict_verify,
      sum.strict_simulate);
  if (mesh) CHECK(sum.by_verify == sum.meaning);
  CHECK(sum.missed == 0);
  CHECK(across > 0);
  if (!mesh && want >= 2000) CHECK(looped > 0);
  CHECK(fused > 0);
  if (want >= 2000) CHECK(accumulating > 0);
  if (want >= 20000) CHECK(sum.meaning >= 15000);
}

int Wanted() { return static_cast<int>(Setting("SLUICE_MUTANTS", 20000)); }

TEST_CASE("every mutant that changes what a stream means is caught by a judge") {
  JudgeMutants(Mutations(), false, Wanted());
}

TEST_CASE("mutants of pipelines on meshes are caught by verify") {
  JudgeMutants(MeshMutations(), true, Wanted() / 8);
}

}  // namespace
}  // namespace sluice_test
