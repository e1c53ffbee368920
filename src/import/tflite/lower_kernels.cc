// SPDX-License-Identifier: Apache-2.0
// Operators, and types of operands, that no compute unit has: OPAQUE layers named
// "tflite.OPERATOR", whose options describe every operand as the model has it
// (firmware-sim/host_tflite.h).
#include <algorithm>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "import/tflite/kernel_shapes.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
using Numbers = std::vector<int32_t>;

int32_t BitsOf(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

template <typename Options>
const Options& Given(const Options* options) {
  Require(options != nullptr, "missing options");
  return *options;
}

Numbers None(const Lowering&, const TfliteOperator&) { return {}; }
Numbers One(const Lowering&, const TfliteOperator&) { return {1}; }
Numbers Zero(const Lowering&, const TfliteOperator&) { return {0}; }

template <typename Activation>
int32_t Plain(Activation activation) {
  const int code = static_cast<int>(activation);
  Require(code >= 0 && code <= static_cast<int>(tflite::Activation::RELU6),
          "a fused tanh or sign activation");
  return code;
}

Numbers AddNumbers(const Lowering&, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_AddOptions();
  return {o == nullptr ? 0 : Plain(o->activation())};
}
Numbers SubNumbers(const Lowering&, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_SubOptions();
  return {o == nullptr ? 0 : Plain(o->activation())};
}
Numbers MulNumbers(const Lowering&, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_MulOptions();
  return {o == nullptr ? 0 : Plain(o->activation())};
}
Numbers DivNumbers(const Lowering&, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_DivOptions();
  return {o == nullptr ? 0 : Plain(o->activation())};
}

Numbers Bounds(const Lowering&, const TfliteOperator& op) {
  float low = 0, high = std::numeric_limits<float>::infinity();
  switch (static_cast<Op>(op.code)) {
    case Op::RELU6:
      high = 6;
      break;
    case Op::RELU_N1_TO_1:
      low = -1;
      high = 1;
      break;
    case Op::RELU_0_TO_1:
      high = 1;
      break;
    default:
      break;
  }
  return {BitsOf(low), BitsOf(high)};
}

Numbers LeakyNumbers(const Lowering&, const TfliteOperator& op) {
  return {BitsOf(Given(op.wire->builtin_options_as_LeakyReluOptions()).alpha())};
}
Numbers GeluNumbers(const Lowering&, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_GeluOptions();
  return {o != nullptr && o->approximate() ? 1 : 0};
}
Numbers SoftmaxNumbers(const Lowering&, const TfliteOperator& op) {
  return {BitsOf(Given(op.wire->builtin_options_as_SoftmaxOptions()).beta())};
}
Numbers ResponseNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o =
      Given(op.wire->builtin_options_as_LocalResponseNormalizationOptions());
  return {o.radius(), BitsOf(o.bias()), BitsOf(o.alpha()), BitsOf(o.beta())};
}
Numbers CumsumNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_CumsumOptions());
  return {o.exclusive() ? 1 : 0, o.reverse() ? 1 : 0};
}
Numbers GatherNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_GatherOptions());
  return {o.axis(), o.batch_dims()};
}
Numbers OneHotNumbers(const Lowering&, const TfliteOperator& op) {
  return {Given(op.wire->builtin_options_as_OneHotOptions()).axis()};
}
Numbers SequenceNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_ReverseSequenceOptions());
  return {o.seq_dim(), o.batch_dim()};
}
Numbers MirrorNumbers(const Lowering&, const TfliteOperator& op) {
  const int mode = Given(op.wire->builtin_options_as_MirrorPadOptions()).mode();
  Require(mode == 0 || mode == 1, "another mode than the two");
  return {mode};
}
Numbers BlockNumbers(const Lowering&, const TfliteOperator& op) {
  if (const auto* deep = op.wire->builtin_options_as_SpaceToDepthOptions()) {
    return {deep->block_size()};
  }
  return {Given(op.wire->builtin_options_as_DepthToSpaceOptions()).block_size()};
}
Numbers BilinearNumbers(const Lowering&, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_ResizeBilinearOptions();
  if (o == nullptr) return {0, 0};
  return {o->align_corners() ? 1 : 0, o->half_pixel_centers() ? 1 : 0};
}
Numbers NearestNumbers(const Lowering&, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_ResizeNearestNeighborOptions();
  if (o == nullptr) return {0, 0};
  return {o->align_corners() ? 1 : 0, o->half_pixel_centers() ? 1 : 0};
}
Numbers MatmulNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_BatchMatMulOptions());
  return {o.adj_x() ? 1 : 0, o.adj_y() ? 1 : 0};
}

