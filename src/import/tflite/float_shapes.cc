// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/float_shapes.h"

#include <algorithm>
#include <cmath>

#include "import/tflite/float_islands.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
using Type = tflite::TensorType;

// All activations have this scale, so that layers which only move elements need not rescale
// them.
constexpr float kStep = 1.0f / 32;
constexpr double kWeightSpread = 74;  // of seeded int8 numbers, in steps

bool IsReal(const TfliteTensor& tensor) {
  return static_cast<Type>(tensor.type) == Type::FLOAT32;
}

// Which input is the bias; -1: none.
int BiasOf(const TfliteOperator& op) {
  switch (static_cast<Op>(op.code)) {
    case Op::CONV_2D:
    case Op::DEPTHWISE_CONV_2D:
    case Op::FULLY_CONNECTED:
      return 2;
    case Op::TRANSPOSE_CONV:
      return 3;
    default:
      return -1;
  }
}

void Quantise(TfliteTensor* tensor, Type type, float scale, int64_t zero) {
  tensor->type = static_cast<int>(type);
  tensor->scales = {scale};
  tensor->zero_points = {zero};
}

// Chosen so that sums of products have the same spread as the inputs.
float WeightScale(const TfliteTensor& weight) {
  double terms = 1;
  for (size_t a = 1; a < weight.shape.size(); ++a) terms *= weight.shape[a];
  return static_cast<float>(1 / (kWeightSpread * std::sqrt(std::max(terms, 1.0))));
}

void Seed(TfliteModel* model, TfliteTensor* tensor, uint64_t seed) {
  std::vector<uint8_t> bytes(tensor->data_bytes / 4);
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (uint8_t& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(state >> 56);
  }
  SetBytes(model, tensor, std::move(bytes));
}

bool IsOnFloats(const TfliteModel& model, const TfliteOperator& op) {
  for (const std::vector<int32_t>* list : {&op.inputs, &op.outputs}) {
    for (const int32_t tensor : *list) {
      if (tensor >= 0 && IsReal(model.tensors[static_cast<size_t>(tensor)]))
        return true;
    }
  }
  return false;
}

}  // namespace

void SetBytes(TfliteModel* model, TfliteTensor* tensor, std::vector<uint8_t> bytes) {
  model->made.push_back(std::move(bytes));
  tensor->data = model->made.back().data();
  tensor->data_bytes = model->made.back().size();
}

void SquareByProduct(TfliteOperator* op) {
  if (static_cast<Op>(op->code) != Op::SQUARE || op->inputs.size() != 1) return;
  op->code = static_cast<int>(Op::MUL);
  op->inputs.push_back(op->inputs[0]);
}

void KeepShapesOfFloats(TfliteModel* model,
                        std::vector<UnsupportedOperator>* shapes_only) {
  if (model->has_stored_weights) return;
  for (const TfliteTensor& tensor : model->tensors) {
    if (!tensor.scales.empty() && tensor.data == nullptr) return;
  }
  std::vector<bool> is_bias(model->tensors.size()), is_share(model->tensors.size());
  for (TfliteOperator& op : model->operators) {
    if (!IsOnFloats(*model, op)) continue;
    CountOperator(shapes_only, op.name, "");
    SquareByProduct(&op);
    const int bias = BiasOf(op);
    if (bias >= 0 && static_cast<size_t>(bias) < op.inputs.size() &&
        op.inputs[static_cast<size_t>(bias)] >= 0) {
      is_bias[static_cast<size_t>(op.inputs[static_cast<size_t>(bias)])] = true;
    }
    if (static_cast<Op>(op.code) == Op::SOFTMAX && !op.outputs.empty()) {
      is_share[static_cast<size_t>(op.outputs[0])] = true;
    }
  }
  const size_t count = KeepFloatIslands(model);
  for (TfliteState& state : model->states) {
    if (IsReal(model->tensors[static_cast<size_t>(state.tensor)])) state.first.clear();
  }
  for (size_t i = 0; i < count; ++i) {
    TfliteTensor& tensor = model->tensors[i];
    if (!IsReal(tensor)) continue;
    if (tensor.data == nullptr) {
      if (is_share[i]) {
        Quantise(&tensor, Type::INT8, 1.0f / 256, -128);
      } else {
        Quantise(&tensor, Type::INT8, kStep, 0);
      }
    } else if (is_bias[i]) {
      SetBytes(model, &tensor, std::vector<uint8_t>(tensor.data_bytes));
      Quantise(&tensor, Type::INT32, kStep, 0);
    } else {
      const float scale = tensor.shape.size() < 2 ? kStep : WeightScale(tensor);
      Seed(model, &tensor, i);
      Quantise(&tensor, Type::INT8, scale, 0);
    }
  }
}

}  // namespace sluice::import
