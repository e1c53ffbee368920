// SPDX-License-Identifier: Apache-2.0
#include "model/dma_list.h"

#include <fstream>

#include "tests/solve/fusion/evaluation.h"

namespace sluice {
namespace {

void CheckList(Evaluation* b, int64_t buffer, uint32_t policy) {
  const int64_t latency = ListTransfers(&b->lister, b->list, buffer, policy, &b->dma);
  const int64_t minimum = ProfileMinimum(b->list, b->profile);
  CHECK(minimum == b->lister.minimum_bytes);
  CHECK((latency < 0) == (minimum > buffer));
  if (latency < 0) return;
  CHECK(CheckDma(b->list, b->dma, b->seen) == DmaFault::kLegal);
  CHECK(ProfileBuffer(b->list, b->dma, b->profile) <= buffer);
  CHECK(Latency(b->list, b->dma, b->due) == latency);
}

TEST_CASE("dma list: legal, within the buffer, and as long as the timeline says") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  for (const Case& c : Cases(folder + "/oracle", "enc_")) {
    const auto network = ReadPeerNetwork(folder, c.network, c.batch, c.platform);
    Evaluation b(network.get());
    std::ifstream in(c.path);
    size_t row = 0;
    for (std::string line; std::getline(in, line); ++row) {
      b.Read(Json::parse(line));
      REQUIRE(ParseNotation(&b.parser, b.notation, &b.list) == ParseResult::kOk);
      const int64_t minimum = ProfileMinimum(b.list, b.profile);
      for (uint32_t policy = 0; policy < kDmaPolicies; ++policy) {
        INFO(c.path << " row " << row << " policy " << policy);
        CheckList(&b, network->problem.buffer_bytes, policy);
        CheckList(&b, minimum, policy);
        CheckList(&b, minimum + minimum / 8, policy);
        CheckList(&b, minimum - 1, policy);
      }
    }
  }
}

TEST_CASE("dma list: for the peer's final tiles, never far behind its own annealing") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/schedules")) {
    std::ifstream in(entry.path());
    const Json j = Json::parse(in);
    const auto network =
        ReadPeerNetwork(folder, j["network"], j["batch"], j["platform"]);
    Evaluation b(network.get());
    b.Read(j);
    REQUIRE(ParseNotation(&b.parser, b.notation, &b.list) == ParseResult::kOk);
    int64_t best = INT64_MAX;
    for (uint32_t policy = 0; policy < kDmaPolicies; ++policy) {
      const int64_t t = ListTransfers(&b.lister, b.list, network->problem.buffer_bytes,
                                      policy, &b.dma);
      MESSAGE(entry.path().stem().string() << " policy " << policy << ": " << t);
      best = std::min(best, t);
    }
    const int64_t peer = j["latency_cycles"];
    MESSAGE(entry.path().stem().string()
            << ": " << best << " against " << peer << ", ideal "
            << std::max(b.list.compute_cycles, b.list.dram_cycles));
    CHECK(best <= peer + peer / 20);
  }
}

}  // namespace
}  // namespace sluice
