// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_steps.h"

#include "base/checked.h"
#include "model/access.h"
#include "model/layer_cost.h"
#include "solve/mapping/nest_search.h"

namespace sluice::nest_exact {
namespace {

double Real(int64_t n) { return static_cast<double>(n); }

// Rows or columns of all tiles of an axis; a slide fetches new ones only.
double AxisWords(const MappingProblem& problem, int axis, int64_t outputs, int64_t taps,
                 const Slide& slide) {
  const int64_t p = problem.extent[kDimP + axis], r = problem.extent[kDimR + axis];
  if (slide.on) {
    bool over = false;
    const int64_t words = WindowWords(problem, axis, outputs, taps, slide, &over);
    return over ? kMaxOperations : Real(words);
  }
  const int64_t parts = CeilDivide(p, outputs), cuts = CeilDivide(r, taps);
  return Real(cuts) * Real(p - parts) * Real(WindowStep(problem, axis)) +
         Real(parts) * Real(r - cuts) * Real(problem.dilation[axis]) +
         Real(parts) * Real(cuts);
}

// Words of the operand in all tiles. united: units that take their words together.
double AllWords(const Model& model, int child, uint32_t v, const int64_t tile[kDims],
                const Passed& passed, bool united) {
  const MappingProblem& problem = model.problem;
  double words = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    const bool window = v == kInput && d >= kDimP && d <= kDimS;
    if (Moves(d, v) && !window) words *= Real(problem.extent[d]);
  }
  if (v != kInput) return words;
  const bool slides =
      child >= 0 && model.hardware.levels[static_cast<size_t>(child)].sliding;
  for (int axis = 0; axis < 2; ++axis) {
    const int p = kDimP + axis, r = kDimR + axis;
    int64_t outputs = tile[p], taps = tile[r];
    if (united) {
      outputs *= passed.united[p - kDimP];
      taps *= passed.united[r - kDimP];
    }
    const Motion& motion = passed.motion;
    const bool on = slides && (motion.dim == p || motion.dim == r);
    const Slide slide = {on, motion.dim == r, motion.trips,
                         int64_t{motion.over} * (united ? 1 : motion.inside)};
    words *= AxisWords(problem, axis, outputs, taps, slide);
  }
  return words;
}

// Words that cross one interface.
struct Crossing {
  double reads, writes, fills, forwards;
};

// How often a word is delivered: to all units, to groups that share it; outputs: to
// those that start a sum of their own, of all units and beyond the memory.
struct Visits {
  double each, group, first, beyond;
};

Crossing Cross(const Path& path, const Visits& visits, bool output, double words,
               double united) {
  Crossing crossing = {};
  const double deliveries = words * visits.each;
  double once;
  if (!output) {
    const bool shared = path.forwarding || path.multicast;
    crossing.reads = shared ? united * visits.group : deliveries;
    crossing.fills = deliveries;
    once = crossing.reads;
  } else {
    crossing.writes = path.reduction ? words * visits.group : deliveries;
    crossing.reads = crossing.writes - words * visits.beyond;
    crossing.fills = deliveries - words * visits.first;
    once = crossing.writes;
  }
  if (path.forwarding) crossing.forwards = deliveries - once;
  return crossing;
}

void AddCrossing(const Model& model, int child, uint32_t v, const Crossing& crossing,
                 Sums* sums) {
  const auto& levels = model.hardware.levels;
  const int parent = ParentOf(model, child, v);
  const int last = static_cast<int>(levels.size()) - 1;
  const MemoryLevel& above = levels[static_cast<size_t>(parent)];
  const int64_t bytes = InnerBytes(model.problem, v);
  double pj =
      crossing.reads * ReadPj(above, bytes) + crossing.writes * WritePj(above, bytes);
  sums->bytes[parent] += (crossing.reads + crossing.writes) * Real(bytes);
  if (child >= 0) {
    pj += crossing.fills * WritePj(levels[static_cast<size_t>(child)], bytes);
    sums->bytes[child] += crossing.fills * Real(bytes);
  }
  double wire = 0;
  for (int l = child + 1; l <= parent; ++l) wire += model.wire_pj[l];
  pj += (crossing.reads + crossing.writes) * wire * Real(8 * bytes);
  const Fanout* fanout = FanoutAt(model.hardware, static_cast<uint32_t>(parent), 0);
  if (fanout != nullptr) {
    pj += crossing.forwards * fanout->forward_pj_per_bit * Real(8 * bytes);
  }
  if (v == kOutput && parent == last) {
    const int64_t whole = model.problem.element_bytes[kOutput];
    const double words = Real(TileWords(model.problem, v, model.problem.extent));
    pj += words * (WritePj(above, whole) - WritePj(above, bytes));
    sums->bytes[parent] += words * Real(whole - bytes);
  }
  sums->energy_pj += pj;
}

// Whether the operand moves into `child` at all.
bool Enters(const Model& model, int child, uint32_t v) {
  if (!Has(model.problem, v)) return false;
  if (child >= 0 && (model.hold[child] >> v & 1) == 0) return false;
  const bool stays = (model.resident >> v & 1) != 0;
  return !stays || ParentOf(model, child, v) + 1 !=
                       static_cast<int>(model.hardware.levels.size());
}

double StepsBeyond(const Model& model, uint32_t v, const int64_t tile[kDims]) {
  double steps = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (!Moves(d, v)) steps *= Real(CeilDivide(model.problem.extent[d], tile[d]));
  }
  return steps;
}

