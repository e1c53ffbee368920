// SPDX-License-Identifier: Apache-2.0
// Operators that move elements of any type.
#include <algorithm>
#include <functional>

#include "host_tflite.h"

namespace sluice_sim {
namespace {

size_t SizeOf(const LiteTensor& t) {
  return static_cast<size_t>(LiteTypeBytes(t.type));
}

void Copy(const LiteTensor& from, int64_t at, const LiteTensor& to, int64_t place,
          int64_t count = 1) {
  const size_t size = SizeOf(to);
  if (from.type != to.type || !from.Has(at) || !from.Has(at + count - 1) ||
      !to.Has(place) || !to.Has(place + count - 1)) {
    *to.fault = true;
    return;
  }
  std::memcpy(to.bytes + static_cast<size_t>(place) * size,
              from.bytes + static_cast<size_t>(at) * size,
              static_cast<size_t>(count) * size);
}

void Fill(const LiteTensor& to, const uint8_t* element) {
  const size_t size = SizeOf(to);
  for (int64_t i = 0; i < to.count; ++i) {
    std::memcpy(to.bytes + static_cast<size_t>(i) * size, element, size);
  }
}

int64_t Inner(const LiteShape& shape, size_t first) {
  int64_t count = 1;
  for (size_t a = first; a < shape.size(); ++a) count *= shape[a];
  return count;
}

// Calls `place` with the position of each element of `shape`, in order.
void ForEach(const LiteShape& shape,
             const std::function<void(int64_t, const LiteShape&)>& place) {
  LiteShape at(shape.size(), 0);
  const int64_t count = LiteCount(shape);
  for (int64_t i = 0; i < count; ++i) {
    place(i, at);
    for (size_t a = shape.size(); a-- > 0;) {
      if (++at[a] < shape[a]) break;
      at[a] = 0;
    }
  }
}

int64_t IndexOf(const LiteShape& shape, const LiteShape& at) {
  int64_t index = 0;
  for (size_t a = 0; a < shape.size(); ++a) index = index * shape[a] + at[a];
  return index;
}

bool Moves(const LiteCall& call, size_t inputs) {
  return call.in.size() >= inputs && call.in[0].there() &&
         call.in[0].type == call.out[0].type;
}

// Numbers: axis, axes of batches.
std::string Gather(const LiteCall& call) {
  if (!Moves(call, 2) || call.in[0].rank() == 0) return kLiteOperands;
  const LiteTensor &x = call.in[0], &index = call.in[1], &y = call.out[0];
  const int64_t axis = LiteAxis(call.Number(0), x.rank()), batches = call.Number(1);
  if (axis < 0 || batches < 0 || batches > axis ||
      batches > static_cast<int64_t>(index.rank())) {
    return kLiteOperands;
  }
  const size_t a = static_cast<size_t>(axis), b = static_cast<size_t>(batches);
  const int64_t n = x.shape[a], inner = Inner(x.shape, a + 1);
  const int64_t picks = Inner(index.shape, b), batch = index.count / picks;
  const int64_t outer = x.count / (batch * n * inner);
  if (y.count != batch * outer * picks * inner) return kLiteOperands;
  int64_t to = 0;
  for (int64_t p = 0; p < batch; ++p) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < picks; ++k, to += inner) {
        const int64_t i = index.Int(p * picks + k);
        if (i < 0 || i >= n) return "an index outside of the table";
        Copy(x, ((p * outer + o) * n + i) * inner, y, to, inner);
      }
    }
  }
  return "";
}

std::string EmbeddingLookup(const LiteCall& call) {
  if (call.in.size() != 2 || call.in[1].rank() == 0) return kLiteOperands;
  const LiteTensor &index = call.in[0], &x = call.in[1], &y = call.out[0];
  const int64_t inner = Inner(x.shape, 1);
  if (y.count != index.count * inner || y.type != x.type) return kLiteOperands;
  for (int64_t k = 0; k < index.count; ++k) {
    const int64_t i = index.Int(k);
    if (i < 0 || i >= x.shape[0]) return "an index outside of the table";
    Copy(x, i * inner, y, k * inner, inner);
  }
  return "";
}

