// SPDX-License-Identifier: Apache-2.0
// ONNX: Pad. A constant value around the tensor is a PAD, mirrored rows and columns are joined.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

// Padding by `reflect` or `edge`: a CONCAT of slices of one row or column each.
struct Mirrors {
  size_t axis;
  int64_t before, after;
  bool edge;
};

uint32_t Mirrored(OnnxLowering* to, const std::string& name, uint32_t tensor,
                  const Mirrors& mirrors, const Numbers& numbers) {
  const auto [axis, before, after, edge] = mirrors;
  if (before + after == 0) return tensor;
  const Dims dims = to->graph.tensors()[tensor].dims;
  const int64_t n = dims[axis];
  Require(before + after <= 64 && (edge || (before < n && after < n)),
          "pads that are wide");
  Dims one = dims, out = dims;
  one[axis] = 1;
  out[axis] += static_cast<int32_t>(before + after);
  std::vector<uint32_t> parts;
  for (int64_t i = -before; i < n + after; ++i) {
    if (i == 0) parts.push_back(tensor);
    if (i >= 0 && i < n) continue;
    int64_t at = i < 0 ? -i : 2 * (n - 1) - i;
    if (edge) at = i < 0 ? 0 : n - 1;
    std::vector<int32_t> begin(4);
    begin[axis] = static_cast<int32_t>(at);
    const std::string part = name + "/part" + std::to_string(parts.size());
    parts.push_back(NewTensor(to, part, one, numbers));
    AddLayer(to, part, SLUICE_OP_SLICE, {tensor}, parts.back(), begin);
  }
  const uint32_t padded = NewTensor(to, name, out, numbers);
  AddLayer(to, name, SLUICE_OP_CONCAT, parts, padded, {static_cast<int32_t>(axis)});
  return padded;
}

void Mirror(OnnxLowering* to, const OnnxNode& node, const std::vector<int64_t>& pads,
            bool edge) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const AxisOrder order = ChannelsLast(4);
  OnnxPlace place = PlaceOf(to, input);
  const std::string& name = OutputOf(*to, node).name;
  uint32_t tensor = TensorAs(to, input, order, DimsIn(shape, order));
  tensor =
      Mirrored(to, name + "/rows", tensor, {1, pads[2], pads[6], edge}, place.numbers);
  tensor = Mirrored(to, name, tensor, {2, pads[3], pads[7], edge}, place.numbers);
  place.tensor = tensor;
  place.order = order;
  place.layer = -1;
  SetPlace(to, node.outputs[0], place);
}

}  // namespace

float PadValue(const OnnxLowering& to, const OnnxNode& node) {
  float value = node.Float("value", 0);
  if (!HasInput(node, 2)) return value;
  const OnnxValue& stored = InputOf(to, node, 2);
  Require(stored.constant && stored.type == kOnnxFloat && stored.has_shape &&
              ElementsOf(stored.dims) == 1,
          "a pad value that is no float32 constant");
  value = RealsOf(to, node.inputs[2])[0];
  return value;
}

namespace {

// Pads before each axis, then those behind each, in ONNX's order of axes.
std::vector<int64_t> PadsOf(const OnnxLowering& to, const OnnxNode& node, size_t rank) {
  std::vector<int64_t> given =
      HasInput(node, 1) ? IntegersOf(to, node, 1) : node.Ints("pads", {});
  if (HasInput(node, 3)) {
    const std::vector<int64_t> axes = IntegersOf(to, node, 3);
    Require(given.size() == 2 * axes.size(), "pads of another length than the axes");
    std::vector<int64_t> all(2 * rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t a = static_cast<size_t>(AxisOf(InputOf(to, node, 0), axes[i]));
      all[a] = given[i];
      all[rank + a] = given[axes.size() + i];
    }
    given = all;
  }
  Require(given.size() == 2 * rank, "pads of another length than the rank");
  for (const int64_t pad : given) {
    Require(pad >= 0 && pad <= INT32_MAX, "negative pads");
  }
  return given;
}

// What lies in the pads, as the input's type stores it.
int32_t StoredPad(const OnnxLowering& to, const OnnxNode& node, const Numbers& n) {
  const OnnxValue* given = HasInput(node, 2) ? &InputOf(to, node, 2) : nullptr;
  const bool is_signed = given != nullptr && given->type == kOnnxInt8;
  if (is_signed || (given != nullptr && given->type == kOnnxUint8)) {
    Require(given->has_data && given->data.size() == 1,
            "a pad value that is computed at run time");
    return is_signed ? static_cast<int8_t>(given->data[0]) : given->data[0];
  }
  const float value = PadValue(to, node);
  if (!n.known) {
    Require(value == 0 || !to.computes_floats, "a pad value other than 0");
    return 0;
  }
  const float steps = std::nearbyint(value / n.affine.scale);
  const Range range = DtypeRange(n.dtype);
  const float stored = steps + static_cast<float>(n.affine.zero);
  Require(steps * n.affine.scale == value && stored >= static_cast<float>(range.min) &&
              stored <= static_cast<float>(range.max),
          "a pad value between two steps of its input");
  return static_cast<int32_t>(stored);
}

}  // namespace

void LowerOnnxPad(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const std::string mode = node.Text("mode", "constant");
  const size_t rank = shape.size();
  Require(mode != "wrap", "pads that go round");
  Require(rank <= 4, "more than four axes");
  const std::vector<int64_t> pads = PadsOf(*to, node, rank);
  if (mode != "constant") {
    const bool image =
        rank == 4 && pads[0] == 0 && pads[1] == 0 && pads[4] == 0 && pads[5] == 0;
    Require(image, "mirrored pads of batch or channels");
    return Mirror(to, node, pads, mode == "edge");
  }
  const OnnxPlace place = PlaceOf(to, input);
  const AxisOrder order = rank == 4 ? ChannelsLast(4) : place.order;
  std::vector<int32_t> attributes(4 - rank);
  for (const int axis : order) {
    attributes.push_back(static_cast<int32_t>(pads[static_cast<size_t>(axis)]));
  }
  attributes.push_back(StoredPad(*to, node, place.numbers));
  const uint32_t ifmap = TensorAs(to, input, order, DimsIn(shape, order));
  const uint32_t ofmap =
      NewOutput(to, node, 0, order, DimsIn(out, order), place.numbers);
  AddLayer(to, node.name, SLUICE_OP_PAD, {ifmap}, ofmap, attributes);
}

}  // namespace sluice::import
