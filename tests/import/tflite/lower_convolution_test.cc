// SPDX-License-Identifier: Apache-2.0
// tests/import/golden_test.cc compares values with the reference kernels.
#include <doctest/doctest.h>

#include "import/graph_writer.h"
#include "import/tflite/import_tflite.h"
#include "tests/import/tiny_models.h"

namespace sluice::import {
namespace {

// Returns the first layer with the operator.
LayerRow LayerOf(const Bytes& model, uint16_t op) {
  TfliteImportOptions options;
  const GraphWriter graph(ImportTflite(model.data(), model.size(), options).graph);
  for (const LayerRow& layer : graph.layers()) {
    if (layer.op == op) return layer;
  }
  FAIL("no such layer");
  return {};
}

TEST_CASE("import: a transposed convolution has the pads of its forward convolution") {
  const auto spec = [](tflite::Padding padding, int32_t out) {
    return TransposedSpec{tflite::TensorType::INT8,
                          padding,
                          {3, 3, 2},
                          {3, 3},
                          {2, 2},
                          {out, out, 4},
                          true};
  };
  const LayerRow same = LayerOf(TransposedModel(spec(tflite::Padding::SAME, 6)),
                                SLUICE_OP_TRANSPOSED_CONV);
  // Three windows of three rows in steps of two cover seven rows, one more than six.
  CHECK(same.attributes[SLUICE_CONV_PAD_TOP] == 0);
  CHECK(same.attributes[SLUICE_CONV_PAD_BOTTOM] == 1);
  CHECK(same.attributes[SLUICE_CONV_STRIDE_H] == 2);
  CHECK(same.attributes[SLUICE_CONV_GROUPS] == 0);
  CHECK(same.attributes[SLUICE_CONV_INPUT_ZERO] == -3);
  CHECK(same.attributes[SLUICE_CONV_OUTPUT_ZERO] == 7);
  CHECK(same.attributes[SLUICE_CONV_ACT_MIN] == -128);
  CHECK(same.attributes[SLUICE_CONV_ACT_MAX] == 127);
  const LayerRow valid = LayerOf(TransposedModel(spec(tflite::Padding::VALID, 7)),
                                 SLUICE_OP_TRANSPOSED_CONV);
  CHECK(valid.attributes[SLUICE_CONV_PAD_BOTTOM] == 0);
}

}  // namespace
}  // namespace sluice::import
