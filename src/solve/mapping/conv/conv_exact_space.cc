// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/conv/conv_exact_space.h"

#include "base/checked.h"

namespace sluice::conv_exact {

namespace {

void SetEnergies(ConvSpace* space) {
  const Hardware& hw = *space->hardware;
  const MappingProblem& problem = space->problem;
  double wire = 0;
  const Fanout* fanout = FanoutAt(hw, 1, 0);
  if (fanout != nullptr) wire = fanout->transfer_pj_per_bit;
  for (uint32_t v = 0; v < kOperands; ++v) {
    const int64_t bytes = InnerBytes(problem, v);
    const double bits = static_cast<double>(8 * bytes);
    space->word.mac_read[v] = ReadPj(hw.levels[0], bytes);
    space->word.fill0[v] = WritePj(hw.levels[0], bytes);
    space->word.read1[v] = ReadPj(hw.levels[1], bytes) + wire * bits;
    space->word.write1[v] = WritePj(hw.levels[1], bytes) + wire * bits;
    space->word.fill1[v] = space->dram ? WritePj(hw.levels[1], bytes) : 0;
    space->word.read2[v] = space->dram ? ReadPj(hw.levels[2], bytes) : 0;
  }
  if (!space->dram) return;
  space->word.write2_partial = WritePj(hw.levels[2], problem.partial_bytes);
  space->word.write2_final = WritePj(hw.levels[2], problem.element_bytes[kOutput]);
}

// Takes the price of DRAM's words from the caller where several nodes share the DRAM.
void SetOuterPrice(ConvSpace* space) {
  const OuterPrice* outer = space->constraints.outer;
  for (uint32_t v = 0; v < kOperands; ++v) space->outer_share[v] = 1;
  if (outer == nullptr || !space->dram) return;
  for (uint32_t v = 0; v < kOperands; ++v) {
    space->word.read2[v] = outer->read_pj[v];
    space->outer_share[v] = outer->byte_share[v];
  }
  space->word.write2_partial = outer->write_partial_pj;
  space->word.write2_final = outer->write_final_pj;
  space->cycles_per_byte[1] = outer->cycles_per_byte;
}

bool SetArray(ConvSpace* space) {
  const Hardware& hw = *space->hardware;
  bool forwarding = true, multicast = true;
  space->reduction = true;
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    const Fanout* fanout = FanoutAt(hw, 1, a);
    if (fanout == nullptr) break;
    multicast &= fanout->multicast;
    forwarding &= fanout->forwarding;
    space->reduction &= fanout->reduction;
    if (fanout->forward_pj_per_bit > 0) space->loose = true;
  }
  space->multicast = multicast || forwarding;
  return space->multicast && space->reduction;
}

// True when rows and columns are interchangeable.
bool IsSquare(const ConvSpace& space) {
  const MappingProblem& problem = space.problem;
  const int64_t* top = space.constraints.top_tile;
  bool same = problem.extent[kDimP] == problem.extent[kDimQ] &&
              problem.extent[kDimR] == problem.extent[kDimS] &&
              problem.stride[0] == problem.stride[1] &&
              problem.dilation[0] == problem.dilation[1] && top[kDimP] == top[kDimQ] &&
              top[kDimR] == top[kDimS];
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    const Fanout* fanout = FanoutAt(*space.hardware, 1, a);
    if (fanout == nullptr) break;
    same &= MayUnroll(*fanout, kDimP) == MayUnroll(*fanout, kDimQ);
    same &= MayUnroll(*fanout, kDimR) == MayUnroll(*fanout, kDimS);
  }
  return same;
}

// Refuses what the exact search does not support.
Status CheckConvSpace(const NestRequest& request, Diagnostic* diagnostic) {
  const Hardware& hardware = request.hardware;
  if (hardware.levels.size() > 3) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Say("the exact mapper takes 2 or 3 levels, not #", hardware.levels.size());
  }
  if (hardware.levels.size() == 3 &&
      (request.problem.operands & ~hardware.levels[1].may_hold) != 0) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the exact mapper needs all operands in the scratchpad");
  }
  return Status::kOk;
}

// Sets what lies outside the space, and the bandwidths above the registers.
void SetLevels(const Hardware& hardware, ConvSpace* space) {
  for (const MemoryLevel& level : hardware.levels) space->loose |= level.sliding;
  space->loose |= hardware.levels[0].bandwidth.numerator > 0;
  space->loose |= FanoutAt(hardware, 0, 0) != nullptr;
  for (size_t l = 1; l < hardware.levels.size(); ++l) {
    const Rational& rate = hardware.levels[l].bandwidth;
    if (rate.numerator == 0) continue;
    space->cycles_per_byte[l - 1] =
        static_cast<double>(rate.denominator) / static_cast<double>(rate.numerator);
  }
}

// Sets the costs of every nest, and the words of the operands.
void SetFixedCosts(const Hardware& hardware, uint32_t registers, ConvSpace* space) {
  const MappingProblem& problem = space->problem;
  space->operations = OperationCount(problem);
  space->peak = PeakOperations(problem, hardware);
  const double ops = static_cast<double>(space->operations);
  space->fixed_pj = ops * (problem.vector ? hardware.vector_op_pj : hardware.mac_pj);
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    space->words[v] = static_cast<double>(TileWords(problem, v, problem.extent));
    space->held[v] = (hardware.levels[0].may_hold & registers) >> v & 1;
    if (!space->held[v]) continue;
    // Each operation reads its operands and updates its sum.
    space->fixed_pj += ops * space->word.mac_read[v];
    if (v == kOutput) space->fixed_pj += ops * space->word.fill0[v];
  }
  if (!space->dram) {  // finished outputs have their final width in the outermost level
    space->fixed_pj += space->words[kOutput] *
                       (WritePj(hardware.levels[1], problem.element_bytes[kOutput]) -
                        WritePj(hardware.levels[1], problem.partial_bytes));
  }
}

}  // namespace

