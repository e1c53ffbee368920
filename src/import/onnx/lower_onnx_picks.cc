// SPDX-License-Identifier: Apache-2.0
// ONNX: operators whose results are elements of their operands, where no layer moves them.
// Which element goes where is known at import: the host only copies.
#include <algorithm>
#include <limits>
#include <map>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;
// For a place in the output, the place in the operand (or operands, one behind the
// other); -1: none.
using Source = std::function<int64_t(const Shape&)>;

int64_t Flat(const Shape& at, const Shape& shape) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + at[i];
  return flat;
}

// An index, which may count from the end.
int64_t Inside(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  if (index < 0 || index >= extent) {
    throw Error(Fault::kBadInput, "an index out of range");
  }
  return index;
}

// An element of a list at a place that the file's shapes, which may lie, give.
int64_t At(const Shape& list, int64_t place) {
  if (place < 0 || place >= static_cast<int64_t>(list.size())) {
    throw Error(Fault::kBadInput, "an index out of range");
  }
  return list[static_cast<size_t>(place)];
}

Source OfSlice(const OnnxLowering& to, const OnnxNode& node, const Shape& in) {
  const bool old = to.model.opset < 10;
  const auto list = [&](size_t i, const char* name, Shape otherwise) {
    if (old) return node.Ints(name, std::move(otherwise));
    return HasInput(node, i) ? IntegersOf(to, node, i) : otherwise;
  };
  const Shape begins = list(1, "starts", {});
  Shape axes(begins.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  axes = list(3, "axes", axes);
  const Shape steps =
      old ? Shape(begins.size(), 1) : list(4, "", Shape(begins.size(), 1));
  Require(axes.size() == begins.size() && steps.size() == begins.size(),
          "steps, begins and axes of different lengths");
  Shape first(in.size(), 0), step(in.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t a = static_cast<size_t>(AxisOf(InputOf(to, node, 0), axes[i]));
    step[a] = std::clamp<int64_t>(steps[i], -INT32_MAX, INT32_MAX);
    const int64_t from = begins[i] < 0 ? begins[i] + in[a] : begins[i];
    first[a] = std::clamp(from, int64_t{0}, steps[i] < 0 ? in[a] - 1 : in[a]);
  }
  return [=](const Shape& at) {
    Shape from = at;
    for (size_t a = 0; a < in.size(); ++a) {
      from[a] = Inside(first[a] + at[a] * step[a], in[a]);
    }
    return Flat(from, in);
  };
}

Source OfGather(const OnnxLowering& to, const OnnxNode& node, const Shape& in) {
  const size_t axis =
      static_cast<size_t>(AxisOf(InputOf(to, node, 0), node.Int("axis", 0)));
  const Shape which = IntegersOf(to, node, 1), shape = ShapeOf(InputOf(to, node, 1));
  if (node.op == "GatherElements") {
    return [=](const Shape& at) {
      Shape from = at;
      from[axis] = Inside(At(which, Flat(at, shape)), in[axis]);
      return Flat(from, in);
    };
  }
  return [=](const Shape& at) {
    Shape from(at.begin(), at.begin() + static_cast<int64_t>(axis));
    const Shape middle(at.begin() + static_cast<int64_t>(axis),
                       at.begin() + static_cast<int64_t>(axis + shape.size()));
    from.push_back(Inside(At(which, Flat(middle, shape)), in[axis]));
    from.insert(from.end(), at.begin() + static_cast<int64_t>(axis + shape.size()),
                at.end());
    return Flat(from, in);
  };
}

Source OfGatherND(const OnnxLowering& to, const OnnxNode& node, const Shape& in) {
  Require(node.Int("batch_dims", 0) == 0, "batches of indices");
  const Shape which = IntegersOf(to, node, 1), shape = ShapeOf(InputOf(to, node, 1));
  Require(!shape.empty() && shape.back() <= static_cast<int64_t>(in.size()),
          "indices with more parts than axes");
  const size_t parts = static_cast<size_t>(shape.back()), lead = shape.size() - 1;
  return [=](const Shape& at) {
    Shape row(at.begin(), at.begin() + static_cast<int64_t>(lead)), from;
    row.push_back(0);
    const int64_t first = Flat(row, shape);
    for (size_t i = 0; i < parts; ++i)
      from.push_back(Inside(At(which, first + static_cast<int64_t>(i)), in[i]));
    from.insert(from.end(), at.begin() + static_cast<int64_t>(lead), at.end());
    return Flat(from, in);
  };
}

// The place in `n` elements that stands at `i`, which may lie outside; -1: none.
int64_t Outside(int64_t i, int64_t n, const std::string& mode) {
  if (i >= 0 && i < n) return i;
  if (mode == "edge") return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == "wrap") return (i % n + n) % n;
  if (mode == "constant") return -1;
  Require(mode == "reflect", "an unknown sort of pads");
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1), at = (i % period + period) % period;
  return at < n ? at : period - at;
}