// Padding (0: SAME), strides, window, dilations, activation.
Numbers ConvNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_Conv2DOptions());
  return {static_cast<int>(o.padding()),
          o.stride_h(),
          o.stride_w(),
          0,
          0,
          o.dilation_h(),
          o.dilation_w(),
          Plain(o.activation())};
}
Numbers DepthwiseNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_DepthwiseConv2DOptions());
  return {static_cast<int>(o.padding()),
          o.stride_h(),
          o.stride_w(),
          0,
          0,
          o.dilation_h(),
          o.dilation_w(),
          Plain(o.activation())};
}
Numbers TransposedNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_TransposeConvOptions());
  return {static_cast<int>(o.padding()), o.stride_h(), o.stride_w(), 0, 0, 1, 1,
          Plain(o.activation())};
}
// Padding (0: SAME), three strides, three dilations, activation.
Numbers Conv3dNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_Conv3DOptions());
  return {static_cast<int>(o.padding()),
          o.stride_d(),
          o.stride_h(),
          o.stride_w(),
          o.dilation_d(),
          o.dilation_h(),
          o.dilation_w(),
          Plain(o.activation())};
}
Numbers PoolNumbers(const Lowering&, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_Pool2DOptions());
  Require(o.window_h() >= 1 && o.window_w() >= 1, "a window below 1");
  return {static_cast<int>(o.padding()),
          o.stride_h(),
          o.stride_w(),
          o.window_h(),
          o.window_w(),
          1,
          1,
          Plain(o.activation())};
}
Numbers FullyNumbers(const Lowering& to, const TfliteOperator& op) {
  const auto& o = Given(op.wire->builtin_options_as_FullyConnectedOptions());
  Require(o.weights_format() == 0, "shuffled weights");
  Require(InputOf(to, op, 1).scales.size() < 2, "computed weights with several scales");
  return {0, 0, 0, 0, 0, 0, 0, Plain(o.activation())};
}

// Types that an operator's function computes.
enum Types : unsigned {
  kFloat = 1,
  kBytes = 2,  // int8 and uint8
  kShort = 4,  // int16
  kWhole = 8,  // int32, int64
  kBool = 16,
  kQuantised = kBytes | kShort,
  kAny = kFloat | kBytes | kShort | kWhole | kBool
};

struct KernelRow {
  Op op;
  size_t of;  // the input whose type counts
  unsigned types;
  Numbers (*numbers)(const Lowering&, const TfliteOperator&);
  KernelCheck check;
};

