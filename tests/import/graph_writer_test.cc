// SPDX-License-Identifier: Apache-2.0
#include "import/graph_writer.h"

#include <doctest/doctest.h>

#include "import/error.h"
#include "tests/import/sample_graph.h"

namespace sluice::import {
namespace {

TEST_CASE("graph writer: rewinding forgets tensors and layers, names stay") {
  GraphWriter graph = SampleGraph();
  const GraphWriter::Mark mark = graph.Now();
  graph.AddSeeded("later", SLUICE_DTYPE_INT8, {7}, 1);
  graph.AddLayer("later still", SLUICE_OP_RESHAPE, {0}, {1}, {});
  graph.Rewind(mark);
  CHECK(graph.tensors().size() == 4);
  CHECK(graph.layers().size() == 1);
  const uint32_t names = graph.AddName("later still");
  CHECK(graph.name(names) == "later still");
  CHECK(graph.AddName("another") == names + 1);
}

TEST_CASE("graph writer: constants beyond the limit are refused before they are made") {
  GraphWriter graph = SampleGraph();
  graph.LimitConstants(100);
  CHECK_NOTHROW(graph.NeedRoom(81));
  CHECK_THROWS_AS(graph.NeedRoom(82), Error);
  CHECK_THROWS_AS(graph.NeedRows(7), Error);
}

TEST_CASE(
    "graph writer: a state has the bytes of before the first run, zeros need none") {
  GraphWriter writer("");
  const uint32_t zeros = writer.AddState("z", SLUICE_DTYPE_INT8, {2}, {0, 0});
  const uint32_t given = writer.AddState("g", SLUICE_DTYPE_INT8, {2}, {3, 0});
  CHECK(writer.tensors()[zeros].kind == Kind::kState);
  CHECK(writer.tensors()[zeros].source == 0);
  CHECK(writer.tensors()[given].kind == Kind::kState);
  CHECK(writer.tensors()[given].source == 1);
  CHECK(writer.constant_bytes() == 2);
}

TEST_CASE("graph writer: outputs trade places, and layers follow them") {
  GraphWriter writer("");
  const uint32_t x = writer.AddTensor("x", SLUICE_DTYPE_INT8, Kind::kInput, {2});
  const uint32_t a = writer.AddTensor("a", SLUICE_DTYPE_INT8, Kind::kOutput, {1, 2});
  const uint32_t b = writer.AddTensor("b", SLUICE_DTYPE_INT8, Kind::kOutput, {2, 1});
  const uint32_t c = writer.AddTensor("c", SLUICE_DTYPE_INT8, Kind::kOutput, {2});
  for (const uint32_t y : {a, b, c}) {
    writer.AddLayer("y", SLUICE_OP_RESHAPE, {x}, {y});
  }
  writer.AddLayer("z", SLUICE_OP_RESHAPE, {a}, {x});
  writer.OrderOutputs({c, a, b});
  const auto named = [&](uint32_t t) { return writer.name(writer.tensors()[t].name); };
  CHECK(named(x) == "x");
  CHECK((named(1) == "c" && named(2) == "a" && named(3) == "b"));
  CHECK(writer.tensors()[2].dims == Dims{1, 2});
  CHECK(writer.layers()[0].outputs == std::vector<uint32_t>{2});
  CHECK(writer.layers()[2].outputs == std::vector<uint32_t>{1});
  CHECK(writer.layers()[3].inputs == std::vector<uint32_t>{2});
  writer.SetName(1, "renamed");
  CHECK(named(1) == "renamed");
}

}  // namespace
}  // namespace sluice::import
