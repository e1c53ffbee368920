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

bool AxisInside(int64_t* axis, size_t rank) {
  if (*axis < 0) *axis += static_cast<int64_t>(rank);
  return *axis >= 0 && *axis < static_cast<int64_t>(rank);
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

// A normalised sum that is also a result: the sum, and what is made of it.
bool SkipNormal(Rewriter* r) {
  const bool mean = r->node.op_type() == "SkipLayerNormalization";
  const int bias = mean ? 4 : 3;
  if (!r->Gives(3) || r->Gives(1) || r->Gives(2)) return false;
  std::string sum = r->Op("Add", {r->In(0), r->In(1)});
  if (r->Has(bias)) sum = r->Op("Add", {sum, r->In(bias)});
  onnx::NodeProto node = r->node;
  node.clear_domain();
  node.set_op_type(mean ? "LayerNormalization" : "SimplifiedLayerNormalization");
  node.clear_input();
  node.add_input(sum);
  node.add_input(r->In(2));
  if (mean && r->Has(3)) node.add_input(r->In(3));
  node.clear_output();
  node.add_output(r->node.output(0));
  r->nodes.push_back(node);
  r->Finish(3, sum);
  return true;
}

// By real numbers, as the import does not turn a constant of integers round.
bool TurnedGemm(Rewriter* r) {
  const auto real = [&](int first, int64_t axis) {
    std::vector<std::string> parts = {r->In(first), r->In(first + 1)};
    if (r->Has(first + 2)) parts.push_back(r->In(first + 2));
    return r->Op("DequantizeLinear", parts, {{"axis", {axis}}});
  };
  const std::string a = real(0, 1), b = real(3, 0);
  std::string y =
      r->Op("Gemm", {a, b}, {{"transA", {r->Int("transA", 0)}}, {"transB", {1}}});
  if (r->Has(6)) {
    const std::string bias =
        r->Op("Cast", {r->In(6)}, {{"to", {onnx::TensorProto::FLOAT}}});
    y = r->Op("Add", {y, r->Op("Mul", {bias, r->Op("Mul", {r->In(1), r->In(4)})})});
  }
  r->Finish(0, r->Op("Mul", {y, r->Real({r->Float("alpha", 1)})}));
  return true;
}

// QGemm whose result stays a float.
bool FloatGemm(Rewriter* r) {
  if (r->Has(7)) return false;
  if (r->Int("transB", 0) != 0) return TurnedGemm(r);
  std::vector<std::string> operands;
  const std::string x = r->In(0);
  operands.push_back(r->Int("transA", 0) != 0 ? r->Transposed(x, {1, 0}) : x);
  operands.push_back(r->In(3));
  for (const int zero : {2, 5}) operands.push_back(r->In(zero));
  while (operands.back().empty()) operands.pop_back();
  std::string sums = r->Op("MatMulInteger", operands);
  if (r->Has(6)) sums = r->Op("Add", {sums, r->In(6)});
  const std::string real = r->Op("Cast", {sums}, {{"to", {onnx::TensorProto::FLOAT}}});
  // In the runtime's order, since each product is rounded.
  const float alpha = r->Float("alpha", 1);
  const std::string a =
      alpha == 1 ? r->In(1) : r->Op("Mul", {r->Real({alpha}), r->In(1)});
  r->Finish(0, r->Op("Mul", {real, r->Op("Mul", {a, r->In(4)})}));
  return true;
}

// An operator on pictures with channels last as ONNX's, which has them second.
bool ChannelsSecond(Rewriter* r, const char* op) {
  const size_t rank = r->Shape(r->In(0)).size();
  if (rank < 3) return false;
  Shape there = {0, static_cast<int64_t>(rank) - 1}, back = {0};
  for (size_t a = 1; a + 1 < rank; ++a) there.push_back(static_cast<int64_t>(a));
  for (size_t a = 2; a < rank; ++a) back.push_back(static_cast<int64_t>(a));
  back.push_back(1);
  const std::string x = r->Transposed(r->In(0), there);
  onnx::NodeProto node = r->node;
  node.set_domain("");
  node.set_op_type(op);
  node.set_input(0, x);
  node.set_output(0, r->node.output(0) + "/second");
  auto* attributes = node.mutable_attribute();
  for (int i = attributes->size(); i-- > 0;)
    if (attributes->Get(i).name() == "channels_last") attributes->DeleteSubrange(i, 1);
  r->nodes.push_back(node);
  r->Finish(0, r->Transposed(node.output(0), back));
  return true;
}
bool LastMaxPool(Rewriter* r) { return ChannelsSecond(r, "MaxPool"); }
bool LastQLinearConv(Rewriter* r) {
  if (r->Int("channels_last", 0) != 0) return ChannelsSecond(r, "QLinearConv");
  onnx::NodeProto node = r->node;
  node.set_domain("");
  r->nodes.push_back(node);
  return true;
}

// GatherElements of a list: of a tensor with one axis longer than 1.
bool ElementsGathered(Rewriter* r) {
  const Shape data = r->Shape(r->In(0)), which = r->Shape(r->In(1));
  int64_t axis = r->Int("axis", 0);
  if (data.empty() || which.size() != data.size() || !AxisInside(&axis, data.size()) ||
      r->Constant(r->In(1)) != nullptr) {
    return false;
  }
  for (size_t a = 0; a < data.size(); ++a) {
    if (static_cast<int64_t>(a) != axis && (data[a] != 1 || which[a] != 1))
      return false;
  }
  const std::string list = r->Reshape(r->In(0), {data[static_cast<size_t>(axis)]});
  r->Finish(0, r->Op("Gather", {list, r->In(1)}, {{"axis", {0}}}));
  return true;
}

// Rows of a table of few bits in blocks along a row, each of which has a scale.
bool BlocksGathered(Rewriter* r) {
  const int64_t block = r->Int("block_size", 128), bits = r->Int("bits", 4);
  onnx::TensorProto* table = r->Constant(r->In(0));
  const Shape scales = r->Shape(r->In(2)), rows = r->Shape(r->In(1));
  const int64_t axis = r->Int("quantize_axis", 1);
  if (table == nullptr || scales.size() != 2 || table->dims_size() != 2 ||
      rows.empty() || r->Int("gather_axis", 0) != 0 || (axis != 1 && axis != -1) ||
      block < 2) {
    return false;
  }
  // Packed bytes become numbers; the extents are those of numbers then.
  const bool packed = table->data_type() == onnx::TensorProto::UINT8 && bits != 8;
  const auto unpack = [&](onnx::TensorProto* tensor) {
    if (!packed || tensor->data_type() != onnx::TensorProto::UINT8) return;
    tensor->set_data_type(bits == 2 ? 25 : 21);
    tensor->set_dims(1, tensor->dims(1) * 8 / bits);
  };
  if (packed && bits != 4 && bits != 2) return false;
  unpack(table);
  const int64_t width = table->dims(1), blocks = scales[1];
  onnx::TensorProto* zero = r->Constant(r->In(3));
  if (width != blocks * block || (r->Has(3) && zero == nullptr)) return false;
  if (zero != nullptr) unpack(zero);
  if (zero != nullptr && zero->dims(1) != blocks) return false;
  const bool is_signed = table->data_type() == 22 || table->data_type() == 3;
  const auto real = [&](const std::string& name, int type, Shape dims) {
    onnx::TensorProto* none = r->NewConstant();
    none->set_data_type(type);
    none->add_int32_data(0);
    const std::string at = none->name();
    const std::string picked =
        r->Op("Gather", {r->Op("DequantizeLinear", {name, r->Real({1}), at}), r->In(1)},
              {{"axis", {0}}});
    return r->Reshape(picked, dims);
  };
  Shape inside = rows, each = rows, whole = rows;
  inside.insert(inside.end(), {blocks, block});
  each.insert(each.end(), {blocks, 1});
  whole.push_back(width);
  std::string x = real(r->In(0), table->data_type(), inside);
  const float middle = is_signed || table->data_type() == 21
                           ? 0.0f
                           : static_cast<float>(1 << (bits - 1));
  if (zero != nullptr) {
    x = r->Op("Sub", {x, real(r->In(3), zero->data_type(), each)});
  } else if (packed || middle != 0) {
    x = r->Op("Sub", {x, r->Real({static_cast<float>(1 << (bits - 1))})});
  }
  const std::string scale =
      r->Reshape(r->Op("Gather", {r->In(2), r->In(1)}, {{"axis", {0}}}), each);
  r->Finish(0, r->Reshape(r->Op("Mul", {x, scale}), whole));
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

// Sums of powers under windows: averages with the pads, times the window's elements.
bool WindowLp(Rewriter* r) {
  const int64_t power = r->Int("p", 2);
  const Shape window = r->Ints("kernel_shape");
  if ((power != 1 && power != 2) || window.empty() || r->Int("ceil_mode", 0) != 0)
    return false;
  for (const int64_t dilation : r->Ints("dilations")) {
    if (dilation != 1) return false;
  }
  const std::string x = r->In(0);
  const std::string powers = power == 1 ? r->Op("Abs", {x}) : r->Op("Mul", {x, x});
  onnx::NodeProto node = r->node;
  const std::string made = r->node.output(0) + "/averages";
  node.set_op_type("AveragePool");
  node.set_name(made);
  node.set_input(0, powers);
  node.set_output(0, made);
  auto* attributes = node.mutable_attribute();
  for (int i = attributes->size(); i-- > 0;) {
    const std::string& name = attributes->Get(i).name();
    if (name == "p" || name == "dilations" || name == "ceil_mode")
      attributes->DeleteSubrange(i, 1);
  }
  onnx::AttributeProto* pads = node.add_attribute();
  pads->set_name("count_include_pad");
  pads->set_type(onnx::AttributeProto::INT);
  pads->set_i(1);
  r->nodes.push_back(node);
  float elements = 1;
  for (const int64_t extent : window) elements *= static_cast<float>(extent);
  const std::string sums = r->Op("Mul", {made, r->Real({elements})});
  r->Finish(0, power == 1 ? r->Op("Identity", {sums}) : r->Op("Sqrt", {sums}));
  return true;
}

// ---- axes that older libraries' inference does not know

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
  const char* stays;  // with what the operator cannot be taken apart
};

constexpr char kHeads[] =
    "other heads, masks or caches than the guide names, or extents that are not known: "
    "give --dim, or export attention as single operators";
constexpr char kSignal[] =
    "a length that is computed at run time or above 16,384, or complex results cut in "
    "half: "
    "export the model with constants";

int AxesOfWindow(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "kernel_shape") return attribute.ints_size();
  }
  return 0;
}
bool IsConvolution(const std::string& op) {
  return op == "Conv" || op == "QLinearConv" || op == "ConvInteger";
}

