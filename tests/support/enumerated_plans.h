// SPDX-License-Identifier: Apache-2.0
// A small random graph on a preset with little scratchpad, its default plan, and the
// least of all plans with these choices:
//   order      that of the graph
//   partition  every division into segments
//   loops      none, or one, or in plans of one segment two, over N H W C or the sum, in
//              2, 4 or 8 parts
//   placing    by lifetimes
// They are made by sluice_reschedule, from plans with segments and without a stream;
// nothing else is shared with the search. Slices, pieces, other parts and bytes left
// empty are not among them, so a default plan may cost less than the least of them.
#ifndef SLUICE_TESTS_SUPPORT_ENUMERATED_PLANS_H_
#define SLUICE_TESTS_SUPPORT_ENUMERATED_PLANS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "presets/presets.h"
#include "sluice/plan_generated.h"
#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {

struct Loops {
  std::vector<sluice::wire::Loop> loops;
};

struct Segments {
  std::vector<uint32_t> layers;  // of each segment
  std::vector<const Loops*> loops;
};

// A plan that is to be made of these segments.
inline Bytes PlanOf(const Segments& s, const sluice::wire::Plan& like) {
  namespace wire = sluice::wire;
  std::vector<wire::Segment> segments;
  std::vector<wire::Loop> loops;
  for (size_t i = 0; i < s.layers.size(); ++i) {
    const std::vector<wire::Loop>& own = s.loops[i]->loops;
    segments.emplace_back(s.layers[i], static_cast<uint32_t>(own.size()), 0, 0);
    loops.insert(loops.end(), own.begin(), own.end());
  }
  std::vector<uint32_t> order(like.order()->begin(), like.order()->end());
  std::vector<wire::LayerHash> hashes;
  for (const wire::LayerHash* hash : *like.layer_hash()) hashes.push_back(*hash);
  flatbuffers::FlatBufferBuilder to;
  const auto stream = to.CreateVectorOfStructs(std::vector<wire::Words>());
  const auto section =
      to.CreateVectorOfStructs(std::vector<wire::Section>{{order.front(), 2, 0, 0}});
  const auto ordered = to.CreateVector(order);
  const auto left = to.CreateVector(std::vector<uint32_t>(order.size()));
  const auto segment = to.CreateVectorOfStructs(segments);
  const auto loop = to.CreateVectorOfStructs(loops);
  const auto hash = to.CreateVectorOfStructs(hashes);
  wire::ReportBuilder report(to);
  report.add_latency_cycles(like.report()->latency_cycles());
  report.add_energy_pj(like.report()->energy_pj());
  const auto reported = report.Finish();
  wire::PlanBuilder plan(to);
  plan.add_graph_hash(like.graph_hash());
  plan.add_hardware_hash(like.hardware_hash());
  plan.add_stream(stream);
  plan.add_report(reported);
  plan.add_section(section);
  plan.add_order(ordered);
  plan.add_layer_hash(hash);
  plan.add_segment(segment);
  plan.add_loop(loop);
  plan.add_leave(left);
  plan.add_placing(1);
  wire::FinishPlanBuffer(to, plan.Finish());
  return Bytes(to.GetBufferPointer(), to.GetBufferPointer() + to.GetSize());
}

inline Bytes BytesOf(const sluice_plan_t* plan) {
  const void* data = nullptr;
  size_t size = 0;
  if (sluice_plan_bytes(plan, &data, &size) != SLUICE_OK) return {};
  const uint8_t* first = static_cast<const uint8_t*>(data);
  return Bytes(first, first + size);
}

inline double CostOf(const sluice_plan_t* plan) {
  sluice_report_t r = {};
  r.struct_size = sizeof r;
  sluice_plan_report(plan, &r);
  return r.energy_pj * static_cast<double>(r.latency_cycles);
}

class EnumeratedPlans {
 public:
  EnumeratedPlans(uint64_t seed, uint32_t most_layers) {
    RandomGraphLimits limits;
    limits.layers = most_layers;
    limits.every_op = false;
    const GraphSpec graph = MakeRandomGraph(seed, limits);
    bytes_ = GraphBytes(graph);
    const char* const kPresets[] = {"soma-edge", "mcu-256k", "gemmini-16x16",
                                    "ethos-u55-like"};
    graph_ = library_.Graph(bytes_);
    const auto preset = sluice::presets::LoadPreset(kPresets[seed % 4]);
    hardware_ = library_.Hardware(Bytes(preset.begin(), preset.end()));
    uint64_t all = 0;
    for (const TensorSpec& t : graph.tensors) {
      uint64_t elements = 1;
      for (const int32_t extent : t.dims) elements *= static_cast<uint64_t>(extent);
      all += elements;
    }
    budget_ = std::max<uint64_t>(256, all * (2 + seed / 4 % 6) / 10);
  }

