// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_dequantised.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "import/onnx/onnx_lowering.h"
#include "import/onnx/onnx_moves.h"

namespace sluice::import {

using Floats = std::vector<float>;

namespace {

// The node that makes floats of a stored constant by scales that are not of blocks; nullptr:
// none does.
const OnnxNode* Dequantiser(const OnnxModel& model, const OnnxValue& value) {
  if (value.producer < 0) return nullptr;
  const OnnxNode& node = model.nodes[static_cast<size_t>(value.producer)];
  const OnnxValue *from = model.In(node, 0), *scale = model.In(node, 1),
                  *zero = model.In(node, 2);
  const bool stored = node.op == "DequantizeLinear" && node.Int("block_size", 0) == 0 &&
                      from != nullptr && from->has_data && from->has_shape &&
                      scale != nullptr && IsFloats(*scale) && !scale->data.empty() &&
                      (zero == nullptr || zero->has_data);
  return stored ? &node : nullptr;
}

// The axis of slices that have scales of their own; -1: there is one scale. False: no axis.
bool SlicedAxis(const OnnxModel& model, const OnnxNode& node, int64_t* axis) {
  *axis = -1;
  const size_t scales = model.In(node, 1)->data.size() / 4;
  if (scales == 1) return true;
  const std::vector<int64_t>& dims = model.In(node, 0)->dims;
  const int64_t rank = static_cast<int64_t>(dims.size()), at = node.Int("axis", 1);
  *axis = at < 0 ? at + rank : at;
  return *axis >= 0 && *axis < rank &&
         dims[static_cast<size_t>(*axis)] == static_cast<int64_t>(scales);
}

// Bytes of a constant with its elements where the node moves them; the axis of its scales moves
// along. False: they are not moved.
bool MovedBytes(const OnnxModel& model, const OnnxNode& node, const OnnxValue& from,
                int64_t* axis, OnnxData* data) {
  if (KeepsElements(node.op)) {
    *data = from.data;
    return *axis < 0 || node.op == "Identity" || node.op == "Dropout";
  }
  OnnxPlaces places;
  const size_t width = OnnxTypeBytes(from.type);
  if ((*axis >= 0 && node.op != "Transpose") || width == 0 ||
      !MovedPlaces(model, node, from.dims, &places)) {
    return false;
  }
  Bytes bytes;
  for (const int64_t place : places) {
    const uint8_t* element = from.data.data() + static_cast<size_t>(place) * width;
    bytes.insert(bytes.end(), element, element + width);
  }
  *data = std::move(bytes);
  if (*axis < 0) return true;
  const std::vector<size_t> perm = AxesOfTranspose(node, from.dims.size());
  const auto at = std::find(perm.begin(), perm.end(), static_cast<size_t>(*axis));
  *axis = at - perm.begin();
  return true;
}

// Makes `to`, whose extents are known, a constant of the moved elements.
bool MovedWhole(const OnnxModel& model, const OnnxNode& node, const OnnxValue& from,
                int64_t* axis, OnnxValue* to) {
  const size_t width = OnnxTypeBytes(from.type);
  OnnxData data;
  if (width == 0 || !from.has_shape ||
      static_cast<int64_t>(from.data.size() / width) != ElementsOf(from.dims) ||
      !MovedBytes(model, node, from, axis, &data) ||
      static_cast<int64_t>(data.size() / width) != ElementsOf(to->dims)) {
    return false;
  }
  to->data = std::move(data);
  to->type = from.type;
  return to->has_data = to->constant = true;
}

}  // namespace

Floats FloatsIn(const OnnxValue& value) {
  Floats floats(value.data.size() / 4);
  std::memcpy(floats.data(), value.data.data(), floats.size() * 4);
  return floats;
}

// Tables that are looked up before their rows are dequantised.
bool MoveStored(OnnxModel* model, int n) {
  const OnnxNode& node = model->nodes[static_cast<size_t>(n)];
  const OnnxValue* from = model->In(node, 0);
  int64_t axis = -1;
  if (from == nullptr || !from->has_data || node.outputs.size() != 1) return false;
  if (from->type != kOnnxInt8 && from->type != kOnnxUint8 && from->type != kOnnxInt16 &&
      from->type != kOnnxUint16) {
    return false;
  }
  return MovedWhole(*model, node, *from, &axis,
                    &model->values[static_cast<size_t>(node.outputs[0])]);
}

// Turns a node that moves a dequantised constant into the DequantizeLinear of the moved one.
bool MoveDequantised(OnnxModel* model, int n) {
  OnnxNode& node = model->nodes[static_cast<size_t>(n)];
  const OnnxValue* input = model->In(node, 0);
  const OnnxNode* made =
      input == nullptr || input->has_data ? nullptr : Dequantiser(*model, *input);
  int64_t axis = 0;
  if (made == nullptr || node.outputs.size() != 1 || !SlicedAxis(*model, *made, &axis))
    return false;
  const OnnxValue& from = *model->In(*made, 0);
  OnnxValue moved;
  moved.dims = model->values[static_cast<size_t>(node.outputs[0])].dims;
  if (!MovedWhole(*model, node, from, &axis, &moved)) return false;
  moved.name = node.name + "/stored";
  moved.has_shape = true;
  std::vector<int> inputs = made->inputs;
  inputs[0] = static_cast<int>(model->values.size());
  for (const int value : node.inputs) {
    if (value < 0) continue;
    auto& readers = model->values[static_cast<size_t>(value)].readers;
    readers.erase(std::remove(readers.begin(), readers.end(), n), readers.end());
  }
  model->values.push_back(std::move(moved));
  for (const int value : inputs) {
    if (value >= 0) model->values[static_cast<size_t>(value)].readers.push_back(n);
  }
  node.op = "DequantizeLinear";
  node.inputs = std::move(inputs);
  node.attributes.clear();
  if (axis >= 0) node.attributes["axis"].i = axis;
  model->values[static_cast<size_t>(node.outputs[0])].constant = true;
  return true;
}

// Floats of a constant, also of one that stays stored as integers. False: it is none.
bool RealConstant(const OnnxModel& model, const OnnxValue& value, Floats* reals) {
  if (IsFloats(value)) {
    *reals = FloatsIn(value);
    return true;
  }
  const OnnxNode* node = value.has_data ? nullptr : Dequantiser(model, value);
  int64_t axis = 0;
  if (node == nullptr || !SlicedAxis(model, *node, &axis)) return false;
  const OnnxValue &from = *model.In(*node, 0), *zero = model.In(*node, 2);
  if (ElementsOf(from.dims) > kMostMoved) return false;
  const Floats scales = FloatsIn(*model.In(*node, 1));
  const std::vector<int64_t> stored = StoredIntegers(from);
  std::vector<int64_t> zeros;
  if (zero != nullptr) zeros = StoredIntegers(*zero);
  zeros.resize(scales.size(), 0);
  if (static_cast<int64_t>(stored.size()) != ElementsOf(from.dims)) return false;
  size_t inner = 1;
  for (size_t a = static_cast<size_t>(axis) + 1; axis >= 0 && a < from.dims.size(); ++a)
    inner *= static_cast<size_t>(from.dims[a]);
  for (size_t i = 0; i < stored.size(); ++i) {
    const size_t s = i / std::max<size_t>(inner, 1) % scales.size();
    reals->push_back(static_cast<float>(stored[i] - zeros[s]) * scales[s]);
  }
  return true;
}

}  // namespace sluice::import
