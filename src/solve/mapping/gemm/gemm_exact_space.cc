// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/gemm/gemm_exact_space.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr double kInfinity = __builtin_huge_val();
constexpr double kUnknown = -kInfinity;

// Variants of an axis table: where the datum lives and what limits its tile alone.
constexpr int kNotInner = 0;  // + in_middle
constexpr int kInner = 2;     // + 2 * (others in the PEs - 1) + in_middle, not walking
constexpr int kWalks = 6;     // + 3 * in_middle + other data in the middle memory
constexpr int kStays = 12;    // its tile in the middle is as long as the extent
constexpr int kStaysMiddle = 13;  // + others in the PEs - 1

int Count(uint8_t holds) { return __builtin_popcount(holds); }
bool Has(uint8_t holds, int d) { return (holds >> d & 1) != 0; }

// Divisors of n, ascending.
Status ListDivisors(int64_t n, Arena* arena, Span<const uint32_t>* out) {
  struct PrimePower {
    uint32_t prime;
    uint32_t exponent;
  } powers[10];  // the product of the first ten primes exceeds 2^31
  int power_count = 0;
  uint32_t rest = static_cast<uint32_t>(n);
  size_t count = 1;
  for (uint32_t p = 2; uint64_t{p} * p <= rest; p += p == 2 ? 1 : 2) {
    if (rest % p != 0) continue;
    uint32_t exponent = 0;
    for (; rest % p == 0; rest /= p) ++exponent;
    powers[power_count++] = {p, exponent};
    count *= exponent + 1;
  }
  if (rest > 1) {
    powers[power_count++] = {rest, 1};
    count *= 2;
  }
  Span<uint32_t> list;
  SLUICE_TRY(arena->Allocate(count, &list));
  list[0] = 1;
  size_t size = 1;
  for (int i = 0; i < power_count; ++i) {
    const size_t before = size;
    uint32_t factor = 1;
    for (uint32_t e = 0; e < powers[i].exponent; ++e) {
      factor *= powers[i].prime;
      for (size_t k = 0; k < before; ++k) list[size++] = list[k] * factor;
    }
  }
  for (size_t i = 1; i < size; ++i) {  // runs of sorted lists: insertion is short
    const uint32_t value = list[i];
    size_t k = i;
    for (; k > 0 && list[k - 1] > value; --k) list[k] = list[k - 1];
    list[k] = value;
  }
  *out = list;
  return Status::kOk;
}

int64_t FanoutLimit(const GemmSpace& space, int d) {
  const int64_t limit = space.machine->fanout_limit[d];
  const int64_t pes = space.machine->pe_count;
  return limit == 0 ? pes : Min(limit, pes);
}

Status ListSpatial(GemmSpace* space, Arena* arena) {
  const int64_t pes = space->machine->pe_count;
  const bool exact = space->options.objective != GemmObjective::kDelay &&
                     space->options.pe_use == GemmPeUse::kExact;
  for (int d = 0; d < kGemmAxes; ++d) {
    const int64_t limit = FanoutLimit(*space, d);
    Vector<uint32_t> list(arena);
    SLUICE_TRY(list.Reserve(space->divisors[d].size()));
    for (const uint32_t s : space->divisors[d]) {
      if (s > limit) break;
      if (exact && pes % s != 0) continue;
      SLUICE_TRY(list.Push(s));
    }
    if (list.size() > UINT16_MAX) return Status::kUnsupported;
    space->spatial[d] = list.span();
  }
  return Status::kOk;
}

// Calls visit(split, PEs) for all splits with PEs in [least, most].
template <typename Visit>
Status ForEachSplit(const GemmSpace& space, int64_t least, int64_t most, Budget* budget,
                    const Visit& visit) {
  for (size_t i = 0; i < space.spatial[0].size(); ++i) {
    for (size_t j = 0; j < space.spatial[1].size(); ++j) {
      if (budget->Tick()) return Status::kStopped;
      const int64_t xy = int64_t{space.spatial[0][i]} * space.spatial[1][j];
      if (xy > most) break;
      for (size_t k = 0; k < space.spatial[2].size(); ++k) {
        const int64_t pes = xy * space.spatial[2][k];
        if (pes > most) break;
        if (pes < least) continue;
        GemmSplit split = {{static_cast<uint16_t>(i), static_cast<uint16_t>(j),
                            static_cast<uint16_t>(k)},
                           1.0 / static_cast<double>(pes)};
        SLUICE_TRY(visit(split, pes));
      }
    }
  }
  return Status::kOk;
}

