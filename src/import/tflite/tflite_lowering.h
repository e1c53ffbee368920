// SPDX-License-Identifier: Apache-2.0
// One TensorFlow Lite operator -> one or a few layers of ops.h.
//
// Input    a checked model; operators in execution order
// Output   tensors and layers in the graph writer; arithmetic equal to that
//          of TensorFlow Lite's reference kernels, scales as integers
// Errors   Unsupported: this operator cannot be expressed (the rest may go on);
//          Error(kBadInput): the model is wrong
#ifndef SLUICE_IMPORT_TFLITE_TFLITE_LOWERING_H_
#define SLUICE_IMPORT_TFLITE_TFLITE_LOWERING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "import/graph_writer.h"
#include "import/import_result.h"
#include "import/lowering_rules.h"
#include "import/quantisation.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

// What is known while the operators of a model become layers.
struct Lowering {
  Lowering(const TfliteModel& the_model, GraphWriter* the_graph);

  const TfliteModel& model;
  GraphWriter& graph;
  std::vector<uint32_t> tensor_of;  // by TensorFlow Lite index
  std::vector<uint32_t> read_by;    // operators that read the tensor
  std::vector<bool> is_output;
  std::vector<std::pair<uint32_t, uint32_t>> next;  // of states: their next values
  uint64_t opaque_cycles = 0;  // of a call that the host executes; 0: by its elements
  std::vector<const TfliteState*> state;     // by TensorFlow Lite index; nullptr: none
  std::vector<UnsupportedOperator> rounded;  // as in ImportResult
};

// Tensor of the graph for the i-th input or output of an operator; created on first
// use, of the same extents (ranks above 4 fold their leading axes).
uint32_t InputTensor(Lowering* self, const TfliteOperator& op, size_t i);
uint32_t OutputTensor(Lowering* self, const TfliteOperator& op, size_t i = 0);

const TfliteTensor& InputOf(const Lowering& self, const TfliteOperator& op, size_t i);
const TfliteTensor& OutputOf(const Lowering& self, const TfliteOperator& op,
                             size_t i = 0);
bool HasInput(const TfliteOperator& op, size_t i);

// An intermediate with the quantisation of `like`.
uint32_t Temporary(Lowering* self, const TfliteTensor& like, const char* suffix,
                   Dims dims);
// `tensor` with the extents `dims`: itself where it has them already, else a RESHAPE of it.
uint32_t Reshaped(Lowering* self, uint32_t tensor, const TfliteTensor& like,
                  const Dims& dims);
// The tensor for a layer that produces the bytes of output 0 with the extents `dims`.
// CloseOutput adds a RESHAPE behind it if the extents differ.
uint32_t OpenOutput(Lowering* self, const TfliteOperator& op, const Dims& dims);
void CloseOutput(Lowering* self, const TfliteOperator& op, uint32_t written);

void AddLayer(Lowering* self, const TfliteOperator& op, uint16_t code,
              std::vector<uint32_t> inputs, uint32_t output,
              std::vector<int32_t> attributes = {});

// A layer that the host executes, by a function of host_functions.h; it takes a cycle per
// element and one for each of `work`, unless the import's options say otherwise.
void AddHost(Lowering* self, const TfliteOperator& op, const char* function,
             std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
             uint64_t work);
// Variable: a variable tensor as a state, which starts at its zero point. SetNext:
// the tensor whose value the state takes at the end of the run.
uint32_t Variable(Lowering* self, const TfliteOperator& op, size_t i);
inline void SetNext(Lowering* self, uint32_t state, uint32_t next) {
  self->next.push_back({state, next});
}

// Adds the layers that write the states' next values. Call it once, after all other
// layers, since these read the values that the previous run left.
void WriteStates(Lowering* self);

// For undoing an operator that turned out unsupported half-way.
struct LoweringMark {
  GraphWriter::Mark graph;
  std::vector<uint32_t> tensors;
  size_t next;
  std::vector<UnsupportedOperator> rounded;
};
inline LoweringMark Now(const Lowering& self) {
  return {self.graph.Now(), self.tensor_of, self.next.size(), self.rounded};
}
void Rewind(Lowering* self, const LoweringMark& mark);

// Facts about tensors; all throw Unsupported when the tensor is of another sort.
uint8_t DtypeOf(
    const TfliteTensor& tensor);  // SLUICE_DTYPE_; by element size if it has none
