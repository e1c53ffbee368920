// SPDX-License-Identifier: Apache-2.0
// ONNX values as tensors of the graph: their layout and their quantisation.
//
// Input    a checked model; nodes in topological order
// Output   tensors and layers in the graph writer. Values keep the order of axes in
//          which they were computed (channels last behind a convolution);
//          transpositions and reshapes only record the new order and shape, and bytes
//          are moved where a reader needs another layout.
//          Numbers: where the model is quantised (QuantizeLinear around an operator, or
//          QLinear operators) layers compute the model's integers: convolutions, matrix
//          products and requantisations are rounded once, as ONNX does but for ties
//          (away from zero, not to even); sums and products to within one step.
//          Floating-point operators become int8 layers of the same shapes with seeded
//          weights, and are counted in `shapes_only`.
// Errors   Unsupported: this node cannot be expressed (the rest may go on);
//          Error(kBadInput): the model is wrong
#ifndef SLUICE_IMPORT_ONNX_ONNX_LOWERING_H_
#define SLUICE_IMPORT_ONNX_ONNX_LOWERING_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/graph_writer.h"
#include "import/import_result.h"
#include "import/lowering_rules.h"
#include "import/onnx/onnx_model.h"
#include "import/quantisation.h"

namespace sluice::import {

// Axes of a value in memory order, outermost first.
using AxisOrder = std::vector<int>;

// Quantisation of a stored value. known: taken from the model; else a placeholder for
// layers that only reproduce shapes.
struct Numbers {
  bool known = false;
  uint8_t dtype = SLUICE_DTYPE_INT8;
  Affine affine = {1.0f / 16, 0};
  double rms = 32;      // expected, in steps, where not known
  bool floats = false;  // int32 elements are the bits of floats
  // Not 0: these floats stand for 16-bit numbers of the model with this scale and zero
  // point.
  float wide_scale = 0;
  int32_t wide_zero = 0;
};

struct OnnxPlace {
  uint32_t tensor = kNoTensor;
  AxisOrder order;
  Numbers numbers;
  int layer = -1;            // writes the value; may absorb a following activation
  int act_min = 0;           // index of that layer's ACT_MIN; ACT_MAX follows
  bool per_channel = false;  // the layer may also absorb factors and biases per channel
};

// A constant with its quantisation: a weight or a bias.
struct OnnxConstant {
  const OnnxValue* stored = nullptr;  // 8- or 32-bit integers; nullptr: not quantised
  std::vector<float> scales;          // one, or one per slice of axis
  std::vector<int64_t> zeros;
  int axis = 0;
};

// What is known while the nodes of a model become layers.
struct OnnxLowering {
  OnnxLowering(const OnnxModel& the_model, GraphWriter* the_graph,
               ImportResult* the_result);

