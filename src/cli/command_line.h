// SPDX-License-Identifier: Apache-2.0
// The grammar of the command line, as a CLI11 app. --help, the manual page and the
// completions are made from it.
#ifndef SLUICE_CLI_COMMAND_LINE_H_
#define SLUICE_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace sluice::cli {

struct Commands {
  ImportCommand import;
  HardwareCommand hardware;
  ScheduleCommand schedule;
  RescheduleCommand reschedule;
  VerifyCommand verify;
  LowerCommand lower;
  SimulateCommand simulate;
  PlotCommand plot;
  ReportCommand report;
  ZooCommand zoo;
  MapCommand map;
  DseCommand dse;
  PlaceCommand place;
  EvaluateCommand evaluate;
  CurveCommand curve;
  CoscheduleCommand coschedule;
  SegmentsCommand segments;
  DoctorCommand doctor;
  ManualCommand manual;
  CompletionCommand completion;

  bool json() const;  // whether --json was given
};

// `commands` must outlive the app: parsing fills it and runs the command that was
// given.
void Describe(CLI::App* app, Commands* commands);

// What to say where `text` stands for a command and is none; "": it is one.
std::string UnknownCommand(const CLI::App& app, const std::string& text);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_COMMAND_LINE_H_
