// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/float_quantisation.h"

#include <algorithm>

#include "import/error.h"
#include "import/tflite/float_islands.h"
#include "import/tflite/float_shapes.h"
#include "import/tflite/tensor_groups.h"
#include "import/tflite/variables.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
using Type = tflite::TensorType;

// Operators whose operands from `first` on, `count` of them (0: all), and results have one
// quantisation.
struct Same {
  Op op;
  size_t first, count;
};
constexpr Same kSame[] = {
    {Op::RESHAPE, 0, 1},
    {Op::SQUEEZE, 0, 1},
    {Op::EXPAND_DIMS, 0, 1},
    {Op::TRANSPOSE, 0, 1},
    {Op::SLICE, 0, 1},
    {Op::STRIDED_SLICE, 0, 1},
    {Op::SPLIT, 1, 1},
    {Op::SPLIT_V, 0, 1},
    {Op::CONCATENATION, 0, 0},
    {Op::PACK, 0, 0},
    {Op::UNPACK, 0, 1},
    {Op::MAX_POOL_2D, 0, 1},
    {Op::AVERAGE_POOL_2D, 0, 1},
    {Op::RESIZE_NEAREST_NEIGHBOR, 0, 1},
    {Op::RESIZE_BILINEAR, 0, 1},
    {Op::PAD, 0, 1},
    {Op::MIRROR_PAD, 0, 1},
    {Op::GATHER, 0, 1},
    {Op::GATHER_ND, 0, 1},
    {Op::EMBEDDING_LOOKUP, 1, 1},
    {Op::TILE, 0, 1},
    {Op::BROADCAST_TO, 0, 1},
    {Op::SPACE_TO_BATCH_ND, 0, 1},
    {Op::BATCH_TO_SPACE_ND, 0, 1},
    {Op::DEPTH_TO_SPACE, 0, 1},
    {Op::SPACE_TO_DEPTH, 0, 1},
    {Op::REVERSE_V2, 0, 1},
    {Op::MINIMUM, 0, 0},
    {Op::MAXIMUM, 0, 0},
    {Op::REDUCE_MAX, 0, 1},
    {Op::REDUCE_MIN, 0, 1},
    {Op::SELECT, 1, 2},
    {Op::SELECT_V2, 1, 2},
    {Op::REVERSE_SEQUENCE, 0, 1},
    {Op::PADV2, 0, 0},
    {Op::ONE_HOT, 2, 2},
    {Op::FILL, 1, 1},
    {Op::TOPK_V2, 0, 1},
    {Op::SCATTER_ND, 1, 1},
    {Op::DYNAMIC_UPDATE_SLICE, 0, 2},
    {Op::MATRIX_DIAG, 0, 1},
    {Op::MATRIX_SET_DIAG, 0, 2},
};

// Operators whose kernels write bytes of 0 between what they move: 0 must be their zero point.
bool WritesZeros(const TfliteOperator& op) {
  const Op code = static_cast<Op>(op.code);
  return !op.outputs.empty() && (code == Op::SCATTER_ND || code == Op::MATRIX_DIAG);
}

// Results of known range. Their kernels know one quantisation, so a range that is given for such
// a tensor counts only where another tensor has the same quantisation.
struct Known {
  Op op;
  Interval interval;
  Affine affine;  // where nothing else has the same quantisation
};
constexpr Known kKnown[] = {
    {Op::SOFTMAX, {0, 1}, {1.0f / 256, -128}},
    {Op::LOGISTIC, {0, 1}, {1.0f / 256, -128}},
    {Op::TANH, {-1, 1}, {1.0f / 128, 0}},
    {Op::L2_NORMALIZATION, {-1, 1}, {1.0f / 128, 0}},
};

template <typename Row, size_t kCount>
const Row* RowOf(const Row (&rows)[kCount], const TfliteOperator& op) {
  for (const Row& row : rows) {
    if (row.op == static_cast<Op>(op.code)) return &row;
  }
  return nullptr;
}

bool IsReal(const TfliteTensor& tensor) {
  return static_cast<Type>(tensor.type) == Type::FLOAT32;
}

// Tensors that have one quantisation, and what is known of it.
class Groups {
 public:
  explicit Groups(const TfliteModel& model)
      : model_(model), groups_(model.tensors.size()), facts_(model.tensors.size()) {
    for (const TfliteOperator& op : model.operators) Join(op);
    for (const TfliteState& state : model.states) {
      if (state.next < 0) continue;
      groups_.Join(static_cast<size_t>(state.tensor), static_cast<size_t>(state.next));
    }
  }

