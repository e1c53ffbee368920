// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/solve/fusion/evaluation.h"

namespace sluice {
namespace {

bool Close(double a, double b) { return std::fabs(a - b) <= 1e-9 * std::fabs(b); }

TEST_CASE("core array: every tile cost of the peer is reproduced") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  size_t rows = 0;
  for (const Case& c : Cases(folder + "/oracle", "tiles_")) {
    const auto network = ReadPeerNetwork(folder, c.network, c.batch, c.platform);
    std::ifstream in(c.path);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::vector<std::string> cell;
      std::istringstream cut(line);
      for (std::string s; std::getline(cut, s, ',');) cell.push_back(s);
      const int32_t extent[4] = {std::stoi(cell[4]), std::stoi(cell[6]),
                                 std::stoi(cell[7]), std::stoi(cell[5])};
      CoreCost cost;
      INFO(c.path << ": " << line);
      REQUIRE(CoreArrayCost(network->platform.array,
                            network->rules[std::stoul(cell[0])].core, extent, &cost));
      CHECK(cost.cycles == std::stoll(cell[8]));
      CHECK(Close(cost.energy_pj, std::stod(cell[9])));
      CHECK(Close(cost.scratchpad_pj, std::stod(cell[10])));
      ++rows;
    }
  }
  MESSAGE(rows << " rows");
  CHECK(rows > 3000);
}

TEST_CASE("parser: every encoding of the peer gives the same tiles, bytes and time") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  size_t rows = 0;
  for (const Case& c : Cases(folder + "/oracle", "enc_")) {
    const auto network = ReadPeerNetwork(folder, c.network, c.batch, c.platform);
    Evaluation b(network.get());
    std::ifstream in(c.path);
    for (std::string line; std::getline(in, line); ++rows) {
      const Json j = Json::parse(line);
      INFO(c.path << " line " << rows);
      b.Read(j);
      REQUIRE(ParseNotation(&b.parser, b.notation, &b.list) == ParseResult::kOk);
      CHECK(b.list.tiles == j["tiles_total"].get<uint32_t>());
      CHECK(b.list.transfers == j["dram_tensors"].get<uint32_t>());
      CHECK(b.list.compute_cycles == j["comp_time"].get<int64_t>());
      CHECK(b.list.dram_cycles == j["dram_time"].get<int64_t>());
      CHECK(b.list.load_bytes + b.list.store_bytes == j["dram_bytes"].get<int64_t>());
      CHECK(Close(b.list.core_pj, j["core_energy"]));
      DoubleBuffer(b.list, &b.dma);
      const int64_t peak = ProfileBuffer(b.list, b.dma, b.profile);
      CHECK(peak == j["max_buffer"].get<int64_t>());
      CHECK((peak <= network->problem.buffer_bytes) == (j["status"] == "SUCCESS"));
      if (j["status"] != "SUCCESS") continue;
      CHECK(Close(Energy(network->problem, b.list), j["energy"]));
      CHECK(Latency(b.list, b.dma, b.due) == j["double_buffer_time"].get<int64_t>());
      for (size_t p = 0; p < b.list.tiles; ++p) {
        const Json& shape = j["tile_shapes"][b.list.layer[p]];
        const CutBox& box = b.list.box[p];
        REQUIRE(box.end[0] == shape[0].get<int32_t>());
        REQUIRE(box.end[3] == shape[1].get<int32_t>());
        REQUIRE(box.end[1] == shape[2].get<int32_t>());
        REQUIRE(box.end[2] == shape[3].get<int32_t>());
      }
    }
  }
  MESSAGE(rows << " encodings");
  CHECK(rows == 300);
}

// The index in our list of the transfer that the peer's file describes as `t`.
uint32_t Find(const TileList& list, const Json& t) {
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const DramTensor& x = list.transfer[i];
    const std::string kind = x.kind == kLoadWeight  ? "weight"
                             : x.kind == kLoadInput ? "ifmap"
                                                    : "ofmap";
    if (kind == t["kind"] && x.layer == t["layer"].get<uint32_t>() &&
        x.tile == t["tile"].get<int32_t>() && x.bytes == t["bytes"].get<int64_t>() &&
        list.transfer[i].group_end >= 0) {
      return i;
    }
  }
  return kNone;
}

TEST_CASE("timeline: every final schedule of the peer is legal and costs the same") {
  const std::string folder = PeerFolder();
  if (folder.empty()) {
    MESSAGE("skipped: no reference folder");
    return;
  }
  size_t rows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/schedules")) {
    std::ifstream in(entry.path());
    const Json j = Json::parse(in);
    const auto network =
        ReadPeerNetwork(folder, j["network"], j["batch"], j["platform"]);
    Evaluation b(network.get());
    b.Read(j);
    INFO(entry.path().string());
    REQUIRE(ParseNotation(&b.parser, b.notation, &b.list) == ParseResult::kOk);
    REQUIRE(b.list.transfers == j["dram_tensors_in_order"].size());
    for (uint32_t i = 0; i < b.list.transfers; ++i) {
      const Json& t = j["dram_tensors_in_order"][i];
      const uint32_t id = Find(b.list, t);
      REQUIRE(id != kNone);
      b.dma.order[i] = id;
      b.dma.start[id] = t["start"];
      b.dma.end[id] = t["end"];
    }
    CHECK(CheckDma(b.list, b.dma, b.seen) == DmaFault::kLegal);
    CHECK(Latency(b.list, b.dma, b.due) == j["latency_cycles"].get<int64_t>());
    CHECK(ProfileBuffer(b.list, b.dma, b.profile) ==
          j["peak_buffer_bytes"].get<int64_t>());
    CHECK(Close(Energy(network->problem, b.list), j["energy_pj"]));
    ++rows;
  }
  CHECK(rows == 8);
}

}  // namespace
}  // namespace sluice
