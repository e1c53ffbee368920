// SPDX-License-Identifier: Apache-2.0
// Programs written from spill plans that are made by hand.
#include "plan/operators/operator_write.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/plan/operators/small_run.h"
#include "tests/support/whole_steps.h"

namespace sluice {
namespace {

using sluice_test::SmallRun;

struct Written : SmallRun {
  explicit Written(int64_t capacity = 4096) : SmallRun(capacity) {
    REQUIRE(FindSections(&schedule) == Status::kOk);
    for (OperatorSection& section : schedule.sections) {
      if (section.operators)
        REQUIRE(BuildOperators(&schedule, &section) == Status::kOk);
    }
    last_order = {0};
    last_stays = {{0, 0, 1, 0, false, false, kNoOperand},
                  {1, 0, 1, 256, false, false, kNoOperand}};
    Plan(2, last_order, last_stays);
  }
  // Residences of the input, of the result of layer 0, which stays on chip, and of the
  // output of layer 2.
  static std::vector<Residence> Chain(int64_t input = 0) {
    return {{0, 0, 1, input, false, false, kNoOperand},
            {1, 0, 2, 128, false, false, kNoOperand},
            {2, 1, 2, 0, false, false, kNoOperand}};
  }
  void Plan(uint32_t section, std::vector<uint32_t>& order,
            std::vector<Residence>& stays) {
    SpillPlan* plan = &schedule.sections[section].plan;
    plan->order = {order.data(), order.size()};
    plan->residences = {stays.data(), stays.size()};
  }
  Status Write() {
    return WriteSections(&schedule, &places, &program, &out, &n.diagnostic);
  }
  // "LOAD 0@16" and so on: what each step does for a layer below `end`, with the tensor
  // and its offset in the scratchpad.
  std::vector<std::string> Steps(uint32_t end) const {
    std::vector<std::string> all;
    for (size_t i = 0; i < program.size(); ++i) {
      const Step step = program.step(i);
      if (step.layer >= end) continue;
      if (step.kind == StepKind::kCompute) {
        all.push_back("TILE of " + std::to_string(step.layer));
        continue;
      }
      const Transfer t = TransferOf(program, step.item);
      all.push_back((step.kind == StepKind::kLoad ? "LOAD " : "STORE ") +
                    std::to_string(t.dram.tensor) + "@" +
                    std::to_string(t.buffer.offset));
    }
    return all;
  }
  OperatorCall call = Call();
  OperatorSchedule schedule{call, 16};
  Arena places{&n.memory};
  Program program{&n.arena, n.hardware};
  Lowering out = {};
  std::vector<uint32_t> last_order;
  std::vector<Residence> last_stays;
};

using Strings = std::vector<std::string>;

TEST_CASE("operator write: a tensor that stays is neither stored nor loaded again") {
  Written w;
  std::vector<uint32_t> order = {0, 1};
  std::vector<Residence> stays = Written::Chain();
  w.Plan(0, order, stays);
  REQUIRE(w.Write() == Status::kOk);
  CHECK(w.Steps(3) == Strings{"LOAD 0@0", "TILE of 0", "TILE of 2", "STORE 3@0"});
  // A block for each run, and those of the copy.
  CHECK(w.program.block_count() >= 3);
  CHECK(w.program.step(w.program.size() - 1).layer == 4);
  // The plan has its own list of places; the list of the call does not change.
  CHECK(w.out.places.data() != w.lowering.places.data());
  CHECK(w.out.region_bytes[SLUICE_REGION_WORKSPACE] <
        w.lowering.region_bytes[SLUICE_REGION_WORKSPACE]);
}

TEST_CASE(
    "operator write: a tensor that leaves is stored when made, and loaded again") {
  Written w;
  std::vector<uint32_t> order = {0, 1};
  std::vector<Residence> stays = {{0, 0, 1, 0, false, false, kNoOperand},
                                  {1, 0, 1, 128, false, true, kNoOperand},
                                  {1, 1, 2, 256, true, false, kNoOperand},
                                  {2, 1, 2, 0, false, false, kNoOperand}};
  w.Plan(0, order, stays);
  REQUIRE(w.Write() == Status::kOk);
  CHECK(w.Steps(3) == Strings{"LOAD 0@0", "TILE of 0", "STORE 1@128", "LOAD 1@256",
                              "TILE of 2", "STORE 3@0"});
}

TEST_CASE("operator write: a tile has the whole operands, at their offsets") {
  Written w;
  std::vector<uint32_t> order = {0, 1};
  std::vector<Residence> stays = Written::Chain(512);
  w.Plan(0, order, stays);
  REQUIRE(w.Write() == Status::kOk);
  const TileStep tile = TileOf(w.program, 0);
  CHECK(tile.first);
  CHECK(tile.last);
  CHECK(tile.vector_ops == 128);
  CHECK(tile.cycles == 128 / 16);
  CHECK(tile.operand[kRoleInput0].offset == 512);
  CHECK(tile.operand[kRoleOutput].offset == 128);
  CHECK(BoxBytes(tile.operand[kRoleOutput]) == 128);
  CHECK(!tile.present[kRoleWeight]);
}

TEST_CASE("operator write: a tile of more cycles than a stream can say is refused") {
  Written w;
  std::vector<uint32_t> order = {0, 1};
  std::vector<Residence> stays = Written::Chain();
  w.Plan(0, order, stays);
  w.coster.cost = [](void*, uint32_t, const int32_t*, int32_t, TileCost* out) {
    *out = {INT64_C(1) << 32, 1};
    return true;
  };
  CHECK(w.Write() == Status::kUnsupported);
}

TEST_CASE("operator write: a copy that the scratchpad has no room for is named") {
  Written w(4);
  std::vector<uint32_t> order = {0, 1};
  std::vector<Residence> stays = Written::Chain();
  w.Plan(0, order, stays);
  CHECK(w.Write() == Status::kInfeasible);
  CHECK(w.n.diagnostic.layer == 3);
  CHECK(std::string(w.n.diagnostic.message) ==
        "layer 3 cannot be copied through this scratchpad");
}

}  // namespace
}  // namespace sluice
