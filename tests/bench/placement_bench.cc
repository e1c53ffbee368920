// SPDX-License-Identifier: Apache-2.0
// Placement (check: the most bytes in use at once, counted by the tests' own code; no
// placement is lower): the minimalloc instances at their capacity, the reference cases of COSMA
// at their three budgets in both readings, and large graphs; CPU time of one thread,
// best of the repetitions. SLUICE_BENCH_PLACEMENT_MANY=1: the rows of 10,000 buffers alone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/place/place_buffers.h"
#include "solve/placement/offsets/offsets.h"
#include "solve/placement/spill/joint.h"
#include "support/shared_data.h"
#include "tests/solve/placement/spill/spill_judge.h"

int RunPlacementBench(bool json);

namespace sluice {
namespace {

using Json = nlohmann::json;
using sluice_test::CpuSeconds;

Json OffsetRow(const std::string& name, const sluice_test::Buffers& buffers,
               int64_t capacity, bool exact, uint64_t max_nodes = 0) {
  Json row;
  double best = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {
    sluice_test::Ground ground;
    Budget budget;
    OffsetOptions options;
    options.exact = exact;
    options.max_nodes = max_nodes;
    OffsetPlan plan;
    const double start = CpuSeconds();
    const Status status = PlaceOffsets(
        buffers.Set(), capacity, options,
        sluice::Workspace{&budget, &ground.arena, &ground.diagnostic}, &plan);
    best = std::min(best, CpuSeconds() - start);
    const bool legal =
        !plan.offsets.empty() &&
        sluice_test::JudgeOffsets(buffers, plan.offsets.data(), plan.peak).empty();
    row = {{"name", name},
           {"buffers", buffers.ranges.size()},
           {"capacity", capacity},
           {"status", static_cast<int>(status)},
           {"peak_bytes", plan.peak},
           {"lower_bound", plan.lower_bound},
           {"check", sluice_test::MostAtOnce(buffers)},
           {"legal", legal},
           {"nodes", plan.nodes},
           {"conflict", plan.conflict.size()},
           {"irreducible", plan.irreducible},
           {"cpu_s", best}};
  }
  return row;
}

Json JointRow(const std::string& name, const sluice_test::Net& net, int64_t capacity,
              bool paper, uint64_t deadline_ns, int repetitions) {
  Json row;
  double best = 1e9;
  for (int repeat = 0; repeat < repetitions; ++repeat) {
    sluice_test::Ground ground;
    Budget budget({}, deadline_ns, 0, nullptr);
    JointOptions options;
    options.capacity = capacity;
    options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
    SpillPlan plan;
    const double start = CpuSeconds();
    const Status status = PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                                    &ground.diagnostic);
    best = std::min(best, CpuSeconds() - start);
    int64_t recount = -1;
    const bool legal =
        status == Status::kOk &&
        sluice_test::JudgePlan(net, plan, capacity, paper, &recount).empty();
    row = {{"name", name},
           {"operators", net.operators.size()},
           {"capacity", capacity},
           {"mode", paper ? "paper" : "host"},
           {"bytes", plan.bytes()},
           {"bound", plan.lower_bound},
           {"gap_bytes", plan.bytes() - plan.lower_bound},
           {"proved", plan.proved},
           {"legal", legal && recount == plan.bytes()},
           {"states", plan.states},
           {"cpu_s", best}};
  }
  return row;
}

constexpr int64_t kMany = 10000;

// One of so many buffers of a kind.
struct Kind {
  const char* name;
  LiveRange (*make)(Rng* rng, int64_t i);
};

template <uint32_t kLongest>
LiveRange UpTo(Rng* rng, int64_t i) {
  const int64_t begin = i + rng->Below(16), end = begin + 1 + rng->Below(kLongest);
  return {begin, end, 64 * (1 + rng->Below(256))};
}

const Kind kManyKinds[] = {
    {"up to 24 steps", UpTo<24>},
    {"up to 60 steps", UpTo<60>},
    {"up to 100 steps", UpTo<100>},
    {"layers",  // read by the next one; one in eight by a later one too
     [](Rng* rng, int64_t i) -> LiveRange {
       const int64_t later = rng->Below(8) == 0 ? rng->Below(60) : 0;
       return {i, i + 2 + later, 64 * (1 + rng->Below(256))};
     }},
    {"sizes by a power law",
     [](Rng* rng, int64_t i) -> LiveRange {
       const int64_t begin = i + rng->Below(16), rank = 1 + rng->Below(1000);
       return {begin, begin + 1 + rng->Below(60), 64 * (1 + 100000 / (3 * rank))};
     }},
    {"a few huge",
     [](Rng* rng, int64_t i) -> LiveRange {
       const int64_t begin = i + rng->Below(16);
       const bool huge = rng->Below(200) == 0;
       const int64_t end = begin + 1 + rng->Below(huge ? 200 : 60);
       return {begin, end, 64 * (huge ? 4000 + rng->Below(4000) : 1 + rng->Below(256))};
     }},
    {"lives by a power law",
     [](Rng* rng, int64_t) -> LiveRange {
       const int64_t begin = rng->Below(20000), rank = 1 + rng->Below(200);
       return {begin, begin + 1 + 4000 / (rank * rank / 4 + 1),
               64 * (1 + rng->Below(256))};
     }},
    {"powers of two",
     [](Rng* rng, int64_t i) -> LiveRange {
       const int64_t begin = i + rng->Below(16);
       return {begin, begin + 1 + rng->Below(60), int64_t{64} << rng->Below(9)};
     }},
    // Most are alive at once: some 25 to 50 million pairs.
    {"unet",  // each is read at the other end
     [](Rng* rng, int64_t i) -> LiveRange {
       return {i, 2 * kMany - i, 64 * (1 + rng->Below(256))};
     }},
    {"grad",  // activations until their layer's backward step, and gradients between
     [](Rng* rng, int64_t i) -> LiveRange {
       const int64_t layer = i / 2, back = kMany - layer;
       const int64_t bytes = 64 * (1 + rng->Below(256));
       if (i % 2 == 0) return {layer, back + rng->Below(8), bytes};
       return {back - 1, back + 1 + rng->Below(6), bytes};
     }},
    {"long", UpTo<kMany>},
    {"all",  // all of them at one moment
     [](Rng* rng, int64_t) -> LiveRange {
       const int64_t begin = rng->Below(kMany);
       return {begin, kMany + 1 + rng->Below(kMany), 64 * (1 + rng->Below(256))};
     }}};

// Thousands of buffers, as small as `sluice_place` gets them without an exact search.
Json ManyRow(uint64_t seed, const Kind& kind) {
  Rng rng(seed);
  sluice_test::Buffers buffers;
  std::vector<sluice_buffer_t> given;
  for (int64_t i = 0; i < kMany; ++i) {
    const LiveRange range = kind.make(&rng, i);
    buffers.Add(range.begin, range.end, range.bytes).alignment = 64;
    sluice_buffer_t b = {};
    b.begin = range.begin;
    b.end = range.end;
    b.bytes = range.bytes;
    b.alignment = 64;
    given.push_back(b);
  }
  sluice_placement_problem_t problem = {};
  problem.buffers = given.data();
  problem.buffer_count = static_cast<uint32_t>(given.size());
  problem.capacity_bytes = int64_t{1} << 40;
  sluice_placement_options_t options = {};
  options.smallest = options.fast = 1;
  std::vector<int64_t> offsets(given.size());
  sluice_test::Ground ground;
  sluice_placement_t out = {};
  const double start = CpuSeconds();
  const Status status = PlaceBuffers({problem, options, offsets.data(), nullptr},
                                     &ground.arena, &out, &ground.diagnostic);
  const double seconds = CpuSeconds() - start;
  return {{"name", std::string("10000, ") + kind.name},
          {"buffers", given.size()},
          {"capacity", out.lower_bound_bytes},
          {"status", static_cast<int>(status)},
          {"peak_bytes", out.peak_bytes},
          {"lower_bound", out.lower_bound_bytes},
          {"check", sluice_test::MostAtOnce(buffers)},
          {"legal",
           sluice_test::JudgeMany(buffers, offsets.data(), out.peak_bytes).empty()},
          {"nodes", out.nodes},
          {"conflict", 0},
          {"irreducible", false},
          {"cpu_s", seconds}};
}

void AddOffsets(const std::string& shared, Json* rows) {
  for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"}) {
    sluice_test::Buffers buffers;
    const std::string path = shared + "/reference/minimalloc/" + name + ".1048576.csv";
    if (!sluice_test::ReadCsv(path, &buffers)) continue;
    rows->push_back(
        OffsetRow(std::string("minimalloc ") + name, buffers, 1048576, true));
    // Changed instances: a capacity just too small; every seventh buffer a little larger.
    rows->push_back(OffsetRow(std::string("minimalloc ") + name + " shrunk", buffers,
                              1048576 - 9216, true, 100000));
    for (size_t i = 0; i < buffers.ranges.size(); i += 7) {
      buffers.ranges[i].bytes += 1024;
    }
    rows->push_back(OffsetRow(std::string("minimalloc ") + name + " grown", buffers,
                              1048576, true, 100000));
  }
  Rng rng(5);
  sluice_test::Buffers many;
  for (int i = 0; i < 4000; ++i) {
    const int64_t begin = i + rng.Below(16);
    many.Add(begin, begin + 1 + rng.Below(24), 64 * (1 + rng.Below(256))).alignment =
        64;
  }
  rows->push_back(OffsetRow("4000 buffers, fast", many, 2 << 20, false));
}

