// SPDX-License-Identifier: Apache-2.0
// The space between layers: vertices, runs that may be segments, node regions, slices.
//
// Input    layers, hardware, options (segments.h)
// Output   Space: runs in the order of their first layer, each with its schemes
// Errors   kOutOfMemory; kStopped when the budget ends
// Cost     see segments.h; 64 bytes per scheme
// Source   KAPLA's published program. Deviations: the least work per node decides
//          between rectangles; all legal combinations of whole and fine forwarding, not
//          two patterns
#ifndef SLUICE_SOLVE_SEGMENTS_SPACE_H_
#define SLUICE_SOLVE_SEGMENTS_SPACE_H_

#include "solve/segments/segments.h"

namespace sluice {

constexpr uint32_t kMaxStages = 8;      // of a segment that runs as a pipeline
constexpr uint32_t kMaxRunLayers = 40;  // of a segment
constexpr double kNoValue = 1e300;      // more than any segment costs

struct Vertex {
  uint32_t first, last;  // positions [first, last)
};

struct SegmentScheme {
  int32_t top_batch;
  uint32_t regions;             // Space::regions of the stages, spatial only
  uint16_t groups[kMaxStages];  // groups of channels in which a stage sends its output
  SegmentKind kind;
  bool priced;
  double value;  // objective as far as known
};

struct Run {
  uint32_t first, last;      // positions [first, last)
  uint32_t vertex, stages;   // vertices [vertex, vertex + stages); 0 stages: a layer
  uint32_t schemes, beyond;  // Space::schemes [schemes, beyond)
  uint32_t best;             // the scheme of least value; `beyond` = none
  uint32_t known;            // best of those that are priced
  double value;              // of best
  double known_value;
};

struct Space {
  Space(Span<const SegmentLayer> l, const Hardware& h, const SegmentOptions& o,
        Arena* a)
      : layers(l),
        hardware(h),
        options(o),
        vertices(a),
        runs(a),
        schemes(a),
        regions(a) {}
  Span<const SegmentLayer> layers;
  const Hardware& hardware;
  const SegmentOptions& options;
  Vector<Vertex> vertices;
  Span<uint32_t> vertex_of;  // of a position
  Span<uint32_t> consumers;  // by position: how many layers read its output
  Span<double> load;         // of a vertex: cycles of one node at its peak
  Vector<Run> runs;
  Vector<SegmentScheme> schemes;
  Vector<NodeRegion> regions;
};

Status MakeSpace(Space* space, Budget* budget, Arena* arena, SegmentCounts* counts);

// Convolutions by group: a slice of the output channels needs the same input channels.
inline bool IsChannelwise(const MappingProblem& problem) {
  return problem.extent[kDimG] > 1;
}

// The role of a layer in a scheme.
struct LayerRole {
  LayerQuery query;
  uint32_t stage;
  uint32_t producer;   // position within the run or kNone
  uint32_t consumers;  // within the run
  int64_t fetched;     // words of its input from DRAM beside what a producer makes
  bool stores;         // its output goes to DRAM
  bool fine;           // takes its producer's groups of channels one by one
};

// role[last - first] of a run.
void RolesOf(const Space& space, const Run& run, const SegmentScheme& scheme,
             LayerRole* role);

// Bytes of an operand over the whole region in one step.
int64_t StepBytes(const MappingProblem& problem, const LayerTerms& terms,
                  uint32_t operand);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SEGMENTS_SPACE_H_
