// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools over three axes, taken apart: the frames under a window's depth become
// channels of a picture, so that a convolution over two axes adds them up.
#include <string>

#include "import/onnx/onnx_rewriter.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMostFrames = 4096;

// One number for each axis, or `otherwise`. False: another count, or negative ones.
bool Each(const Rewriter& r, const char* name, size_t count, int64_t otherwise,
          Shape* out) {
  *out = r.Ints(name);
  if (out->empty()) out->assign(count, otherwise);
  bool good = out->size() == count;
  for (const int64_t number : *out) good = good && number >= 0 && number <= kMostFrames;
  return good;
}

struct Window {
  Shape size, strides, dilations, pads;
  Shape in, out;  // of the node

  // Of the depth.
  int64_t Frames() const {
    return (in[2] + pads[0] + pads[3] - dilations[0] * (size[0] - 1) - 1) / strides[0] +
           1;
  }
};

bool ReadWindow(const Rewriter& r, Window* w) {
  w->in = r.Shape(r.In(0));
  w->out = r.Shape(r.node.output(0));
  w->size = r.Ints("kernel_shape");
  if (w->in.size() != 5 || w->out.size() != 5 || w->size.size() != 3) return false;
  const std::string mode = r.Text("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID") return false;
  if (!Each(r, "strides", 3, 1, &w->strides) ||
      !Each(r, "dilations", 3, 1, &w->dilations) || !Each(r, "pads", 6, 0, &w->pads) ||
      r.Int("ceil_mode", 0) != 0) {
    return false;
  }
  for (const int64_t stride : w->strides) {
    if (stride < 1) return false;
  }
  for (const int64_t dilation : w->dilations) {
    if (dilation < 1) return false;
  }
  return true;
}

// The node with a window over the last two axes.
void AddPicture(Rewriter* r, const Window& w, size_t input, const std::string& x,
                const std::string& out) {
  onnx::NodeProto node = r->node;
  node.set_input(static_cast<int>(input), x);
  node.clear_output();
  node.add_output(out);
  node.set_name(out);
  auto* attributes = node.mutable_attribute();
  for (int i = attributes->size(); i-- > 0;) {
    onnx::AttributeProto& attribute = *attributes->Mutable(i);
    const std::string& name = attribute.name();
    const bool ends = name == "pads";
    if (name == "output_padding") {
      attributes->DeleteSubrange(i, 1);
      continue;
    }
    if (!ends && name != "strides" && name != "dilations" && name != "kernel_shape")
      continue;
    const Shape& all = ends                  ? w.pads
                       : name == "strides"   ? w.strides
                       : name == "dilations" ? w.dilations
                                             : w.size;
    attribute.clear_ints();
    for (size_t a = 1; a < all.size(); ++a) {
      if (a != 3) attribute.add_ints(all[a]);
    }
  }
  r->nodes.push_back(node);
}

// The stored constant of a weight, which may be dequantised. nullptr: there is none.
onnx::TensorProto* StoredWeight(Rewriter* r, const std::string& name) {
  onnx::TensorProto* tensor = r->Constant(name);
  if (tensor != nullptr) return tensor;
  for (const auto& node : r->graph().node()) {
    if (node.op_type() != "DequantizeLinear" || node.output_size() != 1 ||
        node.output(0) != name || node.input_size() < 2) {
      continue;
    }
    // Scales of channels, which must stay as many.
    const onnx::TensorProto* scale = r->Constant(node.input(1));
    const bool one =
        scale != nullptr && (scale->dims_size() == 0 || scale->dims(0) == 1);
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "block_size") return nullptr;
      if (attribute.name() != "axis" || one) continue;
      if (attribute.i() != 0 || r->node.op_type() == "ConvTranspose") return nullptr;
    }
    if (!one && node.attribute_size() == 0) return nullptr;
    return r->Constant(node.input(0));
  }
  return nullptr;
}

// [K, C, D, H, W] -> [K, C * D, H, W], also where a node before has done so.
bool FoldWeight(Rewriter* r, const std::string& name, const Window& w) {
  onnx::TensorProto* weight = StoredWeight(r, name);
  if (weight == nullptr) return false;
  Shape dims(weight->dims().begin(), weight->dims().end());
  if (dims.size() == 4) return true;
  if (dims.size() != 5 || Shape(dims.begin() + 2, dims.end()) != w.size) return false;
  weight->clear_dims();
  for (const int64_t dim : {dims[0], dims[1] * dims[2], dims[3], dims[4]})
    weight->add_dims(dim);
  return true;
}

// Frames of zeros in front of and behind [N, C, D, H * W]. `zero`: what stands for 0, known when
// the model runs; empty: 0 itself, or the `stored` number.
std::string Padded(Rewriter* r, const std::string& x, const std::string& zero,
                   const std::string& stored, const Shape& in, const Window& w) {
  const int64_t plane = in[3] * in[4];
  if (zero.empty()) {
    const std::string pads = r->Whole({0, 0, w.pads[0], 0, 0, 0, w.pads[3], 0});
    return stored.empty() ? r->Op("Pad", {x, pads}) : r->Op("Pad", {x, pads, stored});
  }
  const std::string one = r->Reshape(zero, {1, 1, 1, 1});
  std::vector<std::string> frames;
  for (const size_t end : {size_t{0}, size_t{3}}) {
    if (w.pads[end] != 0) {
      frames.push_back(
          r->Op("Expand", {one, r->Whole({in[0], in[1], w.pads[end], plane})}));
    }
    if (end == 0) frames.push_back(x);
  }
  return r->Op("Concat", frames, {{"axis", {2}}});
}

