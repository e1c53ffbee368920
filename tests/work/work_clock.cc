// SPDX-License-Identifier: Apache-2.0
#include "support/work_clock.h"

namespace {
uint64_t g_work;
}  // namespace

// The compiler calls this at the head of each basic block (-fsanitize-coverage=trace-pc).
extern "C" void __sanitizer_cov_trace_pc() { ++g_work; }

namespace sluice_test {

uint64_t WorkDone() { return g_work; }

}  // namespace sluice_test
