// SPDX-License-Identifier: Apache-2.0
#include "model/loop_nest.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr char kLetters[] = "NKCPQRSG";

Status BadLevel(Diagnostic* diagnostic, uint32_t level, const char* what) {
  return Fail(diagnostic, Status::kBadInput, "mapping")
      .Say("level #", level)
      .Text(what);
}

bool IsPermutation(const uint8_t order[kDims]) {
  uint32_t seen = 0;
  for (int i = 0; i < kDims; ++i) {
    if (order[i] >= kDims) return false;
    seen |= 1u << order[i];
  }
  return seen == (1u << kDims) - 1;
}

// Checks spatial factors against each fanout's extent and permitted dims.
Status CheckSpatial(const Hardware& hardware, const LoopNest& nest, uint32_t level,
                    Diagnostic* diagnostic) {
  for (uint32_t axis = 0; axis < kMaxAxes; ++axis) {
    const Fanout* fanout = FanoutAt(hardware, level, axis);
    int64_t used = 1;
    for (uint32_t d = 0; d < kDims; ++d) {
      const int64_t factor = nest.spatial[level][axis][d];
      if (factor < 2) continue;  // below 1: CheckCover
      if (fanout == nullptr || !MayUnroll(*fanout, d)) {
        return Fail(diagnostic, Status::kBadInput, "mapping")
            .Say("level # axis # may not unroll ", level, axis)
            .Text(kLetters + d, 1);
      }
      if (!CheckedMultiply(used, factor, &used)) used = INT64_MAX;
    }
    if (used > 1 && used > int64_t{fanout->extent}) {
      return Fail(diagnostic, Status::kInfeasible, "mapping")
          .Say("level # axis # unrolls # of # units", level, axis, used,
               fanout->extent);
    }
  }
  return Status::kOk;
}

// Every step of every loop has work, spatial or temporal, and together they cover the
// dim: (factor - 1) * step < extent. This bounds tile sizes by levels * axes * extent.
Status CheckCover(const MappingProblem& problem, const LoopNest& nest, uint32_t dim,
                  Diagnostic* diagnostic) {
  int64_t tile = 1;
  for (uint32_t l = 0; l < nest.levels; ++l) {
    for (uint32_t a = 0; a <= kMaxAxes; ++a) {
      const int64_t factor =
          a < kMaxAxes ? nest.spatial[l][a][dim] : nest.temporal[l][dim];
      int64_t last = 0;
      if (factor < 1 || !CheckedMultiply(tile, factor - 1, &last) ||
          last >= problem.extent[dim]) {
        return Fail(diagnostic, Status::kBadInput, "mapping")
            .Say("level #: ", l)
            .Text(kLetters + dim, 1)
            .Say(" runs # steps of # in an extent of #", factor, tile,
                 problem.extent[dim]);
      }
      tile *= factor;
    }
  }
  if (tile < problem.extent[dim]) {
    return Fail(diagnostic, Status::kBadInput, "mapping")
        .Text("loops over ")
        .Text(kLetters + dim, 1)
        .Say(" cover # of #", tile, problem.extent[dim]);
  }
  return Status::kOk;
}

Status CheckHold(const MappingProblem& problem, const MemoryLevel& level,
                 uint32_t index, uint32_t hold, bool outermost,
                 Diagnostic* diagnostic) {
  if ((hold & ~problem.operands) != 0 || (hold & ~level.may_hold) != 0) {
    return BadLevel(diagnostic, index, " holds an operand it may not hold");
  }
  if ((level.must_hold & problem.operands & ~hold) != 0 ||
      (outermost && hold != problem.operands)) {
    return BadLevel(diagnostic, index, " bypasses an operand it must hold");
  }
  return Status::kOk;
}

}  // namespace

LoopNest EmptyNest(const Hardware& hardware, const MappingProblem& problem) {
  LoopNest nest = {};
  constexpr uint8_t kOrder[kDims] = {kDimS, kDimR, kDimC, kDimK,
                                     kDimQ, kDimP, kDimN, kDimG};
  nest.levels = static_cast<uint32_t>(hardware.levels.size());
  for (uint32_t l = 0; l < kMaxLevels; ++l) {
    for (uint32_t d = 0; d < kDims; ++d) {
      nest.temporal[l][d] = 1;
      nest.order[l][d] = kOrder[d];
      for (uint32_t a = 0; a < kMaxAxes; ++a) nest.spatial[l][a][d] = 1;
    }
    if (l >= nest.levels) continue;
    const uint32_t may = l + 1 == nest.levels ? 7u : hardware.levels[l].may_hold;
    nest.hold[l] = static_cast<uint8_t>(may & problem.operands);
  }
  return nest;
}

int64_t SpatialFactor(const LoopNest& nest, uint32_t level, uint32_t dim) {
  int64_t factor = 1;
  for (uint32_t a = 0; a < kMaxAxes; ++a) factor *= nest.spatial[level][a][dim];
  return factor;
}