__attribute__((cold)) Status MakeConvSpace(const NestRequest& request,
                                           uint32_t registers, ConvSpace* space,
                                           Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const MapConstraints& constraints = request.constraints;
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  SLUICE_TRY(CheckConvSpace(request, diagnostic));
  *space = ConvSpace{};
  space->problem = problem;
  space->hardware = &hardware;
  space->constraints = constraints;
  space->dram = hardware.levels.size() == 3;
  if (!SetArray(space)) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Text("the exact mapper needs an array that multicasts and reduces");
  }
  SetEnergies(space);
  for (uint32_t d = 0; d < kDims; ++d) {
    if (constraints.top_tile[d] < 0) {
      return Fail(diagnostic, Status::kBadInput, "mapping")
          .Say("a fixed tile of #", constraints.top_tile[d]);
    }
  }
  space->square = IsSquare(*space);
  SetLevels(hardware, space);
  SetOuterPrice(space);
  SetFixedCosts(hardware, registers, space);
  return Status::kOk;
}

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
  double first;  // units, each of which has one first visit
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
    // Of two levels the outer one has all loops, also those over groups.
    nest.temporal[1][d] = space.dram ? point.t1[d] : point.t1[d] * point.t2[d];
    nest.order[1][d] = kOrders[point.inner1][d];
    for (uint32_t a = 0; a < kMaxAxes; ++a) nest.spatial[1][a][d] = choice.axis[a][d];
    if (!space.dram) continue;
    nest.temporal[2][d] = point.t2[d];
    nest.order[2][d] = kOrders[point.inner2][d];
  }
  return nest;
}

namespace {

// Passes of each group, and the cost of one operand when `tile` of them lie inside the
// register tile.
struct ArrayBound {
  const ConvSpace* space;
  double passes[kGroups + 1];
  double words[kOperands];

  double Moving(uint32_t operand, double tile) const {
    if (!Has(space->problem, operand)) return 0;
    const double all = passes[kMovesNot[operand]];
    const double visits = space->held[operand] ? Max(1.0, all / tile) : all;
    const double read = space->word.read1[operand];
    if (operand != kOutput) return words[operand] * visits * read;
    return words[operand] *
           (visits * space->word.write1[operand] + (visits - 1) * read);
  }
  double Still(uint32_t operand) const {
    return Moving(operand, passes[kMovesNot[operand]]);
  }
  // Register words left for one factor when the other is taken.
  double Room(uint32_t operand, double taken) const {
    const int64_t capacity = space->hardware->levels[0].capacity_bytes;
    if (capacity == 0 || !space->held[operand]) return 1e300;
    return static_cast<double>(capacity / InnerBytes(space->problem, operand)) / taken;
  }
};

// Two operands move while the third is stationary. The product of their register
// factors is at most the third's tile.
void LeastOfThree(const ArrayBound& bound, const Span<const int64_t>* divisors,
                  double least[kGroups]) {
  const double taps = bound.passes[kGroupSum] /
                      static_cast<double>(divisors[kDimC][divisors[kDimC].size() - 1]);
  double rows = 1e300, k_inner = 1e300, sum = 1e300;
  for (const int64_t k : divisors[kDimK]) {
    const double f = static_cast<double>(k);
    const double input = bound.Moving(kInput, f);
    const double tile_rows = Max(1.0, bound.Room(kOutput, f));
    sum = Min(sum, input + bound.Moving(kWeight, tile_rows));
    const double tile_sums = Max(1.0, bound.Room(kWeight, f));
    rows = Min(rows, input + bound.Moving(kOutput, tile_sums));
  }
  for (const int64_t c : divisors[kDimC]) {
    const double f = static_cast<double>(c);
    const double tile_rows = Max(1.0, bound.Room(kInput, f));
    k_inner = Min(k_inner,
                  bound.Moving(kOutput, f * taps) + bound.Moving(kWeight, tile_rows));
  }
  least[kGroupRows] = Max(least[kGroupRows], rows + bound.Still(kWeight));
  least[kGroupK] = Max(least[kGroupK], k_inner + bound.Still(kInput));
  least[kGroupSum] = Max(least[kGroupSum], sum + bound.Still(kOutput));
}

}  // namespace

void LeastArrayPj(const ConvSpace& space, const SpatialChoice& choice,
                  const Span<const int64_t>* divisors, double least[kGroups]) {
  ArrayBound bound = {&space, {1, 1, 1, 1}, {}};
  double units = space.words[kOutput];
  for (uint32_t d = 0; d < kDims; ++d) {
    bound.passes[kGroupOf[d]] *= static_cast<double>(choice.passes[d]);
    if (kGroupOf[d] == kGroupSum) units *= static_cast<double>(choice.spread[d]);
  }
  for (uint32_t v = 0; v < kOperands; ++v) bound.words[v] = space.words[v];
  bound.words[kInput] = LeastInputWords(space, kOneElement, space.problem.extent);
  const double once = bound.Still(kInput) + bound.Still(kWeight) + bound.Still(kOutput);
  for (uint32_t g = 0; g < kGroups; ++g) least[g] = once;
  if (divisors != nullptr) LeastOfThree(bound, divisors, least);
  // A unit's first update of a sum reads nothing.
  if (!space.held[kOutput]) return;
  for (uint32_t g = 0; g < kGroups; ++g)
    least[g] -= units * space.word.mac_read[kOutput];
}

}  // namespace sluice::conv_exact
