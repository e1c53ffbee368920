// SPDX-License-Identifier: Apache-2.0
#include "plan/space/segment_notation.h"

#include "base/checked.h"

namespace sluice {
namespace {

// No plan has a segment of more iterations.
constexpr int64_t kMostIterations = int64_t{1} << 22;

Status Bad(Diagnostic* diagnostic, const char* what) {
  return Fail(diagnostic, Status::kBadInput, "notation").Text(what);
}

bool Fits(int64_t value) { return value >= 0 && value <= int64_t{UINT32_MAX}; }

// Reads the loops of a segment; false if they are not valid.
bool ReadChoice(const PlanSegment& segment, Span<const PlanLoop> loops,
                LoopChoice* choice) {
  if (loops.size() > size_t{kMaxLoops}) return false;
  uint32_t axes = 0;
  int64_t iterations = 1;
  for (const PlanLoop& loop : loops) {
    if (loop.axis > uint32_t{kSumCut} || (axes >> loop.axis & 1) != 0) return false;
    if (loop.trips < 2 || loop.trips > kMostIterations / iterations) return false;
    axes |= 1u << loop.axis;
    iterations *= loop.trips;
    choice->Add(static_cast<int>(loop.axis), loop.trips);
  }
  choice->slice = segment.slice;
  choice->piece = segment.piece;
  return true;
}

// True if the search could have chosen the segment. A layer that runs alone is a
// segment of its own, without cuts. A sum is cut by the innermost loop, and only if the
// layer allows it. No loop has more trips than the last layer's output, or the sum, has
// parts.
bool IsLegal(const SpaceProblem& p, const KnownSegment& segment, uint32_t first) {
  const LoopChoice& choice = segment.choice;
  const bool single = segment.last - first == 1;
  const bool whole = choice.slice == 0 && choice.piece == 0;
  for (uint32_t at = first; at < segment.last; ++at) {
    if (p.alone[at] != 0 && !(single && whole && choice.count == 0)) return false;
  }
  const Layer& layer = p.at(segment.last - 1);
  for (int i = 0; i < choice.count; ++i) {
    const int64_t trips = choice.trips[i];
    if (choice.cut[i] == kSumCut) {
      const uint32_t at = SummedOf(p, first, segment.last);
      const bool may = whole && i + 1 == choice.count && at != kNone;
      if (!may || PartsOfSum(p, at, choice.trips[i]) != trips) return false;
    } else if (trips > p.graph->tensors[layer.outputs[0]].extent[choice.cut[i]]) {
      return false;
    }
  }
  return true;
}

// Finds the position in the problem from which on the layers of a segment stand one
// after the other, as in the notation; kNone: there is none.
class Finder {
 public:
  Finder(const PlanNotation& n, const SpaceProblem& p, const Alignment* alignment)
      : n_(n), p_(p), alignment_(alignment) {}

  Status Init(Arena* scratch) {
    SLUICE_TRY(scratch->Allocate(p_.lowering->executed.size(), &position_));
    for (uint32_t& at : position_) at = kNone;
    for (uint32_t at = 0; at < p_.layer.size(); ++at) position_[p_.layer[at]] = at;
    return Status::kOk;
  }

  // first: index in the notation's order.
  uint32_t Find(uint32_t first, uint32_t layers) const {
    const uint32_t begin = PositionOf(n_.order[first]);
    if (begin == kNone) return kNone;
    for (uint32_t i = 1; i < layers; ++i) {
      if (PositionOf(n_.order[first + i]) != begin + i) return kNone;
    }
    return begin;
  }

 private:
  uint32_t PositionOf(uint32_t before) const {
    uint32_t layer = before;
    if (alignment_ != nullptr) {
      if (before >= alignment_->after_of.size()) return kNone;
      layer = alignment_->after_of[before];
      if (layer == kNone || alignment_->same[layer] == 0) return kNone;
    }
    return layer < position_.size() ? position_[layer] : kNone;
  }

