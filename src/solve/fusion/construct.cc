// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/construct.h"

#include "base/checked.h"
#include "solve/fusion/stretch.h"

namespace sluice {
namespace {

constexpr uint32_t kWindow = 7;     // positions each side of the peak
constexpr int32_t kFinestFit = 64;  // tiles a window is cut into at most
// Improving works on the whole while one look at every layer costs no more tiles.
constexpr uint64_t kWholeTiles = 300000;
constexpr uint32_t kStretch = 24;  // positions that are improved together otherwise
constexpr uint32_t kStretchStep = 16;
constexpr uint32_t kBatches = 8;  // of stretches between two looks at the whole
constexpr double kExcessPrice = 16;
constexpr int32_t kMostTiles = 4096;  // when a layer alone must fit

// Cost with a steep price on bytes over the buffer.
double Merit(const SchemeScore& s) {
  if (s.parsed != ParseResult::kOk) return kAnnealRejected;
  return s.cost * (1 + kExcessPrice * s.excess);
}

struct Fit {
  uint32_t first, last;
  int32_t tiles;
  bool dram;  // not a group but a DRAM cut at first
};

void Apply(const Fit& f, Scheme* s) {
  if (!f.dram) {
    s->MakeGroup(f.first, f.last, f.tiles);
    return;
  }
  if (s->notation().cut[f.first] == kCutNone) {
    s->SetTiles(f.first, s->notation().tiles[s->GroupFirst(f.first)]);
  }
  s->SetCut(f.first, kCutDram);
}

// The change around position `at` with the best merit.
class FitSearch {
 public:
  FitSearch(Scheme* s, const SchemeScore& now) : s_(s), now_(now) {}

  bool Around(uint32_t at, Budget* budget, Fit* best) {
    const uint32_t n = static_cast<uint32_t>(s_->layers());
    const uint32_t low = at > kWindow ? at - kWindow : 0;
    const uint32_t high = Min(n, at + kWindow + 1);
    for (uint32_t first = low; first <= at && !budget->Exhausted(); ++first) {
      for (uint32_t last = at + 1; last <= high; ++last) Window(first, last);
    }
    for (uint32_t i = Max(low, 1u); i < high; ++i) {
      if (s_->notation().cut[i] != kCutDram) Attempt(Fit{i, i, 1, true});
    }
    *best = best_;
    return best_merit_ < kAnnealRejected;
  }

 private:
  // Finer and finer, until that helps no more.
  void Window(uint32_t first, uint32_t last) {
    double least = now_.excess;
    for (int32_t tiles = 2; tiles <= kFinestFit; tiles *= 2) {
      const SchemeScore score = Attempt(Fit{first, last, tiles, false});
      if (score.parsed == ParseResult::kOk) {
        if (score.excess >= least && least < now_.excess) return;
        least = Min(least, score.excess);
        if (score.excess <= 0) return;
      }
    }
  }

  SchemeScore Attempt(const Fit& f) {
    Apply(f, s_);
    const SchemeScore score = s_->Bound();
    s_->Undo();
    const double merit = Merit(score);
    if (merit < best_merit_ && score.excess < now_.excess) {
      best_merit_ = merit;
      best_ = f;
    }
    return score;
  }

  Scheme* s_;
  SchemeScore now_;
  double best_merit_ = kAnnealRejected;
  Fit best_ = {};
};

// Every layer in a fusion group of its own, cut until it fits.
Status FitAlone(Scheme* s, Budget* budget, Diagnostic* diagnostic, SchemeScore* out) {
  s->Reset();
  for (uint32_t i = 0; i < s->layers(); ++i) {
    s->SetCut(i, kCutDram);
    if (s->double_buffer) s->SetTiles(i, s->problem().layers[i].extent[0]);
    s->Keep();
  }
  s->Keep();
  *out = s->Bound();
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    if (budget->Exhausted()) return Status::kStopped;
    const uint32_t at = s->PeakPosition();
    const int32_t tiles = s->notation().tiles[at];
    SchemeScore next;
    int32_t more = tiles;
    do {
      more *= 2;
      s->SetTiles(at, more);
      next = s->Bound();
      s->Undo();
    } while (more < kMostTiles &&
             (next.parsed != ParseResult::kOk || next.excess >= out->excess));
    if (next.parsed != ParseResult::kOk || next.excess >= out->excess) {
      return Fail(diagnostic, Status::kInfeasible, "fusion")
          .Text("one layer alone does not fit the scratchpad")
          .Layer(s->notation().order[at])
          .Bytes(static_cast<uint64_t>(out->minimum_bytes),
                 static_cast<uint64_t>(s->target_bytes));
    }
    s->SetTiles(at, more);
    s->Keep();
    *out = s->Bound();
  }
  return Status::kOk;
}

double Area(const SchemeScore& s) {
  return s.excess * static_cast<double>(s.latency_cycles);
}

// The change that helped at another peak, moved to this one: networks repeat
// themselves.
bool SameFit(Scheme* s, uint32_t at, const SchemeScore& now, const Fit& model,
             uint32_t model_at, double gain, Fit* fit) {
  const int64_t shift = int64_t{at} - model_at;
  const int64_t first = model.first + shift;
  const int64_t last = model.last + shift;
  if (first < (model.dram ? 1 : 0) || last > static_cast<int64_t>(s->layers())) {
    return false;
  }
  *fit = Fit{static_cast<uint32_t>(first), static_cast<uint32_t>(last), model.tiles,
             model.dram};
  Apply(*fit, s);
  const SchemeScore score = s->Bound();
  s->Undo();
  return score.parsed == ParseResult::kOk && Area(now) - Area(score) >= 0.9 * gain;
}

// A fit that was found, to be tried at the next peak.
struct Hint {
  Fit fit = {};
  uint32_t at = 0;
  double gain = 0;  // 0 = none yet
};

// Changes a scheme around its peaks until it fits; false when nothing helps.
bool FitScheme(Scheme* s, Hint* hint, Budget* budget, SchemeScore* out) {
  *out = s->Bound();
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    const uint32_t at = s->PeakPosition();
    Fit next;
    if (hint->gain <= 0 ||
        !SameFit(s, at, *out, hint->fit, hint->at, hint->gain, &next)) {
      if (!FitSearch(s, *out).Around(at, budget, &next)) return false;
    }
    Apply(next, s);
    s->Keep();
    const double before = Area(*out);
    *out = s->Bound();
    *hint = Hint{next, at, before - Area(*out)};
  }
  return out->parsed == ParseResult::kOk;
}

