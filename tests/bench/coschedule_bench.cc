// SPDX-License-Identifier: Apache-2.0
// Two to four models in one scratchpad: what dividing it by their curves gains over equal
// shares, and whether the turns run as predicted.
//
// Input    pairs, triples and fours of the TFLite models beside the tree on mcu-256k and
//          with half of its scratchpad; of zoo networks on soma-edge
// Output   a table or one JSON object: sums of latencies (divided, in equal shares, and
//          with the whole scratchpad for each), cycles of turns, judges
// Errors   5 when a judge says no, a prediction is off or equal shares are better
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/hardware_files.h"
#include "cli/import_tflite.h"
#include "cli/zoo/zoo.h"
#include "support/cohort.h"

namespace {

namespace fs = std::filesystem;
using sluice::cli::Bytes;

struct Model {
  std::string name;
  Bytes graph;
};

struct Row {
  std::string models, hardware, error;
  uint64_t scratchpad = 0, limit = 0;
  std::string share;
  uint64_t latency_sum = 0, equal_sum = 0, total = 0, turns = 0, longest_wait = 0;
  uint64_t compared_bytes = 0;
  double cpu_ms = 0;
};

std::vector<Model> Imported() {
  const char* given = std::getenv("SLUICE_SHARED");
  const std::string folder =
      std::string(given != nullptr ? given : SLUICE_SHARED_DEFAULT) + "/models/tflite";
  std::vector<Model> models;
  for (const char* name : {"kws_ref_model_int8", "vww_96_int8", "resnet8_cifar10_int8",
                           "ad01_int8", "person_detect_int8", "micro_speech_int8"}) {
    const std::string path = folder + "/" + name + ".tflite";
    if (!fs::exists(path)) continue;
    const Bytes bytes = sluice::cli::ReadFile(path);
    sluice::cli::TfliteImportOptions options;
    options.name = name;
    models.push_back(
        {name, sluice::cli::ImportTflite(bytes.data(), bytes.size(), options).graph});
  }
  return models;
}

std::vector<Model> Zoo() {
  std::vector<Model> models;
  for (const char* name : {"mobilenet_v1", "resnet50", "lraspp", "gpt2_small_decode"}) {
    for (const auto& entry : sluice::cli::ZooEntries()) {
      if (std::string(entry.name) != name) continue;
      models.push_back({name, sluice::cli::MakeZooGraph(name, {})});
    }
  }
  return models;
}

Row Measure(const std::vector<Model>& models, const std::string& chip,
            uint64_t scratchpad, uint64_t limit, uint32_t share, bool functional) {
  Row row;
  row.hardware = chip;
  row.scratchpad = scratchpad;
  row.limit = limit;
  std::vector<Bytes> graphs;
  for (const Model& model : models) {
    row.models += (row.models.empty() ? "" : "+") + model.name;
    graphs.push_back(model.graph);
  }
  sluice_test::Cohort cohort(graphs, sluice::cli::LoadHardware(chip));
  cohort.options.share = share;
  cohort.options.scratchpad_bytes = scratchpad;
  cohort.options.max_turn_cycles = limit;
  cohort.options.max_iterations = 2000;
  const clock_t start = clock();
  const sluice_status_t status = cohort.Schedule();
  row.cpu_ms = 1e3 * static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
  if (status != SLUICE_OK) {
    row.error = cohort.library.diagnostic.message;
    return row;
  }
  const sluice_cohort_summary_t& s = cohort.summary;
  row.share = s.share == SLUICE_SHARE_TIME ? "time" : "partition";
  row.latency_sum = s.latency_sum;
  row.equal_sum = s.equal_latency_sum;
  row.total = s.total_cycles;
  row.turns = s.turns;
  for (const auto& member : cohort.members) {
    row.longest_wait = std::max(row.longest_wait, member.longest_wait_cycles);
  }
  const auto run = cohort.Run(cohort.turns, functional);
  if (!run.ok) row.error = "machine: " + run.error;
  if (run.ok && run.cycles != row.total) row.error = "other cycles than predicted";
  for (const auto& stream : run.streams) row.compared_bytes += stream.compared_bytes;
  if (cohort.Verify(cohort.turns) != SLUICE_OK) row.error = "judge says no";
  if (row.error.empty() && row.equal_sum != 0 && row.latency_sum > row.equal_sum) {
    row.error = "equal shares are better";
  }
  return row;
}

// All sets of two to four.
std::vector<std::vector<Model>> Sets(const std::vector<Model>& models) {
  std::vector<std::vector<Model>> sets;
  for (uint32_t mask = 0; mask < 1u << models.size(); ++mask) {
    std::vector<Model> set;
    for (size_t m = 0; m < models.size(); ++m) {
      if ((mask >> m & 1) != 0) set.push_back(models[m]);
    }
    if (set.size() >= 2 && set.size() <= 4) sets.push_back(set);
  }
  return sets;
}

struct Gains {
  double log_sum = 0, most = 1;
  int counted = 0, strict = 0, impossible = 0;

