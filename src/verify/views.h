// SPDX-License-Identifier: Apache-2.0
// Tensors that consist of other tensors' elements: outputs of concat, slice and
// reshape, and states before and after their append.
//
// Input    a box of elements: base space = addresses in one memory, twin space = the
//          tensor's row-major element index; the layer that reads them.
// Output   the same elements as boxes of roots (contents.h), twins in the roots'
//          indices
// Errors   kBadInput for layers whose types, or views whose shapes, do not fit;
//          kUnsupported from the work bound; kOutOfMemory.
// Cost     one cut per view passed through.
#ifndef SLUICE_VERIFY_VIEWS_H_
#define SLUICE_VERIFY_VIEWS_H_

#include "verify/boxes.h"

namespace sluice {
namespace judge {

struct Leaf {
  uint32_t tensor;  // a root, after Resolve
  Box box;
  uint32_t reader;  // layer; kNone = after the last instruction
};

// Positions [begin, end) along the state's axis that a STATE_APPEND layer may write,
// over all values of its parameter.
struct AppendReach {
  int axis;
  int64_t begin, end;
};
AppendReach ReachOf(const Graph& graph, const Layer& append);

// Row-major stride of each axis, in elements.
inline void DenseElements(const int32_t* extent, int64_t* stride) {
  int64_t step = 1;
  for (int a = kAxes - 1; a >= 0; --a) {
    stride[a] = step;
    step *= extent[a];
  }
}

// Rejects unknown operators, layers whose types contradict ops.h, and view layers whose
// shapes do.
Status CheckViews(Judge* judge);

class Views {
 public:
  explicit Views(Judge* judge)
      : judge_(judge),
        stack_(judge->arena),
        todo_(judge->arena),
        rest_(judge->arena),
        next_(judge->arena),
        inside_(judge->arena) {}
  // Appends the leaves of `box` of `tensor`, as layer `reader` sees it.
  Status Resolve(uint32_t tensor, const Box& box, uint32_t reader,
                 Vector<Leaf>* leaves);
  // True if Resolve would return just the box itself.
  bool IsRoot(uint32_t tensor, uint32_t reader) const;
  // The tensor that remains after following reshapes only.
  uint32_t BehindReshapes(uint32_t tensor) const;

 private:
  Status Through(uint32_t layer, const Box& box);
  Status SplitAppended(const Leaf& state, Vector<Leaf>* leaves);

  Judge* judge_;
  Vector<Leaf> stack_;
  Vector<Box> todo_, rest_, next_;
  Vector<Inside> inside_;
};

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_VIEWS_H_
