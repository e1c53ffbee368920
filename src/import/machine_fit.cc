// SPDX-License-Identifier: Apache-2.0
#include "import/machine_fit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "import/error.h"
#include "import/graph_check.h"
#include "sluice/hardware_generated.h"

namespace sluice::import {
namespace {

constexpr uint32_t kInt8 = 1u << SLUICE_DTYPE_INT8, kUint8 = 1u << SLUICE_DTYPE_UINT8;

// The products, where their lists of attributes have zero points, and what they become.
struct Product {
  uint16_t op;
  size_t first, second, output;
  bool slides;  // a window over an image
  uint16_t fitted;
};
constexpr size_t kIn = SLUICE_CONV_INPUT_ZERO, kBy = SLUICE_CONV_WEIGHT_ZERO,
                 kOut = SLUICE_CONV_OUTPUT_ZERO;
constexpr Product kProducts[] = {
    {SLUICE_OP_CONV, kIn, kBy, kOut, true, SLUICE_OP_CONV},
    {SLUICE_OP_DEPTHWISE_CONV, kIn, kBy, kOut, true, SLUICE_OP_DEPTHWISE_CONV},
    {SLUICE_OP_TRANSPOSED_CONV, kIn, kBy, kOut, true, SLUICE_OP_CONV},
    {SLUICE_OP_FULLY_CONNECTED, kIn, kBy, kOut, false, SLUICE_OP_FULLY_CONNECTED},
    {SLUICE_OP_BATCH_MATMUL, SLUICE_MATMUL_A_ZERO, SLUICE_MATMUL_B_ZERO,
     SLUICE_MATMUL_OUTPUT_ZERO, false, SLUICE_OP_BATCH_MATMUL}};

const Product* ProductOf(uint16_t op) {
  const auto* row = std::find_if(std::begin(kProducts), std::end(kProducts),
                                 [&](const Product& p) { return p.op == op; });
  return row == std::end(kProducts) ? nullptr : row;
}

int32_t At(const LayerRow& layer, size_t attribute) {
  return attribute < layer.attributes.size() ? layer.attributes[attribute] : 0;
}

size_t BytesOf(const TensorRow& row) {
  static const size_t kBytes[] = {0,
#define SLUICE_FIT_BYTES(constant, code, bytes, name) bytes,
                                  SLUICE_DTYPES(SLUICE_FIT_BYTES)
#undef SLUICE_FIT_BYTES
  };
  size_t bytes = kBytes[row.dtype];
  for (const int32_t extent : row.dims) bytes *= static_cast<size_t>(extent);
  return bytes;
}

// 0 of a row: any.
bool Exceeds(uint32_t wanted, uint32_t most) { return most != 0 && wanted > most; }

// Whether a zero point is other than 0 when its tensor is signed.
bool HasZero(const GraphWriter& graph, uint32_t tensor, int32_t zero) {
  const bool is_unsigned = graph.tensors()[tensor].dtype == SLUICE_DTYPE_UINT8;
  return zero != (is_unsigned ? 128 : 0);
}

}  // namespace

Units::Units(const Bytes& hardware) {
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  if (TryHardware(hardware, &why) != SLUICE_OK)
    throw Error(Fault::kBadInput, why.message);
  const auto* ops = wire::GetHardware(hardware.data())->ops();
  for (uint32_t i = 0; ops != nullptr && i < ops->size(); ++i) {
    const wire::OpSupport& op = *ops->Get(i);
    if ((op.arithmetic() & 1) == 0) continue;  // no layer is the row's
    const UnitNeeds most = {static_cast<uint16_t>(op.op()),
                            op.dtypes(),
                            op.zero_points(),
                            op.max_kernel_h(),
                            op.max_kernel_w(),
                            op.max_stride(),
                            op.max_dilation()};
    rows_.push_back({most, op.requantise() == 7});
  }
}

bool Units::Takes(const UnitNeeds& needs) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) {
    const UnitNeeds& most = row.most;
    return most.op == needs.op && row.any_scale && (needs.dtypes & ~most.dtypes) == 0 &&
           (needs.zero_points & ~most.zero_points) == 0 &&
           !Exceeds(needs.kernel_h, most.kernel_h) &&
           !Exceeds(needs.kernel_w, most.kernel_w) &&
           !Exceeds(needs.stride, most.stride) &&
           !Exceeds(needs.dilation, most.dilation);
  });
}

bool IsProduct(uint16_t op) { return ProductOf(op) != nullptr; }

UnitNeeds NeedsOf(const GraphWriter& graph, const LayerRow& layer) {
  UnitNeeds needs = {};
  needs.op = layer.op;
  for (const uint32_t t : {layer.inputs[0], layer.inputs[1], layer.outputs[0]})
    needs.dtypes |= 1u << graph.tensors()[t].dtype;
  const Product& product = *ProductOf(layer.op);
  needs.zero_points = (At(layer, product.first) != 0 ? 1u : 0) |
                      (At(layer, product.second) != 0 ? 2u : 0) |
                      (At(layer, product.output) != 0 ? 4u : 0);
  needs.kernel_h = needs.kernel_w = needs.stride = needs.dilation = 1;
  if (!product.slides) return needs;
  const Extents window = Normalised(graph.tensors()[layer.inputs[1]].dims);
  needs.kernel_h = static_cast<uint32_t>(window[1]);
  needs.kernel_w = static_cast<uint32_t>(window[2]);
  const auto most = [&](size_t i) {
    return static_cast<uint32_t>(std::max({At(layer, i), At(layer, i + 1), 1}));
  };
  needs.stride = most(SLUICE_CONV_STRIDE_H);
  needs.dilation = most(SLUICE_CONV_DILATION_H);
  return needs;
}