Source OfPad(const OnnxLowering& to, const OnnxNode& node, const Shape& in) {
  const std::string mode = node.Text("mode", "constant");
  const Shape pads =
      HasInput(node, 1) ? IntegersOf(to, node, 1) : node.Ints("pads", {});
  Shape axes(in.size()), before(in.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (HasInput(node, 3)) axes = IntegersOf(to, node, 3);
  Require(pads.size() == 2 * axes.size(), "pads of another length than their axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    Require(pads[i] >= -INT32_MAX && pads[i] <= INT32_MAX, "pads out of range");
    before[static_cast<size_t>(AxisOf(InputOf(to, node, 0), axes[i]))] = pads[i];
  }
  return [=](const Shape& at) -> int64_t {
    Shape from = at;
    for (size_t a = 0; a < in.size(); ++a) {
      from[a] = Outside(at[a] - before[a], in[a], mode);
      if (from[a] < 0) return -1;
    }
    return Flat(from, in);
  };
}

// Tile and Expand: axes are aligned at their ends.
Source OfRepeats(const Shape& in) {
  return [=](const Shape& at) {
    Shape from;
    const size_t missing = at.size() - in.size();
    for (size_t a = 0; a < in.size(); ++a) from.push_back(at[a + missing] % in[a]);
    return Flat(from, in);
  };
}

Source OfReverse(const OnnxLowering& to, const OnnxNode& node, const Shape& in) {
  const size_t time = static_cast<size_t>(node.Int("time_axis", 0)),
               batch = static_cast<size_t>(node.Int("batch_axis", 1));
  const Shape lengths = IntegersOf(to, node, 1);
  Require(time < in.size() && batch < in.size() &&
              static_cast<int64_t>(lengths.size()) == in[batch],
          "lengths that do not fit the batch");
  return [=](const Shape& at) {
    Shape from = at;
    const int64_t length = At(lengths, at[batch]);
    if (at[time] < length) from[time] = Inside(length - 1 - at[time], in[time]);
    return Flat(from, in);
  };
}

Source OfConcat(const OnnxLowering& to, const OnnxNode& node) {
  const size_t axis =
      static_cast<size_t>(AxisOf(InputOf(to, node, 0), node.Int("axis", 0)));
  std::vector<Shape> shapes;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    shapes.push_back(ShapeOf(InputOf(to, node, i)));
  return [=](const Shape& at) -> int64_t {
    Shape from = at;
    int64_t behind = 0;
    for (const Shape& shape : shapes) {
      if (from[axis] < shape[axis]) return behind + Flat(from, shape);
      from[axis] -= shape[axis];
      behind += ElementsOf(shape);
    }
    throw Error(Fault::kBadInput, "shapes contradict each other: operands of Concat");
  };
}

// The triangle below or above a diagonal of the last two axes.
Source OfTriangle(const OnnxLowering& to, const OnnxNode& node, const Shape& in) {
  Require(in.size() >= 2, "less than two axes");
  const Shape given = HasInput(node, 1) ? IntegersOf(to, node, 1) : Shape{0};
  Require(given.size() == 1, "several diagonals");
  const bool upper = node.Int("upper", 1) != 0;
  const int64_t diagonal = std::clamp<int64_t>(given[0], -INT32_MAX, INT32_MAX);
  return [=](const Shape& at) -> int64_t {
    const int64_t right = at[at.size() - 1] - at[at.size() - 2] - diagonal;
    return (upper ? right >= 0 : right <= 0) ? Flat(at, in) : -1;
  };
}

// Elements of the updates, which lie behind those of the data, replace others. Places are found
// once: an index that stands twice is the last update's.
Source OfScatter(const OnnxLowering& to, const OnnxNode& node, const Shape& in) {
  Require(node.Text("reduction", "none") == "none", "updates that are added up");
  const Shape which = IntegersOf(to, node, 1), shape = ShapeOf(InputOf(to, node, 1)),
              updates = ShapeOf(InputOf(to, node, 2));
  const int64_t elements = ElementsOf(in);
  std::map<int64_t, int64_t> replaced;
  if (node.op == "ScatterElements") {
    const size_t axis =
        static_cast<size_t>(AxisOf(InputOf(to, node, 0), node.Int("axis", 0)));
    Require(shape == updates && shape.size() == in.size(), "updates of other extents");
    Shape at(shape.size(), 0);
    for (int64_t n = 0; n < ElementsOf(shape); ++n) {
      Shape place = at;
      place[axis] = Inside(At(which, n), in[axis]);
      replaced[Flat(place, in)] = elements + n;
      for (size_t i = shape.size(); i-- > 0;) {
        if (++at[i] < shape[i]) break;
        at[i] = 0;
      }
    }
  } else {
    Require(!shape.empty() && shape.back() <= static_cast<int64_t>(in.size()),
            "indices with more parts than axes");
    const size_t parts = static_cast<size_t>(shape.back());
    const int64_t inner =
        ElementsOf(Shape(in.begin() + static_cast<int64_t>(parts), in.end()));
    const int64_t rows = ElementsOf(shape) / shape.back();
    Require(ElementsOf(updates) == rows * inner, "updates of other extents");
    for (int64_t row = 0; row < rows; ++row) {
      int64_t first = 0;
      for (size_t p = 0; p < parts; ++p) {
        const int64_t index = At(which, row * shape.back() + static_cast<int64_t>(p));
        first = first * in[p] + Inside(index, in[p]);
      }
      for (int64_t i = 0; i < inner; ++i)
        replaced[first * inner + i] = elements + row * inner + i;
    }
  }
  return [=](const Shape& at) {
    const int64_t flat = Flat(at, in);
    const auto found = replaced.find(flat);
    return found == replaced.end() ? flat : found->second;
  };
}

// Which inputs of the node hold the elements.
std::vector<size_t> Operands(const OnnxNode& node) {
  if (node.op.find("Scatter") == 0) return {0, 2};
  std::vector<size_t> operands(node.op == "Concat" ? node.inputs.size() : 1);
  for (size_t i = 0; i < operands.size(); ++i) operands[i] = i;
  return operands;
}

Source SourceOf(const OnnxLowering& to, const OnnxNode& node) {
  const Shape& in = ShapeOf(InputOf(to, node, 0));
  if (node.op == "Concat") return OfConcat(to, node);
  if (node.op == "Trilu") return OfTriangle(to, node, in);
  if (node.op.find("Scatter") == 0) return OfScatter(to, node, in);
  if (node.op == "Slice") return OfSlice(to, node, in);
  if (node.op == "GatherND") return OfGatherND(to, node, in);
  if (node.op == "Pad") return OfPad(to, node, in);
  if (node.op == "ReverseSequence") return OfReverse(to, node, in);
  if (node.op == "Tile" || node.op == "Expand") return OfRepeats(in);
  return OfGather(to, node, in);
}

// How many axes a place in the operand names must fit the output.
bool RanksFit(const OnnxLowering& to, const OnnxNode& node) {
  const size_t in = ShapeOf(InputOf(to, node, 0)).size(),
               out = ShapeOf(OutputOf(to, node)).size();
  if (node.op == "Gather") return out == in - 1 + ShapeOf(InputOf(to, node, 1)).size();
  if (node.op == "GatherElements") {
    return in == out && ShapeOf(InputOf(to, node, 1)) == ShapeOf(OutputOf(to, node));
  }
  if (node.op == "GatherND") {
    const Shape& which = ShapeOf(InputOf(to, node, 1));
    return !which.empty() &&
           in + which.size() - 1 >= static_cast<size_t>(which.back()) &&
           out == in + which.size() - 1 - static_cast<size_t>(which.back());
  }
  if (node.op == "Concat") {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (ShapeOf(InputOf(to, node, i)).size() != out) return false;
    }
  }
  return node.op == "Expand" ? in <= out : in == out;
}

