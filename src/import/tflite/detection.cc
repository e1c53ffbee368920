// SPDX-License-Identifier: Apache-2.0
// Numbers stored as text, which no converter writes, are read in the caller's locale:
// reading them independently of the locale would require linking the flatbuffers
// library.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0
#include "import/tflite/detection.h"

#include <flatbuffers/flexbuffers.h>

#include <cstring>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

constexpr char kName[] = "CUSTOM:TFLite_Detection_PostProcess";
constexpr int32_t kMostDetections = 1 << 20;

struct Settings {
  int32_t detections, classes;
  bool plain;           // one class per box, no suppression per class
  float thresholds[2];  // score, overlap
  float scales[4];      // y, x, h, w
};

bool ReadSettings(const TfliteOperator& op, Settings* out) {
  const auto* bytes = op.wire->custom_options();
  if (bytes == nullptr || bytes->size() < 3) return false;
  std::vector<uint8_t> reuse;
  if (!flexbuffers::VerifyBuffer(bytes->data(), bytes->size(), &reuse)) return false;
  const flexbuffers::Reference root =
      flexbuffers::GetRoot(bytes->data(), bytes->size());
  if (!root.IsMap()) return false;
  const flexbuffers::Map map = root.AsMap();
  out->detections = map["max_detections"].AsInt32();
  out->classes = map["num_classes"].AsInt32();
  out->plain = map["max_classes_per_detection"].AsInt32() == 1 &&
               !map["use_regular_nms"].AsBool();
  const char* const thresholds[] = {"nms_score_threshold", "nms_iou_threshold"};
  for (size_t i = 0; i < 2; ++i) out->thresholds[i] = map[thresholds[i]].AsFloat();
  const char* const scales[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
  for (size_t i = 0; i < 4; ++i) out->scales[i] = map[scales[i]].AsFloat();
  return out->detections >= 1 && out->detections <= kMostDetections;
}

int32_t BitsOf(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

}  // namespace

bool IsDetection(const TfliteOperator& op) { return op.name == kName; }

void SetDetectionShapes(TfliteModel* model) {
  for (const TfliteOperator& op : model->operators) {
    Settings settings;
    if (!IsDetection(op) || op.outputs.size() != 4 || !ReadSettings(op, &settings)) {
      continue;
    }
    const int32_t n = settings.detections;
    const Dims shapes[] = {{1, n, 4}, {1, n}, {1, n}, {1}};
    for (size_t i = 0; i < 4; ++i) {
      TfliteTensor& tensor = model->tensors[static_cast<size_t>(op.outputs[i])];
      if (tensor.shape.empty()) tensor.shape = shapes[i];
    }
  }
}

void LowerDetection(Lowering* to, const TfliteOperator& op) {
  Settings settings;
  Require(
      op.inputs.size() == 3 && op.outputs.size() == 4 && ReadSettings(op, &settings),
      "options that cannot be read");
  Require(settings.plain, "suppression per class, or several classes per box");
  std::vector<int32_t> options = {settings.detections, settings.classes};
  for (const float value : settings.thresholds) options.push_back(BitsOf(value));
  for (const float value : settings.scales) options.push_back(BitsOf(value));
  std::vector<uint32_t> inputs, outputs;
  for (size_t i = 0; i < 3; ++i) {
    const TfliteTensor& tensor = InputOf(*to, op, i);
    Require(static_cast<tflite::TensorType>(tensor.type) == tflite::TensorType::UINT8,
            "boxes, scores or anchors that are not uint8");
    const Affine affine = AffineOf(tensor);
    options.insert(options.end(), {BitsOf(affine.scale), affine.zero});
    inputs.push_back(InputTensor(to, op, i));
  }
  const TfliteTensor& boxes = InputOf(*to, op, 0);
  Require(!boxes.shape.empty() && boxes.shape.back() == 4,
          "boxes of other than four numbers");
  for (size_t i = 0; i < 4; ++i) outputs.push_back(OutputTensor(to, op, i));
  inputs.push_back(to->graph.AddConstant(
      OutputOf(*to, op).name + "/options", SLUICE_DTYPE_INT32,
      {static_cast<int32_t>(options.size())}, options.data(), options.size() * 4));
  AddHost(to, op, "detection", inputs, outputs, 0);
}

}  // namespace sluice::import
