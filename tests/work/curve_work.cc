// SPDX-License-Identifier: Apache-2.0
// Prints, for networks on machines, what calls on the work clock do: a row per call.
//   deadline_work gaps MACHINE BATCH [NAME]     most work between two polls
//   deadline_work sweep MACHINE BATCH FROM TO PERCENT [NAME]   EDP over deadlines
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <ctime>
#include <execinfo.h>
#include <vector>

#include "support/network_plan.h"
#include "support/work_clock.h"
#include "zoo/zoo.h"

using sluice_test::NetworkPlan;
using sluice_test::WorkClock;

extern "C" char __executable_start;
namespace {

uint64_t g_long = 0;
void Ring() {
  void* f[24];
  const int n = backtrace(f, 24);
  std::printf("LONG");
  for (int i = 2; i < n; ++i) std::printf(" %p", (void*)((char*)f[i] - (char*)&__executable_start));
  std::printf("\n");
}
uint64_t Now(void* user) {
  if (g_long) sluice_test::RingAt(sluice_test::WorkDone() + g_long, Ring);
  return WorkClock::Now(user);
}

void Row(const std::string& name, NetworkPlan* n, WorkClock* clock, uint64_t deadline) {
  n->Forget();
  clock->Begin();
  const clock_t t = std::clock();
  const sluice_status_t status = n->Schedule(SLUICE_SOLVER_DEFAULT, 0, deadline);
  const double ms = 1e3 * (double)(std::clock() - t) / CLOCKS_PER_SEC;
  const uint64_t most = clock->End(), spent = clock->Spent();
  std::printf("%-20s deadline %12llu status %d stop %d EDP %.6e work %12llu gap %9llu reads %8llu ms %.1f\n",
              name.c_str(), (unsigned long long)deadline, status, status ? -1 : (int)n->report.stop_reason,
              status ? 0.0 : n->Product(), (unsigned long long)spent, (unsigned long long)most,
              (unsigned long long)clock->reads(), ms);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if (std::getenv("LONG")) g_long = std::strtoull(std::getenv("LONG"), nullptr, 10);
  const std::string mode = argv[1], machine = argv[2];
  const char* only = nullptr;
  std::vector<uint64_t> deadlines;
  for (int i = 4; i < argc; ++i) {
    if (argv[i][0] >= '0' && argv[i][0] <= '9') deadlines.push_back(std::strtoull(argv[i], nullptr, 10));
    else only = argv[i];
  }
  sluice::zoo::ZooOptions options;
  options.batch = std::atoi(argv[3]);
  uint64_t slow = mode == "slow5" ? 5 : mode == "slow20" ? 20 : 1;
  for (const sluice::zoo::ZooEntry& e : sluice::zoo::ZooEntries()) {
    if (only != nullptr && std::string(e.name).find(only) == std::string::npos) continue;
    if (std::string(e.name).find("gpt2_xl") == 0) continue;
    WorkClock clock(slow);
    NetworkPlan n(sluice::zoo::MakeZooGraph(e.name, options), machine, Now, &clock);
    if (!n.ok) continue;
    for (uint64_t d : deadlines) Row(e.name, &n, &clock, d * slow);
  }
  return 0;
}
