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

namespace sluice::import {
namespace {

using onnx::TensorProto;

constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr size_t kMostValues = 1 << 22;

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

// Inputs must be known completely: by name, or as INPUT:AXIS.
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
  throw Refusal(Fault::kBadInput, message, missing);
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

Bytes DataOf(const TensorProto& tensor, const sluice_external_files_t* external,
             size_t size) {
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    return ExternalData(tensor, external, size);
  }
  if (tensor.has_raw_data()) {
    return Bytes(tensor.raw_data().begin(), tensor.raw_data().end());
  }
  const size_t element = OnnxTypeBytes(tensor.data_type());
  Bytes data;
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

void TakeConstant(const TensorProto& tensor, const sluice_external_files_t* external,
                  OnnxValue* value) {
  const size_t element = OnnxTypeBytes(tensor.data_type());
  if (element == 0) {
    Bad("tensor " + value->name + " has elements of type " +
        OnnxTypeName(tensor.data_type()) + ", which this importer does not hold");
  }
  value->type = tensor.data_type();
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
  value->constant = value->has_data = true;
  value->data = DataOf(tensor, external, static_cast<size_t>(elements) * element);
  if (value->data.size() != static_cast<size_t>(elements) * element) {
    Bad("tensor " + value->name + " holds " + std::to_string(value->data.size()) +
        " bytes; its shape needs " +
        std::to_string(static_cast<size_t>(elements) * element));
  }
}

// ---- the graph

class Reader {
 public:
  Reader(onnx::ModelProto* proto, const sluice_external_files_t* external)
      : proto_(proto), graph_(*proto->mutable_graph()), external_(external) {}

  OnnxModel Run(const OnnxDims& dims) {
    if (graph_.node_size() == 0) Bad("the model has no nodes");
    for (const auto& opset : proto_->opset_import()) {
      if (opset.domain().empty() || opset.domain() == "ai.onnx") {
        model_.opset = opset.version();
      }
    }
    if (model_.opset == 0 && proto_->ir_version() < 3) model_.opset = 1;
    std::set<std::string> initialised;
    for (const auto& tensor : graph_.initializer()) initialised.insert(tensor.name());
    if (graph_.sparse_initializer_size() != 0) Bad("sparse constants");
    FixDims(&graph_, dims, initialised);
    ForgetSymbols();
    TakeValues(initialised);
    TakeNodes();
    NameDomains();
    InferOnnxShapes(proto_);
    TakeShapes();
    FoldIntegers(&model_);
    while (PinIntegers()) {
      InferOnnxShapes(proto_);
      TakeShapes();
      FoldIntegers(&model_);
    }
    for (const auto& info : graph_.output()) {
      const auto found = index_.find(info.name());
      if (found == index_.end()) Bad("output " + info.name() + ": nobody writes it");
      model_.values[static_cast<size_t>(found->second)].is_output = true;
      model_.outputs.push_back(found->second);
    }
    if (model_.outputs.empty()) Bad("the model has no outputs");
    SpreadConstants();
    return std::move(model_);
  }

 private:
  // Shapes with names left would contradict the fixed ones.
  void ForgetSymbols() {
    const auto symbolic = [](const onnx::ValueInfoProto& info) {
      for (const auto& dim : info.type().tensor_type().shape().dim()) {
        if (!dim.has_dim_value()) return true;
      }
      return false;
    };
    auto* infos = graph_.mutable_value_info();
    for (int i = infos->size(); i-- > 0;) {
      if (symbolic(infos->Get(i))) infos->DeleteSubrange(i, 1);
    }
    for (auto& info : *graph_.mutable_output()) {
      if (info.type().has_tensor_type() && symbolic(info)) {
        info.mutable_type()->mutable_tensor_type()->clear_shape();
      }
    }
  }

  int ValueOf(const std::string& name) {
    const auto [entry, added] =
        index_.emplace(name, static_cast<int>(model_.values.size()));
    if (added) {
      if (model_.values.size() >= kMostValues) Bad("too many tensors");
      model_.values.emplace_back();
      model_.values.back().name = name;
    }
    return entry->second;
  }

