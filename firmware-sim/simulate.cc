// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>

#include "execution.h"
#include "machine.h"
#include "memory.h"
#include "placed.h"
#include "reference.h"
#include "sim.h"
#include "walker.h"
#include "wire.h"

namespace sluice_sim {
namespace {

// A copy of the caller's bytes, aligned for flatbuffers.
class Aligned {
 public:
  Aligned(const void* bytes, size_t size) : words_((size + 7) / 8), size_(size) {
    if (size != 0) std::memcpy(words_.data(), bytes, size);
  }
  const void* data() const { return words_.data(); }
  size_t size() const { return size_; }

 private:
  std::vector<uint64_t> words_;
  size_t size_;
};

bool Fail(const Trap& trap, SimulateResult* result) {
  result->error_code = trap.code;
  result->error = trap.text;
  return false;
}

// Checks that all tensors, twice (untiled and placed), plus `more` bytes stay below the
// cap.
Trap CheckMemory(const Graph& graph, uint64_t cap, uint64_t more) {
  uint64_t need = more;
  for (const Tensor& t : graph.tensors) {
    if (need <= cap) need += static_cast<uint64_t>(t.bytes);
  }
  if (need <= cap) return {};
  return {"memory", "needs more than max_memory_bytes"};
}

Trap OpenStream(const Plan& plan, const Hardware& hardware, sluice_walker_t* walker) {
  sluice_walk_error_t where;
  if (sluice_walk_open(walker, plan.image, plan.image_size, &where) != SLUICE_WALK_OK) {
    std::string text = sluice_walk_status_name(where.status);
    if (where.block != SLUICE_NONE) text += ", block " + std::to_string(where.block);
    return {"stream", text + ", record " + std::to_string(where.index)};
  }
  if (walker->header.node_cols != hardware.node_cols ||
      walker->header.node_rows != hardware.node_rows) {
    return {"stream", "another number of nodes than the hardware's"};
  }
  if (walker->engines != hardware.engines.size()) {
    return {"stream", "another number of engines than the hardware's"};
  }
  for (uint32_t e = 0; e < walker->engines; ++e) {
    sluice_engine_t record;
    sluice_walk_engine(walker, e, &record);
    const sluice_engine_t& own = hardware.engines[e].record;
    if (record.does != own.does || record.node != own.node ||
        record.queue != own.queue || record.roles != own.roles) {
      return {"stream", "engine " + std::to_string(e) + " is not the hardware's " +
                            hardware.engines[e].name};
    }
  }
  const uint64_t made_for =
      walker->header.gbuf_bytes_lo | uint64_t{walker->header.gbuf_bytes_hi} << 32;
  if (made_for > hardware.scratchpad_bytes) {
    return {"stream", "made for a larger scratchpad than there is"};
  }
  return {};
}

constexpr uint64_t kMostAddress = uint64_t{1} << 48;
constexpr uint32_t kMostAttributes = 64;

template <typename Record>
Record RecordOf(const sluice_walker_t& walker, uint32_t table, uint32_t index) {
  Record record;
  std::memcpy(&record, walker.image + table + size_t{index} * sizeof record,
              sizeof record);
  return record;
}

// Checks that the debug map, if present, names a layer of the graph for each instruction.
Trap CheckDebugMap(const sluice_walker_t& walker, const Graph& graph,
                   const Plan& plan) {
  size_t stored = 0;
  for (uint32_t i = 0; i < walker.header.instance_count; ++i) {
    sluice_block_t block;
    sluice_walk_block(&walker, i, &block);
    stored += block.instruction_count;
  }
  if (!plan.debug_layer.empty() && plan.debug_layer.size() != stored) {
    return {"plan", "debug map of another length"};
  }
  for (size_t i = 0; i < plan.debug_layer.size(); ++i) {
    if (plan.debug_layer[i] < graph.layers.size()) continue;
    return {"plan", "debug map names layer " + std::to_string(plan.debug_layer[i]) +
                        " for instruction " + std::to_string(i) + "; the graph has " +
                        std::to_string(graph.layers.size()) + " layers"};
  }
  return {};
}

// Checks that each memory off chip has room for its regions.
Trap CheckHomes(const sluice_walker_t& walker, const Graph& graph,
                const Hardware& hardware) {
  uint64_t used[SLUICE_REGION_COUNT] = {};  // by memory
  uint64_t saved = 0;                       // by encoding
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.encoded != 0)
      saved += static_cast<uint64_t>(tensor.bytes) - tensor.encoded;
  }
  for (uint32_t r = SLUICE_REGION_CONST; r < SLUICE_REGION_COUNT; ++r) {
    const Home& home = hardware.home[r];
    const uint64_t bytes = sluice_walk_region_bytes(&walker, r);
    used[home.memory] +=
        bytes - (r == SLUICE_REGION_CONST ? std::min(bytes, saved) : 0);
    if (home.capacity != 0 && used[home.memory] > home.capacity) {
      return {"bounds", "regions of " + home.name + " exceed its capacity"};
    }
  }
  return {};
}

