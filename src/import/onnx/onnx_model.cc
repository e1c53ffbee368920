// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_model.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <unordered_map>

#include "import/error.h"
#include "import/import_result.h"
#include "import/onnx/onnx_inference.h"
#include "import/onnx/onnx_rewrites.h"
#include "import/onnx/onnx_wire.h"

namespace sluice::import {
namespace {

using onnx::TensorProto;

constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr size_t kMostValues = 1 << 22;  // tensors of a model

[[noreturn]] void Bad(const std::string& what) { throw Error(Fault::kBadInput, what); }

// ---- dynamic dimensions

using Shape = onnx::TensorShapeProto;

// Replaces names of dimensions by their values, everywhere.
void FixNamed(onnx::ValueInfoProto* info, const OnnxDims& dims,
              std::set<std::string>* used) {
  if (!info->type().has_tensor_type() || !info->type().tensor_type().has_shape()) {
    return;
  }
  Shape* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (auto& dim : *shape->mutable_dim()) {
    const auto known = dims.find(dim.dim_param());
    if (!dim.has_dim_param() || known == dims.end()) continue;
    used->insert(known->first);
    dim.set_dim_value(known->second);
  }
}

// Every extent of an input must be known: from the file, or given by name or as
// INPUT:AXIS.
void FixInput(onnx::ValueInfoProto* info, const OnnxDims& dims,
              std::set<std::string>* used, std::vector<UnsupportedOperator>* missing) {
  if (!info->type().has_tensor_type()) {
    Bad("input " + info->name() + " is not a tensor");
  }
  if (!info->type().tensor_type().has_shape()) {
    Bad("input " + info->name() + " has no shape");
  }
  Shape* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape->dim_size(); ++i) {
    auto* dim = shape->mutable_dim(i);
    const std::string place = info->name() + ":" + std::to_string(i);
    const auto known = dims.find(place);
    if (known != dims.end()) {
      used->insert(place);
      dim->set_dim_value(known->second);
    }
    if (dim->has_dim_value() && dim->dim_value() >= 1) continue;
    const bool named = dim->has_dim_param() && !dim->dim_param().empty();
    missing->push_back({named ? dim->dim_param() : place,
                        "input " + info->name() + ", axis " + std::to_string(i), 1});
  }
}

void FixDims(onnx::GraphProto* graph, const OnnxDims& dims,
             const std::set<std::string>& initialised) {
  std::set<std::string> used;
  for (auto& info : *graph->mutable_input()) FixNamed(&info, dims, &used);
  for (auto& info : *graph->mutable_output()) FixNamed(&info, dims, &used);
  for (auto& info : *graph->mutable_value_info()) FixNamed(&info, dims, &used);
  std::vector<UnsupportedOperator> missing;
  for (auto& info : *graph->mutable_input()) {
    if (initialised.count(info.name()) == 0) FixInput(&info, dims, &used, &missing);
  }
  for (const auto& [name, value] : dims) {
    if (used.count(name) == 0) {
      throw Error(Fault::kBadArgument, "the model has no dimension called " + name);
    }
  }
  if (missing.empty()) return;
  std::string message = "dimensions that are not fixed; give each an extent:";
  for (const UnsupportedOperator& dim : missing) {
    message += "\n  " + dim.name + " (" + dim.reason + ")";
  }
  throw Refusal(SLUICE_IMPORT_OPEN_DIMS, message, missing);
}

// ---- constants

template <typename List>
void Append(const List& list, size_t element, Bytes* out) {
  for (const auto& value : list) {
    const auto wide = static_cast<int64_t>(value);
    uint8_t bytes[8];
    std::memcpy(bytes, &wide, 8);
    out->insert(out->end(), bytes, bytes + element);
  }
}

// Where the file says that a constant lies.
struct ExternalPlace {
  std::string file;
  uint64_t offset = 0, length = 0;
};

ExternalPlace PlaceOf(const TensorProto& tensor, size_t size) {
  ExternalPlace place;
  place.length = size;
  try {
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") place.file = entry.value();
      if (entry.key() == "offset") place.offset = std::stoull(entry.value());
      if (entry.key() == "length") place.length = std::stoull(entry.value());
    }
  } catch (const std::exception&) {
    Bad("tensor " + tensor.name() + ": external data at no number");
  }
  const std::string& file = place.file;
  if (file.empty() || file[0] == '/' || file.find("..") != std::string::npos ||
      file.find('\0') != std::string::npos) {
    Bad("tensor " + tensor.name() + ": external data outside the model's folder");
  }
  return place;
}

