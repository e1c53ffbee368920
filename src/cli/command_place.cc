// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/files.h"
#include "cli/interruption.h"
#include "cli/placement_csv.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

constexpr int64_t kNoCapacity = int64_t{1} << 60;
constexpr size_t kNamedConflicts = 20;

struct Answer {
  sluice_status_t status = SLUICE_OK;
  sluice_diagnostic_t diagnostic = {};
  sluice_placement_t placement = {};
  std::vector<int64_t> offsets;
  std::vector<uint32_t> conflict;
  double solve_us = 0;
};

sluice_reserved_region_t RegionOf(const std::string& text) {
  long long begin = 0, end = 0, offset = 0, bytes = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%lld:%lld:%lld:%lld%c", &begin, &end, &offset, &bytes,
                  &rest) != 4) {
    throw Failure(kUsage,
                  "--reserve " + text + " is not of the form LOWER:UPPER:OFFSET:SIZE");
  }
  return {begin, end, offset, bytes};
}

Answer Solve(const PlaceCommand& command, const PlacementTable& table) {
  std::vector<sluice_reserved_region_t> regions;
  for (const std::string& text : command.reserved) regions.push_back(RegionOf(text));
  sluice_placement_problem_t problem = {};
  problem.struct_size = sizeof problem;
  problem.buffer_count = static_cast<uint32_t>(table.buffers.size());
  problem.gap_count = static_cast<uint32_t>(table.gaps.size());
  problem.region_count = static_cast<uint32_t>(regions.size());
  problem.buffers = table.buffers.data();
  problem.gaps = table.gaps.data();
  problem.regions = regions.data();
  problem.capacity_bytes =
      command.has_capacity ? static_cast<int64_t>(command.capacity) : kNoCapacity;
  problem.bank_bytes = static_cast<int64_t>(command.bank_bytes);
  sluice_placement_options_t options = {};
  options.struct_size = sizeof options;
  options.smallest = command.smallest || !command.has_capacity ? 1 : 0;
  options.fast = command.fast ? 1 : 0;
  options.max_nodes = command.max_nodes;
  options.deadline_ns = command.deadline_ns;
  Answer answer;
  answer.offsets.resize(table.buffers.size());
  answer.conflict.resize(table.buffers.size());
  answer.placement.struct_size = sizeof answer.placement;
  answer.placement.offsets = answer.offsets.data();
  answer.placement.conflict = answer.conflict.data();
  answer.diagnostic.struct_size = sizeof answer.diagnostic;
  Session session(0);
  const auto start = std::chrono::steady_clock::now();
  {
    const Interruption interruption;
    options.cancel = interruption.word();
    const Working working(std::to_string(table.buffers.size()) + " buffers placed");
    answer.status = sluice_place(session.context(), &problem, &options,
                                 &answer.placement, &answer.diagnostic);
  }
  answer.solve_us = std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  answer.conflict.resize(answer.placement.conflict_count);
  return answer;
}

// Fails with FILE:LINE, for example "FILE.csv:7: buffer 5 has size 0".
[[noreturn]] void FailAtLine(const PlacementTable& table, const Answer& answer) {
  const uint32_t buffer = answer.diagnostic.tensor;
  const ExitCode code = answer.status == SLUICE_OUT_OF_MEMORY ? kIo : kBadInput;
  if (buffer >= table.buffers.size()) {
    throw Failure(code, table.path + ": " + answer.diagnostic.message);
  }
  const uint32_t line = table.lines[buffer + 1];
  const std::string id(table.ids[buffer]);
  throw Failure(code,
                table.path + ":" + std::to_string(line) + ": " +
                    answer.diagnostic.message + " (id " + id + ")",
                {{"file", table.path}, {"line", line}, {"id", id}});
}