// Checks tables whose entries must match the graph and the machine, also unused
// entries.
Trap CheckTables(const sluice_walker_t& walker, const Graph& graph,
                 const Hardware& hardware) {
  const sluice_stream_header_t& h = walker.header;
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    if (sluice_walk_region_bytes(&walker, r) > kMostAddress) {
      return {"bounds", "region " + std::to_string(r) + " beyond every address"};
    }
  }
  if (Trap trap = CheckHomes(walker, graph, hardware)) return trap;
  for (uint32_t i = 0; i < h.binding_count; ++i) {
    const auto binding = RecordOf<sluice_binding_t>(walker, h.binding_offset, i);
    const uint64_t base = binding.base_lo | uint64_t{binding.base_hi} << 32;
    if (binding.region == SLUICE_REGION_GBUF &&
        base % hardware.scratchpad_alignment != 0) {
      return {"alignment", "slot " + std::to_string(i) + " in the scratchpad"};
    }
    if (base > kMostAddress) {
      return {"bounds", "slot " + std::to_string(i) + " beyond every region"};
    }
  }
  for (uint32_t i = 0; i < h.kernel_count; ++i) {
    const auto kernel = RecordOf<sluice_kernel_t>(walker, h.kernel_offset, i);
    if (kernel.attribute_count > kMostAttributes) {
      return {"stream", "kernel " + std::to_string(i) + " has more than 64 attributes"};
    }
    if (kernel.layer >= graph.layers.size() ||
        graph.layers[kernel.layer].op != kernel.op) {
      return {"stream",
              "kernel " + std::to_string(i) + " is of no layer or another op"};
    }
  }
  for (uint32_t i = 0; i < h.patch_count; ++i) {
    const auto patch = RecordOf<sluice_patch_t>(walker, h.patch_offset, i);
    if (patch.parameter >= graph.parameter_min.size()) {
      return {"stream", "patch " + std::to_string(i) + " names no parameter"};
    }
  }
  return {};
}

// The parsed inputs, complete before the first cycle is simulated.
struct Job {
  Job(const SimulateOptions& options)
      : graph_bytes(options.graph, options.graph_size),
        hardware_bytes(options.hardware, options.hardware_size),
        plan_bytes(options.plan, options.plan_size) {}

  Trap Open() {
    std::string error = ReadGraph(graph_bytes.data(), graph_bytes.size(), &graph);
    if (!error.empty()) return {"graph", error};
    error = ReadHardware(hardware_bytes.data(), hardware_bytes.size(), &hardware);
    if (!error.empty()) return {"hardware", error};
    error = ReadPlan(plan_bytes.data(), plan_bytes.size(), graph.tensors.size(), &plan);
    if (!error.empty()) return {"plan", error};
    if (plan.graph_hash != graph.hash) return {"plan", "made for another graph"};
    if (plan.hardware_hash != hardware.hash) {
      return {"plan", "made for another hardware descriptor"};
    }
    if (const Trap trap = OpenStream(plan, hardware, &walker)) return trap;
    if (const Trap trap = CheckDebugMap(walker, graph, plan)) return trap;
    return CheckTables(walker, graph, hardware);
  }

