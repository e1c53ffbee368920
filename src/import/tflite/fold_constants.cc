// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/fold_constants.h"

#include <algorithm>

#include "import/error.h"
#include "import/tflite/constant_values.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

ConstantValue ValueOf(const TfliteTensor& tensor) {
  ConstantValue value;
  value.type = tensor.type;
  value.shape = tensor.shape;
  value.data = tensor.data;
  value.bytes = tensor.data_bytes;
  if (tensor.scales.size() == 1) {
    value.scale = tensor.scales.data();
    value.zero_point = tensor.zero_points[0];
  }
  return value;
}

// 0 if an extent is not known, or there are more elements than a tensor may have.
uint64_t ElementsIn(const std::vector<int32_t>& shape) {
  uint64_t elements = 1;
  for (const int32_t extent : shape) {
    if (extent < 1) return 0;
    elements *= static_cast<uint64_t>(extent);
    if (elements > 0x7fffffff) return 0;
  }
  return elements;
}

bool IsConstant(const TfliteTensor& tensor) {
  return tensor.data != nullptr && !tensor.is_variable &&
         TfliteTypeBytes(tensor.type) != 0;
}

// Whether every present input is a constant, or only its shape is needed and known.
bool IsKnown(const TfliteModel& model, const TfliteOperator& op) {
  bool any = false;
  for (int32_t input : op.inputs) {
    if (input < 0) continue;
    any = true;
    const TfliteTensor& tensor = model.tensors[static_cast<size_t>(input)];
    const bool shape_is_known = std::all_of(tensor.shape.begin(), tensor.shape.end(),
                                            [](int32_t extent) { return extent >= 0; });
    if (NeedsShapeAlone(op) ? !shape_is_known : !IsConstant(tensor)) return false;
  }
  return any && !op.outputs.empty();
}

// Declared extents must equal the computed ones.
void CheckDeclared(const TfliteTensor& declared, const ComputedValue& computed) {
  const std::vector<int32_t>& shape = declared.shape;
  const bool fits = shape.size() == computed.shape.size() &&
                    std::equal(shape.begin(), shape.end(), computed.shape.begin(),
                               [](int32_t d, int32_t c) { return d < 0 || d == c; });
  // Converters leave out shapes that they do not know.
  if (!fits && !shape.empty()) {
    throw Error(Fault::kBadInput, "constant " + declared.name +
                                      " has other extents than its operator gives");
  }
  if (declared.type != computed.type) {
    throw Error(Fault::kBadInput, "constant " + declared.name +
                                      " has another type than its operator gives");
  }
}

ConstantValue Absent() {
  ConstantValue absent;
  absent.type = -1;
  return absent;
}

void Keep(const TfliteOperator& op, std::vector<ComputedValue> values,
          TfliteModel* model, uint64_t* room) {
  if (values.size() != op.outputs.size()) throw Unknown();
  for (size_t i = 0; i < values.size(); ++i) {
    CheckDeclared(model->tensors[static_cast<size_t>(op.outputs[i])], values[i]);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    TfliteTensor& tensor = model->tensors[static_cast<size_t>(op.outputs[i])];
    *room -= std::min<uint64_t>(*room, values[i].bytes.size());
    tensor.shape = values[i].shape;
    model->made.push_back(std::move(values[i].bytes));
    // A constant is recognised by data != nullptr, which an empty vector may not
    // have.
    if (model->made.back().empty()) model->made.back().reserve(1);
    tensor.data = model->made.back().data();
    tensor.data_bytes = model->made.back().size();
  }
}

// Gives the output of a RESHAPE to a constant shape the extents that the runtime gives it.
// Converters declare extents of 1 in place of those that they do not know.
void FollowShape(TfliteModel* model, const TfliteOperator& op) {
  if (op.code != static_cast<int>(tflite::BuiltinOperator::RESHAPE) ||
      op.inputs.size() != 2 || op.outputs.size() != 1 || op.inputs[0] < 0 ||
      op.inputs[1] < 0) {
    return;
  }
  const TfliteTensor& wanted = model->tensors[static_cast<size_t>(op.inputs[1])];
  if (!IsConstant(wanted) ||
      wanted.type != static_cast<int>(tflite::TensorType::INT32)) {
    return;
  }
  std::vector<int32_t> shape(wanted.data_bytes / 4);
  std::copy_n(wanted.data, wanted.data_bytes, reinterpret_cast<uint8_t*>(shape.data()));
  const uint64_t all =
      ElementsIn(model->tensors[static_cast<size_t>(op.inputs[0])].shape);
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    const uint64_t others = ElementsIn(shape);
    if (others == 0) return;
    *open = static_cast<int32_t>(all / others);
  }
  if (all != 0 && ElementsIn(shape) == all) {
    model->tensors[static_cast<size_t>(op.outputs[0])].shape = shape;
  }
}

}  // namespace

bool FoldOperator(TfliteModel* model, const TfliteOperator& op, uint64_t* room) {
  if (!IsKnown(*model, op)) return false;
  ConstantCall call = {op, {}, {}, *room};
  for (int32_t input : op.inputs) {
    call.inputs.push_back(
        input < 0 ? Absent() : ValueOf(model->tensors[static_cast<size_t>(input)]));
  }
  for (int32_t output : op.outputs) {
    call.outputs.push_back(ValueOf(model->tensors[static_cast<size_t>(output)]));
  }
  try {
    Keep(op, Compute(call), model, room);
  } catch (const Unknown&) {
    return false;
  }
  return true;
}

void FoldConstants(TfliteModel* model, uint64_t most_bytes,
                   std::vector<UnsupportedOperator>* folded) {
  std::vector<bool> is_output(model->tensors.size());
  for (int32_t output : model->outputs) is_output[static_cast<size_t>(output)] = true;
  std::vector<TfliteOperator> kept;
  for (TfliteOperator& op : model->operators) {
    // A layer must write each output of the graph.
    const bool writes_output = std::any_of(
        op.outputs.begin(), op.outputs.end(),
        [&](int32_t output) { return is_output[static_cast<size_t>(output)]; });
    if (!writes_output && FoldOperator(model, op, &most_bytes)) {
      CountOperator(folded, op.name, kComputedAtImport);
    } else {
      FollowShape(model, op);
      kept.push_back(std::move(op));
    }
  }
  model->operators = std::move(kept);
}

}  // namespace sluice::import
