// SPDX-License-Identifier: Apache-2.0
// Parts of layers as tiles: which operands the checks ask for, word by word, and what the
// kernels compute of them, beside stored answers. That parts make up the whole is shown by
// tests that run whole streams; here every change of an answer is noticed at once.
// SLUICE_FREEZE=1 writes the answers anew.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "base/rng.h"
#include "firmware-sim/reference.h"
#include "support/frozen_lines.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

using sluice_sim::Box;
using sluice_sim::Extent;
using sluice_sim::Slide;
using sluice_sim::Tile;

// A random part of an axis, as often all of it.
void Part(sluice::Rng* rng, int64_t whole, int64_t* begin, int64_t* count) {
  *begin = 0;
  *count = whole;
  if (rng->Below(2) == 0) return;
  *count = 1 + rng->Below(static_cast<uint32_t>(whole));
  *begin = rng->Below(static_cast<uint32_t>(whole - *count + 1));
}

// The operand that a sentence of the checks names, or none.
Box* Named(const std::string& name, Tile* t) {
  const std::map<std::string, Box*> boxes = {
      {"input0", &t->input0},         {"input1", &t->input1},
      {"weight", &t->weight},         {"table", &t->weight},
      {"parameters", &t->parameters}, {"accumulator", &t->accumulator},
      {"mask", &t->input1},           {"output", &t->output}};
  const auto at = boxes.find(name);
  return at == boxes.end() ? nullptr : at->second;
}

// Gives an operand the extents that the checks have asked for; false: they asked for nothing.
bool Comply(const std::string& error, Tile* t) {
  char name[32];
  long long is[4], want[4];
  if (std::sscanf(error.c_str(),
                  "extents: %31s is [%lld,%lld,%lld,%lld], not [%lld,%lld,%lld,%lld]",
                  name, is, is + 1, is + 2, is + 3, want, want + 1, want + 2,
                  want + 3) != 9) {
    return false;
  }
  Box* const box = Named(name, t);
  if (box == nullptr) return false;
  for (size_t a = 0; a < 4; ++a) box->extent[a] = want[a];
  return true;
}

// Rows and columns under the part's windows, the first of which is at `at`, and their pads.
void Slide2(const Extent& at, const Extent& windows, Tile* t) {
  const sluice_sim::Window g = WindowOf(*t);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t rows = t->layer.input[1 + i];
    const int64_t begin = at[1 + i] * g.stride[i] - g.pad_before[i];
    const int64_t need =
        (windows[1 + i] - 1) * g.stride[i] + (g.size[i] - 1) * g.dilation[i] + 1;
    t->pad[i] = std::max<int64_t>(0, -begin);
    t->pad[2 + i] = std::max<int64_t>(0, begin + need - rows);
    t->input0.extent[1 + i] = need - t->pad[i] - t->pad[2 + i];
  }
}

// A part of the whole layer with the rows that its windows reach, as they are on paper.
Tile RandomPart(sluice::Rng* rng, const Tile& whole, Box sums) {
  Tile t = whole;
  for (size_t a = 0; a < 4; ++a) {
    Part(rng, whole.output.extent[a], &t.origin[a], &t.output.extent[a]);
  }
  if (t.sums_over_c()) {
    int64_t count = 0;
    Part(rng, whole.c_end, &t.c_begin, &count);
    t.c_end = t.c_begin + count;
    t.first = count == whole.c_end || rng->Below(2) == 0;
    t.last = count == whole.c_end || (!t.first && rng->Below(2) == 0);
    if (!t.first || !t.last) {
      t.accumulator = sluice_sim::DenseBox(sums.data, sums.dtype, t.output.extent);
    }
  }
  Extent at = t.origin, windows = t.output.extent;
  const Slide slide = sluice_sim::OpOf(t.op).slide;
  if (slide == Slide::kTaps) {
    const int64_t rows = t.layer.second[1];
    at = {0, t.c_begin % rows, 0, 0};
    windows = {1, std::min(t.c_end - t.c_begin, rows), t.layer.second[2], 1};
  }
  if (slide == Slide::kFilter || slide == Slide::kPool || slide == Slide::kPads ||
      slide == Slide::kTaps) {
    Slide2(at, windows, &t);
  }
  return t;
}

