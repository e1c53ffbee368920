// SPDX-License-Identifier: Apache-2.0
// KAPLA's evaluation remade: seven networks on 16x16 nodes (inference and training,
// batch 64) and on one edge node (batch 1), in one cost model with 16-bit words.
//
//   random      layer by layer, the best of 200 random mappings of each
//   greedy      published: the top 4 chains of estimates, layers by greedy stacking;
//               training layer by layer. Where the greedy finds nothing for a layer on
//               its own, our mapper replaces it (in the paper: an exhaustive search)
//   one by one  the same greedy, layer by layer
//   layers      ours, layer by layer
//   exhaustive  layer by layer, every split of each layer solved (on one node: every
//               array too), where that ends within ten minutes
//   ours        the best chain of segments
//
// Exit code 1 when ours costs more than greedy in any row. The paper's Figures 7 to 9 are
// the rows, Table IV is cpu_s, Table V the rows of GoogLeNet on other machines, Table VI the
// numbers of schemes before and after pruning, Fig. 11 the rows top1 to top8 of AlexNet.
#include <time.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "import/training/training.h"
#include "io/read.h"
#include "kapla_random.h"
#include "plan/mesh/layer_order.h"
#include "plan/mesh/node_pricer.h"
#include "plan/mesh/segment_network.h"
#include "presets/presets.h"
#include "tests/solve/mapping/scratch.h"
#include "zoo/zoo.h"

int RunKaplaBench(bool json);

namespace sluice {
namespace {

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A preset, with some sizes changed.
struct Sizes {
  uint32_t nodes = 0, pes = 0;  // along each axis; 0 as the preset has it
  int64_t scratchpad = 0, registers = 0;
};

struct Machine {
  Scratch scratch;
  Hardware hardware = {};
  std::vector<MemoryLevel> levels;
  std::vector<Fanout> fanouts;
  bool good = false;

  Machine(const char* preset, const Sizes& sizes) {
    const import::Bytes bytes = presets::LoadPreset(preset);
    Hardware read = {};
    if (ReadHardware(bytes.data(), bytes.size(), &scratch.arena, &read,
                     &scratch.diagnostic) != Status::kOk) {
      return;
    }
    levels.assign(read.levels.begin(), read.levels.end());
    fanouts.assign(read.fanouts.begin(), read.fanouts.end());
    const size_t pad = levels.size() - 2;
    if (sizes.scratchpad != 0) levels[pad].capacity_bytes = sizes.scratchpad;
    if (sizes.registers != 0) levels[0].capacity_bytes = sizes.registers;
    if (sizes.pes != 0) {
      for (Fanout& fanout : fanouts) fanout.extent = sizes.pes;
      read.macs_per_cycle = int64_t{sizes.pes} * sizes.pes;
    }
    read.levels = Span<const MemoryLevel>(levels.data(), levels.size());
    read.fanouts = Span<const Fanout>(fanouts.data(), fanouts.size());
    if (sizes.nodes != 0) read.node_cols = read.node_rows = sizes.nodes;
    hardware = WithNodeLeakage(read);
    good = true;
  }
};

struct Network {
  Scratch scratch;
  Graph graph = {};
  import::Bytes bytes;
  Span<SegmentLayer> layers;
  bool good = false;

