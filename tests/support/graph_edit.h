// SPDX-License-Identifier: Apache-2.0
// Graphs taken apart, changed as a network's author would, and put together again.
//
// Input   graph.fbs bytes; a layer to change
// Output  false where the edit does not apply to that layer; the spec is then as before
// Cost    linear in the graph. Users link sluice_wire.
#ifndef SLUICE_TESTS_SUPPORT_GRAPH_EDIT_H_
#define SLUICE_TESTS_SUPPORT_GRAPH_EDIT_H_

#include "support/wire_builder.h"

namespace sluice_test {

inline GraphSpec SpecOf(const Bytes& bytes) {
  const sluice::wire::Graph* g = sluice::wire::GetGraph(bytes.data());
  GraphSpec spec;
  for (uint32_t t = 0; t < g->tensor_dtype()->size(); ++t) {
    TensorSpec s;
    for (uint32_t d = g->tensor_dim_begin()->Get(t);
         d < g->tensor_dim_begin()->Get(t + 1); ++d) {
      s.dims.push_back(g->tensor_dims()->Get(d));
    }
    s.dtype = g->tensor_dtype()->Get(t);
    s.kind = g->tensor_kind()->Get(t);
    if (g->tensor_source() != nullptr) s.source = g->tensor_source()->Get(t);
    if (g->tensor_source_offset() != nullptr) {
      s.source_offset = g->tensor_source_offset()->Get(t);
    }
    spec.tensors.push_back(s);
  }
  for (uint32_t l = 0; l < g->layer_op()->size(); ++l) {
    LayerSpec s;
    s.op = g->layer_op()->Get(l);
    for (uint32_t i = g->layer_input_begin()->Get(l);
         i < g->layer_input_begin()->Get(l + 1); ++i) {
      s.inputs.push_back(g->layer_inputs()->Get(i));
    }
    for (uint32_t i = g->layer_output_begin()->Get(l);
         i < g->layer_output_begin()->Get(l + 1); ++i) {
      s.outputs.push_back(g->layer_outputs()->Get(i));
    }
    for (uint32_t i = g->layer_attribute_begin()->Get(l);
         i < g->layer_attribute_begin()->Get(l + 1); ++i) {
      s.attributes.push_back(g->layer_attributes()->Get(i));
    }
    spec.layers.push_back(s);
  }
  if (g->data() != nullptr) spec.data.assign(g->data()->begin(), g->data()->end());
  for (uint32_t p = 0; g->parameter_min() != nullptr && p < g->parameter_min()->size();
       ++p) {
    spec.parameters.push_back({g->parameter_min()->Get(p), g->parameter_max()->Get(p)});
  }
  return spec;
}

inline size_t Readers(const GraphSpec& spec, uint32_t tensor) {
  size_t n = 0;
  for (const LayerSpec& l : spec.layers) {
    n += static_cast<size_t>(std::count(l.inputs.begin(), l.inputs.end(), tensor));
  }
  return n;
}

// A convolution with inline parameters and with seeded weights that no other layer
// reads.
inline bool IsPlainConv(const GraphSpec& spec, size_t layer) {
  const LayerSpec& l = spec.layers[layer];
  return l.op == SLUICE_OP_CONV && l.inputs.size() == 3 &&
         l.attributes.size() > SLUICE_CONV_PAD_RIGHT &&
         (l.attributes.size() <= SLUICE_CONV_GROUPS ||
          l.attributes[SLUICE_CONV_GROUPS] <= 1) &&
         l.attributes[SLUICE_CONV_DILATION_H] <= 1 &&
         spec.tensors[l.inputs[1]].source == 3 &&
         spec.tensors[l.inputs[2]].source == 1 && Readers(spec, l.inputs[1]) == 1;
}

// Changes the window and keeps the output: 1 x 1 becomes 3 x 3, a larger window loses
// two rows and columns.
inline bool ChangeWindow(GraphSpec* spec, size_t layer) {
  if (!IsPlainConv(*spec, layer)) return false;
  LayerSpec& l = spec->layers[layer];
  std::vector<int32_t>& window = spec->tensors[l.inputs[1]].dims;
  const int32_t step = window[1] == 1 && window[2] == 1 ? 2 : -2;
  if (window[1] + step < 1 || window[2] + step < 1) return false;
  for (int pad : {SLUICE_CONV_PAD_TOP, SLUICE_CONV_PAD_LEFT, SLUICE_CONV_PAD_BOTTOM,
                  SLUICE_CONV_PAD_RIGHT}) {
    if (l.attributes[static_cast<size_t>(pad)] + step / 2 < 0) return false;
  }
  window[1] += step;
  window[2] += step;
  for (int pad : {SLUICE_CONV_PAD_TOP, SLUICE_CONV_PAD_LEFT, SLUICE_CONV_PAD_BOTTOM,
                  SLUICE_CONV_PAD_RIGHT}) {
    l.attributes[static_cast<size_t>(pad)] += step / 2;
  }
  return true;
}

// The only layer that reads a tensor; the number of layers if there is no such layer.
inline size_t OnlyReader(const GraphSpec& spec, uint32_t tensor) {
  if (spec.tensors[tensor].kind != 0 || Readers(spec, tensor) != 1) {
    return spec.layers.size();
  }
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    for (uint32_t t : spec.layers[i].inputs) {
      if (t == tensor) return i;
    }
  }
  return spec.layers.size();
}

