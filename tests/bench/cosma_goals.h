// SPDX-License-Identifier: Apache-2.0
// Goals of the benches `cosma` and `orders` beside what they reach.
//
// Input   the bench's rows, reductions by name, rows of random networks and cells
// Output  rows {goal, asked, reached, met}, and a table of them
#ifndef SLUICE_TESTS_BENCH_COSMA_GOALS_H_
#define SLUICE_TESTS_BENCH_COSMA_GOALS_H_

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace sluice_bench {

// What was set as a goal, beside what is reached.
class Goals {
  using Json = nlohmann::ordered_json;

 public:
  void AddNetworks(const Json& rows, const Json& reductions) {
    for (const char* name :
         {"designed_percent", "searched_percent", "searched_at_M_R_percent",
          "searched_again_percent", "searched_again_at_M_R_percent"}) {
      const bool searched = name[0] == 's';
      const bool least = std::string(name).find("M_R") != std::string::npos;
      Add(name, searched ? least ? 80 : 85 : 88.5, Number(reductions[name]), true);
    }
    double designed = 0, found = 0, slowest = 0, unproved = 0, again = 0, illegal = 0;
    for (const Json& r : rows) {
      const double gap =
          100 * (Number(r["bytes"]) / std::max(1.0, Number(r["check"])) - 1);
      double& widest = r["searched"] == true ? found : designed;
      if (Number(r["bytes"]) > 0) widest = std::max(widest, gap);
      slowest = std::max(slowest, 1e3 * Number(r["cpu_s"]));
      unproved += r["check"] < r["proof"];
      illegal += r["legal"] == false || r["in_place_legal"] == false ||
                 (r.contains("again_legal") &&
                  (r["again_legal"] == false || r["again_host_legal"] == false));
      if (r.contains("again_cpu_s"))
        again = std::max(again, 1e3 * Number(r["again_cpu_s"]));
    }
    Add("designed: widest gap to check, percent", 5, designed, false);
    Add("searched: widest gap to check, percent", 15, found, false);
    Add("longest time, CPU ms", 100, slowest, false);
    Add("longest time where operators may run again, CPU ms", 100, again, false);
    AddJudged(illegal, unproved);
  }

  void AddUnshaped(const Json& unshaped) {
    double ratio = 0, cells = 0, unproved = 0, illegal = 0;
    for (const Json& r : unshaped) {
      illegal += r["legal"] == false;
      unproved += r["check"] < r["bound"];
      if (r["network"] == "cells x8") {
        cells = 100 * (Number(r["bytes"]) / Number(r["check"]) - 1);
      } else {
        ratio = std::max(ratio, Number(r["ratio"]));
      }
    }
    Add("cells x8: gap to check, percent", 5, cells, false);
    Add("random networks: most over the best known", 1.2, ratio, false);
    AddJudged(illegal, unproved);
  }

  const Json& rows() const { return rows_; }

  void Print() const {
    std::printf("%-52s %8s %8s\n", "goals", "asked", "reached");
    for (const Json& r : rows_) {
      std::printf("%-52s %8.2f %8.2f %s\n", r["goal"].get<std::string>().c_str(),
                  Number(r["asked"]), Number(r["reached"]),
                  r["met"] == true ? "" : "missed");
    }
  }

 private:
  void AddJudged(double illegal, double unproved) {
    Add("plans that the judge refuses", 0, illegal, false);
    Add("bounds of the solver above check", 0, unproved, false);
  }
  static double Number(const Json& json) { return json.get<double>(); }
  void Add(const char* goal, double asked, double reached, bool at_least) {
    const bool met = at_least ? reached >= asked : reached <= asked;
    rows_.push_back(
        {{"goal", goal}, {"asked", asked}, {"reached", reached}, {"met", met}});
  }

  Json rows_ = Json::array();
};

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_COSMA_GOALS_H_
