// SPDX-License-Identifier: Apache-2.0
// Models of one operator each, for operators that no model at hand has in every form:
// transposed convolutions and pads of any axis. Names are the goldens' keys.
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

// value: PADV2's; none: PAD.
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

inline std::vector<NamedModel> TinyModels() {
  const auto int8 = tflite::TensorType::INT8;
  const auto uint8 = tflite::TensorType::UINT8;
  const auto same = tflite::Padding::SAME;
  const auto valid = tflite::Padding::VALID;
  const uint8_t value = 17;
  return {
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
  };
}

}  // namespace sluice::import

#endif  // SLUICE_TESTS_IMPORT_TINY_MODELS_H_
