// SPDX-License-Identifier: Apache-2.0
// Pictures of plans: what is drawn, where it is drawn, and that the file is XML.
#include "cli/plot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/hardware_files.h"
#include "cli/plot_buffer.h"
#include "sluice/sluice.h"
#include "support/simulation.h"
#include "tests/cli/tiny_addition.h"

namespace sluice::cli {
namespace {

// Position behind the attributes of a tag, or npos when they are not of the form
// name="value" with no bare < or &.
size_t SkipAttributes(const std::string& text, size_t at) {
  while (at < text.size() && text[at] == ' ') {
    const size_t equals = text.find('=', at);
    if (equals == std::string::npos || text.compare(equals, 2, "=\"") != 0) {
      return std::string::npos;
    }
    const size_t close = text.find('"', equals + 2);
    if (close == std::string::npos || text.find('<', equals) < close) {
      return std::string::npos;
    }
    at = close + 1;
  }
  return at;
}

bool EntityAt(const std::string& text, size_t at) {
  for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;"}) {
    if (text.compare(at, std::string(entity).size(), entity) == 0) return true;
  }
  return false;
}

// Tags nest and close, attributes are quoted, ampersands begin entities.
bool IsWellFormed(const std::string& text) {
  std::vector<std::string> open;
  int roots = 0;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '&' && !EntityAt(text, at)) return false;
    if (text[at] != '<') {
      ++at;
      continue;
    }
    const bool closes = text[at + 1] == '/';
    const size_t name_at = at + (closes ? 2 : 1);
    const size_t name_end = text.find_first_of(" />", name_at);
    if (name_end == std::string::npos || name_end == name_at) return false;
    const std::string name = text.substr(name_at, name_end - name_at);
    at = closes ? name_end : SkipAttributes(text, name_end);
    if (at == std::string::npos) return false;
    if (closes) {
      if (open.empty() || open.back() != name) return false;
      open.pop_back();
    } else if (text[at] == '/') {
      ++at;
    } else {
      if (open.empty()) ++roots;
      open.push_back(name);
    }
    if (text[at] != '>') return false;
    ++at;
  }
  return open.empty() && roots == 1;
}

double Attribute(const std::string& tag, const std::string& name) {
  const size_t at = tag.find(" " + name + "=\"");
  REQUIRE(at != std::string::npos);
  return std::atof(tag.c_str() + at + name.size() + 3);
}

struct Box {
  double x, y, width, height;
};

// Rectangles of every group of the class.
std::vector<std::vector<Box>> BoxesOf(const std::string& svg,
                                      const std::string& group) {
  std::vector<std::vector<Box>> groups;
  const std::string start = "<g class=\"" + group + "\">";
  for (size_t at = svg.find(start); at != std::string::npos;
       at = svg.find(start, at + 1)) {
    const size_t end = svg.find("</g>", at);
    groups.emplace_back();
    for (size_t r = svg.find("<rect", at); r < end; r = svg.find("<rect", r + 1)) {
      const std::string tag = svg.substr(r, svg.find('>', r) - r);
      groups.back().push_back({Attribute(tag, "x"), Attribute(tag, "y"),
                               Attribute(tag, "width"), Attribute(tag, "height")});
    }
  }
  return groups;
}

// Double buffered tiles of a few layers, with names that XML does not like.
Plot TilesOf(uint64_t tiles) {
  Plot plot;
  plot.title = "a < b & \"c\"";
  plot.rows = {{"DRAM", {{"load", {}}, {"store", {}}}}, {"COMPUTE", {{"", {}}}}};
  plot.buffers = {{"BUFFER", 4096, {}}};
  uint64_t t = 0;
  for (uint64_t i = 0; i < tiles; ++i) {
    const uint32_t layer = static_cast<uint32_t>(i * 7 / tiles);
    const uint64_t load = 20 + i * 13 % 30, compute = 50 + i * 7 % 90;
    plot.rows[0].lanes[0].bars.push_back({t, t + load, layer, i % 3 == 0, load, 1, 64});
    plot.rows[1].lanes[0].bars.push_back(
        {t + load, t + load + compute, layer, false, compute, 1, 0});
    plot.rows[0].lanes[1].bars.push_back(
        {t + load + 3, t + load + 23, layer, false, 20, 1, 32});
    const uint64_t low = i % 2 * 1024;
    plot.buffers[0].pieces.push_back(
        {low, low + 1024, t, t + load + compute, layer, i % 3 == 0, true});
    t += load + compute;
  }
  plot.cycles = t;
  for (int i = 0; i < 7; ++i) plot.layer_names.push_back("<layer&> (conv)");
  return plot;
}

TEST_CASE("plot: well-formed XML, the same twice, for few and for many tiles") {
  REQUIRE(IsWellFormed("<a b=\"1\"><c/>&lt;</a>"));
  for (const char* bad :
       {"<a>", "<a></b>", "<a>&</a>", "<a b=1/>", "<a/><b/>", "<a b=\"<\"/>"}) {
    CHECK_MESSAGE(!IsWellFormed(bad), bad);
  }
  for (const uint64_t tiles : {1, 50, 5000}) {
    const Plot plot = TilesOf(tiles);
    const std::string svg = PlotSvg(plot, {});
    CHECK(IsWellFormed(svg));
    CHECK(svg == PlotSvg(TilesOf(tiles), {}));
    const std::string html = PlotHtml(plot, {});
    CHECK(html.find(svg) != std::string::npos);
    CHECK(IsWellFormed(html.substr(html.find('\n') + 1)));
  }
}

