// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/kernel_shapes.h"

#include <algorithm>

#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Numbers = std::vector<int32_t>;
using Shape = std::vector<int32_t>;

constexpr char kExtents[] = "extents that contradict the operator";
constexpr char kTypes[] = "operands of several types";

void Fits(bool condition) { Require(condition, kExtents); }

int64_t Count(const Shape& shape, size_t from = 0) {
  int64_t count = 1;
  for (size_t a = from; a < shape.size(); ++a) {
    Require(shape[a] >= 1 && count <= INT32_MAX / shape[a], kExtents);
    count *= shape[a];
  }
  return count;
}

const Shape& ShapeAt(const Lowering& to, const TfliteOperator& op, size_t i) {
  return InputOf(to, op, i).shape;
}

void Inputs(const TfliteOperator& op, size_t least, size_t most) {
  Require(op.inputs.size() >= least && op.inputs.size() <= most && !op.outputs.empty(),
          "another number of operands");
}

void SameType(const TfliteTensor& a, const TfliteTensor& b) {
  Require(a.type == b.type, kTypes);
  Require(a.scales.size() < 2 && b.scales.size() < 2,
          "per-axis quantisation of an activation");
}

size_t Axis(int64_t axis, size_t rank) {
  const int64_t axes = static_cast<int64_t>(rank);
  Fits(axis >= -axes && axis < axes);
  return static_cast<size_t>(axis < 0 ? axis + axes : axis);
}

bool IsIndex(const TfliteTensor& tensor) {
  const auto type = static_cast<tflite::TensorType>(tensor.type);
  return type == tflite::TensorType::INT32 || type == tflite::TensorType::INT64;
}

void RequireIndex(const TfliteTensor& tensor) {
  Require(IsIndex(tensor), "indices that are not integers");
}

Shape Broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t back = out.size() - i;
    const int32_t x = back <= a.size() ? a[a.size() - back] : 1;
    const int32_t y = back <= b.size() ? b[b.size() - back] : 1;
    Require(x == y || x == 1 || y == 1, "extents that do not broadcast");
    out[i] = std::max(x, y);
  }
  return out;
}

// Constant indices lie within [0, end).
void Within(const TfliteTensor& index, int64_t end) {
  RequireIndex(index);
  if (index.data == nullptr) return;
  for (const int64_t i : Integers(index)) {
    Require(i >= 0 && i < end, "an index outside of its table");
  }
}

}  // namespace

void CheckSame(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 1, 64);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    SameType(InputOf(to, op, i), OutputOf(to, op));
    Fits(ShapeAt(to, op, i) == OutputOf(to, op).shape);
  }
}

void CheckOther(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 1, 1);
  Fits(ShapeAt(to, op, 0) == OutputOf(to, op).shape);
  using Op = tflite::BuiltinOperator;
  const auto real = [](const TfliteTensor& tensor) {
    return static_cast<tflite::TensorType>(tensor.type) == tflite::TensorType::FLOAT32;
  };
  if (static_cast<Op>(op.code) == Op::QUANTIZE) {
    SmallInteger(OutputOf(to, op));
    AffineOf(OutputOf(to, op));
    if (!real(InputOf(to, op, 0))) {
      Require(DtypeOf(InputOf(to, op, 0)) == SLUICE_DTYPE_INT32, kTypes);
      AffineOf(InputOf(to, op, 0));
    }
  } else if (static_cast<Op>(op.code) == Op::DEQUANTIZE) {
    AffineOf(InputOf(to, op, 0));
    Require(real(OutputOf(to, op)), kTypes);
  }
}

void CheckBroadcast(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 2);
  SameType(InputOf(to, op, 0), InputOf(to, op, 1));
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  Fits(Broadcast(ShapeAt(to, op, 0), ShapeAt(to, op, 1)) == OutputOf(to, op).shape);
}

void CheckCompare(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 2);
  SameType(InputOf(to, op, 0), InputOf(to, op, 1));
  Require(static_cast<tflite::TensorType>(OutputOf(to, op).type) ==
              tflite::TensorType::BOOL,
          "an output that is not bool");
  Fits(Broadcast(ShapeAt(to, op, 0), ShapeAt(to, op, 1)) == OutputOf(to, op).shape);
}

