// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/fit.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr uint32_t kWindow = 7;       // positions each side of the peak
constexpr int32_t kFinestFit = 64;    // tiles a window is cut into at most
constexpr double kExcessPrice = 16;   // relative cost of bytes over the buffer
constexpr int32_t kMostTiles = 4096;  // when a layer alone must fit

// Cost plus a steep penalty for bytes over the buffer.
double Merit(const SchemeScore& s) {
  if (s.parsed != ParseResult::kOk) return kAnnealRejected;
  return s.cost * (1 + kExcessPrice * s.excess);
}

struct Fit {
  uint32_t first, last;
  int32_t tiles;
  bool dram;  // a DRAM cut at `first` in place of a group
};

void Apply(const Fit& f, Scheme* s) {
  if (!f.dram) {
    MakeGroup(&s->draft, f.first, f.last, f.tiles);
    return;
  }
  if (s->notation().cut[f.first] == kCutNone) {
    SetTiles(&s->draft, f.first, s->notation().tiles[GroupFirst(s->draft, f.first)]);
  }
  SetCut(&s->draft, f.first, kCutDram);
}

// The change around position `at` with the best merit.
class FitSearch {
 public:
  FitSearch(Scheme* s, const SchemeScore& now, uint64_t* looks)
      : s_(s), now_(now), looks_(looks) {}

  bool Around(uint32_t at, Budget* budget, Fit* best) {
    const uint32_t n = static_cast<uint32_t>(s_->layers());
    const uint32_t low = at > kWindow ? at - kWindow : 0;
    const uint32_t high = Min(n, at + kWindow + 1);
    for (uint32_t first = low; first <= at && !budget->Exhausted(); ++first) {
      for (uint32_t last = at + 1; last <= high && *looks_ != 0 && !budget->Exhausted();
           ++last) {
        Window(first, last);
      }
    }
    for (uint32_t i = Max(low, 1u); i < high; ++i) {
      if (s_->notation().cut[i] != kCutDram) Attempt(Fit{i, i, 1, true});
    }
    *best = best_;
    return *looks_ != 0 && best_merit_ < kAnnealRejected;
  }

 private:
  // Cuts finer and finer until that no longer helps.
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
    UndoChanges(&s_->draft);
    *looks_ -= Min<uint64_t>(*looks_, s_->list().tiles);
    const double merit = Merit(score);
    if (merit < best_merit_ && score.excess < now_.excess) {
      best_merit_ = merit;
      best_ = f;
    }
    return score;
  }

  Scheme* s_;
  SchemeScore now_;
  uint64_t* looks_;
  double best_merit_ = kAnnealRejected;
  Fit best_ = {};
};

double Area(const SchemeScore& s) {
  return s.excess * static_cast<double>(s.latency_cycles);
}

// A fit that was found, to be tried at the next peak.
struct Hint {
  Fit fit = {};
  uint32_t at = 0;
  double gain = 0;  // 0 = none yet
};

// Networks repeat: tries at this peak the change that helped at another one.
bool SameFit(Scheme* s, uint32_t at, const SchemeScore& now, const Hint& hint,
             Fit* fit) {
  const Fit& model = hint.fit;
  const int64_t shift = int64_t{at} - hint.at;
  const int64_t first = model.first + shift;
  const int64_t last = model.last + shift;
  // A DRAM cut precedes a layer; the end of a group may be the scheme's end.
  const int64_t cut = model.dram ? 1 : 0;
  if (first < cut || last + cut > static_cast<int64_t>(s->layers())) return false;
  *fit = Fit{static_cast<uint32_t>(first), static_cast<uint32_t>(last), model.tiles,
             model.dram};
  Apply(*fit, s);
  const SchemeScore score = s->Bound();
  UndoChanges(&s->draft);
  return score.parsed == ParseResult::kOk && Area(now) - Area(score) >= 0.9 * hint.gain;
}

// Changes a scheme around its peaks until it fits; false when nothing helps.
bool FitScheme(Scheme* s, Hint* hint, uint64_t* looks, Budget* budget,
               SchemeScore* out) {
  *out = s->Bound();
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    const uint32_t at = s->PeakPosition();
    Fit next;
    if (hint->gain <= 0 || !SameFit(s, at, *out, *hint, &next)) {
      if (!FitSearch(s, *out, looks).Around(at, budget, &next)) return false;
    }
    Apply(next, s);
    KeepChanges(&s->draft);
    const double before = Area(*out);
    *out = s->Bound();
    *hint = Hint{next, at, before - Area(*out)};
  }
  return out->parsed == ParseResult::kOk;
}

// Shared by all fits of one call.
struct FitCall {
  Hint hint;
  uint64_t looks;  // left
  WindowIndex* index;
  const Workspace& work;
};

