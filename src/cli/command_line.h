// SPDX-License-Identifier: Apache-2.0
// What can be typed. CLI11's description of it is what --help, the manual page and the
// completions are made of.
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

  bool json() const;  // whether the one that was typed has --json
};

// commands must live as long as the app: parsing fills them and runs the one typed.
void Describe(CLI::App* app, Commands* commands);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_COMMAND_LINE_H_
