// SPDX-License-Identifier: Apache-2.0
// What the simulator computes of random graphs, and what it says of their layers as tiles
// with a changed field, beside stored answers. Other tests compare the same code with the
// judge, with the planner and with the runtimes; here every change of an answer is noticed
// at once. SLUICE_FREEZE=1 writes the answers anew.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/rng.h"
#include "firmware-sim/ability.h"
#include "firmware-sim/reference.h"
#include "firmware-sim/sim.h"
#include "support/frozen_lines.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

using sluice_sim::Tile;

GraphSpec SmallGraph(uint64_t seed) {
  RandomGraphLimits limits;
  limits.layers = 6;
  limits.elements = 400;
  limits.curves = seed % 2 == 0;
  return MakeRandomGraph(seed, limits);
}

TEST_CASE("simulator: random graphs give the outputs that they gave") {
  FrozenLines lines("sim/graph_outputs.txt");
  for (uint64_t ten = 0; ten < 40; ++ten) {
    TextHash hash;
    for (uint64_t seed = 10 * ten + 1; seed <= 10 * ten + 10; ++seed) {
      const Bytes graph = GraphBytes(SmallGraph(seed));
      sluice_sim::SimulateOptions options;
      options.graph = graph.data();
      options.graph_size = graph.size();
      options.seed = seed;
      const sluice_sim::SimulateResult r = RunReference(options);
      hash.Add(r.error + " " + std::to_string(r.output_fnv1a));
    }
    lines.Add("graphs from " + std::to_string(10 * ten + 1) + ": " + hash.Text());
  }
  lines.Check();
}

// One of a tile's numbers.
int64_t* Field(sluice::Rng* rng, Tile* t) {
  sluice_sim::Box* const boxes[] = {&t->input0,     &t->input1,      &t->weight,
                                    &t->parameters, &t->accumulator, &t->output};
  sluice_sim::Box* const box = boxes[rng->Below(6)];
  const size_t axis = rng->Below(4);
  switch (rng->Below(9)) {
    case 0:
      return &t->origin[axis];
    case 1:
      return &t->pad[axis];
    case 2:
      return &t->c_begin;
    case 3:
      return &t->c_end;
    case 4:
      return &t->layer.input[axis];
    case 5:
      return &t->layer.output[axis];
    case 6:
      return &t->layer.second[axis];
    default:
      return &box->extent[axis];
  }
}

void Change(sluice::Rng* rng, Tile* t) {
  const uint8_t types[] = {SLUICE_DTYPE_INT8, SLUICE_DTYPE_UINT8, SLUICE_DTYPE_INT32,
                           SLUICE_DTYPE_INT64};
  sluice_sim::Box* const boxes[] = {&t->input0, &t->input1, &t->weight, &t->parameters,
                                    &t->output};
  switch (rng->Below(8)) {
    case 0:
      boxes[rng->Below(5)]->dtype = types[rng->Below(4)];
      return;
    case 1:
      t->first = !t->first;
      return;
    case 2:
      t->last = !t->last;
      return;
    case 3:
      if (t->attributes.empty()) return;
      t->attributes[rng->Below(static_cast<uint32_t>(t->attributes.size()))] =
          static_cast<int32_t>(rng->Below(6)) - 2;
      return;
    case 4:
      t->accumulator = t->output;
      t->accumulator.dtype = SLUICE_DTYPE_INT32;
      t->first = rng->Below(2) == 0;
      t->last = !t->first && rng->Below(2) == 0;
      return;
    default: {
      int64_t* const field = Field(rng, t);
      // A graph's extents are at least 1.
      *field += *field <= 1 || rng->Below(2) == 0 ? 1 : -1;
    }
  }
}

TEST_CASE("simulator: of tiles with a changed field it says what it said") {
  std::map<int, TextHash> hashes;
  std::map<int, int> right, made;
  sluice::Rng rng(3);
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const Bytes bytes = GraphBytes(SmallGraph(seed));
    sluice_sim::Graph graph;
    REQUIRE(ReadGraph(bytes.data(), bytes.size(), &graph) == "");
    sluice_sim::Values values;
    for (const sluice_sim::Tensor& tensor : graph.tensors) {
      values.emplace_back(static_cast<size_t>(tensor.bytes));
    }
    for (const sluice_sim::Layer& layer : graph.layers) {
      const sluice_sim::Op& op = sluice_sim::OpOf(layer.op);
      if (op.means != sluice_sim::Means::kCompute) continue;
      const Tile whole = WholeTile(graph, layer, &values);
      for (int n = 0; n < 30; ++n) {
        Tile t = whole;
        for (int i = n % 3; i > 0; --i) Change(&rng, &t);
        const std::string error = CheckTile(t);
        right[layer.op] += error.empty() ? 1 : 0;
        ++made[layer.op];
        std::string text = error;
        if (error.empty()) {
          const sluice_sim::Work work = WorkOf(t);
          text = std::to_string(work.times * work.each) + (work.macs ? " macs" : "");
        }
        hashes[layer.op].Add(text);
      }
    }
  }
  FrozenLines lines("sim/tile_answers.txt");
  for (const auto& [op, hash] : hashes) {
    lines.Add("op " + std::to_string(op) + ": " + std::to_string(right[op]) + " of " +
              std::to_string(made[op]) + " right, " + hash.Text());
  }
  lines.Check();
}

TEST_CASE(
    "simulator: what random machines lack for random layers is what they lacked") {
  FrozenLines lines("sim/ability_answers.txt");
  sluice::Rng rng(4);
  for (uint64_t ten = 0; ten < 40; ++ten) {
    TextHash hash;
    int able = 0, made = 0;
    for (uint64_t seed = 10 * ten + 1; seed <= 10 * ten + 10; ++seed) {
      const Bytes bytes = GraphBytes(SmallGraph(seed));
      sluice_sim::Graph graph;
      REQUIRE(ReadGraph(bytes.data(), bytes.size(), &graph) == "");
      for (const sluice_sim::Layer& layer : graph.layers) {
        for (int n = 0; n < 10; ++n) {
          sluice_sim::OpRow row;
          row.op = layer.op;
          row.arithmetic = rng.Below(8) == 0 ? 2 : 1;
          row.dtypes = rng.Below(4) == 0 ? rng.Below(256) : 255;
          row.requantise = rng.Below(3) == 0 ? rng.Below(8) : 7;
          row.zero_points = rng.Below(3) == 0 ? rng.Below(8) : 7;
          for (size_t i = 0; i < 2; ++i) {
            row.max_kernel[i] = rng.Below(2) == 0 ? 0 : 1 + rng.Below(4);
          }
          row.max_stride = rng.Below(2) == 0 ? 0 : 1 + rng.Below(2);
          row.max_dilation = rng.Below(2) == 0 ? 0 : 1 + rng.Below(2);
          sluice_sim::Hardware hardware;
          hardware.limited = true;
          hardware.ops = {row};
          const uint32_t why = WhyNot(graph, hardware, layer);
          able += why == 0 ? 1 : 0;
          ++made;
          hash.Add(std::to_string(why));
        }
      }
    }
    lines.Add("graphs from " + std::to_string(10 * ten + 1) + ": " +
              std::to_string(able) + " of " + std::to_string(made) + " able, " +
              hash.Text());
  }
  lines.Check();
}

}  // namespace
}  // namespace sluice_test
