// SPDX-License-Identifier: Apache-2.0
// Which nodes of a runtime's graph the machine computes, and what it computes as one graph.
//
// Input    the runtime's context while it applies a delegate; nodes
// Output   the nodes that can be lowered to layers of the machine; graph.fbs of a partition
// Errors   nodes that cannot are named with the reason where the verbosity asks for it
// Cost     linear in the nodes
#ifndef SLUICE_BINDINGS_TFLITE_PARTITION_H_
#define SLUICE_BINDINGS_TFLITE_PARTITION_H_

#include <string>
#include <vector>

#include "device.h"
#include "runtime_model.h"
#include "shape_arithmetic.h"
#include "tensorflow/lite/c/common.h"

namespace sluice::delegate {

struct Part {
  std::vector<int> nodes, inputs, outputs;  // the runtime's indices
};

// A tensor of the runtime as it was when the part was lowered.
struct Border {
  int tensor;
  std::vector<int> dims;
  size_t bytes;
};

// The runtime computes the shape of an output into `tensor`; the part is lowered for these
// extents.
struct ExpectedShape {
  int tensor;
  std::vector<int> dims;
};

// What a part is lowered from; enough to do it again when shapes have changed.
struct PartSource {
  std::vector<RuntimeNode> nodes;
  std::vector<int> inputs, outputs;
  bool host =
      false;  // layers that the machine's host computes are layers of the machine
  std::vector<int> folded;  // tensors that are known before the machine runs
};

// A part as a graph. inputs and outputs: the runtime's tensors behind those of the graph.
struct LoweredPart {
  PartSource source;
  Bytes graph;
  Constants constants;
  std::vector<Border> inputs, outputs;
  Shapes shapes;                    // of the part's tensors, of the runtime or guessed
  std::vector<ExpectedShape> told;  // computed by the runtime
};

std::vector<int> ExecutionPlan(TfLiteContext* context);
// Whether the node may be one for the machine, by what its tensors hold; lowering says the
// rest. false: *reason says why the node stays with the runtime.
bool MayLower(TfLiteContext* context, int node, const KnownShapes& known,
              std::string* reason);
// host: layers that the machine's host computes are layers of the machine, too.
bool LowerNode(TfLiteContext* context, int node, bool host, Bytes* graph,
               std::string* reason);
bool LowerPart(TfLiteContext* context, const Part& part, const KnownShapes& known,
               bool host, LoweredPart* out, std::string* reason);
// The same part for the shapes that its tensors have now, or that are guessed. Also outside
// of the time in which the delegate is applied.
bool LowerAgain(TfLiteContext* context, const PartSource& source, const Shapes& guessed,
                LoweredPart* out, std::string* reason);
// What changes behind a shape that is computed at run time is the number of images as a
// rule: the first extent grows by the factor by which an input's did. The runtime knows the
// shapes of the part's inputs at least; before: those that the part was lowered for. Whether
// the guess is right the graph's check says, layer by layer.
Shapes GuessShapes(TfLiteContext* context, const PartSource& source,
                   const Shapes& before);
std::string NameOf(TfLiteContext* context, int node);
// What the runtime will make of these nodes, in the order in which it runs them.
bool Preview(TfLiteContext* context, const std::vector<int>& nodes,
             std::vector<Part>* parts);
// The same; nodes whose known shapes would cross a border leave `nodes` before.
bool PreviewWhole(TfLiteContext* context, const KnownShapes& known,
                  std::vector<int>* nodes, std::vector<Part>* parts);

// A list as the runtime has them: its length in front.
class IntArray {
 public:
  explicit IntArray(const std::vector<int>& values);
  const TfLiteIntArray* get() const {
    return reinterpret_cast<const TfLiteIntArray*>(words_.data());
  }

 private:
  std::vector<int> words_;
};

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_PARTITION_H_