SchemeRest RestOf(const SchemeScore& whole, const TileList& whole_list,
                  const SchemeScore& part, const TileList& part_list) {
  SchemeRest rest;
  rest.energy_pj = whole.energy_pj - part.energy_pj;
  rest.compute_cycles = whole_list.compute_cycles - part_list.compute_cycles;
  rest.dram_cycles = whole_list.dram_cycles - part_list.dram_cycles;
  rest.latency_cycles = whole.latency_cycles - part.latency_cycles;
  return rest;
}

// FitScheme in the groups around position `at`; *fits says whether it succeeded.
Status FitAround(Scheme* whole, uint32_t at, const SchemeScore& now, Hint* hint,
                 WindowIndex* index, Arena* arena, Budget* budget, bool* fits) {
  ArenaScope scope(arena);
  const uint32_t n = static_cast<uint32_t>(whole->layers());
  uint32_t first = at > 2 * kWindow ? at - 2 * kWindow : 0;
  uint32_t last = Min(n, at + 2 * kWindow + 1);
  AlignToGroups(*whole, &first, &last);
  Stretch part;
  SLUICE_TRY(OpenStretch(*whole, first, last, index, arena, &part));
  Scheme* s = &part.scheme;
  s->target_bytes -= whole->problem().buffer_bytes - whole->target_bytes;
  SchemeScore score = s->Bound();
  s->rest = RestOf(now, whole->list(), score, s->list());
  const auto shift = [&](Hint* h, int64_t by) {
    h->at = static_cast<uint32_t>(h->at + by);
    h->fit.first = static_cast<uint32_t>(h->fit.first + by);
    h->fit.last = static_cast<uint32_t>(h->fit.last + by);
  };
  shift(hint, -int64_t{first});
  *fits = FitScheme(s, hint, budget, &score);
  shift(hint, first);
  if (*fits) WriteBack(part, whole);
  return Status::kOk;
}

// Works on the stretch around the highest peak until the whole fits.
Status FitBuffer(Scheme* s, WindowIndex* index, Arena* arena, Budget* budget,
                 Diagnostic* diagnostic, SchemeScore* out) {
  *out = s->Bound();
  Hint hint;
  double before = kAnnealRejected;
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    bool fits = false;
    if (Area(*out) < before) {
      before = Area(*out);
      SLUICE_TRY(
          FitAround(s, s->PeakPosition(), *out, &hint, index, arena, budget, &fits));
    }
    if (!fits) return FitAlone(s, budget, diagnostic, out);
    s->Keep();
    *out = s->Bound();
  }
  return Status::kOk;
}

// Tries one change; keeps it when it is better.
bool Try(Scheme* s, SchemeScore* best, uint64_t* left) {
  if (*left == 0) {
    s->Undo();
    return false;
  }
  --*left;
  const SchemeScore score = s->Score(best->cost);
  if (score.cost >= best->cost) {
    s->Undo();
    return false;
  }
  *best = score;
  s->Keep();
  return true;
}

