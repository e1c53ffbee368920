// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_exact.h"

#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "model/layer_cost.h"
#include "solve/mapping/conv/conv_exact_space.h"
#include "solve/mapping/nest/nest_spreads.h"

namespace sluice {
namespace nest_exact {
namespace {

constexpr double kEver = 1e300;
constexpr double kRounding = 1e-12;  // of sums of a few parts
constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kMostLabels = 1u << 16;
// Levels of a nest tried, and labels looked at: some 0.3 microseconds each. Of all sets of
// operands that the levels may hold together.
constexpr uint64_t kMostSteps = 600000;
// Of these to find what levels cost at least, for each set: where that takes longer, a
// proof takes far longer.
constexpr uint64_t kMostLimits = kMostSteps / 4;
constexpr size_t kHeads = 1u << 14;

double Real(int64_t n) { return static_cast<double>(n); }

// The levels from the outermost one to `level`, each with its loops: a nest begun.
struct Label {
  double energy_pj;  // of all transfers into `level` and above
  double bytes[kMaxLevels];
  double steps;  // of the loops passed
  double bound;  // of the objective of every nest that begins so
  int32_t instances[kMaxLevels];
  int32_t tile[kDims];
  Passed passed;
  uint32_t before;  // label of the level above
  uint32_t next;    // in the chain of its hash
  uint32_t spread;
  uint8_t group, moving;
  bool dropped;
};

struct Search {
  const NestRequest& request;
  Model model;
  Budget* budget;
  Arena* arena;
  bool timed = false;   // cycles count in the objective
  bool slides = false;  // a memory keeps what neighbours share
  bool ragged = false;  // tiles need not divide the extents
  Span<const int64_t> lengths[kDims] = {};
  Span<const Spread> spreads[kMaxLevels] = {};
  double most_units[kMaxLevels] = {};  // of this level's fanouts and those below
  double least_pj[kMaxLevels] = {};    // of transfers out of this level and those below
  double fixed_pj = 0;
  double all_steps = 0;
  double best = kEver;  // objective to beat
  double open = kEver;  // least bound of a nest that was not looked into
  uint64_t steps = 0;   // of the sets before, too
  uint64_t first = 0;   // step
  bool stopped = false;
  Span<uint32_t> heads = {};
  Label found = {};  // complete
  bool any = false;
};

int Outermost(const Search& search) {
  return static_cast<int>(search.request.hardware.levels.size()) - 1;
}

double LevelCycles(const Search& search, const Label& label, int level) {
  const MemoryLevel& memory =
      search.request.hardware.levels[static_cast<size_t>(level)];
  if (memory.bandwidth.numerator <= 0 || label.instances[level] == 0) return 0;
  return label.bytes[level] / label.instances[level] *
         Real(memory.bandwidth.denominator) / Real(memory.bandwidth.numerator);
}

double Objective(const Search& search, double transfers_pj, double cycles) {
  const double energy = transfers_pj + search.fixed_pj +
                        search.request.hardware.leakage_pj_per_cycle * cycles;
  return MapObjective(search.request.constraints, energy, cycles);
}

// below: the levels whose fanouts are not passed yet, as a number.
double BoundOf(const Search& search, const Label& label, int below) {
  double energy = label.energy_pj, below_steps = 1;
  for (const int32_t length : label.tile) below_steps *= Real(length);
  if (below > 0) {
    below_steps = Max(1.0, below_steps / search.most_units[below - 1]);
    energy += search.least_pj[below - 1];
  }
  const double peak =
      Real(PeakOperations(search.request.problem, search.request.hardware));
  double cycles = Max(label.steps * below_steps, search.all_steps / peak);
  for (int l = 0; l <= Outermost(search); ++l) {
    cycles = Max(cycles, LevelCycles(search, label, l));
  }
  return Objective(search, energy, cycles);
}

int64_t Nearest(double amount) {
  const int64_t whole = static_cast<int64_t>(amount);
  return whole + (amount - Real(whole) >= 0.5 ? 1 : 0);
}

// The cycles of a complete nest, rounded as the model rounds them.
double CyclesOf(const Search& search, const Label& label) {
  const int64_t peak = PeakOperations(search.request.problem, search.request.hardware);
  int64_t cycles = Nearest(label.steps);
  cycles = Max(cycles, CeilDivide(static_cast<int64_t>(search.all_steps), peak));
  for (int l = 0; l <= Outermost(search); ++l) {
    const Rational rate =
        search.request.hardware.levels[static_cast<size_t>(l)].bandwidth;
    if (rate.numerator <= 0) continue;
    const int64_t bytes = Nearest(label.bytes[l]);
    cycles = Max(cycles,
                 TransferCycles(CeilDivide(bytes, Max<int64_t>(1, label.instances[l])),
                                rate.numerator, rate.denominator));
  }
  return Real(Max(int64_t{1}, cycles));
}

// Whether all that the levels further in see is the same but for what is counted.
bool SameView(const Search& search, const Label& a, const Label& b) {
  if (memcmp(a.tile, b.tile, sizeof a.tile) != 0) return false;
  if (memcmp(a.passed.united, b.passed.united, sizeof a.passed.united) != 0)
    return false;
  for (uint32_t v = 0; v < kOperands; ++v) {
    const Path &p = a.passed.path[v], &q = b.passed.path[v];
    if (p.multicast != q.multicast || p.reduction != q.reduction ||
        p.forwarding != q.forwarding) {
      return false;
    }
  }
  const Motion &m = a.passed.motion, &n = b.passed.motion;
  return !search.slides || (m.dim == n.dim && m.trips == n.trips && m.over == n.over &&
                            m.inside == n.inside);
}

// Whether these dims of a group are counted no more often in `a` than in `b`, now and
// further in.
bool NoMore(const Search& search, const Combined a[kDims], const Combined b[kDims],
            uint32_t group) {
  constexpr uint8_t kOf[kGroups + 1][3] = {
      {kDimN, kDimP, kDimQ}, {kDimK}, {kDimC, kDimR, kDimS}, {kDimG}};
  const uint32_t dims = group == kRows || group == kSums ? 3 : 1;
  double p = 1, q = 1;
  for (uint32_t i = 0; i < dims; ++i) {
    const uint8_t d = kOf[group][i];
    if (search.ragged && a[d] > b[d]) return false;
    p *= a[d];
    q *= b[d];
  }
  return p <= q;
}

bool NoWorse(const Search& search, const Passed& a, const Passed& b) {
  const auto &p = a.count, &q = b.count;
  if (!NoMore(search, q[kBeyond], p[kBeyond], kSums)) return false;
  for (uint32_t g = 0; g <= kGroups; ++g) {
    if (g == kSums || search.timed) {
      if (!NoMore(search, q[kUnits], p[kUnits], g)) return false;
    }
    if (g == kGroups) break;
    for (uint32_t c = kRun; c <= kGroupAll; ++c) {
      if (!NoMore(search, p[c], q[c], g)) return false;
    }
  }
  return true;
}

// Whether no nest that begins like `b` is better than the same one begun like `a`.
bool Dominates(const Search& search, const Label& a, const Label& b) {
  if (a.energy_pj > b.energy_pj * (1 + 1e-15)) return false;
  if (!NoWorse(search, a.passed, b.passed)) return false;
  if (!search.timed) return true;
  if (a.steps > b.steps) return false;
  for (int l = 0; l <= Outermost(search); ++l) {
    if (search.request.hardware.levels[static_cast<size_t>(l)].bandwidth.numerator <= 0)
      continue;
    // Instances differ with the units beyond; both must be as good.
    if (a.instances[l] != b.instances[l] &&
        (a.instances[l] == 0 || b.instances[l] == 0 ||
         a.instances[l] < b.instances[l])) {
      return false;
    }
    if (a.bytes[l] > b.bytes[l]) return false;
  }
  return true;
}

Status Insert(Search* search, const Label& label, Vector<Label>* layer) {
  const uint64_t hash = Fnv1aWords(label.tile, sizeof label.tile);
  uint32_t* head = &search->heads[(hash ^ hash >> 32) & (kHeads - 1)];
  uint32_t* link = head;
  while (*link != kNone) {
    Label& other = (*layer)[*link];
    ++search->steps;
    if (SameView(*search, other, label)) {
      if (Dominates(*search, other, label)) return Status::kOk;
      if (Dominates(*search, label, other)) {
        other.dropped = true;
        *link = other.next;
        continue;
      }
    }
    link = &other.next;
  }
  if (layer->size() >= kMostLabels) {
    search->open = Min(search->open, label.bound);
    return Status::kOk;
  }
  SLUICE_TRY(layer->Push(label));
  const uint32_t index = static_cast<uint32_t>(layer->size() - 1);
  (*layer)[index].next = *head;
  *head = index;
  return Status::kOk;
}

// One step: from a label to the tile of the next level inwards.
struct Step {
  const Label& from;
  uint32_t index;
  int level;  // whose loops are chosen
  uint32_t spread;
  Vector<Label>* layer;
};

// Every choice of the innermost loops that differs in what it keeps.
template <typename Visit>
Status ForEachOrder(const Search& search, const int64_t trips[kDims],
                    const Visit& visit) {
  uint32_t looped = 0;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (trips[d] > 1) looped |= 1u << d;
  }
  Loops loops;
  memcpy(loops.trips, trips, sizeof loops.trips);
  bool any = false;
  for (uint8_t g = 0; g <= kGroups; ++g) {
    const bool none = g == kGroups;
    if (none ? any : (looped & kGroupDims[g]) == 0) continue;
    any = true;
    loops.group = g;
    // Loops that may be the innermost one to move the input.
    const uint32_t moves = looped & RelevantDims(kInput);
    const uint32_t first = none || g == kChannels ? moves : moves & kGroupDims[g];
    const uint32_t windows = 1u << kDimP | 1u << kDimQ | 1u << kDimR | 1u << kDimS;
    loops.moving = kDims;
    if (!search.slides || (first & ~windows) != 0 || first == 0) {
      SLUICE_TRY(visit(loops));
    }
    for (uint8_t d = kDimP; d <= kDimS && search.slides; ++d) {
      if ((first >> d & 1) == 0) continue;
      loops.moving = d;
      SLUICE_TRY(visit(loops));
    }
  }
  return Status::kOk;
}

// The loops between a tile and the next one inwards; false if there are none.
bool TripsOf(const Search& search, const Step& step, const int64_t tile[kDims],
             int64_t trips[kDims]) {
  const Spread& spread = search.spreads[step.level][step.spread];
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t inner = tile[d] * spread.units[d];
    const int64_t extent = search.request.problem.extent[d];
    if (search.ragged && step.level == Outermost(search)) {
      trips[d] = CeilDivide(extent, inner);
    } else if (step.from.tile[d] % inner == 0) {
      trips[d] = step.from.tile[d] / inner;
    } else {
      return false;
    }
    // Every loop and every axis has work in its last step.
    if ((trips[d] - 1) * inner >= extent || spread.reach[d] * tile[d] >= extent) {
      return false;
    }
  }
  return true;
}

Status TakeStep(Search* search, const Step& step, const int64_t tile[kDims]) {
  const Spread& spread = search->spreads[step.level][step.spread];
  const MappingProblem& problem = search->request.problem;
  int64_t trips[kDims];
  if (!TripsOf(*search, step, tile, trips)) return Status::kOk;
  return ForEachOrder(*search, trips, [&](const Loops& loops) -> Status {
    ++search->steps;
    Label label = step.from;
    int64_t outer[kDims];
    for (uint32_t d = 0; d < kDims; ++d) {
      label.tile[d] = static_cast<int32_t>(tile[d]);
      label.steps *= Real(trips[d]);
      outer[d] = trips[d] * spread.units[d] * tile[d];
    }
    if (step.level == Outermost(*search)) label.passed = Start(problem, outer);
    Pass(problem, loops, spread, tile, &label.passed);
    if (step.level > 0) {
      label.instances[step.level - 1] = static_cast<int32_t>(Instances(label.passed));
    }
    Sums sums = {};
    Enter(search->model, step.level - 1, tile, &label.passed, &sums);
    label.energy_pj += sums.energy_pj;
    for (int l = 0; l <= Outermost(*search); ++l) label.bytes[l] += sums.bytes[l];
    label.before = step.index;
    label.spread = step.spread;
    label.group = loops.group;
    label.moving = loops.moving;
    label.dropped = false;
    if (step.level > 0) {
      label.bound = BoundOf(*search, label, step.level);
      if (label.bound >= search->best * (1 - kRounding)) return Status::kOk;
      return Insert(search, label, step.layer);
    }
    label.bound = Objective(*search, label.energy_pj, CyclesOf(*search, label));
    if (label.bound >= search->best * (1 - kRounding)) return Status::kOk;
    search->best = label.bound;
    search->found = label;
    search->any = true;
    return Status::kOk;
  });
}

bool AllowsTop(const Search& search, int level, const int64_t tile[kDims]) {
  if (level != Outermost(search) - 1) return true;
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t top = search.request.constraints.top_tile[d];
    const int64_t extent = search.request.problem.extent[d];
    if (top != 0 && Min(tile[d], extent) != Min(top, extent)) return false;
  }
  return true;
}