Combined CombinedOf(int64_t extent, int64_t tile) {
  return static_cast<Combined>(2 * (extent / tile) + (extent % tile == 0 ? 0 : 1));
}

// Passes a loop, or units, of `steps` blocks of `block`.
Combined PassDigit(Combined count, int64_t extent, int64_t steps, int64_t block,
                   bool counted) {
  if (steps == 1) return count;
  const Combined whole = count / 2;
  if (count % 2 == 0) {
    return counted ? static_cast<Combined>(count * steps) : count;
  }
  const int64_t rest = extent % (steps * block), full = rest / block;
  if (!counted) return full > 0 ? 2 * whole + 2 : count;
  return static_cast<Combined>(2 * (whole * steps + full) +
                               (rest % block == 0 ? 0 : 1));
}

double ProductOf(const Passed& passed, Counted counted, uint32_t v) {
  double product = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (!Moves(d, v)) product *= (passed.count[counted][d] + 1) / 2;
  }
  return product;
}

}  // namespace

Model MakeModel(const NestRequest& request, const uint32_t hold[kMaxLevels]) {
  Model model = {
      request.problem, request.hardware, request.constraints.resident, {}, {}};
  for (uint32_t l = 0; l < request.hardware.levels.size(); ++l) {
    model.hold[l] = hold[l];
    const Fanout* fanout = FanoutAt(request.hardware, l, 0);
    model.wire_pj[l] = fanout == nullptr ? 0 : fanout->transfer_pj_per_bit;
  }
  return model;
}

int ParentOf(const Model& model, int level, uint32_t v) {
  int parent = level + 1;
  while ((model.hold[parent] >> v & 1) == 0) ++parent;
  return parent;
}

Passed Start(const MappingProblem& problem, const int64_t extent[kDims]) {
  Passed passed = {};
  for (uint32_t d = 0; d < kDims; ++d) {
    for (auto& count : passed.count) {
      count[d] = CombinedOf(problem.extent[d], extent[d]);
    }
  }
  for (Path& path : passed.path) path = {true, true, true};
  for (int32_t& units : passed.united) units = 1;
  passed.motion = {kDims, 1, 1, 1};
  return passed;
}

namespace {

// One dim of one level; moved: a loop of the level moves the operand that the dim does
// not; kept: the dim's loop is right above the tile then.
struct DimSteps {
  int64_t trips, units, tile;
  bool moved, kept;
};

void PassDim(const MappingProblem& problem, uint32_t d, const DimSteps& steps,
             Passed* passed) {
  const int64_t extent = problem.extent[d], block = steps.units * steps.tile;
  if (steps.moved) {
    // The loops passed before are no longer right above.
    passed->count[kRun][d] = CombinedOf(extent, steps.trips * block);
    passed->count[kGroupRun][d] = passed->count[kGroupAll][d];
  }
  const bool run = steps.moved && !steps.kept;
  constexpr bool kInside[kCountings] = {true, false, false, true, false};
  const bool loops[kCountings] = {run, run, true, false, false};
  for (uint32_t c = 0; c < kCountings; ++c) {
    Combined* count = &passed->count[c][d];
    *count = PassDigit(*count, extent, steps.trips, block, loops[c]);
    *count = PassDigit(*count, extent, steps.units, steps.tile, kInside[c]);
  }
}

}  // namespace

void Pass(const MappingProblem& problem, const Loops& loops, const Spread& spread,
          const int64_t tile[kDims], Passed* passed) {
  uint32_t looped = 0;
  for (uint32_t d = 0; d < kDims; ++d) looped |= loops.trips[d] > 1 ? 1u << d : 0;
  for (uint32_t d = 0; d < kDims; ++d) {
    uint32_t v = 0;  // the operand that d does not move; G moves all
    while (v < kOperands && Moves(d, v)) ++v;
    const bool moved = v < kOperands && (looped & RelevantDims(v)) != 0;
    const bool kept = v < kOperands && loops.group < kGroups && kKept[loops.group] == v;
    PassDim(problem, d, {loops.trips[d], spread.units[d], tile[d], moved, kept},
            passed);
  }
  const bool moved = (looped & RelevantDims(kInput)) != 0;
  for (Path& path : passed->path) {
    path.multicast = path.multicast && spread.multicast;
    path.reduction = path.reduction && spread.reduction;
    path.forwarding = path.forwarding && spread.forwarding;
  }
  if (moved) {
    const uint8_t dim = loops.moving;
    const bool window = dim >= kDimP && dim <= kDimS;
    passed->motion = {window ? dim : uint8_t{kDims},
                      window ? static_cast<int32_t>(loops.trips[dim]) : 1, 1, 1};
  }
  for (uint32_t w = 0; w < kWindowDims; ++w) {
    const int32_t units = spread.units[kDimP + w];
    passed->united[w] = (loops.trips[kDimP + w] > 1 ? 1 : passed->united[w]) * units;
    if (passed->motion.dim == kDimP + w) passed->motion.inside *= units;
  }
}