  Network(const char* name, int32_t batch, bool training, const Hardware& hardware) {
    zoo::ZooOptions options;
    options.batch = batch;
    bytes = zoo::MakeZooGraph(name, options);
    if (training) bytes = import::MakeTrainingGraph(bytes);
    Lowering lowering = {};
    constexpr uint32_t kWord = 2;
    good = ReadGraph(bytes.data(), bytes.size(), &scratch.arena, &graph,
                     &scratch.diagnostic) == Status::kOk &&
           Lower(graph, hardware, &scratch.arena, &lowering, &scratch.diagnostic) ==
               Status::kOk &&
           NetworkOfGraph({graph, hardware, lowering, kWord}, &scratch.arena, &layers,
                          &scratch.diagnostic) == Status::kOk;
  }
};

enum class Mode { kRandom, kGreedyLayers, kGreedy, kLayers, kExhaustive, kOurs, kTopK };
constexpr size_t kModes = 7;

struct Result {
  bool good = false;
  SegmentCost cost = {};
  SegmentCounts counts = {};
  double bound = 0;
  size_t segments = 0;
  double cpu_s = 0;
  uint64_t memory = 0;
  int stand_ins = 0;
};

struct Pricing {
  Mode mode;
  NodePricer* exact;
  NodePricer* greedy;
  RandomMapper* random;
  int stand_ins;
};

Status Price(void* user, const LayerQuery& query, LayerPrice* price,
             Diagnostic* diagnostic) {
  Pricing* p = static_cast<Pricing*>(user);
  const LayerPricer exact = p->exact->pricer();
  Status status = Status::kInfeasible;
  const bool published = p->mode == Mode::kGreedy || p->mode == Mode::kGreedyLayers;
  if (published) {
    const LayerPricer greedy = p->greedy->pricer();
    status = greedy.price(greedy.user, query, price, diagnostic);
    const LayerTerms& terms = query.terms;
    const bool alone = terms.top_batch == 1 && terms.ifmap.kind == EndKind::kDram &&
                       terms.ofmap.kind == EndKind::kDram;
    if (status != Status::kInfeasible || !alone) return status;
  } else if (p->mode == Mode::kRandom) {
    status = p->random->Price(p->exact->layers[query.position].problem, query, price,
                              diagnostic);
    if (status == Status::kOk) return status;
  }
  if (published || p->mode == Mode::kRandom) ++p->stand_ins;
  return exact.price(exact.user, query, price, diagnostic);
}

Result Run(const Network& network, const Hardware& hardware, Mode mode, bool training,
           uint32_t top_k) {
  Result result;
  Scratch scratch;
  constexpr uint64_t kMostNs = uint64_t{600} * 1000000000;
  Budget budget({}, mode == Mode::kExhaustive ? kMostNs : 0, 0, nullptr);
  NodeParallelOptions nodes;
  if (mode == Mode::kExhaustive) {
    nodes.every = true;
    nodes.node.constraints.wide = NodesOf(WholeMesh(hardware)) == 1;
  }
  NodeParallelOptions published;
  published.node.greedy = true;
  published.node.dataflow =
      NodesOf(WholeMesh(hardware)) > 1 ? Dataflow::kRowStationary : Dataflow::kSystolic;
  NodePricer exact(network.layers, hardware, nodes, &budget, &scratch.memory);
  NodePricer greedy(network.layers, hardware, published, &budget, &scratch.memory);
  RandomMapper random(hardware, 1, 200);
  Pricing pricing = {mode, &exact, &greedy, &random, 0};
  SegmentOptions options;
  options.top_k = top_k;
  const bool chains = mode == Mode::kGreedy && !training;
  options.solver = mode == Mode::kOurs             ? SegmentSolver::kChain
                   : chains || mode == Mode::kTopK ? SegmentSolver::kTopK
                                                   : SegmentSolver::kLayers;
  const double start = CpuSeconds();
  ChosenSegments chosen;
  const Status status =
      ChooseSegments({network.layers, hardware, options, LayerPricer{&pricing, Price}},
                     &budget, &scratch.arena, &chosen, &scratch.diagnostic);
  result.cpu_s = CpuSeconds() - start;
  if (status != Status::kOk) {
    std::fprintf(stderr, "%s\n", scratch.diagnostic.message);
    return result;
  }
  result.good = budget.stop_reason() == SLUICE_STOP_COMPLETE;
  result.cost = chosen.schedule.cost;
  result.counts = chosen.counts;
  result.bound = chosen.schedule.bound;
  result.segments = chosen.schedule.segments.size();
  result.memory = scratch.memory.peak_bytes();
  result.stand_ins = pricing.stand_ins;
  return result;
}

const char* NameOf(Mode mode) {
  constexpr const char* kNames[kModes] = {
      "random", "one by one", "greedy", "layers", "exhaustive", "ours", "top"};
  return kNames[static_cast<int>(mode)];
}

class Table {
 public:
  explicit Table(bool json) : json_(json) {
    if (json_) return;
    std::printf(
        "%-12s %-26s %-10s %9s %6s %6s | %5s %5s %5s %5s %5s %5s %5s | %8s "
        "%4s %8s %7s\n",
        "network", "config", "mode", "energy mJ", "/greed", "/layer", "MAC", "regs",
        "wires", "pads", "DRAM", "links", "leak", "Mcycles", "segs", "CPU s", "MiB");
  }

