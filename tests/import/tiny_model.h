// SPDX-License-Identifier: Apache-2.0
// Builds .tflite files of a few tensors and operators, for tests.
#ifndef SLUICE_TESTS_IMPORT_TINY_MODEL_H_
#define SLUICE_TESTS_IMPORT_TINY_MODEL_H_

#include <string>
#include <vector>

#include "import/bytes.h"
#include "tflite_generated.h"

namespace sluice::import {

class TinyModel {
 public:
  int AddTensor(const std::string& name, std::vector<int32_t> shape,
                tflite::TensorType type, float scale, int64_t zero,
                std::vector<uint8_t> data = {}) {
    uint32_t buffer = 0;
    if (!data.empty()) {
      builder_.ForceVectorAlignment(data.size(), 1, 16);
      buffers_.push_back(tflite::CreateBuffer(builder_, builder_.CreateVector(data)));
      buffer = static_cast<uint32_t>(buffers_.size());  // buffer 0 is empty
    }
    flatbuffers::Offset<tflite::Quantization> quantisation;
    if (scale > 0) {
      const std::vector<float> scales = {scale};
      const std::vector<int64_t> zeros = {zero};
      quantisation = tflite::CreateQuantizationDirect(builder_, &scales, &zeros);
    }
    tensors_.push_back(tflite::CreateTensorDirect(builder_, &shape, type, buffer,
                                                  name.c_str(), quantisation));
    return static_cast<int>(tensors_.size() - 1);
  }

  // A tensor that an operator keeps from run to run.
  int AddVariable(const std::string& name, std::vector<int32_t> shape,
                  tflite::TensorType type, float scale, int64_t zero) {
    const std::vector<float> scales = {scale};
    const std::vector<int64_t> zeros = {zero};
    const auto quantisation =
        tflite::CreateQuantizationDirect(builder_, &scales, &zeros);
    tensors_.push_back(tflite::CreateTensorDirect(builder_, &shape, type, 0,
                                                  name.c_str(), quantisation, true));
    return static_cast<int>(tensors_.size() - 1);
  }

  void AddOperator(tflite::BuiltinOperator code, std::vector<int32_t> inputs,
                   std::vector<int32_t> outputs,
                   tflite::BuiltinOptions type = tflite::BuiltinOptions::NONE,
                   flatbuffers::Offset<void> options = 0, const char* custom = nullptr,
                   const std::vector<uint8_t>& custom_options = {}) {
    const int narrow = std::min(static_cast<int>(code), 127);
    // The runtime knows no older version of this operator.
    const int version = code == tflite::BuiltinOperator::BROADCAST_TO ? 3 : 1;
    codes_.push_back(tflite::CreateOperatorCodeDirect(
        builder_, static_cast<int8_t>(narrow), custom, version, code));
    operators_.push_back(tflite::CreateOperatorDirect(
        builder_, static_cast<uint32_t>(codes_.size() - 1), &inputs, &outputs, type,
        options, custom_options.empty() ? nullptr : &custom_options));
  }

  // Ends a subgraph; what is added from here on belongs to the next one.
  void NextSubgraph(std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
    graphs_.push_back(tflite::CreateSubGraphDirect(builder_, &tensors_, &inputs,
                                                   &outputs, &operators_, "main"));
    tensors_.clear();
    operators_.clear();
  }

  Bytes Finish(std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
    std::vector<flatbuffers::Offset<tflite::Buffer>> buffers = {
        tflite::CreateBuffer(builder_)};
    buffers.insert(buffers.end(), buffers_.begin(), buffers_.end());
    NextSubgraph(std::move(inputs), std::move(outputs));
    tflite::FinishModelBuffer(
        builder_,
        tflite::CreateModelDirect(builder_, 3, &codes_, &graphs_, "tiny", &buffers));
    return Bytes(builder_.GetBufferPointer(),
                 builder_.GetBufferPointer() + builder_.GetSize());
  }

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

 private:
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<tflite::Operator>> operators_;
  std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs_;
};

// 1x4x4x2 -> 2x2 convolution to 3 channels, ReLU, reshape to 1x27.
inline Bytes TinyConvolution() {
  TinyModel model;
  std::vector<uint8_t> filter(3 * 2 * 2 * 2), bias(3 * 4);
  for (size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<uint8_t>(i * 37);
  for (size_t i = 0; i < 3; ++i) bias[4 * i] = static_cast<uint8_t>(i * 11);
  const auto int8 = tflite::TensorType::INT8;
  const int x = model.AddTensor("x", {1, 4, 4, 2}, int8, 0.5f, -3);
  const int w = model.AddTensor("w", {3, 2, 2, 2}, int8, 0.01f, 0, filter);
  const int b = model.AddTensor("b", {3}, tflite::TensorType::INT32, 0.005f, 0, bias);
  const int y = model.AddTensor("y", {1, 3, 3, 3}, int8, 0.25f, 7);
  const int z = model.AddTensor("z", {1, 27}, int8, 0.25f, 7);
  const auto options = tflite::CreateConv2DOptions(
      model.builder(), tflite::Padding::VALID, 1, 1, tflite::Activation::RELU);
  model.AddOperator(tflite::BuiltinOperator::CONV_2D, {x, w, b}, {y},
                    tflite::BuiltinOptions::Conv2DOptions, options.Union());
  model.AddOperator(tflite::BuiltinOperator::RESHAPE, {y}, {z});
  return model.Finish({x}, {z});
}

// One fully connected layer of 8 inputs with that many bytes of weights, no bias.
inline Bytes WideModel(int32_t bytes) {
  TinyModel model;
  std::vector<uint8_t> filter(static_cast<size_t>(bytes));
  for (size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<uint8_t>(i * 41);
  const auto int8 = tflite::TensorType::INT8;
  const int x = model.AddTensor("x", {1, 8}, int8, 0.5f, -3);
  const int w = model.AddTensor("w", {bytes / 8, 8}, int8, 0.01f, 0, filter);
  const int y = model.AddTensor("y", {1, bytes / 8}, int8, 0.25f, 7);
  const auto options = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(tflite::BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, {y},
                    tflite::BuiltinOptions::FullyConnectedOptions, options.Union());
  return model.Finish({x}, {y});
}

}  // namespace sluice::import

#endif  // SLUICE_TESTS_IMPORT_TINY_MODEL_H_
