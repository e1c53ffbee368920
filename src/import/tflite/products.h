// SPDX-License-Identifier: Apache-2.0
// Products of activations wider than 8 bits: the host takes the activations apart into bytes, a
// unit multiplies these, and the host makes numbers of the 32-bit sums.
//
// Input    a convolution or a product of rows, its extents checked
// Output   layers in the graph writer
// Errors   Unsupported: this product cannot be taken apart
#ifndef SLUICE_IMPORT_TFLITE_PRODUCTS_H_
#define SLUICE_IMPORT_TFLITE_PRODUCTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "import/tflite/tflite_lowering.h"

namespace sluice::import {

struct Product {
  size_t input, weight, bias;  // which inputs of the operator
  int axis;                    // of the weight's output channels
  const char* function;
  Dims in, weight_dims, out;
  std::vector<int32_t> window;  // the first options, up to groups
  int activation;
  uint64_t macs_per_output;
  bool rounds_once = false;
  uint16_t unit = SLUICE_OP_CONV;  // whose sums are those of a high and a low byte
  Pads vertical = {0, 0}, horizontal = {0, 0};
  bool with_zero = false;  // floats that are quantised in each run have a zero point
};

struct Ends {
  uint32_t ifmap, filter, ofmap;
};

constexpr uint64_t kMostTerms = 32768;  // of a sum that 32 bits hold

uint32_t AddOptions(Lowering* to, const TfliteOperator& op,
                    const std::vector<int32_t>& options);
// The attributes of a layer that stores sums as they are: of no window first.
std::vector<int32_t> WholeAttributes();
std::vector<int32_t> WholeSums(const Product& p, int32_t weight_zero);
uint32_t NewPart(Lowering* to, const TfliteOperator& op, const std::string& suffix,
                 uint8_t dtype, const Dims& dims);
// Of each channel: no bias, and a factor of 1.
uint32_t WholeParameters(Lowering* to, const TfliteOperator& op, int32_t channels);

// The activations are floats (lower_float_products.cc).
void AddFloatProduct(Lowering* to, const TfliteOperator& op, const Product& p);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_PRODUCTS_H_
