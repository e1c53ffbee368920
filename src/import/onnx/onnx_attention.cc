// SPDX-License-Identifier: Apache-2.0
// Attention and rotary embedding, taken apart. Shapes: batch B, positions S, heads H, and D
// numbers of each head.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "import/onnx/onnx_model.h"
#include "import/onnx/onnx_rewriter.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMostPositions = 4096;  // of a mask, which is a constant S by S
constexpr int64_t kMostBatches = 16;      // each has a cache in use of another length

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
  float cap = 0;  // not 0: scores are bent into -cap to cap in front of masks
};

std::string Weighted(Rewriter* r, const Operands& o) {
  std::string scores = r->Op("MatMul", {o.q, r->Transposed(o.k, {0, 1, 3, 2})});
  scores = r->Op("Mul", {scores, r->Real({o.scale})});
  if (o.cap != 0) {
    scores = r->Op("Tanh", {r->Op("Mul", {scores, r->Real({1 / o.cap})})});
    scores = r->Op("Mul", {scores, r->Real({o.cap})});
  }
  for (const std::string& mask : o.masks) scores = r->Op("Add", {scores, mask});
  return r->Op("MatMul", {r->Op("Softmax", {scores}, {{"axis", {-1}}}), o.v});
}

// Several heads of the query for one of keys and values, which are also given as they are.
void FinishShared(Rewriter* r, Operands o, int64_t shared, int64_t times, bool merged) {
  const std::string key = o.k, value = o.v;
  o.k = Shared(r, o.k, shared, times);
  o.v = Shared(r, o.v, shared, times);
  const std::string y = Weighted(r, o);
  r->Finish(0, merged ? Merged(r, y) : y);
  if (r->Gives(1)) r->Finish(1, r->Op("Identity", {key}));
  if (r->Gives(2)) r->Finish(2, r->Op("Identity", {value}));
}

