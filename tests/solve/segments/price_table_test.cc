// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/price_table.h"

#include <doctest/doctest.h>

#include "tests/solve/segments/small_mesh.h"

namespace sluice {
namespace {

TEST_CASE("price table: equal layers share a price, other terms have their own") {
  SmallCase small(2, 1, 256);
  small.network.Add("a", Dense(4, 8, 6), {-1});
  small.network.Add("b", Dense(4, 8, 6), {-1});
  small.network.Add("c", Dense(4, 4, 6), {-1});
  Space space = small.MakeEmpty();
  PriceTable table(&small.scratch.arena);
  REQUIRE(InitPriceTable(space.layers, &table) == Status::kOk);
  LayerQuery query = {};
  query.region = WholeMesh(small.machine.hardware);
  query.terms.top_batch = 1;
  CHECK(FindPrice(table, query) == nullptr);
  LayerPrice price = {};
  const auto remember = [&](LayerPrice* of) {
    REQUIRE(MakeRoomForPrice(&table) == Status::kOk);
    REQUIRE(RememberPrice(&table, query, of) == Status::kOk);
  };
  remember(&price);
  query.position = 1;
  REQUIRE(FindPrice(table, query) != nullptr);
  CHECK(FindPrice(table, query)->price == &price);
  // Whether weights may stay matters only where they are loaded again.
  query.stay = !query.stay;
  CHECK(FindPrice(table, query) != nullptr);
  query.terms.top_batch = 2;
  query.stay = true;
  CHECK(FindPrice(table, query) == nullptr);
  remember(nullptr);  // infeasible
  query.stay = false;
  CHECK(FindPrice(table, query) == nullptr);
  query.position = 2;
  CHECK(FindPrice(table, query) == nullptr);
  // The table grows and still has what it had.
  for (int64_t bytes = 1; bytes <= 500; ++bytes) {
    query.reserved_bytes = bytes;
    CHECK(FindPrice(table, query) == nullptr);
    remember(&price);
  }
  for (int64_t bytes = 1; bytes <= 500; ++bytes) {
    query.reserved_bytes = bytes;
    REQUIRE(FindPrice(table, query) != nullptr);
  }
  query = {};
  query.position = 1;
  query.region = WholeMesh(small.machine.hardware);
  query.terms.top_batch = 2;
  query.stay = true;
  REQUIRE(FindPrice(table, query) != nullptr);
  CHECK(FindPrice(table, query)->price == nullptr);
}

}  // namespace
}  // namespace sluice