Status ListSplits(GemmSpace* space, Arena* arena, Budget* budget,
                  Diagnostic* diagnostic) {
  const int64_t pes = space->machine->pe_count;
  int64_t least = space->options.pe_use == GemmPeUse::kExact ? pes : 1;
  int64_t most = 1;
  size_t count = 0;
  if (space->options.objective == GemmObjective::kDelay) {
    SLUICE_TRY(
        ForEachSplit(*space, 1, pes, budget, [&most](const GemmSplit&, int64_t used) {
          most = Max(most, used);
          return Status::kOk;
        }));
    least = most;
  }
  const int64_t bound = space->options.objective == GemmObjective::kDelay ? most : pes;
  SLUICE_TRY(
      ForEachSplit(*space, least, bound, budget, [&](const GemmSplit&, int64_t used) {
        most = Max(most, used);
        ++count;
        return Status::kOk;
      }));
  if (count == 0) {
    return Fail(diagnostic, Status::kInfeasible, "mapping")
        .Say(
            "no split of # x # x # uses exactly # PEs within the fanout limits; at "
            "most may",
            space->shape->extent[0], space->shape->extent[1], space->shape->extent[2],
            pes);
  }
  SLUICE_TRY(arena->Allocate(count, &space->splits));
  size_t n = 0;
  SLUICE_TRY(
      ForEachSplit(*space, least, bound, budget, [&](const GemmSplit& split, int64_t) {
        space->splits[n++] = split;
        return Status::kOk;
      }));
  space->most_pes = most;
  return Status::kOk;
}

// The longest divisor of `bound` up to `longest`; 0 when longest < 1.
uint32_t LongestDivisor(Span<const uint32_t> divisors, uint32_t bound,
                        int64_t longest) {
  if (longest >= bound) return bound;
  for (size_t i = divisors.size(); i > 0; --i) {
    const uint32_t length = divisors[i - 1];
    if (length <= longest && bound % length == 0) return length;
  }
  return 0;
}

double Over(double weight, uint32_t length) {
  if (length == 0) return kInfinity;
  return weight / static_cast<double>(length);
}

// The bound of one axis, with all others as small as possible.
double AxisBound(const GemmSpace& space, int d, int variant, uint32_t s) {
  const Span<const uint32_t> divisors = space.divisors[d];
  const uint32_t extent = static_cast<uint32_t>(space.shape->extent[d]);
  const int64_t middle = space.machine->middle_words;
  const int64_t inner = space.machine->inner_words;
  if (variant < kInner) {
    return InnerTerms(space, d, variant == 1, false, false, s).fixed;
  }
  if (variant < kWalks) {
    const int others = (variant - kInner) / 2 + 1;
    const bool in_middle = (variant - kInner) % 2 != 0;
    const DatumTerms t = InnerTerms(space, d, in_middle, true, false, s);
    const uint32_t longest = LongestDivisor(divisors, extent / s, (inner - 1) / others);
    return t.fixed + Over(t.inner_weight, longest);
  }
  if (variant < kStays) {
    const int others = (variant - kWalks) % 3;
    const bool in_middle = variant - kWalks >= 3;
    const DatumTerms t = InnerTerms(space, d, in_middle, true, true, s);
    const int64_t room = others == 0 ? extent : (middle - (in_middle ? 1 : 0)) / others;
    return t.fixed + Over(t.middle_weight, LongestDivisor(divisors, extent, room));
  }
  if (variant == kStays) {
    // The walking datum's traffic once: L1 as long as the extent.
    const DatumTerms t = InnerTerms(space, d, false, true, true, s);
    return t.fixed + Over(t.middle_weight, extent);
  }
  const int others = variant - kStaysMiddle + 1;
  const DatumTerms t = InnerTerms(space, d, true, false, false, s);
  const DatumTerms outer = OuterTerms(space, d, true, false);
  const uint32_t longest = LongestDivisor(divisors, extent / s, inner / others);
  return t.fixed + outer.fixed +
         Over(outer.middle_weight / static_cast<double>(s), longest);
}

Status FillAxisTables(GemmSpace* space, Arena* arena) {
  for (int d = 0; d < kGemmAxes; ++d) {
    const size_t n = space->spatial[d].size();
    for (int variant = 0; variant < kGemmVariants; ++variant) {
      Span<double>& table = space->axis_bound[d][variant];
      SLUICE_TRY(arena->Allocate(n, &table));
      double least = kInfinity;
      for (size_t i = 0; i < n; ++i) {
        table[i] = AxisBound(*space, d, variant, space->spatial[d][i]);
        least = Min(least, table[i]);
      }
      space->axis_least[d][variant] = least;
    }
  }
  return Status::kOk;
}