constexpr KernelRow kKernels[] = {
    {Op::QUANTIZE, 0, kFloat | kWhole, None, CheckOther},
    {Op::DEQUANTIZE, 0, kQuantised, None, CheckOther},
    {Op::CAST, 0, kAny, None, CheckOther},
    {Op::ABS, 0, kFloat | kQuantised | kWhole, None, CheckSame},
    {Op::NEG, 0, kFloat | kQuantised | kWhole, None, CheckSame},
    {Op::SIGN, 0, kFloat | kWhole, None, CheckSame},
    {Op::ZEROS_LIKE, 0, kFloat | kWhole, None, CheckSame},
    {Op::LOGICAL_NOT, 0, kBool, None, CheckSame},
    {Op::ADD, 0, kFloat | kWhole, AddNumbers, CheckBroadcast},
    {Op::SUB, 0, kFloat | kWhole, SubNumbers, CheckBroadcast},
    {Op::MUL, 0, kFloat | kWhole, MulNumbers, CheckBroadcast},
    {Op::DIV, 0, kAny, DivNumbers, CheckBroadcast},
    {Op::MAXIMUM, 0, kFloat | kWhole, None, CheckBroadcast},
    {Op::MINIMUM, 0, kFloat | kWhole, None, CheckBroadcast},
    {Op::FLOOR_DIV, 0, kAny, None, CheckBroadcast},
    {Op::FLOOR_MOD, 0, kAny, None, CheckBroadcast},
    {Op::POW, 0, kFloat | kWhole, None, CheckBroadcast},
    {Op::ATAN2, 0, kFloat, None, CheckBroadcast},
    {Op::BITWISE_XOR, 0, kQuantised | kWhole | kBool, None, CheckBroadcast},
    {Op::RIGHT_SHIFT, 0, kQuantised | kWhole, None, CheckBroadcast},
    {Op::LOGICAL_AND, 0, kBool, None, CheckBroadcast},
    {Op::LOGICAL_OR, 0, kBool, None, CheckBroadcast},
    {Op::SQUARED_DIFFERENCE, 0, kFloat | kQuantised | kWhole, None, CheckBroadcast},
    {Op::EQUAL, 0, kAny, None, CheckCompare},
    {Op::NOT_EQUAL, 0, kAny, None, CheckCompare},
    {Op::GREATER, 0, kAny, None, CheckCompare},
    {Op::GREATER_EQUAL, 0, kAny, None, CheckCompare},
    {Op::LESS, 0, kAny, None, CheckCompare},
    {Op::LESS_EQUAL, 0, kAny, None, CheckCompare},
    {Op::SELECT, 1, kAny, Zero, CheckSelect},
    {Op::SELECT_V2, 1, kAny, One, CheckSelect},
    {Op::ADD_N, 0, kFloat | kWhole, None, CheckSame},
    {Op::LOGISTIC, 0, kFloat | kShort, None, CheckSame},
    {Op::TANH, 0, kFloat | kShort, None, CheckSame},
    {Op::EXP, 0, kFloat | kQuantised, None, CheckSame},
    {Op::LOG, 0, kFloat | kQuantised, None, CheckSame},
    {Op::SQRT, 0, kFloat | kQuantised, None, CheckSame},
    {Op::RSQRT, 0, kFloat | kQuantised, None, CheckSame},
    {Op::SIN, 0, kFloat, None, CheckSame},
    {Op::COS, 0, kFloat, None, CheckSame},
    {Op::SQUARE, 0, kFloat, None, CheckSame},
    {Op::FLOOR, 0, kFloat, None, CheckSame},
    {Op::CEIL, 0, kFloat, None, CheckSame},
    {Op::ROUND, 0, kFloat, None, CheckSame},
    {Op::ELU, 0, kFloat | kBytes, None, CheckSame},
    {Op::GELU, 0, kFloat | kQuantised, GeluNumbers, CheckSame},
    {Op::HARD_SWISH, 0, kFloat, None, CheckSame},
    {Op::RELU, 0, kFloat | kQuantised, Bounds, CheckSame},
    {Op::RELU6, 0, kFloat | kQuantised, Bounds, CheckSame},
    {Op::RELU_N1_TO_1, 0, kFloat | kQuantised, Bounds, CheckSame},
    {Op::RELU_0_TO_1, 0, kFloat | kQuantised, Bounds, CheckSame},
    {Op::LEAKY_RELU, 0, kFloat, LeakyNumbers, CheckSame},
    {Op::PRELU, 0, kFloat, None, CheckBroadcast},
    {Op::SOFTMAX, 0, kFloat | kShort, SoftmaxNumbers, CheckRows},
    {Op::LOG_SOFTMAX, 0, kFloat | kBytes, None, CheckRows},
    {Op::L2_NORMALIZATION, 0, kFloat | kBytes, None, CheckRows},
    {Op::LOCAL_RESPONSE_NORMALIZATION, 0, kFloat, ResponseNumbers, CheckRows},
    {Op::MEAN, 0, kFloat | kShort | kWhole, None, CheckReduce},
    {Op::SUM, 0, kFloat | kQuantised | kWhole, None, CheckReduce},
    {Op::REDUCE_MAX, 0, kAny, None, CheckReduce},
    {Op::REDUCE_MIN, 0, kAny, None, CheckReduce},
    {Op::REDUCE_PROD, 0, kAny, None, CheckReduce},
    {Op::REDUCE_ANY, 0, kBool, None, CheckReduce},
    {Op::REDUCE_ALL, 0, kBool, None, CheckReduce},
    {Op::CUMSUM, 0, kFloat | kWhole, CumsumNumbers, CheckRows},
    {Op::ARG_MAX, 0, kAny, Zero, CheckArg},
    {Op::ARG_MIN, 0, kAny, One, CheckArg},
    {Op::TOPK_V2, 0, kAny, None, CheckTopK},
    {Op::GATHER, 0, kAny, GatherNumbers, CheckGather},
    {Op::GATHER_ND, 0, kAny, None, CheckIndexed},
    {Op::EMBEDDING_LOOKUP, 1, kAny, None, CheckGather},
    {Op::SCATTER_ND, 1, kAny, None, CheckIndexed},
    {Op::ONE_HOT, 2, kAny, OneHotNumbers, CheckOneHot},
    {Op::PAD, 0, kAny, None, CheckPad},
    {Op::PADV2, 0, kAny, None, CheckPad},
    {Op::MIRROR_PAD, 0, kAny, MirrorNumbers, CheckMirror},
    {Op::REVERSE_SEQUENCE, 0, kAny, SequenceNumbers, CheckSequence},
    {Op::SPACE_TO_DEPTH, 0, kAny, BlockNumbers, CheckBlocks},
    {Op::DEPTH_TO_SPACE, 0, kAny, BlockNumbers, CheckBlocks},
    {Op::SPACE_TO_BATCH_ND, 0, kAny, None, CheckBatches},
    {Op::BATCH_TO_SPACE_ND, 0, kAny, None, CheckBatches},
    {Op::MATRIX_DIAG, 0, kAny, None, CheckDiagonal},
    {Op::MATRIX_SET_DIAG, 0, kAny, None, CheckDiagonal},
    {Op::DYNAMIC_UPDATE_SLICE, 0, kAny, None, CheckUpdate},
    {Op::SPARSE_TO_DENSE, 2, kAny, None, CheckIndexed},
    {Op::SEGMENT_SUM, 0, kFloat | kWhole, None, CheckSegments},
    {Op::UNSORTED_SEGMENT_SUM, 0, kFloat | kWhole, None, CheckSegments},
    {Op::UNSORTED_SEGMENT_PROD, 0, kFloat | kWhole, None, CheckSegments},
    {Op::UNSORTED_SEGMENT_MAX, 0, kFloat | kWhole, None, CheckSegments},
    {Op::UNSORTED_SEGMENT_MIN, 0, kFloat | kWhole, None, CheckSegments},
    {Op::CONV_2D, 0, kFloat, ConvNumbers, CheckConv},
    {Op::DEPTHWISE_CONV_2D, 0, kFloat, DepthwiseNumbers, CheckConv},
    {Op::TRANSPOSE_CONV, 2, kFloat, TransposedNumbers, CheckConv},
    {Op::CONV_3D, 0, kFloat, Conv3dNumbers, CheckConv3d},
    {Op::NON_MAX_SUPPRESSION_V4, 0, kFloat, None, CheckBoxes},
    {Op::NON_MAX_SUPPRESSION_V5, 0, kFloat, None, CheckBoxes},
    {Op::FULLY_CONNECTED, 0, kFloat | kQuantised, FullyNumbers, CheckFully},
    {Op::BATCH_MATMUL, 0, kFloat | kQuantised, MatmulNumbers, CheckMatmul},
    {Op::AVERAGE_POOL_2D, 0, kFloat | kShort, PoolNumbers, CheckPool},
    {Op::MAX_POOL_2D, 0, kFloat | kShort, PoolNumbers, CheckPool},
    {Op::L2_POOL_2D, 0, kFloat, PoolNumbers, CheckPool},
    {Op::RESIZE_BILINEAR, 0, kFloat | kQuantised, BilinearNumbers, CheckResize},
    {Op::RESIZE_NEAREST_NEIGHBOR, 0, kFloat | kQuantised, NearestNumbers, CheckResize},
};

