// SPDX-License-Identifier: Apache-2.0
// Deadlines on a clock that counts work: exact, repeatable, whatever else the machine does.
// 850,000 blocks are about a millisecond of one core of 3 GHz.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/rng.h"
#include "import/training/training.h"
#include "sluice/experimental.h"
#include "support/network_plan.h"
#include "support/work_clock.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

constexpr uint64_t kMs = 850000;
constexpr uint64_t kEver = 1000000 * kMs;

struct TimedNetwork {
  explicit TimedNetwork(const char* network, const char* preset = "soma-edge",
                        uint64_t slow = 1)
      : TimedNetwork(sluice::zoo::MakeZooGraph(network, {}), preset, slow) {}
  explicit TimedNetwork(const Bytes& graph, const char* preset = "soma-edge",
                        uint64_t slow = 1)
      : clock(slow), n(graph, preset, WorkClock::Now, &clock) {
    REQUIRE(n.ok);
  }
  // Returns what the call returned; `work`, `most`: its work, the most without a poll.
  sluice_status_t Schedule(uint64_t deadline) {
    n.Forget();
    clock.Begin();
    const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0, deadline);
    work = clock.Spent();
    most = clock.End();
    return status;
  }
  WorkClock clock;
  NetworkPlan n;
  uint64_t work = 0, most = 0;
};

TEST_CASE("work: a deadline ends the same call at the same block each time") {
  TimedNetwork a("mobilenet_v1"), b("mobilenet_v1");
  REQUIRE(a.Schedule(4 * kMs) == SLUICE_OK);
  REQUIRE(b.Schedule(4 * kMs) == SLUICE_OK);
  CHECK(a.n.report.stop_reason == SLUICE_STOP_DEADLINE);
  CHECK(a.n.PlanBytes() == b.n.PlanBytes());
  CHECK(a.work == b.work);
}

