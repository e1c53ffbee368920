// SPDX-License-Identifier: Apache-2.0
// Constants of a pruned model, of which the file holds the elements that are not zero.
//
// Input    a model as read: sparse constants of its first subgraph; `room`, the bytes that
//          constants may have which the file does not contain
// Output   every such constant whole, zeros where the file has nothing; `room` is reduced
// Errors   Error(kBadInput): a position outside of the constant, or more or fewer elements
//          than positions; Error(kTooLarge): a constant larger than `room`
// Cost     linear in the bytes of the constants
#ifndef SLUICE_IMPORT_TFLITE_SPARSE_CONSTANTS_H_
#define SLUICE_IMPORT_TFLITE_SPARSE_CONSTANTS_H_

#include "import/tflite/tflite_model.h"

namespace sluice::import {

void FillSparseConstants(TfliteModel* model, uint64_t* room);

// Constants of 4 or 2 bits, two or four of them in a byte, become int8 with the same scales. Those
// that do not fit their shape stay, and no operator takes them.
void UnpackConstants(TfliteModel* model, uint64_t* room);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_SPARSE_CONSTANTS_H_
