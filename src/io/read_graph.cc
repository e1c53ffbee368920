// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"
#include "base/hash.h"
#include "io/read.h"
#include "io/wire.h"
#include "model/ops/traits.h"
#include "sluice/graph_generated.h"

namespace sluice {

namespace {

constexpr char kStage[] = "graph";
constexpr size_t kMaxLayerInputs = 1024;  // the message of ConnectLayer states it

// State of reading one graph: the wire table, the graph being filled, the diagnostic.
struct Reader {
  const wire::Graph* in;
  Arena* arena;
  Graph* graph;
  Diagnostic* diagnostic;
  Span<Tensor> tensors;
  Span<Layer> layers;

  Fail Bad() const { return Fail(diagnostic, Status::kBadInput, kStage); }
};

// True if `begin` is a CSR index: n + 1 ascending entries, the last one equal to `end`.
bool IsCsr(Span<const uint32_t> begin, size_t n, size_t end) {
  if (begin.size() != n + 1 || begin[0] != 0 || begin[n] != end) return false;
  for (size_t i = 0; i < n; ++i) {
    if (begin[i] > begin[i + 1]) return false;
  }
  return true;
}

Status ReadNames(Reader* r) {
  const auto* names = r->in->names();
  Span<Text> out;
  SLUICE_TRY(r->arena->Allocate(names == nullptr ? 0 : names->size(), &out));
  for (size_t i = 0; i < out.size(); ++i) {
    SLUICE_TRY(CopyText(names->Get(static_cast<uint32_t>(i)), r->arena, &out[i]));
  }
  r->graph->names = out;
  return CopyText(r->in->name(), r->arena, &r->graph->name);
}

Status ReadTensorShape(Reader* r, uint32_t t, Span<const int32_t> dims) {
  Tensor* tensor = &r->tensors[t];
  if (dims.size() > kAxes) {
    return Fail(r->diagnostic, Status::kUnsupported, kStage)
        .Tensor(t)
        .Say("tensor # has # axes; this version takes up to 4", t, dims.size());
  }
  tensor->rank = static_cast<uint8_t>(dims.size());
  for (int a = 0; a < kAxes; ++a) tensor->extent[a] = 1;
  int64_t bytes = tensor->element_bytes;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (dims[a] < 1) {
      return r->Bad().Tensor(t).Say(
          "tensor # has extent #; every extent must be at least 1", t, dims[a]);
    }
    tensor->extent[kAxes - dims.size() + a] = dims[a];
    if (!CheckedMultiply(bytes, dims[a], &bytes) || bytes > (int64_t{1} << 46)) {
      return r->Bad().Tensor(t).Say(
          "the shape of tensor # overflows: more than 2^46 bytes", t);
    }
  }
  // The stream stores strides in 32 bits.
  if (bytes / tensor->extent[0] > INT64_C(0xffffffff)) {
    return Fail(r->diagnostic, Status::kUnsupported, kStage)
        .Tensor(t)
        .Say("tensor # has an outer stride above 4 GiB", t);
  }
  tensor->bytes = bytes;
  return Status::kOk;
}

Status ReadTensorSource(Reader* r, uint32_t t) {
  Tensor* tensor = &r->tensors[t];
  const Span<const uint8_t> source = AsSpan(r->in->tensor_source());
  const Span<const uint64_t> offset = AsSpan(r->in->tensor_source_offset());
  tensor->source = t < source.size() ? source[t] : uint8_t{0};
  tensor->source_offset = t < offset.size() ? offset[t] : 0;
  const bool constant = tensor->kind == TensorKind::kConstant;
  // A state may say what it holds before the first run.
  const bool may_have = constant || tensor->kind == TensorKind::kState;
  if (tensor->source > 3 || (tensor->source != 0 ? !may_have : constant)) {
    return r->Bad()
        .Tensor(t)
        .Say("tensor #", t)
        .Text(constant ? " is constant but has no valid source"
                       : " is not constant but has a source");
  }
  const uint64_t data_bytes = r->in->data() == nullptr ? 0 : r->in->data()->size();
  const uint64_t need = static_cast<uint64_t>(tensor->bytes);
  if (tensor->source == 1 && (tensor->source_offset > data_bytes ||
                              need > data_bytes - tensor->source_offset)) {
    return r->Bad()
        .Tensor(t)
        .Say("constant tensor # lies outside the inline data", t)
        .Bytes(tensor->source_offset + need, data_bytes);
  }
  if (tensor->source == 2) {
    const Span<const uint32_t> file = AsSpan(r->in->tensor_source_file());
    if (t >= file.size() || file[t] >= r->graph->names.size()) {
      return r->Bad().Tensor(t).Say("external tensor # names no file", t);
    }
    tensor->file = file[t];
  }
  return Status::kOk;
}

Status ReadEncoding(Reader* r, uint32_t t) {
  Tensor* tensor = &r->tensors[t];
  const auto* encoded = r->in->tensor_encoded_bytes();
  tensor->encoded_bytes = 0;
  if (encoded == nullptr || encoded->Get(t) == 0) return Status::kOk;
  const uint64_t most = static_cast<uint64_t>(Min(tensor->bytes, int64_t{INT32_MAX}));
  if (tensor->kind != TensorKind::kConstant || encoded->Get(t) > most) {
    return r->Bad().Tensor(t).Say(
        "tensor #: tensor_encoded_bytes must be 0, or of a constant and at most its "
        "bytes and 2^31 - 1",
        t);
  }
  tensor->encoded_bytes = static_cast<int64_t>(encoded->Get(t));
  return Status::kOk;
}

// Looks at the multipliers and shifts of parameters.
Scales ReadScales(const Reader& r, const Tensor& t) {
  constexpr int32_t kOne[2] = {1 << 30, 1};  // multiplier and shift
  if (t.source != 1 || t.dtype != SLUICE_DTYPE_INT32 || t.rank != 2 ||
      t.extent[3] != 3) {
    return kScalesPerChannel;
  }
  const uint8_t* at = r.in->data()->Data() + t.source_offset + 4;
  const bool one = memcmp(at, kOne, sizeof kOne) == 0;
  for (int32_t k = 1; k < t.extent[2]; ++k) {
    if (memcmp(at, at + int64_t{k} * 12, sizeof kOne) != 0) return kScalesPerChannel;
  }
  return one ? kScalesNone : kScalesPerTensor;
}

Status ReadTensors(Reader* r) {
  const Span<const uint8_t> dtype = AsSpan(r->in->tensor_dtype());
  const Span<const uint8_t> kind = AsSpan(r->in->tensor_kind());
  const Span<const uint32_t> name = AsSpan(r->in->tensor_name());
  const Span<const uint32_t> dim_begin = AsSpan(r->in->tensor_dim_begin());
  const Span<const int32_t> dims = AsSpan(r->in->tensor_dims());
  const size_t n = dtype.size();
  if (n == 0) return r->Bad().Text("the graph has no tensors");
  if (kind.size() != n || !IsCsr(dim_begin, n, dims.size())) {
    return r->Bad().Text(
        "tensor_kind, tensor_dim_begin and tensor_dtype disagree on the number of "
        "tensors");
  }
  const auto* encoded = r->in->tensor_encoded_bytes();
  if (encoded != nullptr && (encoded->size() != n || !ElementsAligned(encoded))) {
    return r->Bad().Text(
        "tensor_encoded_bytes is not one for each tensor, 8-byte aligned");
  }
  SLUICE_TRY(r->arena->Allocate(n, &r->tensors));
  for (uint32_t t = 0; t < n; ++t) {
    Tensor* tensor = &r->tensors[t];
    tensor->dtype = dtype[t];
    tensor->element_bytes = DtypeBytes(dtype[t]);
    tensor->producer = kNone;
    tensor->file = kNone;
    tensor->name =
        t < name.size() && name[t] < r->graph->names.size() ? name[t] : kNone;
    if (tensor->element_bytes == 0 || kind[t] > 4) {
      return r->Bad().Tensor(t).Say("tensor # has unknown dtype # or kind #", t,
                                    dtype[t], kind[t]);
    }
    tensor->kind = static_cast<TensorKind>(kind[t]);
    SLUICE_TRY(ReadTensorShape(r, t, dims.Slice(dim_begin[t], dim_begin[t + 1])));
    SLUICE_TRY(ReadTensorSource(r, t));
    SLUICE_TRY(ReadEncoding(r, t));
    tensor->scales = ReadScales(*r, *tensor);
  }
  r->graph->tensors = r->tensors;
  return Status::kOk;
}

// Copies a CSR's items and cuts them into one span per layer.
template <typename T>
Status CopyItems(Reader* r, Span<const T> items, Span<T>* out) {
  SLUICE_TRY(r->arena->Allocate(items.size(), out));
  if (!items.empty()) memcpy(out->data(), items.data(), items.size() * sizeof(T));
  return Status::kOk;
}

// Checks that inputs exist and are already produced (which excludes cycles), and that
// outputs are written once and are neither constants nor inputs.
Status ConnectLayer(Reader* r, uint32_t l) {
  const Layer& layer = r->layers[l];
  const auto fail = [&](uint32_t t, const char* what) -> Status {
    return r->Bad().Layer(l).Tensor(t).Say("layer #", l).Text(what);
  };
  if (layer.outputs.empty()) return fail(kNone, " has no output");
  if (layer.inputs.size() > kMaxLayerInputs)
    return fail(kNone, " has more than 1024 inputs");
  for (uint32_t t : layer.inputs) {
    if (t == kNone) continue;
    if (t >= r->tensors.size())
      return fail(kNone, " reads a tensor that does not exist");
    const Tensor& tensor = r->tensors[t];
    const bool given =
        tensor.kind != TensorKind::kIntermediate && tensor.kind != TensorKind::kOutput;
    if (!given && tensor.producer == kNone) {
      return fail(t,
                  " reads a tensor that no earlier layer produces: a cycle, a missing "
                  "layer or wrong order");
    }
  }
  for (uint32_t t : layer.outputs) {
    if (t >= r->tensors.size()) {
      return fail(kNone, " writes a tensor that does not exist");
    }
    Tensor* tensor = &r->tensors[t];
    if (tensor->kind == TensorKind::kConstant || tensor->kind == TensorKind::kInput) {
      return fail(t, " writes a constant or a graph input");
    }
    if (tensor->kind == TensorKind::kState && KindOf(layer.op) != LayerKind::kAppend) {
      return fail(t, " writes a state otherwise than by state_append");
    }
    if (tensor->producer != kNone) return fail(t, " writes a tensor a second time");
    tensor->producer = l;
  }
  return Status::kOk;
}

// Encoded tensors are decoded on their way to where tiles take their weights.
Status CheckDecoding(Reader* r, uint32_t l) {
  const Layer& layer = r->layers[l];
  const OpTraits& traits = TraitsOf(layer);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const uint32_t t = layer.inputs[i];
    if (t == kNone || r->tensors[t].encoded_bytes == 0) continue;
    if (i < kMaxRoles && traits.role[i] == kRoleWeight) continue;
    return r->Bad().Layer(l).Tensor(t).Say(
        "layer # reads an encoded tensor otherwise than as its weights", l);
  }
  return Status::kOk;
}