uint8_t EightBit(const TfliteTensor& tensor);      // int8 or uint8
uint8_t SmallInteger(const TfliteTensor& tensor);  // int8, uint8 or int16
Affine AffineOf(const TfliteTensor& tensor);       // per-tensor quantisation
bool SameAffine(const TfliteTensor& a, const TfliteTensor& b);
Dims DimsOf(const TfliteTensor& tensor);  // rank <= 4, every extent >= 1
Extents ExtentsOf(const TfliteTensor& tensor);
int AxisOf(const TfliteTensor& tensor, int64_t axis);  // -> 0..3 of the normalised axes
// The four extents, or all of a tensor that has more axes.
Dims AxesOf(const TfliteTensor& tensor);
// At most four axes, one of which is the axis meant: where there are more, those before it
// are one, and those behind it.
struct AxisView {
  Dims dims;
  size_t axis;
};
AxisView ViewOf(const Dims& dims, size_t axis);
size_t AxisAt(const TfliteTensor& tensor, int64_t axis);  // of AxesOf
AxisView ViewAlong(const TfliteTensor& tensor, int64_t axis);
std::vector<int64_t> Integers(const TfliteTensor& tensor);  // constant int32 or int64
Range Clamped(const TfliteTensor& out, int activation);     // tflite::Activation

// Padding of one axis for `out` windows. Refuses padding with which they do not fit.
struct Pads {
  int32_t before, after;
};
Pads PadsOf(bool same, int32_t in, int32_t out, int32_t window, int32_t stride,
            int32_t dilation);

// One function per kind of operator; each looks at op.code again.
void LowerConvolution(Lowering* to, const TfliteOperator& op);
void LowerTransposedConvolution(Lowering* to, const TfliteOperator& op);
void LowerFullyConnected(Lowering* to, const TfliteOperator& op);
void LowerMatmul(Lowering* to, const TfliteOperator& op);
void LowerPool(Lowering* to, const TfliteOperator& op);
void LowerBinary(Lowering* to, const TfliteOperator& op);
void LowerQuantise(Lowering* to, const TfliteOperator& op);
void LowerDequantise(Lowering* to, const TfliteOperator& op);
void LowerLoop(Lowering* to, const TfliteOperator& op);  // always Unsupported
void LowerActivation(Lowering* to, const TfliteOperator& op);
void LowerHardSwish(Lowering* to, const TfliteOperator& op);
void LowerPrelu(Lowering* to, const TfliteOperator& op);
void LowerSoftmax(Lowering* to, const TfliteOperator& op);
void LowerReduce(Lowering* to, const TfliteOperator& op);
void LowerArgmax(Lowering* to, const TfliteOperator& op);
void LowerConcat(Lowering* to, const TfliteOperator& op);
void LowerPack(Lowering* to, const TfliteOperator& op);
void LowerSplit(Lowering* to, const TfliteOperator& op);
void LowerSlice(Lowering* to, const TfliteOperator& op);
void LowerPad(Lowering* to, const TfliteOperator& op);
void LowerReshape(Lowering* to, const TfliteOperator& op);
void LowerTranspose(Lowering* to, const TfliteOperator& op);
void LowerGather(Lowering* to, const TfliteOperator& op);
void LowerResize(Lowering* to, const TfliteOperator& op);
void LowerNearest(Lowering* to, const TfliteOperator& op);
void LowerDepthToSpace(Lowering* to, const TfliteOperator& op);  // and SPACE_TO_DEPTH
void LowerSpaceToBatch(Lowering* to, const TfliteOperator& op);
void LowerBatchToSpace(Lowering* to, const TfliteOperator& op);
void LowerUnpack(Lowering* to, const TfliteOperator& op);
void LowerTile(Lowering* to, const TfliteOperator& op);
void LowerBroadcast(Lowering* to, const TfliteOperator& op);
void LowerMirrorPad(Lowering* to, const TfliteOperator& op);
void LowerReverse(Lowering* to, const TfliteOperator& op);
// One axis of a slice with strides: its first index, the index at which it ends
// (exclusive; -1 for a negative stride that reaches index 0), and the stride.
struct StridedAxis {
  int64_t begin, end, stride;
};
void LowerStrides(Lowering* to, const TfliteOperator& op,
                  const std::vector<StridedAxis>& axes);
// Lowered to host functions.
bool IsSixteenBit(const TfliteTensor& tensor);
bool IsFloat(const TfliteTensor& tensor);
// Activations of 16 bits, or floats: more than a unit multiplies at once.
inline bool IsWide(const TfliteTensor& tensor) {
  return IsSixteenBit(tensor) || IsFloat(tensor);
}
void LowerWideConvolution(Lowering* to, const TfliteOperator& op);
void LowerWideTransposedConvolution(Lowering* to, const TfliteOperator& op);
void LowerWideFullyConnected(Lowering* to, const TfliteOperator& op);
void LowerFloatMatmul(Lowering* to, const TfliteOperator& op);
void LowerSoftmax16(Lowering* to, const TfliteOperator& op,
                    const std::vector<int32_t>& numbers);  // of SOFTMAX
void LowerSvdf(Lowering* to, const TfliteOperator& op);
void LowerLstm(Lowering* to, const TfliteOperator& op);
// Operators and types of operands that have a function of the host but no unit.
bool HasKernel(const TfliteOperator& op);
void LowerKernel(Lowering* to, const TfliteOperator& op);
// Any operator whose shapes are known, executed by the host under its own name.
void LowerOpaque(Lowering* to, const TfliteOperator& op);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_TFLITE_LOWERING_H_
