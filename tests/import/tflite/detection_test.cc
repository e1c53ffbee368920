// SPDX-License-Identifier: Apache-2.0
// Detectors: the options of a custom operator, and the shapes that follow from these.
#include "import/tflite/detection.h"

#include <flatbuffers/flexbuffers.h>

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;

Bytes Options(bool per_class) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    builder.Int("max_detections", 2);
    builder.Int("max_classes_per_detection", 1);
    builder.Int("num_classes", 2);
    builder.Bool("use_regular_nms", per_class);
    builder.Float("nms_score_threshold", 0);
    builder.Float("nms_iou_threshold", 0.5f);
    for (const char* name : {"y_scale", "x_scale", "h_scale", "w_scale"}) {
      builder.Float(name, 1);
    }
  });
  builder.Finish();
  return builder.GetBuffer();
}

Bytes Detector(const Bytes& options) {
  TinyModel model;
  const int boxes = model.AddTensor("boxes", {1, 3, 4}, TensorType::UINT8, 1, 100);
  const int scores = model.AddTensor("scores", {1, 3, 2}, TensorType::UINT8, 0.5f, 0);
  const int anchors = model.AddTensor("anchors", {3, 4}, TensorType::UINT8, 1, 0,
                                      {5, 5, 10, 10, 6, 5, 10, 10, 100, 100, 10, 10});
  std::vector<int32_t> outputs;
  for (const char* name : {"corners", "classes", "best", "count"}) {
    outputs.push_back(model.AddTensor(name, {}, TensorType::FLOAT32, 0, 0));
  }
  model.AddOperator(BuiltinOperator::CUSTOM, {boxes, scores, anchors}, outputs,
                    BuiltinOptions::NONE, 0, "TFLite_Detection_PostProcess", options);
  return model.Finish({boxes, scores}, outputs);
}

TEST_CASE("tflite detection: a layer of the host, with the shapes of its options") {
  const ImportAndGraph import = Import(Detector(Options(false)));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_OPAQUE});
  const std::vector<Bytes> inputs = {Bytes(12, 100), {10, 20, 60, 30, 1, 40}};
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  REQUIRE(result.outputs.size() == 4);
  float corners[8], best[2];
  REQUIRE(result.outputs[0].size() == sizeof corners);
  REQUIRE(result.outputs[2].size() == sizeof best);
  std::memcpy(corners, result.outputs[0].data(), sizeof corners);
  std::memcpy(best, result.outputs[2].data(), sizeof best);
  CHECK(best[0] == 30);
  CHECK(best[1] == 20);
  CHECK(corners[0] == 1);
  CHECK(corners[1] == 0);
  CHECK(corners[4] == 95);
}

TEST_CASE("tflite detection: other ways to suppress, or damaged options, are refused") {
  CHECK(MessageOf(Detector(Options(true)))
            .find("(suppression per class, or several classes per box)") !=
        std::string::npos);
  Bytes damaged = Options(false);
  for (size_t i = 0; i < damaged.size(); ++i) {
    Bytes changed = damaged;
    changed[i] = static_cast<uint8_t>(changed[i] ^ 0x55);
    (void)Outcome(Detector(changed));
  }
  damaged.resize(damaged.size() / 2);
  CHECK(Outcome(Detector(damaged)) != kDone);
  CHECK(Outcome(Detector({})) != kDone);
}

}  // namespace
}  // namespace sluice::import
