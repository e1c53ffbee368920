// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/conv/conv_exact_space.h"

#include "base/checked.h"

namespace sluice::conv_exact {

namespace {

constexpr int64_t kWideAxis = 64;      // above, factors are thinned out
constexpr size_t kMaxChoices = 10000;  // of spatial factors; more are left out

// True for the smallest factor with its number of passes: larger ones waste units.
bool IsUseful(int64_t extent, int64_t factor) {
  return CeilDivide(extent, CeilDivide(extent, factor)) == factor;
}

bool IsTried(int64_t extent, int64_t factor, int64_t units) {
  if (!IsUseful(extent, factor)) return false;
  if (units <= kWideAxis || factor <= 4) return true;
  return extent % factor == 0 || units % factor == 0 || factor == units;
}

bool IsCoarse(int64_t factor, int64_t most, int64_t units) {
  if (factor == 1 || factor == most || units <= 4) return true;
  for (int64_t f = units; f > 1; f /= 4) {
    if (factor == f) return true;
  }
  return false;
}

// A fixed scratchpad tile smaller than the dim must hold whole array steps.
bool AgreesWithTop(const ConvSpace& space, uint32_t dim, int64_t spread) {
  const int64_t top = space.constraints.top_tile[dim];
  return top == 0 || top >= space.problem.extent[dim] || top % spread == 0;
}

int64_t PassesOf(const ConvSpace& space, uint32_t dim, int64_t spread) {
  const int64_t extent = space.problem.extent[dim];
  const int64_t top = space.constraints.top_tile[dim];
  if (top == 0 || top >= extent) return CeilDivide(extent, spread);
  return CeilDivide(extent, top) * (top / spread);
}

// True for the one of a choice and its mirror image (P for Q, R for S) to leave out.
bool IsMirror(const SpatialChoice& choice) {
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    for (uint32_t d = kDimP; d <= kDimR; d += kDimR - kDimP) {
      const int32_t rows = choice.axis[a][d], columns = choice.axis[a][d + 1];
      if (rows != columns) return rows > columns;
    }
  }
  return false;
}

// Could another unit of the axis still save a pass of some dim? Asks for all dims, or,
// before the later axes are chosen, only for dims that no later axis may unroll.
bool LeavesUnits(const ConvSpace& space, const SpatialChoice& choice, uint32_t axis,
                 bool final) {
  const Fanout* fanout = FanoutAt(*space.hardware, 1, axis);
  int64_t used = 1;
  for (uint32_t d = 0; d < kDims; ++d) used *= choice.axis[axis][d];
  for (uint32_t d = 0; d < kDims; ++d) {
    if (!MayUnroll(*fanout, d)) continue;
    int64_t others = 1;
    bool open = false;
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      if (a < axis || (final && a > axis)) others *= choice.axis[a][d];
      const Fanout* later = FanoutAt(*space.hardware, 1, a);
      open |= !final && a > axis && later != nullptr && MayUnroll(*later, d);
    }
    const int64_t extent = space.problem.extent[d];
    const int64_t passes = CeilDivide(extent, others * choice.axis[axis][d]);
    if (open || passes == 1) continue;
    const int64_t raised = CeilDivide(CeilDivide(extent, passes - 1), others);
    if (!IsTried(extent, raised * others, fanout->extent)) continue;
    if (used / choice.axis[axis][d] * raised <= int64_t{fanout->extent}) return true;
  }
  return false;
}

bool IsWide(const ConvSpace& space) {
  bool fixed = false;
  for (uint32_t d = 0; d < kDims; ++d) fixed |= space.constraints.top_tile[d] != 0;
  return fixed || space.constraints.wide;
}

