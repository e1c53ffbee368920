// SPDX-License-Identifier: Apache-2.0
#include "bench/deadline_work.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace sluice_bench {
namespace {

using Json = nlohmann::json;

constexpr double kMs = 850000;        // blocks of a core of 3 GHz, about
constexpr double kLong = 3000 * kMs;  // of the run that others are compared with
constexpr double kDearer = 1.005;  // a plan that costs more than this of an earlier one

// What is asked, in blocks.
struct Quality {
  double blocks, most;
};
constexpr Quality kQuality[] = {{10 * kMs, 1.03}, {50 * kMs, 1.01}, {200 * kMs, 1.002}};
// How many of the networks may lack a plan at a deadline.
struct FirstPlans {
  const char* preset;
  double blocks;
  int without;
};
constexpr FirstPlans kFirst[] = {
    {"soma-edge", 2 * kMs, 2}, {"soma-edge", 10 * kMs, 0}, {"mcu-256k", 10 * kMs, 2}};

// Millions of blocks.
constexpr double kSteps[] = {0.5, 0.7, 1,   1.4,  2,   2.5, 3,   3.5, 4,
                             5,   6,   7,   8.5,  10,  12,  14,  17,  20,
                             24,  29,  35,  42.5, 50,  60,  72,  86,  100,
                             120, 145, 170, 200,  240, 290, 350, 420, 500};

struct Point {
  double edp, first, blocks;  // edp 0: no plan
};
using Curve = std::map<double, Point>;  // by deadline

Curve Ask(const std::string& network, const std::string& preset) {
  std::ostringstream command;
  command << SLUICE_WORK_FOLDER << "/deadline_rows " << network << ' ' << preset
          << " 0 " << static_cast<uint64_t>(kFirst[0].blocks) << ' '
          << static_cast<uint64_t>(kLong);
  for (const double m : kSteps) command << ' ' << static_cast<uint64_t>(1e6 * m);
  Curve curve;
  std::FILE* pipe = popen(command.str().c_str(), "r");
  if (pipe == nullptr) return curve;
  double deadline = 0;
  Point p = {};
  while (std::fscanf(pipe, "%lf %lf %lf %lf", &deadline, &p.edp, &p.first, &p.blocks) ==
         4) {
    curve[deadline] = p;
  }
  if (pclose(pipe) != 0) curve.clear();
  return curve;
}

// Deadlines that give a dearer plan than an earlier one, or none after there was one.
Json Dearer(const Curve& curve) {
  Json found = Json::array();
  double best = 0;
  for (const auto& [deadline, p] : curve) {
    if (deadline <= 0) continue;
    const bool worse = p.edp <= 0 || p.edp > kDearer * best;
    if (best > 0 && worse)
      found.push_back({{"blocks", deadline}, {"ratio", p.edp / best}});
    if (p.edp > 0 && (best <= 0 || p.edp < best)) best = p.edp;
  }
  return found;
}

// CPU milliseconds of a call without a deadline, by the ordinary library.
double CpuMs(const std::string& network, const std::string& preset) {
  sluice_test::NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), preset);
  if (!n.ok || n.Schedule(SLUICE_SOLVER_DEFAULT, 0) != SLUICE_OK) return 0;
  return n.plan_ms;
}

class Machine {
 public:
  explicit Machine(std::string preset) : preset_(std::move(preset)) {}

  Json Add(const std::string& network) {
    const Curve curve = Ask(network, preset_);
    Json row = {{"network", network}, {"machine", preset_}};
    ++networks_;
    if (curve.count(kLong) == 0 || curve.at(kLong).edp <= 0) {
      ++failed_;
      return row;
    }
    const double best = curve.at(kLong).edp;
    for (size_t q = 0; q < std::size(kQuality); ++q) {
      const double edp = curve.at(kQuality[q].blocks).edp;
      row["edp"].push_back(edp / best);
      if (edp <= 0) continue;
      logs_[q] += std::log(edp / best);
      ++plans_[q];
    }
    for (size_t f = 0; f < std::size(kFirst); ++f) {
      if (curve.at(kFirst[f].blocks).edp <= 0) ++without_[f];
    }
    row["first_plan_blocks"] = curve.at(kLong).first;
    row["dearer"] = Dearer(curve);
    dearer_ += row["dearer"].size();
    const double ms = CpuMs(network, preset_);
    row["blocks_per_cpu_ms"] = ms > 0 ? curve.at(0).blocks / ms : 0;
    return row;
  }

  // *holds: set to false if something asked is missed.
  Json Summary(bool* holds) const {
    Json all = {{"machine", preset_},
                {"networks", networks_},
                {"failed", failed_},
                {"dearer_with_more_time", dearer_}};
    *holds = *holds && failed_ == 0 && dearer_ == 0;
    for (size_t q = 0; q < std::size(kQuality); ++q) {
      const double mean = plans_[q] == 0 ? 0 : std::exp(logs_[q] / plans_[q]);
      all["edp"].push_back({{"blocks", kQuality[q].blocks},
                            {"mean", mean},
                            {"plans", plans_[q]},
                            {"asked", kQuality[q].most}});
      *holds = *holds && mean <= kQuality[q].most && plans_[q] == networks_;
    }
    for (size_t f = 0; f < std::size(kFirst); ++f) {
      if (preset_ != kFirst[f].preset) continue;
      all["without_plan"].push_back({{"blocks", kFirst[f].blocks},
                                     {"networks", without_[f]},
                                     {"asked", kFirst[f].without}});
      *holds = *holds && without_[f] <= kFirst[f].without;
    }
    return all;
  }

 private:
  std::string preset_;
  int networks_ = 0, failed_ = 0;
  double logs_[std::size(kQuality)] = {};
  int plans_[std::size(kQuality)] = {}, without_[std::size(kFirst)] = {};
  size_t dearer_ = 0;
};

void Print(const Json& row) {
  std::printf("%-20s %-9s", row["network"].get<std::string>().c_str(),
              row["machine"].get<std::string>().c_str());
  if (!row.contains("edp")) {
    std::printf("  no plan, or no %s/deadline_rows\n", SLUICE_WORK_FOLDER);
    return;
  }
  std::printf("  first plan %6.2f M blocks  EDP",
              1e-6 * row["first_plan_blocks"].get<double>());
  for (const Json& ratio : row["edp"]) std::printf(" x%.4f", ratio.get<double>());
  for (const Json& d : row["dearer"]) {
    std::printf("  dearer at %.4g M: x%.4f", 1e-6 * d["blocks"].get<double>(),
                d["ratio"].get<double>());
  }
  std::printf("  %.0f blocks per CPU ms\n", row["blocks_per_cpu_ms"].get<double>());
  std::fflush(stdout);
}

}  // namespace

WorkReport DeadlinesInWork(const char* only, bool print) {
  WorkReport report;
  for (const char* preset : {"soma-edge", "mcu-256k"}) {
    Machine machine(preset);
    for (const sluice::zoo::ZooEntry& network : sluice::zoo::ZooEntries()) {
      const std::string name = network.name;
      if (name.find("gpt2_xl") == 0) continue;
      if (only != nullptr && name.find(only) == std::string::npos) continue;
      report.rows.push_back(machine.Add(name));
      if (print) Print(report.rows.back());
    }
    report.summary.push_back(machine.Summary(&report.holds));
  }
  return report;
}

}  // namespace sluice_bench