  void Learn(const FloatRanges& ranges) {
    std::vector<bool> by_kernel(facts_.size());
    for (const TfliteOperator& op : model_.operators) {
      const bool known = RowOf(kKnown, op) != nullptr && !op.outputs.empty();
      if (known) by_kernel[static_cast<size_t>(op.outputs[0])] = true;
      if (WritesZeros(op)) facts_[groups_.Find(First(op))].centred = true;
    }
    for (size_t i = 0; i < facts_.size(); ++i) {
      const auto given = ranges.find(model_.tensors[i].name);
      if (given == ranges.end() || by_kernel[i]) continue;
      if (model_.tensors[i].data == nullptr) Add(i, given->second);
    }
    for (const TfliteOperator& op : model_.operators) {
      const Known* known = RowOf(kKnown, op);
      if (known == nullptr || op.outputs.empty()) continue;
      Facts& facts = facts_[groups_.Find(First(op))];
      const bool alone =
          facts.interval.min > facts.interval.max || facts.known == &known->affine;
      const auto given = ranges.find(model_.tensors[First(op)].name);
      Add(First(op), given == ranges.end() ? known->interval : given->second);
      if (alone) facts.known = &known->affine;
    }
  }

  // A constant's numbers belong to the range of what has its quantisation.
  void Add(size_t tensor, const Interval& interval) {
    Facts& facts = facts_[groups_.Find(tensor)];
    facts.interval = Joined(facts.interval, interval);
    facts.known = nullptr;
  }

  bool IsKnown(size_t tensor) {
    const Interval& interval = facts_[groups_.Find(tensor)].interval;
    return interval.min <= interval.max;
  }
  Affine AffineOf(size_t tensor) {
    const Facts& facts = facts_[groups_.Find(tensor)];
    if (facts.known != nullptr) return *facts.known;
    if (!facts.centred) return Int8Affine(facts.interval);
    return {Int8Scale(facts.interval), 0};
  }

 private:
  struct Facts {
    Interval interval;
    const Affine* known = nullptr;
    bool centred = false;  // 0 is the zero point
  };

  static size_t First(const TfliteOperator& op) {
    return static_cast<size_t>(op.outputs[0]);
  }

  void Join(const TfliteOperator& op) {
    const Same* same = RowOf(kSame, op);
    if (same == nullptr) return;
    groups_.Join(op, same->first,
                 same->count == 0 ? op.inputs.size() : same->first + same->count);
  }

  const TfliteModel& model_;
  TensorGroups groups_;
  std::vector<Facts> facts_;
};

void Quantise(TfliteTensor* tensor, Type type, std::vector<float> scales, int32_t zero,
              int32_t axis) {
  tensor->type = static_cast<int>(type);
  tensor->zero_points.assign(scales.size(), zero);
  tensor->scales = std::move(scales);
  tensor->quantised_axis = axis;
}

// A product's operands: where its weight lies, the axis of which each slice has a scale (-1:
// one for all), its bias and what is multiplied by the weight.
struct Product {
  Op op;
  size_t input, weight, bias;
  int axis;
};
constexpr Product kProducts[] = {
    {Op::CONV_2D, 0, 1, 2, 0},
    {Op::DEPTHWISE_CONV_2D, 0, 1, 2, 3},
    {Op::TRANSPOSE_CONV, 2, 1, 3, 0},
    {Op::FULLY_CONNECTED, 0, 1, 2, -1},
};

bool IsRealConstant(const TfliteModel& model, const TfliteOperator& op, size_t i) {
  if (i >= op.inputs.size() || op.inputs[i] < 0) return false;
  const TfliteTensor& tensor = model.tensors[static_cast<size_t>(op.inputs[i])];
  return IsReal(tensor) && tensor.data != nullptr;
}

// The operand as a tensor of its own, so that other operators keep theirs.
TfliteTensor* OwnOperand(TfliteModel* model, TfliteOperator* op, size_t i) {
  model->tensors.push_back(model->tensors[static_cast<size_t>(op->inputs[i])]);
  op->inputs[i] = static_cast<int32_t>(model->tensors.size() - 1);
  return &model->tensors.back();
}

void QuantiseWeight(TfliteModel* model, TfliteOperator* op, const Product& product) {
  TfliteTensor* weight = OwnOperand(model, op, product.weight);
  const size_t axis = static_cast<size_t>(std::max(product.axis, 0));
  const Slices slices = product.axis < 0 ? Slices() : SlicesOf(weight->shape, axis);
  Int8Weights made =
      QuantisedWeights(FloatsIn(weight->data, weight->data_bytes), slices);
  SetBytes(model, weight, std::move(made.bytes));
  Quantise(weight, Type::INT8, std::move(made.scales), 0, static_cast<int32_t>(axis));
}

