// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/float_weights.h"

#include <algorithm>
#include <cstring>

#include "import/tflite/float_shapes.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
using Type = tflite::TensorType;

// Which inputs of a product are the activation and the weight, and the weight's axis of
// channels.
struct Product {
  Op op;
  size_t input, weight;
  int32_t axis;
};
constexpr Product kProducts[] = {{Op::CONV_2D, 0, 1, 0},
                                 {Op::DEPTHWISE_CONV_2D, 0, 1, 3},
                                 {Op::TRANSPOSE_CONV, 2, 1, 0},
                                 {Op::FULLY_CONNECTED, 0, 1, 0}};

const Product* ProductOf(const TfliteOperator& op) {
  for (const Product& product : kProducts) {
    if (product.op == static_cast<Op>(op.code) &&
        op.inputs.size() > std::max(product.input, product.weight)) {
      return &product;
    }
  }
  return nullptr;
}

class Weights {
 public:
  Weights(TfliteModel* model, uint64_t* room) : model_(*model), room_(*room) {}

  void Take(std::vector<UnsupportedOperator>* folded) {
    std::vector<TfliteOperator> kept;
    for (TfliteOperator& op : model_.operators) {
      if (Gives(op)) {
        CountOperator(folded, op.name, kComputedAtImport);
      } else {
        kept.push_back(std::move(op));
      }
    }
    model_.operators = std::move(kept);
    for (const TfliteOperator& op : model_.operators) {
      const Product* product = ProductOf(op);
      if (product == nullptr || op.inputs[product->input] < 0 ||
          op.inputs[product->weight] < 0) {
        continue;
      }
      model_.has_stored_weights |=
          static_cast<Type>(At(op.inputs[product->input]).type) == Type::FLOAT32 &&
          IsStored(At(op.inputs[product->weight]));
    }
  }

 private:
  TfliteTensor& At(int32_t tensor) {
    return model_.tensors[static_cast<size_t>(tensor)];
  }

  static bool IsStored(const TfliteTensor& tensor) {
    return tensor.data != nullptr && static_cast<Type>(tensor.type) == Type::INT8 &&
           !tensor.scales.empty() && !tensor.is_variable;
  }

  bool IsOutput(int32_t tensor) const {
    return std::find(model_.outputs.begin(), model_.outputs.end(), tensor) !=
           model_.outputs.end();
  }

  // Whether operators can read what it dequantises without it.
  bool Gives(const TfliteOperator& op) {
    if (static_cast<Op>(op.code) != Op::DEQUANTIZE || op.inputs.size() != 1 ||
        op.outputs.size() != 1 || op.inputs[0] < 0 || op.outputs[0] < 0 ||
        IsOutput(op.outputs[0]) || !IsStored(At(op.inputs[0])) ||
        static_cast<Type>(At(op.outputs[0]).type) != Type::FLOAT32 ||
        At(op.outputs[0]).shape != At(op.inputs[0]).shape) {
      return false;
    }
    if (!ReadersNeedFloats(op)) return true;
    return BecomesFloats(At(op.inputs[0]), &At(op.outputs[0]));
  }

  // Products read the stored weight from now on. True: others read it too.
  bool ReadersNeedFloats(const TfliteOperator& op) {
    int32_t weight = -1;
    bool needs = false;
    for (TfliteOperator& reader : model_.operators) {
      for (size_t i = 0; i < reader.inputs.size(); ++i) {
        if (reader.inputs[i] != op.outputs[0]) continue;
        if (!TakesStored(reader, i, At(op.inputs[0]))) {
          needs = true;
          continue;
        }
        if (weight < 0) weight = Meaning(op);
        reader.inputs[i] = weight;
      }
    }
    return needs;
  }

  static bool TakesStored(const TfliteOperator& reader, size_t i,
                          const TfliteTensor& stored) {
    const Product* product = ProductOf(reader);
    const bool zeros = std::all_of(stored.zero_points.begin(), stored.zero_points.end(),
                                   [](int64_t zero) { return zero == 0; });
    return product != nullptr && i == product->weight &&
           (stored.scales.size() == 1 ||
            (zeros && stored.quantised_axis == product->axis));
  }

  int32_t Meaning(const TfliteOperator& op) {
    TfliteTensor weight = At(op.inputs[0]);
    weight.means_floats = true;
    model_.tensors.push_back(std::move(weight));
    return static_cast<int32_t>(model_.tensors.size() - 1);
  }

  bool BecomesFloats(const TfliteTensor& stored, TfliteTensor* floats) {
    const uint64_t bytes = uint64_t{stored.data_bytes} * 4;
    const size_t axis = static_cast<size_t>(std::max(stored.quantised_axis, 0));
    const size_t scales = stored.scales.size();
    if (bytes > room_ || axis >= std::max<size_t>(stored.shape.size(), 1)) return false;
    size_t inner = 1;
    for (size_t a = axis + 1; a < stored.shape.size(); ++a)
      inner *= static_cast<size_t>(stored.shape[a]);
    if (scales > 1 && static_cast<size_t>(stored.shape[axis]) != scales) return false;
    room_ -= bytes;
    std::vector<uint8_t> made(bytes);
    for (size_t i = 0; i < stored.data_bytes; ++i) {
      const size_t slice = scales == 1 ? 0 : i / inner % scales;
      const int64_t steps =
          static_cast<int8_t>(stored.data[i]) - stored.zero_points[slice];
      const float real = static_cast<float>(steps) * stored.scales[slice];
      std::memcpy(&made[4 * i], &real, 4);
    }
    SetBytes(&model_, floats, std::move(made));
    return true;
  }

  TfliteModel& model_;
  uint64_t& room_;
};

}  // namespace

void TakeFloatWeights(TfliteModel* model, uint64_t* room,
                      std::vector<UnsupportedOperator>* folded) {
  Weights(model, room).Take(folded);
}

}  // namespace sluice::import
