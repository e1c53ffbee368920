// SPDX-License-Identifier: Apache-2.0
// Programs at operator granularity (whole tensors): the bytes that they move, and the least
// scratchpad that they need.
#include "plan/operators/operator_plan.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/plan/operators/small_run.h"
#include "tests/support/whole_steps.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;
using sluice_test::Residual;
using sluice_test::SmallRun;

struct Planned : SmallRun {
  explicit Planned(int64_t capacity, const GraphSpec& spec = sluice_test::RunAndCopy())
      : SmallRun(capacity, spec) {}
  Status Plan() {
    const OperatorCall call = Call();
    return ScheduleOperators(call, &program, &out, &n.diagnostic);
  }
  // Bytes of transfers of a kind.
  int64_t Moved(StepKind kind) const {
    int64_t moved = 0;
    for (size_t i = 0; i < program.size(); ++i) {
      const Step step = program.step(i);
      if (step.kind == kind) moved += BoxBytes(TransferOf(program, step.item).buffer);
    }
    return moved;
  }
  int64_t Peak() const {
    int64_t peak = 0;
    for (size_t b = 0; b < program.box_count(); ++b) {
      peak = std::max<int64_t>(peak, program.box(static_cast<uint32_t>(b)).range.end);
    }
    return peak;
  }
  Program program{&n.arena, n.hardware};
  Lowering out = {};
};

TEST_CASE("operator plan: with room each tensor of a run comes and goes once") {
  Planned p(4096);
  REQUIRE(p.Plan() == Status::kOk);
  CHECK(p.program.tile_count() == 3);
  // Tensor 0 is loaded; 3 is stored as one half of 4 and copied to the other half; 4 is
  // loaded.
  CHECK(p.Moved(StepKind::kLoad) == 128 + 128 + 256);
  CHECK(p.Moved(StepKind::kStore) == 128 + 128 + 256);
}

TEST_CASE("operator plan: the operands of the largest operator are the least room") {
  Planned p(511);
  CHECK(p.Plan() == Status::kInfeasible);
  CHECK(p.n.diagnostic.layer == 4);
  CHECK(p.n.diagnostic.smallest_scratchpad_bytes == 512);
  CHECK(p.n.diagnostic.required_bytes == 512);
  CHECK(p.n.diagnostic.available_bytes == 511);
  CHECK(std::string(p.n.diagnostic.message) ==
        "layer 4 (requantize): its whole tensors need 512 bytes of scratchpad, 511 are "
        "available");
  Planned fits(512);
  REQUIRE(fits.Plan() == Status::kOk);
  CHECK(fits.Peak() <= 512);
}

TEST_CASE("operator plan: what has no room meanwhile is spilled and retrieved") {
  Planned roomy(800, Residual()), tight(768, Residual());
  REQUIRE(roomy.Plan() == Status::kOk);
  REQUIRE(tight.Plan() == Status::kOk);
  CHECK(roomy.Peak() <= 800);
  CHECK(roomy.Moved(StepKind::kLoad) == 32 + 256 + 256);
  CHECK(roomy.Moved(StepKind::kStore) == 32);
  CHECK(tight.Peak() <= 768);
  CHECK(tight.Moved(StepKind::kLoad) == 32 + 256 + 256 + 32);
  CHECK(tight.Moved(StepKind::kStore) == 32 + 32);
  Planned small(767, Residual());
  CHECK(small.Plan() == Status::kInfeasible);
  CHECK(small.n.diagnostic.layer == 2);
}

TEST_CASE("operator plan: a layer runs again where a transfer costs more") {
  Planned tight(768, Residual());
  tight.repeats = true;
  REQUIRE(tight.Plan() == Status::kOk);
  CHECK(tight.Peak() <= 768);
  CHECK(tight.program.tile_count() == 6);
  CHECK(tight.Moved(StepKind::kLoad) == 32 + 256 + 256 + 32);  // tensor 0 twice
  CHECK(tight.Moved(StepKind::kStore) == 32);
}

TEST_CASE("operator plan: whole tensors begin at multiples of the alignment") {
  GraphSpec spec;  // of 24 bytes each
  for (uint8_t kind : {1, 0, 0, 2}) {
    spec.tensors.push_back({{1, 3, 1, 8}, SLUICE_DTYPE_INT8, kind});
  }
  for (uint32_t l = 0; l < 3; ++l) {
    spec.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {l}, {l + 1}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  Planned p(64, spec);
  REQUIRE(p.Plan() == Status::kOk);
  CHECK(p.Peak() <= 64);
  for (size_t b = 0; b < p.program.box_count(); ++b) {
    CHECK(p.program.box(static_cast<uint32_t>(b)).range.begin % 16 == 0);
  }
  Planned small(63, spec);
  CHECK(small.Plan() == Status::kInfeasible);
}

}  // namespace
}  // namespace sluice
