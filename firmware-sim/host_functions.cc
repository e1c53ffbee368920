// SPDX-License-Identifier: Apache-2.0
#include "host_functions.h"

#include "host_onnx.h"
#include "host_tflite.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

struct Row {
  const char* name;
  HostFunction function;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"conv_int16", ConvInt16},
      {"depthwise_conv_int16", DepthwiseConvInt16},
      {"transposed_conv_int16", TransposedConvInt16},
      {"fully_connected_int16", FullyConnectedInt16},
      {"split_int16", SplitInt16},
      {"scale_sums_int16", ScaleSumsInt16},
      {"quantise_rows", QuantiseRows},
      {"scale_rows", ScaleRows},
      {"softmax_int16", SoftmaxInt16},
      {"svdf_state", SvdfState},
      {"svdf_output", SvdfOutput},
      {"lstm_step_int8", LstmStepInt8},
      {"lstm_int8", LstmInt8},
      {"detection", Detection},
  };
  return rows;
}

}  // namespace

const HostFunction* FindHostFunction(const std::string& name) {
  for (const Row& row : Rows()) {
    if (name == row.name) return &row.function;
  }
  const HostFunction* lite = FindLiteFunction(name);
  return lite != nullptr ? lite : FindOnnxFunction(name);
}

int64_t CountOf(const HostOperand& operand) {
  int64_t count = 1;
  for (const int64_t extent : operand.extent) count *= extent;
  return count;
}

bool HasTypes(const HostOperands& operands, const std::vector<int>& dtypes) {
  if (operands.size() != dtypes.size()) return false;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (operands[i].dtype != dtypes[i]) return false;
  }
  return true;
}

bool HasOptions(const HostOperands& in, int64_t count) {
  return !in.empty() && in.back().dtype == SLUICE_DTYPE_INT32 &&
         CountOf(in.back()) == count;
}

}  // namespace sluice_sim
