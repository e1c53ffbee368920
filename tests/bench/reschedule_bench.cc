// SPDX-License-Identifier: Apache-2.0
// Rescheduling after 200 recorded edits of zoo networks, beside scheduling from scratch.
//
// Input    networks on presets; per network a fixed list of edits: windows, widths,
//          layers inserted and removed, batch, sequence, KV length, scratchpad,
//          bandwidth, clock, a row of a mesh's nodes lost. Layers are drawn by a fixed
//          seed.
// Output   per edit: CPU time (median of five) of rescheduling, of scheduling from
//          scratch (constructed; searched within a second), objective over the better
//          of these two, layers, blocks and bytes changed; the same by kind of edit and
//          for all. Every plan is verified; of small networks every fourth is executed
//          on real bytes. Contexts lie in blocks of their own.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "firmware-sim/sim.h"
#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "sluice/experimental.h"
#include "support/graph_edit.h"
#include "support/library.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;
using sluice_test::Bytes;
using sluice_test::GraphPtr;
using sluice_test::GraphSpec;
using sluice_test::HardwarePtr;
using sluice_test::Library;
using sluice_test::PlanPtr;

constexpr uint64_t kSecond = 1000000000;
constexpr size_t kBlock = size_t{512} << 20;
constexpr int kRuns = 5;

struct Network {
  const char* name;
  const char* hardware;
  bool execute;
};
constexpr Network kNetworks[] = {
    {"resnet50", "soma-edge", false},
    {"mobilenet_v1", "soma-edge", true},
    {"mobilenet_v1", "mcu-256k", true},
    {"resnext50", "soma-edge", false},
    {"vgg16", "soma-edge", false},
    {"randwire", "soma-edge", true},
    {"inception_resnet_v1", "soma-edge", false},
    {"densenet121", "soma-edge", false},
    {"lraspp", "soma-edge", true},
    {"resnet50", "soma-cloud", false},
    {"vit_b_16", "soma-edge", false},
    {"gpt2_small_prefill", "soma-edge", false},
    {"gpt2_small_decode", "soma-edge", false},
    {"resnet50", "mcu-256k", false},
    {"mobilenet_v1", "kapla-4x4", false},
    {"resnet50", "kapla-4x4", false},
};

// One change of a network, its machine or its budget.
struct Edit {
  std::string kind;
  bool one_layer;
  Bytes graph, hardware;
  uint64_t scratchpad_bytes;  // 0 = all
};

Bytes Scaled(const Bytes& hardware, const char* field, int64_t by, int64_t over) {
  Json json = Json::parse(sluice::presets::HardwareAsJson(hardware));
  Json* dram = &json["levels"].back();
  Json* value = dram->contains(field) ? &(*dram)[field] : &json[field];
  if (over == 1) {
    *value = value->get<int64_t>() * by;
  } else {
    Json* other = &(*dram)["bytes_per_cycle_denominator"];
    *other = other->get<int64_t>() * over;
  }
  std::string error;
  return sluice::presets::HardwareFromJson(json.dump(), &error);
}

// `count` edits of one kind at layers drawn by the generator.
template <typename Change>
void AddEdits(const char* kind, const Bytes& graph, const Bytes& hardware, int count,
              sluice::Rng* rng, std::vector<Edit>* out, Change change) {
  for (int tries = 0; count > 0 && tries < 400; ++tries) {
    GraphSpec spec = sluice_test::SpecOf(graph);
    const uint32_t layer = rng->Below(static_cast<uint32_t>(spec.layers.size()));
    if (!change(&spec, layer)) continue;
    out->push_back({kind, true, sluice_test::GraphBytes(spec), hardware, 0});
    --count;
  }
}

// What is left of a mesh when a row of its nodes is lost; empty for one node.
Bytes RowLost(const Bytes& hardware) {
  Json json = Json::parse(sluice::presets::HardwareAsJson(hardware));
  const int64_t rows = json.value("node_rows", int64_t{1});
  if (rows < 2) return {};
  json["node_rows"] = rows - 1;
  std::string error;
  return sluice::presets::HardwareFromJson(json.dump(), &error);
}

