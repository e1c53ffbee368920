// SPDX-License-Identifier: Apache-2.0
// The judge's own bound by room: for one convolution, and beside the planner's, which
// shares no code with it.
#include "verify/room.h"

#include <doctest/doctest.h>

#include <vector>

#include "cases.h"
#include "judged_case.h"
#include "model/room_bound.h"
#include "own_needed.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

// Nothing is made before the only layer's first tile, so all bytes of the layer pass the
// port behind it, but those that fit.
TEST_CASE("room: what does not fit passes the port behind the first tile") {
  OwnJudge own(ConvCase());
  const sluice::judge::Judge& judge = own.judge;
  sluice::judge::LeastCosts least = {};
  REQUIRE(FindLeastCosts(judge, {}, &least) == sluice::Status::kOk);
  sluice::judge::LeastOfLayer all;
  for (const auto& layer : least.layers) Add(layer, &all);
  const double bytes = all.constants + all.loaded + all.stored;
  const OwnNeeded own_needed(judge);
  const sluice::judge::NeededOfAll& of_all = own_needed.of_all;
  for (const double fits : {1.0, bytes / 2, bytes}) {
    CAPTURE(fits);
    double cycles = 0;
    REQUIRE(LeastByRoom(judge, {least.layers, of_all, 7, fits}, &cycles) ==
            sluice::Status::kOk);
    const double port =
        sluice::judge::CyclesAt(judge.hardware.dram().bandwidth, bytes - fits);
    CHECK(cycles == (fits < bytes ? 7 + port : 0));
    // Where zero cycles are enough, no layer is looked at.
    cycles = 0;
    REQUIRE(LeastByRoom(judge, {least.layers, of_all, 7, fits, 0}, &cycles) ==
            sluice::Status::kOk);
    CHECK(cycles == 0);
  }
}

// Both bounds of a random graph in a scratchpad of so many bytes.
struct Both {
  Both(const GraphSpec& spec, int64_t room, uint32_t macs, bool slow = false)
      : own(CaseOf(spec)) {
    sluice::Hardware& h = own.judged.hardware;
    levels.assign(h.levels.begin(), h.levels.end());
    levels[h.scratchpad_level].capacity_bytes = room;
    if (slow) levels[h.scratchpad_level].bandwidth = {1, 4};
    h.levels = {levels.data(), levels.size()};
    h.macs_per_cycle = macs;
    h.vector_ops_per_cycle = 1;
    const sluice::Graph& graph = own.judged.graph;
    const OwnNeeded own_needed(own.judge);
    sluice::judge::LeastCosts least = {};
    REQUIRE(FindLeastCosts(own.judge, {}, &least) == sluice::Status::kOk);
    REQUIRE(
        LeastByRoom(own.judge,
                    {least.layers, own_needed.of_all, 11, static_cast<double>(room)},
                    &judges) == sluice::Status::kOk);
    sluice::Needs needs(&own.arena);
    REQUIRE(FindNeeds(graph, &own.arena, &needs) == sluice::Status::kOk);
    std::vector<sluice_layer_least_t> tiles(graph.layers.size());
    // All layers with tiles are looked at.
    for (size_t l = 0; l < tiles.size(); ++l) {
      tiles[l].cycles = least.layers[l].cycles > 0 ? 1 << 30 : 0;
    }
    REQUIRE(BoundByRoom({graph,
                         h,
                         needs,
                         sluice::PricedBy::kMachine,
                         room,
                         int64_t{1} << 40,
                         11,
                         {tiles.data(), tiles.size()}},
                        &own.arena, &planners) == sluice::Status::kOk);
    for (uint32_t l = 0; l < graph.layers.size(); ++l) {
      const int64_t cycles =
          BoundOfLayer(graph, h, needs, l, sluice::PricedBy::kMachine).cycles;
      if (least.layers[l].cycles < static_cast<double>(cycles)) ++fewer;
    }
    for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const sluice::Tensor& tensor = graph.tensors[t];
      const int64_t bytes = tensor.element_bytes;
      if (tensor.producer != sluice::kNone) {
        const sluice::Parts parts = PartsMade(graph, needs, t);
        whole = whole && parts.count == 1 &&
                parts.lattice[0].elements() * bytes == tensor.bytes;
      } else if (own_needed.of_all.on_chip[t].most != 0) {
        whole =
            whole && PartsOnChip(graph, needs, t).elements() * bytes == tensor.bytes;
      }
    }
  }

  OwnJudge own;
  std::vector<sluice::MemoryLevel> levels;
  double judges = 0;
  int64_t planners = 0;
  int fewer = 0;      // layers of which the judge counts fewer cycles
  bool whole = true;  // all of each tensor is needed

 private:
  static Case CaseOf(const GraphSpec& spec) {
    Case c = ConvCase();
    c.graph = spec;
    return c;
  }
};