Status ReadLayers(Reader* r) {
  const Span<const uint16_t> op = AsSpan(r->in->layer_op());
  const Span<const uint32_t> name = AsSpan(r->in->layer_name());
  const Span<const uint32_t> in_begin = AsSpan(r->in->layer_input_begin());
  const Span<const uint32_t> out_begin = AsSpan(r->in->layer_output_begin());
  const Span<const uint32_t> at_begin = AsSpan(r->in->layer_attribute_begin());
  const size_t n = op.size();
  if (n == 0) return r->Bad().Text("the graph has no layers");
  const Span<const uint32_t> in_items = AsSpan(r->in->layer_inputs());
  const Span<const uint32_t> out_items = AsSpan(r->in->layer_outputs());
  const Span<const int32_t> at_items = AsSpan(r->in->layer_attributes());
  if (!IsCsr(in_begin, n, in_items.size()) || !IsCsr(out_begin, n, out_items.size()) ||
      !IsCsr(at_begin, n, at_items.size())) {
    return r->Bad().Text(
        "layer_input_begin, layer_output_begin or layer_attribute_begin is not an "
        "ascending list of one more than the layers");
  }
  Span<uint32_t> inputs;
  Span<uint32_t> outputs;
  Span<int32_t> attributes;
  SLUICE_TRY(CopyItems(r, in_items, &inputs));
  SLUICE_TRY(CopyItems(r, out_items, &outputs));
  SLUICE_TRY(CopyItems(r, at_items, &attributes));
  SLUICE_TRY(r->arena->Allocate(n, &r->layers));
  r->graph->layers = r->layers;
  for (uint32_t l = 0; l < n; ++l) {
    Layer* layer = &r->layers[l];
    layer->op = op[l];
    layer->takes_rows = false;
    layer->name = l < name.size() && name[l] < r->graph->names.size() ? name[l] : kNone;
    layer->inputs = inputs.Slice(in_begin[l], in_begin[l + 1]);
    layer->outputs = outputs.Slice(out_begin[l], out_begin[l + 1]);
    layer->attributes = attributes.Slice(at_begin[l], at_begin[l + 1]);
    if (!IsKnownOp(op[l])) {
      return r->Bad().Layer(l).Say("layer # has unknown op #", l, op[l]);
    }
    SLUICE_TRY(ConnectLayer(r, l));
    SLUICE_TRY(CheckLayer(*r->graph, l, r->diagnostic));
    SLUICE_TRY(CheckDecoding(r, l));
  }
  return Status::kOk;
}