void CheckSelect(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  Inputs(op, 3, 3);
  const TfliteTensor& out = OutputOf(to, op);
  Require(static_cast<tflite::TensorType>(InputOf(to, op, 0).type) ==
              tflite::TensorType::BOOL,
          "a condition that is not bool");
  SameType(InputOf(to, op, 1), out);
  SameType(InputOf(to, op, 2), out);
  Shape condition = ShapeAt(to, op, 0);
  if (numbers[0] == 0 && condition.size() == 1) condition.resize(out.shape.size(), 1);
  const Shape values = Broadcast(ShapeAt(to, op, 1), ShapeAt(to, op, 2));
  Fits(Broadcast(condition, values) == out.shape);
}

void CheckReduce(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 2);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  Shape kept = ShapeAt(to, op, 0);
  for (const int64_t axis : Integers(InputOf(to, op, 1)))
    kept[Axis(axis, kept.size())] = 1;
  Fits(Count(kept) == Count(OutputOf(to, op).shape));
}

void CheckArg(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 2);
  const std::vector<int64_t> axes = Integers(InputOf(to, op, 1));
  Require(axes.size() == 1, "several axes");
  RequireIndex(OutputOf(to, op));
  Shape kept = ShapeAt(to, op, 0);
  kept[Axis(axes[0], kept.size())] = 1;
  Fits(Count(kept) == Count(OutputOf(to, op).shape));
}

void CheckRows(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 1, 2);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const Shape& shape = ShapeAt(to, op, 0);
  Fits(shape == OutputOf(to, op).shape && !shape.empty());
  if (op.inputs.size() == 1) return;
  const std::vector<int64_t> axes = Integers(InputOf(to, op, 1));
  Require(axes.size() == 1, "several axes");
  Axis(axes[0], shape.size());
}

void CheckTopK(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 2);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  Shape shape = ShapeAt(to, op, 0);
  Fits(!shape.empty() && op.outputs.size() == 2 && !OutputOf(to, op).shape.empty());
  Fits(OutputOf(to, op).shape.back() <= shape.back());
  shape.back() = OutputOf(to, op).shape.back();
  RequireIndex(OutputOf(to, op, 1));
  Fits(OutputOf(to, op).shape == shape && OutputOf(to, op, 1).shape == shape);
}

namespace {

// Extents of a window's axis; `numbers` as lower_kernels.cc lists them.
void FitWindow(const Numbers& numbers, size_t a, int32_t in, int32_t out,
               int32_t window) {
  PadsOf(numbers[0] == 0, in, out, window, numbers[1 + a], numbers[5 + a]);
}

}  // namespace

void CheckConv(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  using Op = tflite::BuiltinOperator;
  const Op code = static_cast<Op>(op.code);
  const bool transposed = code == Op::TRANSPOSE_CONV;
  Inputs(op, transposed ? 3 : 2, transposed ? 4 : 3);
  const TfliteTensor &input = InputOf(to, op, transposed ? 2 : 0),
                     &weight = InputOf(to, op, 1), &out = OutputOf(to, op);
  SameType(input, out);
  SameType(weight, out);
  const Shape &x = input.shape, &w = weight.shape, &y = out.shape;
  Require(x.size() == 4 && w.size() == 4 && y.size() == 4,
          "operands that do not have four axes");
  Fits(x[0] == y[0]);
  for (size_t a = 0; a < 2; ++a) {
    const int32_t wide = transposed ? y[1 + a] : x[1 + a],
                  narrow = transposed ? x[1 + a] : y[1 + a];
    FitWindow(numbers, a, wide, narrow, w[1 + a]);
  }
  if (code == Op::DEPTHWISE_CONV_2D) {
    Fits(w[0] == 1 && w[3] == y[3] && y[3] % x[3] == 0);
  } else if (transposed) {
    Fits(w[0] == y[3] && w[3] == x[3]);
  } else {
    Fits(w[0] == y[3] && x[3] % w[3] == 0 && y[3] % (x[3] / w[3]) == 0);
  }
  const size_t bias = transposed ? 3 : 2;
  if (!HasInput(op, bias)) return;
  SameType(InputOf(to, op, bias), out);
  Fits(Count(ShapeAt(to, op, bias)) == y[3]);
}

