// SPDX-License-Identifier: Apache-2.0
// Quality over time, where time is work: how good plans are at deadlines that are counted
// in basic blocks of the library. The same figures come out however busy the machine is.
//
// Input    the program tests/work/deadline_rows of this build, which its target of that
//          name makes; a part of the networks' names, or NULL
// Output   per machine and network: EDP at some deadlines over that of a run of 3 s, the
//          first plan, steps at which a longer deadline gives a dearer plan; blocks that
//          the ordinary library runs in a millisecond of CPU time. Then the means, beside
//          what is asked.
// Errors   throws nothing; a network whose rows cannot be read is counted as failed
#ifndef SLUICE_TESTS_BENCH_DEADLINE_WORK_H_
#define SLUICE_TESTS_BENCH_DEADLINE_WORK_H_

#include <nlohmann/json.hpp>

namespace sluice_bench {

struct WorkReport {
  nlohmann::json rows, summary;
  bool holds = true;  // what is asked
};

WorkReport DeadlinesInWork(const char* only, bool print);

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_DEADLINE_WORK_H_
