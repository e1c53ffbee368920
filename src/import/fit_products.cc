// SPDX-License-Identifier: Apache-2.0
// Products of int8 activations in the form that a machine's units take: machine_fit.h says
// which. All of it is exact: sums of the same products in another order, in which a zero stands
// where there is none.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "import/machine_fit.h"

namespace sluice::import {
namespace {

int64_t ElementsOf(const Dims& dims) {
  int64_t elements = 1;
  for (const int32_t extent : dims) elements *= extent;
  return elements;
}

int32_t At(const LayerRow& layer, size_t attribute) {
  return attribute < layer.attributes.size() ? layer.attributes[attribute] : 0;
}

// A weight less its zero point.
struct Weight {
  Dims dims;
  std::vector<int16_t> numbers;
};

int8_t Nearest(int number) {
  return static_cast<int8_t>(std::clamp(number, -128, 127));
}
// How many int8 numbers have the sum `number`.
size_t PartsOf(int number) {
  size_t parts = 1;
  while (number < -128 || number > 127) {
    number -= Nearest(number);
    ++parts;
  }
  return parts;
}

// Of a transposed convolution along one axis: output pixel s*a + phase - pad is made of input
// pixels a - t, t < taps, by row s*t + phase of the window.
struct Phases {
  int32_t taps, before, after, count, crop;
};
Phases PhasesOf(int32_t in, int32_t out, int32_t window, int32_t stride, int32_t pad) {
  const int32_t first = pad / stride;
  Phases p = {};
  p.count = (out - 1 + pad) / stride + 1 - first;
  p.after = p.count - in + first;
  p.count += std::max(0, -p.after);
  p.after = std::max(0, p.after);
  p.taps = std::max((window + stride - 1) / stride, p.after + 1);
  p.before = p.taps - 1 - first;
  p.crop = pad - first * stride;
  return p;
}

// The graph and its new layers.
struct Fitting {
  const Units& units;
  GraphWriter& graph;
  std::vector<LayerRow> made = {};
  std::map<std::pair<Extents, int8_t>, uint32_t> filled = {};
};

// ---- parts of the graph

uint32_t New(Fitting* to, const LayerRow& layer, const char* part, Dims dims,
             uint32_t like) {
  const TensorRow row = to->graph.tensors()[like];
  return to->graph.AddTensor(to->graph.name(layer.name) + part, row.dtype,
                             Kind::kIntermediate, std::move(dims), row.zero_point,
                             row.scale);
}
uint32_t Add(Fitting* to, const LayerRow& of, uint16_t op, std::vector<uint32_t> inputs,
             uint32_t output, std::vector<int32_t> attributes = {}) {
  to->made.push_back({of.name, op, std::move(inputs), {output}, std::move(attributes)});
  return output;
}
Bytes ConstantOf(Fitting* to, uint32_t t, size_t element) {
  const TensorRow& row = to->graph.tensors()[t];
  if (row.kind != Kind::kConstant || row.source != 1) return {};
  return to->graph.constants().Whole(
      row.source_offset, static_cast<size_t>(ElementsOf(row.dims)) * element);
}

// The tensor with other extents.
uint32_t Reshaped(Fitting* to, const LayerRow& layer, uint32_t t, const char* part,
                  const Dims& dims) {
  if (to->graph.tensors()[t].dims == dims) return t;
  return Add(to, layer, SLUICE_OP_RESHAPE, {t}, New(to, layer, part, dims, t));
}

// How often a tensor stands in another: seen with the extents `apart` so many times along an
// axis of these, then seen with the extents `whole`. No axes are joined that tiles cut, so that
// boxes stay boxes.
struct Copies {
  size_t times;
  Dims apart;
  size_t axis;
  Dims whole;
};
uint32_t Repeated(Fitting* to, const LayerRow& layer, uint32_t t,
                  const Copies& copies) {
  Dims repeated = copies.apart;
  repeated[copies.axis] *= static_cast<int32_t>(copies.times);
  const uint32_t one = Reshaped(to, layer, t, "/apart", copies.apart);
  const uint32_t all = Add(
      to, layer, SLUICE_OP_CONCAT, std::vector<uint32_t>(copies.times, one),
      New(to, layer, "/repeated", repeated, t), {static_cast<int32_t>(copies.axis)});
  return Reshaped(to, layer, all, "/copies", copies.whole);
}

// ---- constant weights

// The weight's numbers as `parts` int8 numbers each, `inner` by `inner`.
uint32_t AddParts(Fitting* to, const LayerRow& layer, const Weight& weight,
                  size_t parts, int64_t inner, const Dims& dims) {
  const size_t run = static_cast<size_t>(inner), count = weight.numbers.size();
  Bytes bytes(count * parts);
  for (size_t i = 0; i < count; ++i) {
    int left = weight.numbers[i];
    for (size_t part = 0; part < parts; ++part) {
      const int8_t number = Nearest(left);
      left -= number;
      bytes[(i / run * parts + part) * run + i % run] = static_cast<uint8_t>(number);
    }
  }
  const TensorRow row = to->graph.tensors()[layer.inputs[1]];
  return to->graph.AddConstant(to->graph.name(row.name) + "/centred", SLUICE_DTYPE_INT8,
                               dims, bytes.data(), bytes.size());
}

// Lets the layer read each row of its input `parts` times: an axis of the window gets as
// many rows for each.
bool Spread(Fitting* to, LayerRow* layer, size_t parts, Dims* dims, int64_t* inner) {
  const int32_t times = static_cast<int32_t>(parts);
  const uint32_t input = layer->inputs[0];
  const Extents in = Normalised(to->graph.tensors()[input].dims);
  const Dims is = {in[0], in[1], in[2], in[3]};
  std::vector<int32_t>& attributes = layer->attributes;
  // Rows are longer to move than columns, and these than channels of a pixel.
  size_t axis = 1;
  while (axis < 3 && attributes[SLUICE_CONV_DILATION_H + axis - 1] > 1) ++axis;
  const bool rows = layer->op == SLUICE_OP_FULLY_CONNECTED;
  if (rows) axis = 3;
  const bool whole = layer->op == SLUICE_OP_CONV && attributes[SLUICE_CONV_GROUPS] <= 1;
  if (axis == 3 && !whole && !rows) return false;
  Dims copies = is;
  if (int64_t{in[0]} * in[1] > INT32_MAX || int64_t{is[axis]} * times > INT32_MAX)
    return false;
  copies[axis] *= times;
  const Dims apart = axis == 3   ? is
                     : axis == 2 ? Dims{in[0] * in[1], in[2], 1, in[3]}
                                 : Dims{in[0] * in[1], 1, in[2], in[3]};
  layer->inputs[0] = Repeated(to, *layer, input, {parts, apart, axis, copies});
  int32_t& extent = rows ? dims->back() : (*dims)[axis];
  extent *= times;
  *inner = axis == 3   ? dims->back() / times
           : axis == 2 ? dims->back()
                       : int64_t{(*dims)[2]} * dims->back();
  if (axis == 3) return true;
  int32_t& stride = attributes[SLUICE_CONV_STRIDE_H + axis - 1];
  stride = std::max(stride, 1) * times;
  attributes[SLUICE_CONV_PAD_TOP + axis - 1] *= times;
  attributes[SLUICE_CONV_PAD_BOTTOM + axis - 1] *= times;
  return true;
}

bool AddWeighted(Fitting* to, LayerRow layer, const Weight& weight) {
  layer.attributes.resize(SLUICE_CONV_ATTRIBUTES);
  layer.attributes[SLUICE_CONV_WEIGHT_ZERO] = 0;
  size_t parts = 1;
  for (const int16_t number : weight.numbers) parts = std::max(parts, PartsOf(number));
  Dims dims = weight.dims;
  int64_t inner = 1;  // elements of the weight behind the axis on which parts follow
  if (parts > 1 && !Spread(to, &layer, parts, &dims, &inner)) return false;
  layer.inputs[1] = AddParts(to, layer, weight, parts, inner, dims);
  if (!to->units.Takes(NeedsOf(to->graph, layer))) return false;
  to->made.push_back(std::move(layer));
  return true;
}

// ---- transposed convolutions

// [stride_h * stride_w * K, taps, taps, C], the last row of the window first.
Weight PhasesOfWeight(const Weight& from, const Phases (&p)[2],
                      const int32_t (&stride)[2]) {
  const int32_t k = from.dims[0], c = from.dims[3];
  Weight to = {{stride[0] * stride[1] * k, p[0].taps, p[1].taps, c}, {}};
  to.numbers.resize(static_cast<size_t>(ElementsOf(to.dims)));
  for (size_t i = 0; i < from.numbers.size(); ++i) {
    const int32_t at = static_cast<int32_t>(i / static_cast<size_t>(c));
    const int32_t column = at % from.dims[2], row = at / from.dims[2] % from.dims[1],
                  channel = at / from.dims[2] / from.dims[1];
    const int32_t phase = row % stride[0] * stride[1] + column % stride[1],
                  tap_h = p[0].taps - 1 - row / stride[0],
                  tap_w = p[1].taps - 1 - column / stride[1];
    const int64_t place =
        ((int64_t{phase} * k + channel) * p[0].taps + tap_h) * p[1].taps + tap_w;
    to.numbers[static_cast<size_t>(place * c) + i % static_cast<size_t>(c)] =
        from.numbers[i];
  }
  return to;
}

// Pixels of all phases beside each other -> the output.
void Interleave(Fitting* to, const LayerRow& layer, uint32_t t, const Phases (&p)[2],
                const int32_t (&stride)[2]) {
  const uint32_t output = layer.outputs[0];
  const Extents in = Normalised(to->graph.tensors()[t].dims),
                out = Normalised(to->graph.tensors()[output].dims);
  const int32_t wide = stride[1] * out[3];
  if (stride[0] > 1) {
    const Dims apart = {in[0] * in[1], in[2], stride[0], wide},
               rows = {in[0] * in[1], stride[0], in[2], wide};
    t = Add(to, layer, SLUICE_OP_RESHAPE, {t}, New(to, layer, "/apart", apart, output));
    t = Add(to, layer, SLUICE_OP_TRANSPOSE, {t},
            New(to, layer, "/together", rows, output), {0, 2, 1, 3});
  }
  const Dims whole = {in[0], in[1] * stride[0], in[2] * stride[1], out[3]};
  const bool crops = whole[1] != out[1] || whole[2] != out[2];
  t = Add(to, layer, SLUICE_OP_RESHAPE, {t},
          crops ? New(to, layer, "/whole", whole, output) : output);
  if (crops) Add(to, layer, SLUICE_OP_SLICE, {t}, output, {0, p[0].crop, p[1].crop, 0});
}

bool FitTransposed(Fitting* to, const LayerRow& layer, const Weight& weight) {
  if (At(layer, SLUICE_CONV_WEIGHT_LAYOUT) != SLUICE_WEIGHT_LAYOUT_OWN) return false;
  const Extents in = Normalised(to->graph.tensors()[layer.inputs[0]].dims),
                out = Normalised(to->graph.tensors()[layer.outputs[0]].dims);
  const int32_t stride[2] = {std::max(At(layer, SLUICE_CONV_STRIDE_H), 1),
                             std::max(At(layer, SLUICE_CONV_STRIDE_W), 1)};
  Phases p[2];
  for (size_t side = 0; side < 2; ++side) {
    p[side] = PhasesOf(in[1 + side], out[1 + side], weight.dims[1 + side], stride[side],
                       At(layer, SLUICE_CONV_PAD_TOP + side));
  }
  const int64_t phases = int64_t{stride[0]} * stride[1], channels = phases * out[3];
  if (phases > 256 || channels > 65536) return false;
  const Bytes parameters = ConstantOf(to, layer.inputs[2], 4);
  if (parameters.empty()) return false;
  Bytes repeated;
  for (int64_t i = 0; i < phases; ++i)
    repeated.insert(repeated.end(), parameters.begin(), parameters.end());
  LayerRow conv = layer;
  conv.op = SLUICE_OP_CONV;
  conv.inputs[2] = to->graph.AddConstant(
      to->graph.name(layer.name) + "/parameters", SLUICE_DTYPE_INT32,
      {static_cast<int32_t>(channels), 3}, repeated.data(), repeated.size());
  conv.attributes.resize(SLUICE_CONV_ATTRIBUTES);
  for (size_t side = 0; side < 2; ++side) {
    conv.attributes[SLUICE_CONV_STRIDE_H + side] = 1;
    conv.attributes[SLUICE_CONV_DILATION_H + side] = 1;
    conv.attributes[SLUICE_CONV_PAD_TOP + side] = p[side].before;
    conv.attributes[SLUICE_CONV_PAD_BOTTOM + side] = p[side].after;
  }
  conv.attributes[SLUICE_CONV_GROUPS] = 0;
  conv.outputs[0] = New(to, layer, "/phases",
                        {in[0], p[0].count, p[1].count, static_cast<int32_t>(channels)},
                        layer.outputs[0]);
  if (!AddWeighted(to, conv, PhasesOfWeight(weight, p, stride))) return false;
  Interleave(to, layer, conv.outputs[0], p, stride);
  return true;
}

bool FitWeighted(Fitting* to, const LayerRow& layer) {
  const TensorRow row = to->graph.tensors()[layer.inputs[1]];
  const Bytes bytes = ConstantOf(to, layer.inputs[1], 1);
  if (bytes.empty()) return false;
  Weight weight = {row.dims, {}};
  const int zero = At(layer, SLUICE_CONV_WEIGHT_ZERO);
  for (const uint8_t byte : bytes) {
    const int stored =
        row.dtype == SLUICE_DTYPE_INT8 ? static_cast<int8_t>(byte) : byte;
    weight.numbers.push_back(
        static_cast<int16_t>(std::clamp(stored - zero, -383, 383)));
  }
  if (zero < -128 || zero > 255) return false;
  if (layer.op == SLUICE_OP_TRANSPOSED_CONV) return FitTransposed(to, layer, weight);
  const Folded folded = FoldedOf(to->graph, layer);
  if (folded.rows == 0) return AddWeighted(to, layer, weight);
  LayerRow square = layer;
  const Extents in = Normalised(to->graph.tensors()[layer.inputs[0]].dims);
  weight.dims = {1, folded.rows, folded.columns, weight.dims.back()};
  square.inputs[0] = Reshaped(to, layer, layer.inputs[0], "/square",
                              {in[0], folded.rows, folded.columns, in[3]});
  square.attributes.resize(SLUICE_CONV_ATTRIBUTES);
  square.attributes[SLUICE_CONV_STRIDE_H] = square.attributes[SLUICE_CONV_STRIDE_W] = 1;
  return AddWeighted(to, square, weight);
}

// ---- products of two activations

// A constant of these extents, all of whose elements are one number.
uint32_t Filled(Fitting* to, const Extents& extents, int8_t number) {
  const auto [entry, added] = to->filled.emplace(std::make_pair(extents, number), 0);
  if (!added) return entry->second;
  const Dims dims(extents.begin(), extents.end());
  to->graph.NeedRoom(static_cast<uint64_t>(ElementsOf(dims)));
  const Bytes bytes(static_cast<size_t>(ElementsOf(dims)),
                    static_cast<uint8_t>(number));
  return entry->second =
             to->graph.AddConstant("filled/" + std::to_string(number),
                                   SLUICE_DTYPE_INT8, dims, bytes.data(), bytes.size());
}

bool FitMatmul(Fitting* to, LayerRow layer) {
  const uint32_t a = layer.inputs[0], b = layer.inputs[1];
  layer.attributes.resize(SLUICE_MATMUL_ATTRIBUTES);
  int32_t& zero = layer.attributes[SLUICE_MATMUL_B_ZERO];
  if (zero < -128 || zero > 127) return false;
  Extents first = Normalised(to->graph.tensors()[a].dims),
          second = Normalised(to->graph.tensors()[b].dims);
  const int32_t axis = At(layer, SLUICE_MATMUL_TRANSPOSE_B) != 0 ? 3 : 2;
  std::vector<uint32_t> as = {a}, bs = {b};
  for (int left = -zero; left != 0; left -= Nearest(left)) {
    as.push_back(a);
    bs.push_back(Filled(to, second, Nearest(left)));
  }
  zero = 0;
  const int64_t times = static_cast<int64_t>(as.size());
  if (first[3] * times > INT32_MAX) return false;
  first[3] *= static_cast<int32_t>(times);
  second[static_cast<size_t>(axis)] *= static_cast<int32_t>(times);
  layer.inputs[0] = Add(to, layer, SLUICE_OP_CONCAT, as,
                        New(to, layer, "/a", {first.begin(), first.end()}, a), {3});
  layer.inputs[1] =
      Add(to, layer, SLUICE_OP_CONCAT, bs,
          New(to, layer, "/b", {second.begin(), second.end()}, b), {axis});
  to->made.push_back(std::move(layer));
  return true;
}

bool Fit(Fitting* to, const LayerRow& layer) {
  const bool matmul = layer.op == SLUICE_OP_BATCH_MATMUL;
  for (const uint32_t t :
       {layer.inputs[0], layer.outputs[0], layer.inputs[matmul ? 1 : 0]}) {
    if (to->graph.tensors()[t].dtype == SLUICE_DTYPE_UINT8) return false;
  }
  const GraphWriter::Mark mark = to->graph.Now();
  const size_t made = to->made.size();
  if (matmul ? FitMatmul(to, layer) : FitWeighted(to, layer)) return true;
  to->graph.Rewind({mark.tensors, to->graph.layers().size(), mark.data});
  to->made.resize(made);
  return false;
}

}  // namespace

void FitProducts(const Units& units, GraphWriter* graph) {
  Fitting to = {units, *graph};
  const std::vector<LayerRow> layers = graph->layers();
  for (const LayerRow& layer : layers) {
    if (!IsToFit(units, *graph, layer) || !Fit(&to, layer)) to.made.push_back(layer);
  }
  graph->SetLayers(std::move(to.made));
}

}  // namespace sluice::import
