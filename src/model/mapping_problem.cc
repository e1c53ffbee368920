// SPDX-License-Identifier: Apache-2.0
#include "model/mapping_problem.h"

#include "base/checked.h"
#include "model/tile_geometry.h"

namespace sluice {

namespace {

constexpr uint32_t Bits(uint32_t a) { return 1u << a; }
constexpr uint32_t kRelevant[kOperands] = {
    Bits(kDimN) | Bits(kDimG) | Bits(kDimC) | Bits(kDimP) | Bits(kDimQ) | Bits(kDimR) |
        Bits(kDimS),
    Bits(kDimG) | Bits(kDimK) | Bits(kDimC) | Bits(kDimR) | Bits(kDimS),
    Bits(kDimN) | Bits(kDimG) | Bits(kDimK) | Bits(kDimP) | Bits(kDimQ)};

int32_t AtLeastOne(int32_t v) { return v < 1 ? 1 : v; }

// Input, weight (optional) and output widths from the graph's tensors.
void SetWidths(const Graph& graph, const Layer& layer, uint32_t accumulator_bytes,
               MappingProblem* problem) {
  problem->element_bytes[kInput] = graph.tensors[layer.input(0)].element_bytes;
  const uint32_t second = layer.input(1);
  problem->element_bytes[kWeight] =
      second == kNone ? 1 : graph.tensors[second].element_bytes;
  problem->element_bytes[kOutput] = graph.tensors[layer.outputs[0]].element_bytes;
  problem->partial_bytes = accumulator_bytes;
}

void SetWindow(const Layer& layer, bool pool, MappingProblem* problem) {
  for (int axis = 0; axis < 2; ++axis) {
    const size_t a = static_cast<size_t>(axis);
    problem->stride[axis] =
        AtLeastOne(pool ? layer.attribute(SLUICE_POOL_STRIDE_H + a)
                        : layer.attribute(SLUICE_CONV_STRIDE_H + a));
    problem->dilation[axis] =
        pool ? 1 : AtLeastOne(layer.attribute(SLUICE_CONV_DILATION_H + a));
  }
}

// Output channels are cut at group borders, or within one group.
void SetConv(const Graph& graph, const Layer& layer, int64_t k,
             MappingProblem* problem) {
  const Tensor& in = graph.tensors[layer.input(0)];
  const Tensor& weight = graph.tensors[layer.input(1)];
  SetWindow(layer, false, problem);
  problem->extent[kDimR] = weight.extent[1];
  problem->extent[kDimS] = weight.extent[2];
  const int64_t groups = IsChannelwise(layer) ? in.extent[3] : GroupsOf(layer);
  const int64_t each =
      Max(int64_t{1}, graph.tensors[layer.outputs[0]].extent[3] / groups);
  problem->extent[kDimG] = CeilDivide(k, each);
  problem->extent[kDimK] = Min(k, each);
  problem->extent[kDimC] = in.extent[3] / groups;
}

// A transposed convolution by the phases of its stride: outputs a stride apart see the
// same taps, so each phase is an output channel of a convolution of stride 1. A phase
// with fewer taps counts as full: up to ceil(R/stride) * stride / R of the work along
// each axis. Outputs that no tap reaches are not computed.
void SetTransposed(const Graph& graph, const Layer& layer, const int32_t tile[kAxes],
                   MappingProblem* problem) {
  const Tensor& in = graph.tensors[layer.input(0)];
  const Tensor& weight = graph.tensors[layer.input(1)];
  problem->extent[kDimC] = in.extent[3];
  if (IsChannelwise(layer)) {
    problem->extent[kDimG] = tile[3];
    problem->extent[kDimK] = problem->extent[kDimC] = 1;
  }
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t stride =
        AtLeastOne(layer.attribute(SLUICE_CONV_STRIDE_H + static_cast<size_t>(axis)));
    const int64_t taps = weight.extent[1 + axis];
    const int64_t phases = Min(stride, taps);
    problem->extent[kDimK] *= phases;
    problem->extent[kDimP + axis] = CeilDivide(tile[1 + axis], stride);
    problem->extent[kDimR + axis] = CeilDivide(taps, stride);
  }
}

// The weight gradient as a convolution: images become channels and channels images; the
// error is the filter, its rows and columns are the taps, so strides become dilations.
// The sum runs over the layer's N, P and Q, which become C, R and S.
void SetWeightGradient(const Graph& graph, const Layer& layer,
                       const int32_t tile[kAxes], int64_t rows,
                       MappingProblem* problem) {
  const Tensor& error = graph.tensors[layer.input(1)];
  const int64_t groups = GroupsOf(layer);
  const int64_t each = Max(int64_t{1}, error.extent[3] / groups);
  problem->extent[kDimN] = tile[3];
  problem->extent[kDimG] = CeilDivide(tile[0], each);
  problem->extent[kDimK] = Min(int64_t{tile[0]}, each);
  problem->extent[kDimP] = tile[1];
  problem->extent[kDimQ] = tile[2];
  problem->extent[kDimC] = CeilDivide(rows, error.extent[1]);
  problem->extent[kDimR] = Min(rows, int64_t{error.extent[1]});
  problem->extent[kDimS] = error.extent[2];
  for (size_t a = 0; a < 2; ++a) {
    problem->stride[a] = AtLeastOne(layer.attribute(SLUICE_CONV_DILATION_H + a));
    problem->dilation[a] = AtLeastOne(layer.attribute(SLUICE_CONV_STRIDE_H + a));
  }
}

}  // namespace

