// SPDX-License-Identifier: Apache-2.0
// Presents nodes of a runtime's graph as a model for the TensorFlow Lite importer.
//
// Input    the runtime's context and the nodes, in the order of execution
// Output   a model whose constants point to the runtime's memory; the graph refers to
//          them by name (FileOf) instead of holding their bytes
// Errors   NodeRefused: a node that the machine cannot compute, with the reason
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

// Data of a node that lowering reads. The runtime provides it only while a delegate is
// applied; the options live as long as the node.
struct RuntimeNode {
  int32_t code = 0;
  std::vector<int> inputs, outputs;  // the runtime's tensors
  const void* options = nullptr;
};

// Shapes by index of the runtime's tensors.
using Shapes = std::unordered_map<int, std::vector<int>>;

class RuntimeModel {
 public:
  // late: all tensors before these nodes already have their run-time shapes. guessed:
  // shapes that replace the runtime's; must outlive the model. folded: tensors that
  // Fold will make constants; if `late`, the runtime's shapes of these may be of an
  // earlier size.
  RuntimeModel(TfLiteContext* context, bool late, const Shapes& guessed,
               std::vector<int> folded)
      : context_(context), late_(late), guessed_(guessed), folded_(std::move(folded)) {}
  void Add(const RuntimeNode& node);
  // Sets the inputs and outputs: tensors that other nodes write and read. Skips
  // constants.
  void SetBorder(const std::vector<int>& inputs, const std::vector<int>& outputs);
  // Sets inputs and outputs for a model of a single node.
  void SetOwnBorder();
  // Turns results of constants and shapes into constants, and removes inputs that are
  // then unused.
  void Fold();
  // Whether Fold has made the tensor a constant.
  bool IsFolded(int index) const;
  // The model's tensor for one of the runtime's; -1: none.
  int32_t IndexOf(int index) const;

  const import::TfliteModel& model() const { return model_; }
  // The runtime's tensors for the inputs and outputs of the model.
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  // The shapes of all tensors that are constants neither in the runtime nor in the
  // model.
  Shapes shapes() const;
  // The runtime's tensors that are constants of the model.
  const std::vector<int>& constants() const { return constants_; }
  // Pairs of the runtime's tensors: one that tells a shape at run time, and the output that
  // has this shape.
  const std::vector<std::pair<int, int>>& told_shapes() const { return told_shapes_; }
  // Shape (and dense bytes) of a runtime's tensor that the model contains.
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
// The operand that holds the shape of output 0 (lowering reads the shape from the
// output instead); -1: none.
int ShapeOperand(int32_t code);
const TfLiteTensor& TensorAt(const TfLiteContext* context, int index);
bool IsSmallInteger(TfLiteType type);
// Whether the tensor has a fixed value before the first run.
bool IsConstant(const TfLiteTensor& tensor);
// The file name that stands for a constant in the graph, and the tensor of such a name;
// -1: no such name.
std::string FileOf(int tensor);
int TensorOfFile(const char* file, uint32_t size);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_RUNTIME_MODEL_H_
