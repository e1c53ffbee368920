// SPDX-License-Identifier: Apache-2.0
// Operators that select or repeat elements along each axis: TILE, BROADCAST_TO,
// MIRROR_PAD, REVERSE_V2, STRIDED_SLICE with strides, GATHER by constant indices, and
// RESIZE_NEAREST_NEIGHBOR where the layer would select others. Each axis becomes a CONCAT
// of SLICEs, one SLICE for each run of elements that is contiguous in input and output.
// GATHER by computed indices becomes a GATHER layer.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/error.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;

constexpr int64_t kMostPicks = 1 << 20;  // of an axis
constexpr size_t kMostRuns = 128;        // a slice each

struct Run {
  int32_t begin, count;
};

std::vector<Run> RunsOf(const std::vector<int32_t>& picks) {
  std::vector<Run> runs;
  for (const int32_t pick : picks) {
    if (!runs.empty() && runs.back().begin + runs.back().count == pick) {
      ++runs.back().count;
    } else {
      runs.push_back({pick, 1});
    }
  }
  return runs;
}

// Whether a layer writes the tensor. GATHER loads rows by index from DRAM, so its table
// must lie there whole with its own extents, which holds for inputs and constants, but
// not for views or tensors that are stored tile by tile.
bool IsMade(Lowering* to, uint32_t tensor) {
  const auto& layers = to->graph.layers();
  return std::any_of(layers.begin(), layers.end(), [&](const LayerRow& layer) {
    return std::find(layer.outputs.begin(), layer.outputs.end(), tensor) !=
           layer.outputs.end();
  });
}

// Selects elements along one axis of a tensor of four; the result is an intermediate
// or, for the last axis, the operator's output.
class Step {
 public:
  Step(Lowering* to, const TfliteOperator& op, uint32_t tensor, Dims dims, size_t axis,
       bool last)
      : to_(to),
        op_(op),
        like_(OutputOf(*to, op)),
        tensor_(tensor),
        dims_(std::move(dims)),
        axis_(axis),
        last_(last) {}

  uint32_t TakeRuns(const std::vector<Run>& runs) {
    Dims out = dims_;
    out[axis_] = 0;
    std::vector<uint32_t> parts;
    for (const Run& run : runs) {
      out[axis_] += run.count;
      if (runs.size() > 1) parts.push_back(Cut(run));
    }
    const uint32_t made = Made(out);
    if (runs.size() == 1) {
      Add(SLUICE_OP_SLICE, {tensor_}, made, Begin(runs[0].begin));
    } else {
      Add(SLUICE_OP_CONCAT, parts, made, {static_cast<int32_t>(axis_)});
    }
    return Close(made);
  }

 private:
  uint32_t Add(uint16_t code, std::vector<uint32_t> inputs, uint32_t made,
               std::vector<int32_t> attributes) {
    AddLayer(to_, op_, code, std::move(inputs), made, std::move(attributes));
    return made;
  }
  std::vector<int32_t> Begin(int32_t at) const {
    std::vector<int32_t> begin(4);
    begin[axis_] = at;
    return begin;
  }
  uint32_t Cut(const Run& run) {
    if (run.begin == 0 && run.count == dims_[axis_]) return tensor_;
    Dims part = dims_;
    part[axis_] = run.count;
    return Add(SLUICE_OP_SLICE, {tensor_}, Temporary(to_, like_, "/part", part),
               Begin(run.begin));
  }
  uint32_t Made(const Dims& dims) {
    return last_ ? OpenOutput(to_, op_, dims) : Temporary(to_, like_, "/axis", dims);
  }
  uint32_t Close(uint32_t made) {
    if (last_) CloseOutput(to_, op_, made);
    return made;
  }

  Lowering* to_;
  const TfliteOperator& op_;
  const TfliteTensor& like_;
  uint32_t tensor_;
  Dims dims_;
  size_t axis_;
  bool last_;
};

// The selected indices of each axis; empty: the whole axis in its order.
using Picks = std::vector<std::vector<int32_t>>;

void RequireSameElements(const TfliteTensor& input, const TfliteTensor& out) {
  Require(input.type == out.type, "an output of another type than the input");
}

