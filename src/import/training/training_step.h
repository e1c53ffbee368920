// SPDX-License-Identifier: Apache-2.0
// A training step under construction: the graph, and the errors known so far. The error
// of a tensor is the derivative of the loss by it. Each layer that reads the tensor
// contributes a share; the error is the sum of the shares.
//
// Input    a layer of the inference graph, after all layers that read its output: then
//          every share of its output's error is known
// Output   new layers at the end of the graph: they compute shares of the errors of the
//          layer's inputs, and the gradients of its weights
// Errors   Error(kTooLarge) when constants exceed the graph's limit
// Source   training.h. Errors are int8 with zero point 0; each multiplier is such
//          that an error of the expected spread (root mean square) stays in range
#ifndef SLUICE_IMPORT_TRAINING_TRAINING_STEP_H_
#define SLUICE_IMPORT_TRAINING_TRAINING_STEP_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/graph_writer.h"
#include "import/quantisation.h"

namespace sluice::import {

constexpr double kErrorSpread = 32;   // root mean square to expect, in steps
constexpr double kWeightSpread = 74;  // of uniform int8 numbers
constexpr Range kErrorRange = {-128, 127};

struct TrainingStep {
  explicit TrainingStep(const Bytes& inference) : graph(inference) {}

  GraphWriter graph;
  std::vector<bool> trained;                  // by tensor of the inference graph
  std::vector<std::vector<uint32_t>> errors;  // likewise: the shares of its error
  std::map<uint32_t, double> spread;          // of an error; missing = kErrorSpread
  // Constants by (channels, (multiplier, shift)); all channels have the same.
  std::map<std::pair<int32_t, std::pair<int32_t, int32_t>>, uint32_t> parameters;
};

int64_t ElementsIn(const Extents& e);
Dims DimsFrom(const Extents& e);
Extents ShapeIn(const TrainingStep& step, uint32_t tensor);
// 0 for attributes that the layer leaves out.
int32_t AttributeOf(const LayerRow& layer, size_t i);
// Whether the tensor depends on a weight. Only then is its error needed.
bool IsTrained(const TrainingStep& step, uint32_t tensor);

// A layer with one int8 output, which has the layer's name.
struct StepLayer {
  std::string name;
  uint16_t op;
  std::vector<uint32_t> inputs;
  std::vector<int32_t> attributes;
  Extents shape;
};
// Returns the output.
uint32_t AddLayer(TrainingStep* step, const StepLayer& layer);
// Returns the tensor itself if it has that shape, else the output of a new RESHAPE.
uint32_t ReshapedTo(TrainingStep* step, uint32_t tensor, const Extents& shape);
// Each channel's value is a sum of `terms` products of an error and a weight.
struct ErrorSums {
  int32_t channels;
  double terms, weight_spread;
};
// Returns the layer's parameters, int32 [channels, 3]; equal ones are one tensor.
uint32_t AddErrorParameters(TrainingStep* step, const ErrorSums& sums, uint32_t error);

// The root mean square to expect of an error's numbers.
double SpreadOf(const TrainingStep& step, uint32_t error);
// Records `error` as one reader's share of the error of `tensor`.
void PassError(TrainingStep* step, uint32_t tensor, uint32_t error);
// Returns the error of the layer's sums, before they are clamped: the sum of the shares
// of its output's error, masked where the layer contains a ReLU. It contains one if
// `least`, the smallest number it outputs, is `zero`, its output's zero point. Returns
// kNoTensor if the output has no error.
uint32_t ErrorBeforeRelu(TrainingStep* step, const LayerRow& l, int32_t zero,
                         int32_t least);
// As ErrorBeforeRelu, for layers that do not clamp.
uint32_t ErrorOf(TrainingStep* step, const LayerRow& l);

// One function per kind of layer: each passes the error of the layer's output to its
// inputs, and adds the gradients of its weights.
void PassConvolution(TrainingStep* step, const LayerRow& l);
void PassFullyConnected(TrainingStep* step, const LayerRow& l);
void PassMatmul(TrainingStep* step, const LayerRow& l);
void PassMaxPool(TrainingStep* step, const LayerRow& l);
void PassAveragePool(TrainingStep* step, const LayerRow& l);
void PassBinary(TrainingStep* step, const LayerRow& l);
void PassRequantise(TrainingStep* step, const LayerRow& l);
void PassLookup(TrainingStep* step, const LayerRow& l);
void PassReshape(TrainingStep* step, const LayerRow& l);
void PassConcat(TrainingStep* step, const LayerRow& l);
void PassSliceOrPad(TrainingStep* step, const LayerRow& l);
void PassTranspose(TrainingStep* step, const LayerRow& l);
// For layers without integer gradients here: the host computes the inputs' errors.
void PassOnHost(TrainingStep* step, const LayerRow& l);
// As PassOnHost, with the error of the layer's output given.
void PassErrorOnHost(TrainingStep* step, const LayerRow& l, uint32_t error);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TRAINING_TRAINING_STEP_H_
