// SPDX-License-Identifier: Apache-2.0
// A hand-made layer on the host: the machine's rows of operators lack MINIMUM.
#ifndef SLUICE_TESTS_SUPPORT_HOST_CASE_H_
#define SLUICE_TESTS_SUPPORT_HOST_CASE_H_

#include "support/engines.h"
#include "verify/cases.h"

namespace sluice_test {

// 192 bytes at 3 per 2 cycles take 128, 128 vector operations at 10 per cycle take 13,
// the call takes 5.
constexpr uint32_t kHostAddCycles = 5 + 128 + 13;

inline Case HostAddCase() {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four box = {1, 2, 4, 8};
  for (int t = 0; t < 3; ++t) {
    c.graph.tensors.push_back(
        {{1, 2, 4, 8}, i8, static_cast<uint8_t>(t == 2 ? 2 : 1), 0, 0});
    c.places.push_back(PlaceAt(t == 2 ? SLUICE_REGION_OUTPUT : SLUICE_REGION_INPUT,
                               t == 1 ? 64 : 0, box, i8));
  }
  c.graph.layers.push_back({SLUICE_OP_MINIMUM, {0, 1}, {2}, {}});
  c.hardware.ops = {{SLUICE_OP_MAXIMUM}};
  c.hardware.host = HostSpec{5, 3, 2, 10, 1, 0};
  BlockBuilder& b = OneBlock(&c, 0, 0, 128, 64, 0);
  c.stream.AddKernel(SLUICE_OP_MINIMUM, 0, {});
  sluice_host_call_t call{};
  call.first_operand = b.Dense(2, i8, box, 0);
  b.Dense(2, i8, box, 64);
  b.Dense(3, i8, box, 0);
  call.inputs = 2;
  call.outputs = 1;
  call.cycles_lo = kHostAddCycles;
  call.why = SLUICE_WHY_OPERATOR;
  b.host_calls.push_back(call);
  b.Append(kHostEngine, SLUICE_OPCODE_HOST, 0, 0, {});
  c.report = {0, 0, 0};
  return c;
}

inline sluice_host_call_t& HostCall(Case* c) {
  return c->stream.blocks[0].host_calls[0];
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_HOST_CASE_H_