// Where all is needed the two say the same of nearly all graphs, and of most others too; the
// counts are those of the day of writing, and a change that moves them changes one of the two
// bounds.
TEST_CASE("room: of random graphs the judge's bound is the planner's, or above it") {
  int same = 0, above = 0, above_whole = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    for (const int64_t room : {16, 256}) {
      const Both both(MakeRandomGraph(seed, {}), room, 1 + seed % 3);
      const double planners = static_cast<double>(both.planners);
      CHECK(both.judges >= planners);
      if (planners > 0 && both.judges == planners) ++same;
      if (both.judges > planners) ++above;
      if (both.judges > planners && both.whole) ++above_whole;
    }
  }
  MESSAGE(same << " the same, " << above << " above, " << above_whole << " of whole");
  CHECK(same >= 1718);
  CHECK(above <= 109);
  CHECK(above_whole <= 15);
}

// Prices of tiles count pads under a window as read, so that they are the same at a border.
TEST_CASE(
    "room: where bytes in the scratchpad take the time, the judge counts no fewer") {
  int same = 0, above = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const Both both(MakeRandomGraph(seed, {}), 16, 1000, true);
    const double planners = static_cast<double>(both.planners);
    CHECK(both.judges >= planners);
    CHECK(both.fewer == 0);
    if (planners > 0 && both.judges == planners) ++same;
    if (both.judges > planners) ++above;
  }
  // The counts of the day of writing.
  CHECK(same >= 806);
  CHECK(above <= 166);
}

// A graph whose first layer, a pooling, takes many cycles; all others take few, and their
// weights pass the port behind the pooling's last element. How many do depends on how far
// that element reaches through the layers.
struct Chain {
  explicit Chain(std::vector<int32_t> shape, int32_t window = 3) {
    shapes.push_back(shape);
    g.tensors.push_back({shape, kI8, 1, 0, 0});
    const int32_t pad = window / 2;
    first = Add(SLUICE_OP_MAX_POOL, {0}, shape,
                {window, window, 1, 1, pad, pad, pad, pad, -128, 127});
  }
  uint32_t Tensor(const std::vector<int32_t>& shape, uint8_t kind) {
    shapes.push_back(shape);
    g.tensors.push_back(
        {shape, kI8, kind, static_cast<uint8_t>(kind == 3 ? 3 : 0), g.tensors.size()});
    return static_cast<uint32_t>(g.tensors.size() - 1);
  }
  uint32_t Add(uint16_t op, std::vector<uint32_t> inputs,
               const std::vector<int32_t>& shape,
               const std::vector<int32_t>& attributes) {
    const uint32_t out = Tensor(shape, 0);
    g.layers.push_back({op, std::move(inputs), {out}, attributes});
    return out;
  }
  // Pads keep the extents where the stride is 1.
  uint32_t Conv(uint32_t in, int32_t channels, int32_t rows, int32_t columns,
                int32_t stride = 1, int32_t apart = 1) {
    std::vector<int32_t> shape = shapes[in];
    const uint32_t weights = Tensor({channels, rows, columns, shape[3]}, 3);
    const uint32_t parameters = Tensor({channels, 3}, 3);
    g.tensors[parameters].dtype = kI32;
    const int32_t top = rows / 2 * apart, left = columns / 2 * apart;
    shape[1] = (shape[1] - 1) / stride + 1;
    shape[2] = (shape[2] - 1) / stride + 1;
    shape[3] = channels;
    return Add(SLUICE_OP_CONV, {in, weights, parameters}, shape,
               {stride, stride, apart, apart, top, left, top, left});
  }
  // The tensor is an output, all of each tensor is needed, and both bounds are the same.
  void Check(uint32_t output) {
    g.tensors[output].kind = 2;
    const Both both(g, 16, 1 << 20);
    const double planners = static_cast<double>(both.planners);
    CHECK(both.whole);
    CHECK(planners > 0);
    CHECK(both.judges == planners);
  }

