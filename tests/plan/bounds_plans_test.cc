// SPDX-License-Identifier: Apache-2.0
// No plan of any solver costs less than the bounds of its report. Random graphs on random
// machines and on presets (cores, mapped arrays, meshes), with tile costs of the machine and
// of a caller.
//
// Environment: SLUICE_BOUNDS_CASES, the number of cases; SLUICE_BOUNDS_SEED, the first seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "presets/presets.h"
#include "sluice/plan_generated.h"
#include "support/library.h"
#include "support/random_graph.h"
#include "support/seeded_case.h"
#include "support/setting.h"

namespace sluice_test {
namespace {

// A caller's cost: each tile takes one cycle (the library raises it to work over peak) and
// hardly any energy.
int32_t CheapTile(void*, uint32_t layer, const int32_t*, int32_t,
                  sluice_tile_cost_t* cost) {
  cost->cycles = 1;
  cost->energy_pj = layer % 2 == 0 ? 1e-3 : 0;
  return 1;
}

struct Tally {
  int plans = 0, tight = 0, below = 0;
  double sum = 0;
};

void CheckPlans(Library* library, const GraphPtr& graph, const HardwarePtr& hardware,
                Tally* tally, uint32_t delay_exponent = 1) {
  for (uint32_t solver = SLUICE_SOLVER_DEFAULT; solver <= SLUICE_SOLVER_SOMA;
       ++solver) {
    for (const bool cheap : {false, true}) {
      sluice_schedule_options_t options = {};
      options.struct_size = sizeof options;
      options.solver = solver;
      options.energy_exponent = 1;
      options.delay_exponent = delay_exponent;
      options.max_iterations = solver == SLUICE_SOLVER_DEFAULT ? 0 : 200;
      if (cheap) options.tile_cost = CheapTile;
      sluice_plan_t* raw = nullptr;
      const sluice_status_t status =
          sluice_schedule(library->context.get(), graph.get(), hardware.get(), &options,
                          &raw, &library->diagnostic);
      const PlanPtr plan(raw);
      CAPTURE(solver);
      CAPTURE(cheap);
      INFO(library->diagnostic.message);
      CHECK((status == SLUICE_OK || status == SLUICE_INFEASIBLE ||
             status == SLUICE_UNSUPPORTED));
      if (status != SLUICE_OK) continue;
      const sluice_report_t r = ReportOf(plan);
      CHECK(r.latency_cycles >= r.bound_latency_cycles);
      CHECK(r.energy_pj >= r.bound_energy_pj);
      CHECK(library->Verify(graph, hardware, plan) == SLUICE_OK);
      const double ratio =
          static_cast<double>(r.latency_cycles) /
          static_cast<double>(std::max<uint64_t>(1, r.bound_latency_cycles));
      ++tally->plans;
      tally->tight += ratio <= 1.1 ? 1 : 0;
      tally->sum += ratio;
    }
  }
}

TEST_CASE("bounds: no plan of any solver is below them") {
  const uint64_t cases = Setting("SLUICE_BOUNDS_CASES", 120);
  const uint64_t begin = Setting("SLUICE_BOUNDS_SEED", 1);
  Tally tally;
  for (uint64_t seed = begin; seed < begin + cases; ++seed) {
    CAPTURE(seed);
    SeededCase of(seed);
    CheckPlans(&of.library, of.graph, of.hardware, &tally);
  }
  MESSAGE(tally.plans << " plans; cycles over the bound on average "
                      << tally.sum / std::max(1, tally.plans) << ", at most 1.1 in "
                      << tally.tight);
  CHECK(tally.plans > static_cast<int>(2 * cases));
}

// With half of a scratchpad, bounds are those of a machine that has as much.
TEST_CASE(
    "bounds: those of a share are those of a machine with as large a scratchpad") {
  int higher = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    Library library;
    RandomGraphLimits limits;
    limits.elements = 20000;
    const GraphPtr graph = library.Graph(GraphBytes(MakeRandomGraph(seed, limits)));
    const auto machine = [&](uint64_t bytes) {
      MachineSpec spec = MakeRandomMachine(seed);
      spec.base.scratchpad_bytes = bytes;
      return library.Hardware(MachineBytes(spec));
    };
    const uint64_t room = 512;
    const PlanPtr shared = library.Schedule(graph, machine(16 * room), room);
    const PlanPtr whole = library.Schedule(graph, machine(16 * room));
    const PlanPtr small = library.Schedule(graph, machine(room));
    if (shared == nullptr || small == nullptr) continue;
    const sluice_report_t of_share = ReportOf(shared), of_small = ReportOf(small);
    CHECK(of_share.bound_latency_cycles == of_small.bound_latency_cycles);
    CHECK(of_share.bound_energy_pj == of_small.bound_energy_pj);
    CHECK(library.Verify(graph, machine(16 * room), shared) == SLUICE_OK);
    higher += of_share.bound_latency_cycles > ReportOf(whole).bound_latency_cycles;
  }
  CHECK(higher >= 5);
}

// A mesh takes some images at a time, but not of a layer that pads them: such a part lies in
// padding alone, and a transfer of nothing was divided by.
TEST_CASE("bounds: a pad of images on a mesh has a plan") {
  RandomGraphLimits limits;
  limits.opaque = false;
  Library library;
  const GraphPtr graph = library.Graph(GraphBytes(MakeRandomGraph(133, limits)));
  const HardwarePtr hardware =
      library.Hardware(sluice::presets::LoadPreset("kapla-4x4"));
  Tally tally;
  CheckPlans(&library, graph, hardware, &tally);
  CHECK(tally.plans > 0);
}

// Nests on memories below the scratchpad count the MACs of a transposed convolution by phases of
// its strides: the bound on energy counted all, was above plans of least energy, and there was
// none.
TEST_CASE("bounds: a transposed convolution on a mesh has a plan of least energy") {
  SeededCase of(2851);
  Tally tally;
  CheckPlans(&of.library, of.graph, of.hardware, &tally, 0);
  CHECK(tally.plans > 0);
}

namespace wire = sluice::wire;

// Makes every plan of a graph with these choices:
//   order    each that keeps what depends on each other in order
//   segments every division of the order
//   loops    of a segment none or one, over N H W C or the sum, in 2, 4 or 8 parts (of three
//            layers in 2 or 8); two where one segment has all layers
//   stays    at each position of the order, what fits stays on chip, or nothing does
//   placing  by leads
class AllPlans {
 public:
  AllPlans(Library* library, const GraphPtr& graph, const HardwarePtr& hardware,
           uint64_t room)
      : library_(library), graph_(graph), hardware_(hardware), room_(room) {}

