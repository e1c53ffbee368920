// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/repetition.h"

#include "base/checked.h"
#include "base/hash.h"
#include "solve/fusion/alike_runs.h"

namespace sluice {
namespace {

constexpr uint32_t kLeastTimes = 3;  // that the layers occur in a row

// What a layer does, and the distances to the earlier layers that it reads.
struct Signatures {
  Span<uint64_t> of;  // by layer given
  Span<uint32_t>
      last_read;  // by layer given: the last given layer that reads its output, or 0
};

uint64_t HashTensor(const Tensor& t, uint64_t hash) {
  hash = Fnv1a(t.extent, sizeof t.extent, hash);
  return Fnv1a(&t.element_bytes, sizeof t.element_bytes, hash);
}

Status Sign(const Graph& graph, const Lowering& lowering, Span<const uint32_t> layers,
            Arena* arena, Signatures* out) {
  Span<uint32_t> place;  // by graph layer
  SLUICE_TRY(arena->Allocate(layers.size(), &out->of));
  SLUICE_TRY(arena->Allocate(layers.size(), &out->last_read));
  SLUICE_TRY(arena->Allocate(graph.layers.size(), &place));
  for (uint32_t& p : place) p = kNone;
  for (uint32_t i = 0; i < layers.size(); ++i) {
    if (i % 64 == 63 && arena->memory()->Stop()) return Status::kStopped;
    const Layer& layer = lowering.executed[layers[i]];
    uint64_t hash = Fnv1a(&layer.op, sizeof layer.op);
    hash = HashTensor(graph.tensors[layer.outputs[0]], hash);
    for (uint32_t t : layer.inputs) {
      uint32_t distance = 0;
      if (t != kNone) {
        hash = HashTensor(graph.tensors[t], hash);
        const uint32_t producer =
            graph.tensors[WrittenTensor(graph, lowering, t)].producer;
        if (producer != kNone && place[producer] != kNone) {
          distance = i - place[producer];
          out->last_read[place[producer]] = i;
        }
      }
      hash = Fnv1a(&distance, sizeof distance, hash);
    }
    out->of[i] = hash;
    place[layers[i]] = i;
  }
  return Status::kOk;
}

}  // namespace

Status FindRepetition(const Graph& graph, const Lowering& lowering,
                      Span<const uint32_t> layers, Arena* scratch, Repetition* out) {
  ArenaScope scope(scratch);
  *out = Repetition{};
  Signatures s;
  SLUICE_TRY(Sign(graph, lowering, layers, scratch, &s));
  const uint32_t n = static_cast<uint32_t>(layers.size());
  uint32_t longest = 0;
  uint32_t from = 0;
  for (uint32_t period = 2; period <= n / kLeastTimes; ++period) {
    if (period % 16 == 0 && scratch->memory()->Stop()) return Status::kStopped;
    uint32_t first = 0;
    uint32_t run = 0;
    EachAlikeRun(
        n, period, [&](uint32_t i) { return s.of[i] == s.of[i + period]; },
        [&](uint32_t at, uint32_t length) {
          if (length <= run) return;
          first = at;
          run = length;
        });
    // A multiple of a period repeats over fewer layers.
    if (run + period < kLeastTimes * period || run <= longest + period) continue;
    longest = run;
    from = first;
    out->period = period;
  }
  if (longest == 0) return Status::kOk;
  int64_t fewest = INT64_MAX;
  for (uint32_t at = from; at < from + out->period; ++at) {
    // Look one period later, where the layers before the cut are already the repeated
    // ones.
    const uint32_t cut = at + out->period;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < cut; ++i) {
      if (s.last_read[i] < cut) continue;
      bytes += graph.tensors[lowering.executed[layers[i]].outputs[0]].bytes;
    }
    if (bytes >= fewest) continue;
    fewest = bytes;
    out->first = at;
  }
  out->times = (from + longest + out->period - out->first) / out->period;
  return Status::kOk;
}

}  // namespace sluice
