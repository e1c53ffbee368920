// SPDX-License-Identifier: Apache-2.0
#include "import/graph_rows.h"

#include <doctest/doctest.h>

#include "import/error.h"
#include "import/graph_writer.h"
#include "sluice/graph_generated.h"
#include "tests/import/sample_graph.h"

namespace sluice::import {
namespace {

TEST_CASE("graph rows: a graph that is read and written again has the same bytes") {
  GraphWriter graph = SampleGraph();
  for (const bool parameters : {false, true}) {
    CAPTURE(parameters);
    if (parameters) graph.AddParameter("seq", 1, 16);
    const Bytes bytes = graph.Finish();
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    REQUIRE(wire::VerifyGraphBuffer(verifier));
    const wire::Graph& wire = *wire::GetGraph(bytes.data());
    CHECK((wire.parameter_min() != nullptr) == parameters);
    CHECK(wire.tensor_zero_point()->Get(0) == -4);
    CHECK(wire.tensor_source_offset()->Get(2) == 16);  // constants are aligned
    CHECK(reinterpret_cast<uintptr_t>(wire.data()->data()) % 16 ==
          reinterpret_cast<uintptr_t>(bytes.data()) % 16);
    CHECK(GraphWriter(bytes).Finish() == bytes);
    const GraphRows rows = ReadRows(bytes);
    CHECK(rows.name == "sample");
    CHECK(rows.tensors.size() == 4);
    CHECK(rows.tensors[0].dims == Dims{2, 3});
    CHECK(rows.layers.size() == 1);
    CHECK(rows.layers[0].inputs == std::vector<uint32_t>{0});
    CHECK(rows.parameters.size() == (parameters ? 1 : 0));
    CHECK(WriteRows(rows) == bytes);
  }
}

TEST_CASE("graph rows: a graph whose constants lie in other files is refused") {
  GraphWriter graph = SampleGraph();
  graph.AddExternal("e", SLUICE_DTYPE_INT8, {4}, "weights.bin", 8);
  const Bytes bytes = graph.Finish();
  CHECK_THROWS_AS(ReadRows(bytes), Error);
}

}  // namespace
}  // namespace sluice::import
