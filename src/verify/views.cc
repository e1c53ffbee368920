// SPDX-License-Identifier: Apache-2.0
#include "verify/views.h"

#include <algorithm>

#include "base/checked.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

// The reader of graphs has counted inputs and outputs, and seen that axes are some.
bool ShapesFit(const Graph& graph, const Layer& layer) {
  for (const uint32_t t : layer.inputs) {
    if (t == kNone) return false;
    if (graph.tensors[t].dtype != graph.tensors[layer.outputs[0]].dtype) return false;
  }
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const Tensor& in = graph.tensors[layer.inputs[0]];
  if (DeedOf(layer) == Deed::kReshape) return in.bytes == out.bytes;
  if (DeedOf(layer) == Deed::kSlice) {
    for (int a = 0; a < kAxes; ++a) {
      const int64_t begin = layer.attribute(static_cast<size_t>(a));
      if (begin < 0 || begin + out.extent[a] > in.extent[a]) return false;
    }
    return true;
  }
  const int32_t axis = layer.attribute(SLUICE_CONCAT_AXIS);
  int64_t sum = 0;
  for (const uint32_t t : layer.inputs) {
    for (int a = 0; a < kAxes; ++a) {
      if (a != axis && graph.tensors[t].extent[a] != out.extent[a]) return false;
    }
    sum += graph.tensors[t].extent[axis];
  }
  return sum == out.extent[axis];
}

bool IsEightBit(uint8_t dtype) {
  return dtype == SLUICE_DTYPE_INT8 || dtype == SLUICE_DTYPE_UINT8;
}

bool TypesFit(const Graph& graph, const Layer& layer) {
  const uint8_t types = RuleOf(layer).types;
  if (types == 0) return true;
  const auto type_of = [&](uint32_t t) -> uint8_t {
    return t == kNone ? uint8_t{0} : graph.tensors[t].dtype;
  };
  const uint8_t first = type_of(layer.inputs[0]), second = type_of(layer.input(1));
  const uint8_t last = type_of(layer.inputs[layer.inputs.size() - 1]);
  const uint8_t out = type_of(layer.outputs[0]);
  uint32_t broken = 0;
  if (!IsEightBit(first)) broken |= kEightFirst;
  if (!IsEightBit(second)) broken |= kEightSecond;
  if (!IsEightBit(out)) broken |= kEightOut;
  if (first != second) broken |= kInputsAlike;
  if (first != out) broken |= kOutAsFirst;
  if (last != SLUICE_DTYPE_INT32) broken |= kLastInt32;
  if (second != 0 && second != SLUICE_DTYPE_UINT8) broken |= kMaskUint8;
  if (out != SLUICE_DTYPE_INT32 && out != SLUICE_DTYPE_INT64) broken |= kOutIndex;
  return (types & broken) == 0;
}

Box Swapped(const Box& box, int64_t width) {
  Box out = Box::At(box.twin, box.base, width);
  for (uint32_t d = 0; d < box.dims; ++d) {
    out.Add(box.dim[d].count, box.dim[d].twin, box.dim[d].stride);
  }
  return out;
}

}  // namespace

Status CheckViews(Judge* judge) {
  const Graph& graph = judge->graph;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (i % 256 == 0 && judge->arena->memory()->Stop()) return Status::kStopped;
    const Layer& layer = graph.layers[i];
    if (DeedOf(layer) == Deed::kUnknown) {
      return Fail(judge->diagnostic, Status::kUnsupported, "verify")
          .Layer(static_cast<uint32_t>(i))
          .Say("a layer of unknown op #", layer.op);
    }
    const bool typed = TypesFit(graph, layer);
    if (typed && (WorkOf(layer) != Work::kView || ShapesFit(graph, layer))) continue;
    return Fail(judge->diagnostic, Status::kBadInput, "verify")
        .Layer(static_cast<uint32_t>(i))
        .Text(typed ? "the shapes of this " : "the types of this ")
        .Text(OpName(layer.op))
        .Text(" layer do not fit together");
  }
  return Status::kOk;
}

AppendReach ReachOf(const Graph& graph, const Layer& append) {
  const int axis = append.attribute(SLUICE_APPEND_AXIS);
  const Parameter& parameter =
      graph.parameters[static_cast<size_t>(append.attribute(SLUICE_APPEND_PARAMETER))];
  return AppendReach{
      axis, parameter.min,
      int64_t{parameter.max} + graph.tensors[append.inputs[1]].extent[axis]};
}

bool Views::IsRoot(uint32_t tensor, uint32_t reader) const {
  const Graph& graph = judge_->graph;
  const uint32_t producer = graph.tensors[tensor].producer;
  if (producer == kNone) return true;
  const Layer& layer = graph.layers[producer];
  return WorkOf(layer) != Work::kView &&
         (DeedOf(layer) != Deed::kAppend || reader <= producer);
}

uint32_t Views::BehindReshapes(uint32_t tensor) const {
  const Graph& graph = judge_->graph;
  for (;;) {
    const uint32_t producer = graph.tensors[tensor].producer;
    if (producer == kNone || DeedOf(graph.layers[producer]) != Deed::kReshape) {
      return tensor;
    }
    tensor = graph.layers[producer].inputs[0];
  }
}