void CheckConv3d(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  Inputs(op, 2, 3);
  const TfliteTensor& out = OutputOf(to, op);
  const Shape &x = ShapeAt(to, op, 0), &w = ShapeAt(to, op, 1), &y = out.shape;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (HasInput(op, i)) SameType(InputOf(to, op, i), out);
  }
  Require(x.size() == 5 && w.size() == 5 && y.size() == 5,
          "operands that do not have five axes");
  Fits(x[0] == y[0] && w[3] == x[4] && w[4] == y[4]);
  for (size_t a = 0; a < 3; ++a) {
    PadsOf(numbers[0] == 0, x[1 + a], y[1 + a], w[a], numbers[1 + a], numbers[4 + a]);
  }
  if (HasInput(op, 2)) Fits(Count(ShapeAt(to, op, 2)) == y[4]);
}

void CheckBoxes(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 5, 6);
  const bool soft = op.inputs.size() == 6;
  Fits(op.outputs.size() == (soft ? 3u : 2u));
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    Require(HasInput(op, i), "another number of operands");
    if (i != 2) SameType(InputOf(to, op, i), InputOf(to, op, 0));
    if (i >= 2) Fits(Count(ShapeAt(to, op, i)) == 1);
  }
  const Shape& boxes = ShapeAt(to, op, 0);
  Fits(boxes.size() == 2 && boxes[1] == 4 && Count(ShapeAt(to, op, 1)) == boxes[0]);
  RequireIndex(InputOf(to, op, 2));
  RequireIndex(OutputOf(to, op));
  RequireIndex(OutputOf(to, op, op.outputs.size() - 1));
  Fits(Count(OutputOf(to, op, op.outputs.size() - 1).shape) == 1);
  if (!soft) return;
  SameType(OutputOf(to, op, 1), InputOf(to, op, 0));
  Fits(Count(OutputOf(to, op, 1).shape) == Count(OutputOf(to, op).shape));
}

namespace {

// Of images that differ in rows and columns alone.
void FitImages(const Lowering& to, const TfliteOperator& op) {
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const Shape &x = ShapeAt(to, op, 0), &y = OutputOf(to, op).shape;
  Require(x.size() == 4 && y.size() == 4, "operands that do not have four axes");
  Fits(x[0] == y[0] && x[3] == y[3]);
}

}  // namespace

void CheckPool(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  Inputs(op, 1, 1);
  FitImages(to, op);
  const Shape &x = ShapeAt(to, op, 0), &y = OutputOf(to, op).shape;
  for (size_t a = 0; a < 2; ++a)
    FitWindow(numbers, a, x[1 + a], y[1 + a], numbers[3 + a]);
}

void CheckFully(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 3);
  const TfliteTensor &input = InputOf(to, op, 0), &weight = InputOf(to, op, 1),
                     &out = OutputOf(to, op);
  SameType(input, out);
  SameType(weight, out);
  Require(weight.shape.size() == 2, "a weight that does not have two axes");
  const int64_t elements = Count(input.shape), depth = weight.shape[1];
  Require(
      elements % depth == 0 && elements / depth * weight.shape[0] == Count(out.shape),
      "extents that do not fit the weight");
  if (!HasInput(op, 2)) return;
  Fits(Count(ShapeAt(to, op, 2)) == weight.shape[0]);
}

void CheckMatmul(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  Inputs(op, 2, 2);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const bool narrow = DtypeOf(OutputOf(to, op)) == SLUICE_DTYPE_INT16 &&
                      DtypeOf(InputOf(to, op, 1)) == SLUICE_DTYPE_INT8;
  if (narrow) {
    AffineOf(InputOf(to, op, 1));
  } else {
    SameType(InputOf(to, op, 1), OutputOf(to, op));
  }
  Shape x = ShapeAt(to, op, 0), z = ShapeAt(to, op, 1);
  Fits(x.size() >= 2 && z.size() >= 2);
  if (numbers[0] != 0) std::swap(x[x.size() - 1], x[x.size() - 2]);
  if (numbers[1] != 0) std::swap(z[z.size() - 1], z[z.size() - 2]);
  Fits(x.back() == z[z.size() - 2]);
  Shape y = Broadcast(Shape(x.begin(), x.end() - 2), Shape(z.begin(), z.end() - 2));
  y.insert(y.end(), {x[x.size() - 2], z.back()});
  Fits(y == OutputOf(to, op).shape);
}

void CheckResize(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 2);
  FitImages(to, op);
}