TEST_CASE("work: a plan is there at any deadline, or the call says that it stopped") {
  for (const char* network :
       {"resnet50", "mobilenet_v1", "densenet121", "r2plus1d_18"}) {
    CAPTURE(network);
    TimedNetwork t(network);
    REQUIRE(t.n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
    const double plain = t.n.Product();
    int plans = 0;
    for (uint64_t deadline = kMs / 16; deadline < 70 * kMs; deadline *= 2) {
      CAPTURE(deadline);
      const sluice_status_t status = t.Schedule(deadline);
      if (status == SLUICE_STOPPED) {
        CHECK(std::string(t.n.diagnostic.message).find("before") != std::string::npos);
        continue;
      }
      REQUIRE(status == SLUICE_OK);
      ++plans;
      CHECK(t.n.Verify() == SLUICE_OK);
      CHECK(t.n.Product() <= plain);
    }
    CHECK(plans > 2);
  }
}

TEST_CASE("work: a machine 5 and 20 times slower with as much more time plans alike") {
  for (const char* network : {"resnet50", "mobilenet_v1", "googlenet"}) {
    CAPTURE(network);
    TimedNetwork fast(network), slow(network, "soma-edge", 5),
        slowest(network, "soma-edge", 20);
    for (const uint64_t deadline : {kMs, 2 * kMs, 4 * kMs, 10 * kMs, 30 * kMs}) {
      CAPTURE(deadline);
      const sluice_status_t status = fast.Schedule(deadline);
      CHECK(slow.Schedule(5 * deadline) == status);
      CHECK(slowest.Schedule(20 * deadline) == status);
      if (status != SLUICE_OK) continue;
      CHECK(slow.n.Product() == doctest::Approx(fast.n.Product()).epsilon(0.01));
      CHECK(slowest.n.Product() == doctest::Approx(fast.n.Product()).epsilon(0.01));
    }
  }
}

// At such a deadline the first plan that the progress callback hears of is not the plain
// one, for which there would have been time too.
TEST_CASE("work: a plan of segments that is found soon comes before the plain plan") {
  TimedNetwork t("resnet50");
  REQUIRE(t.n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
  const double plain = t.n.Product();
  double first = 0;
  t.n.progress_user = &first;
  t.n.progress = [](void* user, uint64_t, double cost) {
    double* told = static_cast<double*>(user);
    if (*told <= 0) *told = cost;
    return 0;
  };
  REQUIRE(t.Schedule(5 * kMs) == SLUICE_OK);
  CHECK(t.n.Verify() == SLUICE_OK);
  REQUIRE(first > 0);
  CHECK(first < plain / 2);
  CHECK(t.n.report.stop_reason == SLUICE_STOP_DEADLINE);
}

// Of large networks the plain plan takes as long to make and to judge as a short search and
// its plan, which is up to 57 times better.
TEST_CASE("work: short deadlines give nearly the plans of long ones") {
  const struct {
    const char* network;
    double ms, most;  // the deadline; EDP over that of 60 ms
  } rows[] = {{"mobilenet_v1", 1.5, 1.02},
              {"squeezenet", 1.5, 1.05},
              {"googlenet", 2.5, 1.01},
              {"resnet50", 3.5, 1.01},
              {"densenet121", 8, 1.01},
              {"transformer", 9, 1.02},
              {"s3d", 9, 1.15},
              {"gpt2_small_prefill", 9, 1.35},
              {"amoebanet_d", 10.5, 1.01},
              {"darts", 11.5, 1.01},
              {"pnasnet5", 12, 1.01},
              {"nasnet_a", 15, 1.01}};
  for (const auto& row : rows) {
    CAPTURE(std::string(row.network));
    TimedNetwork t(row.network);
    REQUIRE(t.Schedule(60 * kMs) == SLUICE_OK);
    const double good = t.n.Product();
    REQUIRE(t.Schedule(static_cast<uint64_t>(row.ms * kMs)) == SLUICE_OK);
    CHECK(t.n.Verify() == SLUICE_OK);
    CHECK(t.n.Product() <= row.most * good);
  }
}

// In a small scratchpad the short search takes long, and images that are placed in turn leave
// little room: there the plain plan is timed first, and the plan found soon has the time that
// was kept for it. Otherwise PNASNet has the plain plan at 200 ms, which costs 8 times as much,
// and ResNeXt-50 one that costs 1.4 times as much. VGG-16 has the plain plan at 141 ms, 1.2
// times as dear, unless what is sure to be judged in time gives that time back. GPT-2's plain
// plan takes half of 300 ms, and what is left would not do for another one, but does for the
// plan found soon; at 400 ms there is a better one yet, and the plain plan is 2.6 times as dear.
TEST_CASE(
    "work: in a small scratchpad too plans at short deadlines are nearly those of long "
    "ones") {
  struct Row {
    const char* network;
    uint64_t deadline_ns;
    double most;
  };
  for (const Row& row :
       {Row{"pnasnet5", 200 * kMs, 1.08}, Row{"resnext50", 200 * kMs, 1.08},
        Row{"vgg16", 141 * kMs, 1.08}, Row{"gpt2_small_prefill", 300 * kMs, 1.1}}) {
    CAPTURE(row.network);
    TimedNetwork t(row.network, "mcu-256k");
    REQUIRE(t.Schedule(400 * kMs) == SLUICE_OK);
    const double good = t.n.Product();
    REQUIRE(t.Schedule(row.deadline_ns) == SLUICE_OK);
    CHECK(t.n.Verify() == SLUICE_OK);
    CHECK(t.n.Product() <= row.most * good);
  }
}

// What a step of a plain plan takes, and what is expected of the judge, decide whether there
// is a plan at all: of ResNeXt-50 and VGG-16 each step took a sixth more, of GPT-2 the judge's
// bound took more than all else.
TEST_CASE("work: in a small scratchpad plain plans of thousands of steps come soon") {
  struct Row {
    const char* network;
    double ms;
  };
  for (const Row& row :
       {Row{"resnext50", 9.8}, Row{"gpt2_small_decode", 10.5}, Row{"vgg16", 13}}) {
    CAPTURE(row.network);
    TimedNetwork t(row.network, "mcu-256k");
    CHECK(t.Schedule(static_cast<uint64_t>(row.ms * kMs)) == SLUICE_OK);
    CHECK(t.n.Verify() == SLUICE_OK);
  }
}

// Where the plain plan has very many steps, or as many as the plan found soon, it is not waited
// for unless time is short.
TEST_CASE("work: a plan found soon comes before a plain plan of very many steps") {
  for (const char* network :
       {"fcn", "deeplabv3", "gpt2_small_prefill", "vit_b_16", "transformer"}) {
    CAPTURE(network);
    TimedNetwork t(network, "mcu-256k");
    REQUIRE(t.n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
    const double plain = t.n.Product();
    REQUIRE(t.Schedule(200 * kMs) == SLUICE_OK);
    CHECK(t.n.Verify() == SLUICE_OK);
    CHECK(t.n.Product() < 0.9 * plain);
  }
  // These plain plans are judged in 50 ms: sums are cut where tiles would be very many.
  for (const char* network : {"fcn", "deeplabv3", "vit_b_16", "transformer"}) {
    CAPTURE(network);
    TimedNetwork t(network, "mcu-256k");
    CHECK(t.Schedule(50 * kMs) == SLUICE_OK);
  }
}

// Half a percent: changes of a plan are chosen by what they are predicted to gain. FCN: a
// long search that is cut leaves its time to random changes, which gain 1.4 percent more.
TEST_CASE("work: with more time no plan is dearer, and none is missing") {
  const struct {
    const char* network;
    const char* preset;
    double dearer = 1.005;
  } rows[] = {{"densenet121", "soma-edge"}, {"vit_b_16", "soma-edge"},
              {"pnasnet5", "soma-edge"},    {"squeezenet", "soma-edge"},
              {"fcn", "soma-edge", 1.014},  {"squeezenet", "mcu-256k"},
              {"lraspp", "mcu-256k"}};
  for (const auto& row : rows) {
    CAPTURE(row.network);
    CAPTURE(row.preset);
    TimedNetwork t(row.network, row.preset);
    double best = 0;
    for (uint64_t deadline = kMs; deadline < 90 * kMs; deadline += deadline / 5) {
      CAPTURE(deadline);
      const sluice_status_t status = t.Schedule(deadline);
      const bool stopped = best <= 0 && status == SLUICE_STOPPED;
      CHECK((stopped || status == SLUICE_OK));
      if (status != SLUICE_OK) continue;
      const double cost = t.n.Product();
      if (best > 0) CHECK(cost <= row.dearer * best);
      if (best <= 0 || cost < best) best = cost;
    }
    CHECK(best > 0);
  }
}

TEST_CASE("work: complete means that ten times the limit gives the same bytes") {
  for (const char* network : {"squeezenet", "mlp_l", "alexnet", "googlenet"}) {
    CAPTURE(network);
    TimedNetwork t(network);
    bool complete = false;
    for (uint64_t deadline = kMs; deadline < 1000 * kMs && !complete; deadline *= 3) {
      if (t.Schedule(deadline) != SLUICE_OK) continue;
      complete = t.n.report.stop_reason == SLUICE_STOP_COMPLETE;
      if (!complete) continue;
      const Bytes bytes = t.n.PlanBytes();
      REQUIRE(t.Schedule(10 * deadline) == SLUICE_OK);
      CHECK(t.n.PlanBytes() == bytes);
    }
    CHECK(complete);
  }
}

// A call that is cancelled or whose time is over ends at its next poll, or soon after: what
// is between two polls is what a driver waits for.
TEST_CASE("work: between two polls there are at most so many blocks") {
  uint64_t longest = 0, latest = 0;
  std::string where;
  for (const char* preset : {"soma-edge", "mcu-256k"}) {
    for (const auto& network : sluice::zoo::ZooEntries()) {
      const std::string name = network.name;
      if (name.find("gpt2_xl") == 0 || name.find("prefill") != std::string::npos) {
        continue;
      }
      CAPTURE(name);
      TimedNetwork t(network.name, preset);
      for (const uint64_t deadline : {kMs, 3 * kMs, 20 * kMs, 90 * kMs}) {
        const sluice_status_t status = t.Schedule(deadline);
        CHECK((status == SLUICE_OK || status == SLUICE_STOPPED));
        if (t.work > deadline) latest = std::max(latest, t.work - deadline);
        if (t.most <= longest) continue;
        longest = t.most;
        where = name + " on " + preset;
      }
    }
  }
  std::printf("most work between two polls: %llu blocks, %s; after a deadline: %llu\n",
              static_cast<unsigned long long>(longest), where.c_str(),
              static_cast<unsigned long long>(latest));
  CHECK(longest <= 900000);
  CHECK(latest <= longest);
}

// A call that sets its own cancel word once it has done so much work.
struct Cancels {
  const WorkClock* clock;
  uint64_t after, at;  // blocks; at: when the word was set
  uint32_t word;
  static int32_t Maybe(void* user, uint64_t, double) {
    Cancels* self = static_cast<Cancels*>(user);
    if (self->word != 0 || self->clock->Spent() < self->after) return 0;
    self->word = 1;
    self->at = self->clock->Spent();
    return 0;
  }
};

// Without a limit the search for this graph's spills takes minutes.
TEST_CASE("work: spills, and layers that run again, keep to deadline and cancel word") {
  const Bytes graph =
      sluice::import::MakeTrainingGraph(sluice::zoo::MakeZooGraph("resnet50", {}));
  for (const uint32_t granularity :
       {SLUICE_GRANULARITY_OPERATOR, SLUICE_GRANULARITY_RECOMPUTE}) {
    CAPTURE(granularity);
    TimedNetwork t(graph);
    t.n.granularity = granularity;
    for (const uint64_t deadline : {kMs, 24 * kMs, 300 * kMs}) {
      CAPTURE(deadline);
      const sluice_status_t status = t.Schedule(deadline);
      CHECK(status == (deadline == kMs ? SLUICE_STOPPED : SLUICE_OK));
      CHECK(t.work < deadline + 900000);
      CHECK(t.most <= 900000);
      if (status == SLUICE_OK) CHECK(t.n.Verify() == SLUICE_OK);
    }
    for (const uint64_t after : {5 * kMs, 50 * kMs, 300 * kMs}) {
      CAPTURE(after);
      Cancels cancels = {&t.clock, after, 0, 0};
      t.n.progress = Cancels::Maybe;
      t.n.progress_user = &cancels;
      t.n.cancel = &cancels.word;
      CHECK(t.Schedule(0) == SLUICE_STOPPED);
      CHECK(cancels.at < after + 4 * kMs);
      CHECK(t.work < cancels.at + 900000);
      t.n.progress = nullptr;
      t.n.cancel = nullptr;
    }
  }
}

// Buffers at random, many alive at a time: what an outside user gave, for whom placing them
// ended neither at its deadline nor when it was told to.
std::vector<sluice_buffer_t> ManyBuffers(uint32_t count) {
  sluice::Rng rng(3);
  std::vector<sluice_buffer_t> buffers(count);
  for (sluice_buffer_t& b : buffers) {
    b.begin = rng.Below(1000);
    b.end = b.begin + 1 + rng.Below(199);
    b.bytes = 1 + rng.Below(999);
  }
  return buffers;
}

// One call on a clock that also sets the cancel word, once so much work is done.
struct PlacedInTime {
  static uint64_t Now(void* user) {
    PlacedInTime* self = static_cast<PlacedInTime*>(user);
    if (self->word == 0 && self->clock.Spent() >= self->cancel_after) {
      self->word = 1;
      self->at = self->clock.Spent();
    }
    return WorkClock::Now(&self->clock);
  }
  PlacedInTime(const std::vector<sluice_buffer_t>& given, bool smallest,
               int64_t capacity, uint64_t deadline, uint64_t cancel)
      : cancel_after(cancel), offsets(given.size()), conflict(given.size()) {
    sluice_context_options_t how = {};
    how.struct_size = sizeof how;
    how.now_ns = Now;
    how.clock_user = this;
    sluice_context_t* context = nullptr;
    REQUIRE(sluice_context_create(&how, &context, nullptr) == SLUICE_OK);
    sluice_placement_problem_t problem = {};
    problem.struct_size = sizeof problem;
    problem.buffers = given.data();
    problem.buffer_count = static_cast<uint32_t>(given.size());
    problem.capacity_bytes = capacity;
    sluice_placement_options_t options = {};
    options.struct_size = sizeof options;
    options.smallest = smallest ? 1 : 0;
    options.deadline_ns = deadline;
    options.cancel = &word;
    out.struct_size = sizeof out;
    out.offsets = offsets.data();
    out.conflict = conflict.data();
    clock.Begin();
    status = sluice_place(context, &problem, &options, &out, nullptr);
    work = clock.Spent();
    most = clock.End();
    sluice_context_destroy(context);
  }
  uint64_t cancel_after, at = UINT64_MAX, work = 0, most = 0;
  uint32_t word = 0;
  WorkClock clock;
  std::vector<int64_t> offsets;
  std::vector<uint32_t> conflict;
  sluice_placement_t out = {};
  sluice_status_t status = SLUICE_OK;
};

// Whether no two buffers share a byte at a time, and none ends above the peak.
bool IsPlacement(const std::vector<sluice_buffer_t>& buffers, const PlacedInTime& p) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const sluice_buffer_t& a = buffers[i];
    if (p.offsets[i] < 0 || p.offsets[i] + a.bytes > p.out.peak_bytes) return false;
    for (size_t j = 0; j < i; ++j) {
      const sluice_buffer_t& b = buffers[j];
      const bool meet = a.begin < b.end && b.begin < a.end;
      if (meet && p.offsets[i] < p.offsets[j] + b.bytes &&
          p.offsets[j] < p.offsets[i] + a.bytes) {
        return false;
      }
    }
  }
  return true;
}

TEST_CASE("work: placing thousands of buffers keeps to deadline and cancel word") {
  constexpr uint64_t kLate = 5 * kMs / 2;  // of 5,000 buffers, cut into sections
  uint64_t longest = 0;
  for (const uint32_t count : {500u, 1000u, 2000u, 5000u}) {
    const std::vector<sluice_buffer_t> buffers = ManyBuffers(count);
    for (const bool smallest : {false, true}) {
      for (const int64_t capacity : {count * 50, count * 60, count * 250}) {
        for (const uint64_t limit : {kMs, 40 * kMs, 300 * kMs}) {
          CAPTURE(count);
          CAPTURE(smallest);
          CAPTURE(capacity);
          CAPTURE(limit);
          const PlacedInTime late(buffers, smallest, capacity, limit, kEver);
          const PlacedInTime told(buffers, smallest, capacity, kEver, limit);
          longest = std::max({longest, late.most, told.most});
          CHECK(late.work < limit + kLate);
          CHECK((told.word == 0 || told.work < told.at + kLate));
          for (const PlacedInTime* p : {&late, &told}) {
            CHECK(p->most <= kLate);
            CHECK(p->status <= SLUICE_STOPPED);
            if (p->status == SLUICE_OK) CHECK(p->out.placed == 1);
            if (p->out.placed == 1) CHECK(IsPlacement(buffers, *p));
          }
        }
      }
    }
  }
  std::printf("placing: most work between two polls: %llu blocks\n",
              static_cast<unsigned long long>(longest));
}

// One call of sluice_segments on a clock that also sets the cancel word, once so much work
// is done.
struct SegmentsInTime {
  static uint64_t Now(void* user) {
    SegmentsInTime* self = static_cast<SegmentsInTime*>(user);
    if (self->word == 0 && self->clock.Spent() >= self->cancel_after) {
      self->word = 1;
      self->at = self->clock.Spent();
    }
    return WorkClock::Now(&self->clock);
  }
  SegmentsInTime(const Bytes& graph, const char* preset, uint32_t delay, bool proof,
                 uint64_t deadline, uint64_t cancel)
      : cancel_after(cancel) {
    sluice_context_options_t how = {};
    how.struct_size = sizeof how;
    how.now_ns = Now;
    how.clock_user = this;
    const Bytes machine = sluice::presets::LoadPreset(preset);
    sluice_context_t* context = nullptr;
    sluice_graph_t* network = nullptr;
    sluice_hardware_t* hardware = nullptr;
    REQUIRE(sluice_context_create(&how, &context, nullptr) == SLUICE_OK);
    REQUIRE(sluice_graph_create(context, graph.data(), graph.size(), &network,
                                nullptr) == SLUICE_OK);
    REQUIRE(sluice_hardware_create(context, machine.data(), machine.size(), &hardware,
                                   nullptr) == SLUICE_OK);
    sluice_segment_options_t options = {};
    options.struct_size = sizeof options;
    options.energy_exponent = 1;
    options.delay_exponent = delay;
    options.proof = proof ? 1 : 0;
    options.deadline_ns = deadline;
    options.cancel = &word;
    out.struct_size = sizeof out;
    clock.Begin();
    status = sluice_segments(context, network, hardware, &options, &out, nullptr);
    work = clock.Spent();
    most = clock.End();
    sluice_hardware_destroy(hardware);
    sluice_graph_destroy(network);
    sluice_context_destroy(context);
  }
  uint64_t cancel_after, at = UINT64_MAX, work = 0, most = 0;
  uint32_t word = 0;
  WorkClock clock;
  sluice_segment_schedule_t out = {};
  sluice_status_t status = SLUICE_OK;
};

// With a proof all ways to cut the mesh and all register tiles are listed: a call once
// answered its cancel word after 260 ms.
TEST_CASE("work: segments, with proof too, keep to deadline and cancel word") {
  constexpr uint64_t kLate = 3 * kMs;
  uint64_t longest = 0;
  for (const char* preset : {"kapla-4x4", "kapla-16x16"}) {
    for (const char* network : {"mobilenet_v1", "vgg16"}) {
      const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
      for (const bool proof : {false, true}) {
        for (const uint64_t limit : {kMs, 30 * kMs, 200 * kMs}) {
          CAPTURE(preset);
          CAPTURE(network);
          CAPTURE(proof);
          CAPTURE(limit);
          const uint32_t delay = limit == 30 * kMs ? 1 : 0;
          const SegmentsInTime late(graph, preset, delay, proof, limit, kEver);
          const SegmentsInTime told(graph, preset, delay, proof, kEver, limit);
          longest = std::max({longest, late.most, told.most});
          CHECK(late.work < limit + kLate);
          CHECK((told.word == 0 || told.work < told.at + kLate));
          for (const SegmentsInTime* p : {&late, &told}) {
            CHECK(p->most <= kLate);
            CHECK((p->status == SLUICE_OK || p->status == SLUICE_STOPPED));
          }
        }
      }
    }
  }
  std::printf("segments: most work between two polls: %llu blocks\n",
              static_cast<unsigned long long>(longest));
}

// A call that ends while it computes the bound has looked at fewer segments: what it found
// would be too high.
TEST_CASE("work: segments whose time ends claim neither a bound nor a proof") {
  const Bytes graph = sluice::zoo::MakeZooGraph("alexnet", {});
  const SegmentsInTime quick(graph, "kapla-edge", 0, false, kEver, kEver);
  for (const bool proof : {false, true}) {
    CAPTURE(proof);
    const SegmentsInTime whole(graph, "kapla-edge", 0, proof, kEver, kEver);
    REQUIRE(whole.status == SLUICE_OK);
    REQUIRE(whole.out.bound > 0);
    CHECK(whole.out.stop_reason == SLUICE_STOP_COMPLETE);
    uint64_t cut_at = whole.work / 2, done_at = whole.work;  // where the last poll is
    while (done_at - cut_at > 100) {
      const uint64_t limit = cut_at + (done_at - cut_at) / 2;
      const SegmentsInTime late(graph, "kapla-edge", 0, proof, limit, kEver);
      const bool done =
          late.status == SLUICE_OK && late.out.stop_reason == SLUICE_STOP_COMPLETE;
      (done ? done_at : cut_at) = limit;
    }
    int cut = 0;
    for (uint64_t k = 0; k < 40; ++k) {
      const uint64_t limit = cut_at - k * 300;
      CAPTURE(limit);
      const SegmentsInTime late(graph, "kapla-edge", 0, proof, limit, kEver);
      if (late.status != SLUICE_OK) continue;
      ++cut;
      CHECK(late.out.stop_reason == SLUICE_STOP_DEADLINE);
      // The bound of the schedule that was found before the proof was begun.
      const bool of_quick = proof && !(late.out.bound < quick.out.bound) &&
                            !(late.out.bound > quick.out.bound);
      CHECK((late.out.bound <= 0 || of_quick));
      CHECK(late.out.proved == 0);
    }
    CHECK(cut > 10);
  }
}

// A proof may take any time: a call whose time ends while it is made once had nothing to
// give where one without a proof had a schedule.
TEST_CASE("work: segments with a proof have a schedule as soon as those without") {
  for (const char* network : {"alexnet", "mobilenet_v1"}) {
    CAPTURE(network);
    const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
    const SegmentsInTime quick(graph, "kapla-4x4", 0, false, kEver, kEver);
    REQUIRE(quick.status == SLUICE_OK);
    const SegmentsInTime proved(graph, "kapla-4x4", 0, true, quick.work + kMs, kEver);
    REQUIRE(proved.status == SLUICE_OK);
    CHECK(proved.out.objective <= quick.out.objective);
    CHECK(proved.out.proved == 0);
    CHECK(proved.out.stop_reason == SLUICE_STOP_DEADLINE);
  }
}

// Layer by layer on whole tensors: a layer of VGG-16 takes a second.
TEST_CASE("work: a run of the simulator ends soon after it is cancelled") {
  uint64_t longest = 0;
  for (const char* network :
       {"vgg16", "mobilenet_v1", "transformer", "deeplabv3", "resnet50"}) {
    CAPTURE(network);
    const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
    NetworkPlan n(graph, "soma-edge");
    REQUIRE(n.Schedule(SLUICE_SOLVER_BASELINE, 0) == SLUICE_OK);
    const Bytes machine = sluice::presets::LoadPreset("soma-edge");
    const Bytes plan = n.PlanBytes();
    for (const uint64_t after : {kMs / 10, 3 * kMs, 30 * kMs, 100 * kMs, 300 * kMs}) {
      for (const bool tiled : {false, true}) {
        CAPTURE(after);
        CAPTURE(tiled);
        uint32_t word = 0;
        sluice_sim::SimulateOptions options;
        options.graph = graph.data();
        options.graph_size = graph.size();
        options.hardware = machine.data();
        options.hardware_size = machine.size();
        options.plan = plan.data();
        options.plan_size = plan.size();
        options.functional = true;
        options.cancel = &word;
        CancelAfter(after, &word);
        const uint64_t begin = WorkDone();
        const sluice_sim::SimulateResult result =
            tiled ? sluice_sim::Simulate(options) : sluice_sim::RunReference(options);
        const uint64_t work = WorkDone() - begin;
        CAPTURE(result.error);
        REQUIRE(word == 1);
        CHECK(result.error_code == "cancelled");
        longest = std::max(longest, work - after);
      }
    }
  }
  CancelAfter(0, nullptr);
  std::printf("simulator: most work after a cancel: %llu blocks\n",
              static_cast<unsigned long long>(longest));
  CHECK(longest < kMs);
}

}  // namespace
}  // namespace sluice_test