Json AsJson(const PlacementTable& table, const Answer& answer) {
  const sluice_placement_t& p = answer.placement;
  Json json = {{"ok", answer.status == SLUICE_OK},
               {"status", sluice_status_name(answer.status)},
               {"peak_bytes", p.peak_bytes},
               {"lower_bound_bytes", p.lower_bound_bytes},
               {"proved", p.proved != 0},
               {"buffers", table.buffers.size()},
               {"nodes", p.nodes},
               {"solve_us", answer.solve_us},
               {"interrupted", Interruption::came()}};
  if (p.placed != 0 && answer.status != SLUICE_INFEASIBLE) {
    json["offsets"] = answer.offsets;
  }
  if (!answer.conflict.empty()) {
    Json ids = Json::array();
    for (const uint32_t i : answer.conflict) ids.push_back(std::string(table.ids[i]));
    json["conflict"] = ids;
    json["irreducible"] = p.irreducible != 0;
  }
  if (answer.status != SLUICE_OK) {
    json["error"] = {{"message", answer.diagnostic.message}};
  }
  return json;
}

std::string WhyInfeasible(const PlacementTable& table, const Answer& answer) {
  std::string text = "infeasible: no placement exists";
  if (answer.conflict.empty()) return text;
  text += "; these alone cannot lie together:";
  for (size_t i = 0; i < answer.conflict.size() && i < kNamedConflicts; ++i) {
    text += " " + std::string(table.ids[answer.conflict[i]]);
  }
  if (answer.conflict.size() > kNamedConflicts) {
    text +=
        " and " + std::to_string(answer.conflict.size() - kNamedConflicts) + " more";
  }
  if (answer.placement.irreducible != 0) text += " (leaving out any one, they can)";
  return text;
}

void Print(const PlaceCommand& command, const PlacementTable& table,
           const Answer& answer) {
  const sluice_placement_t& p = answer.placement;
  Report report(FileStem(table.path) + ": " + Grouped(table.buffers.size()) +
                " buffers");
  report.Line("peak", Grouped(static_cast<uint64_t>(p.peak_bytes)) + " bytes",
              command.has_capacity ? "of " + Grouped(command.capacity) : "");
  report.Line("lower bound",
              Grouped(static_cast<uint64_t>(p.lower_bound_bytes)) + " bytes",
              p.proved != 0 ? "reached: no placement is lower" : "");
  report.Line("solved in", TimeText(answer.solve_us * 1e-6),
              Grouped(p.nodes) + " nodes of exact search");
  std::cout << report.Text();
}

}  // namespace

void Run(const PlaceCommand& command) {
  if (!command.has_capacity && !command.smallest) {
    throw Failure(kUsage, "place needs --capacity, --smallest or both");
  }
  const PlacementTable table = ReadPlacement(command.table);
  const Answer answer = Solve(command, table);
  TellOfInterruption();
  const bool solved = answer.status == SLUICE_OK;
  if (!solved && answer.status != SLUICE_INFEASIBLE &&
      answer.status != SLUICE_STOPPED) {
    FailAtLine(table, answer);
  }
  // Draws the best placement also when it exceeds the capacity.
  if (!command.picture.empty() && answer.placement.placed != 0) {
    const std::string svg =
        PlacementSvg(table, answer.offsets, static_cast<int64_t>(command.capacity),
                     answer.placement.peak_bytes);
    WriteFile(command.picture, svg.data(), svg.size());
  }
  if (answer.status == SLUICE_INFEASIBLE) {
    throw Failure(kInfeasible, WhyInfeasible(table, answer), AsJson(table, answer));
  }
  if (answer.status == SLUICE_STOPPED) {
    throw Failure(kStopped,
                  "stopped before a placement was found or excluded" +
                      (answer.placement.placed == 0
                           ? std::string()
                           : "; the best peak is " + Grouped(static_cast<uint64_t>(
                                                         answer.placement.peak_bytes))),
                  AsJson(table, answer));
  }
  if (!command.output.empty()) {
    const std::string text = WithOffsets(table, answer.offsets);
    WriteFile(command.output, text.data(), text.size());
  }
  if (command.json) {
    std::cout << JsonText(AsJson(table, answer), 1) << "\n";
    return;
  }
  Print(command, table, answer);
  if (!command.output.empty()) std::cout << "  written to " << command.output << "\n";
}

}  // namespace sluice::cli