uint32_t RelevantDims(uint32_t operand) { return kRelevant[operand]; }

int64_t TileWords(const MappingProblem& problem, uint32_t operand,
                  const int64_t extent[kDims]) {
  if (operand == kWeight) {
    return extent[kDimG] * extent[kDimK] * extent[kDimC] * extent[kDimR] *
           extent[kDimS];
  }
  if (operand == kOutput) {
    return extent[kDimN] * extent[kDimG] * extent[kDimK] * extent[kDimP] *
           extent[kDimQ];
  }
  return extent[kDimN] * extent[kDimG] * extent[kDimC] *
         WindowSpan(problem, 0, extent[kDimP], extent[kDimR]) *
         WindowSpan(problem, 1, extent[kDimQ], extent[kDimS]);
}

int64_t OperationCount(const MappingProblem& problem) {
  int64_t count = 1;
  for (int d = 0; d < kDims; ++d) count *= problem.extent[d];
  return count;
}

MappingProblem ConvProblem(const ConvExtents& conv) {
  MappingProblem problem = {};
  const auto [n, k, c, p, q, r, s, stride, bytes] = conv;
  const int64_t extent[kDims] = {n, k, c, p, q, r, s, 1};
  for (int d = 0; d < kDims; ++d) problem.extent[d] = extent[d];
  problem.stride[0] = problem.stride[1] = stride;
  problem.dilation[0] = problem.dilation[1] = 1;
  problem.operands = 7;
  for (uint32_t v = 0; v < kOperands; ++v) problem.element_bytes[v] = bytes;
  problem.partial_bytes = bytes;
  return problem;
}

MappingProblem GemmProblem(int64_t g, int64_t m, int64_t k, int64_t c, uint32_t bytes) {
  MappingProblem problem = ConvProblem({1, k, c, m, 1, 1, 1, 1, bytes});
  problem.extent[kDimG] = g;
  return problem;
}