  Aligned graph_bytes, hardware_bytes, plan_bytes;
  Graph graph;
  Hardware hardware;
  Plan plan;
  sluice_walker_t walker{};
};

// One stream, its memory and its progress.
struct Lane {
  explicit Lane(const SimulateOptions& o) : options(o), job(o) {}

  bool Open(SimulateResult* out) {
    result = out;
    if (const Trap trap = job.Open()) return Fail(trap, result);
    job.graph.cancel = options.cancel;
    job.graph.host_functions = options.host_functions;
    result->predicted_cycles = job.plan.predicted_cycles;
    for (const Engine& engine : job.hardware.engines) {
      result->engine_names.push_back(engine.name);
    }
    const std::string out_of_range = ParameterValues(job.graph, options, &parameters);
    if (!out_of_range.empty()) return Fail({"input", out_of_range}, result);
    sluice_walk_set_parameters(&job.walker, parameters.data(),
                               static_cast<uint32_t>(parameters.size()));
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      region_bytes[r] = sluice_walk_region_bytes(&job.walker, r);
    }
    return true;
  }
  // Allocates and fills the memory before the run.
  bool Prepare() {
    const uint32_t nodes = job.hardware.node_cols * job.hardware.node_rows;
    uint64_t total = 0;  // includes shadows; saturates just above the cap
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      const uint64_t copies = r == SLUICE_REGION_GBUF ? 2 * uint64_t{nodes} : 2;
      if (region_bytes[r] > options.max_memory_bytes / copies) {
        total = options.max_memory_bytes + 1;
      } else if (total <= options.max_memory_bytes) {
        total += copies * region_bytes[r];
      }
    }
    if (options.functional) {
      const Trap trap = CheckMemory(job.graph, options.max_memory_bytes, total);
      if (trap) return Fail(trap, result);
    }
    memory = std::make_unique<Memory>(nodes, region_bytes, options.functional);
    if (const Trap trap = CheckPlaces(Placed())) return Fail(trap, result);
    values.resize(job.graph.tensors.size());
    if (options.functional) {
      const Trap trap = FillMemory(Placed(), &values);
      if (trap) return Fail(trap, result);
    }
    machine = std::make_unique<Machine>(job.walker, job.graph, job.hardware,
                                        memory.get(), options.functional);
    SetPlaces(machine.get(), job.plan.places);
    execution = std::make_unique<Execution>(options, job.walker, job.plan,
                                            machine.get(), result);
    return true;
  }
  PlacedRun Placed() {
    return {options, job.graph, job.plan, parameters, memory.get()};
  }
  bool JudgeEnd() {
    if (!options.functional) return true;
    const Trap trap = JudgeOutputs(Placed(), &values, result);
    return trap ? Fail(trap, result) : true;
  }

  const SimulateOptions& options;
  Job job;
  SimulateResult* result = nullptr;
  std::vector<int32_t> parameters;
  uint64_t region_bytes[SLUICE_REGION_COUNT] = {};
  std::unique_ptr<Memory> memory;
  Values values;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<Execution> execution;
};

// Lists the plan's report next to the values that the completed run measured.
void Compare(const SimulateOptions& options, const Plan& plan, SimulateResult* r) {
  r->claims = {{"dram_read_bytes", plan.dram_read_bytes, r->dram_read_bytes},
               {"dram_write_bytes", plan.dram_write_bytes, r->dram_write_bytes},
               {"peak_buffer_bytes", plan.peak_buffer_bytes, r->peak_buffer_bytes},
               {"macs", plan.macs, r->macs},
               {"vector_ops", plan.vector_ops, r->vector_ops},
               {"tiles", plan.tiles, r->tiles},
               {"instructions", plan.instructions, r->instructions},
               {"host_bytes", plan.host_bytes, r->host_bytes}};
  if (options.interleaving == 0) {
    r->claims.insert(r->claims.begin(),
                     {"latency_cycles", plan.predicted_cycles, r->cycles});
  }
}

