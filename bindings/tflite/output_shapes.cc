// SPDX-License-Identifier: Apache-2.0
#include "output_shapes.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::delegate {
namespace {

using Op = tflite::BuiltinOperator;
using Shape = std::vector<int32_t>;
using Shapes = std::vector<Shape>;

constexpr char kAtRunTime[] = "a shape or axes that are computed at run time";

void Require(bool condition, const char* otherwise) {
  if (!condition) throw import::Error(import::Fault::kUnsupported, otherwise);
}

struct Call {
  const import::TfliteModel& model;
  const import::TfliteOperator& op;
};

const import::TfliteTensor& TensorOf(const Call& call, size_t i) {
  Require(i < call.op.inputs.size() && call.op.inputs[i] >= 0, "an input is absent");
  return call.model.tensors[static_cast<size_t>(call.op.inputs[i])];
}

const Shape& In(const Call& call, size_t i) { return TensorOf(call, i).shape; }

// The value of an operand that is a constant, or was computed from shapes. Numbers far
// outside of any axis are clamped, so that sums of them do not overflow.
std::vector<int64_t> Values(const Call& call, size_t i) {
  constexpr int64_t kFar = int64_t{1} << 40;
  const import::TfliteTensor& tensor = TensorOf(call, i);
  Require(tensor.data != nullptr, kAtRunTime);
  const bool narrow = tensor.type == static_cast<int>(tflite::TensorType::INT32);
  Require(narrow || tensor.type == static_cast<int>(tflite::TensorType::INT64),
          "a shape or axes that are neither int32 nor int64");
  std::vector<int64_t> values(tensor.data_bytes / (narrow ? 4 : 8));
  for (size_t v = 0; v < values.size(); ++v) {
    int32_t value = 0;
    if (narrow) {
      std::memcpy(&value, tensor.data + 4 * v, sizeof value);
      values[v] = value;
    } else {
      std::memcpy(&values[v], tensor.data + 8 * v, sizeof values[v]);
    }
    values[v] = std::clamp(values[v], -kFar, kFar);
  }
  return values;
}

int64_t OneValue(const Call& call, size_t i) {
  const std::vector<int64_t> values = Values(call, i);
  Require(values.size() == 1, "an operand that is not one number");
  return values[0];
}

template <typename T>
const T& Given(const T* options) {
  Require(options != nullptr, "missing options");
  return *options;
}

int32_t Extent(int64_t value) {
  Require(value >= 0 && value <= std::numeric_limits<int32_t>::max(),
          "an extent below 0 or above 2^31 - 1");
  return static_cast<int32_t>(value);
}

int64_t Elements(const Shape& shape) {
  int64_t product = 1;
  for (const int32_t extent : shape) product = Extent(product * Extent(extent));
  return product;
}

// The axis as 0 .. rank - 1; a negative one counts from the end.
size_t AxisIn(size_t rank, int64_t axis) {
  const int64_t axes = static_cast<int64_t>(rank);
  if (axis < 0) axis += axes;
  Require(axis >= 0 && axis < axes, "an axis that its input does not have");
  return static_cast<size_t>(axis);
}

std::ptrdiff_t Place(size_t axis) { return static_cast<std::ptrdiff_t>(axis); }

void RequireRank(const Shape& shape, size_t rank) {
  Require(shape.size() == rank, "an input of another rank than the operator takes");
}

Shapes Same(const Call& call) { return {In(call, 0)}; }

Shape Broadcast(const Shape& a, const Shape& b) {
  Shape shape = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  const size_t skip = shape.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int32_t& extent = shape[skip + i];
    Require(extent == shorter[i] || extent == 1 || shorter[i] == 1,
            "inputs that do not broadcast");
    if (extent == 1) extent = shorter[i];
  }
  return shape;
}

Shapes Binary(const Call& call) { return {Broadcast(In(call, 0), In(call, 1))}; }

struct Windows {
  bool same;
  int32_t stride, dilation;
};

// The number of windows along an axis.
int32_t Count(int32_t extent, int32_t window, const Windows& w) {
  Require(window >= 1 && w.stride >= 1 && w.dilation >= 1,
          "a window, a stride or a dilation below 1");
  if (w.same) return Extent((int64_t{extent} + w.stride - 1) / w.stride);
  const int64_t reach = int64_t{window - 1} * w.dilation + 1;
  return Extent((extent - reach + w.stride) / w.stride);
}