// Sometimes a row less and a pad more, or the reverse, as a PAD in front allows; or an
// attribute that is none.
void Disturb(sluice::Rng* rng, Tile* t) {
  const size_t i = rng->Below(2);
  const int64_t step = rng->Below(2) == 0 ? 1 : -1;
  switch (rng->Below(6)) {
    case 0:
    case 1:
      t->layer.padded = rng->Below(2) == 0;
      t->pad[i + 2 * rng->Below(2)] += step;
      t->input0.extent[1 + i] -= step;
      break;
    case 2:
      if (t->attributes.empty()) break;
      t->attributes[rng->Below(static_cast<uint32_t>(t->attributes.size()))] = -1;
      break;
    default:
      break;
  }
}

bool Within(const Box& part, const Box& whole) {
  for (size_t a = 0; a < 4; ++a) {
    if (part.extent[a] < 0 || part.extent[a] > whole.extent[a]) return false;
  }
  return true;
}

struct Answers {
  TextHash hash;
  int made = 0, right = 0;
};

// What is said of a part until nothing is missing, and the bytes that come of it.
void Judge(const Tile& whole, Tile t, Answers* to) {
  ++to->made;
  std::string error = CheckTile(t);
  for (int n = 0; n < 8 && !error.empty(); ++n) {
    to->hash.Add(error);
    if (!Comply(error, &t)) break;
    error = CheckTile(t);
  }
  // Bytes are read from the first of each operand on, wherever the part lies.
  if (!error.empty() || !Within(t.input0, whole.input0) ||
      !Within(t.input1, whole.input1) || !Within(t.weight, whole.weight) ||
      !Within(t.parameters, whole.parameters)) {
    to->hash.Add(error);
    return;
  }
  ++to->right;
  RunTile(t);
  const Box& result = t.target();
  std::string bytes;
  sluice_sim::ForEachElement(result.extent, nullptr,
                             [&](int64_t n, int64_t h, int64_t w, int64_t c) {
                               bytes += std::to_string(Read(result, n, h, w, c)) + " ";
                             });
  to->hash.Add(bytes);
}

TEST_CASE("simulator: of parts of layers it asks and computes what it did") {
  std::map<int, Answers> answers;
  sluice::Rng rng(5);
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RandomGraphLimits limits;
    limits.layers = 6;
    limits.elements = 400;
    limits.curves = seed % 2 == 0;
    const Bytes bytes = GraphBytes(MakeRandomGraph(seed, limits));
    sluice_sim::Graph graph;
    REQUIRE(ReadGraph(bytes.data(), bytes.size(), &graph) == "");
    sluice_sim::Values values;
    for (const sluice_sim::Tensor& tensor : graph.tensors) {
      values.push_back(sluice_sim::SeededBytes(seed, tensor.bytes));
    }
    REQUIRE(FillConstants(graph, "", &values) == "");
    for (const sluice_sim::Layer& layer : graph.layers) {
      if (sluice_sim::OpOf(layer.op).run == nullptr) continue;
      const Tile whole = WholeTile(graph, layer, &values);
      sluice_sim::Bytes sums = sluice_sim::SeededBytes(9, 4 * whole.output.elements());
      for (size_t i = 2; i < sums.size(); i += 4) sums[i] = sums[i + 1] = 0;
      for (int n = 0; n < 12; ++n) {
        Tile part = RandomPart(
            &rng, whole,
            sluice_sim::DenseBox(sums.data(), SLUICE_DTYPE_INT32, whole.output.extent));
        if (n % 2 != 0) Disturb(&rng, &part);
        Judge(whole, part, &answers[layer.op]);
      }
    }
  }
  FrozenLines lines("sim/part_answers.txt");
  for (const auto& [op, of] : answers) {
    lines.Add("op " + std::to_string(op) + ": " + std::to_string(of.right) + " of " +
              std::to_string(of.made) + " right, " + of.hash.Text());
  }
  lines.Check();
}

}  // namespace
}  // namespace sluice_test
