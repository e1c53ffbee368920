// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/window.h"

#include "base/checked.h"

namespace sluice {
namespace {

bool Grid(void* user, const int32_t extent[4], uint32_t axes, uint32_t tiles,
          int32_t counts[4]) {
  const TileModel& m = static_cast<SchemeWindow*>(user)->memo->model();
  return m.grid(m.user, extent, axes, tiles, counts);
}

void Need(void* user, uint32_t layer, uint32_t input, const CutBox& ofmap,
          CutBox* out) {
  const SchemeWindow& w = *static_cast<SchemeWindow*>(user);
  const TileModel& m = w.memo->model();
  m.need(m.user, w.layer[layer], input, ofmap, out);
}

bool CostOf(void* user, uint32_t layer, const int32_t extent[4], TileCost* out) {
  const SchemeWindow& w = *static_cast<SchemeWindow*>(user);
  return w.memo->Cost(w.layer[layer], extent, out);
}

int64_t Bytes(const FusionProblem& p, const FusionLayer& l) {
  int64_t bytes = l.element_bytes;
  for (int32_t e : l.extent) bytes *= e;
  return p.alignment_bytes == 0
             ? bytes
             : RoundUpTo(bytes, Max(p.alignment_bytes, int64_t{l.element_bytes}));
}

// Where a layer is read, relative to the window.
struct Readers {
  bool inside = false;
  bool kept = false;    // after the window, in the fusion group that crosses its end
  bool stored = false;  // in a later fusion group
};

class Opener {
 public:
  Opener(const FusionProblem& whole, const GroupNotation& notation, uint32_t first,
         uint32_t last, WindowIndex* index, SchemeWindow* window)
      : whole_(whole),
        notation_(notation),
        first_(first),
        last_(last),
        group_first_(first),
        group_last_(last),
        index_(index),
        window_(window) {
    const uint32_t n = static_cast<uint32_t>(notation.order.size());
    while (notation.cut[group_first_] != kCutDram) --group_first_;
    while (group_last_ < n && notation.cut[group_last_] != kCutDram) ++group_last_;
    for (uint32_t i = first + 1; i < last; ++i) through_ &= notation.cut[i] != kCutDram;
  }

  Status Open(Arena* arena) {
    const size_t n = last_ - first_;
    uint32_t edges = 0;
    for (uint32_t i = first_; i < last_; ++i) {
      edges += whole_.layers[notation_.order[i]].inputs;
    }
    Span<uint32_t> consumers;
    SLUICE_TRY(arena->Allocate(n, &window_->layer));
    SLUICE_TRY(arena->Allocate(n, &layers_));
    SLUICE_TRY(arena->Allocate(edges, &inputs_));
    SLUICE_TRY(arena->Allocate(edges, &externals_));
    SLUICE_TRY(arena->Allocate(edges, &consumers));
    SLUICE_TRY(arena->Allocate(n, &window_->notation.order));
    SLUICE_TRY(arena->Allocate(n, &window_->notation.cut));
    SLUICE_TRY(arena->Allocate(n, &window_->notation.tiles));
    if (!whole_.reserve.empty()) SLUICE_TRY(arena->Allocate(n, &reserve_));
    ++index_->now;
    for (uint32_t i = 0; i < n; ++i) AddLayer(i);
    FusionProblem* p = &window_->problem;
    *p = whole_;
    p->inputs = inputs_;
    LinkConsumers(layers_, inputs_, consumers);
    p->layers = layers_;
    p->consumers = consumers;
    p->externals = externals_.Slice(0, external_count_);
    p->reserve = reserve_;
    p->buffer_bytes -= PassingBytes();
    return Status::kOk;
  }

 private:
  Readers ReadersOf(uint32_t layer) const {
    Readers r;
    const FusionLayer& l = whole_.layers[layer];
    for (uint32_t c = l.first_consumer; c < l.first_consumer + l.consumers; ++c) {
      const uint32_t at = index_->position[whole_.consumers[c]];
      r.inside |= at >= first_ && at < last_;
      r.kept |= at >= last_ && at < group_last_;
      r.stored |= at >= group_last_;
    }
    return r;
  }

