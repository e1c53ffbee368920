// SPDX-License-Identifier: Apache-2.0
#include "plan/map/mapping_text.h"

#include <string.h>

#include "model/directive.h"
#include "model/hardware_view.h"

namespace sluice {

namespace {

Text TextOf(const char* given, const char* otherwise) {
  const char* text = given != nullptr ? given : otherwise;
  return Text{text, static_cast<uint32_t>(strlen(text))};
}

MappingProblem ProblemOf(const sluice_layer_mapping_t& mapping) {
  MappingProblem problem = ConvProblem({1, 1, 1, 1, 1, 1, 1, 1, 1});
  for (uint32_t d = 0; d < kDims; ++d) problem.extent[d] = mapping.extent[d];
  for (int i = 0; i < 2; ++i) {
    problem.stride[i] = mapping.stride[i];
    problem.dilation[i] = mapping.dilation[i];
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    problem.element_bytes[v] = mapping.element_bytes[v];
  }
  problem.partial_bytes = mapping.partial_bytes;
  problem.operands = mapping.operands & 7;
  return problem;
}

LoopNest NestOf(const sluice_layer_mapping_t& mapping) {
  LoopNest nest = {};
  nest.levels = mapping.levels;
  for (uint32_t l = 0; l < kMaxLevels; ++l) {
    for (uint32_t d = 0; d < kDims; ++d) {
      nest.temporal[l][d] = mapping.temporal[l][d];
      nest.order[l][d] = mapping.order[l][d];
      for (uint32_t a = 0; a < kMaxAxes; ++a) {
        nest.spatial[l][a][d] = mapping.spatial[l][a][d];
      }
    }
    nest.hold[l] = mapping.hold[l];
  }
  return nest;
}

}  // namespace

Status PrintMapping(const MappingText& call, Arena* arena, char* buffer, size_t* size,
                    Diagnostic* diagnostic) {
  HardwareView view;
  if (call.tile_only) {
    SLUICE_TRY(ViewBelowScratchpad(call.hardware, &view, diagnostic));
  }
  const Hardware& hierarchy = call.tile_only ? view.hardware : call.hardware;
  const MappingProblem problem = ProblemOf(call.mapping);
  const LoopNest nest = NestOf(call.mapping);
  // The caller may have changed anything in the mapping.
  SLUICE_TRY(CheckNest(problem, hierarchy, nest, 0, diagnostic));
  const auto name = [&](int i, const char* otherwise) {
    return TextOf(call.names == nullptr ? nullptr : call.names[i], otherwise);
  };
  TensorNames tensors = {name(0, "layer"),
                         {name(1, "in"), name(2, "w"), name(3, "out")}};
  DirectiveLayer layer;
  SLUICE_TRY(DirectivesOfNest(problem, hierarchy, nest, tensors, arena, &layer));
  DirectiveProgram program = {Span<const DirectiveLayer>(&layer, 1)};
  const size_t capacity = buffer == nullptr || *size == 0 ? 0 : *size - 1;
  const Status status = PrintDirectives(program, buffer, capacity, size);
  if (status == Status::kOk && buffer != nullptr) buffer[*size] = '\0';
  *size += 1;
  return buffer == nullptr ? Status::kBufferTooSmall : status;
}

}  // namespace sluice