  // Makes the default plan. False: it is none of segments, or of one layer.
  bool Schedule(uint64_t iterations) {
    if (graph_ == nullptr || hardware_ == nullptr) return false;
    const auto plan = library_.Schedule(graph_, hardware_, budget_);
    if (plan == nullptr) return false;
    default_ = BytesOf(plan.get());
    cost = CostOf(plan.get());
    if (iterations != 0) {
      cost = CostOf(library_.Schedule(graph_, hardware_, budget_, 0, iterations).get());
    }
    const sluice::wire::Plan& p = *sluice::wire::GetPlan(default_.data());
    layers = p.order() == nullptr ? 0 : p.order()->size();
    return p.segment() != nullptr && p.segment()->size() != 0 && layers >= 2 &&
           layers <= 5;
  }

  void Enumerate() {
    choices_.assign(1, {});
    const int32_t parts[] = {2, 4, 8};
    for (uint32_t axis = 0; axis < 5; ++axis) {
      for (const int32_t n : parts) choices_.push_back({{{axis, n}}});
    }
    single_ = choices_.size();
    for (size_t a = 1; a < single_; ++a) {
      for (size_t b = 1; b < single_; ++b) {
        if (choices_[a].loops[0].axis() == choices_[b].loops[0].axis()) continue;
        choices_.push_back({{choices_[a].loops[0], choices_[b].loops[0]}});
      }
    }
    Divide(layers);
  }

  uint32_t layers = 0;
  double cost = 0, least = 0;
  uint64_t made = 0, tried = 0;
  std::string best;

 private:
  void Divide(uint32_t left) {
    if (left == 0) {
      chosen_.loops.assign(chosen_.layers.size(), &choices_[0]);
      Choose(0);
      return;
    }
    for (uint32_t n = 1; n <= left; ++n) {
      chosen_.layers.push_back(n);
      Divide(left - n);
      chosen_.layers.pop_back();
    }
  }

  void Choose(size_t segment) {
    if (segment == chosen_.layers.size()) return Make();
    // Two loops in plans of one segment only: there are too many of them otherwise.
    const size_t n = chosen_.layers.size() == 1 ? choices_.size() : single_;
    for (size_t i = 0; i < n; ++i) {
      chosen_.loops[segment] = &choices_[i];
      Choose(segment + 1);
    }
    chosen_.loops[segment] = &choices_[0];
  }

  void Make() {
    ++tried;
    const auto segments =
        library_.Plan(PlanOf(chosen_, *sluice::wire::GetPlan(default_.data())));
    if (segments == nullptr) return;
    sluice_schedule_options_t schedule = {};
    schedule.struct_size = sizeof schedule;
    schedule.scratchpad_bytes = budget_;
    sluice_reschedule_options_t options = {};
    options.struct_size = sizeof options;
    options.previous = segments.get();
    options.schedule = &schedule;
    sluice_plan_t* made_plan = nullptr;
    const sluice_status_t status =
        sluice_reschedule(library_.context.get(), graph_.get(), hardware_.get(),
                          &options, &made_plan, &library_.diagnostic);
    const PlanPtr plan(made_plan);
    if (status != SLUICE_OK) return;
    ++made;
    const double c = CostOf(plan.get());
    if (least != 0 && c >= least) return;
    least = c;
    best.clear();
    for (size_t i = 0; i < chosen_.layers.size(); ++i) {
      best += " " + std::to_string(chosen_.layers[i]);
      for (const sluice::wire::Loop& l : chosen_.loops[i]->loops) {
        best += std::string(":") + "NHWCS"[l.axis()] + std::to_string(l.trips());
      }
    }
  }

  Library library_;
  Bytes bytes_, default_;
  GraphPtr graph_;
  HardwarePtr hardware_;
  uint64_t budget_ = 0;
  size_t single_ = 0;  // choices with one loop at most
  std::vector<Loops> choices_;
  Segments chosen_;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_ENUMERATED_PLANS_H_
