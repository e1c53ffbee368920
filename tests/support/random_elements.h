// SPDX-License-Identifier: Apache-2.0
// Elementwise and row operators of random graphs: each Add... appends a layer to the
// spec if the given tensor suits it.
//
// Input    a tensor of the spec
// Output   a GraphSpec that grows
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_ELEMENTS_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_ELEMENTS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/random_products.h"

namespace sluice_test {

class RandomElements : protected RandomProducts {
 protected:
  using RandomProducts::RandomProducts;

  void AddBinary(uint32_t in) {
    const Shape s = shapes_[in];
    if (!IsEightBit(in)) return;
    // A tensor that broadcasts with `in`, or a new one.
    uint32_t other = SLUICE_NONE;
    if (Chance(60)) {
      for (uint32_t t : activations_) {
        bool agrees = Dtype(t) == Dtype(in);
        for (size_t a = 0; a < 4; ++a) {
          agrees = agrees && (shapes_[t][a] == s[a] || shapes_[t][a] == 1 || s[a] == 1);
        }
        if (agrees && (other == SLUICE_NONE || Chance(40))) other = t;
      }
    }
    if (other == SLUICE_NONE) {
      Shape o = s;
      for (int32_t& e : o) {
        if (Chance(25)) e = 1;
      }
      other = Chance(50)
                  ? AddInput(o, Dtype(in))
                  : AddSeeded(std::vector<int32_t>(o.begin(), o.end()), Dtype(in));
      shapes_[other] = o;
    }
    Shape out;
    for (size_t a = 0; a < 4; ++a) out[a] = std::max(s[a], shapes_[other][a]);
    if (!Fits(out)) return;
    static const uint16_t kOps[] = {SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL,
                                    SLUICE_OP_MINIMUM, SLUICE_OP_MAXIMUM};
    const uint16_t op = kOps[rng_.Below(5)];
    const bool plain = op == SLUICE_OP_MINIMUM || op == SLUICE_OP_MAXIMUM;
    const uint8_t dtype = plain ? Dtype(in) : EightBit();
    int32_t low, high;
    Limits(dtype, &low, &high);
    std::vector<int32_t> attributes;
    if (!plain) {
      attributes = {20,
                    ZeroOf(Dtype(in)),
                    Multiplier(),
                    -1,
                    ZeroOf(Dtype(other)),
                    Multiplier(),
                    -1,
                    ZeroOf(dtype),
                    Multiplier(),
                    op == SLUICE_OP_MUL ? -6 : -18,
                    low,
                    high};
    }
    std::vector<uint32_t> inputs = {in, other};
    if (Chance(50)) std::swap(inputs[0], inputs[1]);
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(op, inputs, result, attributes);
  }

  void AddRequantize(uint32_t in) {
    if (Dtype(in) == SLUICE_DTYPE_INT64 || Dtype(in) == SLUICE_DTYPE_INT32) return;
    static const uint8_t kTypes[] = {SLUICE_DTYPE_INT8, SLUICE_DTYPE_UINT8,
                                     SLUICE_DTYPE_INT8, SLUICE_DTYPE_INT16};
    const uint8_t dtype = kTypes[rng_.Below(4)];
    int32_t low, high;
    Limits(dtype, &low, &high);
    const int32_t shift = (dtype == SLUICE_DTYPE_INT16 ? 7 : 0) -
                          (Dtype(in) == SLUICE_DTYPE_INT16 ? 7 : 0);
    const uint32_t result = AddActivation(shapes_[in], dtype);
    AddLayer(SLUICE_OP_REQUANTIZE, {in}, result,
             {ZeroOf(Dtype(in)), Multiplier(), shift + Range(0, 1), ZeroOf(dtype), low,
              high});
  }

  void AddLookup(uint32_t in) {
    if (!IsEightBit(in)) return;
    const uint32_t table = AddSeeded({256}, SLUICE_DTYPE_INT8);
    const uint32_t result = AddActivation(shapes_[in], SLUICE_DTYPE_INT8);
    AddLayer(SLUICE_OP_LOOKUP, {in, table}, result, {});
  }

  void AddHardSwish(uint32_t in) {
    if (!IsEightBit(in)) return;
    const uint32_t result = AddActivation(shapes_[in], Dtype(in));
    AddLayer(SLUICE_OP_HARD_SWISH, {in}, result,
             {ZeroOf(Dtype(in)), ZeroOf(Dtype(in)), Range(1 << 14, INT16_MAX),
              Range(-8, -4), Range(1 << 14, INT16_MAX), Range(-3, 5)});
  }