// The file's length is known before anything is allocated.
Bytes ExternalData(const TensorProto& tensor, const sluice_external_files_t* external,
                   size_t size) {
  const ExternalPlace place = PlaceOf(tensor, size);
  uint64_t there = 0;
  if (external == nullptr ||
      external->size(external->user, place.file.c_str(), &there) != 0) {
    Bad("tensor " + tensor.name() + ": its external data are absent: " + place.file +
        " cannot be read");
  }
  if (place.length < size || place.offset > there || size > there - place.offset) {
    Bad("tensor " + tensor.name() + ": its external data need " + std::to_string(size) +
        " bytes at " + std::to_string(place.offset) + "; " + place.file + " holds " +
        std::to_string(there));
  }
  Bytes bytes(size);
  if (external->read(external->user, place.file.c_str(), place.offset, size,
                     bytes.data()) != 0) {
    Bad("tensor " + tensor.name() + ": " + place.file + " cannot be read");
  }
  return bytes;
}

bool IsPacked(int type) {
  return type == kOnnxInt4 || type == kOnnxUint4 || type == kOnnxUint2;
}

// Bytes of one element as the file stores it; two of 4 bits are in one.
size_t ElementOf(const TensorProto& tensor) {
  return IsPacked(tensor.data_type()) ? 1 : OnnxTypeBytes(tensor.data_type());
}

OnnxData DataOf(const TensorProto& tensor, const RawBytes& raw,
                const sluice_external_files_t* external, size_t size) {
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    return ExternalData(tensor, external, size);
  }
  if (raw.data != nullptr) return OnnxData::In(raw.data, raw.size);
  if (tensor.has_raw_data()) {
    return Bytes(tensor.raw_data().begin(), tensor.raw_data().end());
  }
  Bytes data;
  const size_t element = ElementOf(tensor);
  if (tensor.float_data_size() != 0) {
    data.resize(static_cast<size_t>(tensor.float_data_size()) * 4);
    std::memcpy(data.data(), tensor.float_data().data(), data.size());
  } else if (tensor.double_data_size() != 0) {
    data.resize(static_cast<size_t>(tensor.double_data_size()) * 8);
    std::memcpy(data.data(), tensor.double_data().data(), data.size());
  } else if (tensor.int64_data_size() != 0) {
    Append(tensor.int64_data(), element, &data);
  } else if (tensor.uint64_data_size() != 0) {
    Append(tensor.uint64_data(), element, &data);
  } else {
    Append(tensor.int32_data(), element, &data);
  }
  return data;
}

constexpr RawBytes kNoRawBytes = {nullptr, 0, false};

// Where constants come from, and whether weights may lack bytes, since only shapes count.
struct Source {
  const sluice_external_files_t* external;
  bool shapes_alone;
};

// Whether the model can do without the tensor's bytes, and they are left out or are in a
// file that is not there.
bool IsWeightWithoutBytes(const TensorProto& tensor, const RawBytes& raw,
                          const Source& source, int64_t elements) {
  if (!source.shapes_alone || tensor.data_type() != kOnnxFloat) return false;
  if (tensor.data_location() != TensorProto::EXTERNAL) {
    const bool given = raw.data != nullptr || tensor.has_raw_data();
    return elements >= kWeightFloats && !given && tensor.float_data_size() == 0;
  }
  const std::string file = PlaceOf(tensor, 0).file;
  uint64_t there = 0;
  return source.external == nullptr ||
         source.external->size(source.external->user, file.c_str(), &there) != 0;
}