  // False: the machine has no plan of segments for the graph, or it is not tiny.
  bool Make() {
    const PlanPtr plan = library_->Schedule(graph_, hardware_, room_);
    if (plan == nullptr) return false;
    Take(ReportOf(plan));
    const Bytes bytes = BytesOf(plan);
    like_ = wire::GetPlan(bytes.data());
    if (like_->segment() == nullptr || like_->segment()->size() == 0) return false;
    order_.assign(like_->order()->begin(), like_->order()->end());
    if (order_.size() > 3) return false;
    choices_.assign(1, {});
    for (uint32_t axis = 0; axis < 5; ++axis) {
      for (const int32_t parts : {2, 4, 8}) {
        if (parts == 4 && order_.size() > 2) continue;
        choices_.push_back({wire::Loop(axis, parts)});
      }
    }
    single_ = choices_.size();
    for (size_t a = 1; a < single_; ++a) {
      for (size_t b = 1; b < single_; ++b) {
        const wire::Loop outer = choices_[a][0], inner = choices_[b][0];
        if (outer.axis() != inner.axis()) choices_.push_back({outer, inner});
      }
    }
    std::sort(order_.begin(), order_.end());
    do {
      Divide(order_.size());
    } while (std::next_permutation(order_.begin(), order_.end()));
    return made != 0;
  }

  // Whether any plan costs less in this than that report's.
  bool HasBetter(const sluice_report_t& than, bool by_energy, bool by_cycles) const {
    return std::any_of(costs_.begin(), costs_.end(), [&](const Cost& cost) {
      const double of_energy = by_energy ? cost.energy / than.energy_pj : 1;
      const double of_cycles =
          by_cycles ? cost.cycles / static_cast<double>(than.latency_cycles) : 1;
      return of_energy * of_cycles < 1 - 1e-8;
    });
  }