  const OnnxModel& model;
  GraphWriter& graph;
  ImportResult& result;
  std::vector<OnnxPlace> places;  // by value
  std::map<std::pair<int, std::pair<AxisOrder, Dims>>, uint32_t> moved;
  std::map<std::pair<int, AxisOrder>, uint32_t> floats;
  // Whether the model quantises activations. If so, the host executes its operators on
  // floats; otherwise floating-point operators are imported for their shapes only.
  bool computes_floats = false;
  uint64_t opaque_cycles = 0;  // of a call that the host executes
};

// ---- values of a node (absent optional inputs have index -1)

int InputIndex(const OnnxNode& node, size_t i);
bool HasInput(const OnnxNode& node, size_t i);
const OnnxValue& InputOf(const OnnxLowering& self, const OnnxNode& node, size_t i);
const OnnxValue& OutputOf(const OnnxLowering& self, const OnnxNode& node, size_t i = 0);
inline const OnnxValue& ValueOf(const OnnxLowering& self, int index) {
  return self.model.values[static_cast<size_t>(index)];
}
// Integers that must be known at import: axes, shapes, begins.
std::vector<int64_t> IntegersOf(const OnnxLowering& self, const OnnxNode& node,
                                size_t i);
bool ReadOnce(const OnnxLowering& self, int value);

// ---- where values lie

// Tensor and layout of a value; made on first use (constants: seeded or as stored).
const OnnxPlace& PlaceOf(OnnxLowering* self, int value);
// A tensor with the value's bytes in this order of axes, reshaped to `dims`.
uint32_t TensorAs(OnnxLowering* self, int value, const AxisOrder& order,
                  const Dims& dims);
// A tensor with the value in its own order of axes, of which there are at most four.
uint32_t PlainTensor(OnnxLowering* self, int value);
// Error: the tensor does not hold what the value's shape says.
void SetPlace(OnnxLowering* self, int value, OnnxPlace place);
// The value is the value `of` with its axes in another order: no layer is needed.
void Alias(OnnxLowering* self, int value, int of, AxisOrder order);

// ---- quantisation (onnx_quantisation.cc)

// The quantisation of the QuantizeLinear nodes that read the value, directly or
// behind a ReLU or Clip; not known where there is none. Looks through at most `depth`
// nodes.
Numbers TargetOf(const OnnxLowering& self, int value, int depth = 64);
OnnxConstant ConstantOf(const OnnxLowering& self, int value);
// Input `at` of a QLinear operator, quantised by its inputs `scale` and `zero`.
OnnxConstant QuantisedBy(const OnnxLowering& self, const OnnxNode& node, size_t at,
                         size_t scale, size_t zero);
// Scale and zero point given as two constant inputs.
Numbers ScaleAndZero(const OnnxLowering& self, const OnnxNode& node, size_t scale,
                     size_t zero);
// Quantisers make such scales of masks that hold -infinity.
bool HasInfiniteScale(const OnnxLowering& self, const OnnxNode& node);
// Integers of a zero point, which must be stored.
std::vector<int64_t> StoredIntegers(const OnnxValue& value);
// The type of the integers that the node quantises to, or dequantises.
int StoredType(const OnnxLowering& self, const OnnxNode& node);
// Whether the node quantises to 16 bits, or dequantises such numbers.
bool IsWide(const OnnxLowering& self, const OnnxNode& node);
// The one scale and zero point of such a node.
struct WideNumbers {
  float scale;
  int32_t zero;
  bool is_signed;
};
WideNumbers WideNumbersOf(const OnnxLowering& self, const OnnxNode& node);
// Scales and zero points of input 0 and output 0. A QLinear operator has them as inputs;
// for other operators they come from PlaceOf and TargetOf.
struct OnnxEnds {
  Numbers in, out;
};
OnnxEnds EndsOf(OnnxLowering* self, const OnnxNode& node);
// Input `at` of a QLinear operator, with scale and zero point behind it; a tensor of
// another type is Unsupported.
Numbers QLinearInput(OnnxLowering* self, const OnnxNode& node, size_t at);

// ---- tensors and layers

// A new tensor for output i of the node, in this order; its place is set.
uint32_t NewOutput(OnnxLowering* self, const OnnxNode& node, size_t i,
                   const AxisOrder& order, const Dims& dims, const Numbers& numbers);
uint32_t NewTensor(OnnxLowering* self, const std::string& name, const Dims& dims,
                   const Numbers& numbers);
// The number of the new layer.
int AddLayer(OnnxLowering* self, const std::string& name, uint16_t op,
             std::vector<uint32_t> inputs, uint32_t output,
             std::vector<int32_t> attributes = {});
uint32_t SeededTensor(OnnxLowering* self, const std::string& name, const Dims& dims);
// `tensor` requantised, or itself when nothing changes.
uint32_t Requantised(OnnxLowering* self, const std::string& name, uint32_t tensor,
                     const Numbers& from, const Numbers& to);
// 8-bit `tensor` through a table.
uint32_t Curved(OnnxLowering* self, const std::string& name, uint32_t tensor,
                const std::vector<uint8_t>& table, const Numbers& to);
// Makes a dense tensor out of `tensor`, which has these extents, with its axes permuted.
// If one TRANSPOSE, of at most four axes, cannot do it, several are made
// (onnx_permutation.cc).
uint32_t PermutedTensor(OnnxLowering* self, const std::string& name, uint32_t tensor,
                        const std::vector<int64_t>& extents,
                        const std::vector<int>& perm, const Numbers& numbers);

// ---- floats between DequantizeLinear and QuantizeLinear, which the host computes
// (onnx_floats.cc)

// A value as the bits of floats with its axes in this order; a quantised one is
// dequantised by the host, constants are at import.
uint32_t FloatsOf(OnnxLowering* self, int value, const AxisOrder& order);
uint32_t FloatsOf(OnnxLowering* self, int value);  // in ONNX's order
// A constant's floats, axes in ONNX's order.
std::vector<float> RealsOf(const OnnxLowering& self, int value);
uint32_t FloatConstant(OnnxLowering* self, const std::string& name, const Dims& dims,
                       const std::vector<float>& floats);
uint32_t IntegerConstant(OnnxLowering* self, const std::string& name,
                         const std::vector<int32_t>& ints);
// Output i of the node as floats, axes in ONNX's order.
uint32_t NewFloats(OnnxLowering* self, const OnnxNode& node, size_t i = 0);
// In a model of floats alone: the floats that a host function has computed become an int8
// placeholder, which the layers behind it read, and the node counts as shapes only.
void StorePlaceholders(OnnxLowering* self, const OnnxNode& node);
// A layer that the host executes: onnx.FUNCTION, or tflite.FUNCTION, with options as the last
// input.
struct OnnxOperands {
  std::vector<uint32_t> inputs;
  std::vector<int32_t> options;
  std::vector<uint32_t> outputs;
};
void AddHost(OnnxLowering* self, const std::string& name, const std::string& function,
             OnnxOperands operands, uint64_t work);

// ---- what is told of a node, and trying it

// Reports that the node computes the model's numbers except for what the reason names.
inline void CountRounded(OnnxLowering* self, const OnnxNode& node,
                         const std::string& reason) {
  CountOperator(&self->result.rounded, node.op, reason);
}
// Reports that the node's layers have its shapes but do not compute its numbers.
inline void CountShapesOnly(OnnxLowering* self, const OnnxNode& node) {
  CountOperator(&self->result.shapes_only, node.op, "");
}
// A state to which Rewind returns.
struct OnnxMark {
  GraphWriter::Mark graph;
  std::vector<OnnxPlace> places;
  std::vector<UnsupportedOperator> shapes_only, rounded;
};
inline OnnxMark MarkOf(const OnnxLowering& self) {
  return {self.graph.Now(), self.places, self.result.shapes_only, self.result.rounded};
}
void Rewind(OnnxLowering* self, const OnnxMark& mark);

// ---- the graph's border (onnx_border.cc)

// Graph inputs before, outputs after all nodes. Unsupported: an input or output is of
// a sort that a graph does not have.
void PlaceInputs(OnnxLowering* self);
void PlaceOutputs(OnnxLowering* self);
// The layers that write the states' next values, behind all others.
void WriteOnnxStates(OnnxLowering* self);

constexpr char kHostFloats[] =
    "the host's floats may differ in their last bit: a result beside a tie may be "
    "rounded "
    "the other way";
constexpr char kFloatSums[] =
    "the runtime adds floats: a result beside a tie may be rounded the other way";
constexpr char kTies[] =
    "the runtime scales in floats: a result beside a tie may be rounded the other way";

// Facts that throw Unsupported or Error when they do not hold.
const std::vector<int64_t>& ShapeOf(const OnnxValue& value);  // every extent >= 1
Dims DimsIn(const std::vector<int64_t>& shape, const AxisOrder& order);  // <= 4 axes
// The product of the extents of axes begin to end - 1.
int32_t ProductOfAxes(const std::vector<int64_t>& shape, size_t begin, size_t end);
// Appends the rank and the extents, padded with leading ones to `rank`: how functions of the
// host are told a shape.
void AppendShape(const std::vector<int64_t>& shape, size_t rank,
                 std::vector<int32_t>* options);
// Shapes of the output and both operands of a product, padded with leading ones. A vector in
// front is a row, one behind a column; the output then has an axis of 1 in its place.
std::vector<int32_t> MatrixOptions(std::vector<int64_t> out, std::vector<int64_t> a,
                                   std::vector<int64_t> b);
AxisOrder WithoutOnes(const AxisOrder& order,
                      const std::vector<int64_t>& shape);  // without axes of extent 1
bool SameBytes(const Dims& a, const Dims& b);              // whether only ones differ
AxisOrder Straight(size_t rank);                           // 0 1 2 ...
AxisOrder ChannelsLast(size_t rank);                       // 0 2 3 .. 1
int AxisOf(const OnnxValue& value, int64_t axis);          // negative ones from the end
int32_t FloatBits(float number);  // floats in options are their bits
// Bytes of a constant with its axes in another order.
Bytes Permuted(const OnnxValue& value, const AxisOrder& order);
// The same as a constant of the graph, which is permuted when the graph is written.
uint32_t AddPermuted(OnnxLowering* self, const std::string& name, uint8_t dtype,
                     const Dims& dims, const OnnxValue& value, const AxisOrder& order);

// Attributes of a function of one number, with the operator's defaults.
struct OnnxCurveNumbers {
  float alpha, beta, gamma;  // of Shrink: bias and lambd
};
OnnxCurveNumbers CurveNumbersOf(const OnnxNode& node, const std::string& op);
// The function of a node that has one operand; nullptr: its operator is none.
std::function<float(float)> OnnxCurve(const OnnxNode& node);

// One function per kind of operator; each looks at node.op again.
void LowerOnnxConv(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxTransposedConv(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxMatmul(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxPool(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxGlobalPool(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxBinary(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxCurve(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxClamp(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxPrelu(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxBatchNorm(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxLayerNorm(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxSoftmax(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxReduce(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxArgmax(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxQuantise(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxDequantise(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxSame(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxReshape(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxTranspose(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxConcat(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxSplit(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxSlice(OnnxLowering* to, const OnnxNode& node);
// What Pad fills with.
float PadValue(const OnnxLowering& to, const OnnxNode& node);
void LowerOnnxPad(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxGather(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxResize(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxGridSample(OnnxLowering* to, const OnnxNode& node);
// Pooled regions, and maxima put back to where they were.
void LowerOnnxRegions(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxExpand(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxDepth(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxCast(OnnxLowering* to, const OnnxNode& node);
// QuantizeLinear and DequantizeLinear of 16-bit numbers, which floats hold in between.
void LowerOnnxWideQuantise(OnnxLowering* to, const OnnxNode& node);
void LowerOnnxWideDequantise(OnnxLowering* to, const OnnxNode& node);
// The same by an infinite scale: what they store means nothing, but the operators behind them
// read it.
void LowerOnnxUnbounded(OnnxLowering* to, const OnnxNode& node);
// Operators that pick elements of their operands, computed by the host.
void LowerOnnxPick(OnnxLowering* to, const OnnxNode& node);
// Products of two operands: on a unit where both are quantised, else on the host.
void LowerOnnxContraction(OnnxLowering* to, const OnnxNode& node);
// Comparisons, conditions, integers and sorting.
void LowerOnnxKinds(OnnxLowering* to, const OnnxNode& node);
// Operators that are several host functions.
void LowerOnnxComposed(OnnxLowering* to, const OnnxNode& node);
// LSTM, GRU and RNN, step by step: products on units, functions of gates on the host.
void LowerOnnxRecurrent(OnnxLowering* to, const OnnxNode& node);
// Operators on floats, computed by host functions.
void LowerOnnxFloats(OnnxLowering* to, const OnnxNode& node);
bool HasOnnxFloats(const std::string& op);
// Returns for each axis of input 0 whether it is reduced.
std::vector<bool> ReducedAxes(const OnnxLowering& to, const OnnxNode& node);
// Any node whose shapes are known, executed by the host in `cycles`.
void LowerOnnxOpaque(OnnxLowering* to, const OnnxNode& node, uint64_t cycles);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_LOWERING_H_
