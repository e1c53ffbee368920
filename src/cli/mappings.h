// SPDX-License-Identifier: Apache-2.0
// Loop nests of a session's layers, and segments of its graph on a mesh.
#ifndef SLUICE_CLI_MAPPINGS_H_
#define SLUICE_CLI_MAPPINGS_H_

#include <string>
#include <vector>

#include "cli/session.h"

namespace sluice::cli {

sluice_gemm_mapping_t MapGemm(const Session& session, const sluice_gemm_t& gemm,
                              const sluice_gemm_options_t& options);
// After a limit the layers that it left out have the status SLUICE_STOPPED; throws if
// it left all of them out.
std::vector<sluice_layer_mapping_t> MapLayers(const Session& session,
                                              const std::vector<uint32_t>& layers,
                                              const sluice_map_options_t& options);
std::string DirectivesOf(const Session& session, const sluice_layer_mapping_t& mapping,
                         bool tile_only, const std::string& layer);

struct ChosenSegments {
  sluice_segment_schedule_t schedule;
  std::vector<sluice_segment_t> segments;
  std::vector<sluice_segment_layer_t> layers;
  std::string text;
};
ChosenSegments ChooseSegments(const Session& session,
                              const sluice_segment_options_t& options);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_MAPPINGS_H_
