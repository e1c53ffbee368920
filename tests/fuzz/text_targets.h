// SPDX-License-Identifier: Apache-2.0
// What is done with the tool's texts of any bytes: schedules and segments as JSON, tables of
// buffers and of sweeps as CSV.
//
// Input    any bytes
// Output   SLUICE_OK when they were read and what was read went through the library too;
//          SLUICE_BAD_INPUT when the tool's reader refuses them with exit code kBadInput
// Errors   aborts on any other exception, and when a text that was written from what was
//          read says something else
// Cost     bounded: 64 MiB of memory of the library, few buffers, a short deadline
#ifndef SLUICE_TESTS_FUZZ_TEXT_TARGETS_H_
#define SLUICE_TESTS_FUZZ_TEXT_TARGETS_H_

#include <string>

#include "cli/dse/table.h"
#include "cli/failure.h"
#include "cli/notation_json.h"
#include "cli/placement_csv.h"
#include "cli/segment_notation.h"
#include "fuzz/targets.h"
#include "sluice/experimental.h"

namespace sluice_test {

inline void Require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// A chain of three layers without names: texts number them.
inline const Bytes& NotedGraph() {
  static const Bytes graph = [] {
    GraphSpec spec;
    spec.tensors.push_back({{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1, 0, 0});
    for (uint32_t l = 0; l < 3; ++l) {
      const uint8_t kind = l == 2 ? 2 : 0;
      spec.tensors.push_back({{1, 4, 4, 8}, SLUICE_DTYPE_INT8, kind, 0, 0});
      spec.layers.push_back(
          {SLUICE_OP_REQUANTIZE, {l}, {l + 1}, {0, 1 << 30, 1, 0, -128, 127}});
    }
    return GraphBytes(spec);
  }();
  return graph;
}

inline const Bytes& NotedMachine() {
  static const Bytes machine = [] {
    MachineSpec spec = MakeRandomMachine(17);
    spec.base.scratchpad_bytes = 8192;
    return MachineBytes(spec);
  }();
  return machine;
}

// Makes the plan that the segments describe.
inline void PlanSegments(const sluice::cli::SegmentNotation& notation) {
  const sluice_context_options_t options = FuzzOptions();
  Library library(&options);
  const GraphPtr graph = library.Graph(NotedGraph());
  const HardwarePtr hardware = library.Hardware(NotedMachine());
  static const Bytes like = [&] {
    return BytesOf(library.Schedule(graph, hardware, 0, SLUICE_SOLVER_BASELINE));
  }();
  const PlanPtr before = library.Plan(sluice::cli::PlanOfSegments(notation, like));
  RequireAnswer(library.status, library.diagnostic.message);
  if (before == nullptr) return;
  sluice_schedule_options_t schedule;
  std::memset(&schedule, 0, sizeof schedule);
  schedule.struct_size = sizeof schedule;
  schedule.deadline_ns = 20000000;
  sluice_reschedule_options_t again;
  std::memset(&again, 0, sizeof again);
  again.struct_size = sizeof again;
  again.previous = before.get();
  again.schedule = &schedule;
  sluice_plan_t* plan = nullptr;
  library.status = sluice_reschedule(library.context.get(), graph.get(), hardware.get(),
                                     &again, &plan, &library.diagnostic);
  if (library.status != SLUICE_REJECTED) {
    RequireAnswer(library.status, library.diagnostic.message);
  }
  const PlanPtr owned(plan);
}

// The cost of the schedule; its DRAM tensors stay unasked for.
inline void EvaluateNotation(const sluice::cli::Notation& notation) {
  const sluice_context_options_t options = FuzzOptions();
  Library library(&options);
  const GraphPtr graph = library.Graph(NotedGraph());
  const HardwarePtr hardware = library.Hardware(NotedMachine());
  const sluice_notation_t schedule = notation.AsStruct();
  sluice_evaluation_t evaluation;
  std::memset(&evaluation, 0, sizeof evaluation);
  evaluation.struct_size = sizeof evaluation;
  library.status = sluice_evaluate(library.context.get(), graph.get(), hardware.get(),
                                   &schedule, &evaluation, &library.diagnostic);
  // A schedule is an argument: a layer that it names twice is a bad one. Tiles that a group
  // cannot be cut into are rejected.
  if (library.status != SLUICE_BAD_ARGUMENT && library.status != SLUICE_REJECTED) {
    RequireAnswer(library.status, library.diagnostic.message);
  }
}

inline sluice_status_t FuzzNotation(const uint8_t* data, size_t size) {
  using namespace sluice::cli;
  const std::string text(data, data + size);
  try {
    if (!HasSegments(text)) {
      EvaluateNotation(NotationFromJson(text, NotedGraph()));
      return SLUICE_OK;
    }
    const SegmentNotation notation = SegmentsFromJson(text, NotedGraph());
    const std::string once = SegmentsToText(notation, NotedGraph());
    const SegmentNotation again = SegmentsFromJson(once, NotedGraph());
    Require(SegmentsToText(again, NotedGraph()) == once, "segments change by writing");
    PlanSegments(notation);
    return SLUICE_OK;
  } catch (const Failure& failure) {
    Require(failure.code() == kBadInput, failure.what());
    return SLUICE_BAD_INPUT;
  }
}

// Places the buffers of a short table.
inline void PlaceTable(const sluice::cli::PlacementTable& table) {
  if (table.buffers.size() > 64) return;
  const sluice_context_options_t options = FuzzOptions();
  Library library(&options);
  sluice_placement_problem_t problem;
  std::memset(&problem, 0, sizeof problem);
  problem.struct_size = sizeof problem;
  problem.buffers = table.buffers.data();
  problem.buffer_count = static_cast<uint32_t>(table.buffers.size());
  problem.gaps = table.gaps.data();
  problem.gap_count = static_cast<uint32_t>(table.gaps.size());
  problem.capacity_bytes = 1 << 20;
  sluice_placement_options_t briefly;
  std::memset(&briefly, 0, sizeof briefly);
  briefly.struct_size = sizeof briefly;
  briefly.max_nodes = 1000;
  briefly.deadline_ns = 5000000;
  sluice_placement_t placement;
  std::memset(&placement, 0, sizeof placement);
  placement.struct_size = sizeof placement;
  std::vector<int64_t> offsets(table.buffers.size());
  placement.offsets = offsets.data();
  library.status = sluice_place(library.context.get(), &problem, &briefly, &placement,
                                &library.diagnostic);
  RequireAnswer(library.status, library.diagnostic.message);
}

// A line of a table is a row whose cells can be written and read again.
inline void ReadLines(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    sluice::cli::Cells cells, again;
    const bool row = sluice::cli::ParseCsvLine(text.substr(at, end - at), &cells);
    at = end + 1;
    if (!row) continue;
    std::string line = sluice::cli::CsvLine(cells);
    line.pop_back();
    Require(sluice::cli::ParseCsvLine(line, &again), "a written row is no row");
    Require(cells.size() == again.size(), "cells appear by writing");
  }
}

inline sluice_status_t FuzzCsv(const uint8_t* data, size_t size) {
  using namespace sluice::cli;
  const std::string text(data, data + size);
  ReadLines(text);
  try {
    const PlacementTable table = PlacementFromText("table.csv", text);
    PlaceTable(table);
    const std::vector<int64_t> offsets(table.buffers.size(), 4);
    (void)PlacementFromText("again.csv", WithOffsets(table, offsets));
    return SLUICE_OK;
  } catch (const Failure& failure) {
    Require(failure.code() == kBadInput, failure.what());
    return SLUICE_BAD_INPUT;
  }
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_FUZZ_TEXT_TARGETS_H_