constexpr Row kOnnx[] = {
    {"Attention", RewriteAttention, kHeads},
    {"RotaryEmbedding", RewriteRotation, kHeads},
    {"MeanVarianceNormalization", MeanVariance, ""},
    {"LpNormalization", LpNormal, ""},
    {"GlobalLpPool", GlobalLp, "p of other than 1 or 2"},
    {"LpPool", WindowLp,
     "p of other than 1 or 2, dilations, or windows that are cut off"},
    {"GatherElements", ElementsGathered,
     "indices that are computed at run time, of more than one axis"},
    {"DFT", RewriteFourier, kSignal},
    {"STFT", RewriteShortFourier, kSignal},
    {"HannWindow", RewriteHann, kSignal},
    {"HammingWindow", RewriteHamming, kSignal},
    {"BlackmanWindow", RewriteBlackman, kSignal},
    {"MelWeightMatrix", RewriteMel, kSignal},
    {"DeformConv", RewriteDeformed, "extents that are not known, or that do not fit"},
    {"If", RewriteIf,
     "a condition that only the run tells, with branches of different extents: export "
     "the "
     "branch that is used"},
    {"Loop", RewriteLoop,
     "a length that is computed at run time or above 64, or an end that depends on "
     "numbers: "
     "write the loop out before export"},
    {"Scan", RewriteScan,
     "more than 64 runs, or other axes than the first: write the loop out before "
     "export"}};
