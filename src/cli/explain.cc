// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/graph_names.h"
#include "cli/interruption.h"
#include "cli/plan_maker.h"
#include "cli/plan_plot.h"
#include "cli/report.h"

namespace sluice::cli {
namespace {

constexpr size_t kMostLayers = 60000;  // planned again for all changes together
constexpr size_t kMostLoops = 4;
constexpr uint32_t kSumAxis = 4;
constexpr double kBusy = 0.9;    // of the time: an engine that limits
constexpr double kAgain = 1.05;  // bytes moved, over those that must move

struct Change {
  std::string text;
  SegmentNotation notation;
};

// All changes of a segment that are tried.
class Changes {
 public:
  Changes(const SegmentNotation& plan, size_t at) : plan_(plan), at_(at) {
    const NotedSegment& segment = plan.segments[at];
    for (size_t k = 0; k < segment.loops.size(); ++k) OtherParts(k);
    for (const uint32_t axis : {1u, 2u, 3u, 0u, kSumAxis}) AddLoop(axis);
    if (segment.layers.size() > 1) Divide();
    if (at + 1 < plan.segments.size()) {
      Join(segment.loops);
      Join(plan.segments[at + 1].loops);
    }
  }
  const std::vector<Change>& all() const { return all_; }

 private:
  void Add(const std::vector<SegmentLoop>& loops) {
    SegmentNotation changed = plan_;
    changed.segments[at_].loops = loops;
    all_.push_back({LoopsText(loops), changed});
  }

  void OtherParts(size_t k) {
    const std::vector<SegmentLoop>& loops = plan_.segments[at_].loops;
    const int32_t parts = loops[k].parts;
    for (const int32_t other : {parts - 1, parts + 1, parts / 2, parts * 2}) {
      if (other < 2) continue;
      std::vector<SegmentLoop> changed = loops;
      changed[k].parts = other;
      Add(changed);
    }
    std::vector<SegmentLoop> fewer = loops;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    Add(fewer);
  }

  // A sum is cut by the innermost loop.
  void AddLoop(uint32_t axis) {
    std::vector<SegmentLoop> loops = plan_.segments[at_].loops;
    const auto cuts = [&](const SegmentLoop& loop) { return loop.axis == axis; };
    if (std::any_of(loops.begin(), loops.end(), cuts) || loops.size() == kMostLoops) {
      return;
    }
    const bool summed = !loops.empty() && loops.back().axis == kSumAxis;
    loops.insert(summed ? loops.end() - 1 : loops.end(), SegmentLoop{axis, 2});
    Add(loops);
  }

  void Divide() {
    SegmentNotation changed = plan_;
    NotedSegment& first = changed.segments[at_];
    NotedSegment second = first;
    const size_t half = first.layers.size() / 2;
    first.layers.resize(half);
    first.leave.resize(half);
    const auto cut = static_cast<std::ptrdiff_t>(half);
    second.layers.erase(second.layers.begin(), second.layers.begin() + cut);
    second.leave.erase(second.leave.begin(), second.leave.begin() + cut);
    changed.segments.insert(
        changed.segments.begin() + static_cast<std::ptrdiff_t>(at_) + 1, second);
    all_.push_back({"divided after " + std::to_string(half), changed});
  }

  void Join(const std::vector<SegmentLoop>& loops) {
    const std::string text = "joined with the next, " + LoopsText(loops);
    if (!all_.empty() && all_.back().text == text) return;
    SegmentNotation changed = plan_;
    NotedSegment& first = changed.segments[at_];
    const NotedSegment& next = plan_.segments[at_ + 1];
    first.layers.insert(first.layers.end(), next.layers.begin(), next.layers.end());
    first.leave.insert(first.leave.end(), next.leave.begin(), next.leave.end());
    first.loops = loops;
    changed.segments.erase(changed.segments.begin() + static_cast<std::ptrdiff_t>(at_) +
                           1);
    all_.push_back({text, changed});
  }