// Runs the stream again with contention on links. Only times may change.
bool RunContended(SimulateOptions options, SimulateResult* result) {
  options.trace = options.contended_trace;
  SimulateResult contended;
  Lane lane(options);
  if (!lane.Open(&contended) || !lane.Prepare()) return false;
  Links links(lane.job.hardware.node_cols, lane.job.hardware.node_rows);
  lane.machine->links = &links;
  const bool good = Execute(lane.execution.get()) && lane.JudgeEnd();
  result->contended_cycles = contended.cycles;
  result->link_waits = links.waits();
  result->link_wait_cycles = links.wait_cycles();
  result->busiest_link_cycles = links.busiest();
  return good ||
         Fail({contended.error_code, "with contention: " + contended.error}, result);
}

bool Run(const SimulateOptions& options, SimulateResult* result) {
  {
    Lane lane(options);
    if (!lane.Open(result) || !lane.Prepare() || !Execute(lane.execution.get()) ||
        !lane.JudgeEnd()) {
      return false;
    }
    Compare(options, lane.job.plan, result);
  }
  return !options.contention || RunContended(options, result);
}

// Opens all streams; each memory gets the scratchpad size of the largest.
bool OpenAll(std::vector<std::unique_ptr<Lane>>* lanes, TogetherResult* result) {
  uint64_t scratchpad = 0;
  for (size_t s = 0; s < lanes->size(); ++s) {
    Lane& lane = *(*lanes)[s];
    result->error_stream = static_cast<uint32_t>(s);
    if (!lane.Open(&result->streams[s])) return false;
    if (lane.job.hardware.node_cols * lane.job.hardware.node_rows != 1) {
      return Fail({"hardware", "streams take turns on one node only"}, lane.result);
    }
    scratchpad = std::max(scratchpad, lane.region_bytes[SLUICE_REGION_GBUF]);
  }
  for (size_t s = 0; s < lanes->size(); ++s) {
    Lane& lane = *(*lanes)[s];
    result->error_stream = static_cast<uint32_t>(s);
    lane.region_bytes[SLUICE_REGION_GBUF] = scratchpad;
    if (!lane.Prepare()) return false;
  }
  return true;
}

bool RunTurns(const std::vector<Turn>& turns, std::vector<std::unique_ptr<Lane>>* lanes,
              TogetherResult* result) {
  std::vector<Memory*> memories;
  std::vector<uint32_t> next(lanes->size(), 0);
  for (const auto& lane : *lanes) memories.push_back(lane->memory.get());
  Memory* holder = memories[0];  // memory that holds the machine's scratchpad bytes
  for (const Turn& turn : turns) {
    if (turn.stream >= lanes->size()) {
      result->error = "a turn names a stream that does not exist";
      return false;
    }
    Lane& lane = *(*lanes)[turn.stream];
    result->error_stream = turn.stream;
    if (turn.first_visit != next[turn.stream] || turn.end_visit < turn.first_visit ||
        turn.end_visit > lane.job.walker.visits) {
      return Fail({"input", "a turn does not start at its stream's next visit"},
                  lane.result);
    }
    if (lane.options.functional) holder->HandOver(lane.memory.get(), memories);
    holder = lane.memory.get();
    if (!ExecuteUntil(lane.execution.get(), turn.end_visit, result->cycles))
      return false;
    result->turn_cycles.push_back(lane.result->cycles - result->cycles);
    result->cycles = lane.result->cycles;
    next[turn.stream] = turn.end_visit;
  }
  for (size_t s = 0; s < lanes->size(); ++s) {
    Lane& lane = *(*lanes)[s];
    result->error_stream = static_cast<uint32_t>(s);
    if (next[s] != lane.job.walker.visits) {
      return Fail({"input", "the turns end before the stream"}, lane.result);
    }
    if (!lane.JudgeEnd()) return false;
    lane.result->ok = true;
  }
  result->error_stream = kNowhere;
  return true;
}