// The element at which slice k of an operand of indices begins; -1: outside.
int64_t SliceAt(const LiteTensor& index, int64_t k, const LiteShape& shape,
                int64_t* inner) {
  const int64_t depth = index.rank() == 0 ? 1 : index.shape.back();
  if (depth > static_cast<int64_t>(shape.size())) return -1;
  *inner = Inner(shape, static_cast<size_t>(depth));
  int64_t at = 0;
  for (int64_t d = 0; d < depth; ++d) {
    const int64_t i = index.Int(k * depth + d), n = shape[static_cast<size_t>(d)];
    if (i < 0 || i >= n) return -1;
    at = at * n + i;
  }
  return at * *inner;
}

std::string GatherNd(const LiteCall& call) {
  if (!Moves(call, 2) || call.in[1].rank() == 0) return kLiteOperands;
  const LiteTensor &x = call.in[0], &index = call.in[1], &y = call.out[0];
  const int64_t slices = index.count / index.shape.back();
  for (int64_t k = 0; k < slices; ++k) {
    int64_t inner = 1;
    const int64_t at = SliceAt(index, k, x.shape, &inner);
    if (at < 0) return "an index outside of the table";
    if (y.count != slices * inner) return kLiteOperands;
    Copy(x, at, y, k * inner, inner);
  }
  return "";
}

// Slices at the same place are added.
std::string ScatterNd(const LiteCall& call) {
  if (call.in.size() != 3 || call.in[0].rank() == 0) return kLiteOperands;
  const LiteTensor &index = call.in[0], &x = call.in[1], &y = call.out[0];
  const int64_t slices = index.count / index.shape.back();
  if (x.type != y.type) return kLiteOperands;
  std::fill_n(y.bytes, static_cast<size_t>(y.count) * SizeOf(y), uint8_t{0});
  for (int64_t k = 0; k < slices; ++k) {
    int64_t inner = 1;
    const int64_t at = SliceAt(index, k, y.shape, &inner);
    if (at < 0) return "an index outside of the result";
    if (x.count != slices * inner) return kLiteOperands;
    for (int64_t i = 0; i < inner; ++i) {
      if (y.IsFloat()) {
        y.SetFloat(at + i, y.Float(at + i) + x.Float(k * inner + i));
      } else if (y.Is(kLiteBool)) {
        y.SetInt(at + i, y.Int(at + i) | x.Int(k * inner + i));
      } else {
        y.SetInt(at + i,
                 static_cast<int64_t>(static_cast<uint64_t>(y.Int(at + i)) +
                                      static_cast<uint64_t>(x.Int(k * inner + i))));
      }
    }
  }
  return "";
}

// Number 0: the axis of the result.
std::string OneHot(const LiteCall& call) {
  if (call.in.size() != 4 || call.in[2].type != call.out[0].type ||
      call.in[3].type != call.out[0].type || call.out[0].rank() == 0) {
    return kLiteOperands;
  }
  const LiteTensor &index = call.in[0], &y = call.out[0];
  const int64_t axis = LiteAxis(call.Number(0), y.rank());
  if (axis < 0) return kLiteOperands;
  const int64_t depth = y.shape[static_cast<size_t>(axis)],
                inner = Inner(y.shape, static_cast<size_t>(axis) + 1);
  if (y.count != index.count * depth) return kLiteOperands;
  Fill(y, call.in[3].bytes);
  for (int64_t k = 0; k < index.count; ++k) {
    const int64_t i = index.Int(k);
    if (i < 0 || i >= depth) continue;
    Copy(call.in[2], 0, y, (k / inner * depth + i) * inner + k % inner);
  }
  return "";
}

