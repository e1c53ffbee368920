// SPDX-License-Identifier: Apache-2.0
#include "cli/prove.h"

#include <algorithm>

#include "cli/interruption.h"
#include "cli/report.h"
#include "sluice/graph_generated.h"

namespace sluice::cli {
namespace {

constexpr uint32_t kAxes = 4;
constexpr uint32_t kSumAxis = 4;
constexpr size_t kMostLayers = 2;

// Numbers of parts of an extent, each with another size of a part.
std::vector<int32_t> PartsOf(int32_t extent) {
  std::vector<int32_t> parts;
  for (int32_t size = extent - 1; size >= 1; --size) {
    const int32_t count = (extent + size - 1) / size;
    if (parts.empty() || parts.back() != count) parts.push_back(count);
  }
  return parts;
}

// By axis, N H W C and the sum: numbers of parts of a layer.
std::vector<std::vector<int32_t>> CutsOf(const Bytes& graph, uint32_t index) {
  const wire::Graph& g = *wire::GetGraph(graph.data());
  const auto extent = [&](uint32_t tensor, uint32_t axis) {
    const uint32_t begin = g.tensor_dim_begin()->Get(tensor);
    const uint32_t rank = g.tensor_dim_begin()->Get(tensor + 1) - begin;
    return axis + rank < kAxes ? 1 : g.tensor_dims()->Get(begin + axis + rank - kAxes);
  };
  const uint32_t out = g.layer_outputs()->Get(g.layer_output_begin()->Get(index));
  std::vector<std::vector<int32_t>> cuts;
  for (uint32_t a = 0; a < kAxes; ++a) cuts.push_back(PartsOf(extent(out, a)));
  const uint32_t in = g.layer_inputs()->Get(g.layer_input_begin()->Get(index));
  cuts.push_back(PartsOf(extent(in, 3)));
  return cuts;
}

class Space {
 public:
  Space(const ProveCall& call, Proof* proof)
      : call_(call),
        maker_(call.graph, call.hardware, call.plan, call.options),
        proof_(proof) {}

  void Enumerate() {
    const SegmentNotation plan = SegmentsOfPlan(call_.plan);
    std::vector<uint32_t> order;
    for (const NotedSegment& s : plan.segments) {
      order.insert(order.end(), s.layers.begin(), s.layers.end());
    }
    if (order.empty() || order.size() > kMostLayers) return;
    proof_->proved = Proved::kInSpace;
    std::sort(order.begin(), order.end());
    do {
      Divide({{order}});
      if (order.size() == kMostLayers) Divide({{order[0]}, {order[1]}});
    } while (std::next_permutation(order.begin(), order.end()));
  }

 private:
  void Divide(const std::vector<std::vector<uint32_t>>& segments) {
    SegmentNotation notation;
    cuts_.clear();
    for (const std::vector<uint32_t>& layers : segments) {
      NotedSegment segment = {};
      segment.layers = layers;
      segment.leave.resize(layers.size());
      notation.segments.push_back(segment);
      cuts_.push_back(CutsOf(call_.graph, layers.back()));
    }
    Nest(0, &notation);
  }

  bool IsOver() {
    const bool over =
        proof_->made + proof_->refused >= call_.most || Interruption::came();
    if (over) proof_->proved = Proved::kUndecided;
    return over;
  }

  // Whether no plan with so many iterations, each of a cycle at least, costs less than the best.
  bool IsDear(const SegmentNotation& notation) const {
    double iterations = 0;
    for (const NotedSegment& s : notation.segments) {
      double of_segment = 1;
      for (const SegmentLoop& loop : s.loops) of_segment *= loop.parts;
      iterations += of_segment;
    }
    const sluice_report_t& base = maker_.base();
    const double cycles =
        std::max(static_cast<double>(base.bound_latency_cycles), iterations);
    return maker_.RatioOf(base.bound_energy_pj, cycles) >= proof_->ratio;
  }

