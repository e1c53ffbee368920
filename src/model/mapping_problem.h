// SPDX-License-Identifier: Apache-2.0
// What one layer (or one tile of it) asks of the array: eight loop extents and widths.
//
// Input    a graph layer, or the extents directly
// Output   MappingProblem. Operands: input [N,G,C,H,W], weight [G,K,C,R,S] (absent in
//          pooling and elementwise), output [N,G,K,P,Q]; H spans P and R, W spans Q and
//          S. GEMM: P = rows. Batched GEMM, groups, depthwise: G. Elementwise: C =
//          operands.
//          Gradients: of an input, output channels are K times the phases of the
//          stride; of a weight, N and C change places and the error is the weight, so
//          that C, R and S are the layer's N, P and Q.
// Errors   kBadInput: an extent below 1 or work beyond 2^53; kUnsupported: op named
// Cost     O(1)
// Source   KAPLA section III; the letters of CoSA and Timeloop. Padding counts as data
//          (as in nn_dataflow): the input spans (P-1)*stride + (R-1)*dilation + 1 rows,
//          less those between windows that do not touch.
#ifndef SLUICE_MODEL_MAPPING_PROBLEM_H_
#define SLUICE_MODEL_MAPPING_PROBLEM_H_

#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"

namespace sluice {

enum Dim : uint8_t {
  kDimN = 0,
  kDimK,
  kDimC,
  kDimP,
  kDimQ,
  kDimR,
  kDimS,
  kDimG,  // groups, or the batch of a product of two activations; unrolled where K may
  kDims
};

enum Operand : uint8_t { kInput = 0, kWeight, kOutput, kOperands };

struct MappingProblem {
  int64_t extent[kDims];
  int32_t stride[2];    // along P and along Q
  int32_t dilation[2];  // along R and along S
  uint32_t operands;    // bits 1 input, 2 weight, 4 output
  bool vector;          // vector operations instead of MACs
  uint32_t element_bytes[kOperands];
  uint32_t
      partial_bytes;  // of one unfinished output anywhere below the outermost level
};

constexpr int64_t kMaxOperations = int64_t{1} << 53;  // exact in a double

// Bit d: dim d moves the operand.
uint32_t RelevantDims(uint32_t operand);
inline bool Moves(uint32_t dim, uint32_t operand) {
  return (RelevantDims(operand) >> dim & 1) != 0;
}
constexpr uint32_t OperandBit(uint32_t operand) { return 1u << operand; }
inline bool Has(const MappingProblem& problem, uint32_t operand) {
  return (problem.operands >> operand & 1) != 0;
}

// Input rows (axis 0) or columns (axis 1) between the starts of neighbouring outputs'
// windows. Rows that lie between windows are not counted: transfers skip them.
inline int64_t WindowStep(const MappingProblem& problem, int axis) {
  const int64_t window =
      (problem.extent[kDimR + axis] - 1) * problem.dilation[axis] + 1;
  return problem.stride[axis] < window ? problem.stride[axis] : window;
}

// Input rows or columns under `outputs` x `taps`, both >= 1.
inline int64_t WindowSpan(const MappingProblem& problem, int axis, int64_t outputs,
                          int64_t taps) {
  return (outputs - 1) * WindowStep(problem, axis) +
         (taps - 1) * problem.dilation[axis] + 1;
}

// Words of one operand in a tile; every extent >= 1.
int64_t TileWords(const MappingProblem& problem, uint32_t operand,
                  const int64_t extent[kDims]);

// Bytes of one word of the operand below the outermost level.
inline int64_t InnerBytes(const MappingProblem& problem, uint32_t operand) {
  return operand == kOutput ? problem.partial_bytes : problem.element_bytes[operand];
}

int64_t OperationCount(const MappingProblem& problem);  // MACs or vector operations

// A convolution of three operands; all words, partial sums included, are `bytes` wide.
struct ConvExtents {
  int64_t n, k, c, p, q, r, s;
  int32_t stride;
  uint32_t bytes;
};
MappingProblem ConvProblem(const ConvExtents& conv);
// m x k outputs, sums over c, g times.
MappingProblem GemmProblem(int64_t g, int64_t m, int64_t k, int64_t c, uint32_t bytes);

Status CheckProblem(const MappingProblem& problem, Diagnostic* diagnostic);
Status ProblemOfLayer(const Graph& graph, uint32_t layer, uint32_t accumulator_bytes,
                      MappingProblem* problem, Diagnostic* diagnostic);
// A tile of a layer: output extents N H W K, and the number of channels it sums over
// (0: all). A tile of a part of the sum keeps partial-sum width. `layer` may be one of
// Lowering::executed.
struct LayerTile {
  const Layer& layer;
  const int32_t* extent;  // kAxes
  int32_t channels;
};
Status ProblemOfTile(const Graph& graph, const LayerTile& part,
                     uint32_t accumulator_bytes, MappingProblem* problem,
                     Diagnostic* diagnostic);

// Equal problems have equal hashes and the same best mapping.
uint64_t HashProblem(const MappingProblem& problem);
bool SameProblem(const MappingProblem& a, const MappingProblem& b);

}  // namespace sluice

#endif  // SLUICE_MODEL_MAPPING_PROBLEM_H_