void TakePicks(Lowering* to, const TfliteOperator& op, size_t from,
               const Picks& picks) {
  Dims dims = AxesOf(InputOf(*to, op, from));
  dims.insert(dims.begin(), picks.size() - dims.size(), 1);
  size_t last = picks.size();
  int64_t elements = 1, wanted = 1;
  for (size_t a = 0; a < picks.size(); ++a) {
    if (!picks[a].empty()) last = a;
    elements *= picks[a].empty() ? dims[a] : static_cast<int64_t>(picks[a].size());
    Require(elements <= INT32_MAX, "more elements than 31 bits count");
  }
  for (const int32_t extent : ExtentsOf(OutputOf(*to, op))) {
    wanted *= extent;
    Require(wanted <= INT32_MAX, "more elements than 31 bits count");
  }
  if (elements != wanted) {
    throw Error(Fault::kBadInput, "the extents of " + OutputOf(*to, op).name +
                                      " are not what its operands say");
  }
  uint32_t tensor = InputTensor(to, op, from);
  if (last == picks.size()) {
    AddLayer(to, op, SLUICE_OP_RESHAPE, {tensor}, OutputTensor(to, op));
    return;
  }
  for (size_t a = 0; a < picks.size(); ++a) {
    if (picks[a].empty()) continue;
    const AxisView axes = ViewOf(dims, a);
    Step step(to, op, Reshaped(to, tensor, OutputOf(*to, op), axes.dims), axes.dims,
              axes.axis, a == last);
    const std::vector<Run> runs = RunsOf(picks[a]);
    Require(runs.size() <= kMostRuns, "an axis in more than 128 pieces");
    tensor = step.TakeRuns(runs);
    dims[a] = static_cast<int32_t>(picks[a].size());
  }
}

void RequireFew(int64_t picks) {
  Require(picks <= kMostPicks, "an axis of more than 1,048,576 elements");
}

void Repeat(int32_t extent, int64_t times, std::vector<int32_t>* picks) {
  RequireFew(times * extent);
  for (int64_t t = 0; t < times; ++t) {
    for (int32_t i = 0; i < extent; ++i) picks->push_back(i);
  }
}

}  // namespace

void LowerTile(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  RequireSameElements(input, OutputOf(*to, op));
  const std::vector<int64_t> times = Integers(InputOf(*to, op, 1));
  Require(times.size() == input.shape.size(), "a number of axes other than the rank");
  const Dims in = AxesOf(input);
  Picks picks(in.size());
  for (size_t i = 0; i < times.size(); ++i) {
    Require(times[i] >= 1 && times[i] <= kMostPicks, "an axis of no or too many tiles");
    const size_t a = AxisAt(input, static_cast<int64_t>(i));
    if (times[i] != 1) Repeat(in[a], times[i], &picks[a]);
  }
  TakePicks(to, op, 0, picks);
}

void LowerBroadcast(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  RequireSameElements(input, OutputOf(*to, op));
  Dims in = AxesOf(input);
  const Dims out = AxesOf(OutputOf(*to, op));
  Require(in.size() <= out.size(), "extents that do not broadcast");
  in.insert(in.begin(), out.size() - in.size(), 1);
  Picks picks(out.size());
  for (size_t a = 0; a < out.size(); ++a) {
    Require(in[a] == out[a] || in[a] == 1, "extents that do not broadcast");
    if (in[a] != out[a]) Repeat(1, out[a], &picks[a]);
  }
  TakePicks(to, op, 0, picks);
}

void LowerMirrorPad(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_MirrorPadOptions();
  Require(options != nullptr, "missing options");
  const TfliteTensor& input = InputOf(*to, op, 0);
  RequireSameElements(input, OutputOf(*to, op));
  const std::vector<int64_t> pads = Integers(InputOf(*to, op, 1));
  Require(pads.size() == 2 * input.shape.size(),
          "pads of another length than the rank");
  Require(options->mode() == 0 || options->mode() == 1, "another mode than the two");
  const int32_t edge = options->mode() == 0 ? 1 : 0;  // REFLECT leaves the edge out
  const Dims in = AxesOf(input);
  Picks picks(in.size());
  for (size_t i = 0; i < input.shape.size(); ++i) {
    const size_t a = AxisAt(input, static_cast<int64_t>(i));
    const int64_t before = pads[2 * i], after = pads[2 * i + 1];
    if (before < 0 || after < 0 || before > in[a] - edge || after > in[a] - edge) {
      throw Error(Fault::kBadInput, "the pads of " + OutputOf(*to, op).name +
                                        " are longer than its input");
    }
    if (before == 0 && after == 0) continue;
    RequireFew(before + in[a] + after);
    for (int64_t k = before; k-- > 0;) {
      picks[a].push_back(static_cast<int32_t>(k) + edge);
    }
    for (int32_t k = 0; k < in[a]; ++k) picks[a].push_back(k);
    for (int64_t k = 0; k < after; ++k) {
      picks[a].push_back(in[a] - 1 - edge - static_cast<int32_t>(k));
    }
  }
  TakePicks(to, op, 0, picks);
}

void LowerReverse(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  RequireSameElements(input, OutputOf(*to, op));
  const Dims in = AxesOf(input);
  Picks picks(in.size());
  for (const int64_t axis : Integers(InputOf(*to, op, 1))) {
    const size_t a = AxisAt(input, axis);
    RequireFew(in[a]);
    picks[a].resize(static_cast<size_t>(in[a]));
    std::iota(picks[a].rbegin(), picks[a].rend(), 0);
  }
  TakePicks(to, op, 0, picks);
}