void AddMany(Json* rows) {
  for (const Kind& kind : kManyKinds) {
    for (const uint64_t seed : {7, 8}) rows->push_back(ManyRow(seed, kind));
  }
}

void AddJoint(const std::string& shared, Json* rows) {
  const std::string folder = shared + "/reference/cosma_cases";
  std::vector<std::string> paths;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream file(path);
    const Json j = Json::parse(file);
    const sluice_test::Net net = sluice_test::ReadNet(j);
    for (const auto& result : j["results"]) {
      const std::string name =
          j["name"].get<std::string>() + " " + result["budget"].get<std::string>();
      Json row = JointRow(name, net, result["M"], result["mode"] == "paper", 0, 3);
      row["reference_bytes"] = result["optimal_offchip_bytes"];
      rows->push_back(row);
    }
  }
  Rng rng(6);
  for (int i = 0; i < 4; ++i) {
    const sluice_test::Net net = sluice_test::WindowNet(&rng, 200, 6, 100);
    const std::string name = "random 200 #" + std::to_string(i);
    const int64_t least = LargestOperator(net.Graph());
    rows->push_back(JointRow(name + " 7 ms", net, least, false, 7000000, 1));
    rows->push_back(JointRow(name, net, least, false, 0, 1));
  }
  for (const uint32_t cells : {1u, 3u, 8u}) {
    const sluice_test::Net net = sluice_test::CellNet(cells, 1000);
    const std::string name = "cells x" + std::to_string(cells);
    rows->push_back(JointRow(name, net, LargestOperator(net.Graph()), false, 0, 1));
  }
}

}  // namespace
}  // namespace sluice

