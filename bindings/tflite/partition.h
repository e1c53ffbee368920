// SPDX-License-Identifier: Apache-2.0
// Selects the nodes of a runtime's graph that the machine computes, and lowers a group
// of them to a graph.
//
// Input    the runtime's context while it applies a delegate; nodes
// Output   the nodes that can be lowered to layers of the machine; graph.fbs of a partition
// Errors   with enough verbosity, names the nodes that cannot be lowered, with the
//          reason
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

// The source of a part, complete enough to lower it again when shapes have changed.
struct PartSource {
  std::vector<RuntimeNode> nodes;
  std::vector<int> inputs, outputs;
  bool host =
      false;  // layers that the machine's host computes are layers of the machine
};

// A part as a graph. inputs and outputs: the runtime's tensors for those of the graph.
struct LoweredPart {
  PartSource source;
  Bytes graph;
  Constants constants;
  std::vector<Border> inputs, outputs;
  // Tensors that the part reads from others, also those of which only the shape counts.
  std::vector<Border> read;
  ToldShapes told;                                // that the program gives
  bool IsEmpty() const { return graph.empty(); }  // all outputs have no elements
};

std::vector<int> ExecutionPlan(TfLiteContext* context);
// Whether the node's tensors have types and shapes that the machine can handle;
// lowering checks the rest. false: *reason says why the node stays with the runtime.
bool MayLower(TfLiteContext* context, int node, const KnownShapes& known,
              std::string* reason);
// host: layers that the machine's host computes are layers of the machine, too.
bool LowerNode(TfLiteContext* context, int node, const KnownShapes& known, bool host,
               Bytes* graph, std::string* reason);
PartSource SourceOf(TfLiteContext* context, const Part& part, const KnownShapes& known,
                    bool host);
bool LowerPart(TfLiteContext* context, const PartSource& source, LoweredPart* out,
               std::string* reason);
// Lowers a part again for the shapes that its inputs have now, and those that the program
// gives. There may be nothing to compute. No delegate need be applied.
bool LowerAgain(TfLiteContext* context, const PartSource& source, ToldShapes told,
                LoweredPart* out, std::string* reason);
std::string NameOf(TfLiteContext* context, int node);
// The parts into which the runtime will group these nodes, in its order of execution.
bool Preview(TfLiteContext* context, const std::vector<int>& nodes,
             std::vector<Part>* parts);
// As Preview, but first removes from `nodes` those whose known shapes would cross a
// border of a part.
bool PreviewWhole(TfLiteContext* context, const KnownShapes& known,
                  std::vector<int>* nodes, std::vector<Part>* parts);

// A TfLiteIntArray: its length, then its elements.
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
