// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/plan_plot.h"
#include "cli/report.h"

namespace sluice::cli {
namespace {

constexpr uint64_t kLeastWidth = 300, kMostWidth = 100000;

}  // namespace

void Run(const PlotCommand& command) {
  const std::string extension = FileExtension(command.output);
  if (extension != ".svg" && extension != ".html") {
    throw Failure(kUsage, command.output + ": the output is .svg or .html");
  }
  const PlanFiles files = ReadPlanFiles(command.plan, command.graph, command.hardware);
  DemandMadeFor(files);
  const Plot plot = PlotOf(files, ExecutePlan(files));
  PlotView view;
  view.from = command.from;
  view.to = command.to;
  view.width = command.width;
  const uint64_t end = view.to == 0 ? plot.cycles : view.to;
  if (view.width < kLeastWidth || view.width > kMostWidth || view.from >= end) {
    throw Failure(kUsage, "nothing to see between cycle " + Grouped(view.from) +
                              " and " + Grouped(end) + " in " + Grouped(view.width) +
                              " pixels");
  }
  const std::string text =
      extension == ".svg" ? PlotSvg(plot, view) : PlotHtml(plot, view);
  WriteFile(command.output, text.data(), text.size());
  if (command.json) {
    std::cout << JsonText(Json({{"ok", true},
                                {"output", command.output},
                                {"cycles", plot.cycles},
                                {"bytes", text.size()}}),
                          1)
              << "\n";
  } else {
    std::cout << command.output << ": " << plot.subtitle << "\n";
  }
}

}  // namespace sluice::cli