  void AddLayer(uint32_t i) {
    const uint32_t layer = notation_.order[first_ + i];
    window_->layer[i] = layer;
    window_->notation.order[i] = i;
    window_->notation.cut[i] = i == 0 ? uint8_t{kCutDram} : notation_.cut[first_ + i];
    window_->notation.tiles[i] = notation_.tiles[first_ + i];
    FusionLayer* l = &layers_[i];
    *l = whole_.layers[layer];
    if (!reserve_.empty()) reserve_[i] = whole_.reserve[layer];
    const Readers readers = ReadersOf(layer);
    l->output |= readers.stored;
    l->kept = readers.kept;
    const uint32_t from = l->first_input;
    l->first_input = input_count_;
    for (uint32_t e = from; e < from + l->inputs; ++e) {
      FusionInput* input = &inputs_[input_count_++];
      *input = whole_.inputs[e];
      input->source = Source(input->source);
    }
  }

  // The window's number of a source of the whole problem.
  uint32_t Source(uint32_t source) {
    const size_t layers = whole_.layers.size();
    const uint32_t n = last_ - first_;
    const bool made = source < layers;
    if (made && index_->position[source] >= first_) {
      return index_->position[source] - first_;
    }
    if (index_->stamp[source] != index_->now) {
      index_->stamp[source] = index_->now;
      index_->external[source] = external_count_;
      FusionExternal* x = &externals_[external_count_++];
      if (made) {
        const FusionLayer& l = whole_.layers[source];
        for (int a = 0; a < 4; ++a) x->extent[a] = l.extent[a];
        x->element_bytes = l.element_bytes;
        x->resident = index_->position[source] >= group_first_;
        x->kept = x->resident && ReadersOf(source).kept;
      } else {
        *x = whole_.externals[source - layers];
      }
    }
    return n + index_->external[source];
  }

  // Bytes of tensors made before the window and read after it, but not inside.
  int64_t PassingBytes() const {
    if (!through_) return 0;
    int64_t bytes = 0;
    for (uint32_t i = group_first_; i < first_; ++i) {
      const uint32_t layer = notation_.order[i];
      const Readers readers = ReadersOf(layer);
      if (readers.kept && !readers.inside) bytes += Bytes(whole_, whole_.layers[layer]);
    }
    return bytes;
  }

  const FusionProblem& whole_;
  const GroupNotation& notation_;
  uint32_t first_, last_;
  uint32_t group_first_, group_last_;  // fusion groups that reach over the ends
  bool through_ = true;                // one fusion group from end to end
  WindowIndex* index_;
  SchemeWindow* window_;
  Span<FusionLayer> layers_;
  Span<FusionInput> inputs_;
  Span<FusionExternal> externals_;
  Span<int64_t> reserve_;
  uint32_t input_count_ = 0;
  uint32_t external_count_ = 0;
};

}  // namespace

Status WindowIndex::Init(Arena* arena, const FusionProblem& problem) {
  const size_t sources = problem.layers.size() + problem.externals.size();
  SLUICE_TRY(arena->Allocate(problem.layers.size(), &position));
  SLUICE_TRY(arena->Allocate(sources, &external));
  return arena->Allocate(sources, &stamp);
}

TileModel WindowModel(SchemeWindow* window) {
  return TileModel{window, Grid, Need, CostOf, window->memo->model().flags};
}

Status OpenWindow(const WindowPlace& place, WindowIndex* index, Arena* arena,
                  SchemeWindow* window) {
  *window = SchemeWindow{};
  window->whole = &place.whole;
  window->memo = place.memo;
  window->model = WindowModel(window);
  return Opener(place.whole, place.notation, place.first, place.last, index, window)
      .Open(arena);
}

}  // namespace sluice
