// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include "ops.h"
#include "sluice/graph_generated.h"
#include "sluice/hardware_generated.h"
#include "sluice/plan_generated.h"

namespace sluice_sim {
namespace {

template <typename V>
size_t Size(const V* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// True if 8-byte elements may be read. The generated verifier proves only where the
// vector lies.
template <typename V>
bool IsAligned(const V* vector) {
  return vector == nullptr || reinterpret_cast<uintptr_t>(vector->Data()) % 8 == 0;
}

// True if `begin` has items + 1 entries, ascends from 0 and ends at the list's size.
template <typename V>
bool IsCsr(const V* begin, size_t items, size_t list) {
  if (items == 0 && Size(begin) == 0) return list == 0;
  if (Size(begin) != items + 1 || begin->Get(0) != 0) return false;
  for (size_t i = 0; i < items; ++i) {
    const uint32_t at = static_cast<uint32_t>(i);
    if (begin->Get(at + 1) < begin->Get(at)) return false;
  }
  return begin->Get(static_cast<uint32_t>(items)) == list;
}

std::string ReadTensor(const sluice::wire::Graph& g, uint32_t i, Tensor* t) {
  const std::string who = "tensor " + std::to_string(i) + ": ";
  t->dtype = g.tensor_dtype()->Get(i);
  t->kind = g.tensor_kind()->Get(i);
  if (DtypeBytes(t->dtype) == 0) return who + "unknown dtype";
  if (t->kind > kState) return who + "unknown kind";
  const uint32_t begin = g.tensor_dim_begin()->Get(i);
  const uint32_t rank = g.tensor_dim_begin()->Get(i + 1) - begin;
  if (rank > 4) return who + "more than four axes";
  t->extent = {1, 1, 1, 1};
  t->bytes = DtypeBytes(t->dtype);
  for (uint32_t a = 0; a < rank; ++a) {
    const int64_t extent = g.tensor_dims()->Get(begin + a);
    if (extent < 1) return who + "an extent below 1";
    if (t->bytes > (int64_t{1} << 50) / extent) return who + "too large";
    t->extent[4 - rank + a] = extent;
    t->bytes *= extent;
  }
  if (i < Size(g.tensor_source())) t->source = g.tensor_source()->Get(i);
  if (i < Size(g.tensor_source_offset())) {
    t->source_offset = g.tensor_source_offset()->Get(i);
  }
  if (t->source == kExternal) {
    const uint32_t name =
        i < Size(g.tensor_source_file()) ? g.tensor_source_file()->Get(i) : kAbsent;
    if (name >= Size(g.names())) return who + "no file name";
    t->file = g.names()->Get(name)->str();
  }
  if (i < Size(g.tensor_encoded_bytes())) {
    t->encoded = g.tensor_encoded_bytes()->Get(i);
  }
  if (t->encoded == 0) return "";
  if (t->kind != kConstant) return who + "encoded, but no constant";
  if (t->encoded > static_cast<uint64_t>(t->bytes) || t->encoded > INT32_MAX) {
    return who + "more encoded bytes than there are, or than 2^31 - 1";
  }
  return "";
}

std::string CheckEncodedList(const sluice::wire::Graph& g, size_t tensors) {
  const auto* list = g.tensor_encoded_bytes();
  if (list == nullptr) return "";
  if (!IsAligned(list)) return "misaligned encoded bytes";
  return Size(list) == tensors ? "" : "encoded bytes of another number of tensors";
}

// A LOAD decodes only into weights, so an encoded tensor may be used as weights alone.
std::string CheckEncoded(const Graph& graph, const Layer& layer) {
  const Op& op = OpOf(layer.op);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const uint32_t t = layer.inputs[i];
    if (t == kAbsent || graph.tensors[t].encoded == 0) continue;
    const InputAs as = i == 1 ? op.second : i == 2 ? op.third : InputAs::kNothing;
    if (as != InputAs::kWeight) {
      return "tensor " + std::to_string(t) + " is encoded, but no layer's weight alone";
    }
  }
  return "";
}

std::string ReadLayer(const sluice::wire::Graph& g, uint32_t i, Layer* layer) {
  const std::string who = "layer " + std::to_string(i) + ": ";
  const size_t tensors = Size(g.tensor_dtype());
  layer->op = g.layer_op()->Get(i);
  if (OpOf(layer->op).means == Means::kUnknown) return who + "unknown op";
  for (uint32_t j = g.layer_input_begin()->Get(i);
       j < g.layer_input_begin()->Get(i + 1); ++j) {
    const uint32_t tensor = g.layer_inputs()->Get(j);
    if (tensor != kAbsent && tensor >= tensors) return who + "input out of range";
    layer->inputs.push_back(tensor);
  }
  for (uint32_t j = g.layer_output_begin()->Get(i);
       j < g.layer_output_begin()->Get(i + 1); ++j) {
    const uint32_t tensor = g.layer_outputs()->Get(j);
    if (tensor >= tensors) return who + "output out of range";
    layer->outputs.push_back(tensor);
  }
  if (layer->outputs.empty() || layer->input(0) == kAbsent) {
    return who + "no input or no output";
  }
  for (uint32_t j = g.layer_attribute_begin()->Get(i);
       j < g.layer_attribute_begin()->Get(i + 1); ++j) {
    layer->attributes.push_back(g.layer_attributes()->Get(j));
  }
  return "";
}

}  // namespace

uint64_t Fnv1a64(const void* bytes, size_t size, uint64_t hash) {
  const uint8_t* p = static_cast<const uint8_t*>(bytes);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

std::string ReadGraph(const void* bytes, size_t size, Graph* graph) {
  ::flatbuffers::Verifier verifier(static_cast<const uint8_t*>(bytes), size, 8, 16);
  if (!sluice::wire::VerifyGraphBuffer(verifier)) return "not a graph.fbs buffer";
  const sluice::wire::Graph& g = *sluice::wire::GetGraph(bytes);
  const size_t tensors = Size(g.tensor_dtype()), layers = Size(g.layer_op());
  if (g.version() != 0) return "unknown version";
  if (Size(g.tensor_kind()) != tensors ||
      !IsCsr(g.tensor_dim_begin(), tensors, Size(g.tensor_dims())) ||
      !IsCsr(g.layer_input_begin(), layers, Size(g.layer_inputs())) ||
      !IsCsr(g.layer_output_begin(), layers, Size(g.layer_outputs())) ||
      !IsCsr(g.layer_attribute_begin(), layers, Size(g.layer_attributes()))) {
    return "lists of different lengths";
  }
  if (!IsAligned(g.tensor_source_offset())) return "misaligned offsets";
  const std::string encoding = CheckEncodedList(g, tensors);
  if (!encoding.empty()) return encoding;
  for (uint32_t i = 0; i < Size(g.names()); ++i) {
    graph->names.push_back(g.names()->Get(i)->str());
  }
  graph->tensors.resize(tensors);
  graph->layers.resize(layers);
  for (uint32_t i = 0; i < tensors; ++i) {
    const std::string error = ReadTensor(g, i, &graph->tensors[i]);
    if (!error.empty()) return error;
  }
  for (uint32_t i = 0; i < layers; ++i) {
    std::string error = ReadLayer(g, i, &graph->layers[i]);
    if (error.empty()) error = CheckEncoded(*graph, graph->layers[i]);
    if (!error.empty()) return error;
  }
  if (g.parameter_min() != nullptr) {
    graph->parameter_min.assign(g.parameter_min()->begin(), g.parameter_min()->end());
  }
  if (g.parameter_max() != nullptr) {
    graph->parameter_max.assign(g.parameter_max()->begin(), g.parameter_max()->end());
  }
  if (graph->parameter_min.size() != graph->parameter_max.size()) {
    return "parameter ranges of different lengths";
  }
  for (size_t i = 0; i < graph->parameter_min.size(); ++i) {
    if (graph->parameter_min[i] < 0 ||
        graph->parameter_min[i] > graph->parameter_max[i]) {
      return "parameter " + std::to_string(i) + " has an empty or negative range";
    }
  }
  graph->data = g.data() == nullptr ? nullptr : g.data()->data();
  graph->data_size = Size(g.data());
  // The hash leaves out inline constants: plans do not depend on their values.
  const uint8_t* end = static_cast<const uint8_t*>(bytes) + size;
  if (g.data() == nullptr) {
    graph->hash = Fnv1a64(bytes, size);
  } else {
    const uint8_t* data = g.data()->Data();
    const uint8_t* behind = data + g.data()->size();
    graph->hash =
        Fnv1a64(bytes, static_cast<size_t>(data - static_cast<const uint8_t*>(bytes)));
    graph->hash = Fnv1a64(behind, static_cast<size_t>(end - behind), graph->hash);
  }
  return "";
}

namespace {

std::string ReadOps(const sluice::wire::Hardware& h, Hardware* hardware) {
  hardware->limited = h.ops() != nullptr;
  for (uint32_t i = 0; i < Size(h.ops()); ++i) {
    const auto* from = h.ops()->Get(i);
    OpRow row;
    if (from->op() >= SLUICE_OP_COUNT) return "a row of an unknown operator";
    row.op = static_cast<int>(from->op());
    row.dtypes = from->dtypes();
    row.requantise = from->requantise();
    row.arithmetic = from->arithmetic();
    row.zero_points = from->zero_points();
    row.max_kernel[0] = from->max_kernel_h();
    row.max_kernel[1] = from->max_kernel_w();
    row.max_stride = from->max_stride();
    row.max_dilation = from->max_dilation();
    hardware->ops.push_back(row);
  }
  if (h.host() == nullptr) return "";
  const auto& from = *h.host();
  hardware->host = {true,
                    from.call_cycles(),
                    from.bytes_per_cycle_numerator(),
                    from.bytes_per_cycle_denominator(),
                    from.ops_per_cycle_numerator(),
                    from.ops_per_cycle_denominator(),
                    from.uses_port()};
  const uint64_t limit = uint64_t{1} << 40;
  return from.call_cycles() > limit || from.bytes_per_cycle_denominator() > limit ||
                 from.ops_per_cycle_denominator() > limit
             ? "the host's cycles or rates are out of range"
             : "";
}

}  // namespace

namespace {

// Gives each region the last level or the memory that names it.
std::string ReadHomes(const sluice::wire::Hardware& h, Hardware* hardware) {
  const uint64_t limit = uint64_t{1} << 40;
  const auto* last = h.levels()->Get(h.levels()->size() - 1);
  for (Home& home : hardware->home) {
    home = {last->name() == nullptr ? "DRAM" : last->name()->str(),
            last->bytes_per_cycle_numerator(),
            last->bytes_per_cycle_denominator(),
            0,
            last->capacity_bytes(),
            0};
  }
  if (h.memories() == nullptr) return "";
  if (Size(h.memories()) == 0 || Size(h.memories()) > 5) return "memories: 1 to 5";
  if (hardware->host.uses_port) return "memories, and a host that uses the port";
  uint32_t taken = 1u << SLUICE_REGION_GBUF;
  for (uint32_t i = 0; i < Size(h.memories()); ++i) {
    const auto* m = h.memories()->Get(i);
    const std::string who = "memory " + std::to_string(i) + ": ";
    if (m->regions() == 0 || m->regions() >= 1u << SLUICE_REGION_COUNT ||
        (m->regions() & taken) != 0) {
      return who + "no region, an unknown one, or one of another memory";
    }
    if (m->read_only() && m->regions() != 1u << SLUICE_REGION_CONST) {
      return who + "read only, but holds more than constants";
    }
    if (m->bytes_per_cycle_numerator() == 0 || m->bytes_per_cycle_numerator() > limit ||
        m->bytes_per_cycle_denominator() == 0 ||
        m->bytes_per_cycle_denominator() > limit ||
        m->latency_cycles() > uint64_t{1} << 30) {
      return who + "latency or bandwidth out of range";
    }
    taken |= m->regions();
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      if ((m->regions() >> r & 1) == 0) continue;
      hardware->home[r] = {
          m->name() == nullptr ? "memory " + std::to_string(i) : m->name()->str(),
          m->bytes_per_cycle_numerator(),
          m->bytes_per_cycle_denominator(),
          m->latency_cycles(),
          m->capacity_bytes(),
          i + 1};
    }
  }
  return "";
}

}  // namespace

std::string ReadHardware(const void* bytes, size_t size, Hardware* hardware) {
  ::flatbuffers::Verifier verifier(static_cast<const uint8_t*>(bytes), size, 8, 512);
  if (!sluice::wire::VerifyHardwareBuffer(verifier)) return "not a hardware.fbs buffer";
  const sluice::wire::Hardware& h = *sluice::wire::GetHardware(bytes);
  if (h.version() != 0) return "unknown version";
  if (Size(h.levels()) < 2 || h.scratchpad_level() >= Size(h.levels())) {
    return "no scratchpad or no DRAM level";
  }
  const auto* dram = h.levels()->Get(h.levels()->size() - 1);
  const auto* scratchpad = h.levels()->Get(h.scratchpad_level());
  hardware->scratchpad_bytes = scratchpad->capacity_bytes();
  hardware->scratchpad_alignment = std::max(scratchpad->alignment_bytes(), 1u);
  hardware->dram_numerator = dram->bytes_per_cycle_numerator();
  hardware->dram_denominator = dram->bytes_per_cycle_denominator();
  hardware->node_cols = h.node_cols();
  hardware->node_rows = h.node_rows();
  hardware->hop_latency_cycles = h.hop_latency_cycles();
  hardware->link_numerator = h.link_bytes_per_cycle_numerator();
  hardware->link_denominator = h.link_bytes_per_cycle_denominator();
  hardware->macs_per_cycle = h.macs_per_cycle();
  hardware->vector_ops_per_cycle = h.vector_ops_per_cycle();
  if (const sluice::wire::Array* array = h.array()) {
    Granules* granules = &hardware->granules;
    if ((array->demands() & 1) != 0) granules->k = array->k();
    if ((array->demands() & 2) != 0) granules->c = array->c();
    if ((array->demands() & 4) != 0) granules->p = array->p();
    granules->crosses_rows = array->crosses_rows();
    if (granules->k == 0 || granules->c == 0 || granules->p == 0) {
      return "a granule of 0";
    }
  }
  hardware->hash = Fnv1a64(bytes, size);
  const uint64_t limit = uint64_t{1} << 40;  // keeps sums of cycles within 64 bits
  if (h.node_cols() == 0 || h.node_rows() == 0 || h.node_cols() > 1024 ||
      h.node_rows() > 1024) {
    return "node count";
  }
  if (h.macs_per_cycle() == 0 || h.vector_ops_per_cycle() == 0) return "a peak of 0";
  if (h.dma_latency_cycles() > limit || hardware->hop_latency_cycles > limit ||
      hardware->dram_denominator > limit || hardware->link_denominator > limit) {
    return "a latency or bandwidth out of range";
  }
  std::string wrong = ReadOps(h, hardware);
  if (wrong.empty()) wrong = ReadHomes(h, hardware);
  return wrong.empty() ? ReadEngines(h, &hardware->engines) : wrong;
}

std::string ReadPlan(const void* bytes, size_t size, size_t tensors, Plan* plan) {
  ::flatbuffers::Verifier verifier(static_cast<const uint8_t*>(bytes), size, 8, 16);
  if (!sluice::wire::VerifyPlanBuffer(verifier)) return "not a plan.fbs buffer";
  const sluice::wire::Plan& p = *sluice::wire::GetPlan(bytes);
  if (p.version() != 0) return "unknown version";
  if (p.stream() == nullptr) return "no stream";
  if (!IsAligned(p.tensor_offset())) return "misaligned offsets";
  if (Size(p.tensor_region()) != tensors || Size(p.tensor_offset()) != tensors ||
      Size(p.tensor_strides()) != 4 * tensors) {
    return "places of other tensors than the graph's";
  }
  plan->image = reinterpret_cast<const uint8_t*>(p.stream()->Data());
  plan->image_size = p.stream()->size() * size_t{16};
  plan->places.resize(tensors);
  for (uint32_t i = 0; i < tensors; ++i) {
    plan->places[i].region = p.tensor_region()->Get(i);
    plan->places[i].offset = p.tensor_offset()->Get(i);
    for (uint32_t a = 0; a < 4; ++a) {
      plan->places[i].stride[a] = p.tensor_strides()->Get(4 * i + a);
    }
  }
  if (p.debug_layer() != nullptr) {
    plan->debug_layer.assign(p.debug_layer()->begin(), p.debug_layer()->end());
  }
  if (const sluice::wire::Report* report = p.report()) {
    plan->predicted_cycles = report->latency_cycles();
    plan->dram_read_bytes = report->dram_read_bytes();
    plan->dram_write_bytes = report->dram_write_bytes();
    plan->peak_buffer_bytes = report->peak_buffer_bytes();
    plan->macs = report->macs();
    plan->vector_ops = report->vector_ops();
    plan->tiles = report->tiles();
    plan->instructions = report->instructions();
    plan->host_bytes = report->host_bytes();
  }
  plan->graph_hash = p.graph_hash();
  plan->hardware_hash = p.hardware_hash();
  return "";
}

}  // namespace sluice_sim
