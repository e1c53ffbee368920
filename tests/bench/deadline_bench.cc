// SPDX-License-Identifier: Apache-2.0
// Two figures of calls with a deadline: the CPU time that a call takes after its deadline or
// a cancel, and how good the plan is that the call returns.
//
// Input    all networks of the zoo on soma-edge (GPT-2 XL: soma-cloud). Environment:
//          SLUICE_BENCH_RUNS: runs under load, per deadline and with cancels (200; 0: none),
//          SLUICE_BENCH_LOAD: busy threads beside these (default: one per CPU),
//          SLUICE_BENCH_WORK: 0: nothing on the clock that counts work,
//          SLUICE_BENCH_ONLY: a part of the names.
// Output   on the clock that counts work, how good plans are (deadline_work.h).
//          On the real clock under load, per network and deadline: runs with a plan, CPU
//          after expiry and wall time, p50, p99, most; per network: the same after a
//          cancel from another thread, and the earliest deadline at which every run had
//          a plan.
//          Then the geometric means, and whether the limits of the contract hold.
// Method   At expiry a timer's signal reaches the measured thread, whose handler notes the
//          thread's CPU time. If the thread was not running, no CPU time passed between
//          expiry and delivery; if it was, some microseconds are not counted. The timer is
//          set shortly before the call; the library's clock starts inside the call. If the
//          thread is interrupted in between (seen by a late second allocation, the first
//          on the library's clock), the run would count time before the call's deadline,
//          so it is repeated. For a cancel, the cancelling thread reads the CPU clock of
//          the measured thread just before it sets the word; if it is interrupted there,
//          the run is not counted. On a shared machine, CPU clocks also run while another
//          system takes the CPU: the busy threads count how often their own clocks jump by
//          more than the limit.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/deadline_work.h"
#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;
using sluice_test::NetworkPlan;

constexpr uint64_t kDeadlinesMs[] = {2, 5, 10, 50, 200};
constexpr uint64_t kNeverMs = 60000;    // deadline of a call that is cancelled
constexpr double kMostCpuUs = 500;      // after expiry, p99
constexpr double kMostCancelUs = 1000;  // after a cancel
// The longest times without an interruption: from setting the timer to the start of the
// call's clock, and for setting a cancel word.
constexpr double kStartUs = 100, kAtOnceUs = 20;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

double NowUs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return 1e6 * static_cast<double>(now.tv_sec) +
         1e-3 * static_cast<double>(now.tv_nsec);
}
double WallUs() { return NowUs(CLOCK_MONOTONIC); }
double CpuUs() { return NowUs(CLOCK_THREAD_CPUTIME_ID); }

// CPU time of the measured thread when its deadline passed; the handler runs on it.
volatile double g_cpu_at_expiry_us;
// The wall time of the allocation by which the call's clock has started, and the number of
// allocations until that one.
double g_clock_runs_us;
int g_allocations_to_go;

void OnAllocation() {
  if (--g_allocations_to_go == 0) g_clock_runs_us = WallUs();
}

void OnExpiry(int) { g_cpu_at_expiry_us = CpuUs(); }

class ExpiryTimer {
 public:
  ExpiryTimer() {
    struct sigaction action = {};
    action.sa_handler = OnExpiry;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    ok = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~ExpiryTimer() { Set(0), timer_delete(timer_); }
  void Set(uint64_t ms) {
    itimerspec in = {};
    in.it_value.tv_sec = static_cast<time_t>(ms / 1000);
    in.it_value.tv_nsec = static_cast<long>(ms % 1000 * 1000000);
    g_cpu_at_expiry_us = 0;
    timer_settime(timer_, 0, &in, nullptr);
  }
  bool ok = false;

 private:
  timer_t timer_;
};

// Threads that are busy beside the measured one. They do nothing but read their own CPU time.
// A jump of it comes from the machine and can occur in the measured thread too.
class Load {
 public:
  explicit Load(uint64_t threads) {
    for (uint64_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        double last = CpuUs();
        while (!stop_.load(std::memory_order_relaxed)) {
          const double now = CpuUs();
          if (now - last > kMostCpuUs) ++jumps_;
          last = now;
        }
        ran_us_ += static_cast<uint64_t>(last);
      });
    }
  }
  ~Load() { JumpsPerSecond(); }
  // Ends the load. Returns the number of jumps above the contract's limit per second of CPU
  // time.
  double JumpsPerSecond() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
    threads_.clear();
    return 1e6 * static_cast<double>(jumps_) /
           static_cast<double>(std::max<uint64_t>(ran_us_, 1));
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> jumps_{0}, ran_us_{0};
  std::vector<std::thread> threads_;
};

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::ceil(q * last))];
}

