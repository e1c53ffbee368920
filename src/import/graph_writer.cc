// SPDX-License-Identifier: Apache-2.0
#include "import/graph_writer.h"

#include <utility>

#include "import/error.h"
#include "sluice/graph_generated.h"

namespace sluice::import {
namespace {

constexpr size_t kConstantAlignment = 16;
constexpr uint64_t kLargestBuffer = (uint64_t{1} << 31) - (1u << 24);

// A list of lists as flatbuffers want it: where each begins, and all of them in a row.
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

Extents Normalised(const Dims& dims) {
  Extents extents = {1, 1, 1, 1};
  for (size_t i = 0; i < dims.size(); ++i) extents[4 - dims.size() + i] = dims[i];
  return extents;
}

GraphWriter::GraphWriter(const Bytes& bytes) {
  const wire::Graph& g = *wire::GetGraph(bytes.data());
  if (g.name() != nullptr) name_ = g.name()->str();
  for (uint32_t i = 0; g.names() != nullptr && i < g.names()->size(); ++i) {
    names_.push_back(g.names()->Get(i)->str());
    name_index_.emplace(names_.back(), i);
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
    part(g.tensor_dim_begin(), g.tensor_dims(), t, &row.dims);
    if (row.source == 2) throw Error(Fault::kBadArgument, "constants in other files");
    tensors_.push_back(std::move(row));
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
    layers_.push_back(std::move(row));
  }
  for (uint32_t p = 0; g.parameter_min() != nullptr && p < g.parameter_min()->size();
       ++p) {
    parameters_.push_back(
        {g.parameter_name() == nullptr ? kNoTensor : g.parameter_name()->Get(p),
         g.parameter_min()->Get(p), g.parameter_max()->Get(p)});
  }
  if (g.data() != nullptr) data_.assign(g.data()->begin(), g.data()->end());
}

uint32_t GraphWriter::AddName(const std::string& text) {
  if (text.empty()) return kNoTensor;
  const auto [entry, added] =
      name_index_.emplace(text, static_cast<uint32_t>(names_.size()));
  if (added) names_.push_back(text);
  return entry->second;
}

uint32_t GraphWriter::AddTensor(const std::string& name, uint8_t dtype, Kind kind,
                                Dims dims, int32_t zero_point, float scale) {
  tensors_.push_back({AddName(name), dtype, kind, std::move(dims), zero_point, scale, 0,
                      0, kNoTensor});
  return static_cast<uint32_t>(tensors_.size() - 1);
}

void GraphWriter::NeedRoom(uint64_t bytes) const {
  if (data_.size() <= most_constant_bytes_ &&
      bytes <= most_constant_bytes_ - data_.size()) {
    return;
  }
  throw Error(Fault::kTooLarge, "a constant of " + std::to_string(bytes) +
                                    " bytes behind " + std::to_string(data_.size()) +
                                    " others exceeds the limit of " +
                                    std::to_string(most_constant_bytes_));
}

uint32_t GraphWriter::AddConstant(const std::string& name, uint8_t dtype, Dims dims,
                                  const void* bytes, size_t size) {
  NeedRoom(size);
  data_.resize((data_.size() + kConstantAlignment - 1) & ~(kConstantAlignment - 1));
  const uint32_t tensor = AddTensor(name, dtype, Kind::kConstant, std::move(dims));
  tensors_[tensor].source = 1;
  tensors_[tensor].source_offset = data_.size();
  const uint8_t* first = static_cast<const uint8_t*>(bytes);
  data_.insert(data_.end(), first, first + size);
  return tensor;
}

uint32_t GraphWriter::AddSeeded(const std::string& name, uint8_t dtype, Dims dims,
                                uint64_t seed) {
  const uint32_t tensor = AddTensor(name, dtype, Kind::kConstant, std::move(dims));
  tensors_[tensor].source = 3;
  tensors_[tensor].source_offset = seed;
  return tensor;
}

uint32_t GraphWriter::AddExternal(const std::string& name, uint8_t dtype, Dims dims,
                                  const std::string& file, uint64_t offset) {
  const uint32_t tensor = AddTensor(name, dtype, Kind::kConstant, std::move(dims));
  tensors_[tensor].source = 2;
  tensors_[tensor].source_offset = offset;
  tensors_[tensor].source_file = AddName(file);
  return tensor;
}

uint32_t GraphWriter::AddParameter(const std::string& name, int32_t min, int32_t max) {
  parameters_.push_back({AddName(name), min, max});
  return static_cast<uint32_t>(parameters_.size() - 1);
}

void GraphWriter::AddLayer(const std::string& name, uint16_t op,
                           std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
                           std::vector<int32_t> attributes) {
  layers_.push_back({AddName(name), op, std::move(inputs), std::move(outputs),
                     std::move(attributes)});
}

void GraphWriter::Rewind(const Mark& mark) {
  tensors_.resize(mark.tensors);
  layers_.resize(mark.layers);
  data_.resize(mark.data);
}

Bytes GraphWriter::Finish() const {
  if (data_.size() > kLargestBuffer) {
    throw Error(Fault::kBadInput, "the constants need " + std::to_string(data_.size()) +
                                      " bytes; one graph file holds less than 2 GiB");
  }
  flatbuffers::FlatBufferBuilder builder(data_.size() + 65536);
  builder.ForceVectorAlignment(data_.size(), 1, kConstantAlignment);
  const auto data = builder.CreateVector(data_);
  const auto name = builder.CreateString(name_);
  std::vector<flatbuffers::Offset<flatbuffers::String>> name_offsets;
  for (const std::string& text : names_) {
    name_offsets.push_back(builder.CreateString(text));
  }
  const auto names = builder.CreateVector(name_offsets);

  const auto [dim_begin, dims] = Csr(tensors_, &TensorRow::dims);
  const auto [input_begin, inputs] = Csr(layers_, &LayerRow::inputs);
  const auto [output_begin, outputs] = Csr(layers_, &LayerRow::outputs);
  const auto [attribute_begin, attributes] = Csr(layers_, &LayerRow::attributes);
  const auto tensor_column = [&](auto item, auto get) {
    return builder.CreateVector(Column<decltype(item)>(tensors_, get));
  };
  const auto tensor_name = tensor_column(uint32_t{}, [](auto& t) { return t.name; });
  const auto dtype = tensor_column(uint8_t{}, [](auto& t) { return t.dtype; });
  const auto kind = tensor_column(uint8_t{}, [](auto& t) { return t.kind; });
  const auto zero = tensor_column(int32_t{}, [](auto& t) { return t.zero_point; });
  const auto scale = tensor_column(float{}, [](auto& t) { return t.scale; });
  const auto source = tensor_column(uint8_t{}, [](auto& t) { return t.source; });
  const auto offset =
      tensor_column(uint64_t{}, [](auto& t) { return t.source_offset; });
  const auto file = tensor_column(uint32_t{}, [](auto& t) { return t.source_file; });
  const auto layer_name = builder.CreateVector(
      Column<uint32_t>(layers_, [](const LayerRow& l) { return l.name; }));
  const auto layer_op = builder.CreateVector(
      Column<uint16_t>(layers_, [](const LayerRow& l) { return l.op; }));
  const auto dim_begin_at = builder.CreateVector(dim_begin);
  const auto dims_at = builder.CreateVector(dims);
  const auto input_begin_at = builder.CreateVector(input_begin);
  const auto inputs_at = builder.CreateVector(inputs);
  const auto output_begin_at = builder.CreateVector(output_begin);
  const auto outputs_at = builder.CreateVector(outputs);
  const auto attribute_begin_at = builder.CreateVector(attribute_begin);
  const auto attributes_at = builder.CreateVector(attributes);
  const auto parameter_column = [&](auto item, auto get) {
    return builder.CreateVector(Column<decltype(item)>(parameters_, get));
  };
  flatbuffers::Offset<flatbuffers::Vector<uint32_t>> parameter_name;
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> parameter_min, parameter_max;
  if (!parameters_.empty()) {
    parameter_name = parameter_column(uint32_t{}, [](auto& p) { return p.name; });
    parameter_min = parameter_column(int32_t{}, [](auto& p) { return p.min; });
    parameter_max = parameter_column(int32_t{}, [](auto& p) { return p.max; });
  }

  wire::GraphBuilder graph(builder);
  graph.add_name(name);
  graph.add_names(names);
  graph.add_tensor_name(tensor_name);
  graph.add_tensor_dtype(dtype);
  graph.add_tensor_kind(kind);
  graph.add_tensor_dim_begin(dim_begin_at);
  graph.add_tensor_dims(dims_at);
  graph.add_tensor_zero_point(zero);
  graph.add_tensor_scale(scale);
  graph.add_tensor_source(source);
  graph.add_tensor_source_offset(offset);
  graph.add_tensor_source_file(file);
  graph.add_data(data);
  graph.add_layer_name(layer_name);
  graph.add_layer_op(layer_op);
  graph.add_layer_input_begin(input_begin_at);
  graph.add_layer_inputs(inputs_at);
  graph.add_layer_output_begin(output_begin_at);
  graph.add_layer_outputs(outputs_at);
  graph.add_layer_attribute_begin(attribute_begin_at);
  graph.add_layer_attributes(attributes_at);
  if (!parameters_.empty()) {
    graph.add_parameter_name(parameter_name);
    graph.add_parameter_min(parameter_min);
    graph.add_parameter_max(parameter_max);
  }
  wire::FinishGraphBuffer(builder, graph.Finish());
  return Bytes(builder.GetBufferPointer(),
               builder.GetBufferPointer() + builder.GetSize());
}

}  // namespace sluice::import