void LowerStrides(Lowering* to, const TfliteOperator& op,
                  const std::vector<StridedAxis>& axes) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const Dims in = AxesOf(input);
  Picks picks(in.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const StridedAxis& s = axes[i];
    const size_t a = AxisAt(input, static_cast<int64_t>(i));
    for (int64_t at = s.begin; s.stride > 0 ? at < s.end : at > s.end; at += s.stride) {
      if (at < 0 || at >= in[a]) {
        throw Error(Fault::kBadInput,
                    "slice " + OutputOf(*to, op).name + " leaves its input");
      }
      RequireFew(static_cast<int64_t>(picks[a].size()));
      picks[a].push_back(static_cast<int32_t>(at));
    }
    if (picks[a].empty()) {
      throw Error(Fault::kBadInput, "slice " + OutputOf(*to, op).name + " is empty");
    }
  }
  TakePicks(to, op, 0, picks);
}

namespace {

struct Nearest {
  bool align_corners, half_pixel;
};

// The element that the reference kernel selects for element i: it computes in float32.
int32_t KernelSelects(const Nearest& n, int32_t in, int32_t out, int32_t i) {
  const float scale = n.align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float at = (static_cast<float>(i) + (n.half_pixel ? 0.5f : 0.0f)) * scale;
  const float whole = n.align_corners ? std::round(at) : std::floor(at);
  return std::min(static_cast<int32_t>(whole), in - 1);
}

// The element that RESIZE_NEAREST selects (ops.h).
int32_t LayerSelects(const Nearest& n, int64_t in, int64_t out, int64_t i) {
  const bool corners = n.align_corners && out > 1;
  const int64_t whole = corners ? in - 1 : in, parts = corners ? out - 1 : out;
  const int64_t step = (whole * 1024 + parts / 2) / parts;
  int64_t position = step * i + (n.half_pixel ? step / 2 - 512 : 0);
  if (n.align_corners || n.half_pixel) position += 512;
  return static_cast<int32_t>(std::clamp<int64_t>(position >> 10, 0, in - 1));
}

}  // namespace

// A layer of its own where it selects what the reference kernel does.
void LowerNearest(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  EightBit(input);
  RequireSameElements(input, out);
  Require(input.shape.size() == 4 && out.shape.size() == 4,
          "operands that do not have four axes");
  const auto* options = op.wire->builtin_options_as_ResizeNearestNeighborOptions();
  const Nearest n = {options != nullptr && options->align_corners(),
                     options != nullptr && options->half_pixel_centers()};
  const Extents in = ExtentsOf(input), o = ExtentsOf(out);
  Picks picks(4);
  bool same = true;
  for (size_t a = 1; a <= 2; ++a) {
    RequireFew(o[a]);
    for (int32_t i = 0; i < o[a]; ++i) {
      picks[a].push_back(KernelSelects(n, in[a], o[a], i));
      same = same && picks[a].back() == LayerSelects(n, in[a], o[a], i);
    }
  }
  if (!same) return TakePicks(to, op, 0, picks);
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_RESIZE_NEAREST, {ifmap}, OutputTensor(to, op),
           {n.align_corners ? 1 : 0, n.half_pixel ? 1 : 0});
}

void LowerGather(Lowering* to, const TfliteOperator& op) {
  const bool embedding = op.code == static_cast<int>(BuiltinOperator::EMBEDDING_LOOKUP);
  const size_t table_at = embedding ? 1 : 0, index_at = embedding ? 0 : 1;
  const TfliteTensor& table = InputOf(*to, op, table_at);
  const TfliteTensor& index = InputOf(*to, op, index_at);
  RequireSameElements(table, OutputOf(*to, op));
  size_t axis = 4 - std::min<size_t>(table.shape.size(), 4);
  if (const auto* options = op.wire->builtin_options_as_GatherOptions()) {
    Require(options->batch_dims() == 0, "batches of indices");
    axis = static_cast<size_t>(AxisOf(table, options->axis()));
  }
  Require(!table.shape.empty() && table.shape.size() <= 4,
          "a table of no or over four axes");
  Require(static_cast<tflite::TensorType>(index.type) == tflite::TensorType::INT32,
          "indices that are not int32");
  const Extents in = ExtentsOf(table);
  Picks picks(4);
  const bool constant = index.data != nullptr;
  for (const int64_t i : constant ? Integers(index) : std::vector<int64_t>()) {
    if (i < 0 || i >= in[axis]) {
      throw Error(Fault::kBadInput,
                  "an index of " + OutputOf(*to, op).name + " is outside its table");
    }
    RequireFew(static_cast<int64_t>(picks[axis].size()));
    picks[axis].push_back(static_cast<int32_t>(i));
  }
  const bool rows = table.shape.size() == 2 && axis == 2 && index.shape.size() <= 3;
  Require(rows || constant,
          "indices that are computed at run time, of another axis than a table's rows");
  const uint32_t from = InputTensor(to, op, table_at);
  if (rows && !IsMade(to, from)) {
    AddLayer(to, op, SLUICE_OP_GATHER, {from, InputTensor(to, op, index_at)},
             OutputTensor(to, op));
    return;
  }
  Require(constant, "rows of a table that is computed at run time");
  TakePicks(to, op, table_at, picks);
}

}  // namespace sluice::import
