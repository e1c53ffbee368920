// SPDX-License-Identifier: Apache-2.0
// Access to the elements of constants, and the operators that only move elements.
//
// Input    values whose bytes fit their shape; an operator
// Output   elements; the operator's outputs
// Errors   Unknown: not computed here; Error(kBadInput): the operator contradicts its
//          inputs
// Cost     linear in the elements
#ifndef SLUICE_IMPORT_TFLITE_CONSTANT_PARTS_H_
#define SLUICE_IMPORT_TFLITE_CONSTANT_PARTS_H_

#include <cstdint>
#include <vector>

#include "import/tflite/constant_values.h"

namespace sluice::import {

bool IsReal(int type);  // float32
bool IsBool(int type);
// Whether the value holds integers without quantisation, of at most 64 bits.
bool IsPlainInteger(const ConstantValue& value);

// Input i; Unknown where it is absent.
const ConstantValue& Input(const ConstantCall& call, size_t i);
size_t Elements(const std::vector<int32_t>& shape);
int64_t Integer(const ConstantValue& value, size_t i);
double Real(const ConstantValue& value, size_t i);
std::vector<int64_t> Integers(const ConstantValue& value);
// Converts values to extents; Unknown where one is negative or too large.
std::vector<int32_t> Extents32(const std::vector<int64_t>& values);
// The axis as 0 .. rank - 1; a negative axis counts from the end.
int64_t AxisIn(const std::vector<int32_t>& shape, int64_t axis);

// A value of zeros; Unknown where its bytes would exceed the call's limit.
ComputedValue Empty(const ConstantCall& call, int type, std::vector<int32_t> shape);
// Writes element i; integers keep the low bits that fit the type.
void Put(ComputedValue* out, size_t i, int64_t value);
void PutReal(ComputedValue* out, size_t i, double value);

std::vector<int32_t> Broadcast(const std::vector<int32_t>& a,
                               const std::vector<int32_t>& b);
// The element of an operand of shape `from` that element i of `shape` reads.
size_t BroadcastIndex(size_t i, const std::vector<int32_t>& shape,
                      const std::vector<int32_t>& from);

std::vector<ComputedValue> ReshapeParts(const ConstantCall& call);
std::vector<ComputedValue> StridedSliceParts(const ConstantCall& call);
std::vector<ComputedValue> SliceParts(const ConstantCall& call);
std::vector<ComputedValue> PackParts(const ConstantCall& call);
std::vector<ComputedValue> UnpackParts(const ConstantCall& call);
std::vector<ComputedValue> ConcatParts(const ConstantCall& call);
std::vector<ComputedValue> SplitParts(const ConstantCall& call);
std::vector<ComputedValue> TileParts(const ConstantCall& call);
std::vector<ComputedValue> GatherParts(const ConstantCall& call);
std::vector<ComputedValue> TransposeParts(const ConstantCall& call);
std::vector<ComputedValue> BroadcastParts(const ConstantCall& call);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_CONSTANT_PARTS_H_
