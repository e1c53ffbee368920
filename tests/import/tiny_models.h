// SPDX-License-Identifier: Apache-2.0
// Models of one operator each, for operators that no model of the shared data has in
// every form: transposed convolutions, pads of any axis, HARD_SWISH and PRELU, blocks
// of images, maxima along an axis. The names are keys of the goldens.
#ifndef SLUICE_TESTS_IMPORT_TINY_MODELS_H_
#define SLUICE_TESTS_IMPORT_TINY_MODELS_H_

#include <cstring>
#include <string>
#include <vector>

#include "tests/import/tiny_model.h"

namespace sluice::import {

struct NamedModel {
  std::string name;
  Bytes bytes;
};

inline std::vector<uint8_t> BytesOfInts(const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct TransposedSpec {
  tflite::TensorType type;
  tflite::Padding padding;
  int32_t in[3], filter[2], stride[2], out[3];  // H W C, R S, H W, H W C
  bool bias;
};

inline Bytes TransposedModel(const TransposedSpec& spec) {
  TinyModel model;
  const auto int32 = tflite::TensorType::INT32;
  const bool is_signed = spec.type == tflite::TensorType::INT8;
  const std::vector<int32_t> out = {1, spec.out[0], spec.out[1], spec.out[2]};
  const std::vector<int32_t> weight = {spec.out[2], spec.filter[0], spec.filter[1],
                                       spec.in[2]};
  std::vector<uint8_t> taps(
      static_cast<size_t>(weight[0] * weight[1] * weight[2] * weight[3]));
  for (size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<uint8_t>(i * 89 + 5);
  std::vector<int32_t> bias;
  for (int32_t k = 0; k < spec.out[2]; ++k) bias.push_back(700 * k - 1000);
  const int s = model.AddTensor("s", {4}, int32, 0, 0, BytesOfInts(out));
  const int w =
      model.AddTensor("w", weight, spec.type, 0.02f, is_signed ? 0 : 121, taps);
  const int x = model.AddTensor("x", {1, spec.in[0], spec.in[1], spec.in[2]}, spec.type,
                                0.5f, is_signed ? -3 : 130);
  std::vector<int32_t> inputs = {s, w, x};
  if (spec.bias) {
    inputs.push_back(
        model.AddTensor("b", {spec.out[2]}, int32, 0.01f, 0, BytesOfInts(bias)));
  }
  const int y = model.AddTensor("y", out, spec.type, 2.0f, is_signed ? 7 : 120);
  const auto options = tflite::CreateTransposeConvOptions(
      model.builder(), spec.padding, spec.stride[1], spec.stride[0]);
  model.AddOperator(tflite::BuiltinOperator::TRANSPOSE_CONV, inputs, {y},
                    tflite::BuiltinOptions::TransposeConvOptions, options.Union());
  return model.Finish({x}, {y});
}

// PADV2 when `value` is given, else PAD.
inline Bytes PadModel(tflite::TensorType type, const std::vector<int32_t>& in,
                      const std::vector<int32_t>& pads, const uint8_t* value) {
  TinyModel model;
  std::vector<int32_t> out = in;
  for (size_t a = 0; a < in.size(); ++a) out[a] += pads[2 * a] + pads[2 * a + 1];
  const int64_t zero = type == tflite::TensorType::INT8 ? -5 : 100;
  const int x = model.AddTensor("x", in, type, 0.5f, zero);
  const int p = model.AddTensor("p", {static_cast<int32_t>(in.size()), 2},
                                tflite::TensorType::INT32, 0, 0, BytesOfInts(pads));
  std::vector<int32_t> inputs = {x, p};
  if (value != nullptr) {
    inputs.push_back(model.AddTensor("v", {1}, type, 0.5f, zero, {*value}));
  }
  const int y = model.AddTensor("y", out, type, 0.5f, zero);
  model.AddOperator(
      value != nullptr ? tflite::BuiltinOperator::PADV2 : tflite::BuiltinOperator::PAD,
      inputs, {y});
  return model.Finish({x}, {y});
}

struct AffineSpec {
  float scale;
  int64_t zero;
};

// [1, 8, 9, 16]: enough elements for every 8-bit input to occur.
inline Bytes HardSwishModel(tflite::TensorType type, const AffineSpec& in,
                            const AffineSpec& out) {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 8, 9, 16}, type, in.scale, in.zero);
  const int y = model.AddTensor("y", {1, 8, 9, 16}, type, out.scale, out.zero);
  model.AddOperator(tflite::BuiltinOperator::HARD_SWISH, {x}, {y});
  return model.Finish({x}, {y});
}

inline Bytes PreluModel(tflite::TensorType type, const std::vector<int32_t>& slopes,
                        const AffineSpec& in, const AffineSpec& slope,
                        const AffineSpec& out) {
  TinyModel model;
  size_t elements = 1;
  for (const int32_t extent : slopes) elements *= static_cast<size_t>(extent);
  std::vector<uint8_t> alpha(elements);
  for (size_t i = 0; i < elements; ++i) alpha[i] = static_cast<uint8_t>(i * 53 + 11);
  const int x = model.AddTensor("x", {1, 8, 9, 16}, type, in.scale, in.zero);
  const int a = model.AddTensor("a", slopes, type, slope.scale, slope.zero, alpha);
  const int y = model.AddTensor("y", {1, 8, 9, 16}, type, out.scale, out.zero);
  model.AddOperator(tflite::BuiltinOperator::PRELU, {x, a}, {y});
  return model.Finish({x}, {y});
}

// 16-bit activations, 8-bit weights of a scale per channel, a 64-bit bias.
inline std::vector<uint8_t> BytesOfLongs(const std::vector<int64_t>& values) {
  std::vector<uint8_t> bytes(8 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<uint8_t> Taps(size_t count) {
  std::vector<uint8_t> taps(count);
  for (size_t i = 0; i < count; ++i) taps[i] = static_cast<uint8_t>(i * 89 + 5);
  return taps;
}

inline Bytes DepthwiseModel16() {
  TinyModel model;
  const auto int16 = tflite::TensorType::INT16;
  const int x = model.AddTensor("x", {1, 6, 7, 4}, int16, 0.001f, 0);
  const int w =
      model.AddTensor("w", {1, 3, 2, 4}, tflite::TensorType::INT8, 0.013f, 0, Taps(24));
  const int b = model.AddTensor("b", {4}, tflite::TensorType::INT64, 0.000013f, 0,
                                BytesOfLongs({7000, -123456, 0, 5000000}));
  const int y = model.AddTensor("y", {1, 3, 4, 4}, int16, 0.0037f, 0);
  const auto options = tflite::CreateDepthwiseConv2DOptions(
      model.builder(), tflite::Padding::SAME, 2, 2, 1, tflite::Activation::RELU);
  model.AddOperator(tflite::BuiltinOperator::DEPTHWISE_CONV_2D, {x, w, b}, {y},
                    tflite::BuiltinOptions::DepthwiseConv2DOptions, options.Union());
  return model.Finish({x}, {y});
}

inline Bytes FullyConnectedModel16() {
  TinyModel model;
  const auto int16 = tflite::TensorType::INT16;
  const int x = model.AddTensor("x", {3, 20}, int16, 0.0007f, 0);
  const int w =
      model.AddTensor("w", {5, 20}, tflite::TensorType::INT8, 0.021f, 0, Taps(100));
  const int b = model.AddTensor("b", {5}, tflite::TensorType::INT64, 0.0000147f, 0,
                                BytesOfLongs({7000, -123456, 0, 5000000, -9}));
  const int y = model.AddTensor("y", {3, 5}, int16, 0.0059f, 0);
  const auto options = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(tflite::BuiltinOperator::FULLY_CONNECTED, {x, w, b}, {y},
                    tflite::BuiltinOptions::FullyConnectedOptions, options.Union());
  return model.Finish({x}, {y});
}

// MUL of 16 bits.
inline Bytes ProductModel16() {
  TinyModel model;
  const auto int16 = tflite::TensorType::INT16;
  const int x = model.AddTensor("x", {1, 4, 5, 6}, int16, 0.0007f, 0);
  const int z = model.AddTensor("z", {1, 1, 1, 6}, int16, 0.0003f, 0);
  const int y = model.AddTensor("y", {1, 4, 5, 6}, int16, 0.0059f, 0);
  const auto options = tflite::CreateMulOptions(model.builder());
  model.AddOperator(tflite::BuiltinOperator::MUL, {x, z}, {y},
                    tflite::BuiltinOptions::MulOptions, options.Union());
  return model.Finish({x, z}, {y});
}

// ARG_MAX or ARG_MIN: the index of the largest or smallest along an axis.
inline Bytes BestModel(tflite::BuiltinOperator code, tflite::TensorType type,
                       const std::vector<int32_t>& in, int32_t axis,
                       tflite::TensorType index) {
  TinyModel model;
  std::vector<int32_t> out = in;
  out.erase(out.begin() + axis);
  const int x = model.AddTensor("x", in, type, 0.5f, 3);
  const int a =
      model.AddTensor("a", {1}, tflite::TensorType::INT32, 0, 0, BytesOfInts({axis}));
  const int y = model.AddTensor("y", out, index, 0, 0);
  const bool largest = code == tflite::BuiltinOperator::ARG_MAX;
  // ArgMaxOptions and ArgMinOptions have the same single field.
  const auto options = tflite::CreateArgMaxOptions(model.builder(), index);
  model.AddOperator(code, {x, a}, {y},
                    largest ? tflite::BuiltinOptions::ArgMaxOptions
                            : static_cast<tflite::BuiltinOptions>(57),
                    options.Union());
  return model.Finish({x}, {y});
}

// DEPTH_TO_SPACE and SPACE_TO_DEPTH; their options have the fields of SPLIT's.
inline Bytes DepthModel(tflite::BuiltinOperator code, const std::vector<int32_t>& in,
                        const std::vector<int32_t>& out, int32_t block) {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const int x = model.AddTensor("x", in, int8, 0.5f, 3);
  const int y = model.AddTensor("y", out, int8, 0.5f, 3);
  const auto options = tflite::CreateSplitOptions(model.builder(), block);
  const bool apart = code == tflite::BuiltinOperator::DEPTH_TO_SPACE;
  model.AddOperator(code, {x}, {y},
                    static_cast<tflite::BuiltinOptions>(apart ? 94 : 19),
                    options.Union());
  return model.Finish({x}, {y});
}

// SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND.
inline Bytes BatchModel(tflite::BuiltinOperator code, const std::vector<int32_t>& in,
                        const std::vector<int32_t>& out,
                        const std::vector<int32_t>& block,
                        const std::vector<int32_t>& pads) {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const auto int32 = tflite::TensorType::INT32;
  const auto axes = static_cast<int32_t>(block.size());
  const int x = model.AddTensor("x", in, int8, 0.5f, 3);
  const int b = model.AddTensor("b", {axes}, int32, 0, 0, BytesOfInts(block));
  const int p = model.AddTensor("p", {axes, 2}, int32, 0, 0, BytesOfInts(pads));
  const int y = model.AddTensor("y", out, int8, 0.5f, 3);
  model.AddOperator(code, {x, b, p}, {y});
  return model.Finish({x}, {y});
}

inline Bytes UnpackModel(const std::vector<int32_t>& in, int32_t axis) {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  std::vector<int32_t> out = in, parts;
  out.erase(out.begin() + axis);
  const int x = model.AddTensor("x", in, int8, 0.5f, 3);
  for (int32_t i = 0; i < in[static_cast<size_t>(axis)]; ++i) {
    parts.push_back(model.AddTensor("y" + std::to_string(i), out, int8, 0.5f, 3));
  }
  const auto options = tflite::CreateUnpackOptions(
      model.builder(), static_cast<int32_t>(parts.size()), axis);
  model.AddOperator(tflite::BuiltinOperator::UNPACK, {x}, parts,
                    tflite::BuiltinOptions::UnpackOptions, options.Union());
  return model.Finish({x}, parts);
}

// Operators of one input and a list of numbers: TILE, BROADCAST_TO, MIRROR_PAD, REVERSE_V2.
inline Bytes ListModel(tflite::BuiltinOperator code, tflite::TensorType type,
                       const std::vector<int32_t>& in, const std::vector<int32_t>& out,
                       const std::vector<int32_t>& numbers, int mode = 0) {
  TinyModel model;
  const bool mirrors = code == tflite::BuiltinOperator::MIRROR_PAD;
  const auto count = static_cast<int32_t>(numbers.size());
  const std::vector<int32_t> list =
      mirrors ? std::vector<int32_t>{count / 2, 2} : std::vector<int32_t>{count};
  const int x = model.AddTensor("x", in, type, 0.5f, 3);
  const int n =
      model.AddTensor("n", list, tflite::TensorType::INT32, 0, 0, BytesOfInts(numbers));
  const int y = model.AddTensor("y", out, type, 0.5f, 3);
  if (mirrors) {
    const auto options =
        tflite::CreateMirrorPadOptions(model.builder(), static_cast<int8_t>(mode));
    model.AddOperator(code, {x, n}, {y}, tflite::BuiltinOptions::MirrorPadOptions,
                      options.Union());
  } else {
    model.AddOperator(code, {x, n}, {y});
  }
  return model.Finish({x}, {y});
}

inline Bytes StridesModel(const std::vector<int32_t>& in,
                          const std::vector<int32_t>& out,
                          const std::vector<int32_t>& begin,
                          const std::vector<int32_t>& end,
                          const std::vector<int32_t>& strides, int begin_mask,
                          int end_mask, int shrink_mask) {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const auto list = [&](const char* name, const std::vector<int32_t>& numbers) {
    return model.AddTensor(name, {static_cast<int32_t>(numbers.size())},
                           tflite::TensorType::INT32, 0, 0, BytesOfInts(numbers));
  };
  const int x = model.AddTensor("x", in, int8, 0.5f, 3);
  const int b = list("b", begin), e = list("e", end), s = list("s", strides);
  const int y = model.AddTensor("y", out, int8, 0.5f, 3);
  const auto options = tflite::CreateStridedSliceOptions(model.builder(), begin_mask,
                                                         end_mask, 0, 0, shrink_mask);
  model.AddOperator(tflite::BuiltinOperator::STRIDED_SLICE, {x, b, e, s}, {y},
                    tflite::BuiltinOptions::StridedSliceOptions, options.Union());
  return model.Finish({x}, {y});
}

// Empty `indices`: the model computes them, as the ARG_MAX of each row of a second
// input.
inline Bytes GatherModel(const std::vector<int32_t>& in,
                         const std::vector<int32_t>& out, int32_t axis,
                         const std::vector<int32_t>& index_shape,
                         const std::vector<int32_t>& indices) {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const auto int32 = tflite::TensorType::INT32;
  const int x = model.AddTensor("x", in, int8, 0.5f, 3);
  int i = 0;
  if (indices.empty()) {
    const int last = model.AddTensor("a", {1}, int32, 0, 0, BytesOfInts({-1}));
    const int z = model.AddTensor("z", {index_shape[0], in[static_cast<size_t>(axis)]},
                                  int8, 0.5f, 3);
    i = model.AddTensor("i", index_shape, int32, 0, 0);
    const auto best = tflite::CreateArgMaxOptions(model.builder(), int32);
    model.AddOperator(tflite::BuiltinOperator::ARG_MAX, {z, last}, {i},
                      tflite::BuiltinOptions::ArgMaxOptions, best.Union());
    const int y = model.AddTensor("y", out, int8, 0.5f, 3);
    const auto options = tflite::CreateGatherOptions(model.builder(), axis);
    model.AddOperator(tflite::BuiltinOperator::GATHER, {x, i}, {y},
                      tflite::BuiltinOptions::GatherOptions, options.Union());
    return model.Finish({x, z}, {y});
  }
  i = model.AddTensor("i", index_shape, int32, 0, 0, BytesOfInts(indices));
  const int y = model.AddTensor("y", out, int8, 0.5f, 3);
  const auto options = tflite::CreateGatherOptions(model.builder(), axis);
  model.AddOperator(tflite::BuiltinOperator::GATHER, {x, i}, {y},
                    tflite::BuiltinOptions::GatherOptions, options.Union());
  return model.Finish({x}, {y});
}

// Those whose output is made of places of the input.
inline std::vector<NamedModel> TinyPicks() {
  using Op = tflite::BuiltinOperator;
  const auto int8 = tflite::TensorType::INT8;
  const auto uint8 = tflite::TensorType::UINT8;
  const auto int16 = tflite::TensorType::INT16;
  return {
      {"tile_channels",
       ListModel(Op::TILE, int8, {1, 3, 4, 5}, {1, 3, 4, 15}, {1, 1, 1, 3})},
      {"tile_all", ListModel(Op::TILE, uint8, {2, 3, 2}, {4, 3, 10}, {2, 1, 5})},
      {"tile_often", ListModel(Op::TILE, int8, {1, 3}, {40, 3}, {40, 1})},
      {"tile_columns",
       ListModel(Op::TILE, int8, {2, 3, 2, 4}, {2, 3, 60, 4}, {1, 1, 30, 1})},
      {"broadcast_rows",
       ListModel(Op::BROADCAST_TO, int8, {1, 1, 5}, {2, 4, 5}, {2, 4, 5})},
      {"mirror_reflect", ListModel(Op::MIRROR_PAD, int8, {1, 5, 6, 3}, {1, 9, 9, 3},
                                   {0, 0, 2, 2, 1, 2, 0, 0}, 0)},
      {"mirror_symmetric",
       ListModel(Op::MIRROR_PAD, uint8, {2, 4, 3}, {2, 10, 5}, {0, 0, 4, 2, 0, 2}, 1)},
      {"mirror_channels", ListModel(Op::MIRROR_PAD, int8, {2, 3, 2, 30}, {2, 3, 2, 88},
                                    {0, 0, 0, 0, 0, 0, 29, 29}, 0)},
      {"reverse_rows",
       ListModel(Op::REVERSE_V2, int8, {1, 7, 3, 4}, {1, 7, 3, 4}, {1})},
      {"reverse_channels",
       ListModel(Op::REVERSE_V2, uint8, {3, 2, 40}, {3, 2, 40}, {-1})},
      {"reverse_wide", ListModel(Op::REVERSE_V2, int16, {2, 6}, {2, 6}, {1})},
      {"strides_image", StridesModel({1, 9, 7, 3}, {1, 5, 3, 3}, {0, 0, 1, 0},
                                     {1, 9, 7, 3}, {1, 2, 2, 1}, 1, 1, 0)},
      {"strides_back", StridesModel({2, 60, 5}, {2, 30, 2}, {0, 0, -2}, {2, 60, 0},
                                    {1, 2, -2}, 0, 2, 0)},
      {"strides_shrink",
       StridesModel({3, 8, 4}, {4, 4}, {-1, 7, 0}, {3, 0, 4}, {1, -2, 1}, 0, 6, 1)},
      {"gather_rows", GatherModel({1, 6, 4, 3}, {1, 5, 4, 3}, 1, {5}, {5, 0, 0, 3, 4})},
      {"gather_columns",
       GatherModel({2, 3, 50}, {2, 3, 2, 15}, 2, {2, 15},
                   {49, 3, 7, 1, 1, 0, 30, 29, 28, 27, 2,  2,  9, 5, 5,
                    41, 6, 0, 4, 8, 8, 10, 12, 3,  2,  20, 10, 5, 1, 0})},
      {"gather_batches", GatherModel({4, 3, 2, 2}, {2, 3, 2, 2}, 0, {2}, {3, 1})},
      {"gather_run_time", GatherModel({9, 7}, {6, 7}, 0, {6}, {})},
  };
}

// Those that move data by blocks, or look along an axis.
inline std::vector<NamedModel> TinyRearrangements() {
  using Op = tflite::BuiltinOperator;
  const auto int8 = tflite::TensorType::INT8;
  const auto uint8 = tflite::TensorType::UINT8;
  const auto int32 = tflite::TensorType::INT32;
  const auto int64 = tflite::TensorType::INT64;
  return {
      {"argmax_rows", BestModel(Op::ARG_MAX, int8, {1, 9, 5, 7}, 1, int32)},
      {"argmax_columns", BestModel(Op::ARG_MAX, uint8, {2, 3, 6, 4}, 2, int64)},
      {"argmax_batch", BestModel(Op::ARG_MAX, int8, {5, 3, 2}, 0, int32)},
      {"argmin_last", BestModel(Op::ARG_MIN, int8, {1, 3, 4, 300}, 3, int32)},
      {"argmin_rows", BestModel(Op::ARG_MIN, uint8, {40, 3}, 0, int64)},
      {"depth_to_space_2",
       DepthModel(Op::DEPTH_TO_SPACE, {2, 3, 5, 12}, {2, 6, 10, 3}, 2)},
      {"depth_to_space_3",
       DepthModel(Op::DEPTH_TO_SPACE, {1, 2, 4, 18}, {1, 6, 12, 2}, 3)},
      {"space_to_depth_2",
       DepthModel(Op::SPACE_TO_DEPTH, {2, 6, 10, 3}, {2, 3, 5, 12}, 2)},
      {"space_to_batch", BatchModel(Op::SPACE_TO_BATCH_ND, {2, 5, 7, 3}, {12, 3, 4, 3},
                                    {2, 3}, {0, 1, 2, 3})},
      {"space_to_batch_plain", BatchModel(Op::SPACE_TO_BATCH_ND, {1, 6, 8, 4},
                                          {4, 3, 4, 4}, {2, 2}, {0, 0, 0, 0})},
      {"space_to_batch_rows",
       BatchModel(Op::SPACE_TO_BATCH_ND, {2, 9, 5}, {6, 4, 5}, {3}, {2, 1})},
      {"batch_to_space", BatchModel(Op::BATCH_TO_SPACE_ND, {12, 3, 4, 3}, {2, 5, 7, 3},
                                    {2, 3}, {0, 1, 2, 3})},
      {"batch_to_space_plain", BatchModel(Op::BATCH_TO_SPACE_ND, {4, 3, 4, 4},
                                          {1, 6, 8, 4}, {2, 2}, {0, 0, 0, 0})},
      {"batch_to_space_rows",
       BatchModel(Op::BATCH_TO_SPACE_ND, {6, 4, 5}, {2, 9, 5}, {3}, {2, 1})},
      {"unpack_rows", UnpackModel({2, 4, 3, 5}, 1)},
      {"unpack_channels", UnpackModel({1, 3, 4, 3}, 3)},
      {"unpack_batch", UnpackModel({3, 4, 5}, 0)},
  };
}

inline std::vector<NamedModel> TinyModels() {
  const auto int8 = tflite::TensorType::INT8;
  const auto uint8 = tflite::TensorType::UINT8;
  const auto same = tflite::Padding::SAME;
  const auto valid = tflite::Padding::VALID;
  const uint8_t value = 17;
  std::vector<NamedModel> models = {
      {"transposed_same_2",
       TransposedModel({int8, same, {5, 4, 6}, {3, 3}, {2, 2}, {10, 8, 5}, true})},
      {"transposed_same_odd",
       TransposedModel({int8, same, {5, 4, 6}, {4, 3}, {2, 3}, {9, 11, 3}, false})},
      {"transposed_same_1",
       TransposedModel({int8, same, {6, 7, 3}, {3, 4}, {1, 1}, {6, 7, 8}, true})},
      {"transposed_valid_2",
       TransposedModel({int8, valid, {4, 5, 7}, {2, 3}, {2, 2}, {8, 11, 4}, true})},
      {"transposed_valid_gaps",
       TransposedModel({int8, valid, {4, 3, 5}, {2, 1}, {3, 3}, {11, 7, 6}, true})},
      {"transposed_uint8",
       TransposedModel({uint8, same, {5, 5, 8}, {3, 3}, {2, 2}, {10, 10, 4}, true})},
      {"pad_channels", PadModel(int8, {1, 5, 4, 3}, {0, 0, 0, 0, 0, 0, 1, 2}, nullptr)},
      {"pad_batch", PadModel(uint8, {2, 3, 4, 5}, {1, 2, 0, 0, 0, 0, 0, 0}, nullptr)},
      {"pad_all_axes", PadModel(int8, {2, 3, 4, 5}, {1, 0, 0, 2, 1, 1, 2, 3}, nullptr)},
      {"pad_value", PadModel(int8, {1, 3, 4, 5}, {0, 0, 1, 1, 0, 0, 0, 3}, &value)},
      {"pad_two_axes", PadModel(uint8, {3, 5}, {1, 2, 2, 1}, nullptr)},
      {"hard_swish", HardSwishModel(int8, {0.0234f, -11}, {0.0125f, -98})},
      {"hard_swish_wide", HardSwishModel(int8, {0.35f, 3}, {0.2f, -128})},
      {"hard_swish_fine", HardSwishModel(int8, {0.0013f, 90}, {0.0004f, 5})},
      {"hard_swish_uint8", HardSwishModel(uint8, {0.047f, 128}, {0.025f, 15})},
      {"prelu_channels",
       PreluModel(int8, {1, 1, 16}, {0.05f, -7}, {0.007f, 12}, {0.03f, -20})},
      {"prelu_columns",
       PreluModel(int8, {9, 1}, {0.05f, 40}, {0.02f, -128}, {0.11f, 3})},
      {"prelu_elements",
       PreluModel(int8, {8, 9, 16}, {0.01f, 0}, {0.0081f, 0}, {0.01f, 0})},
      {"depthwise_int16", DepthwiseModel16()},
      {"fully_connected_int16", FullyConnectedModel16()},
      {"mul_int16", ProductModel16()},
      {"prelu_uint8",
       PreluModel(uint8, {1, 1, 16}, {0.03f, 120}, {0.009f, 131}, {0.06f, 70})},
  };
  for (NamedModel& model : TinyRearrangements()) models.push_back(std::move(model));
  for (NamedModel& model : TinyPicks()) models.push_back(std::move(model));
  return models;
}

}  // namespace sluice::import

#endif  // SLUICE_TESTS_IMPORT_TINY_MODELS_H_
