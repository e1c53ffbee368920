// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_steps.h"

#include "base/checked.h"
#include "model/layer_cost.h"

namespace sluice::nest_exact {
namespace {

double Real(int64_t n) { return static_cast<double>(n); }

// Tiles of a window axis, and how their neighbours follow each other.
struct Axis {
  int axis;
  int64_t outputs;
  int64_t taps;
  int64_t apart;  // tiles between a step of the motion and the next; 0: no motion here
};

// Rows or columns of all tiles of an axis; a motion fetches new ones only.
double AxisWords(const MappingProblem& problem, const Axis& at, const Motion& motion) {
  const double tiles = Real(problem.extent[kDimP + at.axis] / at.outputs) *
                       Real(problem.extent[kDimR + at.axis] / at.taps);
  const int64_t span = WindowSpan(problem, at.axis, at.outputs, at.taps);
  if (at.apart == 0) return tiles * Real(span);
  const int64_t shift = motion.dim >= kDimR ? at.taps * problem.dilation[at.axis]
                                            : at.outputs * WindowStep(problem, at.axis);
  const int64_t fresh = Min(span, at.apart * shift);
  const double first = tiles / motion.trips;
  return first * Real(span) + (tiles - first) * Real(fresh);
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
    Axis at = {axis, tile[p], tile[r], 0};
    if (united) {
      at.outputs *= passed.united[p - kDimP];
      at.taps *= passed.united[r - kDimP];
    }
    const Motion& motion = passed.motion;
    if (slides && (motion.dim == p || motion.dim == r)) {
      at.apart = int64_t{motion.over} * (united ? 1 : motion.inside);
    }
    words *= AxisWords(problem, at, motion);
  }
  return words;
}

// Words that cross one interface.
struct Crossing {
  double reads, writes, fills, forwards;
};

// steps: of all loops above the tile that do not move the operand, but for those that
// keep it.
Crossing Cross(const Path& path, double steps, bool output, double words,
               double united) {
  Crossing crossing = {};
  const double deliveries = words * steps;
  double once;
  if (!output) {
    const bool shared = path.forwarding || path.multicast;
    crossing.reads = shared ? united * steps / Real(path.inside) : deliveries;
    crossing.fills = deliveries;
    once = crossing.reads;
  } else {
    crossing.writes = path.reduction ? deliveries / Real(path.inside) : deliveries;
    crossing.reads = crossing.writes - words * Real(path.above);
    crossing.fills = deliveries - words * Real(path.inside) * Real(path.above);
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
    if (!Moves(d, v)) steps *= Real(model.problem.extent[d] / tile[d]);
  }
  return steps;
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

Passed Start() {
  Passed passed = {};
  for (Path& path : passed.path) path = {1, 1, 1, true, true, true};
  for (int32_t& units : passed.united) units = 1;
  passed.motion = {kDims, 1, 1, 1};
  return passed;
}

void Pass(const Loops& loops, const Spread& spread, Passed* passed) {
  for (uint32_t v = 0; v < kOperands; ++v) {
    Path* path = &passed->path[v];
    int64_t keeping = 1;
    bool moved = false;
    for (uint32_t d = 0; d < kDims; ++d) {
      if (Moves(d, v)) {
        moved = moved || loops.trips[d] > 1;
      } else {
        keeping *= loops.trips[d];
        path->inside *= spread.units[d];
      }
    }
    if (!moved) {
      path->still *= keeping;
    } else {
      const bool innermost = loops.group < kGroups && kKept[loops.group] == v;
      path->still = innermost ? keeping : 1;
    }
    path->multicast = path->multicast && spread.multicast;
    path->reduction = path->reduction && spread.reduction;
    path->forwarding = path->forwarding && spread.forwarding;
    if (v != kInput) continue;
    if (moved) {
      const uint8_t dim = loops.moving;
      const bool window = dim >= kDimP && dim <= kDimS;
      passed->motion = {window ? dim : uint8_t{kDims},
                        window ? static_cast<int32_t>(loops.trips[dim]) : 1, 1, 1};
    }
  }
  for (uint32_t w = 0; w < kWindowDims; ++w) {
    const int32_t units = spread.units[kDimP + w];
    passed->united[w] = (loops.trips[kDimP + w] > 1 ? 1 : passed->united[w]) * units;
    if (passed->motion.dim == kDimP + w) passed->motion.inside *= units;
  }
}

void Enter(const Model& model, int child, const int64_t tile[kDims], Passed* passed,
           Sums* sums) {
  for (uint32_t v = 0; v < kOperands; ++v) {
    Path* path = &passed->path[v];
    if (Enters(model, child, v)) {
      const double still = child < 0 ? 1 : Real(path->still);
      const double steps = StepsBeyond(model, v, tile) / still;
      const double words = AllWords(model, child, v, tile, *passed, false);
      const double united =
          v == kInput ? AllWords(model, child, v, tile, *passed, true) : words;
      AddCrossing(model, child, v, Cross(*path, steps, v == kOutput, words, united),
                  sums);
    }
    if (child < 0 || (model.hold[child] >> v & 1) == 0) continue;
    path->above *= path->inside;
    path->inside = 1;
    path->multicast = path->reduction = path->forwarding = true;
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

// Input words that are needed at all, at least. Boxes of small tiles may leave out rows
// between the taps of a dilated filter.
double NeededWords(const MappingProblem& problem) {
  const int64_t* e = problem.extent;
  double words = Real(e[kDimN]) * Real(e[kDimG]) * Real(e[kDimC]);
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t outputs = e[kDimP + axis], taps = e[kDimR + axis];
    words *= Real(problem.dilation[axis] == 1 ? WindowSpan(problem, axis, outputs, taps)
                                              : outputs + taps - 1);
  }
  return words;
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
  Passed passed = Start();
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