// PAD and PADV2; the padding of a quantised tensor is its zero point.
std::string Pad(const LiteCall& call) {
  if (!Moves(call, 2)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const std::vector<int64_t> pads = LiteInts(call.in[1]);
  if (pads.size() != 2 * x.rank() || y.rank() != x.rank()) return kLiteOperands;
  for (size_t a = 0; a < x.rank(); ++a) {
    if (pads[2 * a] < 0 || pads[2 * a] + x.shape[a] > y.shape[a]) return kLiteOperands;
  }
  int64_t zero = x.scale != 0 ? y.zero : 0;
  const uint8_t* value = reinterpret_cast<const uint8_t*>(&zero);
  if (call.in.size() > 2 && call.in[2].there()) {
    if (call.in[2].type != y.type) return kLiteOperands;
    value = call.in[2].bytes;
  }
  Fill(y, value);
  ForEach(x.shape, [&](int64_t i, const LiteShape& at) {
    LiteShape to = at;
    for (size_t a = 0; a < to.size(); ++a) to[a] += pads[2 * a];
    Copy(x, i, y, IndexOf(y.shape, to));
  });
  return "";
}

// Number 0: 0 leaves the edge out, 1 repeats it.
std::string MirrorPad(const LiteCall& call) {
  if (!Moves(call, 2)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const std::vector<int64_t> pads = LiteInts(call.in[1]);
  if (pads.size() != 2 * x.rank() || y.rank() != x.rank()) return kLiteOperands;
  const int64_t edge = call.Number(0) == 0 ? 1 : 0;
  bool inside = true;
  ForEach(y.shape, [&](int64_t i, const LiteShape& at) {
    LiteShape from = at;
    for (size_t a = 0; a < from.size(); ++a) {
      int64_t& p = from[a];
      p -= pads[2 * a];
      if (p < 0) p = -p - 1 + edge;
      if (p >= x.shape[a]) p = 2 * x.shape[a] - 1 - p - edge;
      inside = inside && p >= 0 && p < x.shape[a];
    }
    if (inside) Copy(x, IndexOf(x.shape, from), y, i);
  });
  return inside ? "" : kLiteOperands;
}

// Numbers: axis of the sequence, axis of batches. Input 1: a length for each batch.
std::string ReverseSequence(const LiteCall& call) {
  if (!Moves(call, 2) || call.in[0].shape != call.out[0].shape) return kLiteOperands;
  const LiteTensor &x = call.in[0], &length = call.in[1], &y = call.out[0];
  const int64_t sequence = LiteAxis(call.Number(0), x.rank()),
                batch = LiteAxis(call.Number(1), x.rank());
  if (sequence < 0 || batch < 0 ||
      length.count != x.shape[static_cast<size_t>(batch)]) {
    return kLiteOperands;
  }
  bool inside = true;
  ForEach(x.shape, [&](int64_t i, const LiteShape& at) {
    LiteShape from = at;
    int64_t& s = from[static_cast<size_t>(sequence)];
    const int64_t n = length.Int(at[static_cast<size_t>(batch)]);
    inside = inside && n >= 0 && n <= x.shape[static_cast<size_t>(sequence)];
    if (s < n) s = n - 1 - s;
    if (inside) Copy(x, IndexOf(x.shape, from), y, i);
  });
  return inside ? "" : "a sequence of more steps than there are";
}

// Number 0: the block. DEPTH_TO_SPACE writes what SPACE_TO_DEPTH reads.
std::string Blocks(const LiteCall& call, bool to_depth) {
  if (!Moves(call, 1) || call.in[0].rank() != 4 || call.out[0].rank() != 4 ||
      call.in[0].count != call.out[0].count) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const LiteTensor &wide = to_depth ? x : y, &deep = to_depth ? y : x;
  const int64_t block = call.Number(0), channels = wide.shape[3];
  if (block < 1 || deep.shape[1] * block != wide.shape[1] ||
      deep.shape[2] * block != wide.shape[2] ||
      deep.shape[3] != channels * block * block) {
    return kLiteOperands;
  }
  ForEach(wide.shape, [&](int64_t i, const LiteShape& at) {
    const int64_t part = at[1] % block * block + at[2] % block;
    const int64_t other = IndexOf(
        deep.shape, {at[0], at[1] / block, at[2] / block, part * channels + at[3]});
    if (to_depth) Copy(x, i, y, other);
    if (!to_depth) Copy(x, other, y, i);
  });
  return "";
}
std::string SpaceToDepth(const LiteCall& call) { return Blocks(call, true); }
std::string DepthToSpace(const LiteCall& call) { return Blocks(call, false); }

// Input 1: blocks of the axes behind the batch; input 2: pads or crops.
std::string Batches(const LiteCall& call, bool to_batch) {
  if (!Moves(call, 3) || call.in[0].rank() != call.out[0].rank()) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const LiteTensor &wide = to_batch ? x : y, &cut = to_batch ? y : x;
  const std::vector<int64_t> block = LiteInts(call.in[1]), pads = LiteInts(call.in[2]);
  if (block.size() + 1 > x.rank() || pads.size() != 2 * block.size()) {
    return kLiteOperands;
  }
  if (to_batch) {
    const int64_t zero = x.scale != 0 ? y.zero : 0;
    Fill(y, reinterpret_cast<const uint8_t*>(&zero));
  }
  bool inside = true;
  ForEach(wide.shape, [&](int64_t i, const LiteShape& at) {
    LiteShape other = at;
    int64_t part = 0;
    for (size_t a = 0; a < block.size() && inside; ++a) {
      inside = block[a] >= 1;
      if (!inside) return;
      const int64_t place = at[a + 1] + pads[2 * a];
      part = part * block[a] + place % block[a];
      other[a + 1] = place / block[a];
    }
    other[0] = part * wide.shape[0] + at[0];
    for (size_t a = 0; a < other.size(); ++a) {
      inside = inside && other[a] >= 0 && other[a] < cut.shape[a];
    }
    if (!inside) return;
    const int64_t there = IndexOf(cut.shape, other);
    if (to_batch) Copy(x, i, y, there);
    if (!to_batch) Copy(x, there, y, i);
  });
  return inside ? "" : kLiteOperands;
}
std::string SpaceToBatch(const LiteCall& call) { return Batches(call, true); }
std::string BatchToSpace(const LiteCall& call) { return Batches(call, false); }

std::string MatrixDiag(const LiteCall& call) {
  if (!Moves(call, 1) || call.in[0].rank() == 0) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const int64_t n = x.shape.back();
  if (y.count != x.count * n) return kLiteOperands;
  const int64_t zero = 0;
  Fill(y, reinterpret_cast<const uint8_t*>(&zero));
  for (int64_t i = 0; i < x.count; ++i) Copy(x, i, y, i * n + i % n);
  return "";
}

std::string MatrixSetDiag(const LiteCall& call) {
  if (!Moves(call, 2) || call.in[0].rank() < 2 || call.in[1].rank() == 0 ||
      call.in[1].type != call.out[0].type || call.in[0].count != call.out[0].count) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &d = call.in[1], &y = call.out[0];
  const int64_t rows = x.shape[x.rank() - 2], columns = x.shape.back();
  const int64_t n = std::min(rows, columns);
  if (d.count != x.count / (rows * columns) * n) return kLiteOperands;
  Copy(x, 0, y, 0, x.count);
  for (int64_t i = 0; i < d.count; ++i) {
    Copy(d, i, y, (i / n * rows + i % n) * columns + i % n);
  }
  return "";
}

// Where the slice would leave the operand, it begins earlier.
std::string DynamicUpdate(const LiteCall& call) {
  if (!Moves(call, 3) || call.in[1].type != call.out[0].type ||
      call.in[0].shape != call.out[0].shape || call.in[1].rank() != call.in[0].rank() ||
      call.in[2].count != static_cast<int64_t>(call.in[0].rank())) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &part = call.in[1], &y = call.out[0];
  LiteShape begin = LiteInts(call.in[2]);
  for (size_t a = 0; a < begin.size(); ++a) {
    if (part.shape[a] > x.shape[a]) return kLiteOperands;
    begin[a] = std::clamp<int64_t>(begin[a], 0, x.shape[a] - part.shape[a]);
  }
  Copy(x, 0, y, 0, x.count);
  ForEach(part.shape, [&](int64_t i, const LiteShape& at) {
    LiteShape to = at;
    for (size_t a = 0; a < to.size(); ++a) to[a] += begin[a];
    Copy(part, i, y, IndexOf(y.shape, to));
  });
  return "";
}

// Inputs: indices, the shape, values (or one), the value everywhere else.
std::string SparseToDense(const LiteCall& call) {
  if (call.in.size() != 4 || call.in[2].type != call.out[0].type ||
      call.in[3].type != call.out[0].type) {
    return kLiteOperands;
  }
  const LiteTensor &index = call.in[0], &values = call.in[2], &y = call.out[0];
  const int64_t depth = index.rank() == 2 ? index.shape[1] : 1,
                count = index.count / depth;
  if (depth != static_cast<int64_t>(y.rank()) ||
      (values.count != 1 && values.count != count)) {
    return kLiteOperands;
  }
  Fill(y, call.in[3].bytes);
  for (int64_t k = 0; k < count; ++k) {
    LiteShape at;
    for (int64_t d = 0; d < depth; ++d) {
      at.push_back(index.Int(k * depth + d));
      if (at.back() < 0 || at.back() >= y.shape[static_cast<size_t>(d)]) {
        return "an index outside of the result";
      }
    }
    Copy(values, values.count == 1 ? 0 : k, y, IndexOf(y.shape, at));
  }
  return "";
}

// Input 1: the segment of each slice of the first axes; below 0: none.
template <typename F, typename G>
std::string Segments(const LiteCall& call, float real, int64_t whole, F f, G g) {
  if (!Moves(call, 2) || call.out[0].rank() == 0) return kLiteOperands;
  const LiteTensor &x = call.in[0], &segment = call.in[1], &y = call.out[0];
  const int64_t inner = x.count / segment.count, segments = y.shape[0];
  if (segment.count * inner != x.count || segments * inner != y.count) {
    return kLiteOperands;
  }
  for (int64_t i = 0; i < y.count; ++i) {
    if (y.IsFloat()) y.SetFloat(i, real);
    if (!y.IsFloat()) y.SetInt(i, whole);
  }
  for (int64_t i = 0; i < x.count; ++i) {
    const int64_t s = segment.Int(i / inner), to = s * inner + i % inner;
    if (s >= segments) return "a segment that there is not";
    if (s < 0) continue;
    if (y.IsFloat()) y.SetFloat(to, f(y.Float(to), x.Float(i)));
    if (!y.IsFloat()) y.SetInt(to, g(y.Int(to), x.Int(i)));
  }
  return "";
}

std::string SegmentSum(const LiteCall& call) {
  return Segments(
      call, 0, 0, [](float a, float b) { return a + b; },
      [](int64_t a, int64_t b) { return a + b; });
}
std::string SegmentProd(const LiteCall& call) {
  return Segments(
      call, 1, 1, [](float a, float b) { return a * b; },
      [](int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) *
                                    static_cast<uint64_t>(b));
      });
}
std::string SegmentMax(const LiteCall& call) {
  return Segments(
      call, -3.40282347e+38f, LiteLeast(call.out[0].type),
      [](float a, float b) { return std::max(a, b); },
      [](int64_t a, int64_t b) { return std::max(a, b); });
}
std::string SegmentMin(const LiteCall& call) {
  return Segments(
      call, 3.40282347e+38f, LiteMost(call.out[0].type),
      [](float a, float b) { return std::min(a, b); },
      [](int64_t a, int64_t b) { return std::min(a, b); });
}

}  // namespace

