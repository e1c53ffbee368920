// SPDX-License-Identifier: Apache-2.0
// Two to four models in one scratchpad: the gain of a division by the models' curves over
// equal shares, and whether the turns take the cycles predicted.
//
// Input    pairs, triples and fours of the TFLite models beside the tree on mcu-256k and
//          with half of its scratchpad; of zoo networks on soma-edge. Triples once more in
//          turns of 20,000 cycles, sharing time in turns of 100,000, and within 100 ms.
//          All but the last are bounded by iterations and give the same rows each time.
// Output   a table or one JSON object: sums of latencies (together, in equal shares, and
//          with the whole scratchpad for each), cycles of turns, judges
// Errors   5 when a judge refuses a plan, a prediction is wrong, equal shares are better or
//          a call gives no result
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "import/tflite/import_tflite.h"
#include "presets/presets.h"
#include "support/cohort.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "zoo/zoo.h"

namespace {

namespace fs = std::filesystem;
using sluice::import::Bytes;

constexpr uint64_t kIterations = 400;  // of each plan

struct Model {
  std::string name;
  Bytes graph;
};

// One way to share one scratchpad.
struct Setting {
  std::string chip;
  uint64_t scratchpad, limit, deadline_ns;
  uint32_t share;
  bool functional;
};

struct Row {
  std::string models, error, share;
  Setting setting;
  size_t count = 0;
  uint64_t latency_sum = 0, equal_sum = 0, alone_sum = 0, total = 0, turns = 0;
  uint64_t longest_wait = 0, compared_bytes = 0;
  double cpu_ms = 0;
  bool proved = false;
};

double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

std::vector<Model> Imported() {
  const std::string folder = sluice_test::SharedPath("models/tflite");
  std::vector<Model> models;
  for (const char* name : {"kws_ref_model_int8", "vww_96_int8", "resnet8_cifar10_int8",
                           "ad01_int8", "person_detect_int8", "micro_speech_int8"}) {
    const std::string path = folder + "/" + name + ".tflite";
    if (!fs::exists(path)) continue;
    const Bytes bytes = sluice_test::ReadFile(path);
    sluice::import::TfliteImportOptions options;
    options.name = name;
    models.push_back(
        {name,
         WriteRows(
             sluice::import::ImportTflite(bytes.data(), bytes.size(), options).rows)});
  }
  return models;
}

std::vector<Model> Zoo() {
  std::vector<Model> models;
  for (const char* name : {"mobilenet_v1", "resnet50", "lraspp", "gpt2_small_decode"}) {
    for (const auto& entry : sluice::zoo::ZooEntries()) {
      if (std::string(entry.name) != name) continue;
      models.push_back({name, sluice::zoo::MakeZooGraph(name, {})});
    }
  }
  return models;
}

// The sum of the latencies that the models have with the whole scratchpad each: a bound.
uint64_t AloneSum(sluice_test::Cohort* cohort) {
  const sluice_coschedule_options_t options = cohort->options;
  cohort->options.share = SLUICE_SHARE_TIME;
  cohort->options.max_turn_cycles = cohort->options.deadline_ns = 0;
  const bool good = cohort->Schedule() == SLUICE_OK;
  cohort->options = options;
  return good ? cohort->summary.latency_sum : 0;
}

void Judge(const sluice_test::Cohort& cohort, const sluice_sim::TogetherResult& run,
           bool accepted, Row* row) {
  for (const auto& stream : run.streams) row->compared_bytes += stream.compared_bytes;
  for (const auto& member : cohort.members) {
    row->longest_wait = std::max(row->longest_wait, member.longest_wait_cycles);
  }
  if (!run.ok) row->error = "machine: " + run.error;
  if (run.ok && run.cycles != row->total) row->error = "other cycles than predicted";
  if (!accepted) row->error = "judge says no";
  if (row->error.empty() && row->equal_sum != 0 && row->latency_sum > row->equal_sum) {
    row->error = "equal shares are better";
  }
}

Row Measure(const std::vector<Model>& models, const Setting& setting) {
  Row row;
  row.setting = setting;
  row.count = models.size();
  std::vector<Bytes> graphs;
  for (const Model& model : models) {
    row.models += (row.models.empty() ? "" : "+") + model.name;
    graphs.push_back(model.graph);
  }
  sluice_test::Cohort cohort(graphs, sluice::presets::LoadPreset(setting.chip));
  cohort.options.share = setting.share;
  cohort.options.scratchpad_bytes = setting.scratchpad;
  cohort.options.max_turn_cycles = setting.limit;
  cohort.options.deadline_ns = setting.deadline_ns;
  if (setting.deadline_ns == 0) cohort.options.max_iterations = kIterations;
  row.alone_sum = AloneSum(&cohort);
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
  row.proved = s.proved != 0;
  const bool accepted = cohort.Verify(cohort.turns) == SLUICE_OK;
  Judge(cohort, cohort.Run(cohort.turns, setting.functional), accepted, &row);
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
  int counted = 0, strict = 0, impossible = 0, alone = 0;

  void Add(const Row& row) {
    if (row.equal_sum == 0 || row.latency_sum == 0) {
      ++impossible;
      return;
    }
    const double gain = Ratio(row.equal_sum, row.latency_sum);
    log_sum += std::log(gain);
    most = std::max(most, gain);
    ++counted;
    strict += row.latency_sum < row.equal_sum;
    // Sets without possible gain: each model is as fast as with the whole scratchpad.
    alone += row.latency_sum == row.equal_sum && row.latency_sum <= row.alone_sum;
  }
  double mean() const { return counted == 0 ? 1 : std::exp(log_sum / counted); }
  nlohmann::ordered_json AsJson() const {
    return {{"sets", counted},           {"gain_geomean", mean()},
            {"gain_most", most},         {"strictly_better", strict},
            {"as_fast_as_alone", alone}, {"equal_impossible", impossible}};
  }
  void Print(const char* what) const {
    std::printf(
        "%-28s %3d sets, equal shares / together: %.3f geometric mean, %.3f at most, "
        "better in %d, the same in %d (in %d each is as fast as alone); equal shares "
        "impossible in %d\n",
        what, counted, mean(), most, strict, counted - strict, alone, impossible);
  }
};

struct Times {
  std::vector<double> ms;
  double At(double share) {
    if (ms.empty()) return 0;
    std::sort(ms.begin(), ms.end());
    return ms[static_cast<size_t>(share * static_cast<double>(ms.size() - 1))];
  }
};

void Print(const Row& r) {
  std::printf(
      "%-70s %-9s %5llu %6llu %5llu %-9s %10llu %10llu %6.3f %6.3f %6llu %8llu "
      "%6.0f %s\n",
      r.models.c_str(), r.setting.chip.c_str(),
      static_cast<unsigned long long>(r.setting.scratchpad >> 10),
      static_cast<unsigned long long>(r.setting.limit),
      static_cast<unsigned long long>(r.setting.deadline_ns / 1000000), r.share.c_str(),
      static_cast<unsigned long long>(r.latency_sum),
      static_cast<unsigned long long>(r.equal_sum), Ratio(r.equal_sum, r.latency_sum),
      Ratio(r.latency_sum, r.alone_sum), static_cast<unsigned long long>(r.turns),
      static_cast<unsigned long long>(r.longest_wait), r.cpu_ms,
      r.error.empty() ? "equal" : r.error.c_str());
  std::fflush(stdout);
}

nlohmann::ordered_json AsJson(const Row& r) {
  return {{"models", r.models},
          {"hardware", r.setting.chip},
          {"scratchpad_bytes", r.setting.scratchpad},
          {"max_turn_cycles", r.setting.limit},
          {"deadline_ns", r.setting.deadline_ns},
          {"share", r.share},
          {"latency_sum", r.latency_sum},
          {"equal_latency_sum", r.equal_sum},
          {"alone_latency_sum", r.alone_sum},
          {"proved", r.proved},
          {"total_cycles", r.total},
          {"turns", r.turns},
          {"longest_wait_cycles", r.longest_wait},
          {"compared_bytes", r.compared_bytes},
          {"cpu_ms", r.cpu_ms},
          {"error", r.error}};
}

std::vector<Setting> SettingsOf(size_t models, bool imported) {
  std::vector<Setting> all;
  if (!imported) {
    all.push_back(
        {"soma-edge", uint64_t{8} << 20, 0, 0, SLUICE_SHARE_PARTITION, false});
    all.push_back({"soma-edge", uint64_t{4} << 20, 0, 0, SLUICE_SHARE_AUTO, false});
    return all;
  }
  for (uint64_t bytes : {uint64_t{256} << 10, uint64_t{128} << 10}) {
    all.push_back({"mcu-256k", bytes, 0, 0, SLUICE_SHARE_PARTITION, true});
  }
  if (models != 3) return all;
  // Short turns: which way of sharing is better, and what waiting costs. Models that share
  // time change only between layers, some of which take 84,672 cycles.
  all.push_back({"mcu-256k", 128 << 10, 20000, 0, SLUICE_SHARE_AUTO, true});
  all.push_back({"mcu-256k", 128 << 10, 100000, 0, SLUICE_SHARE_TIME, true});
  all.push_back({"mcu-256k", 128 << 10, 0, 100000000, SLUICE_SHARE_PARTITION, true});
  return all;
}

}  // namespace