struct Samples {
  std::vector<double> after_us, wall_us;
  uint64_t plans = 0, stopped = 0, wrong = 0;
  uint64_t interrupted = 0;  // runs that an interruption spoilt: not counted

  // Every plan was judged by its call; the first of each sample is judged again.
  void Count(sluice_status_t status, NetworkPlan* n) {
    if (status == SLUICE_STOPPED) {
      ++stopped;
    } else if (status != SLUICE_OK || (plans++ == 0 && n->Verify() != SLUICE_OK)) {
      ++wrong;
    }
  }
};

Samples Expire(NetworkPlan* n, ExpiryTimer* timer, uint64_t ms, uint64_t runs) {
  Samples s;
  n->OnAllocation(OnAllocation);
  while (s.after_us.size() < runs) {
    n->Forget();
    g_allocations_to_go = 2;
    const double begin = WallUs();
    timer->Set(ms);
    const sluice_status_t status = n->Schedule(SLUICE_SOLVER_DEFAULT, 0, ms * 1000000);
    const double end = WallUs(), cpu = CpuUs(), expired = g_cpu_at_expiry_us;
    timer->Set(0);
    if (g_clock_runs_us - begin > kStartUs && ++s.interrupted < runs) continue;
    s.wall_us.push_back(end - begin);
    s.after_us.push_back(expired > 0 ? cpu - expired : 0);
    s.Count(status, n);
  }
  n->OnAllocation(nullptr);
  return s;
}

// Runs cancelled by another thread after 0.1 to 100 ms, evenly spread on a logarithmic scale.
Samples Cancel(NetworkPlan* n, uint64_t runs) {
  Samples s;
  clockid_t clock;
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return s;
  for (uint64_t i = 0; i < runs; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(runs);
    const double delay_us = 100 * std::pow(1000.0, share);
    uint32_t word = 0;
    std::atomic<bool> ready{false};
    double cpu = 0, wall = 0, set = 0;
    n->Forget();
    n->cancel = &word;
    std::thread other([&] {
      ready = true;
      const timespec delay = {0, static_cast<long>(1000 * delay_us)};
      nanosleep(&delay, nullptr);
      wall = WallUs();
      cpu = NowUs(clock);
      __atomic_store_n(&word, 1u, __ATOMIC_RELAXED);
      set = WallUs();
    });
    while (!ready) std::this_thread::yield();
    const sluice_status_t status =
        n->Schedule(SLUICE_SOLVER_DEFAULT, 0, kNeverMs * 1000000);
    const double end = WallUs(), cpu_end = CpuUs();
    other.join();
    n->cancel = nullptr;
    s.Count(status, n);
    if (set - wall > kAtOnceUs) {
      ++s.interrupted;
    } else if (set < end) {  // the call had not ended before the cancel
      s.wall_us.push_back(end - wall);
      s.after_us.push_back(cpu_end - cpu);
    }
  }
  return s;
}

struct Totals {
  double worst_us = 0, worst_cancel_us = 0;
  uint64_t late = 0, late_cancel = 0, wrong = 0;
};

Json RowOf(const std::string& name, const Samples& s) {
  return {{"network", name},
          {"runs", s.plans + s.stopped + s.wrong},
          {"plans", s.plans},
          {"stopped", s.stopped},
          {"wrong", s.wrong},
          {"interrupted", s.interrupted},
          {"cpu_after_us_p50", Quantile(s.after_us, 0.5)},
          {"cpu_after_us_p99", Quantile(s.after_us, 0.99)},
          {"cpu_after_us_max", Quantile(s.after_us, 1)},
          {"wall_us_p50", Quantile(s.wall_us, 0.5)},
          {"wall_us_p99", Quantile(s.wall_us, 0.99)}};
}

void Print(const Json& row, const std::string& what) {
  std::printf(
      "%-20s %6s  %3d plans %3d stopped %d wrong  CPU after %6.0f p50 %6.0f p99 %6.0f "
      "us  wall %8.0f p50 %8.0f p99 us\n",
      row["network"].get<std::string>().c_str(), what.c_str(), row["plans"].get<int>(),
      row["stopped"].get<int>(), row["wrong"].get<int>(),
      row["cpu_after_us_p50"].get<double>(), row["cpu_after_us_p99"].get<double>(),
      row["cpu_after_us_max"].get<double>(), row["wall_us_p50"].get<double>(),
      row["wall_us_p99"].get<double>());
  std::fflush(stdout);
}