void TakeConstant(const TensorProto& tensor, const RawBytes& raw, const Source& source,
                  OnnxValue* value) {
  const bool is_signed = tensor.data_type() == kOnnxInt4;
  const bool half = IsPacked(tensor.data_type());
  const size_t each = tensor.data_type() == kOnnxUint2 ? 4 : 2;  // in a byte
  const size_t element = ElementOf(tensor);
  if (element == 0) {
    Bad("tensor " + value->name + " has elements of type " +
        OnnxTypeName(tensor.data_type()) + ", which this importer does not hold");
  }
  // Short numbers become bytes: scales and zero points hold for them as well.
  value->type = !half ? tensor.data_type() : is_signed ? kOnnxInt8 : kOnnxUint8;
  value->dims.assign(tensor.dims().begin(), tensor.dims().end());
  value->has_shape = true;
  int64_t elements = 1;
  for (const int64_t dim : value->dims) {
    if (dim < 0 || dim > kMostElements ||
        (dim != 0 && elements > kMostElements / dim)) {
      Bad("tensor " + value->name + " has an impossible extent");
    }
    elements *= dim;
  }
  value->constant = true;
  value->has_data = !IsWeightWithoutBytes(tensor, raw, source, elements);
  if (!value->has_data) return;
  const size_t count = static_cast<size_t>(elements),
               size = half ? (count + each - 1) / each : count * element;
  value->data = DataOf(tensor, raw, source.external, size);
  if (value->data.size() != size) {
    Bad("tensor " + value->name + " holds " + std::to_string(value->data.size()) +
        " bytes; its shape needs " + std::to_string(size));
  }
  if (half) value->data = OnnxData::Packed(value->data, {count, each, is_signed});
}

// ---- the graph

// The state of reading one file.
struct Reading {
  onnx::ModelProto* proto;
  onnx::GraphProto* graph;  // in proto
  Source source;
  std::vector<RawBytes> raw;     // of initializers, as far as they are there
  std::set<std::string> pinned;  // names of constants that were added
  std::unordered_map<std::string, int> index;  // of values, by name
  OnnxModel model;
};

OnnxValue& ValueAt(Reading* reading, int value) {
  return reading->model.values[static_cast<size_t>(value)];
}

// Clears inferred shapes that still name dimensions: they would contradict the fixed
// ones.
void ForgetSymbols(onnx::GraphProto* graph) {
  const auto symbolic = [](const onnx::ValueInfoProto& info) {
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value() || dim.dim_value() < 0) return true;
    }
    return false;
  };
  auto* infos = graph->mutable_value_info();
  for (int i = infos->size(); i-- > 0;) {
    if (symbolic(infos->Get(i))) infos->DeleteSubrange(i, 1);
  }
  for (auto& info : *graph->mutable_output()) {
    if (info.type().has_tensor_type() && symbolic(info)) {
      info.mutable_type()->mutable_tensor_type()->clear_shape();
    }
  }
}

int ValueOf(Reading* reading, const std::string& name) {
  const auto [entry, added] =
      reading->index.emplace(name, static_cast<int>(reading->model.values.size()));
  if (added) {
    if (reading->model.values.size() >= kMostValues)
      Bad("more than " + std::to_string(kMostValues) + " tensors");
    reading->model.values.emplace_back();
    reading->model.values.back().name = name;
  }
  return entry->second;
}

