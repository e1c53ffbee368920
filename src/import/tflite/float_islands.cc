// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/float_islands.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;

// Operators of the table of lower_kernels.cc that compute floats and not bytes, and that no
// unit has; roots and quotients among them, which the runtime refuses for some bytes.
constexpr Op kIslands[] = {
    Op::SIGN,
    Op::ZEROS_LIKE,
    Op::DIV,
    Op::FLOOR_DIV,
    Op::FLOOR_MOD,
    Op::POW,
    Op::ATAN2,
    Op::ADD_N,
    Op::SQRT,
    Op::RSQRT,
    Op::LOG,
    Op::SIN,
    Op::COS,
    Op::FLOOR,
    Op::CEIL,
    Op::ROUND,
    Op::LOCAL_RESPONSE_NORMALIZATION,
    Op::CUMSUM,
    Op::L2_POOL_2D,
    Op::CONV_3D,
    Op::NON_MAX_SUPPRESSION_V4,
    Op::NON_MAX_SUPPRESSION_V5,
    Op::SEGMENT_SUM,
    Op::UNSORTED_SEGMENT_SUM,
    Op::UNSORTED_SEGMENT_PROD,
};

bool IsIsland(const TfliteOperator& op) {
  return std::find(std::begin(kIslands), std::end(kIslands),
                   static_cast<Op>(op.code)) != std::end(kIslands);
}

// Collects the operators with what goes in front of them and behind.
class Islands {
 public:
  explicit Islands(TfliteModel* model) : model_(*model) {}

  void Take(TfliteOperator op) {
    std::vector<TfliteOperator> behind;
    for (int32_t& input : op.inputs) {
      if (!IsFloat(input)) continue;
      const int32_t given = std::exchange(input, Own(input));
      if (model_.tensors[static_cast<size_t>(given)].data != nullptr) continue;
      Add(&made_, Op::DEQUANTIZE, "DEQUANTIZE", given, input);
    }
    for (int32_t& output : op.outputs) {
      if (!IsFloat(output)) continue;
      const int32_t wanted = std::exchange(output, Own(output));
      Add(&behind, Op::QUANTIZE, "QUANTIZE", output, wanted);
    }
    made_.push_back(std::move(op));
    made_.insert(made_.end(), behind.begin(), behind.end());
  }
  void Keep(TfliteOperator op) { made_.push_back(std::move(op)); }
  void Finish() { model_.operators = std::move(made_); }

 private:
  bool IsFloat(int32_t tensor) const {
    return tensor >= 0 && static_cast<tflite::TensorType>(
                              model_.tensors[static_cast<size_t>(tensor)].type) ==
                              tflite::TensorType::FLOAT32;
  }

  int32_t Own(int32_t of) {
    TfliteTensor copy = model_.tensors[static_cast<size_t>(of)];
    copy.is_variable = false;
    if (copy.data == nullptr) copy.name += "/float";
    model_.tensors.push_back(std::move(copy));
    return static_cast<int32_t>(model_.tensors.size() - 1);
  }

  static void Add(std::vector<TfliteOperator>* list, Op op, const char* name,
                  int32_t from, int32_t to) {
    list->push_back({static_cast<int>(op), name, {from}, {to}, nullptr});
  }

  TfliteModel& model_;
  std::vector<TfliteOperator> made_;
};

}  // namespace

size_t KeepFloatIslands(TfliteModel* model) {
  const size_t before = model->tensors.size();
  Islands islands(model);
  for (TfliteOperator& op : model->operators) {
    if (IsIsland(op)) {
      islands.Take(std::move(op));
    } else {
      islands.Keep(std::move(op));
    }
  }
  islands.Finish();
  return before;
}

}  // namespace sluice::import
