// SPDX-License-Identifier: Apache-2.0
// Reads a mapping of Timeloop as loops on a descriptor's memories.
//
// Input    a YAML file with a list `mapping` of entries in block form: target, type
//          (temporal, spatial, bypass or datatype), factors, permutation, keep, bypass;
//          factors and permutation as a text or as a list. Targets are names of the
//          descriptor's memories, as --timeloop writes them. Dims N K C P Q R S G, or
//          M N K of a product, told by an M; data Inputs Weights Outputs, or A B P
// Output   levels, temporal, spatial, order and hold of a mapping; all else is 0
// Errors   Failure(kIo); Failure(kBadInput) with the line: not such a list, an unknown
//          target, dim or datum, a factor of 0 (the rest) or of several numbers, units
//          that no axis below the memory may have
#ifndef SLUICE_CLI_TIMELOOP_MAPPING_H_
#define SLUICE_CLI_TIMELOOP_MAPPING_H_

#include <string>

#include "cli/files.h"
#include "sluice/experimental.h"

namespace sluice::cli {

sluice_layer_mapping_t ReadTimeloopMapping(const std::string& path,
                                           const Bytes& hardware);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_TIMELOOP_MAPPING_H_
