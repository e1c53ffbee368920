// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/segment_network.h"

#include "base/checked.h"
#include "plan/mesh/layer_order.h"

namespace sluice {

namespace {

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

// Adds the layers that make a tensor, looking through views. A slice counts at most its
// own words.
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

// How many inputs count as the input operand of the nest.
size_t InputsOf(const MappingProblem& problem, const Layer& layer) {
  return Has(problem, kWeight) ? Min(size_t{1}, layer.inputs.size())
                               : layer.inputs.size();
}

// True if rows of the output can be made one after the other, as rows of the inputs
// arrive.
bool IsSliced(const Layer& layer) {
  switch (TraitsOf(layer).nest) {
    case NestRule::kConv:
    case NestRule::kTransposed:
    case NestRule::kRows:
    case NestRule::kPool:
    case NestRule::kPerElement:
      return true;
    case NestRule::kNoNest:
    case NestRule::kMatmul:
    case NestRule::kGradient:
      return false;
  }
  return false;
}

// True if, besides, row i of the output needs only row i of the inputs.
bool IsRowwise(const Layer& layer) {
  return IsSliced(layer) && TraitsOf(layer).window == WindowRule::kNoWindow;
}

// The layer as a loop nest. Layers without a nest count one operation per word.
Status FillProblem(const NetworkQuery& query, const Layer& layer, UnorderedLayer* made,
                   Diagnostic* diagnostic) {
  const Graph& graph = query.graph;
  const Tensor& out = graph.tensors[layer.outputs[0]];
  MappingProblem* problem = &made->problem;
  const Status status =
      ProblemOfTile(graph, {layer, out.extent, 0}, query.hardware.accumulator_bytes,
                    problem, diagnostic);
  if (status == Status::kUnsupported) {
    int64_t words = WordsOf(out);
    for (uint32_t input : layer.inputs) {
      if (input != kNone) words = Max(words, WordsOf(graph.tensors[input]));
    }
    *problem = ConvProblem({1, 1, 1, words, 1, 1, 1, 1, 1});
    problem->operands = OperandBit(kInput) | OperandBit(kOutput);
    problem->vector = true;
    SLUICE_TRY(CheckProblem(*problem, diagnostic));
  } else if (status != Status::kOk) {
    diagnostic->layer = made->layer;
    return status;
  }
  made->leads = !problem->vector || status == Status::kUnsupported;
  made->whole = status == Status::kUnsupported || !IsSliced(layer);
  int64_t* e = problem->extent;
  if (!made->whole && IsRowwise(layer) && e[kDimN] == 1 && e[kDimP] == 1) {
    e[kDimN] = e[kDimQ];
    e[kDimQ] = 1;
  }
  if (query.word_bytes != 0) {
    for (uint32_t& bytes : problem->element_bytes) bytes = query.word_bytes;
    problem->partial_bytes = query.word_bytes;
  }
  return Status::kOk;
}

// Finds the producers of a layer's inputs: the operands of its nest, then those in the
// weight's place.
Status FindProducers(Reading* in, const Layer& layer, Arena* memory,
                     UnorderedLayer* made) {
  in->producers.Truncate(0);
  in->share.Truncate(0);
  for (size_t k = 0; k < InputsOf(made->problem, layer); ++k) {
    if (layer.inputs[k] == kNone) continue;
    made->input_words += WordsOf(in->graph.tensors[layer.inputs[k]]);
    SLUICE_TRY(LookThrough(in, layer.inputs[k]));
  }
  for (uint32_t t : layer.outputs) {
    made->stored |= in->graph.tensors[t].kind != TensorKind::kIntermediate;
  }
  Span<uint32_t> producers;
  Span<int64_t> share;
  SLUICE_TRY(memory->Allocate(in->producers.size(), &producers));
  SLUICE_TRY(memory->Allocate(in->producers.size(), &share));
  for (size_t k = 0; k < producers.size(); ++k) {
    producers[k] = in->producers[k];
    share[k] = in->share[k];
  }
  made->producers = producers;
  made->share = share;
  in->producers.Truncate(0);
  in->share.Truncate(0);
  for (size_t k = InputsOf(made->problem, layer); k < layer.inputs.size(); ++k) {
    if (layer.inputs[k] != kNone) SLUICE_TRY(LookThrough(in, layer.inputs[k]));
  }
  Span<uint32_t> before;
  SLUICE_TRY(memory->Allocate(in->producers.size(), &before));
  for (size_t k = 0; k < before.size(); ++k) before[k] = in->producers[k];
  made->before = before;
  return Status::kOk;
}

}  // namespace

Status NetworkOfGraph(const NetworkQuery& query, Arena* arena,
                      Span<SegmentLayer>* layers, Diagnostic* diagnostic) {
  const Graph& graph = query.graph;
  const Lowering& lowering = query.lowering;
  // A layer that writes into a state is its own producer: there is no order of producers.
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].kind != TensorKind::kState) continue;
    return Fail(diagnostic, Status::kUnsupported, "segments")
        .Tensor(t)
        .Text(
            "a state, which stays between runs: segments have none; plan without "
            "segments, layer by layer");
  }
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
    SLUICE_TRY(FillProblem(query, layer, &made, diagnostic));
    SLUICE_TRY(FindProducers(&in, layer, &memory, &made));
    in.index[i] = static_cast<uint32_t>(network.size());
    SLUICE_TRY(network.Push(made));
  }
  return OrderLayers(network.span(), arena, layers);
}

}  // namespace sluice
