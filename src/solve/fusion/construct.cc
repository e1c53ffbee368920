// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/construct.h"

#include "base/checked.h"
#include "solve/fusion/fit.h"

namespace sluice {
namespace {

// The whole scheme is improved at once if one pass over its layers evaluates at most so
// many tiles.
constexpr uint64_t kWholeTiles = 300000;
constexpr uint32_t kStretch = 24;        // positions improved together otherwise
constexpr uint32_t kStretchStep = 16;    // from one stretch to the next
constexpr uint32_t kBatches = 8;         // of stretches between two scores of the whole
constexpr int32_t kFinestImprove = 128;  // tiles of a group; streams grow with them
constexpr int kJoinPasses = 2;           // of improving after groups were joined
constexpr uint64_t kReworkTiles = 20000;  // to evaluate at most on the whole
constexpr size_t kFewTouched = 8;         // layers; above, all policies are scored
// Tiles that fitting may evaluate before it gives up: a part for the scheme, and a part
// for each layer.
constexpr uint64_t kFitTiles = 400000;
constexpr uint64_t kFitTilesOfLayer = 2000;
// If the cost is more than this times that in an unlimited buffer, the other start is
// tried too.
constexpr double kFarFromIdeal = 1.1;

// Tries one change; keeps it when it is better.
bool Try(Scheme* s, SchemeScore* best, uint64_t* left) {
  if (*left == 0) {
    UndoChanges(&s->draft);
    return false;
  }
  --*left;
  const SchemeScore score = s->Score(best->cost);
  if (score.cost >= best->cost) {
    UndoChanges(&s->draft);
    return false;
  }
  *best = score;
  KeepChanges(&s->draft);
  return true;
}

bool ImproveAt(Scheme* s, uint32_t i, SchemeScore* best, uint64_t* left) {
  const GroupNotation& g = s->notation();
  bool better = false;
  if (i > 0 && g.cut[i] != kCutNone) {  // join with the group before
    const int32_t tiles = g.tiles[i];
    SetCut(&s->draft, i, kCutNone);
    better = Try(s, best, left);
    if (!better && tiles != g.tiles[GroupFirst(s->draft, i - 1)]) {
      const uint32_t before = GroupFirst(s->draft, i - 1);
      SetCut(&s->draft, i, kCutNone);
      SetTiles(&s->draft, before, tiles);
      better = Try(s, best, left);
    }
  } else if (i > 0) {  // split off
    SetTiles(&s->draft, i, g.tiles[GroupFirst(s->draft, i)]);
    SetCut(&s->draft, i, kCutFine);
    better = Try(s, best, left);
  }
  if (g.cut[i] != kCutNone) {
    const int32_t tiles = g.tiles[i];
    if (tiles > 1) {
      SetTiles(&s->draft, i, tiles / 2);
      better |= Try(s, best, left);
    }
    if (g.tiles[i] <= kFinestImprove / 2) {
      SetTiles(&s->draft, i, 2 * g.tiles[i]);
      better |= Try(s, best, left);
    }
  }
  if (i > 0 && g.cut[i] == kCutDram) {
    SetCut(&s->draft, i, kCutFine);
    better |= Try(s, best, left);
  }
  return better;
}

// Tries one change at a time in every layer of the stretch at *at; moves *at to the
// next stretch.
Status ImproveStretch(Scheme* whole, uint32_t* at, const SchemeScore& now,
                      WindowIndex* index, Arena* arena, Budget* budget) {
  ArenaScope scope(arena);
  uint32_t first = *at;
  uint32_t last = Min(static_cast<uint32_t>(whole->layers()), first + kStretch);
  *at += kStretchStep;
  AlignToGroups(*whole, &first, &last);
  Stretch part;
  SLUICE_TRY(OpenStretch(*whole, first, last, index, arena, &part));
  Scheme* s = &part.scheme;
  SchemeScore score = s->Score(kAnnealRejected);
  if (score.cost >= kAnnealRejected) return Status::kOk;
  s->rest = RestOf(*whole, now, *s, score);
  score.cost = now.cost;
  uint64_t evaluations = 4 * uint64_t{last - first};
  bool better = false;
  for (uint32_t i = 0; i < s->layers() && !budget->Exhausted(); ++i) {
    better |= ImproveAt(s, i, &score, &evaluations);
  }
  if (better) WriteBack(part, whole);
  return Status::kOk;
}

// Improves stretch by stretch; changes that do not improve the whole are undone.
Status ImproveByStretches(Scheme* s, WindowIndex* index, Arena* arena, Budget* budget,
                          SchemeScore* best) {
  const uint32_t n = static_cast<uint32_t>(s->layers());
  const uint32_t stretches = (n + kStretchStep - 1) / kStretchStep;
  const uint32_t batch = (stretches + kBatches - 1) / kBatches;
  for (uint32_t at = 0; at < n && !budget->Exhausted();) {
    s->Score(kAnnealRejected);  // so that its list describes the present scheme
    const SchemeScore now = *best;
    for (uint32_t i = 0; i < batch && at < n; ++i) {
      SLUICE_TRY(ImproveStretch(s, &at, now, index, arena, budget));
    }
    uint64_t one = 1;
    Try(s, best, &one);
  }
  return Status::kOk;
}

// The scheme, which fits, with the list policy that suits it best.
void ScorePolicies(Scheme* s, SchemeScore* out) {
  s->draft.policy = 0;
  KeepChanges(&s->draft);
  *out = s->Score(kAnnealRejected);
  for (uint32_t policy = 1; policy < kDmaPolicies; ++policy) {
    s->draft.policy = policy;
    uint64_t one = 1;
    Try(s, out, &one);
  }
}

// Tries one change at a time, on the whole or, where that takes long, in stretches.
Status Improve(Scheme* s, uint64_t evaluations, WindowIndex* index, Arena* arena,
               Budget* budget, SchemeScore* best) {
  const uint64_t whole = kWholeTiles / Max(s->list().tiles, 1u);
  if (whole < Min<uint64_t>(evaluations, 4 * s->layers())) {
    return ImproveByStretches(s, index, arena, budget, best);
  }
  evaluations = Min(evaluations, whole);
  bool better = true;
  while (better && evaluations != 0) {
    better = false;
    for (uint32_t i = 0; i < s->layers() && !budget->Exhausted(); ++i) {
      better |= ImproveAt(s, i, best, &evaluations);
    }
  }
  return Status::kOk;
}

// Starts with every layer in a group of its own and joins groups where that is better;
// saves the scheme if it is the best.
Status JoinAlone(Scheme* s, WindowIndex* index, Arena* arena, Budget* budget,
                 SchemeScore* best) {
  Diagnostic ignored = {};
  SchemeScore score;
  const Status status = FitAlone(s, budget, &ignored, &score);
  if (status != Status::kOk || score.parsed != ParseResult::kOk) {
    UndoChanges(&s->draft);
    return status == Status::kOutOfMemory ? status : Status::kOk;
  }
  ScorePolicies(s, &score);
  for (int pass = 0; pass < kJoinPasses && score.cost < kAnnealRejected; ++pass) {
    const double before = score.cost;
    SLUICE_TRY(ImproveByStretches(s, index, arena, budget, &score));
    if (score.cost >= before) break;
  }
  if (score.cost < best->cost) {
    *best = score;
    SaveDraft(&s->draft);
  }
  return Status::kOk;
}

bool IsTouched(const Scheme& s, Span<const uint8_t> touched, uint32_t position) {
  return !touched.empty() && touched[s.notation().order[position]] != 0;
}

// Tries changes at the touched layers and at the first layer after them.
Status ImproveTouched(Scheme* s, Span<const uint8_t> touched, uint64_t evaluations,
                      WindowIndex* index, const Workspace& work, SchemeScore* best) {
  const uint32_t n = static_cast<uint32_t>(s->layers());
  const bool whole =
      uint64_t{s->list().tiles} * Min<uint64_t>(evaluations, 64) <= kReworkTiles;
  for (uint32_t i = 0; i < n && evaluations != 0 && !work.budget->Exhausted(); ++i) {
    if (!IsTouched(*s, touched, i) && (i == 0 || !IsTouched(*s, touched, i - 1))) {
      continue;
    }
    if (whole) {
      ImproveAt(s, i, best, &evaluations);
      continue;
    }
    s->Score(kAnnealRejected);  // so that its list describes the present scheme
    uint32_t at = i > kStretch / 4 ? i - kStretch / 4 : 0;
    i = at + kStretch / 2;
    SLUICE_TRY(ImproveStretch(s, &at, *best, index, work.arena, work.budget));
    Try(s, best, &evaluations);
  }
  return Status::kOk;
}

// For a scheme that cannot be parsed: makes each touched layer a group of one tile.
void SetApart(Scheme* s, Span<const uint8_t> touched) {
  const uint32_t n = static_cast<uint32_t>(s->layers());
  for (uint32_t i = 0; i < n; ++i) {
    if (!IsTouched(*s, touched, i)) continue;
    MakeGroup(&s->draft, i, i + 1, 1);
    KeepChanges(&s->draft);
  }
}

}  // namespace

Status Refit(Scheme* scheme, uint64_t evaluations, bool alone, const Workspace& work,
             SchemeScore* out) {
  Arena* arena = work.arena;
  Budget* budget = work.budget;
  Diagnostic* diagnostic = work.diagnostic;
  ArenaScope scope(arena);
  WindowIndex index;
  SLUICE_TRY(index.Init(arena, scheme->problem()));
  const double ideal = scheme->Bound().cost;
  const uint64_t looks = kFitTiles + kFitTilesOfLayer * scheme->layers();
  bool fits = false;
  SLUICE_TRY(FitBuffer(scheme, looks, &index, work, out, &fits));
  if (out->parsed == ParseResult::kMapping) {
    return Fail(diagnostic, Status::kInfeasible, "fusion")
        .Text("a layer has no mapping");
  }
  *out = SchemeScore();
  if (fits) {
    ScorePolicies(scheme, out);
    SLUICE_TRY(Improve(scheme, evaluations, &index, arena, budget, out));
    SaveDraft(&scheme->draft);
  }
  if (!fits && budget->Exhausted()) {
    return Fail(diagnostic, Status::kStopped, "fusion")
        .Text("a limit ended the call before the scheme fitted the scratchpad");
  }
  if (!fits || (alone && out->cost > kFarFromIdeal * ideal)) {
    SLUICE_TRY(JoinAlone(scheme, &index, arena, budget, out));
  }
  if (out->cost < kAnnealRejected) {
    RestoreDraft(&scheme->draft);
    return Status::kOk;
  }
  SLUICE_TRY(FitAlone(scheme, budget, diagnostic, out));  // says why not
  return Fail(diagnostic, budget->Exhausted() ? Status::kStopped : Status::kInfeasible,
              "fusion")
      .Text("too many tiles");
}

Status Rework(Scheme* s, Span<const uint8_t> touched, uint64_t evaluations,
              const Workspace& work, SchemeScore* out) {
  ArenaScope scope(work.arena);
  KeepChanges(&s->draft);
  if (s->Bound().parsed != ParseResult::kOk) {
    SetApart(s, touched);
    if (s->Bound().parsed != ParseResult::kOk) ResetDraft(&s->draft);
  }
  size_t changed = 0;
  for (uint8_t t : touched) changed += t;
  // Try the other list policies only where much can be gained.
  s->draft.policy = 0;
  KeepChanges(&s->draft);
  *out = SchemeScore();
  if (changed <= kFewTouched) *out = s->Score(kAnnealRejected);
  if (out->cost >= kAnnealRejected) ScorePolicies(s, out);
  if (out->cost >= kAnnealRejected) {
    // Most layers are new and the scheme does not fit: construct it again.
    if (2 * changed > s->layers()) return Status::kInfeasible;
    return Refit(s, evaluations, false, work, out);
  }
  WindowIndex index;
  SLUICE_TRY(index.Init(work.arena, s->problem()));
  SLUICE_TRY(ImproveTouched(s, touched, evaluations, &index, work, out));
  SaveDraft(&s->draft);
  return Status::kOk;
}

Status ConstructAlone(Scheme* scheme, Budget* budget, Diagnostic* diagnostic,
                      SchemeScore* out) {
  for (int share = 2; share <= 8; share *= 2) {
    scheme->target_bytes = scheme->problem().buffer_bytes / share;
    const Status status = FitAlone(scheme, budget, diagnostic, out);
    if (status != Status::kOk && status != Status::kInfeasible) return status;
    KeepChanges(&scheme->draft);
    *out = scheme->Score(kAnnealRejected);
    SaveDraft(&scheme->draft);
    if (out->cost < kAnnealRejected) return Status::kOk;
  }
  return Fail(diagnostic, Status::kInfeasible, "fusion")
      .Text("the unfused start does not fit the scratchpad");
}

Status Construct(Scheme* scheme, uint64_t evaluations, bool alone,
                 const Workspace& work, SchemeScore* out) {
  ResetDraft(&scheme->draft);
  return Refit(scheme, evaluations, alone, work, out);
}

}  // namespace sluice