double Instances(const Passed& passed) {
  double product = 1;
  for (const Combined count : passed.count[kUnits]) product *= (count + 1) / 2;
  return product;
}

void Enter(const Model& model, int child, const int64_t tile[kDims], Passed* passed,
           Sums* sums) {
  for (uint32_t v = 0; v < kOperands; ++v) {
    Path* path = &passed->path[v];
    if (Enters(model, child, v)) {
      const bool keeps = child >= 0;
      const Visits visits = {
          keeps ? ProductOf(*passed, kRun, v) : StepsBeyond(model, v, tile),
          ProductOf(*passed, keeps ? kGroupRun : kGroupAll, v),
          ProductOf(*passed, kUnits, v), ProductOf(*passed, kBeyond, v)};
      const double words = AllWords(model, child, v, tile, *passed, false);
      const double united =
          v == kInput ? AllWords(model, child, v, tile, *passed, true) : words;
      AddCrossing(model, child, v, Cross(*path, visits, v == kOutput, words, united),
                  sums);
    }
    if (child < 0 || (model.hold[child] >> v & 1) == 0) continue;
    for (uint32_t d = 0; d < kDims; ++d) {
      if (Moves(d, v)) continue;
      passed->count[kGroupAll][d] = CombinedOf(model.problem.extent[d], tile[d]);
      passed->count[kGroupRun][d] = passed->count[kRun][d];
      passed->count[kBeyond][d] = passed->count[kUnits][d];
    }
    *path = {true, true, true};
    if (v != kInput) continue;
    for (int32_t& units : passed->united) units = 1;
    passed->motion.over *= passed->motion.inside;
    passed->motion.inside = 1;
  }
}

namespace {

// Units of all fanouts of these levels.
double UnitsOf(const Model& model, int from, int to) {
  double units = 1;
  for (int l = from; l <= to; ++l) {
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      const Fanout* fanout = FanoutAt(model.hardware, static_cast<uint32_t>(l), a);
      if (fanout != nullptr) units *= fanout->extent;
    }
  }
  return units;
}

// What is known of one operand that moves into a memory, and what may be hoped for.
struct Hope {
  bool bypasses;  // memories that do not hold it lie between
  double words, united;
  double steps;   // at least
  double groups;  // of steps that may share their words, at least
  double inside;  // units that need the same words, at most
  double firsts;  // units beyond the memory that start sums of their own, at most
};

Hope HopeFor(const Model& model, int child, uint32_t v, const int64_t tile[kDims],
             const Spread& spread, bool kept) {
  Hope hope = {};
  const int parent = ParentOf(model, child, v);
  hope.bypasses = parent > child + 1;
  double same = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (!Moves(d, v)) same *= spread.units[d];
  }
  const double beyond = StepsBeyond(model, v, tile);
  hope.inside = Min(beyond, same * UnitsOf(model, child + 2, parent));
  hope.steps = kept ? same : beyond;
  hope.groups = kept ? 1 : beyond / hope.inside;
  hope.firsts =
      UnitsOf(model, parent + 1, static_cast<int>(model.hardware.levels.size()) - 1);
  Passed passed = {};
  passed.motion.dim = kDims;
  for (uint32_t w = 0; w < kWindowDims; ++w) {
    passed.united[w] = spread.units[kDimP + w];
  }
  hope.words = hope.united = AllWords(model, child, v, tile, passed, false);
  if (v != kInput) return hope;
  const bool slides =
      child >= 0 && model.hardware.levels[static_cast<size_t>(child)].sliding;
  const double once = NeededWords(model.problem);
  hope.united =
      hope.bypasses || slides ? once : AllWords(model, child, v, tile, passed, true);
  if (slides) hope.words = once;
  return hope;
}

}  // namespace

double LeastEnter(const Model& model, int child, const int64_t tile[kDims],
                  const Spread& spread, uint8_t group) {
  Sums sums = {};
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Enters(model, child, v)) continue;
    const bool kept = child >= 0 && group < kGroups && kKept[group] == v;
    const Hope hope = HopeFor(model, child, v, tile, spread, kept);
    const double deliveries = hope.words * hope.steps;
    const double shared = Min(deliveries, hope.united * hope.groups);
    Crossing least = {};
    if (v != kOutput) {
      const bool shares = hope.bypasses || spread.multicast || spread.forwarding;
      least.reads = shares ? shared : deliveries;
      least.fills = deliveries;
    } else {
      least.writes = hope.bypasses || spread.reduction ? shared : deliveries;
      least.reads = Max(0.0, least.writes - hope.words * hope.firsts);
      least.fills = Max(0.0, deliveries - hope.words * hope.inside * hope.firsts);
    }
    AddCrossing(model, child, v, least, &sums);
  }
  return sums.energy_pj;
}

}  // namespace sluice::nest_exact