bool RunTogether(const std::vector<SimulateOptions>& streams,
                 const std::vector<Turn>& turns, TogetherResult* result) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const SimulateOptions& options : streams) {
    lanes.push_back(std::make_unique<Lane>(options));
  }
  result->streams.resize(streams.size());
  if (!lanes.empty() && OpenAll(&lanes, result) && RunTurns(turns, &lanes, result)) {
    return true;
  }
  if (result->error_stream != kNowhere && result->error.empty()) {
    result->error = result->streams[result->error_stream].error;
  }
  return false;
}

// Sets states to the given bytes, else to their initial values.
std::string FillStates(const Graph& graph, const SimulateOptions& options,
                       Values* values) {
  const Values* given = options.state_tensors;
  size_t number = 0;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].kind != kState) continue;
    const size_t bytes = static_cast<size_t>(graph.tensors[i].bytes);
    const std::string error = FillFromSource(graph, i, options.data_dir, &(*values)[i]);
    if (!error.empty()) return error;
    if (given == nullptr || given->empty()) continue;
    if (number >= given->size() || (*given)[number].size() != bytes) {
      return "state " + std::to_string(number) + " needs " + std::to_string(bytes) +
             " bytes";
    }
    (*values)[i] = (*given)[number++];
  }
  return "";
}

bool RunUntiled(const SimulateOptions& options, SimulateResult* result) {
  const Aligned bytes(options.graph, options.graph_size);
  Graph graph;
  std::string error = ReadGraph(bytes.data(), bytes.size(), &graph);
  graph.host_functions = options.host_functions;
  graph.cancel = options.cancel;
  if (!error.empty()) return Fail({"graph", error}, result);
  if (const Trap trap = CheckMemory(graph, options.max_memory_bytes, 0)) {
    return Fail(trap, result);
  }
  Values values(graph.tensors.size());
  error = FillConstants(graph, options.data_dir, &values);
  if (!error.empty()) return Fail({"graph", error}, result);
  error = FillInputs(graph, options.seed, options.inputs, &values);
  if (!error.empty()) return Fail({"input", error}, result);
  error = FillStates(graph, options, &values);
  if (!error.empty()) return Fail({"input", error}, result);
  std::vector<int32_t> parameters;
  error = ParameterValues(graph, options, &parameters);
  if (!error.empty()) return Fail({"input", error}, result);
  error = RunLayers(graph, parameters, &values);
  if (!error.empty()) return Fail({"graph", error}, result);
  if (options.state_tensors != nullptr) {
    options.state_tensors->clear();
    for (size_t i = 0; i < values.size(); ++i) {
      if (graph.tensors[i].kind == kState) options.state_tensors->push_back(values[i]);
    }
  }
  CollectOutputs(graph, values, result);
  return true;
}

// Returns running out of memory, and a cancelled run, as an error.
template <typename F>
SimulateResult Guarded(const SimulateOptions& options, F&& f) {
  SimulateResult result;
  try {
    result.ok = f(options, &result);
  } catch (const std::bad_alloc&) {
    Fail({"memory", "out of memory"}, &result);
  } catch (const std::length_error&) {
    Fail({"memory", "out of memory"}, &result);
  } catch (const CancelledRun&) {
    Fail({"cancelled", "cancelled"}, &result);
  }
  return result;
}

}  // namespace

SimulateResult Simulate(const SimulateOptions& options) {
  return Guarded(options, Run);
}

TogetherResult SimulateTogether(const std::vector<SimulateOptions>& streams,
                                const std::vector<Turn>& turns) {
  TogetherResult result;
  try {
    result.ok = RunTogether(streams, turns, &result);
  } catch (const std::bad_alloc&) {
    result.error = "out of memory";
  } catch (const std::length_error&) {
    result.error = "out of memory";
  } catch (const CancelledRun&) {
    result.error = "cancelled";
  }
  return result;
}

SimulateResult RunReference(const SimulateOptions& options) {
  return Guarded(options, RunUntiled);
}

}  // namespace sluice_sim
