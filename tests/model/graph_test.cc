// SPDX-License-Identifier: Apache-2.0
#include "model/graph.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace sluice {
namespace {

TEST_CASE("graph: operators have names of their own, as ops.h writes them") {
  CHECK(std::string(OpName(SLUICE_OP_CONV)) == "conv");
  CHECK(std::string(OpName(SLUICE_OP_MAX_POOL_GRADIENT)) == "max_pool_gradient");
  CHECK(std::string(OpName(SLUICE_OP_PRELU)) == "prelu");
  std::set<std::string> names;
  for (uint16_t op = 0; op <= SLUICE_OP_COUNT; ++op) names.insert(OpName(op));
  CHECK(names.size() == SLUICE_OP_COUNT);  // and "unknown"
}

TEST_CASE("graph: types have a name and bytes, other codes neither") {
  CHECK(std::string(DtypeName(SLUICE_DTYPE_INT8)) == "int8");
  CHECK(std::string(DtypeName(SLUICE_DTYPE_UINT8)) == "uint8");
  CHECK(std::string(DtypeName(SLUICE_DTYPE_INT64)) == "int64");
  CHECK(DtypeBytes(SLUICE_DTYPE_INT8) == 1);
  CHECK(DtypeBytes(SLUICE_DTYPE_UINT8) == 1);
  CHECK(DtypeBytes(SLUICE_DTYPE_INT16) == 2);
  CHECK(DtypeBytes(SLUICE_DTYPE_INT32) == 4);
  CHECK(DtypeBytes(SLUICE_DTYPE_INT64) == 8);
  for (const uint8_t code : {uint8_t{0}, uint8_t{SLUICE_DTYPE_COUNT}, uint8_t{255}}) {
    CHECK(std::string(DtypeName(code)) == "unknown");
    CHECK(DtypeBytes(code) == 0);
  }
}

TEST_CASE("graph: attributes and inputs that a layer does not have") {
  const uint32_t inputs[] = {4, kNone};
  const int32_t attributes[] = {-3};
  Layer layer = {};
  layer.inputs = Span<const uint32_t>(inputs, 2);
  layer.attributes = Span<const int32_t>(attributes, 1);
  CHECK(layer.attribute(0) == -3);
  CHECK(layer.attribute(1) == 0);
  CHECK(layer.input(0) == 4);
  CHECK(layer.input(1) == kNone);
  CHECK(layer.input(2) == kNone);
}

}  // namespace
}  // namespace sluice