// Adds the elements of a concat's or slice's output as elements of its inputs.
Status Views::Through(uint32_t index, const Box& box) {
  const Graph& graph = judge_->graph;
  const Layer& layer = graph.layers[index];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const bool slice = DeedOf(layer) == Deed::kSlice;
  int64_t out_stride[kAxes];
  DenseElements(out.extent, out_stride);
  rest_.Truncate(0);
  SLUICE_TRY(rest_.Push(Swapped(box, 1)));
  int64_t offset = 0;  // position of the input along a concat's axis
  for (size_t i = 0; i < layer.inputs.size() && rest_.size() != 0; ++i) {
    const Tensor& in = graph.tensors[layer.inputs[i]];
    const int axis = slice ? 0 : layer.attribute(SLUICE_CONCAT_AXIS);
    int64_t in_stride[kAxes], extent[kAxes], begin = 0;
    DenseElements(in.extent, in_stride);
    for (int a = 0; a < kAxes; ++a) {
      extent[a] = slice ? out.extent[a] : in.extent[a];
      if (slice) begin += layer.attribute(static_cast<size_t>(a)) * in_stride[a];
    }
    Frame frame;
    MakeFrame(offset * out_stride[axis], 1, extent, out_stride, &frame);
    if (!slice) offset += in.extent[axis];
    next_.Truncate(0);
    inside_.Truncate(0);
    bool aligned = true;
    for (const Box& rest : rest_) {
      SLUICE_TRY(Cut(rest, frame, {judge_, &todo_, &inside_, &next_, &aligned}));
    }
    for (const Inside& found : inside_) {
      Leaf leaf = {layer.inputs[i], {found.part.twin, begin, box.width, 0, {}}, index};
      for (uint32_t j = 0; j < frame.dims; ++j) {
        leaf.box.twin += found.at[j] * in_stride[frame.axis[j]];
      }
      for (uint32_t d = 0; d < found.part.dims; ++d) {
        leaf.box.Add(found.part.dim[d].count, found.part.dim[d].twin,
                     in_stride[frame.axis[found.along[d]]]);
      }
      SLUICE_TRY(stack_.Push(leaf));
    }
    std::swap(rest_, next_);
  }
  if (rest_.size() == 0) return Status::kOk;
  return Reject(*judge_, "content").Text("reads beyond the end of a tensor");
}

// Elements that the append can reach become another root after it.
Status Views::SplitAppended(const Leaf& state, Vector<Leaf>* leaves) {
  const Graph& graph = judge_->graph;
  const Tensor& tensor = graph.tensors[state.tensor];
  const AppendReach reach = ReachOf(graph, graph.layers[tensor.producer]);
  int64_t stride[kAxes], extent[kAxes];
  DenseElements(tensor.extent, stride);
  for (int a = 0; a < kAxes; ++a) extent[a] = tensor.extent[a];
  extent[reach.axis] = reach.end - reach.begin;
  Frame frame;
  MakeFrame(reach.begin * stride[reach.axis], 1, extent, stride, &frame);
  next_.Truncate(0);
  inside_.Truncate(0);
  bool aligned = true;
  SLUICE_TRY(
      Cut(Swapped(state.box, 1), frame, {judge_, &todo_, &inside_, &next_, &aligned}));
  const uint32_t after = static_cast<uint32_t>(graph.tensors.size()) + state.tensor;
  for (const Inside& found : inside_) {
    SLUICE_TRY(
        leaves->Push(Leaf{after, Swapped(found.part, state.box.width), state.reader}));
  }
  for (const Box& rest : next_) {
    SLUICE_TRY(
        leaves->Push(Leaf{state.tensor, Swapped(rest, state.box.width), state.reader}));
  }
  return Status::kOk;
}

Status Views::Resolve(uint32_t tensor, const Box& box, uint32_t reader,
                      Vector<Leaf>* leaves) {
  const Graph& graph = judge_->graph;
  stack_.Truncate(0);
  SLUICE_TRY(stack_.Push(Leaf{tensor, box, reader}));
  while (stack_.size() != 0) {
    Leaf leaf = stack_[stack_.size() - 1];
    stack_.Pop();
    SLUICE_TRY(Spend(judge_, 1));
    uint32_t producer = graph.tensors[leaf.tensor].producer;
    while (producer != kNone && DeedOf(graph.layers[producer]) == Deed::kReshape) {
      leaf.tensor = graph.layers[producer].inputs[0];
      leaf.reader = producer;
      producer = graph.tensors[leaf.tensor].producer;
    }
    if (producer != kNone && DeedOf(graph.layers[producer]) == Deed::kAppend &&
        leaf.reader > producer) {
      SLUICE_TRY(SplitAppended(leaf, leaves));
    } else if (producer == kNone || WorkOf(graph.layers[producer]) != Work::kView) {
      SLUICE_TRY(leaves->Push(leaf));
    } else {
      SLUICE_TRY(Through(producer, leaf.box));
    }
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