constexpr Row kRuntime[] = {
    {"MatMulIntegerToFloat", MatMulIntegerToFloat, ""},
    {"DynamicQuantizeMatMul", DynamicQuantizeMatMul, ""},
    {"QLinearWhere", QLinearWhere, ""},
    {"QGemm", FloatGemm, "scales or zero points that are computed at run time"},
    {"QLinearConv", LastQLinearConv, "a rank that is not known"},
    {"NhwcMaxPool", LastMaxPool, "a rank that is not known"},
    {"GatherBlockQuantized", BlocksGathered,
     "a table that is no constant of two axes, or blocks along another axis than the "
     "last"},
    {"MatMulNBits", RewriteBits,
     "weights of other than 2, 4 or 8 bits or computed at run time, scales that are no "
     "constant float32, or an order of groups (g_idx): quantise without it"},
    {"Attention", RewriteOldAttention, kHeads},
    {"QAttention", RewriteOldAttention, kHeads},
    {"MultiHeadAttention", RewriteManyHeads, kHeads},
    {"GroupQueryAttention", RewriteGroups, kHeads},
    {"RotaryEmbedding", RewriteRotation, kHeads},
    {"FusedMatMul", FusedMatMul, "batches that are transposed"},
    {"SkipLayerNormalization", SkipNormal, ""},
    {"SkipSimplifiedLayerNormalization", SkipNormal, ""},
    {"FastGelu", BiasedGelu, ""}};

// nullptr: an operator that stays.
Rewrite RowOf(const onnx::NodeProto& node) {
  if (node.domain() == "com.microsoft") {
    for (const Row& row : kRuntime) {
      if (node.op_type() == row.op) return row.rewrite;
    }
  }
  if (!IsOnnx(node)) return nullptr;
  for (const Row& row : kOnnx) {
    if (node.op_type() == row.op) return row.rewrite;
  }
  int windows = AxesOfWindow(node);
  // Without its extents a convolution has those of its weight, which are known later.
  const bool silent = windows == 0 && IsConvolution(node.op_type());
  if (silent && node.output_size() > 0) return RewriteVolume;
  if (node.op_type() == "ConvTranspose") {
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "group" && attribute.i() > 1 && windows == 2)
        return RewriteGroupsTransposed;
    }
  }
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

const char* WhyOnnxStays(const std::string& op) {
  for (const Row& row : kOnnx) {
    if (op == row.op) return row.stays;
  }
  for (const Row& row : kRuntime) {
    if (op == std::string("com.microsoft.") + row.op) return row.stays;
  }
  return nullptr;
}

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
