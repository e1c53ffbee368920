// SPDX-License-Identifier: Apache-2.0
// Plans for VTA, lowered and run on the model: the bytes are those of the untiled run.
#include "bindings/targets/vta/sluice_vta.h"

#include <doctest/doctest.h>

#include "targets/layers.h"
#include "targets/vta/runs.h"

namespace vta_test {
namespace {

using sluice_test::Bytes;
using target_test::OwnModel;

void CheckListed(size_t i) {
  CheckCase(target_test::SharedCase(kList[i], kPreset, kBudgets), target_test::kSeeds);
}

// One plan of the project's own model, lowered again and again with a change.
class Mutants {
 public:
  Mutants() : graph_(OwnModel()) {
    sluice_test::NetworkPlan n(graph_, "vta-1x16x16");
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
    plan_ = n.PlanBytes();
    hash_ = Expected(graph_, 1);
    REQUIRE(!Caught(nullptr));
  }
  // True if the model ends the run, the outputs differ, or the work.
  bool Caught(const Change& change) const {
    const Run run = VtaRun(graph_.data(), graph_.size(), plan_.data(), plan_.size())
                        .Execute(1, 3, change);
    return run.code != 0 || run.hash != hash_ || !run.counts_hold;
  }

 private:
  Bytes graph_, plan_;
  uint64_t hash_ = 0;
};

void Add(Instruction* i, int low, int width, uint64_t more) {
  const uint64_t value = Field(*i, low, width) + more;
  for (int b = 0; b < width; ++b) {
    uint8_t& byte = (*i)[static_cast<size_t>((low + b) / 8)];
    const int bit = 1 << (low + b) % 8;
    byte = static_cast<uint8_t>((value >> b & 1) != 0 ? byte | bit : byte & ~bit);
  }
}

// Kinds of instructions: 0-4 LOADs and STORE by memory, 5 GEMM, 6 reset, 7 ADD, 8 SHIFT,
// 9 FINISH.
constexpr int kKinds = 10;
int KindOf(const Instruction& i) {
  const uint64_t opcode = Field(i, 0, 3);
  if (opcode <= 1) return static_cast<int>(Field(i, 7, 3));
  if (opcode == 2) return Field(i, 7, 1) != 0 ? 6 : 5;
  return opcode == 3 ? 9 : Field(i, 108, 3) == 2 ? 7 : 8;
}

// Whether a bit of this instruction has a meaning that can be wrong.
bool Matters(const Instruction& i, int bit) {
  const int kind = KindOf(i);
  if (kind == 9) return bit < 7;
  if (kind <= 4) return bit < 96 || (bit < 112 && Field(i, 64, 16) > 1);
  if (bit < 64) return true;
  const bool outer = Field(i, 35, 14) > 1, inner = Field(i, 49, 14) > 1;
  const bool takes_source = kind == 5 || kind == 7;
  if (bit < 75) return outer;
  if (bit < 86) return inner;
  if (bit < 97) return outer && takes_source;
  if (bit < 108) return inner && takes_source;
  if (kind == 6) return false;
  if (kind == 5) return bit < 118 ? outer : inner;
  return bit < 112 || kind == 8;
}

struct Named {
  const char* what;
  int kind, low, width;
  uint64_t more;
};

// What a lowering gets wrong, everywhere.
const Named kNamed[] = {{"no token to compute after a load of weights", 1, 6, 1, 1},
                        {"compute does not wait for loads", 5, 3, 1, 1},
                        {"no token to stores", 7, 6, 1, 1},
                        {"stores do not wait", 4, 3, 1, 1},
                        {"stores give no token", 4, 5, 1, 1},
                        {"a shift does not wait for the store before it", 8, 4, 1, 1},
                        {"FINISH does not wait for stores", 9, 4, 1, 1},
                        {"inputs one entry too far", 2, 10, 16, 1},
                        {"weights one block too far in DRAM", 1, 26, 32, 1},
                        {"one input vector too few", 2, 80, 16, 0xffff},
                        {"weights into the input buffer", 1, 7, 3, 1},
                        {"a reset that adds", 6, 7, 1, 1},
                        {"a product that resets", 5, 7, 1, 1},
                        {"one filter row too few", 5, 35, 14, 0x3fff},
                        {"rows of the input too near", 5, 86, 11, 0x7ff},
                        {"rows of the filter too far", 5, 108, 10, 1},
                        {"one micro-op too few", 5, 21, 14, 0x3fff},
                        {"shifts by seven", 8, 112, 16, 0xffff},
                        {"the maximum with the bias", 7, 108, 3, 7},
                        {"sums stored one entry too far", 4, 10, 16, 1},
                        {"biases one row too far in DRAM", 3, 26, 32, 1},
                        {"bias rows of the block before", 7, 97, 11, 0x7ff}};

}  // namespace

TEST_CASE("the project's own model on VTA") {
  CheckCase(target_test::PlansOf("own", OwnModel(), kPreset, {16384, 12288, 8192}),
            target_test::kSeeds);
}
TEST_CASE("vta: goldens of the project's own model") {
  CheckGolden([](std::vector<uint8_t>* dram) {
    return std::make_unique<Model>(dram, uint64_t{3});
  });
}
TEST_CASE("resnet8 on VTA") { CheckListed(0); }
TEST_CASE("keyword spotting on VTA") { CheckListed(1); }
TEST_CASE("person detection on VTA") { CheckListed(2); }
TEST_CASE("anomaly detection on VTA") { CheckListed(3); }
TEST_CASE("mobilenet_v1 0.25 in uint8 on VTA") { CheckListed(4); }

// By hand: SLUICE_TARGET_NETWORKS="resnet50 mobilenet_v1 vit_b_16"
TEST_CASE("vta: networks that are named") {
  for (const std::string& name : target_test::NamedNetworks()) {
    CheckCase(NetworkCase(name), target_test::NamedSeeds());
  }
}

TEST_CASE("a lowering that is wrong in a known way is caught") {
  const Mutants mutants;
  for (const Named& m : kNamed) {
    INFO(std::string(m.what));
    uint64_t changed = 0;
    const bool caught = mutants.Caught([&](uint64_t, Instruction* i) {
      if (KindOf(*i) != m.kind || !Matters(*i, m.low)) return;
      if (m.low < 7 && Field(*i, m.low, 1) == 0) return;  // tokens are dropped alone
      ++changed;
      Add(i, m.low, m.width, m.more);
    });
    CHECK(changed > 0);
    CHECK(caught);
  }
}

// Each bit that means something, inverted in all instructions of a kind.
TEST_CASE("a lowering with any bit inverted is caught") {
  const Mutants mutants;
  uint64_t made = 0;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int bit = 3; bit < 128; ++bit) {
      uint64_t changed = 0;
      const bool caught = mutants.Caught([&](uint64_t, Instruction* i) {
        if (KindOf(*i) != kind || !Matters(*i, bit)) return;
        ++changed;
        Add(i, bit, 1, 1);
      });
      if (changed == 0) continue;
      ++made;
      INFO("kind " << kind << " bit " << bit << ", instructions " << changed);
      CHECK(caught);
    }
  }
  CHECK(made > 500);
}

