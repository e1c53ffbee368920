// SPDX-License-Identifier: Apache-2.0
// Truncated and corrupted files: an error or a clean result, never a crash.
#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <string>

#include "base/rng.h"
#include "fuzz/targets.h"
#include "fuzz/text_targets.h"
#include "support/sanitized.h"
#include "tests/import/tiny_model.h"

namespace sluice_test {
namespace {

using Target = sluice_status_t (*)(const uint8_t*, size_t);

constexpr int kFlips = kSanitized ? 5000 : 10000;
constexpr size_t kFirst = kSanitized ? 8192 : 65536;  // every truncation up to here
constexpr int kSampled = kSanitized ? 1024 : 4096;    // and as many beyond

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The most seconds of CPU that one call may take: nothing hangs.
constexpr double kMostSeconds = 2;

void RequireRefused(const Bytes& file, size_t n, Target target) {
  // A copy without spare room, so that sanitizers see a read beyond it.
  const Bytes cut(file.begin(), file.begin() + static_cast<long>(n));
  CAPTURE(n);
  const double start = CpuSeconds();
  const sluice_status_t status = target(cut.data(), n);
  REQUIRE(CpuSeconds() - start < kMostSeconds);
  // A cut may lose no more than the padding at the end.
  const bool right =
      status == SLUICE_BAD_INPUT || (status == SLUICE_OK && file.size() - n < 16);
  REQUIRE(right);
}

void Truncate(const Bytes& file, Target target) {
  for (size_t n = 0; n < std::min(file.size(), kFirst); ++n) {
    RequireRefused(file, n, target);
  }
  if (file.size() <= kFirst) return;
  sluice::Rng rng(file.size());
  const uint32_t beyond = static_cast<uint32_t>(file.size() - kFirst);
  for (int i = 0; i < kSampled; ++i) {
    RequireRefused(file, kFirst + rng.Below(beyond), target);
  }
}

// Changes one to four bytes at a time, anywhere in a file.
void Flip(const std::vector<Bytes>& files, Target target, int* good) {
  sluice::Rng rng(20000);
  *good = 0;
  for (int i = 0; i < kFlips; ++i) {
    Bytes bytes = files[rng.Below(static_cast<uint32_t>(files.size()))];
    for (uint32_t f = 1 + rng.Below(4); f > 0; --f) {
      uint8_t& byte = bytes[rng.Below(static_cast<uint32_t>(bytes.size()))];
      byte = rng.Below(2) == 0 ? static_cast<uint8_t>(byte ^ (1u << rng.Below(8)))
                               : static_cast<uint8_t>(rng.Next());
    }
    const double start = CpuSeconds();
    *good += target(bytes.data(), bytes.size()) == SLUICE_OK;
    REQUIRE(CpuSeconds() - start < kMostSeconds);
  }
}

std::vector<Bytes> SomeGraphs() {
  RandomGraphLimits limits;
  limits.layers = 4;
  limits.elements = 200;
  std::vector<Bytes> files;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    files.push_back(GraphBytes(MakeRandomGraph(seed, limits)));
  }
  return files;
}

// A chain of requantisations.
Bytes Chain(uint32_t layers) {
  GraphSpec spec;
  spec.tensors.push_back({{1, 2, 2, 4}, SLUICE_DTYPE_INT8, 1, 0, 0});
  for (uint32_t l = 0; l < layers; ++l) {
    spec.tensors.push_back({{1, 2, 2, 4},
                            SLUICE_DTYPE_INT8,
                            static_cast<uint8_t>(l + 1 == layers ? 2 : 0),
                            0,
                            0});
    spec.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {l}, {l + 1}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  return GraphBytes(spec);
}

void CheckFlips(const char* what, const std::vector<Bytes>& files, Target target) {
  int good = 0;
  Flip(files, target, &good);
  MESSAGE(kFlips << " corrupted " << std::string(what) << ": " << good
                 << " are still valid");
  CHECK(good > kFlips / 1000);
  CHECK(good < kFlips);
}

std::vector<Bytes> SomeMachines() {
  std::vector<Bytes> files;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    files.push_back(MachineBytes(MakeRandomMachine(seed)));
  }
  return files;
}

std::vector<Bytes> SomePlans() {
  std::vector<Bytes> files;
  for (const Trio& trio : Trios()) files.push_back(trio.plan);
  return files;
}

// A machine whose name takes 70,000 bytes.
Bytes LongMachine() {
  ::flatbuffers::FlatBufferBuilder b;
  const auto name = b.CreateString(std::string(70000, 'n'));
  sluice::wire::HardwareBuilder h(b);
  h.add_name(name);
  b.Finish(h.Finish(), sluice::wire::HardwareIdentifier());
  return Finished(b);
}

Bytes LongPlan() {
  Library library;
  const PlanPtr plan =
      library.Schedule(library.Graph(Chain(500)), library.Hardware(FixedMachine()), 0,
                       SLUICE_SOLVER_BASELINE);
  REQUIRE(plan != nullptr);
  return BytesOf(plan);
}

TEST_CASE("every truncation of a graph is refused") {
  Truncate(SomeGraphs()[0], FuzzGraph);
  const Bytes large = Chain(1500);
  REQUIRE(large.size() > kFirst + 4096);
  Truncate(large, FuzzGraph);
}

TEST_CASE("every truncation of a machine is refused") {
  Truncate(FixedMachine(), FuzzHardware);
  Truncate(MachineBytes(LimitedMachine(1)), FuzzHardware);
  Truncate(LongMachine(), FuzzHardware);
}

TEST_CASE("every truncation of a plan is refused") {
  Truncate(Trios()[0].plan, FuzzPlan);
  const Bytes large = LongPlan();
  REQUIRE(large.size() > kFirst + 4096);
  Truncate(large, FuzzPlan);
}

TEST_CASE("every truncation of a TFLite model is refused") {
  Truncate(sluice::import::TinyConvolution(), FuzzTflite);
  const Bytes large = sluice::import::WideModel(80000);
  REQUIRE(large.size() > kFirst + 4096);
  Truncate(large, FuzzTflite);
}

TEST_CASE("corrupted graphs give an error or a plan") {
  CheckFlips("graphs", SomeGraphs(), FuzzGraph);
}

TEST_CASE("corrupted machines give an error or a machine") {
  CheckFlips("machines", SomeMachines(), FuzzHardware);
}

TEST_CASE("corrupted plans, with right hashes, get an answer of both judges") {
  CheckFlips("plans", SomePlans(), FuzzPlan);
}

TEST_CASE("corrupted TFLite models give an error or a graph") {
  CheckFlips("models",
             {sluice::import::TinyConvolution(), sluice::import::WideModel(64)},
             FuzzTflite);
}

Bytes Text(const std::string& text) { return Bytes(text.begin(), text.end()); }

TEST_CASE("corrupted schedules and segments give an error or a plan") {
  CheckFlips(
      "notations",
      {Text(R"({"groups": [[{"layers": [0, 1], "tiles": 4}],
                                   [{"layers": [2], "tiles": 1}]]})"),
       Text(R"({"segments": [{"layers": [0, 1], "loops": "H/4", "leave": [64, 0]},
                                     {"layers": [2], "slice": 96, "piece": 32}]})")},
      FuzzNotation);
}

