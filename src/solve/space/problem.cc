// SPDX-License-Identifier: Apache-2.0
#include "solve/space/problem.h"

#include "base/checked.h"
#include "model/engines.h"
#include "model/off_chip.h"
#include "model/tile_cycles.h"

namespace sluice {
namespace {

void NoteMaker(SpaceRoot* root, uint32_t position) {
  root->first_maker =
      root->first_maker == kNone ? position : Min(root->first_maker, position);
  root->last_maker =
      root->last_maker == kNone ? position : Max(root->last_maker, position);
}

// Calls visit(root) for each root that a position reads, once.
template <typename Visit>
void ForEachRead(const SpaceProblem& p, uint32_t position, Visit visit) {
  const Layer& layer = p.at(position);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    if (layer.inputs[i] == kNone) continue;
    const uint32_t root = p.root_of[layer.inputs[i]];
    bool again = false;
    for (size_t k = 0; k < i; ++k) {
      again = again || (layer.inputs[k] != kNone && p.root_of[layer.inputs[k]] == root);
    }
    if (!again) visit(root);
  }
}

void FindRoots(SpaceProblem* p) {
  const Graph& graph = *p->graph;
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    SpaceRoot* root = &p->roots[t];
    *root = SpaceRoot{};
    root->bytes = p->Aligned(tensor.bytes);
    root->first_maker = root->last_maker = root->last_reader = kNone;
    root->constant = tensor.kind == TensorKind::kConstant;
    root->dram = tensor.kind == TensorKind::kState;
    root->share = PortShare(*p->hardware, tensor);
    p->root_of[t] = RootOf(*p->lowering, t);
  }
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    SpaceRoot* root = &p->roots[p->root_of[t]];
    if (graph.tensors[t].kind == TensorKind::kOutput) root->output = true;
  }
}

Status FindUses(SpaceProblem* p, Arena* arena) {
  uint32_t uses = 0;
  for (uint32_t at = 0; at < p->layer.size(); ++at) {
    const Layer& layer = p->at(at);
    for (uint32_t t : layer.outputs) {
      // A state is there from the start.
      if (p->graph->tensors[t].kind == TensorKind::kState) continue;
      NoteMaker(&p->roots[p->root_of[t]], at);
      if (p->alone[at] != 0) p->roots[p->root_of[t]].dram = true;
    }
    ForEachRead(*p, at, [&](uint32_t root) {
      ++p->roots[root].uses;
      ++uses;
      p->roots[root].last_reader = at;
    });
  }
  SLUICE_TRY(arena->Allocate(uses, &p->use));
  uses = 0;
  for (SpaceRoot& root : p->roots) {
    // Nothing needs what this layer makes: there would be no bytes to give it room for.
    const bool made = root.first_maker != kNone && !root.dram;
    if (made && root.uses == 0 && !root.output) return Status::kUnsupported;
    root.first_use = uses;
    uses += root.uses;
    root.uses = 0;
  }
  for (uint32_t at = 0; at < p->layer.size(); ++at) {
    ForEachRead(*p, at, [&](uint32_t root) {
      SpaceRoot* r = &p->roots[root];
      p->use[r->first_use + r->uses++] = at;
    });
  }
  return Status::kOk;
}

bool RowsFit(const SpaceProblem& p, const Layer& append) {
  const Tensor& rows = p.graph->tensors[append.inputs[1]];
  return rows.bytes / rows.extent[0] <= p.capacity / 4;
}

// The first queue that loads (stores, for outputs) this role, if shapes matter to it.
const Queue* SlowQueue(const Hardware& hardware, uint32_t role) {
  const uint32_t does =
      role == SLUICE_ROLE_OUTPUT ? SLUICE_DOES_STORE : SLUICE_DOES_LOAD;
  for (const Queue& q : hardware.queues) {
    if ((q.does & does) == 0 || (q.roles & role) == 0) continue;
    return q.burst_bytes > 1 || q.descriptor_cycles > 0 ? &q : nullptr;
  }
  return nullptr;
}

}  // namespace

uint32_t SpaceProblem::NextUse(uint32_t root, uint32_t from) const {
  const SpaceRoot& r = roots[root];
  uint32_t begin = r.first_use, end = r.first_use + r.uses;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (use[middle] < from) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < r.first_use + r.uses ? use[begin] : kNone;
}

int64_t SpaceProblem::DmaCycles(int64_t bytes, int64_t transfers) const {
  const Rational& b = hardware->dram().bandwidth;
  const int64_t moving =
      b.numerator == 0 ? 0 : TransferCycles(bytes, b.numerator, b.denominator);
  return moving + transfers * hardware->dma_latency_cycles;
}

// Of a box. Sums over all boxes stay far below 2^63.
constexpr Queue kPlainQueue = {};
constexpr double kMostLost = 1099511627776.0;

