// SPDX-License-Identifier: Apache-2.0
// Attention and rotary embedding, taken apart. Shapes: batch B, positions S, heads H, and D
// numbers of each head.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/onnx/onnx_rewriter.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMostPositions = 4096;  // of a mask, which is a constant S by S

// [B, S, H * D] -> [B, H, S, D]
std::string Heads(Rewriter* r, const std::string& x, int64_t heads) {
  return r->Transposed(r->Reshape(x, {0, 0, heads, -1}), {0, 2, 1, 3});
}
std::string Merged(Rewriter* r, const std::string& x) {
  return r->Reshape(r->Transposed(x, {0, 2, 1, 3}), {0, 0, -1});
}

// Each head of a key or value serves several heads of the query.
std::string Shared(Rewriter* r, const std::string& x, int64_t heads, int64_t times) {
  if (times == 1) return x;
  Shape which;
  for (int64_t i = 0; i < heads * times; ++i) which.push_back(i / times);
  return r->Op("Gather", {x, r->Whole(which)}, {{"axis", {1}}});
}

// 0 where a position may see another, else -infinity; the first sees `before` and itself.
std::string Causal(Rewriter* r, int64_t rows, int64_t columns, int64_t before) {
  std::vector<float> mask;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      mask.push_back(j <= i + before ? 0 : -std::numeric_limits<float>::infinity());
    }
  }
  return r->Real(mask, {rows, columns});
}

struct Operands {
  std::string q, k, v;  // [B, H, S, D]
  float scale;
  std::vector<std::string> masks;  // added one by one
};

std::string Weighted(Rewriter* r, const Operands& o) {
  std::string scores = r->Op("MatMul", {o.q, r->Transposed(o.k, {0, 1, 3, 2})});
  scores = r->Op("Mul", {scores, r->Real({o.scale})});
  for (const std::string& mask : o.masks) scores = r->Op("Add", {scores, mask});
  return r->Op("MatMul", {r->Op("Softmax", {scores}, {{"axis", {-1}}}), o.v});
}

float ScaleOf(const Rewriter& r, int64_t depth) {
  const float given = r.Float("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<float>(depth));
}

// Not 0 for what is seen, 0 for what is not -> what is added to the scores.
std::string Unseen(Rewriter* r, const std::string& mask, int64_t positions,
                   float fill) {
  const std::string any = r->Op("Cast", {mask}, {{"to", {onnx::TensorProto::BOOL}}});
  const std::string seen = r->Op("Cast", {any}, {{"to", {onnx::TensorProto::FLOAT}}});
  const std::string added =
      r->Op("Mul", {r->Op("Sub", {r->Real({1}), seen}), r->Real({fill})});
  return r->Reshape(added, {0, 1, 1, positions});
}

}  // namespace

bool RewriteAttention(Rewriter* r) {
  Shape q = r->Shape(r->In(0)), k = r->Shape(r->In(1)), v = r->Shape(r->In(2));
  if (q.size() != k.size() || k.size() != v.size() ||
      (q.size() != 3 && q.size() != 4) || r->Float("softcap", 0) != 0 || r->Gives(3) ||
      r->Has(6)) {
    return false;
  }
  const bool flat = q.size() == 3;
  const int64_t heads = flat ? r->Int("q_num_heads", 0) : q[1],
                shared = flat ? r->Int("kv_num_heads", 0) : k[1];
  if (heads < 1 || shared < 1 || heads % shared != 0 || q.back() < 1) return false;
  const int64_t depth = flat ? q[2] / heads : q[3];
  const int64_t rows = q[flat ? 1 : 2];
  int64_t columns = k[flat ? 1 : 2], before = 0;
  Operands o = {r->In(0), r->In(1), r->In(2), ScaleOf(*r, depth), {}};
  if (flat) {
    o.q = Heads(r, o.q, heads);
    o.k = Heads(r, o.k, shared);
    o.v = Heads(r, o.v, shared);
  }
  if (r->Has(4) != r->Has(5)) return false;
  if (r->Has(4)) {
    const Shape past = r->Shape(r->In(4));
    if (past.size() != 4) return false;
    before = past[2];
    columns += before;
    o.k = r->Op("Concat", {r->In(4), o.k}, {{"axis", {2}}});
    o.v = r->Op("Concat", {r->In(5), o.v}, {{"axis", {2}}});
  }
  const std::string key = o.k, value = o.v;
  if (r->Has(3)) {
    if (r->Shape(r->In(3)).size() < 2) return false;
    o.masks.push_back(r->In(3));
  }
  if (r->Int("is_causal", 0) != 0) {
    if (rows > kMostPositions || columns > kMostPositions) return false;
    o.masks.push_back(Causal(r, rows, columns, before));
  }
  o.k = Shared(r, o.k, shared, heads / shared);
  o.v = Shared(r, o.v, shared, heads / shared);
  const std::string y = Weighted(r, o);
  r->Finish(0, flat ? Merged(r, y) : y);
  if (r->Gives(1)) r->Finish(1, r->Op("Identity", {key}));
  if (r->Gives(2)) r->Finish(2, r->Op("Identity", {value}));
  return true;
}

