// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_exact.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/random_hierarchy.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

constexpr double kEver = 1e300;

// Tries every nest of a space, in every order of its loops.
class EveryNest {
 public:
  EveryNest(const NestRequest& request, NestSpace space, int64_t most)
      : request_(request), space_(space), most_(most) {
    nest_ = EmptyNest(request.hardware, request.problem);
    for (uint32_t l = 0; l + 1 < nest_.levels; ++l) held_[l] = nest_.hold[l];
  }
  // False when there are too many.
  bool Run() {
    Factors(0, 0, 1);
    return count_ <= most_;
  }
  double best() const { return best_; }
  int64_t count() const { return count_; }

 private:
  uint32_t Slots() const { return nest_.levels * (kMaxAxes + 1); }
  // tile: what the slots before cover of the dim.
  void Factors(uint32_t dim, uint32_t slot, int64_t tile) {
    if (count_ > most_) return;
    if (dim == kDims) return Holds(0);
    const int64_t extent = request_.problem.extent[dim];
    if (slot == Slots()) {
      if (tile >= extent) Factors(dim + 1, 0, 1);
      return;
    }
    const uint32_t level = slot / (kMaxAxes + 1), axis = slot % (kMaxAxes + 1);
    const Fanout* fanout =
        axis < kMaxAxes ? FanoutAt(request_.hardware, level, axis) : nullptr;
    int64_t* factor = axis < kMaxAxes ? &nest_.spatial[level][axis][dim]
                                      : &nest_.temporal[level][dim];
    for (int64_t f = 1; (f - 1) * tile < extent; ++f) {
      if (space_ == NestSpace::kDividing && extent % (f * tile) != 0) continue;
      if (axis < kMaxAxes && f > 1 && (fanout == nullptr || !MayUnroll(*fanout, dim))) {
        break;
      }
      *factor = f;
      Factors(dim, slot + 1, f * tile);
    }
    *factor = 1;
  }
  void Holds(uint32_t level) {
    if (level + 1 == nest_.levels) {
      // What does not fit in one order fits in none.
      Diagnostic diagnostic = {};
      if (CheckNest(request_.problem, request_.hardware, nest_,
                    request_.constraints.resident, &diagnostic) == Status::kOk) {
        Orders(0);
      }
      return;
    }
    const uint32_t whole = held_[level];
    for (uint32_t hold = 0; hold < 8; ++hold) {
      if ((hold & ~whole) != 0) continue;
      if (!request_.constraints.bypass && hold != whole) continue;
      nest_.hold[level] = static_cast<uint8_t>(hold);
      Holds(level + 1);
    }
    nest_.hold[level] = static_cast<uint8_t>(whole);
  }
  void Orders(uint32_t level) {
    if (count_ > most_) return;
    if (level == nest_.levels) return Evaluate();
    // All orders of the loops that make steps; the others come last.
    uint8_t* order = nest_.order[level];
    std::sort(order, order + kDims);
    const auto steps = [&](uint8_t d) { return nest_.temporal[level][d] > 1; };
    uint8_t* end = std::stable_partition(order, order + kDims, steps);
    do {
      Orders(level + 1);
    } while (std::next_permutation(order, end));
  }
  void Evaluate() {
    ++count_;
    LayerCost cost;
    Diagnostic diagnostic = {};
    CostOptions options;
    options.resident = request_.constraints.resident;
    if (EvaluateNest(request_.problem, request_.hardware, nest_, options, &cost,
                     &diagnostic) != Status::kOk) {
      return;
    }
    best_ = std::min(best_, MapObjective(request_.constraints, cost.energy_pj,
                                         static_cast<double>(cost.cycles)));
  }

  const NestRequest& request_;
  NestSpace space_;
  int64_t most_;
  LoopNest nest_;
  uint32_t held_[kMaxLevels] = {};
  int64_t count_ = 0;
  double best_ = kEver;
};

struct Tally {
  int compared = 0, refused = 0, bypassed = 0, levels[kMaxLevels + 1] = {};
};

// Compares one random problem with all its nests.
void Compare(Rng* rng, NestSpace space, int64_t most, Tally* tally) {
  MappingProblem problem = RandomProblem(rng);
  problem.partial_bytes = 1 + rng->Below(3);
  Machine machine;
  RandomHierarchy(rng, &machine);
  MapConstraints constraints;
  const uint32_t goal = rng->Below(3);
  constraints.energy_exponent = goal == 1 ? 0 : 1;
  constraints.delay_exponent = goal == 0 ? 0 : 1;
  constraints.bypass = rng->Below(4) == 0;
  constraints.resident = rng->Below(8) == 0 ? rng->Below(8) : 0;
  if (PrimeFactors(problem) > 6) return;
  const NestRequest request = {problem, machine.hardware, constraints};
  EveryNest every(request, space, most);
  if (!every.Run()) return;
  Scratch scratch;
  Budget budget;
  MappedNest mapped = {};
  const Status status = MapNestExact(request, space, &budget, &scratch.arena, &mapped,
                                     &scratch.diagnostic);
  ++tally->compared;
  if (every.best() == kEver) {
    CHECK(status == Status::kInfeasible);
    ++tally->refused;
    return;
  }
  REQUIRE(status == Status::kOk);
  REQUIRE(mapped.nest.levels == machine.levels.size());
  CHECK(mapped.proved);
  const double found = MapObjective(constraints, mapped.cost.energy_pj,
                                    static_cast<double>(mapped.cost.cycles));
  CHECK(found == doctest::Approx(every.best()).epsilon(1e-9));
  CHECK(mapped.objective == doctest::Approx(every.best()).epsilon(1e-9));
  tally->bypassed += constraints.bypass ? 1 : 0;
  ++tally->levels[machine.levels.size()];
}

void CompareMany(NestSpace space, int64_t most, int fewer) {
  const char* cases = std::getenv("SLUICE_NEST_CASES");
  const int wanted = cases == nullptr ? 250 / fewer : std::atoi(cases);
  Tally tally;
  for (uint64_t seed = 1; tally.compared < wanted; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Compare(&rng, space, most, &tally);
  }
  MESSAGE(tally.compared << " problems, " << tally.refused << " without a nest");
  CHECK(tally.refused < tally.compared / 2);
  CHECK(tally.bypassed > 0);
  for (uint32_t levels = 2; levels <= 4; ++levels) CHECK(tally.levels[levels] > 0);
}

TEST_CASE("nest exact: the best of all nests on random hierarchies") {
  CompareMany(NestSpace::kDividing, 4000, 1);
}

TEST_CASE("nest exact: the best of all nests, also of those that do not divide") {
  CompareMany(NestSpace::kRagged, 20000, 2);
}

}  // namespace
}  // namespace sluice
