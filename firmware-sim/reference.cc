// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>
#include <fstream>

#include "host_functions.h"
#include "kernels.h"

namespace sluice_sim {
namespace {

Box BoxOf(const Tensor& t, Bytes* bytes) {
  return DenseBox(bytes->data(), t.dtype, t.extent);
}

// Copies `extent` elements from position `from_at` of one box to `to_at` of another.
std::string CopyPart(const Box& from, const Extent& from_at, const Box& to,
                     const Extent& to_at, const Extent& extent) {
  if (from.dtype != to.dtype) return "inputs and output differ in dtype";
  Box a = from, b = to;
  for (int i = 0; i < 4; ++i) {
    if (from_at[i] < 0 || to_at[i] < 0 || from_at[i] + extent[i] > from.extent[i] ||
        to_at[i] + extent[i] > to.extent[i]) {
      return "a part outside its tensor on axis " + std::to_string(i);
    }
    a.data += from_at[i] * from.stride[i];
    b.data += to_at[i] * to.stride[i];
  }
  a.extent = b.extent = extent;
  CopyBox(a, b);
  return "";
}

void CropWindows(const Extent& windows, Tile* t) {
  const Window g = WindowOf(*t);
  for (int i = 0; i < 2; ++i) {
    int64_t* rows = &t->input0.extent[1 + i];
    const int64_t need =
        (windows[1 + i] - 1) * g.stride[i] + (g.size[i] - 1) * g.dilation[i] + 1;
    t->pad[i] = g.pad_before[i];
    *rows = std::clamp<int64_t>(need - t->pad[i], 1, *rows);
    t->pad[2 + i] = need - t->pad[i] - *rows;
  }
}

// Pads are smaller than windows, so that the first row and column are always reached.
void CropScattered(bool pool, Tile* t) {
  const Window g = WindowOf(*t);
  for (int i = 0; i < 2; ++i) {
    if (g.stride[i] < 1) return;
    int64_t* rows = &t->input0.extent[1 + i];
    const Rows used = TransposedRows(0, t->output.extent[1 + i], g.stride[i],
                                     g.pad_before[i], g.size[i], *rows);
    *rows = used.last - used.first + 1;
    if (!pool) continue;
    const Rows seen = PoolGradientRows(*t, 1 + i);
    t->input1.extent[1 + i] = seen.last - seen.first + 1;
  }
}

void CropInterpolated(Tile* t) {
  for (int i = 1; i < 3; ++i) {
    const Rows used = ResizeRows(*t, i, 0, t->output.extent[i]);
    t->input0.data += used.first * t->input0.stride[i];
    t->input0.extent[i] = used.last - used.first + 1;
  }
}

// Crops inputs to what windows reach, and sets the padding of the whole output.
void Crop(Tile* t) {
  switch (OpOf(t->op).slide) {
    case Slide::kNone:
    case Slide::kPads:
      break;
    case Slide::kFilter:
    case Slide::kPool:
      return CropWindows(t->output.extent, t);
    case Slide::kTaps:
      return CropWindows(t->input1.extent, t);
    case Slide::kScatter:
      return CropScattered(false, t);
    case Slide::kPoolScatter:
      return CropScattered(true, t);
    case Slide::kInterpolation:
      return CropInterpolated(t);
  }
}

class Run {
 public:
  Run(const Graph& graph, const std::vector<int32_t>& parameters, Values* values)
      : graph_(graph), parameters_(parameters), values_(*values) {}