Status CloseChoice(const ConvSpace& space, SpatialChoice choice,
                   Vector<SpatialChoice>* choices) {
  double cycles = 1;
  if (space.square && IsMirror(choice)) return Status::kOk;
  for (uint32_t d = 0; d < kDims; ++d) {
    choice.spread[d] = 1;
    for (uint32_t a = 0; a < kMaxAxes; ++a) choice.spread[d] *= choice.axis[a][d];
    const int64_t extent = space.problem.extent[d];
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      // Two axes may overshoot together, but neither without saving a pass.
      const int64_t f = choice.axis[a][d];
      const int64_t lower = choice.spread[d] / f * (f - 1);
      if (f > 1 && CeilDivide(extent, lower) == CeilDivide(extent, choice.spread[d])) {
        return Status::kOk;
      }
    }
    if (!AgreesWithTop(space, d, choice.spread[d])) return Status::kOk;
    choice.passes[d] = PassesOf(space, d, choice.spread[d]);
    cycles *= static_cast<double>(choice.passes[d]);
  }
  const int64_t least = CeilDivide(space.operations, space.peak);
  choice.cycles = Max(cycles, static_cast<double>(least));
  for (uint32_t a = 0; a < kMaxAxes && !IsWide(space); ++a) {
    if (FanoutAt(*space.hardware, 1, a) == nullptr) break;
    if (LeavesUnits(space, choice, a, true)) return Status::kOk;
  }
  if (choices->size() >= kMaxChoices) return Status::kOk;
  return choices->Push(choice);
}

Status ExtendChoice(const ConvSpace& space, uint32_t axis, uint32_t dim, int64_t left,
                    SpatialChoice* choice, Vector<SpatialChoice>* choices) {
  const Fanout* fanout = FanoutAt(*space.hardware, 1, axis);
  if (axis == kMaxAxes || fanout == nullptr)
    return CloseChoice(space, *choice, choices);
  if (dim == kDims) {
    if (!IsWide(space) && LeavesUnits(space, *choice, axis, false)) return Status::kOk;
    const Fanout* next =
        axis + 1 < kMaxAxes ? FanoutAt(*space.hardware, 1, axis + 1) : nullptr;
    const int64_t units = next == nullptr ? 1 : int64_t{next->extent};
    return ExtendChoice(space, axis + 1, 0, units, choice, choices);
  }
  if (choices->size() >= kMaxChoices) return Status::kOk;
  const int64_t extent = space.problem.extent[dim];
  const int64_t most = MayUnroll(*fanout, dim) ? Min(left, extent) : 1;
  // The largest factor that saves a pass.
  const int64_t useful = CeilDivide(extent, CeilDivide(extent, most));
  // Full arrays first: should the list be cut, these are the better part of it.
  for (int64_t f = most; f >= 1; --f) {
    if (f > 1 && !IsTried(extent, f, fanout->extent)) continue;
    if (space.constraints.quick && !IsCoarse(f, useful, fanout->extent)) continue;
    choice->axis[axis][dim] = static_cast<int32_t>(f);
    SLUICE_TRY(ExtendChoice(space, axis, dim + 1, left / f, choice, choices));
  }
  choice->axis[axis][dim] = 1;
  return Status::kOk;
}

// Units (times outer steps t2) that see a tile once while t1 passes keep it.
double StillUnits(int64_t tiles, int64_t spread, int64_t t1, int64_t t2) {
  const int64_t before = (t2 - 1) * t1 * spread;
  return static_cast<double>((t2 - 1) * spread + Min(spread, tiles - before));
}

struct Visits {
  double group;  // steps in which the parent serves the operand
  double units;  // tiles that single units take
  double first;  // units
};

Visits VisitsOf(const ConvSpace& space, const SpatialChoice& choice, const Point& point,
                uint32_t operand, bool still) {
  bool cross = still && point.inner1 == point.inner2;
  for (uint32_t d = 0; d < kDims && cross; ++d) {
    cross = kGroupOf[d] == kMovesNot[operand] || point.t1[d] == 1;
  }
  Visits visits = {1, 1, 1};
  for (uint32_t d = 0; d < kDims; ++d) {
    if (kGroupOf[d] != kMovesNot[operand]) continue;
    const int64_t tiles = Quotient(space.problem.extent[d], point.t0[d]);
    const int64_t spread = choice.spread[d];
    const int64_t t1 = point.t1[d], t2 = point.t2[d];
    visits.first *= static_cast<double>(Min(spread, tiles));
    if (!still) {
      visits.group *= static_cast<double>(t1 * t2);
      visits.units *= static_cast<double>(tiles);
    } else if (cross) {
      visits.units *= static_cast<double>(Min(spread, tiles));
    } else {
      visits.group *= static_cast<double>(t2);
      visits.units *= StillUnits(tiles, spread, t1, t2);
    }
  }
  return visits;
}

}  // namespace

