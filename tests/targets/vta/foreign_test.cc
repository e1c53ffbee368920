// SPDX-License-Identifier: Apache-2.0
// The same streams on the functional simulator that VTA's makers publish, where
// SLUICE_FOREIGN_VTA names a build of it (tests/targets/foreign/build.sh).
#include <doctest/doctest.h>

#include <algorithm>

#include "targets/vta/runs.h"

namespace vta_test {
namespace {

using target_test::Foreign;

class ForeignModel : public Model {
 public:
  ForeignModel(const Foreign& library, std::vector<uint8_t>* dram)
      : Model(dram, 1),
        run_(library.Function<decltype(run_)>("foreign_vta_run")),
        counts_(library.Function<decltype(counts_)>("foreign_vta_counts")),
        free_(library.Function<decltype(free_)>("foreign_vta_free")),
        self_(library.Function<void* (*)(uint8_t*, uint64_t)>("foreign_vta_new")(
            dram->data(), dram->size())) {}
  ~ForeignModel() override { free_(self_); }
  std::string Run() override {
    for (const Instruction& i : fetched_) {
      const bool reset = Field(i, 0, 3) == 2 && Field(i, 7, 1) != 0;
      if (reset)  // which they do not count
        resets_ +=
            (Field(i, 21, 14) - Field(i, 8, 13)) * Field(i, 35, 14) * Field(i, 49, 14);
    }
    const char* const error =
        run_(self_, fetched_[0].data(), static_cast<uint32_t>(fetched_.size()));
    fetched_.clear();
    if (error != nullptr) return std::string("foreign: ") + error;
    uint64_t counts[7];
    counts_(self_, counts);
    std::copy(counts, counts + 5, moved);
    gemms = counts[5] + resets_;
    alus = counts[6];
    return "";
  }

 private:
  const char* (*run_)(void*, const uint8_t*, uint32_t);
  void (*counts_)(const void*, uint64_t*);
  void (*free_)(void*);
  void* self_;
  uint64_t resets_ = 0;
};

}  // namespace

TEST_CASE("vta: the list on the simulator of VTA's makers") {
  const Foreign library("SLUICE_FOREIGN_VTA");
  if (!library.open()) return;
  const MakeModel make = [&](std::vector<uint8_t>* dram) {
    return std::make_unique<ForeignModel>(library, dram);
  };
  CheckGolden(make);
  for (const char* name : kList) {
    CheckCase(target_test::SharedCase(name, kPreset, kBudgets), target_test::kSeeds,
              make);
  }
  for (const std::string& name : target_test::NamedNetworks()) {
    CheckCase(NetworkCase(name), target_test::NamedSeeds(), make);
  }
}

TEST_CASE("vta: sums scaled on the simulator of VTA's makers") {
  const Foreign library("SLUICE_FOREIGN_VTA");
  if (!library.open()) return;
  const Case c =
      target_test::PlansOf("a block", target_test::ZooGraph("vit_b_16:1"), kPreset, {});
  const auto run = [&](const MakeModel& make) {
    VtaRun scaled(c.graph.data(), c.graph.size(), c.plans[0].data(), c.plans[0].size());
    scaled.Scale();
    return scaled.ExecuteOn(1, 1, make);
  };
  const Run theirs = run([&](std::vector<uint8_t>* dram) {
    return std::make_unique<ForeignModel>(library, dram);
  });
  const Run own =
      run([](std::vector<uint8_t>* dram) { return std::make_unique<Model>(dram, 1); });
  CHECK_MESSAGE(theirs.error.empty(), theirs.error);
  CHECK(theirs.counts_hold);
  CHECK(theirs.counts.scaled > 0);
  CHECK(theirs.hash == own.hash);
  CHECK(theirs.commands_fnv1a == own.commands_fnv1a);
}

}  // namespace vta_test