  void TakeValues(const std::set<std::string>& initialised) {
    for (const auto& info : graph_.input()) {
      if (initialised.count(info.name()) != 0) continue;
      if (index_.count(info.name()) != 0)
        Bad("input " + info.name() + " appears twice");
      const int type = info.type().tensor_type().elem_type();
      if (OnnxTypeBytes(type) == 0) {
        Bad("input " + info.name() + " has elements of type " + OnnxTypeName(type) +
            ", which this importer does not hold");
      }
      model_.inputs.push_back(ValueOf(info.name()));
    }
    for (const auto& tensor : graph_.initializer()) {
      if (index_.count(tensor.name()) != 0)
        Bad("tensor " + tensor.name() + " appears twice");
      const int value = ValueOf(tensor.name());
      TakeConstant(tensor, external_, &model_.values[static_cast<size_t>(value)]);
    }
  }

  static std::string NameOf(const onnx::NodeProto& node, int number) {
    std::string name = node.name();
    if (name.empty() && node.output_size() != 0) name = node.output(0);
    if (name.empty()) name = "number " + std::to_string(number);
    return name;
  }

  // Nodes in an order in which everything is written before it is read; the protobuf's
  // own order need not be one.
  void TakeNodes() {
    std::unordered_map<std::string, int> writer;
    for (int n = 0; n < graph_.node_size(); ++n) {
      for (const std::string& output : graph_.node(n).output()) {
        if (output.empty()) continue;
        if (!writer.emplace(output, n).second || index_.count(output) != 0) {
          Bad("tensor " + output + " is written twice, the second time by node " +
              NameOf(graph_.node(n), n));
        }
      }
    }
    const size_t count = static_cast<size_t>(graph_.node_size());
    std::vector<int> waits(count, 0);
    std::vector<std::vector<int>> wakes(count);
    for (int n = 0; n < graph_.node_size(); ++n) {
      for (const std::string& input : graph_.node(n).input()) {
        if (input.empty() || index_.count(input) != 0) continue;
        const auto from = writer.find(input);
        if (from == writer.end()) {
          Bad("node " + NameOf(graph_.node(n), n) + " reads " + input +
              ", which nobody writes");
        }
        ++waits[static_cast<size_t>(n)];
        wakes[static_cast<size_t>(from->second)].push_back(n);
      }
    }
    std::set<int> ready;
    for (int n = 0; n < graph_.node_size(); ++n) {
      if (waits[static_cast<size_t>(n)] == 0) ready.insert(n);
    }
    onnx::GraphProto sorted;
    while (!ready.empty()) {
      const int n = *ready.begin();
      ready.erase(ready.begin());
      *sorted.add_node() = graph_.node(n);
      for (const int next : wakes[static_cast<size_t>(n)]) {
        if (--waits[static_cast<size_t>(next)] == 0) ready.insert(next);
      }
    }
    if (sorted.node_size() != graph_.node_size()) {
      for (int n = 0; n < graph_.node_size(); ++n) {
        if (waits[static_cast<size_t>(n)] > 0) {
          Bad("a cycle of nodes, " + NameOf(graph_.node(n), n) + " among them");
        }
      }
    }
    graph_.mutable_node()->Swap(sorted.mutable_node());
    for (int n = 0; n < graph_.node_size(); ++n) TakeNode(n);
  }

  void TakeNode(int n) {
    const onnx::NodeProto& proto = graph_.node(n);
    OnnxNode node;
    node.name = NameOf(proto, n);
    const bool plain = proto.domain().empty() || proto.domain() == "ai.onnx";
    node.op = plain ? proto.op_type() : proto.domain() + "." + proto.op_type();
    for (const std::string& input : proto.input()) {
      node.inputs.push_back(input.empty() ? -1 : ValueOf(input));
      if (input.empty()) continue;
      auto& readers = model_.values[static_cast<size_t>(node.inputs.back())].readers;
      if (readers.empty() || readers.back() != n) readers.push_back(n);
    }
    for (const std::string& output : proto.output()) {
      node.outputs.push_back(output.empty() ? -1 : ValueOf(output));
      if (output.empty()) continue;
      model_.values[static_cast<size_t>(node.outputs.back())].producer = n;
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
      OnnxValue& out = model_.values[static_cast<size_t>(node.outputs[0])];
      if (node.op == "Constant" && a.name() == "value")
        TakeConstant(a.t(), external_, &out);
      if (node.op == "Constant" &&
          (a.name() == "value_int" || a.name() == "value_ints")) {
        out.constant = out.has_integers = true;
        out.integers = a.name() == "value_int" ? std::vector<int64_t>{a.i()} : to.ints;
      }
    }
    model_.nodes.push_back(std::move(node));
  }

