// SPDX-License-Identifier: Apache-2.0
// KAPLA's tensor-centric directives: tensor, stack, update, per layer and memory level.
//
//   conv1:                                  a layer starts in column 0
//    MAC:                                   only where a level-0 fanout is in use
//    REGF:                                  levels, nearest the MACs first, without
//                                           the outermost
//     tensor{x}(N=1, C=2, H=1, W=5)         what one buffer holds; H, W: input rows
//     tensor{w}(K=3, C=2, S=5, shr=4)       shr buffers share one copy
//     stack@1(P+=1, H+=1, 8)                8 buffers, offset by these shifts; @ = axis
//     update(Q+=1, W+=1)                    the next iteration, innermost first
//     % comment
//
// Input    text, or a nest with names; Xi Yi Xo Yo are read as W H Q P
// Output   DirectiveProgram, text, or a nest; names point into the text read
// Errors   kBadInput with the line; kBufferTooSmall with the size; kUnsupported: shr >
//          1 in a nest; kRejected: a tensor that two layers cut differently
// Cost     O(text), arena
// Source   KAPLA section III-B, Listing 1. Deviations: the axis of a stack may be
//          named; loops inside the first level are part of its tensors.
#ifndef SLUICE_MODEL_DIRECTIVE_H_
#define SLUICE_MODEL_DIRECTIVE_H_

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "model/loop_nest.h"

namespace sluice {

enum DirectiveDim : uint8_t {  // after the dims of mapping_problem.h
  kDimH = kDims,               // input rows
  kDimW,                       // input columns
  kDirectiveDims
};

enum class DirectiveKind : uint8_t { kTensor, kStack, kUpdate };

struct DirectiveTerm {
  uint8_t dim;
  int64_t value;
};

struct Directive {
  DirectiveKind kind;
  int8_t axis;    // stacks; -1 = not given
  Text name;      // tensors
  int64_t count;  // stacks: buffers; tensors: sharers
  uint32_t terms;
  DirectiveTerm term[kDirectiveDims];
};

struct DirectiveLevel {
  Text name;
  Span<const Directive> directives;
};

struct DirectiveLayer {
  Text name;
  Span<const DirectiveLevel> levels;
};

struct DirectiveProgram {
  Span<const DirectiveLayer> layers;
};

struct TensorNames {
  Text layer;
  Text operand[kOperands];
};

Status ParseDirectives(Text source, Arena* arena, DirectiveProgram* program,
                       Diagnostic* diagnostic);

// Writes no NUL. *size is the size needed; kBufferTooSmall if capacity is less.
Status PrintDirectives(const DirectiveProgram& program, char* buffer, size_t capacity,
                       size_t* size);

Status DirectivesOfNest(const MappingProblem& problem, const Hardware& hardware,
                        const LoopNest& nest, const TensorNames& names, Arena* arena,
                        DirectiveLayer* layer);

// Adds a move along a dim to a stack or update. A move along an output or tap dim also
// moves the input's window.
void AddMove(const MappingProblem& problem, Directive* directive, uint32_t dim,
             int64_t step);
// The part of an operand that a tile of these extents holds.
Directive TensorDirective(const MappingProblem& problem, uint32_t operand, Text name,
                          const int64_t tile[kDims]);

// Loops of trip count 1 come last in their level's order. The nest passes CheckNest.
Status NestOfDirectives(const MappingProblem& problem, const Hardware& hardware,
                        const DirectiveLayer& layer, const TensorNames& names,
                        LoopNest* nest, Diagnostic* diagnostic);

// Two layers that name the same tensor must cover the same images and channels of it at
// each level: one of them makes what the other one takes.
Status CheckForwarding(const DirectiveProgram& program, Diagnostic* diagnostic);

inline bool SameText(Text a, Text b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

}  // namespace sluice

#endif  // SLUICE_MODEL_DIRECTIVE_H_
