// SPDX-License-Identifier: Apache-2.0
// Which instructions are done when one starts, for every timing.
#include "verify/order.h"

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::Status;
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
void CheckKnown(const Order& order, uint32_t number, const Known& want) {
  CAPTURE(number);
  CHECK(order.clocks[2 * number] == want.dma);
  CHECK(order.clocks[2 * number + 1] == want.compute);
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
    CheckKnown(order, 3, {3, 0});   // the fourth load
    CheckKnown(order, 4, {4, 1});   // output 0, stored after tile 0
    CheckKnown(order, 5, {5, 1});   // the load behind it knows as much
    CheckKnown(order, 9, {9, 4});   // the last store
    CheckKnown(order, 10, {3, 0});  // tile 0 waits for the third load
    CheckKnown(order, 11, {4, 1});
    CheckKnown(order, 12, {6, 2});  // the sixth is input 2
    CheckKnown(order, 13, {8, 3});
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
  CheckKnown(order, 3, {2, 0});
  CheckKnown(order, 7, {3, 1});  // the store of instance 0, and so its tile
  CheckKnown(order, 6, {5, 2});  // the store of instance 1
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