namespace {

std::vector<int64_t> PadsOfAxes(const Lowering& to, const TfliteOperator& op) {
  const Shape &x = ShapeAt(to, op, 0), &y = OutputOf(to, op).shape;
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const std::vector<int64_t> pads = Integers(InputOf(to, op, 1));
  Require(pads.size() == 2 * x.size() && y.size() == x.size(),
          "pads of another length than the rank");
  for (size_t a = 0; a < x.size(); ++a) {
    Fits(pads[2 * a] >= 0 && pads[2 * a + 1] >= 0 &&
         pads[2 * a] + pads[2 * a + 1] == int64_t{y[a]} - x[a]);
  }
  return pads;
}

}  // namespace

void CheckPad(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 3);
  PadsOfAxes(to, op);
  if (HasInput(op, 2)) SameType(InputOf(to, op, 2), OutputOf(to, op));
}

void CheckMirror(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  Inputs(op, 2, 2);
  const std::vector<int64_t> pads = PadsOfAxes(to, op);
  const int64_t edge = numbers[0] == 0 ? 1 : 0;
  for (size_t i = 0; i < pads.size(); ++i) {
    Fits(pads[i] <= ShapeAt(to, op, 0)[i / 2] - edge);
  }
}

void CheckBlocks(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  Inputs(op, 1, 1);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const bool deeper = static_cast<tflite::BuiltinOperator>(op.code) ==
                      tflite::BuiltinOperator::SPACE_TO_DEPTH;
  const Shape &x = ShapeAt(to, op, 0), &y = OutputOf(to, op).shape;
  const Shape &wide = deeper ? x : y, &deep = deeper ? y : x;
  Require(x.size() == 4 && y.size() == 4, "operands that do not have four axes");
  const int64_t block = numbers[0];
  Require(block >= 1 && block <= 4096, "a block below 1");
  Fits(wide[0] == deep[0] && deep[1] * block == wide[1] && deep[2] * block == wide[2] &&
       deep[3] == wide[3] * block * block);
}

void CheckBatches(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 3, 3);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const bool more = static_cast<tflite::BuiltinOperator>(op.code) ==
                    tflite::BuiltinOperator::SPACE_TO_BATCH_ND;
  const Shape &x = ShapeAt(to, op, 0), &y = OutputOf(to, op).shape;
  const Shape &wide = more ? x : y, &cut = more ? y : x;
  const std::vector<int64_t> block = Integers(InputOf(to, op, 1)),
                             pads = Integers(InputOf(to, op, 2));
  Fits(x.size() == y.size() && block.size() < x.size() &&
       pads.size() == 2 * block.size());
  int64_t parts = 1;
  for (size_t a = 0; a < x.size(); ++a) {
    if (a == 0) continue;
    if (a > block.size()) {
      Fits(wide[a] == cut[a]);
      continue;
    }
    const int64_t b = block[a - 1], before = pads[2 * a - 2], after = pads[2 * a - 1];
    Require(b >= 1 && b <= INT32_MAX / parts, "a block below 1");
    Require(before >= 0 && after >= 0, "a pad or crop below 0");
    Fits(before + after + wide[a] == b * cut[a]);
    parts *= b;
  }
  Fits(cut[0] == parts * wide[0]);
}

void CheckGather(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  using Op = tflite::BuiltinOperator;
  const bool embedding = static_cast<Op>(op.code) == Op::EMBEDDING_LOOKUP;
  Inputs(op, 2, 2);
  const TfliteTensor &table = InputOf(to, op, embedding ? 1 : 0),
                     &index = InputOf(to, op, embedding ? 0 : 1);
  SameType(table, OutputOf(to, op));
  const Shape& x = table.shape;
  const size_t axis = Axis(embedding ? 0 : numbers[0], x.size());
  const size_t batches = embedding ? 0 : static_cast<size_t>(numbers[1]);
  Require(embedding || numbers[1] >= 0, "batches of indices");
  Fits(batches <= axis && batches <= index.shape.size());
  Fits(std::equal(x.begin(), x.begin() + static_cast<long>(batches),
                  index.shape.begin()));
  Within(index, x[axis]);
  Shape y(x.begin(), x.begin() + static_cast<long>(axis));
  y.insert(y.end(), index.shape.begin() + static_cast<long>(batches),
           index.shape.end());
  y.insert(y.end(), x.begin() + static_cast<long>(axis) + 1, x.end());
  Fits(y == OutputOf(to, op).shape);
}