bool IsSame(tflite::Padding padding) { return padding == tflite::Padding::SAME; }

template <typename Options>
Shape Convolved(const Shape& in, const Shape& filter, const Options& o) {
  RequireRank(in, 4);
  RequireRank(filter, 4);
  const bool same = IsSame(o.padding());
  return {in[0], Count(in[1], filter[1], {same, o.stride_h(), o.dilation_h()}),
          Count(in[2], filter[2], {same, o.stride_w(), o.dilation_w()}), 0};
}

Shapes Convolution(const Call& call) {
  const Shape& filter = In(call, 1);
  Require(Elements(In(call, 0)) > 0, "an input without elements");
  Shape out = Convolved(In(call, 0), filter,
                        Given(call.op.wire->builtin_options_as_Conv2DOptions()));
  out[3] = filter[0];
  return {out};
}

Shapes Depthwise(const Call& call) {
  const Shape& filter = In(call, 1);
  Shape out =
      Convolved(In(call, 0), filter,
                Given(call.op.wire->builtin_options_as_DepthwiseConv2DOptions()));
  out[3] = filter[3];
  return {out};
}

Shapes Pool(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_Pool2DOptions());
  const Shape& in = In(call, 0);
  RequireRank(in, 4);
  const bool same = IsSame(o.padding());
  return {{in[0], Count(in[1], o.window_h(), {same, o.stride_h(), 1}),
           Count(in[2], o.window_w(), {same, o.stride_w(), 1}), in[3]}};
}

// The shape that an operand holds.
Shape Told(const Call& call, size_t operand) {
  Shape shape;
  for (const int64_t value : Values(call, operand)) shape.push_back(Extent(value));
  return shape;
}

Shapes TransposedConvolution(const Call& call) {
  RequireRank(Told(call, 0), 4);
  return {Told(call, 0)};
}

Shapes FullyConnected(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_FullyConnectedOptions());
  Shape in = In(call, 0);
  const Shape& weight = In(call, 1);
  RequireRank(weight, 2);
  Require(weight[1] >= 1 && !in.empty(), "an empty weight or input");
  if (!o.keep_num_dims()) {
    return {{Extent(Elements(in) / weight[1]), weight[0]}};
  }
  Require(in.back() == weight[1], "a weight that does not fit the last axis");
  in.back() = weight[0];
  return {in};
}

Shapes Matmul(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_BatchMatMulOptions());
  Shape a = In(call, 0), b = In(call, 1);
  Require(a.size() >= 2 && b.size() >= 2, "an input of less than two axes");
  if (o.adj_x()) std::swap(a[a.size() - 2], a.back());
  if (o.adj_y()) std::swap(b[b.size() - 2], b.back());
  Require(a.back() == b[b.size() - 2], "matrices that do not fit each other");
  const int32_t rows = a[a.size() - 2], columns = b.back();
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  Shape shape = Broadcast(a, b);
  shape.insert(shape.end(), {rows, columns});
  return {shape};
}

Shapes Reduce(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_ReducerOptions());
  const Shape& in = In(call, 0);
  std::vector<bool> taken(in.size());
  for (const int64_t axis : Values(call, 1)) taken[AxisIn(in.size(), axis)] = true;
  Shape shape;
  for (size_t a = 0; a < in.size(); ++a) {
    if (!taken[a]) shape.push_back(in[a]);
    if (taken[a] && o.keep_dims()) shape.push_back(1);
  }
  return {shape};
}

Shapes Argmax(const Call& call) {
  Shape shape = In(call, 0);
  shape.erase(shape.begin() + Place(AxisIn(shape.size(), OneValue(call, 1))));
  return {shape};
}

Shapes Concat(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_ConcatenationOptions());
  Shape shape = In(call, 0);
  const size_t axis = AxisIn(shape.size(), o.axis());
  for (size_t i = 1; i < call.op.inputs.size(); ++i) {
    Shape part = In(call, i);
    RequireRank(part, shape.size());
    std::swap(part[axis], shape[axis]);
    Require(std::equal(shape.begin(), shape.begin() + Place(axis), part.begin()) &&
                std::equal(shape.begin() + Place(axis) + 1, shape.end(),
                           part.begin() + Place(axis) + 1),
            "inputs that do not fit each other");
    shape[axis] = Extent(int64_t{shape[axis]} + part[axis]);
  }
  return {shape};
}