const KernelRow* RowOf(const TfliteOperator& op) {
  for (const KernelRow& row : kKernels) {
    if (row.op == static_cast<Op>(op.code)) return &row;
  }
  return nullptr;
}

unsigned ClassOf(const TfliteTensor& tensor) {
  switch (static_cast<tflite::TensorType>(tensor.type)) {
    case tflite::TensorType::FLOAT32:
      return kFloat;
    case tflite::TensorType::INT8:
    case tflite::TensorType::UINT8:
      return kBytes;
    case tflite::TensorType::INT16:
      return kShort;
    case tflite::TensorType::INT32:
    case tflite::TensorType::INT64:
      return kWhole;
    case tflite::TensorType::BOOL:
      return kBool;
    default:
      return 0;
  }
}

void Describe(const TfliteTensor& tensor, Numbers* options) {
  Require(ClassOf(tensor) != 0, "operands of a type that the host does not compute");
  Require(tensor.shape.size() <= 8, "more than eight axes");
  const bool quantised = tensor.scales.size() == 1;
  options->insert(options->end(),
                  {tensor.type, quantised ? BitsOf(tensor.scales[0]) : 0,
                   quantised ? static_cast<int32_t>(tensor.zero_points[0]) : 0,
                   static_cast<int32_t>(tensor.shape.size())});
  options->insert(options->end(), tensor.shape.begin(), tensor.shape.end());
}