  std::string Execute(const Layer& layer) {
    const Means means = OpOf(layer.op).means;
    if (means != Means::kHost && layer.outputs.size() != 1)
      return "more than one output";
    for (uint32_t t : layer.inputs) {
      if (t != kAbsent && values_[t].empty()) {
        return "tensor " + std::to_string(t) + " is read before it is written";
      }
    }
    const uint32_t o = layer.outputs[0];
    if (means != Means::kAppend) {
      values_[o].assign(static_cast<size_t>(graph_.tensors[o].bytes), 0);
    }
    switch (means) {
      case Means::kUnknown:
        return "op " + std::to_string(layer.op) + " is unknown";
      case Means::kCompute:
        return Compute(layer);
      case Means::kConcat:
        return Concat(layer);
      case Means::kSlice:
        return Slice(layer);
      case Means::kPad:
        return Pad(layer);
      case Means::kReshape:
        if (graph_.tensors[layer.inputs[0]].dtype != graph_.tensors[o].dtype ||
            values_[layer.inputs[0]].size() != values_[o].size()) {
          return "byte counts or dtypes";
        }
        values_[o] = values_[layer.inputs[0]];
        return "";
      case Means::kGather:
        return Gather(layer);
      case Means::kAppend:
        return Append(layer);
      case Means::kHost:
        return OnHost(layer);
    }
    return "op";
  }

 private:
  Box At(uint32_t tensor) {
    if (tensor == kAbsent) return Box{};
    return BoxOf(graph_.tensors[tensor], &values_[tensor]);
  }
  static int32_t Attribute(const Layer& layer, size_t i) {
    return i < layer.attributes.size() ? layer.attributes[i] : 0;
  }

  HostOperand OperandOf(uint32_t tensor) {
    const Tensor& t = graph_.tensors[tensor];
    values_[tensor].resize(static_cast<size_t>(t.bytes));
    return {t.dtype, t.extent, &values_[tensor], graph_.cancel};
  }

  std::string OnHost(const Layer& layer) {
    const size_t index = static_cast<uint32_t>(Attribute(layer, SLUICE_OPAQUE_NAME));
    const std::string name = index < graph_.names.size() ? graph_.names[index] : "";
    const HostFunction* function = FindHostFunction(name);
    if (graph_.host_functions != nullptr) {
      const auto given = graph_.host_functions->find(name);
      if (given != graph_.host_functions->end()) function = &given->second;
    }
    if (function == nullptr) {
      return "no host function \"" + name + "\" is known here";
    }
    HostOperands in, out;
    for (uint32_t t : layer.inputs) {
      if (t != kAbsent) in.push_back(OperandOf(t));
    }
    for (uint32_t t : layer.outputs) out.push_back(OperandOf(t));
    const std::string wrong = (*function)(in, out);
    return wrong.empty() ? "" : name + ": " + wrong;
  }

  std::string Concat(const Layer& layer) {
    const int32_t axis = Attribute(layer, SLUICE_CONCAT_AXIS);
    if (axis < 0 || axis > 3) return "axis";
    Extent at{};
    const Box out = At(layer.outputs[0]);
    for (uint32_t t : layer.inputs) {
      if (t == kAbsent) continue;
      const Box in = At(t);
      const std::string error = CopyPart(in, {}, out, at, in.extent);
      if (!error.empty()) return error;
      at[axis] += in.extent[axis];
    }
    return at[axis] == out.extent[axis] ? "" : "inputs do not fill the output";
  }

  std::string Slice(const Layer& layer) {
    Extent begin{};
    for (int a = 0; a < 4; ++a) begin[a] = Attribute(layer, SLUICE_SLICE_BEGIN_N + a);
    const Box out = At(layer.outputs[0]);
    return CopyPart(At(layer.inputs[0]), begin, out, {}, out.extent);
  }

  std::string Pad(const Layer& layer) {
    Extent before{};
    for (int a = 0; a < 4; ++a) before[a] = Attribute(layer, SLUICE_PAD_BEFORE_N + a);
    const Box in = At(layer.inputs[0]), out = At(layer.outputs[0]);
    const int64_t step = DtypeBytes(out.dtype);
    for (int64_t i = 0; i < out.elements(); ++i) {
      Write(out.dtype, out.data + i * step, Attribute(layer, SLUICE_PAD_VALUE));
    }
    return CopyPart(in, {}, out, before, in.extent);
  }

