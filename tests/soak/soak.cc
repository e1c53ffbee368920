// SPDX-License-Identifier: Apache-2.0
// The soak: round after round in one process. What was done is added up in a file, and a later
// run goes on with the next round.
//
//   soak STATE [SECONDS]        so much time of the processor, 60 without a number
//     SLUICE_SOAK_ROUNDS=N      ends after N rounds instead
//     SLUICE_SOAK_SPOIL=N       changes a byte of the plan of round N
//
// Input    STATE, a file that a run has written, or none yet
// Output   STATE, replaced as a whole every 64 rounds, at the end and after SIGINT and SIGTERM:
//          a name and a number per line; the same on stdout
// Errors   5: a round found something wrong; STATE stands before that round, so that the same
//          command finds it again. 2: STATE is not of this form. 6: it cannot be written.
//          5 also when the process holds more memory than after its first 256 rounds, by more
//          than kMostGrowth
#include <malloc.h>
#include <time.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "soak/round.h"
#include "support/setting.h"

namespace {

using sluice_test::Setting;
using sluice_test::Soak;
using sluice_test::Tally;

constexpr uint64_t kRoundsBetweenWrites = 64;
constexpr uint64_t kWarmRounds = 256;
// Tables that the simulator and the C++ library fill when they are first used, and what the
// allocator keeps for later as if it were in use: seven blocks of each of its 64 small sizes,
// some 230 KiB at most. What a round loses adds up to more within a run.
constexpr uint64_t kMostGrowth = 256 << 10;

volatile std::sig_atomic_t ended = 0;

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Bytes that are allocated and not freed, in all of the process; 0 where that is not known.
uint64_t HeapBytes() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

struct State {
  uint64_t runs = 0;
  double cpu_seconds = 0;
  Tally tally;
};

struct Field {
  const char* name;
  uint64_t Tally::*value;
};

constexpr Field kFields[] = {
    {"rounds", &Tally::rounds},         {"plans", &Tally::plans},
    {"infeasible", &Tally::infeasible}, {"limited", &Tally::limited},
    {"stopped", &Tally::stopped},       {"reschedules", &Tally::reschedules},
    {"shrunk", &Tally::shrunk},         {"refused", &Tally::refused},
    {"cohorts", &Tally::cohorts},       {"compared_bytes", &Tally::compared_bytes}};

// False: the file is there and is none of a soak.
bool Read(const std::string& path, State* state) {
  std::ifstream in(path);
  if (!in) return true;
  std::map<std::string, double> values;
  std::string name;
  double value;
  while (in >> name >> value) values[name] = value;
  if (!in.eof() || values.size() != std::size(kFields) + 2) return false;
  for (const Field& field : kFields) {
    if (values.count(field.name) == 0) return false;
    state->tally.*field.value = static_cast<uint64_t>(values[field.name]);
  }
  state->runs = static_cast<uint64_t>(values["runs"]);
  state->cpu_seconds = values["cpu_seconds"];
  return true;
}

std::string Text(const State& state) {
  char line[64];
  std::snprintf(line, sizeof line, "cpu_seconds %.2f\n", state.cpu_seconds);
  std::string text = "runs " + std::to_string(state.runs) + "\n" + line;
  for (const Field& field : kFields) {
    text +=
        std::string(field.name) + " " + std::to_string(state.tally.*field.value) + "\n";
  }
  return text;
}

bool Write(const std::string& path, const State& state) {
  const std::string next = path + ".next";
  {
    std::ofstream out(next);
    out << Text(state);
    if (!out.flush()) return false;
  }
  return std::rename(next.c_str(), path.c_str()) == 0;
}

// What the runs before have done and what this one has.
State Sum(const State& before, const Tally& now) {
  State sum = before;
  sum.cpu_seconds += CpuSeconds();
  for (const Field& field : kFields) sum.tally.*field.value += now.*field.value;
  return sum;
}

int Run(const std::string& path, double seconds) {
  State before;
  if (!Read(path, &before)) {
    std::fprintf(stderr, "soak: %s is not what a soak has written\n", path.c_str());
    return 2;
  }
  ++before.runs;
  const uint64_t most = Setting("SLUICE_SOAK_ROUNDS", 0);
  const uint64_t spoil = Setting("SLUICE_SOAK_SPOIL", 0);
  Soak soak;
  const uint64_t& done = soak.tally().rounds;
  uint64_t warm_bytes = 0;
  std::string wrong;
  while (ended == 0 && (most != 0 ? done < most : CpuSeconds() < seconds) &&
         wrong.empty()) {
    const uint64_t number = before.tally.rounds + done + 1;
    if (!soak.Round(number, number == spoil)) wrong = soak.wrong();
    if (done == kWarmRounds) warm_bytes = HeapBytes();
    if (wrong.empty() && done > kWarmRounds && HeapBytes() > warm_bytes + kMostGrowth) {
      wrong = "round " + std::to_string(number) + ": the process holds " +
              std::to_string(HeapBytes()) + " bytes, after " +
              std::to_string(kWarmRounds) + " rounds " + std::to_string(warm_bytes);
    }
    if (done % kRoundsBetweenWrites == 0 && !Write(path, Sum(before, soak.tally())))
      break;
  }
  const State sum = Sum(before, soak.tally());
  const bool written = Write(path, sum);
  std::printf("%s", Text(sum).c_str());
  if (!written) std::fprintf(stderr, "soak: cannot write %s\n", path.c_str());
  if (!wrong.empty()) std::fprintf(stderr, "soak: %s\n", wrong.c_str());
  return !wrong.empty() ? 5 : written ? 0 : 6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "soak STATE [SECONDS]\n");
    return 3;
  }
  std::signal(SIGINT, [](int) { ended = 1; });
  std::signal(SIGTERM, [](int) { ended = 1; });
  return Run(argv[1], argc == 3 ? std::strtod(argv[2], nullptr) : 60);
}
