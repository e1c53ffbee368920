// SPDX-License-Identifier: Apache-2.0
// What the judge knows of needed elements: by hand, and beside the planner's count, which
// shares no code with it and is never above.
#include "verify/needed.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "cases.h"
#include "judged_case.h"
#include "model/needs.h"
#include "own_needed.h"
#include "support/random_graph.h"

namespace sluice_test {
namespace {

Case CaseOf(const GraphSpec& spec) {
  Case c = ConvCase();
  c.graph = spec;
  return c;
}

// A graph that begins with an input; each layer reads the tensor before it.
struct Line {
  explicit Line(const std::vector<int32_t>& shape) {
    g.tensors.push_back({shape, kI8, 1, 0, 0});
  }
  uint32_t Add(uint16_t op, uint32_t from, const std::vector<int32_t>& shape,
               const std::vector<int32_t>& attributes, uint8_t kind = 0) {
    const uint32_t out = static_cast<uint32_t>(g.tensors.size());
    g.tensors.push_back({shape, kI8, kind, 0, out});
    g.layers.push_back({op, {from}, {out}, attributes});
    return out;
  }
  // Windows of so many rows and columns, `stride` apart.
  uint32_t Pool(uint32_t from, const std::vector<int32_t>& shape, int32_t window,
                int32_t stride, int32_t pad, uint8_t kind = 0) {
    return Add(SLUICE_OP_MAX_POOL, from, shape,
               {window, window, stride, stride, pad, pad, pad, pad, -128, 127}, kind);
  }
  // Elements of each tensor that are needed, at most.
  std::vector<int64_t> Elements() const {
    OwnJudge own(CaseOf(g));
    const OwnNeeded needed(own.judge);
    std::vector<int64_t> elements;
    for (uint32_t t = 0; t < g.tensors.size(); ++t) {
      elements.push_back(needed.of_all.on_chip[t].elements());
    }
    return elements;
  }