TEST_CASE("corrupted tables of buffers give an error or a placement") {
  CheckFlips("tables",
             {Text("size,upper,id,lower,alignment,gaps\n64,10,a,0,16,2-4 5-7@8:16\n"
                   "32,-1,b,-5,,\n"),
              Text("id,start,end,size,offset,banks,single_bank\nx,0,3,128,,1,1\n"
                   "y,2,5,64,256,3,0\n")},
             FuzzCsv);
}

TEST_CASE("texts that nest deeply are refused, wherever they nest") {
  const std::string open(100000, '['), close(100000, ']');
  for (const std::string& text :
       {open + close, open, "{\"segments\": [{\"layers\": [" + open + close + "]}]}",
        "{\"segments\": [{\"layers\": [0], \"slice\": " + open + close + "}]}",
        "{\"groups\": [{\"layers\": [" + open + close + "]}]}",
        "{\"groups\": [], \"dram\": " + open + close + "}"}) {
    const Bytes bytes = Text(text);
    CHECK(FuzzNotation(bytes.data(), bytes.size()) == SLUICE_BAD_INPUT);
  }
}

TEST_CASE("reading, damaged or not, takes time linear in the file") {
  // 16 times the layers may take 64 times as long: linear, and a factor of 4 for noise.
  // A damaged file may be refused early, so it is compared with the whole small one.
  double seconds[2] = {1e9, 1e9}, damaged = 1e9;
  for (int i = 0; i < 2; ++i) {
    Bytes bytes = Chain(i == 0 ? 2000 : 32000);
    for (int run = 0; run < 6; ++run) {
      if (run == 3) bytes[bytes.size() / 2] ^= 0x55;
      Library library;
      const double start = CpuSeconds();
      (void)library.Graph(bytes);
      const double took = CpuSeconds() - start;
      if (run < 3) seconds[i] = std::min(seconds[i], took);
      if (run >= 3 && i == 1) damaged = std::min(damaged, took);
      CHECK(took < kMostSeconds);
    }
  }
  CHECK(seconds[1] < 64 * seconds[0]);
  CHECK(damaged < 64 * seconds[0]);
}

TEST_CASE("reading takes memory and allocations linear in the file, damaged or not") {
  uint64_t peak[2] = {}, allocations[2] = {};
  size_t size[2] = {};
  for (int i = 0; i < 2; ++i) {
    const Bytes bytes = Chain(i == 0 ? 2000 : 32000);
    size[i] = bytes.size();
    Library library;
    const GraphPtr graph = library.Graph(bytes);
    REQUIRE(library.status == SLUICE_OK);
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    sluice_context_memory(library.context.get(), &stats);
    peak[i] = stats.peak_bytes;
    allocations[i] = stats.allocations;
  }
  CHECK(peak[1] <= peak[0] * size[1] / size[0] * 5 / 4);
  CHECK(allocations[1] <= allocations[0] * size[1] / size[0] * 5 / 4);
  // A file that claims 2^32 - 1 entries of a list makes the reader reserve no memory.
  Bytes liar = Chain(100);
  for (size_t at = 8; at + 4 <= liar.size(); at += 4) {
    Bytes bytes = liar;
    std::memset(&bytes[at], 0xff, 4);
    bytes[at + 3] = 0x7f;
    Library library;
    (void)library.Graph(bytes);
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    sluice_context_memory(library.context.get(), &stats);
    REQUIRE(stats.peak_bytes < 64 * liar.size());
  }
}

}  // namespace
}  // namespace sluice_test