int64_t SpaceProblem::LostBytes(const Box& box, uint32_t root, bool stored) const {
  const Queue* queue = moves[stored ? 2 : roots[root].constant];
  const Tensor& t = graph->tensors[root];
  const double share = roots[root].share;
  if (queue == nullptr && share != 1) queue = &kPlainQueue;
  if (queue == nullptr || box.elements() == 0) return 0;
  uint32_t dram[kAxes], pad[kAxes], from = t.element_bytes, to = from;
  for (int a = kAxes; a-- > 0;) {
    dram[a] = from;
    pad[a] = to;
    from *= static_cast<uint32_t>(t.extent[a]);
    to *= static_cast<uint32_t>(box.extent[a]);
  }
  const QueueWork work =
      WorkOf(*queue, {box.extent, dram, pad, t.element_bytes, false});
  const Rational& b = hardware->dram().bandwidth;
  const double cycles = static_cast<double>(work.descriptors - 1) *
                        static_cast<double>(queue->descriptor_cycles);
  const double per_cycle = b.numerator == 0 ? 0
                                            : static_cast<double>(b.numerator) /
                                                  static_cast<double>(b.denominator);
  // A memory that is slower than the last level counts as more bytes, weights that are
  // encoded as fewer.
  const double lasting = static_cast<double>(work.bytes) * share;
  const double unfilled =
      lasting - static_cast<double>(box.elements() * t.element_bytes);
  return static_cast<int64_t>(Min(unfilled + cycles * per_cycle, kMostLost));
}

bool SpaceProblem::IsMade(uint32_t root, uint32_t before) const {
  const uint32_t last = roots[root].last_maker;
  return last != kNone && last < before;
}

bool SpaceProblem::Lives(uint32_t root, uint32_t from) const {
  const SpaceRoot& r = roots[root];
  return (r.last_reader != kNone && r.last_reader >= from) ||
         (r.last_maker != kNone && r.last_maker >= from);
}

[[gnu::cold]] bool IsOrder(const Graph& graph, const Lowering& lowering,
                           Span<const uint32_t> order, Arena* scratch) {
  ArenaScope scope(scratch);
  Span<uint32_t> step;  // by tensor, of what makes it: plus one
  Span<uint32_t> at;    // by layer
  if (scratch->Allocate(graph.tensors.size(), &step) != Status::kOk ||
      scratch->Allocate(graph.layers.size(), &at) != Status::kOk) {
    return false;
  }
  for (uint32_t i = 0; i < order.size(); ++i) {
    const uint32_t l = order[i];
    if (l >= at.size() || at[l] != 0 || lowering.is_view[l] != 0) return false;
    at[l] = i + 1;
  }
  for (uint32_t l = 0; l < at.size(); ++l) {
    const bool view = lowering.is_view[l] != 0;
    uint32_t behind = 0;  // the latest that it reads
    for (const uint32_t t : lowering.executed[l].inputs) {
      if (t != kNone) behind = Max(behind, step[t]);
    }
    if (!view && at[l] <= behind) return false;
    for (const uint32_t t : lowering.executed[l].outputs) {
      if (graph.tensors[t].kind == TensorKind::kState) return false;
      step[t] = view ? behind : at[l];
    }
  }
  return true;
}

Status MakeSpaceProblem(const SpaceInput& input, Arena* arena, SpaceProblem* out) {
  SpaceProblem& p = *out;
  p.graph = &input.graph;
  p.hardware = &input.hardware;
  p.lowering = &input.lowering;
  SLUICE_TRY(MakeRootMap(input.graph, input.lowering, arena, &p.map));
  p.coster = input.coster;
  for (int k = 0; k < 3; ++k) p.moves[k] = SlowQueue(input.hardware, 1u << k);
  p.capacity = input.capacity;
  p.alignment = Max(input.hardware.scratchpad().alignment_bytes,
                    input.hardware.accumulator_bytes);
  for (const Tensor& t : input.graph.tensors) {
    p.alignment = Max<int64_t>(p.alignment, DtypeBytes(t.dtype));
  }
  size_t n = 0;
  for (const uint8_t view : input.lowering.is_view) n += view == 0 ? 1 : 0;
  SLUICE_TRY(arena->Allocate(n, &p.layer));
  SLUICE_TRY(arena->Allocate(n, &p.alone));
  SLUICE_TRY(arena->Allocate(n, &p.slack));
  SLUICE_TRY(arena->Allocate(input.graph.tensors.size(), &p.roots));
  SLUICE_TRY(arena->Allocate(input.graph.tensors.size(), &p.root_of));
  const size_t layers = input.order.empty() ? input.graph.layers.size() : n;
  n = 0;
  for (uint32_t i = 0; i < layers; ++i) {
    const uint32_t l = input.order.empty() ? i : input.order[i];
    if (input.lowering.is_view[l] != 0) continue;
    const Layer& layer = input.lowering.executed[l];
    const LayerKind kind = KindOf(layer.op);
    // Appended rows are moved as a whole or image by image. Where the rows of one image
    // are too large for that, the layer is alone and goes through DRAM.
    const bool moves = kind == LayerKind::kAppend && RowsFit(p, layer);
    p.layer[n] = l;
    p.alone[n++] = kind != LayerKind::kCompute && !moves;
  }
  FindRoots(out);
  return FindUses(out, arena);
}

}  // namespace sluice