  const PlanNotation& n_;
  const SpaceProblem& p_;
  const Alignment* alignment_;
  Span<uint32_t> position_;  // by layer
};

// Drops the segments next to layers that have changed: another cut may suit both
// better.
Status DropNeighbours(CarriedSegments* out, Arena* scratch) {
  const uint32_t n = static_cast<uint32_t>(out->known.size());
  Span<uint8_t> covered;
  SLUICE_TRY(scratch->Allocate(n, &covered));
  for (uint32_t at = 0; at < n; ++at) {
    for (uint32_t p = at; p < out->known[at].last; ++p) covered[p] = 1;
  }
  for (uint32_t at = 0; at < n; ++at) {
    const uint32_t last = out->known[at].last;
    if (last == 0) continue;
    const bool stays =
        (at == 0 || covered[at - 1] != 0) && (last == n || covered[last] != 0);
    if (stays) continue;
    out->known[at].last = 0;
    --out->kept;
  }
  return Status::kOk;
}

}  // namespace

Status NoteSpace(const NotedSpace& noted, Arena* arena, PlanNotation* notation) {
  const SpacePlan& plan = noted.plan;
  Span<PlanSection> section;
  Span<uint32_t> order, leave;
  Span<PlanSegment> segment;
  SLUICE_TRY(arena->Allocate(1, &section));
  SLUICE_TRY(arena->Allocate(plan.layers.size(), &order));
  SLUICE_TRY(arena->Allocate(plan.segments.size(), &segment));
  Vector<PlanLoop> loop(arena);
  bool leaves = false;
  for (const int64_t bytes : noted.leave) {
    if (!Fits(bytes)) return Status::kUnsupported;
    leaves = leaves || bytes != 0;
  }
  for (size_t p = 0; p < order.size(); ++p) order[p] = plan.layers[p].layer;
  for (size_t s = 0; s < segment.size(); ++s) {
    const SpaceSegment& of = plan.segments[s];
    const LoopChoice& choice = of.choice;
    if (!Fits(choice.slice) || !Fits(choice.piece)) return Status::kUnsupported;
    segment[s] = {of.last - of.first, static_cast<uint32_t>(choice.count),
                  static_cast<uint32_t>(choice.slice),
                  static_cast<uint32_t>(choice.piece)};
    for (int i = 0; i < choice.count; ++i) {
      SLUICE_TRY(loop.Push({choice.cut[i], choice.trips[i]}));
    }
  }
  if (leaves) {
    SLUICE_TRY(arena->Allocate(order.size(), &leave));
    for (size_t p = 0; p < order.size(); ++p) {
      leave[p] = static_cast<uint32_t>(noted.leave[p]);
    }
  }
  section[0] = {order.empty() ? 0 : order[0], kSegmentSection, 0, 0};
  notation->section = section;
  notation->order = order;
  notation->segment = segment;
  notation->loop = loop.span();
  notation->leave = leave;
  notation->placing = noted.placing;
  return Status::kOk;
}

bool IsOfSegments(const PlanNotation& notation) {
  return notation.section.size() == 1 && notation.section[0].kind == kSegmentSection &&
         !notation.segment.empty();
}

[[gnu::cold]] Status LayersOf(const CarriedFrom& from, Arena* arena,
                              Span<uint32_t>* order) {
  const Span<const uint32_t> noted = from.notation->order;
  SLUICE_TRY(arena->Allocate(noted.size(), order));
  for (size_t i = 0; i < noted.size(); ++i) {
    uint32_t l = noted[i];
    if (from.alignment != nullptr) {
      l = l < from.alignment->after_of.size() ? from.alignment->after_of[l] : kNone;
    }
    (*order)[i] = l;
  }
  return Status::kOk;
}

Status CarrySegments(const CarriedFrom& from, const SpaceProblem& problem, Arena* arena,
                     CarriedSegments* out, Diagnostic* diagnostic) {
  const PlanNotation& notation = *from.notation;
  if (!IsOfSegments(notation)) {
    return Bad(diagnostic, "the plan's notation is not one of segments");
  }
  Arena scratch(arena->memory());
  Finder finder(notation, problem, from.alignment);
  SLUICE_TRY(finder.Init(&scratch));
  SLUICE_TRY(arena->Allocate(problem.layer.size(), &out->known));
  SLUICE_TRY(arena->Allocate(problem.layer.size(), &out->leave));
  size_t position = 0, loop = 0, covered = 0;
  for (const PlanSegment& s : notation.segment) {
    if (s.layers == 0 || s.layers > notation.order.size() - position ||
        s.loops > notation.loop.size() - loop) {
      return Bad(diagnostic, "a segment has no layers, or more than the order has");
    }
    LoopChoice choice;
    if (!ReadChoice(s, notation.loop.Slice(loop, loop + s.loops), &choice)) {
      return Bad(diagnostic,
                 "a segment's loops name no axis, an axis twice, or fewer than two or "
                 "too many trips");
    }
    const uint32_t first = static_cast<uint32_t>(position);
    const uint32_t at = finder.Find(first, s.layers);
    position += s.layers;
    loop += s.loops;
    const KnownSegment known = {at + s.layers, choice};
    if (at == kNone || !IsLegal(problem, known, at)) continue;
    out->known[at] = known;
    for (uint32_t i = 0; i < s.layers && !notation.leave.empty(); ++i) {
      out->leave[at + i] = notation.leave[first + i];
    }
    ++out->kept;
    covered += s.layers;
  }
  out->all = covered == problem.layer.size();
  return out->all || from.near ? Status::kOk : DropNeighbours(out, &scratch);
}

}  // namespace sluice
