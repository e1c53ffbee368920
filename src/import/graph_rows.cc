// SPDX-License-Identifier: Apache-2.0
#include "import/graph_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "import/error.h"
#include "sluice/graph_generated.h"

namespace sluice::import {
namespace {

constexpr uint64_t kLargestBuffer = (uint64_t{1} << 31) - (1u << 24);

// Flattens a list of lists for flatbuffers: the begin of each list, and all items in
// one vector.
template <typename Item, typename Row>
std::pair<std::vector<uint32_t>, std::vector<Item>> Csr(
    const std::vector<Row>& rows, const std::vector<Item> Row::*list) {
  std::vector<uint32_t> begin = {0};
  std::vector<Item> items;
  for (const Row& row : rows) {
    items.insert(items.end(), (row.*list).begin(), (row.*list).end());
    begin.push_back(static_cast<uint32_t>(items.size()));
  }
  return {std::move(begin), std::move(items)};
}

template <typename Item, typename Row, typename Get>
std::vector<Item> Column(const std::vector<Row>& rows, Get get) {
  std::vector<Item> column;
  column.reserve(rows.size());
  for (const Row& row : rows) column.push_back(static_cast<Item>(get(row)));
  return column;
}

}  // namespace

GraphRows ReadRows(const Bytes& bytes) {
  GraphRows rows;
  const wire::Graph& g = *wire::GetGraph(bytes.data());
  if (g.name() != nullptr) rows.name = g.name()->str();
  for (uint32_t i = 0; g.names() != nullptr && i < g.names()->size(); ++i) {
    rows.names.push_back(g.names()->Get(i)->str());
  }
  const auto part = [](auto* begin, auto* items, uint32_t i, auto* to) {
    for (uint32_t j = begin->Get(i); j < begin->Get(i + 1); ++j) {
      to->push_back(items->Get(j));
    }
  };
  for (uint32_t t = 0; t < g.tensor_dtype()->size(); ++t) {
    const auto get = [t](auto* column, auto missing) {
      return column == nullptr ? missing : column->Get(t);
    };
    TensorRow row = {get(g.tensor_name(), kNoTensor),
                     g.tensor_dtype()->Get(t),
                     static_cast<Kind>(g.tensor_kind()->Get(t)),
                     {},
                     get(g.tensor_zero_point(), int32_t{0}),
                     get(g.tensor_scale(), 0.0f),
                     get(g.tensor_source(), uint8_t{0}),
                     get(g.tensor_source_offset(), uint64_t{0}),
                     kNoTensor};
    row.encoded_bytes = get(g.tensor_encoded_bytes(), uint64_t{0});
    part(g.tensor_dim_begin(), g.tensor_dims(), t, &row.dims);
    if (row.source == 2) throw Error(Fault::kBadArgument, "constants in other files");
    rows.tensors.push_back(std::move(row));
  }
  for (uint32_t l = 0; l < g.layer_op()->size(); ++l) {
    LayerRow row = {g.layer_name() == nullptr ? kNoTensor : g.layer_name()->Get(l),
                    g.layer_op()->Get(l),
                    {},
                    {},
                    {}};
    part(g.layer_input_begin(), g.layer_inputs(), l, &row.inputs);
    part(g.layer_output_begin(), g.layer_outputs(), l, &row.outputs);
    part(g.layer_attribute_begin(), g.layer_attributes(), l, &row.attributes);
    rows.layers.push_back(std::move(row));
  }
  for (uint32_t p = 0; g.parameter_min() != nullptr && p < g.parameter_min()->size();
       ++p) {
    rows.parameters.push_back(
        {g.parameter_name() == nullptr ? kNoTensor : g.parameter_name()->Get(p),
         g.parameter_min()->Get(p), g.parameter_max()->Get(p)});
  }
  if (g.data() != nullptr) {
    rows.constants.Copy(g.data()->data(), g.data()->size());
  }
  return rows;
}

namespace {

// Offsets of vectors that are already written. The builder lays vectors out in the
// order of their creation, and equal graphs must have equal bytes in every version, so
// a column that is added to the format must be created last in its function.
template <typename Item>
using VectorAt = flatbuffers::Offset<flatbuffers::Vector<Item>>;
using Builder = flatbuffers::FlatBufferBuilder;

struct TensorColumns {
  VectorAt<uint32_t> name;
  VectorAt<uint8_t> dtype, kind;
  VectorAt<int32_t> zero_point;
  VectorAt<float> scale;
  VectorAt<uint8_t> source;
  VectorAt<uint64_t> offset;
  VectorAt<uint64_t> encoded;  // null if no tensor is
  VectorAt<uint32_t> file;
};
TensorColumns WriteTensors(const std::vector<TensorRow>& tensors, Builder* builder) {
  const auto column = [&](auto item, auto get) {
    return builder->CreateVector(Column<decltype(item)>(tensors, get));
  };
  TensorColumns at;
  at.name = column(uint32_t{}, [](auto& t) { return t.name; });
  at.dtype = column(uint8_t{}, [](auto& t) { return t.dtype; });
  at.kind = column(uint8_t{}, [](auto& t) { return t.kind; });
  at.zero_point = column(int32_t{}, [](auto& t) { return t.zero_point; });
  at.scale = column(float{}, [](auto& t) { return t.scale; });
  at.source = column(uint8_t{}, [](auto& t) { return t.source; });
  at.offset = column(uint64_t{}, [](auto& t) { return t.source_offset; });
  at.file = column(uint32_t{}, [](auto& t) { return t.source_file; });
  const auto encoded = [](const TensorRow& t) { return t.encoded_bytes; };
  if (std::any_of(tensors.begin(), tensors.end(), encoded)) {
    at.encoded = column(uint64_t{}, encoded);
  }
  return at;
}

template <typename Item>
struct ListColumn {
  VectorAt<uint32_t> begin;
  VectorAt<Item> items;
};
template <typename Item, typename Row>
ListColumn<Item> WriteLists(const std::vector<Row>& rows,
                            const std::vector<Item> Row::*list, Builder* builder) {
  const auto [begin, items] = Csr(rows, list);
  ListColumn<Item> at;
  at.begin = builder->CreateVector(begin);
  at.items = builder->CreateVector(items);
  return at;
}

struct LayerColumns {
  VectorAt<uint32_t> name;
  VectorAt<uint16_t> op;
};
LayerColumns WriteLayers(const std::vector<LayerRow>& layers, Builder* builder) {
  LayerColumns at;
  at.name = builder->CreateVector(
      Column<uint32_t>(layers, [](const LayerRow& l) { return l.name; }));
  at.op = builder->CreateVector(
      Column<uint16_t>(layers, [](const LayerRow& l) { return l.op; }));
  return at;
}

// All null if the graph has no parameters: the file then has none of these fields.
struct ParameterColumns {
  VectorAt<uint32_t> name;
  VectorAt<int32_t> min, max;
};
ParameterColumns WriteParameters(const std::vector<ParameterRow>& parameters,
                                 Builder* builder) {
  ParameterColumns at;
  if (parameters.empty()) return at;
  const auto column = [&](auto item, auto get) {
    return builder->CreateVector(Column<decltype(item)>(parameters, get));
  };
  at.name = column(uint32_t{}, [](auto& p) { return p.name; });
  at.min = column(int32_t{}, [](auto& p) { return p.min; });
  at.max = column(int32_t{}, [](auto& p) { return p.max; });
  return at;
}

}  // namespace

namespace {

constexpr size_t kLengthBytes = 4;  // of a vector, in front of its items

uint64_t Padded(uint64_t bytes) {
  return (bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
}

// Writes all but the constants: a vector without items, which is the last thing of the
// buffer. With the constants and zeros up to their alignment behind it, the buffer is
// what it would be if they had been written first.
void WriteHead(const GraphRows& rows, Builder* to) {
  if (rows.constants.size() > kLargestBuffer) {
    throw Error(Fault::kBadInput, "the constants need " +
                                      std::to_string(rows.constants.size()) +
                                      " bytes; one graph file holds less than 2 GiB");
  }
  Builder& builder = *to;
  // The buffer begins at their alignment, too.
  if (rows.constants.size() != 0) {
    builder.ForceVectorAlignment(kConstantAlignment, 1, kConstantAlignment);
  }
  const auto data = builder.CreateVector(std::vector<uint8_t>());
  const auto name = builder.CreateString(rows.name);
  std::vector<flatbuffers::Offset<flatbuffers::String>> name_offsets;
  for (const std::string& text : rows.names) {
    name_offsets.push_back(builder.CreateString(text));
  }
  const auto names = builder.CreateVector(name_offsets);
  const TensorColumns tensors = WriteTensors(rows.tensors, &builder);
  const LayerColumns layers = WriteLayers(rows.layers, &builder);
  const auto dims = WriteLists(rows.tensors, &TensorRow::dims, &builder);
  const auto inputs = WriteLists(rows.layers, &LayerRow::inputs, &builder);
  const auto outputs = WriteLists(rows.layers, &LayerRow::outputs, &builder);
  const auto attributes = WriteLists(rows.layers, &LayerRow::attributes, &builder);
  const ParameterColumns parameters = WriteParameters(rows.parameters, &builder);

  wire::GraphBuilder graph(builder);
  graph.add_name(name);
  graph.add_names(names);
  graph.add_tensor_name(tensors.name);
  graph.add_tensor_dtype(tensors.dtype);
  graph.add_tensor_kind(tensors.kind);
  graph.add_tensor_dim_begin(dims.begin);
  graph.add_tensor_dims(dims.items);
  graph.add_tensor_zero_point(tensors.zero_point);
  graph.add_tensor_scale(tensors.scale);
  graph.add_tensor_source(tensors.source);
  graph.add_tensor_source_offset(tensors.offset);
  graph.add_tensor_source_file(tensors.file);
  graph.add_data(data);
  graph.add_layer_name(layers.name);
  graph.add_layer_op(layers.op);
  graph.add_layer_input_begin(inputs.begin);
  graph.add_layer_inputs(inputs.items);
  graph.add_layer_output_begin(outputs.begin);
  graph.add_layer_outputs(outputs.items);
  graph.add_layer_attribute_begin(attributes.begin);
  graph.add_layer_attributes(attributes.items);
  graph.add_parameter_name(parameters.name);
  graph.add_parameter_min(parameters.min);
  graph.add_parameter_max(parameters.max);
  graph.add_tensor_encoded_bytes(tensors.encoded);
  wire::FinishGraphBuffer(builder, graph.Finish());
}

// Writes the head and the constants' number. Returns where the constants begin.
uint8_t* PlaceHead(const Builder& head, uint64_t constants, uint8_t* out) {
  std::memcpy(out, head.GetBufferPointer(), head.GetSize());
  uint8_t* const data = out + head.GetSize();
  flatbuffers::WriteScalar(data - kLengthBytes, static_cast<uint32_t>(constants));
  const uint64_t padded = Padded(constants);
  std::memset(data + constants, 0, static_cast<size_t>(padded - constants));
  return data;
}

}  // namespace

void OrderOutputs(const std::vector<uint32_t>& outputs, GraphRows* graph) {
  std::vector<uint32_t> places = outputs, at(graph->tensors.size());
  std::sort(places.begin(), places.end());
  std::iota(at.begin(), at.end(), 0u);
  const std::vector<TensorRow> rows = graph->tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    at[outputs[i]] = places[i];
    graph->tensors[places[i]] = rows[outputs[i]];
  }
  for (LayerRow& layer : graph->layers) {
    for (std::vector<uint32_t>* list : {&layer.inputs, &layer.outputs}) {
      for (uint32_t& tensor : *list) {
        if (tensor != kNoTensor) tensor = at[tensor];
      }
    }
  }
}

Bytes WriteRows(const GraphRows& rows) {
  Builder head;
  WriteHead(rows, &head);
  const uint64_t constants = rows.constants.size();
  Bytes bytes(head.GetSize() + static_cast<size_t>(Padded(constants)));
  rows.constants.CopyTo(PlaceHead(head, constants, bytes.data()));
  return bytes;
}

size_t MoveRows(GraphRows* rows, const std::function<uint8_t*(size_t)>& allocate,
                const ConstantBytes::Done& done) {
  Builder head;
  WriteHead(*rows, &head);
  const uint64_t constants = rows->constants.size();
  const size_t size = head.GetSize() + static_cast<size_t>(Padded(constants));
  rows->constants.MoveTo(PlaceHead(head, constants, allocate(size)), done);
  return size;
}

}  // namespace sluice::import
