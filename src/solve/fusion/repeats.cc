// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/repeats.h"

#include "base/checked.h"
#include "solve/fusion/alike_runs.h"

namespace sluice {
namespace {

constexpr uint32_t kLongestPeriod = 512;  // layers of a block
constexpr uint32_t kFewestBlocks = 4;     // fewer than kKept + 1 spare nothing
constexpr uint32_t kKept = 3;             // blocks: first, second, last

uint64_t Mix(uint64_t h, uint64_t v) {
  h = (h << 23 | h >> 41) ^ v;
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 27) * 0x94d049bb133111ebu;
  return h ^ h >> 31;
}

uint64_t MixExtent(uint64_t h, const int32_t extent[4]) {
  for (int a = 0; a < 4; ++a) h = Mix(h, static_cast<uint32_t>(extent[a]));
  return h;
}

// Hash of a layer and of the relative positions of its inputs.
uint64_t HashOf(const FusionProblem& p, uint32_t layer) {
  const FusionLayer& l = p.layers[layer];
  uint64_t h = MixExtent(Mix(0x9e3779b97f4a7c15u, l.signature), l.extent);
  h = Mix(h, l.element_bytes);
  h = Mix(h, static_cast<uint64_t>(l.weight_bytes));
  h = Mix(h, static_cast<uint64_t>(l.parameter_bytes));
  h = Mix(h, uint64_t{l.axes} * 4 + uint64_t{l.output} * 2 + l.kept);
  if (!p.reserve.empty()) h = Mix(h, static_cast<uint64_t>(p.reserve[layer]));
  for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
    const FusionInput& input = p.inputs[e];
    h = Mix(h, input.fused_axes);
    if (input.source < p.layers.size()) {
      h = Mix(h, layer - input.source);
      continue;
    }
    const FusionExternal& x = p.externals[input.source - p.layers.size()];
    h = MixExtent(Mix(h, x.element_bytes), x.extent);
    h = Mix(h, x.resident ? 1 : 0);
  }
  return h;
}

class Finder {
 public:
  Finder(const FusionProblem& p, Span<const uint64_t> hash, Span<const uint8_t> taken)
      : p_(p), hash_(hash), taken_(taken) {}

  Repeat Best() {
    const uint32_t n = static_cast<uint32_t>(hash_.size());
    Repeat best = {0, 0, 0};
    for (uint32_t period = 1; period <= Min(kLongestPeriod, n / kFewestBlocks);
         ++period) {
      EachAlikeRun(
          n, period, [&](uint32_t i) { return Alike(i, period); },
          [&](uint32_t first, uint32_t alike) {
            const Repeat r = {first, period, alike / period + 1};
            if (r.count < kFewestBlocks || Spared(r) <= Spared(best)) return;
            const Repeat aligned = Align(r, alike);
            if (Spared(aligned) > Spared(best)) best = aligned;
          });
    }
    return best;
  }

  static uint32_t Spared(const Repeat& r) {
    return r.count < kFewestBlocks ? 0 : (r.count - kKept) * r.period;
  }

 private:
  bool Alike(uint32_t i, uint32_t period) const {
    return hash_[i] == hash_[i + period] && p_.layers[i].signature != 0 &&
           taken_[i] == 0 && taken_[i + period] == 0;
  }

  // Shifts the start so that blocks read only themselves and the block before, if
  // possible.
  Repeat Align(const Repeat& r, uint32_t alike) const {
    Repeat best = {0, 0, 0};
    for (uint32_t shift = 0; shift < Min(r.period, alike + 1); ++shift) {
      const Repeat moved = {r.first + shift, r.period, (alike - shift) / r.period + 1};
      if (Spared(moved) > Spared(best) && KeepsToItself(moved)) best = moved;
    }
    return best;
  }

  bool KeepsToItself(const Repeat& r) const {
    const uint32_t end = r.first + r.period * r.count;
    for (uint32_t i = r.first; i < end; ++i) {
      const uint32_t block = (i - r.first) / r.period;
      const FusionLayer& l = p_.layers[i];
      for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
        const uint32_t source = p_.inputs[e].source;
        if (source >= p_.layers.size()) continue;
        // A block may read the block before it; the first block may read anything.
        const uint32_t reach = r.first + (block == 0 ? 0 : (block - 1) * r.period);
        if (block != 0 && source < reach) return false;
      }
      for (uint32_t c = l.first_consumer; c < l.first_consumer + l.consumers; ++c) {
        const uint32_t reader = p_.consumers[c];
        if (reader >= end && block + 1 != r.count) return false;
      }
    }
    return true;
  }

  const FusionProblem& p_;
  Span<const uint64_t> hash_;
  Span<const uint8_t> taken_;
};

// Walks the layers of the whole as the short network has them.
template <typename F>
void EachKept(uint32_t n, const Repeats& repeats, F visit) {
  uint32_t segment = 0;
  int run = 0;
  for (uint32_t i = 0; i < n;) {
    if (run == repeats.runs || i < repeats.run[run].first) {
      visit(i++, segment);
      continue;
    }
    const Repeat& r = repeats.run[run++];
    const uint32_t kept[kKept] = {0, 1, r.count - 1};
    for (uint32_t block : kept) {
      ++segment;
      for (uint32_t k = 0; k < r.period; ++k) {
        visit(r.first + block * r.period + k, segment);
      }
    }
    ++segment;
    i = r.first + r.count * r.period;
  }
}

}  // namespace

