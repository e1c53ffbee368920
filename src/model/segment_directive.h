// SPDX-License-Identifier: Apache-2.0
// Segments in the text form of KAPLA's directives; shared names and updates match.
//
//   conv2:
//    NODE:                            what one node does in one step
//     tensor{conv2.in}(N=1, C=48, H=15, W=31)
//     tensor{conv2.w}(K=16, C=48, R=5, S=5)
//     tensor{conv2.out}(N=1, K=16, P=11, Q=27)
//     stack@0(K+=16, 8)               parts along the columns, along the rows
//    STEP:                            all its nodes; what is sent on has one name here
//     tensor{pool1}(N=1, C=48, H=31, W=31)     taken from pool1, on the chip
//     tensor{conv2.w}(K=128, C=48, R=5, S=5)
//     tensor{conv2}(N=1, K=128, P=27, Q=27)
//     update(N+=1)                    groups of channels, then slices of the batch
//    spatial.3.1/4.0-8x16:            kind.segment.stage/column.row-columns x rows
//     tensor{conv2.in}(N=64, ...)     all steps
//
// Input    a schedule and names of the graph's layers; or a program
// Output   a DirectiveProgram for PrintDirectives; or a schedule with no nests or costs
// Errors   kBadInput with the layer that contradicts the others; kOutOfMemory
// Cost     O(layers), arena
// Source   KAPLA section III-B, Listing 1: same names, same sizes, matched updates
#ifndef SLUICE_MODEL_SEGMENT_DIRECTIVE_H_
#define SLUICE_MODEL_SEGMENT_DIRECTIVE_H_

#include "model/directive.h"
#include "model/segment.h"

namespace sluice {

// names: one per layer of the graph, of letters, digits and . _ / -, all different.
Status DirectivesOfSegments(const SegmentSchedule& schedule, Span<const Text> names,
                            Arena* arena, DirectiveProgram* program);

// order: index into `names` for each layer. Reads of each layer: stage, producer,
// consumers, region, terms, split.
Status SegmentsOfDirectives(const DirectiveProgram& program, Span<const Text> names,
                            Arena* arena, SegmentSchedule* schedule,
                            Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_MODEL_SEGMENT_DIRECTIVE_H_
