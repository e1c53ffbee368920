// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_price.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr int32_t kFillSlices = 2;  // that the last layer of a pipeline makes at first
constexpr int32_t kSteadySlices = 4;  // that stand for others
constexpr int32_t kRoundsMore = 4;    // once all nodes of a sum are at work
constexpr int32_t kSlotsAhead = 2;  // slices that a layer may be ahead of the next one

// A sum over nodes: a round is the time of a piece of the output.
void ShowRounds(NodeLayer* self) {
  int outermost = kNodeLoops - 1;
  while (outermost > 0 && self->trips[LoopAt(*self, outermost)] == 1) --outermost;
  const int64_t chunks = self->trips[kLoopC];
  const int64_t pieces = self->per_slice / chunks;
  if (self->slices > 1 || outermost == 0) return;
  const int v = LoopAt(*self, outermost);
  self->rounds = pieces / self->trips[v];
  const int64_t before = CeilDivide(self->links + kRoundsMore, self->rounds);
  const int32_t left = self->trips[v] - static_cast<int32_t>(before) - 2;
  if (left <= 0) return;
  self->weighted = true;
  self->round_weight = 1 + left;
  self->first_round = before * self->rounds;
  self->shown[v] -= left;
  self->per_slice -= left * self->rounds * chunks;
  self->end_time -= left * self->rounds * chunks;
}

}  // namespace

Status BeginWeighted(const NodeContext& context, double weight) {
  SLUICE_TRY(context.program->BeginBlock());
  if (context.weights == nullptr) return Status::kOk;
  while (context.weights->size() + 1 < context.program->block_count()) {
    SLUICE_TRY(context.weights->Push(1));
  }
  return context.weights->Push(weight);
}

Status BeginTime(const NodeLayer& self, int64_t time) {
  if (!self.weighted) return Status::kOk;
  double weight = self.slice_weight;
  if (self.links > 1) {
    const int64_t round = time / self.trips[kLoopC] - self.first_round;
    const bool all = round >= 0 && round < self.rounds;
    return BeginWeighted(*self.context, all ? self.round_weight : 1);
  }
  int64_t left = time;
  for (int k = 0; k < kNodeLoops; ++k) {
    const int v = LoopAt(self, k);
    const int32_t shown = self.shown[v];
    weight *= StandsFor(static_cast<int32_t>(left % shown), shown, self.trips[v]);
    left /= shown;
  }
  return BeginWeighted(*self.context, weight);
}

void ShowSteps(NodeLayer* self) {
  if (self->context->weights == nullptr) return;
  // Nodes of a sum are at different steps at a time.
  if (self->links > 1) return ShowRounds(self);
  self->per_slice = 1;
  bool inner = true;  // the first step of the innermost loop fills the pipeline
  for (int k = 0; k < kNodeLoops; ++k) {
    const int v = LoopAt(*self, k);
    const int32_t chunk = v == kLoopC ? self->tiling.c_chunk : self->tiling.chunk[v];
    if (self->trips[v] == 1) continue;
    const bool even = self->share[v] % chunk == 0 && self->extent[v] % chunk == 0;
    self->shown[v] = Min(self->trips[v], even && !inner ? 2 : 3);
    inner = false;
    self->weighted = self->weighted || self->shown[v] < self->trips[v];
    self->per_slice *= self->shown[v];
  }
  self->end_time = self->slices * self->per_slice;
}

SteadySlices ShowSlices(Span<NodeLayer*> layers) {
  const int32_t depth = kSlotsAhead * static_cast<int32_t>(layers.size());
  const int32_t shown = kFillSlices + kSteadySlices + depth;
  const int32_t slices = layers[0]->slices;
  if (layers[0]->context->weights == nullptr || slices <= shown) return SteadySlices{};
  for (NodeLayer* layer : layers) {
    const int64_t period = layer->drains ? layer->end_time / slices : layer->per_slice;
    layer->end_time -= (slices - shown) * period;
    layer->slices = shown;
  }
  const double left = static_cast<double>(slices - shown);
  return SteadySlices{kFillSlices, kFillSlices + kSteadySlices,
                      1 + left / kSteadySlices};
}

}  // namespace sluice
