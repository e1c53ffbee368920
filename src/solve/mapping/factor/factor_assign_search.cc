// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_assign_search.h"

#include "base/checked.h"
#include "solve/mapping/factor/factor_assign_log.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();
constexpr double kMargin = 1e-9;  // labels that gain less are dropped
constexpr uint32_t kEmpty = 0xffffffffu;
// Rounds of subgradient ascent: for the whole case, and for what is left of it on the
// way; after kPatience rounds without a better bound the pace halves.
constexpr int kTuningRounds = 120;
constexpr int kRetuningRounds = 30;
constexpr int kPatience = 6;
constexpr size_t kFewLabels = 48;    // not worth pruning
constexpr int kPrunings = 6;         // of one layer, at most
constexpr int kMaxKindsLeft = 70;    // as kMaxKinds: ten different primes of each dim
constexpr size_t kFirstPool = 4096;  // labels; four times as many when it is full

double ReducedCost(const FactorChoice& choice, const double multipliers[]) {
  double sum = choice.cost;
  for (int i = 0; i < choice.load_count; ++i) {
    const int l = choice.loaded[i];
    sum += multipliers[l] * choice.log_load[l];
  }
  return sum;
}

// The rest of a label's problem: the factors from `at` on, the room of each limit.
struct Residue {
  size_t at;
  double cost;  // already paid
  const uint32_t* room;
};

bool FitsRoom(const FactorChoice& choice, const uint32_t room[]) {
  for (int i = 0; i < choice.load_count; ++i) {
    const int l = choice.loaded[i];
    if (choice.load[l] > room[l]) return false;
  }
  return true;
}

// Calls visit(item, times) for the kinds of the factors from `at` on.
template <typename Visit>
void ForKinds(const FactorCase& problem, size_t at, const Visit& visit) {
  const size_t end = problem.kind_of.size();
  for (size_t i = at, next; i < end; i = next) {
    for (next = i + 1; next < end && problem.kind_of[next] == problem.kind_of[i];)
      ++next;
    visit(problem.kind_of[i], static_cast<double>(next - i));
  }
}

// The bound that multipliers give a residue, and its slope in each of them.
double BoundOf(const FactorCase& problem, const Residue& residue, const double now[],
               double slope[]) {
  const int limits = problem.limit_count;
  double bound = residue.cost;
  for (int l = 0; l < limits; ++l) {
    const double room = Log2Above(residue.room[l]);
    bound -= now[l] * room;
    slope[l] = -room;
  }
  ForKinds(problem, residue.at, [&](uint8_t kind, double times) {
    const FactorItem& item = problem.kinds[kind];
    double least = kInfinity;
    const FactorChoice* pick = nullptr;
    for (int c = 0; c < item.choice_count; ++c) {
      const FactorChoice& choice = item.choice[c];
      if (!FitsRoom(choice, residue.room)) continue;
      const double reduced = ReducedCost(choice, now);
      if (reduced < least) {
        least = reduced;
        pick = &choice;
      }
    }
    bound += times * least;
    if (pick == nullptr) return;
    for (int i = 0; i < pick->load_count; ++i) {
      const int l = pick->loaded[i];
      slope[l] += times * pick->log_load[l];
    }
  });
  return bound;
}

// Subgradient ascent; the pace halves when it stalls.
void Tune(const FactorCase& problem, const Residue& residue, double target, int rounds,
          FactorMultipliers* best) {
  const int limits = problem.limit_count;
  best->bound = -kInfinity;
  double now[kMaxLimits];
  for (int l = 0; l < limits; ++l) now[l] = best->value[l];
  double pace = 1;
  int stale = 0;
  for (int round = 0; round < rounds; ++round) {
    double slope[kMaxLimits];
    const double bound = BoundOf(problem, residue, now, slope);
    if (bound > best->bound) {
      best->bound = bound;
      for (int l = 0; l < limits; ++l) best->value[l] = now[l];
      stale = 0;
      if (bound >= target) break;
    } else if (++stale == kPatience) {
      pace *= 0.5;
      stale = 0;
      for (int l = 0; l < limits; ++l) now[l] = best->value[l];
      continue;
    }
    double norm = 0;
    for (int l = 0; l < limits; ++l) norm += slope[l] * slope[l];
    if (norm == 0) break;
    double gap = target - bound;
    if (!(gap < kInfinity)) gap = 1 + 0.05 * (bound < 0 ? -bound : bound);
    gap = Max(gap, 0.01);
    for (int l = 0; l < limits; ++l) {
      now[l] = Max(0.0, now[l] + pace * gap / norm * slope[l]);
    }
  }
}