  GraphSpec g;
};

TEST_CASE("needed: windows with a stride skip rows of all tensors in front") {
  Line line({1, 9, 9, 4});
  const uint32_t relu =
      line.Add(SLUICE_OP_REQUANTIZE, 0, {1, 9, 9, 4}, {1 << 30, 0, 0, 0, -128, 127});
  line.Pool(relu, {1, 5, 5, 4}, 1, 2, 0, 2);
  CHECK(line.Elements() == std::vector<int64_t>{100, 100, 0});
  // Behind windows of three rows all nine are needed; of windows of two rows far apart
  // the rows between them do not count.
  Line wide({1, 9, 9, 4});
  wide.Pool(wide.Pool(0, {1, 9, 9, 4}, 3, 1, 1), {1, 5, 5, 4}, 1, 2, 0, 2);
  CHECK(wide.Elements() == std::vector<int64_t>{324, 100, 0});
  Line apart({1, 8, 8, 1});
  apart.Pool(0, {1, 2, 2, 1}, 2, 4, 0, 2);
  CHECK(apart.Elements() == std::vector<int64_t>{16, 0});
  // Rows -1 and 0, 2 and 3, 5 and 6: the first is a pad.
  Line pads({1, 9, 9, 1});
  pads.Add(SLUICE_OP_MAX_POOL, 0, {1, 3, 3, 1}, {2, 2, 3, 3, 1, 1, 0, 0, -128, 127}, 2);
  CHECK(pads.Elements() == std::vector<int64_t>{25, 0});
}

TEST_CASE("needed: rows among the pads on both sides read nothing of what is padded") {
  Line line({1, 1, 6, 1});
  const uint32_t padded = line.Add(SLUICE_OP_PAD, 0, {1, 4, 6, 1}, {0, 1, 0, 0, 5});
  line.Pool(padded, {1, 2, 2, 1}, 1, 3, 0, 2);  // rows 0 and 3, the row of data is 1
  line.Pool(0, {1, 1, 6, 1}, 1, 1, 0, 2);       // the same tensor, all of it
  CHECK(line.Elements() == std::vector<int64_t>{6, 4, 0, 0});
}

TEST_CASE(
    "needed: a resize skips rows, and long ones are followed for some rows only") {
  const auto resized = [](int32_t in, int32_t out) {
    Line line({1, in, 1, 1});
    line.Add(SLUICE_OP_RESIZE_NEAREST, 0, {1, out, 1, 1}, {0, 0}, 2);
    return line.Elements()[0];
  };
  CHECK(resized(12, 3) == 6);        // 0 and 1, 4 and 5, 8 and 9
  CHECK(resized(12, 6) == 12);       // two rows each, which leave none out
  CHECK(resized(4096, 512) == 512);  // two rows each of the first 256
  // Behind a stride each second row of the larger image is wanted, of the smaller all.
  Line line({1, 8, 1, 1});
  const uint32_t larger = line.Add(SLUICE_OP_RESIZE_NEAREST, 0, {1, 16, 1, 1}, {0, 0});
  line.Pool(larger, {1, 8, 1, 1}, 1, 2, 0, 2);
  CHECK(line.Elements() == std::vector<int64_t>{8, 8, 0});
}

TEST_CASE(
    "needed: axes change their places in a transpose, and rows with gaps stay so") {
  Line line({1, 4, 9, 2});
  const uint32_t turned = line.Add(SLUICE_OP_TRANSPOSE, 0, {1, 9, 4, 2}, {0, 2, 1, 3});
  line.Pool(turned, {1, 5, 2, 2}, 1, 2, 0, 2);
  CHECK(line.Elements() == std::vector<int64_t>{20, 20, 0});
}

TEST_CASE("needed: parameters count by channels, wherever the rows lie") {
  Line line({1, 1, 3, 3});
  line.g.tensors.push_back({{1, 1, 1, 3}, kI8, 3, 3, 1});
  line.g.tensors.push_back({{3, 3}, kI32, 3, 3, 2});
  line.g.tensors.push_back({{1, 1, 3, 3}, kI8, 0, 0, 3});
  line.g.layers.push_back({SLUICE_OP_DEPTHWISE_CONV,
                           {0, 1, 2},
                           {3},
                           {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, -128, 127, 0}});
  line.Pool(3, {1, 1, 2, 3}, 1, 2, 0, 2);
  // Columns 0 and 2 of three; all of the filter and of its parameters.
  CHECK(line.Elements() == std::vector<int64_t>{6, 3, 9, 6, 0});
}

TEST_CASE("needed: slices cut off, what nobody reads is not made") {
  Line line({1, 4, 4, 16});
  const uint32_t pool = line.Pool(0, {1, 4, 4, 16}, 3, 1, 1);
  line.Pool(0, {1, 4, 4, 16}, 3, 1, 1);  // nobody reads it
  const uint32_t low = line.Add(SLUICE_OP_SLICE, pool, {1, 4, 4, 3}, {0, 0, 0, 1});
  const uint32_t high = line.Add(SLUICE_OP_SLICE, pool, {1, 4, 4, 5}, {0, 0, 0, 9});
  line.Pool(low, {1, 4, 4, 3}, 1, 1, 0, 2);
  line.Pool(high, {1, 4, 4, 5}, 1, 1, 0, 2);
  // The lattice has channels 1 to 13, but only eight of them are read.
  CHECK(line.Elements() == std::vector<int64_t>{208, 128, 0, 48, 80, 0, 0});
}

TEST_CASE(
    "needed: through a reshape as many elements, in rows of axes that are split") {
  Line line({1, 1, 6, 8});
  const uint32_t pool = line.Pool(0, {1, 1, 6, 8}, 1, 1, 0);
  const uint32_t flat = line.Add(SLUICE_OP_RESHAPE, pool, {1, 1, 1, 48}, {});
  const uint32_t part = line.Add(SLUICE_OP_SLICE, flat, {1, 1, 1, 5}, {0, 0, 0, 6});
  line.Pool(part, {1, 1, 1, 5}, 1, 1, 0, 2);
  // Elements 6 to 10 are the ends of two rows; what makes them is not followed further.
  CHECK(line.Elements() == std::vector<int64_t>{48, 5, 5, 5, 0});
}

TEST_CASE("needed: of random graphs what the planner counts, or more") {
  int same = 0, part = 0, above = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    OwnJudge own(CaseOf(MakeRandomGraph(seed, {})));
    const sluice::Graph& graph = own.judged.graph;
    const OwnNeeded needed(own.judge);
    sluice::Needs needs(&own.arena);
    REQUIRE(FindNeeds(graph, &own.arena, &needs) == sluice::Status::kOk);
    for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const int64_t planners = PartsOnChip(graph, needs, t).elements();
      const int64_t judges = needed.of_all.on_chip[t].elements();
      CHECK(judges >= planners);
      above += judges > planners ? 1 : 0;
      same += judges == planners ? 1 : 0;
      const bool whole =
          planners * graph.tensors[t].element_bytes == graph.tensors[t].bytes;
      part += judges == planners && !whole ? 1 : 0;
    }
  }
  MESSAGE(same << " tensors the same, " << part << " of these in part, " << above
               << " above");
  // The counts of the day of writing: a change that moves them changes one of the two.
  CHECK(same >= 9856);
  CHECK(part >= 3886);
  CHECK(above <= 147);
}

}  // namespace
}  // namespace sluice_test