void TakeValues(Reading* reading, const std::set<std::string>& initialised) {
  for (const auto& info : reading->graph->input()) {
    if (initialised.count(info.name()) != 0) continue;
    if (reading->index.count(info.name()) != 0)
      Bad("input " + info.name() + " appears twice");
    const int type = info.type().tensor_type().elem_type();
    if (OnnxTypeBytes(type) == 0) {
      Bad("input " + info.name() + " has elements of type " + OnnxTypeName(type) +
          ", which this importer does not hold");
    }
    reading->model.inputs.push_back(ValueOf(reading, info.name()));
  }
  for (int i = 0; i < reading->graph->initializer_size(); ++i) {
    const TensorProto& tensor = reading->graph->initializer(i);
    if (reading->index.count(tensor.name()) != 0)
      Bad("tensor " + tensor.name() + " appears twice");
    const int value = ValueOf(reading, tensor.name());
    const size_t at = static_cast<size_t>(i);
    TakeConstant(tensor, at < reading->raw.size() ? reading->raw[at] : kNoRawBytes,
                 reading->source, &ValueAt(reading, value));
    if (tensor.data_location() == TensorProto::EXTERNAL) {
      reading->model.external_bytes += ValueAt(reading, value).data.size();
    }
  }
}

std::string NameOf(const onnx::NodeProto& node, int number) {
  std::string name = node.name();
  if (name.empty() && node.output_size() != 0) name = node.output(0);
  if (name.empty()) name = "number " + std::to_string(number);
  return name;
}

// Returns the number of the node that writes each tensor.
std::unordered_map<std::string, int> WritersIn(const Reading& reading) {
  std::unordered_map<std::string, int> writers;
  for (int n = 0; n < reading.graph->node_size(); ++n) {
    for (const std::string& output : reading.graph->node(n).output()) {
      if (output.empty()) continue;
      if (!writers.emplace(output, n).second || reading.index.count(output) != 0) {
        Bad("tensor " + output + " is written twice, the second time by node " +
            NameOf(reading.graph->node(n), n));
      }
    }
  }
  return writers;
}

// Nodes in an order in which everything is written before it is read; the protobuf's
// own order need not be one.
void SortNodes(Reading* reading) {
  const std::unordered_map<std::string, int> writers = WritersIn(*reading);
  onnx::GraphProto* graph = reading->graph;
  const size_t count = static_cast<size_t>(graph->node_size());
  std::vector<int> waits(count, 0);
  std::vector<std::vector<int>> wakes(count);
  for (int n = 0; n < graph->node_size(); ++n) {
    for (const std::string& input : graph->node(n).input()) {
      if (input.empty() || reading->index.count(input) != 0) continue;
      const auto from = writers.find(input);
      if (from == writers.end()) {
        Bad("node " + NameOf(graph->node(n), n) + " reads " + input +
            ", which nobody writes");
      }
      ++waits[static_cast<size_t>(n)];
      wakes[static_cast<size_t>(from->second)].push_back(n);
    }
  }
  std::set<int> ready;
  for (int n = 0; n < graph->node_size(); ++n) {
    if (waits[static_cast<size_t>(n)] == 0) ready.insert(n);
  }
  onnx::GraphProto sorted;
  while (!ready.empty()) {
    const int n = *ready.begin();
    ready.erase(ready.begin());
    *sorted.add_node() = graph->node(n);
    for (const int next : wakes[static_cast<size_t>(n)]) {
      if (--waits[static_cast<size_t>(next)] == 0) ready.insert(next);
    }
  }
  if (sorted.node_size() != graph->node_size()) {
    for (int n = 0; n < graph->node_size(); ++n) {
      if (waits[static_cast<size_t>(n)] > 0) {
        Bad("a cycle of nodes, " + NameOf(graph->node(n), n) + " among them");
      }
    }
  }
  graph->mutable_node()->Swap(sorted.mutable_node());
}