Status Expand(Search* search, Step step) {
  constexpr int64_t kUnit[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (uint32_t s = 0; s < search->spreads[step.level].size(); ++s) {
    const Spread& spread = search->spreads[step.level][s];
    int64_t within[kDims], tile[kDims];
    const bool whole = search->ragged && step.level == Outermost(*search);
    bool divides = true;
    for (uint32_t d = 0; d < kDims; ++d) {
      const int64_t outer =
          whole ? 2 * search->request.problem.extent[d] - 1 : step.from.tile[d];
      divides = divides && (whole || outer % spread.units[d] == 0);
      within[d] = whole ? outer : outer / spread.units[d];
      tile[d] = 1;
    }
    if (!divides) continue;
    step.spread = s;
    if (step.level == 0) {
      SLUICE_TRY(TakeStep(search, step, kUnit));
      continue;
    }
    const uint32_t inner = static_cast<uint32_t>(step.level - 1);
    if (!Fits(search->model, inner, kUnit)) continue;
    Status status = Status::kOk;
    ForEachTile({search->model, search->lengths, inner, within, whole}, tile, 0,
                [&](const int64_t* at) {
                  if (!AllowsTop(*search, step.level - 1, at)) return true;
                  status = TakeStep(search, step, at);
                  return status == Status::kOk;
                });
    SLUICE_TRY(status);
    if (search->budget->Tick() || search->steps >= kMostSteps) {
      search->stopped = true;
      search->open = Min(search->open, step.from.bound);
      break;
    }
  }
  return Status::kOk;
}

bool LimitsTakeLong(const Search& search) {
  return search.steps - search.first >= kMostLimits || search.steps >= kMostSteps;
}

// What transfers out of a level cost at least, whatever stands above it.
void LimitLevel(Search* search, int level) {
  double least = kEver, most = 1;
  const int64_t unit[kDims] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (const Spread& spread : search->spreads[level]) {
    double units = 1;
    int64_t within[kDims], tile[kDims];
    for (uint32_t d = 0; d < kDims; ++d) {
      units *= spread.units[d];
      const int64_t extent = search->request.problem.extent[d];
      within[d] = search->ragged ? 2 * extent - 1 : extent / spread.units[d];
      tile[d] = 1;
    }
    most = Max(most, units);
    if (LimitsTakeLong(*search)) continue;
    const auto visit = [&](const int64_t* at) {
      for (uint8_t g = 0; g < kGroups; ++g) {
        least = Min(least, LeastEnter(search->model, level - 1, at, spread, g));
      }
      search->steps += kGroups;
      return !LimitsTakeLong(*search);
    };
    if (level == 0) {
      visit(unit);
    } else if (Fits(search->model, static_cast<uint32_t>(level - 1), unit)) {
      ForEachTile({search->model, search->lengths, static_cast<uint32_t>(level - 1),
                   within, search->ragged},
                  tile, 0, visit);
    }
  }
  if (LimitsTakeLong(*search)) {
    search->stopped = true;
    least = 0;
  }
  const double below_pj = level == 0 ? 0 : search->least_pj[level - 1];
  search->least_pj[level] = least == kEver ? kEver : below_pj + Max(0.0, least);
  search->most_units[level] = most * (level == 0 ? 1 : search->most_units[level - 1]);
}

Status ListLengths(const Search& search, int64_t extent, Vector<int64_t>* lengths) {
  if (!search.ragged) return conv_exact::ListDivisors(extent, lengths);
  // The last step of a loop has work, so that a tile is shorter than twice the extent.
  for (int64_t length = 1; length < 2 * extent; ++length) {
    SLUICE_TRY(lengths->Push(length));
  }
  return Status::kOk;
}

Status Prepare(Search* search) {
  const MappingProblem& problem = search->request.problem;
  const Hardware& hardware = search->request.hardware;
  search->all_steps = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    Vector<int64_t> list(search->arena);
    SLUICE_TRY(ListLengths(*search, problem.extent[d], &list));
    search->lengths[d] = list.span();
    search->all_steps *= Real(problem.extent[d]);
  }
  search->fixed_pj = (problem.vector ? hardware.vector_op_pj : hardware.mac_pj) *
                     Real(OperationCount(problem));
  for (int l = 0; l <= Outermost(*search); ++l) {
    search->slides = search->slides || hardware.levels[static_cast<size_t>(l)].sliding;
    Vector<Spread> list(search->arena);
    SLUICE_TRY(ListSpreads(problem, hardware, static_cast<uint32_t>(l), search->ragged,
                           &list));
    search->spreads[l] = list.span();
    LimitLevel(search, l);
  }
  const auto& constraints = search->request.constraints;
  search->timed = constraints.delay_exponent > 0 || hardware.leakage_pj_per_cycle > 0;
  return Status::kOk;
}