std::vector<int32_t> Picks(const Shape& out, const Source& source, int64_t most) {
  std::vector<int32_t> picks;
  Shape at(out.size(), 0);
  for (int64_t n = 0; n < ElementsOf(out); ++n) {
    const int64_t from = source(at);
    if (from >= most) throw Error(Fault::kBadInput, "an index out of range");
    picks.push_back(static_cast<int32_t>(from));
    for (size_t i = out.size(); i-- > 0;) {
      if (++at[i] < out[i]) break;
      at[i] = 0;
    }
  }
  return picks;
}

bool Alike(const Numbers& a, const Numbers& b) {
  return a.dtype == b.dtype && a.floats == b.floats && a.known == b.known &&
         a.affine.scale == b.affine.scale && a.affine.zero == b.affine.zero &&
         a.wide_scale == b.wide_scale && a.wide_zero == b.wide_zero;
}

}  // namespace

void LowerOnnxPick(OnnxLowering* to, const OnnxNode& node) {
  const Shape& out = ShapeOf(OutputOf(*to, node));
  Require(RanksFit(*to, node), "ranks that disagree");
  const std::vector<size_t> operands = Operands(node);
  int64_t elements = 0;
  bool same = true;
  const bool constant = InputOf(*to, node, 0).constant;
  const Numbers first = constant ? Numbers() : PlaceOf(to, node.inputs[0]).numbers;
  for (const size_t i : operands) {
    const int input = InputIndex(node, i);
    elements += ElementsOf(ShapeOf(ValueOf(*to, input)));
    same &= !ValueOf(*to, input).constant && Alike(first, PlaceOf(to, input).numbers);
  }
  Require(elements <= std::numeric_limits<int32_t>::max(), "an extent above 2^31 - 1");
  const float value = node.op == "Pad" ? PadValue(*to, node) : 0;
  // What is filled in may be no number that the operand stores.
  const bool stored = same && (first.floats || value == 0);
  Require(stored || first.wide_scale == 0, "16-bit operands of several scales");
  to->graph.NeedRoom(static_cast<uint64_t>(ElementsOf(out)) * 4);
  std::vector<int32_t> picks = Picks(out, SourceOf(*to, node), elements);
  picks.push_back(stored && !first.floats ? first.affine.zero : FloatBits(value));
  std::vector<uint32_t> inputs;
  for (const size_t i : operands) {
    const int input = InputIndex(node, i);
    inputs.push_back(stored ? PlainTensor(to, input) : FloatsOf(to, input));
  }
  const AxisOrder order = Straight(out.size());
  const uint32_t picked = stored
                              ? NewOutput(to, node, 0, order, DimsIn(out, order), first)
                              : NewFloats(to, node);
  AddHost(to, node.name, "Pick", {inputs, picks, {picked}}, 0);
}

}  // namespace sluice::import