Status CheckOutputs(const Reader& r) {
  bool any = false;
  for (uint32_t t = 0; t < r.tensors.size(); ++t) {
    if (r.tensors[t].kind != TensorKind::kOutput) continue;
    any = true;
    if (r.tensors[t].producer == kNone) {
      return r.Bad().Tensor(t).Say("graph output # is produced by no layer", t);
    }
  }
  if (!any) return r.Bad().Text("the graph has no output tensor");
  return Status::kOk;
}

Status ReadParameters(Reader* r) {
  const Span<const uint32_t> name = AsSpan(r->in->parameter_name());
  const Span<const int32_t> low = AsSpan(r->in->parameter_min());
  const Span<const int32_t> high = AsSpan(r->in->parameter_max());
  if (low.size() != name.size() || high.size() != name.size()) {
    return r->Bad().Text(
        "parameter_name, parameter_min, parameter_max differ in length");
  }
  Span<Parameter> out;
  SLUICE_TRY(r->arena->Allocate(name.size(), &out));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = Parameter{name[i], low[i], high[i]};
    if (low[i] > high[i] || low[i] < 0) {
      return r->Bad().Say("parameter # has an empty or negative range", i);
    }
  }
  r->graph->parameters = out;
  return Status::kOk;
}

// Plans do not depend on the values of constants, so the hash, a cache key, leaves them
// out. Hashing megabytes of weights would also cost milliseconds.
uint64_t HashWithoutData(const uint8_t* bytes, size_t size,
                         const flatbuffers::Vector<uint8_t>* data) {
  if (data == nullptr) return Fnv1a(bytes, size);
  const uint8_t* end = data->Data() + data->size();
  const uint64_t hash = Fnv1a(bytes, static_cast<size_t>(data->Data() - bytes));
  return Fnv1a(end, static_cast<size_t>(bytes + size - end), hash);
}

}  // namespace

Status ReadGraph(const void* bytes, size_t size, Arena* arena, Graph* graph,
                 Diagnostic* diagnostic) {
  const uint8_t* data = nullptr;
  SLUICE_TRY(OpenWire({bytes, size, wire::GraphIdentifier(), kStage, kGraphForm}, arena,
                      &data, diagnostic));
  Reader r = {wire::GetGraph(data), arena, graph, diagnostic, {}, {}};
  if (!ElementsAligned(r.in->tensor_source_offset())) {
    return r.Bad().Text("tensor_source_offset is not 8-byte aligned");
  }
  SLUICE_TRY(ReadNames(&r));
  SLUICE_TRY(ReadTensors(&r));
  SLUICE_TRY(ReadParameters(&r));
  SLUICE_TRY(ReadLayers(&r));
  SLUICE_TRY(CheckOutputs(r));
  if (r.in->data() != nullptr) {
    graph->data_begin = static_cast<uint64_t>(r.in->data()->Data() - data);
  }
  graph->hash = HashWithoutData(data, size, r.in->data());
  return Status::kOk;
}

}  // namespace sluice
