// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/float_borders.h"

#include <algorithm>
#include <cmath>

#include "import/float_ranges.h"
#include "import/tflite/tensor_groups.h"
#include "import/tflite/variables.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
using Type = tflite::TensorType;

bool Is(const TfliteOperator& op, Op code) { return static_cast<Op>(op.code) == code; }

bool IsReal(const TfliteTensor& tensor) {
  return static_cast<Type>(tensor.type) == Type::FLOAT32 && tensor.scales.empty();
}

// Operators that move elements of inputs from `first` on and compute nothing.
struct Mover {
  Op op;
  size_t first;
  bool all_inputs;  // else only `first`; the others say where to
};
constexpr Mover kMovers[] = {
    {Op::RESHAPE, 0, false},      {Op::SQUEEZE, 0, false},
    {Op::EXPAND_DIMS, 0, false},  {Op::TRANSPOSE, 0, false},
    {Op::SLICE, 0, false},        {Op::STRIDED_SLICE, 0, false},
    {Op::SPLIT, 1, false},        {Op::SPLIT_V, 0, false},
    {Op::CONCATENATION, 0, true}, {Op::PACK, 0, true},
    {Op::MAX_POOL_2D, 0, false},  {Op::RESIZE_NEAREST_NEIGHBOR, 0, false},
};

const Mover* MoverOf(const TfliteOperator& op) {
  for (const Mover& mover : kMovers) {
    if (Is(op, mover.op)) return &mover;
  }
  return nullptr;
}

bool HasFusedActivation(const TfliteOperator& op) {
  const auto* concat = op.wire->builtin_options_as_ConcatenationOptions();
  const auto* pool = op.wire->builtin_options_as_Pool2DOptions();
  const auto none = tflite::Activation::NONE;
  return (concat != nullptr && concat->activation() != none) ||
         (pool != nullptr && pool->activation() != none);
}

// What a float state that is stored like `like` holds before the first run. False: its
// numbers are between those that `like` has.
bool StoreFirst(const std::vector<uint8_t>& floats, const TfliteTensor& like,
                std::vector<uint8_t>* stored) {
  const double scale = static_cast<double>(like.scales[0]);
  const double zero = static_cast<double>(like.zero_points[0]);
  const size_t bytes = TfliteTypeBytes(like.type);
  const bool from_zero = static_cast<Type>(like.type) == Type::UINT8;
  const double least = from_zero ? 0 : -std::ldexp(1, static_cast<int>(8 * bytes) - 1);
  for (const float real : FloatsIn(floats.data(), floats.size())) {
    const double steps = std::round(static_cast<double>(real) / scale);
    const double number = steps + zero;
    const bool held = number >= least && number < least + std::ldexp(1, int(8 * bytes));
    if (!held || static_cast<float>(steps * scale) != real) return false;
    const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(number));
    for (size_t b = 0; b < bytes; ++b) {
      stored->push_back(static_cast<uint8_t>(bits >> (8 * b)));
    }
  }
  return true;
}

class Nets {
 public:
  explicit Nets(const TfliteModel& model)
      : model_(model), groups_(model.tensors.size()), facts_(model.tensors.size()) {
    for (const TfliteState& state : model.states) {
      if (state.next < 0) continue;
      groups_.Join(static_cast<size_t>(state.tensor), static_cast<size_t>(state.next));
    }
    for (const TfliteOperator& op : model.operators) Join(op);
    for (const TfliteOperator& op : model.operators) Look(op);
    std::vector<bool> is_state(facts_.size());
    for (const TfliteState& state : model.states) {
      is_state[static_cast<size_t>(state.tensor)] = true;
    }
    for (size_t i = 0; i < facts_.size(); ++i) {
      // A net with a constant stays float: quantising the constant would round it.
      const bool lasting = model.tensors[i].is_variable && !is_state[i];
      if (model.tensors[i].data != nullptr || lasting) Spoil(i);
    }
    for (const TfliteState& state : model.states) LookAtFirst(state);
  }

  // The quantised tensor whose type, scale and zero point `tensor` can take; nullptr:
  // none.
  const TfliteTensor* LikeOf(int32_t tensor) {
    if (tensor < 0 || !IsReal(model_.tensors[static_cast<size_t>(tensor)]))
      return nullptr;
    const Facts& facts = facts_[groups_.Find(static_cast<size_t>(tensor))];
    return facts.spoilt ? nullptr : facts.like;
  }

 private:
  struct Facts {
    const TfliteTensor* like = nullptr;
    bool spoilt = false;
  };

  void LookAtFirst(const TfliteState& state) {
    const TfliteTensor* like = LikeOf(state.tensor);
    std::vector<uint8_t> stored;
    if (like != nullptr && !StoreFirst(state.first, *like, &stored)) {
      Spoil(static_cast<size_t>(state.tensor));
    }
  }

  void Spoil(size_t i) { facts_[groups_.Find(i)].spoilt = true; }

  void Join(const TfliteOperator& op) {
    const Mover* mover = MoverOf(op);
    if (mover == nullptr || HasFusedActivation(op)) return;
    groups_.Join(op, mover->first,
                 mover->all_inputs ? op.inputs.size() : mover->first + 1);
  }