void TileExtents(const LoopNest& nest, int level, int64_t extent[kDims]) {
  for (uint32_t d = 0; d < kDims; ++d) extent[d] = 1;
  for (int l = 0; l <= level; ++l) {
    for (uint32_t d = 0; d < kDims; ++d) {
      extent[d] *=
          nest.temporal[l][d] * SpatialFactor(nest, static_cast<uint32_t>(l), d);
    }
  }
}

Status LevelBytes(const MappingProblem& problem, const LoopNest& nest, uint32_t level,
                  uint32_t resident, int64_t bytes[kOperands], Diagnostic* diagnostic) {
  int64_t tile[kDims];
  TileExtents(nest, static_cast<int>(level), tile);
  for (uint32_t d = 0; d < kDims; ++d) tile[d] = Min(tile[d], problem.extent[d]);
  for (uint32_t v = 0; v < kOperands; ++v) {
    bytes[v] = 0;
    if ((nest.hold[level] >> v & 1) == 0) continue;
    const bool whole = (resident >> v & 1) != 0 && level + 2 == nest.levels;
    const int64_t words = TileWords(problem, v, whole ? problem.extent : tile);
    // A resident output gets its final width elsewhere; here it is a partial sum.
    if (!CheckedMultiply(words, InnerBytes(problem, v), &bytes[v])) {
      return Fail(diagnostic, Status::kInfeasible, "mapping")
          .Say("a tile of # words at level # is too large", words, level);
    }
  }
  return Status::kOk;
}

const Fanout* FanoutAt(const Hardware& hardware, uint32_t level, uint32_t axis) {
  for (const Fanout& fanout : hardware.fanouts) {
    if (fanout.level != level) continue;
    if (axis == 0) return &fanout;
    --axis;
  }
  return nullptr;
}

bool MayUnroll(const Fanout& fanout, uint32_t dim) {
  const uint32_t bit = dim == kDimG ? uint32_t{kDimK} : dim;
  return (fanout.may_unroll >> bit & 1) != 0;
}

bool FitsLevel(const MemoryLevel& level, const int64_t bytes[kOperands]) {
  if (level.capacity_bytes == 0) return true;
  int64_t total = 0;
  bool shared = true;
  for (int v = 0; v < kOperands; ++v) {
    if (!CheckedAdd(total, bytes[v], &total)) return false;
    if (level.share_percent[v] != 0) shared = false;
  }
  if (total > level.capacity_bytes) return false;
  if (shared) return true;
  for (int v = 0; v < kOperands; ++v) {
    // capacity * percent / 100, rounded down, without overflow
    const int64_t share = level.capacity_bytes / 100 * level.share_percent[v] +
                          level.capacity_bytes % 100 * level.share_percent[v] / 100;
    if (bytes[v] > share) return false;
  }
  return true;
}

Status CheckHierarchy(const Hardware& hardware, Diagnostic* diagnostic) {
  const size_t levels = hardware.levels.size();
  if (levels < 2 || levels > kMaxLevels) {
    return Fail(diagnostic, Status::kUnsupported, "mapping")
        .Say("hierarchy has # levels, mapping takes 2 to #", levels, kMaxLevels);
  }
  for (uint32_t l = 0; l < levels; ++l) {
    if (FanoutAt(hardware, l, kMaxAxes) != nullptr) {
      return Fail(diagnostic, Status::kUnsupported, "mapping")
          .Say("level # has more than # fanouts", l, kMaxAxes);
    }
  }
  return Status::kOk;
}

Status CheckNest(const MappingProblem& problem, const Hardware& hardware,
                 const LoopNest& nest, uint32_t resident, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  if (nest.levels != hardware.levels.size()) {
    return Fail(diagnostic, Status::kBadInput, "mapping")
        .Say("nest has # levels, the hardware #", nest.levels, hardware.levels.size());
  }
  for (uint32_t l = 0; l < nest.levels; ++l) {
    if (!IsPermutation(nest.order[l])) {
      return BadLevel(diagnostic, l, ": order is not a permutation");
    }
    SLUICE_TRY(CheckHold(problem, hardware.levels[l], l, nest.hold[l],
                         l + 1 == nest.levels, diagnostic));
    SLUICE_TRY(CheckSpatial(hardware, nest, l, diagnostic));
  }
  for (uint32_t d = 0; d < kDims; ++d) {
    SLUICE_TRY(CheckCover(problem, nest, d, diagnostic));
  }
  for (uint32_t l = 0; l < nest.levels; ++l) {
    int64_t bytes[kOperands];
    SLUICE_TRY(LevelBytes(problem, nest, l, resident, bytes, diagnostic));
    if (FitsLevel(hardware.levels[l], bytes)) continue;
    const int64_t total = bytes[0] + bytes[1] + bytes[2];
    return Fail(diagnostic, Status::kInfeasible, "mapping")
        .Say("tiles of # + # + # bytes do not fit level # of # bytes", bytes[0],
             bytes[1], bytes[2], l, hardware.levels[l].capacity_bytes)
        .Bytes(static_cast<uint64_t>(total),
               static_cast<uint64_t>(hardware.levels[l].capacity_bytes));
  }
  return Status::kOk;
}

}  // namespace sluice