// The least outer traffic with s PEs along the walking axis.
double OuterBound(GemmSpace* space, uint8_t holds, int walk, uint32_t s) {
  TileProblem problem = {};
  problem.holds = holds;
  problem.words = space->machine->middle_words;
  double fixed = 0;
  for (int d = 0; d < kGemmAxes; ++d) {
    problem.step[d] = d == walk ? s : 1;
    problem.bound[d] = static_cast<uint32_t>(space->shape->extent[d]);
    const DatumTerms t = OuterTerms(*space, d, Has(holds, d), d == walk);
    problem.weight[d] = t.middle_weight;
    fixed += t.fixed;
  }
  uint32_t best[kGemmAxes];
  return fixed + BestTile(space->divisors, problem, space->scratch, best);
}

int VariantOf(int d, uint8_t middle, uint8_t inner, int walk_middle) {
  const bool in_middle = Has(middle, d);
  if (!Has(inner, d)) return kNotInner + in_middle;
  if (d == walk_middle) {
    return kWalks + 3 * in_middle + Count(middle) - in_middle;
  }
  return kInner + 2 * (Count(inner) - 2) + in_middle;
}

void AddBranch(GemmSpace* space, GemmBranch branch, size_t* count) {
  double energy = 0;
  if (branch.stays) {
    for (int d = 0; d < kGemmAxes; ++d)
      energy += space->axis_least[d][branch.variant[d]];
  } else {
    energy = space->outer_bound[branch.row][0];
    for (int d = 0; d < kGemmAxes; ++d)
      energy += space->axis_least[d][branch.variant[d]];
  }
  branch.bound =
      GemmObjectiveOf(*space, energy, 1.0 / static_cast<double>(space->most_pes));
  space->branches[(*count)++] = branch;
}

// The axes along which the loops of a level may walk: those whose datum the level
// holds. A level that holds no datum walks along axis 0.
bool MayWalk(uint8_t holds, int axis) {
  return holds == 0 ? axis == 0 : Has(holds, axis);
}

void AddPaperBranches(GemmSpace* space, size_t* count) {
  int row = 0;
  for (uint8_t middle = 0; middle < 8; ++middle) {
    for (int p = 0; p < kGemmAxes; ++p) {
      if (!MayWalk(middle, p)) continue;
      const int this_row = row++;
      if (Count(middle) > space->machine->middle_words) continue;
      space->outer_bound[this_row][0] =
          OuterBound(space, middle, p, space->spatial[p][0]);
      for (uint8_t inner = 0; inner < 8; ++inner) {
        if (Count(inner) > space->machine->inner_words) continue;
        for (int q = 0; q < kGemmAxes; ++q) {
          if (!MayWalk(inner, q)) continue;
          GemmBranch branch = {};
          branch.middle_holds = middle;
          branch.inner_holds = inner;
          branch.walk_outer = static_cast<uint8_t>(p);
          branch.walk_middle = static_cast<uint8_t>(q);
          branch.row = static_cast<uint8_t>(this_row);
          for (int d = 0; d < kGemmAxes; ++d) {
            branch.variant[d] = static_cast<uint8_t>(VariantOf(d, middle, inner, q));
          }
          AddBranch(space, branch, count);
        }
      }
    }
  }
}

// Adds branches by where the two data other than the staying one live. Keeping a datum
// in both memories, or the staying one also in the middle memory, only adds accesses
// and words.
void AddStayingBranches(GemmSpace* space, size_t* count) {
  for (int d = 0; d < kGemmAxes; ++d) {
    const int e = (d + 1) % kGemmAxes;
    const int f = (d + 2) % kGemmAxes;
    for (int pair = 0; pair < 9; ++pair) {
      const int place[2] = {pair / 3, pair % 3};  // 0 none, 1 middle, 2 inner
      GemmBranch branch = {};
      branch.stays = true;
      branch.walk_outer = branch.walk_middle = static_cast<uint8_t>(d);
      const int axes[2] = {e, f};
      branch.inner_holds = static_cast<uint8_t>(1 << d);
      for (int i = 0; i < 2; ++i) {
        if (place[i] == 1) branch.middle_holds |= static_cast<uint8_t>(1 << axes[i]);
        if (place[i] == 2) branch.inner_holds |= static_cast<uint8_t>(1 << axes[i]);
      }
      if (Count(branch.middle_holds) > space->machine->middle_words) continue;
      if (Count(branch.inner_holds) > space->machine->inner_words) continue;
      branch.variant[d] = kStays;
      for (int i = 0; i < 2; ++i) {
        const int others = Count(branch.inner_holds) - (place[i] == 2 ? 1 : 0);
        const int variant = place[i] == 0   ? kNotInner
                            : place[i] == 1 ? kStaysMiddle + others - 1
                                            : kInner + 2 * (others - 1);
        branch.variant[axes[i]] = static_cast<uint8_t>(variant);
      }
      AddBranch(space, branch, count);
    }
  }
}

}  // namespace