// Layers without channels, and channels that make no groups.
TEST_CASE("what the lowering is told wrong of VTA's layers is an error") {
  const auto run = [](const target_test::Conv& c, const VtaRun::Adjust& adjust) {
    const target_test::Case of =
        target_test::PlansOf("a layer", target_test::Graph(c), kPreset, {});
    VtaRun told(of.graph.data(), of.graph.size(), of.plans[0].data(),
                of.plans[0].size());
    told.Tell(adjust);
    return told.Execute(1, 1);
  };
  using Layers = std::vector<sluice_vta_layer>;
  const target_test::Conv groups = {
      SLUICE_OP_CONV, {1, 9, 9, 24}, {40, 3, 3, 3}, {1, 9, 9, 40}, 1, 1, 1, 8, 7};
  const target_test::Conv deep = {SLUICE_OP_DEPTHWISE_CONV,
                                  {1, 9, 9, 24},
                                  {1, 3, 3, 24},
                                  {1, 9, 9, 24},
                                  1,
                                  1,
                                  1,
                                  0,
                                  7};
  for (const target_test::Conv& c : {groups, deep}) {
    CHECK(run(c, [](Layers*, sluice_vta_input*) {}).code == SLUICE_VTA_OK);
    const Run none = run(c, [](Layers*, sluice_vta_input* in) { in->layer_count = 0; });
    CHECK(none.code == SLUICE_VTA_BAD_STREAM);
    CHECK(none.error == "a layer without channels, layer 0");
    const Run uneven = run(
        c, [](Layers* layers, sluice_vta_input*) { ++(*layers)[0].output_channels; });
    CHECK(uneven.code == SLUICE_VTA_BAD_STREAM);
    CHECK(uneven.error == "channels of a layer that make no groups, layer 0");
  }
  // A list whose other list nobody walks; several nodes; more lists than there is room for.
  static sluice_walker_t walker;
  const auto changed = [&](void (*change)(sluice_walker_t*)) {
    return run(deep, [=](Layers*, sluice_vta_input* in) {
      walker = *in->walker;
      change(&walker);
      in->walker = &walker;
    });
  };
  const target_test::Case own = target_test::PlansOf("own", OwnModel(), kPreset, {});
  VtaRun alone(own.graph.data(), own.graph.size(), own.plans[0].data(),
               own.plans[0].size());
  alone.Tell([](Layers*, sluice_vta_input* in) {
    walker = *in->walker;
    walker.engines = 1;
    in->walker = &walker;
  });
  const Run stuck = alone.Execute(1, 1);
  CHECK(stuck.code == SLUICE_VTA_BAD_STREAM);
  CHECK(stuck.error.find("the stream stands still") == 0);
  CHECK(changed([](sluice_walker_t* w) { w->header.node_cols = 2; }).error ==
        "several nodes, layer " + std::to_string(SLUICE_NONE));
  CHECK(changed([](sluice_walker_t* w) { w->engines = SLUICE_VTA_ENGINES + 1; }).code ==
        SLUICE_VTA_UNSUPPORTED);
  for (const uint32_t at : {0xffffff00u, 0x10080u}) {
    CHECK(run(deep, [at](Layers*, sluice_vta_input* in) {
            in->region[SLUICE_REGION_CONST] = at;
          }).code == SLUICE_VTA_TOO_LARGE);
    CHECK(run(deep, [at](Layers*, sluice_vta_input* in) { in->staging = at; }).code ==
          SLUICE_VTA_TOO_LARGE);
  }
  const Run without = run(
      deep, [](Layers* layers, sluice_vta_input*) { (*layers)[0].input_channels = 0; });
  CHECK(without.error == "channels of a layer that make no groups, layer 0");
}

TEST_CASE("what VTA cannot do is an error that names the layer") {
  const target_test::Case gather = target_test::PlansOf(
      "a gather", target_test::ZooGraph("gpt2_small_decode:1"), "mcu-256k", {});
  CHECK(VtaRun(gather.graph.data(), gather.graph.size(), gather.plans[0].data(),
               gather.plans[0].size())
            .Execute(1, 1)
            .error == "a transfer by indices, or between nodes, layer 0");
  const Bytes graph = OwnModel();
  sluice_test::NetworkPlan n(graph, "mcu-256k");  // its plans compute ADD in tiles
  REQUIRE(n.ok);
  REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  const Bytes plan = n.PlanBytes();
  const Run run =
      VtaRun(graph.data(), graph.size(), plan.data(), plan.size()).Execute(1, 1);
  CHECK(run.code == SLUICE_VTA_UNSUPPORTED);
  CHECK(run.error.find("operator") != std::string::npos);
}

}  // namespace vta_test
