// SPDX-License-Identifier: Apache-2.0
// ONNX: operators on floats that are several of the host's functions, one behind the other.
#include <algorithm>
#include <limits>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;
using Options = std::vector<int32_t>;

// A tensor of floats with its shape.
struct Real {
  uint32_t tensor;
  Shape shape;
  std::string name;  // of the layer that writes it
};

Real RealOf(OnnxLowering* to, const OnnxNode& node, size_t i) {
  const int input = InputIndex(node, i);
  return {FloatsOf(to, input), ShapeOf(ValueOf(*to, input)), ""};
}

Real Number(OnnxLowering* to, const std::string& name, float number) {
  return {FloatConstant(to, name, {1}, {number}), {1}, ""};
}

Real NewReal(OnnxLowering* to, const std::string& name, const Shape& shape) {
  Numbers numbers;
  numbers.floats = true;
  numbers.dtype = SLUICE_DTYPE_INT32;
  return {NewTensor(to, name, DimsIn(shape, Straight(shape.size())), numbers), shape,
          name};
}

// The node's output i, which the last function writes.
Real Last(OnnxLowering* to, const OnnxNode& node, size_t i = 0) {
  return {NewFloats(to, node, i), ShapeOf(OutputOf(*to, node, i)), node.name};
}

// A function of two operands that broadcast.
void Two(OnnxLowering* to, const std::string& function, const Real& a, const Real& b,
         const Real& out) {
  Options options;
  AppendShape(out.shape, out.shape.size(), &options);
  for (const Real* operand : {&a, &b}) {
    AppendShape(operand->shape, out.shape.size(), &options);
    const size_t missing = out.shape.size() - operand->shape.size();
    for (size_t i = 0; i < operand->shape.size(); ++i) {
      Require(operand->shape[i] == 1 || operand->shape[i] == out.shape[i + missing],
              "extents that do not broadcast");
    }
  }
  AddHost(to, out.name, function, {{a.tensor, b.tensor}, options, {out.tensor}}, 0);
}

// Sum, Mean, Max or Min of any number of operands, from the first to the last.
void Several(OnnxLowering* to, const OnnxNode& node) {
  const bool mean = node.op == "Mean";
  const std::string function = mean || node.op == "Sum" ? "Add" : node.op;
  const Shape& shape = ShapeOf(OutputOf(*to, node));
  Real so_far = RealOf(to, node, 0);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const bool last = i + 1 == node.inputs.size() && !mean;
    const std::string part = node.name + "/part" + std::to_string(i);
    const Real out = last ? Last(to, node) : NewReal(to, part, shape);
    Two(to, function, so_far, RealOf(to, node, i), out);
    so_far = out;
  }
  if (!mean) return;
  const float count = static_cast<float>(node.inputs.size());
  Two(to, "Div", so_far, Number(to, node.name + "/count", count), Last(to, node));
}

void BiasGelu(OnnxLowering* to, const OnnxNode& node) {
  const Real sum = NewReal(to, node.name + "/sum", ShapeOf(OutputOf(*to, node)));
  Two(to, "Add", RealOf(to, node, 0), RealOf(to, node, 1), sum);
  CountRounded(to, node, kHostFloats);
  AddHost(to, node.name, "Gelu", {{sum.tensor}, {0, 0, 0}, {Last(to, node).tensor}}, 0);
}

// The sum of two operands and a bias, normalised along its last axis.
void SkipNorm(OnnxLowering* to, const OnnxNode& node) {
  const bool centred = node.op.find("Simplified") == std::string::npos;
  const Shape& shape = ShapeOf(OutputOf(*to, node));
  Require(!shape.empty(), "no axis to normalise");
  for (size_t i = 1; i < std::min<size_t>(node.outputs.size(), 3); ++i) {
    Require(node.outputs[i] < 0, "the mean as an output");
  }
  const bool keeps = node.outputs.size() > 3 && node.outputs[3] >= 0;
  const size_t bias = centred ? 4 : 3;
  const bool biased = HasInput(node, bias);
  const auto sum_of = [&](const char* part, bool last) {
    return last && keeps ? Last(to, node, 3) : NewReal(to, node.name + part, shape);
  };
  Real sum = sum_of("/sum", !biased);
  Two(to, "Add", RealOf(to, node, 0), RealOf(to, node, 1), sum);
  if (biased) {
    const Real with = sum_of("/biased", true);
    Two(to, "Add", sum, RealOf(to, node, bias), with);
    sum = with;
  }
  const size_t last = shape.size() - 1;
  const int32_t row = ProductOfAxes(shape, last, shape.size());
  Require(ElementsOf(ShapeOf(InputOf(*to, node, 2))) == row,
          "scales of another extent");
  const uint32_t scale = FloatsOf(to, InputIndex(node, 2));
  uint32_t shift = kNoTensor;
  if (centred && HasInput(node, 3)) {
    Require(ElementsOf(ShapeOf(InputOf(*to, node, 3))) == row,
            "biases of another extent");
    shift = FloatsOf(to, node.inputs[3]);
  } else {
    to->graph.NeedRoom(static_cast<uint64_t>(row) * 4);
    shift = FloatConstant(to, node.name + "/shift", {row},
                          std::vector<float>(static_cast<size_t>(row), 0.0f));
  }
  CountRounded(to, node, kHostFloats);
  AddHost(to, node.name, centred ? "LayerNormalization" : "RMSNormalization",
          {{sum.tensor, scale, shift},
           {ProductOfAxes(shape, 0, last), row, 0,
            FloatBits(node.Float("epsilon", 1e-12f))},
           {Last(to, node).tensor}},
          0);
}

// Groups of channels are normalised; then each channel has a scale and a bias.
void GroupNorm(OnnxLowering* to, const OnnxNode& node) {
  const Shape& shape = ShapeOf(OutputOf(*to, node));
  Require(shape.size() >= 3 && shape == ShapeOf(InputOf(*to, node, 0)), "no channels");
  const int64_t groups = node.Int("num_groups", 1);
  Require(groups >= 1 && shape[1] % groups == 0, "channels that do not divide");
  Shape channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  Real factors[2];
  for (size_t i = 0; i < 2; ++i) {
    factors[i] = RealOf(to, node, i + 1);
    Require(factors[i].shape == Shape{shape[1]}, "factors of another extent");
    factors[i].shape = channels;
  }
  const Real normal = NewReal(to, node.name + "/normal", shape),
             scaled = NewReal(to, node.name + "/scaled", shape);
  const int32_t rows = ProductOfAxes({shape[0], groups}, 0, 2),
                row = static_cast<int32_t>(ProductOfAxes(shape, 1, shape.size()) /
                                           groups);
  CountRounded(to, node, kHostFloats);
  AddHost(to, normal.name, "LayerNormalization",
          {{RealOf(to, node, 0).tensor, Number(to, node.name + "/one", 1).tensor,
            Number(to, node.name + "/zero", 0).tensor},
           {rows, row, 1, FloatBits(node.Float("epsilon", 1e-5f))},
           {normal.tensor}},
          0);
  Two(to, "Mul", normal, factors[0], scaled);
  Two(to, "Add", scaled, factors[1], Last(to, node));
}

}  // namespace

void LowerOnnxComposed(OnnxLowering* to, const OnnxNode& node) {
  if (node.op == "com.microsoft.BiasGelu") return BiasGelu(to, node);
  if (node.op == "GroupNormalization") return GroupNorm(to, node);
  if (node.op.find("Skip") != std::string::npos) return SkipNorm(to, node);
  Several(to, node);
}

}  // namespace sluice::import