// Writes the loops of one level into the nest.
void WriteLoops(const Search& search, const Label& label, const int32_t outer[kDims],
                uint32_t level, LoopNest* nest) {
  const Spread& spread = search.spreads[level][label.spread];
  for (uint32_t d = 0; d < kDims; ++d) {
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      nest->spatial[level][a][d] = spread.factor[a][d];
    }
    // The outermost level has what is left; the others divide.
    nest->temporal[level][d] =
        CeilDivide(int64_t{outer[d]}, int64_t{label.tile[d]} * spread.units[d]);
  }
  uint32_t left = kAllDims, at = 0;
  const auto put = [&](uint32_t dims) {
    for (uint32_t d = 0; d < kDims; ++d) {
      if ((dims & left) >> d & 1) nest->order[level][at++] = static_cast<uint8_t>(d);
    }
    left &= ~dims;
  };
  const uint32_t group = label.group < kGroups ? kGroupDims[label.group] : 0;
  const uint32_t moving = label.moving < kDims ? 1u << label.moving : 0;
  const uint32_t windows = 0xfu << kDimP;
  if ((group & moving) == 0 && label.group != kChannels) put(group & ~windows);
  if ((group & moving) != 0) put(moving);
  put(group);
  put(moving);
  put(kAllDims & ~windows);
  put(kAllDims);
}

