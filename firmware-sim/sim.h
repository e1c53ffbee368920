// SPDX-License-Identifier: Apache-2.0
// The second judge: executes a plan's stream, cycle by cycle and byte by byte.
//
// Input    bytes of graph.fbs, hardware.fbs and plan.fbs, all untrusted
// Output   cycles, traffic and, when functional, output bytes compared with an untiled
//          run of the graph layer by layer
// Errors   ok = false, a code, a sentence and the instruction; never a crash, never an
//          abort
// Cost     events: instructions * engines; functional: the operators' work, twice
// Source   execution model of stream.h, arithmetic of ops.h; no code of the scheduler
#ifndef SLUICE_FIRMWARE_SIM_SIM_H_
#define SLUICE_FIRMWARE_SIM_SIM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sluice_sim {

constexpr uint32_t kNowhere = 0xffffffffu;

// One executed instruction. Times in cycles, [start, end).
struct TraceEvent {
  uint32_t engine = 0;
  uint32_t node = kNowhere;  // of a tile or a FORWARD
  uint32_t instance = 0;
  uint32_t visit = 0;         // visits of instances before this one
  uint32_t instruction = 0;   // index in the instance's body
  uint32_t opcode = 0;        // SLUICE_OPCODE_
  uint32_t op = 0;            // SLUICE_OP_ of a tile, else 0
  uint32_t layer = kNowhere;  // graph layer, when known
  uint64_t start = 0, end = 0;
  uint64_t bytes = 0;  // moved by a transfer
};

// A whole tensor of a layer that the host executes: dense elements.
struct HostOperand {
  int dtype = 0;                          // SLUICE_DTYPE_
  std::array<int64_t, 4> extent{};        // N H W C
  std::vector<uint8_t>* bytes = nullptr;  // of outputs: sized, zeros
  const uint32_t* cancel = nullptr;       // of the run: SimulateOptions
};
// Fills the outputs; answers "", or why it cannot.
using HostFunction = std::function<std::string(
    const std::vector<HostOperand>& inputs, const std::vector<HostOperand>& outputs)>;

struct SimulateOptions {
  const void* graph = nullptr;
  size_t graph_size = 0;
  const void* hardware = nullptr;
  size_t hardware_size = 0;
  const void* plan = nullptr;
  size_t plan_size = 0;

  bool functional = false;
  // Not 0: seed of a random execution order that respects only the engines' lists and
  // waits. The cycles of such a run have no meaning.
  uint64_t interleaving = 0;
  // Conflicting accesses that no wait orders end the run. If false, they take effect.
  bool check_races = true;
  // Runs the stream a second time with links that carry one transfer at a time
  // (links.h).
  bool contention = false;
  uint64_t seed = 0;  // of inputs, by the rule of ops.h
  // Dense bytes of every input tensor, in tensor order, instead of seeded ones.
  const std::vector<std::vector<uint8_t>>* inputs = nullptr;
  std::string data_dir = ".";  // directory of external constants
  // Bytes of the STATE region, in and out; empty or nullptr: the initial values.
  std::vector<uint8_t>* state = nullptr;
  // For RunReference: dense bytes of the state tensors, in tensor order, in and out.
  std::vector<std::vector<uint8_t>>* state_tensors = nullptr;
  std::vector<int32_t> parameters;  // of the graph; missing ones are at their minimum
  // Functions of OPAQUE layers by name; they take precedence over host_functions.h.
  const std::map<std::string, HostFunction>* host_functions = nullptr;
  std::function<void(const TraceEvent&)> trace;
  // With contention: the events of the second run.
  std::function<void(const TraceEvent&)> contended_trace;
  const uint32_t* cancel = nullptr;  // another thread sets it not 0: the run ends
  uint64_t max_memory_bytes = uint64_t{16} << 30;  // refuses plans that need more
};

// A value of the plan's report next to the value that the run measured.
struct Claim {
  const char* field;  // of Report in plan.fbs
  uint64_t claimed = 0, measured = 0;
};

// error_code: graph hardware plan stream input memory cancelled | bounds alignment readonly
// overlap undefined race region tile transfer index wait deadlock host output |
// mismatch
struct SimulateResult {
  bool ok = false;
  std::string error_code, error;
  uint32_t error_instruction = kNowhere;  // index in the instance's body
  uint32_t error_instance = kNowhere;
  uint32_t error_engine = kNowhere;

  // Of all engines of the machine: "dma" or the queues' names, "host", "compute 0",
  // "send 0", ...
  std::vector<std::string> engine_names;

  uint64_t cycles = 0, predicted_cycles = 0;
  uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  uint64_t forward_bytes = 0;
  uint64_t instructions = 0;
  uint64_t tiles = 0, macs = 0, vector_ops = 0;  // computed
  uint64_t host_bytes = 0;                       // read and written by HOST calls
  uint64_t peak_buffer_bytes = 0;  // highest scratchpad byte in use + 1, of any node
  // Claims of a completed run; without latency_cycles if `interleaving` is set.
  std::vector<Claim> claims;

  // With contention only: cycles <= contended_cycles <= cycles + link_wait_cycles.
  uint64_t contended_cycles = 0;
  uint64_t link_waits = 0, link_wait_cycles = 0;  // delayed transfers, sum of delays
  uint64_t busiest_link_cycles = 0;

  // Functional runs only; states count as outputs. Mismatches set ok to false.
  uint64_t compared_bytes = 0, mismatches = 0;
  uint64_t output_fnv1a = 0;  // of all output tensors' dense bytes, in tensor order
  std::vector<uint64_t> output_hashes;         // per output tensor
  std::vector<uint32_t> output_tensors;        // graph tensors
  std::vector<std::vector<uint8_t>> outputs;   // dense bytes, from the stream
  std::vector<std::vector<uint8_t>> expected;  // dense bytes, untiled
};

SimulateResult Simulate(const SimulateOptions& options);

// Visits [first, end) of one stream; all engines are drained before and after.
struct Turn {
  uint32_t stream = 0;
  uint32_t first_visit = 0, end_visit = 0;
};

struct TogetherResult {
  bool ok = false;
  std::string error;
  uint32_t error_stream = kNowhere;
  uint64_t cycles = 0;  // from the first turn's start to the last one's end
  std::vector<uint64_t> turn_cycles;  // of each turn
  // Per stream, as if it ran alone; cycles: the end of its last turn.
  std::vector<SimulateResult> streams;
};

// Runs several streams by turns on one machine of one node, with one scratchpad for all
// and DRAM regions for each. A scratchpad byte that another stream wrote last is
// undefined.
TogetherResult SimulateTogether(const std::vector<SimulateOptions>& streams,
                                const std::vector<Turn>& turns);

// Runs only the untiled graph: fills outputs, output_tensors, output_hashes,
// output_fnv1a.
// Needs graph, inputs or seed, data_dir; no hardware, no plan.
SimulateResult RunReference(const SimulateOptions& options);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_SIM_H_
