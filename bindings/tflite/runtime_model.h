// SPDX-License-Identifier: Apache-2.0
// Presents nodes of a runtime's graph as a model for the TensorFlow Lite importer.
//
// Input    the runtime's context and the nodes, in the order of execution
// Output   a model whose constants point to the runtime's memory; the graph refers to
//          them by name (FileOf) instead of holding their bytes. Shapes of what other
//          nodes write are the runtime's; all others are computed from these
// Errors   NodeRefused: a node that the machine cannot compute, with the reason
// Cost     linear in the nodes; no weight is read
#ifndef SLUICE_BINDINGS_TFLITE_RUNTIME_MODEL_H_
#define SLUICE_BINDINGS_TFLITE_RUNTIME_MODEL_H_

#include <flatbuffers/flatbuffers.h>

#include <list>
#include <map>
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
  bool folds = false;  // its outputs become constants where its inputs are known
};

// Shapes that the program gives, by the runtime's tensor that holds them.
using ToldShapes = std::map<int, std::vector<int32_t>>;

class RuntimeModel {
 public:
  // told: at run time; before, the shapes that the runtime declares for the outputs stand
  // for them.
  explicit RuntimeModel(TfLiteContext* context, ToldShapes told = {})
      : context_(context), told_(std::move(told)) {}
  void Add(const RuntimeNode& node);
  // Sets the inputs and outputs: tensors that other nodes write and read. Skips
  // constants and what only folded nodes read.
  void SetBorder(const std::vector<int>& inputs, const std::vector<int>& outputs);
  // Sets inputs and outputs for a model of a single node that does not fold.
  void SetOwnBorder();
  // Whether the node that writes the tensor has folded.
  bool IsFolded(int index) const;

  const import::TfliteModel& model() const { return model_; }
  // The runtime's tensors for the inputs and outputs of the model.
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  // The runtime's tensors that are constants of the model.
  const std::vector<int>& constants() const { return constants_; }
  // The shapes that the program gives for this model.
  const ToldShapes& told() const { return told_; }
  // Shape (and dense bytes) of a runtime's tensor that the model contains.
  const std::vector<int>& ShapeOf(int index) const;
  size_t BytesOf(int index) const;

 private:
  int32_t TensorOf(int index);
  void TakeTold(const RuntimeNode& node, const import::TfliteOperator& op);
  bool GiveShapes(const RuntimeNode& node, const import::TfliteOperator& op);

  TfLiteContext* context_;
  ToldShapes told_;
  import::TfliteModel model_;
  std::unordered_map<int, int32_t> tensor_of_;
  std::vector<int> inputs_, outputs_, constants_;
  std::list<flatbuffers::DetachedBuffer> options_;
  uint64_t room_ = uint64_t{4} << 20;  // for folded constants: shapes, tiled anchors
};

RuntimeNode ReadNode(TfLiteContext* context, int node);
const TfLiteTensor& TensorAt(const TfLiteContext* context, int index);
bool IsSmallInteger(TfLiteType type);
// Whether the tensor's value is in the file. The runtime's kernels compute others before the
// first run, but anew for each size.
bool IsConstant(const TfLiteTensor& tensor);
// The file name that stands for a constant in the graph, and the tensor of such a name;
// -1: no such name.
std::string FileOf(int tensor);
int TensorOfFile(const char* file, uint32_t size);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_RUNTIME_MODEL_H_