void QuantiseBias(TfliteModel* model, TfliteOperator* op, const Product& product,
                  float in_scale) {
  std::vector<float> scales =
      model->tensors[static_cast<size_t>(op->inputs[product.weight])].scales;
  for (float& scale : scales) scale *= in_scale;
  TfliteTensor* bias = OwnOperand(model, op, product.bias);
  const std::vector<float> floats = FloatsIn(bias->data, bias->data_bytes);
  if (scales.size() != 1 && scales.size() != floats.size()) {
    throw Error(Fault::kBadInput, "bias " + bias->name + " does not fit the weight");
  }
  SetBytes(model, bias, QuantisedBias(floats, scales));
  Quantise(bias, Type::INT32, std::move(scales), 0, 0);
}

// Weights and biases of products; their other operands are activations.
void QuantiseProducts(TfliteModel* model, Groups* groups) {
  for (TfliteOperator& op : model->operators) {
    const Product* product = RowOf(kProducts, op);
    if (product == nullptr || !IsRealConstant(*model, op, product->weight)) continue;
    if (op.inputs[product->input] < 0) continue;
    const size_t input = static_cast<size_t>(op.inputs[product->input]);
    QuantiseWeight(model, &op, *product);
    if (!IsRealConstant(*model, op, product->bias)) continue;
    QuantiseBias(model, &op, *product, groups->AffineOf(input).scale);
  }
}

// Of the first `count` tensors, floats that operators read or write, without the weights and
// biases of products.
std::vector<bool> OtherFloats(const TfliteModel& model, size_t count) {
  std::vector<bool> used(count);
  const auto use = [&](int32_t tensor) {
    const size_t at = static_cast<size_t>(tensor);
    if (tensor < 0 || at >= count) return;
    used[at] = used[at] || IsReal(model.tensors[at]);
  };
  for (const TfliteOperator& op : model.operators) {
    const Product* product = RowOf(kProducts, op);
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const bool constant = product != nullptr && IsRealConstant(model, op, i) &&
                            (i == product->weight || i == product->bias);
      if (!constant) use(op.inputs[i]);
    }
    for (const int32_t output : op.outputs) use(output);
  }
  for (const int32_t input : model.inputs) use(input);
  return used;
}

void MustBeFloats(const TfliteModel& model, const FloatRanges& ranges) {
  std::vector<std::string> names;
  for (const TfliteTensor& tensor : model.tensors) {
    if (IsReal(tensor)) names.push_back(tensor.name);
    if (tensor.scales.empty() || tensor.data != nullptr) continue;
    throw Error(Fault::kBadArgument,
                "the model is quantised: it needs no ranges (" + tensor.name + ")");
  }
  MustBeKnown(ranges, names);
}

std::vector<uint8_t> Int8Bytes(const uint8_t* data, size_t size, const Affine& affine) {
  std::vector<uint8_t> bytes;
  for (const float real : FloatsIn(data, size)) {
    bytes.push_back(static_cast<uint8_t>(Int8Of(real, affine)));
  }
  return bytes;
}

}  // namespace

void QuantiseFloats(const FloatRanges& ranges, uint64_t most_bytes,
                    TfliteModel* model) {
  MustBeFloats(*model, ranges);
  for (TfliteOperator& op : model->operators) SquareByProduct(&op);
  const size_t count = KeepFloatIslands(model);
  const std::vector<bool> used = OtherFloats(*model, count);
  Groups groups(*model);
  groups.Learn(ranges);
  std::vector<UnsupportedOperator> missing;
  for (size_t i = 0; i < used.size(); ++i) {
    const TfliteTensor& tensor = model->tensors[i];
    if (used[i] && tensor.data != nullptr) {
      groups.Add(i, IntervalOf(FloatsIn(tensor.data, tensor.data_bytes)));
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i] && !groups.IsKnown(i)) {
      missing.push_back({model->tensors[i].name, "no range is given", 1});
    }
  }
  if (!missing.empty()) FailUnranged(missing);
  QuantiseProducts(model, &groups);
  for (size_t i = 0; i < used.size(); ++i) {
    TfliteTensor& tensor = model->tensors[i];
    if (!used[i]) continue;
    const Affine affine = groups.AffineOf(i);
    if (tensor.data != nullptr) {
      SetBytes(model, &tensor, Int8Bytes(tensor.data, tensor.data_bytes, affine));
    }
    Quantise(&tensor, Type::INT8, {affine.scale}, affine.zero, 0);
  }
  for (TfliteState& state : model->states) {
    if (!used[static_cast<size_t>(state.tensor)]) continue;
    const Affine affine = groups.AffineOf(static_cast<size_t>(state.tensor));
    state.first =
        state.first.empty()
            ? ZerosOf(model->tensors[static_cast<size_t>(state.tensor)], most_bytes)
            : Int8Bytes(state.first.data(), state.first.size(), affine);
  }
}

}  // namespace sluice::import