Status ListSpatialChoices(ConvSpace* space, Vector<SpatialChoice>* choices) {
  SpatialChoice choice = {};
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    for (uint32_t d = 0; d < kDims; ++d) choice.axis[a][d] = 1;
  }
  const Fanout* fanout = FanoutAt(*space->hardware, 1, 0);
  const int64_t units = fanout == nullptr ? 1 : int64_t{fanout->extent};
  SLUICE_TRY(ExtendChoice(*space, 0, 0, units, &choice, choices));
  space->loose |= choices->size() >= kMaxChoices || space->constraints.quick;
  return Status::kOk;
}

Status ListDivisors(int64_t n, Vector<int64_t>* divisors) {
  divisors->Truncate(0);
  for (int64_t i = 1; i <= n / i; ++i) {
    if (n % i == 0) SLUICE_TRY(divisors->Push(i));
  }
  for (size_t i = divisors->size(); i-- > 0;) {
    const int64_t low = (*divisors)[i];
    if (low != n / low) SLUICE_TRY(divisors->Push(n / low));
  }
  return Status::kOk;
}

double SpanSum(const MappingProblem& problem, int axis, int64_t outputs, int64_t taps) {
  const int64_t p = problem.extent[kDimP + axis];
  const int64_t r = problem.extent[kDimR + axis];
  const double np = static_cast<double>(Quotient(p, outputs));
  const double nr = static_cast<double>(Quotient(r, taps));
  const double stride = static_cast<double>(WindowStep(problem, axis));
  const double dilation = problem.dilation[axis];
  return nr * stride * static_cast<double>(p) + np * dilation * static_cast<double>(r) +
         np * nr * (1 - stride - dilation);
}

double InputWords(const ConvSpace& space, const int64_t tile[kDims]) {
  const int64_t* extent = space.problem.extent;
  return static_cast<double>(extent[kDimN] * extent[kDimG] * extent[kDimC]) *
         SpanSum(space.problem, 0, tile[kDimP], tile[kDimR]) *
         SpanSum(space.problem, 1, tile[kDimQ], tile[kDimS]);
}

double LeastInputWords(const ConvSpace& space, const int64_t small[kDims],
                       const int64_t large[kDims]) {
  const int64_t* extent = space.problem.extent;
  double words = static_cast<double>(extent[kDimN] * extent[kDimG] * extent[kDimC]);
  for (int axis = 0; axis < 2; ++axis) {
    const int p = kDimP + axis, r = kDimR + axis;
    double least = SpanSum(space.problem, axis, large[p], large[r]);
    const bool window = space.problem.extent[r] > 1;  // else every corner is alike
    if (window && (small[p] != large[p] || small[r] != large[r])) {
      least = Min(least, SpanSum(space.problem, axis, small[p], large[r]));
      least = Min(least, SpanSum(space.problem, axis, large[p], small[r]));
      least = Min(least, SpanSum(space.problem, axis, small[p], small[r]));
    }
    words *= least;
  }
  return words;
}

DramSteps StepsAbove(const ConvSpace& space, const SpatialChoice& choice,
                     const int64_t passes[kDims], const int64_t tile[kDims]) {
  DramSteps steps = {InputWords(space, tile), {1, 1, 1, 1}};
  for (uint32_t d = 0; d < kDims; ++d) {
    steps.count[kGroupOf[d]] *=
        static_cast<double>(Quotient(choice.passes[d], passes[d]));
  }
  return steps;
}

void AddDramCost(const ConvSpace& space, const DramSteps& steps, uint32_t inner2,
                 PointCost* cost) {
  const WordEnergy& word = space.word;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(space.problem, v) || (space.constraints.resident >> v & 1) != 0) continue;
    const uint32_t g = kMovesNot[v];
    const double visits = inner2 == g ? 1 : steps.count[g];
    const double bytes = static_cast<double>(InnerBytes(space.problem, v));
    if (v != kOutput) {
      const double moved = (v == kInput ? steps.input_words : space.words[v]) * visits;
      cost->energy_pj += moved * (word.read2[v] + word.fill1[v]);
      cost->dram_bytes += moved * bytes * space.outer_share[v];
      cost->scratchpad_bytes += moved * bytes;
      continue;
    }
    const double again = space.words[v] * (visits - 1);
    cost->energy_pj += space.words[v] * word.write2_final +
                       again * (word.write2_partial + word.read2[v] + word.fill1[v]);
    cost->dram_bytes +=
        (2 * again * bytes + space.words[v] * space.problem.element_bytes[kOutput]) *
        space.outer_share[v];
    cost->scratchpad_bytes += again * bytes;
  }
}

