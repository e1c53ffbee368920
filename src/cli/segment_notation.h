// SPDX-License-Identifier: Apache-2.0
// The segments of a plan: which layers run together and under which loops. Everything
// else of such a plan follows from them.
//
// Input    bytes of a plan; or JSON in the form of kSegmentHelp, layers by name, or by
//          number where names repeat
// Output   the segments; JSON; the bytes of a plan that is to be made of them
//          (sluice_reschedule)
// Errors   Failure(kBadInput) naming the key, layer or loop, or because the plan has
//          no segments
#ifndef SLUICE_CLI_SEGMENT_NOTATION_H_
#define SLUICE_CLI_SEGMENT_NOTATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/files.h"

namespace sluice::cli {

extern const char kSegmentHelp[];

constexpr uint32_t kNoSegment = UINT32_MAX;

struct SegmentLoop {
  uint32_t axis;  // 0 to 3: N H W C of the segment's last output; 4: its sum
  int32_t parts;
};

struct NotedSegment {
  std::vector<uint32_t> layers;
  std::vector<SegmentLoop> loops;
  uint32_t slice = 0, piece = 0;  // bytes (plan.fbs)
  std::vector<uint32_t> leave;    // by layer: bytes of the scratchpad left empty
};

struct SegmentNotation {
  std::vector<NotedSegment> segments;
  uint32_t placing = 0;
};

SegmentNotation SegmentsOfPlan(const Bytes& plan);
// The number of each layer's segment, as --explain counts them; kNoSegment for layers of
// none. Plans that have no segments give an empty list.
std::vector<uint32_t> SegmentOfLayers(const Bytes& plan, size_t layers);
// A plan without a stream. `like`: any plan of the same graph.
Bytes PlanOfSegments(const SegmentNotation& notation, const Bytes& like);

// "H/4 C/2 sum/8"; "-": no loops.
std::string LoopsText(const std::vector<SegmentLoop>& loops);

bool HasSegments(const std::string& json);
SegmentNotation SegmentsFromJson(const std::string& text, const Bytes& graph);
Json SegmentsToJson(const SegmentNotation& notation, const Bytes& graph);
// The same with a line for each segment.
std::string SegmentsToText(const SegmentNotation& notation, const Bytes& graph);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_SEGMENT_NOTATION_H_
