// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_MAPPERS has instead of searches for loop nests. Tiles
// then cost passes of the MAC array where the machine describes one, else what its peak rates
// give; core arrays are still counted exactly.
#include "base/components.h"
#include "plan/map/map_gemm.h"
#include "plan/map/map_layers.h"
#include "plan/map/mapping_text.h"
#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

Status MapConvExact(const NestRequest&, Budget*, Arena*, MappedNest*,
                    Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MAPPERS);
}

Status MapGemm(const GemmCall&, Memory*, sluice_gemm_mapping_t*,
               Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MAPPERS);
}

Status MapGraphLayers(const LayerMapCall&, Arena*, Span<sluice_layer_mapping_t>*,
                      Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MAPPERS);
}

Status PrintMapping(const MappingText&, Arena*, char*, size_t*,
                    Diagnostic* diagnostic) {
  return Absent(diagnostic, SLUICE_COMPONENT_MAPPERS);
}

}  // namespace sluice
