// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/segment_plan.h"

#include "base/checked.h"

namespace sluice {

namespace {

// ---- the order ----

// Behind which layer a layer that does not lead goes: the last of its producers, if
// that feeds nothing else.
uint32_t LeaderOf(Span<const UnorderedLayer> network, Span<const uint32_t> readers,
                  uint32_t i) {
  const UnorderedLayer& layer = network[i];
  if (layer.leads || layer.producers.empty()) return kNone;
  const uint32_t last = layer.producers[layer.producers.size() - 1];
  return readers[last] == 1 ? last : kNone;
}

struct Order {
  Span<uint32_t> vertex;  // of a layer: the layer that starts it
  Span<uint32_t> behind;  // next layer of the same vertex, or kNone
  Span<uint32_t> first;   // edges from a vertex: [first[v], first[v + 1]) of next
  Span<uint32_t> next;
  Span<uint32_t> list;  // layers in their new order
};

// Edges between vertices, each as often as it is there.
Status FindEdges(Span<const UnorderedLayer> network, Arena* arena, Order* order) {
  const size_t n = network.size();
  SLUICE_TRY(arena->Allocate(n + 2, &order->first));
  size_t edges = 0;
  for (int fill = 0; fill < 2; ++fill) {
    for (uint32_t i = 0; i < n; ++i) {
      const Span<const uint32_t> lists[2] = {network[i].producers, network[i].before};
      for (const Span<const uint32_t>& list : lists) {
        for (uint32_t p : list) {
          const uint32_t from = order->vertex[p], to = order->vertex[i];
          if (from == to) continue;
          if (fill == 0) {
            ++order->first[from + 2];
            ++edges;
          } else {
            order->next[order->first[from + 1]++] = to;
          }
        }
      }
    }
    if (fill == 1) break;
    for (size_t v = 2; v < n + 2; ++v) order->first[v] += order->first[v - 1];
    SLUICE_TRY(arena->Allocate(edges, &order->next));
  }
  return Status::kOk;
}

// Vertices in reverse post-order, so that those reached first come first.
Status Walk(Span<const UnorderedLayer> network, Arena* arena, Order* order) {
  const uint32_t n = static_cast<uint32_t>(network.size());
  Span<uint32_t> stack, at;
  Span<uint8_t> seen;
  SLUICE_TRY(arena->Allocate(size_t{n} + 1, &stack));
  SLUICE_TRY(arena->Allocate(n, &at));
  SLUICE_TRY(arena->Allocate(n, &seen));
  SLUICE_TRY(arena->Allocate(n, &order->list));
  uint32_t write = n;
  for (uint32_t root = n; root-- > 0;) {
    if (order->vertex[root] != root || seen[root] != 0) continue;
    size_t depth = 0;
    stack[depth++] = root;
    seen[root] = 1;
    while (depth > 0) {
      const uint32_t v = stack[depth - 1];
      const uint32_t edges = order->first[v + 1] - order->first[v];
      if (at[v] < edges) {
        const uint32_t to = order->next[order->first[v + 1] - 1 - at[v]++];
        if (seen[to] != 0) continue;
        seen[to] = 1;
        stack[depth++] = to;
        continue;
      }
      --depth;
      uint32_t count = 0;
      for (uint32_t i = v; i != kNone; i = order->behind[i]) ++count;
      write -= count;
      count = write;
      for (uint32_t i = v; i != kNone; i = order->behind[i]) order->list[count++] = i;
    }
  }
  return Status::kOk;
}

}  // namespace

Status OrderLayers(Span<const UnorderedLayer> network, Arena* arena,
                   Span<SegmentLayer>* layers) {
  const uint32_t n = static_cast<uint32_t>(network.size());
  Order order;
  Span<uint32_t> readers, place;
  SLUICE_TRY(arena->Allocate(n, &readers));
  SLUICE_TRY(arena->Allocate(n, &place));
  SLUICE_TRY(arena->Allocate(n, &order.vertex));
  SLUICE_TRY(arena->Allocate(n, &order.behind));
  SLUICE_TRY(arena->Allocate(n, layers));
  for (const UnorderedLayer& layer : network) {
    for (uint32_t p : layer.producers) ++readers[p];
    for (uint32_t p : layer.before) ++readers[p];
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t leader = LeaderOf(network, readers, i);
    order.vertex[i] = leader == kNone ? i : order.vertex[leader];
    order.behind[i] = kNone;
    if (leader != kNone) order.behind[leader] = i;
  }
  SLUICE_TRY(FindEdges(network, arena, &order));
  SLUICE_TRY(Walk(network, arena, &order));
  for (uint32_t k = 0; k < n; ++k) place[order.list[k]] = k;
  for (uint32_t k = 0; k < n; ++k) {
    const UnorderedLayer& from = network[order.list[k]];
    SegmentLayer* to = &(*layers)[k];
    to->problem = from.problem;
    to->layer = from.layer;
    to->leads = from.leads;
    to->stored = from.stored;
    to->whole = from.whole;
    to->input_words = from.input_words;
    Span<uint32_t> producers;
    Span<int64_t> share;
    SLUICE_TRY(arena->Allocate(from.producers.size(), &producers));
    SLUICE_TRY(arena->Allocate(from.producers.size(), &share));
    for (size_t j = 0; j < producers.size(); ++j) {
      const uint32_t p = place[from.producers[j]];
      size_t at = j;
      for (; at > 0 && producers[at - 1] > p; --at) {
        producers[at] = producers[at - 1];
        share[at] = share[at - 1];
      }
      producers[at] = p;
      share[at] = from.share[j];
    }
    to->producers = producers;
    to->share = share;
    Span<uint32_t> before;
    SLUICE_TRY(arena->Allocate(from.before.size(), &before));
    for (size_t j = 0; j < before.size(); ++j) before[j] = place[from.before[j]];
    to->before = before;
  }
  return Status::kOk;
}

namespace {

// ---- a graph's layers ----

struct Reading {
  const Graph& graph;
  const Lowering& lowering;
  Span<uint32_t> index;  // of a layer in the network, kNone for views
  Vector<uint32_t> producers;
  Vector<int64_t> share;
  Vector<uint32_t> stack;  // tensors still to be looked through
};

int64_t WordsOf(const Tensor& tensor) {
  return tensor.bytes / Max(int64_t{1}, int64_t{tensor.element_bytes});
}

Status AddProducer(Reading* in, uint32_t producer, int64_t words) {
  size_t at = in->producers.size();
  for (size_t i = 0; i < in->producers.size(); ++i) {
    if (in->producers[i] == producer) {
      in->share[i] += words;
      return Status::kOk;
    }
  }
  SLUICE_TRY(in->producers.Push(producer));
  SLUICE_TRY(in->share.Push(words));
  for (; at > 0 && in->producers[at - 1] > producer; --at) {
    in->producers[at] = in->producers[at - 1];
    in->share[at] = in->share[at - 1];
  }
  in->producers[at] = producer;
  in->share[at] = words;
  return Status::kOk;
}

// Adds who makes a tensor, through views; of a slice no more words than it has.
Status LookThrough(Reading* in, uint32_t tensor) {
  const int64_t most = WordsOf(in->graph.tensors[tensor]);
  in->stack.Truncate(0);
  SLUICE_TRY(in->stack.Push(tensor));
  while (in->stack.size() > 0) {
    const uint32_t t = in->stack[in->stack.size() - 1];
    in->stack.Pop();
    const Tensor& made = in->graph.tensors[t];
    if (made.kind == TensorKind::kConstant || made.producer == kNone) continue;
    if (in->index[made.producer] != kNone) {
      SLUICE_TRY(AddProducer(in, in->index[made.producer], Min(most, WordsOf(made))));
      continue;
    }
    for (uint32_t input : in->graph.layers[made.producer].inputs) {
      if (input != kNone) SLUICE_TRY(in->stack.Push(input));
    }
  }
  return Status::kOk;
}

// The inputs that count as one operand: weights have their own.
size_t InputsOf(const MappingProblem& problem, const Layer& layer) {
  return Has(problem, kWeight) ? Min(size_t{1}, layer.inputs.size())
                               : layer.inputs.size();
}

bool IsRowwise(const Layer& layer) {
  switch (layer.op) {
    case SLUICE_OP_FULLY_CONNECTED:
    case SLUICE_OP_ADD:
    case SLUICE_OP_SUB:
    case SLUICE_OP_MUL:
    case SLUICE_OP_MINIMUM:
    case SLUICE_OP_MAXIMUM:
    case SLUICE_OP_RELU_GRADIENT:
    case SLUICE_OP_REQUANTIZE:
    case SLUICE_OP_LOOKUP:
      return true;
    default:
      return false;
  }
}

bool IsSliced(const Layer& layer) {
  switch (layer.op) {
    case SLUICE_OP_CONV:
    case SLUICE_OP_DEPTHWISE_CONV:
    case SLUICE_OP_TRANSPOSED_CONV:
    case SLUICE_OP_MAX_POOL:
    case SLUICE_OP_AVERAGE_POOL:
    case SLUICE_OP_MAX_POOL_GRADIENT:
      return true;
    default:
      return IsRowwise(layer);
  }
}

// Problems of layers; without a nest of their own, one operation per word.
Status ProblemFor(const Graph& graph, const Layer& layer, uint32_t index,
                  uint32_t accumulator_bytes, uint32_t word_bytes, UnorderedLayer* made,
                  Diagnostic* diagnostic) {
  const Tensor& out = graph.tensors[layer.outputs[0]];
  MappingProblem* problem = &made->problem;
  const Status status = ProblemOfTile(graph, layer, out.extent, 0, accumulator_bytes,
                                      problem, diagnostic);
  if (status == Status::kUnsupported) {
    int64_t words = WordsOf(out);
    for (uint32_t input : layer.inputs) {
      if (input != kNone) words = Max(words, WordsOf(graph.tensors[input]));
    }
    *problem = ConvProblem(1, 1, 1, words, 1, 1, 1, 1, 1);
    problem->operands = OperandBit(kInput) | OperandBit(kOutput);
    problem->vector = true;
    SLUICE_TRY(CheckProblem(*problem, diagnostic));
  } else if (status != Status::kOk) {
    diagnostic->layer = index;
    return status;
  }
  made->leads = !problem->vector || status == Status::kUnsupported;
  made->whole = status == Status::kUnsupported || !IsSliced(layer);
  int64_t* e = problem->extent;
  if (!made->whole && IsRowwise(layer) && e[kDimN] == 1 && e[kDimP] == 1) {
    e[kDimN] = e[kDimQ];
    e[kDimQ] = 1;
  }
  if (word_bytes != 0) {
    for (uint32_t& bytes : problem->element_bytes) bytes = word_bytes;
    problem->partial_bytes = word_bytes;
  }
  return Status::kOk;
}

}  // namespace

Status NetworkOfGraph(const Graph& graph, const Hardware& hardware,
                      const Lowering& lowering, uint32_t word_bytes, Arena* arena,
                      Span<SegmentLayer>* layers, Diagnostic* diagnostic) {
  Arena memory(arena->memory());
  Reading in{graph,
             lowering,
             {},
             Vector<uint32_t>(&memory),
             Vector<int64_t>(&memory),
             Vector<uint32_t>(&memory)};
  SLUICE_TRY(memory.Allocate(graph.layers.size(), &in.index));
  Vector<UnorderedLayer> network(&memory);
  for (uint32_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = lowering.executed[i];
    in.index[i] = kNone;
    if (lowering.is_view[i] != 0 || layer.outputs.empty() || layer.input(0) == kNone) {
      continue;
    }
    UnorderedLayer made = {};
    made.layer = i;
    SLUICE_TRY(ProblemFor(graph, layer, i, hardware.accumulator_bytes, word_bytes,
                          &made, diagnostic));
    in.producers.Truncate(0);
    in.share.Truncate(0);
    for (size_t k = 0; k < InputsOf(made.problem, layer); ++k) {
      if (layer.inputs[k] == kNone) continue;
      made.input_words += WordsOf(graph.tensors[layer.inputs[k]]);
      SLUICE_TRY(LookThrough(&in, layer.inputs[k]));
    }
    for (uint32_t t : layer.outputs) {
      made.stored |= graph.tensors[t].kind != TensorKind::kIntermediate;
    }
    Span<uint32_t> producers;
    Span<int64_t> share;
    SLUICE_TRY(memory.Allocate(in.producers.size(), &producers));
    SLUICE_TRY(memory.Allocate(in.producers.size(), &share));
    for (size_t k = 0; k < producers.size(); ++k) {
      producers[k] = in.producers[k];
      share[k] = in.share[k];
    }
    made.producers = producers;
    made.share = share;
    in.producers.Truncate(0);
    in.share.Truncate(0);
    for (size_t k = InputsOf(made.problem, layer); k < layer.inputs.size(); ++k) {
      if (layer.inputs[k] != kNone) SLUICE_TRY(LookThrough(&in, layer.inputs[k]));
    }
    Span<uint32_t> before;
    SLUICE_TRY(memory.Allocate(in.producers.size(), &before));
    for (size_t k = 0; k < before.size(); ++k) before[k] = in.producers[k];
    made.before = before;
    in.index[i] = static_cast<uint32_t>(network.size());
    SLUICE_TRY(network.Push(made));
  }
  return OrderLayers(network.span(), arena, layers);
}

Hardware WithNodeLeakage(const Hardware& hardware) {
  Hardware one = hardware;
  one.leakage_pj_per_cycle /= static_cast<double>(NodesOf(WholeMesh(hardware)));
  return one;
}

namespace {

Status PriceOnNodes(void* user, const LayerQuery& query, LayerPrice* price,
                    Diagnostic* diagnostic) {
  NodePricer* self = static_cast<NodePricer*>(user);
  ArenaScope scope(&self->arena);
  NodeParallelOptions options = self->options;
  options.terms = query.terms;
  options.stay = query.stay;
  options.table = &self->table;
  Hardware hardware = self->hardware;
  Span<MemoryLevel> levels;
  if (query.reserved_bytes > 0) {
    SLUICE_TRY(self->arena.Allocate(hardware.levels.size(), &levels));
    for (size_t l = 0; l < levels.size(); ++l) levels[l] = hardware.levels[l];
    int64_t* capacity = &levels[levels.size() - 2].capacity_bytes;
    if (*capacity != 0 && *capacity <= query.reserved_bytes) {
      return Fail(diagnostic, Status::kInfeasible, "segments")
          .Text("what waits on the chip leaves no room");
    }
    if (*capacity != 0) *capacity -= query.reserved_bytes;
    hardware.levels = levels;
  }
  NodeMapping mapped;
  SLUICE_TRY(MapOnNodes(self->layers[query.position].problem, hardware, query.region,
                        options, self->budget, &self->arena, &mapped, diagnostic));
  price->split = mapped.split;
  price->nest = mapped.nest;
  price->kept = mapped.kept;
  price->cost = mapped.cost;
  return Status::kOk;
}

}  // namespace

LayerPricer NodePricer::pricer() { return LayerPricer{this, PriceOnNodes}; }

}  // namespace sluice
