// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluate/notation_problem.h"

namespace sluice {

namespace {

constexpr char kStage[] = "evaluate";

Status BadLayer(NotationProblem* p, uint32_t layer, const char* why) {
  return Fail(p->diagnostic, Status::kUnsupported, kStage)
      .Layer(layer)
      .Text("the layer cannot stand in a notation: ")
      .Text(why);
}

Status CheckLayer(NotationProblem* p, Span<const uint32_t> run, uint32_t l) {
  if (p->lowering.is_view[l] != 0) {
    return BadLayer(p, l, "it is a view and does nothing");
  }
  if (!MayFuse(p->graph, p->hardware, p->lowering, l, p->capacity)) {
    return BadLayer(p, l,
                    "it does not compute, uses a state, or its weights are too large "
                    "for this scratchpad");
  }
  if (ReadsAlias(p->graph, p->lowering, run, l)) {
    return BadLayer(p, l,
                    "it reads memory that a layer before it writes under another "
                    "name");
  }
  return Status::kOk;
}

// Marks the layers that the order names; each may occur once.
Status MarkLayers(NotationProblem* p) {
  const sluice_notation_t& n = p->notation;
  if (n.layers == 0 || n.order == nullptr || n.cuts == nullptr || n.tiles == nullptr ||
      (n.transfers != 0 && n.dram == nullptr)) {
    return Fail(p->diagnostic, Status::kBadArgument, kStage)
        .Text("the notation is empty, or an array of it is missing");
  }
  SLUICE_TRY(p->arena->Allocate(p->graph.layers.size(), &p->fusion_of));
  for (uint32_t& f : p->fusion_of) f = kNone;
  for (uint32_t i = 0; i < n.layers; ++i) {
    if (n.order[i] >= p->graph.layers.size() || p->fusion_of[n.order[i]] != kNone) {
      return Fail(p->diagnostic, Status::kBadArgument, kStage)
          .Layer(n.order[i] < p->graph.layers.size() ? n.order[i] : kNone)
          .Say("the order names no layer, or one for the second time, at position #",
               i);
    }
    p->fusion_of[n.order[i]] = 0;
  }
  return Status::kOk;
}

// Makes a fusion problem of the named layers.
Status MakeRun(NotationProblem* p) {
  Span<uint32_t> layers;
  SLUICE_TRY(p->arena->Allocate(p->graph.layers.size(), &layers));
  uint32_t count = 0;
  for (uint32_t l = 0; l < p->graph.layers.size(); ++l) {
    const Span<const uint32_t> run = layers.Slice(0, count);
    if (p->fusion_of[l] == kNone) {  // not named: an append goes with its input
      if (MayAppend(p->graph, p->lowering, run, l)) layers[count++] = l;
      continue;
    }
    SLUICE_TRY(CheckLayer(p, run, l));
    layers[count++] = l;
  }
  SLUICE_TRY(MakeFusionRun({p->graph, p->hardware, p->lowering, p->capacity},
                           layers.Slice(0, count), p->arena, &p->run));
  for (uint32_t i = 0; i < p->run.layer.size(); ++i) p->fusion_of[p->run.layer[i]] = i;
  return Status::kOk;
}

uint32_t RootOf(const NotationProblem* p, uint32_t tensor) {
  while (p->lowering.views[tensor].parent != kNone) {
    tensor = p->lowering.views[tensor].parent;
  }
  return tensor;
}

// The problem's source for an input of a layer that reads graph tensor `tensor` or a
// view of it.
uint32_t SourceOf(const NotationProblem* p, uint32_t layer, uint32_t tensor) {
  if (tensor >= p->graph.tensors.size()) return kNone;
  const FusionLayer& l = p->run.problem.layers[layer];
  for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
    if (RootOf(p, p->run.edge_tensor[e]) == RootOf(p, tensor)) {
      return p->run.problem.inputs[e].source;
    }
  }
  return kNone;
}

// Copies the notation with the layer and source numbers of the problem.
Status Translate(NotationProblem* p) {
  Span<uint32_t> order;
  Span<sluice_dram_tensor_t> dram;
  SLUICE_TRY(p->arena->Allocate(p->notation.layers, &order));
  SLUICE_TRY(p->arena->Allocate(p->notation.transfers, &dram));
  for (uint32_t i = 0; i < p->notation.layers; ++i) {
    order[i] = p->fusion_of[p->notation.order[i]];
  }
  for (uint32_t i = 0; i < p->notation.transfers; ++i) {
    dram[i] = p->notation.dram[i];
    const uint32_t layer = dram[i].layer;
    dram[i].layer = layer < p->fusion_of.size() ? p->fusion_of[layer] : kNone;
    if (dram[i].layer == kNone || dram[i].kind > SLUICE_DRAM_STORE) {
      return Fail(p->diagnostic, Status::kBadArgument, kStage)
          .Layer(layer < p->fusion_of.size() ? layer : kNone)
          .Say(
              "no such DRAM tensor: its layer is not in the order, or its kind is "
              "unknown, at place #",
              i);
    }
    if (dram[i].kind != SLUICE_DRAM_INPUT) continue;
    dram[i].source = SourceOf(p, dram[i].layer, p->notation.dram[i].source);
  }
  p->own = p->notation;
  p->own.struct_size = sizeof p->own;
  p->own.order = order.data();
  p->own.dram = dram.data();
  return Status::kOk;
}

uint32_t TensorOf(const NotationProblem* p, const sluice_dram_tensor_t& t) {
  const FusionLayer& l = p->run.problem.layers[t.layer];
  for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
    if (p->run.problem.inputs[e].source == t.source) return p->run.edge_tensor[e];
  }
  return kNone;
}

}  // namespace

Status MakeNotationProblem(NotationProblem* p) {
  SLUICE_TRY(Lower(p->graph, p->hardware, p->arena, &p->lowering, p->diagnostic));
  SLUICE_TRY(MarkLayers(p));
  SLUICE_TRY(MakeRun(p));
  return Translate(p);
}

void TranslateBack(const NotationProblem& problem, sluice_evaluation_t* out) {
  for (uint32_t i = 0; out->tile_layer != nullptr && i < out->tiles; ++i) {
    out->tile_layer[i] = problem.run.layer[out->tile_layer[i]];
  }
  for (uint32_t i = 0; out->dram != nullptr && i < out->transfers; ++i) {
    sluice_dram_tensor_t* t = &out->dram[i];
    t->source = t->kind == SLUICE_DRAM_INPUT ? TensorOf(&problem, *t) : kNone;
    t->layer = problem.run.layer[t->layer];
  }
}

}  // namespace sluice
