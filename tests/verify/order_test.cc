// SPDX-License-Identifier: Apache-2.0
// Which instructions are done when one starts, for every timing.
#include "verify/order.h"

#include <set>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::Status;
using sluice::judge::Clocks;
using sluice::judge::FindOrder;
using sluice::judge::Order;
using sluice::judge::Preference;

constexpr Preference kPreferences[] = {Preference::kAny, Preference::kFirstEngine,
                                       Preference::kLastEngine};

// Checks how many instructions of the DMA (column 0) and of compute (column 1) are
// known to be done when instruction `number` starts.
struct Known {
  uint32_t dma, compute;
};
void CheckKnown(OwnJudge* own, const Order& order, uint32_t number, const Known& want) {
  CAPTURE(number);
  Clocks clocks(&own->judge, &order);
  REQUIRE(clocks.Init() == Status::kOk);
  const uint32_t* clock = nullptr;
  for (const sluice::judge::Step& step : order.steps) {
    REQUIRE(clocks.Next(&clock) == Status::kOk);
    if (order.NumberOf(step) == number) break;
  }
  CHECK(clock[0] == want.dma);
  CHECK(clock[1] == want.compute);
}

TEST_CASE("order: waits and the engine's own order, carried on") {
  for (const Preference preference : kPreferences) {
    OwnJudge own(ConvCase());
    REQUIRE(ReadStream(&own.judge) == Status::kOk);
    Order order = {};
    REQUIRE(FindOrder(&own.judge, preference, &order) == Status::kOk);
    REQUIRE(order.columns == 2);
    CHECK(order.engine[0] == kDma);
    CHECK(order.engine[1] == kCompute);
    CHECK(order.steps.size() == 14);
    // The body has the DMA's ten instructions first, then the tiles.
    CheckKnown(&own, order, 3, {3, 0});   // the fourth load
    CheckKnown(&own, order, 4, {4, 1});   // output 0, stored after tile 0
    CheckKnown(&own, order, 5, {5, 1});   // the load behind it knows as much
    CheckKnown(&own, order, 9, {9, 4});   // the last store
    CheckKnown(&own, order, 10, {3, 0});  // tile 0 waits for the third load
    CheckKnown(&own, order, 11, {4, 1});
    CheckKnown(&own, order, 12, {6, 2});  // the sixth is input 2
    CheckKnown(&own, order, 13, {8, 3});
  }
}

TEST_CASE("order: what a visit waits for in those before it is known there") {
  Case c = AddCase();
  At(&c, kCompute, 1, 1).waits = {
      AfterAllBut(0, kDma)};  // for nothing of its own visit
  OwnJudge own(c);
  REQUIRE(ReadStream(&own.judge) == Status::kOk);
  Order order = {};
  REQUIRE(FindOrder(&own.judge, Preference::kAny, &order) == Status::kOk);
  CHECK(order.visits[1].first_number == 4);
  CheckKnown(&own, order, 3, {2, 0});
  CheckKnown(&own, order, 7, {3, 1});  // the store of instance 0, and so its tile
  CheckKnown(&own, order, 6, {5, 2});  // the store of instance 1
}

TEST_CASE("order: clocks take no more memory than those that are still needed") {
  OwnJudge own(AddCase());
  REQUIRE(ReadStream(&own.judge) == Status::kOk);
  Order order = {};
  REQUIRE(FindOrder(&own.judge, Preference::kAny, &order) == Status::kOk);
  Clocks clocks(&own.judge, &order);
  REQUIRE(clocks.Init() == Status::kOk);
  std::set<const uint32_t*> used;
  for (size_t i = 0; i < order.steps.size(); ++i) {
    const uint32_t* clock = nullptr;
    REQUIRE(clocks.Next(&clock) == Status::kOk);
    used.insert(clock);
  }
  CHECK(used.size() < order.steps.size());
}

TEST_CASE("order: engines that wait for each other are a deadlock") {
  Case c = ConvCase();
  At(&c, kDma, 1).waits.push_back(After(kCompute, 1));
  CheckRejected(c, "deadlock",
                "instance 0, instruction 0: engine 0 waits for an instruction that can "
                "never complete");
  c = ConvCase();
  At(&c, kDma, 2).waits.push_back(After(kDma, 2));
  CheckRejected(c, "deadlock");
}

TEST_CASE("order: of what is not there nothing is waited for") {
  Case c = AddCase();
  // All but more than there are, and all of an engine that has no work.
  At(&c, kCompute, 1, 1).waits[1] = AfterAllBut(7, kDma);
  At(&c, kCompute, 1, 1).waits.push_back(AfterAllBut(0, kHostEngine));
  OwnJudge own(c);
  REQUIRE(ReadStream(&own.judge) == Status::kOk);
  Order order = {};
  REQUIRE(FindOrder(&own.judge, Preference::kAny, &order) == Status::kOk);
  CHECK(order.steps.size() == 8);
}

}  // namespace
}  // namespace sluice_test