  const SegmentNotation& plan_;
  size_t at_;
  std::vector<Change> all_;
};

// How long each kind of engine works between two cycles.
struct Work {
  uint64_t tiles = 0, dma = 0, host = 0;
  uint64_t& Of(uint32_t opcode) {
    if (opcode == SLUICE_OPCODE_HOST) return host;
    return opcode == SLUICE_OPCODE_COMPUTE ? tiles : dma;
  }
};

// Sets when each segment ends and what its engines do until then. Work for other
// segments in this time counts too: it holds the engines.
std::vector<Work> MeasureTime(const ExplainCall& call,
                              std::vector<ExplainedSegment>* rows) {
  const ExecutedPlan run = ExecutePlan({call.plan, call.graph, call.hardware, "", ""});
  const std::vector<uint32_t> segment_of =
      SegmentOfLayers(call.plan, PlainLayerNames(call.graph).size());
  std::vector<uint64_t> end(rows->size());
  uint64_t last = 0;
  for (const sluice_sim::TraceEvent& e : run.events) {
    last = std::max(last, e.end);
    const bool makes =
        e.opcode == SLUICE_OPCODE_COMPUTE || e.opcode == SLUICE_OPCODE_HOST;
    if (!makes || e.layer >= segment_of.size()) continue;
    const size_t s = segment_of[e.layer];
    if (s < end.size()) end[s] = std::max(end[s], e.end);
  }
  if (!end.empty()) end.back() = last;
  for (size_t s = 1; s < end.size(); ++s) end[s] = std::max(end[s], end[s - 1]);
  for (size_t s = 0; s < end.size(); ++s) {
    (*rows)[s].cycles = end[s] - (s == 0 ? 0 : end[s - 1]);
  }
  std::vector<Work> work(rows->size());
  for (const sluice_sim::TraceEvent& e : run.events) {
    auto at = static_cast<size_t>(std::upper_bound(end.begin(), end.end(), e.start) -
                                  end.begin());
    for (uint64_t from = e.start; from < e.end && at < end.size(); ++at) {
      const uint64_t to = std::min(e.end, end[at]);
      work[at].Of(e.opcode) += to - from;
      from = to;
    }
  }
  return work;
}

const char* LimitOf(const ExplainedSegment& row, const Work& work,
                    const std::vector<sluice_layer_cost_t>& costs) {
  const double cycles = static_cast<double>(row.cycles);
  if (row.cycles == 0) return "nothing";
  if (static_cast<double>(work.host) > cycles / 2) return "host";
  if (static_cast<double>(work.tiles) >= kBusy * cycles) return "compute";
  if (static_cast<double>(work.dma) < kBusy * cycles) return "latency";
  double bytes = 0, least = 0;
  for (const uint32_t layer : row.segment.layers) {
    const sluice_layer_cost_t& cost = costs.at(layer);
    bytes += static_cast<double>(cost.dram_read_bytes + cost.dram_write_bytes);
    least += static_cast<double>(cost.bound_dram_bytes);
  }
  return bytes > kAgain * least ? "capacity" : "DMA";
}

void TryChanges(const SegmentNotation& plan, size_t at, PlanMaker* maker,
                ExplainedSegment* row) {
  double best = INFINITY;
  const Changes changes(plan, at);
  for (const Change& change : changes.all()) {
    ++row->tried;
    const double ratio = maker->Ratio(change.notation);
    if (ratio >= best || ratio == 1) continue;  // 1: the same plan in other words
    best = row->ratio = ratio;
    row->change = change.text;
  }
}

std::string Percent(double ratio) {
  return (ratio < 1 ? "-" : "+") + Fixed(100 * std::fabs(ratio - 1), 2) + "%";
}

// "conv1 .. pool1": layers by their own names.
std::string LayersText(const NotedSegment& segment, const Bytes& graph) {
  const std::vector<std::string> names = PlainLayerNames(graph);
  const auto name = [&](uint32_t layer) {
    const bool named = layer < names.size() && !names[layer].empty();
    return named ? Shortened(names[layer]) : "layer " + std::to_string(layer);
  };
  const std::string first = name(segment.layers.front());
  if (segment.layers.size() == 1) return first;
  return first + " .. " + name(segment.layers.back()) + " (" +
         std::to_string(segment.layers.size()) + ")";
}

std::string ChangeText(const ExplainedSegment& row) {
  if (row.tried == 0) return "not tried";
  return row.change.empty() ? "none of " + std::to_string(row.tried) + " is possible"
                            : row.change;
}

}  // namespace

std::vector<ExplainedSegment> Explain(const ExplainCall& call) {
  const SegmentNotation plan = SegmentsOfPlan(call.plan);
  std::vector<ExplainedSegment> rows(plan.segments.size());
  size_t layers = 0;
  for (size_t s = 0; s < rows.size(); ++s) {
    rows[s].segment = plan.segments[s];
    layers += plan.segments[s].layers.size();
  }
  PlanMaker maker(call.graph, call.hardware, call.plan, call.options);
  const std::vector<Work> work = MeasureTime(call, &rows);
  std::vector<size_t> longest(rows.size());
  std::iota(longest.begin(), longest.end(), 0);
  std::stable_sort(longest.begin(), longest.end(),
                   [&](size_t a, size_t b) { return rows[a].cycles > rows[b].cycles; });
  size_t planned = 0;
  for (const size_t s : longest) {
    rows[s].limit = LimitOf(rows[s], work[s], call.costs);
    if (planned >= kMostLayers || Interruption::came()) continue;
    TryChanges(plan, s, &maker, &rows[s]);
    planned += rows[s].tried * layers;
  }
  return rows;
}

std::string ExplainedAsText(const std::vector<ExplainedSegment>& rows,
                            const Bytes& graph) {
  if (rows.empty()) {
    return "  explain: the plan has no segments: its layers run one by one (--layers "
           "says what each takes)\n";
  }
  std::vector<std::vector<std::string>> cells = {
      {"segment", "layers", "loops", "cycles", "limit", "next best", "costs"}};
  for (size_t s = 0; s < rows.size(); ++s) {
    const ExplainedSegment& row = rows[s];
    cells.push_back({std::to_string(s), LayersText(row.segment, graph),
                     LoopsText(row.segment.loops), Grouped(row.cycles), row.limit,
                     ChangeText(row), row.change.empty() ? "" : Percent(row.ratio)});
  }
  std::vector<size_t> width(cells[0].size());
  for (const auto& line : cells) {
    for (size_t c = 0; c < line.size(); ++c) {
      width[c] = std::max(width[c], line[c].size());
    }
  }
  std::string text;
  for (const auto& line : cells) {
    std::string row = "  ";
    for (size_t c = 0; c < line.size(); ++c) {
      row += line[c] + std::string(width[c] - line[c].size() + 2, ' ');
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

Json ExplainedAsJson(const std::vector<ExplainedSegment>& rows, const Bytes& graph) {
  Json list = Json::array();
  for (const ExplainedSegment& row : rows) {
    Json entry = SegmentsToJson({{row.segment}, 0}, graph)["segments"][0];
    entry["cycles"] = row.cycles;
    entry["limit"] = row.limit;
    entry["changes_tried"] = row.tried;
    entry["next_best"] = nullptr;
    if (!row.change.empty()) {
      entry["next_best"] = {{"change", row.change}, {"cost_ratio", row.ratio}};
    }
    list.push_back(entry);
  }
  return list;
}

}  // namespace sluice::cli