float ScaleOf(const Rewriter& r, int64_t depth) {
  const float given = r.Float("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<float>(depth));
}

// A constant of int32. False: it is none.
bool Int32sOf(const Rewriter& r, const std::string& name,
              std::vector<int32_t>* numbers) {
  const onnx::TensorProto* tensor = r.Constant(name);
  if (tensor == nullptr || tensor->data_type() != onnx::TensorProto::INT32 ||
      tensor->data_location() == onnx::TensorProto::EXTERNAL) {
    return false;
  }
  numbers->assign(tensor->int32_data().begin(), tensor->int32_data().end());
  if (tensor->has_raw_data()) {
    numbers->resize(tensor->raw_data().size() / 4);
    if (!numbers->empty())
      std::memcpy(numbers->data(), tensor->raw_data().data(), numbers->size() * 4);
  }
  return !numbers->empty();
}

bool IsAlways(const Rewriter& r, const std::string& name, int64_t number) {
  std::vector<int32_t> numbers;
  return Int32sOf(r, name, &numbers) &&
         std::all_of(numbers.begin(), numbers.end(),
                     [&](int32_t n) { return n == number; });
}

// A mask of keys -> what is added to the scores. It is not 0 for what is seen, [B, positions],
// or says how many are seen, [B]. Empty: other extents.
std::string Unseen(Rewriter* r, const std::string& mask, int64_t batch,
                   int64_t positions) {
  const float fill = r->Float("mask_filter_value", -10000.0f);
  const Shape shape = r->Shape(mask);
  std::string any;
  std::vector<int32_t> known;
  if (Int32sOf(*r, mask, &known) &&
      (shape == Shape{batch, positions} || shape == Shape{batch})) {
    std::vector<float> added;
    for (int64_t i = 0; i < batch * positions; ++i) {
      const size_t at = static_cast<size_t>(i / (shape.size() == 2 ? 1 : positions));
      const bool seen =
          at < known.size() &&
          (shape.size() == 2 ? known[at] != 0 : i % positions < known[at]);
      added.push_back(seen ? 0 : fill);
    }
    return r->Real(added, {batch, 1, 1, positions});
  }
  if (shape == Shape{batch, positions}) {
    any = r->Op("Cast", {mask}, {{"to", {onnx::TensorProto::BOOL}}});
  } else if (shape == Shape{batch} && positions <= kMostPositions) {
    onnx::TensorProto* each = r->NewConstant();
    each->set_data_type(onnx::TensorProto::INT32);
    each->add_dims(1);
    each->add_dims(positions);
    for (int32_t i = 0; i < positions; ++i) each->add_int32_data(i);
    any = r->Op("Less", {each->name(), r->Reshape(mask, {batch, 1})});
  } else {
    return "";
  }
  const std::string seen = r->Op("Cast", {any}, {{"to", {onnx::TensorProto::FLOAT}}});
  const std::string added =
      r->Op("Mul", {r->Op("Sub", {r->Real({1}), seen}), r->Real({fill})});
  return r->Reshape(added, {batch, 1, 1, positions});
}

// Heads in front of positions, of which the first 2 * half numbers are turned.
struct Turn {
  int64_t batch, heads, positions, depth, half;
  bool pairs;  // neighbours are, not halves
};

std::string Turned(Rewriter* r, const std::string& all, std::string cos,
                   std::string sin, const Turn& t) {
  const Shape wide = {-1, 1, t.positions, t.half};
  cos = r->Reshape(cos, wide);
  sin = r->Reshape(sin, wide);
  const int64_t both = 2 * t.half;
  const std::string a = t.pairs ? Part(r, all, 0, both, 2) : Part(r, all, 0, t.half),
                    b = t.pairs ? Part(r, all, 1, both, 2) : Part(r, all, t.half, both);
  std::string first = r->Op("Sub", {r->Op("Mul", {cos, a}), r->Op("Mul", {sin, b})}),
              second = r->Op("Add", {r->Op("Mul", {sin, a}), r->Op("Mul", {cos, b})});
  const Shape each = {t.batch, t.heads, t.positions, t.half, 1};
  if (t.pairs) {
    first = r->Reshape(first, each);
    second = r->Reshape(second, each);
  }
  std::string turned = r->Op("Concat", {first, second}, {{"axis", {-1}}});
  if (t.pairs) turned = r->Reshape(turned, {t.batch, t.heads, t.positions, both});
  if (both == t.depth) return turned;
  return r->Op("Concat", {turned, Part(r, all, both, t.depth)}, {{"axis", {-1}}});
}

}  // namespace

