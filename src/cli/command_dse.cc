// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "cli/commands.h"
#include "cli/dse/grid.h"
#include "cli/dse/heat_map.h"
#include "cli/dse/table.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/interruption.h"
#include "cli/models.h"
#include "cli/quantities.h"
#include "cli/report.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const std::vector<std::string>& ResultColumns() {
  static const std::vector<std::string> columns = {"status",
                                                   "latency_cycles",
                                                   "energy_pj",
                                                   "edp",
                                                   "energy_dram_pj",
                                                   "energy_scratchpad_pj",
                                                   "energy_compute_pj",
                                                   "energy_leakage_pj",
                                                   "dram_read_bytes",
                                                   "dram_write_bytes",
                                                   "peak_buffer_bytes",
                                                   "bound_latency_cycles",
                                                   "bound_energy_pj",
                                                   "utilisation",
                                                   "groups",
                                                   "tiles",
                                                   "smallest_scratchpad_bytes",
                                                   "solve_us"};
  return columns;
}

std::string Exact(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

Cells KeyCells(const GridPoint& point) {
  Cells cells;
  for (const GridValue& value : point.key) cells.push_back(value.value);
  return cells;
}

Cells ColumnsOf(const GridPoint& point) {
  Cells columns;
  for (const GridValue& value : point.key) columns.push_back(value.column);
  columns.insert(columns.end(), ResultColumns().begin(), ResultColumns().end());
  return columns;
}

std::string TextOf(const GridPoint& point) {
  return point.panel + ", " + point.x + " B/cycle, " + point.y;
}

Cells PlanCells(const sluice_report_t& r, uint64_t solve_us, uint64_t macs_per_cycle) {
  const auto number = [](uint64_t n) { return std::to_string(n); };
  const double cycles = static_cast<double>(r.latency_cycles);
  return {
      "ok",
      number(r.latency_cycles),
      Exact(r.energy_pj),
      Exact(r.energy_pj * cycles),
      Exact(r.energy_dram_pj),
      Exact(r.energy_scratchpad_pj),
      Exact(r.energy_compute_pj),
      Exact(r.energy_leakage_pj),
      number(r.dram_read_bytes),
      number(r.dram_write_bytes),
      number(r.peak_buffer_bytes),
      number(r.bound_latency_cycles),
      Exact(r.bound_energy_pj),
      Exact(static_cast<double>(r.macs) / static_cast<double>(macs_per_cycle) / cycles),
      number(r.groups),
      number(r.tiles),
      "",
      number(solve_us)};
}

Cells InfeasibleCells(const Failure& failure) {
  Cells cells(ResultColumns().size());
  cells[0] = "infeasible";
  const Json smallest = failure.details().value("smallest_scratchpad_bytes", Json());
  if (smallest.is_number()) cells[cells.size() - 2] = JsonText(smallest);
  return cells;
}

// A point without a result: a limit, memory, or an unsupported operator stopped it.
struct Unanswered {
  size_t point;
  ExitCode code;
  std::string message;
};

class Sweep {
 public:
  Sweep(const Grid& grid, SweepTable* table, bool show)
      : grid_(grid), table_(table), show_(show), start_(Clock::now()) {
    std::set<Cells> seen;
    for (size_t i = 0; i < grid.points.size(); ++i) {
      const Cells key = KeyCells(grid.points[i]);
      if (table->Find(key) == nullptr && seen.insert(key).second) pending_.push_back(i);
    }
    Prepare();
  }

  size_t pending() const { return pending_.size(); }
  // Points that this run has answered or could not answer.
  size_t done() const { return done_; }
  const std::vector<Unanswered>& unanswered() const { return unanswered_; }

  void Run(unsigned jobs) {
    const Interruption interruption;
    std::vector<std::thread> threads;
    const size_t count = std::min<size_t>(jobs, pending_.size());
    for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    if (show_ && !pending_.empty()) std::cerr << "\r\x1b[K" << std::flush;
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Reads the graphs and descriptors of all open points, so that bad ones fail before
  // any search.
  void Prepare() {
    std::set<size_t> checked;
    for (const size_t i : pending_) {
      const GridPoint& point = grid_.points[i];
      Bytes& graph = graphs_[{point.network, point.batch}];
      Session session(0);
      if (graph.empty()) {
        sluice_zoo_options_t options = {};
        options.struct_size = sizeof options;
        options.batch = point.batch;
        options.seq = grid_.seq;
        options.context = grid_.context;
        options.blocks = grid_.blocks;
        graph = FileExtension(point.network).empty()
                    ? ZooGraph(point.network, options).graph.Copy()
                    : ReadGraph(point.network, "dse");
        session.LoadGraph(graph, point.network);
      }
      if (!checked.insert(point.hardware).second) continue;
      try {
        session.LoadHardware(grid_.hardware[point.hardware]);
      } catch (const Failure& failure) {
        throw Failure(failure.code(), TextOf(point) + ": " + failure.what());
      }
    }
  }

  // By a signal, or by an error in one of the threads.
  static bool Stopped() { return Interruption::came(); }

  void Work() {
    try {
      for (size_t at = next_++; at < pending_.size() && !Stopped(); at = next_++) {
        Point(pending_[at]);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      Interruption::Come();
    }
  }

  void Point(size_t index) {
    const GridPoint& point = grid_.points[index];
    Cells result;
    Unanswered unanswered = {index, kDone, ""};
    try {
      result = Plan(point);
    } catch (const Failure& failure) {
      if (failure.code() == kInfeasible) {
        result = InfeasibleCells(failure);
      } else {
        unanswered.code = failure.code();
        unanswered.message = failure.what();
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Stopped()) return;
    if (unanswered.code != kDone) {
      unanswered_.push_back(unanswered);
    } else {
      Cells row = KeyCells(point);
      row.insert(row.end(), result.begin(), result.end());
      table_->Append(row);
    }
    ++done_;
    if (show_) Show(point);
  }

  Cells Plan(const GridPoint& point) {
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.solver = grid_.solver;
    options.energy_exponent = grid_.energy_exponent;
    options.delay_exponent = grid_.delay_exponent;
    options.max_iterations = grid_.iterations;
    options.deadline_ns = grid_.deadline_ns;
    options.seed = grid_.seed;
    options.cancel = Interruption::word();
    Session session(0);
    session.LoadGraph(graphs_.at({point.network, point.batch}));
    session.LoadHardware(grid_.hardware[point.hardware]);
    const Clock::time_point start = Clock::now();
    session.Schedule(options);
    const double seconds = SecondsSince(start);
    const HardwareFacts facts = FactsOf(grid_.hardware[point.hardware]);
    return PlanCells(session.Report(), static_cast<uint64_t>(seconds * 1e6),
                     facts.macs_per_cycle);
  }

  void Show(const GridPoint& point) const {
    const double seconds = SecondsSince(start_);
    const double left = seconds / static_cast<double>(done_) *
                        static_cast<double>(pending_.size() - done_);
    std::cerr << "\r\x1b[K" << done_ << "/" << pending_.size() << "  " << TextOf(point)
              << "  " << TimeText(left) << " left" << std::flush;
  }

  const Grid& grid_;
  SweepTable* table_;
  bool show_;
  Clock::time_point start_;
  std::vector<size_t> pending_;
  std::map<std::pair<std::string, int32_t>, Bytes> graphs_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;  // guards the members below, and table_
  size_t done_ = 0;
  std::vector<Unanswered> unanswered_;
  std::exception_ptr error_;
};

// A finished point with its row; nullptr when there is no result.
struct Answer {
  const GridPoint* point;
  const Cells* row;

  const std::string& Cell(const std::string& column) const {
    const auto& columns = ResultColumns();
    const size_t at = static_cast<size_t>(
        std::find(columns.begin(), columns.end(), column) - columns.begin());
    return (*row)[point->key.size() + at];
  }
  // Null for an empty cell. The table may be somebody else's.
  Json Number(const std::string& column) const {
    if (row == nullptr || Cell(column).empty()) return nullptr;
    const Json number = ParseJson(Cell(column));
    if (number.is_number()) return number;
    throw Failure(kBadInput, "the table's " + column + " of " + TextOf(*point) +
                                 " is " + Cell(column) + ", which is no number");
  }
  double Value(const std::string& column) const {
    const Json number = Number(column);
    return number.is_null() ? 0 : number.get<double>();
  }
};

Json AsJson(const std::vector<Answer>& answers, const DseCommand& command,
            const Sweep& sweep, size_t merged, double seconds) {
  Json rows = Json::array();
  for (const Answer& a : answers) {
    Json row = Json::object();
    for (const GridValue& value : a.point->key) row[value.column] = value.value;
    row["batch"] = a.point->batch;
    row["buffer_bytes"] = std::stoull(row["buffer_bytes"].get<std::string>());
    row["status"] = a.row == nullptr ? "unanswered" : a.Cell("status");
    for (const std::string& column : ResultColumns()) {
      if (column == "status") continue;
      row[column] = a.Number(column);
    }
    rows.push_back(row);
  }
  Json unanswered = Json::array();
  for (const Unanswered& u : sweep.unanswered()) {
    unanswered.push_back({{"point", u.point}, {"message", u.message}});
  }
  return {{"ok", sweep.unanswered().empty() && !Interruption::came()},
          {"points", answers.size()},
          {"computed", sweep.done() - sweep.unanswered().size()},
          {"interrupted", Interruption::came()},
          {"merged", merged},
          {"seconds", seconds},
          {"csv", command.output},
          {"svg", command.svg},
          {"rows", rows},
          {"unanswered", unanswered}};
}

std::string AsText(const std::vector<Answer>& answers, const DseCommand& command,
                   const std::string& metric, const Sweep& sweep, double seconds) {
  Report report(std::to_string(answers.size()) + " points, " +
                std::to_string(sweep.pending()) + " of them new, in " +
                TimeText(seconds));
  std::vector<const Answer*> best;
  size_t infeasible = 0;
  for (const Answer& a : answers) {
    infeasible += a.row != nullptr && a.Cell("status") == "infeasible";
    if (a.Value(metric) <= 0) continue;
    const auto known = std::find_if(best.begin(), best.end(), [&](const Answer* b) {
      return b->point->panel == a.point->panel;
    });
    if (known == best.end()) {
      best.push_back(&a);
    } else if (a.Value(metric) < (*known)->Value(metric)) {
      *known = &a;
    }
  }
  for (const Answer* b : best) {
    char value[32];
    std::snprintf(value, sizeof value, "%.4g", b->Value(metric));
    report.Line(b->point->panel, std::string("best ") + metric + " " + value,
                "at " + b->point->x + " B/cycle, " + b->point->y);
  }
  if (infeasible != 0) report.Line("infeasible", std::to_string(infeasible));
  report.Line("written to", command.output, command.svg);
  return report.Text();
}

HeatMaps MapsOf(const Grid& grid, const std::vector<Answer>& answers,
                const std::string& metric) {
  HeatMaps maps;
  maps.title = metric + " of " + std::to_string(answers.size()) + " points";
  maps.x_title = grid.x_title;
  maps.y_title = grid.y_title;
  maps.x = grid.x;
  maps.y = grid.y;
  for (const Answer& a : answers) {
    HeatCell cell = {a.point->panel, a.point->x, a.point->y, a.Value(metric),
                     TextOf(*a.point)};
    if (a.row == nullptr) {
      cell.tip += "\nno answer";
    } else if (cell.value <= 0) {
      cell.tip += "\n" + a.Cell("status") + ", smallest scratchpad " +
                  a.Cell("smallest_scratchpad_bytes") + " bytes";
    } else {
      cell.tip += "\n" + a.Cell("latency_cycles") + " cycles, " +
                  EnergyText(a.Value("energy_pj")) + ", MAC array busy " +
                  Fixed(100 * a.Value("utilisation"), 1) + " %";
    }
    maps.cells.push_back(cell);
  }
  return maps;
}

// The points of a share "2/8": the second, tenth, ... of the grid.
void KeepShard(const std::string& text, std::vector<GridPoint>* points) {
  const size_t slash = text.find('/');
  uint64_t which = 0, of = 0;
  if (slash == std::string::npos || !ParseBytes(text.substr(0, slash), &which) ||
      !ParseBytes(text.substr(slash + 1), &of) || which < 1 || which > of) {
    throw Failure(kUsage, "--shard " + text + " is not of the form I/N, I from 1 to N");
  }
  std::vector<GridPoint> kept;
  for (size_t i = which - 1; i < points->size(); i += of) kept.push_back((*points)[i]);
  *points = kept;
}

// The grid that a file describes; what is wrong with it is told with the file's name.
Grid GridOf(const std::string& path, const Bytes& text) {
  try {
    return ParseGrid(std::string(text.begin(), text.end()), sluice_version());
  } catch (const Failure& failure) {
    throw Failure(failure.code(), path + ": " + failure.what(), failure.details());
  }
}

}  // namespace

std::string DseHelp() { return kGridHelp; }

void Run(const DseCommand& command) {
  const Clock::time_point start = Clock::now();
  const Bytes text = ReadFile(command.grid);
  Grid grid = GridOf(command.grid, text);
  const Cells columns = ColumnsOf(grid.points.front());
  const size_t keys = grid.points.front().key.size();
  if (!command.shard.empty()) KeepShard(command.shard, &grid.points);
  SweepTable table(command.output, columns, keys);
  size_t merged = 0;
  for (const std::string& path : command.merge) merged += table.Merge(path);
  Sweep sweep(grid, &table, isatty(STDERR_FILENO) != 0);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  sweep.Run(command.jobs != 0 ? command.jobs : cores);
  std::vector<Answer> answers;
  std::vector<Cells> order;
  for (const GridPoint& point : grid.points) {
    order.push_back(KeyCells(point));
    answers.push_back({&point, table.Find(order.back())});
  }
  table.Order(order);
  if (merged != 0 && !command.json) {
    std::cout << merged << " rows taken from other tables\n";
  }
  const std::string metric = command.metric == "latency"  ? "latency_cycles"
                             : command.metric == "energy" ? "energy_pj"
                                                          : "edp";
  if (!command.svg.empty()) {
    const std::string svg = HeatMapSvg(MapsOf(grid, answers, metric));
    WriteFile(command.svg, svg.data(), svg.size());
  }
  const double seconds = SecondsSince(start);
  const Json json = AsJson(answers, command, sweep, merged, seconds);
  if (Interruption::came()) {
    const std::string message =
        "interrupted: " + command.output + " has what was found until then; " +
        std::to_string(sweep.pending() - sweep.done()) + " of " +
        std::to_string(answers.size()) +
        " points are open, and the same command goes on with them";
    Json details = json;
    details["error"] = {{"message", message}};
    throw Failure(kStopped, message, details);
  }
  if (!sweep.unanswered().empty()) {
    const Unanswered& first = sweep.unanswered().front();
    Json details = json;
    details["error"] = {{"message", first.message}};
    throw Failure(first.code,
                  std::to_string(sweep.unanswered().size()) +
                      " points without an answer, first " +
                      TextOf(grid.points[first.point]) + ": " + first.message,
                  details);
  }
  if (command.json) {
    std::cout << JsonText(json, 1) << "\n";
  } else {
    std::cout << AsText(answers, command, metric, sweep, seconds);
  }
}

}  // namespace sluice::cli