Shapes Pack(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_PackOptions());
  Shape shape = In(call, 0);
  for (size_t i = 1; i < call.op.inputs.size(); ++i) {
    Require(In(call, i) == shape, "inputs of several shapes");
  }
  const size_t axis = AxisIn(shape.size() + 1, o.axis());
  shape.insert(shape.begin() + Place(axis),
               static_cast<int32_t>(call.op.inputs.size()));
  return {shape};
}

Shapes Unpack(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_UnpackOptions());
  Shape shape = In(call, 0);
  const size_t axis = AxisIn(shape.size(), o.axis()), count = call.op.outputs.size();
  Require(static_cast<size_t>(shape[axis]) == count,
          "outputs that are not as many as what is unpacked");
  shape.erase(shape.begin() + Place(axis));
  return Shapes(count, shape);
}

int32_t Block(int32_t size) {
  Require(size >= 1 && size <= 0x7fff, "a block that is too small or too large");
  return size;
}

Shapes DepthToSpace(const Call& call) {
  const int32_t block =
      Block(Given(call.op.wire->builtin_options_as_DepthToSpaceOptions()).block_size());
  const Shape& in = In(call, 0);
  RequireRank(in, 4);
  Require(in[3] % (block * block) == 0, "blocks that do not fit the channels");
  return {{in[0], Extent(int64_t{in[1]} * block), Extent(int64_t{in[2]} * block),
           in[3] / (block * block)}};
}

Shapes SpaceToDepth(const Call& call) {
  const int32_t block =
      Block(Given(call.op.wire->builtin_options_as_SpaceToDepthOptions()).block_size());
  const Shape& in = In(call, 0);
  RequireRank(in, 4);
  Require(in[1] % block == 0 && in[2] % block == 0,
          "blocks that do not fit rows or columns");
  return {
      {in[0], in[1] / block, in[2] / block, Extent(int64_t{in[3]} * (block * block))}};
}

// Blocks along the axes between the first and the last, and what is added at both sides of
// each or cut off.
struct Blocks {
  std::vector<int64_t> block, border;
};

Blocks BlocksOf(const Call& call) {
  const size_t rank = In(call, 0).size();
  Require(rank == 3 || rank == 4, "an input of neither three nor four axes");
  Blocks b = {Values(call, 1), Values(call, 2)};
  Require(b.block.size() == rank - 2 && b.border.size() == 2 * b.block.size(),
          "blocks of another number of axes than rows and columns");
  for (const int64_t extent : b.block) Block(Extent(extent));
  for (const int64_t extent : b.border) Extent(extent);
  return b;
}

Shapes SpaceToBatch(const Call& call) {
  const Blocks b = BlocksOf(call);
  Shape shape = In(call, 0);
  for (size_t i = 0; i < b.block.size(); ++i) {
    const int64_t whole = shape[i + 1] + b.border[2 * i] + b.border[2 * i + 1];
    Require(whole % b.block[i] == 0, "blocks that do not fit rows or columns");
    shape[i + 1] = Extent(whole / b.block[i]);
    shape[0] = Extent(shape[0] * b.block[i]);
  }
  return {shape};
}

Shapes BatchToSpace(const Call& call) {
  const Blocks b = BlocksOf(call);
  Shape shape = In(call, 0);
  for (size_t i = 0; i < b.block.size(); ++i) {
    Require(shape[0] % b.block[i] == 0, "blocks that do not fit the images");
    shape[0] = Extent(shape[0] / b.block[i]);
    shape[i + 1] =
        Extent(shape[i + 1] * b.block[i] - b.border[2 * i] - b.border[2 * i + 1]);
  }
  return {shape};
}

Shapes Tile(const Call& call) {
  Shape shape = In(call, 0);
  const std::vector<int64_t> times = Values(call, 1);
  Require(times.size() == shape.size(), "tiles of another number of axes");
  for (size_t a = 0; a < shape.size(); ++a) {
    shape[a] = Extent(shape[a] * int64_t{Extent(times[a])});
  }
  return {shape};
}

Shapes BroadcastTo(const Call& call) {
  const Shape shape = Told(call, 1);
  Require(Broadcast(In(call, 0), shape) == shape, "an input that does not broadcast");
  return {shape};
}