  // Inference wants a version even for domains it knows nothing of.
  void NameDomains() {
    std::set<std::string> known;
    for (const auto& opset : proto_->opset_import()) known.insert(opset.domain());
    for (const auto& node : graph_.node()) {
      if (node.domain() == "ai.onnx" || !known.insert(node.domain()).second) continue;
      onnx::OperatorSetIdProto* opset = proto_->add_opset_import();
      opset->set_domain(node.domain());
      opset->set_version(1);
    }
  }

  // Shapes that were computed from shapes become constants for nodes that still lack
  // theirs, so that inference gets further. False: nothing new.
  bool PinIntegers() {
    bool pinned = false;
    for (size_t n = 0; n < model_.nodes.size(); ++n) {
      const OnnxNode& node = model_.nodes[n];
      if (model_.values[static_cast<size_t>(node.outputs[0])].has_shape) continue;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] < 0) continue;
        const OnnxValue& value = model_.values[static_cast<size_t>(node.inputs[i])];
        const std::string name = value.name + "/known";
        if (!value.has_integers || value.has_data || value.name.empty()) continue;
        std::string* input = graph_.mutable_node(static_cast<int>(n))
                                 ->mutable_input(static_cast<int>(i));
        if (*input == name) continue;
        *input = name;
        pinned = true;
        if (!pinned_.insert(name).second) continue;
        TensorProto* tensor = graph_.add_initializer();
        tensor->set_name(name);
        tensor->set_data_type(value.type == kOnnxInt32 ? kOnnxInt32 : kOnnxInt64);
        if (!value.has_shape || !value.dims.empty()) {
          tensor->add_dims(static_cast<int64_t>(value.integers.size()));
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

  void TakeShape(const onnx::ValueInfoProto& info) {
    const auto found = index_.find(info.name());
    if (found == index_.end() || !info.type().has_tensor_type()) return;
    OnnxValue& value = model_.values[static_cast<size_t>(found->second)];
    if (value.has_data) return;
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
  }

  void TakeShapes() {
    for (const auto& info : graph_.input()) TakeShape(info);
    for (const auto& info : graph_.value_info()) TakeShape(info);
    for (const auto& info : graph_.output()) TakeShape(info);
  }

  void SpreadConstants() {
    for (const OnnxNode& node : model_.nodes) {
      bool constant = true;
      for (const int input : node.inputs) {
        if (input >= 0) constant &= model_.values[static_cast<size_t>(input)].constant;
      }
      if (node.inputs.empty() && node.op != "Constant") constant = false;  // random
      for (const int output : node.outputs) {
        if (output >= 0 && constant) {
          model_.values[static_cast<size_t>(output)].constant = true;
        }
      }
    }
  }

  onnx::ModelProto* proto_;
  onnx::GraphProto& graph_;
  const sluice_external_files_t* external_;
  std::set<std::string> pinned_;
  std::unordered_map<std::string, int> index_;
  OnnxModel model_;
};

}  // namespace

int64_t OnnxNode::Int(const std::string& attribute, int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.i;
}
float OnnxNode::Float(const std::string& attribute, float otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.f;
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
                        const sluice_external_files_t* external) {
  if (size > static_cast<size_t>(std::numeric_limits<int>::max())) {
    Bad("the file exceeds the 2 GiB that protobuf allows");
  }
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes, static_cast<int>(size)) || !proto.has_graph()) {
    Bad("this is not an ONNX model, or a damaged or truncated one");
  }
  return Reader(&proto, external).Run(dims);
}

}  // namespace sluice::import