struct Label {
  double cost;
  double bound;
  uint32_t parent;
  uint8_t choice;
  uint8_t flags;
};

// What is known of the factors from a given one on.
struct Rest {
  double least;               // sum of least reduced costs
  uint32_t most[kMaxLimits];  // product of largest loads, at most the limit
  bool binary[kMaxLimits];    // all loads are powers of two
  uint8_t flags;              // that can still be set
};

struct Search {
  const FactorCase* problem;
  const double* multipliers;
  Span<Rest> rest;
  Span<Label> labels;         // pool, layer after layer
  Span<uint32_t> room;        // per label and limit: what is left of the limit
  Span<uint32_t> table;       // of the layer being made, by hash
  size_t table_mask;          // the part of it in use
  FactorMultipliers retuned;  // to the labels of the layer
  size_t size;
  size_t layer_begin;  // labels being extended
  size_t layer_end;
  double beat;
};

uint32_t Normalise(uint32_t room, const Rest& rest, int l) {
  if (room >= rest.most[l]) return rest.most[l];
  return rest.binary[l] ? 1u << (31 - __builtin_clz(room)) : room;
}

size_t HashOf(const uint32_t room[], int limits, uint8_t flags) {
  uint64_t hash = flags;
  for (int l = 0; l < limits; ++l) hash = (hash ^ room[l]) * 0x9e3779b97f4a7c15u;
  return static_cast<size_t>(hash ^ hash >> 29);
}

// The label of this layer with the same room and flags, or a free slot.
uint32_t* FindSlot(Search* s, const uint32_t room[], uint8_t flags) {
  const int limits = s->problem->limit_count;
  const size_t mask = s->table_mask;
  for (size_t i = HashOf(room, limits, flags) & mask;; i = (i + 1) & mask) {
    uint32_t& slot = s->table[i];
    if (slot == kEmpty) return &slot;
    if (s->labels[slot].flags != flags) continue;
    const uint32_t* other = &s->room[slot * static_cast<size_t>(limits)];
    if (memcmp(other, room, static_cast<size_t>(limits) * sizeof *room) == 0) {
      return &slot;
    }
  }
}

// Extends one label by one choice of factor `at`. False when the pool is full.
bool Extend(Search* s, size_t at, uint32_t parent, int c, const FactorChoice& choice) {
  const int limits = s->problem->limit_count;
  const Rest& rest = s->rest[at + 1];
  const Label& from = s->labels[parent];
  const uint32_t* have = &s->room[parent * static_cast<size_t>(limits)];
  const uint8_t flags = from.flags | choice.flags;
  if (((flags | rest.flags) & s->problem->required) != s->problem->required)
    return true;
  uint32_t room[kMaxLimits];
  const double cost = from.cost + choice.cost;
  double bound = cost + rest.least;
  for (int l = 0; l < limits; ++l) {
    if (choice.load[l] > have[l]) return true;
    const uint32_t left = choice.load[l] == 1 ? have[l] : have[l] / choice.load[l];
    room[l] = Normalise(left, rest, l);
    if (s->multipliers[l] != 0) bound -= s->multipliers[l] * Log2Above(room[l]);
  }
  if (!(bound < s->beat - kMargin)) return true;
  uint32_t* slot = FindSlot(s, room, flags);
  if (*slot == kEmpty) {
    if (s->size == s->labels.size()) return false;
    *slot = static_cast<uint32_t>(s->size);
    memcpy(&s->room[s->size * static_cast<size_t>(limits)], room,
           static_cast<size_t>(limits) * sizeof *room);
    ++s->size;
  } else if (!(cost < s->labels[*slot].cost)) {
    return true;
  }
  bound = Max(bound, from.bound);
  s->labels[*slot] = {cost, bound, parent, static_cast<uint8_t>(c), flags};
  return true;
}

