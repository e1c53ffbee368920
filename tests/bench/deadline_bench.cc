// SPDX-License-Identifier: Apache-2.0
// What a deadline costs and what it buys: CPU time spent after it has passed, and how good
// a plan is there by then.
//
// Input    all networks of the zoo on soma-edge (GPT-2 XL: soma-cloud). Environment:
//          SLUICE_BENCH_RUNS per deadline (200), SLUICE_BENCH_LOAD busy threads beside
//          (as many as there are CPUs), SLUICE_BENCH_ONLY a part of the names,
//          SLUICE_BENCH_QUALITY_MS the long run (10000).
// Output   per network and deadline: runs with a plan, CPU after expiry and wall time,
//          p50, p99, most; the time to the first plan; EDP over that of the long run.
//          Then the geometric means, and whether the limits of the contract hold.
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/zoo/zoo.h"
#include "support/network_plan.h"

namespace {

using Json = nlohmann::json;
using sluice_test::NetworkPlan;

constexpr uint64_t kDeadlinesMs[] = {2, 5, 10, 50, 200};
constexpr double kMostCpuUs = 500;  // after expiry, p99

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

// CPU time of the measured thread when its deadline passed; the handler runs on it.
volatile double g_cpu_at_expiry_us;

void OnExpiry(int) { g_cpu_at_expiry_us = NowUs(CLOCK_THREAD_CPUTIME_ID); }

class ExpiryTimer {
 public:
  ExpiryTimer() {
    struct sigaction action = {};
    action.sa_handler = OnExpiry;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    ok = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~ExpiryTimer() { Set(0), timer_delete(timer_); }
  void Set(uint64_t ns) {
    itimerspec in = {};
    in.it_value.tv_sec = static_cast<time_t>(ns / 1000000000);
    in.it_value.tv_nsec = static_cast<long>(ns % 1000000000);
    timer_settime(timer_, 0, &in, nullptr);
  }
  bool ok = false;

 private:
  timer_t timer_;
};

// Threads that are busy beside the measured one; its signals are not theirs.
class Load {
 public:
  explicit Load(uint64_t threads) {
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    for (uint64_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) {
        }
      });
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Load() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::ceil(q * last))];
}

struct Samples {
  std::vector<double> after_us, wall_us, product;
  int stopped = 0, wrong = 0;
};

Samples Measure(NetworkPlan* n, ExpiryTimer* timer, uint64_t ms, uint64_t runs) {
  Samples s;
  for (uint64_t i = 0; i < runs; ++i) {
    g_cpu_at_expiry_us = 0;
    const double begin = NowUs(CLOCK_MONOTONIC);
    timer->Set(ms * 1000000);
    const sluice_status_t status = n->Schedule(SLUICE_SOLVER_DEFAULT, 0, ms * 1000000);
    const double end = NowUs(CLOCK_MONOTONIC);
    const double cpu = NowUs(CLOCK_THREAD_CPUTIME_ID);
    timer->Set(0);
    const double expired = g_cpu_at_expiry_us;
    s.wall_us.push_back(end - begin);
    s.after_us.push_back(expired > 0 ? cpu - expired : 0);
    if (status == SLUICE_OK) {
      s.product.push_back(n->Product());
      // The plan was judged already; a sample is judged again.
      if (i == 0 && n->Verify() != SLUICE_OK) ++s.wrong;
    } else if (status == SLUICE_STOPPED) {
      ++s.stopped;
    } else {
      ++s.wrong;
    }
  }
  return s;
}

// How long until there is a plan at all: when the callback first hears of one.
double FirstPlanUs(NetworkPlan* n) {
  struct First {
    double begin, at;
  } first = {NowUs(CLOCK_MONOTONIC), 0};
  n->progress = [](void* user, uint64_t, double cost) {
    First* f = static_cast<First*>(user);
    if (cost <= 0) return 0;
    f->at = NowUs(CLOCK_MONOTONIC);
    return 1;
  };
  n->progress_user = &first;
  const sluice_status_t status = n->Schedule(SLUICE_SOLVER_DEFAULT, 0, 0);
  n->progress = nullptr;
  return status == SLUICE_OK ? first.at - first.begin : -1;
}

struct Totals {
  double worst_us = 0;
  double log_ratio[2] = {0, 0};  // at 10 and 50 ms
  int ratios[2] = {0, 0};
  int late = 0, wrong = 0;
};

