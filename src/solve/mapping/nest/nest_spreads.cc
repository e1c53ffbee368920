// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/nest_spreads.h"

#include <string.h>

#include "base/checked.h"

namespace sluice::nest_exact {
namespace {

struct Filling {
  const MappingProblem& problem;
  const Hardware& hardware;
  uint32_t level;
  Vector<Spread>* spreads;
  Spread spread;
  bool ragged;
  size_t tried;
};

// Whether `a` stands for `b`: as many units, which start no farther out.
bool StandsFor(const Spread& a, const Spread& b) {
  for (uint32_t d = 0; d < kDims; ++d) {
    if (a.reach[d] > b.reach[d]) return false;
  }
  return memcmp(a.units, b.units, sizeof a.units) == 0 && a.multicast == b.multicast &&
         a.reduction == b.reduction && a.forwarding == b.forwarding;
}

Status Keep(Filling* filling) {
  if (++filling->tried > kMostFillings) return Status::kUnsupported;
  Spread spread = filling->spread;
  spread.multicast = spread.reduction = spread.forwarding = true;
  for (uint32_t d = 0; d < kDims; ++d) {
    int32_t units = 1;
    spread.reach[d] = 0;
    for (const auto& axis : spread.factor) {
      spread.reach[d] = Max(spread.reach[d], (axis[d] - 1) * units);
      units *= axis[d];
    }
  }
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    const Fanout* fanout = FanoutAt(filling->hardware, filling->level, a);
    if (fanout == nullptr) break;
    bool used = false;
    for (const int32_t factor : spread.factor[a]) used = used || factor > 1;
    if (!used) continue;
    spread.multicast = spread.multicast && fanout->multicast;
    spread.reduction = spread.reduction && fanout->reduction;
    spread.forwarding = spread.forwarding && fanout->forwarding;
  }
  for (const Spread& other : *filling->spreads) {
    if (StandsFor(other, spread)) return Status::kOk;
  }
  return filling->spreads->Push(spread);
}

// Factors of one axis, dim by dim; `left` units are free.
Status FillAxis(Filling* filling, uint32_t axis, uint32_t dim, int64_t left) {
  const Fanout* fanout =
      axis == kMaxAxes ? nullptr : FanoutAt(filling->hardware, filling->level, axis);
  if (fanout == nullptr) return Keep(filling);
  if (dim == kDims) {
    const Fanout* next = axis + 1 == kMaxAxes
                             ? nullptr
                             : FanoutAt(filling->hardware, filling->level, axis + 1);
    return FillAxis(filling, axis + 1, 0, next == nullptr ? 1 : next->extent);
  }
  const int32_t before = filling->spread.units[dim];
  const int64_t rest = CeilDivide(filling->problem.extent[dim], before);
  const int64_t most = MayUnroll(*fanout, dim) ? Min(left, rest) : 1;
  for (int64_t factor = 1; factor <= most; ++factor) {
    if (!filling->ragged && rest % factor != 0) continue;
    filling->spread.factor[axis][dim] = static_cast<int32_t>(factor);
    filling->spread.units[dim] = static_cast<int32_t>(before * factor);
    SLUICE_TRY(FillAxis(filling, axis, dim + 1, left / factor));
  }
  filling->spread.factor[axis][dim] = 1;
  filling->spread.units[dim] = before;
  return Status::kOk;
}

}  // namespace

Status ListSpreads(const MappingProblem& problem, const Hardware& hardware,
                   uint32_t level, bool ragged, Vector<Spread>* spreads) {
  Filling filling = {problem, hardware, level, spreads, {}, ragged, 0};
  for (auto& axis : filling.spread.factor) {
    for (int32_t& factor : axis) factor = 1;
  }
  for (int32_t& units : filling.spread.units) units = 1;
  const Fanout* first = FanoutAt(hardware, level, 0);
  return FillAxis(&filling, 0, 0, first == nullptr ? 1 : first->extent);
}

bool Fits(const Model& model, uint32_t level, const int64_t tile[kDims]) {
  int64_t bytes[kOperands];
  const bool scratchpad = level + 2 == model.hardware.levels.size();
  int64_t part[kDims];
  for (uint32_t d = 0; d < kDims; ++d) {
    part[d] = Min(tile[d], model.problem.extent[d]);
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    bytes[v] = 0;
    if ((model.hold[level] >> v & 1) == 0) continue;
    const bool whole = scratchpad && (model.resident >> v & 1) != 0;
    bytes[v] = TileWords(model.problem, v, whole ? model.problem.extent : part) *
               InnerBytes(model.problem, v);
  }
  return FitsLevel(model.hardware.levels[level], bytes);
}

}  // namespace sluice::nest_exact
