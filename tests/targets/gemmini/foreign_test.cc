// SPDX-License-Identifier: Apache-2.0
// The same streams on the functional model that Gemmini's makers publish, where
// SLUICE_FOREIGN_GEMMINI names a build of it (tests/targets/foreign/build.sh).
#include <doctest/doctest.h>

#include "targets/gemmini/board.h"
#include "targets/gemmini/runs.h"

namespace gemmini_model {
namespace {

using target_test::Foreign;

// Addresses are those of the board; DRAM is the board's.
class ForeignMachine : public Machine {
 public:
  ForeignMachine(const Foreign& library, uint64_t bytes)
      : Machine(bytes, Late::kNothing),
        command_(library.Function<decltype(command_)>("foreign_gemmini_command")),
        free_(library.Function<decltype(free_)>("foreign_gemmini_free")),
        self_(library.Function<void* (*)(uint8_t*, uint64_t)>("foreign_gemmini_new")(
            dram().data(), bytes)) {}
  ~ForeignMachine() override { free_(self_); }
  std::string Step(uint32_t funct, uint64_t rs1, uint64_t rs2) override {
    const char* const error = command_(self_, funct, rs1, rs2);
    return error != nullptr ? std::string("foreign: ") + error : "";
  }
  std::string Fence() override { return ""; }

 private:
  const char* (*command_)(void*, uint32_t, uint64_t, uint64_t);
  void (*free_)(void*);
  void* self_;
};

}  // namespace

TEST_CASE("targets: the list on the model of Gemmini's makers") {
  const Foreign library("SLUICE_FOREIGN_GEMMINI");
  if (!library.open()) return;
  const MakeMachine make = [&](uint64_t bytes) {
    return std::make_unique<ForeignMachine>(library, bytes);
  };
  CheckGolden(make);
  for (const Listed& listed : kList) {
    CheckCase(target_test::SharedCase(listed.name, kPreset, listed.budgets),
              target_test::kSeeds, make);
  }
  for (const std::string& name : target_test::NamedNetworks()) {
    CheckCase(NetworkCase(name), target_test::NamedSeeds(), make);
  }
}

TEST_CASE("targets: sums that the model of Gemmini's makers scales") {
  const Foreign library("SLUICE_FOREIGN_GEMMINI");
  if (!library.open()) return;
  sluice::zoo::ZooOptions options;
  options.blocks = 1;
  const Case c = target_test::PlansOf(
      "a block", sluice::zoo::MakeZooGraph("vit_b_16", options), kPreset, {});
  const BoardResult own =
      RunBoard(c.graph, c.plans[0], 1, Late::kLoads, {}, Scaling::kMachine);
  const BoardResult theirs = RunBoardOn(
      c.graph, c.plans[0], 1,
      [&](uint64_t bytes) { return std::make_unique<ForeignMachine>(library, bytes); },
      Scaling::kMachine);
  CHECK_MESSAGE(theirs.error.empty(), theirs.error);
  CHECK(theirs.outputs == own.outputs);
  CHECK(theirs.commands_fnv1a == own.commands_fnv1a);
}

}  // namespace gemmini_model