Folded FoldedOf(const GraphWriter& graph, const LayerRow& layer) {
  if (layer.op != SLUICE_OP_DEPTHWISE_CONV) return {0, 0};
  const Extents in = Normalised(graph.tensors()[layer.inputs[0]].dims),
                window = Normalised(graph.tensors()[layer.inputs[1]].dims);
  if (in[1] != window[1] || in[2] != window[2]) return {0, 0};
  for (size_t i = SLUICE_CONV_DILATION_H; i <= SLUICE_CONV_PAD_RIGHT; ++i) {
    if (At(layer, i) > (i <= SLUICE_CONV_DILATION_W ? 1 : 0)) return {0, 0};
  }
  const int64_t pixels = int64_t{in[1]} * in[2];
  int64_t rows = 1;
  for (int64_t n = 2; n * n <= pixels; ++n) rows = pixels % n == 0 ? n : rows;
  if (pixels / rows >= std::max(in[1], in[2])) return {0, 0};
  return {static_cast<int32_t>(rows), static_cast<int32_t>(pixels / rows)};
}

UnitNeeds FittedNeeds(const GraphWriter& graph, const LayerRow& layer) {
  UnitNeeds needs = NeedsOf(graph, layer);
  if ((needs.dtypes & kUint8) != 0) needs.dtypes = (needs.dtypes & ~kUint8) | kInt8;
  const Product& product = *ProductOf(layer.op);
  needs.zero_points =
      (HasZero(graph, layer.inputs[0], At(layer, product.first)) ? 1u : 0) |
      (HasZero(graph, layer.outputs[0], At(layer, product.output)) ? 4u : 0);
  const Folded folded = FoldedOf(graph, layer);
  if (folded.rows != 0) {
    needs.kernel_h = static_cast<uint32_t>(folded.rows);
    needs.kernel_w = static_cast<uint32_t>(folded.columns);
    needs.stride = 1;
  }
  if (product.fitted != layer.op) needs.stride = 1;
  needs.op = product.fitted;
  return needs;
}

bool IsToFit(const Units& units, const GraphWriter& graph, const LayerRow& layer) {
  return IsProduct(layer.op) && !units.Takes(NeedsOf(graph, layer)) &&
         units.Takes(FittedNeeds(graph, layer));
}

namespace {

// Leaves out tensors that no layer has any more, and the bytes of such constants.
void DropUnused(GraphRows* rows) {
  std::vector<bool> used(rows->tensors.size());
  for (size_t t = 0; t < used.size(); ++t) {
    const Kind kind = rows->tensors[t].kind;
    used[t] = kind != Kind::kIntermediate && kind != Kind::kConstant;
  }
  for (const LayerRow& layer : rows->layers) {
    for (const auto* list : {&layer.inputs, &layer.outputs}) {
      for (const uint32_t t : *list) {
        if (t != kNoTensor) used[t] = true;
      }
    }
  }
  std::vector<uint32_t> place(used.size());
  std::vector<TensorRow> tensors;
  ConstantBytes constants;
  for (size_t t = 0; t < used.size(); ++t) {
    if (!used[t]) continue;
    TensorRow row = std::move(rows->tensors[t]);
    if (row.source == 1) {
      const Bytes bytes = rows->constants.Whole(row.source_offset, BytesOf(row));
      constants.Align(kConstantAlignment);
      row.source_offset = constants.size();
      constants.Copy(bytes.data(), bytes.size());
    }
    place[t] = static_cast<uint32_t>(tensors.size());
    tensors.push_back(std::move(row));
  }
  for (LayerRow& layer : rows->layers) {
    for (auto* list : {&layer.inputs, &layer.outputs}) {
      for (uint32_t& t : *list) {
        if (t != kNoTensor) t = place[t];
      }
    }
  }
  rows->tensors = std::move(tensors);
  rows->constants = std::move(constants);
}

}  // namespace

void FitMachine(const Bytes& hardware, uint64_t most_constant_bytes, GraphRows* rows) {
  const Units units(hardware);
  if (!units.IsPartial()) return;
  CheckGraph(WriteRows(*rows));  // what follows relies on it
  GraphWriter graph(std::move(*rows));
  const bool none =
      std::none_of(graph.layers().begin(), graph.layers().end(),
                   [&](const LayerRow& layer) { return IsToFit(units, graph, layer); });
  if (none) {
    *rows = graph.Take();
    return;
  }
  graph.LimitConstants(most_constant_bytes);
  SignActivations(units, &graph);
  FitProducts(units, &graph);
  *rows = graph.Take();
  DropUnused(rows);
}

}  // namespace sluice::import
