// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_counts.h"

#include "base/checked.h"

namespace sluice::nest_claims {
namespace {

bool IsWindow(uint32_t dim) { return dim >= kP && dim <= kS; }

// Rows from one window to the next one. Rows between windows that do not touch are skipped.
int64_t StepOf(const ClaimedNest& claim, int axis) {
  const int64_t reach = (claim.extent[kR + axis] - 1) * claim.dilation[axis] + 1;
  return Min(int64_t{claim.stride[axis]}, reach);
}

int64_t RowsUnder(const ClaimedNest& claim, int axis, int64_t outputs, int64_t taps) {
  return 1 + (outputs - 1) * StepOf(claim, axis) + (taps - 1) * claim.dilation[axis];
}

struct Digit {
  int64_t size;
  bool read;
};

// Different readings among the first n numbers; digits outermost first.
int64_t Different(int64_t n, const Digit* digits, int count) {
  int64_t sum = 0;
  for (int i = 0; i < count && n > 0; ++i) {
    int64_t block = 1, below = 1;
    for (int j = i + 1; j < count; ++j) {
      block *= digits[j].size;
      if (digits[j].read) below *= digits[j].size;
    }
    const int64_t full = n / block;
    if (digits[i].read) {
      sum += full * below;
    } else if (full > 0) {
      return sum + below;
    }
    n %= block;
  }
  return sum + (n > 0 ? 1 : 0);
}

}  // namespace

const Fanout* FanoutBelow(const Hardware& hardware, int level, uint32_t axis) {
  for (const Fanout& fanout : hardware.fanouts) {
    if (static_cast<int>(fanout.level) == level && axis-- == 0) return &fanout;
  }
  return nullptr;
}

bool MayTake(const Fanout& fanout, uint32_t dim) {
  return In(fanout.may_unroll, dim == kG ? uint32_t{kK} : dim);
}

void SumUp(const Hardware& hardware, int level, Units* units) {
  units->multicast = units->reduction = units->forwarding = true;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    units->of[d] = 1;
    units->farthest[d] = 0;
    for (const auto& axis : units->axis) {
      units->farthest[d] = Max(units->farthest[d], (axis[d] - 1) * units->of[d]);
      units->of[d] *= axis[d];
    }
  }
  for (uint32_t a = 0; a < kAxesMost; ++a) {
    const Fanout* fanout = FanoutBelow(hardware, level, a);
    bool used = false;
    for (const int32_t factor : units->axis[a]) used = used || factor > 1;
    if (fanout == nullptr || !used) continue;
    units->multicast = units->multicast && fanout->multicast;
    units->reduction = units->reduction && fanout->reduction;
    units->forwarding = units->forwarding && fanout->forwarding;
  }
}

Case CaseOf(const ClaimedNest& claim, const Hardware& hardware,
            const uint32_t hold[kLevelsMost]) {
  Case one = {claim,         hardware, {}, static_cast<int>(hardware.levels.size()) - 1,
              !claim.ragged, {}};
  for (int l = 0; l <= one.top; ++l) {
    one.hold[l] = hold[l];
    const Fanout* fanout = FanoutBelow(hardware, l, 0);
    one.wire_pj[l] = fanout == nullptr ? 0 : fanout->transfer_pj_per_bit;
  }
  return one;
}

double WordsOf(const ClaimedNest& claim, uint32_t operand,
               const int64_t tile[kDimCount]) {
  double words = 1;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    const bool window = operand == kIn && IsWindow(d);
    if (In(kMovesOperand[operand], d) && !window) words *= Real(tile[d]);
  }
  for (int axis = 0; axis < 2 && operand == kIn; ++axis) {
    words *= Real(RowsUnder(claim, axis, tile[kP + axis], tile[kR + axis]));
  }
  return words;
}

double Operations(const ClaimedNest& claim) {
  double product = 1;
  for (const int64_t extent : claim.extent) product *= Real(extent);
  return product;
}

double PeakOf(const ClaimedNest& claim, const Hardware& hardware) {
  return Real(Max(int64_t{1}, claim.vector ? hardware.vector_ops_per_cycle
                                           : hardware.macs_per_cycle));
}

