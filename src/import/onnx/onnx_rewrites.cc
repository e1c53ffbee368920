// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_rewrites.h"

#include <algorithm>
#include <string>
#include <vector>

#include "import/onnx/onnx_inference.h"
#include "import/onnx/onnx_rewriter.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

constexpr int kMostNodes = 1 << 17;  // with which subgraphs are still taken apart

bool IsOnnx(const onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

// ---- products of onnxruntime

// Sums of a product of integers, times both scales, and a bias.
bool Scaled(Rewriter* r, std::vector<std::string> operands, const std::string& scale_a,
            const std::string& scale_b, const std::string& bias) {
  while (operands.back().empty()) operands.pop_back();
  const std::string sums = r->Op("Cast", {r->Op("MatMulInteger", operands)},
                                 {{"to", {onnx::TensorProto::FLOAT}}});
  std::string y = r->Op("Mul", {sums, r->Op("Mul", {scale_a, scale_b})});
  if (!bias.empty()) y = r->Op("Add", {y, bias});
  r->Finish(0, y);
  return true;
}

bool MatMulIntegerToFloat(Rewriter* r) {
  return Scaled(r, {r->In(0), r->In(1), r->In(4), r->In(5)}, r->In(2), r->In(3),
                r->In(6));
}

bool DynamicQuantizeMatMul(Rewriter* r) {
  const std::string q = r->Op("DynamicQuantizeLinear", {r->In(0)});
  const std::string scale = r->nodes.back().output(1), zero = r->nodes.back().output(2);
  return Scaled(r, {q, r->In(1), zero, r->In(3)}, scale, r->In(2), r->In(4));
}

// Which of two quantised operands, by real numbers.
bool QLinearWhere(Rewriter* r) {
  if (!r->Has(8)) return false;
  const std::string a = r->Op("DequantizeLinear", {r->In(1), r->In(2), r->In(3)}),
                    b = r->Op("DequantizeLinear", {r->In(4), r->In(5), r->In(6)});
  const std::string real = r->Op("Where", {r->In(0), a, b});
  r->Finish(0, r->Op("QuantizeLinear", {real, r->In(7), r->In(8)}));
  return true;
}

// Transposed operands of FusedMatMul, of which the inference does not know.
bool FusedMatMul(Rewriter* r) {
  if (r->Int("transBatchA", 0) != 0 || r->Int("transBatchB", 0) != 0) return false;
  onnx::NodeProto product = r->node;
  for (int i = 0; i < 2; ++i) {
    if (r->Int(i == 0 ? "transA" : "transB", 0) == 0) continue;
    Shape perm;
    const size_t rank = r->Shape(r->In(i)).size();
    if (rank < 2) return false;
    for (size_t a = 0; a < rank; ++a) perm.push_back(static_cast<int64_t>(a));
    std::swap(perm[rank - 1], perm[rank - 2]);
    product.set_input(i, r->Transposed(r->In(i), perm));
  }
  for (auto& attribute : *product.mutable_attribute()) {
    if (attribute.name() != "alpha") attribute.set_i(0);
  }
  if (r->nodes.empty()) return false;
  r->nodes.push_back(product);
  return true;
}

bool BiasedGelu(Rewriter* r) {
  if (!r->Has(1)) return false;
  const std::string sum = r->Op("Add", {r->In(0), r->In(1)});
  r->nodes.push_back(r->node);
  r->nodes.back().clear_input();
  r->nodes.back().add_input(sum);
  return true;
}

// ---- norms

bool MeanVariance(Rewriter* r) {
  Shape axes = r->Ints("axes");
  if (axes.empty()) axes = {0, 2, 3};
  const std::string x = r->In(0), mean = r->Reduced("ReduceMean", x, axes);
  const std::string square = r->Reduced("ReduceMean", r->Op("Mul", {x, x}), axes);
  const std::string variance = r->Op("Sub", {square, r->Op("Mul", {mean, mean})});
  const std::string spread =
      r->Op("Add", {r->Op("Sqrt", {variance}), r->Real({1e-9f})});
  r->Finish(0, r->Op("Div", {r->Op("Sub", {x, mean}), spread}));
  return true;
}

bool LpNormal(Rewriter* r) {
  const char* sum = r->Int("p", 2) == 1 ? "ReduceL1" : "ReduceL2";
  const std::string size = r->Reduced(sum, r->In(0), {r->Int("axis", -1)});
  r->Finish(0, r->Op("Div", {r->In(0), size}));
  return true;
}

bool GlobalLp(Rewriter* r) {
  const Shape x = r->Shape(r->In(0));
  if (x.size() < 3 || r->Int("p", 2) > 2 || r->Int("p", 2) < 1) return false;
  Shape axes;
  for (size_t i = 2; i < x.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  r->Finish(0,
            r->Reduced(r->Int("p", 2) == 1 ? "ReduceL1" : "ReduceL2", r->In(0), axes));
  return true;
}

// ---- axes that older libraries' inference does not know

bool AxisInside(int64_t* axis, size_t rank) {
  if (*axis < 0) *axis += static_cast<int64_t>(rank);
  return *axis >= 0 && *axis < static_cast<int64_t>(rank);
}

bool PadAxes(Rewriter* r) {
  const size_t rank = r->Shape(r->In(0)).size();
  Shape pads, axes;
  if (rank == 0 || !r->Integers(r->In(1), &pads) || !r->Integers(r->In(3), &axes) ||
      pads.size() != 2 * axes.size()) {
    return false;
  }
  Shape all(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!AxisInside(&axes[i], rank)) return false;
    all[static_cast<size_t>(axes[i])] = pads[i];
    all[rank + static_cast<size_t>(axes[i])] = pads[axes.size() + i];
  }
  r->nodes.push_back(r->node);
  onnx::NodeProto& pad = r->nodes.back();
  const std::string whole = r->Whole(all);
  pad.set_input(1, whole);
  pad.set_input(3, "");
  return true;
}

// Scales or sizes of some axes as those of all.
bool ResizeAxes(Rewriter* r) {
  const Shape x = r->Shape(r->In(0));
  Shape axes = r->Ints("axes"), sizes;
  std::vector<float> scales;
  const bool by_size = r->Has(3);
  if (x.empty() || r->Has(1) ||
      r->Text("keep_aspect_ratio_policy", "stretch") != "stretch" ||
      (by_size ? !r->Integers(r->In(3), &sizes) : !r->Floats(r->In(2), &scales)) ||
      (by_size ? sizes.size() : scales.size()) != axes.size()) {
    return false;
  }
  Shape all_sizes = x;
  std::vector<float> all_scales(x.size(), 1.0f);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!AxisInside(&axes[i], x.size())) return false;
    const size_t a = static_cast<size_t>(axes[i]);
    (by_size ? all_sizes[a] : axes[i]) = by_size ? sizes[i] : axes[i];
    if (!by_size) all_scales[a] = scales[i];
  }
  const std::string whole = by_size
                                ? r->Whole(all_sizes)
                                : r->Real(all_scales, {static_cast<int64_t>(x.size())});
  r->nodes.push_back(r->node);
  onnx::NodeProto& resize = r->nodes.back();
  resize.set_input(by_size ? 3 : 2, whole);
  auto* attributes = resize.mutable_attribute();
  for (int i = attributes->size(); i-- > 0;) {
    if (attributes->Get(i).name() == "axes") attributes->DeleteSubrange(i, 1);
  }
  return true;
}

