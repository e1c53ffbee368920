// SPDX-License-Identifier: Apache-2.0
// ONNX: RoiAlign and MaxUnpool, computed by the host.
#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

// Integers that are known, or that the host has computed, as 32 bits.
uint32_t IntegersAs32(OnnxLowering* to, const OnnxNode& node, size_t i) {
  const OnnxValue& value = InputOf(*to, node, i);
  Require(value.type == kOnnxInt64 || value.type == kOnnxInt32,
          "places that are no integers");
  if (!value.constant) {
    const uint32_t tensor = PlainTensor(to, InputIndex(node, i));
    Require(to->graph.tensors()[tensor].dtype == SLUICE_DTYPE_INT32,
            "places that are stored in another type");
    return tensor;
  }
  Require(value.has_integers, "places that are no stored constant");
  std::vector<int32_t> numbers;
  for (const int64_t number : value.integers) {
    Require(number >= 0 && number <= INT32_MAX, "a place out of range");
    numbers.push_back(static_cast<int32_t>(number));
  }
  return IntegerConstant(to, value.name + "/numbers", numbers);
}

void Unpool(OnnxLowering* to, const OnnxNode& node) {
  Require(ShapeOf(InputOf(*to, node, 0)) == ShapeOf(InputOf(*to, node, 1)),
          "indices of another shape than the maxima");
  const uint32_t x = FloatsOf(to, InputIndex(node, 0)), at = IntegersAs32(to, node, 1);
  AddHost(to, node.name, node.op, {{x, at}, {0}, {NewFloats(to, node)}}, 0);
}

void Align(OnnxLowering* to, const OnnxNode& node) {
  const Shape &x = ShapeOf(InputOf(*to, node, 0)),
              &regions = ShapeOf(InputOf(*to, node, 1)),
              &out = ShapeOf(OutputOf(*to, node));
  Require(x.size() == 4 && regions.size() == 2 && regions[1] == 4 && out.size() == 4 &&
              out[0] == regions[0] && out[1] == x[1] &&
              ShapeOf(InputOf(*to, node, 2)) == Shape{regions[0]},
          "extents that do not fit");
  const std::string mode = node.Text("mode", "avg");
  const std::string positions =
      node.Text("coordinate_transformation_mode",
                to->model.opset >= 16 ? "half_pixel" : "output_half_pixel");
  Require(mode == "avg" || mode == "max", "another mode than avg and max");
  const int64_t ratio = node.Int("sampling_ratio", 0);
  Require(ratio >= 0 && ratio <= 64, "more than 64 samples along an axis");
  std::vector<int32_t> options;
  for (const int64_t extent : {x[0], x[1], x[2], x[3], regions[0], out[2], out[3]}) {
    Require(extent <= 1 << 20, "an extent out of range");
    options.push_back(static_cast<int32_t>(extent));
  }
  options.insert(
      options.end(),
      {static_cast<int32_t>(ratio), FloatBits(node.Float("spatial_scale", 1)),
       positions == "half_pixel" ? 1 : 0, mode == "max" ? 1 : 0});
  const uint32_t picture = FloatsOf(to, InputIndex(node, 0)),
                 places = FloatsOf(to, InputIndex(node, 1)),
                 which = IntegersAs32(to, node, 2);
  CountRounded(to, node, kHostFloats);
  AddHost(to, node.name, node.op,
          {{picture, places, which}, options, {NewFloats(to, node)}},
          16 * static_cast<uint64_t>(ElementsOf(out)));
}

}  // namespace

void LowerOnnxRegions(OnnxLowering* to, const OnnxNode& node) {
  node.op == "MaxUnpool" ? Unpool(to, node) : Align(to, node);
}

}  // namespace sluice::import
