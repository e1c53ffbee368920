// SPDX-License-Identifier: Apache-2.0
// What the elements of inputs and outputs mean, asked in C.
#include "import/graph_writer.h"
#include "sluice/import.h"
#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

sluice_graph_port_t Sized() {
  sluice_graph_port_t port = {};
  port.struct_size = sizeof port;
  return port;
}

TEST_CASE(
    "graph border: an input or output has a name, extents, scale and zero point") {
  const Bytes graph = Import(TinyConvolution()).graph;
  sluice_graph_port_t port = Sized();
  REQUIRE(sluice_graph_input(graph.data(), graph.size(), 0, &port) == SLUICE_OK);
  CHECK(std::string(port.name) == "x");
  CHECK(port.dtype == SLUICE_DTYPE_INT8);
  CHECK(port.rank == 4);
  CHECK(port.extent[1] == 4);
  CHECK(port.extent[3] == 2);
  CHECK(port.zero_point == -3);
  CHECK(port.scale == 0.5f);
  port = Sized();
  REQUIRE(sluice_graph_output(graph.data(), graph.size(), 0, &port) == SLUICE_OK);
  CHECK(std::string(port.name) == "z");
  CHECK(port.rank == 2);
  CHECK(port.extent[1] == 27);
  CHECK(port.extent[3] == 1);
  CHECK(port.scale == 0.25f);
  CHECK(port.zero_point == 7);
}

TEST_CASE("graph border: what is not there, or no graph, is an error") {
  const Bytes graph = Import(TinyConvolution()).graph;
  sluice_graph_port_t port = Sized();
  const auto input = [&](const void* bytes, size_t size, uint32_t index) {
    return sluice_graph_input(bytes, size, index, &port);
  };
  CHECK(input(graph.data(), graph.size(), 1) == SLUICE_BAD_ARGUMENT);
  CHECK(input(nullptr, 0, 0) == SLUICE_BAD_ARGUMENT);
  CHECK(input(graph.data(), graph.size() / 2, 0) == SLUICE_BAD_INPUT);
  CHECK(sluice_graph_input(graph.data(), graph.size(), 0, nullptr) ==
        SLUICE_BAD_ARGUMENT);
  port.struct_size = 0;
  CHECK(input(graph.data(), graph.size(), 0) == SLUICE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace sluice::import