// GATHER_ND, SCATTER_ND, SPARSE_TO_DENSE.
void CheckIndexed(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  using Op = tflite::BuiltinOperator;
  const Op code = static_cast<Op>(op.code);
  const bool gathers = code == Op::GATHER_ND, sparse = code == Op::SPARSE_TO_DENSE;
  Inputs(op, gathers ? 2 : sparse ? 4 : 3, gathers ? 2 : sparse ? 4 : 3);
  const TfliteTensor& index = InputOf(to, op, gathers ? 1 : 0);
  const TfliteTensor& values = InputOf(to, op, gathers ? 0 : sparse ? 2 : 1);
  SameType(values, OutputOf(to, op));
  if (sparse) SameType(InputOf(to, op, 3), OutputOf(to, op));
  const Shape& whole = gathers ? values.shape : OutputOf(to, op).shape;
  const Shape& part = gathers ? OutputOf(to, op).shape : values.shape;
  RequireIndex(index);
  Fits(!index.shape.empty() && (!sparse || index.shape.size() == 2));
  const size_t depth = static_cast<size_t>(index.shape.back());
  Fits(depth <= whole.size() && (!sparse || depth == whole.size()));
  const int64_t slices = Count(index.shape) / index.shape.back();
  const bool one = sparse && Count(part) == 1;
  Fits(one || Count(part) == slices * Count(whole, depth));
  if (index.data == nullptr) return;
  const std::vector<int64_t> at = Integers(index);
  for (size_t i = 0; i < at.size(); ++i) {
    Require(at[i] >= 0 && at[i] < whole[i % depth], "an index outside of its table");
  }
}

void CheckOneHot(const Lowering& to, const TfliteOperator& op, const Numbers& numbers) {
  Inputs(op, 4, 4);
  RequireIndex(InputOf(to, op, 0));
  SameType(InputOf(to, op, 2), OutputOf(to, op));
  SameType(InputOf(to, op, 3), OutputOf(to, op));
  Fits(Count(ShapeAt(to, op, 2)) == 1 && Count(ShapeAt(to, op, 3)) == 1);
  Shape y = OutputOf(to, op).shape;
  const size_t axis = Axis(numbers[0], y.size());
  y.erase(y.begin() + static_cast<long>(axis));
  Fits(y == ShapeAt(to, op, 0));
}

void CheckSequence(const Lowering& to, const TfliteOperator& op,
                   const Numbers& numbers) {
  Inputs(op, 2, 2);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const Shape& x = ShapeAt(to, op, 0);
  Fits(x == OutputOf(to, op).shape);
  const size_t sequence = Axis(numbers[0], x.size()),
               batch = Axis(numbers[1], x.size());
  Fits(Count(ShapeAt(to, op, 1)) == x[batch]);
  Within(InputOf(to, op, 1), int64_t{x[sequence]} + 1);
}

void CheckDiagonal(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 1, 2);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  Shape x = ShapeAt(to, op, 0);
  Fits(!x.empty());
  if (op.inputs.size() == 1) {
    x.push_back(x.back());
    return Fits(x == OutputOf(to, op).shape);
  }
  SameType(InputOf(to, op, 1), OutputOf(to, op));
  Fits(x == OutputOf(to, op).shape && x.size() >= 2);
  const int32_t least = std::min(x[x.size() - 1], x[x.size() - 2]);
  x.pop_back();
  x.back() = least;
  Fits(x == ShapeAt(to, op, 1));
}

void CheckUpdate(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 3, 3);
  const Shape &x = ShapeAt(to, op, 0), &part = ShapeAt(to, op, 1);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  SameType(InputOf(to, op, 1), OutputOf(to, op));
  RequireIndex(InputOf(to, op, 2));
  Fits(x == OutputOf(to, op).shape && part.size() == x.size() &&
       Count(ShapeAt(to, op, 2)) == static_cast<int64_t>(x.size()));
  for (size_t a = 0; a < x.size(); ++a) Fits(part[a] <= x[a]);
}

void CheckSegments(const Lowering& to, const TfliteOperator& op, const Numbers&) {
  Inputs(op, 2, 3);
  SameType(InputOf(to, op, 0), OutputOf(to, op));
  const Shape &x = ShapeAt(to, op, 0), &y = OutputOf(to, op).shape;
  const Shape& segment = ShapeAt(to, op, 1);
  Fits(!y.empty() && segment.size() <= x.size());
  Fits(std::equal(segment.begin(), segment.end(), x.begin()) &&
       Count(x, segment.size()) == Count(y, 1));
  Within(InputOf(to, op, 1), y[0]);
}

}  // namespace sluice::import