// Keeps the `width` labels of the new layer with the least bounds, in order.
void Trim(Search* s, size_t begin, size_t width) {
  const size_t limits = static_cast<size_t>(s->problem->limit_count);
  for (size_t kept = begin; kept < s->size && kept < begin + width; ++kept) {
    size_t best = kept;
    for (size_t i = kept + 1; i < s->size; ++i) {
      if (s->labels[i].bound < s->labels[best].bound) best = i;
    }
    if (best == kept) continue;
    const Label label = s->labels[kept];
    s->labels[kept] = s->labels[best];
    s->labels[best] = label;
    for (size_t l = 0; l < limits; ++l) {
      const uint32_t room = s->room[kept * limits + l];
      s->room[kept * limits + l] = s->room[best * limits + l];
      s->room[best * limits + l] = room;
    }
  }
  s->size = Min(s->size, begin + width);
}

// Bounds all new labels with these multipliers and drops those at or above the value to
// beat.
void ApplyMultipliers(Search* s, size_t at, const double multipliers[]) {
  const FactorCase& problem = *s->problem;
  const size_t limits = static_cast<size_t>(problem.limit_count);
  double reduced[kMaxKindsLeft][kMaxChoices];
  int kinds = 0;
  ForKinds(problem, at, [&](uint8_t kind, double) {
    const FactorItem& item = problem.kinds[kind];
    for (int c = 0; c < item.choice_count; ++c) {
      reduced[kinds][c] = ReducedCost(item.choice[c], multipliers);
    }
    ++kinds;
  });
  size_t kept = s->layer_end;
  for (size_t i = s->layer_end; i < s->size; ++i) {
    const uint32_t* room = &s->room[i * limits];
    double bound = s->labels[i].cost;
    for (size_t l = 0; l < limits; ++l) {
      if (multipliers[l] != 0) bound -= multipliers[l] * Log2Above(room[l]);
    }
    int k = 0;
    ForKinds(problem, at, [&](uint8_t kind, double times) {
      const FactorItem& item = problem.kinds[kind];
      double least = kInfinity;
      for (int c = 0; c < item.choice_count; ++c) {
        if (reduced[k][c] < least && FitsRoom(item.choice[c], room)) {
          least = reduced[k][c];
        }
      }
      bound += times * least;
      ++k;
    });
    if (!(bound < s->beat - kMargin)) continue;
    s->labels[kept] = s->labels[i];
    s->labels[kept].bound = Max(s->labels[kept].bound, bound);
    memmove(&s->room[kept * limits], room, limits * sizeof *room);
    ++kept;
  }
  s->size = kept;
}

// Multipliers tuned to the weakest label of the new layer, as long as they drop many.
void Prune(Search* s, size_t at) {
  for (int i = 0; i < kPrunings; ++i) {
    const size_t before = s->size - s->layer_end;
    if (before < kFewLabels) return;
    size_t weakest = s->layer_end;
    for (size_t k = weakest; k < s->size; ++k) {
      if (s->labels[k].bound < s->labels[weakest].bound) weakest = k;
    }
    const Residue residue = {
        at, s->labels[weakest].cost,
        &s->room[weakest * static_cast<size_t>(s->problem->limit_count)]};
    Tune(*s->problem, residue, s->beat, kRetuningRounds, &s->retuned);
    ApplyMultipliers(s, at, s->retuned.value);
    if (s->size - s->layer_end > before - before / 8) return;
  }
}

enum class Outcome { kDone, kFull, kStopped };