// Adds (percent > 100) or removes output channels that only one convolution reads.
inline bool ChangeWidth(GraphSpec* spec, size_t layer, int32_t percent) {
  if (!IsPlainConv(*spec, layer)) return false;
  LayerSpec& l = spec->layers[layer];
  const size_t reader = OnlyReader(*spec, l.outputs[0]);
  if (reader == spec->layers.size() || !IsPlainConv(*spec, reader) ||
      spec->layers[reader].inputs[0] != l.outputs[0]) {
    return false;
  }
  int32_t& channels = spec->tensors[l.outputs[0]].dims.back();
  const int32_t to = channels * percent / 100;
  if (to < 1 || to == channels) return false;
  const int32_t from = channels;
  channels = to;
  spec->tensors[l.inputs[1]].dims[0] = to;
  // The new channels repeat the bias, multiplier and shift of the old ones.
  while (spec->data.size() % 16 != 0) spec->data.push_back(0);
  TensorSpec parameters = spec->tensors[l.inputs[2]];
  const size_t rows = parameters.source_offset;
  parameters.source_offset = spec->data.size();
  parameters.dims[0] = to;
  for (int32_t k = 0; k < to; ++k) {
    for (size_t i = 0; i < 12; ++i) {
      spec->data.push_back(spec->data[rows + 12 * static_cast<size_t>(k % from) + i]);
    }
  }
  spec->tensors.push_back(parameters);
  l.inputs[2] = static_cast<uint32_t>(spec->tensors.size() - 1);
  spec->tensors[spec->layers[reader].inputs[1]].dims[3] = to;
  return true;
}

// Adds a requantisation behind the layer.
inline bool InsertLayer(GraphSpec* spec, size_t layer) {
  const uint32_t t = spec->layers[layer].outputs[0];
  const uint8_t kind = spec->tensors[t].kind;
  if (spec->tensors[t].dtype != SLUICE_DTYPE_INT8 || kind > 2 || kind == 1)
    return false;
  if (spec->layers[layer].op == SLUICE_OP_STATE_APPEND) return false;
  const uint32_t added = static_cast<uint32_t>(spec->tensors.size());
  spec->tensors.push_back(spec->tensors[t]);
  spec->tensors[t].kind = 0;
  for (LayerSpec& l : spec->layers) {
    for (uint32_t& in : l.inputs) {
      if (in == t) in = added;
    }
  }
  LayerSpec inserted;
  inserted.op = SLUICE_OP_REQUANTIZE;
  inserted.inputs = {t};
  inserted.outputs = {added};
  inserted.attributes = {0, 1 << 30, 1, 0, -128, 127};
  spec->layers.insert(spec->layers.begin() + static_cast<ptrdiff_t>(layer) + 1,
                      inserted);
  return true;
}

// Removes a layer. Its readers then read the tensor that it read.
inline bool RemoveLayer(GraphSpec* spec, size_t layer) {
  const LayerSpec l = spec->layers[layer];
  if (l.outputs.size() != 1 || l.inputs.empty()) return false;
  const uint32_t from = l.inputs[0];
  const uint32_t to = l.outputs[0];
  if (spec->tensors[to].kind != 0 || spec->tensors[from].kind == 3 ||
      spec->tensors[from].dims != spec->tensors[to].dims ||
      spec->tensors[from].dtype != spec->tensors[to].dtype) {
    return false;
  }
  // Tensors that no layer writes or reads any more are removed, too.
  std::vector<bool> gone(spec->tensors.size(), false);
  gone[to] = true;
  for (size_t i = 1; i < l.inputs.size(); ++i) {
    const uint32_t t = l.inputs[i];
    if (t == SLUICE_NONE || t == from) continue;
    if (spec->tensors[t].kind != 3) return false;
    if (Readers(*spec, t) == 1) gone[t] = true;
  }
  spec->layers.erase(spec->layers.begin() + static_cast<ptrdiff_t>(layer));
  std::vector<uint32_t> number(spec->tensors.size());
  std::vector<TensorSpec> tensors;
  for (size_t t = 0; t < spec->tensors.size(); ++t) {
    number[t] = static_cast<uint32_t>(tensors.size());
    if (!gone[t]) tensors.push_back(spec->tensors[t]);
  }
  number[to] = number[from];
  spec->tensors = tensors;
  for (LayerSpec& k : spec->layers) {
    for (uint32_t& t : k.inputs) t = t == SLUICE_NONE ? t : number[t];
    for (uint32_t& t : k.outputs) t = number[t];
  }
  return true;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_GRAPH_EDIT_H_
