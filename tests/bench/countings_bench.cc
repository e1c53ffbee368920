// SPDX-License-Identifier: Apache-2.0
// What COSMA's published figures leave open, counted one way and the other: for the
// networks found by search, which linear allocator the schemes have, one scheme or all, a
// mean of ratios or a ratio of sums, and what the graph's operators are. Beside each
// reduction the one that no plan exceeds.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/bench/cosma_evaluation.h"

int RunCountingsBench(bool json);

namespace sluice_bench {
namespace {

using Json = nlohmann::ordered_json;

Evaluation Searched(NetOptions options) {
  Evaluation rows(Tells::kSchemes, options);
  for (const Subject& subject : kSubjects) {
    if (subject.searched) rows.Add(subject, false);
  }
  return rows;
}

Json Countings() {
  const Evaluation ours = Searched({});
  Json rows = Json::array();
  const auto add = [&rows](const char* name, auto reduction) {
    Json row = {{"counting", name}};
    for (const char* budget : {"M_R", "M_H", "M_P", "all"}) {
      const std::string at = budget;
      const auto qualifies = [&](const Json& r) {
        return r["searched"] == true && (at == "all" || r["budget"] == at);
      };
      row[budget] = reduction(qualifies, "bytes");
      row[at + " at most"] = reduction(qualifies, "check");
    }
    rows.push_back(row);
  };
  add("first or best fit, the better", [&](auto qualifies, const char* what) {
    return ours.Reduction(qualifies, what);
  });
  for (const auto& fit : kFits) {
    add(fit.first, [&](auto qualifies, const char* what) {
      return ours.Reduction(qualifies, what, fit.first);
    });
  }
  for (const char* only :
       {"default_belady", "default_greedy", "minpeak_belady", "minpeak_greedy"}) {
    add(only, [&](auto qualifies, const char* what) {
      return ours.Reduction(qualifies, what, "schemes", only);
    });
  }
  add("sums of bytes", [&](auto qualifies, const char* what) {
    return ours.ReductionOfSums(qualifies, what);
  });
  NetOptions folded, split;
  folded.folded = true;
  split.split = true;
  const std::pair<const char*, NetOptions> graphs[] = {
      {"ReLUs in their readers", folded}, {"normalization apart", split}};
  for (const auto& [name, options] : graphs) {
    const Evaluation other = Searched(options);
    add(name, [&](auto qualifies, const char* what) {
      return other.Reduction(qualifies, what);
    });
  }
  return rows;
}

void PrintCountings(const Json& rows) {
  std::printf("searched networks, counted otherwise: reduction in %%, at most\n");
  for (const Json& row : rows) {
    std::printf("%-30s", row["counting"].get<std::string>().c_str());
    for (const char* budget : {"M_R", "M_H", "M_P", "all"}) {
      std::printf(" %4s %5.1f %5.1f", budget, row[budget].get<double>(),
                  row[std::string(budget) + " at most"].get<double>());
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace sluice_bench

int RunCountingsBench(bool json) {
  const sluice_bench::Json rows = sluice_bench::Countings();
  if (json) {
    std::printf("%s\n", rows.dump(1).c_str());
  } else {
    sluice_bench::PrintCountings(rows);
  }
  return 0;
}