Shapes Pad(const Call& call) {
  Shape shape = In(call, 0);
  const std::vector<int64_t> pads = Values(call, 1);
  Require(pads.size() == 2 * shape.size(), "pads of another number of axes");
  for (size_t a = 0; a < shape.size(); ++a) {
    shape[a] =
        Extent(shape[a] + int64_t{Extent(pads[2 * a])} + Extent(pads[2 * a + 1]));
  }
  return {shape};
}

Shapes Split(const Call& call) {
  Shape shape = In(call, 1);
  const size_t axis = AxisIn(shape.size(), OneValue(call, 0));
  const auto count = static_cast<int32_t>(call.op.outputs.size());
  Require(count >= 1 && shape[axis] % count == 0, "parts of different extents");
  shape[axis] /= count;
  return Shapes(static_cast<size_t>(count), shape);
}

// One part may be -1: what is left over.
Shapes SplitV(const Call& call) {
  const Shape& in = In(call, 0);
  std::vector<int64_t> parts = Values(call, 1);
  const size_t axis = AxisIn(in.size(), OneValue(call, 2));
  Require(parts.size() == call.op.outputs.size(), "parts and outputs of other number");
  int64_t left = in[axis];
  for (const int64_t part : parts) left -= part == -1 ? 0 : Extent(part);
  const auto open = std::find(parts.begin(), parts.end(), -1);
  if (open != parts.end()) {
    *open = Extent(left);
    left = 0;
  }
  Require(left == 0, "parts that are not the whole");
  Shapes shapes(parts.size(), in);
  for (size_t i = 0; i < parts.size(); ++i) shapes[i][axis] = Extent(parts[i]);
  return shapes;
}

Shapes Slice(const Call& call) {
  Shape shape = In(call, 0);
  const std::vector<int64_t> begin = Values(call, 1), size = Values(call, 2);
  Require(begin.size() == shape.size() && size.size() == shape.size(),
          "begin or size of another number of axes");
  for (size_t a = 0; a < shape.size(); ++a) {
    const int64_t left = shape[a] - int64_t{Extent(begin[a])};
    const int64_t taken = size[a] == -1 ? left : Extent(size[a]);
    Require(taken <= left, "a slice that leaves its input");
    shape[a] = Extent(taken);
  }
  return {shape};
}

// The number of elements that a slice with a stride takes from an axis.
int32_t Strided(const tflite::StridedSliceOptions& o, size_t i, int64_t extent,
                const std::vector<int64_t>* places) {
  const auto masked = [i](int32_t mask) { return (mask >> i & 1) != 0; };
  const int64_t stride = places[2][i];
  const bool up = stride > 0;
  const int64_t low = up ? 0 : -1, high = up ? extent : extent - 1;
  const auto inside = [&](int64_t v) {
    return std::clamp(v < 0 ? v + extent : v, low, high);
  };
  const int64_t begin =
      masked(o.begin_mask()) ? (up ? low : high) : inside(places[0][i]);
  const int64_t told = o.offset() ? begin + places[1][i] : places[1][i];
  const int64_t end = masked(o.end_mask()) ? (up ? high : low) : inside(told);
  const int64_t span = up ? end - begin : begin - end, step = up ? stride : -stride;
  return Extent(std::max<int64_t>((span + step - 1) / step, 0));
}

Shapes StridedSlice(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_StridedSliceOptions());
  Require(o.ellipsis_mask() == 0 && o.new_axis_mask() == 0, "ellipsis or new axes");
  const Shape& in = In(call, 0);
  const std::vector<int64_t> places[] = {Values(call, 1), Values(call, 2),
                                         Values(call, 3)};
  const size_t given = places[0].size();
  Require(given <= in.size() && given == places[1].size() && given == places[2].size(),
          "begin, end and strides of different lengths");
  Shape shape;
  for (size_t a = 0; a < in.size(); ++a) {
    if (a >= given) {
      shape.push_back(in[a]);
      continue;
    }
    Require(places[2][a] != 0, "a stride of 0");
    const int64_t first = places[0][a] + (places[0][a] < 0 ? in[a] : 0);
    if ((o.shrink_axis_mask() >> a & 1) == 0) {
      shape.push_back(Strided(o, a, in[a], places));
    } else {
      Require((first >= 0 && first < in[a]) || (o.begin_mask() >> a & 1) != 0,
              "an index outside its axis");
    }
  }
  return {shape};
}