void AddLiteMoves(LiteRows* rows) {
  const LiteRows here = {{"GATHER", Gather},
                         {"GATHER_ND", GatherNd},
                         {"EMBEDDING_LOOKUP", EmbeddingLookup},
                         {"SCATTER_ND", ScatterNd},
                         {"ONE_HOT", OneHot},
                         {"PAD", Pad},
                         {"PADV2", Pad},
                         {"MIRROR_PAD", MirrorPad},
                         {"REVERSE_SEQUENCE", ReverseSequence},
                         {"SPACE_TO_DEPTH", SpaceToDepth},
                         {"DEPTH_TO_SPACE", DepthToSpace},
                         {"SPACE_TO_BATCH_ND", SpaceToBatch},
                         {"BATCH_TO_SPACE_ND", BatchToSpace},
                         {"MATRIX_DIAG", MatrixDiag},
                         {"MATRIX_SET_DIAG", MatrixSetDiag},
                         {"DYNAMIC_UPDATE_SLICE", DynamicUpdate},
                         {"SPARSE_TO_DENSE", SparseToDense},
                         {"SEGMENT_SUM", SegmentSum},
                         {"UNSORTED_SEGMENT_SUM", SegmentSum},
                         {"UNSORTED_SEGMENT_PROD", SegmentProd},
                         {"UNSORTED_SEGMENT_MAX", SegmentMax},
                         {"UNSORTED_SEGMENT_MIN", SegmentMin}};
  rows->insert(here.begin(), here.end());
}

}  // namespace sluice_sim