std::vector<Edit> EditsOf(const Network& network) {
  const Bytes graph = sluice::zoo::MakeZooGraph(network.name, {});
  const Bytes hardware = sluice::presets::LoadPreset(network.hardware);
  const Bytes lost = RowLost(hardware);
  if (!lost.empty()) return {{"node lost", false, graph, lost, 0}};
  sluice::Rng rng(1);
  std::vector<Edit> edits;
  AddEdits("window", graph, hardware, 3, &rng, &edits, sluice_test::ChangeWindow);
  AddEdits("width", graph, hardware, 3, &rng, &edits,
           [](GraphSpec* s, size_t l) { return sluice_test::ChangeWidth(s, l, 75); });
  AddEdits("insert", graph, hardware, 2, &rng, &edits, sluice_test::InsertLayer);
  AddEdits("remove", graph, hardware, 2, &rng, &edits, sluice_test::RemoveLayer);
  const bool gpt = std::string(network.name).rfind("gpt2", 0) == 0;
  const auto zoo = [&](const char* kind, const sluice::zoo::ZooOptions& o) {
    edits.push_back(
        {kind, false, sluice::zoo::MakeZooGraph(network.name, o), hardware, 0});
  };
  sluice::zoo::ZooOptions two;
  two.batch = 2;
  if (!gpt) zoo("batch", two);
  for (int32_t context : {1000, 768, 512}) {
    sluice::zoo::ZooOptions o;
    o.context = context;
    if (gpt) zoo("kv length", o);
  }
  for (int32_t seq : {500, 256}) {
    sluice::zoo::ZooOptions o;
    o.seq = seq;
    if (std::string(network.name).find("prefill") != std::string::npos) {
      zoo("sequence", o);
    }
  }
  const uint64_t all = sluice::presets::FactsOf(hardware).scratchpad_bytes;
  for (uint64_t percent : {95, 75}) {
    edits.push_back({"scratchpad", false, graph, hardware, all / 100 * percent});
  }
  edits.push_back({"bandwidth", false, graph,
                   Scaled(hardware, "bytes_per_cycle_numerator", 2, 1), 0});
  edits.push_back({"bandwidth", false, graph,
                   Scaled(hardware, "bytes_per_cycle_numerator", 1, 2), 0});
  edits.push_back({"clock", false, graph, Scaled(hardware, "clock_hz", 2, 1), 0});
  return edits;
}

double CpuUs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e3;
}

double Product(const PlanPtr& plan) {
  sluice_report_t r = {};
  r.struct_size = sizeof r;
  if (sluice_plan_report(plan.get(), &r) != SLUICE_OK) return 0;
  return r.energy_pj * static_cast<double>(r.latency_cycles);
}

// A library whose memory is one block, touched once.
struct InBlock {
  std::unique_ptr<uint8_t[]> block{new uint8_t[kBlock]};
  sluice_context_options_t options = {};
  InBlock() {
    std::fill(block.get(), block.get() + kBlock, uint8_t{1});
    options.struct_size = sizeof options;
    options.block = block.get();
    options.block_bytes = kBlock;
  }
};

sluice_schedule_options_t Options(uint64_t scratchpad_bytes, uint64_t deadline_ns) {
  sluice_schedule_options_t o = {};
  o.struct_size = sizeof o;
  o.scratchpad_bytes = scratchpad_bytes;
  o.deadline_ns = deadline_ns;
  return o;
}

struct Plan {
  PlanPtr plan;
  double us = 0;
};

Plan FromScratch(Library* library, const GraphPtr& g, const HardwarePtr& h,
                 const sluice_schedule_options_t& options) {
  Plan out;
  sluice_plan_t* plan = nullptr;
  const double start = CpuUs();
  library->status = sluice_schedule(library->context.get(), g.get(), h.get(), &options,
                                    &plan, &library->diagnostic);
  out.us = CpuUs() - start;
  out.plan.reset(plan);
  return out;
}

Plan Again(Library* library, const PlanPtr& before, const GraphPtr& g,
           const HardwarePtr& h, const sluice_schedule_options_t& schedule,
           bool minimise, sluice_change_t* change) {
  sluice_reschedule_options_t options = {};
  options.struct_size = sizeof options;
  options.previous = before.get();
  options.schedule = &schedule;
  options.change = change;
  options.minimise_changes = minimise ? 1 : 0;
  std::vector<double> times;
  Plan out;
  for (int run = 0; run < kRuns; ++run) {
    sluice_plan_t* plan = nullptr;
    *change = {};
    change->struct_size = sizeof *change;
    const double start = CpuUs();
    library->status = sluice_reschedule(library->context.get(), g.get(), h.get(),
                                        &options, &plan, &library->diagnostic);
    times.push_back(CpuUs() - start);
    out.plan.reset(plan);
    if (library->status != SLUICE_OK) break;
  }
  std::sort(times.begin(), times.end());
  out.us = times[times.size() / 2];
  return out;
}

