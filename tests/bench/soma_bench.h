// SPDX-License-Identifier: Apache-2.0
// SoMa's table of results on SoMa's own model, beside ours.
#ifndef SLUICE_TESTS_BENCH_SOMA_BENCH_H_
#define SLUICE_TESTS_BENCH_SOMA_BENCH_H_

int RunSomaBench(bool json);

#endif  // SLUICE_TESTS_BENCH_SOMA_BENCH_H_
