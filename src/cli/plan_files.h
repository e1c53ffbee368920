// SPDX-License-Identifier: Apache-2.0
// Plan files: a plan, and behind it the graph and the machine it was made for, so that
// what judges, runs or draws the plan needs no other file.
//
// Input    files as the user named them: plan.fbs bytes alone, or in the form below
// Output   plan bytes, then graph.fbs bytes, then hardware.fbs bytes, each padded with
//          zeros to 8 bytes, then four 64-bit words: the three sizes, and "SLPFILE1".
//          sluice_plan_create takes such a file and keeps its plan
// Errors   Failure: kUsage when the graph or machine is in no file, kBadInput where sizes
//          contradict each other or a part is damaged, which names file and part; those of
//          files.h
#ifndef SLUICE_CLI_PLAN_FILES_H_
#define SLUICE_CLI_PLAN_FILES_H_

#include <string>

#include "cli/files.h"

namespace sluice::cli {

struct PlanFiles {
  Bytes plan, graph, hardware;
  std::string graph_name,
      hardware_name;  // for titles; the graph's own name comes first
  // Where the parts came from.
  std::string plan_file = "", graph_file = "", hardware_file = "";
};

// What plan, graph and hardware (see LoadHardware) name; where graph or hardware is empty,
// what the plan file has, then what `otherwise` has.
PlanFiles ReadPlanFiles(const std::string& plan, const std::string& graph,
                        const std::string& hardware,
                        const PlanFiles* otherwise = nullptr);

// Throws kBadInput unless the plan was made for this graph and, where there is one, this
// machine. A plan of an earlier graph can be rescheduled, and not drawn.
void DemandMadeFor(const PlanFiles& files);

// ReadPlanFiles where no machine is needed: `hardware` is empty, or what the file has.
PlanFiles ReadPlanAndGraph(const std::string& plan, const std::string& graph);

// Writes the plan with the graph and the machine that it was made for, or alone.
void WritePlanFile(const std::string& path, const Bytes& plan, const Bytes& graph,
                   const Bytes& hardware, bool plan_only);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLAN_FILES_H_
