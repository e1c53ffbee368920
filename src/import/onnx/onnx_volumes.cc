// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools over three axes, taken apart: the frames under a window's depth become
// channels of a picture, so that a convolution over two axes adds them up.
#include <algorithm>
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
  const Shape weight = r.Shape(r.In(r.node.op_type() == "QLinearConv" ? 3 : 1));
  if (w->size.empty() && weight.size() == 5)
    w->size.assign(weight.begin() + 2, weight.end());
  if (w->in.size() != 5 || w->out.size() != 5 || w->size.size() != 3) return false;
  const std::string mode = r.Text("auto_pad", "NOTSET");
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
  if (mode == "NOTSET" || mode == "VALID") return true;
  if (r.node.op_type() == "ConvTranspose") return false;
  for (size_t a = 0; a < 3; ++a) {
    const int64_t window = w->dilations[a] * (w->size[a] - 1) + 1;
    const int64_t both = std::max<int64_t>(
        (w->out[a + 2] - 1) * w->strides[a] + window - w->in[a + 2], 0);
    w->pads[a] = (both + (mode == "SAME_LOWER" ? 1 : 0)) / 2;
    w->pads[a + 3] = both - w->pads[a];
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
    const bool ends = name == "pads", padding = name == "output_padding";
    const Shape behind = r->Ints("output_padding");
    if (!ends && !padding && name != "strides" && name != "dilations" &&
        name != "kernel_shape")
      continue;
    const Shape& all = ends                  ? w.pads
                       : padding             ? behind
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

namespace {

// Frames of [N, C, D, H * W] that a transposed convolution adds up to each of its own, one for
// each of the window; frame D is zeros.
std::string FramesBehind(Rewriter* r, const Window& w) {
  const Shape &in = w.in, &out = w.out;
  Shape which;
  for (int64_t f = 0; f < out[2]; ++f) {
    for (int64_t d = 0; d < w.size[0]; ++d) {
      const int64_t at = f + w.pads[0] - d * w.dilations[0];
      const bool there = at >= 0 && at % w.strides[0] == 0 && at / w.strides[0] < in[2];
      which.push_back(there ? at / w.strides[0] : in[2]);
    }
  }
  const int64_t plane = in[3] * in[4];
  std::string x = r->Reshape(r->In(0), {in[0], in[1], in[2], plane});
  x = r->Op("Pad", {x, r->Whole({0, 0, 0, 0, 0, 0, 1, 0})});
  x = r->Op("Gather", {x, r->Whole(which)}, {{"axis", {2}}});
  x = r->Reshape(x, {in[0], in[1], out[2], w.size[0] * plane});
  return r->Reshape(r->Transposed(x, {0, 2, 1, 3}),
                    {in[0] * out[2], in[1] * w.size[0], in[3], in[4]});
}

// Windows that overlap in depth: each frame of the output is a picture's transposed convolution,
// with all frames that reach it as channels.
bool OverlappingTransposed(Rewriter* r, const Window& w) {
  const Shape &out = w.out, weight = r->Shape(r->In(1));
  if (weight.size() != 5 || out[2] * w.size[0] > kMostFrames) return false;
  const std::string x = FramesBehind(r, w);
  // All of it as a slice: the import computes that, and what follows, in floats.
  std::string kernel = r->Op("Slice", {r->In(1), r->Whole({0}), r->Whole({weight[0]}),
                                       r->Whole({0}), r->Whole({1})});
  kernel = r->Reshape(kernel, {weight[0], weight[1], weight[2], weight[3] * weight[4]});
  kernel = r->Reshape(r->Transposed(kernel, {0, 2, 1, 3}),
                      {weight[0] * weight[2], weight[1], weight[3], weight[4]});
  const std::string made = r->node.output(0) + "/frames";
  AddPicture(r, w, 0, x, made);
  r->nodes.back().set_input(1, kernel);
  std::string y = r->Reshape(made, {w.in[0], out[2], out[1], out[3] * out[4]});
  r->Finish(0, r->Reshape(r->Transposed(y, {0, 2, 1, 3}), out));
  return true;
}

}  // namespace

// A transposed convolution whose windows do not overlap in depth: each frame becomes as many as
// a window is deep, all of which are channels of its picture.
bool RewriteVolumeTransposed(Rewriter* r) {
  Window w;
  if (!ReadWindow(*r, &w) || !r->Ints("output_shape").empty()) return false;
  const Shape &in = w.in, &out = w.out;
  const Shape padding = r->Ints("output_padding");
  const bool plain = padding.empty() || padding == Shape{0, 0, 0};
  if (!plain || r->Int("group", 1) != 1 || w.size[0] != w.strides[0] ||
      w.dilations[0] != 1 || w.pads[0] + w.pads[3] != 0 ||
      out[2] != in[2] * w.size[0] || !FoldWeight(r, r->In(1), w)) {
    return OverlappingTransposed(r, w);
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

// Each group by itself, as units have no groups of transposed convolutions but those of one
// channel each.
bool RewriteGroupsTransposed(Rewriter* r) {
  const Shape x = r->Shape(r->In(0)), weight = r->Shape(r->In(1));
  const int64_t groups = r->Int("group", 1);
  if (x.size() != 4 || weight.size() != 4 || x[1] % groups != 0 || weight[0] != x[1] ||
      (groups == x[1] && weight[1] == 1) || groups > kMostFrames) {
    return false;
  }
  const int64_t inner = x[1] / groups, each = weight[1];
  const auto part = [&](const std::string& value, int64_t axis, int64_t g,
                        int64_t size) {
    return r->Op("Slice", {value, r->Whole({g * size}), r->Whole({(g + 1) * size}),
                           r->Whole({axis}), r->Whole({1})});
  };
  std::vector<std::string> made;
  for (int64_t g = 0; g < groups; ++g) {
    onnx::NodeProto node = r->node;
    node.clear_input();
    const std::string name = r->node.output(0) + "/group" + std::to_string(g);
    const std::string kernel =
        r->Reshape(part(r->In(1), 0, g, inner), {inner, each, weight[2], weight[3]});
    std::vector<std::string> inputs = {part(r->In(0), 1, g, inner), kernel};
    if (r->Has(2)) inputs.push_back(part(r->In(2), 0, g, each));
    for (const std::string& input : inputs) node.add_input(input);
    node.set_output(0, name);
    node.set_name(name);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.name() == "group") attribute.set_i(1);
    r->nodes.push_back(node);
    made.push_back(name);
  }
  r->Finish(0, r->Op("Concat", made, {{"axis", {1}}}));
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

// ---- DeformConv

namespace {

struct Deformed {
  Shape x, weight, out, strides, dilations, pads;
  int64_t groups, offset_groups;

  int64_t Taps() const { return weight[2] * weight[3]; }
};

bool Pair(const Rewriter& r, const char* name, size_t count, int64_t otherwise,
          Shape* numbers) {
  *numbers = r.Ints(name);
  if (numbers->empty()) numbers->assign(count, otherwise);
  return numbers->size() == count;
}

bool ReadDeformed(Rewriter* r, Deformed* d) {
  d->x = r->Shape(r->In(0));
  d->weight = r->Shape(r->In(1));
  d->out = r->Shape(r->In(2));  // which has the rows and columns of the output
  d->groups = r->Int("group", 1);
  d->offset_groups = r->Int("offset_group", 1);
  if (d->x.size() != 4 || d->weight.size() != 4 || d->out.size() != 4 ||
      d->groups < 1 || d->offset_groups < 1 || d->x[1] % d->offset_groups != 0 ||
      d->x[1] != d->weight[1] * d->groups || d->weight[0] % d->groups != 0 ||
      d->x[2] < 2 || d->x[3] < 2) {
    return false;
  }
  const int64_t kernels = d->weight[0];
  d->out[0] = d->x[0];
  const Shape offsets = {d->x[0], d->offset_groups * d->Taps() * 2, d->out[2],
                         d->out[3]};
  return Pair(*r, "strides", 2, 1, &d->strides) &&
         Pair(*r, "dilations", 2, 1, &d->dilations) &&
         Pair(*r, "pads", 4, 0, &d->pads) && r->Shape(r->In(2)) == offsets &&
         (d->out[1] = kernels) > 0;
}

// Where each tap of each output lies in the picture by itself, from -1 at the first pixel to 1
// at the last: [taps, rows, columns] of one axis.
std::vector<float> Places(const Deformed& d, size_t axis) {
  std::vector<float> places;
  for (int64_t tap = 0; tap < d.Taps(); ++tap) {
    const int64_t of_axis = axis == 0 ? tap / d.weight[3] : tap % d.weight[3];
    for (int64_t i = 0; i < d.out[2] * d.out[3]; ++i) {
      const int64_t at = axis == 0 ? i / d.out[3] : i % d.out[3];
      places.push_back(static_cast<float>(at * d.strides[axis] - d.pads[axis] +
                                          of_axis * d.dilations[axis]));
    }
  }
  return places;
}

}  // namespace

// The host picks pixels between those of the picture, a unit multiplies them by the weights.
bool RewriteDeformed(Rewriter* r) {
  Deformed d;
  if (!ReadDeformed(r, &d)) return false;
  const int64_t images = d.x[0] * d.offset_groups, taps = d.Taps(),
                pixels = d.out[2] * d.out[3];
  // Offsets [images, taps, row or column, pixels].
  const std::string offsets = r->Reshape(r->In(2), {images, taps, 2, pixels});
  std::vector<std::string> axes;
  for (const size_t axis : {size_t{1}, size_t{0}}) {  // a grid has columns first
    const int64_t index = static_cast<int64_t>(axis);
    std::string at = r->Op("Slice", {offsets, r->Whole({index}), r->Whole({index + 1}),
                                     r->Whole({2}), r->Whole({1})});
    at = r->Op("Add", {at, r->Real(Places(d, axis), {1, taps, 1, pixels})});
    const float half = static_cast<float>(d.x[2 + axis] - 1) / 2;
    at = r->Op("Sub", {r->Op("Div", {at, r->Real({half})}), r->Real({1})});
    axes.push_back(r->Reshape(at, {images, taps, pixels, 1}));
  }
  const std::string grid = r->Op("Concat", axes, {{"axis", {3}}});
  const std::string pictures =
      r->Reshape(r->In(0), {images, d.x[1] / d.offset_groups, d.x[2], d.x[3]});
  // "bilinear" became "linear" in version 20; it is the default of both.
  std::string samples = r->Op("GridSample", {pictures, grid}, {{"align_corners", {1}}});
  if (r->Has(4)) {
    const std::string mask = r->Reshape(r->In(4), {images, 1, taps, pixels});
    samples = r->Op("Mul", {samples, mask});
  }
  onnx::NodeProto node = r->node;
  const std::string columns =
      r->Reshape(samples, {d.x[0], d.x[1] * taps, d.out[2], d.out[3]});
  node.set_op_type("Conv");
  node.clear_input();
  node.add_input(columns);
  node.add_input(r->In(1));
  if (r->Has(3)) node.add_input(r->In(3));
  node.clear_attribute();
  onnx::AttributeProto* group = node.add_attribute();
  group->set_name("group");
  group->set_type(onnx::AttributeProto::INT);
  group->set_i(d.groups);
  r->nodes.push_back(node);
  onnx::TensorProto* weight = StoredWeight(r, r->In(1));
  if (weight == nullptr || weight->dims_size() != 4) return false;
  const int64_t each = d.weight[1] * taps;
  if (weight->dims(2) * weight->dims(3) == 1) return weight->dims(1) == each;
  weight->set_dims(1, each);
  weight->set_dims(2, 1);
  weight->set_dims(3, 1);
  return true;
}

}  // namespace sluice::import