bool RewriteAttention(Rewriter* r) {
  Shape q = r->Shape(r->In(0)), k = r->Shape(r->In(1)), v = r->Shape(r->In(2));
  if (q.size() != k.size() || k.size() != v.size() ||
      (q.size() != 3 && q.size() != 4) || r->Gives(3) || r->Has(6) ||
      (r->Float("softcap", 0) != 0 && (r->Has(3) || r->Int("is_causal", 0) != 0))) {
    return false;
  }
  const bool flat = q.size() == 3;
  const int64_t heads = flat ? r->Int("q_num_heads", 0) : q[1],
                shared = flat ? r->Int("kv_num_heads", 0) : k[1];
  if (heads < 1 || shared < 1 || heads % shared != 0 || q.back() < 1) return false;
  const int64_t depth = flat ? q[2] / heads : q[3];
  const int64_t rows = q[flat ? 1 : 2];
  int64_t columns = k[flat ? 1 : 2], before = 0;
  Operands o = {r->In(0),           r->In(1), r->In(2),
                ScaleOf(*r, depth), {},       r->Float("softcap", 0)};
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
  if (r->Has(3)) {
    if (r->Shape(r->In(3)).size() < 2) return false;
    o.masks.push_back(r->In(3));
  }
  if (r->Int("is_causal", 0) != 0) {
    if (rows > kMostPositions || columns > kMostPositions) return false;
    o.masks.push_back(Causal(r, rows, columns, before));
  }
  FinishShared(r, o, shared, heads / shared, flat);
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
    *parts[i] = Heads(r, Part(r, all, i * width, (i + 1) * width), heads);
  }
  if (r->Has(mask)) {
    o.masks.push_back(Unseen(r, r->In(mask), x[0], x[1]));
    if (o.masks.back().empty()) return false;
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
  if (q.size() != 3 || k.size() != 3 || v.size() != 3 || heads < 1 || r->Has(6) ||
      r->Has(7) || r->Gives(1) || q[2] % heads != 0) {
    return false;
  }
  Operands o = {r->In(0), r->In(1), r->In(2), ScaleOf(*r, q[2] / heads), {}};
  std::string* const parts[] = {&o.q, &o.k, &o.v};
  int64_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t width = i < 2 ? q[2] : v[2];
    if (r->Has(3)) {
      *parts[i] = r->Op("Add", {*parts[i], Part(r, r->In(3), begin, begin + width)});
    }
    begin += width;
    *parts[i] = Heads(r, *parts[i], heads);
  }
  if (r->Has(4)) o.masks.push_back(Unseen(r, r->In(4), k[0], k[1]));
  if (r->Has(4) && o.masks.back().empty()) return false;
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
  const std::string all = x.size() == 4 ? r->In(0) : Heads(r, r->In(0), heads);
  const std::string turned =
      Turned(r, all, cos, sin,
             {x[0], heads, positions_of_x, depth, half, r->Int("interleaved", 0) != 0});
  r->Finish(0, x.size() == 4 ? r->Op("Identity", {turned}) : Merged(r, turned));
  return true;
}

namespace {

// Shapes of the query, and of the caches where there are any.
struct Groups {
  int64_t batch, rows, heads, shared, depth, before;
  int64_t
      columns;  // of the scores: what is seen at most, and the extent of the new caches
  int64_t window;  // so many positions are seen in front of each; -1: all
  bool known;      // the caches are full: no position depends on the run

