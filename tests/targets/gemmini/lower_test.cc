// SPDX-License-Identifier: Apache-2.0
// Streams on the model of Gemmini give the bytes of the untiled run; lowerings that are
// broken on purpose do not.
#include <doctest/doctest.h>

#include <random>

#include "firmware-sim/wire.h"
#include "targets/gemmini/runs.h"
#include "targets/layers.h"

namespace gemmini_model {
namespace {

Case OwnCase() {
  return target_test::PlansOf("own", target_test::OwnModel(), kPreset, {});
}

// A block of a transformer.
Case BlockCase() {
  sluice::zoo::ZooOptions options;
  options.blocks = 1;
  return target_test::PlansOf("a block", sluice::zoo::MakeZooGraph("vit_b_16", options),
                              kPreset, {});
}

void CheckListed(size_t i) {
  CheckCase(target_test::SharedCase(kList[i].name, kPreset, kList[i].budgets),
            target_test::kSeeds);
}

}  // namespace

TEST_CASE("targets: our own model on Gemmini, six seeds") { CheckCase(OwnCase(), 6); }

TEST_CASE("targets: goldens of our own model on Gemmini") {
  CheckGolden(
      [](uint64_t bytes) { return std::make_unique<Machine>(bytes, Late::kNothing); });
}

TEST_CASE("targets: resnet8 on Gemmini") { CheckListed(0); }
TEST_CASE("targets: keyword spotting on Gemmini") { CheckListed(1); }
TEST_CASE("targets: person detection on Gemmini") { CheckListed(2); }
TEST_CASE("targets: anomaly detection on Gemmini") { CheckListed(3); }
TEST_CASE("targets: mobilenet_v1 0.25 in uint8 on Gemmini") { CheckListed(4); }

TEST_CASE("targets: a block of a transformer on Gemmini") { CheckCase(BlockCase(), 1); }

// The plans with sums that the machine scales: which bytes of the outputs differ, how far.
void CheckScaling(const Case& c, int allowed = 2) {
  const BoardResult exact = RunBoard(c.graph, c.plans[0], 1, Late::kStores);
  const BoardResult own =
      RunBoard(c.graph, c.plans[0], 1, Late::kLoads, {}, Scaling::kMachine);
  REQUIRE_MESSAGE(own.error.empty(), own.error);
  REQUIRE(own.outputs.size() == exact.outputs.size());
  size_t differ = 0;
  int most = 0;
  for (size_t i = 0; i < own.outputs.size(); ++i) {
    const int apart = std::abs(static_cast<int8_t>(own.outputs[i]) -
                               static_cast<int8_t>(exact.outputs[i]));
    differ += apart != 0;
    most = std::max(most, apart);
  }
  // What the tool foretells of it.
  sluice_sim::SimulateOptions options;
  options.graph = c.graph.data();
  options.graph_size = c.graph.size();
  options.seed = 1;
  sluice_sim::ScaledRun foretold(options);
  for (const sluice_sim::ScaledBox& box : own.scaled) foretold.Add(box);
  const sluice_sim::ScaledDifference difference = foretold.Compare();
  CHECK(foretold.error() == "");
  CHECK(difference.compared_bytes == int64_t(own.outputs.size()));
  CHECK(difference.mismatches == int64_t(differ));
  CHECK(difference.most == most);
  for (const Scaling scaling : {Scaling::kMachine, Scaling::kOnChip}) {
    const BoardResult late =
        RunBoard(c.graph, c.plans[0], 1, Late::kStores, {}, scaling);
    REQUIRE_MESSAGE(late.error.empty(), late.error);
    CHECK(late.outputs == own.outputs);
  }
  const BoardResult rows =
      RunBoard(c.graph, c.plans[0], 1, Late::kLoads, {}, Scaling::kOnChip);
  REQUIRE_MESSAGE(rows.error.empty(), rows.error);
  CHECK(rows.outputs == own.outputs);
  CHECK(rows.counts.kept_bytes > 0);
  CHECK(rows.counts.scaled_bytes + rows.counts.kept_bytes == own.counts.scaled_bytes);
  MESSAGE("scaled by the machine: " << own.counts.scaled_bytes << " bytes; " << differ
                                    << " of " << own.outputs.size()
                                    << " output bytes differ, by at most " << most);
  CHECK(own.counts.scaled_bytes > 0);
  CHECK(own.counts.sum_bytes < exact.counts.sum_bytes);
  CHECK(most <= allowed);
}

TEST_CASE("targets: a block of a transformer, scaled by Gemmini") {
  CheckScaling(BlockCase());
}

// Padding, strides, groups of channels and filters of one channel each.
TEST_CASE("targets: convolutions scaled by Gemmini") {
  std::vector<target_test::Conv> layers = {
      {SLUICE_OP_CONV, {2, 13, 12, 32}, {48, 3, 3, 32}, {2, 7, 6, 48}, 2, 1, 1, 1, 0},
      {SLUICE_OP_DEPTHWISE_CONV,
       {2, 7, 6, 48},
       {1, 3, 3, 48},
       {2, 7, 6, 48},
       1,
       1,
       1,
       0,
       0},
      {SLUICE_OP_CONV, {2, 7, 6, 48}, {32, 1, 1, 48}, {2, 7, 6, 32}, 1, 1, 0, 1, 0}};
  for (target_test::Conv& c : layers) c.one_scale = true;
  CheckScaling(
      target_test::PlansOf("convolutions", target_test::Chain(layers), kPreset, {}));
}

TEST_CASE("targets: what is wrong with sums scaled to rows, the model notices") {
  const Case c = BlockCase();
  const auto run = [&](const Fault& fault) {
    return RunBoard(c.graph, c.plans[0], 1, Late::kLoads, fault, Scaling::kOnChip);
  };
  const Bytes right = run({}).outputs;
  const Fault faults[] = {{Fault::kDropCommand, 23, 0, 3}, {Fault::kFlipRs1, 23, 0, 1},
                          {Fault::kFlipRs1, 23, 9, 5},     {Fault::kFlipRs1, 23, 32, 7},
                          {Fault::kFlipRs1, 23, 34, 1},    {Fault::kFlipRs2, 23, 0, 3},
                          {Fault::kFlipRs2, 23, 30, 1},    {Fault::kFlipRs2, 23, 49, 1},
                          {Fault::kDropFence, 0, 0, 1}};
  for (const Fault& fault : faults) {
    CAPTURE(fault.kind);
    CAPTURE(fault.bit);
    const BoardResult result = run(fault);
    CHECK((!result.error.empty() || result.outputs != right));
  }
}

// By hand: SLUICE_TARGET_NETWORKS="resnet50 mobilenet_v1 vit_b_16"
TEST_CASE("targets: whole networks of the zoo on Gemmini") {
  for (const std::string& name : target_test::NamedNetworks()) {
    const Case c = NetworkCase(name);
    CheckCase(c, target_test::NamedSeeds());
    CheckScaling(c, name == "vit_b_16" ? 4 : 2);  // twelve blocks, one behind the other
  }
}

// Address 0 is none for Gemmini; what has no bytes lies nowhere.
TEST_CASE("targets: a region that begins at address 0 is refused") {
  const Bytes graph = target_test::OwnModel(), bytes = OwnCase().plans[0];
  sluice_sim::Graph of;
  sluice_sim::Plan plan;
  REQUIRE(sluice_sim::ReadGraph(graph.data(), graph.size(), &of) == "");
  REQUIRE(sluice_sim::ReadPlan(bytes.data(), bytes.size(), of.tensors.size(), &plan) ==
          "");
  sluice_walker_t walker{};
  REQUIRE(sluice_walk_open(&walker, plan.image, plan.image_size, nullptr) ==
          SLUICE_WALK_OK);
  std::vector<sluice_walk_cursor_t> cursors(walker.engines);
  std::vector<unsigned char> lines(SLUICE_GEMMINI_ROWS);
  const sluice_gemmini_port port = {
      nullptr,
      [](void*, uint32_t, uint64_t, uint64_t) { return 0; },
      [](void*) { return 0; },
      [](void*, const sluice_gemmini_step*) { return 0; },
      nullptr,
      0};
  for (uint32_t region = 0; region <= SLUICE_REGION_COUNT; ++region) {
    CAPTURE(region);
    sluice_gemmini_input input{};
    sluice_gemmini_counts counts{};
    input.walker = &walker;
    input.cursors = cursors.data();
    input.lines = lines.data();
    input.scratch = 4096;
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      input.base[r] = r == region ? 0 : 1 << 20;
    }
    const bool wrong =
        region < SLUICE_REGION_COUNT && sluice_walk_region_bytes(&walker, region) > 0;
    CHECK(sluice_gemmini_lower(&input, &port, &counts) ==
          (wrong ? SLUICE_GEMMINI_UNSUPPORTED : SLUICE_GEMMINI_OK));
  }
}