// FitScheme in the groups around position `at`; *fits says whether it succeeded.
Status FitAround(Scheme* whole, uint32_t at, const SchemeScore& now, FitCall* call,
                 bool* fits) {
  Hint* hint = &call->hint;
  ArenaScope scope(call->work.arena);
  const uint32_t n = static_cast<uint32_t>(whole->layers());
  uint32_t first = at > 2 * kWindow ? at - 2 * kWindow : 0;
  uint32_t last = Min(n, at + 2 * kWindow + 1);
  AlignToGroups(*whole, &first, &last);
  Stretch part;
  SLUICE_TRY(OpenStretch(*whole, first, last, call->index, call->work.arena, &part));
  Scheme* s = &part.scheme;
  s->target_bytes -= whole->problem().buffer_bytes - whole->target_bytes;
  SchemeScore score = s->Bound();
  s->rest = RestOf(*whole, now, *s, score);
  const auto shift = [&](Hint* h, int64_t by) {
    h->at = static_cast<uint32_t>(h->at + by);
    h->fit.first = static_cast<uint32_t>(h->fit.first + by);
    h->fit.last = static_cast<uint32_t>(h->fit.last + by);
  };
  shift(hint, -int64_t{first});
  *fits = FitScheme(s, hint, &call->looks, call->work.budget, &score);
  shift(hint, first);
  if (*fits) WriteBack(part, whole);
  return Status::kOk;
}

// Doubles the tiles of every layer that exceeds the buffer, again and again; false when
// that no longer helps.
bool CutAllAtOnce(Scheme* s, SchemeScore* out) {
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    uint32_t p = 0;
    bool more = true;
    for (uint32_t i = 0; i < s->layers(); ++i) {
      const int32_t tiles = s->notation().tiles[i];
      bool over = false;
      for (int32_t k = 0; k < tiles; ++k) over |= s->Use(p++) > s->target_bytes;
      if (!over) continue;
      more &= tiles < kMostTiles;
      SetTiles(&s->draft, i, 2 * tiles);
    }
    const double before = out->excess;
    *out = s->Bound();
    if (!more || out->parsed != ParseResult::kOk || out->excess >= before) {
      UndoChanges(&s->draft);
      return false;
    }
    KeepChanges(&s->draft);
  }
  return out->parsed == ParseResult::kOk;
}

}  // namespace

Status FitAlone(Scheme* s, Budget* budget, Diagnostic* diagnostic, SchemeScore* out) {
  ResetDraft(&s->draft);
  for (uint32_t i = 0; i < s->layers(); ++i) {
    SetCut(&s->draft, i, kCutDram);
    if (s->double_buffer) SetTiles(&s->draft, i, s->problem().layers[i].extent[0]);
    KeepChanges(&s->draft);
  }
  KeepChanges(&s->draft);
  *out = s->Bound();
  if (CutAllAtOnce(s, out)) return Status::kOk;
  *out = s->Bound();
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    if (budget->Exhausted()) return Status::kStopped;
    const uint32_t at = s->PeakPosition();
    const int32_t tiles = s->notation().tiles[at];
    SchemeScore next;
    int32_t more = tiles;
    do {
      more *= 2;
      SetTiles(&s->draft, at, more);
      next = s->Bound();
      UndoChanges(&s->draft);
    } while (more < kMostTiles &&
             (next.parsed != ParseResult::kOk || next.excess >= out->excess));
    if (next.parsed != ParseResult::kOk || next.excess >= out->excess) {
      return Fail(diagnostic, Status::kInfeasible, "fusion")
          .Text("one layer alone does not fit the scratchpad")
          .Layer(s->notation().order[at])
          .Bytes(static_cast<uint64_t>(out->minimum_bytes),
                 static_cast<uint64_t>(s->target_bytes));
    }
    SetTiles(&s->draft, at, more);
    KeepChanges(&s->draft);
    *out = s->Bound();
  }
  return Status::kOk;
}

Status FitBuffer(Scheme* s, uint64_t looks, WindowIndex* index, const Workspace& work,
                 SchemeScore* out, bool* fits) {
  *out = s->Bound();
  FitCall call = {{}, looks, index, work};
  double before = kAnnealRejected;
  *fits = true;
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    *fits = false;
    if (Area(*out) >= before) break;
    before = Area(*out);
    SLUICE_TRY(FitAround(s, s->PeakPosition(), *out, &call, fits));
    if (!*fits) break;
    KeepChanges(&s->draft);
    *out = s->Bound();
  }
  *fits = *fits && out->parsed == ParseResult::kOk;
  return Status::kOk;
}

}  // namespace sluice
