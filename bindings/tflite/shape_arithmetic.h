// SPDX-License-Identifier: Apache-2.0
// Shapes that a runtime's graph computes at run time from shapes that are known before: SHAPE,
// STRIDED_SLICE and PACK in front of a RESHAPE or a TILE, as converters emit for models
// with an open number of images. They are computed when the delegate is applied, as the
// importer does for files.
//
// Input    the runtime's context while it applies a delegate; its nodes
// Output   the nodes whose outputs are known, and the RESHAPEs that have their shape from them
// Errors   none: a node whose result is unknown stays
// Cost     nothing where each RESHAPE has a constant shape; else linear in the nodes
#ifndef SLUICE_BINDINGS_TFLITE_SHAPE_ARITHMETIC_H_
#define SLUICE_BINDINGS_TFLITE_SHAPE_ARITHMETIC_H_

#include <map>
#include <unordered_set>
#include <vector>

#include "runtime_model.h"
#include "tensorflow/lite/c/common.h"

namespace sluice::delegate {

struct KnownShapes {
  std::map<int, RuntimeNode> folded;  // by node: all its outputs are known
  // Whose operand is known and gives the declared shape, also for twice as many images.
  std::map<int, RuntimeNode> reshapes;
  std::unordered_set<int> tensors;  // outputs of the folded ones
  std::unordered_set<int>
      shapes;  // those of them that no layer of the machine can write
};

KnownShapes FindKnownShapes(TfLiteContext* context, const std::vector<int>& plan);
// Whether the shape that the node's output has is computed at run time.
bool HasComputedShape(TfLiteContext* context, const RuntimeNode& node);
// Takes from `nodes` what parts with these borders cannot compute: shapes that others read, and
// what is made of known tensors that others write. false: nothing was taken.
bool DropTorn(const std::unordered_set<int>& inputs,
              const std::unordered_set<int>& outputs, const KnownShapes& known,
              std::vector<int>* nodes);

// The shape that a RESHAPE's or EXPAND_DIMS's operand gives, where it is a constant of the
// model (an extent of -1 is what is left over), or a SQUEEZE's input. Empty: it gives none.
std::vector<int> GivenShape(const import::TfliteModel& model,
                            const import::TfliteOperator& op);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_SHAPE_ARITHMETIC_H_