  // Tries the loops that segment `at` has, then those with one more inside.
  void Nest(size_t at, SegmentNotation* notation) {
    if (at == notation->segments.size()) return Stay(notation);
    if (IsOver()) return;
    if (IsDear(*notation)) {
      ++proof_->left_out;
      return;
    }
    Nest(at + 1, notation);
    std::vector<SegmentLoop>& loops = notation->segments[at].loops;
    for (uint32_t axis = 0; axis <= kSumAxis; ++axis) {
      const auto cuts = [&](const SegmentLoop& loop) { return loop.axis == axis; };
      // A sum is cut by the innermost loop.
      const bool summed = !loops.empty() && loops.back().axis == kSumAxis;
      if (summed || std::any_of(loops.begin(), loops.end(), cuts)) continue;
      for (const int32_t parts : cuts_[at][axis]) {
        loops.push_back({axis, parts});
        Nest(at, notation);
        loops.pop_back();
      }
    }
  }

  void Stay(SegmentNotation* notation) {
    std::vector<uint32_t*> leave;
    for (NotedSegment& s : notation->segments) {
      for (uint32_t& bytes : s.leave) leave.push_back(&bytes);
    }
    for (uint32_t stays = 0; stays < 1u << leave.size(); ++stays) {
      for (size_t p = 0; p < leave.size(); ++p) {
        *leave[p] = (stays >> p & 1) != 0 ? 0 : UINT32_MAX;
      }
      for (const uint32_t placing : {1u, 2u}) {
        if (IsOver()) return;
        notation->placing = placing;
        Try(*notation);
      }
    }
  }

  void Try(const SegmentNotation& notation) {
    const double ratio = maker_.Ratio(notation);
    ++(ratio < INFINITY ? proof_->made : proof_->refused);
    if (ratio >= proof_->ratio * (1 - 1e-12)) return;
    proof_->ratio = ratio;
    proof_->cheaper = maker_.PlanBytes();
  }

  const ProveCall& call_;
  PlanMaker maker_;
  Proof* proof_;
  std::vector<std::vector<std::vector<int32_t>>> cuts_;  // by segment and axis
};

std::string Tried(const Proof& proof) {
  return Grouped(proof.made) + " plans made, " + Grouped(proof.refused) +
         " choices without one, " + Grouped(proof.left_out) +
         " nests left out by their bound";
}

}  // namespace

Proof Prove(const ProveCall& call) {
  Proof proof;
  PlanMaker given(call.graph, call.hardware, call.plan, call.options);
  if (given.base().stop_reason == SLUICE_STOP_PROVED) {
    proof.proved = Proved::kByBound;
    return proof;
  }
  Space(call, &proof).Enumerate();
  return proof;
}

std::string ProofText(const Proof& proof) {
  const std::string found =
      proof.cheaper.empty()
          ? ""
          : " (" + Fixed(100 * (1 - proof.ratio), 2) + "% less than the search's plan)";
  switch (proof.proved) {
    case Proved::kByBound:
      return "proved optimal: no plan costs less than the bound, and this one costs as "
             "much";
    case Proved::kInSpace:
      return "optimal in the plan space" + found + ": " + Tried(proof);
    case Proved::kUndecided:
      return "undecided" + found + ": not all of the plan space was looked at; " +
             Tried(proof);
    case Proved::kNotAsked:
      break;
  }
  return "no exact search: it is for plans of one or two layers in segments";
}

Json ProofAsJson(const Proof& proof) {
  const char* const words[] = {"optimal", "optimal in the plan space", "undecided",
                               "no exact search"};
  return {{"proved", words[static_cast<int>(proof.proved)]},
          {"plans_made", proof.made},
          {"choices_without_plan", proof.refused},
          {"nests_left_out", proof.left_out},
          {"cost_over_searched", proof.ratio}};
}

}  // namespace sluice::cli
