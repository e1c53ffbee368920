// SPDX-License-Identifier: Apache-2.0
#include "support/work_clock.h"

namespace {
uint64_t g_work, g_alarm = UINT64_MAX;
void (*g_ring)();
}  // namespace

// The compiler calls this at the head of each basic block (-fsanitize-coverage=trace-pc).
extern "C" void __sanitizer_cov_trace_pc() {
  if (++g_work == g_alarm) g_ring();
}

namespace sluice_test {

uint64_t WorkDone() { return g_work; }

void RingAt(uint64_t work, void (*ring)()) {
  g_alarm = work;
  g_ring = ring;
}

}  // namespace sluice_test