  std::string Gather(const Layer& layer) {
    if (layer.input(1) == kAbsent) return "no indices";
    const Box table = At(layer.inputs[0]), index = At(layer.inputs[1]);
    const Box out = At(layer.outputs[0]);
    const int64_t row = table.extent[3] * DtypeBytes(table.dtype);
    if (index.dtype != SLUICE_DTYPE_INT32 || out.dtype != table.dtype ||
        out.elements() != index.elements() * table.extent[3] ||
        table.elements() != table.extent[2] * table.extent[3]) {
      return "extents or dtypes";
    }
    for (int64_t i = 0; i < index.elements(); ++i) {
      const int64_t at = Read(index.dtype, index.data + 4 * i);
      if (at < 0 || at >= table.extent[2]) return "an index out of range";
      std::copy_n(table.data + at * row, row, out.data + i * row);
    }
    return "";
  }

  std::string Append(const Layer& layer) {
    const int32_t axis = Attribute(layer, SLUICE_APPEND_AXIS);
    const size_t parameter =
        static_cast<uint32_t>(Attribute(layer, SLUICE_APPEND_PARAMETER));
    if (axis < 0 || axis > 3 || layer.input(1) == kAbsent) return "axis or rows";
    if (layer.inputs[0] != layer.outputs[0]) return "not to its own state";
    if (parameter >= parameters_.size()) return "parameter";
    const Box state = At(layer.inputs[0]), rows = At(layer.inputs[1]);
    Extent at{};
    at[axis] = parameters_[parameter];
    return CopyPart(rows, {}, state, at, rows.extent);
  }

  std::string Compute(const Layer& layer) {
    const Tile t = CroppedTile(graph_, layer, &values_);
    const std::string error = CheckTile(t);
    if (!error.empty()) return error;
    RunTile(t);
    return "";
  }

  const Graph& graph_;
  const std::vector<int32_t>& parameters_;
  Values& values_;
};

}  // namespace

Bytes SeededBytes(uint64_t seed, int64_t size, const uint32_t* cancel) {
  Bytes bytes(static_cast<size_t>((size + 7) / 8 * 8));
  for (size_t i = 0; i < bytes.size(); i += 8) {
    Poll(cancel);
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    std::memcpy(bytes.data() + i, &z, 8);
  }
  bytes.resize(static_cast<size_t>(size));
  return bytes;
}

std::string FillFromSource(const Graph& graph, size_t tensor,
                           const std::string& data_dir, Bytes* value) {
  const Tensor& t = graph.tensors[tensor];
  const std::string who = "constant tensor " + std::to_string(tensor) + ": ";
  const size_t bytes = static_cast<size_t>(t.bytes);
  if (t.source == kInline) {
    if (t.source_offset > graph.data_size ||
        bytes > graph.data_size - t.source_offset) {
      return who + "outside the inline data";
    }
    value->assign(graph.data + t.source_offset, graph.data + t.source_offset + bytes);
  } else if (t.source == kSeeded) {
    *value = SeededBytes(t.source_offset, t.bytes, graph.cancel);
  } else if (t.source == kExternal) {
    if (t.file.empty() || t.file[0] == '/' || t.file.find("..") != std::string::npos) {
      return who + "file name leaves the data directory";
    }
    std::ifstream file(data_dir + "/" + t.file, std::ios::binary);
    value->resize(bytes);
    if (!file || !file.seekg(static_cast<std::streamoff>(t.source_offset)) ||
        !file.read(reinterpret_cast<char*>(value->data()), t.bytes)) {
      return who + "cannot read " + std::to_string(bytes) + " bytes of " + t.file;
    }
  } else if (t.kind == kState) {
    value->assign(bytes, 0);
  } else {
    return who + "no source of bytes";
  }
  return "";
}

std::string FillConstants(const Graph& graph, const std::string& data_dir,
                          Values* values) {
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].kind != kConstant) continue;
    const std::string error = FillFromSource(graph, i, data_dir, &(*values)[i]);
    if (!error.empty()) return error;
  }
  return "";
}

