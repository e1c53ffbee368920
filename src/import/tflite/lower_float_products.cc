// SPDX-License-Identifier: Apache-2.0
// Products of floats. Where the model stores integers as weights and says no more, the runtime
// quantises the activations in each run, and so does the host here: the sums are the runtime's.
// Where the weights stand for floats, activations are sums of three signed bytes.
#include <algorithm>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "import/float_parts.h"
#include "import/tflite/products.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

constexpr char kScaled[] =
    "the runtime may scale sums in another order: floats may differ in their last bit";
constexpr char kAdded[] = "the runtime adds floats: they may differ in their last bits";
enum ScaleKind : int32_t { kOne = 0, kByBatch = 1, kByEach = 2 };

int32_t BitsOf(float number) {
  int32_t bits = 0;
  std::memcpy(&bits, &number, 4);
  return bits;
}

uint32_t AddFloats(Lowering* to, const std::string& name,
                   const std::vector<float>& floats) {
  return to->graph.AddConstant(name, SLUICE_DTYPE_INT32,
                               {static_cast<int32_t>(floats.size())}, floats.data(),
                               floats.size() * 4);
}

struct Bounds {
  float low, high;
};
Bounds BoundsOf(int activation) {
  const float infinity = std::numeric_limits<float>::infinity();
  switch (static_cast<tflite::Activation>(activation)) {
    case tflite::Activation::NONE:
      return {-infinity, infinity};
    case tflite::Activation::RELU:
      return {0, infinity};
    case tflite::Activation::RELU_N1_TO_1:
      return {-1, 1};
    case tflite::Activation::RELU6:
      return {0, 6};
    default:
      throw Unsupported("a fused tanh or sign activation");
  }
}

// What each kind of product has.
struct Operands {
  const TfliteTensor& weight;
  int32_t channels, rows, inner;  // rows: of images, or of a matrix
  uint32_t ifmap, bias;           // floats
  Bounds bounds;
};

Operands OperandsOf(Lowering* to, const TfliteOperator& op, const Product& p) {
  const TfliteTensor& weight = InputOf(*to, op, p.weight);
  Require(weight.data != nullptr, "a weight that is computed at run time");
  Require(IsFloat(OutputOf(*to, op)), "an output of another type than the input");
  Require(p.macs_per_output <= kMostTerms, "sums of more than 32768 products");
  const int32_t channels = p.weight_dims[static_cast<size_t>(p.axis)];
  int64_t all = 1;
  for (const int32_t extent : p.in) all *= extent;
  const Bounds bounds = BoundsOf(p.activation);
  uint32_t bias = kNoTensor;
  if (HasInput(op, p.bias)) {
    const TfliteTensor& given = InputOf(*to, op, p.bias);
    Require(IsFloat(given), "a bias that is no float");
    int64_t count = 1;
    for (const int32_t extent : DimsOf(given)) count *= extent;
    Require(count == channels, "a bias that is not one number for each channel");
    bias = InputTensor(to, op, p.bias);
  } else {
    bias = AddFloats(to, OutputOf(*to, op).name + "/bias",
                     std::vector<float>(static_cast<size_t>(channels)));
  }
  const uint32_t ifmap =
      Reshaped(to, InputTensor(to, op, p.input), InputOf(*to, op, p.input), p.in);
  const int32_t rows = p.in[0];
  return {weight, channels, rows,  static_cast<int32_t>(all / rows),
          ifmap,  bias,     bounds};
}

void CheckScales(const TfliteTensor& weight, const Product& p, int32_t channels) {
  Require(static_cast<tflite::TensorType>(weight.type) == tflite::TensorType::INT8 &&
              !weight.scales.empty(),
          "a weight that is not quantised to int8");
  Require(weight.scales.size() == 1 ||
              (weight.quantised_axis == p.axis &&
               weight.scales.size() == static_cast<size_t>(channels)),
          "a weight quantised along another axis than output channels");
}