  int64_t Width() const { return (heads + 2 * shared) * depth; }
};

// The new caches are as long as what is seen, but no shorter than the old ones.
int64_t ColumnsOf(const Rewriter& r, const Groups& g) {
  const Shape present = r.Gives(1) ? r.Shape(r.node.output(1)) : Shape();
  if (present.size() == 4) return std::max(g.before, present[2]);
  std::vector<int32_t> total;
  if (!Int32sOf(r, r.In(6), &total)) return g.before + g.rows;
  return std::max<int64_t>(g.before, total[0]);
}

bool ReadGroups(Rewriter* r, bool packed, Groups* g) {
  const Shape q = r->Shape(r->In(0)), past = r->Shape(r->In(3));
  g->heads = r->Int("num_heads", 0);
  g->shared = r->Int("kv_num_heads", 0);
  if (q.size() != 3 || g->heads < 1 || g->shared < 1 || g->heads > (1 << 16) ||
      g->shared > (1 << 16) || g->heads % g->shared != 0 || r->Has(3) != r->Has(4)) {
    return false;
  }
  // A cache that nothing is in yet has no extents that count.
  const bool empty = r->Has(3) && r->HasShape(r->In(3)) && past.empty();
  if (r->Has(3) && !empty && past.size() != 4) return false;
  const int64_t heads = packed ? g->heads + 2 * g->shared : g->heads;
  g->batch = q[0];
  g->rows = q[1];
  g->depth = q[2] / heads;
  g->before = r->Has(3) && !empty ? past[2] : 0;
  g->columns = ColumnsOf(*r, *g);
  g->window = r->Int("local_window_size", -1);
  g->known = g->window < 0 && !r->Has(9) && g->columns == g->before + g->rows &&
             IsAlways(*r, r->In(5), g->columns - 1);
  // Heads of their own weight (sinks), and scores as a result.
  return q[2] % heads == 0 && g->depth >= 1 && g->batch <= kMostBatches &&
         std::max(g->columns, g->before + g->rows) <= kMostPositions &&
         g->columns >= g->rows && !r->Has(11) && !r->Gives(3) &&
         r->Int("smooth_softmax", 0) == 0 && (g->known || r->Has(5));
}

// Rows of a table of cosines or sines for the positions behind the cache.
std::string RowsBehind(Rewriter* r, const std::string& table, const Groups& g) {
  return r->Op("Slice", {table, r->Whole({g.before}), r->Whole({g.before + g.rows}),
                         r->Whole({0})});
}

std::string Counted(Rewriter* r, const Shape& dims, int64_t first, int64_t step_row,
                    int64_t step) {
  onnx::TensorProto* made = r->NewConstant();
  made->set_data_type(onnx::TensorProto::INT32);
  for (const int64_t dim : dims) made->add_dims(dim);
  for (int64_t i = 0; i < ElementsOf(dims); ++i) {
    const int64_t row = i / dims.back(), column = i % dims.back();
    made->add_int32_data(static_cast<int32_t>(first + row * step_row + column * step));
  }
  return made->name();
}
std::string Number(Rewriter* r, int64_t number) {
  return Counted(r, {1}, number, 0, 0);
}

// How many positions of the caches are in use, [batch, 1]: the model says the last position
// that is seen, which is the last of the query.
std::string InUse(Rewriter* r, const Groups& g) {
  const std::string last = r->Reshape(r->In(5), {g.batch, 1});
  return r->Op("Max", {r->Op("Add", {last, Number(r, 1 - g.rows)}), Number(r, 0)});
}

// The caches with the new rows behind those in use, and zeros behind both.
std::string Extended(Rewriter* r, const std::string& past, const std::string& now,
                     const std::string& used, const Groups& g) {
  const Shape one = {g.batch, g.shared, 1, g.depth};
  const std::vector<float> zeros(static_cast<size_t>(ElementsOf(one)));
  std::vector<std::string> parts = {now, r->Real(zeros, one)};
  if (g.before > 0) parts.insert(parts.begin(), past);
  const std::string all = r->Op("Concat", parts, {{"axis", {2}}});
  const Shape line = {1, g.columns};
  // Column j is row j of the old ones, or row j - used of the new ones.
  const std::string old = Counted(r, line, 0, 0, 1);
  const std::string from = r->Op("Sub", {Counted(r, line, g.before, 0, 1), used});
  const std::string fresh = r->Op("Less", {Counted(r, line, -g.rows, 0, 1), used});
  const std::string behind =
      r->Op("Where", {fresh, from, Number(r, g.before + g.rows)});
  const std::string which = r->Op("Where", {r->Op("Less", {old, used}), old, behind});
  std::vector<std::string> each;
  for (int64_t b = 0; b < g.batch; ++b) {
    const auto of = [&](const std::string& x) {
      if (g.batch == 1) return x;
      return r->Op("Slice", {x, r->Whole({b}), r->Whole({b + 1}), r->Whole({0})});
    };
    each.push_back(
        r->Op("Gather", {of(all), r->Reshape(of(which), {-1})}, {{"axis", {2}}}));
  }
  return each.size() == 1 ? each[0] : r->Op("Concat", each, {{"axis", {0}}});
}

// SeenBehind() of lengths that the model tells.
std::string SeenAlways(Rewriter* r, const std::vector<int32_t>& last, const Groups& g) {
  std::vector<float> mask;
  for (int64_t i = 0; i < g.batch * g.rows * g.columns; ++i) {
    const size_t batch = static_cast<size_t>(i / (g.rows * g.columns));
    const int64_t at = std::max<int64_t>(last[batch] + 1 - g.rows, 0),
                  ahead = i % g.columns - i / g.columns % g.rows;
    const bool seen = ahead <= at && (g.window < 0 || ahead > at - g.window);
    mask.push_back(seen ? 0 : -std::numeric_limits<float>::infinity());
  }
  return r->Real(mask, {g.batch, 1, g.rows, g.columns});
}

// 0 where row i of the query sees column j, else -infinity.
std::string SeenBehind(Rewriter* r, const std::string& used, const Groups& g) {
  std::vector<int32_t> last;
  if (Int32sOf(*r, r->In(5), &last) && static_cast<int64_t>(last.size()) == g.batch) {
    return SeenAlways(r, last, g);
  }
  const std::string ahead = Counted(r, {g.rows, g.columns}, 0, -1, 1);
  const std::string at = r->Reshape(used, {g.batch, 1, 1, 1});
  const std::string none = r->Real({-std::numeric_limits<float>::infinity()}),
                    all = r->Real({0});
  std::string mask = r->Op("Where", {r->Op("Greater", {ahead, at}), none, all});
  if (g.window >= 0) {
    const std::string first = r->Op("Sub", {at, Number(r, g.window)});
    mask = r->Op("Where", {r->Op("LessOrEqual", {ahead, first}), none, mask});
  }
  return mask;
}

// The query and the keys, turned by their positions. False: a table of another shape.
bool TurnBoth(Rewriter* r, const std::string& used, const Groups& g, Operands* o) {
  const Shape table = r->Shape(r->In(7));
  if (table.size() != 2 || table[0] < g.columns || 2 * table[1] > g.depth ||
      !r->Has(8)) {
    return false;
  }
  std::string cos, sin;
  if (g.known) {
    cos = RowsBehind(r, r->In(7), g);
    sin = RowsBehind(r, r->In(8), g);
  } else {
    const std::string at = r->Has(9)
                               ? r->Reshape(r->In(9), {g.batch, g.rows})
                               : r->Op("Add", {used, Counted(r, {1, g.rows}, 0, 0, 1)});
    cos = r->Op("Gather", {r->In(7), at}, {{"axis", {0}}});
    sin = r->Op("Gather", {r->In(8), at}, {{"axis", {0}}});
  }
  const bool pairs = r->Int("rotary_interleaved", 0) != 0;
  o->q =
      Turned(r, o->q, cos, sin, {g.batch, g.heads, g.rows, g.depth, table[1], pairs});
  o->k =
      Turned(r, o->k, cos, sin, {g.batch, g.shared, g.rows, g.depth, table[1], pairs});
  return true;
}

}  // namespace