  uint64_t made = 0, below = 0;
  double cycles = 0, energy = 0;  // the least, over the bound
  bool differ = false;            // the bounds of two plans

 private:
  struct Cost {
    double energy, cycles;
  };

  void Divide(size_t left) {
    if (left == 0) {
      loops_.assign(layers_.size(), 0);
      Choose(0);
      return;
    }
    for (size_t n = 1; n <= left; ++n) {
      layers_.push_back(static_cast<uint32_t>(n));
      Divide(left - n);
      layers_.pop_back();
    }
  }

  void Choose(size_t segment) {
    if (segment == layers_.size()) {
      for (stays_ = 0; stays_ < 1u << order_.size(); ++stays_) Place();
      return;
    }
    const size_t count = layers_.size() == 1 ? choices_.size() : single_;
    for (loops_[segment] = 0; loops_[segment] < count; ++loops_[segment]) {
      Choose(segment + 1);
    }
  }

  // A plan that is to be made of the segments.
  Bytes Wanted() const {
    std::vector<wire::Segment> segments;
    std::vector<wire::Loop> loops;
    for (size_t i = 0; i < layers_.size(); ++i) {
      const std::vector<wire::Loop>& own = choices_[loops_[i]];
      segments.emplace_back(layers_[i], static_cast<uint32_t>(own.size()), 0, 0);
      loops.insert(loops.end(), own.begin(), own.end());
    }
    std::vector<uint32_t> leave(order_.size());
    for (size_t p = 0; p < leave.size(); ++p) {
      if ((stays_ >> p & 1) == 0) leave[p] = static_cast<uint32_t>(room_);
    }
    std::vector<wire::LayerHash> hashes;
    for (const wire::LayerHash* hash : *like_->layer_hash()) hashes.push_back(*hash);
    const std::vector<wire::Section> section = {{order_.front(), 2, 0, 0}};
    flatbuffers::FlatBufferBuilder to;
    const auto report = wire::CreateReport(to);
    const auto plan = wire::CreatePlan(
        to, 0, 0, like_->graph_hash(), like_->hardware_hash(),
        to.CreateVectorOfStructs(std::vector<wire::Words>()), 0, 0, 0, report, 0,
        to.CreateVectorOfStructs(section), to.CreateVector(order_), 0, 0, 0,
        to.CreateVectorOfStructs(hashes), 0, 0, to.CreateVectorOfStructs(segments),
        to.CreateVectorOfStructs(loops), to.CreateVector(leave));
    wire::FinishPlanBuffer(to, plan);
    return Bytes(to.GetBufferPointer(), to.GetBufferPointer() + to.GetSize());
  }

  void Place() {
    const PlanPtr segments = library_->Plan(Wanted());
    if (segments == nullptr) return;
    sluice_schedule_options_t schedule = {};
    schedule.struct_size = sizeof schedule;
    schedule.scratchpad_bytes = room_;
    sluice_reschedule_options_t options = {};
    options.struct_size = sizeof options;
    options.previous = segments.get();
    options.schedule = &schedule;
    sluice_plan_t* raw = nullptr;
    const sluice_status_t status =
        sluice_reschedule(library_->context.get(), graph_.get(), hardware_.get(),
                          &options, &raw, &library_->diagnostic);
    const PlanPtr plan(raw);
    if (status == SLUICE_OK) Take(ReportOf(plan));
  }

  void Take(const sluice_report_t& r) {
    if (made == 0) first_ = r;
    ++made;
    differ = differ || r.bound_latency_cycles != first_.bound_latency_cycles ||
             r.bound_energy_pj != first_.bound_energy_pj;
    const double c = static_cast<double>(r.latency_cycles) /
                     static_cast<double>(std::max<uint64_t>(1, r.bound_latency_cycles));
    const double e = r.energy_pj / r.bound_energy_pj;
    below += c < 1 || e < 1 ? 1 : 0;
    costs_.push_back({r.energy_pj, static_cast<double>(r.latency_cycles)});
    cycles = made == 1 ? c : std::min(c, cycles);
    energy = made == 1 ? e : std::min(e, energy);
  }