int64_t WidthOf(const ClaimedNest& claim, uint32_t operand) {
  return operand == kOut ? claim.partial_bytes : claim.element_bytes[operand];
}

bool Fit(const Case& one, int level, const int64_t tile[kDimCount]) {
  const MemoryLevel& memory = one.memory(level);
  if (memory.capacity_bytes == 0) return true;
  int64_t part[kDimCount];
  for (uint32_t d = 0; d < kDimCount; ++d) part[d] = Min(tile[d], one.claim.extent[d]);
  double total = 0;
  bool own = false, fits = true;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    own = own || memory.share_percent[v] != 0;
  }
  const int64_t capacity = memory.capacity_bytes;
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    if (!In(one.hold[level], v)) continue;
    const bool whole = level + 1 == one.top && In(one.claim.resident, v);
    const double bytes = WordsOf(one.claim, v, whole ? one.claim.extent : part) *
                         Real(WidthOf(one.claim, v));
    total += bytes;
    // The share in whole bytes, without overflow.
    const int64_t percent = memory.share_percent[v];
    const int64_t share = capacity / 100 * percent + capacity % 100 * percent / 100;
    fits = fits && (!own || bytes <= Real(share));
  }
  return fits && total <= Real(capacity);
}

int HolderAbove(const Case& one, int level, uint32_t operand) {
  do {
    ++level;
  } while (level < one.top && !In(one.hold[level], operand));
  return level;
}

bool Crosses(const Case& one, int child, uint32_t operand) {
  if (!In(one.claim.operands, operand)) return false;
  if (child >= 0 && !In(one.hold[child], operand)) return false;
  return !In(one.claim.resident, operand) ||
         HolderAbove(one, child, operand) != one.top;
}

double WindowRows(const ClaimedNest& claim, const Window& w) {
  const int64_t extent[2] = {claim.extent[kP + w.axis], claim.extent[kR + w.axis]};
  const int64_t tile[2] = {w.outputs, w.taps};
  const int64_t count[2] = {CeilDivide(extent[0], tile[0]),
                            CeilDivide(extent[1], tile[1])};
  const int64_t step = StepOf(claim, w.axis), gap = claim.dilation[w.axis];
  if (!w.slides) {
    // The sum of 1 + (outputs - 1) step + (taps - 1) gap over all pairs of tiles.
    return Real(count[0]) * Real(count[1]) +
           Real(count[1]) * Real(extent[0] - count[0]) * Real(step) +
           Real(count[0]) * Real(extent[1] - count[1]) * Real(gap);
  }
  const int m = w.along_taps ? 1 : 0;
  const int64_t last = extent[m] - (count[m] - 1) * tile[m];
  const int64_t shift = w.apart * tile[m] * (m == 1 ? gap : step);
  const auto rows = [&](int64_t moving, int64_t other) {
    return m == 1 ? RowsUnder(claim, w.axis, other, moving)
                  : RowsUnder(claim, w.axis, moving, other);
  };
  // Tiles among the first n at which the sliding loop begins.
  const auto begins = [&](int64_t n) {
    const int64_t run = w.apart * w.trips;
    return n / run * w.apart + Min(n % run, w.apart);
  };
  const auto fresh = [&](int64_t moving, int64_t other) {
    const int64_t kept = Max(int64_t{0}, rows(tile[m], other) - shift);
    return Max(int64_t{0}, rows(moving, other) - kept);
  };
  const int64_t whole = count[m] - 1, first = begins(whole);
  double sum = 0;
  for (int part = 0; part < 2; ++part) {
    const int64_t n = part == 0 ? count[1 - m] - 1 : 1;
    const int64_t other =
        part == 0 ? tile[1 - m] : extent[1 - m] - (count[1 - m] - 1) * tile[1 - m];
    const bool starts = begins(whole + 1) > first;
    sum += Real(n) * (Real(first) * Real(rows(tile[m], other)) +
                      Real(whole - first) * Real(fresh(tile[m], other)) +
                      Real(starts ? rows(last, other) : fresh(last, other)));
  }
  return sum;
}