// ---- all of them

using Rewrite = bool (*)(Rewriter*);

struct Row {
  const char* op;
  Rewrite rewrite;
};

int AxesOfWindow(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "kernel_shape") return attribute.ints_size();
  }
  return 0;
}
bool IsConvolution(const std::string& op) {
  return op == "Conv" || op == "QLinearConv" || op == "ConvInteger";
}

// nullptr: an operator that stays.
Rewrite RowOf(const onnx::NodeProto& node) {
  static const Row kOnnx[] = {{"Attention", RewriteAttention},
                              {"RotaryEmbedding", RewriteRotation},
                              {"MeanVarianceNormalization", MeanVariance},
                              {"LpNormalization", LpNormal},
                              {"GlobalLpPool", GlobalLp},
                              {"If", RewriteIf},
                              {"Loop", RewriteLoop}};
  static const Row kRuntime[] = {{"MatMulIntegerToFloat", MatMulIntegerToFloat},
                                 {"DynamicQuantizeMatMul", DynamicQuantizeMatMul},
                                 {"QLinearWhere", QLinearWhere},
                                 {"MatMulNBits", RewriteBits},
                                 {"Attention", RewriteOldAttention},
                                 {"QAttention", RewriteOldAttention},
                                 {"MultiHeadAttention", RewriteManyHeads},
                                 {"GroupQueryAttention", RewriteGroups},
                                 {"RotaryEmbedding", RewriteRotation},
                                 {"FusedMatMul", FusedMatMul},
                                 {"FastGelu", BiasedGelu}};
  if (node.domain() == "com.microsoft") {
    for (const Row& row : kRuntime) {
      if (node.op_type() == row.op) return row.rewrite;
    }
  }
  if (!IsOnnx(node)) return nullptr;
  for (const Row& row : kOnnx) {
    if (node.op_type() == row.op) return row.rewrite;
  }
  const int windows = AxesOfWindow(node);
  if (windows == 3 && IsConvolution(node.op_type())) return RewriteVolume;
  if (windows == 3 && node.op_type() == "ConvTranspose") return RewriteVolumeTransposed;
  if (windows == 3 && (node.op_type() == "MaxPool" || node.op_type() == "AveragePool"))
    return RewriteVolumePool;
  const bool axes =
      std::any_of(node.attribute().begin(), node.attribute().end(),
                  [](const auto& attribute) { return attribute.name() == "axes"; });
  if (node.op_type() == "Resize" && axes) return ResizeAxes;
  const bool some = node.input_size() > 3 && !node.input(3).empty();
  return node.op_type() == "Pad" && some ? PadAxes : nullptr;
}