std::string FillInputs(const Graph& graph, uint64_t seed, const Values* given,
                       Values* values) {
  size_t number = 0;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& t = graph.tensors[i];
    if (t.kind != kInput) continue;
    if (given != nullptr) {
      if (number >= given->size() ||
          (*given)[number].size() != static_cast<size_t>(t.bytes)) {
        return "input " + std::to_string(number) + " needs " + std::to_string(t.bytes) +
               " bytes";
      }
      (*values)[i] = (*given)[number++];
      continue;
    }
    const uint64_t own = seed * 256 + number++;
    (*values)[i] = SeededBytes(own, t.bytes);
    for (const Layer& layer : graph.layers) {
      if (OpOf(layer.op).means != Means::kGather || layer.input(1) != i ||
          t.dtype != SLUICE_DTYPE_INT32) {
        continue;
      }
      const uint64_t rows =
          static_cast<uint64_t>(graph.tensors[layer.inputs[0]].extent[2]);
      const Bytes numbers = SeededBytes(own, 2 * t.bytes);  // eight bytes per index
      for (int64_t e = 0; e < t.bytes / 4; ++e) {
        uint64_t z;
        std::memcpy(&z, numbers.data() + 8 * e, 8);
        Write(SLUICE_DTYPE_INT32, (*values)[i].data() + 4 * e,
              static_cast<int64_t>((z >> 32) % rows));
      }
      break;
    }
  }
  return "";
}

Tile WholeTile(const Graph& graph, const Layer& layer, Values* values) {
  const auto box = [&](uint32_t tensor) {
    if (tensor == kAbsent) return Box{};
    const Tensor& t = graph.tensors[tensor];
    return values == nullptr ? DenseBox(nullptr, t.dtype, t.extent)
                             : BoxOf(t, &(*values)[tensor]);
  };
  Tile t;
  t.op = layer.op;
  t.attributes = layer.attributes;
  t.cancel = graph.cancel;
  t.input0 = box(layer.inputs[0]);
  t.output = box(layer.outputs[0]);
  t.layer.input = t.input0.extent;
  t.layer.output = t.output.extent;
  const Op& op = OpOf(t.op);
  const InputAs as[] = {op.second, op.third};
  for (size_t i = 0; i < 2; ++i) {
    const Box operand = box(layer.input(1 + i));
    switch (as[i]) {
      case InputAs::kNothing:
        break;
      case InputAs::kInput1:
        t.input1 = operand;
        t.layer.second = operand.extent;
        break;
      case InputAs::kWeight:
        t.weight = operand;
        break;
      case InputAs::kParameters:
        t.parameters = operand;
        break;
    }
  }
  if (op.matrix) t.weight = FilterOf(t.weight);
  if (t.sums_over_c()) {
    t.c_end = op.finish == Finish::kGradient ? t.input1.extent[0] * t.input1.extent[1]
                                             : t.input0.extent[3] / t.groups();
  }
  return t;
}

Tile CroppedTile(const Graph& graph, const Layer& layer, Values* values) {
  Tile tile = WholeTile(graph, layer, values);
  Crop(&tile);
  return tile;
}

std::string RunLayer(const Graph& graph, const Layer& layer, Values* values,
                     const std::vector<int32_t>& parameters) {
  return Run(graph, parameters, values).Execute(layer);
}

std::string RunLayers(const Graph& graph, const std::vector<int32_t>& parameters,
                      Values* values) {
  Run run(graph, parameters, values);
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    Poll(graph.cancel);
    const std::string error = run.Execute(graph.layers[i]);
    if (!error.empty()) return "layer " + std::to_string(i) + ": " + error;
  }
  return "";
}

}  // namespace sluice_sim