void WriteNest(const Search& search, const Vector<Label>* layers, LoopNest* nest) {
  const int last = Outermost(search);
  Label label = search.found;
  for (int l = 0; l <= last; ++l) {
    const Label& above = layers[l][label.before];
    WriteLoops(search, label, above.tile, static_cast<uint32_t>(l), nest);
    label = above;
  }
  for (int l = 0; l <= last; ++l) {
    nest->hold[l] = static_cast<uint8_t>(search.model.hold[l]);
  }
}

Status SearchLayers(Search* search, LoopNest* nest) {
  const int last = Outermost(*search);
  Vector<Label> layers[kMaxLevels] = {
      Vector<Label>(search->arena), Vector<Label>(search->arena),
      Vector<Label>(search->arena), Vector<Label>(search->arena),
      Vector<Label>(search->arena), Vector<Label>(search->arena)};
  Label root = {};
  root.steps = 1;
  root.instances[last] = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    root.tile[d] = static_cast<int32_t>(search->request.problem.extent[d]);
  }
  root.bound = BoundOf(*search, root, last + 1);
  SLUICE_TRY(layers[last].Push(root));
  for (int l = last; l >= 0; --l) {
    for (uint32_t& head : search->heads) head = kNone;
    for (uint32_t i = 0; i < layers[l].size(); ++i) {
      const Label from = layers[l][i];
      if (from.dropped || from.bound >= search->best * (1 - kRounding)) continue;
      search->stopped = search->stopped || search->steps >= kMostSteps;
      if (search->stopped) {
        search->open = Min(search->open, from.bound);
        continue;
      }
      SLUICE_TRY(Expand(search, {from, i, l, 0, l == 0 ? nullptr : &layers[l - 1]}));
    }
  }
  if (search->any) WriteNest(*search, layers, nest);
  return Status::kOk;
}

