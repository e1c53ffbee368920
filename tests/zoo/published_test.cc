// SPDX-License-Identifier: Apache-2.0
// The networks that COSMA plans, whole. Their published layers, weights and MACs are in the
// test of each network's source.
#include <doctest/doctest.h>

#include <string>

#include "tests/zoo/planned.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

TEST_CASE("zoo: COSMA's networks are scheduled and verified, and short ones run") {
  for (const char* name :
       {"densenet121", "resnext50", "r2plus1d_18", "s3d", "fcn", "lraspp", "deeplabv3",
        "transformer", "vit_b_16", "pnasnet5", "amoebanet_d", "nasnet_a", "darts"}) {
    CAPTURE(std::string(name));
    sluice::zoo::ZooOptions options;
    const bool runs =
        std::string(name) == "lraspp" || std::string(name) == "transformer";
    if (std::string(name) == "transformer") options.blocks = 1;
    Planned p(sluice::zoo::MakeZooGraph(name, options), "soma-edge");
    CHECK(p.RefusedBy(p.plan) == "");
    if (runs) CheckSpread(p.Run(p.Options()).outputs.at(0));
  }
}

}  // namespace
}  // namespace sluice_test
