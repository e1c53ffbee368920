// SPDX-License-Identifier: Apache-2.0
// The grammar of the command line: commands, options, and the fields that take their
// values.
#include "cli/command_line.h"

#include <algorithm>
#include <cstdlib>

#include "cli/examples.h"
#include "cli/quantities.h"
#include "cli/solvers.h"
#include "sluice/sluice.h"

namespace sluice::cli {
namespace {

using Parse = bool (*)(const std::string&, uint64_t*);

// An option whose text is a quantity: "BYTES", "TIME".
void AddQuantity(CLI::App* app, const std::string& name, uint64_t* value, Parse parse,
                 const std::string& help, const std::string& form) {
  app->add_option_function<std::string>(
         name,
         [=](const std::string& text) {
           if (!parse(text, value)) {
             const std::string like = form == "TIME" ? "50ms, 2s" : "64K, 1M";
             throw CLI::ValidationError(
                 name, text + " is not of the form " + form + " (" + like + ")");
           }
           if (*value == 0) {
             throw CLI::ValidationError(
                 name, "must be above zero; leave it out for no limit of your own");
           }
         },
         help)
      ->type_name(form);
}

void AddJson(CLI::App* app, bool* json) {
  app->add_flag("--json", *json, "print one JSON object");
}

// The last options of most commands, and what calls them.
template <typename Command>
void AddJsonAndRun(CLI::App* sub, Command* command) {
  AddJson(sub, &command->json);
  sub->callback([command] { Run(*command); });
}

// "batch=4"
void AddDim(const std::string& text, std::map<std::string, int64_t>* dims) {
  const size_t at = text.rfind('=');
  uint64_t value = 0;
  if (at == std::string::npos || at == 0 || !ParseBytes(text.substr(at + 1), &value) ||
      value < 1 || value > INT32_MAX) {
    throw CLI::ValidationError("--dim", text + " is not of the form NAME=VALUE");
  }
  (*dims)[text.substr(0, at)] = static_cast<int64_t>(value);
}

// "past=present"
void AddState(const std::string& text, std::map<std::string, std::string>* states) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw CLI::ValidationError("--state", text + " is not of the form INPUT=OUTPUT");
  (*states)[text.substr(0, at)] = text.substr(at + 1);
}

// What of a model is kept over runs, and how its floats are quantised.
void AddStatesAndRanges(CLI::App* sub, ImportCommand* command) {
  sub->add_option_function<std::vector<std::string>>(
         "--state",
         [command](const std::vector<std::string>& list) {
           for (const std::string& text : list) AddState(text, &command->states);
         },
         "an input that holds what an output was in the run before, as a cache; "
         "repeat for more")
      ->type_name("INPUT=OUTPUT");
  sub->add_flag(
      "--states", command->find_states,
      "such pairs by their names: past and present, in and out, prev and next, "
      "old and new");
  sub->add_flag(
      "--in-place", command->in_place,
      "TensorFlow Lite: the graph refers to large constants in the model's file, "
      "which stays beside it");
  sub->add_option("--ranges", command->ranges,
                  "quantise a model of floats by the ranges of its tensors: JSON, "
                  "{\"NAME\": [MIN, MAX], ...}")
      ->type_name("FILE");
}

void AddImport(CLI::App* app, ImportCommand* command) {
  CLI::App* sub = app->add_subcommand("import", "a model file -> a graph file");
  sub->add_option("model", command->model, "MODEL.tflite or MODEL.onnx")->required();
  sub->add_option("-o,--output", command->output, "graph file to write")->required();
  sub->add_flag("--allow-opaque", command->allow_opaque,
                "leave operators that cannot be expressed to the host");
  sub->add_option("--opaque-cycles", command->opaque_cycles,
                  "cycles to declare for each of them (default: one per element)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 50));
  sub->add_flag("--training", command->training,
                "a training step: errors and gradients of the weights");
  sub->add_flag("--keep-unread", command->keep_unread,
                "compute also rows and columns that no layer reads");
  sub->add_option_function<std::vector<std::string>>(
         "--dim",
         [command](const std::vector<std::string>& list) {
           for (const std::string& text : list) AddDim(text, &command->dims);
         },
         "ONNX: the extent of a dynamic dimension, by name (batch=1) or by input "
         "and axis (image:0=1); repeat for more")
      ->type_name("NAME=VALUE");
  AddStatesAndRanges(sub, command);
  sub->add_option("--hw", command->hardware,
                  "for this machine (preset, FILE.json or FILE.slh): products that its "
                  "units do not take get a form that they do, with the same bytes");
  AddJsonAndRun(sub, command);
}

void AddHardware(CLI::App* app, HardwareCommand* command) {
  CLI::App* sub = app->add_subcommand("hw", "hardware descriptors");
  sub->add_option("name", command->name, "preset, FILE.json or FILE.slh; prints JSON");
  sub->add_flag("--list", command->list, "list the presets");
  sub->add_option("-o,--output", command->output,
                  "write the binary descriptor instead of printing");
  AddJson(sub, &command->json);
  CLI::App* check = sub->add_subcommand(
      "check", "the machine as it was understood, and what does not go together");
  check->add_option("name", command->name, "preset, FILE.json or FILE.slh")->required();
  AddJson(check, &command->json);
  check->callback([command] { command->check = true; });
  sub->callback([command] { Run(*command); });
}

// What a plan was made for, where its file does not say it or something else is meant.
void AddMadeFor(CLI::App* sub, std::string* graph, std::string* hardware) {
  sub->add_option("--graph", *graph, "graph file (default: the one in the plan file)");
  if (hardware == nullptr) return;
  sub->add_option(
      "--hw", *hardware,
      "preset, FILE.json or FILE.slh (default: the machine in the plan file)");
}

void AddPlanOnly(CLI::App* sub, bool* plan_only) {
  sub->add_flag(
      "--plan-only", *plan_only,
      "leave graph and machine out of the plan file; other commands then need "
      "--graph and --hw");
}

void AddHw(CLI::App* sub, std::string* hardware) {
  sub->add_option("--hw", *hardware, "preset, FILE.json or FILE.slh")->required();
}

void AddSchedule(CLI::App* app, ScheduleCommand* command) {
  CLI::App* sub =
      app->add_subcommand("schedule", "a graph on a machine -> a verified plan");
  sub->add_option("graph", command->graph, "graph file")->required();
  AddHw(sub, &command->hardware);
  sub->add_option("-o,--output", command->output, "plan file to write");
  AddPlanOnly(sub, &command->plan_only);
  AddQuantity(sub, "--budget", &command->budget_bytes, ParseBytes,
              "scratchpad to use, at most the machine's", "BYTES");
  AddQuantity(sub, "--deadline", &command->deadline_ns, ParseDuration,
              "stop improving after this time (50ms, 2s)", "TIME");
  sub->add_option("--iterations", command->iterations,
                  "stop improving after so many iterations");
  sub->add_option("--seed", command->seed,
                  "number that the search's random choices start from");
  sub->add_option("--resume", command->resume,
                  "plan file of this graph and machine to go on from");
  sub->add_option("--layers", command->layers,
                  "CSV file to write: what each layer takes, its limit, its bound");
  sub->add_flag("--explain", command->explain,
                "say of each segment its choice, its limit and the next best choice");
  sub->add_option("--prove", command->prove,
                  "try all plans of one or two layers, at most so many");
  sub->add_option("--notation", command->notation,
                  "JSON file to write: the plan's segments, to change and to give to "
                  "sluice evaluate");
  sub->add_flag("--progress", command->progress,
                "show the search on stderr, also where that is no terminal");
  sub->add_option("--max-block", command->max_block_cycles,
                  "cycles of a block at most: between blocks another stream may run");
  sub->add_option("--objective", command->objective,
                  "what to minimise; ed2p: energy times latency squared, and so on")
      ->check(CLI::IsMember({"edp", "latency", "energy", "ed2p", "ed3p", "ed4p"}))
      ->capture_default_str();
  sub->add_option(
         "--solver", command->solver,
         "default: tensors stay on chip and layers share loops where that costs "
         "less; fusion: layers fused in groups where that costs less; baseline: "
         "every layer by itself; cocco, soma: searches as published")
      ->check(CLI::IsMember(SolverNames()))
      ->capture_default_str();
  sub->add_option(
         "--granularity", command->granularity,
         "tile; operator: whole tensors, spilled and retrieved; recompute: the "
         "same, and a layer may run again instead")
      ->check(CLI::IsMember({"tile", "operator", "recompute"}))
      ->capture_default_str();
  sub->add_option(
      "--costs", command->costs,
      "tiles cost what the lowering for this machine takes, filling, draining "
      "and the way of sums out included: gemmini or vta");
  AddQuantity(sub, "--memory", &command->memory_bytes, ParseBytes,
              "cap on the scheduler's own memory", "BYTES");
  AddJsonAndRun(sub, command);
}

void AddReschedule(CLI::App* app, RescheduleCommand* command) {
  CLI::App* sub = app->add_subcommand(
      "reschedule",
      "a plan after graph, machine or budget have changed, made from the last plan");
  sub->add_option("plan", command->plan, "the last plan file")->required();
  AddMadeFor(sub, &command->graph, &command->hardware);
  sub->add_option("-o,--output", command->output, "plan file to write");
  AddPlanOnly(sub, &command->plan_only);
  sub->add_flag("--minimise-changes", command->minimise_changes,
                "keep orders, addresses and blocks wherever they hold");
  AddQuantity(sub, "--budget", &command->budget_bytes, ParseBytes,
              "scratchpad to use, at most the machine's", "BYTES");
  AddQuantity(sub, "--deadline", &command->deadline_ns, ParseDuration,
              "stop improving after this time (50ms, 2s)", "TIME");
  sub->add_option("--iterations", command->iterations, "improve by so many iterations");
  sub->add_option("--seed", command->seed,
                  "number that the search's random choices start from");
  sub->add_option("--objective", command->objective, "what to minimise")
      ->check(CLI::IsMember({"edp", "latency", "energy"}))
      ->capture_default_str();
  AddJsonAndRun(sub, command);
}

void AddZoo(CLI::App* app, ZooCommand* command) {
  CLI::App* sub = app->add_subcommand("zoo", "a known network -> a graph file");
  sub->add_option("name", command->name, "network");
  sub->add_flag("--list", command->list, "list the networks");
  sub->add_option("-o,--output", command->output, "graph file to write");
  sub->add_option("--batch", command->batch, "images or sequences at once")
      ->capture_default_str();
  sub->add_option("--seq", command->seq,
                  "tokens of a prefill (gpt2_small 512, xl 1024)");
  sub->add_option("--context", command->context, "positions of the KV cache (1024)");
  sub->add_option("--blocks", command->blocks,
                  "only the first so many blocks of a transformer");
  sub->add_flag("--training", command->training,
                "a training step: errors and gradients of the weights");
  sub->add_flag("--skip-unread", command->skip_unread,
                "leave out rows and columns that no layer reads, as imports do");
  AddJsonAndRun(sub, command);
}

void AddVerify(CLI::App* app, VerifyCommand* command) {
  CLI::App* sub = app->add_subcommand("verify", "judges a plan without running it");
  sub->add_option("plan", command->plan, "plan file")->required();
  AddMadeFor(sub, &command->graph, &command->hardware);
  AddJsonAndRun(sub, command);
}

void AddLower(CLI::App* app, LowerCommand* command) {
  CLI::App* sub = app->add_subcommand("lower", "a plan as commands of a real machine");
  sub->add_option("plan", command->plan, "plan file")->required();
  AddMadeFor(sub, &command->graph, nullptr);
  sub->add_option("--target", command->target, "gemmini or vta")->required();
  sub->add_option("-o,--output", command->output,
                  "its commands, a line each; FILE.bin: three words of 64 bits each");
  sub->add_flag(
      "--scale", command->scale,
      "the machine itself makes bytes of sums where it can; how many outputs differ");
  sub->add_flag("--to-rows", command->to_rows, "with --scale: to its scratchpad")
      ->needs("--scale");
  sub->add_option("--seed", command->seed, "with --scale: of the seeded inputs");
  AddJsonAndRun(sub, command);
}

void AddSimulate(CLI::App* app, SimulateCommand* command) {
  CLI::App* sub = app->add_subcommand("simulate", "executes a plan cycle by cycle");
  sub->add_option("plan", command->plan, "plan file")->required();
  AddMadeFor(sub, &command->graph, &command->hardware);
  sub->add_flag("--contention", command->contention,
                "run it once more with links that carry one transfer at a time");
  sub->add_option("--interleave", command->interleaving,
                  "seed of an order that obeys nothing but the waits, instead of time");
  sub->add_flag("--functional", command->functional,
                "compute with real bytes and compare with an untiled run");
  sub->add_option("--seed", command->seed,
                  "number that the seeded inputs are made from");
  sub->add_option("--runs", command->runs,
                  "runs in a row, each from the states that the one before has left; "
                  "run r has the inputs of seed + 1000 r")
      ->check(CLI::Range(1u, 1u << 20));
  sub->add_option(
      "--input", command->inputs,
      "a file for each input, in order, instead of seeded ones: its elements, "
      "or, named FILE.f32, floats that are quantised as the input says");
  sub->add_option("--output", command->outputs,
                  "with --functional: a file to write for each output, in order; "
                  "FILE.f32 gets the floats that its elements mean");
  sub->add_option("--parameter", command->parameters,
                  "values of the graph's parameters, in order (default: smallest)");
  sub->add_option("--trace", command->trace, "write a Chrome trace to this file");
  AddJsonAndRun(sub, command);
}

void AddPlot(CLI::App* app, PlotCommand* command) {
  CLI::App* sub = app->add_subcommand("plot", "a plan over time as a picture");
  sub->add_option("plan", command->plan, "plan file")->required();
  AddMadeFor(sub, &command->graph, &command->hardware);
  sub->add_option("-o,--output", command->output, "FILE.svg or FILE.html")->required();
  sub->add_option("--from", command->from, "first cycle to show");
  sub->add_option("--to", command->to, "cycle to stop at (default: the end)");
  sub->add_option("--width", command->width, "in pixels")->capture_default_str();
  AddJsonAndRun(sub, command);
}

void AddReport(CLI::App* app, ReportCommand* command) {
  CLI::App* sub = app->add_subcommand(
      "report", "a plan as a page to read: what limits it, over time, layer by layer");
  sub->add_option("plan", command->plan, "plan file")->required();
  AddMadeFor(sub, &command->graph, &command->hardware);
  sub->add_option("-o,--output", command->output, "FILE.html to write")->required();
  sub->add_option("--against", command->against,
                  "a second plan, shown beside the first");
  sub->add_option("--against-graph", command->against_graph,
                  "its graph (default: the one in its file, else the first plan's)");
  sub->add_option("--against-hw", command->against_hardware,
                  "its machine (default: the one in its file, else the first plan's)");
  AddJsonAndRun(sub, command);
}

void AddMap(CLI::App* app, MapCommand* command) {
  CLI::App* sub = app->add_subcommand(
      "map", "loop nests: of a graph's layers, or of P(M,N) += A(M,K) B(N,K)");
  sub->add_option("graph-or-extents", command->what, "a graph file, or M N K of a GEMM")
      ->required()
      ->expected(-1);
  AddHw(sub, &command->hardware);
  sub->add_option(
         "--solver", command->solver,
         "best (default: never worse than any other); exact (proved within its "
         "space), cosa, kapla, greedy (KAPLA as published), search")
      ->check(CLI::IsMember({"best", "exact", "cosa", "kapla", "greedy", "search"}));
  sub->add_option("--objective", command->objective, "what to minimise")
      ->check(CLI::IsMember({"energy", "edp", "latency"}))
      ->capture_default_str();
  sub->add_option("--pe", command->pe,
                  "M N K: use exactly or at most all PEs (default: exactly, unless a "
                  "loop nest of another form is better)")
      ->check(CLI::IsMember({"exact", "atmost"}));
  sub->add_option("--form", command->form,
                  "M N K: count accesses with reuse, or as published")
      ->check(CLI::IsMember({"reuse", "paper"}))
      ->capture_default_str();
  sub->add_option(
      "--from", command->from,
      "M N K: number of the level that the operands lie in (default: DRAM)");
  sub->add_option("--timeloop", command->timeloop,
                  "folder for problem, arch and mapping YAML of Timeloop 3; of several "
                  "layers a folder each, by number");
  sub->add_option("--import", command->import, "price this mapping of Timeloop");
  sub->add_option("--layer", command->layer, "layer by name or number, or all");
  sub->add_option(
         "--tile", command->tile,
         "N,H,W,K[,C]: map one tile with this output, and C channels of the sum, "
         "instead of the layer: its operands come from the scratchpad, and its cycles "
         "are those that plans declare; 0: the whole extent")
      ->delimiter(',')
      ->expected(4, 5);
  sub->add_option("--resident", command->resident,
                  "operands that lie whole in the scratchpad")
      ->delimiter(',')
      ->check(CLI::IsMember({"input", "weight", "output"}));
  sub->add_option("--top", command->top,
                  "fixed scratchpad tile, as N=1,K=64 (dims N K C P Q R S G)")
      ->delimiter(',');
  sub->add_flag("--bypass", command->bypass, "operands may bypass memories");
  sub->add_flag("--wide", command->wide, "exact: also arrays that leave units idle");
  sub->add_flag("--row-stationary", command->row_stationary,
                "greedy: unit tensors of a row-stationary array");
  sub->add_option("--weights", command->weights,
                  "cosa: utilisation,compute,traffic (default -0.1,10,1)")
      ->delimiter(',')
      ->expected(3);
  sub->add_flag("--balance", command->balance,
                "cosa: least difference of traffic and compute instead of their sum");
  AddJsonAndRun(sub, command);
}

void AddSegments(CLI::App* app, SegmentsCommand* command) {
  CLI::App* sub = app->add_subcommand(
      "segments", "layers on a mesh of nodes: which run together, and where");
  sub->add_option("graph", command->graph, "graph file")->required();
  AddHw(sub, &command->hardware);
  sub->add_option("--solver", command->solver,
                  "chain (layers mapped where it matters), topk (KAPLA as published), "
                  "layers (each by itself)")
      ->check(CLI::IsMember({"chain", "topk", "layers"}))
      ->capture_default_str();
  sub->add_option("--objective", command->objective, "what to minimise")
      ->check(CLI::IsMember({"energy", "edp", "latency"}))
      ->capture_default_str();
  sub->add_option("--top", command->top_k, "topk: chains to keep (default 4)")
      ->check(CLI::Range(1, 64));
  sub->add_option("--stages", command->stages, "most stages of one segment (default 5)")
      ->check(CLI::Range(1, 8));
  sub->add_option("--words", command->word_bytes,
                  "bytes of every word (default: as the tensors' types)")
      ->check(CLI::Range(1, 8));
  sub->add_option(
      "--prices", command->prices,
      "mappings of layers inside segments, at most; each layer by itself is mapped "
      "anyway (default 500, or two per layer where that is more)");
  AddQuantity(sub, "--deadline", &command->deadline_ns, ParseDuration,
              "return the best found in this time", "TIME");
  sub->add_flag("--proof", command->proof,
                "leave nothing out; for small meshes and networks");
  sub->add_flag(
      "--no-spatial", command->no_spatial,
      "no segments whose stages run at the same time, each on nodes of its own");
  sub->add_flag("--no-temporal", command->no_temporal,
                "no segments that keep activations on the nodes from layer to layer");
  sub->add_flag("--directives", command->directives,
                "print the schedule as tensor, stack and update directives");
  AddJsonAndRun(sub, command);
}

void AddEvaluate(CLI::App* app, EvaluateCommand* command) {
  CLI::App* sub = app->add_subcommand("evaluate", "what a given schedule costs");
  sub->add_option("graph", command->graph, "graph file")->required();
  AddHw(sub, &command->hardware);
  sub->add_option("--schedule", command->schedule, "SCHEDULE.json")->required();
  AddQuantity(sub, "--budget", &command->budget_bytes, ParseBytes,
              "scratchpad to use, at most the machine's", "BYTES");
  sub->add_option("-o,--output", command->output, "schedule file to write");
  sub->footer(EvaluateHelp());
  AddJsonAndRun(sub, command);
}

void AddDse(CLI::App* app, DseCommand* command) {
  CLI::App* sub =
      app->add_subcommand("dse", "a grid of networks and machines -> a table");
  sub->add_option("grid", command->grid, "GRID.json")->required();
  sub->add_option("-o,--output", command->output,
                  "CSV file; rows that it already has are not computed again")
      ->required();
  sub->add_option("--svg", command->svg, "heat maps to write: buffer over bandwidth");
  sub->add_option("--metric", command->metric, "what the heat maps show")
      ->check(CLI::IsMember({"edp", "latency", "energy"}))
      ->capture_default_str();
  sub->add_option("--jobs", command->jobs,
                  "combinations planned at the same time (default: one per core)");
  sub->add_option("--shard", command->shard,
                  "a share of the combinations, as 2/8: the second of eight equal ones")
      ->type_name("I/N");
  sub->add_option(
      "--merge", command->merge,
      "tables of this grid whose rows are taken over, such as those of shares");
  sub->footer(DseHelp());
  AddJsonAndRun(sub, command);
}

void AddPlace(CLI::App* app, PlaceCommand* command) {
  CLI::App* sub = app->add_subcommand(
      "place", "buffers with lifetimes (minimalloc's CSV) -> offsets");
  sub->add_option("buffers", command->table,
                  "CSV: id,lower,upper,size[,alignment,offset,gaps,banks,single_bank]")
      ->required();
  AddQuantity(sub, "--capacity", &command->capacity, ParseBytes,
              "bytes to place them in", "BYTES");
  sub->add_option("-o,--output", command->output, "the same CSV with offsets");
  sub->add_flag("--smallest", command->smallest,
                "find the least capacity that is enough, and prove it");
  sub->add_flag("--fast", command->fast, "heuristics only");
  AddQuantity(sub, "--bank-bytes", &command->bank_bytes, ParseBytes,
              "size of a bank, when buffers ask for banks", "BYTES");
  sub->add_option(
      "--reserve", command->reserved,
      "LOWER:UPPER:OFFSET:SIZE: bytes that nobody may use from LOWER to UPPER; "
      "repeatable");
  sub->add_option("--nodes", command->max_nodes,
                  "most nodes that the exact search visits (default: no limit)");
  AddQuantity(sub, "--deadline", &command->deadline_ns, ParseDuration,
              "stop after this time (default 10s)", "TIME");
  sub->add_option("--svg", command->picture, "write a picture to this file");
  AddJson(sub, &command->json);
  sub->callback([command, sub] {
    command->has_capacity = sub->count("--capacity") != 0;
    Run(*command);
  });
}

void AddCurve(CLI::App* app, CurveCommand* command) {
  CLI::App* sub =
      app->add_subcommand("curve", "latency over scratchpad: a plan for each size");
  sub->add_option("graph", command->graph, "graph file")->required();
  AddHw(sub, &command->hardware);
  sub->add_option("--points", command->points,
                  "how many sizes, from the smallest that has a plan to the largest")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  sub->add_option("--objective", command->objective, "what to minimise in each plan")
      ->check(CLI::IsMember({"edp", "latency", "energy"}))
      ->capture_default_str();
  AddQuantity(sub, "--budget", &command->budget_bytes, ParseBytes,
              "largest size, at most the machine's", "BYTES");
  AddQuantity(sub, "--deadline", &command->deadline_ns, ParseDuration,
              "time for all plans together", "TIME");
  sub->add_option("--iterations", command->iterations,
                  "stop improving each plan after so many iterations");
  sub->add_option("--seed", command->seed,
                  "number that the search's random choices start from");
  sub->add_option("-o,--output", command->output, "picture to write: FILE.svg");
  AddJsonAndRun(sub, command);
}

void AddCoschedule(CLI::App* app, CoscheduleCommand* command) {
  CLI::App* sub = app->add_subcommand(
      "coschedule", "several graphs in one scratchpad -> a plan each, and turns");
  sub->add_option("graphs", command->graphs, "graph files, up to 8")->required();
  AddHw(sub, &command->hardware);
  sub->add_option("--share", command->share,
                  "partition: a range each; time: the whole scratchpad by turns; auto: "
                  "the better of both")
      ->check(CLI::IsMember({"auto", "partition", "time"}))
      ->capture_default_str();
  sub->add_option(
         "--weights", command->weights,
         "weights of the models' cycles in the sum that is minimised (default 1)")
      ->delimiter(',');
  sub->add_option("--reserve", command->reserved,
                  "MODEL:OFFSET:BYTES: a range for that model alone; repeatable");
  sub->add_option("--max-turn", command->max_turn_cycles,
                  "cycles after which a waiting model gets its turn");
  sub->add_option("--points", command->points,
                  "points of each model's curve (default 12)")
      ->check(CLI::Range(2, 256));
  AddQuantity(sub, "--budget", &command->budget_bytes, ParseBytes,
              "scratchpad for all, at most the machine's", "BYTES");
  AddQuantity(sub, "--deadline", &command->deadline_ns, ParseDuration,
              "time for everything together", "TIME");
  sub->add_option("--iterations", command->iterations,
                  "stop improving each plan after so many iterations");
  sub->add_option("--seed", command->seed,
                  "number that the search's random choices start from");
  sub->add_flag("--simulate", command->simulate, "execute the turns on one machine");
  sub->add_flag(
      "--functional", command->functional,
      "with --simulate: compute with real bytes and compare with untiled runs");
  sub->add_option("-o,--output", command->output,
                  "plan files to write: NAME.0.slp, NAME.1.slp, ...");
  AddPlanOnly(sub, &command->plan_only);
  AddJsonAndRun(sub, command);
}

void AddDoctor(CLI::App* app, DoctorCommand* command) {
  CLI::App* sub = app->add_subcommand(
      "doctor", "whether this installation works here, and what it has");
  AddJsonAndRun(sub, command);
}

void AddManual(CLI::App* app, ManualCommand* command) {
  CLI::App* sub =
      app->add_subcommand("manual", "this description as a manual page (roff)");
  sub->callback([app, command] {
    command->app = app;
    Run(*command);
  });
}

void AddCompletion(CLI::App* app, CompletionCommand* command) {
  CLI::App* sub = app->add_subcommand("completion", "a script that completes commands");
  sub->add_option("shell", command->shell, "whose script to print")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([app, command] {
    command->app = app;
    Run(*command);
  });
}

// Adds the examples to the help's footer, behind a command's own notes on files.
void AddExamples(CLI::App* app) {
  app->footer(FirstSteps());
  for (CLI::App* sub : app->get_subcommands([](CLI::App*) { return true; })) {
    const std::string examples = ExamplesOf(sub->get_name());
    if (examples.empty()) continue;
    const std::string before = sub->get_footer();
    sub->footer(before + (before.empty() ? "" : "\n\n") + "Examples:\n" + examples);
  }
}

// How many letters must be changed, added or left out to make one text the other.
size_t EditsBetween(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

bool Commands::json() const {
  return import.json || lower.json || hardware.json || schedule.json || verify.json ||
         simulate.json || plot.json || zoo.json || map.json || dse.json || place.json ||
         evaluate.json || curve.json || coschedule.json || segments.json ||
         reschedule.json || report.json || doctor.json;
}

std::string UnknownCommand(const CLI::App& app, const std::string& text) {
  std::string closest;
  size_t least = text.size() / 3 + 2;  // edits from which on a name is another one
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == text) return "";
    const size_t edits = EditsBetween(text, sub->get_name());
    if (edits >= least) continue;
    least = edits;
    closest = sub->get_name();
  }
  return "no command \"" + text + "\"; " +
         (closest.empty() ? "sluice --help lists the commands"
                          : "did you mean " + closest + "?");
}

namespace {

// Whether all of the text is one number of this type, as the help names types.
bool IsNumber(const std::string& type, const std::string& text) {
  const size_t sign = type != "UINT" && text[0] == '-' ? 1 : 0;
  if (type != "FLOAT") {
    return text.size() > sign &&
           text.find_first_not_of("0123456789", sign) == std::string::npos;
  }
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

// Numbers of other forms are refused with what would be right: the parser reads -1 as the
// largest number.
void CheckNumbers(CLI::App* app) {
  for (CLI::Option* option : app->get_options()) {
    const std::string name = option->get_type_name();
    const std::string type = name.substr(0, name.find(':'));
    if (type != "UINT" && type != "INT" && type != "FLOAT") continue;
    option->check(
        [type](const std::string& text) -> std::string {
          if (IsNumber(type, text)) return "";
          return text + (type == "UINT"  ? " is no whole number, 0 or more"
                         : type == "INT" ? " is no whole number"
                                         : " is no number");
        },
        "");
  }
  for (CLI::App* sub : app->get_subcommands({})) CheckNumbers(sub);
}

}  // namespace

void Describe(CLI::App* app, Commands* commands) {
  app->set_version_flag("--version", std::string("sluice ") + sluice_version());
  app->require_subcommand(1);
  AddImport(app, &commands->import);
  AddHardware(app, &commands->hardware);
  AddSchedule(app, &commands->schedule);
  AddReschedule(app, &commands->reschedule);
  AddVerify(app, &commands->verify);
  AddLower(app, &commands->lower);
  AddSimulate(app, &commands->simulate);
  AddPlot(app, &commands->plot);
  AddReport(app, &commands->report);
  AddZoo(app, &commands->zoo);
  AddMap(app, &commands->map);
  AddDse(app, &commands->dse);
  AddPlace(app, &commands->place);
  AddEvaluate(app, &commands->evaluate);
  AddCurve(app, &commands->curve);
  AddCoschedule(app, &commands->coschedule);
  AddSegments(app, &commands->segments);
  AddDoctor(app, &commands->doctor);
  AddManual(app, &commands->manual);
  AddCompletion(app, &commands->completion);
  CheckNumbers(app);
  AddExamples(app);
}

}  // namespace sluice::cli