bool RewriteOldAttention(Rewriter* r) {
  const bool quantised = r->node.op_type() == "QAttention";
  const Shape x = r->Shape(r->In(0)), w = r->Shape(r->In(1));
  const int64_t heads = r->Int("num_heads", 0);
  const int mask = quantised ? 5 : 3, past = quantised ? 8 : 4;
  if (x.size() != 3 || w.size() != 2 || heads < 1 || w[1] % (3 * heads) != 0 ||
      r->Has(past) || r->Gives(1) || !r->Ints("qkv_hidden_sizes").empty() ||
      r->Int("do_rotary", 0) != 0 || (!quantised && r->Has(5))) {
    return false;
  }
  std::string all;
  if (quantised) {
    std::vector<std::string> operands = {r->In(0), r->In(1), r->In(6), r->In(7)};
    while (operands.back().empty()) operands.pop_back();
    const std::string sums = r->Op("Cast", {r->Op("MatMulInteger", operands)},
                                   {{"to", {onnx::TensorProto::FLOAT}}});
    all = r->Op("Mul", {sums, r->Op("Mul", {r->In(3), r->In(4)})});
  } else {
    all = r->Op("MatMul", {r->In(0), r->In(1)});
  }
  if (r->Has(2)) all = r->Op("Add", {all, r->In(2)});
  const int64_t width = w[1] / 3;
  Operands o = {"", "", "", ScaleOf(*r, width / heads), {}};
  std::string* const parts[] = {&o.q, &o.k, &o.v};
  for (int64_t i = 0; i < 3; ++i) {
    *parts[i] = Heads(r, r->Part(all, i * width, (i + 1) * width), heads);
  }
  if (r->Has(mask)) {
    if (r->Shape(r->In(mask)) != Shape{x[0], x[1]}) return false;
    o.masks.push_back(
        Unseen(r, r->In(mask), x[1], r->Float("mask_filter_value", -10000.0f)));
  }
  if (r->Int("unidirectional", 0) != 0) {
    if (x[1] > kMostPositions) return false;
    o.masks.push_back(Causal(r, x[1], x[1], 0));
  }
  r->Finish(0, Merged(r, Weighted(r, o)));
  return true;
}

bool RewriteManyHeads(Rewriter* r) {
  const Shape q = r->Shape(r->In(0)), k = r->Shape(r->In(1)), v = r->Shape(r->In(2));
  const int64_t heads = r->Int("num_heads", 0);
  if (q.size() != 3 || k.size() != 3 || v.size() != 3 || heads < 1 || r->Has(4) ||
      r->Has(6) || r->Has(7) || r->Gives(1) || q[2] % heads != 0) {
    return false;
  }
  Operands o = {r->In(0), r->In(1), r->In(2), ScaleOf(*r, q[2] / heads), {}};
  std::string* const parts[] = {&o.q, &o.k, &o.v};
  int64_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t width = i < 2 ? q[2] : v[2];
    if (r->Has(3)) {
      *parts[i] = r->Op("Add", {*parts[i], r->Part(r->In(3), begin, begin + width)});
    }
    begin += width;
    *parts[i] = Heads(r, *parts[i], heads);
  }
  if (r->Has(5)) o.masks.push_back(r->In(5));
  if (r->Int("unidirectional", 0) != 0) {
    if (q[1] > kMostPositions || k[1] > kMostPositions) return false;
    o.masks.push_back(Causal(r, q[1], k[1], k[1] - q[1]));
  }
  r->Finish(0, Merged(r, Weighted(r, o)));
  return true;
}

// ONNX: x, cos, sin, positions; onnxruntime: x, positions, cos, sin.
bool RewriteRotation(Rewriter* r) {
  const bool old = r->node.domain() == "com.microsoft";
  const std::string positions = r->In(old ? 1 : 3);
  std::string cos = r->In(old ? 2 : 1), sin = r->In(old ? 3 : 2);
  const Shape x = r->Shape(r->In(0)), table = r->Shape(cos);
  if ((x.size() != 3 && x.size() != 4) || table.empty() || r->Float("scale", 1) != 1) {
    return false;
  }
  const int64_t half = table.back(), given = r->Int("num_heads", 0);
  const int64_t heads = x.size() == 4 ? x[1]
                        : given > 0   ? given
                                      : x[2] / std::max<int64_t>(2 * half, 1);
  const int64_t positions_of_x = x[x.size() == 4 ? 2 : 1];
  if (heads < 1 || half < 1 || x.back() < 1) return false;
  const int64_t depth = x.size() == 4 ? x[3] : x[2] / heads;
  if (2 * half > depth) return false;
  if (!positions.empty()) {
    if (r->Shape(positions).size() != 2 || table.size() != 2) return false;
    cos = r->Op("Gather", {cos, positions}, {{"axis", {0}}});
    sin = r->Op("Gather", {sin, positions}, {{"axis", {0}}});
  }
  const Shape wide = {-1, 1, positions_of_x, half};
  cos = r->Reshape(cos, wide);
  sin = r->Reshape(sin, wide);
  const std::string all = x.size() == 4 ? r->In(0) : Heads(r, r->In(0), heads);
  const bool pairs = r->Int("interleaved", 0) != 0;
  const std::string a = pairs ? r->Part(all, 0, 2 * half, 2) : r->Part(all, 0, half),
                    b = pairs ? r->Part(all, 1, 2 * half, 2)
                              : r->Part(all, half, 2 * half);
  std::string first = r->Op("Sub", {r->Op("Mul", {cos, a}), r->Op("Mul", {sin, b})}),
              second = r->Op("Add", {r->Op("Mul", {sin, a}), r->Op("Mul", {cos, b})});
  const Shape each = {x[0], heads, positions_of_x, half, 1};
  if (pairs) {
    first = r->Reshape(first, each);
    second = r->Reshape(second, each);
  }
  std::string turned = r->Op("Concat", {first, second}, {{"axis", {-1}}});
  if (pairs) turned = r->Reshape(turned, {x[0], heads, positions_of_x, 2 * half});
  if (2 * half < depth) {
    turned = r->Op("Concat", {turned, r->Part(all, 2 * half, depth)}, {{"axis", {-1}}});
  }
  r->Finish(0, x.size() == 4 ? r->Op("Identity", {turned}) : Merged(r, turned));
  return true;
}

}  // namespace sluice::import
