// SPDX-License-Identifier: Apache-2.0
// A training step while it is made: the graph so far, and how errors reach a tensor.
//
// Input    a layer of the inference graph whose readers have all been visited: then
//          every share of its output's error is there
// Output   layers behind those of the inference graph; shares of the errors of the
//          layer's inputs, and gradients of its weights
// Errors   Error(kTooLarge) where constants exceed the graph's limit
// Source   training.h; errors are int8 with zero 0, and every function that makes one
//          chooses its multiplier so that numbers of the expected spread stay in range
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
  std::vector<std::vector<uint32_t>> errors;  // likewise: shares of its error
  std::map<uint32_t, double> spread;          // of errors, where it is not kErrorSpread
  // Of equal channels: (channels, (multiplier, shift)) -> the constant.
  std::map<std::pair<int32_t, std::pair<int32_t, int32_t>>, uint32_t> parameters;
};

int64_t ElementsIn(const Extents& e);
Dims DimsFrom(const Extents& e);
Extents ShapeIn(const TrainingStep& step, uint32_t tensor);
// 0 for attributes that the layer leaves out.
int32_t AttributeOf(const LayerRow& layer, size_t i);
// Whether a weight decides about the tensor, so that somebody waits for its error.
bool IsTrained(const TrainingStep& step, uint32_t tensor);

// A layer of one int8 output, which is returned. Its name is the output's.
struct StepLayer {
  std::string name;
  uint16_t op;
  std::vector<uint32_t> inputs;
  std::vector<int32_t> attributes;
  Extents shape;
};
uint32_t AddLayer(TrainingStep* step, const StepLayer& layer);
// The tensor itself where it has that shape.
uint32_t ReshapedTo(TrainingStep* step, uint32_t tensor, const Extents& shape);
// int32 [channels, 3] for sums of `terms` products of an error and a weight.
struct ErrorSums {
  int32_t channels;
  double terms, weight_spread;
};
uint32_t AddErrorParameters(TrainingStep* step, const ErrorSums& sums, uint32_t error);

// The root mean square to expect of an error's numbers.
double SpreadOf(const TrainingStep& step, uint32_t error);
// `error` is one consumer's share of the error of `tensor`.
void PassError(TrainingStep* step, uint32_t tensor, uint32_t error);
// The whole error of a layer's output, in front of the ReLU inside the layer: there is
// one where the least number that the layer lets through stands for 0. kNoTensor
// without an error.
uint32_t ErrorBehindRelu(TrainingStep* step, const LayerRow& l, int32_t zero,
                         int32_t least);
// Of layers that clamp nothing.
uint32_t ErrorOf(TrainingStep* step, const LayerRow& l);

// By the kind of layer: what its output's error says of its inputs and weights.
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
// What has no integer meaning here is left to the host, given the layer's error.
void PassOnHost(TrainingStep* step, const LayerRow& l);
void PassErrorOnHost(TrainingStep* step, const LayerRow& l, uint32_t error);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TRAINING_TRAINING_STEP_H_