  void Add(const Row& row) {
    if (row.equal_sum == 0) {
      ++impossible;
      return;
    }
    const double gain =
        static_cast<double>(row.equal_sum) / static_cast<double>(row.latency_sum);
    log_sum += std::log(gain);
    most = std::max(most, gain);
    ++counted;
    strict += row.latency_sum < row.equal_sum;
  }
};

void Print(const Row& r) {
  std::printf("%-62s %-9s %6llu %7llu %-9s %11llu %11llu %6.3f %6llu %9llu %7.0f %s\n",
              r.models.c_str(), r.hardware.c_str(),
              static_cast<unsigned long long>(r.scratchpad >> 10),
              static_cast<unsigned long long>(r.limit), r.share.c_str(),
              static_cast<unsigned long long>(r.latency_sum),
              static_cast<unsigned long long>(r.equal_sum),
              r.latency_sum == 0 ? 0
                                 : static_cast<double>(r.equal_sum) /
                                       static_cast<double>(r.latency_sum),
              static_cast<unsigned long long>(r.turns),
              static_cast<unsigned long long>(r.longest_wait), r.cpu_ms,
              r.error.empty() ? "equal" : r.error.c_str());
  std::fflush(stdout);
}

}  // namespace

int RunCoscheduleBench(bool json) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Gains gains;
  bool good = true;
  const auto add = [&](const std::vector<Model>& set, const std::string& chip,
                       uint64_t scratchpad, uint64_t limit, uint32_t share,
                       bool functional) {
    const Row r = Measure(set, chip, scratchpad, limit, share, functional);
    good = good && r.error.empty();
    if (share == SLUICE_SHARE_PARTITION && limit == 0) gains.Add(r);
    if (!json) Print(r);
    rows.push_back({{"models", r.models},
                    {"hardware", r.hardware},
                    {"scratchpad_bytes", r.scratchpad},
                    {"max_turn_cycles", r.limit},
                    {"share", r.share},
                    {"latency_sum", r.latency_sum},
                    {"equal_latency_sum", r.equal_sum},
                    {"total_cycles", r.total},
                    {"turns", r.turns},
                    {"longest_wait_cycles", r.longest_wait},
                    {"compared_bytes", r.compared_bytes},
                    {"cpu_ms", r.cpu_ms},
                    {"error", r.error}});
  };
  const std::vector<Model> imported = Imported();
  if (!json) {
    if (imported.empty()) std::printf("skipped: the TFLite models are not there\n");
    std::printf("%-62s %-9s %6s %7s %-9s %11s %11s %6s %6s %9s %7s\n", "models", "chip",
                "KiB", "turn", "share", "sum", "equal sum", "gain", "turns", "wait",
                "cpu ms");
  }
  for (const std::vector<Model>& set : Sets(imported)) {
    for (uint64_t bytes : {uint64_t{256} << 10, uint64_t{128} << 10}) {
      add(set, "mcu-256k", bytes, 0, SLUICE_SHARE_PARTITION, true);
    }
  }
  // Short turns: which way of sharing is better, and what waiting costs.
  for (const std::vector<Model>& set : Sets(imported)) {
    if (set.size() != 3) continue;
    add(set, "mcu-256k", 128 << 10, 20000, SLUICE_SHARE_AUTO, true);
  }
  for (const std::vector<Model>& set : Sets(Zoo())) {
    add(set, "soma-edge", uint64_t{8} << 20, 0, SLUICE_SHARE_PARTITION, false);
    add(set, "soma-edge", uint64_t{4} << 20, 0, SLUICE_SHARE_AUTO, false);
  }
  const double mean = gains.counted == 0 ? 1 : std::exp(gains.log_sum / gains.counted);
  if (json) {
    std::printf("%s\n", nlohmann::ordered_json({{"coschedule", rows},
                                                {"gain_geomean", mean},
                                                {"gain_most", gains.most},
                                                {"sets", gains.counted},
                                                {"strictly_better", gains.strict},
                                                {"equal_impossible", gains.impossible},
                                                {"ok", good}})
                            .dump(1)
                            .c_str());
  } else {
    std::printf(
        "sum of latencies against equal shares: %.3f times faster in geometric "
        "mean of %d sets, %.3f at most, strictly in %d; equal shares impossible "
        "in %d\n",
        mean, gains.counted, gains.most, gains.strict, gains.impossible);
  }
  return good ? 0 : 5;
}