void AddArrayCost(const ConvSpace& space, const SpatialChoice& choice,
                  const Point& point, uint32_t operand, bool still, PointCost* cost) {
  const WordEnergy& word = space.word;
  const bool held = space.held[operand];
  Visits visits = VisitsOf(space, choice, point, operand, held && still);
  double group = space.words[operand], units = space.words[operand];
  if (!held) {  // every step reads again
    for (uint32_t d = 0; d < kDims; ++d) {
      if (kGroupOf[d] == kMovesNot[operand]) {
        visits.group *= static_cast<double>(point.t0[d]);
      }
    }
  }
  if (operand == kInput) {
    int64_t united[kDims];
    for (uint32_t d = 0; d < kDims; ++d) {
      united[d] = held ? point.t0[d] * choice.spread[d]
                       : (point.t0[d] > 1 ? 1 : choice.spread[d]);
    }
    group = InputWords(space, united);
    units = InputWords(space, point.t0);
  }
  const double bytes = static_cast<double>(InnerBytes(space.problem, operand));
  if (operand != kOutput) {
    cost->energy_pj += group * visits.group * word.read1[operand];
    if (held) cost->energy_pj += units * visits.units * word.fill0[operand];
    cost->scratchpad_bytes += group * visits.group * bytes;
    return;
  }
  const double again = group * (visits.group - 1);
  cost->energy_pj +=
      group * visits.group * word.write1[operand] + again * word.read1[operand];
  if (held) {
    cost->energy_pj += units * (visits.units - visits.first) * word.fill0[operand] -
                       units * visits.first * word.mac_read[operand];
  }
  cost->scratchpad_bytes += (group * visits.group + again) * bytes;
}

double LatencyOf(const ConvSpace& space, const SpatialChoice& choice,
                 const PointCost& cost) {
  // Not rounded up, unlike the model: a lower bound, less than a cycle too small.
  return Max(choice.cycles, Max(cost.scratchpad_bytes * space.cycles_per_byte[0],
                                cost.dram_bytes * space.cycles_per_byte[1]));
}

double ObjectiveOf(const ConvSpace& space, const SpatialChoice& choice,
                   const PointCost& cost) {
  const double cycles = LatencyOf(space, choice, cost);
  return MapObjective(
      space.constraints,
      space.fixed_pj + cost.energy_pj + space.hardware->leakage_pj_per_cycle * cycles,
      cycles);
}

LoopNest NestOfPoint(const ConvSpace& space, const SpatialChoice& choice,
                     const Point& point) {
  LoopNest nest = EmptyNest(*space.hardware, space.problem);
  nest.hold[0] = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (space.held[v]) nest.hold[0] |= static_cast<uint8_t>(OperandBit(v));
  }
  constexpr uint8_t kOrders[kGroups][kDims] = {
      {kDimQ, kDimP, kDimN, kDimS, kDimR, kDimC, kDimK, kDimG},
      {kDimK, kDimS, kDimR, kDimC, kDimQ, kDimP, kDimN, kDimG},
      {kDimS, kDimR, kDimC, kDimK, kDimQ, kDimP, kDimN, kDimG}};
  for (uint32_t d = 0; d < kDims; ++d) {
    nest.temporal[0][d] = point.t0[d];
    nest.temporal[1][d] = point.t1[d];
    nest.order[1][d] = kOrders[point.inner1][d];
    for (uint32_t a = 0; a < kMaxAxes; ++a) nest.spatial[1][a][d] = choice.axis[a][d];
    if (!space.dram) continue;
    nest.temporal[2][d] = point.t2[d];
    nest.order[2][d] = kOrders[point.inner2][d];
  }
  return nest;
}

}  // namespace sluice::conv_exact