Readings ReadingsOf(const View& view, Reading reading, uint32_t dim, int64_t tile,
                    bool keeps_nothing) {
  const bool loops = reading <= kStepsBeyond;
  const bool inside = reading == kStays || reading == kAllUnits;
  Digit digits[2 * kLevelsMost];
  int count = 0;
  int first_other = view.low;  // the run of loops that keep the tile ends below it
  if (loops && reading != kStepsBeyond && !keeps_nothing) {
    while (first_other <= view.one.top &&
           !view.levels[first_other].moves[view.operand]) {
      ++first_other;
    }
    ++first_other;
  }
  double product = 1;
  for (int l = view.one.top; l >= view.low; --l) {
    const Level& level = view.levels[l];
    const bool keeps = l < first_other && In(level.keeps[view.operand], dim);
    if (level.trips[dim] > 1) digits[count++] = {level.trips[dim], loops && !keeps};
    if (level.units[dim] > 1)
      digits[count++] = {level.units[dim], inside || l > view.from};
  }
  if (view.one.divides) {
    for (int i = 0; i < count; ++i)
      product *= digits[i].read ? Real(digits[i].size) : 1;
    return {product, product};
  }
  const int64_t extent = view.one.claim.extent[dim];
  const int64_t whole = Different(extent / tile, digits, count);
  return {Real(whole), Real(Different(CeilDivide(extent, tile), digits, count))};
}

int32_t UnitedUnits(const View& view, uint32_t dim) {
  int32_t units = 1;
  for (int l = view.low; l <= view.from; ++l) {
    if (l > view.low && view.levels[l - 1].trips[dim] > 1) break;
    units *= view.levels[l].units[dim];
  }
  return units;
}

Sliding SlidingOf(const View& view) {
  Sliding sliding = {kDimCount, 1, 1, 1};
  int at = view.low;
  while (at <= view.one.top && !view.levels[at].moves[kIn]) ++at;
  if (at > view.one.top || !IsWindow(view.levels[at].moving)) return sliding;
  sliding.dim = view.levels[at].moving;
  sliding.trips = view.levels[at].trips[sliding.dim];
  for (int l = view.low; l <= at; ++l) {
    (l > view.from ? sliding.beyond : sliding.within) *=
        view.levels[l].units[sliding.dim];
  }
  return sliding;
}

Fans FansOf(const View& view) {
  Fans fans = {true, true, true};
  for (int l = view.low; l <= view.from; ++l) {
    fans.multicast = fans.multicast && view.levels[l].multicast;
    fans.reduction = fans.reduction && view.levels[l].reduction;
    fans.forwarding = fans.forwarding && view.levels[l].forwarding;
  }
  return fans;
}

double InstancesOf(const Case& one, const Level levels[kLevelsMost], int level,
                   const int64_t tile[kDimCount]) {
  double product = 1;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    product *=
        ReadingsOf({one, levels, level + 1, level, kIn}, kUnitsBeyond, d, tile[d], true)
            .all;
  }
  return product;
}

void Price(const Case& one, int child, uint32_t operand, const Crossing& crossing,
           Sums* sums) {
  const int parent = HolderAbove(one, child, operand);
  const MemoryLevel& above = one.memory(parent);
  const double bits = Real(8 * WidthOf(one.claim, operand));
  const double passed = crossing.reads + crossing.writes;
  sums->pj += (crossing.reads * above.read_pj_per_bit +
               crossing.writes * above.write_pj_per_bit) *
              bits;
  sums->bytes[parent] += passed * bits / 8;
  if (child >= 0) {
    sums->pj += crossing.fills * one.memory(child).write_pj_per_bit * bits;
    sums->bytes[child] += crossing.fills * bits / 8;
  }
  for (int l = child + 1; l <= parent; ++l) sums->pj += passed * one.wire_pj[l] * bits;
  const Fanout* fanout = FanoutBelow(one.hardware, parent, 0);
  if (fanout != nullptr) {
    sums->pj += crossing.forwards * fanout->forward_pj_per_bit * bits;
  }
  if (operand != kOut || parent != one.top) return;
  // The last write of each output has its final width.
  const double words = WordsOf(one.claim, kOut, one.claim.extent);
  const double more = Real(one.claim.element_bytes[kOut]) - bits / 8;
  sums->pj += words * more * 8 * above.write_pj_per_bit;
  sums->bytes[parent] += words * more;
}