bool Executes(const PlanPtr& plan, const Bytes& graph, const Bytes& hardware) {
  const void* bytes = nullptr;
  size_t size = 0;
  if (sluice_plan_bytes(plan.get(), &bytes, &size) != SLUICE_OK) return false;
  sluice_sim::SimulateOptions o;
  o.graph = graph.data();
  o.graph_size = graph.size();
  o.hardware = hardware.data();
  o.hardware_size = hardware.size();
  o.plan = static_cast<const uint8_t*>(bytes);
  o.plan_size = size;
  o.functional = true;
  const sluice_sim::SimulateResult run = sluice_sim::Simulate(o);
  return run.ok && run.mismatches == 0 && run.cycles == run.predicted_cycles;
}

struct Summary {
  double log_speed = 0, log_search = 0, log_objective = 0, worst = 0;
  std::vector<double> us;
  int edits = 0, one_percent = 0, failed = 0, verified = 0, executed = 0, wrong = 0;
  int from_scratch = 0;
  uint64_t blocks = 0, blocks_changed = 0, bytes = 0, patched = 0;
};

// One edit, as it is summed up.
struct Outcome {
  double us, scratch_us, search_us, objective;
  sluice_change_t change, least;  // least: where changes are minimised
  bool verified;
};

void Add(const Outcome& o, Summary* sum) {
  sum->us.push_back(o.us);
  sum->log_speed += std::log(o.scratch_us / o.us);
  sum->log_search += std::log(o.search_us / o.us);
  sum->log_objective += std::log(o.objective);
  sum->worst = std::max(sum->worst, o.objective);
  sum->one_percent += o.objective <= 1.01 ? 1 : 0;
  sum->verified += o.verified ? 1 : 0;
  sum->from_scratch += o.change.from_scratch != 0 ? 1 : 0;
  sum->blocks += o.least.blocks;
  sum->blocks_changed += o.least.blocks_changed;
  sum->bytes += o.least.stream_bytes;
  sum->patched += o.least.patch_bytes;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

Json JsonOf(const Summary& sum) {
  const double edits = std::max(sum.edits, 1);
  return {{"edits", sum.edits},
          {"failed", sum.failed},
          {"from_scratch", sum.from_scratch},
          {"verified", sum.verified},
          {"executed", sum.executed},
          {"executed_wrong", sum.wrong},
          {"median_us", Median(sum.us)},
          {"speedup_geometric_mean", std::exp(sum.log_speed / edits)},
          {"speedup_over_search_geometric_mean", std::exp(sum.log_search / edits)},
          {"objective_geometric_mean", std::exp(sum.log_objective / edits)},
          {"objective_worst", sum.worst},
          {"within_one_percent", sum.one_percent},
          {"blocks", sum.blocks},
          {"blocks_changed", sum.blocks_changed},
          {"stream_bytes", sum.bytes},
          {"patch_bytes", sum.patched}};
}

// Plans one edit; adds the result to `sum`, over all edits, and to `kind`, over its kind.
Json RowOf(const Network& network, const Edit& edit, Library* library,
           const PlanPtr& before, const PlanPtr& with_room, Summary* sum,
           Summary* kind) {
  Json row = {
      {"network", network.name}, {"hardware", network.hardware}, {"edit", edit.kind}};
  const GraphPtr g = library->Graph(edit.graph);
  const HardwarePtr h = library->Hardware(edit.hardware);
  sluice_change_t change = {};
  sluice_change_t least = {};
  const sluice_schedule_options_t options = Options(edit.scratchpad_bytes, 0);
  const Plan again = Again(library, before, g, h, options, false, &change);
  ++sum->edits;
  ++kind->edits;
  if (library->status != SLUICE_OK) {
    ++sum->failed;
    ++kind->failed;
    row["error"] = library->diagnostic.message;
    return row;
  }
  const Plan patch = Again(library, with_room, g, h, options, true, &least);
  const Plan scratch = FromScratch(library, g, h, options);
  const Plan best = FromScratch(library, g, h, Options(edit.scratchpad_bytes, kSecond));
  const double ratio =
      Product(again.plan) / std::min(Product(best.plan), Product(scratch.plan));
  const bool verified = library->Verify(g, h, again.plan) == SLUICE_OK &&
                        library->Verify(g, h, patch.plan) == SLUICE_OK;
  row.update({{"us", again.us},
              {"scratch_us", scratch.us},
              {"search_us", best.us},
              {"objective", ratio},
              {"patch_objective", Product(patch.plan) / Product(again.plan)},
              {"kept", change.layers_kept},
              {"changed", change.layers_changed},
              {"inserted", change.layers_inserted},
              {"removed", change.layers_removed},
              {"from_scratch", change.from_scratch != 0},
              {"blocks", change.blocks},
              {"blocks_changed", change.blocks_changed},
              {"patch_blocks_changed", least.blocks_changed},
              {"stream_bytes", least.stream_bytes},
              {"patch_bytes", least.patch_bytes},
              {"verified", verified}});
  const Outcome outcome = {again.us, scratch.us, best.us, ratio,
                           change,   least,      verified};
  Add(outcome, sum);
  Add(outcome, kind);
  if (network.execute && sum->edits % 4 == 0) {
    ++sum->executed;
    ++kind->executed;
    const bool right = Executes(again.plan, edit.graph, edit.hardware);
    sum->wrong += right ? 0 : 1;
    kind->wrong += right ? 0 : 1;
    row["executed"] = right;
  }
  return row;
}

// GPT-2 small, decoding with a KV cache of any length. The zoo's network is made with a length
// that no other extent has; this extent is replaced, and so are the 1,024 positions.
Bytes DecodeGraph(int32_t length) {
  constexpr int32_t kMark = 997;
  constexpr int32_t kPositions = 1024;
  sluice::zoo::ZooOptions o;
  o.context = kMark;
  GraphSpec spec =
      sluice_test::SpecOf(sluice::zoo::MakeZooGraph("gpt2_small_decode", o));
  const auto replace = [&](std::vector<int32_t>* values) {
    for (int32_t& v : *values) {
      if (v == kMark) v = length;
      if (v == kPositions) v = std::max(v, length);
    }
  };
  for (sluice_test::TensorSpec& t : spec.tensors) replace(&t.dims);
  for (sluice_test::LayerSpec& l : spec.layers) {
    for (int32_t& v : l.attributes) v = v == kMark ? length : v;
  }
  for (sluice_test::ParameterSpec& p : spec.parameters) {
    if (p.max == kMark - 1) p.max = length - 1;
  }
  return sluice_test::GraphBytes(spec);
}

// Decoding with a growing KV cache: ns to select a plan, over all lengths.
Json Decoding(const sluice_context_options_t& block) {
  constexpr int32_t kLast = 2048;
  Library library(&block);
  const HardwarePtr h = library.Hardware(sluice::presets::LoadPreset("soma-edge"));
  Bytes graph;
  sluice_family_options_t options = {};
  options.struct_size = sizeof options;
  options.first = 1;
  options.last = kLast;
  const int64_t tops[] = {64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048};
  options.top = tops;
  options.tops = 10;
  options.user = &graph;
  options.graph = [](void* user, int64_t value, const void** bytes, size_t* size) {
    Bytes* out = static_cast<Bytes*>(user);
    *out = DecodeGraph(static_cast<int32_t>(value));
    *bytes = out->data();
    *size = out->size();
    return int32_t{0};
  };
  sluice_family_t* family = nullptr;
  const double start = CpuUs();
  library.status = sluice_family_create(library.context.get(), h.get(), &options,
                                        &family, &library.diagnostic);
  const double create_us = CpuUs() - start;
  if (library.status != SLUICE_OK) return {{"error", library.diagnostic.message}};
  constexpr int kRounds = 1000;
  int64_t sum = 0;
  const double before = CpuUs();
  for (int round = 0; round < kRounds; ++round) {
    for (int64_t length = 1; length <= kLast; ++length) {
      int64_t top = 0;
      if (sluice_family_select(family, length, &top) != nullptr) sum += top - length;
    }
  }
  const double ns = 1e3 * (CpuUs() - before) / (double{kRounds} * kLast);
  sluice_family_destroy(family);
  return {{"network", "gpt2_small_decode"},
          {"lengths", kLast},
          {"buckets", options.tops},
          {"create_us", create_us},
          {"padding_mean", static_cast<double>(sum) / (double{kRounds} * kLast)},
          {"select_ns", ns}};
}

void PrintRow(const Json& row) {
  if (row.contains("error")) {
    std::printf("%-20s %-10s %-10s %s\n", row["network"].get<std::string>().c_str(),
                row["hardware"].get<std::string>().c_str(),
                row["edit"].get<std::string>().c_str(),
                row["error"].get<std::string>().c_str());
    return;
  }
  std::printf("%-20s %-10s %-10s %9.0f %10.0f %9.4f %5u %4u/%-4u %7u %8u %s\n",
              row["network"].get<std::string>().c_str(),
              row["hardware"].get<std::string>().c_str(),
              row["edit"].get<std::string>().c_str(), row["us"].get<double>(),
              row["scratch_us"].get<double>(), row["objective"].get<double>(),
              row["changed"].get<uint32_t>() + row["inserted"].get<uint32_t>() +
                  row["removed"].get<uint32_t>(),
              row["patch_blocks_changed"].get<uint32_t>(),
              row["blocks"].get<uint32_t>(), row["patch_bytes"].get<uint32_t>(),
              row["stream_bytes"].get<uint32_t>(),
              row["verified"].get<bool>() ? "verified" : "REFUSED");
  std::fflush(stdout);
}

void PrintKind(const std::string& kind, const Json& sum) {
  std::printf(
      "%-20s %5d %9.0f %7.2f %8.1f %9.4f %8.4f %4d/%-4d %6lld/%-6lld %8lld/%lld\n",
      kind.c_str(), sum["edits"].get<int>(), sum["median_us"].get<double>(),
      sum["speedup_geometric_mean"].get<double>(),
      sum["speedup_over_search_geometric_mean"].get<double>(),
      sum["objective_geometric_mean"].get<double>(),
      sum["objective_worst"].get<double>(), sum["within_one_percent"].get<int>(),
      sum["edits"].get<int>(), sum["blocks_changed"].get<long long>(),
      sum["blocks"].get<long long>(), sum["patch_bytes"].get<long long>(),
      sum["stream_bytes"].get<long long>());
}

}  // namespace