namespace {

Status CheckExtents(const MappingProblem& problem, Diagnostic* diagnostic) {
  constexpr char kLetters[] = "NKCPQRSG";
  int64_t work = 1;
  for (int d = 0; d < kDims; ++d) {
    if (problem.extent[d] < 1) {
      return Fail(diagnostic, Status::kBadInput, "mapping")
          .Text("extent ")
          .Text(kLetters + d, 1)
          .Say(" is #, must be at least 1", problem.extent[d]);
    }
    if (!CheckedMultiply(work, problem.extent[d], &work) || work > kMaxOperations) {
      return Fail(diagnostic, Status::kBadInput, "mapping")
          .Text("work up to extent ")
          .Text(kLetters + d, 1)
          .Say(" = # exceeds # operations", problem.extent[d], kMaxOperations);
    }
  }
  return Status::kOk;
}

// The input may be larger than the work where strides skip most of it.
Status CheckInputSize(const MappingProblem& problem, Diagnostic* diagnostic) {
  int64_t words = problem.extent[kDimN];
  for (int axis = 0; axis < 2; ++axis) {
    int64_t span = 0, taps = 0, more = 0;
    const bool fits = CheckedMultiply(problem.extent[kDimP + axis] - 1,
                                      problem.stride[axis], &span) &&
                      CheckedMultiply(problem.extent[kDimR + axis] - 1,
                                      problem.dilation[axis], &taps) &&
                      CheckedAdd(span, taps + 1, &more) &&
                      CheckedMultiply(words, more, &words);
    if (!fits) words = INT64_MAX;
  }
  if (!CheckedMultiply(words, problem.extent[kDimC], &words) ||
      !CheckedMultiply(words, problem.extent[kDimG], &words) ||
      words > kMaxOperations) {
    return Fail(diagnostic, Status::kBadInput, "mapping")
        .Say("the input exceeds # words", kMaxOperations);
  }
  return Status::kOk;
}

}  // namespace

Status CheckProblem(const MappingProblem& problem, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckExtents(problem, diagnostic));
  for (int axis = 0; axis < 2; ++axis) {
    if (problem.stride[axis] < 1 || problem.dilation[axis] < 1) {
      return Fail(diagnostic, Status::kBadInput, "mapping")
          .Say("stride # and dilation # must be at least 1", problem.stride[axis],
               problem.dilation[axis]);
    }
  }
  SLUICE_TRY(CheckInputSize(problem, diagnostic));
  if (!Has(problem, kInput) || !Has(problem, kOutput)) {
    return Fail(diagnostic, Status::kBadInput, "mapping")
        .Text("input and output must be present");
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    const int64_t bytes =
        Min(int64_t{problem.element_bytes[v]}, InnerBytes(problem, v));
    if (Has(problem, v) && bytes < 1) {
      return Fail(diagnostic, Status::kBadInput, "mapping")
          .Say("operand # has words of 0 bytes", v);
    }
  }
  return Status::kOk;
}

namespace {

// Without weights each channel is its own group.
void SetPerElement(const Layer& layer, int32_t channels, MappingProblem* problem) {
  int64_t operands = 0;
  for (const TileRole role : TraitsOf(layer).role) {
    operands += role == kRoleInput0 || role == kRoleInput1;
  }
  problem->extent[kDimG] = channels;
  problem->extent[kDimK] = 1;
  problem->extent[kDimC] = operands;
  problem->operands = OperandBit(kInput) | OperandBit(kOutput);
  problem->vector = true;
}

void SetPool(const Layer& layer, int32_t channels, MappingProblem* problem) {
  SetPerElement(layer, channels, problem);
  SetWindow(layer, true, problem);
  problem->extent[kDimR] = layer.attribute(SLUICE_POOL_WINDOW_H);
  problem->extent[kDimS] = layer.attribute(SLUICE_POOL_WINDOW_W);
}

// Rows are pixels of one image row, as in fully connected layers: arrays that divide
// columns among cores divide them.
void SetMatmul(const Tensor& in, const int32_t tile[kAxes], MappingProblem* problem) {
  problem->extent[kDimG] = int64_t{tile[0]} * tile[1];
  problem->extent[kDimN] = 1;
  problem->extent[kDimP] = 1;
  problem->extent[kDimQ] = tile[2];
  problem->extent[kDimC] = in.extent[3];
}

// Fills the nest of an operator; false where it has none. `summed`: rows of the error
// to sum over (weight gradient).
bool SetNest(const Graph& graph, const Layer& layer, const int32_t tile[kAxes],
             int64_t summed, MappingProblem* problem) {
  switch (TraitsOf(layer).nest) {
    case NestRule::kNoNest:
      return false;
    case NestRule::kConv:
      SetConv(graph, layer, tile[3], problem);
      return true;
    case NestRule::kTransposed:
      SetTransposed(graph, layer, tile, problem);
      return true;
    case NestRule::kGradient:
      SetWeightGradient(graph, layer, tile, summed, problem);
      return true;
    case NestRule::kRows:
      problem->extent[kDimC] = graph.tensors[layer.inputs[0]].extent[3];
      return true;
    case NestRule::kMatmul:
      SetMatmul(graph.tensors[layer.inputs[0]], tile, problem);
      return true;
    case NestRule::kPool:
      SetPool(layer, tile[3], problem);
      return true;
    case NestRule::kPerElement:
      SetPerElement(layer, tile[3], problem);
      return true;
  }
  return false;
}

}  // namespace