  // All modes of one network on one machine; false: ours is above greedy.
  bool Add(const std::string& name, const std::string& config, const Network& network,
           const Hardware& hardware, const std::vector<Mode>& modes, bool training) {
    Result of[kModes];
    for (const Mode mode : modes) {
      of[static_cast<int>(mode)] = Run(network, hardware, mode, training, 4);
    }
    const Result& greedy = of[static_cast<int>(Mode::kGreedy)];
    const Result& ours = of[static_cast<int>(Mode::kOurs)];
    for (const Mode mode : modes) {
      Row(name, config, NameOf(mode), of[static_cast<int>(mode)], greedy,
          of[static_cast<int>(Mode::kExhaustive)], of[static_cast<int>(Mode::kLayers)]);
    }
    const Result& one_by_one = of[static_cast<int>(Mode::kGreedyLayers)];
    const Result& layers = of[static_cast<int>(Mode::kLayers)];
    if (one_by_one.good && layers.good && greedy.good && ours.good) {
      gains_.push_back({name, ours.cost.energy_pj / layers.cost.energy_pj - 1,
                        greedy.cost.energy_pj / one_by_one.cost.energy_pj - 1});
    }
    if (!ours.good || !greedy.good) return false;
    return ours.cost.energy_pj <= greedy.cost.energy_pj * (1 + 1e-12);
  }

  void Row(const std::string& name, const std::string& config, const std::string& mode,
           const Result& r, const Result& greedy, const Result& exhaustive,
           const Result& layers) {
    if (!r.good) {
      if (!json_) {
        std::printf("%-12s %-26s %-10s failed\n", name.c_str(), config.c_str(),
                    mode.c_str());
      }
      return;
    }
    const SegmentCost& c = r.cost;
    const auto over = [&](const Result& other) {
      return other.good ? c.energy_pj / other.cost.energy_pj : 0;
    };
    if (json_) {
      rows_.push_back({{"network", name},
                       {"config", config},
                       {"mode", mode},
                       {"energy_pj", c.energy_pj},
                       {"greedy_energy_pj", greedy.cost.energy_pj},
                       {"layers_energy_pj", layers.cost.energy_pj},
                       {"exhaustive_energy_pj",
                        exhaustive.good ? nlohmann::json(exhaustive.cost.energy_pj)
                                        : nlohmann::json(nullptr)},
                       {"bound_pj", r.bound},
                       {"operations_pj", c.operations_pj},
                       {"registers_pj", c.registers_pj},
                       {"transfer_pj", c.transfer_pj},
                       {"scratchpad_pj", c.scratchpad_pj},
                       {"dram_pj", c.dram_pj},
                       {"noc_pj", c.noc_pj},
                       {"leakage_pj", c.leakage_pj},
                       {"latency_cycles", c.cycles},
                       {"segments", r.segments},
                       {"schemes", r.counts.schemes},
                       {"valid", r.counts.valid},
                       {"priced", r.counts.priced},
                       {"prices", r.counts.prices},
                       {"stand_ins", r.stand_ins},
                       {"memory_bytes", r.memory},
                       {"cpu_s", r.cpu_s}});
      return;
    }
    const auto share = [&](double pj) { return 100 * pj / c.energy_pj; };
    std::printf(
        "%-12s %-26s %-10s %9.3f %6.3f %6.3f | %5.1f %5.1f %5.1f %5.1f %5.1f "
        "%5.1f %5.1f | %8.3f %4zu %8.3f %7.1f",
        name.c_str(), config.c_str(), mode.c_str(), c.energy_pj * 1e-9, over(greedy),
        over(layers), share(c.operations_pj), share(c.registers_pj),
        share(c.transfer_pj), share(c.scratchpad_pj), share(c.dram_pj), share(c.noc_pj),
        share(c.leakage_pj), static_cast<double>(c.cycles) * 1e-6, r.segments, r.cpu_s,
        static_cast<double>(r.memory) / (1 << 20));
    if (r.counts.schemes > 0) {
      std::printf("  %llu schemes, %llu left, %llu solved",
                  static_cast<unsigned long long>(r.counts.schemes),
                  static_cast<unsigned long long>(r.counts.valid),
                  static_cast<unsigned long long>(r.counts.priced));
    }
    if (r.stand_ins > 0) std::printf("  %d layers beyond it", r.stand_ins);
    std::printf("\n");
    std::fflush(stdout);
  }

  // What pipelining saves; the reference's own figures where there are any.
  void Gains() {
    const std::map<std::string, double> reference = {{"alexnet", -0.22},
                                                     {"mlp_l", -0.11}};
    if (!json_) {
      std::printf(
          "\npipelining: energy against layer by layer, 16x16 b64\n"
          "%-12s %9s %9s %9s\n",
          "network", "ours", "greedy", "reference");
    }
    for (const Gain& gain : gains_) {
      const auto known = reference.find(gain.network);
      const bool is_known = known != reference.end();
      if (json_) {
        nlohmann::json row = {
            {"network", gain.network}, {"ours", gain.ours}, {"greedy", gain.greedy}};
        if (is_known) row["reference"] = known->second;
        gain_rows_.push_back(row);
        continue;
      }
      std::printf("%-12s %8.1f%% %8.1f%%", gain.network.c_str(), 100 * gain.ours,
                  100 * gain.greedy);
      if (is_known) std::printf(" %8.1f%%", 100 * known->second);
      std::printf("\n");
    }
  }