// The shape in operand 1 where that is a list, else in the options; -1 is what is left over.
Shapes Reshape(const Call& call) {
  std::vector<int64_t> told;
  const bool given = call.op.inputs.size() > 1 && call.op.inputs[1] >= 0;
  // Its declared rank may be wrong, so that it tells nothing before it is computed.
  Require(!given || TensorOf(call, 1).data != nullptr, kAtRunTime);
  const bool operand =
      given && In(call, 1).size() == 1 &&
      TensorOf(call, 1).type == static_cast<int>(tflite::TensorType::INT32);
  if (operand) {
    told = Values(call, 1);
  } else if (const auto* list =
                 Given(call.op.wire->builtin_options_as_ReshapeOptions()).new_shape()) {
    told.assign(list->begin(), list->end());
    if (told == std::vector<int64_t>{0}) told.clear();  // how old converters say rank 0
  }
  const int64_t all = Elements(In(call, 0));
  int64_t others = 1, open = 0;
  for (const int64_t extent : told) {
    if (extent != -1) others = Extent(others * Extent(extent));
    open += extent == -1 ? 1 : 0;
  }
  Require(open <= 1 && others >= 1, "a shape with a 0 or more than one -1");
  Shape shape;
  for (const int64_t e : told) shape.push_back(Extent(e == -1 ? all / others : e));
  Require(Elements(shape) == all,
          "a shape of another number of elements than the input");
  return {shape};
}

// Removes the axes that the options list; without a list, all of extent 1.
Shapes Squeeze(const Call& call) {
  const auto* list =
      Given(call.op.wire->builtin_options_as_SqueezeOptions()).squeeze_dims();
  const Shape& in = In(call, 0);
  const bool all = list == nullptr || list->size() == 0;
  std::vector<bool> lost(in.size());
  for (size_t a = 0; a < in.size(); ++a) lost[a] = all && in[a] == 1;
  for (uint32_t i = 0; !all && i < list->size(); ++i) {
    const size_t axis = AxisIn(in.size(), list->Get(i));
    Require(in[axis] == 1, "an axis to remove that has not extent 1");
    lost[axis] = true;
  }
  Shape shape;
  for (size_t a = 0; a < in.size(); ++a) {
    if (!lost[a]) shape.push_back(in[a]);
  }
  return {shape};
}

Shapes ExpandDims(const Call& call) {
  Shape shape = In(call, 0);
  const size_t axis = AxisIn(shape.size() + 1, OneValue(call, 1));
  shape.insert(shape.begin() + Place(axis), 1);
  return {shape};
}

Shapes Transpose(const Call& call) {
  const Shape& in = In(call, 0);
  const std::vector<int64_t> order = Values(call, 1);
  RequireRank(in, order.size());
  Shape shape;
  for (const int64_t axis : order) shape.push_back(in[AxisIn(in.size(), axis)]);
  return {shape};
}

Shapes Gather(const Call& call) {
  const auto& o = Given(call.op.wire->builtin_options_as_GatherOptions());
  const Shape &table = In(call, 0), &index = In(call, 1);
  const size_t axis = AxisIn(table.size(), o.axis());
  const int64_t rank = static_cast<int64_t>(index.size());
  const int64_t batch = o.batch_dims() + (o.batch_dims() < 0 ? rank : 0);
  Require(batch >= 0 && batch <= rank && batch <= static_cast<int64_t>(axis),
          "batches that the indices do not have");
  Shape shape(table.begin(), table.begin() + Place(axis));
  shape.insert(shape.end(), index.begin() + batch, index.end());
  shape.insert(shape.end(), table.begin() + Place(axis) + 1, table.end());
  return {shape};
}

Shapes Lookup(const Call& call) {
  const Shape& index = In(call, 0);
  Shape shape = In(call, 1);
  RequireRank(index, 1);
  Require(!shape.empty(), "a table without axes");
  shape[0] = index[0];
  return {shape};
}

Shapes Resize(const Call& call) {
  const Shape& in = In(call, 0);
  const Shape size = Told(call, 1);
  RequireRank(in, 4);
  RequireRank(size, 2);
  return {{in[0], size[0], size[1], in[3]}};
}