bool RewriteGroups(Rewriter* r) {
  const bool packed = !r->Has(1);
  Groups g = {};
  if (!ReadGroups(r, packed, &g)) return false;
  Operands o = {
      r->In(0), r->In(1), r->In(2), ScaleOf(*r, g.depth), {}, r->Float("softcap", 0)};
  if (packed) {
    const int64_t q = g.heads * g.depth, k = q + g.shared * g.depth;
    o.k = Part(r, o.q, q, k);
    o.v = Part(r, o.q, k, g.Width());
    o.q = Part(r, o.q, 0, q);
  }
  o.q = Heads(r, o.q, g.heads);
  o.k = Heads(r, o.k, g.shared);
  o.v = Heads(r, o.v, g.shared);
  const std::string used = g.known ? "" : InUse(r, g);
  if (r->Int("do_rotary", 0) != 0 && !TurnBoth(r, used, g, &o)) return false;
  if (!g.known) {
    o.k = Extended(r, r->In(3), o.k, used, g);
    o.v = Extended(r, r->In(4), o.v, used, g);
    o.masks.push_back(SeenBehind(r, used, g));
  } else {
    if (g.before > 0) {
      o.k = r->Op("Concat", {r->In(3), o.k}, {{"axis", {2}}});
      o.v = r->Op("Concat", {r->In(4), o.v}, {{"axis", {2}}});
    }
    o.masks.push_back(Causal(r, g.rows, g.columns, g.before));
  }
  if (r->Has(10)) o.masks.push_back(r->In(10));
  FinishShared(r, o, g.shared, g.heads / g.shared, true);
  return true;
}

}  // namespace sluice::import
