// SPDX-License-Identifier: Apache-2.0
#include "cli/host_products.h"

#include <string>
#include <vector>

#include "sluice/graph_generated.h"
#include "sluice/ops.h"

namespace sluice::cli {
namespace {

using Extents = std::vector<uint64_t>;

// How often an element of a weight is multiplied.
enum class Each {
  kResult,  // once for each result of its slice of `axis`
  kInput,   // once for each input of its slice of `axis`
  kStep,    // once for each row of the input
};

struct Product {
  const char* function;
  size_t input;                 // operand
  std::vector<size_t> weights;  // operands
  Each each;
  int axis;  // of the weight; -1: the last
};

const std::vector<Product>& Products() {
  static const std::vector<Product> products = {
      {"conv_int16", 0, {1}, Each::kResult, 0},
      {"depthwise_conv_int16", 0, {1}, Each::kResult, -1},
      {"transposed_conv_int16", 0, {1}, Each::kInput, -1},
      {"fully_connected_int16", 0, {1}, Each::kResult, 0},
      {"lstm_int8", 0, {1, 2, 3, 4, 5, 6, 7, 8}, Each::kStep, 0},
      {"tflite.CONV_2D", 0, {1}, Each::kResult, 0},
      {"tflite.DEPTHWISE_CONV_2D", 0, {1}, Each::kResult, -1},
      {"tflite.TRANSPOSE_CONV", 2, {1}, Each::kInput, -1},
      {"tflite.FULLY_CONNECTED", 0, {1}, Each::kResult, 0},
      {"onnx.Conv", 0, {1}, Each::kResult, 0},
      {"onnx.ConvInteger", 0, {1}, Each::kResult, 0},
      {"onnx.ConvTranspose", 0, {1}, Each::kInput, 0},
      {"onnx.LSTM", 0, {1, 2}, Each::kStep, 0},
      {"onnx.GRU", 0, {1, 2}, Each::kStep, 0},
      {"onnx.RNN", 0, {1, 2}, Each::kStep, 0},
  };
  return products;
}

// Each result of these is a sum of as many products as the first operand's last axis is long.
bool IsMatrixProduct(const std::string& function) {
  return function == "tflite.BATCH_MATMUL" || function == "onnx.MatMul" ||
         function == "onnx.MatMulInteger";
}

class Layers {
 public:
  explicit Layers(const wire::Graph& graph) : g_(graph) {}

  uint32_t Count() const {
    return g_.layer_op() == nullptr ? 0 : g_.layer_op()->size();
  }

  // The function of an OPAQUE layer; "" for other layers.
  std::string Function(uint32_t layer) const {
    if (g_.layer_op()->Get(layer) != SLUICE_OP_OPAQUE) return {};
    const uint32_t at = g_.layer_attribute_begin()->Get(layer) + SLUICE_OPAQUE_NAME;
    const auto name = static_cast<uint32_t>(g_.layer_attributes()->Get(at));
    return name < g_.names()->size() ? g_.names()->Get(name)->str() : std::string();
  }

  Extents Input(uint32_t layer, size_t i) const {
    return Tensor(*g_.layer_input_begin(), *g_.layer_inputs(), layer, i);
  }
  Extents Output(uint32_t layer) const {
    return Tensor(*g_.layer_output_begin(), *g_.layer_outputs(), layer, 0);
  }

 private:
  using List = flatbuffers::Vector<uint32_t>;

  Extents Tensor(const List& begins, const List& tensors, uint32_t layer,
                 size_t i) const {
    const size_t at = begins.Get(layer) + i;
    if (at >= begins.Get(layer + 1)) return {};
    const uint32_t tensor = tensors.Get(static_cast<uint32_t>(at));
    if (tensor >= g_.tensor_kind()->size()) return {};
    Extents extents;
    for (uint32_t d = g_.tensor_dim_begin()->Get(tensor);
         d < g_.tensor_dim_begin()->Get(tensor + 1); ++d) {
      extents.push_back(static_cast<uint64_t>(g_.tensor_dims()->Get(d)));
    }
    return extents;
  }

  const wire::Graph& g_;
};

uint64_t ElementsOf(const Extents& extents) {
  uint64_t elements = 1;
  for (const uint64_t extent : extents) elements *= extent;
  return elements;
}

uint64_t MacsOf(const Layers& layers, uint32_t layer, const Product& product) {
  const Extents in = layers.Input(layer, product.input);
  if (in.empty() || in.back() == 0) return 0;
  const uint64_t results = ElementsOf(layers.Output(layer));
  uint64_t macs = 0;
  for (const size_t i : product.weights) {
    const Extents weight = layers.Input(layer, i);
    if (weight.empty()) continue;
    const uint64_t elements = ElementsOf(weight);
    const uint64_t slices =
        product.axis < 0 ? weight.back() : weight[static_cast<size_t>(product.axis)];
    if (slices == 0) continue;
    switch (product.each) {
      case Each::kResult:
        macs += results * (elements / slices);
        break;
      case Each::kInput:
        macs += ElementsOf(in) * (elements / slices);
        break;
      case Each::kStep:
        macs += ElementsOf(in) / in.back() * elements;
    }
  }
  return macs;
}

}  // namespace

uint64_t HostProducts(const Bytes& graph) {
  flatbuffers::Verifier verifier(graph.data(), graph.size());
  if (graph.size() < 12 || !wire::VerifyGraphBuffer(verifier)) return 0;
  const Layers layers(*wire::GetGraph(graph.data()));
  uint64_t macs = 0;
  for (uint32_t l = 0; l < layers.Count(); ++l) {
    const std::string function = layers.Function(l);
    if (IsMatrixProduct(function)) {
      const Extents first = layers.Input(l, 0);
      if (!first.empty()) macs += ElementsOf(layers.Output(l)) * first.back();
    }
    for (const Product& product : Products()) {
      if (function == product.function) macs += MacsOf(layers, l, product);
    }
  }
  return macs;
}

}  // namespace sluice::cli