  Library* library_;
  const GraphPtr& graph_;
  const HardwarePtr& hardware_;
  const uint64_t room_;
  const wire::Plan* like_ = nullptr;
  sluice_report_t first_ = {};
  std::vector<uint32_t> order_, layers_;
  std::vector<std::vector<wire::Loop>> choices_;
  std::vector<size_t> loops_;  // by segment: its choice
  size_t single_ = 0;          // choices with one loop at most
  uint32_t stays_ = 0;         // bit p: what fits stays on chip at position p
  std::vector<Cost> costs_;    // of all plans
};

// Plans for latency, energy and both: how many are said to be proved, and how many of those
// although one of all plans is better.
struct Proofs {
  int said = 0, wrong = 0;

  void Take(Library* library, const GraphPtr& graph, const HardwarePtr& hardware,
            uint64_t room, const AllPlans& all) {
    for (const uint32_t objective : {1u, 2u, 3u}) {
      sluice_schedule_options_t options = {};
      options.struct_size = sizeof options;
      options.scratchpad_bytes = room;
      options.energy_exponent = objective & 1;
      options.delay_exponent = objective >> 1;
      sluice_plan_t* raw = nullptr;
      (void)sluice_schedule(library->context.get(), graph.get(), hardware.get(),
                            &options, &raw, &library->diagnostic);
      const PlanPtr plan(raw);
      if (plan == nullptr) continue;
      const sluice_report_t report = ReportOf(plan);
      if (report.stop_reason != SLUICE_STOP_PROVED) continue;
      ++said;
      wrong += all.HasBetter(report, (objective & 1) != 0, objective >> 1 != 0) ? 1 : 0;
    }
  }
};

// How many of the numbers are at most so large.
std::string Shares(std::vector<double> ratios) {
  std::string text;
  for (const double limit : {1.0, 1.01, 1.05, 1.1, 1.3, 2.0, 4.0}) {
    const auto most = std::count_if(ratios.begin(), ratios.end(),
                                    [limit](double r) { return r <= limit + 1e-9; });
    char part[64];
    std::snprintf(part, sizeof part, " %ld <= %.2f,", static_cast<long>(most), limit);
    text += part;
  }
  std::sort(ratios.begin(), ratios.end());
  return text + " median " + std::to_string(ratios[ratios.size() / 2]) + ", largest " +
         std::to_string(ratios.back());
}

TEST_CASE("bounds: the best of all plans of a tiny graph is not below them") {
  const uint64_t cases = Setting("SLUICE_BOUNDS_TINY", 12);
  const char* presets[] = {"soma-edge", "mcu-256k", "gemmini-16x16", "ethos-u55-like"};
  std::vector<double> cycles, energy;
  uint64_t plans = 0;
  Proofs proofs;
  for (uint64_t seed = Setting("SLUICE_BOUNDS_SEED", 1); cycles.size() < cases;
       ++seed) {
    CAPTURE(seed);
    RandomGraphLimits limits;
    limits.layers = 2 + (seed % 16 == 0 ? 1 : 0);
    limits.every_op = false;
    limits.elements = 1000;
    const GraphSpec spec = MakeRandomGraph(seed, limits);
    uint64_t elements = 0;
    for (const TensorSpec& t : spec.tensors) {
      elements += std::accumulate(
          t.dims.begin(), t.dims.end(), uint64_t{1},
          [](uint64_t a, int32_t b) { return a * static_cast<uint64_t>(b); });
    }
    Library library;
    const GraphPtr graph = library.Graph(GraphBytes(spec));
    const HardwarePtr hardware =
        library.Hardware(sluice::presets::LoadPreset(presets[seed % 4]));
    REQUIRE(graph != nullptr);
    REQUIRE(hardware != nullptr);
    const uint64_t room = std::max<uint64_t>(256, elements * (2 + seed / 4 % 10) / 10);
    AllPlans all(&library, graph, hardware, room);
    if (!all.Make() || all.made < 20) continue;
    CHECK(all.below == 0);
    CHECK_FALSE(all.differ);
    proofs.Take(&library, graph, hardware, room, all);
    plans += all.made;
    cycles.push_back(all.cycles);
    energy.push_back(all.energy);
  }
  MESSAGE(cases << " graphs, " << plans << " plans; least cycles over the bound:"
                << Shares(cycles) << "; least energy:" << Shares(energy) << "; "
                << proofs.said << " of three plans each said to be the best, "
                << proofs.wrong << " wrongly");
  CHECK(proofs.wrong == 0);
}

}  // namespace
}  // namespace sluice_test