// Floats of a Constant given as an attribute: a scalar, or a list along one axis.
void TakeFloats(const std::vector<float>& floats, bool axis, OnnxValue* out) {
  out->type = kOnnxFloat;
  out->has_shape = out->constant = out->has_data = true;
  out->dims.clear();
  if (axis) out->dims.push_back(static_cast<int64_t>(floats.size()));
  const auto* bytes = reinterpret_cast<const uint8_t*>(floats.data());
  out->data.assign(bytes, bytes + floats.size() * 4);
}

void TakeNode(Reading* reading, int n) {
  const onnx::NodeProto& proto = reading->graph->node(n);
  OnnxNode node;
  node.name = NameOf(proto, n);
  // onnxruntime's quantisation is ONNX's, with more types.
  const bool plain = proto.domain().empty() || proto.domain() == "ai.onnx" ||
                     proto.op_type() == "QuantizeLinear" ||
                     proto.op_type() == "DequantizeLinear";
  node.op = plain ? proto.op_type() : proto.domain() + "." + proto.op_type();
  for (const std::string& input : proto.input()) {
    node.inputs.push_back(input.empty() ? -1 : ValueOf(reading, input));
    if (input.empty()) continue;
    auto& readers = ValueAt(reading, node.inputs.back()).readers;
    if (readers.empty() || readers.back() != n) readers.push_back(n);
  }
  for (const std::string& output : proto.output()) {
    node.outputs.push_back(output.empty() ? -1 : ValueOf(reading, output));
    if (output.empty()) continue;
    ValueAt(reading, node.outputs.back()).producer = n;
  }
  if (node.outputs.empty() || node.outputs[0] < 0) {
    Bad("node " + node.name + " has no output");
  }
  for (const auto& a : proto.attribute()) {
    OnnxAttribute& to = node.attributes[a.name()];
    to.i = a.i();
    to.f = a.f();
    to.s = a.s();
    to.ints.assign(a.ints().begin(), a.ints().end());
    to.floats.assign(a.floats().begin(), a.floats().end());
    to.texts.assign(a.strings().begin(), a.strings().end());
    OnnxValue& out = ValueAt(reading, node.outputs[0]);
    if (node.op == "Constant" && a.name() == "value")
      TakeConstant(a.t(), kNoRawBytes, reading->source, &out);
    if (node.op == "ConstantOfShape" && a.name() == "value") {
      OnnxValue fill;
      TakeConstant(a.t(), kNoRawBytes, reading->source, &fill);
      to.i = fill.type;  // and the bytes of one number
      if (fill.data.size() <= 8) to.s.assign(fill.data.begin(), fill.data.end());
    }
    if (node.op == "Constant" &&
        (a.name() == "value_float" || a.name() == "value_floats")) {
      TakeFloats(a.name() == "value_float" ? std::vector<float>{a.f()} : to.floats,
                 a.name() == "value_floats", &out);
    }
    if (node.op == "Constant" &&
        (a.name() == "value_int" || a.name() == "value_ints")) {
      out.constant = out.has_integers = true;
      out.integers = a.name() == "value_int" ? std::vector<int64_t>{a.i()} : to.ints;
    }
  }
  reading->model.nodes.push_back(std::move(node));
}

// ONNX's inference requires an opset version even for domains that it does not know.
void NameDomains(onnx::ModelProto* proto) {
  std::set<std::string> known;
  for (const auto& opset : proto->opset_import()) known.insert(opset.domain());
  // A model of onnxruntime's operators alone need not name ONNX's version, which the inference
  // of their shapes asks for. 13 has all operators that stand in for them (stand_ins.cc).
  // A file that names no version at all is cut off.
  if (!known.empty() && known.count("ai.onnx") == 0 && known.insert("").second) {
    proto->add_opset_import()->set_version(13);
  }
  for (const auto& node : proto->graph().node()) {
    if (node.domain() == "ai.onnx" || !known.insert(node.domain()).second) continue;
    onnx::OperatorSetIdProto* opset = proto->add_opset_import();
    opset->set_domain(node.domain());
    opset->set_version(1);
  }
}