Status ProblemOfTile(const Graph& graph, const LayerTile& part,
                     uint32_t accumulator_bytes, MappingProblem* problem,
                     Diagnostic* diagnostic) {
  const auto& [layer, tile, channels] = part;
  *problem = ConvProblem({tile[0], tile[3], 1, tile[1], tile[2], 1, 1, 1, 1});
  SetWidths(graph, layer, accumulator_bytes, problem);
  const OpTraits& traits = TraitsOf(layer);
  const int64_t all = AccumulatedChannels(graph, layer);
  const int64_t summed = channels == 0 ? all : Min(all, int64_t{channels});
  if (!SetNest(graph, layer, tile, summed, problem)) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("no loop nest for op ")
        .Text(OpName(layer.op));
  }
  // A tile of a part of the sum outputs partial sums, which keep their width.
  if (traits.sum == SumRule::kErrorRows) {
    if (summed < all) problem->element_bytes[kOutput] = accumulator_bytes;
  } else if (summed > 0 && summed < problem->extent[kDimC]) {
    problem->extent[kDimC] = summed;
    problem->element_bytes[kOutput] = accumulator_bytes;
  }
  return CheckProblem(*problem, diagnostic);
}

Status ProblemOfLayer(const Graph& graph, uint32_t index, uint32_t accumulator_bytes,
                      MappingProblem* problem, Diagnostic* diagnostic) {
  const Layer& layer = graph.layers[index];
  const Status status =
      ProblemOfTile(graph, {layer, graph.tensors[layer.outputs[0]].extent, 0},
                    accumulator_bytes, problem, diagnostic);
  if (status != Status::kOk) diagnostic->layer = index;
  return status;
}

uint64_t HashProblem(const MappingProblem& problem) {
  uint64_t hash = problem.operands | problem.vector << 3 | problem.partial_bytes << 4;
  const auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  for (const int64_t extent : problem.extent) mix(static_cast<uint64_t>(extent));
  for (int x = 0; x < 2; ++x) {
    mix(static_cast<uint32_t>(problem.stride[x]) |
        uint64_t{static_cast<uint32_t>(problem.dilation[x])} << 32);
  }
  for (const uint32_t bytes : problem.element_bytes) mix(bytes);
  return hash;
}

bool SameProblem(const MappingProblem& a, const MappingProblem& b) {
  bool same = a.operands == b.operands && a.vector == b.vector &&
              a.partial_bytes == b.partial_bytes;
  for (uint32_t d = 0; d < kDims; ++d) same &= a.extent[d] == b.extent[d];
  for (int x = 0; x < 2; ++x) {
    same &= a.stride[x] == b.stride[x] && a.dilation[x] == b.dilation[x];
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    same &= a.element_bytes[v] == b.element_bytes[v];
  }
  return same;
}

}  // namespace sluice