int RunRescheduleBench(bool json) {
  Json rows = Json::array();
  Summary sum;
  std::map<std::string, Summary> kinds;
  std::vector<double> one_layer_us;  // ResNet-50 on soma-edge
  InBlock block;
  if (!json) {
    std::printf("%-20s %-10s %-10s %9s %10s %9s %5s %9s %16s\n", "network", "hardware",
                "edit", "us", "scratch us", "objective", "edits", "blocks",
                "patch of bytes");
  }
  for (const Network& network : kNetworks) {
    Library library(&block.options);
    const GraphPtr g = library.Graph(sluice::zoo::MakeZooGraph(network.name, {}));
    const HardwarePtr h =
        library.Hardware(sluice::presets::LoadPreset(network.hardware));
    Plan before = FromScratch(&library, g, h, Options(0, kSecond));
    Plan other = FromScratch(&library, g, h, Options(0, 0));
    if (Product(other.plan) < Product(before.plan)) before = std::move(other);
    // Streams that will be patched have room to grow.
    sluice_change_t none = {};
    const Plan with_room =
        Again(&library, before.plan, g, h, Options(0, 0), true, &none);
    for (const Edit& edit : EditsOf(network)) {
      const Json row = RowOf(network, edit, &library, before.plan, with_room.plan, &sum,
                             &kinds[edit.kind]);
      if (edit.one_layer && &network == &kNetworks[0] && row.contains("us")) {
        one_layer_us.push_back(row["us"].get<double>());
      }
      if (!json) PrintRow(row);
      rows.push_back(row);
    }
  }
  Json all = JsonOf(sum);
  all["resnet50_one_layer_median_us"] = Median(one_layer_us);
  all["decoding"] = Decoding(block.options);
  Json by_kind = Json::object();
  for (const auto& [kind, part] : kinds) by_kind[kind] = JsonOf(part);
  if (json) {
    const Json out = {{"edits", rows}, {"kinds", by_kind}, {"summary", all}};
    std::printf("%s\n", out.dump(1).c_str());
  } else {
    std::printf("%-20s %5s %9s %7s %8s %9s %8s %9s %13s %s\n", "kind", "edits",
                "median us", "speed", "of 1 s", "objective", "worst", "in 1 %",
                "blocks", "patch of bytes");
    for (const auto& [kind, part] : by_kind.items()) PrintKind(kind, part);
    for (const auto& [name, value] : all.items()) {
      std::printf("%-30s %s\n", name.c_str(), value.dump().c_str());
    }
  }
  return sum.failed + sum.wrong + (sum.edits - sum.verified) == 0 ? 0 : 5;
}