// Turns shapes computed by shape arithmetic into constants, so that inference can find
// the shapes of further nodes. False: nothing new was found.
bool PinIntegers(Reading* reading) {
  bool pinned = false;
  std::set<int> later;  // values whose extents the next inference may find
  for (size_t n = 0; n < reading->model.nodes.size(); ++n) {
    const OnnxNode& node = reading->model.nodes[n];
    if (ValueAt(reading, node.outputs[0]).has_shape) continue;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] < 0) continue;
      if (later.count(node.inputs[i]) != 0) {
        later.insert(node.outputs[0]);
        continue;
      }
      const OnnxValue& value = ValueAt(reading, node.inputs[i]);
      const std::string name = value.name + "/known";
      if (!value.has_integers || value.has_data || value.name.empty()) continue;
      std::string* input = reading->graph->mutable_node(static_cast<int>(n))
                               ->mutable_input(static_cast<int>(i));
      if (*input == name) continue;
      later.insert(node.outputs[0]);
      *input = name;
      pinned = true;
      if (!reading->pinned.insert(name).second) continue;
      TensorProto* tensor = reading->graph->add_initializer();
      tensor->set_name(name);
      tensor->set_data_type(value.type == kOnnxInt32 ? kOnnxInt32 : kOnnxInt64);
      const int64_t count = static_cast<int64_t>(value.integers.size());
      if (value.has_shape && ElementsOf(value.dims) == count) {
        for (const int64_t extent : value.dims) tensor->add_dims(extent);
      } else {
        tensor->add_dims(count);
      }
      for (const int64_t number : value.integers) {
        if (value.type == kOnnxInt32) {
          tensor->add_int32_data(static_cast<int32_t>(number));
        } else {
          tensor->add_int64_data(number);
        }
      }
    }
  }
  return pinned;
}

void TakeShape(Reading* reading, const onnx::ValueInfoProto& info) {
  const auto found = reading->index.find(info.name());
  if (found == reading->index.end() || !info.type().has_tensor_type()) return;
  OnnxValue& value = ValueAt(reading, found->second);
  if (value.has_data && value.has_shape) return;
  const auto& tensor = info.type().tensor_type();
  value.type = tensor.elem_type();
  if (!tensor.has_shape()) return;
  value.dims.clear();
  int64_t elements = 1;
  for (const auto& dim : tensor.shape().dim()) {
    if (!dim.has_dim_value()) return;
    const int64_t extent = dim.dim_value();
    if (extent < 0 || (extent != 0 && elements > kMostElements / extent)) {
      Bad("tensor " + value.name + " has the impossible extent " +
          std::to_string(extent));
    }
    elements *= extent;
    value.dims.push_back(extent);
  }
  value.has_shape = true;
  if (!value.guessed) return;  // else computed again, as its extents say
  value.guessed = value.has_integers = value.has_data = value.constant = false;
  value.data = {};
}

void TakeShapes(Reading* reading) {
  for (const auto& info : reading->graph->input()) TakeShape(reading, info);
  for (const auto& info : reading->graph->value_info()) TakeShape(reading, info);
  for (const auto& info : reading->graph->output()) TakeShape(reading, info);
}