// All layers; `width` 0 keeps every label.
Outcome Run(Search* s, size_t width, Budget* budget, FactorPick* pick) {
  const FactorCase& problem = *s->problem;
  const int limits = problem.limit_count;
  s->size = 1;
  s->labels[0] = {};
  s->labels[0].bound = -kInfinity;
  for (int l = 0; l < limits; ++l) {
    s->room[l] = Normalise(problem.limit[l], s->rest[0], l);
  }
  s->layer_begin = 0;
  s->layer_end = 1;
  for (size_t at = 0; at < problem.kind_of.size(); ++at) {
    const FactorItem& item = problem.kinds[problem.kind_of[at]];
    const size_t parents = s->layer_end - s->layer_begin;
    const size_t most = 2 * parents * static_cast<size_t>(item.choice_count);
    size_t slots = 16;
    while (slots < most && slots < s->table.size()) slots *= 2;
    s->table_mask = slots - 1;
    memset(s->table.data(), 0xff, slots * sizeof(uint32_t));
    for (size_t parent = s->layer_begin; parent < s->layer_end; ++parent) {
      if (budget->Tick()) return Outcome::kStopped;
      for (int c = 0; c < item.choice_count; ++c) {
        if (!Extend(s, at, static_cast<uint32_t>(parent), c, item.choice[c])) {
          return Outcome::kFull;
        }
      }
    }
    if (width == 0) {
      Prune(s, at + 1);
    } else {
      Trim(s, s->layer_end, width);
    }
    s->layer_begin = s->layer_end;
    s->layer_end = s->size;
  }
  pick->labels += static_cast<int64_t>(s->size);
  // At the end all rooms are normalised to equal values, so at most one label per set
  // of flags remains.
  uint32_t best = kEmpty;
  for (size_t i = s->layer_begin; i < s->layer_end; ++i) {
    if (best == kEmpty || s->labels[i].cost < s->labels[best].cost) {
      best = static_cast<uint32_t>(i);
    }
  }
  if (best == kEmpty || !(s->labels[best].cost < s->beat)) return Outcome::kDone;
  pick->found = true;
  pick->cost = s->beat = s->labels[best].cost;
  for (size_t at = problem.kind_of.size(); at > 0; --at) {
    pick->choices[at - 1] = s->labels[best].choice;
    best = s->labels[best].parent;
  }
  return Outcome::kDone;
}

void FillRest(const FactorCase& problem, const double multipliers[], Span<Rest> rest) {
  const int limits = problem.limit_count;
  Rest tail = {};
  for (int l = 0; l < limits; ++l) {
    tail.most[l] = 1;
    tail.binary[l] = true;
  }
  rest[problem.kind_of.size()] = tail;
  for (size_t at = problem.kind_of.size(); at > 0; --at) {
    const FactorItem& item = problem.kinds[problem.kind_of[at - 1]];
    double least = kInfinity;
    for (int c = 0; c < item.choice_count; ++c) {
      least = Min(least, ReducedCost(item.choice[c], multipliers));
      tail.flags |= item.choice[c].flags;
    }
    tail.least += least;
    for (int l = 0; l < limits; ++l) {
      uint32_t most = 1;
      for (int c = 0; c < item.choice_count; ++c) {
        most = Max(most, item.choice[c].load[l]);
        if (!IsPowerOfTwo(item.choice[c].load[l])) tail.binary[l] = false;
      }
      const uint64_t product = uint64_t{tail.most[l]} * most;
      tail.most[l] = static_cast<uint32_t>(Min<uint64_t>(product, problem.limit[l]));
    }
    rest[at - 1] = tail;
  }
}

Status MakePool(size_t labels, int limits, Arena* arena, Search* s) {
  SLUICE_TRY(arena->Allocate(labels, &s->labels));
  SLUICE_TRY(arena->Allocate(labels * static_cast<size_t>(limits) + 1, &s->room));
  return arena->Allocate(2 * labels, &s->table);
}

}  // namespace

void TuneMultipliers(const FactorCase& problem, double target,
                     FactorMultipliers* multipliers) {
  const Residue whole = {0, 0, problem.limit};
  Tune(problem, whole, target, kTuningRounds, multipliers);
}

Status SearchFactors(const FactorQuery& query, Arena* arena, Budget* budget,
                     FactorPick* pick) {
  const FactorCase& problem = query.problem;
  ArenaScope scope(arena);
  pick->found = false;
  pick->stopped = false;
  Search s = {};
  s.problem = &problem;
  s.multipliers = query.multipliers.value;
  s.beat = query.beat;
  SLUICE_TRY(arena->Allocate(problem.kind_of.size() + 1, &s.rest));
  s.retuned = query.multipliers;
  FillRest(problem, query.multipliers.value, s.rest);
  for (size_t pool = kFirstPool;; pool *= 4) {
    const Arena::Mark mark = arena->mark();
    SLUICE_TRY(MakePool(pool, problem.limit_count, arena, &s));
    const Outcome outcome = Run(&s, query.width, budget, pick);
    arena->Rewind(mark);
    const bool too_many = query.most != 0 && pool >= query.most;
    if (outcome == Outcome::kFull && !too_many) continue;
    pick->stopped = outcome != Outcome::kDone;
    return Status::kOk;
  }
}

}  // namespace sluice
