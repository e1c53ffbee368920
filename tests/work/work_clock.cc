// SPDX-License-Identifier: Apache-2.0
#include "support/work_clock.h"

namespace {
uint64_t g_work, g_cancel_at;
uint32_t* g_cancel;
}  // namespace

// The compiler calls this at the head of each basic block (-fsanitize-coverage=trace-pc).
extern "C" void __sanitizer_cov_trace_pc() {
  if (++g_work == g_cancel_at) *g_cancel = 1;
}

namespace sluice_test {

uint64_t WorkDone() { return g_work; }

void CancelAfter(uint64_t work, uint32_t* word) {
  g_cancel = word;
  g_cancel_at = g_work + work;
}

}  // namespace sluice_test
