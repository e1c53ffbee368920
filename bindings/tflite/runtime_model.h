// SPDX-License-Identifier: Apache-2.0
// Nodes of a runtime's graph as the model that the TensorFlow Lite importer lowers.
//
// Input    the runtime's context and the nodes, in the order of execution
// Output   a model whose constants point to the runtime's memory, and which asks the graph
//          to name them (FileOf) instead of holding them
// Errors   NodeRefused: a node that is none for the machine, with the reason
// Cost     linear in the nodes; no weight is read
#ifndef SLUICE_BINDINGS_TFLITE_RUNTIME_MODEL_H_
#define SLUICE_BINDINGS_TFLITE_RUNTIME_MODEL_H_

#include <flatbuffers/flatbuffers.h>

#include <list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/tflite/tflite_model.h"
#include "tensorflow/lite/c/common.h"

namespace sluice::delegate {

struct NodeRefused {
  std::string reason;
};

// What lowering reads of a node. The runtime tells it only while a delegate is applied, and
// keeps the options as long as the node.
struct RuntimeNode {
  int32_t code = 0;
  std::vector<int> inputs, outputs;  // the runtime's tensors
  const void* options = nullptr;
};

// By the runtime's tensors.
using Shapes = std::unordered_map<int, std::vector<int>>;

class RuntimeModel {
 public:
  // late: the tensors in front have their shapes already, those too that have them at run
  // time only. guessed: shapes that stand in place of the runtime's; outlives the model.
  // folded: tensors that Fold will find; what the runtime says of their shapes when it is late
  // may be of another size.
  RuntimeModel(TfLiteContext* context, bool late, const Shapes& guessed,
               std::vector<int> folded)
      : context_(context), late_(late), guessed_(guessed), folded_(std::move(folded)) {}
  void Add(const RuntimeNode& node);
  // The tensors that others write and that others read; constants are passed over.
  void SetBorder(const std::vector<int>& inputs, const std::vector<int>& outputs);
  // The border of a single node.
  void SetOwnBorder();
  // What is computed of constants and shapes alone becomes a constant, and inputs that nothing
  // reads any more go.
  void Fold();
  // Whether Fold has made a constant of it.
  bool IsFolded(int index) const;
  // The model's tensor behind one of the runtime's; -1: it has none.
  int32_t IndexOf(int index) const;

  const import::TfliteModel& model() const { return model_; }
  // The runtime's tensors behind the inputs and outputs of the model.
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  // The shapes of all tensors that are no constants, in the model either.
  Shapes shapes() const;
  // The runtime's tensors that are constants of the model.
  const std::vector<int>& constants() const { return constants_; }
  // Pairs of the runtime's tensors: one that tells a shape at run time, and the output that
  // has this shape.
  const std::vector<std::pair<int, int>>& told_shapes() const { return told_shapes_; }
  // Of a tensor of the runtime that the model has; bytes: dense ones.
  const std::vector<int>& ShapeOf(int index) const;
  size_t BytesOf(int index) const;

 private:
  int32_t TensorOf(int index);

  TfLiteContext* context_;
  bool late_;
  const Shapes& guessed_;
  std::vector<int> folded_;
  import::TfliteModel model_;
  std::unordered_map<int, int32_t> tensor_of_;
  std::vector<int> inputs_, outputs_, constants_;
  std::vector<std::pair<int, int>> told_shapes_;
  std::list<flatbuffers::DetachedBuffer> options_;
};

RuntimeNode ReadNode(TfLiteContext* context, int node);
// The operand that tells the shape of output 0, though lowering takes it from the output;
// -1: no operand does.
int ShapeOperand(int32_t code);
const TfLiteTensor& TensorAt(const TfLiteContext* context, int index);
bool IsSmallInteger(TfLiteType type);
// Whether the tensor has its value before the first run, and keeps it.
bool IsConstant(const TfLiteTensor& tensor);
// The name of a constant in the graph, and back; -1: it is none.
std::string FileOf(int tensor);
int TensorOfFile(const char* file, uint32_t size);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_RUNTIME_MODEL_H_