int RunCoscheduleBench(bool json) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Gains by_count[5], all, hurried;
  Times times, hurried_times;
  bool good = true;
  const std::vector<Model> imported = Imported();
  if (!json) {
    if (imported.empty()) std::printf("skipped: the TFLite models are not there\n");
    std::printf("%-70s %-9s %5s %6s %5s %-9s %10s %10s %6s %6s %6s %8s %6s\n", "models",
                "chip", "KiB", "turn", "ms", "share", "sum", "equal sum", "gain",
                "/alone", "turns", "wait", "cpu ms");
  }
  for (const bool is_imported : {true, false}) {
    for (const std::vector<Model>& set : Sets(is_imported ? imported : Zoo())) {
      for (const Setting& setting : SettingsOf(set.size(), is_imported)) {
        const Row row = Measure(set, setting);
        good = good && row.error.empty();
        const bool hurries = setting.deadline_ns != 0;
        (hurries ? hurried_times : times).ms.push_back(row.cpu_ms);
        if (hurries) hurried.Add(row);
        if (!hurries && setting.share == SLUICE_SHARE_PARTITION) {
          all.Add(row);
          by_count[set.size()].Add(row);
        }
        if (!json) Print(row);
        rows.push_back(AsJson(row));
      }
    }
  }
  if (json) {
    const nlohmann::ordered_json result = {{"coschedule", rows},
                                           {"gain_geomean", all.mean()},
                                           {"gains",
                                            {{"all", all.AsJson()},
                                             {"two", by_count[2].AsJson()},
                                             {"three", by_count[3].AsJson()},
                                             {"four", by_count[4].AsJson()},
                                             {"within_100_ms", hurried.AsJson()}}},
                                           {"cpu_ms_p50", times.At(0.5)},
                                           {"cpu_ms_p90", times.At(0.9)},
                                           {"cpu_ms_most", times.At(1)},
                                           {"ok", good}};
    std::printf("%s\n", result.dump(1).c_str());
    return good ? 0 : 5;
  }
  all.Print("a range each");
  by_count[2].Print("  two models");
  by_count[3].Print("  three models");
  by_count[4].Print("  four models");
  hurried.Print("  three models within 100 ms");
  std::printf(
      "CPU ms of a call: p50 %.0f, p90 %.0f, most %.0f; within 100 ms: %.0f, %.0f, "
      "%.0f\n",
      times.At(0.5), times.At(0.9), times.At(1), hurried_times.At(0.5),
      hurried_times.At(0.9), hurried_times.At(1));
  return good ? 0 : 5;
}
