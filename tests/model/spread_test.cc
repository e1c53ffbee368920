// SPDX-License-Identifier: Apache-2.0
// What depends on a part of a tensor, compared with each output element on its own.
#include "model/spread.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/checked.h"
#include "base/rng.h"
#include "support/random_graph.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::kI32;
using sluice_test::kI8;

Lattice OneElement(const int32_t at[kAxes]) {
  Lattice one;
  for (int a = 0; a < kAxes; ++a) one.axis[a] = {at[a], 1, 1};
  return one;
}

// A box of a tensor that stands for what has spread to it.
struct Place {
  int32_t begin[kAxes];
  Spread spread;
};

bool Meets(const Lattice& lattice, const Place& place) {
  for (int a = 0; a < kAxes; ++a) {
    bool meets = false;
    for (int32_t i = 0; i < lattice.axis[a].count; ++i) {
      const int32_t at = lattice.axis[a].first + i * lattice.axis[a].step;
      meets = meets ||
              (at >= place.begin[a] && at < place.begin[a] + place.spread.count[a]);
    }
    if (!meets) return false;
  }
  return true;
}

// Calls f with each element of a box.
template <typename F>
void ForEach(const int32_t extent[kAxes], F f) {
  int32_t at[kAxes];
  for (at[0] = 0; at[0] < extent[0]; ++at[0])
    for (at[1] = 0; at[1] < extent[1]; ++at[1])
      for (at[2] = 0; at[2] < extent[2]; ++at[2])
        for (at[3] = 0; at[3] < extent[3]; ++at[3]) f(at);
}

// Which elements of the layer's output read an element of the place.
std::vector<bool> Dependents(const Graph& graph, const Layer& layer, size_t input,
                             const Place& place) {
  std::vector<bool> depends;
  ForEach(graph.tensors[layer.outputs[0]].extent, [&](const int32_t* at) {
    depends.push_back(Meets(NeededOfInput(graph, layer, input, OneElement(at)), place));
  });
  return depends;
}

// Whether all elements of some box of these counts are among those that depend.
bool Holds(const int32_t extent[kAxes], const std::vector<bool>& depends,
           const Spread& spread) {
  bool found = false;
  int32_t places[kAxes];
  for (int a = 0; a < kAxes; ++a) {
    places[a] = extent[a] - spread.count[a] + 1;
    if (places[a] <= 0) return false;
  }
  ForEach(places, [&](const int32_t* begin) {
    if (found) return;
    bool all = true;
    ForEach(spread.count, [&](const int32_t* at) {
      size_t i = 0;
      for (int a = 0; a < kAxes; ++a) {
        i = i * static_cast<size_t>(extent[a]) + static_cast<size_t>(begin[a] + at[a]);
      }
      all = all && depends[i];
    });
    found = all;
  });
  return found;
}

int32_t Below(Rng* rng, int32_t n) {
  return static_cast<int32_t>(rng->Below(static_cast<uint32_t>(n)));
}

Place RandomPlace(const Tensor& tensor, Rng* rng) {
  Place place;
  for (int a = 0; a < kAxes; ++a) {
    const int32_t e = tensor.extent[a];
    const uint32_t how = rng->Below(4);
    place.spread.count[a] = how == 0 ? e : how == 1 ? 1 + Below(rng, e) : 1;
    const int32_t last = e - place.spread.count[a];
    const uint32_t where = rng->Below(4);
    place.begin[a] = where == 0 ? 0 : where == 1 ? last : Below(rng, last + 1);
  }
  return place;
}

TEST_CASE("spread: never more than what reads the part, in random graphs") {
  int said = 0, layers = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    sluice_test::RandomGraphLimits limits;
    limits.elements = 400;
    sluice_test::Nouns n(sluice_test::MakeRandomGraph(seed, limits));
    Rng rng(seed);
    for (const Layer& layer : n.graph.layers) {
      for (size_t i = 0; i < layer.inputs.size(); ++i) {
        if (layer.inputs[i] == kNone) continue;
        const Tensor& in = n.graph.tensors[layer.inputs[i]];
        const Tensor& out = n.graph.tensors[layer.outputs[0]];
        // NeededOfInput takes one tap of dilated windows; they have a test of their own.
        const bool dilated = WindowOf(n.graph, layer, 1).dilation > 1 ||
                             WindowOf(n.graph, layer, 2).dilation > 1;
        if (in.kind == TensorKind::kConstant || dilated ||
            TraitsOf(layer).form == Form::kAppend) {
          continue;
        }
        ++layers;
        for (int k = 0; k < 6; ++k) {
          const Place place = RandomPlace(in, &rng);
          const Spread spread = SpreadThrough(n.graph, layer, i, place.spread);
          if (spread.count[0] == 0) continue;
          ++said;
          INFO("seed ", seed, " operator ", layer.op, " input ", i);
          CHECK(Holds(out.extent, Dependents(n.graph, layer, i, place), spread));
        }
      }
    }
  }
  CHECK(said > 3 * layers);
}

struct Conv {
  int32_t in, filter, stride, dilation, before, behind;
  int32_t channels = 4, groups = 1;

