// SPDX-License-Identifier: Apache-2.0
// Calls with deadlines that are counted in work, for sluice-bench deadline, whose own
// library counts nothing.
//
// Input    deadline_rows NETWORK PRESET BLOCKS...; 0: no deadline
// Output   a line per deadline: BLOCKS, then the EDP of the plan or 0 if there was none,
//          blocks until the first plan, blocks of the whole call
// Errors   1 if there is no such network or preset, or if a judge refuses a plan
#include <cstdio>
#include <cstdlib>

#include "support/network_plan.h"
#include "support/work_clock.h"
#include "zoo/zoo.h"

namespace {

struct First {
  const sluice_test::WorkClock* clock;
  uint64_t blocks;
};

int32_t NoteFirst(void* user, uint64_t, double cost) {
  First* first = static_cast<First*>(user);
  if (cost > 0 && first->blocks == 0) first->blocks = first->clock->Spent();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  sluice_test::WorkClock clock;
  sluice_test::NetworkPlan n(sluice::zoo::MakeZooGraph(argv[1], {}), argv[2],
                             sluice_test::WorkClock::Now, &clock);
  if (!n.ok) return 1;
  First first = {&clock, 0};
  n.progress = NoteFirst;
  n.progress_user = &first;
  for (int i = 3; i < argc; ++i) {
    const uint64_t deadline = std::strtoull(argv[i], nullptr, 10);
    first.blocks = 0;
    n.Forget();
    clock.Begin();
    const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0, deadline);
    const uint64_t blocks = clock.Spent();
    const bool any = status == SLUICE_OK;
    if (!any && status != SLUICE_STOPPED) return 1;
    if (any && n.Verify() != SLUICE_OK) return 1;
    std::printf("%llu %.17g %llu %llu\n", static_cast<unsigned long long>(deadline),
                any ? n.Product() : 0.0, static_cast<unsigned long long>(first.blocks),
                static_cast<unsigned long long>(blocks));
  }
  return 0;
}
