// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <sstream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/interruption.h"
#include "cli/plan_costs.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

using Points = std::vector<sluice_curve_point_t>;

// Draws the curve as steps: the plan of a smaller scratchpad is used until a larger one
// has a better plan.
std::string CurveSvg(const std::string& title, const Points& points) {
  constexpr double kLeft = 90, kTop = 40, kWidth = 640, kHeight = 360;
  const double most = static_cast<double>(points.back().scratchpad_bytes);
  const double slowest = static_cast<double>(points.front().latency_cycles);
  const auto x = [&](uint64_t bytes) {
    return kLeft + kWidth * static_cast<double>(bytes) / most;
  };
  const auto y = [&](uint64_t cycles) {
    return kTop + kHeight * (1 - static_cast<double>(cycles) / slowest);
  };
  std::ostringstream out;
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='800' height='460' "
         "font-family='sans-serif' font-size='12'>\n<text x='90' y='24'>"
      << title << "</text>\n<path fill='none' stroke='#888' d='M90 40 V400 H730'/>\n"
      << "<path fill='none' stroke='#06c' stroke-width='2' d='M"
      << x(points.front().plan_bytes) << " " << y(points.front().latency_cycles);
  for (const sluice_curve_point_t& p : points) {
    out << " H" << x(p.plan_bytes) << " V" << y(p.latency_cycles);
  }
  out << " H" << x(points.back().scratchpad_bytes) << "'/>\n";
  for (const sluice_curve_point_t& p : points) {
    out << "<circle cx='" << x(p.plan_bytes) << "' cy='" << y(p.latency_cycles)
        << "' r='3' fill='#06c'><title>" << BytesText(p.plan_bytes) << ": "
        << Grouped(p.latency_cycles) << " cycles</title></circle>\n";
  }
  out << "<text x='90' y='420'>0</text><text x='730' y='420' text-anchor='end'>"
      << BytesText(points.back().scratchpad_bytes)
      << " of scratchpad</text>\n<text x='84' y='44' text-anchor='end'>"
      << Grouped(points.front().latency_cycles)
      << "</text><text x='84' y='404' text-anchor='end'>0 cycles</text>\n</svg>\n";
  return out.str();
}

void Print(const std::string& heading, const Points& points) {
  std::cout << heading << "\n  scratchpad   plan uses          cycles   to the next\n";
  for (size_t i = 0; i < points.size(); ++i) {
    const sluice_curve_point_t& p = points[i];
    std::string line = "  " + BytesText(p.scratchpad_bytes);
    line.resize(std::max<size_t>(line.size(), 15), ' ');
    line += BytesText(p.plan_bytes);
    line.resize(std::max<size_t>(line.size(), 26), ' ');
    const std::string cycles = Grouped(p.latency_cycles);
    line += std::string(cycles.size() < 15 ? 15 - cycles.size() : 0, ' ') + cycles;
    if (i + 1 < points.size()) {
      const double drop = static_cast<double>(points[i + 1].latency_cycles) /
                          static_cast<double>(p.latency_cycles);
      line += "   -" + Fixed(100 * (1 - drop), 1) + "%";
    }
    std::cout << line << "\n";
  }
}

}  // namespace

void Run(const CurveCommand& command) {
  const Bytes graph = ReadGraph(command.graph, "curve");
  const Bytes hardware = LoadHardware(command.hardware);
  Session session(0);
  session.LoadHardware(hardware);
  session.LoadGraph(graph, command.graph);
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.scratchpad_bytes = command.budget_bytes;
  options.deadline_ns = command.deadline_ns;
  options.max_iterations = command.iterations;
  options.seed = command.seed;
  options.energy_exponent = command.objective == "latency" ? 0 : 1;
  options.delay_exponent = command.objective == "energy" ? 0 : 1;
  const Interruption interruption;
  options.cancel = interruption.word();
  Points points;
  {
    const Working working("plans for " + std::to_string(command.points) + " sizes");
    points = CurveOf(session, options, command.points);
  }
  TellOfInterruption();
  const std::string heading =
      GraphName(graph) + " on " + FactsOf(hardware).name + ", " + command.objective;
  if (!command.output.empty()) {
    const std::string svg = CurveSvg(heading, points);
    WriteFile(command.output, svg.data(), svg.size());
  }
  if (!command.json) return Print(heading, points);
  Json rows = Json::array();
  for (const sluice_curve_point_t& p : points) {
    rows.push_back({{"scratchpad_bytes", p.scratchpad_bytes},
                    {"plan_bytes", p.plan_bytes},
                    {"latency_cycles", p.latency_cycles},
                    {"energy_pj", p.energy_pj}});
  }
  std::cout << JsonText(Json({{"interrupted", Interruption::came()}, {"points", rows}}),
                        1)
            << "\n";
}

}  // namespace sluice::cli
