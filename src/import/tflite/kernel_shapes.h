// SPDX-License-Identifier: Apache-2.0
// Whether the operands of an operator without a unit have the types and extents that the
// operator says. The host's function would refuse other ones, but only when it is called.
//
// Input    the operator, its lowering (extents, constants)
// Output   nothing; Unsupported where they do not fit
// Cost     linear in constant operands that list axes, pads or indices
#ifndef SLUICE_IMPORT_TFLITE_KERNEL_SHAPES_H_
#define SLUICE_IMPORT_TFLITE_KERNEL_SHAPES_H_

#include <cstdint>
#include <vector>

#include "import/tflite/tflite_lowering.h"

namespace sluice::import {

using KernelCheck = void (*)(const Lowering&, const TfliteOperator&,
                             const std::vector<int32_t>& numbers);

void CheckSame(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckOther(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckBroadcast(const Lowering&, const TfliteOperator&,
                    const std::vector<int32_t>&);
void CheckCompare(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckSelect(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckReduce(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckArg(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckRows(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckTopK(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckConv(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckConv3d(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckBoxes(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckPool(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckFully(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckMatmul(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckResize(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckPad(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckMirror(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckBlocks(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckBatches(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckGather(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckIndexed(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckOneHot(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckSequence(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckDiagonal(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckUpdate(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);
void CheckSegments(const Lowering&, const TfliteOperator&, const std::vector<int32_t>&);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_KERNEL_SHAPES_H_