class Bench {
 public:
  explicit Bench(bool json) : json_(json) {}

  // Calls visit(name, NetworkPlan*) for every network.
  template <typename Visit>
  void ForEach(Visit visit) {
    const char* only = std::getenv("SLUICE_BENCH_ONLY");
    for (const sluice::zoo::ZooEntry& network : sluice::zoo::ZooEntries()) {
      const std::string name = network.name;
      if (only != nullptr && name.find(only) == std::string::npos) continue;
      const bool huge = name.find("gpt2_xl") == 0;
      NetworkPlan n(sluice::zoo::MakeZooGraph(name, {}),
                    huge ? "soma-cloud" : "soma-edge");
      if (n.ok) visit(name, &n);
    }
  }

  void RunInWork() {
    work_ = sluice_bench::DeadlinesInWork(std::getenv("SLUICE_BENCH_ONLY"), !json_);
  }

  void RunLoaded(uint64_t runs, ExpiryTimer* timer) {
    Load load(
        FromEnvironment("SLUICE_BENCH_LOAD", std::thread::hardware_concurrency()));
    ForEach([&](const std::string& name, NetworkPlan* n) {
      uint64_t earliest = 0;
      for (uint64_t ms : kDeadlinesMs) {
        const Samples s = Expire(n, timer, ms, runs);
        if (earliest == 0 && s.plans == runs) earliest = ms;
        const double p99 = AddRow(RowOf(name, s), ms, &rows_);
        totals_.worst_us = std::max(totals_.worst_us, p99);
        totals_.late += p99 > kMostCpuUs ? 1 : 0;
      }
      earliest_[name] = earliest;
      const Samples s = Cancel(n, runs);
      const double p99 = AddRow(RowOf(name, s), 0, &cancelled_);
      totals_.worst_cancel_us = std::max(totals_.worst_cancel_us, p99);
      totals_.late_cancel += p99 > kMostCancelUs ? 1 : 0;
    });
    jumps_ = load.JumpsPerSecond();
  }

  int Finish() const {
    const Json summary = {{"worst_cpu_after_us_p99", totals_.worst_us},
                          {"rows_over_500_us", totals_.late},
                          {"worst_cpu_after_cancel_us_p99", totals_.worst_cancel_us},
                          {"networks_cancelled_over_1000_us", totals_.late_cancel},
                          {"wrong", totals_.wrong},
                          {"clock_jumps_over_500_us_per_s", jumps_},
                          {"earliest_deadline_ms", earliest_},
                          {"in_work", work_.summary}};
    const Json all = {{"rows", rows_},
                      {"cancelled", cancelled_},
                      {"in_work", work_.rows},
                      {"summary", summary}};
    std::printf("%s\n", (json_ ? all : summary).dump(2).c_str());
    const bool late = totals_.late + totals_.late_cancel + totals_.wrong != 0;
    return late || !work_.holds ? 1 : 0;
  }

 private:
  // ms: the deadline; 0: the run was cancelled. Returns the 99th percentile of the CPU time
  // after the deadline or the cancel.
  double AddRow(Json row, uint64_t ms, Json* rows) {
    if (ms != 0) row["deadline_ms"] = ms;
    totals_.wrong += row["wrong"].get<uint64_t>();
    if (!json_) Print(row, ms != 0 ? std::to_string(ms) + " ms" : "cancel");
    rows->push_back(row);
    return row["cpu_after_us_p99"];
  }

  bool json_;
  Totals totals_;
  double jumps_ = 0;  // jumps of CPU clocks, per second
  Json rows_ = Json::array(), cancelled_ = Json::array();
  sluice_bench::WorkReport work_;
  Json earliest_ = Json::object();  // by network; 0 = none of them
};

}  // namespace

int RunDeadlineBench(bool json) {
  ExpiryTimer timer;
  if (!timer.ok) return 1;
  Bench bench(json);
  const uint64_t runs = FromEnvironment("SLUICE_BENCH_RUNS", 200);
  if (FromEnvironment("SLUICE_BENCH_WORK", 1) != 0) bench.RunInWork();
  if (runs != 0) bench.RunLoaded(runs, &timer);
  return bench.Finish();
}
