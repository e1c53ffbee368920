// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <stdexcept>

#include "machine.h"
#include "memory.h"
#include "reference.h"
#include "sim.h"
#include "walker.h"
#include "wire.h"

namespace sluice_sim {
namespace {

// A copy of the caller's bytes at an address that flatbuffers may read from.
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

bool Fail(const char* code, const std::string& text, SimulateResult* result) {
  result->ok = false;
  result->error_code = code;
  result->error = text;
  return false;
}

std::vector<int32_t> ParameterValues(const Graph& graph,
                                     const SimulateOptions& options) {
  std::vector<int32_t> values = graph.parameter_min;
  for (size_t i = 0; i < values.size() && i < options.parameters.size(); ++i) {
    values[i] = options.parameters[i];
  }
  return values;
}

bool FitsMemory(const Graph& graph, const SimulateOptions& options, uint64_t more,
                SimulateResult* result) {
  uint64_t need = more;
  for (const Tensor& t : graph.tensors) {
    need += static_cast<uint64_t>(t.bytes);
    if (need > options.max_memory_bytes) {
      return Fail("memory", "needs more than max_memory_bytes", result);
    }
  }
  return true;
}

void Collect(const Graph& graph, const Values& values, SimulateResult* result) {
  result->output_fnv1a = Fnv1a64(nullptr, 0);
  for (uint32_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].kind != kOutput) continue;
    const Bytes& v = values[i];
    result->output_tensors.push_back(i);
    result->output_hashes.push_back(Fnv1a64(v.data(), v.size()));
    result->output_fnv1a = Fnv1a64(v.data(), v.size(), result->output_fnv1a);
    result->outputs.push_back(v);
  }
}

class Simulation {
 public:
  Simulation(const SimulateOptions& options, SimulateResult* result)
      : options_(options),
        result_(*result),
        graph_bytes_(options.graph, options.graph_size),
        hardware_bytes_(options.hardware, options.hardware_size),
        plan_bytes_(options.plan, options.plan_size) {}