Shapes Svdf(const Call& call) {
  const int32_t rank = Given(call.op.wire->builtin_options_as_SVDFOptions()).rank();
  const Shape &in = In(call, 0), &filters = In(call, 1);
  RequireRank(in, 2);
  Require(!filters.empty() && rank >= 1 && filters[0] % rank == 0,
          "filters that do not fit the rank");
  return {{in[0], filters[0] / rank}};
}

Shapes Lstm(const Call& call) {
  constexpr size_t kRecurrentToOutput = 8;
  Shape shape = In(call, 0);
  const Shape& weight = In(call, kRecurrentToOutput);
  Require(!shape.empty() && weight.size() == 2, "inputs that are no sequence");
  shape.back() = weight[1];
  return {shape};
}

struct Row {
  Op op;
  Shapes (*shapes)(const Call&);
};
constexpr Row kRows[] = {
    {Op::QUANTIZE, Same},
    {Op::DEQUANTIZE, Same},
    {Op::LOGISTIC, Same},
    {Op::TANH, Same},
    {Op::RELU, Same},
    {Op::RELU6, Same},
    {Op::RELU_N1_TO_1, Same},
    {Op::LEAKY_RELU, Same},
    {Op::HARD_SWISH, Same},
    {Op::SOFTMAX, Same},
    {Op::REVERSE_V2, Same},
    {Op::ADD, Binary},
    {Op::SUB, Binary},
    {Op::MUL, Binary},
    {Op::MINIMUM, Binary},
    {Op::MAXIMUM, Binary},
    {Op::PRELU, Binary},
    {Op::CONV_2D, Convolution},
    {Op::DEPTHWISE_CONV_2D, Depthwise},
    {Op::TRANSPOSE_CONV, TransposedConvolution},
    {Op::AVERAGE_POOL_2D, Pool},
    {Op::MAX_POOL_2D, Pool},
    {Op::FULLY_CONNECTED, FullyConnected},
    {Op::BATCH_MATMUL, Matmul},
    {Op::SVDF, Svdf},
    {Op::UNIDIRECTIONAL_SEQUENCE_LSTM, Lstm},
    {Op::MEAN, Reduce},
    {Op::SUM, Reduce},
    {Op::REDUCE_MAX, Reduce},
    {Op::ARG_MAX, Argmax},
    {Op::ARG_MIN, Argmax},
    {Op::CONCATENATION, Concat},
    {Op::PACK, Pack},
    {Op::UNPACK, Unpack},
    {Op::SPLIT, Split},
    {Op::SPLIT_V, SplitV},
    {Op::SLICE, Slice},
    {Op::STRIDED_SLICE, StridedSlice},
    {Op::PAD, Pad},
    {Op::PADV2, Pad},
    {Op::MIRROR_PAD, Pad},
    {Op::TILE, Tile},
    {Op::BROADCAST_TO, BroadcastTo},
    {Op::GATHER, Gather},
    {Op::EMBEDDING_LOOKUP, Lookup},
    {Op::RESHAPE, Reshape},
    {Op::SQUEEZE, Squeeze},
    {Op::EXPAND_DIMS, ExpandDims},
    {Op::TRANSPOSE, Transpose},
    {Op::DEPTH_TO_SPACE, DepthToSpace},
    {Op::SPACE_TO_DEPTH, SpaceToDepth},
    {Op::SPACE_TO_BATCH_ND, SpaceToBatch},
    {Op::BATCH_TO_SPACE_ND, BatchToSpace},
    {Op::RESIZE_BILINEAR, Resize},
    {Op::RESIZE_NEAREST_NEIGHBOR, Resize},
};

const Row* RowOf(int32_t code) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [code](const Row& r) { return static_cast<int32_t>(r.op) == code; });
  return row != std::end(kRows) ? row : nullptr;
}

}  // namespace

int ShapeOperand(int32_t code) {
  return code == static_cast<int32_t>(Op::TRANSPOSE_CONV) ? 0 : -1;
}

bool HasOutputShapes(int32_t code) { return RowOf(code) != nullptr; }

std::vector<std::vector<int32_t>> OutputShapes(const import::TfliteModel& model,
                                               const import::TfliteOperator& op) {
  const Row* row = RowOf(op.code);
  Require(row != nullptr, "no function computes the shape of its output");
  Shapes shapes = row->shapes({model, op});
  Require(shapes.size() == op.outputs.size(), "another number of outputs");
  return shapes;
}

}  // namespace sluice::delegate