  void Finish(int above) {
    if (!json_) return;
    std::printf("%s\n",
                nlohmann::json(
                    {{"rows", rows_}, {"gains", gain_rows_}, {"above_greedy", above}})
                    .dump(1)
                    .c_str());
  }

 private:
  struct Gain {
    std::string network;
    double ours, greedy;
  };

  bool json_;
  nlohmann::json rows_ = nlohmann::json::array();
  nlohmann::json gain_rows_ = nlohmann::json::array();
  std::vector<Gain> gains_;
};

constexpr const char* kNetworks[] = {"mlp_l",     "alexnet",  "mobilenet_v1", "vgg16",
                                     "googlenet", "resnet50", "lstm_gnmt"};

int Evaluate(Table* table) {
  const struct {
    const char* name;
    const char* preset;
    int32_t batch;
    bool training;
  } configs[] = {{"16x16 b64", "kapla-16x16", 64, false},
                 {"16x16 b64 training", "kapla-16x16", 64, true},
                 {"edge b1", "kapla-edge", 1, false}};
  int above = 0;
  for (const auto& config : configs) {
    const Machine machine(config.preset, {});
    for (const char* name : kNetworks) {
      const std::string text = name;
      const Network network(name, config.batch, config.training, machine.hardware);
      if (!machine.good || !network.good) {
        std::fprintf(stderr, "%s: %s\n", name, network.scratch.diagnostic.message);
        ++above;
        continue;
      }
      std::vector<Mode> modes = {Mode::kRandom, Mode::kGreedy, Mode::kLayers,
                                 Mode::kOurs};
      const bool small = text == "mlp_l" || (text == "alexnet" && !config.training);
      if (config.batch == 1 || small) {
        modes.insert(modes.begin() + 3, Mode::kExhaustive);
      }
      if (config.batch > 1 && !config.training) {
        modes.insert(modes.begin() + 1, Mode::kGreedyLayers);
      }
      if (!table->Add(name, config.name, network, machine.hardware, modes,
                      config.training)) {
        ++above;
      }
    }
  }
  return above;
}

// Table V: batch, nodes, PEs, scratchpad and registers.
int OtherMachines(Table* table) {
  const struct {
    int32_t batch;
    Sizes sizes;
  } rows[] = {{64, {4, 8, 32 << 10, 32}},
              {64, {4, 8, 32 << 10, 64}},
              {64, {4, 8, 32 << 10, 128}},
              {8, {4, 16, 32 << 10, 32}},
              {1, {16, 8, 32 << 10, 64}}};
  int above = 0;
  for (const auto& row : rows) {
    const Machine machine("kapla-16x16", row.sizes);
    const Network network("googlenet", row.batch, false, machine.hardware);
    char config[64];
    std::snprintf(config, sizeof config, "b%d %ux%u PE %ux%u RF %lld", row.batch,
                  row.sizes.nodes, row.sizes.nodes, row.sizes.pes, row.sizes.pes,
                  static_cast<long long>(row.sizes.registers));
    if (!machine.good || !network.good ||
        !table->Add("googlenet", config, network, machine.hardware,
                    {Mode::kGreedy, Mode::kLayers, Mode::kOurs}, false)) {
      ++above;
    }
  }
  return above;
}

// Fig. 11: how many chains of estimates are kept, layers mapped by ours.
void ChainCounts(Table* table) {
  const Machine machine("kapla-16x16", {});
  const Network network("alexnet", 64, false, machine.hardware);
  const Result best = Run(network, machine.hardware, Mode::kOurs, false, 4);
  for (const uint32_t k : {1u, 2u, 4u, 8u}) {
    const Result r = Run(network, machine.hardware, Mode::kTopK, false, k);
    table->Row("alexnet", "16x16 b64", "top" + std::to_string(k), r, Result{}, Result{},
               best);
  }
}

}  // namespace
}  // namespace sluice

int RunKaplaBench(bool json) {
  sluice::Table table(json);
  int above = sluice::Evaluate(&table);
  above += sluice::OtherMachines(&table);
  sluice::ChainCounts(&table);
  table.Gains();
  table.Finish(above);
  if (above > 0) {
    std::fprintf(stderr, "%d configurations failed or cost more than published\n",
                 above);
  }
  return above > 0 ? 1 : 0;
}