// The operator's multiplications, where they are what takes time.
uint64_t WorkOf(const Lowering& to, const TfliteOperator& op) {
  uint64_t outputs = 1, depth = 0;
  for (const int32_t extent : DimsOf(OutputOf(to, op))) {
    outputs *= static_cast<uint64_t>(extent);
  }
  switch (static_cast<Op>(op.code)) {
    case Op::CONV_2D:
    case Op::FULLY_CONNECTED:
    case Op::TRANSPOSE_CONV: {
      depth = 1;
      const Dims weight = DimsOf(InputOf(to, op, 1));
      for (size_t a = 1; a < weight.size(); ++a) {
        depth *= static_cast<uint64_t>(weight[a]);
      }
      break;
    }
    case Op::CONV_3D: {
      depth = 1;
      const Dims weight = DimsOf(InputOf(to, op, 1));
      for (size_t a = 0; a + 1 < weight.size(); ++a) {
        depth *= static_cast<uint64_t>(weight[a]);
      }
      break;
    }
    case Op::BATCH_MATMUL:
      depth = static_cast<uint64_t>(DimsOf(InputOf(to, op, 0)).back());
      break;
    default:
      break;
  }
  return outputs * depth;
}

}  // namespace

bool HasKernel(const TfliteOperator& op) { return RowOf(op) != nullptr; }

void LowerKernel(Lowering* to, const TfliteOperator& op) {
  const KernelRow* row = RowOf(op);
  Require(row != nullptr, "no function of the host");
  Require((ClassOf(InputOf(*to, op, row->of)) & row->types) != 0,
          "operands of a type that the host does not compute");
  const Numbers numbers = row->numbers(*to, op);
  row->check(*to, op, numbers);
  Numbers options = {static_cast<int32_t>(op.inputs.size()),
                     static_cast<int32_t>(op.outputs.size()), 0};
  std::vector<uint32_t> inputs, outputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (!HasInput(op, i)) {
      options.insert(options.end(), {-1, 0, 0, 0});
      continue;
    }
    const bool lasting = to->state[static_cast<size_t>(op.inputs[i])] != nullptr;
    Require(lasting || !InputOf(*to, op, i).is_variable, "variable tensors");
    Describe(InputOf(*to, op, i), &options);
    inputs.push_back(InputTensor(to, op, i));
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    Describe(OutputOf(*to, op, i), &options);
    outputs.push_back(OutputTensor(to, op, i));
  }
  options[2] = static_cast<int32_t>(numbers.size());
  options.insert(options.end(), numbers.begin(), numbers.end());
  inputs.push_back(to->graph.AddConstant(
      OutputOf(*to, op).name + "/options", SLUICE_DTYPE_INT32,
      {static_cast<int32_t>(options.size())}, options.data(), options.size() * 4));
  AddHost(to, op, ("tflite." + op.name).c_str(), inputs, outputs, WorkOf(*to, op));
}

}  // namespace sluice::import