Status FindRepeats(const FusionProblem& problem, Arena* scratch, Repeats* out) {
  ArenaScope scope(scratch);
  const size_t n = problem.layers.size();
  Span<uint64_t> hash;
  Span<uint8_t> taken;
  SLUICE_TRY(scratch->Allocate(n, &hash));
  SLUICE_TRY(scratch->Allocate(n, &taken));
  for (uint32_t i = 0; i < n; ++i) hash[i] = HashOf(problem, i);
  *out = Repeats();
  while (out->runs < Repeats::kMost) {
    const Repeat r = Finder(problem, hash, taken).Best();
    if (Finder::Spared(r) == 0) break;
    for (uint32_t i = r.first; i < r.first + r.period * r.count; ++i) taken[i] = 1;
    int at = out->runs++;
    for (; at > 0 && out->run[at - 1].first > r.first; --at) {
      out->run[at] = out->run[at - 1];
    }
    out->run[at] = r;
    out->spared += Finder::Spared(r);
  }
  return Status::kOk;
}

Status Shorten(const FusionProblem& whole, TileMemo* memo, const Repeats& repeats,
               Arena* arena, ShortNetwork* out) {
  const uint32_t n = static_cast<uint32_t>(whole.layers.size());
  const uint32_t m = n - repeats.spared;
  Span<uint32_t> here;  // by layer of the whole
  Span<uint32_t> consumers;
  Span<FusionLayer> layers;
  Span<FusionInput> inputs;
  Span<int64_t> reserve;
  SLUICE_TRY(arena->Allocate(n, &here));
  SLUICE_TRY(arena->Allocate(m, &out->window.layer));
  SLUICE_TRY(arena->Allocate(m, &out->segment));
  SLUICE_TRY(arena->Allocate(m, &layers));
  SLUICE_TRY(arena->Allocate(whole.inputs.size(), &inputs));
  SLUICE_TRY(arena->Allocate(whole.inputs.size(), &consumers));
  if (!whole.reserve.empty()) SLUICE_TRY(arena->Allocate(m, &reserve));
  uint32_t count = 0;
  EachKept(n, repeats, [&](uint32_t layer, uint32_t segment) {
    out->window.layer[count] = layer;
    out->segment[count] = segment;
    here[layer] = count++;
  });
  // In the short network the last block reads the second one in place of the block
  // before it.
  for (int i = 0; i < repeats.runs; ++i) {
    const Repeat& r = repeats.run[i];
    for (uint32_t k = 0; k < r.period; ++k) {
      here[r.first + (r.count - 2) * r.period + k] = here[r.first + r.period + k];
    }
  }
  uint32_t edges = 0;
  for (uint32_t i = 0; i < m; ++i) {
    const uint32_t layer = out->window.layer[i];
    layers[i] = whole.layers[layer];
    if (!reserve.empty()) reserve[i] = whole.reserve[layer];
    const uint32_t from = layers[i].first_input;
    layers[i].first_input = edges;
    for (uint32_t e = from; e < from + layers[i].inputs; ++e) {
      inputs[edges] = whole.inputs[e];
      const uint32_t source = whole.inputs[e].source;
      inputs[edges++].source = source < n ? here[source] : m + (source - n);
    }
  }
  SchemeWindow* w = &out->window;
  w->whole = &whole;
  w->memo = memo;
  w->problem = whole;
  w->problem.inputs = inputs.Slice(0, edges);
  LinkConsumers(layers, w->problem.inputs, consumers);
  w->problem.layers = layers;
  w->problem.consumers = consumers;
  w->problem.reserve = reserve;
  w->model = WindowModel(w);
  return Status::kOk;
}

void Stamp(const ShortNetwork& network, const Repeats& repeats,
           const GroupNotation& from, GroupNotation* to) {
  uint32_t at = 0;  // position in the whole
  const auto put = [&](uint32_t i, uint32_t shift) {
    to->order[at] = network.window.layer[from.order[i]] + shift;
    to->cut[at] = from.cut[i];
    to->tiles[at++] = from.tiles[i];
  };
  int run = 0;
  for (uint32_t i = 0; i < from.order.size();) {
    const uint32_t layer = network.window.layer[from.order[i]];
    if (run == repeats.runs || layer < repeats.run[run].first) {
      put(i++, 0);
      continue;
    }
    const Repeat& r = repeats.run[run++];
    for (uint32_t block = 0; block < r.count; ++block) {
      const uint32_t kept = block == 0 ? 0 : block + 1 == r.count ? 2 : 1;
      const uint32_t shift = kept == 1 ? (block - 1) * r.period : 0;
      for (uint32_t k = 0; k < r.period; ++k) put(i + kept * r.period + k, shift);
    }
    i += kKept * r.period;
  }
}

}  // namespace sluice
