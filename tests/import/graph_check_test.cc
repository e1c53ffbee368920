// SPDX-License-Identifier: Apache-2.0
// What the scheduler's reader says of bytes, as importers ask it.
#include "import/graph_check.h"

#include <doctest/doctest.h>

#include <string>

#include "import/error.h"
#include "import/graph_writer.h"
#include "presets/presets.h"
#include "sluice/ops.h"

namespace sluice::import {
namespace {

// in -> out by a layer of this operator.
Bytes GraphOf(uint16_t op, const Dims& out) {
  GraphWriter g("g");
  const uint32_t x = g.AddTensor("x", SLUICE_DTYPE_INT8, Kind::kInput, {1, 8});
  const uint32_t y = g.AddTensor("y", SLUICE_DTYPE_INT8, Kind::kOutput, out);
  g.AddLayer("l", op, {x}, {y}, {0, 1 << 30, 1, 0, -128, 127});
  return g.Finish();
}

TEST_CASE("graph check: a graph that is whole passes, a machine is no graph") {
  const Bytes good = GraphOf(SLUICE_OP_REQUANTIZE, {1, 8});
  CheckGraph(good);
  CHECK(TryGraph(good, nullptr) == SLUICE_OK);
  CHECK(TryHardware(presets::LoadPreset("mcu-256k"), nullptr) == SLUICE_OK);
  CHECK(TryHardware(good, nullptr) == SLUICE_BAD_INPUT);
  CHECK(TryGraph({1, 2, 3}, nullptr) == SLUICE_BAD_INPUT);
}

TEST_CASE("graph check: a refusal is an error with the reader's sentence") {
  const Bytes bad = GraphOf(SLUICE_OP_REQUANTIZE, {1, 9});
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  REQUIRE(TryGraph(bad, &why) == SLUICE_BAD_INPUT);
  CHECK(why.layer == 0);
  const auto thrown = [](const Bytes& graph) {
    try {
      CheckGraph(graph);
    } catch (const Error& error) {
      return std::make_pair(error.fault(), std::string(error.what()));
    }
    return std::make_pair(Fault::kTooLarge, std::string());
  };
  CHECK(thrown(bad).first == Fault::kBadInput);
  CHECK(thrown(bad).second == why.message);
  const Bytes unknown = GraphOf(SLUICE_OP_COUNT, {1, 8});
  CHECK(TryGraph(unknown, &why) == SLUICE_BAD_INPUT);
  CHECK(thrown(unknown).first == Fault::kBadInput);
  CHECK(thrown(unknown).second == why.message);
}

}  // namespace
}  // namespace sluice::import
