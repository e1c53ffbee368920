// SPDX-License-Identifier: Apache-2.0
// Finding host functions by name. tests/import/tflite/lower_host_test.cc runs layers on
// them.
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

TEST_CASE("host functions: they are known by name, and check what they are given") {
  CHECK(FindHostFunction("") == nullptr);
  CHECK(FindHostFunction("Wobble") == nullptr);
  for (const char* name :
       {"conv_int16", "depthwise_conv_int16", "transposed_conv_int16",
        "fully_connected_int16", "softmax_int16", "svdf_state", "svdf_output",
        "lstm_int8", "lstm_step_int8", "detection"}) {
    CAPTURE(name);
    HostCase nothing;
    CHECK(nothing.Run(name) != "");
  }
}

TEST_CASE("host functions: types and numbers of options are compared") {
  HostCase c;
  c.Bytes({1, 1, 1, 2}, {1, 2});
  c.Options({4, 5, 6});
  CHECK(HasTypes(c.in, {SLUICE_DTYPE_INT8, SLUICE_DTYPE_INT32}));
  CHECK_FALSE(HasTypes(c.in, {SLUICE_DTYPE_INT8}));
  CHECK_FALSE(HasTypes(c.in, {SLUICE_DTYPE_INT8, SLUICE_DTYPE_INT8}));
  CHECK(HasOptions(c.in, 3));
  CHECK_FALSE(HasOptions(c.in, 4));
  CHECK_FALSE(HasOptions({}, 0));
  CHECK(CountOf(c.in[0]) == 2);
}

}  // namespace
}  // namespace sluice_sim
