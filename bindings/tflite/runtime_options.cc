// SPDX-License-Identifier: Apache-2.0
#include "runtime_options.h"

#include "tflite_generated.h"

namespace sluice::delegate {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Table = flatbuffers::Offset<void>;
using Op = tflite::BuiltinOperator;
using Kind = tflite::BuiltinOptions;

// The runtime's enums take an int each. Paddings count from 1 there, and activations are
// those of the files.
struct Convolution {
  int padding, stride_w, stride_h, activation, dilation_w, dilation_h;
};
struct Depthwise {
  int padding, stride_w, stride_h, depth_multiplier, activation, dilation_w, dilation_h;
};
struct Transposed {
  int padding, stride_w, stride_h, activation;
};
struct Pool {
  int padding, stride_w, stride_h, window_w, window_h, activation;
};
struct FullyConnected {
  int activation, weights_format;
  bool keep_num_dims;
};
struct Sum {
  int activation;
  bool pot_scale_int16;
};
struct Concatenation {
  int axis, activation;
};
struct StridedSlice {
  int begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
  bool offset;
};
struct TwoNumbers {
  int first, second;
};
constexpr size_t kMostAxes = 8;  // of RESHAPE and SQUEEZE
struct Axes {
  int values[kMostAxes], count;
};
struct TwoFlags {
  bool first, second;
};

tflite::Padding PaddingOf(int padding) {
  return padding == 1 ? tflite::Padding::SAME : tflite::Padding::VALID;
}

// An activation that files do not have becomes a value that no lowering accepts.
tflite::Activation ActivationOf(int activation) {
  return activation >= 0 && activation <= 5
             ? static_cast<tflite::Activation>(activation)
             : tflite::Activation::SIGN_BIT;
}

template <typename T>
const T& As(const void* data) {
  return *static_cast<const T*>(data);
}

using Write = Table (*)(Builder*, const void*);

Table WriteConvolution(Builder* b, const void* data) {
  const auto& o = As<Convolution>(data);
  return tflite::CreateConv2DOptions(*b, PaddingOf(o.padding), o.stride_w, o.stride_h,
                                     ActivationOf(o.activation), o.dilation_w,
                                     o.dilation_h)
      .Union();
}

Table WriteDepthwise(Builder* b, const void* data) {
  const auto& o = As<Depthwise>(data);
  return tflite::CreateDepthwiseConv2DOptions(
             *b, PaddingOf(o.padding), o.stride_w, o.stride_h, o.depth_multiplier,
             ActivationOf(o.activation), o.dilation_w, o.dilation_h)
      .Union();
}

Table WriteTransposed(Builder* b, const void* data) {
  const auto& o = As<Transposed>(data);
  return tflite::CreateTransposeConvOptions(*b, PaddingOf(o.padding), o.stride_w,
                                            o.stride_h, ActivationOf(o.activation))
      .Union();
}

Table WritePool(Builder* b, const void* data) {
  const auto& o = As<Pool>(data);
  return tflite::CreatePool2DOptions(*b, PaddingOf(o.padding), o.stride_w, o.stride_h,
                                     o.window_w, o.window_h, ActivationOf(o.activation))
      .Union();
}

Table WriteFullyConnected(Builder* b, const void* data) {
  const auto& o = As<FullyConnected>(data);
  return tflite::CreateFullyConnectedOptions(*b, ActivationOf(o.activation),
                                             static_cast<int8_t>(o.weights_format),
                                             o.keep_num_dims)
      .Union();
}

Table WriteMatmul(Builder* b, const void* data) {
  const auto& o = As<TwoFlags>(data);
  return tflite::CreateBatchMatMulOptions(*b, o.first, o.second).Union();
}

Table WriteAdd(Builder* b, const void* data) {
  const auto& o = As<Sum>(data);
  return tflite::CreateAddOptions(*b, ActivationOf(o.activation), o.pot_scale_int16)
      .Union();
}

Table WriteSub(Builder* b, const void* data) {
  const auto& o = As<Sum>(data);
  return tflite::CreateSubOptions(*b, ActivationOf(o.activation), o.pot_scale_int16)
      .Union();
}

Table WriteMul(Builder* b, const void* data) {
  return tflite::CreateMulOptions(*b, ActivationOf(As<int>(data))).Union();
}

Table WriteLeakyRelu(Builder* b, const void* data) {
  return tflite::CreateLeakyReluOptions(*b, As<float>(data)).Union();
}

Table WriteSoftmax(Builder* b, const void* data) {
  return tflite::CreateSoftmaxOptions(*b, As<float>(data)).Union();
}

Table WriteReducer(Builder* b, const void* data) {
  return tflite::CreateReducerOptions(*b, As<bool>(data)).Union();
}

Table WriteConcatenation(Builder* b, const void* data) {
  const auto& o = As<Concatenation>(data);
  return tflite::CreateConcatenationOptions(*b, o.axis, ActivationOf(o.activation))
      .Union();
}

Table WritePack(Builder* b, const void* data) {
  const auto& o = As<TwoNumbers>(data);
  return tflite::CreatePackOptions(*b, o.first, o.second).Union();
}

Table WriteUnpack(Builder* b, const void* data) {
  const auto& o = As<TwoNumbers>(data);
  return tflite::CreateUnpackOptions(*b, o.first, o.second).Union();
}

Table WriteSplit(Builder* b, const void* data) {
  return tflite::CreateSplitOptions(*b, As<int>(data)).Union();
}

Table WriteSplitV(Builder* b, const void* data) {
  return tflite::CreateSplitVOptions(*b, As<int>(data)).Union();
}

Table WriteStridedSlice(Builder* b, const void* data) {
  const auto& o = As<StridedSlice>(data);
  return tflite::CreateStridedSliceOptions(*b, o.begin_mask, o.end_mask,
                                           o.ellipsis_mask, o.new_axis_mask,
                                           o.shrink_axis_mask, o.offset)
      .Union();
}

Table WriteGather(Builder* b, const void* data) {
  const auto& o = As<TwoNumbers>(data);
  return tflite::CreateGatherOptions(*b, o.first, o.second).Union();
}

// The first of the axes; no more than there can be.
flatbuffers::Offset<flatbuffers::Vector<int32_t>> VectorOf(Builder* b, const Axes& a) {
  const bool fits = a.count >= 0 && static_cast<size_t>(a.count) <= kMostAxes;
  return b->CreateVector(a.values, fits ? static_cast<size_t>(a.count) : 0);
}

Table WriteReshape(Builder* b, const void* data) {
  return tflite::CreateReshapeOptions(*b, VectorOf(b, As<Axes>(data))).Union();
}

Table WriteSqueeze(Builder* b, const void* data) {
  return tflite::CreateSqueezeOptions(*b, VectorOf(b, As<Axes>(data))).Union();
}

Table WriteSpaceToDepth(Builder* b, const void* data) {
  return tflite::CreateSpaceToDepthOptions(*b, As<int>(data)).Union();
}

Table WriteDepthToSpace(Builder* b, const void* data) {
  return tflite::CreateDepthToSpaceOptions(*b, As<int>(data)).Union();
}

// The runtime counts the modes from 1; 0 is none.
Table WriteMirrorPad(Builder* b, const void* data) {
  const int mode = As<int>(data);
  return tflite::CreateMirrorPadOptions(*b, static_cast<int8_t>(mode - 1)).Union();
}

Table WriteBilinear(Builder* b, const void* data) {
  const auto& o = As<TwoFlags>(data);
  return tflite::CreateResizeBilinearOptions(*b, o.first, o.second).Union();
}

Table WriteNearest(Builder* b, const void* data) {
  const auto& o = As<TwoFlags>(data);
  return tflite::CreateResizeNearestNeighborOptions(*b, o.first, o.second).Union();
}

struct Row {
  Op op;
  Kind kind;
  Write write;
};
constexpr Row kRows[] = {
    {Op::CONV_2D, Kind::Conv2DOptions, WriteConvolution},
    {Op::DEPTHWISE_CONV_2D, Kind::DepthwiseConv2DOptions, WriteDepthwise},
    {Op::TRANSPOSE_CONV, Kind::TransposeConvOptions, WriteTransposed},
    {Op::AVERAGE_POOL_2D, Kind::Pool2DOptions, WritePool},
    {Op::MAX_POOL_2D, Kind::Pool2DOptions, WritePool},
    {Op::FULLY_CONNECTED, Kind::FullyConnectedOptions, WriteFullyConnected},
    {Op::BATCH_MATMUL, Kind::BatchMatMulOptions, WriteMatmul},
    {Op::ADD, Kind::AddOptions, WriteAdd},
    {Op::SUB, Kind::SubOptions, WriteSub},
    {Op::MUL, Kind::MulOptions, WriteMul},
    {Op::LEAKY_RELU, Kind::LeakyReluOptions, WriteLeakyRelu},
    {Op::SOFTMAX, Kind::SoftmaxOptions, WriteSoftmax},
    {Op::MEAN, Kind::ReducerOptions, WriteReducer},
    {Op::SUM, Kind::ReducerOptions, WriteReducer},
    {Op::REDUCE_PROD, Kind::ReducerOptions, WriteReducer},
    {Op::REDUCE_MAX, Kind::ReducerOptions, WriteReducer},
    {Op::CONCATENATION, Kind::ConcatenationOptions, WriteConcatenation},
    {Op::PACK, Kind::PackOptions, WritePack},
    {Op::UNPACK, Kind::UnpackOptions, WriteUnpack},
    {Op::SPLIT, Kind::SplitOptions, WriteSplit},
    {Op::SPLIT_V, Kind::SplitVOptions, WriteSplitV},
    {Op::STRIDED_SLICE, Kind::StridedSliceOptions, WriteStridedSlice},
    {Op::GATHER, Kind::GatherOptions, WriteGather},
    {Op::RESHAPE, Kind::ReshapeOptions, WriteReshape},
    {Op::SQUEEZE, Kind::SqueezeOptions, WriteSqueeze},
    {Op::SPACE_TO_DEPTH, Kind::SpaceToDepthOptions, WriteSpaceToDepth},
    {Op::DEPTH_TO_SPACE, Kind::DepthToSpaceOptions, WriteDepthToSpace},
    {Op::MIRROR_PAD, Kind::MirrorPadOptions, WriteMirrorPad},
    {Op::RESIZE_BILINEAR, Kind::ResizeBilinearOptions, WriteBilinear},
    {Op::RESIZE_NEAREST_NEIGHBOR, Kind::ResizeNearestNeighborOptions, WriteNearest},
};

}  // namespace

bool WriteOptions(int32_t code, const void* data, Builder* builder) {
  Kind kind = Kind::NONE;
  Table options;
  for (const Row& row : kRows) {
    if (static_cast<int32_t>(row.op) != code) continue;
    if (data == nullptr) return false;
    kind = row.kind;
    options = row.write(builder, data);
  }
  builder->Finish(tflite::CreateOperator(*builder, 0, 0, 0, kind, options));
  return true;
}

}  // namespace sluice::delegate
