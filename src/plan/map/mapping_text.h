// SPDX-License-Identifier: Apache-2.0
// A layer's mapping as KAPLA directives.
//
// Input    a mapping as sluice_map_layers writes it, perhaps changed by the caller;
//          names of the layer and its tensors
// Output   the text with its terminating zero
// Errors   those of CheckNest; kBufferTooSmall: *size is what is needed
// Cost     linear in the text
// Source   KAPLA section III
#ifndef SLUICE_PLAN_MAP_MAPPING_TEXT_H_
#define SLUICE_PLAN_MAP_MAPPING_TEXT_H_

#include "base/memory.h"
#include "model/hardware.h"
#include "sluice/experimental.h"

namespace sluice {

struct MappingText {
  const sluice_layer_mapping_t& mapping;
  const Hardware& hardware;
  bool tile_only;            // mapped below the scratchpad
  const char* const* names;  // layer, input, weight, output; each or all may be null
};

// *size: room in `buffer` on entry, bytes with the zero on return. buffer may be null.
Status PrintMapping(const MappingText& call, Arena* arena, char* buffer, size_t* size,
                    Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_PLAN_MAP_MAPPING_TEXT_H_
