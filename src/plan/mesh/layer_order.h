// SPDX-License-Identifier: Apache-2.0
// The order in which segments want the layers of a network.
//
// A layer that does not lead (a pool, a sum) stands directly behind the last of its
// producers, if that producer feeds no other layer. Producers still come before their
// readers; apart from that the layers keep their order.
//
// Input    layers in any topological order, with their producers
// Output   SegmentLayers in the new order
// Errors   kOutOfMemory
// Cost     O(layers x inputs)
// Source   KAPLA's published program
#ifndef SLUICE_PLAN_MESH_LAYER_ORDER_H_
#define SLUICE_PLAN_MESH_LAYER_ORDER_H_

#include "solve/segments/segments.h"

namespace sluice {

// A layer that has no place in the order yet.
struct UnorderedLayer {
  MappingProblem problem;
  uint32_t layer;
  bool leads, stored, whole;
  Span<const uint32_t> producers;  // indices before this one, ascending, each once
  Span<const int64_t> share;
  int64_t input_words;
  Span<const uint32_t> before;  // who makes the operand in the weight's place
};

Status OrderLayers(Span<const UnorderedLayer> network, Arena* arena,
                   Span<SegmentLayer>* layers);

}  // namespace sluice

#endif  // SLUICE_PLAN_MESH_LAYER_ORDER_H_
