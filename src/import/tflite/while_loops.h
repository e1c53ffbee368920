// SPDX-License-Identifier: Apache-2.0
// A WHILE whose number of turns follows from constants becomes its body, as often as it turns:
// what converters leave of recurrent layers and of tf.while_loop counts in an int32 that starts
// at a constant.
//
// Input    a checked model and the file that it was read from, for the loop's subgraphs; the
//          most bytes of constants to compute
// Output   the model without such loops; the removed operators, by name. A loop whose
//          condition does not follow from constants, or that turns too often, stays
// Errors   Error(kBadInput): a loop whose subgraphs do not fit it
// Cost     linear in the operators that it makes
#ifndef SLUICE_IMPORT_TFLITE_WHILE_LOOPS_H_
#define SLUICE_IMPORT_TFLITE_WHILE_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "import/import_result.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

constexpr char kUnrolled[] = "its body, once for each turn";

// True when there was one.
bool UnrollLoops(const uint8_t* bytes, size_t size, uint64_t most_bytes,
                 TfliteModel* model, std::vector<UnsupportedOperator>* folded);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_WHILE_LOOPS_H_