  // Records what an operator implies for the nets of its tensors: a quantisation, or
  // that the net must stay float.
  void Look(const TfliteOperator& op) {
    if (MoverOf(op) != nullptr && !HasFusedActivation(op)) return;
    if ((Is(op, Op::QUANTIZE) || Is(op, Op::DEQUANTIZE)) && op.inputs.size() == 1 &&
        op.outputs.size() == 1 && op.inputs[0] >= 0) {
      const bool out = Is(op, Op::DEQUANTIZE);
      const size_t real = static_cast<size_t>(out ? op.outputs[0] : op.inputs[0]);
      const size_t stored = static_cast<size_t>(out ? op.inputs[0] : op.outputs[0]);
      if (IsReal(model_.tensors[real])) return Note(real, model_.tensors[stored]);
    }
    for (const std::vector<int32_t>* list : {&op.inputs, &op.outputs}) {
      for (const int32_t tensor : *list) {
        if (tensor >= 0) Spoil(static_cast<size_t>(tensor));
      }
    }
  }

  void Note(size_t real, const TfliteTensor& stored) {
    Facts& facts = facts_[groups_.Find(real)];
    const TfliteTensor* like = facts.like;
    const Type type = static_cast<Type>(stored.type);
    const bool whole =
        stored.scales.size() == 1 && stored.scales[0] > 0 && type != Type::FLOAT16;
    const bool same =
        like == nullptr ||
        (whole && like->type == stored.type && like->scales[0] == stored.scales[0] &&
         like->zero_points[0] == stored.zero_points[0]);
    facts.spoilt = facts.spoilt || !whole || !same;
    if (like == nullptr) facts.like = &stored;
  }

  const TfliteModel& model_;
  TensorGroups groups_;
  std::vector<Facts> facts_;
};

void Replace(std::vector<int32_t>* list, int32_t from, int32_t to) {
  std::replace(list->begin(), list->end(), from, to);
}

bool Contains(const std::vector<int32_t>& list, int32_t tensor) {
  return std::find(list.begin(), list.end(), tensor) != list.end();
}

// Removes an operator by merging its input and output into one tensor, if at least one
// of them is not an input or output of the model; else the operator becomes a copy.
class Removal {
 public:
  explicit Removal(TfliteModel* model) : model_(*model) {}

  // True when the operator is gone.
  bool Remove(TfliteOperator* op) {
    const int32_t in = op->inputs[0], out = op->outputs[0];
    if (IsInner(out)) {
      for (TfliteOperator& other : model_.operators) Replace(&other.inputs, out, in);
      ReplaceNext(out, in);
      return true;
    }
    if (IsInner(in)) {
      for (TfliteOperator& other : model_.operators) {
        Replace(&other.inputs, in, out);
        Replace(&other.outputs, in, out);
      }
      ReplaceNext(in, out);
      return true;
    }
    op->code = static_cast<int>(Op::RESHAPE);
    return false;
  }

 private:
  void ReplaceNext(int32_t from, int32_t to) {
    for (TfliteState& state : model_.states) {
      if (state.next == from) state.next = to;
    }
  }

  bool IsInner(int32_t tensor) const {
    const TfliteTensor& t = model_.tensors[static_cast<size_t>(tensor)];
    return !Contains(model_.inputs, tensor) && !Contains(model_.outputs, tensor) &&
           t.data == nullptr && !t.is_variable;
  }

  TfliteModel& model_;
};

// States that are stored like others than floats hold these from the beginning.
void StoreStates(const std::vector<const TfliteTensor*>& like, uint64_t most_bytes,
                 TfliteModel* model) {
  for (TfliteState& state : model->states) {
    const size_t at = static_cast<size_t>(state.tensor);
    if (like[at] == nullptr) continue;
    std::vector<uint8_t> stored;
    if (state.first.empty()) {
      stored = ZerosOf(model->tensors[at], most_bytes);
    } else {
      StoreFirst(state.first, model->tensors[at], &stored);
    }
    state.first = std::move(stored);
  }
}

}  // namespace

void TakeFloatBorders(uint64_t most_bytes, TfliteModel* model,
                      std::vector<UnsupportedOperator>* folded) {
  std::vector<const TfliteTensor*> like(model->tensors.size());
  Nets nets(*model);
  for (size_t i = 0; i < like.size(); ++i)
    like[i] = nets.LikeOf(static_cast<int32_t>(i));
  std::vector<size_t> gone;
  Removal removal(model);
  for (size_t i = 0; i < model->operators.size(); ++i) {
    TfliteOperator& op = model->operators[i];
    if (!Is(op, Op::QUANTIZE) && !Is(op, Op::DEQUANTIZE)) continue;
    const int32_t real = Is(op, Op::DEQUANTIZE) ? op.outputs.at(0) : op.inputs.at(0);
    if (real < 0 || like[static_cast<size_t>(real)] == nullptr) continue;
    CountOperator(folded, op.name, kScaleOfBorder);
    if (removal.Remove(&op)) gone.push_back(i);
  }
  for (size_t i = 0; i < like.size(); ++i) {
    if (like[i] == nullptr) continue;
    TfliteTensor& tensor = model->tensors[i];
    tensor.type = like[i]->type;
    tensor.scales = like[i]->scales;
    tensor.zero_points = like[i]->zero_points;
  }
  StoreStates(like, most_bytes, model);
  for (size_t i = gone.size(); i-- > 0;) {
    model->operators.erase(model->operators.begin() +
                           static_cast<std::ptrdiff_t>(gone[i]));
  }
}

}  // namespace sluice::import
