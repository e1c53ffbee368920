// SPDX-License-Identifier: Apache-2.0
// Resource variables (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE) become
// states. A variable that is read before it is assigned has the value that the previous
// run left or, in the first run, that the initialiser assigned.
//
// Input    a checked model and the file that it was read from, for its initialisers
// Output   the model without these operators, its states; the removed operators, by
//          name
// Errors   Unsupported: an initialiser that does more than assign constants, or a variable
//          that is not known by name
// Cost     operators times reads of variables
#ifndef SLUICE_IMPORT_TFLITE_VARIABLES_H_
#define SLUICE_IMPORT_TFLITE_VARIABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "import/import_result.h"
#include "import/state_names.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

constexpr char kBecameState[] = "a state of the graph";

void ResolveVariables(const uint8_t* bytes, size_t size, uint64_t most_bytes,
                      TfliteModel* model, std::vector<UnsupportedOperator>* folded);

// The bytes of a state of zeros in real numbers; none: they are zeros too.
std::vector<uint8_t> ZerosOf(const TfliteTensor& tensor, uint64_t most_bytes);

// Inputs whose bytes are those of an output of the previous run become states, which hold
// zeros before the first run. Where both are quantised unlike, a QUANTIZE stands between.
// Adds a line for each to `lines`. Unsupported: types or extents differ.
void JoinStates(const StateNames& names, uint64_t most_bytes, TfliteModel* model,
                std::vector<std::string>* lines);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_VARIABLES_H_