  GraphSpec g;
  std::vector<std::vector<int32_t>> shapes;
  uint32_t first = 0;
};

TEST_CASE("room: windows apart, with a stride, and at a border") {
  Chain apart({1, 8, 8, 8});
  apart.Check(apart.Conv(apart.first, 16, 3, 3, 1, 2));
  Chain row({1, 8, 8, 8});
  row.Check(row.Conv(row.Conv(row.first, 16, 3, 3), 32, 3, 3, 1, 2));
  // An element is read by one or two windows.
  Chain strides({1, 9, 9, 8});
  strides.Check(strides.Conv(strides.Conv(strides.first, 16, 3, 3, 2), 32, 3, 3));
  Chain columns({1, 8, 8, 8});
  columns.Check(columns.Conv(columns.Conv(columns.first, 16, 1, 5), 32, 1, 3));
}

// Behind a convolution all channels at a place depend on the last element.
TEST_CASE("room: what an element reaches through a table, a slice and a second input") {
  const std::vector<int32_t> shape = {1, 2, 2, 64};
  Chain table(shape);
  uint32_t all = table.Conv(table.first, 64, 1, 1);
  all = table.Add(SLUICE_OP_LOOKUP, {all, table.Tensor({256}, 3)}, shape, {});
  table.Check(table.Conv(all, 64, 1, 1));
  // Slices that overlap: of the channels, and of the rows.
  Chain slices(shape);
  all = slices.Conv(slices.first, 64, 1, 1);
  for (const int32_t begin : {0, 16}) {
    const uint32_t part =
        slices.Add(SLUICE_OP_SLICE, {all}, {1, 2, 2, 48}, {0, 0, 0, begin});
    slices.g.tensors[slices.Conv(part, 64, 1, 1)].kind = 2;
  }
  slices.Check(slices.Conv(all, 64, 1, 1));
  Chain cuts({1, 4, 2, 64});
  all = cuts.Conv(cuts.first, 64, 3, 1);
  for (const int32_t begin : {0, 1}) {
    const uint32_t part =
        cuts.Add(SLUICE_OP_SLICE, {all}, {1, 3, 2, 64}, {0, begin, 0, 0});
    cuts.g.tensors[cuts.Conv(part, 64, 1, 1)].kind = 2;
  }
  cuts.Check(cuts.Conv(all, 64, 1, 1));
  // The pooling's result is the second input; two layers read the maximum.
  for (const bool swapped : {false, true}) {
    Chain second(shape);
    const uint32_t other = second.Tensor(shape, 1);
    all = second.Conv(second.first, 64, 1, 1);
    all = swapped ? second.Add(SLUICE_OP_MAXIMUM, {all, other}, shape, {})
                  : second.Add(SLUICE_OP_MAXIMUM, {other, all}, shape, {});
    second.Check(second.Conv(all, 64, 1, 1));
    Chain two(shape);
    const uint32_t beside = two.Tensor(shape, 1);
    all = swapped ? two.Add(SLUICE_OP_MAXIMUM, {two.first, beside}, shape, {})
                  : two.Add(SLUICE_OP_MAXIMUM, {beside, two.first}, shape, {});
    two.g.tensors[two.Conv(all, 64, 3, 3)].kind = 2;
    two.Check(two.Conv(all, 64, 3, 3));
  }
}