// Of inputs and constants; once shapes are inferred, of all values. What the file says about
// others may be of the graph before somebody changed it.
OnnxShapes ShapesIn(const onnx::GraphProto& graph, bool inferred) {
  OnnxShapes shapes;
  for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
    if (list != &graph.input() && !inferred) break;
    for (const auto& info : *list) {
      if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) {
        continue;
      }
      Shape dims;
      bool known = true;
      for (const auto& dim : info.type().tensor_type().shape().dim()) {
        known &= dim.has_dim_value() && dim.dim_value() >= 1;
        dims.push_back(dim.dim_value());
      }
      if (known) shapes[info.name()] = dims;
    }
  }
  for (const auto& tensor : graph.initializer()) {
    shapes[tensor.name()] = {tensor.dims().begin(), tensor.dims().end()};
  }
  return shapes;
}

// Whether a node was taken apart.
bool RewriteOnce(onnx::ModelProto* model, int64_t opset, bool inferred) {
  onnx::GraphProto* graph = model->mutable_graph();
  const OnnxShapes shapes = ShapesIn(*graph, inferred);
  onnx::GraphProto made;
  bool any = false;
  for (int n = 0; n < graph->node_size(); ++n) {
    const Rewrite rewrite = RowOf(graph->node(n));
    if (rewrite != nullptr && graph->node(n).output_size() > 0) {
      Rewriter r(graph, graph->node(n), opset, shapes);
      const int constants = graph->initializer_size();
      if (rewrite(&r)) {
        for (const auto& node : r.nodes) *made.add_node() = node;
        any = true;
        continue;
      }
      graph->mutable_initializer()->DeleteSubrange(
          constants, graph->initializer_size() - constants);
    }
    *made.add_node() = graph->node(n);
  }
  if (any) graph->mutable_node()->Swap(made.mutable_node());
  return any;
}

}  // namespace

void RewriteOnnx(onnx::ModelProto* model) {
  const auto& nodes = model->graph().node();
  const auto has = [&] {
    return std::any_of(nodes.begin(), nodes.end(), [](const onnx::NodeProto& node) {
      return RowOf(node) != nullptr;
    });
  };
  int64_t opset = 13;
  for (const auto& entry : model->opset_import()) {
    if (entry.domain().empty() || entry.domain() == "ai.onnx") opset = entry.version();
  }
  bool inferred = false;
  while (has() && nodes.size() < kMostNodes) {
    if (RewriteOnce(model, opset, inferred)) {
      inferred = false;
      continue;
    }
    if (inferred) return;
    InferOnnxShapes(model);
    inferred = true;
  }
}

}  // namespace sluice::import
