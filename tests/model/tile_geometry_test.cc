// SPDX-License-Identifier: Apache-2.0
#include "model/tile_geometry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;
using sluice_test::TensorSpec;

struct ConvShape {
  int32_t h, w, c, k, r, s, stride, dilation, pad_before, pad_after, groups;
  bool depthwise;
};

int32_t OutExtent(int32_t in, int32_t filter, const ConvShape& v) {
  return (in + v.pad_before + v.pad_after - ((filter - 1) * v.dilation + 1)) /
             v.stride +
         1;
}

GraphSpec ConvGraph(const ConvShape& v) {
  GraphSpec g;
  const int32_t p = OutExtent(v.h, v.r, v);
  const int32_t q = OutExtent(v.w, v.s, v);
  g.tensors.push_back({{1, v.h, v.w, v.c}, SLUICE_DTYPE_INT8, 1});
  if (v.depthwise) {
    g.tensors.push_back({{1, v.r, v.s, v.k}, SLUICE_DTYPE_INT8, 3, 3});
  } else {
    g.tensors.push_back({{v.k, v.r, v.s, v.c / v.groups}, SLUICE_DTYPE_INT8, 3, 3});
  }
  g.tensors.push_back({{v.k, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.tensors.push_back({{1, p, q, v.k}, SLUICE_DTYPE_INT8, 2});
  const uint16_t op = v.depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV;
  g.layers.push_back(
      {op,
       {0, 1, 2},
       {3},
       {v.stride, v.stride, v.dilation, v.dilation, v.pad_before, v.pad_before,
        v.pad_after, v.pad_after, v.depthwise ? 0 : v.groups}});
  return g;
}

ConvShape RandomShape(Rng* rng) {
  for (;;) {
    ConvShape v = {};
    v.depthwise = rng->Below(3) == 0;
    v.groups = v.depthwise ? 1 : 1 << rng->Below(2);
    v.h = 1 + static_cast<int32_t>(rng->Below(9));
    v.w = 1 + static_cast<int32_t>(rng->Below(9));
    v.c = v.groups * (1 + static_cast<int32_t>(rng->Below(3)));
    v.k = v.depthwise ? v.c * (1 + static_cast<int32_t>(rng->Below(2)))
                      : v.groups * (1 + static_cast<int32_t>(rng->Below(3)));
    v.r = 1 + static_cast<int32_t>(rng->Below(4));
    v.s = 1 + static_cast<int32_t>(rng->Below(4));
    v.stride = 1 + static_cast<int32_t>(rng->Below(3));
    v.dilation = 1 + static_cast<int32_t>(rng->Below(2));
    v.pad_before = static_cast<int32_t>(rng->Below(3));
    v.pad_after = static_cast<int32_t>(rng->Below(3));
    const int32_t window_r = (v.r - 1) * v.dilation + 1;
    const int32_t window_s = (v.s - 1) * v.dilation + 1;
    const int32_t pad = std::max(v.pad_before, v.pad_after);
    if (pad >= window_r || pad >= window_s) continue;
    if (v.h + v.pad_before + v.pad_after < window_r) continue;
    if (v.w + v.pad_before + v.pad_after < window_s) continue;
    return v;
  }
}

// All input elements that the outputs of a box touch, found tap by tap.
std::set<std::array<int32_t, 3>> Touched(const ConvShape& v, const Box& out,
                                         int32_t c_begin, int32_t c_end) {
  std::set<std::array<int32_t, 3>> touched;
  for (int32_t p = out.begin[1]; p < out.begin[1] + out.extent[1]; ++p) {
    for (int32_t q = out.begin[2]; q < out.begin[2] + out.extent[2]; ++q) {
      for (int32_t k = out.begin[3]; k < out.begin[3] + out.extent[3]; ++k) {
        for (int32_t r = 0; r < v.r; ++r) {
          for (int32_t s = 0; s < v.s; ++s) {
            const int32_t row = p * v.stride - v.pad_before + r * v.dilation;
            const int32_t col = q * v.stride - v.pad_before + s * v.dilation;
            if (row < 0 || row >= v.h || col < 0 || col >= v.w) continue;
            if (v.depthwise) {
              touched.insert({row, col, k / (v.k / v.c)});
              continue;
            }
            const int32_t group = k / (v.k / v.groups);
            for (int32_t c = c_begin; c < c_end; ++c) {
              touched.insert({row, col, group * (v.c / v.groups) + c});
            }
          }
        }
      }
    }
  }
  return touched;
}

TEST_CASE("a convolution tile's input box is the hull of the elements it touches") {
  Rng rng(7);
  int checked = 0;
  for (int round = 0; round < 400; ++round) {
    const ConvShape v = RandomShape(&rng);
    sluice_test::Nouns n(ConvGraph(v));
    const Layer& layer = n.graph.layers[0];
    const Tensor& out = n.graph.tensors[3];
    const CutRule rule = CutsOf(n.graph, layer);
    Box box = {};
    for (int a = 0; a < kAxes; ++a) {
      const int32_t units = out.extent[a] / rule.unit[a];
      const int32_t begin =
          static_cast<int32_t>(rng.Below(static_cast<uint32_t>(units)));
      const int32_t size =
          1 + static_cast<int32_t>(rng.Below(static_cast<uint32_t>(units - begin)));
      box.begin[a] = begin * rule.unit[a];
      box.extent[a] = size * rule.unit[a];
    }
    const int32_t channels = AccumulatedChannels(n.graph, layer);
    CHECK(channels == (v.depthwise ? 0 : v.c / v.groups));
    int32_t c0 = 0;
    int32_t c1 = channels;
    if (!v.depthwise && v.groups == 1 && channels > 1) c0 = 1;
    const TileBoxes t = BoxesOf(n.graph, layer, box, c0, c1);
    const auto touched = Touched(v, box, c0, c1);
    if (touched.empty()) continue;  // dilated taps can all lie in padding
    ++checked;
    const Box& in = t.box[kRoleInput0];
    // Every touched element lies in the box, and no face of the box is idle unless a
    // stride or dilation skips it.
    int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX};
    int32_t high[3] = {-1, -1, -1};
    for (const auto& e : touched) {
      for (int a = 0; a < 3; ++a) {
        low[a] = std::min(low[a], e[static_cast<size_t>(a)]);
        high[a] = std::max(high[a], e[static_cast<size_t>(a)]);
        CHECK(e[static_cast<size_t>(a)] >= in.begin[a + 1]);
        CHECK(e[static_cast<size_t>(a)] < in.begin[a + 1] + in.extent[a + 1]);
      }
    }
    for (int a = 0; a < 3; ++a) {
      if (v.dilation > 1 && a < 2) continue;
      CHECK(low[a] == in.begin[a + 1]);
      CHECK(high[a] == in.begin[a + 1] + in.extent[a + 1] - 1);
    }
    // The window equation of stream.h.
    for (int a = 1; a <= 2; ++a) {
      const int32_t filter = a == 1 ? v.r : v.s;
      CHECK((box.extent[a] - 1) * v.stride + (filter - 1) * v.dilation + 1 ==
            t.pad[a - 1] + in.extent[a] + t.pad[a + 1]);
    }
    CHECK(t.macs == box.elements() * v.r * v.s * (v.depthwise ? 1 : c1 - c0));
  }
  CHECK(checked > 350);
}

TEST_CASE("the boxes of a layer's tiles add up to its work") {
  const ConvShape v = {9, 8, 4, 6, 3, 3, 2, 1, 1, 1, 1, false};
  sluice_test::Nouns n(ConvGraph(v));
  const Layer& layer = n.graph.layers[0];
  const Tensor& out = n.graph.tensors[3];
  const int64_t whole = BoxesOf(n.graph, layer, WholeBox(out), 0, 4).macs;
  int64_t sum = 0;
  for (int32_t p = 0; p < out.extent[1]; p += 2) {
    for (int32_t k = 0; k < out.extent[3]; k += 4) {
      for (int32_t c = 0; c < 4; c += 3) {
        Box box = WholeBox(out);
        box.begin[1] = p;
        box.extent[1] = std::min(2, out.extent[1] - p);
        box.begin[3] = k;
        box.extent[3] = std::min(4, out.extent[3] - k);
        sum += BoxesOf(n.graph, layer, box, c, std::min(c + 3, 4)).macs;
      }
    }
  }
  CHECK(sum == whole);
}

}  // namespace
}  // namespace sluice
