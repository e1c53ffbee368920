// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.h"

#include "base/rng.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

constexpr uint32_t kDma = SLUICE_ENGINE_DMA;
constexpr uint32_t kCompute = SLUICE_ENGINE_COMPUTE(0);

TEST_CASE("verify: a double-buffered convolution is accepted and recounted") {
  const Case c = ConvCase();
  const Verdict v = Judge(c);
  INFO(v.rule << ": " << v.message);
  REQUIRE(v.status == sluice::Status::kOk);
  CHECK(v.counts.dram_read_bytes == static_cast<int64_t>(c.report.dram_read_bytes));
  CHECK(v.counts.dram_write_bytes == static_cast<int64_t>(c.report.dram_write_bytes));
  CHECK(v.counts.peak_buffer_bytes == 1056);
}

TEST_CASE("verify: a convolution summed in two pieces of C is accepted") {
  CheckAccepted(AccumulateCase());
}

TEST_CASE("verify: two instances with waits across blocks are accepted") {
  CheckAccepted(AddCase());
}

}  // namespace
}  // namespace sluice_test
