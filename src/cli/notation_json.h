// SPDX-License-Identifier: Apache-2.0
// A schedule in the tensor-centric notation, as JSON.
//
// Input    JSON in the form of kNotationHelp; layers and tensors by name, or by number
//          where names repeat
// Output   the arrays of schedule.h; ToJson writes what FromJson reads
// Errors   Failure(kBadInput) naming the key, layer, tensor or entry
#ifndef SLUICE_CLI_NOTATION_JSON_H_
#define SLUICE_CLI_NOTATION_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/files.h"
#include "sluice/schedule.h"

namespace sluice::cli {

extern const char kNotationHelp[];

struct Notation {
  std::vector<uint32_t> order;
  std::vector<uint8_t> cuts;
  std::vector<int32_t> tiles;
  std::vector<sluice_dram_tensor_t> dram;
  bool double_buffer = false;

  // Points into this object.
  sluice_notation_t AsStruct() const;
};

Notation NotationFromJson(const std::string& text, const Bytes& graph);
Json NotationToJson(const Notation& notation, const Bytes& graph);
// Each layer's key in the JSON: its name, or its number where the name repeats.
std::vector<Json> LayerNames(const Bytes& graph);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_NOTATION_JSON_H_
