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

// ---- contractions

// Letters that stand for the axes of two operands and of the result.
struct Equation {
  std::string a, b, out;
};

bool Has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// Axes of `letters` that stand in `wanted`, in the order of `wanted`, are appended.
void AppendAxes(const std::string& letters, const std::string& wanted,
                AxisOrder* order) {
  for (const char letter : wanted) {
    order->push_back(static_cast<int>(letters.find(letter)));
  }
}

int64_t ExtentOf(const Shape& shape, const std::string& letters,
                 const std::string& wanted) {
  int64_t product = 1;
  for (const char letter : wanted) product *= shape[letters.find(letter)];
  return product;
}

void RequireLetters(const std::string& letters, const Shape& shape) {
  Require(letters.size() == shape.size(), "letters that do not fit the axes");
  for (size_t i = 0; i < letters.size(); ++i) {
    Require(letters[i] >= 'a' && letters[i] <= 'z' && letters.find(letters[i]) == i,
            "axes that an equation names in another way than by one letter each");
  }
}

// Letters of both operands and the result, of one operand and the result, of both
// operands alone.
struct Groups {
  std::string batch, rows, columns, inner;
};

Groups GroupsOf(const Equation& e) {
  Groups g;
  for (const char c : e.out) {
    const bool a = Has(e.a, c), b = Has(e.b, c);
    Require(a || b, "a letter that no operand has");
    (a && b ? g.batch : a ? g.rows : g.columns) += c;
  }
  for (const char c : e.a) {
    if (Has(e.out, c)) continue;
    Require(Has(e.b, c), "sums over an axis of one operand");
    g.inner += c;
  }
  for (const char c : e.b) {
    Require(Has(e.out, c) || Has(e.a, c), "sums over an axis of one operand");
  }
  return g;
}

// A product of matrices: axes are put in the order batch, rows, inner and batch, inner,
// columns; the result lies in the order batch, rows, columns. Each sum is multiplied by
// `factor`.
void Contract(OnnxLowering* to, const OnnxNode& node, const Equation& e, float factor) {
  const int first = InputIndex(node, 0), second = InputIndex(node, 1);
  const Shape &a = ShapeOf(ValueOf(*to, first)), &b = ShapeOf(ValueOf(*to, second)),
              &out = ShapeOf(OutputOf(*to, node));
  RequireLetters(e.a, a);
  RequireLetters(e.b, b);
  RequireLetters(e.out, out);
  const Groups g = GroupsOf(e);
  for (const char c : g.batch + g.inner) {
    Require(a[e.a.find(c)] == b[e.b.find(c)], "extents that do not fit a product");
  }
  AxisOrder order_a, order_b, order_out;
  for (const std::string* part : {&g.batch, &g.rows, &g.inner}) {
    AppendAxes(e.a, *part, &order_a);
  }
  for (const std::string* part : {&g.batch, &g.inner, &g.columns}) {
    AppendAxes(e.b, *part, &order_b);
  }
  for (const std::string* part : {&g.batch, &g.rows, &g.columns}) {
    AppendAxes(e.out, *part, &order_out);
  }
  const int64_t batch = ExtentOf(a, e.a, g.batch), m = ExtentOf(a, e.a, g.rows),
                k = ExtentOf(a, e.a, g.inner), n = ExtentOf(b, e.b, g.columns);
  if (ElementsOf(out) != batch * m * n) {
    throw Error(Fault::kBadInput, "shapes contradict each other: operands of " +
                                      node.name + " (" + node.op + ")");
  }
  Options options;
  AppendShape({batch, m, n}, 3, &options);
  AppendShape({batch, m, k}, 3, &options);
  AppendShape({batch, k, n}, 3, &options);
  const uint32_t in_a = FloatsOf(to, first, order_a),
                 in_b = FloatsOf(to, second, order_b);
  Numbers numbers;
  numbers.floats = true;
  numbers.dtype = SLUICE_DTYPE_INT32;
  CountRounded(to, node, kHostFloats);
  const uint64_t work = static_cast<uint64_t>(batch * m * n) * static_cast<uint64_t>(k);
  const Real sums = NewReal(to, node.name + "/sums", {batch, m, n});
  const uint32_t ofmap =
      NewOutput(to, node, 0, order_out, DimsIn(out, order_out), numbers);
  const bool whole = factor == 1;
  AddHost(to, node.name, "MatMul",
          {{in_a, in_b}, options, {whole ? ofmap : sums.tensor}}, work);
  if (whole) return;
  Two(to, "Mul", sums, Number(to, node.name + "/factor", factor),
      {ofmap, {batch, m, n}, node.name});
}

Equation EinsumOf(const OnnxNode& node) {
  std::string text = node.Text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t comma = text.find(','), arrow = text.find("->");
  Require(node.inputs.size() == 2 && comma != std::string::npos &&
              arrow != std::string::npos && comma < arrow,
          "an equation that is no product of two operands");
  return {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
          text.substr(arrow + 2)};
}

// MatMul and FusedMatMul, also of vectors and with transposed operands.
Equation ProductOf(OnnxLowering* to, const OnnxNode& node) {
  const size_t a = ShapeOf(InputOf(*to, node, 0)).size(),
               b = ShapeOf(InputOf(*to, node, 1)).size();
  Require(a >= 1 && b >= 1 && a <= 8 && b <= 8, "operands of no or over eight axes");
  Require(node.Int("transBatchA", 0) == 0 && node.Int("transBatchB", 0) == 0,
          "batches behind rows");
  const size_t batch_a = a > 2 ? a - 2 : 0, batch_b = b > 2 ? b - 2 : 0;
  Require(batch_a == batch_b || batch_b == 0, "batch axes that broadcast");
  const std::string batch = std::string("abcdef").substr(0, batch_a);
  Equation e = {batch + (a > 1 ? "mk" : "k"),
                batch.substr(0, batch_b) + (b > 1 ? "kn" : "k"),
                batch + (a > 1 ? "m" : "") + (b > 1 ? "n" : "")};
  if (node.Int("transA", 0) != 0 && a > 1) std::swap(e.a[batch_a], e.a[batch_a + 1]);
  if (node.Int("transB", 0) != 0 && b > 1) std::swap(e.b[batch_b], e.b[batch_b + 1]);
  return e;
}

}  // namespace

void LowerOnnxComposed(OnnxLowering* to, const OnnxNode& node) {
  if (node.op == "Einsum") return Contract(to, node, EinsumOf(node), 1);
  if (node.op.find("MatMul") != std::string::npos) {
    return Contract(to, node, ProductOf(to, node), node.Float("alpha", 1));
  }
  if (node.op == "com.microsoft.BiasGelu") return BiasGelu(to, node);
  if (node.op == "GroupNormalization") return GroupNorm(to, node);
  if (node.op.find("Skip") != std::string::npos) return SkipNorm(to, node);
  Several(to, node);
}

}  // namespace sluice::import