// Every set of operands that the levels may hold, largest first.
bool NextHold(const NestRequest& request, uint32_t hold[kMaxLevels]) {
  const size_t last = request.hardware.levels.size() - 1;
  for (size_t l = 0; l < last && request.constraints.bypass; ++l) {
    const MemoryLevel& level = request.hardware.levels[l];
    const uint32_t may = level.may_hold & request.problem.operands;
    const uint32_t must = may & level.must_hold, now = hold[l] & may & ~must;
    if (now != 0) {
      hold[l] = must | ((now - 1) & may & ~must);
      return true;
    }
    hold[l] = may;
  }
  return false;
}

// *open: the least bound of what was not looked into.
Status SearchHolds(const NestRequest& request, Budget* budget, Arena* arena,
                   bool ragged, MappedNest* mapped, double* open) {
  LoopNest nest = EmptyNest(request.hardware, request.problem);
  uint32_t hold[kMaxLevels];
  for (uint32_t l = 0; l < kMaxLevels; ++l) hold[l] = nest.hold[l];
  do {
    ArenaScope scope(arena);
    Search search = {request, MakeModel(request, hold), budget, arena};
    search.best = mapped->objective;
    search.ragged = ragged;
    search.steps = search.first = static_cast<uint64_t>(mapped->evaluated);
    SLUICE_TRY(arena->Allocate(kHeads, &search.heads));
    SLUICE_TRY(Prepare(&search));
    SLUICE_TRY(SearchLayers(&search, &nest));
    mapped->evaluated = static_cast<int64_t>(search.steps);
    *open = Min(*open, search.open);
    if (!search.any) continue;
    mapped->objective = search.best;
    mapped->nest = nest;
  } while (NextHold(request, hold));
  return Status::kOk;
}

}  // namespace
}  // namespace nest_exact

