// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/construct.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr uint32_t kWindow = 7;  // positions each side of the peak
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
bool BestFit(Scheme* s, uint32_t at, const SchemeScore& now, Budget* budget,
             Fit* best) {
  const uint32_t n = static_cast<uint32_t>(s->layers());
  double best_merit = kAnnealRejected;
  bool found = false;
  const auto attempt = [&](const Fit& f) {
    Apply(f, s);
    const SchemeScore score = s->Bound();
    s->Undo();
    const double merit = Merit(score);
    if (merit >= best_merit || score.excess >= now.excess) return;
    best_merit = merit;
    *best = f;
    found = true;
  };
  const uint32_t low = at > kWindow ? at - kWindow : 0;
  const uint32_t high = Min(n, at + kWindow + 1);
  for (uint32_t first = low; first <= at && !budget->Exhausted(); ++first) {
    for (uint32_t last = at + 1; last <= high; ++last) {
      for (int32_t tiles = 2; tiles <= 64; tiles *= 2) {
        attempt(Fit{first, last, tiles, false});
      }
    }
  }
  for (uint32_t i = Max(low, 1u); i < high; ++i) {
    if (s->notation().cut[i] != kCutDram) attempt(Fit{i, i, 1, true});
  }
  return found;
}

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

Status FitBuffer(Scheme* s, Budget* budget, Diagnostic* diagnostic, SchemeScore* out) {
  *out = s->Bound();
  Fit fit = {};
  uint32_t fit_at = 0;
  double gain = 0;
  while (out->parsed == ParseResult::kOk && out->minimum_bytes > s->target_bytes) {
    const uint32_t at = s->PeakPosition();
    Fit next;
    if (gain <= 0 || !SameFit(s, at, *out, fit, fit_at, gain, &next)) {
      if (!BestFit(s, at, *out, budget, &next)) {
        return FitAlone(s, budget, diagnostic, out);
      }
    }
    Apply(next, s);
    s->Keep();
    const double before = Area(*out);
    *out = s->Bound();
    fit = next;
    fit_at = at;
    gain = before - Area(*out);
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

Status Construct(Scheme* scheme, uint64_t evaluations, Budget* budget,
                 Diagnostic* diagnostic, SchemeScore* out) {
  scheme->Reset();
  return Refit(scheme, evaluations, budget, diagnostic, out);
}

Status Refit(Scheme* scheme, uint64_t evaluations, Budget* budget,
             Diagnostic* diagnostic, SchemeScore* out) {
  SLUICE_TRY(FitBuffer(scheme, budget, diagnostic, out));
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
  bool better = true;
  while (better && evaluations != 0) {
    better = false;
    for (uint32_t i = 0; i < scheme->layers() && !budget->Exhausted(); ++i) {
      better |= ImproveAt(scheme, i, out, &evaluations);
    }
  }
  scheme->Save();
  return Status::kOk;
}

}  // namespace sluice