TEST_CASE("targets: what the lowering has wrong, the model of Gemmini notices") {
  const Case c = OwnCase();
  const uint64_t expected = target_test::Expected(c.graph, 3);
  // Fences and commands that are missing; then single bits of the fields that matter.
  std::vector<Fault> faults = {{Fault::kDropFence, 0, 0, 1}};
  for (const uint32_t funct : {0u, 1u, 2u, 3u, 4u, 6u}) {
    faults.push_back({Fault::kDropCommand, funct, 0, 1});
  }
  for (const uint32_t bit : {0u, 1u, 4u, 30u, 31u, 32u, 48u}) {
    faults.push_back({Fault::kFlipRs2, 6, bit, 1});  // where sums go, and how
  }
  for (const uint32_t bit : {0u, 4u, 33u, 49u}) {
    faults.push_back({Fault::kFlipRs1, 6, bit, 1});  // weights
    faults.push_back({Fault::kFlipRs1, 4, bit, 1});  // input
    faults.push_back({Fault::kFlipRs2, 2, bit, 1});  // rows of the scratchpad
    faults.push_back({Fault::kFlipRs1, 3, bit, 1});  // DRAM
  }
  faults.push_back({Fault::kFlipRs1, 0, 9, 1});
  faults.push_back({Fault::kFlipRs1, 0, 16, 1});
  faults.push_back({Fault::kFlipRs2, 0, 2, 1});
  // As many again that nobody chose: a bit of an address of some commands.
  std::mt19937 random(20);
  const Fault kinds[] = {
      {Fault::kFlipRs1, 1}, {Fault::kFlipRs1, 2}, {Fault::kFlipRs1, 3},
      {Fault::kFlipRs1, 4}, {Fault::kFlipRs1, 6}, {Fault::kFlipRs2, 1},
      {Fault::kFlipRs2, 2}, {Fault::kFlipRs2, 3}, {Fault::kFlipRs2, 6}};
  for (size_t chosen = faults.size(); chosen > 0; --chosen) {
    Fault fault = kinds[random() % 9];
    fault.bit = random() % 7;
    fault.every = 1 + random() % 5;
    faults.push_back(fault);
  }
  for (const Fault& fault : faults) {
    CAPTURE(fault.kind);
    CAPTURE(fault.funct);
    CAPTURE(fault.bit);
    const BoardResult result = RunBoard(c.graph, c.plans[0], 3, Late::kStores, fault);
    CHECK((!result.error.empty() || result.output_fnv1a != expected));
  }
}

}  // namespace gemmini_model
