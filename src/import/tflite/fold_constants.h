// SPDX-License-Identifier: Apache-2.0
// Operators whose result is known at import: shapes that are computed (SHAPE,
// STRIDED_SLICE, PACK in front of a RESHAPE), tiled anchors, ranges, casts.
//
// Input    a checked model; the most bytes that constants may take
// Output   the model without those operators, their outputs as constants; the removed
//          operators, by name
// Errors   Error(kBadInput): such an operator contradicts its tensors. An operator that
//          cannot be computed here, or whose result would exceed the limit, stays
// Cost     one pass, since operators stand in the order of execution; linear in the
//          elements that are computed
#ifndef SLUICE_IMPORT_TFLITE_FOLD_CONSTANTS_H_
#define SLUICE_IMPORT_TFLITE_FOLD_CONSTANTS_H_

#include <cstdint>
#include <vector>

#include "import/import_result.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

void FoldConstants(TfliteModel* model, uint64_t most_bytes,
                   std::vector<UnsupportedOperator>* folded);
// Computes one operator of the model. true: its outputs are constants now, and *room, the
// most bytes that constants may take, is less by theirs.
bool FoldOperator(TfliteModel* model, const TfliteOperator& op, uint64_t* room);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FOLD_CONSTANTS_H_
