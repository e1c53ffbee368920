// SPDX-License-Identifier: Apache-2.0
// Truncated and corrupted files: an error or a clean result, never a crash.
#include <doctest/doctest.h>

#include "base/rng.h"
#include "cli/tiny_model.h"
#include "fuzz/targets.h"

namespace sluice_test {
namespace {

using Target = sluice_status_t (*)(const uint8_t*, size_t);

// Every truncation of one file: refused, unless only padding at the end is missing.
void Truncate(const Bytes& file, Target target) {
  for (size_t n = 0; n < file.size(); ++n) {
    const Bytes cut(file.begin(), file.begin() + static_cast<long>(n));
    CAPTURE(n);
    const sluice_status_t status = target(cut.data(), n);
    const bool right =
        status == SLUICE_BAD_INPUT || (status == SLUICE_OK && file.size() - n < 8);
    REQUIRE(right);
  }
}

// One to four changed bytes at a time; flatbuffers' tables lie at both ends.
void Flip(const std::vector<Bytes>& files, Target target, int times, int* good) {
  sluice::Rng rng(times);
  *good = 0;
  for (int i = 0; i < times; ++i) {
    Bytes bytes = files[rng.Below(static_cast<uint32_t>(files.size()))];
    for (uint32_t f = 1 + rng.Below(4); f > 0; --f) {
      uint8_t& byte = bytes[rng.Below(static_cast<uint32_t>(bytes.size()))];
      byte = rng.Below(2) == 0 ? static_cast<uint8_t>(byte ^ (1u << rng.Below(8)))
                               : static_cast<uint8_t>(rng.Next());
    }
    *good += target(bytes.data(), bytes.size()) == SLUICE_OK;
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

// Sanitised builds are slower, and are run for memory, not for numbers.
constexpr int kFlips = 20000;

TEST_CASE("every truncation of a graph, machine, plan or model is refused") {
  const auto graphs = SomeGraphs();
  Truncate(graphs[0], FuzzGraph);
  Truncate(graphs[1], FuzzGraph);
  Truncate(FixedMachine(), FuzzHardware);
  Truncate(FixedPlan(), FuzzPlan);
  Truncate(sluice::cli::TinyConvolution(), FuzzTflite);
}

TEST_CASE("20,000 corrupted graphs give an error or a plan") {
  int good = 0;
  Flip(SomeGraphs(), FuzzGraph, kFlips, &good);
  MESSAGE(good << " of " << kFlips << " are still graphs");
  CHECK(good > 100);
  CHECK(good < kFlips);
}

TEST_CASE("20,000 corrupted machines give an error or a machine") {
  int good = 0;
  std::vector<Bytes> files;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    files.push_back(MachineBytes(MakeRandomMachine(seed)));
  }
  Flip(files, FuzzHardware, kFlips, &good);
  MESSAGE(good << " of " << kFlips << " are still machines");
  CHECK(good > 100);
  CHECK(good < kFlips);
}

TEST_CASE("20,000 corrupted plans, with right hashes, get an answer of both judges") {
  int good = 0;
  Flip({FixedPlan()}, FuzzPlan, kFlips, &good);
  MESSAGE(good << " of " << kFlips << " are still plans");
  CHECK(good > 100);
  CHECK(good < kFlips);
}

TEST_CASE("20,000 corrupted models give an error or a graph") {
  int good = 0;
  Flip({sluice::cli::TinyConvolution()}, FuzzTflite, kFlips, &good);
  MESSAGE(good << " of " << kFlips << " are still models");
  CHECK(good > 100);
  CHECK(good < kFlips);
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
  // A file that says it has 2^32 - 1 of something reserves nothing for it.
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