// The frames of a value [N, C, D, H, W] under each window: [N * frames, C * depth, H, W].
std::string FramesOf(Rewriter* r, const Shape& in, const Window& w) {
  const bool integers = r->node.op_type() == "ConvInteger";
  const int64_t frames = w.Frames(), plane = in[3] * in[4];
  std::string x = r->Reshape(r->In(0), {in[0], in[1], in[2], plane});
  if (w.pads[0] + w.pads[3] != 0) {
    x = Padded(r, x, integers ? r->In(2) : "",
               r->node.op_type() == "QLinearConv" ? r->In(2) : "", in, w);
  }
  Shape which;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t d = 0; d < w.size[0]; ++d)
      which.push_back(f * w.strides[0] + d * w.dilations[0]);
  }
  x = r->Op("Gather", {x, r->Whole(which)}, {{"axis", {2}}});
  x = r->Reshape(x, {in[0], in[1], frames, w.size[0] * plane});
  return r->Reshape(r->Transposed(x, {0, 2, 1, 3}),
                    {in[0] * frames, in[1] * w.size[0], in[3], in[4]});
}

}  // namespace

bool RewriteVolume(Rewriter* r) {
  const bool linear = r->node.op_type() == "QLinearConv";
  Window w;
  if (!ReadWindow(*r, &w) || !FoldWeight(r, r->In(linear ? 3 : 1), w)) return false;
  const Shape &in = w.in, &out = w.out;
  const int64_t frames = w.Frames();
  if (frames != out[2] || frames > kMostFrames || frames < 1) return false;
  const std::string x = FramesOf(r, in, w);
  const std::string made = r->node.output(0) + "/frames";
  AddPicture(r, w, 0, x, made);
  std::string y = r->Reshape(made, {in[0], frames, out[1], out[3] * out[4]});
  y = r->Transposed(y, {0, 2, 1, 3});
  r->Finish(0, r->Reshape(y, out));
  return true;
}

// A transposed convolution whose windows do not overlap in depth: each frame becomes as many as
// a window is deep, all of which are channels of its picture.
bool RewriteVolumeTransposed(Rewriter* r) {
  Window w;
  if (!ReadWindow(*r, &w) || r->Int("group", 1) != 1) return false;
  const Shape &in = w.in, &out = w.out;
  const Shape padding = r->Ints("output_padding");
  const bool plain = padding.empty() || padding == Shape{0, 0, 0};
  if (w.size[0] != w.strides[0] || w.dilations[0] != 1 || !plain ||
      w.pads[0] + w.pads[3] != 0 || out[2] != in[2] * w.size[0] ||
      !r->Ints("output_shape").empty() || !FoldWeight(r, r->In(1), w)) {
    return false;
  }
  const std::string x = r->Reshape(
      r->Transposed(r->Reshape(r->In(0), {in[0], in[1], in[2], in[3] * in[4]}),
                    {0, 2, 1, 3}),
      {in[0] * in[2], in[1], in[3], in[4]});
  const std::string made = r->node.output(0) + "/frames";
  AddPicture(r, w, 0, x, made);
  r->nodes.back().mutable_input()->DeleteSubrange(2, r->nodes.back().input_size() - 2);
  std::string y = r->Reshape(made, {in[0], in[2], out[1], w.size[0] * out[3] * out[4]});
  y = r->Transposed(y, {0, 1, 3, 2});
  if (r->Has(2)) y = r->Op("Add", {y, r->In(2)});
  r->Finish(0, r->Reshape(r->Transposed(y, {0, 3, 1, 2}), out));
  return true;
}

// The largest of each window: of its pictures first, then of their depth.
bool RewriteVolumePool(Rewriter* r) {
  Window w;
  if (!ReadWindow(*r, &w) || r->Gives(1)) return false;
  const Shape &in = w.in, &out = w.out;
  const bool largest = r->node.op_type() == "MaxPool";
  for (const int64_t pad : w.pads) {
    if (pad != 0 && !largest) return false;
  }
  const std::string made = r->node.output(0) + "/frames", deep = made + "/deep";
  const std::string pictures =
      r->Reshape(r->In(0), {in[0], in[1] * in[2], in[3], in[4]});
  AddPicture(r, w, 0, pictures, made);
  const std::string rows = r->Reshape(made, {in[0], in[1], in[2], out[3] * out[4]});
  const Window depth = {{0, w.size[0], 1},
                        {0, w.strides[0], 1},
                        {0, w.dilations[0], 1},
                        {0, w.pads[0], 0, 0, w.pads[3], 0},
                        {},
                        {}};
  AddPicture(r, depth, 0, rows, deep);
  r->Finish(0, r->Reshape(deep, out));
  return true;
}

}  // namespace sluice::import