OnnxModel ReadGraph(Reading* reading, const OnnxDims& dims) {
  if (reading->graph->node_size() == 0) Bad("the model has no nodes");
  for (const auto& opset : reading->proto->opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") {
      reading->model.opset = opset.version();
    }
  }
  if (reading->model.opset == 0 && reading->proto->ir_version() < 3)
    reading->model.opset = 1;
  std::set<std::string> initialised;
  for (const auto& tensor : reading->graph->initializer())
    initialised.insert(tensor.name());
  if (reading->graph->sparse_initializer_size() != 0) Bad("sparse constants");
  InlineOnnxFunctions(reading->proto);
  RequireWideScales(*reading->graph);
  FixDims(reading->graph, dims, initialised);
  ForgetSymbols(reading->graph);
  NameDomains(reading->proto);
  TidyOnnx(reading->proto);
  RewriteOnnx(reading->proto);
  TakeValues(reading, initialised);
  SortNodes(reading);
  for (int n = 0; n < reading->graph->node_size(); ++n) TakeNode(reading, n);
  InferOnnxShapes(reading->proto);
  TakeShapes(reading);
  FoldConstants(&reading->model);
  while (PinIntegers(reading)) {
    InferOnnxShapes(reading->proto);
    TakeShapes(reading);
    FoldConstants(&reading->model);
  }
  for (const auto& info : reading->graph->output()) {
    const auto found = reading->index.find(info.name());
    if (found == reading->index.end())
      Bad("output " + info.name() + ": nobody writes it");
    ValueAt(reading, found->second).is_output = true;
    reading->model.outputs.push_back(found->second);
  }
  if (reading->model.outputs.empty()) Bad("the model has no outputs");
  // Inference by older versions of ONNX takes the standard type.
  for (const OnnxNode& node : reading->model.nodes) {
    const int type = static_cast<int>(node.Int("output_dtype", 0));
    if (node.op == "QuantizeLinear" && type != 0 && node.inputs.size() < 3) {
      ValueAt(reading, node.outputs[0]).type = type;
    }
  }
  SpreadConstants(&reading->model);
  return std::move(reading->model);
}

}  // namespace

int64_t OnnxNode::Int(const std::string& attribute, int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.i;
}
float OnnxNode::Float(const std::string& attribute, float otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.f;
}
std::vector<std::string> OnnxNode::Texts(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? std::vector<std::string>() : found->second.texts;
}

std::string OnnxNode::Text(const std::string& attribute,
                           const std::string& otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.s;
}
std::vector<int64_t> OnnxNode::Ints(const std::string& attribute,
                                    std::vector<int64_t> otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.ints;
}

size_t OnnxTypeBytes(int type) {
  switch (type) {
    case kOnnxUint8:
    case kOnnxInt8:
    case kOnnxBool:
      return 1;
    case kOnnxUint16:
    case kOnnxInt16:
    case kOnnxFloat16:
    case kOnnxBfloat16:
      return 2;
    case kOnnxFloat:
    case kOnnxInt32:
    case kOnnxUint32:
      return 4;
    case kOnnxDouble:
    case kOnnxInt64:
    case kOnnxUint64:
      return 8;
    default:
      return 0;
  }
}

std::string OnnxTypeName(int type) {
  return TensorProto::DataType_IsValid(type)
             ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type))
             : "number " + std::to_string(type);
}

int64_t ElementsOf(const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  return elements;
}

OnnxModel ReadOnnxModel(const uint8_t* bytes, size_t size, const OnnxDims& dims,
                        const sluice_external_files_t* external, bool whole) {
  if (size > static_cast<size_t>(std::numeric_limits<int>::max())) {
    Bad("the file exceeds the 2 GiB that protobuf allows");
  }
  onnx::ModelProto proto;
  SlimModel slim;
  const bool read = ReadSlim(bytes, size, &slim) && proto.ParseFromString(slim.file);
  if (!read || !proto.has_graph()) {
    Bad("this is not an ONNX model, or a damaged or truncated one; a TensorFlow Lite "
        "model "
        "has TFL3 at byte 4");
  }
  // The shapes of a model of floats alone do not depend on its weights.
  const bool alone = !whole && slim.floats_alone;
  for (RawBytes& raw : slim.constants) {
    if (alone && raw.floats && raw.size >= 4 * static_cast<size_t>(kWeightFloats)) {
      raw.data = nullptr;
    }
  }
  Reading reading = {&proto, proto.mutable_graph(), {external, alone}, {}, {}, {}, {}};
  reading.raw = std::move(slim.constants);
  return ReadGraph(&reading, dims);
}

}  // namespace sluice::import
