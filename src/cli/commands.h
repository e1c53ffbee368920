// SPDX-License-Identifier: Apache-2.0
// The tool's commands. Each prints its report, or with json one object, to stdout.
//
// Input    options as parsed from the command line
// Errors   Failure; main prints it and exits with its code
#ifndef SLUICE_CLI_COMMANDS_H_
#define SLUICE_CLI_COMMANDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sluice::cli {

struct ImportCommand {
  std::string model, output;
  bool allow_opaque = false;
  bool training = false;     // one step of it
  bool keep_unread = false;  // compute also what no layer reads
  uint64_t opaque_cycles = 0;
  std::map<std::string, int64_t> dims;  // dynamic dimensions: "batch" or "input:0"
  std::map<std::string, std::string> states;  // outputs of the run before, by input
  bool find_states = false;
  bool in_place = false;  // the graph refers to the model's file
  std::string ranges;     // JSON of a model of floats
  std::string hardware;   // the machine that the graph is for; empty: any
  bool json = false;
};
void Run(const ImportCommand& command);

struct HardwareCommand {
  std::string name;  // empty with list
  bool list = false;
  bool check = false;
  std::string output;  // binary descriptor; empty = print JSON
  bool json = false;
};
void Run(const HardwareCommand& command);

struct ScheduleCommand {
  std::string graph, hardware, output, resume, layers, notation;
  uint64_t budget_bytes = 0;
  uint64_t deadline_ns = 0;
  uint64_t iterations = 0;
  uint64_t seed = 0;
  uint64_t memory_bytes = 0;
  uint64_t max_block_cycles = 0;
  uint64_t prove = 0;  // plans that the exact search tries at most
  std::string objective = "edp";
  std::string solver = "default";
  std::string granularity = "tile";
  std::string costs;  // the target whose lowering's costs tiles have
  bool plan_only = false;
  bool explain = false;
  bool progress = false;
  bool json = false;
};
void Run(const ScheduleCommand& command);

struct RescheduleCommand {
  std::string plan, graph, hardware, output;
  uint64_t budget_bytes = 0;
  uint64_t deadline_ns = 0;
  uint64_t iterations = 0;
  uint64_t seed = 0;
  std::string objective = "edp";
  bool minimise_changes = false;
  bool plan_only = false;
  bool json = false;
};
void Run(const RescheduleCommand& command);

struct ZooCommand {
  std::string name, output;
  int32_t batch = 1;
  int32_t seq = 0, context = 0, blocks = 0;  // 0 = the network's own
  bool list = false;
  bool training = false;     // one step of it
  bool skip_unread = false;  // pixels that no layer reads are left out
  bool json = false;
};
void Run(const ZooCommand& command);

struct SegmentsCommand {
  std::string graph, hardware;
  std::string solver = "chain";
  std::string objective = "energy";
  uint32_t top_k = 0, stages = 0, word_bytes = 0;
  uint64_t prices = 0;
  uint64_t deadline_ns = 0;
  bool proof = false, no_spatial = false, no_temporal = false;
  bool directives = false;
  bool json = false;
};
void Run(const SegmentsCommand& command);

struct VerifyCommand {
  std::string plan, graph, hardware;
  bool json = false;
};
void Run(const VerifyCommand& command);

struct LowerCommand {
  std::string plan, graph, target, output;
  uint64_t seed = 0;
  bool scale = false;    // the machine scales sums where it can
  bool to_rows = false;  // and leaves the bytes in its scratchpad
  bool json = false;
};
void Run(const LowerCommand& command);

struct SimulateCommand {
  std::string plan, graph, hardware, trace;
  bool functional = false;
  bool contention = false;
  uint64_t interleaving = 0;
  uint64_t seed = 0;
  uint32_t runs = 1;
  std::vector<std::string> inputs, outputs;  // files, in the graph's order
  std::vector<int32_t> parameters;
  bool json = false;
};
void Run(const SimulateCommand& command);

struct PlotCommand {
  std::string plan, graph, hardware, output;
  uint64_t from = 0, to = 0;  // cycles; to 0 = the end
  uint32_t width = 1400;      // pixels
  bool json = false;
};
void Run(const PlotCommand& command);

struct ReportCommand {
  std::string plan, graph, hardware, output;
  std::string against, against_graph, against_hardware;  // a second plan, or empty
  bool json = false;
};
void Run(const ReportCommand& command);

struct MapCommand {
  std::vector<std::string> what;   // a graph file, or M N K
  std::string hardware, timeloop;  // timeloop: folder to write, or empty
  std::string import;              // a mapping to read, or empty
  std::string solver;              // empty = best
  std::string objective = "energy", form = "reuse";
  std::string pe;             // empty: exact, or a nest where that is better
  std::string layer;          // of a graph: name, number or all
  std::vector<int32_t> tile;  // N H W K and perhaps C: from the scratchpad down
  std::vector<std::string> resident;
  std::vector<std::string> top;  // DIM=EXTENT
  std::vector<double> weights;   // of CoSA
  uint32_t from = 0;             // M N K: level that the operands lie in; 0 = DRAM
  bool bypass = false, wide = false, row_stationary = false, balance = false;
  bool json = false;
};
void Run(const MapCommand& command);

struct CurveCommand {
  std::string graph, hardware, output;
  std::string objective = "latency";
  uint32_t points = 16;
  uint64_t budget_bytes = 0, deadline_ns = 0, iterations = 0, seed = 0;
  bool json = false;
};
void Run(const CurveCommand& command);

struct CoscheduleCommand {
  std::vector<std::string> graphs;
  std::string hardware, output;
  std::string share = "auto";
  std::vector<uint32_t> weights;
  std::vector<std::string> reserved;  // MODEL:OFFSET:BYTES
  uint64_t max_turn_cycles = 0;
  uint32_t points = 0;
  uint64_t budget_bytes = 0, deadline_ns = 0, iterations = 0, seed = 0;
  bool simulate = false, functional = false;
  bool plan_only = false;
  bool json = false;
};
void Run(const CoscheduleCommand& command);

struct EvaluateCommand {
  std::string graph, hardware, schedule, output;
  uint64_t budget_bytes = 0;
  bool json = false;
};
void Run(const EvaluateCommand& command);
std::string EvaluateHelp();  // the form of a schedule

struct DseCommand {
  std::string grid, output, svg;
  std::string metric = "edp";
  unsigned jobs = 0;               // 0 = as many as there are cores
  std::string shard;               // "2/8"; empty = all points
  std::vector<std::string> merge;  // tables whose rows are taken over
  bool json = false;
};
void Run(const DseCommand& command);
std::string DseHelp();  // the form of a grid

struct DoctorCommand {
  bool json = false;
};
void Run(const DoctorCommand& command);

struct ManualCommand {
  const CLI::App* app = nullptr;  // what to describe
};
void Run(const ManualCommand& command);

struct CompletionCommand {
  std::string shell;  // bash, zsh, fish
  const CLI::App* app = nullptr;
};
void Run(const CompletionCommand& command);

struct PlaceCommand {
  std::string table, output, picture;
  uint64_t capacity = 0;
  bool has_capacity = false;
  bool smallest = false, fast = false;
  uint64_t bank_bytes = 0;
  std::vector<std::string> reserved;  // LOWER:UPPER:OFFSET:SIZE
  uint64_t max_nodes = 0;
  uint64_t deadline_ns = 10'000'000'000;
  bool json = false;
};
void Run(const PlaceCommand& command);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_COMMANDS_H_