  bool Run() {
    if (!Open()) return false;
    uint64_t region_bytes[SLUICE_REGION_COUNT];
    uint64_t total = 0;
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      region_bytes[r] = sluice_walk_region_bytes(&walker_, r);
      const uint64_t copies = r == SLUICE_REGION_GBUF ? nodes() : 1;
      if (region_bytes[r] > options_.max_memory_bytes / (2 * copies)) {
        total = options_.max_memory_bytes;
      } else {
        total += 2 * copies * region_bytes[r];
      }
    }
    if (options_.functional && !FitsMemory(graph_, options_, total, &result_)) {
      return false;
    }
    Memory memory(nodes(), region_bytes, options_.functional);
    Machine machine(walker_, graph_, hardware_, &memory, options_.functional);
    if (options_.functional && !Prepare(&memory)) return false;
    if (!Walk(&machine)) return false;
    if (options_.functional && !Judge(&memory)) return false;
    return true;
  }

 private:
  uint32_t nodes() const { return hardware_.node_cols * hardware_.node_rows; }

  bool Open() {
    std::string error = ReadGraph(graph_bytes_.data(), graph_bytes_.size(), &graph_);
    if (!error.empty()) return Fail("graph", error, &result_);
    error = ReadHardware(hardware_bytes_.data(), hardware_bytes_.size(), &hardware_);
    if (!error.empty()) return Fail("hardware", error, &result_);
    error =
        ReadPlan(plan_bytes_.data(), plan_bytes_.size(), graph_.tensors.size(), &plan_);
    if (!error.empty()) return Fail("plan", error, &result_);
    if (plan_.graph_hash != graph_.hash) {
      return Fail("plan", "made for another graph", &result_);
    }
    if (plan_.hardware_hash != hardware_.hash) {
      return Fail("plan", "made for another hardware descriptor", &result_);
    }
    result_.predicted_cycles = plan_.predicted_cycles;
    sluice_walk_error_t where;
    if (sluice_walk_open(&walker_, plan_.image, plan_.image_size, &where) !=
        SLUICE_WALK_OK) {
      std::string text = std::string(sluice_walk_status_name(where.status));
      if (where.block != SLUICE_NONE) text += ", block " + std::to_string(where.block);
      return Fail("stream", text + ", record " + std::to_string(where.index), &result_);
    }
    if (walker_.header.node_cols != hardware_.node_cols ||
        walker_.header.node_rows != hardware_.node_rows) {
      return Fail("stream", "another number of nodes than the hardware's", &result_);
    }
    if (sluice_walk_region_bytes(&walker_, SLUICE_REGION_GBUF) >
        hardware_.scratchpad_bytes) {
      return Fail("stream", "needs more scratchpad than there is", &result_);
    }
    FindBlocks();
    return true;
  }

  void FindBlocks() {
    uint32_t first = 0;
    for (uint32_t b = 0; b < walker_.header.block_count; ++b) {
      sluice_block_t block;
      std::memcpy(
          &block,
          walker_.image + walker_.header.block_offset + size_t{b} * sizeof block,
          sizeof block);
      first_debug_.push_back(first);
      first += block.instruction_count;
    }
  }

  // Where tensor i lies, as an access; false and a failure when it does not fit.
  bool Locate(const Memory& memory, uint32_t i, Access* access) {
    const Tensor& t = graph_.tensors[i];
    const Place& p = plan_.places[i];
    const std::string who = "place of tensor " + std::to_string(i);
    const int wanted = t.kind == kInput      ? SLUICE_REGION_INPUT
                       : t.kind == kOutput   ? SLUICE_REGION_OUTPUT
                       : t.kind == kConstant ? SLUICE_REGION_CONST
                                             : SLUICE_REGION_STATE;
    if (p.region != wanted) return Fail("plan", who + ": wrong region", &result_);
    access->role = "tensor";
    access->space = memory.Space(static_cast<uint32_t>(p.region), 0);
    sluice_walk_operand_t& o = access->operand;
    o.region = static_cast<uint32_t>(p.region);
    o.dtype = static_cast<uint32_t>(t.dtype);
    o.offset = p.offset;
    o.bytes = static_cast<uint64_t>(t.bytes);
    unsigned __int128 span = static_cast<unsigned __int128>(DtypeBytes(t.dtype));
    for (int a = 0; a < 4; ++a) {
      o.extent[a] = static_cast<uint32_t>(t.extent[a]);
      o.stride[a] = static_cast<uint32_t>(p.stride[a]);
      span += static_cast<unsigned __int128>(t.extent[a] - 1) *
              static_cast<unsigned __int128>(p.stride[a]);
    }
    if (span > (uint64_t{1} << 60)) return Fail("plan", who + ": strides", &result_);
    o.span = static_cast<uint64_t>(span);
    const Trap trap = memory.Check(*access);
    if (trap) return Fail("plan", who + ": " + trap.text, &result_);
    return true;
  }

  bool Prepare(Memory* memory) {
    values_.resize(graph_.tensors.size());
    std::string error = FillConstants(graph_, options_.data_dir, &values_);
    if (!error.empty()) return Fail("graph", error, &result_);
    error = FillInputs(graph_, options_.seed, options_.inputs, &values_);
    if (!error.empty()) return Fail("input", error, &result_);
    if (!PrepareState(memory)) return false;
    for (uint32_t i = 0; i < graph_.tensors.size(); ++i) {
      const int kind = graph_.tensors[i].kind;
      if (kind != kInput && kind != kConstant && kind != kState) continue;
      const bool nowhere = plan_.places[i].region == 255;
      const size_t bytes = static_cast<size_t>(graph_.tensors[i].bytes);
      if (nowhere) {  // never touched by the stream
        if (kind == kState) values_[i].assign(bytes, 0);
        continue;
      }
      Access access;
      if (!Locate(*memory, i, &access)) return false;
      const Box place = memory->At(access);
      if (kind == kState) {
        values_[i].resize(bytes);
        CopyBox(place, DenseBox(values_[i].data(), place.dtype, place.extent));
      } else {
        CopyBox(DenseBox(values_[i].data(), place.dtype, place.extent), place);
        memory->Define(access);
      }
    }
    return true;
  }

  bool PrepareState(Memory* memory) {
    const uint32_t space = memory->Space(SLUICE_REGION_STATE, 0);
    Bytes* state = memory->storage(space);
    if (options_.state != nullptr && !options_.state->empty()) {
      if (options_.state->size() != state->size()) {
        return Fail("input", "the state has another size than the plan's", &result_);
      }
      *state = *options_.state;
    } else {
      std::fill(state->begin(), state->end(), uint8_t{0});
    }
    memory->Define(space, 0, state->size());
    return true;
  }

  bool FailAt(const Trap& trap, const Flight& flight) {
    result_.error_engine = flight.engine;
    result_.error_instance = flight.instance;
    result_.error_instruction = flight.instruction;
    return Fail(trap.code.c_str(), trap.text, &result_);
  }

  // Reads and writes of instructions that overlap in time must not meet.
  Trap Race(const Flight& a) const {
    for (const Flight& b : flights_) {
      for (const Access& x : a.accesses) {
        for (const Access& y : b.accesses) {
          if ((!x.write && !y.write) || !Overlap(x, y)) continue;
          return {"race", std::string(x.role) + " meets " + y.role +
                              " of instruction " + std::to_string(b.instruction) +
                              " that " + EngineName(b.engine) + " is executing"};
        }
      }
    }
    return {};
  }

  bool StartReady(Machine* machine, bool* any_left) {
    *any_left = false;
    for (uint32_t e = 0; e < walker_.engines; ++e) {
      sluice_instruction_t instruction;
      if (busy_[e] || !sluice_walk_next(&walker_, cursors_.data(), e, &instruction)) {
        continue;
      }
      *any_left = true;
      Flight flight;
      flight.engine = e;
      flight.instance = cursors_[e].instance;
      flight.instruction = sluice_walk_position(&walker_, cursors_.data(), e);
      flight.start = now_;
      const int holds = sluice_walk_waits_hold(&walker_, cursors_.data(), e, nullptr);
      if (holds == 0) continue;
      if (holds < 0) {
        return FailAt({"wait", "names an instance or an export that does not exist"},
                      flight);
      }
      Trap trap = machine->Start(instruction, &flight);
      if (!trap) trap = Race(flight);
      if (trap) return FailAt(trap, flight);
      busy_[e] = true;
      flights_.push_back(std::move(flight));
    }
    return true;
  }

  void CompleteEarliest(Machine* machine) {
    now_ = flights_[0].end;
    for (const Flight& f : flights_) now_ = std::min(now_, f.end);
    for (size_t i = 0; i < flights_.size();) {
      if (flights_[i].end != now_) {
        ++i;
        continue;
      }
      const Flight& f = flights_[i];
      machine->Complete(f);
      sluice_walk_complete(&walker_, cursors_.data(), f.engine);
      busy_[f.engine] = false;
      Count(f);
      flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void Count(const Flight& f) {
    ++result_.instructions;
    if (f.opcode == SLUICE_OPCODE_LOAD) result_.dram_read_bytes += f.bytes;
    if (f.opcode == SLUICE_OPCODE_STORE) result_.dram_write_bytes += f.bytes;
    if (f.opcode == SLUICE_OPCODE_FORWARD) result_.forward_bytes += f.bytes;
    if (!options_.trace) return;
    TraceEvent event{f.engine, f.instance, f.instruction, f.opcode, f.op,
                     f.layer,  f.start,    f.end,         f.bytes};
    sluice_instance_t instance;
    std::memcpy(&instance,
                walker_.image + walker_.header.instance_offset +
                    size_t{f.instance} * sizeof instance,
                sizeof instance);
    const size_t debug = size_t{first_debug_[instance.block]} + f.instruction;
    if (event.layer == kNowhere && debug < plan_.debug_layer.size()) {
      event.layer = plan_.debug_layer[debug];
    }
    options_.trace(event);
  }

  bool Walk(Machine* machine) {
    cursors_.resize(walker_.engines);
    busy_.assign(walker_.engines, false);
    sluice_walk_start(&walker_, cursors_.data());
    while (true) {
      bool any_left = false;
      if (!StartReady(machine, &any_left)) return false;
      result_.cycles = now_;
      if (flights_.empty()) return any_left ? Deadlock() : true;
      CompleteEarliest(machine);
    }
  }

  bool Deadlock() {
    std::string text;
    for (uint32_t e = 0; e < walker_.engines; ++e) {
      sluice_wait_t wait;
      sluice_instruction_t instruction;
      if (!sluice_walk_next(&walker_, cursors_.data(), e, &instruction)) continue;
      (void)sluice_walk_waits_hold(&walker_, cursors_.data(), e, &wait);
      const uint32_t at = sluice_walk_position(&walker_, cursors_.data(), e);
      if (text.empty()) {
        result_.error_engine = e;
        result_.error_instance = cursors_[e].instance;
        result_.error_instruction = at;
      }
      text += (text.empty() ? "" : "; ") + EngineName(e) + " stands at instruction " +
              std::to_string(at) + " of instance " +
              std::to_string(cursors_[e].instance) + ", waits for ";
      text += wait.instance == 0
                  ? std::to_string(wait.count) + " of " + EngineName(wait.engine)
                  : "export " + std::to_string(wait.count) + " of instance " +
                        std::to_string(static_cast<int64_t>(cursors_[e].instance) +
                                       wait.instance);
    }
    return Fail("deadlock", text, &result_);
  }

  // Reads the outputs back and compares them with the untiled run.
  bool Judge(Memory* memory) {
    Values streamed(graph_.tensors.size());
    for (uint32_t i = 0; i < graph_.tensors.size(); ++i) {
      if (graph_.tensors[i].kind != kOutput) continue;
      Access access;
      if (!Locate(*memory, i, &access)) return false;
      if (const Trap trap = memory->CheckDefined(access)) {
        return Fail("output", "tensor " + std::to_string(i) + ": " + trap.text,
                    &result_);
      }
      const Box place = memory->At(access);
      streamed[i].resize(static_cast<size_t>(graph_.tensors[i].bytes));
      CopyBox(place, DenseBox(streamed[i].data(), place.dtype, place.extent));
    }
    Collect(graph_, streamed, &result_);
    if (options_.state != nullptr) {
      *options_.state = *memory->storage(memory->Space(SLUICE_REGION_STATE, 0));
    }
    const std::string error =
        RunLayers(graph_, ParameterValues(graph_, options_), &values_);
    if (!error.empty()) return Fail("graph", error, &result_);
    for (uint32_t i : result_.output_tensors) {
      if (values_[i].size() != streamed[i].size()) {
        return Fail("graph", "output " + std::to_string(i) + " is never written",
                    &result_);
      }
      for (size_t b = 0; b < streamed[i].size(); ++b) {
        result_.mismatches += streamed[i][b] != values_[i][b];
      }
      result_.compared_bytes += streamed[i].size();
      result_.expected.push_back(values_[i]);
    }
    if (result_.mismatches == 0) return true;
    return Fail("mismatch",
                std::to_string(result_.mismatches) + " of " +
                    std::to_string(result_.compared_bytes) +
                    " output bytes differ from the untiled run",
                &result_);
  }

  const SimulateOptions& options_;
  SimulateResult& result_;
  Aligned graph_bytes_, hardware_bytes_, plan_bytes_;
  Graph graph_;
  Hardware hardware_;
  Plan plan_;
  sluice_walker_t walker_{};
  std::vector<uint32_t> first_debug_;  // per block, into plan_.debug_layer
  Values values_;                      // of the untiled run
  std::vector<sluice_walk_cursor_t> cursors_;
  std::vector<bool> busy_;
  std::vector<Flight> flights_;
  uint64_t now_ = 0;
};

// Runs f; running out of memory is an answer, not a crash.
template <typename F>
SimulateResult Guarded(F&& f) {
  SimulateResult result;
  try {
    result.ok = f(&result);
  } catch (const std::bad_alloc&) {
    Fail("memory", "out of memory", &result);
  } catch (const std::length_error&) {
    Fail("memory", "out of memory", &result);
  }
  return result;
}

}  // namespace

SimulateResult Simulate(const SimulateOptions& options) {
  return Guarded([&](SimulateResult* result) {
    Simulation simulation(options, result);
    return simulation.Run();
  });
}

SimulateResult RunReference(const SimulateOptions& options) {
  return Guarded([&](SimulateResult* result) {
    const Aligned bytes(options.graph, options.graph_size);
    Graph graph;
    std::string error = ReadGraph(bytes.data(), bytes.size(), &graph);
    if (!error.empty()) return Fail("graph", error, result);
    if (!FitsMemory(graph, options, 0, result)) return false;
    Values values(graph.tensors.size());
    error = FillConstants(graph, options.data_dir, &values);
    if (!error.empty()) return Fail("graph", error, result);
    error = FillInputs(graph, options.seed, options.inputs, &values);
    if (!error.empty()) return Fail("input", error, result);
    for (size_t i = 0; i < values.size(); ++i) {
      if (graph.tensors[i].kind == kState) {
        values[i].assign(static_cast<size_t>(graph.tensors[i].bytes), 0);
      }
    }
    error = RunLayers(graph, ParameterValues(graph, options), &values);
    if (!error.empty()) return Fail("graph", error, result);
    Collect(graph, values, result);
    return true;
  });
}

}  // namespace sluice_sim