TEST_CASE("plot: rectangles of one engine never overlap, and lie inside the picture") {
  for (const uint64_t tiles : {50, 5000}) {
    for (const uint64_t from : {0, 1000}) {
      PlotView view;
      view.from = from;
      view.to = from == 0 ? 0 : 3000;
      const std::string svg = PlotSvg(TilesOf(tiles), view);
      const std::vector<std::vector<Box>> lanes = BoxesOf(svg, "lane");
      REQUIRE(lanes.size() == 3);
      for (const std::vector<Box>& lane : lanes) {
        CHECK(!lane.empty());
        for (size_t i = 0; i < lane.size(); ++i) {
          CHECK(lane[i].x >= 0);
          CHECK(lane[i].x + lane[i].width <= view.width);
          // Coordinates have two decimals.
          if (i > 0) CHECK(lane[i].x >= lane[i - 1].x + lane[i - 1].width - 0.011);
        }
      }
    }
  }
}

TEST_CASE("plot: a picture grows with its width, not with the plan") {
  const size_t few = PlotSvg(TilesOf(5000), {}).size();
  const size_t many = PlotSvg(TilesOf(100000), {}).size();
  CHECK(many < 2 * few);
  CHECK(many < 4 << 20);
}

TEST_CASE("plot: aggregated bars keep cycles, instructions and bytes") {
  const std::vector<PlotBar> bars = TilesOf(5000).rows[0].lanes[0].bars;
  const auto sums = [](const std::vector<PlotBar>& list) {
    PlotBar sum = {0, 0, 0, false, 0, 0, 0};
    for (const PlotBar& bar : list) {
      sum.busy += bar.busy;
      sum.count += bar.count;
      sum.bytes += bar.bytes;
      CHECK(bar.busy <= bar.end - bar.start);
    }
    return sum;
  };
  const PlotBar whole = sums(bars);
  for (const double scale : {10.0, 0.1, 0.01, 0.0001}) {
    const std::vector<PlotBar> drawn = DrawableBars(bars, 0, bars.back().end, scale);
    const PlotBar sum = sums(drawn);
    CHECK(sum.busy == whole.busy);
    CHECK(sum.count == whole.count);
    CHECK(sum.bytes == whole.bytes);
    CHECK(drawn.front().start == bars.front().start);
    CHECK(drawn.back().end == bars.back().end);
    CHECK((scale < 0.05 ? drawn.size() < bars.size() : drawn.size() == bars.size()));
  }
}

// One addition of two activations, scheduled in 2 KiB of a preset's scratchpad.
struct Scheduled {
  Bytes graph, hardware, plan, stream;
  sluice_report_t report = {};
  Scheduled() {
    graph = TinyAddition();
    hardware = LoadHardware("mcu-256k");
    sluice_context_options_t options = {};
    options.struct_size = sizeof options;
    sluice_context_t* context = nullptr;
    sluice_graph_t* g = nullptr;
    sluice_hardware_t* h = nullptr;
    sluice_plan_t* p = nullptr;
    sluice_schedule_options_t schedule = {};
    schedule.struct_size = sizeof schedule;
    schedule.scratchpad_bytes = 2048;
    schedule.solver = SLUICE_SOLVER_BASELINE;
    report.struct_size = sizeof report;
    REQUIRE(sluice_context_create(&options, &context, nullptr) == SLUICE_OK);
    REQUIRE(sluice_graph_create(context, graph.data(), graph.size(), &g, nullptr) ==
            SLUICE_OK);
    REQUIRE(sluice_hardware_create(context, hardware.data(), hardware.size(), &h,
                                   nullptr) == SLUICE_OK);
    REQUIRE(sluice_schedule(context, g, h, &schedule, &p, nullptr) == SLUICE_OK);
    REQUIRE(sluice_plan_report(p, &report) == SLUICE_OK);
    const auto copy = [&](auto get) {
      const void* bytes = nullptr;
      size_t size = 0;
      REQUIRE(get(p, &bytes, &size) == SLUICE_OK);
      return Bytes(static_cast<const uint8_t*>(bytes),
                   static_cast<const uint8_t*>(bytes) + size);
    };
    plan = copy(sluice_plan_bytes);
    stream = copy(sluice_plan_stream);
    sluice_plan_destroy(p);
    sluice_hardware_destroy(h);
    sluice_graph_destroy(g);
    sluice_context_destroy(context);
  }
};

TEST_CASE("plot: the scratchpad's pieces are disjoint and reach up to the peak") {
  const Scheduled s;
  std::vector<sluice_sim::TraceEvent> events;
  sluice_sim::SimulateOptions options =
      sluice_test::SimulationOf(s.graph, s.hardware, s.plan);
  options.trace = [&](const sluice_sim::TraceEvent& e) { events.push_back(e); };
  REQUIRE(sluice_sim::Simulate(options).ok);
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  const BufferHistory history = FollowBuffers(s.stream.data(), s.stream.size(), events);
  REQUIRE(history.nodes.size() == 1);
  const std::vector<PlotPiece>& pieces = history.nodes[0];
  CHECK(pieces.size() > 30);  // 28,800 bytes through 2,048
  uint64_t peak = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const PlotPiece& a = pieces[i];
    CHECK(a.low < a.high);
    CHECK(a.start < a.end);
    peak = std::max(peak, a.high);
    for (size_t j = 0; j < i; ++j) {
      const PlotPiece& b = pieces[j];
      CHECK(
          (a.high <= b.low || b.high <= a.low || a.start >= b.end || b.start >= a.end));
    }
  }
  CHECK(peak == s.report.peak_buffer_bytes);
  for (size_t size : {size_t{0}, size_t{100}, s.stream.size() / 2}) {
    CHECK_THROWS(FollowBuffers(s.stream.data(), size, events));
  }
}

}  // namespace
}  // namespace sluice::cli