  // One slope for each element, channel or column, or another broadcast; constant or
  // not.
  void AddPrelu(uint32_t in) {
    if (!IsEightBit(in)) return;
    Shape slopes = shapes_[in];
    for (int32_t& extent : slopes) {
      if (Chance(50)) extent = 1;
    }
    const uint8_t dtype = EightBit(), out = EightBit();
    const uint32_t by =
        Chance(70)
            ? AddSeeded(std::vector<int32_t>(slopes.begin(), slopes.end()), dtype)
            : AddInput(slopes, dtype);
    int32_t low, high;
    Limits(out, &low, &high);
    const uint32_t result = AddActivation(shapes_[in], out);
    AddLayer(SLUICE_OP_PRELU, {in, by}, result,
             {ZeroOf(Dtype(in)), ZeroOf(dtype), ZeroOf(out), Multiplier(), Range(-1, 1),
              Multiplier(), Range(-8, -5), low, high});
  }

  void AddSoftmax(uint32_t in) {
    if (!IsEightBit(in)) return;
    std::vector<uint32_t> inputs = {in};
    if (Chance(50)) {
      Shape m = shapes_[in];
      for (size_t a = 0; a < 3; ++a) {
        if (Chance(40)) m[a] = 1;
      }
      const std::vector<int32_t> dims(m.begin(), m.end());
      if (Chance(70)) {
        std::vector<uint8_t> bits(static_cast<size_t>(Elements(m)));
        for (uint8_t& b : bits) b = Chance(70) ? 1 : 0;
        inputs.push_back(Add(spec_.Inline(dims, SLUICE_DTYPE_UINT8, bits), m));
      } else {
        inputs.push_back(AddInput(m, SLUICE_DTYPE_UINT8));
      }
    }
    const int32_t shift = Range(21, 24);
    const uint32_t result = AddActivation(shapes_[in], Dtype(in));
    AddLayer(SLUICE_OP_SOFTMAX, inputs, result,
             {Multiplier(), shift, -(31 << (26 - shift))});
  }

  void AddReduce(uint32_t in) {
    if (!IsEightBit(in)) return;
    const int32_t axes = Range(1, 15);
    Shape out = shapes_[in];
    int64_t n = 1;
    for (size_t a = 0; a < 4; ++a) {
      if ((axes >> a & 1) != 0) {
        n *= out[a];
        out[a] = 1;
      }
    }
    const bool max = Chance(40);
    const uint8_t dtype = max ? Dtype(in) : EightBit();
    int32_t low, high, shift = 1;
    for (int64_t i = 1; i < n; i *= 4) --shift;
    Limits(dtype, &low, &high);
    const uint32_t result = AddActivation(out, dtype);
    AddLayer(SLUICE_OP_REDUCE, {in}, result,
             {axes, max ? SLUICE_REDUCE_KIND_MAX : SLUICE_REDUCE_KIND_SUM,
              ZeroOf(Dtype(in)), ZeroOf(dtype), Multiplier(), shift, low, high});
  }

  void AddArgmax(uint32_t in) {
    if (!IsEightBit(in)) return;
    Shape out = shapes_[in];
    out[3] = 1;
    const uint32_t result =
        AddActivation(out, Chance(50) ? SLUICE_DTYPE_INT32 : SLUICE_DTYPE_INT64);
    AddLayer(SLUICE_OP_ARGMAX, {in}, result, {});
  }

  void AddNorm(uint32_t in) {
    if (!IsEightBit(in)) return;
    const int32_t channels = shapes_[in][3];
    std::vector<int32_t> values;
    for (int32_t c = 0; c < channels; ++c) {
      values.push_back(Range(-2000, 2000));
      values.push_back(Multiplier());
      values.push_back(Range(-8, -6));
    }
    const uint32_t parameters =
        Add(spec_.Inline({channels, 3}, SLUICE_DTYPE_INT32, values), {1, 1, 1, 1});
    const uint8_t dtype = EightBit();
    int32_t low, high;
    Limits(dtype, &low, &high);
    const std::vector<int32_t> attributes = {ZeroOf(Dtype(in)), Range(0, 1000),
                                             ZeroOf(dtype), low, high};
    const uint32_t result = AddActivation(shapes_[in], dtype);
    AddLayer(Chance(50) ? SLUICE_OP_LAYER_NORM : SLUICE_OP_RMS_NORM, {in, parameters},
             result, attributes);
  }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_ELEMENTS_H_
