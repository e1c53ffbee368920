// SPDX-License-Identifier: Apache-2.0
// Shapes that a runtime's graph computes at run time from shapes that are known before: SHAPE,
// STRIDED_SLICE and PACK in front of a RESHAPE or a TILE, as converters emit for models
// with an open number of images. They are computed when a part is lowered, as the importer
// does for files.
//
// Input    the runtime's context while it applies a delegate; its nodes
// Output   the nodes whose outputs can be computed then, and the nodes that need them
// Errors   none: a node whose result is unknown stays
// Cost     nothing where no node is a SHAPE; else linear in the nodes
#ifndef SLUICE_BINDINGS_TFLITE_SHAPE_ARITHMETIC_H_
#define SLUICE_BINDINGS_TFLITE_SHAPE_ARITHMETIC_H_

#include <map>
#include <unordered_set>
#include <vector>

#include "runtime_model.h"
#include "tensorflow/lite/c/common.h"

namespace sluice::delegate {

struct KnownShapes {
  std::map<int, RuntimeNode> folded;   // by node: all its outputs are known
  std::map<int, RuntimeNode> readers;  // that read shapes, and do not fold
  std::unordered_set<int> tensors;     // outputs of the folded ones
  std::unordered_set<int>
      shapes;  // those of them that no layer of the machine can write
};

KnownShapes FindKnownShapes(TfLiteContext* context, const std::vector<int>& plan);
// Takes from `nodes` what parts with these borders cannot compute: shapes that others read, and
// what is made of known tensors that others write. false: nothing was taken.
bool DropTorn(const std::unordered_set<int>& inputs,
              const std::unordered_set<int>& outputs, const KnownShapes& known,
              std::vector<int>* nodes);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_SHAPE_ARITHMETIC_H_
