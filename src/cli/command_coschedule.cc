// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <sstream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/interruption.h"
#include "cli/plan_files.h"
#include "cli/progress_line.h"
#include "cli/quantities.h"
#include "cli/report.h"
#include "cli/session.h"
#include "firmware-sim/sim.h"

namespace sluice::cli {
namespace {

struct Answer {
  sluice_cohort_summary_t summary = {};
  std::vector<sluice_member_t> members;
  std::vector<sluice_turn_t> turns;
  std::vector<Bytes> plans;
};

// Parses MODEL:OFFSET:BYTES, for example "1:0:64K".
void Reserve(const std::string& text, std::vector<sluice_model_t>* models) {
  std::istringstream parts(text);
  std::string model, offset, bytes;
  uint64_t number = 0;
  std::getline(parts, model, ':');
  std::getline(parts, offset, ':');
  std::getline(parts, bytes);
  uint64_t at = 0, size = 0;
  if (!ParseBytes(model, &number) || !ParseBytes(offset, &at) ||
      !ParseBytes(bytes, &size) || number >= models->size() || size == 0) {
    throw Failure(kUsage, "--reserve " + text +
                              " is not MODEL:OFFSET:BYTES with a model from 0 to " +
                              std::to_string(models->size() - 1));
  }
  (*models)[number].reserved_offset = at;
  (*models)[number].reserved_bytes = size;
}

std::vector<sluice_model_t> ModelsOf(const CoscheduleCommand& command) {
  std::vector<sluice_model_t> models(command.graphs.size());
  if (models.size() > SLUICE_MODELS_MAX) {
    throw Failure(kUsage, std::to_string(models.size()) + " graphs; at most " +
                              std::to_string(SLUICE_MODELS_MAX) +
                              " are planned together");
  }
  if (!command.weights.empty() && command.weights.size() != models.size()) {
    throw Failure(kUsage, "--weights needs a number for each graph");
  }
  for (size_t m = 0; m < command.weights.size(); ++m) {
    models[m].weight = command.weights[m];
  }
  for (const std::string& text : command.reserved) Reserve(text, &models);
  return models;
}

Answer AnswerOf(const sluice_cohort_t* cohort, size_t models) {
  Answer answer;
  answer.summary.struct_size = sizeof answer.summary;
  sluice_cohort_report(cohort, &answer.summary);
  for (uint32_t m = 0; m < models; ++m) {
    sluice_member_t member = {};
    member.struct_size = sizeof member;
    sluice_cohort_member(cohort, m, &member);
    answer.members.push_back(member);
    const void* bytes = nullptr;
    size_t size = 0;
    sluice_plan_bytes(member.plan, &bytes, &size);
    const uint8_t* first = static_cast<const uint8_t*>(bytes);
    answer.plans.emplace_back(first, first + size);
  }
  const sluice_turn_t* turns = nullptr;
  uint32_t count = 0;
  sluice_cohort_turns(cohort, &turns, &count);
  answer.turns.assign(turns, turns + count);
  return answer;
}

sluice_sim::TogetherResult Simulate(const CoscheduleCommand& command,
                                    const std::vector<Bytes>& graphs,
                                    const Bytes& hardware, const Answer& answer) {
  std::vector<sluice_sim::SimulateOptions> streams(graphs.size());
  for (size_t m = 0; m < graphs.size(); ++m) {
    streams[m].graph = graphs[m].data();
    streams[m].graph_size = graphs[m].size();
    streams[m].hardware = hardware.data();
    streams[m].hardware_size = hardware.size();
    streams[m].plan = answer.plans[m].data();
    streams[m].plan_size = answer.plans[m].size();
    streams[m].functional = command.functional;
    streams[m].seed = 1;
  }
  std::vector<sluice_sim::Turn> turns;
  for (const sluice_turn_t& t : answer.turns) {
    turns.push_back({t.model, t.first_visit, t.end_visit});
  }
  const auto run = sluice_sim::SimulateTogether(streams, turns);
  if (run.ok) return run;
  Json error = {{"code", "together"}, {"detail", run.error}};
  if (run.error_stream != sluice_sim::kNowhere) error["model"] = run.error_stream;
  throw Failure(kRejected, "the simulator says no: " + run.error,
                {{"ok", false}, {"error", error}});
}

const char* ShareName(uint32_t share) {
  return share == SLUICE_SHARE_TIME ? "time" : "partition";
}

Json AsJson(const Answer& answer, const sluice_sim::TogetherResult* run,
            bool functional) {
  const sluice_cohort_summary_t& s = answer.summary;
  Json members = Json::array(), turns = Json::array();
  for (size_t m = 0; m < answer.members.size(); ++m) {
    const sluice_member_t& member = answer.members[m];
    members.push_back({{"offset", member.offset},
                       {"bytes", member.bytes},
                       {"latency_cycles", member.latency_cycles},
                       {"finish_cycles", member.finish_cycles},
                       {"equal_cycles", member.equal_cycles},
                       {"longest_wait_cycles", member.longest_wait_cycles},
                       {"turns", member.turns}});
    if (run == nullptr) continue;
    const sluice_sim::SimulateResult& stream = run->streams[m];
    members.back()["simulated_finish_cycles"] = stream.cycles;
    if (!functional) continue;
    members.back()["functional"] = {{"compared_bytes", stream.compared_bytes},
                                    {"mismatches", stream.mismatches},
                                    {"output_fnv1a", Hex64(stream.output_fnv1a)}};
  }
  for (const sluice_turn_t& t : answer.turns) {
    turns.push_back({{"model", t.model},
                     {"first_visit", t.first_visit},
                     {"end_visit", t.end_visit},
                     {"cycles", t.cycles}});
  }
  Json json = {{"share", ShareName(s.share)},
               {"proved", s.proved != 0},
               {"interrupted", Interruption::came()},
               {"total_cycles", s.total_cycles},
               {"latency_sum", s.latency_sum},
               {"finish_sum", s.finish_sum},
               {"equal_latency_sum", s.equal_latency_sum},
               {"partition_finish_sum", s.partition_finish_sum},
               {"time_finish_sum", s.time_finish_sum},
               {"models", members},
               {"turns", turns}};
  if (run != nullptr) json["simulated_cycles"] = run->cycles;
  return json;
}

void Print(const CoscheduleCommand& command, const std::vector<Bytes>& graphs,
           const HardwareFacts& facts, const Answer& answer,
           const sluice_sim::TogetherResult* run) {
  const sluice_cohort_summary_t& s = answer.summary;
  Report report(std::to_string(graphs.size()) + " models on " + facts.name);
  report.Line(
      "sharing", ShareName(s.share),
      s.share == SLUICE_SHARE_TIME
          ? "the whole scratchpad by turns"
          : std::string("a range each") + (s.proved ? ", least sum proved" : ""));
  for (size_t m = 0; m < graphs.size(); ++m) {
    const sluice_member_t& member = answer.members[m];
    report.Line(GraphName(graphs[m]), Grouped(member.latency_cycles) + " cycles",
                "in bytes " + Grouped(member.offset) + " to " +
                    Grouped(member.offset + member.bytes) + ", done at " +
                    Grouped(member.finish_cycles));
  }
  report.Line("sum of latencies", Grouped(s.latency_sum),
              s.equal_latency_sum == 0
                  ? "no plans for equal shares"
                  : "in equal shares " + Grouped(s.equal_latency_sum));
  report.Line("all done", Grouped(s.total_cycles) + " cycles",
              Grouped(s.turns) + " turns");
  if (run != nullptr) {
    report.Line("simulated", Grouped(run->cycles) + " cycles",
                run->cycles == s.total_cycles ? "as predicted" : "not as predicted");
  }
  if (run != nullptr && command.functional) {
    uint64_t compared = 0;
    for (const auto& stream : run->streams) compared += stream.compared_bytes;
    report.Line("outputs", Grouped(compared) + " bytes", "equal to untiled runs");
  }
  std::cout << report.Text();
}

}  // namespace

void Run(const CoscheduleCommand& command) {
  std::vector<Bytes> graphs;
  for (const std::string& path : command.graphs)
    graphs.push_back(ReadGraph(path, "coschedule"));
  const Bytes hardware = LoadHardware(command.hardware);
  const std::vector<sluice_model_t> models = ModelsOf(command);
  Session session(0);
  session.LoadHardware(hardware);
  session.LoadModels(graphs, command.graphs);
  sluice_coschedule_options_t options = {};
  options.struct_size = sizeof options;
  options.share = command.share == "partition" ? SLUICE_SHARE_PARTITION
                  : command.share == "time"    ? SLUICE_SHARE_TIME
                                               : SLUICE_SHARE_AUTO;
  options.scratchpad_bytes = command.budget_bytes;
  options.max_turn_cycles = command.max_turn_cycles;
  options.deadline_ns = command.deadline_ns;
  options.max_iterations = command.iterations;
  options.seed = command.seed;
  options.points = command.points;
  const Interruption interruption;
  options.cancel = interruption.word();
  Owned<sluice_cohort_t> cohort;
  {
    const Working working("plans for " + std::to_string(models.size()) + " models");
    cohort = session.Coschedule(models, options);
  }
  TellOfInterruption();
  const Answer answer = AnswerOf(cohort.get(), models.size());
  for (size_t m = 0; m < answer.plans.size() && !command.output.empty(); ++m) {
    WritePlanFile(command.output + "." + std::to_string(m) + ".slp", answer.plans[m],
                  graphs[m], hardware, command.plan_only);
  }
  sluice_sim::TogetherResult run;
  const bool runs = command.simulate || command.functional;
  if (runs) run = Simulate(command, graphs, hardware, answer);
  if (command.json) {
    std::cout << JsonText(AsJson(answer, runs ? &run : nullptr, command.functional), 1)
              << "\n";
    return;
  }
  Print(command, graphs, FactsOf(hardware), answer, runs ? &run : nullptr);
}

}  // namespace sluice::cli
