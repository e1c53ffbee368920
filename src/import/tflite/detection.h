// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess: the custom operator at the end of detectors. The host
// executes it.
//
// Input    a checked model; the operator's own options (a flexbuffer, untrusted)
// Output   shapes of its outputs, which follow from its options; an OPAQUE layer
// Errors   Unsupported: suppression per class, several classes per box, floats;
//          Error(kBadInput): no options
// Cost     constant
#ifndef SLUICE_IMPORT_TFLITE_DETECTION_H_
#define SLUICE_IMPORT_TFLITE_DETECTION_H_

#include "import/tflite/tflite_lowering.h"

namespace sluice::import {

bool IsDetection(const TfliteOperator& op);
// Sets the extents of outputs that the file leaves open.
void SetDetectionShapes(TfliteModel* model);
void LowerDetection(Lowering* to, const TfliteOperator& op);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_DETECTION_H_