// For each channel and place of the window the sum of the weight over what is added up.
std::vector<int32_t> WindowSums(const TfliteTensor& weight, const Product& p) {
  const Dims& w = p.weight_dims;
  const size_t last = static_cast<size_t>(w.back());
  size_t outer = weight.data_bytes / last;
  const auto at = [&](size_t i) { return static_cast<int8_t>(weight.data[i]); };
  std::vector<int32_t> sums;
  if (p.axis == 0) {
    for (size_t i = 0; i < outer; ++i) {
      int32_t sum = 0;
      for (size_t c = 0; c < last; ++c) sum += at(i * last + c);
      sums.push_back(sum);
    }
    return sums;
  }
  for (size_t k = 0; k < last; ++k) {
    for (size_t i = 0; i < outer; ++i) sums.push_back(at(i * last + k));
  }
  return sums;
}

// The extents and the window as the options of onnx.Conv have them.
std::vector<int32_t> WindowOptions(const Product& p) {
  if (p.in.size() == 2)
    return {p.in[0], 1, 1, 1, p.out[1], 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
  const auto& w = p.window;  // strides, dilations, pads in front
  return {p.in[0],
          1,
          p.in[1],
          p.in[2],
          p.out[3],
          p.out[1],
          p.out[2],
          p.weight_dims[1],
          p.weight_dims[2],
          1,
          w[0],
          w[1],
          w[2],
          w[3],
          w[4],
          w[5]};
}

// The activations of each row, or image, are quantised by their range.
void AddQuantised(Lowering* to, const TfliteOperator& op, const Product& p,
                  const Operands& o) {
  CheckScales(o.weight, p, o.channels);
  Require(o.weight.zero_points[0] == 0,
          "a weight with a zero point beside floats, which the runtime refuses");
  to->graph.NeedRoom(o.weight.data_bytes);
  const bool with_zero = p.in.size() == 2 ? p.with_zero : o.weight.scales.size() > 1;
  const std::string& name = OutputOf(*to, op).name;
  const uint32_t bytes = NewPart(to, op, "/quantised", SLUICE_DTYPE_INT8, p.in),
                 scales = NewPart(to, op, "/scales", SLUICE_DTYPE_INT32, {o.rows}),
                 zeros = NewPart(to, op, "/zeros", SLUICE_DTYPE_INT32, {o.rows});
  AddHost(to, op, "quantise_rows",
          {o.ifmap, AddOptions(to, op, {o.rows, o.inner, with_zero ? 1 : 0})},
          {bytes, scales, zeros}, 0);
  const uint32_t sums = NewPart(to, op, "/sums", SLUICE_DTYPE_INT32, p.out);
  const uint32_t filter =
      Reshaped(to, InputTensor(to, op, p.weight), o.weight, p.weight_dims);
  AddLayer(to, op, p.unit, {bytes, filter, WholeParameters(to, op, o.channels)}, sums,
           WholeSums(p, 0));
  const std::vector<int32_t> inside = WindowSums(o.weight, p);
  const uint32_t window = to->graph.AddConstant(name + "/inside", SLUICE_DTYPE_INT32,
                                                {static_cast<int32_t>(inside.size())},
                                                inside.data(), inside.size() * 4);
  std::vector<int32_t> options = WindowOptions(p);
  // Products of rows scale by the product of both scales, others by one after the other.
  options.insert(options.end(),
                 {p.in.size() == 2 ? 1 : 0, p.unit == SLUICE_OP_TRANSPOSED_CONV ? 1 : 0,
                  BitsOf(o.bounds.low), BitsOf(o.bounds.high)});
  const uint32_t ofmap = OpenOutput(to, op, p.out);
  AddHost(
      to, op, "scale_rows",
      {sums, scales, zeros, window, AddFloats(to, name + "/factors", o.weight.scales),
       o.bias, AddOptions(to, op, options)},
      {ofmap}, 0);
  CloseOutput(to, op, ofmap);
  CountOperator(&to->rounded, op.name, kScaled);
}

// One part of the weight and how many parts of the activations it multiplies.
struct WeightPart {
  uint32_t filter;
  int32_t zero, stack;
  float weight;
};

// A weight's floats as parts, by channels.
std::vector<WeightPart> SplitWeight(Lowering* to, const Product& p, const Operands& o,
                                    std::vector<float>* scales) {
  to->graph.NeedRoom(o.weight.data_bytes);
  const size_t count = o.weight.data_bytes / 4,
               channels = static_cast<size_t>(o.channels), each = count / channels;
  std::vector<float> reals(count), sorted(count);
  if (count != 0) std::memcpy(reals.data(), o.weight.data, count * 4);
  // Where element i lies when channels come first.
  const auto place = [&](size_t i) {
    return p.axis == 0 ? i : i % channels * each + i / channels;
  };
  for (size_t i = 0; i < count; ++i) sorted[place(i)] = reals[i];
  const FloatParts split = SplitFloats(sorted, each);
  *scales = split.scales;
  std::vector<WeightPart> parts;
  for (int n = 0; n < kFloatParts; ++n) {
    std::vector<int8_t> bytes(count);
    for (size_t i = 0; i < count; ++i)
      bytes[i] = split.parts[static_cast<size_t>(n)][place(i)];
    parts.push_back(
        {to->graph.AddConstant(o.weight.name + "/part" + std::to_string(n),
                               SLUICE_DTYPE_INT8, p.weight_dims, bytes.data(), count),
         0, kFloatParts - n, PartWeight(n)});
  }
  return parts;
}

void AddActivation(Lowering* to, const TfliteOperator& op, const Bounds& bounds,
                   uint32_t from, uint32_t result) {
  AddHost(to, op, "onnx.Clip",
          {from, AddOptions(to, op, {BitsOf(bounds.low), BitsOf(bounds.high), 0})},
          {result}, 0);
}

std::string NumberedSums(const std::vector<uint32_t>& sums) {
  return "/sums" + std::to_string(sums.size());
}

// The parts of the activations lie one behind the other along the first axis.
struct Stacks {
  std::vector<uint32_t> by_count;  // of 3, 2 and 1 parts
  uint32_t scales;
};

Stacks SplitActivations(Lowering* to, const TfliteOperator& op, const Product& p,
                        const Operands& o, size_t kinds) {
  const bool is_rows = p.in.size() == 2;
  Stacks stacks;
  std::vector<int32_t> options = {is_rows ? 1 : o.rows, is_rows ? o.rows : 1, o.inner};
  for (size_t i = 0; i < kinds; ++i) {
    Dims dims = p.in;
    dims[0] *= kFloatParts - static_cast<int32_t>(i);
    stacks.by_count.push_back(
        NewPart(to, op, "/parts" + std::to_string(i), SLUICE_DTYPE_INT8, dims));
    options.push_back(0);
  }
  options.push_back(static_cast<int32_t>(p.in.size()));
  options.insert(options.end(), p.in.begin(), p.in.end());
  for (size_t i = 0; i < p.in.size(); ++i) options.push_back(static_cast<int32_t>(i));
  stacks.scales = NewPart(to, op, "/scales", SLUICE_DTYPE_INT32, {o.rows});
  std::vector<uint32_t> outputs = stacks.by_count;
  outputs.push_back(stacks.scales);
  AddHost(to, op, "onnx.SplitFloats", {o.ifmap, AddOptions(to, op, options)}, outputs,
          0);
  return stacks;
}

void AddSplit(Lowering* to, const TfliteOperator& op, const Product& p,
              const Operands& o) {
  std::vector<float> scales = o.weight.scales;
  std::vector<WeightPart> weights;
  if (IsFloat(o.weight)) {
    weights = SplitWeight(to, p, o, &scales);
  } else {
    CheckScales(o.weight, p, o.channels);
    weights.push_back(
        {Reshaped(to, InputTensor(to, op, p.weight), o.weight, p.weight_dims),
         static_cast<int32_t>(o.weight.zero_points[0]), kFloatParts, 1});
  }
  const Stacks stacks = SplitActivations(to, op, p, o, weights.size());
  const bool is_rows = p.in.size() == 2;
  const int32_t pixels = is_rows ? o.rows : p.out[1] * p.out[2];
  std::vector<int32_t> options = {is_rows ? 1 : o.rows,
                                  pixels,
                                  o.channels,
                                  0,
                                  0,
                                  is_rows ? kByBatch + kByEach : kByBatch,
                                  scales.size() == 1 ? kOne : kByEach,
                                  BitsOf(1)};
  const uint32_t whole = WholeParameters(to, op, o.channels);
  std::vector<uint32_t> inputs;
  for (size_t i = 0; i < weights.size(); ++i) {
    Dims dims = p.out;
    dims[0] *= weights[i].stack;
    const uint32_t sums =
        NewPart(to, op, NumberedSums(inputs), SLUICE_DTYPE_INT32, dims);
    AddLayer(to, op, p.unit, {stacks.by_count[i], weights[i].filter, whole}, sums,
             WholeSums(p, weights[i].zero));
    inputs.push_back(sums);
    options.push_back(BitsOf(weights[i].weight));
  }
  const bool bounded = p.activation != static_cast<int>(tflite::Activation::NONE);
  const uint32_t ofmap = OpenOutput(to, op, p.out);
  const uint32_t real =
      bounded ? NewPart(to, op, "/real", SLUICE_DTYPE_INT32, p.out) : ofmap;
  inputs.insert(
      inputs.end(),
      {stacks.scales, AddFloats(to, OutputOf(*to, op).name + "/factors", scales),
       o.bias, AddOptions(to, op, options)});
  AddHost(to, op, "onnx.ScaleSums", inputs, {real}, 0);
  if (bounded) AddActivation(to, op, o.bounds, real, ofmap);
  CloseOutput(to, op, ofmap);
  CountOperator(&to->rounded, op.name, kAdded);
}

// ---- products of two activations

struct Matrices {
  int32_t batch, rows, inner, columns;
  bool first_transposed, second_transposed;
};

Matrices MatricesOf(const Lowering& to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_BatchMatMulOptions();
  Require(options != nullptr, "missing options");
  Require(IsFloat(InputOf(to, op, 1)) && IsFloat(OutputOf(to, op)),
          "operands that are not floats");
  const Extents ea = ExtentsOf(InputOf(to, op, 0)), eb = ExtentsOf(InputOf(to, op, 1)),
                o = ExtentsOf(OutputOf(to, op));
  for (const size_t i : {0, 1})
    Require(ea[i] == eb[i] && ea[i] == o[i], "batch axes that broadcast");
  const size_t m = options->adj_x() ? 3 : 2, n = options->adj_y() ? 2 : 3;
  Require(ea[5 - m] == eb[5 - n] && o[2] == ea[m] && o[3] == eb[n],
          "extents that do not fit a product");
  const Matrices x = {ea[0] * ea[1],    ea[m],           ea[5 - m], eb[n],
                      options->adj_x(), options->adj_y()};
  Require(static_cast<uint64_t>(x.inner) <= kMostTerms,
          "sums of more than 32768 products");
  const int64_t outputs = int64_t{x.rows} * x.columns;
  Require(outputs * x.inner > int64_t{x.rows + x.columns} * x.inner + outputs,
          "a product of so few numbers that the host is done sooner");
  return x;
}

struct Sliced {
  size_t operand;
  Dims slices;  // batch, slices, elements of one
  bool transposed;
};

// Slices of an operand as parts: `outputs` and their scales.
void SplitMatrix(Lowering* to, const TfliteOperator& op, const Sliced& of,
                 const std::vector<uint32_t>& outputs,
                 const std::vector<int32_t>& first) {
  const auto& [operand, slices, transposed] = of;
  std::vector<int32_t> options(slices.begin(), slices.end());
  options.insert(options.end(), first.begin(), first.end());
  const int32_t row = transposed ? 2 : 1, element = transposed ? 1 : 2;
  options.insert(options.end(),
                 {3, slices[0], slices[static_cast<size_t>(row)],
                  slices[static_cast<size_t>(element)], 0, row, element});
  AddHost(to, op, "onnx.SplitFloats",
          {InputTensor(to, op, operand), AddOptions(to, op, options)}, outputs, 0);
}

// The parts of the first operand lie one behind the other, those of the second are tensors, and
// each multiplies as many of the first as still count.
void AddMatrices(Lowering* to, const TfliteOperator& op, const Matrices& x) {
  std::vector<uint32_t> first, second, sums;
  std::vector<int32_t> options = {
      x.batch,  x.rows, x.columns, 0, 0, kByBatch + kByEach, kByBatch + kByEach,
      BitsOf(1)};
  const auto part = [&](const char* name, int i, uint8_t dtype, int32_t rows,
                        int32_t inner) {
    return NewPart(to, op, name + std::to_string(i), dtype, {1, x.batch, rows, inner});
  };
  for (int i = 0; i < kFloatParts; ++i) {
    first.push_back(
        part("/a", i, SLUICE_DTYPE_INT8, x.rows * (kFloatParts - i), x.inner));
    second.push_back(part("/b", i, SLUICE_DTYPE_INT8, x.columns, x.inner));
    sums.push_back(
        part("/sums", i, SLUICE_DTYPE_INT32, x.rows * (kFloatParts - i), x.columns));
    options.push_back(BitsOf(PartWeight(i)));
  }
  const uint32_t rows = NewPart(to, op, "/rows", SLUICE_DTYPE_INT32, {x.batch, x.rows}),
                 columns = NewPart(to, op, "/columns", SLUICE_DTYPE_INT32,
                                   {x.batch, x.columns});
  const auto with = [](std::vector<uint32_t> list, uint32_t last) {
    list.push_back(last);
    return list;
  };
  SplitMatrix(to, op, {0, {x.batch, x.rows, x.inner}, x.first_transposed},
              with(first, rows), {0, 0, 0});
  SplitMatrix(to, op, {1, {x.batch, x.columns, x.inner}, !x.second_transposed},
              with(second, columns), {0, 1, 2});
  for (size_t i = 0; i < first.size(); ++i) {
    AddLayer(to, op, SLUICE_OP_BATCH_MATMUL, {first[i], second[i]}, sums[i],
             {1, 0, 0, 0, 1 << 30, 1, INT32_MIN, INT32_MAX});
  }
  const std::string& name = OutputOf(*to, op).name;
  sums.insert(sums.end(), {rows, columns, AddFloats(to, name + "/bias", {0}),
                           AddOptions(to, op, options)});
  AddHost(to, op, "onnx.ScaleSums", sums, {OutputTensor(to, op)}, 0);
  CountOperator(&to->rounded, op.name, kAdded);
}

}  // namespace

void LowerFloatMatmul(Lowering* to, const TfliteOperator& op) {
  Require(to->model.has_stored_weights, "floats beside floats alone");
  AddMatrices(to, op, MatricesOf(*to, op));
}

void AddFloatProduct(Lowering* to, const TfliteOperator& op, const Product& p) {
  Require(to->model.has_stored_weights, "floats beside floats alone");
  const Operands operands = OperandsOf(to, op, p);
  if (IsFloat(operands.weight) || operands.weight.means_floats) {
    return AddSplit(to, op, p, operands);
  }
  AddQuantised(to, op, p, operands);
}

}  // namespace sluice::import