int RunPlacementBench(bool json) {
  using sluice::Json;
  const std::string shared = sluice_test::SharedPath(".");
  Json offsets = Json::array(), joint = Json::array();
  const bool many_alone = std::getenv("SLUICE_BENCH_PLACEMENT_MANY") != nullptr;
  if (!many_alone) sluice::AddOffsets(shared, &offsets);
  sluice::AddMany(&offsets);
  if (!many_alone) sluice::AddJoint(shared, &joint);
  if (json) {
    std::printf("%s\n", Json{{"offsets", offsets}, {"joint", joint}}.dump(1).c_str());
    return 0;
  }
  std::printf("%-24s %7s %9s %10s %9s %9s %6s %8s %9s %10s\n", "offsets", "buffers",
              "capacity", "answer", "peak", "check", "legal", "conflict", "nodes",
              "cpu ms");
  for (const Json& r : offsets) {
    const sluice_status_t status = r["status"].get<int>();
    std::printf("%-24s %7d %9d %10s %9d %9d %6s %8d %9d %10.3f\n",
                r["name"].get<std::string>().c_str(), r["buffers"].get<int>(),
                r["capacity"].get<int>(),
                status == SLUICE_OK ? "placed" : sluice_status_name(status),
                r["peak_bytes"].get<int>(), r["check"].get<int>(),
                r["legal"].get<bool>() ? "yes" : "NO", r["conflict"].get<int>(),
                r["nodes"].get<int>(), r["cpu_s"].get<double>() * 1e3);
  }
  std::printf("\n%-24s %-6s %4s %9s %9s %9s %9s %6s %6s %9s\n", "joint", "mode", "ops",
              "capacity", "bytes", "bound", "reference", "proved", "legal", "cpu ms");
  for (const Json& r : joint) {
    std::printf(
        "%-24s %-6s %4d %9d %9d %9d %9s %6s %6s %9.3f\n",
        r["name"].get<std::string>().c_str(), r["mode"].get<std::string>().c_str(),
        r["operators"].get<int>(), r["capacity"].get<int>(), r["bytes"].get<int>(),
        r["bound"].get<int>(),
        r.contains("reference_bytes") ? r["reference_bytes"].dump().c_str() : "-",
        r["proved"].get<bool>() ? "yes" : "no", r["legal"].get<bool>() ? "yes" : "NO",
        r["cpu_s"].get<double>() * 1e3);
  }
  return 0;
}