bool ImproveAt(Scheme* s, uint32_t i, SchemeScore* best, uint64_t* left) {
  const GroupNotation& g = s->notation();
  bool better = false;
  if (i > 0 && g.cut[i] != kCutNone) {  // join with the group before
    const int32_t tiles = g.tiles[i];
    s->SetCut(i, kCutNone);
    better = Try(s, best, left);
    if (!better && tiles != g.tiles[s->GroupFirst(i - 1)]) {
      const uint32_t before = s->GroupFirst(i - 1);
      s->SetCut(i, kCutNone);
      s->SetTiles(before, tiles);
      better = Try(s, best, left);
    }
  } else if (i > 0) {  // split off
    s->SetTiles(i, g.tiles[s->GroupFirst(i)]);
    s->SetCut(i, kCutFine);
    better = Try(s, best, left);
  }
  if (g.cut[i] != kCutNone) {
    const int32_t tiles = g.tiles[i];
    if (tiles > 1) {
      s->SetTiles(i, tiles / 2);
      better |= Try(s, best, left);
    }
    s->SetTiles(i, 2 * g.tiles[i]);
    better |= Try(s, best, left);
  }
  if (i > 0 && g.cut[i] == kCutDram) {
    s->SetCut(i, kCutFine);
    better |= Try(s, best, left);
  }
  return better;
}

// One change at a time in every layer of the stretches from `first` on; false at the
// end of the scheme.
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
  s->rest = RestOf(now, whole->list(), score, s->list());
  score.cost = Cost(s->objective(), now.energy_pj, now.latency_cycles);
  uint64_t evaluations = 4 * uint64_t{last - first};
  bool better = false;
  for (uint32_t i = 0; i < s->layers() && !budget->Exhausted(); ++i) {
    better |= ImproveAt(s, i, &score, &evaluations);
  }
  if (better) WriteBack(part, whole);
  return Status::kOk;
}

// Improves stretch by stretch; what the whole does not confirm is taken back.
Status ImproveByStretches(Scheme* s, WindowIndex* index, Arena* arena, Budget* budget,
                          SchemeScore* best) {
  const uint32_t n = static_cast<uint32_t>(s->layers());
  const uint32_t stretches = (n + kStretchStep - 1) / kStretchStep;
  const uint32_t batch = (stretches + kBatches - 1) / kBatches;
  for (uint32_t at = 0; at < n && !budget->Exhausted();) {
    s->Score(kAnnealRejected);  // so that its list is the whole's as it stands
    const SchemeScore now = *best;
    for (uint32_t i = 0; i < batch && at < n; ++i) {
      SLUICE_TRY(ImproveStretch(s, &at, now, index, arena, budget));
    }
    uint64_t one = 1;
    Try(s, best, &one);
  }
  return Status::kOk;
}

}  // namespace

Status ConstructAlone(Scheme* scheme, Budget* budget, Diagnostic* diagnostic,
                      SchemeScore* out) {
  for (int share = 2; share <= 8; share *= 2) {
    scheme->target_bytes = scheme->problem().buffer_bytes / share;
    const Status status = FitAlone(scheme, budget, diagnostic, out);
    if (status != Status::kOk && status != Status::kInfeasible) return status;
    scheme->Keep();
    *out = scheme->Score(kAnnealRejected);
    scheme->Save();
    if (out->cost < kAnnealRejected) return Status::kOk;
  }
  return Fail(diagnostic, Status::kInfeasible, "fusion")
      .Text("the unfused start does not fit the scratchpad");
}

Status Construct(Scheme* scheme, uint64_t evaluations, Arena* arena, Budget* budget,
                 Diagnostic* diagnostic, SchemeScore* out) {
  scheme->Reset();
  return Refit(scheme, evaluations, arena, budget, diagnostic, out);
}

Status Refit(Scheme* scheme, uint64_t evaluations, Arena* arena, Budget* budget,
             Diagnostic* diagnostic, SchemeScore* out) {
  ArenaScope scope(arena);
  WindowIndex index;
  SLUICE_TRY(index.Init(arena, scheme->problem()));
  SLUICE_TRY(FitBuffer(scheme, &index, arena, budget, diagnostic, out));
  scheme->Keep();
  if (out->parsed != ParseResult::kOk) {
    return Fail(diagnostic, Status::kInfeasible, "fusion")
        .Text(out->parsed == ParseResult::kMapping ? "a layer has no mapping"
                                                   : "too many tiles");
  }
  *out = scheme->Score(kAnnealRejected);
  for (uint32_t policy = 1; policy < kDmaPolicies; ++policy) {
    scheme->SetPolicy(policy);
    uint64_t one = 1;
    Try(scheme, out, &one);
  }
  const uint64_t whole = kWholeTiles / Max(scheme->list().tiles, 1u);
  if (whole < Min<uint64_t>(evaluations, 4 * scheme->layers())) {
    scheme->Save();
    SLUICE_TRY(ImproveByStretches(scheme, &index, arena, budget, out));
  } else {
    evaluations = Min(evaluations, whole);
    bool better = true;
    while (better && evaluations != 0) {
      better = false;
      for (uint32_t i = 0; i < scheme->layers() && !budget->Exhausted(); ++i) {
        better |= ImproveAt(scheme, i, out, &evaluations);
      }
    }
  }
  scheme->Save();
  return Status::kOk;
}

}  // namespace sluice
