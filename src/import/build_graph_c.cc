// SPDX-License-Identifier: Apache-2.0
// The C functions of build.h that collect a graph, on top of the importers'
// GraphWriter.
#include <cstring>
#include <new>
#include <utility>

#include "import/border.h"
#include "import/builder.h"
#include "import/graph_check.h"
#include "import/graph_writer.h"
#include "sluice/build.h"

struct sluice_graph_builder {
  sluice::import::GraphWriter writer;
  sluice::import::FirstFault fault;
};

namespace sluice::import {
namespace {

uint64_t BytesOf(uint32_t dtype) {
  switch (dtype) {
#define SLUICE_IMPORT_DTYPE(constant, code, bytes, name) \
  case code:                                             \
    return bytes;
    SLUICE_DTYPES(SLUICE_IMPORT_DTYPE)
#undef SLUICE_IMPORT_DTYPE
    default:
      throw Error(Fault::kBadArgument, "there is no dtype " + std::to_string(dtype));
  }
}

// Bytes of a dense tensor of these extents.
uint64_t DenseBytes(const sluice_tensor_t& tensor) {
  constexpr uint64_t kMost = uint64_t{1} << 46;
  uint64_t bytes = BytesOf(tensor.dtype);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.dims[i] < 1) {
      throw Error(Fault::kBadArgument,
                  "a tensor has extent " + std::to_string(tensor.dims[i]));
    }
    bytes *= static_cast<uint64_t>(tensor.dims[i]);
    if (bytes > kMost) throw Error(Fault::kBadArgument, "a tensor exceeds 2^46 bytes");
  }
  return bytes;
}

uint32_t AddConstant(const sluice_tensor_t& t, const std::string& name, Dims dims,
                     GraphWriter* writer) {
  const uint8_t dtype = static_cast<uint8_t>(t.dtype);
  switch (t.source) {
    case SLUICE_SOURCE_INLINE:
      MustBeThere(t.bytes, "tensor.bytes");
      if (t.byte_count != DenseBytes(t)) {
        throw Error(Fault::kBadArgument,
                    "constant " + name + " has " + std::to_string(t.byte_count) +
                        " bytes; its extents need " + std::to_string(DenseBytes(t)));
      }
      return writer->AddConstant(name, dtype, std::move(dims), t.bytes,
                                 static_cast<size_t>(t.byte_count));
    case SLUICE_SOURCE_SEEDED:
      return writer->AddSeeded(name, dtype, std::move(dims), t.offset);
    case SLUICE_SOURCE_EXTERNAL:
      MustBeThere(t.file, "tensor.file");
      return writer->AddExternal(name, dtype, std::move(dims), t.file, t.offset);
    default:
      throw Error(Fault::kBadArgument, "constant " + name + " has no source");
  }
}

uint32_t AddTensor(const sluice_tensor_t& t, GraphWriter* writer) {
  if (t.rank > 4) throw Error(Fault::kBadArgument, "a tensor has more than four axes");
  if (t.kind > SLUICE_TENSOR_STATE) {
    throw Error(Fault::kBadArgument, "there is no kind " + std::to_string(t.kind));
  }
  (void)DenseBytes(t);
  const std::string name = TextOf(t.name);
  Dims dims(t.dims, t.dims + t.rank);
  if (t.kind != SLUICE_TENSOR_CONSTANT && t.encoded_bytes != 0) {
    throw Error(Fault::kBadArgument, "tensor " + name + " is encoded, but no constant");
  }
  if (t.kind != SLUICE_TENSOR_CONSTANT) {
    return writer->AddTensor(name, static_cast<uint8_t>(t.dtype),
                             static_cast<Kind>(t.kind), std::move(dims), t.zero_point,
                             t.scale);
  }
  const uint32_t tensor = AddConstant(t, name, std::move(dims), writer);
  writer->SetAffine(tensor, t.zero_point, t.scale);
  writer->SetEncoded(tensor, t.encoded_bytes);
  return tensor;
}

template <typename Item>
std::vector<Item> List(const Item* items, uint32_t count, const char* name) {
  if (count != 0) MustBeThere(items, name);
  return std::vector<Item>(items, items + count);
}

uint32_t AddLayer(const sluice_layer_t& l, GraphWriter* writer) {
  if (l.op == 0 || l.op >= SLUICE_OP_COUNT) {
    throw Error(Fault::kBadArgument, "there is no operator " + std::to_string(l.op));
  }
  writer->AddLayer(TextOf(l.name), static_cast<uint16_t>(l.op),
                   List(l.inputs, l.input_count, "layer.inputs"),
                   List(l.outputs, l.output_count, "layer.outputs"),
                   List(l.attributes, l.attribute_count, "layer.attributes"));
  return static_cast<uint32_t>(writer->layers().size() - 1);
}

}  // namespace
}  // namespace sluice::import

using sluice::import::Complete;
using sluice::import::MustBeThere;

sluice_graph_builder_t* sluice_graph_builder_create(const char* name) {
  try {
    return new sluice_graph_builder{
        sluice::import::GraphWriter(sluice::import::TextOf(name)), {}};
  } catch (...) {
    return nullptr;
  }
}

void sluice_graph_builder_destroy(sluice_graph_builder_t* builder) { delete builder; }

uint32_t sluice_graph_builder_tensor(sluice_graph_builder_t* builder,
                                     const sluice_tensor_t* tensor) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    MustBeThere(tensor, "tensor");
    return sluice::import::AddTensor(Complete(tensor, "tensor"), &builder->writer);
  });
}

uint32_t sluice_graph_builder_parameter(sluice_graph_builder_t* builder,
                                        const char* name, int32_t min, int32_t max) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    return builder->writer.AddParameter(sluice::import::TextOf(name), min, max);
  });
}

uint32_t sluice_graph_builder_layer(sluice_graph_builder_t* builder,
                                    const sluice_layer_t* layer) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    MustBeThere(layer, "layer");
    return sluice::import::AddLayer(Complete(layer, "layer"), &builder->writer);
  });
}

sluice_status_t sluice_graph_builder_finish(const sluice_graph_builder_t* builder,
                                            const sluice_allocator_t* allocator,
                                            sluice_bytes_t* out_graph,
                                            sluice_diagnostic_t* diagnostic) {
  using namespace sluice::import;
  if (out_graph != nullptr) *out_graph = {nullptr, 0};
  sluice_status_t refused = SLUICE_OK;
  const sluice_status_t status = Guarded(diagnostic, "build", [&] {
    MustBeThere(builder, "builder");
    MustBeThere(out_graph, "out_graph");
    builder->fault.Rethrow();
    const Bytes graph = builder->writer.Finish();
    refused = TryGraph(graph, diagnostic);
    if (refused == SLUICE_OK) HandOver(graph, allocator, out_graph);
  });
  return status == SLUICE_OK ? refused : status;
}