TEST_CASE("room: what an element reaches through a product, and through a state") {
  for (const int32_t transposed : {0, 1}) {
    CAPTURE(transposed);
    Chain product({1, 1, 64, 64});
    const uint32_t left = product.Tensor({1, 1, 4, 64}, 1);
    const uint32_t right = product.Conv(product.first, 64, 1, 1);
    const uint32_t out =
        product.Add(SLUICE_OP_BATCH_MATMUL, {left, right}, {1, 1, 4, 64},
                    {transposed, 0, 0, 0, 1 << 30, 0, -128, 127});
    product.Check(product.Conv(out, 64, 1, 3));
  }
  Chain rows({1, 1, 4, 64});
  const uint32_t state = rows.Tensor({1, 1, 64, 64}, 4);
  rows.g.parameters.push_back({0, 60});
  const uint32_t added = rows.Conv(rows.first, 64, 1, 1);
  rows.g.layers.push_back({SLUICE_OP_STATE_APPEND, {state, added}, {state}, {2, 0}});
  const uint32_t out = rows.Add(SLUICE_OP_BATCH_MATMUL, {added, state}, {1, 1, 4, 64},
                                {0, 0, 0, 0, 1 << 30, 0, -128, 127});
  rows.Check(rows.Conv(out, 64, 1, 3));
}

TEST_CASE("room: all of a concatenation is made before what reads its last element") {
  for (const int32_t axis : {1, 3}) {
    CAPTURE(axis);
    Chain join({1, 4, 4, 16});
    const uint32_t other = join.Add(SLUICE_OP_MAX_POOL, {0}, {1, 4, 4, 16},
                                    {3, 3, 1, 1, 1, 1, 1, 1, -128, 127});
    std::vector<int32_t> shape = {1, 4, 4, 16};
    shape[static_cast<size_t>(axis)] *= 2;
    const uint32_t both =
        join.Add(SLUICE_OP_CONCAT, {join.first, other}, shape, {axis});
    join.Check(join.Conv(both, 64, 3, 3));
  }
}

// The pooling's result is the second input of what two branches read, each with weights of
// its own: only from the second input on do all of them wait.
TEST_CASE("room: of several inputs the one that a layer makes counts") {
  const std::vector<int32_t> shape = {1, 4, 4, 64};
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    Chain two(shape);
    const uint32_t beside = two.Tensor(shape, 1);
    const std::vector<uint32_t> both = {swapped ? two.first : beside,
                                        swapped ? beside : two.first};
    const uint32_t most = two.Add(SLUICE_OP_MAXIMUM, both, shape, {});
    uint32_t last = 0;
    for (int branch = 0; branch < 2; ++branch) {
      const uint32_t rows =
          two.Add(SLUICE_OP_SOFTMAX, {most}, shape, {1 << 30, 20, -8192});
      last = two.Conv(rows, 64, 3, 3);
      two.g.tensors[last].kind = 2;
    }
    two.Check(last);
  }
}

// Rows that depend on an element become channels, so that the weights tell how many.
TEST_CASE("room: how many rows of a state's reader, and of windows apart, wait") {
  Chain state({1, 1, 4, 64}, 31);
  const uint32_t kept = state.Tensor({1, 1, 64, 64}, 4);
  state.g.parameters.push_back({0, 60});
  const uint32_t added = state.Conv(state.first, 64, 1, 1);
  state.g.layers.push_back({SLUICE_OP_STATE_APPEND, {kept, added}, {kept}, {2, 0}});
  uint32_t out = state.Add(SLUICE_OP_BATCH_MATMUL, {added, kept}, {1, 1, 4, 64},
                           {0, 0, 0, 0, 1 << 30, 0, -128, 127});
  out = state.Add(SLUICE_OP_RESHAPE, {out}, {1, 1, 1, 256}, {});
  state.Check(state.Conv(out, 256, 1, 1));
  Chain apart({1, 8, 8, 8}, 31);
  const uint32_t weights = apart.Tensor({8, 3, 3, 8}, 3);
  const uint32_t parameters = apart.Tensor({8, 3}, 3);
  apart.g.tensors[parameters].dtype = kI32;
  out = apart.Add(SLUICE_OP_CONV, {apart.first, weights, parameters}, {1, 12, 12, 8},
                  {1, 1, 2, 2, 4, 4, 4, 4});
  out = apart.Add(SLUICE_OP_RESHAPE, {out}, {1, 1, 144, 8}, {});
  out = apart.Add(SLUICE_OP_TRANSPOSE, {out}, {1, 1, 8, 144}, {0, 1, 3, 2});
  apart.Check(apart.Conv(out, 4096, 1, 1));
}

}  // namespace
}  // namespace sluice_test
