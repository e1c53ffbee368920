// SPDX-License-Identifier: Apache-2.0
// Operators of TensorFlow Lite for OPAQUE layers named "tflite.OPERATOR": those that no
// compute unit has, and those on floats between DEQUANTIZE and QUANTIZE.
//
// Input    the operator's inputs that are there, as the model has them; floats are int32
//          tensors that hold their bits. The last input is int32 "options":
//            how many inputs the operator has, how many outputs, how many numbers follow
//              at the end
//            of each input and output: TensorType (-1: the input is absent), bits of the
//              scale (0: not quantised), zero point, rank (at most 8), extents
//            the operator's numbers, listed at its function; reals are bits of floats
// Output   dense bytes of the operator's outputs; behind them, the next value of each
//          variable tensor among the inputs
// Errors   a sentence: operands of other types or extents
// Cost     the operator's work
// Source   the arithmetic of the reference kernels, written from its description
#ifndef SLUICE_FIRMWARE_SIM_HOST_TFLITE_H_
#define SLUICE_FIRMWARE_SIM_HOST_TFLITE_H_

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "host_functions.h"

namespace sluice_sim {

// TensorType of the model format.
enum LiteType {
  kLiteFloat = 0,
  kLiteInt32 = 2,
  kLiteUint8 = 3,
  kLiteInt64 = 4,
  kLiteBool = 6,
  kLiteInt16 = 7,
  kLiteInt8 = 9
};

using LiteShape = std::vector<int64_t>;

struct LiteTensor {
  int type = -1;  // -1: absent
  float scale = 0;
  int32_t zero = 0;
  LiteShape shape;
  int64_t count = 0;
  uint8_t* bytes = nullptr;
  // Set where an element is asked for that is not there, or is no float: options may name
  // types and extents that the function does not expect together.
  bool* fault = nullptr;

  bool there() const { return type >= 0; }
  bool Is(int wanted) const { return type == wanted; }
  bool IsFloat() const { return type == kLiteFloat; }
  size_t rank() const { return shape.size(); }
  int64_t Int(int64_t i) const;                 // any integer type, widened
  void SetInt(int64_t i, int64_t value) const;  // wraps
  bool Has(int64_t i) const {
    const bool has = i >= 0 && i < count && there();
    if (!has) *fault = true;
    return has;
  }
  bool HasFloat(int64_t i) const {
    if (!IsFloat()) *fault = true;
    return IsFloat() && Has(i);
  }
  float Float(int64_t i) const {
    float value = 0;
    if (HasFloat(i)) std::memcpy(&value, bytes + 4 * i, 4);
    return value;
  }
  void SetFloat(int64_t i, float value) const {
    if (HasFloat(i)) std::memcpy(bytes + 4 * i, &value, 4);
  }
};

struct LiteCall {
  std::vector<LiteTensor> in, out;
  std::vector<int32_t> numbers;
  int64_t Number(size_t i) const { return i < numbers.size() ? numbers[i] : 0; }
  float Real(size_t i) const {
    float value = 0;
    if (i < numbers.size()) std::memcpy(&value, &numbers[i], 4);
    return value;
  }
};

// "" or a sentence.
using LiteFunction = std::string (*)(const LiteCall&);

constexpr char kLiteOperands[] = "operands of another number, type or extent";

int64_t LiteTypeBytes(int type);  // 0: no type of these
int64_t LiteCount(const LiteShape& shape);
// The least and most stored number of an integer type.
int64_t LiteLeast(int type);
int64_t LiteMost(int type);
int64_t LiteClamp(int type, int64_t value);
// A real number cut to an integer of at most 48 bits; what is no number is 0. Scales
// come from files, so a quotient may be infinite.
int64_t LiteWhole(double real);
// What an axis counted from the end means; -1: there is no such axis.
int64_t LiteAxis(int64_t axis, size_t rank);
// Of every element of `to`, the index of the element of `from` that broadcasts to it.
// Empty: it does not broadcast.
std::vector<int64_t> LiteBroadcast(const LiteShape& from, const LiteShape& to);
// Integers of an operand.
std::vector<int64_t> LiteInts(const LiteTensor& tensor);

// A factor as a multiplier in [2^30, 2^31) or 0 and an exponent.
struct LiteFactor {
  int32_t multiplier = 0;
  int shift = 0;
};
LiteFactor LiteFactorOf(double factor);
int32_t LiteScale(int32_t value, const LiteFactor& factor);
// For 64-bit values: the multiplier has 16 bits.
int32_t LiteScaleWide(int64_t value, const LiteFactor& factor);
// 1 / sqrt(value): `reverse` is the sign that a shift to the right gets.
LiteFactor LiteInverseRoot(int32_t value, int reverse);

// Clamps a float as a fused activation does.
float LiteActivate(float value, int64_t activation);

using LiteRows = std::map<std::string, LiteFunction>;
void AddLiteElements(LiteRows* rows);
void AddLiteCurves(LiteRows* rows);
void AddLiteRows(LiteRows* rows);
void AddLiteMoves(LiteRows* rows);
void AddLiteWindows(LiteRows* rows);
void AddLiteBoxes(LiteRows* rows);

// nullptr: no function of TensorFlow Lite has that name.
const HostFunction* FindLiteFunction(const std::string& name);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_HOST_TFLITE_H_