  int32_t out() const {
    return (in + before + behind - (filter - 1) * dilation - 1) / stride + 1;
  }
  sluice_test::GraphSpec Spec() const {
    sluice_test::GraphSpec g;
    const int32_t k = 8;
    g.tensors = {{{1, in, 1, channels}, kI8, 1},
                 {{k, filter, 1, channels / groups}, kI8, 3, 3, 1},
                 {{k, 3}, kI32, 3, 3, 2},
                 {{1, out(), 1, k}, kI8, 2}};
    g.layers.push_back({SLUICE_OP_CONV,
                        {0, 1, 2},
                        {3},
                        {stride, 1, dilation, 1, before, 0, behind, 0, groups}});
    return g;
  }
};

// Of the output every `step`-th row from `first` on is needed.
Parts Rows(const Tensor& out, int32_t first, int32_t step) {
  Parts parts;
  parts.count = 1;
  parts.lattice[0] = WholeLattice(out);
  parts.lattice[0].axis[1] = {first, step, (out.extent[1] - first + step - 1) / step};
  return parts;
}

// Whether a tap of the window of output row y reads a row of the place.
bool Reads(const Conv& c, const Place& place, int32_t y) {
  bool reads = false;
  for (int32_t r = 0; r < c.filter; ++r) {
    const int32_t x = y * c.stride - c.before + r * c.dilation;
    reads =
        reads || (x >= place.begin[1] && x < place.begin[1] + place.spread.count[1]);
  }
  return reads;
}

// The longest run of output rows that read a row of the place.
int32_t LongestRun(const Conv& c, const Place& place) {
  int32_t run = 0, longest = 0;
  for (int32_t y = 0; y < c.out(); ++y) {
    run = Reads(c, place, y) ? run + 1 : 0;
    longest = Max(longest, run);
  }
  return longest;
}

// Weights that needed rows of the output use for the channels of the place, of rows
// that read the place: taps that lie on the input, for all output channels.
int64_t WeightsOf(const Conv& c, const Place& place, const Parts& needed) {
  std::vector<bool> taps(static_cast<size_t>(c.filter));
  const Progression& rows = needed.lattice[0].axis[1];
  for (int32_t i = 0; i < rows.count; ++i) {
    const int32_t y = rows.first + i * rows.step;
    for (int32_t r = 0; r < c.filter && Reads(c, place, y); ++r) {
      const int32_t x = y * c.stride - c.before + r * c.dilation;
      if (x >= 0 && x < c.in) taps[static_cast<size_t>(r)] = true;
    }
  }
  int64_t used = 0;
  for (const bool tap : taps) used += tap ? 1 : 0;
  return used * 8 * place.spread.count[3];
}

TEST_CASE("spread: weights behind, never more than rows that depend use") {
  Rng rng(7);
  int said = 0;
  for (int k = 0; k < 3000; ++k) {
    Conv c = {1 + Below(&rng, 12), 1 + Below(&rng, 4), 1 + Below(&rng, 3),
              1 + Below(&rng, 2),  Below(&rng, 3),     Below(&rng, 3)};
    const int32_t window = (c.filter - 1) * c.dilation + 1;
    if (c.in + c.before + c.behind < window || Max(c.before, c.behind) >= window) {
      continue;
    }
    sluice_test::Nouns n(c.Spec());
    const Layer& layer = n.graph.layers[0];
    const Tensor& out = n.graph.tensors[3];
    const int32_t step = 1 + Below(&rng, 2);
    const Parts needed = Rows(out, Below(&rng, Min(step, out.extent[1])), step);
    for (int tries = 0; tries < 4; ++tries) {
      const Place place = RandomPlace(n.graph.tensors[0], &rng);
      const Spread spread = SpreadThrough(n.graph, layer, 0, place.spread);
      if (spread.count[0] == 0) continue;
      CHECK(spread.count[1] <= LongestRun(c, place));
      const int64_t weights =
          WeightsBehind(n.graph, layer, place.spread, spread, needed);
      said += weights > 0 ? 1 : 0;
      CAPTURE(k);
      CHECK(weights <= WeightsOf(c, place, needed));
    }
  }
  CHECK(said > 2000);
}

TEST_CASE("spread: by hand") {
  const Conv same = {8, 3, 1, 1, 1, 1};
  sluice_test::Nouns n(same.Spec());
  const Layer& layer = n.graph.layers[0];
  const Parts all = Rows(n.graph.tensors[3], 0, 1);
  // At a border one row reaches two; all channels see it.
  Spread one = SpreadThrough(n.graph, layer, 0, kOneElementSpreads);
  CHECK(one.count[1] == 2);
  CHECK(one.count[3] == 8);
  CHECK(WeightsBehind(n.graph, layer, kOneElementSpreads, one, all) == 8 * 3);
  // Of every second row one is certain, which may lie at a border.
  CHECK(WeightsBehind(n.graph, layer, kOneElementSpreads, one,
                      Rows(n.graph.tensors[3], 0, 2)) == 8 * 2);
  const Spread row = {{1, 1, 1, 4}};
  CHECK(WeightsBehind(n.graph, layer, row, one, all) == 8 * 4 * 3);

  // Windows of one row that skip rows may skip this one.
  sluice_test::Nouns skips(Conv{8, 1, 2, 1, 0, 0}.Spec());
  one = SpreadThrough(skips.graph, skips.graph.layers[0], 0, kOneElementSpreads);
  CHECK(one.count[0] == 0);
}

}  // namespace
}  // namespace sluice