Json RowOf(const std::string& name, uint64_t ms, const Samples& s, double best,
           Totals* totals) {
  const double p99 = Quantile(s.after_us, 0.99);
  totals->worst_us = std::max(totals->worst_us, p99);
  totals->late += p99 > kMostCpuUs ? 1 : 0;
  totals->wrong += s.wrong;
  const double ratio =
      s.product.empty() || best <= 0 ? 0 : Quantile(s.product, 0.5) / best;
  const int at = ms == 10 ? 0 : ms == 50 ? 1 : -1;
  if (at >= 0 && ratio > 0) {
    totals->log_ratio[at] += std::log(ratio);
    ++totals->ratios[at];
  }
  return {{"network", name},
          {"deadline_ms", ms},
          {"plans", s.product.size()},
          {"stopped", s.stopped},
          {"wrong", s.wrong},
          {"cpu_after_us_p50", Quantile(s.after_us, 0.5)},
          {"cpu_after_us_p99", p99},
          {"cpu_after_us_max", Quantile(s.after_us, 1)},
          {"wall_us_p50", Quantile(s.wall_us, 0.5)},
          {"wall_us_p99", Quantile(s.wall_us, 0.99)},
          {"edp_over_long_run", ratio}};
}

void Print(const Json& row) {
  std::printf(
      "%-20s %4d ms  %3d plans %3d stopped %d wrong  CPU after %6.0f p50 %6.0f p99 "
      "%6.0f us  wall %8.0f p50 %8.0f p99 us  EDP x%.4f\n",
      row["network"].get<std::string>().c_str(), row["deadline_ms"].get<int>(),
      row["plans"].get<int>(), row["stopped"].get<int>(), row["wrong"].get<int>(),
      row["cpu_after_us_p50"].get<double>(), row["cpu_after_us_p99"].get<double>(),
      row["cpu_after_us_max"].get<double>(), row["wall_us_p50"].get<double>(),
      row["wall_us_p99"].get<double>(), row["edp_over_long_run"].get<double>());
  std::fflush(stdout);
}

}  // namespace

int RunDeadlineBench(bool json) {
  const uint64_t runs = FromEnvironment("SLUICE_BENCH_RUNS", 200);
  const uint64_t quality_ms = FromEnvironment("SLUICE_BENCH_QUALITY_MS", 10000);
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  ExpiryTimer timer;
  if (!timer.ok) return 1;
  const Load load(
      FromEnvironment("SLUICE_BENCH_LOAD", std::thread::hardware_concurrency()));
  Json rows = Json::array(), first_plan = Json::object();
  Totals totals;
  for (const sluice::cli::ZooEntry& network : sluice::cli::ZooEntries()) {
    const std::string name = network.name;
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    const bool huge = name.find("gpt2_xl") == 0;
    NetworkPlan n(sluice::cli::MakeZooGraph(name, {}),
                  huge ? "soma-cloud" : "soma-edge");
    if (!n.ok) continue;
    const bool planned =
        quality_ms != 0 &&
        n.Schedule(SLUICE_SOLVER_DEFAULT, 0, quality_ms * 1000000) == SLUICE_OK;
    const double best = planned ? n.Product() : 0;
    first_plan[name] = FirstPlanUs(&n);
    if (!json) {
      std::printf("%-20s first plan after %.0f us\n", name.c_str(),
                  first_plan[name].get<double>());
    }
    for (uint64_t ms : kDeadlinesMs) {
      const Json row = RowOf(name, ms, Measure(&n, &timer, ms, runs), best, &totals);
      if (!json) Print(row);
      rows.push_back(row);
    }
  }
  const auto mean = [&](int at) {
    return totals.ratios[at] == 0 ? 0
                                  : std::exp(totals.log_ratio[at] / totals.ratios[at]);
  };
  const Json summary = {{"worst_cpu_after_us_p99", totals.worst_us},
                        {"rows_over_500_us", totals.late},
                        {"wrong", totals.wrong},
                        {"edp_at_10_ms", mean(0)},
                        {"networks_at_10_ms", totals.ratios[0]},
                        {"edp_at_50_ms", mean(1)},
                        {"networks_at_50_ms", totals.ratios[1]}};
  if (json) {
    const Json all = {
        {"rows", rows}, {"first_plan_us", first_plan}, {"summary", summary}};
    std::printf("%s\n", all.dump(2).c_str());
  } else {
    std::printf("%s\n", summary.dump(2).c_str());
  }
  return totals.late == 0 && totals.wrong == 0 ? 0 : 1;
}