Status MapNestExact(const NestRequest& request, NestSpace space, Budget* budget,
                    Arena* arena, MappedNest* mapped, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckProblem(request.problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(request.hardware, diagnostic));
  const auto fail = [&](Status status, const char* why) -> Status {
    return Fail(diagnostic, status, "mapping").Text(why);
  };
  if (request.constraints.outer != nullptr) {
    return fail(Status::kUnsupported, "the outermost level is shared by nodes");
  }
  *mapped = MappedNest{};
  mapped->objective =
      request.constraints.upper > 0 ? request.constraints.upper : nest_exact::kEver;
  double open = nest_exact::kEver;
  const Status status = nest_exact::SearchHolds(
      request, budget, arena, space == NestSpace::kRagged, mapped, &open);
  if (status == Status::kUnsupported) {
    return fail(status, "there are too many ways to fill the array");
  }
  SLUICE_TRY(status);
  mapped->bound = Min(open, mapped->objective);
  mapped->proved = open >= mapped->objective * (1 - nest_exact::kRounding);
  if (mapped->nest.levels == 0) {
    if (request.constraints.upper > 0 || !mapped->proved) return Status::kOk;
    return fail(Status::kInfeasible, "no nest of the space fits");
  }
  CostOptions options;
  options.resident = request.constraints.resident;
  return EvaluateNest(request.problem, request.hardware, mapped->nest, options,
                      &mapped->cost, diagnostic);
}

}  // namespace sluice