DatumTerms OuterTerms(const GemmSpace& space, int d, bool in_middle, bool walks) {
  DatumTerms t = {};
  if (!in_middle) return t;
  const GemmMachine& m = *space.machine;
  const double once = 1.0 / static_cast<double>(space.shape->extent[d]);
  const double fetch = m.outer_read_pj + m.middle_write_pj;
  if (d != 2) {
    if (walks) {
      t.fixed = fetch * once;
    } else {
      t.middle_weight = fetch;
    }
  } else if (walks) {
    t.fixed = m.outer_write_pj * once;
  } else {
    t.middle_weight = m.outer_write_pj + fetch;
    t.fixed = -fetch * once;
  }
  return t;
}

DatumTerms InnerTerms(const GemmSpace& space, int d, bool in_middle, bool in_inner,
                      bool walks, int64_t spatial) {
  DatumTerms t = {};
  const GemmMachine& m = *space.machine;
  const double once = 1.0 / static_cast<double>(space.shape->extent[d]);
  const double s = static_cast<double>(spatial);
  const double read = in_middle ? m.middle_read_pj : m.outer_read_pj;
  const double write = in_middle ? m.middle_write_pj : m.outer_write_pj;
  const bool sum = d == 2;
  const double source = sum ? write + read : read;
  if (!in_inner) {
    t.fixed = source / s - (sum ? read * once : 0);
    return t;
  }
  const double per_fill = m.inner_write_pj + source / s;
  if (walks) {
    t.middle_weight = s * per_fill;
  } else {
    t.inner_weight = per_fill;
  }
  t.fixed = m.inner_read_pj;
  if (sum) {
    t.fixed = m.inner_write_pj + (1.0 - s * once) * m.inner_read_pj -
              (s * m.inner_write_pj + read) * once;
  }
  return t;
}

void SortBranches(Span<const GemmBranch> branches, Span<uint8_t> order) {
  for (size_t i = 0; i < branches.size(); ++i) {
    size_t k = i;
    for (; k > 0 && branches[i].bound < branches[order[k - 1]].bound; --k) {
      order[k] = order[k - 1];
    }
    order[k] = static_cast<uint8_t>(i);
  }
}

double GemmObjectiveOf(const GemmSpace& space, double energy, double per_pe) {
  const GemmMachine& m = *space.machine;
  const double leak =
      m.middle_leak_pj + m.inner_leak_pj * static_cast<double>(m.pe_count);
  const double total = energy + m.mac_pj + leak * per_pe;
  return space.options.objective == GemmObjective::kEnergyDelay ? total * per_pe
                                                                : total;
}

double SplitBound(GemmSpace* space, const GemmBranch& branch, const GemmSplit& split) {
  double energy = 0;
  if (!branch.stays) {
    const size_t i = split.index[branch.walk_outer];
    double& outer = space->outer_bound[branch.row][i];
    if (outer == kUnknown) {
      outer = OuterBound(space, branch.middle_holds, branch.walk_outer,
                         space->spatial[branch.walk_outer][i]);
    }
    energy = outer;
  }
  for (int d = 0; d < kGemmAxes; ++d) {
    energy += space->axis_bound[d][branch.variant[d]][split.index[d]];
  }
  return GemmObjectiveOf(*space, energy, split.per_pe);
}

Status BuildGemmSpace(const GemmRequest& request, Arena* arena, Budget* budget,
                      GemmSpace* space, Diagnostic* diagnostic) {
  *space = GemmSpace{};
  space->shape = &request.shape;
  space->machine = &request.machine;
  space->options = request.options;
  for (int d = 0; d < kGemmAxes; ++d) {
    SLUICE_TRY(ListDivisors(request.shape.extent[d], arena, &space->divisors[d]));
    Span<uint32_t> lengths;
    SLUICE_TRY(arena->Allocate(space->divisors[d].size(), &lengths));
    space->scratch.lengths[d] = lengths.data();
  }
  SLUICE_TRY(ListSpatial(space, arena));
  SLUICE_TRY(ListSplits(space, arena, budget, diagnostic));
  SLUICE_TRY(FillAxisTables(space, arena));
  int row = 0;
  for (uint8_t middle = 0; middle < 8; ++middle) {
    for (int p = 0; p < kGemmAxes; ++p) {
      if (!MayWalk(middle, p)) continue;
      Span<double>& table = space->outer_bound[row++];
      SLUICE_TRY(arena->Allocate(space->spatial[p].size(), &table));
      for (double& entry : table) entry = kUnknown;
    }
  }
  SLUICE_TRY(arena->Allocate(kGemmRows * kGemmRows + 27, &space->branches));
  size_t count = 0;
  AddPaperBranches(space, &count);
  if (request.options.form == GemmForm::kReuse) AddStayingBranches(space, &count);
  space->branches = space->branches.Slice(0, count);
  return Status::kOk;
}

}  // namespace sluice