namespace {

double AllWords(const View& view, int child, const int64_t tile[kDimCount],
                bool united) {
  const ClaimedNest& claim = view.one.claim;
  if (view.operand != kIn) return WordsOf(claim, view.operand, claim.extent);
  double words =
      Real(claim.extent[kN]) * Real(claim.extent[kG]) * Real(claim.extent[kC]);
  const bool may_slide = child >= 0 && view.one.memory(child).sliding;
  const Sliding sliding = may_slide ? SlidingOf(view) : Sliding{kDimCount, 1, 1, 1};
  for (int axis = 0; axis < 2; ++axis) {
    const uint32_t p = kP + static_cast<uint32_t>(axis);
    const uint32_t r = kR + static_cast<uint32_t>(axis);
    Window window = {axis, tile[p], tile[r], false, false, 1, 1};
    if (united) {
      window.outputs *= UnitedUnits(view, p);
      window.taps *= UnitedUnits(view, r);
    }
    window.slides = sliding.dim == p || sliding.dim == r;
    window.along_taps = sliding.dim == r;
    window.trips = sliding.trips;
    window.apart = sliding.beyond * (united ? int64_t{1} : int64_t{sliding.within});
    words *= WindowRows(claim, window);
  }
  return words;
}

double Product(const View& view, Reading reading, const int64_t tile[kDimCount],
               bool keeps_nothing) {
  double product = 1;
  for (uint32_t d = 0; d < kDimCount; ++d) {
    if (In(kMovesOperand[view.operand], d)) continue;
    product *= ReadingsOf(view, reading, d, tile[d], keeps_nothing).all;
  }
  return product;
}

}  // namespace

void AddTransfers(const Case& one, const Level levels[kLevelsMost], int child,
                  const int64_t tile[kDimCount], Sums* sums) {
  const bool nothing = child < 0;  // rule 1
  for (uint32_t v = 0; v < kOperandCount; ++v) {
    if (!Crosses(one, child, v)) continue;
    const View view = {one, levels, child + 1, HolderAbove(one, child, v), v};
    const Fans fans = FansOf(view);
    const double words = AllWords(view, child, tile, false);
    const double taken = words * Product(view, kStays, tile, nothing);
    Crossing crossing = {};
    double once = 0;
    if (v != kOut) {
      const bool shared = fans.multicast || fans.forwarding;
      const double united = v == kIn ? AllWords(view, child, tile, true) : words;
      once = shared ? united * Product(view, kStaysBeyond, tile, nothing) : taken;
      crossing.reads = once;
      crossing.fills = taken;
    } else {
      once =
          fans.reduction ? words * Product(view, kStaysBeyond, tile, nothing) : taken;
      crossing.writes = once;
      crossing.reads = once - words * Product(view, kUnitsBeyond, tile, true);
      crossing.fills = taken - words * Product(view, kAllUnits, tile, true);
    }
    if (fans.forwarding) crossing.forwards = taken - once;
    Price(one, child, v, crossing, sums);
  }
}

double Worth(const ClaimedNest& claim, double energy_pj, double cycles) {
  double worth = 1;
  for (uint32_t i = 0; i < claim.energy_exponent; ++i) worth *= energy_pj;
  for (uint32_t i = 0; i < claim.delay_exponent; ++i) worth *= cycles;
  return worth;
}

double WholeCycles(const Case& one, double steps, const double bytes[kLevelsMost],
                   const double instances[kLevelsMost]) {
  const double peak = PeakOf(one.claim, one.hardware);
  double cycles = Max(1.0, Max(steps, RoundUpToWhole(Operations(one.claim) / peak)));
  for (int l = 0; l <= one.top; ++l) {
    const Rational rate = one.memory(l).bandwidth;
    if (rate.numerator <= 0) continue;
    const int64_t all = static_cast<int64_t>(RoundUpToWhole(bytes[l] - 0.5));
    const int64_t units = Max(int64_t{1}, static_cast<int64_t>(instances[l]));
    cycles = Max(cycles, Real(TransferCycles(CeilDivide(all, units), rate.numerator,
                                             rate.denominator)));
  }
  return cycles;
}

}  // namespace sluice::nest_claims
